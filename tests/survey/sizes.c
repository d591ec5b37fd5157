/* Designs of sizes: the same as by way of the probabilities, with units that are certain, ties, and numbers of any length. */
#include "tests/test.h"

#include "survey/design/pps.h"
#include "tests/base/memory_that_fails.h"
#include "tests/survey/frames.h"

static void agrees(const char *text, const char *method, int64_t sample)
{
    frame f;
    tamis_design *direct = NULL, *listed = NULL;
    read_frame(&f, text);
    const tamis_number *const *sizes = (const tamis_number *const *)f.pi;
    tamis_number *pi[16];
    const tamis_number *const *list = (const tamis_number *const *)pi;
    const bool poisson = strcmp(method, "poisson") == 0;
    assert_true(f.count <= 16);
    assert_int_equal(tamis_pps_probabilities(pi, sizes, f.count, sample, NULL), TAMIS_OK);
    assert_int_equal(poisson ? tamis_design_poisson(&listed, list, f.count, NULL)
                             : tamis_design_pps(&listed, method_named(method), list, f.count, NULL),
                     TAMIS_OK);
    assert_int_equal(tamis_design_pps_sizes(&direct, method_named(method), sizes, f.count, sample, NULL), TAMIS_OK);
    assert_string_equal(tamis_design_name(direct), method);
    assert_int_equal(tamis_design_sample(direct), poisson ? -1 : sample);
    const tmi_pps *x = tmi_pps_of(direct), *y = tmi_pps_of(listed);
    assert_int_equal(x->certain_count, y->certain_count);
    for (size_t i = 0; i < f.count; i++) {
        tamis_number *p;
        assert_int_equal(tmi_number_wide(&p, tmi_common_at(&x->pi, i), x->pi.denominator, x->pi.words, NULL), TAMIS_OK);
        if (tmi_number_compare(p, pi[i]) != 0) fail_msg("%s, %lld units: unit %zu", text, (long long)sample, i);
        tamis_number_free(p);
        tamis_number_free(pi[i]);
    }
    tamis_design_free(direct);
    tamis_design_free(listed);
    free_frame(&f);
}

static void same_probabilities(void **state)
{
    static const char *const frames[] = {
        "1 2 3 4 5",
        "1000 1 1 1 500 1 1 250 1", /* one after the other becomes certain */
        "7 7 7 7",
        "1/3 1/7 1e40 2e40 0.001 5",
        "1e-60 3e-60 2e-60 1e-60",
        "18446744073709551616 1 18446744073709551615 3 18446744073709551614",
    };
    static const char *const methods[] = {"poisson", "systematic", "pivotal", "sampford"};
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++)
            for (int64_t sample = 1; sample <= 4; sample++) agrees(frames[i], methods[m], sample);
}

static void refused(const char *begins, const char *text, tamis_method method, size_t count, int64_t sample)
{
    frame f = {0};
    tamis_design *design = (tamis_design *)&f;
    tamis_error err = {0};
    if (text) read_frame(&f, text);
    assert_int_equal(tamis_design_pps_sizes(&design, method, text ? (const tamis_number *const *)f.pi : NULL, count, sample,
                                            &err),
                     TAMIS_INVALID);
    assert_null(design);
    if (strncmp(err.message, begins, strlen(begins)) != 0) fail_msg("%s expected: %s", begins, err.message);
    if (text) free_frame(&f);
}

static void wrong_calls(void **state)
{
    frame f;
    (void)state;
    refused("sizes: number 1 is 0", "1 0 1", TAMIS_METHOD_PIVOTAL, 3, 1);
    refused("sizes: number 1 is NULL or negative", "1 -1 1", TAMIS_METHOD_PIVOTAL, 3, 1);
    refused("sizes: NULL", NULL, TAMIS_METHOD_PIVOTAL, 3, 1);
    refused("sizes: at least", "1 1", TAMIS_METHOD_PIVOTAL, 0, 1);
    refused("sizes: at most", "1 1", TAMIS_METHOD_PIVOTAL, SIZE_MAX, 1);
    refused("sample: at least", "1 1", TAMIS_METHOD_POISSON, 2, 0);
    refused("sample: larger", "1 1", TAMIS_METHOD_POISSON, 2, 3);
    refused("method: must be", "1 1", TAMIS_METHOD_SRS, 2, 1);
    refused("method: must be", "1 1", TAMIS_METHOD_NONE, 2, 1);
    read_frame(&f, "3 1 2");
    const tamis_number *const *sizes = (const tamis_number *const *)f.pi;
    assert_int_equal(tamis_design_pps_sizes(NULL, TAMIS_METHOD_POISSON, sizes, 3, 1, NULL), TAMIS_INVALID);
    tamis_design *design;
    EVERY_ALLOCATION_FAILS(tamis_design_pps_sizes(&design, TAMIS_METHOD_SAMPFORD, sizes, 3, 2, NULL), assert_null(design));
    tamis_design_free(design);
    free_frame(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_probabilities), cmocka_unit_test(wrong_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
