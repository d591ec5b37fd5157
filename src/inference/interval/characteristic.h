/* The characteristic function of an error, a product: Student's factor, and one for each noise; for law.c alone. */
#ifndef TMI_INFERENCE_INTERVAL_CHARACTERISTIC_H
#define TMI_INFERENCE_INTERVAL_CHARACTERISTIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inference/interval/interval.h"

/* A noise as it enters: Gaussian on its lattice (spread: the square of its scale), or Laplace, discrete (spread: one over the
 * square of sinh(1 / (2 scale))) or continuous (spread: half its variance). */
typedef struct tmi_smooth_part {
    double factor, spread, count;
    bool discrete;
    tmi_gaussian gaussian;
} tmi_smooth_part;

#define TMI_LARGE_DF 120 /* with more degrees of freedom Student's law is computed as a mixture of normal ones */
#define TMI_STUDENT_NODES 31
#define TMI_STUDENT_TERMS 20

typedef struct tmi_spectrum {
    double unit;               /* everything below is in this unit */
    double se, third, longest; /* longest is the largest scale of the Laplace noises */
    double noise_variance;
    double normal; /* the variance of all noises that count as normal */
    int64_t df;
    tmi_smooth_part *parts; /* the noises that do not */
    size_t count;
    double node[TMI_STUDENT_NODES], weight[TMI_STUDENT_NODES];
    double term[TMI_STUDENT_TERMS]; /* of the average of exp(-a (node - 1)) as a series in a */
    double length;                  /* the half period of the square wave */
    bool alternate;                 /* Student's tails are heavy, and are subtracted */
    double *values;                 /* the characteristic function at (k + 1/2) h, divided by k + 1/2 */
    size_t terms;
    double end; /* the characteristic function at h times the number of terms */
} tmi_spectrum;

/* Sets node, weight and term, from df. */
void tmi_student_nodes(tmi_spectrum *v);

/* The factor of T at s >= 0. */
double tmi_student_factor(const tmi_spectrum *v, double s);

/* The function at nodes t[0], t[0] + step, ..., and an envelope that it does not exceed from there on: the factor of a discrete
 * noise returns to 1 at each period. */
#define TMI_RUN 32

typedef struct tmi_noise_run {
    int count;
    double t[TMI_RUN], value[TMI_RUN], envelope[TMI_RUN];
    double below[TMI_RUN], below_envelope[TMI_RUN]; /* the denominators, while both are computed */
} tmi_noise_run;

/* Computes `count` nodes. Needs 1 <= count <= TMI_RUN. */
void tmi_spectrum_run(tmi_noise_run *r, const tmi_spectrum *v, double t, double step, int count);

#endif
