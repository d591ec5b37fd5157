/* The frame of a plan: all units that could have been drawn, with their probabilities and strata. It is public, read before the
 * charge, and what a row weighs is looked up in it by the row's unit: a row of nobody in the frame adds nothing.     */
#ifndef TMI_MEASURE_FRAME_FRAME_FILE_H
#define TMI_MEASURE_FRAME_FRAME_FILE_H

#include "plan/frame_facts.h"
#include "plan/plan.h"

/* Units at most: as many different values as an engine distinguishes. */
#define TMI_MAX_FRAME (INT64_C(1) << 20)

typedef struct tmi_frame_file {
    tmi_frame_facts facts;
    char **ids; /* trimmed, all different */
    double *pi; /* nearest to what is written */
    int32_t *strata;
    double **sizes; /* of each column in facts.sizes: nearest to what is written */
    size_t count;
} tmi_frame_file;

/* Errors   INVALID names the column and row, or what does not fit the design; SYSTEM; empty then. */
tamis_status tmi_frame_file_read(tmi_frame_file *frame, const tamis_plan *plan, tamis_error *err);
void tmi_frame_file_clear(tmi_frame_file *frame);

/* The range of a unit's values, where its end is a multiple of a size in the frame. */
tmi_grid tmi_unit_grid(const tmi_frame_file *frame, const tmi_plan_column *column, size_t unit);

/* Whether a frame can have these facts: as many units as the plan declares and a frame may have, and where the sample is fixed,
 * probabilities that can add up to it: among the units that are not certain one has the smallest and one the largest.
 *
 * Errors   INVALID (says which fact contradicts which), SYSTEM.                                                       */
tamis_status tmi_frame_facts_fit(const tmi_frame_facts *facts, const tmi_plan_design *design, tamis_error *err);

#endif
