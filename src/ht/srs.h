/* The Horvitz-Thompson total of 0/1 values under simple random sampling, seen as a mechanism; for mech/ alone.
 *
 * Everything is said on the scale of the sample count: with c = N/n the total is c (Y_t + W), Y_t the ones in the sample
 * of a population with t ones, W the noise divided by c. With G the law of W, F_t(z) = E G(z - Y_t), and for a person
 * whose value changes from 0 to 1,
 *
 *     F_t(z) - F_{t+1}(z) = f h_t(z),    f h_t(z) = sum_y P_t(y) (n-y)/(N-t) (G(z-y) - G(z-1-y)),
 *
 *     g(t; z) = F_t(z) - e^eps F_{t+1}(z) = e^eps f h_t(z) - (e^eps - 1) F_t(z).
 *
 * The likelihood ratio is monotone in z, so the smallest delta of the pair (t, t+1) in this order is sup_z g(t; z); the
 * other order of the pair is the same order of the pair (N-1-t, N-t).                                               */
#ifndef TMI_HT_SRS_H
#define TMI_HT_SRS_H

#include <tamis/experimental/ht.h>

#include "num/ball.h"
#include "num/law/law.h"

typedef struct tmi_ht_srs {
    int64_t N, n;
    tamis_noise_kind noise;
    const tamis_number *scale; /* on the sample count; NULL without noise */
    const tamis_number *eps;   /* either eps, or e^eps */
    const tamis_number *exp_eps;
} tmi_ht_srs;

bool tmi_ht_is_lattice(tamis_noise_kind noise);

/* e^eps and e^eps - 1. */
void tmi_ht_factor(tmi_ball *E, tmi_ball *excess, const tmi_ht_srs *s, long bits);

/* The law of the noise at a row of points one apart: value[i] is G(z - first - i), or the density or mass there, for
 * i = 0 .. count-1. A density is enclosed up to a factor between 1 and 1.01. On a lattice z is the integer `k`. */
typedef struct tmi_ht_noise {
    const tmi_ht_srs *s;
    tmi_law law;   /* discrete Gaussian and Laplace: the masses, */
    tmi_ball *sum; /* and P(W <= law.first + i) */
} tmi_ht_noise;

tamis_status tmi_ht_noise_set(tmi_ht_noise *noise, const tmi_ht_srs *s, long bits, tamis_error *err);
void tmi_ht_noise_clear(tmi_ht_noise *noise);
void tmi_ht_noise_cdf(tmi_ball *value, size_t count, const tmi_ht_noise *noise, const tmi_ball *z, int64_t k, int64_t first,
                      long bits);
void tmi_ht_noise_density(tmi_ball *value, size_t count, const tmi_ht_noise *noise, const tmi_ball *z, int64_t k, int64_t first,
                          long bits);

/* sup_z g(t; z), certified to `width`; 0 <= t < N. */
tamis_status tmi_ht_pair_delta(tamis_bound *delta, const tmi_ht_srs *s, int64_t t, double width, tamis_error *err);

/* The smallest eps with delta(eps) = 0 for totals between low and high; the scale of s is used, eps is not. */
tamis_status tmi_ht_pure(tamis_bound *eps, const tmi_ht_srs *s, int64_t low, int64_t high, tamis_error *err);

/* The smallest eps at delta without noise, in rational numbers; for collections that are small. */
bool tmi_ht_is_small(const tamis_ht_srs *s);
tamis_status tmi_ht_exact_epsilon(tamis_bound *eps, const tamis_ht_srs *s, const tamis_number *delta, tamis_error *err);

/* The largest sup_z g(t; z) over low <= t <= high < N. `worst` is a t that attains it, -1 if it is 0; `blocks` counts the
 * blocks of totals that were excluded by a bound. With a target, values up to its lower end are not distinguished, and one
 * above its upper end ends the search; TMI_HT_NO_TARGET asks for the value itself. On failure delta still encloses. */
#define TMI_HT_NO_TARGET ((tamis_bound){0, 1})
#define TMI_HT_TINY 1e-275 /* values below this one are treated as indistinguishable from 0 */
tamis_status tmi_ht_search(tamis_bound *delta, int64_t *worst, int64_t *blocks, const tmi_ht_srs *s, int64_t low, int64_t high,
                           tamis_bound target, tamis_error *err);

#endif
