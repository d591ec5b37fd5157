/* A design in words. */
#include "base/decimal.h"
#include "plan/names.h"
#include "schedule/sampling.h"

static const char *const words[] = {
    [TMI_DESIGN_SRS] = "simple random sample",
    [TMI_DESIGN_CENSUS] = "census",
    [TMI_DESIGN_SRS_WITH_REPLACEMENT] = "simple random sample with replacement",
    [TMI_DESIGN_BERNOULLI] = "Bernoulli sample",
    [TMI_DESIGN_POISSON] = "Poisson sample",
    [TMI_DESIGN_PPS] = "sample with unequal probabilities",
    [TMI_DESIGN_SYSTEMATIC] = "systematic sample",
    [TMI_DESIGN_CLUSTER] = "sample of whole clusters",
    [TMI_DESIGN_TWO_STAGE] = "two-stage sample",
    [TMI_DESIGN_WEIGHTS] = "survey known by its weights",
};

const char *tmi_design_name(const tmi_plan_design *d)
{
    return d->by ? "stratified" : tmi_design_kind_name(d->kind);
}

void tmi_describe_design(tmi_text *text, const tmi_plan_design *d)
{
    tmi_describe_design_by(text, d, d->by ? d->by->name : NULL);
}

/* "200 out of 6,194", "200 of 6,194", "15 of 757 clusters", "from 6,194", as far as the sizes are known. */
static void put_sizes(tmi_text *text, const tmi_plan_design *d, const char *of, const char *units)
{
    if (d->sample > 0) tmi_text_rounded(text, (double)d->sample, 0);
    if (d->population > 0) tmi_text_put(text, d->sample > 0 ? of : "from ");
    if (d->population > 0) tmi_text_rounded(text, (double)d->population, 0);
    if (d->sample > 0 || d->population > 0) tmi_text_put(text, units);
}

void tmi_describe_design_by(tmi_text *text, const tmi_plan_design *d, const char *strata)
{
    const bool clusters = d->kind == TMI_DESIGN_CLUSTER || d->kind == TMI_DESIGN_TWO_STAGE, sizes = d->sample > 0 || d->population > 0;
    if (d->kind == TMI_DESIGN_CENSUS) {
        tmi_text_format(text, "%s of all ", words[d->kind]);
        tmi_text_rounded(text, (double)d->population, 0);
    } else if (d->by) {
        tmi_text_format(text, "stratified %s: ", words[d->kind]);
        put_sizes(text, d, " of ", clusters ? " clusters, " : ", ");
        tmi_text_format(text, "%zu strata (%s)", d->stratum_count, strata);
    } else if (d->kind == TMI_DESIGN_CLUSTER && d->sample > 0) {
        tmi_text_put(text, "sample of ");
        put_sizes(text, d, " of ", " whole clusters");
    } else {
        tmi_text_put(text, words[d->kind]);
        if (sizes) tmi_text_put(text, d->sample > 0 ? " of " : " ");
        put_sizes(text, d, " out of ", clusters ? " clusters" : "");
    }
}
