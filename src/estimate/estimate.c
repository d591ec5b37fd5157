/* The ordinary design-based estimates, unprotected: what R's package survey computes from the same file.
 *
 * The rows are read once, as they are. A statistic gives its estimate and a linear value for each row; the design turns linear
 * values into a variance (variance.h). Quantiles have intervals of their own (quantile.h). */
#include <math.h>

#include "base/memory.h"
#include "base/watch.h"
#include "estimate/contributions.h"
#include "estimate/estimate.h"
#include "estimate/model.h"
#include "estimate/quantile.h"
#include "estimate/replicates.h"
#include "estimate/stages.h"
#include "num/law/student.h"

/* ---- one statistic ---- */

typedef tmi_estimate_work work;

/* The rows that a statistic is about, and their cells: a row that `where` leaves out is in none. */
static void find_cells(work *w, const tmi_plan_statistic *s)
{
    tmi_distribution_clear(&w->whole);
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
        w->cells[row] = inside ? cell : TMI_NO_CELL;
        w->everybody[row] = (!where || where[row] == 1) && !w->missing[row];
        w->values[row] = !x ? 1 : w->missing[row] ? 0 : x[row];
        w->bases[row] = y && !w->missing[row] ? y[row] : 0;
    }
    if (s->model) tmi_model_missing(w, s->model);
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

/* ---- of a distribution ---- */

/* Of the group at hand, or of all rows. */
static tamis_status make_distribution(work *w, bool of_all, tamis_error *err)
{
    const double *weights = tmi_sample_variance_weights(w->variance);
    tmi_distribution *d = of_all ? &w->whole : &w->distribution;
    tmi_distribution_clear(d);
    return tmi_distribution_make(d, w->values, weights, of_all ? w->everybody : w->domain, w->sample->count, err);
}

static tamis_status fill_quantile(tmi_result *result, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    const size_t at = result->cell % s->at_count;
    tamis_status status;
    if (at == 0) {
        TMI_TRY(make_distribution(w, false, err));
        TMI_TRY(tmi_sample_degrees(&w->df, w->variance, w->domain, err));
    }
    if (!(w->distribution.total > 0)) {
        result->reason = "the denominator is 0";
        return TAMIS_OK;
    }
    TMI_TRY(tmi_estimate_quantile(result, w, s, tmi_number_nearest(s->at[at]), err));
    tmi_result_bound(result);

done:
    return status;
}

static tamis_status estimate_inequality(double *estimate, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    const size_t count = w->sample->count;
    tamis_status status;
    TMI_TRY(make_distribution(w, false, err));
    if (s->kind == TMI_POVERTY && !w->whole.values) TMI_TRY(make_distribution(w, true, err));
    if (!(w->distribution.total > 0)) return tmi_fail(err, TAMIS_INVALID, "weights: their sum is not positive");
    switch (s->kind) {
    case TMI_GINI: return tmi_gini(estimate, w->linear, &w->distribution, w->values, w->domain, count, err);
    case TMI_IQR: return tmi_iqr(estimate, w->linear, &w->distribution, w->values, w->domain, count, err);
    case TMI_S80S20: return tmi_s80s20(estimate, w->linear, &w->distribution, w->values, w->domain, count, err);
    default:
        return tmi_poverty(estimate, w->linear, tmi_number_nearest(s->limit), &w->distribution, &w->whole, w->values, w->domain,
                           w->everybody, count, err);
    }

done:
    return status;
}

static tamis_status estimate_share_below(double *estimate, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    const double line = tmi_number_nearest(s->limit);
    for (size_t row = 0; row < w->sample->count; row++) w->bases[row] = w->values[row] < line;
    return tamis_mean(estimate, w->linear, w->bases, tmi_sample_variance_weights(w->variance), w->domain, w->sample->count, err);
}

/* ---- of moments ---- */

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
    return tamis_total(estimate, w->linear, w->values, tmi_sample_variance_weights(w->variance), w->domain, w->sample->count,
                       err);
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
    case TMI_CORRELATION: return tmi_estimate_correlation(estimate, w, err);
    case TMI_SHARE_BELOW: return estimate_share_below(estimate, w, s, err);
    case TMI_IQR:
    case TMI_POVERTY:
    case TMI_GINI:
    case TMI_S80S20: return estimate_inequality(estimate, w, s, err);
    default: return tamis_total(estimate, w->linear, w->values, weights, w->domain, count, err);
    }
}

/* With another set of weights: the values and the distributions of the statistic are made anew. */
typedef struct recomputed {
    work *w;
    const tmi_plan_statistic *s;
    size_t cell;
} recomputed;

static tamis_status estimate_again(double *estimate, void *context, tamis_error *err)
{
    const recomputed *r = context;
    find_cells(r->w, r->s);
    return estimate_of(estimate, r->w, r->s, err);
}

/* Of the estimate whose linear values were computed last. */
static tamis_status variance_of(double *variance, const char **reason, work *w, const tmi_plan_statistic *s, double estimate,
                                const uint8_t *varying, tamis_error *err)
{
    if (w->variance->replicate_count == 0) return tmi_sample_variance_of(variance, reason, w->variance, w->linear, varying, err);
    const tamis_status status = tmi_replicate_variance(variance, reason, w->variance, estimate, estimate_again,
                                                       &(recomputed){.w = w, .s = s}, err);
    find_cells(w, s);
    return status;
}

/* A number that a group without rows has. */
static bool is_total(tmi_statistic_kind kind)
{
    return kind == TMI_COUNT || kind == TMI_TOTAL || kind == TMI_TABLE || kind == TMI_HISTOGRAM;
}

tamis_status tmi_student_of(double *t, tmi_estimate_work *w, const tamis_number *confidence, int64_t df, tamis_error *err)
{
    const bool known = w->confidence && w->t_df == df && tmi_number_compare(w->confidence, confidence) == 0;
    *t = known ? w->t : INFINITY;
    if (known || df < 1) return TAMIS_OK;
    tamis_status status = tmi_student_quantile(t, confidence, df, err);
    if (status != TAMIS_OK) return status;
    w->confidence = confidence;
    w->t_df = df;
    w->t = *t;
    return TAMIS_OK;
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

static tamis_status fill(tmi_result *result, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    double variance, t;
    find_domain(w, s->at_count > 0 ? result->cell / s->at_count : result->cell);
    result->df = w->variance->df;
    result->noise_sd = 0;
    if (w->variance->note) result->notes[result->note_count++] = w->variance->note;
    if (s->shrink) result->notes[result->note_count++] = "a direct estimate: groups are shrunk in releases only";
    if ((w->values_there == 0 && !is_total(s->kind)) || (w->values_there < 2 && s->kind == TMI_VARIANCE)) {
        result->reason = w->values_there == 0 ? "no row of this group has a value" : "a single row gives no variance";
        return TAMIS_OK;
    }
    if (s->at_count > 0) return fill_quantile(result, w, s, err);
    tamis_status status = estimate_of(&result->estimate, w, s, err);
    if (status == TAMIS_INVALID) { /* weights or a denominator that sum to 0 */
        result->estimate = TMI_NULL;
        result->reason = s->kind == TMI_CORRELATION ? "one of the columns has the same value in all rows"
                                                    : "the denominator is 0";
        return TAMIS_OK;
    }
    const uint8_t *varying = s->kind == TMI_POVERTY ? w->everybody : w->domain;
    if (status == TAMIS_OK) status = variance_of(&variance, &result->reason, w, s, result->estimate, varying, err);
    if (status != TAMIS_OK) return status;
    result->sampling_se = sqrt(variance * tmi_sample_relative_deff(w->variance, s));
    status = tmi_student_of(&t, w, s->confidence, w->variance->df, err);
    if (status != TAMIS_OK) return status;
    set_interval(result, t);
    tmi_clamping_of(result, w->sample, s, w->domain);
    tmi_result_bound(result);
    return TAMIS_OK;
}

/* ---- contrasts ---- */

/* Why a number of a contrast has no estimate; else it, and its linear values. */
static tamis_status estimate_number(double *value, const char **reason, work *w, const tmi_plan_statistic *s, size_t cell,
                                    tamis_error *err)
{
    find_cells(w, s);
    find_domain(w, cell);
    if (w->values_there == 0 && !is_total(s->kind)) {
        *reason = "no row of one of the groups has a value";
        return TAMIS_OK;
    }
    const tamis_status status = estimate_of(value, w, s, err);
    if (status != TAMIS_INVALID) return status;
    *reason = "the denominator of one of the numbers is 0";
    return TAMIS_OK;
}

static tamis_status contrast_again(double *estimate, void *context, tamis_error *err)
{
    const recomputed *r = context;
    const tamis_plan *plan = r->w->sample->plan;
    const char *reason = NULL;
    double sum = 0;
    for (size_t k = 0; k < r->s->contrast->term_count; k++) {
        const bool quotient = r->s->kind == TMI_CONTRAST_QUOTIENT;
        double value = 0;
        const tamis_status status = estimate_number(&value, &reason, r->w,
                                                    &plan->statistics[tmi_term_statistic(r->s->contrast, k)],
                                                    tmi_term_cell(plan, r->s, k, r->cell), err);
        if (status != TAMIS_OK) return status;
        if (reason || (quotient && k == 1 && value == 0)) return tmi_fail(err, TAMIS_INVALID, "a number has no estimate");
        sum = !quotient ? sum + tmi_number_nearest(r->s->contrast->terms[k].weight) * value : k == 0 ? value : sum / value;
    }
    *estimate = sum;
    return TAMIS_OK;
}

/* The linear value of a row is the sum of those of the numbers, times the derivative of the contrast: as svycontrast has it. */
static tamis_status fill_contrast(tmi_result *result, work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    const tamis_plan *plan = w->sample->plan;
    const size_t count = w->sample->count;
    const bool quotient = s->kind == TMI_CONTRAST_QUOTIENT;
    double *linear = tmi_alloc(count, sizeof *linear), variance, t, sum = 0;
    uint8_t *varying = tmi_alloc(count, sizeof *varying);
    tamis_status status = TAMIS_OK;
    if (!linear || !varying) TMI_TRY(tmi_fail_memory(err));
    result->df = w->variance->df;
    result->noise_sd = 0;
    if (w->variance->note) result->notes[result->note_count++] = w->variance->note;
    for (size_t k = 0; k < s->contrast->term_count && !result->reason; k++) {
        const double weight = quotient ? 1 : tmi_number_nearest(s->contrast->terms[k].weight);
        double value;
        TMI_TRY(estimate_number(&value, &result->reason, w, &plan->statistics[tmi_term_statistic(s->contrast, k)],
                                tmi_term_cell(plan, s, k, result->cell), err));
        if (result->reason) break;
        if (quotient && k == 1 && value == 0) result->reason = "the number that it is divided by is 0";
        for (size_t row = 0; row < count; row++) {
            const double own = w->domain[row] ? weight * w->linear[row] : 0;
            linear[row] = quotient && k == 1 ? (linear[row] - sum / value * own) / value : linear[row] + own;
            varying[row] = varying[row] || w->domain[row];
        }
        sum = quotient && k == 1 ? sum / value : sum + weight * value;
    }
    if (result->reason) goto done;
    result->estimate = sum;
    if (w->variance->replicate_count > 0)
        TMI_TRY(tmi_replicate_variance(&variance, &result->reason, w->variance, sum, contrast_again,
                                       &(recomputed){w, s, result->cell}, err));
    else TMI_TRY(tmi_sample_variance_of(&variance, &result->reason, w->variance, linear, varying, err));
    result->sampling_se = sqrt(variance * tmi_sample_relative_deff(w->variance, s));
    TMI_TRY(tmi_student_of(&t, w, s->confidence, w->variance->df, err));
    set_interval(result, t);
    tmi_result_bound(result);

done:
    tmi_free(linear);
    tmi_free(varying);
    return status;
}

/* ---- all of them ---- */

static tamis_status make_estimates(tmi_results *r, work *w, const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < r->count; i++) {
        tmi_result *result = &r->list[i];
        const tmi_plan_statistic *s = &r->plan->statistics[result->statistic];
        if (result->cell == 0 && (s->model || !s->contrast)) find_cells(w, s);
        if (s->model) { /* all terms of a group at once */
            const size_t group = result->cell / s->model->term_count;
            if (result->cell % s->model->term_count != 0) continue;
            find_domain(w, group);
            TMI_TRY(tmi_estimate_model(result, w, s, err));
            continue;
        }
        if (s->kind == TMI_CONTRAST_CHANGE) {
            result->reason = "a change is since a release: estimate both waves without protection, and subtract";
            continue;
        }
        TMI_TRY(s->contrast ? fill_contrast(result, w, s, err) : fill(result, w, s, err));
        if (tmi_stopped(watch, (double)(i + 1) / (double)r->count, (int64_t)w->sample->count)) {
            status = tmi_fail_cancelled(err);
            goto done;
        }
    }

done:
    return status;
}

tamis_status tmi_estimate(tmi_results *results, const char **note, const tamis_plan *plan, tmi_engine *engine,
                          const tamis_watch *watch, tamis_error *err)
{
    tmi_sample sample = {0};
    tmi_sample_variance variance = {0};
    work w = {.sample = &sample, .variance = &variance};
    tamis_status status;
    *results = (tmi_results){0};
    TMI_TRY(tmi_results_make(results, plan, NULL, err));
    TMI_TRY(tmi_sample_read(&sample, results->facts, plan, engine, watch, err));
    TMI_TRY(tmi_sample_variance_make(&variance, &sample, err));
    *note = variance.note;
    results->rows_beyond = sample.rows_beyond;
    results->weights_above = sample.weights_above;
    results->units_above = sample.units_above;
    results->weight_beyond = sample.weight_beyond;
    results->psus = sample.psus;
    TMI_TRY(tmi_stages_compare(&results->stages, &sample, err));
    w.values = tmi_alloc(sample.count, sizeof *w.values);
    w.bases = tmi_alloc(sample.count, sizeof *w.bases);
    w.linear = tmi_alloc(sample.count, sizeof *w.linear);
    w.cells = tmi_alloc(sample.count, sizeof *w.cells);
    w.missing = tmi_alloc(sample.count, sizeof *w.missing);
    w.domain = tmi_alloc(sample.count, sizeof *w.domain);
    w.everybody = tmi_alloc(sample.count, sizeof *w.everybody);
    if (!w.values || !w.bases || !w.linear || !w.cells || !w.missing || !w.domain || !w.everybody) {
        status = tmi_fail_memory(err);
        goto done;
    }
    TMI_TRY(make_estimates(results, &w, watch, err));

done:
    tmi_free(w.values);
    tmi_free(w.bases);
    tmi_free(w.linear);
    tmi_free(w.cells);
    tmi_free(w.missing);
    tmi_free(w.domain);
    tmi_free(w.everybody);
    tmi_distribution_clear(&w.distribution);
    tmi_distribution_clear(&w.whole);
    tmi_sample_variance_clear(&variance);
    tmi_sample_clear(&sample);
    if (status != TAMIS_OK) tmi_results_clear(results);
    return status;
}
