/* A kept row is a list of integers that compare as the order says: points as they are, for a missing one is the smallest
 * integer, and codes with -1 for a missing one. The rows of a unit are chained, the last in the order first.         */
#include "engine/units.h"

#include <string.h>

#include "base/memory.h"
#include "engine/addends.h"

#define NONE SIZE_MAX

struct tmi_units {
    const tmi_layout *layout;
    size_t *given; /* columns of the layout that rows are made of */
    size_t width;
    int64_t *rows; /* `width` integers each */
    size_t *next;  /* of each row, NONE: it is the first in the order */
    size_t row_count, row_room;
    size_t *last; /* of each unit */
    int64_t *kept;
    size_t unit_count, unit_room;
    int64_t *fresh; /* the row at hand */
};

tmi_units *tmi_units_new(const tmi_layout *layout)
{
    tmi_units *units = tmi_alloc(1, sizeof *units);
    if (!units) return NULL;
    units->layout = layout;
    units->given = tmi_alloc(layout->column_count, sizeof *units->given);
    units->fresh = tmi_alloc(layout->column_count, sizeof *units->fresh);
    if (!units->given || !units->fresh) {
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
    if (units->fresh) tmi_wipe(units->fresh, units->width * sizeof *units->fresh);
    tmi_free(units->given);
    tmi_free(units->fresh);
    tmi_free(units->rows);
    tmi_free(units->next);
    tmi_free(units->last);
    tmi_free(units->kept);
    tmi_free(units);
}

static bool make_unit(tmi_units *units, size_t unit)
{
    if (unit >= units->unit_room) {
        const size_t room = 2 * unit + 64;
        size_t *last = tmi_realloc(units->last, room, sizeof *last);
        if (last) units->last = last;
        int64_t *kept = tmi_realloc(units->kept, room, sizeof *kept);
        if (kept) units->kept = kept;
        if (!last || !kept) return false;
        units->unit_room = room;
    }
    for (; units->unit_count <= unit; units->unit_count++) {
        units->last[units->unit_count] = NONE;
        units->kept[units->unit_count] = 0;
    }
    return true;
}

/* Rows are records: the old block is wiped. */
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

static int compare(const int64_t *a, const int64_t *b, size_t width)
{
    for (size_t i = 0; i < width; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int64_t value_of(const tmi_column *column, const void *values, size_t i)
{
    if (tmi_has_points(column)) return ((const int64_t *)values)[i];
    const int32_t code = ((const int32_t *)values)[i];
    return code == (int32_t)column->value_count ? -1 : code;
}

tamis_status tmi_units_add(tmi_units *units, int64_t unit, const void *const *columns, size_t i, tamis_error *err)
{
    const size_t width = units->width, u = (size_t)unit;
    if (!make_unit(units, u) || !make_row(units)) return tmi_fail_memory(err);
    for (size_t w = 0; w < width; w++)
        units->fresh[w] = value_of(units->layout->columns[units->given[w]], columns[units->given[w]], i);
    size_t row = units->row_count;
    if (units->kept[u] == units->layout->request->rows_per_unit) { /* the last one of the unit may have to go */
        row = units->last[u];
        if (compare(units->fresh, units->rows + row * width, width) >= 0) return TAMIS_OK;
        units->last[u] = units->next[row];
    } else {
        units->kept[u]++;
        units->row_count++;
    }
    size_t *link = &units->last[u];
    while (*link != NONE && compare(units->fresh, units->rows + *link * width, width) < 0) link = &units->next[*link];
    memcpy(units->rows + row * width, units->fresh, width * sizeof *units->fresh);
    units->next[row] = *link;
    *link = row;
    return TAMIS_OK;
}

tamis_status tmi_units_give(const tmi_units *units, tmi_cells *cells, tamis_error *err)
{
    const tmi_layout *layout = units->layout;
    const size_t size = layout->column_count * TMI_BLOCK;
    int64_t *room = tmi_alloc(size, sizeof *room);
    const void **columns = tmi_alloc(layout->column_count, sizeof *columns);
    tamis_status status = room && columns ? TAMIS_OK : tmi_fail_memory(err);
    for (size_t start = 0; status == TAMIS_OK && start < units->row_count; start += TMI_BLOCK) {
        const size_t n = units->row_count - start < TMI_BLOCK ? units->row_count - start : TMI_BLOCK;
        for (size_t w = 0; w < units->width; w++) {
            const tmi_column *column = layout->columns[units->given[w]];
            int64_t *points = room + w * TMI_BLOCK;
            int32_t *codes = (int32_t *)(void *)points;
            columns[units->given[w]] = points;
            for (size_t i = 0; i < n; i++) {
                const int64_t value = units->rows[(start + i) * units->width + w];
                if (tmi_has_points(column))
                    points[i] = value;
                else
                    codes[i] = value < 0 ? (int32_t)column->value_count : (int32_t)value;
            }
        }
        status = tmi_cells_add(cells, columns, n, err);
    }
    if (room) tmi_wipe(room, size * sizeof *room);
    tmi_free(room);
    tmi_free(columns);
    return status;
}
