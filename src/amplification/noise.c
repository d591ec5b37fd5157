/* Additive noise: the pair of laws of the unit that loses most, as points with noise.
 *
 * That shifts at their largest and to the same side are worst: for a set S that has probability p under the noise N, the
 * shifted law N(s) gives S at least what it gives the half-line of probability p that looks away from s, because N is
 * log-concave (Neyman and Pearson); that falls as |s| grows; and shifts to the same side have the same half-line. So no set
 * distinguishes N from a mixture of shifted laws better than a half-line does when all shifts are largest and on one side.
 *
 * Whether the populations that have all these shifts at once exist depends on the design; the lower end is that of populations
 * which do (amplification/attained.c).
 *
 * Probabilities are known to a few parts in 10^16. delta grows if the unit is more likely to be drawn, and if the two
 * populations share less: the upper end takes the upper end of w_0 and the lower ends of w_k. */
#include <math.h>
#include <string.h>

#include "amplification/exposed.h"
#include "ht/pair.h"
#include "num/bound.h"

/* exchanges * R + additions * A */
static tamis_status shift(tamis_number **z, tamis_distance d, const tamis_number *R, const tamis_number *A, tamis_error *err)
{
    tamis_number *k = NULL, *x = NULL, *y = NULL;
    tamis_status status = TAMIS_OK;
    *z = NULL;
    TMI_TRY(tmi_number_ratio(&k, d.exchanges, 1, err));
    TMI_TRY(tmi_number_mul(&x, k, R, err));
    tamis_number_free(k);
    k = NULL;
    TMI_TRY(tmi_number_ratio(&k, d.additions, 1, err));
    TMI_TRY(tmi_number_mul(&y, k, A, err));
    TMI_TRY(tmi_number_add(z, x, y, err));
done:
    tmi_number_frees(&k, &x, &y, NULL);
    return status;
}

/* One end of a bound, rounded outwards to 17 digits. */
static tamis_status end_of(tamis_number **z, tamis_bound bound, bool upper, tamis_error *err)
{
    char text[TMI_DECIMAL];
    if (upper) tmi_decimal_up(text, bound.upper);
    else tmi_decimal_down(text, bound.lower);
    return tamis_number_read(z, text, err);
}

typedef struct noisy {
    const tamis_noisy_sum *sum;
    const tamis_number *eps;
    tamis_number *range, *largest; /* to - from, max(|from|, |to|) */
    tamis_number *step;            /* of discrete noise: 1 */
} noisy;

/* Puts probability p at the point for this distance, under both laws or under one. */
static tamis_status put(tmi_atoms *atoms, const noisy *n, tamis_distance d, const tamis_number *p, bool here, bool there,
                        tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int prime = 0; prime < 2; prime++) {
        tamis_number *at;
        if (!(prime ? there : here)) continue;
        TMI_TRY(shift(&at, d, n->range, n->largest, err));
        TMI_TRY(tmi_atoms_take(atoms, at, p, NULL, prime, err));
    }
done:
    return status;
}

/* Samples that are far away are infinitely far, under both laws: they take nothing off what the rest differs by. delta is
 * that of the rest, of mass w in all, and so w times that of the rest alone. NULL: nothing is far, and the rest is everything. */
static tamis_status near_mass(tamis_number **whole, const tamis_exposure *e, bool upper, tamis_error *err)
{
    tamis_number *sum = NULL, *p = NULL, *more = NULL;
    bool far = false;
    tamis_status status = TAMIS_OK;
    *whole = NULL;
    for (size_t k = 0; k < e->absence_count; k++) far = far || e->absences[k].far;
    if (!far) return TAMIS_OK;
    TMI_TRY(end_of(&sum, e->inclusion, upper, err));
    for (size_t k = 0; k < e->absence_count; k++) {
        if (e->absences[k].far) continue;
        TMI_TRY(end_of(&p, e->absences[k].probability, !upper, err));
        TMI_TRY(tmi_number_add(&more, sum, p, err));
        tmi_number_frees(&p, &sum, NULL);
        sum = more;
        p = more = NULL;
    }
    *whole = sum;
    sum = NULL;
done:
    tmi_number_frees(&sum, &p, NULL);
    return status;
}

/* An end of a probability, divided by the mass of what is near. */
static tamis_status share_of(tamis_number **z, tamis_bound bound, bool upper, const tamis_number *whole, tamis_error *err)
{
    tamis_number *end = NULL;
    tamis_status status = end_of(&end, bound, upper, err);
    *z = NULL;
    if (status == TAMIS_OK) status = whole ? tmi_number_div(z, end, whole, err) : tmi_number_copy(z, end, err);
    tamis_number_free(end);
    return status;
}

static tamis_bound scaled(tamis_bound x, const tamis_number *by)
{
    return (tamis_bound){nextafter(x.lower * tmi_number_down(by), 0), nextafter(x.upper * tmi_number_up(by), 2)};
}

/* delta of one unit with w_0 at its upper end and the others at their lower ends, or the reverse. */
static tamis_status one_end(tamis_bound *delta, const noisy *n, const tamis_exposure *e, bool upper, tamis_error *err)
{
    tmi_atoms atoms = {0};
    tamis_number *p = NULL, *whole = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(near_mass(&whole, e, upper, err));
    TMI_TRY(tmi_atoms_start(&atoms, 2 + 2 * TAMIS_MAX_ABSENCES, true, err));
    TMI_TRY(share_of(&p, e->inclusion, upper, whole, err));
    TMI_TRY(put(&atoms, n, (tamis_distance){0}, p, true, false, err));
    TMI_TRY(put(&atoms, n, (tamis_distance){.exchanges = 1}, p, false, true, err));
    for (size_t k = 0; k < e->absence_count; k++) {
        if (e->absences[k].far) continue;
        tamis_number_free(p);
        p = NULL;
        TMI_TRY(share_of(&p, e->absences[k].probability, !upper, whole, err));
        TMI_TRY(put(&atoms, n, e->absences[k].distance, p, true, true, err));
    }
    TMI_TRY(tmi_atoms_finish(&atoms, n->sum->noise, n->sum->scale, n->step, err));
    atoms.eps = n->eps;
    TMI_TRY(tmi_atoms_delta(delta, &atoms, err));
    if (whole) *delta = scaled(*delta, whole);
done:
    tmi_number_frees(&p, &whole, NULL);
    tmi_atoms_clear(&atoms);
    return status;
}

static tamis_status check(const tamis_noisy_sum *sum, const tamis_number *eps, tamis_error *err)
{
    if (!sum) return tmi_fail(err, TAMIS_INVALID, "sum: NULL");
    if (!sum->from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!sum->to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (tmi_number_compare(sum->from, sum->to) > 0) return tmi_fail(err, TAMIS_INVALID, "to: must not be below from");
    if (sum->noise == TAMIS_NOISE_NONE) return tmi_fail(err, TAMIS_INVALID, "noise: must not be none");
    if (tmi_noise_is_discrete(sum->noise) && !(tmi_number_is_integer(sum->from) && tmi_number_is_integer(sum->to)))
        return tmi_fail(err, TAMIS_INVALID, "from and to: must be integers if the noise is");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps_pop: must not be negative");
    if (tmi_number_compare_int(eps, 1000) > 0) return tmi_fail(err, TAMIS_INVALID, "eps_pop: must not exceed 1000");
    return TAMIS_OK;
}

static tamis_status prepare(noisy *n, tamis_error *err)
{
    tamis_number *zero = NULL, *minus = NULL;
    tamis_status status = TAMIS_OK;
    if (tmi_noise_is_discrete(n->sum->noise)) TMI_TRY(tmi_number_ratio(&n->step, 1, 1, err));
    TMI_TRY(tmi_check_noise(n->sum->noise, n->step, err));
    TMI_TRY(tmi_check_noise_scale(n->sum->noise, n->sum->scale, err));
    TMI_TRY(tmi_number_sub(&n->range, n->sum->to, n->sum->from, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tmi_number_sub(&minus, zero, n->sum->from, err));
    TMI_TRY(tmi_number_copy(&n->largest, tmi_number_compare(minus, n->sum->to) > 0 ? minus : n->sum->to, err));
done:
    tmi_number_frees(&zero, &minus, NULL);
    return status;
}

tamis_status tamis_amplify_noise(tamis_bound *delta_pop, int64_t *worst, const tamis_design *design, const tamis_noisy_sum *sum,
                                 const tamis_number *eps_pop, tamis_error *err)
{
    tmi_exposed_list units = {0};
    noisy n = {.sum = sum, .eps = eps_pop};
    tamis_bound most = {0, 0}, low, high;
    const tamis_exposure *worst_of_all = NULL;
    bool attained = false;
    tamis_status status = TAMIS_OK;
    if (!delta_pop) return tmi_fail(err, TAMIS_INVALID, "delta_pop: NULL");
    *delta_pop = (tamis_bound){0, 1};
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    TMI_TRY(check(sum, eps_pop, err));
    TMI_TRY(prepare(&n, err));
    TMI_TRY(tmi_expose(&units, design, TAMIS_REPLACE, TAMIS_ADD_REMOVE, err));
    for (size_t i = 0; i < units.count; i++) {
        const tamis_exposure *e = &units.list[i].exposure;
        if (strcmp(e->theorem, "srs_with_replacement") == 0) {
            TMI_TRY(tmi_amplify_draws(&high, sum, n.range, e->count, e->absences[0].distance.exchanges, eps_pop, err));
            low = high;
        } else {
            TMI_TRY(one_end(&high, &n, e, true, err));
            TMI_TRY(one_end(&low, &n, e, false, err));
        }
        if (!worst_of_all || high.upper > most.upper) {
            worst_of_all = e;
            TMI_TRY(tmi_is_attained(&attained, design, e, true, err));
            attained = attained || strcmp(e->theorem, "srs_with_replacement") == 0;
            most = (tamis_bound){attained ? low.lower : 0, high.upper};
        }
    }
    if (worst_of_all && !attained) {
        const tmi_attainable plain = {sum->from, sum->to, NULL, false, sum->noise, sum->scale, n.step, eps_pop};
        TMI_TRY(tmi_attained(&low, design, worst_of_all->first, &plain, true, err));
        most.lower = fmin(low.lower, most.upper);
    }
    *delta_pop = most;
    if (worst) *worst = worst_of_all ? worst_of_all->first : 0;
done:
    tmi_exposed_clear(&units);
    tmi_number_frees(&n.range, &n.largest, &n.step, NULL);
    return status;
}
