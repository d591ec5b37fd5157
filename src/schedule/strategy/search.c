#include "schedule/strategy/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define WORK 3e7     /* parts of effects that are looked at: some tenths of a second */
#define FEW_ROUNDS 6 /* in which a change shows what it is worth */
#define MANY_ROUNDS 60
#define WORTH 2e-4          /* of the sum of the shares: what a change must gain */
#define NEGLIGIBLE 0.002    /* part of a table that may be left out */
#define LARGEST_JOINED 4096 /* numbers of a table that is not a support */

typedef struct state {
    tmi_search *search;
    tmi_found *found;
    const tmi_shape *supports;
    size_t support_count;
    tmi_strategy now, trial;
    double *gains;
    size_t room;
    double shares, work;
} state;

/* ---- candidates ---- */

void tmi_found_clear(tmi_found *f)
{
    for (size_t i = 0; i < f->pool_count; i++) {
        tmi_table_information_clear(&f->pool[i]->information);
        tmi_free(f->pool[i]);
    }
    tmi_free(f->pool);
    tmi_free(f->best.tables);
    tmi_free(f->best.parts);
    *f = (tmi_found){0};
}

static bool is_same_shape(const tmi_shape *a, const tmi_shape *b)
{
    return a->family == b->family && a->world == b->world && a->form == b->form && a->axis_count == b->axis_count &&
           memcmp(a->axes, b->axes, a->axis_count * sizeof *a->axes) == 0;
}

static const tmi_axis *axis_of(const state *s, const tmi_shape *shape, size_t i)
{
    return &s->search->problem.effects->axes[shape->axes[i]];
}

static double numbers_of(const state *s, const tmi_shape *shape)
{
    double numbers = s->search->copies[shape->family];
    if (shape->form != TMI_FULL) return numbers * (double)tmi_form_rows(shape->form, axis_of(s, shape, 0));
    for (size_t i = 0; i < shape->axis_count; i++) numbers *= (double)axis_of(s, shape, i)->levels;
    return numbers;
}

/* The candidate of a shape; NULL without memory. */
static const tmi_candidate *candidate_of(state *s, const tmi_shape *shape, tamis_error *err)
{
    tmi_found *f = s->found;
    for (size_t i = 0; i < f->pool_count; i++)
        if (is_same_shape(&f->pool[i]->shape, shape)) return f->pool[i];
    tmi_candidate *c = tmi_alloc(1, sizeof *c);
    if (!c || !tmi_grow(&f->pool, &f->pool_room, f->pool_count, sizeof *f->pool) ||
        tmi_table_information_make(&c->information, s->search->problem.effects, shape, err) != TAMIS_OK) {
        tmi_free(c);
        (void)tmi_fail_memory(err);
        return NULL;
    }
    c->shape = *shape;
    c->numbers = numbers_of(s, shape);
    tmi_candidate_set_sensitivity(c, s->search->motions[shape->family]);
    f->pool[f->pool_count++] = c;
    return c;
}

static bool is_within(const tmi_shape *inner, const tmi_shape *outer)
{
    if (inner->family != outer->family || inner->world != outer->world || outer->form != TMI_FULL) return false;
    for (size_t i = 0, j = 0; i < inner->axis_count; i++) {
        while (j < outer->axis_count && outer->axes[j] < inner->axes[i]) j++;
        if (j == outer->axis_count || outer->axes[j] != inner->axes[i]) return false;
    }
    return true;
}

#define MOST_JOINED 3 /* numbers with squares in one table: its levels are many already, and an engine's products have an end */

/* All axes of both; false if there are too many. */
static bool join(tmi_shape *joined, const state *s, const tmi_shape *a, const tmi_shape *b)
{
    int numbers = 0;
    *joined = (tmi_shape){.family = a->family, .world = a->world};
    for (size_t i = 0, j = 0; i < a->axis_count || j < b->axis_count;) {
        const size_t x = i < a->axis_count ? a->axes[i] : SIZE_MAX, y = j < b->axis_count ? b->axes[j] : SIZE_MAX;
        if (joined->axis_count == TMI_MAX_AXES) return false;
        joined->axes[joined->axis_count++] = x < y ? x : y;
        numbers += s->search->problem.effects->axes[x < y ? x : y].degree == 2;
        i += x <= y;
        j += y <= x;
    }
    return numbers <= MOST_JOINED;
}

/* ---- strategies ---- */

static void copy(tmi_strategy *to, const tmi_strategy *from)
{
    memcpy(to->tables, from->tables, from->count * sizeof *to->tables);
    memcpy(to->parts, from->parts, from->count * sizeof *to->parts);
    to->count = from->count;
}

static bool has(const tmi_strategy *s, const tmi_candidate *c)
{
    for (size_t k = 0; k < s->count; k++)
        if (s->tables[k] == c) return true;
    return false;
}

static double numbers_in(const tmi_strategy *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) sum += s->tables[k]->numbers;
    return sum;
}

/* Adds a table, or more to the part that it has, unless there are too many numbers already. */
static bool add(const state *st, tmi_strategy *s, const tmi_candidate *c, double part)
{
    for (size_t k = 0; k < s->count; k++) {
        if (s->tables[k] != c) continue;
        s->parts[k] += part;
        return true;
    }
    if (s->count == st->room || numbers_in(s) + c->numbers > st->search->most_numbers) return false;
    s->tables[s->count] = c;
    s->parts[s->count++] = part;
    return true;
}

static void drop(tmi_strategy *s, size_t k)
{
    s->count--;
    memmove(s->tables + k, s->tables + k + 1, (s->count - k) * sizeof *s->tables);
    memmove(s->parts + k, s->parts + k + 1, (s->count - k) * sizeof *s->parts);
}

static void scale(tmi_strategy *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) sum += s->parts[k];
    for (size_t k = 0; k < s->count; k++) s->parts[k] /= sum;
}

static double improve(state *s, tmi_strategy *t, int rounds)
{
    tmi_problem *p = &s->search->problem;
    for (size_t i = 0; i < p->aim_count; i++)
        for (size_t k = 0; k < p->aims[i].noise_count; k++) s->work += rounds * (double)p->aims[i].noise[k].effect_count;
    for (size_t k = 0; k < t->count; k++) s->work += rounds * (double)t->tables[k]->information.effect_count;
    s->work += rounds * (double)(p->aim_count + p->effects->count);
    return tmi_budget_improve(p, t, s->gains, rounds);
}

/* Keeps the trial if it is worth it. */
static bool take_if_better(state *s)
{
    if (s->trial.count == 0) return false;
    scale(&s->trial);
    double objective = improve(s, &s->trial, FEW_ROUNDS);
    if (!(objective < s->found->objective - WORTH * s->shares)) return false;
    s->found->objective = objective;
    copy(&s->now, &s->trial);
    return true;
}

static void start_over(state *s) { copy(&s->trial, &s->now); }

/* ---- starts ---- */

/* Whether a table may be a number by itself. */
static bool is_single(const state *s, const tmi_shape *shape)
{
    return shape->axis_count == 1 && axis_of(s, shape, 0)->degree > 0 && s->search->forms[shape->family];
}

static tmi_shape single_of(const state *s, const tmi_shape *shape, tmi_form form)
{
    tmi_shape single = *shape;
    single.form = is_single(s, shape) ? form : TMI_FULL;
    return single;
}

static bool is_largest(const state *s, size_t i)
{
    for (size_t j = 0; j < s->support_count; j++)
        if (j != i && is_within(&s->supports[i], &s->supports[j])) return false;
    return true;
}

/* Every support (or the largest alone), numbers by themselves in this form. */
static tamis_status start(state *s, bool largest, tmi_form form, tamis_error *err)
{
    s->trial.count = 0;
    for (size_t i = 0; i < s->support_count; i++) {
        const tmi_shape shape = single_of(s, &s->supports[i], form);
        if (largest && !is_largest(s, i)) continue;
        const tmi_candidate *c = candidate_of(s, &shape, err);
        if (!c) return TAMIS_SYSTEM;
        if (!add(s, &s->trial, c, 1)) s->trial.count = 0;
    }
    return TAMIS_OK;
}

/* Every support in every form: under Gaussian noise tables that are not needed lose their parts. */
static tamis_status start_with_all(state *s, tamis_error *err)
{
    tamis_status status = start(s, false, TMI_FULL, err);
    for (size_t i = 0; i < s->support_count && status == TAMIS_OK && s->trial.count > 0; i++) {
        for (tmi_form form = TMI_RAW; form <= TMI_CENTRED; form++) {
            const tmi_shape shape = single_of(s, &s->supports[i], form);
            if (shape.form == TMI_FULL) break;
            const tmi_candidate *c = candidate_of(s, &shape, err);
            if (!c) return TAMIS_SYSTEM;
            if (!add(s, &s->trial, c, 1)) break;
        }
    }
    return status;
}

static tamis_status try_start(state *s, bool largest, tmi_form form, tamis_error *err)
{
    const bool all = s->search->problem.gaussian && !largest && form == TMI_FULL;
    tamis_status status = all ? start_with_all(s, err) : start(s, largest, form, err);
    if (status != TAMIS_OK || s->trial.count == 0) return status;
    scale(&s->trial);
    const double objective = improve(s, &s->trial, all ? 5 * MANY_ROUNDS : MANY_ROUNDS);
    if (objective < s->found->objective || s->now.count == 0) {
        s->found->objective = objective;
        copy(&s->now, &s->trial);
    }
    return TAMIS_OK;
}

/* ---- changes ---- */

static bool try_drops(state *s)
{
    bool changed = false;
    for (size_t k = s->now.count; k-- > 0 && s->now.count > 1;) {
        start_over(s);
        drop(&s->trial, k);
        changed = take_if_better(s) || changed;
    }
    return changed;
}

static tamis_status try_forms(bool *changed, state *s, tamis_error *err)
{
    for (size_t k = 0; k < s->now.count; k++) {
        const tmi_shape shape = s->now.tables[k]->shape;
        if (!is_single(s, &shape)) continue;
        for (tmi_form form = TMI_FULL; form <= TMI_CENTRED; form++) {
            tmi_shape other = shape;
            other.form = form;
            const tmi_candidate *c = candidate_of(s, &other, err);
            if (!c) return TAMIS_SYSTEM;
            if (has(&s->now, c) || k >= s->now.count) continue;
            start_over(s);
            s->trial.tables[k] = c;
            *changed = take_if_better(s) || *changed;
        }
    }
    return TAMIS_OK;
}

static tamis_status try_supports(bool *changed, state *s, tamis_error *err)
{
    for (size_t i = 0; i < s->support_count && s->work < WORK; i++) {
        const bool single = is_single(s, &s->supports[i]);
        for (tmi_form form = TMI_FULL; form <= (single ? TMI_CENTRED : TMI_FULL); form++) {
            tmi_shape shape = s->supports[i];
            shape.form = form;
            const tmi_candidate *c = candidate_of(s, &shape, err);
            if (!c) return TAMIS_SYSTEM;
            if (has(&s->now, c)) continue;
            start_over(s);
            if (add(s, &s->trial, c, 0.15)) *changed = take_if_better(s) || *changed;
        }
    }
    return TAMIS_OK;
}

/* Two tables become one that has all of their axes. */
static tamis_status try_joins(bool *changed, state *s, tamis_error *err)
{
    for (size_t j = 0; j < s->now.count; j++) {
        for (size_t k = j + 1; k < s->now.count && s->work < WORK; k++) {
            const tmi_shape *a = &s->now.tables[j]->shape, *b = &s->now.tables[k]->shape;
            tmi_shape joined;
            if (a->family != b->family || a->world != b->world || !join(&joined, s, a, b)) continue;
            if (numbers_of(s, &joined) > LARGEST_JOINED * s->search->copies[a->family]) continue;
            const tmi_candidate *c = candidate_of(s, &joined, err);
            if (!c) return TAMIS_SYSTEM;
            start_over(s);
            const double part = s->trial.parts[j] + s->trial.parts[k];
            drop(&s->trial, k);
            drop(&s->trial, j);
            if (!add(s, &s->trial, c, part)) continue;
            if (!take_if_better(s)) continue;
            *changed = true;
            k = j; /* the list has changed: on with whatever is at this place now */
            if (j >= s->now.count) return TAMIS_OK;
        }
    }
    return TAMIS_OK;
}

/* A table with several axes gives one of them up. */
static tamis_status try_splits(bool *changed, state *s, tamis_error *err)
{
    for (size_t k = 0; k < s->now.count && s->work < WORK; k++) {
        for (size_t a = 0; k < s->now.count && a < s->now.tables[k]->shape.axis_count; a++) {
            tmi_shape rest = s->now.tables[k]->shape;
            if (rest.axis_count < 2) break;
            rest.axis_count--;
            memmove(rest.axes + a, rest.axes + a + 1, (rest.axis_count - a) * sizeof *rest.axes);
            const tmi_candidate *c = candidate_of(s, &rest, err);
            if (!c) return TAMIS_SYSTEM;
            start_over(s);
            const double part = s->trial.parts[k];
            drop(&s->trial, k);
            if (add(s, &s->trial, c, part)) *changed = take_if_better(s) || *changed;
        }
    }
    return TAMIS_OK;
}

static tamis_status change(state *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (bool changed = true; changed && s->work < WORK;) {
        changed = false;
        TMI_TRY(tmi_watch_beat(s->search->watch, err));
        TMI_TRY(try_forms(&changed, s, err));
        if (!s->search->problem.gaussian) {
            TMI_TRY(try_joins(&changed, s, err));
            TMI_TRY(try_splits(&changed, s, err));
        }
        changed = try_drops(s) || changed;
        TMI_TRY(try_supports(&changed, s, err));
    }

done:
    return status;
}

/* Tables with hardly any budget: they go if nobody misses them. */
static void prune(state *s)
{
    for (size_t k = s->now.count; k-- > 0 && s->now.count > 1;) {
        if (s->now.parts[k] > NEGLIGIBLE) continue;
        start_over(s);
        drop(&s->trial, k);
        scale(&s->trial);
        const double objective = improve(s, &s->trial, FEW_ROUNDS);
        if (!(objective < s->found->objective + 5 * WORTH * s->shares)) continue;
        s->found->objective = objective;
        copy(&s->now, &s->trial);
    }
}

/* ---- together ---- */

static tamis_status make_room(tmi_strategy *s, size_t room, tamis_error *err)
{
    s->tables = tmi_alloc(room, sizeof *s->tables);
    s->parts = tmi_alloc(room, sizeof *s->parts);
    return s->tables && s->parts ? TAMIS_OK : tmi_fail_memory(err);
}

static void clear_room(tmi_strategy *s)
{
    tmi_free(s->tables);
    tmi_free(s->parts);
}

tamis_status tmi_search_run(tmi_found *f, tmi_search *search, const tmi_shape *supports, size_t support_count, tamis_error *err)
{
    state s = {.search = search, .found = f, .supports = supports, .support_count = support_count};
    tamis_status status;
    *f = (tmi_found){.objective = INFINITY, .gap = NAN};
    s.room = 3 * support_count + 1;
    for (size_t i = 0; i < search->problem.aim_count; i++) s.shares += search->problem.aims[i].share;
    for (size_t i = 0; i < support_count; i++) TMI_TRY(tmi_effects_take_shape(search->problem.effects, &supports[i], err));
    TMI_TRY(make_room(&s.now, s.room, err));
    TMI_TRY(make_room(&s.trial, s.room, err));
    TMI_TRY(make_room(&f->best, s.room, err));
    s.gains = tmi_alloc(s.room, sizeof *s.gains);
    if (!s.gains) TMI_TRY(tmi_fail_memory(err));
    for (int largest = 0; largest < 2; largest++) {
        TMI_TRY(try_start(&s, largest, TMI_CENTRED, err));
        TMI_TRY(try_start(&s, largest, TMI_RAW, err));
        TMI_TRY(try_start(&s, largest, TMI_FULL, err));
    }
    if (s.now.count == 0 && support_count > 0)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "statistics: together they need more than %.0f integers (per group one for a count, up to four for a "
                         "number, nine for two; times the strata and groups of clusters): use fewer `by` columns or values",
                         search->most_numbers));
    if (s.now.count == 0) goto done;
    TMI_TRY(change(&s, err));
    prune(&s);
    f->objective = improve(&s, &s.now, MANY_ROUNDS);
    copy(&f->best, &s.now);
    if (search->problem.gaussian)
        f->gap = tmi_budget_gap(&search->problem, &f->best, (const tmi_candidate *const *)f->pool, f->pool_count);

done:
    clear_room(&s.now);
    clear_room(&s.trial);
    tmi_free(s.gains);
    if (status != TAMIS_OK) tmi_found_clear(f);
    return status;
}
