#include "composition/gaussian_sets.h"

#include <math.h>

#include "base/memory.h"
#include "num/law/laws.h"

/* Bits of what is stored, and the standard deviations within which the law is stored: farther out is asked seldom. */
#define BITS 288
#define REACH 20
#define MOST_SETS (1 << 17)

/* Masses are multiplied up from one that was computed afresh, this many in a row. */
#define AFRESH 64

typedef struct sets {
    const tmi_loss *loss;
    int64_t last;      /* k runs from -last to last */
    tmi_ball *at_most; /* P(X <= k), index k + last */
} sets;

static void close_sets(void *self)
{
    sets *s = self;
    for (int64_t i = 0; s->at_most && i <= 2 * s->last; i++) tmi_ball_clear(&s->at_most[i]);
    tmi_free(s->at_most);
    tmi_free(s);
}

/* mass[k] = e^(-k^2/2v) for 0 <= k <= last: mass[k+1] = mass[k] q^(2k+1), q = e^(-1/2v) */
static void masses(tmi_ball *mass, int64_t last, const tamis_number *variance)
{
    tmi_ball rate, ratio, square, x;
    tmi_ball_inits(&rate, &ratio, &square, &x, NULL);
    tmi_ball_set_number(&x, variance, BITS);
    tmi_ball_set_int(&rate, -1);
    tmi_ball_div(&rate, &rate, &x, BITS);
    tmi_ball_exp(&square, &rate, BITS); /* q^2 */
    tmi_ball_shift(&rate, &rate, -1);   /* log q */
    for (int64_t k = 0; k <= last; k++) {
        if (k % AFRESH == 0) {
            tmi_ball_mul_int(&x, &rate, k * k, BITS);
            tmi_ball_exp(&mass[k], &x, BITS);
            tmi_ball_mul_int(&x, &rate, 2 * k + 1, BITS);
            tmi_ball_exp(&ratio, &x, BITS);
        } else {
            tmi_ball_mul(&mass[k], &mass[k - 1], &ratio, BITS);
            tmi_ball_mul(&ratio, &ratio, &square, BITS);
        }
    }
    tmi_ball_clears(&rate, &ratio, &square, &x, NULL);
}

static void fill(sets *s)
{
    tmi_ball total, x;
    tmi_ball *middle = &s->at_most[s->last];
    tmi_ball_inits(&total, &x, NULL);
    tmi_discrete_gaussian_total(&total, s->loss->a, BITS);
    tmi_discrete_gaussian_part(&x, s->loss->a, TMI_AT_MOST, -s->last - 1, BITS);
    masses(middle, s->last, s->loss->a);
    for (int64_t k = 1; k <= s->last; k++) tmi_ball_set(&middle[-k], &middle[k]);
    for (int64_t i = 0; i <= 2 * s->last; i++) { /* x = P(X <= k) */
        tmi_ball_div(&s->at_most[i], &s->at_most[i], &total, BITS);
        tmi_ball_add(&x, &x, &s->at_most[i], BITS);
        tmi_ball_set(&s->at_most[i], &x);
    }
    tmi_ball_clears(&total, &x, NULL);
}

static void at_most(tmi_ball *z, const sets *s, int64_t k, long bits)
{
    if (-s->last <= k && k <= s->last) tmi_ball_set(z, &s->at_most[k + s->last]);
    else tmi_discrete_gaussian_part(z, s->loss->a, TMI_AT_MOST, k, bits);
}

/* P(X <= k) - e^eps P(X <= k - D) */
static void set_difference(tmi_ball *z, const void *self, int64_t k, const tmi_ball *eps, long bits)
{
    const sets *s = self;
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    at_most(&x, s, k - s->loss->step, bits);
    tmi_ball_exp(&y, eps, bits);
    tmi_ball_mul(&y, &y, &x, bits);
    at_most(&x, s, k, bits);
    tmi_ball_sub(z, &x, &y, bits);
    tmi_ball_clears(&x, &y, NULL);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    const sets *s = self;
    (void)err;
    tmi_loss_best_set(lower, s->loss, eps, set_difference, s, bits);
    tmi_ball_set(upper, lower);
    return TAMIS_OK;
}

tamis_status tmi_gaussian_sets_open(tmi_evaluator *evaluator, tmi_loss *loss, tamis_error *err)
{
    double last = ceil(REACH * sqrt(tmi_number_nearest(loss->a))) + 1;
    if (!(2 * last + 1 <= MOST_SETS)) return tmi_fail(err, TAMIS_UNABLE, "a distribution with too many points to store");
    sets *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->loss = loss;
    s->last = (int64_t)last;
    if (!(s->at_most = tmi_alloc(2 * (size_t)s->last + 1, sizeof *s->at_most))) { /* zeroed balls are balls */
        close_sets(s);
        return tmi_fail_memory(err);
    }
    fill(s);
    *evaluator = (tmi_evaluator){.delta = delta, .free = close_sets, .self = s, .exact = true, .width = TAMIS_WIDTH};
    return TAMIS_OK;
}
