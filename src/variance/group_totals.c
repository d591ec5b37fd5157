#include "variance/group_totals.h"

#include <math.h>
#include <stdlib.h>

#include "variance/method.h"

/* ---- pairs ---- */

static int compare(const void *a, const void *b)
{
    const tmi_hashed_cluster *x = a, *y = b;
    return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : x->place < y->place ? -1 : x->place > y->place;
}

int64_t tmi_sign_factor(int64_t psus)
{
    int64_t factor = INT64_C(1) << TMI_SIGN_BITS;
    const tmi_int128 wanted = (tmi_int128)psus << (2 * TMI_SIGN_BITS); /* of (m - 1) times its square */
    while (psus % 2 == 1 && (tmi_int128)factor * factor * (psus - 1) < wanted && psus > 1) factor++;
    return factor;
}

/* Group and signs of a pair are bits of the sum of both hashes, which is as random as each of them. */
static void put_pair(tmi_slot_sign *signs, int64_t *pairs, const tmi_hashed_cluster *a, const tmi_hashed_cluster *b,
                     int32_t factor)
{
    const uint64_t sum = a->hash + b->hash;
    const int32_t group = (int32_t)(sum % TMI_CHANGE_GROUPS), own = sum / TMI_CHANGE_GROUPS % 2 == 1 ? factor : -factor;
    signs[a->place] = (tmi_slot_sign){group, own};
    signs[b->place] = (tmi_slot_sign){group, -own};
    pairs[group]++;
}

/* Pairs all of [first, end), whose hashes differ in the bits below `bit` alone, but for one if they are odd in number; returns
 * that one, or NULL. Halves are paired by themselves: a cluster that comes or goes changes few pairs of the others. */
static const tmi_hashed_cluster *pair_all(tmi_slot_sign *signs, int64_t *pairs, const tmi_hashed_cluster *first,
                                          const tmi_hashed_cluster *end, int bit, int32_t factor)
{
    const tmi_hashed_cluster *middle = first;
    if (end - first < 2) return first < end ? first : NULL;
    if (bit == 0) middle = first + 1; /* equal hashes */
    else
        while (middle < end && (middle->hash >> (bit - 1)) % 2 == 0) middle++;
    const int next = bit > 0 ? bit - 1 : 0;
    const tmi_hashed_cluster *a = pair_all(signs, pairs, first, middle, next, factor),
                             *b = pair_all(signs, pairs, middle, end, next, factor);
    if (a && b) put_pair(signs, pairs, a, b, factor);
    return a && b ? NULL : a ? a : b;
}

void tmi_pair_clusters(tmi_slot_sign *signs, int64_t pairs[TMI_CHANGE_GROUPS], tmi_hashed_cluster *clusters, size_t count)
{
    for (size_t k = 0; k < count; k++) signs[clusters[k].place] = (tmi_slot_sign){.group = -1};
    qsort(clusters, count, sizeof *clusters, compare);
    pair_all(signs, pairs, clusters, clusters + count, 64, (int32_t)tmi_sign_factor((int64_t)count));
}

/* ---- as a method ---- */

/* All totals of a number are rounded; a record moves as many of them as of its numbers and slots, or all of them. */
static int64_t spare(const tmi_error_moves *moves, int64_t slots)
{
    (void)slots;
    return moves->touched * (moves->all ? TMI_CHANGE_GROUPS : 1);
}

static void settle(tmi_error_grid *g, const tmi_error_moves *moves, const tmi_psu_layout *layout)
{
    int64_t factor = 0;
    for (size_t h = 0; h < layout->count; h++) {
        const int64_t own = tmi_sign_factor(layout->strata[h].psus);
        factor = own > factor ? own : factor;
    }
    const tmi_int128 all = (tmi_int128)TMI_LARGEST_COEFFICIENT * moves->moved * moves->overlap * factor;
    const int64_t room = TMI_ERROR_STEPS - spare(moves, layout->slots);
    *g = (tmi_error_grid){.range = g->range, .blocks = 1};
    while ((all >> g->shift) / room >> 60 != 0) g->shift++;
    const tmi_int128 below = (tmi_int128)room << g->shift;
    g->divisor = (int64_t)((all + below - 1) / below);
}

static int64_t most_blocks(const tmi_psu_layout *layout, double cv)
{
    (void)layout;
    (void)cv;
    return 1;
}

/* Rounding down twice is rounding down once. */
static void values(int64_t values[TMI_CHANGE_GROUPS], const tmi_int128 *totals, const tmi_slot_sign *signs,
                   const tmi_error_grid *g, const tmi_psu_layout *layout)
{
    const tmi_int128 most = TMI_LARGEST_ERROR;
    for (int32_t group = 0; group < TMI_CHANGE_GROUPS; group++) {
        tmi_int128 sum = 0;
        for (int64_t slot = 0; slot < layout->slots; slot++)
            if (signs[slot].group == group) sum += signs[slot].factor * totals[slot];
        const tmi_int128 x = tmi_error_floor(sum >> g->shift, g->divisor);
        values[group] = (int64_t)(x > most ? most : x < -most ? -most : x);
    }
}

static double worth(const tmi_error_grid *g, const tmi_psu_layout *layout, double cv)
{
    (void)layout;
    (void)cv;
    return ldexp((double)g->divisor, g->shift - TMI_SIGN_BITS);
}

static double expected_gain(bool single)
{
    (void)single;
    return 2;
}

const tmi_error_method tmi_group_totals = {
    .slots = true,
    .power = 1,
    .combine = tmi_combine_linear,
    .unit = 1.0 / TMI_LARGEST_COEFFICIENT,
    .settle = settle,
    .spare = spare,
    .most_blocks = most_blocks,
    .values = values,
    .worth = worth,
    .expected_gain = expected_gain,
    .weighed = "groups",
    .name = "totals of groups of clusters: ",
    .words = ", as totals of groups of clusters, for changes to later waves",
    .inequality =
        "a cluster counts in one group, with one sign: a record moves the groups by what it moves the totals of clusters, "
        "which",
};
