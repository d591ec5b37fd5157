/* The design of a frame's units. */
#ifndef TMI_DRAW_DESIGN_H
#define TMI_DRAW_DESIGN_H

#include "draw/units.h"

typedef struct tmi_frame_plan {
    tamis_design *design;
    int64_t *rows; /* of the frame, by unit of the design: stratum by stratum, inside each cluster by cluster, inside each
                      in the frame's order; NULL: the same */
} tmi_frame_plan;

/* Clear the plan in any case; it belongs to the caller. The design is one that fits (tamis_frame_design_check). */
tamis_status tmi_frame_plan_make(tmi_frame_plan *plan, const tamis_frame_design *design, const tmi_frame_units *units,
                                 tamis_error *err);
void tmi_frame_plan_clear(tmi_frame_plan *plan);

/* Whether work with this method takes longer than to read the frame. */
bool tmi_frame_is_slow(const tamis_frame_design *design);

bool tmi_frame_is_with_replacement(const tamis_frame_design *design);

#endif
