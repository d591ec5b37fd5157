/* What a design needs to know of the units: the stratum of each, and a size or probability. */
#ifndef TMI_UNITS_H
#define TMI_UNITS_H

#include <tamis/frame.h>
#include <tamis/survey.h>

#include "engine/frame.h"

typedef struct tmi_stratum {
    size_t key, key_length; /* its name, a piece of tmi_units.keys */
    int64_t first;          /* its first row */
    int64_t count;          /* its units */
    int64_t sample;         /* units to draw; 0: not said */
} tmi_stratum;

typedef struct tmi_units {
    int64_t count;
    tamis_number **numbers; /* sizes or probabilities, by row; NULL if the design has none */
    uint32_t *stratum_of;   /* by row; NULL without strata */
    tmi_stratum *strata;    /* in the order of their first rows; one without strata */
    size_t stratum_count, stratum_room;
    uint32_t *slots; /* hash table: number of the stratum + 1; 0 is free */
    size_t slot_count;
    char *keys;
    size_t key_bytes, key_room;
} tmi_units;

/* Clear units in any case. INVALID names the column, and the row. */
tamis_status tmi_units_read(tmi_units *units, tmi_frame *frame, const tamis_frame_design *design, tamis_error *err);
void tmi_units_clear(tmi_units *units);

#endif
