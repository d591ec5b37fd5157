/* Whole reports. The probabilities of the 2^L possible reports are those of the answers times a matrix for each bit, [[1 -
 * lie_zero, lie], [lie_zero, 1 - lie]], one after the other; its inverse is [[1 - lie, -lie], [-lie_zero, 1 - lie_zero]] / s with
 * s = 1 - lie - lie_zero. Applied bit by bit to the shares x of the reports, the inverses A give the unbiased shares of the
 * answers, A x, in L 2^L steps; and (A diag(x) A' - A x (A x)') / n is the usual estimate of their covariance. */
#include <math.h>

#include "base/memory.h"
#include "collect/tally/shares.h"
#include "num/number.h"

/* x[0], x[step], ..., x[(count-1) step]: A x. */
static void apply(double *x, size_t count, size_t step, double lie, double lie_zero)
{
    const double slope = 1 - lie - lie_zero;
    for (size_t bit = 1; bit < count; bit *= 2)
        for (size_t i = 0; i < count; i++) {
            if (i & bit) continue;
            double *zero = &x[i * step], *one = &x[(i | bit) * step];
            const double a = *zero, b = *one;
            *zero = ((1 - lie) * a - lie * b) / slope;
            *one = ((1 - lie_zero) * b - lie_zero * a) / slope;
        }
}

static void make_covariance(double *covariance, const double *estimates, const tamis_tally *t, double lie, double lie_zero)
{
    const size_t count = (size_t)1 << t->bits;
    const double n = (double)t->reports;
    for (size_t i = 0; i < count * count; i++) covariance[i] = 0;
    for (size_t i = 0; i < count; i++) covariance[i * count + i] = (double)t->cells[i] / n;
    for (size_t i = 0; i < count; i++) apply(covariance + i, count, count, lie, lie_zero);
    for (size_t i = 0; i < count; i++) apply(covariance + i * count, count, 1, lie, lie_zero);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            covariance[i * count + k] = (covariance[i * count + k] - estimates[i] * estimates[k]) / n;
}

tamis_status tamis_tally_table(double *estimates, double *covariance, double *consistent, const tamis_tally *tally,
                               tamis_error *err)
{
    if (!estimates) return tmi_fail(err, TAMIS_INVALID, "estimates: NULL");
    if (!tally || !tally->cells || tally->reports < 1)
        return tmi_fail(err, TAMIS_INVALID, "tally: whole reports were not counted");
    const size_t count = (size_t)1 << tally->bits;
    const double n = (double)tally->reports, lie = tmi_number_nearest(tally->lie), zero = tmi_number_nearest(tally->lie_zero);
    double *scratch = consistent ? tmi_alloc(count, sizeof *scratch) : NULL;
    for (size_t i = 0; i < count; i++) estimates[i] = (double)tally->cells[i] / n;
    apply(estimates, count, 1, lie, zero);
    if (covariance) make_covariance(covariance, estimates, tally, lie, zero);
    for (size_t i = 0; consistent && i < count; i++) consistent[i] = estimates[i];
    if (scratch) tmi_project(consistent, scratch, count);
    const bool failed = consistent && !scratch;
    for (size_t i = 0; failed && i < count; i++) {
        estimates[i] = consistent[i] = NAN;
        for (size_t k = 0; covariance && k < count; k++) covariance[i * count + k] = NAN;
    }
    tmi_free(scratch);
    return failed ? tmi_fail_memory(err) : TAMIS_OK;
}
