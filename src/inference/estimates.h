/* From noisy integers to results: estimates, sampling errors and intervals. It sees the schedule and the noisy numbers,
 * nothing of the data; everything here is post-processing.                                                           */
#ifndef TMI_INFERENCE_ESTIMATES_H
#define TMI_INFERENCE_ESTIMATES_H

#include "inference/interval/strata.h"
#include "schedule/result.h"
#include "schedule/schedule.h"
#include "schedule/variance_groups.h"

typedef struct tmi_inference {
    const tmi_schedule *schedule;
    const tmi_variance_groups *groups;
    tmi_int128 *const *noisy;                  /* for each measurement one integer a cell */
    const struct tmi_calibration *calibration; /* NULL: the schedule has none */
} tmi_inference;

/* Fills a result whose `statistic` and `cell` are set. What is unknown is NaN, with the reason. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_result(tmi_result *result, const tmi_inference *reading, tamis_error *err);

/* The interval of a count whose test can be inverted (`exact`), by the variance that each possible total would have. `moved`: the
 * estimate and the noise after post-processing; NULL: as they were measured. Errors: as tmi_interval_strata. */
tamis_status tmi_interval_of_count(tmi_interval *interval, const tmi_result *result, const tmi_inference *reading,
                                   const tmi_moved_count *moved, tamis_error *err);

#endif
