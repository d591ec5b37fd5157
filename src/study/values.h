/* A public population of one variable, for simulations: all its values, clamped to the declared range, in order. */
#ifndef TMI_STUDY_VALUES_H
#define TMI_STUDY_VALUES_H

#include <stdint.h>
#include <tamis/experimental/study.h>

#include "base/error.h"

#define TMI_MOST_VALUES 10000000 /* a simulation copies samples of them; and a few more would change nothing */

#define TMI_FARTHEST 1e100  /* ends of a range: squares of errors stay finite */
#define TMI_SHORTEST 1e-100 /* length of a range: and above 0 */

typedef struct tmi_values {
    double *sorted;
    uint32_t count;
    double from, to;       /* the declared range */
    double mean, variance; /* divisor count - 1 */
    double outside;        /* the share of the values that had to be clamped */
} tmi_values;

/* As tamis_study_population describes; `seed` makes laws repeatable.
 *
 * Errors   INVALID (no such law, no such column, an empty or constant population, a range that is not finite), SYSTEM. */
tamis_status tmi_values_new(tmi_values *values, const tamis_study_population *population, uint64_t seed, tamis_error *err);
void tmi_values_clear(tmi_values *values);

/* Rank of the median, from 1: the lower one of two. */
static inline uint32_t tmi_median_rank(uint32_t count) { return (count + 1) / 2; }

/* ---- parts ---- */

/* Takes over a list of values, clamps and sorts it. Frees the list on failure. */
tamis_status tmi_values_take(tmi_values *values, double *list, size_t count, double from, double to, tamis_error *err);

/* `count` draws from a law: "beta:2,10", "lognormal:5,0.5", "normal:0,1", "uniform" (on the range), "bimodal". */
tamis_status tmi_values_draw(double *list, size_t count, const char *law, double from, double to, uint64_t seed,
                             tamis_error *err);

/* Draws of a beta law that is stretched to the range, with this mean and standard deviation: a guess where nothing else is
 * known. INVALID: no law in the range has them. */
tamis_status tmi_values_guess(double *list, size_t count, double mean, double sd, double from, double to, uint64_t seed,
                              tamis_error *err);

/* The inverse of a distribution function that is given at some points and linear between them, at `count` equal steps. */
typedef struct tmi_quantile {
    double share, value;
} tmi_quantile;

tamis_status tmi_values_between(double *list, size_t count, tmi_quantile *points, size_t point_count, double from, double to,
                                tamis_error *err);

/* The numbers of a column of a .csv or .parquet file; missing ones are left out. The caller frees the list. */
tamis_status tmi_values_read(double **list, size_t *count, const char *path, const char *column, tamis_error *err);

/* What a release.json says about a column: its mean, NaN if it has none, and the shares below some values. The caller frees
 * the points. */
tamis_status tmi_values_released(double *mean, tmi_quantile **points, size_t *count, const char *path, const char *column,
                                 tamis_error *err);

#endif
