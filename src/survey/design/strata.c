/* Strata: independent designs side by side. */
#include "survey/design/composite.h"
#include "survey/design/form.h"

static tamis_status first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    size_t h = tmi_part_of(s, unit);
    return s->parts[h]->kind->first(pi, s->parts[h], unit - s->first[h], bits, err);
}

static tamis_status exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    size_t h = tmi_part_of(s, unit);
    return s->parts[h]->kind->exact(pi, s->parts[h], unit - s->first[h], err);
}

/* Within a stratum its own pi_kl, across strata pi_k pi_l. */
static tamis_status joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                          tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    tmi_ball *pi = tmi_balls_new(count);
    tamis_status status = TAMIS_OK;
    if (!pi) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) TMI_TRY(first(&pi[i], design, units[i], bits, err));
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) tmi_ball_mul(&pij[i * count + j], &pi[i], &pi[j], bits);
    TMI_TRY(tmi_composite_joint(pij, s, units, count, bits, err));
done:
    tmi_balls_free(pi, count);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    tamis_law *part = NULL, *before = NULL, *after = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_sample_law_of(&before, s->parts[0], err));
    for (size_t h = 1; h < s->count; h++) {
        TMI_TRY(tmi_sample_law_of(&part, s->parts[h], err));
        TMI_TRY(tmi_sample_law_alloc(&after, design->population, err));
        for (size_t i = 0; i < before->count; i++)
            for (size_t j = 0; j < part->count; j++)
                TMI_TRY(tmi_sample_law_add_product(after, &before->samples[i], &part->samples[j], (size_t)s->first[h], err));
        tamis_law_free(before);
        tamis_law_free(part);
        before = after;
        part = after = NULL;
    }
    tmi_sample_law_move(law, before);
done:
    tamis_law_free(part);
    tamis_law_free(before);
    tamis_law_free(after);
    return status;
}

static tamis_status draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                         const tmi_watch *watch, tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    void *const *own = tables;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < s->count && status == TAMIS_OK; h++) {
        const tmi_watch part = tmi_composite_watch(s, h, watch);
        status = tmi_design_draw(drawn, s->parts[h], own[h], s->first[h], rng, &part, err);
    }
    return status;
}

static tamis_status expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    const tmi_composite *s = (const tmi_composite *)design;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < s->count && status == TAMIS_OK; h++) {
        size_t before = exposures->count;
        status = s->parts[h]->kind->expose(exposures, s->parts[h], err);
        for (size_t i = before; i < exposures->count; i++) {
            exposures->list[i].first += s->first[h];
            exposures->list[i].stratum = (int64_t)h;
        }
    }
    return status;
}

static const tmi_design_kind strata_kind = {TMI_COMPOSITE("strata"), .stratified = true, .first = first, .exact = exact,
                                            .joint = joint,          .law = law_of,      .draw = draw,   .expose = expose};

tamis_status tamis_design_take_strata(tamis_design **design, tamis_design *const *strata, size_t count, tamis_error *err)
{
    tmi_composite *s;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    tamis_status status = tmi_composite_take(&s, &strata_kind, strata, count, "strata", err);
    if (status == TAMIS_OK) *design = &s->base;
    return status;
}

/* ---- as JSON ---- */

static tamis_status read_stratified(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    const tmi_value *list, *shared = NULL;
    const tmi_design_form *within = NULL;
    tamis_design **strata = NULL;
    size_t count = 0;
    tamis_status status = tmi_design_within(&within, &shared, f, err);
    if (status == TAMIS_OK) status = tmi_design_get(&list, f, "strata", err);
    if (status != TAMIS_OK) return status;
    if (tmi_value_kind_of(list) != TMI_VALUE_LIST) return tmi_fail(err, TAMIS_INVALID, "strata: must be a list");
    count = tmi_value_size(list);
    if (!(strata = tmi_alloc(count, sizeof *strata))) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) {
        tamis_error inner;
        const tmi_value *own = tmi_value_at(list, h);
        status = tmi_design_check_keys(own, within, &inner);
        const tmi_design_fields fields = {.own = own, .shared = shared, .worst = f->worst};
        if (status == TAMIS_OK) status = within->read(&strata[h], &fields, &inner);
        if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_memory(err));
        if (status != TAMIS_OK) TMI_TRY(tmi_fail(err, status, "strata: number %zu: %s", h, inner.message));
    }
    TMI_TRY(tamis_design_take_strata(design, strata, count, err));
    count = 0;
done:
    for (size_t h = 0; h < count; h++) tamis_design_free(strata[h]);
    tmi_free(strata);
    return status;
}

const tmi_design_form tmi_strata_form = {
    .name = "stratified",
    .has_parts = true,
    .keys = {"within", "strata"},
    .read = read_stratified,
};
