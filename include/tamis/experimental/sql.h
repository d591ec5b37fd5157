/* Rows in an engine that speaks SQL: Spark, a warehouse, a database that tamis has no client for. The library writes
 * statements, a function of the caller runs them, and only integers and the names of types come back (docs/engines.md).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_SQL_H
#define TAMIS_EXPERIMENTAL_SQL_H

#include <tamis/experimental/caller.h>

TAMIS_BEGIN

/* Runs one statement, a SELECT or an EXPLAIN.
 *
 * Gives    TAMIS_OK after tamis_reply_set with all its rows as JSON: a list of rows, each a list of texts, integers or
 *          nulls, such as [["0", "17", null]]. Another status if the statement failed; its message is not passed on: it
 *          might contain data. */
typedef tamis_status tamis_run_sql(void *context, tamis_reply *reply, const char *sql, tamis_error *err);

typedef struct tamis_sql {
    size_t size;         /* sizeof(tamis_sql) */
    const char *dialect; /* "spark", "duckdb" or "postgres" */
    const char *table;   /* what comes after FROM, in the engine's own words: t, or db.t VERSION AS OF 12. It is not quoted */
    tamis_run_sql *run;
    void *context;            /* of `run` */
    const char *rows_version; /* the state of the rows that `table` names, which every statement sees, such as "delta@12"; NULL:
                                 statements may see different states. A release that needs more than one statement after the
                                 charge is then refused before it */
} tamis_sql;

/* A source that asks an engine in SQL. It serves releases; estimates need rows.
 *
 * Before the charge of a release the engine is tried: rows that the library makes up, in a table of literals, are asked the
 * same as the caller's, and every integer must be that of the library itself. An engine with another arithmetic, collation,
 * hash or treatment of missing values is refused, and nothing is spent.
 *
 * Needs    a dialect that is known, a table, `run`. The texts are copied.
 * Gives    a source as tamis_source_new.
 * Errors   INVALID, SYSTEM (memory).                                                                                  */
TAMIS_USE tamis_status tamis_source_sql(tamis_source **source, const tamis_sql *sql, tamis_error *err);

TAMIS_END

#endif
