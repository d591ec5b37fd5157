/* Quantiles that a mechanism chooses, while a release is made (measure/quantile_tasks.h has their guarantee).
 *
 *     make    before the charge: the mechanism of every group, so that one that cannot work costs nothing
 *     draw    after it: all random bits, before a row is read
 *     run     the records of each quantile task, group by group                                                            */
#ifndef TMI_RELEASE_QUANTILES_SELECTION_H
#define TMI_RELEASE_QUANTILES_SELECTION_H

#include "measure/request/request.h"

typedef struct tmi_selection {
    const tmi_schedule *schedule;
    tamis_rng *rng;              /* for the bits that a draw needs with probability below 2^-64, and places of records */
    tamis_quantile **mechanisms; /* group by group, quantile task after quantile task */
    size_t count;
} tmi_selection;

/* Errors: INVALID, SYSTEM; cleared by the caller, whatever happens. */
tamis_status tmi_selection_make(tmi_selection *selection, const tmi_schedule *schedule, tamis_error *err);
void tmi_selection_clear(tmi_selection *selection); /* wipes the bits */

/* Whether the engine can give all records. Called after `describe`. Errors: INVALID, REFUSED, SYSTEM. */
tamis_status tmi_selection_check(const tmi_query *query, const tmi_schedule *schedule, tmi_engine *engine,
                                 const tamis_watch *watch, tamis_error *err);

tamis_status tmi_selection_draw(tmi_selection *selection, tamis_error *err);

/* answers[i] has the grid points of quantile task i: group by group, ascending in each. Errors: SYSTEM. */
tamis_status tmi_selection_run(int64_t *const *answers, tmi_selection *selection, const tmi_query *query, tmi_engine *engine,
                               const tamis_watch *watch, tamis_error *err);

/* Room for the grid points of all quantile tasks: a list that ends with NULL; NULL without memory. */
int64_t **tmi_answers_new(const tmi_schedule *schedule);
void tmi_answers_free(int64_t **answers);

#endif
