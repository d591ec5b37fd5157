/* Which parts of a design fit together. */
#include "tests/test.h"

#include <string.h>
#include <tamis/experimental/draw.h>

static void parts_fit_or_are_named(void **state)
{
    tamis_number *half = NULL;
    assert_int_equal(tamis_number_read(&half, "1/2", NULL), TAMIS_OK);
    const struct {
        tamis_frame_design design;
        const char *message; /* how it begins; NULL: it fits */
    } cases[] = {
        {{.method = TAMIS_METHOD_SRS, .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_SRS, .allocation = "n", .strata = "h"}, NULL},
        {{.method = TAMIS_METHOD_BERNOULLI, .rate = half}, NULL},
        {{.method = TAMIS_METHOD_POISSON, .probability = "p"}, NULL},
        {{.method = TAMIS_METHOD_SAMPFORD, .size = "x", .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_SYSTEMATIC, .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_SYSTEMATIC, .size = "x", .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_BREWER, .size = "x", .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_TILLE, .probability = "p"}, NULL},
        {{.method = TAMIS_METHOD_SRS_WITH_REPLACEMENT, .sample = 3}, NULL},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .cluster = "c"}, NULL},
        {{.method = TAMIS_METHOD_SAMPFORD, .size = "x", .sample = 3, .cluster = "c", .within = 2}, NULL},
        {{.method = TAMIS_METHOD_BERNOULLI, .rate = half, .cluster = "c", .within_column = "m"}, NULL},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .within = 2}, "within: needs clusters, and none are named"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .within_column = "m"}, "within: needs clusters, and none are named"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .cluster = "c", .within = -1}, "within: must be"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .cluster = "c", .within = 1, .within_column = "m"}, "within: must be either"},
        {{.method = TAMIS_METHOD_SRS_WITH_REPLACEMENT, .sample = 3, .cluster = "c"},
         "cluster: cannot be used with srs_with_replacement"},
        {{.method = TAMIS_METHOD_SRS_WITH_REPLACEMENT, .sample = 3, .size = "x"}, "size: srs_with_replacement draws"},
        {{.sample = 3}, "method: none"},
        {{.method = (tamis_method)99, .sample = 3}, "method: none"},
        {{.method = TAMIS_METHOD_SRS}, "sample: must be the number"},
        {{.method = TAMIS_METHOD_SRS, .sample = -1}, "sample: must be"},
        {{.method = TAMIS_METHOD_SRS, .sample = INT64_MAX}, "sample: must be"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .rate = half}, "rate: only"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .size = "x"}, "size: srs draws"},
        {{.method = TAMIS_METHOD_SRS, .sample = 3, .allocation = "n", .strata = "h"}, "allocation: must be either"},
        {{.method = TAMIS_METHOD_SRS, .allocation = "n"}, "allocation: needs strata, and none are named"},
        {{.method = TAMIS_METHOD_BERNOULLI}, "rate: bernoulli needs"},
        {{.method = TAMIS_METHOD_BERNOULLI, .rate = half, .sample = 3}, "sample: not needed, because the rate"},
        {{.method = TAMIS_METHOD_BERNOULLI, .rate = half, .probability = "p"}, "probability: bernoulli draws"},
        {{.method = TAMIS_METHOD_PIVOTAL, .sample = 3}, "probability: pivotal needs"},
        {{.method = TAMIS_METHOD_PIVOTAL, .size = "x"}, "sample: must be the number"},
        {{.method = TAMIS_METHOD_PIVOTAL, .size = "x", .probability = "p"}, "size: must be either"},
        {{.method = TAMIS_METHOD_PIVOTAL, .probability = "p", .sample = 3}, "sample: not needed, because the column"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_error err = {0};
        tamis_status status = tamis_frame_design_check(&cases[i].design, &err);
        if (status != (cases[i].message ? TAMIS_INVALID : TAMIS_OK)) fail_msg("case %zu: status %d %s", i, status, err.message);
        if (cases[i].message && strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("case %zu: %s", i, err.message);
    }
    tamis_number_free(half);
}

static void nothing_is_invalid(void **state)
{
    const tamis_frame_design design = {.method = TAMIS_METHOD_SRS, .sample = 1};
    tamis_frame_sample sample = {.population = 1, .sample = 1};
    const tamis_stream out = {.path = "b.csv"};
    (void)state;
    assert_int_equal(tamis_frame_design_check(NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_frame_draw(NULL, "a.csv", &design, &out, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_frame_draw(&sample, NULL, &design, &out, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(sample.population, 0);
    assert_int_equal(tamis_frame_draw(&sample, "a.csv", NULL, &out, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_frame_draw(&sample, "a.csv", &design, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_frame_draw(&sample, "a.csv", &design, &(tamis_stream){0}, NULL, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_fit_or_are_named),
        cmocka_unit_test(nothing_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
