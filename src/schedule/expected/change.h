/* What would be expected if a plan said something else: more budget, another sample, other ranges, fewer groups, or more of
 * what is public. The other plan is made, scheduled and thrown away; like everything expected it is made from public numbers
 * alone. A plan of many statistics keeps its tables and their shares of the budget: to search again for each of dozens of
 * changes would take seconds. What a search would find differs by a few per cent at the median. */
#ifndef TMI_SCHEDULE_EXPECTED_CHANGE_H
#define TMI_SCHEDULE_EXPECTED_CHANGE_H

#include "schedule/expected/expected.h"

#define TMI_FEW_STATISTICS 20 /* a plan with more statistics keeps its tables */

typedef struct tmi_change {
    tmi_plan_loss loss;           /* in the place of the plan's budget; all NULL: as in the plan */
    const tamis_setting *setting; /* NULL: as in the plan */
    double sample;    /* the size of the sample, in proportion over the strata and never more in all; 0: as in the plan */
    bool half_ranges; /* each number's range is cut to half its width, at the end that is farther from its guessed mean */
    const tmi_plan_column *column; /* a number that has other ends, as points of its grid, and a known mean and standard
                                      deviation; NULL: none */
    int64_t low, high;
    double mean, sd;
    bool half_groups; /* of the columns with four values or more that results are by, neighbouring values are taken together */

    /* What a plan may declare; 0, false or NULL: it stays as it is. */
    bool complete;                   /* no value is missing, in any column that may be complete (tmi_change_completes) */
    bool contributions;              /* totals of numbers are bounded (tmi_change_contribution) */
    bool unit_contributions;         /* what units add to them is (tmi_change_unit_contribution) */
    const tmi_plan_column *of_units; /* what units add to totals of this number is bounded by `bound`; NULL: none */
    double bound;
    double deff;                        /* a public design effect, in the place of strata and clusters */
    const tmi_psu_facts *psus;          /* the list of the sampled clusters */
    double sample_guess, cluster_guess; /* of the sample's size, and of the mean size of a cluster */

    bool public_bounds; /* private bounds are `beyond`, and cost nothing */

    bool without_groups; /* no statistic is for changes between waves */

    bool same_tables; /* keep the plan's own tables and their shares of the budget, however few statistics there are */
} tmi_change;

/* Gives what would be expected of each statistic. *list is NULL, without an error, if such a plan could not be released. Errors:
 * SYSTEM. */
tamis_status tmi_change_expected(tmi_expected_statistic **list, const tmi_schedule *schedule, const tmi_change *change,
                                 tamis_error *err);

/* Whether the range of a column would be cut, and where: *end takes the place of `from` if *is_low, else that of `to`. */
bool tmi_change_cuts(double *end, bool *is_low, const tmi_plan_column *column);

/* Whether a declared column may be declared complete: its missing values are left out, and no guess says that there are any. */
bool tmi_change_completes(const tamis_plan *plan, const tmi_plan_column *column);

/* Whether totals of a column would be bounded, and by which weight times value: two and a half mean weights times a value two
 * standard deviations above the guessed mean, in one digit, where that is less than half of what the largest weight and the range
 * allow. */
bool tmi_change_contribution(double *bound, const tmi_schedule *schedule, const tmi_plan_column *column);

/* The same of what a unit adds with all its rows: two and a half mean weights, or the largest, times the values of a unit that
 * has as many rows as is guessed, each two standard deviations above the mean. */
bool tmi_change_unit_contribution(double *bound, const tmi_schedule *schedule, const tmi_plan_column *column);

/* Whether values of a `by` column would be taken together: not of strata, controls, and columns that conditions are about. */
bool tmi_change_joins(const tamis_plan *plan, const tmi_plan_column *by);

#endif
