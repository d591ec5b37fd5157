/* Sums of squared differences of pairs of clusters (schedule/clusters/paired.h): the second stage of a release, after the
 * noisy tables of the estimates. Their noise was drawn before the first row was read. */
#ifndef TMI_RELEASE_SQUARES_H
#define TMI_RELEASE_SQUARES_H

#include "base/value/json.h"
#include "schedule/request/request.h"

/* Fills in the noisy integers of all measurements of squares. `noisy` has those of all others.
 *
 * Errors   SYSTEM.                                                                                                  */
tamis_status tmi_add_squares(tmi_int128 *const *noisy, int64_t *const *noise, const tmi_asking *asking,
                             const tmi_schedule *schedule, tamis_error *err);

/* How each of them was made, as JSON: largest coefficient, bound and divisor of every number, by measurement. They follow from
 * the noisy tables; `noisy` NULL: the longest that there can be. */
void tmi_put_squares(tmi_json_out *out, const tmi_schedule *schedule, tmi_int128 *const *noisy);

#endif
