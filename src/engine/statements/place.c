/* What is asked about a table, as statements, and what the rows of their answers mean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/split.h"
#include "engine/core/tally.h"
#include "engine/statements/statements.h"

/* ---- a statement of several queries ---- */

typedef struct query {
    char *text;
    size_t width; /* its columns */
} query;

typedef struct queries {
    query *list;
    size_t count;
} queries;

static void clear_queries(queries *all)
{
    for (size_t i = 0; i < all->count; i++) tmi_free(all->list[i].text);
    tmi_free(all->list);
    *all = (queries){0};
}

/* Takes the text of a query that was written with this status. */
static tamis_status take_query(queries *all, tmi_text *sql, size_t width, tamis_status status, tamis_error *err)
{
    char *text = NULL;
    const tamis_status written = tmi_text_take(&text, sql, status == TAMIS_OK ? err : NULL);
    if (status == TAMIS_OK) status = written;
    query *list = status == TAMIS_OK ? tmi_realloc(all->list, all->count + 1, sizeof *list) : NULL;
    if (list) {
        all->list = list;
        list[all->count++] = (query){text, width};
        return TAMIS_OK;
    }
    tmi_free(text);
    return status == TAMIS_OK ? tmi_fail_memory(err) : status;
}

/* Its rows: the number of the query, and its cells as texts; NULL up to the width of the widest. */
static tamis_status join_queries(char **statement, const queries *all, const tmi_dialect *dialect, tamis_error *err)
{
    size_t widest = 0;
    tmi_text sql;
    tmi_text_init(&sql);
    for (size_t i = 0; i < all->count; i++) widest = all->list[i].width > widest ? all->list[i].width : widest;
    for (size_t i = 0; i < all->count; i++) {
        tmi_text_format(&sql, "%sSELECT CAST(%zu AS %s)", i > 0 ? " UNION ALL " : "", i, dialect->text_type);
        for (size_t c = 0; c < widest; c++) {
            char name[32] = "NULL";
            if (c < all->list[i].width) snprintf(name, sizeof name, "c%zu", c);
            tmi_text_format(&sql, ", CAST(%s AS %s)", name, dialect->text_type);
        }
        tmi_text_put(&sql, " FROM (");
        tmi_text_put(&sql, all->list[i].text);
        tmi_text_format(&sql, ") q%zu (", i);
        for (size_t c = 0; c < all->list[i].width; c++) tmi_text_format(&sql, "%sc%zu", c > 0 ? ", " : "", c);
        tmi_text_put(&sql, ")");
    }
    return tmi_text_take(statement, &sql, err);
}

static tamis_status fail_answer(const tmi_sql_place *place, tamis_error *err)
{
    return tmi_fail(err, TAMIS_UNABLE, "%s: the engine returned an answer that cannot be right", place->road->dialect->name);
}

/* The integer in a cell; 0 if it is NULL. */
static bool cell_integer(tmi_int128 *value, const tmi_value *row, size_t i)
{
    const tmi_value *cell = i < tmi_value_size(row) ? tmi_value_at(row, i) : NULL;
    *value = 0;
    if (!cell) return false;
    if (tmi_value_kind_of(cell) == TMI_VALUE_NULL) return true;
    if (tmi_value_kind_of(cell) == TMI_VALUE_INTEGER) *value = tmi_value_integer(cell);
    return tmi_value_kind_of(cell) == TMI_VALUE_INTEGER ||
           (tmi_value_kind_of(cell) == TMI_VALUE_TEXT && tmi_int128_read(value, tmi_value_string(cell)));
}

/* The number of the query that a row is of. */
static bool query_of(size_t *number, const tmi_value *row, size_t count)
{
    tmi_int128 value;
    const bool fits = tmi_value_size(row) > 0 && tmi_value_kind_of(tmi_value_at(row, 0)) != TMI_VALUE_NULL &&
                      cell_integer(&value, row, 0) && value >= 0 && value < (tmi_int128)count;
    *number = fits ? (size_t)value : 0;
    return fits;
}

/* ---- types of a layout ---- */

static tamis_status types_of(tmi_sql_type **types, const tmi_sql_place *place, const tmi_layout *layout, tamis_error *err)
{
    *types = tmi_alloc(layout->column_count + 1, sizeof **types);
    if (!*types) return tmi_fail_memory(err);
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_known *known = tmi_is_read(layout->columns[c]) ? tmi_known_find(place->known, layout->columns[c]->name) : NULL;
        if (tmi_is_read(layout->columns[c]) && !known)
            return tmi_fail(err, TAMIS_SYSTEM, "the type of a column was not asked for before the charge");
        (*types)[c] = known ? known->type : TMI_SQL_OTHER;
    }
    return TAMIS_OK;
}

/* The statement bounds each unit by itself, whatever was counted before: the table may have changed since. */
static tmi_sql_source source_of(const tmi_sql_place *place, const tmi_layout *layout, const tmi_sql_type *types)
{
    return (tmi_sql_source){place->road->dialect, place->table, layout, types, false, place->rows};
}

/* ---- counts ---- */

void tmi_recount_clear(tmi_recount *recount)
{
    for (size_t i = 0; i < recount->query_count; i++) tmi_free(recount->queries[i]);
    tmi_free(recount->queries);
    tmi_free(recount->rows);
    *recount = (tmi_recount){0};
}

#define COUNT_WIDTH 2 /* a stratum, and a number */

/* Rows by stratum, or the distinct labels in it. The layout of the query has only these columns. */
static tamis_status add_count(queries *all, const tmi_sql_place *place, const tmi_column *stratum, const tmi_column *label,
                              tamis_error *err)
{
    const tmi_inventory asked = {.stratum = stratum, .unit = label};
    tmi_layout layout = {0};
    tmi_sql_type *types = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    TMI_TRY(tmi_layout_of_inventory(&layout, &asked, err));
    TMI_TRY(types_of(&types, place, &layout, err));
    const tmi_sql_source source = source_of(place, &layout, types);
    status = tmi_sql_counts(&sql, &source, stratum, label, err);
    status = take_query(all, &sql, COUNT_WIDTH, status, err);
done:
    tmi_text_clear(&sql);
    tmi_free(types);
    tmi_layout_clear(&layout);
    return status;
}

/* What the queries of an inventory count: where it goes, and by how many strata. */
typedef struct counted {
    int64_t *counts;
    size_t strata;
    bool fixed; /* the same for all neighbours */
} counted;

#define MOST_COUNTS 5

static tamis_status add_counts(queries *all, counted *where, tmi_inventory *i, const tmi_sql_place *place, tamis_error *err)
{
    const size_t strata = i->stratum ? i->stratum->value_count : 1;
    tamis_status status;
    where[all->count] = (counted){&i->rows, 1, i->rows_fixed};
    TMI_TRY(add_count(all, place, NULL, NULL, err));
    if (i->rows_in) {
        where[all->count] = (counted){i->rows_in, strata, i->rows_fixed};
        TMI_TRY(add_count(all, place, i->stratum, NULL, err));
    }
    if (i->unit) {
        where[all->count] = (counted){&i->units, 1, i->units_fixed};
        TMI_TRY(add_count(all, place, NULL, i->unit, err));
    }
    if (i->unit && i->units_in) {
        where[all->count] = (counted){i->units_in, strata, i->units_fixed};
        TMI_TRY(add_count(all, place, i->stratum, i->unit, err));
    }
    if (i->cluster && i->clusters_in) {
        where[all->count] = (counted){i->clusters_in, strata, i->clusters_fixed};
        TMI_TRY(add_count(all, place, i->stratum, i->cluster, err));
    }
done:
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    for (size_t i = 0; i < 3; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Whether two rows in order agree in their first `width` numbers: a group that is answered twice would count twice. */
static bool has_twice(int64_t (*list)[3], size_t count, size_t width)
{
    for (size_t i = 1; i < count; i++)
        if (memcmp(list[i - 1], list[i], width * sizeof(int64_t)) == 0) return true;
    return false;
}

/* The rows of the answer whose queries are those from `first` on, in order; the caller frees them. */
static tamis_status list_counts(int64_t (**list)[3], size_t *count, const tmi_value *rows, size_t first, size_t queries_,
                                const tmi_sql_place *place, tamis_error *err)
{
    *count = 0;
    *list = tmi_alloc(tmi_value_size(rows) + 1, sizeof **list);
    if (!*list) return tmi_fail_memory(err);
    for (const tmi_value *row = tmi_value_first(rows); row; row = tmi_value_next(row)) {
        size_t number;
        tmi_int128 stratum, found;
        if (!query_of(&number, row, first + queries_)) return fail_answer(place, err);
        if (number < first) continue;
        if (!cell_integer(&stratum, row, 1) || !cell_integer(&found, row, 2) || stratum < 0 || stratum > INT32_MAX || found < 0)
            return fail_answer(place, err);
        if (found > TMI_MAX_ROWS) return tmi_fail(err, TAMIS_INVALID, "the source has more than 2^40 rows");
        int64_t *to = (*list)[(*count)++];
        to[0] = (int64_t)(number - first);
        to[1] = (int64_t)stratum;
        to[2] = (int64_t)found;
    }
    qsort(*list, *count, sizeof **list, compare_rows);
    return has_twice(*list, *count, 2) ? fail_answer(place, err) : TAMIS_OK;
}

/* Moves the queries whose numbers are fixed, and copies their rows. */
static tamis_status keep_counts(tmi_recount *recount, queries *all, const counted *where, int64_t (*list)[3], size_t count,
                                tamis_error *err)
{
    recount->queries = tmi_alloc(all->count, sizeof *recount->queries);
    recount->rows = tmi_alloc(count + 1, sizeof *recount->rows);
    if (!recount->queries || !recount->rows) return tmi_fail_memory(err);
    for (size_t i = 0; i < all->count; i++) {
        if (!where[i].fixed) continue;
        for (size_t r = 0; r < count; r++) {
            if (list[r][0] != (int64_t)i) continue;
            int64_t *to = recount->rows[recount->row_count++];
            memcpy(to, list[r], sizeof list[r]);
            to[0] = (int64_t)recount->query_count;
        }
        recount->queries[recount->query_count++] = all->list[i].text;
        all->list[i].text = NULL;
    }
    qsort(recount->rows, recount->row_count, sizeof *recount->rows, compare_rows);
    return TAMIS_OK;
}

tamis_status tmi_place_inventory(tmi_inventory *inventory, tmi_recount *recount, const tmi_sql_place *place, tamis_error *err)
{
    queries all = {0};
    counted where[MOST_COUNTS];
    char *statement = NULL;
    tmi_value *rows = NULL;
    int64_t(*list)[3] = NULL;
    size_t count = 0;
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(add_counts(&all, where, inventory, place, err));
    TMI_TRY(join_queries(&statement, &all, place->road->dialect, err));
    TMI_TRY(tmi_sql_ask(&rows, place->road, statement, "the numbers of rows", err));
    TMI_TRY(list_counts(&list, &count, rows, 0, all.count, place, err));
    for (size_t i = 0; i < count; i++) {
        const counted *to = &where[list[i][0]];
        if ((size_t)list[i][1] < to->strata) to->counts[list[i][1]] = list[i][2];
    }
    if (recount) TMI_TRY(keep_counts(recount, &all, where, list, count, err));
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    tmi_free(list);
    tmi_value_free(rows);
    tmi_free(statement);
    clear_queries(&all);
    return status;
}

/* The same queries again. */
static tamis_status add_recount(queries *all, const tmi_recount *recount, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; recount && i < recount->query_count && status == TAMIS_OK; i++) {
        tmi_text sql;
        tmi_text_init(&sql);
        tmi_text_put(&sql, recount->queries[i]);
        status = take_query(all, &sql, COUNT_WIDTH, TAMIS_OK, err);
        tmi_text_clear(&sql);
    }
    return status;
}

/* These numbers are invariants of the setting, so that the message may depend on them. */
static tamis_status compare_counts(const tmi_recount *recount, const tmi_value *rows, size_t first, const tmi_sql_place *place,
                                   tamis_error *err)
{
    int64_t(*list)[3] = NULL;
    size_t count;
    if (!recount || recount->query_count == 0) return TAMIS_OK;
    tamis_status status = list_counts(&list, &count, rows, first, recount->query_count, place, err);
    if (status == TAMIS_OK && (count != recount->row_count || memcmp(list, recount->rows, count * sizeof *list) != 0))
        status = tmi_fail(err, TAMIS_SYSTEM,
                          "the table has changed between the count of its rows and the sums: nothing is published from it");
    tmi_free(list);
    return status;
}

/* ---- sums ---- */

/* Room for the answers to a part of a request. They are exact sums, so they are secret. */
static tamis_status make_answers(tmi_int128 ***answers, const tmi_request *request, tamis_error *err)
{
    *answers = tmi_alloc(request->table_count, sizeof **answers);
    if (!*answers) return tmi_fail_memory(err);
    for (size_t t = 0; t < request->table_count; t++) {
        (*answers)[t] = tmi_secret_alloc(tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count,
                                         sizeof ***answers);
        if (!(*answers)[t]) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}

static void free_answers(tmi_int128 **answers, const tmi_request *request)
{
    for (size_t t = 0; answers && t < request->table_count; t++) tmi_secret_free(answers[t]);
    tmi_free(answers);
}

typedef struct part {
    const tmi_request_part *of;
    tmi_sql_passes passes;
    tmi_sql_type *types;
    size_t first; /* its first query */
    tmi_int128 **own;
} part;

/* A request as queries: each pass of each part is one. */
typedef struct sums {
    tmi_layout layout;
    tmi_split split;
    part *parts;
    queries all;
    size_t own_count; /* of them the first are sums */
} sums;

static void clear_sums(sums *s)
{
    for (size_t i = 0; s->parts && i < s->split.count; i++) {
        if (s->parts[i].of) free_answers(s->parts[i].own, &s->parts[i].of->request);
        tmi_sql_passes_clear(&s->parts[i].passes);
        tmi_free(s->parts[i].types);
    }
    tmi_free(s->parts);
    clear_queries(&s->all);
    tmi_split_clear(&s->split);
    tmi_layout_clear(&s->layout);
}

static tamis_status write_sums(sums *s, const tmi_sql_place *place, const tmi_request *request, const tmi_recount *recount,
                               tamis_error *err)
{
    tamis_status status;
    *s = (sums){0};
    TMI_TRY(tmi_layout_init(&s->layout, request, err));
    TMI_TRY(tmi_split_make(&s->split, &s->layout, TMI_SQL_ENTRIES, TMI_SQL_ENTRIES, err));
    s->parts = tmi_alloc(s->split.count, sizeof *s->parts);
    if (!s->parts) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < s->split.count; i++) {
        part *p = &s->parts[i];
        p->of = &s->split.list[i];
        p->first = s->all.count;
        TMI_TRY(types_of(&p->types, place, &p->of->layout, err));
        TMI_TRY(tmi_sql_passes_init(&p->passes, place->road->dialect, &p->of->layout, place->rows, err));
        const tmi_sql_source source = source_of(place, &p->of->layout, p->types);
        for (size_t k = 0; k < p->passes.count; k++) {
            tmi_text sql;
            tmi_text_init(&sql);
            status = tmi_sql_pass_write(&sql, &p->passes.list[k], &source, err);
            TMI_TRY(take_query(&s->all, &sql, p->passes.list[k].sum_count + 2, status, err));
        }
    }
    s->own_count = s->all.count;
    TMI_TRY(add_recount(&s->all, recount, err));
done:
    return status;
}

/* seen: the query, its key and its rows. */
static tamis_status add_row(sums *s, int64_t seen[3], tmi_int128 *cells, const tmi_value *row, size_t number,
                            const tmi_sql_place *place, tamis_error *err)
{
    part *p = s->parts;
    while (number >= p->first + p->passes.count) p++;
    const tmi_sql_pass *pass = &p->passes.list[number - p->first];
    tmi_int128 key, rows;
    if (!cell_integer(&key, row, 1) || !cell_integer(&rows, row, 2) || key < 0 || key > INT64_MAX || rows < 0 ||
        rows > TMI_MAX_ROWS)
        return fail_answer(place, err);
    seen[0] = (int64_t)number;
    seen[1] = (int64_t)key;
    seen[2] = (int64_t)rows;
    for (size_t i = 0; i < pass->sum_count; i++)
        if (!cell_integer(&cells[i], row, i + 3)) return fail_answer(place, err);
    return tmi_sql_pass_add(p->own, pass, (int64_t)key, cells) ? TAMIS_OK : fail_answer(place, err);
}

/* Each group once; a query without groups has its one row; and all queries have seen the same number of rows. */
static bool is_whole(const sums *s, int64_t (*seen)[3], size_t count)
{
    int64_t first = 0;
    qsort(seen, count, sizeof *seen, compare_rows);
    if (has_twice(seen, count, 2)) return false;
    for (size_t q = 0, i = 0; q < s->own_count; q++) {
        const part *p = s->parts;
        int64_t rows = 0;
        const size_t begin = i;
        while (q >= p->first + p->passes.count) p++;
        for (; i < count && seen[i][0] == (int64_t)q; i++) rows += seen[i][2];
        if (p->passes.list[q - p->first].key_count == 0 && i != begin + 1) return false;
        if (q == 0) first = rows;
        if (rows != first || rows > TMI_MAX_ROWS) return false;
    }
    return true;
}

static tamis_status add_rows(sums *s, const tmi_value *rows, const tmi_sql_place *place, tamis_error *err)
{
    size_t widest = 0, number, count = 0;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->own_count; i++) widest = s->all.list[i].width > widest ? s->all.list[i].width : widest;
    tmi_int128 *cells = tmi_secret_alloc(widest, sizeof *cells);
    int64_t(*seen)[3] = tmi_secret_alloc(tmi_value_size(rows) + 1, sizeof *seen);
    if (!cells || !seen) status = tmi_fail_memory(err);
    for (const tmi_value *row = tmi_value_first(rows); row && status == TAMIS_OK; row = tmi_value_next(row)) {
        if (!query_of(&number, row, s->all.count)) status = fail_answer(place, err);
        else if (number < s->own_count) status = add_row(s, seen[count++], cells, row, number, place, err);
    }
    if (status == TAMIS_OK && !is_whole(s, seen, count)) status = fail_answer(place, err);
    tmi_secret_free(seen);
    tmi_secret_free(cells);
    return status;
}

tamis_status tmi_place_sums(tmi_int128 *const *answers, const tmi_sql_place *place, const tmi_request *request,
                            const tmi_recount *recount, tamis_error *err)
{
    sums s;
    char *statement = NULL;
    tmi_value *rows = NULL;
    tamis_status status;
    TMI_TRY(write_sums(&s, place, request, recount, err));
    for (size_t i = 0; i < s.split.count; i++) TMI_TRY(make_answers(&s.parts[i].own, &s.parts[i].of->request, err));
    TMI_TRY(join_queries(&statement, &s.all, place->road->dialect, err));
    TMI_TRY(tmi_sql_ask(&rows, place->road, statement, "the sums", err));
    TMI_TRY(compare_counts(recount, rows, s.own_count, place, err));
    TMI_TRY(add_rows(&s, rows, place, err));
    for (size_t i = 0; i < s.split.count; i++) tmi_split_give(answers, request, s.parts[i].of, s.parts[i].own);
done:
    tmi_value_free(rows);
    if (statement) tmi_wipe(statement, strlen(statement)); /* it has the keys */
    tmi_free(statement);
    clear_sums(&s);
    return status;
}

tamis_status tmi_place_write_sums(char **statement, const tmi_sql_place *place, const tmi_request *request,
                                  const tmi_recount *recount, tamis_error *err)
{
    sums s;
    *statement = NULL;
    tamis_status status = write_sums(&s, place, request, recount, err);
    if (status == TAMIS_OK) status = join_queries(statement, &s.all, place->road->dialect, err);
    clear_sums(&s);
    return status;
}

/* ---- points ---- */

#define POINT_WIDTH 4 /* cell, point, weight, number */

/* The plan and the layout must not be moved. */
static tamis_status write_points(queries *all, tmi_points_plan *plan, tmi_layout *layout, const tmi_sql_place *place,
                                 const tmi_points_request *request, const tmi_recount *recount, tamis_error *err)
{
    tmi_sql_type *types = NULL;
    tamis_status status;
    tmi_text sql;
    TMI_TRY(tmi_points_plan_make(plan, request, err));
    TMI_TRY(tmi_layout_init(layout, &plan->request, err));
    TMI_TRY(types_of(&types, place, layout, err));
    if (layout->column_count > TMI_SQL_ENTRIES)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                         "column %s: its points need %zu columns of the source, and the engine allows %d per query: use fewer "
                         "conditions",
                         request->value->name, layout->column_count, TMI_SQL_ENTRIES));
    const tmi_sql_source source = source_of(place, layout, types);
    tmi_text_init(&sql);
    status = tmi_sql_points(&sql, plan, &source, err);
    TMI_TRY(take_query(all, &sql, POINT_WIDTH, status, err));
    TMI_TRY(add_recount(all, recount, err));
done:
    tmi_free(types);
    return status;
}

static tamis_status add_entries(tmi_tally *tally, const tmi_value *rows, size_t query_count, const tmi_sql_place *place,
                                tamis_error *err)
{
    size_t count = 0;
    int64_t(*seen)[3] = tmi_secret_alloc(tmi_value_size(rows) + 1, sizeof *seen); /* cell, point and weight */
    tamis_status status = seen ? TAMIS_OK : tmi_fail_memory(err);
    for (const tmi_value *row = tmi_value_first(rows); row && status == TAMIS_OK; row = tmi_value_next(row)) {
        size_t number;
        tmi_int128 cells[POINT_WIDTH];
        bool fits = query_of(&number, row, query_count);
        if (fits && number > 0) continue;
        for (size_t i = 0; i < POINT_WIDTH; i++)
            fits = fits && cell_integer(&cells[i], row, i + 1) && cells[i] > INT64_MIN && cells[i] < INT64_MAX;
        for (size_t i = 0; fits && i < 3; i++) seen[count][i] = (int64_t)cells[i];
        count += fits;
        status = fits
                     ? tmi_tally_add_entry(tally, (int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[2], (int64_t)cells[3], err)
                     : fail_answer(place, err);
    }
    if (status == TAMIS_OK) qsort(seen, count, sizeof *seen, compare_rows);
    if (status == TAMIS_OK && has_twice(seen, count, 3)) status = fail_answer(place, err);
    tmi_secret_free(seen);
    return status;
}

tamis_status tmi_place_points(tmi_point_list *list, const tmi_sql_place *place, const tmi_points_request *request,
                              const tmi_recount *recount, tamis_error *err)
{
    queries all = {0};
    tmi_points_plan plan;
    tmi_layout layout = {0};
    tmi_tally *tally = NULL;
    char *statement = NULL;
    tmi_value *rows = NULL;
    tamis_status status;
    TMI_TRY(write_points(&all, &plan, &layout, place, request, recount, err));
    TMI_TRY(join_queries(&statement, &all, place->road->dialect, err));
    TMI_TRY(tmi_sql_ask(&rows, place->road, statement, "the points", err));
    TMI_TRY(compare_counts(recount, rows, 1, place, err));
    tally = tmi_tally_new(&plan, NULL);
    if (!tally) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(add_entries(tally, rows, all.count, place, err));
    TMI_TRY(tmi_tally_take_list(list, tally, err));
done:
    tmi_tally_free(tally);
    tmi_value_free(rows);
    if (statement) tmi_wipe(statement, strlen(statement));
    tmi_free(statement);
    tmi_layout_clear(&layout);
    clear_queries(&all);
    return status;
}

tamis_status tmi_place_write_points(char **statement, const tmi_sql_place *place, const tmi_points_request *request,
                                    const tmi_recount *recount, tamis_error *err)
{
    queries all = {0};
    tmi_points_plan plan;
    tmi_layout layout = {0};
    *statement = NULL;
    tamis_status status = write_points(&all, &plan, &layout, place, request, recount, err);
    if (status == TAMIS_OK) status = join_queries(statement, &all, place->road->dialect, err);
    tmi_layout_clear(&layout);
    clear_queries(&all);
    return status;
}
