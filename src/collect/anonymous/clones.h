/* The clone bound of Feldman, McMillan and Talwar (2021, 2023) for anonymised reports of any mechanism with a local eps. */
#ifndef TMI_COLLECT_ANONYMOUS_CLONES_H
#define TMI_COLLECT_ANONYMOUS_CLONES_H

#include "collect/anonymous/shift.h"

/* n reports. Either `local` and the year whose clone probability is meant, or exact numbers in place of them: more = e^local/(1 +
 * e^local), less = 1 - more, and `share`, the probability of a clone. Borrowed. */
typedef struct tmi_clones {
    int64_t n;
    const tamis_number *local;
    int year;
    const tamis_number *more, *less, *share;
    bool patient; /* nine digits; otherwise three, in a tenth of the time */
} tmi_clones;

/* Checked parameters. An enclosure of the bound; {0, 1} on failure. */
tamis_status tmi_clones_delta(tamis_bound *delta, const tmi_clones *clones, const tmi_loss_at *at, tamis_error *err);

#endif
