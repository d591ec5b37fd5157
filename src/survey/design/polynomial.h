/* Joint probabilities of samples of n heads (see tree.h) by leaving two units out.
 *
 * With A(z) = prod (1 + w_k z) and B(z) = sum over l of pi_l z prod over k != l of (1 + w_k z), the samples of n
 * heads that hold both k and l weigh w_k w_l [z^(n-2)] A_kl(z) without mark, and with a mark
 *     w_k w_l [z^(n-2)] B_kl(z) + (pi_k w_l + pi_l w_k) [z^(n-2)] A_kl(z),
 * where A_kl, B_kl leave k and l out; all samples weigh [z^n] A or [z^n] B. A unit is left out by dividing by 1 + w
 * z, from the lowest power up. That may lose many bits: the caller looks at the balls and asks again with more.      */
#ifndef TMI_SURVEY_DESIGN_POLYNOMIAL_H
#define TMI_SURVEY_DESIGN_POLYNOMIAL_H

#include "survey/design/pps.h"

/* pij[i * count + j] for i < j, of the open units with these odds; pi is NULL without mark.
 *
 * Errors   SYSTEM, UNABLE (too much work).                                                                           */
tamis_status tmi_polynomial_joint(tmi_ball *pij, const tmi_ball *odds, const tmi_ball *pi, size_t units, int64_t n,
                                  const size_t *open, size_t count, long bits, tamis_error *err);

#endif
