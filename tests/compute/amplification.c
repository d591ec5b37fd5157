/* Area amplification: theorems by their names, refusals by their code, and designs read by themselves. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"

static tamis_status ask(char **answer, const char *kind, const char *in, tamis_error *err)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "{\"id\": \"x\", \"area\": \"amplification\", \"kind\": \"%s\", \"in\": {%s}}", kind,
                          in);
    assert_true(length > 0 && (size_t)length < sizeof line);
    return tamis_compute_line(answer, line, (size_t)length, err);
}

#define REST ", \"eps\": 1, \"delta\": 0, \"neighbours\": \"replace\""

static void answers(void **state)
{
    static const struct {
        const char *kind, *in;
        tamis_status status;
        const char *words;
    } cases[] = {
        {"design", "\"design\": {\"bernoulli\": {\"rate\": \"1/10\", \"population\": 5}}" REST, TAMIS_OK, "\"poisson\""},
        {"design", "\"design\": {\"pps\": {\"method\": \"pivotal\", \"probabilities\": [\"1/2\", \"1/2\"]}}" REST, TAMIS_OK,
         "\"strongly_rayleigh\""},
        {"design", "\"design\": {\"pps\": {\"method\": \"brewer\", \"probabilities\": [\"1/2\", \"1/2\"]}}" REST, TAMIS_REFUSED,
         "\"code\": \"refused\""},
        {"design", "\"design\": {\"pps\": {\"method\": \"midzuno\", \"probabilities\": [\"1/2\", \"1/2\"]}}" REST, TAMIS_REFUSED,
         "Midzuno's sampling is not supported"},
        {"design", "\"design\": {\"balanced\": {\"probabilities\": [\"1/2\", \"1/2\"]}}" REST, TAMIS_REFUSED,
         "balanced sampling is not supported"},
        {"design", "\"design\": {\"cluster\": {\"population\": 2, \"sample\": 1, \"smallest\": 1, \"largest\": 3}}" REST,
         TAMIS_OK, "\"cluster\""},
        {"design", "\"design\": {\"cluster\": {\"population\": 2, \"sample\": 3, \"smallest\": 1, \"largest\": 3}}" REST,
         TAMIS_INVALID, "sample"},
        {"design", "\"design\": {\"cluster\": {\"population\": 2, \"sample\": 1, \"smallest\": 3, \"largest\": 1}}" REST,
         TAMIS_INVALID, "largest: must not be below smallest"},
        {"design", "\"design\": {\"census\": {\"population\": 5}}" REST ", \"mechanism\": \"other\"", TAMIS_INVALID,
         "mechanism: must be"},
        {"design", "\"design\": {\"census\": {\"population\": 5}}, \"eps\": 1, \"delta\": 0, \"neighbours\": \"both\"",
         TAMIS_INVALID, "neighbours: must be"},
        {"design", "\"design\": {\"census\": {\"population\": 5}}, \"eps\": 1, \"delta\": 0", TAMIS_INVALID,
         "'neighbours' is missing"},
        {"total", "\"design\": {\"census\": {\"population\": 5}}, \"from\": 0, \"to\": 1, \"scale\": 1, \"weights\": [1]",
         TAMIS_INVALID, "one weight per unit of the design"},
        {"noise",
         "\"design\": {\"census\": {\"population\": 5}}, \"from\": 0, \"to\": 1, \"scale\": 1, \"noise\": \"none\", "
         "\"eps_pop\": 1",
         TAMIS_INVALID, "noise: must be"},
        {"moves", "\"populations\": [3, 4], \"samples\": [1], \"eps\": 1, \"delta\": 0", TAMIS_INVALID,
         "as many numbers as populations"},
        {"moves", "\"populations\": [3, \"1/2\"], \"samples\": [1, 1], \"eps\": 1, \"delta\": 0", TAMIS_INVALID,
         "not an integer"},
        {"proportional", "\"rate\": \"1/3\", \"smallest\": 9, \"rounding\": \"nearest\", \"eps\": 1", TAMIS_REFUSED,
         "round at random"},
        {"proportional", "\"rate\": \"1/3\", \"smallest\": 9, \"rounding\": \"up\", \"eps\": 1", TAMIS_INVALID,
         "rounding: must be"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *answer;
        assert_int_equal(ask(&answer, cases[i].kind, cases[i].in, NULL), cases[i].status);
        if (!strstr(answer, cases[i].words)) fail_msg("%s: %s", cases[i].words, answer);
        tamis_free(answer);
    }
}

static void reads_designs(void **state)
{
    static const char *const bad[] = {"", "{", "[]", "{\"srs\": 1}", "{\"srs\": {\"population\": 5}}", "{\"box\": {}}"};
    tamis_design *design;
    (void)state;
    assert_int_equal(tamis_design_read(&design, "{\"srs\": {\"population\": 5, \"sample\": 2}}", NULL), TAMIS_OK);
    assert_string_equal(tamis_design_name(design), "srs");
    assert_int_equal(tamis_design_population(design), 5);
    tamis_design_free(design);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_design_read(&design, bad[i], NULL), TAMIS_INVALID);
        assert_null(design);
    }
    assert_int_equal(tamis_design_read(NULL, bad[0], NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_read(&design, NULL, NULL), TAMIS_INVALID);
}

static void reads_releases(void **state)
{
    static const char *const bad[] = {"",
                                      "[",
                                      "[]",
                                      "{}",
                                      "[1]",
                                      "[{\"law\": \"box\"}]",
                                      "[{\"law\": \"laplace\"}]",
                                      "[{\"law\": \"laplace\", \"eps\": 1, \"scale\": 1}]",
                                      "[{\"law\": \"laplace\", \"eps\": 1, \"count\": 0}]",
                                      "[{\"law\": \"laplace\", \"scale\": -1}]"};
    const char *good = "[{\"law\": \"laplace\", \"eps\": \"1/4\", \"count\": 3}, {\"law\": \"randomized_response\", \"eps\": 1}]";
    tamis_profile *all;
    tamis_number *zero;
    tamis_bound eps;
    int64_t count;
    (void)state;
    assert_int_equal(tamis_number_read(&zero, "0", NULL), TAMIS_OK);
    assert_int_equal(tamis_releases_read(&all, &count, good, NULL), TAMIS_OK);
    assert_int_equal(count, 4);
    assert_int_equal(tamis_profile_epsilon(&eps, all, zero, NULL), TAMIS_OK);
    assert_true(eps.lower <= 1.75 && 1.75 <= eps.upper && eps.upper < 1.75 + 1e-12);
    tamis_profile_free(all);
    tamis_number_free(zero);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        count = 7;
        assert_int_equal(tamis_releases_read(&all, &count, bad[i], NULL), TAMIS_INVALID);
        assert_null(all);
        assert_int_equal(count, 0);
    }
    assert_int_equal(tamis_releases_read(NULL, &count, good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_releases_read(&all, NULL, good, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_releases_read(&all, &count, NULL, NULL), TAMIS_INVALID);
}

static void reads_releases_from_a_file(void **state)
{
    static const struct {
        const char *text, *message; /* NULL: it is good */
    } cases[] = {{"- {law: laplace, eps: 1/4, count: 3}\n- law: randomized_response\n  eps: 1e0\n", NULL},
                 {"[{\"law\": \"laplace\", \"eps\": 0.25, \"count\": \"4\"}]", NULL},
                 {"[]", "no release"},
                 {"", "expected a list"},
                 {"law: laplace", "expected a list"},
                 {"[", ":1:"},
                 {"[{law: laplace, eps: 1, eps: 2}]", ":1:25: [1].eps: duplicate key"},
                 {"- 1", "release 1: "},
                 {"[[[[[[[[[[[1]]]]]]]]]]]", "release 1: "}};
    char path[64];
    tamis_profile *all;
    int64_t count;
    (void)state;
    snprintf(path, sizeof path, "/tmp/tamis-releases-%ld.yaml", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(cases[i].text, file);
        fclose(file);
        tamis_error err = {0};
        assert_int_equal(tamis_releases_read_file(&all, &count, path, &err), cases[i].message ? TAMIS_INVALID : TAMIS_OK);
        if (cases[i].message && !strstr(err.message, cases[i].message)) fail_msg("%s", err.message);
        assert_int_equal(count, cases[i].message ? 0 : 4);
        assert_int_equal(all == NULL, cases[i].message != NULL);
        tamis_profile_free(all);
        if (cases[i].message) continue;
        EVERY_ALLOCATION_FAILS(tamis_releases_read_file(&all, &count, path, NULL), assert_null(all));
        tamis_profile_free(all);
    }
    unlink(path);
    assert_int_equal(tamis_releases_read_file(&all, &count, path, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_releases_read_file(&all, &count, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_releases_read_file(NULL, &count, path, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(reads_designs),
        cmocka_unit_test(reads_releases),
        cmocka_unit_test(reads_releases_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
