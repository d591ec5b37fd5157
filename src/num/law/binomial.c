/* C(n, k) p^k (1-p)^(n-k). The logarithms are of exact rationals and multiply integers, so nothing cancels. Tails are summed
 * term by term; those of a very wide law use the method for unequal probabilities, whose time does not depend on the width. */
#include <tamis/experimental/bound.h>

#include "num/ball_arb.h"
#include "num/law/certify.h"
#include "num/law/ratio_laws.h"

tamis_status tmi_odds_set(tmi_odds *law, const tmi_binomial *binomial, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *n = NULL, *top = NULL;
    *law = (tmi_odds){.trials = binomial->trials, .success = binomial->probability};
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&law->failure, one, law->success, err));
    TMI_TRY(tmi_number_div(&law->odds, law->success, law->failure, err));
    TMI_TRY(tmi_number_ratio(&n, law->trials + 1, 1, err));
    TMI_TRY(tmi_number_mul(&top, n, law->success, err));
    tmi_number_floor(&law->mode, top); /* floor((n+1) p) <= n */
done:
    tmi_number_frees(&one, &n, &top, NULL);
    return status;
}

void tmi_odds_clear(tmi_odds *law)
{
    tmi_number_frees(&law->failure, &law->odds, NULL);
    *law = (tmi_odds){0};
}

static void mass(tmi_ball *z, const void *context, int64_t k, long bits)
{
    const tmi_odds *law = context;
    tmi_ball part;
    tmi_ball_init(&part);
    tmi_log_binomial(z, law->trials, k, bits);
    tmi_ball_set_number(&part, law->success, bits);
    tmi_ball_log(&part, &part, bits);
    arb_addmul_si(tmi_arb(z), tmi_arb(&part), k, bits);
    tmi_ball_set_number(&part, law->failure, bits);
    tmi_ball_log(&part, &part, bits);
    arb_addmul_si(tmi_arb(z), tmi_arb(&part), law->trials - k, bits);
    tmi_ball_exp(z, z, bits);
    tmi_ball_clear(&part);
}

/* p(k+1)/p(k) = odds (n-k)/(k+1), and its inverse one step lower. */
static tmi_ratios ratios(const void *context, int64_t k, bool up)
{
    const tmi_odds *law = context;
    int64_t n = law->trials;
    if (up) return (tmi_ratios){.a = n - k, .c = k + 1, .single = true, .odds = law->odds};
    return (tmi_ratios){.a = k, .c = n - k + 1, .single = true, .odds = law->odds, .inverse = true};
}

tmi_ratio_law tmi_binomial_ratio_law(const tmi_odds *law)
{
    return (tmi_ratio_law){.low = 0, .high = law->trials, .mode = law->mode, .mass = mass, .ratios = ratios, .law = law};
}

tamis_status tmi_check_binomial(const tmi_binomial *law, tamis_error *err)
{
    if (law->trials < 0 || law->trials > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "trials must be between 0 and 2^40");
    if (!law->probability) return tmi_fail(err, TAMIS_INVALID, "probability: NULL");
    if (tmi_number_sign(law->probability) < 0 || tmi_number_compare_int(law->probability, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "probability must be between 0 and 1");
    return TAMIS_OK;
}

/* A law that sits on one point. */
static void point_part(tmi_ball *z, int64_t point, tmi_law_part part, int64_t k)
{
    bool inside = part == TMI_MASS ? k == point : part == TMI_AT_LEAST ? point >= k : point <= k;
    tmi_ball_set_int(z, inside);
}

#define WIDE 1e9 /* variance beyond which 10^5 and more terms would be summed */

static bool is_wide(const tmi_binomial *law)
{
    double p = tmi_number_down(law->probability);
    return (double)law->trials * p * (1 - p) > WIDE;
}

tamis_status tmi_binomial_part(tmi_ball *z, const tmi_binomial *law, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    tmi_odds odds;
    int64_t n = law->trials;
    bool certain = tmi_number_compare_int(law->probability, 1) == 0;
    if (n == 0 || certain || tmi_number_sign(law->probability) == 0) {
        point_part(z, certain ? n : 0, part, k);
        return TAMIS_OK;
    }
    if (part != TMI_MASS && is_wide(law)) {
        tamis_trials group = {law->probability, n};
        return tmi_trials_part(z, &(tmi_trials){&group, 1}, part, k, bits, err);
    }
    tmi_ball_set_unknown(z);
    tamis_status status = tmi_odds_set(&odds, law, err);
    if (status == TAMIS_OK) {
        tmi_ratio_law shape = tmi_binomial_ratio_law(&odds);
        tmi_ratio_law_part(z, &shape, part, k, bits);
    }
    tmi_odds_clear(&odds);
    return status;
}

/* ---- public ---- */

static tamis_status part_of(tmi_ball *z, const void *law, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    return tmi_binomial_part(z, law, part, k, bits, err);
}

static tamis_status certified(tamis_bound *bound, tmi_binomial law, tmi_law_part part, int64_t k, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_binomial(&law, err);
    return status == TAMIS_OK ? tmi_certify_part(bound, part_of, &law, part, k, err) : status;
}

tamis_status tamis_binomial_mass(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k, tamis_error *err)
{
    return certified(p, (tmi_binomial){trials, probability}, TMI_MASS, k, err);
}

tamis_status tamis_binomial_at_least(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k, tamis_error *err)
{
    return certified(p, (tmi_binomial){trials, probability}, TMI_AT_LEAST, k, err);
}

tamis_status tamis_binomial_at_most(tamis_bound *p, int64_t trials, const tamis_number *probability, int64_t k, tamis_error *err)
{
    return certified(p, (tmi_binomial){trials, probability}, TMI_AT_MOST, k, err);
}
