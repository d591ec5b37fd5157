/* The Laplace mechanism on a finite specification, Theorem 4.3 in the form in which it is true.
 *
 * For d, d' of one universe D both get the scale s(D) >= |q(d) - q(d')|_1 / (epsilon_D dist(d, d')), so their densities
 * differ by a factor of at most exp(|q(d) - q(d')|_1 / s) <= exp(epsilon_D dist(d, d')) at every point. Since universes are
 * disjoint, no dataset is asked for two scales.                                                                      */
#include <tamis/experimental/sensitivity.h>

#include "base/memory.h"
#include "num/exact.h"

/* Datasets: their distances are held in full. */
#define MOST_DATASETS 4096

static const tamis_number *distance_of(const tamis_finite *f, size_t d, size_t e) { return f->distance[d * f->datasets + e]; }

static tamis_status check_distances(const tamis_finite *f, tamis_error *err)
{
    for (size_t d = 0; d < f->datasets; d++) {
        for (size_t e = 0; e <= d; e++) {
            const tamis_number *x = distance_of(f, d, e), *y = distance_of(f, e, d);
            if (d == e && (!x || tmi_number_sign(x) != 0))
                return tmi_fail(err, TAMIS_INVALID, "distance: must be 0 from a dataset to itself");
            if (!x != !y || (x && tmi_number_compare(x, y) != 0))
                return tmi_fail(err, TAMIS_INVALID, "distance: must be symmetric");
            if (x && tmi_number_sign(x) < 0) return tmi_fail(err, TAMIS_INVALID, "distance: must not be negative");
        }
    }
    return TAMIS_OK;
}

static tamis_status check(const tamis_finite *f, tamis_error *err)
{
    if (!f) return tmi_fail(err, TAMIS_INVALID, "finite: NULL");
    if (f->datasets < 1 || f->datasets > MOST_DATASETS)
        return tmi_fail(err, TAMIS_INVALID, "datasets: must be 1 to %d", MOST_DATASETS);
    if (f->outputs < 1 || f->outputs > MOST_DATASETS)
        return tmi_fail(err, TAMIS_INVALID, "outputs: must be 1 to %d", MOST_DATASETS);
    if (!f->q) return tmi_fail(err, TAMIS_INVALID, "q: NULL");
    for (size_t i = 0; i < f->datasets * f->outputs; i++)
        if (!f->q[i]) return tmi_fail(err, TAMIS_INVALID, "q[%zu]: NULL", i);
    if (!f->distance) return tmi_fail(err, TAMIS_INVALID, "distance: NULL");
    if (!f->universes && f->universe_count > 0) return tmi_fail(err, TAMIS_INVALID, "universes: NULL");
    return check_distances(f, err);
}

/* owner[d] becomes the number of d's universe, counted from 1. */
static tamis_status check_universes(size_t *owner, const tamis_finite *f, tamis_error *err)
{
    for (size_t u = 0; u < f->universe_count; u++) {
        const tamis_universe *universe = &f->universes[u];
        if (!universe->members && universe->count > 0) return tmi_fail(err, TAMIS_INVALID, "universes[%zu].members: NULL", u);
        if (!universe->epsilon || tmi_number_sign(universe->epsilon) <= 0)
            return tmi_fail(err, TAMIS_INVALID, "universes[%zu].epsilon: must be above 0", u);
        for (size_t i = 0; i < universe->count; i++) {
            size_t d = universe->members[i];
            if (d >= f->datasets) return tmi_fail(err, TAMIS_INVALID, "universes[%zu].members[%zu]: no such dataset", u, i);
            if (owner[d] == u + 1) return tmi_fail(err, TAMIS_INVALID, "universes[%zu].members[%zu]: appears twice", u, i);
            if (owner[d]) {
                return tmi_fail(
                    err, TAMIS_REFUSED,
                    "universes %zu and %zu overlap, so the scale of the noise would distinguish their members; merge them",
                    owner[d] - 1, u);
            }
            owner[d] = u + 1;
            for (size_t j = 0; j < i; j++) {
                if (distance_of(f, d, universe->members[j])) continue;
                return tmi_fail(err, TAMIS_REFUSED,
                                "universe %zu is not complete: two of its members are infinitely far apart, so nothing bounds "
                                "how well they can be distinguished; split it into its connected parts",
                                u);
            }
        }
    }
    return TAMIS_OK;
}

static tmi_term change(tmi_exact *e, const tamis_finite *f, size_t d, size_t other)
{
    tmi_term sum = tmi_int(e, 0);
    for (size_t j = 0; j < f->outputs; j++)
        sum = tmi_add(e, sum, tmi_abs(e, tmi_sub(e, f->q[d * f->outputs + j], f->q[other * f->outputs + j])));
    return sum;
}

static tamis_status scale_of(tamis_number **scale, const tamis_finite *f, const tamis_universe *universe, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    tmi_term most = tmi_int(&e, 0);
    for (size_t i = 0; i < universe->count; i++) {
        for (size_t j = 0; j < i; j++) {
            tmi_term by = change(&e, f, universe->members[i], universe->members[j]);
            const tamis_number *apart = distance_of(f, universe->members[i], universe->members[j]);
            if (!by || tmi_number_sign(by) == 0) continue;
            if (tmi_number_sign(apart) == 0) {
                status = tmi_fail(err, TAMIS_REFUSED, "two datasets at distance 0 have different values: no noise hides that");
                goto done;
            }
            most = tmi_larger(most, tmi_div(&e, by, tmi_mul(&e, universe->epsilon, apart)));
        }
    }
    status = tmi_exact_copy(scale, &e, most);

done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tamis_laplace_scales(tamis_number **scales, const tamis_finite *f, tamis_error *err)
{
    tamis_status status;
    tamis_number *scale = NULL;
    size_t *owner = NULL;
    if (!scales) return tmi_fail(err, TAMIS_INVALID, "scales: NULL");
    for (size_t d = 0; f && d < f->datasets && d < MOST_DATASETS; d++) scales[d] = NULL;
    TMI_TRY(check(f, err));
    owner = tmi_alloc(f->datasets, sizeof *owner);
    if (!owner) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(check_universes(owner, f, err));
    for (size_t u = 0; u < f->universe_count; u++) {
        TMI_TRY(scale_of(&scale, f, &f->universes[u], err));
        for (size_t i = 0; i < f->universes[u].count; i++)
            TMI_TRY(tmi_number_copy(&scales[f->universes[u].members[i]], scale, err));
        tamis_number_free(scale);
        scale = NULL;
    }
    for (size_t d = 0; d < f->datasets; d++)
        if (!owner[d]) TMI_TRY(tmi_number_ratio(&scales[d], 0, 1, err));

done:
    for (size_t d = 0; status != TAMIS_OK && owner && d < f->datasets; d++) {
        tamis_number_free(scales[d]);
        scales[d] = NULL;
    }
    tamis_number_free(scale);
    tmi_free(owner);
    return status;
}
