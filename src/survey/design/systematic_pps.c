/* Systematic sampling with unequal probabilities (Madow 1949), in list order or in random order.
 *
 * The units lie on a line, each on an interval as long as its probability; with U uniform in [0, 1) the points U, U
 * + 1, U + 2, ... take the units on which they fall. All ends are multiples of 1/D, so U may be an integer below D,
 * over D. Seen on a circle of length 1, unit k is taken if and only if U lies on its arc: pi_kl is the overlap of two
 * arcs, and the sample changes only at the ends of arcs. In random order the list is shuffled first; the law is then
 * the average over all orders, which is offered for few units.                                                       */
#include <stdlib.h>

#include "rng/uniform.h"
#include "survey/design/pps.h"

/* The units that the points take, u being the first point, into `taken` (open numbers, pps->size of them). */
static void take(size_t *taken, const tmi_pps *pps, const uint64_t *order, const uint64_t *u)
{
    const tmi_common *pi = &pps->pi;
    uint64_t point[TMI_COMMON_WORDS], sum[TMI_COMMON_WORDS] = {0}; /* both at most (population + 1) D */
    size_t count = 0;
    tmi_wide_set(point, u, pi->words);
    for (size_t t = 0; t < pps->open_count; t++) {
        size_t k = order ? (size_t)order[t] : t;
        tmi_wide_add(sum, sum, tmi_open(pps, k), pi->words);
        if (tmi_wide_compare(sum, point, pi->words) <= 0) continue;
        taken[count++] = k;
        tmi_wide_add(point, point, pi->denominator, pi->words);
    }
}

/* ---- drawing ---- */

static tamis_status draw_in_order(tamis_drawn *drawn, const tmi_pps *pps, const uint64_t *order, tamis_rng *rng, tamis_error *err)
{
    uint64_t u[TMI_COMMON_WORDS];
    tamis_status status = TAMIS_OK;
    size_t *taken = tmi_alloc((size_t)pps->size, sizeof *taken);
    if (!taken) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_pps_draw_certain(drawn, pps, err));
    if (!tmi_uniform_wide(u, pps->pi.denominator, pps->pi.words, rng)) TMI_TRY(tmi_bits_failed(err));
    take(taken, pps, order, u);
    for (int64_t i = 0; i < pps->size; i++) TMI_TRY(tmi_drawn_add(drawn, pps->open[taken[i]], err));
done:
    if (taken) tmi_wipe(taken, (size_t)pps->size * sizeof *taken);
    tmi_free(taken);
    return status;
}

/* ---- pairs ---- */

/* z = the part of [0, first) that lies on [d, d + second) of a circle of length one; d < one. */
static void overlap(uint64_t *z, const uint64_t *first, const uint64_t *second, const uint64_t *d, const uint64_t *one,
                    size_t words)
{
    uint64_t part[TMI_COMMON_WORDS], end[TMI_COMMON_WORDS];
    memset(z, 0, words * sizeof *z);
    if (tmi_wide_compare(d, first, words) < 0) { /* [d, min(first, d + second)) */
        tmi_wide_sub(part, first, d, words);
        tmi_wide_set(z, tmi_wide_compare(part, second, words) < 0 ? part : second, words);
    }
    tmi_wide_add(end, d, second, words);
    if (tmi_wide_compare(end, one, words) > 0) { /* [0, min(first, d + second - one)) */
        tmi_wide_sub(end, end, one, words);
        tmi_wide_add(z, z, tmi_wide_compare(end, first, words) < 0 ? end : first, words);
    }
}

/* Where the arcs begin, below D. */
static uint64_t *starts_of(const tmi_pps *pps)
{
    size_t words = pps->pi.words;
    uint64_t *starts = tmi_alloc(pps->open_count * words, sizeof *starts), sum[TMI_COMMON_WORDS] = {0};
    for (size_t t = 0; starts && t < pps->open_count; t++) {
        tmi_wide_set(starts + t * words, sum, words);
        tmi_wide_add(sum, sum, tmi_open(pps, t), words);
        if (tmi_wide_compare(sum, pps->pi.denominator, words) >= 0) tmi_wide_sub(sum, sum, pps->pi.denominator, words);
    }
    return starts;
}

static tamis_status open_joint(tmi_ball *pij, const tmi_pps *pps, const size_t *open, size_t count, long bits, tamis_error *err)
{
    size_t words = pps->pi.words;
    const uint64_t *one = pps->pi.denominator;
    uint64_t *starts = starts_of(pps), d[TMI_COMMON_WORDS], z[TMI_COMMON_WORDS];
    if (!starts) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            if (tmi_wide_sub(d, starts + open[j] * words, starts + open[i] * words, words))
                tmi_wide_add(d, d, one, words); /* back from below zero */
            overlap(z, tmi_open(pps, open[i]), tmi_open(pps, open[j]), d, one, words);
            tmi_ball_set_wide(&pij[i * count + j], z, one, words, bits);
        }
    tmi_free(starts);
    return TAMIS_OK;
}

/* ---- the law ---- */

/* Adds the samples of one order, each with the length of its arc times `weight`. */
static tamis_status add_order(tamis_law *law, const tmi_pps *pps, const uint64_t *order, const tamis_number *weight,
                              tamis_error *err)
{
    size_t words = pps->pi.words, n = pps->open_count, taken[TAMIS_LAW_UNITS];
    const uint64_t *one = pps->pi.denominator;
    uint64_t ends[TAMIS_LAW_UNITS + 1][TMI_COMMON_WORDS], sum[TMI_COMMON_WORDS] = {0}, length[TMI_COMMON_WORDS];
    tamis_number *share = NULL, *p = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t t = 0; t < n; t++) { /* insertion into the sorted ends */
        size_t at = t;
        for (; at > 0 && tmi_wide_compare(ends[at - 1], sum, words) > 0; at--) tmi_wide_set(ends[at], ends[at - 1], words);
        tmi_wide_set(ends[at], sum, words);
        tmi_wide_add(sum, sum, tmi_open(pps, order ? (size_t)order[t] : t), words);
        if (tmi_wide_compare(sum, one, words) >= 0) tmi_wide_sub(sum, sum, one, words);
    }
    tmi_wide_set(ends[n], one, words);
    for (size_t t = 0; t < n; t++) {
        uint32_t set = 0;
        tmi_wide_sub(length, ends[t + 1], ends[t], words);
        if (tmi_wide_is_zero(length, words)) continue;
        take(taken, pps, order, ends[t]);
        for (int64_t i = 0; i < pps->size; i++) set |= UINT32_C(1) << taken[i];
        TMI_TRY(tmi_number_wide(&share, length, one, words, err));
        TMI_TRY(tmi_number_mul(&p, share, weight, err));
        tamis_number_free(share);
        share = NULL;
        TMI_TRY(tmi_sample_law_take_set(law, tmi_pps_units(pps, set), p, err));
    }
done:
    tamis_number_free(share);
    return status;
}

static tamis_status law_of(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    tamis_number *one;
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status != TAMIS_OK) return status;
    if (pps->open_count == 0) return tmi_sample_law_take_set(law, tmi_pps_units(pps, 0), one, err);
    status = add_order(law, pps, NULL, one, err);
    tamis_number_free(one);
    return status;
}

#define RANDOM_UNITS 8 /* 40320 orders */

/* Every order of order[from], ..., the first ones being fixed. */
static tamis_status add_orders(tamis_law *law, const tmi_pps *pps, uint64_t *order, size_t from, const tamis_number *weight,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (from == pps->open_count) return add_order(law, pps, order, weight, err);
    for (size_t i = from; i < pps->open_count && status == TAMIS_OK; i++) {
        uint64_t first = order[from];
        order[from] = order[i];
        order[i] = first;
        status = add_orders(law, pps, order, from + 1, weight, err);
        order[i] = order[from];
        order[from] = first;
    }
    return status;
}

static tamis_status law_random(tamis_law *law, const tamis_design *design, tamis_error *err)
{
    const tmi_pps *pps = tmi_pps_of(design);
    uint64_t order[RANDOM_UNITS];
    int64_t orders = 1;
    tamis_number *weight;
    if (pps->open_count == 0) return law_of(law, design, err);
    if (pps->open_count > RANDOM_UNITS)
        return tmi_fail(err, TAMIS_UNABLE,
                        "systematic_random: samples can be listed for at most %d units with a probability below 1, since all "
                        "their orders are averaged",
                        RANDOM_UNITS);
    for (size_t i = 0; i < pps->open_count; i++) {
        order[i] = i;
        orders *= (int64_t)i + 1;
    }
    tamis_status status = tmi_number_ratio(&weight, 1, orders, err);
    if (status == TAMIS_OK) status = add_orders(law, pps, order, 0, weight, err);
    tamis_number_free(weight);
    return status;
}

const tmi_pps_method tmi_systematic_pps = {{TMI_PPS_KIND("systematic"), .law = law_of, .joint = tmi_pps_joint,
                                            .draw = tmi_pps_draw},
                                           .open_joint = open_joint,
                                           .draw_in_order = draw_in_order,
                                           .reason = "systematic sampling with unequal probabilities has no proved coupling"};

const tmi_pps_method tmi_systematic_random = {
    {TMI_PPS_KIND("systematic_random"), .law = law_random, .draw = tmi_pps_draw},
    .draw_in_order = draw_in_order,
    .shuffled = true,
    .reason = "systematic sampling with unequal probabilities in random order has no proved coupling"};
