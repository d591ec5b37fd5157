/* What a preview assumes because the plan does not say it, and how to say it. */
#ifndef TMI_SCHEDULE_EXPECTED_ASSUMPTIONS_H
#define TMI_SCHEDULE_EXPECTED_ASSUMPTIONS_H

#include "schedule/schedule.h"

typedef struct tmi_assumption {
    const char *assumed;        /* "a population of 1,000,000 units" */
    const char *declare;        /* what to write instead: "design: {typical: {population: 50000}}" */
    const char *const *columns; /* the columns that it is about; none if it is about the design */
    size_t column_count;
} tmi_assumption;

typedef void tmi_take_assumption(void *context, const tmi_assumption *assumption);

/* Calls `take` once for each kind of assumption that a number of the preview depends on; texts live during the call.
 *
 * Errors   SYSTEM.                                                                                                   */
tamis_status tmi_assumptions(const tmi_schedule *schedule, tmi_take_assumption *take, void *context, tamis_error *err);

#endif
