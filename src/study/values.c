#include "study/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/text.h"
#include "num/number.h"
#include "study/seeded.h"

#define USUAL_SIZE 10001 /* as in the paper: an odd number has one median */

void tmi_values_clear(tmi_values *v)
{
    tmi_free(v->sorted);
    *v = (tmi_values){0};
}

static int by_size(const void *x, const void *y)
{
    double a, b;
    memcpy(&a, x, sizeof a);
    memcpy(&b, y, sizeof b);
    return (a > b) - (a < b);
}

tamis_status tmi_values_take(tmi_values *v, double *list, size_t count, double from, double to, tamis_error *err)
{
    double sum = 0, squares = 0;
    size_t outside = 0;
    *v = (tmi_values){.sorted = list, .from = from, .to = to};
    if (count == 0 || count > TMI_MOST_VALUES) {
        tmi_values_clear(v);
        return tmi_fail(err, TAMIS_INVALID,
                        count == 0 ? "values: the population is empty" : "population: must be at most %d here", TMI_MOST_VALUES);
    }
    v->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        outside += list[i] < from || list[i] > to;
        list[i] = fmin(fmax(list[i], from), to);
        sum += list[i];
    }
    v->mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) squares += (list[i] - v->mean) * (list[i] - v->mean);
    v->variance = count > 1 ? squares / (double)(count - 1) : 0;
    v->outside = (double)outside / (double)count;
    qsort(list, count, sizeof *list, by_size);
    if (list[0] == list[count - 1]) {
        tmi_values_clear(v);
        return tmi_fail(err, TAMIS_INVALID,
                        "values: all values of the population are the same (after clamping to the range): nothing to study");
    }
    return TAMIS_OK;
}

/* ---- laws ---- */

typedef enum law { BETA, LOGNORMAL, NORMAL, UNIFORM, BIMODAL, LAWS } law;

static const struct {
    const char *name;
    int parameters;
} laws[LAWS] = {[BETA] = {"beta", 2},
                [LOGNORMAL] = {"lognormal", 2},
                [NORMAL] = {"normal", 2},
                [UNIFORM] = {"uniform", 0},
                [BIMODAL] = {"bimodal", 0}};

static law law_of(const char *text)
{
    for (law k = 0; k < LAWS; k++) {
        const size_t length = strlen(laws[k].name);
        if (strncmp(text, laws[k].name, length) == 0 && text[length] == (laws[k].parameters ? ':' : '\0')) return k;
    }
    return LAWS;
}

/* "2,10" behind the colon, exact numbers as everywhere. */
static tamis_status read_pair(double pair[2], const char *text, tamis_error *err)
{
    const char *comma = strchr(text, ',');
    tamis_number *x[2] = {NULL, NULL};
    tamis_status status = TAMIS_OK;
    char *first = comma ? tmi_copy_text(text, (size_t)(comma - text)) : NULL;
    if (!comma) return tmi_fail(err, TAMIS_INVALID, "values: a law has two parameters, as in lognormal:5,0.5");
    if (!first) return tmi_fail_memory(err);
    TMI_TRY(tamis_number_read(&x[0], first, err));
    TMI_TRY(tamis_number_read(&x[1], comma + 1, err));
    for (int i = 0; i < 2; i++) pair[i] = tmi_number_nearest(x[i]);

done:
    if (status == TAMIS_INVALID) status = tmi_fail(err, TAMIS_INVALID, "values: a law has two numbers, as in lognormal:5,0.5");
    tmi_free(first);
    tmi_number_frees(&x[0], &x[1], NULL);
    return status;
}

static double draw_beta(tmi_stream *r, double a, double b)
{
    /* shapes below 1 by the power of a uniform: Gamma(a) = Gamma(a + 1) U^(1/a) */
    double x = tmi_stream_gamma(r, a < 1 ? a + 1 : a), y = tmi_stream_gamma(r, b < 1 ? b + 1 : b);
    if (a < 1) x *= pow(tmi_stream_unit(r), 1 / a);
    if (b < 1) y *= pow(tmi_stream_unit(r), 1 / b);
    return x + y > 0 ? x / (x + y) : a / (a + b);
}

/* Appendix B of the paper: two beta laws that do not overlap, one more value in the first, all of it stretched to [0, 1]. The
 * median is the largest value of the first. */
static void draw_bimodal(double *list, size_t count, tmi_stream *r)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double x = draw_beta(r, 2, 10);
        list[i] = i < (count + 1) / 2 ? x / 2 : x + 1;
        least = fmin(least, list[i]);
        most = fmax(most, list[i]);
    }
    for (size_t i = 0; i < count && most > least; i++) list[i] = (list[i] - least) / (most - least);
}

tamis_status tmi_values_draw(double *list, size_t count, const char *text, double from, double to, uint64_t seed,
                             tamis_error *err)
{
    const law k = law_of(text);
    double p[2] = {0, 0};
    tamis_status status = TAMIS_OK;
    if (k == LAWS)
        return tmi_fail(
            err, TAMIS_INVALID,
            "values: must be beta:A,B, lognormal:MU,SIGMA, normal:MEAN,SD, uniform, bimodal, quantiles:0=MIN,0.5=MEDIAN,"
            "1=MAX, a .csv or .parquet file, or a release.json");
    if (laws[k].parameters) TMI_TRY(read_pair(p, text + strlen(laws[k].name) + 1, err));
    if (k == BETA && !(p[0] > 0 && p[1] > 0 && p[0] <= 1e6 && p[1] <= 1e6))
        return tmi_fail(err, TAMIS_INVALID, "values: both numbers of beta:A,B must be positive and at most 10^6");
    if ((k == LOGNORMAL || k == NORMAL) && !(p[1] > 0 && fabs(p[0]) <= 1e9 && p[1] <= 1e9))
        return tmi_fail(err, TAMIS_INVALID, "values: the second number of %s must be positive, and both at most 10^9",
                        laws[k].name);
    tmi_stream r = tmi_stream_of(seed, UINT64_MAX, k);
    if (k == BIMODAL) draw_bimodal(list, count, &r);
    for (size_t i = 0; k != BIMODAL && i < count; i++)
        list[i] = k == BETA        ? draw_beta(&r, p[0], p[1])
                  : k == LOGNORMAL ? exp(p[0] + p[1] * tmi_stream_normal(&r))
                  : k == NORMAL    ? p[0] + p[1] * tmi_stream_normal(&r)
                                   : from + (to - from) * tmi_stream_unit(&r);

done:
    return status;
}

tamis_status tmi_values_guess(double *list, size_t count, double mean, double sd, double from, double to, uint64_t seed,
                              tamis_error *err)
{
    const double m = (mean - from) / (to - from), s = sd / (to - from), both = m * (1 - m) / (s * s) - 1;
    if (!(m > 0 && m < 1 && s > 0 && both > 0))
        return tmi_fail(err, TAMIS_INVALID, "sd: no population in the range has this mean and standard deviation");
    tmi_stream r = tmi_stream_of(seed, UINT64_MAX, LAWS);
    for (size_t i = 0; i < count; i++) list[i] = from + (to - from) * draw_beta(&r, m * both, (1 - m) * both);
    return TAMIS_OK;
}

/* ---- quantiles ---- */

static int by_share(const void *x, const void *y)
{
    const tmi_quantile *a = x, *b = y;
    return a->share != b->share ? (a->share > b->share) - (a->share < b->share) : (a->value > b->value) - (a->value < b->value);
}

tamis_status tmi_values_between(double *list, size_t count, tmi_quantile *points, size_t n, double from, double to,
                                tamis_error *err)
{
    qsort(points, n, sizeof *points, by_share);
    for (size_t i = 0; i < n; i++)
        if (!(points[i].share >= 0 && points[i].share <= 1) || (i > 0 && points[i].value < points[i - 1].value))
            return tmi_fail(err, TAMIS_INVALID, "values: shares of quantiles must be between 0 and 1, and their values rise");
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const double share = ((double)i + 0.5) / (double)count;
        while (next < n && points[next].share <= share) next++;
        const tmi_quantile below = next > 0 ? points[next - 1] : (tmi_quantile){0, from};
        const tmi_quantile above = next < n ? points[next] : (tmi_quantile){1, to};
        const double part = above.share > below.share ? (share - below.share) / (above.share - below.share) : 1;
        list[i] = below.value + part * (above.value - below.value);
    }
    return TAMIS_OK;
}

/* "0=0,0.5=120,1=1000" */
static tamis_status read_points(tmi_quantile *points, size_t *count, size_t most, const char *text, tamis_error *err)
{
    for (*count = 0; *text && *count < most; (*count)++) {
        const size_t share = strcspn(text, "=,"), whole = strcspn(text, ",");
        const size_t value = text[share] == '=' ? share + 1 : whole;
        tmi_quantile *p = &points[*count];
        *p = (tmi_quantile){tmi_number_in((tmi_cell){text, share}), tmi_number_in((tmi_cell){text + value, whole - value})};
        if (!isfinite(p->share) || !isfinite(p->value))
            return tmi_fail(err, TAMIS_INVALID, "values: must be quantiles:SHARE=VALUE,..., as in quantiles:0=0,0.5=120,1=1000");
        text += whole + (text[whole] == ',');
    }
    if (*text) return tmi_fail(err, TAMIS_INVALID, "values: at most %zu quantiles", most);
    return TAMIS_OK;
}

/* ---- all of it ---- */

#define QUANTILES "quantiles:"
#define MOST_POINTS 1000

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static tamis_status fill(double *list, size_t count, const tamis_study_population *p, double from, double to, uint64_t seed,
                         tamis_error *err)
{
    tmi_quantile *points = NULL;
    size_t n = 0;
    double mean = NAN, sd = p->sd ? tmi_number_nearest(p->sd) : NAN;
    tamis_status status = TAMIS_OK;
    if (strncmp(p->values, QUANTILES, strlen(QUANTILES)) == 0) {
        points = tmi_alloc(MOST_POINTS, sizeof *points);
        if (!points) return tmi_fail_memory(err);
        TMI_TRY(read_points(points, &n, MOST_POINTS, p->values + strlen(QUANTILES), err));
        if (n == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "values: quantiles: none is given"));
    } else if (ends_with(p->values, ".json")) {
        TMI_TRY(tmi_values_released(&mean, &points, &n, p->values, p->column, err));
        if (n == 0 && !(isfinite(mean) && sd > 0))
            TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, p->values, 0,
                                  "has no share of %s below a value, and for a mean alone --sd is needed", p->column));
    } else {
        return tmi_values_draw(list, count, p->values, from, to, seed, err);
    }
    TMI_TRY(n > 0 ? tmi_values_between(list, count, points, n, from, to, err)
                  : tmi_values_guess(list, count, mean, sd, from, to, seed, err));

done:
    tmi_free(points);
    return status;
}

tamis_status tmi_values_new(tmi_values *v, const tamis_study_population *p, uint64_t seed, tamis_error *err)
{
    double *list = NULL;
    size_t count = p->size > 0 ? (size_t)p->size : USUAL_SIZE;
    tamis_status status = TAMIS_OK;
    *v = (tmi_values){0};
    if (!p->from || !p->to)
        return tmi_fail(err, TAMIS_INVALID, "range: is needed, with two finite ends: values are clamped to it");
    const double from = tmi_number_nearest(p->from), to = tmi_number_nearest(p->to);
    if (!(fabs(from) <= TMI_FARTHEST && fabs(to) <= TMI_FARTHEST && to - from >= TMI_SHORTEST))
        return tmi_fail(err, TAMIS_INVALID,
                        "range: must have two finite ends, the first below the second, neither beyond 10^100 nor within 10^-100");
    if (p->size < 0 || count > TMI_MOST_VALUES)
        return tmi_fail(err, TAMIS_INVALID, "population: must be between 1 and %d", TMI_MOST_VALUES);
    if (!p->values) return tmi_fail(err, TAMIS_INVALID, "values: a law, quantiles or a file is needed to simulate a population");
    if (ends_with(p->values, ".csv") || ends_with(p->values, ".parquet")) {
        TMI_TRY(tmi_values_read(&list, &count, p->values, p->column, err));
        if (p->size > 0 && (size_t)p->size != count)
            TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, p->values, 0, "has another number of values than --population says"));
    } else {
        list = tmi_alloc(count, sizeof *list);
        if (!list) return tmi_fail_memory(err);
        TMI_TRY(fill(list, count, p, from, to, seed, err));
    }
    status = tmi_values_take(v, list, count, from, to, err);
    list = NULL;

done:
    tmi_free(list);
    return status;
}
