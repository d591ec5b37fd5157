#include "schedule/strategy/search.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "schedule/strategy/walk.h"

#define SOME_ROUNDS 12 /* of a start */
#define MANY_ROUNDS 60
#define FEW_NUMBERS 16    /* of joined tables: from these */
#define MANY_NUMBERS 1024 /* to those */
#define SMALL 1e-3        /* of the sum of the shares: a start or the loss of a table may be worse by this */
#define NEGLIGIBLE 0.002  /* part of a table that may be left out */

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

static tmi_shape single_of(const tmi_walk *w, const tmi_shape *shape, tmi_table_form form)
{
    tmi_shape single = *shape;
    single.form = tmi_walk_is_single(w, shape) ? form : TMI_FULL;
    return single;
}

/* A bit for each axis, or for each of those that share it: no table is within another one that lacks one of its bits. */
static uint64_t bits_of(const tmi_shape *shape)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < shape->axis_count; i++) bits |= UINT64_C(1) << shape->axes[i] % 64;
    return bits;
}

/* Which supports are within no other one: once for all starts. */
static tamis_status find_largest(tmi_walk *w, tamis_error *err)
{
    uint64_t *bits = tmi_alloc(w->support_count, sizeof *bits);
    w->is_largest = tmi_alloc(w->support_count, sizeof *w->is_largest);
    if (!bits || !w->is_largest) {
        tmi_free(bits);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < w->support_count; i++) bits[i] = bits_of(&w->supports[i]);
    for (size_t i = 0; i < w->support_count; i++) {
        w->is_largest[i] = true;
        for (size_t j = 0; j < w->support_count && w->is_largest[i]; j++)
            w->is_largest[i] = j == i || (bits[i] & ~bits[j]) != 0 || !tmi_shape_is_within(&w->supports[i], &w->supports[j]);
    }
    tmi_free(bits);
    return TAMIS_OK;
}

/* Every support (or the largest alone), numbers by themselves in this form. */
static tamis_status start(tmi_walk *w, bool largest, tmi_table_form form, tamis_error *err)
{
    w->trial.count = 0;
    for (size_t i = 0; i < w->support_count; i++) {
        const tmi_shape shape = single_of(w, &w->supports[i], form);
        if (largest && !w->is_largest[i]) continue;
        const tmi_candidate *c = tmi_walk_candidate(w, &shape, err);
        if (!c) return TAMIS_SYSTEM;
        if (!tmi_walk_add(w, c, 1)) w->trial.count = 0;
    }
    return TAMIS_OK;
}

/* Every support in every form: under Gaussian noise tables that are not needed lose their parts. */
static tamis_status start_with_all(tmi_walk *w, tamis_error *err)
{
    tamis_status status = start(w, false, TMI_FULL, err);
    for (size_t i = 0; i < w->support_count && status == TAMIS_OK && w->trial.count > 0; i++) {
        for (tmi_table_form form = TMI_RAW; form <= TMI_CENTRED; form++) {
            const tmi_shape shape = single_of(w, &w->supports[i], form);
            if (shape.form == TMI_FULL) break;
            const tmi_candidate *c = tmi_walk_candidate(w, &shape, err);
            if (!c) return TAMIS_SYSTEM;
            if (!tmi_walk_add(w, c, 1)) break;
        }
    }
    return status;
}

/* The largest supports joined one after the other, as long as a table has at most this many numbers per copy. */
static tamis_status start_joined(tmi_walk *w, double most, tamis_error *err)
{
    size_t tables = 0;
    tmi_shape *shapes = tmi_alloc(w->support_count, sizeof *shapes);
    tamis_status status = TAMIS_OK;
    if (!shapes) return tmi_fail_memory(err);
    for (size_t i = 0; i < w->support_count; i++) {
        const tmi_shape *support = &w->supports[i];
        size_t k = 0;
        tmi_shape joined = *support;
        if (!w->is_largest[i]) continue;
        for (; k < tables; k++) {
            const bool same = shapes[k].family == support->family && shapes[k].world == support->world;
            if (same && tmi_walk_join(&joined, w, &shapes[k], support) &&
                tmi_walk_numbers(w, &joined) <= most * w->search->copies[support->family])
                break;
        }
        shapes[k] = k < tables ? joined : *support;
        tables += k == tables;
    }
    w->trial.count = 0;
    for (size_t k = 0; k < tables; k++) {
        const tmi_candidate *c = tmi_walk_candidate(w, &shapes[k], err);
        if (!c) TMI_TRY(TAMIS_SYSTEM);
        if (!tmi_walk_add(w, c, 1)) w->trial.count = 0;
    }

done:
    tmi_free(shapes);
    return status;
}

static void keep_if_better(tmi_walk *w, double objective)
{
    if (!(objective < w->found->objective) && w->now.count > 0) return;
    w->found->objective = objective;
    tmi_strategy_copy(&w->now, &w->trial);
}

static tamis_status try_start(tmi_walk *w, bool largest, tmi_table_form form, tamis_error *err)
{
    const bool all = w->search->problem.gaussian && !largest && form == TMI_FULL;
    tamis_status status = all ? start_with_all(w, err) : start(w, largest, form, err);
    if (status != TAMIS_OK || w->trial.count == 0) return status;
    tmi_strategy_scale(&w->trial);
    keep_if_better(w, tmi_walk_improve(w, &w->trial, all ? 5 * MANY_ROUNDS : SOME_ROUNDS));
    return TAMIS_OK;
}

static tamis_status begin(tmi_walk *w, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(find_largest(w, err));
    for (double most = FEW_NUMBERS; most <= MANY_NUMBERS && !w->search->problem.gaussian; most *= 4) {
        TMI_TRY(start_joined(w, most, err));
        if (w->trial.count == 0) continue;
        tmi_strategy_scale(&w->trial);
        keep_if_better(w, tmi_walk_improve(w, &w->trial, SOME_ROUNDS));
    }
    for (int largest = 0; largest < 2; largest++) {
        TMI_TRY(try_start(w, largest, TMI_CENTRED, err));
        TMI_TRY(try_start(w, largest, TMI_RAW, err));
        TMI_TRY(try_start(w, largest, TMI_FULL, err));
    }
    if (w->now.count == 0 && w->support_count > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "statistics: together they need more than %.0f integers (per group one for a count, up to four for a "
                         "number, nine for two; times the strata): use fewer `by` columns or values",
                         w->search->most_numbers));
    w->found->objective = tmi_walk_improve(w, &w->now, MANY_ROUNDS);

done:
    return status;
}

/* ---- the end ---- */

/* Tables with hardly any budget: they go if nobody misses them. */
static void prune(tmi_walk *w)
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

static tamis_status go_on(tmi_walk *w, tamis_error *err)
{
    const tmi_problem *p = &w->search->problem;
    tmi_found_tables *f = w->found;
    tamis_status status = TAMIS_OK;
    if (w->now.count == 0) return TAMIS_OK;
    TMI_TRY(tmi_walk_change(w, err));
    prune(w);
    f->objective = tmi_walk_improve(w, &w->now, MANY_ROUNDS);
    tmi_strategy_copy(&f->best, &w->now);
    if (p->gaussian) f->gap = tmi_budget_gap(&w->search->problem, &f->best, (const tmi_candidate *const *)f->pool, f->pool_count);

done:
    return status;
}

tamis_status tmi_search_run(tmi_found_tables *f, tmi_search *search, const tmi_shape *supports, size_t support_count,
                            tamis_error *err)
{
    tmi_walk w;
    tamis_status status;
    *f = (tmi_found_tables){.objective = INFINITY, .gap = NAN};
    TMI_TRY(tmi_walk_make(&w, f, search, supports, support_count, err));
    for (size_t i = 0; i < support_count; i++) TMI_TRY(tmi_effects_take_shape(search->problem.effects, &supports[i], err));
    f->best.tables = tmi_alloc(w.room, sizeof *f->best.tables);
    f->best.parts = tmi_alloc(w.room, sizeof *f->best.parts);
    if (!f->best.tables || !f->best.parts) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(begin(&w, err));
    TMI_TRY(go_on(&w, err));

done:
    tmi_walk_clear(&w);
    if (status != TAMIS_OK) tmi_found_tables_clear(f);
    return status;
}

tamis_status tmi_search_resume(tmi_found_tables *f, tmi_search *search, const tmi_shape *supports, size_t support_count,
                               tamis_error *err)
{
    tmi_walk w;
    tamis_status status;
    TMI_TRY(tmi_walk_make(&w, f, search, supports, support_count, err));
    tmi_strategy_copy(&w.now, &f->best);
    f->objective = tmi_walk_improve(&w, &w.now, SOME_ROUNDS);
    TMI_TRY(go_on(&w, err));

done:
    tmi_walk_clear(&w);
    return status;
}

tamis_status tmi_search_put(bool *put, tmi_found_tables *f, tmi_search *search, const tmi_shape *shapes, const double *parts,
                            size_t count, double much, tamis_error *err)
{
    tmi_walk w;
    tamis_status status;
    *put = false;
    TMI_TRY(tmi_walk_make(&w, f, search, shapes, count, err));
    w.trial.count = 0;
    for (size_t k = 0; k < f->best.count && much < 1; k++)
        if (!tmi_walk_add(&w, f->best.tables[k], (1 - much) * f->best.parts[k])) goto done;
    for (size_t k = 0; k < count; k++) {
        const tmi_candidate *c = tmi_walk_candidate(&w, &shapes[k], err);
        if (!c) TMI_TRY(TAMIS_SYSTEM);
        if (!tmi_walk_add(&w, c, much * parts[k])) goto done;
    }
    tmi_strategy_copy(&f->best, &w.trial);
    *put = true;

done:
    tmi_walk_clear(&w);
    return status;
}
