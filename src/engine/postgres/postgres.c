/* PostgreSQL: the servers compute the sums, with one query per pass, and return integers. Several connections are parts of one
 * table; their integers are added here. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/secret.h"
#include "engine/core/split.h"
#include "engine/postgres/parts.h"
#include "engine/postgres/rows.h"

typedef struct engine_state {
    tmi_engine engine;
    tmi_postgres session;
    bool sharded_by_unit;
} engine_state;

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
                             tmi_postgres *session, const tmi_postgres_parts *all, const tamis_watch *watch, tamis_error *err)
{
    const tmi_inventory asked = {.stratum = stratum, .unit = label};
    counting k = {counts, count};
    tmi_layout columns = {0}; /* only those that are counted by */
    tmi_postgres_parts narrow = {0}, *parts = &narrow;
    tamis_status status;
    char **queries = tmi_alloc(all->count, sizeof *queries);
    memset(counts, 0, count * sizeof *counts);
    if (!queries) return tmi_fail_memory(err);
    TMI_TRY(tmi_layout_of_inventory(&columns, &asked, err));
    TMI_TRY(tmi_postgres_parts_narrow(&narrow, all, all->sources[0].layout, &columns, err));
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++) {
        tmi_text sql;
        tmi_text_init(&sql);
        status = tmi_sql_counts(&sql, &parts->sources[p], stratum, label, err);
        const tamis_status written = tmi_text_take(&queries[p], &sql, err);
        if (status == TAMIS_OK) status = written;
    }
    if (status == TAMIS_OK) status = tmi_postgres_ask(session, 0, parts->count, queries, false, take_count, &k, watch, err);
done:
    tmi_postgres_free_queries(queries, all->count);
    tmi_postgres_parts_clear(&narrow);
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
static tamis_status check_codes(const tmi_postgres_parts *all, tamis_error *err)
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
    tmi_postgres_parts parts = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_layout_of_inventory(&layout, inventory, err));
    TMI_TRY(refuse_parts(state, unit, cluster, err));
    TMI_TRY(tmi_postgres_parts_make(&parts, session, &layout, watch, err));
    TMI_TRY(check_codes(&parts, err));
    if (unit) {
        tmi_unit_counts counts;
        TMI_TRY(tmi_postgres_count_units(&counts, &parts, unit, session, watch, err));
        inventory->rows = counts.rows;
        inventory->units = counts.units;
    } else {
        TMI_TRY(count_by(&inventory->rows, 1, NULL, NULL, session, &parts, watch, err));
    }
    session->rows = inventory->rows;
    if (inventory->rows_in) TMI_TRY(count_by(inventory->rows_in, strata, stratum, NULL, session, &parts, watch, err));
    if (unit && inventory->units_in && !stratum) inventory->units_in[0] = inventory->units;
    else if (unit && inventory->units_in)
        TMI_TRY(count_by(inventory->units_in, strata, stratum, unit, session, &parts, watch, err));
    if (cluster && inventory->clusters_in)
        TMI_TRY(count_by(inventory->clusters_in, strata, stratum, cluster, session, &parts, watch, err));
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    tmi_postgres_parts_clear(&parts);
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

/* The query of a pass for each part. With `planned` the server only plans it, which reads no row. */
static tamis_status write_pass(char **queries, const tmi_sql_pass *pass, const tmi_postgres_parts *parts, bool planned,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t p = 0; p < parts->count && status == TAMIS_OK; p++) {
        tmi_text sql;
        tmi_text_init(&sql);
        tmi_text_put(&sql, planned ? TMI_POSTGRES_EXPLAIN : "");
        status = tmi_sql_pass_write(&sql, pass, &parts->sources[p], err);
        status = tmi_postgres_take_query(&queries[p], &sql, status, err);
    }
    return status;
}

/* answers NULL: the servers only plan the query, and nothing is read. */
static tamis_status run_pass(tmi_int128 *const *answers, const tmi_sql_pass *pass, tmi_postgres *session,
                             const tmi_postgres_parts *parts, const tamis_watch *watch, tamis_error *err)
{
    char **queries = tmi_alloc(parts->count, sizeof *queries);
    adding a = {.answers = answers, .pass = pass, .sums = tmi_secret_alloc(pass->sum_count, sizeof *a.sums)};
    tamis_status status = queries && a.sums ? TAMIS_OK : tmi_fail_memory(err);
    if (status == TAMIS_OK) status = write_pass(queries, pass, parts, !answers, err);
    if (status == TAMIS_OK)
        status = tmi_postgres_ask(session, 0, parts->count, queries, false, answers ? take_sums : tmi_postgres_take_plan, &a,
                                  watch, err);
    tmi_secret_free(a.sums);
    tmi_postgres_free_queries(queries, parts->count);
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
static tamis_status ask_part(tmi_int128 *const *answers, const tmi_request_part *part, const tmi_layout *whole,
                             const tmi_postgres_parts *all, tmi_postgres *session, const tamis_watch *watch, tamis_error *err)
{
    tmi_sql_passes passes = {0};
    tmi_postgres_parts narrow = {0};
    tmi_int128 **own = NULL;
    tamis_status status;
    TMI_TRY(tmi_sql_passes_init(&passes, &tmi_dialect_postgres, &part->layout, session->rows, err));
    TMI_TRY(tmi_postgres_parts_narrow(&narrow, all, whole, &part->layout, err));
    if (answers && !(own = make_answers(&part->request))) TMI_TRY(tmi_fail_memory(err));
    for (size_t t = 0; own && t < part->request.table_count; t++)
        if (!own[t]) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < passes.count; i++) TMI_TRY(run_pass(own, &passes.list[i], session, &narrow, watch, err));
    if (answers) tmi_split_give(answers, whole->request, part, own);
done:
    free_answers(own, &part->request);
    tmi_postgres_parts_clear(&narrow);
    tmi_sql_passes_clear(&passes);
    return status;
}

/* Room that the server may need at worst on its disk to order the rows of units: all of them. Servers limit it. */
static tamis_status check_disk(const engine_state *state, const tmi_layout *layout, tamis_error *err)
{
    const tmi_int128 once = (tmi_int128)state->session.rows * (int64_t)(128 + 16 * layout->column_count),
                     bytes = tmi_bounds_units(layout) ? 2 * once : once; /* their rows are ordered again to be added up */
    for (size_t p = 0; p < state->session.count; p++) {
        tmi_int128 kilobytes = -1;
        PGresult *result = tmi_postgres_query(
            &state->session, p, "SELECT setting FROM pg_settings WHERE name = 'temp_file_limit'"); /* in kB; -1: none */
        const bool known = tmi_pq()->ntuples(result) == 1 && tmi_int128_read(&kilobytes, tmi_pq()->getvalue(result, 0, 0));
        tmi_pq()->clear(result);
        if (known && kilobytes >= 0 && kilobytes < bytes / 1024)
            return tmi_fail(err, TAMIS_INVALID,
                            "PostgreSQL, connection %zu: choosing the rows of units may need %lld MB of temporary files, and its "
                            "temp_file_limit is %lld MB: raise it, or declare fewer columns",
                            p + 1, (long long)(bytes >> 20), (long long)(kilobytes >> 10));
    }
    return TAMIS_OK;
}

/* All parts of a request, in the single transaction of each connection. answers NULL: their queries are only planned. */
static tamis_status ask_all(tmi_int128 *const *answers, engine_state *state, const tmi_request *request, const tamis_watch *watch,
                            tamis_error *err)
{
    tmi_layout layout = {0};
    tmi_split split = {0};
    tmi_postgres_parts parts = {0};
    tamis_status status;
    TMI_TRY(tmi_layout_init(&layout, request, err));
    TMI_TRY(refuse_parts(state, request->unit, has_groups(&layout), err));
    TMI_TRY(tmi_split_make(&split, &layout, TMI_SQL_ENTRIES, TMI_SQL_ENTRIES, err));
    TMI_TRY(tmi_postgres_parts_make(&parts, &state->session, &layout, watch, err));
    if (!answers && request->unit) TMI_TRY(check_disk(state, &layout, err));
    if (answers) TMI_TRY(tmi_postgres_see_units(&parts, &state->session, &layout, watch, err));
    /* Which queries will be needed is not known before the charge, so both kinds are planned. */
    for (int fit = 0; fit < (answers || !request->unit ? 1 : 2); fit++) {
        for (size_t p = 0; !answers && p < parts.count; p++) parts.sources[p].units_fit = fit;
        for (size_t i = 0; i < split.count; i++)
            TMI_TRY(ask_part(answers, &split.list[i], &layout, &parts, &state->session, watch, err));
    }
done:
    tmi_postgres_parts_clear(&parts);
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

/* ---- points ---- */

/* list NULL: the queries are only planned. */
static tamis_status ask_points(tmi_point_list *list, engine_state *state, const tmi_points_request *request,
                               const tamis_watch *watch, tamis_error *err)
{
    tmi_points_plan plan;
    tmi_layout layout = {0};
    tamis_status status;
    TMI_TRY(tmi_points_plan_make(&plan, request, err));
    TMI_TRY(tmi_layout_init(&layout, &plan.request, err));
    TMI_TRY(refuse_parts(state, request->unit, has_groups(&layout), err));
    TMI_TRY(tmi_postgres_points(list, &state->session, &plan, &layout, watch, err));
    if (!list && request->unit) TMI_TRY(check_disk(state, &layout, err));
done:
    tmi_layout_clear(&layout);
    return status;
}

static tamis_status check_points(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err)
{
    return ask_points(NULL, engine->state, request, watch, err);
}

static tamis_status points(tmi_engine *engine, tmi_point_list *list, const tmi_points_request *request, const tamis_watch *watch,
                           tamis_error *err)
{
    return ask_points(list, engine->state, request, watch, err);
}

/* ---- the engine ---- */

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    tmi_postgres *session = &((engine_state *)engine->state)->session;
    tmi_layout layout = {0};
    tmi_postgres_parts parts = {0};
    tamis_status status;
    TMI_TRY(tmi_layout_of_rows(&layout, columns, column_count, err));
    TMI_TRY(tmi_postgres_parts_make(&parts, session, &layout, NULL, err));
    TMI_TRY(tmi_postgres_rows(session, parts.sources, take, context, err));
done:
    tmi_postgres_parts_clear(&parts);
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
    state->engine = (tmi_engine){.name = "postgres",
                                 .state = state,
                                 .describe = describe,
                                 .check = check,
                                 .aggregate = aggregate,
                                 .check_points = check_points,
                                 .points = points,
                                 .rows = read_rows,
                                 .free = free_engine};
    *engine = &state->engine;
    return TAMIS_OK;
}
