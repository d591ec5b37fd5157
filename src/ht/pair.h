/* Two laws on the same points, and how well they can be distinguished once noise is added; used only inside the library. */
#ifndef TMI_HT_PAIR_H
#define TMI_HT_PAIR_H

#include <tamis/experimental/ht.h>

#include "num/ball.h"
#include "num/number.h"

/* A point z_j with its probability under x (here) and under x' (there): numbers, or balls where those are NULL. */
typedef struct tmi_atom {
    tamis_number *at, *here, *there;
    tmi_ball here_ball, there_ball;
    int64_t place; /* with discrete noise: (z_j - z_0) / step */
} tmi_atom;

typedef struct tmi_atoms {
    tmi_atom *list; /* z_0 < z_1 < ... */
    size_t count, room;
    bool exact;   /* the masses are numbers */
    bool swapped; /* x' first */
    const tamis_number *eps;
    tamis_noise_kind noise;
    tamis_number *scale;    /* on the total; NULL without noise */
    tamis_number *variance; /* with discrete Gaussian noise: of the integer */
} tmi_atoms;

/* Room for `room` atoms of this kind; clear in any case. */
tamis_status tmi_atoms_start(tmi_atoms *atoms, size_t room, bool exact, tamis_error *err);

/* One more atom, of probability p (or `ball`) under x' if prime, else under x; `at` belongs to the atoms in any case. */
tamis_status tmi_atoms_take(tmi_atoms *atoms, tamis_number *at, const tamis_number *p, const tmi_ball *ball, bool prime,
                            tamis_error *err);

/* Sorts, unites atoms at the same point, sets the noise; `scale` counts steps if the noise is discrete. INVALID if two
 * points are not a whole number of steps apart, UNABLE if they are more than 2^40 steps apart. */
tamis_status tmi_atoms_finish(tmi_atoms *atoms, tamis_noise_kind noise, const tamis_number *scale, const tamis_number *step,
                              tamis_error *err);
void tmi_atoms_clear(tmi_atoms *atoms);

/* INVALID unless the noise is one, and has the step and the scale that it needs. */
tamis_status tmi_check_noise(tamis_noise_kind noise, const tamis_number *step, tamis_error *err);
tamis_status tmi_check_noise_scale(tamis_noise_kind noise, const tamis_number *scale, tamis_error *err);
bool tmi_noise_is_discrete(tamis_noise_kind noise);

/* The smallest delta at atoms->eps, and the smallest eps with delta = 0 ({inf, inf} if there is none). */
tamis_status tmi_atoms_delta(tamis_bound *delta, const tmi_atoms *atoms, tamis_error *err);
tamis_status tmi_atoms_pure(tamis_bound *eps, const tmi_atoms *atoms, tamis_error *err);

/* The smallest eps with delta(eps) <= delta. */
tamis_status tmi_atoms_epsilon(tamis_bound *eps, tmi_atoms *atoms, const tamis_number *delta, tamis_error *err);

/* One evaluation of few bits: an enclosure of delta, perhaps wide. */
tamis_status tmi_atoms_delta_quick(tamis_bound *delta, const tmi_atoms *atoms, tamis_error *err);

/* x p for p >= 0 and finite x, rounded outwards. */
tamis_bound tmi_bound_times(tamis_bound x, const tamis_number *p);

/* ---- for the files ht_pair_*.c ---- */

/* a_j = P_x(z_j) - e^eps P_x'(z_j), or with x and x' swapped; exactly 0 if it is 0. */
void tmi_atoms_gap(tmi_ball *a, const tmi_atoms *atoms, size_t j, long bits);

/* The probability of z_j under the first law (under the second if prime), after swapping. */
void tmi_atoms_mass(tmi_ball *p, const tmi_atoms *atoms, size_t j, bool prime, long bits);
bool tmi_atoms_never(const tmi_atoms *atoms, size_t j, bool prime); /* that probability is 0 */

void tmi_add_positive(tmi_ball *sum, const tmi_ball *x, long bits); /* sum += max(x, 0) */

/* steps[j] = (z_{j+1} - z_j) / scale, set by _new; the caller sets a, then _run sets
 * up[j] = a[j] + up[j-1] e^-steps[j-1] and down[j] = a[j] + down[j+1] e^-steps[j]. Clear in any case. */
typedef struct tmi_sweep {
    size_t count;
    tmi_ball *a, *up, *down, *steps;
} tmi_sweep;

tamis_status tmi_sweep_new(tmi_sweep *s, const tmi_atoms *atoms, long bits, tamis_error *err);
void tmi_sweep_run(tmi_sweep *s, long bits);
void tmi_sweep_clear(tmi_sweep *s);

/* A ball around 0 becomes 0, and what was lost is added to the doubt as [-x, x]. */
void tmi_settle(tmi_ball *x, tmi_ball *doubt, long bits);

/* Formulas for tmi_certify; the context is a tmi_atoms. delta, then eps at delta = 0. */
tamis_status tmi_atoms_delta_none(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_discrete_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_discrete_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_pure_none(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_pure_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_pure_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err);

#endif
