/* What every test includes: cmocka and its needs, the public header. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <tamis/tamis.h>

/* How many cases, draws or seconds a sampled test takes: `make test` runs `thin` of them, `make test-long` all. */
static inline int test_size(int thin, int all) { return getenv("TAMIS_TEST_LONG") ? all : thin; }

#endif
