/* Whether tables that a certificate lists are enough for the plan's statistics. */
#include <math.h>

#include "base/memory.h"
#include "schedule/aims.h"

static tamis_status inform(tmi_aims *aims, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_effects_reset(&aims->effects);
    for (size_t k = 0; k < s->measurement_count; k++) {
        tmi_table_information information;
        if (tmi_method_of(s->measurements[k].shape.family)) continue;
        TMI_TRY(tmi_table_information_make(&information, &aims->effects, &s->measurements[k].shape, err));
        tmi_effects_add(&aims->effects, &information, tmi_measurement_precision(s, &s->measurements[k]));
        tmi_table_information_clear(&information);
    }
    tmi_effects_solve(&aims->effects);

done:
    return status;
}

tamis_status tmi_schedule_check_determined(const tmi_schedule *s, tamis_error *err)
{
    tmi_aims aims = {0};
    tamis_status status;
    TMI_TRY(tmi_aims_make(&aims, s, err));
    TMI_TRY(inform(&aims, s, err));
    const tmi_problem problem = {.effects = &aims.effects};
    for (size_t i = 0; i < aims.count; i++) {
        if (isfinite(tmi_aim_noise(&problem, &aims.list[i]))) continue;
        if (aims.statistics[i] == SIZE_MAX)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "measurements: a count that results need does not follow from the tables"));
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "measurements: statistic %zu of the plan does not follow from the tables",
                         aims.statistics[i] + 1));
    }

done:
    tmi_aims_clear(&aims);
    return status;
}
