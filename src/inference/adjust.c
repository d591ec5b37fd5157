#include "inference/adjust.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "survey/estimator.h"

const char *tmi_adjustment_text(tmi_adjustment adjustment)
{
    static const char *const texts[] = {
        [TMI_CALIBRATED] =
            "calibrated to public counts or totals by least squares; its errors are those after calibration, to first order",
        [TMI_RAKED] = "raked to public counts; its errors are those after raking, to first order",
        [TMI_NON_NEGATIVE] = "made non-negative: small numbers are too large on average, large ones too small",
        [TMI_REGULARISED] = "weights shrunk towards their mean: biased by at most the stated bound",
        [TMI_SUPPRESSED_CV] = "withheld: its coefficient of variation is too large",
        [TMI_SUPPRESSED_SMALL] = "withheld: too few sampled units (noisy count)",
    };
    return texts[adjustment];
}

/* ---- non-negativity ---- */

typedef struct cell {
    double t, variance;
} cell;

/* By t / v, the largest first: the lambda at which a cell becomes 0. */
static int earlier(const void *x, const void *y)
{
    const cell *a = x, *b = y;
    double at_a = a->t / a->variance, at_b = b->t / b->variance;
    return (at_a < at_b) - (at_a > at_b);
}

/* The cells that stay positive are the first ones; the lambda that gives them the total is found when the next cell would
 * not be positive. */
static double find_lambda(const cell *cells, size_t count, double total)
{
    tmi_sum t = {-total, 0}, v = {0};
    double lambda = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!(cells[i].t / cells[i].variance > lambda || i == 0)) break;
        tmi_sum_add(&t, cells[i].t);
        tmi_sum_add(&v, cells[i].variance);
        lambda = tmi_sum_value(t) / tmi_sum_value(v);
    }
    return lambda;
}

tamis_status tmi_adjust_non_negative(double *t, size_t *cut, const double *variances, size_t count, double total,
                                     tamis_error *err)
{
    *cut = 0;
    if (!t || !variances) return tmi_fail(err, TAMIS_INVALID, "t: an input is NULL");
    if (count < 1) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!(total >= 0 && isfinite(total))) return tmi_fail(err, TAMIS_INVALID, "total: not a finite number of at least 0");
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(t[i])) return tmi_fail(err, TAMIS_INVALID, "t: number %zu is not finite", i);
        if (!(variances[i] > 0 && isfinite(variances[i])))
            return tmi_fail(err, TAMIS_INVALID, "variances: number %zu is not positive and finite", i);
    }
    cell *cells = tmi_alloc(count, sizeof *cells);
    if (!cells) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) cells[i] = (cell){t[i], variances[i]};
    qsort(cells, count, sizeof *cells, earlier);
    double lambda = find_lambda(cells, count, total);
    for (size_t i = 0; i < count; i++) {
        t[i] = fmax(t[i] - lambda * variances[i], 0);
        *cut += t[i] == 0;
    }
    tmi_free(cells);
    return TAMIS_OK;
}

/* ---- suppression ---- */

bool tmi_is_few(double least_units, double smallest)
{
    return least_units < smallest * (1 - 1e-9);
} /* the dust of doubles is no unit */

bool tmi_suppress(tmi_adjustment *rule, tmi_suppression rules, double estimate, double se, double least_units)
{
    const bool few = tmi_is_few(least_units, rules.smallest);
    *rule = few ? TMI_SUPPRESSED_SMALL : TMI_SUPPRESSED_CV;
    return few || se > rules.largest_cv * fabs(estimate);
}
