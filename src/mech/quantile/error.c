/* How far the answers of a call are from their quantiles, before any data is read.
 *
 * Every bound holds for all data, and with the stated probability for all m answers of the call at once; b is the probability
 * that one fails, W the largest weight. Answers that are put in order keep the largest of their bounds: if x_1 > x_2 are
 * exchanged, rank(x_2) <= rank(x_1) < r_1 + t and rank(x_2) > r_2 - t > r_1 - t, and likewise for the other.
 *
 * INVERSE. The points at a distance of at least t have together at most the measure M of the whole grid times exp(-rate t); those
 * at distance 0 have at least the measure M_0 of one point, or of as many as the caller knows to be within one record. So
 *
 *     P(distance >= t) <= (M / M_0) exp(-rate t),      t = log(m M / (M_0 b)) / rate.
 *
 * Places of records (JOINT, SPLIT). Let u be the largest number of records with the same key, M the measure of all keys and M_0
 * that of the key with the smallest. With n records and k places in each grid point, P(u > c) <= k C(n, c+1) / k^(c+1), which is
 * largest if all records share a point, and C(n, c+1) <= n^(c+1) / (c+1)!. A tenth of b is spent on that.
 *
 * JOINT. Some key has L within u W of any target, because no key weighs more; so some tuple of keys has |a_j| <= d u W for all
 * j, a sum E_0 <= 2 m d u W, and a measure of at least M_0^m / m!, where all ordered tuples have M^m / m!. As above,
 *
 *     P(E >= E_0 + t) <= (M / M_0)^m exp(-rate t).
 *
 * |a_j| <= E / 2, because a_j is the sum of the differences before it, and minus that of those behind it.
 *
 * SPLIT. Each quantile is found in its part as by INVERSE, with a distance of at most t_j, or with probability b / m it is not.
 * The part is then cut at the key, which moves the cut by up to u W more. Let the two ends of a part be off by x and y. What a
 * quantile aims for in the part is off by (1 - s) x + s y, at most the larger; so its error is at most that of the ends plus its
 * own, and the errors of a quantile and of all that were found before it on its path add up, with u W for each of those.
 *
 * THRESHOLD, HISTOGRAM. If rho < x and all nu_j < y, the answer c_j has d L(c_j) >= target + shift - y, and its predecessor
 * d L(c_(j-1)) < target + shift + x. So a value between c_(j-1) and c_j has a rank within the larger of y - shift and x + shift:
 * the bound is for the answer's cell and not for its upper end, since any number of records may be between two candidates. One
 * half of b is for rho, the other for all nu. Two-sided noise has |rho| < x and |nu_j| < y: then x + y on both sides.
 *
 * TREE, PREFIX. Let the noise of all prefix sums be within e. The smoothed function is then within e of the true one, which never
 * falls, because pooling neighbours and cutting at 0 bring no list farther from such a one in its largest difference. The answer
 * is the first bin with smooth >= q * (smooth of all), so L of the bin is at least q T - (1 + q) e, and that of the bin before is
 * below q T + (1 + q) e: again a bound for the cell. For e, a sum N of independent noises with standard deviation sd:
 *
 *     discrete Gaussian: E exp(t N) <= exp(t^2 sd^2 / 2), so P(|N| >= z sd) <= 2 exp(-z^2 / 2);
 *     discrete Laplace:  a noise X of variance v has E exp(t X) = 1 / (1 - v (cosh t - 1)). If w X is one of the terms of N, then
 *         w^2 v = o sd^2, and the o of all terms add up to 1. With t = h / sd and v_0 the smallest of the variances,
 *         v (cosh(t w) - 1) <= o Y, Y = v_0 (cosh(h / sqrt v_0) - 1), because (cosh x - 1) / x^2 grows with x and
 *         |w| <= sd / sqrt v; and -log(1 - o Y) <= -o log(1 - Y). So E exp(t N) <= 1 / (1 - Y), and P(|N| >= z sd) <= 2
 *         exp(-h z) / (1 - Y).
 *
 * Deviations are computed in doubles, by sums of thousands of terms: a millionth is added. */
#include <math.h>

#include "mech/quantile/above.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/several.h"
#include "mech/quantile/tree.h"

typedef struct question {
    const tamis_quantile *quantile;
    size_t number;
    const tamis_number *confidence;
    int64_t points;
    int64_t ties; /* u */
} question;

/* log(M / M_0): the points with the least measure are the last ones. */
static void log_of_measures(tmi_ball *z, int64_t all, int64_t points, const tamis_number *log_unit, long bits)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    if (log_unit) {
        tmi_ball_set_number(&y, log_unit, bits);
        tmi_ball_set_int(&x, all);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log1p(z, &x, bits);
        tmi_ball_add_int(&y, &y, all - points, bits);
        tmi_ball_set_int(&x, points);
        tmi_ball_div(&x, &x, &y, bits);
        tmi_ball_log1p(&x, &x, bits);
        tmi_ball_div(z, z, &x, bits);
    } else {
        tmi_ball_set_int(z, all);
        tmi_ball_div_int(z, z, points, bits);
    }
    tmi_ball_log(z, z, bits);
    tmi_ball_clears(&x, &y, NULL);
}

/* log(parts / b) */
static void log_of_failure(tmi_ball *z, const question *k, int64_t parts, bool has_ties, long bits)
{
    tmi_ball b;
    tmi_ball_init(&b);
    tmi_ball_set_number(&b, k->confidence, bits);
    tmi_ball_neg(&b, &b);
    tmi_ball_add_int(&b, &b, 1, bits);
    tmi_ball_set_int(z, has_ties ? 10 * parts : parts);
    if (has_ties) tmi_ball_div_int(z, z, 9, bits);
    tmi_ball_div(z, z, &b, bits);
    tmi_ball_log(z, z, bits);
    tmi_ball_clear(&b);
}

/* Divides by the rate, in which 1 is 1/d of a weight unit, and by the largest weight. */
static void in_records(tmi_ball *z, const tamis_quantile *q, const tamis_number *rate, int64_t d, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, rate, bits);
    tmi_ball_div(z, z, &x, bits);
    tmi_ball_div_int(z, z, d, bits);
    tmi_ball_div_int(z, z, q->most_weight, bits);
    tmi_ball_clear(&x);
}

static void inverse_error(tmi_ball *z, const question *k, size_t number, long bits)
{
    const tamis_quantile *q = k->quantile;
    const int64_t all = q->grid.high - q->grid.low + 1, points = k->points < all ? k->points : all;
    tmi_ball x;
    tmi_ball_init(&x);
    log_of_measures(z, all, points, q->log_unit, bits);
    log_of_failure(&x, k, (int64_t)q->count, false, bits);
    tmi_ball_add(z, z, &x, bits);
    in_records(z, q, q->targets[number].rate, q->targets[number].rank.d, bits);
    if (k->points > 1) tmi_ball_add_int(z, z, 1, bits); /* those points are up to one record away */
    tmi_ball_clear(&x);
}

static int64_t all_keys(const tamis_quantile *q) { return (q->grid.high - q->grid.low + 1) * tmi_places(&q->grid); }

static void joint_error(tmi_ball *z, const question *k, long bits)
{
    const tamis_quantile *q = k->quantile;
    const int64_t m = (int64_t)q->count;
    tmi_ball x;
    tmi_ball_init(&x);
    log_of_measures(z, all_keys(q), 1, q->key_unit, bits);
    tmi_ball_mul_int(z, z, m, bits);
    log_of_failure(&x, k, 1, true, bits);
    tmi_ball_add(z, z, &x, bits);
    in_records(z, q, q->joint_rate, 2 * q->common, bits);
    tmi_ball_set_int(&x, k->ties);
    tmi_ball_mul_int(&x, &x, m, bits);
    tmi_ball_add(z, z, &x, bits);
    tmi_ball_clear(&x);
}

/* Of the quantiles on the path from the middle one of all to this one. */
static void split_error(tmi_ball *z, const question *k, long bits)
{
    const tamis_quantile *q = k->quantile;
    const bool has_ties = q->count > 1;
    size_t from = 0, to = q->count, middle;
    tmi_ball measures, failure, own;
    tmi_ball_inits(&measures, &failure, &own, NULL);
    log_of_measures(&measures, all_keys(q), 1, q->key_unit, bits);
    log_of_failure(&failure, k, (int64_t)q->count, has_ties, bits);
    tmi_ball_add(&measures, &measures, &failure, bits);
    tmi_ball_set_int(z, 0);
    do {
        middle = from + (to - from) / 2;
        tmi_ball_set(&own, &measures);
        in_records(&own, q, q->targets[middle].rate, q->targets[middle].rank.d, bits);
        tmi_ball_add(z, z, &own, bits);
        if (middle != k->number) tmi_ball_add_int(z, z, k->ties, bits);
        if (k->number < middle) to = middle;
        else from = middle + 1;
    } while (middle != k->number);
    tmi_ball_clears(&measures, &failure, &own, NULL);
}

static void above_error(tmi_ball *z, const question *k, size_t number, long bits)
{
    const tamis_quantile *q = k->quantile;
    const tmi_above *a = &q->above[number];
    const int64_t m = (int64_t)q->count, tails = a->two_sided ? 4 : 2;
    const int64_t shift = tmi_above_shift(a, &q->targets[number].rank, q->rows);
    tmi_ball x, scale;
    tmi_ball_inits(&x, &scale, NULL);
    log_of_failure(&x, k, m * tails, false, bits);
    tmi_ball_set_number(&scale, a->rho_scale, bits);
    tmi_ball_mul(&x, &x, &scale, bits);
    tmi_ball_add_int(&x, &x, 1, bits); /* noise is an integer */
    log_of_failure(z, k, m * tails * (int64_t)q->candidate_count, false, bits);
    tmi_ball_set_number(&scale, a->nu_scale, bits);
    tmi_ball_mul(z, z, &scale, bits);
    tmi_ball_add_int(z, z, 1, bits);
    if (a->two_sided) tmi_ball_add(z, z, &x, bits);
    else {
        tmi_ball_add_int(z, z, -shift, bits);
        tmi_ball_add_int(&x, &x, shift, bits);
        tmi_ball_max(z, z, &x, bits);
    }
    tmi_ball_div_int(z, z, q->targets[number].rank.d, bits);
    tmi_ball_div_int(z, z, q->most_weight, bits);
    tmi_ball_clears(&x, &scale, NULL);
}

static tamis_status formula(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *k = context;
    const tamis_quantile *q = k->quantile;
    tmi_ball each;
    (void)err;
    if (q->method == TAMIS_QUANTILE_JOINT) joint_error(z, k, bits);
    else if (q->method == TAMIS_QUANTILE_SPLIT) split_error(z, k, bits);
    else { /* answers may be exchanged */ tmi_ball_init(&each);
        tmi_ball_set_int(z, 0);
        for (size_t i = 0; i < q->count; i++) {
            if (q->above) above_error(&each, k, i, bits);
            else inverse_error(&each, k, i, bits);
            tmi_ball_max(z, z, &each, bits);
        }
        tmi_ball_clear(&each);
    }
    return TAMIS_OK;
}

/* The smallest u that is exceeded with a probability of at most b / 10. From n / places on the bound falls. */
static int64_t ties_of(const tamis_quantile *q, double confidence)
{
    const double places = (double)tmi_places(&q->grid), n = (double)q->rows, most = log((1 - confidence) / 10) - 1e-9;
    int64_t low = (int64_t)(n / places), high = q->rows; /* of `high` it holds: no key has more than all records */
    while (low + 1 < high) {
        const int64_t middle = low + (high - low) / 2;
        const double c = (double)middle + 1;
        if (log(places) + c * log(n / places) - lgamma(c + 1) <= most) high = middle;
        else low = middle;
    }
    return high;
}

/* e / sd of all prefix sums, each with its part of b. */
static double tail_of(const tamis_distribution *d, double confidence)
{
    const double nats = log(2 * (double)d->bins / (1 - confidence));
    double least = INFINITY, z = INFINITY;
    if (!d->tree) return sqrt(2 * nats);
    for (size_t l = 0; l < d->tree->levels; l++) least = fmin(least, d->tree->noise_variance[l]);
    for (double h = 1e-3 * fmin(1, sqrt(least)); h < 2; h *= 1.02) {
        const double y = least * (cosh(h / sqrt(least)) - 1);
        if (y < 1) z = fmin(z, (nats - log1p(-y)) / h);
    }
    return z;
}

/* Below this share of b nothing is certain in doubles. */
#define LEAST_FAILURE 1e-12

static double distribution_error(const question *k)
{
    const tamis_quantile *q = k->quantile;
    const tmi_rank *rank = &q->targets[k->number].rank;
    const double confidence = fmin(tmi_number_up(k->confidence), 1), at = (double)rank->p / (double)rank->d;
    if (1 - confidence < LEAST_FAILURE) return INFINITY;
    return ((1 + at) * tail_of(q->distribution, confidence) * tmi_quantile_deviation(q) + 1) * (1 + 1e-6);
}

static bool has_places(const tamis_quantile *q)
{
    return q->method == TAMIS_QUANTILE_JOINT || (q->method == TAMIS_QUANTILE_SPLIT && q->count > 1);
}

static tamis_status check(const tamis_quantile *q, tamis_error *err)
{
    if (q->method == TAMIS_QUANTILE_SMOOTH)
        return tmi_fail(err, TAMIS_UNABLE, "the noise is a distance in values, not in ranks, and its scale depends on the data");
    if (has_places(q) && q->rows == 0)
        return tmi_fail(err, TAMIS_UNABLE, "the bound needs the number of rows, which is not public");
    if (has_places(q) && tmi_places(&q->grid) < 2)
        return tmi_fail(err, TAMIS_UNABLE, "the grid is so fine that records of the same value have no places of their own");
    return TAMIS_OK;
}

tamis_status tamis_quantile_error(double *rank_error, const tamis_quantile *quantile, size_t number,
                                  const tamis_number *confidence, int64_t points, tamis_error *err)
{
    tamis_bound bound;
    if (!rank_error) return tmi_fail(err, TAMIS_INVALID, "rank_error: NULL");
    *rank_error = INFINITY;
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    if (number >= quantile->count) return tmi_fail(err, TAMIS_INVALID, "number: there are fewer quantiles");
    if (!confidence) return tmi_fail(err, TAMIS_INVALID, "confidence: NULL");
    if (tmi_number_sign(confidence) <= 0 || tmi_number_compare_int(confidence, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "confidence must be above 0 and below 1");
    if (points < 1) return tmi_fail(err, TAMIS_INVALID, "points must be at least 1");
    tamis_status status = check(quantile, err);
    if (status != TAMIS_OK) return status;
    question k = {quantile, number, confidence, points, 0};
    if (has_places(quantile)) k.ties = ties_of(quantile, tmi_number_up(confidence));
    if (quantile->distribution) {
        *rank_error = distribution_error(&k);
        return TAMIS_OK;
    }
    status = tmi_certify(&bound, TAMIS_WIDTH, formula, &k, err);
    if (status == TAMIS_OK) *rank_error = bound.upper;
    return status;
}

int64_t tmi_quantile_cell(const tamis_quantile *q, int64_t point)
{
    int64_t before = q->above || q->distribution ? q->grid.low : point;
    for (size_t i = 0; q->above && i < q->candidate_count && q->candidates[i] < point; i++) before = q->candidates[i];
    if (q->distribution) {
        const size_t bin = tmi_bin_of(q->distribution, point);
        if (bin > 0) before = tmi_bin_last(q->distribution, bin - 1);
    }
    return before;
}
