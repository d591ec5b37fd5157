/* A plan beside other strategies: what follows by hand from how noise falls with a budget. */
#include "tests/test.h"

#include <math.h>
#include <tamis/experimental.h>

#include "base/value/json.h"
#include "tests/base/memory_that_fails.h"

#include "tests/release/plans.h"

static tamis_preview *preview_of(const char *design, const char *loss, const char *statistics)
{
    tamis_plan *plan = plan_of(design, loss, statistics);
    tamis_preview *preview;
    tamis_error err = {0};
    if (tamis_preview_new(&preview, plan, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tamis_plan_free(plan);
    return preview;
}

/* The noise of the first statistic under a strategy. */
static double noise_of(const tmi_value *tree, const char *strategy)
{
    const tmi_value *first = tmi_value_first(tmi_value_get(tree, "statistics"));
    const tmi_value *noise = tmi_value_get(tmi_value_get(first, strategy), "noise_sd");
    assert_non_null(noise);
    return noise->real;
}

static tmi_value *compared(const tamis_preview *preview)
{
    char *json;
    tmi_value *tree;
    assert_int_equal(tamis_preview_compare_json(&json, preview, NULL), TAMIS_OK);
    assert_int_equal(tmi_json_read(&tree, json, strlen(json), NULL), TAMIS_OK);
    tamis_free(json);
    return tree;
}

/* In a census no squares are measured. One statistic by itself is what the plan does; of two that ask for the same, each by
 * itself has half of the budget: twice the noise of Laplace, sqrt 2 times that of Gauss. Twice the budget halves the one, and
 * takes sqrt 2 from the other. */
static void noise_falls_with_the_budget(void **state)
{
    (void)state;
    static const struct {
        const char *design, *loss, *statistics;
        double alone, twice;
    } list[] = {
        {"census: {population: 900}", "0.1", "  - {count: units, by: h}\n", 1, 0.5},
        {"census: {population: 900}", "0.1", "  - {count: units, by: h}\n  - {table: [h]}\n", 2, 0.5},
        {"census: {population: 900}", "0.1", "  - {total: x}\n", 1, 0.5},
        {"srs: {population: 900, sample: 90}", "0.1", "  - {count: units, by: h}\n", 1.25, 0.5}, /* a fifth is for squares */
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        tamis_preview *preview = preview_of(list[i].design, list[i].loss, list[i].statistics);
        tmi_value *tree = compared(preview);
        const double now = noise_of(tree, "this");
        assert_true(fabs(noise_of(tree, "each_by_itself") / now - list[i].alone) < 1e-3 * list[i].alone);
        assert_true(fabs(noise_of(tree, "twice_the_budget") / now - list[i].twice) < 0.01); /* the noise is discrete */
        assert_true(noise_of(tree, "other_law") > now);
        tmi_value_free(tree);
        tamis_preview_free(preview);
    }
}

static void null_is_invalid(void **state)
{
    (void)state;
    tamis_error err = {0};
    char *text = (char *)&err;
    assert_int_equal(tamis_preview_compare_json(NULL, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "text: NULL");
    assert_int_equal(tamis_preview_compare_text(&text, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "preview: NULL");
    assert_null(text);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_preview *preview = preview_of("srs: {population: 900, sample: 90}", "0.1", "  - {mean: x, by: h}\n");
    tamis_error err = {0};
    char *text = NULL;
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 20, tamis_preview_compare_text(&text, preview, &err), assert_null(text));
    tamis_free(text);
    ALLOCATIONS_FAIL(k_ + 1 + k_ / 20, tamis_preview_compare_json(&text, preview, &err), assert_null(text));
    tamis_free(text);
    tamis_preview_free(preview);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_falls_with_the_budget),
        cmocka_unit_test(null_is_invalid),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
