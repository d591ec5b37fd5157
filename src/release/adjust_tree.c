/* The two passes. Upwards node v has an estimate z_v and its variance u_v from everything below it: the mean of its own
 * measurement and of the sum of its parts, weighted by precision. Downwards, with x the final values,
 *
 *     x_c = z_c + k_c (x_v - sum z),  k_c = u_c / sum u,   Var x_c = u_c - k_c^2 (sum u - Var x_v),
 *
 * the smoother of Rauch, Tung and Striebel on a tree. Parts that are not measured have an infinite variance: they take all
 * that is left, in equal shares, and are known only if there is one of them.                                         */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/adjust.h"
#include "survey/estimator.h"

/* Of the parts of a whole. */
typedef struct sums {
    tmi_sum value;
    double variance; /* of those where it is finite */
    size_t parts, unknown; /* unknown: those where it is infinite; their value counts as 0 */
} sums;

static tamis_status check(const double *values, const double *variances, const tmi_tree *tree, tamis_error *err)
{
    if (!values || !variances || !tree || !tree->parent) return tmi_fail(err, TAMIS_INVALID, "values: an input is NULL");
    if (tree->count < 1) return tmi_fail(err, TAMIS_INVALID, "count: not at least 1");
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->parent[i] != TMI_NO_PARENT && tree->parent[i] >= i)
            return tmi_fail(err, TAMIS_INVALID, "parent: that of node %zu does not come before it", i);
        if (!(variances[i] >= 0)) return tmi_fail(err, TAMIS_INVALID, "variances: number %zu is not at least 0", i);
        if (!isfinite(values[i]) && isfinite(variances[i]))
            return tmi_fail(err, TAMIS_INVALID, "values: number %zu is not finite", i);
    }
    return TAMIS_OK;
}

/* z and u of a node from its measurement and its parts. Two public numbers must agree. */
static bool merge(double *z, double *u, const sums *below)
{
    double sum = tmi_sum_value(below->value), variance = below->unknown > 0 ? INFINITY : below->variance;
    if (below->parts == 0 || isinf(variance)) return true;
    if (isinf(*u) || (variance == 0 && *u > 0)) {
        *z = sum;
        *u = variance;
    } else if (*u > 0 || variance > 0) {
        double own = variance / (*u + variance);
        *z = sum + own * (*z - sum);
        *u *= own;
    } else {
        return fabs(*z - sum) <= 1e-9 * (fabs(*z) + fabs(sum));
    }
    return true;
}

static void pass_down(double *x, double *variance, const sums *all, double whole, double whole_variance)
{
    double left = whole - tmi_sum_value(all->value);
    if (all->unknown > 0) {
        if (isinf(*variance)) {
            *x = left / (double)all->unknown;
            if (all->unknown == 1) *variance = all->variance + whole_variance;
        }
        return;
    }
    double share = all->variance > 0 ? *variance / all->variance : 0;
    *x += share * left;
    *variance = fmax(*variance - share * share * (all->variance - whole_variance), 0);
}

tamis_status tmi_adjust_tree(double *values, double *variances, const tmi_tree *tree, tamis_error *err)
{
    tamis_status status = check(values, variances, tree, err);
    if (status != TAMIS_OK) return status;
    size_t count = tree->count;
    sums *below = tmi_alloc(count, sizeof *below);
    double *x = tmi_alloc(2 * count, sizeof *x), *u = x + (x ? count : 0);
    if (!below || !x) TMI_TRY(tmi_fail_memory(err));
    memcpy(x, values, count * sizeof *x);
    memcpy(u, variances, count * sizeof *u);
    for (size_t i = count; i-- > 0;) {
        if (isinf(u[i])) x[i] = 0;
        if (!merge(&x[i], &u[i], &below[i]))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "values: the public number of node %zu is not the sum of its parts", i));
        if (tree->parent[i] == TMI_NO_PARENT) continue;
        sums *whole = &below[tree->parent[i]];
        whole->parts++;
        if (isinf(u[i])) whole->unknown++;
        tmi_sum_add(&whole->value, x[i]);
        whole->variance += isinf(u[i]) ? 0 : u[i];
    }
    for (size_t i = 0; i < count; i++) {
        size_t whole = tree->parent[i];
        if (whole != TMI_NO_PARENT) pass_down(&x[i], &u[i], &below[whole], x[whole], u[whole]);
    }
    memcpy(values, x, count * sizeof *x);
    memcpy(variances, u, count * sizeof *u);

done:
    tmi_free(below);
    tmi_free(x);
    return status;
}
