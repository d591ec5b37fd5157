/* Totals that are read from contributions (measure/contributions.h). Weights are in them, so that a part is one stratum of rows
 * that weigh the same; its sampling variance is that of its own squares. */
#include <math.h>

#include "base/memory.h"
#include "inference/group_sums.h"
#include "measure/contributions.h"

tamis_status tmi_contributed_sums(tmi_statistic_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_form_moments form = tmi_form_moments_of(&s->plan->statistics[i]);
    double *moments = tmi_alloc(z->count, TMI_MOMENTS * sizeof *moments);
    tamis_status status = TAMIS_OK;
    if (!moments) return tmi_fail_memory(err);
    for (size_t part = 0; part < s->sampling.parts; part++) {
        const double a = tmi_contribution_spread(&s->sampling, part);
        const int64_t rows = tmi_contribution_rows(&s->sampling, part);
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(tmi_reconstruct_moments(moments, &r->contributed, part, i, part, err));
        for (size_t g = 0; g < z->count; g++) {
            const double *m = moments + g * TMI_MOMENTS;
            const tmi_group_noise *noise;
            tmi_moment_noise own;
            for (size_t k = 0; k < TMI_MOMENTS; k++) z->groups[g].value[k] += m[k];
            if (a == 0) continue;
            TMI_TRY(tmi_group_noise_of(&noise, &z->noises, g, err));
            for (size_t j = 0; j < TMI_MOMENTS; j++)
                for (size_t k = 0; k < TMI_MOMENTS; k++) own.covariance[j][k] = noise->spread.covariance[j][k] / (a * a);
            tmi_sums_add_stratum(&z->groups[g], &form, (tmi_stratum_part){a, (double)(rows > 0 ? rows : s->sampling.rows)},
                                 rows > 0, m, &own, s->gaussian);
        }
    }

done:
    tmi_free(moments);
    return status;
}
