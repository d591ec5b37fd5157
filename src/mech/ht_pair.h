/* Two laws on the same points, from a pair of populations and a list of samples; for mech/ alone. */
#ifndef TMI_MECH_HT_PAIR_H
#define TMI_MECH_HT_PAIR_H

#include <tamis/mech.h>

#include "num/ball.h"
#include "num/number.h"

/* Points z_0 < z_1 < ..., with the probability of each total under x and under x'. */
typedef struct tmi_atom {
    tamis_number *at, *here, *there;
} tmi_atom;

typedef struct tmi_atoms {
    tmi_atom *list;
    size_t count;
    const tamis_number *scale, *eps;
    bool swapped; /* x' first */
} tmi_atoms;

/* INVALID names the part of the pair that is wrong. */
tamis_status tmi_atoms_set(tmi_atoms *atoms, const tamis_ht_pair *pair, tamis_error *err);
void tmi_atoms_clear(tmi_atoms *atoms);

/* a_j = P_x(z_j) - e^eps P_x'(z_j), or with x and x' swapped; exactly 0 if it is 0. */
void tmi_atoms_gap(tmi_ball *a, const tmi_atoms *atoms, size_t j, long bits);

/* Formulas for tmi_certify; the context is a tmi_atoms. delta, then eps at delta = 0. */
tamis_status tmi_atoms_delta_none(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_delta_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_pure_none(tmi_ball *value, const void *context, long bits, tamis_error *err);
tamis_status tmi_atoms_pure_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err);

#endif
