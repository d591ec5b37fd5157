/* The columns of a request, checked once so that the loops over rows need no checks. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/cells.h"

size_t tmi_table_cells(const tmi_table *table)
{
    size_t cells = 1;
    for (size_t b = 0; b < table->by_count; b++)
        if (!table->by[b] || __builtin_mul_overflow(cells, table->by[b]->value_count, &cells)) return SIZE_MAX;
    return cells;
}

/* ---- columns ---- */

static bool is_point(int64_t k) { return -TMI_MAX_GRID < k && k < TMI_MAX_GRID; }

static tamis_status check_grid(const tmi_grid *grid, const tmi_column *column, tamis_error *err)
{
    const double from = grid->from, to = grid->to, step = grid->step;
    if (!(step > 0 && step <= DBL_MAX && fabs(from) <= DBL_MAX && fabs(to) <= DBL_MAX && from <= to))
        return tmi_fail(err, TAMIS_INVALID, "column %s: from, to and step are not finite, or from > to, or step <= 0",
                        column->name);
    if (!(is_point(grid->low) && is_point(grid->high) && grid->low <= grid->high && fabs(from / step) <= (double)TMI_MAX_GRID &&
          fabs(to / step) <= (double)TMI_MAX_GRID))
        return tmi_fail(err, TAMIS_INVALID,
                        "column %s: the grid from/step .. to/step is empty or exceeds 2^52: use a larger step", column->name);
    if (column->has_instead && (column->instead < grid->low || column->instead > grid->high))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the value that replaces missing ones is not on the grid", column->name);
    return TAMIS_OK;
}

static tamis_status check_number(const tmi_column *column, tamis_error *err)
{
    if (column->missing_code_count > 0 && !column->missing_codes)
        return tmi_fail(err, TAMIS_INVALID, "column %s has no missing codes", column->name);
    if (!column->by) return check_grid(&column->grid, column, err);
    if (!tmi_may_choose(column->by) || !column->grids)
        return tmi_fail(err, TAMIS_INVALID, "column %s: grids must be chosen by a category, one for each value", column->name);
    for (size_t v = 0; v < column->by->value_count; v++) {
        tamis_status status = check_grid(&column->grids[v], column, err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static tamis_status check_category(const tmi_column *column, tamis_error *err)
{
    bool whole = column->values && (column->missing_text_count == 0 || column->missing_texts);
    for (size_t v = 0; whole && v < column->value_count; v++) whole = column->values[v];
    for (size_t i = 0; whole && i < column->missing_text_count; i++) whole = column->missing_texts[i];
    if (column->value_count == 0 || !whole) return tmi_fail(err, TAMIS_INVALID, "column %s has no values", column->name);
    if (column->has_instead && (column->instead < 0 || (uint64_t)column->instead >= column->value_count))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the value that replaces missing ones is not one of its values",
                        column->name);
    return TAMIS_OK;
}

static tamis_status check_cuts(const tmi_column *column, tamis_error *err)
{
    bool ascending = column->of && tmi_has_points(column->of) && column->value_count > 0 &&
                     column->value_count <= (size_t)TMI_MAX_CELLS && (column->value_count == 1 || column->cuts);
    for (size_t i = 1; ascending && i + 1 < column->value_count; i++) ascending = column->cuts[i - 1] < column->cuts[i];
    return ascending ? TAMIS_OK
                     : tmi_fail(err, TAMIS_INVALID, "column %s: cuts must be ascending points of a number", column->name);
}

static tamis_status check_indicator(const tmi_column *column, tamis_error *err)
{
    bool good = column->condition_count == 0 || column->conditions;
    for (size_t i = 0; good && i < column->condition_count; i++) {
        const tmi_condition *condition = &column->conditions[i];
        good = condition->column && (tmi_has_points(condition->column) ||
                                     (tmi_has_codes(condition->column) && (condition->code_count == 0 || condition->codes)));
    }
    return good ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "column %s: a condition has no number or category", column->name);
}

static tamis_status check_lookup(const tmi_column *column, tamis_error *err)
{
    bool good = column->of && tmi_has_codes(column->of) && column->numbers;
    for (size_t v = 0; good && v < column->of->value_count; v++) good = is_point(column->numbers[v]);
    return good ? TAMIS_OK
                : tmi_fail(err, TAMIS_INVALID, "column %s: needs one number below 2^52 for each value of a category",
                           column->name);
}

static tamis_status check_groups(const tmi_column *column, tamis_error *err)
{
    bool good = column->of && column->of->kind == TMI_LABEL && column->cell_of && column->cluster_counts &&
                (!column->stratum || tmi_may_choose(column->stratum));
    for (size_t s = 0; good && s < (column->stratum ? column->stratum->value_count : 1); s++)
        for (int64_t r = 0; good && r < column->cluster_counts[s]; r++)
            good = column->cell_of[s] && column->cell_of[s][r] >= 0 && (size_t)column->cell_of[s][r] < column->value_count;
    return good ? TAMIS_OK
                : tmi_fail(err, TAMIS_INVALID, "column %s: needs a label and a code for each cluster of a stratum", column->name);
}

static tamis_status check_scatter(const tmi_column *column, tamis_error *err)
{
    const size_t count = column->value_count;
    bool good = column->of && column->of->kind == TMI_LABEL && column->key &&
                (!column->stratum || column->stratum->kind == TMI_LABEL) && count > 0 && count <= 256 &&
                (count & (count - 1)) == 0;
    if (good) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "column %s: needs a key, labels and a power of 2 up to 256", column->name);
}

static tamis_status check_classes(const tmi_column *column, tamis_error *err)
{
    const int64_t count = (int64_t)column->value_count;
    if (!column->of || column->of->kind == TMI_LABEL)
        return tmi_fail(err, TAMIS_INVALID, "column %s: classes are made from a number or category", column->name);
    if (column->value_count == 0 || column->value_count > (size_t)TMI_MAX_CELLS || !column->classes)
        return tmi_fail(err, TAMIS_INVALID, "column %s has no classes, or more than %lld", column->name,
                        (long long)TMI_MAX_CELLS);
    for (size_t v = 0; v < tmi_class_count(column); v++)
        if (column->classes[v] < -1 || column->classes[v] >= count)
            return tmi_fail(err, TAMIS_INVALID, "column %s: class number %zu is neither one of its codes nor -1", column->name,
                            v + 1);
    if (column->has_instead && (column->instead < 0 || column->instead >= count))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the class that replaces missing ones is not one of its codes",
                        column->name);
    return TAMIS_OK;
}

static tamis_status check_product(const tmi_column *column, tamis_error *err)
{
    const int64_t low = column->grid.low, high = column->grid.high;
    if (!column->of || !column->second || !tmi_has_points(column->of) || !tmi_has_points(column->second))
        return tmi_fail(err, TAMIS_INVALID, "column %s: a product is made from two numbers", column->name);
    if (column->shift < 0 || column->shift > TMI_ENGINE_MAX_SHIFT)
        return tmi_fail(err, TAMIS_INVALID, "column %s: the shift of a product is from 0 to %d", column->name,
                        TMI_ENGINE_MAX_SHIFT);
    if (!is_point(low) || !is_point(high) || low > high)
        return tmi_fail(err, TAMIS_INVALID, "column %s: the range of a product is empty or exceeds 2^52", column->name);
    if (column->has_instead && (column->instead < low || column->instead > high))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the value that replaces missing ones is not in its range", column->name);
    return TAMIS_OK;
}

static tamis_status check_difference(const tmi_column *column, tamis_error *err)
{
    int64_t low, high;
    if (!column->of || !column->second || !tmi_has_points(column->of) || !tmi_has_points(column->second))
        return tmi_fail(err, TAMIS_INVALID, "column %s: a difference is made from two numbers", column->name);
    if (column->of->kind == TMI_DIFFERENCE || column->second->kind == TMI_DIFFERENCE)
        return tmi_fail(err, TAMIS_INVALID, "column %s: a difference is not made from another one", column->name);
    tmi_point_range(&low, &high, column);
    if (!is_point(low) || !is_point(high))
        return tmi_fail(err, TAMIS_INVALID, "column %s: the range of a difference exceeds 2^52", column->name);
    return TAMIS_OK;
}

/* Pairs of codes are numbered in 32 bits. */
static tamis_status check_joint(const tmi_column *column, tamis_error *err)
{
    bool good = column->of && column->second && tmi_may_choose(column->of) && tmi_may_choose(column->second) &&
                column->value_count > 0 && column->value_count <= (size_t)TMI_MAX_CELLS && column->classes &&
                column->second->value_count > 0 && column->of->value_count <= (size_t)TMI_MAX_CELLS / column->second->value_count;
    const size_t pairs = good ? column->of->value_count * column->second->value_count : 0;
    for (size_t v = 0; good && v < pairs; v++)
        good = column->classes[v] >= -1 && column->classes[v] < (int64_t)column->value_count;
    return good ? TAMIS_OK
                : tmi_fail(err, TAMIS_INVALID, "column %s: needs two categories, and a code for each of at most %lld pairs",
                           column->name, (long long)TMI_MAX_CELLS);
}

/* Of a column that is right otherwise. */
static tamis_status check_of_unit(const tmi_column *column, tamis_error *err)
{
    if (column->most_of_unit == 0) return TAMIS_OK;
    const bool may = (column->kind == TMI_NUMBER && !column->by) || column->kind == TMI_LOOKUP || column->kind == TMI_PRODUCT;
    if (may && column->most_of_unit >= 1) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "column %s: a bound of a unit's points needs one grid, and is at least 1", column->name);
}

static tamis_status check_kind(const tmi_column *column, tamis_error *err)
{
    switch (column->kind) {
    case TMI_NUMBER: return check_number(column, err);
    case TMI_CATEGORY: return check_category(column, err);
    case TMI_LABEL: return TAMIS_OK;
    case TMI_CUTS: return check_cuts(column, err);
    case TMI_INDICATOR: return check_indicator(column, err);
    case TMI_LOOKUP: return check_lookup(column, err);
    case TMI_GROUPS: return check_groups(column, err);
    case TMI_SCATTER: return check_scatter(column, err);
    case TMI_CLASSES: return check_classes(column, err);
    case TMI_PRODUCT: return check_product(column, err);
    case TMI_DIFFERENCE: return check_difference(column, err);
    case TMI_JOINT: return check_joint(column, err);
    }
    return tmi_fail(err, TAMIS_INVALID, "column %s has no valid kind", column->name);
}

tamis_status tmi_column_check(const tmi_column *column, tamis_error *err)
{
    if (!column || !column->name || column->name[0] == '\0')
        return tmi_fail(err, TAMIS_INVALID, "a column of the request has no name");
    const tamis_status status = check_kind(column, err);
    return status == TAMIS_OK ? check_of_unit(column, err) : status;
}

const tmi_column *tmi_column_part(const tmi_column *column, size_t i)
{
    const tmi_column *parts[2] = {NULL, NULL};
    switch (column->kind) {
    case TMI_NUMBER: parts[0] = column->by; break;
    case TMI_CATEGORY:
    case TMI_LABEL: break;
    case TMI_CUTS:
    case TMI_LOOKUP:
    case TMI_CLASSES: parts[0] = column->of; break;
    case TMI_PRODUCT:
    case TMI_DIFFERENCE:
    case TMI_JOINT:
        parts[0] = column->of;
        parts[1] = column->second;
        break;
    case TMI_INDICATOR: return i < column->condition_count ? column->conditions[i].column : NULL;
    case TMI_GROUPS:
    case TMI_SCATTER:
        parts[0] = column->stratum ? column->stratum : column->of;
        parts[1] = column->stratum ? column->of : NULL;
        break;
    }
    return i < 2 ? parts[i] : NULL;
}

void tmi_point_range(int64_t *low, int64_t *high, const tmi_column *column)
{
    const bool is_lookup = column->kind == TMI_LOOKUP;
    const bool has_grids = column->kind == TMI_NUMBER && column->by;
    const size_t count = is_lookup ? column->of->value_count : has_grids ? column->by->value_count : 0;
    *low = column->kind == TMI_INDICATOR || count > 0 ? INT64_MAX : column->grid.low;
    *high = column->kind == TMI_INDICATOR || count > 0 ? INT64_MIN : column->grid.high;
    if (column->kind == TMI_INDICATOR) *low = 0, *high = 1;
    if (column->kind == TMI_DIFFERENCE) {
        int64_t least, most;
        tmi_point_range(low, high, column->of);
        tmi_point_range(&least, &most, column->second);
        *low -= most;
        *high -= least;
    }
    for (size_t v = 0; v < count; v++) {
        const int64_t least = is_lookup ? column->numbers[v] : column->grids[v].low;
        const int64_t most = is_lookup ? column->numbers[v] : column->grids[v].high;
        *low = least < *low ? least : *low;
        *high = most > *high ? most : *high;
    }
}

/* ---- layouts ---- */

/* Columns made of columns, at most. */
#define MAX_DEPTH 16

/* Also for columns that are there already: then nothing but their check is needed, and it was made. */
static tamis_status add_column(tmi_layout *layout, const tmi_column *column, int depth, tamis_error *err)
{
    for (size_t c = 0; column && c < layout->column_count; c++)
        if (layout->columns[c] == column) return TAMIS_OK;
    tamis_status status;
    if (depth > MAX_DEPTH)
        return tmi_fail(err, TAMIS_INVALID, "column %s is derived from itself, or others from it in more than %d steps",
                        column->name, MAX_DEPTH);
    TMI_TRY(tmi_column_check(column, err));
    for (size_t i = 0; tmi_column_part(column, i); i++) TMI_TRY(add_column(layout, tmi_column_part(column, i), depth + 1, err));
    const tmi_column **columns = tmi_realloc(layout->columns, layout->column_count + 1, sizeof *columns);
    if (!columns) return tmi_fail_memory(err);
    layout->columns = columns;
    layout->columns[layout->column_count++] = column;
done:
    return status;
}

/* Products of this size, and what a shift leaves of them, are far inside doubles. */
_Static_assert(TMI_MAX_PRODUCT_BITS < DBL_MAX_EXP && TMI_ENGINE_MAX_SHIFT < -DBL_MIN_EXP, "neither overflow nor underflow");

/* A factor is below 2^bits in size, and so is `minus` alone, where the point is missing. */
static int bits_of(const tmi_factor *factor)
{
    int64_t low, high;
    tmi_point_range(&low, &high, factor->column);
    const double ends = fmax(fabs((double)low - (double)factor->minus), fabs((double)high - (double)factor->minus));
    return ilogb(fmax(fmax(ends, fabs((double)factor->minus)), 1)) + 1;
}

static tamis_status add_measure(tmi_layout *layout, const tmi_measure *measure, tamis_error *err)
{
    int bits = 0;
    tamis_status status = TAMIS_OK;
    if (measure->factor_count > TMI_MAX_FACTORS || measure->shift < 0 || measure->shift > TMI_ENGINE_MAX_SHIFT ||
        measure->low > measure->high || measure->low < -TMI_MAX_GRID || measure->high > TMI_MAX_GRID)
        return tmi_fail(err, TAMIS_INVALID, "a measure has too many factors, or a shift or clamp beyond its limits");
    for (size_t f = 0; f < measure->factor_count; f++) {
        const tmi_factor *factor = &measure->factors[f];
        TMI_TRY(add_column(layout, factor->column, 0, err));
        if (!tmi_has_points(factor->column))
            return tmi_fail(err, TAMIS_INVALID, "column %s is not a number, so it cannot be summed", factor->column->name);
        if (!is_point(factor->minus))
            return tmi_fail(err, TAMIS_INVALID, "column %s: the number subtracted exceeds 2^52", factor->column->name);
        bits += bits_of(factor);
    }
    if (bits > TMI_MAX_PRODUCT_BITS)
        return tmi_fail(err, TAMIS_INVALID, "a product of numbers may reach 2^%d, and 2^%d is the limit: use larger steps", bits,
                        TMI_MAX_PRODUCT_BITS);
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++) {
        const tmi_column *present = measure->present[p];
        if (!present) continue;
        TMI_TRY(add_column(layout, present, 0, err));
        if (present->kind == TMI_LABEL)
            return tmi_fail(err, TAMIS_INVALID, "column %s is a label, not a number or category", present->name);
    }
    if (measure->where) {
        TMI_TRY(add_column(layout, measure->where, 0, err));
        if (measure->where->kind != TMI_INDICATOR)
            return tmi_fail(err, TAMIS_INVALID, "column %s is not an indicator, as `where` requires", measure->where->name);
    }
done:
    return status;
}

static tamis_status add_table(tmi_layout *layout, const tmi_table *table, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t b = 0; b < table->by_count; b++) {
        TMI_TRY(add_column(layout, table->by[b], 0, err));
        if (!tmi_has_codes(table->by[b]))
            return tmi_fail(err, TAMIS_INVALID, "column %s is not a category, as `by` requires", table->by[b]->name);
    }
    for (size_t m = 0; m < table->measure_count; m++) TMI_TRY(add_measure(layout, &table->measures[m], err));
    size_t cells = tmi_table_cells(table), count;
    if (cells > (size_t)TMI_MAX_CELLS || __builtin_mul_overflow(cells, table->measure_count, &count) ||
        count > (size_t)TMI_MAX_CELLS - layout->answer_count)
        return tmi_fail(err, TAMIS_INVALID, "the request has more than %lld cells", (long long)TMI_MAX_CELLS);
    layout->answer_count += count;
done:
    return status;
}

bool tmi_bounds_units(const tmi_layout *layout)
{
    for (size_t c = 0; c < layout->column_count; c++)
        if (layout->columns[c]->most_of_unit > 0) return true;
    return false;
}

tamis_status tmi_refuse_bounded_units(const tmi_layout *layout, const char *engine, tamis_error *err)
{
    if (!tmi_bounds_units(layout)) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_REFUSED,
        "%s cannot bound what the rows of a unit add together; nearest setting that works: rows in files, in memory or "
        "in a database, or without `max_unit_weight` and `unit_contribution`",
        engine);
}

static tamis_status add_unit(tmi_layout *layout, const tmi_request *request, tamis_error *err)
{
    if (!request->unit && tmi_bounds_units(layout))
        return tmi_fail(err, TAMIS_INVALID, "a column bounds the points of a unit, and the request has none");
    if (!request->unit) return TAMIS_OK;
    if (request->unit->kind != TMI_LABEL || request->rows_per_unit < 1 || !request->key)
        return tmi_fail(err, TAMIS_INVALID, "the unit is not a label, has no key, or rows_per_unit is below 1");
    return add_column(layout, request->unit, 0, err);
}

tamis_status tmi_layout_init(tmi_layout *layout, const tmi_request *request, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *layout = (tmi_layout){.request = request};
    for (size_t t = 0; t < request->table_count; t++) TMI_TRY(add_table(layout, &request->tables[t], err));
    TMI_TRY(add_unit(layout, request, err));
done:
    if (status != TAMIS_OK) tmi_layout_clear(layout);
    return status;
}

tamis_status tmi_request_check(const tmi_request *request, tamis_error *err)
{
    tmi_layout layout;
    tamis_status status = tmi_layout_init(&layout, request, err);
    tmi_layout_clear(&layout);
    return status;
}

tamis_status tmi_layout_of_inventory(tmi_layout *layout, const tmi_inventory *inventory, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *layout = (tmi_layout){0};
    for (size_t c = 0; c < inventory->column_count; c++) TMI_TRY(add_column(layout, inventory->columns[c], 0, err));
    if ((inventory->stratum && !tmi_may_choose(inventory->stratum)) || (inventory->unit && inventory->unit->kind != TMI_LABEL) ||
        (inventory->cluster && inventory->cluster->kind != TMI_LABEL))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the stratum is not a category, or the unit or cluster is not a label"));
    if (inventory->stratum) TMI_TRY(add_column(layout, inventory->stratum, 0, err));
    if (inventory->unit) TMI_TRY(add_column(layout, inventory->unit, 0, err));
    if (inventory->cluster) TMI_TRY(add_column(layout, inventory->cluster, 0, err));
done:
    if (status != TAMIS_OK) tmi_layout_clear(layout);
    return status;
}

tamis_status tmi_layout_of_rows(tmi_layout *layout, const tmi_column *const *columns, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *layout = (tmi_layout){.columns = tmi_alloc(count, sizeof *layout->columns)};
    if (!layout->columns) return tmi_fail_memory(err);
    for (size_t c = 0; c < count; c++) {
        TMI_TRY(tmi_column_check(columns[c], err));
        if (!tmi_is_read(columns[c]))
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "column %s is derived from others: its rows are not in the source",
                             columns[c]->name));
        layout->columns[layout->column_count++] = columns[c];
    }
done:
    if (status != TAMIS_OK) tmi_layout_clear(layout);
    return status;
}

void tmi_answers_clear(tmi_int128 *const *answers, const tmi_request *request)
{
    for (size_t t = 0; t < request->table_count; t++) {
        size_t count = tmi_table_cells(&request->tables[t]); /* if there are too many, the caller has no room for them */
        if (!__builtin_mul_overflow(count, request->tables[t].measure_count, &count) && count <= (size_t)TMI_MAX_CELLS)
            memset(answers[t], 0, count * sizeof **answers);
    }
}

void tmi_inventory_clear(tmi_inventory *inventory)
{
    const size_t strata = inventory->stratum ? inventory->stratum->value_count : 1;
    int64_t *const lists[] = {inventory->rows_in, inventory->units_in, inventory->clusters_in};
    inventory->rows = inventory->units = 0;
    for (size_t i = 0; i < 3; i++)
        if (lists[i]) memset(lists[i], 0, strata * sizeof **lists);
}

size_t tmi_layout_index(const tmi_layout *layout, const tmi_column *column)
{
    size_t c = 0;
    while (c < layout->column_count && layout->columns[c] != column) c++;
    return c;
}

void tmi_layout_clear(tmi_layout *layout)
{
    tmi_free(layout->columns);
    *layout = (tmi_layout){0};
}
