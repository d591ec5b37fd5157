/* The packed form of reports: the randomized bits of many people in one stream (docs/collection.md, "The packed form").
 *
 * A stream begins with a header, which says how the bits were randomized and what they are called. Blocks of reports follow,
 * and an empty block with the number of reports ends it, so that a truncated stream is always noticed. A file may have
 * several streams one behind the other, as when a server appends what each client sends; their headers must be equal, byte by
 * byte. Reading and writing are streaming: one block is in memory. */
#ifndef TMI_COLLECT_PACKED_H
#define TMI_COLLECT_PACKED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <tamis/num.h>

#include "base/error.h"

#define TMI_PACKED_VERSION 1
#define TMI_PACKED_BITS 65536              /* of one report: a row has 8 KiB at most */
#define TMI_PACKED_NAME 1024               /* bytes of a name, or of the text of a probability */
#define TMI_PACKED_HEADER (1 << 24)        /* bytes: bounds what a damaged header can make us allocate */
#define TMI_PACKED_ROWS 65536              /* in one block with ids, which take more room than short reports */
#define TMI_PACKED_BLOCK ((size_t)1 << 20) /* bytes of reports in one block: they stay in the cache */
#define TMI_PACKED_ID 16                   /* bytes: the first ones of the SHA-256 of a client's id */

/* What the header says. */
typedef struct tmi_packed_form {
    tamis_number *lie, *lie_zero; /* a one is reported as zero, and a zero as one, with these probabilities */
    size_t bits;
    char **names; /* of the bits: "smoker"; "region=north" is the bit of a category, "region=missing" one of them */
    char *id;     /* the name of the column of client ids; NULL: reports have none */
} tmi_packed_form;

/* Frees what it points to. */
void tmi_packed_form_clear(tmi_packed_form *form);

/* INVALID unless 0 < lie, 0 < lie_zero and lie + lie_zero < 1. For lie = lie_zero this is 0 < lie < 1/2. */
tamis_status tmi_packed_check_lies(const tamis_number *lie, const tamis_number *lie_zero, tamis_error *err);

/* INVALID unless the header is valid: lie probabilities, 1 <= bits <= TMI_PACKED_BITS, names that are not empty, not too long,
 * valid UTF-8 without control characters, and all different. */
tamis_status tmi_packed_form_check(const tmi_packed_form *form, tamis_error *err);

/* Bits from one report to the next: a power of two up to 64, a multiple of 64 above. */
size_t tmi_packed_stride(size_t bits);

/* 64-bit words of `rows` reports, and the rows of a full block. Bit j of report r is bit r * stride + j of the words, where bit
 * b is bit b % 64 of word b / 64. Bits that belong to no report are zero. */
size_t tmi_packed_words(size_t bits, size_t rows);
size_t tmi_packed_rows(size_t bits, bool ids);

/* ---- writing ---- */

typedef struct tmi_packed_writer tmi_packed_writer;

/* Checks the form and writes the header. The form is not kept. `file` is borrowed. */
tamis_status tmi_packed_writer_new(tmi_packed_writer **writer, FILE *file, const tmi_packed_form *form, tamis_error *err);

/* A block of 1 to tmi_packed_rows reports in words of this machine; `ids` has TMI_PACKED_ID bytes for each, NULL if the form has
 * none. SYSTEM if it cannot be written. */
tamis_status tmi_packed_write(tmi_packed_writer *writer, const uint64_t *words, size_t rows, const uint8_t *ids,
                              tamis_error *err);

/* The end of the stream. The file is flushed by whoever opened it. */
tamis_status tmi_packed_write_end(tmi_packed_writer *writer, tamis_error *err);
void tmi_packed_writer_free(tmi_packed_writer *writer);

/* ---- reading ---- */

typedef struct tmi_packed_reader tmi_packed_reader;

typedef struct tmi_packed_block {
    size_t rows;           /* 0: the file is at its end */
    const uint64_t *words; /* tmi_packed_words(bits, rows) of them, aligned to 64 bytes, valid until the next call */
    const uint8_t *ids;    /* TMI_PACKED_ID bytes for each; NULL: no ids */
    uint64_t first;        /* the number of the first report in this file, from 0 */
} tmi_packed_block;

/* Whether a file that begins with these bytes claims to be packed; 8 bytes suffice. */
#define TMI_PACKED_MAGIC 8
bool tmi_is_packed(const void *bytes, size_t length);

/* Reads the header. `file` and `path`, which is for messages only, are borrowed. INVALID reports the byte at which a file is
 * wrong, and no content. */
tamis_status tmi_packed_reader_new(tmi_packed_reader **reader, FILE *file, const char *path, tamis_error *err);
const tmi_packed_form *tmi_packed_form_of(const tmi_packed_reader *reader);

/* The next block. INVALID also if the file is cut, or has more after its end that is not another stream with the same header. */
tamis_status tmi_packed_next(tmi_packed_block *block, tmi_packed_reader *reader, tamis_error *err);
void tmi_packed_reader_free(tmi_packed_reader *reader); /* NULL is allowed */

#endif
