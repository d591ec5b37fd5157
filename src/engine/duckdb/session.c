#include "engine/duckdb/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/watch.h"
#include "engine/core/machine.h"
#include "engine/core/sql.h"

#define PROGRESS_SECONDS 0.1

/* ---- opening ---- */

static tamis_status failed(tamis_error *err) { return tmi_fail(err, TAMIS_SYSTEM, "DuckDB could not be started"); }

static tamis_status open_database(tmi_duckdb_session *session, const tmi_duckdb_options *options, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    session->memory = options->memory > 0 ? options->memory : tmi_machine_memory();
    const uint64_t megabytes = session->memory >> 20;
    if (megabytes < TMI_DUCKDB_LEAST_MB + TMI_DUCKDB_THREAD_MB)
        return tmi_fail(err, TAMIS_INVALID, "memory: DuckDB needs at least %d MB, and this leaves it %llu MB",
                        TMI_DUCKDB_LEAST_MB + TMI_DUCKDB_THREAD_MB, (unsigned long long)megabytes);
    const uint64_t most = (megabytes - TMI_DUCKDB_LEAST_MB) / TMI_DUCKDB_THREAD_MB;
    unsigned threads = options->threads > 0 ? options->threads : tmi_machine_threads();
    if (threads > 1024) threads = 1024;
    if (threads > most) threads = (unsigned)most;
    char thread_text[16], memory_text[32];
    snprintf(thread_text, sizeof thread_text, "%u", threads);
    snprintf(memory_text, sizeof memory_text, "%lluMiB", (unsigned long long)megabytes);
    const struct {
        const char *name, *value;
    } settings[] = {
        {"threads", thread_text},
        {"memory_limit", memory_text},
        {"temp_directory", ""},
        {"preserve_insertion_order", options->in_order ? "true" : "false"},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_community_extensions", "false"},
    };
    duckdb_config config;
    char *message = NULL;
    bool opened = api->create_config(&config) == DuckDBSuccess;
    for (size_t i = 0; opened && i < sizeof settings / sizeof *settings; i++)
        opened = api->set_config(config, settings[i].name, settings[i].value) == DuckDBSuccess;
    opened = opened && api->open_ext(NULL, &session->database, config, &message) == DuckDBSuccess;
    api->free(message);
    api->destroy_config(&config);
    return opened ? TAMIS_OK : failed(err);
}

static tamis_status set(tmi_duckdb_session *session, const tmi_text *sql, tamis_error *err)
{
    if (sql->failed) return tmi_fail_memory(err);
    return session->api->query(session->connection, sql->bytes, NULL) == DuckDBError ? failed(err) : TAMIS_OK;
}

tamis_status tmi_duckdb_open(tmi_duckdb_session *session, const tmi_duckdb_options *options, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    memset(session, 0, sizeof *session);
    session->api = tmi_duckdb_load(err);
    if (!session->api) return TAMIS_SYSTEM;
    TMI_TRY(open_database(session, options, err));
    if (session->api->connect(session->database, &session->connection) == DuckDBError) TMI_TRY(failed(err));
done:
    if (status != TAMIS_OK) tmi_duckdb_close(session);
    return status;
}

tamis_status tmi_duckdb_attach(tmi_duckdb_session *session, const char *path, size_t number, tamis_error *err)
{
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "ATTACH ");
    tmi_sql_text(&sql, path);
    tmi_text_format(&sql, " AS d%zu (TYPE DUCKDB, READ_ONLY)", number);
    const bool failed_text = sql.failed;
    const bool attached = !failed_text && session->api->query(session->connection, sql.bytes, NULL) == DuckDBSuccess;
    tmi_text_clear(&sql);
    if (failed_text) return tmi_fail_memory(err);
    return attached ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "not a DuckDB file, or another program is writing to it");
}

tamis_status tmi_duckdb_lock(tmi_duckdb_session *session, const tmi_duckdb_options *options, tamis_error *err)
{
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SET enable_progress_bar=true; SET enable_progress_bar_print=false; "
                       "SET allowed_paths=[");
    for (size_t f = 0; f < options->file_count; f++) {
        tmi_text_put(&sql, f > 0 ? "," : "");
        tmi_sql_text(&sql, options->files[f]);
    }
    tmi_text_put(&sql, "]; SET enable_external_access=false; SET lock_configuration=true");
    tamis_status status = set(session, &sql, err);
    tmi_text_clear(&sql);
    return status;
}

void tmi_duckdb_close(tmi_duckdb_session *session)
{
    if (session->connection) session->api->disconnect(&session->connection);
    if (session->database) session->api->close(&session->database);
    memset(session, 0, sizeof *session);
}

/* ---- asking ---- */

/* What the operator reads. */
static tamis_status say_trouble(const tmi_duckdb_session *session, tamis_error *err)
{
    const unsigned long long megabytes = session->memory >> 20;
    switch (session->trouble) {
    case TMI_DUCKDB_MEMORY:
        return tmi_fail(err, TAMIS_SYSTEM,
                        "out of memory: DuckDB reached its limit of %llu MB, or the machine its own; allow more "
                        "memory, or fewer threads",
                        megabytes);
    case TMI_DUCKDB_DISK:
        return tmi_fail(err, TAMIS_SYSTEM,
                        "a file of the source could not be read: the disk or the network reports an error, or "
                        "the file was moved, replaced or cut off while it was read");
    case TMI_DUCKDB_QUOTE:
    case TMI_DUCKDB_FIELDS:
    case TMI_DUCKDB_LONG_LINE:
    case TMI_DUCKDB_FORMAT:
        return tmi_fail(err, TAMIS_SYSTEM, "a file of the source is damaged, or not of the format of its name");
    case TMI_DUCKDB_CHANGED: return tmi_fail(err, TAMIS_SYSTEM, "the source changed while it was read");
    default: return tmi_fail(err, TAMIS_SYSTEM, "DuckDB could not read the source to its end");
    }
}

/* Kinds of errors, which a message begins with, after phrases that some messages have. Those of our own functions are among the
 * phrases. */
tamis_status tmi_duckdb_note_trouble(tmi_duckdb_session *session, const char *message, tamis_error *err)
{
    static const struct {
        const char *words;
        bool at_start;
        tmi_duckdb_trouble trouble;
    } known[] = {
        {"unterminated quote", false, TMI_DUCKDB_QUOTE},
        {"Expected Number of Columns", false, TMI_DUCKDB_FIELDS},
        {"Maximum line size", false, TMI_DUCKDB_LONG_LINE},
        {"Out of Memory", true, TMI_DUCKDB_MEMORY},
        {"Invalid Input Error: out of memory", true, TMI_DUCKDB_MEMORY},
        {"Invalid Input Error: source changed", true, TMI_DUCKDB_CHANGED},
        {"IO Error", true, TMI_DUCKDB_DISK},
        {"Permission Error", true, TMI_DUCKDB_DISK},
        {"Invalid Input Error", true, TMI_DUCKDB_FORMAT},
        {"Serialization Error", true, TMI_DUCKDB_FORMAT},
        {"Conversion Error", true, TMI_DUCKDB_FORMAT},
        {"Out of Range Error", true, TMI_DUCKDB_FORMAT},
    };
    static const char line[] = "CSV Error on Line: ";
    session->trouble = TMI_DUCKDB_OTHER;
    session->line = 0;
    if (!message) return say_trouble(session, err);
    const char *at = strstr(message, line);
    if (at) session->line = strtoll(at + sizeof line - 1, NULL, 10);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *found = known[i].at_start && strncmp(message, known[i].words, strlen(known[i].words)) != 0
                                ? NULL
                                : strstr(message, known[i].words);
        if (!found) continue;
        session->trouble = known[i].trouble;
        break;
    }
    return say_trouble(session, err);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int tmi_duckdb_go_on(void *watch, double share, int64_t rows)
{
    const tmi_duckdb_watch *w = watch;
    (void)share, (void)rows;
    return tmi_stopped(w->whole, -1, w->rows);
}

/* Without GROUP BY the share goes from 0 to nearly 1 for both kinds of files. DuckDB's own number of rows does not count
 * rows of a CSV file. */
static bool is_stopped(tmi_duckdb_session *session, const tamis_watch *watch)
{
    duckdb_query_progress_type told = session->api->query_progress(session->connection);
    double share = told.percentage < 0 ? -1 : told.percentage > 100 ? 1 : told.percentage / 100;
    return tmi_stopped(watch, share, atomic_load(&session->rows));
}

/* Runs a pending query piece by piece. An interrupted query is also run to its end, which comes at once: DuckDB leaks a query
 * that is dropped half-way. */
static tamis_status work(duckdb_pending_result pending, tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err)
{
    static const struct timespec nap = {.tv_nsec = 1000000};
    double told = seconds();
    bool cancelled = false;
    duckdb_pending_state state;
    while ((state = session->api->pending_execute_task(pending)) != DUCKDB_PENDING_RESULT_READY &&
           state != DUCKDB_PENDING_ERROR) {
        if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE) nanosleep(&nap, NULL); /* other threads are running them */
        if (cancelled || seconds() - told < PROGRESS_SECONDS) continue;
        told = seconds();
        cancelled = is_stopped(session, watch);
        if (cancelled) session->api->interrupt(session->connection);
    }
    if (cancelled) {
        session->trouble = TMI_DUCKDB_CANCELLED;
        return tmi_fail_cancelled(err);
    }
    return state == DUCKDB_PENDING_ERROR ? tmi_duckdb_note_trouble(session, session->api->pending_error(pending), err) : TAMIS_OK;
}

static tamis_status ask(duckdb_result *result, tmi_duckdb_session *session, const tmi_text *sql, bool streaming,
                        const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    tamis_status status = TAMIS_OK;
    duckdb_prepared_statement statement = NULL;
    duckdb_pending_result pending = NULL;
    memset(result, 0, sizeof *result);
    if (sql->failed) {
        session->trouble = TMI_DUCKDB_MEMORY;
        return tmi_fail_memory(err);
    }
    if (api->prepare(session->connection, sql->bytes, &statement) == DuckDBError) {
        status = tmi_duckdb_note_trouble(session, api->prepare_error(statement), err);
        goto done;
    }
    if ((streaming ? api->pending_prepared_streaming : api->pending_prepared)(statement, &pending) == DuckDBError) {
        status = tmi_duckdb_note_trouble(session, api->pending_error(pending), err);
        goto done;
    }
    if (!streaming) TMI_TRY(work(pending, session, watch, err));
    if (api->execute_pending(pending, result) == DuckDBError)
        status = tmi_duckdb_note_trouble(session, api->result_error(result), err);
done:
    api->destroy_pending(&pending);
    api->destroy_prepare(&statement);
    return status;
}

tamis_status tmi_duckdb_plan(tmi_duckdb_session *session, const tmi_text *sql, tamis_error *err)
{
    duckdb_prepared_statement statement = NULL;
    if (sql->failed) return tmi_fail_memory(err);
    const bool planned = session->api->prepare(session->connection, sql->bytes, &statement) != DuckDBError;
    tamis_status status = planned ? TAMIS_OK : tmi_duckdb_note_trouble(session, session->api->prepare_error(statement), err);
    session->api->destroy_prepare(&statement);
    if (planned || session->trouble == TMI_DUCKDB_MEMORY) return status;
    return tmi_fail(err, TAMIS_INVALID, "DuckDB cannot plan the query: use fewer statistics, conditions or values");
}

tamis_status tmi_duckdb_run(duckdb_result *result, tmi_duckdb_session *session, const tmi_text *sql, const tamis_watch *watch,
                            tamis_error *err)
{
    return ask(result, session, sql, false, watch, err);
}

tamis_status tmi_duckdb_stream(duckdb_result *result, tmi_duckdb_session *session, const tmi_text *sql, tamis_error *err)
{
    return ask(result, session, sql, true, NULL, err);
}
