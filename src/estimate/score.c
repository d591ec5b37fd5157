#include "estimate/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "estimate/quantile.h"
#include "estimate/root.h"

typedef struct row_of {
    double value, weight;
    size_t place; /* in the file: rows of the same value keep their order, as sums of their weights are rounded in it */
} row_of;

static int by_value(const void *a, const void *b)
{
    const row_of *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value ? 1 : x->place < y->place ? -1 : x->place > y->place;
}

/* The rows that R's subset of the design has, in ascending order. Where it keeps all, those outside of the group have no weight,
 * and missing values are 0. */
static row_of *list_rows(size_t *count, const tmi_estimate_work *w)
{
    row_of *list = tmi_alloc(w->sample->count, sizeof *list);
    const bool all = tmi_keeps_all_rows(w);
    *count = 0;
    for (size_t row = 0; list && row < w->sample->count; row++) {
        if (!all && !w->domain[row]) continue;
        const double weight = w->domain[row] ? tmi_rounded_weight(w->variance, row) : 0;
        list[(*count)++] = (row_of){.value = w->values[row], .weight = weight, .place = row};
    }
    if (list) qsort(list, *count, sizeof *list, by_value);
    return list;
}

/* A quartile of the rows without weights, between two of them in proportion (type 7 of Hyndman and Fan). */
static double plain_quantile(const row_of *rows, size_t count, double p)
{
    const double at = (double)(count - 1) * p, low = floor(1 + at), part = 1 + at - low;
    const double below = rows[(size_t)low - 1].value;
    return part > 0 ? (1 - part) * below + part * rows[(size_t)low].value : below;
}

/* The quantile by weights whose share is the part of rows up to x; long double as R sums. */
static double end_at(const row_of *rows, size_t count, double x)
{
    long double sum = 0, all = 0;
    size_t up_to = 0, place = count, next = count;
    for (size_t i = 0; i < count; i++) {
        up_to += rows[i].value <= x;
        all += rows[i].weight;
    }
    const double share = (double)((long double)up_to / (long double)count), total = (double)all, enough = share * total;
    double reached = 0; /* the sum up to the last row that does not exceed the share; of the first row if all do */
    for (size_t i = 0; i < count; i++) {
        if (rows[i].weight == 0) continue;
        sum += rows[i].weight;
        if (place == count || (double)sum <= enough) {
            place = next = i;
            reached = (double)sum;
        } else if (next == place) {
            next = i;
        }
    }
    return rows[share - reached / total == 0 ? place : next].value;
}

typedef struct test {
    tmi_estimate_work *work;
    const tmi_plan_statistic *statistic;
    const char *reason; /* why the last value is NaN */
    double p, limit;
} test;

static tamis_status run_test(double *value, double place, void *context, tamis_error *err)
{
    test *c = context;
    double share, variance;
    c->reason = NULL;
    tamis_status status = tmi_share_up_to(&share, &variance, &c->reason, c->work, c->statistic, place, err);
    if (status != TAMIS_OK) return status;
    const double distance = c->p - share;
    *value = variance != 0 ? distance / sqrt(variance) - c->limit : distance != 0 ? copysign(INFINITY, distance) : NAN;
    return TAMIS_OK;
}

static tamis_status find_end(double *end, const char **reason, test *c, const row_of *rows, size_t count, tamis_error *err)
{
    const double inwards = (plain_quantile(rows, count, 0.75) - plain_quantile(rows, count, 0.25)) / 100;
    tmi_root_point low = {.place = rows[0].value + inwards}, high = {.place = rows[count - 1].value - inwards};
    double root;
    tamis_status status;
    *reason = "the least and the largest value are the same";
    if (!(low.place < high.place)) return TAMIS_OK;
    TMI_TRY(run_test(&low.value, low.place, c, err));
    if (!c->reason) TMI_TRY(run_test(&high.value, high.place, c, err));
    *reason = c->reason;
    if (!*reason && !((low.value >= 0 && high.value <= 0) || (low.value <= 0 && high.value >= 0)))
        *reason = "the test of the share of rows up to a value does not reject the least or the largest one";
    if (*reason) return TAMIS_OK;
    TMI_TRY(tmi_root(&root, low, high, 1 / (100 * sqrt((double)count)), run_test, c, err));
    *end = end_at(rows, count, root);

done:
    return status;
}

tamis_status tmi_score_interval(tmi_result *result, tmi_estimate_work *w, const tmi_plan_statistic *s, double p, double t,
                                tamis_error *err)
{
    size_t count;
    double lower, upper;
    row_of *rows = list_rows(&count, w);
    if (!rows) return tmi_fail_memory(err);
    test c = {.work = w, .statistic = s, .p = p, .limit = t};
    tamis_status status = find_end(&lower, &result->reason, &c, rows, count, err);
    c.limit = -t;
    if (status == TAMIS_OK && !result->reason) status = find_end(&upper, &result->reason, &c, rows, count, err);
    if (status == TAMIS_OK && !result->reason) {
        result->lower = lower;
        result->upper = upper;
    }
    tmi_free(rows);
    return status;
}
