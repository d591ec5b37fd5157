/* Limits of the ledger and of the files, met before the charge: at each limit and one beyond. */
#include "tests/test.h"

#include "base/memory.h"
#include "ledger/ledger.h"
#include "release/certificate.h"
#include "release/feasible.h"
#include "release/release.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 80, sample: 2}"

static const array_row rows[] = {{.x = 12, .g = "a", .h = "u"}, {.x = 20, .g = "b", .h = "w"}};

/* ---- lengths ---- */

static void a_length_may_be_the_limit_and_no_more(void **state)
{
    (void)state;
    tamis_error err = {0};
    assert_int_equal(tmi_check_length("the text", 100, 100, &err), TAMIS_OK);
    assert_int_equal(tmi_check_length("the text", 101, 100, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "the text may take 101 bytes"));
}

/* The length that is counted is that of the text in which every noisy number is the longest one that the clamp leaves; no other
 * text of the plan is longer. */
static void the_longest_measurements_are_counted_to_the_byte(void **state)
{
    (void)state;
    static const char *const statistics[] = {"  - count: units\n", "  - {mean: x, by: g}\n",
                                             "  - {total: x, by: [g, h]}\n  - {share: {g: a}}\n",
                                             "  - {count: units, by: {x: [10, 12.5, 30]}}\n"};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++) {
        tamis_plan *plan = plan_of("srs: {population: 80, sample: 8}", "2", statistics[i]);
        tamis_release r = {0};
        size_t longest, shorter;
        char *text;
        assert_int_equal(tmi_schedule_make(&r.schedule, plan, NULL, NULL), TAMIS_OK);
        assert_int_equal(tmi_measurements_longest(&longest, &r.schedule, NULL), TAMIS_OK);
        r.noisy = tmi_alloc(r.schedule.measurement_count, sizeof *r.noisy);
        for (int values = 0; values < 2; values++) {
            for (size_t m = 0; m < r.schedule.measurement_count; m++) {
                const tmi_measurement *measurement = &r.schedule.measurements[m];
                if (values == 0) r.noisy[m] = tmi_alloc(measurement->numbers, sizeof **r.noisy);
                for (size_t c = 0; c < measurement->numbers; c++)
                    r.noisy[m][c] = values == 0 ? -(tmi_int128)measurement->limit : (tmi_int128)measurement->limit;
            }
            assert_int_equal(tamis_release_measurements_json(&text, &r, NULL), TAMIS_OK);
            shorter = strlen(text);
            tamis_free(text);
            if (values == 0) assert_int_equal(shorter, longest);
            else assert_true(shorter <= longest);
        }
        for (size_t m = 0; m < r.schedule.measurement_count; m++) tmi_free(r.noisy[m]);
        tmi_free(r.noisy);
        tmi_schedule_clear(&r.schedule);
        tamis_plan_free(plan);
    }
}

static void no_certificate_is_longer_than_was_counted(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "2", "  - {mean: x, by: g}\n");
    array_engine engine = array_engine_of(rows, 2);
    tmi_certificate certificate = {0};
    tmi_promised promised = {0};
    tmi_schedule schedule;
    tamis_release *release;
    size_t longest;
    const tmi_run run = {.ledger = path};
    assert_int_equal(tmi_schedule_make(&schedule, plan, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_certificate_of(&certificate, &schedule, NULL), TAMIS_OK);
    assert_int_equal(tmi_promise_alone(&promised, &schedule, NULL), TAMIS_OK);
    assert_int_equal(tmi_certificate_longest(&longest, &certificate, &promised, &(tmi_standing){0}, NULL), TAMIS_OK);
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &run, NULL), TAMIS_OK);
    char *text;
    assert_int_equal(tamis_release_certificate_json(&text, release, NULL), TAMIS_OK);
    assert_true(strlen(text) <= longest && longest < strlen(text) + 55000); /* an account and an engine asked in SQL */
    tamis_free(text);
    tamis_release_free(release);
    tmi_certificate_clear(&certificate);
    tmi_promised_clear(&promised);
    tmi_schedule_clear(&schedule);
    tamis_plan_free(plan);
}

/* ---- plans beyond a limit ---- */

/* A plan of one megabyte at most whose measurements are longer than a ledger keeps: long values, in many tables. */
#define TABLES 700 /* but for some that are measured together */

static tamis_plan *plan_beyond(size_t letters)
{
    const size_t size = 1 << 20;
    char *text = malloc(size);
    tamis_plan *plan;
    tamis_error err = {0};
    assert_non_null(text);
    size_t n = (size_t)snprintf(text, size,
                                "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {" SRS "}\n"
                                "privacy: {unit: person, epsilon: 1}\ncolumns:\n  g: {values: [");
    for (int i = 0; i < 16; i++) {
        n += (size_t)snprintf(text + n, size - n, "%sv%d", i > 0 ? ", " : "", i);
        memset(text + n, 'a', letters);
        n += letters;
    }
    n += (size_t)snprintf(text + n, size - n, "]}\n");
    for (int i = 0; i < TABLES; i++) n += (size_t)snprintf(text + n, size - n, "  x%d: {from: 0, to: 1, step: 1}\n", i);
    n += (size_t)snprintf(text + n, size - n, "statistics:\n");
    for (int i = 0; i < TABLES; i++) n += (size_t)snprintf(text + n, size - n, "  - {total: x%d, by: g}\n", i);
    snprintf(text + n, size - n, "budget: {epsilon: 10}\n");
    if (tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err) != TAMIS_OK) fail_msg("%s", err.message);
    free(text);
    return plan;
}

static void measurements_beyond_the_ledger_cost_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_beyond(33000);
    array_engine engine = array_engine_of(rows, 2);
    const tmi_run run = {.ledger = path};
    tamis_release *release;
    tamis_preview *preview;
    tamis_error err = {0};
    assert_int_equal(tamis_preview_new(&preview, plan, &err), TAMIS_INVALID);
    if (!strstr(err.message, "measurements.json")) fail_msg("%s", err.message);
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &run, &err), TAMIS_INVALID);
    assert_null(release);
    assert_int_equal(engine.describes + engine.aggregates, 0);
    assert_int_not_equal(access(path, F_OK), 0); /* there is not even a ledger */
    tamis_plan_free(plan);
}

/* The ledger takes as many bytes as are checked for, and not one more. */
static void the_ledger_keeps_what_was_promised(void **state)
{
    (void)state;
    if (!test_size(0, 1)) SKIP("make test-long runs it");
    tamis_plan *plan = plan_of(SRS, "2", "  - count: units\n    by: g\n");
    char *text = malloc(TAMIS_LEDGER_TEXT + 2);
    tamis_ledger *ledger;
    tamis_charged charged;
    tamis_number *one = NULL;
    assert_non_null(text);
    memset(text, 'x', TAMIS_LEDGER_TEXT + 1);
    text[TAMIS_LEDGER_TEXT + 1] = '\0';
    assert_int_equal(tamis_number_read(&one, "1", NULL), TAMIS_OK);
    const tamis_charge charge = {
        .survey = "s", .release = "p", .frozen = "{}", .measures = "[]", .budget = {.epsilon = one}, .amount = {.epsilon = one}};
    assert_int_equal(tamis_ledger_open(&ledger, path, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &charge, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_released(ledger, charged.entry, text, NULL), TAMIS_INVALID);
    text[TAMIS_LEDGER_TEXT] = '\0';
    assert_int_equal(tamis_ledger_released(ledger, charged.entry, text, NULL), TAMIS_OK);
    assert_int_equal(tamis_ledger_charge(&charged, ledger, &charge, NULL), TAMIS_OK); /* the same again */
    assert_string_equal(charged.measurements, text);
    tamis_charged_clear(&charged);
    tamis_ledger_free(ledger);
    tamis_number_free(one);
    free(text);
    tamis_plan_free(plan);
}

/* Names of a charge, at their limit and one beyond. */
static void names_of_a_charge_are_checked_without_a_ledger(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        char *text = malloc(4096);
        tamis_plan *plan;
        tamis_preview *preview;
        tamis_error err = {0};
        assert_non_null(text);
        size_t n = (size_t)snprintf(text, 4096, "tamis: 1\nsurvey: ");
        memset(text + n, 's', TAMIS_LEDGER_NAME + more);
        n += TAMIS_LEDGER_NAME + more;
        snprintf(text + n, 4096 - n,
                 "\nsource: {file: a.csv}\ndesign: {" SRS "}\nprivacy: {unit: person, epsilon: 1}\ncolumns:\n"
                 "  g: {values: [a, b]}\nstatistics:\n  - {count: units, by: g}\nledger: %s\n",
                 path);
        tamis_status status = tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), &err);
        if (status == TAMIS_OK) status = tamis_preview_new(&preview, plan, &err);
        assert_int_equal(status, more ? TAMIS_INVALID : TAMIS_OK);
        if (status == TAMIS_OK) tamis_preview_free(preview);
        tamis_plan_free(plan);
        free(text);
    }
}

/* ---- engines ---- */

static tamis_status no_room(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    (void)engine;
    (void)watch;
    return tmi_fail(err, TAMIS_INVALID, "an engine without room for %zu tables", request->table_count);
}

static void what_an_engine_cannot_answer_costs_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "2", "  - count: units\n    by: g\n");
    array_engine engine = array_engine_of(rows, 2);
    const tmi_run run = {.ledger = path};
    tamis_release *release;
    tamis_error err = {0};
    engine.engine.check = no_room;
    assert_int_equal(tmi_release_with(&release, plan, &engine.engine, &run, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "an engine without room for 1 tables");
    assert_int_equal(engine.aggregates, 0);
    assert_int_not_equal(access(path, F_OK), 0);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_may_be_the_limit_and_no_more),
        cmocka_unit_test(the_longest_measurements_are_counted_to_the_byte),
        IN_A_FOLDER(no_certificate_is_longer_than_was_counted),
        IN_A_FOLDER(measurements_beyond_the_ledger_cost_nothing),
        IN_A_FOLDER(the_ledger_keeps_what_was_promised),
        IN_A_FOLDER(names_of_a_charge_are_checked_without_a_ledger),
        IN_A_FOLDER(what_an_engine_cannot_answer_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
