/* Formulas in exact numbers, written as formulas.
 *
 * Each call gives a new number that belongs to the tmi_exact and is freed with it. A failed step is remembered: from then on
 * every call gives NULL, which the others accept, so that the status is looked at once, at the end.                    */
#ifndef TMI_NUM_EXACT_H
#define TMI_NUM_EXACT_H

#include "num/number.h"

typedef struct tmi_exact {
    tamis_number **list;
    size_t count, room;
    tamis_status status;
    tamis_error *err;
} tmi_exact;

#define TMI_EXACT(error) ((tmi_exact){.status = TAMIS_OK, .err = (error)})
void tmi_exact_clear(tmi_exact *e);

typedef const tamis_number *tmi_term; /* lives as long as its tmi_exact; NULL after a failure */

tmi_term tmi_int(tmi_exact *e, int64_t x);
tmi_term tmi_add(tmi_exact *e, tmi_term x, tmi_term y);
tmi_term tmi_sub(tmi_exact *e, tmi_term x, tmi_term y);
tmi_term tmi_mul(tmi_exact *e, tmi_term x, tmi_term y);
tmi_term tmi_div(tmi_exact *e, tmi_term x, tmi_term y);
tmi_term tmi_abs(tmi_exact *e, tmi_term x);

/* The larger, the smaller one: x or y itself. */
tmi_term tmi_larger(tmi_term x, tmi_term y);
tmi_term tmi_smaller(tmi_term x, tmi_term y);

/* *z becomes a copy of x that the caller frees; the status of everything before it. */
tamis_status tmi_exact_copy(tamis_number **z, tmi_exact *e, tmi_term x);

#endif
