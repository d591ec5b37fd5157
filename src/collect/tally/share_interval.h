/* Exact intervals of a share from randomized reports.
 *
 * Of n reports, c have a one. If k of the n people have a one, c is the sum of two binomials, Bin(k, 1 - lie) + Bin(n - k,
 * lie_zero). Which k are possible depends on where the people come from:
 *
 *   a large population with share p    each report is a one with probability lie_zero + p (1 - lie - lie_zero), independently
 *   a simple random sample of N        k is hypergeometric, K ones among N
 *   the people who reported, N = n     k = K is fixed
 *
 * A share is in the interval unless a count as large as c, or as small, has probability at most (1 - confidence) / 2 under it.
 * All three laws increase stochastically with the share, so that the ends are found by bisection. A share is left out only if
 * enclosures prove that the test rejects it: the interval covers at every share with at least the stated probability. */
#ifndef TMI_COLLECT_TALLY_SHARE_INTERVAL_H
#define TMI_COLLECT_TALLY_SHARE_INTERVAL_H

#include <tamis/experimental/bound.h>

#include "base/error.h"

typedef struct tmi_share_case {
    int64_t reports, ones;
    const tamis_number *lie, *lie_zero; /* each in (0, 1), their sum below 1 */
    int64_t population;                 /* 0: large; else at least `reports` */
    const tamis_number *confidence;     /* above 0, at most 1 - 1e-9 */
} tmi_share_case;

/* Gives    0 <= lower <= upper <= 1, rounded outwards; {0, 1} on failure. A count that every share makes implausible gives the
 *          nearest share.
 * Cost     some dozens of tails; with a population beyond the reports, some hundreds.
 * Errors   INVALID, UNABLE (a law too wide), SYSTEM. */
tamis_status tmi_share_interval(tamis_bound *share, const tmi_share_case *c, tamis_error *err);

/* Shared by the two files of intervals: (1 - confidence) / 2 rounded down. A share whose probability is at most this is
 * rejected. */
double tmi_share_half(const tamis_number *confidence);

/* The numbers K of ones among population >= reports that are not rejected. */
tamis_status tmi_share_interval_finite(int64_t *lower, int64_t *upper, const tmi_share_case *c, tamis_error *err);

#endif
