/* The first stage of a release with private bounds (plan/private_bounds.h): one choice for each column that has one.
 *
 * Budget. Column i has the part spent * share_i, an exact fraction, and the tables and chosen quantiles have the rest. Parts are
 * epsilons, or rhos where the noise of the tables is Gaussian. As for quantile tasks, the choice is made with epsilon = part, or
 * with the largest 20-bit number whose square is at most 8 * part: a selection of epsilon has rho = epsilon^2 / 8.
 *
 * Neighbours. In every setting a unit's rows, at most rows_per_unit of them, may be replaced by others, added or removed; which
 * of more rows count depends on this unit's rows alone. A row counts above a candidate by its own value, whatever its weight,
 * stratum or cluster; one without a value counts nowhere. That is what mech/quantile/bound.h assumes, with K = rows_per_unit.
 *
 * Everything after it works with a range of as many steps as before (plan/private_bounds.h), so that by adaptive composition the
 * losses add up: sensitivities and noise do not depend on the choice, and no later part of the budget does. */
#ifndef TMI_MEASURE_BOUND_TASKS_H
#define TMI_MEASURE_BOUND_TASKS_H

#include "base/text.h"
#include "plan/private_bounds.h"

struct tmi_schedule;

typedef struct tmi_bound_task {
    size_t bound;          /* the place among the bounds of the schedule's plan */
    tamis_number *part;    /* of the budget: an epsilon or a rho */
    tamis_number *epsilon; /* what the choice loses for one unit */
    tamis_number *rate;    /* epsilon / rows_per_unit: per row */
    int64_t rows_per_unit;
    int64_t worth; /* rows that a doubling has to spare: WORTH / rate, rounded up */
} tmi_bound_task;

void tmi_bound_task_clear(tmi_bound_task *task);

/* What the private bounds of a bounded plan have of the budget; 0 if there are none. SYSTEM. */
tamis_status tmi_bound_tasks_share(tamis_number **share, const tamis_plan *plan, tamis_error *err);

/* Makes the tasks of a schedule whose tables and quantile tasks have their parts. SYSTEM. */
tamis_status tmi_bound_tasks_make(struct tmi_schedule *schedule, tamis_error *err);

/* Sets the bounds to what public guesses make of the task: without `typical` of a column to `beyond`. Needs `sampling`. `rows`
 * is how many are expected. SYSTEM. */
tamis_status tmi_guess_bounds(tamis_plan *bounded, double rows, tamis_error *err);

/* The probability that the bound that is found will be below the guessed mean, as it may be where there are few rows for the
 * epsilon of the task: from as many rows above each candidate as `typical` leads to. 0 without a guess. */
double tmi_bound_below_mean(const tmi_bound_task *task, const tmi_private_bound *bound, double rows);

/* How many rows are above the bound that was found at most, with probability `confidence`, whatever the data are; NaN of the
 * largest candidate, above which nothing is known. */
double tmi_rows_above(const tmi_bound_task *task, const tmi_private_bound *bound, double confidence);

/* REFUSED, with the way out, if a statistic uses a column with a private bound for more than totals, means, ratios and variances,
 * or the plan has what is not offered beside one. Of a plan as it was read. */
tamis_status tmi_refuse_private_bounds(const tamis_plan *plan, tamis_error *err);

/* The inequality behind its guarantee, in words. */
void tmi_bound_task_inequality(tmi_text *text, const tmi_bound_task *task, bool rho);

#endif
