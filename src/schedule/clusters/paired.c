#include "schedule/clusters/paired.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/expected/guess.h"
#include "schedule/noise_law.h"
#include "schedule/pooled.h"

#define WIDE 6.0     /* times what is typical, where noise allows no more */
#define CAUTIOUS 1.5 /* a design effect is rather guessed too large */

/* Whether every cell is in one group of the statistic at most: it is where its numbers are groups of disjoint classes. */
static bool has_disjoint_groups(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    for (size_t k = 0; k < t->by_count; k++) {
        const size_t own = s->workload.readings[i].by[k];
        size_t last = 0;
        if (own == SIZE_MAX) return false;
        for (size_t value = 0; value < t->by[k]->value_count; value++) {
            size_t first, end;
            tmi_classes_of_value(&first, &end, &s->workload.classes[own], t->by[k], value);
            if (end <= first) continue;
            if (value > 0 && first < last) return false;
            last = end;
        }
    }
    return true;
}

/* Whether an earlier statistic asks for the same: its squares serve both. */
static bool is_repeated(const tamis_plan *plan, size_t i)
{
    const tmi_plan_statistic *a = &plan->statistics[i];
    for (size_t j = 0; j < i; j++) {
        const tmi_plan_statistic *b = &plan->statistics[j];
        bool same = a->kind == b->kind && a->column == b->column && a->second == b->second && a->where == b->where &&
                    a->by_count == b->by_count && (!a->method == !b->method) && (!a->method || strcmp(a->method, b->method) == 0);
        for (size_t k = 0; same && k < a->by_count; k++) same = a->by[k] == b->by[k];
        if (same) return true;
    }
    return false;
}

bool tmi_may_be_paired(const tmi_schedule *s, size_t i)
{
    const tmi_reading_of *r = &s->workload.readings[i];
    const tmi_sampling *p = &s->sampling;
    if (!p->clustered || p->lonely || p->pairs < TMI_FEWEST_PAIRS || p->pairs >= TMI_MOST_PAIRS) return false;
    if (s->plan->privacy.rows_per_unit > TMI_PAIRED_STEPS / 16 || is_repeated(s->plan, i)) return false;
    if (s->plan->privacy.design_protected || s->calibrated || tmi_has_ranges_by_stratum(&s->plan->statistics[i])) return false;
    return !r->known && !r->contributed && s->plan->statistics[i].kind != TMI_VARIANCE && has_disjoint_groups(s, i);
}

const tmi_measurement *tmi_paired_measurement(const tmi_schedule *s, size_t i)
{
    for (size_t k = 0; k < s->measurement_count; k++)
        if (s->measurements[k].shape.family == TMI_PAIRED && s->measurements[k].shape.statistic == i) return &s->measurements[k];
    return NULL;
}

tmi_shape tmi_paired_shape(const tmi_schedule *s, size_t i)
{
    const tmi_reading_of *r = &s->workload.readings[i];
    tmi_shape shape = {.family = TMI_PAIRED, .world = r->world, .axis_count = r->axis_count, .statistic = i};
    memcpy(shape.axes, r->axes, sizeof shape.axes);
    return shape;
}

double tmi_pair_bound(const tmi_schedule *s, size_t i, double variance, double row)
{
    const double typical = variance > 0 ? sqrt(variance / tmi_group_degrees(s, i)) : 0;
    return fmax(WIDE * typical, 2 * row);
}

double tmi_expected_effect(const tmi_schedule *s)
{
    tmi_sizes z;
    tmi_sizes_make(&z, s);
    return CAUTIOUS * z.units / z.sample * (1 + (z.taken - 1) * z.icc);
}

/* Between none and what would be if every weight were the largest; in finished surveys it is about the root of the bounds'
 * ratio. */
double tmi_expected_clamping(const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    return p->weights == TMI_ROWS && p->most_clamped > 0 ? sqrt((double)p->most / (double)p->most_clamped) : 1;
}

double tmi_grouped_worth(const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    double pair = 0;
    for (size_t h = 0; h < p->pair_strata; h++) pair = fmax(pair, (double)p->pair_points[h] * tmi_number_nearest(p->pair_step));
    if (p->weights == TMI_ALIKE) return pair * tmi_number_nearest(p->weight[0]);
    return pair * (double)(p->weights == TMI_ROWS ? p->most_clamped : p->most) * tmi_number_nearest(p->step);
}

double tmi_combination_at(const tmi_combination *c, const tmi_workload *w, size_t cell, size_t level)
{
    size_t places[TMI_MAX_AXES] = {0};
    double sum = 0;
    for (size_t a = c->axis_count; a-- > 0;) {
        size_t *const rest = w->origins[c->axes[a]].number ? &level : &cell;
        places[a] = *rest % w->axes[c->axes[a]].levels;
        *rest /= w->axes[c->axes[a]].levels;
    }
    for (size_t t = 0; t < c->term_count; t++) {
        double product = c->scale[t];
        for (size_t a = 0; a < c->axis_count && product != 0; a++) product *= c->vectors[a][t][places[a]];
        sum += product;
    }
    return sum;
}

tamis_status tmi_paired_cost_of(tmi_paired_cost *cost, const tmi_schedule *s, size_t i, const tmi_outlook *o, tamis_error *err)
{
    const double variance = o->sampling_sd * o->sampling_sd / tmi_expected_clamping(s), pairs = tmi_group_degrees(s, i);
    size_t cells = 1, levels = 1;
    double largest = 0;
    tmi_moment_sum sum;
    tamis_status status = tmi_moment_sum_make(&sum, &s->workload, TMI_GROUPED, i, 0, 0, o->estimate, NULL, err);
    if (status != TAMIS_OK) return status;
    for (size_t a = 0; a < sum.combination.axis_count; a++) {
        const size_t axis = sum.combination.axes[a];
        *(s->workload.origins[axis].number ? &levels : &cells) *= s->workload.axes[axis].levels;
    }
    for (size_t k = 0; k < cells * levels; k++)
        largest = fmax(largest, fabs(tmi_combination_at(&sum.combination, &s->workload, k / levels, k % levels)));
    const double row = largest * tmi_grouped_worth(s);
    *cost = (tmi_paired_cost){INFINITY, INFINITY};
    if (variance > 0)
        *cost = (tmi_paired_cost){2 * tmi_pair_bound(s, i, variance, row) * row / variance,
                                  2 / pairs + row * row / variance + TMI_AFFORDED * TMI_AFFORDED};
    tmi_moment_sum_clear(&sum);
    return TAMIS_OK;
}

double tmi_squares_relative(const tmi_schedule *s, size_t i, const tmi_outlook *o)
{
    const tmi_measurement *m = tmi_paired_measurement(s, i);
    tmi_paired_cost cost;
    if (!m || tmi_paired_cost_of(&cost, s, i, o, NULL) != TAMIS_OK) return INFINITY;
    const double after = s->sampling.weights == TMI_ALIKE ? tmi_number_nearest(s->sampling.weight[0]) : 1;
    const double moved = (double)m->moved * tmi_measurement_unit(m, &s->workload, 0) * after / tmi_grouped_worth(s) * cost.moved;
    const double noise = moved / TMI_PAIRED_STEPS * tmi_noise_sd(m->laws[0].scale, s->gaussian);
    return cost.least + noise * noise;
}
