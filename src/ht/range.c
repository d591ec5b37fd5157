/* The public questions about values in a range: strata one by one, and the inverse questions. */
#include "ht/range.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "composition/profile.h"
#include "ht/listed.h"
#include "ht/threshold.h"
#include "num/bound.h"
#include "survey/design/composite.h"

typedef struct strata {
    tmi_stratum *list;
    size_t count;
    tamis_ht_range range;           /* the caller's, perhaps with another scale; from and to are on the grid, if there is one */
    tamis_number *from, *to, *grid; /* of the range, where they are not the caller's */
} strata;

/* ---- needs ---- */

static tamis_status check_range(const tamis_design *design, const tamis_number *from, const tamis_number *to, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (!from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (tmi_number_compare(from, to) >= 0) return tmi_fail(err, TAMIS_INVALID, "from, to: from must be below to");
    return TAMIS_OK;
}

static tamis_status check(const tamis_ht_range *r, bool scale_asked, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!r) return tmi_fail(err, TAMIS_INVALID, "range: NULL");
    TMI_TRY(check_range(r->design, r->from, r->to, err));
    if ((r->low == NULL) != (r->high == NULL)) return tmi_fail(err, TAMIS_INVALID, "low, high: one of them is NULL");
    if (r->low && (tmi_number_sign(r->from) != 0 || tmi_number_compare_int(r->to, 1) != 0))
        return tmi_fail(err, TAMIS_INVALID, "low, high: only 0/1 values are counted, so from must be 0 and to 1");
    if (scale_asked && r->noise == TAMIS_NOISE_NONE)
        return tmi_fail(err, TAMIS_INVALID, "noise: must be one of the kinds of noise");
    TMI_TRY(tmi_check_noise(r->noise, r->step, err));
    if (!scale_asked) TMI_TRY(tmi_check_noise_scale(r->noise, r->scale, err));
done:
    return status;
}

/* ---- values ---- */

/* A multiple of the grid, new: the first one from x on, or the last one up to x. */
static tamis_status on_grid(tamis_number **z, const tamis_number *x, const tamis_number *grid, bool last, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *steps = NULL, *whole = NULL;
    int64_t k = 0;
    TMI_TRY(tmi_number_div(&steps, x, grid, err));
    if (!(last ? tmi_number_floor(&k, steps) : tmi_number_ceil(&k, steps)))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "grid: too fine: from and to must be fewer than 2^63 steps from 0"));
    TMI_TRY(tmi_number_ratio(&whole, k, 1, err));
    TMI_TRY(tmi_number_mul(z, whole, grid, err));
done:
    tmi_number_frees(&steps, &whole, NULL);
    return status;
}

/* The grid of the values, and the first and the last value on it. Values of which nothing is known but their ends have totals on
 * no lattice, so that the last digits of an answer with discrete noise would reveal them. */
static tamis_status set_values(strata *all, bool discrete, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_ht_range *r = &all->range;
    if (discrete && !r->grid) {
        if (tmi_number_sign(r->from) != 0 || tmi_number_compare_int(r->to, 1) != 0)
            return tmi_fail(err, TAMIS_INVALID,
                            "grid: discrete noise needs the step of the values, of which all of them are multiples; otherwise "
                            "the digits of a total would show what noise of whole steps does not hide");
        TMI_TRY(tmi_number_ratio(&all->grid, 1, 1, err));
        r->grid = all->grid;
    }
    if (!r->grid) return TAMIS_OK;
    if (tmi_number_sign(r->grid) <= 0) return tmi_fail(err, TAMIS_INVALID, "grid: must be positive");
    TMI_TRY(on_grid(&all->from, r->from, r->grid, false, err));
    TMI_TRY(on_grid(&all->to, r->to, r->grid, true, err));
    if (tmi_number_compare(all->from, all->to) >= 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "grid: fewer than two multiples of it lie between from and to"));
    r->from = all->from;
    r->to = all->to;
done:
    return status;
}

/* ---- strata ---- */

static size_t count_strata(const tamis_design *design)
{
    size_t count = 0;
    const tmi_composite *parts = tmi_design_strata(design);
    if (!parts) return 1;
    for (size_t h = 0; h < parts->count; h++) count += count_strata(parts->parts[h]);
    return count;
}

static tamis_status add_strata(strata *all, const tamis_design *design, int64_t first, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tmi_composite *parts = tmi_design_strata(design);
    if (parts) {
        for (size_t h = 0; h < parts->count; h++) TMI_TRY(add_strata(all, parts->parts[h], first + parts->first[h], err));
        return TAMIS_OK;
    }
    tmi_stratum *s = &all->list[all->count++];
    TMI_TRY(tmi_stratum_set(s, design, &all->range, err));
    s->first = first;
done:
    return status;
}

static tamis_status set_window(tmi_stratum *s, size_t h, tamis_error *err)
{
    const tamis_ht_range *r = s->range;
    bool certain = tmi_number_compare_int(s->alike[0].p, 1) == 0;
    if (!r->low) return TAMIS_OK;
    if (r->low[h] < 0 || r->high[h] > s->design->population || r->low[h] > r->high[h])
        return tmi_fail(err, TAMIS_INVALID, "low[%zu], high[%zu]: 0 <= low <= high <= units of the stratum", h, h);
    s->low = r->low[h];
    s->high = r->high[h];
    s->has_window = s->low > 0 || s->high < s->design->population;
    bool equal = s->count == 1 && s->design->sample >= 0;
    s->can_be_constant = certain || s->low == 0 || (equal && s->high == s->design->population);
    return TAMIS_OK;
}

/* Two neighbouring multiples of the grid are values, so all weighted values are multiples of the step iff grid/p is one. */
static tamis_status check_steps(const tmi_stratum *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; s->range->step && i < s->count && status == TAMIS_OK; i++) {
        tamis_number *w = NULL;
        status = tmi_number_div(&w, s->range->grid, s->alike[i].p, err);
        if (status == TAMIS_OK) status = tmi_check_multiple(w, s->range->step, err);
        tamis_number_free(w);
    }
    return status;
}

static void strata_clear(strata *all)
{
    for (size_t h = 0; h < all->count; h++) tmi_stratum_clear(&all->list[h]);
    tmi_free(all->list);
    tmi_number_frees(&all->from, &all->to, &all->grid, NULL);
    *all = (strata){0};
}

/* What is not known yet and asked for: nothing, the scale, or the step of the noise. */
typedef enum asked { ALL_IS_GIVEN, SCALE_IS_ASKED, STEP_IS_ASKED } asked;

static tamis_status strata_set(strata *all, const tamis_ht_range *range, asked what, tamis_error *err)
{
    size_t restless = 0;
    tamis_status status = TAMIS_OK;
    *all = (strata){0};
    TMI_TRY(check(range, what == SCALE_IS_ASKED, err));
    all->range = *range;
    TMI_TRY(set_values(all, tmi_noise_is_discrete(range->noise) || what == STEP_IS_ASKED, err));
    if (!(all->list = tmi_alloc(count_strata(range->design), sizeof *all->list))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(add_strata(all, range->design, 0, err));
    for (size_t h = 0; h < all->count; h++) {
        TMI_TRY(set_window(&all->list[h], h, err));
        TMI_TRY(check_steps(&all->list[h], err));
        restless += !all->list[h].can_be_constant;
    }
    for (size_t h = 0; h < all->count; h++) {
        tmi_stratum *s = &all->list[h];
        bool others = restless == 0 || (restless == 1 && !s->can_be_constant);
        s->attained = others && (s->has_window || s->can_be_constant);
    }
done:
    return status;
}

/* ---- answers ---- */

static tamis_ht_part part_of(const tmi_stratum *s, const tmi_between *b)
{
    tamis_bound value = {b->least.lower, b->most.upper};
    bool narrow = value.upper - value.lower <= 1e-9 * value.upper + 1e-30 || value.lower == INFINITY;
    return (tamis_ht_part){s->first, s->design->population, s->first + b->unit, value, narrow, b->theorem};
}

typedef tamis_status answer(tmi_between *b, const tmi_stratum *s, const tamis_number *x, tamis_error *err);

/* What holds if nothing could be computed: delta is at most the largest inclusion probability. */
static tamis_ht_part safe_part(const tmi_stratum *s, bool is_delta)
{
    const tmi_alike *a = &s->alike[s->count - 1];
    double upper = is_delta ? tmi_number_up(a->p) : INFINITY;
    return (tamis_ht_part){s->first, s->design->population, s->first + a->unit, {0, upper}, 0, "any_design"};
}

/* UNABLE in one stratum does not stop the others. */
static tamis_status for_each(tamis_ht_part **parts, size_t *count, const strata *all, answer *ask, const tamis_number *x,
                             tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_ht_part *list = tmi_alloc(all->count, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    for (size_t h = 0; h < all->count && (status == TAMIS_OK || status == TAMIS_UNABLE); h++) {
        tmi_between b;
        tamis_status one = ask(&b, &all->list[h], x, status == TAMIS_OK ? err : NULL);
        list[h] = one == TAMIS_OK ? part_of(&all->list[h], &b) : safe_part(&all->list[h], ask == tmi_stratum_ask && x);
        if (one != TAMIS_OK) status = one;
    }
    if (status == TAMIS_OK || status == TAMIS_UNABLE) {
        *parts = list;
        *count = all->count;
    } else {
        tmi_free(list);
    }
    return status;
}

typedef tamis_status check_number(const tamis_number *x, tamis_error *err);

/* The answer to one question for each stratum; check is NULL if the question has no number. */
static tamis_status ask_all(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range, answer *ask, const tamis_number *x,
                            check_number *check_x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    strata all = {0};
    if (parts) *parts = NULL;
    if (count) *count = 0;
    if (!parts) return tmi_fail(err, TAMIS_INVALID, "parts: NULL");
    if (!count) return tmi_fail(err, TAMIS_INVALID, "count: NULL");
    if (check_x) TMI_TRY(check_x(x, err));
    TMI_TRY(strata_set(&all, range, ALL_IS_GIVEN, err));
    TMI_TRY(for_each(parts, count, &all, ask, x, err));
done:
    strata_clear(&all);
    return status;
}

/* ---- eps at delta ---- */

#define MAX_EPS 1e6

/* No set of results changes its probability by more than the inclusion probability of the unit: where that is at most delta,
 * decided exactly, the target is met at eps = 0 and without noise. */
static void meet(tmi_stratum *s, const tamis_number *delta)
{
    while (s->met < s->count && tmi_number_compare(s->alike[s->met].p, delta) <= 0) s->met++;
}

typedef struct side {
    const tmi_stratum *s;
    bool most;
    tmi_between last;
} side;

static tamis_status delta_side(tamis_bound *value, void *context, const tamis_number *eps, tamis_error *err)
{
    side *a = context;
    tamis_status status = tmi_stratum_ask(&a->last, a->s, eps, err);
    *value = a->most ? a->last.most : a->last.least;
    return status;
}

/* The smallest eps at which `most` (or `least`) is at most delta, given its value at eps = 0. */
static tamis_status invert(tamis_bound *eps, side *a, tamis_bound at_zero, const tamis_number *delta, tamis_error *err)
{
    tamis_bound target = tmi_number_bound(delta);
    *eps = (tamis_bound){0, 0};
    if (at_zero.upper <= target.lower) return TAMIS_OK;
    if (a->s->range->noise == TAMIS_NOISE_NONE) { /* p at every eps, and more than delta: see meet */
        *eps = (tamis_bound){INFINITY, INFINITY};
        return TAMIS_OK;
    }
    return tmi_smallest(eps, delta_side, a, delta, 1, MAX_EPS, err);
}

static tamis_status window_epsilon(tmi_between *b, const tmi_stratum *s, const tamis_number *delta, tamis_error *err)
{
    tamis_ht_srs srs = {s->design->population, s->design->sample, s->low, s->high, s->range->noise, s->range->scale};
    tamis_status status = tamis_ht_srs_epsilon(&b->most, &srs, delta, err);
    if (status == TAMIS_OK && s->attained) b->least = b->most;
    return status;
}

static tamis_status epsilon_of(tmi_between *b, const tmi_stratum *stratum, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    tmi_stratum left = *stratum; /* borrows everything */
    const tmi_stratum *s = &left;
    side most = {.s = s, .most = true}, least = {.s = s};
    tmi_between at_zero;
    if (tmi_number_sign(delta) == 0) return tmi_stratum_ask(b, s, NULL, err);
    meet(&left, delta);
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(tmi_stratum_ask(&at_zero, s, zero, err));
    *b = at_zero;
    if (strcmp(at_zero.theorem, "srs_window") == 0 && s->low < s->high) {
        b->least = (tamis_bound){0, 0};
        TMI_TRY(window_epsilon(b, s, delta, err));
        goto done;
    }
    TMI_TRY(invert(&b->most, &most, at_zero.most, delta, err));
    if (most.last.theorem) {
        b->theorem = most.last.theorem;
        b->unit = most.last.unit;
    }
    bool same = at_zero.least.lower == at_zero.most.lower && at_zero.least.upper == at_zero.most.upper && s->independent;
    if (same) b->least = b->most;
    else TMI_TRY(invert(&b->least, &least, at_zero.least, delta, err));
done:
    tamis_number_free(zero);
    return status;
}

tamis_status tamis_ht_range_delta(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range, const tamis_number *eps,
                                  tamis_error *err)
{
    return ask_all(parts, count, range, tmi_stratum_ask, eps, tmi_check_eps, err);
}

tamis_status tamis_ht_range_pure(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range, tamis_error *err)
{
    return ask_all(parts, count, range, tmi_stratum_ask, NULL, NULL, err);
}

tamis_status tamis_ht_range_epsilon(tamis_ht_part **parts, size_t *count, const tamis_ht_range *range, const tamis_number *delta,
                                    tamis_error *err)
{
    return ask_all(parts, count, range, epsilon_of, delta, tmi_check_delta, err);
}

/* ---- noise for a target ---- */

typedef struct target {
    strata *all;
    const tamis_number *eps; /* NULL: the pure eps is asked for */
} target;

/* The largest `most` over the strata, with noise of this scale. */
static tamis_status most_at(tamis_bound *value, void *context, const tamis_number *scale, tamis_error *err)
{
    const target *t = context;
    tamis_status status = TAMIS_OK;
    *value = (tamis_bound){0, 0};
    t->all->range.scale = scale;
    for (size_t h = 0; h < t->all->count && status == TAMIS_OK; h++) {
        tmi_between b;
        status = tmi_stratum_ask(&b, &t->all->list[h], t->eps, err);
        if (status == TAMIS_OK) *value = (tamis_bound){fmax(value->lower, b.most.lower), fmax(value->upper, b.most.upper)};
    }
    return status;
}

/* Scales up to which is searched, from the largest weighted range on that is not met. */
#define MAX_GROWTH 1e60

/* Steps of discrete Gaussian noise up to which is searched: each of its deltas is a sum over all steps. */
#define MOST_STEPS 100

static tamis_status find_scale(tamis_bound *scale, strata *all, const tamis_number *eps, const tamis_number *delta,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    target t = {all, eps};
    tamis_ht_range *r = &all->range;
    const tamis_noise_kind noise = r->noise;
    const tamis_number *step = r->step;
    bool laplace = noise == TAMIS_NOISE_LAPLACE || noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    bool pure = tmi_number_sign(delta) == 0;
    double start = 0;
    r->noise = TAMIS_NOISE_NONE;
    r->step = NULL;
    TMI_TRY(most_at(scale, &t, NULL, err));
    r->noise = noise;
    r->step = step;
    if (scale->upper <= tmi_number_bound(delta).lower) {
        *scale = (tamis_bound){0, 0};
        goto done;
    }
    if (pure && (!laplace || tmi_number_sign(eps) == 0)) {
        *scale = (tamis_bound){INFINITY, INFINITY};
        goto done;
    }
    for (size_t h = 0; h < all->count; h++) {
        const tmi_stratum *s = &all->list[h];
        if (s->met == s->count) continue;
        start = fmax(start, (tmi_number_nearest(s->to) - tmi_number_nearest(s->from)) / tmi_number_nearest(s->alike[s->met].p));
    }
    if (noise == TAMIS_NOISE_DISCRETE_GAUSSIAN) {
        r->noise = TAMIS_NOISE_GAUSSIAN;
        r->step = NULL;
        TMI_TRY(tmi_smallest(scale, most_at, &t, delta, start, start * MAX_GROWTH, err));
        r->noise = noise;
        r->step = step;
        if (scale->upper > MOST_STEPS * tmi_number_nearest(step))
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE,
                             "the scale of discrete Gaussian noise would be too many steps to search; discrete Laplace noise is "
                             "faster"));
        start = scale->upper;
    }
    if (step) start /= tmi_number_nearest(step);
    if (pure) t.eps = NULL;
    TMI_TRY(tmi_smallest(scale, most_at, &t, pure ? eps : delta, start, start * MAX_GROWTH, err));
    if (scale->upper == INFINITY)
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "delta: too small: the noise would be too large to compute"));
done:
    return status;
}

tamis_status tamis_ht_range_scale(tamis_bound *scale, const tamis_ht_range *range, const tamis_number *eps,
                                  const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    strata all = {0};
    if (!scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    *scale = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_check_eps(eps, err));
    TMI_TRY(tmi_check_delta(delta, err));
    TMI_TRY(strata_set(&all, range, SCALE_IS_ASKED, err));
    for (size_t h = 0; h < all.count; h++) meet(&all.list[h], delta);
    TMI_TRY(find_scale(scale, &all, eps, delta, err));
done:
    if (status != TAMIS_OK) *scale = (tamis_bound){0, INFINITY};
    strata_clear(&all);
    return status;
}

/* ---- the step of discrete noise ---- */

#define STEP_BYTES 4096

tamis_status tamis_ht_range_step(tamis_number **step, const tamis_ht_range *range, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    strata all = {0};
    tamis_number *g = NULL, *w = NULL, *next = NULL;
    if (!step) return tmi_fail(err, TAMIS_INVALID, "step: NULL");
    *step = NULL;
    if (!range) return tmi_fail(err, TAMIS_INVALID, "range: NULL");
    const tamis_ht_range silent = {.design = range->design, .from = range->from, .to = range->to, .grid = range->grid};
    TMI_TRY(strata_set(&all, &silent, STEP_IS_ASKED, err));
    TMI_TRY(tmi_number_ratio(&g, 0, 1, err));
    for (size_t h = 0; h < all.count; h++)
        for (size_t i = 0; i < all.list[h].count; i++) {
            TMI_TRY(tmi_number_div(&w, all.range.grid, all.list[h].alike[i].p, err));
            TMI_TRY(tmi_number_gcd(&next, g, w, err));
            tmi_number_frees(&g, &w, NULL);
            g = next;
            w = next = NULL;
            if (tmi_number_bytes(g) > STEP_BYTES)
                TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "design: the weights have no common step of reasonable size"));
        }
    *step = g;
    g = NULL;
done:
    strata_clear(&all);
    tmi_number_frees(&g, &w, NULL);
    return status;
}
