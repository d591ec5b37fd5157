/* The moments that a statistic is made of, over the rows of one of its groups that have x and y: their number, the sums of x and
 * y, of squares and of products. Linear combinations of them are combinations of the cells of its table. */
#ifndef TMI_MEASURE_MOMENTS_H
#define TMI_MEASURE_MOMENTS_H

#include "measure/workload.h"

typedef enum tmi_moment { TMI_OF_ROWS, TMI_OF_X, TMI_OF_Y, TMI_OF_XX, TMI_OF_XY, TMI_OF_YY, TMI_MOMENTS } tmi_moment;

/* How rows are weighed in a table. w is the weight of a row, a its factor in the variance of a total (sampling.h), and the bound
 * that of weights in sampling errors. Tables of different weightings say nothing about each other. */
typedef enum tmi_weighting {
    TMI_UNWEIGHTED,  /* each row counts 1; the weight comes after the noise */
    TMI_WEIGHTED,    /* by w */
    TMI_CONTRIBUTED, /* each counts 1, and its numbers are w times their values (contributions.h) */
    TMI_SPREAD,      /* by a */
    TMI_CLAMPED,     /* by the a of weights up to the bound */
    TMI_OF_UNITS,    /* by what rows add to a total of which a unit adds at most so much (unit_contributions.h), in a domain of
                        its own */
    /* of the second stage (standard_errors.h), one per method */
    TMI_STANDARD_ERRORS, /* by w up to the bound, in totals of PSUs; in a domain of unit contributions by these */
    TMI_UNIT_SQUARES,    /* by the a of weights up to the bound */
    TMI_GROUP_TOTALS,    /* as standard errors, and from the same table: totals of groups of PSUs */
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
