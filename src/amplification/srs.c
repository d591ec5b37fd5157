/* The inverse is written so that nothing cancels and nothing overflows:
 *
 *     eps_n = eps + log1p((1-f)/f (1 - e^-eps)),   because 1 + (e^eps - 1)/f = e^eps (1 + (1-f)/f (1 - e^-eps)).     */
#include "amplification/srs.h"

#include <math.h>
#include <tamis/experimental/amplification.h>

#include "amplification/mixture.h"
#include "num/bound.h"
#include "num/number.h"

#define UNKNOWN_EPS ((tamis_bound){0, INFINITY})
#define UNKNOWN_DELTA ((tamis_bound){0, 1})

typedef struct releases {
    int64_t N, n;
    const tamis_number *const *eps;
    size_t count;
} releases;

tamis_status tmi_srs_check(int64_t N, int64_t n, tamis_error *err)
{
    if (N < 1) return tmi_fail(err, TAMIS_INVALID, "population: must be at least 1");
    if (n < 1 || n > N) return tmi_fail(err, TAMIS_INVALID, "sample: must be between 1 and the population");
    return TAMIS_OK;
}

void tmi_srs_headroom(tmi_ball *z, const tmi_ball *odds, const tmi_ball *eps, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_neg(&x, eps);
    tmi_ball_expm1(&x, &x, bits);
    tmi_ball_neg(&x, &x);
    tmi_ball_mul(&x, &x, odds, bits);
    tmi_ball_log1p(z, &x, bits);
    tmi_ball_clear(&x);
}

/* Terms are not negative, so the relative error of the sum is that of its terms. An exact sum is avoided, because its
 * denominator could grow with every term. */
static void add_up(tmi_ball *z, const releases *r, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_int(z, 0);
    for (size_t j = 0; j < r->count; j++) {
        tmi_ball_set_number(&x, r->eps[j], bits);
        tmi_ball_add(z, z, &x, bits);
    }
    tmi_ball_clear(&x);
}

static tamis_status amplified(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const releases *r = context;
    tmi_ball eps, f;
    (void)err;
    tmi_ball_inits(&eps, &f, NULL);
    add_up(&eps, r, bits);
    tmi_ball_set_int(&f, r->n);
    tmi_ball_div_int(&f, &f, r->N, bits);
    if (r->n == r->N) tmi_ball_set(value, &eps);
    else tmi_amplified_loss(value, &f, &eps, bits);
    tmi_ball_clears(&eps, &f, NULL);
    return TAMIS_OK;
}

static tamis_status allowed(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const releases *r = context;
    tmi_ball eps, odds;
    (void)err;
    tmi_ball_inits(&eps, &odds, NULL);
    tmi_ball_set_number(&eps, r->eps[0], bits);
    tmi_ball_set_int(&odds, r->N - r->n);
    tmi_ball_div_int(&odds, &odds, r->n, bits);
    tmi_srs_headroom(value, &odds, &eps, bits);
    tmi_ball_add(value, value, &eps, bits);
    tmi_ball_clears(&eps, &odds, NULL);
    return TAMIS_OK;
}

static tamis_status certify_eps(tamis_bound *eps, tmi_formula *formula, const releases *r, tamis_error *err)
{
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, TAMIS_WIDTH, formula, r, err);
    if (status == TAMIS_OK) *eps = bound;
    return status;
}

static tamis_status check_target(const releases *r, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = tmi_srs_check(r->N, r->n, err);
    if (status != TAMIS_OK) return status;
    if (!r->eps[0]) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(r->eps[0]) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(delta) < 0 || tmi_number_compare_int(delta, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    return TAMIS_OK;
}

/* delta p/q, at most 1. */
static tamis_status scale_delta(tamis_bound *z, const tamis_number *delta, int64_t p, int64_t q, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *factor = NULL, *product = NULL;
    TMI_TRY(tmi_number_ratio(&factor, p, q, err));
    TMI_TRY(tmi_number_mul(&product, delta, factor, err));
    *z = tmi_number_compare_int(product, 1) >= 0 ? (tamis_bound){1, 1} : tmi_number_bound(product);
done:
    tmi_number_frees(&factor, &product, NULL);
    return status;
}

/* The amplified or the allowed pair: eps by the formula, delta times p/q. */
static tamis_status transform(tamis_bound *eps_out, tamis_bound *delta_out, const releases *one, const tamis_number *delta,
                              tmi_formula *formula, int64_t p, int64_t q, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound scaled;
    TMI_TRY(check_target(one, delta, err));
    TMI_TRY(scale_delta(&scaled, delta, p, q, err));
    TMI_TRY(certify_eps(eps_out, formula, one, err));
    *delta_out = scaled;
done:
    return status;
}

tamis_status tamis_amplify_srs(tamis_bound *eps_pop, tamis_bound *delta_pop, int64_t N, int64_t n, const tamis_number *eps,
                               const tamis_number *delta, tamis_error *err)
{
    if (eps_pop) *eps_pop = UNKNOWN_EPS;
    if (delta_pop) *delta_pop = UNKNOWN_DELTA;
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    if (!delta_pop) return tmi_fail(err, TAMIS_INVALID, "delta_pop: NULL");
    return transform(eps_pop, delta_pop, &(releases){N, n, &eps, 1}, delta, amplified, n, N, err);
}

tamis_status tamis_amplify_srs_inverse(tamis_bound *eps_n, tamis_bound *delta_n, int64_t N, int64_t n, const tamis_number *eps,
                                       const tamis_number *delta, tamis_error *err)
{
    if (eps_n) *eps_n = UNKNOWN_EPS;
    if (delta_n) *delta_n = UNKNOWN_DELTA;
    if (!eps_n) return tmi_fail(err, TAMIS_INVALID, "eps_n: NULL");
    if (!delta_n) return tmi_fail(err, TAMIS_INVALID, "delta_n: NULL");
    return transform(eps_n, delta_n, &(releases){N, n, &eps, 1}, delta, allowed, N, n, err);
}

/* ---- the profile of Laplace noise ---- */

typedef struct laplace {
    releases target; /* its eps is that of the population */
    const tamis_number *eps0;
} laplace;

static tamis_status laplace_delta(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const laplace *l = context;
    tmi_ball x;
    tmi_ball_init(&x);
    tamis_status status = allowed(value, &l->target, bits, err);
    tmi_ball_set_number(&x, l->eps0, bits);
    tmi_ball_sub(&x, value, &x, bits);
    tmi_ball_shift(&x, &x, -1);
    tmi_ball_expm1(&x, &x, bits);
    tmi_ball_neg(&x, &x);
    tmi_ball_mul_int(&x, &x, l->target.n, bits);
    tmi_ball_div_int(value, &x, l->target.N, bits);
    tmi_ball_set_int(&x, 0);
    tmi_ball_max(value, value, &x, bits);
    tmi_ball_clear(&x);
    return status;
}

tamis_status tamis_amplify_srs_laplace(tamis_bound *eps_sample, tamis_bound *delta_pop, int64_t N, int64_t n,
                                       const tamis_number *eps0, const tamis_number *eps_pop, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound delta;
    laplace l = {{N, n, &eps_pop, 1}, eps0};
    if (eps_sample) *eps_sample = UNKNOWN_EPS;
    if (delta_pop) *delta_pop = UNKNOWN_DELTA;
    if (!eps_sample) return tmi_fail(err, TAMIS_INVALID, "eps_sample: NULL");
    if (!delta_pop) return tmi_fail(err, TAMIS_INVALID, "delta_pop: NULL");
    if (!eps0) return tmi_fail(err, TAMIS_INVALID, "eps0: NULL");
    if (tmi_number_sign(eps0) < 0) return tmi_fail(err, TAMIS_INVALID, "eps0: must not be negative");
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    if (tmi_number_sign(eps_pop) < 0) return tmi_fail(err, TAMIS_INVALID, "eps_pop: must not be negative");
    TMI_TRY(tmi_srs_check(N, n, err));
    TMI_TRY(tmi_certify(&delta, TAMIS_WIDTH, laplace_delta, &l, err));
    TMI_TRY(certify_eps(eps_sample, allowed, &l.target, err));
    *delta_pop = delta;
done:
    return status;
}

tamis_status tamis_compose_srs(tamis_bound *eps_pop, int64_t N, int64_t n, const tamis_number *const *eps, size_t count,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    releases all = {N, n, eps, count};
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    *eps_pop = UNKNOWN_EPS;
    TMI_TRY(tmi_srs_check(N, n, err));
    if (count < 1) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    for (size_t j = 0; j < count; j++) {
        if (!eps[j]) return tmi_fail(err, TAMIS_INVALID, "eps[%zu]: NULL", j);
        if (tmi_number_sign(eps[j]) < 0) return tmi_fail(err, TAMIS_INVALID, "eps[%zu]: must not be negative", j);
    }
    TMI_TRY(certify_eps(eps_pop, amplified, &all, err));
done:
    return status;
}
