/* Chooses the rows of each unit that count, and bounds what their points add up to (tmi_request), whatever order they come
 * in.
 *
 * Units with more rows than may count are few or none, so nothing is sorted and hardly any row is kept. The source is read
 * twice. The first time the rows of each unit are counted, in a table with 8 bytes per unit, which knows a unit by a hash of
 * its label. The second time the rows of units with at most rows_per_unit rows are handed on at once; where a column bounds
 * the points of a unit, those of units that have so few rows that the bound cannot matter. The others, and those of units
 * that did not fit into the table, are kept, and at the end their units are distinguished by their whole labels and each row's
 * place is computed. So a collision of hashes costs time and changes nothing.
 *
 * If the kept rows would need more than their part of the memory, they are chosen in rounds, each of which reads the source
 * again and keeps the rows of some of the units; the rows of a unit that is too large even for that are seen part by part.
 * Nothing is ever written to a file.
 *
 * A source that changes between the two readings cannot break the bound: each row that is handed on is taken off the count of
 * its unit, and one that was not counted is an error. */
#ifndef TMI_ENGINE_CORE_UNITS_H
#define TMI_ENGINE_CORE_UNITS_H

#include "engine/core/cells.h"
#include "engine/core/labels.h"

#define TMI_UNITS_ROWS 2048 /* of one call, at most */

/* Hands on rows that count, as tmi_cells_add takes them. A status other than OK ends it. */
typedef tamis_status tmi_take_block(void *context, const void *const *columns, size_t n, tamis_error *err);

/* What choosing rows may take of the memory of an engine (0: of the machine's), in bytes: a quarter. */
uint64_t tmi_units_memory(uint64_t memory);

/* `expected`: units of the source, or an upper bound such as its rows; 0: unknown. Of `memory`, in bytes, at most half is for
 * the table and the other half, but not more than 64 MB unless points of units are bounded, for kept rows, since few are
 * kept. The layout, of a request with a unit, outlives it. NULL if memory runs out. */
typedef struct tmi_units tmi_units;
tmi_units *tmi_units_new(const tmi_layout *layout, int64_t expected, uint64_t memory);
void tmi_units_free(tmi_units *units); /* wipes */

/* Looks for as much memory as the rows of a source may need at worst: all in units with too many rows. SYSTEM if the machine has
 * less that is free, or `ulimit -v` allows less. */
tamis_status tmi_units_try(const tmi_layout *layout, int64_t expected, int64_t rows, uint64_t memory, tamis_error *err);

/* First reading. Any number of threads may call this at once. */
void tmi_units_count(tmi_units *units, const tmi_cell *labels, size_t n);

/* Instead of it: the labels of the source, with the rows of each, are known. */
void tmi_units_know(tmi_units *units, const tmi_labels *labels);

/* After it: how often the source must be read now. At least 1. */
tamis_status tmi_units_plan(size_t *rounds, tmi_units *units, tamis_error *err);

/* What one thread needs for tmi_units_add. NULL if memory runs out. */
typedef struct tmi_units_room tmi_units_room;
tmi_units_room *tmi_units_room_new(const tmi_units *units);
void tmi_units_room_free(tmi_units_room *room); /* wipes */

/* Rows of a further reading, with their labels; columns as for tmi_cells_add, n <= TMI_UNITS_ROWS. Those that count for sure are
 * handed on, in the first round only. Any number of threads may call this at once, each with a room of its own. SYSTEM: memory,
 * or the source changed since it was counted. */
tamis_status tmi_units_add(tmi_units *units, tmi_units_room *room, const tmi_cell *labels, const void *const *columns, size_t n,
                           tmi_take_block *take, void *context, tamis_error *err);

/* The end of a round, after which the next one may begin: hands on those of the kept rows that count. */
tamis_status tmi_units_end_round(tmi_units *units, tmi_take_block *take, void *context, tamis_error *err);

#endif
