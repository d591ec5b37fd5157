/* Chooses the rows of each unit that count (tmi_request), whatever order they come in. */
#ifndef TMI_ENGINE_CORE_UNITS_H
#define TMI_ENGINE_CORE_UNITS_H

#include "engine/core/cells.h"

/* The layout, with a request that has a unit, outlives it. NULL if memory runs out. */
typedef struct tmi_units tmi_units;
tmi_units *tmi_units_new(const tmi_layout *layout);
void tmi_units_free(tmi_units *units); /* wipes */

/* Adds row i of the columns, given as for tmi_cells_add, to this unit; a row without a unit is left out. */
tamis_status tmi_units_add(tmi_units *units, tmi_cell unit, const void *const *columns, size_t i, tamis_error *err);

/* Hands out all rows that count, as tmi_cells_add takes them. A status other than OK ends it. */
typedef tamis_status tmi_take_block(void *context, const void *const *columns, size_t n, tamis_error *err);
tamis_status tmi_units_give(const tmi_units *units, tmi_take_block *take, void *context, tamis_error *err);

#endif
