/* Simple random sampling without replacement, for the rooms above. */
#ifndef TMI_AMPLIFICATION_SRS_H
#define TMI_AMPLIFICATION_SRS_H

#include "num/ball.h"

/* What a sample may spend beyond eps, the loss allowed on the population: eps_n - eps, without cancellation, from
 * odds = (1-f)/f, the odds of not being sampled. */
void tmi_srs_headroom(tmi_ball *z, const tmi_ball *odds, const tmi_ball *eps, long bits);

/* INVALID unless 1 <= n <= N. */
tamis_status tmi_srs_check(int64_t N, int64_t n, tamis_error *err);

#endif
