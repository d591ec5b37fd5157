#include "schedule/schedule.h"

#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/group_noise.h"
#include "schedule/guesses.h"
#include "schedule/refusals.h"
#include "schedule/standard_errors.h"
#include "schedule/targets.h"

void tmi_schedule_clear(tmi_schedule *s)
{
    for (size_t i = 0; i < s->measurement_count; i++) tmi_measurement_clear(&s->measurements[i]);
    tmi_free(s->measurements);
    for (size_t i = 0; i < s->quantile_task_count; i++) tmi_quantile_task_clear(&s->quantile_tasks[i]);
    tmi_free(s->quantile_tasks);
    for (size_t i = 0; i < s->bound_task_count; i++) tmi_bound_task_clear(&s->bound_tasks[i]);
    tmi_free(s->bound_tasks);
    tmi_effects_clear(&s->effects);
    tmi_workload_clear(&s->workload);
    tmi_psu_places_clear(&s->places);
    tmi_sampling_clear(&s->sampling);
    tmi_number_frees(&s->spent, &s->epsilon, &s->delta, NULL);
    tmi_frame_file_clear(&s->frame);
    tmi_psu_file_clear(&s->psus);
    tmi_plan_drop(s->plan);
    *s = (tmi_schedule){0};
}

/* For sampling variances weights count up to two and a half times their public mean, if that is known: variances are then raised
 * by what that takes off on average. With a lower bound, standard errors of groups that have the large weights would be too
 * small. */
#define CLAMPED 2.5

static void clamp_weights(tmi_schedule *s)
{
    tmi_sampling *p = &s->sampling;
    tmi_sizes z;
    if (p->weights != TMI_ROWS || p->stages || p->of_sizes ||
        (!p->clustered && (s->plan->design.deff || s->plan->design.regularise)))
        return;
    tmi_sizes_make(&z, s);
    const double points = CLAMPED * z.units / z.sample / tmi_number_nearest(p->step);
    if (points >= 1 && points < (double)p->most) p->most_clamped = (int64_t)ceil(points);
}

/* ---- tables that were chosen before ---- */

/* Whether anything is read from tables of a weighting. */
static bool is_family_used(const tmi_schedule *s, tmi_weighting weighting)
{
    const bool of_rows = s->sampling.weights == TMI_ROWS;
    const tmi_variance_source source = tmi_variance_source_of(s);
    switch (weighting) {
    case TMI_UNWEIGHTED:
        return tmi_main_weighting(s) == weighting || tmi_asks_units(&s->plan->postprocess) || source == TMI_PUBLIC_EFFECT;
    case TMI_WEIGHTED: return tmi_main_weighting(s) == weighting;
    case TMI_CONTRIBUTED: return tmi_has_contributed(s);
    case TMI_OF_UNITS: return tmi_has_bounds_by_unit(s->plan);
    case TMI_SPREAD:
    case TMI_CLAMPED: return source == TMI_MEASURED_ERRORS && of_rows;
    case TMI_GROUP_TOTALS: return tmi_measures_groups(s);
    default: return tmi_measures_errors(s) && weighting == tmi_errors_family(s);
    }
}

static tamis_status check_marginal(const tmi_marginal *marginal, const tmi_schedule *s, tamis_error *err)
{
    const tmi_workload *w = &s->workload;
    bool right = marginal->weighting < TMI_WEIGHTINGS && marginal->domain < w->domain_count &&
                 marginal->axis_count <= TMI_MAX_AXES;
    for (size_t i = 0; right && i < marginal->axis_count; i++)
        right = marginal->axes[i] < w->axis_count &&
                (i == 0 || marginal->axes[i - 1] < marginal->axes[i] || tmi_method_of(marginal->weighting));
    if (right && marginal->weighting == TMI_OF_UNITS) right = w->domains[marginal->domain].number;
    if (right && tmi_is_gram(marginal->form)) right = tmi_may_have_grams(s, marginal);
    else if (right && marginal->form != TMI_FULL)
        right = marginal->axis_count == 1 && w->axes[marginal->axes[0]].degree > 0 && !tmi_method_of(marginal->weighting);
    if (right && tmi_method_of(marginal->weighting)) {
        right = marginal->statistic < s->plan->statistic_count && tmi_may_have_errors(s, marginal->statistic);
        const tmi_marginal own = right ? tmi_errors_marginal(s, marginal->statistic) : *marginal;
        right = right && (marginal->weighting != TMI_GROUP_TOTALS || s->plan->statistics[marginal->statistic].for_change) &&
                own.domain == marginal->domain && own.axis_count == marginal->axis_count &&
                memcmp(own.axes, marginal->axes, own.axis_count * sizeof *own.axes) == 0;
    }
    if (!right) return tmi_fail(err, TAMIS_INVALID, "measurements: a table has axes that the plan does not have");
    if (is_family_used(s, (tmi_weighting)marginal->weighting)) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "measurements: nothing is read from rows that are weighed as in one of the tables");
}

/* Takes the bound of weights for sampling variances from a certificate: any that could have been chosen. */
static tamis_status take_clamped(tmi_schedule *s, const tmi_certified_tables *certified, tamis_error *err)
{
    tmi_sampling *p = &s->sampling;
    if (p->weights != TMI_ROWS || tmi_variance_source_of(s) != TMI_MEASURED_ERRORS) return TAMIS_OK;
    if (certified->clamped < 1 || certified->clamped > p->most)
        return tmi_fail(err, TAMIS_INVALID, "sampling.largest_point_in_totals: must be a number from 1 to largest_point");
    p->most_clamped = certified->clamped;
    return TAMIS_OK;
}

static tamis_status take_certified(tmi_schedule *s, const tmi_certified_tables *certified, const bool *known, tamis_error *err)
{
    tamis_status status;
    bool has_domains = false;
    for (size_t k = 0; k < certified->count; k++) has_domains = has_domains || certified->marginals[k].domain > 0;
    if (certified->separate_strata && !s->sampling.public_strata)
        return tmi_fail(err, TAMIS_INVALID, "measurements: strata that are not public cannot be measured apart");
    if (certified->separate_strata && s->sampling.weights == TMI_ROWS)
        return tmi_fail(err, TAMIS_INVALID, "measurements: strata whose rows have weights of their own are not measured apart");
    for (size_t i = 0; i < s->plan->statistic_count && !certified->separate_strata; i++)
        if (tmi_has_ranges_by_stratum(&s->plan->statistics[i]))
            return tmi_fail(err, TAMIS_INVALID, "measurements: ranges by stratum are measured apart");
    TMI_TRY(tmi_workload_make(&s->workload, s->plan, &s->sampling, certified->separate_strata, certified->shared_classes,
                              s->controls, s->calibrated ? s->control_count : 0, s->calibrated ? s->control_number : NULL, known,
                              has_domains, err));
    TMI_TRY(take_clamped(s, certified, err));
    s->gaussian = certified->count > 0        ? certified->gaussian
                  : s->plan->privacy.loss.rho ? TMI_DISCRETE_GAUSSIAN
                                              : TMI_NOT_GAUSSIAN;
    if (s->gaussian == TMI_ROUNDED_NORMAL && tmi_gaussian_of_plan(s->plan, &s->plan->privacy.loss) != TMI_ROUNDED_NORMAL)
        return tmi_fail(err, TAMIS_INVALID, "composition.noise: rounded normal noise is for tables with epsilon and delta");
    s->gap = NAN;
    s->measurements = tmi_alloc(certified->count, sizeof *s->measurements);
    if (!s->measurements) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < certified->count; k++) {
        tmi_measurement *m = &s->measurements[s->measurement_count++];
        TMI_TRY(check_marginal(&certified->marginals[k], s, err));
        m->marginal = certified->marginals[k];
        TMI_TRY(tmi_number_copy(&m->part, certified->parts[k], err));
    }

done:
    return status;
}

/* ---- what is known of everything ---- */

/* Whether a statistic is read from tables of this weighting. */
static bool is_read_from(const tmi_schedule *s, size_t i, tmi_weighting weighting)
{
    if (weighting == tmi_weighting_of(s, i)) return true;
    return weighting == TMI_UNWEIGHTED && tmi_asks_units(&s->plan->postprocess);
}

static tamis_status take_maps(tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        const tmi_statistic_map *r = &s->workload.maps[i];
        const bool read = !r->known || tmi_reads_products(s, i);
        for (size_t weighting = 0; read && weighting < TMI_WEIGHTINGS; weighting++) {
            if (!is_read_from(s, i, (tmi_weighting)weighting)) continue;
            tmi_marginal marginal = {.weighting = weighting, .domain = r->domain, .axis_count = r->axis_count};
            memcpy(marginal.axes, r->axes, sizeof marginal.axes);
            TMI_TRY(tmi_effects_take_all(&s->effects, &marginal, err));
        }
    }
    tmi_marginal controls = {.weighting = tmi_main_weighting(s)};
    if (s->workload.control_axis != SIZE_MAX) controls.axes[controls.axis_count++] = s->workload.control_axis;
    if (s->workload.number_axis != SIZE_MAX) controls.axes[controls.axis_count++] = s->workload.number_axis;
    if (controls.axis_count > 0) { TMI_TRY(tmi_effects_take_all(&s->effects, &controls, err)); }
    for (size_t k = 0; k < s->measurement_count; k++)
        if (!tmi_method_of(s->measurements[k].marginal.weighting))
            TMI_TRY(tmi_effects_take_marginal(&s->effects, &s->measurements[k].marginal, err));

done:
    return status;
}

static tamis_status set_effects(tmi_schedule *s, tamis_error *err)
{
    bool *known = tmi_alloc(TMI_WEIGHTINGS * s->workload.domain_count, sizeof *known);
    tamis_status status;
    if (!known) TMI_TRY(tmi_fail_memory(err));
    tmi_known_rows(known, s);
    TMI_TRY(tmi_effects_make(&s->effects, s->workload.axes, TMI_WEIGHTINGS, s->workload.domain_count, known, err));
    TMI_TRY(take_maps(s, err));
    tmi_effects_reset(&s->effects);
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_measurement *m = &s->measurements[k];
        tmi_table_information information;
        if (tmi_method_of(m->marginal.weighting)) continue;
        TMI_TRY(tmi_table_information_make(&information, &s->effects, &m->marginal, err));
        tmi_effects_add(&s->effects, &information, tmi_measurement_precision(s, m));
        tmi_table_information_clear(&information);
    }
    tmi_effects_solve(&s->effects);

done:
    tmi_free(known);
    return status;
}

/* ---- together ---- */

static tamis_status take_frame(tmi_schedule *s, const tmi_certified_tables *certified, tamis_error *err)
{
    if (!s->plan->design.frame) return TAMIS_OK;
    if (!certified) return tmi_frame_file_read(&s->frame, s->plan, err);
    if (certified->frame && certified->frame->count == s->plan->design.stratum_count)
        return tmi_frame_facts_copy(&s->frame.facts, certified->frame, err);
    return tmi_fail(err, TAMIS_INVALID, "frame: what the frame of the plan says about each stratum is missing");
}

static tamis_status take_psus(tmi_schedule *s, const tmi_certified_tables *certified, tamis_error *err)
{
    if (!s->plan->design.psus) return TAMIS_OK;
    if (!certified) return tmi_psu_file_read(&s->psus, s->plan, err);
    if (certified->psus) return tmi_psu_facts_copy(&s->psus.facts, certified->psus, err);
    return tmi_fail(err, TAMIS_INVALID, "psus: the number of clusters in each stratum is missing");
}

tamis_status tmi_schedule_make(tmi_schedule *s, const tamis_plan *plan, const tmi_certified_tables *certified, tamis_error *err)
{
    return tmi_schedule_make_watched(s, plan, certified, NULL, err);
}

/* ---- invariants ----
 *
 * Nothing is allocated here, so that tests in which allocations fail may ask. */

#define NEAR 1e-12 /* relative error of the sums here, which are in doubles; those of the budget are exact */

/* Every number has a law, every law a positive scale. */
static bool measurement_is_sound(const tmi_measurement *m)
{
    const tmi_error_method *errors = tmi_method_of(m->marginal.weighting);
    bool sound = (errors ? m->moved > 0 && (m->slots > 1) == errors->slots
                         : m->numbers == m->strata * m->slots * m->cells * m->levels) &&
                 m->numbers > 0 && m->laws && m->high > 0 && m->limit > 0 && m->part && tmi_number_sign(m->part) > 0;
    for (size_t h = 0; sound && h < m->strata; h++)
        sound = m->laws[h].scale && tmi_number_sign(m->laws[h].scale) > 0 && m->laws[h].l1 >= 0;
    return sound;
}

bool tmi_schedule_is_sound(const tmi_schedule *s)
{
    double parts = 0;
    bool sound = s->plan && s->spent && s->epsilon && s->delta;
    for (size_t i = 0; sound && i < s->measurement_count; i++) {
        sound = measurement_is_sound(&s->measurements[i]);
        if (sound) parts += tmi_number_nearest(s->measurements[i].part);
    }
    for (size_t i = 0; sound && i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const tamis_number *loss = c->rho ? c->rho : c->epsilon;
        sound = c->part && loss && tmi_number_sign(loss) > 0 && c->groups > 0 && c->statistic < s->plan->asked_count;
        if (sound) parts += tmi_number_nearest(c->part);
    }
    for (size_t i = 0; sound && i < s->plan->statistic_count; i++) {
        const tmi_statistic_map *r = &s->workload.maps[i];
        sound = r->known || (r->domain < s->workload.domain_count && r->axis_count <= TMI_MAX_AXES);
    }
    if (!sound) return false;
    for (size_t i = 0; i < s->bound_task_count; i++) parts += tmi_number_nearest(s->bound_tasks[i].part);
    const double spent = tmi_number_nearest(s->spent);
    return fabs(parts - spent) <=
           NEAR * spent * (double)(s->measurement_count + s->quantile_task_count + s->bound_task_count + 1);
}

/* A plan with private bounds is worked with under a guess of them, until they are found. */
static tamis_status take_plan(tmi_schedule *s, const tamis_plan *plan, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_refuse_plan(plan, err));
    if (tmi_has_private_bounds(plan)) TMI_TRY(tmi_plan_with_bounds(&s->bounded, plan, err));
    s->plan = s->bounded ? s->bounded : tmi_plan_hold(plan);

done:
    return status;
}

static tamis_status guess_bounds(tmi_schedule *s, tamis_error *err)
{
    tmi_sizes z;
    if (!s->bounded) return TAMIS_OK;
    tmi_sizes_make(&z, s);
    return tmi_guess_bounds(s->bounded, z.sample * z.response, err);
}

tamis_status tmi_schedule_make_watched(tmi_schedule *s, const tamis_plan *given, const tmi_certified_tables *certified,
                                       tmi_watch *watch, tamis_error *err)
{
    tamis_status status;
    bool *known = tmi_alloc(given->statistic_count, sizeof *known);
    *s = (tmi_schedule){.watch = watch};
    if (!known) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(take_plan(s, given, err));
    const tamis_plan *plan = s->plan;
    TMI_TRY(take_frame(s, certified, err));
    TMI_TRY(take_psus(s, certified, err));
    TMI_TRY(tmi_sampling_make(&s->sampling, plan, tmi_frame_of(s), tmi_psus_of(s), err));
    TMI_TRY(guess_bounds(s, err));
    s->sampling.parts = tmi_contribution_parts(plan, &s->sampling);
    clamp_weights(s);
    TMI_TRY(tmi_refuse_wave(s, err));
    TMI_TRY(tmi_calibration_columns(s, err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        TMI_TRY(tmi_refuse_statistic(s, t, err));
        known[i] = (t->kind == TMI_COUNT && tmi_groups_are_declared(s, t)) || tmi_is_of_distribution(t->kind) || t->contrast ||
                   tmi_public_count(plan, i, 0);
    }
    if (certified && certified->marginals) TMI_TRY(take_certified(s, certified, known, err));
    else TMI_TRY(tmi_schedule_choose(s, known, err));
    TMI_TRY(tmi_quantile_tasks_make(s, err));
    TMI_TRY(tmi_bound_tasks_make(s, err));
    TMI_TRY(tmi_schedule_place_psus(s, err));
    TMI_TRY(tmi_schedule_pair_psus(s, err));
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_error_method *method = tmi_method_of(s->measurements[k].marginal.weighting);
        s->measurements[k].slots = method && method->slots ? (size_t)s->places.layout.slots : 1;
        TMI_TRY(tmi_measurement_prepare(&s->measurements[k], &s->workload, err));
    }
    TMI_TRY(tmi_budget_settle(s, err));
    TMI_TRY(set_effects(s, err));
    if (certified && certified->marginals) TMI_TRY(tmi_schedule_check_determined(s, err));
    TMI_CHECK(tmi_schedule_is_sound(s));

done:
    tmi_free(known);
    if (status != TAMIS_OK) tmi_schedule_clear(s);
    return status;
}
