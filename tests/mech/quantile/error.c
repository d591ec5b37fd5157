/* The proved rank errors: the formulas a second time, in doubles, and draws from data with piles. */
#include "tests/test.h"

#include <string.h>

#include "mech/quantile/above.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/several.h"
#include "mech/quantile/tree.h"
#include "tests/rng/law.h"
#include "tests/rng/with_rng.h"

static const char *const quartiles[] = {"1/4", "1/2", "3/4"};

static tamis_quantile *quantile_of(tamis_quantile_method method, size_t count, const char *to, const char *loss, int64_t rows,
                                   int add_remove, int complete)
{
    tamis_number *x[] = {number("0"), number(to), number("1"), number(loss)}, *list[3];
    for (size_t i = 0; i < count; i++) list[i] = number(count == 1 ? "1/2" : quartiles[i]);
    const bool rho = method == TAMIS_QUANTILE_PREFIX;
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = (const tamis_number *const *)list,
                                        .at_count = count,
                                        .epsilon = rho ? NULL : x[3],
                                        .rho = rho ? x[3] : NULL,
                                        .method = method,
                                        .add_remove = add_remove,
                                        .complete = complete,
                                        .rows = rows};
    tamis_quantile *quantile;
    tamis_error err = {0};
    if (tamis_quantile_new(&quantile, &setup, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < 4; i++) tamis_number_free(x[i]);
    for (size_t i = 0; i < count; i++) tamis_number_free(list[i]);
    return quantile;
}

static double error_of(const tamis_quantile *q, size_t number_of, const char *confidence)
{
    tamis_number *c = number(confidence);
    tamis_error err = {0};
    double error;
    if (tamis_quantile_error(&error, q, number_of, c, 1, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tamis_number_free(c);
    return error;
}

static void is_near(double found, double expected)
{
    if (!(found >= expected * (1 - 1e-12) && found <= expected * (1 + 1e-5))) fail_msg("%.15g, expected %.15g", found, expected);
}

/* ---- formulas ---- */

static void formulas_agree(void **state)
{
    const double b = 0.1, points = 1001, keys = 1001 * 8192.0;
    (void)state;
    tamis_quantile *q = quantile_of(TAMIS_QUANTILE_INVERSE, 3, "1000", "2", 500, 0, 0); /* a rate of 2/3 / 2 for each record */
    for (size_t i = 0; i < 3; i++) is_near(error_of(q, i, "0.9"), log(3 * points / b) * 3);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_JOINT, 3, "1000", "2", 500, 0, 0);
    /* Three of 500 records share a place of 8192 in one point with probability below 8192 (500/8192)^3 / 6 = 0.31, and four with
     * 8192 (500/8192)^4 / 24 = 0.0047: u = 3. */
    for (size_t i = 0; i < 3; i++) is_near(error_of(q, i, "0.9"), (3 * log(keys) + log(1 / (0.9 * b))) * 4 / (2 * 2) * 2 / 2 + 9);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_SPLIT, 3, "1000", "2", 500, 0, 0); /* two levels, rows replaced: a quarter of epsilon each */
    const double node = log(keys) + log(3 / (0.9 * b)), own = node * 2 * 0.5 / 0.5;
    is_near(error_of(q, 1, "0.9"), own);
    is_near(error_of(q, 0, "0.9"), 2 * own + 3);
    is_near(error_of(q, 2, "0.9"), 2 * own + 3);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_THRESHOLD, 1, "1000", "2", 500, 0, 0); /* S = d = 2, three parts of epsilon: scale 3 */
    is_near(error_of(q, 0, "0.9"), (3 * log(2 * (double)q->candidate_count / b) + 1) / 2);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_HISTOGRAM, 1, "1000", "2", 500, 0, 0);
    is_near(error_of(q, 0, "0.9"), (3 * log(4 * 256 / b) + 1 + 3 * log(4 / b) + 1) / 2);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_PREFIX, 1, "1000", "1/2", 500, 0, 0);
    is_near(error_of(q, 0, "0.9"), 1.5 * sqrt(2 * log(2 * points / b)) * tmi_quantile_deviation(q) + 1);
    tamis_quantile_free(q);
    q = quantile_of(TAMIS_QUANTILE_TREE, 1, "1000", "1", 500, 0, 0); /* at most that of one Laplace variable: h = 1 */
    const double e = tmi_quantile_deviation(q), tail = log(2 * points / b) + log(2),
                 found = (error_of(q, 0, "0.9") - 1) / 1.5 / e;
    assert_true(found <= 1.01 * tail && found > log(2 * points / b) / sqrt(2));
    tamis_quantile_free(q);
}

/* ---- draws ---- */

enum { ROWS = 400 };

/* How far a rank is from those of the cell (before, point], or of the point. HistogramMethod counts what is below a cut: its
 * cells begin with the cut before. */
static double distance(const tamis_quantile *q, int64_t point, const int64_t *records, double rank)
{
    const int64_t cell = tmi_quantile_cell(q, point);
    double below = 0, up_to = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const bool open = q->method != TAMIS_QUANTILE_HISTOGRAM;
        below += cell == point || !open ? records[i] < cell : records[i] <= cell;
        up_to += records[i] < point || (records[i] == point && (open || point == q->grid.high));
    }
    return fmax(0, fmax(below - rank, rank - up_to));
}

/* The share of calls in which an answer is farther off than `part` of its bound. */
static double missed(tamis_quantile *q, const int64_t *records, double part, int draws)
{
    int far = 0;
    double errors[3];
    for (size_t k = 0; k < q->count; k++) errors[k] = part * error_of(q, k, "0.9");
    for (int i = 0; i < draws; i++) {
        int64_t points[3];
        bool off = false;
        assert_int_equal(tamis_quantile_prepare(q, rng, NULL), TAMIS_OK);
        assert_int_equal(tamis_quantile_points(points, q, records, NULL, ROWS, rng, NULL), TAMIS_OK);
        for (size_t k = 0; k < q->count; k++)
            off = off || distance(q, points[k], records, ROWS * (q->count == 1 ? 0.5 : 0.25 * (double)(k + 1))) >= errors[k];
        far += off;
    }
    return (double)far / draws;
}

/* On evenly spread records, on heaps and on one pile, all answers are within their bounds in nine of ten calls. With a small part
 * of the bound they are not: the bounds are not idle. */
static void bounds_hold(void **state)
{
    static const tamis_quantile_method methods[] = {TAMIS_QUANTILE_INVERSE,   TAMIS_QUANTILE_JOINT,     TAMIS_QUANTILE_SPLIT,
                                                    TAMIS_QUANTILE_THRESHOLD, TAMIS_QUANTILE_HISTOGRAM, TAMIS_QUANTILE_TREE,
                                                    TAMIS_QUANTILE_PREFIX};
    const int draws = test_size(60, 2000);
    uint64_t stream = 5;
    (void)state;
    bits_from_seed(21);
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
        for (int data = 0; data < 4; data++) {
            int64_t records[ROWS];
            const size_t count = data == 3 ? 1 : 3;
            tamis_quantile *q = quantile_of(methods[m], count, "300", "1/2", ROWS, 0, data == 3);
            for (size_t i = 0; i < ROWS; i++) {
                const int64_t draw = (int64_t)(next_number(&stream) % 300);
                records[i] = data == 0 || data == 3 ? draw : data == 1 ? draw / 60 * 60 : 120;
            }
            const double far = missed(q, records, 1, draws);
            if (far > 0.1 + 6 * sqrt(0.09 / draws)) fail_msg("method %d, data %d: %g missed", (int)methods[m], data, far);
            if (data == 0 && missed(q, records, 0.03, draws) < 0.2) fail_msg("method %d: its bound is idle", (int)methods[m]);
            tamis_quantile_free(q);
        }
}

/* ---- no bound ---- */

static void reasons_are_given(void **state)
{
    static const struct {
        tamis_quantile_method method;
        int64_t rows;
        const char *to, *word;
    } cases[] = {{TAMIS_QUANTILE_SMOOTH, 100, "1000", "scale depends on the data"},
                 {TAMIS_QUANTILE_JOINT, 0, "1000", "number of rows"},
                 {TAMIS_QUANTILE_SPLIT, 0, "1000", "number of rows"},
                 {TAMIS_QUANTILE_JOINT, 100, "4503599627370494", "so fine"}};
    tamis_number *c = number("0.9");
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_quantile *q = quantile_of(cases[i].method, 3, cases[i].to, "1", cases[i].rows, 0, 0);
        tamis_error err = {0};
        double error = 0;
        assert_int_equal(tamis_quantile_error(&error, q, 0, c, 1, &err), TAMIS_UNABLE);
        assert_true(isinf(error));
        assert_non_null(strstr(err.message, cases[i].word));
        tamis_quantile_free(q);
    }
    tamis_number_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_agree),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(reasons_are_given),
    };
    return cmocka_run_group_tests(tests, make_rng, free_rng);
}
