/* The two passes on a tree against the dense least squares of adjust.c. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/memory_that_fails.h"
#include "release/adjust.h"
#include "release/random_unit.h"

enum { NODES = 14 };
static const size_t parent[NODES] = {TMI_NO_PARENT, 0, 0, 0, 1, 1, 2, 2, 2, 4, 4, 4, TMI_NO_PARENT, 12};
static const size_t wholes[] = {0, 1, 2, 4, 12};

/* The same problem as "whole - parts = 0". */
static void dense(double *t, double S[NODES * NODES])
{
    double A[5 * NODES] = {0}, zeros[5] = {0};
    for (int r = 0; r < 5; r++) {
        A[r * NODES + (int)wholes[r]] = 1;
        for (int i = 0; i < NODES; i++)
            if (parent[i] == wholes[r]) A[r * NODES + i] = -1;
    }
    assert_int_equal(tmi_adjust_totals(t, S, NULL, &(tmi_controls){NODES, 5, A, zeros, NULL}, NULL), TAMIS_OK);
}

static void two_passes_are_least_squares(void **state)
{
    (void)state;
    for (int times = 0; times < 100; times++) {
        double values[NODES], variances[NODES], t[NODES], S[NODES * NODES] = {0};
        for (int i = 0; i < NODES; i++) {
            t[i] = values[i] = 100 * random_unit();
            variances[i] = S[i * NODES + i] = 0.1 + 10 * random_unit();
        }
        if (times % 3 == 1) variances[0] = S[0] = 0;                      /* a public total */
        if (times % 3 == 2) variances[4] = S[4 * NODES + 4] = 0;          /* a public whole within */
        dense(t, S);
        assert_int_equal(tmi_adjust_tree(values, variances, &(tmi_tree){NODES, parent}, NULL), TAMIS_OK);
        for (int i = 0; i < NODES; i++) {
            assert_true(fabs(values[i] - t[i]) < 1e-9);
            assert_true(fabs(variances[i] - S[i * NODES + i]) < 1e-9);
        }
    }
}

/* What is not measured is what the others leave, and unknown where they leave two. */
static void unmeasured_nodes(void **state)
{
    (void)state;
    static const size_t small[] = {TMI_NO_PARENT, 0, 0, 0};
    double values[] = {NAN, 10, 20, 30}, variances[] = {INFINITY, 1, 2, 3};
    assert_int_equal(tmi_adjust_tree(values, variances, &(tmi_tree){4, small}, NULL), TAMIS_OK);
    assert_true(values[0] == 60 && variances[0] == 6 && values[1] == 10 && fabs(variances[3] - 3) < 1e-12);
    double rest[] = {100, 10, NAN, 30}, spread[] = {5, 1, INFINITY, 3};
    assert_int_equal(tmi_adjust_tree(rest, spread, &(tmi_tree){4, small}, NULL), TAMIS_OK);
    assert_true(rest[2] == 60 && spread[2] == 9 && rest[0] == 100 && spread[1] == 1);
    double two[] = {100, 10, NAN, NAN}, wide[] = {5, 1, INFINITY, INFINITY};
    assert_int_equal(tmi_adjust_tree(two, wide, &(tmi_tree){4, small}, NULL), TAMIS_OK);
    assert_true(two[0] == 100 && two[2] + two[3] == 90 && isinf(wide[2]));
}

static void many_leaves_add_up(void **state)
{
    (void)state;
    enum { LEAVES = 200000, ALL = 1 + 1000 + LEAVES };
    static double values[ALL], variances[ALL];
    static size_t whole[ALL];
    double leaves = 0, middle = 0;
    for (size_t i = 0; i < ALL; i++) {
        whole[i] = i == 0 ? TMI_NO_PARENT : i <= 1000 ? 0 : 1 + (i - 1001) % 1000;
        values[i] = 50 * random_unit() + (i == 0 ? 5e6 : i <= 1000 ? 5000 : 0);
        variances[i] = 2;
    }
    assert_int_equal(tmi_adjust_tree(values, variances, &(tmi_tree){ALL, whole}, NULL), TAMIS_OK);
    for (size_t i = 1; i < ALL; i++) *(i <= 1000 ? &middle : &leaves) += values[i];
    assert_true(fabs(leaves - values[0]) < 1e-9 * values[0] && fabs(middle - values[0]) < 1e-9 * values[0]);
}

static void bad_trees_are_refused(void **state)
{
    (void)state;
    static const size_t own[] = {TMI_NO_PARENT, 1}, good[] = {TMI_NO_PARENT, 0};
    double values[] = {3, 2}, variances[] = {1, 1}, zeros[] = {0, 0}, minus[] = {1, -1}, none[] = {1, NAN};
    assert_int_equal(tmi_adjust_tree(values, variances, &(tmi_tree){2, own}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(values, variances, &(tmi_tree){0, good}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(values, minus, &(tmi_tree){2, good}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(none, variances, &(tmi_tree){2, good}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(values, none, &(tmi_tree){2, good}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(NULL, variances, &(tmi_tree){2, good}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_adjust_tree(values, zeros, &(tmi_tree){2, good}, NULL), TAMIS_INVALID); /* 3 is not 2 */
    assert_true(values[0] == 3 && values[1] == 2);
    tamis_error err;
    EVERY_ALLOCATION_FAILS(tmi_adjust_tree(values, variances, &(tmi_tree){2, good}, &err), { assert_true(values[0] == 3); });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_passes_are_least_squares), cmocka_unit_test(unmeasured_nodes),
        cmocka_unit_test(many_leaves_add_up), cmocka_unit_test(bad_trees_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
