#ifndef TMI_AMPLIFICATION_COORDINATED_H
#define TMI_AMPLIFICATION_COORDINATED_H

#include "num/ball.h"

/* The largest e^eps over the sets of patterns, given the odds e^eps_a, the largest first; without the rest, the sums over
 * the patterns outside the set are left out: valid too, and larger. */
void tmi_coordinated(tmi_ball *value, const tmi_ball *none, const tmi_ball *p, const tmi_ball *odds, size_t count, bool with_rest,
                     long bits);

#endif
