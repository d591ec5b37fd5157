/* Exact rationals inside the library. GMP is seen only in num/: other rooms use these few functions. */
#ifndef TMI_NUM_NUMBER_H
#define TMI_NUM_NUMBER_H

#include <stdbool.h>
#include <tamis/num.h>

#include "base/error.h"
#include "base/integer.h"

/* p / q with q != 0. */
tamis_status tmi_number_ratio(tamis_number **z, int64_t p, int64_t q, tamis_error *err);
tamis_status tmi_number_double(tamis_number **z, double x, tamis_error *err); /* exactly; UNABLE: x is not finite */
tamis_status tmi_number_int128(tamis_number **z, tmi_int128 x, tamis_error *err);
tamis_status tmi_number_copy(tamis_number **z, const tamis_number *x, tamis_error *err);

/* Frees several at once and sets them to NULL; the list ends with NULL. */
void tmi_number_frees(tamis_number **x, ...) __attribute__((sentinel));

/* tamis_number_free for one made of random bits: its memory is overwritten first. GMP's own scratch is not. */
void tmi_number_wipe(tamis_number *x);

/* z = x op y; *z is new, the caller frees it. Division by zero is INVALID. */
tamis_status tmi_number_add(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);
tamis_status tmi_number_sub(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);
tamis_status tmi_number_mul(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);
tamis_status tmi_number_div(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);

/* The largest number of which x and y are integer multiples; >= 0, and 0 only if both are. */
tamis_status tmi_number_gcd(tamis_number **z, const tamis_number *x, const tamis_number *y, tamis_error *err);

int tmi_number_sign(const tamis_number *x);                           /* -1, 0, 1 */
int tmi_number_compare(const tamis_number *x, const tamis_number *y); /* sign of x - y */
int tmi_number_compare_int(const tamis_number *x, int64_t y);
bool tmi_number_is_integer(const tamis_number *x);

size_t tmi_number_bytes(const tamis_number *x); /* memory that it uses */

/* Largest integer <= x, smallest integer >= x; false if it does not fit 64 bits. */
bool tmi_number_floor(int64_t *z, const tamis_number *x);
bool tmi_number_ceil(int64_t *z, const tamis_number *x);

/* Nearest doubles below and above (equal if x is a double). */
double tmi_number_down(const tamis_number *x);
double tmi_number_up(const tamis_number *x);

/* The nearer one of the two; the lower one if they are equally near. */
double tmi_number_nearest(const tamis_number *x);

#endif
