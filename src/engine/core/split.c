#include "engine/core/split.h"

#include <string.h>

#include "base/memory.h"

/* ---- which columns a part needs ---- */

typedef struct columns {
    const tmi_layout *whole;
    bool *needed; /* one per column of the whole */
    size_t count;
} columns;

/* The column and those that it is made of. */
static void need(columns *k, const tmi_column *column)
{
    if (!column) return;
    const size_t c = tmi_layout_index(k->whole, column);
    if (c == k->whole->column_count || k->needed[c]) return;
    k->needed[c] = true;
    k->count++;
    for (size_t i = 0; tmi_column_part(column, i); i++) need(k, tmi_column_part(column, i));
}

static void need_measure(columns *k, const tmi_table *table, const tmi_measure *measure)
{
    for (size_t b = 0; b < table->by_count; b++) need(k, table->by[b]);
    for (size_t f = 0; f < measure->factor_count; f++) need(k, measure->factors[f].column);
    for (size_t p = 0; p < TMI_MAX_PRESENT; p++) need(k, measure->present[p]);
    need(k, measure->where);
}

/* What every part needs. */
static void need_unit(columns *k)
{
    memset(k->needed, 0, k->whole->column_count * sizeof *k->needed);
    k->count = 0;
    if (!k->whole->request->unit) return;
    need(k, k->whole->request->unit);
    for (size_t c = 0; c < k->whole->column_count; c++)
        if (tmi_is_given(k->whole->columns[c])) need(k, k->whole->columns[c]);
}

/* ---- parts ---- */

static void clear_part(tmi_request_part *part)
{
    tmi_layout_clear(&part->layout);
    tmi_free(part->list);
    tmi_free(part->tables);
    tmi_free(part->firsts);
}

void tmi_split_clear(tmi_split *split)
{
    for (size_t i = 0; i < split->count; i++) clear_part(&split->list[i]);
    tmi_free(split->list);
    *split = (tmi_split){0};
}

/* A new part, with room for all tables. */
static tamis_status begin_part(tmi_split *split, const tmi_request *whole, tamis_error *err)
{
    tmi_request_part *list = tmi_realloc(split->list, split->count + 1, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    split->list = list;
    tmi_request_part *part = &list[split->count++];
    *part = (tmi_request_part){.request = *whole};
    part->request.table_count = 0;
    part->list = tmi_alloc(whole->table_count, sizeof *part->list);
    part->tables = tmi_alloc(whole->table_count, sizeof *part->tables);
    part->firsts = tmi_alloc(whole->table_count, sizeof *part->firsts);
    part->request.tables = part->list;
    return part->list && part->tables && part->firsts ? TAMIS_OK : tmi_fail_memory(err);
}

/* Sets the columns of the part that was filled last. Its request may have moved with the list since. */
static tamis_status end_part(tmi_split *split, const columns *k, tamis_error *err)
{
    tmi_request_part *part = &split->list[split->count - 1];
    part->layout.columns = tmi_alloc(k->count, sizeof *part->layout.columns);
    if (!part->layout.columns) return tmi_fail_memory(err);
    for (size_t c = 0; c < k->whole->column_count; c++)
        if (k->needed[c]) part->layout.columns[part->layout.column_count++] = k->whole->columns[c];
    return TAMIS_OK;
}

/* Adds the next measure of table t, which follows the last one if that is in the part. */
static void add_measure(tmi_request_part *part, const tmi_request *whole, size_t t, size_t m)
{
    const size_t last = part->request.table_count;
    if (last > 0 && part->tables[last - 1] == t) {
        part->list[last - 1].measure_count++;
        return;
    }
    part->tables[last] = t;
    part->firsts[last] = m;
    part->list[last] = whole->tables[t];
    part->list[last].measures = whole->tables[t].measures + m;
    part->list[last].measure_count = 1;
    part->request.table_count++;
}

static bool has_room(const tmi_request_part *part, size_t t, size_t most_measures)
{
    const size_t last = part->request.table_count;
    return last == 0 || part->tables[last - 1] != t || part->list[last - 1].measure_count < most_measures;
}

/* Puts the measure into the last part, or into a new one if it does not fit. */
static tamis_status take_measure(tmi_split *split, columns *k, bool *before, size_t t, size_t m, size_t most_columns,
                                 size_t most_measures, tamis_error *err)
{
    const tmi_request *whole = k->whole->request;
    const size_t count = k->count, room = k->whole->column_count * sizeof *before;
    tmi_request_part *part = &split->list[split->count - 1];
    tamis_status status = TAMIS_OK;
    memcpy(before, k->needed, room);
    need_measure(k, &whole->tables[t], &whole->tables[t].measures[m]);
    if (k->count > most_columns || !has_room(part, t, most_measures)) {
        memcpy(k->needed, before, room);
        k->count = count;
        if (part->request.table_count > 0) {
            TMI_TRY(end_part(split, k, err));
            TMI_TRY(begin_part(split, whole, err));
            need_unit(k);
        }
        need_measure(k, &whole->tables[t], &whole->tables[t].measures[m]);
        if (k->count > most_columns)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                             "one number needs %zu columns of the source, and the engine allows %zu per query: use fewer columns "
                             "with `id`, or fewer conditions",
                             k->count, most_columns));
    }
    add_measure(&split->list[split->count - 1], whole, t, m);
done:
    return status;
}

tamis_status tmi_split_make(tmi_split *split, const tmi_layout *whole, size_t most_columns, size_t most_measures,
                            tamis_error *err)
{
    const tmi_request *request = whole->request;
    columns k = {.whole = whole, .needed = tmi_alloc(whole->column_count, sizeof *k.needed)};
    bool *before = tmi_alloc(whole->column_count, sizeof *before);
    tamis_status status = TAMIS_OK;
    *split = (tmi_split){0};
    if (!k.needed || !before) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(begin_part(split, request, err));
    need_unit(&k);
    for (size_t t = 0; t < request->table_count; t++)
        for (size_t m = 0; m < request->tables[t].measure_count; m++)
            TMI_TRY(take_measure(split, &k, before, t, m, most_columns, most_measures, err));
    TMI_TRY(end_part(split, &k, err));
    for (size_t i = 0; i < split->count; i++) split->list[i].layout.request = &split->list[i].request;
done:
    if (status != TAMIS_OK) tmi_split_clear(split);
    tmi_free(k.needed);
    tmi_free(before);
    return status;
}

void tmi_split_give(tmi_int128 *const *answers, const tmi_request *whole, const tmi_request_part *part, tmi_int128 *const *own)
{
    for (size_t i = 0; i < part->request.table_count; i++) {
        const size_t t = part->tables[i], cells = tmi_table_cells(&whole->tables[t]), count = part->list[i].measure_count;
        for (size_t cell = 0; cell < cells; cell++)
            memcpy(answers[t] + cell * whole->tables[t].measure_count + part->firsts[i], own[i] + cell * count,
                   count * sizeof **own);
    }
}
