/* A bound for a number, chosen from public candidates b_0 < ... < b_J = beyond.
 *
 * Candidate j has the loss
 *
 *     loss(j) = N(j) + worth * j,        N(j) = rows with a value above b_j,
 *
 * and is chosen with probability proportional to exp(-rate loss(j)). Each candidate is twice the one before, so `worth` says how
 * many rows a doubling of the bound, and with it of the noise, has to spare from being clamped. It is public, as is everything
 * but N. The number of all rows does not enter.
 *
 * Privacy. Let one unit change, which has up to K rows before and up to K rows after (replaced, added or removed), and let
 * D(j) = N'(j) - N(j) be the rows above b_j that come less those that go. Then max D - min D <= K. For let D(i) = p and
 * D(k) = -q, p, q >= 0. If i < k, the q rows or more that go from above b_k are above b_i too, so that p + q or more come above
 * b_i; if k < i, the p rows or more that come above b_i are above b_k too, so that p + q or more go from above b_k. Either way
 * p + q <= K; and if all D have one sign, |D| <= K does. The probability of a candidate changes by a factor
 *
 *     exp(-rate D(j)) * sum exp(-rate loss) / sum exp(-rate loss'),   in exp(-rate D(j)) * [exp(rate min D), exp(rate max D)],
 *
 * which lies between exp(-rate K) and exp(rate K): with rate = epsilon / K the choice is epsilon-private. More than that, the
 * logarithms of these factors lie, over the candidates, in a range of length epsilon, so that it is a selection in the sense of
 * composition/concentrated.h. (A rank's distance from a target, in the place of N, would need epsilon / 2.)
 *
 * Accuracy. With probability 1 - beta the loss of what is chosen is at most the smallest one plus log((J + 1) / beta) / rate,
 * whatever the data. The smallest is at most worth * J, that of `beyond`, above which no row counts; so the rows above the
 * chosen bound, unless that is `beyond`, are at most worth * (J - j) + log((J + 1) / beta) / rate, with probability 1 - beta. */
#ifndef TMI_MECH_QUANTILE_BOUND_H
#define TMI_MECH_QUANTILE_BOUND_H

#include "mech/quantile/inverse.h"

/* The candidate that belongs to the uniform number u, whose first digits are drawn; above[j] = N(j), j < count.
 *
 * Errors   SYSTEM, those of tmi_uniform_more; *candidate is then the last one. */
tamis_status tmi_bound_choose(size_t *candidate, const tmi_int128 *above, size_t count, int64_t worth, const tamis_number *rate,
                              tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err);

#endif
