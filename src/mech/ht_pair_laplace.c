/* delta and pure eps of two atomic laws, without noise and with Laplace noise of scale b.
 *
 * With a_j = P_x(z_j) - e^eps P_x'(z_j), the difference of the densities on the interval after z_j, of length L, is
 * (u e^(-s/b) + d e^(-(L-s)/b)) / (2b) at the distance s, where
 *
 *     u = U_j = a_j + U_{j-1} e^(-(z_j - z_{j-1})/b),    d = D_{j+1} = a_{j+1} + D_{j+2} e^(-(z_{j+2} - z_{j+1})/b),
 *
 * and its positive part integrates in closed form: all or nothing where u and d have the same sign, otherwise up to (or
 * from) the root s = L/2 + (b/2) log(-u/d). The tails give (D_0)+ / 2 and (U_last)+ / 2. The integral is monotone in u
 * and d and changes by at most half of what they change, which is used where a sign is not certain.                */
#include "mech/ht_pair.h"
#include "survey/design.h"

tamis_status tmi_atoms_delta_none(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tmi_ball a;
    (void)err;
    tmi_ball_init(&a);
    tmi_ball_set_int(value, 0);
    for (size_t j = 0; j < atoms->count; j++) {
        tmi_atoms_gap(&a, atoms, j, bits);
        tmi_add_positive(value, &a, bits);
    }
    tmi_ball_clear(&a);
    return TAMIS_OK;
}

tamis_status tmi_atoms_pure_none(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tmi_ball x, y;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_set_int(value, 0);
    for (size_t j = 0; j < atoms->count; j++) {
        if (tmi_atoms_never(atoms, j, false)) continue;
        tmi_atoms_mass(&x, atoms, j, false, bits);
        tmi_atoms_mass(&y, atoms, j, true, bits);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log(&x, &x, bits);
        tmi_ball_max(value, value, &x, bits);
    }
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    return TAMIS_OK;
}

/* ---- Laplace ---- */

tamis_status tmi_atoms_step(tmi_ball *z, const tmi_atoms *atoms, size_t j, long bits, tamis_error *err)
{
    tamis_number *gap = NULL, *share = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_number_sub(&gap, atoms->list[j + 1].at, atoms->list[j].at, err));
    TMI_TRY(tmi_number_div(&share, gap, atoms->scale, err));
    tmi_ball_set_number(z, share, bits);
done:
    tamis_number_free(gap);
    tamis_number_free(share);
    return status;
}

void tmi_sweep(tmi_ball *up, tmi_ball *down, const tmi_ball *a, const tmi_ball *steps, size_t count, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    for (size_t j = 0; j < count; j++) {
        tmi_ball_set(&up[j], &a[j]);
        if (j == 0) continue;
        tmi_ball_neg(&x, &steps[j - 1]);
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_mul(&x, &x, &up[j - 1], bits);
        tmi_ball_add(&up[j], &up[j], &x, bits);
    }
    for (size_t j = count; j-- > 0;) {
        tmi_ball_set(&down[j], &a[j]);
        if (j + 1 == count) continue;
        tmi_ball_neg(&x, &steps[j]);
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_mul(&x, &x, &down[j + 1], bits);
        tmi_ball_add(&down[j], &down[j], &x, bits);
    }
    tmi_ball_clear(&x);
}

/* 1 - e^-x */
static void share_before(tmi_ball *z, const tmi_ball *x, long bits)
{
    tmi_ball_neg(z, x);
    tmi_ball_expm1(z, z, bits);
    tmi_ball_neg(z, z);
}

/* Twice the integral of (u e^-s + d e^-(L-s))+ over 0..L, in units of b, for opposite signs; the root splits L into the
 * part r on the side of the positive one, and the rest: the positive coefficient p gains p (1 - e^-r), the negative one m
 * loses |m| (e^-(L-r) - e^-L) = |m| e^-(L-r) (1 - e^-r). */
static void part_of(tmi_ball *z, const tmi_ball *p, const tmi_ball *m, const tmi_ball *L, long bits)
{
    tmi_ball r, x;
    tmi_ball_init(&r);
    tmi_ball_init(&x);
    tmi_ball_div(&r, p, m, bits);
    tmi_ball_neg(&r, &r);
    tmi_ball_log(&r, &r, bits);
    tmi_ball_add(&r, &r, L, bits);
    tmi_ball_div_int(&r, &r, 2, bits);
    tmi_ball_set_int(&x, 0);
    tmi_ball_max(&r, &r, &x, bits);
    tmi_ball_min(&r, &r, L, bits);
    tmi_ball_sub(&x, &r, L, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_mul(&x, &x, m, bits);
    tmi_ball_add(&x, &x, p, bits);
    share_before(&r, &r, bits);
    tmi_ball_mul(z, &x, &r, bits);
    tmi_ball_clear(&r);
    tmi_ball_clear(&x);
}

static void add_interval(tmi_ball *sum, const tmi_ball *u, const tmi_ball *d, const tmi_ball *L, long bits)
{
    tmi_ball p, m, z, doubt;
    tmi_ball_init(&p);
    tmi_ball_init(&m);
    tmi_ball_init(&z);
    tmi_ball_init(&doubt);
    tmi_ball_set(&p, u);
    tmi_ball_set(&m, d);
    tmi_settle(&p, &doubt, bits);
    tmi_settle(&m, &doubt, bits);
    if (tmi_ball_is_positive(&p) && tmi_ball_is_negative(&m)) {
        part_of(&z, &p, &m, L, bits);
    } else if (tmi_ball_is_negative(&p) && tmi_ball_is_positive(&m)) {
        part_of(&z, &m, &p, L, bits);
    } else if (tmi_ball_is_positive(&p) || tmi_ball_is_positive(&m)) {
        tmi_ball_add(&p, &p, &m, bits);
        share_before(&z, L, bits);
        tmi_ball_mul(&z, &z, &p, bits);
    }
    tmi_ball_add(sum, sum, &z, bits);
    tmi_ball_add(sum, sum, &doubt, bits);
    tmi_ball_clear(&p);
    tmi_ball_clear(&m);
    tmi_ball_clear(&z);
    tmi_ball_clear(&doubt);
}

tamis_status tmi_atoms_delta_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    size_t count = atoms->count;
    tmi_ball *a = tmi_balls_new(count), *up = tmi_balls_new(count), *down = tmi_balls_new(count), *steps = tmi_balls_new(count);
    if (!a || !up || !down || !steps) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < count; j++) {
        tmi_atoms_gap(&a[j], atoms, j, bits);
        if (j + 1 < count) TMI_TRY(tmi_atoms_step(&steps[j], atoms, j, bits, err));
    }
    tmi_sweep(up, down, a, steps, count, bits);
    tmi_ball_set_int(value, 0);
    tmi_add_positive(value, &down[0], bits);
    tmi_add_positive(value, &up[count - 1], bits);
    for (size_t j = 0; j + 1 < count; j++) add_interval(value, &up[j], &down[j + 1], &steps[j], bits);
    tmi_ball_div_int(value, value, 2, bits);
done:
    tmi_balls_free(a, count);
    tmi_balls_free(up, count);
    tmi_balls_free(down, count);
    tmi_balls_free(steps, count);
    return status;
}

/* The densities at the points: up + down - a, for either law; the largest ratio is at a point (Result 6). */
tamis_status tmi_atoms_pure_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    size_t count = atoms->count;
    tmi_ball *a = tmi_balls_new(count), *up = tmi_balls_new(count), *down = tmi_balls_new(count), *steps = tmi_balls_new(count);
    tmi_ball *here = tmi_balls_new(count);
    if (!a || !up || !down || !steps || !here) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j + 1 < count; j++) TMI_TRY(tmi_atoms_step(&steps[j], atoms, j, bits, err));
    tmi_ball_set_int(value, 0);
    for (int law = 0; law < 2; law++) {
        for (size_t j = 0; j < count; j++)
            tmi_atoms_mass(&a[j], atoms, j, law == 1, bits);
        tmi_sweep(up, down, a, steps, count, bits);
        for (size_t j = 0; j < count; j++) {
            tmi_ball_add(&up[j], &up[j], &down[j], bits);
            tmi_ball_sub(&up[j], &up[j], &a[j], bits);
            if (law == 0) {
                tmi_ball_set(&here[j], &up[j]);
                continue;
            }
            tmi_ball_div(&here[j], &here[j], &up[j], bits);
            tmi_ball_log(&here[j], &here[j], bits);
            tmi_ball_max(value, value, &here[j], bits);
        }
    }
done:
    tmi_balls_free(a, count);
    tmi_balls_free(up, count);
    tmi_balls_free(down, count);
    tmi_balls_free(steps, count);
    tmi_balls_free(here, count);
    return status;
}
