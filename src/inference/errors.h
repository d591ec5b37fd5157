/* The sampling variances that intervals use, of all numbers of a release whose own squares are not known: what was measured
 * in the second stage, through the limits of variance/limit.h, or a public design effect. */
#ifndef TMI_INFERENCE_ERRORS_H
#define TMI_INFERENCE_ERRORS_H

#include "inference/group_sums.h"
#include "variance/limit.h"

/* One number of a statistic. */
typedef struct tmi_number_error {
    double effect; /* sampling variance of the sum, or of x - r y of a ratio, relative to that of a simple random sample
                        (tmi_simple_variance); NaN: it is not known */
    double known;  /* the standard deviation of the noise in its standard error, relative to that; 0: nothing was measured */
    bool other;    /* the standard error is that of another cut of the distribution function */
} tmi_number_error;

typedef struct tmi_errors {
    tmi_number_error *list;
    size_t *first; /* of each statistic */
} tmi_errors;

/* Needs    the noisy numbers of the second stage.                                                   Errors: SYSTEM. */
tamis_status tmi_errors_make(tmi_errors *errors, const tmi_inference *inference, tamis_error *err);
void tmi_errors_clear(tmi_errors *errors);

/* Why a number of a statistic has no sampling variance. */
const char *tmi_why_no_error(const tmi_schedule *schedule, size_t statistic);

#endif
