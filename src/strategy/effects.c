#include "strategy/effects.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void tmi_effects_clear(tmi_effects *e)
{
    tmi_free(e->list);
    tmi_free(e->variances);
    tmi_free(e->gradients);
    tmi_free(e->index);
    tmi_free(e->blocks);
    tmi_free(e->arrowheads);
    *e = (tmi_effects){0};
}

tamis_status tmi_effects_make(tmi_effects *e, const tmi_axis *axes, size_t weightings, size_t domains, const bool *known,
                              tamis_error *err)
{
    *e = (tmi_effects){.axes = axes, .domains = domains, .arrowhead_count = weightings * domains};
    e->arrowheads = tmi_alloc(e->arrowhead_count, sizeof *e->arrowheads);
    if (!e->arrowheads) return tmi_fail_memory(err);
    for (size_t i = 0; i < e->arrowhead_count; i++) e->arrowheads[i].known = known[i];
    return TAMIS_OK;
}

/* A square below this, relative to the largest, is 0: squares are differences of sums, exact to a few units in the last place. */
#define SQUARE_DUST 1e-12

/* ---- which effects there are ---- */

static uint64_t hash_of(size_t arrowhead, const uint32_t *on, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ arrowhead;
    for (size_t i = 0; i < count; i++) hash = (hash ^ on[i]) * UINT64_C(0x100000001b3) ^ (hash >> 29);
    return hash;
}

static bool is_same(const tmi_effect *e, size_t arrowhead, const uint32_t *on, size_t count)
{
    return e->arrowhead == arrowhead && e->on_count == count && memcmp(e->on, on, count * sizeof *on) == 0;
}

static bool rehash(tmi_effects *e)
{
    size_t slots = e->slots ? 2 * e->slots : 64;
    size_t *index = tmi_alloc(slots, sizeof *index);
    if (!index) return false;
    memset(index, 0xff, slots * sizeof *index);
    for (size_t i = 0; i < e->count; i++) {
        size_t at = (size_t)hash_of(e->list[i].arrowhead, e->list[i].on, e->list[i].on_count) & (slots - 1);
        while (index[at] != SIZE_MAX) at = (at + 1) & (slots - 1);
        index[at] = i;
    }
    tmi_free(e->index);
    e->index = index;
    e->slots = slots;
    return true;
}

/* The slot in which an effect is, or would be. */
static size_t slot_of(const tmi_effects *e, size_t arrowhead, const uint32_t *on, size_t count)
{
    size_t at = (size_t)hash_of(arrowhead, on, count) & (e->slots - 1);
    while (e->index[at] != SIZE_MAX && !is_same(&e->list[e->index[at]], arrowhead, on, count)) at = (at + 1) & (e->slots - 1);
    return at;
}

static size_t find_effect(const tmi_effects *e, size_t arrowhead, const uint32_t *on, size_t count)
{
    return e->slots > 0 ? e->index[slot_of(e, arrowhead, on, count)] : SIZE_MAX;
}

/* The number of an effect, found or added; SIZE_MAX: no memory. */
static size_t effect_of(tmi_effects *e, size_t arrowhead, const uint32_t *on, size_t count)
{
    if (2 * e->count >= e->slots && !rehash(e)) return SIZE_MAX;
    const size_t at = slot_of(e, arrowhead, on, count);
    if (e->index[at] != SIZE_MAX) return e->index[at];
    if (!tmi_grow(&e->list, &e->room, e->count, sizeof *e->list) ||
        !tmi_grow(&e->variances, &e->variance_room, e->count, sizeof *e->variances) ||
        !tmi_grow(&e->gradients, &e->gradient_room, e->count, sizeof *e->gradients))
        return SIZE_MAX;
    tmi_effect *effect = &e->list[e->count];
    *effect = (tmi_effect){.arrowhead = arrowhead, .on_count = count};
    memcpy(effect->on, on, count * sizeof *on);
    effect->known = count == 1 && e->arrowheads[arrowhead].known && e->axes[on[0] / TMI_LEVELS].counted;
    e->index[at] = e->count;
    return e->count++;
}

static size_t find_leaf(const tmi_effects *e, size_t arrowhead, size_t axis)
{
    for (size_t i = 0; i < e->block_count; i++)
        if (e->blocks[i].arrowhead == arrowhead && e->blocks[i].axis == axis) return i;
    return SIZE_MAX;
}

static size_t leaf_of(tmi_effects *e, size_t arrowhead, size_t axis)
{
    const size_t found = find_leaf(e, arrowhead, axis);
    if (found != SIZE_MAX) return found;
    if (!tmi_grow(&e->blocks, &e->block_room, e->block_count, sizeof *e->blocks)) return SIZE_MAX;
    e->blocks[e->block_count] = (tmi_arrowhead_block){.axis = axis,
                                                      .arrowhead = arrowhead,
                                                      .contrasts = tmi_axis_contrasts(&e->axes[axis]),
                                                      .known = e->arrowheads[arrowhead].known && e->axes[axis].counted};
    return e->block_count++;
}

/* ---- combinations ---- */

void tmi_parts_of_effects_clear(tmi_parts_of_effects *p)
{
    tmi_free(p->effects);
    tmi_free(p->blocks);
    *p = (tmi_parts_of_effects){0};
}

/* What the vectors of all terms are on one axis: a constant, and contrasts or what remains. */
typedef struct split {
    double mean[TMI_MAX_TERMS];
    double contrast[TMI_CONTRASTS][TMI_MAX_TERMS];  /* for a number */
    double remainder[TMI_MAX_TERMS][TMI_MAX_TERMS]; /* for categories: the products of what remains of two terms */
} split;

typedef struct taking {
    const tmi_effects *effects;
    tmi_effects *added; /* where new effects are added; NULL if all must be there already */
    const tmi_combination *c;
    tmi_parts_of_effects *parts;
    size_t room;
    split axes[TMI_MAX_AXES];
    double largest; /* the largest square so far, beside which small ones are dust */
} taking;

static void split_axis(split *s, const tmi_axis *axis, const double *const *vectors, size_t terms)
{
    const double levels = (double)axis->levels;
    for (size_t t = 0; t < terms; t++) {
        s->mean[t] = 0;
        for (size_t l = 0; l < axis->levels; l++) s->mean[t] += vectors[t][l] / levels;
        for (size_t c = 0; axis->degree > 0 && c < tmi_axis_contrasts(axis); c++) {
            s->contrast[c][t] = 0;
            for (size_t l = 0; l < axis->levels; l++) s->contrast[c][t] += vectors[t][l] * tmi_axis_contrast(axis, c, l);
        }
    }
    for (size_t t = 0; axis->degree == 0 && t < terms; t++)
        for (size_t u = 0; u < terms; u++)
            s->remainder[t][u] = tmi_dot(vectors[t], vectors[u], axis->levels) - levels * s->mean[t] * s->mean[u];
}

static tamis_status take_effect(taking *t, const uint32_t *on, size_t count, double square, tamis_error *err)
{
    if (!(square > SQUARE_DUST * t->largest)) return TAMIS_OK;
    const size_t arrowhead = t->parts->arrowhead,
                 effect = t->added ? effect_of(t->added, arrowhead, on, count) : find_effect(t->effects, arrowhead, on, count);
    if (effect == SIZE_MAX && !t->added) return tmi_fail(err, TAMIS_INVALID, "combination: an effect has not been taken up");
    if (effect == SIZE_MAX || !tmi_grow(&t->parts->effects, &t->room, t->parts->effect_count, sizeof *t->parts->effects))
        return tmi_fail_memory(err);
    t->parts->effects[t->parts->effect_count++] = (tmi_part_of_effect){effect, square};
    return TAMIS_OK;
}

/* Takes all effects of a combination, axis by axis: each axis is off, or on in one of its ways. `products` are those of
 * the terms' parts on the axes so far. Effects of single numbers belong to the arrowhead and are left out. */
static tamis_status take_effects(taking *t, size_t axis, uint32_t *on, size_t count, double (*products)[TMI_MAX_TERMS],
                                 tamis_error *err)
{
    const size_t terms = t->c->term_count;
    tamis_status status = TAMIS_OK;
    if (axis == t->c->axis_count) {
        const bool single = count == 1 && t->effects->axes[on[0] / TMI_LEVELS].degree > 0;
        double square = 0;
        if (count == 0 || single) return TAMIS_OK;
        for (size_t i = 0; i < terms; i++)
            for (size_t j = 0; j < terms; j++) square += products[i][j];
        return take_effect(t, on, count, square, err);
    }
    const split *s = &t->axes[axis];
    const tmi_axis *a = &t->effects->axes[t->c->axes[axis]];
    const size_t ways = a->degree > 0 ? tmi_axis_contrasts(a) : 1;
    double next[TMI_MAX_TERMS][TMI_MAX_TERMS];
    for (size_t way = 0; way <= ways; way++) { /* the last way is off */
        const double *v = way == ways ? s->mean : s->contrast[way];
        for (size_t i = 0; i < terms; i++)
            for (size_t j = 0; j < terms; j++)
                next[i][j] = products[i][j] * (way < ways && a->degree == 0 ? s->remainder[i][j] : v[i] * v[j]);
        if (way < ways) on[count] = (uint32_t)(t->c->axes[axis] * TMI_LEVELS + way);
        TMI_TRY(take_effects(t, axis + 1, on, count + (way < ways), next, err));
    }

done:
    return status;
}

/* The coefficients of the centre and of the contrasts of each number by itself. */
static tamis_status take_star(taking *t, tamis_error *err)
{
    const tmi_combination *c = t->c;
    tmi_parts_of_effects *p = t->parts;
    p->blocks = tmi_alloc(c->axis_count, sizeof *p->blocks);
    if (!p->blocks) return tmi_fail_memory(err);
    for (size_t term = 0; term < c->term_count; term++) {
        double product = c->scale[term];
        for (size_t a = 0; a < c->axis_count; a++) product *= t->axes[a].mean[term];
        p->centre += product;
    }
    for (size_t a = 0; a < c->axis_count; a++) {
        const tmi_axis *axis = &t->effects->axes[c->axes[a]];
        if (axis->degree == 0) continue;
        tmi_part_of_block *part = &p->blocks[p->block_count++];
        part->block = t->added ? leaf_of(t->added, p->arrowhead, c->axes[a]) : find_leaf(t->effects, p->arrowhead, c->axes[a]);
        if (part->block == SIZE_MAX)
            return t->added ? tmi_fail_memory(err) : tmi_fail(err, TAMIS_INVALID, "combination: a number has not been taken up");
        for (size_t term = 0; term < c->term_count; term++) {
            double others = c->scale[term];
            for (size_t b = 0; b < c->axis_count; b++) others *= b == a ? 1 : t->axes[b].mean[term];
            for (size_t k = 0; k < tmi_axis_contrasts(axis); k++) part->c[k] += others * t->axes[a].contrast[k][term];
        }
    }
    return TAMIS_OK;
}

static tamis_status take(tmi_parts_of_effects *p, const tmi_effects *e, tmi_effects *added, const tmi_combination *c,
                         tamis_error *err)
{
    *p = (tmi_parts_of_effects){.arrowhead = c->weighting * e->domains + c->domain};
    taking t = {.effects = e, .added = added, .c = c, .parts = p, .largest = 0};
    double scales[TMI_MAX_TERMS][TMI_MAX_TERMS];
    uint32_t on[TMI_MAX_AXES];
    tamis_status status;
    for (size_t i = 0; i < c->term_count; i++)
        for (size_t j = 0; j < c->term_count; j++) scales[i][j] = c->scale[i] * c->scale[j];
    for (size_t a = 0; a < c->axis_count; a++) split_axis(&t.axes[a], &e->axes[c->axes[a]], c->vectors[a], c->term_count);
    for (size_t i = 0; i < c->term_count; i++) { /* the square of a whole term, as the scale of dust */
        double square = scales[i][i];
        for (size_t a = 0; a < c->axis_count; a++) {
            const size_t levels = e->axes[c->axes[a]].levels;
            square *= tmi_dot(c->vectors[a][i], c->vectors[a][i], levels);
        }
        t.largest = fmax(t.largest, square);
    }
    TMI_TRY(take_star(&t, err));
    TMI_TRY(take_effects(&t, 0, on, 0, scales, err));

done:
    if (status != TAMIS_OK) tmi_parts_of_effects_clear(p);
    return status;
}

tamis_status tmi_effects_take(tmi_parts_of_effects *p, tmi_effects *e, const tmi_combination *c, tamis_error *err)
{
    return take(p, e, e, c, err);
}

tamis_status tmi_effects_parts(tmi_parts_of_effects *p, const tmi_effects *e, const tmi_combination *c, tamis_error *err)
{
    return take(p, e, NULL, c, err);
}

/* ---- tables ---- */

static bool take_from(tmi_effects *e, size_t arrowhead, const tmi_marginal *marginal, size_t axis, uint32_t *on, size_t count)
{
    if (axis == marginal->axis_count) {
        const bool single = count == 1 && e->axes[on[0] / TMI_LEVELS].degree > 0;
        return count == 0 || single || effect_of(e, arrowhead, on, count) != SIZE_MAX;
    }
    const tmi_axis *a = &e->axes[marginal->axes[axis]];
    const size_t ways = a->degree > 0 ? tmi_axis_contrasts(a) : 1;
    bool fine = take_from(e, arrowhead, marginal, axis + 1, on, count);
    for (size_t way = 0; fine && way < ways; way++) {
        on[count] = (uint32_t)(marginal->axes[axis] * TMI_LEVELS + way);
        fine = take_from(e, arrowhead, marginal, axis + 1, on, count + 1);
    }
    return fine;
}

tamis_status tmi_effects_take_all(tmi_effects *e, const tmi_marginal *marginal, tamis_error *err)
{
    uint32_t on[TMI_MAX_AXES];
    if (!take_from(e, marginal->weighting * e->domains + marginal->domain, marginal, 0, on, 0)) return tmi_fail_memory(err);
    return tmi_effects_take_marginal(e, marginal, err);
}

tamis_status tmi_effects_take_marginal(tmi_effects *e, const tmi_marginal *marginal, tamis_error *err)
{
    const size_t arrowhead = marginal->weighting * e->domains + marginal->domain;
    for (size_t i = 0; i < marginal->axis_count; i++)
        if (e->axes[marginal->axes[i]].degree > 0 && leaf_of(e, arrowhead, marginal->axes[i]) == SIZE_MAX)
            return tmi_fail_memory(err);
    return TAMIS_OK;
}

void tmi_table_information_clear(tmi_table_information *t)
{
    tmi_free(t->effects);
    tmi_free(t->blocks);
    *t = (tmi_table_information){0};
}

static bool has_axis(const tmi_marginal *marginal, size_t axis)
{
    for (size_t i = 0; i < marginal->axis_count; i++)
        if (marginal->axes[i] == axis) return true;
    return false;
}

/* One over the product of the levels of the table's axes that are not on. */
static double share_of(const tmi_effects *e, const tmi_marginal *marginal, const uint32_t *on, size_t count)
{
    double product = 1;
    for (size_t i = 0; i < marginal->axis_count; i++) product /= (double)e->axes[marginal->axes[i]].levels;
    for (size_t i = 0; i < count; i++) product *= (double)e->axes[on[i] / TMI_LEVELS].levels;
    return product;
}

/* ---- GRAM ---- */

size_t tmi_gram_numbers(const tmi_axis *axes, const tmi_marginal *marginal)
{
    size_t count = 0;
    for (size_t i = 0; i < marginal->axis_count; i++) count += tmi_is_gram_axis(&axes[marginal->axes[i]]);
    return count;
}

size_t tmi_gram_place(const tmi_axis *axes, const tmi_marginal *marginal, size_t axis)
{
    size_t place = 0;
    if (!tmi_is_gram_axis(&axes[axis])) return SIZE_MAX;
    for (size_t i = 0; i < marginal->axis_count && marginal->axes[i] != axis; i++)
        place += tmi_is_gram_axis(&axes[marginal->axes[i]]);
    return place;
}

bool tmi_gram_row_of(tmi_gram_row *row, size_t *number, const tmi_axis *axes, const tmi_marginal *marginal, const uint32_t *on,
                     size_t count)
{
    const size_t numbers = tmi_gram_numbers(axes, marginal);
    *row = (tmi_gram_row){.count = 0};
    for (size_t i = 0; i < count; i++) {
        const size_t place = tmi_gram_place(axes, marginal, on[i] / TMI_LEVELS);
        if (place == SIZE_MAX) continue;
        if (row->count == 2 || row->square || (on[i] % TMI_LEVELS == 1 && row->count > 0)) return false;
        row->numbers[row->count++] = place;
        row->square = on[i] % TMI_LEVELS == 1;
    }
    for (*number = 0; *number < tmi_gram_rows(numbers); ++*number) {
        const tmi_gram_row at = tmi_gram_row_at(numbers, *number);
        if (at.count == row->count && at.square == row->square && (at.count < 1 || at.numbers[0] == row->numbers[0]) &&
            (at.count < 2 || at.numbers[1] == row->numbers[1]))
            break;
    }
    return true;
}

/* What a table says about an effect: one over the product of the levels of its axes that are not on, and of GRAM only of those
 * that are no numbers, times the square of its coefficient. */
static double square_of(const tmi_effects *e, const tmi_marginal *marginal, const uint32_t *on, size_t count)
{
    double square = share_of(e, marginal, on, count);
    tmi_gram_row row;
    size_t number;
    if (!tmi_is_gram(marginal->form)) return square;
    if (!tmi_gram_row_of(&row, &number, e->axes, marginal, on, count)) return 0;
    for (size_t k = tmi_gram_numbers(e->axes, marginal); k > row.count; k--) square *= 3;
    return square * pow(tmi_gram_times(marginal->form, &row), 2);
}

/* The effects of a table that have been taken up: those of the sets of its axes, looked up one by one, or, where these are more
 * than there are effects, picked from the list. */
typedef struct finding {
    const tmi_effects *effects;
    const tmi_marginal *marginal;
    tmi_table_information *table;
    size_t room;
} finding;

static double sets_of(const tmi_effects *e, const tmi_marginal *marginal)
{
    double sets = 1;
    for (size_t i = 0; i < marginal->axis_count; i++) {
        const tmi_axis *axis = &e->axes[marginal->axes[i]];
        sets *= 1 + (axis->degree > 0 ? (double)tmi_axis_contrasts(axis) : 1);
    }
    return sets;
}

static bool add_effect(finding *f, size_t i)
{
    const tmi_effect *effect = &f->effects->list[i];
    tmi_table_information *t = f->table;
    const double square = square_of(f->effects, f->marginal, effect->on, effect->on_count);
    if (effect->known || square == 0) return true;
    if (!tmi_grow(&t->effects, &f->room, t->effect_count, sizeof *t->effects)) return false;
    t->effects[t->effect_count++] = (tmi_part_of_effect){i, square};
    return true;
}

static bool find_sets(finding *f, size_t axis, uint32_t *on, size_t count)
{
    if (axis == f->marginal->axis_count) {
        const size_t found = count > 0 ? find_effect(f->effects, f->table->arrowhead, on, count) : SIZE_MAX;
        return found == SIZE_MAX || add_effect(f, found);
    }
    const tmi_axis *a = &f->effects->axes[f->marginal->axes[axis]];
    const size_t ways = a->degree > 0 ? tmi_axis_contrasts(a) : 1;
    bool fine = find_sets(f, axis + 1, on, count);
    for (size_t way = 0; fine && way < ways; way++) {
        on[count] = (uint32_t)(f->marginal->axes[axis] * TMI_LEVELS + way);
        fine = find_sets(f, axis + 1, on, count + 1);
    }
    return fine;
}

static bool contains(const tmi_marginal *marginal, const tmi_effect *effect)
{
    for (size_t i = 0; i < effect->on_count; i++)
        if (!has_axis(marginal, effect->on[i] / TMI_LEVELS)) return false;
    return true;
}

static int by_effect(const void *left, const void *right)
{
    const tmi_part_of_effect *a = left, *b = right;
    return (a->effect > b->effect) - (a->effect < b->effect);
}

/* Puts them in the order of the list, so that sums over them are always added up alike. */
static bool find_effects(finding *f)
{
    const tmi_effects *e = f->effects;
    uint32_t on[TMI_MAX_AXES];
    bool fine = true;
    if (sets_of(e, f->marginal) < (double)e->count) {
        fine = find_sets(f, 0, on, 0);
        if (f->table->effect_count > 1) qsort(f->table->effects, f->table->effect_count, sizeof *f->table->effects, by_effect);
        return fine;
    }
    for (size_t i = 0; fine && i < e->count; i++)
        if (e->list[i].arrowhead == f->table->arrowhead && contains(f->marginal, &e->list[i])) fine = add_effect(f, i);
    return fine;
}

/* A number by itself: each released number is a functional of the levels. */
static void set_single(tmi_block_information *block, const tmi_axis *axis, tmi_table_form form)
{
    for (size_t row = 0; row < tmi_form_rows(form, axis); row++) {
        double mean = 0, c[TMI_CONTRASTS] = {0};
        for (size_t l = 0; l < axis->levels; l++) {
            const double coefficient = tmi_form_level(form, axis, row, l);
            mean += coefficient / (double)axis->levels;
            for (size_t k = 0; k < tmi_axis_contrasts(axis); k++) c[k] += coefficient * tmi_axis_contrast(axis, k, l);
        }
        block->centre += mean * mean;
        for (size_t k = 0; k < TMI_CONTRASTS; k++) {
            block->cross[k] += mean * c[k];
            for (size_t m = 0; m < TMI_CONTRASTS; m++) block->own[k][m] += c[k] * c[m];
        }
    }
}

tamis_status tmi_table_information_make(tmi_table_information *t, const tmi_effects *e, const tmi_marginal *marginal,
                                        tamis_error *err)
{
    *t = (tmi_table_information){.arrowhead = marginal->weighting * e->domains + marginal->domain};
    finding f = {e, marginal, t, 0};
    const bool single = marginal->form == TMI_RAW || marginal->form == TMI_CENTRED;
    t->blocks = tmi_alloc(marginal->axis_count, sizeof *t->blocks);
    if (!t->blocks || (!single && !find_effects(&f))) {
        tmi_table_information_clear(t);
        return tmi_fail_memory(err);
    }
    if (!single) t->centre = square_of(e, marginal, NULL, 0);
    for (size_t i = 0; i < e->block_count; i++) {
        const tmi_arrowhead_block *block = &e->blocks[i];
        if (block->arrowhead != t->arrowhead || block->known || !has_axis(marginal, block->axis)) continue;
        tmi_block_information *own = &t->blocks[t->block_count++];
        *own = (tmi_block_information){.block = i};
        if (single) set_single(own, &e->axes[block->axis], marginal->form);
        for (size_t k = 0; !single && k < block->contrasts; k++) {
            const uint32_t on = (uint32_t)(block->axis * TMI_LEVELS + k);
            own->own[k][k] = square_of(e, marginal, &on, 1);
        }
        t->centre += own->centre;
    }
    return TAMIS_OK;
}
