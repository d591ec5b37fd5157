/* What a plan measures: the list of noisy tables, their budgets, and which statistic is read from which table.
 *
 * A statistic is made of sums over the rows: A alone (counts, totals), A / B (means, shares, ratios), or Q, A and B (a
 * variance, Q/B - (A/B)^2). A ratio's A and B, and its squares, are taken about centres, and N counts its rows. Its sampling
 * error needs sums of squares AA, AB, BB as well, unless the design is clustered, where all sums are taken by variance units, or
 * the values are 0 and 1, which are their own squares. Statistics that one table can serve are measured once. A mean that has no
 * total beside it uses sums of (value - centre), the centre being the middle of the range where that lowers the sensitivity.
 *
 * Budget (budget.c): the tables' parts are chosen from public knowledge so that the expected relative errors that the plan's
 * shares ask for are least; a fifth of what a statistic brings goes to its squares. The parts are exact and add up to the
 * plan's epsilon or rho, and by composition that is the guarantee. A statistic that is known without looking at the
 * data brings nothing. */
#ifndef TMI_SCHEDULE_SCHEDULE_H
#define TMI_SCHEDULE_SCHEDULE_H

#include "schedule/frame_file.h"
#include "schedule/measurement.h"

/* Where results are calibrated, K counts the rows of every control cell, and KK is the sum of a over them (calibration.h). U
 * counts the sampled rows of each group, where `suppress: {units_below: ...}` asks for them. */
typedef enum tmi_role {
    TMI_NUMERATOR,
    TMI_DENOMINATOR,
    TMI_SQUARES,
    TMI_RATIO_ROWS = TMI_SQUARES,
    TMI_CONTROL_ROWS,
    TMI_NUMERATOR_SQUARES,
    TMI_PRODUCTS,
    TMI_DENOMINATOR_SQUARES,
    TMI_CONTROL_SQUARES,
    TMI_GROUP_UNITS,
    TMI_ROLES
} tmi_role;

#define TMI_NO_TABLE SIZE_MAX

typedef struct tmi_use {
    bool known;              /* follows from the design, or is a count that results are calibrated to: nothing is measured */
    size_t table[TMI_ROLES]; /* measurements; TMI_NO_TABLE: not needed, or it follows from others */
} tmi_use;

/* Made once and never changed: everybody but tmi_schedule_make and tmi_schedule_clear has it const. */
typedef struct tmi_schedule {
    const tamis_plan *plan; /* held */
    tmi_frame_file frame;   /* empty: the plan has none; of a certificate its facts alone */
    tmi_sampling sampling;
    tmi_measurement *measurements;
    size_t measurement_count;
    tmi_use *uses; /* one per statistic */

    bool calibrated;                             /* after the noise, to public counts */
    const tmi_plan_column *controls[TMI_MAX_BY]; /* of the columns that these are by: crossed, the control cells */
    size_t control_count;

    bool gaussian;                 /* the noise is discrete Gaussian and the parts are rhos; else Laplace and epsilons */
    tamis_number *spent;           /* the sum of the parts; 0 if nothing is measured */
    tamis_number *epsilon, *delta; /* what that means for a sampled unit: certified, rounded up */

    tmi_watch *watch; /* asked by whatever takes long with this schedule; NULL: nobody watches */
} tmi_schedule;

/* What was decided and read before, as a certificate says it: the parts of the budget and the facts of the frame. */
typedef struct tmi_budget_parts {
    bool rho;            /* else epsilons */
    tamis_number **list; /* one per measurement; NULL: they are chosen */
    size_t count;
    const tmi_frame_facts *frame; /* NULL: there is none */
} tmi_budget_parts;

/* `parts` NULL: they are chosen, and the frame is read from its file; else they must add up to no more than the plan allows.
 *
 * Errors   INVALID (a scale out of range: names statistic and reason), REFUSED (the setting), UNABLE, SYSTEM; the schedule
 *          is then empty.                                                                                            */
tamis_status tmi_schedule_make(tmi_schedule *schedule, const tamis_plan *plan, const tmi_budget_parts *parts, tamis_error *err);

/* The same while somebody watches, who stays the schedule's watch. */
tamis_status tmi_schedule_make_watched(tmi_schedule *schedule, const tamis_plan *plan, const tmi_budget_parts *parts,
                                       tmi_watch *watch, tamis_error *err);
void tmi_schedule_clear(tmi_schedule *schedule);

/* The invariants of a schedule that was made (base/check.h): every table has cells, a part of the budget and laws with scales;
 * every statistic is known or read from tables of the list; the parts add up to what is spent. */
bool tmi_schedule_is_sound(const tmi_schedule *schedule);

/* Parts and scales of all measurements, and `gaussian`, `spent`, `epsilon`, `delta`. */
tamis_status tmi_budget_split(tmi_schedule *schedule, const tmi_budget_parts *parts, tamis_error *err);

/* What the frame says; NULL if the plan has none. */
const tmi_frame_facts *tmi_frame_of(const tmi_schedule *schedule);

/* The table of a role; NULL if there is none. */
const tmi_measurement *tmi_table_of(const tmi_schedule *schedule, size_t statistic, tmi_role role);

/* Whether a mean or share by `known_size` is read as a total: where the design fixes the denominator anyway, it is a mean. */
bool tmi_divides_total(const tmi_schedule *schedule, const tmi_plan_statistic *statistic);

/* Whether a statistic is calibrated: not if it is known. */
bool tmi_is_calibrated(const tmi_schedule *schedule, size_t statistic);

/* The sampled rows of a group of the statistic, if the design fixes them and everybody knows; else 0. */
int64_t tmi_public_rows(const tmi_schedule *schedule, size_t statistic, size_t group);

/* The place of the column of the strata among `count` columns; `count` if it is none of them. */
size_t tmi_find_strata(const tmi_plan_column *const *by, size_t count, const tmi_plan_design *design);

/* Whether the range of a statistic's column is another one in each stratum. */
bool tmi_has_ranges_by_stratum(const tmi_plan_statistic *statistic);

#endif
