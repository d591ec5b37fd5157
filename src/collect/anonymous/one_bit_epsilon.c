/* The smallest eps at delta. A lower end is an eps at which some composition has more than delta; an upper end is one at which
 * blocks that cover all compositions have at most delta. The lower end is raised by solving for one composition after the
 * other; then one cover is tried a little above it, and a composition that stands out becomes the next lower end. */
#include <math.h>

#include "collect/anonymous/one_bit.h"
#include "num/exact.h"

#define PAIR_WIDTH 1e-12

typedef struct search {
    const tmi_one_bit *bit;
    double delta_down, delta_up; /* doubles around delta */
    tmi_effort effort;
    int64_t pairs;
    double lower; /* some composition has more than delta here, or 0 */
    double most;  /* the local eps */
} search;

static tamis_status delta_at(tamis_bound *delta, search *s, int64_t a, int64_t b, int order, double eps, tamis_error *err)
{
    tamis_number *x = NULL;
    tmi_shift pair = tmi_one_bit_pair(s->bit, a, b, order);
    tamis_status status = tmi_number_double(&x, eps, err);
    s->pairs++;
    *delta = (tamis_bound){0, 1};
    if (status == TAMIS_OK) status = tmi_shift_bound(delta, &pair, &(tmi_loss_at){.eps = x}, PAIR_WIDTH, err);
    tamis_number_free(x);
    return status;
}

/* Raises s->lower to nearly the eps of one composition, which has more than delta at s->lower or is left alone. */
static tamis_status raise_lower(search *s, int64_t a, int order, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound delta;
    double low = s->lower, high = s->most, goal = log(s->delta_up), f_low, f_high = NAN;
    int side = 0;
    TMI_TRY(delta_at(&delta, s, a, s->bit->others - a, order, low, err));
    if (!(delta.lower > s->delta_up)) return TAMIS_OK;
    f_low = log(delta.lower) - goal;
    while (high - low > fmin(0.05 * s->effort.width, 1e-4) * high && high > 1e-290) {
        double x = isnan(f_high) ? low + (high - low) / 8 : low + (high - low) * f_low / (f_low - f_high);
        if (!(x > low + 0.001 * (high - low))) x = low + 0.001 * (high - low);
        if (!(x < high - 0.001 * (high - low))) x = high - 0.001 * (high - low);
        if (x <= low || x >= high) break;
        TMI_TRY(delta_at(&delta, s, a, s->bit->others - a, order, x, err));
        if (delta.lower > s->delta_up) {
            low = x;
            f_low = log(delta.lower) - goal;
            if (side == 1 && !isnan(f_high)) f_high /= 2; /* Illinois: the end that stays loses weight */
            side = 1;
        } else {
            high = x;
            f_high = delta.upper > 1e-300 ? log(delta.upper) - goal : NAN;
            if (f_high >= 0) f_high = -1e-12;
            if (side == -1) f_low /= 2;
            side = -1;
        }
    }
    s->lower = low;
done:
    return status;
}

/* Whether the delta of a block is certain to be on one side of all limits between which a cover decides. */
static bool is_decided(const search *s, tamis_bound delta)
{
    const double limits[] = {s->delta_up, s->delta_down, 0.95 * s->delta_down, 0.8 * s->delta_down};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!(delta.upper * (1 + 2 * PAIR_WIDTH) < limits[i]) && !(delta.lower > limits[i])) return false;
    return true;
}

/* The delta of a block: by sums in doubles where these decide, otherwise to PAIR_WIDTH. */
static tamis_status delta_of_block(tamis_bound *delta, search *s, int64_t first, int64_t last, int order, double eps,
                                   tamis_error *err)
{
    tamis_number *x = NULL;
    tmi_shift pair = tmi_one_bit_pair(s->bit, first, s->bit->others - last, order);
    tamis_status status = tmi_number_double(&x, eps, err);
    *delta = (tamis_bound){0, 1};
    if (status == TAMIS_OK) status = tmi_shift_sums(delta, &pair, &(tmi_loss_at){.eps = x}, err);
    tamis_number_free(x);
    if (status == TAMIS_OK && !is_decided(s, *delta)) return delta_at(delta, s, first, s->bit->others - last, order, eps, err);
    s->pairs++;
    return status;
}

typedef enum cover { COVERED, STANDS_OUT, TOO_MUCH } cover;

/* Whether blocks of at most delta at eps cover all compositions; if one stands out, s->lower is raised to it. The blocks are made
 * from left to right, each about as long as the last one could have been: eps goes with one over the root of the number of
 * reports, so a block of the share x of them costs about x/2 of eps. */
static tamis_status try_cover(cover *answer, search *s, int order, double eps, tamis_error *err)
{
    double all = (double)(s->bit->high - s->bit->low), length = fmax(all * fmin(1, 1.8 * s->effort.width), 8);
    int64_t first = s->bit->low;
    *answer = COVERED;
    while (first <= s->bit->high) {
        tamis_bound delta;
        int64_t left = s->bit->high - first, last = first + (length < (double)left ? (int64_t)length : left);
        if (s->pairs > s->effort.pairs) {
            *answer = TOO_MUCH;
            return TAMIS_OK;
        }
        tamis_status status = delta_of_block(&delta, s, first, last, order, eps, err);
        if (status != TAMIS_OK) return status;
        if (delta.upper <= s->delta_down) {
            first = last + 1;
            length = length * (delta.upper < 0.8 * s->delta_down ? 1.5 : delta.upper < 0.95 * s->delta_down ? 1.05 : 1) + 0.5;
        } else if (first < last) {
            length = floor(0.6 * (double)(last - first));
        } else { /* above delta, or too close to it to decide */
            *answer = STANDS_OUT;
            if (delta.lower > s->delta_up) s->lower = eps;
            return raise_lower(s, first, order, err);
        }
    }
    return TAMIS_OK;
}

#define EXACT 40 /* others up to whom eps = 0 is decided in exact numbers: their laws have some 10^4 masses */

/* Whether delta is met at eps = 0, the only eps at which the largest delta is rational and may be the delta that was asked for:
 * (1 - lie_one - lie_zero) times the largest mass of the others' counts. */
static tamis_status nothing_needed(bool *yes, const tmi_one_bit *bit, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *yes = bit->others <= EXACT;
    for (int64_t ones = bit->low; ones <= bit->high && *yes && status == TAMIS_OK; ones++) {
        tmi_exact e = TMI_EXACT(err);
        tmi_term mass[EXACT + 1] = {tmi_int(&e, 1)}, zero = tmi_int(&e, 0), largest = zero;
        for (int64_t i = 1; i <= bit->others; i++) mass[i] = zero;
        for (int64_t i = 0; i < bit->others; i++)
            for (int64_t k = i + 1; k >= 0; k--) {
                mass[k] = tmi_mul(&e, mass[k], i < ones ? bit->lie_one : bit->tell_zero);
                if (k > 0) mass[k] = tmi_add(&e, mass[k], tmi_mul(&e, mass[k - 1], i < ones ? bit->tell_one : bit->lie_zero));
            }
        for (int64_t k = 0; k <= bit->others && e.status == TAMIS_OK; k++) largest = tmi_larger(largest, mass[k]);
        tmi_term most = tmi_mul(&e, tmi_sub(&e, bit->tell_one, bit->lie_zero), largest);
        status = e.status;
        *yes = status == TAMIS_OK && tmi_number_compare(most, delta) <= 0;
        tmi_exact_clear(&e);
    }
    return status;
}

static tamis_status find(tamis_bound *eps, search *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tmi_one_bit *bit = s->bit;
    for (int order = 0; order < bit->orders; order++) {
        int64_t tried[] = {bit->low, bit->high, bit->low + (bit->high - bit->low) / 2};
        for (int i = 0; i < 3; i++) TMI_TRY(raise_lower(s, tried[i], order, err));
    }
    for (int round = 0; round < 200; round++) {
        double upper = s->lower * (1 + s->effort.width * 0.9), before = s->lower;
        cover answer = COVERED;
        if (upper >= s->most) {
            *eps = (tamis_bound){s->lower, s->most};
            return TAMIS_OK;
        }
        for (int order = 0; order < bit->orders && answer == COVERED; order++) TMI_TRY(try_cover(&answer, s, order, upper, err));
        if (answer == COVERED) {
            *eps = (tamis_bound){s->lower, upper};
            return TAMIS_OK;
        }
        if (answer == TOO_MUCH || !(s->lower > before)) break;
    }
    status = tmi_fail(err, TAMIS_UNABLE, "epsilon was not certified to the width asked for");
done:
    return status;
}

tamis_status tmi_one_bit_epsilon(tamis_bound *eps, const tmi_one_bit *bit, const tamis_number *delta, tmi_effort effort,
                                 tamis_error *err)
{
    *eps = (tamis_bound){0, INFINITY};
    tamis_bound local = tmi_one_bit_local(bit, 0), other = tmi_one_bit_local(bit, bit->orders - 1);
    search s = {.bit = bit, .effort = effort, .most = fmax(local.upper, other.upper)};
    bool met = false;
    if (tmi_number_sign(delta) == 0) {
        *eps = (tamis_bound){fmax(local.lower, other.lower), s.most};
        return TAMIS_OK;
    }
    s.delta_down = tmi_number_down(delta);
    s.delta_up = tmi_number_up(delta);
    tamis_status status = nothing_needed(&met, bit, delta, err);
    if (status != TAMIS_OK) return status;
    if (!met) return find(eps, &s, err);
    *eps = (tamis_bound){0, 0};
    return TAMIS_OK;
}
