/* A ball is a real number known to lie within an interval; every operation returns an interval that certainly contains the
 * result. It is Arb's arb_t under our own name: no other room sees Arb.
 *
 * tmi_certify turns a formula in balls into a tamis_bound: it evaluates the formula with more and more bits until the
 * enclosure is as narrow as asked, or says UNABLE.                                                                   */
#ifndef TMI_NUM_BALL_H
#define TMI_NUM_BALL_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/experimental/bound.h>

#include "base/error.h"

typedef struct tmi_ball {
    uint64_t words[6]; /* an arb_struct; the size is asserted in ball.c */
} tmi_ball;

void tmi_ball_init(tmi_ball *x);
void tmi_ball_clear(tmi_ball *x);

/* Several at once; the list ends with NULL. */
void tmi_ball_inits(tmi_ball *x, ...) __attribute__((sentinel));
void tmi_ball_clears(tmi_ball *x, ...) __attribute__((sentinel));

/* A list of balls that are 0; NULL if memory runs out. Free of NULL is fine. */
tmi_ball *tmi_balls_new(size_t count);
void tmi_balls_free(tmi_ball *balls, size_t count);

void tmi_ball_set(tmi_ball *z, const tmi_ball *x);
void tmi_ball_set_int(tmi_ball *z, int64_t x);
void tmi_ball_set_double(tmi_ball *z, double x); /* exact; x is finite */
void tmi_ball_set_number(tmi_ball *z, const tamis_number *x, long bits);
void tmi_ball_set_unknown(tmi_ball *z); /* the whole line */
void tmi_ball_pi(tmi_ball *z, long bits);

void tmi_ball_add(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_add_int(tmi_ball *z, const tmi_ball *x, int64_t y, long bits);
void tmi_ball_sub(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_neg(tmi_ball *z, const tmi_ball *x);
void tmi_ball_mul(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_mul_int(tmi_ball *z, const tmi_ball *x, int64_t y, long bits);
void tmi_ball_div(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_div_int(tmi_ball *z, const tmi_ball *x, int64_t y, long bits);
void tmi_ball_sqrt(tmi_ball *z, const tmi_ball *x, long bits);
void tmi_ball_exp(tmi_ball *z, const tmi_ball *x, long bits);
void tmi_ball_expm1(tmi_ball *z, const tmi_ball *x, long bits);
void tmi_ball_log(tmi_ball *z, const tmi_ball *x, long bits);
void tmi_ball_log1p(tmi_ball *z, const tmi_ball *x, long bits);
void tmi_ball_max(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_min(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits);
void tmi_ball_union(tmi_ball *z, const tmi_ball *x, const tmi_ball *y, long bits); /* contains both */

/* x[0] y[0] + x[xstep] y[ystep] + ... + x[(count-1) xstep] y[(count-1) ystep]: about ten nanoseconds per term. */
void tmi_ball_dot(tmi_ball *z, const tmi_ball *x, long xstep, const tmi_ball *y, long ystep, size_t count, long bits);

/* The middle of the ball as an exact number, and the ball with everything within |radius| of it. */
void tmi_ball_middle(tmi_ball *z, const tmi_ball *x);
void tmi_ball_lower(tmi_ball *z, const tmi_ball *x, long bits); /* the lower end, rounded down, as an exact number */
void tmi_ball_widen(tmi_ball *z, const tmi_ball *radius);
void tmi_ball_abs(tmi_ball *z, const tmi_ball *x);
void tmi_ball_shift(tmi_ball *z, const tmi_ball *x, long exponent); /* x 2^exponent, exactly */

/* Certain answers: true means true of every number in the ball(s); false means false or not known. */
bool tmi_ball_is_zero(const tmi_ball *x);
bool tmi_ball_is_positive(const tmi_ball *x);
bool tmi_ball_is_negative(const tmi_ball *x);
bool tmi_ball_is_less(const tmi_ball *x, const tmi_ball *y);
bool tmi_ball_is_finite(const tmi_ball *x);
bool tmi_ball_is_at_most(const tmi_ball *x, const tmi_ball *y);

/* The narrowest doubles around the ball: {-inf, inf} if nothing is known. */
tamis_bound tmi_ball_bound(const tmi_ball *x);

/* A formula: sets `value` to an enclosure computed with about `bits` bits. */
typedef tamis_status tmi_formula(tmi_ball *value, const void *context, long bits, tamis_error *err);

/* Bits at which a formula that is still too wide is given up: far beyond every formula of ours that ends at all. */
#define TMI_BITS_FIRST 128
#define TMI_BITS_LAST 16384

/* Gives    an enclosure with upper - lower <= width * max(|lower|, |upper|), or narrower than 1e-300, or
 *          {largest double, inf} (or its mirror image) for a number beyond the doubles; {-inf, inf} on failure.
 * Errors   UNABLE (still too wide at TMI_BITS_LAST bits), and those of the formula.                                  */
tamis_status tmi_certify(tamis_bound *bound, double width, tmi_formula *formula, const void *context, tamis_error *err);

/* The same for several numbers that are computed together: the formula sets values[0], ..., values[count-1]. */
typedef tamis_status tmi_formulas(tmi_ball *values, const void *context, long bits, tamis_error *err);
tamis_status tmi_certify_list(tamis_bound *bounds, size_t count, double width, tmi_formulas *formulas, const void *context,
                              tamis_error *err);

#endif
