/* What is done to the results at the plan's wish, after the noise: agreement with public totals (`calibrate`), margins that add
 * up (`consistent`), no negative cells (`nonnegative`), numbers that say too little withheld (`suppress`). It costs nothing; each
 * result says what was done to it.
 *
 * Counts, and totals of one column, with the same `where` are one family: all their cells are adjusted together by least
 * squares, or by raking, with their variances as if independent. What cannot be met leaves the family as it was, with a
 * note.                                                                                                             */
#ifndef TMI_POSTPROCESS_H
#define TMI_POSTPROCESS_H

#include "release/results.h"

/* That every public total belongs to a statistic; before anything is spent. Errors: INVALID. */
tamis_status tmi_postprocess_check(const tamis_plan *plan, tamis_error *err);

/* Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_postprocess(tmi_results *results, tamis_error *err);

#endif
