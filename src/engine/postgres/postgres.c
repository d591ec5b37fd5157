/* PostgreSQL: the servers compute the sums, with one query per pass, and return integers. Several connections are parts of one
 * table; their integers are added here. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/split.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/session.h"

typedef struct engine_state {
    tmi_engine engine;
    tmi_postgres session;
    bool sharded_by_unit;
} engine_state;

/* ---- one query for each part ---- */

static void free_queries(char **queries, size_t count)
{
    for (size_t p = 0; queries && p < count; p++) tmi_free(queries[p]);
    tmi_free(queries);
}

/* Parts may have columns of different types, so each has its own query. */
typedef struct parts {
    tmi_sql_source *sources; /* one per part */
    tmi_sql_type *types;     /* column_count of each part */
    size_t count;
} parts;

static void clear_parts(parts *made)
{
    tmi_free(made->sources);
    tmi_free(made->types);
}

/* Checks that the labels and categories of part p can be compared with those of the parts before it. */
static bool join_forms(tmi_form *seen, const tmi_sql_type *types, size_t p, const tmi_layout *layout, tamis_error *err)
{
    char part[TMI_POSTGRES_PART];
    bool joined = true;
    tmi_postgres_part_name(part, p);
    const tmi_source_part here = {.name = part};
    for (size_t c = 0; c < layout->column_count; c++) {
        const tmi_column *column = layout->columns[c];
        if (!tmi_is_read(column) || column->kind == TMI_NUMBER) continue;
        joined = tmi_form_join(&seen[c], tmi_sql_form(types[c]), &here, column->name, err) == TAMIS_OK && joined;
    }
    return joined;
}

static tamis_status make_parts(parts *made, tmi_postgres *session, const tmi_layout *layout, const tamis_watch *watch,
                               tamis_error *err)
{
    tamis_status status;
    tmi_form *seen = tmi_alloc(layout->column_count, sizeof *seen);
    *made = (parts){.count = session->count};
    if (!seen) return tmi_fail_memory(err);
    for (size_t c = 0; c < layout->column_count; c++) seen[c] = TMI_FORM_ANY;
    TMI_TRY(tmi_postgres_open(session, watch, err));
    made->sources = tmi_alloc(session->count, sizeof *made->sources);
    made->types = tmi_alloc(session->count * (layout->column_count + 1), sizeof *made->types);
    if (!made->sources || !made->types) TMI_TRY(tmi_fail_memory(err));
    tmi_error_reset(err);
    for (size_t p = 0; p < session->count; p++) {
        tmi_sql_type *types = made->types + p * layout->column_count;
        const tamis_status one = tmi_postgres_types(types, session, p, layout, err);
        if (one != TAMIS_OK) status = one;
        if (one == TAMIS_SYSTEM) goto done;
        if (one == TAMIS_OK && !join_forms(seen, types, p, layout, err)) status = TAMIS_INVALID;
        made->sources[p] = (tmi_sql_source){session->parts[p].table, layout, types};
    }
done:
    tmi_free(seen);
    if (status == TAMIS_SYSTEM) tmi_postgres_close(session);
    return status;
}

/* The same parts with only some of the columns of `whole`. The types of each part are copied. */
static tamis_status narrow_parts(parts *made, const parts *all, const tmi_layout *whole, const tmi_layout *layout,
                                 tamis_error *err)
{
    *made = (parts){.count = all->count};
    made->sources = tmi_alloc(all->count, sizeof *made->sources);
    made->types = tmi_alloc(all->count * (layout->column_count + 1), sizeof *made->types);
    if (!made->sources || !made->types) return tmi_fail_memory(err);
    for (size_t p = 0; p < all->count; p++) {
        tmi_sql_type *types = made->types + p * layout->column_count;
        for (size_t c = 0; c < layout->column_count; c++)
            types[c] = all->sources[p].types[tmi_layout_index(whole, layout->columns[c])];
        made->sources[p] = (tmi_sql_source){all->sources[p].table, layout, types};
    }
    return TAMIS_OK;
}

/* The integer in a field; 0 if it is NULL. False if it is not an integer. */
static bool field_integer(tmi_int128 *value, PGresult *result, int row, int field)
{
    *value = 0;
    return tmi_pq()->getisnull(result, row, field) || tmi_int128_read(value, tmi_pq()->getvalue(result, row, field));
}

static tamis_status fail_integer(tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "PostgreSQL returned an answer that cannot be right");
}

/* ---- before the charge ---- */

typedef struct counting {
    int64_t *counts;
    size_t count;
} counting;

/* Rows of stratum and number; the last code is "no stratum". */
static tamis_status take_count(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    counting *k = context;
    tmi_int128 stratum, found;
    (void)p;
    if (!field_integer(&stratum, result, row, 0) || !field_integer(&found, result, row, 1) || stratum < 0 || found < 0)
        return fail_integer(err);
    if ((size_t)stratum >= k->count) return TAMIS_OK;
    tmi_int128 sum = k->counts[stratum] + found;
    if (sum > TMI_MAX_ROWS) return tmi_fail(err, TAMIS_INVALID, "the source has more than 2^40 rows");
    k->counts[stratum] = (int64_t)sum;
    return TAMIS_OK;
}

/* counts[s]: rows of stratum s, or the distinct labels in it. */
static tamis_status count_by(int64_t *counts, size_t count, const tmi_column *stratum, const tmi_column *label,
                             tmi_postgres *session, const parts *all, const tamis_watch *watch, tamis_error *err)
{
    const tmi_inventory asked = {.stratum = stratum, .unit = label};
    counting k = {counts, count};
    tmi_layout columns = {0}, *layout = &columns; /* only the columns that are counted by */
    parts narrow = {0}, *parts = &narrow;
    tamis_status status;
    char **queries = tmi_alloc(all->count, sizeof *queries);
    memset(counts, 0, count * sizeof *counts);
    if (!queries) return tmi_fail_memory(err);
    TMI_TRY(tmi_layout_of_inventory(&columns, &asked, err));
    TMI_TRY(narrow_parts(&narrow, all, all->sources[0].layout, &columns, err));
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++) {
        tmi_text sql;
        size_t step;
        tmi_text_init(&sql);
        status = tmi_sql_codes(&step, &sql, &parts->sources[p], err);
        tmi_text_put(&sql, " SELECT s, count(*) FROM (SELECT ");
        if (label) tmi_text_put(&sql, "DISTINCT ");
        if (stratum) tmi_text_format(&sql, "coalesce(v%zu, %zu) AS s", tmi_layout_index(layout, stratum), stratum->value_count);
        else tmi_text_put(&sql, "0 AS s");
        if (label)
            tmi_text_format(&sql, ", t%zu AS l FROM s%zu WHERE t%zu <> '') q GROUP BY s", tmi_layout_index(layout, label), step,
                            tmi_layout_index(layout, label));
        else tmi_text_format(&sql, " FROM s%zu) q GROUP BY s", step);
        const tamis_status written = tmi_text_take(&queries[p], &sql, err);
        if (status == TAMIS_OK) status = written;
    }
    if (status == TAMIS_OK) status = tmi_postgres_ask(session, 0, parts->count, queries, false, take_count, &k, watch, err);
done:
    free_queries(queries, all->count);
    clear_parts(&narrow);
    tmi_layout_clear(&columns);
    return status;
}

/* A unit or cluster may be in several parts, and then no server can tell that it is the same one. */
static tamis_status refuse_parts(const engine_state *state, bool unit, bool clusters, tamis_error *err)
{
    if (state->session.count < 2) return TAMIS_OK;
    if (unit && !state->sharded_by_unit)
        return tmi_fail(err, TAMIS_REFUSED,
                        "rows of one unit may be in several databases, where rows_per_unit cannot be enforced; if each unit is "
                        "in one database, declare `sharded_by: id`");
    if (clusters)
        return tmi_fail(err, TAMIS_REFUSED, "clusters cannot be identified across several databases: use one connection");
    return TAMIS_OK;
}

/* Checks that the codes of all categories can be written; the counts use only those that they are by. */
static tamis_status check_codes(const parts *all, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t p = 0; p < all->count && status == TAMIS_OK; p++) {
        size_t step;
        tmi_text sql;
        tmi_text_init(&sql);
        status = tmi_sql_codes(&step, &sql, &all->sources[p], err);
        if (status == TAMIS_OK && sql.failed) status = tmi_fail_memory(err);
        tmi_text_clear(&sql);
    }
    return status;
}

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    engine_state *state = engine->state;
    tmi_postgres *session = &state->session;
    const tmi_column *stratum = inventory->stratum, *unit = inventory->unit, *cluster = inventory->cluster;
    const size_t strata = stratum ? stratum->value_count : 1;
    tmi_layout layout = {0};
    parts parts = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_layout_of_inventory(&layout, inventory, err));
    TMI_TRY(refuse_parts(state, unit, cluster, err));
    TMI_TRY(make_parts(&parts, session, &layout, watch, err));
    TMI_TRY(check_codes(&parts, err));
    TMI_TRY(count_by(&inventory->rows, 1, NULL, NULL, session, &parts, watch, err));
    if (unit) TMI_TRY(count_by(&inventory->units, 1, NULL, unit, session, &parts, watch, err));
    if (inventory->rows_in) TMI_TRY(count_by(inventory->rows_in, strata, stratum, NULL, session, &parts, watch, err));
    if (unit && inventory->units_in) TMI_TRY(count_by(inventory->units_in, strata, stratum, unit, session, &parts, watch, err));
    if (cluster && inventory->clusters_in)
        TMI_TRY(count_by(inventory->clusters_in, strata, stratum, cluster, session, &parts, watch, err));
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    clear_parts(&parts);
    tmi_layout_clear(&layout);
    return status;
}

/* ---- the one pass ---- */

typedef struct adding {
    tmi_int128 *const *answers;
    const tmi_sql_pass *pass;
    tmi_int128 *sums;
    int64_t rows; /* of this pass */
} adding;

static tamis_status take_sums(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    adding *a = context;
    tmi_int128 key, rows;
    (void)p;
    if (!field_integer(&key, result, row, 0) || !field_integer(&rows, result, row, 1) || key < 0 || key > INT64_MAX)
        return fail_integer(err);
    if (rows < 0 || rows > TMI_MAX_ROWS - a->rows) return tmi_fail(err, TAMIS_SYSTEM, "the source has more than 2^40 rows");
    a->rows += (int64_t)rows;
    for (size_t i = 0; i < a->pass->sum_count; i++)
        if (!field_integer(&a->sums[i], result, row, (int)i + 2)) return fail_integer(err);
    return tmi_sql_pass_add(a->answers, a->pass, (int64_t)key, a->sums) ? TAMIS_OK : fail_integer(err);
}

/* EXPLAIN fits as well. A server reads at most 1 GB in one query; a longer one ends the connection. */
#define EXPLAIN "EXPLAIN "
#define LONGEST_QUESTION (((size_t)1 << 30) - 64)

/* The query of a pass for each part. With `planned` the server only plans it, which reads no row. */
static tamis_status write_pass(char **queries, const tmi_sql_pass *pass, const parts *parts, bool planned, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++) {
        tmi_text sql;
        tmi_text_init(&sql);
        tmi_text_put(&sql, planned ? EXPLAIN : "");
        status = tmi_sql_pass_write(&sql, pass, &parts->sources[p], err);
        if (status == TAMIS_OK && sql.length > LONGEST_QUESTION)
            status = tmi_fail(err, TAMIS_INVALID,
                              "PostgreSQL: the values of the columns make the query longer than 1 GB: use "
                              "fewer or shorter values");
        const tamis_status written = tmi_text_take(&queries[p], &sql, status == TAMIS_OK ? err : NULL);
        if (status == TAMIS_OK) status = written;
    }
    return status;
}

static tamis_status take_plan(void *context, size_t p, PGresult *result, int row, tamis_error *err)
{
    (void)context;
    (void)p;
    (void)result;
    (void)row;
    (void)err;
    return TAMIS_OK;
}

/* answers NULL: the servers only plan the query, and nothing is read. */
static tamis_status run_pass(tmi_int128 *const *answers, const tmi_sql_pass *pass, tmi_postgres *session, const parts *parts,
                             const tamis_watch *watch, tamis_error *err)
{
    char **queries = tmi_alloc(parts->count, sizeof *queries);
    adding a = {.answers = answers, .pass = pass, .sums = tmi_secret_alloc(pass->sum_count, sizeof *a.sums)};
    tamis_status status = queries && a.sums ? TAMIS_OK : tmi_fail_memory(err);
    if (status == TAMIS_OK) status = write_pass(queries, pass, parts, !answers, err);
    if (status == TAMIS_OK)
        status = tmi_postgres_ask(session, 0, parts->count, queries, false, answers ? take_sums : take_plan, &a, watch, err);
    tmi_secret_free(a.sums);
    free_queries(queries, parts->count);
    return status;
}

static bool has_groups(const tmi_layout *layout)
{
    for (size_t c = 0; c < layout->column_count; c++)
        if (layout->columns[c]->kind == TMI_GROUPS) return true;
    return false;
}

/* Room for the answers to a part of a request. They are exact sums, so they are secret. */
static tmi_int128 **make_answers(const tmi_request *request)
{
    tmi_int128 **answers = tmi_alloc(request->table_count, sizeof *answers);
    for (size_t t = 0; answers && t < request->table_count; t++)
        answers[t] = tmi_secret_alloc(tmi_table_cells(&request->tables[t]) * request->tables[t].measure_count, sizeof **answers);
    return answers;
}

static void free_answers(tmi_int128 **answers, const tmi_request *request)
{
    for (size_t t = 0; answers && t < request->table_count; t++) tmi_secret_free(answers[t]);
    tmi_free(answers);
}

/* The queries of a part of a request; answers NULL: they are only planned. */
static tamis_status ask_part(tmi_int128 *const *answers, const tmi_request_part *part, const tmi_layout *whole, const parts *all,
                             tmi_postgres *session, const tamis_watch *watch, tamis_error *err)
{
    tmi_sql_passes passes = {0};
    parts narrow = {0};
    tmi_int128 **own = NULL;
    tamis_status status;
    TMI_TRY(tmi_sql_passes_init(&passes, &part->layout, err));
    TMI_TRY(narrow_parts(&narrow, all, whole, &part->layout, err));
    if (answers && !(own = make_answers(&part->request))) TMI_TRY(tmi_fail_memory(err));
    for (size_t t = 0; own && t < part->request.table_count; t++)
        if (!own[t]) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < passes.count; i++) TMI_TRY(run_pass(own, &passes.list[i], session, &narrow, watch, err));
    if (answers) tmi_split_give(answers, whole->request, part, own);
done:
    free_answers(own, &part->request);
    clear_parts(&narrow);
    tmi_sql_passes_clear(&passes);
    return status;
}

/* All parts of a request, in the single transaction of each connection. answers NULL: their queries are only planned. */
static tamis_status ask_all(tmi_int128 *const *answers, engine_state *state, const tmi_request *request, const tamis_watch *watch,
                            tamis_error *err)
{
    tmi_layout layout = {0};
    tmi_split split = {0};
    parts parts = {0};
    tamis_status status;
    TMI_TRY(tmi_layout_init(&layout, request, err));
    TMI_TRY(refuse_parts(state, request->unit, has_groups(&layout), err));
    TMI_TRY(tmi_split_make(&split, &layout, TMI_SQL_ENTRIES, TMI_SQL_ENTRIES, err));
    TMI_TRY(make_parts(&parts, &state->session, &layout, watch, err));
    for (size_t i = 0; i < split.count; i++)
        TMI_TRY(ask_part(answers, &split.list[i], &layout, &parts, &state->session, watch, err));
done:
    clear_parts(&parts);
    tmi_split_clear(&split);
    tmi_layout_clear(&layout);
    return status;
}

static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    return ask_all(NULL, engine->state, request, watch, err);
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    tmi_answers_clear(answers, request);
    tamis_status status = ask_all(answers, engine->state, request, watch, err);
    if (status != TAMIS_OK) tmi_answers_clear(answers, request);
    if (status == TAMIS_INVALID) { /* after the charge it is no longer the caller's mistake */
        status = TAMIS_SYSTEM;
        if (err) err->status = status;
    }
    return status;
}

/* ---- the engine ---- */

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    tmi_postgres *session = &((engine_state *)engine->state)->session;
    tmi_layout layout = {0};
    parts parts = {0};
    tamis_status status;
    TMI_TRY(tmi_layout_of_rows(&layout, columns, column_count, err));
    TMI_TRY(make_parts(&parts, session, &layout, NULL, err));
    TMI_TRY(tmi_postgres_rows(session, parts.sources, take, context, err));
done:
    clear_parts(&parts);
    tmi_layout_clear(&layout);
    return status;
}

static void free_engine(tmi_engine *engine)
{
    if (!engine) return;
    engine_state *state = engine->state;
    tmi_postgres_clear(&state->session);
    tmi_free(state);
}

tamis_status tmi_engine_postgres(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    *engine = NULL;
    engine_state *state = tmi_alloc(1, sizeof *state);
    if (!state) return tmi_fail_memory(err);
    tamis_status status = tmi_postgres_init(&state->session, source, threads, err);
    if (status != TAMIS_OK) {
        tmi_free(state);
        return status;
    }
    state->sharded_by_unit = source->sharded_by_unit;
    state->engine = (tmi_engine){"postgres", state, describe, check, aggregate, read_rows, free_engine};
    *engine = &state->engine;
    return TAMIS_OK;
}
