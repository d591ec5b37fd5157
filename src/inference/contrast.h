/* Differences, quotients and contrasts: numbers made of other statistics' numbers.
 *
 * To first order a contrast is a sum over its numbers of f (x - r y), f its weight, divided by the denominator of a ratio. That
 * is its linearised variable, a function of a row: sampling errors are those of its sum, never the sum of the errors of the
 * numbers, which forgets that they vary together. Noise is added up integer by integer over the tables that the numbers share.
 *
 * Sampling variance. Own squares: those of the numbers, and in each stratum 2 f f' (a P - a/n E E'), P the sum of products of two
 * linearised variables and E their sums. In disjoint groups P is 0; of two indicators of one column it follows from their
 * counts, beside a count from the other number; of two columns from their products, if some table has both
 * (schedule/targets.c). A measured one is that of the contrast's own second stage. Elsewhere the standard error of a sum is at
 * most the sum of the standard errors, and the result says so.
 *
 * Intervals. Of counts and totals as those of totals. Of means, shares and ratios from their own intervals (Zou and Donner 2008):
 * the distances of the ends from the estimate, added up as squares, and scaled such that they are those of the contrast's own
 * error where denominators are well known. A quotient's interval has all R for which 0 is in that of r - R r'. */
#ifndef TMI_INFERENCE_CONTRAST_H
#define TMI_INFERENCE_CONTRAST_H

#include "inference/group_sums.h"
#include "inference/model_fit.h"

/* One number of a contrast's group. */
typedef struct tmi_contrast_term {
    size_t statistic, cell;
    const tmi_group_sums *sums; /* NULL: the number is public, and neither its noise nor its sampling error enters */
    tmi_form_moments form;
    double value;  /* of a sum, a mean, a share or a ratio */
    double ratio;  /* r; 0 of a sum */
    double weight; /* the derivative of the contrast by the number; of a quotient at its noisy value */
    double factor; /* the same by x - r y */
    double turn;   /* of a model: how far the sum of f (x - r y) moves with the coefficient, by rows of the cell */
} tmi_contrast_term;

typedef struct tmi_contrast_sums {
    const tmi_inference *inference;
    size_t statistic;
    tmi_statistic_sums of[2]; /* of the statistics that are compared; empty where they are public */
    tmi_contrast_term *terms; /* of the group that was asked for last */
    size_t term_count;
    tmi_model_fit fit; /* of a model, in the group that was asked for last; else empty */
    size_t fitted;     /* which one, from 1; 0: none */
} tmi_contrast_sums;

tamis_status tmi_contrast_sums_make(tmi_contrast_sums *sums, const tmi_inference *inference, size_t contrast, tamis_error *err);
void tmi_contrast_sums_clear(tmi_contrast_sums *sums);

/* Fills `terms` for a group; of a model for one of its coefficients in a group, with r the fitted mean of a cell. Where noise
 * leaves no denominator, a number and its weight are 0. */
void tmi_contrast_take_group(tmi_contrast_sums *sums, size_t group);

/* The variance that a simple random sample of the same mean weight would have (tmi_simple_variance); and that of the noise, as
 * if the numbers shared no table: what shapes the second stage. Both of the group that was taken. */
double tmi_contrast_simple_variance(const tmi_contrast_sums *sums);
double tmi_contrast_rough_noise(const tmi_contrast_sums *sums);

/* Of two statistics of the same rows: whether how they vary together follows from their own moments, since they are indicators of
 * one column, or one is a count; and the sum of products of their linearised variables, from moments of the group; NaN where it
 * does not. */
bool tmi_contrast_is_related(const tmi_contrast_sums *sums);
double tmi_contrast_product(const tmi_contrast_sums *sums, const double *first, const double *second);

/* The same as a combination of the moments of the contrast itself, whose columns are those of both. */
void tmi_contrast_products(double combination[TMI_MOMENTS], const tmi_contrast_sums *sums);

/* Fills the results of all contrasts but changes (waves.h); those of the numbers that they compare are read. Errors: UNABLE,
 * SYSTEM. */
tamis_status tmi_read_contrasts(tmi_results *results, const tmi_inference *inference, tamis_error *err);

#endif
