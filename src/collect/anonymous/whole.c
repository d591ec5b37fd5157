/* Whole reports, and categories. Few reports: all compositions of the others, exactly (collect/enumerate.c). Otherwise the
 * smallest of three upper bounds, the blanket, the clones and the local eps, and the largest of what some collections certainly
 * reveal. The gap is shown, not hidden. */
#include <math.h>

#include "base/memory.h"
#include "collect/anonymous/blanket.h"
#include "collect/anonymous/clones.h"
#include "collect/anonymous/fold.h"
#include "collect/anonymous/reports.h"

#define TOO_PRIVATE 60 /* a local eps beyond which clones hide nothing, and e^eps has many digits */
#define SOLVED 3e-4    /* relative width of a solved eps */

/* What is kept between the questions of one search. */
typedef struct whole {
    const tamis_reports *r;
    tmi_randomizer table;
    bool tabled, exact;
    tamis_bound local;
    tamis_number *more, *less, *share; /* of clones; NULL: none */
} whole;

static void whole_clear(whole *w)
{
    tmi_randomizer_clear(&w->table);
    tamis_number_free(w->more);
    tamis_number_free(w->less);
    tamis_number_free(w->share);
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
    tamis_number_free(ratio);
    tamis_number_free(part);
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
    status = TAMIS_OK;
    if (w->local.upper > TOO_PRIVATE) goto done;
    TMI_TRY(exp_local(&odds, r, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_add(&sum, odds, one, err));
    TMI_TRY(tmi_number_div(&w->more, odds, sum, err));
    TMI_TRY(tmi_number_div(&w->less, one, sum, err));
    TMI_TRY(tmi_number_add(&w->share, w->less, w->less, err));
done:
    tamis_number_free(odds);
    tamis_number_free(one);
    tamis_number_free(sum);
    return status;
}

/* Without any anonymity: (e^local - E) / (e^local + 1). */
static double local_delta(const whole *w, const tamis_number *eps)
{
    double gap = tmi_number_down(eps) - w->local.upper; /* 1 - e^gap over 1 + e^-local, rounded up */
    return gap >= 0 ? 0 : fmin(1, -expm1(gap) / (1 + exp(-w->local.upper)) * (1 + 1e-12));
}

static tamis_status upper_bound(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tamis_reports *r = w->r;
    tamis_bound clones = {0, 1};
    double blanket = 1;
    if (w->more) {
        tmi_clones c = {.n = r->reports, .more = w->more, .less = w->less, .share = w->share};
        TMI_TRY(tmi_clones_delta(&clones, &c, at, err));
    }
    if (r->form == TAMIS_REPORT_CATEGORIES)
        TMI_TRY(tmi_blanket_categories(&blanket, r->positions, r->lie_one, r->reports, at, err));
    else if (w->tabled) TMI_TRY(tmi_blanket_delta(&blanket, &w->table, r->reports, at, err));
    *delta = fmin(blanket, clones.upper);
done:
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
    tamis_number_free(more);
    tamis_number_free(less);
    tamis_number_free(k);
    return status;
}

/* Reports of x less reports of x', all others having a third category: masses of one step, of the person, and of their sum. */
static tamis_status step_masses(tmi_masses *m, const tmi_ball *up_one, const tmi_ball *down_one, bool up, tamis_error *err)
{
    tmi_ball rest;
    tamis_status status = tmi_masses_new(m, -1, 3, err);
    if (status != TAMIS_OK) return status;
    tmi_ball_init(&rest);
    tmi_ball_set_int(&rest, 1);
    tmi_ball_sub(&rest, &rest, up_one, 192);
    tmi_ball_sub(&rest, &rest, down_one, 192);
    tmi_masses_set(m, 0, down_one, up);
    tmi_masses_set(m, 1, &rest, up);
    tmi_masses_set(m, 2, up_one, up);
    tmi_ball_clear(&rest);
    return TAMIS_OK;
}

/* The law of the difference, from below with the person answering x, from above with x'. */
static tamis_status difference(tmi_fold *sum, const tamis_reports *r, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_masses step = {0}, person = {0};
    tmi_fold others;
    tmi_ball truth, other;
    tmi_fold_init(&others);
    tmi_ball_init(&truth);
    tmi_ball_init(&other);
    tmi_ball_set_number(&other, r->lie_one, 192);
    tmi_ball_neg(&truth, &other);
    tmi_ball_add_int(&truth, &truth, 1, 192);
    tmi_ball_div_int(&other, &other, r->positions - 1, 192);
    TMI_TRY(step_masses(&step, &other, &other, up, err));
    TMI_TRY(step_masses(&person, up ? &other : &truth, up ? &truth : &other, up, err));
    TMI_TRY(tmi_fold_power(&others, &step, r->reports - 1, up, err));
    int64_t low = others.masses.first - 1, high = others.masses.first + (int64_t)others.masses.count + 1;
    TMI_TRY(tmi_masses_convolve(&sum->masses, &sum->beyond, &others.masses, &person, low, high, up, err));
    if (up) tmi_ball_add(&sum->beyond, &sum->beyond, &others.beyond, 192);
done:
    tmi_masses_clear(&step);
    tmi_masses_clear(&person);
    tmi_fold_clear(&others);
    tmi_ball_clear(&truth);
    tmi_ball_clear(&other);
    return status;
}

/* The largest P(W >= t) - E Q(W >= t). */
static void best_difference(double *delta, const tmi_fold *p, const tmi_fold *q, const tmi_ball *e)
{
    tmi_ball over_p, over_q, x;
    int64_t first = p->masses.first < q->masses.first ? p->masses.first : q->masses.first;
    int64_t p_end = p->masses.first + (int64_t)p->masses.count, q_end = q->masses.first + (int64_t)q->masses.count;
    tmi_ball_init(&over_p);
    tmi_ball_init(&over_q);
    tmi_ball_init(&x);
    tmi_ball_set(&over_q, &q->beyond);
    for (int64_t t = (p_end > q_end ? p_end : q_end) - 1; t >= first; t--) {
        if (t >= p->masses.first && t < p_end) {
            tmi_masses_get(&x, &p->masses, (size_t)(t - p->masses.first));
            tmi_ball_add(&over_p, &over_p, &x, 192);
        }
        if (t >= q->masses.first && t < q_end) {
            tmi_masses_get(&x, &q->masses, (size_t)(t - q->masses.first));
            tmi_ball_add(&over_q, &over_q, &x, 192);
        }
        tmi_ball_mul(&x, e, &over_q, 192);
        tmi_ball_sub(&x, &over_p, &x, 192);
        *delta = fmax(*delta, tmi_ball_bound(&x).lower);
    }
    tmi_ball_clear(&over_p);
    tmi_ball_clear(&over_q);
    tmi_ball_clear(&x);
}

static tamis_status third_category(double *delta, const whole *w, const tmi_loss_at *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_fold p, q;
    tmi_ball e, excess;
    tmi_fold_init(&p);
    tmi_fold_init(&q);
    tmi_ball_init(&e);
    tmi_ball_init(&excess);
    tmi_loss_at_balls(&e, &excess, at, 192);
    if (w->r->positions > 2 && w->r->reports > 1) {
        TMI_TRY(difference(&p, w->r, false, err));
        TMI_TRY(difference(&q, w->r, true, err));
        best_difference(delta, &p, &q, &e);
    }
done:
    tmi_fold_clear(&p);
    tmi_fold_clear(&q);
    tmi_ball_clear(&e);
    tmi_ball_clear(&excess);
    return status == TAMIS_UNABLE ? TAMIS_OK : status;
}

static tamis_status lower_bound(double *delta, const whole *w, const tmi_loss_at *at, const tamis_number *eps, tamis_error *err)
{
    double counts = 0;
    tamis_status status = TAMIS_OK;
    *delta = 0;
    if (w->local.upper <= TOO_PRIVATE) TMI_TRY(one_report(delta, w, at, err));
    if (w->r->form == TAMIS_REPORT_CATEGORIES) TMI_TRY(third_category(delta, w, at, err));
    else if (eps) TMI_TRY(tmi_attack_delta(&counts, w->r, eps, err));
    *delta = fmax(*delta, counts);
done:
    return status;
}

/* ---- asking ---- */

static tamis_status ask(tamis_bound *delta, const whole *w, const tmi_loss_at *at, bool *exact, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *exact = false;
    *delta = (tamis_bound){0, 1};
    if (w->tabled) TMI_TRY(tmi_enumerate_delta(delta, exact, &w->table, w->r->reports, at, err));
    if (*exact) goto done;
    TMI_TRY(upper_bound(&delta->upper, w, at, err));
    TMI_TRY(lower_bound(&delta->lower, w, at, at->eps, err));
    if (at->eps) delta->upper = fmin(delta->upper, local_delta(w, at->eps));
    if (delta->lower > delta->upper) delta->lower = delta->upper;
done:
    return status;
}

tamis_status tmi_whole_delta(tamis_bound *delta, const tamis_reports *reports, const tmi_loss_at *at, tamis_error *err)
{
    whole w;
    bool exact;
    *delta = (tamis_bound){0, 1};
    tamis_status status = whole_init(&w, reports, err);
    if (status == TAMIS_OK) status = ask(delta, &w, at, &exact, err);
    whole_clear(&w);
    return status;
}

static tamis_status upper_at(double *delta, const void *self, const tamis_number *eps, tamis_error *err)
{
    const whole *w = self;
    tmi_loss_at at = {.eps = eps};
    tamis_bound found;
    bool exact = false;
    *delta = 1;
    if (w->exact) {
        tamis_status status = tmi_enumerate_delta(&found, &exact, &w->table, w->r->reports, &at, err);
        *delta = found.upper;
        return status;
    }
    tamis_status status = upper_bound(delta, w, &at, err);
    *delta = fmin(*delta, local_delta(w, eps));
    return status;
}

static tamis_status lower_at(double *delta, const void *self, const tamis_number *eps, tamis_error *err)
{
    const whole *w = self;
    tmi_loss_at at = {.eps = eps};
    tamis_bound found;
    bool exact = false;
    if (!w->exact) return lower_bound(delta, w, &at, NULL, err);
    tamis_status status = tmi_enumerate_delta(&found, &exact, &w->table, w->r->reports, &at, err);
    *delta = found.lower;
    return status;
}

tamis_status tmi_whole_epsilon(tamis_bound *eps, const tamis_reports *reports, const tamis_number *delta, tamis_error *err)
{
    whole w;
    tamis_status status = TAMIS_OK;
    tamis_bound found, first;
    double counts = 0;
    tamis_number *zero = NULL;
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(whole_init(&w, reports, err));
    TMI_TRY(tmi_number_ratio(&zero, 0, 1, err));
    if (w.tabled) TMI_TRY(tmi_enumerate_delta(&first, &w.exact, &w.table, reports->reports, &(tmi_loss_at){.eps = zero}, err));
    TMI_TRY(tmi_solve_epsilon(&found, upper_at, &w, delta, w.local.upper, SOLVED, err));
    eps->upper = found.upper;
    TMI_TRY(tmi_solve_epsilon(&found, lower_at, &w, delta, w.local.upper, SOLVED, err));
    eps->lower = found.lower;
    if (reports->form != TAMIS_REPORT_CATEGORIES) TMI_TRY(tmi_attack_epsilon(&counts, reports, delta, err));
    eps->lower = fmin(fmax(eps->lower, counts), eps->upper);
done:
    if (status != TAMIS_OK) *eps = (tamis_bound){0, INFINITY};
    whole_clear(&w);
    tamis_number_free(zero);
    return status;
}

tamis_status tamis_anonymous_exact_delta(tamis_bound *delta, const tamis_reports *reports, const tamis_number *exp_epsilon,
                                         tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_randomizer table = {0};
    bool exact = false;
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    TMI_TRY(tmi_check_reports(reports, err));
    if (reports->form == TAMIS_REPORT_COUNTS && reports->positions > 1)
        return tmi_fail(err, TAMIS_INVALID, "form: counts of several positions are not enumerated");
    if (!exp_epsilon) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: NULL");
    if (tmi_number_compare_int(exp_epsilon, 1) < 0) return tmi_fail(err, TAMIS_INVALID, "exp_epsilon: must be at least 1");
    TMI_TRY(tmi_randomizer_init(&table, reports, err));
    TMI_TRY(tmi_enumerate_delta(delta, &exact, &table, reports->reports, &(tmi_loss_at){.exp_eps = exp_epsilon}, err));
    if (!exact) status = tmi_fail(err, TAMIS_UNABLE, "reports: too many histograms to enumerate");
done:
    tmi_randomizer_clear(&table);
    return status;
}
