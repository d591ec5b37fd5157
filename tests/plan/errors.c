/* Every class of plan error, with its exact text and place. A case replaces one line of a good plan. */
#include "tests/test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tamis/experimental/outline.h>

#define LINES 11

static const char *const good[LINES] = {
    "tamis: 1",                                       /* 1 */
    "survey: schools",                                /* 2 */
    "source: {file: schools.csv}",                    /* 3 */
    "design: {srs: {population: 6194, sample: 200}}", /* 4 */
    "privacy: {unit: school, epsilon: 1}",            /* 5 */
    "columns:",                                       /* 6 */
    "  enroll: {from: 0, to: 4000, step: 1}",         /* 7 */
    "  stype: {values: [E, M, H]}",                   /* 8 */
    "statistics:",                                    /* 9 */
    "  - total: enroll",                              /* 10 */
    "    by: stype",                                  /* 11 */
};

/* The same in strata, with an id. */
static const char stratified[] =
    "design: {stratified: {by: stype, within: srs, strata: {E: {population: 9, sample: 3}, M: {population: "
    "9, sample: 3}, H: {population: 5, sample: 2}}}}";
static const char with_id[] = "privacy: {unit: school, epsilon: 1, id: hid}";

#define L10 "longlongly"
#define L100 L10 L10 L10 L10 L10 L10 L10 L10 L10 L10

#define HIDDEN \
    "is invisible, or changes how the text around it is shown: remove it, in the data too if a name or value has it " \
    "(docs/plan.md#names)"

typedef struct wrong {
    size_t line;
    const char *text, *message;
} wrong;

static const wrong cases[] = {
#include "tests/plan/errors.inc"
#include "tests/plan/errors_design.inc"
#include "tests/plan/errors_statistics.inc"
#include "tests/plan/errors_typical.inc"
};

static const wrong strata_cases[] = {
#include "tests/plan/errors_strata.inc"
};

static void write_plan(char *text, size_t room, size_t line, const char *instead, bool strata)
{
    size_t length = 0;
    for (size_t i = 1; i <= LINES; i++) {
        const char *usual = strata && i == 4 ? stratified : strata && i == 5 ? with_id : good[i - 1];
        length += (size_t)snprintf(text + length, room - length, "%s\n", i == line ? instead : usual);
    }
}

static void check_cases(const wrong *list, size_t count, bool strata)
{
    char text[4096];
    for (size_t i = 0; i < count; i++) {
        write_plan(text, sizeof text, list[i].line, list[i].text, strata);
        tamis_plan *plan;
        tamis_error err = {0};
        tamis_status status = tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err);
        assert_string_equal(err.message, list[i].message);
        assert_int_equal(status, TAMIS_INVALID);
        assert_null(plan);
    }
}

static void every_error_has_its_text(void **state)
{
    (void)state;
    check_cases(cases, sizeof cases / sizeof *cases, false);
    check_cases(strata_cases, sizeof strata_cases / sizeof *strata_cases, true);
}

static void all_errors_come_at_once_in_order(void **state)
{
    (void)state;
    static const char text[] = "tamis: 2\n"
                               "statistics:\n"
                               "  - mean: enrol\n"
                               "columns:\n"
                               "  enroll: {from: 5, to: 5, step: 0}\n"
                               "design: {srs: {sample: 0}}\n"
                               "privacy: {epsilon: -1}\n";
    tamis_plan *plan;
    tamis_error err = {0};
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err), TAMIS_INVALID);
    assert_string_equal(err.message,
                        "p.yaml:1:1: expected the key survey, e.g. survey: california-schools-2000\n"
                        "p.yaml:1:1: expected the key source, e.g. source: {file: schools.csv}\n"
                        "p.yaml:1:8: tamis: expected 1, the version of the plan format that this program reads\n"
                        "p.yaml:3:11: statistics[1].mean: enrol is not declared under `columns`; did you mean enroll?\n"
                        "p.yaml:5:25: columns.enroll.to: expected a `to` larger than `from`, e.g. {from: 0, to: 4000}\n"
                        "p.yaml:6:10: design.srs: expected the key population, e.g. population: 6194\n"
                        "p.yaml:6:24: design.srs.sample: expected a whole number from 1 to 1099511627776, e.g. 200\n"
                        "p.yaml:7:20: privacy.epsilon: expected an epsilon larger than 0, e.g. 1");
}

#define JOINT(sizes) \
    "tamis: 1\nsurvey: s\nsource: {file: s.csv}\nprivacy: {unit: person, epsilon: 1}\ndesign:\n  stratified:\n    by: [region, " \
    "area]\n" \
    "    within: srs\n    strata:\n      north: {town: " sizes ", land: {population: 9, sample: 3}}\n" \
    "      south: {town: {population: 9, sample: 3}}\nstatistics:\n"

/* Columns that the strata would declare are not missed where the strata cannot be read; where they can, what no stratum has is
 * not asked for. */
static void strata_by_columns_are_looked_at_once(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } plans[] = {
        {JOINT("{population: -8, sample: 3}") "  - {count: units, by: [region, area]}\n  - {count: units, where: {region: "
                                              "north}}\n",
         "p.yaml:10:34: design.stratified.strata.north.town.population: expected a whole number from 1 to 1099511627776, e.g. "
         "6194"},
        {JOINT("{population: 9, sample: 3}") "  - {count: units, where: {region: south, area: land}}\n",
         "p.yaml:13:27: statistics[1].where: expected conditions that some stratum meets: no stratum has this combination"},
    };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        tamis_plan *plan;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", plans[i].text, strlen(plans[i].text), &err), TAMIS_INVALID);
        assert_string_equal(err.message, plans[i].message);
    }
}

/* Texts that are no plan at all. */
static void rubbish_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } rubbish[] = {
        {"", 0, "p.yaml:1:1: expected a map, e.g. tamis: 1"},
        {"hello", 5, "p.yaml:1:1: expected a map, e.g. tamis: 1"},
        {"- a\n", 4, "p.yaml:1:1: expected a map, e.g. tamis: 1"},
        {"a: \xff\n", 5, "p.yaml:1:4: expected text in UTF-8; this byte is not"},
        {"a\0b", 3, "p.yaml:1:2: expected text in UTF-8; this byte is not"},
        {"a: &x 1\nb: *x\n", 14, "p.yaml:1:4: anchors (&name) are not used in plans: write the value out"},
        {"a: *x\n", 6, "p.yaml:1:4: aliases (*name) are not used in plans: write the value out"},
        {"a: !!int 1\n", 11, "p.yaml:1:4: tags (!name) are not used in plans: write the plain value"},
        {"---\na: 1\n---\nb: 1\n", 18, "p.yaml:3:1: a plan is one YAML document; a second one begins here"},
        {"{a: 1}: 2\n", 10, "p.yaml:1:1: expected a key, e.g. design:"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n", 36, "p.yaml:1:17: nested more deeply than the limit (16 levels)"},
    };
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        tamis_plan *plan;
        tamis_error err = {0};
        tamis_status status = tamis_plan_read_text(&plan, "p.yaml", rubbish[i].bytes, rubbish[i].length, &err);
        assert_string_equal(err.message, rubbish[i].message);
        assert_int_equal(status, TAMIS_INVALID);
    }
}

static void broken_yaml_tells_its_place(void **state)
{
    (void)state;
    static const char *const broken[] = {"a: [1\nb: 2\n", "a: 'x\n", "a: b: c\n", "\ta: 1\n", "a: \"\\q\"\n", "%YAML x\n"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        tamis_plan *plan;
        tamis_error err = {0};
        assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", broken[i], strlen(broken[i]), &err), TAMIS_INVALID);
        int line = 0, column = 0;
        assert_int_equal(sscanf(err.message, "p.yaml:%d:%d: not valid YAML: ", &line, &column), 2);
        assert_true(line >= 1 && line <= 3 && column >= 1);
    }
}

static void too_much_is_refused_quickly(void **state)
{
    (void)state;
    static char text[(1 << 20) + 2];
    const size_t room = sizeof text;
    tamis_plan *plan;
    tamis_error err = {0};

    memset(text, '#', room);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, room, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "p.yaml:1:1: the file is larger than the limit for a plan (1048576 bytes)");

    for (size_t i = 0; i + 2 < room; i += 2) memcpy(text + i, i ? ",a" : "[a", 2);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, 1 << 20, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "the plan has more values than the limit (100000)"));

    size_t length = 0;
    for (int i = 0; i < 20000; i++) length += (size_t)snprintf(text + length, room - length, "k%d: 1\n", i);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, length, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "this map has more keys than the limit (10000)"));

    length = 0;
    for (int i = 0; i < 9000; i++) length += (size_t)snprintf(text + length, room - length, "k%d: 1\n", i);
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, length, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "(further messages did not fit)"));
}

static void bad_arguments_are_named(void **state)
{
    (void)state;
    tamis_plan *plan;
    tamis_error err = {0};
    char *folder;
    assert_int_equal(tamis_plan_read(NULL, "x", &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "plan"));
    assert_int_equal(tamis_plan_read(&plan, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "path"));
    assert_int_equal(tamis_plan_read_text(&plan, NULL, "", 0, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "name"));
    assert_int_equal(tamis_plan_read_text(&plan, "p", NULL, 0, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "bytes"));
    assert_int_equal(tamis_plan_release_folder(NULL, NULL, &err), TAMIS_INVALID);
    assert_int_equal(tamis_plan_release_folder(&folder, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "plan"));
    assert_null(tamis_plan_stratum(NULL, 0));
    tamis_design *design;
    tamis_sampling_facts facts;
    const tamis_number *eps, *delta;
    assert_int_equal(tamis_plan_sampling(&design, &facts, &eps, &delta, NULL, NULL), TAMIS_INVALID);
    assert_true(design == NULL && eps == NULL && delta == NULL && facts.known); /* nothing may be claimed */
    assert_int_equal(tamis_plan_sampling(NULL, &facts, &eps, &delta, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_plan_sampling(&design, NULL, &eps, &delta, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_plan_sampling(&design, &facts, NULL, &delta, NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_plan_sampling(&design, &facts, &eps, NULL, NULL, NULL), TAMIS_INVALID);
    tamis_plan_free(NULL);
    assert_int_equal(tamis_plan_read(&plan, "no/such/plan.yaml", &err), TAMIS_INVALID);
    assert_string_equal(err.message, "no/such/plan.yaml: the plan cannot be opened: No such file or directory");
    assert_int_equal(tamis_plan_read(&plan, ".", &err), TAMIS_INVALID);
    assert_int_equal(tamis_plan_read(&plan, ".", NULL), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest group[] = {
        cmocka_unit_test(every_error_has_its_text),
        cmocka_unit_test(all_errors_come_at_once_in_order),
        cmocka_unit_test(strata_by_columns_are_looked_at_once),
        cmocka_unit_test(rubbish_is_refused),
        cmocka_unit_test(broken_yaml_tells_its_place),
        cmocka_unit_test(too_much_is_refused_quickly),
        cmocka_unit_test(bad_arguments_are_named),
    };
    return cmocka_run_group_tests(group, NULL, NULL);
}
