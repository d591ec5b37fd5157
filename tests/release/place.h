/* Eight rows, and a folder of its own for the ledger and the results of each test. */
#ifndef TESTS_RELEASE_PLACE_H
#define TESTS_RELEASE_PLACE_H

#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"

static const array_row rows[] = {
    {.x = 12.3, .g = "a", .h = "u"}, {.x = 500, .g = "a", .h = "v"},   {.x = -3, .g = "b", .h = "u"},
    {.x = NAN, .g = "b", .h = "w"},  {.x = 20.25, .g = "b", .h = "w"}, {.x = 29.9, .g = NULL, .h = "w"},
    {.x = 15, .g = "z", .h = "v"},   {.x = 11, .g = "a", .h = NULL},
};

static char out[128];

static int make_place(void **state)
{
    int failed = make_folder(state);
    snprintf(out, sizeof out, "%s/out", folder);
    return failed;
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_folder)

#endif
