/* The noise of a mechanism in the unit of the values that it chooses. */
#include <math.h>

#include "base/memory.h"
#include "measure/controls.h"
#include "measure/schedule.h"
#include "mech/quantile/expected/expected.h"

const tmi_quantile_task *tmi_quantile_task_of(const tmi_schedule *s, size_t statistic)
{
    for (size_t i = 0; i < s->quantile_task_count; i++)
        if (s->quantile_tasks[i].statistic == statistic) return &s->quantile_tasks[i];
    return NULL;
}

double tmi_quantile_task_weight(const tmi_quantile_task *c, const tmi_schedule *s, size_t group, double units, bool expected)
{
    const tmi_plan_design *d = &s->plan->design;
    const size_t own = tmi_group_stratum(s, c->statistic, group), stratum = own == SIZE_MAX ? 0 : own;
    const tamis_number *unit = c->max_weight > 0 ? s->sampling.step : s->sampling.weight ? s->sampling.weight[stratum] : NULL;
    /* calibration has made up for those who did not respond; mechanisms know the weights of the design alone */
    const bool all = d->nonresponse && (expected || s->calibrated);
    const double answered = all && d->typical.response ? tmi_number_nearest(d->typical.response) : 1;
    return fmax(units * answered / (unit ? tmi_number_nearest(unit) : 1), 1);
}

tamis_status tmi_quantile_task_error(double *errors, const tamis_quantile *mechanism, const tmi_cdf *c, double weight,
                                     tamis_error *err)
{
    double *places = tmi_alloc(c->count, sizeof *places), *shares = tmi_alloc(c->count, sizeof *shares);
    tamis_status status = TAMIS_OK;
    if (!places || !shares) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < c->count; i++) {
        places[i] = c->points[i].place;
        shares[i] = c->points[i].share;
    }
    TMI_TRY(tmi_quantile_spread(errors, mechanism, &(tmi_known_curve){places, shares, c->count, weight}, err));
    for (size_t k = 0; k < tmi_quantile_count(mechanism); k++) errors[k] *= c->step;

done:
    tmi_free(places);
    tmi_free(shares);
    return status;
}
