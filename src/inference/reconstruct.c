#include "inference/reconstruct.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "num/number.h"

void tmi_reconstruction_clear(tmi_reconstruction *r)
{
    tmi_free(r->first);
    tmi_free(r->effects);
    tmi_free(r->centres);
    tmi_free(r->blocks);
    *r = (tmi_reconstruction){0};
}

static size_t arrowhead_of(const tmi_schedule *s, const tmi_marginal *marginal)
{
    return marginal->weighting * s->effects.domains + marginal->domain;
}

static bool is_own(const tmi_reconstruction *r, size_t arrowhead)
{
    return arrowhead / r->schedule->effects.domains == r->weighting;
}

static const tmi_axis *axis_of(const tmi_reconstruction *r, size_t axis) { return &r->schedule->workload.axes[axis]; }

/* Numbers of an effect: the levels of its category axes, crossed. */
static size_t size_of(const tmi_reconstruction *r, const tmi_effect *e)
{
    size_t size = 1;
    for (size_t i = 0; i < e->on_count; i++) {
        const tmi_axis *axis = axis_of(r, e->on[i] / TMI_LEVELS);
        if (axis->degree == 0) size *= axis->levels;
    }
    return size;
}

static tamis_status make_room(tmi_reconstruction *r, tamis_error *err)
{
    const tmi_effects *e = &r->schedule->effects;
    r->first = tmi_alloc(e->count, sizeof *r->first);
    if (!r->first) return tmi_fail_memory(err);
    for (size_t i = 0; i < e->count; i++) {
        r->first[i] = r->numbers;
        if (is_own(r, e->list[i].arrowhead)) r->numbers += size_of(r, &e->list[i]);
    }
    r->effects = tmi_alloc(r->copies * r->numbers, sizeof *r->effects);
    r->centres = tmi_alloc(r->copies * e->arrowhead_count, sizeof *r->centres);
    r->blocks = tmi_alloc(r->copies * e->block_count, TMI_CONTRASTS * sizeof *r->blocks);
    return r->effects && r->centres && r->blocks ? TAMIS_OK : tmi_fail_memory(err);
}

/* ---- sums over tables ---- */

/* How one axis of a table enters an effect: by its level, by a contrast, or not at all. */
typedef struct entry {
    size_t levels, stride;
    const double *contrast; /* NULL: none */
} entry;

/* The sum of the table's numbers for each number of the effect, contrasts multiplied in. */
static void add_table(double *sums, const double *table, const entry *entries, size_t count, size_t numbers, double weight)
{
    size_t level[TMI_MAX_AXES] = {0};
    for (size_t k = 0; k < numbers; k++) {
        double factor = weight;
        size_t at = 0;
        for (size_t a = 0; a < count; a++) {
            at += entries[a].stride * level[a];
            if (entries[a].contrast) factor *= entries[a].contrast[level[a]];
        }
        sums[at] += factor * table[k];
        for (size_t a = count; a-- > 0 && ++level[a] == entries[a].levels;) level[a] = 0;
    }
}

typedef struct contrasts {
    double values[TMI_MAX_AXES][TMI_LEVELS];
} contrasts;

/* False: the table does not have all axes of the effect. */
static bool set_entries(entry *entries, contrasts *c, const tmi_reconstruction *r, const tmi_marginal *marginal,
                        const uint32_t *on, size_t on_count)
{
    size_t stride = 1, found = 0;
    for (size_t a = 0; a < marginal->axis_count; a++) entries[a] = (entry){.levels = axis_of(r, marginal->axes[a])->levels};
    for (size_t i = on_count; i-- > 0;) {
        const size_t number = on[i] / TMI_LEVELS;
        const tmi_axis *axis = axis_of(r, number);
        for (size_t a = 0; a < marginal->axis_count; a++) {
            if (marginal->axes[a] != number) continue;
            found++;
            if (axis->degree == 0) {
                entries[a].stride = stride;
                continue;
            }
            for (size_t l = 0; l < axis->levels; l++) c->values[a][l] = tmi_axis_contrast(axis, on[i] % TMI_LEVELS, l);
            entries[a].contrast = c->values[a];
        }
        if (axis->degree == 0) stride *= axis->levels;
    }
    return found == on_count;
}

static void add_full(tmi_reconstruction *r, const tmi_measurement *m, const double *table, size_t copy, double precision)
{
    const tmi_effects *e = &r->schedule->effects;
    const size_t arrowhead = arrowhead_of(r->schedule, &m->marginal), numbers = m->cells * m->levels;
    entry entries[TMI_MAX_AXES];
    contrasts c;
    double shares = precision;
    for (size_t a = 0; a < m->marginal.axis_count; a++) shares /= (double)axis_of(r, m->marginal.axes[a])->levels;
    for (size_t i = 0; i < e->count; i++) {
        const tmi_effect *effect = &e->list[i];
        if (effect->arrowhead != arrowhead || effect->known ||
            !set_entries(entries, &c, r, &m->marginal, effect->on, effect->on_count))
            continue;
        double share = shares;
        for (size_t k = 0; k < effect->on_count; k++) share *= (double)axis_of(r, effect->on[k] / TMI_LEVELS)->levels;
        add_table(r->effects + copy * r->numbers + r->first[i], table, entries, m->marginal.axis_count, numbers, share);
    }
    set_entries(entries, &c, r, &m->marginal, NULL, 0);
    add_table(&r->centres[copy * e->arrowhead_count + arrowhead], table, entries, m->marginal.axis_count, numbers, shares);
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        for (size_t k = 0; block->arrowhead == arrowhead && k < block->contrasts; k++) {
            const uint32_t on = (uint32_t)(block->axis * TMI_LEVELS + k);
            if (!set_entries(entries, &c, r, &m->marginal, &on, 1)) break;
            add_table(r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS + k, table, entries, m->marginal.axis_count,
                      numbers, shares * (double)axis_of(r, block->axis)->levels);
        }
    }
}

/* Products of several numbers: the released numbers of all cells that are about an effect, with their coefficient of its
 * contrasts. `row` has room for one number of each cell. */
static void add_row(double *sums, double *row, const tmi_reconstruction *r, const tmi_measurement *m, const double *table,
                    const uint32_t *on, size_t on_count, double precision)
{
    const tmi_axis *axes = r->schedule->workload.axes;
    tmi_marginal rest = m->marginal;
    uint32_t rest_on[TMI_MAX_AXES] = {0};
    entry entries[TMI_MAX_AXES];
    contrasts c;
    tmi_gram_row of;
    size_t number, rest_count = 0;
    if (!tmi_gram_row_of(&of, &number, axes, &m->marginal, on, on_count)) return;
    rest.axis_count = 0;
    for (size_t a = 0; a < m->marginal.axis_count; a++)
        if (!tmi_is_gram_axis(&axes[m->marginal.axes[a]])) rest.axes[rest.axis_count++] = m->marginal.axes[a];
    for (size_t i = 0; i < on_count; i++)
        if (!tmi_is_gram_axis(&axes[on[i] / TMI_LEVELS])) rest_on[rest_count++] = on[i];
    if (!set_entries(entries, &c, r, &rest, rest_on, rest_count)) return;
    double share = precision * tmi_gram_times(m->marginal.form, &of);
    for (size_t a = 0; a < rest.axis_count; a++) share /= (double)axes[rest.axes[a]].levels;
    for (size_t i = 0; i < rest_count; i++) share *= (double)axes[rest_on[i] / TMI_LEVELS].levels;
    for (size_t cell = 0; cell < m->cells; cell++) row[cell] = table[cell * m->levels + number];
    add_table(sums, row, entries, rest.axis_count, m->cells, share);
}

static bool is_on(const tmi_marginal *marginal, const uint32_t *on, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t a = 0;
        while (a < marginal->axis_count && marginal->axes[a] != on[i] / TMI_LEVELS) a++;
        if (a == marginal->axis_count) return false;
    }
    return true;
}

static void add_gram(tmi_reconstruction *r, const tmi_measurement *m, const double *table, double *row, size_t copy,
                     double precision)
{
    const tmi_effects *e = &r->schedule->effects;
    const size_t arrowhead = arrowhead_of(r->schedule, &m->marginal);
    for (size_t i = 0; i < e->count; i++) {
        const tmi_effect *effect = &e->list[i];
        if (effect->arrowhead == arrowhead && !effect->known && is_on(&m->marginal, effect->on, effect->on_count))
            add_row(r->effects + copy * r->numbers + r->first[i], row, r, m, table, effect->on, effect->on_count, precision);
    }
    add_row(&r->centres[copy * e->arrowhead_count + arrowhead], row, r, m, table, NULL, 0, precision);
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        for (size_t k = 0; block->arrowhead == arrowhead && k < block->contrasts; k++) {
            const uint32_t on = (uint32_t)(block->axis * TMI_LEVELS + k);
            if (!is_on(&m->marginal, &on, 1)) break;
            add_row(r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS + k, row, r, m, table, &on, 1, precision);
        }
    }
}

/* A number by itself: what each released number says about the centre and about its contrasts. */
static void add_single(tmi_reconstruction *r, const tmi_measurement *m, const double *table, size_t copy, double precision)
{
    const tmi_effects *e = &r->schedule->effects;
    const size_t arrowhead = arrowhead_of(r->schedule, &m->marginal);
    const tmi_axis *axis = axis_of(r, m->marginal.axes[0]);
    for (size_t row = 0; row < m->levels; row++) {
        double mean = 0, contrast[TMI_CONTRASTS] = {0};
        for (size_t l = 0; l < axis->levels; l++) {
            const double coefficient = tmi_form_level(m->marginal.form, axis, row, l);
            mean += coefficient / (double)axis->levels;
            for (size_t k = 0; k < tmi_axis_contrasts(axis); k++) contrast[k] += coefficient * tmi_axis_contrast(axis, k, l);
        }
        r->centres[copy * e->arrowhead_count + arrowhead] += precision * mean * table[row];
        for (size_t i = 0; i < e->block_count; i++) {
            if (e->blocks[i].arrowhead != arrowhead || e->blocks[i].axis != m->marginal.axes[0]) continue;
            double *block = r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS;
            for (size_t k = 0; k < TMI_CONTRASTS; k++) block[k] += precision * contrast[k] * table[row];
        }
    }
}

/* Adds all measurements of the weighting, each with the precision that the schedule's effects have of it. */
static tamis_status add_measurements(tmi_reconstruction *r, tmi_int128 *const *noisy, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    for (size_t i = 0; i < s->measurement_count; i++) {
        const tmi_measurement *m = &s->measurements[i];
        const size_t numbers = m->cells * m->levels;
        if (m->marginal.weighting != r->weighting) continue;
        double *table = tmi_alloc(numbers + m->cells, sizeof *table); /* and one number of each cell */
        if (!table) return tmi_fail_memory(err);
        for (size_t copy = 0; copy < r->copies; copy++) {
            const double unit = tmi_measurement_unit(m, &s->workload, s->workload.separate_strata ? copy : 0);
            for (size_t k = 0; k < numbers; k++) table[k] = unit * (double)noisy[i][copy * numbers + k];
            const double precision = tmi_measurement_precision(s, m);
            if (m->marginal.form == TMI_FULL) add_full(r, m, table, copy, precision);
            else if (tmi_is_gram(m->marginal.form)) add_gram(r, m, table, table + numbers, copy, precision);
            else add_single(r, m, table, copy, precision);
        }
        tmi_free(table);
    }
    return TAMIS_OK;
}

/* ---- estimates ---- */

/* The mean over the levels of one axis is taken off. */
static void centre_axis(double *values, size_t size, size_t levels, size_t stride)
{
    for (size_t k = 0; k < size; k++) {
        if (k / stride % levels != 0) continue;
        double mean = 0;
        for (size_t l = 0; l < levels; l++) mean += values[k + l * stride] / (double)levels;
        for (size_t l = 0; l < levels; l++) values[k + l * stride] -= mean;
    }
}

static void solve_effect(const tmi_reconstruction *r, double *values, const tmi_effect *e)
{
    const size_t size = size_of(r, e);
    size_t stride = 1;
    for (size_t k = 0; k < size; k++) values[k] = e->information > 0 ? values[k] / e->information : 0;
    for (size_t i = e->on_count; i-- > 0;) {
        const tmi_axis *axis = axis_of(r, e->on[i] / TMI_LEVELS);
        if (axis->degree > 0) continue;
        centre_axis(values, size, axis->levels, stride);
        stride *= axis->levels;
    }
}

/* The public number of rows of a copy: of all, or in one of these classes of strata. */
static double known_rows(const tmi_reconstruction *r, size_t copy, const tmi_classes *classes, size_t class)
{
    const tmi_schedule *s = r->schedule;
    const tmi_sampling *p = &s->sampling;
    double sum = 0;
    if (r->weighting == TMI_CONTRIBUTED) return (double)tmi_contribution_rows(p, copy);
    for (size_t h = 0; h < p->strata; h++) {
        if ((s->workload.separate_strata && h != copy) || (classes && (size_t)classes->class_of[h] != class)) continue;
        const double n = (double)s->plan->design.strata[h].sample;
        sum += r->weighting == TMI_UNWEIGHTED ? n
               : r->weighting == TMI_WEIGHTED ? n * (double)p->points[h] * tmi_number_nearest(p->step)
                                              : n * (double)p->variance_points[h] * tmi_number_nearest(p->variance_step);
    }
    return sum;
}

/* The classes of strata that a counted axis has. */
static const tmi_classes *strata_on(const tmi_reconstruction *r, size_t axis)
{
    const tmi_workload *w = &r->schedule->workload;
    return &w->classes[w->origins[axis].classes[0]];
}

static void set_known(const tmi_reconstruction *r, double *values, size_t copy, size_t number)
{
    const tmi_axis *axis = axis_of(r, number);
    for (size_t l = 0; l < axis->levels; l++) values[l] = known_rows(r, copy, strata_on(r, number), l);
    centre_axis(values, axis->levels, axis->levels, 1);
}

/* Solves an arrowhead: the centre first, what the blocks say about it taken off; then each block, given the centre. */
static void solve_star(const tmi_reconstruction *r, size_t copy, size_t number)
{
    const tmi_effects *e = &r->schedule->effects;
    const tmi_arrowhead *arrowhead = &e->arrowheads[number];
    double *centre = &r->centres[copy * e->arrowhead_count + number];
    for (size_t i = 0; i < e->block_count && !arrowhead->known; i++)
        if (e->blocks[i].arrowhead == number)
            *centre -= tmi_dot(e->blocks[i].solved, r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS,
                               e->blocks[i].contrasts);
    *centre = arrowhead->known ? known_rows(r, copy, NULL, 0) : arrowhead->rest > 0 ? *centre / arrowhead->rest : 0;
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        double *values = r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS, right[TMI_CONTRASTS];
        if (block->arrowhead != number) continue;
        for (size_t k = 0; k < block->contrasts; k++) right[k] = values[k] - block->cross[k] * *centre;
        for (size_t k = 0; k < block->contrasts; k++) values[k] = tmi_dot(block->inverse[k], right, block->contrasts);
        for (size_t k = 0; block->known && k < block->contrasts; k++) {
            const tmi_axis *axis = axis_of(r, block->axis);
            values[k] = 0;
            for (size_t l = 0; l < axis->levels; l++)
                values[k] += tmi_axis_contrast(axis, k, l) * known_rows(r, copy, strata_on(r, block->axis), l);
        }
    }
}

tamis_status tmi_reconstruct(tmi_reconstruction *r, const tmi_schedule *s, tmi_weighting weighting, tmi_int128 *const *noisy,
                             tamis_error *err)
{
    const tmi_effects *e = &s->effects;
    tamis_status status;
    *r = (tmi_reconstruction){.schedule = s,
                              .weighting = weighting,
                              .copies = weighting == TMI_CONTRIBUTED  ? s->sampling.parts
                                        : s->workload.separate_strata ? s->sampling.strata
                                                                      : 1};
    TMI_TRY(make_room(r, err));
    TMI_TRY(add_measurements(r, noisy, err));
    for (size_t copy = 0; copy < r->copies; copy++) {
        for (size_t i = 0; i < e->count; i++) {
            double *values = r->effects + copy * r->numbers + r->first[i];
            if (!is_own(r, e->list[i].arrowhead)) continue;
            if (e->list[i].known) set_known(r, values, copy, e->list[i].on[0] / TMI_LEVELS);
            else solve_effect(r, values, &e->list[i]);
        }
        for (size_t i = 0; i < e->arrowhead_count; i++)
            if (is_own(r, i)) solve_star(r, copy, i);
    }

done:
    if (status != TAMIS_OK) tmi_reconstruction_clear(r);
    return status;
}
