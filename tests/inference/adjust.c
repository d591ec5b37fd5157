/* Post-processing against the conditions that define it, and one method against another. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "inference/adjust.h"
#include "inference/bias.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/random_unit.h"

/* ---- totals ---- */

enum { K = 6 };

/* A random covariance: B B' + something on the diagonal. */
static void random_covariance(double S[K * K])
{
    double B[K * K];
    for (int i = 0; i < K * K; i++) B[i] = random_unit() - 0.5;
    for (int i = 0; i < K; i++)
        for (int j = 0; j < K; j++) {
            S[i * K + j] = i == j ? 0.1 : 0;
            for (int l = 0; l < K; l++) S[i * K + j] += B[i * K + l] * B[j * K + l];
        }
}

/* The definition: t* meets the totals, t* - t = S A' lambda for some lambda (checked: it is S-orthogonal to what meets
 * zeros), and V* = P S P' with P the map of errors, found by moving each number in turn. */
static void totals_are_met_by_least_squares(void **state)
{
    (void)state;
    static const double A[2 * K] = {1, 1, 1, 0, 0, 0, 0, 0, 1, 1, -1, 2};
    for (int times = 0; times < 50; times++) {
        double S[K * K], V[K * K], t[K], start[K], totals[2] = {100 * random_unit(), 50 * random_unit()}, P[K * K], given[K * K];
        tmi_controls controls = {K, 2, A, totals, NULL};
        random_covariance(S);
        for (int i = 0; i < K; i++) start[i] = t[i] = 40 * random_unit();
        memcpy(V, S, sizeof S);
        assert_int_equal(tmi_adjust_totals(t, V, given, &controls, NULL), TAMIS_OK);
        for (int r = 0; r < 2; r++) {
            double sum = 0;
            for (int i = 0; i < K; i++) sum += A[r * K + i] * t[i];
            assert_true(fabs(sum - totals[r]) <= 1e-9 * fabs(totals[r]));
        }
        for (int j = 0; j < K; j++) { /* column j of P */
            double moved[K], scratch[K * K];
            memcpy(moved, start, sizeof moved);
            memcpy(scratch, S, sizeof S);
            moved[j] += 1;
            assert_int_equal(tmi_adjust_totals(moved, scratch, NULL, &controls, NULL), TAMIS_OK);
            for (int i = 0; i < K; i++) {
                P[i * K + j] = moved[i] - t[i];
                assert_true(fabs(P[i * K + j] - given[i * K + j]) < 1e-9);
            }
        }
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++) {
                double once = 0, twice = 0; /* P S = P S P' says that P is the S-orthogonal projection */
                for (int l = 0; l < K; l++) {
                    once += P[i * K + l] * S[l * K + j];
                    for (int m = 0; m < K; m++) twice += P[i * K + l] * S[l * K + m] * P[j * K + m];
                }
                assert_true(fabs(once - twice) < 1e-9 && fabs(V[i * K + j] - twice) < 1e-9);
            }
    }
}

/* Public numbers do not move; a total said twice is fine; totals that contradict each other are told. */
static void public_numbers_and_contradictions(void **state)
{
    (void)state;
    double t[] = {10, 20, 25}, S[9] = {0, 0, 0, 0, 4, 0, 0, 0, 12};
    static const double A[] = {1, 1, 1, 1, 1, 1}, same[] = {70, 70}, other[] = {70, 71};
    assert_int_equal(tmi_adjust_totals(t, S, NULL, &(tmi_controls){3, 2, A, same, NULL}, NULL), TAMIS_OK);
    assert_true(t[0] == 10 && fabs(t[1] - 23.75) < 1e-12 && fabs(t[2] - 36.25) < 1e-12);
    assert_true(fabs(S[4] - 3) < 1e-12 && fabs(S[8] - 3) < 1e-12 && fabs(S[5] + 3) < 1e-12);
    double before[9];
    memcpy(before, S, sizeof S);
    assert_int_equal(tmi_adjust_totals(t, S, NULL, &(tmi_controls){3, 2, A, other, NULL}, NULL), TAMIS_INVALID);
    assert_memory_equal(before, S, sizeof S);
    double fixed[9] = {0};
    assert_int_equal(tmi_adjust_totals(t, fixed, NULL, &(tmi_controls){3, 1, A, other + 1, NULL}, NULL), TAMIS_INVALID);
}

/* ---- cells ---- */

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
    double t[] = {1, 2}, S[] = {1, 0, 0, 1}, A[] = {1, 1}, totals[] = {4}, v[] = {1, 1};
    size_t cut;
    tmi_controls good = {2, 1, A, totals, NULL},
                 bad[] = {{0, 1, A, totals, NULL},    {2, 0, A, totals, NULL}, {2, 3, A, totals, NULL},
                          {2, 1, NULL, totals, NULL}, {2, 1, A, NULL, NULL},   {TMI_MAX_ADJUSTED + 1, 1, A, totals, NULL}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(tmi_adjust_totals(t, S, NULL, &bad[i], NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_totals(NULL, S, NULL, &good, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 0, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, -1, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, NAN, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_non_negative(NULL, &cut, v, 2, 1, NULL), TAMIS_INVALID);
    v[1] = 0;
    assert_int_equal(tmi_adjust_non_negative(t, &cut, v, 2, 1, NULL), TAMIS_INVALID);
    v[1] = 1;
    tamis_error err;
    double u[2], C[4];
    EVERY_ALLOCATION_FAILS((memcpy(u, t, sizeof u), memcpy(C, S, sizeof C), tmi_adjust_totals(u, C, NULL, &good, &err)),
                           { assert_memory_equal(u, t, sizeof u); });
    EVERY_ALLOCATION_FAILS((memcpy(u, t, sizeof u), tmi_adjust_non_negative(u, &cut, v, 2, 1, &err)),
                           { assert_memory_equal(u, t, sizeof u); });
    S[3] = -1;
    assert_int_equal(tmi_adjust_totals(t, S, NULL, &good, NULL), TAMIS_INVALID);
    S[3] = NAN;
    assert_int_equal(tmi_adjust_totals(t, S, NULL, &good, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_are_met_by_least_squares),          cmocka_unit_test(public_numbers_and_contradictions),
        cmocka_unit_test(non_negative_cells_are_the_nearest),       cmocka_unit_test(rules_withhold),
        cmocka_unit_test(regularised_weights_have_the_stated_bias), cmocka_unit_test(bad_inputs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
