/* The best sizes of strata, for allocation.c and its tests. */
#ifndef TMI_STUDY_ALLOCATION_H
#define TMI_STUDY_ALLOCATION_H

#include <tamis/experimental/study.h>

typedef struct tmi_allocation_stratum {
    char *name;
    double population, sd, range;
} tmi_allocation_stratum;

/* What a release is to promise. */
typedef enum tmi_promise {
    TMI_PROMISE_NONE,   /* no noise: Neyman's allocation */
    TMI_PROMISE_KNOWN,  /* eps, whoever knows who was sampled */
    TMI_PROMISE_SECRET, /* eps for everybody in the frame; the sample is secret */
    TMI_PROMISES
} tmi_promise;

/* The squared error of the mean. */
double tmi_allocation_variance(const tmi_allocation_stratum *strata, size_t count, const int64_t *sizes, double eps,
                               tmi_promise promise);

/* The integers with the smallest squared error, `sample` in all, at least `least` or everybody in each stratum. Needs room for
 * that: least each <= sample <= population. Errors: SYSTEM. */
tamis_status tmi_allocate(int64_t *sizes, const tmi_allocation_stratum *strata, size_t count, int64_t sample, int64_t least,
                          double eps, tmi_promise promise, tamis_error *err);

#endif
