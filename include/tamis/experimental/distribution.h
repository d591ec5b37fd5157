/* The whole distribution function of one number column at once.
 *
 * The grid is cut into bins, and the weight below each cut is released: as many numbers as there are bins, for not much more
 * noise than one of them. There are two ways, by what is promised:
 *
 *     rho        zero-concentrated privacy: factorised prefix sums. The matrix A of prefix sums is written as F F; what is
 *                measured is F x plus discrete Gaussian noise, with F rounded to integers, and F applied once more turns it into
 *                prefix sums. A record then changes each measured number a little instead of all prefix sums by its weight:
 *                with 1024 bins the standard deviation is a tenth of that of an added-up noisy histogram.
 *     epsilon    pure privacy: a tree of sums with discrete Laplace noise, made consistent by least squares. The branching, and
 *                the part of epsilon that each level gets, are the best for the number of bins.
 *
 * The calls are the same:
 *
 *     tamis_distribution_new        checks what is public, and computes the noise
 *     tamis_distribution_prepare    draws the noise: before the data is read
 *     tamis_distribution_points     one pass over the records
 *     tamis_distribution_at, _quantile
 *
 * The noise is on integers, and its scale follows from exact integers. docs/quantiles.md has the argument.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_DISTRIBUTION_H
#define TAMIS_EXPERIMENTAL_DISTRIBUTION_H

#include <stdint.h>
#include <tamis/experimental/rng.h>

TAMIS_BEGIN

#define TAMIS_BINS 4096 /* at most */

/* What is public. */
typedef struct tamis_distribution_setup {
    const tamis_number *from, *to, *step; /* the grid */
    int64_t bins;                         /* nearly equal ones, of grid points */
    const tamis_number *rho;              /* zero-concentrated privacy of everything together; or NULL and */
    const tamis_number *epsilon;          /* pure privacy of everything together */
    int add_remove;                       /* neighbours differ by a unit added or removed; else by one replaced */
    int64_t rows_per_unit;                /* records of one unit, at most; 0: 1 */
    int64_t max_weight;                   /* weights are integers from 0 to this; 0: there are none */
} tamis_distribution_setup;

typedef struct tamis_distribution tamis_distribution;

/* Needs    a grid as in tamis_quantile_new; 2 <= bins <= TAMIS_BINS, and no more than grid points; either rho or epsilon, above 0
 *          and at most 1000; rows_per_unit <= 2^20, max_weight <= 2^20.
 * Gives    a distribution that the caller frees with tamis_distribution_free; NULL on failure. What one call measures is
 *          rho-zCDP, or epsilon-private, for a unit, its values, its weights and which of its values are missing.
 * Errors   INVALID, SYSTEM (memory).
 * Paper    beyond the papers (docs/papers.md#quantile-prefix, #quantile-tree). */
TAMIS_USE tamis_status tamis_distribution_new(tamis_distribution **distribution, const tamis_distribution_setup *setup,
                                              tamis_error *err);
TAMIS_API void tamis_distribution_free(tamis_distribution *distribution); /* NULL is fine; wipes the noise */

/* Draws the noise of the next call. Errors: INVALID, SYSTEM (no random bits). */
TAMIS_USE tamis_status tamis_distribution_prepare(tamis_distribution *distribution, tamis_rng *rng, tamis_error *err);

/* Measures the records: grid points k, worth k * step, INT64_MIN is missing and left out; others are clamped to the grid.
 *
 * Needs    tamis_distribution_prepare before each call; weights if and only if there is a max_weight; count times max_weight at
 *          most 2^46, with epsilon 2^60.
 * Cost     one pass over the records, and O(bins^2) with rho, O(bins) with epsilon.
 * Errors   INVALID, SYSTEM (memory). Then there is nothing to ask for. */
TAMIS_USE tamis_status tamis_distribution_points(tamis_distribution *distribution, const int64_t *points, const int64_t *weights,
                                                 size_t count, tamis_error *err);

/* The weight of the records up to the end of a bin: the estimate, smoothed so that it never falls (which makes no sum of squared
 * errors larger), the unsmoothed one, and the standard deviation of the latter's noise. *last is the bin's last grid point.
 * Outputs may be NULL.
 *
 * Errors   INVALID (no such bin, nothing measured yet); outputs are then 0, and the standard deviation infinite. */
TAMIS_USE tamis_status tamis_distribution_at(int64_t *last, double *smooth, double *plain, double *sd,
                                             const tamis_distribution *distribution, int64_t bin, tamis_error *err);

/* The last grid point of the first bin at which the smoothed function reaches `at` of its total.
 *
 * Needs    0 < at < 1.
 * Errors   INVALID; *point is then 0.                                                                                */
TAMIS_USE tamis_status tamis_distribution_quantile(int64_t *point, const tamis_distribution *distribution, const tamis_number *at,
                                                   tamis_error *err);

TAMIS_END

#endif
