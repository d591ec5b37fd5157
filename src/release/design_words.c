/* A design in words. */
#include "base/decimal.h"
#include "plan/names.h"
#include "release/sampling.h"

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

void tmi_describe_design_by(tmi_text *text, const tmi_plan_design *d, const char *strata)
{
    tmi_text_put(text, words[d->kind]);
    if (d->kind == TMI_DESIGN_CENSUS) {
        tmi_text_put(text, " of all ");
        tmi_text_rounded(text, (double)d->population, 0);
        return;
    }
    bool clusters = d->kind == TMI_DESIGN_CLUSTER || d->kind == TMI_DESIGN_TWO_STAGE;
    if (d->sample > 0) {
        tmi_text_put(text, " of ");
        tmi_text_rounded(text, (double)d->sample, 0);
    }
    if (d->population > 0) {
        tmi_text_put(text, d->sample > 0 ? " out of " : " from ");
        tmi_text_rounded(text, (double)d->population, 0);
    }
    if (clusters) tmi_text_put(text, " clusters");
    if (d->by) tmi_text_format(text, " in %zu strata by %s", d->stratum_count, strata);
}
