/* Mechanisms: what an outsider can learn from a noisy answer, exactly.
 *
 * A mechanism is judged by pairs of laws: the law P of its answer if a person has one value, the law Q if the person
 * has another. It is (eps, delta)-private when P(S) - e^eps Q(S) <= delta for every set S and every such pair, in both
 * orders.                                                                                                           */
#ifndef TAMIS_MECH_H
#define TAMIS_MECH_H

#include <tamis/num.h>

TAMIS_BEGIN

/* The smallest delta for one pair of Laplace laws, in this order: P with centre `shift` and scale b1, Q with centre 0
 * and scale b2. The two scales differ when the noise is calibrated with a smooth sensitivity. For privacy take the
 * larger delta of both orders (swap b1 and b2).
 *
 * Needs    eps >= 0, b1 > 0, b2 > 0; shift may have any sign, which does not matter.
 * Gives    an enclosure of sup over sets S of P(S) - e^eps Q(S), within [0, 1]; exactly 0 when b1 = b2 and
 *          |shift| <= b1 eps. `upper` is the number to publish. On failure [0, 1].
 * Cost     O(1).
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    gain, smooth sensitivity of the median (docs/papers.md#gain-smooth).                                      */
TAMIS_API tamis_status tamis_laplace_pair_delta(tamis_bound *delta, const tamis_number *eps, const tamis_number *shift,
                                                const tamis_number *b1, const tamis_number *b2, tamis_error *err);

TAMIS_END

#endif
