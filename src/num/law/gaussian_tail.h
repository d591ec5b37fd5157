/* Tails of exp(-x^2 / (2v)) over the integers from a >= 1 on, in units of the first term; for num/ alone. */
#ifndef TMI_NUM_LAW_GAUSSIAN_TAIL_H
#define TMI_NUM_LAW_GAUSSIAN_TAIL_H

#include "num/ball_arb.h"

/* Term by term, until the rest is below 2^-stop. */
void tmi_gaussian_tail_summed(arb_t z, const fmpz_t a, const arb_t v, slong stop, slong bits);

/* By Euler-Maclaurin with `order` corrections; first is an enclosure of the first term. */
void tmi_gaussian_tail_smooth(arb_t z, const fmpz_t a, const arb_t v, const arb_t first, ulong order, slong bits);

#endif
