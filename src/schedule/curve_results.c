#include "schedule/curve_results.h"

#include <math.h>

static tmi_curve_point point_of(const tmi_result *share, int64_t cut)
{
    const bool bounded = !isnan(share->lower) && !isnan(share->upper);
    return (tmi_curve_point){.place = (double)cut,
                             .share = share->estimate,
                             .lower = bounded ? share->lower : 0,
                             .upper = bounded ? share->upper : 1,
                             .sampling = isnan(share->sampling_se) ? 0 : share->sampling_se * share->sampling_se,
                             .noise = isnan(share->noise_sd) ? 0 : share->noise_sd * share->noise_sd};
}

tamis_status tmi_curve_of_results(tmi_curve *curve, const char **reason, const tmi_plan_curve *cuts, const tmi_result *shares,
                                  size_t groups, size_t group, tamis_error *err)
{
    const tmi_grid *grid = &cuts->column->grid;
    tamis_status status = tmi_curve_make(curve, cuts->cut_count, (double)grid->low, (double)grid->high, grid->step, err);
    *reason = NULL;
    for (size_t k = 0; k < cuts->cut_count && status == TAMIS_OK; k++) {
        const tmi_result *share = &shares[k * groups + group];
        if (isnan(share->estimate)) *reason = share->reason ? share->reason : "a share below a cut is not known";
        curve->points[k + 1] = point_of(share, cuts->cuts[k]);
    }
    if (status == TAMIS_OK && !*reason) status = tmi_curve_ascend(curve, err);
    if (status != TAMIS_OK) tmi_curve_clear(curve);
    return status;
}
