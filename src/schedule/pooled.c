#include "schedule/pooled.h"

#include <math.h>
#include <string.h>

#include "schedule/expected/guess.h"

tmi_pooled_kind tmi_pooled_kind_of(const tmi_plan_statistic *t)
{
    if (tmi_is_sum(t)) return TMI_POOLED_TOTALS;
    return t->kind == TMI_SHARE ? TMI_POOLED_SHARES : TMI_POOLED_MEANS;
}

/* Of an indicator the column that it asks about, the first of several. */
static const tmi_plan_column *subject_of(const tmi_plan_statistic *t)
{
    return t->column && t->column->conditions ? t->column->conditions[0].column : t->column;
}

bool tmi_are_pooled(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    if (tmi_pooled_kind_of(a) != tmi_pooled_kind_of(b) || subject_of(a) != subject_of(b)) return false;
    if (a->column) return true;
    if (a->by_count != b->by_count) return false;
    for (size_t k = 0; k < a->by_count; k++)
        if (a->by[k] != b->by[k]) return false;
    return true;
}

double tmi_group_degrees(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_design *d = &s->plan->design;
    const double groups = (double)s->groups, each = (double)s->sampling.pairs / (double)s->sampling.pair_strata;
    bool by_strata = false;
    for (size_t k = 0; k < t->by_count; k++)
        by_strata = by_strata || t->by[k] == d->by || (d->strata_label && strcmp(d->strata_label, t->by[k]->name) == 0);
    return by_strata && s->sampling.pairs > 0 ? fmin(groups, fmax(each, 1)) : groups;
}

double tmi_allowed_by_degrees(const tmi_schedule *s)
{
    return tmi_variance_source_of(s) == TMI_CLUSTER_GROUPS && s->sampling.df > 0 ? 2 / (double)s->sampling.df : 0;
}

/* Where the sum of a over all rows is measured. */
#define PRIOR 100

/* What other pools say about clusters. A design effect may be as large as the number of a cluster's rows in the sample: about
 * large clusters they say so little that every pool gets a table, if the budget allows it at all. */
#define OF_OTHERS 0.05

static double precision_of_others(const tmi_schedule *s)
{
    tmi_sizes z;
    tmi_sizes_make(&z, s);
    return fmin(OF_OTHERS, 1 / z.taken);
}

double tmi_pool_prior(const tmi_schedule *s)
{
    if (tmi_variance_source_of(s) != TMI_SPREAD_TABLES) return precision_of_others(s);
    return s->sampling.weights == TMI_ROWS ? PRIOR : 0;
}
