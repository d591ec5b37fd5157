/* Inequality measures of a distribution function: Gini's coefficient, S80/S20, the poverty rate, and the interquartile range,
 * with their influence functions.
 *
 * Within a bin the distribution function is the monotone cubic of Fritsch and Carlson, which follows a density that rises or
 * falls through the bins. In the last one, which holds the few largest values, their density is a power of the value that joins
 * it to the bins before (uniform is one of these powers, Pareto's law another). */
#ifndef TMI_SURVEY_CURVE_INEQUALITY_H
#define TMI_SURVEY_CURVE_INEQUALITY_H

#include "survey/curve.h"

typedef enum tmi_measure_kind { TMI_MEASURE_POVERTY, TMI_MEASURE_GINI, TMI_MEASURE_S80S20, TMI_MEASURE_IQR } tmi_measure_kind;

/* A measure, and its influence function as a mean over rows: to first order the measure errs as the mean of `influence` does. */
typedef struct tmi_inequality {
    double value;
    double *influence;  /* one number per bin, with mean 0 */
    double within;      /* by which factor the values inside bins make the variance of the influence larger; at least 1 */
    const char *reason; /* why there is none; NULL: there is one */
} tmi_inequality;

/* The poverty rate of a group, by the line of everybody: the value, and how it moves with the error of the share of everybody
 * below the median, times -`slope`. */
typedef struct tmi_group_poverty {
    double value, slope;
    double place; /* of the line */
    double
        covaries; /* the mean of the products of the two over the rows of the group: 1 below the line less the rate, and 1 below
                        the median less a half */
} tmi_group_poverty;

tmi_group_poverty tmi_cdf_poverty(const tmi_cdf *group, const tmi_cdf *everybody, double line);

/* `line` is that of TMI_MEASURE_POVERTY, as a part of the median. Errors: SYSTEM. */
tamis_status tmi_inequality_make(tmi_inequality *measure, const tmi_cdf *curve, tmi_measure_kind kind, double line,
                                 tamis_error *err);
void tmi_inequality_clear(tmi_inequality *measure);

#endif
