/* How a plan's budget is split over its tables.
 *
 * With noise of scale l1/eps_j the variance of table j is C_j / eps_j^2 in the relative errors that the plan's shares ask for;
 * the sum over the tables is least, for a given sum of the eps_j, when eps_j is in proportion to the cube root of C_j. With
 * discrete Gaussian noise it is C_j / rho_j, and rho_j in proportion to the square root. The proportions are rounded to
 * integers of 12 bits, so that parts are short fractions; they add up to the whole exactly.
 *
 * A fifth of what a statistic brings goes to the squares that only its sampling error needs; a table that only counts the rows
 * of its groups, for `suppress`, gets as much.
 *
 * With epsilon and delta either noise is possible: Laplace with all of epsilon, or Gaussian with the largest rho whose certified
 * conversion stays within both. The one with the smaller expected errors is taken; the choice looks at nothing but the plan. */
#include <math.h>
#include <tamis/profile.h>
#include <tamis/rng.h>

#include "base/memory.h"
#include "num/exact.h"
#include "schedule/expected/outlook.h"

#define FINENESS 4096
#define FOR_SQUARES (1.0 / 4) /* of what the sums get: a fifth of all */
#define FOR_UNITS (1.0 / 4)   /* the same for a table of rows that nothing else needs */

/* delta used to convert rho to epsilon where the plan gives none. */
static const char usual_delta[] = "1e-9";

/* ---- proportions ---- */

static double laplace_variance(const tmi_noise_law *law, bool gaussian)
{
    (void)gaussian;
    return 2 * (double)law->l1 * (double)law->l1;
}

static double gaussian_variance(const tmi_noise_law *law, bool gaussian)
{
    (void)gaussian;
    return tmi_number_nearest(law->l2_squared) / 2;
}

/* What table `role` adds to the weighted square of the relative error of statistic i, at a budget of 1. */
static double demand(const tmi_schedule *s, size_t i, tmi_role role, const tmi_outlook *o, bool gaussian)
{
    const tmi_measurement *m = tmi_table_of(s, i, role);
    if (!m) return 0;
    double share = tmi_number_nearest(s->plan->statistics[i].share), error = o->factor[role] / o->size;
    return share * error * error * tmi_table_variance(s, i, m, SIZE_MAX, gaussian ? gaussian_variance : laplace_variance);
}

/* The same for the variance that is estimated from the squares. */
static double square_demand(const tmi_schedule *s, size_t i, tmi_role role, const tmi_outlook *o, bool gaussian)
{
    const tmi_measurement *m = tmi_table_of(s, i, role);
    if (!m || o->square[role] == 0) return 0;
    return o->square[role] * o->square[role] *
           tmi_table_variance(s, i, m, SIZE_MAX, gaussian ? gaussian_variance : laplace_variance);
}

static double root(double demanded, bool gaussian) { return gaussian ? sqrt(demanded) : cbrt(demanded); }

/* Fills `brought`; returns the expected weighted sum of squares at a whole budget of 1. */
static double weigh_tables(tmi_schedule *s, double *demands, bool gaussian)
{
    double all = 0;
    for (size_t j = 0; j < s->measurement_count; j++) demands[j] = s->measurements[j].brought = 0;
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        tmi_outlook o;
        tmi_outlook_make(&o, s, i);
        for (size_t role = TMI_NUMERATOR; role <= TMI_CONTROL_ROWS; role++) {
            size_t table = s->uses[i].table[role];
            if (table != TMI_NO_TABLE) demands[table] += demand(s, i, (tmi_role)role, &o, gaussian);
        }
    }
    for (size_t j = 0; j < s->measurement_count; j++) s->measurements[j].brought = root(demands[j], gaussian);
    for (size_t i = 0; i < s->plan->statistic_count; i++) {
        tmi_outlook o;
        tmi_outlook_make(&o, s, i);
        double own = 0, squares = 0;
        for (size_t role = TMI_NUMERATOR; role <= TMI_CONTROL_ROWS; role++) {
            size_t table = s->uses[i].table[role];
            if (table != TMI_NO_TABLE && demands[table] > 0)
                own += root(demands[table], gaussian) * demand(s, i, (tmi_role)role, &o, gaussian) / demands[table];
        }
        for (size_t role = 0; role < TMI_ROLES; role++)
            squares += root(square_demand(s, i, (tmi_role)role, &o, gaussian), gaussian);
        for (size_t role = 0; role < TMI_ROLES && squares > 0; role++) {
            double demanded = root(square_demand(s, i, (tmi_role)role, &o, gaussian), gaussian);
            if (demanded > 0) s->measurements[s->uses[i].table[role]].brought += FOR_SQUARES * own * demanded / squares;
        }
        size_t units = s->uses[i].table[TMI_GROUP_UNITS];
        if (units != TMI_NO_TABLE && demands[units] == 0) s->measurements[units].brought += FOR_UNITS * own;
    }
    for (size_t j = 0; j < s->measurement_count; j++) all += s->measurements[j].brought;
    double errors = 0;
    for (size_t j = 0; j < s->measurement_count && all > 0; j++) {
        double part = s->measurements[j].brought / all;
        if (demands[j] > 0) errors += demands[j] / (gaussian ? part : part * part);
    }
    return errors;
}

/* ---- which noise ---- */

/* Whether the conversion of rho meets (epsilon, delta). */
static tamis_status fits_exactly(bool *fits, const tamis_number *rho, const tmi_plan_loss *loss, tamis_error *err)
{
    tamis_profile *profile = NULL;
    tamis_bound delta;
    tamis_status status;
    *fits = false;
    TMI_TRY(tamis_profile_zcdp(&profile, rho, err));
    TMI_TRY(tamis_profile_delta(&delta, profile, loss->epsilon, err));
    *fits = delta.upper <= tmi_number_down(loss->delta);

done:
    tamis_profile_free(profile);
    return status;
}

static tamis_status fits(bool *fits, double rho, const tmi_plan_loss *loss, tamis_error *err)
{
    tamis_number *exact = NULL;
    tamis_status status;
    *fits = false;
    TMI_TRY(tmi_number_double(&exact, rho, err));
    TMI_TRY(fits_exactly(fits, exact, loss, err));

done:
    tamis_number_free(exact);
    return status;
}

/* A rho of 20 bits, the largest but for rounding whose conversion meets (epsilon, delta). */
static tamis_status largest_rho(double *rho, const tmi_plan_loss *loss, tamis_error *err)
{
    double high = tmi_number_nearest(loss->epsilon), low = 0; /* rho = epsilon never fits: its mean loss is epsilon */
    tamis_status status = TAMIS_OK;
    bool yes;
    for (int i = 0; i < 24; i++) {
        double middle = low > 0 ? (low + high) / 2 : high / 16;
        TMI_TRY(fits(&yes, middle, loss, err));
        if (yes) low = middle;
        else high = middle;
    }
    int exponent;
    double mantissa = frexp(low, &exponent);
    *rho = ldexp(floor(ldexp(mantissa, 20)), exponent - 20);

done:
    return status;
}

/* The whole budget in the coin of the noise. */
static tamis_status choose_noise(tmi_schedule *s, double *demands, tamis_number **whole, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    tamis_status status = TAMIS_OK;
    s->gaussian = loss->rho != NULL;
    if (loss->rho) return tmi_number_copy(whole, loss->rho, err);
    if (loss->delta) {
        double rho, eps = tmi_number_nearest(loss->epsilon);
        TMI_TRY(largest_rho(&rho, loss, err));
        double laplace = weigh_tables(s, demands, false) / (eps * eps);
        s->gaussian = rho > 0 && weigh_tables(s, demands, true) / rho < laplace;
        if (s->gaussian) return tmi_number_double(whole, rho, err);
    }
    return tmi_number_copy(whole, loss->epsilon, err);

done:
    return status;
}

/* ---- scales ---- */

static tamis_status check_scale(const tmi_schedule *s, const tmi_measurement *m, const tamis_number *scale, tamis_error *err)
{
    const char *const limit = s->gaussian ? TAMIS_GAUSSIAN_SCALE_MAX : TAMIS_LAPLACE_SCALE_MAX;
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    tamis_number *least = NULL, *most = NULL;
    tmi_text name;
    tamis_status status;
    tmi_text_init(&name);
    TMI_TRY(tamis_number_read(&least, TAMIS_SCALE_MIN, err));
    TMI_TRY(tamis_number_read(&most, limit, err));
    bool small = tmi_number_compare(scale, least)<0, large = tmi_number_compare(scale, most)> 0;
    if (small || large) {
        tmi_measurement_name(&name, m);
        if (name.failed) TMI_TRY(tmi_fail_memory(err));
        status = tmi_fail(
            err, TAMIS_INVALID,
            small ? "%s:%d:%d: privacy.%s: too large: the noise scale of the %s would be below %s, which is no protection"
                  : "%s:%d:%d: privacy.%s: too small: the noise scale of the %s would be above %s steps",
            s->plan->name, loss->line, loss->column, loss->rho ? "rho" : "epsilon", name.bytes, small ? TAMIS_SCALE_MIN : limit);
    }

done:
    tmi_text_clear(&name);
    tamis_number_free(least);
    tamis_number_free(most);
    return status;
}

/* Laplace: l1 / epsilon. Gaussian: the smallest multiple of a small power of two whose square is at least l2^2 / (2 rho);
 * a sensitivity of 0 gets no noise worth the name but some. */
static tamis_status set_scale(tmi_noise_law *law, const tmi_schedule *s, const tamis_number *part, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    int64_t l1 = law->l1 > 0 ? law->l1 : 1;
    if (!s->gaussian) {
        tamis_status status = tmi_exact_copy(&law->scale, &e, tmi_div(&e, tmi_int(&e, l1), part));
        tmi_exact_clear(&e);
        return status;
    }
    tmi_term l2 = tmi_number_sign(law->l2_squared) > 0 ? law->l2_squared : tmi_int(&e, 1);
    tmi_term square = tmi_div(&e, l2, tmi_mul(&e, tmi_int(&e, 2), part));
    tamis_number *scale = NULL;
    tamis_status status = e.status;
    if (!square) goto done;
    int exponent;
    double mantissa = frexp(sqrt(tmi_number_up(square)), &exponent);
    double rounded = ceil(ldexp(mantissa, 20));
    for (bool enough = false; !enough; rounded += 1) {
        tamis_number_free(scale);
        scale = NULL;
        TMI_TRY(tmi_number_double(&scale, ldexp(rounded, exponent - 20), err));
        tmi_term found = tmi_mul(&e, scale, scale);
        if (!found) TMI_TRY(e.status);
        enough = tmi_number_compare(found, square) >= 0;
    }
    law->scale = scale;
    scale = NULL;

done:
    tamis_number_free(scale);
    tmi_exact_clear(&e);
    return status;
}

static tamis_status set_scales(tmi_schedule *s, tmi_measurement *m, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < m->law_count; h++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(set_scale(&m->laws[h], s, m->part, err));
        TMI_TRY(check_scale(s, m, m->laws[h].scale, err));
    }

done:
    return status;
}

static tamis_status set_parts(tmi_schedule *s, const tamis_number *whole, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    double largest = 0;
    int64_t all = 0;
    tamis_status status = TAMIS_OK;
    for (size_t j = 0; j < s->measurement_count; j++) largest = fmax(largest, s->measurements[j].brought);
    for (size_t j = 0; j < s->measurement_count; j++) {
        double points = largest > 0 ? round(FINENESS * s->measurements[j].brought / largest) : 1;
        s->measurements[j].brought = points > 1 ? points : 1;
        all += (int64_t)s->measurements[j].brought;
    }
    for (size_t j = 0; j < s->measurement_count; j++) {
        tmi_measurement *m = &s->measurements[j];
        tmi_term share = tmi_div(&e, tmi_int(&e, (int64_t)m->brought), tmi_int(&e, all));
        TMI_TRY(tmi_exact_copy(&m->part, &e, tmi_mul(&e, whole, share)));
        TMI_TRY(set_scales(s, m, err));
    }

done:
    tmi_exact_clear(&e);
    return status;
}

/* ---- parts that were chosen before ---- */

static tamis_status is_allowed(bool *allowed, const tmi_schedule *s, const tamis_number *whole, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    *allowed = false;
    if (s->gaussian && loss->delta) return fits_exactly(allowed, whole, loss, err);
    const tamis_number *most = s->gaussian ? loss->rho : loss->epsilon;
    *allowed = most && tmi_number_compare(whole, most) == 0;
    return TAMIS_OK;
}

/* Positive parts, one per measurement, and their sum, which must be what the plan asks for; rhos must fit its epsilon and
 * delta. */
static tamis_status take_parts(tmi_schedule *s, const tmi_budget_parts *parts, tamis_number **whole, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    tamis_status status = TAMIS_OK;
    bool right = parts->count == s->measurement_count;
    s->gaussian = parts->count > 0 ? parts->rho : s->plan->privacy.loss.rho != NULL;
    for (size_t j = 0; right && j < parts->count; j++) {
        right = tmi_number_sign(parts->list[j]) > 0;
        sum = tmi_add(&e, sum, parts->list[j]);
    }
    TMI_TRY(tmi_exact_copy(whole, &e, sum));
    if (right && parts->count > 0) TMI_TRY(is_allowed(&right, s, *whole, err));
    if (!right) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the split of the budget is not one that the plan allows"));
    for (size_t j = 0; j < parts->count; j++) {
        TMI_TRY(tmi_number_copy(&s->measurements[j].part, parts->list[j], err));
        TMI_TRY(set_scales(s, &s->measurements[j], err));
    }

done:
    tmi_exact_clear(&e);
    return status;
}

/* ---- what a sampled unit loses ---- */

static tamis_status set_loss(tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    tamis_profile *profile = NULL;
    tamis_bound epsilon;
    tamis_status status;
    if (!s->gaussian || s->measurement_count == 0) {
        TMI_TRY(tmi_number_ratio(&s->delta, 0, 1, err));
        TMI_TRY(tmi_number_copy(&s->epsilon, s->spent, err));
        return status;
    }
    if (loss->delta) TMI_TRY(tmi_number_copy(&s->delta, loss->delta, err));
    else TMI_TRY(tamis_number_read(&s->delta, usual_delta, err));
    TMI_TRY(tamis_profile_zcdp(&profile, s->spent, err));
    TMI_TRY(tamis_profile_epsilon(&epsilon, profile, s->delta, err));
    double upper = epsilon.upper;
    if (isinf(upper) && !loss->delta)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: privacy.rho: so large that no epsilon follows from it", s->plan->name,
                         loss->line, loss->column));
    if (loss->delta && upper > tmi_number_down(loss->epsilon)) TMI_TRY(tmi_number_copy(&s->epsilon, loss->epsilon, err));
    else TMI_TRY(tmi_number_double(&s->epsilon, upper, err));

done:
    tamis_profile_free(profile);
    return status;
}

tamis_status tmi_budget_split(tmi_schedule *s, const tmi_budget_parts *parts, tamis_error *err)
{
    tamis_number *whole = NULL;
    tamis_status status = TAMIS_OK;
    double *demands = tmi_alloc(s->measurement_count, sizeof *demands);
    if (!demands) return tmi_fail_memory(err);
    if (parts) {
        TMI_TRY(take_parts(s, parts, &whole, err));
    } else {
        TMI_TRY(choose_noise(s, demands, &whole, err));
        weigh_tables(s, demands, s->gaussian);
        TMI_TRY(set_parts(s, whole, err));
    }
    if (s->measurement_count > 0) {
        s->spent = whole;
        whole = NULL;
    } else {
        TMI_TRY(tmi_number_ratio(&s->spent, 0, 1, err));
    }
    TMI_TRY(set_loss(s, err));

done:
    tamis_number_free(whole);
    tmi_free(demands);
    return status;
}
