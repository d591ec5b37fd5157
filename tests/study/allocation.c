/* Sizes of strata against every other allocation. */
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "study/allocation.h"
#include "tests/base/memory_that_fails.h"
#include "tests/num/enclosure.h"

static const tmi_allocation_stratum strata[][3] = {
    {{NULL, 40, 3, 10}, {NULL, 15, 8, 30}, {NULL, 6, 2, 100}},
    {{NULL, 9, 0, 1}, {NULL, 12, 0, 1}, {NULL, 30, 0, 1}}, /* noise only */
    {{NULL, 3, 100, 400}, {NULL, 25, 1, 5}, {NULL, 25, 1, 50}},
};

/* Every allocation of every total. */
static void allocations_are_the_best(void **state)
{
    static const double eps[] = {0.01, 0.5, 3};
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (tmi_promise p = 0; p < TMI_PROMISES; p++)
            for (size_t e = 0; e < 3; e++)
                for (int64_t least = 1; least <= 2; least++)
                    for (int64_t sample = 6; sample <= 24; sample += 9) {
                        const tmi_allocation_stratum *s = strata[k];
                        int64_t sizes[3], other[3];
                        assert_int_equal(tmi_allocate(sizes, s, 3, sample, least, eps[e], p, NULL), TAMIS_OK);
                        assert_int_equal(sizes[0] + sizes[1] + sizes[2], sample);
                        const double found = tmi_allocation_variance(s, 3, sizes, eps[e], p);
                        for (other[0] = least; other[0] <= sample; other[0]++)
                            for (other[1] = least; other[0] + other[1] <= sample - least; other[1]++) {
                                other[2] = sample - other[0] - other[1];
                                bool fits = true;
                                for (int h = 0; h < 3; h++) fits = fits && (double)other[h] <= s[h].population;
                                if (fits) assert_true(found <= tmi_allocation_variance(s, 3, other, eps[e], p) * (1 + 1e-12));
                            }
                    }
}

/* Without noise it is proportional to N S, rounded. */
static void neymans_allocation_is_neymans(void **state)
{
    static const tmi_allocation_stratum s[] = {{NULL, 1000, 10, 1}, {NULL, 2000, 20, 1}, {NULL, 500, 100, 1}};
    int64_t sizes[3];
    (void)state;
    assert_int_equal(tmi_allocate(sizes, s, 3, 100, 2, 1, TMI_PROMISE_NONE, NULL), TAMIS_OK);
    assert_true(sizes[0] == 10 && sizes[1] == 40 && sizes[2] == 50);
}

/* ---- the study ---- */

static tamis_status study_of(tamis_study **study, const char *csv, int64_t sample, int64_t least, const tamis_number *eps,
                             tamis_error *err)
{
    char path[] = "/tmp/tamis-test-XXXXXX.csv";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0 && write(file, csv, strlen(csv)) == (ssize_t)strlen(csv));
    close(file);
    const tamis_study_strata strata = {.size = sizeof strata, .path = path, .sample = sample, .least = least, .eps = eps};
    const tamis_status status = tamis_study_allocation(study, &strata, NULL, err);
    unlink(path);
    return status;
}

#define HEADER "stratum,population,sd,from,to\n"
#define GOOD HEADER "small,50,3,0,10\nlarge,500,3,0,10\n"

static void a_study_has_all_forms(void **state)
{
    tamis_study *study;
    tamis_error err;
    tamis_number *one = number("1");
    (void)state;
    assert_int_equal(study_of(&study, GOOD, 55, 2, one, &err), TAMIS_OK);
    tamis_number_free(one);
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_TEXT), "Neyman"));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_JSON), "\"neyman\": 50"));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_CSV), "large,500,50,"));
    assert_non_null(strstr(tamis_study_as(study, TAMIS_STUDY_SVG), "<svg"));
    assert_null(tamis_study_as(study, TAMIS_STUDY_FORMS));
    assert_null(tamis_study_as(NULL, TAMIS_STUDY_TEXT));
    tamis_study_free(study);
    tamis_study_free(NULL);
}

static void bad_strata_are_named(void **state)
{
    static const struct {
        const char *csv;
        int64_t sample, least;
        const char *eps, *message;
    } cases[] = {
        {GOOD, 3, 2, "1", "sample: too small"},
        {GOOD, 551, 2, "1", "sample: must be at most"},
        {GOOD, 55, 0, "1", "least:"},
        {GOOD, 55, 2, "0", "epsilon:"},
        {GOOD, 55, 2, "-1", "epsilon:"},
        {HEADER, 5, 2, "1", "strata"},
        {"stratum,population,sd,from\na,1,1,1\n", 5, 2, "1", "no column to"},
        {HEADER "a,0,1,0,1\n", 5, 2, "1", "line 2: population"},
        {HEADER "a,9,1,0,1\nb,2.5,1,0,1\n", 5, 2, "1", "line 3: population"},
        {HEADER "a,9,-1,0,1\n", 5, 2, "1", "line 2: sd"},
        {HEADER "a,9,x,0,1\n", 5, 2, "1", "line 2: sd"},
        {HEADER "a,9,1,0,inf\n", 5, 2, "1", "line 2: from, to"},
        {HEADER "a,9,1,1,1\n", 5, 2, "1", "line 2: from, to"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis_study *study = (tamis_study *)&cases;
        tamis_error err = {0};
        tamis_number *eps = number(cases[i].eps);
        assert_int_equal(study_of(&study, cases[i].csv, cases[i].sample, cases[i].least, eps, &err), TAMIS_INVALID);
        tamis_number_free(eps);
        assert_null(study);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s: %s", cases[i].message, err.message);
    }
    tamis_study *study;
    const tamis_study_strata strata = {.size = sizeof strata, .path = "a.csv", .sample = 1, .least = 1};
    assert_int_equal(tamis_study_allocation(NULL, &strata, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_study_allocation(&study, NULL, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_study_allocation(&study, &strata, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_study_allocation(&study, &(tamis_study_strata){.path = "a.csv"}, NULL, NULL), TAMIS_INVALID);
}

static void without_memory_it_fails(void **state)
{
    tamis_study *study;
    tamis_error err;
    (void)state;
    tamis_number *one = number("1");
    ALLOCATIONS_FAIL(k_ + k_ / 4 + 1, study_of(&study, GOOD, 55, 2, one, &err), { assert_null(study); });
    tamis_number_free(one);
    tamis_study_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_the_best), cmocka_unit_test(neymans_allocation_is_neymans),
        cmocka_unit_test(a_study_has_all_forms),    cmocka_unit_test(bad_strata_are_named),
        cmocka_unit_test(without_memory_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
