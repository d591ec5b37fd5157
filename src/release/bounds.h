/* The first stage of a release with private bounds (measure/bound_tasks.h has its guarantee).
 *
 *     make    before the charge: what the engine will be asked
 *     draw    after it: all random bits, before a row is read
 *     run     the rows above the candidates of each bound, and the choice; from then on the schedule knows its bounds */
#ifndef TMI_RELEASE_BOUNDS_H
#define TMI_RELEASE_BOUNDS_H

#include "base/value/json.h"
#include "measure/request/bounds.h"
#include "measure/request/request.h"
#include "mech/quantile/bound.h"

typedef struct tmi_bound_search {
    tmi_bound_query query;
    tamis_rng *rng;         /* for the bits that a choice needs with probability below 2^-64 */
    tmi_uniform_bits *bits; /* one number per task */
    size_t count;
} tmi_bound_search;

/* Errors: SYSTEM; cleared by the caller, whatever happens. */
tamis_status tmi_bound_search_make(tmi_bound_search *search, const tmi_schedule *schedule, tamis_error *err);
void tmi_bound_search_clear(tmi_bound_search *search); /* wipes the bits */

/* Whether the engine can count the rows. Called after `describe`. Errors: INVALID, REFUSED, SYSTEM. */
tamis_status tmi_bound_search_check(const tmi_bound_search *search, tmi_engine *engine, const tamis_watch *watch,
                                    tamis_error *err);

tamis_status tmi_bound_search_draw(tmi_bound_search *search, tamis_error *err);

/* Finds the bounds; `query`, which was made before, then asks for the grids that they mean. Errors: SYSTEM. */
tamis_status tmi_bound_search_run(tmi_schedule *schedule, tmi_query *query, tmi_bound_search *search, tmi_engine *engine,
                                  const tamis_watch *watch, tamis_error *err);

/* ---- what was found ---- */

/* Sets the bounds to those in a list of measurements.json or a certificate, whatever its order. *right is false, and they are
 * what they were, unless each is there with a candidate of its own. Errors: SYSTEM. */
tamis_status tmi_take_bounds(bool *right, tmi_schedule *schedule, const tmi_value *list, tamis_error *err);

#endif
