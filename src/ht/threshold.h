/* From a falling function to its inverse; for mech/ alone. */
#ifndef TMI_HT_THRESHOLD_H
#define TMI_HT_THRESHOLD_H

#include <tamis/experimental/bound.h>

#include "num/number.h"

/* f(x) as an enclosure; f falls as x grows. The upper end of a value that misses the target may be far too large, and the
 * lower end of one that meets it far too small, but secants go by the lower ends. */
typedef tamis_status tmi_falling(tamis_bound *value, void *context, const tamis_number *x, tamis_error *err);

/* The smallest x > 0 with f(x) <= target, searched from `start` up to `last`.
 *
 * Gives    an enclosure of relative width 1e-10 whose upper end, as x, meets the target; {last, inf} if even `last` misses
 *          it, {0, x} if some x below 1e-30 meets it. On failure an enclosure that may be wide.
 * Cost     some tens of f.
 * Errors   those of f; UNABLE (f is not known closely enough next to the target).                                   */
tamis_status tmi_smallest(tamis_bound *x, tmi_falling *f, void *context, const tamis_number *target, double start, double last,
                          tamis_error *err);

#endif
