/* The sums that a statistic is made of, for one of its groups, added up from noisy cells over strata and variance units:
 * their estimates for the population, the noise in them, and how they vary from sample to sample.                    */
#ifndef TMI_GROUP_SUMS_H
#define TMI_GROUP_SUMS_H

#include "release/interval.h"
#include "release/reading.h"
#include "release/variance.h"

#define TMI_MAIN_ROLES 3 /* A, B, Q */

typedef struct tmi_group_sums {
    double value[TMI_MAIN_ROLES];       /* of the population, weights applied */
    double centre[2];                   /* of a ratio: A and B are sums about these, times the rows N */
    double noise_variance[TMI_MAIN_ROLES];
    tmi_noise_part *parts;              /* of A, then of B, then of Q: factor 1 is one unit of the sum */
    size_t first[TMI_MAIN_ROLES + 1];   /* where each begins */
    tmi_quadratic form;                 /* of A and B: V(A - r B) = tmi_quadratic_at(form, r) */
    double ones, all;                   /* of a share: tmi_ratio */
    tmi_form_noise form_noise;          /* what the noise adds to the form's error */
    bool with_noise;                    /* the form holds the noise too: it came from totals of variance units */
    int64_t df;                         /* -1: not known, 0: none */
    double spread;                      /* what a mean square of z makes of V: the bound's factor */
} tmi_group_sums;

/* Needs    a statistic that is not known. The caller clears it. `group` is a cell of the statistic. */
tamis_status tmi_group_sums_make(tmi_group_sums *sums, const tmi_reading *reading, size_t statistic, size_t group, tamis_error *err);
void tmi_group_sums_clear(tmi_group_sums *sums);

/* Variance units: the variance of the sum over units of z = Q f + A g + B k. */
tamis_status tmi_units_variance(double *variance, int64_t *df, const tmi_reading *reading, size_t statistic, size_t group,
                                const double factors[TMI_MAIN_ROLES], tamis_error *err);

/* The stratum of a group, if the statistic is by strata; else SIZE_MAX. */
size_t tmi_group_stratum(const tmi_schedule *schedule, size_t statistic, size_t group);

#endif
