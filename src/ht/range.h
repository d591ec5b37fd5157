/* One stratum of a design, values in a range; for mech/ alone. */
#ifndef TMI_HT_RANGE_H
#define TMI_HT_RANGE_H

#include "ht/pair.h"
#include "survey/design/design.h"

/* Units that are alike. */
typedef struct tmi_alike {
    int64_t unit; /* the first of them, counted in the stratum */
    tamis_number *p;
    int64_t exchanges, additions; /* between a sample with the unit and one without it; both 0: not known */
} tmi_alike;

typedef struct tmi_stratum {
    const tamis_design *design;
    int64_t first;
    const tamis_ht_range *range;
    tmi_alike *alike; /* p ascending, no two of one p */
    size_t count;
    size_t met; /* the first of them, whose p is at most the delta of a target: nothing about them needs to be computed */
    tamis_number *from, *to;           /* of the values; from 0 if the level of all values does not matter */
    tamis_number *lightest, *heaviest; /* the smallest from/p, the largest to/p */
    bool independent, can_be_constant;
    bool attained; /* the others of the stratum, and the other strata, can be constant */
    bool has_window;
    int64_t low, high;
} tmi_stratum;

/* Gathers the units that are alike; clear in any case. */
tamis_status tmi_stratum_set(tmi_stratum *s, const tamis_design *design, const tamis_ht_range *range, tamis_error *err);
void tmi_stratum_clear(tmi_stratum *s);

/* Two functions of eps: `least` is attained by some pair, `most` holds for all; the smallest delta is between them. */
typedef struct tmi_between {
    tamis_bound least, most;
    int64_t unit; /* counted in the stratum */
    const char *theorem;
} tmi_between;

/* The largest over the units of the stratum, 0 for those that are met: delta at eps, or with eps NULL the smallest eps with
 * delta = 0. */
tamis_status tmi_stratum_ask(tmi_between *answer, const tmi_stratum *s, const tamis_number *eps, tamis_error *err);

#endif
