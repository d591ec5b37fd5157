/* Strata whose sampled units lose different epsilons. */
#ifndef TMI_AMPLIFICATION_APART_H
#define TMI_AMPLIFICATION_APART_H

#include <tamis/experimental/amplification.h>

/* tamis_amplify_design of a design that has strata, whose sampled units lose eps[h] each, with delta 0, records being replaced
 * within their stratum: each stratum is amplified by its own draw, since the draws of the others have the same law for both of
 * two neighbours.
 *
 * Errors   as tamis_amplify_design; INVALID (a design without strata). */
tamis_status tmi_amplify_apart(tamis_amplified *amplified, const tamis_design *design, tamis_number *const *eps,
                               tamis_error *err);

#endif
