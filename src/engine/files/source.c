#include "engine/files/source.h"

#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/files/arrays.h"
#include "engine/files/scan.h"

/* Batches of rows, all with the same columns; arrays[b * column_count + c] is column c of batch b. */
struct tamis_source {
    char **names;
    size_t column_count;
    tmi_array *arrays;
    tmi_array *dictionaries; /* Arrow dictionaries, one per array */
    size_t batch_count;
    int64_t *starts; /* the number of the first row of each batch, and the number of rows at the end */
    bool is_arrow;
    struct ArrowArray **owned; /* batches of a stream, released with the source */
    size_t owned_count;
    tamis_answer *answer; /* NULL: the rows are in the arrays */
    void *context;
};

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
    tmi_free(source->dictionaries);
    tmi_free(source->starts);
    release_batches(source->owned, source->owned_count);
    tmi_free(source);
}

static tamis_source *new_source(size_t batch_count)
{
    tamis_source *source = tmi_alloc(1, sizeof *source);
    if (!source) return NULL;
    source->batch_count = batch_count;
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

static tamis_status add_array(tamis_source *source, const char *name, tmi_array_kind kind, const void *values, tamis_error *err)
{
    if (!source || source->is_arrow || source->answer)
        return tmi_fail(err, TAMIS_INVALID, "source: must be one that tamis_source_new made");
    if (!values && source->starts[1] > 0) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    tmi_array *arrays = tmi_realloc(source->arrays, source->column_count + 1, sizeof *arrays);
    if (!arrays) return tmi_fail_memory(err);
    source->arrays = arrays;
    tamis_status status = add_name(source, name, err);
    if (status != TAMIS_OK) return status;
    arrays[source->column_count++] = (tmi_array){.kind = kind, .values = values, .length = source->starts[1]};
    return TAMIS_OK;
}

tamis_status tamis_source_numbers(tamis_source *source, const char *name, const double *values, tamis_error *err)
{
    return add_array(source, name, TMI_ARRAY_F64, values, err);
}

tamis_status tamis_source_integers(tamis_source *source, const char *name, const int64_t *values, tamis_error *err)
{
    return add_array(source, name, TMI_ARRAY_I64, values, err);
}

tamis_status tamis_source_texts(tamis_source *source, const char *name, const char *const *texts, tamis_error *err)
{
    return add_array(source, name, TMI_ARRAY_POINTERS, texts, err);
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

/* ---- Arrow ---- */

static tmi_array_kind kind_of(const char *format)
{
    static const struct {
        const char *format;
        tmi_array_kind kind;
    } known[] = {{"n", TMI_ARRAY_NULL}, {"b", TMI_ARRAY_BOOL},      {"c", TMI_ARRAY_I8},  {"C", TMI_ARRAY_U8},
                 {"s", TMI_ARRAY_I16},  {"S", TMI_ARRAY_U16},       {"i", TMI_ARRAY_I32}, {"I", TMI_ARRAY_U32},
                 {"l", TMI_ARRAY_I64},  {"L", TMI_ARRAY_U64},       {"f", TMI_ARRAY_F32}, {"g", TMI_ARRAY_F64},
                 {"u", TMI_ARRAY_UTF8}, {"U", TMI_ARRAY_LARGE_UTF8}};
    for (size_t i = 0; format && i < sizeof known / sizeof *known; i++)
        if (strcmp(format, known[i].format) == 0) return known[i].kind;
    return format && format[0] == 't' ? TMI_ARRAY_DATE : TMI_ARRAY_OTHER;
}

/* One column of a batch; `shift` is the offset of the batch itself. False if its buffers do not fit its kind. We cannot check
 * that the buffers are as long as the array says. A dictionary has none of its own (`dictionary` is NULL then). */
static bool take_array(tmi_array *to, tmi_array *dictionary, const struct ArrowSchema *schema, const struct ArrowArray *array,
                       int64_t shift, int64_t rows)
{
    if (array->length < rows || array->length > TMI_MAX_ROWS || shift > array->length - rows || array->offset < 0 ||
        array->offset > TMI_MAX_ROWS)
        return false;
    *to = (tmi_array){.kind = kind_of(schema->format), .offset = array->offset + shift, .length = rows};
    const bool is_text = to->kind == TMI_ARRAY_UTF8 || to->kind == TMI_ARRAY_LARGE_UTF8;
    const int64_t buffers = to->kind == TMI_ARRAY_NULL ? 0 : is_text ? 3 : 2;
    if (to->kind == TMI_ARRAY_NULL || to->kind == TMI_ARRAY_DATE || to->kind == TMI_ARRAY_OTHER) return true;
    if (array->n_buffers < buffers || !array->buffers || (rows > 0 && !array->buffers[1])) return false;
    to->valid = array->null_count == 0 ? NULL : array->buffers[0];
    to->values = array->buffers[1];
    to->bytes = is_text ? array->buffers[2] : NULL;
    to->byte_count = to->bytes && to->values ? tmi_array_text_start(to, array->offset + array->length) : 0;
    if (!schema->dictionary) return true;
    if (!dictionary || !array->dictionary || to->kind > TMI_ARRAY_U64 || array->dictionary->length < 0 ||
        !take_array(dictionary, NULL, schema->dictionary, array->dictionary, 0, array->dictionary->length))
        return false;
    to->dictionary = dictionary;
    if (dictionary->kind != TMI_ARRAY_UTF8 && dictionary->kind != TMI_ARRAY_LARGE_UTF8) to->kind = TMI_ARRAY_OTHER;
    return true;
}

static tamis_status take_batch(tamis_source *source, size_t b, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                               tamis_error *err)
{
    if (!batch || batch->n_children != schema->n_children || !batch->children || batch->length < 0 || batch->offset < 0 ||
        batch->length > TMI_MAX_ROWS - source->starts[b])
        return tmi_fail(err, TAMIS_INVALID, "batches: number %zu does not fit the schema", b + 1);
    source->starts[b + 1] = source->starts[b] + batch->length;
    for (size_t c = 0; c < source->column_count; c++) {
        const size_t place = b * source->column_count + c;
        if (!batch->children[c] || !take_array(&source->arrays[place], &source->dictionaries[place], schema->children[c],
                                               batch->children[c], batch->offset, batch->length))
            return tmi_fail(err, TAMIS_INVALID, "batches: column %s of number %zu does not fit the schema", source->names[c],
                            b + 1);
    }
    return TAMIS_OK;
}

tamis_status tamis_source_arrow(tamis_source **source, const struct ArrowSchema *schema, const struct ArrowArray *const *batches,
                                size_t batch_count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!source) return tmi_fail(err, TAMIS_INVALID, "source: NULL");
    *source = NULL;
    if (!schema || !schema->format || strcmp(schema->format, "+s") != 0 || schema->n_children < 1 || !schema->children)
        return tmi_fail(err, TAMIS_INVALID, "schema: must be that of a record batch, with columns");
    if (!batches && batch_count > 0) return tmi_fail(err, TAMIS_INVALID, "batches: NULL");
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
    if (__builtin_mul_overflow(batch_count, columns, &arrays)) TMI_TRY(tmi_fail_memory(err));
    made->arrays = tmi_alloc(arrays, sizeof *made->arrays);
    made->dictionaries = tmi_alloc(arrays, sizeof *made->dictionaries);
    if (!made->arrays || !made->dictionaries) TMI_TRY(tmi_fail_memory(err));
    for (size_t b = 0; b < batch_count; b++) TMI_TRY(take_batch(made, b, schema, batches[b], err));
    *source = made;
    made = NULL;
done:
    tamis_source_free(made);
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
        const tmi_array *array = &source->arrays[b * source->column_count + c];
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

/* The canonical texts of numbers: only their lengths are kept until the last one is written, since the bytes may move. */
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
    if (column->kind == TMI_NUMBER && array->kind == TMI_ARRAY_F64 && !array->valid) {
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

/* Part p of n: the rows from p/n to (p + 1)/n of the total, in pieces that never cross the end of a batch. */
static tamis_status scan(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err)
{
    (void)codes; /* the texts are handed out */
    const tamis_source *source = scanner->state;
    const int64_t rows = source->starts[source->batch_count]; /* at most 2^40, and parts are few */
    const int64_t from = rows * (int64_t)part / (int64_t)parts, to = rows * (int64_t)(part + 1) / (int64_t)parts;
    column_room *rooms = tmi_alloc(count, sizeof *rooms);
    tmi_raw *raw = tmi_alloc(count, sizeof *raw);
    tamis_status status = rooms && raw ? TAMIS_OK : tmi_fail_memory(err);
    size_t b = 0;
    for (int64_t at = from; status == TAMIS_OK && at < to;) {
        while (source->starts[b + 1] <= at) b++;
        const int64_t end = source->starts[b + 1] < to ? source->starts[b + 1] : to;
        const size_t n = end - at < TMI_SCAN_ROWS ? (size_t)(end - at) : TMI_SCAN_ROWS;
        for (size_t i = 0; i < count && status == TAMIS_OK; i++)
            status = take_column(&raw[i], &rooms[i],
                                 &source->arrays[b * source->column_count + place_of(source, columns[i]->name)], columns[i],
                                 at - source->starts[b], n, err);
        at += (int64_t)n;
        if (status == TAMIS_OK) status = take(context, raw, n, (double)(at - from) / (double)(to - from), err);
    }
    for (size_t i = 0; rooms && i < count; i++) {
        if (rooms[i].bytes) tmi_wipe(rooms[i].bytes, rooms[i].room);
        tmi_free(rooms[i].bytes);
    }
    if (rooms) tmi_wipe(rooms, count * sizeof *rooms);
    tmi_free(rooms);
    tmi_free(raw);
    return status;
}

static void free_scanner(tmi_scanner *scanner) { tmi_free(scanner); /* the source belongs to the caller */ }

tamis_status tmi_engine_of_source(tmi_engine **engine, const tamis_source *source, unsigned threads, tamis_error *err)
{
    if (source->answer) return tmi_engine_asking(engine, source->answer, source->context, err);
    tmi_scanner *scanner = tmi_alloc(1, sizeof *scanner);
    *engine = NULL;
    if (!scanner) return tmi_fail_memory(err);
    *scanner = (tmi_scanner){.name = "memory",
                             .state = (void *)(uintptr_t)source,
                             .check = check,
                             .scan = scan,
                             .in_parts = true,
                             .free = free_scanner};
    return tmi_engine_take_scanner(engine, scanner, threads, err);
}
