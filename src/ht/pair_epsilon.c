/* The smallest eps for a delta. Without noise delta(E) = sup_J H_J - E T_J over sets J of points, H and T their masses under
 * the first and the second law; so E is the largest (H_J - delta) / T_J, and of these sets only those matter that hold
 * the points of largest ratio. With noise delta is inverted by a search, unless eps is 0 without it: noise never makes eps
 * larger, and a search cannot tell a delta that is met exactly from one that is missed.                              */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ht/pair.h"
#include "ht/threshold.h"
#include "num/bound.h"

#define MAX_EPS 1e6

typedef struct point {
    const tamis_number *first, *second;
    tamis_number *ratio; /* NULL: infinite */
} point;

/* The larger ratio first. */
static int by_ratio(const void *x, const void *y)
{
    const point *a = x, *b = y;
    if (!a->ratio || !b->ratio) return (a->ratio != NULL) - (b->ratio != NULL);
    return tmi_number_compare(b->ratio, a->ratio);
}

static tamis_status accumulate(tamis_number **sum, const tamis_number *term, tamis_error *err)
{
    tamis_number *next = NULL;
    tamis_status status = tmi_number_add(&next, *sum, term, err);
    if (status != TAMIS_OK) return status;
    tamis_number_free(*sum);
    *sum = next;
    return TAMIS_OK;
}

/* The largest (H - delta)/T over the first points of the list; 0/0 is nothing. */
static tamis_status largest(tamis_number **E, bool *infinite, const point *list, size_t count, const tamis_number *delta,
                            tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *first = NULL, *second = NULL, *rest = NULL, *ratio = NULL;
    TMI_TRY(tmi_number_ratio(&first, 0, 1, err));
    TMI_TRY(tmi_number_ratio(&second, 0, 1, err));
    for (size_t j = 0; j < count; j++) {
        TMI_TRY(accumulate(&first, list[j].first, err));
        TMI_TRY(accumulate(&second, list[j].second, err));
        TMI_TRY(tmi_number_sub(&rest, first, delta, err));
        if (tmi_number_sign(second) == 0) {
            *infinite = *infinite || tmi_number_sign(rest) > 0;
        } else {
            TMI_TRY(tmi_number_div(&ratio, rest, second, err));
            if (!*E || tmi_number_compare(ratio, *E) > 0) {
                tamis_number_free(*E);
                *E = ratio;
                ratio = NULL;
            }
        }
        tmi_number_frees(&rest, &ratio, NULL);
        rest = ratio = NULL;
    }
done:
    tmi_number_frees(&first, &second, &rest, &ratio, NULL);
    return status;
}

static tamis_status log_formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    tmi_ball_set_number(value, context, bits);
    tmi_ball_log(value, value, bits);
    return TAMIS_OK;
}

static tamis_status without_noise(tamis_bound *eps, const tmi_atoms *atoms, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *E = NULL;
    bool infinite = false;
    point *list = tmi_alloc(atoms->count, sizeof *list);
    if (!list) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < atoms->count; j++) {
        const tmi_atom *a = &atoms->list[j];
        list[j] = (point){atoms->swapped ? a->there : a->here, atoms->swapped ? a->here : a->there, NULL};
        if (tmi_number_sign(list[j].second) != 0) TMI_TRY(tmi_number_div(&list[j].ratio, list[j].first, list[j].second, err));
    }
    qsort(list, atoms->count, sizeof *list, by_ratio);
    TMI_TRY(largest(&E, &infinite, list, atoms->count, delta, err));
    if (infinite) *eps = (tamis_bound){INFINITY, INFINITY};
    else if (!E || tmi_number_compare_int(E, 1) <= 0) *eps = (tamis_bound){0, 0};
    else TMI_TRY(tmi_certify(eps, TAMIS_WIDTH, log_formula, E, err));
done:
    for (size_t j = 0; list && j < atoms->count; j++) tamis_number_free(list[j].ratio);
    tmi_free(list);
    tamis_number_free(E);
    return status;
}

static tamis_status delta_at(tamis_bound *value, void *context, const tamis_number *eps, tamis_error *err)
{
    tmi_atoms *atoms = context;
    atoms->eps = eps;
    return tmi_atoms_delta(value, atoms, err);
}

tamis_status tmi_atoms_epsilon(tamis_bound *eps, tmi_atoms *atoms, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    tamis_bound silent = {0, INFINITY}, value;
    *eps = silent;
    if (atoms->exact) TMI_TRY(without_noise(&silent, atoms, delta, err));
    value = silent;
    if (atoms->exact && (atoms->noise == TAMIS_NOISE_NONE || silent.upper == 0)) {
        /* value is exact */
    } else if (tmi_number_sign(delta) == 0) {
        TMI_TRY(tmi_atoms_pure(&value, atoms, err));
    } else {
        TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
        TMI_TRY(delta_at(&value, atoms, zero, err));
        if (value.upper <= tmi_number_bound(delta).lower) value = (tamis_bound){0, 0};
        else TMI_TRY(tmi_smallest(&value, delta_at, atoms, delta, 1, MAX_EPS, err));
    }
    *eps = (tamis_bound){fmin(value.lower, silent.upper), fmin(value.upper, silent.upper)};
done:
    atoms->eps = NULL;
    tamis_number_free(zero);
    return status;
}
