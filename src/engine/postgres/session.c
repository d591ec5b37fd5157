#include "engine/postgres/session.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/watch.h"
#include "base/words.h"
#include "engine/core/sql.h"

#define WAIT 100 /* milliseconds between two checks whether the caller wants to stop */
#define CONNECT_SECONDS 60
#define PING_SECONDS "10"    /* libpq waits for ever otherwise */
#define LEAST_VERSION 120000 /* 12: WITH is merged into the query */

void tmi_postgres_part_name(char name[TMI_POSTGRES_PART], size_t p)
{
    snprintf(name, TMI_POSTGRES_PART, "PostgreSQL, connection %zu", p + 1);
}

/* ---- being closed ---- */

void tmi_postgres_close(tmi_postgres *session)
{
    for (size_t p = 0; p < session->count; p++) {
        tmi_pq()->finish(session->parts[p].connection);
        tmi_free(session->parts[p].table);
        session->parts[p].connection = NULL;
        session->parts[p].table = NULL;
    }
    tmi_free(session->unit);
    session->unit = NULL;
    session->rows = session->largest = 0;
    session->is_open = false;
}

void tmi_postgres_clear(tmi_postgres *session)
{
    tmi_postgres_close(session);
    for (size_t p = 0; p < session->count; p++) {
        char *text = session->parts[p].text; /* may hold a password */
        if (text) tmi_wipe(text, strlen(text));
        tmi_free(text);
    }
    tmi_free(session->parts);
    tmi_free(session->table);
}

tamis_status tmi_postgres_init(tmi_postgres *session, const tmi_source *source, unsigned threads, tamis_error *err)
{
    *session = (tmi_postgres){.threads = threads};
    if (source->connection_count == 0 || !source->connections || !source->table || source->table[0] == '\0')
        return tmi_fail(err, TAMIS_INVALID, "the source names no connection or no table");
    const tamis_status loaded = tmi_pq_load(err);
    if (loaded != TAMIS_OK) return loaded;
    session->parts = tmi_alloc(source->connection_count, sizeof *session->parts);
    session->table = tmi_copy_text(source->table, strlen(source->table));
    bool made = session->parts && session->table;
    for (size_t p = 0; made && p < source->connection_count; p++, session->count++) {
        session->parts[p].text = tmi_copy_text(source->connections[p], strlen(source->connections[p]));
        made = session->parts[p].text;
    }
    if (made) return TAMIS_OK;
    tmi_postgres_clear(session);
    return tmi_fail_memory(err);
}

/* ---- waiting ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Uses only the class of the error code, not the server's own words. */
tamis_status tmi_postgres_trouble(const tmi_postgres *session, size_t p, const PGresult *result, tamis_error *err)
{
    static const struct {
        const char *class, *reason;
    } reasons[] = {
        {"08", "the connection was lost"},
        {"25", "the transaction ended"},
        {"40", "the transaction was ended by another session"},
        {"42", "a table, column or permission no longer exists"},
        {"53", "the server has run out of memory, disk or connections"},
        {"54", "the query is too long for the server: use fewer statistics or values"},
        {"57", "the server is shutting down, or stopped the query"},
        {"58", "the server has a problem with its storage"},
    };
    const char *code = result ? tmi_pq()->resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *reason = "the server could not answer";
    const bool is_limit = code && strncmp(code, "54", 2) == 0; /* depends on the query alone */
    if (!code || tmi_pq()->status(session->parts[p].connection) != CONNECTION_OK) reason = "the connection was lost";
    for (size_t i = 0; code && i < sizeof reasons / sizeof *reasons; i++)
        if (strncmp(code, reasons[i].class, 2) == 0) reason = reasons[i].reason;
    return tmi_fail(err, is_limit ? TAMIS_INVALID : TAMIS_SYSTEM, "PostgreSQL, connection %zu: %s (class %.2s)", p + 1, reason,
                    code ? code : "08");
}

/* ---- connecting ---- */

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static tamis_status tell_refusal(const tmi_postgres_part *part, size_t p, tamis_error *err)
{
    const char *reason = "the server cannot be reached";
    if (tmi_pq()->connectionNeedsPassword(part->connection))
        reason = "the server asks for a password (set PGPASSWORD, or use ~/.pgpass or a service file)";
    else if (tmi_pq()->connectionUsedPassword(part->connection)) reason = "the server rejected the user or the password";
    else {
        const char *const keywords[] = {"connect_timeout", "dbname", NULL}; /* what the text says of it counts */
        const char *const values[] = {PING_SECONDS, part->text, NULL};
        const PGPing answer = tmi_pq()->pingParams(keywords, values, 1);
        if (answer == PQPING_OK) reason = "the server is running, but rejected the database or the user";
        else if (answer == PQPING_NO_ATTEMPT) reason = "not a valid connection string, or its service is unknown";
    }
    return tmi_fail(err, TAMIS_SYSTEM, "PostgreSQL, connection %zu: %s", p + 1, reason);
}

static tamis_status connect_part(tmi_postgres_part *part, size_t p, const tamis_watch *watch, tamis_error *err)
{
    const char *const keywords[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
    const char *const values[] = {part->text, "tamis", "UTF8", NULL};
    const double start = seconds();
    part->connection = tmi_pq()->connectStartParams(keywords, values, 1);
    if (!part->connection) return tmi_fail_memory(err);
    tmi_pq()->setNoticeReceiver(part->connection, ignore_notice, NULL); /* otherwise libpq prints */
    PostgresPollingStatusType state = tmi_pq()->status(part->connection) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                                                           : PGRES_POLLING_WRITING;
    while (state != PGRES_POLLING_OK) {
        if (state == PGRES_POLLING_FAILED) return tell_refusal(part, p, err);
        struct pollfd socket = {.fd = tmi_pq()->socket(part->connection),
                                .events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        if (poll(&socket, 1, WAIT) > 0) state = tmi_pq()->connectPoll(part->connection);
        if (tmi_stopped(watch, -1, 0)) return tmi_fail_cancelled(err);
        if (seconds() - start > CONNECT_SECONDS)
            return tmi_fail(err, TAMIS_SYSTEM, "PostgreSQL, connection %zu: no answer within %d seconds", p + 1, CONNECT_SECONDS);
    }
    return TAMIS_OK;
}

/* The last result of what was sent. NULL if the connection is lost, or the caller wants to stop; and, until the session is open,
 * if the server is silent for longer than it may be. */
static PGresult *wait_for_result(const tmi_postgres *session, size_t p)
{
    PGconn *connection = session->parts[p].connection;
    const double start = seconds();
    PGresult *last = NULL;
    for (;;) {
        while (tmi_pq()->isBusy(connection)) {
            struct pollfd socket = {.fd = tmi_pq()->socket(connection), .events = POLLIN};
            const bool came = poll(&socket, 1, WAIT) > 0;
            if ((came && !tmi_pq()->consumeInput(connection)) || tmi_stopped(session->watch, -1, 0) ||
                (!session->is_open && seconds() - start > CONNECT_SECONDS)) {
                tmi_pq()->clear(last);
                return NULL;
            }
        }
        PGresult *next = tmi_pq()->getResult(connection);
        if (!next) return last;
        tmi_pq()->clear(last);
        last = next;
    }
}

tamis_status tmi_postgres_run(const tmi_postgres *session, size_t p, const char *sql, tamis_error *err)
{
    PGresult *result = tmi_pq()->sendQuery(session->parts[p].connection, sql) ? wait_for_result(session, p) : NULL;
    const bool done = tmi_pq()->resultStatus(result) == PGRES_COMMAND_OK;
    tamis_status status = done ? TAMIS_OK : tmi_postgres_trouble(session, p, result, err);
    tmi_pq()->clear(result);
    return status;
}

/* How the server reads and writes texts, and that it may only read. Memory for each sort and table of labels, without which it
 * writes them to its disk, unless it has more. */
static const char settings[] =
    "SELECT set_config('work_mem', '128MB', false) WHERE pg_size_bytes(current_setting('work_mem')) < 134217728; "
    "SET default_transaction_read_only = on; SET standard_conforming_strings = on; SET datestyle = 'ISO'; "
    "SET intervalstyle = 'postgres'; SET timezone = 'UTC'; SET extra_float_digits = 1; SET statement_timeout = 0; "
    "SET idle_in_transaction_session_timeout = 0";

static tamis_status prepare(const tmi_postgres *session, size_t p, tamis_error *err)
{
    PGconn *connection = session->parts[p].connection;
    tamis_status status;
    const char *encoding = tmi_pq()->parameterStatus(connection, "server_encoding");
    if (tmi_pq()->serverVersion(connection) < LEAST_VERSION)
        return tmi_fail(err, TAMIS_INVALID, "PostgreSQL, connection %zu: the server is older than version 12", p + 1);
    /* Texts are searched in byte order, which must be that of UTF-8. */
    if (!encoding || (strcmp(encoding, "UTF8") != 0 && strcmp(encoding, "SQL_ASCII") != 0 && strcmp(encoding, "LATIN1") != 0))
        return tmi_fail(err, TAMIS_INVALID, "PostgreSQL, connection %zu: the database encoding is not UTF8", p + 1);
    TMI_TRY(tmi_postgres_run(session, p, settings, err));
    if (session->threads > 0) {
        char sql[96];
        snprintf(sql, sizeof sql, "SET max_parallel_workers_per_gather = %u",
                 session->threads < 1024 ? session->threads - 1 : 1023);
        TMI_TRY(tmi_postgres_run(session, p, sql, err));
    }
    TMI_TRY(tmi_postgres_run(session, p, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", err));
done:
    return status;
}

/* ---- the table ---- */

PGresult *tmi_postgres_query(const tmi_postgres *session, size_t p, const char *sql)
{
    const bool sent = tmi_pq()->sendQueryParams(session->parts[p].connection, sql, 0, NULL, NULL, NULL, NULL, 0);
    return sent ? wait_for_result(session, p) : NULL;
}

/* "name", or "schema.name". Afterwards functions and operators are looked up only in the system's own schema. */
static tamis_status find_table(tmi_postgres *session, size_t p, tamis_error *err)
{
    const char *dot = strchr(session->table, '.');
    PGresult *result = NULL;
    tamis_status status = TAMIS_OK;
    tmi_text name, sql;
    tmi_text_init(&name);
    tmi_text_init(&sql);
    tmi_sql_name(&name, session->table);
    tmi_text_put(&sql, "SELECT format('%I.%I', n.nspname, c.relname), c.relname, n.nspname || '.' || c.relname FROM pg_class c "
                       "JOIN pg_namespace n ON n.oid = "
                       "c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid = coalesce(to_regclass(");
    tmi_sql_text(&sql, name.failed ? "" : name.bytes);
    tmi_text_put(&sql, ")");
    const bool has_schema = dot && dot > session->table && dot[1] != '\0';
    char *schema = has_schema ? tmi_copy_text(session->table, (size_t)(dot - session->table)) : NULL;
    if (schema) {
        tmi_text both;
        tmi_text_init(&both);
        tmi_sql_name(&both, schema);
        tmi_text_put(&both, ".");
        tmi_sql_name(&both, dot + 1);
        tmi_text_put(&sql, ", to_regclass(");
        tmi_sql_text(&sql, both.failed ? "" : both.bytes);
        tmi_text_put(&sql, ")");
        sql.failed = sql.failed || both.failed; /* since PostgreSQL 16 an empty name is not an error but simply no table */
        tmi_text_clear(&both);
    }
    tmi_text_put(&sql, ")::oid");
    if (sql.failed || name.failed || (has_schema && !schema)) TMI_TRY(tmi_fail_memory(err));
    result = tmi_postgres_query(session, p, sql.bytes);
    if (tmi_pq()->resultStatus(result) != PGRES_TUPLES_OK) TMI_TRY(tmi_postgres_trouble(session, p, result, err));
    /* The server truncates a longer name, and then finds another table. */
    if (tmi_pq()->ntuples(result) != 1 || (strcmp(tmi_pq()->getvalue(result, 0, 1), session->table) != 0 &&
                                           strcmp(tmi_pq()->getvalue(result, 0, 2), session->table) != 0))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "PostgreSQL, connection %zu: there is no table %s", p + 1, session->table));
    session->parts[p].table = tmi_copy_text(tmi_pq()->getvalue(result, 0, 0), (size_t)tmi_pq()->getlength(result, 0, 0));
    if (!session->parts[p].table) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_postgres_run(session, p, "SET LOCAL search_path = pg_catalog, pg_temp", err));
done:
    tmi_pq()->clear(result);
    tmi_free(schema);
    tmi_text_clear(&name);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_postgres_open(tmi_postgres *session, const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (session->is_open) return TAMIS_OK;
    session->watch = watch;
    for (size_t p = 0; p < session->count; p++) {
        TMI_TRY(connect_part(&session->parts[p], p, watch, err));
        TMI_TRY(prepare(session, p, err));
        TMI_TRY(find_table(session, p, err));
    }
    session->is_open = true;
done:
    session->watch = NULL;
    if (status == TAMIS_SYSTEM && tmi_stopped(watch, -1, 0)) status = tmi_fail_cancelled(err);
    if (status != TAMIS_OK) tmi_postgres_close(session);
    return status;
}

/* ---- questions ---- */

typedef struct question {
    tmi_postgres *session;
    size_t first, count;
    tmi_postgres_take *take;
    void *context;
} question;

/* Takes what part p has sent. `done`: there is no more. */
static tamis_status take_results(bool *done, const question *q, size_t p, tamis_error *err)
{
    PGconn *connection = q->session->parts[p].connection;
    tamis_status status = TAMIS_OK;
    if (!tmi_pq()->consumeInput(connection)) return tmi_postgres_trouble(q->session, p, NULL, err);
    while (!*done && status == TAMIS_OK && !tmi_pq()->isBusy(connection)) {
        PGresult *result = tmi_pq()->getResult(connection);
        *done = !result;
        const ExecStatusType state = tmi_pq()->resultStatus(result);
        if (state == PGRES_SINGLE_TUPLE || state == PGRES_TUPLES_OK)
            for (int row = 0; status == TAMIS_OK && row < tmi_pq()->ntuples(result); row++) {
                status = q->take(q->context, p, result, row, err);
                for (int k = 0; k < tmi_pq()->nfields(result); k++)
                    tmi_wipe(tmi_pq()->getvalue(result, row, k), (size_t)tmi_pq()->getlength(result, row, k));
            }
        else if (result) status = tmi_postgres_trouble(q->session, p, result, err);
        tmi_pq()->clear(result);
    }
    return status;
}

static void cancel(const question *q)
{
    for (size_t p = q->first; p < q->first + q->count; p++) {
        char message[256];
        PGcancel *handle = tmi_pq()->getCancel(q->session->parts[p].connection);
        if (handle) tmi_pq()->cancel(handle, message, sizeof message);
        tmi_pq()->freeCancel(handle);
    }
}

static tamis_status listen(const question *q, const tamis_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    struct pollfd *sockets = tmi_alloc(q->count, sizeof *sockets);
    bool *done = tmi_alloc(q->count, sizeof *done);
    if (!sockets || !done) TMI_TRY(tmi_fail_memory(err));
    double told = seconds();
    for (size_t left = q->count; left > 0;) {
        left = 0;
        for (size_t i = 0; i < q->count; i++) {
            if (!done[i]) TMI_TRY(take_results(&done[i], q, q->first + i, err));
            sockets[i] = (struct pollfd){.fd = done[i] ? -1 : tmi_pq()->socket(q->session->parts[q->first + i].connection),
                                         .events = POLLIN};
            left += !done[i];
        }
        if (left > 0) poll(sockets, q->count, WAIT);
        if (seconds() - told < WAIT / 1000.0) continue;
        told = seconds();
        if (tmi_stopped(watch, -1, 0)) TMI_TRY(tmi_fail_cancelled(err));
    }
done:
    tmi_free(sockets);
    tmi_free(done);
    return status;
}

tamis_status tmi_postgres_ask(tmi_postgres *session, size_t first, size_t count, char *const *queries, bool binary,
                              tmi_postgres_take *take, void *take_context, const tamis_watch *watch, tamis_error *err)
{
    const question q = {session, first, count, take, take_context};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < count; i++) {
        PGconn *connection = session->parts[first + i].connection;
        if (!tmi_pq()->sendQueryParams(connection, queries[i], 0, NULL, NULL, NULL, NULL, binary) ||
            !tmi_pq()->setSingleRowMode(connection))
            TMI_TRY(tmi_postgres_trouble(session, first + i, NULL, err));
    }
    TMI_TRY(listen(&q, watch, err));
done:
    if (status != TAMIS_OK) {
        cancel(&q);
        tmi_postgres_close(session);
    }
    return status;
}
