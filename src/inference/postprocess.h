/* What is done to the results at the plan's wish, after the noise: margins that add up (`consistent`), no negative cells
 * (`nonnegative`), numbers that say too little withheld (`suppress`). It costs nothing; each result says what was done to it.
 *
 * Counts, and totals of one column, with the same `where` are one family: all their cells are adjusted together by least
 * squares, with the covariance of their noise. Numbers of one sample add up except for the noise, calibrated ones too, as all
 * have the same weights: so each keeps its sampling error, and its interval is made anew from that and from the noise that it
 * now has (adjusted.h). What cannot be met leaves the family as it was, with a note. */
#ifndef TMI_INFERENCE_POSTPROCESS_H
#define TMI_INFERENCE_POSTPROCESS_H

#include "inference/estimates.h"
#include "schedule/result.h"

/* Errors   SYSTEM (memory).                                                                                          */
tamis_status tmi_postprocess(tmi_results *results, const tmi_inference *reading, tamis_error *err);

#endif
