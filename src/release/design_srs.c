/* Simple random sampling without replacement: n of N, every subset equally likely. */
#include <tamis/privacy.h>

#include "base/decimal.h"
#include "num/number.h"
#include "release/design.h"

static void describe(tmi_text *text, const tmi_plan_design *d)
{
    tmi_text_put(text, "simple random sample of ");
    tmi_text_rounded(text, (double)d->sample, 0);
    tmi_text_put(text, " out of ");
    tmi_text_rounded(text, (double)d->population, 0);
}

static int64_t row_count(const tmi_plan_design *d)
{
    return d->sample;
}

static tamis_status weight(tamis_number **weight, const tmi_plan_design *d, tamis_error *err)
{
    return tmi_number_ratio(weight, d->population, d->sample, err);
}

/* N^2 (1 - n/N) s^2 / n with s^2 = squares / (n - 1). A sample of one tells nothing: NaN, unless it is everybody. */
static double variance(const tmi_plan_design *d, double squares)
{
    double N = (double)d->population, n = (double)d->sample;
    if (d->population == d->sample) return 0;
    return d->sample > 1 ? N * (N - n) / n * (squares / (n - 1)) : __builtin_nan("");
}

static int64_t degrees(const tmi_plan_design *d)
{
    return d->sample - 1;
}

static tamis_status amplify(tamis_bound *epsilon, tamis_bound *delta, const tmi_plan_design *d, const tamis_number *eps,
                            const tamis_number *sampled_delta, tamis_error *err)
{
    return tamis_amplify_srs(epsilon, delta, d->population, d->sample, eps, sampled_delta, err);
}

const tmi_design tmi_design_srs = {"srs", describe, row_count, weight, variance, degrees, amplify};
