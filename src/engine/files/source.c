#include "engine/files/source.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/text.h"
#include "base/words.h"
#include "engine/core/header.h"
#include "engine/files/arrays.h"
#include "engine/files/scan.h"

/* Batches of rows, all with the same columns. */
struct tamis_source {
    char **names;
    size_t column_count;
    tmi_array *arrays; /* batch by batch, column by column, STEPS for each */
    size_t batch_count;
    int64_t *starts; /* the number of the first row of each batch, and the number of rows at the end */
    bool is_arrow;
    struct ArrowArray **owned; /* batches of a stream, released with the source */
    size_t owned_count;
    tamis_answer *answer;    /* not NULL: the caller is asked */
    tmi_sql_road road;       /* with `run`: an engine is asked in SQL */
    char *texts[2];          /* its table and version */
    tamis_open_stream *open; /* not NULL: the rows are in streams, and there are no arrays */
    void *context;           /* of either */
    pid_t process;           /* that made it: what it refers to may be gone in a child of fork */
};

/* A column and what its elements go through: runs of a dictionary of values. */
#define STEPS 3

static tmi_array *array_at(const tamis_source *source, size_t batch, size_t column)
{
    return &source->arrays[(batch * source->column_count + column) * STEPS];
}

/* ---- making ---- */

static void release_batches(struct ArrowArray **batches, size_t count)
{
    for (size_t b = 0; b < count; b++) {
        if (batches[b]->release) batches[b]->release(batches[b]);
        tmi_free(batches[b]);
    }
    tmi_free(batches);
}

void tamis_source_free(tamis_source *source)
{
    if (!source) return;
    for (size_t c = 0; c < source->column_count; c++) tmi_free(source->names[c]);
    tmi_free(source->names);
    tmi_free(source->arrays);
    tmi_free(source->starts);
    for (size_t i = 0; i < 2; i++) tmi_free(source->texts[i]);
    release_batches(source->owned, source->owned_count);
    tmi_free(source);
}

static tamis_source *new_source(size_t batch_count)
{
    tamis_source *source = tmi_alloc(1, sizeof *source);
    if (!source) return NULL;
    source->batch_count = batch_count;
    source->process = getpid();
    source->starts = tmi_alloc(batch_count + 1, sizeof *source->starts);
    if (source->starts) return source;
    tmi_free(source);
    return NULL;
}

tamis_status tamis_source_new(tamis_source **source, int64_t rows, tamis_error *err)
{
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    if (rows < 0 || rows > TMI_MAX_ROWS) return tmi_fail(err, TAMIS_INVALID, "rows: must be 0 to 2^40");
    *source = new_source(1);
    if (!*source) return tmi_fail_memory(err);
    (*source)->starts[1] = rows;
    return TAMIS_OK;
}

static tamis_status add_name(tamis_source *source, const char *name, tamis_error *err)
{
    if (!name || name[0] == '\0') return tmi_fail(err, TAMIS_INVALID, "name: must be the name of a column");
    for (size_t c = 0; c < source->column_count; c++)
        if (strcmp(source->names[c], name) == 0) return tmi_fail(err, TAMIS_INVALID, "name: duplicate column %s", name);
    char **names = tmi_realloc(source->names, source->column_count + 1, sizeof *names);
    if (!names) return tmi_fail_memory(err);
    source->names = names;
    names[source->column_count] = tmi_copy_text(name, strlen(name));
    return names[source->column_count] ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status add_array(tamis_source *source, const char *name, tmi_array array, tamis_error *err)
{
    if (!source || source->is_arrow || source->answer || source->road.run || source->open)
        return tmi_fail(err, TAMIS_INVALID, "source: must be one that tamis_source_new made");
    if (!array.values && source->starts[1] > 0) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    tmi_array *arrays = tmi_realloc(source->arrays, (source->column_count + 1) * STEPS, sizeof *arrays);
    if (!arrays) return tmi_fail_memory(err);
    source->arrays = arrays;
    for (size_t c = 0; c < source->column_count; c++) /* they have moved */
        if (arrays[c * STEPS].through) arrays[c * STEPS].through = &arrays[c * STEPS + 1];
    tamis_status status = add_name(source, name, err);
    if (status != TAMIS_OK) return status;
    array.length = source->starts[1];
    tmi_array *to = array_at(source, 0, source->column_count++);
    if (array.through) to[1] = *array.through;
    if (array.through) array.through = &to[1];
    *to = array;
    return TAMIS_OK;
}

/* The levels of a factor as an array that positions go through. */
static tamis_status check_levels(const tamis_column_data *column, tamis_error *err)
{
    if (column->level_count < 0 || column->base < 0 || (column->level_count > 0 && !column->levels))
        return tmi_fail(err, TAMIS_INVALID, "levels: expected a list of texts, their number, and a first code of at least 0");
    return TAMIS_OK;
}

tamis_status tamis_source_column(tamis_source *source, const tamis_column_data *column, tamis_error *err)
{
    static const tmi_array_kind kinds[] = {
        [TAMIS_F64] = TMI_ARRAY_F64,           [TAMIS_I64] = TMI_ARRAY_I64,        [TAMIS_I32] = TMI_ARRAY_I32,
        [TAMIS_BOOL32] = TMI_ARRAY_BOOL32,     [TAMIS_TEXTS] = TMI_ARRAY_POINTERS, [TAMIS_CODES32] = TMI_ARRAY_I32,
        [TAMIS_DAYS_F64] = TMI_ARRAY_DAYS_F64,
    };
    tamis_column_data of;
    tamis_status status = tmi_options_take(&of, sizeof of, column, "column", err);
    if (status != TAMIS_OK) return status;
    if (!column) return tmi_fail(err, TAMIS_INVALID, "column: NULL");
    if ((size_t)of.type >= sizeof kinds / sizeof *kinds)
        return tmi_fail(err, TAMIS_INVALID, "type: not one of tamis_column_type");
    if (of.type == TAMIS_CODES32) status = check_levels(&of, err);
    if (status != TAMIS_OK) return status;
    const tmi_array levels = {.kind = TMI_ARRAY_POINTERS, .values = of.levels, .length = of.level_count};
    const bool is_integer = of.type == TAMIS_I64 || of.type == TAMIS_I32 || of.type == TAMIS_BOOL32 || of.type == TAMIS_CODES32;
    const tmi_array array = {.kind = kinds[of.type],
                             .values = of.values,
                             .has_missing = is_integer && of.missing,
                             .missing = is_integer && of.missing ? *of.missing : 0,
                             .base = of.type == TAMIS_CODES32 ? of.base : 0,
                             .through = of.type == TAMIS_CODES32 ? &levels : NULL};
    return add_array(source, of.name, array, err);
}

tamis_status tamis_source_asking(tamis_source **source, tamis_answer *answer, void *context, tamis_error *err)
{
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    if (!answer) return tmi_fail(err, TAMIS_INVALID, "answer: NULL");
    *source = new_source(0);
    if (!*source) return tmi_fail_memory(err);
    (*source)->answer = answer;
    (*source)->context = context;
    return TAMIS_OK;
}

tamis_status tamis_source_sql(tamis_source **source, const tamis_sql *sql, tamis_error *err)
{
    tamis_sql of;
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    tamis_status status = tmi_options_take(&of, sizeof of, sql, "sql", err);
    if (status != TAMIS_OK) return status;
    if (!of.dialect || !tmi_sql_dialect(of.dialect))
        return tmi_fail(err, TAMIS_INVALID, "dialect: %.40s is unknown; use spark, duckdb or postgres",
                        of.dialect ? of.dialect : "NULL");
    if (!of.table || !*of.table || strlen(of.table) > TMI_SQL_LONGEST_TEXT)
        return tmi_fail(err, TAMIS_INVALID, "table: must be what comes after FROM, at most %d bytes", TMI_SQL_LONGEST_TEXT);
    if (of.rows_version && strlen(of.rows_version) > TMI_SQL_LONGEST_TEXT)
        return tmi_fail(err, TAMIS_INVALID, "rows_version: must have at most %d bytes", TMI_SQL_LONGEST_TEXT);
    if (!of.run) return tmi_fail(err, TAMIS_INVALID, "run: NULL");
    tamis_source *made = new_source(0);
    if (!made) return tmi_fail_memory(err);
    TMI_TRY(tmi_copy_string(&made->texts[0], of.table, err));
    TMI_TRY(tmi_copy_string(&made->texts[1], of.rows_version, err));
    made->road = (tmi_sql_road){tmi_sql_dialect(of.dialect), made->texts[0], made->texts[1], of.run, of.context, NULL};
    *source = made;
    return TAMIS_OK;
done:
    tamis_source_free(made);
    return status;
}

/* ---- Arrow ---- */

/* Whether the metadata of a field, pairs of texts behind their lengths, name this type of an extension. */
static bool is_extension(const struct ArrowSchema *schema, const char *type)
{
    static const char key[] = "ARROW:extension:name";
    const char *at = schema->metadata;
    int32_t pairs = 0, length;
    if (!at) return false;
    memcpy(&pairs, at, sizeof pairs);
    at += sizeof pairs;
    for (int32_t i = 0; i < 2 * pairs; i++) { /* keys are even */
        const bool is_key = i % 2 == 0;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length < 0) return false;
        if (is_key && (size_t)length == sizeof key - 1 && memcmp(at, key, sizeof key - 1) == 0) {
            at += length;
            memcpy(&length, at, sizeof length);
            return (size_t)length == strlen(type) && memcmp(at + sizeof length, type, strlen(type)) == 0;
        }
        at += length;
    }
    return false;
}

/* "d:19,2" or "d:19,2,256". */
static bool take_decimal(tmi_array *to, const char *format)
{
    int precision, scale, bits = 128;
    const int found = sscanf(format, "d:%d,%d,%d", &precision, &scale, &bits);
    if (found < 2 || (bits != 32 && bits != 64 && bits != 128 && bits != 256) || scale < -1000 || scale > 1000) return false;
    to->width = bits / 8;
    to->scale = scale;
    return true;
}

/* The kind of a field, and what else its format says. */
static void take_format(tmi_array *to, const struct ArrowSchema *schema)
{
    static const struct {
        const char *format;
        tmi_array_kind kind;
    } known[] = {{"n", TMI_ARRAY_NULL},       {"b", TMI_ARRAY_BOOL},  {"c", TMI_ARRAY_I8},       {"C", TMI_ARRAY_U8},
                 {"s", TMI_ARRAY_I16},        {"S", TMI_ARRAY_U16},   {"i", TMI_ARRAY_I32},      {"I", TMI_ARRAY_U32},
                 {"l", TMI_ARRAY_I64},        {"L", TMI_ARRAY_U64},   {"e", TMI_ARRAY_F16},      {"f", TMI_ARRAY_F32},
                 {"g", TMI_ARRAY_F64},        {"u", TMI_ARRAY_UTF8},  {"vu", TMI_ARRAY_VIEWS},   {"tdD", TMI_ARRAY_DAYS32},
                 {"U", TMI_ARRAY_LARGE_UTF8}, {"+r", TMI_ARRAY_RUNS}, {"tdm", TMI_ARRAY_DAYS_MS}};
    const char *format = schema->format;
    to->kind = format && format[0] == 't' ? TMI_ARRAY_TIME : TMI_ARRAY_OTHER;
    for (size_t i = 0; format && i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) to->kind = known[i].kind;
    if (format && format[0] == 'd' && take_decimal(to, format)) to->kind = TMI_ARRAY_DECIMAL;
    if (format && strcmp(format, "w:16") == 0 && is_extension(schema, "arrow.uuid")) to->kind = TMI_ARRAY_UUID;
}

static bool fits(const struct ArrowArray *array, int64_t shift, int64_t rows)
{
    return array->length >= rows && array->length <= TMI_MAX_ROWS && shift <= array->length - rows && array->offset >= 0 &&
           array->offset <= TMI_MAX_ROWS;
}

/* The buffers of an array that is no runs. */
static bool take_buffers(tmi_array *to, const struct ArrowArray *array, int64_t rows)
{
    const bool is_text = to->kind == TMI_ARRAY_UTF8 || to->kind == TMI_ARRAY_LARGE_UTF8;
    const int64_t buffers = is_text || to->kind == TMI_ARRAY_VIEWS ? 3 : 2;
    if (array->n_buffers < buffers || !array->buffers || (rows > 0 && !array->buffers[1])) return false;
    to->valid = array->null_count == 0 ? NULL : array->buffers[0];
    to->values = array->buffers[1];
    to->bytes = is_text ? array->buffers[2] : NULL;
    to->byte_count = to->bytes && to->values ? tmi_array_text_start(to, array->offset + array->length) : 0;
    if (to->kind == TMI_ARRAY_VIEWS) { /* validity, views, those of long texts, the lengths of these */
        to->buffers = array->buffers + 2;
        to->buffer_count = array->n_buffers - 3;
        to->buffer_lengths = array->buffers[array->n_buffers - 1];
        if (to->buffer_count > 0 && !to->buffer_lengths) return false;
    }
    return true;
}

static bool take_array(tmi_array *to, size_t steps, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t shift, int64_t rows);

/* Two children: where runs end, integers without nulls, and the values. */
static bool take_runs(tmi_array *to, size_t steps, const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    tmi_array ends = {0};
    if (schema->n_children != 2 || !schema->children || !schema->children[0] || !schema->children[1]) return false;
    take_format(&ends, schema->children[0]);
    to->width = ends.kind == TMI_ARRAY_I16 ? 2 : ends.kind == TMI_ARRAY_I32 ? 4 : ends.kind == TMI_ARRAY_I64 ? 8 : 0;
    if (to->width == 0) return false;
    to->through = to + 1;
    if (!array) return take_array(to + 1, steps - 1, schema->children[1], NULL, 0, 0);
    if (array->n_children != 2 || !array->children || !array->children[0] || !array->children[1]) return false;
    const struct ArrowArray *where = array->children[0], *values = array->children[1];
    if (!fits(where, 0, where->length) || where->length < 0 || where->n_buffers < 2 || !where->buffers ||
        (where->length > 0 && !where->buffers[1]) || values->length < where->length)
        return false;
    to->values = (const char *)where->buffers[1] + where->offset * to->width;
    to->buffer_count = where->length;
    return take_array(to + 1, steps - 1, schema->children[1], values, 0, values->length);
}

/* One column of a batch, in to[0], and what its elements go through, in to[1] ...; `shift` is the offset of the batch itself.
 * array NULL: the types alone. False if its buffers do not fit its kind. We cannot check that the buffers are as long as the
 * array says. */
static bool take_array(tmi_array *to, size_t steps, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t shift, int64_t rows)
{
    if (array && !fits(array, shift, rows)) return false;
    *to = (tmi_array){.offset = array ? array->offset + shift : 0, .length = rows};
    take_format(to, schema);
    if (to->kind == TMI_ARRAY_NULL || to->kind == TMI_ARRAY_TIME || to->kind == TMI_ARRAY_OTHER) return true;
    if (to->kind == TMI_ARRAY_RUNS) return steps > 1 && take_runs(to, steps, schema, array);
    if (array && !take_buffers(to, array, rows)) return false;
    if (!schema->dictionary) return true;
    if (steps < 2 || to->kind < TMI_ARRAY_I8 || to->kind > TMI_ARRAY_U64) return false;
    if (array && (!array->dictionary || array->dictionary->length < 0)) return false;
    to->through = to + 1;
    /* a dictionary is not a dictionary itself, nor does it have runs */
    return !schema->dictionary->dictionary &&
           take_array(to + 1, 1, schema->dictionary, array ? array->dictionary : NULL, 0, array ? array->dictionary->length : 0);
}

/* Rows that a batch itself masks are no rows, and nothing here could leave them out one by one. */
static bool has_masked_rows(const struct ArrowArray *batch)
{
    const uint8_t *valid = batch->n_buffers > 0 && batch->buffers ? batch->buffers[0] : NULL;
    for (int64_t i = 0; valid && batch->null_count != 0 && i < batch->length; i++) {
        const int64_t at = batch->offset + i;
        if (!(valid[at / 8] >> (at % 8) & 1)) return true;
    }
    return false;
}

static tamis_status take_batch(tamis_source *source, size_t b, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                               tamis_error *err)
{
    if (!batch || batch->n_children != schema->n_children || !batch->children || batch->length < 0 || batch->offset < 0 ||
        batch->length > TMI_MAX_ROWS - source->starts[b])
        return tmi_fail(err, TAMIS_INVALID, "batches: number %zu does not fit the schema", b + 1);
    if (has_masked_rows(batch))
        return tmi_fail(err, TAMIS_INVALID, "batches: number %zu has rows that are null as a whole: leave them out", b + 1);
    source->starts[b + 1] = source->starts[b] + batch->length;
    for (size_t c = 0; c < source->column_count; c++) {
        tmi_array *array = array_at(source, b, c);
        if (!batch->children[c] ||
            !take_array(array, STEPS, schema->children[c], batch->children[c], batch->offset, batch->length))
            return tmi_fail(err, TAMIS_INVALID, "batches: column %s of number %zu does not fit the schema", source->names[c],
                            b + 1);
    }
    return TAMIS_OK;
}

/* A source with the columns of a schema and this many batches, which are not taken yet. */
static tamis_status new_of_schema(tamis_source **source, const struct ArrowSchema *schema, size_t batch_count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *source = NULL;
    if (!schema || !schema->format || strcmp(schema->format, "+s") != 0 || schema->n_children < 1 || !schema->children)
        return tmi_fail(err, TAMIS_INVALID, "schema: must be that of a record batch, with columns");
    const size_t columns = (size_t)schema->n_children;
    tamis_source *made = new_source(batch_count);
    if (!made) return tmi_fail_memory(err);
    made->is_arrow = true;
    for (size_t c = 0; c < columns; c++) {
        if (!schema->children[c]) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "schema: a column is NULL"));
        TMI_TRY(add_name(made, schema->children[c]->name, err));
        made->column_count++;
    }
    size_t arrays;
    if (__builtin_mul_overflow(batch_count, columns * STEPS, &arrays)) TMI_TRY(tmi_fail_memory(err));
    made->arrays = tmi_alloc(arrays, sizeof *made->arrays);
    if (!made->arrays) TMI_TRY(tmi_fail_memory(err));
    *source = made;
    made = NULL;
done:
    tamis_source_free(made);
    return status;
}

tamis_status tamis_source_arrow(tamis_source **source, const struct ArrowSchema *schema, const struct ArrowArray *const *batches,
                                size_t batch_count, tamis_error *err)
{
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    if (!batches && batch_count > 0) return tmi_fail(err, TAMIS_INVALID, "batches: NULL");
    tamis_source *made;
    tamis_status status = new_of_schema(&made, schema, batch_count, err);
    for (size_t b = 0; status == TAMIS_OK && b < batch_count; b++) status = take_batch(made, b, schema, batches[b], err);
    if (status == TAMIS_OK) *source = made;
    else tamis_source_free(made);
    return status;
}

static tamis_status stream_failed(const char *call, int code, tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "stream: %s failed with error %d", call, code);
}

/* The next batch, behind `count` others; *ended instead of a batch after the last one. */
static tamis_status next_batch(struct ArrowArray ***batches, size_t *count, bool *ended, struct ArrowArrayStream *stream,
                               tamis_error *err)
{
    struct ArrowArray **longer = tmi_realloc(*batches, *count + 1, sizeof *longer);
    if (!longer) return tmi_fail_memory(err);
    *batches = longer;
    struct ArrowArray *batch = tmi_alloc(1, sizeof *batch);
    if (!batch) return tmi_fail_memory(err);
    const int code = stream->get_next(stream, batch);
    *ended = code == 0 && !batch->release;
    if (code == 0 && !*ended) {
        longer[(*count)++] = batch;
        return TAMIS_OK;
    }
    tmi_free(batch);
    return code == 0 ? TAMIS_OK : stream_failed("get_next", code, err);
}

tamis_status tamis_source_take_stream(tamis_source **source, struct ArrowArrayStream *stream, tamis_error *err)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray **batches = NULL;
    size_t count = 0;
    bool ended = false;
    tamis_status status = TAMIS_OK;
    if (source) *source = NULL;
    if (!stream || !stream->release) return tmi_fail(err, TAMIS_INVALID, "stream: %s", stream ? "already released" : "NULL");
    if (!source) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "source: NULL"));
    const int code = stream->get_schema(stream, &schema);
    if (code != 0) TMI_TRY(stream_failed("get_schema", code, err));
    while (!ended) TMI_TRY(next_batch(&batches, &count, &ended, stream, err));
    TMI_TRY(tamis_source_arrow(source, &schema, (const struct ArrowArray *const *)batches, count, err));
    (*source)->owned = batches;
    (*source)->owned_count = count;
    batches = NULL;
    count = 0;

done:
    release_batches(batches, count);
    if (schema.release) schema.release(&schema);
    stream->release(stream);
    return status;
}

tamis_status tamis_source_streams(tamis_source **source, tamis_open_stream *open, void *context, tamis_error *err)
{
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    if (!open) return tmi_fail(err, TAMIS_INVALID, "open: NULL");
    *source = new_source(0);
    if (!*source) return tmi_fail_memory(err);
    (*source)->open = open;
    (*source)->context = context;
    return TAMIS_OK;
}

/* ---- scanning ---- */

static size_t place_of(const tamis_source *source, const char *name)
{
    size_t c = 0;
    while (c < source->column_count && strcmp(source->names[c], name) != 0) c++;
    return c;
}

/* Reports what is wrong with a column of the source, one line per problem. */
static tamis_status check_column(const tamis_source *source, const tmi_column *column, const tmi_codes *codes, tamis_error *err)
{
    static const tmi_source_part only;
    const size_t c = place_of(source, column->name);
    if (c == source->column_count)
        return tmi_fail_column(err, NULL, "there is", column->name, tmi_word_of_list, source->names, source->column_count);
    for (size_t b = 0; b < source->batch_count; b++) { /* all batches have the same type, but one may have only nulls */
        const tmi_array *array = array_at(source, b, c);
        const tmi_form form = tmi_array_form(array);
        if (column->kind == TMI_NUMBER && tmi_class_check(tmi_array_class(array), &only, column->name, err) != TAMIS_OK)
            return TAMIS_INVALID;
        if (column->kind != TMI_NUMBER && form == TMI_FORM_NONE)
            return tmi_fail_more(err, TAMIS_INVALID, "column %s " TMI_NO_FORM, column->name);
        if (codes && (tmi_values_check(column->values, column->value_count, form, &only, column->name, err) != TAMIS_OK ||
                      tmi_codes_check(codes, form, err) != TAMIS_OK))
            return TAMIS_INVALID;
    }
    return TAMIS_OK;
}

static tamis_status check(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    (void)watch;
    tmi_error_reset(err);
    for (size_t i = 0; i < count; i++)
        if (check_column(scanner->state, columns[i], codes[i], err) != TAMIS_OK) status = TAMIS_INVALID;
    return status;
}

/* Room for the cells of a piece. Texts of numbers are written one after another; most are short. */
typedef struct column_room {
    double numbers[TMI_SCAN_ROWS];
    tmi_cell texts[TMI_SCAN_ROWS];
    char *bytes;
    size_t room;
} column_room;

/* The canonical texts of what is no text: only their lengths are kept until the last one is written, since the bytes may move. */
static bool take_number_texts(column_room *room, const tmi_array *array, int64_t first, size_t n)
{
    char text[TMI_NUMBER_TEXT];
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const tmi_cell cell = tmi_array_text(array, first + (int64_t)i, text);
        if (cell.length > room->room - used) {
            const size_t more = 2 * room->room + TMI_NUMBER_TEXT;
            char *bytes = tmi_regrow(room->bytes, used, more, 1);
            if (!bytes) return false;
            room->bytes = bytes;
            room->room = more;
        }
        if (cell.length > 0) memcpy(room->bytes + used, cell.bytes, cell.length);
        used += cell.length;
        room->texts[i] = (tmi_cell){NULL, cell.length};
    }
    used = 0;
    for (size_t i = 0; i < n; i++) {
        if (room->texts[i].length > 0) room->texts[i].bytes = room->bytes + used;
        used += room->texts[i].length;
    }
    tmi_wipe(text, sizeof text);
    return true;
}

static tamis_status take_column(tmi_raw *raw, column_room *room, const tmi_array *array, const tmi_column *column, int64_t first,
                                size_t n, tamis_error *err)
{
    *raw = (tmi_raw){0};
    if (column->kind == TMI_NUMBER && array->kind == TMI_ARRAY_F64 && !array->valid && !array->through) {
        raw->numbers = (const double *)array->values + array->offset + first;
    } else if (column->kind == TMI_NUMBER) {
        tmi_array_numbers(room->numbers, array, first, n, column->missing_codes, column->missing_code_count);
        raw->numbers = room->numbers;
    } else {
        raw->texts = room->texts;
        raw->form = tmi_array_form(array);
        if (!tmi_array_has_texts(array)) return take_number_texts(room, array, first, n) ? TAMIS_OK : tmi_fail_memory(err);
        for (size_t i = 0; i < n; i++) room->texts[i] = tmi_array_text(array, first + (int64_t)i, NULL);
    }
    return TAMIS_OK;
}

/* Room for the pieces of some columns. */
typedef struct piece_room {
    column_room *rooms;
    tmi_raw *raw;
    size_t count;
} piece_room;

static tamis_status make_room(piece_room *room, size_t count, tamis_error *err)
{
    *room = (piece_room){tmi_alloc(count, sizeof *room->rooms), tmi_alloc(count, sizeof *room->raw), count};
    return room->rooms && room->raw ? TAMIS_OK : tmi_fail_memory(err);
}

static void clear_room(piece_room *room)
{
    for (size_t i = 0; room->rooms && i < room->count; i++) {
        if (room->rooms[i].bytes) tmi_wipe(room->rooms[i].bytes, room->rooms[i].room);
        tmi_free(room->rooms[i].bytes);
    }
    if (room->rooms) tmi_wipe(room->rooms, room->count * sizeof *room->rooms);
    tmi_free(room->rooms);
    tmi_free(room->raw);
}

/* The rows from `from` to `to` in pieces that never cross the end of a batch. share_unknown: there are more rows elsewhere. */
static tamis_status scan_rows(const tamis_source *source, const tmi_column *const *columns, piece_room *room, int64_t from,
                              int64_t to, bool share_unknown, tmi_take_raw *take, void *context, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t b = 0;
    for (int64_t at = from; status == TAMIS_OK && at < to;) {
        while (source->starts[b + 1] <= at) b++;
        const int64_t end = source->starts[b + 1] < to ? source->starts[b + 1] : to;
        const size_t n = end - at < TMI_SCAN_ROWS ? (size_t)(end - at) : TMI_SCAN_ROWS;
        for (size_t i = 0; i < room->count && status == TAMIS_OK; i++)
            status = take_column(&room->raw[i], &room->rooms[i], array_at(source, b, place_of(source, columns[i]->name)),
                                 columns[i], at - source->starts[b], n, err);
        at += (int64_t)n;
        const double share = share_unknown ? -1 : (double)(at - from) / (double)(to - from);
        if (status == TAMIS_OK) status = take(context, room->raw, n, share, err);
    }
    return status;
}

/* Part p of n: the rows from p/n to (p + 1)/n of the total. */
static tamis_status scan(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err)
{
    (void)codes; /* the texts are handed out */
    const tamis_source *source = scanner->state;
    const int64_t rows = source->starts[source->batch_count]; /* at most 2^40, and parts are few */
    const int64_t from = rows * (int64_t)part / (int64_t)parts, to = rows * (int64_t)(part + 1) / (int64_t)parts;
    piece_room room;
    tamis_status status = make_room(&room, count, err);
    if (status == TAMIS_OK) status = scan_rows(source, columns, &room, from, to, false, take, context, err);
    clear_room(&room);
    return status;
}

/* ---- streams that can be opened again ---- */

/* Opens the stream and reads its schema. The caller releases both, also after a failure. */
static tamis_status open_stream(struct ArrowArrayStream *stream, struct ArrowSchema *schema, const tamis_source *source,
                                tamis_error *err)
{
    *stream = (struct ArrowArrayStream){0};
    *schema = (struct ArrowSchema){0};
    int code = source->open(source->context, stream);
    if (code != 0) return stream_failed("open", code, err);
    if (!stream->release) return tmi_fail(err, TAMIS_INVALID, "stream: already released");
    code = stream->get_schema(stream, schema);
    return code == 0 ? TAMIS_OK : stream_failed("get_schema", code, err);
}

static void close_stream(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    if (schema->release) schema->release(schema);
    if (stream->release) stream->release(stream);
}

/* By the types in the schema: a batch without rows. */
static tamis_status check_stream(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                                 const tamis_watch *watch, tamis_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    tamis_source *types = NULL;
    tamis_status status;
    TMI_TRY(open_stream(&stream, &schema, scanner->state, err));
    TMI_TRY(new_of_schema(&types, &schema, 1, err));
    for (size_t c = 0; c < types->column_count; c++)
        if (!take_array(array_at(types, 0, c), STEPS, schema.children[c], NULL, 0, 0))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "schema: column %s has no known layout", types->names[c]));
    TMI_TRY(check(&(tmi_scanner){.state = types}, columns, codes, count, watch, err));
done:
    tamis_source_free(types);
    close_stream(&stream, &schema);
    return status;
}

static tamis_status scan_stream(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                                size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err)
{
    (void)codes;
    (void)part; /* the only one */
    (void)parts;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch = {0};
    tamis_source *one = NULL;
    piece_room room = {0};
    tamis_status status;
    TMI_TRY(open_stream(&stream, &schema, scanner->state, err));
    TMI_TRY(new_of_schema(&one, &schema, 1, err));
    for (size_t i = 0; i < count; i++)
        if (place_of(one, columns[i]->name) == one->column_count)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "stream: it has other columns than before"));
    TMI_TRY(make_room(&room, count, err));
    for (;;) {
        const int code = stream.get_next(&stream, &batch);
        if (code != 0) TMI_TRY(stream_failed("get_next", code, err));
        if (!batch.release) break;
        TMI_TRY(take_batch(one, 0, &schema, &batch, err));
        TMI_TRY(scan_rows(one, columns, &room, 0, one->starts[1], true, take, context, err));
        batch.release(&batch);
        batch.release = NULL;
    }
done:
    if (batch.release) batch.release(&batch);
    clear_room(&room);
    tamis_source_free(one);
    close_stream(&stream, &schema);
    return status;
}

static void free_scanner(tmi_scanner *scanner) { tmi_free(scanner); /* the source belongs to the caller */ }

/* ---- the header ---- */

static tmi_header_type type_of(const tmi_array *array)
{
    if (tmi_array_form(array) == TMI_FORM_BOOLEAN) return TMI_HEADER_TEXT; /* a category: true, false */
    switch (tmi_array_class(array)) {
    case TMI_CLASS_OPEN: return TMI_HEADER_UNKNOWN;
    case TMI_CLASS_NUMBER: return TMI_HEADER_NUMBER;
    case TMI_CLASS_TEXT: return TMI_HEADER_TEXT;
    case TMI_CLASS_DATE: return TMI_HEADER_DATE;
    default: return TMI_HEADER_OTHER;
    }
}

tamis_status tmi_header_arrow(tmi_header *header, const struct ArrowSchema *schema, tamis_error *err)
{
    tamis_source *types = NULL;
    tamis_status status;
    TMI_TRY(new_of_schema(&types, schema, 1, err));
    for (size_t c = 0; c < types->column_count; c++) {
        const bool known = take_array(array_at(types, 0, c), STEPS, schema->children[c], NULL, 0, 0);
        TMI_TRY(tmi_header_add(header, types->names[c], NULL, known ? type_of(array_at(types, 0, c)) : TMI_HEADER_OTHER, err));
    }
done:
    tamis_source_free(types);
    return status;
}

tamis_status tmi_engine_of_source(tmi_engine **engine, const tamis_source *source, unsigned threads, tamis_error *err)
{
    *engine = NULL;
    if (source->process != getpid())
        return tmi_fail(err, TAMIS_INVALID, "rows: another process made this source, of which this one is a copy: make one here");
    if (source->answer) return tmi_engine_asking(engine, source->answer, source->context, err);
    if (source->road.run) return tmi_engine_sql(engine, &source->road, err);
    tmi_scanner *scanner = tmi_alloc(1, sizeof *scanner);
    *engine = NULL;
    if (!scanner) return tmi_fail_memory(err);
    *scanner = (tmi_scanner){.name = "memory",
                             .state = (void *)(uintptr_t)source,
                             .check = source->open ? check_stream : check,
                             .scan = source->open ? scan_stream : scan,
                             .in_parts = !source->open,
                             .free = free_scanner};
    return tmi_engine_take_scanner(engine, scanner, threads, err);
}
