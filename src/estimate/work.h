/* What the estimates of one statistic have in common: lists of one entry per row, and the group at hand. */
#ifndef TMI_ESTIMATE_WORK_H
#define TMI_ESTIMATE_WORK_H

#include "estimate/variance.h"
#include "survey/distribution.h"

typedef struct tmi_estimate_work {
    const tmi_sample *sample;
    tmi_sample_variance *variance;
    double *values, *bases, *linear; /* bases: of ratios */
    size_t *cells;                   /* the group of each row, of the statistic at hand; TMI_NO_CELL: in none */
    uint8_t *missing, *domain;
    uint8_t *everybody;        /* the rows with a value of all groups, and of none: those of the poverty line */
    size_t rows, values_there; /* of the group at hand: all of them, and those with a value, which are the domain */

    /* of the group at hand, where a statistic is of a distribution */
    tmi_distribution distribution;
    tmi_distribution whole; /* of everybody */
    int64_t df;

    /* Student's t, which many results share */
    const tamis_number *confidence; /* NULL: not yet computed */
    int64_t t_df;
    double t;
} tmi_estimate_work;

#define TMI_NO_CELL SIZE_MAX

/* The t of an interval; infinite without degrees of freedom. Errors: INVALID. */
tamis_status tmi_student_of(double *t, tmi_estimate_work *work, const tamis_number *confidence, int64_t df, tamis_error *err);

#endif
