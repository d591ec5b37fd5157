#include "estimate/sample.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/watch.h"
#include "estimate/contributions.h"
#include "estimate/psus.h"
#include "estimate/replicates.h"
#include "num/number.h"

void tmi_sample_clear(tmi_sample *s)
{
    for (size_t i = 0; s->lists && i < s->columns.file_count; i++) tmi_free(s->lists[i]);
    for (size_t i = 0; s->made && i < s->plan->column_count; i++) tmi_free(s->made[i]);
    tmi_free(s->lists);
    tmi_free(s->made);
    tmi_free(s->probabilities);
    tmi_free(s->weights);
    for (size_t i = 0; s->unit_factors && i < s->plan->column_count; i++) tmi_free(s->unit_factors[i]);
    tmi_free(s->unit_factors);
    for (size_t k = 0; k < s->replicate_count; k++) tmi_free(s->replicate_names[k]);
    tmi_free(s->replicate_names);
    tmi_free(s->replicates);
    tmi_columns_clear(&s->columns);
    tmi_frame_file_clear(&s->frame);
    *s = (tmi_sample){0};
}

/* ---- reading ---- */

typedef struct reading {
    tmi_sample *sample;
    const tamis_watch *watch;
    int64_t expected;
} reading;

static size_t width_of(const tmi_column *column) { return column->kind == TMI_CATEGORY ? sizeof(int32_t) : sizeof(double); }

static tamis_status take_rows(void *context, const tmi_piece *piece, tamis_error *err)
{
    reading *r = context;
    tmi_sample *s = r->sample;
    const size_t need = s->count + piece->rows;
    const bool grows = need > s->room;
    if (grows) s->room = need > 2 * s->room ? need : 2 * s->room;
    for (size_t c = 0; c < s->columns.file_count; c++) {
        const size_t width = width_of(s->columns.files[c]);
        if (grows) {
            void *list = tmi_realloc(s->lists[c], s->room, width);
            if (!list) return tmi_fail_memory(err);
            s->lists[c] = list;
        }
        memcpy((char *)s->lists[c] + s->count * width, piece->columns[c], piece->rows * width);
    }
    s->count = need;
    const double share = r->expected > 0 ? (double)s->count / (double)r->expected : -1;
    if (tmi_stopped(r->watch, share < 1 ? share : 1, (int64_t)s->count)) return tmi_fail_cancelled(err);
    return TAMIS_OK;
}

/* A number that is read as it is: the grid is not used. */
static const tmi_column *add_number(tmi_columns *columns, const char *name)
{
    if (!name) return NULL;
    return tmi_columns_add(columns, &(tmi_column){.name = name, .kind = TMI_NUMBER, .grid = {.to = 1, .step = 1, .high = 1}});
}

static const void *list_of(const tmi_sample *s, const tmi_column *column)
{
    for (size_t c = 0; column && c < s->columns.file_count; c++)
        if (s->columns.files[c] == column) return s->lists[c];
    return NULL;
}

/* ---- columns made from others ---- */

/* 1: all conditions hold; 0: one does not; NaN: unknown. */
static double indicator_of(const tmi_sample *s, const tmi_plan_column *column, size_t row)
{
    bool missing = false;
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_plan_condition *c = &column->conditions[i];
        if (c->column->is_number) {
            const double x = tmi_sample_numbers(s, c->column)[row], step = c->column->grid.step;
            if (x < (double)c->least * step || x > (double)c->most * step) return 0;
            missing = missing || isnan(x);
        } else {
            const int32_t code = tmi_sample_codes(s, c->column)[row];
            bool found = code < 0;
            for (size_t j = 0; j < c->code_count; j++) found = found || c->codes[j] == code;
            if (!found) return 0;
            missing = missing || code < 0;
        }
    }
    return missing ? NAN : 1;
}

static int32_t bin_of(const tmi_plan_column *column, double x)
{
    int32_t bin = 0;
    if (isnan(x)) return -1;
    while ((size_t)bin + 1 < column->value_count && (double)column->cuts[bin] * column->cut_of->grid.step <= x) bin++;
    return bin;
}

static double step_in(const tmi_sample *s, const tmi_plan_column *column, size_t row)
{
    return column->by_stratum ? column->by_stratum[tmi_sample_stratum(s, row)].grid.step : column->grid.step;
}

/* A column of the file as it is. */
static const void *given_of(const tmi_sample *s, const tmi_plan_column *column)
{
    for (size_t i = 0; i < s->columns.count; i++)
        if (s->columns.origin[i] == column) return list_of(s, &s->columns.list[i]);
    return NULL;
}

static tamis_status make_column(tmi_sample *s, const tmi_plan_column *column, tamis_error *err)
{
    void *list = tmi_alloc(s->count, column->is_number ? sizeof(double) : sizeof(int32_t));
    if (!list) return tmi_fail_memory(err);
    s->made[column - s->plan->columns] = list;
    if (column->conditions) {
        for (size_t row = 0; row < s->count; row++) ((double *)list)[row] = indicator_of(s, column, row);
    } else if (column->cut_of) {
        const double *numbers = tmi_sample_numbers(s, column->cut_of);
        for (size_t row = 0; row < s->count; row++) ((int32_t *)list)[row] = bin_of(column, numbers[row]);
    } else if (column->joint) {
        const int32_t *of = tmi_sample_codes(s, column->joint_of), *with = tmi_sample_codes(s, column->joint_with);
        const size_t width = column->joint_with->value_count;
        for (size_t row = 0; row < s->count; row++)
            ((int32_t *)list)[row] = of[row] < 0 || with[row] < 0 ? -1
                                                                  : column->joint[(size_t)of[row] * width + (size_t)with[row]];
    } else if (column->recode) {
        const int32_t *strata = tmi_sample_codes(s, column->recode_of);
        for (size_t row = 0; row < s->count; row++) ((int32_t *)list)[row] = strata[row] < 0 ? -1 : column->recode[strata[row]];
    } else if (column->is_category) { /* declared complete: any other text counts as the first value */
        memcpy(list, given_of(s, column), s->count * sizeof(int32_t));
        for (size_t row = 0; row < s->count; row++)
            if (((int32_t *)list)[row] < 0) ((int32_t *)list)[row] = 0;
    } else { /* a number whose missing values count as one */
        memcpy(list, given_of(s, column), s->count * sizeof(double));
        for (size_t row = 0; row < s->count; row++)
            if (isnan(((double *)list)[row])) ((double *)list)[row] = (double)column->instead * step_in(s, column, row);
    }
    return TAMIS_OK;
}

static bool is_made(const tmi_plan_column *column)
{
    return column->conditions || column->cut_of || column->recode || column->joint || column->missing == TMI_NEVER ||
           (column->is_number && column->missing == TMI_AS_VALUE);
}

static const void *values_of(const tmi_sample *s, const tmi_plan_column *column)
{
    if (!column) return NULL;
    return is_made(column) ? s->made[column - s->plan->columns] : given_of(s, column);
}

const double *tmi_sample_numbers(const tmi_sample *s, const tmi_plan_column *column) { return values_of(s, column); }

const int32_t *tmi_sample_codes(const tmi_sample *s, const tmi_plan_column *column) { return values_of(s, column); }

size_t tmi_sample_stratum(const tmi_sample *s, size_t row) { return s->strata ? (size_t)s->strata[row] : 0; }

static void take_facts(tmi_column_facts *facts, const tmi_plan_column *column, const void *values, size_t rows)
{
    const double *numbers = values;
    const int32_t *codes = values;
    facts->used = true;
    for (size_t row = 0; row < rows; row++) {
        facts->missing += column->is_number ? isnan(numbers[row]) : codes[row] < 0;
        facts->outside_bounds += column->is_number && (numbers[row] < column->grid.from || numbers[row] > column->grid.to);
    }
}

/* A recode of the strata is not read, but where the source has a column of its name the two are compared. */
static void count_contradicting(tmi_column_facts *facts, const tmi_sample *s, const tmi_plan_column *column)
{
    const int32_t *own = NULL, *codes = tmi_sample_codes(s, column);
    for (size_t i = 0; i < s->columns.count && !own; i++)
        if (s->columns.list[i].values == (const char *const *)column->values) own = list_of(s, &s->columns.list[i]);
    facts->used = true;
    for (size_t row = 0; own && row < s->count; row++) facts->contradicting += own[row] != codes[row];
}

/* Adds the columns of the source that have the names of recodes, as far as there are any. */
static tamis_status add_recoded(tmi_sample *s, tmi_engine *engine, const reading *r, tamis_error *err)
{
    const size_t count = s->columns.count;
    for (size_t i = 0; i < count; i++) {
        const tmi_plan_column *column = s->columns.origin[i];
        if (!column || !column->recode || tmi_is_part_of_strata(&s->plan->design, column)) continue;
        const tmi_column own = {.name = column->name,
                                .kind = TMI_CATEGORY,
                                .values = (const char *const *)column->values,
                                .value_count = column->value_count},
                         *const list[] = {&own};
        tmi_inventory inventory = {.columns = list, .column_count = 1};
        tamis_error none;
        const tamis_status status = engine->describe(engine, &inventory, r->watch, &none);
        if (status == TAMIS_OK) tmi_columns_add(&s->columns, &own);
        else if (status != TAMIS_INVALID) return tmi_fail(err, status, "%s", none.message);
    }
    return TAMIS_OK;
}

/* ---- what a row represents ---- */

static double positive(double x) { return x > 0 && isfinite(x) ? x : NAN; }

double tmi_sample_second_weight(const tmi_sample *s, size_t row)
{
    if (s->plan->design.second_rate) return 1 / tmi_number_nearest(s->plan->design.second_rate);
    const double size = s->second_population[row], take = (double)s->plan->design.second_take;
    const double drawn = s->second_sample ? s->second_sample[row] : fmin(take, size);
    return positive(size) / positive(drawn);
}

static double weight_of(const tmi_sample *s, const double *given, size_t row)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_stratum *stratum = &d->strata[tmi_sample_stratum(s, row)];
    if (given) return given[row] >= 0 && isfinite(given[row]) ? given[row] : NAN;
    if (stratum->rate) return 1 / tmi_number_nearest(stratum->rate);
    const double first = s->probabilities ? 1 / positive(s->probabilities[row])
                                          : (double)stratum->population / (double)stratum->sample;
    return d->kind->staged ? first * tmi_sample_second_weight(s, row) : first;
}

/* Of the rows, or of their units in the frame: as in a release, which does not read the rows' own ones then. */
static tamis_status set_probabilities(tmi_sample *s, const double *given, tamis_error *err)
{
    const char *name = s->plan->design.probability;
    if (!given && !s->frame_units) return TAMIS_OK;
    s->probabilities = tmi_alloc(s->count, sizeof *s->probabilities);
    if (!s->probabilities) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) {
        if (!given && s->frame_units[row] < 0)
            return tmi_fail(err, TAMIS_INVALID, "%s: a row's unit is not in design.frame; a release would not count it",
                            s->plan->privacy.id);
        s->probabilities[row] = given ? given[row] : s->frame.pi[s->frame_units[row]];
        if (!(s->probabilities[row] > 0 && s->probabilities[row] <= 1))
            return tmi_fail(err, TAMIS_INVALID, "%s: a probability is missing, not positive or above 1", name);
    }
    return TAMIS_OK;
}

static tamis_status set_weights(tmi_sample *s, const double *given, tamis_error *err)
{
    s->weights = tmi_alloc(s->count, sizeof *s->weights);
    if (!s->weights) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) {
        s->weights[row] = weight_of(s, given, row);
        if (isnan(s->weights[row]))
            return tmi_fail(err, TAMIS_INVALID, "a row has no weight: its %s is missing, not positive or not a number",
                            given ? s->plan->design.weight : "cluster's size");
    }
    return TAMIS_OK;
}

/* Weights of a unit together, each clamped as a release does it. */
static tamis_status count_units_above(tmi_sample *s, tamis_error *err)
{
    const tamis_number *max_weight = s->plan->design.max_weight;
    const double most = max_weight ? tmi_number_nearest(max_weight) : INFINITY,
                 of_unit = tmi_number_nearest(s->plan->design.max_unit_weight);
    double *sums = tmi_alloc(s->count, sizeof *sums), all = 0, beyond = 0; /* labels are numbered from 0 */
    if (!sums) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) sums[s->units[row]] += fmin(s->weights[row], most);
    for (size_t unit = 0; unit < s->count; unit++) {
        all += sums[unit];
        beyond += fmax(sums[unit] - of_unit, 0);
        s->units_above += sums[unit] > of_unit;
    }
    s->weight_beyond = all > 0 ? beyond / all : 0;
    tmi_free(sums);
    return TAMIS_OK;
}

/* What a release would not take as it is. */
static tamis_status count_excess(tmi_sample *s, tamis_error *err)
{
    const tamis_number *most = s->plan->design.max_weight;
    for (size_t row = 0; most && row < s->count; row++) s->weights_above += s->weights[row] > tmi_number_nearest(most);
    if (!s->units) return TAMIS_OK;
    int64_t *rows = tmi_alloc(s->count, sizeof *rows); /* labels are numbered from 0 */
    if (!rows) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) s->rows_beyond += ++rows[s->units[row]] > s->plan->privacy.rows_per_unit;
    tmi_free(rows);
    return s->plan->design.max_unit_weight ? count_units_above(s, err) : TAMIS_OK;
}

/* ---- does the file fit the design ---- */

static tamis_status check_labels(const tmi_sample *s, tamis_error *err)
{
    const struct {
        const int64_t *labels;
        const char *what;
    } lists[] = {{s->units, "unit"}, {s->clusters, "cluster"}, {s->labels, "stratum"}};
    for (size_t row = 0; s->strata && row < s->count; row++)
        if (s->strata[row] < 0)
            return tmi_fail(err, TAMIS_INVALID, "%s: a row is in no stratum of the design", s->plan->design.by->name);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (size_t row = 0; lists[i].labels && row < s->count; row++)
            if (lists[i].labels[row] < 0) return tmi_fail(err, TAMIS_INVALID, "a row has no %s", lists[i].what);
    return TAMIS_OK;
}

/* What the design counts in a stratum, if the number is declared: rows, distinct units or clusters. */
static tamis_status check_numbers(tmi_sample *s, tmi_engine *engine, const tmi_column *unit, const tmi_column *cluster,
                                  const tmi_column *strata, const reading *r, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    const bool draws = d->kind->with_replacement, counted = d->kind->clusters;
    int64_t *found = tmi_alloc(d->stratum_count, sizeof *found);
    if (!found) return tmi_fail_memory(err);
    tmi_inventory inventory = {.columns = s->columns.files, .column_count = s->columns.file_count, .stratum = strata};
    if (counted) {
        inventory.cluster = cluster;
        inventory.clusters_in = found;
    } else if (unit && !draws) {
        inventory.unit = unit;
        inventory.units_in = found;
    } else {
        inventory.rows_in = found;
    }
    tamis_status status = engine->describe(engine, &inventory, r->watch, err);
    const bool declared = d->sample > 0 && !d->nonresponse && !d->kind->independent;
    for (size_t h = 0; status == TAMIS_OK && declared && h < d->stratum_count; h++) {
        if (found[h] == d->strata[h].sample || (tmi_may_be_empty(d) && found[h] < d->strata[h].sample)) continue;
        const char *what = counted ? "clusters" : unit && !draws ? "units" : "rows", *name = d->strata[h].name;
        status = tmi_fail(err, TAMIS_INVALID,
                          "the source has %lld %s%s%s, but the design `%s` declares %lld: correct the plan or the source",
                          (long long)found[h], what, name ? " in stratum " : "", name ? name : "", tmi_design_name(d),
                          (long long)d->strata[h].sample);
    }
    tmi_free(found);
    return status;
}

/* ---- all of it ---- */

static void take_plan_columns(tmi_columns *columns, const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->statistic_count; i++) {
        if (tmi_is_of_curve(plan, i)) continue; /* of a column that is read already */
        const tmi_plan_statistic *s = &plan->statistics[i];
        tmi_columns_take(columns, s->column);
        tmi_columns_take(columns, s->second);
        for (size_t k = 0; s->model && k < s->model->on_count; k++) tmi_columns_take(columns, s->model->on[k]);
        tmi_columns_take(columns, s->where);
        for (size_t j = 0; j < s->by_count; j++) tmi_columns_take(columns, s->by[j]);
    }
    for (size_t i = 0; i < plan->control_count; i++) {
        tmi_columns_take(columns, plan->controls[i].column);
        for (size_t j = 0; j < plan->controls[i].by_count; j++) tmi_columns_take(columns, plan->controls[i].by[j]);
    }
}

static tamis_status make_columns(tmi_sample *s, tmi_column_facts *facts, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    for (int pass = 0; pass < 2; pass++) { /* indicators and bins of numbers whose missing values count as one come last */
        for (size_t i = 0; i < s->columns.count; i++) {
            const tmi_plan_column *column = s->columns.origin[i];
            if (!column || !is_made(column) || (column->conditions || column->cut_of) != pass || s->made[column - plan->columns])
                continue;
            tamis_status status = make_column(s, column, err);
            if (status != TAMIS_OK) return status;
        }
    }
    for (size_t i = 0; i < s->columns.count; i++) {
        const tmi_plan_column *column = s->columns.origin[i];
        if (!column || column->conditions || column->cut_of || column - plan->columns >= (ptrdiff_t)plan->declared_count)
            continue;
        if (column->recode) count_contradicting(&facts[column - plan->columns], s, column);
        else
            take_facts(&facts[column - plan->columns], column,
                       column->missing == TMI_NEVER ? given_of(s, column) : values_of(s, column), s->count);
    }
    return TAMIS_OK;
}

tamis_status tmi_sample_read(tmi_sample *s, tmi_column_facts *facts, const tamis_plan *plan, tmi_engine *engine,
                             const tamis_watch *watch, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    *s = (tmi_sample){.plan = plan};
    reading r = {.sample = s, .watch = watch};
    tmi_listed_psus psus = {0};
    tamis_status status;
    const tmi_column **replicates = NULL;
    if (d->replicates.weights) TMI_TRY(tmi_replicate_columns(&s->replicate_names, &s->replicate_count, plan, err));
    TMI_TRY(tmi_columns_make(&s->columns, plan, TMI_PSUS_COLUMNS + s->replicate_count, err));
    s->replicates = tmi_alloc(s->replicate_count, sizeof *s->replicates);
    replicates = tmi_alloc(s->replicate_count, sizeof *replicates);
    if (!s->replicates || !replicates) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < s->replicate_count; k++) replicates[k] = add_number(&s->columns, s->replicate_names[k]);
    take_plan_columns(&s->columns, plan);
    const tmi_column *strata = tmi_columns_take(&s->columns, d->by);
    const tmi_column *unit = tmi_columns_add_label(&s->columns, plan->privacy.id);
    const tmi_column *cluster = tmi_columns_add_label(&s->columns, d->cluster);
    const tmi_column *labels = tmi_columns_add_label(&s->columns, d->strata_label);
    const tmi_column *probability = d->frame ? NULL : add_number(&s->columns, d->probability);
    const tmi_column *weight = add_number(&s->columns, d->weight);
    const tmi_column *population = add_number(&s->columns, d->second_population);
    const tmi_column *drawn = add_number(&s->columns, d->second_sample);
    const tmi_column *in_frame = NULL;
    if (d->frame) {
        TMI_TRY(tmi_frame_file_read(&s->frame, plan, err));
        in_frame = tmi_columns_add(&s->columns, &(tmi_column){.name = plan->privacy.id,
                                                              .kind = TMI_CATEGORY,
                                                              .values = (const char *const *)s->frame.ids,
                                                              .value_count = s->frame.count});
    }
    TMI_TRY(tmi_psus_add(&psus, &s->columns, plan, err));
    TMI_TRY(add_recoded(s, engine, &r, err));
    s->lists = tmi_alloc(s->columns.file_count, sizeof *s->lists);
    s->made = tmi_alloc(plan->column_count, sizeof *s->made);
    if (!s->lists || !s->made) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(check_numbers(s, engine, unit, cluster, strata, &r, err));
    r.expected = d->sample;
    if (s->columns.file_count > 0) TMI_TRY(engine->rows(engine, s->columns.files, s->columns.file_count, take_rows, &r, err));
    else s->count = (size_t)d->sample;              /* nothing but the number of units is asked for */
    for (size_t i = 0; i < s->columns.count; i++) { /* in an order in which parts come first */
        const tmi_plan_column *column = s->columns.origin[i];
        if (column && column->joint) TMI_TRY(make_column(s, column, err));
    }
    s->strata = d->by && d->by->joint ? values_of(s, d->by) : list_of(s, strata);
    s->units = list_of(s, unit);
    s->clusters = list_of(s, cluster);
    s->labels = list_of(s, labels);
    s->second_population = list_of(s, population);
    s->second_sample = list_of(s, drawn);
    s->frame_units = list_of(s, in_frame);
    for (size_t k = 0; k < s->replicate_count; k++) s->replicates[k] = list_of(s, replicates[k]);
    TMI_TRY(check_labels(s, err));
    TMI_TRY(make_columns(s, facts, err));
    TMI_TRY(set_probabilities(s, list_of(s, probability), err));
    TMI_TRY(set_weights(s, list_of(s, weight), err));
    TMI_TRY(count_excess(s, err));
    TMI_TRY(tmi_bound_units(s, facts, err));
    if (psus.label) TMI_TRY(tmi_psus_compare(&s->psus, &psus, list_of(s, psus.label), list_of(s, psus.stratum), s->count, err));

done:
    tmi_free(replicates);
    tmi_psus_clear(&psus);
    if (status != TAMIS_OK) tmi_sample_clear(s);
    return status;
}
