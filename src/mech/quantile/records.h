/* The records of one number column, and the part of them that a quantile needs.
 *
 * A record is a grid point with a weight, an integer. A quantile of rank r depends on the records around r: those further away
 * than the mechanism can reach are counted and not sorted. tmi_rank_window_make finds the records around r in one pass over
 * all of them: a few thousand records are looked at first, to guess a range of grid points that contains those that are
 * needed; the pass counts the records below the range and copies those inside, and the copy is narrowed in the same way
 * until it is small. A guess that was wrong, which is unlikely, is followed by another pass: the result does not depend on
 * it. */
#ifndef TMI_MECH_QUANTILE_RECORDS_H
#define TMI_MECH_QUANTILE_RECORDS_H

#include "base/error.h"
#include "base/integer.h"
#include "num/grid.h"

#define TMI_MISSING_POINT INT64_MIN /* no grid point: |k| < 2^52 */

/* The largest weight, and the most that all weights can add up to: d times that fits 128 bits for all d of TMI_AT_MOST. */
#define TMI_WEIGHT_BITS_MOST 40
#define TMI_WEIGHT_SUM_BITS 62
#define TMI_WEIGHT_MOST (INT64_C(1) << TMI_WEIGHT_BITS_MOST)
#define TMI_WEIGHT_SUM (INT64_C(1) << TMI_WEIGHT_SUM_BITS)

/* Each record is read by itself: a point outside of the grid counts as the nearest one, a weight outside of 0 ...
 * most_weight as the nearer end. */
typedef struct tmi_records {
    const int64_t *points;  /* TMI_MISSING_POINT: left out */
    const double *values;   /* if there are no points: they are put on the grid by tmi_grid_point, missing ones left out */
    const int64_t *weights; /* NULL: every record counts 1 */
    size_t count;
    int64_t most_weight;
    const tmi_grid *grid;
} tmi_records;

/* The ranks that are needed: p/d of the weight of all records, and `reach` / d to both sides. */
typedef struct tmi_rank {
    int64_t p, d;     /* 0 < p < d <= TMI_AT_MOST */
    tmi_int128 reach; /* >= 0 */
} tmi_rank;

#define TMI_AT_MOST (INT64_C(1) << 30)

/* Distinct points in ascending order, with the weight of all their records. All points of records from `first` to `last` are in
 * the list; what is below `first` weighs `below`. */
typedef struct tmi_rank_window {
    int64_t first, last; /* grid points */
    int64_t below, total;
    int64_t *points, *weights;
    size_t count, room;
} tmi_rank_window;

/* The window of a rank. `rank` NULL: all records.
 *
 * Gives    either first is the grid's lowest point, or d * below <= p * total - reach; and the same above.
 * Cost     O(records) time; memory for the records that are copied: about a tenth of them if the reach is short.
 * Errors   INVALID (more than TMI_WEIGHT_SUM / most_weight records), SYSTEM (memory); then there is nothing to clear. */
tamis_status tmi_rank_window_make(tmi_rank_window *window, const tmi_records *records, const tmi_rank *rank, tamis_error *err);
void tmi_rank_window_clear(tmi_rank_window *window); /* wipes */

/* Sorts points, and their weights with them (NULL: none), by the digits in which they can differ. False without memory. */
bool tmi_sort_points(int64_t *points, int64_t *weights, size_t count);

#endif
