/* Carry-save adders, as Harley and Seal count the ones of a word, but for each position by itself. A carry-save adder takes three
 * words and gives two, the sums and the carries of 64 columns at once. Sixteen vectors of words are reduced to one vector of
 * sixteens; what is left in ones, twos, fours and eights is carried over to the next sixteen. The sixteens are spread over
 * counters of a byte for each position, which are emptied before they can overflow, after 255 rounds.
 *
 * Reports of up to 64 bits lie several to a word, and the array is counted as rows of four words; positions that are alike are
 * added up at the end. Longer reports have whole words: four columns of words are counted at a time, going down the rows.
 *
 * The vectors are gcc's and clang's: they become whatever registers the machine has. */
#include "collect/tally/positions.h"

#include <stdbool.h>
#include <string.h>

#include "collect/packed.h"

#define LANES 4
#define ROUNDS 255

typedef uint64_t vector __attribute__((vector_size(8 * LANES), aligned(8)));

#define SPREAD (~UINT64_C(0) / 255) /* the lowest bit of each byte */

/* Everything up to count_all becomes part of its caller, which chooses the registers. */
#define INLINE __attribute__((always_inline)) static inline

/* *low + *x + *y becomes *low + 2 *carry. Vectors are handed over by address: how a function takes one by value depends on the
 * machine. */
INLINE void add3(vector *carry, vector *low, const vector *x, const vector *y)
{
    const vector half = *low ^ *x, both = (*low & *x) | (half & *y);
    *low = half ^ *y;
    *carry = both;
}

/* Two rows of LANES words, `pitch` words apart; then four, and eight. There are no arrays and no loops here: vectors in an array
 * would stay in memory. */
INLINE void add_two(vector *two, vector *ones, const uint64_t *words, size_t pitch)
{
    vector x, y;
    memcpy(&x, words, sizeof x);
    memcpy(&y, words + pitch, sizeof y);
    add3(two, ones, &x, &y);
}

INLINE void add_four(vector *four, vector *ones, vector *twos, const uint64_t *words, size_t pitch)
{
    vector x, y;
    add_two(&x, ones, words, pitch);
    add_two(&y, ones, words + 2 * pitch, pitch);
    add3(four, twos, &x, &y);
}

INLINE void add_eight(vector *eight, vector *ones, vector *twos, vector *fours, const uint64_t *words, size_t pitch)
{
    vector x, y;
    add_four(&x, ones, twos, words, pitch);
    add_four(&y, ones, twos, words + 4 * pitch, pitch);
    add3(eight, fours, &x, &y);
}

/* counts[64 lane + bit] += weight times that bit of x */
static void add_bits(uint64_t *counts, const vector *x, uint64_t weight)
{
    uint64_t lanes[LANES];
    memcpy(lanes, x, sizeof lanes);
    for (size_t lane = 0; lane < LANES; lane++)
        for (uint64_t left = lanes[lane]; left != 0; left &= left - 1)
            counts[64 * lane + (size_t)__builtin_ctzll(left)] += weight;
}

/* The counter of bit 8 i + j of a lane is byte i of that lane of bytes[j]. */
static void empty_bytes(uint64_t *counts, vector bytes[8])
{
    for (size_t j = 0; j < 8; j++) {
        uint64_t lanes[LANES];
        memcpy(lanes, &bytes[j], sizeof lanes);
        for (size_t lane = 0; lane < LANES; lane++)
            for (size_t i = 0; i < 8; i++) counts[64 * lane + 8 * i + j] += 16 * (lanes[lane] >> 8 * i & 255);
    }
    memset(bytes, 0, 8 * sizeof *bytes);
}

/* counts[64 * LANES] of `rows` rows of LANES words. The sums are variables of their own, so that they stay in registers. */
INLINE void count_all(uint64_t *counts, const uint64_t *words, size_t pitch, size_t rows)
{
    vector ones = {0}, twos = {0}, fours = {0}, eights = {0}, bytes[8] = {{0}}, x, y, sixteen;
    size_t row = 0;
    for (unsigned round = 1; rows - row >= 16; row += 16, round++) {
        add_eight(&x, &ones, &twos, &fours, words + row * pitch, pitch);
        add_eight(&y, &ones, &twos, &fours, words + (row + 8) * pitch, pitch);
        add3(&sixteen, &eights, &x, &y);
        for (int j = 0; j < 8; j++) bytes[j] += (sixteen >> j) & SPREAD;
        if (round % ROUNDS == 0) empty_bytes(counts, bytes);
    }
    empty_bytes(counts, bytes);
    add_bits(counts, &ones, 1);
    add_bits(counts, &twos, 2);
    add_bits(counts, &fours, 4);
    add_bits(counts, &eights, 8);
    for (; row < rows; row++) {
        vector last;
        memcpy(&last, words + row * pitch, sizeof last);
        add_bits(counts, &last, 1);
    }
}

#if defined(__x86_64__)
/* The whole vector in one register: three times as fast where the processor has it. */
__attribute__((target("avx2"))) static void count_wide(uint64_t *counts, const uint64_t *words, size_t pitch, size_t rows)
{
    count_all(counts, words, pitch, rows);
}

static bool is_wide(void) { return __builtin_cpu_supports("avx2"); }
#else
#define count_wide count_all
static bool is_wide(void) { return false; }
#endif

static void count_rows(uint64_t *counts, const uint64_t *words, size_t pitch, size_t rows)
{
    if (is_wide()) count_wide(counts, words, pitch, rows);
    else count_all(counts, words, pitch, rows);
}

/* One column of words. */
static void count_column(uint64_t *counts, const uint64_t *words, size_t pitch, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        for (uint64_t left = words[row * pitch]; left != 0; left &= left - 1) counts[__builtin_ctzll(left)]++;
}

/* Several reports in a word. */
static void count_short(uint64_t *counts, const uint64_t *words, size_t rows, size_t bits)
{
    const size_t stride = tmi_packed_stride(bits), count = tmi_packed_words(bits, rows), full = count / LANES;
    uint64_t found[64 * LANES] = {0};
    count_rows(found, words, LANES, full);
    for (size_t i = full * LANES; i < count; i++) count_column(found, words + i, 1, 1);
    for (size_t i = 0; i < 64 * LANES; i++)
        if (i % stride < bits) counts[i % stride] += found[i];
}

void tmi_count_positions(uint64_t *counts, const uint64_t *words, size_t rows, size_t bits)
{
    if (bits <= 64) {
        count_short(counts, words, rows, bits);
        return;
    }
    const size_t pitch = tmi_packed_stride(bits) / 64;
    for (size_t column = 0; column < pitch;) {
        uint64_t found[64 * LANES] = {0};
        const size_t wide = pitch - column >= LANES ? LANES : 1;
        if (wide == LANES) count_rows(found, words + column, pitch, rows);
        else count_column(found, words + column, pitch, rows);
        for (size_t i = 0; i < 64 * wide && 64 * column + i < bits; i++) counts[64 * column + i] += found[i];
        column += wide;
    }
}
