/* The point estimators and their linear values. A ratio R = Y / X of estimated totals varies, to first order, as the
 * weighted total of (y - R x) / X; a mean is the ratio whose x is 1.                                                 */
#include "survey/estimator.h"

tamis_status tmi_check_finite(const char *name, const double *list, size_t count, tamis_error *err)
{
    if (!list) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: at least one unit is needed");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(list[i])) return tmi_fail(err, TAMIS_INVALID, "%s: number %zu is not finite", name, i);
    return TAMIS_OK;
}

tamis_status tmi_check_probabilities(const char *name, const double *list, size_t count, tamis_error *err)
{
    tamis_status status = tmi_check_finite(name, list, count, err);
    for (size_t i = 0; status == TAMIS_OK && i < count; i++)
        if (!(list[i] > 0 && list[i] <= 1))
            status = tmi_fail(err, TAMIS_INVALID, "%s: number %zu must be above 0 and at most 1", name, i);
    return status;
}

tamis_status tmi_set_variance(double *variance, double value, tamis_error *err)
{
    *variance = isfinite(value) ? value : INFINITY;
    return isfinite(value) ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "linear: values are too large to be squared");
}

static bool is_in(const uint8_t *domain, size_t i) { return !domain || domain[i]; }

/* The weighted total over the domain; a list of NULL is all ones. */
static double weighted(const double *list, const double *weights, const uint8_t *domain, size_t count)
{
    tmi_sum sum = {0};
    for (size_t i = 0; i < count; i++)
        if (is_in(domain, i)) tmi_sum_add(&sum, list ? weights[i] * list[i] : weights[i]);
    return tmi_sum_value(sum);
}

static tamis_status begin(double *estimate, const char *name, const double *values, const double *weights, size_t count,
                          tamis_error *err)
{
    tamis_status status;
    tmi_error_reset(err);
    if (!estimate) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    *estimate = NAN;
    status = tmi_check_finite("values", values, count, err);
    return status == TAMIS_OK ? tmi_check_finite("weights", weights, count, err) : status;
}

static void no_linear(double *linear, size_t count)
{
    for (size_t i = 0; linear && i < count; i++) linear[i] = 0;
}

tamis_status tamis_total(double *total, double *linear, const double *values, const double *weights, const uint8_t *domain,
                         size_t count, tamis_error *err)
{
    tamis_status status;
    double sum;
    TMI_TRY(begin(total, "total", values, weights, count, err));
    sum = weighted(values, weights, domain, count);
    if (!isfinite(sum)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "values: their weighted total is too large"));
    *total = sum;
    for (size_t i = 0; linear && i < count; i++) linear[i] = is_in(domain, i) ? values[i] : 0;

done:
    if (status != TAMIS_OK) no_linear(linear, count);
    return status;
}

/* The ratio of the totals `above` and `below` and its linear values; bases of NULL are ones. */
static tamis_status ratio_of(double *ratio, double *linear, double above, double below, const double *values, const double *bases,
                             const uint8_t *domain, size_t count, tamis_error *err)
{
    double r = above / below;
    if (!isfinite(above) || !isfinite(r)) return tmi_fail(err, TAMIS_INVALID, "values: their weighted total is too large");
    *ratio = r;
    for (size_t i = 0; linear && i < count; i++)
        linear[i] = is_in(domain, i) ? (values[i] - r * (bases ? bases[i] : 1)) / below : 0;
    return TAMIS_OK;
}

tamis_status tamis_mean(double *mean, double *linear, const double *values, const double *weights, const uint8_t *domain,
                        size_t count, tamis_error *err)
{
    tamis_status status;
    double units;
    TMI_TRY(begin(mean, "mean", values, weights, count, err));
    units = weighted(NULL, weights, domain, count);
    if (!(units > 0 && isfinite(units)))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "weights: their sum over the domain is not positive and finite"));
    TMI_TRY(ratio_of(mean, linear, weighted(values, weights, domain, count), units, values, NULL, domain, count, err));

done:
    if (status != TAMIS_OK) no_linear(linear, count);
    return status;
}

tamis_status tamis_ratio(double *ratio, double *linear, const double *values, const double *bases, const double *weights,
                         const uint8_t *domain, size_t count, tamis_error *err)
{
    tamis_status status;
    double base;
    TMI_TRY(begin(ratio, "ratio", values, weights, count, err));
    TMI_TRY(tmi_check_finite("bases", bases, count, err));
    base = weighted(bases, weights, domain, count);
    if (!isfinite(base) || base == 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "bases: their total over the domain is 0 or too large"));
    TMI_TRY(ratio_of(ratio, linear, weighted(values, weights, domain, count), base, values, bases, domain, count, err));

done:
    if (status != TAMIS_OK) no_linear(linear, count);
    return status;
}
