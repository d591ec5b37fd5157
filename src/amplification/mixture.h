/* The theorem behind all amplification by sampling, in balls.
 *
 * Fix one unit. With probability w_0 it is in the sample, and with probability w_k it is missing in the k-th way. Let
 * a be the law of the answer if the unit is in the sample, a' the same after its value changed, c_k the law if it is
 * missing in the k-th way; the design does not look at values, so the c_k are the same in both populations:
 *
 *     P = w_0 a + sum w_k c_k,      P' = w_0 a' + sum w_k c_k.
 *
 * Suppose a <= e^e a' up to mass d, and a <= e^(x_k) c_k up to mass d_k, in both orders. Then P <= G P' up to mass D:
 *
 *     G = (w_0 + S) / (w_0 e^-e + S),   S = sum w_k e^-x_k,
 *     D = G w_0 e^-e d + (G - 1) sum w_k e^-x_k d_k.
 *
 * Proof. P - G P' = w_0 a - G w_0 a' - (G-1) sum w_k c_k, where a' >= e^-e (a - r) and c_k >= e^-x_k (a - r_k) with
 * masses d and d_k of r and r_k; the factor of a is w_0 - G w_0 e^-e - (G-1) S = 0, and D is what is left.
 *
 * One way of being missing and e = x_1 gives G = 1 + w_0 (e^e - 1) and D = w_0 (b d + (1-b) d_1), b = G e^-e: simple
 * random sampling. x_k = infinity gives G = e^e: no amplification. If units are added or removed, a' is the law in the
 * frame without the unit; the reverse order then loses less than G and D.                                            */
#ifndef TMI_AMPLIFICATION_MIXTURE_H
#define TMI_AMPLIFICATION_MIXTURE_H

#include "num/ball.h"

typedef struct tmi_outcome {
    tmi_ball weight;
    tmi_ball loss; /* e or x_k */
    tmi_ball slip; /* e^-e d or e^-x_k d_k */
    bool far;      /* the loss is infinite; loss and slip are ignored */
} tmi_outcome;

void tmi_outcome_init(tmi_outcome *outcome);
void tmi_outcome_clear(tmi_outcome *outcome);

/* eps = log G and delta = D, which may exceed 1; the loss of `present` is finite. */
void tmi_amplify(tmi_ball *eps, tmi_ball *delta, const tmi_outcome *present, const tmi_outcome *missing, size_t count, long bits);

/* log(1 + p (e^eps - 1)) for p in [0, 1]: the loss that remains of eps >= 0 after sampling with probability p. */
void tmi_amplified_loss(tmi_ball *z, const tmi_ball *p, const tmi_ball *eps, long bits);

/* e^-(k eps) times the delta of k steps of an (eps, delta) promise at k eps: delta (e^-eps + ... + e^-(k eps)). */
void tmi_slip_of_steps(tmi_ball *z, const tmi_ball *eps, const tmi_ball *delta, int64_t k, long bits);

#endif
