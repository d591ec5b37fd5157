/* The invariants of a schedule. Nothing is allocated here, so that tests in which allocations fail may call it. */
#include <math.h>

#include "num/number.h"
#include "schedule/schedule.h"

#define NEAR 1e-12 /* relative: the sums here are in doubles, those of the budget are exact */

/* Every cell has a law, every law a positive scale, and no row adds what is outside the clamp. */
static bool measurement_is_sound(const tmi_measurement *m)
{
    bool sound = m->cells > 0 && m->units > 0 && m->law_count > 0 && m->low <= m->high && m->limit > 0 &&
                 m->stratum_at <= m->by_count && m->part && tmi_number_sign(m->part) > 0;
    for (size_t h = 0; sound && h < m->law_count; h++) {
        const tmi_noise_law *law = &m->laws[h];
        sound = law->scale && tmi_number_sign(law->scale) > 0 && law->l1 >= 0 && law->low >= m->low && law->high <= m->high;
    }
    return sound;
}

bool tmi_schedule_is_sound(const tmi_schedule *s)
{
    double parts = 0;
    bool sound = s->plan && s->spent && s->epsilon && s->delta;
    for (size_t i = 0; sound && i < s->measurement_count; i++) {
        sound = measurement_is_sound(&s->measurements[i]);
        if (sound) parts += tmi_number_nearest(s->measurements[i].part);
    }
    for (size_t i = 0; sound && i < s->plan->statistic_count; i++) {
        const tmi_use *use = &s->uses[i];
        for (size_t role = 0; sound && role < TMI_ROLES; role++)
            sound = use->table[role] == TMI_NO_TABLE || (!use->known && use->table[role] < s->measurement_count);
        sound = sound && (use->known || use->table[TMI_NUMERATOR] != TMI_NO_TABLE);
    }
    if (!sound) return false;
    const double spent = tmi_number_nearest(s->spent);
    return fabs(parts - spent) <= NEAR * spent * (double)(s->measurement_count + 1);
}
