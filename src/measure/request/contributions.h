/* The columns of contributions (contributions.h) that an engine is asked for. */
#ifndef TMI_MEASURE_REQUEST_CONTRIBUTIONS_H
#define TMI_MEASURE_REQUEST_CONTRIBUTIONS_H

#include "measure/request/columns.h"
#include "measure/schedule.h"

typedef struct tmi_asked_contributions {
    size_t count, used; /* contributed axes */
    int64_t *factors;   /* axis by axis, what a step of a value adds for each unit of the frame */
    tmi_grid *grids;    /* axis by axis, the range of values of each unit */
    int32_t *part_of;   /* for each unit, 1 if it is certain to be drawn, else 0 */
} tmi_asked_contributions;

/* Makes room for the numbers of all units of the frame, which the columns point into. */
tamis_status tmi_asked_contributions_make(tmi_asked_contributions *asked, const tmi_schedule *schedule, tamis_error *err);
void tmi_asked_contributions_clear(tmi_asked_contributions *asked);

/* The dimension of parts, from the column of a row's unit in the frame; NULL if all units are one part. */
const tmi_column *tmi_asked_part(tmi_asked_contributions *asked, tmi_columns *columns, const tmi_schedule *schedule,
                                 const tmi_column *unit);

/* The column of an axis's contributions, as points of its grid; `weight` is the column of a row's weight. */
const tmi_column *tmi_asked_contribution(tmi_asked_contributions *asked, tmi_columns *columns, const tmi_schedule *schedule,
                                         size_t axis, const tmi_column *weight, const tmi_column *unit);

#endif
