/* The comparison of methods for quantiles: repeatable, and with the randomness that the methods have. */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/quantile.h"
#include "study/quantile/quantile.h"
#include "tests/base/memory_that_fails.h"
#include "tests/rng/with_rng.h"

static tamis_number *numbers[9];

static int begin(void **state)
{
    static const char *const texts[] = {"0", "1000", "1", "1/4", "1/2", "3/4", "1/1000", "0", "200"};
    for (size_t i = 0; i < 9; i++) numbers[i] = number(texts[i]);
    return make_rng(state);
}

static int end(void **state)
{
    for (size_t i = 0; i < 9; i++) tamis_number_free(numbers[i]);
    return free_rng(state);
}

static tamis_study_quantiles asked_of(const tamis_number *const *at, size_t count)
{
    return (tamis_study_quantiles){
        .size = sizeof(tamis_study_quantiles),
        .population = {.values = "uniform"},
        .rows = 300,
        .what = {.from = numbers[0], .to = numbers[1], .step = numbers[2], .at = at, .at_count = count, .epsilon = numbers[2]}};
}

/* The same for every number of threads; another seed gives other numbers. */
static void studies_are_repeatable(void **state)
{
    const tamis_number *const at[] = {numbers[3], numbers[4], numbers[5]};
    const tamis_study_quantiles asked = asked_of(at, 3);
    tamis_study *studies[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const tamis_study_options options = {.size = sizeof(tamis_study_options),
                                             .seed = i / 2,
                                             .runs = 12,
                                             .threads = i == 1 ? 3 : 1};
        assert_int_equal(tamis_study_quantile(&studies[i], &asked, &options, NULL), TAMIS_OK);
        for (tamis_study_form form = 0; form < TAMIS_STUDY_FORMS; form++) assert_non_null(tamis_study_as(studies[i], form));
    }
    for (tamis_study_form form = 0; form < TAMIS_STUDY_FORMS; form++)
        assert_string_equal(tamis_study_as(studies[0], form), tamis_study_as(studies[1], form));
    assert_string_not_equal(tamis_study_as(studies[0], TAMIS_STUDY_CSV), tamis_study_as(studies[2], TAMIS_STUDY_CSV));
    for (size_t i = 0; i < 3; i++) tamis_study_free(studies[i]);
}

/* Each method draws what the study puts in its place, with the same law: the share of answers up to each quartile of the real
 * ones differs by less than seven standard errors, sqrt(2 / (4 DRAWS)) at most: false alarms below 10^-11 each. Seeds 21 and 6.
 * */
static void imagined_answers_have_the_law(void **state)
{
    enum { DRAWS = 1000, N = 60 };
    static const tamis_quantile_method methods[] = {TAMIS_QUANTILE_INVERSE,   TAMIS_QUANTILE_JOINT,  TAMIS_QUANTILE_SPLIT,
                                                    TAMIS_QUANTILE_THRESHOLD, TAMIS_QUANTILE_SMOOTH, TAMIS_QUANTILE_HISTOGRAM,
                                                    TAMIS_QUANTILE_TREE,      TAMIS_QUANTILE_PREFIX};
    const tamis_number *const at[] = {numbers[3], numbers[5]};
    int64_t records[N], real[2][DRAWS], imagined[2][DRAWS];
    uint64_t numbers_of_data = 21;
    tmi_stream stream = tmi_stream_of(6, 0, 0);
    (void)state;
    bits_from_seed(21);
    for (size_t i = 0; i < N; i++) records[i] = (int64_t)(next_number(&numbers_of_data) % 201);
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        const bool in_rho = methods[k] == TAMIS_QUANTILE_PREFIX;
        const tamis_quantile_setup setup = {.from = numbers[0],
                                            .to = numbers[8],
                                            .step = numbers[2],
                                            .at = at,
                                            .at_count = 2,
                                            .epsilon = in_rho ? NULL : numbers[2],
                                            .rho = in_rho ? numbers[4] : NULL,
                                            .method = methods[k],
                                            .rows = N};
        tamis_quantile *q;
        assert_int_equal(tamis_quantile_new(&q, &setup, NULL), TAMIS_OK);
        for (size_t i = 0; i < DRAWS; i++) {
            int64_t points[2];
            assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
            assert_int_equal(tamis_quantile_points(points, q, records, NULL, N, rng, NULL), TAMIS_OK);
            real[0][i] = points[0], real[1][i] = points[1];
            assert_int_equal(tmi_quantile_imagine(points, q, records, N, &stream, NULL), TAMIS_OK);
            imagined[0][i] = points[0], imagined[1][i] = points[1];
        }
        for (size_t j = 0; j < 2; j++) {
            assert_true(tmi_sort_points(real[j], NULL, DRAWS));
            for (size_t share = 1; share < 4; share++) {
                const int64_t cut = real[j][DRAWS * share / 4];
                int one = 0, other = 0;
                for (size_t i = 0; i < DRAWS; i++) one += real[j][i] <= cut, other += imagined[j][i] <= cut;
                if (abs(one - other) > 7 * sqrt(DRAWS / 2.0))
                    fail_msg("%s, quantile %zu: %d and %d of %d", tamis_quantile_method_name(methods[k]), j, one, other, DRAWS);
            }
        }
        tamis_quantile_free(q);
    }
}

/* Errors fall with epsilon, and those of sampling do not look at it. */
static void errors_are_those_of_the_methods(void **state)
{
    const tamis_number *const at[] = {numbers[4]};
    tmi_quantile_simulation s[2];
    tamis_number *large = number("40"), *larger = number("50");
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tamis_study_quantiles asked = asked_of(at, 1);
        if (i == 1) asked.what.epsilon = large;
        assert_int_equal(tmi_quantile_simulate(&s[i], &asked,
                                               &(tamis_study_options){.size = sizeof(tamis_study_options), .runs = 40}, NULL),
                         TAMIS_OK);
        assert_int_equal(s[i].method_count, 7); /* one quantile: neither joint nor split */
    }
    for (size_t k = 0; k < s[0].method_count; k++) {
        const tmi_quantile_errors *wide = tmi_quantile_errors_of(&s[0], k, 0), *narrow = tmi_quantile_errors_of(&s[1], k, 0);
        assert_true(narrow->median <= wide->median && narrow->median < 8);
        assert_true(wide->median <= wide->most && wide->rms <= 1000);
        assert_memory_equal(wide, tmi_quantile_errors_of(&s[0], k, 1), sizeof *wide); /* all together: this one */
    }
    assert_memory_equal(tmi_quantile_errors_of(&s[0], 7, 0), tmi_quantile_errors_of(&s[1], 7, 0), sizeof(tmi_quantile_errors));
    tmi_quantile_simulation_clear(&s[0]);
    tmi_quantile_simulation_clear(&s[1]);
    tamis_study_quantiles asked = asked_of(at, 1);
    asked.what.epsilon = larger;
    assert_int_equal(tmi_quantile_simulate(&s[0], &asked, &(tamis_study_options){.size = sizeof(tamis_study_options), .runs = 2},
                                           NULL),
                     TAMIS_OK);
    assert_int_equal(s[0].method_count, 6); /* rho would be above 1000 */
    tmi_quantile_simulation_clear(&s[0]);
    tamis_number_free(large);
    tamis_number_free(larger);
}

static void wrong_questions_are_named(void **state)
{
    const tamis_number *const at[] = {numbers[4]}, *const twice[] = {numbers[4], numbers[4]};
    tamis_study *study;
    tamis_error err;
    tamis_study_quantiles asked = asked_of(at, 1);
    (void)state;
    assert_int_equal(tamis_study_quantile(NULL, &asked, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_study_quantile(&study, NULL, NULL, NULL), TAMIS_INVALID);
    const struct {
        tamis_study_quantiles asked;
        int64_t runs;
        const char *word;
    } cases[] = {
        {{.size = sizeof asked, .population = {.values = "magic"}, .what = asked.what}, 10, "values"},
        {{.size = sizeof asked, .what = asked.what}, 10, "values"},
        {{.size = sizeof asked, .population = asked.population, .rows = -1, .what = asked.what}, 10, "rows"},
        {{.size = sizeof asked, .population = {.values = "uniform", .size = 10}, .rows = 11, .what = asked.what}, 10, "rows"},
        {asked, 100001, "runs"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tamis_study_options options = {.size = sizeof(tamis_study_options), .runs = cases[i].runs};
        assert_int_equal(tamis_study_quantile(&study, &cases[i].asked, &options, &err), TAMIS_INVALID);
        if (!strstr(err.message, cases[i].word)) fail_msg("case %zu: %s", i, err.message);
        assert_null(study);
    }
    asked.size = 0;
    assert_int_equal(tamis_study_quantile(&study, &asked, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "asked: set `size`"));
    asked.size = sizeof asked;
    asked.what.at = twice;
    asked.what.at_count = 2;
    assert_int_equal(tamis_study_quantile(&study, &asked, NULL, &err), TAMIS_INVALID);
    asked = asked_of(at, 1);
    asked.what.epsilon = numbers[0];
    assert_int_equal(tamis_study_quantile(&study, &asked, NULL, &err), TAMIS_INVALID);
    asked.what.epsilon = NULL;
    assert_int_equal(tamis_study_quantile(&study, &asked, NULL, &err), TAMIS_INVALID);
    asked = asked_of(at, 1);
    asked.what.bins = 5000;
    assert_int_equal(tamis_study_quantile(&study, &asked, NULL, &err), TAMIS_INVALID);
    asked = asked_of(at, 1);
    asked.what.add_remove = 1; /* smooth sensitivity is left out */
    assert_int_equal(tamis_study_quantile(&study, &asked, &(tamis_study_options){.size = sizeof(tamis_study_options), .runs = 2},
                                          &err),
                     TAMIS_OK);
    assert_null(strstr(tamis_study_as(study, TAMIS_STUDY_CSV), "smooth"));
    tamis_study_free(study);
}

static tamis_status small_study(const tamis_study_quantiles *asked)
{
    tamis_study *study;
    const tamis_status status = tamis_study_quantile(
        &study, asked, &(tamis_study_options){.size = sizeof(tamis_study_options), .runs = 2, .threads = 1}, NULL);
    tamis_study_free(study);
    return status;
}

static void allocations_may_fail(void **state)
{
    const tamis_number *const at[] = {numbers[3], numbers[4]};
    tamis_study_quantiles asked = asked_of(at, 2);
    (void)state;
    asked.rows = 5;
    asked.population.size = 20;
    asked.what.bins = 4;
    ALLOCATIONS_FAIL(k_ < 20 ? k_ + 1 : k_ + 1 + k_ / 10, small_study(&asked), {});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(studies_are_repeatable),
        cmocka_unit_test(imagined_answers_have_the_law),
        cmocka_unit_test(errors_are_those_of_the_methods),
        cmocka_unit_test(wrong_questions_are_named),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
