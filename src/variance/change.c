#include "variance/change.h"

#include <math.h>

#include "variance/group_totals.h"
#include "variance/predictive.h"

/* The grid of V relative to V1 + V2. */
enum { GRID = 39, NODES = 6 };
#define STEP 0.05

/* Gauss and Laguerre: a Laplace variable is normal given its variance, which is exponential. */
static const double nodes[NODES] = {0.2228466041792607, 1.188932101672623, 2.992736326059314,
                                    5.775143569104511,  9.837467418382590, 15.98287398060170};
static const double weights[NODES] = {0.4589646739499636,  0.4170008307721210,    0.1133733820740450,
                                      0.01039919745314907, 0.0002610172028149321, 8.985479064296212e-7};

static double part_at(size_t i) { return STEP * (double)(i + 1); }

/* The variances that the noise of a wave may have, and how likely they are; returns how many. */
static size_t variances_of(double list[NODES], double likely[NODES], const tmi_total_noise *n)
{
    for (size_t k = 0; k < NODES; k++) {
        list[k] = 2 * n->scale * n->scale * nodes[k];
        likely[k] = weights[k];
    }
    if (!n->gaussian) return NODES;
    list[0] = n->scale * n->scale;
    likely[0] = 1;
    return 1;
}

/* The logarithm of how likely all differences are if the sampling variance is V. */
static double likelihood_of(const tmi_group_change *c, double V)
{
    double first[NODES], second[NODES], p[NODES], q[NODES], sum = 0;
    const size_t m = variances_of(first, p, &c->noise[0]), n = variances_of(second, q, &c->noise[1]);
    for (size_t g = 0; g < c->count; g++) {
        double density = 0;
        if (!(c->shares[g] > 0)) continue;
        const double D2 = c->differences[g] * c->differences[g];
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                const double variance = V * c->shares[g] + first[i] + second[j];
                density += p[i] * q[j] * exp(-D2 / (2 * variance)) / sqrt(variance);
            }
        sum += log(fmax(density, 1e-300));
    }
    return sum;
}

double tmi_change_variance(const tmi_group_change *c)
{
    const double z = tmi_predictive_z(c->confidence);
    double posterior[GRID], deviations[GRID], most = -INFINITY, sum = 0;
    for (size_t i = 0; i < GRID; i++) {
        const double prior = 1 - fabs(part_at(i) - 1);
        posterior[i] = likelihood_of(c, part_at(i) * c->apart) + log(prior);
        deviations[i] = sqrt(part_at(i) * c->apart + c->around);
        most = fmax(most, posterior[i]);
    }
    for (size_t i = 0; i < GRID; i++) sum += posterior[i] = exp(posterior[i] - most);
    for (size_t i = 0; i < GRID; i++) posterior[i] /= sum;
    const double h = tmi_predictive_half_width(posterior, deviations, GRID, z, c->confidence);
    return fmax(h * h / (z * z) - c->around, part_at(0) * c->apart);
}

double tmi_expected_change_variance(const tmi_group_change *c, double variance)
{
    double differences[TMI_CHANGE_GROUPS], shares[TMI_CHANGE_GROUPS], noise = 0;
    tmi_group_change expected = *c;
    for (size_t k = 0; k < 2; k++) noise += c->noise[k].scale * c->noise[k].scale * (c->noise[k].gaussian ? 1 : 2);
    for (size_t g = 0; g < c->count; g++) {
        shares[g] = 1 / (double)c->count;
        differences[g] = sqrt(variance * shares[g] + noise);
    }
    expected.differences = differences;
    expected.shares = shares;
    return tmi_change_variance(&expected);
}
