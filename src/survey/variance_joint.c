/* Variances from joint inclusion probabilities p_kl: with z = u / p,
 *
 *     Horvitz-Thompson     sum over k, l of        (1 - p_k p_l / p_kl) z_k z_l
 *     Yates-Grundy-Sen     sum over k < l of       (p_k p_l / p_kl - 1) (z_k - z_l)^2
 *
 * Both have the mean sum over k, l of (p_kl - p_k p_l) z_k z_l over the whole frame, the second if the size is fixed. */
#include "survey/estimator.h"

/* Far above rounding, far below what a mistaken matrix shows. */
#define SYMMETRY 1e-9

static tamis_status check(double *variance, const double *linear, const double *joint, size_t count, tamis_error *err)
{
    tamis_status status;
    size_t cells;
    tmi_error_reset(err);
    if (!variance) return tmi_fail(err, TAMIS_INVALID, "variance: NULL");
    *variance = INFINITY;
    if (__builtin_mul_overflow(count, count, &cells)) return tmi_fail(err, TAMIS_INVALID, "count: too large");
    TMI_TRY(tmi_check_finite("linear", linear, count, err));
    TMI_TRY(tmi_check_probabilities("joint", joint, cells, err));
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < k; l++)
            if (fabs(joint[k * count + l] - joint[l * count + k]) > SYMMETRY * joint[k * count + l])
                TMI_TRY(tmi_fail(err, TAMIS_INVALID, "joint: not symmetric for units %zu and %zu", l, k));

done:
    return status;
}

tamis_status tamis_variance_horvitz_thompson(double *variance, const double *linear, const double *joint, size_t count,
                                             tamis_error *err)
{
    tmi_sum sum = {0};
    tamis_status status = check(variance, linear, joint, count, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < count; k++) {
        double pk = joint[k * count + k], zk = linear[k] / pk;
        tmi_sum_add(&sum, (1 - pk) * zk * zk);
        for (size_t l = 0; l < k; l++) {
            double pl = joint[l * count + l];
            tmi_sum_add(&sum, 2 * (1 - pk * pl / joint[k * count + l]) * zk * (linear[l] / pl));
        }
    }
    return tmi_set_variance(variance, tmi_sum_value(sum), err);
}

tamis_status tamis_variance_yates_grundy(double *variance, const double *linear, const double *joint, size_t count,
                                         tamis_error *err)
{
    tmi_sum sum = {0};
    tamis_status status = check(variance, linear, joint, count, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < count; k++) {
        double pk = joint[k * count + k], zk = linear[k] / pk;
        for (size_t l = 0; l < k; l++) {
            double pl = joint[l * count + l], apart = zk - linear[l] / pl;
            tmi_sum_add(&sum, (pk * pl / joint[k * count + l] - 1) * apart * apart);
        }
    }
    return tmi_set_variance(variance, tmi_sum_value(sum), err);
}
