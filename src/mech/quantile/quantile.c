#include "mech/quantile/quantile.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "mech/quantile/above.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/several.h"
#include "mech/quantile/smooth.h"
#include "num/exact.h"

#define MOST_ROWS (INT64_C(1) << 20)
#define MOST_EPSILON 1000

/* The rule for one quantile: measured in docs/quantiles.md. */
#define TAIL 0.75
#define LEAST_TAIL 0.9
#define MOST_TAIL 25

#define LEAST_LOG_UNIT "1/1000000" /* of a step */

/* Where the window ends: its outside weighs less than this share of the grid's points, so that a draw asks for it with
 * probability below 2^-40, whatever the data is. */
static const double window_nats = 48 * 0.69314718055994531;

void tamis_quantile_free(tamis_quantile *q)
{
    if (!q) return;
    for (size_t i = 0; q->targets && i < q->count; i++) tamis_number_free(q->targets[i].rate);
    tmi_number_frees(&q->epsilon, &q->log_unit, &q->joint_rate, &q->key_unit, NULL);
    tmi_above_clear(q);
    tmi_smooth_clear(q);
    tamis_distribution_free(q->distribution);
    tmi_free(q->ranks);
    if (q->bits) tmi_wipe(q->bits, q->bit_count * sizeof *q->bits);
    tmi_free(q->bits);
    tmi_free(q->targets);
    tmi_free(q);
}

tamis_status tmi_quantile_fraction(int64_t *p, int64_t *d, const tamis_number *at, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *unit = NULL;
    tamis_status status;
    bool fits = false;
    *p = *d = 0;
    if (!at) return tmi_fail(err, TAMIS_INVALID, "at: NULL");
    if (tmi_number_sign(at) <= 0 || tmi_number_compare_int(at, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "at must be above 0 and below 1");
    tmi_term one = tmi_int(&e, 1);
    TMI_TRY(e.status);
    TMI_TRY(tmi_number_gcd(&unit, at, one, err)); /* 1/d */
    tmi_term bottom = tmi_div(&e, one, unit), top = tmi_mul(&e, at, bottom);
    TMI_TRY(e.status);
    fits = tmi_number_floor(d, bottom) && tmi_number_floor(p, top) && *d <= TMI_AT_MOST;
    if (!fits) status = tmi_fail(err, TAMIS_INVALID, "at must be a fraction with a denominator of at most 2^30");
done:
    tamis_number_free(unit);
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) *p = *d = 0;
    return status;
}

/* What is promised: epsilon, epsilon and delta, or rho. */
static tamis_status check_promise(const tamis_quantile_setup *s, tamis_error *err)
{
    if (s->rho && s->epsilon) return tmi_fail(err, TAMIS_INVALID, "rho: must not be given beside epsilon: choose one of them");
    if (s->rho && s->method != TAMIS_QUANTILE_PREFIX && s->method != TAMIS_QUANTILE_AUTO)
        return tmi_fail(err, TAMIS_INVALID, "rho: this method needs epsilon; prefix counts in rho");
    if (s->method == TAMIS_QUANTILE_PREFIX && !s->rho)
        return tmi_fail(err, TAMIS_INVALID, "rho: method prefix needs it, in place of epsilon");
    if (s->delta && s->method != TAMIS_QUANTILE_SMOOTH)
        return tmi_fail(err, TAMIS_INVALID, "delta: only method smooth takes one");
    if (s->rho) return TAMIS_OK; /* looked at with the distribution */
    if (!s->epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    if (tmi_number_sign(s->epsilon) <= 0 || tmi_number_compare_int(s->epsilon, MOST_EPSILON) > 0)
        return tmi_fail(err, TAMIS_INVALID, "epsilon must be above 0 and at most %d", MOST_EPSILON);
    return TAMIS_OK;
}

static bool has_bins(tamis_quantile_method method)
{
    return method == TAMIS_QUANTILE_HISTOGRAM || method == TAMIS_QUANTILE_TREE || method == TAMIS_QUANTILE_PREFIX;
}

static tamis_status check(const tamis_quantile_setup *s, tamis_error *err)
{
    const tamis_status status = check_promise(s, err);
    if (status != TAMIS_OK) return status;
    if (s->bins != 0 && !has_bins(s->method) && !s->rho)
        return tmi_fail(err, TAMIS_INVALID, "bins: only the methods histogram_method, tree and prefix have any");
    if (s->bins < 0 || s->bins > TAMIS_BINS)
        return tmi_fail(err, TAMIS_INVALID, "bins must be at least 1, at most %d", TAMIS_BINS);
    if (!s->at || s->at_count == 0) return tmi_fail(err, TAMIS_INVALID, "at: there is no quantile to find");
    if (s->at_count > TAMIS_QUANTILES) return tmi_fail(err, TAMIS_INVALID, "at: more than %d quantiles", TAMIS_QUANTILES);
    if (!tamis_quantile_method_name(s->method)) return tmi_fail(err, TAMIS_INVALID, "method: there is none of this number");
    if (s->rows_per_unit < 0 || s->rows_per_unit > MOST_ROWS)
        return tmi_fail(err, TAMIS_INVALID, "rows_per_unit must be at least 1 and at most 2^20");
    if (s->rows < 0 || s->rows > TMI_WEIGHT_SUM) return tmi_fail(err, TAMIS_INVALID, "rows must be between 0 and 2^62");
    if (s->max_weight < 0 || s->max_weight > TMI_WEIGHT_MOST)
        return tmi_fail(err, TAMIS_INVALID, "max_weight must be at least 1 and at most 2^40");
    return TAMIS_OK;
}

tamis_status tmi_target_set(tmi_target *target, const tamis_quantile *q, const tamis_number *epsilon, bool add_remove,
                            double points, tamis_error *err)
{
    const int64_t p = target->rank.p, d = target->rank.d, change = !add_remove ? d : p > d - p ? p : d - p;
    tmi_exact e = TMI_EXACT(err);
    tmi_term most = tmi_mul(&e, tmi_mul(&e, tmi_int(&e, change), tmi_int(&e, q->rows_per_unit)), tmi_int(&e, q->most_weight));
    tamis_status status = tmi_exact_copy(&target->rate, &e, tmi_div(&e, epsilon, tmi_mul(&e, tmi_int(&e, 2), most)));
    tmi_exact_clear(&e);
    if (status != TAMIS_OK) return status;
    const double reach = ceil((3 * log(points + 1) + window_nats) / tmi_number_down(target->rate));
    target->rank.reach = reach < 0x1p120 ? (tmi_int128)reach
                                         : (tmi_int128)1 << 120; /* a loss is below 2^92: then all are inside */
    return TAMIS_OK;
}

static tamis_status set_log_unit(tamis_quantile *q, const tamis_number *unit, const tamis_number *step, tamis_error *err)
{
    tamis_number *least = NULL;
    tamis_status status = TAMIS_OK;
    if (!unit) return TAMIS_OK;
    TMI_TRY(tmi_number_div(&q->log_unit, unit, step, err));
    TMI_TRY(tamis_number_read(&least, LEAST_LOG_UNIT, err));
    if (tmi_number_compare(q->log_unit, least) < 0)
        status = tmi_fail(err, TAMIS_INVALID, "log_unit must be at least a millionth of the step");
done:
    tamis_number_free(least);
    return status;
}

/* The ranks, ascending. */
static tamis_status set_ranks(tamis_quantile *q, const tamis_quantile_setup *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->at_count && status == TAMIS_OK; i++) {
        status = tmi_quantile_fraction(&q->targets[i].rank.p, &q->targets[i].rank.d, s->at[i], err);
        if (status == TAMIS_OK && i > 0 && tmi_number_compare(s->at[i - 1], s->at[i]) >= 0)
            status = tmi_fail(err, TAMIS_INVALID, "at: the quantiles must be in ascending order, each once");
    }
    return status;
}

/* Each quantile has the same part of epsilon: their losses add up. */
static tamis_status set_inverse(tamis_quantile *q, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term part = tmi_div(&e, q->epsilon, tmi_int(&e, (int64_t)q->count));
    tamis_status status = e.status;
    for (size_t i = 0; i < q->count && status == TAMIS_OK; i++)
        status = tmi_target_set(&q->targets[i], q, part, q->add_remove, (double)(q->grid.high - q->grid.low) + 1, err);
    tmi_exact_clear(&e);
    return status;
}

int64_t tmi_quantile_selections(tamis_quantile_method method, size_t count)
{
    switch (method) {
    case TAMIS_QUANTILE_INVERSE: return (int64_t)count;
    case TAMIS_QUANTILE_JOINT: return 1;
    case TAMIS_QUANTILE_SPLIT: return (int64_t)tmi_split_levels(count);
    default: return 0;
    }
}

int64_t tmi_quantile_concentration(tamis_quantile_method method, size_t count)
{
    const int64_t selections = tmi_quantile_selections(method, count);
    return selections > 0 ? 8 * selections : 2 * (int64_t)count;
}

/* A distribution function of bins, from which quantiles are read. */
static tamis_status set_distribution(tamis_quantile *q, const tamis_quantile_setup *s, tamis_error *err)
{
    const int64_t points = q->grid.high - q->grid.low + 1;
    const tamis_distribution_setup setup = {.from = s->from,
                                            .to = s->to,
                                            .step = s->step,
                                            .bins = s->bins > 0           ? s->bins
                                                    : points < TAMIS_BINS ? points
                                                                          : TAMIS_BINS,
                                            .rho = s->rho,
                                            .epsilon = s->epsilon,
                                            .add_remove = s->add_remove,
                                            .rows_per_unit = s->rows_per_unit,
                                            .max_weight = s->max_weight};
    return tamis_distribution_new(&q->distribution, &setup, err);
}

/* The rule of docs/quantiles.md, from public numbers alone. */
static tamis_quantile_method choose(const tamis_quantile_setup *s, const tmi_grid *grid, bool by_log)
{
    if (s->rho) return TAMIS_QUANTILE_PREFIX;
    if (s->at_count > TMI_JOINT_QUANTILES) return TAMIS_QUANTILE_SPLIT;
    if (s->at_count > 1) {
        const double terms = tmi_joint_terms(grid, s->at_count, tmi_number_nearest(s->epsilon),
                                             s->rows_per_unit > 0 ? s->rows_per_unit : 1, s->rows, by_log);
        return terms <= TMI_JOINT_TERMS ? TAMIS_QUANTILE_JOINT : TAMIS_QUANTILE_SPLIT;
    }
    const bool monotone = s->complete && !s->add_remove && s->max_weight == 0;
    const double q = s->at[0] ? tmi_number_nearest(s->at[0]) : 0;
    const double records = (1 - q) * (double)s->rows * tmi_number_nearest(s->epsilon); /* above the quantile, times epsilon */
    const bool is_tail = q >= TAIL && records >= LEAST_TAIL && records <= MOST_TAIL;
    return monotone && is_tail ? TAMIS_QUANTILE_THRESHOLD : TAMIS_QUANTILE_INVERSE;
}

/* Where values cannot be negative and span many steps, they are taken to be skewed. */
static const tamis_number *choose_log_unit(const tamis_quantile_setup *s, const tmi_grid *grid)
{
    if (s->log_unit || s->method != TAMIS_QUANTILE_AUTO) return s->log_unit;
    return grid->low >= 0 && grid->high - grid->low >= TMI_SKEWED_STEPS ? s->step : NULL;
}

static tamis_status set_method(tamis_quantile *q, const tamis_quantile_setup *s, tamis_error *err)
{
    switch (q->method) {
    case TAMIS_QUANTILE_JOINT: return tmi_joint_set(q, err);
    case TAMIS_QUANTILE_SPLIT: return tmi_splitting_set(q, s->at, err);
    case TAMIS_QUANTILE_THRESHOLD:
    case TAMIS_QUANTILE_HISTOGRAM: return tmi_above_set(q, s->complete != 0, s->bins, err);
    case TAMIS_QUANTILE_SMOOTH: return tmi_smooth_set(q, s->delta, err);
    case TAMIS_QUANTILE_TREE:
    case TAMIS_QUANTILE_PREFIX: return set_distribution(q, s, err);
    default: return set_inverse(q, err);
    }
}

tamis_status tamis_quantile_new(tamis_quantile **quantile, const tamis_quantile_setup *s, tamis_error *err)
{
    tamis_quantile *q = NULL;
    tamis_status status;
    if (!quantile) return tmi_fail(err, TAMIS_INVALID, "quantile: NULL");
    *quantile = NULL;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setup: NULL");
    TMI_TRY(check(s, err));
    if (!(q = tmi_alloc(1, sizeof *q))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_grid_set(&q->grid, s->from, s->to, s->step, err));
    const tamis_number *log_unit = choose_log_unit(s, &q->grid);
    q->method = s->method != TAMIS_QUANTILE_AUTO ? s->method : choose(s, &q->grid, log_unit != NULL);
    q->add_remove = s->add_remove != 0;
    q->rows_per_unit = s->rows_per_unit > 0 ? s->rows_per_unit : 1;
    q->most_weight = s->max_weight > 0 ? s->max_weight : 1;
    q->weighted = s->max_weight > 0;
    q->rows = s->rows;
    q->count = s->at_count;
    q->bit_count = q->method == TAMIS_QUANTILE_JOINT ? TMI_JOINT_CHOICES * q->count : q->count;
    q->targets = tmi_alloc(q->count, sizeof *q->targets);
    q->bits = tmi_alloc(q->bit_count, sizeof *q->bits);
    if (!q->targets || !q->bits) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(set_ranks(q, s, err));
    if (s->epsilon) TMI_TRY(tmi_number_copy(&q->epsilon, s->epsilon, err));
    TMI_TRY(set_log_unit(q, log_unit, s->step, err));
    TMI_TRY(set_method(q, s, err));
    *quantile = q;
    q = NULL;
done:
    tamis_quantile_free(q);
    return status;
}

/* ---- methods ---- */

static const char *const methods[] = {[TAMIS_QUANTILE_AUTO] = "auto",
                                      [TAMIS_QUANTILE_INVERSE] = "inverse",
                                      [TAMIS_QUANTILE_JOINT] = "joint",
                                      [TAMIS_QUANTILE_SPLIT] = "split",
                                      [TAMIS_QUANTILE_THRESHOLD] = "threshold",
                                      [TAMIS_QUANTILE_SMOOTH] = "smooth",
                                      [TAMIS_QUANTILE_HISTOGRAM] = "histogram_method",
                                      [TAMIS_QUANTILE_TREE] = "tree",
                                      [TAMIS_QUANTILE_PREFIX] = "prefix"};

const char *tamis_quantile_method_name(tamis_quantile_method method)
{
    return (size_t)method < sizeof methods / sizeof *methods ? methods[method] : NULL;
}

tamis_status tamis_quantile_method_of_name(tamis_quantile_method *method, const char *name, tamis_error *err)
{
    if (!method) return tmi_fail(err, TAMIS_INVALID, "method: NULL");
    *method = TAMIS_QUANTILE_AUTO;
    for (size_t i = 0; name && i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i], name) == 0) {
            *method = (tamis_quantile_method)i;
            return TAMIS_OK;
        }
    if (name && strcmp(name, "histogram") == 0) /* as HistogramMethod was called */
        return tmi_fail(
            err, TAMIS_INVALID,
            "method: histogram is now histogram_method, HistogramMethod of the paper; tree and prefix measure the whole "
            "distribution");
    return tmi_fail(err, TAMIS_INVALID, "method: there is none of this name");
}

tamis_quantile_method tamis_quantile_method_of(const tamis_quantile *quantile)
{
    return quantile ? quantile->method : TAMIS_QUANTILE_AUTO;
}

int64_t tmi_quantile_most_records(const tamis_quantile *q)
{
    return (q->distribution ? q->distribution->most_sum : TMI_WEIGHT_SUM) / q->most_weight;
}

size_t tmi_quantile_count(const tamis_quantile *q) { return q->count; }

int64_t tmi_quantile_bins(const tamis_quantile *q)
{
    return q->distribution ? (int64_t)q->distribution->bins : (int64_t)q->candidate_count;
}

double tmi_quantile_deviation(const tamis_quantile *q)
{
    double most = 0;
    for (size_t i = 0; q->distribution && i < q->distribution->bins; i++) most = fmax(most, q->distribution->sd[i]);
    return most / (double)q->most_weight;
}

void tamis_quantile_grid(int64_t *low, int64_t *high, const tamis_quantile *quantile)
{
    if (low) *low = quantile ? quantile->grid.low : 0;
    if (high) *high = quantile ? quantile->grid.high : 0;
}
