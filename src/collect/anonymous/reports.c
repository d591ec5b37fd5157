#include "collect/anonymous/reports.h"

#include <math.h>

#include "composition/profile.h"

const tamis_number *tmi_lie_zero(const tamis_reports *reports)
{
    return reports->lie_zero ? reports->lie_zero : reports->lie_one;
}

static tamis_status check_flips(const tamis_reports *r, tamis_error *err)
{
    const tamis_number *zero = tmi_lie_zero(r);
    tamis_number *sum = NULL;
    if (tmi_number_sign(r->lie_one) <= 0 || tmi_number_sign(zero) <= 0)
        return tmi_fail(err, TAMIS_INVALID, "lie probability: must be positive");
    tamis_status status = tmi_number_add(&sum, r->lie_one, zero, err);
    if (status != TAMIS_OK) return status;
    bool too_many = tmi_number_compare_int(sum, 1) >= 0;
    tamis_number_free(sum);
    if (!too_many) return TAMIS_OK;
    if (!r->lie_zero) return tmi_fail(err, TAMIS_INVALID, "lie probability: must be below 1/2");
    return tmi_fail(err, TAMIS_INVALID, "lie probability: that of a one and that of a zero must add up to less than 1");
}

static tamis_status check_categories(const tamis_reports *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *k = NULL, *truth = NULL, *other = NULL;
    if (r->lie_zero) return tmi_fail(err, TAMIS_INVALID, "lie probability: categories have only one, none for zeros");
    if (r->positions < 2 || r->positions > TAMIS_MAX_CATEGORIES)
        return tmi_fail(err, TAMIS_INVALID, "categories: must be between 2 and %d", TAMIS_MAX_CATEGORIES);
    if (r->ones != 0 || r->exactly) return tmi_fail(err, TAMIS_INVALID, "ones: does not apply to categories");
    if (tmi_number_sign(r->lie_one) <= 0) return tmi_fail(err, TAMIS_INVALID, "lie probability: must be positive");
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_ratio(&k, r->positions - 1, 1, err));
    TMI_TRY(tmi_number_sub(&truth, one, r->lie_one, err));
    TMI_TRY(tmi_number_div(&other, r->lie_one, k, err));
    if (tmi_number_compare(other, truth) >= 0)
        status = tmi_fail(err, TAMIS_INVALID,
                          "lie probability: the true category must be the most likely one: below 1 - 1/categories");
done:
    tmi_number_frees(&one, &k, &truth, &other, NULL);
    return status;
}

static tamis_status check_sizes(const tamis_reports *r, tamis_error *err)
{
    if (r->form != TAMIS_REPORT_COUNTS && r->form != TAMIS_REPORT_WHOLE) return tmi_fail(err, TAMIS_INVALID, "form: unknown");
    if (r->positions < 1 || r->positions > TAMIS_MAX_POSITIONS)
        return tmi_fail(err, TAMIS_INVALID, "bits: must be between 1 and %d", TAMIS_MAX_POSITIONS);
    if (r->ones < 0 || r->ones > r->positions)
        return tmi_fail(err, TAMIS_INVALID, "ones: must be between 0 and the number of bits");
    if (r->exactly && (r->ones < 1 || r->ones == r->positions))
        return tmi_fail(err, TAMIS_INVALID, "ones: exactly so many must be at least 1 and fewer than the bits");
    return TAMIS_OK;
}

tamis_status tmi_check_reports(const tamis_reports *r, tamis_error *err)
{
    if (!r) return tmi_fail(err, TAMIS_INVALID, "reports: NULL");
    if (r->reports < 1 || r->reports > TAMIS_MAX_REPORTS)
        return tmi_fail(err, TAMIS_INVALID, "reports: must be between 1 and %lld", (long long)TAMIS_MAX_REPORTS);
    if (!r->lie_one) return tmi_fail(err, TAMIS_INVALID, "lie probability: NULL");
    if (r->form == TAMIS_REPORT_CATEGORIES) return check_categories(r, err);
    tamis_status status = check_sizes(r, err);
    return status == TAMIS_OK ? check_flips(r, err) : status;
}

/* ---- what may differ ---- */

/* Allocates nothing, so it cannot fail for want of memory and say that nothing differs. */
int64_t tamis_reports_differing(const tamis_reports *r)
{
    if (!r || r->form == TAMIS_REPORT_CATEGORIES || check_sizes(r, NULL) != TAMIS_OK) return 0;
    if (r->exactly) return 2 * (2 * r->ones > r->positions ? r->positions - r->ones : r->ones);
    return r->ones == 0 || 2 * r->ones > r->positions ? r->positions : 2 * r->ones;
}

/* A one against a zero reveals up to log((1-u)/v), a zero against a one log((1-v)/u). The first is the larger one if and only if
 * u (1-u) >= v (1-v), that is u >= v, because u + v < 1: as many positions as possible change that way. With exactly as many ones
 * in both answers, as many change one way as the other. */
tmi_changes tmi_reports_changes(const tamis_reports *r)
{
    int64_t most = r->ones == 0 ? r->positions : r->ones, rest = r->positions - most;
    int64_t other = r->ones == 0 ? 0 : most < rest ? most : rest;
    bool ones_reveal_more = tmi_number_compare(r->lie_one, tmi_lie_zero(r)) >= 0;
    if (r->exactly) return (tmi_changes){other, other};
    return ones_reveal_more ? (tmi_changes){most, other} : (tmi_changes){other, most};
}

/* Allocates nothing, so that want of memory cannot leave a sentence out of a certificate. */
double tamis_reports_alike(const tamis_reports *r)
{
    if (!r || r->reports < 1 || r->reports > TAMIS_MAX_REPORTS || !r->lie_one) return NAN;
    if (r->form == TAMIS_REPORT_CATEGORIES) return INFINITY;
    if (check_sizes(r, NULL) != TAMIS_OK || tmi_number_sign(r->lie_one) <= 0 || tmi_number_sign(tmi_lie_zero(r)) <= 0) return NAN;
    if (r->form != TAMIS_REPORT_WHOLE || r->positions == 1) return INFINITY;
    const double share = tmi_number_nearest(r->lie_one) + tmi_number_nearest(tmi_lie_zero(r));
    if (!(share < 1)) return NAN;
    double alike = (double)r->reports;
    for (int64_t i = 0; i < r->positions; i++) alike *= share; /* the same on every machine: certificates contain it in words */
    return alike;
}

/* ---- the local eps ---- */

static tamis_status local_bits(tamis_bound *eps, const tamis_reports *r, tamis_error *err)
{
    tmi_one_bit bit;
    tmi_ball x, y, log_ratio;
    tmi_changes changes = tmi_reports_changes(r);
    tamis_status status = tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err);
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_init(&log_ratio);
    for (int order = 0; status == TAMIS_OK && order < 2; order++) {
        tmi_shift pair = tmi_one_bit_pair(&bit, 0, 0, order);
        tmi_ball_set_number(&x, pair.more, TMI_BITS_FIRST);
        tmi_ball_set_number(&y, pair.less, TMI_BITS_FIRST);
        tmi_ball_div(&x, &x, &y, TMI_BITS_FIRST);
        tmi_ball_log(&x, &x, TMI_BITS_FIRST);
        tmi_ball_mul_int(&x, &x, order == 0 ? changes.down : changes.up, TMI_BITS_FIRST);
        tmi_ball_add(&log_ratio, &log_ratio, &x, TMI_BITS_FIRST);
    }
    if (status == TAMIS_OK) *eps = tmi_ball_bound(&log_ratio);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    tmi_ball_clear(&log_ratio);
    tmi_one_bit_clear(&bit);
    return status;
}

/* log of (1 - q)(k - 1)/q */
static void local_categories(tamis_bound *eps, const tamis_reports *r)
{
    tmi_ball x, y;
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_set_number(&x, r->lie_one, TMI_BITS_FIRST);
    tmi_ball_neg(&y, &x);
    tmi_ball_add_int(&y, &y, 1, TMI_BITS_FIRST);
    tmi_ball_mul_int(&y, &y, r->positions - 1, TMI_BITS_FIRST);
    tmi_ball_div(&x, &y, &x, TMI_BITS_FIRST);
    tmi_ball_log(&x, &x, TMI_BITS_FIRST);
    *eps = tmi_ball_bound(&x);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
}

tamis_status tamis_anonymous_local(tamis_bound *epsilon, const tamis_reports *reports, tamis_error *err)
{
    if (!epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    *epsilon = (tamis_bound){0, INFINITY};
    tamis_status status = tmi_check_reports(reports, err);
    if (status != TAMIS_OK) return status;
    if (reports->form != TAMIS_REPORT_CATEGORIES) return local_bits(epsilon, reports, err);
    local_categories(epsilon, reports);
    return TAMIS_OK;
}

/* ---- asking ---- */

/* One bit: whole reports are counts. Two categories are one bit. */
bool tmi_is_one_bit(const tamis_reports *r) { return r->form == TAMIS_REPORT_CATEGORIES ? r->positions == 2 : r->positions == 1; }

#define EVERY 3000             /* reports up to which each composition is looked at where that is needed */
#define EVERY_PATIENTLY 200000 /* the same for whoever can wait half a minute, looking at this many pairs: */
#define PATIENT 40000
#define MANY 10000000 /* beyond which compositions differ too little for narrow blocks */

tamis_status tamis_anonymous_delta(tamis_bound *delta, const tamis_reports *reports, const tamis_number *epsilon,
                                   tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_one_bit bit = {0};
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    TMI_TRY(tmi_check_reports(reports, err));
    TMI_TRY(tmi_check_eps(epsilon, err));
    tmi_loss_at at = {.eps = epsilon};
    if (tmi_is_one_bit(reports)) {
        TMI_TRY(tmi_one_bit_init(&bit, reports->reports, reports->lie_one, tmi_lie_zero(reports), err));
        tmi_effort effort = reports->reports <= EVERY ? TMI_EFFORT_EXACT : TMI_EFFORT_QUICK;
        TMI_TRY(tmi_one_bit_delta(delta, NULL, &bit, &at, effort, err));
    } else if (reports->form == TAMIS_REPORT_COUNTS) {
        TMI_TRY(tmi_positions_delta(delta, reports, epsilon, err));
    } else {
        TMI_TRY(tmi_whole_delta(delta, reports, &at, err));
    }
done:
    tmi_one_bit_clear(&bit);
    if (status != TAMIS_OK) *delta = (tamis_bound){0, 1};
    return status;
}

/* Each composition of a few reports; with many, as near as some seconds allow. */
static tamis_status one_bit_epsilon(tamis_bound *eps, const tamis_reports *r, const tamis_number *delta, bool patient,
                                    tamis_error *err)
{
    const tmi_effort efforts[] = {{1e-9, patient ? PATIENT : 12000, 0}, {1e-4, 1500, 0}, {0.004, 4000, 0}, {0.02, 4000, 0}};
    const size_t last = sizeof efforts / sizeof *efforts - 1;
    tmi_one_bit bit;
    tamis_status status = tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err);
    for (size_t i = r->reports <= (patient ? EVERY_PATIENTLY : EVERY) ? 0 : r->reports <= MANY ? 1 : 2; status == TAMIS_OK; i++) {
        status = tmi_one_bit_epsilon(eps, &bit, delta, efforts[i], err);
        if (status != TAMIS_UNABLE || i == last) break;
        status = TAMIS_OK;
    }
    tmi_one_bit_clear(&bit);
    return status;
}

tamis_status tmi_patient_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta, tamis_error *err)
{
    *epsilon = (tamis_bound){0, INFINITY};
    tamis_status status = tmi_check_reports(reports, err);
    if (status == TAMIS_OK) status = tmi_check_delta(delta, err);
    if (status == TAMIS_OK) status = one_bit_epsilon(epsilon, reports, delta, true, err);
    return status;
}

tamis_status tmi_anonymous_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta,
                                   tmi_upper_bounds bounds, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *epsilon = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_check_reports(reports, err));
    TMI_TRY(tmi_check_delta(delta, err));
    if (tmi_number_sign(delta) == 0) TMI_TRY(tamis_anonymous_local(epsilon, reports, err));
    else if (tmi_is_one_bit(reports)) TMI_TRY(one_bit_epsilon(epsilon, reports, delta, false, err));
    else if (reports->form == TAMIS_REPORT_COUNTS) TMI_TRY(tmi_positions_epsilon(epsilon, reports, delta, err));
    else TMI_TRY(tmi_whole_epsilon(epsilon, reports, delta, bounds, err));
done:
    if (status != TAMIS_OK) *epsilon = (tamis_bound){0, INFINITY};
    return status;
}

tamis_status tamis_anonymous_epsilon(tamis_bound *epsilon, const tamis_reports *reports, const tamis_number *delta,
                                     tamis_error *err)
{
    if (!epsilon) return tmi_fail(err, TAMIS_INVALID, "epsilon: NULL");
    return tmi_anonymous_epsilon(epsilon, reports, delta, TMI_BOUNDS_NOW, err);
}

tamis_status tamis_anonymous_bit_delta(tamis_bound *delta, tamis_anonymous_worst *worst, const tamis_reports *reports,
                                       const tamis_number *exp_epsilon, int64_t low, int64_t high, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_one_bit bit = {0};
    if (worst) *worst = (tamis_anonymous_worst){0};
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    TMI_TRY(tmi_check_reports(reports, err));
    if (!tmi_is_one_bit(reports)) return tmi_fail(err, TAMIS_INVALID, "bits: must be 1");
    if (!exp_epsilon) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: NULL");
    if (tmi_number_compare_int(exp_epsilon, 1) < 0) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: must be at least 1");
    if (low < 0 || low > high || high >= reports->reports)
        return tmi_fail(err, TAMIS_INVALID, "ones of the others: must be between 0 and the number of reports less 1");
    TMI_TRY(tmi_one_bit_init(&bit, reports->reports, reports->lie_one, tmi_lie_zero(reports), err));
    tmi_one_bit_window(&bit, low, high);
    TMI_TRY(tmi_one_bit_delta(delta, worst, &bit, &(tmi_loss_at){.exp_eps = exp_epsilon}, (tmi_effort){1e-10, PATIENT, 0}, err));
done:
    tmi_one_bit_clear(&bit);
    return status;
}
