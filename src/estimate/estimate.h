/* The ordinary design-based estimates of a plan's statistics, unprotected. */
#ifndef TMI_ESTIMATE_ESTIMATE_H
#define TMI_ESTIMATE_ESTIMATE_H

#include "engine/core/engine.h"
#include "schedule/result.h"

/* Gives    the results, which the caller clears; `note` says how variances were approximated, NULL: they were not.
 * Errors   INVALID, SYSTEM; the results are then empty.                                                              */
tamis_status tmi_estimate(tmi_results *results, const char **note, const tamis_plan *plan, tmi_engine *engine,
                          const tamis_watch *watch, tamis_error *err);

#endif
