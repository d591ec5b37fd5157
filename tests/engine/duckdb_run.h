/* DuckDB as an engine that is asked in SQL: runs statements for tamis_source_sql, and answers with texts. */
#ifndef TESTS_ENGINE_DUCKDB_RUN_H
#define TESTS_ENGINE_DUCKDB_RUN_H

#include <tamis/experimental/sql.h>

#include "base/text.h"
#include "tests/engine/duckdb_sql.h"

typedef struct duckdb_run {
    duckdb_database database;
    duckdb_connection connection;
    const char *from[4], *to[4]; /* texts of statements that are replaced, so that the engine is a wrong one */
    const char *fails_at;        /* fails if a statement contains this */
    char *changes;               /* runs this before a statement that contains... */
    const char *changes_at;      /* ...this */
    size_t statements;
    char *last; /* of them */
} duckdb_run;

static inline void duckdb_run_open(duckdb_run *r)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    *r = (duckdb_run){0};
    assert_non_null(api);
    assert_int_equal(api->open_ext(NULL, &r->database, NULL, NULL), DuckDBSuccess);
    assert_int_equal(api->connect(r->database, &r->connection), DuckDBSuccess);
}

static inline void duckdb_run_close(duckdb_run *r)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    free(r->last);
    api->disconnect(&r->connection);
    api->close(&r->database);
}

static inline void duckdb_run_do(duckdb_run *r, const char *sql)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_result result;
    if (api->query(r->connection, sql, &result) == DuckDBError) fail_msg("%s\n%.2000s", api->result_error(&result), sql);
    api->destroy_result(&result);
}

static inline void put_duckdb_text(tmi_text *json, const duckdb_string_t *cell)
{
    const uint32_t length = cell->value.inlined.length;
    const char *bytes = length <= 12 ? cell->value.inlined.inlined : cell->value.pointer.ptr;
    tmi_text_put(json, "\"");
    for (uint32_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c < 32 || c == '"' || c == '\\') tmi_text_format(json, "\\u%04x", c);
        else tmi_text_add(json, &bytes[i], 1);
    }
    tmi_text_put(json, "\"");
}

/* The statement with its replacements, which the caller frees. */
static inline char *replaced(const duckdb_run *r, const char *sql)
{
    char *text = strdup(sql);
    for (size_t i = 0; i < 4 && r->from[i]; i++) {
        tmi_text next;
        const char *at = text;
        tmi_text_init(&next);
        tmi_text_put(&next, "");
        for (const char *found; (found = strstr(at, r->from[i])); at = found + strlen(r->from[i])) {
            tmi_text_add(&next, at, (size_t)(found - at));
            tmi_text_put(&next, r->to[i]);
        }
        tmi_text_put(&next, at);
        free(text);
        text = strdup(next.bytes);
        tmi_text_clear(&next);
    }
    return text;
}

static inline tamis_status duckdb_run_sql(void *context, tamis_reply *reply, const char *sql, tamis_error *err)
{
    const tmi_duckdb_api *api = tmi_duckdb_load(NULL);
    duckdb_run *r = context;
    duckdb_result result;
    duckdb_data_chunk chunk;
    tmi_text json;
    const char *comma = "";
    if (r->changes && strstr(sql, r->changes_at)) {
        duckdb_run_do(r, r->changes);
        r->changes = NULL;
    }
    char *text = replaced(r, sql);
    const bool failed = (r->fails_at && strstr(sql, r->fails_at)) || api->query(r->connection, text, &result) == DuckDBError;
    r->statements++;
    free(r->last);
    r->last = text;
    if (failed) {
        if (err && !r->fails_at) snprintf(err->message, sizeof err->message, "%s", api->result_error(&result));
        if (!r->fails_at) api->destroy_result(&result);
        return TAMIS_SYSTEM;
    }
    tmi_text_init(&json);
    tmi_text_put(&json, "[");
    while ((chunk = api->fetch_chunk(result))) {
        const size_t width = api->column_count(&result);
        for (size_t row = 0; row < api->data_chunk_get_size(chunk); row++, comma = ", ") {
            tmi_text_format(&json, "%s[", comma);
            for (size_t c = 0; c < width; c++) {
                duckdb_vector vector = api->data_chunk_get_vector(chunk, c);
                const uint64_t *validity = api->vector_get_validity(vector);
                tmi_text_put(&json, c > 0 ? ", " : "");
                if (validity && !(validity[row / 64] >> row % 64 & 1)) tmi_text_put(&json, "null");
                else put_duckdb_text(&json, (const duckdb_string_t *)api->vector_get_data(vector) + row);
            }
            tmi_text_put(&json, "]");
        }
        api->destroy_data_chunk(&chunk);
    }
    api->destroy_result(&result);
    tmi_text_put(&json, "]");
    tamis_reply_set(reply, json.bytes);
    tmi_text_clear(&json);
    return TAMIS_OK;
}

#endif
