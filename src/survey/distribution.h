/* The weighted distribution of a sampled variable, and the statistics that are read from it: quantiles, Gini, S80/S20, poverty.
 *
 * As in <tamis/experimental/estimator.h>, an estimate comes with linear values: to first order it varies as the weighted total
 * of them, so that every variance of a total serves it (Deville 1999; Osier 2009). A quantile has none: its interval is found
 * by inverting that of a share (src/estimate/quantile.c).
 *
 * Doubles throughout: nothing here is protected.                                                                     */
#ifndef TMI_SURVEY_DISTRIBUTION_H
#define TMI_SURVEY_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>
#include <tamis/base.h>

/* The different values in ascending order, with the weight of their rows, and that of all rows up to and including them. */
typedef struct tmi_distribution {
    double *values, *weights, *sums;
    size_t count;
    double total; /* weight of all rows */
} tmi_distribution;

/* Of the rows of the domain (NULL: all) whose weight is not 0.
 *
 * Gives    lists that tmi_distribution_clear frees; no values where the domain has no weights.
 * Cost     O(rows log rows).
 * Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_distribution_make(tmi_distribution *distribution, const double *values, const double *weights,
                                   const uint8_t *domain, size_t rows, tamis_error *err);
void tmi_distribution_clear(tmi_distribution *distribution);

/* The least value up to which there is a share p of the weight, 0 <= p <= 1: the left-continuous inverse of the distribution
 * function (R's qrule "math", type 1 of Hyndman and Fan). Needs count >= 1 and a positive total.
 *
 * Shares that differ by less than 1e-12 count as equal: n p may be a whole number where the sum of n weights, each rounded to a
 * double, misses it. */
double tmi_quantile_of(const tmi_distribution *distribution, double p);

/* The same, but where exactly the share p of the weight is up to a value, the middle between it and the next one: Eurostat's
 * definition of the median and the quintiles of income. */
double tmi_middle_quantile_of(const tmi_distribution *distribution, double p);

/* The share of the weight of values below x. */
double tmi_share_below(const tmi_distribution *distribution, double x);

/* ---- inequality ----
 *
 * Needs    a distribution that was made from the same values, weights and domain, of a positive total.
 * Gives    the estimate; and the linear value of each row, 0 outside the domain.
 * Errors   INVALID: the denominator is 0. The estimate is then NaN.                                                  */

/* Half of the mean difference between two units, divided by the mean: 0 (all alike) to 1. laeken's gini / 100. */
tamis_status tmi_gini(double *gini, double *linear, const tmi_distribution *distribution, const double *values,
                      const uint8_t *domain, size_t rows, tamis_error *err);

/* S80/S20: the total of values above the upper quintile divided by that of values up to the lower one. laeken's qsr. */
tamis_status tmi_s80s20(double *ratio, double *linear, const tmi_distribution *distribution, const double *values,
                        const uint8_t *domain, size_t rows, tamis_error *err);

/* The distance between the upper and the lower quartile, by tmi_quantile_of. The densities in its linear values are those of a
 * normal kernel, as for poverty. */
tamis_status tmi_iqr(double *range, double *linear, const tmi_distribution *distribution, const double *values,
                     const uint8_t *domain, size_t rows, tamis_error *err);

/* The share of the domain below `part` times the median of `whole`, the distribution of the rows of `everybody`, which contain
 * the domain. laeken's arpr / 100. Linear values are those of all rows of `everybody`. The densities in them are those of a
 * Gaussian kernel whose width is the standard deviation of the whole distribution times the -1/5 power of its weight (Osier). */
tamis_status tmi_poverty(double *rate, double *linear, double part, const tmi_distribution *distribution,
                         const tmi_distribution *whole, const double *values, const uint8_t *domain, const uint8_t *everybody,
                         size_t rows, tamis_error *err);

#endif
