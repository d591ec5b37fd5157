/* Enclosures: two doubles between which a real number certainly lies, and their ends as texts. The end that is safe to publish
 * is `upper` for a claimed epsilon, delta or noise scale, `lower` for a budget that is left.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_BOUND_H
#define TAMIS_EXPERIMENTAL_BOUND_H

#include <tamis/num.h>

TAMIS_BEGIN

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
