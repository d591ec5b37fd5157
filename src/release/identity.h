/* The identity of a release: one text that says everything that shapes its integers.
 *
 * Two releases of an account with the same text ask the same question of the data with the same noise, so that the numbers of
 * the earlier one may be returned for the later one. The text therefore says all of it by itself, whatever else the account
 * compares: the design with its weights as they are used (moved, rounded, bounded), who is protected and how many rows of a unit
 * are kept, the frame, the strata, and every measurement with its columns, grids, centres, shifts, clamps and noise laws. What is
 * done to noisy numbers afterwards (confidence, calibration totals, postprocessing) and what merely names or previews something
 * (titles, `typical`) does not enter, unless it changes one of these.                                                  */
#ifndef TMI_RELEASE_IDENTITY_H
#define TMI_RELEASE_IDENTITY_H

#include "schedule/schedule.h"

/* Gives    a text that the caller frees with tmi_free; NULL on failure. The order of the statistics does not change it.
 * Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_release_identity(char **text, const tmi_schedule *schedule, tamis_error *err);

#endif
