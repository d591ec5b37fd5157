/* One release on a lattice of losses, from above and from below (privacy/lattice.h). */
#ifndef TMI_DOTS_H
#define TMI_DOTS_H

#include "num/mass.h"
#include "privacy/profile.h"

/* Masses p_j at the losses jh, and at infinity. Mean and variance in units of h, about: for windows only. */
typedef struct tmi_dots {
    tmi_masses masses;
    tmi_ball above;
    double mean, variance, reach;
} tmi_dots;

void tmi_dots_init(tmi_dots *dots);
void tmi_dots_clear(tmi_dots *dots);

/* Where the upper end of delta has become negligible, or stops falling; in losses. */
tamis_status tmi_dots_reach(double *reach, tmi_road *road, tamis_error *err);

/* Both polylines of a road, with knots from -reach to reach. */
tamis_status tmi_dots_of(tmi_dots *above, tmi_dots *below, tmi_road *road, double h, double reach, tamis_error *err);

/* z = x y, both from above or both from below; z is new. */
tamis_status tmi_dots_compose(tmi_dots *z, const tmi_dots *x, const tmi_dots *y, bool up, tamis_error *err);

#endif
