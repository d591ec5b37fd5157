/* What a request is made of, checked once: afterwards the loops over rows need no check. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "engine/cells.h"

size_t tmi_table_cells(const tmi_table *table)
{
    size_t cells = 1;
    for (size_t b = 0; b < table->by_count; b++)
        if (!table->by[b] || __builtin_mul_overflow(cells, table->by[b]->value_count, &cells)) return SIZE_MAX;
    return cells;
}

tamis_status tmi_column_check(const tmi_column *column, tamis_error *err)
{
    if (!column || !column->name || column->name[0] == '\0')
        return tmi_fail(err, TAMIS_INVALID, "a column of the request has no name");
    if (column->kind == TMI_CATEGORY) {
        if (column->value_count == 0 || !column->values)
            return tmi_fail(err, TAMIS_INVALID, "column %s has no values", column->name);
        return TAMIS_OK;
    }
    if (column->kind != TMI_NUMBER || column->by || column->reciprocal)
        return tmi_fail(err, TAMIS_UNABLE, "column %s is of a kind that no engine reads yet", column->name);
    const double from = column->grid.from, to = column->grid.to, step = column->grid.step;
    if (!(step > 0 && step <= DBL_MAX && fabs(from) <= DBL_MAX && fabs(to) <= DBL_MAX && from <= to))
        return tmi_fail(err, TAMIS_INVALID, "column %s: from, to and step are not finite, or from > to, or step <= 0",
                        column->name);
    if (!(-TMI_MAX_GRID < column->grid.low && column->grid.low <= column->grid.high && column->grid.high < TMI_MAX_GRID &&
          fabs(from / step) <= (double)TMI_MAX_GRID && fabs(to / step) <= (double)TMI_MAX_GRID))
        return tmi_fail(err, TAMIS_INVALID,
                        "column %s: the grid from/step .. to/step is empty or passes 2^52: take a larger step",
                        column->name);
    return TAMIS_OK;
}

static tamis_status add_column(tmi_layout *layout, const tmi_column *column, tamis_error *err)
{
    tamis_status status = tmi_column_check(column, err);
    if (status != TAMIS_OK) return status;
    for (size_t c = 0; c < layout->column_count; c++)
        if (layout->columns[c] == column) return TAMIS_OK;
    layout->columns[layout->column_count++] = column;
    return TAMIS_OK;
}

static tamis_status add_table(tmi_layout *layout, const tmi_table *table, tamis_error *err)
{
    for (size_t b = 0; b < table->by_count; b++) {
        tamis_status status = add_column(layout, table->by[b], err);
        if (status != TAMIS_OK) return status;
        if (table->by[b]->kind != TMI_CATEGORY)
            return tmi_fail(err, TAMIS_INVALID, "column %s is no category, as `by` needs", table->by[b]->name);
    }
    for (size_t m = 0; m < table->measure_count; m++) {
        const tmi_measure *measure = &table->measures[m];
        if (measure->factor_count > 1 || measure->where || measure->present[1] || measure->shift != 0)
            return tmi_fail(err, TAMIS_UNABLE, "a measure is of a kind that no engine counts yet");
        const tmi_column *column = measure->factor_count == 1 ? measure->factors[0].column : measure->present[0];
        if (measure->factor_count == 0 && !column) continue;
        tamis_status status = add_column(layout, column, err);
        if (status != TAMIS_OK) return status;
        if (measure->factor_count == 1 && column->kind != TMI_NUMBER)
            return tmi_fail(err, TAMIS_INVALID, "column %s is a category and has no sum", column->name);
    }
    size_t cells = tmi_table_cells(table), count;
    if (cells > (size_t)TMI_MAX_CELLS || __builtin_mul_overflow(cells, table->measure_count, &count) ||
        count > (size_t)TMI_MAX_CELLS - layout->answer_count)
        return tmi_fail(err, TAMIS_INVALID, "the request has more than %lld cells", (long long)TMI_MAX_CELLS);
    layout->answer_count += count;
    return TAMIS_OK;
}

tamis_status tmi_layout_init(tmi_layout *layout, const tmi_request *request, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t uses = 0;
    *layout = (tmi_layout){.request = request};
    if (request->unit) return tmi_fail(err, TAMIS_UNABLE, "no engine bounds the rows of a unit yet");
    for (size_t t = 0; t < request->table_count; t++)
        uses += request->tables[t].by_count + request->tables[t].measure_count;
    layout->columns = tmi_alloc(uses, sizeof *layout->columns);
    if (!layout->columns) return tmi_fail_memory(err);
    for (size_t t = 0; t < request->table_count; t++) TMI_TRY(add_table(layout, &request->tables[t], err));
done:
    if (status != TAMIS_OK) tmi_layout_clear(layout);
    return status;
}

void tmi_layout_clear(tmi_layout *layout)
{
    tmi_free(layout->columns);
    *layout = (tmi_layout){0};
}
