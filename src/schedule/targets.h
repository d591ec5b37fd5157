/* The statistics of a plan as targets of the optimiser (strategy/budget.h): what each of them needs of the tables, and how
 * large its sampling error is expected to be. From public knowledge only. */
#ifndef TMI_SCHEDULE_TARGETS_H
#define TMI_SCHEDULE_TARGETS_H

#include "schedule/schedule.h"
#include "strategy/search.h"

typedef struct tmi_targets {
    tmi_effects effects;
    /* one per statistic that is not known, then those of differences of two statistics of the same rows, and of the counts that
     * calibration and suppression need */
    tmi_strategy_target *list;
    size_t *statistics;   /* whose each is; SIZE_MAX: of no one */
    double *weights;      /* room for one number per target */
    size_t *own_marginal; /* the table from which it can be read by itself */
    size_t count;
    tmi_parts_of_effects *parts; /* of all */
    size_t part_count, part_room;
    tmi_marginal *needed;
    size_t needed_count, needed_room, last_needed;
    tmi_marginal *grams; /* of models with several numbers */
    size_t gram_count;
    tmi_move_bound *move_bounds; /* one per weighting and domain */
    double copies[TMI_WEIGHTINGS];
} tmi_targets;

/* Of a schedule whose sampling and workload are set. `products`: differences of two statistics of the same rows need a table of
 * both columns, which shows how these vary together. Errors: SYSTEM. */
tamis_status tmi_targets_make(tmi_targets *targets, const tmi_schedule *schedule, bool products, tamis_error *err);

/* The correlation of both numbers of a change that is expected where units of both samples have both values. */
double tmi_expected_overlap(const tmi_schedule *schedule, size_t change);

/* Whether there are such differences, whose sampling variances could be read from such a table. */
bool tmi_targets_may_have_products(const tmi_schedule *schedule);

/* Whether a table of several numbers may be measured by their sums of products: at least three of them, all with
 * squares and in every row, and no record moves the weights of others. */
bool tmi_may_have_grams(const tmi_schedule *schedule, const tmi_marginal *marginal);

void tmi_targets_clear(tmi_targets *targets);

#endif
