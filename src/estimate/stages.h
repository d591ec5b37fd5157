/* What a plan declares of two stages, compared with the rows: inside the agency, since a release may not look. */
#ifndef TMI_ESTIMATE_STAGES_H
#define TMI_ESTIMATE_STAGES_H

#include "estimate/sample.h"

/* Counts the clusters that contradict `second` or `first`; all 0 for other designs. Errors: SYSTEM. */
tamis_status tmi_stages_compare(tmi_stage_misfits *misfits, const tmi_sample *sample, tamis_error *err);

#endif
