/* The formulas of <tamis/experimental/sensitivity.h>.
 *
 * One unit has 1 to K rows, each adding w x. Let c range over what a unit can add to one cell: from `low` to `high`, with 0
 * among the values if it may be absent. Its largest size is m = K w1 M. Two neighbours differ by c -> c' in one cell, or
 * by c in one cell and c' in another; if weights may move, every other unit adds up to K (w1 - w0) M to the same side of
 * one of these cells. The L1, L2 and largest distances are convex in c, c' and in where the others stand, so their
 * largest values are at the ends, which are listed below and attained.                                               */
#include <tamis/experimental/bound.h>
#include <tamis/experimental/sensitivity.h>

#include "num/exact.h"

/* Counts: products of two stay exact anyway; this is what the rest of the house takes. */
#define MOST TAMIS_MAX_UNITS

void tamis_sensitivity_clear(tamis_sensitivity *s)
{
    if (!s) return;
    tmi_number_frees(&s->l1, &s->l2_squared, &s->largest, NULL);
    *s = (tamis_sensitivity){0};
}

/* ---- what is asked ---- */

static tamis_status check_span(const tamis_span *span, const char *what, tamis_error *err)
{
    if (!span->least || !span->most) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", what);
    if (tmi_number_compare(span->least, span->most) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: the lower end must not be above the upper end", what);
    return TAMIS_OK;
}

static tamis_status check_count(int64_t count, int64_t least, const char *what, tamis_error *err)
{
    if (count >= least && count <= MOST) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: must be a whole number from %lld to 2^40", what, (long long)least);
}

static int uses_population(tamis_estimator e) { return e == TAMIS_HT_MEAN || e == TAMIS_HAJEK_TOTAL; }

static int is_hajek(tamis_estimator e) { return e == TAMIS_HAJEK_MEAN || e == TAMIS_HAJEK_TOTAL; }

static tamis_status check(const tamis_setting *setting, tamis_estimator estimator, const tamis_contribution *c, tamis_error *err)
{
    static const char *const names[] = {"weights[nothing]", "weights[population]", "weights[frame]", "weights[sample]"};
    tamis_status status;
    if (!setting) return tmi_fail(err, TAMIS_INVALID, "setting: NULL");
    if (!c) return tmi_fail(err, TAMIS_INVALID, "contribution: NULL");
    if ((unsigned)estimator > TAMIS_HAJEK_TOTAL) return tmi_fail(err, TAMIS_INVALID, "estimator: unknown");
    TMI_TRY(check_span(&c->values, "values", err));
    for (size_t i = 0; i <= TAMIS_SAMPLE; i++) {
        const tamis_span *w = &c->weights[i];
        if (!w->least && !w->most) continue;
        TMI_TRY(check_span(w, names[i], err));
        int sign = tmi_number_sign(w->least);
        if (sign < 0 || (sign == 0 && is_hajek(estimator)))
            return tmi_fail(err, TAMIS_INVALID, "%s: must be %s", names[i], sign < 0 ? "at least 0" : "above 0 for a Hajek mean");
    }
    TMI_TRY(check_count(c->units, 0, "units", err));
    TMI_TRY(check_count(c->rows_per_unit, 1, "rows_per_unit", err));
    TMI_TRY(check_count(c->cells, 1, "cells", err));
    if (uses_population(estimator)) {
        if (!c->population) return tmi_fail(err, TAMIS_INVALID, "population: NULL");
        if (tmi_number_sign(c->population) <= 0) return tmi_fail(err, TAMIS_INVALID, "population: must be above 0");
    }
    if (c->design_protected) TMI_TRY(tamis_setting_protects_design(setting, err));

done:
    return status;
}

/* The weights that count as possible: those of what is given, of the frame where its design is public; what is not
 * known is taken from the phase before. */
static tamis_status possible_weights(tamis_span *w, const tamis_setting *setting, const tamis_contribution *c, tamis_error *err)
{
    int level = (int)setting->given;
    if (level < TAMIS_FRAME && !c->design_protected) level = TAMIS_FRAME;
    while (level > TAMIS_NOTHING && !c->weights[level].least) level--;
    *w = c->weights[level];
    if (w->least) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "the weights have no bound that `%s` may use, so no noise is enough; declare a largest weight%s",
                    setting->name,
                    setting->given < TAMIS_FRAME ? ", or choose {given: frame}, where the weights of the frame are public" : "");
}

static int weights_move(const tamis_contribution *c, const tamis_span *w)
{
    return c->design_protected && tmi_number_compare(w->least, w->most) < 0;
}

/* ---- Horvitz-Thompson ---- */

typedef struct reach {
    tmi_term same;  /* largest change of one cell, the unit staying in it */
    tmi_term size;  /* m: largest that a unit adds to one cell, in size */
    tmi_term moved; /* what all other units together can add by their weights */
} reach;

static tmi_term with_zero(tmi_exact *e, tmi_term x, int side) { return x && tmi_number_sign(x) * side < 0 ? tmi_int(e, 0) : x; }

/* The end of the sums of 1 to K rows: side 1 the upper one of upper values, side -1 the lower one of lower values. */
static tmi_term end_of_sum(tmi_exact *e, tmi_term x, tmi_term K, int side)
{
    return x && tmi_number_sign(x) * side > 0 ? tmi_mul(e, K, x) : x;
}

static reach reach_of(tmi_exact *e, const tamis_setting *s, const tamis_contribution *c, const tamis_span *w)
{
    tmi_term K = tmi_int(e, c->rows_per_unit);
    tmi_term largest = tmi_larger(tmi_abs(e, c->values.least), tmi_abs(e, c->values.most));
    tmi_term high = end_of_sum(e, c->values.most, K, 1), low = end_of_sum(e, c->values.least, K, -1);
    if (c->left_out || s->may_be_absent) {
        high = with_zero(e, high, 1);
        low = with_zero(e, low, -1);
    }
    reach r = {.size = tmi_mul(e, tmi_mul(e, K, w->most), largest), .moved = tmi_int(e, 0)};
    if (s->given == TAMIS_SAMPLE) { /* the unit stays, and so does its weight */
        r.same = tmi_mul(e, w->most, tmi_sub(e, high, low));
    } else {
        high = tmi_mul(e, high && tmi_number_sign(high) >= 0 ? w->most : w->least, high);
        low = tmi_mul(e, low && tmi_number_sign(low) <= 0 ? w->most : w->least, low);
        r.same = tmi_sub(e, high, low);
    }
    if (weights_move(c, w)) {
        tmi_term others = tmi_mul(e, tmi_int(e, c->units - 1), K);
        r.moved = tmi_mul(e, tmi_mul(e, others, largest), tmi_sub(e, w->most, w->least));
    }
    return r;
}

static tmi_term square(tmi_exact *e, tmi_term x) { return tmi_mul(e, x, x); }

typedef struct distances {
    tmi_term l1, l2_squared, largest;
} distances;

static distances total_of(tmi_exact *e, const tamis_setting *s, const tamis_contribution *c, const tamis_span *w)
{
    reach r = reach_of(e, s, c, w);
    if (c->add_remove) { /* one cell changes, by c */
        tmi_term all = tmi_add(e, r.size, r.moved);
        return (distances){all, square(e, all), all};
    }
    tmi_term here = tmi_add(e, r.same, r.moved);
    if (c->cells == 1) return (distances){here, square(e, here), here};
    tmi_term there = tmi_add(e, r.size, r.moved); /* enters one cell, where the others are, leaves another */
    return (distances){.l1 = tmi_larger(here, tmi_add(e, there, r.size)),
                       .l2_squared = tmi_larger(square(e, here), tmi_add(e, square(e, there), square(e, r.size))),
                       .largest = tmi_larger(here, there)};
}

/* ---- Hajek ----
 *
 * The share p = W / (A + W) of a unit's weight W, at most K w1, in all weights, A of the others being at least (n-1) w0. A
 * replaced record changes the mean by p (x - mu) - p' (x' - mu), mu the mean of the others: linear in each of the five, so at
 * most p (b - a) with the largest p, attained at x = b, x' = a. If records may be left out, all others may be, and p = 1.
 *
 * If weights may move (one cell, one row a unit): k other records have b, with w1 before and w0 after, the rest a, the other
 * way round; no values and weights give more, since the mean grows with the weights of the large ones. The change
 *
 *     g(k) = (k+1) w1 / ((k+1) w1 + (n-1-k) w0) - k w0 / (k w0 + (n-k) w1)     times (b - a)
 *
 * is concave in k, and its largest value is found by bisection.                                                     */

static tmi_term moved_share(tmi_exact *e, const tamis_span *w, int64_t n, int64_t k)
{
    tmi_term before = tmi_mul(e, tmi_int(e, k + 1), w->most);
    tmi_term after = tmi_mul(e, tmi_int(e, k), w->least);
    tmi_term all_before = tmi_add(e, before, tmi_mul(e, tmi_int(e, n - 1 - k), w->least));
    tmi_term all_after = tmi_add(e, after, tmi_mul(e, tmi_int(e, n - k), w->most));
    return tmi_sub(e, tmi_div(e, before, all_before), tmi_div(e, after, all_after));
}

static tmi_term most_moved(tmi_exact *e, const tamis_span *w, int64_t n)
{
    int64_t low = 0, high = n - 1; /* the first k with g(k+1) <= g(k) */
    while (low < high) {
        int64_t k = low + (high - low) / 2;
        tmi_term here = moved_share(e, w, n, k), next = moved_share(e, w, n, k + 1);
        if (!here || !next) return NULL;
        if (tmi_number_compare(next, here) <= 0) high = k;
        else low = k + 1;
    }
    return moved_share(e, w, n, low);
}

static tmi_term largest_share(tmi_exact *e, const tamis_setting *s, const tamis_contribution *c, const tamis_span *w)
{
    if (c->left_out || s->may_be_absent || c->add_remove || c->units == 0) return tmi_int(e, 1);
    tmi_term own = tmi_mul(e, tmi_int(e, c->rows_per_unit), w->most);
    tmi_term others = tmi_mul(e, tmi_int(e, c->units - 1), w->least);
    return tmi_div(e, own, tmi_add(e, own, others));
}

static distances hajek_of(tmi_exact *e, const tamis_setting *s, const tamis_contribution *c, const tamis_span *w)
{
    tmi_term p = largest_share(e, s, c, w), range = tmi_sub(e, c->values.most, c->values.least);
    if (weights_move(c, w) && p && tmi_number_compare_int(p, 1) < 0) {
        int simple = c->cells == 1 && c->rows_per_unit == 1;
        p = simple ? most_moved(e, w, c->units) : tmi_int(e, 1);
    }
    tmi_term here = tmi_mul(e, p, range);
    if (c->cells == 1) return (distances){here, square(e, here), here};
    tmi_term there = tmi_mul(e, p, tmi_larger(tmi_abs(e, c->values.least), tmi_abs(e, c->values.most)));
    return (distances){.l1 = tmi_add(e, there, there),
                       .l2_squared = tmi_larger(square(e, here), tmi_mul(e, tmi_int(e, 2), square(e, there))),
                       .largest = tmi_larger(here, there)};
}

/* ---- together ---- */

static tamis_status give(tamis_sensitivity *z, tmi_exact *e, const distances *d)
{
    tamis_status status;
    TMI_TRY(tmi_exact_copy(&z->l1, e, d->l1));
    TMI_TRY(tmi_exact_copy(&z->l2_squared, e, d->l2_squared));
    TMI_TRY(tmi_exact_copy(&z->largest, e, d->largest));

done:
    if (status != TAMIS_OK) tamis_sensitivity_clear(z);
    return status;
}

/* Weights that may move need a number of units; one that is not public may be anything. */
static tamis_status check_movement(const tamis_setting *s, const tamis_contribution *c, const tamis_span *w, tamis_error *err)
{
    if (!weights_move(c, w) || c->units > 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "one record may change the weights of all others, and nothing bounds how many there are; nearest setting "
                    "that works: {protect: %s, given: frame}, or declare the sample size",
                    s->protect < TAMIS_SAMPLE ? "sample" : tamis_level_name(s->protect));
}

tamis_status tamis_sensitivity_of(tamis_sensitivity *z, const tamis_setting *setting, tamis_estimator estimator,
                                  const tamis_contribution *c, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_span w;
    tamis_status status;
    if (!z) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    *z = (tamis_sensitivity){0};
    TMI_TRY(check(setting, estimator, c, err));
    TMI_TRY(possible_weights(&w, setting, c, err));
    if (!is_hajek(estimator)) TMI_TRY(check_movement(setting, c, &w, err)); /* a mean stays within its range */
    distances d = is_hajek(estimator) ? hajek_of(&e, setting, c, &w) : total_of(&e, setting, c, &w);
    if (uses_population(estimator)) {
        tmi_term by = estimator == TAMIS_HT_MEAN ? tmi_div(&e, tmi_int(&e, 1), c->population) : c->population;
        d.l1 = tmi_mul(&e, d.l1, by);
        d.l2_squared = tmi_mul(&e, d.l2_squared, square(&e, by));
        d.largest = tmi_mul(&e, d.largest, by);
    }
    status = give(z, &e, &d);

done:
    tmi_exact_clear(&e);
    return status;
}

/* ---- strata ---- */

/* The narrowest span that holds both; none, where one of them is none. */
static void widen(tamis_span *span, const tamis_span *other)
{
    span->least = tmi_smaller(span->least, other->least);
    span->most = tmi_larger(span->most, other->most);
}

static void keep_larger(tamis_number **x, tamis_number **y)
{
    if (*x && tmi_number_compare(*x, *y) >= 0) return;
    tamis_number *smaller = *x;
    *x = *y;
    *y = smaller;
}

static int agree(const tamis_contribution *x, const tamis_contribution *y)
{
    return x->cells == y->cells && x->rows_per_unit == y->rows_per_unit && !x->left_out == !y->left_out &&
           !x->add_remove == !y->add_remove && !x->design_protected == !y->design_protected;
}

tamis_status tamis_sensitivity_of_strata(tamis_sensitivity *z, const tamis_setting *setting, const tamis_contribution *strata,
                                         size_t count, tamis_error *err)
{
    tamis_status status;
    tamis_sensitivity one = {0};
    if (!z) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    *z = (tamis_sensitivity){0};
    if (!strata || count == 0) return tmi_fail(err, TAMIS_INVALID, "strata: must be at least one");
    tamis_contribution all = strata[0];
    int unknown = 0;
    for (size_t h = 0; h < count; h++) {
        TMI_TRY(check(setting, TAMIS_HT_TOTAL, &strata[h], err));
        if (!agree(&strata[0], &strata[h]))
            return tmi_fail(err, TAMIS_INVALID, "strata: they must agree in cells, rows and flags");
        unknown = unknown || strata[h].units == 0;
        if (h == 0) continue;
        widen(&all.values, &strata[h].values);
        for (size_t i = 0; i <= TAMIS_SAMPLE; i++) widen(&all.weights[i], &strata[h].weights[i]);
        if (strata[h].units > MOST - all.units) return tmi_fail(err, TAMIS_INVALID, "units: more than 2^40 in all");
        all.units += strata[h].units;
    }
    if (unknown) all.units = 0;
    if (all.design_protected) return tamis_sensitivity_of(z, setting, TAMIS_HT_TOTAL, &all, err);
    for (size_t h = 0; h < count; h++) {
        TMI_TRY(tamis_sensitivity_of(&one, setting, TAMIS_HT_TOTAL, &strata[h], err));
        keep_larger(&z->l1, &one.l1);
        keep_larger(&z->l2_squared, &one.l2_squared);
        keep_larger(&z->largest, &one.largest);
        tamis_sensitivity_clear(&one);
    }

done:
    if (status != TAMIS_OK) tamis_sensitivity_clear(z);
    return status;
}
