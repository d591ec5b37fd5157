/* HistogramMethod as repaired: its law, and how accurate it is.
 *
 * Accuracy. Let d be the quantile q of the law of the values, F its distribution function, and suppose that
 *
 *     (1) the noises stay below alpha together               fails with probability <= beta;
 *     (2) fewer than q n values are below d - gamma/2        <= e^(-2 n (q - F(d - gamma/2))^2), by Hoeffding;
 *     (3) more than q n values are below d + gamma/2         <= e^(-2 n (F(d + gamma/2) - q)^2);
 *     (4) at least alpha values are in [d - gamma, d - gamma/2), and as many in [d + gamma/2, d + gamma)
 *                                                            <= e^(-(n p/2) (1 - alpha/(n p))^2) each, by Chernoff,
 *                                                            if alpha <= n p,
 *
 * p the probability of the half-interval. A cut below d - gamma has then fewer than q n - alpha values below it, and
 * AboveThreshold does not stop there by (1). The first cut at or above d + gamma, which is below d + gamma + step, has more
 * than q n + alpha, and it stops there at the latest. So the answer is in [d - gamma, d + gamma + step] except with the sum
 * of these probabilities. (4) needs alpha <= n p: the printed lemma leaves it out, and the printed theorems also the step
 * and the division of eps. */
#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/mech.h>
#include <tamis/experimental/probability.h>

#include "base/memory.h"
#include "num/ball.h"
#include "num/exact.h"

static int by_size(const void *x, const void *y)
{
    return tmi_number_compare(*(const tamis_number *const *)x, *(const tamis_number *const *)y);
}

static tamis_status check_values(const tamis_number *const *values, size_t n, const tamis_number *from, const tamis_number *to,
                                 int64_t steps, tamis_error *err)
{
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (n < 1) return tmi_fail(err, TAMIS_INVALID, "n: must be at least 1");
    for (size_t i = 0; i < n; i++)
        if (!values[i]) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (!from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (tmi_number_compare(from, to) >= 0) return tmi_fail(err, TAMIS_INVALID, "from: must be below to");
    if (steps < 1 || steps > TAMIS_MAX_QUERIES)
        return tmi_fail(err, TAMIS_INVALID, "steps: must be between 1 and %d", TAMIS_MAX_QUERIES);
    return TAMIS_OK;
}

static bool is_share(const tamis_number *x) { return tmi_number_sign(x) > 0 && tmi_number_compare_int(x, 1) < 0; }

/* counts[i - 1] = values below from + i (to - from)/steps */
static tamis_status count_below(int64_t *counts, const tamis_number *const *values, size_t n, const tamis_number *from,
                                const tamis_number *to, int64_t steps, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const tamis_number **sorted = tmi_alloc(n, sizeof *sorted);
    if (!sorted) return tmi_fail_memory(err);
    for (size_t i = 0; i < n; i++) sorted[i] = values[i];
    qsort(sorted, n, sizeof *sorted, by_size);
    tmi_term step = tmi_div(&e, tmi_sub(&e, to, from), tmi_int(&e, steps)), cut = from;
    size_t below = 0;
    for (int64_t i = 0; i < steps && e.status == TAMIS_OK; i++) {
        cut = tmi_add(&e, cut, step);
        while (cut && below < n && tmi_number_compare(sorted[below], cut) < 0) below++;
        counts[i] = (int64_t)below;
    }
    const tamis_status status = e.status;
    tmi_exact_clear(&e);
    tmi_free(sorted);
    return status;
}

tamis_status tamis_histogram_law(tamis_bound *probabilities, int64_t *counts, const tamis_number *const *values, size_t n,
                                 const tamis_number *from, const tamis_number *to, int64_t steps, const tamis_number *quantile,
                                 tamis_threshold_noise noise, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *scale_T = NULL, *scale_q = NULL;
    const tamis_number **queries = NULL;
    int64_t *below = NULL;
    tmi_exact e = TMI_EXACT(err);
    const bool sized = steps >= 1 && steps <= TAMIS_MAX_QUERIES;
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    for (int64_t i = 0; sized && i <= steps; i++) probabilities[i] = (tamis_bound){0, 1};
    for (int64_t i = 0; sized && counts && i < steps; i++) counts[i] = 0;
    TMI_TRY(check_values(values, n, from, to, steps, err));
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (!is_share(quantile)) return tmi_fail(err, TAMIS_INVALID, "quantile: must be between 0 and 1");
    TMI_TRY(tamis_threshold_scales(&scale_T, &scale_q, noise, eps, err));
    below = tmi_alloc((size_t)steps, sizeof *below);
    queries = tmi_alloc((size_t)steps, sizeof *queries);
    if (!below || !queries) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(count_below(below, values, n, from, to, steps, err));
    for (int64_t i = 0; i < steps; i++) queries[i] = tmi_int(&e, below[i]);
    tmi_term threshold = tmi_mul(&e, quantile, tmi_int(&e, (int64_t)n));
    TMI_TRY(e.status);
    TMI_TRY(tamis_threshold_law(probabilities, queries, (size_t)steps, threshold, scale_T, scale_q, err));
    for (int64_t i = 0; counts && i < steps; i++) counts[i] = below[i];
done:
    tmi_exact_clear(&e);
    tmi_number_frees(&scale_T, &scale_q, NULL);
    tmi_free(queries);
    tmi_free(below);
    return status;
}

/* ---- accuracy ---- */

typedef struct accuracy {
    int64_t k;
    const tamis_number *beta, *eps;
    tamis_threshold_noise noise;
    int64_t n;
    /* Lower bounds: of q - F(d - gamma/2), F(d + gamma/2) - q, and of the probabilities of the two half-intervals. */
    const tamis_number *left, *right, *left_half, *right_half;
} accuracy;

static tamis_status alpha_of(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const accuracy *c = context;
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_int(value, 2 * c->k);
    tmi_ball_set_number(&x, c->beta, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_log(value, value, bits);
    tmi_ball_mul_int(value, value, c->noise == TAMIS_THRESHOLD_MONOTONE ? 4 : 8, bits);
    tmi_ball_set_number(&x, c->eps, bits);
    tmi_ball_div(value, value, &x, bits);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

/* Adds e^(-2 n gap^2). */
static void add_hoeffding(tmi_ball *value, int64_t n, const tamis_number *gap, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, gap, bits);
    tmi_ball_mul(&x, &x, &x, bits);
    tmi_ball_mul_int(&x, &x, -2 * n, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_clear(&x);
}

/* Adds e^(-(n p - alpha)^2/(2 n p)), or 1 unless alpha <= n p for certain. */
static void add_chernoff(tmi_ball *value, int64_t n, const tamis_number *p, const tmi_ball *alpha, long bits)
{
    tmi_ball mean, x;
    tmi_ball_inits(&mean, &x, NULL);
    tmi_ball_set_number(&mean, p, bits);
    tmi_ball_mul_int(&mean, &mean, n, bits);
    if (tmi_ball_is_at_most(alpha, &mean)) {
        tmi_ball_sub(&x, &mean, alpha, bits);
        tmi_ball_mul(&x, &x, &x, bits);
        tmi_ball_div(&x, &x, &mean, bits);
        tmi_ball_div_int(&x, &x, -2, bits);
        tmi_ball_exp(&x, &x, bits);
    } else {
        tmi_ball_set_int(&x, 1);
    }
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_clears(&mean, &x, NULL);
}

static tamis_status failure_of(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const accuracy *c = context;
    tmi_ball alpha;
    tmi_ball_init(&alpha);
    tamis_status status = alpha_of(&alpha, context, bits, err);
    tmi_ball_set_number(value, c->beta, bits);
    add_hoeffding(value, c->n, c->left, bits);
    add_hoeffding(value, c->n, c->right, bits);
    add_chernoff(value, c->n, c->left_half, &alpha, bits);
    add_chernoff(value, c->n, c->right_half, &alpha, bits);
    tmi_ball_clear(&alpha);
    return status;
}

static tamis_status check_noise(int64_t k, const tamis_number *beta, const tamis_number *eps, tamis_error *err)
{
    if (k < 1 || k > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "k: must be between 1 and 2^40");
    if (!beta) return tmi_fail(err, TAMIS_INVALID, "beta: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!is_share(beta)) return tmi_fail(err, TAMIS_INVALID, "beta: must be between 0 and 1");
    if (tmi_number_sign(eps) <= 0) return tmi_fail(err, TAMIS_INVALID, "eps: must be positive");
    return TAMIS_OK;
}

tamis_status tamis_threshold_accuracy(tamis_bound *alpha, int64_t k, const tamis_number *beta, tamis_threshold_noise noise,
                                      const tamis_number *eps, tamis_error *err)
{
    const accuracy c = {.k = k, .beta = beta, .eps = eps, .noise = noise};
    tamis_bound bound;
    if (!alpha) return tmi_fail(err, TAMIS_INVALID, "alpha: NULL");
    *alpha = (tamis_bound){0, INFINITY};
    tamis_status status = check_noise(k, beta, eps, err);
    if (status == TAMIS_OK) status = tmi_certify(&bound, TAMIS_WIDTH, alpha_of, &c, err);
    if (status == TAMIS_OK) *alpha = bound;
    return status;
}

static tamis_status check_setup(tamis_bound *failure, const tamis_histogram_setup *s, tamis_error *err)
{
    if (!failure) return tmi_fail(err, TAMIS_INVALID, "failure: NULL");
    *failure = (tamis_bound){0, 1};
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setup: NULL");
    tamis_status status = check_noise(s->steps, s->beta, s->eps, err);
    if (status != TAMIS_OK) return status;
    if (s->n < 1 || s->n > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and 2^40");
    if (!s->from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!s->to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (!s->quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (!s->gamma) return tmi_fail(err, TAMIS_INVALID, "gamma: NULL");
    if (tmi_number_compare(s->from, s->to) >= 0) return tmi_fail(err, TAMIS_INVALID, "from: must be below to");
    if (!is_share(s->quantile)) return tmi_fail(err, TAMIS_INVALID, "quantile: must be between 0 and 1");
    if (tmi_number_sign(s->gamma) <= 0) return tmi_fail(err, TAMIS_INVALID, "gamma: must be positive");
    return TAMIS_OK;
}

static tamis_status settle(tamis_bound *failure, const tamis_histogram_setup *s, const tamis_number *left,
                           const tamis_number *right, const tamis_number *left_half, const tamis_number *right_half,
                           tamis_error *err)
{
    const accuracy c = {s->steps, s->beta, s->eps, s->noise, s->n, left, right, left_half, right_half};
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, TAMIS_WIDTH, failure_of, &c, err);
    if (status == TAMIS_OK) *failure = (tamis_bound){fmin(bound.lower, 1), fmin(bound.upper, 1)};
    return status;
}

tamis_status tamis_histogram_accuracy_uniform(tamis_bound *failure, const tamis_histogram_setup *setup, tamis_error *err)
{
    tamis_status status = check_setup(failure, setup, err);
    if (status != TAMIS_OK) return status;
    tmi_exact e = TMI_EXACT(err);
    tmi_term share = tmi_div(&e, setup->gamma, tmi_sub(&e, setup->to, setup->from)), half = tmi_div(&e, share, tmi_int(&e, 2));
    tmi_term most = tmi_smaller(setup->quantile, tmi_sub(&e, tmi_int(&e, 1), setup->quantile));
    TMI_TRY(e.status);
    if (tmi_number_compare(share, most) > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "gamma: must not reach beyond the range of the values"));
    TMI_TRY(settle(failure, setup, half, half, half, half, err));
done:
    tmi_exact_clear(&e);
    return status;
}

/* Lower bound of the normal distribution function at x + shift gamma/2 where x is known to lie between the two ends d[0] <=
 * d[1], and upper bound; as numbers. */
typedef struct normal {
    tmi_exact *e;
    double d[2];
    tmi_term half; /* gamma/2 */
    tamis_error *err;
} normal;

static tmi_term distribution(normal *c, int shift, bool upper)
{
    tamis_number *end = NULL, *value = NULL;
    tamis_bound above;
    tmi_term answer = NULL;
    if (c->e->status == TAMIS_OK) c->e->status = tmi_number_double(&end, c->d[upper], c->err);
    tmi_term x = tmi_add(c->e, end, tmi_mul(c->e, tmi_int(c->e, shift), c->half));
    if (c->e->status == TAMIS_OK) c->e->status = tamis_normal_at_least(&above, x, c->err);
    if (c->e->status == TAMIS_OK) c->e->status = tmi_number_double(&value, upper ? above.lower : above.upper, c->err);
    answer = tmi_sub(c->e, tmi_int(c->e, 1), value);
    tmi_number_frees(&end, &value, NULL);
    return answer;
}

/* Doubles around the quantile of the standard normal law. */
static tamis_status normal_quantile(double d[2], const tamis_number *quantile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *x = NULL, *above = NULL, *one = NULL;
    d[0] = -40;
    d[1] = 40;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&above, one, quantile, err));
    const double low = tmi_number_down(above), high = tmi_number_up(above);
    for (int i = 0; i < 80; i++) {
        const double middle = d[0] + (d[1] - d[0]) / 2;
        tamis_bound p;
        tamis_number_free(x);
        x = NULL;
        TMI_TRY(tmi_number_double(&x, middle, err));
        TMI_TRY(tamis_normal_at_least(&p, x, err));
        if (p.lower > high) d[0] = middle; /* certainly below the quantile */
        else if (p.upper < low) d[1] = middle;
        else break;
    }
done:
    tmi_number_frees(&x, &above, &one, NULL);
    return status;
}

tamis_status tamis_histogram_accuracy_normal(tamis_bound *failure, const tamis_histogram_setup *setup, tamis_error *err)
{
    tamis_status status = check_setup(failure, setup, err);
    if (status != TAMIS_OK) return status;
    tmi_exact e = TMI_EXACT(err);
    tamis_number *low = NULL, *high = NULL;
    normal c = {.e = &e, .err = err};
    TMI_TRY(normal_quantile(c.d, setup->quantile, err));
    TMI_TRY(tmi_number_double(&low, c.d[0], err));
    TMI_TRY(tmi_number_double(&high, c.d[1], err));
    c.half = tmi_div(&e, setup->gamma, tmi_int(&e, 2));
    tmi_term first = tmi_sub(&e, low, setup->gamma), last = tmi_add(&e, high, setup->gamma);
    tmi_term left = tmi_sub(&e, setup->quantile, distribution(&c, -1, true));
    tmi_term right = tmi_sub(&e, distribution(&c, 1, false), setup->quantile);
    tmi_term left_half = tmi_sub(&e, distribution(&c, -1, false), distribution(&c, -2, true));
    tmi_term right_half = tmi_sub(&e, distribution(&c, 2, false), distribution(&c, 1, true));
    TMI_TRY(e.status);
    if (tmi_number_compare(first, setup->from) < 0 || tmi_number_compare(last, setup->to) > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "gamma: the interval around the quantile must be within from and to"));
    if (tmi_number_sign(left) <= 0 || tmi_number_sign(right) <= 0 || tmi_number_sign(left_half) <= 0 ||
        tmi_number_sign(right_half) <= 0)
        goto done; /* too narrow to promise anything: [0, 1] */
    TMI_TRY(settle(failure, setup, left, right, left_half, right_half, err));
done:
    tmi_exact_clear(&e);
    tmi_number_frees(&low, &high, NULL);
    return status;
}
