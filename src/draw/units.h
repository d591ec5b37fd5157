/* What a design needs to know of a frame: the stratum and the cluster of each row, and a size or probability. */
#ifndef TMI_DRAW_UNITS_H
#define TMI_DRAW_UNITS_H

#include <tamis/experimental/draw.h>
#include <tamis/experimental/survey.h>

#include "base/watch.h"
#include "draw/groups.h"

/* What is drawn first are the rows, or the clusters if there are any; that many have numbers. */
typedef struct tmi_frame_units {
    int64_t count;          /* rows */
    tamis_number **numbers; /* sizes or probabilities, by row or cluster; NULL if the design has none */
    size_t number_count;
    tmi_groups strata;   /* without strata one group, and no list `of` rows */
    tmi_groups clusters; /* none without clusters; `sample` units of each, if it is drawn; 0: all */
} tmi_frame_units;

/* Clear units in any case. INVALID names the column, and the row. */
tamis_status tmi_units_read(tmi_frame_units *units, tmi_frame *frame, const tamis_frame_design *design, const tmi_watch *watch,
                            tamis_error *err);

void tmi_units_forget_numbers(tmi_frame_units *units);
void tmi_units_clear(tmi_frame_units *units);

#endif
