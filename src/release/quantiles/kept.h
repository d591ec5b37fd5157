/* What was chosen, read from measurements.json: by a ledger that kept it, and by whoever verifies it. */
#ifndef TMI_RELEASE_QUANTILES_KEPT_H
#define TMI_RELEASE_QUANTILES_KEPT_H

#include "base/value/json.h"
#include "schedule/schedule.h"

/* places[i]: which one of `list` quantile task i is, whatever their order; each is taken once, because two statistics may ask
 * for the same. SIZE_MAX: none. Errors: SYSTEM. */
tamis_status tmi_find_quantile_tasks(size_t *places, const tmi_value *list, const tmi_schedule *schedule, tamis_error *err);

/* The points of a quantile task; false unless there is one for each group and `at`, on the grid, ascending in each group. */
bool tmi_take_points(int64_t *answers, const tmi_schedule *schedule, const tmi_quantile_task *task, const tmi_value *kept);

#endif
