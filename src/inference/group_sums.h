/* The sums that a statistic is made of, for one of its groups, added up from noisy cells over strata and variance units:
 * their estimates for the population, the noise in them, and how they vary from sample to sample.                    */
#ifndef TMI_INFERENCE_GROUP_SUMS_H
#define TMI_INFERENCE_GROUP_SUMS_H

#include "inference/estimates.h"
#include "inference/interval/interval.h"
#include "inference/variance.h"

#define TMI_MAIN_ROLES 3 /* A, B, Q */

/* A noise, and what one unit of it adds to each of the sums. */
typedef struct tmi_sums_part {
    double factor[TMI_MAIN_ROLES];
    double scale;
    bool gaussian;
    size_t table, cell; /* whose noise it is */
} tmi_sums_part;

typedef struct tmi_group_sums {
    double value[TMI_MAIN_ROLES]; /* of the population, weights applied */
    double centre[2];             /* of a ratio: A and B are sums about these, times the rows N */
    tmi_sums_part *parts;
    size_t part_count;
    double shared_noise;       /* variance of the part of A's noise that calibration gives to all results */
    tmi_quadratic form;        /* of A and B: V(A - r B) = tmi_quadratic_at(form, r) */
    double ones, all;          /* of a share: tmi_ratio */
    tmi_form_noise form_noise; /* what the noise adds to the form's error */
    bool with_noise;           /* the form holds the noise too: it came from totals of variance units */
    int64_t df;                /* -1: not known, 0: none */
    double spread;             /* what a mean square of z makes of V: the bound's factor */
} tmi_group_sums;

/* Needs    a statistic that is not known. The caller clears it. `group` is a cell of the statistic. */
tamis_status tmi_group_sums_make(tmi_group_sums *sums, const tmi_inference *reading, size_t statistic, size_t group,
                                 tamis_error *err);
void tmi_group_sums_clear(tmi_group_sums *sums);

/* A noise in a combination of the sums; the variance of all of them. */
tmi_noise_part tmi_sums_part_in(const tmi_sums_part *part, const double factors[TMI_MAIN_ROLES]);
double tmi_sums_noise(const tmi_group_sums *sums, const double factors[TMI_MAIN_ROLES]);

/* Variance units: the variance of the sum over units of z = Q f + A g + B k. */
tamis_status tmi_units_variance(double *variance, int64_t *df, const tmi_inference *reading, size_t statistic, size_t group,
                                const double factors[TMI_MAIN_ROLES], tamis_error *err);

/* A stratum, or the whole sample where strata are not distinguished (SIZE_MAX): its factor a and its number of rows. */
typedef struct tmi_stratum_part {
    double a, rows;
} tmi_stratum_part;

tmi_stratum_part tmi_stratum_part_of(const tmi_schedule *schedule, size_t stratum);

/* The bound's factor where weights are in the tables. Needs the values of the sums. */
double tmi_weighed_spread(const tmi_group_sums *sums, const tmi_schedule *schedule, size_t statistic);

/* The centre of x (or y) in a table, in the unit of the column; 0 where there is none. */
double tmi_centre_of(const tmi_measurement *m, bool of_y);

#endif
