/* Public design effects: of all statistics, of a family of them, of one. */
#include "plan/sections.h"

void tmi_read_deff(tmi_reader *reader, const tmi_value *value, tamis_number **deff)
{
    if (tmi_read_exact(reader, value, deff, "1.8") && tmi_number_sign(*deff) <= 0)
        tmi_complain(reader, value, "expected a design effect above 0, e.g. 1.8");
}

tmi_family_of tmi_statistic_family(const tmi_plan_statistic *s)
{
    switch (s->contrast ? s->contrast->compared[0].kind : s->kind) {
    case TMI_COUNT:
    case TMI_TOTAL:
    case TMI_TABLE:
    case TMI_HISTOGRAM: return TMI_TOTALS;
    case TMI_SHARE: return TMI_SHARES;
    default: return TMI_MEANS;
    }
}

double tmi_relative_deff(const tmi_plan_design *d, const tmi_plan_statistic *s)
{
    const tamis_number *family = d->deff_of[tmi_statistic_family(s)], *own = s->deff ? s->deff : family;
    return d->deff && own ? tmi_number_nearest(own) / tmi_number_nearest(d->deff) : 1;
}
