/* Integer noise X: its standard deviation and its tail. */
#ifndef TMI_NUM_LAW_NOISE_H
#define TMI_NUM_LAW_NOISE_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/num.h>

/* Which Gaussian noise; Laplace noise is none, so that this may be asked like a bool. DISCRETE: P(k) proportional to exp(-k^2 /
 * (2 scale^2)). ROUNDED: a normal number of this standard deviation, rounded to the nearest integer. */
typedef enum tmi_gaussian { TMI_NOT_GAUSSIAN, TMI_DISCRETE_GAUSSIAN, TMI_ROUNDED_NORMAL } tmi_gaussian;

const char *tmi_noise_name(tmi_gaussian gaussian);  /* "discrete_laplace", ...: as certificates name them */
const char *tmi_noise_words(tmi_gaussian gaussian); /* "discrete Laplace", ... */

/* False if there is none of this name. */
bool tmi_noise_of_name(tmi_gaussian *gaussian, const char *name);

/* The standard deviation of the law with this scale. */
double tmi_noise_sd(const tamis_number *scale, tmi_gaussian gaussian);

/* P(X = 0), to a few units of the last digit. */
double tmi_noise_zero(const tamis_number *scale, tmi_gaussian gaussian);

/* Integer noise X with P(k) proportional to exp(-|k| / scale), or Gaussian noise, times a factor; `count` of them, all
 * independent. */
typedef struct tmi_noise_part {
    double factor, scale;
    tmi_gaussian gaussian;
    double count;
} tmi_noise_part;

/* The variance of factor times the sum of the noises, that of the discrete law. */
double tmi_noise_part_variance(tmi_noise_part part);

/* P(X >= k), k a whole number of at least 1; the factor does not count. */
double tmi_noise_at_least(tmi_noise_part part, double k);

/* The variance of the sum of all parts, without the sampling error. */
double tmi_noise_variance(const tmi_noise_part *parts, size_t count);

/* The z with P(|Z| <= z) = confidence for a standard normal Z. */
double tmi_normal_margin(double confidence);

/* What an interval of the given confidence adds to a variance that was estimated with noise: a third of the normal quantile,
 * times the noise's standard deviation. With less the interval would cover too little where the variance is small beside
 * its noise; with this it covers what it says whatever the variance is (tests/inference/variance.c computes the worst). */
double tmi_variance_margin(double confidence);

#endif
