/* Whether samples can be drawn as a study asks for. */
#include <string.h>

#include "study/population_parts.h"

const tmi_plan_column *tmi_declared_column(const tamis_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->declared_count; i++)
        if (strcmp(plan->columns[i].name, name) == 0) return &plan->columns[i];
    return NULL;
}

tamis_status tmi_drawing_check(const tmi_drawing *drawing, const tamis_plan *plan, const tmi_plan_design *drawn_by,
                               tamis_error *err)
{
    const char *size = drawing->size, *response = drawing->response;
    tamis_status status = TAMIS_OK;
    if (drawn_by->kind->only_weights)
        TMI_TRY(tmi_fail(
            err, TAMIS_REFUSED,
            "a weights-only design does not say how a sample is drawn: name a plan whose design does (--drawn-by PLAN)"));
    if (plan->design.psus)
        TMI_TRY(
            tmi_fail(err, TAMIS_REFUSED,
                     "a study draws other clusters each time, and `psus` lists those of one sample: study the plan without it"));
    if (plan->design.nonresponse && !response)
        TMI_TRY(tmi_fail(err, TAMIS_REFUSED,
                         "the plan says `nonresponse: yes`: name the population's column of probabilities "
                         "to respond (--response COLUMN)"));
    if (response && !plan->design.nonresponse)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "response: the plan does not say `nonresponse: yes`"));
    if (size && tmi_declared_column(plan, size))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "size: %s is declared under columns; sizes need a separate column", size));
    if (response && tmi_declared_column(plan, response))
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "response: %s is declared under columns; probabilities need a separate column",
                         response));

done:
    return status;
}
