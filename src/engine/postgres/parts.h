/* One query for each part of the table. Parts may have columns of different types, so each has its own. */
#ifndef TMI_ENGINE_POSTGRES_PARTS_H
#define TMI_ENGINE_POSTGRES_PARTS_H

#include "engine/core/points.h"
#include "engine/postgres/session.h"

typedef struct tmi_postgres_parts {
    tmi_sql_source *sources; /* one per part */
    tmi_sql_type *types;     /* column_count of each part */
    size_t count;
} tmi_postgres_parts;

/* Connects if necessary. INVALID names the columns that a part lacks, or whose types do not fit or cannot be compared. Clear them
 * after a failure too. */
tamis_status tmi_postgres_parts_make(tmi_postgres_parts *made, tmi_postgres *session, const tmi_layout *layout,
                                     const tamis_watch *watch, tamis_error *err);
void tmi_postgres_parts_clear(tmi_postgres_parts *made);

/* The same parts with only some of the columns of `whole`. The types of each part are copied. */
tamis_status tmi_postgres_parts_narrow(tmi_postgres_parts *made, const tmi_postgres_parts *all, const tmi_layout *whole,
                                       const tmi_layout *layout, tamis_error *err);

/* Rows and units of all parts, of which each unit is in one. The session remembers the rows of the largest unit. SYSTEM; INVALID:
 * too many rows. */
typedef struct tmi_unit_counts {
    int64_t rows, units, largest;
} tmi_unit_counts;

tamis_status tmi_postgres_count_units(tmi_unit_counts *counts, const tmi_postgres_parts *parts, const tmi_column *unit,
                                      tmi_postgres *session, const tamis_watch *watch, tamis_error *err);

/* Lets the queries of all parts know whether a unit of the layout's request has more than rows_per_unit rows, which is counted if
 * the session does not know it yet. */
tamis_status tmi_postgres_see_units(tmi_postgres_parts *parts, tmi_postgres *session, const tmi_layout *layout,
                                    const tamis_watch *watch, tamis_error *err);

/* Before a query: the server only plans it, which reads no row. Its plan is ignored by tmi_postgres_take_plan. */
#define TMI_POSTGRES_EXPLAIN "EXPLAIN "
tmi_postgres_take tmi_postgres_take_plan;

/* Takes the text of a query, which was written with this status, and clears it. INVALID if it is too long for a server. */
tamis_status tmi_postgres_take_query(char **query, tmi_text *sql, tamis_status status, tamis_error *err);
void tmi_postgres_free_queries(char **queries, size_t count);

/* A list of points (engine/core/points.h), for the plan's request in this layout: the servers count the rows of each cell, point
 * and weight, and the counts of the parts are added. list NULL: the queries are only planned, those for units that fit and those
 * for units that do not. */
tamis_status tmi_postgres_points(tmi_point_list *list, tmi_postgres *session, const tmi_points_plan *plan,
                                 const tmi_layout *layout, const tamis_watch *watch, tamis_error *err);

#endif
