/* The ordinary design-based estimates, unprotected: the only file of this room that sees rows.
 *
 * One pass keeps, for each statistic and group, the number of rows with a value, their sum, and the sum of squares about
 * their mean (Welford's recurrence, which does not cancel). The estimators of each statistic do the rest.            */
#include <math.h>
#include <tamis/release.h>

#include "base/memory.h"
#include "base/table.h"
#include "num/student.h"
#include "release/columns.h"
#include "release/promise.h"
#include "release/release.h"

/* Rows of one cell: how many have a value, their sum, their mean, and the sum of squares about it. */
typedef struct tmi_moments {
    int64_t rows;
    long double sum;
    double mean, squares;
} tmi_moments;

struct tamis_estimate {
    const tamis_plan *plan; /* held */
    tmi_results results;
};

void tamis_estimate_free(tamis_estimate *estimate)
{
    if (!estimate) return;
    tmi_results_clear(&estimate->results);
    tmi_plan_drop(estimate->plan);
    tmi_free(estimate);
}

/* ---- one pass ---- */

typedef struct pass {
    const tamis_plan *plan;
    tmi_columns *columns;
    tmi_moments *moments;    /* as the results: statistic by statistic, cell by cell */
    tmi_column_facts *facts; /* one a column of the plan */
    tamis_progress *progress;
    void *context;
    int64_t rows, expected;
} pass;

static const void *values_of(const pass *p, const tmi_piece *piece, const tmi_plan_column *column)
{
    for (size_t i = 0; column && i < p->columns->count; i++) {
        if (p->columns->origin[i] == column) return piece->columns[i];
    }
    return NULL;
}

static void add_value(tmi_moments *m, double x)
{
    double change = x - m->mean;
    m->rows++;
    m->sum += x;
    m->mean += change / (double)m->rows;
    m->squares += change * (x - m->mean);
}

static void take_statistic(const pass *p, const tmi_piece *piece, const tmi_plan_statistic *s, tmi_moments *moments)
{
    const double *numbers = values_of(p, piece, s->column);
    const int32_t *codes[TMI_MAX_BY];
    for (size_t j = 0; j < s->by_count; j++) codes[j] = values_of(p, piece, s->by[j]);
    for (size_t row = 0; row < piece->rows; row++) {
        size_t cell = 0;
        bool in_a_cell = true;
        for (size_t j = 0; j < s->by_count; j++) {
            in_a_cell = in_a_cell && codes[j][row] >= 0;
            cell = cell * s->by[j]->value_count + (in_a_cell ? (size_t)codes[j][row] : 0);
        }
        if (!in_a_cell || (numbers && isnan(numbers[row]))) continue;
        add_value(&moments[cell], numbers ? numbers[row] : 0);
    }
}

static void take_facts(tmi_column_facts *facts, const tmi_plan_column *column, const void *values, size_t rows)
{
    if (!values) return;
    const double *numbers = values;
    const int32_t *codes = values;
    facts->used = true;
    for (size_t row = 0; row < rows; row++) {
        facts->missing += column->is_number ? isnan(numbers[row]) : codes[row] < 0;
        facts->outside_bounds += column->is_number && (numbers[row] < column->grid.from || numbers[row] > column->grid.to);
    }
}

static tamis_status take_rows(void *context, const tmi_piece *piece, tamis_error *err)
{
    pass *p = context;
    const tamis_plan *plan = p->plan;
    tmi_moments *moments = p->moments;
    for (size_t i = 0; i < plan->statistic_count; i++) {
        take_statistic(p, piece, &plan->statistics[i], moments);
        moments += tmi_statistic_cells(&plan->statistics[i]);
    }
    for (size_t c = 0; c < plan->column_count; c++) {
        take_facts(&p->facts[c], &plan->columns[c], values_of(p, piece, &plan->columns[c]), piece->rows);
    }
    p->rows += (int64_t)piece->rows;
    if (p->progress && p->progress(p->context, (double)p->rows / (double)p->expected, p->rows) != 0) {
        return tmi_fail(err, TAMIS_SYSTEM, "cancelled");
    }
    return TAMIS_OK;
}

/* ---- estimates ---- */

/* estimate +- t se with the degrees of freedom of the whole design, for domains too. */
static void set_interval(tmi_result *result, double t, int64_t df)
{
    result->se = result->sampling_se;
    result->noise_sd = 0;
    result->df = df;
    if (isnan(result->se) || isnan(result->estimate)) {
        if (!result->reason) result->reason = "one sampled unit tells nothing about the error";
    } else {
        result->lower = result->estimate - (result->se > 0 ? t * result->se : 0);
        result->upper = result->estimate + (result->se > 0 ? t * result->se : 0);
    }
}

/* N^2 (1 - n/N) s^2 / n with s^2 = squares / (n - 1). A sample of one tells nothing: NaN, unless it is everybody. */
static double variance_of(const tmi_plan_design *d, double squares)
{
    double N = (double)d->population, n = (double)d->sample;
    if (d->population == d->sample) return 0;
    return d->sample > 1 ? N * (N - n) / n * (squares / (n - 1)) : __builtin_nan("");
}

/* With m rows in the group, their mean a and squares q about it: z is the value in the group and 0 elsewhere, and the sum of
 * squares of z about its own mean m a / n is q + m a^2 (1 - m/n); for a mean z = (value - mean) / rows, whose mean is 0. */
static void estimate_cell(tmi_result *result, const tmi_plan_design *d, tmi_statistic_kind kind, const tmi_moments *cell)
{
    double n = (double)d->sample, weight = (double)d->population / n, m = (double)cell->rows;
    double a = kind == TMI_COUNT ? 1 : cell->mean, q = kind == TMI_COUNT ? 0 : cell->squares;
    if (kind == TMI_MEAN && cell->rows == 0) {
        result->reason = "no row of this group has a value";
    } else if (kind == TMI_MEAN) {
        result->estimate = (double)(cell->sum / (long double)cell->rows);
        result->sampling_se = sqrt(variance_of(d, q)) / (weight * m);
    } else {
        result->estimate = weight * (kind == TMI_COUNT ? m : (double)cell->sum);
        result->sampling_se = sqrt(variance_of(d, q + m * a * a * (1 - m / n)));
    }
}

static tamis_status make_estimates(tamis_estimate *e, const tmi_moments *moments, tamis_error *err)
{
    const tmi_plan_design *d = &e->plan->design;
    tamis_status status = TAMIS_OK;
    int64_t df = d->sample - 1;
    double t = INFINITY;
    for (size_t i = 0; i < e->results.count; i++) {
        tmi_result *result = &e->results.list[i];
        const tmi_plan_statistic *s = &e->plan->statistics[result->statistic];
        if (result->cell == 0 && df >= 1) TMI_TRY(tmi_student_quantile(&t, s->confidence, df, err));
        estimate_cell(result, d, s->kind, &moments[i]);
        set_interval(result, t, df);
        tmi_result_bound(result);
    }

done:
    return status;
}

static tamis_status check_available(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    bool fine = (d->kind == TMI_DESIGN_SRS || d->kind == TMI_DESIGN_CENSUS) && !d->by && !d->weight && !d->nonresponse &&
                plan->declared_count == plan->column_count && !plan->privacy.id;
    for (size_t i = 0; i < plan->statistic_count; i++) fine = fine && plan->statistics[i].kind <= TMI_MEAN && !plan->statistics[i].where;
    return fine ? TAMIS_OK
                : tmi_fail(err, TAMIS_REFUSED, "%s: estimates are made for srs and census without indicators in this version", plan->name);
}

static tamis_status check_rows(tmi_engine *engine, const tamis_plan *plan, const tmi_columns *columns, const pass *p, tamis_error *err)
{
    tmi_inventory inventory = {.columns = columns->files, .column_count = columns->file_count};
    tamis_status status = engine->describe(engine, &inventory, p->progress, p->context, err);
    if (status != TAMIS_OK || inventory.rows == plan->design.sample || !plan->privacy.setting->size_is_public) return status;
    return tmi_fail(err, TAMIS_INVALID, "the source has %lld rows, but the design `%s` declares %lld: correct the plan or the source",
                    (long long)inventory.rows, tmi_design_name(&plan->design), (long long)plan->design.sample);
}

static tamis_status estimate_with(tamis_estimate **estimate, const tamis_plan *plan, tmi_engine *engine,
                                  const tamis_run_options *options, tamis_error *err)
{
    tmi_columns columns = {0};
    pass p = {0};
    tamis_status status;
    tamis_estimate *e = tmi_alloc(1, sizeof *e);
    if (!e) return tmi_fail_memory(err);
    e->plan = tmi_plan_hold(plan);
    TMI_TRY(check_available(plan, err));
    TMI_TRY(tmi_columns_make(&columns, plan, err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        tmi_columns_take(&columns, plan->statistics[i].column);
        for (size_t j = 0; j < plan->statistics[i].by_count; j++) tmi_columns_take(&columns, plan->statistics[i].by[j]);
    }
    TMI_TRY(tmi_results_make(&e->results, plan, NULL, err));
    p = (pass){.plan = plan,
               .columns = &columns,
               .moments = tmi_alloc(e->results.count, sizeof *p.moments),
               .facts = e->results.facts,
               .progress = options ? options->progress : NULL,
               .context = options ? options->context : NULL,
               .expected = plan->design.sample};
    if (!p.moments) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(check_rows(engine, plan, &columns, &p, err));
    if (columns.count > 0) {
        TMI_TRY(engine->rows(engine, columns.files, columns.file_count, take_rows, &p, err));
    } else {
        for (size_t i = 0; i < e->results.count; i++) p.moments[i].rows = p.expected; /* only counts of all units */
    }
    TMI_TRY(make_estimates(e, p.moments, err));
    *estimate = e;
    e = NULL;

done:
    tmi_free(p.moments);
    tmi_columns_clear(&columns);
    tamis_estimate_free(e);
    return status;
}

tamis_status tamis_estimate_run(tamis_estimate **estimate, const tamis_plan *plan, const tamis_run_options *options,
                                tamis_error *err)
{
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "estimate: expected a place for the result, got NULL");
    *estimate = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: expected a plan, got NULL");
    tmi_engine *engine;
    tamis_status status = tmi_engine_for(&engine, plan, options, err);
    if (status != TAMIS_OK) return status;
    status = estimate_with(estimate, plan, engine, options, err);
    engine->free(engine);
    return status;
}

/* ---- texts ---- */

static tamis_status check(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    if (!text) return tmi_fail(err, TAMIS_INVALID, "text: expected a place for the result, got NULL");
    *text = NULL;
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "estimate: expected an estimate, got NULL");
    return TAMIS_OK;
}

tamis_status tamis_estimate_json(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    return status == TAMIS_OK ? tmi_results_json(text, &estimate->results, err) : status;
}

tamis_status tamis_estimate_csv(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    return status == TAMIS_OK ? tmi_results_csv(text, &estimate->results, err) : status;
}

/* What differs from the plan, a line each; a wrong list of values would else pass in silence. */
static void write_facts(tmi_text *text, const tamis_estimate *estimate)
{
    const tamis_plan *plan = estimate->plan;
    for (size_t i = 0; i < plan->column_count; i++) {
        const tmi_column_facts *facts = &estimate->results.facts[i];
        const char *name = plan->columns[i].name;
        if (facts->missing > 0) {
            tmi_text_format(text, plan->columns[i].is_number
                            ? "  %s: %lld values are missing and left out\n"
                            : "  %s: %lld values are missing or not in the list of the plan, and in no group\n",
                            name, (long long)facts->missing);
        }
        if (facts->outside_bounds > 0) {
            tmi_text_format(text, "  %s: %lld records lie outside the bounds of the plan; a release counts them as the nearest "
                            "bound\n", name, (long long)facts->outside_bounds);
        }
    }
}

tamis_status tamis_estimate_text(char **text, const tamis_estimate *estimate, tamis_error *err)
{
    tamis_status status = check(text, estimate, err);
    if (status != TAMIS_OK) return status;
    tmi_text t;
    tmi_text_init(&t);
    tmi_write_heading(&t, estimate->plan, "NOT PROTECTED, for use inside the agency only");
    tmi_results_table(&t, &estimate->results);
    tmi_text_put(&t, "\n");
    tmi_text_wrap(&t, "  ", "  ", "Values as they stand: no clamping, no grid, no noise. Standard errors by linearisation, "
                  "intervals by Student's t.");
    write_facts(&t, estimate);
    return tmi_text_take(text, &t, err);
}
