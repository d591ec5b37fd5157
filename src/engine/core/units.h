/* The rows of units that count, when they come in any order: of each unit those that tmi_request names. */
#ifndef TMI_ENGINE_CORE_UNITS_H
#define TMI_ENGINE_CORE_UNITS_H

#include "engine/core/cells.h"

/* The layout, with a request that has a unit, outlives it. NULL without memory. */
typedef struct tmi_units tmi_units;
tmi_units *tmi_units_new(const tmi_layout *layout);
void tmi_units_free(tmi_units *units); /* wipes */

/* Row i of the columns, given as for tmi_cells_add, of this unit; a row without a unit is left out. */
tamis_status tmi_units_add(tmi_units *units, tmi_cell unit, const void *const *columns, size_t i, tamis_error *err);

/* Adds all rows that count to the cells. */
tamis_status tmi_units_give(const tmi_units *units, tmi_cells *cells, tamis_error *err);

#endif
