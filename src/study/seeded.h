/* Random numbers of simulations: the same for the same seed, task and run, whatever the number of threads. They decide
 * which samples a study imagines. They are not noise and cannot become any: no room below study knows this header, and
 * tests/house/streams.py looks at the objects.                                                                       */
#ifndef TMI_STUDY_SEEDED_H
#define TMI_STUDY_SEEDED_H

#include <math.h>
#include <stdint.h>

/* xoshiro256++ of Blackman and Vigna; the state is never all zero. */
typedef struct tmi_stream {
    uint64_t s[4];
} tmi_stream;

/* A stream of its own for each run of each task. */
tmi_stream tmi_stream_of(uint64_t seed, uint64_t task, uint64_t run);

static inline uint64_t tmi_stream_bits(tmi_stream *r)
{
    uint64_t *s = r->s;
    const uint64_t sum = s[0] + s[3], bits = (sum << 23 | sum >> 41) + s[0], t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return bits;
}

/* Uniform in (0, 1): multiples of 2^-53 shifted by half a step, so that the logarithm is finite. */
static inline double tmi_stream_unit(tmi_stream *r) { return ((double)(tmi_stream_bits(r) >> 11) + 0.5) * 0x1p-53; }

/* Uniform among 0 .. n - 1, 1 <= n < 2^32, without bias (Lemire). */
static inline uint32_t tmi_stream_below(tmi_stream *r, uint32_t n)
{
    uint64_t product = (tmi_stream_bits(r) >> 32) * n;
    if ((uint32_t)product < n)
        for (const uint32_t least = (uint32_t)(-n) % n; (uint32_t)product < least;) product = (tmi_stream_bits(r) >> 32) * n;
    return (uint32_t)(product >> 32);
}

/* Laplace of scale 1. */
static inline double tmi_stream_laplace(tmi_stream *r)
{
    const uint64_t bits = tmi_stream_bits(r);
    const double size = -log(((double)(bits >> 11) + 0.5) * 0x1p-53);
    return bits & 1 ? size : -size;
}

double tmi_stream_normal(tmi_stream *r);              /* standard */
double tmi_stream_gamma(tmi_stream *r, double shape); /* shape >= 1, scale 1 */

/* A simple random sample of `sample` of the numbers 0 .. population - 1, ascending. `marks` has a zeroed word for every 64 of
 * them, and is zeroed again. Needs sample <= population < 2^32. */
void tmi_stream_sample(uint32_t *chosen, tmi_stream *r, uint32_t population, uint32_t sample, uint64_t *marks);

#endif
