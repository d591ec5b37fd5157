/* What may change in a list of tables: a number by itself is measured in another form, two tables become one, a table gives up an
 * axis, goes, or is added. A change is looked at for a few rounds first, and for more if it is not far behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "strategy/local_search.h"

#define FEW_ROUNDS 2        /* rounds after which a change is given up if it is too far behind */
#define MORE_ROUNDS 6       /* rounds that decide whether it is kept */
#define WORTH 2e-4          /* what a change must gain, relative to the sum of the shares */
#define HOPE 1e-3           /* how far behind it may be after a few rounds, relative to the same sum */
#define LARGEST_JOINED 4096 /* a table that is not a needed marginal has at most so many numbers */

/* Keeps the trial if it gains enough; returns whether it was kept. */
static bool take_if_better(tmi_local_search *w)
{
    if (w->trial.count == 0) return false;
    tmi_strategy_scale(&w->trial);
    double objective = tmi_local_search_improve(w, &w->trial, FEW_ROUNDS);
    if (!(objective < w->found->objective + HOPE * w->shares)) return false;
    objective = tmi_local_search_improve(w, &w->trial, MORE_ROUNDS);
    if (!(objective < w->found->objective - WORTH * w->shares)) return false;
    w->found->objective = objective;
    tmi_strategy_copy(&w->now, &w->trial);
    return true;
}

static void start_over(tmi_local_search *w) { tmi_strategy_copy(&w->trial, &w->now); }

/* Whether every needed marginal is within some table of the list, of which one may be replaced. Otherwise some target is not
 * determined, and the change need not be tried. */
static bool covers(const tmi_local_search *w, size_t left_out, const tmi_marginal *instead)
{
    const tmi_marginal *old = &w->now.tables[left_out]->marginal;
    for (size_t i = 0; i < w->needed_count; i++) {
        const tmi_marginal *needed_marginal = &w->needed[i];
        if (!tmi_marginal_is_within(needed_marginal, old) || (instead && tmi_marginal_is_within(needed_marginal, instead)))
            continue;
        /* Numbers by themselves and public counts may serve these. */
        bool found = needed_marginal->axis_count == 0 || tmi_local_search_is_single(w, needed_marginal);
        for (size_t k = 0; k < w->now.count && !found; k++)
            found = k != left_out && tmi_marginal_is_within(needed_marginal, &w->now.tables[k]->marginal);
        if (!found) return false;
    }
    return true;
}

static bool try_drops(tmi_local_search *w)
{
    bool changed = false;
    for (size_t k = w->now.count; k-- > 0 && w->now.count > 1 && tmi_local_search_goes_on(w);) {
        if (!covers(w, k, NULL)) continue;
        start_over(w);
        tmi_strategy_drop(&w->trial, k);
        changed = take_if_better(w) || changed;
    }
    return changed;
}

static tamis_status try_forms(bool *changed, tmi_local_search *w, tamis_error *err)
{
    for (size_t k = 0; k < w->now.count && tmi_local_search_goes_on(w); k++) {
        const tmi_marginal marginal = w->now.tables[k]->marginal;
        if (!tmi_local_search_is_single(w, &marginal)) continue;
        for (tmi_table_form form = TMI_FULL; form <= TMI_CENTRED; form++) {
            tmi_marginal other = marginal;
            other.form = form;
            const tmi_candidate *c = tmi_local_search_candidate(w, &other, err);
            if (!c) return TAMIS_SYSTEM;
            if (tmi_strategy_has(&w->now, c) || k >= w->now.count) continue;
            start_over(w);
            w->trial.tables[k] = c;
            *changed = take_if_better(w) || *changed;
        }
    }
    return TAMIS_OK;
}

static tamis_status try_supports(bool *changed, tmi_local_search *w, tamis_error *err)
{
    for (size_t i = 0; i < w->needed_count && tmi_local_search_goes_on(w); i++) {
        const bool single = tmi_local_search_is_single(w, &w->needed[i]);
        for (tmi_table_form form = TMI_FULL; form <= (single ? TMI_CENTRED : TMI_FULL); form++) {
            tmi_marginal marginal = w->needed[i];
            marginal.form = form;
            const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
            if (!c) return TAMIS_SYSTEM;
            if (tmi_strategy_has(&w->now, c)) continue;
            start_over(w);
            if (tmi_local_search_add(w, c, fmin(0.15, 1 / (double)w->now.count))) *changed = take_if_better(w) || *changed;
        }
    }
    return TAMIS_OK;
}

/* A table of products instead of all tables that are read from it. */
static tamis_status try_grams(bool *changed, tmi_local_search *w, tamis_error *err)
{
    for (size_t i = 0; i < w->search->gram_count && tmi_local_search_goes_on(w); i++) {
        const tmi_marginal marginal = tmi_local_search_gram(w, i);
        const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
        double part = 0;
        if (!c) return TAMIS_SYSTEM;
        if (tmi_strategy_has(&w->now, c)) continue;
        start_over(w);
        for (size_t k = w->trial.count; k-- > 0;) {
            if (!tmi_marginal_is_within(&w->trial.tables[k]->marginal, &marginal)) continue;
            part += w->trial.parts[k];
            tmi_strategy_drop(&w->trial, k);
        }
        if (part > 0 && tmi_local_search_add(w, c, part)) *changed = take_if_better(w) || *changed;
    }
    return TAMIS_OK;
}

/* ---- joins ---- */

typedef struct pair {
    const tmi_candidate *a, *b;
    double promise;
    size_t place; /* of the pair in the list: it decides between equal promises */
} pair;

/* What joining two tables promises: their parts are added up, and the axes of the other one divide what a table says. To first
 * order in the logarithm of its precision, the objective loses half of what the table gains per part of its own. */
static double promise_of(const tmi_local_search *w, size_t j, size_t k, const tmi_marginal *joined)
{
    const tmi_strategy *s = &w->now;
    const double whole = s->parts[j] + s->parts[k], numbers = tmi_local_search_numbers(w, joined);
    const double a = 2 * log(whole / s->parts[j]) - log(numbers / s->tables[j]->numbers);
    const double b = 2 * log(whole / s->parts[k]) - log(numbers / s->tables[k]->numbers);
    return w->gains[j] * a + w->gains[k] * b;
}

static int by_promise(const void *left, const void *right)
{
    const pair *p = left, *q = right;
    if (p->promise != q->promise) return p->promise < q->promise ? 1 : -1;
    return (p->place > q->place) - (p->place < q->place);
}

static size_t place_of(const tmi_strategy *s, const tmi_candidate *c)
{
    size_t k = 0;
    while (k < s->count && s->tables[k] != c) k++;
    return k;
}

/* Finds the most promising partner of every table. */
static size_t find_pairs(pair *pairs, tmi_local_search *w)
{
    size_t count = 0;
    tmi_budget_gains(&w->search->problem, &w->now, w->gains);
    w->found->work += 2 * w->per_look;
    for (size_t j = 0; j < w->now.count; j++) {
        pair best = {.promise = -INFINITY};
        for (size_t k = 0; k < w->now.count; k++) {
            const tmi_marginal *a = &w->now.tables[j]->marginal, *b = &w->now.tables[k]->marginal;
            tmi_marginal joined;
            if (j == k || a->weighting != b->weighting || a->domain != b->domain || tmi_is_gram(a->form) ||
                tmi_is_gram(b->form) || !tmi_local_search_join(&joined, w, a, b))
                continue;
            if (tmi_local_search_numbers(w, &joined) > LARGEST_JOINED * w->search->copies[a->weighting]) continue;
            const double promise = promise_of(w, j, k, &joined);
            if (promise > best.promise) best = (pair){w->now.tables[j], w->now.tables[k], promise, j};
        }
        if (best.a) pairs[count++] = best;
    }
    w->found->work += 10 * (double)(w->now.count * w->now.count);
    qsort(pairs, count, sizeof *pairs, by_promise);
    return count;
}

/* Two tables become one that has all of their axes: the most promising pairs first. */
static tamis_status try_joins(bool *changed, tmi_local_search *w, pair *pairs, tamis_error *err)
{
    const size_t count = find_pairs(pairs, w);
    for (size_t i = 0; i < count && tmi_local_search_goes_on(w); i++) {
        const size_t j = place_of(&w->now, pairs[i].a), k = place_of(&w->now, pairs[i].b);
        tmi_marginal joined;
        if (j == w->now.count || k == w->now.count) continue;
        if (!tmi_local_search_join(&joined, w, &pairs[i].a->marginal, &pairs[i].b->marginal)) continue;
        const tmi_candidate *c = tmi_local_search_candidate(w, &joined, err);
        if (!c) return TAMIS_SYSTEM;
        start_over(w);
        const double part = w->trial.parts[j] + w->trial.parts[k];
        tmi_strategy_drop(&w->trial, j > k ? j : k);
        tmi_strategy_drop(&w->trial, j > k ? k : j);
        if (tmi_local_search_add(w, c, part)) *changed = take_if_better(w) || *changed;
    }
    return TAMIS_OK;
}

/* A table with several axes gives one of them up. */
static tamis_status try_splits(bool *changed, tmi_local_search *w, tamis_error *err)
{
    for (size_t k = 0; k < w->now.count; k++) {
        for (size_t a = 0; k < w->now.count && a < w->now.tables[k]->marginal.axis_count && tmi_local_search_goes_on(w); a++) {
            tmi_marginal rest = w->now.tables[k]->marginal;
            if (rest.axis_count < 2 || tmi_is_gram(rest.form)) break;
            rest.axis_count--;
            memmove(rest.axes + a, rest.axes + a + 1, (rest.axis_count - a) * sizeof *rest.axes);
            if (!covers(w, k, &rest)) continue;
            const tmi_candidate *c = tmi_local_search_candidate(w, &rest, err);
            if (!c) return TAMIS_SYSTEM;
            start_over(w);
            const double part = w->trial.parts[k];
            tmi_strategy_drop(&w->trial, k);
            if (tmi_local_search_add(w, c, part)) *changed = take_if_better(w) || *changed;
        }
    }
    return TAMIS_OK;
}

tamis_status tmi_local_search_change(tmi_local_search *w, tamis_error *err)
{
    pair *pairs = tmi_alloc(w->room, sizeof *pairs);
    tamis_status status = TAMIS_OK;
    if (!pairs) return tmi_fail_memory(err);
    for (bool changed = true; changed && tmi_local_search_goes_on(w);) {
        changed = false;
        TMI_TRY(tmi_watch_beat(w->search->watch, err));
        if (!w->search->problem.gaussian) TMI_TRY(try_joins(&changed, w, pairs, err));
        changed = try_drops(w) || changed;
        TMI_TRY(try_forms(&changed, w, err));
        if (!w->search->problem.gaussian) TMI_TRY(try_splits(&changed, w, err));
        TMI_TRY(try_supports(&changed, w, err));
        TMI_TRY(try_grams(&changed, w, err));
    }

done:
    tmi_free(pairs);
    return status;
}
