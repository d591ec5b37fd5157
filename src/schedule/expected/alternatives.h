/* What a plan's statistics would have for errors if one thing were different. Each alternative is tried on the schedule. */
#ifndef TMI_SCHEDULE_EXPECTED_ALTERNATIVES_H
#define TMI_SCHEDULE_EXPECTED_ALTERNATIVES_H

#include "schedule/expected/expected.h"

typedef enum tmi_alternative_kind {
    TMI_TWICE_THE_BUDGET,
    TMI_WITH_DELTA,     /* in the place of none */
    TMI_SECRET_SAMPLE,  /* an epsilon for the sampled that is the plan's epsilon for everybody else of the frame */
    TMI_HALF_THE_RANGE, /* of each number */
    TMI_HALF_THE_GROUPS,
    TMI_REMEDIES,
    TMI_OTHER_LAW = TMI_REMEDIES, /* Laplace noise in the place of Gaussian noise, and the other way round */
    TMI_EACH_BY_ITSELF,           /* every statistic has a table of its own */
    TMI_ALTERNATIVES,
    TMI_PUBLIC_BOUNDS = TMI_ALTERNATIVES /* `beyond` in the place of each private bound, and all of the budget for statistics */
} tmi_alternative_kind;

#define TMI_DELTA_TRIED "1e-6"

/* Geometric means over the groups; NaN: not known, or it does not concern the statistic. */
typedef struct tmi_expected_outcome {
    double noise, error; /* of half the groups: as if those were still as small; an error that is relative to size counts there */
} tmi_expected_outcome;

typedef struct tmi_alternative {
    bool possible;
    tmi_plan_loss loss;             /* what a sampled unit would lose; NULL: the same as now. Owned. */
    tmi_expected_outcome *outcomes; /* one per statistic */
} tmi_alternative;

/* As things are. The caller frees the list. NULL: no memory. */
tmi_expected_outcome *tmi_outcomes_now(const tmi_expected_statistic *now, size_t count);

/* Needs    `now`: what is expected of each statistic as things are.
 * Errors   SYSTEM, UNABLE; the alternative is then empty.                                                             */
tamis_status tmi_alternative_make(tmi_alternative *alternative, tmi_alternative_kind kind, const tmi_schedule *schedule,
                                  const tmi_expected_statistic *now, tamis_error *err);
void tmi_alternative_clear(tmi_alternative *alternative);

/* By which part the error of a statistic would be lower; NaN if that is not known. */
double tmi_alternative_gain(const tmi_alternative *alternative, const tmi_expected_statistic *now, size_t statistic);

#endif
