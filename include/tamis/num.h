/* Numbers that cannot lie.
 *
 * A parameter is a tamis_number: an exact rational read from text, never through a double, so that "0.1" is one tenth.
 * A result is a tamis_bound: two doubles between which the real number certainly lies. The end that is safe to publish
 * is `upper` for a claimed epsilon, delta or noise scale, `lower` for a budget that is left.                         */
#ifndef TAMIS_NUM_H
#define TAMIS_NUM_H

#include <tamis/base.h>

TAMIS_BEGIN

/* Digits in one number, exponent sign and point not counted; and the largest decimal exponent. 1e999999999 would need
 * 400 MB before anything could be said about it; nobody's epsilon does. */
#define TAMIS_NUMBER_DIGITS 1000
#define TAMIS_NUMBER_EXPONENT 1000

typedef struct tamis_number tamis_number;

/* Reads "12", "-0.5", "1e-6", "3/10" (either part a decimal, the lower one not zero). Spaces are not skipped.
 *
 * Gives    a number that the caller frees with tamis_number_free; NULL on failure.
 * Errors   INVALID (NULL, not a number, too long, exponent too large), SYSTEM (memory).                             */
TAMIS_USE tamis_status tamis_number_read(tamis_number **number, const char *text, tamis_error *err);

/* The number as "p/q" in lowest terms, or "p" if it is an integer. The caller frees the text with tamis_free. */
TAMIS_USE tamis_status tamis_number_write(char **text, const tamis_number *number, tamis_error *err);

TAMIS_API void tamis_number_free(tamis_number *number);

/* lower <= value <= upper, and neither is NaN. Unknown is {-inf, inf}. */
typedef struct tamis_bound {
    double lower, upper;
} tamis_bound;

/* An end of an enclosure as decimal text of at most `digits` significant digits (1 to 17; others count as the nearest of
 * these), rounded up or down and never to the nearest: what is printed of an upper end is still an upper bound. "inf" and
 * "-inf" for infinities and, on the safe side, for NaN. `text` has room for TAMIS_DECIMAL bytes.                      */
#define TAMIS_DECIMAL 40
TAMIS_API void tamis_decimal_up(char *text, double x, int digits);
TAMIS_API void tamis_decimal_down(char *text, double x, int digits);

/* The width asked of an enclosure relative to its larger end, unless a function says otherwise. */
#define TAMIS_WIDTH 1e-12

/* Units of a population, trials of an experiment. */
#define TAMIS_MAX_UNITS (INT64_C(1) << 40)

TAMIS_END

#endif
