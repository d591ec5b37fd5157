/* Sums of doubles that do not lose digits. */
#ifndef TMI_NUM_SUM_H
#define TMI_NUM_SUM_H

#include <math.h>

/* A compensated sum (Neumaier 1974): the error of each addition is kept and added at the end, so that the result is
 * rounded about once, however many terms there are and whatever cancels.                                             */
typedef struct tmi_sum {
    double sum, lost;
} tmi_sum;

static inline void tmi_sum_add(tmi_sum *s, double x)
{
    double sum = s->sum + x;
    s->lost += fabs(s->sum) >= fabs(x) ? (s->sum - sum) + x : (x - sum) + s->sum;
    s->sum = sum;
}

static inline double tmi_sum_value(tmi_sum s) { return s.sum + s.lost; }

#endif
