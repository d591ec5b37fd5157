/* Point estimators and variances: against R (tests/survey/estimates.json says how its numbers were made), and over all
 * samples of small frames, where the means of the estimates are known.                                               */
#include "tests/test.h"

#include <jansson.h>
#include <math.h>

#include "tests/survey/frames.h"

#define UNITS 64

static const double *list(double *to, json_t *json, size_t count)
{
    if (!json || json_is_null(json)) return NULL;
    assert_int_equal(json_array_size(json), count);
    for (size_t i = 0; i < count; i++) to[i] = json_number_value(json_array_get(json, i));
    return to;
}

typedef struct sample {
    double probabilities[UNITS], weights[UNITS], joint[UNITS * UNITS], frame_squares;
    size_t count;
} sample;

static void read_sample(sample *s, json_t *json)
{
    json_t *row;
    size_t k;
    s->count = json_array_size(json_object_get(json, "weights"));
    assert_true(s->count <= UNITS);
    list(s->weights, json_object_get(json, "weights"), s->count);
    list(s->probabilities, json_object_get(json, "probabilities"), s->count);
    s->frame_squares = json_number_value(json_object_get(json, "frame_squares"));
    json_array_foreach (json_object_get(json, "joint"), k, row) list(&s->joint[k * s->count], row, s->count);
}

static tamis_status variance_of(double *v, const char *name, const double *u, const sample *s)
{
    static const struct {
        const char *name;
        tamis_status (*variance)(double *, const double *, const double *, size_t, tamis_error *);
        size_t list;
    } all[] = {
        {"horvitz_thompson", tamis_variance_horvitz_thompson, offsetof(sample, joint)},
        {"yates_grundy", tamis_variance_yates_grundy, offsetof(sample, joint)},
        {"poisson", tamis_variance_poisson, offsetof(sample, probabilities)},
        {"hajek", tamis_variance_hajek, offsetof(sample, probabilities)},
        {"deville", tamis_variance_deville, offsetof(sample, probabilities)},
        {"brewer", tamis_variance_brewer, offsetof(sample, probabilities)},
        {"overton", tamis_variance_overton, offsetof(sample, probabilities)},
        {"hansen_hurwitz", tamis_variance_hansen_hurwitz, offsetof(sample, weights)},
    };
    if (strncmp(name, "hartley_rao", 11) == 0)
        return tamis_variance_hartley_rao(v, u, s->probabilities, name[11] ? 0 : s->frame_squares, s->count, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].variance(v, u, (const double *)((const char *)s + all[i].list), s->count, NULL);
    fail_msg("no variance %s", name);
    return TAMIS_INVALID;
}

static void agrees_with_R(void **state)
{
    json_t *file = json_load_file(TESTS_FOLDER "/survey/estimates.json", 0, NULL), *json, *row;
    const char *name;
    size_t compared = 0, i;
    (void)state;
    assert_non_null(file);
    json_object_foreach (json_object_get(file, "samples"), name, json) {
        static sample s;
        read_sample(&s, json);
        json_array_foreach (json_object_get(json, "expected"), i, row) {
            const char *variance, *statistic, *y, *x;
            double estimate, se, values[UNITS], bases[UNITS], u[UNITS], e = NAN, v = NAN;
            assert_int_equal(json_unpack(row, "[ssssFF]", &variance, &statistic, &y, &x, &estimate, &se), 0);
            list(values, json_object_get(json_object_get(json, "values"), y), s.count);
            if (*x) list(bases, json_object_get(json_object_get(json, "values"), x), s.count);
            if (strcmp(statistic, "total") == 0)
                assert_int_equal(tamis_total(&e, u, values, s.weights, NULL, s.count, NULL), TAMIS_OK);
            else if (strcmp(statistic, "mean") == 0)
                assert_int_equal(tamis_mean(&e, u, values, s.weights, NULL, s.count, NULL), TAMIS_OK);
            else assert_int_equal(tamis_ratio(&e, u, values, bases, s.weights, NULL, s.count, NULL), TAMIS_OK);
            assert_int_equal(variance_of(&v, variance, u, &s), TAMIS_OK);
            if (!close_to(e, estimate) || !close_to(sqrt(v), se))
                fail_msg("%s, %s, %s of %s: %.17g (%.17g), R says %.17g (%.17g)", name, variance, statistic, y, e, sqrt(v),
                         estimate, se);
            compared++;
        }
    }
    json_decref(file);
    assert_int_equal(compared, 132);
}

/* ---- all samples ---- */

static double middle(tamis_bound b) { return (b.lower + b.upper) / 2; }

/* For every design with positive joint probabilities the Horvitz-Thompson total and variance are unbiased, and the
 * Yates-Grundy-Sen variance is if the size is fixed. */
static void unbiased(const tamis_design *design, const char *name)
{
    static const double y[TAMIS_LAW_UNITS] = {3, -1, 4, 1, 5, 9, 2, 6};
    size_t N = (size_t)tamis_design_population(design);
    tamis_bound joint[TAMIS_LAW_UNITS * TAMIS_LAW_UNITS];
    double truth = 0, total = 0, squares = 0, ht = 0, yg = 0;
    tamis_law *law = NULL;
    bool measurable = true;
    if (strcmp(tamis_design_name(design), "srs_with_replacement") == 0 || N > 6) return;
    assert_int_equal(tamis_inclusion_joint(joint, design, NULL, N, NULL), TAMIS_OK);
    for (size_t k = 0; k < N * N; k++) measurable = measurable && joint[k].lower > 0;
    for (size_t k = 0; k < N; k++) truth += y[k];
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        double u[TAMIS_LAW_UNITS], w[TAMIS_LAW_UNITS], pij[TAMIS_LAW_UNITS * TAMIS_LAW_UNITS], t, v = 0, g = 0;
        double p = middle(tamis_law_probability(law, j));
        size_t n = tamis_law_sample(&units, law, j);
        for (size_t k = 0; k < n; k++) {
            u[k] = y[units[k]];
            w[k] = 1 / middle(joint[units[k] * N + units[k]]);
            for (size_t l = 0; l < n; l++) pij[k * n + l] = middle(joint[units[k] * N + units[l]]);
        }
        if (n > 0) {
            assert_int_equal(tamis_total(&t, u, u, w, NULL, n, NULL), TAMIS_OK);
            assert_int_equal(tamis_variance_horvitz_thompson(&v, u, pij, n, NULL), TAMIS_OK);
            assert_int_equal(tamis_variance_yates_grundy(&g, u, pij, n, NULL), TAMIS_OK);
        } else t = 0;
        total += p * t;
        squares += p * (t - truth) * (t - truth);
        ht += p * v;
        yg += p * g;
    }
    double far = 1e-10 * (1 + squares);
    if (fabs(total - truth) > 1e-10) fail_msg("%s: the total is biased", name);
    if (measurable && fabs(ht - squares) > far) fail_msg("%s: Horvitz-Thompson variance %.17g, not %.17g", name, ht, squares);
    if (measurable && tamis_design_sample(design) >= 0 && fabs(yg - squares) > far)
        fail_msg("%s: Yates-Grundy-Sen variance %.17g, not %.17g", name, yg, squares);
    tamis_law_free(law);
}

static void means_over_all_samples(void **state)
{
    (void)state;
    each_design(unbiased);
}

/* Simple random sampling without replacement: all approximations are the exact formula N^2 (1 - f) s^2 / n. */
static void equal_probabilities(void **state)
{
    static const double y[] = {3, 1, 4, 1, 5, 9};
    double p[6], w[6], v, s2 = 0, mean = 23.0 / 6;
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        p[i] = 0.25;
        w[i] = 4;
        s2 += (y[i] - mean) * (y[i] - mean) / 5;
    }
    double exact = 24.0 * 24 * 0.75 * s2 / 6;
    assert_int_equal(tamis_variance_hajek(&v, y, p, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_deville(&v, y, p, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_brewer(&v, y, p, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_overton(&v, y, p, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_hartley_rao(&v, y, p, 24 * 0.25 * 0.25, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_hartley_rao(&v, y, p, 0, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact));
    assert_int_equal(tamis_variance_hansen_hurwitz(&v, y, w, 6, NULL), TAMIS_OK);
    assert_true(close_to(v, exact / 0.75));
}

static tamis_status hartley_rao(double *v, const double *u, const double *p, size_t count, tamis_error *err)
{
    return tamis_variance_hartley_rao(v, u, p, 0, count, err);
}

/* Units that are sure to be sampled add nothing where formulas weigh by 1 - p; a sample of nothing else has variance 0. */
static void certainty(void **state)
{
    static const double y[] = {3, 1e9, 4, 1, -7}, p[] = {0.5, 1, 0.25, 0.125, 1}, few[] = {3, 4, 1}, q[] = {0.5, 0.25, 0.125};
    static const double ones[] = {1, 1, 1, 1, 1};
    tamis_status (*const all[])(double *, const double *, const double *, size_t,
                                tamis_error *) = {tamis_variance_poisson, tamis_variance_hajek,   tamis_variance_deville,
                                                  tamis_variance_brewer,  tamis_variance_overton, hartley_rao};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double v, w;
        assert_int_equal(all[i](&v, y, p, 5, NULL), TAMIS_OK);
        assert_int_equal(all[i](&w, few, q, 3, NULL), TAMIS_OK);
        assert_true(v != 0 && close_to(v, w) == (i < 3)); /* the others count them in n, as R's survey does */
        assert_int_equal(all[i](&v, y, ones, 5, NULL), TAMIS_OK);
        assert_true(v == 0);
    }
}

static void domains(void **state)
{
    static const double y[] = {3, 1, 4, 1, 5}, x[] = {2, 7, 1, 8, 2}, w[] = {2, 3, 5, 7, 11};
    static const uint8_t domain[] = {1, 0, 1, 0, 1};
    double e, u[5], sum = 0;
    (void)state;
    assert_int_equal(tamis_total(&e, u, y, w, domain, 5, NULL), TAMIS_OK);
    assert_true(e == 81 && u[0] == 3 && u[1] == 0 && u[4] == 5);
    assert_int_equal(tamis_mean(&e, u, y, w, domain, 5, NULL), TAMIS_OK);
    assert_true(e == 81.0 / 18 && u[1] == 0 && u[3] == 0);
    for (size_t i = 0; i < 5; i++) sum += w[i] * u[i];
    assert_true(fabs(sum) < 1e-15);
    assert_int_equal(tamis_ratio(&e, u, y, x, w, domain, 5, NULL), TAMIS_OK);
    assert_true(e == 81.0 / 31 && u[1] == 0 && close_to(u[0], (3 - 162.0 / 31) / 31));
}

/* A large value that cancels: a plain sum gives 0.5. */
static void sums_keep_digits(void **state)
{
    double y[4] = {1e17, 1, -1e17, 0.5}, w[4] = {1, 1, 1, 1}, e;
    (void)state;
    assert_int_equal(tamis_total(&e, NULL, y, w, NULL, 4, NULL), TAMIS_OK);
    assert_true(e == 1.5);
}

/* ---- what a caller may get wrong ---- */

#define INVALID(parameter, pessimistic, output, call) \
    do { \
        tamis_error err = {0}; \
        output = 7; \
        assert_int_equal(call, TAMIS_INVALID); \
        assert_int_equal(call, TAMIS_INVALID); \
        if (strncmp(err.message, parameter ":", strlen(parameter) + 1) != 0) fail_msg("%s: %s", parameter, err.message); \
        assert_true(pessimistic(output)); \
    } while (0)

static void invalid_points(void **state)
{
    static const double fine[] = {1, 2}, huge[] = {1e308, 1e308}, zero[] = {1, -1}, bad[] = {NAN, INFINITY, -INFINITY};
    static const uint8_t nobody[] = {0, 0};
    double e, u[2];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double list[] = {1, bad[i]};
        INVALID("values", isnan, e, tamis_total(&e, u, list, fine, NULL, 2, &err));
        INVALID("weights", isnan, e, tamis_total(&e, u, fine, list, NULL, 2, &err));
        INVALID("values", isnan, e, tamis_mean(&e, u, list, fine, NULL, 2, &err));
        INVALID("weights", isnan, e, tamis_mean(&e, u, fine, list, NULL, 2, &err));
        INVALID("values", isnan, e, tamis_ratio(&e, u, list, fine, fine, NULL, 2, &err));
        INVALID("bases", isnan, e, tamis_ratio(&e, u, fine, list, fine, NULL, 2, &err));
        INVALID("weights", isnan, e, tamis_ratio(&e, u, fine, fine, list, NULL, 2, &err));
    }
    u[0] = 5;
    INVALID("values", isnan, e, tamis_total(&e, u, NULL, fine, NULL, 2, &err));
    assert_true(u[0] == 0);
    INVALID("weights", isnan, e, tamis_total(&e, u, fine, NULL, NULL, 2, &err));
    INVALID("count", isnan, e, tamis_total(&e, u, fine, fine, NULL, 0, &err));
    INVALID("values", isnan, e, tamis_total(&e, u, huge, fine, NULL, 2, &err));
    INVALID("values", isnan, e, tamis_mean(&e, u, huge, fine, NULL, 2, &err));
    INVALID("weights", isnan, e, tamis_mean(&e, u, fine, zero, NULL, 2, &err));
    INVALID("weights", isnan, e, tamis_mean(&e, u, fine, fine, nobody, 2, &err));
    INVALID("bases", isnan, e, tamis_ratio(&e, u, fine, NULL, fine, NULL, 2, &err));
    INVALID("bases", isnan, e, tamis_ratio(&e, u, fine, fine, zero, nobody, 2, &err));
    INVALID("bases", isnan, e, tamis_ratio(&e, u, fine, huge, fine, NULL, 2, &err));
    assert_int_equal(tamis_total(NULL, u, fine, fine, NULL, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_mean(NULL, u, fine, fine, NULL, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_ratio(NULL, u, fine, fine, fine, NULL, 2, NULL), TAMIS_INVALID);
}

static void invalid_variances(void **state)
{
    static const double fine[] = {1, 2}, half[] = {0.5, 0.25}, joint[] = {0.5, 0.2, 0.2, 0.5}, one[] = {0.5, 1};
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1, 1.5}, skew[] = {0.5, 0.2, 0.3, 0.5}, huge[] = {1e300, -1e300};
    tamis_status (*const pps[])(double *, const double *, const double *, size_t,
                                tamis_error *) = {tamis_variance_poisson, tamis_variance_hajek,   tamis_variance_deville,
                                                  tamis_variance_brewer,  tamis_variance_overton, hartley_rao};
    tamis_status (*const joints[])(double *, const double *, const double *, size_t,
                                   tamis_error *) = {tamis_variance_horvitz_thompson, tamis_variance_yates_grundy};
    double v;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double probabilities[] = {0.5, bad[i]}, matrix[] = {0.5, bad[i], bad[i], 0.5};
        for (size_t j = 0; j < 6; j++) INVALID("probabilities", isinf, v, pps[j](&v, fine, probabilities, 2, &err));
        for (size_t j = 0; j < 2; j++) INVALID("joint", isinf, v, joints[j](&v, fine, matrix, 2, &err));
        if (isfinite(bad[i])) continue;
        for (size_t j = 0; j < 6; j++) INVALID("linear", isinf, v, pps[j](&v, &bad[i], half, 1, &err));
        for (size_t j = 0; j < 2; j++) INVALID("linear", isinf, v, joints[j](&v, &bad[i], joint, 1, &err));
        INVALID("linear", isinf, v, tamis_variance_hansen_hurwitz(&v, &bad[i], half, 1, &err));
        INVALID("weights", isinf, v, tamis_variance_hansen_hurwitz(&v, fine, probabilities, 2, &err));
    }
    for (size_t j = 0; j < 6; j++) {
        INVALID("linear", isinf, v, pps[j](&v, NULL, half, 2, &err));
        INVALID("probabilities", isinf, v, pps[j](&v, fine, NULL, 2, &err));
        INVALID("count", isinf, v, pps[j](&v, fine, half, 0, &err));
        INVALID("linear", isinf, v, pps[j](&v, huge, half, 2, &err));
        assert_int_equal(pps[j](NULL, fine, half, 2, NULL), TAMIS_INVALID);
        if (j == 1 || j == 2) INVALID("probabilities", isinf, v, pps[j](&v, fine, one, 2, &err));
    }
    for (size_t j = 0; j < 2; j++) {
        INVALID("linear", isinf, v, joints[j](&v, NULL, joint, 2, &err));
        INVALID("joint", isinf, v, joints[j](&v, fine, NULL, 2, &err));
        INVALID("joint", isinf, v, joints[j](&v, fine, skew, 2, &err));
        INVALID("count", isinf, v, joints[j](&v, fine, joint, 0, &err));
        INVALID("count", isinf, v, joints[j](&v, fine, joint, SIZE_MAX, &err));
        INVALID("linear", isinf, v, joints[j](&v, huge, joint, 2, &err));
        assert_int_equal(joints[j](NULL, fine, joint, 2, NULL), TAMIS_INVALID);
    }
    for (size_t i = 0; i < 3; i++)
        INVALID("frame_squares", isinf, v, tamis_variance_hartley_rao(&v, fine, half, bad[i], 2, &err));
    INVALID("frame_squares", isinf, v, tamis_variance_hartley_rao(&v, fine, half, -1, 2, &err));
    INVALID("frame_squares", isinf, v, tamis_variance_hartley_rao(&v, fine, half, 2.5, 2, &err));
    INVALID("count", isinf, v, tamis_variance_hansen_hurwitz(&v, fine, half, 1, &err));
    INVALID("weights", isinf, v, tamis_variance_hansen_hurwitz(&v, fine, NULL, 2, &err));
    INVALID("linear", isinf, v, tamis_variance_hansen_hurwitz(&v, huge, fine, 2, &err));
    assert_int_equal(tamis_variance_hansen_hurwitz(NULL, fine, half, 2, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_R),
        cmocka_unit_test(means_over_all_samples),
        cmocka_unit_test(equal_probabilities),
        cmocka_unit_test(certainty),
        cmocka_unit_test(domains),
        cmocka_unit_test(sums_keep_digits),
        cmocka_unit_test(invalid_points),
        cmocka_unit_test(invalid_variances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
