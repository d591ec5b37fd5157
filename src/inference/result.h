/* One number of a release or an estimate, with its errors. NaN stands for null. */
#ifndef TMI_RESULT_H
#define TMI_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TMI_NOTES 4

typedef struct tmi_result {
    size_t statistic, cell;
    double estimate;
    double se, sampling_se, noise_sd;
    double shared_noise; /* variance of that part of the noise which calibration gives to all numbers: it adds up as the sample does */
    double lower, upper; /* the interval */
    double least, most;  /* where the truth certainly lies; NaN: nothing is said */
    double bias;         /* that weights bring at most; NaN: they bring none */
    int64_t df;          /* -1: null */
    const char *reason;  /* why the estimate or the interval is null; NULL if they are not */
    const char *notes[TMI_NOTES]; /* what was done to it */
    size_t note_count;
    bool exact;          /* the interval is that of a test of a count, inverted */
    bool limited;        /* the sampling variance is an upper limit of a noisy one */
    bool known;          /* public; nothing was measured */
    bool outside_range;  /* the estimate lies where no population could put the truth */
} tmi_result;

#define TMI_NULL (__builtin_nan(""))
#define TMI_NO_RESULT                                                                                                 \
    ((tmi_result){.estimate = TMI_NULL, .se = TMI_NULL, .sampling_se = TMI_NULL, .noise_sd = TMI_NULL,               \
                  .lower = TMI_NULL, .upper = TMI_NULL, .least = TMI_NULL, .most = TMI_NULL, .bias = TMI_NULL,        \
                  .df = -1})

#endif
