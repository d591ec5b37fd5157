/* One release on a lattice of losses, from above and from below (composition/lattice.h). */
#ifndef TMI_COMPOSITION_LATTICE_MASSES_H
#define TMI_COMPOSITION_LATTICE_MASSES_H

#include "composition/profile.h"
#include "num/law/mass.h"

/* Bits of the masses: the masses are second differences of them. */
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
typedef struct tmi_lattice_masses {
    tmi_masses masses;
    tmi_ball above;
    double mean, variance, reach;
} tmi_lattice_masses;

void tmi_lattice_masses_init(tmi_lattice_masses *masses);
void tmi_lattice_masses_clear(tmi_lattice_masses *masses);

/* Where the upper end of delta has become negligible, or stops falling; in losses. */
tamis_status tmi_lattice_masses_reach(double *reach, tmi_evaluator *evaluator, tamis_error *err);

/* Both polylines of an evaluator, with knots at jh for |j| <= half < powers->count. Atoms: all losses are whole multiples of
 * h. */
tamis_status tmi_lattice_masses_of(tmi_lattice_masses *above, tmi_lattice_masses *below, tmi_evaluator *evaluator,
                                   const tmi_powers *powers, size_t half, bool atoms, tamis_error *err);

/* z = x y, both from above or both from below; z is new. */
tamis_status tmi_lattice_masses_compose(tmi_lattice_masses *z, const tmi_lattice_masses *x, const tmi_lattice_masses *y, bool up,
                                        tamis_error *err);

#endif
