/* Rows are processed in blocks. For each block we compute what each row adds (addends.c) and, for each table, the cell of each
 * row; rows in no cell go to an extra cell that is never read. Then each measure is one short loop over the block.
 *
 * Invariants of each sum of a table (one per measure; one more, the last, counts the rows of the cells if a measure needs it):
 *   1. totals plus all lanes are the exact integers so far.
 *   2. A lane is a sum of at most `pending` terms, none larger than `largest`, and pending * largest <= INT64_MAX, so no
 *      lane overflows. A total has at most 2^40 terms of at most 2^52, for `rows` is checked: it stays within 2^92.
 *   3. A measure that adds the same in every row counts the rows that add nothing: most blocks have none, and nothing to
 *      do. The answer is the difference to the rows. */
#include "engine/core/cells.h"

#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/addends.h"
#include "engine/core/machine.h"
#include "engine/core/moments.h"

/* Neighbouring rows often fall into the same cell; with several lanes an addition need not wait for the previous one. With
 * more than LANE_CELLS cells this is rare and memory matters more, so all lanes are the same. */
#define LANES 4
#define LANE_CELLS 1024

typedef struct sum {
    const tmi_addend *term; /* NULL: count rows */
    int64_t *lanes;
    tmi_int128 *totals;
} sum;

typedef struct table {
    size_t cell_count, by_count, measure_count;
    size_t stride; /* from one lane to the next */
    size_t *by;    /* columns in the layout */
    bool counts_rows;
    sum *sums;
} table;

struct tmi_cells {
    const tmi_layout *layout;
    tmi_addends *terms;
    table *tables;
    tmi_int128 *secret; /* one block for all sums: first the totals, then the lanes */
    int64_t rows, pending, largest;
    bool has_moments;            /* of all columns: rows may be given as doubles */
    const tmi_measure **squares; /* one per column of the layout, or NULL */
    int32_t cell[TMI_BLOCK];
};

static size_t lane_size(const table *table) { return table->stride * (LANES - 1) + table->cell_count + 1; }

static void make_sum(tmi_cells *cells, table *table, sum *made, const tmi_measure *measure)
{
    if (measure) {
        made->term = tmi_addend_of(cells->terms, measure);
        if (made->term->largest > cells->largest) cells->largest = made->term->largest;
        table->counts_rows = table->counts_rows || made->term->kind == TMI_ADD_ONES;
    }
}

static bool make_table(tmi_cells *cells, table *made, const tmi_table *asked)
{
    made->cell_count = tmi_table_cells(asked);
    made->stride = made->cell_count <= LANE_CELLS ? made->cell_count + 1 : 0;
    made->by_count = asked->by_count;
    made->measure_count = asked->measure_count;
    made->by = tmi_alloc(asked->by_count, sizeof *made->by);
    made->sums = tmi_alloc(asked->measure_count + 1, sizeof *made->sums);
    if (!made->by || !made->sums) return false;
    for (size_t b = 0; b < asked->by_count; b++) made->by[b] = tmi_layout_index(cells->layout, asked->by[b]);
    for (size_t m = 0; m <= asked->measure_count; m++)
        make_sum(cells, made, &made->sums[m], m < asked->measure_count ? &asked->measures[m] : NULL);
    return true;
}

/* A request has at most TMI_MAX_CELLS integers, so that no size overflows. */
static bool make_room(tmi_cells *cells)
{
    const size_t table_count = cells->layout->request->table_count;
    size_t totals = 0, lanes = 0;
    for (size_t t = 0; t < table_count; t++) {
        const table *table = &cells->tables[t];
        totals += (table->measure_count + 1) * table->cell_count;
        lanes += (table->measure_count + 1) * lane_size(table);
    }
    cells->secret = tmi_secret_alloc(totals + (lanes + 1) / 2, sizeof *cells->secret);
    if (!cells->secret) return false;
    tmi_int128 *total = cells->secret;
    int64_t *lane = (int64_t *)(void *)(cells->secret + totals);
    for (size_t t = 0; t < table_count; t++) {
        const table *table = &cells->tables[t];
        for (size_t m = 0; m <= table->measure_count; m++) {
            table->sums[m].totals = total;
            table->sums[m].lanes = lane;
            total += table->cell_count;
            lane += lane_size(table);
        }
    }
    return true;
}

unsigned tmi_cells_threads(const tmi_layout *layout, unsigned wanted)
{
    const size_t together = 2 * (size_t)TMI_MAX_CELLS, own = layout->answer_count > 0 ? layout->answer_count : 1;
    const unsigned threads = wanted > 0 ? wanted : tmi_machine_threads();
    return together / own < threads ? (unsigned)(together / own) : threads;
}

/* The only column that a measure reads; NULL: none. False if it reads another, or has a condition. */
static bool only_column(const tmi_column **only, const tmi_measure *measure)
{
    *only = measure->factor_count > 0 ? measure->factors[0].column : NULL;
    for (size_t p = 0; !*only && p < TMI_MAX_PRESENT; p++) *only = measure->present[p];
    for (size_t f = 0; f < measure->factor_count; f++)
        if (measure->factors[f].column != *only) return false;
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++)
        if (measure->present[p] && measure->present[p] != *only) return false;
    return !measure->where;
}

static bool has_moment(tmi_cells *cells, const tmi_measure *measure)
{
    const tmi_column *column;
    int64_t low, high;
    if (!only_column(&column, measure)) return false;
    if (!column) return true;
    if (!tmi_has_moments(column)) return false;
    if (measure->factor_count == 0) return true;
    const int64_t minus = measure->factors[0].minus;
    tmi_point_range(&low, &high, column);
    if (measure->factor_count == 1) return measure->shift == 0 && measure->low <= low - minus && high - minus <= measure->high;
    const tmi_measure **square = &cells->squares[tmi_layout_index(cells->layout, column)];
    const bool is_first = !*square, fits = (double)measure->high < TMI_MAX_MOMENT && (double)measure->low > -TMI_MAX_MOMENT;
    if (is_first) *square = measure;
    return measure->factor_count == 2 && fits && tmi_addend_of(cells->terms, *square) == tmi_addend_of(cells->terms, measure);
}

static void find_moments(tmi_cells *cells)
{
    const tmi_request *request = cells->layout->request;
    cells->has_moments = !request->unit;
    for (size_t t = 0; cells->has_moments && t < request->table_count; t++) {
        cells->has_moments = request->tables[t].by_count == 0;
        for (size_t m = 0; cells->has_moments && m < request->tables[t].measure_count; m++)
            cells->has_moments = has_moment(cells, &request->tables[t].measures[m]);
    }
}

tmi_cells *tmi_cells_new(const tmi_layout *layout)
{
    const tmi_request *request = layout->request;
    tmi_cells *cells = tmi_alloc(1, sizeof *cells);
    if (!cells) return NULL;
    cells->layout = layout;
    cells->largest = 1;
    cells->terms = tmi_addends_new(layout);
    cells->tables = tmi_alloc(request->table_count, sizeof *cells->tables);
    cells->squares = tmi_alloc(layout->column_count, sizeof *cells->squares);
    bool made = cells->terms && cells->tables && cells->squares;
    for (size_t t = 0; made && t < request->table_count; t++) made = make_table(cells, &cells->tables[t], &request->tables[t]);
    if (made) find_moments(cells);
    if (made && make_room(cells)) return cells;
    tmi_cells_free(cells);
    return NULL;
}

void tmi_cells_free(tmi_cells *cells)
{
    if (!cells) return;
    for (size_t t = 0; cells->tables && t < cells->layout->request->table_count; t++) {
        tmi_free(cells->tables[t].sums);
        tmi_free(cells->tables[t].by);
    }
    tmi_secret_free(cells->secret);
    tmi_free(cells->tables);
    tmi_free(cells->squares);
    tmi_addends_free(cells->terms);
    tmi_wipe(cells, sizeof *cells);
    tmi_free(cells);
}

/* Adds the lanes to the totals and clears them. */
static void settle(tmi_cells *cells)
{
    for (size_t t = 0; cells->pending > 0 && t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        for (size_t m = 0; m <= table->measure_count; m++) {
            const sum *sum = &table->sums[m];
            for (size_t lane = 0; lane < (table->stride > 0 ? LANES : 1); lane++)
                for (size_t c = 0; c < table->cell_count; c++) sum->totals[c] += sum->lanes[lane * table->stride + c];
            memset(sum->lanes, 0, lane_size(table) * sizeof *sum->lanes);
        }
    }
    cells->pending = 0;
}

/* The cell of each row; NULL if there is only one and every row is in it. */
static const int32_t *find_cells(tmi_cells *cells, const table *table, size_t n)
{
    if (table->by_count == 0) return NULL;
    if (table->by_count == 1) return tmi_addends_codes(cells->terms, table->by[0]); /* a missing code is cell_count already */
    int32_t outside[TMI_BLOCK] = {0}, *cell = cells->cell;
    memset(cell, 0, n * sizeof *cell);
    for (size_t b = 0; b < table->by_count; b++) {
        const int32_t *code = tmi_addends_codes(cells->terms, table->by[b]);
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
#define ADD_TERMS(to, stride, cell, n, TERM) \
    do { \
        int64_t *l0 = (to)->lanes, *l1 = l0 + (stride), *l2 = l1 + (stride), *l3 = l2 + (stride), in_all = 0; \
        size_t i = 0; \
        for (; !(cell) && i < (n); i++) in_all += TERM(i); \
        if (!(cell)) l0[0] += in_all; \
        for (; i + LANES <= (n); i += LANES) { \
            l0[(cell)[i]] += TERM(i); \
            l1[(cell)[i + 1]] += TERM(i + 1); \
            l2[(cell)[i + 2]] += TERM(i + 2); \
            l3[(cell)[i + 3]] += TERM(i + 3); \
        } \
        for (; i < (n); i++) l0[(cell)[i]] += TERM(i); \
    } while (0)

static void add_terms(const sum *to, size_t stride, const int32_t *cell, const int64_t *terms, size_t n)
{
#define TERM(i) terms[i]
    ADD_TERMS(to, stride, cell, n, TERM);
#undef TERM
}

static void add_left_out(const sum *to, size_t stride, const int32_t *cell, const int32_t *left_out, size_t n)
{
#define LEFT_OUT(i) left_out[i]
    ADD_TERMS(to, stride, cell, n, LEFT_OUT);
#undef LEFT_OUT
}

static void add_rows(const sum *to, size_t stride, const int32_t *cell, size_t n)
{
#define ONE(i) 1
    ADD_TERMS(to, stride, cell, n, ONE);
#undef ONE
}

static void add_block(tmi_cells *cells, const void *const *columns, size_t n)
{
    if (cells->pending > INT64_MAX / cells->largest - (int64_t)n) settle(cells);
    cells->pending += (int64_t)n;
    tmi_addends_make(cells->terms, columns, n);
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        const int32_t *cell = find_cells(cells, table, n);
        if (table->counts_rows) add_rows(&table->sums[table->measure_count], table->stride, cell, n);
        for (size_t m = 0; m < table->measure_count; m++) {
            const sum *sum = &table->sums[m];
            if (sum->term->kind == TMI_ADD_SUM) add_terms(sum, table->stride, cell, sum->term->terms, n);
            else if (sum->term->left_out) add_left_out(sum, table->stride, cell, sum->term->left_out, n);
        }
    }
}

static tamis_status count(tmi_cells *cells, int64_t rows, tamis_error *err)
{
    if (rows > TMI_MAX_ROWS - cells->rows) return tmi_fail(err, TAMIS_SYSTEM, "the source has more than 2^40 rows");
    cells->rows += rows;
    return TAMIS_OK;
}

tamis_status tmi_cells_add(tmi_cells *cells, const void *const *columns, size_t n, tamis_error *err)
{
    const size_t column_count = cells->layout->column_count;
    tamis_status status = count(cells, n > (size_t)TMI_MAX_ROWS ? INT64_MAX : (int64_t)n, err);
    if (status != TAMIS_OK) return status;
    /* A single term may exceed 2^63 / TMI_BLOCK: then shorter pieces are added. */
    const int64_t fits = INT64_MAX / cells->largest;
    const size_t step = fits < TMI_BLOCK ? (size_t)fits : TMI_BLOCK;
    if (n <= step) {
        add_block(cells, columns, n);
        return TAMIS_OK;
    }
    const void **at = tmi_alloc(column_count, sizeof *at);
    if (!at) return tmi_fail_memory(err);
    for (size_t start = 0; start < n; start += step) {
        for (size_t c = 0; c < column_count; c++) {
            const tmi_column *column = cells->layout->columns[c];
            if (!tmi_is_given(column)) continue;
            at[c] = tmi_has_points(column) ? (const void *)((const int64_t *)columns[c] + start)
                                           : (const void *)((const int32_t *)columns[c] + start);
        }
        add_block(cells, at, n - start < step ? n - start : step);
    }
    tmi_free(at);
    return TAMIS_OK;
}

/* ---- from doubles ---- */

bool tmi_cells_take_numbers(const tmi_cells *cells) { return cells->has_moments; }

/* Straight into the totals: one cell per table and no lanes. The sum of (k - minus) is the sum of k less minus times the
 * number of rows. */
static void add_moments(sum *sum, const tmi_measure *measure, const tmi_moments *found, size_t n)
{
    if (measure->factor_count == 0) sum->totals[0] += (int64_t)n - found->present; /* the rows that add nothing */
    else if (measure->factor_count == 1) sum->totals[0] += found->sum - (tmi_int128)measure->factors[0].minus * found->present;
    else sum->totals[0] += found->squares;
}

tamis_status tmi_cells_add_numbers(tmi_cells *cells, const double *const *columns, size_t n, tamis_error *err)
{
    const tmi_request *request = cells->layout->request;
    tamis_status status = count(cells, (int64_t)n, err);
    if (status != TAMIS_OK) return status;
    for (size_t t = 0; t < request->table_count; t++)
        cells->tables[t].sums[request->tables[t].measure_count].totals[0] += (int64_t)n;
    for (size_t c = 0; c < cells->layout->column_count; c++) {
        tmi_moments found = tmi_moments_of(columns[c], n, cells->layout->columns[c], cells->squares[c]);
        for (size_t t = 0; t < request->table_count; t++)
            for (size_t m = 0; m < request->tables[t].measure_count; m++) {
                const tmi_measure *measure = &request->tables[t].measures[m];
                const tmi_column *column;
                if (only_column(&column, measure) && column == cells->layout->columns[c])
                    add_moments(&cells->tables[t].sums[m], measure, &found, n);
            }
        tmi_wipe(&found, sizeof found);
    }
    return TAMIS_OK;
}

tamis_status tmi_cells_add_cells(tmi_cells *cells, tmi_cells *others, tamis_error *err)
{
    tamis_status status = count(cells, others->rows, err);
    if (status != TAMIS_OK) return status;
    settle(others);
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        for (size_t m = 0; m <= table->measure_count; m++)
            for (size_t c = 0; c < table->cell_count; c++) table->sums[m].totals[c] += others->tables[t].sums[m].totals[c];
    }
    return TAMIS_OK;
}

void tmi_cells_answers(tmi_int128 *answers, tmi_cells *cells)
{
    settle(cells);
    for (size_t t = 0; t < cells->layout->request->table_count; t++) {
        const table *table = &cells->tables[t];
        const tmi_int128 *rows = table->sums[table->measure_count].totals;
        for (size_t c = 0; c < table->cell_count; c++)
            for (size_t m = 0; m < table->measure_count; m++) {
                const sum *sum = &table->sums[m];
                *answers++ = sum->term->kind == TMI_ADD_SUM ? sum->totals[c] : sum->term->one * (rows[c] - sum->totals[c]);
            }
    }
}
