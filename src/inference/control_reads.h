/* Linear combinations of the moments of control cells and of their rows, several at once: what calibrated numbers and their
 * variances are made of (calibrated_sums.c). */
#ifndef TMI_INFERENCE_CONTROL_READS_H
#define TMI_INFERENCE_CONTROL_READS_H

#include "inference/noise_parts.h"

#define TMI_CONTROL_READS TMI_MOMENTS

/* A coefficient for each output, moment, power of the control number and level of the axis of calibration, and for each output,
 * power and level of the rows. */
typedef struct tmi_control_reads {
    double *of_moments, *of_rows;
    bool used[TMI_CONTROL_READS][TMI_MOMENTS], rows_used[TMI_CONTROL_READS];
    size_t levels, moment_levels, row_levels; /* of the axis; with the powers that moments and rows have */
} tmi_control_reads;

/* Errors: SYSTEM. */
tamis_status tmi_control_reads_make(tmi_control_reads *reads, const tmi_workload *workload, tamis_error *err);
void tmi_control_reads_reset(tmi_control_reads *reads);
void tmi_control_reads_clear(tmi_control_reads *reads);

/* Adds to a coefficient; there is none of TMI_MOMENTS. */
void tmi_control_moment(tmi_control_reads *reads, size_t output, size_t moment, size_t power, size_t level, double value);
void tmi_control_rows(tmi_control_reads *reads, size_t output, size_t power, size_t level, double value);

/* Adds the noises of the outputs of a group of a statistic, in the tables of one stratum: `factor` is by output. Errors:
 * SYSTEM. */
tamis_status tmi_control_reads_parts(tmi_moment_parts *parts, const tmi_schedule *schedule, tmi_weighting weighting,
                                     size_t statistic, const tmi_control_reads *reads, size_t group, size_t stratum,
                                     double weight, tamis_error *err);

#endif
