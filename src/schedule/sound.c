/* The invariants of a schedule. Nothing is allocated here, so that tests in which allocations fail may call it. */
#include <math.h>

#include "num/number.h"
#include "schedule/schedule.h"

#define NEAR 1e-12 /* relative: the sums here are in doubles, those of the budget are exact */

/* Every number has a law, every law a positive scale. */
static bool measurement_is_sound(const tmi_measurement *m)
{
    const tmi_error_method *errors = tmi_method_of(m->marginal.weighting);
    bool sound = (errors ? m->moved > 0 && (m->slots > 1) == errors->slots
                         : m->numbers == m->strata * m->slots * m->cells * m->levels) &&
                 m->numbers > 0 && m->laws && m->high > 0 && m->limit > 0 && m->part && tmi_number_sign(m->part) > 0;
    for (size_t h = 0; sound && h < m->strata; h++)
        sound = m->laws[h].scale && tmi_number_sign(m->laws[h].scale) > 0 && m->laws[h].l1 >= 0;
    return sound;
}

bool tmi_schedule_is_sound(const tmi_schedule *s)
{
    double parts = 0;
    bool sound = s->plan && s->spent && s->epsilon && s->delta;
    for (size_t i = 0; sound && i < s->measurement_count; i++) {
        sound = measurement_is_sound(&s->measurements[i]);
        if (sound) parts += tmi_number_nearest(s->measurements[i].part);
    }
    for (size_t i = 0; sound && i < s->quantile_task_count; i++) {
        const tmi_quantile_task *c = &s->quantile_tasks[i];
        const tamis_number *loss = c->rho ? c->rho : c->epsilon;
        sound = c->part && loss && tmi_number_sign(loss) > 0 && c->groups > 0 && c->statistic < s->plan->asked_count;
        if (sound) parts += tmi_number_nearest(c->part);
    }
    for (size_t i = 0; sound && i < s->plan->statistic_count; i++) {
        const tmi_statistic_map *r = &s->workload.maps[i];
        sound = r->known || (r->domain < s->workload.domain_count && r->axis_count <= TMI_MAX_AXES);
    }
    if (!sound) return false;
    const double spent = tmi_number_nearest(s->spent);
    return fabs(parts - spent) <= NEAR * spent * (double)(s->measurement_count + s->quantile_task_count + 1);
}
