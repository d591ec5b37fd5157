/* The first share of the curve is taken as a statistic with other values, in a copy of the schedule and of what is read from it:
 * a mean in the place of a share, of a single group. */
#include "inference/step_mean.h"

#include <string.h>

#include "base/memory.h"
#include "measure/controls.h"

struct tmi_step_means {
    tmi_inference inference; /* what it points to is the original's, but for the schedule */
    tmi_schedule schedule;
    tamis_plan plan;
    tmi_plan_statistic *statistics;
    tmi_statistic_map *maps;
    tmi_only_group only;
    const tmi_plan_statistic *share; /* as it is */
    const tmi_statistic_map *share_map;
    const tmi_plan_curve *curve;
    size_t statistic;
    size_t own_group; /* by the columns of strata that a group is read by */
    double *values;   /* one per class of the column */
    tmi_result *results;
};

void tmi_step_means_free(tmi_step_means *m)
{
    if (!m) return;
    tmi_free(m->statistics);
    tmi_free(m->maps);
    tmi_free(m->values);
    tmi_free(m->results);
    tmi_free(m);
}

static void point_to_schedule(tmi_reconstruction *r, const tmi_schedule *s)
{
    if (r->schedule) r->schedule = s;
}

/* Of one group: columns of strata stay, as strata may have tables of their own; all other columns become a restriction. */
static void set_group(tmi_step_means *m, size_t group)
{
    const tmi_plan_statistic *share = m->share;
    const tmi_statistic_map *map = m->share_map;
    tmi_plan_statistic *t = &m->statistics[m->statistic];
    tmi_statistic_map *r = &m->maps[m->statistic];
    memcpy(m->only.by, map->by, sizeof m->only.by);
    m->only.group = group;
    m->own_group = t->by_count = 0;
    for (size_t k = 0; group != SIZE_MAX && k < share->by_count; k++) {
        if (!tmi_is_of_strata(&m->plan.design, share->by[k])) continue;
        t->by[t->by_count] = share->by[k];
        r->by[t->by_count++] = map->by[k];
        m->own_group = m->own_group * share->by[k]->value_count + tmi_group_code(share, group, k);
        m->only.by[k] = SIZE_MAX;
    }
    const bool restricted = group != SIZE_MAX && share->by_count > t->by_count;
    t->where = restricted && !share->where ? share->column : share->where; /* no size of such a group is public */
    r->only = restricted ? &m->only : NULL;
}

tamis_status tmi_step_means_make(tmi_step_means **means, const tmi_inference *inference, size_t curve, tamis_error *err)
{
    const tmi_schedule *s = inference->schedule;
    const size_t count = s->plan->statistic_count;
    tmi_step_means *m = tmi_alloc(1, sizeof *m);
    tamis_status status = TAMIS_OK;
    *means = m;
    if (!m) return tmi_fail_memory(err);
    m->curve = &s->plan->curves[curve];
    m->statistic = m->curve->first;
    const tmi_plan_statistic *share = &s->plan->statistics[m->statistic];
    const tmi_statistic_map *r = &s->workload.maps[m->statistic];
    size_t cells = 1;
    for (size_t k = 0; k < share->by_count; k++)
        if (tmi_is_of_strata(&s->plan->design, share->by[k])) cells *= share->by[k]->value_count;
    m->statistics = tmi_alloc(count, sizeof *m->statistics);
    m->maps = tmi_alloc(count, sizeof *m->maps);
    m->values = tmi_alloc(tmi_classes_levels(&s->workload.classes[r->x.classes]), sizeof *m->values);
    m->results = tmi_alloc(cells, sizeof *m->results);
    if (!m->statistics || !m->maps || !m->values || !m->results) TMI_TRY(tmi_fail_memory(err));
    memcpy(m->statistics, s->plan->statistics, count * sizeof *m->statistics);
    memcpy(m->maps, s->workload.maps, count * sizeof *m->maps);
    memcpy(&m->plan, s->plan, sizeof m->plan);
    m->plan.statistics = m->statistics;
    m->schedule = *s;
    m->schedule.plan = m->schedule.workload.plan = &m->plan;
    m->schedule.workload.maps = m->maps;
    m->inference = *inference;
    m->inference.schedule = &m->schedule;
    m->inference.plain = true;
    tmi_reconstruction *const parts[] = {&m->inference.main, &m->inference.rows, &m->inference.contributed,
                                         &m->inference.of_units};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) point_to_schedule(parts[i], &m->schedule);
    m->share = m->only.statistic = share;
    m->share_map = r;
    m->statistics[m->statistic].kind = TMI_MEAN;
    m->maps[m->statistic].x.one = m->values;

done:
    if (status != TAMIS_OK) {
        tmi_step_means_free(m);
        *means = NULL;
    }
    return status;
}

/* Classes are bins of the curve, or parts of them where other statistics divide the column further. */
static void set_values(tmi_step_means *m, const double *values)
{
    const tmi_classes *c = &m->schedule.workload.classes[m->maps[m->statistic].x.classes];
    size_t bin = 0;
    for (size_t k = 0; k < c->count; k++) {
        while (k > 0 && bin < m->curve->cut_count && m->curve->cuts[bin] <= c->cuts[k - 1]) bin++;
        m->values[k] = values[bin];
    }
}

tamis_status tmi_step_mean_read(tmi_result *result, tmi_step_means *m, const double *values, size_t group, tamis_error *err)
{
    const tmi_plan_statistic *own = &m->statistics[m->statistic];
    set_values(m, values);
    set_group(m, group);
    m->inference.group = group;
    const size_t cells = (size_t)tmi_statistic_cells(own);
    for (size_t i = 0; i < cells; i++) {
        m->results[i] = TMI_NO_RESULT;
        m->results[i].statistic = m->statistic;
        m->results[i].cell = i;
    }
    tamis_status status = tmi_read_statistic(m->results, &m->inference, m->statistic, err);
    *result = m->results[m->own_group];
    return status;
}
