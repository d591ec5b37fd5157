/* C(K, k) C(N-K, n-k) / C(N, n), through logarithms of factorials: nine of them, in time that does not depend on N. */
#include <tamis/experimental/bound.h>

#include "num/ball_arb.h"
#include "num/law/certify.h"
#include "num/law/ratio_laws.h"

void tmi_log_factorial(tmi_ball *z, int64_t n, long bits)
{
    if (n < 64) {
        arb_fac_ui(tmi_arb(z), (ulong)n, bits);
        arb_log(tmi_arb(z), tmi_arb(z), bits);
    } else {
        arb_set_si(tmi_arb(z), n + 1);
        arb_lgamma(tmi_arb(z), tmi_arb(z), bits);
    }
}

/* z += or -= log n! */
static void add_log_factorial(tmi_ball *z, int64_t n, bool minus, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    tmi_log_factorial(&term, n, bits);
    if (minus) tmi_ball_sub(z, z, &term, bits);
    else tmi_ball_add(z, z, &term, bits);
    tmi_ball_clear(&term);
}

void tmi_log_binomial(tmi_ball *z, int64_t n, int64_t k, long bits)
{
    if (k == 0 || k == n) {
        tmi_ball_set_int(z, 0);
        return;
    }
    tmi_log_factorial(z, n, bits);
    add_log_factorial(z, k, true, bits);
    add_log_factorial(z, n - k, true, bits);
}

static void mass(tmi_ball *z, const void *context, int64_t k, long bits)
{
    const tmi_hypergeometric *law = context;
    int64_t N = law->population, K = law->ones, n = law->sample;
    tmi_ball part;
    tmi_ball_init(&part);
    tmi_log_binomial(z, K, k, bits);
    tmi_log_binomial(&part, N - K, n - k, bits);
    tmi_ball_add(z, z, &part, bits);
    tmi_log_binomial(&part, N, n, bits);
    tmi_ball_sub(z, z, &part, bits);
    tmi_ball_exp(z, z, bits);
    tmi_ball_clear(&part);
}

/* p(k+1)/p(k) = (K-k)(n-k) / ((k+1)(N-K-n+k+1)), and its inverse one step lower. */
static tmi_ratios ratios(const void *context, int64_t k, bool up)
{
    const tmi_hypergeometric *law = context;
    int64_t K = law->ones, n = law->sample, zeros_left = law->population - K - n + k;
    if (up) return (tmi_ratios){.a = K - k, .b = n - k, .c = k + 1, .d = zeros_left + 1};
    return (tmi_ratios){.a = k, .b = zeros_left, .c = K - k + 1, .d = n - k + 1};
}

tmi_ratio_law tmi_hypergeometric_ratio_law(const tmi_hypergeometric *law)
{
    int64_t N = law->population, K = law->ones, n = law->sample;
    tmi_int128 mode = (tmi_int128)(n + 1) * (K + 1) / (N + 2);
    return (tmi_ratio_law){.low = n + K > N ? n + K - N : 0,
                           .high = n < K ? n : K,
                           .mode = (int64_t)mode,
                           .mass = mass,
                           .ratios = ratios,
                           .law = law};
}

tamis_status tmi_check_hypergeometric(const tmi_hypergeometric *law, tamis_error *err)
{
    if (law->population < 0 || law->population > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "population must be between 0 and 2^40");
    if (law->ones < 0 || law->ones > law->population)
        return tmi_fail(err, TAMIS_INVALID, "ones must be between 0 and the population");
    if (law->sample < 0 || law->sample > law->population)
        return tmi_fail(err, TAMIS_INVALID, "sample must be between 0 and the population");
    return TAMIS_OK;
}

void tmi_hypergeometric_part(tmi_ball *z, const tmi_hypergeometric *law, tmi_law_part part, int64_t k, long bits)
{
    tmi_ratio_law shape = tmi_hypergeometric_ratio_law(law);
    tmi_ratio_law_part(z, &shape, part, k, bits);
}

/* ---- public ---- */

static tamis_status part_of(tmi_ball *z, const void *law, tmi_law_part part, int64_t k, long bits, tamis_error *err)
{
    (void)err;
    tmi_hypergeometric_part(z, law, part, k, bits);
    return TAMIS_OK;
}

static tamis_status certified(tamis_bound *bound, tmi_hypergeometric law, tmi_law_part part, int64_t k, tamis_error *err)
{
    tamis_status status = tmi_begin_probability(bound, err);
    if (status == TAMIS_OK) status = tmi_check_hypergeometric(&law, err);
    return status == TAMIS_OK ? tmi_certify_part(bound, part_of, &law, part, k, err) : status;
}

tamis_status tamis_hypergeometric_mass(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                       tamis_error *err)
{
    return certified(p, (tmi_hypergeometric){population, ones, sample}, TMI_MASS, k, err);
}

tamis_status tamis_hypergeometric_at_least(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                           tamis_error *err)
{
    return certified(p, (tmi_hypergeometric){population, ones, sample}, TMI_AT_LEAST, k, err);
}

tamis_status tamis_hypergeometric_at_most(tamis_bound *p, int64_t population, int64_t ones, int64_t sample, int64_t k,
                                          tamis_error *err)
{
    return certified(p, (tmi_hypergeometric){population, ones, sample}, TMI_AT_MOST, k, err);
}
