/* Laws whose masses are rounded in one direction: whole multiples of 2^-TMI_MASS_BITS on consecutive integers, and
 * convolutions of them that are exact up to a last rounding in the same direction (FLINT's integer polynomials).
 *
 * Rounded up, every mass is at least the true one, through all convolutions, and so is every sum of masses times numbers
 * >= 0; rounded down, at most. */
#ifndef TMI_NUM_LAW_MASS_H
#define TMI_NUM_LAW_MASS_H

#include "num/ball.h"

#define TMI_MASS_BITS 160

typedef struct tmi_masses {
    void *polynomial; /* an fmpz_poly_t; NULL before tmi_masses_new */
    int64_t first;    /* the place of its constant term */
    size_t count;     /* of places */
} tmi_masses;

tamis_status tmi_masses_new(tmi_masses *x, int64_t first, size_t count, tamis_error *err); /* all zero */
void tmi_masses_clear(tmi_masses *x);

/* The mass at first + i: an end of the ball, at least 0. */
void tmi_masses_set(tmi_masses *x, size_t i, const tmi_ball *mass, bool up);
void tmi_masses_get(tmi_ball *mass, const tmi_masses *x, size_t i); /* exactly */

/* The convolution. Masses below the place `lowest` are left out; if `up` they are moved to it first. Places from `highest`
 * on: their masses together, rounded in the same direction, are added to `above`. z is new. */
tamis_status tmi_masses_convolve(tmi_masses *z, tmi_ball *above, const tmi_masses *x, const tmi_masses *y, int64_t lowest,
                                 int64_t highest, bool up, tamis_error *err);

#endif
