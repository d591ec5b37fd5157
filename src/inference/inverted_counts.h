/* Intervals of counts by tests: of a single noisy integer exactly, of a count that is made of several by the variance that each
 * possible total would have. */
#ifndef TMI_INFERENCE_INVERTED_COUNTS_H
#define TMI_INFERENCE_INVERTED_COUNTS_H

#include "inference/group_sums.h"
#include "inference/interval/strata.h"

/* Whether a result is a count, or a share of a public number of units, whose test can be inverted. */
bool tmi_is_inverted(const tmi_result *result, const tmi_inference *inference, const tmi_group_sums *sums);

/* Intervals at a grid of estimates, for a statistic with many groups: their ends grow with the estimate, so the interval of any
 * estimate is within that from the lower end at the grid point below it to the upper end at the one above it. The grid is so
 * fine that this is at most a hundredth longer. */
#define TMI_MANY_COUNTS 4096 /* a statistic with this many groups uses a grid */
typedef struct tmi_count_grid tmi_count_grid;
tmi_count_grid *tmi_count_grid_new(void); /* NULL if memory runs out */
void tmi_count_grid_free(tmi_count_grid *grid);

/* The interval of tmi_interval_strata for one stratum whose `noisy` is the estimate over `weight`, by the grid. False if the
 * estimates are too far apart for a grid, or there is no noise; *status is then OK. */
bool tmi_count_grid_interval(tmi_interval *interval, tamis_status *status, tmi_count_grid *grid, const tmi_stratum_count *stratum,
                             const tmi_count_estimate *estimate, double confidence, double weight, tamis_error *err);

/* Sets the interval of a result, which is a count divided by `over` and has its estimate. Errors: as tmi_interval_strata. */
tamis_status tmi_invert_count(tmi_result *result, const tmi_inference *inference, const tmi_group_sums *sums, double over,
                              tamis_error *err);

#endif
