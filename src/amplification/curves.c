/* The amplified profile: that of a person who may have been sampled. */
#include "amplification/curves.h"

#include <math.h>

#include "amplification/srs.h"
#include "base/memory.h"
#include "num/bound.h"

typedef struct amplified {
    tamis_profile *sampled;
    tamis_number *rate, *odds; /* odds = (1 - rate)/rate */
} amplified;

typedef struct amplified_evaluator {
    const amplified *amplified;
    tmi_evaluator *sampled;
} amplified_evaluator;

static void free_amplified(void *self)
{
    amplified *a = self;
    tamis_profile_free(a->sampled);
    tmi_number_frees(&a->rate, &a->odds, NULL);
    tmi_free(a);
}

/* rate times delta of the sample at log(1 + (e^eps - 1)/rate) */
static tamis_status amplified_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits,
                                    tamis_error *err)
{
    amplified_evaluator *r = self;
    tmi_ball x, at;
    tmi_ball_inits(&x, &at, NULL);
    tmi_ball_set_number(&x, r->amplified->odds, bits);
    tmi_srs_headroom(&at, &x, eps, bits);
    tmi_ball_add(&at, &at, eps, bits);
    tamis_status status = r->sampled->delta(lower, upper, r->sampled->self, &at, bits, err);
    if (status == TAMIS_OK) {
        tmi_ball_set_number(&x, r->amplified->rate, bits);
        tmi_ball_mul(lower, lower, &x, bits);
        tmi_ball_mul(upper, upper, &x, bits);
    }
    tmi_ball_clears(&x, &at, NULL);
    return status;
}

static double amplified_guess(const void *self, double delta)
{
    const amplified_evaluator *r = self;
    double rate = tmi_number_nearest(r->amplified->rate);
    if (!r->sampled->guess) return NAN;
    return log1p(rate * expm1(r->sampled->guess(r->sampled->self, delta / rate)));
}

static void close_amplified(void *self)
{
    amplified_evaluator *r = self;
    tmi_evaluator_return(r->sampled, r->amplified->sampled);
    tmi_free(r);
}

static tamis_status open_amplified(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    amplified_evaluator *r = tmi_alloc(1, sizeof *r);
    if (!r) return tmi_fail_memory(err);
    r->amplified = self;
    tamis_status status = tmi_evaluator_borrow(&r->sampled, r->amplified->sampled, err);
    if (status != TAMIS_OK) {
        tmi_free(r);
        return status;
    }
    *evaluator = (tmi_evaluator){.delta = amplified_delta,
                                 .guess = amplified_guess,
                                 .free = close_amplified,
                                 .self = r,
                                 .exact = r->sampled->exact,
                                 .width = r->sampled->width};
    return TAMIS_OK;
}

tamis_status tmi_profile_amplify(tamis_profile **profile, const tamis_profile *sampled, const tamis_number *rate,
                                 tamis_error *err)
{
    static const tmi_curve curve = {open_amplified, free_amplified};
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *rest = NULL;
    tmi_loss *loss = NULL;
    amplified *a = tmi_alloc(1, sizeof *a);
    if (!a) return tmi_fail_memory(err);
    a->sampled = tmi_profile_share(sampled);
    TMI_TRY(tmi_number_copy(&a->rate, rate, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&rest, one, rate, err));
    TMI_TRY(tmi_number_div(&a->odds, rest, rate, err));
    status = tmi_loss_take_curve(&loss, &curve, a, err);
    a = NULL;
    if (status == TAMIS_OK) status = tmi_profile_take(profile, loss, err);
done:
    if (a) free_amplified(a);
    tmi_number_frees(&one, &rest, NULL);
    return status;
}
