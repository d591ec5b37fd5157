/* Whole reports, and categories. Few reports: all compositions of the others, exactly (collect/enumerate.c). Otherwise the
 * smallest of the upper bounds, the exchange bound, the blanket, the clones and the local eps, and the largest of what some
 * collections certainly reveal. The gap is shown, not hidden. */
#include <math.h>

#include "base/memory.h"
#include "collect/anonymous/blanket.h"
#include "collect/anonymous/categories.h"
#include "collect/anonymous/clones.h"
#include "collect/anonymous/exchange.h"
#include "collect/anonymous/reports.h"

#define TOO_PRIVATE 60 /* a local eps beyond which clones hide nothing, and e^eps has many digits */
#define SOLVED 3e-4    /* relative width of a solved eps */

/* What is kept between the questions of one search. */
typedef struct whole {
    const tamis_reports *r;
    tmi_randomizer table;
    tmi_enumeration *exact; /* NULL: too much to enumerate */
    bool tabled;
    tamis_bound local;
    tamis_number *more, *less, *share; /* of clones; NULL: none */
    double goal;                       /* above 0: only whether delta is at most this is wanted */
} whole;

static void whole_clear(whole *w)
{
    tmi_enumeration_free(w->exact);
    tmi_randomizer_clear(&w->table);
    tmi_number_frees(&w->more, &w->less, &w->share, NULL);
}

/* x *= y, `times` times; frees nothing else. */
static tamis_status multiply(tamis_number **x, const tamis_number *y, int64_t times, tamis_error *err)
{
    for (int64_t i = 0; i < times; i++) {
        tamis_number *z = NULL;
        tamis_status status = tmi_number_mul(&z, *x, y, err);
        if (status != TAMIS_OK) return status;
        tamis_number_free(*x);
        *x = z;
    }
    return TAMIS_OK;
}

/* e^local is rational: the product of the largest ratios at the positions that change. */
static tamis_status exp_local(tamis_number **odds, const tamis_reports *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_one_bit bit = {0};
    tamis_number *ratio = NULL, *part = NULL;
    *odds = NULL;
    if (r->form == TAMIS_REPORT_CATEGORIES) {
        TMI_TRY(tmi_number_ratio(&ratio, r->positions - 1, 1, err));
        TMI_TRY(tmi_one_bit_init(&bit, 1, r->lie_one, r->lie_one, err));
        TMI_TRY(tmi_number_mul(&part, ratio, bit.tell_one, err));
        TMI_TRY(tmi_number_div(odds, part, r->lie_one, err));
        goto done;
    }
    tmi_changes changes = tmi_reports_changes(r);
    TMI_TRY(tmi_one_bit_init(&bit, 1, r->lie_one, tmi_lie_zero(r), err));
    TMI_TRY(tmi_number_ratio(odds, 1, 1, err));
    TMI_TRY(tmi_number_div(&ratio, bit.tell_one, bit.lie_zero, err));
    TMI_TRY(multiply(odds, ratio, changes.down, err));
    TMI_TRY(tmi_number_div(&part, bit.tell_zero, bit.lie_one, err));
    TMI_TRY(multiply(odds, part, changes.up, err));
done:
    tmi_one_bit_clear(&bit);
    tmi_number_frees(&ratio, &part, NULL);
    return status;
}

static tamis_status whole_init(whole *w, const tamis_reports *r, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *odds = NULL, *one = NULL, *sum = NULL;
    *w = (whole){.r = r};
    TMI_TRY(tamis_anonymous_local(&w->local, r, err));
    status = tmi_randomizer_init(&w->table, r, err);
    w->tabled = status == TAMIS_OK;
    if (status == TAMIS_SYSTEM) goto done;
    status = w->tabled ? tmi_enumeration_new(&w->exact, &w->table, r->reports, err) : TAMIS_OK;
    if (status != TAMIS_OK || w->local.upper > TOO_PRIVATE) goto done;
    TMI_TRY(exp_local(&odds, r, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_add(&sum, odds, one, err));
    TMI_TRY(tmi_number_div(&w->more, odds, sum, err));
    TMI_TRY(tmi_number_div(&w->less, one, sum, err));
    TMI_TRY(tmi_number_add(&w->share, w->less, w->less, err));
done:
    tmi_number_frees(&odds, &one, &sum, NULL);
    return status;
}

/* Without any anonymity: (e^local - E) / (e^local + 1). */
static double local_delta(const whole *w, const tamis_number *eps)
{
    double gap = tmi_number_down(eps) - w->local.upper; /* 1 - e^gap over 1 + e^-local, rounded up */
    return gap >= 0 ? 0 : fmin(1, -expm1(gap) / (1 + exp(-w->local.upper)) * (1 + 1e-12));
}

/* The upper bounds, each by itself; 1 where there is none. */
typedef tamis_status upper_bound(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err);

static tamis_status by_clones(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    tamis_bound clones = {0, 1};
    tamis_status status = TAMIS_OK;
    tmi_clones c = {.n = w->r->reports, .more = w->more, .less = w->less, .share = w->share};
    if (w->more) status = tmi_clones_delta(&clones, &c, at, err);
    *delta = clones.upper;
    return status;
}

static tamis_status by_blanket(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    const tamis_reports *r = w->r;
    *delta = 1;
    if (r->form == TAMIS_REPORT_CATEGORIES) {
        tamis_bound found;
        tamis_status status = tmi_categories_delta(&found, r->positions, r->lie_one, r->reports, at, TMI_ENDS_UPPER, err);
        *delta = found.upper;
        return status;
    }
    return w->tabled ? tmi_blanket_delta(delta, &w->table, r->reports, at, w->goal, err) : TAMIS_OK;
}

static tamis_status by_exchange(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    return tmi_exchange_delta(delta, w->r, at, w->goal, err);
}

/* The blanket is the best of all ways to take what everybody reports out of the reports, so categories, whose blanket is summed
 * exactly, need no clones. */
static tamis_status by_any(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    upper_bound *const bounds[] = {by_exchange, by_blanket, by_clones}; /* the fastest first */
    const size_t count = tmi_exchange_suffices(w->r) ? 1 : w->r->form == TAMIS_REPORT_CATEGORIES ? 2 : 3;
    tamis_status status = TAMIS_OK;
    *delta = 1;
    for (size_t i = 0; status == TAMIS_OK && i < count && !(*delta <= w->goal); i++) {
        double found = 1;
        status = bounds[i](&found, w, at, err);
        *delta = fmin(*delta, found);
    }
    if (status != TAMIS_OK) *delta = 1;
    return status;
}

/* The smallest of those that TMI_BOUNDS_FIRST had. Certificates contain an eps that was solved with this function, to the
 * last digit. */
static tamis_status by_first(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    double blanket = 1, clones = 1;
    tamis_status status = by_blanket(&blanket, w, at, err);
    if (status == TAMIS_OK) status = by_clones(&clones, w, at, err);
    *delta = status == TAMIS_OK ? fmin(blanket, clones) : 1;
    return status;
}

/* ---- lower bounds by attacks ---- */

/* A report that is x, among n - 1 of people who answer x' (or a third category): the law of their number. */
static tamis_status one_report(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tamis_reports *r = w->r;
    tmi_one_bit bit = {0};
    tamis_number *more = NULL, *less = NULL, *k = NULL;
    *delta = 0;
    TMI_TRY(tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err));
    if (r->form == TAMIS_REPORT_CATEGORIES) {
        TMI_TRY(tmi_number_copy(&more, bit.tell_one, err));
        TMI_TRY(tmi_number_ratio(&k, r->positions - 1, 1, err));
        TMI_TRY(tmi_number_div(&less, r->lie_one, k, err));
    } else {
        tmi_changes changes = tmi_reports_changes(r);
        TMI_TRY(tmi_number_ratio(&more, 1, 1, err));
        TMI_TRY(tmi_number_ratio(&less, 1, 1, err));
        TMI_TRY(multiply(&more, bit.tell_one, changes.down, err));
        TMI_TRY(multiply(&more, bit.tell_zero, changes.up, err));
        TMI_TRY(multiply(&less, bit.lie_zero, changes.down, err));
        TMI_TRY(multiply(&less, bit.lie_one, changes.up, err));
    }
    const tamis_number *others[2] = {less, more};
    for (int i = 0; i < 2; i++) {
        tamis_bound found;
        tmi_shift pair = {{{others[i], r->reports - 1}}, 1, more, less, NULL};
        TMI_TRY(tmi_shift_bound(&found, &pair, at, 1e-9, err));
        *delta = fmax(*delta, found.lower);
    }
done:
    tmi_one_bit_clear(&bit);
    tmi_number_frees(&more, &less, &k, NULL);
    return status;
}

static tamis_status lower_bound(double *delta, const whole *w, const tmi_loss_at *at, const tamis_number *eps, tamis_error *err)
{
    double counts = 0;
    tamis_status status = TAMIS_OK;
    *delta = 0;
    if (w->local.upper <= TOO_PRIVATE) TMI_TRY(one_report(delta, w, at, err));
    if (w->r->form == TAMIS_REPORT_CATEGORIES) { /* all others have a third category */
        tamis_bound found;
        TMI_TRY(tmi_categories_delta(&found, w->r->positions, w->r->lie_one, w->r->reports, at, TMI_ENDS_LOWER, err));
        counts = found.lower;
    } else if (eps) {
        TMI_TRY(tmi_attack_delta(&counts, w->r, eps, err));
    }
    *delta = fmax(*delta, counts);
done:
    return status;
}

/* ---- asking ---- */

static tamis_status ask(tamis_bound *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *delta = (tamis_bound){0, 1};
    if (w->exact) return tmi_enumeration_delta(delta, w->exact, at, err);
    TMI_TRY(by_any(&delta->upper, w, at, err));
    TMI_TRY(lower_bound(&delta->lower, w, at, at->eps, err));
    if (at->eps) delta->upper = fmin(delta->upper, local_delta(w, at->eps));
    if (delta->lower > delta->upper) delta->lower = delta->upper;
done:
    return status;
}

tamis_status tmi_whole_delta(tamis_bound *delta, const tamis_reports *reports, const tmi_loss_at *at, tamis_error *err)
{
    whole w;
    *delta = (tamis_bound){0, 1};
    tamis_status status = whole_init(&w, reports, err);
    if (status == TAMIS_OK) status = ask(delta, &w, at, err);
    whole_clear(&w);
    return status;
}

tamis_status tmi_whole_upper(double *delta, const tamis_reports *reports, const tmi_loss_at *at, double goal, tamis_error *err)
{
    whole w;
    tamis_bound found = {0, 1};
    *delta = 1;
    tamis_status status = whole_init(&w, reports, err);
    w.goal = goal;
    if (status == TAMIS_OK && w.exact) status = tmi_enumeration_delta(&found, w.exact, at, err);
    else if (status == TAMIS_OK) status = by_any(&found.upper, &w, at, err);
    if (status == TAMIS_OK) *delta = fmin(found.upper, at->eps ? local_delta(&w, at->eps) : 1);
    whole_clear(&w);
    return status;
}

/* One upper bound as a function of eps. NULL: the exact delta. */
typedef struct upper {
    const whole *w;
    upper_bound *bound;
} upper;

static tamis_status upper_at(double *delta, const void *self, const tamis_number *eps, tamis_error *err)
{
    const upper *u = self;
    tmi_loss_at at = {.eps = eps};
    tamis_bound found = {0, 1};
    *delta = 1;
    if (!u->bound) {
        tamis_status status = tmi_enumeration_delta(&found, u->w->exact, &at, err);
        *delta = found.upper;
        return status;
    }
    tamis_status status = u->bound(delta, u->w, &at, err);
    *delta = fmin(*delta, local_delta(u->w, eps));
    return status;
}

/* Where this bound meets the goal, in [0, most]. */
static tamis_status solve_upper(double *eps, const upper *u, const tamis_number *goal, double most, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *zero = NULL;
    tamis_bound found;
    double first;
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    TMI_TRY(upper_at(&first, u, zero, err));
    TMI_TRY(tmi_solve_epsilon(&found, upper_at, u, goal, most, tmi_guess_epsilon(first, tmi_number_down(goal)), SOLVED, err));
    *eps = found.upper;
done:
    tamis_number_free(zero);
    return status;
}

/* Lowers eps to where this bound meets the goal, if it does so below eps. */
static tamis_status lower_by(double *eps, const upper *u, const tamis_number *goal, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *x = NULL;
    double delta, below = *eps * (1 - SOLVED);
    TMI_TRY(tmi_number_double(&x, below, err));
    TMI_TRY(upper_at(&delta, u, x, err));
    if (delta <= tmi_number_down(goal)) TMI_TRY(solve_upper(eps, u, goal, below, err));
done:
    tamis_number_free(x);
    return status;
}

static tamis_status lower_at(double *delta, const void *self, const tamis_number *eps, tamis_error *err)
{
    const whole *w = self;
    tmi_loss_at at = {.eps = eps};
    tamis_bound found;
    if (!w->exact) return lower_bound(delta, w, &at, NULL, err);
    tamis_status status = tmi_enumeration_delta(&found, w->exact, &at, err);
    *delta = found.lower;
    return status;
}

tamis_status tmi_whole_epsilon(tamis_bound *eps, const tamis_reports *reports, const tamis_number *delta, tmi_upper_bounds bounds,
                               tamis_error *err)
{
    whole w;
    tamis_status status = TAMIS_OK;
    tamis_bound found;
    double counts = 0, guess = NAN;
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(whole_init(&w, reports, err));
    eps->upper = w.local.upper;
    if (w.exact || (bounds == TMI_BOUNDS_FIRST && reports->form != TAMIS_REPORT_CATEGORIES)) {
        TMI_TRY(
            tmi_solve_epsilon(&found, upper_at, &(upper){&w, w.exact ? NULL : by_first}, delta, w.local.upper, NAN, SOLVED, err));
        eps->upper = found.upper;
    } else {
        const bool categories = reports->form == TAMIS_REPORT_CATEGORIES, alone = categories || tmi_exchange_suffices(reports);
        TMI_TRY(solve_upper(&eps->upper, &(upper){&w, categories ? by_blanket : by_exchange}, delta, w.local.upper, err));
        if (!alone) TMI_TRY(lower_by(&eps->upper, &(upper){&w, by_blanket}, delta, err));
        if (!alone) TMI_TRY(lower_by(&eps->upper, &(upper){&w, by_clones}, delta, err));
        guess = eps->upper;
    }
    TMI_TRY(tmi_solve_epsilon(&found, lower_at, &w, delta, w.local.upper, guess, SOLVED, err));
    eps->lower = found.lower;
    if (reports->form != TAMIS_REPORT_CATEGORIES) TMI_TRY(tmi_attack_epsilon(&counts, reports, delta, err));
    eps->lower = fmin(fmax(eps->lower, counts), eps->upper);
done:
    if (status != TAMIS_OK) *eps = (tamis_bound){0, INFINITY};
    whole_clear(&w);
    return status;
}

tamis_status tamis_anonymous_exact_delta(tamis_bound *delta, const tamis_reports *reports, const tamis_number *exp_epsilon,
                                         tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_randomizer table = {0};
    tmi_enumeration *exact = NULL;
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    TMI_TRY(tmi_check_reports(reports, err));
    if (reports->form == TAMIS_REPORT_COUNTS && reports->positions > 1)
        return tmi_fail(err, TAMIS_INVALID, "form: counts of several positions are not enumerated");
    if (!exp_epsilon) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: NULL");
    if (tmi_number_compare_int(exp_epsilon, 1) < 0) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: must be at least 1");
    TMI_TRY(tmi_randomizer_init(&table, reports, err));
    TMI_TRY(tmi_enumeration_new(&exact, &table, reports->reports, err));
    if (!exact) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "reports: too many histograms to enumerate"));
    TMI_TRY(tmi_enumeration_delta(delta, exact, &(tmi_loss_at){.exp_eps = exp_epsilon}, err));
done:
    tmi_enumeration_free(exact);
    tmi_randomizer_clear(&table);
    return status;
}
