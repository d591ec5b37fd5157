/* P_K(k + X <= t) falls as K grows: the count of ones grows with K in the order of laws, and the noise is independent of
 * it. So U = max{K: P_K(k + X <= t) > alpha/2} and L = min{K: P_K(k + X >= t) > alpha/2} are found by bisection.
 *
 * A probability is a sum over the counts of the sample, mass times the noise's distribution function. Doubles find the
 * end; balls then decide the two K on its two sides, and by monotony all others. There are no ties with Laplace noise: the
 * probability is a rational function of exp(-1/scale), a transcendental number, which is constant only at 1/2 (let the
 * scale grow), and alpha/2 < 1/2. More bits therefore always decide.                                                */
#include "inference/interval/count.h"

#include <math.h>

#include "inference/interval/count_sum.h"
#include "num/law/law.h"

#define LAW_BITS_LAST 16384
#define CLOSE 1e-9 /* a double decides unless the probability is this close; its own error is some 1e-13 */

/* ---- certainty ---- */

/* Looks at one K with this precision: 1 if the probability is certainly above alpha/2, -1 if it is below, 0 if that is not
 * known. */
static tamis_status decide_with(int *order, const tmi_count_test *test, int64_t ones, long bits, tamis_error *err)
{
    tmi_ball p, half;
    tmi_ball_init(&p);
    tmi_ball_init(&half);
    tamis_status status = tmi_count_probability(&p, test, ones, bits, err);
    if (status == TAMIS_OK) {
        tmi_ball_set_number(&half, test->c->confidence, bits);
        tmi_ball_neg(&half, &half);
        tmi_ball_add_int(&half, &half, 1, bits);
        tmi_ball_shift(&half, &half, -1);
        *order = tmi_ball_is_less(&half, &p) ? 1 : tmi_ball_is_less(&p, &half) ? -1 : 0;
    }
    tmi_ball_clear(&p);
    tmi_ball_clear(&half);
    return status;
}

static tamis_status certainly(bool *plausible, const tmi_count_test *test, int64_t ones, tamis_error *err)
{
    int order = 0;
    for (long bits = 128; order == 0 && bits <= LAW_BITS_LAST; bits *= 2) {
        tamis_status status = decide_with(&order, test, ones, bits, err);
        if (status != TAMIS_OK) return status;
    }
    *plausible = order > 0;
    return order != 0 ? TAMIS_OK : tmi_fail(err, TAMIS_UNABLE, "an end of the interval is undecided at %d bits", LAW_BITS_LAST);
}

/* ---- the search ---- */

/* K is written as a distance from the end at which everything is plausible: `steps` 0, 1, ..., population. */
static int64_t ones_at(const tmi_count_test *test, int64_t steps) { return test->upwards ? test->c->population - steps : steps; }

static tamis_status plausible_at(bool *plausible, const tmi_count_test *test, int64_t steps, bool certain, tamis_error *err)
{
    int64_t ones = ones_at(test, steps);
    if (!certain) {
        double p = tmi_count_probability_double(test, ones), half = test->alpha / 2;
        *plausible = p > half;
        if (test->c->certified || fabs(p - half) > CLOSE * half) return TAMIS_OK;
    }
    return certainly(plausible, test, ones, err);
}

/* Narrows low < the first implausible one <= high to neighbours; low = -1 and high = population + 1 are no K and are not
 * asked. The bracket that was guessed is widened while it does not hold. */
static tamis_status narrow(int64_t *low, int64_t *high, const tmi_count_test *test, int64_t width, bool certain, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t most = test->c->population;
    bool yes;
    while (*low >= 0) {
        TMI_TRY(plausible_at(&yes, test, *low, certain, err));
        if (yes) break;
        *high = *low;
        *low = *low > width ? *low - width : -1;
        width *= 2;
    }
    while (*high <= most) {
        TMI_TRY(plausible_at(&yes, test, *high, certain, err));
        if (!yes) break;
        *low = *high;
        *high = most - *high >= width ? *high + width : most + 1;
        width *= 2;
    }
    while (*high - *low > 1) {
        int64_t middle = *low + (*high - *low) / 2;
        TMI_TRY(plausible_at(&yes, test, middle, certain, err));
        if (yes) *low = middle;
        else *high = middle;
    }
done:
    return status;
}

/* The plausible K farthest from the end at which all are; that end itself if there is none. */
static tamis_status farthest(int64_t *ones, const tmi_count_test *test, tamis_error *err)
{
    double guess = tmi_count_guess(test), N = (double)test->c->population;
    double from_end = fmin(fmax(test->upwards ? N - guess : guess, 0), N);
    int64_t low = (int64_t)fmin(from_end, 0x1p40), width = 1 + (int64_t)fmin(test->spread, 0x1p40), high = low + 1;
    tamis_status status = narrow(&low, &high, test, width, false, err);
    if (status == TAMIS_OK && test->c->certified) status = narrow(&low, &high, test, 1, true, err);
    if (status == TAMIS_OK) *ones = ones_at(test, low < 0 ? 0 : low);
    return status;
}

static tamis_status check(const tmi_count_case *c, int64_t noisy, tamis_error *err)
{
    if (c->population < 1 || c->population > TAMIS_MAX_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "population: must be between 1 and 2^40");
    if (c->law == TMI_COUNT_RATE) {
        if (!c->rate || tmi_number_sign(c->rate) <= 0 || tmi_number_compare_int(c->rate, 1) > 0)
            return tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1");
    } else if (c->sample < 1 || c->sample > (c->law == TMI_COUNT_SRS ? c->population : TAMIS_MAX_UNITS)) {
        return tmi_fail(err, TAMIS_INVALID, "sample: must be at least 1 and at most the population");
    }
    if (noisy > INT64_C(1) << 62 || noisy < -(INT64_C(1) << 62))
        return tmi_fail(err, TAMIS_INVALID, "noisy: must be between -2^62 and 2^62");
    const tamis_number *size = c->scale ? c->scale : c->variance ? c->variance : c->sd;
    if (!size || tmi_number_sign(size) <= 0 || !(tmi_number_up(size) < 1e40) || !(tmi_number_down(size) > 1e-40))
        return tmi_fail(err, TAMIS_INVALID, "scale: not a number between 1e-40 and 1e40");
    if (!c->confidence || tmi_number_sign(c->confidence) <= 0 || tmi_number_down(c->confidence) > 1 - 0.99e-9)
        return tmi_fail(err, TAMIS_INVALID, "confidence: must be above 0 and at most 0.999999999");
    return TAMIS_OK;
}

tamis_status tmi_interval_count(int64_t *lower, int64_t *upper, const tmi_count_case *c, int64_t noisy, tamis_error *err)
{
    *lower = 0;
    *upper = c->population > 0 && c->population <= TAMIS_MAX_UNITS ? c->population : 0;
    tamis_status status = check(c, noisy, err);
    if (status != TAMIS_OK) return status;
    int64_t low, high;
    tmi_count_test test;
    TMI_TRY(tmi_count_test_make(&test, c, noisy, err));
    TMI_TRY(farthest(&high, &test, err));
    test.upwards = true;
    TMI_TRY(farthest(&low, &test, err));
    *lower = low < high ? low : high;
    *upper = low < high ? high : low;

done:
    tmi_count_test_clear(&test);
    return status;
}

tamis_status tamis_interval_count(int64_t *lower, int64_t *upper, int64_t population, int64_t sample, int64_t noisy,
                                  const tamis_number *scale, const tamis_number *confidence, tamis_error *err)
{
    if (!lower) return tmi_fail(err, TAMIS_INVALID, "lower: NULL");
    if (!upper) return tmi_fail(err, TAMIS_INVALID, "upper: NULL");
    tmi_count_case c = {.law = TMI_COUNT_SRS,
                        .population = population,
                        .sample = sample,
                        .scale = scale,
                        .confidence = confidence,
                        .certified = true};
    return tmi_interval_count(lower, upper, &c, noisy, err);
}
