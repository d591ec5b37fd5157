/* Finds the smallest lie probability on a grid that meets a target. Flipping with a larger probability is flipping
 * with a smaller one and then flipping again: delta never grows with the lie probability, so bisection finds it. Where only
 * bounds are known, an attack gives the smallest probability that could suffice, and the search goes up from there. */
#include <math.h>

#include "collect/anonymous/reports.h"
#include "composition/profile.h"

typedef struct wanted {
    tamis_reports reports;
    int64_t grid; /* 2^digits */
    const tamis_number *eps, *delta;
} wanted;

/* Whether the guarantee of m/grid is certified to meet the target; with `attack`, whether no attack is known that shows the
 * contrary. */
typedef tamis_status meets(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err);

static tamis_status local_meets(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tamis_bound local;
    tamis_status status = tamis_anonymous_local(&local, r, err);
    *yes = status == TAMIS_OK && local.upper <= tmi_number_down(w->eps);
    return status;
}

static tamis_status bit_meets(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tmi_one_bit bit;
    tamis_bound delta = {0, 1};
    double goal = tmi_number_down(w->delta);
    tamis_status status = tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err);
    if (status == TAMIS_OK)
        status = tmi_one_bit_delta(&delta, NULL, &bit, &(tmi_loss_at){.eps = w->eps}, (tmi_effort){1e-10, 2000, goal}, err);
    *yes = status == TAMIS_OK && delta.upper <= goal;
    tmi_one_bit_clear(&bit);
    return status;
}

static tamis_status bound_meets(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tamis_bound delta = {0, 1};
    tamis_status status = tamis_anonymous_delta(&delta, r, w->eps, err);
    *yes = status == TAMIS_OK && delta.upper <= tmi_number_down(w->delta);
    return status;
}

static tamis_status no_attack(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    double delta = 0;
    tamis_status status = tmi_attack_delta(&delta, r, w->eps, err);
    *yes = status == TAMIS_OK && delta <= tmi_number_up(w->delta);
    return status;
}

static tamis_status try_lie(bool *yes, wanted *w, meets *test, int64_t m, tamis_error *err)
{
    tamis_number *lie = NULL;
    tamis_status status = tmi_number_ratio(&lie, m, w->grid, err);
    w->reports.lie_one = lie;
    w->reports.lie_zero = NULL;
    *yes = false;
    if (status == TAMIS_OK) status = local_meets(yes, w, &w->reports, err);
    if (status == TAMIS_OK && !*yes && test) status = test(yes, w, &w->reports, err);
    tamis_number_free(lie);
    w->reports.lie_one = NULL;
    return status;
}

/* The smallest m in (low, high] that meets, where high does. */
static tamis_status halve(int64_t *m, wanted *w, meets *test, int64_t low, int64_t high, tamis_error *err)
{
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        bool yes;
        tamis_status status = try_lie(&yes, w, test, middle, err);
        if (status != TAMIS_OK) return status;
        if (yes) high = middle;
        else low = middle;
    }
    *m = high;
    return TAMIS_OK;
}

/* The largest m: just below half, or for k categories just below (k-1)/k, rounded down. */
static int64_t largest(const wanted *w)
{
    int64_t k = w->reports.form == TAMIS_REPORT_CATEGORIES ? w->reports.positions : 2;
    return w->grid - (w->grid + k - 1) / k - (w->grid % k == 0 ? 1 : 0);
}

static tamis_status search(int64_t *m, wanted *w, meets *test, bool attack, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t high = largest(w), low = 0, step;
    bool yes = false;
    if (high >= 1) TMI_TRY(try_lie(&yes, w, test, high, err));
    if (!yes) return tmi_fail(err, TAMIS_UNABLE, "target: no lie probability on this grid is certified to meet it");
    if (attack) {
        TMI_TRY(halve(&low, w, no_attack, 0, high, err));
        low--;
        for (step = low / 100 + 1; low + step < high; step *= 2) {
            TMI_TRY(try_lie(&yes, w, test, low + step, err));
            if (yes) high = low + step;
            else low += step;
            if (yes) break;
        }
    }
    TMI_TRY(halve(m, w, test, low, high, err));
done:
    return status;
}

static tamis_status check(const tamis_reports *reports, int digits, const tamis_number *epsilon, tamis_error *err)
{
    tamis_number *any = NULL;
    if (!reports) return tmi_fail(err, TAMIS_INVALID, "reports: NULL");
    if (digits < 2 || digits > 32) return tmi_fail(err, TAMIS_INVALID, "digits: must be between 2 and 32");
    tamis_reports r = *reports;
    tamis_status status = tmi_number_ratio(&any, 1, 4, err);
    r.lie_one = any;
    r.lie_zero = NULL;
    if (status == TAMIS_OK) status = tmi_check_reports(&r, err);
    if (status == TAMIS_OK) status = tmi_check_eps(epsilon, err);
    if (status == TAMIS_OK && tmi_number_sign(epsilon) == 0) status = tmi_fail(err, TAMIS_INVALID, "eps: must be positive");
    tamis_number_free(any);
    return status;
}

tamis_status tamis_anonymous_lie(int64_t *m, const tamis_reports *reports, int digits, const tamis_number *epsilon,
                                 const tamis_number *delta, tamis_error *err)
{
    if (!m) return tmi_fail(err, TAMIS_INVALID, "m: NULL");
    *m = 0;
    tamis_status status = check(reports, digits, epsilon, err);
    if (status == TAMIS_OK) status = tmi_check_delta(delta, err);
    if (status != TAMIS_OK) return status;
    wanted w = {*reports, INT64_C(1) << digits, epsilon, delta};
    bool bit = tmi_is_one_bit(reports), no_delta = tmi_number_sign(delta) == 0;
    meets *test = no_delta ? NULL : bit ? bit_meets : bound_meets;
    return search(m, &w, test, test == bound_meets && reports->form != TAMIS_REPORT_CATEGORIES, err);
}

tamis_status tamis_anonymous_lie_local(int64_t *m, const tamis_reports *reports, int digits, const tamis_number *epsilon,
                                       tamis_error *err)
{
    if (!m) return tmi_fail(err, TAMIS_INVALID, "m: NULL");
    *m = 0;
    tamis_status status = check(reports, digits, epsilon, err);
    if (status != TAMIS_OK) return status;
    wanted w = {*reports, INT64_C(1) << digits, epsilon, NULL};
    return search(m, &w, NULL, false, err);
}
