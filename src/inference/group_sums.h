/* What a statistic's groups are read from: estimated moments of the population, how the noise enters them, and the sampling
 * variance of A - r B for every r.
 *
 * Where weights come after the noise, the variance of a total of z is the sum over strata of a (sum of z^2) less a/n (sum of
 * z)^2, from the same moments; the squares of noisy sums are freed of the noise's variance. Where weights are in the tables, and
 * of clusters, it is measured (errors.h). Its own noise is known to first order as a quadratic form of the moments'
 * covariance. */
#ifndef TMI_INFERENCE_GROUP_SUMS_H
#define TMI_INFERENCE_GROUP_SUMS_H

#include "inference/estimates.h"
#include "inference/interval/variance.h"
#include "inference/noise_parts.h"
#include "measure/group_noise.h"
#include "num/law/noise.h"

typedef struct tmi_group_sums {
    double value[TMI_MOMENTS];
    const tmi_moment_noise *noise; /* of the values */
    const tmi_moment_parts *parts; /* the same noise, integer by integer */
    tmi_quadratic form;
    tmi_form_noise form_noise;
    /* weighted squares of x - r y and their noise, where sampling variances are multiples of them (errors.h) */
    tmi_quadratic proxy;
    tmi_form_noise proxy_noise;
    /* of calibrated groups, by power of the control number and level of the axis of calibration: factors g, and g times what
     * calibration explains of x and of y, where that is subtracted; else NULL */
    const double *control_factors, *explained_x, *explained_y;
    /* of the proxy, what rows outside the domain have, whose residuals are what is explained: a second stage lacks them */
    tmi_quadratic outside;
    double ones, all; /* of a share: sums of a over the ones and over all rows; all = 0: it is no share, or they are not known */
    double *by_stratum; /* of a count over strata that are measured apart: sampled ones in each; else NULL */
    double measured;    /* the limit of a measured variance (errors.h) */
    bool normal;        /* the variance allows for what is not known about it: no degrees of freedom are needed */
    double spread;      /* the largest variance is this times the square of the largest deviation */
    int64_t df;         /* -1: not public */
} tmi_group_sums;

/* Those of all groups of a statistic. */
typedef struct tmi_statistic_sums {
    tmi_group_sums *groups;
    size_t count;
    tmi_group_noises noises; /* what groups have in common */
    struct tmi_sums_pattern **patterns;
    double *by_stratum;          /* of all groups */
    tmi_moment_noise *own_noise; /* of calibrated groups, one by one; NULL: they are not */
    tmi_moment_parts *own_parts;
    double *controls;
    size_t pattern_count, pattern_room;
} tmi_statistic_sums;

tamis_status tmi_statistic_sums_make(tmi_statistic_sums *sums, const tmi_inference *inference, size_t statistic,
                                     tamis_error *err);
void tmi_statistic_sums_clear(tmi_statistic_sums *sums);

/* Which moments the numerator x, the denominator y and their squares are; TMI_MOMENTS: there is none. */
typedef struct tmi_form_moments {
    size_t x, y, xx, xy, yy;
} tmi_form_moments;

tmi_form_moments tmi_form_moments_of(const tmi_plan_statistic *statistic);

/* The variance of a linear combination of the values. */
double tmi_sums_noise(const tmi_group_sums *sums, const double factors[TMI_MOMENTS]);

/* A noise in a linear combination of the values. */
tmi_noise_part tmi_sums_part_in(const tmi_group_sums *sums, size_t part, const double factors[TMI_MOMENTS]);

/* A stratum, or the whole sample where strata are not distinguished (SIZE_MAX): its factor a and its number of rows. */
typedef struct tmi_stratum_part {
    double a, rows;
} tmi_stratum_part;

tmi_stratum_part tmi_stratum_part_of(const tmi_schedule *schedule, size_t stratum);

/* Of a group in tables of all strata together, which have equal weights: its rows are those of its strata. */
tmi_stratum_part tmi_group_part(const tmi_schedule *schedule, size_t statistic, size_t group);

/* Adds a stratum: a times the squares, less what its mean explains; and how the noise of its moments enters. */
void tmi_sums_add_stratum(tmi_group_sums *sums, const tmi_form_moments *form, tmi_stratum_part part, bool subtracts,
                          const double *moments, const tmi_moment_noise *noise, bool gaussian);

/* The bound's factor where weights are in the tables. Needs the values. */
double tmi_weighed_spread(const tmi_group_sums *sums, const tmi_schedule *schedule, size_t statistic);

/* Adds the noise of a form whose derivatives by the moments are aa a^2 + ab a b + bb b^2. */
typedef struct tmi_form_slopes {
    double aa[TMI_MOMENTS], ab[TMI_MOMENTS], bb[TMI_MOMENTS];
} tmi_form_slopes;

void tmi_form_noise_of(tmi_form_noise *noise, const tmi_form_slopes *slopes, const tmi_moment_noise *moments);

#endif
