/* A tamis that was built without DuckDB: this program is linked with src/engine/duckdb/absent.c, as that build is. CSV files
 * are released, estimated and drawn from; other files say what is missing.                                            */
#include "tests/test.h"

#include "engine/files/frame.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/folder.h"

#define PLAN TESTS_FOLDER "/../examples/api/plan.yaml"

static void csv_files_get_the_memory_engine(void **state)
{
    static const struct {
        const char *files[2];
        tamis_engine engine;
    } sources[] = {
        {{"a.csv"}, TAMIS_ENGINE_MEMORY},
        {{"a.csv", "b.CSV"}, TAMIS_ENGINE_MEMORY},
        {{"a.csv", "b.parquet"}, TAMIS_ENGINE_DUCKDB},
        {{"a.db"}, TAMIS_ENGINE_DUCKDB},
        {{"a.sav"}, TAMIS_ENGINE_READSTAT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const tmi_source source = {.files = sources[i].files, .file_count = sources[i].files[1] ? 2 : 1};
        assert_int_equal(tmi_engine_fitting(&source), sources[i].engine);
    }
}

static void others_say_what_is_missing(void **state)
{
    tamis_error err = {0};
    tmi_engine *engine;
    tmi_frame *frame;
    const char *csv = "a.csv", *parquet = "a.parquet";
    const struct {
        const char *const *file;
        tamis_engine engine;
    } asked[] = {{&parquet, TAMIS_ENGINE_FITTING}, {&csv, TAMIS_ENGINE_DUCKDB}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const tmi_source source = {.files = asked[i].file, .file_count = 1};
        assert_int_equal(tmi_engine_open(&engine, asked[i].engine, &source, 1, &err), TAMIS_SYSTEM);
        assert_null(engine);
        assert_non_null(strstr(err.message, "built without DuckDB"));
    }
    assert_int_equal(tmi_frame_open(&frame, parquet, NULL, &err), TAMIS_SYSTEM);
    assert_null(frame);
}

static void a_plan_is_released_and_estimated(void **state)
{
    tamis_plan *plan;
    tamis_release *release;
    tamis_estimate *estimate;
    tamis_error err = {0};
    char *text;
    (void)state;
    assert_int_equal(tamis_plan_read(&plan, PLAN, &err), TAMIS_OK);
    assert_int_equal(tamis_release_engine(plan), TAMIS_ENGINE_MEMORY);
    const tamis_release_options options = {.size = sizeof options, .ledger = in_folder("ledger")};
    if (tamis_release_new(&release, plan, NULL, &options, &err) != TAMIS_OK) fail_msg("%s", err.message);
    tamis_release_free(release);
    if (tamis_estimate_new(&estimate, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    assert_int_equal(tamis_estimate_csv(&text, estimate, &err), TAMIS_OK);
    assert_non_null(strstr(text, "9.24972")); /* the standard error of the mean of api00, as R's survey gives it */
    tamis_free(text);
    tamis_estimate_free(estimate);
    tamis_plan_free(plan);
}

static void a_sample_is_drawn(void **state)
{
    const char *frame = write_text("f.csv", "h,x\na,1\na,2\nb,1\nb,1\n"), *out = in_folder("s.csv");
    const tamis_frame_design design = {.method = TAMIS_METHOD_PIVOTAL, .size = "x", .strata = "h", .sample = 1};
    tamis_frame_sample sample;
    (void)state;
    EVERY_ALLOCATION_FAILS(tamis_frame_draw(&sample, frame, &design, &(tamis_stream){.path = out}, NULL, NULL), {
        assert_int_equal(sample.sample, 0);
        assert_int_not_equal(access(out, F_OK), 0);
    });
    assert_int_equal(sample.population, 4);
    assert_int_equal(sample.sample, 2);
}

int main(void)
{
    const struct CMUnitTest cases[] = {cmocka_unit_test(csv_files_get_the_memory_engine),
                                       cmocka_unit_test(others_say_what_is_missing),
                                       cmocka_unit_test(a_plan_is_released_and_estimated), cmocka_unit_test(a_sample_is_drawn)};
    return cmocka_run_group_tests(cases, make_folder, remove_folder);
}
