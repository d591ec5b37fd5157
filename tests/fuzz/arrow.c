/* Arrow record batches of any shape. The bytes of the fuzzer say what the structures claim: formats, lengths, offsets, numbers of
 * buffers, dictionaries, places of texts, with buffers that are missing. What is there is as long as it claims to be, to the
 * byte, since no reader of Arrow's C data interface can know better; so whatever is read beyond is found. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/engine.h>

#include "engine/files/source.h"
#include "tests/fuzz/source.h"

#define COLUMNS 3
#define BATCHES 2
#define BLOCKS 64

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* ---- the fuzzer's bytes, one after the other; zeros after the last ---- */

typedef struct input {
    const uint8_t *at, *end;
    void *blocks[BLOCKS]; /* of the buffers, freed at the end */
    size_t block_count;
} input;

static unsigned next(input *in, unsigned below) { return in->at < in->end ? *in->at++ % below : 0; }

/* A length or an offset: small, or one that nobody can have. */
static int64_t number(input *in, unsigned below)
{
    static const int64_t absurd[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX - 1, INT64_C(1) << 62};
    const unsigned choice = next(in, below + 8);
    return choice < below ? (int64_t)choice : absurd[choice % 5];
}

static void *block(input *in, size_t size)
{
    uint8_t *made = malloc(size > 0 ? size : 1);
    if (!made || in->block_count == BLOCKS) abort();
    in->blocks[in->block_count++] = made;
    for (size_t i = 0; i < size; i++) made[i] = (uint8_t)next(in, 256);
    return made;
}

/* ---- columns ---- */

static const struct {
    const char *format;
    size_t bits;
} formats[] = {{"g", 64}, {"u", 32}, {"U", 64},   {"l", 64},      {"n", 0},         {"b", 1},      {"c", 8},  {"C", 8},
               {"s", 16}, {"S", 16}, {"i", 32},   {"I", 32},      {"L", 64},        {"f", 32},     {"+s", 0}, {"tdD", 32},
               {"", 0},   {"e", 16}, {"tdm", 64}, {"d:9,2", 128}, {"d:9,2,64", 64}, {"w:16", 128}, {NULL, 0}};

typedef struct column {
    struct ArrowSchema schema, words, nested;
    struct ArrowArray array[BATCHES], dictionary[BATCHES], nested_array[BATCHES];
    const void *buffers[BATCHES][2][3];
} column;

static void make_schema(struct ArrowSchema *schema, input *in, const char *name)
{
    *schema = (struct ArrowSchema){.format = formats[next(in, sizeof formats / sizeof *formats)].format, .name = name};
}

/* Buffers for the elements that the array claims, if that is possible. */
static void make_array(struct ArrowArray *array, const void *buffers[3], input *in, const char *format)
{
    *array = (struct ArrowArray){.length = number(in, 24),
                                 .offset = number(in, 8),
                                 .null_count = (int64_t)next(in, 3) - 1,
                                 .n_buffers = next(in, 8) ? 3 : (int64_t)next(in, 4) - 1,
                                 .buffers = buffers};
    size_t bits = 0, count = 0;
    for (size_t f = 0; format && formats[f].format; f++)
        if (strcmp(formats[f].format, format) == 0) bits = formats[f].bits;
    const bool is_text = format && (strcmp(format, "u") == 0 || strcmp(format, "U") == 0);
    if (array->length >= 0 && array->length < 32 && array->offset >= 0 && array->offset < 32)
        count = (size_t)(array->length + array->offset);
    buffers[0] = next(in, 4) ? block(in, (count + 7) / 8) : NULL;
    buffers[1] = next(in, 16) ? block(in, is_text ? (count + 1) * (bits / 8) : (count * bits + 7) / 8) : NULL;
    buffers[2] = NULL;
    if (is_text && buffers[1]) { /* the last place says how many bytes there are */
        const int64_t length = next(in, 64);
        const int32_t short_length = (int32_t)length;
        uint8_t *places = (uint8_t *)(uintptr_t)buffers[1];
        for (size_t i = 0; i < count; i++) /* most of the others lie between */
            if (next(in, 8)) memset(places + i * bits / 8 + 1, 0, bits / 8 - 1), places[i * bits / 8] %= 64;
        memcpy(places + count * bits / 8, bits == 32 ? (const void *)&short_length : (const void *)&length, bits / 8);
        buffers[2] = length > 0 ? block(in, (size_t)length) : NULL;
    }
    if (next(in, 32) == 31) array->buffers = NULL;
}

static void make_column(column *c, input *in, const char *name, size_t batches)
{
    make_schema(&c->schema, in, name);
    const bool has_words = next(in, 3) == 2, has_array = has_words == (next(in, 8) < 7),
               is_nested = has_words && next(in, 8) == 7;
    make_schema(&c->words, in, NULL);
    make_schema(&c->nested, in, NULL);
    if (has_words) c->schema.dictionary = &c->words;
    if (is_nested) c->words.dictionary = &c->nested;
    for (size_t b = 0; b < batches; b++) {
        make_array(&c->array[b], c->buffers[b][0], in, c->schema.format);
        if (!has_array) continue;
        make_array(&c->dictionary[b], c->buffers[b][1], in, c->words.format);
        c->array[b].dictionary = &c->dictionary[b];
        if (is_nested) c->dictionary[b].dictionary = &c->nested_array[b];
    }
}

/* ---- batches ---- */

static void use(const tamis_source *source)
{
    tmi_engine *engine;
    if (tmi_engine_of_source(&engine, source, 1, NULL) != TAMIS_OK) abort();
    fuzz_ask(engine);
    engine->free(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const names[] = {"x", "s", "id"};
    input in = {.at = bytes, .end = bytes + size};
    column columns[COLUMNS] = {0};
    struct ArrowSchema schema, *fields[COLUMNS];
    struct ArrowArray batches[BATCHES], *children[BATCHES][COLUMNS];
    const struct ArrowArray *list[BATCHES];
    const size_t batch_count = next(&in, BATCHES + 1);
    tamis_source *source;
    tamis_error err = {0};
    for (size_t c = 0; c < COLUMNS; c++) {
        make_column(&columns[c], &in, next(&in, 64) ? names[c] : NULL, batch_count);
        fields[c] = next(&in, 64) < 63 ? &columns[c].schema : NULL;
    }
    schema = (struct ArrowSchema){.format = next(&in, 64) < 63 ? "+s" : "g",
                                  .n_children = COLUMNS,
                                  .children = next(&in, 64) < 63 ? fields : NULL};
    for (size_t b = 0; b < batch_count; b++) {
        for (size_t c = 0; c < COLUMNS; c++) children[b][c] = next(&in, 64) < 63 ? &columns[c].array[b] : NULL;
        batches[b] = (struct ArrowArray){.length = number(&in, 16),
                                         .offset = next(&in, 4) ? 0 : number(&in, 4),
                                         .n_children = next(&in, 32) < 31 ? COLUMNS : (int64_t)next(&in, 8) - 2,
                                         .children = next(&in, 64) < 63 ? children[b] : NULL};
        list[b] = next(&in, 64) < 63 ? &batches[b] : NULL;
    }
    const tamis_status status = tamis_source_arrow(&source, &schema, list, batch_count, &err);
    if ((status == TAMIS_OK) != (source != NULL)) abort();
    fuzz_expect_message(status, &err);
    if (source) use(source);
    tamis_source_free(source);
    for (size_t i = 0; i < in.block_count; i++) free(in.blocks[i]);
    return 0;
}
