/* Finds the smallest lie probability on a grid that meets a target. Flipping with a larger probability is flipping
 * with a smaller one and then flipping again: delta never grows with the lie probability, so a search between two ends finds it.
 * Where only bounds are known, the search begins where one of them is thought to meet it, or else an attack gives the smallest
 * probability that could suffice, and the search goes up from there. */
#include <math.h>

#include "collect/anonymous/exchange.h"
#include "collect/anonymous/reports.h"
#include "composition/profile.h"

typedef struct wanted {
    tamis_reports reports;
    int64_t grid; /* 2^digits */
    const tamis_number *eps, *delta;
} wanted;

/* delta of r, an upper bound that is certified, or what an attack shows. */
typedef tamis_status delta_of(double *delta, const wanted *w, const tamis_reports *r, tamis_error *err);

static tamis_status local_meets(bool *yes, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tamis_bound local;
    tamis_status status = tamis_anonymous_local(&local, r, err);
    *yes = status == TAMIS_OK && local.upper <= tmi_number_down(w->eps);
    return status;
}

static tamis_status delta_of_bit(double *most, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tmi_one_bit bit;
    tamis_bound delta = {0, 1};
    double goal = tmi_number_down(w->delta);
    tamis_status status = tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err);
    if (status == TAMIS_OK)
        status = tmi_one_bit_delta(&delta, NULL, &bit, &(tmi_loss_at){.eps = w->eps}, (tmi_effort){1e-10, 2000, goal}, err);
    *most = delta.upper <= goal ? 0 : INFINITY; /* it stops as soon as the side is known */
    tmi_one_bit_clear(&bit);
    return status;
}

static tamis_status delta_bound(double *most, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    tamis_bound delta = {0, 1};
    const tmi_loss_at at = {.eps = w->eps};
    if (r->form != TAMIS_REPORT_COUNTS) return tmi_whole_upper(most, r, &at, tmi_number_down(w->delta), err);
    tamis_status status = tmi_positions_delta(&delta, r, w->eps, err);
    *most = delta.upper;
    return status;
}

static tamis_status delta_about(double *about, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    return tmi_exchange_about(about, r, &(tmi_loss_at){.eps = w->eps}, err);
}

static tamis_status delta_of_attack(double *least, const wanted *w, const tamis_reports *r, tamis_error *err)
{
    *least = 1;
    return tmi_attack_delta(least, r, w->eps, err);
}

/* A place on the grid, and the logarithm of its delta over the goal: it meets the target if that is at most 0; NaN: not known. */
typedef struct place {
    int64_t m;
    double excess;
} place;

static bool meets(const place *p) { return p->excess <= 0; }

/* By the local guarantee, or else by this delta: with an attack, whether none is known that shows the contrary. */
static tamis_status try_lie(place *p, wanted *w, delta_of *test, tamis_error *err)
{
    tamis_number *lie = NULL;
    double delta = 1;
    bool local = false;
    tamis_status status = tmi_number_ratio(&lie, p->m, w->grid, err);
    w->reports.lie_one = lie;
    w->reports.lie_zero = NULL;
    p->excess = INFINITY;
    if (status == TAMIS_OK) status = local_meets(&local, w, &w->reports, err);
    if (status == TAMIS_OK && !local && test) status = test(&delta, w, &w->reports, err);
    if (status == TAMIS_OK && (local || test)) {
        const double goal = test == delta_of_attack ? tmi_number_up(w->delta) : test ? tmi_number_down(w->delta) : 0;
        if (local) p->excess = -INFINITY;
        else if (delta <= goal) p->excess = fmin(log(delta / goal), -1e-9);
        else p->excess = fmax(log(delta / goal), 1e-9);
    }
    tamis_number_free(lie);
    w->reports.lie_one = NULL;
    return status;
}

/* Between two ends: the first place where a straight line through both is at most 0 (Illinois), or half way, every fourth time
 * and where an end is not known. */
static int64_t between(const place *low, const place *high, int round)
{
    const int64_t half = low->m + (high->m - low->m) / 2;
    if (round % 4 == 3 || !isfinite(low->excess) || !isfinite(high->excess)) return half;
    const double share = low->excess / (low->excess - high->excess);
    const int64_t at = low->m + (int64_t)ceil(share * (double)(high->m - low->m));
    return at <= low->m ? low->m + 1 : at >= high->m ? high->m - 1 : at;
}

/* The smallest m in (low, high] that meets, where high does. */
static tamis_status narrow(int64_t *m, wanted *w, delta_of *test, place low, place high, tamis_error *err)
{
    int side = 0;
    for (int round = 0; high.m - low.m > 1; round++) {
        place p = {between(&low, &high, round), NAN};
        const tamis_status status = try_lie(&p, w, test, err);
        if (status != TAMIS_OK) return status;
        const int own = meets(&p) ? 1 : -1;
        *(own > 0 ? &high : &low) = p;
        if (own == side) *(own > 0 ? &low.excess : &high.excess) /= 2; /* the end that stays loses weight */
        side = own;
    }
    *m = high.m;
    return TAMIS_OK;
}

/* The largest m: just below half, or for k categories just below (k-1)/k, rounded down. */
static int64_t largest(const wanted *w)
{
    int64_t k = w->reports.form == TAMIS_REPORT_CATEGORIES ? w->reports.positions : 2;
    return w->grid - (w->grid + k - 1) / k - (w->grid % k == 0 ? 1 : 0);
}

/* From a low place that does not meet, upwards in steps that double, to a high one that does. */
static tamis_status climb(place *low, place *high, wanted *w, delta_of *test, int64_t step, tamis_error *err)
{
    for (; low->m + step < high->m; step *= 2) {
        place p = {low->m + step, NAN};
        const tamis_status status = try_lie(&p, w, test, err);
        if (status != TAMIS_OK) return status;
        *(meets(&p) ? high : low) = p;
        if (meets(&p)) break;
    }
    return TAMIS_OK;
}

/* Moves the ends to where the exchange bound is thought to meet the target. */
static tamis_status near_guess(place *low, place *high, wanted *w, delta_of *test, tamis_error *err)
{
    place at = {0, NAN};
    tamis_status status = narrow(&at.m, w, delta_about, *low, (place){high->m, NAN}, err);
    for (int i = 0; status == TAMIS_OK && i < 2 && at.m > low->m && at.m < high->m; i++) {
        status = try_lie(&at, w, test, err);
        if (status != TAMIS_OK) break;
        *(meets(&at) ? high : low) = at;
        at = (place){at.m - 1, NAN}; /* one that does not meet is the low end: this is not between the ends any more */
    }
    return status;
}

static tamis_status search(int64_t *m, wanted *w, delta_of *test, bool attack, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    place high = {largest(w), INFINITY}, low = {0, NAN};
    if (high.m >= 1) TMI_TRY(try_lie(&high, w, test, err));
    if (!meets(&high)) return tmi_fail(err, TAMIS_UNABLE, "target: no lie probability on this grid is certified to meet it");
    if (attack && w->reports.form == TAMIS_REPORT_WHOLE) TMI_TRY(near_guess(&low, &high, w, test, err));
    if (attack && low.m > 0) {
        TMI_TRY(climb(&low, &high, w, test, 1, err));
    } else if (attack && high.m > 1) {
        TMI_TRY(narrow(&low.m, w, delta_of_attack, low, (place){high.m, NAN}, err));
        low.m--;
        TMI_TRY(climb(&low, &high, w, test, low.m / 100 + 1, err));
    }
    TMI_TRY(narrow(m, w, test, low, high, err));
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
    delta_of *test = no_delta ? NULL : bit ? delta_of_bit : delta_bound;
    return search(m, &w, test, test == delta_bound && reports->form != TAMIS_REPORT_CATEGORIES, err);
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
