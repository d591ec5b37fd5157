/* Quantiles that a mechanism chooses, while a release is made (schedule/choices/choice.h has their guarantee).
 *
 *     make    before the charge: the mechanism of every group, so that one that cannot work costs nothing
 *     draw    after it: all random bits, before a row is read
 *     run     the records of each choice, group by group                                                            */
#ifndef TMI_RELEASE_CHOICES_CHOOSING_H
#define TMI_RELEASE_CHOICES_CHOOSING_H

#include "schedule/request/request.h"

typedef struct tmi_choosing {
    const tmi_schedule *schedule;
    tamis_rng *rng;              /* for the bits that a draw needs with probability below 2^-64, and places of records */
    tamis_quantile **mechanisms; /* group by group, choice after choice */
    size_t count;
} tmi_choosing;

/* Errors: INVALID, SYSTEM; cleared by the caller, whatever happens. */
tamis_status tmi_choosing_make(tmi_choosing *choosing, const tmi_schedule *schedule, tamis_error *err);
void tmi_choosing_clear(tmi_choosing *choosing); /* wipes the bits */

/* Whether the engine can give all records. Called after `describe`. Errors: INVALID, REFUSED, SYSTEM. */
tamis_status tmi_choosing_check(const tmi_asking *asking, const tmi_schedule *schedule, tmi_engine *engine,
                                const tamis_watch *watch, tamis_error *err);

tamis_status tmi_choosing_draw(tmi_choosing *choosing, tamis_error *err);

/* chosen[i] has the grid points of choice i: group by group, ascending in each. Errors: SYSTEM. */
tamis_status tmi_choosing_run(int64_t *const *chosen, tmi_choosing *choosing, const tmi_asking *asking, tmi_engine *engine,
                              const tamis_watch *watch, tamis_error *err);

/* Room for the grid points of all choices: a list that ends with NULL; NULL without memory. */
int64_t **tmi_chosen_new(const tmi_schedule *schedule);
void tmi_chosen_free(int64_t **chosen);

#endif
