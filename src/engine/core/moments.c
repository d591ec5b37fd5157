#include "engine/core/moments.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#if defined __x86_64__
#include <immintrin.h>

bool tmi_has_moments(const tmi_column *column)
{
    const tmi_grid *grid = &column->grid;
    return column->kind == TMI_NUMBER && !column->by && !column->reciprocal && column->missing_code_count == 0 &&
           !column->has_instead && fabs(grid->from / grid->step) < TMI_MAX_MOMENT &&
           fabs(grid->to / grid->step) < TMI_MAX_MOMENT && __builtin_cpu_supports("avx2");
}

/* Added to an integer below 2^51 in size, this leaves the integer in the last bits of the double. The sums run modulo 2^64
 * over these bits of the rows that are present; MAGIC's own bits are subtracted at the end, and the remainder fits. */
#define MAGIC 0x1.8p52

static int64_t without_magic(const int64_t lanes[4], int64_t count)
{
    const double magic = MAGIC;
    uint64_t bits, sum = 0;
    memcpy(&bits, &magic, sizeof bits);
    for (size_t i = 0; i < 4; i++) sum += (uint64_t)lanes[i];
    return (int64_t)(sum - bits * (uint64_t)count);
}

/* How a block of rows is processed. If no row is missing (not `masked`), nothing is compared: v - v is 0, or NaN if v is not
 * finite. If such a row turns up, the block is done again. */
typedef struct way {
    bool by_power; /* the step is a power of two: dividing by it and multiplying by its inverse round the same */
    bool clamped;  /* points may leave the grid at its ends */
    bool masked;
} way;

static way way_of(const tmi_grid *grid)
{
    int exponent;
    return (way){.by_power = frexp(grid->step, &exponent) == 0.5 && isnormal(1 / grid->step),
                 .clamped = floor(grid->from / grid->step + 0.5) < (double)grid->low ||
                            floor(grid->to / grid->step + 0.5) > (double)grid->high};
}

#define INSIDE static inline __attribute__((always_inline, target("avx2")))

/* The operations of engine.h in their order, four rows at a time. A NaN becomes `from` and is not counted. False if a row is
 * missing and the block is not masked. */
INSIDE bool add_up(tmi_moments *moments, const double *v, size_t n, const tmi_grid *grid, const tmi_measure *square, way way)
{
    const __m256d by = _mm256_set1_pd(way.by_power ? 1 / grid->step : grid->step), half = _mm256_set1_pd(0.5);
    const __m256d from = _mm256_set1_pd(grid->from), to = _mm256_set1_pd(grid->to);
    const __m256d low = _mm256_set1_pd((double)grid->low), high = _mm256_set1_pd((double)grid->high);
    const __m256d magic = _mm256_set1_pd(MAGIC), sign = _mm256_set1_pd(-0.0), largest = _mm256_set1_pd(DBL_MAX);
    const __m256d first = _mm256_set1_pd(square ? (double)square->factors[0].minus : 0);
    const __m256d second = _mm256_set1_pd(square ? (double)square->factors[1].minus : 0);
    const __m256d scale = _mm256_set1_pd(square ? ldexp(1, -square->shift) : 0);
    const __m256d least = _mm256_set1_pd(square ? (double)square->low : 0);
    const __m256d most = _mm256_set1_pd(square ? (double)square->high : 0);
    __m256i present = _mm256_setzero_si256(), sum = present, squares = present;
    __m256d strange = _mm256_setzero_pd();
    for (size_t i = 0; i + 4 <= n; i += 4) {
        const __m256d value = _mm256_loadu_pd(v + i), x = _mm256_min_pd(_mm256_max_pd(value, from), to);
        const __m256d y = _mm256_add_pd(way.by_power ? _mm256_mul_pd(x, by) : _mm256_div_pd(x, by), half);
        __m256d point = _mm256_floor_pd(y), moved;
        if (way.clamped) point = _mm256_min_pd(_mm256_max_pd(point, low), high);
        moved = _mm256_add_pd(point, magic);
        const __m256d there = _mm256_cmp_pd(_mm256_andnot_pd(sign, value), largest, _CMP_LE_OS);
        if (way.masked) {
            moved = _mm256_and_pd(there, moved);
            present = _mm256_sub_epi64(present, _mm256_castpd_si256(there));
        } else {
            strange = _mm256_or_pd(strange, _mm256_sub_pd(value, value));
        }
        sum = _mm256_add_epi64(sum, _mm256_castpd_si256(moved));
        if (!square) continue;
        const __m256d product = _mm256_mul_pd(_mm256_sub_pd(point, first), _mm256_sub_pd(point, second));
        const __m256d term = _mm256_min_pd(_mm256_max_pd(_mm256_add_pd(_mm256_mul_pd(product, scale), half), least), most);
        moved = _mm256_add_pd(_mm256_floor_pd(term), magic);
        if (way.masked) moved = _mm256_and_pd(there, moved);
        squares = _mm256_add_epi64(squares, _mm256_castpd_si256(moved));
    }
    int64_t lanes[3][4];
    _mm256_storeu_si256((__m256i *)(void *)lanes[0], present);
    _mm256_storeu_si256((__m256i *)(void *)lanes[1], sum);
    _mm256_storeu_si256((__m256i *)(void *)lanes[2], squares);
    const int64_t count = way.masked ? lanes[0][0] + lanes[0][1] + lanes[0][2] + lanes[0][3] : (int64_t)(n / 4 * 4);
    *moments = (tmi_moments){count, without_magic(lanes[1], count), square ? without_magic(lanes[2], count) : 0};
    tmi_wipe(lanes, sizeof lanes);
    return _mm256_testz_si256(_mm256_castpd_si256(strange), _mm256_castpd_si256(strange)); /* all bits are 0 */
}

__attribute__((target("avx2"))) static tmi_moments whole_fours(const double *v, size_t n, const tmi_column *column,
                                                               const tmi_measure *square)
{
    const tmi_grid *grid = &column->grid;
    way way = way_of(grid);
    tmi_moments moments;
    bool all = way.by_power && !way.clamped && !square /* the same, known to the compiler */
                   ? add_up(&moments, v, n, grid, NULL, (struct way){.by_power = true})
                   : add_up(&moments, v, n, grid, square, way);
    if (all) return moments;
    way.masked = true;
    add_up(&moments, v, n, grid, square, way);
    return moments;
}

tmi_moments tmi_moments_of(const double *v, size_t n, const tmi_column *column, const tmi_measure *square)
{
    double rest[4] = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    tmi_moments all = whole_fours(v, n, column, square);
    if (n % 4 == 0) return all;
    memcpy(rest, v + n / 4 * 4, n % 4 * sizeof *rest);
    const tmi_moments last = whole_fours(rest, 4, column, square);
    tmi_wipe(rest, sizeof rest);
    return (tmi_moments){all.present + last.present, all.sum + last.sum, all.squares + last.squares};
}
#else
bool tmi_has_moments(const tmi_column *column)
{
    (void)column;
    return false;
}

tmi_moments tmi_moments_of(const double *v, size_t n, const tmi_column *column, const tmi_measure *square)
{
    (void)v;
    (void)n;
    (void)column;
    (void)square;
    return (tmi_moments){0};
}
#endif
