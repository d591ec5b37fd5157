/* From noisy tables to effects, and from effects to moments: the best linear unbiased estimates from all measurements of a
 * weighting together (strategy/effects.h), and from what is public about the sample. Results add up because all of them are
 * read from the same effects. */
#ifndef TMI_INFERENCE_RECONSTRUCT_H
#define TMI_INFERENCE_RECONSTRUCT_H

#include "schedule/schedule.h"
#include "schedule/targets.h"

/* The effects of one weighting. Strata that are measured apart are copies of each other. */
typedef struct tmi_reconstruction {
    const tmi_schedule *schedule;
    tmi_weighting weighting;
    size_t copies;
    size_t *first;   /* of each effect of the schedule: its place among the numbers of a copy */
    size_t numbers;  /* of a copy */
    double *effects; /* copy by copy; of category axes that are on, one number per level */
    double *centres; /* copy by copy, arrowhead by arrowhead */
    double *blocks;  /* copy by copy, block by block of the arrowheads, TMI_CONTRASTS each */
} tmi_reconstruction;

/* `noisy`: of every measurement one integer per number. Errors: SYSTEM. */
tamis_status tmi_reconstruct(tmi_reconstruction *reconstruction, const tmi_schedule *schedule, tmi_weighting weighting,
                             tmi_int128 *const *noisy, tamis_error *err);
void tmi_reconstruction_clear(tmi_reconstruction *reconstruction);

/* The moments of all groups of a statistic in one copy, `stratum` choosing the ranges of its numbers: values[(group * controls
 * + control) * TMI_MOMENTS + moment], with the cells of calibration one by one if there are any (`controls` of them; else 1).
 * With totals of a number v there are twice as many controls: the moments of the same cells times v follow those without it.
 * What is not determined is whatever it is. Errors: SYSTEM. */
tamis_status tmi_reconstruct_moments(double *values, const tmi_reconstruction *reconstruction, size_t copy, size_t statistic,
                                     size_t stratum, tamis_error *err);

/* The rows in each level of the axis of calibration, in a copy, among all rows; with totals of a number v also their sums of v
 * and of v^2 (tmi_product_powers). Errors: SYSTEM. */
tamis_status tmi_reconstruct_rows(double *rows, const tmi_reconstruction *reconstruction, size_t copy, tamis_error *err);

#endif
