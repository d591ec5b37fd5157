/* How the secret totals of the second stage become one integer of a number (schedule/standard_errors.h), from the noisy tables of
 * the estimates alone: what a release computes before it adds noise, and a reader or a verifier computes again from what was
 * published. Coefficients, blocks, shift and divisor are whole numbers; doubles only decide which. */
#ifndef TMI_INFERENCE_ERROR_TERM_H
#define TMI_INFERENCE_ERROR_TERM_H

#include "inference/contrast.h"
#include "schedule/standard_errors.h"

typedef struct tmi_error_term {
    int32_t *coefficients; /* of each level of each cell of the table; all 0: nothing is known of the number */
    tmi_error_grid grid;
    double step;    /* what a step of the released integer is worth, as a standard error of the number, or a variance */
    double squares; /* V0: the variance in a simple random sample with the same mean weight */
    double noise; /* the variance of the noise of the estimate, 0 where it is not known; of a sum, of x - r y, or of a contrast */
} tmi_error_term;

/* What the numbers of a measurement are made from: the sums of its statistic's groups, or of what a contrast compares. */
typedef struct tmi_error_source {
    const tmi_inference *inference;
    const tmi_measurement *measurement;
    tmi_statistic_sums sums;
    tmi_contrast_sums contrast;
    int64_t together; /* what all numbers move by together (variance/method.h); 0 where each has rows of its own */
} tmi_error_source;

tamis_status tmi_error_source_make(tmi_error_source *source, const tmi_inference *inference, const tmi_measurement *m,
                                   tamis_error *err);
void tmi_error_source_clear(tmi_error_source *source);

/* Of one group of the measurement's statistic. Errors: SYSTEM. */
tamis_status tmi_error_term_make(tmi_error_term *term, tmi_error_source *source, size_t group, tamis_error *err);
void tmi_error_term_clear(tmi_error_term *term);

/* V0 of a number at the value r of a ratio; not below half of what its noise may hide. 0: it does not vary, such as a count that
 * calibration makes public. */
double tmi_simple_variance(const tmi_group_sums *sums, const tmi_schedule *schedule, size_t statistic, double r);

/* The value of a ratio, 0 where noise leaves no denominator, and of a sum. */
double tmi_ratio_at(const tmi_plan_statistic *statistic, const tmi_group_sums *sums);

#endif
