#include "schedule/expected/alternatives.h"
#include "base/hypotenuse.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/baseline.h"
#include "schedule/expected/change.h"
#include "schedule/outsider.h"
#include "schedule/result.h"

/* ---- outcomes ---- */

/* The noise alone where the sampling error cannot be foreseen. */
static double error_of(const tmi_expected_group *p)
{
    const double error = tmi_expected_group_error(p);
    return isnan(error) ? tmi_expected_group_noise(p) : error;
}

static tmi_expected_outcome outcome_of(const tmi_expected_statistic *f)
{
    return (tmi_expected_outcome){tmi_expected_middle(f, tmi_expected_group_noise), tmi_expected_middle(f, error_of)};
}

tmi_expected_outcome *tmi_outcomes_now(const tmi_expected_statistic *now, size_t count)
{
    tmi_expected_outcome *list = tmi_alloc(count, sizeof *list);
    for (size_t i = 0; list && i < count; i++) list[i] = outcome_of(&now[i]);
    return list;
}

/* The same sampling error beside another noise. */
static tmi_expected_outcome with_noise(const tmi_expected_statistic *now, double noise)
{
    const double sampling = tmi_expected_middle(now, tmi_expected_group_sampling);
    return (tmi_expected_outcome){noise, isnan(sampling) ? noise : tmi_hypotenuse(noise, sampling)};
}

static const tmi_expected_outcome nothing = {TMI_NULL, TMI_NULL};

static bool has_groups_joined(const tmi_plan_statistic *t, const tamis_plan *plan)
{
    for (size_t k = 0; k < t->by_count; k++)
        if (tmi_change_joins(plan, t->by[k])) return true;
    return false;
}

static bool has_range_cut(const tmi_plan_statistic *t)
{
    double end;
    bool is_low;
    return tmi_change_cuts(&end, &is_low, t->column) || tmi_change_cuts(&end, &is_low, t->second);
}

/* Cells of a statistic when values are taken together, as a part of those that it has. */
static double groups_left(const tmi_plan_statistic *t, const tamis_plan *plan)
{
    double part = 1;
    for (size_t k = 0; k < t->by_count; k++) {
        const size_t count = t->by[k]->value_count;
        if (tmi_change_joins(plan, t->by[k])) part *= (double)((count + 1) / 2) / (double)count;
    }
    return part;
}

static tmi_expected_outcome compare(tmi_alternative_kind kind, const tmi_schedule *s, size_t i, const tmi_expected_statistic *now,
                                    const tmi_expected_statistic *then)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tmi_expected_outcome o = outcome_of(then);
    if (kind == TMI_HALF_THE_RANGE)
        return has_range_cut(t) && !tmi_is_of_distribution(t->kind) ? with_noise(now, o.noise) : nothing;
    if (kind != TMI_HALF_THE_GROUPS) return o;
    if (!has_groups_joined(t, s->plan)) return nothing;
    const double part = tmi_is_sum(t) && !tmi_by_size(t) ? groups_left(t, s->plan) : 1;
    o.noise *= part;
    o.error *= part;
    return o;
}

/* ---- losses ---- */

static tamis_status twice(tmi_plan_loss *loss, const tmi_plan_loss *now, tamis_error *err)
{
    const tamis_number *budget = now->rho ? now->rho : now->epsilon;
    tamis_number *two = NULL;
    tamis_status status;
    TMI_TRY(tamis_number_read(&two, "2", err));
    TMI_TRY(tmi_number_mul(now->rho ? &loss->rho : &loss->epsilon, budget, two, err));
    if (now->delta) TMI_TRY(tmi_number_copy(&loss->delta, now->delta, err));

done:
    tamis_number_free(two);
    return status;
}

/* Three digits, rounded down. */
static tamis_status read_short(tamis_number **number, double x, tamis_error *err)
{
    if (!(x > 0) || !isfinite(x)) return TAMIS_OK;
    const double unit = pow(10, floor(log10(x)) - 2);
    char text[40];
    snprintf(text, sizeof text, "%.3g", floor(x / unit) * unit);
    return tamis_number_read(number, text, err);
}

static tamis_status with_delta(tmi_plan_loss *loss, const tmi_plan_loss *now, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (now->rho || now->delta) return TAMIS_OK;
    TMI_TRY(tamis_number_read(&loss->delta, TMI_DELTA_TRIED, err));
    TMI_TRY(tmi_number_copy(&loss->epsilon, now->epsilon, err));

done:
    return status;
}

/* Of Gaussian noise, the epsilon with the same rho, or the plan's; of Laplace noise, the rho that meets epsilon and delta. */
static tamis_status other_law(tmi_plan_loss *loss, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_loss *now = &s->plan->privacy.loss;
    tmi_plan_loss meets = {.epsilon = now->epsilon, .delta = now->delta};
    tamis_number *usual = NULL;
    double rho = 0;
    tamis_status status = TAMIS_OK;
    if (s->gaussian)
        return now->rho ? read_short(&loss->epsilon, sqrt(2 * tmi_number_nearest(now->rho)), err)
                        : tmi_number_copy(&loss->epsilon, now->epsilon, err);
    TMI_TRY(tamis_number_read(&usual, TMI_DELTA_TRIED, err));
    if (!meets.delta) meets.delta = usual;
    TMI_TRY(tmi_budget_rho(&rho, &meets, TMI_DISCRETE_GAUSSIAN, err));
    TMI_TRY(read_short(&loss->rho, rho, err));

done:
    tamis_number_free(usual);
    return status;
}

/* ---- together ---- */

void tmi_alternative_clear(tmi_alternative *a)
{
    tmi_number_frees(&a->loss.epsilon, &a->loss.delta, &a->loss.rho, NULL);
    tmi_free(a->outcomes);
    *a = (tmi_alternative){0};
}

static tamis_status make_alone(tmi_alternative *a, const tmi_schedule *s, const tmi_expected_statistic *now, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    double *ratios = tmi_alloc(count, sizeof *ratios);
    tamis_status status;
    if (!ratios) return tmi_fail_memory(err);
    TMI_TRY(tmi_baseline_ratios(ratios, s, err));
    a->outcomes = tmi_alloc(count, sizeof *a->outcomes);
    if (!a->outcomes) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) a->outcomes[i] = with_noise(&now[i], ratios[i] * outcome_of(&now[i]).noise);
    a->possible = true;

done:
    tmi_free(ratios);
    return status;
}

static tamis_status set_change(tmi_change *change, tmi_alternative *a, tmi_alternative_kind kind, const tmi_schedule *s,
                               tamis_error *err)
{
    const tmi_plan_loss *now = &s->plan->privacy.loss;
    tamis_status status = TAMIS_OK;
    const bool target = now->outsider; /* epsilons follow from it: no other loss is tried */
    if (kind == TMI_TWICE_THE_BUDGET && !target) TMI_TRY(twice(&a->loss, now, err));
    if (kind == TMI_WITH_DELTA && !target) TMI_TRY(with_delta(&a->loss, now, err));
    if (kind == TMI_OTHER_LAW && !target) TMI_TRY(other_law(&a->loss, s, err));
    if (kind == TMI_SECRET_SAMPLE && !target) {
        tamis_bound eps, delta;
        TMI_TRY(tmi_outsider_budget(&eps, &delta, &change->setting, s->plan, tmi_frame_of(s), err));
        TMI_TRY(read_short(&a->loss.epsilon, eps.lower, err));
        if (a->loss.epsilon && now->delta) TMI_TRY(read_short(&a->loss.delta, delta.lower, err));
    }
    change->loss = a->loss;
    change->half_ranges = kind == TMI_HALF_THE_RANGE;
    change->half_groups = kind == TMI_HALF_THE_GROUPS;
    change->public_bounds = kind == TMI_PUBLIC_BOUNDS && s->bounded;
    a->possible = change->half_ranges || change->public_bounds || change->half_groups || a->loss.epsilon || a->loss.rho;

done:
    return status;
}

tamis_status tmi_alternative_make(tmi_alternative *a, tmi_alternative_kind kind, const tmi_schedule *s,
                                  const tmi_expected_statistic *now, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    tmi_change change = {0};
    tmi_expected_statistic *then = NULL;
    tamis_status status;
    *a = (tmi_alternative){0};
    if (s->measurement_count == 0) return TAMIS_OK;
    if (kind == TMI_EACH_BY_ITSELF) {
        TMI_TRY(make_alone(a, s, now, err));
        goto done;
    }
    TMI_TRY(set_change(&change, a, kind, s, err));
    if (a->possible) TMI_TRY(tmi_change_expected(&then, s, &change, err));
    a->possible = then != NULL;
    if (!then) goto done;
    a->outcomes = tmi_alloc(count, sizeof *a->outcomes);
    if (!a->outcomes) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) a->outcomes[i] = compare(kind, s, i, &now[i], &then[i]);

done:
    tmi_expected_statistics_free(then, count);
    if (status != TAMIS_OK) tmi_alternative_clear(a);
    return status;
}

double tmi_alternative_gain(const tmi_alternative *a, const tmi_expected_statistic *now, size_t i)
{
    return a->possible ? 1 - a->outcomes[i].error / outcome_of(&now[i]).error : TMI_NULL;
}
