/* Strata that one record may change. */
#include <math.h>
#include <tamis/experimental/amplification.h>

#include "amplification/exposed.h"
#include "amplification/mixture.h"
#include "base/integer.h"
#include "num/bound.h"
#include "num/number.h"

/* ---- a record moves ---- */

/* The record leaves a stratum of which the share p/q is drawn, and arrives in one of which r/s is drawn. Leaving loses
 * A = log(1 + p/q (e^eps - 1)) and delta p/q, arriving B = -log(1 - r/s (1 - e^-eps)) and delta e^(B-eps) r/s; together
 * A + B, and delta p/q + e^A delta e^(B-eps) r/s. */
typedef struct journey {
    int64_t p, q, r, s;
    const tamis_number *eps, *delta;
} journey;

static void share(tmi_ball *z, int64_t p, int64_t q, long bits)
{
    tmi_ball_set_int(z, p);
    tmi_ball_div_int(z, z, q, bits);
}

static tamis_status journey_eps(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const journey *j = context;
    tmi_ball f, eps;
    (void)err;
    tmi_ball_inits(&f, &eps, NULL);
    tmi_ball_set_number(&eps, j->eps, bits);
    share(&f, j->p, j->q, bits);
    tmi_amplified_loss(value, &f, &eps, bits);
    share(&f, j->r, j->s, bits);
    tmi_ball_neg(&eps, &eps);
    tmi_ball_expm1(&eps, &eps, bits);
    tmi_ball_mul(&f, &f, &eps, bits);
    tmi_ball_log1p(&f, &f, bits);
    tmi_ball_sub(value, value, &f, bits);
    tmi_ball_clears(&f, &eps, NULL);
    return TAMIS_OK;
}

static tamis_status journey_delta(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const journey *j = context;
    tmi_ball x, f;
    tmi_ball_inits(&x, &f, NULL);
    tamis_status status = journey_eps(value, context, bits, err);
    tmi_ball_set_number(&x, j->eps, bits);
    tmi_ball_sub(value, value, &x, bits);
    tmi_ball_exp(value, value, bits);
    share(&f, j->r, j->s, bits);
    tmi_ball_mul(value, value, &f, bits);
    share(&f, j->p, j->q, bits);
    tmi_ball_add(value, value, &f, bits);
    tmi_ball_set_number(&x, j->delta, bits);
    tmi_ball_mul(value, value, &x, bits);
    tmi_ball_clears(&x, &f, NULL);
    return status;
}

/* The strata with the largest and second largest n/(N + more). */
static void two_largest(size_t best[2], const int64_t *N, const int64_t *n, size_t count, int64_t more)
{
    best[0] = best[1] = SIZE_MAX;
    for (size_t h = 0; h < count; h++)
        for (int i = 0; i < 2; i++) {
            size_t b = best[i];
            if (b != SIZE_MAX && (tmi_int128)n[h] * (N[b] + more) <= (tmi_int128)n[b] * (N[h] + more)) continue;
            if (i == 0) best[1] = best[0];
            best[i] = h;
            break;
        }
}

static tamis_status try_journey(tamis_bound *eps_pop, tamis_bound *delta_pop, const journey *j, tamis_error *err)
{
    tamis_bound eps, delta;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_certify(&eps, TAMIS_WIDTH, journey_eps, j, err));
    TMI_TRY(tmi_certify(&delta, TAMIS_WIDTH, journey_delta, j, err));
    *eps_pop = (tamis_bound){fmax(eps_pop->lower, eps.lower), fmax(eps_pop->upper, eps.upper)};
    *delta_pop = (tamis_bound){fmin(1, fmax(delta_pop->lower, delta.lower)), fmin(1, fmax(delta_pop->upper, delta.upper))};
done:
    return status;
}

static tamis_status check_strata(const int64_t *N, const int64_t *n, size_t count, tamis_error *err)
{
    if (!N) return tmi_fail(err, TAMIS_INVALID, "populations: NULL");
    if (!n) return tmi_fail(err, TAMIS_INVALID, "samples: NULL");
    if (count < 1) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    for (size_t h = 0; h < count; h++) {
        if (N[h] < 1 || N[h] > TAMIS_MAX_UNITS)
            return tmi_fail(err, TAMIS_INVALID, "populations: number %zu must be between 1 and 2^40", h);
        if (n[h] < 1 || n[h] > N[h])
            return tmi_fail(err, TAMIS_INVALID, "samples: number %zu must be between 1 and its population", h);
    }
    for (size_t h = 0; h < count; h++)
        if (n[h] == N[h])
            return tmi_fail(err, TAMIS_REFUSED,
                            "stratum %zu is a take-all stratum: when a record leaves it, its sample shrinks, which reveals the "
                            "record; make the strata public",
                            h);
    return TAMIS_OK;
}

tamis_status tamis_amplify_moves(tamis_bound *eps_pop, tamis_bound *delta_pop, const int64_t *populations, const int64_t *samples,
                                 size_t count, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    const int64_t *N = populations, *n = samples;
    tamis_bound worst_eps = {0, 0}, worst_delta = {0, 0};
    size_t from[2], to[2];
    tamis_status status = TAMIS_OK;
    if (eps_pop) *eps_pop = (tamis_bound){0, INFINITY};
    if (delta_pop) *delta_pop = (tamis_bound){0, 1};
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    if (!delta_pop) return tmi_fail(err, TAMIS_INVALID, "delta_pop: NULL");
    TMI_TRY(tmi_check_eps_delta(eps, delta, err));
    TMI_TRY(check_strata(N, n, count, err));
    two_largest(from, N, n, count, 0);
    two_largest(to, N, n, count, 1);
    /* Within a stratum: described as a move to nowhere, where nothing is drawn. */
    TMI_TRY(try_journey(&worst_eps, &worst_delta, &(journey){n[from[0]], N[from[0]], 0, 1, eps, delta}, err));
    /* Both losses grow with the share: the worst pair has the largest shares of two different strata. */
    for (int i = 0; i < 4; i++) {
        size_t h = from[i & 1], k = to[i >> 1];
        if (h == SIZE_MAX || k == SIZE_MAX || h == k) continue;
        TMI_TRY(try_journey(&worst_eps, &worst_delta, &(journey){n[h], N[h], n[k], N[k] + 1, eps, delta}, err));
        TMI_TRY(try_journey(&worst_eps, &worst_delta, &(journey){n[k], N[k] + 1, n[h], N[h], eps, delta}, err));
    }
    *eps_pop = worst_eps;
    *delta_pop = worst_delta;
done:
    return status;
}

/* ---- a proportional allocation ---- */

typedef struct allocation {
    const tamis_number *rate, *eps;
    int64_t smallest;
} allocation;

static tamis_status rounded_at_random(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const allocation *a = context;
    tmi_ball rate, eps, x;
    (void)err;
    tmi_ball_inits(&rate, &eps, &x, NULL);
    tmi_ball_set_number(&rate, a->rate, bits);
    tmi_ball_set_number(&eps, a->eps, bits);
    tmi_amplified_loss(value, &rate, &eps, bits);
    share(&x, 1, a->smallest + 1, bits);
    tmi_ball_add(&rate, &rate, &x, bits);
    tmi_ball_set_int(&x, 1);
    tmi_ball_min(&rate, &rate, &x, bits);
    tmi_ball_shift(&eps, &eps, 1);
    tmi_amplified_loss(&x, &rate, &eps, bits);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_clears(&rate, &eps, &x, NULL);
    return TAMIS_OK;
}

tamis_status tamis_amplify_proportional(tamis_bound *eps_pop, const tamis_number *rate, int64_t smallest, tamis_rounding rounding,
                                        const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound;
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    *eps_pop = (tamis_bound){0, INFINITY};
    if (!rate) return tmi_fail(err, TAMIS_INVALID, "rate: NULL");
    if (tmi_number_sign(rate) <= 0 || tmi_number_compare_int(rate, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1");
    if (smallest < 1 || smallest > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "smallest: must be between 1 and 2^40");
    TMI_TRY(tmi_check_eps_delta(eps, rate, err)); /* the rate is a share, as delta would be */
    if (rounding == TAMIS_ROUND_TO_NEAREST)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "rounding: with a fixed rule, one more record can change the sample size, which reveals the record, and "
            "in other strata the loss can exceed epsilon; publish the allocation, or round at random, or draw each record "
            "independently (bernoulli)");
    if (rounding != TAMIS_ROUND_AT_RANDOM) return tmi_fail(err, TAMIS_INVALID, "rounding: must be nearest or random");
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, rounded_at_random, &(allocation){rate, eps, smallest}, err));
    *eps_pop = bound;
done:
    return status;
}
