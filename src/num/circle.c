#include "num/circle.h"

#include <flint/fmpq.h>

#include "base/integer.h"
#include "base/memory.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

#define POWER_BY_SQUARING 256 /* trials of a group beyond which a logarithm is quicker */

/* log G(y). */
static void log_generating(arb_t z, const tmi_circle_law *law, const arb_t y, slong prec)
{
    arb_t x;
    arb_init(x);
    arb_zero(z);
    for (size_t i = 0; i < law->count; i++) {
        const tmi_circle_group *g = &law->groups[i];
        arb_mul(x, tmi_arb_const(&g->success), y, prec);
        arb_add(x, x, tmi_arb_const(&g->failure), prec);
        arb_log(x, x, prec);
        arb_addmul_si(z, x, g->count, prec);
    }
    arb_clear(x);
}

/* The aliases on one side, in units of e^height: z = [0, G(y) y^-k e^-height q/(1-q)], y = r e^h, q = e^{-|h| M}. */
static void aliases(arb_t z, const tmi_circle_law *law, const arb_t log_r, double h, int64_t k, int64_t M, const arb_t height,
                    slong prec)
{
    arb_t log_y, decay, x;
    arb_init(log_y);
    arb_init(decay);
    arb_init(x);
    arb_set_d(log_y, h);
    arb_mul_si(decay, log_y, M, prec);
    arb_abs(decay, decay);
    arb_add(log_y, log_y, log_r, prec);
    arb_exp(x, log_y, prec);
    log_generating(z, law, x, prec);
    arb_submul_si(z, log_y, k, prec);
    arb_sub(z, z, height, prec);
    arb_sub(z, z, decay, prec);
    arb_exp(z, z, prec);
    arb_neg(decay, decay);
    arb_expm1(x, decay, prec);
    arb_neg(x, x);
    arb_div(z, z, x, prec);
    arb_zero(x);
    arb_union(z, z, x, prec);
    arb_clear(log_y);
    arb_clear(decay);
    arb_clear(x);
}

/* phi(theta) for e^{i theta} = point. */
static void characteristic(acb_t z, const tmi_circle_law *law, const arb_t *tilt, const acb_t point, slong prec)
{
    acb_t factor, logs, away;
    bool any = false;
    acb_init(factor);
    acb_init(logs);
    acb_init(away);
    acb_sub_si(away, point, 1, prec);
    acb_one(z);
    for (size_t i = 0; i < law->count; i++) { /* 1 + q (e^{i theta} - 1) */
        acb_mul_arb(factor, away, tilt[i], prec);
        acb_add_si(factor, factor, 1, prec);
        int64_t n = law->groups[i].count;
        if (n < POWER_BY_SQUARING) {
            if (n > 1) acb_pow_ui(factor, factor, (ulong)n, prec);
            acb_mul(z, z, factor, prec);
        } else {
            acb_log(factor, factor, prec);
            acb_mul_si(factor, factor, n, prec);
            acb_add(logs, logs, factor, prec);
            any = true;
        }
    }
    if (any) {
        acb_exp(logs, logs, prec);
        acb_mul(z, z, logs, prec);
    }
    acb_clear(factor);
    acb_clear(logs);
    acb_clear(away);
}

/* The integrand's real part at point m of M: phi e^{-ik theta}, divided by 1 - e^{-i theta}/r for a tail. */
static void integrand(arb_t z, const tmi_circle_law *law, const arb_t *tilt, const arb_t r, bool tail, int64_t k, int64_t m,
                      int64_t M, slong prec)
{
    fmpq_t turn;
    acb_t point, value;
    fmpq_init(turn);
    acb_init(point);
    acb_init(value);
    fmpq_set_si(turn, 2 * m, (ulong)M);
    arb_sin_cos_pi_fmpq(acb_imagref(point), acb_realref(point), turn, prec);
    characteristic(value, law, tilt, point, prec);
    if (tail) {
        acb_t below;
        acb_init(below);
        acb_conj(below, point);
        acb_div_arb(below, below, r, prec);
        acb_sub_si(below, below, 1, prec);
        acb_neg(below, below);
        acb_div(value, value, below, prec);
        acb_clear(below);
    }
    fmpq_set_si(turn, 2 * (int64_t)((tmi_int128)k * m % M), (ulong)M);
    arb_sin_cos_pi_fmpq(acb_imagref(point), acb_realref(point), turn, prec);
    acb_conj(point, point);
    acb_mul(value, value, point, prec);
    arb_set(z, acb_realref(value));
    fmpq_clear(turn);
    acb_clear(point);
    acb_clear(value);
}

/* What the points that are not computed can add: exp(-V (1 - cos theta)), divided by 1 - 1/r for a tail. */
static void far_points(arb_t z, const arb_t variance, const arb_t r, bool tail, int64_t m, int64_t M, slong prec)
{
    arb_t x;
    fmpq_t turn;
    arb_init(x);
    fmpq_init(turn);
    fmpq_set_si(turn, 2 * m, (ulong)M);
    arb_cos_pi_fmpq(x, turn, prec);
    arb_sub_si(x, x, 1, prec);
    arb_mul(x, x, variance, prec);
    arb_exp(z, x, prec);
    if (tail) {
        arb_inv(x, r, prec);
        arb_sub_si(x, x, 1, prec);
        arb_neg(x, x);
        arb_div(z, z, x, prec);
    }
    fmpq_clear(turn);
    arb_clear(x);
}

tamis_status tmi_circle_part(tmi_ball *z, const tmi_circle_law *law, bool tail, int64_t k, const tmi_circle *circle, slong prec,
                             tamis_error *err)
{
    int64_t M = circle->points;
    arb_t *tilt = tmi_alloc(law->count, sizeof *tilt); /* q_i */
    if (!tilt) return tmi_fail_memory(err);
    arb_t r, log_r, height, part, sum, variance, x;
    arb_init(r);
    arb_init(log_r);
    arb_init(height);
    arb_init(part);
    arb_init(sum);
    arb_init(variance);
    arb_init(x);

    arb_set_d(log_r, circle->tilt);
    arb_exp(r, log_r, 64);
    arb_set_arf(r, arb_midref(r)); /* an exact radius near e^tilt */
    arb_log(log_r, r, prec);
    log_generating(height, law, r, prec);
    arb_submul_si(height, log_r, k, prec); /* log of G(r) r^-k */
    for (size_t i = 0; i < law->count; i++) {
        const tmi_circle_group *g = &law->groups[i];
        arb_init(tilt[i]);
        arb_mul(part, tmi_arb_const(&g->success), r, prec);
        arb_add(x, part, tmi_arb_const(&g->failure), prec);
        arb_div(tilt[i], part, x, prec);
        arb_div(x, tmi_arb_const(&g->failure), x, prec); /* 1 - q without cancellation */
        arb_mul(x, x, tilt[i], prec);
        arb_addmul_si(variance, x, g->count, prec);
    }

    for (int64_t m = 0; m <= circle->computed; m++) {
        integrand(part, law, (const arb_t *)tilt, r, tail, k, m, M, prec);
        if (m > 0) arb_mul_2exp_si(part, part, 1); /* m and -m are conjugate */
        arb_add(sum, sum, part, prec);
    }
    arb_div_si(sum, sum, M, prec);
    if (circle->computed < (M - 1) / 2) {
        far_points(part, variance, r, tail, circle->computed + 1, M, prec);
        arb_add_error(sum, part);
    }
    if (k + M <= law->trials) {
        aliases(part, law, log_r, circle->reach, k, M, height, prec);
        arb_sub(sum, sum, part, prec);
    }
    if (tail || k >= M) {
        aliases(part, law, log_r, -circle->reach, k, M, height, prec);
        arb_sub(sum, sum, part, prec);
    }
    arb_exp(height, height, prec);
    arb_mul(tmi_arb(z), sum, height, prec);

    for (size_t i = 0; i < law->count; i++) arb_clear(tilt[i]);
    tmi_free(tilt);
    arb_clear(r);
    arb_clear(log_r);
    arb_clear(height);
    arb_clear(part);
    arb_clear(sum);
    arb_clear(variance);
    arb_clear(x);
    return TAMIS_OK;
}
