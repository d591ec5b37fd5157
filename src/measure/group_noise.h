/* The noise of the moments that a statistic's groups are read from: their covariance, from all measurements together. It
 * depends on a group only through its stratum and through how many classes its values have, and of two classes which, so that
 * a few matrices serve all groups. */
#ifndef TMI_MEASURE_GROUP_NOISE_H
#define TMI_MEASURE_GROUP_NOISE_H

#include "measure/schedule.h"

typedef struct tmi_moment_noise {
    double covariance[TMI_MOMENTS][TMI_MOMENTS]; /* infinite on the diagonal: the measurements do not determine it */
} tmi_moment_noise;

/* The variance of a linear combination of moments; those with coefficient 0 need not be determined. */
double tmi_moment_noise_of(const tmi_moment_noise *noise, const double coefficients[TMI_MOMENTS]);

/* Of a group's moments in a weighting, without weights that come after the noise; of calibrated ones with the factors that are
 * expected (measure/controls.h). Errors: SYSTEM. */
tamis_status tmi_moment_noise_make(tmi_moment_noise *noise, const tmi_schedule *schedule, tmi_weighting weighting,
                                   size_t statistic, size_t group, size_t stratum, tamis_error *err);

/* Whether the products of a contrast's two columns follow from the tables (tmi_has_products). Errors: SYSTEM. */
tamis_status tmi_products_are_measured(bool *measured, const tmi_schedule *schedule, size_t contrast, tamis_error *err);

typedef struct tmi_group_noise {
    size_t pattern[TMI_MAX_BY];
    tmi_moment_noise estimate; /* of the estimated moments of the population */
    tmi_moment_noise spread;   /* of those weighed for variances, or of one group of clusters */
} tmi_group_noise;

typedef struct tmi_group_noises {
    const tmi_schedule *schedule;
    size_t statistic;
    tmi_group_noise **list;
    size_t count, room;
} tmi_group_noises;

tamis_status tmi_group_noises_make(tmi_group_noises *noises, const tmi_schedule *schedule, size_t statistic, tamis_error *err);
void tmi_group_noises_clear(tmi_group_noises *noises);

/* That of a group, found or made; it lives as long as the list. Errors: SYSTEM. */
tamis_status tmi_group_noise_of(const tmi_group_noise **noise, tmi_group_noises *noises, size_t group, tamis_error *err);

#endif
