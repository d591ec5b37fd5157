/* PolyPlace noise by inversion, in balls. */
#ifndef TMI_MECH_SMOOTH_POLYPLACE_H
#define TMI_MECH_SMOOTH_POLYPLACE_H

#include "num/ball.h"

/* The size |Z| that a share u of all sizes is below, of the law with p > 1 of <tamis/experimental/smooth.h>. u is a ball in [0,
 * 1); the whole line if it reaches 1. */
void tmi_polyplace_size(tmi_ball *z, const tmi_ball *u, const tamis_number *p, long bits);

/* The mean of |Z| / beta: noise for S = 1. Needs 0 < beta < eps. Errors: SYSTEM, UNABLE; {0, inf} then. */
tamis_status tmi_polyplace_mean_size(tamis_bound *mean, const tamis_number *eps, const tamis_number *beta, tamis_error *err);

#endif
