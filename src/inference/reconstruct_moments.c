/* Moments of groups from effects.
 *
 * The axes of a statistic are outer ones, those of its groups and of calibration, and inner ones. What its vectors leave of the
 * inner axes is a number, so that each effect becomes a small table over the outer axes that are on; added up, with 1/L for an
 * outer axis that is off, they are the moments of every combination of outer levels. Groups are sums of such combinations. */
#include <string.h>

#include "base/memory.h"
#include "inference/reconstruct.h"
#include "measure/classes.h"
#include "measure/controls.h"

typedef struct layout {
    const tmi_reconstruction *r;
    const tmi_combination *c;
    size_t term;
    size_t outer[TMI_MAX_AXES]; /* places among the axes of the combination */
    size_t outer_count, cells;
} layout;

static const tmi_axis *axis_at(const layout *l, size_t place) { return &l->r->schedule->workload.axes[l->c->axes[place]]; }

static bool is_outer(const layout *l, size_t place)
{
    for (size_t k = 0; k < l->outer_count; k++)
        if (l->outer[k] == place) return true;
    return false;
}

static void set_outer(layout *l, size_t statistic)
{
    const tmi_workload *w = &l->r->schedule->workload;
    const tmi_statistic_map *map = &w->maps[statistic];
    l->cells = 1;
    for (size_t place = 0; place < l->c->axis_count; place++) {
        bool outer = l->c->axes[place] == w->control_axis;
        for (size_t k = 0; k < w->plan->statistics[statistic].by_count; k++)
            outer = outer || (map->by[k] != SIZE_MAX && w->classes[map->by[k]].axis == l->c->axes[place]);
        if (!outer) continue;
        l->outer[l->outer_count++] = place;
        l->cells *= axis_at(l, place)->levels;
    }
}

static double mean_at(const layout *l, size_t place)
{
    double sum = 0;
    for (size_t k = 0; k < axis_at(l, place)->levels; k++) sum += l->c->vectors[place][l->term][k];
    return sum / (double)axis_at(l, place)->levels;
}

/* Which of an effect's axes is at a place; on_count: none. */
static size_t find_on(const layout *l, const uint32_t *on, size_t count, size_t place)
{
    size_t i = 0;
    while (i < count && on[i] / TMI_LEVELS != l->c->axes[place]) i++;
    return i;
}

/* How the level of a place enters: a vector of the inner ones, and of the outer ones 1/L or a contrast. */
typedef struct contraction {
    double *sums;         /* over the outer cells */
    const double *values; /* of the effect */
    size_t places;
    size_t levels[TMI_MAX_AXES], cell_stride[TMI_MAX_AXES], value_stride[TMI_MAX_AXES];
    const double *factor[TMI_MAX_AXES]; /* NULL: ones */
    double room[TMI_MAX_AXES][TMI_LEVELS];
} contraction;

/* Sums over the inner levels, and over those of the effect's numbers that belong to each outer cell. */
static void contract(const contraction *w, size_t place, size_t cell, size_t at, double product)
{
    if (place == w->places) {
        w->sums[cell] += product * w->values[at];
        return;
    }
    for (size_t k = 0; k < w->levels[place]; k++) {
        const double factor = w->factor[place] ? product * w->factor[place][k] : product;
        if (factor != 0) contract(w, place + 1, cell + k * w->cell_stride[place], at + k * w->value_stride[place], factor);
    }
}

/* Adds an effect, or a contrast of the arrowhead, to the outer cells. Axes that are off and inner are a factor alone. */
static void add_effect(double *sums, const layout *l, const uint32_t *on, size_t on_count, const double *values)
{
    contraction w = {.sums = sums, .values = values};
    double product = l->c->scale[l->term];
    size_t cell_stride = 1, value_stride = 1;
    size_t strides[TMI_MAX_AXES] = {0};
    for (size_t k = l->outer_count; k-- > 0;) {
        strides[l->outer[k]] = cell_stride;
        cell_stride *= axis_at(l, l->outer[k])->levels;
    }
    size_t stride_of[TMI_MAX_AXES] = {0};
    for (size_t i = on_count; i-- > 0;) {
        const tmi_axis *axis = &l->r->schedule->workload.axes[on[i] / TMI_LEVELS];
        if (axis->degree > 0) continue;
        stride_of[i] = value_stride;
        value_stride *= axis->levels;
    }
    for (size_t place = 0; place < l->c->axis_count; place++) {
        const tmi_axis *axis = axis_at(l, place);
        const size_t i = find_on(l, on, on_count, place);
        const bool outer = is_outer(l, place), off = i == on_count, contrast = !off && axis->degree > 0;
        if (off && !outer) {
            product *= mean_at(l, place);
            continue;
        }
        if (contrast && !outer) {
            double sum = 0;
            for (size_t k = 0; k < axis->levels; k++)
                sum += l->c->vectors[place][l->term][k] * tmi_axis_contrast(axis, on[i] % TMI_LEVELS, k);
            product *= sum;
            continue;
        }
        const size_t own = w.places++;
        w.levels[own] = axis->levels;
        w.cell_stride[own] = strides[place];
        w.value_stride[own] = off || contrast ? 0 : stride_of[i];
        if (off) product /= (double)axis->levels;
        else if (!outer) w.factor[own] = l->c->vectors[place][l->term];
        for (size_t k = 0; contrast && k < axis->levels; k++) w.room[own][k] = tmi_axis_contrast(axis, on[i] % TMI_LEVELS, k);
        if (contrast) w.factor[own] = w.room[own];
    }
    if (product != 0) contract(&w, 0, 0, 0, product);
}

static bool has_axes(const layout *l, const uint32_t *on, size_t count)
{
    size_t found = 0;
    for (size_t place = 0; place < l->c->axis_count; place++) found += find_on(l, on, count, place) < count;
    return found == count;
}

static void add_all(double *sums, const layout *l, size_t copy)
{
    const tmi_reconstruction *r = l->r;
    const tmi_effects *e = &r->schedule->effects;
    const size_t arrowhead = l->c->weighting * e->domains + l->c->domain;
    add_effect(sums, l, NULL, 0, &r->centres[copy * e->arrowhead_count + arrowhead]);
    for (size_t i = 0; i < e->block_count; i++)
        for (size_t k = 0; e->blocks[i].arrowhead == arrowhead && k < e->blocks[i].contrasts; k++) {
            const uint32_t on = (uint32_t)(e->blocks[i].axis * TMI_LEVELS + k);
            if (has_axes(l, &on, 1)) add_effect(sums, l, &on, 1, r->blocks + (copy * e->block_count + i) * TMI_CONTRASTS + k);
        }
    for (size_t i = 0; i < e->count; i++)
        if (e->list[i].arrowhead == arrowhead && has_axes(l, e->list[i].on, e->list[i].on_count))
            add_effect(sums, l, e->list[i].on, e->list[i].on_count, r->effects + copy * r->numbers + r->first[i]);
}

/* ---- groups ---- */

/* Whether a level of an outer axis belongs to a group, as far as `by` columns on this axis say. */
static bool is_in_group(const layout *l, size_t statistic, size_t group, size_t place, size_t level)
{
    const tmi_workload *w = &l->r->schedule->workload;
    const tmi_plan_statistic *t = &w->plan->statistics[statistic];
    const tmi_origin *o = &w->origins[l->c->axes[place]];
    for (size_t c = o->classes_count; c-- > 0;) {
        const tmi_classes *classes = &w->classes[o->classes[c]];
        const size_t own = level % tmi_classes_levels(classes);
        level /= tmi_classes_levels(classes);
        for (size_t k = 0; k < t->by_count; k++) {
            if (w->maps[statistic].by[k] != o->classes[c]) continue;
            if (own == classes->count || !tmi_class_has_value(classes, t->by[k], tmi_group_code(t, group, k), own)) return false;
        }
    }
    return true;
}

/* The levels of each outer axis that a group has; of the axis of calibration that one alone. */
typedef struct group_levels {
    size_t *list[TMI_MAX_AXES];
    size_t count[TMI_MAX_AXES];
} group_levels;

static double add_levels(const layout *l, const group_levels *g, const double *sums, size_t k, size_t cell, double product)
{
    double sum = 0;
    if (k == l->outer_count) return product * sums[cell];
    for (size_t i = 0; i < g->count[k]; i++) {
        const size_t level = g->list[k][i];
        const double factor = l->c->vectors[l->outer[k]][l->term][level];
        if (factor != 0) sum += add_levels(l, g, sums, k + 1, cell * axis_at(l, l->outer[k])->levels + level, product * factor);
    }
    return sum;
}

static void set_levels(group_levels *g, const layout *l, size_t statistic, size_t group, size_t control)
{
    const tmi_workload *w = &l->r->schedule->workload;
    const tmi_plan_statistic *t = &w->plan->statistics[statistic];
    for (size_t k = 0; k < l->outer_count; k++) {
        const size_t axis = l->c->axes[l->outer[k]];
        size_t first = 0, end = w->axes[axis].levels;
        bool all = w->origins[axis].classes_count == 1; /* of the levels between */
        for (size_t j = 0; w->origins[axis].classes_count == 1 && j < t->by_count; j++) {
            size_t own_first, own_end;
            if (w->maps[statistic].by[j] != w->origins[axis].classes[0]) continue;
            tmi_classes_of_value(&own_first, &own_end, &w->classes[w->origins[axis].classes[0]], t->by[j],
                                 tmi_group_code(t, group, j));
            first = own_first > first ? own_first : first;
            end = own_end < end ? own_end : end;
            all = all && !t->by[j]->recode;
        }
        if (axis == w->control_axis) {
            first = control > first ? control : first;
            end = control + 1 < end ? control + 1 : end;
        }
        g->count[k] = 0;
        for (size_t level = first; level < end; level++)
            if (all || is_in_group(l, statistic, group, l->outer[k], level)) g->list[k][g->count[k]++] = level;
    }
}

/* `power`: of the control number, which is in the vectors of the term. */
static tamis_status add_term(double *values, const layout *l, size_t copy, size_t statistic, size_t moment, size_t power,
                             tamis_error *err)
{
    const tmi_schedule *s = l->r->schedule;
    const size_t groups = (size_t)tmi_statistic_cells(&s->plan->statistics[statistic]),
                 controls = tmi_control_levels(&s->workload), all = controls * tmi_factor_powers(&s->workload);
    group_levels g = {0};
    double *sums = tmi_alloc(l->cells, sizeof *sums);
    bool room = sums != NULL;
    for (size_t k = 0; room && k < l->outer_count; k++)
        room = (g.list[k] = tmi_alloc(axis_at(l, l->outer[k])->levels, sizeof *g.list[k])) != NULL;
    if (room) add_all(sums, l, copy);
    for (size_t group = 0; room && group < groups; group++)
        for (size_t control = 0; control < controls; control++) {
            set_levels(&g, l, statistic, group, control);
            values[(group * all + power * controls + control) * TMI_MOMENTS + moment] += add_levels(l, &g, sums, 0, 0, 1);
        }
    for (size_t k = 0; k < l->outer_count; k++) tmi_free(g.list[k]);
    tmi_free(sums);
    return room ? TAMIS_OK : tmi_fail_memory(err);
}

tamis_status tmi_reconstruct_moments(double *values, const tmi_reconstruction *r, size_t copy, size_t statistic, size_t stratum,
                                     tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const size_t levels = tmi_control_levels(&s->workload), powers = tmi_factor_powers(&s->workload);
    double *selected = tmi_alloc(levels * powers, sizeof *selected);
    tamis_status status = TAMIS_OK;
    if (!selected) return tmi_fail_memory(err);
    memset(values, 0, (size_t)tmi_statistic_cells(t) * levels * powers * TMI_MOMENTS * sizeof *values);
    for (size_t at = 0; at < powers * TMI_MOMENTS; at++) {
        const size_t power = at / TMI_MOMENTS, moment = at % TMI_MOMENTS;
        double one[TMI_MOMENTS] = {0};
        tmi_moment_sum sum;
        if (!tmi_has_moment_times(&s->workload, statistic, moment, power)) continue;
        one[moment] = 1;
        for (size_t l = 0; l < levels * powers; l++) selected[l] = l / levels == power;
        TMI_TRY(tmi_moment_sum_make(&sum, &s->workload, r->weighting, statistic, SIZE_MAX, stratum, one, selected, err));
        for (size_t term = 0; term < sum.combination.term_count && status == TAMIS_OK; term++) {
            layout l = {.r = r, .c = &sum.combination, .term = term};
            set_outer(&l, statistic);
            status = add_term(values, &l, copy, statistic, moment, power, err);
        }
        tmi_moment_sum_clear(&sum);
        if (status != TAMIS_OK) goto done;
    }

done:
    tmi_free(selected);
    return status;
}

tamis_status tmi_reconstruct_rows(double *rows, const tmi_reconstruction *r, size_t copy, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t levels = tmi_control_levels(&s->workload), powers = tmi_product_powers(&s->workload);
    double *ones = tmi_alloc(levels * powers, sizeof *ones);
    if (!ones) return tmi_fail_memory(err);
    for (size_t l = 0; l < levels * powers; l++) {
        ones[l] = 1;
        rows[l] = 0;
    }
    const tmi_combination c = tmi_control_rows_of(s, r->weighting, ones);
    for (size_t power = 0; power < powers; power++) {
        layout l = {.r = r, .c = &c, .term = power, .cells = levels};
        if (s->workload.control_axis != SIZE_MAX) l.outer[l.outer_count++] = 0;
        add_all(rows + power * levels, &l, copy);
    }
    tmi_free(ones);
    return TAMIS_OK;
}
