/* How far the answers of a mechanism will be from the quantiles, if the distribution function of the records is known: that of a
 * guess before any record is read, or one that was released.
 *
 * The law of each mechanism is followed as it is, on that function instead of on records: the exponential mechanisms by their
 * probabilities on pieces of the grid, AboveThreshold candidate by candidate, sums by the deviation of their noise. So an error
 * is right where the noise is small, which is a matter of the slope at the quantile, and where answers come from all of the grid.
 * Everything is in doubles: these numbers describe an accuracy, and no promise depends on them. */
#ifndef TMI_MECH_QUANTILE_EXPECTED_EXPECTED_H
#define TMI_MECH_QUANTILE_EXPECTED_EXPECTED_H

#include "mech/quantile/quantile.h"

/* The share of the records' weight below each place, linear in between; grid point j covers [j, j + 1). Places ascend, from the
 * lowest point of the grid to behind the highest; shares do too, from 0 to 1. */
typedef struct tmi_known_curve {
    const double *places, *shares;
    size_t count;  /* at least 2 */
    double weight; /* of all records */
} tmi_known_curve;

/* errors[j]: the root mean square of the difference between answer j and the quantile of the curve, in grid points.
 *
 * Cost     a thousand steps or so for each quantile.
 * Errors   SYSTEM. */
tamis_status tmi_quantile_spread(double *errors, const tamis_quantile *quantile, const tmi_known_curve *curve, tamis_error *err);

/* ---- parts ---- */

/* The share below a place, the first place that has a share, and the grid point that holds it. */
double tmi_known_share(const tmi_known_curve *curve, double place);
double tmi_known_place(const tmi_known_curve *curve, double share);
double tmi_known_point(const tmi_known_curve *curve, double share);

/* Where to look, ascending: the points of the curve, several between each two of them (evenly over log(place + unit), or over the
 * place if unit is 0), and closer around each of some shares, at distances of about one over its rate. */
size_t tmi_known_places_room(const tmi_known_curve *curve, size_t at_count);
size_t tmi_known_places(double *places, const tmi_known_curve *curve, double unit, const double *at, const double *rates,
                        size_t at_count);

/* TREE, PREFIX. Errors: SYSTEM. */
tamis_status tmi_spread_of_sums(double *errors, const tamis_quantile *quantile, const tmi_known_curve *curve, tamis_error *err);

/* INVERSE, JOINT and SPLIT: draws from a measure on the grid. Errors: SYSTEM. */
tamis_status tmi_spread_of_draws(double *errors, const tamis_quantile *quantile, const tmi_known_curve *curve, tamis_error *err);

/* JOINT, on cells with shares and measures, ascending: laws[j * count + i] becomes the probability that cut j is in cell i.
 * `rate` is per share of all records. Errors: SYSTEM. */
tamis_status tmi_joint_marginals(double *laws, const double *shares, const double *measures, size_t count, const double *at,
                                 size_t at_count, double rate, tamis_error *err);

#endif
