/* What two populations certainly reveal of a noisy sum: a lower end for every design.
 *
 * One unit changes from `from` to `to`, and the others add a constant. They do if they all have the value 0; or the same value,
 * if each stratum has a sample of fixed size and equal weights. The answer is then that of a unit which is in the sample with
 * probability p: p N(w to) + (1-p) N(0) against p N(w from) + (1-p) N(0), or the same with 0 and to - from in place of from
 * and to. */
#include <string.h>

#include "amplification/exposed.h"
#include "ht/pair.h"
#include "survey/design/design.h"

/* Puts probability p at the point weight * value; a weight that is NULL is 1. */
static tamis_status put(tmi_atoms *atoms, const tamis_number *weight, const tamis_number *value, const tamis_number *p,
                        bool prime, tamis_error *err)
{
    tamis_number *at = NULL;
    tamis_status status = weight ? tmi_number_mul(&at, weight, value, err) : tmi_number_copy(&at, value, err);
    return status == TAMIS_OK ? tmi_atoms_take(atoms, at, p, NULL, prime, err) : status;
}

/* The larger of the two orders, the unit's value being `high` or `low` and nothing else changing. */
static tamis_status one_pair(tamis_bound *value, const tmi_attainable *sum, const tamis_number *weight, const tamis_number *p,
                             const tamis_number *high, const tamis_number *low, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *zero = NULL, *rest = NULL;
    tmi_atoms atoms = {0};
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tmi_number_sub(&rest, one, p, err));
    TMI_TRY(tmi_atoms_start(&atoms, 4, true, err));
    TMI_TRY(put(&atoms, weight, high, p, false, err));
    TMI_TRY(put(&atoms, weight, low, p, true, err));
    TMI_TRY(put(&atoms, NULL, zero, rest, false, err));
    TMI_TRY(put(&atoms, NULL, zero, rest, true, err));
    TMI_TRY(tmi_atoms_finish(&atoms, sum->noise, sum->scale, sum->step, err));
    atoms.eps = sum->eps;
    for (int order = 0; order < 2; order++) {
        tamis_bound found;
        atoms.swapped = order == 1;
        TMI_TRY(sum->eps ? tmi_atoms_delta(&found, &atoms, err) : tmi_atoms_pure(&found, &atoms, err));
        if (found.lower > value->lower) *value = found;
    }
done:
    tmi_number_frees(&one, &zero, &rest, NULL);
    tmi_atoms_clear(&atoms);
    return status;
}

tamis_status tmi_attained(tamis_bound *value, const tamis_design *design, int64_t unit, const tmi_attainable *sum, bool level,
                          tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *p = NULL, *one = NULL, *zero = NULL, *range = NULL, *weight = NULL;
    *value = (tamis_bound){0, 0};
    TMI_TRY(design->kind->exact(&p, design, unit, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tmi_number_sub(&range, sum->to, sum->from, err));
    if (sum->by_probability) TMI_TRY(tmi_number_div(&weight, one, p, err));
    const tamis_number *w = weight ? weight : sum->weight;
    if (tmi_number_sign(sum->from) <= 0 && tmi_number_sign(sum->to) >= 0)
        TMI_TRY(one_pair(value, sum, w, p, sum->to, sum->from, err));
    if (level && design->sample >= 0) TMI_TRY(one_pair(value, sum, w, p, range, zero, err));
done:
    if (status != TAMIS_OK) *value = (tamis_bound){0, 0};
    tmi_number_frees(&p, &one, &zero, &range, &weight, NULL);
    return status;
}

/* All clusters have one size, or the possible samples have no unit in common: with `from` in the unit's own and `to` in the
 * others, every record that is exchanged changes by the whole range. */
tamis_status tmi_is_attained(bool *attained, const tamis_design *design, const tamis_exposure *e, bool level, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *p = NULL, *one = NULL, *weight = NULL;
    bool exchanges = level && design->sample >= 0;
    *attained = false;
    for (size_t k = 0; k < e->absence_count; k++)
        exchanges = exchanges && !e->absences[k].far && e->absences[k].distance.additions == 0;
    if (exchanges && strcmp(e->theorem, "systematic") == 0) {
        TMI_TRY(design->kind->exact(&p, design, e->first, err));
        TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
        TMI_TRY(tmi_number_div(&weight, one, p, err));
        *attained = tmi_number_is_integer(weight);
    } else {
        *attained = exchanges && strcmp(e->theorem, "cluster") == 0;
    }
done:
    tmi_number_frees(&p, &one, &weight, NULL);
    return status;
}
