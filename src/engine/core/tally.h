/* Counts records: a row becomes a key made of its cell, point and weight, and equal keys are counted.
 *
 *     key = (cell * points + point - lowest point) * weights + weight
 *
 * Keys are sorted and merged (entries.h). Once a thread has seen many rows, and if there are few possible keys, it has a counter
 * for each of them, which is faster and takes less memory than that many entries. Where the list may be in any order and there
 * are many possible keys, rows are kept as they come (loose.h). */
#ifndef TMI_ENGINE_CORE_TALLY_H
#define TMI_ENGINE_CORE_TALLY_H

#include "engine/core/cells.h"
#include "engine/core/points.h"

/* Counters of one thread, at most: 128 megabytes. */
#define TMI_MAX_COUNTERS ((size_t)1 << 27)

/* The plan, and the layout of its request, outlive it. layout NULL: entries are added, not rows. NULL if memory runs out. */
typedef struct tmi_tally tmi_tally;
tmi_tally *tmi_tally_new(const tmi_points_plan *plan, const tmi_layout *layout);
void tmi_tally_free(tmi_tally *tally); /* wipes */

/* Adds n rows, given as for tmi_cells_add. SYSTEM beyond TMI_MAX_ROWS rows, or if memory runs out; the tally can then only be
 * freed. */
tamis_status tmi_tally_add(tmi_tally *tally, const void *const *columns, size_t n, tamis_error *err);

/* Adds `count` rows with the same cell, point and weight (0 without weights), as they were counted elsewhere. Errors as above;
 * and SYSTEM if one is not in its range. */
tamis_status tmi_tally_add_entry(tmi_tally *tally, int64_t cell, int64_t point, int64_t weight, int64_t count, tamis_error *err);

/* Rows that were added, also those that are left out of the list. */
int64_t tmi_tally_rows(const tmi_tally *tally);

/* Moves everything from another tally of the same plan. Errors as above. */
tamis_status tmi_tally_take(tmi_tally *tally, tmi_tally *other, tamis_error *err);

/* Moves everything to a list, which must be empty, and stays so on failure. */
tamis_status tmi_tally_take_list(tmi_point_list *list, tmi_tally *tally, tamis_error *err);

#endif
