/* Private quantiles of one number column, on a public grid.
 *
 * An answer is a grid point: a multiple of `step` between `from` and `to`. Each record is put on the grid by itself, clamped to
 * its ends, so values need no bounds of their own; a grid far from the data costs accuracy and never privacy. A grid point is
 * chosen with probability proportional to its measure times exp(-rate * distance), where the distance is the weight of the
 * records that would have to move to make it the quantile (inverse sensitivity). A value that many records share, such as a
 * round income, is one point like any other and is found with high probability if the rank falls into it.
 *
 *     tamis_quantile_new        checks what is public
 *     tamis_quantile_prepare    draws random bits: before the data is read, so that no time depends on both
 *     tamis_quantile_values     one pass over the records; or tamis_quantile_points
 *
 * The probabilities are exactly the stated ones: weights are enclosed by certified arithmetic and refined until the random bits
 * decide. 128 bits are drawn for each choice, further ones with probability below 2^-64; methods for several quantiles also
 * draw two bytes for each record before they look at it. docs/quantiles.md has the theory and its
 * limits.
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_QUANTILE_H
#define TAMIS_EXPERIMENTAL_QUANTILE_H

#include <stdint.h>
#include <tamis/experimental/rng.h>

TAMIS_BEGIN

/* How quantiles are found: docs/quantiles.md compares them. */
typedef enum tamis_quantile_method {
    TAMIS_QUANTILE_AUTO,      /* the rule of docs/quantiles.md chooses it from the setup alone, and a log_unit if there is none */
    TAMIS_QUANTILE_INVERSE,   /* each by itself, with its part of epsilon */
    TAMIS_QUANTILE_JOINT,     /* all at once, by the weight between one and the next: best for up to about ten */
    TAMIS_QUANTILE_SPLIT,     /* the middle one first, then those in the halves of the data */
    TAMIS_QUANTILE_THRESHOLD, /* AboveThreshold on candidates that grow by a hundredth: tails, and unknown upper bounds */
    TAMIS_QUANTILE_SMOOTH,    /* each by itself: noise for the smooth sensitivity; replaced rows without weights */
    TAMIS_QUANTILE_HISTOGRAM, /* AboveThreshold with Laplace noise on equally spaced cuts */
    TAMIS_QUANTILE_TREE,      /* read from a distribution function measured with epsilon (<tamis/experimental/distribution.h>) */
    TAMIS_QUANTILE_PREFIX,    /* the same, measured with rho */
} tamis_quantile_method;

/* Quantiles of one call. */
#define TAMIS_QUANTILES 1000

/* What is public about the quantiles. */
typedef struct tamis_quantile_setup {
    const tamis_number *from, *to, *step; /* the grid */
    const tamis_number *const *at;        /* ascending; 1/2: the median */
    size_t at_count;
    const tamis_number *epsilon; /* of all together; NULL with rho */
    const tamis_number *delta;   /* SMOOTH alone: of all together, spent only where Laplace noise is the smaller; NULL: 0 */
    const tamis_number *rho;     /* PREFIX alone: zero-concentrated privacy of all together, in place of epsilon */
    tamis_quantile_method method;
    int add_remove;        /* neighbours differ by a unit added or removed; else by one replaced */
    int64_t rows_per_unit; /* records of one unit, at most; 0: 1 */
    int64_t max_weight;    /* weights are integers from 0 to this; 0: there are none */
    const tamis_number
        *log_unit; /* NULL: all grid points have the same measure. Else the measure is that of log(x - from + unit):
                                     for skewed data, with a unit, such as 1 euro, below which differences do not matter */
    int64_t bins;  /* HISTOGRAM, TREE, PREFIX: how many; 0: 256 cuts, or 4096 bins, or as many as the grid has */
    int complete;  /* THRESHOLD, HISTOGRAM, replaced rows without weights, and `rows`: values are hardly ever missing, so ranks
                     are among all rows, their number is a public threshold and the noise is smaller; a missing value counts as
                     large */
    int64_t rows;  /* how many rows there are, missing values included, if neighbours have as many; 0: not known. For AUTO,
                     SMOOTH (0: as many as records) and `complete` */
} tamis_quantile_setup;

typedef struct tamis_quantile tamis_quantile;

/* Needs    from < to, step > 0, less than 2^52 steps from zero; 1 to TAMIS_QUANTILES of `at`, ascending, 0 < at < 1 with
 *          denominators of at most 2^30; 0 < epsilon <= 1000, or for PREFIX 0 < rho <= 1000;
 *          rows_per_unit <= 2^20, max_weight <= 2^40 (TREE, PREFIX: 2^20); log_unit at least a millionth of the step; bins from 1
 *          to TAMIS_BINS, fewer than grid points.
 * Gives    a quantile that the caller frees with tamis_quantile_free; NULL on failure. The numbers are copied. All answers of
 *          one call are together epsilon-private, or (epsilon, delta)-private, or rho-zCDP, for a unit, its values, its weights
 *          and which of its values are missing.
 * Errors   INVALID, UNABLE, SYSTEM (memory).
 * Paper    quantile, 2.2 and 3.1, on a grid with ties (docs/papers.md#quantile-3-1).                                           */
TAMIS_USE tamis_status tamis_quantile_new(tamis_quantile **quantile, const tamis_quantile_setup *setup, tamis_error *err);
TAMIS_API void tamis_quantile_free(tamis_quantile *quantile); /* NULL is fine; wipes the bits */

/* Draws the random bits of the next call.
 *
 * Errors   INVALID, SYSTEM (no random bits).                                                                         */
TAMIS_USE tamis_status tamis_quantile_prepare(tamis_quantile *quantile, tamis_rng *rng, tamis_error *err);

/* The answers from values as they are, or from grid points k (worth k * step, INT64_MIN is missing). NaN and infinities are
 * missing and left out. Without records the answers follow the measure alone.
 *
 * Needs    tamis_quantile_prepare before each call; weights if and only if there is a max_weight (those outside of 0 to
 *          max_weight count as the nearer of the two); count times max_weight at most 2^62.
 * Gives    one grid point for each `at`, in ascending order, worth point * step; all 0 on failure. The bits are used up.
 * Cost     INVERSE: one pass over the records for each quantile, and O(K log K) for those that an answer can reach: K is about
 *          100 / epsilon ranks. 10^7 values take some twenty milliseconds. With probability below 2^-40 all records are sorted.
 *          JOINT, SPLIT: the records are sorted, byte by byte, once. JOINT then takes O(m^2 K) steps for m quantiles, K about
 *          30 m / epsilon. SMOOTH: as INVERSE. TREE, PREFIX: one pass, with count times max_weight at most 2^60, 2^46.
 * Errors   INVALID, SYSTEM (memory, random bits).                                                                    */
TAMIS_USE tamis_status tamis_quantile_values(int64_t *points, tamis_quantile *quantile, const double *values,
                                             const int64_t *weights, size_t count, tamis_rng *rng, tamis_error *err);
TAMIS_USE tamis_status tamis_quantile_points(int64_t *points, tamis_quantile *quantile, const int64_t *records,
                                             const int64_t *weights, size_t count, tamis_rng *rng, tamis_error *err);

/* The method, which is not AUTO any more; and its name: "inverse". */
TAMIS_API tamis_quantile_method tamis_quantile_method_of(const tamis_quantile *quantile);
TAMIS_API const char *tamis_quantile_method_name(tamis_quantile_method method); /* NULL: there is none */

/* The method of a name. TAMIS_QUANTILE_AUTO on failure. Errors: INVALID. */
TAMIS_USE tamis_status tamis_quantile_method_of_name(tamis_quantile_method *method, const char *name, tamis_error *err);

/* The grid: its lowest and highest point. */
TAMIS_API void tamis_quantile_grid(int64_t *low, int64_t *high, const tamis_quantile *quantile);

/* How far an answer may be off, from public numbers alone: with probability at least `confidence`, for all answers of a call at
 * once, the weight between an answer and its quantile is below rank_error times max_weight (without weights: that many records).
 * That holds for all data. Answers of THRESHOLD, HISTOGRAM, TREE and PREFIX are upper ends of cells, the cuts between which the
 * method decides; of them it holds for some value of the cell. INVERSE: where it is known that at least `points` grid points are
 * within one record of each quantile, the bound is better; points = 1 assumes nothing.
 *
 * Needs    number < at_count, 0 < confidence < 1, points >= 1; JOINT and SPLIT of several: `rows` in the setup.
 * Gives    an upper bound; infinity on failure.
 * Errors   INVALID, SYSTEM (memory), UNABLE (no bound is known: SMOOTH; JOINT and SPLIT without `rows`), with the reason.  */
TAMIS_USE tamis_status tamis_quantile_error(double *rank_error, const tamis_quantile *quantile, size_t number,
                                            const tamis_number *confidence, int64_t points, tamis_error *err);

TAMIS_END

#endif
