#include "schedule/baseline.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"

#define FOR_SUMS (4.0 / 5) /* part of the budget for estimates, where sampling variances need squares beside them */
#define FOR_WEIGHTS 0.025  /* part for each of the two sums of squared weights that sampling variances are scaled by */

static tamis_status candidate_make(tmi_candidate *c, const tmi_problem *p, const tmi_targets *a, const tmi_marginal *marginal,
                                   tamis_error *err)
{
    *c = (tmi_candidate){.marginal = *marginal};
    const tamis_status status = tmi_table_information_make(&c->information, p->effects, marginal, err);
    if (status == TAMIS_OK) tmi_candidate_set_sensitivity(c, p->effects->axes, a->move_bounds[c->information.arrowhead]);
    return status;
}

/* The variance of a target's noise from one table that has all of the budget, if it is less than with another form. */
static tamis_status try_form(double *least, tmi_table_form *best, tmi_problem *p, const tmi_targets *a,
                             const tmi_strategy_target *target, const tmi_marginal *marginal, tmi_table_form form,
                             tamis_error *err)
{
    tmi_candidate c = {0};
    tmi_marginal own = *marginal;
    own.form = form;
    tamis_status status = candidate_make(&c, p, a, &own, err);
    if (status != TAMIS_OK) return status;
    const tmi_candidate *const table = &c;
    double whole = 1;
    const tmi_strategy alone = {.tables = (const tmi_candidate **)&table, .parts = &whole, .count = 1};
    tmi_budget_solve(p, &alone);
    const double noise = tmi_strategy_target_noise(p, target);
    if (noise < *least) *best = form;
    *least = fmin(*least, noise);
    tmi_table_information_clear(&c.information);
    return TAMIS_OK;
}

static tamis_status alone(double *variance, tmi_table_form *best, tmi_problem *p, const tmi_targets *a, size_t i,
                          tamis_error *err)
{
    const tmi_marginal *marginal = &a->needed[a->own_marginal[i]];
    tamis_status status;
    *variance = INFINITY;
    *best = TMI_FULL;
    TMI_TRY(try_form(variance, best, p, a, &a->list[i], marginal, TMI_FULL, err));
    if (marginal->axis_count == 1 && p->effects->axes[marginal->axes[0]].degree > 0) {
        TMI_TRY(try_form(variance, best, p, a, &a->list[i], marginal, TMI_RAW, err));
        TMI_TRY(try_form(variance, best, p, a, &a->list[i], marginal, TMI_CENTRED, err));
    }

done:
    return status;
}

/* Where the demand of a statistic is added up: its own place, or that of its distribution function, whose shares are read from
 * one table. */
static size_t place_of(const tamis_plan *plan, size_t statistic)
{
    for (size_t c = 0; c < plan->curve_count; c++)
        if (statistic >= plan->curves[c].first && statistic < plan->curves[c].first + plan->curves[c].cut_count)
            return plan->curves[c].first;
    return statistic;
}

void tmi_baseline_tables_clear(tmi_baseline_tables *t)
{
    tmi_free(t->marginals);
    tmi_free(t->parts);
    *t = (tmi_baseline_tables){0};
}

static tamis_status tables_make(tmi_baseline_tables *t, const tmi_targets *a, tamis_error *err)
{
    *t = (tmi_baseline_tables){.marginals = tmi_alloc(a->needed_count, sizeof *t->marginals),
                               .parts = tmi_alloc(a->needed_count, sizeof *t->parts),
                               .count = a->needed_count};
    if (!t->marginals || !t->parts) return tmi_fail_memory(err);
    for (size_t k = 0; k < t->count; k++) t->marginals[k] = a->needed[k];
    return TAMIS_OK;
}

/* Gives parts to the tables that no statistic is read from. Sums of squared weights get a small one each, since a rough factor is
 * enough; counts beside the statistics share what is kept for them. */
static void share_rest(tmi_baseline_tables *t)
{
    double given = 0, others = 0, of_weights = 0;
    for (size_t k = 0; k < t->count; k++) {
        const bool is_of_weights = t->marginals[k].weighting >= TMI_SPREAD;
        given += t->parts[k];
        others += t->parts[k] == 0 && !is_of_weights;
        of_weights += t->parts[k] == 0 && is_of_weights;
    }
    const double rest = others > 0 ? fmax(1 - given, 1 - FOR_SUMS) : 0, kept = rest + FOR_WEIGHTS * of_weights;
    for (size_t k = 0; k < t->count; k++)
        t->parts[k] = t->parts[k] > 0                           ? t->parts[k] / given * (1 - kept)
                      : t->marginals[k].weighting >= TMI_SPREAD ? FOR_WEIGHTS
                                                                : rest / others;
}

tamis_status tmi_baseline_noise(double *variances, tmi_baseline_tables *tables, const tmi_schedule *s, tmi_problem *p,
                                const tmi_targets *a, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    double *shares = tmi_alloc(count, sizeof *shares), all = 0;
    bool *placed = tmi_alloc(count, sizeof *placed); /* whether the part of a statistic has been given to its table */
    const bool squares = !s->plan->design.kind->takes_all && !s->sampling.clustered;
    tmi_baseline_tables made = {0};
    tamis_status status = TAMIS_OK;
    if (!shares || !placed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tables_make(&made, a, err));
    for (size_t i = 0; i < a->count; i++) {
        tmi_table_form form;
        variances[i] = NAN;
        if (a->statistics[i] == SIZE_MAX) continue;
        TMI_TRY(alone(&variances[i], &form, p, a, i, err));
        made.marginals[a->own_marginal[i]].form = form;
        if (!isfinite(variances[i])) continue;
        shares[place_of(s->plan, a->statistics[i])] += a->list[i].share;
        all += a->list[i].share;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->statistics[i] == SIZE_MAX) continue;
        const size_t place = place_of(s->plan, a->statistics[i]);
        const double part = shares[place] > 0 ? (squares ? FOR_SUMS : 1) * shares[place] / all : 0;
        variances[i] = part > 0 ? variances[i] / (p->gaussian ? part : part * part) : INFINITY;
        if (!placed[place]) made.parts[a->own_marginal[i]] += part;
        placed[place] = true;
    }
    share_rest(&made);
    if (tables) *tables = made;

done:
    if (!tables || status != TAMIS_OK) tmi_baseline_tables_clear(&made);
    tmi_free(shares);
    tmi_free(placed);
    return status;
}

tmi_problem tmi_problem_of(tmi_targets *a, bool gaussian, double budget)
{
    return (tmi_problem){.effects = &a->effects,
                         .targets = a->list,
                         .target_count = a->count,
                         .gaussian = gaussian,
                         .budget = budget,
                         .weights = a->weights};
}

/* Adds up the information of the schedule's own tables. */
static tamis_status inform(tmi_problem *p, const tmi_schedule *s, const tmi_targets *a, tamis_error *err)
{
    tmi_candidate *list = tmi_alloc(s->measurement_count, sizeof *list);
    const tmi_candidate **tables = tmi_alloc(s->measurement_count, sizeof *tables);
    double *parts = tmi_alloc(s->measurement_count, sizeof *parts);
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (!list || !tables || !parts) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < s->measurement_count; k++) { /* standard errors say nothing about estimates */
        const tmi_measurement *m = &s->measurements[k];
        if (tmi_method_of(m->marginal.weighting)) continue;
        TMI_TRY(candidate_make(&list[count], p, a, &m->marginal, err));
        tables[count] = &list[count];
        parts[count++] = tmi_number_nearest(m->part) / p->budget;
    }
    tmi_budget_solve(p, &(tmi_strategy){.tables = tables, .parts = parts, .count = count});

done:
    for (size_t k = 0; k < count; k++) tmi_table_information_clear(&list[k].information);
    tmi_free(list);
    tmi_free(tables);
    tmi_free(parts);
    return status;
}

tamis_status tmi_baseline_ratios(double *ratios, const tmi_schedule *s, tamis_error *err)
{
    tmi_targets a = {0};
    double *alone = NULL;
    tamis_status status;
    for (size_t i = 0; i < s->plan->statistic_count; i++) ratios[i] = NAN;
    if (s->measurement_count == 0) return TAMIS_OK;
    TMI_TRY(tmi_targets_make(&a, s, false, err));
    alone = tmi_alloc(a.count, sizeof *alone);
    if (!alone) TMI_TRY(tmi_fail_memory(err));
    tmi_problem p = tmi_problem_of(&a, s->gaussian, tmi_number_nearest(s->spent));
    TMI_TRY(tmi_baseline_noise(alone, NULL, s, &p, &a, err));
    TMI_TRY(inform(&p, s, &a, err));
    for (size_t k = 0; k < a.count; k++)
        if (a.statistics[k] != SIZE_MAX) ratios[a.statistics[k]] = sqrt(alone[k] / tmi_strategy_target_noise(&p, &a.list[k]));
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (t->contrast) ratios[i] = ratios[tmi_term_statistic(t->contrast, 0)];
        if (!tmi_is_of_distribution(t->kind)) continue;
        const tmi_plan_curve *curve = &s->plan->curves[t->curve];
        ratios[i] = ratios[curve->first + curve->cut_count / 2]; /* the ratios of its shares hardly differ */
    }

done:
    tmi_free(alone);
    tmi_targets_clear(&a);
    return status;
}
