/* How much a weighted statistic can change with one record, under each setting, exactly.
 *
 * Noise is scaled to the largest change that one person's record can make. For a weighted total that depends on the
 * setting: on the weights that count as possible (those of the sample, of the frame, of the population, or any that the
 * plan declares), on whether a neighbour may hold no record at all, and on whether one record may move the weights of
 * all others. With weights w0 <= w <= w1, values a <= x <= b and M = max(|a|, |b|), one cell, one row per unit:
 *
 *     the unit stays, its answer changes                     w1 (b - a)
 *     another unit of the frame takes its place              max w x - min w x
 *     ... and a record may add nothing                       0 joins the values of w x
 *     ... and n - 1 other weights may move                   + (n - 1) (w1 - w0) M
 *     a record is added or removed                           w1 M
 *
 * In a table the record may leave one cell and enter another: w1 M each. All of these are attained, so nothing smaller
 * is safe; tests look at every small dataset.
 *
 * Paper    settings, 4.3 to 4.5, for neighbours that differ in one record (docs/papers.md#settings-4-5-2).
 *
 * Experimental: this header may change in any version, and programs that use it are compiled again with each. */
#ifndef TAMIS_EXPERIMENTAL_SENSITIVITY_H
#define TAMIS_EXPERIMENTAL_SENSITIVITY_H

#include <tamis/experimental/setting.h>

TAMIS_BEGIN

/* Public bounds, both ends included; both NULL: not known. */
typedef struct tamis_span {
    const tamis_number *least, *most;
} tamis_span;

/* What one record can add. */
typedef struct tamis_contribution {
    tamis_span values;                    /* of the variable; 1 to 1 for a count */
    tamis_span weights[TAMIS_SAMPLE + 1]; /* [TAMIS_NOTHING] of any unit that there could be, [TAMIS_POPULATION] of the
                                        population, [TAMIS_FRAME] of the frame, [TAMIS_SAMPLE] of the sample: each narrower
                                        than the one before, and public; what is not known is taken from the one before */
    int left_out;                         /* a record may add nothing: missing, or not in `where` */
    int design_protected;                 /* strata, sizes and clusters are protected: one record may move all weights */
    int add_remove;                       /* neighbours differ by a record added or removed; else by one replaced */
    int64_t units;                        /* drawn units in the file, 0: not public. Horvitz-Thompson: at most this many. Hajek:
                                             exactly, since with fewer units each has a larger share */
    int64_t rows_per_unit;                /* at most, at least 1 */
    int64_t cells;                        /* of the table; 1: one number */
    const tamis_number *population;       /* for estimators that use it; else NULL */
} tamis_contribution;

typedef enum tamis_estimator {
    TAMIS_HT_TOTAL,   /* sum of w x, in each cell */
    TAMIS_HT_MEAN,    /* that / population */
    TAMIS_HAJEK_MEAN, /* (sum of w x in the cell) / (sum of w of all cells): a mean, or a table of shares */
    TAMIS_HAJEK_TOTAL /* that * population */
} tamis_estimator;

/* The largest distance between the tables of two neighbours. */
typedef struct tamis_sensitivity {
    tamis_number *l1;         /* sum of the changes of all cells: for Laplace noise */
    tamis_number *l2_squared; /* sum of their squares: for Gaussian noise */
    tamis_number *largest;    /* largest change of one cell */
} tamis_sensitivity;

/* Needs    values given, 0 <= least weight (0 < for a Hajek mean), 1 <= rows_per_unit, 1 <= cells, counts at most 2^40;
 *          population > 0 where the estimator uses it.
 * Gives    exact numbers that tamis_sensitivity_clear frees; attained, except that a Hajek mean whose weights may move
 *          gets its range as a bound when it has several cells or rows. All NULL on failure.
 * Errors   INVALID (the message names the field), REFUSED (no finite number, with the nearest setting that has one),
 *          SYSTEM.
 * Paper    settings, 4.5.2, as corrected in docs/papers.md#settings-4-5-2.                                           */
TAMIS_USE tamis_status tamis_sensitivity_of(tamis_sensitivity *sensitivity, const tamis_setting *setting,
                                            tamis_estimator estimator, const tamis_contribution *contribution, tamis_error *err);

/* Horvitz-Thompson totals of a stratified sample. While strata are public a record stays in its stratum, and the
 * sensitivity is the largest of the strata's, not that of the whole range (settings, 4.4); if they are protected, a record
 * may move from any stratum to any other.
 *
 * Needs    count >= 1 contributions that agree in cells, rows_per_unit, left_out, add_remove, design_protected.        */
TAMIS_USE tamis_status tamis_sensitivity_of_strata(tamis_sensitivity *sensitivity, const tamis_setting *setting,
                                                   const tamis_contribution *strata, size_t count, tamis_error *err);

TAMIS_API void tamis_sensitivity_clear(tamis_sensitivity *sensitivity);

/* ---- the Laplace mechanism when not every dataset is compared with every other ----
 *
 * A finite specification: `datasets` datasets, their distances, and universes: sets of datasets that are compared with
 * each other, each with its own budget epsilon. The Laplace mechanism adds to q(d) noise of scale
 *
 *     largest |q(d) - q(d')|_1 / (epsilon distance(d, d')) over the pairs of the universe of d.
 *
 * It is private if universes are disjoint (else one dataset would need two scales, and its scale would reveal where it is)
 * and complete (all distances within one are finite; else the largest over no pair would be no noise at all).          */
typedef struct tamis_universe {
    const size_t *members;
    size_t count;
    const tamis_number *epsilon;
} tamis_universe;

typedef struct tamis_finite {
    size_t datasets, outputs;            /* q has `outputs` numbers */
    const tamis_number *const *q;        /* q[d * outputs + j] */
    const tamis_number *const *distance; /* distance[d * datasets + e]; NULL: infinite */
    const tamis_universe *universes;
    size_t universe_count;
} tamis_finite;

/* The scale of the noise of each dataset; 0 where a universe has nothing to hide. A dataset in no universe is compared with
 * none and gets 0.
 *
 * Needs    distances >= 0, symmetric, 0 on the diagonal; epsilons > 0; members below `datasets`, each once in a universe.
 * Gives    `datasets` numbers that the caller frees; all NULL on failure.
 * Cost     O(pairs * outputs).
 * Errors   INVALID, REFUSED (universes overlap or are not complete; different values at distance 0), SYSTEM.
 * Paper    settings, Theorem 4.3, as corrected in docs/papers.md#settings-4-3.                                       */
TAMIS_USE tamis_status tamis_laplace_scales(tamis_number **scales, const tamis_finite *finite, tamis_error *err);

TAMIS_END

#endif
