/* A distribution function from the results of the shares that it is made of. */
#ifndef TMI_SCHEDULE_CURVE_RESULTS_H
#define TMI_SCHEDULE_CURVE_RESULTS_H

#include "schedule/result.h"
#include "survey/curve.h"

/* Of one group: `shares` has the groups of the first cut, then those of the second, and so on. *reason says why there is no
 * function, or is NULL. Clear the curve unless that failed. Errors: SYSTEM. */
tamis_status tmi_curve_of_results(tmi_curve *curve, const char **reason, const tmi_plan_curve *cuts, const tmi_result *shares,
                                  size_t groups, size_t group, tamis_error *err);

#endif
