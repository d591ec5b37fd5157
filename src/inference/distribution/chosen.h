/* The noise of quantiles that a mechanism chose: how far it strays from the quantile of a distribution function like the one that
 * was released, of as many records. */
#ifndef TMI_INFERENCE_CHOSEN_H
#define TMI_INFERENCE_CHOSEN_H

#include "inference/estimates.h"

typedef struct tmi_chosen_noise {
    const tmi_schedule *schedule;
    const tmi_choice *choice; /* NULL: nothing was chosen */
    tamis_quantile *mechanism;
    double *units;  /* of the population, noisy: one per group */
    double *errors; /* in values, as root mean squares: one per `at` of the group that was read last */
} tmi_chosen_noise;

/* Of a statistic; empty unless a mechanism chose its quantiles. Cleared by the caller, whatever happens. Errors: SYSTEM. */
tamis_status tmi_chosen_noise_make(tmi_chosen_noise *noise, const tmi_inference *reading, size_t statistic, tamis_error *err);
void tmi_chosen_noise_clear(tmi_chosen_noise *noise);

/* Sets `errors`. Errors: SYSTEM. */
tamis_status tmi_chosen_noise_read(tmi_chosen_noise *noise, const tmi_cdf *curve, size_t group, tamis_error *err);

#endif
