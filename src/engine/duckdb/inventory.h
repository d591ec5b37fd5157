/* What may be counted before the charge: queries with small answers that see all files at once. */
#ifndef TMI_ENGINE_DUCKDB_INVENTORY_H
#define TMI_ENGINE_DUCKDB_INVENTORY_H

#include "engine/duckdb/functions.h"
#include "engine/duckdb/source.h"

/* Counts units, and rows, units and clusters by stratum. The columns are those of `functions`, which must be registered.
 * *units: the labels of the units with their rows, which the caller frees; unchanged if there are none, or too many for
 * the memory. */
tamis_status tmi_duckdb_take_inventory(tmi_inventory *inventory, tmi_labels **units, const tmi_duckdb_source *source,
                                       tmi_duckdb_functions *functions, tmi_duckdb_session *session, const tamis_watch *watch,
                                       tamis_error *err);

#endif
