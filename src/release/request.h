/* What the engine is asked for, written from the schedule before any row is read: one table for each set of `by`
 * columns, each integer in it once.                                                                                  */
#ifndef TMI_REQUEST_H
#define TMI_REQUEST_H

#include "release/schedule.h"

/* Where the integers of a measurement stand among the answers. */
typedef struct tmi_slot {
    size_t table, measure;
    size_t rows_measure; /* the number of rows that the centre is taken off from; only if the centre is not 0 */
} tmi_slot;

typedef struct tmi_asking {
    tmi_source source;
    tmi_column *columns; /* those that the statistics use */
    const tmi_column **column_list;
    size_t column_count;
    tmi_table *tables;
    size_t table_count;
    tmi_measure *measures;    /* of all tables, room for two a measurement */
    const tmi_column **by;    /* of all tables */
    tmi_slot *slots;          /* one a measurement */
    tmi_int128 **answers;     /* one block a table; NULL before tmi_asking_make_room */
} tmi_asking;

/* Errors   INVALID (more integers than an engine counts in one pass, TMI_MAX_CELLS), SYSTEM.                           */
tamis_status tmi_asking_make(tmi_asking *asking, const tmi_schedule *schedule, tamis_error *err);

/* Room for the answers. */
tamis_status tmi_asking_make_room(tmi_asking *asking, tamis_error *err);
/* Wipes the answers and frees. */
void tmi_asking_clear(tmi_asking *asking);

/* The engine's view of the columns that a plan's statistics use; tmi_asking_make includes it. */
const tmi_column *tmi_asking_column(const tmi_asking *asking, const tmi_plan_column *column);

/* The true integer of a cell. Secret until noise is added. */
tmi_int128 tmi_asking_truth(const tmi_asking *asking, const tmi_schedule *schedule, size_t measurement, size_t cell);

#endif
