#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "schedule/aims.h"
#include "schedule/contributions.h"
#include "schedule/controls.h"
#include "schedule/expected/guess.h"
#include "schedule/refusals.h"
#include "schedule/standard_errors.h"
#include "schedule/workload/group_noise.h"

void tmi_schedule_clear(tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) tmi_measurement_clear(&s->measurements[i]);
    tmi_free(s->measurements);
    for (size_t i = 0; i < s->choice_count; i++) tmi_choice_clear(&s->choices[i]);
    tmi_free(s->choices);
    tmi_effects_clear(&s->effects);
    tmi_workload_clear(&s->workload);
    tmi_psu_places_clear(&s->places);
    tmi_sampling_clear(&s->sampling);
    tamis_number_free(s->spent);
    tamis_number_free(s->epsilon);
    tamis_number_free(s->delta);
    tmi_frame_file_clear(&s->frame);
    tmi_psu_file_clear(&s->psus);
    tmi_plan_drop(s->plan);
    *s = (tmi_schedule){0};
}

/* Weights in totals of PSUs count up to two and a half times their public mean, if that is known: variances are then raised by
 * what that takes off on average. With a lower bound, standard errors of groups that have the large weights would be too
 * small. */
#define CLAMPED 2.5

static void clamp_weights(tmi_schedule *s)
{
    tmi_sampling *p = &s->sampling;
    tmi_sizes z;
    if (p->weights != TMI_ROWS || !p->clustered || p->stages) return;
    tmi_sizes_make(&z, s);
    const double points = CLAMPED * z.units / z.sample / tmi_number_nearest(p->step);
    if (points >= 1 && points < (double)p->most) p->most_clamped = (int64_t)ceil(points);
}

/* ---- tables that were chosen before ---- */

/* Whether anything is read from tables of a family. */
static bool is_family_used(const tmi_schedule *s, tmi_weighing family)
{
    const bool of_rows = s->sampling.weights == TMI_ROWS;
    const tmi_variance_source source = tmi_variance_source_of(s);
    switch (family) {
    case TMI_UNWEIGHED:
        return tmi_main_family(s) == family || s->plan->postprocess.units_below > 0 || source == TMI_PUBLIC_EFFECT;
    case TMI_WEIGHED: return tmi_main_family(s) == family;
    case TMI_CONTRIBUTED: return tmi_has_contributed(s);
    case TMI_SPREAD: return source == TMI_SPREAD_TABLES || (source == TMI_MEASURED_ERRORS && of_rows);
    case TMI_CLAMPED: return source == TMI_MEASURED_ERRORS && of_rows;
    case TMI_STANDARD_ERRORS: return source == TMI_MEASURED_ERRORS;
    default: return false;
    }
}

static tamis_status check_shape(const tmi_shape *shape, const tmi_schedule *s, tamis_error *err)
{
    const tmi_workload *w = &s->workload;
    bool right = shape->family < TMI_WEIGHINGS && shape->world < w->world_count && shape->axis_count <= TMI_MAX_AXES;
    for (size_t i = 0; right && i < shape->axis_count; i++)
        right = shape->axes[i] < w->axis_count && (i == 0 || shape->axes[i - 1] < shape->axes[i]);
    if (right && shape->form != TMI_FULL)
        right = shape->axis_count == 1 && w->axes[shape->axes[0]].degree > 0 && shape->family != TMI_STANDARD_ERRORS;
    if (right && shape->family == TMI_STANDARD_ERRORS) {
        right = shape->statistic < s->plan->statistic_count && tmi_has_own_errors(s, shape->statistic);
        const tmi_shape own = right ? tmi_errors_shape(s, shape->statistic) : *shape;
        right = right && own.world == shape->world && own.axis_count == shape->axis_count &&
                memcmp(own.axes, shape->axes, own.axis_count * sizeof *own.axes) == 0;
    }
    if (!right) return tmi_fail(err, TAMIS_INVALID, "measurements: a table has axes that the plan does not have");
    if (is_family_used(s, (tmi_weighing)shape->family)) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "measurements: nothing is read from rows that are weighed as in one of the tables");
}

/* The weights in totals of PSUs: any that could have been chosen. */
static tamis_status take_clamped(tmi_schedule *s, const tmi_chosen *chosen, tamis_error *err)
{
    tmi_sampling *p = &s->sampling;
    if (p->weights != TMI_ROWS || tmi_variance_source_of(s) != TMI_MEASURED_ERRORS) return TAMIS_OK;
    if (chosen->clamped < 1 || chosen->clamped > p->most)
        return tmi_fail(err, TAMIS_INVALID, "sampling.largest_point_in_totals: expected a number from 1 to largest_point");
    p->most_clamped = chosen->clamped;
    return TAMIS_OK;
}

static tamis_status take_chosen(tmi_schedule *s, const tmi_chosen *chosen, const bool *known, tamis_error *err)
{
    tamis_status status;
    if (chosen->apart && !s->sampling.stays)
        return tmi_fail(err, TAMIS_INVALID, "measurements: strata that are not public cannot be measured apart");
    if (chosen->apart && s->sampling.weights == TMI_ROWS)
        return tmi_fail(err, TAMIS_INVALID, "measurements: strata whose rows have weights of their own are not measured apart");
    for (size_t i = 0; i < s->plan->statistic_count && !chosen->apart; i++)
        if (tmi_has_ranges_by_stratum(&s->plan->statistics[i]))
            return tmi_fail(err, TAMIS_INVALID, "measurements: ranges by stratum are measured apart");
    TMI_TRY(tmi_workload_make(&s->workload, s->plan, &s->sampling, chosen->apart, chosen->joined, s->controls,
                              s->calibrated ? s->control_count : 0, known, err));
    TMI_TRY(take_clamped(s, chosen, err));
    s->gaussian = chosen->count > 0 ? chosen->rho : s->plan->privacy.loss.rho != NULL;
    s->gap = NAN;
    s->measurements = tmi_alloc(chosen->count, sizeof *s->measurements);
    if (!s->measurements) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < chosen->count; k++) {
        tmi_measurement *m = &s->measurements[s->measurement_count++];
        TMI_TRY(check_shape(&chosen->shapes[k], s, err));
        m->shape = chosen->shapes[k];
        TMI_TRY(tmi_number_copy(&m->part, chosen->parts[k], err));
    }

done:
    return status;
}

/* ---- what is known of everything ---- */

/* All families that the readings of a statistic are made of. */
static bool is_read_from(const tmi_schedule *s, size_t i, tmi_weighing family)
{
    const tmi_variance_source source = tmi_variance_source_for(s, i);
    if (family == tmi_weighing_of(s, i)) return true;
    if (family == TMI_SPREAD) return source == TMI_SPREAD_TABLES;
    return family == TMI_UNWEIGHED && s->plan->postprocess.units_below > 0;
}

static tamis_status take_readings(tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        const tmi_reading_of *r = &s->workload.readings[i];
        for (size_t family = 0; !r->known && family < TMI_WEIGHINGS; family++) {
            if (!is_read_from(s, i, (tmi_weighing)family)) continue;
            tmi_shape shape = {.family = family, .world = r->world, .axis_count = r->axis_count};
            memcpy(shape.axes, r->axes, sizeof shape.axes);
            TMI_TRY(tmi_effects_take_all(&s->effects, &shape, err));
        }
    }
    if (s->workload.control_axis != SIZE_MAX) {
        const tmi_shape controls = {.family = tmi_main_family(s), .axes = {s->workload.control_axis}, .axis_count = 1};
        TMI_TRY(tmi_effects_take_all(&s->effects, &controls, err));
    }
    for (size_t k = 0; k < s->measurement_count; k++)
        if (s->measurements[k].shape.family != TMI_STANDARD_ERRORS)
            TMI_TRY(tmi_effects_take_shape(&s->effects, &s->measurements[k].shape, err));

done:
    return status;
}

static tamis_status set_effects(tmi_schedule *s, tamis_error *err)
{
    bool *known = tmi_alloc(TMI_WEIGHINGS * s->workload.world_count, sizeof *known);
    tamis_status status;
    if (!known) TMI_TRY(tmi_fail_memory(err));
    tmi_known_rows(known, s);
    TMI_TRY(tmi_effects_make(&s->effects, s->workload.axes, TMI_WEIGHINGS, s->workload.world_count, known, err));
    TMI_TRY(take_readings(s, err));
    tmi_effects_reset(&s->effects);
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_measurement *m = &s->measurements[k];
        tmi_table_information information;
        if (m->shape.family == TMI_STANDARD_ERRORS) continue;
        TMI_TRY(tmi_table_information_make(&information, &s->effects, &m->shape, err));
        tmi_effects_add(&s->effects, &information, tmi_measurement_precision(s, m));
        tmi_table_information_clear(&information);
    }
    tmi_effects_solve(&s->effects);

done:
    tmi_free(known);
    return status;
}

/* ---- together ---- */

static tamis_status take_frame(tmi_schedule *s, const tmi_chosen *chosen, tamis_error *err)
{
    if (!s->plan->design.frame) return TAMIS_OK;
    if (!chosen) return tmi_frame_file_read(&s->frame, s->plan, err);
    if (chosen->frame && chosen->frame->count == s->plan->design.stratum_count)
        return tmi_frame_facts_copy(&s->frame.facts, chosen->frame, err);
    return tmi_fail(err, TAMIS_INVALID, "frame: what the frame of the plan says about each stratum is missing");
}

static tamis_status take_psus(tmi_schedule *s, const tmi_chosen *chosen, tamis_error *err)
{
    if (!s->plan->design.psus) return TAMIS_OK;
    if (!chosen) return tmi_psu_file_read(&s->psus, s->plan, err);
    if (chosen->psus) return tmi_psu_facts_copy(&s->psus.facts, chosen->psus, err);
    return tmi_fail(err, TAMIS_INVALID, "psus: the number of clusters in each stratum is missing");
}

tamis_status tmi_schedule_make(tmi_schedule *s, const tamis_plan *plan, const tmi_chosen *chosen, tamis_error *err)
{
    return tmi_schedule_make_watched(s, plan, chosen, NULL, err);
}

tamis_status tmi_schedule_make_watched(tmi_schedule *s, const tamis_plan *plan, const tmi_chosen *chosen, tmi_watch *watch,
                                       tamis_error *err)
{
    tamis_status status;
    bool *known = tmi_alloc(plan->statistic_count, sizeof *known);
    *s = (tmi_schedule){.plan = tmi_plan_hold(plan), .watch = watch};
    if (!known) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_refuse_plan(plan, err));
    TMI_TRY(take_frame(s, chosen, err));
    TMI_TRY(take_psus(s, chosen, err));
    TMI_TRY(tmi_sampling_make(&s->sampling, plan, tmi_frame_of(s), tmi_psus_of(s), err));
    s->sampling.parts = tmi_contribution_parts(plan, &s->sampling);
    clamp_weights(s);
    TMI_TRY(tmi_refuse_wave(s, err));
    TMI_TRY(tmi_calibration_columns(s, err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        TMI_TRY(tmi_refuse_statistic(s, t, err));
        known[i] = (t->kind == TMI_COUNT && tmi_groups_are_declared(s, t)) || tmi_is_of_distribution(t->kind) ||
                   tmi_public_count(plan, i, 0);
    }
    if (chosen && chosen->shapes) TMI_TRY(take_chosen(s, chosen, known, err));
    else TMI_TRY(tmi_schedule_choose(s, known, err));
    TMI_TRY(tmi_choices_make(s, err));
    TMI_TRY(tmi_schedule_place_psus(s, err));
    for (size_t k = 0; k < s->measurement_count; k++) {
        const bool errors = s->measurements[k].shape.family == TMI_STANDARD_ERRORS;
        s->measurements[k].slots = errors ? (size_t)s->places.layout.slots : 1;
        TMI_TRY(tmi_measurement_prepare(&s->measurements[k], &s->workload, err));
    }
    TMI_TRY(tmi_budget_settle(s, err));
    TMI_TRY(set_effects(s, err));
    if (chosen && chosen->shapes) TMI_TRY(tmi_schedule_check_determined(s, err));
    TMI_CHECK(tmi_schedule_is_sound(s));

done:
    tmi_free(known);
    if (status != TAMIS_OK) tmi_schedule_clear(s);
    return status;
}
