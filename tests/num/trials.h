/* Ones among independent trials of unequal probabilities as a lattice law: a second way to what tmi_trials_part gives. */
#ifndef TESTS_NUM_TRIALS_H
#define TESTS_NUM_TRIALS_H

#include "num/law/law.h"

/* The sum of the groups, at least one, one after the other; what is outside each window adds up. */
static inline tamis_status law_of_trials(tmi_law *law, const tmi_trials *trials, tmi_window window)
{
    window.outside /= (double)trials->count;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < trials->count && status == TAMIS_OK; i++) {
        const tmi_binomial group = {trials->groups[i].count, trials->groups[i].probability};
        tmi_law before, next;
        if (i == 0) {
            status = tmi_law_binomial(law, &group, window, NULL);
            continue;
        }
        before = *law;
        tmi_law_init(law);
        status = tmi_law_binomial(&next, &group, window, NULL);
        if (status == TAMIS_OK) status = tmi_law_convolve(law, &before, &next, window.bits, NULL);
        tmi_law_clear(&before);
        tmi_law_clear(&next);
    }
    return status;
}

#endif
