/* The second stage of a release (schedule/standard_errors.h): standard errors and sampling variances, after the noisy tables
 * of the estimates, from which their linearised variables follow. Their noise was drawn before the first row was read. */
#ifndef TMI_RELEASE_SECOND_STAGE_H
#define TMI_RELEASE_SECOND_STAGE_H

#include "base/value/json.h"
#include "measure/request/request.h"

/* Fills in the noisy integers of all measurements of the second stage. `noisy` has those of all others.
 *
 * Errors   SYSTEM.                                                                                                  */
tamis_status tmi_add_standard_errors(tmi_int128 *const *noisy, int64_t *const *noise, const tmi_query *query,
                                     const tmi_schedule *schedule, tamis_error *err);

/* How each of them was made, as JSON: range of the coefficients, blocks, shift and divisor of every number, by measurement. They
 * follow from the noisy tables; `noisy` NULL: the longest that there can be. */
void tmi_put_standard_errors(tmi_json_out *out, const tmi_schedule *schedule, tmi_int128 *const *noisy);

#endif
