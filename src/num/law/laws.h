/* The laws of sampling and of noise, as balls. Each function encloses one probability, computed with about `bits`
 * bits; a mass or a tail keeps its relative accuracy however small it is. The parameters have been checked by the
 * caller (tmi_check_...); k may be any integer.                                                                      */
#ifndef TMI_NUM_LAW_LAWS_H
#define TMI_NUM_LAW_LAWS_H

#include <tamis/experimental/probability.h>

#include "num/ball.h"
#include "num/number.h"

/* Which part of a law: one point, {X >= k} or {X <= k}. */
typedef enum tmi_law_part { TMI_MASS, TMI_AT_LEAST, TMI_AT_MOST } tmi_law_part;

void tmi_log_factorial(tmi_ball *z, int64_t n, long bits);
void tmi_log_binomial(tmi_ball *z, int64_t n, int64_t k, long bits); /* 0 <= k <= n */

/* Ones among `sample` units drawn without replacement from `population` units of which `ones` are ones. */
typedef struct tmi_hypergeometric {
    int64_t population, ones, sample;
} tmi_hypergeometric;

tamis_status tmi_check_hypergeometric(const tmi_hypergeometric *law, tamis_error *err);
void tmi_hypergeometric_part(tmi_ball *z, const tmi_hypergeometric *law, tmi_law_part part, int64_t k, long bits);

/* Ones among n independent trials. */
typedef struct tmi_binomial {
    int64_t trials;
    const tamis_number *probability;
} tmi_binomial;

tamis_status tmi_check_binomial(const tmi_binomial *law, tamis_error *err);
tamis_status tmi_binomial_part(tmi_ball *z, const tmi_binomial *law, tmi_law_part part, int64_t k, long bits, tamis_error *err);

/* Ones among independent trials of unequal probabilities. */
typedef struct tmi_trials {
    const tamis_trials *groups;
    size_t count;
} tmi_trials;

tamis_status tmi_check_trials(const tmi_trials *law, tamis_error *err);
tamis_status tmi_trials_part(tmi_ball *z, const tmi_trials *law, tmi_law_part part, int64_t k, long bits, tamis_error *err);

tamis_status tmi_check_scale(const tamis_number *scale, tamis_error *err); /* positive */

/* P(k) proportional to exp(-|k| / scale), and to exp(-k^2 / (2 variance)). */
void tmi_discrete_laplace_part(tmi_ball *z, const tamis_number *scale, tmi_law_part part, int64_t k, long bits);
void tmi_discrete_gaussian_part(tmi_ball *z, const tamis_number *variance, tmi_law_part part, int64_t k, long bits);

/* exp(-k^2 / (2 variance)) summed over all integers k. */
void tmi_discrete_gaussian_total(tmi_ball *z, const tamis_number *variance, long bits);

/* P(Z >= x) for a standard normal Z. */
void tmi_normal_at_least(tmi_ball *z, const tmi_ball *x, long bits);

#endif
