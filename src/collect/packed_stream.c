#include <string.h>

#include "base/memory.h"
#include "collect/packed_header.h"

static tamis_status put(FILE *file, const void *bytes, size_t size, tamis_error *err)
{
    if (fwrite(bytes, 1, size, file) == size) return TAMIS_OK;
    return tmi_fail(err, TAMIS_SYSTEM, "the reports cannot be written");
}

/* ---- writing ---- */

struct tmi_packed_writer {
    FILE *file;
    size_t bits;
    bool ids;
    uint64_t reports;
};

tamis_status tmi_packed_writer_new(tmi_packed_writer **writer, FILE *file, const tmi_packed_form *form, tamis_error *err)
{
    uint8_t *header = NULL;
    size_t size;
    tamis_status status;
    *writer = NULL;
    TMI_TRY(tmi_packed_form_check(form, err));
    TMI_TRY(tmi_packed_header_write(&header, &size, form, err));
    if (!(*writer = tmi_alloc(1, sizeof **writer))) TMI_TRY(tmi_fail_memory(err));
    **writer = (struct tmi_packed_writer){file, form->bits, form->id != NULL, 0};
    TMI_TRY(put(file, header, size, err));
done:
    tmi_free(header);
    if (status != TAMIS_OK) {
        tmi_packed_writer_free(*writer);
        *writer = NULL;
    }
    return status;
}

tamis_status tmi_packed_write(tmi_packed_writer *writer, const uint64_t *words, size_t rows, const uint8_t *ids, tamis_error *err)
{
    uint32_t begin[2] = {(uint32_t)rows, 0};
    tamis_status status;
    if (rows < 1 || rows > tmi_packed_rows(writer->bits, writer->ids))
        return tmi_fail(err, TAMIS_INVALID, "rows: too many for one block");
    if (writer->ids != (ids != NULL)) return tmi_fail(err, TAMIS_INVALID, "ids: do not match the header");
    TMI_TRY(put(writer->file, begin, sizeof begin, err));
    TMI_TRY(put(writer->file, words, tmi_packed_words(writer->bits, rows) * sizeof *words, err));
    if (ids) TMI_TRY(put(writer->file, ids, rows * TMI_PACKED_ID, err));
    writer->reports += rows;
done:
    return status;
}

tamis_status tmi_packed_write_end(tmi_packed_writer *writer, tamis_error *err)
{
    uint64_t end[2] = {0, writer->reports};
    return put(writer->file, end, sizeof end, err);
}

void tmi_packed_writer_free(tmi_packed_writer *writer) { tmi_free(writer); }

/* ---- reading ---- */

struct tmi_packed_reader {
    FILE *file;
    const char *path;
    tmi_packed_form form;
    uint8_t *header; /* of the first stream, for comparison with those that follow */
    size_t header_size;
    uint8_t *again;                /* room for those */
    void *room;                    /* words and ids of a block */
    uint64_t *words;               /* in it, aligned */
    uint64_t at;                   /* bytes read */
    uint64_t stream, file_reports; /* reports of this stream so far, and of the file */
    bool ended;
};

static tamis_status wrong_here(const tmi_packed_reader *r, uint64_t at, const char *what, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_INVALID, r->path, 0, "byte %llu: %s", (unsigned long long)at, what);
}

/* Reads exactly `size` bytes. */
static tamis_status get(tmi_packed_reader *r, void *bytes, size_t size, tamis_error *err)
{
    size_t got = fread(bytes, 1, size, r->file);
    r->at += got;
    if (got == size) return TAMIS_OK;
    if (ferror(r->file)) return tmi_fail_file(err, TAMIS_SYSTEM, r->path, 0, "the file cannot be read");
    return wrong_here(r, r->at, "the file is truncated", err);
}

/* The first header. */
static tamis_status get_header(tmi_packed_reader *r, tamis_error *err)
{
    uint8_t fixed[TMI_PACKED_FIXED];
    tamis_status status;
    TMI_TRY(get(r, fixed, sizeof fixed, err));
    TMI_TRY(tmi_packed_header_size(&r->header_size, fixed, r->path, 0, err));
    if (!(r->header = tmi_alloc(r->header_size, 1)) || !(r->again = tmi_alloc(r->header_size, 1))) TMI_TRY(tmi_fail_memory(err));
    memcpy(r->header, fixed, sizeof fixed);
    TMI_TRY(get(r, r->header + sizeof fixed, r->header_size - sizeof fixed, err));
    TMI_TRY(tmi_packed_header_read(&r->form, r->header, r->header_size, r->path, 0, err));
done:
    return status;
}

tamis_status tmi_packed_reader_new(tmi_packed_reader **reader, FILE *file, const char *path, tamis_error *err)
{
    tamis_status status;
    tmi_packed_reader *r = tmi_alloc(1, sizeof *r);
    *reader = NULL;
    if (!r) return tmi_fail_memory(err);
    r->file = file;
    r->path = path;
    TMI_TRY(get_header(r, err));
    size_t rows = tmi_packed_rows(r->form.bits, r->form.id != NULL),
           bytes = tmi_packed_words(r->form.bits, rows) * sizeof(uint64_t);
    if (r->form.id) bytes += rows * TMI_PACKED_ID;
    if (!(r->room = tmi_alloc(bytes + 64, 1))) TMI_TRY(tmi_fail_memory(err));
    r->words = (uint64_t *)(((uintptr_t)r->room + 63) / 64 * 64);
    *reader = r;
    r = NULL;
done:
    tmi_packed_reader_free(r);
    return status;
}

void tmi_packed_reader_free(tmi_packed_reader *reader)
{
    if (!reader) return;
    tmi_packed_form_clear(&reader->form);
    tmi_free(reader->header);
    tmi_free(reader->again);
    tmi_free(reader->room);
    tmi_free(reader);
}

const tmi_packed_form *tmi_packed_form_of(const tmi_packed_reader *reader) { return &reader->form; }

/* Whether all bits that belong to no report are zero. */
static bool padding_is_zero(const uint64_t *words, size_t bits, size_t rows)
{
    size_t stride = tmi_packed_stride(bits), count = tmi_packed_words(bits, rows), used = rows * stride % 64;
    uint64_t stray = 0, pad = 0;
    if (used != 0) stray = words[count - 1] >> used;
    if (stride == bits) return stray == 0;
    if (stride > 64) {
        pad = bits % 64 ? UINT64_MAX << bits % 64 : 0;
        for (size_t i = stride / 64 - 1; i < count; i += stride / 64) stray |= words[i] & pad;
        return stray == 0;
    }
    uint64_t one = (stride < 64 ? UINT64_C(1) << stride : 0) - (UINT64_C(1) << bits); /* bits to stride - 1 */
    for (size_t at = 0; at < 64; at += stride) pad |= one << at;
    for (size_t i = 0; i < count; i++) stray |= words[i] & pad;
    return stray == 0;
}

/* After the end of a stream: the end of the file, or another stream with the same header. */
static tamis_status next_stream(tmi_packed_reader *r, tamis_error *err)
{
    int c = getc(r->file);
    r->stream = 0;
    if (c == EOF) {
        r->ended = true;
        return ferror(r->file) ? tmi_fail_file(err, TAMIS_SYSTEM, r->path, 0, "the file cannot be read") : TAMIS_OK;
    }
    ungetc(c, r->file);
    uint64_t begin = r->at;
    tamis_status status = get(r, r->again, TMI_PACKED_FIXED, err);
    if (status != TAMIS_OK) return status;
    if (!tmi_is_packed(r->again, TMI_PACKED_FIXED))
        return wrong_here(r, begin, "unexpected bytes after the end of the reports", err);
    if (memcmp(r->again, r->header, TMI_PACKED_FIXED) == 0)
        status = get(r, r->again + TMI_PACKED_FIXED, r->header_size - TMI_PACKED_FIXED, err);
    if (status == TAMIS_OK && memcmp(r->again, r->header, r->header_size) != 0)
        status = wrong_here(r, begin, "another header than before: other bits, names or lie probabilities", err);
    return status;
}

/* The number of rows in the next block; 0 only at the end of the file. */
static tamis_status next_rows(size_t *rows, tmi_packed_reader *r, tamis_error *err)
{
    uint32_t begin[2];
    uint64_t total;
    tamis_status status = TAMIS_OK;
    for (*rows = 0; !r->ended;) {
        TMI_TRY(get(r, begin, sizeof begin, err));
        if (begin[0] > tmi_packed_rows(r->form.bits, r->form.id != NULL) || begin[1] != 0)
            TMI_TRY(wrong_here(r, r->at - sizeof begin, "the beginning of a block is damaged", err));
        *rows = begin[0];
        if (begin[0] > 0) break;
        TMI_TRY(get(r, &total, sizeof total, err));
        if (total != r->stream)
            TMI_TRY(wrong_here(r, r->at - sizeof total, "the number of reports does not match the blocks", err));
        TMI_TRY(next_stream(r, err));
    }
done:
    return status;
}

tamis_status tmi_packed_next(tmi_packed_block *block, tmi_packed_reader *r, tamis_error *err)
{
    size_t rows;
    tamis_status status;
    *block = (tmi_packed_block){0};
    TMI_TRY(next_rows(&rows, r, err));
    if (rows == 0) goto done;
    uint64_t begin = r->at;
    size_t words = tmi_packed_words(r->form.bits, rows);
    TMI_TRY(get(r, r->words, words * sizeof *r->words, err));
    if (!padding_is_zero(r->words, r->form.bits, rows))
        TMI_TRY(wrong_here(r, begin, "a block has bits that belong to no report", err));
    uint8_t *ids = r->form.id ? (uint8_t *)(r->words + words) : NULL;
    if (ids) TMI_TRY(get(r, ids, rows * TMI_PACKED_ID, err));
    *block = (tmi_packed_block){rows, r->words, ids, r->file_reports};
    r->stream += rows;
    r->file_reports += rows;
done:
    return status;
}
