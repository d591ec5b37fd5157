/* A request in parts, for an engine whose queries have a limit. Each part asks for some measures of some tables and names only
 * the columns that these need. Together the answers are those of the whole request, because a part changes neither a row's
 * values nor which rows of a unit count. All parts must be asked of one state of the source. */
#ifndef TMI_ENGINE_CORE_SPLIT_H
#define TMI_ENGINE_CORE_SPLIT_H

#include "engine/core/cells.h"

typedef struct tmi_request_part {
    tmi_request request; /* its measures belong to the whole request */
    tmi_layout layout;   /* columns of the whole request's layout, in its order */
    tmi_table *list;     /* the tables of `request` */
    size_t *tables;      /* the number of each table in the whole request, */
    size_t *firsts;      /* and the number there of its first measure */
} tmi_request_part;

typedef struct tmi_split {
    tmi_request_part *list;
    size_t count;
} tmi_split;

/* Splits the request of a layout, filling each part with measures in their order before the next part begins.
 *
 * Needs    most_columns and most_measures >= 1.
 * Gives    parts with at most most_columns columns, and at most most_measures measures in a table; one part if all fits. With a
 *          unit every part has all columns that tmi_is_given, since which rows count depends on them.
 * Errors   INVALID (one measure, or the unit, needs more columns by itself), SYSTEM (memory). */
tamis_status tmi_split_make(tmi_split *split, const tmi_layout *whole, size_t most_columns, size_t most_measures,
                            tamis_error *err);
void tmi_split_clear(tmi_split *split);

/* Copies the answers of a part into those of the whole request. */
void tmi_split_give(tmi_int128 *const *answers, const tmi_request *whole, const tmi_request_part *part, tmi_int128 *const *own);

#endif
