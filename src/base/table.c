#include "base/table.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/* ---- width ---- */

typedef struct range {
    uint32_t first, last;
} range;

/* The blocks that matter for names: combining marks and joiners take no column, CJK, Hangul, full-width forms and
 * pictographs take two. */
static const range none[] = {{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},   {0x64b, 0x65f},
                             {0x93c, 0x93c},   {0x94d, 0x94d},   {0xe31, 0xe31},   {0xe34, 0xe3a},   {0xe47, 0xe4e},
                             {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x20d0, 0x20ff}, {0x2060, 0x2064},
                             {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}};
static const range two[] = {{0x1100, 0x115f}, {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},  {0x4e00, 0x9fff},
                            {0xa000, 0xa4cf}, {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe4f},  {0xff00, 0xff60},
                            {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};

static bool inside(const range *ranges, size_t count, uint32_t c)
{
    for (size_t i = 0; i < count; i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) return true;
    }
    return false;
}

/* The next character; a broken byte counts as one. */
static uint32_t next(const unsigned char **at)
{
    const unsigned char *s = *at;
    size_t length = s[0] < 0xc0 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    uint32_t c = length == 1 ? s[0] : (uint32_t)s[0] & (0x7fu >> length);
    size_t used = 1;
    while (used < length && (s[used] & 0xc0) == 0x80) c = c << 6 | (s[used++] & 0x3fu);
    *at = s + used;
    return c;
}

size_t tmi_text_columns(const char *string)
{
    size_t columns = 0;
    for (const unsigned char *at = (const unsigned char *)string; *at;) {
        uint32_t c = next(&at);
        if (inside(none, sizeof none / sizeof *none, c)) continue;
        columns += inside(two, sizeof two / sizeof *two, c) ? 2 : 1;
    }
    return columns;
}

/* ---- tables ---- */

#define NARROWEST 24  /* columns that names keep in a table that is too wide, if notes can go below */
#define TOO_NARROW 16 /* else they keep these, or are on lines of their own */

void tmi_table_init(tmi_text_table *table, size_t columns, const tmi_align *align)
{
    *table = (tmi_text_table){.columns = columns <= TMI_TABLE_COLUMNS ? columns : TMI_TABLE_COLUMNS};
    for (size_t c = 0; c < table->columns; c++) table->align[c] = align[c];
}

void tmi_table_clear(tmi_text_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) tmi_free(table->cells[i]);
    tmi_free(table->cells);
    *table = (tmi_text_table){0};
}

void tmi_table_row(tmi_text_table *table, const char *const *cells)
{
    if (table->failed) return;
    if (!tmi_grow(&table->cells, &table->room, table->rows, table->columns * sizeof *table->cells)) {
        table->failed = true;
        return;
    }
    char **row = table->cells + table->rows * table->columns;
    for (size_t c = 0; c < table->columns; c++) {
        const char *cell = cells[c] ? cells[c] : "";
        row[c] = tmi_copy_text(cell, strlen(cell));
        if (row[c]) continue;
        while (c-- > 0) tmi_free(row[c]);
        table->failed = true;
        return;
    }
    table->rows++;
}

static void spaces(tmi_text *text, size_t count)
{
    while (count-- > 0) tmi_text_put(text, " ");
}

/* Columns of the first bytes of a string. */
static size_t columns_of(const char *string, size_t length)
{
    size_t whole = tmi_text_columns(string), rest = tmi_text_columns(string + length);
    return whole - rest;
}

/* Bytes of a word that fit `width` columns, at least one character: up to a mark between parts of a name if there is one. */
static size_t part_of(const char *word, size_t length, size_t width)
{
    size_t part = 0, marked = 0;
    for (const unsigned char *at = (const unsigned char *)word; part < length;) {
        next(&at);
        const size_t end = (size_t)((const char *)at - word);
        if (part > 0 && columns_of(word, end) > width) break;
        part = end;
        if (end < length && strchr("_/=.-,:", word[end - 1])) marked = end;
    }
    return part < length && marked > 0 ? marked : part;
}

/* A name that is too long takes several lines, broken between words, and inside of one only where it is longer than a line.
 * Gives the columns of the last line. */
static size_t write_name(tmi_text *text, const char *name, size_t width)
{
    const size_t indent = strspn(name, " "), next_indent = indent + (width > indent + 8 ? 4 : 0);
    const size_t whole = tmi_text_columns(name);
    size_t column = indent;
    bool line_has_word = false, inside_word = false;
    if (whole <= width) {
        tmi_text_put(text, name);
        return whole;
    }
    spaces(text, indent);
    for (const char *word = name + indent; *word;) {
        const size_t length = strcspn(word, " "), own = columns_of(word, length);
        const bool breaks = own + next_indent > width;
        const size_t room = width > column + line_has_word ? width - column - line_has_word : 0;
        size_t part = length;
        if (breaks && (room >= TOO_NARROW / 2 || !line_has_word) && own > room) part = part_of(word, length, room);
        const size_t taken = columns_of(word, part);
        if (line_has_word && (inside_word || column + 1 + taken > width)) {
            tmi_text_put(text, "\n");
            spaces(text, column = next_indent);
            line_has_word = inside_word = false;
            continue;
        }
        if (line_has_word) tmi_text_put(text, " ");
        tmi_text_add(text, word, part);
        column += taken + line_has_word;
        line_has_word = true;
        inside_word = part < length;
        word += part;
        word += strspn(word, " ");
    }
    return column;
}

/* How a table is fitted to the width. */
typedef struct layout {
    size_t widths[TMI_TABLE_COLUMNS], whole;
    size_t names; /* columns of a line of names: more than widths[0] where the numbers follow on a line of their own */
    bool notes_below;
} layout;

static void write_row(tmi_text *text, const tmi_text_table *table, char *const *row, const layout *l)
{
    size_t owed = 0; /* spaces are written only when something follows them */
    for (size_t c = 0; c < table->columns; c++) {
        if (c == 0 && table->align[0] == TMI_LEFT) {
            const size_t fits = tmi_text_columns(row[0]) <= l->widths[0] ? l->widths[0] : l->names;
            const size_t column = write_name(text, row[0], fits);
            owed = 2 + (column < l->widths[0] ? l->widths[0] - column : 0);
            if (column > l->widths[0] && l->names > l->widths[0]) {
                tmi_text_put(text, "\n");
                owed = 2 + l->widths[0];
            }
            continue;
        }
        if (l->notes_below && c + 1 == table->columns) {
            if (row[c][0] != '\0') tmi_text_format(text, "\n    %s", row[c]);
            continue;
        }
        size_t width = tmi_text_columns(row[c]);
        size_t fill = l->widths[c] - width;
        if (width > 0) {
            spaces(text, owed + (table->align[c] == TMI_RIGHT ? fill : 0));
            tmi_text_put(text, row[c]);
            owed = table->align[c] == TMI_RIGHT ? 0 : fill;
        } else {
            owed += fill;
        }
        owed += 2;
    }
    tmi_text_put(text, "\n");
}

/* Where a table is too wide, names become narrower; then notes in the last column go below their line, and at last names are
 * on lines of their own. */
static void fit(layout *l, const tmi_text_table *table)
{
    const size_t last = table->columns - 1;
    *l = (layout){0};
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        size_t width = tmi_text_columns(table->cells[i]);
        if (width > l->widths[i % table->columns]) l->widths[i % table->columns] = width;
    }
    for (size_t c = 0; c < table->columns; c++) l->whole += l->widths[c] > 0 ? l->widths[c] + (c > 0 ? 2 : 0) : 0;
    l->names = l->widths[0];
    if (l->whole <= TMI_TEXT_WIDTH || table->align[0] != TMI_LEFT || last == 0) return;
    const size_t least = l->widths[0] < NARROWEST ? l->widths[0] : NARROWEST;
    if (l->whole - l->widths[0] + least > TMI_TEXT_WIDTH && table->align[last] == TMI_LEFT && l->widths[last] > 0) {
        l->notes_below = true;
        l->whole -= l->widths[last] + 2;
    }
    if (l->whole <= TMI_TEXT_WIDTH) return;
    const size_t others = l->whole - l->widths[0], room = others < TMI_TEXT_WIDTH ? TMI_TEXT_WIDTH - others : 0;
    if (room >= TOO_NARROW || room >= l->widths[0]) l->names = room;
    else l->names = l->widths[0] < TMI_TEXT_WIDTH ? l->widths[0] : TMI_TEXT_WIDTH;
    l->widths[0] = room;
    l->whole = others + l->widths[0];
}

void tmi_table_write(tmi_text *text, const tmi_text_table *table)
{
    if (table->failed) {
        text->failed = true;
        return;
    }
    layout l;
    fit(&l, table);
    for (size_t r = 0; r < table->rows; r++) {
        write_row(text, table, table->cells + r * table->columns, &l);
        if (r > 0) continue;
        for (size_t i = 0; i < l.whole; i++) tmi_text_put(text, "─");
        tmi_text_put(text, "\n");
    }
}

/* ---- paragraphs ---- */

void tmi_text_wrap(tmi_text *text, const char *first, const char *indent, const char *paragraph)
{
    size_t column = tmi_text_columns(first);
    bool line_has_word = false;
    tmi_text_put(text, first);
    for (const char *word = paragraph; *word;) {
        word += strspn(word, " ");
        size_t length = strcspn(word, " ");
        if (length == 0) break;
        char *copy = tmi_copy_text(word, length);
        if (!copy) {
            text->failed = true;
            return;
        }
        size_t width = tmi_text_columns(copy);
        tmi_free(copy);
        if (line_has_word && column + 1 + width > TMI_TEXT_WIDTH) {
            tmi_text_put(text, "\n");
            tmi_text_put(text, indent);
            column = tmi_text_columns(indent);
            line_has_word = false;
        }
        if (line_has_word) tmi_text_put(text, " ");
        tmi_text_add(text, word, length);
        column += width + line_has_word;
        line_has_word = true;
        word += length;
    }
    tmi_text_put(text, "\n");
}

void tmi_text_wrap_taken(tmi_text *text, const char *first, const char *indent, tmi_text *paragraph)
{
    if (paragraph->failed) text->failed = true;
    else tmi_text_wrap(text, first, indent, paragraph->bytes);
    tmi_text_clear(paragraph);
}

void tmi_table_row_taken(tmi_text_table *table, tmi_text *cells)
{
    const char *strings[TMI_TABLE_COLUMNS];
    for (size_t i = 0; i < table->columns; i++) {
        strings[i] = cells[i].bytes;
        if (cells[i].failed) table->failed = true;
    }
    tmi_table_row(table, strings);
    for (size_t i = 0; i < table->columns; i++) tmi_text_clear(&cells[i]);
}
