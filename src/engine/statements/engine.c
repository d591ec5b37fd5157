/* The engine that is asked in SQL. Before the charge it is tried with rows that are made up (probe.h), and every statement
 * that the release will need is planned, and run on no row. */
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/value/json.h"
#include "base/watch.h"
#include "engine/core/cells.h"
#include "engine/statements/command.h"
#include "engine/statements/probe.h"

typedef struct state {
    tmi_engine engine;
    tmi_sql_road road;
    tmi_known_columns known;
    bool tried;        /* the engine passed the probe */
    int64_t rows;      /* counted before the charge; 0: not yet */
    size_t statements; /* that will be needed after the charge */
    tmi_recount recount;
    unsigned char chain[2 * TMI_SHA256_BYTES]; /* the first half: of all statements that were planned */
} state;

const tmi_dialect *tmi_sql_dialect(const char *name)
{
    static const tmi_dialect *const all[] = {&tmi_dialect_spark, &tmi_dialect_duckdb, &tmi_dialect_postgres};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

static tmi_sql_place place_of(const state *s)
{
    return (tmi_sql_place){.road = &s->road, .table = s->road.table, .known = &s->known, .rows = s->rows};
}

/* Asked between statements. One that a function of the caller runs is not interrupted; a client is. */
static tamis_status go_on(const state *s, const tamis_watch *watch, tamis_error *err)
{
    if (s->road.client) tmi_client_watched(s->road.client, watch);
    return tmi_stopped(watch, -1, 0) ? tmi_fail_cancelled(err) : TAMIS_OK;
}

/* What others call an engine that fails. */
static tamis_status left(tamis_status status, tamis_error *err)
{
    if (status != TAMIS_UNABLE) return status;
    if (err) err->status = TAMIS_SYSTEM;
    return TAMIS_SYSTEM;
}

/* ---- before the charge ---- */

static bool has_word(const char *plan, const char *word)
{
    const bool begins_with_letter = (word[0] | 32) >= 'a' && (word[0] | 32) <= 'z';
    for (const char *at = plan; (at = strstr(at, word)); at++) {
        const char before = at > plan ? at[-1] : ' ';
        const bool inside = (before >= '0' && before <= '9') || ((before | 32) >= 'a' && (before | 32) <= 'z') || before == '_';
        if (!begins_with_letter || !inside) return true;
    }
    return false;
}

static tamis_status refuse_word(const char *word, tamis_error *err)
{
    return tmi_fail(
        err, TAMIS_REFUSED,
        "table: the engine's plan for it contains `%s`, so that two readings may give different rows: store its rows in a "
        "table first",
        word);
}

/* Functions in the table's own text: DuckDB's plans show only the names of columns. */
static tamis_status refuse_functions(const state *s, tamis_error *err)
{
    char *small = tmi_copy_text(s->road.table, strlen(s->road.table));
    tamis_status status = small ? TAMIS_OK : tmi_fail_memory(err);
    for (char *c = small; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c + 32);
    for (const char *const *word = s->road.dialect->unsteady; small && *word && status == TAMIS_OK; word++)
        if ((*word)[strlen(*word) - 1] == '(' && has_word(small, *word)) status = refuse_word(*word, err);
    tmi_free(small);
    return status;
}

/* A scan that may return other rows the next time: then statements, and even the tasks of one statement, disagree about the
 * table. The plan of the engine is searched, and not shown. */
static tamis_status refuse_unsteady(const state *s, tamis_error *err)
{
    const tmi_dialect *dialect = s->road.dialect;
    tmi_value *rows = NULL;
    char *statement = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    TMI_TRY(refuse_functions(s, err));
    tmi_text_format(&sql, "%sSELECT * FROM %s", dialect->explain, s->road.table);
    TMI_TRY(tmi_text_take(&statement, &sql, err));
    TMI_TRY(tmi_sql_ask(&rows, &s->road, statement, "the plan of a scan of the table", err));
    for (const tmi_value *row = tmi_value_first(rows); row; row = tmi_value_next(row))
        for (size_t i = 0; i < tmi_value_size(row); i++)
            for (const char *const *word = dialect->unsteady; *word; word++) {
                const tmi_value *cell = tmi_value_at(row, i);
                if (tmi_value_kind_of(cell) == TMI_VALUE_TEXT && has_word(tmi_value_string(cell), *word))
                    TMI_TRY(refuse_word(*word, err));
            }
done:
    tmi_value_free(rows);
    tmi_free(statement);
    return status;
}

/* A statement is needed after the charge. Two of them may see two states of the table, unless one is named. */
static tamis_status count_statement(state *s, tamis_error *err)
{
    if (++s->statements == 1 || s->road.rows_version) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_REFUSED,
        "the plan needs more than one statement after the charge, and the table may change between them: name one state "
        "of its rows in `table` and as `rows_version`, or declare bounds and release quantiles and other statistics by plans of "
        "their own");
}

static tamis_status describe(tmi_engine *engine, tmi_inventory *inventory, const tamis_watch *watch, tamis_error *err)
{
    state *s = engine->state;
    tmi_layout layout = {0};
    tamis_status status;
    tmi_inventory_clear(inventory);
    TMI_TRY(tmi_layout_of_inventory(&layout, inventory, err));
    TMI_TRY(go_on(s, watch, err));
    TMI_TRY(tmi_known_learn(&s->known, &s->road, &layout, err));
    if (!s->tried) {
        TMI_TRY(refuse_unsteady(s, err));
        TMI_TRY(tmi_probe_engine(&s->road, err));
        s->tried = true;
    }
    TMI_TRY(tmi_probe_inventory(&s->road, &s->known, inventory, err));
    const tmi_sql_place place = place_of(s);
    tmi_recount_clear(&s->recount);
    TMI_TRY(tmi_place_inventory(inventory, &s->recount, &place, err));
    s->rows = inventory->rows;
done:
    if (status != TAMIS_OK) tmi_inventory_clear(inventory);
    tmi_layout_clear(&layout);
    return left(status, err);
}

/* The engine plans the statement; then it runs it on no row of the table, because some engines report what is wrong with a
 * statement as its plan. Takes the statements. */
static tamis_status try_statements(state *s, char *planned, char *on_nothing, tamis_error *err)
{
    tmi_value *rows = NULL;
    tmi_text sql;
    char *statement = NULL;
    tamis_status status;
    tmi_sha256(s->chain + TMI_SHA256_BYTES, planned, strlen(planned));
    tmi_sha256(s->chain, s->chain, sizeof s->chain);
    tmi_text_init(&sql);
    tmi_text_put(&sql, s->road.dialect->explain);
    tmi_text_put(&sql, planned);
    TMI_TRY(tmi_text_take(&statement, &sql, err));
    TMI_TRY(tmi_sql_ask(&rows, &s->road, statement, "its plan of the release's statement", err));
    tmi_value_free(rows);
    rows = NULL;
    TMI_TRY(tmi_sql_ask(&rows, &s->road, on_nothing, "the release's statement on no rows", err));
done:
    tmi_value_free(rows);
    tmi_free(statement);
    tmi_free(planned);
    tmi_free(on_nothing);
    return status;
}

/* The table without its rows, which the caller frees. */
static tamis_status nothing_of(char **table, const state *s, tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_format(&text, "(SELECT * FROM %s WHERE 1 = 0) tamis_nothing", s->road.table);
    return tmi_text_take(table, &text, err);
}

/* What sums and points need before their statements are tried: nothing is refused later that can be refused now. *nothing is
 * the table without its rows. */
static tamis_status begin_check(char **nothing, state *s, const tmi_layout *layout, const tamis_watch *watch, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(count_statement(s, err));
    TMI_TRY(go_on(s, watch, err));
    TMI_TRY(tmi_known_learn(&s->known, &s->road, layout, err));
    TMI_TRY(nothing_of(nothing, s, err));
done:
    return status;
}

static tamis_status check(tmi_engine *engine, const tmi_request *request, const tamis_watch *watch, tamis_error *err)
{
    state *s = engine->state;
    tmi_layout layout = {0};
    char *planned = NULL, *on_nothing = NULL, *nothing = NULL;
    tamis_status status;
    TMI_TRY(tmi_layout_init(&layout, request, err));
    TMI_TRY(begin_check(&nothing, s, &layout, watch, err));
    tmi_sql_place place = place_of(s);
    TMI_TRY(tmi_place_write_sums(&planned, &place, request, &s->recount, err));
    place.table = nothing;
    status = tmi_place_write_sums(&on_nothing, &place, request, NULL, err);
    if (status != TAMIS_OK) tmi_free(planned);
    if (status == TAMIS_OK) TMI_TRY(try_statements(s, planned, on_nothing, err));
    if (status == TAMIS_OK) TMI_TRY(tmi_probe_sums(&s->road, &s->known, request, err));
done:
    tmi_free(nothing);
    tmi_layout_clear(&layout);
    return left(status, err);
}

static tamis_status check_points(tmi_engine *engine, const tmi_points_request *request, const tamis_watch *watch,
                                 tamis_error *err)
{
    state *s = engine->state;
    tmi_points_plan plan;
    tmi_layout layout = {0};
    char *planned = NULL, *on_nothing = NULL, *nothing = NULL;
    tamis_status status;
    TMI_TRY(tmi_points_plan_make(&plan, request, err));
    TMI_TRY(tmi_layout_init(&layout, &plan.request, err));
    TMI_TRY(begin_check(&nothing, s, &layout, watch, err));
    tmi_sql_place place = place_of(s);
    TMI_TRY(tmi_place_write_points(&planned, &place, request, &s->recount, err));
    place.table = nothing;
    status = tmi_place_write_points(&on_nothing, &place, request, NULL, err);
    if (status != TAMIS_OK) tmi_free(planned);
    if (status == TAMIS_OK) TMI_TRY(try_statements(s, planned, on_nothing, err));
    if (status == TAMIS_OK) TMI_TRY(tmi_probe_points(&s->road, &s->known, request, err));
done:
    tmi_free(nothing);
    tmi_layout_clear(&layout);
    return left(status, err);
}

/* ---- after the charge ---- */

/* It is no longer the caller's mistake. */
static tamis_status after_charge(tamis_status status, tamis_error *err)
{
    return left(status == TAMIS_INVALID ? TAMIS_UNABLE : status, err);
}

static tamis_status aggregate(tmi_engine *engine, tmi_int128 *const *answers, const tmi_request *request,
                              const tamis_watch *watch, tamis_error *err)
{
    state *s = engine->state;
    tmi_layout layout = {0};
    tamis_status status;
    tmi_answers_clear(answers, request);
    TMI_TRY(tmi_layout_init(&layout, request, err));
    TMI_TRY(tmi_known_learn(&s->known, &s->road, &layout, err)); /* asks nothing if the request was checked */
    TMI_TRY(go_on(s, watch, err));
    if (s->road.client) tmi_client_charged(s->road.client);
    const tmi_sql_place place = place_of(s);
    TMI_TRY(tmi_place_sums(answers, &place, request, &s->recount, err));
done:
    if (status != TAMIS_OK) tmi_answers_clear(answers, request);
    tmi_layout_clear(&layout);
    return after_charge(status, err);
}

static tamis_status points(tmi_engine *engine, tmi_point_list *list, const tmi_points_request *request, const tamis_watch *watch,
                           tamis_error *err)
{
    state *s = engine->state;
    tmi_points_plan plan;
    tmi_layout layout = {0};
    tamis_status status;
    TMI_TRY(tmi_points_plan_make(&plan, request, err));
    TMI_TRY(tmi_layout_init(&layout, &plan.request, err));
    TMI_TRY(tmi_known_learn(&s->known, &s->road, &layout, err));
    TMI_TRY(go_on(s, watch, err));
    if (s->road.client) tmi_client_charged(s->road.client);
    const tmi_sql_place place = place_of(s);
    TMI_TRY(tmi_place_points(list, &place, request, &s->recount, err));
done:
    tmi_layout_clear(&layout);
    return after_charge(status, err);
}

/* ---- the engine ---- */

static tamis_status read_rows(tmi_engine *engine, const tmi_column *const *columns, size_t column_count, tmi_take_rows *take,
                              void *context, tamis_error *err)
{
    (void)engine;
    (void)columns;
    (void)column_count;
    (void)take;
    (void)context;
    return tmi_fail(err, TAMIS_INVALID,
                    "rows: an engine that is asked in SQL returns only sums; an estimate needs another source");
}

/* Whether our tests have run this version of the engine. */
static bool is_tested(const state *s)
{
    const char *tested = s->road.dialect->tested;
    return tested && s->known.version && strncmp(s->known.version, tested, strlen(tested)) == 0;
}

/* Keys are drawn after the charge, so the statements that are hashed have none. */
static tamis_status facts(tmi_engine *engine, tmi_value **told, tamis_error *err)
{
    const state *s = engine->state;
    char hash[TMI_SHA256_TEXT];
    tmi_json_tree tree;
    tmi_json_tree_begin(&tree, NULL);
    tmi_hex(hash, s->chain, TMI_SHA256_BYTES);
    tmi_json_open(&tree.out, '{');
    tmi_json_add_string(&tree.out, "dialect", s->road.dialect->name);
    tmi_json_add_boolean(&tree.out, "experimental", !is_tested(s));
    tmi_json_add_string(&tree.out, "version", s->known.version);
    tmi_json_add_string(&tree.out, "table", s->road.table);
    tmi_json_add_string(&tree.out, "rows_version", s->road.rows_version);
    tmi_json_add_string(&tree.out, "statements", hash);
    tmi_json_close(&tree.out, '}');
    return tmi_json_tree_end(told, &tree, err);
}

static void free_engine(tmi_engine *engine)
{
    if (!engine) return;
    state *s = engine->state;
    tmi_known_clear(&s->known);
    tmi_recount_clear(&s->recount);
    tmi_client_free(s->road.client);
    tmi_free(s);
}

tamis_status tmi_engine_sql(tmi_engine **engine, const tmi_sql_road *road, tamis_error *err)
{
    state *s = tmi_alloc(1, sizeof *s);
    *engine = NULL;
    if (!s) return tmi_fail_memory(err);
    *s = (state){.engine = {.name = "sql",
                            .state = s,
                            .describe = describe,
                            .check = check,
                            .aggregate = aggregate,
                            .check_points = check_points,
                            .points = points,
                            .rows = read_rows,
                            .facts = facts,
                            .free = free_engine},
                 .road = *road};
    *engine = &s->engine;
    return TAMIS_OK;
}

tamis_status tmi_engine_command(tmi_engine **engine, const tmi_command *command, tamis_error *err)
{
    tmi_client *client;
    *engine = NULL;
    tamis_status status = tmi_client_new(&client, command, err);
    if (status != TAMIS_OK) return status;
    const tmi_sql_road road = {.dialect = tmi_sql_dialect(command->dialect),
                               .table = command->table,
                               .rows_version = command->rows_version,
                               .run = tmi_client_run,
                               .context = client,
                               .client = client};
    status = tmi_engine_sql(engine, &road, err);
    if (status != TAMIS_OK) tmi_client_free(client);
    return status;
}
