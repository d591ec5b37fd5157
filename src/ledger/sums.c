/* How charges add up, if later ones may be chosen after seeing earlier answers.
 *
 * Pure epsilons, epsilons with deltas, and rhos each have a filter that is the plain sum: stop when it would exceed the
 * budget. The two kinds meet only in an account of (E, D). Let e and d be what was added up when the first rho comes, and
 * R the sum of the rhos after that, an epsilon then counting as the rho that was booked with it, or as epsilon^2/2 in
 * entries that have none. The rule is
 *
 *     delta of R at E - e  <=  D - d.
 *
 * Along any course of answers the first part loses at most e, except with a probability of at most d. Given all of it, the
 * second part is a rho filter whose cap depends on e and d alone, which are fixed when it begins: it adds at most D - d to
 * the delta at E. Together D, whatever the course is. A delta after the first rho has no such argument: how much of it
 * is spent could follow the loss that the rhos have had. So it is refused.
 *
 * If the first rho is that of a Gaussian release, whose mu^2 is known and is 2 rho, the second part adds up mu^2 instead, an
 * epsilon then counting as its own, and with M their sum the rule is
 *
 *     delta of the normal mechanism of mu^2 = M at E - e  <=  D - d.
 *
 * That is a filter too, and exact (composition/mu.h). Which of the two runs is settled when it begins: a policy that could take
 * the larger cap of mu^2 after some answers and go on with rhos after others is covered by neither. So a rho without a mu^2 is
 * refused while mu^2 is added up; a Gaussian release always counts as its rho where rhos are.                            */
#include <math.h>
#include <tamis/experimental/profile.h>

#include "base/error.h"
#include "ledger/coin.h"
#include "num/bound.h"
#include "num/number.h"

/* The delta at which an account of rho is shown as epsilon, unless another is given: below one in the population of a country. */
#define USUAL_DELTA "1e-9"

void tmi_sums_clear(tmi_sums *sums)
{
    tmi_number_frees(&sums->eps, &sums->delta, &sums->rho, &sums->mu_squared, NULL);
    *sums = (tmi_sums){0};
}

tamis_status tmi_sums_begin(tmi_sums *sums, const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *sums = (tmi_sums){.concentrated = budget->rho != NULL};
    TMI_TRY(tmi_number_ratio(&sums->eps, 0, 1, err));
    TMI_TRY(tmi_number_ratio(&sums->delta, 0, 1, err));
    TMI_TRY(tmi_number_ratio(&sums->rho, 0, 1, err));
done:
    if (status != TAMIS_OK) tmi_sums_clear(sums);
    return status;
}

tamis_status tmi_sums_copy(tmi_sums *copy, const tmi_sums *sums, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *copy = (tmi_sums){.concentrated = sums->concentrated};
    TMI_TRY(tmi_number_copy(&copy->eps, sums->eps, err));
    TMI_TRY(tmi_number_copy(&copy->delta, sums->delta, err));
    TMI_TRY(tmi_number_copy(&copy->rho, sums->rho, err));
    if (sums->mu_squared) TMI_TRY(tmi_number_copy(&copy->mu_squared, sums->mu_squared, err));
done:
    if (status != TAMIS_OK) tmi_sums_clear(copy);
    return status;
}

bool tmi_sums_equal(const tmi_sums *x, const tmi_sums *y)
{
    return tmi_number_compare(x->eps, y->eps) == 0 && tmi_number_compare(x->delta, y->delta) == 0 &&
           tmi_number_compare(x->rho, y->rho) == 0 && !x->mu_squared == !y->mu_squared &&
           (!x->mu_squared || tmi_number_compare(x->mu_squared, y->mu_squared) == 0);
}

/* Of an amount without a delta: its own, or eps^2/2 of an epsilon that was booked without one. */
static tamis_status rho_of(tamis_number **rho, const tmi_ledger_coin *amount, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *square = NULL, *two = NULL;
    if (amount->rho) return tmi_number_copy(rho, amount->rho, err);
    TMI_TRY(tmi_number_mul(&square, amount->eps, amount->eps, err));
    TMI_TRY(tmi_number_ratio(&two, 2, 1, err));
    TMI_TRY(tmi_number_div(rho, square, two, err));
done:
    tmi_number_frees(&square, &two, NULL);
    return status;
}

static tamis_status refuse(const tmi_sums *sums, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount, tamis_error *err)
{
    const bool has_delta = amount->delta && tmi_number_sign(amount->delta) > 0;
    if (budget->rho && has_delta)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "the account is in rho, and no theorem converts a delta to rho: ask for rho, or for an epsilon without a delta");
    if (sums->concentrated && has_delta)
        return tmi_fail(err, TAMIS_REFUSED,
                        "the account has been in %s since its first release with %s, and a delta can no longer be added to it: "
                        "ask for %s, or for an epsilon without a delta",
                        sums->mu_squared ? "mu^2" : "rho", sums->mu_squared ? "normal noise" : "rho",
                        sums->mu_squared ? "an amount with mu^2" : "rho");
    if (sums->mu_squared && !amount->mu_squared)
        return tmi_fail(
            err, TAMIS_REFUSED,
            "the account has been in mu^2 since its first release with normal noise, and no theorem converts a rho to "
            "mu^2: ask for an epsilon without a delta; or for epsilon and delta, without quantiles that a mechanism "
            "chooses");
    if (budget->eps && tmi_number_sign(budget->delta) == 0 && (tmi_coin_in_rho(amount) || has_delta))
        return tmi_fail(err, TAMIS_REFUSED,
                        "the account is in pure epsilon, and a release with %s has none: ask for an epsilon without a delta",
                        has_delta ? "a delta" : "rho");
    return TAMIS_OK;
}

/* mu^2 = 2 rho: nothing is lost by counting in mu^2, whose conversion is exact. */
static tamis_status is_normal(bool *normal, const tmi_ledger_coin *amount, tamis_error *err)
{
    tamis_number *twice = NULL;
    *normal = false;
    if (!tmi_coin_in_rho(amount) || !amount->mu_squared) return TAMIS_OK;
    const tamis_status status = tmi_number_add(&twice, amount->rho, amount->rho, err);
    *normal = status == TAMIS_OK && tmi_number_compare(amount->mu_squared, twice) <= 0;
    tamis_number_free(twice);
    return status;
}

/* What the sum of a filter that has begun, or begins with this amount, was before it. */
static tamis_status mu_before(tamis_number **before, const tmi_sums *sums, const tmi_ledger_coin *amount, tamis_error *err)
{
    bool begins = false;
    *before = NULL;
    if (sums->mu_squared) return tmi_number_copy(before, sums->mu_squared, err);
    tamis_status status = sums->concentrated ? TAMIS_OK : is_normal(&begins, amount, err);
    return status == TAMIS_OK && begins ? tmi_number_ratio(before, 0, 1, err) : status;
}

tamis_status tmi_sums_add(tmi_sums *more, const tmi_sums *sums, const tmi_ledger_coin *budget, const tmi_ledger_coin *amount,
                          tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *rho = NULL, *before = NULL;
    *more = (tmi_sums){.concentrated = sums->concentrated || tmi_coin_in_rho(amount)};
    TMI_TRY(refuse(sums, budget, amount, err));
    TMI_TRY(mu_before(&before, sums, amount, err));
    if (before) {
        TMI_TRY(tmi_number_copy(&more->eps, sums->eps, err));
        TMI_TRY(tmi_number_copy(&more->delta, sums->delta, err));
        TMI_TRY(tmi_number_copy(&more->rho, sums->rho, err));
        TMI_TRY(tmi_number_add(&more->mu_squared, before, amount->mu_squared, err));
    } else if (more->concentrated) {
        TMI_TRY(rho_of(&rho, amount, err));
        TMI_TRY(tmi_number_copy(&more->eps, sums->eps, err));
        TMI_TRY(tmi_number_copy(&more->delta, sums->delta, err));
        TMI_TRY(tmi_number_add(&more->rho, sums->rho, rho, err));
    } else {
        TMI_TRY(tmi_number_add(&more->eps, sums->eps, amount->eps, err));
        TMI_TRY(tmi_number_add(&more->delta, sums->delta, amount->delta, err));
        TMI_TRY(tmi_number_copy(&more->rho, sums->rho, err));
    }
done:
    tmi_number_frees(&rho, &before, NULL);
    if (status != TAMIS_OK) tmi_sums_clear(more);
    return status;
}

/* What the first rho leaves of a budget of (E, D): E - e and D - d. */
static tamis_status rest(tamis_number **eps, tamis_number **delta, const tmi_sums *sums, const tmi_ledger_coin *budget,
                         tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_number_sub(eps, budget->eps, sums->eps, err));
    TMI_TRY(tmi_number_sub(delta, budget->delta, sums->delta, err));
done:
    return status;
}

/* The sum that a filter has: of rho, or of mu^2. */
static const tamis_number *counted(const tmi_sums *sums) { return sums->mu_squared ? sums->mu_squared : sums->rho; }

static tamis_status profile_of(tamis_profile **profile, const tamis_number *sum, bool normal, tamis_error *err)
{
    return normal ? tamis_profile_normal(profile, sum, err) : tamis_profile_zcdp(profile, sum, err);
}

/* Whether a sum of rho, or of mu^2, converts to (eps, delta). */
static tamis_status converts(bool *fit, const tamis_number *sum, bool normal, const tamis_number *eps, const tamis_number *delta,
                             tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_profile *profile = NULL;
    tamis_bound bound;
    *fit = tmi_number_sign(sum) == 0;
    if (*fit || tmi_number_sign(delta) <= 0 || tmi_number_compare_int(sum, TAMIS_MAX_LOSS) > 0) return TAMIS_OK;
    TMI_TRY(profile_of(&profile, sum, normal, err));
    TMI_TRY(tamis_profile_delta(&bound, profile, eps, err));
    *fit = bound.upper <= tmi_number_down(delta);
done:
    tamis_profile_free(profile);
    return status;
}

tamis_status tmi_sums_fit(bool *fit, const tmi_sums *sums, const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *eps = NULL, *delta = NULL;
    *fit = false;
    if (budget->rho) {
        *fit = tmi_number_compare(sums->rho, budget->rho) <= 0;
        return TAMIS_OK;
    }
    TMI_TRY(rest(&eps, &delta, sums, budget, err));
    if (tmi_number_sign(eps) < 0 || tmi_number_sign(delta) < 0) goto done;
    if (sums->concentrated) TMI_TRY(converts(fit, counted(sums), sums->mu_squared, eps, delta, err));
    else *fit = true;
done:
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

/* ---- what is reported ---- */

/* The epsilon of a sum of rho, or of mu^2, at delta; infinite if none is known. */
static tamis_status epsilon_of(tamis_bound *eps, const tamis_number *sum, bool normal, const tamis_number *delta,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_profile *profile = NULL;
    *eps = (tamis_bound){0, 0};
    if (tmi_number_sign(sum) == 0) return TAMIS_OK;
    *eps = (tamis_bound){0, INFINITY};
    if (tmi_number_compare_int(sum, TAMIS_MAX_LOSS) > 0) return TAMIS_OK;
    TMI_TRY(profile_of(&profile, sum, normal, err));
    TMI_TRY(tamis_profile_epsilon(eps, profile, delta, err));
done:
    tamis_profile_free(profile);
    return status;
}

/* x + y or x - y for a double y, rounded as asked. */
static tamis_status with_double(double *z, const tamis_number *x, double y, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *exact = NULL, *sum = NULL;
    *z = y;
    if (isinf(y)) return TAMIS_OK;
    TMI_TRY(tmi_number_double(&exact, y, err));
    TMI_TRY(tmi_number_add(&sum, x, exact, err));
    *z = up ? tmi_number_up(sum) : tmi_number_down(sum);
done:
    tmi_number_frees(&exact, &sum, NULL);
    return status;
}

#define HALVINGS 40

/* The largest rho, or mu^2, on top of the sum that still fits, to about twelve digits, from below. */
static tamis_status room_for_more(double *room, const tmi_sums *sums, const tamis_number *eps, const tamis_number *delta,
                                  tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *more = NULL, *sum = NULL;
    double low = 0, high = 2 * tmi_number_up(eps); /* rho = eps, mu^2 = 2 eps have a large delta at eps already */
    bool fit;
    *room = 0;
    if (tmi_number_sign(eps) <= 0 || tmi_number_sign(delta) <= 0) return TAMIS_OK;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = low + (high - low) / 2;
        TMI_TRY(tmi_number_double(&more, middle, err));
        TMI_TRY(tmi_number_add(&sum, counted(sums), more, err));
        TMI_TRY(converts(&fit, sum, sums->mu_squared, eps, delta, err));
        if (fit) low = middle;
        else high = middle;
        tmi_number_frees(&more, &sum, NULL);
        more = sum = NULL;
    }
    *room = low;
done:
    tmi_number_frees(&more, &sum, NULL);
    return status;
}

static tamis_status converted_spending(tamis_spending *spent, tamis_spending *left, const tmi_sums *sums,
                                       const tmi_ledger_coin *budget, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *eps = NULL, *delta = NULL;
    tamis_bound rho_eps;
    double room;
    TMI_TRY(rest(&eps, &delta, sums, budget, err));
    TMI_TRY(epsilon_of(&rho_eps, counted(sums), sums->mu_squared, delta, err));
    TMI_TRY(room_for_more(&room, sums, eps, delta, err));
    TMI_TRY(with_double(&spent->epsilon.lower, sums->eps, rho_eps.lower, false, err));
    TMI_TRY(with_double(&spent->epsilon.upper, sums->eps, rho_eps.upper, true, err));
    TMI_TRY(with_double(&left->epsilon.lower, budget->eps, -spent->epsilon.upper, false, err));
    TMI_TRY(with_double(&left->epsilon.upper, budget->eps, -spent->epsilon.lower, true, err));
    if (left->epsilon.lower < 0) left->epsilon.lower = 0;
    spent->delta = tmi_number_bound(budget->delta);
    left->delta = (tamis_bound){0, 0};
    *(sums->mu_squared ? &spent->mu_squared : &spent->rho) = tmi_number_bound(counted(sums));
    *(sums->mu_squared ? &left->mu_squared : &left->rho) = (tamis_bound){room, room};
    spent->in_mu = left->in_mu = sums->mu_squared != NULL;
    tmi_say_end(spent, "epsilon", spent->epsilon.upper, true);
    TMI_TRY(tmi_say_exactly(spent, "delta", budget->delta, true, true, err));
    const char *name = sums->mu_squared ? "mu^2" : "rho";
    TMI_TRY(tmi_say_exactly(spent, name, counted(sums), false, true, err));
    tmi_say_end(left, "epsilon", left->epsilon.lower, false);
    tmi_say_end(left, name, room, false);
done:
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

tamis_status tmi_sums_spending(tamis_spending *spent, tamis_spending *left, const tmi_sums *sums, const tmi_ledger_coin *budget,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *eps = NULL, *delta = NULL;
    *spent = *left = (tamis_spending){.in_rho = budget->rho != NULL};
    if (budget->rho) {
        TMI_TRY(tmi_number_sub(&eps, budget->rho, sums->rho, err));
        TMI_TRY(tmi_coin_spending(spent, &(tmi_ledger_coin){.rho = sums->rho}, true, err));
        TMI_TRY(tmi_coin_spending(left, &(tmi_ledger_coin){.rho = eps}, false, err));
    } else if (sums->concentrated) {
        TMI_TRY(converted_spending(spent, left, sums, budget, err));
    } else {
        TMI_TRY(rest(&eps, &delta, sums, budget, err));
        TMI_TRY(tmi_coin_spending(spent, &(tmi_ledger_coin){.eps = sums->eps, .delta = sums->delta}, true, err));
        TMI_TRY(tmi_coin_spending(left, &(tmi_ledger_coin){.eps = eps, .delta = delta}, false, err));
    }
done:
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

tamis_status tmi_sums_sample(tamis_number **eps, tamis_number **delta, const tmi_sums *sums, const tmi_ledger_coin *budget,
                             const tamis_number *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *left_eps = NULL, *left_delta = NULL, *usual = NULL, *rho_eps = NULL;
    tamis_bound bound;
    if (!sums->concentrated) {
        TMI_TRY(tmi_number_copy(eps, sums->eps, err));
        TMI_TRY(tmi_number_copy(delta, sums->delta, err));
        goto done;
    }
    if (!budget->rho) {
        TMI_TRY(rest(&left_eps, &left_delta, sums, budget, err));
        at = left_delta;
    } else if (!at) {
        TMI_TRY(tamis_number_read(&usual, USUAL_DELTA, err));
        at = usual;
    }
    TMI_TRY(epsilon_of(&bound, counted(sums), sums->mu_squared, at, err));
    if (isinf(bound.upper)) {
        status = tmi_fail(err, TAMIS_UNABLE, "no epsilon follows from the sum of rho or mu^2 at this delta");
        goto done;
    }
    TMI_TRY(tmi_number_double(&rho_eps, bound.upper, err));
    TMI_TRY(tmi_number_add(eps, sums->eps, rho_eps, err));
    TMI_TRY(tmi_number_copy(delta, budget->rho ? at : budget->delta, err));
done:
    tmi_number_frees(&left_eps, &left_delta, &usual, &rho_eps, NULL);
    return status;
}
