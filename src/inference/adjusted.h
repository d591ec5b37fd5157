/* Counts and totals after least squares has moved them: their noise, and intervals from the law of the error that they now have.
 *
 * An interval cannot be moved with its estimate: its ends were cut to the possible range, and what was cut off is gone. So it is
 * made again. Adjusted number k is a sum over the family, sum_j P_kj t_j, and so is its noise: each noisy integer enters with
 * the factor sum_j P_kj f_j. The sampling error is what it was, since numbers of one sample add up.                        */
#ifndef TMI_INFERENCE_ADJUSTED_H
#define TMI_INFERENCE_ADJUSTED_H

#include "inference/group_sums.h"

/* The noises of a family's numbers, number by number. */
typedef struct tmi_family_noise {
    const tmi_inference *reading;
    size_t count;
    tmi_group_sums *sums; /* of each; without parts where the number is known */
    size_t *first;        /* of each table: its cells among all */
    size_t cells;
    double *factor, *scale; /* room: of each noisy integer in one number */
    tmi_noise_part *parts;
} tmi_family_noise;

/* `members`: `count` results that have been read. The caller clears it. Errors: SYSTEM. */
tamis_status tmi_family_noise_make(tmi_family_noise *noise, const tmi_inference *reading, const tmi_result *const *members,
                                   size_t count, tamis_error *err);
void tmi_family_noise_clear(tmi_family_noise *noise);

/* The result becomes `estimate`, sum_j weights[j] t_j, with its errors and its interval. Errors: SYSTEM. */
tamis_status tmi_result_adjust(tmi_result *result, tmi_family_noise *noise, double estimate, const double *weights,
                               tamis_error *err);

#endif
