/* Sources in the caller's memory: every kind of column, and calls that break their contract. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "engine/files/source.h"
#include "tests/base/memory_that_fails.h"
#include "tests/engine/arrow_rows.h"
#include "tests/engine/request.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double codes[] = {99.9, 98};
static const char *const values[] = {"1", "-7", "true", "x", "250"};
static const tmi_column number_c = {.name = "c",
                                    .grid = {-1000, 1000, 1, -1000, 1000},
                                    .missing_codes = codes,
                                    .missing_code_count = 2};
static const tmi_column category = {.name = "c", .kind = TMI_CATEGORY, .values = values, .value_count = 5};
static const tmi_column label = {.name = "c", .kind = TMI_LABEL};
static const tmi_measure sum_of_c[] = {SUM_OF(&number_c), ROWS_WITH(&number_c)}, rows_at_all[] = {ROWS_WITH(NULL)};
static const tmi_column *const by_c[] = {&category};
static const tmi_table as_number = {NULL, 0, sum_of_c, 2}, as_category = {by_c, 1, rows_at_all, 1};
static const tmi_request ask_number = {.tables = &as_number, .table_count = 1},
                         ask_category = {.tables = &as_category, .table_count = 1};

/* One column of `n` elements, seen through Arrow. */
static tamis_status ask(tmi_int128 *answers, const tmi_request *request, const char *format, const void *data, const char *bytes,
                        const uint8_t *valid, int64_t n, tamis_error *err)
{
    struct ArrowSchema field = {.format = format, .name = "c"}, *fields[] = {&field};
    const struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
    const void *buffers[] = {valid, data, bytes};
    struct ArrowArray array = {.length = n,
                               .null_count = valid ? -1 : 0,
                               .n_buffers = bytes              ? 3
                                            : format[0] == 'n' ? 0
                                                               : 2,
                               .buffers = buffers},
                      *arrays[] = {&array};
    const struct ArrowArray batch = {.length = n, .n_children = 1, .children = arrays};
    const struct ArrowArray *const batches[] = {&batch};
    tmi_int128 *const places[] = {answers};
    tamis_source *source;
    tmi_engine *engine;
    assert_int_equal(tamis_source_arrow(&source, &schema, batches, 1, NULL), TAMIS_OK);
    assert_int_equal(tmi_engine_of_source(&engine, source, 2, NULL), TAMIS_OK);
    tmi_inventory inventory = {.columns = request == &ask_number ? (const tmi_column *const[]){&number_c} : by_c,
                               .column_count = 1};
    tamis_status status = engine->describe(engine, &inventory, NULL, err);
    assert_int_equal(inventory.rows, status == TAMIS_OK ? n : 0);
    if (status == TAMIS_OK) status = engine->aggregate(engine, places, request, NULL, err);
    engine->free(engine);
    tamis_source_free(source);
    return status;
}

static void kinds(void **state)
{
    (void)state;
    static const int8_t i8[] = {1, -7, 98, 1};
    static const uint8_t u8[] = {1, 250, 98, 1}, bits[] = {1 | 4}, first_three[] = {7};
    static const int16_t i16[] = {1, -7, 98, 1};
    static const uint16_t u16[] = {1, 250, 98, 1};
    static const int32_t i32[] = {1, -7, 98, 1}, starts[] = {0, 1, 3, 3, 4};
    static const uint32_t u32[] = {1, 250, 98, 1};
    static const int64_t i64[] = {1, -7, 98, 1}, large[] = {0, 1, 3, 3, 4};
    static const uint64_t u64[] = {1, 250, 98, UINT64_MAX};
    static const float f32[] = {1, 99.9f, 98, -INFINITY};
    static const double f64[] = {1, 99.9, 98, NAN}, nearly[] = {1, (double)99.9f, 98, 4};
    static const struct {
        const char *format;
        const void *data;
        const char *bytes;
        const uint8_t *valid;
        int sum, with; /* as a number; with < 0: is none */
        int of[5];     /* as a category; of[0] < 0: is none */
    } cases[] = {
        {"c", i8, NULL, NULL, -5, 3, {2, 1}},
        {"C", u8, NULL, NULL, 252, 3, {2, 0, 0, 0, 1}},
        {"s", i16, NULL, NULL, -5, 3, {2, 1}},
        {"S", u16, NULL, NULL, 252, 3, {2, 0, 0, 0, 1}},
        {"i", i32, NULL, NULL, -5, 3, {2, 1}},
        {"I", u32, NULL, NULL, 252, 3, {2, 0, 0, 0, 1}},
        {"l", i64, NULL, NULL, -5, 3, {2, 1}},
        {"L", u64, NULL, NULL, 1251, 3, {1, 0, 0, 0, 1}},
        {"l", i64, NULL, first_three, -6, 2, {1, 1}},
        {"b", bits, NULL, NULL, 0, -1, {0, 0, 2}},
        {"f", f32, NULL, NULL, 1, 1, {1}},
        {"g", f64, NULL, NULL, 1, 1, {1}},
        {"g", nearly, NULL, NULL, 105, 3, {1}},
        {"g", nearly, NULL, first_three, 101, 2, {1}},
        {"u", starts, "1-7x", NULL, 0, -1, {1, 1, 0, 1}},
        {"U", large, "1-7x", first_three, 0, -1, {1, 1}},
        {"n", NULL, NULL, NULL, 0, 0, {0}},
        {"tdD", i32, NULL, NULL, 0, -1, {-1}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tamis_error err = {0};
        tmi_int128 got[5];
        tamis_status status = ask(got, &ask_number, cases[i].format, cases[i].data, cases[i].bytes, cases[i].valid, 4, &err);
        assert_int_equal(status, cases[i].with < 0 ? TAMIS_INVALID : TAMIS_OK);
        if (status == TAMIS_OK && (got[0] != cases[i].sum || got[1] != cases[i].with))
            fail_msg("case %zu: %d, %d", i, (int)got[0], (int)got[1]);
        status = ask(got, &ask_category, cases[i].format, cases[i].data, cases[i].bytes, cases[i].valid, 4, &err);
        assert_int_equal(status, cases[i].of[0] < 0 ? TAMIS_INVALID : TAMIS_OK);
        for (size_t v = 0; status == TAMIS_OK && v < 5; v++)
            if (got[v] != cases[i].of[v]) fail_msg("case %zu, value %zu: %d", i, v, (int)got[v]);
        if (status != TAMIS_OK) assert_non_null(strstr(err.message, "column c has a type"));
    }
}

static void plain_arrays(void **state)
{
    (void)state;
    static const double x[] = {1, 2, NAN};
    static const int64_t k[] = {1, 250, 1};
    static const char *const t[] = {"x", NULL, " 1 "};
    const tmi_column other = {.name = "absent", .kind = TMI_LABEL};
    tamis_source *source = NULL;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS(tamis_source_new(&source, 3, NULL), assert_null(source));
    EVERY_ALLOCATION_FAILS(tamis_source_numbers(source, "x", x, NULL), {});
    EVERY_ALLOCATION_FAILS(tamis_source_integers(source, "c", k, NULL), {});
    EVERY_ALLOCATION_FAILS(tamis_source_texts(source, "t", t, NULL), {});
    assert_int_equal(tamis_source_numbers(source, "x", x, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "duplicate column x"));
    assert_int_equal(tamis_source_numbers(source, "", x, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_numbers(source, NULL, x, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_texts(source, "u", NULL, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_integers(NULL, "u", k, NULL), TAMIS_INVALID);
    tmi_engine *engine;
    EVERY_ALLOCATION_FAILS(tmi_engine_of_source(&engine, source, 1, NULL), assert_null(engine));
    tmi_int128 got[5], *const places[] = {got};
    static const tmi_int128 zero[5];
    EVERY_ALLOCATION_FAILS((memset(got, 1, sizeof got), engine->aggregate(engine, places, &ask_category, NULL, NULL)),
                           assert_memory_equal(got, zero, sizeof got));
    assert_true(got[0] == 2 && got[4] == 1);
    const tmi_column *const absent[] = {&other, &label};
    tmi_inventory inventory = {.columns = absent, .column_count = 2};
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "there is no column absent");
    engine->free(engine);
    tamis_source_free(source);
    tamis_source_free(NULL);

    assert_int_equal(tamis_source_new(NULL, 1, NULL), TAMIS_INVALID);
    assert_int_equal(tamis_source_new(&source, -1, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "rows"));
    assert_int_equal(tamis_source_new(&source, TMI_MAX_ROWS + 1, NULL), TAMIS_INVALID);
    assert_null(source);
    assert_int_equal(tamis_source_new(&source, 0, NULL), TAMIS_OK);
    assert_int_equal(tamis_source_texts(source, "nothing", NULL, NULL), TAMIS_OK);
    tamis_source_free(source);
}

static void bad_arrow(void **state)
{
    (void)state;
    static const int64_t k[] = {1, 2};
    struct ArrowSchema field = {.format = "l", .name = "c"}, twin = {.format = "l", .name = "c"}, words = {.format = "u"};
    struct ArrowSchema *one[] = {&field}, *two[] = {&field, &twin}, *none[] = {NULL};
    struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = one};
    const void *buffers[] = {NULL, k}, *empty[] = {NULL, NULL};
    struct ArrowArray array = {.length = 2, .n_buffers = 2, .buffers = buffers}, *arrays[] = {&array};
    struct ArrowArray batch = {.length = 2, .n_children = 1, .children = arrays};
    const struct ArrowArray *const batches[] = {&batch}, *const hole[] = {NULL};
    tamis_source *source;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS(tamis_source_arrow(&source, &schema, batches, 1, NULL), assert_null(source));
    assert_int_equal(tamis_source_numbers(source, "more", (const double[]){1, 2}, NULL), TAMIS_INVALID);
    tamis_source_free(source);
#define REFUSED(call) \
    do { \
        source = (tamis_source *)&array; \
        assert_int_equal(call, TAMIS_INVALID); \
        assert_null(source); \
        assert_true(err.message[0] != '\0'); \
    } while (0)
    REFUSED(tamis_source_arrow(&source, NULL, batches, 1, &err));
    REFUSED(tamis_source_arrow(&source, &schema, NULL, 1, &err));
    REFUSED(tamis_source_arrow(&source, &schema, hole, 1, &err));
    REFUSED(tamis_source_arrow(&source, &field, batches, 1, &err));
    schema.children = none;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    schema = (struct ArrowSchema){.format = "+s", .n_children = 2, .children = two};
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    schema = (struct ArrowSchema){.format = "+s", .n_children = 1, .children = one};
    array.length = 1;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    array.length = 2;
    array.offset = -1;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    array.offset = 0;
    array.buffers = empty;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    array.buffers = buffers;
    field.format = "u"; /* needs a third buffer */
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    field.format = "l";
    field.dictionary = &words; /* but the array has none */
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    assert_int_equal(tamis_source_arrow(NULL, &schema, batches, 1, NULL), TAMIS_INVALID);
    field.dictionary = NULL;
    batch.children = NULL;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    batch.children = arrays;
    array.offset = INT64_MAX; /* no sum of these overflows */
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    array.offset = 0;
    batch.offset = INT64_MAX;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    batch.offset = 0;
    static const int32_t starts[] = {0, 1, 2};
    const void *texts[] = {NULL, starts, "ab"};
    struct ArrowSchema inner = {.format = "u"}, outer = {.format = "l", .dictionary = &inner}; /* a dictionary of a dictionary */
    struct ArrowArray inner_array = {.length = 2, .n_buffers = 3, .buffers = texts},
                      outer_array = {.length = 2, .n_buffers = 2, .buffers = buffers, .dictionary = &inner_array};
    field.dictionary = &outer;
    array.dictionary = &outer_array;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
    field.dictionary = &inner;
    inner_array.length = -1;
    array.dictionary = &inner_array;
    REFUSED(tamis_source_arrow(&source, &schema, batches, 1, &err));
}

/* The stream is released by the call, whatever happens; its batches by the source, or if there is none. */
static void streams(void **state)
{
    (void)state;
    static const int64_t k[] = {1, 2};
    struct ArrowSchema field = {.format = "l", .name = "c"}, *fields[] = {&field};
    struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
    const void *buffers[] = {NULL, k};
    struct ArrowArray array = {.length = 2, .n_buffers = 2, .buffers = buffers}, *arrays[] = {&array};
    const struct ArrowArray batch = {.length = 2, .n_children = 1, .children = arrays}, wrong = {.length = 2};
    const struct ArrowArray *const batches[] = {&batch, &batch}, *const bad[] = {&batch, &wrong};
    const batch_stream fresh = {.schema = &schema, .batches = batches, .count = 2, .good = SIZE_MAX};
    batch_stream s;
    struct ArrowArrayStream stream;
    tamis_source *source;
    tamis_error err = {0};
#define TAKE(...) \
    (s = fresh, __VA_ARGS__, stream = stream_of(&s), source = (tamis_source *)&array, \
     tamis_source_take_stream(&source, &stream, &err))
#define NOTHING_LEFT() \
    do { \
        assert_null(source); \
        assert_null(stream.release); \
        assert_true(s.releases == 1 && s.schemas_out == 0 && s.batches_out == 0); \
    } while (0)
    assert_int_equal(TAKE(s.count = 2), TAMIS_OK);
    assert_true(s.releases == 1 && s.schemas_out == 0 && s.batches_out == 2);
    assert_int_equal(tamis_source_numbers(source, "more", (const double[]){1, 2}, NULL), TAMIS_INVALID);
    tamis_source_free(source);
    assert_int_equal(s.batches_out, 0);
    assert_int_equal(TAKE(s.count = 0), TAMIS_OK); /* no batch, no rows */
    tamis_source_free(source);

    assert_int_equal(TAKE(s.good = 1), TAMIS_SYSTEM);
    assert_string_equal(err.message, "stream: get_next failed with error 5"); /* without the stream's words */
    NOTHING_LEFT();
    assert_int_equal(TAKE(s.schema_error = 22), TAMIS_SYSTEM);
    assert_string_equal(err.message, "stream: get_schema failed with error 22");
    NOTHING_LEFT();
    assert_int_equal(TAKE(s.batches = bad), TAMIS_INVALID);
    NOTHING_LEFT();
    assert_int_equal(TAKE(s.schema = &field), TAMIS_INVALID);
    NOTHING_LEFT();
    assert_int_equal(tamis_source_take_stream(&source, &stream, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "stream: already released");
    assert_int_equal(tamis_source_take_stream(&source, NULL, &err), TAMIS_INVALID);
    s = fresh;
    stream = stream_of(&s);
    assert_int_equal(tamis_source_take_stream(NULL, &stream, &err), TAMIS_INVALID);
    assert_int_equal(s.releases, 1);
    EVERY_ALLOCATION_FAILS((s = fresh, stream = stream_of(&s), tamis_source_take_stream(&source, &stream, NULL)),
                           assert_true(!source && s.releases == 1 && s.schemas_out == 0 && s.batches_out == 0));
    tamis_source_free(source);
    assert_int_equal(s.batches_out, 0);
}

/* A text that does not lie within the bytes that the last place announces is missing. */
static void texts_beyond_their_bytes(void **state)
{
    (void)state;
    static const int32_t starts[] = {0, 1, -5, INT32_MAX, 2, 3, 1, 3}; /* "1", then all kinds of nonsense, then "x" */
    static const int64_t large[] = {0, 1, INT64_MIN, INT64_MAX, 2, 3, 1, 3};
    tmi_int128 got[5];
    tamis_error err = {0};
    assert_int_equal(ask(got, &ask_category, "u", starts, "1?x", NULL, 7, &err), TAMIS_OK);
    assert_true(got[0] == 1 && got[1] == 0 && got[2] == 0 && got[3] == 1 && got[4] == 0);
    assert_int_equal(ask(got, &ask_category, "U", large, "1?x", NULL, 7, &err), TAMIS_OK);
    assert_true(got[0] == 1 && got[1] == 0 && got[2] == 0 && got[3] == 1 && got[4] == 0);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(kinds), cmocka_unit_test(plain_arrays), cmocka_unit_test(bad_arrow),
                                     cmocka_unit_test(streams), cmocka_unit_test(texts_beyond_their_bytes)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
