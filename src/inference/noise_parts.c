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

/* An axis that is on in an effect that a table has. */
typedef struct on_axis {
    size_t place;           /* among the axes of the combination */
    size_t at;              /* and of the table */
    const double *contrast; /* at its levels; NULL: a category */
} on_axis;

/* An effect that both a read and a table have. */
typedef struct shared_effect {
    size_t effect;
    const double *parts; /* of each term, but for what depends on the cell */
    double share;        /* of a number of the table in an estimate, but for GRAM's `times` */
    on_axis on[TMI_MAX_AXES];
    size_t on_count; /* of those that depend on the cell */
} shared_effect;

/* What an estimate takes of the arrowhead: the coefficients of the centre and of all contrasts; and what it takes of effects. */
typedef struct read_solution {
    double centre;
    double *blocks;  /* TMI_CONTRASTS for each block of the effects */
    size_t *effects; /* that the read has a part in */
    double *parts;   /* of each of them and each term, but for what depends on the cell */
    shared_effect *inside;
    size_t effect_count, inside_count;
    double *levels; /* of all terms and places, at the levels of the axis: the vector less its mean */
    size_t first[TMI_MAX_AXES];
} read_solution;

typedef struct adding {
    const tmi_schedule *s;
    const tmi_read *reads;
    size_t count;
    read_solution *solutions; /* one per read */
    double *contrasts;        /* of the axes of the workload, at TMI_LEVELS levels each */
    tmi_moment_parts *parts;
    double weight;
    size_t stratum;
} adding;

static tamis_status solve(read_solution *arrowhead, const tmi_schedule *s, const tmi_combination *c, tamis_error *err)
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
                if (a->solutions[i].blocks[k * TMI_CONTRASTS + d] != 0) return false;
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

static bool has_axes(const size_t *axes, size_t count, const tmi_effect *e)
{
    for (size_t i = 0; i < e->on_count; i++) {
        size_t at = 0;
        while (at < count && axes[at] != e->on[i] / TMI_LEVELS) at++;
        if (at == count) return false;
    }
    return true;
}

#define ROUNDING 1e-13 /* of what a number is computed from: it is 0 but for rounding */

static double *levels_of(const read_solution *r, const adding *a, const tmi_combination *c, size_t place, size_t term)
{
    return r->levels + r->first[place] + term * a->s->workload.axes[c->axes[place]].levels;
}

/* The vectors of a read less their means; what is 0 but for rounding is 0. */
static bool set_levels(read_solution *r, const adding *a, const tmi_combination *c)
{
    const tmi_axis *axes = a->s->workload.axes;
    size_t room = 1;
    for (size_t place = 0; place < c->axis_count; place++) {
        r->first[place] = room;
        room += c->term_count * axes[c->axes[place]].levels;
    }
    r->levels = tmi_alloc(room, sizeof *r->levels);
    if (!r->levels) return false;
    for (size_t place = 0; place < c->axis_count; place++)
        for (size_t t = 0; t < c->term_count; t++) {
            const size_t levels = axes[c->axes[place]].levels;
            const double *v = c->vectors[place][t], mean = mean_of(v, levels);
            double *own = levels_of(r, a, c, place, t);
            for (size_t l = 0; l < levels; l++)
                own[l] = fabs(v[l] - mean) > ROUNDING * (fabs(v[l]) + fabs(mean)) ? v[l] - mean : 0;
        }
    return true;
}

static const double *contrast_of(const adding *a, size_t axis, size_t contrast)
{
    return a->contrasts + (axis * TMI_CONTRASTS + contrast) * TMI_LEVELS;
}

/* The part of a term in an effect, but for what depends on the cell: the means of axes that are not on, and the contrasts of
 * numbers. */
static double part_of(const adding *a, const read_solution *r, const tmi_combination *c, size_t term, const tmi_effect *e)
{
    double product = c->scale[term];
    for (size_t place = 0; place < c->axis_count && product != 0; place++) {
        const tmi_axis *axis = &a->s->workload.axes[c->axes[place]];
        const double *v = c->vectors[place][term], *own = levels_of(r, a, c, place, term);
        size_t on = 0;
        while (on < e->on_count && e->on[on] / TMI_LEVELS != c->axes[place]) on++;
        if (on == e->on_count) {
            product *= mean_of(v, axis->levels);
        } else if (axis->degree == 0) {
            bool any = false;
            for (size_t l = 0; l < axis->levels; l++) any = any || own[l] != 0;
            if (!any) return 0;
        } else {
            const double *contrast = contrast_of(a, c->axes[place], e->on[on] % TMI_LEVELS);
            double sum = 0, size = 0;
            for (size_t l = 0; l < axis->levels; l++) {
                sum += v[l] * contrast[l];
                size += fabs(v[l] * contrast[l]);
            }
            if (fabs(sum) <= ROUNDING * size) return 0;
            product *= sum;
        }
    }
    return product;
}

/* The effects that a read has a part in: few of all that there are, and the same for every table and cell. */
static bool find_effects(read_solution *r, const adding *a, const tmi_combination *c)
{
    const tmi_effects *e = &a->s->effects;
    const size_t own = c->weighting * e->domains + c->domain;
    size_t room = 0, parts_room = 0;
    if (!set_levels(r, a, c)) return false;
    for (size_t i = 0; i < e->count; i++) {
        const tmi_effect *effect = &e->list[i];
        double parts[TMI_MAX_TERMS];
        bool any = false;
        if (effect->arrowhead != own || effect->known || !has_axes(c->axes, c->axis_count, effect)) continue;
        for (size_t t = 0; t < c->term_count; t++) {
            parts[t] = part_of(a, r, c, t, effect);
            any = any || parts[t] != 0;
        }
        if (!any) continue;
        if (!tmi_grow(&r->effects, &room, r->effect_count, sizeof *r->effects)) return false;
        for (size_t t = 0; t < c->term_count; t++) {
            if (!tmi_grow(&r->parts, &parts_room, r->effect_count * c->term_count + t, sizeof *r->parts)) return false;
            r->parts[r->effect_count * c->term_count + t] = parts[t];
        }
        r->effects[r->effect_count++] = i;
    }
    r->inside = tmi_alloc(r->effect_count, sizeof *r->inside);
    return r->inside != NULL;
}

/* What a table has of the effects of a read. Contrasts of GRAM are in a released number as a whole. */
static void find_inside(read_solution *r, const adding *a, const tmi_combination *c, const tmi_marginal *marginal,
                        double precision)
{
    const tmi_effects *e = &a->s->effects;
    const tmi_axis *axes = a->s->workload.axes;
    const bool gram = tmi_is_gram(marginal->form);
    double share = precision;
    for (size_t i = 0; i < marginal->axis_count; i++)
        if (!gram || !tmi_is_gram_axis(&axes[marginal->axes[i]])) share /= (double)axes[marginal->axes[i]].levels;
    r->inside_count = 0;
    for (size_t i = 0; i < r->effect_count; i++) {
        const tmi_effect *effect = &e->list[r->effects[i]];
        if (!has_axes(marginal->axes, marginal->axis_count, effect)) continue;
        shared_effect *own = &r->inside[r->inside_count++];
        *own = (shared_effect){.effect = r->effects[i],
                               .parts = r->parts + i * c->term_count,
                               .share = share / effect->information};
        for (size_t k = 0; k < effect->on_count; k++) {
            const size_t axis = effect->on[k] / TMI_LEVELS;
            size_t at = 0;
            if (gram && tmi_is_gram_axis(&axes[axis])) continue;
            while (marginal->axes[at] != axis) at++;
            own->share *= (double)axes[axis].levels;
            own->on[own->on_count++] = (on_axis){.place = place_of(c, axis),
                                                 .at = at,
                                                 .contrast = axes[axis].degree > 0
                                                                 ? contrast_of(a, axis, effect->on[k] % TMI_LEVELS)
                                                                 : NULL};
        }
    }
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

/* A read's part in an effect at a cell of the table. */
static double part_at(const adding *a, size_t read, const shared_effect *e, const size_t *levels)
{
    const tmi_combination *c = a->reads[read].combination;
    double sum = 0;
    for (size_t t = 0; t < c->term_count; t++) {
        double product = e->parts[t];
        for (size_t k = 0; k < e->on_count && product != 0; k++) {
            const on_axis *on = &e->on[k];
            product *= on->contrast ? on->contrast[levels[on->at]]
                                    : levels_of(&a->solutions[read], a, c, on->place, t)[levels[on->at]];
        }
        sum += product;
    }
    return sum;
}

/* The factor of a number of the table in an estimate; `row` is its place in a cell of GRAM. */
static double factor_at(const adding *a, size_t read, const tmi_measurement *m, const size_t *levels, size_t row,
                        double precision)
{
    const bool gram = tmi_is_gram(m->marginal.form);
    const tmi_effects *e = &a->s->effects;
    const tmi_axis *axes = a->s->workload.axes;
    const read_solution *r = &a->solutions[read];
    const size_t arrowhead = m->marginal.weighting * e->domains + m->marginal.domain;
    double share = precision, sum = 0;
    for (size_t i = 0; i < m->marginal.axis_count; i++)
        if (!gram || !tmi_is_gram_axis(&axes[m->marginal.axes[i]])) share /= (double)axes[m->marginal.axes[i]].levels;
    for (size_t i = 0; i < r->inside_count; i++) {
        const tmi_effect *effect = &e->list[r->inside[i].effect];
        const double times = times_of(a, m, effect->on, effect->on_count, row);
        if (times != 0) sum += times * r->inside[i].share * part_at(a, read, &r->inside[i], levels);
    }
    sum += r->centre * share * times_of(a, m, NULL, 0, row);
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        size_t at = 0;
        if (block->arrowhead != arrowhead) continue;
        while (at < m->marginal.axis_count && m->marginal.axes[at] != block->axis) at++;
        if (at == m->marginal.axis_count) continue;
        const bool whole = gram && tmi_is_gram_axis(&axes[block->axis]);
        for (size_t k = 0; k < block->contrasts; k++) {
            const uint32_t on = (uint32_t)(block->axis * TMI_LEVELS + k);
            const double own = r->blocks[i * TMI_CONTRASTS + k];
            if (own == 0) continue;
            sum += own * share * times_of(a, m, &on, 1, row) *
                   (whole ? 1 : (double)axes[block->axis].levels * contrast_of(a, block->axis, k)[levels[at]]);
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
    const double precision = tmi_measurement_precision(a->s, m);
    kinds list[TMI_MAX_AXES] = {0};
    size_t levels[TMI_MAX_AXES] = {0};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < a->count; i++) find_inside(&a->solutions[i], a, a->reads[i].combination, &m->marginal, precision);
    for (size_t i = 0; i < m->marginal.axis_count; i++)
        if (!(tmi_is_gram(m->marginal.form) && tmi_is_gram_axis(&a->s->workload.axes[m->marginal.axes[i]])) &&
            !find_kinds(&list[i], a, m->marginal.axes[i]))
            TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(add_kinds(a, m, list, levels, 0, 1, precision, err));

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
            double sum = mean * a->solutions[i].centre;
            for (size_t k = 0; k < e->block_count; k++)
                if (e->blocks[k].arrowhead == arrowhead && e->blocks[k].axis == m->marginal.axes[0])
                    sum += tmi_dot(contrast, a->solutions[i].blocks + k * TMI_CONTRASTS, e->blocks[k].contrasts);
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

/* They are asked for once for each cell of every table. */
static void set_contrasts(adding *a)
{
    const tmi_axis *axes = a->s->workload.axes;
    for (size_t i = 0; i < a->s->workload.axis_count; i++)
        for (size_t k = 0; axes[i].degree > 0 && k < tmi_axis_contrasts(&axes[i]); k++)
            for (size_t l = 0; l < axes[i].levels; l++)
                a->contrasts[(i * TMI_CONTRASTS + k) * TMI_LEVELS + l] = tmi_axis_contrast(&axes[i], k, l);
}

tamis_status tmi_moment_parts_add(tmi_moment_parts *parts, const tmi_schedule *s, const tmi_read *reads, size_t count,
                                  size_t stratum, double weight, tamis_error *err)
{
    adding a = {.s = s, .reads = reads, .count = count, .parts = parts, .weight = weight, .stratum = stratum};
    tamis_status status = TAMIS_OK;
    parts->gaussian = s->gaussian;
    if (count == 0) return TAMIS_OK;
    a.solutions = tmi_alloc(count, sizeof *a.solutions);
    if (!a.solutions) return tmi_fail_memory(err);
    a.contrasts = tmi_alloc(s->workload.axis_count, TMI_CONTRASTS * TMI_LEVELS * sizeof *a.contrasts);
    if (!a.contrasts) TMI_TRY(tmi_fail_memory(err));
    set_contrasts(&a);
    for (size_t i = 0; i < count; i++) {
        TMI_TRY(solve(&a.solutions[i], s, reads[i].combination, err));
        if (!find_effects(&a.solutions[i], &a, reads[i].combination)) TMI_TRY(tmi_fail_memory(err));
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
        tmi_free(a.solutions[i].blocks);
        tmi_free(a.solutions[i].effects);
        tmi_free(a.solutions[i].parts);
        tmi_free(a.solutions[i].inside);
        tmi_free(a.solutions[i].levels);
    }
    tmi_free(a.solutions);
    tmi_free(a.contrasts);
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
