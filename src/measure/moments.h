/* The moments that a statistic is made of, over the rows of one of its groups that have x and y: their number, the sums of x and
 * y, of squares and of products. Linear combinations of them are combinations of the cells of its table. */
#ifndef TMI_MEASURE_MOMENTS_H
#define TMI_MEASURE_MOMENTS_H

#include "measure/workload.h"

typedef enum tmi_moment { TMI_OF_ROWS, TMI_OF_X, TMI_OF_Y, TMI_OF_XX, TMI_OF_XY, TMI_OF_YY, TMI_MOMENTS } tmi_moment;

/* How rows are weighed in a table: not at all (the weight comes after the noise), by w, not at all because numbers are w times
 * values (contributions.h), by the a of variances, or by the a that weights up to a bound would have. Totals of a number of which
 * a unit adds at most so much are read from tables in which rows weigh what they add (unit_contributions.h): those have a domain
 * of their own. From TMI_STANDARD_ERRORS on tables are those of the second stage (standard_errors.h), one weighting per method:
 * by w up to that bound, in the totals of PSUs, and in a domain of unit contributions by these; by the a of weights up to it; as
 * the first, for totals of groups of PSUs, which are made from the same table. Tables of different weightings say nothing about
 * each other. */
typedef enum tmi_weighting {
    TMI_UNWEIGHTED,
    TMI_WEIGHTED,
    TMI_CONTRIBUTED,
    TMI_SPREAD,
    TMI_CLAMPED,
    TMI_OF_UNITS,
    TMI_STANDARD_ERRORS,
    TMI_UNIT_SQUARES,
    TMI_GROUP_TOTALS,
    TMI_WEIGHTINGS
} tmi_weighting;

/* A linear combination of the moments of one group, or of all rows if the group is SIZE_MAX, as a combination of the cells of a
 * table. `control` has one factor per level of the axis of calibration, and where results are calibrated to totals of a number v
 * as many again, which v multiplies; NULL if they are all 1. `stratum` chooses the ranges of numbers. */
typedef struct tmi_moment_sum {
    tmi_combination combination;
    double *block;
} tmi_moment_sum;

tamis_status tmi_moment_sum_make(tmi_moment_sum *sum, const tmi_workload *workload, tmi_weighting weighting, size_t statistic,
                                 size_t group, size_t stratum, const double coefficients[TMI_MOMENTS], const double *control,
                                 tamis_error *err);
void tmi_moment_sum_clear(tmi_moment_sum *sum);

/* The domain, if rows weigh what they add to totals of its number in tables of a weighting; else NULL: they have weights, or
 * none. */
static inline const tmi_domain *tmi_contributed_in(const tmi_workload *workload, size_t weighting, size_t domain)
{
    return weighting >= TMI_OF_UNITS && workload->domains[domain].number ? &workload->domains[domain] : NULL;
}

/* The domain of a statistic that is read from such tables; else NULL. */
static inline const tmi_domain *tmi_units_of(const tmi_workload *workload, size_t statistic)
{
    return tmi_contributed_in(workload, TMI_OF_UNITS, workload->maps[statistic].domain);
}

/* Whether the rows of a map have a moment: x and y may be missing. */
static inline bool tmi_has_moment(const tmi_statistic_map *map, size_t moment)
{
    if (moment == TMI_OF_ROWS) return true;
    return (moment == TMI_OF_X || moment == TMI_OF_XX ? &map->x : &map->y)->column != NULL;
}

/* Whether moments times v are in the tables too: not squares of the control number itself, as cubes are not measured. */
bool tmi_has_moment_times(const tmi_workload *workload, size_t statistic, size_t moment, size_t power);

/* The value of cell number `cell` in the i-th of some columns, crossed; the last column runs fastest. */
const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i);

/* Which value of its k-th `by` column a group has. */
size_t tmi_group_code(const tmi_plan_statistic *statistic, size_t group, size_t k);

#endif
