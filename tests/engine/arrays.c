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
        {"tdD", i32, NULL, NULL, 0, -1, {-1}}, /* none of the values is a date */
        {"ttm", i32, NULL, NULL, 0, -1, {-1}},
        {"_pli128", i64, NULL, NULL, 0, -1, {-1}},
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
        if (status == TAMIS_OK) continue;
        const bool is_date = strcmp(cases[i].format, "tdD") == 0;
        assert_non_null(strstr(err.message, is_date ? "by its type it contains dates" : "column c has a type"));
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

/* ---- layouts beyond plain buffers ---- */

/* One column, with what it may go through, as one batch: the sum and the number of values as a number (with < 0: refused), and
 * how often each of five values occurs as a category ([0] < 0: refused). */
static void expect(const char *what, struct ArrowSchema *field, struct ArrowArray *array, int sum, int with,
                   const char *const listed[5], const int of[5])
{
    struct ArrowSchema *fields[] = {field};
    const struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
    struct ArrowArray *arrays[] = {array};
    const struct ArrowArray batch = {.length = array->length, .n_children = 1, .children = arrays};
    const struct ArrowArray *const batches[] = {&batch, &batch}; /* the same rows twice */
    const tmi_column as_listed = {.name = "c", .kind = TMI_CATEGORY, .values = listed, .value_count = 5};
    const tmi_column *const by[] = {&as_listed}, *const numbers[] = {&number_c}, *const labels[] = {&label};
    const tmi_table table = {by, 1, rows_at_all, 1};
    const tmi_request ask_listed = {.tables = &table, .table_count = 1};
    tmi_inventory as_numbers = {.columns = numbers, .column_count = 1}, as_categories = {.columns = by, .column_count = 1},
                  as_labels = {.columns = labels, .column_count = 1};
    tamis_source *source;
    tmi_engine *engine;
    tamis_error err = {0};
    tmi_int128 got[5], *const places[] = {got};
    field->name = "c";
    if (tamis_source_arrow(&source, &schema, batches, 2, &err) != TAMIS_OK) fail_msg("%s: %s", what, err.message);
    assert_int_equal(tmi_engine_of_source(&engine, source, 2, NULL), TAMIS_OK);
    assert_int_equal(engine->describe(engine, &as_numbers, NULL, &err), with < 0 ? TAMIS_INVALID : TAMIS_OK);
    if (with >= 0) {
        assert_int_equal(engine->aggregate(engine, places, &ask_number, NULL, &err), TAMIS_OK);
        if (got[0] != 2 * sum || got[1] != 2 * with) fail_msg("%s: %d, %d", what, (int)got[0], (int)got[1]);
    }
    assert_int_equal(engine->describe(engine, &as_categories, NULL, &err), of[0] < 0 ? TAMIS_INVALID : TAMIS_OK);
    assert_int_equal(engine->describe(engine, &as_labels, NULL, &err), of[0] < 0 ? TAMIS_INVALID : TAMIS_OK);
    if (of[0] >= 0) {
        assert_int_equal(engine->aggregate(engine, places, &ask_listed, NULL, &err), TAMIS_OK);
        for (size_t v = 0; v < 5; v++)
            if (got[v] != 2 * of[v]) fail_msg("%s, value %zu: %d", what, v, (int)got[v]);
    }
    engine->free(engine);
    tamis_source_free(source);
}

/* A text of up to 12 bytes in its view, and one in a buffer. */
static void put_view(char *view, const char *text, int32_t buffer, int32_t place)
{
    const int32_t length = (int32_t)strlen(text);
    memset(view, 0, 16);
    memcpy(view, &length, 4);
    memcpy(view + 4, text, length <= 12 ? (size_t)length : 4);
    if (length > 12) memcpy(view + 8, &buffer, 4), memcpy(view + 12, &place, 4);
}

static void views(void **state)
{
    (void)state;
    static const char *const listed[5] = {"x", "exactly twelv", "twelve bytes", "-7", "none"};
    static const char first[] = "??exactly twelv?exactly twelv", second[] = "exactly twelv";
    char at[7 * 16];
    put_view(at, "skipped", 0, 0);
    put_view(at + 16, "x", 0, 0);
    put_view(at + 32, "exactly twelv", 0, 2);
    put_view(at + 48, "exactly twelv", 1, 0);
    put_view(at + 64, "twelve bytes", 0, 0);
    put_view(at + 80, "exactly twelv", 0, 16); /* its end lies one byte beyond the stated length of the buffer: missing */
    put_view(at + 96, "exactly twelv", 2, 0);  /* no such buffer: missing */
    const int64_t lengths[] = {sizeof first - 2, sizeof second - 1};
    const void *buffers[] = {NULL, at, first, second, lengths};
    struct ArrowSchema field = {.format = "vu"};
    struct ArrowArray array = {.length = 6, .offset = 1, .n_buffers = 5, .buffers = buffers};
    expect("views", &field, &array, 0, -1, listed, (const int[5]){1, 2, 1});
    const int8_t places[] = {3, 0, 3, 5, -1, 1};
    const void *codes[] = {NULL, places};
    struct ArrowSchema words = {.format = "vu"}, coded = {.format = "c", .dictionary = &words};
    struct ArrowArray categorical = {.length = 6, .n_buffers = 2, .buffers = codes, .dictionary = &array};
    expect("a dictionary of views", &coded, &categorical, 0, -1, listed, (const int[5]){1, 1, 2});
}

static void dictionaries_and_runs(void **state)
{
    (void)state;
    static const char *const listed[5] = {"1", "-7", "2.5", "true", "x"};
    static const int16_t values[] = {9, 1, -7, 98}; /* 98 is a missing code */
    static const double floats[] = {1, 2.5, NAN};
    static const uint8_t bits[] = {2}, valid[] = {0x1d}; /* elements 0, 2, 3, 4 */
    static const uint32_t places[] = {0, 2, 1, 2, 7};
    const void *value_buffers[] = {NULL, values}, *float_buffers[] = {NULL, floats}, *bit_buffers[] = {NULL, bits},
               *place_buffers[] = {valid, places};
    struct ArrowSchema short_words = {.format = "s"}, float_words = {.format = "g"}, bool_words = {.format = "b"};
    struct ArrowArray shorts = {.length = 3, .offset = 1, .n_buffers = 2, .buffers = value_buffers},
                      doubles = {.length = 3, .n_buffers = 2, .buffers = float_buffers},
                      booleans = {.length = 2, .n_buffers = 2, .buffers = bit_buffers};
    struct ArrowSchema coded = {.format = "I", .dictionary = &short_words};
    struct ArrowArray array = {.length = 5, .null_count = 1, .n_buffers = 2, .buffers = place_buffers, .dictionary = &shorts};
    expect("a dictionary of integers", &coded, &array, -6, 2, listed, (const int[5]){1, 1});
    coded.dictionary = &float_words, array.dictionary = &doubles;
    expect("a dictionary of floats", &coded, &array, 4, 2, listed, (const int[5]){1, 0, 1});
    coded.dictionary = &bool_words, array.dictionary = &booleans;
    expect("a dictionary of booleans", &coded, &array, 0, -1, listed, (const int[5]){0, 0, 0, 1});

    /* 1 1 -7 -7 -7 missing, of which the offset passes over the first */
    static const int32_t ends[] = {2, 5, 6};
    const void *end_buffers[] = {NULL, ends};
    struct ArrowSchema end_field = {.format = "i"}, run_values = {.format = "s"}, *run_children[] = {&end_field, &run_values};
    struct ArrowArray end_array = {.length = 3, .n_buffers = 2, .buffers = end_buffers}, *children[] = {&end_array, &shorts};
    struct ArrowSchema runs = {.format = "+r", .n_children = 2, .children = run_children};
    struct ArrowArray run_array = {.length = 5, .offset = 1, .n_children = 2, .children = children};
    expect("runs", &runs, &run_array, 1 - 3 * 7, 4, listed, (const int[5]){1, 3});
    coded.dictionary = &short_words, array.dictionary = &shorts;
    run_children[1] = &coded; /* 1, missing, -7 */
    children[1] = &array;
    expect("runs of a dictionary", &runs, &run_array, -6, 2, listed, (const int[5]){1, 1});
}

static void decimals_dates_halves(void **state)
{
    (void)state;
    static const char *const numbers[5] = {"12.50", "-0.01", "98", "1", "3"}, *const dates[5] = {"2000-02-29", "1969-12-31",
                                                                                                 "0044-03-15 BC", "9999-12-31",
                                                                                                 "1970-01-01"};
    const int64_t d128[][2] = {{1250, 0}, {-1, -1}, {9800, 0}, {99, 0}}; /* little-endian, two's complement */
    int64_t d256[4][4];
    const int32_t d32[] = {1250, -1, 9800, 99};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) d256[i][k] = k == 0 ? d128[i][0] : d128[i][1];
    const void *b128[] = {NULL, d128}, *b256[] = {NULL, d256}, *b32[] = {NULL, d32};
    struct ArrowSchema decimal = {.format = "d:19,2"};
    struct ArrowArray array = {.length = 4, .n_buffers = 2, .buffers = b128};
    /* 12.5 is 12 or 13 on a grid of 1, -0.01 is 0, 98 is missing, 0.99 is 1 */
    tmi_int128 got[5];
    assert_int_equal(ask(got, &ask_number, "d:19,2", d128, NULL, NULL, 4, NULL), TAMIS_OK);
    const int sum = (int)got[0];
    assert_in_range(sum, 13, 14);
    expect("decimals", &decimal, &array, sum, 3, numbers, (const int[5]){1, 1, 1});
    decimal.format = "d:40,2,256", array.buffers = b256;
    expect("decimals of 256 bits", &decimal, &array, sum, 3, numbers, (const int[5]){1, 1, 1});
    decimal.format = "d:9,2,32", array.buffers = b32;
    expect("decimals of 32 bits", &decimal, &array, sum, 3, numbers, (const int[5]){1, 1, 1});
    decimal.format = "d:9,0,33";
    expect("no decimals", &decimal, &array, 0, -1, numbers, (const int[5]){-1});

    const int32_t days[] = {11016, -1, -735160, 2932896, 0, INT32_MAX};
    const int64_t ms[] = {INT64_C(11016) * 86400000 + 5, -1, INT64_C(-735160) * 86400000,
                          INT64_C(2932896) * 86400000,   0,  INT64_MAX};
    const void *b_days[] = {NULL, days}, *b_ms[] = {NULL, ms};
    struct ArrowSchema date = {.format = "tdD"};
    struct ArrowArray day_array = {.length = 6, .n_buffers = 2, .buffers = b_days};
    expect("dates", &date, &day_array, 0, -1, dates, (const int[5]){1, 1, 1, 1, 1});
    date.format = "tdm", day_array.buffers = b_ms;
    expect("dates in milliseconds", &date, &day_array, 0, -1, dates, (const int[5]){1, 1, 1, 1, 1});

    const uint16_t halves[] = {0x3c00, 0xc700, 0x563e, 0x7e00, 0x7c00, 0x5620}; /* 1, -7, 99.9's nearest, NaN, inf, 98 */
    const void *b_half[] = {NULL, halves};
    struct ArrowSchema half = {.format = "e"};
    struct ArrowArray half_array = {.length = 6, .n_buffers = 2, .buffers = b_half};
    expect("half floats", &half, &half_array, -6, 2, numbers, (const int[5]){-1});

    static const char uuid[16] = "\x12\x34\x56\x78\x9a\xbc\xde\xf0\x12\x34\x56\x78\x9a\xbc\xde\xf0";
    static const char *const ids[5] = {"12345678-9abc-def0-1234-56789abcdef0", "a", "b", "c", "d"};
    char metadata[64];
    const int32_t lengths[] = {1, 20, 10};
    memcpy(metadata, &lengths[0], 4);
    memcpy(metadata + 4, &lengths[1], 4), memcpy(metadata + 8, "ARROW:extension:name", 20);
    memcpy(metadata + 28, &lengths[2], 4), memcpy(metadata + 32, "arrow.uuid", 10);
    const void *b_uuid[] = {NULL, uuid};
    struct ArrowSchema id = {.format = "w:16", .metadata = metadata};
    struct ArrowArray id_array = {.length = 1, .n_buffers = 2, .buffers = b_uuid};
    expect("UUIDs", &id, &id_array, 0, -1, ids, (const int[5]){1});
    id.metadata = NULL;
    expect("16 bytes", &id, &id_array, 0, -1, ids, (const int[5]){-1});
}

/* A row that its batch masks is no row: the whole source is refused, before anything is counted. */
static void masked_rows(void **state)
{
    (void)state;
    static const int64_t k[] = {1, 2, 3};
    static const uint8_t all[] = {14}, without_first[] = {12};
    struct ArrowSchema field = {.format = "l", .name = "c"}, *fields[] = {&field};
    const struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
    const void *buffers[] = {NULL, k}, *mask[] = {all};
    struct ArrowArray array = {.length = 3, .n_buffers = 2, .buffers = buffers}, *arrays[] = {&array};
    struct ArrowArray batch = {
        .length = 2, .offset = 1, .null_count = -1, .n_buffers = 1, .buffers = mask, .n_children = 1, .children = arrays};
    const struct ArrowArray *const batches[] = {&batch};
    tamis_source *source;
    tamis_error err = {0};
    assert_int_equal(tamis_source_arrow(&source, &schema, batches, 1, &err), TAMIS_OK);
    tamis_source_free(source);
    mask[0] = without_first;
    assert_int_equal(tamis_source_arrow(&source, &schema, batches, 1, &err), TAMIS_INVALID);
    assert_string_equal(err.message, "batches: number 1 has rows that are null as a whole: leave them out");
    batch.null_count = 0; /* the bitmap is not looked at then, says the specification */
    assert_int_equal(tamis_source_arrow(&source, &schema, batches, 1, &err), TAMIS_OK);
    tamis_source_free(source);
}

/* ---- columns of R and the like ---- */

static void typed_columns(void **state)
{
    (void)state;
    static const int64_t na = INT32_MIN;
    static const int32_t integers[] = {1, INT32_MIN, -7, 98}, logical[] = {1, 0, INT32_MIN, 1}, codes32[] = {1, 2, INT32_MIN, 4};
    static const double days[] = {11016, 0.9, NAN, -1};
    static const char *const levels[] = {"x", "1", "250"}, *const dates[] = {"2000-02-29", "1970-01-01", "1969-12-31"};
    static const char *const truths[] = {"true", "false"};
    static const struct {
        tamis_column_type type;
        const void *data;
        const char *const *listed;
        size_t listed_count;
        int of[5];
    } cases[] = {{TAMIS_I32, integers, values, 5, {1, 1}},
                 {TAMIS_BOOL32, logical, truths, 2, {2, 1}},
                 {TAMIS_CODES32, codes32, values, 5, {1, 0, 0, 1}}, /* codes 0, 4 and NA are missing */
                 {TAMIS_DAYS_F64, days, dates, 3, {1, 1, 1}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        const tmi_column listed = {.name = "c",
                                   .kind = TMI_CATEGORY,
                                   .values = cases[i].listed,
                                   .value_count = cases[i].listed_count};
        const tmi_column *const by[] = {&listed};
        const tmi_table table = {by, 1, rows_at_all, 1};
        const tmi_request request = {.tables = &table, .table_count = 1};
        tamis_column_data column = {.size = sizeof column,
                                    .name = "c",
                                    .type = cases[i].type,
                                    .values = cases[i].data,
                                    .missing = &na,
                                    .levels = levels,
                                    .level_count = 3,
                                    .base = 1};
        tamis_source *source;
        tmi_engine *engine;
        tamis_error err = {0};
        tmi_int128 got[5], *const places[] = {got};
        assert_int_equal(tamis_source_new(&source, 4, NULL), TAMIS_OK);
        assert_int_equal(tamis_source_column(source, &column, &err), TAMIS_OK);
        column.name = "another"; /* the first one's levels stay where they are */
        assert_int_equal(tamis_source_column(source, &column, &err), TAMIS_OK);
        assert_int_equal(tmi_engine_of_source(&engine, source, 1, NULL), TAMIS_OK);
        if (engine->aggregate(engine, places, &request, NULL, &err) != TAMIS_OK) fail_msg("case %zu: %s", i, err.message);
        for (size_t v = 0; v < cases[i].listed_count; v++)
            if (got[v] != cases[i].of[v]) fail_msg("case %zu, value %zu: %d", i, v, (int)got[v]);
        engine->free(engine);
        struct {
            tamis_column_data column;
            int more;
        } later = {{.size = sizeof later, .name = "later", .type = TAMIS_I32, .values = integers}, 1};
        assert_int_equal(tamis_source_column(source, &later.column, &err), TAMIS_INVALID);
        assert_non_null(strstr(err.message, "of a later version"));
        later.more = 0; /* a struct of a later version that asks for nothing new */
        assert_int_equal(tamis_source_column(source, &later.column, &err), TAMIS_OK);
        column.name = "third";
        column.size = 0;
        assert_int_equal(tamis_source_column(source, &column, &err), TAMIS_INVALID);
        column.size = sizeof column;
        column.type = (tamis_column_type)99;
        assert_int_equal(tamis_source_column(source, &column, &err), TAMIS_INVALID);
        column.type = TAMIS_CODES32;
        column.levels = NULL;
        assert_int_equal(tamis_source_column(source, &column, &err), TAMIS_INVALID);
        assert_int_equal(tamis_source_column(source, NULL, &err), TAMIS_INVALID);
        tamis_source_free(source);
    }
}

/* ---- streams that are opened again ---- */

typedef struct opener {
    batch_stream of, *made;
    int times, error;
} opener;

static int open_again(void *context, struct ArrowArrayStream *out)
{
    opener *o = context;
    o->times++;
    if (o->error) return o->error;
    *o->made = o->of;
    *out = stream_of(o->made);
    return 0;
}

static void streams_opened_again(void **state)
{
    (void)state;
    static const int64_t k[] = {1, -7, 98, 1};
    static const uint8_t first_masked[] = {14};
    struct ArrowSchema field = {.format = "l", .name = "c"}, *fields[] = {&field};
    struct ArrowSchema schema = {.format = "+s", .n_children = 1, .children = fields};
    const void *buffers[] = {NULL, k}, *mask[] = {first_masked};
    struct ArrowArray array = {.length = 4, .n_buffers = 2, .buffers = buffers}, *arrays[] = {&array};
    struct ArrowArray batch = {.length = 4, .n_children = 1, .children = arrays};
    const struct ArrowArray *const batches[] = {&batch, &batch};
    batch_stream s;
    opener o = {.of = {.schema = &schema, .batches = batches, .count = 2, .good = SIZE_MAX}, .made = &s};
    const tmi_column *const columns[] = {&number_c};
    tmi_inventory inventory = {.columns = columns, .column_count = 1};
    tmi_int128 got[5], *const places[] = {got};
    tamis_source *source;
    tmi_engine *engine;
    tamis_error err = {0};
    EVERY_ALLOCATION_FAILS(tamis_source_streams(&source, open_again, &o, NULL), assert_null(source));
    assert_int_equal(o.times, 0);
    assert_int_equal(tamis_source_numbers(source, "more", (const double[]){1}, NULL), TAMIS_INVALID);
    assert_int_equal(tmi_engine_of_source(&engine, source, 4, NULL), TAMIS_OK);
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_OK);
    assert_int_equal(inventory.rows, 8);
    assert_int_equal(engine->aggregate(engine, places, &ask_number, NULL, &err), TAMIS_OK);
    assert_true(got[0] == -10 && got[1] == 6);
    assert_true(o.times >= 3 && s.releases == 1 && s.schemas_out == 0 && s.batches_out == 0);
    EVERY_ALLOCATION_FAILS(engine->aggregate(engine, places, &ask_number, NULL, NULL),
                           assert_true(s.schemas_out == 0 && s.batches_out == 0));
    o.of.good = 1; /* it fails between two batches */
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "stream: get_next failed with error 5");
    assert_true(s.releases == 1 && s.schemas_out == 0 && s.batches_out == 0);
    o.of.good = SIZE_MAX;
    batch.n_buffers = 1, batch.buffers = mask, batch.null_count = 1;
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_INVALID);
    assert_non_null(strstr(err.message, "null as a whole"));
    batch.null_count = 0;
    field.format = "ttm"; /* another schema than at first */
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_INVALID);
    field.format = "l", field.name = "d";
    assert_int_equal(engine->aggregate(engine, places, &ask_number, NULL, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "the source could not be read to its end");
    o.error = 13;
    assert_int_equal(engine->describe(engine, &inventory, NULL, &err), TAMIS_SYSTEM);
    assert_string_equal(err.message, "stream: open failed with error 13");
    engine->free(engine);
    tamis_source_free(source);
    assert_int_equal(tamis_source_streams(&source, NULL, NULL, &err), TAMIS_INVALID);
}

int main(void)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(kinds),
                                     cmocka_unit_test(plain_arrays),
                                     cmocka_unit_test(bad_arrow),
                                     cmocka_unit_test(streams),
                                     cmocka_unit_test(texts_beyond_their_bytes),
                                     cmocka_unit_test(views),
                                     cmocka_unit_test(dictionaries_and_runs),
                                     cmocka_unit_test(decimals_dates_halves),
                                     cmocka_unit_test(masked_rows),
                                     cmocka_unit_test(typed_columns),
                                     cmocka_unit_test(streams_opened_again)};
    return cmocka_run_group_tests(all, NULL, NULL);
}
