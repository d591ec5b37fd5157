#include "survey/design/pps.h"
#include "survey/design/form.h"
#include "survey/design/method.h"

#include <string.h>

/* ---- making ---- */

static tamis_status check_probabilities(const tamis_number *const *probabilities, size_t count, tamis_error *err)
{
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "probabilities: at least one unit is needed");
    if (count > TAMIS_MAX_LISTED) return tmi_fail(err, TAMIS_INVALID, "probabilities: at most 2^28 units are supported");
    for (size_t i = 0; i < count; i++)
        if (!probabilities[i] || tmi_number_sign(probabilities[i]) <= 0 || tmi_number_compare_int(probabilities[i], 1) > 0)
            return tmi_fail(err, TAMIS_INVALID, "probabilities: number %zu must be above 0 and at most 1", i);
    return TAMIS_OK;
}

/* The sum of the probabilities, if it is an integer. */
static bool integer_sum(int64_t *sum, const tmi_pps *pps)
{
    uint64_t total[TMI_COMMON_WORDS] = {0};
    size_t words = pps->pi.words;
    *sum = 0;
    for (size_t i = 0; i < pps->open_count; i++) {
        tmi_wide_add(total, total, tmi_open(pps, i), words); /* below 2 D */
        if (tmi_wide_compare(total, pps->pi.denominator, words) < 0) continue;
        tmi_wide_sub(total, total, pps->pi.denominator, words);
        ++*sum;
    }
    return tmi_wide_is_zero(total, words);
}

static tamis_status sort_out(tmi_pps *pps, tamis_error *err)
{
    size_t count = pps->pi.count;
    for (size_t i = 0; i < count; i++)
        pps->certain_count += tmi_wide_compare(tmi_common_at(&pps->pi, i), pps->pi.denominator, pps->pi.words) == 0;
    pps->open = tmi_alloc(count - pps->certain_count, sizeof *pps->open);
    pps->certain = tmi_alloc(pps->certain_count, sizeof *pps->certain);
    if (!pps->open || !pps->certain) return tmi_fail_memory(err);
    pps->certain_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (tmi_wide_compare(tmi_common_at(&pps->pi, i), pps->pi.denominator, pps->pi.words) == 0)
            pps->certain[pps->certain_count++] = (int64_t)i;
        else pps->open[pps->open_count++] = (int64_t)i;
    }
    return TAMIS_OK;
}

tamis_status tmi_pps_new(tamis_design **design, const tmi_pps_method *method, const tamis_number *const *probabilities,
                         size_t count, tamis_error *err)
{
    tmi_common pi = {0};
    *design = NULL;
    tamis_status status = check_probabilities(probabilities, count, err);
    if (status == TAMIS_OK) status = tmi_common_init(&pi, probabilities, count, err);
    return status == TAMIS_OK ? tmi_pps_take(design, method, &pi, err) : status;
}

tamis_status tmi_pps_take(tamis_design **design, const tmi_pps_method *method, tmi_common *pi, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_pps *pps = tmi_design_alloc(sizeof *pps, &method->kind, (int64_t)pi->count, -1);
    *design = NULL;
    if (!pps) {
        tmi_common_clear(pi);
        return tmi_fail_memory(err);
    }
    pps->size = -1;
    pps->pi = *pi;
    *pi = (tmi_common){0};
    TMI_TRY(sort_out(pps, err));
    if (method != &tmi_poisson) {
        if (!integer_sum(&pps->size, pps))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "probabilities: their sum, the sample size, is not an integer"));
        pps->base.sample = pps->size + (int64_t)pps->certain_count;
    }
    *design = &pps->base;
    pps = NULL;
done:
    if (pps) tamis_design_free(&pps->base);
    return status;
}

tamis_status tmi_pps_find(const tmi_pps_method **found, tamis_method method, tamis_error *err)
{
    const tmi_method *row = tmi_method_row(method);
    *found = row ? row->unequal : NULL;
    if (*found) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_INVALID,
        "method: must be conditional_poisson, sampford, pivotal, pivotal_random, systematic, systematic_random, brewer or tille");
}

tamis_status tamis_design_pps(tamis_design **design, tamis_method method, const tamis_number *const *probabilities, size_t count,
                              tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    *design = NULL;
    const tmi_pps_method *found = NULL;
    tamis_status status = tmi_pps_find(&found, method, err);
    return status == TAMIS_OK ? tmi_pps_new(design, found, probabilities, count, err) : status;
}

/* ---- what the methods share ---- */

static const tmi_pps_method *method_of(const tamis_design *design) { return (const tmi_pps_method *)design->kind; }

void tmi_pps_clear(tamis_design *design)
{
    tmi_pps *pps = (tmi_pps *)design;
    tmi_common_clear(&pps->pi);
    tmi_free(pps->open);
    tmi_free(pps->certain);
}

tamis_status tmi_pps_first(tmi_ball *pi, const tamis_design *design, int64_t unit, long bits, tamis_error *err)
{
    const tmi_common *c = &tmi_pps_of(design)->pi;
    (void)err;
    tmi_ball_set_wide(pi, tmi_common_at(c, (size_t)unit), c->denominator, c->words, bits);
    return TAMIS_OK;
}

tamis_status tmi_pps_exact(tamis_number **pi, const tamis_design *design, int64_t unit, tamis_error *err)
{
    const tmi_common *c = &tmi_pps_of(design)->pi;
    return tmi_number_wide(pi, tmi_common_at(c, (size_t)unit), c->denominator, c->words, err);
}

void tmi_pps_ball(tmi_ball *pi, const tmi_pps *pps, size_t i, long bits)
{
    tmi_ball_set_wide(pi, tmi_open(pps, i), pps->pi.denominator, pps->pi.words, bits);
}

tamis_status tmi_pps_number(tamis_number **pi, const tmi_pps *pps, size_t i, tamis_error *err)
{
    return tmi_number_wide(pi, tmi_open(pps, i), pps->pi.denominator, pps->pi.words, err);
}

tamis_status tmi_pps_draw_certain(tamis_drawn *drawn, const tmi_pps *pps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < pps->certain_count && status == TAMIS_OK; i++) status = tmi_drawn_add(drawn, pps->certain[i], err);
    return status;
}

tamis_status tmi_pps_draw(tamis_drawn *drawn, const tamis_design *design, const void *tables, tamis_rng *rng,
                          const tmi_watch *watch, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    const tmi_pps_method *method = method_of(design);
    (void)tables, (void)watch;
    if (!method->shuffled) return method->draw_in_order(drawn, pps, NULL, rng, err);
    uint64_t *order = tmi_alloc(pps->open_count, sizeof *order);
    if (!order) return tmi_fail_memory(err);
    tamis_status status = tamis_permutation(order, pps->open_count, rng, err);
    if (status == TAMIS_OK) status = method->draw_in_order(drawn, pps, order, rng, err);
    tmi_wipe(order, pps->open_count * sizeof *order);
    tmi_free(order);
    return status;
}

uint32_t tmi_pps_units(const tmi_pps *pps, uint32_t set)
{
    uint32_t units = 0;
    for (size_t i = 0; i < pps->certain_count; i++) units |= UINT32_C(1) << pps->certain[i];
    for (size_t i = 0; i < pps->open_count; i++)
        if (set >> i & 1) units |= UINT32_C(1) << pps->open[i];
    return units;
}

/* Open numbers by binary search: `open` is ascending. */
static bool find_open(size_t *number, const tmi_pps *pps, int64_t unit)
{
    size_t low = 0, high = pps->open_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pps->open[middle] < unit) low = middle + 1;
        else high = middle;
    }
    *number = low;
    return low < pps->open_count && pps->open[low] == unit;
}

tamis_status tmi_pps_expose(tmi_exposures *exposures, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    const tmi_pps_method *method = method_of(design);
    tamis_status status = TAMIS_OK;
    for (int64_t k = 0; k < design->population && status == TAMIS_OK; k++) {
        tamis_exposure e = {.first = k, .count = 1, .theorem = method->theorem, .reason = method->reason};
        size_t open;
        if (design->sample < 0) e.removal.additions = 1;
        if (find_open(&open, pps, k)) {
            if (pps->size < 0) e.absences[0].distance.additions = 1;
            else e.absences[0].distance.exchanges = method->theorem ? 1 : pps->size;
            status = tmi_expose_alike(exposures, e, design, err);
        } else { /* never absent: there is nothing to couple */
            e.inclusion = (tamis_bound){1, 1};
            e.theorem = "census";
            e.reason = NULL;
            status = tmi_exposures_add(exposures, &e, err);
        }
    }
    return status;
}

tamis_status tmi_pps_joint(tmi_ball *pij, const tamis_design *design, const int64_t *units, size_t count, long bits,
                           tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    tamis_status status = TAMIS_OK;
    size_t *open = tmi_alloc(count, sizeof *open), *place = tmi_alloc(count, sizeof *place), found = 0;
    tmi_ball *pairs = NULL;
    if (!open || !place) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        place[i] = SIZE_MAX;
        if (find_open(&open[found], pps, units[i])) place[i] = found++;
    }
    if (!(pairs = tmi_balls_new(found * found))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(method_of(design)->open_joint(pairs, pps, open, found, bits, err));
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) { /* a certain unit adds nothing: pi_kl is the other one's pi */
            tmi_ball *p = &pij[i * count + j];
            if (place[i] == SIZE_MAX) TMI_TRY(tmi_pps_first(p, design, units[j], bits, err));
            else if (place[j] == SIZE_MAX) TMI_TRY(tmi_pps_first(p, design, units[i], bits, err));
            else tmi_ball_set(p, &pairs[place[i] * found + place[j]]);
        }
done:
    tmi_balls_free(pairs, found * found);
    tmi_free(open);
    tmi_free(place);
    return status;
}

/* ---- as JSON ---- */

static tamis_status read_pps(tamis_design **design, const tmi_design_fields *f, tamis_error *err)
{
    const char *name = NULL;
    tamis_method method;
    tamis_number **pi = NULL;
    size_t count = 0;
    tamis_status status = tmi_design_string(&name, f, "method", err);
    if (status != TAMIS_OK) return status;
    if (tamis_method_of_name(&method, name, err) == TAMIS_REFUSED) return TAMIS_REFUSED;
    if (method == TAMIS_METHOD_POISSON) method = TAMIS_METHOD_NONE; /* a kind of its own */
    status = tmi_design_numbers(&pi, &count, f, "probabilities", err);
    if (status == TAMIS_OK) status = tamis_design_pps(design, method, (const tamis_number *const *)pi, count, err);
    tmi_numbers_free(pi, count);
    return status;
}

const tmi_design_form tmi_pps_form = {.name = "pps", .keys = {"method", "probabilities"}, .read = read_pps};
