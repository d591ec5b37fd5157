/* A local randomizer with finitely many answers and reports: the probabilities of every report given every answer. And the exact
 * delta of a few anonymised reports of it, over everything that the others may have answered. */
#ifndef TMI_COLLECT_ANONYMOUS_RANDOMIZER_H
#define TMI_COLLECT_ANONYMOUS_RANDOMIZER_H

#include <tamis/experimental/anonymous.h>

#include "collect/anonymous/shift.h"

#define TMI_RANDOMIZER_BITS 128 /* of its probabilities */
#define TMI_RANDOMIZER_MOST 64  /* reports of a table */

/* Two answers of one person, in this order. */
typedef struct tmi_answers {
    size_t x, y;
} tmi_answers;

typedef struct tmi_randomizer {
    size_t inputs, outputs;
    tmi_ball *p;        /* p[x * outputs + report] */
    tmi_answers *pairs; /* every pair of answers is like one of these: relabelling answers and reports maps it there */
    size_t pair_count;
} tmi_randomizer;

/* Of reports that are whole vectors of bits, or categories; checked. UNABLE if there are more than TMI_RANDOMIZER_MOST reports.
 * Clear it in any case. */
tamis_status tmi_randomizer_init(tmi_randomizer *r, const tamis_reports *reports, tamis_error *err);
void tmi_randomizer_clear(tmi_randomizer *r);

/* The largest delta of n anonymised reports, exactly, over everything that the others may have answered. It keeps what one
 * question shows for the next ones. The randomizer must outlive it. */
typedef struct tmi_enumeration tmi_enumeration;

/* *made is NULL, without an error, if there is too much to enumerate. */
tamis_status tmi_enumeration_new(tmi_enumeration **made, const tmi_randomizer *r, int64_t n, tamis_error *err);
void tmi_enumeration_free(tmi_enumeration *e);
tamis_status tmi_enumeration_delta(tamis_bound *delta, tmi_enumeration *e, const tmi_loss_at *at, tamis_error *err);

#endif
