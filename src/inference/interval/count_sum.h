/* P_K(k + X <= t) and P_K(k + X >= t), in doubles and in balls; for interval_count.c alone. */
#ifndef TMI_INFERENCE_INTERVAL_COUNT_SUM_H
#define TMI_INFERENCE_INTERVAL_COUNT_SUM_H

#include "inference/interval/count.h"
#include "num/ball.h"

#define TMI_COUNT_POWERS 64

typedef struct tmi_count_test {
    const tmi_count_case *c;
    int64_t noisy;
    bool upwards; /* P(k + X >= noisy), which grows with K; else P(k + X <= noisy) */
    double alpha, rate;
    double spread; /* a guess of the standard deviation of noisy in units of K */
    tmi_noise_part noise;
    double near[TMI_COUNT_POWERS], far[TMI_COUNT_POWERS]; /* Laplace: P(X >= 64 i + j) = far[i] near[j] */
    double *tails;                                        /* P(X >= i), i = 0, 1, ..., for small Gaussian noise */
} tmi_count_test;

tamis_status tmi_count_test_make(tmi_count_test *test, const tmi_count_case *c, int64_t noisy, tamis_error *err);
void tmi_count_test_clear(tmi_count_test *test);

/* A K that fits the noisy number, as a number anywhere on the line. */
double tmi_count_guess(const tmi_count_test *test);

double tmi_count_probability_double(const tmi_count_test *test, int64_t ones);
tamis_status tmi_count_probability(tmi_ball *p, const tmi_count_test *test, int64_t ones, long bits, tamis_error *err);

#endif
