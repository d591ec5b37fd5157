/* Noise alone: profiles by the kind of noise, and the smallest scale for a target.
 *
 * The search keeps two doubles: a scale of which it is certain that it misses the target, and one of which it is certain
 * that it meets it. Each scale is asked by itself; nothing is concluded from a scale about larger ones, because a larger
 * scale of the discrete Gaussian may have a larger delta.                                                            */
#include <math.h>

#include <tamis/experimental/profile.h>

#include "base/error.h"
#include "composition/profile.h"
#include "num/bound.h"
#include "num/number.h"

/* Profiles know no scale below a millionth of the sensitivity; beyond the largest one nothing is looked for. */
#define SMALLEST 1.0001e-6
#define LARGEST 1e18
#define NARROW 1e-12

tamis_status tamis_profile_noise(tamis_profile **profile, tamis_noise_kind kind, const tamis_number *scale,
                                 const tamis_number *sensitivity, tamis_error *err)
{
    int64_t steps = 0;
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    *profile = NULL;
    if (!sensitivity) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    if (kind == TAMIS_NOISE_LAPLACE) return tamis_profile_laplace(profile, scale, sensitivity, err);
    if (kind == TAMIS_NOISE_GAUSSIAN) return tamis_profile_gaussian(profile, scale, sensitivity, err);
    if (kind != TAMIS_NOISE_DISCRETE_LAPLACE && kind != TAMIS_NOISE_DISCRETE_GAUSSIAN)
        return tmi_fail(err, TAMIS_INVALID, "kind: must be one of the four kinds of noise");
    if (!tmi_number_is_integer(sensitivity) || !tmi_number_floor(&steps, sensitivity))
        return tmi_fail(err, TAMIS_INVALID, "sensitivity: must be a whole number up to 2^30 if the noise is discrete");
    return (kind == TAMIS_NOISE_DISCRETE_LAPLACE ? tamis_profile_discrete_laplace
                                                 : tamis_profile_discrete_gaussian)(profile, scale, steps, err);
}

/* ---- the smallest scale ---- */

typedef struct target {
    tamis_noise_kind kind;
    const tamis_number *sensitivity, *eps, *delta;
} target;

typedef enum verdict { MISSES, UNCERTAIN, MEETS } verdict;

static tamis_status try_scale(verdict *v, const target *t, double scale, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *number = NULL;
    tamis_profile *profile = NULL;
    tamis_bound delta;
    TMI_TRY(tmi_number_double(&number, scale, err));
    TMI_TRY(tamis_profile_noise(&profile, t->kind, number, t->sensitivity, err));
    TMI_TRY(tamis_profile_delta(&delta, profile, t->eps, err));
    *v = delta.upper <= tmi_number_down(t->delta) ? MEETS : delta.lower > tmi_number_up(t->delta) ? MISSES : UNCERTAIN;
done:
    tamis_number_free(number);
    tamis_profile_free(profile);
    return status;
}

/* Halves the gap between a scale that does not meet the target, or not certainly, and one that does. */
static tamis_status narrow(double *lo, double *hi, const target *t, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    verdict v;
    while (*hi > *lo * (1 + NARROW)) {
        double middle = *lo + (*hi - *lo) / 2;
        if (middle <= *lo || middle >= *hi) break;
        TMI_TRY(try_scale(&v, t, middle, err));
        *(v == MEETS ? hi : lo) = middle;
    }
done:
    return status;
}

/* The first scale at or below `lo` that certainly misses; `known` is one. */
static tamis_status step_down(double *missing, const target *t, double lo, double known, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    verdict v;
    *missing = known;
    for (double step = 0; step < 1 && lo * (1 - step) > known; step = step > 0 ? 4 * step : NARROW) {
        TMI_TRY(try_scale(&v, t, lo * (1 - step), err));
        if (v != MISSES) continue;
        *missing = lo * (1 - step);
        break;
    }
done:
    return status;
}

static tamis_status search(tamis_bound *scale, const target *t, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double sensitivity = tmi_number_nearest(t->sensitivity), missing = 0, lo = 0, hi = SMALLEST * sensitivity;
    verdict v;
    TMI_TRY(try_scale(&v, t, hi, err));
    while (v != MEETS) {
        if (v == MISSES) missing = hi;
        lo = hi;
        hi *= 4;
        if (hi > LARGEST * sensitivity) {
            *scale = (tamis_bound){INFINITY, INFINITY};
            goto done;
        }
        TMI_TRY(try_scale(&v, t, hi, err));
    }
    if (lo > 0) { /* else no smaller scale can be asked about */
        TMI_TRY(narrow(&lo, &hi, t, err));
        TMI_TRY(step_down(&missing, t, lo, missing, err));
    }
    *scale = (tamis_bound){missing, hi};
done:
    return status;
}

tamis_status tamis_noise_scale(tamis_bound *scale, tamis_noise_kind kind, const tamis_number *sensitivity,
                               const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *exact = NULL;
    tamis_profile *profile = NULL;
    if (!scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    *scale = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_check_eps(eps, err));
    TMI_TRY(tmi_check_delta(delta, err));
    bool laplace = kind == TAMIS_NOISE_LAPLACE || kind == TAMIS_NOISE_DISCRETE_LAPLACE;
    /* errors in the kind or the sensitivity are reported for the scale that equals it */
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tamis_profile_noise(&profile, kind, sensitivity && tmi_number_sign(sensitivity) > 0 ? sensitivity : one, sensitivity,
                                err));
    if (tmi_number_sign(sensitivity) == 0 || tmi_number_compare_int(delta, 1) == 0) {
        *scale = (tamis_bound){0, 0};
    } else if (tmi_number_sign(delta) == 0) { /* pure: eps = sensitivity / scale, or never */
        *scale = (tamis_bound){INFINITY, INFINITY};
        if (laplace && tmi_number_sign(eps) > 0) {
            TMI_TRY(tmi_number_div(&exact, sensitivity, eps, err));
            *scale = tmi_number_bound(exact);
        }
    } else {
        TMI_TRY(search(scale, &(target){kind, sensitivity, eps, delta}, err));
    }
done:
    if (status != TAMIS_OK) *scale = (tamis_bound){0, INFINITY};
    tmi_number_frees(&one, &exact, NULL);
    tamis_profile_free(profile);
    return status;
}
