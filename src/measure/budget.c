/* What a plan's budget means for its tables: the scales of their noise, and what a sampled unit loses in all. */
#include <math.h>
#include <tamis/experimental/profile.h>
#include <tamis/experimental/rng.h>

#include "base/memory.h"
#include "composition/concentrated.h"
#include "composition/mu.h"
#include "measure/schedule.h"
#include "mech/quantile/quantile.h"
#include "num/exact.h"

/* The delta that rho is converted to epsilon with, where the plan gives none. */
static const char usual_delta[] = "1e-9";

/* ---- which noise ---- */

tmi_gaussian tmi_gaussian_of_plan(const tamis_plan *plan, const tmi_plan_loss *loss)
{
    bool chosen = false;
    for (size_t i = 0; i < plan->asked_count && !chosen; i++) chosen = tmi_has_mechanism(&plan->statistics[i]);
    return loss->rho || chosen || tmi_has_private_bounds(plan) ? TMI_DISCRETE_GAUSSIAN : TMI_ROUNDED_NORMAL;
}

/* What Gaussian noise of this rho guarantees. */
static tamis_status profile_of(tamis_profile **profile, const tamis_number *rho, tmi_gaussian gaussian, tamis_error *err)
{
    tamis_number *squared = NULL;
    if (gaussian != TMI_ROUNDED_NORMAL) return tamis_profile_zcdp(profile, rho, err);
    tamis_status status = tmi_number_add(&squared, rho, rho, err);
    if (status == TAMIS_OK) status = tamis_profile_normal(profile, squared, err);
    tamis_number_free(squared);
    return status;
}

/* Whether a rho meets (epsilon, delta). */
static tamis_status fits_exactly(bool *fits, const tamis_number *rho, const tmi_plan_loss *loss, tmi_gaussian gaussian,
                                 tamis_error *err)
{
    tamis_profile *profile = NULL;
    tamis_bound delta;
    tamis_status status;
    *fits = false;
    TMI_TRY(profile_of(&profile, rho, gaussian, err));
    TMI_TRY(tamis_profile_delta(&delta, profile, loss->epsilon, err));
    *fits = delta.upper <= tmi_number_down(loss->delta);

done:
    tamis_profile_free(profile);
    return status;
}

static tamis_status fits(bool *fits, double rho, const tmi_plan_loss *loss, tmi_gaussian gaussian, tamis_error *err)
{
    tamis_number *exact = NULL;
    tamis_status status;
    *fits = false;
    TMI_TRY(tmi_number_double(&exact, rho, err));
    TMI_TRY(fits_exactly(fits, exact, loss, gaussian, err));

done:
    tamis_number_free(exact);
    return status;
}

/* The largest rho of 20 bits that meets (epsilon, delta). */
tamis_status tmi_budget_rho(double *rho, const tmi_plan_loss *loss, tmi_gaussian gaussian, tamis_error *err)
{
    double high = tmi_number_nearest(loss->epsilon), low = 0;
    tamis_status status = TAMIS_OK;
    bool yes = true;
    for (;; high *= 4) { /* the mean loss is rho: rho = epsilon fits only with a large delta, and some rho never does */
        TMI_TRY(fits(&yes, high, loss, gaussian, err));
        if (!yes) break;
        low = high;
    }
    for (int i = 0; i < 24; i++) {
        double middle = low > 0 ? (low + high) / 2 : high / 16;
        TMI_TRY(fits(&yes, middle, loss, gaussian, err));
        if (yes) low = middle;
        else high = middle;
    }
    int exponent;
    double mantissa = frexp(low, &exponent);
    *rho = ldexp(floor(ldexp(mantissa, 20)), exponent - 20);

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
        tmi_measurement_name(&name, m, &s->workload);
        if (name.failed) TMI_TRY(tmi_fail_memory(err));
        status = tmi_fail(
            err, TAMIS_INVALID,
            small ? "%s:%d:%d: privacy.%s: too large: the noise scale of the %s would be below %s, which is no protection"
                  : "%s:%d:%d: privacy.%s: too small: the noise scale of the %s would be above %s steps",
            s->plan->name, loss->line, loss->column,
            loss->rho        ? "rho"
            : loss->outsider ? "outsider"
                             : "epsilon",
            name.bytes, small ? TAMIS_SCALE_MIN : limit);
    }

done:
    tmi_text_clear(&name);
    tmi_number_frees(&least, &most, NULL);
    return status;
}

/* The scale of Laplace noise is l1 / epsilon; that of Gaussian noise is the smallest multiple of a small power of two whose
 * square is at least l2^2 / (2 rho). Scales are above 0, so that a sensitivity of 0 gets noise that is next to never there. */
static tamis_status set_scale(tmi_noise_law *law, const tmi_schedule *s, const tamis_number *part, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    int64_t l1 = law->l1 > 0 ? law->l1 : 1;
    if (!s->gaussian) {
        const bool apart = law->charged && tmi_number_sign(law->charged) > 0;
        tamis_status status = tmi_exact_copy(&law->scale, &e, tmi_div(&e, apart ? law->charged : tmi_int(&e, l1), part));
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
    for (size_t h = 0; h < m->strata; h++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(set_scale(&m->laws[h], s, m->part, err));
        TMI_TRY(check_scale(s, m, m->laws[h].scale, err));
    }

done:
    return status;
}

static tamis_status is_allowed(bool *allowed, const tmi_schedule *s, const tamis_number *whole, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    *allowed = false;
    if (s->gaussian && loss->delta) return fits_exactly(allowed, whole, loss, s->gaussian, err);
    const tamis_number *most = s->gaussian ? loss->rho : loss->epsilon;
    *allowed = most && tmi_number_compare(whole, most) == 0;
    return TAMIS_OK;
}

/* Checks the parts of a certificate: they are positive, one per measurement, quantile task and private bound, their sum is what
 * the plan asks for, and rhos fit its epsilon and delta. */
static tamis_status add_parts(tmi_schedule *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    tamis_status status = TAMIS_OK;
    bool right = true;
    for (size_t j = 0; right && j < s->measurement_count; j++) {
        right = tmi_number_sign(s->measurements[j].part) > 0;
        sum = tmi_add(&e, sum, s->measurements[j].part);
    }
    for (size_t i = 0; i < s->quantile_task_count; i++) sum = tmi_add(&e, sum, s->quantile_tasks[i].part);
    for (size_t i = 0; i < s->bound_task_count; i++) sum = tmi_add(&e, sum, s->bound_tasks[i].part);
    TMI_TRY(tmi_exact_copy(&s->spent, &e, sum));
    if (right && s->measurement_count > 0) TMI_TRY(is_allowed(&right, s, s->spent, err));
    if (!right) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "the split of the budget is not one that the plan allows"));

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
    TMI_TRY(profile_of(&profile, s->spent, s->gaussian, err));
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

/* ---- the same as rho ---- */

static bool same_law(const tmi_noise_law *x, const tmi_noise_law *y)
{
    return x->l1 == y->l1 && tmi_number_compare(x->l2_squared, y->l2_squared) == 0 && tmi_number_compare(x->scale, y->scale) == 0;
}

/* What integers with discrete Laplace noise cost: rho, or mu^2. */
typedef tamis_status cost_of_noise(tamis_number **cost, const tamis_number *scale, int64_t l1, const tamis_number *l2_squared,
                                   tamis_error *err);

static tamis_status cost_of_measurement(tamis_number **rho, const tmi_measurement *m, cost_of_noise *cost, tmi_watch *watch,
                                        tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *rho = NULL;
    for (size_t h = 0; h < m->strata; h++) {
        const tmi_noise_law *law = &m->laws[h];
        tamis_number *own;
        if (h > 0 && same_law(law, &m->laws[h - 1])) continue;
        TMI_TRY(tmi_watch_beat(watch, err));
        TMI_TRY(cost(&own, law->scale, law->l1, law->l2_squared, err));
        const bool larger = !*rho || tmi_number_compare(own, *rho) > 0;
        tamis_number_free(larger ? *rho : own);
        if (larger) *rho = own;
    }

done:
    if (status != TAMIS_OK) {
        tamis_number_free(*rho);
        *rho = NULL;
    }
    return status;
}

/* In several groups a unit's ranges, or epsilons, add up to at most the part: both rhos are convex and 0 at 0, so one group
 * that has all of it is the worst. */
static tamis_status rho_of_task(tamis_number **rho, const tmi_quantile_task *c, const tamis_plan *plan, tamis_error *err)
{
    const int64_t selections = tmi_quantile_selections(c->method, plan->statistics[c->statistic].at_count);
    return selections > 0 ? tmi_rho_of_selections_up(rho, c->part, selections, err) : tmi_rho_of_pure_up(rho, c->part, err);
}

tamis_status tmi_schedule_rho(tamis_number **rho, const tmi_schedule *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    tamis_number *own = NULL, *whole = NULL;
    tamis_status status = TAMIS_OK;
    *rho = NULL;
    const size_t tables = s->measurement_count, quantiles = s->quantile_task_count;
    for (size_t j = 0; j < tables + quantiles + s->bound_task_count; j++) {
        tamis_number_free(own);
        own = NULL;
        if (j < tables) TMI_TRY(cost_of_measurement(&own, &s->measurements[j], tmi_rho_of_discrete_laplace_up, s->watch, err));
        else if (j < tables + quantiles) TMI_TRY(rho_of_task(&own, &s->quantile_tasks[j - tables], s->plan, err));
        else TMI_TRY(tmi_rho_of_selections_up(&own, s->bound_tasks[j - tables - quantiles].part, 1, err));
        sum = tmi_add(&e, sum, own);
    }
    TMI_TRY(tmi_rho_of_pure_up(&whole, s->spent, err));
    TMI_TRY(tmi_exact_copy(rho, &e, tmi_smaller(sum, whole)));

done:
    tmi_exact_clear(&e);
    tmi_number_frees(&own, &whole, NULL);
    return status;
}

tamis_status tmi_schedule_mu_squared(tamis_number **mu_squared, const tmi_schedule *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *own = NULL, *whole = NULL;
    tamis_status status = TAMIS_OK;
    *mu_squared = NULL;
    if (s->gaussian) return tmi_number_add(mu_squared, s->spent, s->spent, err);
    tmi_term sum = tmi_int(&e, 0);
    const size_t tables = s->measurement_count, quantiles = s->quantile_task_count;
    for (size_t j = 0; j < tables + quantiles + s->bound_task_count; j++) {
        tamis_number_free(own);
        own = NULL;
        if (j < tables)
            TMI_TRY(cost_of_measurement(&own, &s->measurements[j], tmi_mu_squared_of_discrete_laplace_up, s->watch, err));
        else
            TMI_TRY(tmi_mu_squared_of_pure_up(&own,
                                              j < tables + quantiles ? s->quantile_tasks[j - tables].part
                                                                     : s->bound_tasks[j - tables - quantiles].part,
                                              err));
        sum = tmi_add(&e, sum, own);
    }
    TMI_TRY(tmi_mu_squared_of_pure_up(&whole, s->spent, err));
    TMI_TRY(tmi_exact_copy(mu_squared, &e, tmi_smaller(sum, whole)));

done:
    tmi_exact_clear(&e);
    tmi_number_frees(&own, &whole, NULL);
    return status;
}

tamis_status tmi_budget_settle(tmi_schedule *s, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(add_parts(s, err));
    for (size_t j = 0; j < s->measurement_count; j++) TMI_TRY(set_scales(s, &s->measurements[j], err));
    TMI_TRY(set_loss(s, err));

done:
    return status;
}
