/* The public questions about a Horvitz-Thompson total: both orders of every pair, and the inverse questions, for which
 * delta falls as eps or the noise grows (more noise is less noise plus independent noise). Discrete Gaussian noise is not
 * such a sum: with a large eps and a scale below about 1, delta rises and falls as the scale grows. The scale that is found
 * there meets the target, and a little less misses it; more need not meet it.                                       */
#include <math.h>

#include "ht/srs.h"
#include "ht/threshold.h"
#include "num/bound.h"

#define UNKNOWN_EPS ((tamis_bound){0, INFINITY})
#define INFINITE ((tamis_bound){INFINITY, INFINITY})

/* ---- needs ---- */

static tamis_status check(const tamis_ht_srs *s, bool scale_asked, tamis_error *err)
{
    if (!s) return tmi_fail(err, TAMIS_INVALID, "srs: NULL");
    if (s->population < 1 || s->population > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "population: must be between 1 and 2^40");
    if (s->sample < 1 || s->sample > s->population)
        return tmi_fail(err, TAMIS_INVALID, "sample: must be between 1 and the population");
    if (s->low < 0 || s->low > s->population) return tmi_fail(err, TAMIS_INVALID, "low: must be between 0 and the population");
    if (s->high > s->population) return tmi_fail(err, TAMIS_INVALID, "high: must not exceed the population");
    if (s->high <= s->low)
        return tmi_fail(err, TAMIS_INVALID, "low, high: low must be below high, so that one person's value can differ");
    if (s->noise < TAMIS_NOISE_NONE || s->noise > TAMIS_NOISE_DISCRETE_GAUSSIAN)
        return tmi_fail(err, TAMIS_INVALID, "noise: not a kind of noise");
    if (scale_asked) return TAMIS_OK;
    if (s->noise == TAMIS_NOISE_NONE && s->scale) return tmi_fail(err, TAMIS_INVALID, "scale: not used without noise");
    if (s->noise != TAMIS_NOISE_NONE && !s->scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (s->scale && tmi_number_sign(s->scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    return TAMIS_OK;
}

static tamis_status check_eps(const tamis_number *eps, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (tmi_number_compare_int(eps, 1000000) > 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not exceed 10^6");
    return TAMIS_OK;
}

static tamis_status check_delta(const tamis_number *delta, tamis_error *err)
{
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(delta) < 0 || tmi_number_compare_int(delta, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    return TAMIS_OK;
}

/* The scale on the count; new. */
static tamis_status count_scale(tamis_number **scale, const tamis_ht_srs *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *f = NULL;
    bool lattice = tmi_ht_is_lattice(s->noise);
    TMI_TRY(tmi_number_ratio(&f, lattice ? 1 : s->sample, lattice ? 1 : s->population, err));
    TMI_TRY(tmi_number_mul(scale, s->scale, f, err));
done:
    tamis_number_free(f);
    return status;
}

/* ---- delta ---- */

/* A census with Laplace noise: pure iff eps >= 1/scale. This is decided exactly, because plans are often right at the limit. */
static tamis_status is_pure_census(bool *pure, const tmi_ht_srs *s, tamis_error *err)
{
    tamis_number *product = NULL;
    tamis_status status = tmi_number_mul(&product, s->eps, s->scale, err);
    *pure = status == TAMIS_OK && tmi_number_compare_int(product, 1) >= 0;
    tamis_number_free(product);
    return status;
}

/* True if eps is at least the pure eps, so that delta is exactly 0. */
static tamis_status is_pure(bool *pure, const tmi_ht_srs *s, int64_t low, int64_t high, tamis_error *err)
{
    tamis_bound eps;
    tmi_ball E, excess, x;
    bool laplace = s->noise == TAMIS_NOISE_LAPLACE || s->noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    if (laplace && s->n == s->N && s->eps) return is_pure_census(pure, s, err);
    tamis_status status = tmi_ht_pure(&eps, s, low, high, err);
    *pure = false;
    if (status != TAMIS_OK || !(eps.upper < 1e300)) return status;
    tmi_ball_inits(&E, &excess, &x, NULL);
    tmi_ht_factor(&E, &excess, s, TMI_BITS_FIRST);
    tmi_ball_set_double(&x, eps.upper);
    tmi_ball_expm1(&x, &x, TMI_BITS_FIRST);
    *pure = tmi_ball_is_less(&x, &excess);
    tmi_ball_clears(&E, &excess, &x, NULL);
    return TAMIS_OK;
}

/* `target` as in tmi_ht_search. */
static tamis_status delta_of(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs, const tamis_number *eps,
                             const tamis_number *exp_eps, tamis_bound target, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *scale = NULL;
    tmi_ht_srs s = {srs->population, srs->sample, srs->noise, NULL, eps, exp_eps};
    tamis_bound other = {0, 0};
    int64_t t = -1, u = -1, more = 0;
    bool pure;
    tamis_ht_worst own;
    int64_t mirror_low = srs->population - srs->high, mirror_high = srs->population - 1 - srs->low;
    if (!worst) worst = &own;
    *delta = (tamis_bound){0, 1};
    if (srs->noise != TAMIS_NOISE_NONE) TMI_TRY(count_scale(&scale, srs, err));
    s.scale = scale;
    TMI_TRY(is_pure(&pure, &s, srs->low, srs->high, err));
    if (pure) {
        *delta = (tamis_bound){0, 0};
        goto done;
    }
    status = tmi_ht_search(delta, &t, &worst->blocks, &s, srs->low, srs->high - 1, target, err);
    if (mirror_low != srs->low && delta->lower <= target.upper && (status == TAMIS_OK || status == TAMIS_UNABLE)) {
        tamis_status second = tmi_ht_search(&other, &u, &more, &s, mirror_low, mirror_high, target, err);
        worst->blocks += more;
        if (second != TAMIS_OK) status = second;
    }
    worst->t = other.lower > delta->lower ? srs->population - 1 - u : t;
    worst->order = delta->upper <= TMI_HT_TINY && other.upper <= TMI_HT_TINY ? 0 : other.lower > delta->lower ? '+' : '-';
    if (worst->order == 0) worst->t = -1;
    *delta = (tamis_bound){fmax(delta->lower, other.lower), fmax(delta->upper, other.upper)};
done:
    if (status != TAMIS_OK && status != TAMIS_UNABLE) *delta = (tamis_bound){0, 1};
    tamis_number_free(scale);
    return status;
}

static tamis_status begin(tamis_bound *bound, tamis_bound pessimistic, const char *name, tamis_error *err)
{
    if (!bound) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    *bound = pessimistic;
    return TAMIS_OK;
}

tamis_status tamis_ht_srs_delta(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs, const tamis_number *eps,
                                tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (worst) *worst = (tamis_ht_worst){-1, 0, 0};
    TMI_TRY(begin(delta, (tamis_bound){0, 1}, "delta", err));
    TMI_TRY(check(srs, false, err));
    TMI_TRY(check_eps(eps, err));
    TMI_TRY(delta_of(delta, worst, srs, eps, NULL, TMI_HT_NO_TARGET, err));
done:
    return status;
}

tamis_status tamis_ht_srs_delta_exp(tamis_bound *delta, tamis_ht_worst *worst, const tamis_ht_srs *srs,
                                    const tamis_number *exp_eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (worst) *worst = (tamis_ht_worst){-1, 0, 0};
    TMI_TRY(begin(delta, (tamis_bound){0, 1}, "delta", err));
    TMI_TRY(check(srs, false, err));
    if (!exp_eps) return tmi_fail(err, TAMIS_INVALID, "exp_eps: NULL");
    if (tmi_number_compare_int(exp_eps, 1) < 0) return tmi_fail(err, TAMIS_INVALID, "exp_eps: must be at least 1");
    TMI_TRY(delta_of(delta, worst, srs, NULL, exp_eps, TMI_HT_NO_TARGET, err));
done:
    return status;
}

tamis_status tamis_ht_srs_pure(tamis_bound *eps, const tamis_ht_srs *srs, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *scale = NULL;
    TMI_TRY(begin(eps, UNKNOWN_EPS, "eps", err));
    TMI_TRY(check(srs, false, err));
    if (srs->noise != TAMIS_NOISE_NONE) TMI_TRY(count_scale(&scale, srs, err));
    TMI_TRY(
        tmi_ht_pure(eps, &(tmi_ht_srs){srs->population, srs->sample, srs->noise, scale, NULL, NULL}, srs->low, srs->high, err));
done:
    tamis_number_free(scale);
    return status;
}

/* ---- inverse questions ---- */

/* delta, or with the target delta = 0 the pure eps, at x: the eps, or the scale. */
typedef struct inverse {
    tamis_ht_srs srs;
    const tamis_number *eps; /* NULL: x is the eps, otherwise x is the scale */
    const tamis_number *target;
} inverse;

static tamis_status delta_at(tamis_bound *value, void *context, const tamis_number *x, tamis_error *err)
{
    const inverse *q = context;
    tamis_ht_srs srs = q->srs;
    if (q->eps) srs.scale = x;
    return delta_of(value, NULL, &srs, q->eps ? q->eps : x, NULL, tmi_number_bound(q->target), err);
}

static tamis_status pure_at(tamis_bound *value, void *context, const tamis_number *x, tamis_error *err)
{
    const inverse *q = context;
    tamis_ht_srs srs = q->srs;
    srs.scale = x;
    return tamis_ht_srs_pure(value, &srs, err);
}

#define LARGEST 1e100

/* delta as eps grows without bound, without noise: P(all k+1 rarer people are sampled), k = min(low, N - high). */
static tamis_status never_below(tamis_bound *limit, const tamis_ht_srs *s, tamis_error *err)
{
    int64_t k = s->low < s->population - s->high ? s->low : s->population - s->high;
    return tamis_hypergeometric_mass(limit, s->population, k + 1, s->sample, k + 1, err);
}

/* No set of answers changes its probability by more than n/N, that of being sampled: is delta at least that? Decided exactly,
 * since it is where delta stays for every eps when the window reaches 0 or N. */
static tamis_status is_enough(bool *enough, const tamis_ht_srs *s, const tamis_number *delta, tamis_error *err)
{
    tamis_number *rate = NULL;
    tamis_status status = tmi_number_ratio(&rate, s->sample, s->population, err);
    *enough = status == TAMIS_OK && tmi_number_compare(delta, rate) >= 0;
    tamis_number_free(rate);
    return status;
}

tamis_status tamis_ht_srs_epsilon(tamis_bound *eps, const tamis_ht_srs *srs, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    tamis_bound value, target, silent = UNKNOWN_EPS;
    bool enough;
    TMI_TRY(begin(eps, UNKNOWN_EPS, "eps", err));
    TMI_TRY(check(srs, false, err));
    TMI_TRY(check_delta(delta, err));
    TMI_TRY(is_enough(&enough, srs, delta, err));
    if (enough) {
        *eps = (tamis_bound){0, 0};
        goto done;
    }
    if (srs->noise == TAMIS_NOISE_NONE && (srs->low == 0 || srs->high == srs->population)) {
        *eps = INFINITE;
        goto done;
    }
    if (tmi_ht_is_small(srs)) TMI_TRY(tmi_ht_exact_epsilon(&silent, srs, delta, err));
    if (tmi_ht_is_small(srs) && (srs->noise == TAMIS_NOISE_NONE || silent.upper == 0)) { /* noise never makes eps larger */
        *eps = silent;
        goto done;
    }
    target = tmi_number_bound(delta);
    TMI_TRY(tamis_ht_srs_pure(&value, srs, err));
    if (tmi_number_sign(delta) == 0) {
        *eps = value;
        goto done;
    }
    if (srs->noise == TAMIS_NOISE_NONE && value.lower == INFINITY) {
        TMI_TRY(never_below(&value, srs, err));
        if (value.lower > target.upper) {
            *eps = INFINITE;
            goto done;
        }
    }
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(delta_of(&value, NULL, srs, zero, NULL, target, err));
    if (value.upper <= target.lower) {
        *eps = (tamis_bound){0, 0};
        goto done;
    }
    TMI_TRY(tmi_smallest(eps, delta_at, &(inverse){*srs, NULL, delta}, delta, 1, LARGEST, err));
    *eps = (tamis_bound){fmin(eps->lower, silent.upper), fmin(eps->upper, silent.upper)};
done:
    tamis_number_free(zero);
    return status;
}

/* Whether the target is met without noise. */
static tamis_status is_silent(bool *enough, const tamis_ht_srs *silent, const tamis_number *eps, const tamis_number *delta,
                              tamis_error *err)
{
    tamis_bound value;
    tamis_status status = TAMIS_OK;
    *enough = false;
    if (tmi_ht_is_small(silent)) {
        TMI_TRY(tmi_ht_exact_epsilon(&value, silent, delta, err));
        *enough = value.upper == 0 || value.upper <= tmi_number_down(eps);
    } else {
        TMI_TRY(delta_of(&value, NULL, silent, eps, NULL, tmi_number_bound(delta), err));
        *enough = value.upper <= tmi_number_bound(delta).lower;
    }
done:
    return status;
}

tamis_status tamis_ht_srs_scale(tamis_bound *scale, const tamis_ht_srs *srs, const tamis_number *eps, const tamis_number *delta,
                                tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool exact, enough;
    TMI_TRY(begin(scale, UNKNOWN_EPS, "scale", err));
    TMI_TRY(check(srs, true, err));
    if (srs->noise == TAMIS_NOISE_NONE) return tmi_fail(err, TAMIS_INVALID, "noise: must be one of the kinds of noise");
    TMI_TRY(check_eps(eps, err));
    TMI_TRY(check_delta(delta, err));
    tamis_ht_srs silent = {srs->population, srs->sample, srs->low, srs->high, TAMIS_NOISE_NONE, NULL};
    exact = tmi_number_sign(delta) == 0;
    TMI_TRY(is_enough(&enough, srs, delta, err));
    if (enough) {
        *scale = (tamis_bound){0, 0};
        goto done;
    }
    TMI_TRY(is_silent(&enough, &silent, eps, delta, err));
    bool laplace = srs->noise == TAMIS_NOISE_LAPLACE || srs->noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    if (enough) {
        *scale = (tamis_bound){0, 0};
    } else if (exact && (!laplace || tmi_number_sign(eps) == 0)) {
        *scale = INFINITE;
    } else {
        double start = tmi_ht_is_lattice(srs->noise) ? 1 : (double)srs->population / (double)srs->sample;
        inverse q = {*srs, eps, delta};
        TMI_TRY(tmi_smallest(scale, exact ? pure_at : delta_at, &q, exact ? eps : delta, start, LARGEST, err));
    }
done:
    return status;
}
