#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "engine/cells.h"

bool tmi_is_missing(double v, const tmi_column *column)
{
    if (!(fabs(v) <= DBL_MAX)) return true;
    for (size_t i = 0; i < column->missing_code_count; i++)
        if (v == column->missing_codes[i]) return true;
    return false;
}

/* floor(q) without a call: |q| <= 2^52 + 1, so the cast is exact towards zero, and one less where that went up. */
static inline int64_t floor_of(double q)
{
    int64_t k = (int64_t)q;
    return k - ((double)k > q);
}

void tmi_grid_points(int64_t *restrict k, const double *restrict v, size_t n, const tmi_column *column)
{
    const double from = column->grid.from, to = column->grid.to, step = column->grid.step;
    const int64_t low = column->grid.low, high = column->grid.high;
    int exponent;
    const double inverse = 1 / step;

    /* Dividing by a power of two and multiplying by its inverse are the same rounding of the same real number. */
    if (frexp(step, &exponent) == 0.5 && isnormal(inverse)) {
        for (size_t i = 0; i < n; i++) {
            double x = v[i] > from ? v[i] : from; /* NaN becomes `from`; it is taken out below */
            int64_t point = floor_of((x < to ? x : to) * inverse + 0.5);
            point = point < low ? low : point;
            point = point > high ? high : point;
            k[i] = fabs(v[i]) <= DBL_MAX ? point : TMI_NO_POINT;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            double x = v[i] > from ? v[i] : from;
            int64_t point = floor_of((x < to ? x : to) / step + 0.5);
            point = point < low ? low : point;
            point = point > high ? high : point;
            k[i] = fabs(v[i]) <= DBL_MAX ? point : TMI_NO_POINT;
        }
    }
    for (size_t c = 0; c < column->missing_code_count; c++)
        for (size_t i = 0; i < n; i++)
            if (v[i] == column->missing_codes[c]) k[i] = TMI_NO_POINT;
}
