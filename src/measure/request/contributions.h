/* The columns of contributions (contributions.h) that an engine is asked for. */
#ifndef TMI_MEASURE_REQUEST_CONTRIBUTIONS_H
#define TMI_MEASURE_REQUEST_CONTRIBUTIONS_H

#include "measure/request/columns.h"
#include "measure/schedule.h"

typedef struct tmi_asked_contributions {
    size_t count, used; /* contributed axes */
    int64_t *factors;   /* of each: what a step of a value of each unit of the frame adds */
    tmi_grid *grids;    /* of each: the range of values of each unit */
    int32_t *part_of;   /* of each unit: 1 if it is certain */
} tmi_asked_contributions;

/* Room for the numbers of all units of the frame, which the columns point into. */
tamis_status tmi_asked_contributions_make(tmi_asked_contributions *asked, const tmi_schedule *schedule, tamis_error *err);
void tmi_asked_contributions_clear(tmi_asked_contributions *asked);

/* The part of a row's unit, a dimension; NULL: all are one part. `unit`: the unit in the frame. */
const tmi_column *tmi_asked_part(tmi_asked_contributions *asked, tmi_columns *columns, const tmi_schedule *schedule,
                                 const tmi_column *unit);

/* Points of the contribution of an axis; `weight` is that of a row. */
const tmi_column *tmi_asked_contribution(tmi_asked_contributions *asked, tmi_columns *columns, const tmi_schedule *schedule,
                                         size_t axis, const tmi_column *weight, const tmi_column *unit);

#endif
