/* Quantiles that a mechanism chooses.
 *
 * Beside its noisy tables a schedule has quantile tasks: one for each quantile or median whose method is not `distribution`. A
 * mechanism of mech/quantile finds a grid point for each `at` in each group of the statistic. It has half of the
 * statistic's share of the budget; the other half is spent on the distribution function, which the interval is read from
 * (plan/statistics/distribution.c).
 *
 * Budget. Choice i has the part spent * share_i / (2 * sum of all shares), an exact fraction; the tables have the rest.
 * Parts are epsilons, or rhos where the noise of the tables is Gaussian, and they add up over tables and choices.
 *
 * What a part means. Let e be what the mechanism may lose for one unit in all groups together:
 *
 *     e = part                                            if parts are epsilons,
 *     e = the largest 20-bit number with e^2 <= c * part  if parts are rhos, c = tmi_quantile_concentration (mech/quantile).
 *
 * Neighbours. In every setting a unit's rows may be replaced by any others, at most rows_per_unit of them; where the design
 * does not fix the number of rows, also added or removed. A mechanism that is calibrated to replaced rows covers all of
 * these: to leave a row out changes a distance by at most max(q, 1-q) of what replacing it may change. So does a row that a
 * condition or a missing value takes out of the list. There are two cases.
 *
 *  One list, or lists that no row can leave for another: no groups; or groups that are the strata, which are public, and no
 *  `id`, so that a unit is one row and stays in its stratum. Each list is found with epsilon = e, rows replaced. One list
 *  changes, in at most rows_per_unit rows: so e.
 *
 *  Any other groups. Each list is found with epsilon = e / 2, rows added or removed. Take the unit out of all groups: with
 *  k_h rows in group h, at most K = rows_per_unit in all, that costs the sum of (k_h / K) e/2, at most e/2, because every
 *  bound of mech/quantile is proportional to the number of rows. Put it back with its other rows: e/2 again. So e, for any
 *  number of groups. Concentrated: in group h the loss lies in a range of (k_h + k'_h) / K * e/2, these add up to at most e,
 *  and so the sum of their squares is at most e^2: a unit that moves all of its rows from one group to another loses half of
 *  that, one that changes inside one group all of it.
 *
 * A tree of sums loses at most the L1 distance of its levels' sums over their scales, which is proportional to the number of
 * rows: both cases hold for it as they are. Parts are epsilons then.
 *
 * Prefix sums (PREFIX) measure F x with Gaussian noise of variance v, and parts are rhos: rho = L2^2 / (2 v), L2^2 the squared
 * distance of all groups' F x together. The columns of F have norms of at most f, its entries are not negative. Let D = f K W
 * for K rows of weight at most W.
 *
 *  One list, or lists that no row can leave: found with rho = part, rows replaced, which sets v by L2^2 = 2 D^2.
 *
 *  Any other groups: found with rho = part / 2, rows added or removed, which sets v by L2^2 = D^2. The unit's k_h rows in group h
 *  add a_h to F x, its other k'_h rows b_h; neither is negative in any place, so <a_h, b_h> >= 0 and
 *  |a_h - b_h|^2 <= |a_h|^2 + |b_h|^2 <= (D k_h / K)^2 + (D k'_h / K)^2. Over all groups the k_h add up to at most K, and so do
 *  the k'_h: L2^2 <= 2 D^2, twice what each group was found with. So part. It is attained by a unit that moves between groups.
 *
 * Smooth sensitivity (SMOOTH) compares files with as many rows, which is not the same as leaving a row out: it needs one list, or
 * the lists of public strata, no condition, and numbers of rows that the design fixes and makes public (`rows`, `group_rows`).
 *
 * Weights are integers of at most max_weight points, those of the tables' grid (sampling.h): distances are bounded in them.
 * Inside a public stratum all rows weigh the same, and no weight is needed. With `design_variables: protected` a record
 * could move the weights of others: refused. */
#ifndef TMI_MEASURE_QUANTILE_TASKS_H
#define TMI_MEASURE_QUANTILE_TASKS_H

#include <tamis/experimental/quantile.h>

#include "base/text.h"
#include "plan/plan.h"
#include "survey/curve.h"

/* Grid points that all quantile tasks of a plan find: random bits for all of them are drawn before a row is read. */
#define TMI_MAX_ANSWERS (INT64_C(1) << 15)

/* Bins of all groups of one quantile task by PREFIX or TREE: each has some 50 bytes, and PREFIX takes up to 4096 steps for
 * each. */
#define TMI_MAX_QUANTILE_BINS (INT64_C(1) << 21)

typedef struct tmi_quantile_task {
    size_t statistic;
    tamis_quantile_method method; /* not AUTO */
    tamis_number *part;           /* of the budget: epsilon or rho */
    tamis_number *epsilon;        /* with which each group is found; NULL: */
    tamis_number *rho;            /* the same, of PREFIX */
    bool add_remove;              /* rows are added or removed, with half of epsilon; else replaced */
    int64_t rows_per_unit;
    int64_t max_weight;     /* points; 0: rows weigh the same */
    tamis_number *log_unit; /* NULL: all grid points have the same measure */
    int64_t rows;           /* the public number of rows, of which no value is missing; 0: it is not public, or some may be */
    int64_t *group_rows;    /* SMOOTH by public strata: the same of each; else NULL */
    size_t groups;
    size_t numbers; /* grid points that are chosen: group by group, in each the `at` */
} tmi_quantile_task;

struct tmi_schedule;

/* The part of what a plan spends that its quantile tasks have, together: 0 if there are none. Errors: SYSTEM. */
tamis_status tmi_quantile_tasks_share(tamis_number **share, const tamis_plan *plan, tamis_error *err);

/* Whether the plan asks for a quantile by this method. */
bool tmi_has_method(const tamis_plan *plan, tamis_quantile_method method);

/* The quantile tasks of a schedule whose tables have their parts. Errors: REFUSED (a method, or protected weights; with what
 * works), INVALID (names the place of the statistic), SYSTEM. */
tamis_status tmi_quantile_tasks_make(struct tmi_schedule *schedule, tamis_error *err);
/* The largest 20-bit number whose square is at most 8 rho: a selection whose losses are in a range of epsilon has rho =
 * epsilon^2 / 8. SYSTEM. */
tamis_status tmi_selection_epsilon(tamis_number **epsilon, const tamis_number *rho, tamis_error *err);

void tmi_quantile_task_clear(tmi_quantile_task *task);

/* The mechanism of one group. `setup` lends from quantile task and plan. */
tamis_quantile_setup tmi_quantile_task_setup(const tmi_quantile_task *task, const tamis_plan *plan, size_t group);

/* The quantile task of a statistic; NULL: no mechanism chooses it. */
const tmi_quantile_task *tmi_quantile_task_of(const struct tmi_schedule *schedule, size_t statistic);

/* The weight of the records of a group, in the unit that its mechanism counts in, from the units of the population that they
 * stand for. `expected`: before the fact, when nothing has taken nonresponse into account. */
double tmi_quantile_task_weight(const tmi_quantile_task *task, const struct tmi_schedule *schedule, size_t group, double units,
                                bool expected);

/* errors[k]: how far the k-th chosen quantile of a group is from that of its distribution function, as a root mean square in
 * values (mech/quantile/expected). Errors: SYSTEM. */
tamis_status tmi_quantile_task_error(double *errors, const tamis_quantile *mechanism, const tmi_cdf *curve, double weight,
                                     tamis_error *err);

/* "median of income by region": names a quantile task in the outputs. */
void tmi_quantile_task_name(tmi_text *text, const tmi_quantile_task *task, const tamis_plan *plan);

/* Why its loss is what its part says, in words. */
void tmi_quantile_task_inequality(tmi_text *text, const tmi_quantile_task *task, bool rho);

#endif
