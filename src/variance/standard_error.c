#include "variance/standard_error.h"

#include <math.h>

#include "variance/method.h"

/* ---- layouts ---- */

/* A stratum as one block sees it: its slots k, k + stride, k + 2 stride, ... */
typedef struct part {
    const tmi_psu_stratum *stratum;
    int64_t first, stride, count; /* slots, counted from the stratum's first one */
} part;

/* Strata with at least two slots per block are dealt out, slot by slot; smaller ones go to one block as a whole. False: the
 * block has nothing of the stratum. */
static bool part_of(part *p, const tmi_psu_layout *layout, size_t h, int64_t block, int64_t blocks)
{
    const tmi_psu_stratum *s = &layout->strata[h];
    if (s->slots >= 2 * blocks) {
        *p = (part){s, block, blocks, (s->slots - block + blocks - 1) / blocks};
        return true;
    }
    *p = (part){s, 0, 1, s->slots};
    return (int64_t)h % blocks == block;
}

/* PSUs of a part, and the sum of their squares by slot. */
static void count_psus(int64_t *psus, tmi_int128 *squares, int64_t *fewest, const part *p)
{
    *psus = 0;
    *squares = 0;
    *fewest = INT64_MAX;
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t b = tmi_psus_in_slot(p->stratum, p->first + k * p->stride);
        *psus += b;
        *squares += (tmi_int128)b * b;
        *fewest = b < *fewest ? b : *fewest;
    }
}

/* lambda m^2/(m^2 - sum of b^2) in steps of 2^-24, rounded up. Bit by bit, since m^2 M may have 120 bits. */
static int64_t factor_of(const part *p)
{
    int64_t m, fewest;
    tmi_int128 squares;
    count_psus(&m, &squares, &fewest, p);
    const int64_t M = p->stratum->population, left = M > 0 ? M - p->stratum->psus : 1, all = M > 0 ? M : 1;
    const tmi_int128 m2 = (tmi_int128)m * m, below = (m2 - squares) * all, above = m2 * left;
    int64_t factor = (int64_t)(above / below);
    tmi_int128 rest = above % below;
    for (int bit = 0; bit < TMI_FACTOR_BITS; bit++) {
        const bool one = 2 * rest >= below;
        rest = 2 * rest - (one ? below : 0);
        factor = 2 * factor + one;
    }
    return factor + (rest > 0);
}

double tmi_layout_degrees(const tmi_psu_layout *layout)
{
    double sum = 0;
    for (size_t h = 0; h < layout->count; h++) sum += (double)(layout->strata[h].slots - 1);
    return sum;
}

/* PSUs that a block should have, where all are of one size: fewer make S too small by an amount that nobody knows. */
#define PSUS_PER_BLOCK 15

int64_t tmi_most_blocks(const tmi_psu_layout *layout, double cv)
{
    const double spread = 1 + cv * cv, most = (double)layout->slots / (PSUS_PER_BLOCK * spread * spread);
    int64_t blocks = 1;
    for (size_t h = 0; h < layout->count; h++)
        if (layout->strata[h].slots < layout->strata[h].psus) return 1;
    while (2 * (double)blocks <= most && blocks < TMI_MOST_BLOCKS) blocks *= 2;
    return blocks;
}

double tmi_block_factor(const tmi_psu_layout *layout, int64_t blocks, double cv)
{
    if (blocks == 1) return 1;
    const double spread = 1 + cv * cv, kurtosis = 3 * spread * spread, degrees = tmi_layout_degrees(layout) / (double)blocks;
    return (1 + (kurtosis - 1) / (8 * degrees)) / sqrt((double)blocks);
}

/* ---- S ---- */

static int64_t clamped(int64_t x)
{
    return x > TMI_LARGEST_TOTAL ? TMI_LARGEST_TOTAL : x < -TMI_LARGEST_TOTAL ? -TMI_LARGEST_TOTAL : x;
}

/* The nearest integer to a/b, b > 0; halves up. */
static tmi_int128 rounded(tmi_int128 a, tmi_int128 b)
{
    const tmi_int128 twice = 2 * a + b, whole = twice / (2 * b);
    return whole * (2 * b) > twice ? whole - 1 : whole;
}

/* A part's squared deviations times their factor, in steps of 2^-12, rounded down. |b T| < 2^20 * 2^60; a deviation is below
 * 2^45 + 1, the sum of their squares below 2^107 and a factor below 2^26. */
#define SQUARES_BITS 12 /* twice those of S */

static tmi_int128 squares_of(const int64_t *totals, const part *p)
{
    tmi_int128 sum = 0, squares = 0, unused;
    int64_t psus, fewest;
    count_psus(&psus, &unused, &fewest, p);
    for (int64_t k = 0; k < p->count; k++) sum += clamped(totals[p->first + k * p->stride]);
    for (int64_t k = 0; k < p->count; k++) {
        const int64_t slot = p->first + k * p->stride;
        const tmi_int128 d = clamped(totals[slot]) - rounded(tmi_psus_in_slot(p->stratum, slot) * sum, psus);
        squares += d * d;
    }
    const int64_t factor = factor_of(p), low = (INT64_C(1) << (TMI_FACTOR_BITS - SQUARES_BITS)) - 1;
    return (squares >> (TMI_FACTOR_BITS - SQUARES_BITS)) * factor +
           ((squares & low) * factor >> (TMI_FACTOR_BITS - SQUARES_BITS));
}

/* The largest integer whose square is at most x. */
static int64_t root(tmi_int128 x)
{
    tmi_int128 r = 0;
    for (int bit = 62; bit >= 0; bit--) {
        const tmi_int128 next = r + ((tmi_int128)1 << bit);
        if (next * next <= x) r = next;
    }
    return (int64_t)r;
}

int64_t tmi_standard_error(const int64_t *totals, const tmi_psu_layout *layout, int64_t blocks)
{
    int64_t all = 0;
    for (int64_t block = 0; block < blocks; block++) {
        const int64_t *own = totals;
        tmi_int128 squares = 0;
        for (size_t h = 0; h < layout->count; own += layout->strata[h++].slots) {
            part p;
            if (part_of(&p, layout, h, block, blocks)) squares += squares_of(own, &p);
        }
        all += root(squares);
    }
    return all;
}

/* ---- sensitivity ---- */

/* The least g with (g 2^-10)^2 >= above/below. */
static int64_t root_up(tmi_int128 above, tmi_int128 below)
{
    const tmi_int128 wanted = ((above << (2 * TMI_GAIN_BITS)) + below - 1) / below;
    int64_t g = root(wanted);
    while ((tmi_int128)g * g < wanted) g++;
    return g;
}

/* A vector x of a part has the squared norm A (sum of x^2 - 2 T sum of b x/m + T^2 sum of b^2/m^2). For 1 at one slot it is
 * A (1 - 2 b/m + B), B the sum of b^2/m^2, largest where b is least. */
static int64_t one_gain(const part *p)
{
    int64_t m, fewest;
    tmi_int128 squares;
    count_psus(&m, &squares, &fewest, p);
    const tmi_int128 m2 = (tmi_int128)m * m;
    return root_up(factor_of(p) * (m2 - 2 * (tmi_int128)fewest * m + squares), m2 << TMI_FACTOR_BITS);
}

int64_t tmi_one_slot_gain(const tmi_psu_layout *layout, int64_t blocks)
{
    int64_t most = 0;
    for (int64_t block = 0; block < blocks; block++)
        for (size_t h = 0; h < layout->count; h++) {
            part p;
            if (!part_of(&p, layout, h, block, blocks)) continue;
            const int64_t gain = one_gain(&p);
            most = gain > most ? gain : most;
        }
    return most;
}

/* Of one stratum: 1 and -1 have T = 0 and the squared norm 2 A; 1 and 1 have A (2 - 4 (b + b')/m + 4 B). Of two strata the
 * squares of their gains add up. The norm is convex in both numbers, so that no others are worse. */
int64_t tmi_two_slots_gain(const tmi_psu_layout *layout)
{
    const tmi_int128 one = tmi_one_slot_gain(layout, 1);
    int64_t most = root_up(2 * one * one, (tmi_int128)1 << (2 * TMI_GAIN_BITS));
    for (size_t h = 0; h < layout->count; h++) {
        part p;
        int64_t m, fewest;
        tmi_int128 squares;
        part_of(&p, layout, h, 0, 1);
        count_psus(&m, &squares, &fewest, &p);
        const tmi_int128 m2 = (tmi_int128)m * m, alike = 2 * m2 - 8 * (tmi_int128)fewest * m + 4 * squares,
                         worse = alike > 2 * m2 ? alike : 2 * m2;
        const int64_t gain = root_up(factor_of(&p) * worse, m2 << TMI_FACTOR_BITS);
        most = gain > most ? gain : most;
    }
    return most;
}

/* A mean is off by 1/2 at most, and factors are 9/4 at most; with 3 in their place there is room for the steps of 2^-12 that
 * each of up to slots/2 parts loses. Each block rounds its own S down by less than a step. */
int64_t tmi_standard_error_rounding(const tmi_psu_layout *layout, int64_t blocks)
{
    return (int64_t)ceil(sqrt(3 * (double)blocks * (double)layout->slots) / 2) + 1 + blocks / TMI_STANDARD_ERROR_STEP;
}

/* ---- as a method ---- */

#define LARGEST TMI_LARGEST_COEFFICIENT
#define MOVES_BITS 24 /* a record moves totals by 2^23 to 2^24 steps: rounding them does little, and none gets too large */

/* The range is from the smallest to the largest coefficient, 0 included, and what they make of weights below 0. Where numbers
 * move together, coefficients are divided by what they move by and rounded towards 0, so that those of all numbers at one place
 * add up to LARGEST at most. */
double tmi_combine_linear(int32_t *coefficients, int64_t *range, const tmi_linearised *e)
{
    const size_t count = e->cells * e->levels;
    const double *c = e->values[0];
    double largest = 0;
    int64_t low = 0, high = 0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(c[k]));
    const bool usable = largest > 0 && isfinite(largest);
    for (size_t k = 0; k < count; k++) {
        int32_t own = usable && isfinite(c[k]) ? (int32_t)lrint(c[k] / largest * LARGEST) : 0;
        if (e->together > 0) own = (int32_t)(own * (INT64_C(1) << TMI_TOGETHER_BITS) / e->together);
        coefficients[k] = own;
        low = own < low ? own : low;
        high = own > high ? own : high;
    }
    *range = e->signs ? 2 * (high > -low ? high : -low) : high - low;
    if (e->together > 0) largest *= ldexp((double)e->together, -TMI_TOGETHER_BITS);
    return usable ? largest : 0;
}

/* By how much all S of a statistic move together, in units of c T: half of `moved` is what a record adds. */
static tmi_int128 moves_of(const tmi_error_grid *g, const tmi_error_moves *moves, const tmi_psu_layout *layout)
{
    const int64_t one = tmi_one_slot_gain(layout, g->blocks);
    tmi_int128 gain = 2 * (tmi_int128)one;
    if (g->blocks == 1 && moves->single) { /* to another slot, or within one */
        const tmi_int128 two = tmi_two_slots_gain(layout), within = (one * (tmi_int128)g->range + LARGEST - 1) / LARGEST;
        gain = two > within ? two : within;
    }
    const tmi_int128 moved = gain * LARGEST * moves->moved * moves->overlap;
    return (moved + (2 << TMI_GAIN_BITS) - 1) >> (TMI_GAIN_BITS + 1);
}

/* A total is rounded to 1, which moves S by less than 2; a mean and the root as tmi_standard_error_rounding says, both before
 * and after, where a step is at least 8 of these; and S to a step. Where all records move, all totals are rounded. */
static int64_t spare(const tmi_error_moves *moves, int64_t slots)
{
    const int64_t rounding = tmi_standard_error_rounding(&(tmi_psu_layout){.slots = slots}, TMI_MOST_BLOCKS);
    return moves->touched * (3 + (3 + (moves->all ? 2 * slots : 0) + 2 * rounding) / 8);
}

static void settle(tmi_error_grid *g, const tmi_error_moves *moves, const tmi_psu_layout *layout)
{
    const tmi_int128 all = moves_of(g, moves, layout), room = TMI_ERROR_STEPS - spare(moves, layout->slots);
    g->shift = 0;
    while (all > (tmi_int128)1 << (MOVES_BITS + g->shift)) ++g->shift;
    while (g->shift <= 0 && all << (1 - g->shift) <= (tmi_int128)1 << MOVES_BITS && g->shift > -MOVES_BITS) --g->shift;
    const tmi_int128 above = TMI_STANDARD_ERROR_STEP * (g->shift < 0 ? all << -g->shift : all),
                     below = room << (g->shift > 0 ? g->shift : 0);
    g->divisor = (int64_t)((above + below - 1) / below);
}

/* The total of a slot on its grid. */
static int64_t total_of(tmi_int128 total, int shift)
{
    const tmi_int128 most = TMI_LARGEST_TOTAL, moved = shift < 0 ? total * ((tmi_int128)1 << -shift) : total >> shift;
    return (int64_t)(moved > most ? most : moved < -most ? -most : moved);
}

static int64_t value(const tmi_int128 *totals, int64_t *room, const tmi_error_grid *g, const tmi_psu_layout *layout)
{
    for (int64_t slot = 0; slot < layout->slots; slot++) room[slot] = total_of(totals[slot], g->shift);
    return tmi_standard_error(room, layout, g->blocks) / g->divisor;
}

static double worth(const tmi_error_grid *g, const tmi_psu_layout *layout, double cv)
{
    return ldexp((double)g->divisor / TMI_STANDARD_ERROR_STEP, g->shift) * tmi_block_factor(layout, g->blocks, cv);
}

static double expected_gain(bool single) { return single ? sqrt(2) : 2; }

const tmi_error_method tmi_psu_errors = {
    .slots = true,
    .power = 1,
    .combine = tmi_combine_linear,
    .unit = 1.0 / LARGEST,
    .settle = settle,
    .spare = spare,
    .most_blocks = tmi_most_blocks,
    .value = value,
    .worth = worth,
    .expected_gain = expected_gain,
    .least_part = 0.2, /* with less, totals of few clusters of very different sizes cover less often */
    .weighed = "psus",
    .name = "standard errors: ",
    .words = ", as standard errors from totals of clusters",
    .inequality = "a standard error is a seminorm S of the totals of clusters: |S(U) - S(U')| <= S(U - U'); whose totals, and",
};

double tmi_error_noise_in_blocks(double sd, double error, int64_t most)
{
    double blocks = 1;
    while (2 * blocks <= (double)most && sd / sqrt(blocks) > TMI_SMALL_ERROR_NOISE * error) blocks *= 2;
    return sd / sqrt(blocks);
}

tmi_int128 tmi_error_floor(tmi_int128 a, tmi_int128 b) { return a / b - (a % b < 0 ? 1 : 0); }
