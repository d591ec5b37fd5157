/* Rows that have the same texts in some columns: the strata of a frame, or its clusters. Groups are numbered in the order
 * of their first rows.                                                                                               */
#ifndef TMI_DRAW_GROUPS_H
#define TMI_DRAW_GROUPS_H

#include <stdbool.h>

#include "engine/files/frame.h"

typedef struct tmi_frame_group {
    size_t key, key_length; /* its texts, a piece of tmi_groups.keys */
    int64_t first, count;   /* its first row, and its rows */
    int64_t sample;         /* units to draw; 0: not said */
    uint32_t stratum;       /* of a cluster */
} tmi_frame_group;

typedef struct tmi_groups {
    tmi_frame_group *list;
    size_t count, room;
    uint32_t *of;    /* by row; NULL if there are no groups */
    uint32_t *slots; /* hash table: number of the group + 1; 0 is free */
    size_t slot_count;
    char *keys;
    size_t key_bytes, key_room;
} tmi_groups;

/* Puts `row` into the group of its texts cells[0][i], ..., cells[columns - 1][i], none of which is empty; a new one if
 * there is none yet. The number of the group goes to groups->of[row]. false: no memory, or 2^32 - 1 groups. */
bool tmi_groups_add(tmi_groups *groups, int64_t row, size_t i, tmi_cell *const *cells, size_t columns);

void tmi_groups_clear(tmi_groups *groups);

#endif
