/* A design in words. */
#include "base/decimal.h"
#include "measure/sampling.h"

const char *tmi_design_name(const tmi_plan_design *d) { return d->by ? "stratified" : d->kind->name; }

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
    const tmi_plan_kind *k = d->kind;
    if (k->takes_all) {
        tmi_text_format(text, "%s of all ", k->words);
        tmi_text_rounded(text, (double)d->population, 0);
    } else if (d->by) {
        tmi_text_format(text, "stratified %s: ", k->words);
        put_sizes(text, d, " of ", k->clusters ? " clusters, " : ", ");
        tmi_text_format(text, "%zu strata (%s)", d->stratum_count, strata);
    } else if (k->clusters && !k->staged && d->sample > 0) {
        tmi_text_put(text, "sample of ");
        put_sizes(text, d, " of ", " whole clusters");
    } else {
        tmi_text_put(text, k->words);
        if (d->sample > 0 || d->population > 0) tmi_text_put(text, d->sample > 0 ? " of " : " ");
        put_sizes(text, d, " out of ", k->clusters ? " clusters" : "");
    }
}
