/* One block of records, split by a range of grid points: what is below it is counted, what is inside is copied. */
#ifndef TMI_MECH_QUANTILE_SPLIT_H
#define TMI_MECH_QUANTILE_SPLIT_H

#include "mech/quantile/records.h"

#define TMI_SPLIT_BLOCK 2048

typedef struct tmi_splitter {
    const tmi_records *records;
    int64_t first, last;
    double from, to; /* of values: those from `from` up to, but without, `to` have the points first ... last */
} tmi_splitter;

tmi_splitter tmi_splitter_of(const tmi_records *records, int64_t first, int64_t last);

typedef struct tmi_split_sums {
    int64_t below, inside, total; /* weights */
} tmi_split_sums;

/* Splits the records i ... i + n - 1, n <= TMI_SPLIT_BLOCK, and returns how many were copied. `weights` is NULL if the records
 * have none. There is room for TMI_SPLIT_BLOCK records in both. */
size_t tmi_split_block(int64_t *points, int64_t *weights, tmi_split_sums *sums, const tmi_splitter *splitter, size_t i, size_t n);

static inline int64_t tmi_clamped_point(int64_t point, const tmi_grid *grid)
{
    if (point == TMI_MISSING_POINT) return point;
    return point < grid->low ? grid->low : point > grid->high ? grid->high : point;
}

static inline int64_t tmi_clamped_weight(int64_t weight, int64_t most) { return weight < 0 ? 0 : weight > most ? most : weight; }

#endif
