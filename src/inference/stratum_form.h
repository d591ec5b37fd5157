/* The sampling variance of A - r B from the sums of one stratum, or of one control cell of a stratum, as a form in r; and how
 * the noise of each measured number enters it.
 *
 * With residuals e = x - r y - gamma, gamma = beta_x - r beta_y the value that calibration explains (0 without), and the
 * factor g of calibration (1 without), it is the sum of a g^2 e^2, less a/n of the square of the stratum's sum of g e.     */
#ifndef TMI_INFERENCE_STRATUM_FORM_H
#define TMI_INFERENCE_STRATUM_FORM_H

#include "inference/variance.h"

/* A sum of squares or products about centres: its value in a stratum, its noise. Where z is 1 or an indicator, z^2 is z. */
typedef struct tmi_square {
    bool measured;
    double value, noise, centre_x, centre_y;
} tmi_square;

/* Sums: x and y about 0, the rows n of a ratio, the rows k of the control cell, squares; how x and y follow from what was
 * measured. */
typedef struct tmi_stratum_form {
    double a, each; /* each: a over the sampled rows; 0 where no mean is taken off */
    double g, beta_x, beta_y;
    double x, y, n, k;
    double vx, vy, vn, vk; /* noise of the sums as they were measured, about the centres */
    double centre_x, centre_y;
    tmi_square xx, xy, yy;
    bool mean;           /* y counts rows: x y is x */
    bool x_is_k, y_is_k; /* they are k, with the same noise */
} tmi_stratum_form;

/* Adds to the moments, and to the sums of the stratum with their noise. */
void tmi_stratum_form_add(tmi_quadratic *moments, tmi_stratum_sums *stratum, const tmi_stratum_form *form);

/* The noises of a form, each with its derivative by a number that was measured; `stratum` holds its whole sums. */
void tmi_stratum_form_noise(tmi_form_noise *noise, const tmi_stratum_form *form, const tmi_stratum_sums *stratum);

/* Those of the stratum's sums to second order, in -each (a x - b y)^2. */
void tmi_stratum_mean_noise(tmi_form_noise *noise, const tmi_stratum_sums *stratum, double each, bool gaussian);

#endif
