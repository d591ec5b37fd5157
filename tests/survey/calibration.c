/* Calibration against R: tests/survey/calibration.json says where its numbers come from. */
#include "tests/test.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/base/memory_that_fails.h"

#define UNITS 183
#define VARIABLES 4
#define MARGINS 5

static void reals(double *to, json_t *json, const char *name, size_t count)
{
    json_t *list = json_object_get(json, name);
    assert_int_equal(json_array_size(list), count);
    for (size_t i = 0; i < count; i++) to[i] = json_number_value(json_array_get(list, i));
}

typedef struct schools {
    double weights[UNITS], populations[UNITS], x[UNITS * VARIABLES], totals[VARIABLES];
    double margins[UNITS * MARGINS], margin_totals[MARGINS], raked[UNITS];
    int64_t clusters[UNITS];
    json_t *file;
} schools;

static schools *read_schools(void)
{
    schools *s = calloc(1, sizeof *s);
    json_t *file = s->file = json_load_file(TESTS_FOLDER "/survey/calibration.json", 0, NULL);
    assert_non_null(file);
    reals(s->weights, file, "weights", UNITS);
    reals(s->x, file, "auxiliary", UNITS * VARIABLES);
    reals(s->totals, file, "totals", VARIABLES);
    reals(s->margins, file, "margins", UNITS * MARGINS);
    reals(s->margin_totals, file, "margin_totals", MARGINS);
    reals(s->raked, file, "raked", UNITS);
    for (size_t i = 0; i < UNITS; i++) {
        s->clusters[i] = json_integer_value(json_array_get(json_object_get(file, "clusters"), i));
        s->populations[i] = json_number_value(json_object_get(file, "population"));
    }
    return s;
}

static void free_schools(schools *s)
{
    json_decref(s->file);
    free(s);
}

static tamis_calibration calibration_of(const char *name)
{
    if (strcmp(name, "linear") == 0) return TAMIS_CALIBRATION_LINEAR;
    return strcmp(name, "raking") == 0 ? TAMIS_CALIBRATION_RAKING : TAMIS_CALIBRATION_LOGIT;
}

static void agrees_with_R(void **state)
{
    schools *s = read_schools();
    json_t *json, *row;
    const char *name;
    size_t i, compared = 0;
    (void)state;
    json_object_foreach (json_object_get(s->file, "calibrations"), name, json) {
        double w[UNITS], reference[UNITS], lower, upper;
        const char *method;
        assert_int_equal(json_unpack(json, "{s:s,s:F,s:F}", "method", &method, "lower", &lower, "upper", &upper), 0);
        reals(reference, json, "weights", UNITS);
        assert_int_equal(tamis_calibrate(w, calibration_of(method), lower, upper, s->weights, s->x, s->totals, UNITS, VARIABLES,
                                         NULL),
                         TAMIS_OK);
        for (i = 0; i < UNITS; i++)
            if (!close_to(w[i], reference[i])) fail_msg("%s: weight %zu is %.17g, R says %.17g", name, i, w[i], reference[i]);
        json_array_foreach (json_object_get(json, "expected"), i, row) {
            double values[UNITS], u[UNITS], estimate, se, e, v;
            tamis_stage stage = {NULL, s->clusters, s->populations};
            const char *statistic, *y;
            assert_int_equal(json_unpack(row, "[ssFF]", &statistic, &y, &estimate, &se), 0);
            reals(values, json_object_get(s->file, "values"), y, UNITS);
            assert_int_equal(strcmp(statistic, "total") == 0 ? tamis_total(&e, u, values, w, NULL, UNITS, NULL)
                                                             : tamis_mean(&e, u, values, w, NULL, UNITS, NULL),
                             TAMIS_OK);
            assert_int_equal(tamis_calibration_residuals(u, u, s->weights, s->x, UNITS, VARIABLES, NULL), TAMIS_OK);
            assert_int_equal(tamis_variance_stages(&v, NULL, u, w, UNITS, &stage, 1, TAMIS_LONELY_FAIL, NULL), TAMIS_OK);
            if (!close_to(e, estimate) || !close_to(sqrt(v), se))
                fail_msg("%s, %s of %s: %.17g (%.17g), R says %.17g (%.17g)", name, statistic, y, e, sqrt(v), estimate, se);
            compared++;
        }
    }
    assert_int_equal(compared, 12);
    free_schools(s);
}

/* Two classifications: one of the five indicators follows from the others. */
static void margins(void **state)
{
    schools *s = read_schools();
    double w[UNITS], off[MARGINS];
    tamis_error err = {0};
    (void)state;
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_RAKING, 0, 0, s->weights, s->margins, s->margin_totals, UNITS, MARGINS,
                                     NULL),
                     TAMIS_OK);
    for (size_t i = 0; i < UNITS; i++) assert_true(close_to(w[i], s->raked[i]));
    /* Margins that sum to different numbers of schools can not be met, by any method. */
    memcpy(off, s->margin_totals, sizeof off);
    off[4] += 1;
    for (size_t m = 0; m < 3; m++) {
        assert_int_equal(tamis_calibrate(w, (tamis_calibration)m, 0.1, 9, s->weights, s->margins, off, UNITS, MARGINS, &err),
                         TAMIS_UNABLE);
        assert_int_equal(strncmp(err.message, "totals:", 7), 0);
        assert_true(isnan(w[0]) && isnan(w[UNITS - 1]));
    }
    free_schools(s);
}

/* Factors stay within the bounds, also close to the narrowest that can meet the totals; beyond them, UNABLE. */
static void bounds(void **state)
{
    static const double weights[] = {1, 1, 1, 1}, x[] = {1, 0, 1, 1, 1, 2, 1, 3};
    double w[4];
    (void)state;
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_LOGIT, 0.5, 1.5, weights, x, (double[]){4, 7.9}, 4, 2, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) assert_true(w[i] > 0.5 && w[i] < 1.5);
    assert_true(fabs(w[0] + w[1] + w[2] + w[3] - 4) < 1e-9 && fabs(w[1] + 2 * w[2] + 3 * w[3] - 7.9) < 1e-9);
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_LOGIT, 0.5, 1.5, weights, x, (double[]){4, 8.1}, 4, 2, NULL),
                     TAMIS_UNABLE);
    assert_true(isnan(w[0]));
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_RAKING, 0, 0, weights, x, (double[]){4, -1}, 4, 2, NULL), TAMIS_UNABLE);
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_LINEAR, 0, 0, weights, x, (double[]){4, -1}, 4, 2, NULL), TAMIS_OK);
    assert_true(w[3] < 0);
    /* Nothing to change. */
    assert_int_equal(tamis_calibrate(w, TAMIS_CALIBRATION_RAKING, 0, 0, weights, x, (double[]){4, 6}, 4, 2, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) assert_true(w[i] == 1);
}

static void residuals(void **state)
{
    static const double weights[] = {1, 2, 1, 3}, x[] = {1, 0, 1, 1, 1, 2, 1, 3}, y[] = {5, 7, 9, 11}, z[] = {1, 0, 0, 1};
    double e[4], flat = 0, slope = 0;
    (void)state;
    assert_int_equal(tamis_calibration_residuals(e, y, weights, x, 4, 2, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) assert_true(fabs(e[i]) < 1e-14);
    assert_int_equal(tamis_calibration_residuals(e, z, weights, x, 4, 2, NULL), TAMIS_OK);
    for (size_t i = 0; i < 4; i++) {
        flat += weights[i] * e[i];
        slope += weights[i] * e[i] * x[2 * i + 1];
    }
    assert_true(fabs(flat) < 1e-14 && fabs(slope) < 1e-14 && fabs(e[0]) > 0.1);
}

#define INVALID(parameter, call) \
    do { \
        tamis_error err = {0}; \
        out[0] = out[1] = 7; \
        assert_int_equal(call, TAMIS_INVALID); \
        if (strncmp(err.message, parameter ":", strlen(parameter) + 1) != 0) fail_msg("%s: %s", parameter, err.message); \
    } while (0)

static void invalid(void **state)
{
    static const double fine[] = {1, 2}, bad[] = {NAN, INFINITY, -INFINITY, 0, -1}, huge[] = {1e308, 1e308};
    double out[2];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        double list[] = {1, bad[i]};
        INVALID("weights", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, list, fine, fine, 2, 1, &err));
        assert_true(isnan(out[0]) && isnan(out[1]));
        INVALID("weights", tamis_calibration_residuals(out, fine, list, fine, 2, 1, &err));
        assert_true(isnan(out[0]) && isnan(out[1]));
        if (isfinite(bad[i])) continue;
        INVALID("auxiliary", tamis_calibrate(out, TAMIS_CALIBRATION_RAKING, 0, 0, fine, list, fine, 2, 1, &err));
        INVALID("totals", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, 0.5, 2, fine, fine, &bad[i], 2, 1, &err));
        INVALID("auxiliary", tamis_calibration_residuals(out, fine, fine, list, 2, 1, &err));
        INVALID("linear", tamis_calibration_residuals(out, list, fine, fine, 2, 1, &err));
        INVALID("lower", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, bad[i], 2, fine, fine, fine, 2, 1, &err));
        INVALID("upper", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, 0.5, bad[i], fine, fine, fine, 2, 1, &err));
    }
    INVALID("lower", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, -0.1, 2, fine, fine, fine, 2, 1, &err));
    INVALID("lower", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, 1, 2, fine, fine, fine, 2, 1, &err));
    INVALID("upper", tamis_calibrate(out, TAMIS_CALIBRATION_LOGIT, 0.5, 1, fine, fine, fine, 2, 1, &err));
    INVALID("method", tamis_calibrate(out, (tamis_calibration)3, 0, 0, fine, fine, fine, 2, 1, &err));
    INVALID("weights", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, NULL, fine, fine, 2, 1, &err));
    INVALID("auxiliary", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, NULL, fine, 2, 1, &err));
    INVALID("auxiliary", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, huge, fine, 2, 1, &err));
    INVALID("totals", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, NULL, 2, 1, &err));
    INVALID("count", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, 0, 1, &err));
    INVALID("count", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, SIZE_MAX, 1, &err));
    INVALID("variables", tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, 2, 0, &err));
    INVALID("variables",
            tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, 2, TAMIS_MAX_AUXILIARY + 1, &err));
    INVALID("linear", tamis_calibration_residuals(out, NULL, fine, fine, 2, 1, &err));
    INVALID("linear", tamis_calibration_residuals(out, huge, fine, fine, 2, 1, &err));
    INVALID("count", tamis_calibration_residuals(out, fine, fine, fine, SIZE_MAX, 1, &err));
    INVALID("variables", tamis_calibration_residuals(out, fine, fine, fine, 2, 0, &err));
    assert_int_equal(tamis_calibrate(NULL, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, 2, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_calibration_residuals(NULL, fine, fine, fine, 2, 1, NULL), TAMIS_INVALID);
}

static void memory(void **state)
{
    static const double fine[] = {1, 2};
    tamis_error err = {0};
    double out[2];
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_calibrate(out, TAMIS_CALIBRATION_LINEAR, 0, 0, fine, fine, fine, 2, 1, &err),
                           assert_true(isnan(out[1])));
    EVERY_ALLOCATION_FAILS(tamis_calibration_residuals(out, fine, fine, fine, 2, 1, &err), assert_true(isnan(out[1])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_R), cmocka_unit_test(margins), cmocka_unit_test(bounds),
        cmocka_unit_test(residuals),     cmocka_unit_test(invalid), cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
