/* Values that are too many for a pure eps: the count of samples on designs of each kind. That the verdict is right is
 * tested with the paper's claims, tests/papers/ht.c.                                                        */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"
#include "tests/ht/designs.h"
#include "tests/survey/frames.h"

/* The samples without the unit, counted one by one. */
static int64_t count_without(const tamis_law *law, int64_t unit)
{
    bool seen[1 << UNITS_MAX] = {false};
    int64_t count = 0;
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        size_t size = tamis_law_sample(&units, law, j);
        unsigned set = 0;
        for (size_t i = 0; i < size; i++) set |= 1U << units[i];
        if (set >> unit & 1 || seen[set]) continue;
        seen[set] = true;
        count++;
    }
    return count;
}

static void counts(tamis_design *design)
{
    tamis_law *law;
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (int64_t unit = 0; unit < tamis_design_population(design); unit++) {
        int64_t without = count_without(law, unit);
        for (int64_t more = -1; more <= 1; more++) {
            char text[32];
            tamis_ht_exclusion v;
            if (without + more < 2) continue;
            snprintf(text, sizeof text, "%d", (int)(without + more));
            tamis_number *values = number(text);
            assert_int_equal(tamis_ht_excluded(&v, design, unit, values, NULL), TAMIS_OK);
            if (v.samples != without || v.excluded != (more > 0)) fail_msg("%s: unit %d", tamis_design_name(design), (int)unit);
            assert_non_null(strstr(v.reason, more > 0 ? "impossible" : "alone"));
            tamis_number_free(values);
        }
    }
    tamis_law_free(law);
    tamis_design_free(design);
}

static void counts_samples(void **state)
{
    (void)state;
    counts(srs(5, 2));
    counts(with_replacement(4, 3));
    counts(bernoulli(4, "2/7"));
    counts(systematic(7, 3, 0));
    counts(pps("sampford", "0.3 0.7 0.3 0.7"));
    counts(pps("conditional_poisson", "1 0.25 0.75 1 0.5 0.5"));
    counts(strata(srs(4, 2), srs(3, 1)));
    counts(stages(srs(3, 2), census(1), census(2), census(3)));
}

static tamis_ht_exclusion verdict(tamis_design *design, const char *values)
{
    tamis_number *v = values ? number(values) : NULL;
    tamis_ht_exclusion answer;
    assert_int_equal(tamis_ht_excluded(&answer, design, 0, v, NULL), TAMIS_OK);
    tamis_number_free(v);
    tamis_design_free(design);
    return answer;
}

static void frames_too_large_for_a_list(void **state)
{
    (void)state;
    tamis_ht_exclusion v = verdict(srs(63, 20), "4611686018427387905"); /* 2^62 + 1 */
    assert_true(v.excluded && v.samples == -1);
    assert_false(verdict(srs(63, 20), "4611686018427387904").excluded);
    assert_false(verdict(srs(64, 20), "1e30").excluded);
    assert_true(verdict(srs(1000000, 1000), NULL).excluded);
    assert_false(verdict(srs(1000000, 1000), "1000").excluded);
    assert_true(verdict(pps("pivotal_random", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5"), "2049").excluded);
    assert_false(verdict(pps("pivotal_random", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5"), "2048").excluded);
}

/* A unit of every sample: two values are one too many, one is none. */
static void a_certain_unit(void **state)
{
    (void)state;
    tamis_ht_exclusion v = verdict(census(3), "2");
    assert_true(v.excluded && v.samples == 0);
    v = verdict(census(3), "1");
    assert_true(!v.excluded && strstr(v.reason, "single"));
}

static void refuses_bad_input(void **state)
{
    static const char *const bad[] = {"0", "-1", "5/2", "-1e300"};
    tamis_design *design = srs(4, 2);
    tamis_number *two = number("2");
    tamis_ht_exclusion v;
    tamis_error err;
    (void)state;
    assert_int_equal(tamis_ht_excluded(NULL, design, 0, two, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ht_excluded(&v, NULL, 0, two, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "design:"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tamis_ht_excluded(&v, design, (int64_t[]){-1, 4, INT64_MAX}[i], two, &err), TAMIS_INVALID);
        assert_true(strstr(err.message, "unit:") && v.excluded && v.samples == -1 && v.reason);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_number *values = number(bad[i]);
        assert_int_equal(tamis_ht_excluded(&v, design, 0, values, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "values:"));
        tamis_number_free(values);
    }
    EVERY_ALLOCATION_FAILS(tamis_ht_excluded(&v, design, 0, two, NULL), assert_true(v.excluded));
    tamis_number_free(two);
    tamis_design_free(design);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_samples),
        cmocka_unit_test(frames_too_large_for_a_list),
        cmocka_unit_test(a_certain_unit),
        cmocka_unit_test(refuses_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
