/* The engine's view of the columns of a plan: those that are asked for, each once. Columns of the file, columns made from
 * them (indicators, cuts), and what the design reads: strata, clusters, weights, units.                              */
#ifndef TMI_MEASURE_REQUEST_COLUMNS_H
#define TMI_MEASURE_REQUEST_COLUMNS_H

#include "engine/core/engine.h"
#include "plan/plan.h"

#define TMI_DESIGN_COLUMNS 16 /* a design reads no more columns */

typedef struct tmi_columns {
    const tamis_plan *plan;
    tmi_column *list;               /* its entries do not move when columns are added */
    const tmi_plan_column **origin; /* the plan's column of each; NULL for those of the design */
    const tmi_column **files;       /* the columns that must be in the source */
    size_t count, file_count;
    tmi_condition *conditions; /* of all indicators */
    tmi_grid *grids;           /* of all numbers with one grid per stratum */
    int32_t *same;             /* 0, 1, 2, ...: the classes of a category whose values are classes */
    size_t condition_count, grid_count;
} tmi_columns;

/* Makes room for the columns of the plan, for those of its design, and for `others`. */
tamis_status tmi_columns_make(tmi_columns *columns, const tamis_plan *plan, size_t others, tamis_error *err);
void tmi_columns_clear(tmi_columns *columns);

/* The engine's column of a plan's column, which is added if it is new; NULL for NULL. */
const tmi_column *tmi_columns_take(tmi_columns *columns, const tmi_plan_column *column);

/* The same for conditions and groups: of a category that is declared complete, a text that is not among its values counts as the
 * first one, as it does in tables. */
const tmi_column *tmi_columns_take_complete(tmi_columns *columns, const tmi_plan_column *column);

/* Adds a column that the plan does not declare, if there is room for it; its texts and lists must live as long as the columns. */
const tmi_column *tmi_columns_add(tmi_columns *columns, const tmi_column *column);

/* Adds a column of any text, such as the name of a unit or of a cluster; NULL for NULL. */
const tmi_column *tmi_columns_add_label(tmi_columns *columns, const char *name);

#endif
