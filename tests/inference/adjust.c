/* Post-processing against the conditions that define it, and one method against another. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "inference/adjust.h"
#include "inference/bias.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/random_unit.h"

/* The conditions of Karush, Kuhn and Tucker: one lambda for the positive cells, none smaller for the others. */
static void non_negative_cells_are_the_nearest(void **state)
{
    (void)state;
    for (int times = 0; times < 200; times++) {
        double t[9], start[9], v[9], total = times % 10 == 0 ? 0 : 60 * random_unit(), sum = 0, lambda = -INFINITY;
        size_t cut, zeros = 0;
        for (int i = 0; i < 9; i++) {
            start[i] = t[i] = 30 * random_unit() - 12;
            v[i] = 0.5 + 3 * random_unit();
        }
        assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 9, total, NULL), TAMIS_OK);
        for (int i = 0; i < 9; i++) {
            assert_true(t[i] >= 0);
            sum += t[i];
            zeros += t[i] == 0;
            if (t[i] > 0) lambda = (start[i] - t[i]) / v[i];
        }
        assert_true(fabs(sum - total) < 1e-10 && cut == zeros);
        for (int i = 0; i < 9; i++) {
            if (t[i] > 0) assert_true(fabs(start[i] - t[i] - lambda * v[i]) < 1e-10);
            else assert_true(start[i] <= lambda * v[i] + 1e-10 || total == 0);
        }
    }
}

static void rules_withhold(void **state)
{
    (void)state;
    tmi_adjustment rule;
    tmi_suppression both = {0.3, 10}, none = {NAN, NAN};
    assert_false(tmi_suppress(&rule, both, 100, 30, 10));
    assert_true(tmi_suppress(&rule, both, -100, 31, 10) && rule == TMI_SUPPRESSED_CV);
    assert_true(tmi_suppress(&rule, both, 0, 1, 10) && rule == TMI_SUPPRESSED_CV);
    assert_true(tmi_suppress(&rule, both, 100, 1, 9) && rule == TMI_SUPPRESSED_SMALL);
    assert_false(tmi_suppress(&rule, none, 1, 1000, -5));
    for (int i = TMI_CALIBRATED; i <= TMI_SUPPRESSED_SMALL; i++) assert_non_null(tmi_adjustment_text((tmi_adjustment)i));
}

/* The worst values are at one end for weights below the mean and at the other for those above. */
static void regularised_weights_have_the_stated_bias(void **state)
{
    (void)state;
    static const double w[] = {1, 1, 2, 9, 12};
    double mean = 5, kept = 0, whole = 0;
    for (int i = 0; i < 5; i++) {
        double x = w[i] < mean ? 7 : -1;
        kept += (0.25 * w[i] + 0.75 * mean) * x;
        whole += w[i] * x;
    }
    tmi_regularised r = tmi_regularise(0.25, 5, 1, mean, 12, -1, 7);
    assert_true(fabs(r.largest - (0.25 * 12 + 0.75 * 5)) < 1e-12 && r.bias >= fabs(kept - whole));
    /* attained if all weights are smallest or largest */
    assert_true(fabs(tmi_regularise(0.25, 4, 2, 4, 10, 0, 3).bias - 0.75 * 3 / 2 * (2 + 2 + 2 + 6)) < 1e-12); /* 2, 2, 2, 10 */
    assert_true(tmi_regularise(1, 4, 2, 4, 10, 0, 3).bias == 0 && tmi_regularise(0, 4, 2, 4, 10, 0, 3).largest == 4);
    assert_true(tmi_regularise(0.5, 4, 3, 3, 3, 0, 3).bias == 0);
}

static void bad_inputs_are_refused(void **state)
{
    (void)state;
    double t[] = {1, 2}, v[] = {1, 1}, u[2];
    size_t cut;
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 0, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, -1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, NAN, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(NULL, &cut, v, 2, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, NULL, 2, 1, NULL), TAMIS_INVALID);
    v[1] = 0;
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, 1, NULL), TAMIS_INVALID);
    v[1] = 1;
    tamis_error err;
    EVERY_ALLOCATION_FAILS((memcpy(u, t, sizeof u), tmi_adjust_non_negative(u, &cut, v, 2, 1, &err)),
                           { assert_memory_equal(u, t, sizeof u); });
    t[0] = NAN;
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, 1, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(non_negative_cells_are_the_nearest),
        cmocka_unit_test(rules_withhold),
        cmocka_unit_test(regularised_weights_have_the_stated_bias),
        cmocka_unit_test(bad_inputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
