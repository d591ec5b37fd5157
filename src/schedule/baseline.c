#include "schedule/baseline.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

#define FOR_SUMS (4.0 / 5)

/* The variance of an aim's noise from one table that has all of the budget. */
static tamis_status try_form(double *least, tmi_problem *p, const tmi_aims *a, const tmi_aim *aim, const tmi_shape *shape,
                             tmi_form form, tamis_error *err)
{
    tmi_candidate c = {.shape = *shape};
    c.shape.form = form;
    tmi_candidate_set_sensitivity(&c, a->motions[shape->family]);
    tamis_status status = tmi_table_information_make(&c.information, p->effects, &c.shape, err);
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

tamis_status tmi_baseline_noise(double *variances, const tmi_schedule *s, tmi_problem *p, const tmi_aims *a, tamis_error *err)
{
    double *roots = tmi_alloc(a->count, sizeof *roots), all = 0;
    const bool squares = !s->plan->design.kind->takes_all && !s->sampling.clustered;
    tamis_status status = TAMIS_OK;
    if (!roots) return tmi_fail_memory(err);
    for (size_t i = 0; i < a->count; i++) {
        variances[i] = NAN;
        if (a->statistics[i] == SIZE_MAX) continue;
        TMI_TRY(alone(&variances[i], p, a, i, err));
        const double demand = a->list[i].share * variances[i] / (a->sizes[i] * a->sizes[i]);
        roots[i] = !isfinite(demand) ? 0 : p->gaussian ? sqrt(demand) : cbrt(demand);
        all += roots[i];
    }
    for (size_t i = 0; i < a->count; i++) {
        const double part = (squares ? FOR_SUMS : 1) * roots[i] / all;
        if (a->statistics[i] != SIZE_MAX) variances[i] /= p->gaussian ? part : part * part;
    }

done:
    tmi_free(roots);
    return status;
}
