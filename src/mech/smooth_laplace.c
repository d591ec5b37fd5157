/* The loss of x_(m) + Laplace noise of scale S / alpha.
 *
 * In units of S', the scale of the neighbour, a pair of answers is P = Laplace(s, e^l / alpha), Q = Laplace(0, 1 / alpha) with
 * |l| <= beta and |s| <= min(1, e^l). delta = 1 - (integral of min(p, e^eps q)), and both densities are symmetric and
 * unimodal about their centres: their superlevel sets are intervals whose overlap shrinks as the centres move apart. So the
 * largest |s| is worst.
 *
 * l >= 0 (s = 1). The set A where p > e^eps q is a pair of half-lines, x < x- < 0 and x > x+. By the corner of laplace_pair.c,
 * x+ >= 1 exactly if alpha <= eps + l, which holds here. Then A lies in the tails of P beyond its centre, whose mass grows
 * with the scale; delta changes with l as P(A) does for fixed A, so it grows, and l = beta is worst:
 *
 *     delta = (1 - q)/2 (e^-(alpha q + (eps + beta + alpha q)/w) + e^((alpha - eps - beta)/w)),  q = e^-beta, w = e^beta - 1.
 *
 * l < 0. In units of S it is P = Laplace(1, 1/alpha) against Q = Laplace(0, R/alpha), 1 <= R <= e^beta. For R1 <= R <= R2
 * the density of Q is at least R1/R2 of that for R1, so delta is at most that of R1 at eps - (R2 - R1)/R1. Intervals of R
 * are halved until all these bounds are below the value for l = beta. For any useful choice one interval suffices, with
 * bound 0. */
#include <math.h>
#include <tamis/experimental/mech.h>
#include <tamis/experimental/smooth.h>

#include "num/ball.h"
#include "num/exact.h"

typedef struct noise {
    const tamis_number *eps, *alpha, *beta;
} noise;

static tamis_status wider_first(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const noise *c = context;
    tmi_ball eps, alpha, beta, q, w, x;
    (void)err;
    tmi_ball_inits(&eps, &alpha, &beta, &q, &w, &x, NULL);
    tmi_ball_set_number(&eps, c->eps, bits);
    tmi_ball_set_number(&alpha, c->alpha, bits);
    tmi_ball_set_number(&beta, c->beta, bits);
    tmi_ball_expm1(&w, &beta, bits);
    tmi_ball_neg(&q, &beta);
    tmi_ball_exp(&q, &q, bits);
    tmi_ball_add(&eps, &eps, &beta, bits); /* eps + beta from here */

    tmi_ball_sub(&x, &alpha, &eps, bits);
    tmi_ball_div(&x, &x, &w, bits);
    tmi_ball_exp(value, &x, bits);
    tmi_ball_mul(&alpha, &alpha, &q, bits);
    tmi_ball_add(&x, &eps, &alpha, bits);
    tmi_ball_div(&x, &x, &w, bits);
    tmi_ball_add(&x, &x, &alpha, bits);
    tmi_ball_neg(&x, &x);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_mul(&q, &q, &w, bits); /* 1 - q without cancellation */
    tmi_ball_mul(value, value, &q, bits);
    tmi_ball_div_int(value, value, 2, bits);
    tmi_ball_clears(&eps, &alpha, &beta, &q, &w, &x, NULL);
    return TAMIS_OK;
}

/* The most that delta can be for R between the doubles first and last. */
static tamis_status narrower_first(double *most, const noise *c, double first, double last, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *r1 = NULL, *r2 = NULL;
    tamis_bound delta;
    tmi_exact e = TMI_EXACT(err);
    *most = 1;
    TMI_TRY(tmi_number_double(&r1, first, err));
    TMI_TRY(tmi_number_double(&r2, last, err));
    tmi_term eps = tmi_sub(&e, c->eps, tmi_div(&e, tmi_sub(&e, r2, r1), r1)), one = tmi_int(&e, 1);
    tmi_term b1 = tmi_div(&e, one, c->alpha), b2 = tmi_div(&e, r1, c->alpha);
    TMI_TRY(e.status);
    if (tmi_number_sign(eps) < 0) goto done;
    TMI_TRY(tamis_laplace_pair_delta(&delta, eps, one, b1, b2, err));
    *most = delta.upper;
done:
    tmi_exact_clear(&e);
    tmi_number_frees(&r1, &r2, NULL);
    return status;
}

/* Intervals that are looked at before giving up; useful choices need one. */
#define INTERVALS 2000
#define DEPTH 64

static tamis_status other_order_is_less(const noise *c, double delta, tamis_error *err)
{
    const double beta = tmi_number_up(c->beta);
    double ends[DEPTH + 1], first = 1;
    int depth = 0;
    tmi_ball r;
    tmi_ball_init(&r);
    tmi_ball_set_double(&r, fmin(beta, 700));
    tmi_ball_exp(&r, &r, 64);
    ends[0] = tmi_ball_bound(&r).upper;
    tmi_ball_clear(&r);
    for (int k = 0; k < INTERVALS && beta <= 700; k++) {
        double most;
        tamis_status status = narrower_first(&most, c, first, ends[depth], err);
        if (status != TAMIS_OK) return status;
        if (most <= delta) {
            if (depth == 0) return TAMIS_OK;
            first = ends[depth--];
        } else {
            if (depth == DEPTH) break;
            ends[depth + 1] = first + (ends[depth] - first) / 2;
            depth++;
        }
    }
    return tmi_fail(err, TAMIS_UNABLE, "beta: too large for this eps to find the worst pair of laws; choose a smaller beta");
}

tamis_status tamis_smooth_laplace_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *alpha,
                                        const tamis_number *beta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound = {0, 0};
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!alpha) return tmi_fail(err, TAMIS_INVALID, "alpha: NULL");
    if (!beta) return tmi_fail(err, TAMIS_INVALID, "beta: NULL");
    if (tmi_number_sign(alpha) <= 0) return tmi_fail(err, TAMIS_INVALID, "alpha: must be positive");
    if (tmi_number_compare(alpha, eps) > 0) return tmi_fail(err, TAMIS_INVALID, "alpha: must not be above eps");
    if (tmi_number_sign(beta) < 0) return tmi_fail(err, TAMIS_INVALID, "beta: must not be negative");
    const noise c = {eps, alpha, beta};
    if (tmi_number_sign(beta) > 0) {
        TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, wider_first, &c, err));
        bound = (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)};
        TMI_TRY(other_order_is_less(&c, bound.upper, err));
    }
    *delta = bound;
done:
    return status;
}

/* ---- choosing ---- */

/* wider_first in doubles, to look for a beta; what is found is certified. */
static double about(double eps, double alpha, double beta)
{
    const double q = exp(-beta), w = expm1(beta);
    return -expm1(-beta) / 2 * (exp(-(alpha * q + (eps + beta + alpha * q) / w)) + exp((alpha - eps - beta) / w));
}

static double about_beta(double eps, double delta, double alpha)
{
    double low = 0, high = 1;
    while (about(eps, alpha, high) < delta && high < 512) high *= 2;
    for (int k = 0; k < 2000 && high - low > 1e-15 * high; k++) {
        const double middle = low + (high - low) / 2;
        if (about(eps, alpha, middle) < delta) low = middle;
        else high = middle;
    }
    return low;
}

static tamis_status check(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    if (!choice) return tmi_fail(err, TAMIS_INVALID, "choice: NULL");
    *choice = (tamis_smooth_choice){.delta = {0, 1}};
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(eps) <= 0 || tmi_number_down(eps) < 1e-300 || !isfinite(tmi_number_up(eps)))
        return tmi_fail(err, TAMIS_INVALID, "eps: must be positive, and a number that a double can be near");
    if (tmi_number_sign(delta) <= 0 || tmi_number_compare_int(delta, 1) >= 0 || tmi_number_down(delta) < 1e-300)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 1e-300 and 1");
    return TAMIS_OK;
}

/* choice->delta of its alpha and beta. */
static tamis_status settle(tamis_smooth_choice *choice, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *alpha = NULL, *beta = NULL;
    TMI_TRY(tmi_number_double(&alpha, choice->alpha, err));
    TMI_TRY(tmi_number_double(&beta, choice->beta, err));
    TMI_TRY(tamis_smooth_laplace_delta(&choice->delta, eps, alpha, beta, err));
done:
    tmi_number_frees(&alpha, &beta, NULL);
    if (status != TAMIS_OK) *choice = (tamis_smooth_choice){.delta = {0, 1}};
    return status;
}

tamis_status tamis_smooth_beta(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta, double alpha,
                               tamis_error *err)
{
    tamis_status status = check(choice, eps, delta, err);
    if (status != TAMIS_OK) return status;
    if (!(alpha > 0) || !(alpha <= tmi_number_down(eps)))
        return tmi_fail(err, TAMIS_INVALID, "alpha: must be positive and at most eps");
    const double found = about_beta(tmi_number_down(eps), tmi_number_down(delta), alpha), target = tmi_number_down(delta);
    for (double less = 1e-14; less < 1e-11; less *= 4) { /* the doubles of the search are good to some 1e-14 */
        choice->alpha = alpha;
        choice->beta = found * (1 - less);
        status = settle(choice, eps, err);
        if (status != TAMIS_OK || choice->delta.upper <= target) return status;
    }
    *choice = (tamis_smooth_choice){.delta = {0, 1}};
    return tmi_fail(err, TAMIS_UNABLE, "delta: no beta was found that certainly meets it");
}

tamis_status tamis_smooth_published(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta,
                                    tamis_error *err)
{
    tamis_status status = check(choice, eps, delta, err);
    if (status != TAMIS_OK) return status;
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_number(&y, delta, 128);
    tmi_ball_set_int(&x, 2);
    tmi_ball_div(&y, &x, &y, 128);
    tmi_ball_log(&y, &y, 128);
    tmi_ball_mul_int(&y, &y, 2, 128);
    tmi_ball_set_number(&x, eps, 128);
    tmi_ball_div(&x, &x, &y, 128);
    choice->alpha = tmi_number_down(eps) / 2;
    choice->beta = tmi_ball_bound(&x).lower;
    tmi_ball_clears(&x, &y, NULL);
    return settle(choice, eps, err);
}

/* In gaps between values that lie evenly: the largest (k + 1) e^(-beta k), which is at k = 1/beta - 1 or beside it. */
static double even_sensitivity(double beta)
{
    double k = floor(fmax(1 / beta - 1, 0)), other = k + 1;
    return fmax((k + 1) * exp(-beta * k), (other + 1) * exp(-beta * other));
}

#define ALPHAS 40

tamis_status tamis_smooth_choose(tamis_smooth_choice *choice, const tamis_number *eps, const tamis_number *delta,
                                 const double *values, size_t n, int64_t rank, double lo, double hi, tamis_error *err)
{
    tamis_status status = check(choice, eps, delta, err);
    double best = INFINITY, best_alpha = 0;
    if (status != TAMIS_OK) return status;
    const double e = tmi_number_down(eps), d = tmi_number_down(delta);
    for (int k = 1; k < ALPHAS; k++) {
        const double alpha = e * k / ALPHAS, beta = about_beta(e, d, alpha);
        double s;
        if (!(beta > 0)) continue;
        if (!values) s = even_sensitivity(beta);
        else if ((status = tamis_smooth_sensitivity_up(&s, values, n, rank, lo, hi, beta, err)) != TAMIS_OK) return status;
        if (s / alpha >= best) continue;
        best = s / alpha;
        best_alpha = alpha;
    }
    return best_alpha > 0 ? tamis_smooth_beta(choice, eps, delta, best_alpha, err)
                          : tmi_fail(err, TAMIS_UNABLE, "eps: no choice is possible in doubles");
}
