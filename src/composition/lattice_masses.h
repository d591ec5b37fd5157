/* One release on a lattice of losses, from above and from below (composition/lattice.h). */
#ifndef TMI_DOTS_H
#define TMI_DOTS_H

#include "num/law/mass.h"
#include "composition/profile.h"

/* Bits of the dots: the masses are second differences of them. */
#define TMI_DOTS_BITS 224

/* Standard deviations of a window on both sides of the mean, beyond one release's reach. */
#define TMI_DOTS_WINDOW 14

/* e^jh and e^-jh for 0 <= j < count; step = e^h - 1, and its inverse. */
typedef struct tmi_powers {
    size_t count;
    tmi_ball h, *up, *down, step, inverse;
} tmi_powers;

tamis_status tmi_powers_new(tmi_powers *p, const tmi_ball *h, size_t count, tamis_error *err);
void tmi_powers_clear(tmi_powers *p);

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

/* Both polylines of a road, with knots at jh for |j| <= half < powers->count. Atoms: all losses are whole multiples of h. */
tamis_status tmi_dots_of(tmi_dots *above, tmi_dots *below, tmi_road *road, const tmi_powers *powers, size_t half,
                         bool atoms, tamis_error *err);

/* z = x y, both from above or both from below; z is new. */
tamis_status tmi_dots_compose(tmi_dots *z, const tmi_dots *x, const tmi_dots *y, bool up, tamis_error *err);

#endif
