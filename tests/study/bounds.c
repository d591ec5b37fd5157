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
    tamis_study *study = (tamis_study *)&plan;
    tamis_error err = {0};
    assert_int_equal(tamis_study_bounds(NULL, plan, NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "study: NULL");
    assert_int_equal(tamis_study_bounds(&study, NULL, NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "plan: NULL");
    assert_null(study);
    assert_int_equal(tamis_study_bounds(&study, plan, &(tamis_study_ranges){.population = "a.csv"}, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "ranges: set `size` to the size of its struct");
    assert_int_equal(tamis_study_bounds(&study, plan, NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "population: NULL");
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
    const tamis_study_ranges ranges = {.size = sizeof ranges, .population = path};
    tamis_study *study = NULL;
    tamis_error err = {0};
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 4, tamis_study_bounds(&study, plan, &ranges, NULL, &err), assert_null(study));
    tamis_plan_free(plan);
    for (tamis_study_form form = 0; form < TAMIS_STUDY_FORMS; form++) assert_non_null(tamis_study_as(study, form));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_CSV),
                           "column,from,to,advised,statistic,noise_sd,bias,error_lower_by\n"
                           "x,10,30,"));
    tamis_study_free(study);
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
