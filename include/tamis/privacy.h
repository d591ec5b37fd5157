/* What sampling adds to a guarantee.
 *
 * A mechanism that is (epsilon, delta)-private for the people of a sample is more private for the people of the
 * population it was drawn from, as long as nobody outside knows who was sampled: most of the time a given person is
 * not in the sample at all. For a simple random sample without replacement of n out of N, and neighbours that differ
 * in one person's record,
 *
 *     eps_pop = log(1 + n/N (e^eps - 1)),    delta_pop = n/N delta.
 *
 * No better pair holds for every mechanism. Several releases from one sample are composed first and amplified once:
 * amplifying each and adding up claims too much privacy.                                                            */
#ifndef TAMIS_PRIVACY_H
#define TAMIS_PRIVACY_H

#include <tamis/num.h>

TAMIS_BEGIN

/* From the guarantee on the sample to the guarantee on the population.
 *
 * Needs    1 <= n <= N, eps >= 0, 0 <= delta <= 1; membership in the sample is secret.
 * Gives    enclosures of eps_pop and delta_pop; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    settings, Theorem 4.1; gain, Theorem 1 (docs/papers.md#settings-4-1, #gain-1).                            */
TAMIS_API tamis_status tamis_amplify_srs(tamis_bound *eps_pop, tamis_bound *delta_pop, int64_t N, int64_t n,
                                         const tamis_number *eps, const tamis_number *delta, tamis_error *err);

/* The other way: the largest budget on the sample that a target (eps, delta) on the population allows,
 *
 *     eps_n = log(1 + N/n (e^eps - 1)),    delta_n = min(1, N/n delta).
 *
 * Needs    1 <= n <= N, eps >= 0, 0 <= delta <= 1.
 * Gives    enclosures; `lower` is the budget that may be spent. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    gain, Theorem 1 (docs/papers.md#gain-1).                                                                  */
TAMIS_API tamis_status tamis_amplify_srs_inverse(tamis_bound *eps_n, tamis_bound *delta_n, int64_t N, int64_t n,
                                                 const tamis_number *eps, const tamis_number *delta,
                                                 tamis_error *err);

/* `count` releases from one simple random sample, release j being eps[j]-private on the sample (delta = 0): the losses
 * add up on the sample, then the sampling amplifies once.
 *
 * Needs    1 <= n <= N, count >= 1, each eps[j] >= 0.
 * Gives    an enclosure of log(1 + n/N (e^(eps[0] + eps[1] + ...) - 1)); `upper` is the number to publish. On failure
 *          [0, inf].
 * Cost     O(count).
 * Errors   INVALID, UNABLE.
 * Paper    settings, section 5.2 (docs/papers.md#settings-5-2).                                                      */
TAMIS_API tamis_status tamis_compose_srs(tamis_bound *eps_pop, int64_t N, int64_t n, const tamis_number *const *eps,
                                         size_t count, tamis_error *err);

TAMIS_END

#endif
