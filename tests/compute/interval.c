/* Area interval, against sums over everything that were computed with exact fractions and 60 digits (interval.py). */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>


static const struct {
    int64_t N, n, noisy;
    const char *scale, *confidence;
    int64_t lower, upper;
} cases[] = {
#include "tests/compute/interval.inc"
};

static tamis_status ask(char **answer, int64_t N, int64_t n, int64_t noisy, const char *scale, const char *confidence,
                        tamis_error *err)
{
    char line[512];
    int length = snprintf(line, sizeof line,
                          "{\"id\": \"x\", \"area\": \"interval\", \"kind\": \"count\", \"in\": {\"N\": %lld, \"n\": %lld, "
                          "\"noisy\": %lld, \"scale\": \"%s\", \"confidence\": \"%s\"}}",
                          (long long)N, (long long)n, (long long)noisy, scale, confidence);
    assert_true(length > 0 && (size_t)length < sizeof line);
    return tamis_compute_line(answer, line, (size_t)length, err);
}

static void answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer, expected[200];
        snprintf(expected, sizeof expected, "{\"id\": \"x\", \"out\": {\"lower\": %lld, \"upper\": %lld}}",
                 (long long)cases[i].lower, (long long)cases[i].upper);
        assert_int_equal(ask(&answer, cases[i].N, cases[i].n, cases[i].noisy, cases[i].scale, cases[i].confidence, NULL),
                         TAMIS_OK);
        assert_string_equal(answer, expected);
        tamis_free(answer);
    }
}

static void bad_questions(void **state)
{
    (void)state;
    static const struct {
        int64_t N, n, noisy;
        const char *scale, *confidence;
    } bad[] = {{0, 0, 1, "1", "0.9"}, {5, 6, 1, "1", "0.9"},         {5, 0, 1, "1", "0.9"},
               {5, 2, 1, "0", "0.9"}, {5, 2, 1, "-1", "0.9"},        {5, 2, 1, "1", "0"},
               {5, 2, 1, "1", "1"},   {5, 2, INT64_MAX, "1", "0.9"}, {5, 2, 1, "inf", "0.9"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *answer;
        tamis_status status = ask(&answer, bad[i].N, bad[i].n, bad[i].noisy, bad[i].scale, bad[i].confidence, NULL);
        assert_int_equal(status, TAMIS_INVALID);
        assert_non_null(strstr(answer, "\"error\": {\"code\": \"invalid\", "));
        tamis_free(answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers), cmocka_unit_test(bad_questions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
