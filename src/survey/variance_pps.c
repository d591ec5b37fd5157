/* Variances that need no joint inclusion probabilities: squared distances of z = u / p (or weight * u) from a centre, with
 * weights c = 1 - p. The approximations differ in the centre and in the factor that accounts for the degree of freedom that
 * the centre costs. A unit of p = 1 has c = 0: it drops out of Hajek's and Deville's, and counts in the plain mean and in n of
 * the other three, as in R's survey. */
#include "survey/estimator.h"

static tamis_status check(double *variance, const double *linear, size_t count, tamis_error *err)
{
    tmi_error_reset(err);
    if (!variance) return tmi_fail(err, TAMIS_INVALID, "variance: NULL");
    *variance = INFINITY;
    return tmi_check_finite("linear", linear, count, err);
}

static tamis_status check_pps(double *variance, const double *linear, const double *p, size_t count, tamis_error *err)
{
    tamis_status status = check(variance, linear, count, err);
    return status == TAMIS_OK ? tmi_check_probabilities("probabilities", p, count, err) : status;
}

tamis_status tamis_variance_poisson(double *variance, const double *linear, const double *probabilities, size_t count,
                                    tamis_error *err)
{
    tmi_sum sum = {0};
    tamis_status status = check_pps(variance, linear, probabilities, count, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < count; i++) {
        double z = linear[i] / probabilities[i];
        tmi_sum_add(&sum, (1 - probabilities[i]) * z * z);
    }
    return tmi_set_variance(variance, tmi_sum_value(sum), err);
}

/* The sum of c (z - centre)^2, the centre being the mean of z with weights c, or the plain one; that of c z (z - centre);
 * the sum of a^2, a = c / (sum of c); and the number n of units with c > 0, or of all with the plain mean. */
typedef struct spread {
    double squares, products, concentration;
    size_t n;
} spread;

static spread spread_of(const double *linear, const double *p, size_t count, bool plain)
{
    tmi_sum c = {0}, c2 = {0}, weights = {0}, z = {0}, squares = {0}, products = {0};
    spread s = {0};
    for (size_t i = 0; i < count; i++) {
        double weight = plain ? 1 : 1 - p[i];
        s.n += weight > 0;
        tmi_sum_add(&c, 1 - p[i]);
        tmi_sum_add(&c2, (1 - p[i]) * (1 - p[i]));
        tmi_sum_add(&weights, weight);
        tmi_sum_add(&z, weight * (linear[i] / p[i]));
    }
    if (s.n == 0) return s;
    double centre = tmi_sum_value(z) / tmi_sum_value(weights);
    for (size_t i = 0; i < count; i++) {
        double apart = linear[i] / p[i] - centre;
        tmi_sum_add(&squares, (1 - p[i]) * apart * apart);
        tmi_sum_add(&products, (1 - p[i]) * apart * (linear[i] / p[i]));
    }
    s.squares = tmi_sum_value(squares);
    s.products = tmi_sum_value(products);
    if (tmi_sum_value(c) > 0) s.concentration = tmi_sum_value(c2) / (tmi_sum_value(c) * tmi_sum_value(c));
    return s;
}

static tamis_status measure(spread *s, double *variance, const double *linear, const double *p, size_t count, bool plain,
                            tamis_error *err)
{
    tamis_status status = check_pps(variance, linear, p, count, err);
    if (status != TAMIS_OK) return status;
    *s = spread_of(linear, p, count, plain);
    if (s->n == 1 && !(plain && p[0] == 1))
        return tmi_fail(err, TAMIS_INVALID, "probabilities: only one is below 1, so the variance cannot be estimated");
    return TAMIS_OK;
}

/* n / (n - 1) */
static double lost_degree(const spread *s) { return s->n < 2 ? 1 : (double)s->n / ((double)s->n - 1); }

tamis_status tamis_variance_hajek(double *variance, const double *linear, const double *probabilities, size_t count,
                                  tamis_error *err)
{
    spread s;
    tamis_status status = measure(&s, variance, linear, probabilities, count, false, err);
    return status == TAMIS_OK ? tmi_set_variance(variance, s.squares * lost_degree(&s), err) : status;
}

tamis_status tamis_variance_deville(double *variance, const double *linear, const double *probabilities, size_t count,
                                    tamis_error *err)
{
    spread s;
    tamis_status status = measure(&s, variance, linear, probabilities, count, false, err);
    return status == TAMIS_OK ? tmi_set_variance(variance, s.squares / (1 - s.concentration), err) : status;
}

tamis_status tamis_variance_brewer(double *variance, const double *linear, const double *probabilities, size_t count,
                                   tamis_error *err)
{
    spread s;
    tamis_status status = measure(&s, variance, linear, probabilities, count, true, err);
    return status == TAMIS_OK ? tmi_set_variance(variance, s.squares * lost_degree(&s), err) : status;
}

/* The pairs of different units add -(sum of c z) (sum of z) + (sum of c z^2), over n - 1, as both c_k and c_l stand
 * once for each pair; with the diagonal, the sum of c z^2, that is n / (n - 1) times the sum of c z (z - mean).      */
tamis_status tamis_variance_overton(double *variance, const double *linear, const double *probabilities, size_t count,
                                    tamis_error *err)
{
    spread s;
    tamis_status status = measure(&s, variance, linear, probabilities, count, true, err);
    return status == TAMIS_OK ? tmi_set_variance(variance, s.products * lost_degree(&s), err) : status;
}

/* Twice Overton's pairs, and beside them (1 - squares / n) z_k z_l: over n - 1, the pairs add
 * -2 ((sum of c z) (sum of z) - (sum of c z^2)) + (1 - squares / n) ((sum of z)^2 - (sum of z^2)).                   */
tamis_status tamis_variance_hartley_rao(double *variance, const double *linear, const double *probabilities, double frame_squares,
                                        size_t count, tamis_error *err)
{
    tmi_sum z = {0}, cz = {0}, z2 = {0}, cz2 = {0}, sampled = {0};
    spread s;
    tamis_status status = measure(&s, variance, linear, probabilities, count, true, err);
    if (status != TAMIS_OK) return status;
    if (!(frame_squares >= 0 && (s.n == 0 || frame_squares <= (double)s.n)))
        return tmi_fail(err, TAMIS_INVALID, "frame_squares: must be between 0 and the number of units");
    if (s.n < 2) return tmi_set_variance(variance, 0, err);
    for (size_t i = 0; i < count; i++) {
        const double p = probabilities[i], x = linear[i] / p;
        tmi_sum_add(&z, x);
        tmi_sum_add(&z2, x * x);
        tmi_sum_add(&cz, (1 - p) * x);
        tmi_sum_add(&cz2, (1 - p) * x * x);
        tmi_sum_add(&sampled, p);
    }
    const double n = (double)s.n, squares = frame_squares > 0 ? frame_squares : tmi_sum_value(sampled), Z = tmi_sum_value(z);
    const double pairs = -2 * (tmi_sum_value(cz) * Z - tmi_sum_value(cz2)) + (1 - squares / n) * (Z * Z - tmi_sum_value(z2));
    return tmi_set_variance(variance, tmi_sum_value(cz2) + pairs / (n - 1), err);
}

tamis_status tamis_variance_hansen_hurwitz(double *variance, const double *linear, const double *weights, size_t count,
                                           tamis_error *err)
{
    tmi_sum sum = {0}, squares = {0};
    tamis_status status;
    double n = (double)count, mean;
    TMI_TRY(check(variance, linear, count, err));
    TMI_TRY(tmi_check_finite("weights", weights, count, err));
    if (count < 2) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "count: at least two draws are needed"));
    for (size_t i = 0; i < count; i++) tmi_sum_add(&sum, weights[i] * linear[i]);
    mean = tmi_sum_value(sum) / n;
    for (size_t i = 0; i < count; i++) {
        double apart = weights[i] * linear[i] - mean;
        tmi_sum_add(&squares, apart * apart);
    }
    TMI_TRY(tmi_set_variance(variance, tmi_sum_value(squares) * n / (n - 1), err));

done:
    return status;
}
