/* What may be counted before the charge, and the labels of clusters: queries with small answers that see all files at once. */
#ifndef TMI_ENGINE_DUCKDB_INVENTORY_H
#define TMI_ENGINE_DUCKDB_INVENTORY_H

#include "engine/duckdb/functions.h"
#include "engine/duckdb/source.h"

/* The trimmed text of a label in SQL, "" or NULL where it is missing. */
void tmi_duckdb_write_label(tmi_text *sql, size_t c);

/* Counts units, and rows, units and clusters by stratum. The columns are those of `functions`, which must be registered. */
tamis_status tmi_duckdb_take_inventory(tmi_inventory *inventory, const tmi_duckdb_source *source,
                                       const tmi_duckdb_functions *functions, tmi_duckdb_session *session,
                                       const tamis_watch *watch, tamis_error *err);

/* Gives the TMI_GROUPS columns of the functions their labels and ranks. */
tamis_status tmi_duckdb_see_clusters(tmi_duckdb_functions *functions, const tmi_duckdb_source *source,
                                     tmi_duckdb_session *session, const tamis_watch *watch, tamis_error *err);

#endif
