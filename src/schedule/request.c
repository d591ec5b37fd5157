#include "schedule/request.h"

#include <math.h>

#include "base/memory.h"
#include "base/secret.h"
#include "schedule/regularised.h"

static size_t answer_count(const tmi_table *table) { return tmi_table_cells(table) * table->measure_count; }

void tmi_asking_clear(tmi_asking *a)
{
    tmi_secret_free(a->truth);
    tmi_free(a->answers);
    tmi_free(a->tables);
    tmi_free(a->measures);
    tmi_free(a->by);
    tmi_free(a->slots);
    tmi_free(a->frame_points);
    tmi_free(a->frame_rest);
    tmi_columns_clear(&a->columns);
    tmi_variance_groups_clear(&a->groups);
    tmi_wipe(a->key, sizeof a->key);
    *a = (tmi_asking){0};
}

/* ---- the columns of the design ---- */

static const tmi_column *lookup(tmi_asking *a, const char *name, const tmi_column *of, const int64_t *numbers)
{
    return tmi_columns_add(&a->columns, &(tmi_column){.name = name, .kind = TMI_LOOKUP, .of = of, .numbers = numbers});
}

static void add_factor(tmi_asking *a, const tmi_column *column) { a->weights[a->weight_count++] = (tmi_factor){column, 0}; }

/* Numbers from `low` to `high` steps. */
static const tmi_column *number(tmi_asking *a, const char *name, double step, int64_t low, int64_t high, bool reciprocal)
{
    tmi_grid grid = {(double)low * step, (double)high * step, step, low, high};
    return tmi_columns_add(&a->columns, &(tmi_column){.name = name, .kind = TMI_NUMBER, .grid = grid, .reciprocal = reciprocal});
}

/* The weight of the row's unit in the frame. */
static void add_frame_weights(tmi_asking *a, const tmi_schedule *s)
{
    const tmi_frame_file *f = &s->frame;
    const double step = tmi_number_nearest(s->sampling.step);
    const tmi_column *unit = tmi_columns_add(&a->columns, &(tmi_column){.name = s->plan->privacy.id,
                                                                        .kind = TMI_CATEGORY,
                                                                        .values = (const char *const *)f->ids,
                                                                        .value_count = f->count});
    const tmi_plan_design *d = &s->plan->design;
    for (size_t i = 0; i < f->count; i++) {
        const double w = d->regularise ? tmi_regularised_weight(d, (int64_t)f->count, 1 / f->pi[i]) : 1 / f->pi[i];
        const int64_t points = (int64_t)fmin(floor(w / step + 0.5), (double)s->sampling.most);
        a->frame_points[i] = points > 1 ? points : 1;
        a->frame_rest[i] = (int64_t)floor((double)a->frame_points[i] * (1 - f->pi[i]) + 0.5);
    }
    add_factor(a, lookup(a, "weight in the frame", unit, a->frame_points));
    if (d->regularise) a->rest = lookup(a, "weight in the frame, less its variance", unit, a->frame_rest);
}

/* Weights that rows bring, in the factors that tmi_sampling counts with. */
static void add_row_weights(tmi_asking *a, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *sampling = &s->sampling;
    if (sampling->from_frame) {
        add_frame_weights(a, s);
        return;
    }
    if (sampling->stages) {
        bool apart = sampling->strata > 1;
        int64_t most = INT64_C(1) << TMI_STAGE_BITS;
        if (apart) add_factor(a, lookup(a, "clusters drawn", a->stratum, sampling->points));
        add_factor(a, number(a, d->second_population, 1, d->second_take, most, false));
        if (d->second_take == 0) add_factor(a, number(a, d->second_sample, ldexp(1, -TMI_STAGE_BITS), 0, most, true));
        return;
    }
    double step = tmi_number_nearest(sampling->step);
    add_factor(a, number(a, d->weight ? d->weight : d->probability, step, 0, sampling->most, !d->weight));
}

static void add_design(tmi_asking *a, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *sampling = &s->sampling;
    a->stratum = tmi_columns_take(&a->columns, d->by);
    a->unit = tmi_columns_add_label(&a->columns, s->plan->privacy.id);
    a->cluster = tmi_columns_add_label(&a->columns, d->cluster);
    if (sampling->weights == TMI_ROWS) {
        add_row_weights(a, s);
    } else if (sampling->weights == TMI_STRATA) {
        add_factor(a, lookup(a, "weight of the stratum", a->stratum, sampling->points));
        a->spread = lookup(a, "spread of the stratum", a->stratum, sampling->spread_points);
    }
    if (!sampling->clustered) return;
    if (a->groups.scattered) {
        a->units = tmi_columns_add(&a->columns, &(tmi_column){.name = "variance unit",
                                                              .kind = TMI_SCATTER,
                                                              .of = a->cluster ? a->cluster : a->unit,
                                                              .stratum = tmi_columns_add_label(&a->columns, d->strata_label),
                                                              .value_count = a->groups.count,
                                                              .key = a->groups.key});
        return;
    }
    a->units = tmi_columns_add(&a->columns, &(tmi_column){.name = "variance unit",
                                                          .kind = TMI_GROUPS,
                                                          .of = a->cluster ? a->cluster : a->unit,
                                                          .stratum = sampling->stays ? a->stratum : NULL,
                                                          .value_count = a->groups.count,
                                                          .cell_of = (const int32_t *const *)a->groups.cell_of,
                                                          .cluster_counts = a->groups.cluster_counts});
}

/* ---- measures ---- */

static void add(tmi_measure *measure, const tmi_column *column, int64_t minus)
{
    measure->factors[measure->factor_count++] = (tmi_factor){column, minus};
}

/* The factors in the order in which measurement.c multiplies their ends. */
static tmi_measure measure_of(tmi_asking *a, const tmi_sampling *s, const tmi_measurement *m)
{
    const tmi_quantity *q = &m->quantity;
    tmi_measure measure = {.shift = m->shift, .low = m->low, .high = m->high};
    if (q->weighing == TMI_SPREAD && a->spread) {
        add(&measure, a->spread, 0);
    } else if (q->weighing != TMI_UNWEIGHED) {
        for (size_t i = 0; i < a->weight_count; i++) add(&measure, a->weights[i].column, 0);
    }
    if (q->weighing == TMI_SPREAD && a->rest) add(&measure, a->rest, 0);
    else if (q->weighing == TMI_SPREAD && !a->spread)
        add(&measure, a->weights[0].column, (int64_t)round(1 / tmi_number_nearest(s->step)));
    if (q->x) add(&measure, tmi_columns_take(&a->columns, q->x), q->centre_x);
    if (q->y) add(&measure, tmi_columns_take(&a->columns, q->y), q->centre_y);
    measure.present[0] = tmi_columns_take(&a->columns, q->present);
    measure.present[1] = tmi_columns_take(&a->columns, q->present_too);
    measure.where = tmi_columns_take(&a->columns, q->where);
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

/* The table of a measurement's dimensions. Its measures come later, when all tables are there: they are in one array. */
static size_t table_of(tmi_asking *a, const tmi_measurement *m, size_t *by_used)
{
    const tmi_column **by = a->by + *by_used;
    size_t t = 0, count = m->by_count;
    for (size_t i = 0; i < count; i++) by[i] = tmi_columns_take(&a->columns, m->by[i]);
    if (m->units > 1) by[count++] = a->units;
    while (t < a->table_count && !same_by(&a->tables[t], by, count)) t++;
    if (t < a->table_count) return t;
    *by_used += count;
    a->tables[a->table_count++] = (tmi_table){.by = by, .by_count = count};
    return t;
}

static void fill_tables(tmi_asking *a, const tmi_schedule *schedule)
{
    size_t by_used = 0, measures_used = 0;
    for (size_t i = 0; i < schedule->measurement_count; i++)
        a->slots[i].table = table_of(a, &schedule->measurements[i], &by_used);
    for (size_t t = 0; t < a->table_count; t++) {
        tmi_table *table = &a->tables[t];
        tmi_measure *measures = a->measures + measures_used;
        table->measures = measures;
        for (size_t i = 0; i < schedule->measurement_count; i++) {
            if (a->slots[i].table != t) continue;
            a->slots[i].measure = table->measure_count;
            measures[table->measure_count++] = measure_of(a, &schedule->sampling, &schedule->measurements[i]);
        }
        measures_used += table->measure_count;
    }
    a->request = (tmi_request){a->tables, a->table_count, a->unit, schedule->plan->privacy.rows_per_unit, a->key};
}

static tamis_status check_size(const tmi_asking *a, tamis_error *err)
{
    size_t integers = 0;
    for (size_t t = 0; t < a->table_count; t++) {
        size_t count = answer_count(&a->tables[t]);
        if (count > (size_t)TMI_MAX_CELLS || (integers += count) > (size_t)TMI_MAX_CELLS)
            return tmi_fail(err, TAMIS_INVALID,
                            "statistics: together they need more than %lld integers (one per group for a count, two for a total, "
                            "three for a mean, times the strata and random groups): use fewer `by` columns or values",
                            (long long)TMI_MAX_CELLS);
    }
    return TAMIS_OK;
}

tamis_status tmi_asking_make(tmi_asking *a, const tmi_schedule *schedule, tamis_error *err)
{
    size_t count = schedule->measurement_count;
    tamis_status status;
    *a = (tmi_asking){0};
    TMI_TRY(tmi_columns_make(&a->columns, schedule->plan, err));
    TMI_TRY(tmi_variance_groups_make(&a->groups, &schedule->sampling, err));
    a->tables = tmi_alloc(count, sizeof *a->tables);
    a->measures = tmi_alloc(count, sizeof *a->measures);
    a->by = tmi_alloc((TMI_MAX_BY + 2) * (count + 1), sizeof *a->by);
    a->slots = tmi_alloc(count, sizeof *a->slots);
    a->frame_points = tmi_alloc(schedule->frame.count, sizeof *a->frame_points);
    a->frame_rest = tmi_alloc(schedule->frame.count, sizeof *a->frame_rest);
    if (!a->tables || !a->measures || !a->by || !a->slots || !a->frame_points || !a->frame_rest) TMI_TRY(tmi_fail_memory(err));
    add_design(a, schedule);
    fill_tables(a, schedule);
    TMI_TRY(check_size(a, err));

done:
    if (status != TAMIS_OK) tmi_asking_clear(a);
    return status;
}

tamis_status tmi_asking_draw(tmi_asking *a, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = tmi_variance_groups_draw(&a->groups, rng, err);
    if (status == TAMIS_OK && a->unit) status = tmi_draw_key(a->key, rng, err);
    return status;
}

tamis_status tmi_asking_make_room(tmi_asking *a, tamis_error *err)
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

tmi_int128 tmi_asking_truth(const tmi_asking *a, size_t measurement, size_t cell)
{
    const tmi_slot *slot = &a->slots[measurement];
    return a->answers[slot->table][cell * a->tables[slot->table].measure_count + slot->measure];
}
