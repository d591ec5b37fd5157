/* Complex balls: two real ones, Arb's acb_t under our own name. Every result is an enclosure, as in num/ball.h. */
#ifndef TMI_NUM_COMPLEX_H
#define TMI_NUM_COMPLEX_H

#include "num/ball.h"

typedef struct tmi_complex {
    tmi_ball re, im;
} tmi_complex;

void tmi_complex_init(tmi_complex *x);
void tmi_complex_clear(tmi_complex *x);
tmi_complex *tmi_complex_row(size_t count);                /* `count` zeros; NULL if memory runs out */
void tmi_complex_row_free(tmi_complex *row, size_t count); /* of NULL is fine */
void tmi_complex_set(tmi_complex *z, const tmi_complex *x);
void tmi_complex_set_int(tmi_complex *z, int64_t x);

void tmi_complex_add(tmi_complex *z, const tmi_complex *x, const tmi_complex *y, long bits);
void tmi_complex_add_int(tmi_complex *z, const tmi_complex *x, int64_t y, long bits);
void tmi_complex_sub(tmi_complex *z, const tmi_complex *x, const tmi_complex *y, long bits);
void tmi_complex_mul(tmi_complex *z, const tmi_complex *x, const tmi_complex *y, long bits);
void tmi_complex_mul_ball(tmi_complex *z, const tmi_complex *x, const tmi_ball *y, long bits);
void tmi_complex_div(tmi_complex *z, const tmi_complex *x, const tmi_complex *y, long bits);
void tmi_complex_exp(tmi_complex *z, const tmi_complex *x, long bits);
void tmi_complex_power(tmi_complex *z, const tmi_complex *x, uint64_t n, long bits);

/* The sum of exp(-(k + w)^2 / (2 variance)) over all integers k, divided by the same for w = 0. */
void tmi_complex_theta(tmi_complex *z, const tmi_complex *w, const tmi_ball *variance, long bits);

#endif
