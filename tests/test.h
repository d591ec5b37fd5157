/* What every test includes: cmocka and its needs, the public header. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <tamis/experimental.h>

/* How many cases, draws or seconds a sampled test takes: `make test` runs `thin` of them, `make test-long` all. */
static inline int test_size(int thin, int all) { return getenv("TAMIS_TEST_LONG") ? all : thin; }

/* The caller frees it. */
static inline tamis_number *number(const char *text)
{
    tamis_number *x = NULL;
    assert_int_equal(tamis_number_read(&x, text, NULL), TAMIS_OK);
    return x;
}

/* To as many digits as a reference has. */
static inline bool close_to(double x, double reference) { return fabs(x - reference) <= 1e-9 * fabs(reference); }

/* The next of a stream of numbers that is the same in every run: 31 bits. */
static inline uint64_t next_number(uint64_t *stream)
{
    *stream = *stream * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *stream >> 33;
}

/* The same for 64 bits (splitmix64). */
static inline uint64_t next_word(uint64_t *stream)
{
    uint64_t z = *stream += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Ends a case that cannot run here, or not now. cmocka's own skip() prints "not ok", which counts as a failure; this prints a
 * line that scripts/test lists, and the case passes. */
#define SKIP(why) \
    do { \
        printf("# SKIP %s: %s\n", __func__, why); \
        fflush(stdout); \
        return; \
    } while (0)

#endif
