#include <float.h>
#include <math.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "engine/core/cells.h"

bool tmi_is_missing(double v, const tmi_column *column)
{
    if (!(fabs(v) <= DBL_MAX)) return true;
    for (size_t i = 0; i < column->missing_code_count; i++)
        if (v == column->missing_codes[i]) return true;
    return false;
}

/* floor(q) without a call: |q| <= 2^52 + 1, so the cast truncates toward zero exactly; subtract one where that rounded up. */
static inline int64_t floor_of(double q)
{
    int64_t k = (int64_t)q;
    return k - ((double)k > q);
}

static int64_t point_of(double v, const tmi_grid *grid)
{
    if (!(fabs(v) <= DBL_MAX)) return TMI_NO_POINT;
    const double x = v > grid->from ? v : grid->from;
    const int64_t point = floor_of((x < grid->to ? x : grid->to) / grid->step + 0.5);
    return point < grid->low ? grid->low : point > grid->high ? grid->high : point;
}

#ifdef __x86_64__
/* The same operations, several rows at a time; returns how many of the n were done. Compilers do not vectorise this
 * themselves, and sums in memory spend most of their time here.
 *
 * `magic`, added to a double of size below 2^51, leaves the nearest integer in its last bits: that is the cast. floor(y) is
 * the nearest integer, or one less where that went up. Dividing by a power of two and multiplying by its inverse are the same
 * rounding of the same real number. A NaN becomes `from` and is replaced at the end. */
typedef struct steps {
    double by; /* the step, or its inverse */
    bool is_power, fits;
} steps;

static steps steps_of(const tmi_grid *grid)
{
    int exponent;
    const bool is_power = frexp(grid->step, &exponent) == 0.5 && isnormal(1 / grid->step);
    return (steps){.by = is_power ? 1 / grid->step : grid->step,
                   .is_power = is_power,
                   .fits = fabs(grid->from / grid->step) < 0x1p50 && fabs(grid->to / grid->step) < 0x1p50};
}

static const double magic_number = 0x1.8p52;

static size_t two_at_a_time(int64_t *k, const double *v, size_t n, const tmi_grid *grid, steps steps)
{
    const __m128d from = _mm_set1_pd(grid->from), to = _mm_set1_pd(grid->to), by = _mm_set1_pd(steps.by);
    const __m128d low = _mm_set1_pd((double)grid->low), high = _mm_set1_pd((double)grid->high);
    const __m128d magic = _mm_set1_pd(magic_number), sign = _mm_set1_pd(-0.0), largest = _mm_set1_pd(DBL_MAX);
    const __m128i none = _mm_set1_epi64x(TMI_NO_POINT);
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        const __m128d value = _mm_loadu_pd(v + i), x = _mm_min_pd(_mm_max_pd(value, from), to);
        const __m128d y = _mm_add_pd(steps.is_power ? _mm_mul_pd(x, by) : _mm_div_pd(x, by), _mm_set1_pd(0.5));
        const __m128d nearest = _mm_sub_pd(_mm_add_pd(y, magic), magic);
        const __m128d point = _mm_sub_pd(nearest, _mm_and_pd(_mm_cmpgt_pd(nearest, y), _mm_set1_pd(1)));
        const __m128d moved = _mm_add_pd(_mm_min_pd(_mm_max_pd(point, low), high), magic);
        const __m128i integer = _mm_sub_epi64(_mm_castpd_si128(moved), _mm_castpd_si128(magic));
        const __m128i there = _mm_castpd_si128(_mm_cmple_pd(_mm_andnot_pd(sign, value), largest));
        _mm_storeu_si128((__m128i *)(void *)(k + i), _mm_or_si128(_mm_and_si128(there, integer), _mm_andnot_si128(there, none)));
    }
    return i;
}

__attribute__((target("avx2"))) static size_t four_at_a_time(int64_t *k, const double *v, size_t n, const tmi_grid *grid,
                                                             steps steps)
{
    const __m256d from = _mm256_set1_pd(grid->from), to = _mm256_set1_pd(grid->to), by = _mm256_set1_pd(steps.by);
    const __m256d low = _mm256_set1_pd((double)grid->low), high = _mm256_set1_pd((double)grid->high);
    const __m256d magic = _mm256_set1_pd(magic_number), sign = _mm256_set1_pd(-0.0), largest = _mm256_set1_pd(DBL_MAX);
    const __m256d none = _mm256_castsi256_pd(_mm256_set1_epi64x(TMI_NO_POINT));
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        const __m256d value = _mm256_loadu_pd(v + i), x = _mm256_min_pd(_mm256_max_pd(value, from), to);
        const __m256d y = _mm256_add_pd(steps.is_power ? _mm256_mul_pd(x, by) : _mm256_div_pd(x, by), _mm256_set1_pd(0.5));
        const __m256d nearest = _mm256_sub_pd(_mm256_add_pd(y, magic), magic);
        const __m256d up = _mm256_cmp_pd(nearest, y, _CMP_GT_OS);
        const __m256d point = _mm256_sub_pd(nearest, _mm256_and_pd(up, _mm256_set1_pd(1)));
        const __m256d moved = _mm256_add_pd(_mm256_min_pd(_mm256_max_pd(point, low), high), magic);
        const __m256i integer = _mm256_sub_epi64(_mm256_castpd_si256(moved), _mm256_castpd_si256(magic));
        const __m256d there = _mm256_cmp_pd(_mm256_andnot_pd(sign, value), largest, _CMP_LE_OS);
        _mm256_storeu_pd((double *)(void *)(k + i), _mm256_blendv_pd(none, _mm256_castsi256_pd(integer), there));
    }
    return i;
}

static size_t several_at_a_time(int64_t *k, const double *v, size_t n, const tmi_grid *grid)
{
    const steps steps = steps_of(grid);
    if (!steps.fits) return 0;
    return (__builtin_cpu_supports("avx2") ? four_at_a_time : two_at_a_time)(k, v, n, grid, steps);
}
#else
static size_t several_at_a_time(int64_t *k, const double *v, size_t n, const tmi_grid *grid)
{
    (void)k;
    (void)v;
    (void)n;
    (void)grid;
    return 0;
}
#endif

static void plain_points(int64_t *restrict k, const double *restrict v, size_t n, const tmi_grid *grid)
{
    for (size_t i = several_at_a_time(k, v, n, grid); i < n; i++) k[i] = point_of(v[i], grid);
}

/* 1/v, or NaN where it is missing. The result is never infinite: v >= 2^-1022. */
static double turned(double v) { return v >= DBL_MIN && v <= DBL_MAX ? 1 / v : (double)NAN; }

/* After the grid: missing codes, and what is counted instead of missing values. */
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
        k[i] = point_of(value, &column->grids[codes[i] < none ? codes[i] : 0]);
    }
    finish(k, v, n, column);
    for (size_t i = 0; i < n; i++)
        if (codes[i] >= none) k[i] = TMI_NO_POINT;
}
