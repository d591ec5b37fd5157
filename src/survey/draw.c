/* Drawing: the frame around the kinds' own samplers. */
#include <stdlib.h>
#include <string.h>

#include "rng/bits.h"
#include "survey/design/design.h"

struct tamis_sampler {
    const tamis_design *design;
    void *tables;
};

tamis_status tmi_design_prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    *tables = NULL;
    return design->kind->prepare ? design->kind->prepare(tables, design, watch, err) : TAMIS_OK;
}

void tmi_design_dismiss(void *tables, const tamis_design *design)
{
    if (tables) design->kind->dismiss(tables, design);
}

tamis_status tamis_sampler_new(tamis_sampler **sampler, const tamis_design *design, const tamis_watch *watch, tamis_error *err)
{
    const tmi_watch whole = tmi_watch_of(watch);
    if (!sampler) return tmi_fail(err, TAMIS_INVALID, "sampler: NULL");
    *sampler = NULL;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    tamis_sampler *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->design = design;
    tamis_status status = tmi_design_prepare(&s->tables, design, &whole, err);
    if (status == TAMIS_OK) *sampler = s;
    else tamis_sampler_free(s);
    return status;
}

void tamis_sampler_free(tamis_sampler *sampler)
{
    if (!sampler) return;
    tmi_design_dismiss(sampler->tables, sampler->design);
    tmi_free(sampler);
}

/* ---- the drawn units ---- */

tamis_status tmi_drawn_reserve(tamis_drawn *drawn, size_t more, tamis_error *err)
{
    if (more <= drawn->room - drawn->count) return TAMIS_OK;
    if (more > SIZE_MAX / 4 - drawn->room) return tmi_fail_memory(err);
    size_t room = drawn->room + (more > drawn->room ? more : drawn->room);
    int64_t *units = tmi_alloc(room, sizeof *units); /* not realloc: the old place is wiped */
    if (!units) return tmi_fail_memory(err);
    if (drawn->count > 0) {
        memcpy(units, drawn->units, drawn->count * sizeof *units);
        tmi_wipe(drawn->units, drawn->count * sizeof *units);
    }
    tmi_free(drawn->units);
    drawn->units = units;
    drawn->room = room;
    return TAMIS_OK;
}

tamis_status tmi_drawn_add(tamis_drawn *drawn, int64_t unit, tamis_error *err)
{
    if (drawn->count == drawn->room) {
        tamis_status status = tmi_drawn_reserve(drawn, 64, err);
        if (status != TAMIS_OK) return status;
    }
    drawn->units[drawn->count++] = unit;
    return TAMIS_OK;
}

void tamis_drawn_clear(tamis_drawn *drawn)
{
    if (!drawn) return;
    if (drawn->units) tmi_wipe(drawn->units, drawn->count * sizeof *drawn->units);
    tmi_free(drawn->units);
    *drawn = (tamis_drawn){0};
}

static int ascending(const void *x, const void *y)
{
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

tamis_status tmi_design_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, int64_t offset, tamis_rng *rng,
                             const tmi_watch *watch, tamis_error *err)
{
    size_t before = drawn->count;
    tamis_status status = design->kind->draw(drawn, design, tables, rng, watch, err);
    bool sorted = true;
    for (size_t i = before; i < drawn->count; i++) {
        drawn->units[i] += offset;
        sorted = sorted && (i == before || drawn->units[i - 1] <= drawn->units[i]);
    }
    if (!sorted) qsort(drawn->units + before, drawn->count - before, sizeof *drawn->units, ascending);
    return status;
}

tamis_status tamis_sampler_draw(tamis_drawn *drawn, const tamis_sampler *sampler, tamis_rng *rng, const tamis_watch *watch,
                                tamis_error *err)
{
    const tmi_watch whole = tmi_watch_of(watch);
    if (!drawn) return tmi_fail(err, TAMIS_INVALID, "drawn: NULL");
    *drawn = (tamis_drawn){0};
    if (!sampler) return tmi_fail(err, TAMIS_INVALID, "sampler: NULL");
    if (!rng) return tmi_fail(err, TAMIS_INVALID, "rng: NULL");
    tamis_status status = tmi_design_draw(drawn, sampler->design, sampler->tables, 0, rng, &whole, err);
    tmi_bits_done(rng);
    if (status != TAMIS_OK) tamis_drawn_clear(drawn);
    return status;
}
