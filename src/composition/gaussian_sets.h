/* The discrete Gaussian, asked very often: P(X <= k) is stored for all k that matter. */
#ifndef TMI_COMPOSITION_GAUSSIAN_SETS_H
#define TMI_COMPOSITION_GAUSSIAN_SETS_H

#include "composition/profile.h"

/* Opens the evaluator to such a loss, which must live as long; UNABLE if there were too many k, and the loss itself has to be
 * asked. */
tamis_status tmi_gaussian_sets_open(tmi_evaluator *evaluator, tmi_loss *loss, tamis_error *err);

#endif
