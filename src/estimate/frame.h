/* Joint inclusion probabilities of the sampled units of a pps design, from the probabilities of the whole
 * frame.                                                                                                             */
#ifndef TMI_ESTIMATE_FRAME_H
#define TMI_ESTIMATE_FRAME_H

#include "estimate/variance.h"

/* Fills frame_squares and, if asked for, joint.
 *
 * Rows are found in the frame by their stratum and probability. That is enough where joint probabilities depend on nothing
 * else: conditional Poisson, Sampford, Tille, Brewer. Pivotal and systematic samples depend on the order of the frame.
 *
 * Errors   UNABLE (no joint probabilities for this method, or too many units), INVALID (the frame does not hold the sampled
 *          units), SYSTEM.                                                                                           */
tamis_status tmi_frame_joint(tmi_sample_variance *variance, bool joint, tamis_error *err);

#endif
