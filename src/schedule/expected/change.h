/* What would be expected if a plan said something else: more budget, another sample, other ranges, fewer groups. The other plan
 * is made, scheduled and thrown away; like every forecast it is made from public numbers alone. A plan of many statistics keeps
 * its tables and their shares of the budget: to search again for each of dozens of changes would take seconds. What a search
 * would find differs by a few per cent at the median. */
#ifndef TMI_SCHEDULE_EXPECTED_CHANGE_H
#define TMI_SCHEDULE_EXPECTED_CHANGE_H

#include "schedule/expected/forecast.h"

#define TMI_FEW_STATISTICS 20 /* more are many */

typedef struct tmi_change {
    tmi_plan_loss loss;           /* in the place of the plan's; all NULL: the same */
    const tamis_setting *setting; /* NULL: the same */
    double sample;                /* of all strata in proportion, never more in all; 0: the same */
    bool half_ranges; /* each number's range is cut to half its width, at the end that is farther from its guessed mean */
    const tmi_plan_column *column; /* a number that has other ends, as points of its grid, and a known mean and standard
                                      deviation; NULL: none */
    int64_t low, high;
    double mean, sd;
    bool half_groups; /* of the columns with four values or more that results are by, neighbouring values are taken together */
} tmi_change;

/* *list is NULL, without an error, if such a plan could not be released. Errors: SYSTEM. */
tamis_status tmi_change_forecast(tmi_forecast **list, const tmi_schedule *schedule, const tmi_change *change, tamis_error *err);

/* Whether the range of a column would be cut; and its new end, which is `from` if *is_low. */
bool tmi_change_cuts(double *end, bool *is_low, const tmi_plan_column *column);

/* Whether values of a `by` column would be taken together: not of strata, controls, and columns that conditions are about. */
bool tmi_change_joins(const tamis_plan *plan, const tmi_plan_column *by);

#endif
