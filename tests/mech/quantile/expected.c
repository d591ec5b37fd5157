/* Expected errors of the answers: that of inverse sensitivity against its exact law, those of a joint draw against all tuples,
 * and those of all methods against draws. Records are where the curve has them. */
#include "tests/test.h"

#include "mech/quantile/expected/expected.h"
#include "num/number.h"
#include "tests/base/memory_that_fails.h"
#include "tests/mech/quantile/kit.h"
#include "tests/rng/with_rng.h"

#define RECORDS 1000
#define TOP 20000 /* grid points, from 0 */

/* A third of the records up to 2,000, a half from there to 5,000, the rest up to 12,000; none above. */
static const double places[] = {0, 2000, 5000, 12000, TOP}, shares[] = {0, 1.0 / 3, 5.0 / 6, 1, 1};
static const tmi_known_curve curve = {places, shares, 5, RECORDS};

static void set_records(int64_t *records, size_t count)
{
    for (size_t i = 0; i < count; i++) records[i] = (int64_t)tmi_known_place(&curve, ((double)i + 0.5) / (double)count);
}

/* Quantiles 0.1, 0.5 and 0.9. */
static tamis_quantile *quantile_of(tamis_quantile_method method, const char *loss, const char *log_unit)
{
    tamis_number *x[] = {number("0"),   number("19999"), number("1"),  number(loss), log_unit ? number(log_unit) : NULL,
                         number("0.1"), number("0.5"),   number("0.9")};
    const tamis_number *const at[] = {x[5], x[6], x[7]};
    const bool rho = method == TAMIS_QUANTILE_PREFIX;
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = at,
                                        .at_count = 3,
                                        .method = method,
                                        .epsilon = rho ? NULL : x[3],
                                        .rho = rho ? x[3] : NULL,
                                        .log_unit = x[4],
                                        .complete = 1,
                                        .rows = RECORDS};
    tamis_quantile *quantile;
    tamis_error err = {0};
    if (tamis_quantile_new(&quantile, &setup, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) tamis_number_free(x[i]);
    return quantile;
}

/* ---- against exact laws ---- */

static void inverse_sensitivity_errs_as_its_law_says(void **state)
{
    static const char *const epsilons[] = {"0.02", "0.3", "5"};
    static const double off[] = {0.05, 0.05, 0.3}; /* with epsilon 5 the answer is within a gap or two between records */
    static tamis_bound law[TOP];
    static int64_t records[RECORDS];
    (void)state;
    set_records(records, RECORDS);
    for (size_t k = 0; k < 2 * 3; k++) {
        const kit_setup setup = {"0", "19999", "1", "0.5", epsilons[k / 2], k % 2 ? "1" : NULL, k % 2, 1, 0};
        tamis_quantile *q = kit_quantile(&setup);
        double squares = 0, error;
        kit_law(law, q, records, NULL, RECORDS);
        for (size_t i = 0; i < TOP; i++) squares += law[i].upper * pow((double)i - tmi_known_point(&curve, 0.5), 2);
        assert_int_equal(tmi_quantile_spread(&error, q, &curve, NULL), TAMIS_OK);
        if (!(fabs(error / sqrt(squares) - 1) <= off[k / 2]))
            fail_msg("epsilon %s: %g, not %g", epsilons[k / 2], error, sqrt(squares));
        tamis_quantile_free(q);
    }
}

/* One grid point has most of the records: it is found, however small the noise. */
static void a_pile_has_no_error(void **state)
{
    static const double piled_places[] = {0, 50, 51, 100}, piled[] = {0, 0.2, 0.8, 1};
    const kit_setup setup = {"0", "99", "1", "0.5", "1", NULL, 0, 1, 0};
    tamis_quantile *q = kit_quantile(&setup);
    double error;
    (void)state;
    assert_int_equal(tmi_quantile_spread(&error, q, &(tmi_known_curve){piled_places, piled, 4, 1000}, NULL), TAMIS_OK);
    assert_true(error < 1e-6);
    tamis_quantile_free(q);
}

#define CELLS 12

static void cuts_of_a_joint_draw_have_their_laws(void **state)
{
    static const double at[] = {0.2, 0.45, 0.9}, rates[] = {0, 3, 40};
    double s[CELLS], m[CELLS], laws[3 * CELLS], wanted[3 * CELLS];
    (void)state;
    for (size_t i = 0; i < CELLS; i++) {
        s[i] = i == 5 ? 0.36 : ((double)i + 0.3) / CELLS; /* two cells have nearly the same share */
        m[i] = 1 + (double)(i * i % 7);
    }
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        double all = 0;
        for (size_t i = 0; i < 3 * CELLS; i++) wanted[i] = 0;
        for (size_t x = 0; x < CELLS; x++)
            for (size_t y = x; y < CELLS; y++)
                for (size_t z = y; z < CELLS; z++) {
                    const double a = s[x] - at[0], b = s[y] - at[1], c = s[z] - at[2],
                                 p = m[x] * m[y] * m[z] * exp(-rates[k] * (fabs(a) + fabs(b - a) + fabs(c - b) + fabs(c)));
                    wanted[x] += p;
                    wanted[CELLS + y] += p;
                    wanted[2 * CELLS + z] += p;
                    all += p;
                }
        assert_int_equal(tmi_joint_marginals(laws, s, m, CELLS, at, 3, rates[k], NULL), TAMIS_OK);
        for (size_t i = 0; i < 3 * CELLS; i++) assert_true(fabs(laws[i] - wanted[i] / all) <= 1e-9);
    }
}

/* ---- against draws ---- */

/* The bits are scripted, so that every run of the test sees the same draws: there are no false alarms. In as many draws the root
 * mean square has a relative standard error of a tenth or so. */
#define RUNS 150
#define LEAST 0.6
#define MOST 1.7

static bool errs_as_expected(double *ratios, tamis_quantile *q, size_t runs)
{
    static int64_t records[RECORDS];
    double expected[3], squares[3] = {0};
    bool right = true;
    set_records(records, RECORDS);
    assert_int_equal(tmi_quantile_spread(expected, q, &curve, NULL), TAMIS_OK);
    for (size_t run = 0; run < runs; run++) {
        int64_t points[3];
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(points, q, records, NULL, RECORDS, rng, NULL), TAMIS_OK);
        for (size_t j = 0; j < 3; j++)
            squares[j] += pow((double)points[j] - tmi_known_point(&curve, j == 0 ? 0.1 : j == 1 ? 0.5 : 0.9), 2);
    }
    for (size_t j = 0; j < 3; j++) {
        ratios[j] = expected[j] / sqrt(squares[j] / (double)runs);
        right = right && ratios[j] >= LEAST && ratios[j] <= MOST;
    }
    return right;
}

static void answers_err_as_expected(void **state)
{
    static const struct {
        tamis_quantile_method method;
        const char *little, *much, *log_unit;
    } cells[] = {{TAMIS_QUANTILE_INVERSE, "0.3", "6", "1"},    {TAMIS_QUANTILE_JOINT, "0.3", "6", "1"},
                 {TAMIS_QUANTILE_JOINT, "0.1", "6", NULL},     {TAMIS_QUANTILE_SPLIT, "0.3", "6", "1"},
                 {TAMIS_QUANTILE_THRESHOLD, "0.5", "6", NULL}, {TAMIS_QUANTILE_HISTOGRAM, "0.5", "6", NULL},
                 {TAMIS_QUANTILE_SMOOTH, "1.5", "6", NULL},    {TAMIS_QUANTILE_TREE, "0.3", "6", NULL},
                 {TAMIS_QUANTILE_PREFIX, "0.01", "2", NULL}};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof cells / sizeof *cells; k++) {
        const char *loss = k % 2 ? cells[k / 2].much : cells[k / 2].little;
        tamis_quantile *q = quantile_of(cells[k / 2].method, loss, cells[k / 2].log_unit);
        double r[3];
        const bool right = errs_as_expected(r, q, cells[k / 2].method == TAMIS_QUANTILE_JOINT ? RUNS / 3 : RUNS);
        print_message("%s, %s: %.2f %.2f %.2f\n", tamis_quantile_method_name(cells[k / 2].method), loss, r[0], r[1], r[2]);
        if (!right) fail_msg("%s, %s: %.2f %.2f %.2f", tamis_quantile_method_name(cells[k / 2].method), loss, r[0], r[1], r[2]);
        tamis_quantile_free(q);
    }
}

static void allocations_may_fail(void **state)
{
    static const tamis_quantile_method methods[] = {TAMIS_QUANTILE_INVERSE, TAMIS_QUANTILE_JOINT, TAMIS_QUANTILE_TREE};
    double errors[3];
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        tamis_quantile *q = quantile_of(methods[k], "1", NULL);
        EVERY_ALLOCATION_FAILS(tmi_quantile_spread(errors, q, &curve, NULL), {});
        tamis_quantile_free(q);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inverse_sensitivity_errs_as_its_law_says),
        cmocka_unit_test(a_pile_has_no_error),
        cmocka_unit_test(cuts_of_a_joint_draw_have_their_laws),
        cmocka_unit_test(answers_err_as_expected),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
