#include "schedule/baseline.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"

#define FOR_SUMS (4.0 / 5)
#define FOR_WEIGHTS 0.025 /* of the budget, for each of the two sums of squared weights that sampling variances are scaled by */

static tamis_status candidate_make(tmi_candidate *c, const tmi_problem *p, const tmi_targets *a, const tmi_marginal *marginal,
                                   tamis_error *err)
{
    *c = (tmi_candidate){.marginal = *marginal};
    tmi_candidate_set_sensitivity(c, a->move_bounds[marginal->weighting]);
    return tmi_table_information_make(&c->information, p->effects, marginal, err);
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

/* Tables of no statistic: sums of squared weights get a small part each, since a rough factor is enough; counts beside the
 * statistics share what is kept. */
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
    bool *placed = tmi_alloc(count, sizeof *placed); /* its part is in the tables */
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

double tmi_objective_of(tmi_problem *p, const tmi_strategy *strategy, const double *shares)
{
    double sum = 0;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->target_count; i++) {
        const double variance = tmi_strategy_target_variance(&p->targets[i]);
        if (variance > 0) sum += shares[i] * log(variance);
    }
    return sum;
}

/* The information of tables, and the objective if there is room for it. */
static tamis_status inform(double *objective, tmi_problem *p, const tmi_targets *a, const tmi_marginal *marginals,
                           const double *parts, size_t count, tamis_error *err)
{
    tmi_candidate *list = tmi_alloc(count, sizeof *list);
    const tmi_candidate **tables = tmi_alloc(count, sizeof *tables);
    double *own = tmi_alloc(count, sizeof *own), *shares = tmi_alloc(a->count, sizeof *shares);
    size_t made = 0;
    tamis_status status = TAMIS_OK;
    if (!list || !tables || !own || !shares) TMI_TRY(tmi_fail_memory(err));
    for (; made < count; made++) {
        TMI_TRY(candidate_make(&list[made], p, a, &marginals[made], err));
        tables[made] = &list[made];
        own[made] = parts[made];
    }
    for (size_t i = 0; i < a->count; i++) shares[i] = a->list[i].share;
    const tmi_strategy strategy = {.tables = tables, .parts = own, .count = count};
    if (objective) *objective = tmi_objective_of(p, &strategy, shares);
    else tmi_budget_solve(p, &strategy);

done:
    for (size_t k = 0; k < made; k++) tmi_table_information_clear(&list[k].information);
    tmi_free(list);
    tmi_free(tables);
    tmi_free(own);
    tmi_free(shares);
    return status;
}

/* The same of the schedule's own tables. */
static tamis_status inform_of(double *objective, tmi_problem *p, const tmi_schedule *s, const tmi_targets *a, tamis_error *err)
{
    size_t count = 0;
    tmi_marginal *marginals = tmi_alloc(s->measurement_count, sizeof *marginals);
    double *parts = tmi_alloc(s->measurement_count, sizeof *parts);
    tamis_status status = TAMIS_OK;
    if (!marginals || !parts) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < s->measurement_count; k++) { /* standard errors say nothing about estimates */
        if (tmi_method_of(s->measurements[k].marginal.weighting)) continue;
        marginals[count] = s->measurements[k].marginal;
        parts[count++] = tmi_number_nearest(s->measurements[k].part) / p->budget;
    }
    TMI_TRY(inform(objective, p, a, marginals, parts, count, err));

done:
    tmi_free(marginals);
    tmi_free(parts);
    return status;
}

tamis_status tmi_baseline_objectives(double *now, double *alone, const tmi_schedule *s, tamis_error *err)
{
    tmi_targets a = {0};
    tmi_baseline_tables tables = {0};
    double *noise = NULL;
    tamis_status status;
    *now = *alone = NAN;
    TMI_TRY(tmi_targets_make(&a, s, err));
    if (!(noise = tmi_alloc(a.count, sizeof *noise))) TMI_TRY(tmi_fail_memory(err));
    tmi_problem p = tmi_problem_of(&a, s->gaussian, tmi_number_nearest(s->spent));
    for (size_t k = 0; k < a.needed_count; k++) TMI_TRY(tmi_effects_take_marginal(&a.effects, &a.needed[k], err));
    TMI_TRY(tmi_baseline_noise(noise, &tables, s, &p, &a, err));
    TMI_TRY(inform(alone, &p, &a, tables.marginals, tables.parts, tables.count, err));
    TMI_TRY(inform_of(now, &p, s, &a, err));

done:
    tmi_baseline_tables_clear(&tables);
    tmi_free(noise);
    tmi_targets_clear(&a);
    return status;
}

tamis_status tmi_baseline_ratios(double *ratios, const tmi_schedule *s, tamis_error *err)
{
    tmi_targets a = {0};
    double *alone = NULL;
    tamis_status status;
    for (size_t i = 0; i < s->plan->statistic_count; i++) ratios[i] = NAN;
    if (s->measurement_count == 0) return TAMIS_OK;
    TMI_TRY(tmi_targets_make(&a, s, err));
    alone = tmi_alloc(a.count, sizeof *alone);
    if (!alone) TMI_TRY(tmi_fail_memory(err));
    tmi_problem p = {.effects = &a.effects,
                     .targets = a.list,
                     .target_count = a.count,
                     .gaussian = s->gaussian,
                     .budget = tmi_number_nearest(s->spent),
                     .weights = a.weights};
    TMI_TRY(tmi_baseline_noise(alone, NULL, s, &p, &a, err));
    TMI_TRY(inform_of(NULL, &p, s, &a, err));
    for (size_t k = 0; k < a.count; k++)
        if (a.statistics[k] != SIZE_MAX) ratios[a.statistics[k]] = sqrt(alone[k] / tmi_strategy_target_noise(&p, &a.list[k]));
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (!tmi_is_of_distribution(t->kind)) continue;
        const tmi_plan_curve *curve = &s->plan->curves[t->curve];
        ratios[i] = ratios[curve->first + curve->cut_count / 2]; /* those of its shares hardly differ */
    }

done:
    tmi_free(alone);
    tmi_targets_clear(&a);
    return status;
}
