/* Gini, S80/S20, the poverty rate and the interquartile range, and how they vary.
 *
 * Linear values are derivatives by the weight of a row. With N the weight and Y the total of all rows,
 *
 *     Gini       2 A / (N Y) - 1, where A is half the sum of w_i w_j max(x_i, x_j) over all pairs; the derivative of A is
 *                the sum of w_j max(x_k, x_j) over j.
 *     S20        the total T(q) of values up to the quintile q, which moves with the weights: x [x <= q] + q (1/5 - [x <= q]).
 *                The density at q cancels (Langel and Tille 2011), so none is estimated. S80 is the total minus such a T.
 *     poverty    the share p of a group below the line L = c m, m the median of everybody: ([x < L] - p) / N in the group, plus
 *                c f(L) (1/2 - [x <= m]) / (M g(m)) for everybody, where f and g are the densities of the group and of everybody,
 *                and N and M their weights.
 *     IQR        a quantile x_p has (p - [x <= x_p]) / (N f(x_p)), f the density: the difference of two of these.
 *
 * Densities are those of a normal kernel, as in Osier (2009). */
#include "base/memory.h"
#include "survey/distribution.h"
#include "survey/estimator.h"

static bool is_in(const uint8_t *domain, size_t i) { return !domain || domain[i]; }

/* The value's place among the different ones. */
static size_t find(const tmi_distribution *d, double value)
{
    size_t low = 0, high = d->count - 1;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (d->values[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

static double total_between(const tmi_distribution *d, double above, double up_to)
{
    tmi_sum sum = {0};
    for (size_t i = 0; i < d->count; i++)
        if (d->values[i] > above && d->values[i] <= up_to) tmi_sum_add(&sum, d->values[i] * d->weights[i]);
    return tmi_sum_value(sum);
}

tamis_status tmi_gini(double *gini, double *linear, const tmi_distribution *d, const double *values, const uint8_t *domain,
                      size_t rows, tamis_error *err)
{
    const double N = d->total, Y = total_between(d, -INFINITY, INFINITY);
    *gini = NAN;
    if (!(Y > 0)) return tmi_fail(err, TAMIS_INVALID, "values: their total is not positive");
    double *slopes = tmi_alloc(d->count, sizeof *slopes); /* of A, at each different value */
    if (!slopes) return tmi_fail_memory(err);
    tmi_sum above = {0}, A = {0};
    for (size_t i = d->count; i-- > 0;) {
        slopes[i] = d->values[i] * d->sums[i] + tmi_sum_value(above);
        tmi_sum_add(&above, d->values[i] * d->weights[i]);
        tmi_sum_add(&A, slopes[i] * d->weights[i] / 2);
    }
    const double ratio = 2 * tmi_sum_value(A) / (N * Y);
    *gini = ratio - 1;
    for (size_t k = 0; k < rows; k++)
        linear[k] = is_in(domain, k) ? 2 * slopes[find(d, values[k])] / (N * Y) - ratio * (1 / N + values[k] / Y) : 0;
    tmi_free(slopes);
    return TAMIS_OK;
}

/* How the total of values up to a quantile moves. */
static double partial(double x, double q, double p) { return (x <= q ? x : 0) + q * (p - (x <= q)); }

tamis_status tmi_s80s20(double *ratio, double *linear, const tmi_distribution *d, const double *values, const uint8_t *domain,
                        size_t rows, tamis_error *err)
{
    const double lower = tmi_middle_quantile_of(d, 0.2), upper = tmi_middle_quantile_of(d, 0.8);
    const double S20 = total_between(d, -INFINITY, lower), S80 = total_between(d, upper, INFINITY);
    *ratio = NAN;
    if (!(S20 > 0)) return tmi_fail(err, TAMIS_INVALID, "values: the total of the lower fifth is not positive");
    *ratio = S80 / S20;
    for (size_t k = 0; k < rows; k++) {
        const double x = values[k];
        linear[k] = is_in(domain, k) ? (x - partial(x, upper, 0.8) - *ratio * partial(x, lower, 0.2)) / S20 : 0;
    }
    return TAMIS_OK;
}

static double standard_deviation(const tmi_distribution *d)
{
    tmi_sum squares = {0};
    const double mean = total_between(d, -INFINITY, INFINITY) / d->total;
    for (size_t i = 0; i < d->count; i++) tmi_sum_add(&squares, d->weights[i] * (d->values[i] - mean) * (d->values[i] - mean));
    return sqrt(tmi_sum_value(squares) / d->total);
}

#define PI 3.14159265358979323846

static double density(const tmi_distribution *d, double x, double width)
{
    tmi_sum sum = {0};
    for (size_t i = 0; i < d->count; i++) {
        const double z = (d->values[i] - x) / width;
        tmi_sum_add(&sum, d->weights[i] * exp(-z * z / 2));
    }
    return tmi_sum_value(sum) / (d->total * width * sqrt(2 * PI));
}

tamis_status tmi_iqr(double *range, double *linear, const tmi_distribution *d, const double *values, const uint8_t *domain,
                     size_t rows, tamis_error *err)
{
    *range = NAN;
    if (!(d->total > 0)) return tmi_fail(err, TAMIS_INVALID, "weights: their sum is not positive");
    const double lower = tmi_quantile_of(d, 0.25), upper = tmi_quantile_of(d, 0.75);
    const double width = standard_deviation(d) * pow(d->total, -0.2);
    const double at_lower = width > 0 ? 1 / (d->total * density(d, lower, width)) : 0,
                 at_upper = width > 0 ? 1 / (d->total * density(d, upper, width)) : 0; /* 0: all values are alike */
    *range = upper - lower;
    for (size_t k = 0; k < rows; k++)
        linear[k] = is_in(domain, k) ? at_upper * (0.75 - (values[k] <= upper)) - at_lower * (0.25 - (values[k] <= lower)) : 0;
    return TAMIS_OK;
}

tamis_status tmi_poverty(double *rate, double *linear, double part, const tmi_distribution *d, const tmi_distribution *whole,
                         const double *values, const uint8_t *domain, const uint8_t *everybody, size_t rows, tamis_error *err)
{
    *rate = NAN;
    if (!(d->total > 0) || !(whole->total > 0)) return tmi_fail(err, TAMIS_INVALID, "weights: their sum is not positive");
    const double median = tmi_middle_quantile_of(whole, 0.5), line = part * median;
    const double width = standard_deviation(whole) * pow(whole->total, -0.2);
    const double slope = width > 0 ? part * density(d, line, width) / density(whole, median, width)
                                   : 0; /* all values are alike */
    *rate = tmi_share_below(d, line);
    for (size_t k = 0; k < rows; k++) {
        linear[k] = is_in(domain, k) ? ((values[k] < line) - *rate) / d->total : 0;
        if (is_in(everybody, k)) linear[k] += slope * (0.5 - (values[k] <= median)) / whole->total;
    }
    return TAMIS_OK;
}
