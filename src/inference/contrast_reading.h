/* What the results of contrasts and of models share: both are sums of linearised variables over the same tables. */
#ifndef TMI_INFERENCE_CONTRAST_READING_H
#define TMI_INFERENCE_CONTRAST_READING_H

#include "inference/contrast_noise.h"

typedef struct tmi_contrast_reading {
    const tmi_inference *r;
    tmi_contrast_sums sums;
    const tmi_result *const *first; /* of each statistic: its first result */
    double *together;               /* of each group: what numbers that vary together add to the sum of their variances */
    double *form_noise; /* of each group: the variance of the noise of the whole sum; NULL: of each number by itself */
} tmi_contrast_reading;

/* The sampling variance of the group that was taken, with notes in its result: infinite or NaN where it is not known. */
double tmi_contrast_sampling(tmi_result *result, const tmi_contrast_reading *reading);

/* Half the width of the interval of a sum of noises with these factors, and a sampling error; `noise`: the variance of the noise,
 * NULL if it is not wanted. Errors: those of tmi_error_reach. */
tamis_status tmi_contrast_reach(double *reach, const tmi_moment_parts *parts, const double factors[TMI_MOMENTS], double sampling,
                                int64_t df, double confidence, double *noise, tamis_error *err);

/* The law of a sum of noises with these factors, and a sampling error; the caller frees the list of parts. NULL: no memory. */
tmi_noise_part *tmi_contrast_noises(size_t *count, const tmi_moment_parts *parts, const double factors[TMI_MOMENTS]);

/* ---- models ---- */

/* Sets `together` of all coefficients of a model: what cells of one stratum have in common. Errors: SYSTEM. */
tamis_status tmi_model_together(tmi_contrast_reading *reading, size_t results, tamis_error *err);

/* Fills the results of all coefficients of one group, which follow each other. Errors: UNABLE, SYSTEM. */
tamis_status tmi_read_model(tmi_result *terms, tmi_contrast_reading *reading, tamis_error *err);

#endif
