#include "schedule/pooled.h"

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

/* Where the sum of a over all rows is measured. */
#define PRIOR 100

double tmi_pool_prior(const tmi_schedule *s)
{
    return tmi_variance_source_of(s) == TMI_SPREAD_TABLES && s->sampling.weights == TMI_ROWS ? PRIOR : 0;
}
