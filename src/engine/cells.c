/* Rows are taken in blocks. A block first gets the cell of each row, for each table; rows that are in no cell go to one
 * more, which nobody reads. Then each measure is one short loop over the block.
 *
 * Invariants of each measure of a table (one more, the last, counts the rows of the cells):
 *   1. totals plus all lanes are the exact integers so far.
 *   2. A lane is a sum of at most `pending` terms, none larger than `largest`, and pending * largest <= INT64_MAX, so no
 *      lane overflows. A total has at most 2^40 terms below 2^52: it stays below 2^92.
 *   3. A measure without factors counts the rows in which it is missing: most blocks have none, and nothing to do. The answer
 *      is the difference to the rows.                                                                                */
#include "engine/cells.h"

#include <string.h>

#include "base/memory.h"

#define BLOCK 2048

/* Neighbouring rows often fall into the same cell; with several lanes an addition need not wait for the one before.
 * Beyond LANE_CELLS cells that is rare, and memory counts more: then all lanes are the same. */
#define LANES 4
#define LANE_CELLS 1024

#define NO_COLUMN SIZE_MAX

typedef struct measure {
    size_t column; /* in the layout, or NO_COLUMN */
    bool is_sum;
    int64_t *lanes;
    tmi_int128 *totals;
} measure;

typedef struct table {
    size_t cell_count, by_count, measure_count;
    size_t stride; /* from one lane to the next */
    size_t *by;    /* columns in the layout */
    measure *measures;
} table;

/* What a block needs of a column. */
typedef struct block_column {
    bool counted; /* some measure without factors asks for it */
    bool some_missing;
    const int64_t *points; /* 0 where missing */
    int64_t filled[BLOCK];
    int32_t missing[BLOCK]; /* 1 or 0; not written if there are none */
} block_column;

struct tmi_cells {
    const tmi_layout *layout;
    table *tables;
    int64_t pending, largest;
    int32_t cell[BLOCK];
    block_column block[];
};

static size_t lane_size(const table *table)
{
    return table->stride * (LANES - 1) + table->cell_count + 1;
}

static bool make_measure(tmi_cells *cells, const table *table, measure *made, const tmi_measure *asked)
{
    made->column = NO_COLUMN;
    made->is_sum = asked && asked->factor_count == 1;
    const tmi_column *column = !asked ? NULL : made->is_sum ? asked->factors[0].column : asked->present[0];
    for (size_t c = 0; column && c < cells->layout->column_count; c++)
        if (cells->layout->columns[c] == column) made->column = c;
    if (made->column != NO_COLUMN && !made->is_sum) cells->block[made->column].counted = true;
    made->lanes = tmi_alloc(lane_size(table), sizeof *made->lanes);
    made->totals = tmi_alloc(table->cell_count, sizeof *made->totals);
    return made->lanes && made->totals;
}

static bool make_table(tmi_cells *cells, table *made, const tmi_table *asked)
{
    made->cell_count = tmi_table_cells(asked);
    made->stride = made->cell_count <= LANE_CELLS ? made->cell_count + 1 : 0;
    made->by_count = asked->by_count;
    made->measure_count = asked->measure_count;
    made->by = tmi_alloc(asked->by_count, sizeof *made->by);
    made->measures = tmi_alloc(asked->measure_count + 1, sizeof *made->measures);
    if (!made->by || !made->measures) return false;
    for (size_t b = 0; b < asked->by_count; b++)
        while (cells->layout->columns[made->by[b]] != asked->by[b]) made->by[b]++;
    for (size_t m = 0; m <= asked->measure_count; m++)
        if (!make_measure(cells, made, &made->measures[m], m < asked->measure_count ? &asked->measures[m] : NULL))
            return false;
    return true;
}

static int64_t largest_point(const tmi_layout *layout)
{
    int64_t largest = 1;
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (column->kind != TMI_NUMBER) continue;
        if (column->grid.high > largest) largest = column->grid.high;
        if (-column->grid.low > largest) largest = -column->grid.low;
    }
    return largest;
}

tmi_cells *tmi_cells_new(const tmi_layout *layout)
{
    const tmi_request *request = layout->request;
    tmi_cells *cells = tmi_alloc(1, sizeof *cells + layout->column_count * sizeof *cells->block);
    if (!cells) return NULL;
    cells->layout = layout;
    cells->largest = largest_point(layout);
    cells->tables = tmi_alloc(request->table_count, sizeof *cells->tables);
    bool made = cells->tables;
    for (size_t t = 0; made && t < request->table_count; t++)
        made = make_table(cells, &cells->tables[t], &request->tables[t]);
    if (made) return cells;
    tmi_cells_free(cells);
    return NULL;
}

static void free_measure(measure *measure, const table *table)
{
    if (measure->lanes) tmi_wipe(measure->lanes, lane_size(table) * sizeof *measure->lanes);
    if (measure->totals) tmi_wipe(measure->totals, table->cell_count * sizeof *measure->totals);
    tmi_free(measure->lanes);
    tmi_free(measure->totals);
}

void tmi_cells_free(tmi_cells *cells)
{
    if (!cells) return;
    for (size_t t = 0; cells->tables && t < cells->layout->request->table_count; t++) {
        table *table = &cells->tables[t];
        for (size_t m = 0; table->measures && m <= table->measure_count; m++) free_measure(&table->measures[m], table);
        tmi_free(table->measures);
        tmi_free(table->by);
    }
    tmi_free(cells->tables);
    tmi_wipe(cells, sizeof *cells + cells->layout->column_count * sizeof *cells->block); /* rows of the last block */
    tmi_free(cells);
}

/* Empties the lanes into the totals. */
static void settle(tmi_cells *cells)
{
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        for (size_t m = 0; m <= table->measure_count; m++) {
            const measure *measure = &table->measures[m];
            for (size_t lane = 0; lane < (table->stride > 0 ? LANES : 1); lane++)
                for (size_t c = 0; c < table->cell_count; c++)
                    measure->totals[c] += measure->lanes[lane * table->stride + c];
            memset(measure->lanes, 0, lane_size(table) * sizeof *measure->lanes);
        }
    }
    cells->pending = 0;
}

static void look_at_points(block_column *column, const int64_t *points, size_t n)
{
    int some = 0;
    for (size_t i = 0; i < n; i++) some |= points[i] == TMI_NO_POINT;
    column->some_missing = some;
    column->points = some ? column->filled : points;
    for (size_t i = 0; some && i < n; i++) {
        column->missing[i] = points[i] == TMI_NO_POINT;
        column->filled[i] = points[i] == TMI_NO_POINT ? 0 : points[i];
    }
}

static void look_at_codes(block_column *column, const int32_t *codes, int32_t missing, size_t n)
{
    column->some_missing = true;
    for (size_t i = 0; i < n; i++) column->missing[i] = codes[i] == missing;
}

/* The cell of each row; NULL if there is only one and all are in it. */
static const int32_t *find_cells(tmi_cells *cells, const table *table, const void *const *columns, size_t n)
{
    if (table->by_count == 0) return NULL;
    if (table->by_count == 1) return columns[table->by[0]]; /* a missing value's code is cell_count already */
    int32_t outside[BLOCK] = {0}, *cell = cells->cell;
    memset(cell, 0, n * sizeof *cell);
    for (size_t b = 0; b < table->by_count; b++) {
        const int32_t *code = columns[table->by[b]];
        const int32_t count = (int32_t)cells->layout->columns[table->by[b]]->value_count;
        for (size_t i = 0; i < n; i++) {
            outside[i] |= code[i] == count;
            cell[i] = outside[i] ? 0 : cell[i] * count + code[i];
        }
    }
    for (size_t i = 0; i < n; i++) cell[i] = outside[i] ? (int32_t)table->cell_count : cell[i];
    return cell;
}

/* Adds TERM(i), i < n, to the cell of row i; the lanes take turns. Without cells, there is one sum. */
#define ADD_TERMS(measure, stride, cell, n, TERM)                                                                     \
    do {                                                                                                              \
        int64_t *l0 = (measure)->lanes, *l1 = l0 + (stride), *l2 = l1 + (stride), *l3 = l2 + (stride), sum = 0;       \
        size_t i = 0;                                                                                                 \
        for (; !(cell) && i < (n); i++) sum += TERM(i);                                                               \
        if (!(cell)) l0[0] += sum;                                                                                    \
        for (; i + LANES <= (n); i += LANES) {                                                                        \
            l0[(cell)[i]] += TERM(i);                                                                                 \
            l1[(cell)[i + 1]] += TERM(i + 1);                                                                         \
            l2[(cell)[i + 2]] += TERM(i + 2);                                                                         \
            l3[(cell)[i + 3]] += TERM(i + 3);                                                                         \
        }                                                                                                             \
        for (; i < (n); i++) l0[(cell)[i]] += TERM(i);                                                                \
    } while (0)

static void add_points(const measure *measure, size_t stride, const int32_t *cell, const int64_t *points, size_t n)
{
#define POINT(i) points[i]
    ADD_TERMS(measure, stride, cell, n, POINT);
#undef POINT
}

static void add_missing(const measure *measure, size_t stride, const int32_t *cell, const int32_t *missing, size_t n)
{
#define MISSING(i) missing[i]
    ADD_TERMS(measure, stride, cell, n, MISSING);
#undef MISSING
}

static void add_rows(const measure *measure, size_t stride, const int32_t *cell, size_t n)
{
#define ONE(i) 1
    ADD_TERMS(measure, stride, cell, n, ONE);
#undef ONE
}

static void add_block(tmi_cells *cells, const void *const *columns, size_t n)
{
    const tmi_layout *layout = cells->layout;
    if (cells->pending > INT64_MAX / cells->largest - BLOCK) settle(cells);
    cells->pending += (int64_t)n;
    for (size_t c = 0; c < layout->column_count; c++) {
        if (layout->columns[c]->kind == TMI_NUMBER)
            look_at_points(&cells->block[c], columns[c], n);
        else if (cells->block[c].counted)
            look_at_codes(&cells->block[c], columns[c], (int32_t)layout->columns[c]->value_count, n);
    }
    for (size_t t = 0; t < layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        const int32_t *cell = find_cells(cells, table, columns, n);
        add_rows(&table->measures[table->measure_count], table->stride, cell, n);
        for (size_t m = 0; m < table->measure_count; m++) {
            const measure *measure = &table->measures[m];
            if (measure->column == NO_COLUMN) continue;
            const block_column *column = &cells->block[measure->column];
            if (measure->is_sum)
                add_points(measure, table->stride, cell, column->points, n);
            else if (column->some_missing)
                add_missing(measure, table->stride, cell, column->missing, n);
        }
    }
}

tamis_status tmi_cells_add(tmi_cells *cells, const void *const *columns, size_t n, tamis_error *err)
{
    const size_t count = cells->layout->column_count;
    if (n <= BLOCK) {
        add_block(cells, columns, n);
        return TAMIS_OK;
    }
    const void **at = tmi_alloc(count, sizeof *at);
    if (!at) return tmi_fail_memory(err);
    for (size_t start = 0; start < n; start += BLOCK) {
        for (size_t c = 0; c < count; c++)
            at[c] = cells->layout->columns[c]->kind == TMI_NUMBER ? (const void *)((const int64_t *)columns[c] + start)
                                                                 : (const void *)((const int32_t *)columns[c] + start);
        add_block(cells, at, n - start < BLOCK ? n - start : BLOCK);
    }
    tmi_free(at);
    return TAMIS_OK;
}

void tmi_cells_add_cells(tmi_cells *cells, tmi_cells *others)
{
    settle(others);
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        for (size_t m = 0; m <= table->measure_count; m++)
            for (size_t c = 0; c < table->cell_count; c++)
                table->measures[m].totals[c] += others->tables[t].measures[m].totals[c];
    }
}

void tmi_cells_answers(tmi_int128 *answers, tmi_cells *cells)
{
    settle(cells);
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        const tmi_int128 *rows = table->measures[table->measure_count].totals;
        for (size_t c = 0; c < table->cell_count; c++)
            for (size_t m = 0; m < table->measure_count; m++) {
                const measure *measure = &table->measures[m];
                *answers++ = measure->is_sum ? measure->totals[c] : rows[c] - measure->totals[c];
            }
    }
}
