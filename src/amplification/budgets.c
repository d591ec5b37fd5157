/* What the sampled people of each stratum may lose, if outsiders have a target: the inverse of amplification, by strata. */
#include <math.h>
#include <tamis/experimental/amplification.h>

#include "amplification/apart.h"
#include "amplification/exposed.h"
#include "base/memory.h"
#include "num/bound.h"
#include "num/exact.h"
#include "survey/design/composite.h"

#define DIGITS 10 /* of an epsilon: people write it down */
#define MOST 1000000

void tamis_strata_budgets_free(tamis_stratum_budget *list, size_t count)
{
    for (size_t h = 0; list && h < count; h++) tamis_number_free(list[h].epsilon);
    tmi_free(list);
}

/* 1 over the smallest probability of a unit, rounded outwards. */
static tamis_status largest_weight(tamis_bound *weight, bool *whole, const tamis_design *design, tamis_error *err)
{
    tamis_exposure *list = NULL;
    size_t count = 0;
    tamis_bound least = {1, 1};
    tamis_status status = tamis_design_exposures(&list, &count, design, err);
    *whole = true;
    for (size_t i = 0; i < count; i++) {
        const tamis_bound p = list[i].inclusion;
        *whole = *whole && p.lower == 1;
        if (p.lower < least.lower) least = p;
    }
    tamis_free(list);
    if (status != TAMIS_OK) return status;
    *weight = *whole ? (tamis_bound){1, 1} : (tamis_bound){nextafter(1 / least.upper, 0), nextafter(1 / least.lower, INFINITY)};
    return TAMIS_OK;
}

/* The epsilon of one stratum, at most the cap. Where everybody is drawn it is the target itself. */
static tamis_status find_epsilon(tamis_number **epsilon, bool whole, const tamis_design *design,
                                 const tamis_sample_promise *target, const tamis_number *cap, tamis_error *err)
{
    char decimal[TAMIS_DECIMAL];
    tamis_number *found = NULL;
    tamis_bound eps, delta;
    tamis_status status = TAMIS_OK;
    *epsilon = NULL;
    if (whole) {
        TMI_TRY(tmi_number_copy(&found, target->eps, err));
    } else {
        TMI_TRY(tamis_amplify_design_inverse(&eps, &delta, design, target, err));
        tamis_decimal_down(decimal, eps.lower, DIGITS);
        TMI_TRY(tamis_number_read(&found, decimal, err));
    }
    TMI_TRY(tmi_number_copy(epsilon, tmi_smaller(found, cap), err));

done:
    tamis_number_free(found);
    return status;
}

static tamis_status set_stratum(tamis_stratum_budget *b, const tamis_design *design, const tamis_number *outsider,
                                const tamis_number *insider, const tamis_number *zero, tamis_error *err)
{
    const tamis_sample_promise target = {.eps = outsider, .delta = zero, .neighbours = TAMIS_REPLACE, .mechanism = TAMIS_ANY_ONE};
    tamis_sample_promise promise = target;
    tamis_amplified a = {0};
    bool whole;
    tamis_status status = TAMIS_OK;
    if (design->kind->with_replacement)
        TMI_TRY(
            tmi_fail(err, TAMIS_REFUSED,
                     "design: with replacement one person may be several records, and what they change together is not bounded "
                     "by what one record changes"));
    b->units = design->population;
    TMI_TRY(largest_weight(&b->weight, &whole, design, err));
    TMI_TRY(find_epsilon(&b->epsilon, whole, design, &target, insider, err));
    b->sampled = tmi_number_bound(b->epsilon);
    promise.eps = b->epsilon;
    TMI_TRY(tamis_amplify_design(&a, design, &promise, err));
    b->outsider = a.eps;

done:
    tamis_amplified_clear(&a);
    return status;
}

static tamis_status check_target(const tamis_number *x, const char *name, tamis_error *err)
{
    if (!x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    if (tmi_number_sign(x) <= 0 || tmi_number_compare_int(x, MOST) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: must be above 0 and at most 10^6", name);
    return TAMIS_OK;
}

tamis_status tamis_strata_budgets(tamis_stratum_budget **list, size_t *count, const tamis_design *design,
                                  const tamis_number *outsider, const tamis_number *insider, tamis_error *err)
{
    tamis_stratum_budget *found = NULL;
    tamis_number *zero = NULL;
    size_t strata = 0;
    tamis_status status = TAMIS_OK;
    if (list) *list = NULL;
    if (count) *count = 0;
    if (!list) return tmi_fail(err, TAMIS_INVALID, "list: NULL");
    if (!count) return tmi_fail(err, TAMIS_INVALID, "count: NULL");
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    TMI_TRY(check_target(outsider, "outsider", err));
    TMI_TRY(check_target(insider, "insider", err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    const tmi_composite *parts = tmi_design_strata(design);
    const size_t all = parts ? parts->count : 1;
    if (!(found = tmi_alloc(all, sizeof *found))) TMI_TRY(tmi_fail_memory(err));
    for (; strata < all; strata++) {
        status = set_stratum(&found[strata], parts ? parts->parts[strata] : design, outsider, insider, zero, err);
        if (status != TAMIS_OK) {
            strata++; /* it may have its epsilon */
            goto done;
        }
    }
    *list = found;
    *count = strata;
    found = NULL;

done:
    tamis_number_free(zero);
    tamis_strata_budgets_free(found, strata);
    return status;
}

/* ---- the other way ---- */

static tamis_status add_parts(tamis_amplified *all, const tamis_amplified *of, int64_t stratum, int64_t first,
                              const tamis_number *eps, tamis_error *err)
{
    tamis_amplified_part *parts = tmi_realloc(all->parts, all->count + of->count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    all->parts = parts;
    for (size_t i = 0; i < of->count; i++) {
        parts[all->count] = of->parts[i];
        parts[all->count].stratum = stratum;
        if (of->parts[i].take_all) parts[all->count].eps = tmi_number_bound(eps); /* nothing hides them: exactly this */
        const tamis_bound own = parts[all->count].eps;
        parts[all->count].worst += first;
        if (own.upper > all->eps.upper) all->worst = parts[all->count].worst;
        all->eps = (tamis_bound){fmax(all->eps.lower, own.lower), fmax(all->eps.upper, own.upper)};
        all->count++;
    }
    return TAMIS_OK;
}

tamis_status tmi_amplify_apart(tamis_amplified *amplified, const tamis_design *design, tamis_number *const *eps, tamis_error *err)
{
    const tmi_composite *strata = tmi_design_strata(design);
    tamis_amplified own = {0};
    tamis_number *zero = NULL;
    tamis_status status;
    *amplified = (tamis_amplified){.theorem = "stratified"};
    if (!strata) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "design: has no strata"));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    for (size_t h = 0; h < strata->count; h++) {
        const tamis_sample_promise promise = {.eps = eps[h],
                                              .delta = zero,
                                              .neighbours = TAMIS_REPLACE,
                                              .mechanism = TAMIS_ANY_ONE};
        TMI_TRY(tamis_amplify_design(&own, strata->parts[h], &promise, err));
        TMI_TRY(add_parts(amplified, &own, (int64_t)h, strata->first[h], eps[h], err));
        tamis_amplified_clear(&own);
    }

done:
    tamis_number_free(zero);
    tamis_amplified_clear(&own);
    if (status != TAMIS_OK) tamis_amplified_clear(amplified);
    return status;
}

/* ---- one total over all strata ---- */

/* weight R / epsilon */
static tamis_bound scale_of(tamis_bound weight, tmi_term range, const tamis_number *epsilon)
{
    const double up = weight.upper * tmi_number_up(range) / tmi_number_down(epsilon),
                 down = weight.lower * tmi_number_down(range) / tmi_number_up(epsilon);
    /* two roundings to nearest */
    return (tamis_bound){nextafter(nextafter(down, 0), 0), nextafter(nextafter(up, INFINITY), INFINITY)};
}

static tamis_bound larger(tamis_bound x, tamis_bound y) { return (tamis_bound){fmax(x.lower, y.lower), fmax(x.upper, y.upper)}; }

tamis_status tamis_strata_scale(tamis_bound *crossing, tamis_bound *uniform, const tamis_stratum_budget *list, size_t count,
                                const tamis_number *from, const tamis_number *to, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_bound own = {0, 0}, weight = {0, 0};
    tamis_status status = TAMIS_OK;
    if (crossing) *crossing = (tamis_bound){0, INFINITY};
    if (uniform) *uniform = (tamis_bound){0, INFINITY};
    if (!crossing) return tmi_fail(err, TAMIS_INVALID, "crossing: NULL");
    if (!uniform) return tmi_fail(err, TAMIS_INVALID, "uniform: NULL");
    if (!list || count == 0) return tmi_fail(err, TAMIS_INVALID, "list: must have a stratum");
    if (!from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (tmi_number_compare(from, to) > 0) return tmi_fail(err, TAMIS_INVALID, "to: must not be below from");
    tmi_term range = tmi_larger(tmi_sub(&e, to, from), tmi_larger(tmi_abs(&e, from), tmi_abs(&e, to)));
    TMI_TRY(e.status);
    const tamis_number *least = list[0].epsilon;
    for (size_t h = 0; h < count; h++) {
        own = larger(own, scale_of(list[h].weight, range, list[h].epsilon));
        weight = larger(weight, list[h].weight);
        least = tmi_smaller(least, list[h].epsilon);
    }
    *uniform = scale_of(weight, range, least);
    *crossing = own;

done:
    tmi_exact_clear(&e);
    return status;
}
