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
#include "ht/pair.h"
#include "survey/design/design.h"

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
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_int(value, 0);
    for (size_t j = 0; j < atoms->count; j++) {
        if (tmi_atoms_never(atoms, j, false)) continue;
        tmi_atoms_mass(&x, atoms, j, false, bits);
        tmi_atoms_mass(&y, atoms, j, true, bits);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log(&x, &x, bits);
        tmi_ball_max(value, value, &x, bits);
    }
    tmi_ball_clears(&x, &y, NULL);
    return TAMIS_OK;
}

/* ---- Laplace ---- */

static tamis_status step(tmi_ball *z, const tmi_atoms *atoms, size_t j, long bits, tamis_error *err)
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

tamis_status tmi_sweep_new(tmi_sweep *s, const tmi_atoms *atoms, long bits, tamis_error *err)
{
    size_t count = atoms->count;
    tamis_status status = TAMIS_OK;
    *s = (tmi_sweep){count, tmi_balls_new(count), tmi_balls_new(count), tmi_balls_new(count), tmi_balls_new(count)};
    if (!s->a || !s->up || !s->down || !s->steps) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j + 1 < count; j++) TMI_TRY(step(&s->steps[j], atoms, j, bits, err));
done:
    return status;
}

void tmi_sweep_clear(tmi_sweep *s)
{
    tmi_balls_free(s->a, s->count);
    tmi_balls_free(s->up, s->count);
    tmi_balls_free(s->down, s->count);
    tmi_balls_free(s->steps, s->count);
}

void tmi_sweep_run(tmi_sweep *s, long bits)
{
    tmi_ball *up = s->up, *down = s->down, *a = s->a, *steps = s->steps, x;
    size_t count = s->count;
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
    tmi_ball_inits(&r, &x, NULL);
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
    tmi_ball_clears(&r, &x, NULL);
}

static void add_interval(tmi_ball *sum, const tmi_ball *u, const tmi_ball *d, const tmi_ball *L, long bits)
{
    tmi_ball p, m, z, doubt;
    tmi_ball_inits(&p, &m, &z, &doubt, NULL);
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
    tmi_ball_clears(&p, &m, &z, &doubt, NULL);
}

tamis_status tmi_atoms_delta_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    tmi_sweep s;
    TMI_TRY(tmi_sweep_new(&s, atoms, bits, err));
    for (size_t j = 0; j < s.count; j++) tmi_atoms_gap(&s.a[j], atoms, j, bits);
    tmi_sweep_run(&s, bits);
    tmi_ball_set_int(value, 0);
    tmi_add_positive(value, &s.down[0], bits);
    tmi_add_positive(value, &s.up[s.count - 1], bits);
    for (size_t j = 0; j + 1 < s.count; j++) add_interval(value, &s.up[j], &s.down[j + 1], &s.steps[j], bits);
    tmi_ball_div_int(value, value, 2, bits);
done:
    tmi_sweep_clear(&s);
    return status;
}

/* The densities at the points: up + down - a, for either law; the largest ratio is at a point (Result 6). */
tamis_status tmi_atoms_pure_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    tmi_ball *here = tmi_balls_new(atoms->count);
    tmi_sweep s;
    TMI_TRY(tmi_sweep_new(&s, atoms, bits, err));
    if (!here) TMI_TRY(tmi_fail_memory(err));
    tmi_ball_set_int(value, 0);
    for (int law = 0; law < 2; law++) {
        for (size_t j = 0; j < s.count; j++) tmi_atoms_mass(&s.a[j], atoms, j, law == 1, bits);
        tmi_sweep_run(&s, bits);
        for (size_t j = 0; j < s.count; j++) {
            tmi_ball *density = &s.up[j];
            tmi_ball_add(density, density, &s.down[j], bits);
            tmi_ball_sub(density, density, &s.a[j], bits);
            if (law == 0) {
                tmi_ball_set(&here[j], density);
                continue;
            }
            tmi_ball_div(&here[j], &here[j], density, bits);
            tmi_ball_log(&here[j], &here[j], bits);
            tmi_ball_max(value, value, &here[j], bits);
        }
    }
done:
    tmi_sweep_clear(&s);
    tmi_balls_free(here, atoms->count);
    return status;
}
