#include "strategy/search.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "strategy/local_search.h"

#define SOME_ROUNDS 12 /* rounds in which the parts of a start are improved */
#define MANY_ROUNDS 60
#define FEW_NUMBERS 16    /* starts with joined tables allow them this many numbers at first */
#define MANY_NUMBERS 1024 /* and this many at last */
#define SMALL 1e-3        /* a start, or a strategy without a table, may be worse by this, relative to the sum of the shares */
#define NEGLIGIBLE 0.002  /* a table with a smaller part of the budget may be left out */

void tmi_found_tables_clear(tmi_found_tables *f)
{
    for (size_t i = 0; i < f->pool_count; i++) {
        tmi_table_information_clear(&f->pool[i]->information);
        tmi_free(f->pool[i]);
    }
    tmi_free(f->pool);
    tmi_free(f->index);
    tmi_free(f->best.tables);
    tmi_free(f->best.parts);
    *f = (tmi_found_tables){0};
}

/* ---- starts ---- */

static tmi_marginal single_of(const tmi_local_search *w, const tmi_marginal *marginal, tmi_table_form form)
{
    tmi_marginal single = *marginal;
    single.form = tmi_local_search_is_single(w, marginal) ? form : TMI_FULL;
    return single;
}

/* A set of bits, one for each axis; axes far apart share a bit. A table is not within another one that lacks one of its bits. */
static uint64_t bits_of(const tmi_marginal *marginal)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < marginal->axis_count; i++) bits |= UINT64_C(1) << marginal->axes[i] % 64;
    return bits;
}

/* Finds out, once for all starts, which needed marginals are within no other one. */
static tamis_status find_largest(tmi_local_search *w, tamis_error *err)
{
    uint64_t *bits = tmi_alloc(w->needed_count, sizeof *bits);
    w->is_largest = tmi_alloc(w->needed_count, sizeof *w->is_largest);
    if (!bits || !w->is_largest) {
        tmi_free(bits);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < w->needed_count; i++) bits[i] = bits_of(&w->needed[i]);
    for (size_t i = 0; i < w->needed_count; i++) {
        w->is_largest[i] = true;
        for (size_t j = 0; j < w->needed_count && w->is_largest[i]; j++)
            w->is_largest[i] = j == i || (bits[i] & ~bits[j]) != 0 || !tmi_marginal_is_within(&w->needed[i], &w->needed[j]);
    }
    tmi_free(bits);
    return TAMIS_OK;
}

/* Starts from every needed marginal, or from the largest alone; numbers by themselves are measured in this form. */
static tamis_status start(tmi_local_search *w, bool largest, tmi_table_form form, tamis_error *err)
{
    w->trial.count = 0;
    for (size_t i = 0; i < w->needed_count; i++) {
        const tmi_marginal marginal = single_of(w, &w->needed[i], form);
        if (largest && !w->is_largest[i]) continue;
        const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
        if (!c) return TAMIS_SYSTEM;
        if (!tmi_local_search_add(w, c, 1)) w->trial.count = 0;
    }
    return TAMIS_OK;
}

/* Starts from every needed marginal in every form: under Gaussian noise tables that are not needed lose their parts. */
static tamis_status start_with_all(tmi_local_search *w, tamis_error *err)
{
    tamis_status status = start(w, false, TMI_FULL, err);
    for (size_t i = 0; i < w->needed_count && status == TAMIS_OK && w->trial.count > 0; i++) {
        for (tmi_table_form form = TMI_RAW; form <= TMI_CENTRED; form++) {
            const tmi_marginal marginal = single_of(w, &w->needed[i], form);
            if (marginal.form == TMI_FULL) break;
            const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
            if (!c) return TAMIS_SYSTEM;
            if (!tmi_local_search_add(w, c, 1)) break;
        }
    }
    for (size_t i = 0; i < w->search->gram_count && status == TAMIS_OK && w->trial.count > 0; i++) {
        const tmi_marginal marginal = tmi_local_search_gram(w, i);
        const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
        if (!c) return TAMIS_SYSTEM;
        if (!tmi_local_search_add(w, c, 1)) break;
    }
    return status;
}

static bool is_in_a_gram(const tmi_local_search *w, const tmi_marginal *marginal)
{
    bool within = false;
    for (size_t i = 0; i < w->search->gram_count; i++) {
        const tmi_marginal gram = tmi_local_search_gram(w, i);
        within = within || tmi_marginal_is_within(marginal, &gram);
    }
    return within;
}

/* Starts from the tables of products, and from the largest needed marginals that are not read from them. */
static tamis_status start_with_grams(tmi_local_search *w, tamis_error *err)
{
    const size_t grams = w->search->gram_count;
    w->trial.count = 0;
    for (size_t i = 0; grams > 0 && i < grams + w->needed_count; i++) {
        if (i >= grams && (!w->is_largest[i - grams] || is_in_a_gram(w, &w->needed[i - grams]))) continue;
        const tmi_marginal marginal = i < grams ? tmi_local_search_gram(w, i) : single_of(w, &w->needed[i - grams], TMI_CENTRED);
        const tmi_candidate *c = tmi_local_search_candidate(w, &marginal, err);
        if (!c) return TAMIS_SYSTEM;
        if (!tmi_local_search_add(w, c, 1)) {
            w->trial.count = 0;
            break;
        }
    }
    return TAMIS_OK;
}

/* Starts from the largest needed marginals, joined one after the other as long as a table has at most this many numbers per
 * copy. */
static tamis_status start_joined(tmi_local_search *w, double most, tamis_error *err)
{
    size_t tables = 0;
    tmi_marginal *marginals = tmi_alloc(w->needed_count, sizeof *marginals);
    tamis_status status = TAMIS_OK;
    if (!marginals) return tmi_fail_memory(err);
    for (size_t i = 0; i < w->needed_count; i++) {
        const tmi_marginal *needed_marginal = &w->needed[i];
        size_t k = 0;
        tmi_marginal joined = *needed_marginal;
        if (!w->is_largest[i]) continue;
        for (; k < tables; k++) {
            const bool same = marginals[k].weighting == needed_marginal->weighting &&
                              marginals[k].domain == needed_marginal->domain;
            if (same && tmi_local_search_join(&joined, w, &marginals[k], needed_marginal) &&
                tmi_local_search_numbers(w, &joined) <= most * w->search->copies[needed_marginal->weighting])
                break;
        }
        marginals[k] = k < tables ? joined : *needed_marginal;
        tables += k == tables;
    }
    w->trial.count = 0;
    for (size_t k = 0; k < tables; k++) {
        const tmi_candidate *c = tmi_local_search_candidate(w, &marginals[k], err);
        if (!c) TMI_TRY(TAMIS_SYSTEM);
        if (!tmi_local_search_add(w, c, 1)) w->trial.count = 0;
    }

done:
    tmi_free(marginals);
    return status;
}

static void keep_if_better(tmi_local_search *w, double objective)
{
    if (!(objective < w->found->objective) && w->now.count > 0) return;
    w->found->objective = objective;
    tmi_strategy_copy(&w->now, &w->trial);
}

static tamis_status try_start(tmi_local_search *w, bool largest, tmi_table_form form, tamis_error *err)
{
    const bool all = w->search->problem.gaussian && !largest && form == TMI_FULL;
    tamis_status status = all ? start_with_all(w, err) : start(w, largest, form, err);
    if (status != TAMIS_OK || w->trial.count == 0) return status;
    tmi_strategy_scale(&w->trial);
    keep_if_better(w, tmi_local_search_improve(w, &w->trial, all ? 5 * MANY_ROUNDS : SOME_ROUNDS));
    return TAMIS_OK;
}

static tamis_status begin(tmi_local_search *w, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(find_largest(w, err));
    for (double most = FEW_NUMBERS; most <= MANY_NUMBERS && !w->search->problem.gaussian; most *= 4) {
        TMI_TRY(start_joined(w, most, err));
        if (w->trial.count == 0) continue;
        tmi_strategy_scale(&w->trial);
        keep_if_better(w, tmi_local_search_improve(w, &w->trial, SOME_ROUNDS));
    }
    TMI_TRY(start_with_grams(w, err));
    if (w->trial.count > 0) {
        tmi_strategy_scale(&w->trial);
        keep_if_better(w, tmi_local_search_improve(w, &w->trial, SOME_ROUNDS));
    }
    for (int largest = 0; largest < 2; largest++) {
        TMI_TRY(try_start(w, largest, TMI_CENTRED, err));
        TMI_TRY(try_start(w, largest, TMI_RAW, err));
        TMI_TRY(try_start(w, largest, TMI_FULL, err));
    }
    if (w->now.count == 0 && w->needed_count > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "statistics: together they need more than %.0f integers (per group one for a count, up to four for a "
                         "number, nine for two; times the strata): use fewer `by` columns or values",
                         w->search->most_numbers));
    w->found->objective = tmi_local_search_improve(w, &w->now, MANY_ROUNDS);

done:
    return status;
}

/* ---- the end ---- */

/* Leaves out tables with hardly any budget, unless the objective would become worse. */
static void prune(tmi_local_search *w)
{
    for (size_t k = w->now.count; k-- > 0 && w->now.count > 1;) {
        if (w->now.parts[k] > NEGLIGIBLE) continue;
        tmi_strategy_copy(&w->trial, &w->now);
        tmi_strategy_drop(&w->trial, k);
        tmi_strategy_scale(&w->trial);
        const double objective = tmi_budget_objective(&w->search->problem, &w->trial);
        if (!(objective < w->found->objective + SMALL * w->shares)) continue;
        w->found->objective = objective;
        tmi_strategy_copy(&w->now, &w->trial);
    }
}

static tamis_status go_on(tmi_local_search *w, tamis_error *err)
{
    const tmi_problem *p = &w->search->problem;
    tmi_found_tables *f = w->found;
    tamis_status status = TAMIS_OK;
    if (w->now.count == 0) return TAMIS_OK;
    TMI_TRY(tmi_local_search_change(w, err));
    prune(w);
    f->objective = tmi_local_search_improve(w, &w->now, MANY_ROUNDS);
    tmi_strategy_copy(&f->best, &w->now);
    if (p->gaussian) f->gap = tmi_budget_gap(&w->search->problem, &f->best, (const tmi_candidate *const *)f->pool, f->pool_count);

done:
    return status;
}

tamis_status tmi_search_run(tmi_found_tables *f, tmi_search *search, const tmi_marginal *needed, size_t needed_count,
                            tamis_error *err)
{
    tmi_local_search w;
    tamis_status status;
    *f = (tmi_found_tables){.objective = INFINITY, .gap = NAN};
    TMI_TRY(tmi_local_search_make(&w, f, search, needed, needed_count, err));
    for (size_t i = 0; i < needed_count; i++) TMI_TRY(tmi_effects_take_marginal(search->problem.effects, &needed[i], err));
    for (size_t i = 0; i < search->gram_count; i++)
        TMI_TRY(tmi_effects_take_marginal(search->problem.effects, &search->grams[i], err));
    f->best.tables = tmi_alloc(w.room, sizeof *f->best.tables);
    f->best.parts = tmi_alloc(w.room, sizeof *f->best.parts);
    if (!f->best.tables || !f->best.parts) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(begin(&w, err));
    TMI_TRY(go_on(&w, err));

done:
    tmi_local_search_clear(&w);
    if (status != TAMIS_OK) tmi_found_tables_clear(f);
    return status;
}

tamis_status tmi_search_resume(tmi_found_tables *f, tmi_search *search, const tmi_marginal *needed, size_t needed_count,
                               tamis_error *err)
{
    tmi_local_search w;
    tamis_status status;
    TMI_TRY(tmi_local_search_make(&w, f, search, needed, needed_count, err));
    tmi_strategy_copy(&w.now, &f->best);
    f->objective = tmi_local_search_improve(&w, &w.now, SOME_ROUNDS);
    TMI_TRY(go_on(&w, err));

done:
    tmi_local_search_clear(&w);
    return status;
}

tamis_status tmi_search_put(bool *put, tmi_found_tables *f, tmi_search *search, const tmi_marginal *marginals,
                            const double *parts, size_t count, double much, tamis_error *err)
{
    tmi_local_search w;
    tamis_status status;
    *put = false;
    TMI_TRY(tmi_local_search_make(&w, f, search, marginals, count, err));
    w.trial.count = 0;
    for (size_t k = 0; k < f->best.count && much < 1; k++)
        if (!tmi_local_search_add(&w, f->best.tables[k], (1 - much) * f->best.parts[k])) goto done;
    for (size_t k = 0; k < count; k++) {
        const tmi_candidate *c = tmi_local_search_candidate(&w, &marginals[k], err);
        if (!c) TMI_TRY(TAMIS_SYSTEM);
        if (!tmi_local_search_add(&w, c, much * parts[k])) goto done;
    }
    tmi_strategy_copy(&f->best, &w.trial);
    *put = true;

done:
    tmi_local_search_clear(&w);
    return status;
}
