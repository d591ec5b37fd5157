#include "schedule/baseline.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"

#define FOR_SUMS (4.0 / 5)

static tamis_status candidate_make(tmi_candidate *c, const tmi_problem *p, const tmi_aims *a, const tmi_shape *shape,
                                   tamis_error *err)
{
    *c = (tmi_candidate){.shape = *shape};
    tmi_candidate_set_sensitivity(c, a->motions[shape->family]);
    return tmi_table_information_make(&c->information, p->effects, shape, err);
}

/* The variance of an aim's noise from one table that has all of the budget. */
static tamis_status try_form(double *least, tmi_problem *p, const tmi_aims *a, const tmi_aim *aim, const tmi_shape *shape,
                             tmi_table_form form, tamis_error *err)
{
    tmi_candidate c = {0};
    tmi_shape own = *shape;
    own.form = form;
    tamis_status status = candidate_make(&c, p, a, &own, err);
    if (status != TAMIS_OK) return status;
    const tmi_candidate *const table = &c;
    double whole = 1;
    const tmi_strategy alone = {.tables = (const tmi_candidate **)&table, .parts = &whole, .count = 1};
    tmi_budget_solve(p, &alone);
    *least = fmin(*least, tmi_aim_noise(p, aim));
    tmi_table_information_clear(&c.information);
    return TAMIS_OK;
}

static tamis_status alone(double *variance, tmi_problem *p, const tmi_aims *a, size_t i, tamis_error *err)
{
    const tmi_shape *shape = &a->supports[a->own_support[i]];
    tamis_status status;
    *variance = INFINITY;
    TMI_TRY(try_form(variance, p, a, &a->list[i], shape, TMI_FULL, err));
    if (shape->axis_count == 1 && p->effects->axes[shape->axes[0]].degree > 0) {
        TMI_TRY(try_form(variance, p, a, &a->list[i], shape, TMI_RAW, err));
        TMI_TRY(try_form(variance, p, a, &a->list[i], shape, TMI_CENTRED, err));
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

tamis_status tmi_baseline_noise(double *variances, const tmi_schedule *s, tmi_problem *p, const tmi_aims *a, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    double *roots = tmi_alloc(count, sizeof *roots), all = 0;
    const bool squares = !s->plan->design.kind->takes_all && !s->sampling.clustered;
    tamis_status status = TAMIS_OK;
    if (!roots) return tmi_fail_memory(err);
    for (size_t i = 0; i < a->count; i++) {
        variances[i] = NAN;
        if (a->statistics[i] == SIZE_MAX) continue;
        TMI_TRY(alone(&variances[i], p, a, i, err));
        const double demand = a->list[i].share * variances[i] / (a->sizes[i] * a->sizes[i]);
        if (isfinite(demand)) roots[place_of(s->plan, a->statistics[i])] += demand;
    }
    for (size_t k = 0; k < count; k++) {
        roots[k] = p->gaussian ? sqrt(roots[k]) : cbrt(roots[k]);
        all += roots[k];
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->statistics[i] == SIZE_MAX) continue;
        const double root = roots[place_of(s->plan, a->statistics[i])],
                     part = root > 0 ? (squares ? FOR_SUMS : 1) * root / all : 0;
        variances[i] = part > 0 ? variances[i] / (p->gaussian ? part : part * part) : INFINITY;
    }

done:
    tmi_free(roots);
    return status;
}

/* The information of the schedule's own tables. */
static tamis_status inform(tmi_problem *p, const tmi_schedule *s, const tmi_aims *a, tamis_error *err)
{
    const size_t count = s->measurement_count;
    tmi_candidate *list = tmi_alloc(count, sizeof *list);
    const tmi_candidate **tables = tmi_alloc(count, sizeof *tables);
    double *parts = tmi_alloc(count, sizeof *parts);
    size_t made = 0;
    tamis_status status = TAMIS_OK;
    if (!list || !tables || !parts) TMI_TRY(tmi_fail_memory(err));
    for (; made < count; made++) {
        TMI_TRY(candidate_make(&list[made], p, a, &s->measurements[made].shape, err));
        tables[made] = &list[made];
        parts[made] = tmi_number_nearest(s->measurements[made].part) / p->budget;
    }
    tmi_budget_solve(p, &(tmi_strategy){.tables = tables, .parts = parts, .count = count});

done:
    for (size_t k = 0; k < made; k++) tmi_table_information_clear(&list[k].information);
    tmi_free(list);
    tmi_free(tables);
    tmi_free(parts);
    return status;
}

tamis_status tmi_baseline_ratios(double *ratios, const tmi_schedule *s, tamis_error *err)
{
    tmi_aims a = {0};
    double *alone = NULL;
    tamis_status status;
    for (size_t i = 0; i < s->plan->statistic_count; i++) ratios[i] = NAN;
    if (s->measurement_count == 0) return TAMIS_OK;
    TMI_TRY(tmi_aims_make(&a, s, err));
    alone = tmi_alloc(a.count, sizeof *alone);
    if (!alone) TMI_TRY(tmi_fail_memory(err));
    tmi_problem p = {.effects = &a.effects,
                     .aims = a.list,
                     .aim_count = a.count,
                     .gaussian = s->gaussian,
                     .budget = tmi_number_nearest(s->spent),
                     .weights = a.weights};
    TMI_TRY(tmi_baseline_noise(alone, s, &p, &a, err));
    TMI_TRY(inform(&p, s, &a, err));
    for (size_t k = 0; k < a.count; k++)
        if (a.statistics[k] != SIZE_MAX) ratios[a.statistics[k]] = sqrt(alone[k] / tmi_aim_noise(&p, &a.list[k]));
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (!tmi_is_of_distribution(t->kind)) continue;
        const tmi_plan_curve *curve = &s->plan->curves[t->curve];
        ratios[i] = ratios[curve->first + curve->cut_count / 2]; /* those of its shares hardly differ */
    }

done:
    tmi_free(alone);
    tmi_aims_clear(&a);
    return status;
}
