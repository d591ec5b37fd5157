/* Reads the rows of a CSV file: the dialect of csv.h, with the same errors where a file breaks it.
 *
 * In addition, as DuckDB reads: an empty line is not a row, unless there is only one column; blanks before an opening quote
 * and after a closing one are ignored; a quote inside an unquoted cell is an ordinary character; an empty cell, quoted or not,
 * is NULL. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "engine/files/csv.h"

#define BUFFER (1 << 16)

/* As DuckDB. */
#define LONGEST_LINE (2 << 20)

typedef enum place { CELL_BEGINS, IN_CELL, IN_QUOTES, AFTER_QUOTE } place;

struct tmi_csv_rows {
    FILE *file;
    const char *path;
    size_t columns;       /* of the file */
    const size_t *wanted; /* for each column its position among those handed out; SIZE_MAX: not wanted */
    size_t wanted_count;
    long long line, size, read;    /* lines begun; bytes of the file in all and read */
    long long lines[TMI_CSV_ROWS]; /* at which each row of the piece begins */
    unsigned char buffer[BUFFER];
    size_t at, filled;
    int line_end;   /* '\n', '\r', or 'b' for both; 0: not seen yet */
    tmi_text texts; /* of the piece, one after the other */
    size_t *starts; /* of each cell in it; cell (column, row) at column * TMI_CSV_ROWS + row */
    tmi_cell *cells;
};

void tmi_csv_rows_free(tmi_csv_rows *rows)
{
    if (!rows) return;
    if (rows->file) fclose(rows->file);
    if (rows->texts.bytes) tmi_wipe(rows->texts.bytes, rows->texts.room);
    tmi_text_clear(&rows->texts);
    tmi_free(rows->starts);
    tmi_free(rows->cells);
    tmi_wipe(rows->buffer, sizeof rows->buffer);
    tmi_free(rows);
}

static tamis_status fail(const tmi_csv_rows *rows, const char *what, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_INVALID, rows->path, rows->line, "%s", what);
}

static int next_byte(tmi_csv_rows *rows)
{
    if (rows->at == rows->filled) {
        rows->filled = fread(rows->buffer, 1, sizeof rows->buffer, rows->file);
        rows->at = 0;
        rows->read += (long long)rows->filled;
        if (rows->filled == 0) return EOF;
    }
    return rows->buffer[rows->at++];
}

/* After a byte that ends a line: reads the second byte, if any, and checks that all lines end alike. */
static bool take_line_end(tmi_csv_rows *rows, int c)
{
    int kind = c;
    if (c == '\r') {
        const int after = next_byte(rows);
        if (after == '\n') kind = 'b';
        else if (after != EOF) rows->at--;
    }
    if (rows->line_end == 0) rows->line_end = kind;
    return rows->line_end == kind;
}

static void begin_cell(tmi_csv_rows *rows, size_t column, size_t row)
{
    if (column < rows->columns && rows->wanted[column] != SIZE_MAX)
        rows->starts[rows->wanted[column] * TMI_CSV_ROWS + row] = rows->texts.length;
}

static void end_cell(tmi_csv_rows *rows, size_t column, size_t row)
{
    if (column >= rows->columns || rows->wanted[column] == SIZE_MAX) return;
    const size_t cell = rows->wanted[column] * TMI_CSV_ROWS + row;
    rows->cells[cell].length = rows->texts.length - rows->starts[cell];
}

/* Reads one row. *found is false at the end of the file; an empty line is skipped. */
static tamis_status read_line(bool *found, tmi_csv_rows *rows, size_t row, tamis_error *err)
{
    static const char quotes[] = "a quote is not closed, or text follows a closing quote";
    size_t column = 0, length = 0;
    long long inside = 0; /* line ends inside quotes */
    place place = CELL_BEGINS;
    bool begun = false; /* the line is not empty */
    *found = false;
    rows->line++;
    begin_cell(rows, 0, row);
    for (;;) {
        const int c = next_byte(rows);
        const bool keep = column < rows->columns && rows->wanted[column] != SIZE_MAX;
        const char byte = (char)c;
        if (++length > LONGEST_LINE) return fail(rows, "the line is longer than 2 MB", err);
        if (place == IN_QUOTES) {
            if (c == EOF) return fail(rows, quotes, err);
            inside += c == '\n';
            if (c == '"') place = AFTER_QUOTE;
            else if (keep) tmi_text_add(&rows->texts, &byte, 1);
            continue;
        }
        if (c == ',' || c == '\n' || c == '\r' || c == EOF) {
            if (c == EOF && !begun) return TAMIS_OK;
            if (c != ',' && c != EOF && !take_line_end(rows, c))
                return fail(rows, "this is not a CSV file with commas, double quotes and one kind of line end", err);
            if (c != ',' && !begun && rows->columns > 1) { /* an empty line */
                rows->line++;
                length = 0;
                continue;
            }
            end_cell(rows, column++, row);
            if (c != ',') break;
            begun = true;
            place = CELL_BEGINS;
            begin_cell(rows, column, row);
            continue;
        }
        begun = true;
        if (place == AFTER_QUOTE && c == '"') { /* doubled: a quote in the cell */
            place = IN_QUOTES;
            if (keep) tmi_text_add(&rows->texts, &byte, 1);
        } else if (place == AFTER_QUOTE) {
            if (c != ' ') return fail(rows, quotes, err);
        } else if (place == CELL_BEGINS && c == '"') {
            place = IN_QUOTES;
            begin_cell(rows, column, row); /* without the blanks before it */
        } else {
            if (c != ' ') place = IN_CELL;
            if (keep) tmi_text_add(&rows->texts, &byte, 1);
        }
    }
    if (column != rows->columns) return fail(rows, "there are more or fewer fields than columns in the first line", err);
    rows->lines[row] = rows->line;
    rows->line += inside;
    *found = true;
    return TAMIS_OK;
}

static tamis_status skip_first_line(tmi_csv_rows *rows, tamis_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    bool quoted = false;
    for (size_t i = 0; i < 3; i++) {
        if (next_byte(rows) == (unsigned char)mark[i]) continue;
        rows->at = 0;
        break;
    }
    rows->line = 1;
    for (int c; (c = next_byte(rows)) != EOF;) {
        if (c == '"') quoted = !quoted;
        if (quoted || (c != '\n' && c != '\r')) continue;
        take_line_end(rows, c);
        break;
    }
    return ferror(rows->file) ? tmi_fail_file(err, TAMIS_INVALID, rows->path, 0, "%s", strerror(errno)) : TAMIS_OK;
}

tamis_status tmi_csv_rows_open(tmi_csv_rows **rows, const char *path, size_t columns, const size_t *wanted, size_t wanted_count,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_csv_rows *made = tmi_alloc(1, sizeof *made);
    *rows = NULL;
    if (!made) return tmi_fail_memory(err);
    tmi_text_init(&made->texts);
    made->path = path;
    made->columns = columns;
    made->wanted = wanted;
    made->wanted_count = wanted_count;
    made->starts = tmi_alloc(wanted_count, TMI_CSV_ROWS * sizeof *made->starts);
    made->cells = tmi_alloc(wanted_count, TMI_CSV_ROWS * sizeof *made->cells);
    if (!made->starts || !made->cells) TMI_TRY(tmi_fail_memory(err));
    made->file = fopen(path, "rbe");
    if (!made->file) TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "%s", strerror(errno)));
    fseek(made->file, 0, SEEK_END);
    made->size = ftell(made->file);
    rewind(made->file);
    TMI_TRY(skip_first_line(made, err));
    *rows = made;
    made = NULL;
done:
    tmi_csv_rows_free(made);
    return status;
}

int64_t tmi_csv_rows_line(const tmi_csv_rows *rows, size_t row) { return rows->lines[row]; }

tamis_status tmi_csv_rows_next(size_t *n, const tmi_cell **cells, double *share, tmi_csv_rows *rows, tamis_error *err)
{
    bool found = true;
    *n = 0;
    *cells = rows->cells;
    if (rows->texts.bytes) tmi_wipe(rows->texts.bytes, rows->texts.length);
    rows->texts.length = 0;
    while (*n < TMI_CSV_ROWS) {
        tamis_status status = read_line(&found, rows, *n, err);
        if (status != TAMIS_OK || !found) {
            if (status == TAMIS_OK && ferror(rows->file))
                status = tmi_fail_file(err, TAMIS_INVALID, rows->path, 0, "%s", strerror(errno));
            if (status != TAMIS_OK) return status;
            break;
        }
        ++*n;
    }
    if (rows->texts.failed) return tmi_fail_memory(err);
    for (size_t w = 0; w < rows->wanted_count; w++)
        for (size_t i = 0; i < *n; i++) {
            const size_t cell = w * TMI_CSV_ROWS + i;
            rows->cells[cell].bytes = rows->cells[cell].length > 0 ? rows->texts.bytes + rows->starts[cell] : NULL;
        }
    *share = rows->size > 0 ? (double)(rows->read - (long long)(rows->filled - rows->at)) / (double)rows->size : 1;
    return TAMIS_OK;
}
