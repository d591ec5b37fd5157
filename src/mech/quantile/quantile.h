/* A quantile inside the library. */
#ifndef TMI_MECH_QUANTILE_QUANTILE_H
#define TMI_MECH_QUANTILE_QUANTILE_H

#include <tamis/quantile.h>

#include "mech/quantile/inverse.h"

/* The largest change of a loss, in weight units of 1/d, that a unit can make: rows * max_weight * (d, or max(p, d - p)). */
struct tamis_quantile {
    tmi_grid grid;
    tmi_rank rank;
    tamis_number *rate;     /* epsilon / (2 * the largest change) */
    tamis_number *log_unit; /* in steps; NULL: uniform */
    int64_t rows_per_unit, most_weight;
    bool add_remove, weighted;
    tmi_uniform_bits bits;
};

/* p/d in lowest terms. Needs 0 < at < 1. INVALID names `at`, SYSTEM. */
tamis_status tmi_quantile_fraction(int64_t *p, int64_t *d, const tamis_number *at, tamis_error *err);

/* The law of the answer: one probability per grid point, from low to high. For tests and audits. Errors: SYSTEM, INVALID. */
tamis_status tmi_quantile_law(tamis_bound *law, const tamis_quantile *quantile, const tmi_records *records, tamis_error *err);

/* The records of a call. INVALID. */
tamis_status tmi_quantile_records(tmi_records *records, const tamis_quantile *quantile, const double *values,
                                  const int64_t *points, const int64_t *weights, size_t count, tamis_error *err);

#endif
