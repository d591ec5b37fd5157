/* What a plan measures: the list of noisy tables, their budgets, and which statistic is read from which table.
 *
 * Statistics that one table can serve are measured once: a total and a mean of the same column by the same groups share
 * the table of sums. A mean that has no total beside it uses the sums of (value - centre), the centre being the middle
 * of the column's range where that lowers the sensitivity: a record that moves between cells then costs about
 * to - from instead of 2 max(|from|, |to|).
 *
 * Budget: each statistic brings its budget_share to the tables it needs (a mean two thirds to its sums and one third to
 * its counts, the best split by groups for a mean a quarter of the range away from the middle); what a table is brought
 * adds up; epsilon is split in proportion. So the epsilons of the tables sum to the plan's epsilon exactly, and by basic
 * composition that is the guarantee. A statistic that is known without looking at the data brings nothing.           */
#ifndef TMI_SCHEDULE_H
#define TMI_SCHEDULE_H

#include "base/text.h"
#include "engine/engine.h"
#include "plan/plan.h"
#include "release/design.h"
#include "release/outsider.h"

/* TMI_ROWS counts the rows in which the column is not missing (all rows without a column), TMI_SUM adds its grid points. */
typedef enum tmi_measure_kind { TMI_ROWS, TMI_SUM } tmi_measure_kind;

typedef struct tmi_measurement {
    tmi_measure_kind kind;
    const tmi_plan_column *column;           /* NULL: all rows */
    const tmi_plan_column *const *by;
    size_t by_count, cells;
    int64_t centre;                          /* TMI_SUM: grid point taken off each value */
    int64_t sensitivity;                     /* L1, in steps of the grid (in rows for TMI_ROWS) */
    int64_t limit;                           /* noisy numbers are clamped to [-limit, limit]; tmi_add_noise says why */
    tamis_number *share, *epsilon, *scale;   /* scale = sensitivity / epsilon */
} tmi_measurement;

#define TMI_MAX_NEEDS 2

/* One table that a statistic needs. */
typedef struct tmi_need {
    tmi_measure_kind kind;
    const tmi_plan_column *column;
    bool any_centre;
    int64_t parts; /* of the statistic's share, relative to its other needs */
} tmi_need;

typedef struct tmi_use {
    size_t count;
    size_t measurement[TMI_MAX_NEEDS]; /* in the order of the statistic's needs */
} tmi_use;

typedef struct tmi_schedule {
    const tamis_plan *plan; /* held */
    const tmi_design *design;
    tamis_number *weight;
    tamis_number *spent; /* the sum of the epsilons: the plan's, or 0 if nothing is measured */
    tmi_outsider outsider;
    tmi_measurement *measurements;
    size_t measurement_count;
    tmi_use *uses; /* one a statistic */
} tmi_schedule;

/* Errors   INVALID (a scale out of range: names statistic and reason), REFUSED (the setting), SYSTEM; the schedule is then
 *          empty.                                                                                                    */
tamis_status tmi_schedule_make(tmi_schedule *schedule, const tamis_plan *plan, tamis_error *err);
void tmi_schedule_clear(tmi_schedule *schedule);

/* "sum of enroll by stype": names a measurement in the outputs, different for each. */
void tmi_measurement_name(tmi_text *text, const tmi_measurement *measurement);

/* The category of cell number `cell` in the i-th `by` column; the last column runs fastest. */
const char *tmi_cell_value(const tmi_plan_column *const *by, size_t by_count, size_t cell, size_t i);

#endif
