/* From noisy integers to results: estimates, sampling errors and intervals. It sees the schedule and the noisy numbers,
 * nothing of the data; everything here is post-processing.                                                           */
#ifndef TMI_READING_H
#define TMI_READING_H

#include "release/variance_groups.h"
#include "release/result.h"
#include "release/schedule.h"

typedef struct tmi_reading {
    const tmi_schedule *schedule;
    const tmi_variance_groups *groups;
    tmi_int128 *const *noisy; /* for each measurement one integer a cell */
    const struct tmi_calibration *calibration; /* NULL: the schedule has none */
} tmi_reading;

/* Fills a result whose `statistic` and `cell` are set. What cannot be told is NaN, with the reason. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_result(tmi_result *result, const tmi_reading *reading, tamis_error *err);

#endif
