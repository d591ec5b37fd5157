/* Asking an evaluator: delta at an eps until the enclosure is narrow, and eps at a delta by a search that ends with two doubles
 * of which one is certainly too small and the other certainly large enough.                                           */
#include <float.h>
#include <math.h>

#include "composition/profile.h"
#include "num/bound.h"

/* Bits of the first attempt; an evaluator is given twice as many until its enclosures are narrow. */
#define BITS_FIRST 96

void tmi_evaluator_close(tmi_evaluator *evaluator)
{
    if (evaluator->free) evaluator->free(evaluator->self);
    *evaluator = (tmi_evaluator){0};
}

static bool is_narrow(const tmi_ball *x, double width)
{
    tamis_bound b = tmi_ball_bound(x);
    return isfinite(b.upper) && b.upper - b.lower <= fmax(width * b.upper, 1e-300);
}

/* delta at eps, given exactly (as a number, or as a double if that is NULL), in doubles. */
static tamis_status ask(tamis_bound *delta, tmi_evaluator *evaluator, const tamis_number *number, double eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball at, lower, upper;
    tmi_ball_inits(&at, &lower, &upper, NULL);
    *delta = (tamis_bound){0, 1};
    for (long bits = BITS_FIRST;; bits *= 2) {
        if (bits > TMI_BITS_LAST) {
            status = tmi_fail(err, TAMIS_UNABLE, "the enclosure of delta is still too wide with %d bits", TMI_BITS_LAST);
            break;
        }
        if (number) tmi_ball_set_number(&at, number, bits);
        else tmi_ball_set_double(&at, eps);
        TMI_TRY(evaluator->delta(&lower, &upper, evaluator->self, &at, bits, err));
        if (is_narrow(&lower, evaluator->width) && is_narrow(&upper, evaluator->width)) break;
    }
    delta->lower = fmin(fmax(tmi_ball_bound(&lower).lower, 0), 1);
    delta->upper = fmax(fmin(tmi_ball_bound(&upper).upper, 1), 0);
done:
    tmi_ball_clears(&at, &lower, &upper, NULL);
    return status;
}

tamis_status tmi_evaluator_delta(tamis_bound *delta, tmi_evaluator *evaluator, const tamis_number *eps, tamis_error *err)
{
    return ask(delta, evaluator, eps, 0, err);
}

/* ---- eps at a delta ---- */

typedef enum end { BOTH, LOWER, UPPER } end; /* which end of delta a search looks at */

typedef struct search {
    tmi_evaluator *evaluator;
    const tamis_number *target;
    double log_target;
    end end;
    double lo, hi;         /* delta(lo) > target and delta(hi) <= target, certainly */
    double log_lo, log_hi; /* about log delta there */
} search;

/* -1: eps is too small, 1: large enough, 0: not certain. */
static tamis_status look(int *side, double *log_delta, search *s, double eps, tamis_error *err)
{
    tamis_bound delta;
    tamis_status status = ask(&delta, s->evaluator, NULL, eps, err);
    *side = 0;
    if (status != TAMIS_OK) return status;
    if (s->end == LOWER) delta.upper = delta.lower;
    if (s->end == UPPER) delta.lower = delta.upper;
    *log_delta = log(delta.lower / 2 + delta.upper / 2);
    tamis_bound target = tmi_number_bound(s->target);
    if (delta.upper <= target.lower) *side = 1;
    else if (delta.lower >= target.upper && delta.lower > target.lower) *side = -1;
    return status;
}

/* Moves from eps in one direction until the side is certain. */
static tamis_status step_out(double *found, search *s, double eps, int wanted, tamis_error *err)
{
    int side = 0;
    double at = eps, log_delta;
    for (double step = 4 * DBL_EPSILON; step < 1; step *= 4) {
        at = wanted > 0 ? eps + step * fmax(eps, DBL_MIN) : eps - step * eps;
        if (wanted > 0 ? at >= s->hi : at <= s->lo) break;
        tamis_status status = look(&side, &log_delta, s, at, err);
        if (status != TAMIS_OK) return status;
        if (side == wanted) {
            *found = at;
            return TAMIS_OK;
        }
    }
    *found = wanted > 0 ? s->hi : s->lo;
    return TAMIS_OK;
}

static void take(search *s, int side, double at, double log_delta)
{
    if (side > 0 && at < s->hi) s->hi = at, s->log_hi = log_delta;
    if (side < 0 && at > s->lo) s->lo = at, s->log_lo = log_delta;
}

/* A bracket around the guess, if there is a good one. */
static tamis_status bracket_guess(search *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double guess = s->evaluator->guess ? s->evaluator->guess(s->evaluator->self, tmi_number_nearest(s->target)) : 0, log_delta;
    int side;
    if (!(guess > 0 && guess < TAMIS_MAX_LOSS)) return TAMIS_OK;
    for (double step = 1e-4; step < 0.5 && (isinf(s->hi) || s->lo == 0); step *= 8) {
        double at = isinf(s->hi) ? guess * (1 + step) : guess * (1 - step);
        TMI_TRY(look(&side, &log_delta, s, at, err));
        take(s, side, at, log_delta);
    }
done:
    return status;
}

/* A bracket by doubling. */
static tamis_status bracket(search *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int side;
    double log_delta, at = fmax(1, s->lo);
    while (isinf(s->hi) && at <= TAMIS_MAX_LOSS) {
        TMI_TRY(look(&side, &log_delta, s, at, err));
        take(s, side, at, log_delta);
        at = at == TAMIS_MAX_LOSS ? 2 * at : fmin(2 * at, TAMIS_MAX_LOSS);
    }
done:
    return status;
}

/* Regula falsi in log delta with a bisection whenever it has not halved the bracket. */
static tamis_status narrow(search *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool bisect = false;
    int kept = 0; /* how often one end has stayed, and which one */
    for (int i = 0; i < 200 && s->hi - s->lo > 4 * DBL_EPSILON * s->hi && s->hi > DBL_MIN; i++) {
        double gap = s->hi - s->lo, at = s->lo + gap / 2, log_delta;
        double above = s->log_lo - s->log_target, below = s->log_hi - s->log_target;
        if (!bisect && isfinite(above) && isfinite(below) && above > below) {
            if (kept > 1) below /= (1 << (kept < 20 ? kept - 1 : 19));
            if (kept < -1) above /= (1 << (kept > -20 ? -kept - 1 : 19));
            at = s->lo + gap * (above / (above - below));
            at = fmin(fmax(at, s->lo + 1e-3 * gap), s->hi - 1e-3 * gap);
        }
        if (at <= s->lo || at >= s->hi) break;
        int side;
        TMI_TRY(look(&side, &log_delta, s, at, err));
        if (side == 0) {
            double lo, hi;
            TMI_TRY(step_out(&lo, s, at, -1, err));
            TMI_TRY(step_out(&hi, s, at, 1, err));
            s->lo = lo;
            s->hi = hi;
            break;
        }
        if (side > 0) s->hi = at, s->log_hi = log_delta, kept = kept < 0 ? kept - 1 : -1;
        else s->lo = at, s->log_lo = log_delta, kept = kept > 0 ? kept + 1 : 1;
        bisect = s->hi - s->lo > gap / 2 && i % 4 == 3;
    }
done:
    return status;
}

static tamis_status find(tamis_bound *eps, tmi_evaluator *evaluator, const tamis_number *target, end end, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    search s = {evaluator, target, log(tmi_number_nearest(target)), end, 0, INFINITY, 0, -INFINITY};
    int side;
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(bracket_guess(&s, err));
    if (s.lo == 0) {
        TMI_TRY(look(&side, &s.log_lo, &s, 0, err));
        if (side > 0) {
            *eps = (tamis_bound){0, 0};
            return TAMIS_OK;
        }
    }
    TMI_TRY(bracket(&s, err));
    if (isfinite(s.hi)) TMI_TRY(narrow(&s, err));
    *eps = (tamis_bound){s.lo, s.hi};
done:
    return status;
}

tamis_status tmi_evaluator_epsilon(tamis_bound *eps, tmi_evaluator *evaluator, const tamis_number *delta, tamis_error *err)
{
    tamis_bound other;
    tamis_status status = find(eps, evaluator, delta, evaluator->exact ? BOTH : UPPER, err);
    if (status != TAMIS_OK || evaluator->exact) return status;
    status = find(&other, evaluator, delta, LOWER, err);
    eps->lower = status == TAMIS_OK ? fmin(other.lower, eps->upper) : 0;
    return status;
}
