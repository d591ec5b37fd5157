/* What the files of errors.h share. */
#ifndef TMI_STUDY_ERRORS_PARTS_H
#define TMI_STUDY_ERRORS_PARTS_H

#include "study/errors.h"
#include "study/seeded.h"

/* The noise of each mechanism for one size of sample and one spending. */
typedef struct tmi_noise_of {
    tmi_spending spent;
    double laplace; /* scale for a sensitivity of 1 */
    double sigma;   /* of Gaussian noise for a sensitivity of 1; 0: there is none without a delta */
    tmi_smooth_calibration paper, ours;
} tmi_noise_of;

/* A thread's place for samples of a population of n; close it also after a failure. */
tamis_status tmi_samples_open(void **place, size_t n, tamis_error *err);
void tmi_samples_close(void *place);

/* A simple random sample in order, valid until the next; that of everybody is the population. */
const double *tmi_samples_draw(void *place, const tmi_values *population, uint32_t n, tmi_stream *stream);

/* The squared error of one simulated release of the histogram's median. */
double tmi_histogram_error(const tmi_ordered *sample, double eps, double truth, tmi_stream *stream);

/* The best calibration for the sample that is expected: its values are quantiles of the public population. Zeros if there is
 * none. */
tamis_status tmi_calibrate(tmi_smooth_calibration *calibration, const tmi_values *population, uint32_t n,
                           const tmi_spending *spent, tamis_error *err);

#endif
