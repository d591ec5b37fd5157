#include "estimate/frame.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "num/number.h"
#include "survey/design/method.h"

/* The design of a stratum's units, their probabilities below 1 scaled such that they sum to the sample size exactly: in
 * a file they are rounded. */
static tamis_status make_design(tamis_design **design, tamis_method method, const double *pi, size_t count, int64_t sample,
                                tamis_error *err)
{
    tamis_number **numbers = tmi_alloc(count, sizeof *numbers), *one = NULL, *rest = NULL, *sum = NULL, *factor = NULL, *next;
    tamis_status status;
    int64_t ones = 0;
    if (!numbers) return tmi_fail_memory(err);
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&sum, 0, 1, err));
    for (size_t i = 0; i < count; i++) {
        TMI_TRY(tmi_number_double(&numbers[i], pi[i], err));
        ones += pi[i] == 1;
        if (pi[i] == 1) continue;
        TMI_TRY(tmi_number_add(&next, sum, numbers[i], err));
        tamis_number_free(sum);
        sum = next;
    }
    TMI_TRY(tmi_number_ratio(&rest, sample - ones, 1, err));
    if (tmi_number_sign(sum) > 0) TMI_TRY(tmi_number_div(&factor, rest, sum, err));
    for (size_t i = 0; i < count; i++) {
        if (pi[i] == 1) continue;
        TMI_TRY(tmi_number_mul(&next, numbers[i], factor, err));
        tamis_number_free(numbers[i]);
        numbers[i] = next;
    }
    TMI_TRY(tamis_design_pps(design, method, (const tamis_number *const *)numbers, count, err));

done:
    for (size_t i = 0; i < count; i++) tamis_number_free(numbers[i]);
    tmi_free(numbers);
    tmi_number_frees(&one, &rest, &sum, &factor, NULL);
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Gives each row of the stratum a unit of its own with the same probability; `pi` ascends. */
static tamis_status find_units(int64_t *units, const tmi_sample_variance *v, size_t h, const double *pi, size_t count,
                               bool *taken, tamis_error *err)
{
    for (size_t i = v->starts[h]; i < v->starts[h + 1]; i++) {
        const double p = v->pi[v->order[i]];
        size_t low = 0, high = count;
        while (low < high) { /* the first that is not below p, apart from rounding to 15 digits */
            const size_t middle = low + (high - low) / 2;
            if (pi[middle] < p * (1 - 1e-12)) low = middle + 1;
            else high = middle;
        }
        while (low < count && taken[low]) low++;
        if (low == count || fabs(pi[low] - p) > 1e-12 * p)
            return tmi_fail(err, TAMIS_INVALID,
                            "design.frame: no remaining unit of the frame has the probability of a sampled row");
        taken[low] = true;
        units[i - v->starts[h]] = (int64_t)low;
    }
    return TAMIS_OK;
}

static tamis_status joint_of(tmi_sample_variance *v, size_t h, double *pi, size_t count, tamis_error *err)
{
    const tmi_plan_design *d = &v->sample->plan->design;
    const size_t n = v->starts[h + 1] - v->starts[h];
    tamis_design *design = NULL;
    tamis_status status;
    int64_t *units = tmi_alloc(n, sizeof *units);
    bool *taken = tmi_alloc(count, sizeof *taken);
    tamis_bound *pij = n <= TAMIS_MAX_JOINT ? tmi_alloc(n * n, sizeof *pij) : NULL;
    v->joint[h] = tmi_alloc(n * n, sizeof **v->joint);
    if (n > TAMIS_MAX_JOINT) {
        status = tmi_fail(err, TAMIS_UNABLE, "more than %d units of a stratum were sampled", TAMIS_MAX_JOINT);
        goto done;
    }
    if (!units || !taken || !pij || !v->joint[h]) {
        status = tmi_fail_memory(err);
        goto done;
    }
    qsort(pi, count, sizeof *pi, compare);
    TMI_TRY(find_units(units, v, h, pi, count, taken, err));
    TMI_TRY(make_design(&design, d->method, pi, count, d->strata[h].sample, err));
    TMI_TRY(tamis_inclusion_joint(pij, design, units, n, err));
    for (size_t i = 0; i < n * n; i++) v->joint[h][i] = (pij[i].lower + pij[i].upper) / 2;

done:
    tamis_design_free(design);
    tmi_free(units);
    tmi_free(taken);
    tmi_free(pij);
    return status;
}

tamis_status tmi_frame_joint(tmi_sample_variance *v, bool joint, tamis_error *err)
{
    const tmi_plan_design *d = &v->sample->plan->design;
    const tmi_frame_file *f = &v->sample->frame;
    double *pi = tmi_alloc(f->count, sizeof *pi);
    tamis_status status = pi ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t h = 0; status == TAMIS_OK && h < d->stratum_count; h++) {
        size_t count = 0;
        for (size_t i = 0; i < f->count; i++) {
            if ((size_t)f->strata[i] != h) continue;
            pi[count++] = f->pi[i];
            v->frame_squares[h] += f->pi[i] * f->pi[i];
        }
        if (joint && !tmi_method_row(d->method)->joint_by_list)
            status = tmi_fail(err, TAMIS_UNABLE, "with the method %s they depend on the order of the frame",
                              tamis_method_name(d->method));
        else if (joint) status = joint_of(v, h, pi, count, err);
    }
    tmi_free(pi);
    return status;
}
