/* The public counts of `calibrate` before the data: their columns, crossed, are the control cells, by which every table of the
 * plan is measured; and which cell belongs to which group. */
#ifndef TMI_MEASURE_CONTROLS_H
#define TMI_MEASURE_CONTROLS_H

#include "measure/schedule.h"

/* The control columns of a schedule whose sampling is set; none where the design already meets the public counts.
 *
 * Errors   REFUSED (public totals of two numbers, of one with ranges by stratum or a bound, by raking, and others), INVALID
 *          (public counts that contradict each other or the design, too many columns or counts), SYSTEM. */
tamis_status tmi_calibration_columns(tmi_schedule *schedule, tamis_error *err);

/* The public count that a statistic asks for, if it is one of them; NULL if not. */
const tamis_number *tmi_public_count(const tamis_plan *plan, size_t statistic, size_t group);

/* A cell's number among those of `coarse`, whose columns are among `by`. */
size_t tmi_regroup(const tmi_plan_column *const *coarse, size_t coarse_count, const tmi_plan_column *const *by, size_t by_count,
                   size_t cell);

/* All cells of some columns crossed (or more than a release may have), and all public counts of a plan. */
size_t tmi_cells_crossed(const tmi_plan_column *const *by, size_t count);
size_t tmi_public_counts(const tamis_plan *plan);

/* The largest size of the values of a number. */
double tmi_control_scale(const tmi_plan_column *number);

/* The rows of control cells, each level of the axis of calibration times a factor: a combination of a table of the weighting.
 * With totals of a number v factors are by power of v and level, up to v^2. */
tmi_combination tmi_control_rows_of(const tmi_schedule *schedule, size_t weighting, const double *factors);

/* What is expected of calibration before there are any counts; NULL if the statistic is not calibrated. Factors: one per level of
 * the axis of calibration, and power of the control number, which differ by chance or by nonresponse. Controls: the rows of
 * control cells, each times what calibration explains of a number there, relative to its mean; the vector is the combination's.
 * Errors: SYSTEM. */
tamis_status tmi_expected_factors(double **factors, const tmi_schedule *schedule, size_t statistic, tamis_error *err);
tamis_status tmi_expected_controls(tmi_combination *controls, double **vector, const tmi_schedule *schedule, size_t statistic,
                                   tamis_error *err);

/* Whether a statistic is by public strata, or by what follows from them, or has a condition on them. */
bool tmi_is_in_strata(const tmi_schedule *schedule, size_t statistic);

/* Whether rows of a stratum may be in a group, or with SIZE_MAX in any of them. */
bool tmi_group_has_stratum(const tmi_schedule *schedule, size_t statistic, size_t group, size_t stratum);

/* The strata whose rows may be in a group; the groups that strata divide them into, as far as they are different; and whether
 * each of these lies in a single one. */
typedef struct tmi_strata_counts {
    size_t strata, groups;
    bool each_in_one;
} tmi_strata_counts;

tmi_strata_counts tmi_count_strata(const tmi_schedule *schedule, size_t statistic);

/* The stratum of a group of a statistic in strata, if it lies in a single one; else SIZE_MAX. */
size_t tmi_group_stratum(const tmi_schedule *schedule, size_t statistic, size_t group);

#endif
