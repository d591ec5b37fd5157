/* A design in words. */
#include "base/decimal.h"
#include "release/sampling.h"

static const char *const names[] = {
    [TMI_DESIGN_SRS] = "srs",
    [TMI_DESIGN_CENSUS] = "census",
    [TMI_DESIGN_SRS_WITH_REPLACEMENT] = "srs_with_replacement",
    [TMI_DESIGN_BERNOULLI] = "bernoulli",
    [TMI_DESIGN_POISSON] = "poisson",
    [TMI_DESIGN_PPS] = "pps",
    [TMI_DESIGN_SYSTEMATIC] = "systematic",
    [TMI_DESIGN_CLUSTER] = "cluster",
    [TMI_DESIGN_TWO_STAGE] = "two_stage",
    [TMI_DESIGN_WEIGHTS] = "weights",
};

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
    return d->by ? "stratified" : names[d->kind];
}

void tmi_describe_design(tmi_text *text, const tmi_plan_design *d)
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
    if (d->by) tmi_text_format(text, " in %zu strata by %s", d->stratum_count, d->by->name);
}
