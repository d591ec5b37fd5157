/* Sessions with PostgreSQL servers, each of which has a part of one table. Every connection is one read-only transaction that
 * sees one state of its database. It lasts as long as the session, so that the rows counted first are the rows summed later.
 *
 * The servers' messages are discarded, because they quote values. */
#ifndef TMI_ENGINE_POSTGRES_SESSION_H
#define TMI_ENGINE_POSTGRES_SESSION_H

#include <stdbool.h>

#include "engine/postgres/api.h"
#include "engine/sql/sql.h"

typedef struct tmi_postgres_part {
    char *text; /* of the connection, as it was given */
    PGconn *connection;
    char *table; /* quoted, with its schema */
} tmi_postgres_part;

typedef struct tmi_postgres {
    tmi_postgres_part *parts;
    size_t count;
    char *table; /* as it was given */
    unsigned threads;
    bool is_open;
    const tamis_watch *watch; /* while it is being opened */
    int64_t rows;             /* of all parts, as they were counted in the state that the session sees; 0: they were not */
    char *unit;               /* the column whose units were counted with them; NULL: none */
    int64_t largest;          /* rows of the largest of these units: secret, and nothing asks for it before the charge */
} tmi_postgres;

/* "PostgreSQL, connection 1": part p in messages. */
#define TMI_POSTGRES_PART 48
void tmi_postgres_part_name(char name[TMI_POSTGRES_PART], size_t p);

tamis_status tmi_postgres_init(tmi_postgres *session, const tmi_source *source, unsigned threads, tamis_error *err);
void tmi_postgres_clear(tmi_postgres *session);

/* Connects if necessary, and finds the table. INVALID: the table does not exist or may not be read. */
tamis_status tmi_postgres_open(tmi_postgres *session, const tamis_watch *watch, tamis_error *err);

/* After a failure no further query is possible. */
void tmi_postgres_close(tmi_postgres *session);

/* Runs a command in part p. */
tamis_status tmi_postgres_run(const tmi_postgres *session, size_t p, const char *sql, tamis_error *err);

/* Asks part p one question; the caller checks the result's status and clears it. The rows come as text. */
PGresult *tmi_postgres_query(const tmi_postgres *session, size_t p, const char *sql);

/* Reports why part p failed, without the server's own words. `result` may be NULL: the connection was lost. */
tamis_status tmi_postgres_trouble(const tmi_postgres *session, size_t p, const PGresult *result, tamis_error *err);

/* The types in part p of the columns of a layout that are read. INVALID names the columns that do not exist, may not be read,
 * are not numeric where numbers are needed, or have no canonical form where one is needed. */
tamis_status tmi_postgres_types(tmi_sql_type *types, tmi_postgres *session, size_t p, const tmi_layout *layout, tamis_error *err);

/* Row number `row` of a result of part p. A status other than OK ends the reading. */
typedef tamis_status tmi_postgres_take(void *context, size_t p, PGresult *result, int row, tamis_error *err);

/* Sends one query to every part from `first` to first + count - 1, at the same time. The rows arrive one by one, as text or,
 * if `binary`, in the server's own form. `watch` (may be NULL) is asked a few times a second; if it asks to stop, the
 * queries are cancelled. On failure: SYSTEM, and the session is closed. */
tamis_status tmi_postgres_ask(tmi_postgres *session, size_t first, size_t count, char *const *queries, bool binary,
                              tmi_postgres_take *take, void *take_context, const tamis_watch *watch, tamis_error *err);

#endif
