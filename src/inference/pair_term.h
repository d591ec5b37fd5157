/* How the differences of pairs of clusters become one integer of a number (schedule/clusters/paired.h), from the noisy tables
 * of the estimates alone: what a release computes before it adds noise, and a reader or a verifier computes again from what was
 * published. Coefficients, bound and divisor are whole numbers; doubles only decide which. */
#ifndef TMI_INFERENCE_PAIR_TERM_H
#define TMI_INFERENCE_PAIR_TERM_H

#include "inference/group_sums.h"
#include "schedule/clusters/paired.h"

typedef struct tmi_pair_term {
    int32_t *coefficients; /* of each level of each cell of the table, up to TMI_PAIRED_COEFFICIENT in size */
    int32_t largest;       /* none is larger in size */
    int64_t bound;         /* B, in steps of D */
    tmi_int128 divisor;    /* g */
    double step;           /* what a step of D is worth, in what the number is estimated in */
    double row;            /* what a row adds to D at most, in the same */
    double squares;        /* s, which the variance is taken relative to (pool.h) */
} tmi_pair_term;

/* Of one group of the measurement's statistic, whose sums are given. Errors: SYSTEM. */
tamis_status tmi_pair_term_make(tmi_pair_term *term, const tmi_inference *reading, const tmi_measurement *m,
                                const tmi_group_sums *sums, size_t group, tamis_error *err);
void tmi_pair_term_clear(tmi_pair_term *term);

/* Huber's square of a difference of a pair, which is clamped to 2^58 first. */
tmi_int128 tmi_huber_square(tmi_int128 difference, int64_t bound);

/* The variance that a noisy sum of such squares says, without what the bound took off if differences are normal; and the
 * standard deviation of its noise. */
typedef struct tmi_pair_variance {
    double value, noise_sd;
} tmi_pair_variance;

tmi_pair_variance tmi_pair_variance_of(const tmi_pair_term *term, const tmi_schedule *schedule, const tmi_measurement *m,
                                       tmi_int128 noisy);

#endif
