/* With d = eps_n - eps (computed without cancellation, amplification/srs.h) everything follows from products:
 *
 *     q = 1 - (eps/eps_n)^2 = d (2 eps + d)/eps_n^2,
 *     g = f eps_n/eps,  r = g^2,  1 - r = (1 - g)(1 + g),  1 - g = (1-f) - f d/eps.
 *
 * 1 - g is near eps (1-f)/(2f) for small eps, a true difference of two near numbers: tmi_certify raises the precision
 * until it is known to the last digit. In doubles it drowns, which is how a curve "r = 1" once got into print.        */
#include <math.h>
#include <tamis/experimental/study.h>

#include "amplification/srs.h"
#include "num/ball.h"
#include "num/number.h"

static tamis_status need_positive(const tamis_number *x, const char *name, tamis_error *err)
{
    if (!x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    if (tmi_number_sign(x) <= 0) return tmi_fail(err, TAMIS_INVALID, "%s: must be positive", name);
    return TAMIS_OK;
}

static tamis_status need_not_negative(const tamis_number *x, const char *name, tamis_error *err)
{
    if (!x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    if (tmi_number_sign(x) < 0) return tmi_fail(err, TAMIS_INVALID, "%s: must not be negative", name);
    return TAMIS_OK;
}

/* None of these quantities is negative, and shares are at most 1. */
static tamis_status certify(tamis_bound *bound, double most, tmi_formula *formula, const void *context, tamis_error *err)
{
    tamis_status status = tmi_certify(bound, TAMIS_WIDTH, formula, context, err);
    bound->lower = fmax(bound->lower, 0);
    bound->upper = fmin(bound->upper, most);
    return status;
}

/* ---- the mean ---- */

typedef struct mean mean;

/* What each formula starts from. */
typedef struct terms {
    tmi_ball eps, d, eps_n, f, complement; /* complement = 1 - f */
} terms;

struct mean {
    int64_t N, n;
    const tamis_number *eps, *R, *S2;
    void (*field)(tmi_ball *value, const mean *m, const terms *t, long bits);
};

static void mean_eps_n(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    (void)m;
    (void)bits;
    tmi_ball_set(value, &t->eps_n);
}

static void ratio_of_scales(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    (void)m;
    tmi_ball_div(value, &t->eps_n, &t->eps, bits);
    tmi_ball_mul(value, value, &t->f, bits);
}

static void mean_r(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    ratio_of_scales(value, m, t, bits);
    tmi_ball_mul(value, value, value, bits);
}

static void mean_one_minus_r(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_div(&x, &t->d, &t->eps, bits);
    tmi_ball_mul(&x, &x, &t->f, bits);
    tmi_ball_sub(&x, &t->complement, &x, bits);
    ratio_of_scales(value, m, t, bits);
    tmi_ball_add_int(value, value, 1, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_clear(&x);
}

/* d (2 eps + d)/(eps + d)^2 */
static void saved_share(tmi_ball *value, const tmi_ball *eps, const tmi_ball *d, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_add(&x, eps, d, bits);
    tmi_ball_add(value, &x, eps, bits);
    tmi_ball_mul(value, value, d, bits);
    tmi_ball_mul(&x, &x, &x, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_clear(&x);
}

static void mean_q(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    (void)m;
    saved_share(value, &t->eps, &t->d, bits);
}

/* 2 (R/(eps size))^2 */
static void noise_variance(tmi_ball *value, const tamis_number *R, const tmi_ball *eps, int64_t size, long bits)
{
    tmi_ball_set_number(value, R, bits);
    tmi_ball_div(value, value, eps, bits);
    tmi_ball_div_int(value, value, size, bits);
    tmi_ball_mul(value, value, value, bits);
    tmi_ball_mul_int(value, value, 2, bits);
}

static void mean_V_N(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    noise_variance(value, m->R, &t->eps, m->N, bits);
}

static void mean_V_n(tmi_ball *value, const mean *m, const terms *t, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, m->S2, bits);
    tmi_ball_mul(&x, &x, &t->complement, bits);
    tmi_ball_div_int(&x, &x, m->n, bits);
    noise_variance(value, m->R, &t->eps_n, m->n, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_clear(&x);
}

static tamis_status mean_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const mean *m = context;
    terms t;
    (void)err;
    tmi_ball_inits(&t.eps, &t.d, &t.eps_n, &t.f, &t.complement, NULL);
    tmi_ball_set_number(&t.eps, m->eps, bits);
    tmi_ball_set_int(&t.d, m->N - m->n);
    tmi_ball_div_int(&t.complement, &t.d, m->N, bits);
    tmi_ball_div_int(&t.d, &t.d, m->n, bits); /* the odds */
    tmi_srs_headroom(&t.d, &t.d, &t.eps, bits);
    tmi_ball_add(&t.eps_n, &t.eps, &t.d, bits);
    tmi_ball_set_int(&t.f, m->n);
    tmi_ball_div_int(&t.f, &t.f, m->N, bits);
    m->field(value, m, &t, bits);
    tmi_ball_clears(&t.eps, &t.d, &t.eps_n, &t.f, &t.complement, NULL);
    return TAMIS_OK;
}

tamis_status tamis_study_mean(tamis_mean_gain *gain, int64_t N, int64_t n, const tamis_number *eps, const tamis_number *R,
                              const tamis_number *S2, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_mean_gain known;
    if (!gain) return tmi_fail(err, TAMIS_INVALID, "gain: NULL");
    tamis_bound share = {0, 1}, any = {0, INFINITY};
    *gain = (tamis_mean_gain){
        .eps_n = any, .r = share, .one_minus_r = share, .q = share, .census_variance = any, .sample_variance = any};
    TMI_TRY(tmi_srs_check(N, n, err));
    TMI_TRY(need_positive(eps, "eps", err));
    TMI_TRY(need_not_negative(R, "R", err));
    TMI_TRY(need_not_negative(S2, "S2", err));
    const struct {
        tamis_bound *bound;
        double most;
        void (*field)(tmi_ball *, const mean *, const terms *, long);
    } fields[] = {
        {&known.eps_n, INFINITY, mean_eps_n},         {&known.r, 1, mean_r},
        {&known.one_minus_r, 1, mean_one_minus_r},    {&known.q, 1, mean_q},
        {&known.census_variance, INFINITY, mean_V_N}, {&known.sample_variance, INFINITY, mean_V_n},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        mean m = {N, n, eps, R, S2, fields[i].field};
        TMI_TRY(certify(fields[i].bound, fields[i].most, mean_formula, &m, err));
    }
    *gain = known;
done:
    return status;
}

/* ---- the rate ---- */

typedef struct rate {
    const tamis_number *eps, *q, *rest; /* rest = 1 - q */
} rate;

/* With s = sqrt(1-q): f = e^(-eps q/(s (1+s))) (1 - e^-eps)/(1 - e^(-eps/s)), since 1/s - 1 = q/(s (1+s)). */
static tamis_status rate_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const rate *t = context;
    tmi_ball eps, s, x;
    (void)err;
    tmi_ball_inits(&eps, &s, &x, NULL);
    tmi_ball_set_number(&eps, t->eps, bits);
    tmi_ball_neg(&eps, &eps);
    tmi_ball_set_number(&s, t->rest, bits);
    tmi_ball_sqrt(&s, &s, bits);
    tmi_ball_set_number(value, t->q, bits);
    tmi_ball_mul(value, value, &eps, bits);
    tmi_ball_div(value, value, &s, bits);
    tmi_ball_add_int(&x, &s, 1, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_exp(value, value, bits);
    tmi_ball_expm1(&x, &eps, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_div(&x, &eps, &s, bits);
    tmi_ball_expm1(&x, &x, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_clears(&eps, &s, &x, NULL);
    return TAMIS_OK;
}

tamis_status tamis_study_rate(tamis_bound *f, const tamis_number *eps, const tamis_number *q, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *rest = NULL;
    tamis_bound known = {1, 1};
    if (!f) return tmi_fail(err, TAMIS_INVALID, "f: NULL");
    *f = (tamis_bound){0, 1};
    TMI_TRY(need_positive(eps, "eps", err));
    TMI_TRY(need_not_negative(q, "q", err));
    if (tmi_number_compare_int(q, 1) >= 0) return tmi_fail(err, TAMIS_INVALID, "q: must be below 1");
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&rest, one, q, err));
    if (tmi_number_sign(q) > 0) {
        rate t = {eps, q, rest};
        TMI_TRY(certify(&known, 1, rate_formula, &t, err));
    }
    *f = known;
done:
    tmi_number_frees(&one, &rest, NULL);
    return status;
}

/* ---- the largest sampling variance ---- */

typedef struct variance {
    const tamis_number *eps, *odds, *sensitivity;
} variance;

static tamis_status variance_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const variance *v = context;
    tmi_ball eps, x;
    (void)err;
    tmi_ball_inits(&eps, &x, NULL);
    tmi_ball_set_number(&eps, v->eps, bits);
    tmi_ball_set_number(&x, v->odds, bits);
    tmi_srs_headroom(&x, &x, &eps, bits);
    saved_share(value, &eps, &x, bits);
    noise_variance(&x, v->sensitivity, &eps, 1, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_clears(&eps, &x, NULL);
    return TAMIS_OK;
}

tamis_status tamis_study_max_sampling_variance(tamis_bound *value, const tamis_number *eps, const tamis_number *f,
                                               const tamis_number *sensitivity, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *rest = NULL, *odds = NULL;
    tamis_bound known;
    if (!value) return tmi_fail(err, TAMIS_INVALID, "value: NULL");
    *value = (tamis_bound){0, INFINITY};
    TMI_TRY(need_positive(eps, "eps", err));
    TMI_TRY(need_positive(f, "f", err));
    if (tmi_number_compare_int(f, 1) > 0) return tmi_fail(err, TAMIS_INVALID, "f: must be at most 1");
    TMI_TRY(need_not_negative(sensitivity, "sensitivity", err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&rest, one, f, err));
    TMI_TRY(tmi_number_div(&odds, rest, f, err));
    variance v = {eps, odds, sensitivity};
    TMI_TRY(certify(&known, INFINITY, variance_formula, &v, err));
    *value = known;
done:
    tmi_number_frees(&one, &rest, &odds, NULL);
    return status;
}
