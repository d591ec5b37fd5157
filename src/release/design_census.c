/* A census: everybody is asked, nothing varies from sample to sample. */
#include <stdio.h>

#include "num/number.h"
#include "release/design.h"

static void describe(char *text, size_t room, const tmi_plan_design *d, const char *unit)
{
    snprintf(text, room, "census, all %lld; unit: %s", (long long)d->population, unit);
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

const tmi_design tmi_design_census = {"census", describe, row_count, weight, variance, degrees};
