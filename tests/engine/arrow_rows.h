/* The rows of the conformance test in memory: plain arrays, and Arrow batches. They live until the next call. */
#ifndef TESTS_ENGINE_ARROW_ROWS_H
#define TESTS_ENGINE_ARROW_ROWS_H

#include "engine/files/source.h"
#include "tests/engine/reference.h"

/* ---- arrays ---- */

/* x, y and p as numbers, where they are finite or not as they are; all else as texts. */
static inline const tamis_source *rows_as_arrays(const row *list, size_t n)
{
    static tamis_source *source;
    static double *numbers[COLUMNS];
    static const char **texts[COLUMNS];
    tamis_error err = {0};
    tamis_source_free(source);
    assert_int_equal(tamis_source_new(&source, (int64_t)n, &err), TAMIS_OK);
    for (size_t c = 0; c < COLUMNS; c++) {
        free(texts[c]);
        free(numbers[c]);
        texts[c] = calloc(n + 1, sizeof *texts[c]);
        numbers[c] = calloc(n + 1, sizeof *numbers[c]);
        for (size_t i = 0; i < n; i++) texts[c][i] = list[i].text[c][0] ? list[i].text[c] : NULL;
        for (size_t i = 0; i < n; i++) numbers[c][i] = list[i].number[c];
        tamis_status status = is_number_column(c) ? tamis_source_numbers(source, column_names[c], numbers[c], &err)
                                                  : tamis_source_texts(source, column_names[c], texts[c], &err);
        if (status != TAMIS_OK) fail_msg("%s", err.message);
    }
    return source;
}

/* ---- Arrow ---- */

typedef struct arrow_column {
    struct ArrowArray array, dictionary;
    const void *buffers[3], *dictionary_buffers[3];
    uint8_t *valid;
    void *values;
    char *bytes;
} arrow_column;

static struct ArrowSchema arrow_schema, arrow_fields[COLUMNS], arrow_words;

/* x, y and p: doubles with a bitmap; g: a dictionary with 8-bit places; h: large texts; else texts. Two rows before the first,
 * which the offset passes over. */
static inline void fill_column(arrow_column *to, size_t c, const row *list, size_t n)
{
    enum { BEFORE = 2 };
    const bool is_large = c == H;
    size_t length = 0, words = 0;
    for (size_t i = 0; i < n; i++) length += strlen(list[i].text[c]) + 1;
    *to = (arrow_column){.valid = calloc(n / 8 + 2, 1), .values = calloc(n + BEFORE + 1, 8), .bytes = malloc(length + 8)};
    int32_t *starts = to->values, *word_starts = calloc(n + 2, sizeof *word_starts);
    int64_t *large_starts = to->values;
    int8_t *places = to->values;
    length = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t at = i + BEFORE;
        const char *text = list[i].text[c];
        const bool there = is_number_column(c) ? !isnan(list[i].number[c]) : text[0] != '\0';
        if (there) to->valid[at / 8] = (uint8_t)(to->valid[at / 8] | 1 << at % 8);
        if (is_number_column(c)) {
            ((double *)to->values)[at] = there ? list[i].number[c] : 1e3;
            continue;
        }
        if (c == G) { /* the word's place, of a list with each once */
            size_t w = 0;
            while (w < words && (strlen(text) != (size_t)(word_starts[w + 1] - word_starts[w]) ||
                                 memcmp(text, to->bytes + word_starts[w], strlen(text)) != 0))
                w++;
            places[at] = (int8_t)w;
            if (w < words) continue;
            memcpy(to->bytes + word_starts[words], text, strlen(text));
            word_starts[words + 1] = word_starts[words] + (int32_t)strlen(text);
            words++;
            continue;
        }
        memcpy(to->bytes + length, text, strlen(text));
        length += strlen(text);
        if (is_large) large_starts[at + 1] = (int64_t)length;
        else starts[at + 1] = (int32_t)length;
    }
    to->buffers[0] = to->valid;
    to->buffers[1] = to->values;
    to->buffers[2] = to->bytes;
    to->array = (struct ArrowArray){.length = (int64_t)n,
                                    .null_count = -1,
                                    .offset = BEFORE,
                                    .n_buffers = is_number_column(c) || c == G ? 2 : 3,
                                    .buffers = to->buffers};
    to->dictionary_buffers[1] = word_starts;
    to->dictionary_buffers[2] = to->bytes;
    to->dictionary = (struct ArrowArray){.length = (int64_t)words, .n_buffers = 3, .buffers = to->dictionary_buffers};
    if (c == G) to->array.dictionary = &to->dictionary;
}

/* ---- a stream ---- */

/* Hands out its schema and its batches; after `good` batches get_next fails. What was released is counted. */
typedef struct batch_stream {
    const struct ArrowSchema *schema;
    const struct ArrowArray *const *batches;
    size_t count, next, good;
    int schema_error;
    size_t schemas_out, batches_out, releases; /* handed out and not released; of the stream itself */
} batch_stream;

static inline void release_schema(struct ArrowSchema *schema)
{
    ((batch_stream *)schema->private_data)->schemas_out--;
    schema->release = NULL;
}

static inline void release_batch(struct ArrowArray *batch)
{
    ((batch_stream *)batch->private_data)->batches_out--;
    batch->release = NULL;
}

static inline int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    batch_stream *s = stream->private_data;
    if (s->schema_error) return s->schema_error;
    *out = *s->schema;
    out->release = release_schema;
    out->private_data = s;
    s->schemas_out++;
    return 0;
}

static inline int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    batch_stream *s = stream->private_data;
    *out = (struct ArrowArray){0};
    if (s->next == s->good) return 5;
    if (s->next == s->count) return 0;
    *out = *s->batches[s->next++];
    out->release = release_batch;
    out->private_data = s;
    s->batches_out++;
    return 0;
}

static inline const char *stream_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "the value 4711 in row 12";
}

static inline void release_stream(struct ArrowArrayStream *stream)
{
    ((batch_stream *)stream->private_data)->releases++;
    stream->release = NULL;
}

static inline struct ArrowArrayStream stream_of(batch_stream *s)
{
    return (struct ArrowArrayStream){stream_schema, stream_next, stream_error, release_stream, s};
}

/* ---- rows ---- */

/* As batches, or by a stream. */
static inline const tamis_source *rows_as_arrow(const row *list, size_t n, bool streamed)
{
    enum { BATCHES = 3 };
    static tamis_source *source;
    static batch_stream batch_list;
    static arrow_column columns[BATCHES][COLUMNS];
    static struct ArrowArray batches[BATCHES], *children[BATCHES][COLUMNS];
    static struct ArrowSchema *fields[COLUMNS];
    const struct ArrowArray *const list_of_batches[] = {&batches[0], &batches[1], &batches[2]};
    const size_t cuts[] = {0, n / 4, n / 4, n}; /* the second one is empty */
    tamis_error err = {0};
    tamis_source_free(source);
    for (size_t c = 0; c < COLUMNS; c++) {
        arrow_fields[c] = (struct ArrowSchema){.format = is_number_column(c) ? "g"
                                                         : c == H            ? "U"
                                                         : c == G            ? "c"
                                                                             : "u",
                                               .name = column_names[c]};
        fields[c] = &arrow_fields[c];
    }
    arrow_words.format = "u";
    arrow_fields[G].dictionary = &arrow_words;
    arrow_schema = (struct ArrowSchema){.format = "+s", .n_children = COLUMNS, .children = fields};
    for (size_t b = 0; b < BATCHES; b++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            free(columns[b][c].valid);
            free(columns[b][c].values);
            free(columns[b][c].bytes);
            free((void *)(uintptr_t)columns[b][c].dictionary_buffers[1]);
            fill_column(&columns[b][c], c, list + cuts[b], cuts[b + 1] - cuts[b]);
            children[b][c] = &columns[b][c].array;
        }
        batches[b] = (struct ArrowArray){.length = (int64_t)(cuts[b + 1] - cuts[b]),
                                         .n_children = COLUMNS,
                                         .children = children[b]};
    }
    batch_list = (batch_stream){.schema = &arrow_schema, .batches = list_of_batches, .count = BATCHES, .good = SIZE_MAX};
    struct ArrowArrayStream stream = stream_of(&batch_list);
    tamis_status status = streamed ? tamis_source_take_stream(&source, &stream, &err)
                                   : tamis_source_arrow(&source, &arrow_schema, list_of_batches, BATCHES, &err);
    if (status != TAMIS_OK) fail_msg("%s", err.message);
    return source;
}

static inline void forget_rows_in_memory(void)
{
    rows_as_arrays(NULL, 0);
    rows_as_arrow(NULL, 0, false);
}

#endif
