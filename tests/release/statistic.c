/* One private statistic of one file: the order of its steps, what it keeps, and what it says. */
#include "tests/test.h"

#include <string.h>
#include <unistd.h>

#include "tests/base/memory_that_fails.h"
#include "tests/engine/folder.h"
#include "tests/rng/scripted_bits.h"

static tamis_number *numbers[4];

static int begin(void **state)
{
    numbers[0] = number("0");
    numbers[1] = number("100");
    numbers[2] = number("1");
    numbers[3] = number("1/2");
    return make_folder(state);
}

static int end(void **state)
{
    for (size_t i = 0; i < 4; i++) tamis_number_free(numbers[i]);
    return remove_folder(state);
}

/* The median of x, epsilon 1. */
static tamis_file_quantile asked_of(const char *file, const tamis_number *const *at)
{
    return (tamis_file_quantile){
        .file = file,
        .column = "x",
        .what = {.from = numbers[0], .to = numbers[1], .step = numbers[2], .at = at, .at_count = 1, .epsilon = numbers[2]},
        .engine = TAMIS_ENGINE_MEMORY};
}

static const char *write_rows(const char *name, const char *text)
{
    const char *path = in_folder(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static tamis_status answer(char **json, const tamis_file_quantile *asked, tamis_error *err)
{
    tamis_statistic *statistic;
    *json = NULL;
    tamis_status status = tamis_statistic_quantile(&statistic, asked, err);
    if (status == TAMIS_OK) status = tamis_statistic_json(json, statistic, err);
    char *text = NULL;
    if (status == TAMIS_OK) status = tamis_statistic_text(&text, statistic, err);
    tamis_free(text);
    tamis_statistic_free(statistic);
    if (status != TAMIS_OK) {
        tamis_free(*json);
        *json = NULL;
    }
    return status;
}

/* A call that the budget refuses draws no bits and reads no value. */
static void a_refused_call_reads_nothing(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    const tamis_file_quantile asked = asked_of(write_rows("refused.csv", "x\n1\n2\n3\n"), at);
    tamis_number *quarter = number("1/4");
    const tamis_number *const other[] = {quarter};
    char *json;
    tamis_error err;
    (void)state;

    assert_int_equal(answer(&json, &asked, NULL), TAMIS_OK);
    tamis_free(json);
    tamis_file_quantile more = asked;
    more.what.at = other;
    bits_from_bytes("", 0); /* bits are drawn after the charge: none are left, and none are asked for */
    assert_int_equal(answer(&json, &more, &err), TAMIS_REFUSED);
    assert_null(json);
    bits_from_seed(1);
    tamis_number_free(quarter);
}

/* A charge whose call failed stands, and the same call takes it over. */
static void a_failed_call_is_taken_over(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    const tamis_file_quantile asked = asked_of(write_rows("failed.csv", "x\n1\n2\n3\n"), at);
    char *json;
    tamis_error err;
    (void)state;
    bits_from_bytes("", 0);
    assert_int_equal(answer(&json, &asked, &err), TAMIS_SYSTEM);
    assert_non_null(strstr(err.message, "; epsilon 1 was charged (entry 2 of "));
    assert_non_null(strstr(err.message, "Ask for the same quantile again: it takes over this charge and pays nothing"));
    bits_from_seed(1);
    assert_int_equal(answer(&json, &asked, &err), TAMIS_OK);
    assert_non_null(strstr(json, "\"claim\""));
    tamis_free(json);
}

/* The same again, from other data: the numbers that were kept. */
static void a_repeated_call_reads_nothing(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    const tamis_file_quantile asked = asked_of(write_rows("again.csv", "x\n1\n2\n3\n"), at);
    char *first, *second;
    (void)state;
    bits_from_seed(7);
    assert_int_equal(answer(&first, &asked, NULL), TAMIS_OK);
    write_rows("again.csv", "x\n90\n90\n90\n90\n");
    assert_int_equal(answer(&second, &asked, NULL), TAMIS_OK);
    assert_memory_equal(first, second, (size_t)(strstr(first, "\"guarantee\"") - first));
    assert_non_null(strstr(second, "\"repeated\": true"));
    tamis_free(first);
    tamis_free(second);
}

/* By its other name its ledger would not be found. */
static void a_file_of_two_names_is_refused(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    char first[300], second[300];
    char *json;
    tamis_error err = {0};
    (void)state;
    snprintf(first, sizeof first, "%s", write_rows("one.csv", "x\n1\n2\n3\n"));
    snprintf(second, sizeof second, "%s", in_folder("two.csv"));
    assert_int_equal(link(first, second), 0);
    const tamis_file_quantile asked = asked_of(first, at), other = asked_of(second, at);
    assert_int_equal(answer(&json, &asked, &err), TAMIS_REFUSED);
    assert_non_null(strstr(err.message, "hard link"));
    assert_int_equal(answer(&json, &other, &err), TAMIS_REFUSED);
    assert_int_equal(unlink(second), 0);
    assert_int_equal(answer(&json, &asked, &err), TAMIS_OK);
    tamis_free(json);
}

static void wrong_calls_are_named(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    tamis_statistic *statistic;
    tamis_error err;
    (void)state;
    tamis_file_quantile asked = asked_of("none.csv", at);
    assert_int_equal(tamis_statistic_quantile(NULL, &asked, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_statistic_quantile(&statistic, NULL, NULL), TAMIS_INVALID);
    asked.column = NULL;
    assert_int_equal(tamis_statistic_quantile(&statistic, &asked, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "column"));
    asked = asked_of("none.csv", at);
    asked.weight = "w";
    assert_int_equal(tamis_statistic_quantile(&statistic, &asked, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "max_weight"));
    assert_null(statistic);
    asked = asked_of("none.csv", at);
    assert_int_equal(tamis_statistic_quantile(&statistic, &asked, &err), TAMIS_INVALID);
    assert_int_equal(access("none.csv.ledger", F_OK), -1);
    char *text;
    assert_int_equal(tamis_statistic_json(&text, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_statistic_text(&text, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_statistic_json(NULL, NULL, NULL), TAMIS_INVALID);
}

/* With every allocation failing: SYSTEM, and what was charged is taken over by the call that gets through. */
static void allocations_may_fail(void **state)
{
    const tamis_number *const at[] = {numbers[3]};
    const tamis_file_quantile asked = asked_of(write_rows("memory.csv", "x\n1\n2\n3\n"), at);
    char *json;
    (void)state;
    bits_from_seed(3);
    ALLOCATIONS_FAIL(k_ < 30 ? k_ + 1 : k_ + 1 + k_ / 8, answer(&json, &asked, NULL), assert_null(json));
    tamis_free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_call_reads_nothing),  cmocka_unit_test(a_failed_call_is_taken_over),
        cmocka_unit_test(a_repeated_call_reads_nothing), cmocka_unit_test(wrong_calls_are_named),
        cmocka_unit_test(allocations_may_fail),          cmocka_unit_test(a_file_of_two_names_is_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
