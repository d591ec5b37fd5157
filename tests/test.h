/* What every test includes: cmocka and its needs, the public header. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <tamis/tamis.h>

/* How many cases, draws or seconds a sampled test takes: `make test` runs `thin` of them, `make test-long` all. */
static inline int test_size(int thin, int all) { return getenv("TAMIS_TEST_LONG") ? all : thin; }

/* Ends a case that cannot run here, or not now. cmocka's own skip() prints "not ok", which counts as a failure; this prints a line
 * that scripts/test lists, and the case passes. */
#define SKIP(why) do { printf("# SKIP %s: %s\n", __func__, why); fflush(stdout); return; } while (0)

#endif
