/* Sums of the grid points of doubles, computed straight from the doubles. Nothing is stored in between, so memory bandwidth is
 * the limit. For requests without groups and conditions: counts, totals and sums of squares. */
#ifndef TMI_ENGINE_CORE_MOMENTS_H
#define TMI_ENGINE_CORE_MOMENTS_H

#include "engine/core/engine.h"

#define TMI_MAX_MOMENT 0x1p50 /* of a point, and of what a row adds; 2^61 in one call, of TMI_BLOCK rows at most */

/* Whether this processor and this number column are supported. */
bool tmi_has_moments(const tmi_column *column);

/* Over the values that are not missing: their number, the sum of their points k, and the sum of what the measure `square`
 * adds, which has two factors, both this column (NULL: 0). */
typedef struct tmi_moments {
    int64_t present, sum, squares;
} tmi_moments;

tmi_moments tmi_moments_of(const double *v, size_t n, const tmi_column *column, const tmi_measure *square);

#endif
