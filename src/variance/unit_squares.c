/* Sampling variances of rows that were drawn one by one with unequal weights: V is the sum over the rows of a e^2, a about w^2
 * and e the linearised variable of the number.
 *
 * The engine adds up rows of weight a in the levels of their numbers, which are products of two: for one number t, a (1-t)^2,
 * 2 a t(1-t) and a t^2. A function that is linear in t, with the values d0 at 0 and d1 at 1, has the square d0^2 (1-t)^2 +
 * d0 d1 2t(1-t) + d1^2 t^2. So the sum of a e^2 is a combination of the levels, with products of whole numbers d as
 * coefficients, for each number of a row and any of them together. A function that is quadratic in t is linear in each of two
 * numbers t, t' that are the same; its square has the levels of both.
 *
 * Sensitivity. What a row adds to the combination is a times a square, or a sum of squares, that is largest at the ends of the
 * ranges, where it is known from the d alone: between 0 and a times the range. A record that is replaced leaves one number and
 * enters another, or changes within one. So all numbers of a statistic together move by (the weight that moves) times the range,
 * times the numbers that a row is in; tests/variance/unit_squares.c looks at all neighbours of small samples. Where a row is in
 * all numbers, ranges are raised so that its squares, each over the range of its number, add up to 1 at most at all ends, and
 * between them too, since squares are convex.
 *
 * The relative noise of V falls with the number of rows, as that of S does not: squares of units are small beside their sum. */
#include <math.h>

#include "variance/method.h"

/* A coefficient is a sum of products of two d, one for each way to pair the ends of all numbers but one: 2^30 at most. */
#define LARGEST_SUM_BITS 30
#define UNIT_BITS 29 /* of one over the unit: of two numbers whose d have 14 bits */

/* Numbers that a row has, or two: of one number each pair of ends is counted twice. */
static size_t doublings_of(const tmi_linearised *e) { return e->numbers > 2 ? e->numbers - 1 : 1; }

static int bits_of(const tmi_linearised *e) { return (LARGEST_SUM_BITS - (int)doublings_of(e)) / 2; }

static double size_at(const tmi_linearised *e, size_t k)
{
    double sum = 0;
    for (size_t t = 0; t < e->terms; t++) sum += e->values[t][k] * e->values[t][k];
    return sqrt(sum);
}

/* Whether all numbers are at an end: no level is a product of two different factors. */
static bool is_end(const tmi_linearised *e, size_t level)
{
    bool end = true;
    for (size_t i = e->numbers; i-- > 0; level /= e->sizes[i]) end = end && level % e->sizes[i] != 1;
    return end;
}

static int64_t value_at(const tmi_linearised *e, size_t term, double largest, size_t cell, size_t level)
{
    const double x = e->values[term][cell * e->levels + level];
    return isfinite(x) ? (int64_t)lrint(ldexp(x / largest, bits_of(e))) : 0;
}

/* Level 1 of a number is the product of its ends, 0 and 2. The sum of d d' over all ways to give one end of each such number to
 * d and the other to d', times a power of two that makes the number of ways the same for all levels. */
static int64_t coefficient_at(const tmi_linearised *e, double largest, size_t cell, size_t level)
{
    size_t steps[TMI_ERROR_NUMBERS], first = level, between = 0, stride = 1;
    int64_t sum = 0;
    for (size_t i = e->numbers, rest = level; i-- > 0; rest /= e->sizes[i], stride *= e->sizes[i]) {
        if (rest % e->sizes[i] != 1) continue;
        steps[between++] = stride;
        first -= stride; /* the end 0 */
    }
    const size_t ways = between > 0 ? between - 1 : 0; /* the last one's ends: both orders are the same product */
    for (size_t way = 0; way < (size_t)1 << ways; way++) {
        size_t one = first, other = first;
        for (size_t k = 0; k < between; k++) *(k < ways && way >> k & 1 ? &other : &one) += 2 * steps[k];
        for (size_t t = 0; t < e->terms; t++) sum += value_at(e, t, largest, cell, one) * value_at(e, t, largest, cell, other);
    }
    return sum * ((int64_t)1 << (doublings_of(e) - ways));
}

/* Ends of numbers are the ends of e, which is largest at some of them. */
static double combine(int32_t *coefficients, int64_t *range, const tmi_linearised *e)
{
    const size_t count = e->cells * e->levels;
    double largest = 0;
    for (size_t k = 0; k < count; k++)
        if (is_end(e, k % e->levels)) largest = fmax(largest, size_at(e, k));
    const bool usable = largest > 0 && isfinite(largest);
    *range = 0;
    for (size_t k = 0; k < count; k++) {
        const int64_t own = usable ? coefficient_at(e, largest, k / e->levels, k % e->levels) : 0;
        coefficients[k] = (int32_t)own;
        *range = is_end(e, k % e->levels) && own > *range ? own : *range; /* values elsewhere are between those of the ends */
    }
    if (e->together > 0) {
        const tmi_int128 one = (tmi_int128)1 << TMI_TOGETHER_BITS;
        *range = (int64_t)((*range * (tmi_int128)e->together + one - 1) / one);
    }
    return usable ? largest * sqrt(ldexp(1, UNIT_BITS - (int)doublings_of(e) - 2 * bits_of(e))) : 0;
}

static int64_t spare(const tmi_error_moves *moves, int64_t slots)
{
    (void)slots;
    return moves->touched;
}

static void settle(tmi_error_grid *g, const tmi_error_moves *moves, const tmi_psu_layout *layout)
{
    const tmi_int128 all = (tmi_int128)(moves->single ? moves->within : moves->moved) * (g->range > 0 ? g->range : 1) *
                           moves->overlap,
                     room = TMI_ERROR_STEPS - spare(moves, 1);
    (void)layout;
    for (g->shift = 0; (all >> g->shift) >> 60 != 0;) g->shift++;
    const tmi_int128 below = room << g->shift;
    g->divisor = (int64_t)((all + below - 1) / below);
    g->blocks = 1;
}

static int64_t most_blocks(const tmi_psu_layout *layout, double cv)
{
    (void)layout;
    (void)cv;
    return 1;
}

/* Rounding down twice is rounding down once. */
static int64_t value(const tmi_int128 *totals, int64_t *room, const tmi_error_grid *g, const tmi_psu_layout *layout)
{
    const tmi_int128 x = tmi_error_floor(totals[0] >> g->shift, g->divisor), most = TMI_LARGEST_ERROR;
    (void)room;
    (void)layout;
    return (int64_t)(x > most ? most : x < -most ? -most : x);
}

static double worth(const tmi_error_grid *g, const tmi_psu_layout *layout, double cv)
{
    (void)layout;
    (void)cv;
    return ldexp((double)g->divisor, g->shift);
}

static double expected_gain(bool single) { return single ? 1 : 2; }

const tmi_error_method tmi_unit_squares = {
    .power = 2,
    .linear = true,
    .combine = combine,
    .unit = 1.0 / ((int64_t)1 << UNIT_BITS),
    .settle = settle,
    .spare = spare,
    .most_blocks = most_blocks,
    .value = value,
    .worth = worth,
    .expected_gain = expected_gain,
    .least_part = 0.1,
    .weighed = "squares",
    .name = "sampling variances: ",
    .words = ", as sampling variances from squares of units",
    .inequality = "a sampling variance is a sum over the rows of squares between 0 and a bound; whose squares, and",
};
