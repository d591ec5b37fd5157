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

/* What sampling leaves of a loss, whatever the design. A unit is in the sample with probability `inclusion`. If it is,
 * a change of its value is (loss, delta)-private; and a sample with the unit and one without it, drawn together such
 * that they differ little, are (loss_missing, delta_missing)-private against each other. With e and x for the losses
 * and q for the inclusion probability,
 *
 *     e^eps_pop = (q + (1-q) e^-x) / (q e^-e + (1-q) e^-x),
 *     delta_pop = e^eps_pop q e^-e delta + (e^eps_pop - 1) (1-q) e^-x delta_missing.
 *
 * Equal losses give simple random sampling. tamis_amplify_design (<tamis/amplify.h>) takes the losses from a design.  */
typedef struct tamis_amplification {
    const tamis_number *inclusion;
    const tamis_number *loss, *delta;
    const tamis_number *loss_missing, *delta_missing; /* loss_missing = NULL: infinite */
} tamis_amplification;

/* Needs    0 < inclusion <= 1, losses from 0 to 10^6, deltas from 0 to 1; selection does not look at the protected
 *          values, and membership in the sample is secret.
 * Gives    enclosures; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    the proof is in src/amplification/mixture.h; settings, Theorem 4.1 is a case (docs/papers.md#settings-4-1).       */
TAMIS_API tamis_status tamis_amplify(tamis_bound *eps_pop, tamis_bound *delta_pop, const tamis_amplification *a,
                                     tamis_error *err);

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

/* The whole profile of Laplace noise of scale 1/eps0 on an answer of sensitivity 1, under simple random sampling: the
 * smallest delta_pop at eps_pop. The sample's profile is read at eps_sample = log(1 + N/n (e^eps_pop - 1)):
 *
 *     delta_pop = n/N max(0, 1 - e^((eps_sample - eps0)/2)).
 *
 * Needs    1 <= n <= N, eps0 >= 0, eps_pop >= 0.
 * Gives    enclosures; `upper` is the number to publish. On failure [0, inf] and [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE.
 * Paper    settings, Theorem 4.1 on the whole profile (docs/papers.md#settings-4-1).                                 */
TAMIS_API tamis_status tamis_amplify_srs_laplace(tamis_bound *eps_sample, tamis_bound *delta_pop, int64_t N, int64_t n,
                                                 const tamis_number *eps0, const tamis_number *eps_pop,
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
