/* Measures as constants. */
#ifndef TESTS_ENGINE_REQUEST_H
#define TESTS_ENGINE_REQUEST_H

#include "engine/core/engine.h"

#define ROWS_WITH(column) \
    { \
        .present = {column}, .high = 1 \
    }
#define SUM_OF(column) \
    { \
        .factors = {{column, 0}}, .factor_count = 1, .low = -TMI_MAX_GRID, .high = TMI_MAX_GRID \
    }

#endif
