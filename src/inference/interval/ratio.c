#include "inference/interval/ratio.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct problem {
    const tmi_ratio *ratio;
    tmi_noise_part *parts; /* of a A - b B, filled anew for each pair */
    double numerator;      /* A, or what it would be if A/B were the nearest possible value */
    double confidence;
} problem;

static tamis_status check(const tmi_ratio *ratio, double least, double most, tamis_error *err)
{
    if (!ratio) return tmi_fail(err, TAMIS_INVALID, "ratio: NULL");
    if (!isfinite(ratio->numerator) || !isfinite(ratio->denominator))
        return tmi_fail(err, TAMIS_INVALID, "ratio: its numerator or denominator is not finite");
    if (!isfinite(ratio->sampling.xx) || !isfinite(ratio->sampling.xy) || !isfinite(ratio->sampling.yy))
        return tmi_fail(err, TAMIS_INVALID, "sampling: not finite");
    if (!isfinite(ratio->ones) || !(ratio->all >= 0 && isfinite(ratio->all)))
        return tmi_fail(err, TAMIS_INVALID, "ones: not finite, or negative");
    for (int i = 0; i < 5; i++)
        if (!isfinite(ratio->margin.c[i])) return tmi_fail(err, TAMIS_INVALID, "margin: not finite");
    if (!(ratio->largest >= 0)) return tmi_fail(err, TAMIS_INVALID, "largest: must be at least 0");
    if (!isfinite(least) || !isfinite(most) || !(least < most))
        return tmi_fail(err, TAMIS_INVALID, "least: not finite and below most");
    if (ratio->count > 0 && !ratio->parts) return tmi_fail(err, TAMIS_INVALID, "parts: NULL");
    return TAMIS_OK;
}

/* The sampling variance of A - r B if the share is r. The strata's shares are moved towards 1 or 0 in proportion, so that
 * their total is r; what they differ by, which is taken off, shrinks with the square. */
static double variance_of_share(const tmi_ratio *ratio, double estimate, double r)
{
    double p = fmin(fmax(estimate, 0), 1), all = ratio->all, ones = fmin(fmax(ratio->ones, 0), all);
    double between = fmax(ones * (1 - 2 * p) + p * p * all - tmi_quadratic_at(ratio->sampling, p), 0);
    double shrunk = r > p && p < 1 ? (1 - r) / (1 - p) : r <= p && p > 0 ? r / p : 1;
    if (r > p) ones = all - shrunk * (all - ones);
    else ones *= shrunk;
    return ones * (1 - 2 * r) + r * r * all - shrunk * shrunk * between;
}

/* The law of the error of a A - b B. */
static tmi_error_law law_of(const problem *p, double a, double b)
{
    const tmi_quadratic *s = &p->ratio->sampling;
    for (size_t i = 0; i < p->ratio->count; i++) {
        const tmi_ratio_part *part = &p->ratio->parts[i];
        p->parts[i] = (tmi_noise_part){a * part->numerator - b * part->denominator, part->scale, part->gaussian, part->count};
    }
    double variance = a * a * s->xx - 2 * a * b * s->xy + b * b * s->yy;
    if (a != 0 && p->ratio->all > 0) variance = variance_of_share(p->ratio, p->ratio->numerator / p->ratio->denominator, b / a);
    double margin = tmi_form_noise_sd(&p->ratio->margin, a, b);
    tmi_variance v = tmi_variance_limit(variance, margin, a == 0 ? INFINITY : p->ratio->largest);
    return (tmi_error_law){.se = sqrt(v.value), .df = p->ratio->df, .parts = p->parts, .count = p->ratio->count};
}

/* How far a A - b B may be from its truth. */
static tamis_status reach_of(double *reach, tmi_error_law *law, const problem *p, double a, double b, tamis_error *err)
{
    *law = law_of(p, a, b);
    return tmi_error_reach(reach, law, p->confidence, err);
}

/* Whether the truth of B may be 0, as far as its error reaches. Chebyshev's inequality answers for nearly all: P(|E| > x) is at
 * most the variance over x^2. Student's variance is df / (df - 2) times that of se, at most 3 times from 3 degrees of freedom
 * on, and where the law takes a noise for a continuous one it adds at most 4 times its variance. */
static tamis_status set_may_be_zero(bool *yes, const problem *p, tamis_error *err)
{
    const double size = fabs(p->ratio->denominator);
    tmi_error_law law = law_of(p, 0, 1);
    *yes = false;
    if ((law.df == TMI_NORMAL || law.df >= 3) && p->confidence < 1 &&
        3 * law.se * law.se + 5 * tmi_noise_variance(law.parts, law.count) < (1 - p->confidence) * size * size)
        return TAMIS_OK;
    double reach;
    const tamis_status status = reach_of(&reach, &law, p, 0, 1, err);
    *yes = size <= reach;
    return status;
}

/* By how much A - r B is farther from 0 than it may be. */
static tamis_status excess(double *over, const problem *p, double r, tamis_error *err)
{
    double reach;
    tmi_error_law law;
    tamis_status status = reach_of(&reach, &law, p, 1, r, err);
    *over = fabs(p->numerator - r * p->ratio->denominator) - reach;
    return status;
}

/* The end of the interval between `from`, which is in it and whose excess is given, and the end of the range. The first step is
 * as long as the reach at `from` says. */
static tamis_status find_end(double *end, const problem *p, double from, double at_from, double limit, double step,
                             tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double in = from, out = from, at_in = at_from, at_out = -1, side = limit > from ? 1 : -1;
    *end = limit;
    while (at_out <= 0) {
        if (out == limit) goto done;
        if (out != from) in = out, at_in = at_out;
        out = side > 0 ? fmin(in + step, limit) : fmax(in - step, limit);
        TMI_TRY(excess(&at_out, p, out, err));
        step *= 2;
    }
    for (int i = 0; i < 100 && fabs(out - in) > 1e-7 * fabs(out - from); i++) {
        double r = in + (out - in) * (at_in / (at_in - at_out)), at;
        if (i % 4 == 3 || !((r - in) * (r - out) < 0)) r = in + (out - in) / 2; /* also where `out` is all but the end itself */
        if (!((r - in) * (r - out) < 0)) break;                                 /* no number between them */
        TMI_TRY(excess(&at, p, r, err));
        if (at <= 0) in = r, at_in = at, at_out /= 2; /* the Illinois rule: the end that stays is made lighter */
        else out = r, at_out = at, at_in /= 2;
    }
    *end = in;

done:
    return status;
}

static tamis_status find_interval(tmi_ratio_result *result, problem *p, double least, double most, tamis_error *err)
{
    tamis_status status;
    const tmi_ratio *ratio = p->ratio;
    double reach, start = fmin(fmax(result->estimate, least), most), low, high, at_start;
    tmi_error_law law;
    TMI_TRY(set_may_be_zero(&result->may_be_zero, p, err));
    TMI_TRY(reach_of(&reach, &law, p, 1, result->estimate, err));
    result->sampling_se = law.se / fabs(ratio->denominator);
    result->noise_sd = sqrt(tmi_noise_variance(p->parts, ratio->count)) / fabs(ratio->denominator);
    result->from_range = law.se >= sqrt(ratio->largest);
    if (result->may_be_zero) goto done;
    if (start != result->estimate) p->numerator = start * ratio->denominator;
    double step = fmax(reach / fabs(ratio->denominator), 1e-12 * (most - least));
    at_start = fabs(p->numerator - start * ratio->denominator) - reach;
    if (start != result->estimate) TMI_TRY(excess(&at_start, p, start, err));
    TMI_TRY(find_end(&low, p, start, at_start, least, step, err));
    TMI_TRY(find_end(&high, p, start, at_start, most, step, err));
    result->interval = (tmi_interval){low, high, low == least || high == most};

done:
    return status;
}

tamis_status tmi_interval_ratio(tmi_ratio_result *result, const tmi_ratio *ratio, double confidence, double least, double most,
                                tamis_error *err)
{
    *result = (tmi_ratio_result){NAN, NAN, NAN, {least, most, true}, false, false};
    tamis_status status = check(ratio, least, most, err);
    if (status != TAMIS_OK || ratio->denominator == 0) return status;
    problem p = {ratio, tmi_alloc(ratio->count, sizeof *p.parts), ratio->numerator, confidence};
    if (!p.parts) return tmi_fail_memory(err);
    result->estimate = ratio->numerator / ratio->denominator;
    status = isfinite(result->estimate) ? find_interval(result, &p, least, most, err) : TAMIS_OK;
    if (status != TAMIS_OK) result->interval = (tmi_interval){least, most, true};
    tmi_free(p.parts);
    return status;
}
