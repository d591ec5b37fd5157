/* A live account. Across releases whose budgets may follow earlier answers, pure epsilons add up and rhos add up; an eps is
 * also a rho of eps^2/2. The account keeps both sums exactly, and compares with its cap at each charge:
 *     the sum of the epsilons is at most the cap's eps, or
 *     (delta > 0) the sum of the rhos, converted at the cap, gives at most the cap's delta at the cap's eps.
 * That either will do is valid for adaptive budgets too: a course of answers that ends within the sum of the epsilons has a
 * loss of at most the cap's eps, which adds nothing to delta there; the others end within the sum of the rhos, and add
 * no more than they do to the delta of the process that is stopped when that sum would be passed, a rho filter.        */
#include "base/memory.h"
#include "num/bound.h"
#include "composition/profile.h"

struct tamis_account {
    tamis_number *eps, *delta;  /* the cap */
    tamis_number *spent, *rho;  /* sums so far; spent is NULL once a release without a pure eps was charged */
};

void tamis_account_free(tamis_account *account)
{
    if (!account) return;
    tamis_number_free(account->eps);
    tamis_number_free(account->delta);
    tamis_number_free(account->spent);
    tamis_number_free(account->rho);
    tmi_free(account);
}

tamis_status tamis_account_new(tamis_account **account, const tamis_number *eps, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_account *new = NULL;
    if (!account) return tmi_fail(err, TAMIS_INVALID, "account: NULL");
    *account = NULL;
    TMI_TRY(tmi_check_eps(eps, err));
    TMI_TRY(tmi_check_delta(delta, err));
    if (!(new = tmi_alloc(1, sizeof *new))) return tmi_fail_memory(err);
    TMI_TRY(tmi_number_copy(&new->eps, eps, err));
    TMI_TRY(tmi_number_copy(&new->delta, delta, err));
    TMI_TRY(tmi_number_ratio(&new->spent, 0, 1, err));
    TMI_TRY(tmi_number_ratio(&new->rho, 0, 1, err));
    *account = new;
    new = NULL;
done:
    tamis_account_free(new);
    return status;
}

/* Whether a sum of rhos stays within the cap. */
static tamis_status rho_fits(bool *fits, const tamis_account *a, const tamis_number *rho, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_profile *profile = NULL;
    tamis_bound delta;
    *fits = false;
    if (tmi_number_sign(a->delta) == 0 || tmi_number_compare_int(rho, TAMIS_MAX_LOSS) > 0) return TAMIS_OK;
    TMI_TRY(tamis_profile_zcdp(&profile, rho, err));
    TMI_TRY(tamis_profile_delta(&delta, profile, a->eps, err));
    *fits = delta.upper <= tmi_number_down(a->delta);
done:
    tamis_profile_free(profile);
    return status;
}

/* eps is NULL for a release without a pure one. */
static tamis_status charge(tamis_account *a, const tamis_number *eps, const tamis_number *rho, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *spent = NULL, *sum = NULL;
    bool fits = false;
    TMI_TRY(tmi_number_add(&sum, a->rho, rho, err));
    if (a->spent && eps) {
        TMI_TRY(tmi_number_add(&spent, a->spent, eps, err));
        fits = tmi_number_compare(spent, a->eps) <= 0;
    }
    if (!fits) TMI_TRY(rho_fits(&fits, a, sum, err));
    if (!fits) {
        status = tmi_fail(err, TAMIS_REFUSED, "the release would exceed the cap of the account; nothing was charged");
        goto done;
    }
    tamis_number_free(a->spent);
    tamis_number_free(a->rho);
    a->spent = spent;
    a->rho = sum;
    spent = sum = NULL;
done:
    tamis_number_free(spent);
    tamis_number_free(sum);
    return status;
}

tamis_status tamis_account_charge_pure(tamis_account *account, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *square = NULL, *two = NULL, *rho = NULL;
    if (!account) return tmi_fail(err, TAMIS_INVALID, "account: NULL");
    TMI_TRY(tmi_check_eps(eps, err));
    TMI_TRY(tmi_number_mul(&square, eps, eps, err));
    TMI_TRY(tmi_number_ratio(&two, 2, 1, err));
    TMI_TRY(tmi_number_div(&rho, square, two, err));
    TMI_TRY(charge(account, eps, rho, err));
done:
    tamis_number_free(square);
    tamis_number_free(two);
    tamis_number_free(rho);
    return status;
}

tamis_status tamis_account_charge_zcdp(tamis_account *account, const tamis_number *rho, tamis_error *err)
{
    if (!account) return tmi_fail(err, TAMIS_INVALID, "account: NULL");
    if (!rho) return tmi_fail(err, TAMIS_INVALID, "rho: NULL");
    if (tmi_number_sign(rho) < 0) return tmi_fail(err, TAMIS_INVALID, "rho: must not be negative");
    if (tmi_number_sign(rho) == 0) return TAMIS_OK;
    return charge(account, NULL, rho, err);
}
