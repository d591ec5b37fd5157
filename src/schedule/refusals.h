/* What a plan may ask for and is not offered: each message names the place in the plan, the reason and the nearest setting
 * that works. */
#ifndef TMI_SCHEDULE_REFUSALS_H
#define TMI_SCHEDULE_REFUSALS_H

#include "schedule/schedule.h"

/* All give REFUSED, or OK. The setting and the weights; the wave, once the sampling is known; a statistic. */
tamis_status tmi_refuse_plan(const tamis_plan *plan, tamis_error *err);
tamis_status tmi_refuse_wave(const tmi_schedule *schedule, tamis_error *err);
tamis_status tmi_refuse_statistic(const tmi_schedule *schedule, const tmi_plan_statistic *statistic, tamis_error *err);

#endif
