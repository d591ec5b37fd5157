/* The second stage of a release: one noisy standard error, or sampling variance, per published number (variance/method.h), where
 * it cannot be read from the tables of the estimates.
 *
 * For each statistic the engine adds up a table of the statistic's cells and levels, of clusters one for each slot of PSUs. A
 * number is a combination c of these integers, of a ratio x - r y at its noisy value r (inference/error_term.h), and what is
 * released is what the design's method makes of it, with noise. c follows from the noisy tables of the estimates, so it is
 * adaptive; the budget and the law of the noise are fixed before a row is read. A record that is replaced moves the table by at
 * most `moved`, all entries together, and each entry is in `overlap` numbers at most. So with coefficients up to C all S
 * together move by gain overlap C moved, and in steps of
 *
 *     gain overlap C moved / (STEPS - spare)
 *
 * the released integers move by STEPS in all, whatever c was. `spare` is for rounding.
 *
 * Which PSUs share a slot is drawn before a row is read. PSUs of a list have their place in it; others are known by the rank
 * of their labels, which a replaced record may shift. But all assignments are equally likely, and for each one of the first
 * sample there is one of the second in which every other PSU stays where it was. Where nobody knows how many PSUs there are, a
 * keyed hash of the labels decides on the slot: the place of a row then depends on this row alone. Slots are one stratum then,
 * whose squares contain the differences between strata and, of totals, the sizes of PSUs. */
#ifndef TMI_SCHEDULE_STANDARD_ERRORS_H
#define TMI_SCHEDULE_STANDARD_ERRORS_H

#include "schedule/schedule.h"
#include "schedule/typical_group.h"
#include "variance/change.h"
#include "variance/limit.h"

/* ---- slots ---- */

/* PSUs share slots where more than `most` would be needed. Strata of one PSU are taken together; a single one
 * joins the last of the others. Of a stratum whose PSUs were all drawn, in one stage, nothing is left to chance, and it needs no
 * slots. An empty layout: nothing can be said, since there is only one PSU.
 *
 * Errors   SYSTEM.                                                                                                    */
tamis_status tmi_psu_places_make(tmi_psu_places *places, const tmi_sampling *sampling, int64_t most, tamis_error *err);
void tmi_psu_places_clear(tmi_psu_places *places);

/* As many slots as an engine has room for beside the tables of the estimates. Needs the marginals of all measurements. Errors:
 * SYSTEM. */
tamis_status tmi_schedule_place_psus(tmi_schedule *schedule, tamis_error *err);

/* Pairs the clusters of the list, if the plan has statistics for changes between waves; of a certificate, which has no labels,
 * the numbers of pairs are checked. Needs the slots. Errors: REFUSED, INVALID (those of a certificate), SYSTEM. */
tamis_status tmi_schedule_pair_psus(tmi_schedule *schedule, tamis_error *err);

/* lambda of a stratum of the design: 1 less the part of its PSUs that was drawn, in one stage; else 1. */
double tmi_first_stage_correction(const tmi_sampling *sampling, size_t stratum);

/* Whether only one PSU was drawn: nothing shows how much they vary. */
bool tmi_psus_are_too_few(const tmi_schedule *schedule);

/* Whether some stratum has only one sampled unit, which shows no variance. */
bool tmi_has_lonely_unit(const tmi_sampling *sampling);

/* Whether all PSUs were drawn, in one stage: there is no sampling error. */
bool tmi_psus_are_all_drawn(const tmi_schedule *schedule);

/* ---- what is measured ---- */

/* The family of the tables of the second stage: which method the design needs. Needs a source that is measured. */
tmi_weighting tmi_errors_family(const tmi_schedule *schedule);

/* Whether the standard errors of a statistic's numbers can be measured for it, and whether they are: from the plan alone. */
bool tmi_may_have_errors(const tmi_schedule *schedule, size_t statistic);
bool tmi_has_own_errors(const tmi_schedule *schedule, size_t statistic);

/* Whether a statistic is a slope or a correlation: its sampling errors are measured in all designs. */
static inline bool tmi_is_of_products(const tmi_plan_statistic *statistic)
{
    return statistic->contrast && statistic->contrast->compared[0].kind == TMI_PRODUCTS;
}

/* Whether a number of a statistic leaves out rows of some strata. Tables of the second stage have no copy for each stratum, so
 * that it is not measured where strata are apart: rows of all strata would be in it. */
bool tmi_errors_need_strata(const tmi_schedule *schedule, size_t statistic);

/* Whether those of any statistic are. Needs a workload. */
bool tmi_measures_errors(const tmi_schedule *schedule);

/* The statistic whose standard errors say something about this one's: itself, one that asks for the same, or the nearest cut of
 * the same distribution function; SIZE_MAX: there is none. */
size_t tmi_errors_from(const tmi_schedule *schedule, size_t statistic);

/* The measurement of a statistic's standard errors; NULL: there is none. */
const tmi_measurement *tmi_errors_measured(const tmi_schedule *schedule, size_t statistic);

/* The totals of groups of clusters of a statistic, for changes; NULL: the plan does not ask for them. And whether it asks for
 * any. */
const tmi_measurement *tmi_groups_measured(const tmi_schedule *schedule, size_t statistic);
bool tmi_measures_groups(const tmi_schedule *schedule);

/* Its table. The squares of residuals of a model of numbers are of the fourth degree in each predictor, whose axis is then there
 * twice (variance/method.h). */
tmi_marginal tmi_errors_marginal(const tmi_schedule *schedule, size_t statistic);

/* Whether what calibration explains is subtracted from the linearised variables of a calibrated statistic, whose numbers a row
 * then moves together: from the plan alone. */
bool tmi_subtracts_explained(const tmi_schedule *schedule, size_t statistic);

/* In how many of the statistic's numbers a row is at most; 1 where numbers move together. */
int64_t tmi_errors_overlap(const tmi_schedule *schedule, size_t statistic);

/* What a record can do to a table of the second stage and the numbers that are made of it. */
tmi_error_moves tmi_errors_moves(const tmi_schedule *schedule, const tmi_measurement *m);

/* ---- what is expected ---- */

tmi_effect_family tmi_effect_family_of(const tmi_plan_statistic *statistic);

/* What is public about clusters, for the prior of design effects; without clusters, about rows. */
tmi_cluster_guess tmi_cluster_guess_of(const tmi_schedule *schedule);

/* The mean weight of a row, from public sizes; else a third of the largest. */
double tmi_mean_weight(const tmi_schedule *schedule);

/* By how much a record moves what is measured of a number, in the statistic's units, if all is as expected. Errors: SYSTEM. */
tamis_status tmi_expected_move(double *moved, const tmi_schedule *schedule, size_t statistic, const tmi_typical_group *typical,
                               tamis_error *err);

/* By how much one moves all totals of groups of it together. */
tamis_status tmi_expected_group_move(double *moved, const tmi_schedule *schedule, size_t statistic,
                                     const tmi_typical_group *typical, tamis_error *err);

/* The sampling variance that the interval of a change is expected to use, if half of the sampling variance of either wave is
 * common to both. `apart` is the sum of both sampling variances, `noise` that of the variances of their noise, `sds` the standard
 * deviations of the noise of a group's total in each, all in units of the number. */
double tmi_expected_wave_change(double apart, double noise, const double sds[2], bool gaussian, double confidence);

/* The standard deviation of the noise of a group's total, if it is as expected; 0: the statistic has none. Errors: SYSTEM. */
tamis_status tmi_expected_group_sd(double *sd, const tmi_schedule *schedule, size_t statistic, tamis_error *err);

/* The factor of a contrast's number in it, if all is as expected; and what the variances of all statistics make that of the
 * contrast, as if its numbers had nothing in common. */
double tmi_expected_weight(const tmi_schedule *schedule, size_t contrast, size_t term);
tamis_status tmi_expected_sum(double *sum, const tmi_schedule *schedule, size_t contrast, const double *variances,
                              tamis_error *err);

/* Degrees of freedom that the design has for sampling variances, from public sizes; infinite: not known. */
double tmi_error_degrees(const tmi_schedule *schedule);

/* As how many numbers groups that are alike count, in what is expected of a statistic's limits. */
static inline size_t tmi_alike_numbers(int64_t cells) { return cells < 4 ? (size_t)cells : 4; }

/* What will be measured of a number with this sampling variance, this one in a simple random sample (0: as design effects are
 * expected), this variance of the noise of the estimate, and this standard deviation of the noise of what is measured. Needs the
 * slots of PSUs. Its `scale` is 0 where nothing is. */
tmi_measured_error tmi_error_of_sizes(const tmi_schedule *schedule, size_t statistic, double sampling, double simple,
                                      double noise, double sd, bool gaussian);

/* The same if all is as expected, beside this variance of the noise of the estimate. Its `scale` is below 0 without memory. */
tmi_measured_error tmi_expected_error(const tmi_schedule *schedule, size_t statistic, const tmi_typical_group *typical,
                                      double noise);

/* The value of a combination at cell and level of its table: classes make cells, numbers levels, the last axis runs fastest. */
double tmi_combination_at(const tmi_combination *combination, const tmi_workload *workload, size_t cell, size_t level);

/* The same in a table that has more axes: they make no difference to it. Where a number is there twice, the combination is linear
 * in each: at two ends, 0 or 2, it is what its level between them says, and a row has either both or none. */
double tmi_combination_within(const tmi_combination *combination, const tmi_workload *workload, const tmi_marginal *marginal,
                              size_t cell, size_t level);

#endif
