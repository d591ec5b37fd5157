/* Change since an earlier release: this wave's number minus that of the other folder (measure/earlier.h).
 *
 * Noise. The noises of two releases are drawn apart, so that the error of the change has those of both, integer by integer.
 *
 * Sampling. V = V2 + V1 - 2 C, C the covariance of the two estimates over the drawing of both samples. Independent samples have
 * C = 0. Where people or clusters of the first wave are kept and answer alike, C is above 0 and V2 + V1 is too much; unless the
 * plan declares the samples independent, the result says what is assumed. The degrees of freedom are the smaller ones of the
 * two: Student's quantile grows as they fall, so that no interval is narrower than it should be.
 *
 * Overlap. Two simple random samples, of n1 and n2 units of N, have n units in common, every set of n as likely in either. The
 * covariance of two means is then (n/(n1 n2) - 1/N) S_xy (Tam 1984; Qualite and Tille 2008), with S_xy from the units of both, of
 * which this wave's file has both values. With e = x - r the residuals of each wave, w its weight and B the estimated size of a
 * group, C = w1 w2/(B1 B2) (1 - n1 n2/(N n)) times the sum of e1 e2 over the units of both that are in the group, from noisy
 * products. A lower limit of it is used, a third of the normal quantile times its noise below, or 0 where it is within that of 0:
 * V is then too large rather than too small. Of two populations N is the smaller one. n is public; groups are those of this wave.
 *
 * Intervals. As those of contrasts (contrast.h): of counts and totals about the estimate; of means, shares and ratios from the
 * ends of both numbers' own intervals, scaled such that they are those of the error above where denominators are well known. */
#ifndef TMI_INFERENCE_WAVES_H
#define TMI_INFERENCE_WAVES_H

#include "inference/estimates.h"
#include "measure/earlier.h"

/* The numbers of a statistic as a later wave needs them, from its results. Room for one per group; the caller clears them,
 * whatever happens. Errors: SYSTEM. */
tamis_status tmi_wave_numbers_make(tmi_wave_number *numbers, const tmi_inference *inference, const tmi_result *list,
                                   size_t statistic, tamis_error *err);

/* Fills the results of all changes; those of the numbers that changed are read. Errors: SYSTEM. */
tamis_status tmi_read_changes(tmi_results *results, const tmi_inference *inference, tamis_error *err);

#endif
