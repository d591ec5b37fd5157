/* A count to which one person adds a one with probability `more` or with probability `less`, on top of the ones of the others:
 * the pair of laws behind every anonymised bit.
 *
 * Let C be the count of the others, a sum of independent bits, c its masses, G(t) = P(C >= t), and E = e^eps. A sum of
 * independent bits is log-concave, so c(t-1)/c(t) grows with t, and so does the likelihood ratio of the two laws
 *
 *     (more c(t-1) + (1-more) c(t)) / (less c(t-1) + (1-less) c(t)).
 *
 * The most revealing sets are therefore the results from some t on, and
 *
 *     delta(eps) = max over t of A c(t-1) - (E-1) G(t),    A = more - E less,
 *
 * the largest t of gain(t) = A c(t-1) - B c(t) > 0 on, B = E (1-less) - (1-more). For A <= 0 it is 0. The other order, the
 * results up to some t of the person with `less`, is the mirror image: all probabilities are replaced by one minus them. */
#ifndef TMI_COLLECT_ANONYMOUS_SHIFT_H
#define TMI_COLLECT_ANONYMOUS_SHIFT_H

#include <tamis/experimental/probability.h>

#include "num/ball.h"
#include "num/law/laws.h"

#define TMI_SHIFT_GROUPS 2

/* Borrowed numbers; 0 <= less < more <= 1. If more and less are NULL they are 1/(1 + e^-local) and 1/(1 + e^local). */
typedef struct tmi_shift {
    tamis_trials others[TMI_SHIFT_GROUPS];
    size_t count;
    const tamis_number *more, *less, *local;
} tmi_shift;

/* An epsilon, given by itself or by its exponential; one of them is NULL. */
typedef struct tmi_loss_at {
    const tamis_number *eps, *exp_eps;
} tmi_loss_at;

/* E and E - 1. */
void tmi_loss_at_balls(tmi_ball *e, tmi_ball *excess, const tmi_loss_at *at, long bits);

/* More - E less: its sign, where it is certain; 0 otherwise, and if it is 0. */
int tmi_shift_gains(const tmi_shift *shift, const tmi_loss_at *at);

/* delta, computed with about `bits` bits.
 *
 * Errors   SYSTEM (memory), UNABLE.                                                                                  */
tamis_status tmi_shift_delta(tmi_ball *delta, const tmi_shift *shift, const tmi_loss_at *at, long bits, tamis_error *err);

/* What one question needs beside the law of the others: A, B and E - 1, and about where the most revealing results begin. */
typedef struct tmi_shift_line {
    tamis_bound a, b, excess;
    double guess;
} tmi_shift_line;

void tmi_shift_line_at(tmi_shift_line *line, const tmi_shift *shift, const tmi_loss_at *at);

/* The same by sums in doubles with their proved error (shift_sums.c), a hundred times faster. {0, 1} where they would be long. */
tamis_status tmi_shift_sums(tamis_bound *delta, const tmi_shift *shift, const tmi_loss_at *at, tamis_error *err);

/* The same as doubles, with as many bits as a relative width of `width` takes; never above 1. */
tamis_status tmi_shift_bound(tamis_bound *delta, const tmi_shift *shift, const tmi_loss_at *at, double width, tamis_error *err);

#endif
