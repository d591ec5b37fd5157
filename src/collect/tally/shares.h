/* The parts of a question, with their defaults, and the categories that it names. */
#ifndef TMI_COLLECT_TALLY_SHARES_H
#define TMI_COLLECT_TALLY_SHARES_H

#include "collect/anonymous/reports.h"
#include "collect/tally/tally.h"

typedef struct tmi_asked {
    tamis_number *confidence, *delta;
    int64_t population, promised;
    const char *categories; /* as they were given; NULL: none */
    int *group;             /* for each position: 0, or the number of its category's answer, from 1 */
    int groups;
    tmi_upper_bounds bounds; /* of the anonymous epsilon of whole reports */
} tmi_asked;

/* INVALID names the part that is wrong. Clear it whatever happens. */
tamis_status tmi_asked_make(tmi_asked *asked, const tamis_tally *tally, const tamis_tally_question *question, tamis_error *err);
void tmi_asked_clear(tmi_asked *asked);

tamis_status tmi_tally_shares(tamis_tally_share *shares, const tamis_tally *tally, const tmi_asked *asked, tamis_error *err);

/* The point of the simplex that is nearest to x, in place; `scratch` has as much room. */
void tmi_project(double *x, double *scratch, size_t count);

#endif
