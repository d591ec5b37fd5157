/* The values of a category from a public file: `values: {file: codes.csv, column: code}`. They become part of the plan as if
 * they were listed there, so that identity, certificate and verification know the values and need no file. */
#include <stdbool.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "plan/sections.h"
#include "plan/yaml.h"

/* The file in memory; cells are unquoted and ended in place. */
typedef struct cursor {
    char *at, *end;
    size_t line;
    const char *wrong; /* NULL: nothing yet */
} cursor;

static char *quoted_cell(cursor *c, char **end)
{
    char *to = ++c->at, *cell = to;
    for (; c->at < c->end; c->at++) {
        if (*c->at == '"' && c->at + 1 < c->end && c->at[1] == '"') c->at++;
        else if (*c->at == '"') break;
        *to++ = *c->at;
        if (*c->at == '\n') c->line++;
    }
    if (c->at >= c->end) c->wrong = "a quote is never closed";
    else c->at++;
    *end = to;
    return cell;
}

/* The next cell, and whether it is the last of its record. */
static char *next_cell(cursor *c, bool *last)
{
    char *cell = c->at, *end;
    if (c->at < c->end && *c->at == '"') cell = quoted_cell(c, &end);
    else {
        while (c->at < c->end && !strchr(",\r\n\"", *c->at)) c->at++; /* strchr finds a zero byte too */
        end = c->at;
    }
    if (c->at + 1 < c->end && c->at[0] == '\r' && c->at[1] == '\n') c->at++;
    *last = c->at >= c->end || *c->at == '\n';
    if (!*last && *c->at != ',' && !c->wrong) c->wrong = "expected commas between cells, and quotes around the whole cell";
    if (c->at < c->end && *c->at == '\n') c->line++;
    if (c->at < c->end) c->at++;
    *end = '\0';
    return cell;
}

static bool is_readable(const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && tmi_code_point(text, length, i) == 0xFFFD) return false;
    return tmi_unreadable(text) == 0;
}

/* The place of the wanted column in the header, and how many there are. */
static size_t find_column(cursor *c, const char *wanted, size_t *count)
{
    size_t found = SIZE_MAX;
    bool last = false;
    for (*count = 0; !last && !c->wrong; ++*count) {
        const char *name = next_cell(c, &last);
        if (found == SIZE_MAX && (!wanted || strcmp(name, wanted) == 0)) found = *count;
    }
    if (found == SIZE_MAX && !c->wrong) c->wrong = "there is no such column in its first line";
    return found;
}

static void take_value(tmi_reader *reader, tmi_plan_column *column, cursor *c, char *cell, size_t *room)
{
    while (*cell == ' ' || *cell == '\t') cell++;
    size_t length = strlen(cell);
    while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '\t')) length--;
    cell[length] = '\0';
    if (length == 0) c->wrong = "a value is empty";
    else if (!is_readable(cell)) c->wrong = "a value is not UTF-8, or has characters that cannot be seen";
    if (c->wrong) return;
    /* one more: missing: category */
    if (!tmi_grow(&column->values, room, column->value_count + 1, sizeof *column->values) ||
        !(column->values[column->value_count] = tmi_copy_text(cell, length)))
        reader->no_memory = true;
    else column->value_count++;
}

static void read_cells(tmi_reader *reader, tmi_plan_column *column, cursor *c, const char *wanted)
{
    size_t count, room = 0;
    const size_t place = find_column(c, wanted, &count);
    while (c->at < c->end && !c->wrong && !reader->no_memory) {
        const size_t line = c->line;
        size_t cells = 0;
        bool last = false;
        char *cell = NULL;
        for (; !last && !c->wrong; cells++) {
            char *one = next_cell(c, &last);
            if (cells == place) cell = one;
        }
        if (c->wrong || (cells == 1 && count > 1 && cell && !*cell)) continue; /* an empty line */
        if (cells != count) c->wrong = "a line has another number of cells than the first one";
        else take_value(reader, column, c, cell, &room);
        if (c->wrong) c->line = line;
    }
    if (!c->wrong && column->value_count == 0) c->wrong = "there is no value in it";
}

void tmi_read_values_file(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    static const char example[] = "{file: codes.csv, column: code}";
    static const tmi_plan_key keys[] = {{.name = "file", .read = tmi_read_later}, {.name = "column", .read = tmi_read_later}};
    const tmi_value *file = tmi_value_get(value, "file"), *of = tmi_value_get(value, "column");
    char *wanted = NULL, *path = NULL, *bytes = NULL;
    size_t length = 0;
    tamis_error why = {0};
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, NULL);
    if (!file) tmi_complain(reader, value, "expected the key file, e.g. %s", example);
    if (!file || !tmi_read_path(reader, file, reader->name, &path, "codes.csv") ||
        (of && !tmi_read_text(reader, of, &wanted, "code")))
        goto done;
    if (tmi_plan_bytes(&bytes, &length, path, &why) != TAMIS_OK) {
        if (why.status == TAMIS_SYSTEM && !bytes && strcmp(why.message, "out of memory") == 0) reader->no_memory = true;
        else tmi_complain(reader, file, "expected a CSV file that can be read, e.g. codes.csv");
    } else if (length > TMI_YAML_BYTES) {
        tmi_complain(reader, file, "expected a file of at most 1 MB");
    } else {
        const size_t mark = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        cursor c = {.at = bytes + mark, .end = bytes + length, .line = 1};
        read_cells(reader, column, &c, wanted);
        if (c.wrong) tmi_complain(reader, file, "%s: line %zu: %s", path, c.line, c.wrong);
    }

done:
    tmi_free(wanted);
    tmi_free(path);
    tmi_free(bytes);
}
