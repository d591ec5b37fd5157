#include "mech/quantile/split.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "base/memory.h"

/* ---- values without weights: compared as doubles, so that only the ones inside are put on the grid ---- */

/* Doubles in their order as integers, and back. */
static int64_t order_of(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits >= 0 ? bits : INT64_MIN - bits;
}

static double at_order(int64_t order)
{
    double v;
    order = order >= 0 ? order : INT64_MIN - order;
    memcpy(&v, &order, sizeof v);
    return v;
}

/* The smallest double whose grid point is at least `point`: the grid point never falls as the value grows, because each of the
 * three operations of tmi_grid_point is monotone, rounding included. */
static double least_value(int64_t point, const tmi_grid *grid)
{
    if (point <= grid->low) return -DBL_MAX;
    if (point > grid->high) return INFINITY;
    int64_t below = order_of(-DBL_MAX), at = order_of(DBL_MAX);
    while (at - 1 > below) {
        const int64_t middle = below + (int64_t)(((uint64_t)at - (uint64_t)below) / 2);
        int64_t found;
        tmi_grid_point(&found, grid, at_order(middle));
        if (found >= point) at = middle;
        else below = middle;
    }
    return at_order(at);
}

tmi_splitter tmi_splitter_of(const tmi_records *records, int64_t first, int64_t last)
{
    tmi_splitter s = {.records = records, .first = first, .last = last};
    if (!records->points) {
        s.from = least_value(first, records->grid);
        s.to = least_value(last + 1, records->grid);
    }
    return s;
}

/* Comparisons with NaN are false, so a NaN is nowhere. */
static size_t split_values(double *inside, tmi_split_sums *sums, const double *v, size_t n, double from, double to)
{
    size_t copied = 0;
    int64_t below = 0, there = 0;
    for (size_t i = 0; i < n; i++) {
        inside[copied] = v[i];
        copied += (v[i] >= from) & (v[i] < to);
        below += (v[i] < from) & (v[i] >= -DBL_MAX);
        there += fabs(v[i]) <= DBL_MAX;
    }
    sums->below += below;
    sums->total += there;
    return copied;
}

#ifdef __x86_64__
/* The same, sixteen values at a time: one bit of a mask for each value that is inside. */
__attribute__((target("avx2"))) static size_t split_by_vectors(double *inside, tmi_split_sums *sums, const double *v, size_t n,
                                                               double from, double to)
{
    const __m256d from4 = _mm256_set1_pd(from), to4 = _mm256_set1_pd(to), least = _mm256_set1_pd(-DBL_MAX);
    const __m256d largest = _mm256_set1_pd(DBL_MAX);
    __m256i below = _mm256_setzero_si256(), there = _mm256_setzero_si256();
    size_t i = 0, copied = 0;
    for (; i + 16 <= n; i += 16) {
        unsigned mask = 0;
        for (unsigned part = 0; part < 4; part++) {
            const __m256d x = _mm256_loadu_pd(v + i + 4 * part);
            const __m256d at_least = _mm256_cmp_pd(x, least, _CMP_GE_OQ), at_most = _mm256_cmp_pd(x, largest, _CMP_LE_OQ);
            const __m256d under = _mm256_and_pd(at_least, _mm256_cmp_pd(x, from4, _CMP_LT_OQ));
            const __m256d in = _mm256_and_pd(_mm256_cmp_pd(x, from4, _CMP_GE_OQ), _mm256_cmp_pd(x, to4, _CMP_LT_OQ));
            below = _mm256_sub_epi64(below, _mm256_castpd_si256(under)); /* true is -1 */
            there = _mm256_sub_epi64(there, _mm256_castpd_si256(_mm256_and_pd(at_least, at_most)));
            mask |= (unsigned)_mm256_movemask_pd(in) << (4 * part);
        }
        for (; mask; mask &= mask - 1) inside[copied++] = v[i + (unsigned)__builtin_ctz(mask)];
    }
    int64_t lanes[4];
    _mm256_storeu_si256((__m256i *)(void *)lanes, below);
    sums->below += lanes[0] + lanes[1] + lanes[2] + lanes[3];
    _mm256_storeu_si256((__m256i *)(void *)lanes, there);
    sums->total += lanes[0] + lanes[1] + lanes[2] + lanes[3];
    return copied + split_values(inside + copied, sums, v + i, n - i, from, to);
}
#endif

static size_t split_doubles(int64_t *points, tmi_split_sums *sums, const tmi_splitter *s, const double *v, size_t n)
{
    double inside[TMI_SPLIT_BLOCK];
#ifdef __x86_64__
    const bool vectors = __builtin_cpu_supports("avx2") != 0;
    const size_t copied = (vectors ? split_by_vectors : split_values)(inside, sums, v, n, s->from, s->to);
#else
    const size_t copied = split_values(inside, sums, v, n, s->from, s->to);
#endif
    for (size_t i = 0; i < copied; i++) tmi_grid_point(&points[i], s->records->grid, inside[i]);
    sums->inside += (int64_t)copied;
    tmi_wipe(inside, copied * sizeof *inside);
    return copied;
}

/* ---- all others ---- */

size_t tmi_split_block(int64_t *points, int64_t *weights, tmi_split_sums *sums, const tmi_splitter *s, size_t i, size_t n)
{
    const tmi_records *r = s->records;
    size_t copied = 0;
    if (!r->points && !r->weights) return split_doubles(points, sums, s, r->values + i, n);
    for (size_t j = i; j < i + n; j++) {
        int64_t point, weight = r->weights ? tmi_clamped_weight(r->weights[j], r->most_weight) : 1;
        if (r->points) point = tmi_clamped_point(r->points[j], r->grid);
        else if (!tmi_grid_point(&point, r->grid, r->values[j])) point = TMI_MISSING_POINT;
        const bool there = point != TMI_MISSING_POINT, inside = point >= s->first && point <= s->last;
        weight = there ? weight : 0;
        sums->total += weight;
        sums->below += there && point < s->first ? weight : 0;
        sums->inside += inside ? weight : 0;
        points[copied] = point;
        if (weights) weights[copied] = weight;
        copied += inside;
    }
    return copied;
}
