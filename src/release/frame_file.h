/* The frame of a plan: all units that could have been drawn, with their probabilities and strata. It is public, read before the
 * charge, and what a row weighs is looked up in it by the row's unit: a row of nobody in the frame adds nothing.     */
#ifndef TMI_FRAME_FILE_H
#define TMI_FRAME_FILE_H

#include "plan/frame_facts.h"
#include "plan/plan.h"

/* Units at most: as many as an engine tells values apart. */
#define TMI_MAX_FRAME (INT64_C(1) << 20)

typedef struct tmi_frame_file {
    tmi_frame_facts facts;
    char **ids; /* trimmed, all different */
    double *pi; /* nearest to what is written */
    size_t count;
} tmi_frame_file;

/* Errors   INVALID names the column and row, or what does not fit the design; SYSTEM; empty then. */
tamis_status tmi_frame_file_read(tmi_frame_file *frame, const tamis_plan *plan, tamis_error *err);
void tmi_frame_file_clear(tmi_frame_file *frame);

#endif
