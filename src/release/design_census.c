/* A census: everybody is asked, nothing varies from sample to sample. */
#include "base/decimal.h"
#include "num/number.h"
#include "release/design.h"

static void describe(tmi_text *text, const tmi_plan_design *d)
{
    tmi_text_put(text, "census of all ");
    tmi_text_rounded(text, (double)d->population, 0);
}

static int64_t row_count(const tmi_plan_design *d)
{
    return d->population;
}

static tamis_status weight(tamis_number **weight, const tmi_plan_design *d, tamis_error *err)
{
    (void)d;
    return tmi_number_ratio(weight, 1, 1, err);
}

static double variance(const tmi_plan_design *d, double squares)
{
    (void)d, (void)squares;
    return 0;
}

static int64_t degrees(const tmi_plan_design *d)
{
    return d->population - 1;
}

const tmi_design tmi_design_census = {"census", describe, row_count, weight, variance, degrees, NULL};
