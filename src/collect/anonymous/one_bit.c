#include "collect/anonymous/one_bit.h"

#include <math.h>

#include "base/memory.h"

#define PAIR_SHARE 0.1 /* width of one pair's delta, of that of a search */

tamis_status tmi_one_bit_init(tmi_one_bit *bit, int64_t reports, const tamis_number *lie_one, const tamis_number *lie_zero,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL;
    *bit = (tmi_one_bit){.others = reports - 1, .high = reports - 1};
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_copy(&bit->lie_one, lie_one, err));
    TMI_TRY(tmi_number_copy(&bit->lie_zero, lie_zero, err));
    TMI_TRY(tmi_number_sub(&bit->tell_one, one, lie_one, err));
    TMI_TRY(tmi_number_sub(&bit->tell_zero, one, lie_zero, err));
    tmi_one_bit_window(bit, 0, reports - 1);
done:
    tamis_number_free(one);
    return status;
}

void tmi_one_bit_window(tmi_one_bit *bit, int64_t low, int64_t high)
{
    bit->low = low;
    bit->high = high;
    bool mirror = tmi_number_compare(bit->lie_one, bit->lie_zero) == 0 && low + high == bit->others;
    bit->orders = mirror ? 1 : 2;
}

void tmi_one_bit_clear(tmi_one_bit *bit)
{
    tmi_number_frees(&bit->lie_one, &bit->lie_zero, &bit->tell_one, &bit->tell_zero, NULL);
    *bit = (tmi_one_bit){0};
}

tmi_shift tmi_one_bit_pair(const tmi_one_bit *bit, int64_t a, int64_t b, int order)
{
    if (order == 0) return (tmi_shift){{{bit->tell_one, a}, {bit->lie_zero, b}}, 2, bit->tell_one, bit->lie_zero, NULL};
    return (tmi_shift){{{bit->lie_one, a}, {bit->tell_zero, b}}, 2, bit->tell_zero, bit->lie_one, NULL};
}

tamis_bound tmi_one_bit_local(const tmi_one_bit *bit, int order)
{
    tmi_shift pair = tmi_one_bit_pair(bit, 0, 0, order);
    tmi_ball x, y;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_set_number(&x, pair.more, TMI_BITS_FIRST);
    tmi_ball_set_number(&y, pair.less, TMI_BITS_FIRST);
    tmi_ball_div(&x, &x, &y, TMI_BITS_FIRST);
    tmi_ball_log(&x, &x, TMI_BITS_FIRST);
    tamis_bound local = tmi_ball_bound(&x);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    return local;
}

/* ---- delta ---- */

typedef struct block {
    int64_t first, last;
    int order;
    double upper;
} block;

typedef struct search {
    const tmi_one_bit *bit;
    const tmi_loss_at *at;
    block *blocks;
    size_t count, room;
    int64_t pairs;
    double width; /* of one pair's delta, where that does not decide on which side of the goal it is */
    double goal;
    double best; /* delta of a composition, from below */
    tamis_anonymous_worst worst;
} search;

static tamis_status look(tamis_bound *delta, search *s, int64_t a, int64_t b, int order, tamis_error *err)
{
    tmi_shift pair = tmi_one_bit_pair(s->bit, a, b, order);
    tamis_status status = tmi_shift_sums(delta, &pair, s->at, err);
    bool decided = s->goal > 0 && (delta->upper <= s->goal || delta->lower > s->goal);
    s->pairs++;
    if (status != TAMIS_OK || decided || delta->upper - delta->lower <= s->width * delta->upper) return status;
    return tmi_shift_bound(delta, &pair, s->at, s->width, err);
}

static tamis_status look_at_one(tamis_bound *delta, search *s, int64_t a, int order, tamis_error *err)
{
    tamis_status status = look(delta, s, a, s->bit->others - a, order, err);
    if (status == TAMIS_OK && delta->lower > s->best) {
        s->best = delta->lower;
        s->worst = (tamis_anonymous_worst){a, order == 0 ? '+' : '-'};
    }
    return status;
}

static tamis_status add_block(search *s, int64_t first, int64_t last, int order, double most, tamis_error *err)
{
    tamis_bound delta = {0, 1};
    tamis_status status = TAMIS_OK;
    if (s->count == s->room) {
        size_t room = s->room < 64 ? 64 : 2 * s->room;
        block *more = tmi_realloc(s->blocks, room, sizeof *more);
        if (!more) return tmi_fail_memory(err);
        s->blocks = more;
        s->room = room;
    }
    if (first == last) TMI_TRY(look_at_one(&delta, s, first, order, err));
    else TMI_TRY(look(&delta, s, first, s->bit->others - last, order, err));
    s->blocks[s->count++] = (block){first, last, order, fmin(most, delta.upper)};
done:
    return status;
}

/* E = more/less of both orders at the least: no result reveals that much. Exact where E is. */
static tamis_status reveals_nothing(bool *nothing, const search *s, tamis_error *err)
{
    *nothing = true;
    for (int order = 0; order < s->bit->orders && *nothing; order++) {
        tmi_shift pair = tmi_one_bit_pair(s->bit, 0, 0, order);
        if (s->at->exp_eps) {
            tamis_number *x = NULL;
            tamis_status status = tmi_number_mul(&x, s->at->exp_eps, pair.less, err);
            if (status != TAMIS_OK) return status;
            *nothing = tmi_number_compare(x, pair.more) >= 0;
            tamis_number_free(x);
        } else {
            *nothing = tmi_shift_gains(&pair, s->at) < 0;
        }
    }
    return TAMIS_OK;
}

static size_t worst_block(const search *s)
{
    size_t worst = 0;
    for (size_t i = 1; i < s->count; i++)
        if (s->blocks[i].upper > s->blocks[worst].upper) worst = i;
    return worst;
}

static tamis_status halve(search *s, size_t i, tamis_error *err)
{
    block b = s->blocks[i];
    int64_t middle = b.first + (b.last - b.first) / 2;
    tamis_bound delta;
    tamis_status status = TAMIS_OK;
    s->blocks[i] = s->blocks[--s->count];
    TMI_TRY(add_block(s, b.first, middle, b.order, b.upper, err));
    TMI_TRY(add_block(s, middle + 1, b.last, b.order, b.upper, err));
    if (b.first < middle) TMI_TRY(look_at_one(&delta, s, middle, b.order, err));
done:
    return status;
}

tamis_status tmi_one_bit_delta(tamis_bound *delta, tamis_anonymous_worst *worst, const tmi_one_bit *bit, const tmi_loss_at *at,
                               tmi_effort effort, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    search s = {.bit = bit, .at = at, .width = fmin(1e-7, PAIR_SHARE * effort.width), .goal = effort.goal};
    bool nothing = false;
    tamis_bound at_end;
    *delta = (tamis_bound){0, 1};
    TMI_TRY(reveals_nothing(&nothing, &s, err));
    for (int order = 0; order < bit->orders && !nothing; order++) {
        TMI_TRY(look_at_one(&at_end, &s, bit->low, order, err));
        TMI_TRY(look_at_one(&at_end, &s, bit->high, order, err));
        TMI_TRY(add_block(&s, bit->low, bit->high, order, 1, err));
    }
    if (nothing) {
        *delta = (tamis_bound){0, 0};
        goto done;
    }
    for (;;) {
        size_t i = worst_block(&s);
        delta->upper = s.blocks[i].upper;
        bool known = effort.goal > 0 && (delta->upper <= effort.goal || s.best > effort.goal);
        if (known || s.blocks[i].first == s.blocks[i].last || delta->upper <= s.best * (1 + effort.width)) break;
        if (s.pairs > effort.pairs) break;
        TMI_TRY(halve(&s, i, err));
    }
    delta->lower = s.best;
done:
    if (status != TAMIS_OK) *delta = (tamis_bound){0, 1};
    if (worst) *worst = s.worst;
    tmi_free(s.blocks);
    return status;
}
