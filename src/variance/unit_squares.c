/* Sampling variances of rows that were drawn one by one with unequal weights: V is the sum over the rows of a e^2, a about w^2
 * and e the linearised variable of the number.
 *
 * The engine adds up rows of weight a in the levels of their numbers, which are products of two: for one number t, a (1-t)^2,
 * 2 a t(1-t) and a t^2. A function that is linear in t, with the values d0 at 0 and d1 at 1, has the square d0^2 (1-t)^2 +
 * d0 d1 2t(1-t) + d1^2 t^2. So the sum of a e^2 is a combination of the levels, with products of whole numbers d as
 * coefficients, for each number of a row and any two of them.
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

#define COEFFICIENT_BITS 14 /* of the d: a coefficient is twice a sum of products, below 2^31 */
#define LARGEST ((int32_t)1 << COEFFICIENT_BITS)

/* The two ends of a number between which a level is a product: level 1 of (0, 2); others are squares. */
static void ends_of(size_t ends[2], size_t level)
{
    ends[0] = level == 1 ? 0 : level;
    ends[1] = level == 1 ? 2 : level;
}

static double size_at(const tmi_linearised *e, size_t k)
{
    double sum = 0;
    for (size_t t = 0; t < e->terms; t++) sum += e->values[t][k] * e->values[t][k];
    return sqrt(sum);
}

static int64_t end_at(const tmi_linearised *e, size_t term, double largest, size_t cell, size_t first, size_t second)
{
    const double x = e->values[term][cell * e->levels + first * e->last + second];
    return isfinite(x) ? (int64_t)lrint(x / largest * LARGEST) : 0;
}

/* Twice the coefficient of a level: of two numbers, the mean over both ways to pair their ends. */
static int64_t coefficient_at(const tmi_linearised *e, double largest, size_t cell, size_t level)
{
    size_t x[2], y[2];
    int64_t sum = 0;
    ends_of(x, level / e->last);
    ends_of(y, level % e->last);
    for (size_t t = 0; t < e->terms; t++)
        sum += end_at(e, t, largest, cell, x[0], y[0]) * end_at(e, t, largest, cell, x[1], y[1]) +
               end_at(e, t, largest, cell, x[0], y[1]) * end_at(e, t, largest, cell, x[1], y[0]);
    return sum;
}

static double combine(int32_t *coefficients, int64_t *range, const tmi_linearised *e)
{
    const size_t count = e->cells * e->levels;
    double largest = 0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, size_at(e, k));
    const bool usable = largest > 0 && isfinite(largest);
    *range = 0;
    for (size_t k = 0; k < count; k++) {
        const size_t level = k % e->levels;
        const int64_t own = usable ? coefficient_at(e, largest, k / e->levels, level) : 0;
        const bool end = level / e->last != 1 && level % e->last != 1; /* values elsewhere are between those of the ends */
        coefficients[k] = (int32_t)own;
        *range = end && own > *range ? own : *range;
    }
    if (e->together > 0) {
        const tmi_int128 one = (tmi_int128)1 << TMI_TOGETHER_BITS;
        *range = (int64_t)((*range * (tmi_int128)e->together + one - 1) / one);
    }
    return usable ? largest : 0;
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
    .unit = 0.5 / LARGEST / LARGEST,
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
