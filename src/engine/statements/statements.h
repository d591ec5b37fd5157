/* An engine that is asked in SQL by a function of the caller (tamis_source_sql) or by a command of the plan.
 *
 * A question is one statement: queries of the writer (engine/sql/sql.h) joined by UNION ALL, so that one state of the table
 * answers all of it. Each row of the answer begins with the number of its query. Cells are integers, or NULL for 0, and nothing
 * else is accepted. Three things are asked about a table, and about the rows that are made up to try an engine (probe.h):
 *
 *     tmi_place_inventory     what is counted before the charge
 *     tmi_place_sums          all sums of a release
 *     tmi_place_points        a list of points                                                                        */
#ifndef TMI_ENGINE_STATEMENTS_STATEMENTS_H
#define TMI_ENGINE_STATEMENTS_STATEMENTS_H

#include "base/value/value.h"
#include "engine/files/source.h"
#include "engine/sql/sql.h"

/* ---- asking ---- */

/* Runs a statement; `rows` are a list of lists. `what` is asked for, in the message of a failure: the engine's own words are
 * withheld, since they may contain data. UNABLE: the engine fails, or its answer cannot be right; everywhere in this folder
 * that is what UNABLE means, until the engine is left (SYSTEM) or refused. SYSTEM: memory. */
tamis_status tmi_sql_ask(tmi_value **rows, const tmi_sql_road *road, const char *sql, const char *what, tamis_error *err);

/* ---- columns ---- */

/* A column of the source, and the word that the engine has for its type. */
typedef struct tmi_known {
    char *name, *word;
    tmi_sql_type type;
} tmi_known;

typedef struct tmi_known_columns {
    tmi_known *list;
    size_t count;
    char *version; /* of the engine, in its own words; NULL: not asked yet */
} tmi_known_columns;

const tmi_known *tmi_known_find(const tmi_known_columns *known, const char *name);
tamis_status tmi_known_add(tmi_known_columns *known, const char *name, const char *word, tmi_sql_type type, tamis_error *err);
void tmi_known_clear(tmi_known_columns *known);

/* Asks for the types of those columns of a layout that are not known yet, and checks all of them. INVALID names the columns
 * that are missing or do not fit. */
tamis_status tmi_known_learn(tmi_known_columns *known, const tmi_sql_road *road, const tmi_layout *layout, tamis_error *err);

/* ---- places ---- */

/* A table whose columns are known. */
typedef struct tmi_sql_place {
    const tmi_sql_road *road;
    const char *table; /* after FROM */
    const tmi_known_columns *known;
    int64_t rows; /* at most; 0: unknown */
} tmi_sql_place;

/* What was counted and is the same for all neighbours, to be counted again in the statement of the sums: the queries, and the
 * rows of their answer in order. */
typedef struct tmi_recount {
    char **queries;
    size_t query_count;
    int64_t (*rows)[3]; /* query, stratum, number */
    size_t row_count;
} tmi_recount;

void tmi_recount_clear(tmi_recount *recount);

/* Fills the inventory. With `recount` (may be NULL), which must be empty, also that: a table that changes between the two
 * statements is noticed, but only by numbers that no neighbour changes. */
tamis_status tmi_place_inventory(tmi_inventory *inventory, tmi_recount *recount, const tmi_sql_place *place, tamis_error *err);

/* The answers to a request. SYSTEM if a number of `recount` (may be NULL) is another one now. */
tamis_status tmi_place_sums(tmi_int128 *const *answers, const tmi_sql_place *place, const tmi_request *request,
                            const tmi_recount *recount, tamis_error *err);

/* A list of points, which must be empty. */
tamis_status tmi_place_points(tmi_point_list *list, const tmi_sql_place *place, const tmi_points_request *request,
                              const tmi_recount *recount, tamis_error *err);

/* The statements that the two above would run, which the caller frees. */
tamis_status tmi_place_write_sums(char **statement, const tmi_sql_place *place, const tmi_request *request,
                                  const tmi_recount *recount, tamis_error *err);
tamis_status tmi_place_write_points(char **statement, const tmi_sql_place *place, const tmi_points_request *request,
                                    const tmi_recount *recount, tamis_error *err);

#endif
