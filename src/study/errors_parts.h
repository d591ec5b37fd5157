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
    tmi_smooth_calibration paper, ours[TMI_STUDY_LEVELS]; /* of each quantile */
} tmi_noise_of;

/* A thread's place for samples of a population of n; close it also after a failure. */
tamis_status tmi_samples_open(void **place, size_t n, tamis_error *err);
void tmi_samples_close(void *place);

/* A simple random sample in order, valid until the next; that of everybody is the population. */
const double *tmi_samples_draw(void *place, const tmi_values *population, uint32_t n, tmi_stream *stream);

/* The squared error of one quantile of noisy counts. */
double tmi_histogram_error(const tmi_ordered *sample, double eps, double truth, tmi_stream *stream);

/* The best calibration for the sample that is expected: its values are quantiles of the public population. Zeros if there is
 * none. */
tamis_status tmi_calibrate(tmi_smooth_calibration *calibration, const tmi_values *population, uint32_t n, uint32_t rank,
                           const tmi_spending *spent, tamis_error *err);

/* A thread's place with the mechanisms of a release for every size and spending; close it also after a failure. */
tamis_status tmi_release_open(void **place, const tmi_simulation *simulation, tamis_error *err);
void tmi_release_close(void *place);
void *tmi_release_samples(void *place); /* its place for samples */

/* Whether a mechanism applies to a cell, which is size * spending_count + spending; and the mean squared error of one answer,
 * over the quantiles. Errors: SYSTEM, UNABLE. */
bool tmi_release_applies(const void *place, size_t cell, tmi_study_mechanism mechanism);
tamis_status tmi_release_error(double *mse, void *place, size_t cell, tmi_study_mechanism mechanism, const tmi_ordered *sample,
                               const double *truths, tmi_stream *stream, tamis_error *err);

#endif
