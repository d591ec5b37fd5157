/* One pair of populations under a listed design: the law of the Horvitz-Thompson total under x and under x', by going
 * through the samples. Totals and inclusion probabilities are exact rationals.                                      */
#include "ht/pair.h"

#include <math.h>

#include "base/memory.h"
#include "composition/profile.h"
#include "ht/listed.h"

/* ---- a listed design ---- */

tamis_status tmi_check_law(const tamis_law *law, tamis_error *err)
{
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    if (tamis_law_count(law) > TAMIS_HT_SAMPLES)
        return tmi_fail(err, TAMIS_UNABLE, "design: more than %d samples", TAMIS_HT_SAMPLES);
    return TAMIS_OK;
}

bool tmi_law_is_exact(const tamis_law *law)
{
    for (size_t j = 0; j < tamis_law_count(law); j++)
        if (!tamis_law_exact(law, j)) return false;
    return true;
}

tamis_status tmi_weighted(tamis_number **z, const tamis_law *law, size_t unit, const tamis_number *x, tamis_error *err)
{
    const tamis_number *pi = tmi_sample_law_pi(law, unit);
    if (tmi_number_sign(pi) == 0) return tmi_number_ratio(z, 0, 1, err);
    return tmi_number_div(z, x, pi, err);
}

/* The sum of the weighted values w over the different units of sample j. */
static tamis_status total(tamis_number **z, const tamis_law *law, size_t j, const tamis_number *const *w, tamis_error *err)
{
    const uint8_t *units;
    size_t size = tamis_law_sample(&units, law, j);
    tamis_status status = tmi_number_ratio(z, 0, 1, err);
    for (size_t i = 0; i < size && status == TAMIS_OK; i++) {
        tamis_number *sum = NULL;
        if (i > 0 && units[i] == units[i - 1]) continue; /* drawn again */
        if (tmi_number_sign(w[units[i]]) == 0) continue;
        status = tmi_number_add(&sum, *z, w[units[i]], err);
        if (status != TAMIS_OK) break;
        tamis_number_free(*z);
        *z = sum;
    }
    return status;
}

tamis_status tmi_atoms_of(tmi_atoms *atoms, const tamis_law *law, bool exact, const tamis_number *const *w,
                          const tamis_number *const *w_prime, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t samples = tamis_law_count(law);
    tmi_ball p;
    tmi_ball_init(&p);
    TMI_TRY(tmi_atoms_start(atoms, 2 * samples, exact, err));
    for (size_t j = 0; j < 2 * samples; j++) {
        tamis_number *at = NULL;
        status = total(&at, law, j / 2, j % 2 ? w_prime : w, err);
        if (status != TAMIS_OK) {
            tamis_number_free(at);
            goto done;
        }
        if (!exact) tmi_sample_law_ball(&p, law, j / 2, TMI_SAMPLE_LAW_BITS);
        TMI_TRY(tmi_atoms_take(atoms, at, tamis_law_exact(law, j / 2), &p, j % 2, err));
    }
done:
    tmi_ball_clear(&p);
    return status;
}

/* ---- needs ---- */

static tamis_status check(bool *equal, const tamis_ht_pair *p, tamis_error *err)
{
    size_t different = 0;
    tamis_status status = TAMIS_OK;
    if (!p) return tmi_fail(err, TAMIS_INVALID, "pair: NULL");
    TMI_TRY(tmi_check_law(p->law, err));
    if (!p->x || !p->x_prime) return tmi_fail(err, TAMIS_INVALID, "x, x_prime: NULL");
    TMI_TRY(tmi_check_noise(p->noise, p->step, err));
    TMI_TRY(tmi_check_noise_scale(p->noise, p->scale, err));
    for (size_t i = 0; i < (size_t)tamis_law_population(p->law); i++) {
        if (!p->x[i]) return tmi_fail(err, TAMIS_INVALID, "x[%zu]: NULL", i);
        if (!p->x_prime[i]) return tmi_fail(err, TAMIS_INVALID, "x_prime[%zu]: NULL", i);
        different += tmi_number_compare(p->x[i], p->x_prime[i]) != 0;
    }
    if (different > 1)
        return tmi_fail(err, TAMIS_INVALID, "x, x_prime: neighbours differ in one unit, and these differ in %zu", different);
    *equal = different == 0;
done:
    return status;
}

tamis_status tmi_check_multiple(const tamis_number *weighted, const tamis_number *step, tamis_error *err)
{
    tamis_number *steps = NULL;
    if (!step) return TAMIS_OK;
    tamis_status status = tmi_number_div(&steps, weighted, step, err);
    if (status == TAMIS_OK && !tmi_number_is_integer(steps))
        status = tmi_fail(err, TAMIS_INVALID,
                          "step: not every value divided by its inclusion probability is a multiple "
                          "of it");
    tamis_number_free(steps);
    return status;
}

static tamis_status pair_atoms(tmi_atoms *atoms, const tamis_ht_pair *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *w[2][TAMIS_LAW_UNITS] = {0};
    for (size_t i = 0; i < (size_t)tamis_law_population(p->law); i++) {
        for (int prime = 0; prime < 2; prime++) {
            TMI_TRY(tmi_weighted(&w[prime][i], p->law, i, prime ? p->x_prime[i] : p->x[i], err));
            TMI_TRY(tmi_check_multiple(w[prime][i], p->step, err));
        }
    }
    TMI_TRY(tmi_atoms_of(atoms, p->law, tmi_law_is_exact(p->law), (const tamis_number *const *)w[0],
                         (const tamis_number *const *)w[1], err));
    TMI_TRY(tmi_atoms_finish(atoms, p->noise, p->scale, p->step, err));
done:
    for (size_t i = 0; i < TAMIS_LAW_UNITS; i++) { tmi_number_frees(&w[0][i], &w[1][i], NULL); }
    return status;
}

/* ---- public ---- */

tamis_status tamis_ht_pair_delta(tamis_bound *delta, tamis_bound *reverse, const tamis_ht_pair *pair, const tamis_number *eps,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK, second;
    tmi_atoms atoms = {0};
    bool equal = false;
    if (delta) *delta = (tamis_bound){0, 1};
    if (reverse) *reverse = (tamis_bound){0, 1};
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (!reverse) return tmi_fail(err, TAMIS_INVALID, "reverse: NULL");
    TMI_TRY(tmi_check_eps(eps, err));
    TMI_TRY(check(&equal, pair, err));
    TMI_TRY(pair_atoms(&atoms, pair, err));
    atoms.eps = eps;
    if (equal) {
        *delta = *reverse = (tamis_bound){0, 0};
        goto done;
    }
    status = tmi_atoms_delta(delta, &atoms, err);
    atoms.swapped = true;
    second = status == TAMIS_OK || status == TAMIS_UNABLE ? tmi_atoms_delta(reverse, &atoms, err) : TAMIS_OK;
    if (status == TAMIS_OK) status = second;
    if (status != TAMIS_OK && status != TAMIS_UNABLE) *delta = *reverse = (tamis_bound){0, 1};
done:
    tmi_atoms_clear(&atoms);
    return status;
}

tamis_status tamis_ht_pair_pure(tamis_bound *eps, const tamis_ht_pair *pair, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_atoms atoms = {0};
    bool equal = false;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(check(&equal, pair, err));
    TMI_TRY(pair_atoms(&atoms, pair, err));
    if (equal) *eps = (tamis_bound){0, 0};
    else TMI_TRY(tmi_atoms_pure(eps, &atoms, err));
done:
    tmi_atoms_clear(&atoms);
    return status;
}

tamis_status tamis_ht_pair_epsilon(tamis_bound *eps, const tamis_ht_pair *pair, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_atoms atoms = {0};
    bool equal = false;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_check_delta(delta, err));
    TMI_TRY(check(&equal, pair, err));
    TMI_TRY(pair_atoms(&atoms, pair, err));
    if (equal) *eps = (tamis_bound){0, 0};
    else TMI_TRY(tmi_atoms_epsilon(eps, &atoms, delta, err));
done:
    tmi_atoms_clear(&atoms);
    return status;
}

tamis_status tmi_check_values(const tamis_number *const *values, size_t count, tamis_error *err)
{
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "values: at least one is needed");
    for (size_t v = 0; v < count; v++)
        if (!values[v]) return tmi_fail(err, TAMIS_INVALID, "values[%zu]: NULL", v);
    return TAMIS_OK;
}

tamis_status tamis_ht_step(tamis_number **step, const tamis_law *law, const tamis_number *const *values, size_t count,
                           tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *g = NULL, *w = NULL, *next = NULL;
    if (!step) return tmi_fail(err, TAMIS_INVALID, "step: NULL");
    *step = NULL;
    TMI_TRY(tmi_check_law(law, err));
    TMI_TRY(tmi_check_values(values, count, err));
    TMI_TRY(tmi_number_ratio(&g, 0, 1, err));
    for (size_t i = 0; i < (size_t)tamis_law_population(law); i++)
        for (size_t v = 0; v < count; v++) {
            TMI_TRY(tmi_weighted(&w, law, i, values[v], err));
            TMI_TRY(tmi_number_gcd(&next, g, w, err));
            tmi_number_frees(&g, &w, NULL);
            g = next;
            w = next = NULL;
        }
    if (tmi_number_sign(g) == 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "values: all are 0, so there is no step"));
    *step = g;
    g = NULL;
done:
    tmi_number_frees(&g, &w, NULL);
    return status;
}
