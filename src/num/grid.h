/* Fixed point: how a value becomes an integer on a public grid.
 *
 * A plan declares a number column with from, to and step. A value v goes to the grid point k, worth k * step, by
 *
 *     k = floor(min(max(v, from), to) / step + 0.5), then clamped to low <= k <= high,
 *
 * three IEEE double operations in this order, so that C and every SQL engine agree to the bit; the sensitivity of a sum
 * rests on low and high alone, which are computed exactly: low = ceil(from/step), high = floor(to/step). In the three operations
 * `step` is the nearest double (0.01 has none of its own), so a value halfway between two points may go to either, the same one
 * on every engine; `from` and `to` are rounded inwards. */
#ifndef TMI_NUM_GRID_H
#define TMI_NUM_GRID_H

#include <stdbool.h>

#include "base/integer.h"
#include "num/number.h"

/* |k| stays below this, so a grid point is exact as a double; 2^40 rows of them sum to less than 2^92 < 2^127. */
#define TMI_GRID_END (INT64_C(1) << 52)

typedef struct tmi_grid {
    double from, to, step;
    int64_t low, high;
} tmi_grid;

/* Needs    from < to, step > 0, at least one multiple of step in [from, to], all of them below 2^52 steps.
 * Errors   INVALID names from, to or step; the grid is then all zero.                                                */
tamis_status tmi_grid_set(tmi_grid *grid, const tamis_number *from, const tamis_number *to, const tamis_number *step,
                          tamis_error *err);

/* False, and k = 0, if v is missing: NaN or infinite. */
bool tmi_grid_point(int64_t *k, const tmi_grid *grid, double v);

#endif
