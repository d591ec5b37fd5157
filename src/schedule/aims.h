/* The statistics of a plan as aims of the optimiser (strategy/budget.h): what each of them needs of the tables, and how large its
 * sampling error is expected to be. From public knowledge only. */
#ifndef TMI_SCHEDULE_AIMS_H
#define TMI_SCHEDULE_AIMS_H

#include "schedule/pooled.h"
#include "schedule/schedule.h"
#include "schedule/strategy/search.h"

typedef struct tmi_aims {
    tmi_effects effects;
    tmi_aim *list;      /* one per statistic that is not known, then those of the counts that calibration and suppression need */
    size_t *statistics; /* whose each is; SIZE_MAX: of no one */
    double *weights;    /* room for one number per aim */
    double *pools;      /* room for two numbers per pool */
    size_t pool_count;
    size_t *own_support; /* the table from which it can be read by itself */
    size_t count;
    tmi_parts_of_effects *parts; /* of all */
    size_t part_count, part_room;
    tmi_shape *supports;
    size_t support_count, support_room, last_support;
    tmi_motion motions[TMI_WEIGHINGS];
    double copies[TMI_WEIGHINGS];
} tmi_aims;

/* Of a schedule whose sampling and workload are set. Errors: SYSTEM. */
tamis_status tmi_aims_make(tmi_aims *aims, const tmi_schedule *schedule, tamis_error *err);
void tmi_aims_clear(tmi_aims *aims);

#endif
