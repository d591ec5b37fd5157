/* Sums of terms whose ratios are known: how tails of the hypergeometric and the binomial law are added up. */
#ifndef TMI_NUM_RATIO_H
#define TMI_NUM_RATIO_H

#include "num/ball.h"

/* Terms t_0 = 1, t_{j+1} = t_j * factor * (a - j)(b - j) / ((c + j)(d + j)) for j = 0, 1, ..., until a or b is used up.
 * A law with a single pair (the binomial) sets `single`: b and d are then not looked at.
 *
 * Needs    0 <= a, b <= 2^40, 1 <= c, d <= 2^41, factor > 0, and the first ratio at most 1: the start is at the mode or
 *          beyond it. All ratios then fall, so what is left out is at most a geometric series.                      */
typedef struct tmi_ratios {
    int64_t a, b, c, d;
    bool single;
    const tamis_number *odds; /* factor = odds, or 1 / odds if inverse; NULL: 1 */
    bool inverse;
} tmi_ratios;

/* Up to this many asked bits the sum runs in long double, with a proved bound of its error; above in balls. */
#define TMI_BITS_FAST 64

/* t_0 + t_1 + ... */
void tmi_ratios_sum(tmi_ball *sum, const tmi_ratios *ratios, long bits);

/* t_j becomes t_{j+1}. */
void tmi_ratios_step(tmi_ball *term, const tmi_ratios *ratios, const tmi_ball *factor, int64_t j, long bits);
void tmi_ratios_factor(tmi_ball *factor, const tmi_ratios *ratios, long bits);

/* The most that t_{j+1} + t_{j+2} + ... can be, given t_j: t_j r / (1 - r) with r the next ratio; [0, that]. Unknown if
 * r is not certainly below 1. */
void tmi_ratios_rest(tmi_ball *rest, const tmi_ball *term, const tmi_ratios *ratios, const tmi_ball *factor, int64_t j,
                     long bits);

/* Steps until the terms end. */
int64_t tmi_ratios_length(const tmi_ratios *ratios);

#endif
