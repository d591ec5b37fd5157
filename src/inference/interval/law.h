/* The law of an error, prepared for the evaluation of its tail; for interval*.c alone. */
#ifndef TMI_INFERENCE_INTERVAL_LAW_H
#define TMI_INFERENCE_INTERVAL_LAW_H

#include "inference/interval/interval.h"

typedef struct tmi_smooth_part {
    double factor, spread, count;
    bool discrete, gaussian;
} tmi_smooth_part;

#define TMI_STUDENT_NODES 31
#define TMI_STUDENT_TERMS 20

typedef struct tmi_spectrum {
    double unit;               /* everything below is in this unit */
    double se, third, longest; /* longest: of the Laplace noises */
    double noise_variance;
    int64_t df;
    tmi_smooth_part *parts;
    size_t count;
    /* many degrees of freedom: Student's law as a mixture of normal ones */
    double node[TMI_STUDENT_NODES], weight[TMI_STUDENT_NODES];
    double term[TMI_STUDENT_TERMS]; /* of the average of exp(-a (node - 1)) as a series in a */
    double length;                  /* half period of the square wave */
    bool alternate;                 /* Student's tails are heavy: they are taken off */
    double *values;                 /* of the characteristic function */
    size_t terms;
} tmi_spectrum;

tamis_status tmi_error_law_check(const tmi_error_law *law, tamis_error *err);

/* Clear it unless that failed. */
tamis_status tmi_spectrum_make(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err);
void tmi_spectrum_clear(tmi_spectrum *v);

/* P(E > x) */
double tmi_spectrum_beyond(const tmi_spectrum *v, double x);

#endif
