/* Conversations with PostgreSQL servers, each of which has a part of one table. Every connection is one transaction that
 * reads one state of its database and may not write; it lasts as long as the session, so that what was counted before is
 * what is summed after.
 *
 * What a server says is thrown away: its messages quote values.                                                      */
#ifndef TMI_ENGINE_POSTGRES_SESSION_H
#define TMI_ENGINE_POSTGRES_SESSION_H

#include <libpq-fe.h>
#include <stdbool.h>

#include "engine/postgres/sql.h"

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
} tmi_postgres;

/* "PostgreSQL, connection 1": part p in messages. */
#define TMI_POSTGRES_PART 48
void tmi_postgres_part_name(char name[TMI_POSTGRES_PART], size_t p);

tamis_status tmi_postgres_init(tmi_postgres *session, const tmi_source *source, unsigned threads, tamis_error *err);
void tmi_postgres_clear(tmi_postgres *session);

/* Connects where that is not done, and finds the table. INVALID: the table is not there or may not be read. */
tamis_status tmi_postgres_open(tmi_postgres *session, tamis_progress *progress, void *context, tamis_error *err);

/* After a failure nothing more can be asked. */
void tmi_postgres_close(tmi_postgres *session);

/* The types of the columns of a layout that are read, in part p. INVALID names the columns that are not there, that may not
 * be read, whose class is not that of numbers where these are needed, or that have no canonical form where that is. */
tamis_status tmi_postgres_types(tmi_sql_type *types, tmi_postgres *session, size_t p, const tmi_layout *layout,
                                tamis_error *err);

/* Row number `row` of a result of part p. A status other than OK ends the reading. */
typedef tamis_status tmi_postgres_take(void *context, size_t p, PGresult *result, int row, tamis_error *err);

/* One question to every part from `first` to first + count - 1, at the same time; the rows come one by one, in text or, if
 * `binary`, in the server's own form. `progress` (may be NULL) is asked a few times a second whether to stop; then the servers
 * are told so. On failure: SYSTEM, and the session is closed. */
tamis_status tmi_postgres_ask(tmi_postgres *session, size_t first, size_t count, char *const *queries, bool binary,
                              tmi_postgres_take *take, void *take_context, tamis_progress *progress, void *context,
                              tamis_error *err);

#endif
