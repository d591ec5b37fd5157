/* Small groups shrunk towards their margin (Fay and Herriot 1979).
 *
 * The direct estimates are y_g = theta_g + e_g, the errors e_g having known variances V_g, sampling and noise together; the true
 * values theta_g = mu + u_g differ from their mean by u_g of an unknown variance A. With g_g = A/(A + V_g),
 *
 *     theta_g = g_g y_g + (1 - g_g) mu.
 *
 * mu is the margin, all groups together: unlike a mean with weights 1/(A + V_g) it does not favour groups whose size noise has
 * made too large. A is estimated by maximum likelihood, adjusted so that it is above 0 (Yoshimori and Lahiri 2014): an A of 0
 * would give all groups the same number and intervals without room for their differences. The likelihood is multiplied by the
 * m-th root of arctan(sum of the g_g), m being the number of groups. The mean squared error of theta_g is estimated by
 *
 *     g1 + g2 + 2 g3 = g V + (1 - g)^2 Var(mu) + 2 V^2 / (A + V)^3 Var(A),    Var(A) = 2 / sum 1/(A + V_j)^2
 *
 * (Prasad and Rao 1990; Yoshimori and Lahiri for this A): what is left when mu and A are known, what mu adds, what A adds, twice
 * because g1 is too small at an estimated A.
 *
 * Unlike the rest of this room these numbers rest on a model: they hold on average over groups, not for each of them. */
#ifndef TMI_INFERENCE_FAY_HERRIOT_H
#define TMI_INFERENCE_FAY_HERRIOT_H

#include <stddef.h>

typedef struct tmi_fay_herriot {
    double mean, mean_variance; /* mu */
    double between;             /* A, above 0 */
    double between_variance;
} tmi_fay_herriot;

/* Needs    count >= 5, finite y, V >= 0 and finite; some V above 0, or some y that is not the mean. */
tmi_fay_herriot tmi_fay_herriot_fit(const double *y, const double *v, size_t count, double mean, double mean_variance);

/* g of a group; V may be infinite: then it is 0. */
double tmi_fay_herriot_weight(const tmi_fay_herriot *fit, double v);

/* g1 + g2 + 2 g3; an infinite V: A + Var(mu). */
double tmi_fay_herriot_mse(const tmi_fay_herriot *fit, double v);

#endif
