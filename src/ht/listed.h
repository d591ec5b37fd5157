/* A design that is listed sample by sample, as ht_pair.c and ht_values.c see it; for mech/ alone. */
#ifndef TMI_HT_LISTED_H
#define TMI_HT_LISTED_H

#include "ht/pair.h"
#include "survey/design/sample_law.h"

/* INVALID, UNABLE: the law, the values; `step` may be NULL, then everything is a multiple. */
tamis_status tmi_check_law(const tamis_law *law, tamis_error *err);
tamis_status tmi_check_values(const tamis_number *const *values, size_t count, tamis_error *err);
tamis_status tmi_check_multiple(const tamis_number *weighted, const tamis_number *step, tamis_error *err);

bool tmi_law_is_exact(const tamis_law *law);

/* x / pi of a unit, 0 if it is never sampled; new. */
tamis_status tmi_weighted(tamis_number **z, const tamis_law *law, size_t unit, const tamis_number *x, tamis_error *err);

/* The totals of all samples for the weighted values w and w_prime; not yet finished. Clear in any case. */
tamis_status tmi_atoms_of(tmi_atoms *atoms, const tamis_law *law, bool exact, const tamis_number *const *w,
                          const tamis_number *const *w_prime, tamis_error *err);

#endif
