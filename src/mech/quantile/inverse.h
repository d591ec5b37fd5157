/* One quantile by inverse sensitivity on a public grid.
 *
 * A grid point o has the distance
 *
 *     loss(o) = max(0, d L(o) - p T, p T - d M(o)),    L(o) = weight of x < o,  M(o) = weight of x <= o,  T = weight of all,
 *
 * from the quantile p/d: how much weight, in units of 1/d, has to move until o is the quantile. A value that many records share
 * keeps its point, with distance 0 if the rank falls into it. The answer is o with probability proportional to m(o) exp(-rate
 * loss(o)), m a public measure.
 *
 * Privacy. A record of weight w adds w (d [x < o] - p) to d L(o) - p T, a number from -p w to (d - p) w, and likewise to the
 * third term. So a unit of g records of weight at most W moves a loss by at most
 *
 *     S = d g W                 if its records are replaced by others (also in number, up to g, in weight, or by missing ones),
 *     S = max(p, d - p) g W     if they are added or removed,
 *
 * and with rate = epsilon / (2 S) each of the probabilities' numerator and denominator changes by a factor of at most
 * exp(epsilon / 2): the answer is epsilon-private.
 *
 * Runs of points with the same loss are blocks: at most two per distinct value, and one. */
#ifndef TMI_MECH_QUANTILE_INVERSE_H
#define TMI_MECH_QUANTILE_INVERSE_H

#include "mech/quantile/records.h"
#include "mech/quantile/uniform_bits.h"

/* The measure of the grid points from low + i to low + j - 1: j - i, or with a unit c (of grid steps) log((c + j) / (c + i)). */
typedef struct tmi_base_measure {
    const tamis_number *log_unit; /* NULL: uniform */
    int64_t low;
} tmi_base_measure;

void tmi_base_of(tmi_ball *z, const tmi_base_measure *measure, int64_t first, int64_t count, long bits);

typedef struct tmi_score_block {
    int64_t first, count; /* grid points */
    tmi_int128 loss;
    bool beyond; /* outside of the window: the loss of its points is at least this */
} tmi_score_block;

typedef struct tmi_score_blocks {
    tmi_score_block *list; /* in the order of the grid, without a gap */
    size_t count;
} tmi_score_blocks;

/* The blocks of all grid points low ... high. Errors: SYSTEM. */
tamis_status tmi_score_blocks_make(tmi_score_blocks *blocks, const tmi_rank_window *window, int64_t low, int64_t high, int64_t p,
                                   int64_t d, tamis_error *err);
void tmi_score_blocks_clear(tmi_score_blocks *blocks); /* wipes */

/* The point that belongs to the uniform number u: the one with CDF(point - 1) <= u < CDF(point). More of its digits are drawn
 * where those at hand do not decide; *beyond: the blocks outside of the window must be known to decide, and nothing was drawn.
 *
 * Errors   SYSTEM, those of tmi_uniform_more. */
tamis_status tmi_score_blocks_find(int64_t *point, bool *beyond, const tmi_score_blocks *blocks, const tmi_base_measure *measure,
                                   const tamis_number *rate, tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err);

/* The point of a block, whose points weigh `weight` times their measure, that has `rest` between the block's beginning and
 * itself, its own weight excluded; false if that is not certain. */
bool tmi_point_at(int64_t *point, const tmi_score_block *block, const tmi_ball *rest, const tmi_ball *weight,
                  const tmi_base_measure *measure, long bits);

/* ---- weights exp(-rate loss) ---- */

/* Powers of exp(-rate), made when they are first asked for. */
typedef struct tmi_decays tmi_decays;
tmi_decays *tmi_decays_new(const tamis_number *rate, long bits); /* NULL: no memory; the rate is borrowed */
void tmi_decays_free(tmi_decays *powers);
void tmi_decay(tmi_ball *z, tmi_decays *powers, tmi_int128 loss); /* loss >= 0 */

#endif
