#include "release/request.h"

#include <string.h>

#include "base/memory.h"

static size_t answer_count(const tmi_table *table)
{
    return tmi_table_cells(table) * table->measure_count;
}

void tmi_asking_clear(tmi_asking *a)
{
    for (size_t t = 0; a->answers && t < a->table_count; t++) {
        tmi_wipe(a->answers[t], answer_count(&a->tables[t]) * sizeof **a->answers);
        tmi_free(a->answers[t]);
    }
    tmi_free(a->answers);
    tmi_free(a->columns);
    tmi_free(a->column_list);
    tmi_free(a->tables);
    tmi_free(a->measures);
    tmi_free(a->by);
    tmi_free(a->slots);
    *a = (tmi_asking){0};
}

const tmi_column *tmi_asking_column(const tmi_asking *a, const tmi_plan_column *column)
{
    for (size_t i = 0; column && i < a->column_count; i++) {
        if (strcmp(a->columns[i].name, column->name) == 0) return &a->columns[i];
    }
    return NULL;
}

static void take_column(tmi_asking *a, const tmi_plan_column *column)
{
    if (!column || tmi_asking_column(a, column)) return;
    a->column_list[a->column_count] = &a->columns[a->column_count];
    a->columns[a->column_count++] = (tmi_column){
        .name = column->name,
        .kind = column->is_number ? TMI_NUMBER : TMI_CATEGORY,
        .grid = column->grid,
        .missing_codes = column->missing_codes,
        .missing_code_count = column->missing_code_count,
        .values = (const char *const *)column->values,
        .value_count = column->value_count,
    };
}

static bool same_by(const tmi_asking *a, const tmi_table *table, const tmi_measurement *m)
{
    if (table->by_count != m->by_count) return false;
    for (size_t i = 0; i < m->by_count; i++) {
        if (table->by[i] != tmi_asking_column(a, m->by[i])) return false;
    }
    return true;
}

/* The table of a measurement's groups. Its measures come later, when all tables are there: they stand in one array. */
static size_t table_of(tmi_asking *a, const tmi_measurement *m, size_t *by_used)
{
    size_t t = 0;
    while (t < a->table_count && !same_by(a, &a->tables[t], m)) t++;
    if (t < a->table_count) return t;
    const tmi_column **by = a->by + *by_used;
    for (size_t i = 0; i < m->by_count; i++) by[i] = tmi_asking_column(a, m->by[i]);
    *by_used += m->by_count;
    a->tables[a->table_count++] = (tmi_table){.by = by, .by_count = m->by_count};
    return t;
}

static bool same_measure(const tmi_measure *a, const tmi_measure *b)
{
    return a->factor_count == b->factor_count && a->factors[0].column == b->factors[0].column &&
           a->present[0] == b->present[0];
}

static size_t measure_of(tmi_table *table, tmi_measure *measures, tmi_measure_kind kind, const tmi_column *column)
{
    const tmi_measure wanted = kind == TMI_SUM ? tmi_sum_of(column) : tmi_rows_with(column);
    size_t i = 0;
    while (i < table->measure_count && !same_measure(&measures[i], &wanted)) i++;
    if (i == table->measure_count) measures[table->measure_count++] = wanted;
    return i;
}

static void fill_tables(tmi_asking *a, const tmi_schedule *schedule)
{
    size_t by_used = 0, measures_used = 0;
    for (size_t i = 0; i < schedule->measurement_count; i++) {
        a->slots[i].table = table_of(a, &schedule->measurements[i], &by_used);
    }
    for (size_t t = 0; t < a->table_count; t++) {
        tmi_measure *measures = a->measures + measures_used;
        a->tables[t].measures = measures;
        for (size_t i = 0; i < schedule->measurement_count; i++) {
            const tmi_measurement *m = &schedule->measurements[i];
            tmi_slot *slot = &a->slots[i];
            if (slot->table != t) continue;
            const tmi_column *column = tmi_asking_column(a, m->column);
            slot->measure = measure_of(&a->tables[t], measures, m->kind, column);
            if (m->centre != 0) slot->rows_measure = measure_of(&a->tables[t], measures, TMI_ROWS, column);
        }
        measures_used += a->tables[t].measure_count;
    }
}

tamis_status tmi_asking_make(tmi_asking *a, const tmi_schedule *schedule, tamis_error *err)
{
    const tamis_plan *plan = schedule->plan;
    size_t count = schedule->measurement_count;
    *a = (tmi_asking){.source = {.files = (const char *const *)plan->source.files, .file_count = plan->source.file_count}};
    a->columns = tmi_alloc(plan->column_count, sizeof *a->columns);
    a->column_list = tmi_alloc(plan->column_count, sizeof *a->column_list);
    a->tables = tmi_alloc(count, sizeof *a->tables);
    a->measures = tmi_alloc(2 * count, sizeof *a->measures);
    a->by = tmi_alloc(TMI_MAX_BY * count, sizeof *a->by);
    a->slots = tmi_alloc(count, sizeof *a->slots);
    if (!a->columns || !a->column_list || !a->tables || !a->measures || !a->by || !a->slots) {
        tmi_asking_clear(a);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < plan->statistic_count; i++) {
        take_column(a, plan->statistics[i].column);
        for (size_t j = 0; j < plan->statistics[i].by_count; j++) take_column(a, plan->statistics[i].by[j]);
    }
    fill_tables(a, schedule);
    size_t integers = 0; /* at most two a cell of the plan */
    for (size_t t = 0; t < a->table_count; t++) integers += answer_count(&a->tables[t]);
    if (integers <= (size_t)TMI_MAX_CELLS) return TAMIS_OK;
    tmi_asking_clear(a);
    return tmi_fail(err, TAMIS_INVALID, "statistics: together they need %zu integers, one a group for a count or total and "
                    "two for a mean, and at most %lld are counted: fewer `by` columns or values", integers,
                    (long long)TMI_MAX_CELLS);
}

tamis_status tmi_asking_make_room(tmi_asking *a, tamis_error *err)
{
    a->answers = tmi_alloc(a->table_count, sizeof *a->answers);
    if (!a->answers) return tmi_fail_memory(err);
    for (size_t t = 0; t < a->table_count; t++) {
        a->answers[t] = tmi_alloc(answer_count(&a->tables[t]), sizeof **a->answers);
        if (!a->answers[t]) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

/* |sum| < 2^40 rows * 2^52, |centre * rows| < 2^52 * 2^40: the difference is below 2^93. */
tmi_int128 tmi_asking_truth(const tmi_asking *a, const tmi_schedule *schedule, size_t measurement, size_t cell)
{
    const tmi_slot *slot = &a->slots[measurement];
    const tmi_int128 *answers = a->answers[slot->table] + cell * a->tables[slot->table].measure_count;
    int64_t centre = schedule->measurements[measurement].centre;
    return answers[slot->measure] - (centre != 0 ? centre * answers[slot->rows_measure] : 0);
}
