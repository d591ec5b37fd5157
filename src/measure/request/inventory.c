#include "measure/request/inventory.h"

#include <stdio.h>

#include "base/memory.h"
#include "measure/contributions.h"

static bool clusters_are_fixed(const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_privacy *p = &s->plan->privacy;
    return d->kind->clusters && !d->nonresponse && !tmi_may_be_empty(d) && p->setting->size_is_public && !p->design_protected;
}

static tamis_status differ(const tmi_schedule *s, const char *what, size_t stratum, int64_t found, int64_t declared,
                           tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    char where[300] = "";
    if (stratum < d->stratum_count && d->strata[stratum].name)
        snprintf(where, sizeof where, " in the stratum %.200s", d->strata[stratum].name);
    return tmi_fail(err, TAMIS_INVALID,
                    "the source has %lld %s%s, but the design `%s` declares %lld: correct the plan or the source",
                    (long long)found, what, where, tmi_design_name(d), (long long)declared);
}

static tamis_status compare(const tmi_schedule *s, const tmi_inventory *i, bool rows, bool clusters, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    const bool units = i->unit && !d->kind->with_replacement;
    int64_t found = units ? i->units : i->rows;
    const char *what = units ? "units" : "rows";
    if (rows && found != d->sample) return differ(s, what, SIZE_MAX, found, d->sample, err);
    for (size_t h = 0; h < d->stratum_count; h++) {
        int64_t declared = d->strata[h].sample;
        if (rows && i->stratum) {
            int64_t here = units ? i->units_in[h] : i->rows_in[h];
            if (here != declared) return differ(s, what, h, here, declared, err);
        }
        if (clusters && i->clusters_in[h] != declared) return differ(s, "clusters", h, i->clusters_in[h], declared, err);
    }
    return TAMIS_OK;
}

/* Units with probability 1 are in every sample, so that whether they are in the source is the same for all neighbours. Where
 * they are measured apart the guarantee rests on it: with one of them missing, another unit would be in its place, and a
 * replacement could move records in both parts. An engine counts the rows of each of them as those of a stratum. */
static tamis_status check_certain(tmi_engine *engine, const tmi_schedule *s, const tmi_query *a, const tamis_watch *watch,
                                  tamis_error *err)
{
    const char **ids = tmi_alloc(s->frame.count, sizeof *ids);
    int64_t *rows = tmi_alloc(s->frame.count, sizeof *rows), missing = 0;
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (!ids || !rows) TMI_TRY(tmi_fail_memory(err));
    for (size_t unit = 0; unit < s->frame.count; unit++)
        if (tmi_is_certain(s, unit)) ids[count++] = s->frame.ids[unit];
    const tmi_column certain = {.name = a->unit->name, .kind = TMI_CATEGORY, .values = ids, .value_count = count};
    const tmi_column *const columns[] = {&certain};
    tmi_inventory i = {.columns = columns, .column_count = 1, .stratum = &certain, .rows_in = rows};
    TMI_TRY(engine->describe(engine, &i, watch, err));
    for (size_t k = 0; k < count; k++) missing += rows[k] == 0;
    if (missing > 0)
        TMI_TRY(
            tmi_fail(err, TAMIS_INVALID,
                     "design.frame: %lld of %zu units with probability 1 are not in the source, but they are in every sample: "
                     "correct the frame or the source",
                     (long long)missing, count));

done:
    tmi_free(ids);
    tmi_free(rows);
    return status;
}

tamis_status tmi_check_inventory(tmi_engine *engine, const tmi_schedule *s, const tmi_query *a, const tamis_watch *watch,
                                 tamis_error *err)
{
    const size_t strata = s->plan->design.stratum_count;
    const bool rows = s->sampling.rows_fixed, clusters = clusters_are_fixed(s);
    tamis_status status = s->sampling.parts == 2 ? check_certain(engine, s, a, watch, err) : TAMIS_OK;
    if (status != TAMIS_OK) return status;
    int64_t *counts = tmi_alloc(3 * strata, sizeof *counts);
    if (!counts) return tmi_fail_memory(err);
    tmi_inventory i = {.columns = a->columns.files, .column_count = a->columns.file_count};
    if (rows || clusters) i.stratum = a->stratum;
    if (rows && a->unit) i.unit = a->unit;
    if (clusters) i.cluster = a->cluster;
    if (rows && i.stratum) i.rows_in = counts;
    if (rows && i.stratum && i.unit) i.units_in = counts + strata;
    if (clusters) i.clusters_in = counts + 2 * strata;
    i.units_fixed = i.unit && !s->plan->design.kind->with_replacement;
    i.rows_fixed = rows && !i.units_fixed;
    i.clusters_fixed = clusters;
    status = engine->describe(engine, &i, watch, err);
    if (status == TAMIS_OK) status = compare(s, &i, rows, clusters, err);
    tmi_free(counts);
    return status;
}
