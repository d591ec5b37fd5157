/* Whether tables that a certificate lists are enough for the plan's statistics. */
#include <math.h>

#include "base/memory.h"
#include "schedule/targets.h"

static tamis_status inform(tmi_targets *targets, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_effects_reset(&targets->effects);
    for (size_t k = 0; k < s->measurement_count; k++) {
        tmi_table_information information;
        if (tmi_method_of(s->measurements[k].marginal.weighting)) continue;
        TMI_TRY(tmi_table_information_make(&information, &targets->effects, &s->measurements[k].marginal, err));
        tmi_effects_add(&targets->effects, &information, tmi_measurement_precision(s, &s->measurements[k]));
        tmi_table_information_clear(&information);
    }
    tmi_effects_solve(&targets->effects);

done:
    return status;
}

tamis_status tmi_schedule_check_determined(const tmi_schedule *s, tamis_error *err)
{
    tmi_targets targets = {0};
    tamis_status status;
    TMI_TRY(tmi_targets_make(&targets, s, false, err));
    TMI_TRY(inform(&targets, s, err));
    const tmi_problem problem = {.effects = &targets.effects};
    for (size_t i = 0; i < targets.count; i++) {
        if (isfinite(tmi_strategy_target_noise(&problem, &targets.list[i]))) continue;
        if (targets.statistics[i] == SIZE_MAX)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "measurements: a count that results need does not follow from the tables"));
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "measurements: statistic %zu of the plan does not follow from the tables",
                         targets.statistics[i] + 1));
    }

done:
    tmi_targets_clear(&targets);
    return status;
}
