/* A distribution function, from estimated shares of the rows below cuts.
 *
 * Places are in grid points: point j of the column covers [j, j + 1), so that the share of the rows below cut c is the function
 * at c; it is 0 at the lowest point and 1 behind the highest. Shares with errors need not ascend: the function is their
 * weighted isotonic regression, linear between cuts. */
#ifndef TMI_SURVEY_CURVE_H
#define TMI_SURVEY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <tamis/base.h>

typedef struct tmi_cdf_point {
    double place;
    double share;           /* ascending */
    double lower, upper;    /* the interval of the share; [0, 1] where it has none */
    double sampling, noise; /* variances of the share */
} tmi_cdf_point;

typedef struct tmi_cdf {
    tmi_cdf_point *points; /* the ends of the range included */
    size_t count;          /* of points: two more than cuts */
    double step;           /* of the grid */
} tmi_cdf;

/* Room for points between the ends of a grid from low to high; the caller fills in points[1] to points[cuts], whose shares
 * tmi_cdf_ascend then makes ascending. Errors: SYSTEM. */
tamis_status tmi_cdf_make(tmi_cdf *curve, size_t cuts, double low, double high, double step, tamis_error *err);
tamis_status tmi_cdf_ascend(tmi_cdf *curve, tamis_error *err);
void tmi_cdf_clear(tmi_cdf *curve);

/* The function at a place, and the first place where it reaches q, 0 < q < 1. */
double tmi_cdf_share(const tmi_cdf *curve, double place);
double tmi_cdf_inverse(const tmi_cdf *curve, double q);

/* Woodruff's interval of the q-quantile: the places at which the interval of the share contains q, and all between them. Beyond
 * the last cut at which q is rejected it goes to the end of the range. Between cuts the ends of the intervals are interpolated;
 * tmi_cdf_interval allows for what the function may be there besides (curve_interval.c). */
void tmi_cdf_interval(double *lower, double *upper, const tmi_cdf *curve, double q);
void tmi_cdf_invert(double *lower, double *upper, const tmi_cdf *curve, double q);

/* Variances of the share at a place. */
void tmi_cdf_errors(double *sampling, double *noise, const tmi_cdf *curve, double place);

/* The value of the quantile at a place: the grid point that holds it. */
double tmi_cdf_value(const tmi_cdf *curve, double place);

/* The density at the q-quantile, from the quantiles at a distance that its noise does not hide. */
double tmi_cdf_density(const tmi_cdf *curve, double q);

#endif
