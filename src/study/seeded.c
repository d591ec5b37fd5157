#include "study/seeded.h"

#include <stdbool.h>

/* splitmix64: a bijection that spreads a counter over all bits. */
static uint64_t spread(uint64_t *counter)
{
    uint64_t z = *counter += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

tmi_stream tmi_stream_of(uint64_t seed, uint64_t task, uint64_t run)
{
    tmi_stream r;
    uint64_t counter = seed;
    counter = spread(&counter) ^ task;
    counter = spread(&counter) ^ run;
    for (int i = 0; i < 4; i++) r.s[i] = spread(&counter);
    return r;
}

/* Box and Muller; the second normal of the pair is not kept, so that a stream has no hidden state. */
double tmi_stream_normal(tmi_stream *r)
{
    const double length = sqrt(-2 * log(tmi_stream_unit(r)));
    return length * cos(6.283185307179586 * tmi_stream_unit(r));
}

/* Marsaglia and Tsang: the cube of a shifted normal, accepted or rejected. */
double tmi_stream_gamma(tmi_stream *r, double shape)
{
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = tmi_stream_normal(r), root = 1 + c * x, v = root * root * root;
        if (v > 0 && log(tmi_stream_unit(r)) < 0.5 * x * x + d - d * v + d * log(v)) return d * v;
    }
}

/* The smaller of the sample and its complement is marked; then the marks are read in order. */
void tmi_stream_sample(uint32_t *chosen, tmi_stream *r, uint32_t population, uint32_t sample, uint64_t *marks)
{
    const bool rest = sample > population / 2;
    const uint32_t marked = rest ? population - sample : sample, words = (population + 63) / 64;
    uint32_t count = 0;
    for (uint32_t i = 0; i < marked;) {
        const uint32_t at = tmi_stream_below(r, population);
        const uint64_t bit = UINT64_C(1) << at % 64;
        i += !(marks[at / 64] & bit);
        marks[at / 64] |= bit;
    }
    for (uint32_t w = 0; w < words; w++) {
        uint64_t word = rest ? ~marks[w] : marks[w];
        if (w + 1 == words && population % 64 != 0) word &= (UINT64_C(1) << population % 64) - 1;
        for (marks[w] = 0; word != 0; word &= word - 1) chosen[count++] = 64 * w + (uint32_t)__builtin_ctzll(word);
    }
}
