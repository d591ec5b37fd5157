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

#include <string.h>

#include "collect/packed.h"

#define LANES 4
#define ROUNDS 255

typedef uint64_t vector __attribute__((vector_size(8 * LANES), aligned(8)));

#define SPREAD (~UINT64_C(0) / 255) /* the lowest bit of each byte */

/* *low + *x + *y becomes *low + 2 *carry. Vectors are handed over by address: how a function takes one by value depends on the
 * machine. */
static inline void add3(vector *carry, vector *low, const vector *x, const vector *y)
{
    const vector half = *low ^ *x, both = (*low & *x) | (half & *y);
    *low = half ^ *y;
    *carry = both;
}

typedef struct sums {
    vector ones, twos, fours, eights;
    vector bytes[8]; /* counter of bit 8 i + j of a lane: byte i of that lane of bytes[j] */
} sums;

/* counts[64 lane + bit] += weight times that bit of x */
static void add_bits(uint64_t *counts, const vector *x, uint64_t weight)
{
    uint64_t lanes[LANES];
    memcpy(lanes, x, sizeof lanes);
    for (size_t lane = 0; lane < LANES; lane++)
        for (uint64_t left = lanes[lane]; left != 0; left &= left - 1)
            counts[64 * lane + (size_t)__builtin_ctzll(left)] += weight;
}

static void add_bytes(uint64_t *counts, sums *s)
{
    for (size_t j = 0; j < 8; j++) {
        uint64_t lanes[LANES];
        memcpy(lanes, &s->bytes[j], sizeof lanes);
        for (size_t lane = 0; lane < LANES; lane++)
            for (size_t i = 0; i < 8; i++) counts[64 * lane + 8 * i + j] += 16 * (lanes[lane] >> 8 * i & 255);
    }
    memset(s->bytes, 0, sizeof s->bytes);
}

/* Four rows of LANES words that begin `pitch` words apart, from `words` on. */
static inline void add_four(vector *four, sums *s, const uint64_t *words, size_t pitch)
{
    vector rows[4], twos[2];
    for (size_t i = 0; i < 4; i++) memcpy(&rows[i], words + i * pitch, sizeof *rows);
    add3(&twos[0], &s->ones, &rows[0], &rows[1]);
    add3(&twos[1], &s->ones, &rows[2], &rows[3]);
    add3(four, &s->twos, &twos[0], &twos[1]);
}

static inline void add_sixteen(sums *s, const uint64_t *words, size_t pitch)
{
    vector fours[4], eights[2], sixteen;
    for (size_t i = 0; i < 4; i++) add_four(&fours[i], s, words + 4 * i * pitch, pitch);
    add3(&eights[0], &s->fours, &fours[0], &fours[1]);
    add3(&eights[1], &s->fours, &fours[2], &fours[3]);
    add3(&sixteen, &s->eights, &eights[0], &eights[1]);
    for (int j = 0; j < 8; j++) s->bytes[j] += (sixteen >> j) & SPREAD;
}

/* counts[64 * LANES] of `rows` rows of LANES words. */
static void count_rows(uint64_t *counts, const uint64_t *words, size_t pitch, size_t rows)
{
    sums s;
    memset(&s, 0, sizeof s);
    size_t row = 0;
    for (unsigned round = 1; rows - row >= 16; row += 16, round++) {
        add_sixteen(&s, words + row * pitch, pitch);
        if (round % ROUNDS == 0) add_bytes(counts, &s);
    }
    add_bytes(counts, &s);
    add_bits(counts, &s.ones, 1);
    add_bits(counts, &s.twos, 2);
    add_bits(counts, &s.fours, 4);
    add_bits(counts, &s.eights, 8);
    for (; row < rows; row++) {
        vector last;
        memcpy(&last, words + row * pitch, sizeof last);
        add_bits(counts, &last, 1);
    }
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
