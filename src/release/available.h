/* Whether this version can do what a plan asks. */
#ifndef TMI_AVAILABLE_H
#define TMI_AVAILABLE_H

#include "plan/plan.h"

/* Errors   REFUSED, naming what is not available. */
tamis_status tmi_plan_available(const tamis_plan *plan, tamis_error *err);

#endif
