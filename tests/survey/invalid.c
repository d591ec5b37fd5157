/* What a caller may get wrong, and memory that is missing. */
#include "tests/test.h"

#include <math.h>

#include "tests/base/memory_that_fails.h"
#include "tests/rng/scripted_bits.h"
#include "tests/survey/frames.h"

static char message[TAMIS_ERROR_SIZE];

/* The call must fail as INVALID, with a message that begins with the parameter. */
#define INVALID(parameter, output, call) \
    do { \
        tamis_error err = {0}; \
        assert_int_equal(call, TAMIS_INVALID); \
        snprintf(message, sizeof message, "%s:", parameter); \
        if (strncmp(err.message, message, strlen(message)) != 0) fail_msg("%s expected: %s", message, err.message); \
        assert_null(output); \
    } while (0)

static tamis_design *const rubbish = (tamis_design *)&message;

static void sizes(void **state)
{
    static const int64_t bad[] = {0, -1, INT64_MIN, TAMIS_MAX_UNITS + 1, INT64_MAX};
    tamis_design *d;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        d = rubbish;
        INVALID("population", d, tamis_design_srs(&d, bad[i], 1, &err));
        INVALID("population", d, tamis_design_systematic(&d, bad[i], 1, 0, &err));
        INVALID("population", d, tamis_design_systematic(&d, bad[i], 1, 1, &err));
        INVALID("population", d, tamis_design_srs_with_replacement(&d, bad[i], 1, &err));
        INVALID("population", d, tamis_design_census(&d, bad[i], &err));
        INVALID("sample", d, tamis_design_srs(&d, 5, bad[i], &err));
        INVALID("sample", d, tamis_design_systematic(&d, 5, bad[i], 0, &err));
        INVALID("draws", d, tamis_design_srs_with_replacement(&d, 5, bad[i], &err));
        INVALID("population", d, tamis_design_clusters(&d, bad[i], 1, 2, 2, &err));
        INVALID("sample", d, tamis_design_clusters(&d, 5, bad[i], 2, 3, &err));
        if (bad[i] < 1) INVALID("smallest", d, tamis_design_clusters(&d, 5, 2, bad[i], 3, &err));
        if (bad[i] < 1) INVALID("largest", d, tamis_design_clusters(&d, 5, 2, 1, bad[i], &err));
    }
    d = rubbish;
    INVALID("sample", d, tamis_design_srs(&d, 5, 6, &err));
    INVALID("sample", d, tamis_design_systematic(&d, 5, 6, 0, &err));
    assert_int_equal(tamis_design_srs(NULL, 5, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_systematic(NULL, 5, 1, 0, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_census(NULL, 5, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_srs_with_replacement(NULL, 5, 1, NULL), TAMIS_INVALID);
}

static void probabilities(void **state)
{
    static const char *const bad[] = {"0", "-1/2", "3/2", "1e1000"};
    tamis_number *half, *x;
    tamis_design *d = rubbish;
    (void)state;
    assert_int_equal(tamis_number_read(&half, "1/2", NULL), TAMIS_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(tamis_number_read(&x, bad[i], NULL), TAMIS_OK);
        const tamis_number *list[] = {half, x};
        for (size_t m = 0; m < METHODS; m++)
            INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), list, 2, &err));
        INVALID("probabilities", d, tamis_design_poisson(&d, list, 2, &err));
        INVALID("rate", d, tamis_design_bernoulli(&d, 5, x, &err));
        tamis_number_free(x);
    }
    const tamis_number *odd[] = {half, half, half}, *missing[] = {half, NULL};
    for (size_t m = 0; m < METHODS; m++) {
        INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), odd, 3, &err)); /* their sum is 3/2 */
        INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), missing, 2, &err));
        INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), NULL, 2, &err));
        INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), odd, 0, &err));
        INVALID("probabilities", d, tamis_design_pps(&d, method_named(methods[m]), odd, TAMIS_MAX_LISTED + 1, &err));
    }
    INVALID("method", d, tamis_design_pps(&d, TAMIS_METHOD_BERNOULLI, odd, 2, &err));
    tamis_method method = TAMIS_METHOD_SRS;
    assert_int_equal(tamis_method_of_name(&method, "midzuno", NULL), TAMIS_REFUSED);
    assert_int_equal(method, TAMIS_METHOD_NONE);
    assert_int_equal(tamis_method_of_name(&method, "cube", NULL), TAMIS_INVALID);
    assert_int_equal(tamis_method_of_name(&method, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_method_of_name(NULL, "srs", NULL), TAMIS_INVALID);
    assert_null(tamis_method_name(TAMIS_METHOD_NONE));
    assert_null(tamis_method_name(TAMIS_METHOD_TILLE + 1));
    INVALID("method", d, tamis_design_pps(&d, (tamis_method)99, odd, 2, &err));
    INVALID("rate", d, tamis_design_bernoulli(&d, 5, NULL, &err));
    INVALID("population", d, tamis_design_bernoulli(&d, 0, half, &err));
    assert_int_equal(tamis_design_pps(NULL, TAMIS_METHOD_TILLE, odd, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_poisson(NULL, odd, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_bernoulli(NULL, 5, half, NULL), TAMIS_INVALID);
    tamis_number_free(half);
}

static void sizes_to_probabilities(void **state)
{
    tamis_number *one, *zero, *minus, *pi[3] = {0};
    (void)state;
    assert_int_equal(tamis_number_read(&one, "1", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&zero, "0", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&minus, "-1", NULL), TAMIS_OK);
    const tamis_number *good[] = {one, zero, one}, *bad[] = {one, minus, one}, *missing[] = {one, NULL, one};
    INVALID("sample", pi[0], tamis_pps_probabilities(pi, good, 3, 0, &err));
    INVALID("sample", pi[0], tamis_pps_probabilities(pi, good, 3, -5, &err));
    INVALID("sample", pi[0], tamis_pps_probabilities(pi, good, 3, 3, &err)); /* only two units have a size */
    INVALID("sizes", pi[0], tamis_pps_probabilities(pi, bad, 3, 1, &err));
    INVALID("sizes", pi[0], tamis_pps_probabilities(pi, missing, 3, 1, &err));
    INVALID("sizes", pi[0], tamis_pps_probabilities(pi, NULL, 3, 1, &err));
    INVALID("sizes", pi[0], tamis_pps_probabilities(pi, good, 0, 1, &err));
    INVALID("sizes", pi[0], tamis_pps_probabilities(pi, good, SIZE_MAX, 1, &err));
    assert_int_equal(tamis_pps_probabilities(NULL, good, 3, 1, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_pps_probabilities(pi, good, 3, 2, NULL), {
        assert_null(pi[0]);
        assert_null(pi[2]);
    });
    assert_int_equal(tmi_number_compare_int(pi[0], 1), 0);
    assert_int_equal(tmi_number_compare_int(pi[1], 0), 0);
    for (size_t i = 0; i < 3; i++) tamis_number_free(pi[i]);
    tamis_number_free(one);
    tamis_number_free(zero);
    tamis_number_free(minus);
}

static void parts(void **state)
{
    tamis_design *d = rubbish, *x = srs(4, 2), *y = srs(3, 1), *twice = with_replacement(2, 2);
    (void)state;
    INVALID("strata", d, tamis_design_take_strata(&d, NULL, 2, &err));
    INVALID("strata", d, tamis_design_take_strata(&d, (tamis_design *[]){x}, 0, &err));       /* no stratum */
    INVALID("strata", d, tamis_design_take_strata(&d, (tamis_design *[]){x, NULL}, 2, &err)); /* an empty one */
    INVALID("strata", d, tamis_design_take_strata(&d, (tamis_design *[]){x, x}, 2, &err));
    INVALID("first", d, tamis_design_take_stages(&d, NULL, (tamis_design *[]){x, y}, 2, &err));
    INVALID("first", d, tamis_design_take_stages(&d, twice, (tamis_design *[]){x, y}, 2, &err));
    INVALID("second", d, tamis_design_take_stages(&d, y, (tamis_design *[]){x, y}, 2, &err));
    INVALID("second", d, tamis_design_take_stages(&d, y, (tamis_design *[]){x, twice, y}, 3, &err));
    INVALID("second", d, tamis_design_take_stages(&d, y, NULL, 3, &err));
    assert_int_equal(tamis_design_take_strata(NULL, (tamis_design *[]){x}, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_clusters(NULL, 5, 2, 1, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_take_stages(NULL, x, (tamis_design *[]){y}, 1, NULL), TAMIS_INVALID);
    tamis_design *large[3];
    for (size_t i = 0; i < 3; i++) large[i] = srs(TAMIS_MAX_UNITS / 2, 1);
    INVALID("strata", d, tamis_design_take_strata(&d, large, 3, &err));
    for (size_t i = 0; i < 3; i++) tamis_design_free(large[i]);
    tamis_design_free(x);
    tamis_design_free(y);
    tamis_design_free(twice);
    tamis_design_free(NULL);
}

static void is_unknown(const tamis_bound *p, size_t count)
{
    for (size_t i = 0; i < count; i++) assert_true(p[i].lower == 0 && p[i].upper == 1);
}

static void questions(void **state)
{
    tamis_bound p[9];
    tamis_design *d = srs(3, 2), *large = pps("brewer", "0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5 "
                                                        "0.5 0.5 0.5 0.5 0.5 0.5 0.5");
    static const int64_t outside[] = {0, 3}, below[] = {-1, 0}, same[] = {1, 1};
    (void)state;
    assert_int_equal(tamis_inclusion_first(NULL, d, NULL, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_first(p, NULL, NULL, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_first(p, d, outside, 2, NULL), TAMIS_INVALID);
    is_unknown(p, 3);
    assert_int_equal(tamis_inclusion_first(p, d, below, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_first(p, d, NULL, 4, NULL), TAMIS_INVALID);
    is_unknown(p, 4);
    assert_int_equal(tamis_inclusion_joint(NULL, d, NULL, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_joint(p, NULL, NULL, 3, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_joint(p, d, outside, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_joint(p, d, same, 2, NULL), TAMIS_INVALID);
    is_unknown(p, 4);
    assert_int_equal(tamis_inclusion_joint(p, d, NULL, TAMIS_MAX_JOINT + 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_inclusion_joint(p, large, NULL, 3, NULL), TAMIS_UNABLE);
    is_unknown(p, 9);
    tamis_law *law = (tamis_law *)&message;
    INVALID("design", law, tamis_law_new(&law, large, &err));
    assert_int_equal(tamis_law_new(&law, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_law_new(NULL, d, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_law_new(&law, d, NULL), TAMIS_OK);
    assert_int_equal(tamis_law_inclusion(p, law, outside, 2, NULL), TAMIS_INVALID);
    is_unknown(p, 1);
    assert_int_equal(tamis_law_inclusion(p, NULL, outside, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_law_inclusion(p, law, NULL, 2, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_law_inclusion(NULL, law, outside, 1, NULL), TAMIS_INVALID);
    tamis_law_free(law);
    tamis_sampler *sampler;
    tamis_drawn drawn;
    tamis_exposure *list;
    size_t count;
    assert_int_equal(tamis_sampler_new(&sampler, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sampler_new(NULL, d, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sampler_new(&sampler, d, NULL, NULL), TAMIS_OK);
    assert_int_equal(tamis_sampler_draw(&drawn, sampler, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sampler_draw(&drawn, NULL, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_sampler_draw(NULL, sampler, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_exposures(&list, &count, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_exposures(NULL, &count, d, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_design_exposures(&list, NULL, d, NULL), TAMIS_INVALID);
    tamis_sampler_free(sampler);
    tamis_sampler_free(NULL);
    tamis_drawn_clear(NULL);
    tamis_law_free(NULL);
    tamis_design_free(d);
    tamis_design_free(large);
}

static void given_laws(void **state)
{
    static const int64_t units[] = {0, 1, 1, 2}, twice[] = {0, 1, 1, 0}, repeated[] = {0, 0, 1, 2}, outside[] = {0, 3, 1, 2};
    static const size_t sizes_of[] = {2, 2}, long_one[] = {4, 0};
    tamis_number *half, *third, *minus;
    tamis_law *law = (tamis_law *)&message;
    (void)state;
    assert_int_equal(tamis_number_read(&half, "1/2", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&third, "1/3", NULL), TAMIS_OK);
    assert_int_equal(tamis_number_read(&minus, "-1/2", NULL), TAMIS_OK);
    const tamis_number *good[] = {half, half}, *short_of_1[] = {half, third}, *negative[] = {half, minus}, *none[] = {half, NULL};
    INVALID("population", law, tamis_law_given(&law, 0, units, sizes_of, good, 2, &err));
    INVALID("population", law, tamis_law_given(&law, 21, units, sizes_of, good, 2, &err));
    INVALID("count", law, tamis_law_given(&law, 3, units, sizes_of, good, 0, &err));
    INVALID("units", law, tamis_law_given(&law, 3, NULL, sizes_of, good, 2, &err));
    INVALID("sizes", law, tamis_law_given(&law, 3, units, NULL, good, 2, &err));
    INVALID("probabilities", law, tamis_law_given(&law, 3, units, sizes_of, NULL, 2, &err));
    INVALID("probabilities", law, tamis_law_given(&law, 3, units, sizes_of, short_of_1, 2, &err));
    INVALID("probabilities", law, tamis_law_given(&law, 3, units, sizes_of, negative, 2, &err));
    INVALID("probabilities", law, tamis_law_given(&law, 3, units, sizes_of, none, 2, &err));
    INVALID("samples", law, tamis_law_given(&law, 3, twice, sizes_of, good, 2, &err));
    INVALID("samples", law, tamis_law_given(&law, 3, repeated, sizes_of, good, 2, &err));
    INVALID("samples", law, tamis_law_given(&law, 3, outside, sizes_of, good, 2, &err));
    INVALID("samples", law, tamis_law_given(&law, 3, units, long_one, good, 2, &err));
    assert_int_equal(tamis_law_given(NULL, 3, units, sizes_of, good, 2, NULL), TAMIS_INVALID);
    EVERY_ALLOCATION_FAILS(tamis_law_given(&law, 3, units, sizes_of, good, 2, NULL), assert_null(law));
    assert_int_equal(tamis_law_count(law), 2);
    assert_int_equal(tamis_law_population(law), 3);
    tamis_law_free(law);
    tamis_number_free(half);
    tamis_number_free(third);
    tamis_number_free(minus);
}

/* ---- missing memory ---- */

static tamis_rng *rng;

static void without_memory(const tamis_design *design, const char *name)
{
    size_t N = (size_t)tamis_design_population(design), count;
    tamis_bound pij[64];
    tamis_law *law;
    tamis_sampler *sampler;
    tamis_drawn drawn;
    tamis_exposure *list;
    if (strstr(name, strchr(name, ':') ? "" : " of ") && N > 3) return; /* a run for each allocation: small frames */
    EVERY_ALLOCATION_FAILS(tamis_inclusion_joint(pij, design, NULL, N, NULL), is_unknown(pij, N * N));
    /* What is not rational is solved for in steps that are alike in their allocations. */
    bool irrational = strstr(name, "irrational");
    ALLOCATIONS_FAIL(irrational && k_ > 150 ? k_ + k_ / 20 : k_ + 1, tamis_law_new(&law, design, NULL), assert_null(law));
    EVERY_ALLOCATION_FAILS(tamis_sampler_new(&sampler, design, NULL, NULL), assert_null(sampler));
    EVERY_ALLOCATION_FAILS(tamis_sampler_draw(&drawn, sampler, rng, NULL, NULL), assert_null(drawn.units));
    EVERY_ALLOCATION_FAILS(tamis_design_exposures(&list, &count, design, NULL), assert_null(list));
    tamis_free(list);
    tamis_drawn_clear(&drawn);
    tamis_sampler_free(sampler);
    tamis_law_free(law);
}

static void survives_missing_memory(void **state)
{
    frame f;
    tamis_design *d;
    (void)state;
    each_design(without_memory);
    read_frame(&f, "1 0.25 0.75");
    const tamis_number *const *pi = (const tamis_number *const *)f.pi;
    EVERY_ALLOCATION_FAILS(tamis_design_pps(&d, TAMIS_METHOD_TILLE, pi, f.count, NULL), assert_null(d));
    tamis_design_free(d);
    EVERY_ALLOCATION_FAILS(tamis_design_poisson(&d, pi, f.count, NULL), assert_null(d));
    tamis_design_free(d);
    EVERY_ALLOCATION_FAILS(tamis_design_bernoulli(&d, 3, pi[1], NULL), assert_null(d));
    tamis_design_free(d);
    EVERY_ALLOCATION_FAILS(tamis_design_srs(&d, 3, 1, NULL), assert_null(d));
    tamis_design_free(d);
    tamis_design *own[] = {srs(2, 1), srs(3, 1)};
    EVERY_ALLOCATION_FAILS(tamis_design_take_strata(&d, own, 2, NULL), assert_null(d));
    tamis_design_free(d);
    free_frame(&f);
}

/* A generator without bits: no sample. */
static void no_bits(const tamis_design *design, const char *name)
{
    tamis_sampler *sampler;
    tamis_drawn drawn = {0};
    assert_int_equal(tamis_sampler_new(&sampler, design, NULL, NULL), TAMIS_OK);
    bits_from_bytes("", 0);
    tamis_status status = tamis_sampler_draw(&drawn, sampler, rng, NULL, NULL);
    if (status == TAMIS_OK && tamis_design_sample(design) != tamis_design_population(design) && strncmp(name, "census", 6) != 0 &&
        !strstr(name, ": 1") && !strstr(name, "of 1") && !strstr(name, " 1"))
        fail_msg("%s: drawn without random bits", name);
    if (status != TAMIS_OK) assert_null(drawn.units);
    tamis_drawn_clear(&drawn);
    tamis_sampler_free(sampler);
}

static void needs_bits(void **state)
{
    (void)state;
    each_design(no_bits);
    bits_from_seed(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(probabilities),
        cmocka_unit_test(sizes_to_probabilities),
        cmocka_unit_test(parts),
        cmocka_unit_test(questions),
        cmocka_unit_test(given_laws),
        cmocka_unit_test(survives_missing_memory),
        cmocka_unit_test(needs_bits),
    };
    if (tamis_rng_new(&rng, NULL) != TAMIS_OK) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tamis_rng_free(rng);
    return failed;
}
