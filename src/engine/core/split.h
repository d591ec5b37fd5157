/* A request in parts, for an engine whose questions have a limit. Each part asks for some measures of some tables and names only the
 * columns that these need; the answers of all parts are those of the whole, because a part changes neither a row's values nor which
 * rows of a unit count. All parts are to be asked of one state of the source. */
#ifndef TMI_ENGINE_CORE_SPLIT_H
#define TMI_ENGINE_CORE_SPLIT_H

#include "engine/core/cells.h"

typedef struct tmi_request_part {
    tmi_request request; /* its measures are the whole's own */
    tmi_layout layout;   /* columns of the whole's layout, in its order */
    tmi_table *list;     /* the tables of `request` */
    size_t *tables;      /* of each table its number in the whole, */
    size_t *firsts;      /* and the number there of its first measure */
} tmi_request_part;

typedef struct tmi_split {
    tmi_request_part *list;
    size_t count;
} tmi_split;

/* Splits the request of a layout into as few parts as come of taking the measures in their order.
 *
 * Needs    most_columns and most_measures >= 1.
 * Gives    parts with at most most_columns columns, and at most most_measures measures in a table; one part if all fits. With a
 *          unit every part has all columns that tmi_is_given, since which rows count depends on them.
 * Errors   INVALID (one measure, or the unit, needs more columns by itself), SYSTEM (memory).                                   */
tamis_status tmi_split_make(tmi_split *split, const tmi_layout *whole, size_t most_columns, size_t most_measures, tamis_error *err);
void tmi_split_clear(tmi_split *split);

/* Puts the answers of a part among those of the whole request. */
void tmi_split_give(tmi_int128 *const *answers, const tmi_request *whole, const tmi_request_part *part, tmi_int128 *const *own);

#endif
