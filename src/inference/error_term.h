/* How the totals of PSUs become one integer of a number (schedule/standard_errors.h), from the noisy tables of the estimates
 * alone: what a release computes before it adds noise, and a reader or a verifier computes again from what was published.
 * Coefficients, blocks, shift and divisor are whole numbers; doubles only decide which. */
#ifndef TMI_INFERENCE_ERROR_TERM_H
#define TMI_INFERENCE_ERROR_TERM_H

#include "inference/group_sums.h"
#include "schedule/standard_errors.h"

typedef struct tmi_error_term {
    int32_t *coefficients; /* of each level of each cell of the table, the largest TMI_ERROR_COEFFICIENT in size; all 0: nothing
                              is known of the number */
    int64_t range;         /* from the smallest to the largest coefficient, 0 included */
    int64_t blocks;
    int shift;       /* totals U = c T are divided by 2^shift and rounded down; below 0: multiplied */
    int64_t divisor; /* S, in steps of 1/64, is divided by it and rounded down */
    double step;     /* what a step of the released integer is worth, as a standard error of the number */
    double squares;  /* V0: the variance in a simple random sample with the same mean weight */
} tmi_error_term;

/* Of one group of the measurement's statistic, whose sums are given. Errors: SYSTEM. */
tamis_status tmi_error_term_make(tmi_error_term *term, const tmi_inference *inference, const tmi_measurement *m,
                                 const tmi_group_sums *sums, size_t group, tamis_error *err);
void tmi_error_term_clear(tmi_error_term *term);

/* By how much all S of a measurement move together, in units of c T, if a record is replaced; of a term with these blocks and
 * this range. */
tmi_int128 tmi_error_moves(const tmi_schedule *schedule, const tmi_measurement *m, int64_t blocks, int64_t range);

/* The least divisor with which all released integers move by no more than TMI_ERROR_STEPS, and the shift that it belongs to. */
void tmi_error_grid(int *shift, int64_t *divisor, const tmi_schedule *schedule, const tmi_measurement *m, tmi_int128 moves);

/* The total of a slot on the grid of a term. */
int64_t tmi_error_total(tmi_int128 total, int shift);

/* V0 of a number at the value r of a ratio; not below half of what its noise may hide. 0: it does not vary, such as a count that
 * calibration makes public. */
double tmi_simple_variance(const tmi_group_sums *sums, const tmi_schedule *schedule, size_t statistic, double r);

/* The value of a ratio, 0 where noise leaves no denominator, and of a sum. */
double tmi_ratio_at(const tmi_plan_statistic *statistic, const tmi_group_sums *sums);

#endif
