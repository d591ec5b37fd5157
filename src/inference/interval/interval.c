/* Variances of noise, quantiles of errors, and the plain interval. */
#include "inference/interval/interval.h"

#include <math.h>

#include "base/error.h"
#include "inference/interval/law.h"
#include "survey/estimator.h"

/* ---- one noise ---- */

/* P(f X > x) */
static double lattice_beyond(tmi_noise_part part, double x)
{
    double k = floor(x / fabs(part.factor)) + 1;
    return k >= 1 ? tmi_noise_at_least(part, k) : 1 - tmi_noise_at_least(part, 1 - k);
}

/* The smallest multiple k of |f| with P(|X| > k) <= alpha. */
static double lattice_reach(tmi_noise_part part, double alpha)
{
    double low = -1, high = 1;
    while (2 * tmi_noise_at_least(part, high + 1) > alpha) low = high, high *= 2;
    while (high - low > 1) {
        double middle = floor(low + (high - low) / 2);
        if (middle <= low || middle >= high) break; /* beyond 2^53 no double is between them */
        if (2 * tmi_noise_at_least(part, middle + 1) > alpha) low = middle;
        else high = middle;
    }
    return high * fabs(part.factor);
}

/* ---- the whole error ---- */

/* The only part of a law without sampling error; NULL if the law is of another kind. */
static const tmi_noise_part *only_noise(const tmi_error_law *law)
{
    const tmi_noise_part *only = NULL;
    if (law->se != 0 || law->third != 0) return NULL;
    for (size_t i = 0; i < law->count; i++) {
        if (law->parts[i].factor == 0) continue;
        if (only || law->parts[i].count != 1) return NULL;
        only = &law->parts[i];
    }
    return only;
}

tamis_status tmi_error_beyond(double *probability, const tmi_error_law *law, double x, tamis_error *err)
{
    *probability = NAN;
    if (!isfinite(x)) return tmi_fail(err, TAMIS_INVALID, "x: not finite");
    tamis_status status = tmi_error_law_check(law, err);
    if (status != TAMIS_OK) return status;
    const tmi_noise_part *only = only_noise(law);
    if (only) {
        *probability = lattice_beyond(*only, x);
        return TAMIS_OK;
    }
    tmi_spectrum v;
    status = tmi_spectrum_make(&v, law, err);
    if (status != TAMIS_OK) return status;
    *probability = tmi_spectrum_beyond(&v, x);
    tmi_spectrum_clear(&v);
    return TAMIS_OK;
}

/* The logarithm of P(E > x) / tail. */
static double excess(const tmi_spectrum *v, double x, double tail) { return log(fmax(tmi_spectrum_beyond(v, x), 1e-300) / tail); }

/* The x between low and high, where the tail falls from above to below, by false position on its logarithm, each end that
 * stays being made lighter (the Illinois rule), and bisection when that is slow. */
static double solve(const tmi_spectrum *v, double tail, double low, double high, double at_low, double at_high)
{
    for (int i = 0; i < 200 && high - low > 1e-10 * (fabs(low) + fabs(high)); i++) {
        double x = i % 3 == 2 ? low + (high - low) / 2 : low + (high - low) * at_low / (at_low - at_high);
        if (!(x > low && x < high)) x = low + (high - low) / 2;
        double at = excess(v, x, tail);
        if (fabs(at) < 1e-10) return x;
        if (at > 0) low = x, at_low = at, at_high /= 2;
        else high = x, at_high = at, at_low /= 2;
    }
    return low + (high - low) / 2;
}

/* The x with P(E > x) = tail, which is below 1/2 or the law is not symmetric. */
static double tail_is(const tmi_spectrum *v, double tail)
{
    double low = v->third != 0 ? -v->unit : 0, high = v->unit, at_low = log(0.5 / tail), at_high = excess(v, high, tail);
    bool known = v->third == 0; /* whether the tail at `low` is known: it is 1/2 for a symmetric law */
    for (; at_high > 0; at_high = excess(v, high, tail)) {
        low = high, at_low = at_high, known = true;
        high *= 2;
    }
    if (!known) at_low = excess(v, low, tail);
    for (; at_low < 0; at_low = excess(v, low, tail)) {
        high = low, at_high = at_low;
        low *= 2;
    }
    return solve(v, tail, low, high, at_low, at_high);
}

tamis_status tmi_error_quantile(double *x, const tmi_error_law *law, double tail, tamis_error *err)
{
    *x = INFINITY;
    if (!(tail >= 1e-10 && tail < 1)) return tmi_fail(err, TAMIS_INVALID, "tail: must be between 1e-10 and 1");
    tmi_spectrum v;
    tamis_status status = tmi_spectrum_make(&v, law, err);
    if (status != TAMIS_OK) return status;
    if (v.terms == 0) {
        *x = 0;
    } else if (tail < 0.5 || v.third != 0) {
        *x = tail_is(&v, tail);
    } else if (tail > 0.5) { /* a symmetric law has the same tail on the other side */
        *x = -tail_is(&v, 1 - tail);
    } else {
        *x = 0;
    }
    tmi_spectrum_clear(&v);
    return TAMIS_OK;
}

tamis_status tmi_error_reach(double *reach, const tmi_error_law *law, double confidence, tamis_error *err)
{
    *reach = INFINITY;
    if (!(confidence > 0 && confidence <= 1 - 0.99e-9))
        return tmi_fail(err, TAMIS_INVALID, "confidence: must be above 0 and at most 0.999999999");
    tamis_status status = tmi_error_law_check(law, err);
    if (status != TAMIS_OK) return status;
    if (law->third != 0)
        return tmi_fail(err, TAMIS_INVALID, "third: must be 0, because a symmetric interval needs a symmetric law");
    const tmi_noise_part *only = only_noise(law);
    if (!only) return tmi_error_quantile(reach, law, (1 - confidence) / 2, err);
    *reach = lattice_reach(*only, 1 - confidence);
    return TAMIS_OK;
}

/* ---- intervals ---- */

tamis_status tmi_interval_symmetric(tmi_interval *interval, double estimate, const tmi_error_law *law, double confidence,
                                    double least, double most, tamis_error *err)
{
    *interval = (tmi_interval){least, most, true};
    if (!isfinite(estimate)) return tmi_fail(err, TAMIS_INVALID, "estimate: not finite");
    double reach;
    tamis_status status = tmi_error_reach(&reach, law, confidence, err);
    if (status != TAMIS_OK) return status;
    double nearest = fmin(fmax(estimate, least), most), lower = nearest - reach, upper = nearest + reach;
    *interval = (tmi_interval){fmax(lower, least), fmin(upper, most), nearest != estimate || lower < least || upper > most};
    return TAMIS_OK;
}
