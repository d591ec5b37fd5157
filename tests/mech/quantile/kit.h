/* Small data sets for quantiles, and the loss of a pair of laws. */
#ifndef TESTS_MECH_QUANTILE_KIT_H
#define TESTS_MECH_QUANTILE_KIT_H

#include "tests/test.h"

#include "mech/quantile/inverse.h"
#include "mech/quantile/quantile.h"

#define MOST_POINTS 4096

typedef struct kit_setup {
    const char *from, *to, *step, *at, *epsilon, *log_unit;
    int add_remove;
    int64_t rows, max_weight;
} kit_setup;

static inline tamis_status kit_try(tamis_quantile **quantile, const kit_setup *k, tamis_error *err)
{
    tamis_number *x[] = {number(k->from), number(k->to),      number(k->step),
                         number(k->at),   number(k->epsilon), k->log_unit ? number(k->log_unit) : NULL};
    const tamis_number *const at[] = {x[3]};
    const tamis_quantile_setup setup = {.from = x[0],
                                        .to = x[1],
                                        .step = x[2],
                                        .at = at,
                                        .at_count = 1,
                                        .method = TAMIS_QUANTILE_INVERSE,
                                        .epsilon = x[4],
                                        .log_unit = x[5],
                                        .add_remove = k->add_remove,
                                        .rows_per_unit = k->rows,
                                        .max_weight = k->max_weight};
    tamis_status status = tamis_quantile_new(quantile, &setup, err);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) tamis_number_free(x[i]);
    return status;
}

static inline tamis_quantile *kit_quantile(const kit_setup *k)
{
    tamis_quantile *quantile;
    tamis_error err = {0};
    if (kit_try(&quantile, k, &err) != TAMIS_OK) fail_msg("%s", err.message);
    return quantile;
}

/* The exact law of an answer that is found by itself, one probability per grid point, from the blocks and weights of the code
 * that draws it. */
static inline void kit_law_of(tamis_bound *law, const tamis_quantile *quantile, size_t number, const tmi_records *records)
{
    const tmi_base_measure measure = {quantile->log_unit, quantile->grid.low};
    const tmi_rank *rank = &quantile->targets[number].rank;
    const long bits = 192;
    tmi_rank_window window;
    tmi_score_blocks blocks;
    tmi_decays *powers = tmi_decays_new(quantile->targets[number].rate, bits);
    tmi_ball sum, weight, base;
    assert_int_equal(tmi_rank_window_make(&window, records, NULL, NULL), TAMIS_OK);
    assert_int_equal(tmi_score_blocks_make(&blocks, &window, quantile->grid.low, quantile->grid.high, rank->p, rank->d, NULL),
                     TAMIS_OK);
    assert_non_null(powers);
    tmi_ball_inits(&sum, &weight, &base, NULL);
    for (size_t j = 0; j < blocks.count; j++) {
        tmi_decay(&weight, powers, blocks.list[j].loss);
        tmi_base_of(&base, &measure, blocks.list[j].first, blocks.list[j].count, bits);
        tmi_ball_mul(&weight, &weight, &base, bits);
        tmi_ball_add(&sum, &sum, &weight, bits);
    }
    for (size_t j = 0; j < blocks.count; j++)
        for (int64_t i = 0; i < blocks.list[j].count; i++) {
            tmi_decay(&weight, powers, blocks.list[j].loss);
            tmi_base_of(&base, &measure, blocks.list[j].first + i, 1, bits);
            tmi_ball_mul(&weight, &weight, &base, bits);
            tmi_ball_div(&weight, &weight, &sum, bits);
            *law++ = tmi_ball_bound(&weight);
        }
    tmi_ball_clears(&sum, &weight, &base, NULL);
    tmi_decays_free(powers);
    tmi_score_blocks_clear(&blocks);
    tmi_rank_window_clear(&window);
}

/* The same of the first answer from points. */
static inline void kit_law(tamis_bound *law, const tamis_quantile *quantile, const int64_t *points, const int64_t *weights,
                           size_t count)
{
    tmi_records records;
    assert_int_equal(tmi_quantile_records(&records, quantile, NULL, points, weights, count, NULL), TAMIS_OK);
    kit_law_of(law, quantile, 0, &records);
}

/* The largest logarithm of a ratio of probabilities, one way. */
static inline double kit_loss(const tamis_bound *p, const tamis_bound *q, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, log(p[i].upper / q[i].lower));
    return most;
}

#endif
