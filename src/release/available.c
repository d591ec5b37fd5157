/* What a plan may ask and this version does not do yet, refused by name. A row goes when its work is done. */
#include "release/available.h"

#include <string.h>
#include <strings.h>

#include "release/design.h"
#include "release/statistic.h"

static const char *missing_design(const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    if (!tmi_design_of(d)) return "this design";
    if (d->by) return "a stratified design";
    if (d->weight) return "design.weight";
    return d->nonresponse ? "design.nonresponse" : NULL;
}

static const char *missing_statistic(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->statistic_count; i++) {
        if (!tmi_statistic_of(&plan->statistics[i])) return "one of these statistics";
        if (plan->statistics[i].where) return "where";
        if (plan->statistics[i].method) return "method";
    }
    for (size_t i = 0; i < plan->column_count; i++) {
        const tmi_plan_column *column = &plan->columns[i];
        if (column->conditions) return "an indicator";
        if (column->cut_of) return "cuts";
        if (column->by_stratum) return "a bound by stratum";
        if (column->missing != TMI_LEAVE_OUT || column->missing_texts) return "this handling of missing values";
    }
    return NULL;
}

static const char *missing_rest(const tamis_plan *plan)
{
    if (plan->privacy.loss.delta || plan->privacy.loss.rho) return "a budget other than a pure epsilon";
    if (plan->privacy.id) return "privacy.id";
    if (plan->source.table || plan->source.connections) return "this source";
    for (size_t i = 0; i < plan->source.file_count; i++) {
        const char *ending = strrchr(plan->source.files[i], '.');
        if (!ending || (strcasecmp(ending, ".csv") != 0 && strcasecmp(ending, ".parquet") != 0)) return "a file of this kind";
    }
    if (plan->postprocess.nonnegative || plan->postprocess.consistent || plan->postprocess.cv_above || plan->postprocess.units_below > 0)
        return "postprocess";
    return plan->controls ? "calibrate" : NULL;
}

tamis_status tmi_plan_available(const tamis_plan *plan, tamis_error *err)
{
    const char *what = missing_design(plan);
    if (!what) what = missing_statistic(plan);
    if (!what) what = missing_rest(plan);
    return what ? tmi_fail(err, TAMIS_REFUSED, "%s: %s is not available in this version", plan->name, what) : TAMIS_OK;
}
