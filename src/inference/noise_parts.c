#include "inference/noise_parts.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/number.h"
#include "schedule/targets.h"

void tmi_moment_parts_clear(tmi_moment_parts *p)
{
    tmi_free(p->list);
    *p = (tmi_moment_parts){0};
}

/* ---- one read ---- */

/* What an estimate takes of the arrowhead: the coefficients of the centre and of all contrasts. */
typedef struct arrowhead_solution {
    double centre;
    double *blocks;  /* TMI_CONTRASTS for each block of the effects */
    size_t *effects; /* that the read has a part in, and from `effect_count` on those of them that the table has too */
    size_t effect_count, inside_count;
} arrowhead_solution;

typedef struct adding {
    const tmi_schedule *s;
    const tmi_read *reads;
    size_t count;
    arrowhead_solution *arrowheads; /* one per read */
    tmi_moment_parts *parts;
    double weight;
    size_t stratum;
} adding;

static tamis_status solve(arrowhead_solution *arrowhead, const tmi_schedule *s, const tmi_combination *c, tamis_error *err)
{
    const tmi_effects *e = &s->effects;
    tmi_parts_of_effects p;
    tamis_status status = tmi_effects_parts(&p, e, c, err);
    if (status != TAMIS_OK) return status;
    arrowhead->blocks = tmi_alloc(e->block_count, TMI_CONTRASTS * sizeof *arrowhead->blocks);
    if (!arrowhead->blocks) status = tmi_fail_memory(err);
    double asked = p.centre;
    for (size_t i = 0; i < p.block_count; i++)
        asked -= tmi_dot(p.blocks[i].c, e->blocks[p.blocks[i].block].solved, e->blocks[p.blocks[i].block].contrasts);
    arrowhead->centre = !e->arrowheads[p.arrowhead].known && e->arrowheads[p.arrowhead].rest > 0
                            ? asked / e->arrowheads[p.arrowhead].rest
                            : 0;
    for (size_t i = 0; status == TAMIS_OK && i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        double *y = arrowhead->blocks + i * TMI_CONTRASTS;
        if (block->arrowhead != p.arrowhead || block->known) continue;
        for (size_t k = 0; k < block->contrasts; k++) y[k] = -block->solved[k] * arrowhead->centre;
        for (size_t j = 0; j < p.block_count; j++)
            for (size_t k = 0; p.blocks[j].block == i && k < block->contrasts; k++)
                y[k] += tmi_dot(block->inverse[k], p.blocks[j].c, block->contrasts);
    }
    tmi_parts_of_effects_clear(&p);
    return status;
}

static size_t place_of(const tmi_combination *c, size_t axis)
{
    size_t i = 0;
    while (i < c->axis_count && c->axes[i] != axis) i++;
    return i;
}

static double mean_of(const double *vector, size_t levels)
{
    double sum = 0;
    for (size_t l = 0; l < levels; l++) sum += vector[l];
    return sum / (double)levels;
}

/* ---- tables with cells ---- */

/* The levels of an axis that differ, and how many are alike. */
typedef struct kinds {
    size_t *level;
    double *count;
    size_t kinds;
} kinds;

static bool are_alike(const adding *a, size_t axis, size_t l, size_t m)
{
    const tmi_effects *e = &a->s->effects;
    for (size_t i = 0; i < a->count; i++) {
        const tmi_combination *c = a->reads[i].combination;
        const size_t place = place_of(c, axis);
        for (size_t t = 0; place < c->axis_count && t < c->term_count; t++)
            if (c->vectors[place][t][l] != c->vectors[place][t][m]) return false;
        for (size_t k = 0; k < e->block_count; k++) {
            if (e->blocks[k].axis != axis) continue;
            for (size_t d = 0; d < e->blocks[k].contrasts; d++)
                if (a->arrowheads[i].blocks[k * TMI_CONTRASTS + d] != 0) return false;
        }
    }
    return true;
}

static bool find_kinds(kinds *k, const adding *a, size_t axis)
{
    const size_t levels = a->s->workload.axes[axis].levels;
    *k = (kinds){tmi_alloc(levels, sizeof *k->level), tmi_alloc(levels, sizeof *k->count), 0};
    if (!k->level || !k->count) return false;
    for (size_t l = 0; l < levels; l++) {
        size_t i = 0;
        while (i < k->kinds && !are_alike(a, axis, l, k->level[i])) i++;
        if (i == k->kinds) k->level[k->kinds++] = l;
        k->count[i]++;
    }
    return true;
}

/* The part of a term in an effect at a cell of the table: what remains of its vectors at these levels, contrasts, means. A
 * contrast of GRAM is in a released number as a whole. */
static double part_at(const adding *a, const tmi_combination *c, size_t term, const tmi_effect *e, const tmi_marginal *marginal,
                      const size_t *levels)
{
    const tmi_axis *axes = a->s->workload.axes;
    double product = c->scale[term];
    for (size_t place = 0; place < c->axis_count; place++) {
        const tmi_axis *axis = &axes[c->axes[place]];
        const double *v = c->vectors[place][term];
        size_t on = 0, at = 0;
        while (on < e->on_count && e->on[on] / TMI_LEVELS != c->axes[place]) on++;
        if (on == e->on_count) {
            product *= mean_of(v, axis->levels);
            continue;
        }
        while (marginal->axes[at] != c->axes[place]) at++;
        if (axis->degree == 0) {
            product *= v[levels[at]] - mean_of(v, axis->levels);
        } else {
            double sum = 0;
            for (size_t l = 0; l < axis->levels; l++) sum += v[l] * tmi_axis_contrast(axis, e->on[on] % TMI_LEVELS, l);
            product *= sum;
            if (!tmi_is_gram(marginal->form) || !tmi_is_gram_axis(axis))
                product *= tmi_axis_contrast(axis, e->on[on] % TMI_LEVELS, levels[at]);
        }
        if (product == 0) return 0;
    }
    return product;
}

static bool has_axes(const size_t *axes, size_t count, const tmi_effect *e)
{
    for (size_t i = 0; i < e->on_count; i++) {
        size_t at = 0;
        while (at < count && axes[at] != e->on[i] / TMI_LEVELS) at++;
        if (at == count) return false;
    }
    return true;
}

/* The effects of a read: few of all that there are, and the same for every table and cell. */
static bool find_effects(arrowhead_solution *arrowhead, const tmi_schedule *s, const tmi_combination *c)
{
    const tmi_effects *e = &s->effects;
    const size_t own = c->weighting * e->domains + c->domain;
    size_t room = 0;
    for (size_t i = 0; i < e->count; i++) {
        const tmi_effect *effect = &e->list[i];
        if (effect->arrowhead != own || effect->known || !has_axes(c->axes, c->axis_count, effect)) continue;
        if (!tmi_grow(&arrowhead->effects, &room, arrowhead->effect_count, sizeof *arrowhead->effects)) return false;
        arrowhead->effects[arrowhead->effect_count++] = i;
    }
    size_t *both = tmi_realloc(arrowhead->effects, 2 * arrowhead->effect_count, sizeof *both);
    if (both) arrowhead->effects = both;
    return both != NULL;
}

static void find_inside(arrowhead_solution *arrowhead, const tmi_effects *e, const tmi_marginal *marginal)
{
    arrowhead->inside_count = 0;
    for (size_t i = 0; i < arrowhead->effect_count; i++)
        if (has_axes(marginal->axes, marginal->axis_count, &e->list[arrowhead->effects[i]]))
            arrowhead->effects[arrowhead->effect_count + arrowhead->inside_count++] = arrowhead->effects[i];
}

/* How much of the contrasts of an effect a number of the table has: of a full one 1, and of GRAM the one that is about it, and no
 * other. */
static double times_of(const adding *a, const tmi_measurement *m, const uint32_t *on, size_t count, size_t row)
{
    tmi_gram_row of;
    size_t number;
    if (!tmi_is_gram(m->marginal.form)) return 1;
    if (!tmi_gram_row_of(&of, &number, a->s->workload.axes, &m->marginal, on, count) || number != row) return 0;
    return tmi_gram_times(m->marginal.form, &of);
}

/* The factor of a number of the table in an estimate; `row` is its place in a cell of GRAM. */
static double factor_at(const adding *a, size_t read, const tmi_measurement *m, const size_t *levels, size_t row,
                        double precision)
{
    const bool gram = tmi_is_gram(m->marginal.form);
    const tmi_effects *e = &a->s->effects;
    const tmi_axis *axes = a->s->workload.axes;
    const tmi_combination *c = a->reads[read].combination;
    const size_t arrowhead = m->marginal.weighting * e->domains + m->marginal.domain;
    double share = precision, sum = 0;
    for (size_t i = 0; i < m->marginal.axis_count; i++)
        if (!gram || !tmi_is_gram_axis(&axes[m->marginal.axes[i]])) share /= (double)axes[m->marginal.axes[i]].levels;
    for (size_t i = 0; i < a->arrowheads[read].inside_count; i++) {
        const tmi_effect *effect = &e->list[a->arrowheads[read].effects[a->arrowheads[read].effect_count + i]];
        const double times = times_of(a, m, effect->on, effect->on_count, row);
        if (times == 0) continue;
        double own = share * times / effect->information, part = 0;
        for (size_t k = 0; k < effect->on_count; k++)
            if (!gram || !tmi_is_gram_axis(&axes[effect->on[k] / TMI_LEVELS]))
                own *= (double)axes[effect->on[k] / TMI_LEVELS].levels;
        for (size_t t = 0; t < c->term_count; t++) part += part_at(a, c, t, effect, &m->marginal, levels);
        sum += own * part;
    }
    sum += a->arrowheads[read].centre * share * times_of(a, m, NULL, 0, row);
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        size_t at = 0;
        while (at < m->marginal.axis_count && m->marginal.axes[at] != block->axis) at++;
        if (block->arrowhead != arrowhead || at == m->marginal.axis_count) continue;
        const bool whole = gram && tmi_is_gram_axis(&axes[block->axis]);
        for (size_t k = 0; k < block->contrasts; k++) {
            const uint32_t on = (uint32_t)(block->axis * TMI_LEVELS + k);
            sum += a->arrowheads[read].blocks[i * TMI_CONTRASTS + k] * share * times_of(a, m, &on, 1, row) *
                   (whole ? 1 : (double)axes[block->axis].levels * tmi_axis_contrast(&axes[block->axis], k, levels[at]));
        }
    }
    return sum;
}

static tamis_status add_part(adding *a, const tmi_moment_part *part, tamis_error *err)
{
    bool any = false;
    for (size_t m = 0; m < TMI_MOMENTS; m++) any = any || part->factor[m] != 0;
    if (!any) return TAMIS_OK;
    if (!tmi_grow(&a->parts->list, &a->parts->room, a->parts->count, sizeof *part)) return tmi_fail_memory(err);
    a->parts->list[a->parts->count++] = *part;
    return TAMIS_OK;
}

static tamis_status add_kinds(adding *a, const tmi_measurement *m, const kinds *list, size_t *levels, size_t axis, double count,
                              double precision, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    while (axis < m->marginal.axis_count && list[axis].kinds == 0) axis++; /* a number of GRAM: it has no levels */
    if (axis < m->marginal.axis_count) {
        for (size_t k = 0; k < list[axis].kinds; k++) {
            levels[axis] = list[axis].level[k];
            TMI_TRY(add_kinds(a, m, list, levels, axis + 1, count * list[axis].count[k], precision, err));
        }
        return TAMIS_OK;
    }
    const double unit = a->weight * tmi_measurement_unit(m, &a->s->workload, a->stratum);
    for (size_t row = 0; row < (tmi_is_gram(m->marginal.form) ? m->levels : 1); row++) {
        tmi_moment_part part = {.scale = tmi_number_nearest(tmi_law_in_stratum(m, a->stratum)->scale),
                                .count = count,
                                .measurement = (size_t)(m - a->s->measurements)};
        for (size_t i = 0; i < a->count; i++)
            part.factor[a->reads[i].moment] += unit * factor_at(a, i, m, levels, row, precision);
        TMI_TRY(add_part(a, &part, err));
    }

done:
    return status;
}

static tamis_status add_full(adding *a, const tmi_measurement *m, tamis_error *err)
{
    kinds list[TMI_MAX_AXES] = {0};
    size_t levels[TMI_MAX_AXES] = {0};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < a->count; i++) find_inside(&a->arrowheads[i], &a->s->effects, &m->marginal);
    for (size_t i = 0; i < m->marginal.axis_count; i++)
        if (!(tmi_is_gram(m->marginal.form) && tmi_is_gram_axis(&a->s->workload.axes[m->marginal.axes[i]])) &&
            !find_kinds(&list[i], a, m->marginal.axes[i]))
            TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(add_kinds(a, m, list, levels, 0, 1, tmi_measurement_precision(a->s, m), err));

done:
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        tmi_free(list[i].level);
        tmi_free(list[i].count);
    }
    return status;
}

/* ---- numbers by themselves ---- */

static tamis_status add_single(adding *a, const tmi_measurement *m, tamis_error *err)
{
    const tmi_effects *e = &a->s->effects;
    const size_t arrowhead = m->marginal.weighting * e->domains + m->marginal.domain;
    const tmi_axis *axis = &a->s->workload.axes[m->marginal.axes[0]];
    const double unit = a->weight * tmi_measurement_unit(m, &a->s->workload, a->stratum),
                 precision = tmi_measurement_precision(a->s, m);
    tamis_status status = TAMIS_OK;
    for (size_t row = 0; row < m->levels; row++) {
        tmi_moment_part part = {.scale = tmi_number_nearest(tmi_law_in_stratum(m, a->stratum)->scale),
                                .count = 1,
                                .measurement = (size_t)(m - a->s->measurements)};
        double mean = 0, contrast[TMI_CONTRASTS] = {0};
        for (size_t l = 0; l < axis->levels; l++) {
            const double coefficient = tmi_form_level(m->marginal.form, axis, row, l);
            mean += coefficient / (double)axis->levels;
            for (size_t k = 0; k < tmi_axis_contrasts(axis); k++) contrast[k] += coefficient * tmi_axis_contrast(axis, k, l);
        }
        for (size_t i = 0; i < a->count; i++) {
            double sum = mean * a->arrowheads[i].centre;
            for (size_t k = 0; k < e->block_count; k++)
                if (e->blocks[k].arrowhead == arrowhead && e->blocks[k].axis == m->marginal.axes[0])
                    sum += tmi_dot(contrast, a->arrowheads[i].blocks + k * TMI_CONTRASTS, e->blocks[k].contrasts);
            part.factor[a->reads[i].moment] += unit * precision * sum;
        }
        TMI_TRY(add_part(a, &part, err));
    }

done:
    return status;
}

/* ---- together ---- */

/* Factors that are rounding errors beside those of their moment become 0. */
static void clean(tmi_moment_parts *p)
{
    for (size_t m = 0; m < TMI_MOMENTS; m++) {
        double largest = 0;
        for (size_t k = 0; k < p->count; k++) largest = fmax(largest, fabs(p->list[k].factor[m] * p->list[k].scale));
        for (size_t k = 0; k < p->count; k++)
            if (fabs(p->list[k].factor[m] * p->list[k].scale) < 1e-11 * largest) p->list[k].factor[m] = 0;
    }
}

tamis_status tmi_moment_parts_add(tmi_moment_parts *parts, const tmi_schedule *s, const tmi_read *reads, size_t count,
                                  size_t stratum, double weight, tamis_error *err)
{
    adding a = {.s = s, .reads = reads, .count = count, .parts = parts, .weight = weight, .stratum = stratum};
    tamis_status status = TAMIS_OK;
    parts->gaussian = s->gaussian;
    if (count == 0) return TAMIS_OK;
    a.arrowheads = tmi_alloc(count, sizeof *a.arrowheads);
    if (!a.arrowheads) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        TMI_TRY(solve(&a.arrowheads[i], s, reads[i].combination, err));
        if (!find_effects(&a.arrowheads[i], s, reads[i].combination)) TMI_TRY(tmi_fail_memory(err));
    }
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_measurement *m = &s->measurements[k];
        if (m->marginal.weighting != reads->combination->weighting || m->marginal.domain != reads->combination->domain) continue;
        const bool single = m->marginal.form == TMI_RAW || m->marginal.form == TMI_CENTRED;
        TMI_TRY(single ? add_single(&a, m, err) : add_full(&a, m, err));
    }
    clean(parts);

done:
    for (size_t i = 0; i < count; i++) {
        tmi_free(a.arrowheads[i].blocks);
        tmi_free(a.arrowheads[i].effects);
    }
    tmi_free(a.arrowheads);
    return status;
}

static tamis_status add_stratum(tmi_moment_parts *parts, const tmi_schedule *s, size_t i, size_t group, size_t stratum,
                                double weight, tamis_error *err)
{
    const tmi_weighting weighting = tmi_weighting_of(s, i);
    tmi_moment_sum sums[TMI_MOMENTS] = {0};
    tmi_read reads[TMI_MOMENTS];
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    for (size_t m = 0; m < TMI_MOMENTS; m++) {
        double one[TMI_MOMENTS] = {0};
        if (!tmi_has_moment(&s->workload.maps[i], m)) continue;
        one[m] = 1;
        TMI_TRY(tmi_moment_sum_make(&sums[m], &s->workload, weighting, i, group, stratum, one, NULL, err));
        reads[count++] = (tmi_read){&sums[m].combination, m};
    }
    TMI_TRY(tmi_moment_parts_add(parts, s, reads, count, stratum, weight, err));

done:
    for (size_t m = 0; m < TMI_MOMENTS; m++) tmi_moment_sum_clear(&sums[m]);
    return status;
}

/* Strata without ranges of their own have the same parts but for their weights: those of the first one are copied. */
static tamis_status copy_stratum(tmi_moment_parts *parts, const tmi_schedule *s, size_t count, size_t first, size_t stratum,
                                 tamis_error *err)
{
    const double ratio = tmi_number_nearest(s->sampling.weight[stratum]) / tmi_number_nearest(s->sampling.weight[first]);
    for (size_t k = 0; k < count; k++) {
        if (!tmi_grow(&parts->list, &parts->room, parts->count, sizeof *parts->list)) return tmi_fail_memory(err);
        tmi_moment_part part = parts->list[k];
        for (size_t m = 0; m < TMI_MOMENTS; m++) part.factor[m] *= ratio;
        parts->list[parts->count++] = part;
    }
    return TAMIS_OK;
}

tamis_status tmi_moment_parts_of_group(tmi_moment_parts *parts, const tmi_schedule *s, size_t i, size_t group, tamis_error *err)
{
    const bool differ = tmi_strata_differ(s, i), unweighed = tmi_main_weighting(s) == TMI_UNWEIGHTED,
               separate = s->workload.separate_strata;
    size_t first = SIZE_MAX, count = 0; /* the first stratum of the group, and its parts */
    tamis_status status = TAMIS_OK;
    *parts = (tmi_moment_parts){.gaussian = s->gaussian};
    if (s->workload.maps[i].contributed) {
        for (size_t part = 0; part < s->sampling.parts; part++) TMI_TRY(add_stratum(parts, s, i, group, part, 1, err));
        return TAMIS_OK;
    }
    for (size_t h = 0; h < (separate ? s->sampling.strata : 1); h++) {
        if (separate && !tmi_group_has_stratum(s, i, group, h)) continue;
        TMI_TRY(first == SIZE_MAX || differ
                    ? add_stratum(parts, s, i, group, h, unweighed ? tmi_number_nearest(s->sampling.weight[h]) : 1, err)
                    : copy_stratum(parts, s, count, first, h, err));
        if (first != SIZE_MAX) continue;
        first = h;
        count = parts->count;
    }

done:
    if (status != TAMIS_OK) tmi_moment_parts_clear(parts);
    return status;
}
