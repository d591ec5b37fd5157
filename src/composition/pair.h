/* Profiles of pairs of lattice laws. */
#ifndef TMI_COMPOSITION_PAIR_H
#define TMI_COMPOSITION_PAIR_H

#include "composition/profile.h"
#include "num/law/law.h"

/* The profile of answers with the law p for one value of a person and q for another, both orders; what the laws keep outside
 * their windows counts as revealed with certainty in the upper end, and not at all in the lower one. */
tamis_status tmi_profile_laws(tamis_profile **profile, const tmi_law *p, const tmi_law *q, tamis_error *err);

#endif
