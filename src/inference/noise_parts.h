/* The noise of moments as a sum over the noisy integers that they are made of: which laws enter, with which factors, how often.
 *
 * An integer's factor depends on its cell only through whether its levels belong to the group, so that the thousands of cells
 * that a number rests on are a few kinds. */
#ifndef TMI_INFERENCE_NOISE_PARTS_H
#define TMI_INFERENCE_NOISE_PARTS_H

#include "schedule/schedule.h"

typedef struct tmi_moment_part {
    double factor[TMI_MOMENTS]; /* what one step of the noise is in each moment */
    double scale;
    double count;       /* how many integers have these factors */
    size_t measurement; /* the measurement that they belong to */
} tmi_moment_part;

typedef struct tmi_moment_parts {
    tmi_moment_part *list;
    size_t count, room;
    tmi_gaussian gaussian;
} tmi_moment_parts;

/* A combination of the cells of tables, and the moment that it is part of. */
typedef struct tmi_read {
    const tmi_combination *combination;
    size_t moment;
} tmi_read;

/* Adds the parts of the reads, which are all of one weighting, in one stratum's tables or in all (`stratum` 0 where they are not
 * apart), with a weight that comes after the noise. Errors: SYSTEM. */
tamis_status tmi_moment_parts_add(tmi_moment_parts *parts, const tmi_schedule *schedule, const tmi_read *reads, size_t count,
                                  size_t stratum, double weight, tamis_error *err);
void tmi_moment_parts_clear(tmi_moment_parts *parts);

/* Gives the noise of a group's estimated moments, as the schedule's main weighting measures them. Errors: SYSTEM. */
tamis_status tmi_moment_parts_of_group(tmi_moment_parts *parts, const tmi_schedule *schedule, size_t statistic, size_t group,
                                       tamis_error *err);

#endif
