/* Advice on ranges: what is wrong is said, and memory may end anywhere. tests/cli/study_bounds.py has the numbers. */
#include "tests/test.h"

#include <stdio.h>
#include <tamis/experimental.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

#include "tests/release/plans.h"

static void null_is_invalid(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of("srs: {population: 20, sample: 5}", "1", "  - {total: x}\n");
    tamis_bounds_study *study = (tamis_bounds_study *)&plan;
    tamis_error err = {0};
    char *text = (char *)&err;
    assert_int_equal(tamis_bounds_study_new(NULL, plan, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "study: NULL");
    assert_int_equal(tamis_bounds_study_new(&study, NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "plan: NULL");
    assert_null(study);
    assert_int_equal(tamis_bounds_study_new(&study, plan, &(tamis_bounds_options){0}, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "population: NULL");
    assert_int_equal(tamis_bounds_study_text(&text, NULL, &err), TAMIS_INVALID);
    assert_null(text);
    assert_int_equal(tamis_bounds_study_json(NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_bounds_study_svg(&text, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "study: NULL");
    tamis_bounds_study_free(NULL);
    tamis_plan_free(plan);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    char path[] = "/tmp/tamis-bounds-XXXXXX.csv";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    dprintf(file, "x,g,h\n");
    for (int i = 0; i < 20; i++) dprintf(file, "%d,%s,u\n", 10 + i * i % 37, i % 2 ? "a" : "b");
    close(file);
    tamis_plan *plan = plan_of("srs: {population: 20, sample: 5}", "1", "  - {mean: x, by: g}\n");
    const tamis_bounds_options options = {.population = path};
    tamis_bounds_study *study = NULL;
    tamis_error err = {0};
    char *text = NULL;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 4, tamis_bounds_study_new(&study, plan, &options, &err), assert_null(study));
    tamis_plan_free(plan); /* the study holds it */
    EVERY_ALLOCATION_FAILS(tamis_bounds_study_text(&text, study, &err), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_bounds_study_json(&text, study, &err), assert_null(text));
    tamis_free(text);
    EVERY_ALLOCATION_FAILS(tamis_bounds_study_svg(&text, study, &err), assert_null(text));
    tamis_free(text);
    tamis_bounds_study_free(study);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_invalid),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
