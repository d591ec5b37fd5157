#include "collect/cells.h"

#include <string.h>

#include "base/memory.h"

#define BUFFER ((size_t)1 << 16)

tamis_status tmi_cells_init(tmi_cells *cells, FILE *file, const char *path, tamis_error *err)
{
    *cells = (tmi_cells){.file = file, .path = path, .line = 1, .next_line = 1};
    cells->buffer = tmi_alloc(BUFFER, 1);
    return cells->buffer ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_cells_clear(tmi_cells *cells)
{
    if (cells->buffer) tmi_wipe(cells->buffer, BUFFER);
    if (cells->bytes) tmi_wipe(cells->bytes, cells->room);
    tmi_free(cells->buffer);
    tmi_free(cells->bytes);
    tmi_free(cells->begins);
    *cells = (tmi_cells){0};
}

/* The next byte; EOF at the end, or if the file cannot be read. */
static inline int look(tmi_cells *c)
{
    if (c->at == c->have) {
        c->at = 0;
        c->have = fread(c->buffer, 1, BUFFER, c->file);
    }
    return c->at < c->have ? c->buffer[c->at] : EOF;
}

static tamis_status bad(const tmi_cells *c, const char *what, tamis_error *err)
{
    return tmi_fail_file(err, TAMIS_INVALID, c->path, c->line, "%s", what);
}

static tamis_status grow(tmi_cells *c, tamis_error *err)
{
    if (c->length >= TMI_RECORD_BYTES) return bad(c, "a record of more than 4 MiB: is this a CSV file?", err);
    size_t room = c->room ? 2 * c->room : 256;
    uint8_t *bytes = tmi_regrow(c->bytes, c->room, room, 1);
    if (!bytes) return tmi_fail_memory(err);
    c->bytes = bytes;
    c->room = room;
    return TAMIS_OK;
}

static inline tamis_status keep(tmi_cells *c, int byte, tamis_error *err)
{
    tamis_status status = c->length < c->room ? TAMIS_OK : grow(c, err);
    if (status == TAMIS_OK) c->bytes[c->length++] = (uint8_t)byte;
    return status;
}

static tamis_status begin_cell(tmi_cells *c, tamis_error *err)
{
    if (c->count == c->begins_room) {
        size_t room = c->begins_room ? 2 * c->begins_room : 16;
        size_t *begins = tmi_realloc(c->begins, room, sizeof *begins);
        if (!begins) return tmi_fail_memory(err);
        c->begins = begins;
        c->begins_room = room;
    }
    c->begins[c->count++] = c->length;
    return TAMIS_OK;
}

/* After the opening quote, up to the closing one. */
static tamis_status quoted(tmi_cells *c, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (; status == TAMIS_OK; c->at++) {
        int byte = look(c);
        if (byte == EOF) return bad(c, "a quote is never closed", err);
        if (byte == 0) return bad(c, "a zero byte: is this a CSV file?", err);
        if (byte == '\n') c->next_line++;
        if (byte == '"') {
            c->at++;
            if (look(c) != '"') break;
        }
        status = keep(c, byte, err);
    }
    return status;
}

/* One cell, up to its comma or line end, which stays. */
static tamis_status read_cell(tmi_cells *c, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(begin_cell(c, err));
    if (look(c) == '"') {
        c->at++;
        c->whole = true;
        TMI_TRY(quoted(c, err));
    } else {
        for (int byte; (byte = look(c)) != ',' && byte != '\n' && byte != '\r' && byte != EOF; c->at++) {
            if (byte == '"' || byte == 0) TMI_TRY(bad(c, "a quote or a zero byte inside a cell", err));
            TMI_TRY(keep(c, byte, err));
        }
    }
    int end = look(c);
    if (end != ',' && end != '\n' && end != '\r' && end != EOF) TMI_TRY(bad(c, "text after a closing quote", err));
    TMI_TRY(keep(c, 0, err));
done:
    return status;
}

tamis_status tmi_cells_next(bool *more, tmi_cells *c, tamis_error *err)
{
    static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
    tamis_status status = TAMIS_OK;
    c->line = c->next_line;
    c->length = c->count = 0;
    c->whole = false;
    *more = look(c) != EOF;
    if (c->line == 1 && c->at == 0 && c->have >= sizeof mark && memcmp(c->buffer, mark, sizeof mark) == 0) c->at = sizeof mark;
    while (*more) {
        TMI_TRY(read_cell(c, err));
        int end = look(c);
        if (end != EOF) c->at++;
        if (end == ',') continue;
        if (end == '\r' && look(c) == '\n') c->at++;
        c->next_line++;
        break;
    }
    if (ferror(c->file)) status = tmi_fail_file(err, TAMIS_SYSTEM, c->path, 0, "the file cannot be read");
done:
    return status;
}
