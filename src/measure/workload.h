/* The statistics of a plan as linear combinations of the cells of one large table, of which nobody needs more than a few
 * margins.
 *
 * Columns become axes (strategy/axis.h). All that the plan asks about a category, or about ranges of a number, divides its
 * values into classes: values that no statistic tells apart are one class, and rows without a value are one more, unless the
 * column is declared complete. So a table cell, a `count` with `where`, the total of an indicator and a margin of any of them
 * are sums of the same classes. Columns that results are calibrated to make one axis together. A number whose sums are needed
 * has an axis of its own.
 *
 * A statistic is made of moments: rows, sums, squares and products of its columns x and y over the rows of a group that have
 * both. Each is a product of one vector per axis. Totals of a number whose range contains 0 take missing values as 0, if nothing
 * else is asked about it.
 *
 * A `where` whose columns serve nothing else is a domain of its own: rows outside it add nothing to its tables. So is a number
 * of which a unit adds no more to totals than the plan says. If statistics are calibrated and standard errors of clusters
 * measured, a `where` is an axis: what calibration explains is taken off rows outside too, and totals of a cluster take all of
 * its rows. */
#ifndef TMI_MEASURE_WORKLOAD_H
#define TMI_MEASURE_WORKLOAD_H

#include "measure/sampling.h"
#include "plan/plan.h"
#include "strategy/effects.h"

/* The classes of a column: of a category by code, of a number by cuts; of an indicator of several columns "no" and "yes". */
typedef struct tmi_classes {
    const tmi_plan_column *column;
    int32_t *class_of; /* a category: the class of each code */
    int32_t *code_of;  /* and the first code of each class */
    int64_t *cuts;     /* a number: the class of a point is how many of these are not above it */
    size_t count;      /* of classes, the rest not included */
    bool rest;         /* one more class, the last: rows without a value */
    bool is_where;     /* an indicator whose missing values are "no" */
    size_t largest;    /* classes that a single statistic asks for, at most */
    size_t axis;       /* that they are on; SIZE_MAX: there is one level only */
} tmi_classes;

static inline size_t tmi_classes_levels(const tmi_classes *classes) { return classes->count + (classes->rest ? 1 : 0); }

#define TMI_MAX_CROSSED TMI_MAX_BY /* columns that one axis has */

/* Where the levels of an axis come from: classes of columns, crossed, the last one running fastest; or a number. */
typedef struct tmi_origin {
    size_t classes[TMI_MAX_CROSSED]; /* in the list of the workload */
    size_t classes_count;
    const tmi_plan_column *number; /* NULL: classes */
    bool zero;                     /* missing values count as 0 */
    bool contributed;              /* the number is weight times value (contributions.h) */
    int shift;                     /* of a contribution, as an engine multiplies it */
    tmi_grid grids[2];             /* of contributions: of each part, the same points with other steps */
} tmi_origin;

/* Which rows are added up in a table, and what they weigh. */
typedef struct tmi_domain {
    const tmi_plan_column *where;  /* NULL: all rows */
    const tmi_plan_column *number; /* rows weigh what they add to totals of it (unit_contributions.h); NULL: their weights */
    tmi_grid grid;                 /* of what a row adds */
    int shift;                     /* of it, as an engine multiplies it */
    int64_t most_of_unit;          /* what the rows of a unit add at most, all together, in steps of the grid */
} tmi_domain;

/* A column of a statistic: a number's axis, or an indicator of classes. */
typedef struct tmi_variable {
    const tmi_plan_column *column; /* NULL: there is none */
    size_t axis;                   /* SIZE_MAX: there is none, as all rows are alike, or weigh what they add to totals of it */
    size_t classes;                /* of an indicator; SIZE_MAX: the axis is a number's */
    double *present, *one;         /* of an indicator: whether a class has a value, and whether that is 1; or what it is */
} tmi_variable;

/* One group of a statistic, which another one is about that is not by these columns (inference/step_mean.c). */
typedef struct tmi_only_group {
    const tmi_plan_statistic *statistic;
    size_t by[TMI_MAX_BY]; /* classes of its columns; SIZE_MAX: a column that does not matter */
    size_t group;
} tmi_only_group;

/* What a statistic reads. Values of a `by` column are ranges of classes. */
typedef struct tmi_statistic_map {
    bool contributed; /* read from contributions */
    bool known;       /* follows from the design, or from a distribution function, whose shares are statistics of their own, or is
                         a count that results are calibrated to: nothing is measured */
    size_t domain;
    size_t axes[TMI_MAX_AXES]; /* all of them, ascending */
    size_t axis_count;
    size_t by[TMI_MAX_BY];        /* classes of each `by` column; SIZE_MAX: strata that are measured apart */
    const tmi_plan_column *where; /* NULL: there is none, or it is the domain */
    bool whole;                   /* its conditions are taken together, as classes of their own */
    const tmi_only_group *only;   /* NULL: all groups */
    tmi_variable x, y;
    tmi_variable also[TMI_MAX_NUMBERS - 2]; /* numbers that a row must have too; their columns are NULL where there is none */
    /* of a contrast, which has no table of estimates: whether a table can have its `axes`, those of all of its statistics
     * together, as that of its second stage has. `x` and `y` are the columns of two statistics of the same rows, whose products
     * say how they vary together; there are none where it does not follow from these (tmi_has_products). */
    bool joint;
} tmi_statistic_map;

struct tmi_question; /* classes.h */

/* Factors of calibration and what it explains are functions g0 + g1 v of the number v that results are calibrated to; their
 * products have v^2 too. */
#define TMI_CONTROL_POWERS 3

typedef struct tmi_workload {
    const tamis_plan *plan;
    const tmi_sampling *sampling;
    bool separate_strata; /* each stratum has tables of its own */
    bool shared_classes;  /* questions about a column that cut across each other divide the same classes; else each has its own */
    bool divided;         /* there are such questions */
    bool where_domains;   /* a `where` may be a domain */
    const tmi_plan_column *const *controls;
    size_t control_count;
    const tmi_plan_column *control_number; /* whose totals results are calibrated to; NULL: they are calibrated to counts alone */
    size_t *order;                         /* statistics by what they ask for: how a plan lists them does not matter */
    tmi_axis *axes;
    tmi_origin *origins; /* one per axis */
    size_t axis_count, axis_room, origin_room;
    tmi_classes *classes;
    size_t classes_count, classes_room;
    tmi_domain *domains; /* the first one has all rows and their weights */
    size_t domain_count, domain_room;
    tmi_statistic_map *maps; /* one per statistic */
    size_t control_axis;     /* of the cells that results are calibrated to; SIZE_MAX: there is one, or none, in each table */
    size_t number_axis;      /* that of the control number; SIZE_MAX: there is none */
    double control_scale;    /* the largest size of its values */
    double control_powers[TMI_CONTROL_POWERS][TMI_LEVELS]; /* 1, v and v^2 at its levels, v = x/scale; a missing value is 0 */
} tmi_workload;

/* `apart`, `joined`: as above; `controls`: of the columns that results are calibrated to, none if they are not, and `number`, of
 * which they are calibrated to totals; `known`: of the statistics that need no measurement; `older`: of a certificate that may
 * have domains where a `where` is an axis today. The lists are copied or held by the schedule.
 *
 * Errors   INVALID (a statistic with too many columns), SYSTEM; the workload is then empty. */
tamis_status tmi_workload_make(tmi_workload *workload, const tamis_plan *plan, const tmi_sampling *sampling, bool separate_strata,
                               bool shared_classes, const tmi_plan_column *const *controls, size_t control_count,
                               const tmi_plan_column *number, const bool *known, bool older, tamis_error *err);
void tmi_workload_clear(tmi_workload *workload);

/* The grid of a number's axis, in a stratum, or in a part of contributions. */
tmi_grid tmi_axis_grid(const tmi_workload *workload, size_t axis, size_t stratum);

/* The levels of the axis of calibration; 1 without one. */
static inline size_t tmi_control_levels(const tmi_workload *workload)
{
    return workload->control_axis == SIZE_MAX ? 1 : workload->axes[workload->control_axis].levels;
}

/* Powers of the control number that factors have, and that products of two of them have: the powers up to this one less 1. Lists
 * by power and level of the axis of calibration have all levels of power 0 first. */
static inline size_t tmi_factor_powers(const tmi_workload *workload) { return workload->control_number ? 2 : 1; }
static inline size_t tmi_product_powers(const tmi_workload *workload) { return workload->control_number ? 3 : 1; }

/* Whether a statistic is read as a sum: a count or total, or one that is divided by the public size of the population. */
bool tmi_is_sum(const tmi_plan_statistic *statistic);

/* Whether how the two statistics of a contrast vary together follows from products of their columns, in a table that has both. */
static inline bool tmi_has_products(const tmi_workload *workload, size_t contrast)
{
    return workload->plan->statistics[contrast].contrast && workload->maps[contrast].y.column;
}

/* Whether a category is about strata that have tables of their own: it says which of these count, and is no axis of them. */
bool tmi_is_separate(const tmi_workload *workload, const tmi_plan_column *category);

/* The classes that answer a question; there are some. */
size_t tmi_workload_find(const tmi_workload *workload, const struct tmi_question *question);

/* Whether a class is of a value of a `by` column; and where such classes are: none is outside [first, end), and all that are
 * inside are, but for recodes. */
bool tmi_class_has_value(const tmi_classes *classes, const tmi_plan_column *by, size_t value, size_t class);
void tmi_classes_of_value(size_t *first, size_t *end, const tmi_classes *classes, const tmi_plan_column *by, size_t value);

/* The classes in which a condition on a column holds, as 0 and 1: `classes` are of that column. */
void tmi_condition_vector(double *vector, const tmi_classes *classes, const tmi_plan_condition *condition);

#endif
