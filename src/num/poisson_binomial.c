/* The number of ones among independent trials, group i having n_i trials of probability p_i.
 *
 * Its generating function G(z) = prod (1 - p_i + p_i z)^{n_i} is known in closed form, so a coefficient is an integral
 * over the circle |z| = r, and the trapezoid rule with M points gives it up to aliases that can be bounded:
 *
 *     (1/M) sum_m G(z_m) z_m^{-k} = sum over all integers t of P(X = k + tM) r^{tM}.
 *
 * With G(z) / (1 - 1/z) and r > 1 in place of G(z) the coefficients are the tails P(X >= k). Put q_i = p_i r / (1-p_i+p_i r)
 * (the tilted probabilities), phi(theta) = G(r e^{i theta}) / G(r), V = sum n_i q_i (1-q_i). Then
 *
 *   - |phi(theta)| <= exp(-V (1 - cos theta)), since |1 - q + q e^{i theta}|^2 = 1 - 2q(1-q)(1 - cos theta): points far
 *     from theta = 0 are not computed but bounded;
 *   - P(X = j) <= G(y) y^{-j} for y > 0, and P(X >= j) <= G(y) y^{-j} for y >= 1 (Markov): with y = r e^h for the aliases
 *     k + M, k + 2M, ... and y = r e^-h for k - M, k - 2M, ... both are geometric series; in tails h is kept below log r.
 *
 * r is a guess at the saddle point, made in doubles; M, h and the number of computed points follow from it. A bad guess
 * makes the enclosure wide, never wrong. Around sixty points are computed whatever the number of units is.          */
#include <math.h>
#include <tamis/num.h>

#include "base/memory.h"
#include "num/ball_arb.h"
#include "num/certify.h"
#include "num/laws.h"

#if __has_include(<flint/acb.h>)
#include <flint/acb.h>
#else
#include <acb.h>
#endif

#define MAX_POINTS (INT64_C(1) << 20)
#define POWER_BY_SQUARING 256 /* trials of a group beyond which a logarithm is quicker */

typedef struct group {
    tmi_ball success, failure; /* of the law, or of its mirror image */
    double odds_log;
    int64_t count;
} group;

/* The groups with 0 < p < 1, at one precision. */
typedef struct setup {
    group *groups;
    size_t count;
    int64_t trials, certain; /* in these groups; and in those with p = 1 */
} setup;

static void setup_clear(setup *s)
{
    for (size_t i = 0; i < s->count; i++) {
        tmi_ball_clear(&s->groups[i].success);
        tmi_ball_clear(&s->groups[i].failure);
    }
    tmi_free(s->groups);
    *s = (setup){0};
}

static tamis_status setup_new(setup *s, const tmi_trials *law, bool mirrored, slong prec, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *failure = NULL;
    arb_t odds;
    *s = (setup){0};
    arb_init(odds);
    if (!(s->groups = tmi_alloc(law->count, sizeof *s->groups))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    for (size_t i = 0; i < law->count; i++) {
        const tamis_trials *t = &law->groups[i];
        if (t->count == 0) continue;
        bool never = tmi_number_sign(t->probability) == 0, always = tmi_number_compare_int(t->probability, 1) == 0;
        if (never || always) {
            if (always != mirrored) s->certain += t->count;
            continue;
        }
        TMI_TRY(tmi_number_sub(&failure, one, t->probability, err));
        group *g = &s->groups[s->count++];
        tmi_ball_init(&g->success);
        tmi_ball_init(&g->failure);
        tmi_ball_set_number(mirrored ? &g->failure : &g->success, t->probability, prec);
        tmi_ball_set_number(mirrored ? &g->success : &g->failure, failure, prec);
        arb_div(odds, tmi_arb(&g->success), tmi_arb(&g->failure), 64);
        arb_log(odds, odds, 64);
        g->odds_log = arf_get_d(arb_midref(odds), ARF_RND_NEAR);
        g->count = t->count;
        s->trials += t->count;
        tamis_number_free(failure);
        failure = NULL;
    }
done:
    arb_clear(odds);
    tamis_number_free(one);
    tamis_number_free(failure);
    return status;
}

/* ---- guesses, in doubles ---- */

typedef struct shape {
    double mean, variance;
} shape;

/* Mean and variance of the law tilted by e^t. */
static shape tilted(const setup *s, double t)
{
    shape z = {0, 0};
    for (size_t i = 0; i < s->count; i++) {
        double x = s->groups[i].odds_log + t, small = 1 / (1 + exp(fabs(x))), n = (double)s->groups[i].count;
        z.mean += n * (x > 0 ? 1 - small : small);
        z.variance += n * small * (1 - small);
    }
    return z;
}

/* The tilt whose mean is k, 0 < k < trials. */
static double saddle(const setup *s, double k)
{
    double smallest = INFINITY, largest = -INFINITY, level = log(k / ((double)s->trials - k));
    for (size_t i = 0; i < s->count; i++) {
        smallest = fmin(smallest, s->groups[i].odds_log);
        largest = fmax(largest, s->groups[i].odds_log);
    }
    double low = level - largest, high = level - smallest;
    for (int i = 0; i < 80 && high - low > 1e-9 * (1 + fabs(low)); i++) {
        double middle = low + (high - low) / 2;
        if (tilted(s, middle).mean < k) low = middle;
        else high = middle;
    }
    return low + (high - low) / 2;
}

/* ---- certainties, in balls ---- */

/* log G(y). */
static void log_generating(arb_t z, const setup *s, const arb_t y, slong prec)
{
    arb_t x;
    arb_init(x);
    arb_zero(z);
    for (size_t i = 0; i < s->count; i++) {
        const group *g = &s->groups[i];
        arb_mul(x, tmi_arb_const(&g->success), y, prec);
        arb_add(x, x, tmi_arb_const(&g->failure), prec);
        arb_log(x, x, prec);
        arb_addmul_si(z, x, g->count, prec);
    }
    arb_clear(x);
}

/* z = [0, G(y) y^-k e^-height q/(1-q)] with y = r e^h, q = e^{-|h| M}: the aliases on one side, in units of e^height. */
static void aliases(arb_t z, const setup *s, const arb_t log_r, double h, int64_t k, int64_t M, const arb_t height,
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
    log_generating(z, s, x, prec);
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
static void characteristic(acb_t z, const setup *s, const arb_t *tilt, const acb_t point, slong prec)
{
    acb_t factor, logs, away;
    bool any = false;
    acb_init(factor);
    acb_init(logs);
    acb_init(away);
    acb_sub_si(away, point, 1, prec);
    acb_one(z);
    for (size_t i = 0; i < s->count; i++) { /* 1 + q (e^{i theta} - 1) */
        acb_mul_arb(factor, away, tilt[i], prec);
        acb_add_si(factor, factor, 1, prec);
        int64_t n = s->groups[i].count;
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
static void integrand(arb_t z, const setup *s, const arb_t *tilt, const arb_t r, bool tail, int64_t k, int64_t m,
                      int64_t M, slong prec)
{
    fmpq_t turn;
    acb_t point, value;
    fmpq_init(turn);
    acb_init(point);
    acb_init(value);
    fmpq_set_si(turn, 2 * m, (ulong)M);
    arb_sin_cos_pi_fmpq(acb_imagref(point), acb_realref(point), turn, prec);
    characteristic(value, s, tilt, point, prec);
    if (tail) {
        acb_t shape_of_tail;
        acb_init(shape_of_tail);
        acb_conj(shape_of_tail, point);
        acb_div_arb(shape_of_tail, shape_of_tail, r, prec);
        acb_sub_si(shape_of_tail, shape_of_tail, 1, prec);
        acb_neg(shape_of_tail, shape_of_tail);
        acb_div(value, value, shape_of_tail, prec);
        acb_clear(shape_of_tail);
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

/* P(X = k), or P(X >= k) if tail, for 0 < k < trials. */
static tamis_status contour(tmi_ball *z, const setup *s, bool tail, int64_t k, long bits, slong prec, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    arb_t r, log_r, height, y, part, variance, sum;
    arb_t *tilt = NULL;
    arb_init(r);
    arb_init(log_r);
    arb_init(height);
    arb_init(y);
    arb_init(part);
    arb_init(variance);
    arb_init(sum);

    double t = saddle(s, (double)k);
    if (tail) t = fmax(t, fmin(4 / sqrt(tilted(s, fmax(t, 0)).variance), 2));
    double sd = fmax(sqrt(tilted(s, t).variance), 1e-3), h = fmin(8 / sd, 2);
    if (tail) h = fmin(h, 0.999 * t); /* so that r e^-h > 1 */
    arb_set_d(log_r, t);
    arb_exp(r, log_r, 64);
    arb_set_arf(r, arb_midref(r)); /* an exact radius near e^t */
    arb_log(log_r, r, prec);
    log_generating(height, s, r, prec);
    arb_submul_si(height, log_r, k, prec); /* log of G(r) r^-k */

    double nats = 0.7 * (double)bits + log1p(sd) + 10, points = (nats + 0.6 * sd * sd * h * h + 3) / h;
    if (!tail) points = fmin(points, (double)s->trials + 1); /* then nothing is aliased */
    double reach = 1.1 * sqrt(2 * nats) / sd, computed = reach < 3 ? reach * points / 6.2 + 1 : points / 2;
    if (!(computed < (double)MAX_POINTS))
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "a law of unequal probabilities needs too many points"));
    int64_t M = (int64_t)points | 1, last = (M - 1) / 2;
    if (computed < (double)last) last = (int64_t)computed;

    if (!(tilt = tmi_alloc(s->count, sizeof *tilt))) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < s->count; i++) {
        arb_init(tilt[i]);
        arb_mul(part, tmi_arb_const(&s->groups[i].success), r, prec);
        arb_add(y, part, tmi_arb_const(&s->groups[i].failure), prec);
        arb_div(tilt[i], part, y, prec);
        arb_div(y, tmi_arb_const(&s->groups[i].failure), y, prec); /* 1 - q without cancellation */
        arb_mul(y, y, tilt[i], prec);
        arb_addmul_si(variance, y, s->groups[i].count, prec);
    }
    for (int64_t m = 0; m <= last; m++) {
        integrand(part, s, (const arb_t *)tilt, r, tail, k, m, M, prec);
        if (m > 0) arb_mul_2exp_si(part, part, 1);
        arb_add(sum, sum, part, prec);
    }
    arb_div_si(sum, sum, M, prec);
    if (last < (M - 1) / 2) {
        far_points(part, variance, r, tail, last + 1, M, prec);
        arb_add_error(sum, part);
    }

    if (k + M <= s->trials) {
        aliases(part, s, log_r, h, k, M, height, prec);
        arb_sub(sum, sum, part, prec);
    }
    if (tail || k >= M) {
        aliases(part, s, log_r, -h, k, M, height, prec);
        arb_sub(sum, sum, part, prec);
    }
    arb_exp(height, height, prec);
    arb_mul(tmi_arb(z), sum, height, prec);
done:
    if (tilt) {
        for (size_t i = 0; i < s->count; i++) arb_clear(tilt[i]);
        tmi_free(tilt);
    }
    arb_clear(r);
    arb_clear(log_r);
    arb_clear(height);
    arb_clear(y);
    arb_clear(part);
    arb_clear(variance);
    arb_clear(sum);
    return status;
}

/* All trials succeed, or all fail. */
static void all_equal(tmi_ball *z, const setup *s, bool success, slong prec)
{
    arb_t x;
    arb_init(x);
    arb_zero(tmi_arb(z));
    for (size_t i = 0; i < s->count; i++) {
        arb_log(x, tmi_arb_const(success ? &s->groups[i].success : &s->groups[i].failure), prec);
        arb_addmul_si(tmi_arb(z), x, s->groups[i].count, prec);
    }
    arb_exp(tmi_arb(z), tmi_arb(z), prec);
    arb_clear(x);
}

/* P(X >= k) of the law or, mirrored, of the number of zeros; the mass at k if not tail. */
static tamis_status upper_part(tmi_ball *z, const setup *s, bool tail, int64_t k, long bits, slong prec,
                               tamis_error *err)
{
    if (k > s->trials || (!tail && k < 0)) tmi_ball_set_int(z, 0);
    else if (tail ? k <= 0 : s->trials == 0) tmi_ball_set_int(z, 1);
    else if (k == 0 || k == s->trials) all_equal(z, s, k > 0, prec);
    else return contour(z, s, tail, k, bits, prec, err);
    return TAMIS_OK;
}

tamis_status tmi_trials_part(tmi_ball *z, const tmi_trials *law, tmi_part part, int64_t k, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    setup ones, zeros = {0};
    int64_t units = 1;
    for (size_t i = 0; i < law->count; i++) units += law->groups[i].count;
    slong prec = (bits < 64 ? 64 : bits) + 32 + (slong)ceil(log2((double)units)); /* units multiply logarithms */
    tmi_ball_set_unknown(z);
    TMI_TRY(setup_new(&ones, law, false, prec, err));
    int64_t low = ones.certain, high = low + ones.trials; /* the support */
    if (part == TMI_MASS) {
        if (k < low || k > high) tmi_ball_set_int(z, 0);
        else TMI_TRY(upper_part(z, &ones, false, k - low, bits, prec, err));
        goto done;
    }
    bool up = part == TMI_AT_LEAST;
    if (up ? k <= low : k >= high) {
        tmi_ball_set_int(z, 1);
        goto done;
    }
    if (up ? k > high : k < low) {
        tmi_ball_set_int(z, 0);
        goto done;
    }
    /* The side away from the mean is computed; the other one is one minus it. */
    double distance = (double)(k - low) - tilted(&ones, 0).mean;
    bool other = up ? distance < 0 : distance > 0, above = up != other;
    int64_t from = k - low;
    if (other) from += up ? -1 : 1;
    if (above) {
        TMI_TRY(upper_part(z, &ones, true, from, bits, prec, err));
    } else {
        TMI_TRY(setup_new(&zeros, law, true, prec, err));
        TMI_TRY(upper_part(z, &zeros, true, ones.trials - from, bits, prec, err));
    }
    if (other) {
        tmi_ball_neg(z, z);
        tmi_ball_add_int(z, z, 1, prec);
    }
done:
    setup_clear(&ones);
    setup_clear(&zeros);
    return status;
}

tamis_status tmi_check_trials(const tmi_trials *law, tamis_error *err)
{
    int64_t units = 0;
    if (!law->groups && law->count > 0) return tmi_fail(err, TAMIS_INVALID, "groups: NULL");
    for (size_t i = 0; i < law->count; i++) {
        const tamis_trials *t = &law->groups[i];
        if (!t->probability) return tmi_fail(err, TAMIS_INVALID, "probability of group %zu: NULL", i);
        if (tmi_number_sign(t->probability) < 0 || tmi_number_compare_int(t->probability, 1) > 0)
            return tmi_fail(err, TAMIS_INVALID, "probability of group %zu must lie between 0 and 1", i);
        if (t->count < 0 || t->count > TAMIS_MAX_UNITS || (units += t->count) > TAMIS_MAX_UNITS)
            return tmi_fail(err, TAMIS_INVALID, "count of group %zu: between 0 and 2^40 trials in all", i);
    }
    if (law->count > TAMIS_MAX_GROUPS)
        return tmi_fail(err, TAMIS_UNABLE, "more than %d groups of trials", TAMIS_MAX_GROUPS);
    return TAMIS_OK;
}

/* ---- public ---- */

typedef struct question {
    tmi_trials law;
    tmi_part part;
    int64_t k;
} question;

static tamis_status answer(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    return tmi_trials_part(z, &q->law, q->part, q->k, bits, err);
}

static tamis_status certified(tamis_bound *bound, question q, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_trials(&q.law, err);
    return status == TAMIS_OK ? tmi_certify_probability(bound, answer, &q, err) : status;
}

tamis_status tamis_poisson_binomial_mass(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                         tamis_error *err)
{
    return certified(p, (question){{groups, group_count}, TMI_MASS, k}, err);
}

tamis_status tamis_poisson_binomial_at_least(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                             tamis_error *err)
{
    return certified(p, (question){{groups, group_count}, TMI_AT_LEAST, k}, err);
}

tamis_status tamis_poisson_binomial_at_most(tamis_bound *p, const tamis_trials *groups, size_t group_count, int64_t k,
                                            tamis_error *err)
{
    return certified(p, (question){{groups, group_count}, TMI_AT_MOST, k}, err);
}
