/* Order statistics around one rank of many unsorted doubles, without sorting them all. */
#ifndef TMI_MECH_SMOOTH_ORDER_H
#define TMI_MECH_SMOOTH_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The values between two pivots: those of ranks before + 1, ..., before + count. */
typedef struct tmi_ranks {
    const double *values;
    size_t n;
    double lo, hi; /* a value outside counts as the nearer end, a NaN as hi */
    double *kept, *scratch;
    size_t before, count;
    bool in_order; /* the values are in order already, all within the range: nothing is kept */
    bool sorted;   /* what is kept */
} tmi_ranks;

/* SYSTEM (memory). Clear it in any case. */
tamis_status tmi_ranks_init(tmi_ranks *order, const double *values, size_t n, double lo, double hi, tamis_error *err);
void tmi_ranks_clear(tmi_ranks *order);

/* out[0], ..., out[to - from] become the order statistics of ranks from, ..., to, counted from 1.
 *
 * Needs    1 <= from <= to <= n.
 * Cost     O(n) the first time and whenever the ranks leave those that were kept, plus O(k log k) for k = to - from + 1. */
void tmi_ranks_get(double *out, tmi_ranks *order, size_t from, size_t to);

#endif
