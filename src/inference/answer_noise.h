/* The noise of quantiles that a mechanism chose: how far it strays from the quantile of a distribution function like the one that
 * was released, of as many records. */
#ifndef TMI_INFERENCE_ANSWER_NOISE_H
#define TMI_INFERENCE_ANSWER_NOISE_H

#include "inference/estimates.h"

typedef struct tmi_answer_noise {
    const tmi_schedule *schedule;
    const tmi_quantile_task *task; /* NULL: nothing was chosen */
    tamis_quantile *mechanism;
    double *units;  /* of the population, noisy: one per group */
    double *errors; /* in values, as root mean squares: one per `at` of the group that was read last */
} tmi_answer_noise;

/* Of a statistic; empty unless a mechanism chose its quantiles. Cleared by the caller, whatever happens. Errors: SYSTEM. */
tamis_status tmi_answer_noise_make(tmi_answer_noise *noise, const tmi_inference *inference, size_t statistic, tamis_error *err);
void tmi_answer_noise_clear(tmi_answer_noise *noise);

/* Sets `errors`. Errors: SYSTEM. */
tamis_status tmi_answer_noise_read(tmi_answer_noise *noise, const tmi_cdf *curve, size_t group, tamis_error *err);

#endif
