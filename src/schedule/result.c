#include "schedule/result.h"

#include <math.h>

#include "base/memory.h"

tamis_status tmi_results_make(tmi_results *r, const tamis_plan *plan, const tmi_schedule *schedule, tamis_error *err)
{
    *r = (tmi_results){.plan = plan, .schedule = schedule};
    size_t count = 0; /* a plan allows at most 2^20 cells */
    for (size_t i = 0; i < plan->statistic_count; i++) count += (size_t)tmi_statistic_cells(&plan->statistics[i]);
    r->list = tmi_alloc(count, sizeof *r->list);
    r->facts = tmi_alloc(plan->column_count, sizeof *r->facts);
    if (!r->list || !r->facts) {
        tmi_results_clear(r);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < plan->statistic_count; i++) {
        size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[i]);
        for (size_t cell = 0; cell < cells; cell++) {
            tmi_result *result = &r->list[r->all++];
            *result = TMI_NO_RESULT;
            result->statistic = i;
            result->cell = cell;
        }
        if (i < plan->asked_count) r->count = r->all;
    }
    return TAMIS_OK;
}

void tmi_results_clear(tmi_results *r)
{
    tmi_free(r->list);
    tmi_free(r->facts);
    *r = (tmi_results){0};
}

void tmi_result_bound(tmi_result *result)
{
    bool estimate = isinf(result->estimate), interval = isinf(result->lower) || isinf(result->upper);
    if (estimate) result->estimate = TMI_NULL;
    if (estimate || interval) result->lower = result->upper = TMI_NULL;
    if ((estimate || interval) && !result->reason) result->reason = "larger than numbers in the output can be";
}

/* ---- distribution functions ---- */

static tmi_cdf_point point_of(const tmi_result *share, int64_t cut)
{
    const bool bounded = !isnan(share->lower) && !isnan(share->upper);
    return (tmi_cdf_point){.place = (double)cut,
                           .share = share->estimate,
                           .lower = bounded ? share->lower : 0,
                           .upper = bounded ? share->upper : 1,
                           .sampling = isnan(share->sampling_se) ? 0 : share->sampling_se * share->sampling_se,
                           .noise = isnan(share->noise_sd) ? 0 : share->noise_sd * share->noise_sd};
}

tamis_status tmi_cdf_of_results(tmi_cdf *curve, const char **reason, const tmi_plan_curve *cuts, const tmi_result *shares,
                                size_t groups, size_t group, tamis_error *err)
{
    const tmi_grid *grid = &cuts->column->grid;
    tamis_status status = tmi_cdf_make(curve, cuts->cut_count, (double)grid->low, (double)grid->high, grid->step, err);
    *reason = NULL;
    for (size_t k = 0; k < cuts->cut_count && status == TAMIS_OK; k++) {
        const tmi_result *share = &shares[k * groups + group];
        if (isnan(share->estimate)) *reason = share->reason ? share->reason : "a share below a cut is not known";
        curve->points[k + 1] = point_of(share, cuts->cuts[k]);
    }
    if (status == TAMIS_OK && !*reason) status = tmi_cdf_ascend(curve, err);
    if (status != TAMIS_OK) tmi_cdf_clear(curve);
    return status;
}

tmi_result **tmi_results_first(const tmi_results *results)
{
    const tamis_plan *plan = results->plan;
    tmi_result **first = tmi_alloc(plan->statistic_count, sizeof *first), *next = results->list;
    for (size_t i = 0; first && i < plan->statistic_count; i++) {
        first[i] = next;
        next += tmi_statistic_cells(&plan->statistics[i]);
    }
    return first;
}
