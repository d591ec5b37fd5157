/* What an outsider loses where the whole profile of the sample's loss is known, not one epsilon and delta.
 *
 * Let delta_s be the profile of the answers for two samples that are s steps apart. In the words of mixture.h, with the record's
 * own change at s_0 steps and the k-th absence at s_k,
 *
 *     P - G P' = w_0 (a - t_0 a' - sum t_k c_k),    t_0 = G,  t_k = (G - 1) w_k / w_0.
 *
 * Divide a between the terms that are subtracted, in shares l_0 + sum l_k = 1: a positive part of a sum is at most the sum of the
 * positive parts, so that for all shares l >= 0
 *
 *     delta at log G  <=  w_0 (l_0 delta_(s_0)(log t_0/l_0) + sum l_k delta_(s_k)(log t_k/l_k)).
 *
 * An absence that cannot be coupled, or that is too far, gets no share: c_k >= 0. Absences at equally many steps are one, as is
 * the change if it is at as many: a share divided as the t are is best, and delta_s is then that of the sum of the t. The other
 * order of P and P' has the same bound, as the profiles cover both orders.
 *
 * Pure epsilons whose sum is e, and after them a loss that is mu-Gaussian or rho-concentrated, over s steps: the ratio of
 * probabilities of the first part is at most e^(s e), the second is (s mu)-Gaussian (Dong, Roth and Su 2022, Theorem 2.14) or
 * (s^2 rho)-concentrated (Bun and Steinke 2016, Proposition 1.9), also if it was chosen after seeing the first. So
 * delta_s(x) is at most the delta of the second part at x - s e.
 *
 * The derivative of l delta(log t/l) by l is the probability that the loss exceeds log t/l. So the best shares have the same
 * probability in all terms: for normal noise Phi(z) with
 *
 *     l_k = t_k e^(- s_k e - (s_k mu)^2/2 + z s_k mu),
 *
 * and z follows from the sum of the shares. That is the test of Neyman and Pearson for noise that is shifted to one side: the
 * bound is then exact. For rho these shares are near the best. They are found in doubles, as any shares are valid: all but the
 * largest, which is what is left of 1, as are all numbers that follow, in balls.                                              */
#include <float.h>
#include <math.h>

#include "amplification/exposed.h"
#include "base/memory.h"
#include "composition/profile.h"
#include "num/number.h"

/* Farther absences get no share. */
#define MOST_STEPS 1000000

#define WIDTH 1e-8 /* of delta: probabilities are known to 1e-12, and the tails of normal laws magnify that */

typedef struct term {
    int64_t steps;
    tamis_bound absent; /* the sum of the w_k */
    tmi_loss *loss;     /* over these steps, but for the pure epsilons */
    double pure, mu;    /* over these steps, about */
    double share;
} term;

typedef struct split {
    tamis_bound inclusion;
    tamis_number *pure;
    term terms[1 + TAMIS_MAX_ABSENCES]; /* the first has the record's own change */
    size_t count;
} split;

static void free_split(void *self)
{
    split *p = self;
    for (size_t i = 0; i < p->count; i++) tmi_loss_free(p->terms[i].loss);
    tamis_number_free(p->pure);
    tmi_free(p);
}

/* ---- shares ---- */

static double middle(tamis_bound x) { return x.lower + (x.upper - x.lower) / 2; }

/* log t of a term at log G = x */
static double log_t(const split *p, size_t i, double x)
{
    const double others = middle(p->terms[i].absent) / middle(p->inclusion);
    return i == 0 ? x + log1p(-expm1(-x) * others) : x + log(-expm1(-x)) + log(others);
}

static double log_share(const term *t, double log_t, double z) { return log_t - t->pure - t->mu * t->mu / 2 + z * t->mu; }

static void find_shares(double *shares, const split *p, double x)
{
    double logs[1 + TAMIS_MAX_ABSENCES], low = INFINITY, high = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        const term *t = &p->terms[i];
        logs[i] = log_t(p, i, x);
        const double alone = (t->pure - logs[i]) / t->mu + t->mu / 2;
        if (!isfinite(logs[i])) continue; /* x = 0: nothing to subtract */
        high = fmin(high, alone);
        low = fmin(low, alone - log((double)p->count) / t->mu);
    }
    for (int k = 0; k < 100; k++) {
        const double z = low / 2 + high / 2;
        double sum = 0;
        for (size_t i = 0; i < p->count; i++) sum += exp(log_share(&p->terms[i], logs[i], z));
        if (sum < 1) low = z;
        else high = z;
    }
    for (size_t i = 0; i < p->count; i++) shares[i] = exp(log_share(&p->terms[i], logs[i], low));
}

/* ---- delta ---- */

/* t of a term, in balls. */
static void set_t(tmi_ball *t, const split *p, size_t i, const tmi_ball *x, long bits)
{
    tmi_ball w;
    tmi_ball_init(&w);
    tmi_ball_expm1(t, x, bits);
    tmi_ball_set_bound(&w, p->terms[i].absent, bits);
    tmi_ball_mul(t, t, &w, bits);
    tmi_ball_set_bound(&w, p->inclusion, bits);
    tmi_ball_div(t, t, &w, bits);
    tmi_ball_exp(&w, x, bits);
    if (i == 0) tmi_ball_add(t, t, &w, bits);
    tmi_ball_clear(&w);
}

/* l delta_s(log t/l). The formula of normal noise holds at every argument, what is known of a rho only above 0. */
static void add_term(tmi_ball *lower, tmi_ball *upper, const split *p, size_t i, const tmi_ball *share, const tmi_ball *x,
                     long bits)
{
    const term *t = &p->terms[i];
    tmi_ball at, y, below, above;
    tmi_ball_inits(&at, &y, &below, &above, NULL);
    set_t(&at, p, i, x, bits);
    tmi_ball_div(&at, &at, share, bits);
    tmi_ball_log(&at, &at, bits);
    tmi_ball_set_number(&y, p->pure, bits);
    tmi_ball_mul_int(&y, &y, t->steps, bits);
    tmi_ball_sub(&at, &at, &y, bits);
    tmi_loss_delta(&below, &above, t->loss, &at, bits);
    if (t->loss->kind == TMI_LOSS_ZCDP && !tmi_ball_is_positive(&at)) tmi_ball_set_int(&above, 1);
    tmi_ball_mul(&below, &below, share, bits);
    tmi_ball_mul(&above, &above, share, bits);
    tmi_ball_add(lower, lower, &below, bits);
    tmi_ball_add(upper, upper, &above, bits);
    tmi_ball_clears(&at, &y, &below, &above, NULL);
}

static tamis_status split_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    const split *p = self;
    double shares[1 + TAMIS_MAX_ABSENCES];
    size_t largest = 0;
    tmi_ball rest, share;
    (void)err;
    find_shares(shares, p, middle(tmi_ball_bound(eps)));
    for (size_t i = 0; i < p->count; i++)
        if (shares[i] > shares[largest]) largest = i;
    tmi_ball_inits(&rest, &share, NULL);
    tmi_ball_set_int(&rest, 1);
    tmi_ball_set_int(lower, 0);
    tmi_ball_set_int(upper, 0);
    for (size_t i = 0; i < p->count; i++) {
        if (i == largest || !(shares[i] > 0)) continue;
        tmi_ball_set_double(&share, shares[i]);
        add_term(lower, upper, p, i, &share, eps, bits);
        tmi_ball_sub(&rest, &rest, &share, bits);
    }
    add_term(lower, upper, p, largest, &rest, eps, bits);
    tmi_ball_set_bound(&share, p->inclusion, bits);
    tmi_ball_mul(lower, lower, &share, bits);
    tmi_ball_mul(upper, upper, &share, bits);
    tmi_ball_clears(&rest, &share, NULL);
    return TAMIS_OK;
}

/* ---- the profile ---- */

static tamis_status open_split(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    const split *p = self;
    (void)err;
    *evaluator = (tmi_evaluator){.delta = split_delta,
                                 .self = (void *)(uintptr_t)self,
                                 .exact = tmi_loss_is_exact(p->terms[0].loss),
                                 .width = WIDTH};
    return TAMIS_OK;
}

/* What is known of the loss, over this many steps. */
static tamis_status set_loss(term *t, const tamis_sample_promise *promise, tamis_error *err)
{
    const tamis_number *once = promise->mu_squared ? promise->mu_squared : promise->rho;
    tamis_number *s = NULL, *square = NULL, *all = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&s, t->steps, 1, err));
    TMI_TRY(tmi_number_mul(&square, s, s, err));
    TMI_TRY(tmi_number_mul(&all, square, once, err));
    TMI_TRY(tmi_loss_new(&t->loss, promise->mu_squared ? TMI_LOSS_GAUSSIAN : TMI_LOSS_ZCDP, all, NULL, 0, err));
    t->pure = (double)t->steps * tmi_number_nearest(promise->pure);
    t->mu = sqrt(tmi_number_nearest(all) * (promise->mu_squared ? 1 : 2));

done:
    tmi_number_frees(&s, &square, &all, NULL);
    return status;
}

static tamis_bound sum(tamis_bound x, tamis_bound y)
{
    return (tamis_bound){fmax(0, nextafter(x.lower + y.lower, 0)), nextafter(x.upper + y.upper, 2)};
}

static tamis_status make(split **made, const tamis_exposure *e, const tamis_sample_promise *promise, tamis_error *err)
{
    tamis_status status;
    split *p = tmi_alloc(1, sizeof *p);
    *made = NULL;
    if (!p) return tmi_fail_memory(err);
    p->inclusion = e->inclusion;
    p->terms[p->count++].steps = tmi_steps_of_change(e, promise);
    for (size_t k = 0; k < e->absence_count; k++) {
        const int64_t steps = tmi_steps_of_absence(&e->absences[k], promise);
        size_t i = 0;
        if (steps < 1 || steps > MOST_STEPS || !(e->absences[k].probability.lower > 0)) continue;
        while (i < p->count && p->terms[i].steps != steps) i++;
        if (i == p->count) p->terms[p->count++].steps = steps;
        p->terms[i].absent = sum(p->terms[i].absent, e->absences[k].probability);
    }
    for (size_t i = 0; i < p->count; i++) TMI_TRY(set_loss(&p->terms[i], promise, err));
    TMI_TRY(tmi_number_copy(&p->pure, promise->pure, err));
    *made = p;
    p = NULL;

done:
    if (p) free_split(p);
    return status;
}

tamis_status tmi_split_epsilon(tamis_bound *eps, const tamis_exposure *e, const tamis_sample_promise *promise,
                               const tamis_number *delta, tamis_error *err)
{
    static const tmi_curve curve = {open_split, free_split};
    split *p = NULL;
    tmi_loss *loss = NULL;
    tamis_profile *profile = NULL;
    tamis_status status;
    TMI_TRY(make(&p, e, promise, err));
    TMI_TRY(tmi_loss_take_curve(&loss, &curve, p, err));
    TMI_TRY(tmi_profile_take(&profile, loss, err));
    TMI_TRY(tamis_profile_epsilon(eps, profile, delta, err));

done:
    tamis_profile_free(profile);
    return status;
}
