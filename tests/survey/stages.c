/* Strata, clusters and stages: against R (tests/survey/stages.json says where its numbers come from), and over all
 * samples of small frames.                                                                                           */
#include "tests/test.h"

#include <jansson.h>
#include <math.h>

#include "survey/estimator.h"
#include "tests/base/memory_that_fails.h"
#include "tests/survey/frames.h"

#define UNITS 256
#define STAGES 2

typedef struct lists {
    int64_t strata[UNITS], clusters[UNITS];
    double populations[UNITS];
} lists;

static const double *reals(double *to, json_t *json, size_t count)
{
    if (!json_is_array(json)) return NULL;
    assert_int_equal(json_array_size(json), count);
    for (size_t i = 0; i < count; i++) to[i] = json_number_value(json_array_get(json, i));
    return to;
}

static const int64_t *labels(int64_t *to, json_t *json, size_t count)
{
    if (!json_is_array(json)) return NULL;
    assert_int_equal(json_array_size(json), count);
    for (size_t i = 0; i < count; i++) to[i] = json_integer_value(json_array_get(json, i));
    return to;
}

static tamis_lonely lonely_of(const char *name)
{
    static const char *const names[] = {"fail", "certainty", "adjust", "average"};
    size_t rule = 0;
    while (name && strcmp(name, names[rule]) != 0) assert_true(++rule < 4);
    return (tamis_lonely)rule;
}

/* One line of R's: the point estimate, its linear values, its variance. */
static void compare(const char *name, json_t *sample, json_t *design, json_t *row, const tamis_stage *stages)
{
    double values[UNITS], bases[UNITS], weights[UNITS], u[UNITS], estimate, se, e = NAN, v = NAN;
    size_t count = json_array_size(json_object_get(sample, "weights"));
    size_t stage_count = json_array_size(json_object_get(design, "stages"));
    const char *statistic, *y, *x;
    uint8_t domain[UNITS];
    int64_t by[UNITS], degrees = -1;
    int of;
    assert_int_equal(json_unpack(row, "[sssiFF]", &statistic, &y, &x, &of, &estimate, &se), 0);
    reals(values, json_object_get(json_object_get(sample, "values"), y), count);
    reals(weights, json_object_get(sample, "weights"), count);
    if (of >= 0) labels(by, json_object_get(sample, "by"), count);
    for (size_t i = 0; i < count; i++) domain[i] = of < 0 || by[i] == of;
    if (strcmp(statistic, "total") == 0) assert_int_equal(tamis_total(&e, u, values, weights, domain, count, NULL), TAMIS_OK);
    else if (strcmp(statistic, "mean") == 0) assert_int_equal(tamis_mean(&e, u, values, weights, domain, count, NULL), TAMIS_OK);
    else {
        reals(bases, json_object_get(json_object_get(sample, "values"), x), count);
        assert_int_equal(tamis_ratio(&e, u, values, bases, weights, domain, count, NULL), TAMIS_OK);
    }
    assert_int_equal(tamis_variance_stages(&v, &degrees, u, weights, count, stages, stage_count,
                                           lonely_of(json_string_value(json_object_get(design, "lonely"))), NULL),
                     TAMIS_OK);
    if (!close_to(e, estimate) || !close_to(sqrt(v), se))
        fail_msg("%s, %s, %s of %s in %d: %.17g (%.17g), R says %.17g (%.17g)", name,
                 json_string_value(json_object_get(design, "name")), statistic, y, of, e, sqrt(v), estimate, se);
    assert_int_equal(degrees, json_integer_value(json_object_get(design, "degrees")));
}

static void agrees_with_R(void **state)
{
    json_t *file = json_load_file(TESTS_FOLDER "/survey/stages.json", 0, NULL), *sample, *design, *row;
    static lists kept[STAGES];
    const char *name;
    size_t compared = 0, d, i;
    (void)state;
    assert_non_null(file);
    json_object_foreach (json_object_get(file, "samples"), name, sample) {
        size_t count = json_array_size(json_object_get(sample, "weights"));
        assert_true(count <= UNITS);
        json_array_foreach (json_object_get(sample, "designs"), d, design) {
            tamis_stage stages[STAGES];
            json_array_foreach (json_object_get(design, "stages"), i, row) {
                assert_true(i < STAGES);
                stages[i].strata = labels(kept[i].strata, json_object_get(row, "strata"), count);
                stages[i].clusters = labels(kept[i].clusters, json_object_get(row, "clusters"), count);
                stages[i].populations = reals(kept[i].populations, json_object_get(row, "populations"), count);
            }
            json_array_foreach (json_object_get(design, "expected"), i, row) {
                compare(name, sample, design, row, stages);
                compared++;
            }
        }
    }
    json_decref(file);
    assert_int_equal(compared, 127);
}

/* Over all samples of a design the mean of the variance is the variance of the total. Unit k is in stratum[k], or
 * cluster[k], which has size[k] units in the frame. */
static void unbiased(tamis_design *design, const int64_t *part, const double *size, bool clusters, double cluster_count)
{
    static const double y[] = {3, -1, 4, 1, 5, 9, 2, 6, 5, 3};
    double truth = 0, squares = 0, mean = 0;
    size_t N = (size_t)tamis_design_population(design);
    tamis_bound pi[10];
    tamis_law *law = NULL;
    assert_true(N <= 10);
    for (size_t k = 0; k < N; k++) truth += y[k];
    assert_int_equal(tamis_inclusion_first(pi, design, NULL, N, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
    for (size_t j = 0; j < tamis_law_count(law); j++) {
        const uint8_t *units;
        int64_t parts[10];
        double u[10], w[10], sizes[10], first[10], t, v, p = tamis_law_probability(law, j).upper;
        size_t n = tamis_law_sample(&units, law, j);
        for (size_t k = 0; k < n; k++) {
            u[k] = y[units[k]];
            w[k] = 1 / pi[units[k]].upper;
            parts[k] = part[units[k]];
            sizes[k] = size[units[k]];
            first[k] = cluster_count;
        }
        tamis_stage strata[] = {{parts, NULL, sizes}}, stages[] = {{NULL, parts, first}, {NULL, NULL, sizes}};
        assert_int_equal(tamis_total(&t, NULL, u, w, NULL, n, NULL), TAMIS_OK);
        assert_int_equal(clusters ? tamis_variance_stages(&v, NULL, u, w, n, stages, 2, TAMIS_LONELY_FAIL, NULL)
                                  : tamis_variance_stages(&v, NULL, u, w, n, strata, 1, TAMIS_LONELY_FAIL, NULL),
                         TAMIS_OK);
        squares += p * (t - truth) * (t - truth);
        mean += p * v;
    }
    assert_true(squares > 1 && close_to(mean, squares));
    tamis_law_free(law);
    tamis_design_free(design);
}

static void means_over_all_samples(void **state)
{
    static const int64_t half[] = {5, 5, 5, 5, -2, -2, -2}, third[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
    static const double of_half[] = {4, 4, 4, 4, 3, 3, 3}, of_third[] = {3, 3, 3, 4, 4, 4, 4, 3, 3, 3};
    (void)state;
    unbiased(strata(srs(4, 2), srs(3, 2)), half, of_half, false, 0);
    unbiased(strata(srs(4, 3), census(3)), half, of_half, false, 0);
    unbiased(stages(srs(3, 2), srs(3, 2), srs(4, 3), srs(3, 3)), third, of_third, true, 3);
    unbiased(stages(srs(3, 3), srs(3, 2), srs(4, 2), srs(3, 2)), third, of_third, true, 3);
    unbiased(stages(srs(3, 2), census(3), census(4), census(3)), third, of_third, true, 3);
}

/* Units by themselves inside clusters, some of which stay empty: over all samples the mean of the variance is the variance of the
 * total, where the number of drawn clusters is declared. */
static void means_over_all_samples_by_themselves(void **state)
{
    (void)state;
    static const int64_t of[] = {0, 0, 0, 1, 1, 2, 2, 2}, stratum[] = {7, 7, 7, 7, 7, 7, 7, 7};
    static const double y[] = {3, -1, 4, 1, 5, 9, 2, 6};
    for (int drawn = 2; drawn <= 3; drawn++) {
        tamis_design *design = stages(srs(3, drawn), bernoulli(3, "1/3"), bernoulli(2, "1/3"), bernoulli(3, "1/3"));
        tamis_law *law = NULL;
        double squares = 0, mean = 0;
        size_t empty = 0;
        assert_int_equal(tamis_law_new(&law, design, NULL), TAMIS_OK);
        for (size_t j = 0; j < tamis_law_count(law); j++) {
            const uint8_t *units;
            int64_t parts[8], strata[8];
            double u[8], w[8], first[8], declared[8], total = 0, v = 0;
            const double p = tamis_law_probability(law, j).upper;
            const size_t n = tamis_law_sample(&units, law, j);
            bool seen[3] = {false};
            for (size_t k = 0; k < n; k++) {
                u[k] = y[units[k]];
                w[k] = 3. / drawn * 3;
                parts[k] = of[units[k]];
                strata[k] = stratum[units[k]];
                first[k] = 3;
                declared[k] = drawn;
                seen[parts[k]] = true;
                total += w[k] * u[k];
            }
            empty += seen[0] + seen[1] + seen[2] < drawn;
            const tamis_stage stages[] = {{strata, parts, first}, {NULL, NULL, NULL}};
            const tmi_stage_facts facts = {.drawn = declared, .rate = 1. / 3};
            int64_t df;
            if (n > 0)
                assert_int_equal(tmi_variance_stages(&v, &df, u, w, n, stages, 2, &facts, TAMIS_LONELY_FAIL, NULL), TAMIS_OK);
            if (n > 0) assert_int_equal(df, drawn - 1);
            squares += p * (total - 29) * (total - 29);
            mean += p * v;
        }
        assert_true(empty > 3 && squares > 1 && close_to(mean, squares));
        tamis_law_free(law);
        tamis_design_free(design);
    }
}

/* Brewer's approximation, number by number: (1 - pi_i) n/(n-1) (z_i - mean)^2 and pi_i times the variance inside; a cluster
 * that is certain adds what is inside alone. */
static void unequal_first_stage(void **state)
{
    (void)state;
    static const int64_t clusters[] = {1, 1, 2, 2, 3, 3};
    static const double pi[] = {0.5, 0.5, 0.25, 0.25, 1, 1}, sizes[] = {4, 4, 2, 2, 6, 6}, y[] = {3, 1, 4, 1, 5, 9};
    double w[6], z[3] = {0}, inside[3] = {0}, mean = 0, expected = 0, v, all;
    int64_t df;
    for (size_t k = 0; k < 6; k++) {
        w[k] = sizes[k] / 2 / pi[k];
        z[k / 2] += w[k] * y[k];
        mean += w[k] * y[k] / 3;
    }
    for (size_t c = 0; c < 3; c++) {
        const double d = w[2 * c] * y[2 * c] - w[2 * c + 1] * y[2 * c + 1];
        inside[c] = (1 - 2 / sizes[2 * c]) * d * d; /* n/(n-1) times half the square of the difference, of two units */
        expected += (1 - pi[2 * c]) * 3 / 2 * (z[c] - mean) * (z[c] - mean) + pi[2 * c] * inside[c];
    }
    const tamis_stage stages[] = {{NULL, clusters, NULL}, {NULL, NULL, sizes}};
    assert_int_equal(tmi_variance_stages(&v, &df, y, w, 6, stages, 2, &(tmi_stage_facts){.probabilities = pi}, TAMIS_LONELY_FAIL,
                                         NULL),
                     TAMIS_OK);
    assert_true(close_to(v, expected) && df == 2);
    assert_int_equal(tmi_variance_stages(&v, &df, y, w, 6, stages, 1, &(tmi_stage_facts){.probabilities = pi}, TAMIS_LONELY_FAIL,
                                         NULL),
                     TAMIS_OK);
    assert_true(close_to(v, expected - pi[0] * inside[0] - pi[2] * inside[1] - inside[2]));
    /* equal probabilities are those of a simple random sample */
    static const double third[] = {0.25, 0.25, 0.25, 0.25, 0.25, 0.25}, of_twelve[] = {12, 12, 12, 12, 12, 12};
    const tamis_stage simple[] = {{NULL, clusters, of_twelve}, {NULL, NULL, sizes}};
    assert_int_equal(tmi_variance_stages(&v, NULL, y, w, 6, stages, 2, &(tmi_stage_facts){.probabilities = third},
                                         TAMIS_LONELY_FAIL, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_variance_stages(&all, NULL, y, w, 6, simple, 2, TAMIS_LONELY_FAIL, NULL), TAMIS_OK);
    assert_true(close_to(v, all));
    static const double none[] = {0.5, 0.5, 0, 0, 1, 1}, two[] = {0.5, 0.4, 0.25, 0.25, 1, 1};
    assert_int_equal(tmi_variance_stages(&v, NULL, y, w, 6, stages, 2, &(tmi_stage_facts){.probabilities = none},
                                         TAMIS_LONELY_FAIL, NULL),
                     TAMIS_INVALID);
    assert_int_equal(tmi_variance_stages(&v, NULL, y, w, 6, stages, 2, &(tmi_stage_facts){.probabilities = two},
                                         TAMIS_LONELY_FAIL, NULL),
                     TAMIS_INVALID);
}

/* The order of the units changes nothing but rounding, and a stratum may use the labels of another. */
static void any_order(void **state)
{
    static const double u[] = {3, 1, 4, 1, 5, 9}, w[] = {2, 2, 2, 3, 3, 3}, back[] = {9, 5, 1, 4, 1, 3};
    static const double wback[] = {3, 3, 3, 2, 2, 2};
    static const int64_t strata[] = {1, 1, 1, 2, 2, 2}, clusters[] = {1, 2, 2, 1, 2, 3};
    static const int64_t strata_back[] = {2, 2, 2, 1, 1, 1}, clusters_back[] = {3, 2, 1, 2, 2, 1};
    tamis_stage there = {strata, clusters, NULL}, again = {strata_back, clusters_back, NULL};
    int64_t degrees;
    double v, b;
    (void)state;
    assert_int_equal(tamis_variance_stages(&v, &degrees, u, w, 6, &there, 1, TAMIS_LONELY_FAIL, NULL), TAMIS_OK);
    assert_int_equal(degrees, 3);
    /* totals 6, 10 and 3, 15, 27: 2/1 * 8 + 3/2 * 288 */
    assert_true(close_to(v, 448));
    assert_int_equal(tamis_variance_stages(&b, NULL, back, wback, 6, &again, 1, TAMIS_LONELY_FAIL, NULL), TAMIS_OK);
    assert_true(close_to(b, v));
}

#define INVALID(parameter, call) \
    do { \
        tamis_error err = {0}; \
        v = 7; \
        degrees = 7; \
        assert_int_equal(call, TAMIS_INVALID); \
        if (strncmp(err.message, parameter ":", strlen(parameter) + 1) != 0) fail_msg("%s: %s", parameter, err.message); \
        assert_true(isinf(v) && degrees == 0); \
    } while (0)

static void invalid(void **state)
{
    static const double fine[] = {1, 2, 3}, bad[] = {NAN, INFINITY, -INFINITY}, huge[] = {1e300, -1e300, 1};
    static const double wrong[] = {NAN, 0, -1, -INFINITY, 2}; /* 2: below three clusters */
    static const int64_t lonely[] = {1, 1, 2};
    tamis_stage stage = {0}, nine[TAMIS_MAX_STAGES + 1] = {0};
    int64_t degrees;
    double v;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        double list[] = {1, bad[i], 1};
        INVALID("linear", tamis_variance_stages(&v, &degrees, list, fine, 3, &stage, 1, TAMIS_LONELY_FAIL, &err));
        INVALID("weights", tamis_variance_stages(&v, &degrees, fine, list, 3, &stage, 1, TAMIS_LONELY_FAIL, &err));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double list[] = {wrong[i], wrong[i], wrong[i]};
        INVALID("populations",
                tamis_variance_stages(&v, &degrees, fine, fine, 3, &(tamis_stage){NULL, NULL, list}, 1, TAMIS_LONELY_FAIL, &err));
    }
    INVALID("populations", tamis_variance_stages(&v, &degrees, fine, fine, 3, &(tamis_stage){NULL, NULL, (double[]){9, 9, 8}}, 1,
                                                 TAMIS_LONELY_FAIL, &err));
    INVALID("clusters",
            tamis_variance_stages(&v, &degrees, fine, fine, 3, &(tamis_stage){lonely, NULL, NULL}, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("clusters", tamis_variance_stages(&v, &degrees, fine, fine, 1, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("clusters", tamis_variance_stages(&v, &degrees, fine, fine, 1, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("clusters", tamis_variance_stages(&v, &degrees, fine, fine, 1, &stage, 1, TAMIS_LONELY_AVERAGE, &err));
    INVALID("lonely", tamis_variance_stages(&v, &degrees, fine, fine, 3, &stage, 1, (tamis_lonely)4, &err));
    INVALID("linear", tamis_variance_stages(&v, &degrees, NULL, fine, 3, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("linear", tamis_variance_stages(&v, &degrees, huge, fine, 3, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("weights", tamis_variance_stages(&v, &degrees, fine, NULL, 3, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("count", tamis_variance_stages(&v, &degrees, fine, fine, 0, &stage, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("stages", tamis_variance_stages(&v, &degrees, fine, fine, 3, NULL, 1, TAMIS_LONELY_FAIL, &err));
    INVALID("stage_count", tamis_variance_stages(&v, &degrees, fine, fine, 3, &stage, 0, TAMIS_LONELY_FAIL, &err));
    INVALID("stage_count",
            tamis_variance_stages(&v, &degrees, fine, fine, 3, nine, TAMIS_MAX_STAGES + 1, TAMIS_LONELY_FAIL, &err));
    assert_int_equal(tamis_variance_stages(NULL, NULL, fine, fine, 3, &stage, 1, TAMIS_LONELY_FAIL, NULL), TAMIS_INVALID);
    /* A stratum that has no other cluster does not vary. */
    assert_int_equal(tamis_variance_stages(&v, NULL, fine, fine, 3, &(tamis_stage){lonely, NULL, (double[]){2, 2, 1}}, 1,
                                           TAMIS_LONELY_FAIL, NULL),
                     TAMIS_OK);
    assert_true(v == 0);
}

static void memory(void **state)
{
    static const double fine[] = {1, 2, 3};
    tamis_stage stage = {0};
    tamis_error err = {0};
    double v = 0;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_variance_stages(&v, NULL, fine, fine, 3, &stage, 1, TAMIS_LONELY_FAIL, &err),
                           assert_true(isinf(v)));
    assert_true(isfinite(v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_R),
        cmocka_unit_test(means_over_all_samples),
        cmocka_unit_test(means_over_all_samples_by_themselves),
        cmocka_unit_test(unequal_first_stage),
        cmocka_unit_test(any_order),
        cmocka_unit_test(invalid),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
