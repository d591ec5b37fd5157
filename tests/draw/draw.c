/* Drawing from Parquet and CSV, with memory that runs out. What is drawn is tested by tests/cli/draw.py. */
#include "tests/test.h"

#include <tamis/experimental/draw.h>

#include "tests/base/memory_that_fails.h"
#include "tests/engine/duckdb_sql.h"
#include "tests/engine/folder.h"

static void reads_parquet_in_its_order(void **state)
{
    char line[256];
    const char *frame = in_folder("f.parquet"), *out = in_folder("s.csv");
    tamis_frame_sample sample;
    const tamis_frame_design design = {.method = TAMIS_METHOD_SYSTEMATIC, .sample = 5000};
    (void)state;
    snprintf(line, sizeof line, "COPY (SELECT i AS unit, i / 4 AS x FROM range(500000) r(i)) TO '%s' (FORMAT parquet)", frame);
    run_sql(line);
    assert_int_equal(tamis_frame_draw(&sample, frame, &design, &(tamis_stream){.path = out}, NULL, NULL), TAMIS_OK);
    assert_int_equal(sample.population, 500000);
    assert_int_equal(sample.sample, 5000);
    FILE *file = fopen(out, "r");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "unit,x,inclusion_probability,weight\n");
    long start = -1, unit;
    double x;
    for (long i = 0; i < 5000; i++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(sscanf(line, "%ld,%lf,0.01,100\n", &unit, &x), 2);
        if (i == 0) start = unit;
        assert_int_equal(unit, start + 100 * i);
        assert_true(x == (double)unit / 4);
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    remove(out);
}

static void survives_missing_memory(void **state)
{
    const char *frame = write_text("f.csv", "h,x\na,1\na,2\nb,1\nb,1\n"), *out = in_folder("s.csv");
    const tamis_frame_design design = {.method = TAMIS_METHOD_PIVOTAL, .size = "x", .strata = "h", .sample = 1};
    tamis_frame_sample sample;
    (void)state;
    ALLOCATIONS_FAIL(k_ + test_size(2, 1), tamis_frame_draw(&sample, frame, &design, &(tamis_stream){.path = out}, NULL, NULL), {
        assert_int_equal(sample.sample, 0);
        assert_int_not_equal(access(out, F_OK), 0);
    });
    assert_int_equal(sample.sample, 2);
}

static void survives_missing_memory_with_clusters(void **state)
{
    const char *frame = write_text("f.csv", "h,c\na,1\na,1\na,2\nb,1\nb,2\n"), *out = in_folder("s.csv");
    const tamis_frame_design design = {
        .method = TAMIS_METHOD_SYSTEMATIC, .strata = "h", .cluster = "c", .sample = 1, .within = 1};
    tamis_frame_sample sample;
    (void)state;
    remove(out);
    ALLOCATIONS_FAIL(k_ + test_size(3, 1), tamis_frame_draw(&sample, frame, &design, &(tamis_stream){.path = out}, NULL, NULL), {
        assert_int_equal(sample.sample, 0);
        assert_int_not_equal(access(out, F_OK), 0);
    });
    assert_int_equal(sample.sample, 2);
    assert_int_equal(sample.clusters, 4);
    assert_int_equal(sample.clusters_drawn, 2);
}

typedef struct looks {
    int count, stop_at;
    double share;
} looks;

static int look(void *context, double share, int64_t rows)
{
    looks *l = context;
    assert_true(share <= 1 && share >= l->share - 1e-9 && rows >= 0);
    l->share = share;
    return ++l->count == l->stop_at;
}

/* Whenever the caller asks to stop, nothing is written. */
static void can_be_stopped(void **state)
{
    const char *out = in_folder("s.csv");
    char text[20000] = "x\n";
    for (int i = 0; i < 2000; i++) sprintf(text + strlen(text), "%d\n", 1 + i % 7);
    const char *frame = write_text("f.csv", text);
    static const tamis_method methods[] = {TAMIS_METHOD_PIVOTAL, TAMIS_METHOD_CONDITIONAL_POISSON, TAMIS_METHOD_BREWER};
    (void)state;
    for (size_t m = 0; m < 3; m++) {
        const tamis_frame_design design = {.method = methods[m], .size = "x", .sample = 2};
        tamis_frame_sample sample;
        tamis_status status = TAMIS_SYSTEM;
        tamis_error err = {0};
        int stops = 0;
        remove(out);
        for (; stops < 1000 && status != TAMIS_OK; stops++) {
            looks l = {.stop_at = stops + 1, .share = -1};
            status = tamis_frame_draw(&sample, frame, &design, &(tamis_stream){.path = out}, &(tamis_watch){look, &l}, &err);
            assert_true(status == TAMIS_OK || (status == TAMIS_SYSTEM && strcmp(err.message, "cancelled") == 0));
            assert_true(status == TAMIS_OK || access(out, F_OK) != 0);
        }
        assert_int_equal(status, TAMIS_OK);
        if (stops < (m == 0 ? 3 : 4)) fail_msg("%s was asked %d times", tamis_method_name(methods[m]), stops);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_parquet_in_its_order),
        cmocka_unit_test(survives_missing_memory),
        cmocka_unit_test(survives_missing_memory_with_clusters),
        cmocka_unit_test(can_be_stopped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
