/* The words of the plan format for what the plan holds. */
#ifndef TMI_PLAN_NAMES_H
#define TMI_PLAN_NAMES_H

#include "plan/plan.h"

const char *tmi_statistic_kind_name(tmi_statistic_kind kind); /* "total" */
const char *tmi_model_family_name(tmi_model_family family);   /* "logistic" */
const char *tmi_variance_name(tmi_variance_method method);    /* "hajek"; NULL: not said */

#endif
