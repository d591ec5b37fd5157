/* A row is a list of integers: points, where the smallest integer means missing, and codes, where -1 does. The rows of a unit
 * are chained. All rows are kept until the last one is read: which of them count depends on how many there are, and on how
 * many are identical. */
#include "engine/core/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/adding/blocks.h"
#include "engine/core/labels.h"

#define NONE SIZE_MAX

struct tmi_units {
    const tmi_layout *layout;
    tmi_labels *labels;
    size_t *given; /* columns of the layout that rows are made of */
    size_t width;
    int64_t *rows; /* `width` integers each */
    size_t *next;  /* next row of the same unit; NONE: no more */
    size_t row_count, row_room;
    size_t *first;  /* first row of each unit */
    size_t *counts; /* rows of each unit */
    size_t unit_count, unit_room;
};

tmi_units *tmi_units_new(const tmi_layout *layout)
{
    tmi_units *units = tmi_alloc(1, sizeof *units);
    if (!units) return NULL;
    units->layout = layout;
    units->labels = tmi_labels_new();
    units->given = tmi_alloc(layout->column_count, sizeof *units->given);
    if (!units->labels || !units->given) {
        tmi_units_free(units);
        return NULL;
    }
    for (size_t c = 0; c < layout->column_count; c++)
        if (tmi_is_given(layout->columns[c])) units->given[units->width++] = c;
    return units;
}

void tmi_units_free(tmi_units *units)
{
    if (!units) return;
    if (units->rows) tmi_wipe(units->rows, units->row_room * units->width * sizeof *units->rows);
    tmi_labels_free(units->labels);
    tmi_free(units->given);
    tmi_free(units->rows);
    tmi_free(units->next);
    tmi_free(units->first);
    tmi_free(units->counts);
    tmi_free(units);
}

static bool make_unit(tmi_units *units, size_t unit)
{
    if (unit >= units->unit_room) {
        const size_t room = 2 * unit + 64;
        size_t *first = tmi_realloc(units->first, room, sizeof *first);
        if (first) units->first = first;
        size_t *counts = tmi_realloc(units->counts, room, sizeof *counts);
        if (counts) units->counts = counts;
        if (!first || !counts) return false;
        units->unit_room = room;
    }
    for (; units->unit_count <= unit; units->unit_count++) {
        units->first[units->unit_count] = NONE;
        units->counts[units->unit_count] = 0;
    }
    return true;
}

/* Rows are records, so the old block is wiped. */
static bool make_row(tmi_units *units)
{
    if (units->row_count < units->row_room) return true;
    const size_t room = 2 * units->row_room + 256, size = units->width * sizeof *units->rows;
    size_t *next = tmi_realloc(units->next, room, sizeof *next);
    if (next) units->next = next;
    int64_t *rows = next ? tmi_regrow(units->rows, units->row_count * size, room, size) : NULL;
    if (!rows) return false;
    units->rows = rows;
    units->row_room = room;
    return true;
}

static int64_t value_of(const tmi_column *column, const void *values, size_t i)
{
    if (tmi_has_points(column)) return ((const int64_t *)values)[i];
    const int32_t code = ((const int32_t *)values)[i];
    return code == (int32_t)column->value_count ? -1 : code;
}

tamis_status tmi_units_add(tmi_units *units, tmi_cell unit, const void *const *columns, size_t i, tamis_error *err)
{
    int64_t number;
    tamis_status status = tmi_labels_add(&number, units->labels, 0, unit, err);
    if (status != TAMIS_OK || number == TMI_NO_LABEL) return status;
    const size_t width = units->width, u = (size_t)number;
    if (!make_unit(units, u) || !make_row(units)) return tmi_fail_memory(err);
    for (size_t w = 0; w < width; w++)
        units->rows[units->row_count * width + w] = value_of(units->layout->columns[units->given[w]], columns[units->given[w]],
                                                             i);
    units->next[units->row_count] = units->first[u];
    units->first[u] = units->row_count++;
    units->counts[u]++;
    return TAMIS_OK;
}

/* ---- which rows count ---- */

typedef struct candidate {
    const int64_t *row;
    size_t width;
    unsigned char hash[TMI_SHA256_BYTES];
} candidate;

/* The order does not matter, but identical rows become neighbours. */
static int compare_rows(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->width > 0 ? memcmp(x->row, y->row, x->width * sizeof *x->row) : 0;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(((const candidate *)a)->hash, ((const candidate *)b)->hash, TMI_SHA256_BYTES);
}

#define DIGITS 21 /* of an integer with its sign, and a comma */

/* Sorts the rows of a unit into their order. `text` has room for what is hashed. */
static void arrange(candidate *list, size_t count, char *text, const tmi_units *units, tmi_cell label)
{
    size_t copy = 0;
    tmi_hex(text, units->layout->request->key, TMI_KEY_BYTES);
    tmi_sha256_text(text + 2 * TMI_KEY_BYTES, label.bytes, label.length);
    char *const values = text + 2 * TMI_KEY_BYTES + 2 * TMI_SHA256_BYTES;
    qsort(list, count, sizeof *list, compare_rows);
    for (size_t i = 0; i < count; i++) {
        char *at = values;
        copy = i > 0 && compare_rows(&list[i - 1], &list[i]) == 0 ? copy + 1 : 1;
        for (size_t w = 0; w < units->width; w++) {
            const int64_t value = list[i].row[w];
            const bool has_points = tmi_has_points(units->layout->columns[units->given[w]]);
            at += value == (has_points ? TMI_NO_POINT : -1) ? sprintf(at, ",") : sprintf(at, ",%lld", (long long)value);
        }
        at += sprintf(at, ",%zu", copy);
        tmi_sha256(list[i].hash, text, (size_t)(at - text));
    }
    qsort(list, count, sizeof *list, compare_hashes);
}

/* ---- giving ---- */

typedef struct block {
    tmi_take_block *take;
    void *context;
    int64_t *room;
    const void **columns;
    size_t count;
} block;

static tamis_status give_block(block *b, tamis_error *err)
{
    const size_t n = b->count;
    b->count = 0;
    return n > 0 ? b->take(b->context, b->columns, n, err) : TAMIS_OK;
}

static tamis_status give_row(block *b, const int64_t *row, const tmi_units *units, tamis_error *err)
{
    for (size_t w = 0; w < units->width; w++) {
        const tmi_column *column = units->layout->columns[units->given[w]];
        int64_t *points = b->room + w * TMI_BLOCK;
        int32_t *codes = (int32_t *)(void *)points;
        if (tmi_has_points(column)) points[b->count] = row[w];
        else codes[b->count] = row[w] < 0 ? (int32_t)column->value_count : (int32_t)row[w];
    }
    return ++b->count == TMI_BLOCK ? give_block(b, err) : TAMIS_OK;
}

static tamis_status give_unit(block *b, size_t u, candidate *list, char *text, const tmi_units *units, tamis_error *err)
{
    size_t count = 0;
    const size_t most = (size_t)units->layout->request->rows_per_unit, kept = units->counts[u] < most ? units->counts[u] : most;
    tamis_status status = TAMIS_OK;
    for (size_t r = units->first[u]; r != NONE; r = units->next[r])
        list[count++] = (candidate){.row = units->rows + r * units->width, .width = units->width};
    if (count > kept) arrange(list, count, text, units, tmi_labels_text(units->labels, (int64_t)u));
    for (size_t i = 0; status == TAMIS_OK && i < kept; i++) status = give_row(b, list[i].row, units, err);
    return status;
}

tamis_status tmi_units_give(const tmi_units *units, tmi_take_block *take, void *context, tamis_error *err)
{
    const size_t text_size = 2 * TMI_KEY_BYTES + TMI_SHA256_TEXT + (units->width + 1) * DIGITS;
    size_t most = 0;
    for (size_t u = 0; u < units->unit_count; u++) most = units->counts[u] > most ? units->counts[u] : most;
    block b = {.take = take,
               .context = context,
               .room = tmi_alloc(units->width * TMI_BLOCK, sizeof *b.room),
               .columns = tmi_alloc(units->layout->column_count, sizeof *b.columns)};
    candidate *list = tmi_alloc(most, sizeof *list);
    char *text = tmi_alloc(text_size, 1);
    tamis_status status = b.room && b.columns && list && text ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t w = 0; status == TAMIS_OK && w < units->width; w++) b.columns[units->given[w]] = b.room + w * TMI_BLOCK;
    for (size_t u = 0; status == TAMIS_OK && u < units->unit_count; u++) status = give_unit(&b, u, list, text, units, err);
    if (status == TAMIS_OK) status = give_block(&b, err);
    if (b.room) tmi_wipe(b.room, units->width * TMI_BLOCK * sizeof *b.room);
    if (list) tmi_wipe(list, most * sizeof *list);
    if (text) tmi_wipe(text, text_size);
    tmi_free(b.room);
    tmi_free(b.columns);
    tmi_free(list);
    tmi_free(text);
    return status;
}
