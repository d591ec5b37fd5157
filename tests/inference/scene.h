/* A schedule with noisy integers that the test sets, and what is read from them. */
#ifndef TESTS_INFERENCE_SCENE_H
#define TESTS_INFERENCE_SCENE_H

#include <stdlib.h>

#include "inference/calibration.h"
#include "inference/contrast.h"
#include "inference/distribution.h"
#include "inference/group_sums.h"
#include "inference/postprocess.h"
#include "report/results.h"
#include "tests/release/plans.h"

typedef struct scene {
    tamis_plan *plan;
    tmi_schedule s;
    tmi_int128 **noisy;
    tmi_inference inference;
    tmi_calibration calibration;
    tmi_results results;
    bool plain; /* no exact intervals of ratios */
} scene;

/* All integers are 0. */
static inline void scene_begin(scene *c, tamis_plan *plan)
{
    tamis_error err = {0};
    *c = (scene){.plan = plan};
    if (tmi_schedule_make(&c->s, plan, NULL, &err) != TAMIS_OK) fail_msg("%s", err.message);
    c->noisy = calloc(c->s.measurement_count + 1, sizeof *c->noisy);
    assert_non_null(c->noisy);
    for (size_t i = 0; i < c->s.measurement_count; i++) {
        c->noisy[i] = calloc(c->s.measurements[i].numbers, sizeof **c->noisy);
        assert_non_null(c->noisy[i]);
    }
    assert_int_equal(tmi_results_make(&c->results, plan, &c->s, NULL), TAMIS_OK);
}

/* Everything up to the results. */
static inline void scene_prepare(scene *c)
{
    tmi_calibration_clear(&c->calibration);
    tmi_inference_clear(&c->inference);
    assert_int_equal(tmi_inference_make(&c->inference, &c->s, c->noisy, NULL), TAMIS_OK);
    assert_int_equal(tmi_calibration_make(&c->calibration, &c->inference, NULL), TAMIS_OK);
    c->inference.calibration = &c->calibration;
    c->inference.plain = c->plain;
    assert_int_equal(tmi_inference_read_errors(&c->inference, NULL), TAMIS_OK);
}

static inline size_t scene_first(const scene *c, size_t statistic)
{
    size_t first = 0;
    for (size_t i = 0; i < statistic; i++) first += (size_t)tmi_statistic_cells(&c->plan->statistics[i]);
    return first;
}

/* As a release does it, but for what the plan wants done afterwards. */
static inline void scene_read(scene *c)
{
    tamis_error err = {0};
    scene_prepare(c);
    for (size_t i = 0; i < c->results.all; i++) {
        const size_t statistic = c->results.list[i].statistic, cell = c->results.list[i].cell;
        c->results.list[i] = TMI_NO_RESULT;
        c->results.list[i].statistic = statistic;
        c->results.list[i].cell = cell;
    }
    for (size_t i = 0; i < c->plan->statistic_count; i++)
        if (tmi_read_statistic(&c->results.list[scene_first(c, i)], &c->inference, i, &err) != TAMIS_OK)
            fail_msg("%s", err.message);
    if (tmi_read_distributions(&c->results, &c->inference, &err) != TAMIS_OK) fail_msg("%s", err.message);
    if (tmi_read_contrasts(&c->results, &c->inference, &err) != TAMIS_OK) fail_msg("%s", err.message);
    for (size_t i = 0; i < c->results.all; i++) tmi_result_bound(&c->results.list[i]);
}

static inline void scene_postprocess(scene *c)
{
    tamis_error err = {0};
    if (tmi_postprocess(&c->results, &c->inference, &err) != TAMIS_OK) fail_msg("%s", err.message);
}

static inline const tmi_result *scene_result(const scene *c, size_t statistic, size_t cell)
{
    return &c->results.list[scene_first(c, statistic) + cell];
}

static inline void scene_end(scene *c)
{
    for (size_t i = 0; i < c->s.measurement_count; i++) free(c->noisy[i]);
    free(c->noisy);
    tmi_calibration_clear(&c->calibration);
    tmi_inference_clear(&c->inference);
    tmi_results_clear(&c->results);
    tmi_schedule_clear(&c->s);
    tamis_plan_free(c->plan);
}

#endif
