/* Releases with quantiles that a mechanism chooses: when bits are drawn, what fails before and after the charge. */
#include "tests/test.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/core/points.h"
#include "ledger/ledger.h"
#include "release/release.h"
#include "rng/bits.h"
#include "tests/base/memory_that_fails.h"
#include "tests/ledger/kit.h"
#include "tests/release/array_engine.h"
#include "tests/release/place.h"
#include "tests/release/plans.h"

#define SRS "srs: {population: 80, sample: 8}"
#define CHOSEN "  - {median: x, method: inverse}\n  - {quantile: x, at: [0.25, 0.75], by: g}\n"
#define INVERSE "  - {median: x, method: inverse}\n  - {quantile: x, at: [0.25, 0.75], by: g, method: inverse}\n"

static size_t charges(void)
{
    tamis_ledger *ledger;
    if (access(path, F_OK) != 0) return 0;
    assert_int_equal(tamis_ledger_look(&ledger, path, NULL), TAMIS_OK);
    size_t count = ledger->book.charge_count;
    tamis_ledger_free(ledger);
    return count;
}

static tamis_status release_once(tamis_release **release, const tamis_plan *plan, array_engine *engine, tamis_error *err)
{
    return tmi_release_with(release, plan, &engine->engine, &(tmi_run){.folder = out, .ledger = path, .again = true}, err);
}

/* ---- bits ---- */

static uint8_t bytes[1 << 20];

static void fill_bytes(void)
{
    uint32_t word = 1;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)((word = word * 1664525 + 1013904223) >> 24);
}

/* The last bits that are taken before the rows are read are those of the last mechanism. */
static void bits_are_drawn_before_the_data_are_read(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", INVERSE);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *r;
    fill_bytes();
    bits_from_bytes(bytes, sizeof bytes);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    assert_int_equal(engine.aggregates, 3); /* the tables, and two lists of points, from sums */
    assert_int_equal(engine.bits_before, bits_taken());
    const size_t all = bits_taken();
    assert_int_equal(r->schedule.quantile_task_count, 2);
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < r->schedule.quantile_tasks[i].numbers; k++) assert_in_range(r->answers[i][k], 20, 60);
    for (size_t g = 0; g < 2; g++) assert_true(r->answers[1][2 * g] <= r->answers[1][2 * g + 1]);
    tamis_release_free(r);

    /* one word less, and no row is read */
    bits_from_bytes(bytes, all - 8);
    engine.aggregates = 0;
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_SYSTEM);
    assert_null(r);
    assert_int_equal(engine.aggregates, 0);
    bits_from_seed(7);
    tamis_plan_free(plan);
}

/* Quantiles that ask about other records get other lists: another condition, another grouping, another column. With so much
 * epsilon that an answer is the right one but for a probability below 1e-15, each is that of its own records. */
static void each_question_has_its_own_records(void **state)
{
    (void)state;
    static const array_row many[] = {{.x = 10, .g = "a", .h = "u", .y = 1}, {.x = 11, .g = "a", .h = "v", .y = 2},
                                     {.x = 12, .g = "a", .h = "u", .y = 3}, {.x = 20, .g = "b", .h = "v", .y = 4},
                                     {.x = 21, .g = "b", .h = "u", .y = 5}, {.x = 22, .g = "b", .h = "v", .y = 6},
                                     {.x = 28, .g = "b", .h = "u", .y = 7}, {.x = 29, .g = "b", .h = "v", .y = 8}};
    static const char statistics[] = "  - {quantile: x, at: [0.5], method: inverse, where: {g: a}}\n"
                                     "  - {quantile: x, at: [0.5], method: inverse, where: {g: b}}\n"
                                     "  - {quantile: x, at: [0.5], method: inverse, by: g}\n"
                                     "  - {quantile: x, at: [0.5], method: inverse, by: h}\n"
                                     "  - {quantile: x, at: [0.5], method: inverse, by: g, where: {h: u}}\n"
                                     "  - {quantile: x, at: [0.1], method: inverse}\n";
    /* points are twice the values; nobody has the third value of h */
    static const int64_t least[] = {22, 44, 22, 44, 24, 40, INT64_MIN, 20, 42, 20},
                         most[] = {22, 44, 22, 44, 42, 44, INT64_MAX, 24, 56, 20};
    tamis_plan *plan = plan_of(SRS, "3000", statistics);
    array_engine engine = array_engine_of(many, 8);
    tamis_release *r;
    size_t k = 0;
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    assert_int_equal(r->schedule.quantile_task_count, 6);
    for (size_t i = 0; i < 6; i++)
        for (size_t n = 0; n < r->schedule.quantile_tasks[i].numbers; n++, k++)
            if (r->answers[i][n] < least[k] || r->answers[i][n] > most[k])
                fail_msg("question %zu, number %zu: %lld", i, n, (long long)r->answers[i][n]);
    assert_int_equal(k, 10);
    tamis_release_free(r);
    tamis_plan_free(plan);
    static const char text[] = "tamis: 1\nsurvey: s\nsource: {file: a.csv}\ndesign: {" SRS
                               "}\nprivacy: {unit: person, epsilon: 3000}\n"
                               "columns:\n  x: {from: 10, to: 30, step: 1}\n  y: {from: 0, to: 9, step: 1}\n"
                               "statistics:\n  - {quantile: x, at: [0.3], method: inverse}\n"
                               "  - {quantile: y, at: [0.3], method: inverse}\nbudget: {epsilon: 3000}\n";
    assert_int_equal(tamis_plan_read_text(&plan, "p.yaml", text, strlen(text), NULL), TAMIS_OK);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    assert_true(r->answers[0][0] == 12 && r->answers[1][0] == 3);
    tamis_release_free(r);
    tamis_plan_free(plan);
}

/* Words of random bits that mechanisms kept. */
static uint64_t secrets[64];
static size_t secret_count;

/* The tests' own generator keeps what it gave, in a block of its own size; the library's does not. */
static void no_secret(const void *block, size_t size)
{
    for (size_t i = 0; size < TMI_TAKE && i + 1 < secret_count; i += 2)
        if (memmem(block, size, &secrets[i], 2 * sizeof *secrets)) fail_msg("the bits of a choice were left in memory");
}

/* Each draw has 128 bits, two words; these five draws are the last bytes before the data. */
static void bits_are_wiped(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", INVERSE);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *r;
    fill_bytes();
    bits_from_bytes(bytes, sizeof bytes);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    const size_t end = bits_taken(), draws = 5;
    tamis_release_free(r);
    secret_count = 2 * draws;
    memcpy(secrets, bytes + end - 16 * draws, 16 * draws);
    bits_from_bytes(bytes, sizeof bytes);
    look_at_freed_blocks(no_secret);
    assert_int_equal(tmi_release_with(&r, plan, &engine.engine, &(tmi_run){0}, NULL), TAMIS_OK);
    tamis_release_free(r);
    look_at_freed_blocks(NULL);
    bits_from_seed(7);
    tamis_plan_free(plan);
}

/* ---- failures ---- */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", CHOSEN);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release = NULL;
    size_t charged = 0, uncharged = 0;
    ALLOCATIONS_FAIL(k_ + 40 + k_ / 8, (unlink(path), release_once(&release, plan, &engine, NULL)), {
        assert_null(release);
        assert_int_equal(access(out, F_OK), -1);
        if (charges() == 1) charged++;
        else uncharged++;
    });
    assert_true(charged > 10 && uncharged > 10);
    tamis_release_free(release);
    int ok;
    char *text = NULL;
    ALLOCATIONS_FAIL(k_ + 40 + k_ / 8, tamis_verify_text(&ok, &text, out, NULL, NULL), { assert_true(ok == 0 && !text); });
    assert_true(ok);
    tamis_free(text);
    tamis_plan_free(plan);
}

static tamis_status no_points(tmi_engine *engine, tmi_point_list *list, const tmi_points_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    (void)engine, (void)list, (void)request, (void)watch;
    return tmi_fail(err, TAMIS_INVALID, "the source cannot be read to its end");
}

static tamis_status cannot(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch, tamis_error *err)
{
    (void)engine, (void)request, (void)watch;
    return tmi_fail(err, TAMIS_REFUSED, "this engine gives no points");
}

static void an_engine_without_points_costs_nothing(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", CHOSEN);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    tamis_error err = {0};
    engine.engine.points = no_points;
    engine.engine.check_points = cannot;
    assert_int_equal(release_once(&release, plan, &engine, &err), TAMIS_REFUSED);
    assert_string_equal(err.message, "this engine gives no points");
    assert_null(release);
    assert_int_equal(charges(), 0);
    assert_int_equal(engine.aggregates, 0);
    tamis_plan_free(plan);
}

static void points_that_fail_after_the_charge_are_a_system_error(void **state)
{
    (void)state;
    tamis_plan *plan = plan_of(SRS, "20", CHOSEN);
    array_engine engine = array_engine_of(rows, 8);
    tamis_release *release;
    tamis_error err = {0};
    engine.engine.points = no_points;
    assert_int_equal(release_once(&release, plan, &engine, &err), TAMIS_SYSTEM);
    if (!strstr(err.message, "epsilon 20 was charged (entry ")) fail_msg("%s", err.message);
    assert_null(release);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(charges(), 1);
    engine.engine.points = NULL; /* the next run claims it */
    assert_int_equal(release_once(&release, plan, &engine, &err), TAMIS_OK);
    assert_int_equal(charges(), 1);
    tamis_release_free(release);
    tamis_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_drawn_before_the_data_are_read),
        cmocka_unit_test(each_question_has_its_own_records),
        cmocka_unit_test(bits_are_wiped),
        IN_A_PLACE(every_allocation_may_fail),
        IN_A_PLACE(an_engine_without_points_costs_nothing),
        IN_A_PLACE(points_that_fail_after_the_charge_are_a_system_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
