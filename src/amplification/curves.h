/* Profiles made of profiles, for this room. */
#ifndef TMI_AMPLIFICATION_CURVES_H
#define TMI_AMPLIFICATION_CURVES_H

#include "composition/profile.h"

/* The profile of a person who is in the sample with probability `rate`, 0 < rate <= 1. */
tamis_status tmi_profile_amplify(tamis_profile **profile, const tamis_profile *sampled, const tamis_number *rate,
                                 tamis_error *err);

#endif
