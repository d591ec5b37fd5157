/* What is done to the results at the plan's wish, after the noise: no negative cells (`nonnegative`), numbers that say too little
 * withheld (`suppress`). It costs nothing; each result says what was done to it. Results add up without it: all are read from
 * the same effects (reconstruct.h). Rows without a value of a column are in a margin and in none of its cells. */
#ifndef TMI_INFERENCE_POSTPROCESS_H
#define TMI_INFERENCE_POSTPROCESS_H

#include "inference/estimates.h"
#include "schedule/result.h"

/* Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_postprocess(tmi_results *results, const tmi_inference *inference, tamis_error *err);

#endif
