/* How an engine finds the slot of a row's cluster: by the rank of its label, by a hash, or in a list. */
#include "base/memory.h"
#include "measure/request/request.h"

static const tmi_column *lookup(tmi_query *a, const char *name, const tmi_column *of, const int64_t *numbers)
{
    return tmi_columns_add(&a->columns, &(tmi_column){.name = name, .kind = TMI_LOOKUP, .of = of, .numbers = numbers});
}

static const tmi_column *category(tmi_query *a, const char *name, char *const *values, size_t count)
{
    return tmi_columns_add(&a->columns, &(tmi_column){.name = name,
                                                      .kind = TMI_CATEGORY,
                                                      .values = (const char *const *)values,
                                                      .value_count = count});
}

/* ---- a list ---- */

static size_t places_of(const tmi_cluster_list *l)
{
    return l->crossed ? l->psus->facts.strata * l->psus->label_count : l->psus->label_count;
}

tamis_status tmi_query_make_clusters(tmi_query *a, const tmi_schedule *s, tamis_error *err)
{
    tmi_cluster_list *l = &a->listed;
    const tmi_psu_file *p = &s->psus;
    if (!s->sampling.psus || s->places.layout.count == 0) return TAMIS_OK;
    l->psus = p;
    l->crossed = (int64_t)p->label_count < tmi_psu_count(&p->facts);
    const size_t places = places_of(l), strata = p->facts.strata;
    l->codes = tmi_alloc(places, sizeof *l->codes);
    l->numbers = l->crossed ? tmi_alloc(strata + p->label_count, sizeof *l->numbers) : NULL;
    l->cuts = l->crossed ? tmi_alloc(places, sizeof *l->cuts) : NULL;
    if (!l->codes || (l->crossed && (!l->numbers || !l->cuts))) return tmi_fail_memory(err);
    for (size_t i = 0; i < places; i++) l->codes[i] = -1;
    for (size_t h = 0; l->crossed && h < strata; h++) l->numbers[h] = (int64_t)(h * p->label_count);
    for (size_t i = 0; l->crossed && i < p->label_count; i++) l->numbers[strata + i] = -(int64_t)i; /* it is subtracted */
    for (size_t i = 0; l->crossed && i + 1 < places; i++) l->cuts[i] = (int64_t)i + 1;
    return TAMIS_OK;
}

void tmi_query_place_clusters(tmi_query *a)
{
    const tmi_cluster_list *l = &a->listed;
    size_t psu = 0;
    for (size_t h = 0; l->psus && h < l->psus->facts.strata; h++)
        for (int64_t rank = 0; rank < l->psus->facts.clusters[h]; rank++, psu++) {
            const size_t label = (size_t)l->psus->label_of[psu];
            l->codes[l->crossed ? h * l->psus->label_count + label : label] = a->psus.cell_of[h][rank];
        }
}

/* The column of slots. */
static tmi_column listed_slots(tmi_query *a, const tmi_plan_design *d)
{
    const tmi_cluster_list *l = &a->listed;
    const tmi_psu_file *p = l->psus;
    const tmi_column *place = category(a, d->cluster, p->labels, p->label_count);
    const tmi_column *stratum = p->strata ? category(a, d->strata_label, p->strata, p->facts.strata) : NULL;
    if (l->crossed) {
        const tmi_column *number = tmi_columns_add(&a->columns,
                                                   &(tmi_column){.name = "place in the list",
                                                                 .kind = TMI_DIFFERENCE,
                                                                 .of = lookup(a, "stratum in the list", stratum, l->numbers),
                                                                 .second = lookup(a, "label in the list", place,
                                                                                  l->numbers + p->facts.strata)});
        place = tmi_columns_add(&a->columns, &(tmi_column){.name = "cluster in the list",
                                                           .kind = TMI_CUTS,
                                                           .of = number,
                                                           .cuts = l->cuts,
                                                           .value_count = places_of(l)});
    }
    return (tmi_column){.kind = TMI_CLASSES, .of = place, .classes = l->codes};
}

/* ---- all of them ---- */

void tmi_query_add_bounded_weight(tmi_query *a, const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    a->clamped = a->weight;
    if (p->weights != TMI_ROWS || p->most_clamped >= p->most) return;
    tmi_column clamped = *a->weight;
    clamped.grid.high = p->most_clamped;
    clamped.grid.to = (double)p->most_clamped * clamped.grid.step;
    if (p->from_frame) {
        for (size_t i = 0; i < s->frame.count; i++)
            a->frame_clamped[i] = a->frame_points[i] < p->most_clamped ? a->frame_points[i] : p->most_clamped;
        clamped.numbers = a->frame_clamped;
    }
    a->clamped = tmi_columns_add(&a->columns, &clamped);
}

void tmi_query_add_clusters(tmi_query *a, const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    const tmi_plan_design *d = &s->plan->design;
    tmi_column units = {.of = a->cluster ? a->cluster : a->unit};
    if (a->listed.psus) {
        units = listed_slots(a, d);
    } else if (s->places.hashed) {
        units.kind = TMI_SCATTER;
        units.stratum = tmi_columns_add_label(&a->columns, d->strata_label);
        units.key = a->psus.key;
    } else {
        units.kind = TMI_GROUPS;
        units.stratum = p->public_strata ? a->stratum : NULL;
        units.cell_of = (const int32_t *const *)a->psus.cell_of;
        units.cluster_counts = s->places.psus;
    }
    units.name = "slot of clusters";
    units.value_count = a->psus.codes;
    a->units = tmi_columns_add(&a->columns, &units);
}
