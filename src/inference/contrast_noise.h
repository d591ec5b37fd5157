#ifndef TMI_INFERENCE_CONTRAST_NOISE_H
#define TMI_INFERENCE_CONTRAST_NOISE_H

#include "inference/contrast.h"

#define TMI_CONTRAST_NOISE TMI_OF_X /* the moment whose factors are those of the contrast */
#define TMI_TURN_NOISE TMI_OF_ROWS  /* and, of a model, of how it moves with the coefficient */

/* Gives the noise of the group that was taken. Errors: SYSTEM. */
tamis_status tmi_contrast_noise_make(tmi_moment_parts *parts, const tmi_contrast_sums *sums, tamis_error *err);

/* The variance of the noise of the estimated sampling variance, in one stratum or in all, of the group that was taken; of two
 * statistics of the same rows whose products were measured. `sum`: of their linearised variables there; `scale`: what a weight
 * of 1 is in the tables. Errors: SYSTEM. */
tamis_status tmi_contrast_squares_noise(double *variance, const tmi_contrast_sums *sums, size_t group, size_t stratum,
                                        tmi_stratum_part part, bool subtracts, double sum, double scale, tamis_error *err);

#endif
