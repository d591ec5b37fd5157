/* Lists of releases whose losses are atoms, or atoms and exponentials (Laplace): exact sums.
 *
 * All parameters are rational, so all atoms of all losses lie on the multiples of one rational unit. A term is a weight at
 * such a multiple, with the power of z that a Laplace release brings (0 elsewhere). The terms of a list of releases are
 * the products of theirs.                                                                                            */
#ifndef TMI_COMPOSITION_LOSS_ATOMS_H
#define TMI_COMPOSITION_LOSS_ATOMS_H

#include "composition/profile.h"

typedef struct tmi_loss_atom {
    int64_t place; /* in units */
    int64_t power;
    tmi_ball weight;
} tmi_loss_atom;

/* Sorted by power, then place, each pair once. `outside` bounds the mass that was left out. */
typedef struct tmi_loss_atoms {
    size_t count;
    tmi_loss_atom *terms;
    tmi_ball outside;
} tmi_loss_atoms;

/* Terms in one list; and before equal ones are put together. */
#define TMI_TERMS_MOST (1 << 17)
#define TMI_TERMS_PRODUCTS (1 << 21)

void tmi_loss_atoms_init(tmi_loss_atoms *list); /* no terms */
void tmi_loss_atoms_clear(tmi_loss_atoms *list);

/* One term of weight 1 at place 0. */
tamis_status tmi_loss_atoms_one(tmi_loss_atoms *list, tamis_error *err);

/* The atoms of a loss are whole multiples of its step; UNABLE for losses without atoms. */
tamis_status tmi_loss_atoms_step(tamis_number **step, const tmi_loss *loss, tamis_error *err);

/* The unit of a profile: all losses of its atoms are whole multiples of it. UNABLE for losses without atoms, and if a
 * place might pass 2^60. */
tamis_status tmi_loss_atoms_unit(tamis_number **unit, const tamis_profile *profile, tamis_error *err);

/* The terms of one release, `times` times; UNABLE if there are too many. */
tamis_status tmi_loss_atoms_of(tmi_loss_atoms *list, const tmi_profile_factor *factor, const tamis_number *unit, long bits,
                               tamis_error *err);

/* list *= by; UNABLE if there are too many. */
tamis_status tmi_loss_atoms_multiply(tmi_loss_atoms *list, const tmi_loss_atoms *by, long bits, tamis_error *err);

#endif
