/* The groups of a mean, share or ratio shrunk towards their margin, where the plan asks for it (fay_herriot.h).
 *
 * With x_g and y_g the noisy sums of a group, and R the ratio of all groups together, what a group says about its difference
 * from R is d_g = x_g - R y_g = y (theta_g - R) + error. The variance of the noise in it is known exactly, whatever the group's
 * size. The sampling variance is smoothed over the groups: their own ones are known poorly, and a group whose variance is too
 * small by chance would be shrunk too little. The sum of the variances of all d_g is divided in proportion to the sizes y_g.
 *
 * The true size y is noisy too. y^2 is estimated by the square of the noisy size less the variance of its noise, as everywhere,
 * so that how much groups differ is not taken for less than it is. A group for which that is not above 0, or that has no
 * estimate of its own, has the margin as its number. */
#ifndef TMI_INFERENCE_SHRINK_H
#define TMI_INFERENCE_SHRINK_H

#include "inference/group_sums.h"

/* `list`: the results of all groups of the statistic as they are without shrinkage. Errors: SYSTEM. */
tamis_status tmi_shrink_groups(tmi_result *list, const tmi_inference *inference, const tmi_statistic_sums *sums, size_t statistic,
                               tamis_error *err);

#endif
