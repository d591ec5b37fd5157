/* Inversion of a certified distribution function on the grid.
 *
 * Why exact. Let u be uniform in [0, 1). The point o with CDF(o - 1) <= u < CDF(o) has probability CDF(o) - CDF(o - 1). The
 * weights are balls, u is the ball of all numbers that begin with the digits at hand, and a point is returned only if every
 * choice of numbers from the balls leads to it. Otherwise the weights are computed with more bits, then u gets more digits:
 * with 384 bits the weights are known far better than u, so digits are added only if the interval of 2^-128 around u contains
 * one of the fewer than 2^53 values of the distribution function: with probability below 2^-75.
 *
 * Points outside of the window have weights between 0 and a bound. If that decides nothing, *beyond says so, and the caller comes
 * back with all records sorted. */
#include <math.h>

#include "base/memory.h"
#include "mech/quantile/inverse.h"

#define BITS_FIRST 192
#define BITS_MORE 384

void tmi_base_of(tmi_ball *z, const tmi_base_measure *m, int64_t first, int64_t count, long bits)
{
    tmi_ball start;
    if (!m->log_unit) {
        tmi_ball_set_int(z, count);
        return;
    }
    tmi_ball_init(&start);
    tmi_ball_set_number(&start, m->log_unit, bits);
    tmi_ball_add_int(&start, &start, first - m->low, bits);
    tmi_ball_set_int(z, count);
    tmi_ball_div(z, z, &start, bits);
    tmi_ball_log1p(z, z, bits);
    tmi_ball_clear(&start);
}

static void weigh(tmi_ball *z, const tmi_score_block *b, const tmi_base_measure *m, tmi_decays *powers, long bits)
{
    tmi_ball measure, zero;
    tmi_ball_inits(&measure, &zero, NULL);
    tmi_decay(z, powers, b->loss);
    tmi_base_of(&measure, m, b->first, b->count, bits);
    tmi_ball_mul(z, z, &measure, bits);
    if (b->beyond) tmi_ball_union(z, z, &zero, bits);
    tmi_ball_clears(&measure, &zero, NULL);
}

bool tmi_point_at(int64_t *point, const tmi_score_block *b, const tmi_ball *rest, const tmi_ball *weight,
                  const tmi_base_measure *m, long bits)
{
    tmi_ball x, y, end;
    bool found = b->count == 1;
    *point = b->first;
    if (found) return true;
    tmi_ball_inits(&x, &y, &end, NULL);
    tmi_ball_div(&x, rest, weight, bits); /* in units of the measure */
    if (m->log_unit) {                    /* log((c + i) / c) <= x: i <= c (exp(x) - 1) */
        tmi_ball_expm1(&x, &x, bits);
        tmi_ball_set_number(&y, m->log_unit, bits);
        tmi_ball_add_int(&y, &y, b->first - m->low, bits);
        tmi_ball_mul(&x, &x, &y, bits);
    }
    const tamis_bound near = tmi_ball_bound(&x); /* a double may be too coarse: the candidates are compared exactly */
    const double guess = isfinite(near.lower) ? floor(near.lower) : 0;
    for (int64_t i = (int64_t)fmin(fmax(guess, 0), 0x1p53), k = 0; !found && k < 4 && i < b->count; i++, k++) {
        tmi_ball_set_int(&y, i);
        tmi_ball_set_int(&end, i + 1);
        found = (i == 0 || tmi_ball_is_at_most(&y, &x)) && (i == b->count - 1 || tmi_ball_is_less(&x, &end));
        if (found) *point = b->first + i;
    }
    tmi_ball_clears(&x, &y, &end, NULL);
    return found;
}

/* One try with this many bits. */
static tamis_status try_to_find(int64_t *point, bool *certain, bool *beyond, const tmi_score_blocks *blocks,
                                const tmi_base_measure *m, const tamis_number *rate, const tmi_uniform_bits *u, long bits,
                                tamis_error *err)
{
    tmi_decays *powers = tmi_decays_new(rate, bits);
    tmi_ball *weights = tmi_alloc(blocks->count, sizeof *weights);
    tmi_ball sum, at, before;
    tamis_status status = TAMIS_OK;
    *certain = *beyond = false;
    tmi_ball_inits(&sum, &at, &before, NULL);
    if (!powers || !weights) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < blocks->count; j++) {
        tmi_ball_init(&weights[j]);
        weigh(&weights[j], &blocks->list[j], m, powers, bits);
        tmi_ball_add(&sum, &sum, &weights[j], bits);
        *beyond = *beyond || blocks->list[j].beyond;
    }
    tmi_uniform_ball(&at, u, bits);
    tmi_ball_mul(&at, &at, &sum, bits);
    for (size_t j = 0; j < blocks->count; j++) {
        tmi_ball_add(&sum, &before, &weights[j], bits); /* now of the blocks up to j */
        const bool is_last = j + 1 == blocks->count;
        if (!is_last && tmi_ball_is_at_most(&sum, &at)) {
            tmi_ball_set(&before, &sum);
            continue;
        }
        if (!is_last && !tmi_ball_is_less(&at, &sum)) break;
        tmi_ball_sub(&at, &at, &before, bits);
        tmi_decay(&sum, powers, blocks->list[j].loss);
        if (!blocks->list[j].beyond) *certain = tmi_point_at(point, &blocks->list[j], &at, &sum, m, bits);
        break;
    }
done:
    for (size_t j = 0; weights && powers && j < blocks->count; j++) tmi_ball_clear(&weights[j]);
    tmi_free(weights);
    tmi_decays_free(powers);
    tmi_ball_clears(&sum, &at, &before, NULL);
    return status;
}

tamis_status tmi_score_blocks_find(int64_t *point, bool *beyond, const tmi_score_blocks *blocks, const tmi_base_measure *measure,
                                   const tamis_number *rate, tmi_uniform_bits *u, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool certain = false;
    long bits = BITS_FIRST;
    *point = blocks->list[0].first;
    *beyond = false;
    TMI_TRY(try_to_find(point, &certain, beyond, blocks, measure, rate, u, bits, err));
    if (certain || *beyond) goto done;
    for (bits = BITS_MORE;; bits += 64) {
        TMI_TRY(try_to_find(point, &certain, beyond, blocks, measure, rate, u, bits, err));
        if (certain) break;
        TMI_TRY(tmi_uniform_more(u, rng, err));
    }
done:
    if (certain) *beyond = false;
    if (status != TAMIS_OK) *point = blocks->list[0].first;
    return status;
}
