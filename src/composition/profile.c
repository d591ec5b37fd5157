/* Making profiles of single releases, and asking them. */
#include "composition/profile.h"

#include <math.h>

#include "base/memory.h"
#include "num/bound.h"

tamis_status tmi_check_eps(const tamis_number *eps, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (tmi_number_compare_int(eps, TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "eps: must be at most %d", TAMIS_MAX_LOSS);
    return TAMIS_OK;
}

tamis_status tmi_check_delta(const tamis_number *delta, tamis_error *err)
{
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (tmi_number_sign(delta) < 0 || tmi_number_compare_int(delta, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    return TAMIS_OK;
}

static tamis_status begin(tamis_profile **profile, tamis_error *err)
{
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    *profile = NULL;
    return TAMIS_OK;
}

tamis_status tmi_profile_take(tamis_profile **profile, tmi_loss *loss, tamis_error *err)
{
    tamis_profile *new = tmi_alloc(1, sizeof *new);
    tmi_profile_factor *factors = tmi_alloc(1, sizeof *factors);
    if (!new || !factors) {
        tmi_free(new);
        tmi_free(factors);
        tmi_loss_free(loss);
        return tmi_fail_memory(err);
    }
    factors[0] = (tmi_profile_factor){loss, 1};
    atomic_init(&new->owners, 1);
    new->count = 1;
    new->factors = factors;
    *profile = new;
    return TAMIS_OK;
}

/* Profiles are made by this room alone, on the heap: the const is a promise to the caller, who sees no change. */
static tamis_profile *inside(const tamis_profile *profile) { return (tamis_profile *)(uintptr_t)profile; }

tamis_profile *tmi_profile_share(const tamis_profile *profile)
{
    atomic_fetch_add(&inside(profile)->owners, 1);
    return inside(profile);
}

static void drop_evaluator(tmi_evaluator *evaluator)
{
    if (evaluator) tmi_evaluator_close(evaluator);
    tmi_free(evaluator);
}

void tamis_profile_free(tamis_profile *profile)
{
    if (!profile || atomic_fetch_sub(&profile->owners, 1) > 1) return;
    drop_evaluator(atomic_load(&profile->kept));
    for (size_t i = 0; i < profile->count; i++) tmi_loss_free(profile->factors[i].loss);
    tmi_free(profile->factors);
    tmi_free(profile);
}

static tamis_status make(tamis_profile **profile, tmi_loss_kind kind, const tamis_number *a, const tamis_number *b, int64_t step,
                         tamis_error *err)
{
    tmi_loss *loss = NULL;
    tamis_status status = tmi_loss_new(&loss, kind, a, b, step, err);
    return status == TAMIS_OK ? tmi_profile_take(profile, loss, err) : status;
}

static tamis_status make_claim(tamis_profile **profile, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    TMI_TRY(begin(profile, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    if (!delta) delta = zero;
    TMI_TRY(tmi_check_eps(eps ? eps : zero, err));
    TMI_TRY(tmi_check_delta(delta, err));
    TMI_TRY(make(profile, TMI_LOSS_CLAIM, eps ? eps : zero, delta, 0, err));
done:
    tamis_number_free(zero);
    return status;
}

tamis_status tamis_profile_claim(tamis_profile **profile, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = begin(profile, err);
    if (status != TAMIS_OK) return status;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    return make_claim(profile, eps, delta, err);
}

tamis_status tamis_profile_randomized_response(tamis_profile **profile, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = begin(profile, err);
    if (status != TAMIS_OK) return status;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    return make_claim(profile, eps, NULL, err);
}

/* sensitivity / scale, checked. */
static tamis_status shift_of(tamis_number **shift, const tamis_number *scale, const tamis_number *sensitivity, tamis_error *err)
{
    if (!scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (!sensitivity) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    if (tmi_number_sign(scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    if (tmi_number_sign(sensitivity) < 0) return tmi_fail(err, TAMIS_INVALID, "sensitivity: must not be negative");
    tamis_status status = tmi_number_div(shift, sensitivity, scale, err);
    if (status != TAMIS_OK) return status;
    if (tmi_number_compare_int(*shift, TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "scale: less than the sensitivity divided by %d", TAMIS_MAX_LOSS);
    return TAMIS_OK;
}

tamis_status tamis_profile_laplace(tamis_profile **profile, const tamis_number *scale, const tamis_number *sensitivity,
                                   tamis_error *err)
{
    tamis_number *shift = NULL;
    tamis_status status;
    TMI_TRY(begin(profile, err));
    TMI_TRY(shift_of(&shift, scale, sensitivity, err));
    if (tmi_number_sign(shift) == 0) TMI_TRY(make_claim(profile, NULL, NULL, err));
    else TMI_TRY(make(profile, TMI_LOSS_LAPLACE, shift, NULL, 0, err));
done:
    tamis_number_free(shift);
    return status;
}

tamis_status tamis_profile_gaussian(tamis_profile **profile, const tamis_number *scale, const tamis_number *sensitivity,
                                    tamis_error *err)
{
    tamis_number *shift = NULL, *square = NULL;
    tamis_status status;
    TMI_TRY(begin(profile, err));
    TMI_TRY(shift_of(&shift, scale, sensitivity, err));
    TMI_TRY(tmi_number_mul(&square, shift, shift, err));
    if (tmi_number_sign(shift) == 0) TMI_TRY(make_claim(profile, NULL, NULL, err));
    else TMI_TRY(make(profile, TMI_LOSS_GAUSSIAN, square, NULL, 0, err));
done:
    tmi_number_frees(&shift, &square, NULL);
    return status;
}

tamis_status tamis_profile_normal(tamis_profile **profile, const tamis_number *mu_squared, tamis_error *err)
{
    tamis_status status = begin(profile, err);
    if (status != TAMIS_OK) return status;
    if (!mu_squared) return tmi_fail(err, TAMIS_INVALID, "mu_squared: NULL");
    if (tmi_number_sign(mu_squared) < 0) return tmi_fail(err, TAMIS_INVALID, "mu_squared: must not be negative");
    if (tmi_number_compare_int(mu_squared, (int64_t)TAMIS_MAX_LOSS * TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "mu_squared: must be at most %d^2", TAMIS_MAX_LOSS);
    if (tmi_number_sign(mu_squared) == 0) return make_claim(profile, NULL, NULL, err);
    return make(profile, TMI_LOSS_GAUSSIAN, mu_squared, NULL, 0, err);
}

static tamis_status make_discrete(tamis_profile **profile, tmi_loss_kind kind, const tamis_number *scale, int64_t sensitivity,
                                  tamis_error *err)
{
    tamis_number *step = NULL, *shift = NULL, *variance = NULL;
    tamis_status status;
    TMI_TRY(begin(profile, err));
    if (sensitivity > TAMIS_MAX_STEP) {
        status = tmi_fail(err, TAMIS_INVALID, "sensitivity: must be at most 2^30");
        goto done;
    }
    TMI_TRY(tmi_number_ratio(&step, sensitivity, 1, err));
    TMI_TRY(shift_of(&shift, scale, step, err));
    TMI_TRY(tmi_number_mul(&variance, scale, scale, err));
    if (sensitivity == 0) TMI_TRY(make_claim(profile, NULL, NULL, err));
    else TMI_TRY(make(profile, kind, kind == TMI_LOSS_DISCRETE_LAPLACE ? scale : variance, NULL, sensitivity, err));
done:
    tmi_number_frees(&step, &shift, &variance, NULL);
    return status;
}

tamis_status tamis_profile_discrete_laplace(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                            tamis_error *err)
{
    return make_discrete(profile, TMI_LOSS_DISCRETE_LAPLACE, scale, sensitivity, err);
}

tamis_status tamis_profile_discrete_gaussian(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                             tamis_error *err)
{
    return make_discrete(profile, TMI_LOSS_DISCRETE_GAUSSIAN, scale, sensitivity, err);
}

tamis_status tamis_profile_zcdp(tamis_profile **profile, const tamis_number *rho, tamis_error *err)
{
    tamis_status status = begin(profile, err);
    if (status != TAMIS_OK) return status;
    if (!rho) return tmi_fail(err, TAMIS_INVALID, "rho: NULL");
    if (tmi_number_sign(rho) < 0) return tmi_fail(err, TAMIS_INVALID, "rho: must not be negative");
    if (tmi_number_compare_int(rho, TAMIS_MAX_LOSS) > 0)
        return tmi_fail(err, TAMIS_INVALID, "rho: must be at most %d", TAMIS_MAX_LOSS);
    if (tmi_number_sign(rho) == 0) return make_claim(profile, NULL, NULL, err);
    return make(profile, TMI_LOSS_ZCDP, rho, NULL, 0, err);
}

/* ---- asking ---- */

tamis_status tmi_evaluator_borrow(tmi_evaluator **evaluator, const tamis_profile *profile, tamis_error *err)
{
    *evaluator = atomic_exchange(&inside(profile)->kept, NULL);
    if (*evaluator) return TAMIS_OK;
    if (!(*evaluator = tmi_alloc(1, sizeof **evaluator))) return tmi_fail_memory(err);
    tamis_status status = tmi_evaluator_open(*evaluator, profile, err);
    if (status == TAMIS_OK) return status;
    tmi_free(*evaluator);
    *evaluator = NULL;
    return status;
}

void tmi_evaluator_return(tmi_evaluator *evaluator, const tamis_profile *profile)
{
    tmi_evaluator *empty = NULL;
    if (!evaluator) return;
    if (evaluator->lasting && evaluator->rest) evaluator->rest(evaluator->self);
    if (!evaluator->lasting || !atomic_compare_exchange_strong(&inside(profile)->kept, &empty, evaluator))
        drop_evaluator(evaluator);
}

/* The largest loss, if there is one: then delta beyond it is the mass at infinity, which is 0 unless a claim has a delta.
 * `pure` stays NULL if losses have no bound, or if their profile is all that is known. */
static tamis_status largest_loss(tamis_number **pure, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *sum = NULL, *next = NULL, *times = NULL, *term = NULL, *part = NULL;
    TMI_TRY(tmi_number_ratio(&sum, 0, 1, err));
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_profile_factor *f = &profile->factors[i];
        if (f->loss->kind != TMI_LOSS_CLAIM && f->loss->kind != TMI_LOSS_LAPLACE && f->loss->kind != TMI_LOSS_DISCRETE_LAPLACE)
            goto done;
        TMI_TRY(tmi_number_ratio(&times, f->times, 1, err));
        if (f->loss->kind == TMI_LOSS_DISCRETE_LAPLACE) {
            TMI_TRY(tmi_number_ratio(&term, f->loss->step, 1, err));
            TMI_TRY(tmi_number_div(&part, term, f->loss->a, err));
            tamis_number_free(term);
            term = NULL;
        } else {
            TMI_TRY(tmi_number_copy(&part, f->loss->a, err));
        }
        TMI_TRY(tmi_number_mul(&term, part, times, err));
        TMI_TRY(tmi_number_add(&next, sum, term, err));
        tamis_number *used[] = {sum, times, term, part};
        for (size_t k = 0; k < sizeof used / sizeof *used; k++) tamis_number_free(used[k]);
        sum = next;
        next = times = term = part = NULL;
    }
    *pure = sum;
    sum = NULL;
done:
    tmi_number_frees(&sum, &times, &term, &part, NULL);
    return status;
}

/* Certain: the claims alone have more than delta at infinity. */
static bool leaks_more(const tamis_profile *profile, const tamis_number *delta)
{
    tmi_ball mass, x;
    tmi_ball_inits(&mass, &x, NULL);
    tmi_mass_at_infinity(&mass, profile, TMI_BITS_FIRST);
    tmi_ball_set_number(&x, delta, TMI_BITS_FIRST);
    bool more = tmi_ball_is_less(&x, &mass);
    tmi_ball_clears(&mass, &x, NULL);
    return more;
}

#define FEW_CLAIMS 64 /* whose deltas are multiplied exactly */

/* The mass at infinity as an exact number; NULL if too many claims have one. */
static tamis_status exact_mass(tamis_number **mass, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *rest = NULL, *product = NULL, *next = NULL;
    int64_t claims = 0;
    *mass = NULL;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_copy(&product, one, err));
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_profile_factor *f = &profile->factors[i];
        if (f->loss->kind != TMI_LOSS_CLAIM || tmi_number_sign(f->loss->b) == 0) continue;
        if (f->times > FEW_CLAIMS - claims) goto done;
        claims += f->times;
        TMI_TRY(tmi_number_sub(&rest, one, f->loss->b, err));
        for (int64_t k = 0; k < f->times; k++) {
            TMI_TRY(tmi_number_mul(&next, product, rest, err));
            tamis_number_free(product);
            product = next;
            next = NULL;
        }
        tamis_number_free(rest);
        rest = NULL;
    }
    TMI_TRY(tmi_number_sub(mass, one, product, err));
done:
    tmi_number_frees(&one, &rest, &product, NULL);
    return status;
}

/* What can be said without a search: at a delta that the profile never falls below, and at the one that it ends on. */
static tamis_status at_the_end(bool *found, tamis_bound *eps, const tamis_profile *profile, const tamis_number *delta,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *pure = NULL, *mass = NULL;
    bool unbounded = false;
    *found = tmi_number_compare_int(delta, 1) == 0; /* which nothing exceeds */
    *eps = *found ? (tamis_bound){0, 0} : *eps;
    if (*found) return TAMIS_OK;
    for (size_t i = 0; i < profile->count; i++) {
        tmi_loss_kind kind = profile->factors[i].loss->kind;
        unbounded |= kind == TMI_LOSS_GAUSSIAN || kind == TMI_LOSS_DISCRETE_GAUSSIAN || kind == TMI_LOSS_ZCDP;
    }
    TMI_TRY(exact_mass(&mass, profile, err));
    int above = mass ? tmi_number_compare(delta, mass) : tmi_number_sign(delta) == 0 || leaks_more(profile, delta) ? -1 : 1;
    if (above < 0 || (above == 0 && unbounded)) {
        *eps = (tamis_bound){INFINITY, INFINITY};
        *found = true;
    } else if (above == 0) {
        TMI_TRY(largest_loss(&pure, profile, err));
        if (pure) *eps = tmi_number_bound(pure);
        *found = pure != NULL;
    }
done:
    tmi_number_frees(&pure, &mass, NULL);
    return status;
}

/* Whether no loss can pass eps, decided exactly: enclosures cannot tell a loss of eps from one just above. False where that is
 * not known, such as for a sum with more digits than a number may have. */
static tamis_status never_passes(bool *never, const tamis_profile *profile, const tamis_number *eps, tamis_error *err)
{
    tamis_number *pure = NULL;
    *never = false;
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_loss *loss = profile->factors[i].loss;
        if (loss->kind == TMI_LOSS_CLAIM && tmi_number_sign(loss->b) > 0) return TAMIS_OK;
    }
    tamis_status status = largest_loss(&pure, profile, err);
    *never = status == TAMIS_OK && pure && tmi_number_compare(pure, eps) <= 0;
    tamis_number_free(pure);
    return status == TAMIS_SYSTEM ? status : TAMIS_OK;
}

tamis_status tamis_profile_delta(tamis_bound *delta, const tamis_profile *profile, const tamis_number *eps, tamis_error *err)
{
    tmi_evaluator *evaluator = NULL;
    tamis_status status = TAMIS_OK;
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    TMI_TRY(tmi_check_eps(eps, err));
    bool never;
    TMI_TRY(never_passes(&never, profile, eps, err));
    if (never) {
        *delta = (tamis_bound){0, 0};
        goto done;
    }
    TMI_TRY(tmi_evaluator_borrow(&evaluator, profile, err));
    TMI_TRY(tmi_evaluator_delta(delta, evaluator, eps, err));
done:
    tmi_evaluator_return(evaluator, profile);
    return status;
}

tamis_status tamis_profile_epsilon(tamis_bound *eps, const tamis_profile *profile, const tamis_number *delta, tamis_error *err)
{
    tmi_evaluator *evaluator = NULL;
    tamis_status status = TAMIS_OK;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    TMI_TRY(tmi_check_delta(delta, err));
    bool found;
    TMI_TRY(at_the_end(&found, eps, profile, delta, err));
    if (found) goto done;
    TMI_TRY(tmi_evaluator_borrow(&evaluator, profile, err));
    TMI_TRY(tmi_evaluator_epsilon(eps, evaluator, delta, err));
done:
    tmi_evaluator_return(evaluator, profile);
    return status;
}
