/* What the estimators share: the checks of their lists. */
#ifndef TMI_SURVEY_ESTIMATOR_H
#define TMI_SURVEY_ESTIMATOR_H

#include <stdbool.h>
#include <tamis/experimental/estimator.h>

#include "base/error.h"
#include "num/sum.h"

/* One finite number for each of count >= 1 units; `name` is the parameter. */
tamis_status tmi_check_finite(const char *name, const double *list, size_t count, tamis_error *err);

/* Numbers in (0, 1]. */
tamis_status tmi_check_probabilities(const char *name, const double *list, size_t count, tamis_error *err);

/* Stores a variance; INVALID, and infinity, if it overflowed. */
tamis_status tmi_set_variance(double *variance, double value, tamis_error *err);

/* What the populations of stages do not say. */
typedef struct tmi_stage_facts {
    const double
        *probabilities; /* of the cluster of each unit, where the first stage drew clusters with unequal ones; else NULL */
    const double
        *drawn;  /* clusters that were drawn in the stratum of each unit, some of which may have no unit; NULL: all have */
    double rate; /* of the units of the last stage, which are drawn by themselves; 0: a fixed number of them is drawn */
} tmi_stage_facts;

/* tamis_variance_stages with these facts; NULL: none. */
tamis_status tmi_variance_stages(double *variance, int64_t *degrees, const double *linear, const double *weights, size_t count,
                                 const tamis_stage *stages, size_t stage_count, const tmi_stage_facts *facts, tamis_lonely lonely,
                                 tamis_error *err);

#endif
