/* From noisy integers to results: estimates, sampling errors and intervals. It sees the schedule and the noisy numbers,
 * nothing of the data; everything here is post-processing.
 *
 * tmi_release_read (release/run.c) goes through it in this order:
 *
 *     reconstruct.h             effects, the best estimates from all tables of the first stage together
 *     calibration.h             factors of the control cells, where the plan calibrates to public counts
 *     errors.h                  measured sampling variances, from the integers of the second stage, which error_term.h explains
 *     this header               each statistic, group by group: sums and the noise in them (group_sums.h), the estimate, and the
 *                               interval for sampling error and noise together (interval/); shrink.h, where the plan asks for it
 *     distribution.h            quantiles and inequality, from shares that were read
 *     contrast.h, waves.h       differences, quotients, models; changes since an earlier release
 *     postprocess.h             negative cells, numbers that say too little */
#ifndef TMI_INFERENCE_ESTIMATES_H
#define TMI_INFERENCE_ESTIMATES_H

#include "inference/reconstruct.h"
#include "schedule/result.h"
#include "schedule/schedule.h"

typedef struct tmi_inference {
    const tmi_schedule *schedule;
    tmi_int128 *const *noisy;                  /* for each measurement one integer per number */
    const struct tmi_calibration *calibration; /* NULL: the schedule has none */
    /* Effects by the weighting of their tables (measure/moments.h); empty where there are none. `main` is weighted, or not where
     * the weight comes after the noise; `rows` are not, for the number of sampled rows. */
    tmi_reconstruction main, rows, contributed, of_units;
    double clamping;               /* what bounded weights take off a measured variance: a factor */
    struct tmi_errors *errors;     /* NULL: sampling variances are own squares, or not read yet */
    struct tmi_count_grid *counts; /* of statistics with many groups (inverted_counts.h) */
    /* of each statistic: the grid points that a mechanism chose, cell by cell, or NULL; NULL: none was chosen */
    const int64_t *const *answers;
    bool plain; /* intervals of ratios as if all errors were normal, which takes next to no time; measured standard errors are
                     those of `group` */
    size_t group;
} tmi_inference;

/* The factor of a statistic: what rows add to totals that are bounded by unit is not bounded once more for their variances. */
static inline double tmi_clamping_for(const tmi_inference *inference, size_t statistic)
{
    return tmi_units_of(&inference->schedule->workload, statistic) ? 1 : inference->clamping;
}

/* What all results are read from. Errors: SYSTEM. */
tamis_status tmi_inference_make(tmi_inference *inference, const tmi_schedule *schedule, tmi_int128 *const *noisy,
                                tamis_error *err);
void tmi_inference_clear(tmi_inference *inference);

/* Reads measured sampling variances, or public design effects, where the schedule has them; calibration comes before. Errors:
 * SYSTEM. */
tamis_status tmi_inference_read_errors(tmi_inference *inference, tamis_error *err);

/* Fills the results of one statistic, `list` being one per group, whose `statistic` and `cell` are set. What is unknown is NaN,
 * with the reason. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_statistic(tmi_result *list, const tmi_inference *inference, size_t statistic, tamis_error *err);

/* A lower limit of the number of sampled rows of each group, for rules on quality: the noisy number less TMI_UNITS_LIMIT standard
 * deviations of its noise; NaN: nobody counts those of the whole sample. Errors: SYSTEM. */
#define TMI_UNITS_LIMIT 2.0
tamis_status tmi_read_units(double *units, const tmi_inference *inference, size_t statistic, tamis_error *err);

#endif
