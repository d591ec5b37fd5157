/* A statistic: which tables it needs, what is expected of it before the data, how it is read from noisy integers, and
 * how it is estimated without protection. One statistic is one file that fills this struct; statistic.c lists them.  */
#ifndef TMI_STATISTIC_H
#define TMI_STATISTIC_H

#include "release/result.h"
#include "release/schedule.h"

/* The public circumstances of a statistic. */
typedef struct tmi_case {
    const tmi_plan_statistic *statistic;
    const tmi_plan_design *design;
    const tmi_design *how;
    size_t cells;
    int64_t centre;      /* of the table of sums, if there is one */
    double weight, step; /* step 1 for a count */
    double noise_sd[TMI_MAX_NEEDS];
    double reach[TMI_MAX_NEEDS]; /* each |noise| <= reach, all of them with the statistic's confidence together */
} tmi_case;

/* What the noise will do, told before the data are read. */
typedef struct tmi_outlook {
    double noise_sd; /* in the statistic's own unit */
    double range;    /* width of the interval in which the statistic certainly lies */
    double expected; /* a public guess of its size; NaN if there is none */
} tmi_outlook;

/* Rows of one cell, unprotected: how many have a value, their sum, their mean, and the sum of squares about it. */
typedef struct tmi_moments {
    int64_t rows;
    long double sum;
    double mean, squares;
} tmi_moments;

typedef struct tmi_statistic {
    const char *name;
    size_t (*needs)(tmi_need needs[TMI_MAX_NEEDS], const tmi_plan_statistic *statistic); /* 0: it is known */
    void (*expect)(tmi_outlook *outlook, const tmi_case *c);
    void (*read)(tmi_result *result, const tmi_case *c, const double noisy[TMI_MAX_NEEDS]);
    void (*estimate)(tmi_result *result, const tmi_case *c, const tmi_moments *cell); /* estimate and sampling_se */
} tmi_statistic;

extern const tmi_statistic tmi_statistic_count, tmi_statistic_total, tmi_statistic_mean;

const tmi_statistic *tmi_statistic_of(const tmi_plan_statistic *statistic);

/* The circumstances of statistic number i of a schedule. Errors: UNABLE, SYSTEM. */
tamis_status tmi_case_make(tmi_case *c, const tmi_schedule *schedule, size_t i, tamis_error *err);

/* A statistic that is one noisy integer times weight and step: its estimate and the ends of its interval that lie within
 * the range become the doubles nearest to the exact products (22 * 30.97 is 681.34, not 681.3399999999999). Any other
 * result, and what is too large for a double, stays as it is. Errors: SYSTEM. */
tamis_status tmi_round_once(tmi_result *result, const tmi_case *c, const tmi_schedule *schedule, tmi_int128 noisy,
                            tamis_error *err);

/* The interval [lower, upper], its ends moved into [least, most]; and whether the estimate lies outside of that. */
void tmi_set_interval(tmi_result *result, double lower, double upper, double least, double most);

#endif
