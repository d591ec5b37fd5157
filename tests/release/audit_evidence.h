/* Evidence that noise does not have the law that was declared for it: e-values.
 *
 * Under the declared law p, the product over independent draws k of q(k) / p(k) has mean 1 for every other law q, and so has the
 * average of such products over several q. By Markov's inequality it exceeds 1/alpha with probability at most alpha: no table of
 * critical values, no asymptotics, and draws may be added for as long as one likes.
 *
 * The laws q: the declared one with its scale multiplied, moved by one scale, and with its signs loaded. After n draws from a law
 * whose scale is off by the factor c, the logarithm is about n times the divergence c - 1 - log c (Laplace) or
 * (c^2 - 1)/2 - log c (Gaussian), less log 16. With EVIDENCE = log 1e14 this finds, by that formula,
 *
 *     a factor of 1/1000 or 10 in 7 draws,   1/10 or 4 in 30,   1/2 or 2 in 190,   0.9 or 1.1 in about 7000.
 *
 * Reuse of noise is judged by a second kind of evidence: half of a bet says that a draw repeats an earlier one.            */
#ifndef TESTS_RELEASE_AUDIT_EVIDENCE_H
#define TESTS_RELEASE_AUDIT_EVIDENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "num/law/noise.h"

/* At most MOST_VERDICTS e-values are judged in one run of the test: false alarms have a probability below 1e4 1e-14 = 1e-10. */
#define EVIDENCE (14 * M_LN10)
#define MOST_VERDICTS 10000

static const double ratios[] = {1e-3, 1e-2, 0.1, 0.25, 0.5, 0.7, 0.9, 1.1, 1.4, 2, 4, 10, 100, 1000};
#define RATIOS (sizeof ratios / sizeof *ratios)
#define ALTERNATIVES (RATIOS + 4)

typedef struct noise_law {
    tmi_gaussian gaussian;
    double scale; /* as declared */
} noise_law;

typedef struct evidence {
    double log[ALTERNATIVES]; /* of each product */
    int64_t draws;
} evidence;

/* log of the sum of exp(-k^2 / (2 s^2)) over the integers; beyond scale 2 the sum is s sqrt(2 pi) to 1e-34. */
static inline double log_of_sum(double s)
{
    double sum = 1;
    if (s > 2) return log(s) + 0.5 * log(2 * M_PI);
    for (int k = 1; k <= 30; k++) sum += 2 * exp(-k * k / (2 * s * s));
    return log(sum);
}

static inline double log_mass(const noise_law *law, double ratio, double k)
{
    const double s = law->scale * ratio;
    if (law->gaussian == TMI_ROUNDED_NORMAL) { /* far out the interval around k is a density times 1, to the first order */
        const double unit = M_SQRT1_2 / s, mass = (erfc((fabs(k) - 0.5) * unit) - erfc((fabs(k) + 0.5) * unit)) / 2;
        return mass > 1e-290 ? log(mass) : -k * k / (2 * s * s) - log(s * sqrt(2 * M_PI));
    }
    return law->gaussian ? -k * k / (2 * s * s) - log_of_sum(s) : log(tanh(0.5 / s)) - fabs(k) / s;
}

static inline void evidence_add(evidence *e, const noise_law *law, int64_t k)
{
    const double own = log_mass(law, 1, (double)k), shift = fmax(1, round(law->scale));
    size_t a = 0;
    for (; a < RATIOS; a++) e->log[a] += log_mass(law, ratios[a], (double)k) - own;
    e->log[a++] += log_mass(law, 1, (double)k - shift) - own;
    e->log[a++] += log_mass(law, 1, (double)k + shift) - own;
    e->log[a++] += log(k > 0 ? 1.5 : k < 0 ? 0.5 : 1);
    e->log[a++] += log(k < 0 ? 1.5 : k > 0 ? 0.5 : 1);
    e->draws++;
}

/* log of the average of the products. */
static inline double evidence_of(const evidence *e)
{
    double most = e->log[0], sum = 0;
    for (size_t a = 1; a < ALTERNATIVES; a++) most = fmax(most, e->log[a]);
    for (size_t a = 0; a < ALTERNATIVES; a++) sum += exp(e->log[a] - most);
    return most + log(sum / ALTERNATIVES);
}

/* What draw k adds to the evidence that it only repeats `earlier`: under independence the mean of its exponential is 1. */
static inline double evidence_of_repeat(const noise_law *law, int64_t k, int64_t earlier)
{
    return log(k == earlier ? 0.5 + 0.5 * exp(-log_mass(law, 1, (double)k)) : 0.5);
}

#endif
