/* Turns a CSV file of answers into reports: rows are collected in a block, which is randomized as a whole and written. */
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/watch.h"
#include "collect/coding.h"

#define CLIENT "tamis client 1" /* label for deriving the key of one client from that of the file */

typedef struct job {
    const tamis_collection *c;
    tamis_rng *rng;
    tamis_randomizer *randomizer;
    tmi_cells cells;
    tmi_coding coding;
    const tamis_stream *out;
    bool begun; /* the header was written: not before the first block is complete, so that an error there leaves nothing */
    tmi_output output;
    tmi_packed_writer *writer; /* NULL: CSV */
    uint64_t *words;           /* the block */
    size_t stride, room, rows; /* `room` rows fit */
    uint8_t *ids;              /* of the block, as the packed form has them */
    tmi_text id_cells;         /* of the block, as CSV has them, each with a final zero */
    tmi_text text;             /* CSV of the block */
    uint64_t reports;
} job;

/* ---- writing ---- */

/* A cell of CSV, in quotes if it needs them. */
static void put_cell(tmi_text *text, const char *cell)
{
    if (cell[strcspn(cell, ",\"\r\n")] == '\0' && cell[0] != ' ') {
        tmi_text_put(text, cell);
        return;
    }
    tmi_text_put(text, "\"");
    for (const char *at = cell; *at; at++) {
        if (*at == '"') tmi_text_put(text, "\"");
        tmi_text_add(text, at, 1);
    }
    tmi_text_put(text, "\"");
}

static tamis_status write_text(job *j, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (j->text.failed) return tmi_fail_memory(err);
    if (fwrite(j->text.bytes, 1, j->text.length, j->output.file) != j->text.length)
        status = tmi_fail(err, TAMIS_SYSTEM, "the reports cannot be written");
    j->text.length = 0;
    return status;
}

static tamis_status write_header(job *j, tamis_error *err)
{
    const tmi_coding *k = &j->coding;
    const char *comma = "";
    for (size_t i = 0; i < k->count; i++) {
        if (k->columns[i].as == TMI_IS_ID) {
            tmi_text_put(&j->text, comma);
            put_cell(&j->text, k->form.id);
            comma = ",";
        }
        for (size_t b = 0; b < k->columns[i].bits; b++, comma = ",") {
            tmi_text_put(&j->text, comma);
            put_cell(&j->text, k->form.names[k->columns[i].first + b]);
        }
    }
    tmi_text_put(&j->text, "\n");
    return write_text(j, err);
}

static inline bool bit_at(const job *j, size_t row, size_t bit)
{
    size_t at = row * j->stride + bit;
    return j->words[at / 64] >> at % 64 & 1;
}

static tamis_status write_rows(job *j, tamis_error *err)
{
    const tmi_coding *k = &j->coding;
    const char *id = j->id_cells.bytes;
    for (size_t row = 0; row < j->rows; row++) {
        bool first = true;
        for (size_t i = 0; i < k->count; i++) {
            if (k->columns[i].as == TMI_IS_ID) {
                tmi_text_add(&j->text, ",", first ? 0 : 1);
                tmi_text_put(&j->text, id);
                id += strlen(id) + 1;
                first = false;
            }
            for (size_t b = k->columns[i].first; b < k->columns[i].first + k->columns[i].bits; b++, first = false) {
                tmi_text_add(&j->text, ",", first ? 0 : 1);
                tmi_text_add(&j->text, bit_at(j, row, b) ? "1" : "0", 1);
            }
        }
        tmi_text_add(&j->text, "\n", 1);
    }
    return write_text(j, err);
}

/* ---- a block ---- */

/* Bits that belong to no report were randomized with the others. */
static void clear_padding(job *j)
{
    size_t bits = j->coding.form.bits, count = tmi_packed_words(bits, j->rows), used = j->rows * j->stride % 64;
    uint64_t mask = 0;
    if (j->stride > 64) {
        mask = bits % 64 ? (UINT64_C(1) << bits % 64) - 1 : UINT64_MAX;
        for (size_t i = j->stride / 64 - 1; i < count; i += j->stride / 64) j->words[i] &= mask;
        return;
    }
    for (size_t at = 0; at < 64; at += j->stride) mask |= (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX) << at;
    for (size_t i = 0; i < count; i++) j->words[i] &= mask;
    if (used) j->words[count - 1] &= (UINT64_C(1) << used) - 1;
}

static tamis_status begin(job *j, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (j->begun) return TAMIS_OK;
    j->begun = true;
    TMI_TRY(tmi_output_open(&j->output, j->out, err));
    if (j->c->packed) status = tmi_packed_writer_new(&j->writer, j->output.file, &j->coding.form, err);
    else status = write_header(j, err);
done:
    return status;
}

static tamis_status end_block(job *j, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t count = tmi_packed_words(j->coding.form.bits, j->rows);
    TMI_TRY(begin(j, err));
    if (j->rows == 0) goto done;
    if (!j->c->secret) TMI_TRY(tamis_randomize_bits(j->words, count, j->randomizer, j->rng, err));
    clear_padding(j);
    if (j->writer) TMI_TRY(tmi_packed_write(j->writer, j->words, j->rows, j->ids, err));
    else TMI_TRY(write_rows(j, err));
    memset(j->words, 0, count * sizeof *j->words);
    j->reports += j->rows;
    j->rows = 0;
    j->id_cells.length = 0;
done:
    return status;
}

/* ---- a row ---- */

static tamis_status take_id(job *j, tamis_error *err)
{
    const char *id = tmi_cell_at(&j->cells, j->coding.id);
    unsigned char hash[TMI_SHA256_BYTES];
    if (id[0] == '\0')
        return tmi_fail_file(err, TAMIS_INVALID, j->cells.path, j->cells.line, "column %s: the id is missing", j->coding.form.id);
    tmi_sha256(hash, id, strlen(id));
    if (j->ids) memcpy(j->ids + j->rows * TMI_PACKED_ID, hash, TMI_PACKED_ID);
    if (j->c->packed) return TAMIS_OK;
    put_cell(&j->id_cells, id);
    tmi_text_add(&j->id_cells, "", 1);
    return j->id_cells.failed ? tmi_fail_memory(err) : TAMIS_OK;
}

/* The secret of one client: HMAC(secret, CLIENT 0 id). */
static tamis_status client_secret(uint8_t secret[TAMIS_SECRET], const job *j, tamis_error *err)
{
    const char *id = tmi_cell_at(&j->cells, j->coding.id);
    size_t length = sizeof CLIENT + strlen(id);
    unsigned char *room = tmi_alloc(TMI_HMAC_ROOM + length, 1);
    if (!room) return tmi_fail_memory(err);
    memcpy(room + TMI_HMAC_ROOM, CLIENT, sizeof CLIENT);
    memcpy(room + TMI_HMAC_ROOM + sizeof CLIENT, id, strlen(id));
    tmi_hmac(secret, j->c->secret, room + TMI_HMAC_ROOM, length);
    tmi_free(room);
    return TAMIS_OK;
}

static tamis_status take_cell(job *j, const tmi_coded_column *column, size_t i, const uint8_t *secret, tamis_error *err)
{
    size_t set, at = j->rows * j->stride + column->first;
    tamis_status status = tmi_code_cell(&set, column, tmi_cell_at(&j->cells, i), &j->cells, err);
    for (size_t b = 0; b < column->bits && status == TAMIS_OK; b++) {
        int bit = b == set;
        if (secret)
            status = tamis_randomize_again(&bit, bit, j->randomizer, secret, j->coding.form.names[column->first + b],
                                           tmi_coded_answer(column, set), err);
        j->words[(at + b) / 64] |= (uint64_t)bit << (at + b) % 64;
    }
    return status;
}

static tamis_status take_row(job *j, tamis_error *err)
{
    uint8_t secret[TAMIS_SECRET];
    tamis_status status = TAMIS_OK;
    if (j->cells.count != j->coding.count)
        return tmi_fail_file(err, TAMIS_INVALID, j->cells.path, j->cells.line, "%zu cells, but the header has %zu columns",
                             j->cells.count, j->coding.count);
    if (j->coding.id != SIZE_MAX) TMI_TRY(take_id(j, err));
    if (j->c->secret) TMI_TRY(client_secret(secret, j, err));
    for (size_t i = 0; i < j->coding.count; i++)
        if (j->coding.columns[i].as >= TMI_YES_NO)
            TMI_TRY(take_cell(j, &j->coding.columns[i], i, j->c->secret ? secret : NULL, err));
    j->rows++;
    if (j->rows == j->room) status = end_block(j, err);
done:
    tmi_wipe(secret, sizeof secret);
    return status;
}

/* ---- the whole ---- */

static tamis_status prepare(job *j, tamis_error *err)
{
    bool more;
    tamis_status status;
    TMI_TRY(tmi_cells_next(&more, &j->cells, err));
    if (!more) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, j->cells.path, 0, "the file is empty"));
    TMI_TRY(tmi_coding_init(&j->coding, &j->cells, j->c, err));
    size_t bits = j->coding.form.bits;
    j->stride = tmi_packed_stride(bits);
    j->room = tmi_packed_rows(bits, !j->c->packed || j->c->id); /* a block of CSV is short, too */
    j->words = tmi_alloc(tmi_packed_words(bits, j->room), sizeof *j->words);
    if (j->c->packed && j->c->id) j->ids = tmi_alloc(j->room, TMI_PACKED_ID);
    if (!j->words || (j->c->packed && j->c->id && !j->ids)) status = tmi_fail_memory(err);
done:
    return status;
}

static tamis_status run(job *j, const tamis_watch *watcher, tamis_error *err)
{
    tmi_watch watch = tmi_watch_of(watcher);
    bool more = true;
    tamis_status status;
    TMI_TRY(prepare(j, err));
    for (;;) {
        TMI_TRY(tmi_cells_next(&more, &j->cells, err));
        if (!more) break;
        TMI_TRY(take_row(j, err));
        watch.rows++;
        if (watch.rows % 1024 == 0) TMI_TRY(tmi_watch_beat(&watch, err));
    }
    TMI_TRY(end_block(j, err));
    if (j->writer) TMI_TRY(tmi_packed_write_end(j->writer, err));
    TMI_TRY(tmi_output_keep(&j->output, err));
done:
    return status;
}

static void clear(job *j)
{
    if (j->words) tmi_wipe(j->words, tmi_packed_words(j->coding.form.bits, j->room) * sizeof *j->words);
    tmi_free(j->words);
    tmi_free(j->ids);
    tmi_text_clear(&j->id_cells);
    tmi_text_clear(&j->text);
    tmi_packed_writer_free(j->writer);
    tmi_output_clear(&j->output);
    tmi_coding_clear(&j->coding);
    tmi_cells_clear(&j->cells);
    tamis_randomizer_free(j->randomizer);
}

tamis_status tamis_randomize_file(tamis_randomized *facts, const tamis_stream *out, const tamis_stream *in,
                                  const tamis_collection *collection, tamis_rng *rng, const tamis_watch *watch, tamis_error *err)
{
    job j = {.c = collection, .rng = rng, .out = out};
    FILE *file = NULL;
    tamis_status status;
    if (!facts) return tmi_fail(err, TAMIS_INVALID, "facts: NULL");
    *facts = (tamis_randomized){.local = {0, __builtin_inf()}};
    if (!collection || !rng || !in || !in->path || !out || !out->path)
        return tmi_fail(err, TAMIS_INVALID, "collection, rng, in, out, their paths: NULL");
    if (collection->secret && !collection->id)
        return tmi_fail(err, TAMIS_INVALID, "secret: permanent flips need the id of each client");
    tmi_text_init(&j.id_cells);
    tmi_text_init(&j.text);
    TMI_TRY(tamis_randomizer_new(&j.randomizer, collection->lie, collection->lie_zero, err));
    file = in->stream ? in->stream : fopen(in->path, "rbe");
    if (!file) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, in->path, 0, "%s", strerror(errno)));
    TMI_TRY(tmi_cells_init(&j.cells, file, in->path, err));
    TMI_TRY(run(&j, watch, err));
    tamis_bound local;
    TMI_TRY(tamis_randomizer_local(&local, j.randomizer, j.coding.alone, j.coding.one_hot, err));
    *facts = (tamis_randomized){j.reports, j.coding.form.bits, j.coding.left_out, local};
done:
    clear(&j);
    if (file && !in->stream) fclose(file);
    return status;
}
