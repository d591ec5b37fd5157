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

static inline int64_t clamped(int64_t point, int64_t low, int64_t high)
{
    point = point < low ? low : point;
    return point > high ? high : point;
}

static void plain_points(int64_t *restrict k, const double *restrict v, size_t n, const tmi_grid *grid)
{
    const double from = grid->from, to = grid->to, step = grid->step;
    const int64_t low = grid->low, high = grid->high;
    int exponent;
    const double inverse = 1 / step;

    /* Dividing by a power of two and multiplying by its inverse are the same rounding of the same real number. */
    if (frexp(step, &exponent) == 0.5 && isnormal(inverse)) {
        for (size_t i = 0; i < n; i++) {
            double x = v[i] > from ? v[i] : from; /* NaN becomes `from`; it is taken out below */
            int64_t point = clamped(floor_of((x < to ? x : to) * inverse + 0.5), low, high);
            k[i] = fabs(v[i]) <= DBL_MAX ? point : TMI_NO_POINT;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            double x = v[i] > from ? v[i] : from;
            int64_t point = clamped(floor_of((x < to ? x : to) / step + 0.5), low, high);
            k[i] = fabs(v[i]) <= DBL_MAX ? point : TMI_NO_POINT;
        }
    }
}

/* 1/v; where that is missing, NaN. No infinity comes out: v >= 2^-1022. */
static double turned(double v)
{
    return v >= DBL_MIN && v <= DBL_MAX ? 1 / v : (double)NAN;
}

/* What follows the grid: codes of missing values, and what is counted instead. */
static void finish(int64_t *k, const double *v, size_t n, const tmi_column *column)
{
    for (size_t c = 0; c < column->missing_code_count; c++)
        for (size_t i = 0; i < n; i++)
            if (v[i] == column->missing_codes[c]) k[i] = TMI_NO_POINT;
    for (size_t i = 0; column->has_instead && i < n; i++)
        if (k[i] == TMI_NO_POINT) k[i] = column->instead;
}

#define PIECE 512

void tmi_grid_points(int64_t *k, const double *v, size_t n, const tmi_column *column)
{
    if (!column->reciprocal) {
        plain_points(k, v, n, &column->grid);
    } else {
        for (size_t start = 0; start < n; start += PIECE) {
            const size_t count = n - start < PIECE ? n - start : PIECE;
            double weights[PIECE];
            for (size_t i = 0; i < count; i++) weights[i] = turned(v[start + i]);
            plain_points(k + start, weights, count, &column->grid);
        }
    }
    finish(k, v, n, column);
}

void tmi_grid_points_by(int64_t *k, const double *v, const int32_t *codes, size_t n, const tmi_column *column)
{
    const int32_t none = (int32_t)column->by->value_count;
    for (size_t i = 0; i < n; i++) {
        const double value = column->reciprocal ? turned(v[i]) : v[i];
        plain_points(&k[i], &value, 1, &column->grids[codes[i] < none ? codes[i] : 0]);
    }
    finish(k, v, n, column);
    for (size_t i = 0; i < n; i++)
        if (codes[i] >= none) k[i] = TMI_NO_POINT;
}
