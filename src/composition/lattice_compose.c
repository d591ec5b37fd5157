/* Masses on a lattice, composed. */
#include <math.h>

#include "composition/lattice_masses.h"

#define BITS TMI_DOTS_BITS

void tmi_lattice_masses_init(tmi_lattice_masses *masses)
{
    *masses = (tmi_lattice_masses){0};
    tmi_ball_init(&masses->above);
}

void tmi_lattice_masses_clear(tmi_lattice_masses *masses)
{
    tmi_masses_clear(&masses->masses);
    tmi_ball_clear(&masses->above);
    tmi_lattice_masses_init(masses);
}

/* The sum of all masses, infinity included. */
static void total(tmi_ball *z, const tmi_lattice_masses *d)
{
    tmi_ball mass;
    tmi_ball_init(&mass);
    tmi_ball_set(z, &d->above);
    for (size_t i = 0; i < d->masses.count; i++) {
        tmi_masses_get(&mass, &d->masses, i);
        tmi_ball_add(z, z, &mass, BITS);
    }
    tmi_ball_clear(&mass);
}

tamis_status tmi_lattice_masses_compose(tmi_lattice_masses *z, const tmi_lattice_masses *x, const tmi_lattice_masses *y, bool up,
                                        tamis_error *err)
{
    tmi_ball t, beyond;
    tmi_lattice_masses_init(z);
    z->mean = x->mean + y->mean;
    z->variance = x->variance + y->variance;
    z->reach = fmax(x->reach, y->reach);
    double half = ceil(TMI_DOTS_WINDOW * sqrt(z->variance) + z->reach);
    int64_t lowest = (int64_t)(floor(z->mean) - half), highest = (int64_t)(ceil(z->mean) + half);
    tmi_ball_inits(&t, &beyond, NULL);
    total(&t, y);
    tmi_ball_mul(&z->above, &x->above, &t, BITS); /* x or y at infinity: x.above y.total + y.above x.finite */
    total(&t, x);
    tmi_ball_sub(&t, &t, &x->above, BITS);
    tmi_ball_mul(&t, &t, &y->above, BITS);
    tmi_ball_add(&z->above, &z->above, &t, BITS);
    tamis_status status = tmi_masses_convolve(&z->masses, &beyond, &x->masses, &y->masses, lowest, highest, up, err);
    if (up) tmi_ball_add(&z->above, &z->above, &beyond, BITS);
    tmi_ball_clears(&t, &beyond, NULL);
    return status;
}
