#include "release/outsider.h"

#include <math.h>
#include <stdio.h>

#include "num/number.h"

tamis_status tmi_outsider_make(tmi_outsider *o, const tamis_plan *plan, const tmi_design *design, const tamis_number *spent,
                               tamis_error *err)
{
    const tmi_plan_privacy *privacy = &plan->privacy;
    tamis_number *zero = NULL;
    tamis_error reason;
    tamis_status status = TAMIS_OK;
    *o = (tmi_outsider){.epsilon = {0, INFINITY}, .delta = {0, 1}};
    if (!design->amplify) {
        snprintf(o->reason, sizeof o->reason, "a census holds every %.100s, so that nobody of the population is an outsider",
                 privacy->unit);
        return TAMIS_OK;
    }
    if (tamis_setting_outsider(privacy->setting, privacy->secret_sample, privacy->design_protected, &reason) != TAMIS_OK) {
        snprintf(o->reason, sizeof o->reason, "%.500s", reason.message);
        return TAMIS_OK;
    }
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(design->amplify(&o->epsilon, &o->delta, &plan->design, spent, zero, err));
    o->proved = true;

done:
    tamis_number_free(zero);
    return status;
}
