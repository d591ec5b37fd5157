/* Epsilons of strata, in accounts whose budget is a target for outsiders: a cap for each stratum, and of a charge what a sampled
 * person of each stratum loses by it. */
#ifndef TMI_LEDGER_BY_STRATUM_H
#define TMI_LEDGER_BY_STRATUM_H

#include <stdbool.h>
#include <tamis/num.h>

#include "base/value/json.h"

typedef struct tmi_by_stratum {
    char **names;
    tamis_number **epsilons;
    size_t count;                     /* 0: everybody loses the same */
    tamis_number *outsider, *insider; /* of a budget: what the epsilons follow from; NULL of an amount */
} tmi_by_stratum;

/* "strata": [{"stratum": "north", "epsilon": "4.19"}, ...], and of a budget "outsider" and "insider", in the object `coin`; empty
 * where it has none of them. No epsilon is above `most`. INVALID, SYSTEM; empty then. */
tamis_status tmi_by_stratum_read(tmi_by_stratum *list, const tmi_value *coin, const tamis_number *most, tamis_error *err);
tamis_status tmi_by_stratum_put(tmi_json_out *out, const tmi_by_stratum *list, tamis_error *err);

tamis_status tmi_by_stratum_copy(tmi_by_stratum *copy, const tmi_by_stratum *list, tamis_error *err); /* empty on failure */
bool tmi_by_stratum_equal(const tmi_by_stratum *x, const tmi_by_stratum *y);

/* Whether both have the same strata, or none, and no number of x is above that of y. */
bool tmi_by_stratum_within(const tmi_by_stratum *x, const tmi_by_stratum *y);

/* The epsilon of a stratum; NULL if it is not there. */
const tamis_number *tmi_by_stratum_find(const tmi_by_stratum *list, const char *name);
void tmi_by_stratum_clear(tmi_by_stratum *list);

#endif
