/* The ordinary design-based estimates, unprotected: what R's package survey computes from the same file.
 *
 * The rows are read once, as they stand. A statistic gives its estimate and a linear value for each row; the design turns
 * linear values into a variance (estimate_variance.h).                                                               */
#include <math.h>
#include <tamis/release.h>

#include "base/memory.h"
#include "base/table.h"
#include "num/law/student.h"
#include "estimate/variance.h"
#include "report/promise.h"
#include "release/release.h"

struct tamis_estimate {
    const tamis_plan *plan; /* held */
    tmi_results results;
    const char *note; /* how variances were approximated; NULL: they were not */
};

const tmi_results *tmi_estimate_results(const tamis_estimate *estimate)
{
    return &estimate->results;
}

void tamis_estimate_free(tamis_estimate *estimate)
{
    if (!estimate) return;
    tmi_results_clear(&estimate->results);
    tmi_plan_drop(estimate->plan);
    tmi_free(estimate);
}

/* ---- one statistic ---- */

/* Lists of one entry a row. */
typedef struct work {
    const tmi_sample *sample;
    tmi_sample_variance *variance;
    double *values, *bases, *linear; /* bases: of ratios */
    size_t *cells; /* of the statistic at hand; NO_CELL: in none */
    uint8_t *missing, *domain;
    size_t rows, values_there; /* of the cell at hand: all of them, and those with a value, which are the domain */
} work;

#define NO_CELL SIZE_MAX

/* The rows that a statistic is about, and their cells: a row that `where` leaves out is in none. */
static void find_cells(work *w, const tmi_plan_statistic *s)
{
    const tmi_sample *sample = w->sample;
    const double *x = tmi_sample_numbers(sample, s->column), *y = tmi_sample_numbers(sample, s->second);
    const double *where = tmi_sample_numbers(sample, s->where);
    const int32_t *codes[TMI_MAX_BY];
    for (size_t j = 0; j < s->by_count; j++) codes[j] = tmi_sample_codes(sample, s->by[j]);
    for (size_t row = 0; row < sample->count; row++) {
        bool inside = !where || where[row] == 1;
        size_t cell = 0;
        for (size_t j = 0; inside && j < s->by_count; j++) {
            inside = codes[j][row] >= 0;
            cell = cell * s->by[j]->value_count + (inside ? (size_t)codes[j][row] : 0);
        }
        w->missing[row] = (x && isnan(x[row])) || (y && isnan(y[row]));
        w->cells[row] = inside ? cell : NO_CELL;
        w->values[row] = !x ? 1 : w->missing[row] ? 0 : x[row];
        w->bases[row] = y && !w->missing[row] ? y[row] : 0;
    }
}

static void find_domain(work *w, size_t cell)
{
    w->rows = w->values_there = 0;
    for (size_t row = 0; row < w->sample->count; row++) {
        const bool here = w->cells[row] == cell;
        w->rows += here;
        w->values_there += w->domain[row] = here && !w->missing[row];
    }
}

/* n/(n-1) times the mean of (x - mean)^2, whose mean is taken as given; n counts the rows without a value too: as svyvar
 * does. */
static tamis_status estimate_variance(double *estimate, work *w, tamis_error *err)
{
    const double *weights = tmi_sample_variance_weights(w->variance), n = (double)w->rows;
    double mean;
    tamis_status status = tamis_mean(&mean, NULL, w->values, weights, w->domain, w->sample->count, err);
    if (status != TAMIS_OK) return status;
    for (size_t row = 0; row < w->sample->count; row++)
        w->linear[row] = w->domain[row] ? (w->values[row] - mean) * (w->values[row] - mean) * n / (n - 1) : 0;
    return tamis_mean(estimate, w->linear, w->linear, weights, w->domain, w->sample->count, err);
}

/* A total divided by the public number of units. */
static tamis_status estimate_by_size(double *estimate, work *w, tamis_error *err)
{
    const double N = (double)w->sample->plan->design.population;
    for (size_t row = 0; row < w->sample->count; row++) w->values[row] /= N;
    return tamis_total(estimate, w->linear, w->values, tmi_sample_variance_weights(w->variance), w->domain, w->sample->count, err);
}

static tamis_status estimate_of(double *estimate, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    const double *weights = tmi_sample_variance_weights(w->variance);
    const size_t count = w->sample->count;
    if (tmi_by_size(s)) return estimate_by_size(estimate, w, err);
    switch (s->kind) {
    case TMI_MEAN:
    case TMI_SHARE: return tamis_mean(estimate, w->linear, w->values, weights, w->domain, count, err);
    case TMI_RATIO: return tamis_ratio(estimate, w->linear, w->values, w->bases, weights, w->domain, count, err);
    case TMI_VARIANCE: return estimate_variance(estimate, w, err);
    default: return tamis_total(estimate, w->linear, w->values, weights, w->domain, count, err);
    }
}

/* A number that a group without rows has. */
static bool is_total(tmi_statistic_kind kind)
{
    return kind == TMI_COUNT || kind == TMI_TOTAL || kind == TMI_TABLE || kind == TMI_HISTOGRAM;
}

static void set_interval(tmi_result *result, double t)
{
    result->se = result->sampling_se;
    if (isnan(result->se) || isnan(result->estimate)) return;
    if (result->df < 1 && result->se > 0) {
        result->reason = "no degrees of freedom: as many strata as first-stage units";
        return;
    }
    const double reach = result->se > 0 ? t * result->se : 0;
    result->lower = result->estimate - reach;
    result->upper = result->estimate + reach;
}

static tamis_status fill(tmi_result *result, work *w, const tmi_plan_statistic *s, double t, tamis_error *err)
{
    double variance;
    find_domain(w, result->cell);
    result->df = w->variance->df;
    result->noise_sd = 0;
    if (w->variance->note) result->notes[result->note_count++] = w->variance->note;
    if ((w->values_there == 0 && !is_total(s->kind)) || (w->values_there < 2 && s->kind == TMI_VARIANCE)) {
        result->reason = w->values_there == 0 ? "no row of this group has a value" : "one row tells no variance";
        return TAMIS_OK;
    }
    tamis_status status = estimate_of(&result->estimate, w, s, err);
    if (status == TAMIS_INVALID) { /* weights or a denominator that sum to 0 */
        result->estimate = TMI_NULL;
        result->reason = "the denominator is 0";
        return TAMIS_OK;
    }
    if (status == TAMIS_OK) status = tmi_sample_variance_of(&variance, &result->reason, w->variance, w->linear, w->domain, err);
    if (status != TAMIS_OK) return status;
    result->sampling_se = sqrt(variance);
    set_interval(result, t);
    tmi_result_bound(result);
    return TAMIS_OK;
}

/* ---- all of them ---- */

static tamis_status make_estimates(tamis_estimate *e, work *w, tamis_progress *progress, void *context, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double t = INFINITY;
    const tamis_number *confidence = NULL; /* of t; the degrees of freedom are those of the design */
    for (size_t i = 0; i < e->results.count; i++) {
        tmi_result *result = &e->results.list[i];
        const tmi_plan_statistic *s = &e->plan->statistics[result->statistic];
        if (result->cell == 0) {
            find_cells(w, s);
            const bool same = confidence && tmi_number_compare(confidence, s->confidence) == 0;
            if (w->variance->df >= 1 && !same) TMI_TRY(tmi_student_quantile(&t, s->confidence, w->variance->df, err));
        }
        confidence = s->confidence;
        TMI_TRY(fill(result, w, s, t, err));
        if (progress && progress(context, (double)(i + 1) / (double)e->results.count, (int64_t)w->sample->count) != 0) {
            status = tmi_fail(err, TAMIS_SYSTEM, "cancelled");
            goto done;
        }
    }

done:
    return status;
}

static tamis_status check_available(const tamis_plan *plan, tamis_error *err)
{
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (s->kind != TMI_QUANTILE && s->kind != TMI_MEDIAN) continue;
        return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: %s: not available in this version", plan->name, s->line, s->place,
                        tmi_statistic_name(s));
    }
    return TAMIS_OK;
}

static tamis_status estimate_with(tamis_estimate **estimate, const tamis_plan *plan, tmi_engine *engine,
                                  const tamis_run_options *options, tamis_error *err)
{
    tamis_progress *progress = options ? options->progress : NULL;
    void *context = options ? options->context : NULL;
    tmi_sample sample = {0};
    tmi_sample_variance variance = {0};
    work w = {.sample = &sample, .variance = &variance};
    tamis_status status;
    tamis_estimate *e = tmi_alloc(1, sizeof *e);
    if (!e) return tmi_fail_memory(err);
    e->plan = tmi_plan_hold(plan);
    TMI_TRY(check_available(plan, err));
    TMI_TRY(tmi_results_make(&e->results, plan, NULL, err));
    TMI_TRY(tmi_sample_read(&sample, e->results.facts, plan, engine, progress, context, err));
    TMI_TRY(tmi_sample_variance_make(&variance, &sample, progress, context, err));
    e->note = variance.note;
    e->results.rows_beyond = sample.rows_beyond;
    e->results.weights_above = sample.weights_above;
    w.values = tmi_alloc(sample.count, sizeof *w.values);
    w.bases = tmi_alloc(sample.count, sizeof *w.bases);
    w.linear = tmi_alloc(sample.count, sizeof *w.linear);
    w.cells = tmi_alloc(sample.count, sizeof *w.cells);
    w.missing = tmi_alloc(sample.count, sizeof *w.missing);
    w.domain = tmi_alloc(sample.count, sizeof *w.domain);
    if (!w.values || !w.bases || !w.linear || !w.cells || !w.missing || !w.domain) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(make_estimates(e, &w, progress, context, err));
    *estimate = e;
    e = NULL;

done:
    tmi_free(w.values);
    tmi_free(w.bases);
    tmi_free(w.linear);
    tmi_free(w.cells);
    tmi_free(w.missing);
    tmi_free(w.domain);
    tmi_sample_variance_clear(&variance);
    tmi_sample_clear(&sample);
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

/* What differs from the plan, a sentence each; a wrong list of values would else pass in silence. */
static void write_fact(tmi_text *text, const char *name, int64_t count, const char *one, const char *many)
{
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "%s: %lld %s", name, (long long)count, count == 1 ? one : many);
    if (line.failed) text->failed = true;
    else tmi_text_wrap(text, "  ", "    ", line.bytes);
    tmi_text_clear(&line);
}

static void write_facts(tmi_text *text, const tamis_estimate *estimate)
{
    const tamis_plan *plan = estimate->plan;
    for (size_t i = 0; i < plan->column_count; i++) {
        const tmi_column_facts *facts = &estimate->results.facts[i];
        const char *name = plan->columns[i].name;
        if (facts->missing > 0 && plan->columns[i].is_number)
            write_fact(text, name, facts->missing, "value is missing and left out", "values are missing and left out");
        else if (facts->missing > 0)
            write_fact(text, name, facts->missing, "value is missing or not in the list of the plan, and in no group",
                       "values are missing or not in the list of the plan, and in no group");
        if (facts->outside_bounds > 0)
            write_fact(text, name, facts->outside_bounds,
                       "record lies outside the bounds of the plan; a release counts it as the nearest bound",
                       "records lie outside the bounds of the plan; a release counts them as the nearest bound");
    }
    if (estimate->results.rows_beyond > 0)
        write_fact(text, plan->privacy.id, estimate->results.rows_beyond,
                   "row is beyond rows_per_unit; of the rows of a unit a release keeps so many at random",
                   "rows are beyond rows_per_unit; of the rows of a unit a release keeps so many at random");
    if (estimate->results.weights_above > 0)
        write_fact(text, plan->design.weight ? plan->design.weight : "weights", estimate->results.weights_above,
                   "weight is above max_weight; a release counts it as max_weight",
                   "weights are above max_weight; a release counts them as max_weight");
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
    if (estimate->note) tmi_text_wrap(&t, "  Variances: ", "  ", estimate->note);
    write_facts(&t, estimate);
    return tmi_text_take(text, &t, err);
}
