/* When a release is over, no block of memory that was given back still holds its noise, its exact answers or its keys. */
#include "tests/test.h"

#include "num/number.h"
#include "release/release.h"
#include "tests/base/memory_that_fails.h"
#include "tests/release/array_engine.h"
#include "tests/release/plans.h"

#define STRATA "stratified: {by: s, within: srs, strata: {p: {population: 40, sample: 4}, q: {population: 8, sample: 4}}}"

static const array_row rows[] = {
    {.x = 12.3, .g = "a", .h = "u", .s = "p", .u = "1", .w = 1.37},
    {.x = 500, .g = "a", .h = "v", .s = "p", .u = "2", .w = 2.37},
    {.x = -3, .g = "b", .h = "u", .s = "p", .u = "3", .w = 3.37},
    {.x = 17, .g = "b", .h = "w", .s = "p", .u = "4", .w = 4.37},
    {.x = 20.25, .g = "b", .h = "w", .s = "q", .u = "5", .w = 5.37},
    {.x = 29.9, .g = "a", .h = "w", .s = "q", .u = "6", .w = 6.37},
    {.x = 15, .g = "b", .h = "v", .s = "q", .u = "7", .w = 7.37},
    {.x = 11, .g = "a", .h = "u", .s = "q", .u = "8", .w = 8.37},
};

/* What must not be found. */
static struct {
    const void *bytes;
    size_t size;
} secrets[64];
static size_t secret_count;

static void no_secret(const void *block, size_t size)
{
    for (size_t i = 0; i < secret_count; i++)
        if (size >= secrets[i].size && memmem(block, size, secrets[i].bytes, secrets[i].size))
            fail_msg("secret %zu was left in memory", i);
}

static void keep_secret(const void *bytes, size_t size)
{
    assert_true(secret_count < sizeof secrets / sizeof *secrets);
    secrets[secret_count].bytes = bytes;
    secrets[secret_count++].size = size;
}

/* An engine that remembers what it was asked and what it answered. */
typedef struct remembering {
    array_engine array; /* first: the engine is the whole */
    tmi_int128 answers[256];
    size_t answer_count;
    unsigned char key[TMI_KEY_BYTES];
    bool keyed;
} remembering;

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    remembering *r = (remembering *)engine;
    const tamis_status status = array_aggregate(engine, answers, request, watch, err);
    for (size_t t = 0; t < request->table_count; t++)
        for (size_t i = 0; i < tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count; i++) {
            assert_true(r->answer_count < 256);
            r->answers[r->answer_count++] = answers[t][i];
        }
    r->keyed = request->unit != NULL;
    if (r->keyed) memcpy(r->key, request->key, sizeof r->key);
    return status;
}

static remembering remembering_engine(void)
{
    remembering r = {.array = array_engine_of(rows, 8)};
    r.array.engine.aggregate = aggregate;
    return r;
}

static tamis_release *release(const tamis_plan *plan, remembering *engine)
{
    tamis_release *r;
    tamis_error err = {0};
    bits_from_seed(7);
    if (tmi_release_with(&r, plan, &engine->array.engine, &(tmi_run){0}, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return r;
}

/* Releases once to learn the noise, and again, with the same bits, while every block is looked at that is freed. */
static void check(const char *design, const char *privacy, const char *statistics)
{
    static int64_t noise[256];
    tamis_plan *plan = plan_of(design, privacy, statistics);
    remembering engine = remembering_engine();
    tamis_release *r = release(plan, &engine);
    size_t count = 0, answer = 0;
    secret_count = 0;
    for (size_t i = 0; i < r->schedule.measurement_count; i++)
        for (size_t cell = 0; cell < r->schedule.measurements[i].numbers; cell++) {
            assert_true(count < 256);
            noise[count] = (int64_t)(r->noisy[i][cell] - engine.answers[answer]); /* one measure per table: one order */
            if (llabs(noise[count]) > 1 << 20 && engine.answers[answer] != 0) keep_secret(&noise[count], sizeof *noise);
            count++, answer++;
        }
    for (size_t i = 0; i < engine.answer_count; i++)
        if (engine.answers[i] > 1 << 20) keep_secret(&engine.answers[i], sizeof *engine.answers);
    assert_true(secret_count > 0); /* small numbers are found anywhere; noise on 0 is what is published */
    tamis_release_free(r);
    remembering again = remembering_engine();
    if (engine.keyed) keep_secret(engine.key, sizeof engine.key);
    look_at_freed_blocks(no_secret);
    r = release(plan, &again);
    tamis_release_free(r);
    look_at_freed_blocks(NULL);
    assert_memory_equal(engine.key, again.key, sizeof engine.key);
    tamis_plan_free(plan);
}

static void noise_and_keys_are_wiped(void **state)
{
    (void)state;
    check("srs: {population: 80, sample: 8}", "1e-7", "  - {count: units, by: [g, h]}\n");
    check("srs: {population: 80, sample: 8}", "1e-7, delta: 1e-9", "  - {count: units, by: [g, h]}\n");
    check("srs: {population: 80, sample: 8}", "1e-7, id: u", "  - {count: units, by: [g, h]}\n");
}

/* Weighted sums are large enough to be known again. */
static void answers_are_wiped(void **state)
{
    (void)state;
    check("weights: {population: 80}, weight: w, max_weight: 50", "1e-3", "  - {total: x}\n");
}

/* The noise of each stratum is drawn in a block of its own. */
static void noise_of_strata_is_wiped(void **state)
{
    (void)state;
    check(STRATA, "1e-7", "  - {count: units, by: [s, g]}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_and_keys_are_wiped),
        cmocka_unit_test(answers_are_wiped),
        cmocka_unit_test(noise_of_strata_is_wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
