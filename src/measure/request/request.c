#include "measure/request/request.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "measure/regularised.h"

static size_t answer_count(const tmi_table *table) { return tmi_table_cells(table) * table->measure_count; }

void tmi_query_clear(tmi_query *a)
{
    tmi_free(a->listed.numbers);
    tmi_free(a->listed.cuts);
    tmi_free(a->listed.codes);
    tmi_secret_free(a->truth);
    tmi_free(a->answers);
    tmi_free(a->tables);
    tmi_free(a->measures);
    tmi_free(a->by);
    tmi_free(a->slots);
    tmi_free(a->lists);
    tmi_free(a->lists_by);
    tmi_free(a->axes);
    tmi_free(a->classes);
    tmi_free(a->class_numbers);
    tmi_free(a->ends);
    tmi_free(a->frame_points);
    tmi_free(a->frame_rest);
    tmi_free(a->frame_clamped);
    tmi_free(a->of_units);
    tmi_asked_contributions_clear(&a->contributions);
    tmi_columns_clear(&a->columns);
    tmi_psu_slots_clear(&a->psus);
    tmi_wipe(a->key, sizeof a->key);
    *a = (tmi_query){0};
}

/* ---- the columns of the design ---- */

static const tmi_column *lookup(tmi_query *a, const char *name, const tmi_column *of, const int64_t *numbers)
{
    return tmi_columns_add(&a->columns, &(tmi_column){.name = name, .kind = TMI_LOOKUP, .of = of, .numbers = numbers});
}

/* Numbers from `low` to `high` steps. */
static tmi_column number(const char *name, double step, int64_t low, int64_t high, bool reciprocal)
{
    const tmi_grid grid = {(double)low * step, (double)high * step, step, low, high};
    return (tmi_column){.name = name, .kind = TMI_NUMBER, .grid = grid, .reciprocal = reciprocal};
}

static const tmi_column *add_reciprocal(tmi_query *a, const char *name, double step, int64_t low, int64_t high)
{
    const tmi_column column = number(name, step, low, high, true);
    return tmi_columns_add(&a->columns, &column);
}

/* A column of weights, those of a unit bounded together; and as rows bring them, where what they add to totals is bounded in the
 * place of that. */
static const tmi_column *of_unit(tmi_query *a, const tmi_schedule *s, const tmi_column *weight)
{
    tmi_column bounded = *weight;
    bounded.most_of_unit = s->sampling.most_of_unit;
    const tmi_column *added = tmi_columns_add(&a->columns, &bounded);
    const bool apart = bounded.most_of_unit > 0 && tmi_has_bounds_by_unit(s->plan);
    a->own_weight = apart ? tmi_columns_add(&a->columns, weight) : added;
    return added;
}

/* What rows add to totals of numbers of which a unit adds at most so much. */
static void add_unit_contributions(tmi_query *a, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->workload.domain_count; i++) {
        const tmi_domain *d = &s->workload.domains[i];
        for (size_t k = 0; k < i && d->number && !a->of_units[i]; k++)
            if (s->workload.domains[k].number == d->number) a->of_units[i] = a->of_units[k];
        if (!d->number || a->of_units[i]) continue;
        a->of_units[i] = tmi_columns_add(&a->columns, &(tmi_column){.name = "contribution to a total",
                                                                    .kind = TMI_PRODUCT,
                                                                    .of = a->own_weight,
                                                                    .second = tmi_columns_take(&a->columns, d->number),
                                                                    .shift = d->shift,
                                                                    .grid = d->grid,
                                                                    .has_instead = true,
                                                                    .most_of_unit = d->most_of_unit});
    }
}

/* The points of the row's stratum; without strata one number for all rows. */
static tmi_column in_stratum(tmi_query *a, const char *name, const int64_t *points)
{
    tmi_column weight = {.name = name, .kind = TMI_LOOKUP, .of = a->stratum, .numbers = points};
    if (weight.of) return weight;
    const tmi_column *always = tmi_columns_add(&a->columns, &(tmi_column){.name = "every row", .kind = TMI_INDICATOR});
    weight.of = tmi_columns_add(&a->columns,
                                &(tmi_column){.name = "every row", .kind = TMI_CUTS, .of = always, .value_count = 1});
    return weight;
}

/* The weight of the row's unit in the frame. */
static void add_frame_weights(tmi_query *a, const tmi_schedule *s)
{
    const tmi_frame_file *f = &s->frame;
    const double step = tmi_number_nearest(s->sampling.step);
    const tmi_column *unit = tmi_columns_add(&a->columns, &(tmi_column){.name = s->plan->privacy.id,
                                                                        .kind = TMI_CATEGORY,
                                                                        .values = (const char *const *)f->ids,
                                                                        .value_count = f->count});
    a->frame_unit = unit;
    a->part = tmi_asked_part(&a->contributions, &a->columns, s, unit);
    const tmi_plan_design *d = &s->plan->design;
    for (size_t i = 0; i < f->count; i++) {
        const double w = d->regularise ? tmi_regularised_weight(d, (int64_t)f->count, 1 / f->pi[i]) : 1 / f->pi[i];
        const int64_t points = (int64_t)fmin(floor(w / step + 0.5), (double)s->sampling.most);
        a->frame_points[i] = points > 1 ? points : 1;
        a->frame_rest[i] = (int64_t)floor((double)a->frame_points[i] * (1 - f->pi[i]) + 0.5);
    }
    a->weight = of_unit(a, s,
                        &(tmi_column){.name = "weight in the frame", .kind = TMI_LOOKUP, .of = unit, .numbers = a->frame_points});
    if (d->regularise) a->rest = lookup(a, "weight in the frame, less its variance", unit, a->frame_rest);
}

/* A product that is no more than the largest weight. */
static tmi_column bounded(const tmi_column *x, const tmi_column *y, int64_t most)
{
    return (tmi_column){.name = "weight of the stages", .kind = TMI_PRODUCT, .of = x, .second = y, .grid = {.high = most}};
}

/* Of two stages: one column, so that what a row adds is bounded in all levels together whatever a file contains. No factor is a
 * fraction, so each of them may be bounded before it is multiplied. */
static tmi_column stage_weight(tmi_query *a, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *p = &s->sampling;
    const int64_t end = INT64_C(1) << TMI_STAGE_BITS, most = p->most < end ? p->most : end;
    const int64_t least = d->second_take < most ? d->second_take : most;
    tmi_column weight = number(d->second_population, 1, least, most, false);
    const tmi_column *first = NULL;
    const int64_t whole = INT64_C(1) << p->first_bits; /* no probability is above 1 */
    if (p->first_bits > 0)
        first = add_reciprocal(a, d->probability, ldexp(1, -p->first_bits), whole < p->most ? whole : p->most, p->most);
    const bool drawn = p->first_bits == 0 && (p->strata > 1 || p->points[0] > 1);
    const tmi_column clusters = drawn ? in_stratum(a, "clusters drawn", p->points) : (tmi_column){0};
    if (drawn) first = tmi_columns_add(&a->columns, &clusters);
    if (first) weight = bounded(first, tmi_columns_add(&a->columns, &weight), p->most);
    if (d->second_take > 0) return weight;
    const int64_t one = INT64_C(1) << p->stage_bits;
    weight = bounded(tmi_columns_add(&a->columns, &weight), add_reciprocal(a, d->second_sample, ldexp(1, -p->stage_bits), 0, one),
                     p->most);
    return weight;
}

/* Weights that rows bring, in the factors that tmi_sampling counts with. */
static void add_row_weights(tmi_query *a, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *sampling = &s->sampling;
    if (sampling->from_frame) {
        add_frame_weights(a, s);
        return;
    }
    if (sampling->stages || sampling->of_sizes) {
        const tmi_column made = sampling->stages ? stage_weight(a, s) : in_stratum(a, "weight of the stratum", sampling->points);
        a->weight = of_unit(a, s, &made);
        return;
    }
    /* A rate inside clusters divides the step, so that one over the probability of the cluster is the whole weight. */
    const double rate = d->second_rate && !d->weight ? tmi_number_nearest(d->second_rate) : 1;
    const tmi_column weight = number(d->weight ? d->weight : d->probability, tmi_number_nearest(sampling->step) * rate, 0,
                                     sampling->most, !d->weight);
    a->weight = of_unit(a, s, &weight);
}

static void add_design(tmi_query *a, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *sampling = &s->sampling;
    a->stratum = tmi_columns_take(&a->columns, d->by);
    a->unit = tmi_columns_add_label(&a->columns, s->plan->privacy.id);
    a->cluster = tmi_columns_add_label(&a->columns, d->cluster);
    if (sampling->weights == TMI_ROWS) {
        add_row_weights(a, s);
    } else if (sampling->weights == TMI_STRATA) {
        a->weight = lookup(a, "weight of the stratum", a->stratum, sampling->points);
        a->spread = lookup(a, "spread of the stratum", a->stratum, sampling->variance_points);
    }
    tmi_query_add_bounded_weight(a, s);
    add_unit_contributions(a, s);
    if (a->psus.codes > 0) tmi_query_add_clusters(a, s);
}

/* ---- columns of axes ---- */

/* Codes of a category, bins of a number, or 0 and 1 of an indicator; then classes, with one for rows that have none. */
static void add_classes(tmi_query *a, const tmi_workload *w, size_t i, int32_t *numbers)
{
    const tmi_classes *c = &w->classes[i];
    const tmi_column *of = tmi_columns_take(&a->columns, c->column);
    if (!c->class_of)
        of = tmi_columns_add(
            &a->columns,
            &(tmi_column){.name = c->column->name, .kind = TMI_CUTS, .of = of, .cuts = c->cuts, .value_count = c->count});
    for (size_t k = 0; k < of->value_count; k++) numbers[k] = c->class_of ? c->class_of[k] : (int32_t)k;
    /* of columns that are declared complete; of their indicators too, where a text is not among the values */
    const bool never = !c->rest && (c->column->missing == TMI_NEVER || c->column->conditions);
    a->classes[i] = tmi_columns_add(&a->columns, &(tmi_column){.name = c->column->name,
                                                               .kind = TMI_CLASSES,
                                                               .of = of,
                                                               .classes = numbers,
                                                               .value_count = tmi_classes_levels(c),
                                                               .has_instead = c->rest || c->is_where || never,
                                                               .instead = c->rest ? (int64_t)c->count
                                                                          : never ? numbers[0]
                                                                                  : 0});
}

/* Ranges by stratum: the lowest and the highest point, and their distance, are those of the stratum. */
static void set_strata(tmi_query *a, const tmi_workload *w, tmi_axis_columns *x, const tmi_column *points, int64_t *ends)
{
    const size_t strata = w->sampling->strata;
    for (size_t h = 0; h < strata; h++) {
        ends[h] = points->grids[h].low;
        ends[strata + h] = points->grids[h].high;
        ends[2 * strata + h] = points->grids[h].high - points->grids[h].low;
    }
    tmi_column difference = {.name = points->name, .kind = TMI_DIFFERENCE, .of = points};
    difference.second = lookup(a, "lowest in the stratum", a->stratum, ends);
    x->from_below = tmi_columns_add(&a->columns, &difference);
    difference.second = lookup(a, "highest in the stratum", a->stratum, ends + strata);
    x->from_above = tmi_columns_add(&a->columns, &difference);
    x->low = x->high = 0;
    x->width = lookup(a, "range in the stratum", a->stratum, ends + 2 * strata);
    x->numbers[1] = 1;
}

static void add_number(tmi_query *a, const tmi_schedule *s, size_t axis, int64_t *ends)
{
    static const int32_t present[] = {0};
    const tmi_workload *w = &s->workload;
    const tmi_plan_column *column = w->origins[axis].number;
    const bool contributed = w->origins[axis].contributed;
    const tmi_column *points = contributed
                                   ? tmi_asked_contribution(&a->contributions, &a->columns, s, axis, a->weight, a->frame_unit)
                                   : tmi_columns_take(&a->columns, column);
    tmi_axis_columns *x = &a->axes[axis];
    if (w->origins[axis].zero && !contributed) { /* a column of its own: missing values are 0 */
        tmi_column zero = *points;
        zero.has_instead = true;
        zero.instead = 0;
        points = tmi_columns_add(&a->columns, &zero);
    }
    *x = (tmi_axis_columns){.from_below = points, .from_above = points, .low = points->grid.low, .high = points->grid.high};
    x->numbers[1] = x->high - x->low;
    if (column->by_stratum) set_strata(a, w, x, points, ends);
    if (!w->axes[axis].missing) return;
    const tmi_column *missing = tmi_columns_add(&a->columns, &(tmi_column){.name = column->name,
                                                                           .kind = TMI_CLASSES,
                                                                           .of = points,
                                                                           .classes = present,
                                                                           .value_count = 2,
                                                                           .has_instead = true,
                                                                           .instead = 1});
    x->missing = lookup(a, "missing", missing, x->numbers);
}

/* Those of axes and classes that some measurement has. */
static void add_axes(tmi_query *a, const tmi_schedule *s)
{
    const tmi_workload *w = &s->workload;
    size_t numbers = 0, strata = 0;
    for (size_t axis = 0; axis < w->axis_count; axis++) {
        bool used = false;
        for (size_t k = 0; k < s->measurement_count; k++)
            for (size_t i = 0; i < s->measurements[k].marginal.axis_count; i++)
                used = used || s->measurements[k].marginal.axes[i] == axis;
        if (!used) continue;
        if (w->origins[axis].number) add_number(a, s, axis, a->ends + 3 * w->sampling->strata * strata++);
        for (size_t k = 0; k < w->origins[axis].classes_count; k++) {
            const size_t i = w->origins[axis].classes[k];
            const tmi_classes *c = &w->classes[i];
            add_classes(a, w, i, a->class_numbers + numbers);
            numbers += c->class_of ? c->column->value_count : c->count;
        }
    }
}

/* ---- measures ---- */

static void add(tmi_measure *measure, const tmi_column *column, int64_t minus)
{
    measure->factors[measure->factor_count++] = (tmi_factor){column, minus};
}

/* Level l of a number with m grid steps: the factors of (m-k)^2, k (m-k), k^2 and m^2, or of m-k, k and m. Points less the
 * highest are m-k times -1. */
static void add_level(tmi_measure *measure, const tmi_axis *axis, const tmi_axis_columns *x, size_t level)
{
    for (int d = 0; d < axis->degree; d++) {
        if (level > (size_t)axis->degree) {
            add(measure, x->missing, 0);
            if (x->width) add(measure, x->width, 0);
        } else if ((size_t)d < level) {
            add(measure, x->from_below, x->low);
        } else {
            add(measure, x->from_above, x->high);
        }
    }
}

/* Of all numbers together: whether the product is negative, and how often it counts. */
static int times_of(const tmi_workload *w, const tmi_marginal *marginal, size_t level)
{
    int times = 1;
    for (size_t i = marginal->axis_count; i-- > 0;) {
        const tmi_axis *axis = &w->axes[marginal->axes[i]];
        if (!w->origins[marginal->axes[i]].number) continue;
        const size_t own = level % axis->levels;
        level /= axis->levels;
        if (own > (size_t)axis->degree) continue;
        if (((size_t)axis->degree - own) % 2 == 1) times = -times;
        if (axis->degree == 2 && own == 1) times *= 2;
    }
    return times;
}

/* The factors in the order in which measurement.c multiplies their ends. */
static tmi_measure measure_of(tmi_query *a, const tmi_schedule *s, const tmi_measurement *m, size_t level)
{
    const tmi_workload *w = &s->workload;
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    const bool negative = times_of(w, &m->marginal, level) < 0, spread = tmi_weighs_squares(m->marginal.weighting);
    const bool bounded = method || m->marginal.weighting == TMI_CLAMPED;
    tmi_measure measure = {.shift = m->shift, .low = negative ? -m->high : 0, .high = negative ? 0 : m->high};
    const bool contributed = tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain);
    if (contributed) {
        add(&measure, a->of_units[m->marginal.domain], 0);
        measure.low = w->domains[m->marginal.domain].grid.low < 0 ? -m->high : 0;
    } else if (spread && a->spread) {
        add(&measure, a->spread, 0);
    } else if (m->marginal.weighting != TMI_UNWEIGHTED && m->marginal.weighting != TMI_CONTRIBUTED) {
        if (a->weight) add(&measure, bounded ? a->clamped : a->weight, 0);
    }
    if (spread && a->rest) add(&measure, a->rest, 0);
    else if (spread && !a->spread && a->weight) add(&measure, bounded ? a->clamped : a->weight, tmi_weight_less(&s->sampling));
    size_t divisor = m->added;
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const size_t axis = m->marginal.axes[i];
        if (!w->origins[axis].number) continue;
        divisor /= w->axes[axis].levels;
        add_level(&measure, &w->axes[axis], &a->axes[axis], level / divisor % w->axes[axis].levels);
    }
    measure.where = tmi_columns_take(&a->columns, w->domains[m->marginal.domain].where);
    return measure;
}

static bool same_by(const tmi_table *table, const tmi_column *const *by, size_t count)
{
    if (table->by_count != count) return false;
    for (size_t i = 0; i < count; i++) {
        if (table->by[i] != by[i]) return false;
    }
    return true;
}

/* The table of a measurement's dimensions: strata, slots of clusters, classes. Its measures come later, when all tables are
 * there: they are in one array. */
static size_t table_of(tmi_query *a, const tmi_schedule *s, const tmi_measurement *m, size_t *by_used)
{
    const tmi_column **by = a->by + *by_used;
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    size_t t = 0, count = 0;
    if (m->marginal.weighting == TMI_CONTRIBUTED) {
        if (a->part) by[count++] = a->part;
    } else if (s->workload.separate_strata && !method) {
        by[count++] = a->stratum;
    }
    if (method && method->slots) by[count++] = a->units;
    for (size_t i = 0; i < m->marginal.axis_count; i++) {
        const tmi_origin *o = &s->workload.origins[m->marginal.axes[i]];
        for (size_t k = 0; k < o->classes_count; k++) by[count++] = a->classes[o->classes[k]];
    }
    while (t < a->table_count && !same_by(&a->tables[t], by, count)) t++;
    if (t < a->table_count) return t;
    *by_used += count;
    a->tables[a->table_count++] = (tmi_table){.by = by, .by_count = count};
    return t;
}

/* Whether an earlier measurement of the second stage adds up the same totals: then its measures serve both. */
static bool shares_measures(tmi_query *a, const tmi_schedule *s, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (!tmi_is_one_table(&s->measurements[j].marginal, &s->measurements[i].marginal)) continue;
        a->slots[i].measure = a->slots[j].measure;
        return true;
    }
    return false;
}

static void fill_tables(tmi_query *a, const tmi_schedule *s)
{
    size_t by_used = 0, measures_used = 0;
    for (size_t i = 0; i < s->measurement_count; i++) a->slots[i].table = table_of(a, s, &s->measurements[i], &by_used);
    for (size_t t = 0; t < a->table_count; t++) {
        tmi_table *table = &a->tables[t];
        tmi_measure *measures = a->measures + measures_used;
        table->measures = measures;
        for (size_t i = 0; i < s->measurement_count; i++) {
            if (a->slots[i].table != t || shares_measures(a, s, i)) continue;
            a->slots[i].measure = table->measure_count;
            for (size_t l = 0; l < s->measurements[i].added; l++)
                measures[table->measure_count++] = measure_of(a, s, &s->measurements[i], l);
        }
        measures_used += table->measure_count;
    }
    a->request = (tmi_request){a->tables, a->table_count, a->unit, s->plan->privacy.rows_per_unit, a->key};
}

static tamis_status check_size(const tmi_query *a, tamis_error *err)
{
    size_t integers = 0;
    for (size_t t = 0; t < a->table_count; t++) {
        size_t count = answer_count(&a->tables[t]);
        if (count > (size_t)TMI_MAX_CELLS || (integers += count) > (size_t)TMI_MAX_CELLS)
            return tmi_fail(err, TAMIS_INVALID,
                            "statistics: together they need more than %lld integers (per group one for a count, up to four for a "
                            "number, nine for two; times the strata): use fewer `by` columns or values",
                            (long long)TMI_MAX_CELLS);
    }
    return TAMIS_OK;
}

/* What is asked for quantile tasks: value, weight, groups and condition of their records. */
static void add_lists(tmi_query *a, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const tmi_plan_statistic *t = &s->plan->statistics[c->statistic];
        const tmi_column **by = a->lists_by + i * TMI_MAX_BY;
        for (size_t k = 0; k < t->by_count; k++) by[k] = tmi_columns_take_complete(&a->columns, t->by[k]);
        a->lists[i] = (tmi_points_request){.value = tmi_columns_take(&a->columns, t->column),
                                           .weight = c->max_weight > 0 ? a->weight : NULL,
                                           .max_weight = c->max_weight,
                                           .by = by,
                                           .by_count = t->by_count,
                                           .where = tmi_columns_take(&a->columns, t->where),
                                           .unit = a->unit,
                                           .rows_per_unit = c->rows_per_unit,
                                           .key = a->key};
    }
}

tamis_status tmi_query_make(tmi_query *a, const tmi_schedule *schedule, tamis_error *err)
{
    const tmi_workload *w = &schedule->workload;
    size_t count = schedule->measurement_count, measures = 0, codes = 0;
    tamis_status status;
    *a = (tmi_query){0};
    TMI_TRY(tmi_columns_make(&a->columns, schedule->plan,
                             2 * w->classes_count + 8 * w->axis_count + w->domain_count + TMI_CLUSTER_COLUMNS, err));
    TMI_TRY(tmi_asked_contributions_make(&a->contributions, schedule, err));
    TMI_TRY(tmi_psu_slots_make(&a->psus, &schedule->places, err));
    for (size_t i = 0; i < count; i++) measures += schedule->measurements[i].added;
    for (size_t i = 0; i < w->classes_count; i++)
        codes += w->classes[i].class_of ? w->classes[i].column->value_count : w->classes[i].count;
    a->tables = tmi_alloc(count, sizeof *a->tables);
    a->measures = tmi_alloc(measures, sizeof *a->measures);
    a->by = tmi_alloc((TMI_MAX_AXES + TMI_MAX_BY + 2) * (count + 1), sizeof *a->by);
    a->slots = tmi_alloc(count, sizeof *a->slots);
    a->lists = tmi_alloc(schedule->quantile_task_count, sizeof *a->lists);
    a->lists_by = tmi_alloc(schedule->quantile_task_count * TMI_MAX_BY, sizeof *a->lists_by);
    a->axes = tmi_alloc(w->axis_count, sizeof *a->axes);
    a->classes = tmi_alloc(w->classes_count, sizeof *a->classes);
    a->class_numbers = tmi_alloc(codes, sizeof *a->class_numbers);
    a->ends = tmi_alloc(w->axis_count, 3 * w->sampling->strata * sizeof *a->ends);
    a->frame_points = tmi_alloc(schedule->frame.count, sizeof *a->frame_points);
    a->frame_rest = tmi_alloc(schedule->frame.count, sizeof *a->frame_rest);
    a->frame_clamped = tmi_alloc(schedule->frame.count, sizeof *a->frame_clamped);
    a->of_units = tmi_alloc(w->domain_count, sizeof *a->of_units);
    if (!a->tables || !a->measures || !a->by || !a->slots || !a->lists || !a->lists_by || !a->axes || !a->classes ||
        !a->class_numbers || !a->ends || !a->frame_points || !a->frame_rest || !a->frame_clamped || !a->of_units)
        TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_query_make_clusters(a, schedule, err));
    add_design(a, schedule);
    add_axes(a, schedule);
    fill_tables(a, schedule);
    add_lists(a, schedule);
    TMI_TRY(check_size(a, err));

done:
    if (status != TAMIS_OK) tmi_query_clear(a);
    return status;
}

tamis_status tmi_query_draw(tmi_query *a, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = tmi_psu_slots_draw(&a->psus, rng, err);
    if (status == TAMIS_OK) tmi_query_place_clusters(a);
    if (status == TAMIS_OK && a->unit) status = tmi_draw_key(a->key, rng, err);
    return status;
}

tamis_status tmi_query_make_room(tmi_query *a, tamis_error *err)
{
    size_t count = 0;
    for (size_t t = 0; t < a->table_count; t++) count += answer_count(&a->tables[t]);
    a->answers = tmi_alloc(a->table_count, sizeof *a->answers);
    a->truth = tmi_secret_alloc(count, sizeof *a->truth);
    if (!a->answers || !a->truth) return tmi_fail_memory(err);
    tmi_int128 *next = a->truth;
    for (size_t t = 0; t < a->table_count; t++) {
        a->answers[t] = next;
        next += answer_count(&a->tables[t]);
    }
    return TAMIS_OK;
}

/* What the engine added up for a level of a cell: of numbers a measure, of classes a cell. */
static tmi_int128 level_of(const tmi_query *a, const tmi_schedule *s, size_t i, size_t cell, size_t level)
{
    const tmi_slot *slot = &a->slots[i];
    return a->answers[slot->table][cell * a->tables[slot->table].measure_count + slot->measure + level] *
           times_of(&s->workload, &s->measurements[i].marginal, level);
}

tmi_int128 tmi_query_total(const tmi_query *a, const tmi_schedule *s, size_t i, size_t slot, size_t cell, size_t level)
{
    return level_of(a, s, i, slot * s->measurements[i].cells + cell, level);
}

tmi_int128 tmi_query_truth(const tmi_query *a, const tmi_schedule *s, size_t i, size_t number)
{
    const tmi_measurement *m = &s->measurements[i];
    const size_t cell = number / m->levels, own = number % m->levels;
    if (m->marginal.form == TMI_FULL) return level_of(a, s, i, cell, own);
    if (tmi_is_gram(m->marginal.form)) {
        const size_t numbers = tmi_gram_numbers(s->workload.axes, &m->marginal);
        tmi_int128 products = 0;
        for (size_t l = 0; l < m->added; l++) {
            const int coefficient = tmi_gram_integer(m->marginal.form, numbers, own, l);
            if (coefficient != 0) products += coefficient * level_of(a, s, i, cell, l);
        }
        return products;
    }
    const tmi_axis *axis = &s->workload.axes[m->marginal.axes[0]];
    const bool classes = s->workload.origins[m->marginal.axes[0]].classes_count > 0;
    tmi_int128 sum = 0;
    for (size_t l = 0; l < axis->levels; l++) {
        const int coefficient = tmi_form_integer(m->marginal.form, axis, own, l);
        if (coefficient != 0)
            sum += coefficient * (classes ? level_of(a, s, i, cell * axis->levels + l, 0) : level_of(a, s, i, cell, l));
    }
    return sum;
}
