#include "schedule/refusals.h"

#include "measure/bound_tasks.h"
#include "measure/contributions.h"
#include "measure/unit_contributions.h"
#include "schedule/standard_errors.h"

/* Numbers of a model that are not cut: each of their combinations of levels is a number of a table; and squares of residuals, of
 * rows that are drawn one by one, need a table in which each predictor is twice. */
#define MOST_UNCUT 3
#define MOST_UNCUT_IN_CLUSTERS (TMI_MAX_NUMBERS - 1)

static tamis_status check_numbers(const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    const size_t numbers = t->model ? tmi_model_numbers(t->model) : 0,
                 most = s->sampling.clustered ? MOST_UNCUT_IN_CLUSTERS : MOST_UNCUT;
    const tmi_plan_column *first = NULL, *last = NULL;
    for (size_t k = 0; t->model && k < t->model->on_count; k++) {
        if (!t->model->on[k]->is_number) continue;
        if (!first) first = t->model->on[k];
        last = t->model->on[k];
    }
    if (t->kind == TMI_CORRELATION) first = t->column;
    if (!first) return TAMIS_OK;
    if (numbers > most)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "%s:%d:%d: a model has at most %zu uncut numbers in a release of this design; nearest statistic that works: "
            "cut the others, e.g. {%s: [A, B]} in the place of %s",
            s->plan->name, t->line, t->place, most, last->name, last->name);
    if (d->deff && !s->sampling.clustered && !d->kind->takes_all)
        return tmi_fail(err, TAMIS_REFUSED,
                        "%s:%d:%d: a public `deff` says nothing about slopes and correlations; nearest statistic that works: a "
                        "regression on cuts, {%s: [A, B]}, or leave out `deff`, so that sampling errors are measured",
                        s->plan->name, t->line, t->place, first->name);
    return TAMIS_OK;
}

/* The second stage does not have the strata that ranges of their own keep apart. */
static tamis_status check_strata(const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    bool apart = false;
    for (size_t i = 0; i < s->plan->statistic_count; i++) apart = apart || tmi_has_ranges_by_stratum(&s->plan->statistics[i]);
    if (!apart || d->kind->takes_all || !tmi_is_of_products(t) || !tmi_errors_need_strata(s, (size_t)(t - s->plan->statistics)))
        return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED,
                    "%s:%d:%d: sampling errors of slopes and correlations by %s are not measured in a release that has a column "
                    "with ranges by stratum; nearest setting that works: one range for all strata, or a release of its own",
                    s->plan->name, t->line, t->place, d->by->name);
}

tamis_status tmi_refuse_statistic(const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    bool by_stratum = tmi_find_strata(t->by, t->by_count, &plan->design) < t->by_count;
    for (size_t i = 0; i < plan->control_count; i++)
        by_stratum = by_stratum || tmi_find_strata(plan->controls[i].by, plan->controls[i].by_count, &plan->design) <
                                       plan->controls[i].by_count;
    if (plan->privacy.design_protected && plan->design.by && (by_stratum || tmi_has_ranges_by_stratum(t)))
        return tmi_fail(err, TAMIS_REFUSED,
                        "%s:%d:%d: a statistic by %s, or calibrated by it, reveals strata, which `design_variables: protected` "
                        "protects; nearest setting that works: {design_variables: public}",
                        plan->name, t->line, t->place, plan->design.by->name);
    if (s->sampling.weights == TMI_ROWS && tmi_has_ranges_by_stratum(t))
        return tmi_fail(
            err, TAMIS_REFUSED,
            "%s:%d:%d: ranges by stratum are available where all units of a stratum have the same weight; here each row "
            "has its own; nearest setting that works: one range for all strata",
            plan->name, t->line, t->place);
    if (plan->design.nonresponse && t->kind == TMI_TOTAL && plan->control_count == 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "%s:%d:%d: with `nonresponse: yes` a total is that of the respondents alone; "
                        "`calibrate` to public totals, or ask for a mean",
                        plan->name, t->line, t->place);
    if (t->kind == TMI_VARIANCE && t->column == s->control_number && s->calibrated)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "%s:%d:%d: the variance of %s, to whose total results are calibrated, would need its cubes; nearest "
            "setting that works: counts of its ranges in `calibrate`, {count: units, by: {%s: [...]}, totals: [...]}, "
            "or the variance in a release of its own",
            plan->name, t->line, t->place, t->column->name, t->column->name);
    if (t->for_change && plan->control_count > 0)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "%s:%d:%d: for_change: results are calibrated, and a change is of numbers that are not; nearest setting that "
            "works: without `calibrate`, or without `for_change`",
            plan->name, t->line, t->place);
    tamis_status status = check_numbers(s, t, err);
    if (status == TAMIS_OK) status = check_strata(s, t, err);
    if (status == TAMIS_OK) status = tmi_refuse_contributions(s, t, err);
    return status == TAMIS_OK ? tmi_refuse_unit_contributions(s, t, err) : status;
}

/* The bound of the bias is that of one row of each unit, and of weights that are not cut. */
static tamis_status check_regularised(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    if (!d->regularise) return TAMIS_OK;
    if (plan->privacy.rows_per_unit > 1)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "design.regularise: with `rows_per_unit` above 1 the bound of its bias would not hold; "
                             "nearest setting that works: without `regularise`");
    if (d->frame && d->max_weight)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "design.regularise: with a `max_weight` beside the frame the bound of its bias would "
                             "not hold; nearest setting that works: without `max_weight`");
    return TAMIS_OK;
}

/* A setting that forbids what the plan asks, with the place in the plan. */
static tamis_status check_setting(const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_privacy *privacy = &plan->privacy;
    tamis_error reason;
    if (!privacy->design_protected || tamis_setting_protects_design(privacy->setting, &reason) == TAMIS_OK) return TAMIS_OK;
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: privacy.design_variables: %.1000s", plan->name, privacy->design_line,
                    privacy->design_column, reason.message);
}

/* The covariance of two samples that share units is known where both are simple random samples (inference/waves.h). */
static tamis_status check_overlaps(const tamis_plan *plan, tamis_error *err)
{
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        if (!t->contrast || !t->contrast->before) continue;
        if (!tmi_is_simple_sample(&plan->design) || plan->privacy.rows_per_unit > 1)
            return tmi_fail(err, TAMIS_REFUSED,
                            "%s:%d:%d: overlap: how two waves vary together is known for simple random samples with a row per "
                            "unit; nearest setting that works: without `overlap`, so that both variances are added",
                            plan->name, t->line, t->place);
        if (t->contrast->overlap > plan->design.sample)
            return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: overlap.size: expected at most the size of the sample", plan->name,
                            t->line, t->place);
    }
    return TAMIS_OK;
}

tamis_status tmi_refuse_plan(const tamis_plan *plan, tamis_error *err)
{
    const tamis_status overlaps = check_overlaps(plan, err);
    if (overlaps != TAMIS_OK) return overlaps;
    tamis_status status = check_setting(plan, err);
    if (status == TAMIS_OK) status = tmi_refuse_private_bounds(plan, err);
    return status == TAMIS_OK ? check_regularised(plan, err) : status;
}

/* Rotation groups: only the people of a wave's groups lose by it. That is proved where a neighbour has another record in the
 * place of this one, in the same group, so that which waves a record is in is the same for both (docs/ledger.md). */
tamis_status tmi_refuse_wave(const tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    if (plan->wave.group_count == 0) return TAMIS_OK;
    if (plan->privacy.design_protected)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "wave.groups: a rotation group is a design variable, which `design_variables: protected` protects: "
                             "a record could move to another group, and lose privacy in other waves; nearest setting that works: "
                             "`design_variables: public`, or no `groups`, so that the losses of all waves add up");
    if (!s->sampling.rows_fixed)
        return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                             "wave.groups: the design does not fix the number of rows, so a record may be added to a group or "
                             "removed from it; the largest loss over groups is proved only for records that are replaced within "
                             "their group; nearest setting that works: a design with a declared sample size and without "
                             "nonresponse, or no `groups`, so that the losses of all waves add up");
    return TAMIS_OK;
}
