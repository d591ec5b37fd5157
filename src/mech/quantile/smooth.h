/* One quantile by smooth sensitivity, rounded to the public grid exactly.
 *
 * The quantile of n rows is the value x_(m), m = q n rounded up. The answer is the grid point nearest to x_(m) + N, moved into
 * the grid, with the noise
 *
 *     N = (S / beta) Z,    Z PolyPlace of p = epsilon / beta: epsilon-private;
 *     N = (S / alpha) L,   L standard Laplace: (epsilon, delta)-private, delta computed for this alpha and beta,
 *
 * S the smooth sensitivity of <tamis/experimental/smooth.h>, which has both arguments. Without a delta the law is the first.
 * With one it is that with the smaller mean size on a model of the data (below), and where that is the first no delta is spent.
 * What is rounded is the ideal answer of real numbers:
 * S, and the noise as a function of a uniform number u, are enclosed by balls, and bits are added until one grid point is
 * certain. Rounding and moving do not look at the data. So the law of the answer is that of the theorem, although S itself is
 * no double.
 *
 * The theorem is about n replaced records in a range. So there are no weights, n is the public number of rows, and a missing
 * value counts as the largest one. A unit of g rows gets g steps of epsilon / g each (without delta).
 *
 * Why S is the maximum over distinct values. S is the largest (x_(m+b) - x_(m-a)) e^(-beta (a + b - 1)) over a, b >= 0, a + b
 * >= 1. Of the a with the same x_(m-a) the smallest has the largest term, and likewise for b: a pile of records costs one
 * entry. The entries within a reach of K ranks are enough as soon as (high - low) e^(-beta K), which bounds all others, is not
 * above the largest of their terms.
 *
 * The law, alpha and beta are chosen before the data is read, from epsilon, delta, the rank and the number of rows: as if the
 * rows were spread evenly over a tenth of the range around the quantile. Whatever the data is, the promise is the same. */
#ifndef TMI_MECH_QUANTILE_SMOOTH_H
#define TMI_MECH_QUANTILE_SMOOTH_H

#include "mech/quantile/quantile.h"

/* The noise of one quantile. */
typedef struct tmi_smooth {
    tamis_number *beta;
    tamis_number *alpha; /* Laplace; NULL: PolyPlace */
    tamis_number *shape; /* PolyPlace: p */
} tmi_smooth;

/* Errors: INVALID (weights, add_remove, delta), UNABLE, SYSTEM. */
tamis_status tmi_smooth_set(tamis_quantile *quantile, const tamis_number *delta, tamis_error *err);
void tmi_smooth_clear(tamis_quantile *quantile);

/* The answers. Errors: SYSTEM, INVALID (more records than rows). */
tamis_status tmi_find_smooth(int64_t *points, tamis_quantile *quantile, const tmi_records *records, tamis_rng *rng,
                             tamis_error *err);

/* ---- parts ---- */

/* Distances from x_(m) on one side, ascending, the first 0; ranks[i] is how many ranks away the first record that far is. */
typedef struct tmi_gaps {
    int64_t *lengths, *ranks;
    size_t count, room;
} tmi_gaps;

/* The data around one rank, as far as the smooth sensitivity needs it. */
typedef struct tmi_neighbourhood {
    int64_t centre; /* x_(m) */
    tmi_gaps below, above;
} tmi_neighbourhood;

/* Errors: SYSTEM, INVALID. Nothing is to be cleared then. */
tamis_status tmi_neighbourhood_make(tmi_neighbourhood *around, const tamis_quantile *quantile, size_t number,
                                    const tmi_records *records, tamis_error *err);
void tmi_neighbourhood_clear(tmi_neighbourhood *around); /* wipes */

/* The smooth sensitivity in grid steps. False without memory. */
bool tmi_neighbourhood_sensitivity(tmi_ball *s, const tmi_neighbourhood *around, const tamis_number *beta, long bits);

#endif
