#include "survey/design/composite.h"

#include <string.h>

tamis_status tmi_composite_take(tmi_composite **design, const tmi_design_kind *kind, tamis_design *const *parts, size_t count,
                                const char *what, tamis_error *err)
{
    int64_t sample = 0;
    *design = NULL;
    if (!parts) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", what);
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "%s: at least one is needed", what);
    for (size_t h = 0; h < count; h++) {
        if (!parts[h]) return tmi_fail(err, TAMIS_INVALID, "%s: number %zu is NULL", what, h);
        for (size_t i = 0; i < h && count <= 1024; i++)
            if (parts[i] == parts[h]) return tmi_fail(err, TAMIS_INVALID, "%s: number %zu appears twice", what, h);
    }
    tmi_composite *d = tmi_design_alloc(sizeof *d, kind, 0, 0);
    if (!d) return tmi_fail_memory(err);
    d->parts = tmi_alloc(count, sizeof *d->parts);
    d->first = tmi_alloc(count + 1, sizeof *d->first);
    if (!d->parts || !d->first) {
        tmi_composite_clear(&d->base);
        tmi_free(d);
        return tmi_fail_memory(err);
    }
    for (size_t h = 0; h < count; h++) {
        d->first[h + 1] = d->first[h] + parts[h]->population;
        sample = sample < 0 || parts[h]->sample < 0 ? -1 : sample + parts[h]->sample;
        if (d->first[h + 1] <= TAMIS_MAX_UNITS) continue;
        tmi_composite_clear(&d->base);
        tmi_free(d);
        return tmi_fail(err, TAMIS_INVALID, "%s: more than 2^40 units together", what);
    }
    memcpy(d->parts, parts, count * sizeof *d->parts);
    d->count = count;
    d->base.population = d->first[count];
    d->base.sample = sample;
    *design = d;
    return TAMIS_OK;
}

void tmi_composite_clear(tamis_design *design)
{
    tmi_composite *d = (tmi_composite *)design;
    for (size_t h = 0; h < d->count; h++) tamis_design_free(d->parts[h]);
    tamis_design_free(d->above);
    tmi_free(d->parts);
    tmi_free(d->first);
}

size_t tmi_part_of(const tmi_composite *design, int64_t unit)
{
    size_t low = 0, high = design->count; /* first[low] <= unit < first[high] */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (design->first[middle] <= unit) low = middle;
        else high = middle;
    }
    return low;
}

tmi_watch tmi_composite_watch(const tmi_composite *design, size_t h, const tmi_watch *watch)
{
    const double all = (double)design->base.population;
    return tmi_watch_part(watch, (double)design->first[h] / all, (double)design->first[h + 1] / all);
}

/* The pairs within part h; `inside` and `at` have room for `count` units and their places. */
static tamis_status joint_of_part(tmi_ball *pij, const tmi_composite *design, size_t h, const int64_t *units, const size_t *part,
                                  size_t count, int64_t *inside, size_t *at, long bits, tamis_error *err)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (part[i] != h) continue;
        inside[found] = units[i] - design->first[h];
        at[found++] = i;
    }
    if (found < 2) return TAMIS_OK;
    tmi_ball *pairs = tmi_balls_new(found * found);
    if (!pairs) return tmi_fail_memory(err);
    tamis_status status = tmi_design_joint(pairs, design->parts[h], inside, found, bits, err);
    for (size_t i = 0; i < found && status == TAMIS_OK; i++)
        for (size_t j = i + 1; j < found; j++) tmi_ball_set(&pij[at[i] * count + at[j]], &pairs[i * found + j]);
    tmi_balls_free(pairs, found * found);
    return status;
}

tamis_status tmi_composite_joint(tmi_ball *pij, const tmi_composite *design, const int64_t *units, size_t count, long bits,
                                 tamis_error *err)
{
    int64_t *inside = tmi_alloc(count, sizeof *inside);
    size_t *at = tmi_alloc(count, sizeof *at), *part = tmi_alloc(count, sizeof *part);
    tamis_status status = inside && at && part ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) part[i] = tmi_part_of(design, units[i]);
    for (size_t i = 0; i < count && status == TAMIS_OK; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++) seen = part[j] == part[i];
        if (!seen) status = joint_of_part(pij, design, part[i], units, part, count, inside, at, bits, err);
    }
    tmi_free(inside);
    tmi_free(at);
    tmi_free(part);
    return status;
}

void tmi_composite_dismiss(void *tables, const tamis_design *design)
{
    const tmi_composite *d = (const tmi_composite *)design;
    void **own = tables;
    for (size_t h = 0; h < d->count; h++) tmi_design_dismiss(own[h], d->parts[h]);
    if (d->above) tmi_design_dismiss(own[d->count], d->above);
    tmi_free(own);
}

tamis_status tmi_composite_prepare(void **tables, const tamis_design *design, const tmi_watch *watch, tamis_error *err)
{
    const tmi_composite *d = (const tmi_composite *)design;
    void **own = tmi_alloc(d->count + 1, sizeof *own);
    tamis_status status = TAMIS_OK;
    if (!own) return tmi_fail_memory(err);
    for (size_t h = 0; h < d->count && status == TAMIS_OK; h++) {
        const tmi_watch part = tmi_composite_watch(d, h, watch);
        status = tmi_design_prepare(&own[h], d->parts[h], &part, err);
    }
    if (status == TAMIS_OK && d->above) status = tmi_design_prepare(&own[d->count], d->above, watch, err);
    if (status == TAMIS_OK) *tables = own;
    else tmi_composite_dismiss(own, design);
    return status;
}
