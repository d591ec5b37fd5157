/* Any finite design: the law of the Horvitz-Thompson total under x and under x', by going through the samples. Totals,
 * inclusion probabilities and masses are exact rationals, so equal totals are found equal.                          */
#include "mech/ht_pair.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* *sum += term */
static tamis_status add_to(tamis_number **sum, const tamis_number *term, tamis_error *err)
{
    tamis_number *z = NULL;
    tamis_status status = tmi_number_add(&z, *sum, term, err);
    if (status != TAMIS_OK) return status;
    tamis_number_free(*sum);
    *sum = z;
    return TAMIS_OK;
}

/* ---- needs ---- */

static tamis_status check_values(const tamis_ht_pair *p, tamis_error *err)
{
    size_t different = 0;
    for (size_t i = 0; i < (size_t)tamis_law_population(p->law); i++) {
        if (!p->x[i]) return tmi_fail(err, TAMIS_INVALID, "x[%zu]: NULL", i);
        if (!p->x_prime[i]) return tmi_fail(err, TAMIS_INVALID, "x_prime[%zu]: NULL", i);
        different += tmi_number_compare(p->x[i], p->x_prime[i]) != 0;
    }
    if (different > 1) return tmi_fail(err, TAMIS_INVALID, "x, x_prime: neighbours differ in one unit, these in %zu",
                                       different);
    return TAMIS_OK;
}

static tamis_status check(const tamis_ht_pair *p, tamis_error *err)
{
    if (!p->law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    if (!p->x || !p->x_prime) return tmi_fail(err, TAMIS_INVALID, "x, x_prime: NULL");
    if (p->noise < TAMIS_NOISE_NONE || p->noise > TAMIS_NOISE_GAUSSIAN)
        return tmi_fail(err, TAMIS_INVALID, "noise: none, Laplace or Gaussian");
    if (p->noise != TAMIS_NOISE_NONE && !p->scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (p->noise == TAMIS_NOISE_NONE && p->scale) return tmi_fail(err, TAMIS_INVALID, "scale: there is no noise");
    if (p->scale && tmi_number_sign(p->scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    if (tamis_law_count(p->law) > TAMIS_HT_SAMPLES)
        return tmi_fail(err, TAMIS_UNABLE, "law: more than %d samples", TAMIS_HT_SAMPLES);
    for (size_t j = 0; j < tamis_law_count(p->law); j++)
        if (!tamis_law_exact(p->law, j))
            return tmi_fail(err, TAMIS_UNABLE, "law: the probabilities of this design are not rational");
    return check_values(p, err);
}

/* ---- the two laws ---- */

static tamis_status inclusion(tamis_number **pi, const tamis_law *law, tamis_error *err)
{
    for (size_t i = 0; i < (size_t)tamis_law_population(law); i++) {
        tamis_status status = tmi_number_ratio(&pi[i], 0, 1, err);
        if (status != TAMIS_OK) return status;
    }
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, j);
        for (size_t i = 0; i < size; i++) {
            if (i > 0 && units[i] == units[i - 1]) continue; /* drawn again */
            tamis_status status = add_to(&pi[units[i]], tamis_law_exact(law, j), err);
            if (status != TAMIS_OK) return status;
        }
    }
    return TAMIS_OK;
}

static tamis_status total(tamis_number **z, const tamis_law *law, size_t j, const tamis_number *const *x,
                          tamis_number *const *pi, tamis_error *err)
{
    const uint8_t *units;
    size_t size = tamis_law_sample(&units, law, j);
    tamis_status status = tmi_number_ratio(z, 0, 1, err);
    for (size_t i = 0; i < size && status == TAMIS_OK; i++) {
        tamis_number *term = NULL;
        if (i > 0 && units[i] == units[i - 1]) continue;
        status = tmi_number_div(&term, x[units[i]], pi[units[i]], err);
        if (status == TAMIS_OK) status = add_to(z, term, err);
        tamis_number_free(term);
    }
    return status;
}

static int by_place(const void *a, const void *b)
{
    return tmi_number_compare(((const tmi_atom *)a)->at, ((const tmi_atom *)b)->at);
}

static void atom_clear(tmi_atom *atom)
{
    tamis_number_free(atom->at);
    tamis_number_free(atom->here);
    tamis_number_free(atom->there);
    *atom = (tmi_atom){0};
}

static tamis_status merge(tmi_atoms *atoms, tamis_error *err)
{
    size_t kept = 0;
    qsort(atoms->list, atoms->count, sizeof *atoms->list, by_place);
    for (size_t j = 1; j < atoms->count; j++) {
        tmi_atom *last = &atoms->list[kept], *next = &atoms->list[j];
        if (tmi_number_compare(last->at, next->at) == 0) {
            tamis_status status = add_to(&last->here, next->here, err);
            if (status == TAMIS_OK) status = add_to(&last->there, next->there, err);
            if (status != TAMIS_OK) return status;
            atom_clear(next);
        } else if (++kept != j) {
            atoms->list[kept] = *next;
            *next = (tmi_atom){0};
        }
    }
    atoms->count = kept + 1;
    return TAMIS_OK;
}

tamis_status tmi_atoms_set(tmi_atoms *atoms, const tamis_ht_pair *p, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number **pi = NULL;
    size_t units = 0, samples;
    *atoms = (tmi_atoms){0};
    TMI_TRY(check(p, err));
    atoms->scale = p->scale;
    samples = tamis_law_count(p->law);
    pi = tmi_alloc((size_t)tamis_law_population(p->law), sizeof *pi);
    atoms->list = tmi_alloc(2 * samples, sizeof *atoms->list);
    if (!pi || !atoms->list) TMI_TRY(tmi_fail_memory(err));
    units = (size_t)tamis_law_population(p->law);
    atoms->count = 2 * samples;
    TMI_TRY(inclusion(pi, p->law, err));
    for (size_t j = 0; j < 2 * samples; j++) {
        bool prime = j % 2;
        tmi_atom *atom = &atoms->list[j];
        TMI_TRY(total(&atom->at, p->law, j / 2, prime ? p->x_prime : p->x, pi, err));
        TMI_TRY(tmi_number_copy(prime ? &atom->there : &atom->here, tamis_law_exact(p->law, j / 2), err));
        TMI_TRY(tmi_number_ratio(prime ? &atom->here : &atom->there, 0, 1, err));
    }
    TMI_TRY(merge(atoms, err));
done:
    for (size_t i = 0; i < units; i++) tamis_number_free(pi[i]);
    tmi_free(pi);
    return status;
}

void tmi_atoms_clear(tmi_atoms *atoms)
{
    for (size_t j = 0; atoms->list && j < atoms->count; j++) atom_clear(&atoms->list[j]);
    tmi_free(atoms->list);
    *atoms = (tmi_atoms){0};
}

/* ---- public ---- */

static tamis_status certify(tamis_bound *bound, double most, tmi_formula *formula, const tmi_atoms *atoms, tamis_error *err)
{
    tamis_bound value;
    tamis_status status = tmi_certify(&value, TAMIS_WIDTH, formula, atoms, err);
    if (status == TAMIS_OK) *bound = (tamis_bound){fmax(value.lower, 0), fmin(value.upper, most)};
    return status;
}

tamis_status tamis_ht_pair_delta(tamis_bound *delta, tamis_bound *reverse, const tamis_ht_pair *pair,
                                 const tamis_number *eps, tamis_error *err)
{
    static tmi_formula *const formulas[] = {tmi_atoms_delta_none, tmi_atoms_delta_laplace, tmi_atoms_delta_gaussian};
    tamis_status status = TAMIS_OK;
    tmi_atoms atoms = {0};
    tamis_bound value = {0, 1};
    if (delta) *delta = value;
    if (reverse) *reverse = value;
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    if (!reverse) return tmi_fail(err, TAMIS_INVALID, "reverse: NULL");
    if (!pair) return tmi_fail(err, TAMIS_INVALID, "pair: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    if (tmi_number_compare_int(eps, 1000000) > 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not exceed 10^6");
    TMI_TRY(tmi_atoms_set(&atoms, pair, err));
    atoms.eps = eps;
    TMI_TRY(certify(&value, 1, formulas[pair->noise], &atoms, err));
    atoms.swapped = true;
    TMI_TRY(certify(reverse, 1, formulas[pair->noise], &atoms, err));
    *delta = value;
done:
    if (status == TAMIS_UNABLE && atoms.count > 0) { /* noise never makes delta larger */
        if (certify(reverse, 1, tmi_atoms_delta_none, &atoms, NULL) == TAMIS_OK) reverse->lower = 0;
        atoms.swapped = false;
        if (certify(delta, 1, tmi_atoms_delta_none, &atoms, NULL) == TAMIS_OK) delta->lower = 0;
    }
    tmi_atoms_clear(&atoms);
    return status;
}

tamis_status tamis_ht_pair_pure(tamis_bound *eps, const tamis_ht_pair *pair, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_atoms atoms = {0};
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    if (!pair) return tmi_fail(err, TAMIS_INVALID, "pair: NULL");
    TMI_TRY(tmi_atoms_set(&atoms, pair, err));
    if (pair->noise == TAMIS_NOISE_GAUSSIAN) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "noise: none or Laplace"));
    for (size_t j = 0; pair->noise == TAMIS_NOISE_NONE && j < atoms.count; j++) {
        if (tmi_number_sign(atoms.list[j].there) != 0) continue;
        *eps = (tamis_bound){INFINITY, INFINITY};
        goto done;
    }
    TMI_TRY(certify(eps, INFINITY, pair->noise == TAMIS_NOISE_NONE ? tmi_atoms_pure_none : tmi_atoms_pure_laplace, &atoms,
                    err));
done:
    tmi_atoms_clear(&atoms);
    return status;
}
