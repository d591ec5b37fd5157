/* The table of settings, row by row, and what each refuses. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

/* Every pair in which `given` comes before `protect` is in the table once, and nothing else does. */
static void holds_the_ten_pairs(void **state)
{
    (void)state;
    for (int protect = -1; protect <= TAMIS_LEVELS; protect++) {
        for (int given = -1; given <= TAMIS_LEVELS; given++) {
            const tamis_setting *s = tamis_setting_of((tamis_level)protect, (tamis_level)given);
            int valid = given >= TAMIS_NOTHING && given < protect && protect <= TAMIS_RESPONDENTS;
            assert_int_equal(s != NULL, valid);
            if (!s) continue;
            char name[64];
            snprintf(name, sizeof name, "%s given %s", tamis_level_name(s->protect), tamis_level_name(s->given));
            assert_string_equal(s->name, name);
            assert_ptr_equal(tamis_setting_named(name), s);
        }
    }
    size_t count = 0;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        count += tamis_setting_of(s->protect, s->given) == s;
        assert_true(s->domain && s->universes && s->neighbours && s->weights && s->amplification && s->attacker && s->verdict);
        if (i > 0) assert_true(s->protect > s[-1].protect || (s->protect == s[-1].protect && s->given > s[-1].given));
    }
    assert_int_equal(count, TAMIS_SETTINGS);
}

static void finds_names_as_people_write_them(void **state)
{
    const tamis_setting *s = tamis_setting_of(TAMIS_SAMPLE, TAMIS_FRAME);
    (void)state;
    assert_ptr_equal(tamis_setting_named("Sample  given\tFRAME "), s);
    assert_ptr_equal(tamis_setting_named("  sample given frame"), s);
    static const char *const bad[] = {"",
                                      " ",
                                      "sample",
                                      "sample given",
                                      "sample given fram",
                                      "sample given frames",
                                      "sample givenframe",
                                      "samplegiven frame",
                                      "frame given sample",
                                      "given"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_null(tamis_setting_named(bad[i]));
    assert_null(tamis_setting_named(NULL));
    assert_null(tamis_level_name((tamis_level)5));
    assert_null(tamis_level_name((tamis_level)-1));
}

/* What follows from a row, said once more by rule. */
static void rows_follow_the_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        assert_int_equal(s->may_amplify, s->protect <= TAMIS_FRAME);
        assert_int_equal(s->may_protect_design, s->given <= TAMIS_POPULATION);
        assert_int_equal(s->may_be_absent, s->protect == TAMIS_RESPONDENTS || s->protect == TAMIS_POPULATION);
        assert_int_equal(s->size_is_public, s->protect != TAMIS_RESPONDENTS);
    }
}

/* A refusal names a setting, and that setting works. */
static void refusals_name_a_setting_that_works(void **state)
{
    tamis_error err;
    (void)state;
    for (size_t i = 0; i < TAMIS_SETTINGS; i++) {
        const tamis_setting *s = &tamis_settings()[i];
        for (int secret = 0; secret <= 1; secret++) {
            for (int is_protected = 0; is_protected <= 1; is_protected++) {
                tamis_status status = tamis_setting_outsider(s, secret, is_protected, &err);
                assert_int_equal(status, s->may_amplify && secret && !is_protected ? TAMIS_OK : TAMIS_REFUSED);
                if (status == TAMIS_OK) continue;
                assert_non_null(strstr(err.message, !s->may_amplify ? "{protect: frame"
                                                    : secret        ? "design_variables: public"
                                                                    : "secret_sample: yes"));
            }
        }
        tamis_status status = tamis_setting_protects_design(s, &err);
        assert_int_equal(status, s->may_protect_design ? TAMIS_OK : TAMIS_REFUSED);
        if (status == TAMIS_OK) continue;
        char works[80];
        snprintf(works, sizeof works, "{protect: %s, given: population, design", tamis_level_name(s->protect));
        assert_non_null(strstr(err.message, works));
        assert_int_equal(tamis_setting_protects_design(tamis_setting_of(s->protect, TAMIS_POPULATION), NULL), TAMIS_OK);
    }
    assert_int_equal(tamis_setting_outsider(NULL, 1, 0, &err), TAMIS_INVALID);
    assert_int_equal(tamis_setting_protects_design(NULL, NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_the_ten_pairs),
        cmocka_unit_test(finds_names_as_people_write_them),
        cmocka_unit_test(rows_follow_the_rules),
        cmocka_unit_test(refusals_name_a_setting_that_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
