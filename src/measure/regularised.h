/* Weights moved towards their mean: w' = w + share (N/n - w). The largest weight falls, and with it the noise; what that costs
 * is a bias, which each result states. Offered where all weights are public before a row is read: strata, frames.
 *
 * With pi = 1/w and m = N/n the expected change of a total of z is share times the sum over the population of (m pi - 1) z, and
 * m pi - 1 adds up to 0: at most share (to - from)/2 times the sum of |m pi - 1|, the expectation of the sum over the
 * sample of |w - m|, which tmi_regularise bounds. Of a ratio z is x - r y, over the denominator.                     */
#ifndef TMI_MEASURE_REGULARISED_H
#define TMI_MEASURE_REGULARISED_H

#include "measure/schedule.h"

/* w' of a weight, as a double and exactly. Needs a plan that moves them. */
double tmi_regularised_weight(const tmi_plan_design *design, int64_t population, double w);
tamis_status tmi_regularised_exact(tamis_number **moved, const tmi_plan_design *design, int64_t population, const tamis_number *w,
                                   tamis_error *err);

/* Units that could have been drawn, in all. */
int64_t tmi_drawn_from(const tmi_plan_design *design, const tmi_frame_facts *frame);

#endif
