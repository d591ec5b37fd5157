#include "strategy/local_search.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define PER_TARGET 2e5 /* work for each target, in parts of effects that are looked at: a few tenths of a millisecond */
#define AT_LEAST 1e7

/* ---- making ---- */

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

static double parts_in(const tmi_parts_of_effects *list, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += 10 + (double)list[k].effect_count + 10 * (double)list[k].block_count;
    return sum;
}

tamis_status tmi_local_search_make(tmi_local_search *w, tmi_found_tables *found, tmi_search *search, const tmi_marginal *needed,
                                   size_t needed_count, tamis_error *err)
{
    const tmi_problem *p = &search->problem;
    tamis_status status;
    *w = (tmi_local_search){.search = search, .found = found, .needed = needed, .needed_count = needed_count};
    w->room = 3 * needed_count + 1 + search->gram_count;
    w->most = AT_LEAST + PER_TARGET * (double)p->target_count;
    for (size_t i = 0; i < p->target_count; i++) {
        const tmi_strategy_target *a = &p->targets[i];
        w->shares += a->share;
        w->per_look += 20 + parts_in(a->noise, a->noise_count) + parts_in(a->spread, a->spread_count);
    }
    w->per_look += (double)p->effects->count;
    TMI_TRY(make_room(&w->now, w->room, err));
    TMI_TRY(make_room(&w->trial, w->room, err));
    w->gains = tmi_alloc(w->room, sizeof *w->gains);
    if (!w->gains) TMI_TRY(tmi_fail_memory(err));

done:
    return status;
}

void tmi_local_search_clear(tmi_local_search *w)
{
    clear_room(&w->now);
    clear_room(&w->trial);
    tmi_free(w->gains);
    tmi_free(w->is_largest);
    *w = (tmi_local_search){0};
}

/* ---- candidates ---- */

static bool is_same_shape(const tmi_marginal *a, const tmi_marginal *b)
{
    return a->weighting == b->weighting && a->domain == b->domain && a->form == b->form && a->statistic == b->statistic &&
           a->axis_count == b->axis_count && memcmp(a->axes, b->axes, a->axis_count * sizeof *a->axes) == 0;
}

static const tmi_axis *axis_of(const tmi_local_search *w, const tmi_marginal *marginal, size_t i)
{
    return &w->search->problem.effects->axes[marginal->axes[i]];
}

double tmi_local_search_numbers(const tmi_local_search *w, const tmi_marginal *marginal)
{
    double numbers = w->search->copies[marginal->weighting];
    const bool gram = tmi_is_gram(marginal->form);
    if (gram) numbers *= (double)tmi_gram_rows(tmi_gram_numbers(w->search->problem.effects->axes, marginal));
    else if (marginal->form != TMI_FULL) return numbers * (double)tmi_form_rows(marginal->form, axis_of(w, marginal, 0));
    for (size_t i = 0; i < marginal->axis_count; i++)
        if (!gram || !tmi_is_gram_axis(axis_of(w, marginal, i))) numbers *= (double)axis_of(w, marginal, i)->levels;
    return numbers;
}

static uint64_t hash_of(const tmi_marginal *marginal)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (marginal->weighting << 16) ^ (marginal->domain << 2) ^
                    (uint64_t)marginal->form ^ ((uint64_t)marginal->statistic << 32);
    for (size_t i = 0; i < marginal->axis_count; i++) hash = (hash ^ marginal->axes[i]) * UINT64_C(0x100000001b3) ^ (hash >> 29);
    return hash ^ (hash >> 32);
}

/* The slot in which a candidate is, or would be. */
static size_t slot_of(const tmi_found_tables *f, const tmi_marginal *marginal)
{
    size_t at = (size_t)hash_of(marginal) & (f->slots - 1);
    while (f->index[at] != SIZE_MAX && !is_same_shape(&f->pool[f->index[at]]->marginal, marginal)) at = (at + 1) & (f->slots - 1);
    return at;
}

static bool rehash(tmi_found_tables *f)
{
    const size_t slots = f->slots ? 2 * f->slots : 64;
    size_t *index = tmi_alloc(slots, sizeof *index);
    if (!index) return false;
    memset(index, 0xff, slots * sizeof *index);
    tmi_free(f->index);
    f->index = index;
    f->slots = slots;
    for (size_t i = 0; i < f->pool_count; i++) index[slot_of(f, &f->pool[i]->marginal)] = i;
    return true;
}

const tmi_candidate *tmi_local_search_candidate(tmi_local_search *w, const tmi_marginal *marginal, tamis_error *err)
{
    tmi_found_tables *f = w->found;
    if (2 * f->pool_count >= f->slots && !rehash(f)) {
        (void)tmi_fail_memory(err);
        return NULL;
    }
    const size_t at = slot_of(f, marginal);
    if (f->index[at] != SIZE_MAX) return f->pool[f->index[at]];
    tmi_candidate *c = tmi_alloc(1, sizeof *c);
    if (!c || !tmi_grow(&f->pool, &f->pool_room, f->pool_count, sizeof *f->pool) ||
        tmi_table_information_make(&c->information, w->search->problem.effects, marginal, err) != TAMIS_OK) {
        tmi_free(c);
        (void)tmi_fail_memory(err);
        return NULL;
    }
    c->marginal = *marginal;
    c->numbers = tmi_local_search_numbers(w, marginal);
    tmi_candidate_set_sensitivity(c, w->search->problem.effects->axes, w->search->move_bounds[c->information.arrowhead]);
    f->index[at] = f->pool_count;
    f->pool[f->pool_count++] = c;
    f->work += (double)w->search->problem.effects->count;
    return c;
}

bool tmi_marginal_is_within(const tmi_marginal *inner, const tmi_marginal *outer)
{
    if (inner->weighting != outer->weighting || inner->domain != outer->domain || inner->statistic != outer->statistic ||
        (outer->form != TMI_FULL && !tmi_is_gram(outer->form)))
        return false;
    for (size_t i = 0, j = 0; i < inner->axis_count; i++) {
        while (j < outer->axis_count && outer->axes[j] < inner->axes[i]) j++;
        if (j == outer->axis_count || outer->axes[j] != inner->axes[i]) return false;
    }
    return true;
}

#define MOST_JOINED \
    3 /* a joined table has at most so many numbers with squares: it has many levels, and products of an engine a limit */

bool tmi_local_search_join(tmi_marginal *joined, const tmi_local_search *w, const tmi_marginal *a, const tmi_marginal *b)
{
    int numbers = 0;
    *joined = (tmi_marginal){.weighting = a->weighting, .domain = a->domain};
    for (size_t i = 0, j = 0; i < a->axis_count || j < b->axis_count;) {
        const size_t x = i < a->axis_count ? a->axes[i] : SIZE_MAX, y = j < b->axis_count ? b->axes[j] : SIZE_MAX;
        if (joined->axis_count == TMI_MAX_AXES) return false;
        joined->axes[joined->axis_count++] = x < y ? x : y;
        numbers += w->search->problem.effects->axes[x < y ? x : y].degree == 2;
        i += x <= y;
        j += y <= x;
    }
    return numbers <= MOST_JOINED;
}

tmi_marginal tmi_local_search_gram(const tmi_local_search *w, size_t i)
{
    tmi_marginal gram = w->search->grams[i];
    gram.form = w->search->problem.gaussian ? TMI_GRAM_SQUARES : TMI_GRAM_SUMS;
    return gram;
}

bool tmi_local_search_is_single(const tmi_local_search *w, const tmi_marginal *marginal)
{
    return marginal->axis_count == 1 && axis_of(w, marginal, 0)->degree > 0;
}

/* ---- strategies ---- */

void tmi_strategy_copy(tmi_strategy *to, const tmi_strategy *from)
{
    memcpy(to->tables, from->tables, from->count * sizeof *to->tables);
    memcpy(to->parts, from->parts, from->count * sizeof *to->parts);
    to->count = from->count;
}

bool tmi_strategy_has(const tmi_strategy *s, const tmi_candidate *c)
{
    for (size_t k = 0; k < s->count; k++)
        if (s->tables[k] == c) return true;
    return false;
}

void tmi_strategy_drop(tmi_strategy *s, size_t k)
{
    s->count--;
    memmove(s->tables + k, s->tables + k + 1, (s->count - k) * sizeof *s->tables);
    memmove(s->parts + k, s->parts + k + 1, (s->count - k) * sizeof *s->parts);
}

void tmi_strategy_scale(tmi_strategy *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) sum += s->parts[k];
    for (size_t k = 0; k < s->count; k++) s->parts[k] /= sum;
}

static double numbers_in(const tmi_strategy *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) sum += s->tables[k]->numbers;
    return sum;
}

bool tmi_local_search_add(tmi_local_search *w, const tmi_candidate *c, double part)
{
    tmi_strategy *s = &w->trial;
    for (size_t k = 0; k < s->count; k++) {
        if (s->tables[k] != c) continue;
        s->parts[k] += part;
        return true;
    }
    if (s->count == w->room || numbers_in(s) + c->numbers > w->search->most_numbers) return false;
    s->tables[s->count] = c;
    s->parts[s->count++] = part;
    return true;
}

double tmi_local_search_improve(tmi_local_search *w, tmi_strategy *s, int rounds)
{
    double per_look = w->per_look;
    int looks = 0;
    for (size_t k = 0; k < s->count; k++) per_look += (double)s->tables[k]->information.effect_count;
    const double objective = tmi_budget_improve(&w->search->problem, s, w->gains, rounds, &looks);
    w->found->work += looks * per_look;
    return objective;
}
