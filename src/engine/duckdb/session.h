/* One session with DuckDB: a database in memory that sees the files of one source and nothing else. It is opened for one call
 * and closed after it, so nothing outlives a call. DuckDB files are attached read-only.
 *
 * Nothing is written to disk: DuckDB gets no folder for what does not fit into its memory, and no query that we ask keeps more
 * than a part of the distinct labels at a time (inventory.c) or any rows (engine/core/units.h). */
#ifndef TMI_ENGINE_DUCKDB_SESSION_H
#define TMI_ENGINE_DUCKDB_SESSION_H

#include <stdatomic.h>

#include "base/text.h"
#include "engine/duckdb/api.h"

/* Why a query failed. DuckDB's own messages quote lines of the file, so they are examined and discarded: what they begin with is
 * the kind of the error, and a few of their phrases are known. */
typedef enum tmi_duckdb_trouble {
    TMI_DUCKDB_OTHER,
    TMI_DUCKDB_QUOTE,  /* CSV: a quote that is not closed, or text after a closing one */
    TMI_DUCKDB_FIELDS, /* CSV: a line with more or fewer fields than the first one */
    TMI_DUCKDB_LONG_LINE,
    TMI_DUCKDB_MEMORY,
    TMI_DUCKDB_DISK,     /* a file could not be opened or read */
    TMI_DUCKDB_FORMAT,   /* a file is damaged, or not what its name says */
    TMI_DUCKDB_CHANGED,  /* the source, between two readings */
    TMI_DUCKDB_CANCELLED /* by the watch */
} tmi_duckdb_trouble;

typedef struct tmi_duckdb_session {
    const tmi_duckdb_api *api;
    duckdb_database database;
    duckdb_connection connection;
    _Atomic int64_t rows;       /* read by the running query, counted by the functions that see them; for the progress */
    tmi_duckdb_trouble trouble; /* of the last query that failed */
    long long line;             /* the line of the CSV file; 0: not known */
    uint64_t memory;            /* DuckDB's limit, in bytes */
} tmi_duckdb_session;

typedef struct tmi_duckdb_options {
    const char *const *files; /* absolute paths, the only ones that may be read */
    size_t file_count;
    unsigned threads; /* 0: as many as the machine has; fewer if they would not fit into the memory */
    bool in_order;    /* rows come in the order of the file */
    uint64_t memory;  /* DuckDB's own limit, in bytes; 0: what the machine allows */
} tmi_duckdb_options;

/* Memory for DuckDB itself, and for each thread, which needs pages to decompress into. */
#define TMI_DUCKDB_LEAST_MB 128
#define TMI_DUCKDB_THREAD_MB 128

/* INVALID if the memory is too small for one thread. */
tamis_status tmi_duckdb_open(tmi_duckdb_session *session, const tmi_duckdb_options *options, tamis_error *err);
void tmi_duckdb_close(tmi_duckdb_session *session);

/* Attaches a DuckDB file as dN. INVALID if it is not a DuckDB file, or if another process is writing to it. */
tamis_status tmi_duckdb_attach(tmi_duckdb_session *session, const char *path, size_t number, tamis_error *err);

/* From now on nothing is downloaded, no other file is read or written, and no query can change that. */
tamis_status tmi_duckdb_lock(tmi_duckdb_session *session, const tmi_duckdb_options *options, tamis_error *err);

/* Plans a query without running it. INVALID if DuckDB cannot, SYSTEM if memory runs out. */
tamis_status tmi_duckdb_plan(tmi_duckdb_session *session, const tmi_text *sql, tamis_error *err);

/* The watch of work whose share of the whole is unknown: only the question whether to stop is passed on, with the rows read
 * before this work. */
typedef struct tmi_duckdb_watch {
    const tamis_watch *whole;
    int64_t rows;
} tmi_duckdb_watch;

int tmi_duckdb_go_on(void *watch, double share, int64_t rows); /* a tamis_progress; the context is a tmi_duckdb_watch */

/* Runs a query to its end. `watch` (may be NULL) is asked a few times a second; if it asks to stop, the query ends at
 * once. On failure: SYSTEM, and session->trouble gives the reason, as the message does in our words. Destroy the result in any
 * case. */
tamis_status tmi_duckdb_run(duckdb_result *result, tmi_duckdb_session *session, const tmi_text *sql, const tamis_watch *watch,
                            tamis_error *err);

/* The same, but rows are computed while the caller fetches them. */
tamis_status tmi_duckdb_stream(duckdb_result *result, tmi_duckdb_session *session, const tmi_text *sql, tamis_error *err);

/* Notes the trouble that a message of DuckDB means, and says it in our words. SYSTEM. */
tamis_status tmi_duckdb_note_trouble(tmi_duckdb_session *session, const char *message, tamis_error *err);

#endif
