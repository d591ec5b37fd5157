/* What a plan may ask for and is not offered: each message names the place in the plan, the reason and the nearest setting
 * that works. */
#ifndef TMI_SCHEDULE_REFUSALS_H
#define TMI_SCHEDULE_REFUSALS_H

#include "schedule/schedule.h"

/* They return REFUSED with the reason, or OK. The first looks at the setting and the weights, the second at the wave, once the
 * sampling is known, the third at one statistic. */
tamis_status tmi_refuse_plan(const tamis_plan *plan, tamis_error *err);
tamis_status tmi_refuse_wave(const tmi_schedule *schedule, tamis_error *err);
tamis_status tmi_refuse_statistic(const tmi_schedule *schedule, const tmi_plan_statistic *statistic, tamis_error *err);

#endif
