#include "engine/files/csv.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/watch.h"
#include "engine/core/text.h"

/* ---- the first line ---- */

static tamis_status add_name(tmi_csv_header *header, const tmi_text *name, tamis_error *err)
{
    const tmi_cell text = tmi_trimmed(name->length ? name->bytes : "", name->length);
    char **names = tmi_realloc(header->names, header->count + 1, sizeof *names);
    if (!names) return tmi_fail_memory(err);
    header->names = names;
    if (!(names[header->count] = tmi_copy_text(text.bytes, text.length))) return tmi_fail_memory(err);
    header->count++;
    return TAMIS_OK;
}

/* Reads one name up to the comma or the end of the line, and returns which: ',' or '\n'. */
static tamis_status read_name(int *end, tmi_text *name, FILE *file, const char *path, tamis_error *err)
{
    bool quoted = false, closed = false; /* inside quotes; after the closing one */
    name->length = 0;
    for (;;) {
        int c = getc(file);
        if (quoted && c == '"') {
            quoted = false;
            closed = true;
        } else if (closed && c == '"') { /* doubled: a quote in the name */
            tmi_text_add(name, "\"", 1);
            quoted = true;
            closed = false;
        } else if (quoted && c == EOF) {
            return tmi_fail_file(err, TAMIS_INVALID, path, 0, "a quote in the first line is never closed");
        } else if (!quoted && (c == ',' || c == '\n' || c == '\r' || c == EOF)) {
            *end = c == ',' ? ',' : '\n';
            return TAMIS_OK;
        } else if (c == '\0' || (closed && !tmi_is_blank((char)c)) || (c == '"' && name->length > 0 && !quoted)) {
            return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the first line is not a list of column names with commas");
        } else if (c == '"' && !quoted) {
            quoted = true;
        } else if (!closed) {
            char byte = (char)c;
            tmi_text_add(name, &byte, 1);
        }
        if (name->failed) return tmi_fail_memory(err);
        if (ftell(file) > TMI_CSV_MAX_HEADER)
            return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the first line is longer than %d bytes: is this a CSV file?",
                                 TMI_CSV_MAX_HEADER);
    }
}

/* Without column names, a file would lose its first row. */
static bool only_numbers(const tmi_csv_header *header)
{
    for (size_t i = 0; i < header->count; i++) {
        const char *name = header->names[i];
        if (name[strspn(name, "+-.0123456789")] != '\0' || !strpbrk(name, "0123456789")) return false;
    }
    return true;
}

static tamis_status check_names(const tmi_csv_header *header, const char *path, tamis_error *err)
{
    if (header->count == 1 && header->names[0][0] == '\0')
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the first line is empty; it must name the columns");
    if (header->count == 1 && strpbrk(header->names[0], ";\t"))
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the first line has no comma; separate columns by commas");
    if (only_numbers(header))
        return tmi_fail_file(err, TAMIS_INVALID, path, 0, "the first line contains numbers; it must name the columns");
    for (size_t i = 0; i < header->count; i++)
        for (size_t j = i + 1; j < header->count; j++)
            if (header->names[i][0] != '\0' && strcmp(header->names[i], header->names[j]) == 0)
                return tmi_fail_file(err, TAMIS_INVALID, path, 0, "columns %zu and %zu have the same name", i + 1, j + 1);
    return TAMIS_OK;
}

static tamis_status open_file(FILE **file, const char *path, tamis_error *err)
{
    *file = fopen(path, "rbe");
    return *file ? TAMIS_OK : tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno));
}

tamis_status tmi_csv_header_read(tmi_csv_header *header, const char *path, tamis_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    char start[sizeof mark - 1];
    tamis_status status;
    tmi_text name;
    FILE *file;
    int end = ',';
    *header = (tmi_csv_header){0};
    tmi_text_init(&name);
    TMI_TRY(open_file(&file, path, err));
    size_t got = fread(start, 1, sizeof start, file);
    if (got == 0) {
        status = ferror(file) ? tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno))
                              : tmi_fail_file(err, TAMIS_INVALID, path, 0, "the file is empty");
        goto done;
    }
    if (got < sizeof start || memcmp(start, mark, sizeof start) != 0) rewind(file);
    while (end == ',') {
        if (header->count == TMI_CSV_MAX_COLUMNS) {
            status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "more than %d columns", TMI_CSV_MAX_COLUMNS);
            goto done;
        }
        TMI_TRY(read_name(&end, &name, file, path, err));
        TMI_TRY(add_name(header, &name, err));
    }
    TMI_TRY(check_names(header, path, err));
done:
    if (file) fclose(file);
    tmi_text_clear(&name);
    if (status != TAMIS_OK) tmi_csv_header_clear(header);
    return status;
}

void tmi_csv_header_clear(tmi_csv_header *header)
{
    for (size_t i = 0; i < header->count; i++) tmi_free(header->names[i]);
    tmi_free(header->names);
    *header = (tmi_csv_header){0};
}

/* ---- the encoding ---- */

/* The state inside a character: how many bytes must follow, and the range of the next one. The range of the second byte
 * excludes overlong forms, surrogates and everything beyond U+10FFFF (Unicode, table 3-7). */
typedef struct utf8 {
    unsigned more;
    unsigned char least, most;
} utf8;

static bool take_byte(utf8 *state, unsigned char byte)
{
    if (state->more > 0) {
        if (byte < state->least || byte > state->most) return false;
        *state = (utf8){state->more - 1, 0x80, 0xbf};
        return true;
    }
    if (byte < 0x80) return true;
    if (byte < 0xc2 || byte > 0xf4) return false;
    state->more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    state->least = byte == 0xe0 ? 0xa0 : byte == 0xf0 ? 0x90 : 0x80;
    state->most = byte == 0xed ? 0x9f : byte == 0xf4 ? 0x8f : 0xbf;
    return true;
}

/* The number of the line that contains byte `offset`. */
static long long line_of(FILE *file, long long offset)
{
    long long line = 1;
    rewind(file);
    for (int c; offset > 0 && (c = getc(file)) != EOF; offset--) line += c == '\n';
    return line;
}

/* The number of leading bytes that are valid UTF-8; ASCII is checked eight bytes at a time. */
static size_t good_bytes(utf8 *state, const unsigned char *bytes, size_t n)
{
    static const uint64_t high_bits = UINT64_C(0x8080808080808080);
    size_t i = 0;
    while (i < n) {
        uint64_t word = high_bits;
        if (state->more == 0 && n - i >= sizeof word) memcpy(&word, bytes + i, sizeof word);
        if (!(word & high_bits)) i += sizeof word;
        else if (take_byte(state, bytes[i])) i++;
        else break;
    }
    return i;
}

/* Bytes between two questions whether to stop: a few hundredths of a second. */
#define PROGRESS_BYTES (INT64_C(1) << 23)

tamis_status tmi_csv_check_encoding(const char *path, const tamis_watch *watch, tamis_error *err)
{
    unsigned char bytes[1 << 16];
    tamis_status status;
    utf8 state = {0};
    int64_t offset = 0, told = 0;
    size_t n;
    FILE *file;
    TMI_TRY(open_file(&file, path, err));
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0) {
        size_t good = good_bytes(&state, bytes, n);
        offset += (int64_t)good;
        if (good < n) {
            status = tmi_fail_file(err, TAMIS_INVALID, path, line_of(file, offset),
                                   "not UTF-8; convert the file first (for "
                                   "example with iconv -f LATIN1 -t UTF-8)");
            goto done;
        }
        if (offset - told < PROGRESS_BYTES) continue;
        told = offset;
        if (tmi_stopped(watch, -1, 0)) {
            status = tmi_fail_cancelled(err);
            goto done;
        }
    }
    if (ferror(file)) status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno));
    else if (state.more > 0)
        status = tmi_fail_file(err, TAMIS_INVALID, path, 0, "the file ends in the middle of a character: it is not UTF-8");
done:
    if (file) fclose(file);
    return status;
}
