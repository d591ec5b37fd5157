#include <string.h>

#include "plan/design_kind.h"

const tmi_plan_kind *const tmi_plan_kinds[TMI_PLAN_KINDS] = {
    &tmi_plan_kind_srs,       &tmi_plan_kind_census,  &tmi_plan_kind_srs_with_replacement, &tmi_plan_kind_bernoulli,
    &tmi_plan_kind_poisson,   &tmi_plan_kind_pps,     &tmi_plan_kind_systematic,           &tmi_plan_kind_cluster,
    &tmi_plan_kind_two_stage, &tmi_plan_kind_weights,
};

const tmi_plan_kind *tmi_plan_kind_find(const char *name)
{
    for (size_t i = 0; i < TMI_PLAN_KINDS; i++)
        if (strcmp(tmi_plan_kinds[i]->name, name) == 0) return tmi_plan_kinds[i];
    return NULL;
}
