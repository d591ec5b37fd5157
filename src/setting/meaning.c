/* The numbers of <tamis/experimental/meaning.h>, in balls. */
#include "setting/meaning.h"

#include <math.h>

#include "num/ball.h"
#include "num/bound.h"
#include "num/number.h"

/* What delta costs: the odds may be this much more, but for outputs of probability 11 delta: 1.1 / (1.1 - 1) = 11. */
#define SLACK_NUMERATOR 11
#define SLACK_DENOMINATOR 10
#define EXCEPT 11

/* From here on e^eps times one percent is above 1 anyway, and e^eps of a silly eps would fill the memory. */
#define LARGE 50

static const struct {
    int64_t p, q;
} priors[TAMIS_PRIORS] = {{1, 100}, {1, 10}, {1, 2}}, alarms[TAMIS_ALARMS] = {{1, 100}, {1, 20}};

typedef struct question {
    const tamis_number *eps, *delta, *at; /* at: a prior or a rate of false alarms */
} question;

static bool has_slack(const question *q) { return q->delta && tmi_number_sign(q->delta) > 0; }

static tamis_status odds(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    (void)err;
    tmi_ball_set_number(z, q->eps, bits);
    tmi_ball_exp(z, z, bits);
    if (!has_slack(q)) return TAMIS_OK;
    tmi_ball_mul_int(z, z, SLACK_NUMERATOR, bits);
    tmi_ball_div_int(z, z, SLACK_DENOMINATOR, bits);
    return TAMIS_OK;
}

/* p / (p + (1 - p) e^-eps / slack): nothing overflows, nothing cancels. */
static tamis_status posterior(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    tmi_ball p, rest;
    (void)err;
    tmi_ball_inits(&p, &rest, NULL);
    tmi_ball_set_number(&p, q->at, bits);
    tmi_ball_neg(&rest, &p);
    tmi_ball_add_int(&rest, &rest, 1, bits);
    tmi_ball_set_number(z, q->eps, bits);
    tmi_ball_neg(z, z);
    tmi_ball_exp(z, z, bits);
    tmi_ball_mul(&rest, &rest, z, bits);
    if (has_slack(q)) {
        tmi_ball_mul_int(&rest, &rest, SLACK_DENOMINATOR, bits);
        tmi_ball_div_int(&rest, &rest, SLACK_NUMERATOR, bits);
    }
    tmi_ball_add(&rest, &rest, &p, bits);
    tmi_ball_div(z, &p, &rest, bits);
    tmi_ball_clears(&p, &rest, NULL);
    return TAMIS_OK;
}

/* 1 - e^-eps (1 - a - delta) */
static tamis_status found_above(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, q->at, bits);
    tmi_ball_set_number(z, q->delta, bits);
    tmi_ball_add(&x, &x, z, bits);
    tmi_ball_add_int(&x, &x, -1, bits);
    tmi_ball_set_number(z, q->eps, bits);
    tmi_ball_neg(z, z);
    tmi_ball_exp(z, z, bits);
    tmi_ball_mul(z, z, &x, bits);
    tmi_ball_add_int(z, z, 1, bits);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

/* e^eps a + delta */
static tamis_status found_below(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    tmi_ball x;
    (void)err;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, q->eps, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_set_number(z, q->at, bits);
    tmi_ball_mul(&x, &x, z, bits);
    tmi_ball_set_number(z, q->delta, bits);
    tmi_ball_add(z, z, &x, bits);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

static tamis_bound within(tamis_bound b, double low, double high)
{
    return (tamis_bound){fmin(fmax(b.lower, low), high), fmin(fmax(b.upper, low), high)};
}

/* The least of two enclosed numbers. */
static tamis_bound least(tamis_bound x, tamis_bound y) { return (tamis_bound){fmin(x.lower, y.lower), fmin(x.upper, y.upper)}; }

static tamis_status found(tamis_bound *z, const question *q, tamis_error *err)
{
    tamis_bound below = {0, 1}, above = {0, 1};
    tamis_status status = TAMIS_OK;
    *z = (tamis_bound){0, 1};
    TMI_TRY(tmi_certify(&above, TAMIS_WIDTH, found_above, q, err));
    if (tmi_number_compare_int(q->eps, LARGE) < 0) TMI_TRY(tmi_certify(&below, TAMIS_WIDTH, found_below, q, err));
    else below = (tamis_bound){1, 1};
    *z = within(least(below, above), 0, 1);

done:
    return status;
}

#define UNKNOWN \
    ((tamis_meaning){.odds = {1, INFINITY}, .except = {0, 1}, .posterior = {{0, 1}, {0, 1}, {0, 1}}, .found = {{0, 1}, {0, 1}}})

static tamis_status check(const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(delta) < 0 || tmi_number_compare_int(delta, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    return TAMIS_OK;
}

/* 11 delta, at most 1. */
static tamis_status exception(tamis_bound *z, const tamis_number *delta, tamis_error *err)
{
    tamis_number *factor = NULL, *product = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&factor, EXCEPT, 1, err));
    TMI_TRY(tmi_number_mul(&product, delta, factor, err));
    *z = within(tmi_number_bound(product), 0, 1);

done:
    tmi_number_frees(&factor, &product, NULL);
    return status;
}

tamis_status tamis_meaning_of(tamis_meaning *meaning, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_meaning m = UNKNOWN;
    tamis_number *at = NULL;
    tamis_status status;
    if (!meaning) return tmi_fail(err, TAMIS_INVALID, "meaning: NULL");
    *meaning = m;
    TMI_TRY(check(eps, delta, err));
    question q = {eps, delta, NULL};
    if (tmi_number_compare_int(eps, TAMIS_MAX_LOSS) > 0) m.odds = (tamis_bound){1e300, INFINITY}; /* e^1000000 > 1e300 */
    else TMI_TRY(tmi_certify(&m.odds, TAMIS_WIDTH, odds, &q, err));
    m.odds = within(m.odds, 1, INFINITY);
    TMI_TRY(exception(&m.except, delta, err));
    for (size_t i = 0; i < TAMIS_PRIORS + TAMIS_ALARMS; i++) {
        bool is_prior = i < TAMIS_PRIORS;
        size_t j = is_prior ? i : i - TAMIS_PRIORS;
        tamis_number_free(at);
        at = NULL;
        TMI_TRY(is_prior ? tmi_number_ratio(&at, priors[j].p, priors[j].q, err)
                         : tmi_number_ratio(&at, alarms[j].p, alarms[j].q, err));
        q.at = at;
        if (is_prior) TMI_TRY(tmi_posterior(&m.posterior[j], at, eps, delta, err));
        else TMI_TRY(found(&m.found[j], &q, err));
    }
    *meaning = m;

done:
    tamis_number_free(at);
    return status;
}

tamis_status tmi_posterior(tamis_bound *z, const tamis_number *prior, const tamis_number *eps, const tamis_number *delta,
                           tamis_error *err)
{
    tamis_bound bound = {0, 0};
    tamis_status status = TAMIS_OK;
    if (tmi_number_sign(prior) > 0) status = tmi_certify(&bound, TAMIS_WIDTH, posterior, &(question){eps, delta, prior}, err);
    if (status == TAMIS_OK) *z = within(bound, 0, 1);
    return status;
}

tamis_status tamis_meaning_posterior(tamis_bound *z, const tamis_number *prior, const tamis_number *eps, tamis_error *err)
{
    if (!z) return tmi_fail(err, TAMIS_INVALID, "posterior: NULL");
    *z = (tamis_bound){0, 1};
    if (!prior) return tmi_fail(err, TAMIS_INVALID, "prior: NULL");
    if (tmi_number_sign(prior) < 0 || tmi_number_compare_int(prior, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "prior: must be between 0 and 1");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    return tmi_posterior(z, prior, eps, NULL, err);
}

/* ---- from a whole profile ---- */

#define POINTS 32 /* of the profile, up to twice its eps */

tamis_status tamis_meaning_of_profile(tamis_meaning *meaning, const tamis_profile *profile, const tamis_number *delta,
                                      tamis_error *err)
{
    tamis_number *eps = NULL, *point = NULL, *part = NULL, *delta_there = NULL, *at = NULL;
    tamis_bound bound;
    tamis_status status;
    if (!meaning) return tmi_fail(err, TAMIS_INVALID, "meaning: NULL");
    tamis_meaning m = *meaning = UNKNOWN;
    TMI_TRY(tamis_profile_epsilon(&bound, profile, delta, err));
    if (bound.upper > TAMIS_MAX_LOSS) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "eps: no finite epsilon at this delta"));
    TMI_TRY(tmi_number_double(&eps, bound.upper, err));
    TMI_TRY(tamis_meaning_of(&m, eps, delta, err));
    for (int64_t i = 0; i < POINTS; i++) {
        TMI_TRY(tmi_number_ratio(&part, i, POINTS / 2, err));
        TMI_TRY(tmi_number_mul(&point, eps, part, err));
        TMI_TRY(tamis_profile_delta(&bound, profile, point, err));
        TMI_TRY(tmi_number_double(&delta_there, fmin(bound.upper, 1), err));
        for (size_t j = 0; j < TAMIS_ALARMS; j++) {
            tamis_bound here;
            TMI_TRY(tmi_number_ratio(&at, alarms[j].p, alarms[j].q, err));
            TMI_TRY(found(&here, &(question){point, delta_there, at}, err));
            m.found[j] = (tamis_bound){0, fmin(m.found[j].upper, here.upper)}; /* an upper bound, no enclosure */
            tamis_number_free(at);
            at = NULL;
        }
        tmi_number_frees(&part, &point, &delta_there, NULL);
        part = point = delta_there = NULL;
    }
    *meaning = m;

done:
    tmi_number_frees(&eps, &part, &point, &delta_there, &at, NULL);
    return status;
}
