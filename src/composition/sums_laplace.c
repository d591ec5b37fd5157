/* The residues at -1/2, power by power: the coefficients for J + 1 follow from those for J. */
#include "composition/sums_laplace.h"

#include "base/memory.h"

/* c[i] = coefficient of w^i in (w + 1/2)^(K-1) / (w - 1/2), i < K. With d = c of the numerator, d_i = c_(i-1) - c_i/2. */
static void first_row(tmi_ball *c, int64_t K, long bits)
{
    tmi_ball d, x;
    tmi_ball_inits(&d, &x, NULL);
    tmi_ball_set_int(&d, 1);
    tmi_ball_shift(&d, &d, -(long)(K - 1)); /* (1/2)^(K-1) */
    for (int64_t i = 0; i < K; i++) {
        tmi_ball_neg(&x, &d);
        if (i > 0) tmi_ball_add(&x, &x, &c[i - 1], bits);
        tmi_ball_shift(&c[i], &x, 1);
        tmi_ball_mul_int(&d, &d, 2 * (K - 1 - i), bits);
        tmi_ball_div_int(&d, &d, i + 1, bits);
    }
    tmi_ball_clears(&d, &x, NULL);
}

/* c times (w - 1/2) / (w + 1/2): e_i = c_(i-1) - c_i/2 and then d_i = 2 (e_i - d_(i-1)). */
static void next_row(tmi_ball *c, int64_t K, long bits)
{
    tmi_ball before, e, x;
    tmi_ball_inits(&before, &e, &x, NULL);
    for (int64_t i = 0; i < K; i++) {
        tmi_ball_shift(&x, &c[i], -1);
        tmi_ball_sub(&e, &before, &x, bits);
        tmi_ball_set(&before, &c[i]);
        if (i > 0) tmi_ball_sub(&e, &e, &c[i - 1], bits);
        tmi_ball_shift(&c[i], &e, 1);
    }
    tmi_ball_clears(&before, &e, &x, NULL);
}

/* z = 2^-K e^(-y/2) times the sum over m of c_(K-1-m) y^m / m!, from m = K-1 down. */
static void residue(tmi_ball *z, const tmi_ball *c, int64_t K, const tmi_ball *y, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_int(z, 0);
    for (int64_t m = K - 1; m >= 0; m--) {
        tmi_ball_mul(z, z, y, bits);
        tmi_ball_div_int(z, z, m + 1, bits);
        tmi_ball_add(z, z, &c[K - 1 - m], bits);
    }
    tmi_ball_shift(&x, y, -1);
    tmi_ball_neg(&x, &x);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_mul(z, z, &x, bits);
    tmi_ball_shift(z, z, -(long)K);
    tmi_ball_clear(&x);
}

tamis_status tmi_sums_laplace(tmi_ball *z, const tmi_loss_atoms *list, int64_t K, int64_t place, bool doubtful,
                              const tamis_number *unit, const tmi_ball *eps, long bits, tamis_error *err)
{
    tmi_ball sum, step, y, r, x, *c = tmi_alloc((size_t)K, sizeof *c);
    int64_t J = 0;
    if (!c) return tmi_fail_memory(err);
    for (int64_t i = 0; i < K; i++) tmi_ball_init(&c[i]);
    tmi_ball_inits(&sum, &step, &y, &r, &x, NULL);
    tmi_ball_set_number(&step, unit, bits);
    first_row(c, K, bits);
    for (size_t i = 0; i < list->count; i++) {
        const tmi_loss_atom *t = &list->terms[i];
        if (t->place <= place) continue;
        for (; J < t->power; J++) next_row(c, K, bits);
        tmi_ball_mul_int(&y, &step, t->place, bits);
        tmi_ball_sub(&y, &y, eps, bits);
        residue(&r, c, K, &y, bits);
        if (J == 0) tmi_ball_add_int(&r, &r, 1, bits);
        if (J == K) {
            tmi_ball_neg(&x, &y);
            tmi_ball_exp(&x, &x, bits);
            tmi_ball_sub(&r, &r, &x, bits);
        }
        tmi_ball_mul(&r, &r, &t->weight, bits);
        if (doubtful && t->place == place + 1) {
            tmi_ball_set_int(&x, 0);
            tmi_ball_union(&r, &r, &x, bits);
        }
        tmi_ball_add(&sum, &sum, &r, bits);
    }
    tmi_ball_set(z, &sum);
    for (int64_t i = 0; i < K; i++) tmi_ball_clear(&c[i]);
    tmi_free(c);
    tmi_ball_clears(&sum, &step, &y, &r, &x, NULL);
    return TAMIS_OK;
}
