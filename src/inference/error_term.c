#include "inference/error_term.h"

#include <math.h>

#include "base/memory.h"
#include "inference/range.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/guesses.h"

#define MOVES_BITS 24 /* a record moves totals by 2^23 to 2^24 steps: rounding them does little, and none gets too large */

void tmi_error_term_clear(tmi_error_term *t)
{
    tmi_free(t->coefficients);
    *t = (tmi_error_term){0};
}

/* ---- the grid ---- */

tmi_int128 tmi_error_moves(const tmi_schedule *s, const tmi_measurement *m, int64_t blocks, int64_t range)
{
    const tmi_psu_layout *l = &s->places.layout;
    const int64_t one = tmi_one_slot_gain(l, blocks);
    tmi_int128 gain = 2 * (tmi_int128)one;
    if (blocks == 1 && tmi_moves_two_slots(s, m)) { /* to another slot, or within one */
        const tmi_int128 two = tmi_two_slots_gain(l),
                         within = (one * (tmi_int128)range + TMI_ERROR_COEFFICIENT - 1) / TMI_ERROR_COEFFICIENT;
        gain = two > within ? two : within;
    }
    const tmi_int128 moved = gain * TMI_ERROR_COEFFICIENT * m->moved * tmi_errors_overlap(s, m->marginal.statistic);
    return (moved + (2 << TMI_GAIN_BITS) - 1) >> (TMI_GAIN_BITS + 1); /* half of `moved` is what a record adds */
}

void tmi_error_grid(int *shift, int64_t *divisor, const tmi_schedule *s, const tmi_measurement *m, tmi_int128 moves)
{
    const tmi_int128 room = TMI_ERROR_STEPS - tmi_errors_spare(s, m);
    *shift = 0;
    while (moves > (tmi_int128)1 << (MOVES_BITS + *shift)) ++*shift;
    while (*shift <= 0 && moves << (1 - *shift) <= (tmi_int128)1 << MOVES_BITS && *shift > -MOVES_BITS) --*shift;
    const tmi_int128 above = TMI_STANDARD_ERROR_STEP * (*shift < 0 ? moves << -*shift : moves),
                     below = room << (*shift > 0 ? *shift : 0);
    *divisor = (int64_t)((above + below - 1) / below);
}

int64_t tmi_error_total(tmi_int128 total, int shift)
{
    const tmi_int128 most = TMI_LARGEST_TOTAL, moved = shift < 0 ? total * ((tmi_int128)1 << -shift) : total >> shift;
    return (int64_t)(moved > most ? most : moved < -most ? -most : moved);
}

/* ---- from noisy tables ---- */

double tmi_ratio_at(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    return f.y < TMI_MOMENTS && z->value[f.y] > 0 ? z->value[f.x] / z->value[f.y] : 0;
}

/* The linearised variable, by moments: x of a sum, x - r y of a ratio, (x - mean)^2 less its own mean of a variance. */
static void linearise(double of[TMI_MOMENTS], const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    const double r = tmi_ratio_at(t, z);
    for (size_t m = 0; m < TMI_MOMENTS; m++) of[m] = 0;
    if (t->kind == TMI_VARIANCE) {
        const double rows = z->value[TMI_OF_ROWS], square = rows > 0 ? z->value[TMI_OF_XX] / rows - r * r : 0;
        of[TMI_OF_XX] = 1;
        of[TMI_OF_X] = -2 * r;
        of[TMI_OF_ROWS] = r * r - fmax(square, 0);
        return;
    }
    of[f.x] = 1;
    if (f.y < TMI_MOMENTS) of[f.y] -= r;
}

/* Where products were not measured: a square is at most the largest residual times its size, and that of a ratio at most
 * |x| + r |y|. */
static double largest_squares(const tmi_group_sums *z, const tmi_schedule *s, size_t i, double r)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_form_moments f = tmi_form_moments_of(t);
    const tmi_range x = t->column ? tmi_range_of(t->column) : (tmi_range){0, 1},
                    y = t->second ? tmi_range_of(t->second) : (tmi_range){1, 1};
    const double far = fmax(fabs(x.low), fabs(x.high)) + fabs(r) * fmax(fabs(y.low), fabs(y.high));
    const double sum = fabs(z->value[f.x]) + (f.y < TMI_MOMENTS ? fabs(r * z->value[f.y]) : 0);
    return far * sum;
}

/* Of a ratio whose products were not measured, from the squares of both columns: as if they were not correlated, which takes the
 * number of rows, noisy or guessed; NaN: squares were not measured either. */
#define LEAST_PART 0.05 /* of the squares: the number of rows may be a bad guess */

static double uncorrelated_squares(const tmi_group_sums *z, const tmi_schedule *s, double r)
{
    const double *v = z->value, (*noise)[TMI_MOMENTS] = z->noise->covariance;
    const double all = fmax(v[TMI_OF_XX], 0) + r * r * fmax(v[TMI_OF_YY], 0);
    tmi_sizes sizes;
    tmi_sizes_make(&sizes, s);
    const double rows = isfinite(noise[TMI_OF_ROWS][TMI_OF_ROWS]) && v[TMI_OF_ROWS] > 0 ? v[TMI_OF_ROWS] : sizes.units;
    if (!isfinite(noise[TMI_OF_XX][TMI_OF_XX]) || !isfinite(noise[TMI_OF_YY][TMI_OF_YY]) || !(all > 0)) return NAN;
    return fmax(all - (v[TMI_OF_X] * v[TMI_OF_X] + r * r * v[TMI_OF_Y] * v[TMI_OF_Y]) / rows, LEAST_PART * all);
}

/* A variance's residual is bounded: (x - mean)^2 lies in [0, R^2] with the mean S^2. */
static double variance_squares(const tmi_group_sums *z, const tmi_plan_statistic *t)
{
    const tmi_range range = tmi_range_of(t->column);
    const double rows = fmax(z->value[TMI_OF_ROWS], 1), m = z->value[TMI_OF_X] / rows, R = fmax(range.high - m, m - range.low);
    const double S = fmin(fmax(z->value[TMI_OF_XX] / rows - m * m, 0), R * R);
    return rows * (S > 0 ? S * (R * R - S) : R * R * R * R / 4);
}

#define HIDDEN 0.5    /* of the standard deviation of its noise: squares are not taken as smaller */
#define ROUNDING 1e-9 /* of what squares can be: that is left of residuals that are 0, whatever the sample */

double tmi_simple_variance(const tmi_group_sums *z, const tmi_schedule *s, size_t i, double r)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const double w = tmi_mean_weight(s);
    if (t->kind == TMI_VARIANCE) return w * variance_squares(z, t);
    const double squares = tmi_quadratic_at(z->proxy, r), noise = tmi_form_noise_sd(&z->proxy_noise, 1, r);
    const double apart = t->kind == TMI_RATIO && !isfinite(noise) ? uncorrelated_squares(z, s, r) : NAN;
    if (isfinite(apart)) return w * apart;
    const double most = largest_squares(z, s, i, r);
    if (isfinite(squares) && isfinite(noise))
        return fabs(squares) + noise > ROUNDING * most ? w * fmax(squares, HIDDEN * noise) : 0;
    return isfinite(most) && most > 0 ? w * most : w * w;
}

/* The level of the axis of calibration in a cell of the table. */
static size_t control_level(const tmi_schedule *s, const tmi_measurement *m, size_t cell)
{
    const tmi_workload *w = &s->workload;
    for (size_t a = m->marginal.axis_count; a-- > 0;) {
        const size_t axis = m->marginal.axes[a];
        if (w->origins[axis].number) continue;
        if (axis == w->control_axis) return cell % w->axes[axis].levels;
        cell /= w->axes[axis].levels;
    }
    return 0;
}

/* Coefficients of a group's linearised variable; the largest of them. */
static tamis_status combine(double *largest, double *c, const tmi_schedule *s, const tmi_measurement *m, const tmi_group_sums *z,
                            size_t group, tamis_error *err)
{
    double of[TMI_MOMENTS];
    tmi_moment_sum sum;
    linearise(of, &s->plan->statistics[m->marginal.statistic], z);
    tamis_status status = tmi_moment_sum_make(&sum, &s->workload, TMI_STANDARD_ERRORS, m->marginal.statistic, group, 0, of,
                                              z->control_factors, err);
    if (status != TAMIS_OK) return status;
    *largest = 0;
    const double r = tmi_ratio_at(&s->plan->statistics[m->marginal.statistic], z);
    for (size_t k = 0; k < m->cells * m->levels; k++) {
        c[k] = tmi_combination_at(&sum.combination, &s->workload, k / m->levels, k % m->levels);
        if (z->explained_x) {
            const size_t l = control_level(s, m, k / m->levels);
            c[k] -= z->explained_x[l] - r * z->explained_y[l];
        }
        *largest = fmax(*largest, fabs(c[k]));
    }
    tmi_moment_sum_clear(&sum);
    return TAMIS_OK;
}

/* What a step of the released integer is worth: S in steps of 1/64, of totals in steps of 2^shift. */
static double worth_of(const tmi_error_term *t, double unit, const tmi_schedule *s)
{
    return (double)t->divisor / TMI_STANDARD_ERROR_STEP * ldexp(unit, t->shift) *
           tmi_block_factor(&s->places.layout, t->blocks, tmi_cluster_guess_of(s).cv);
}

#define ENOUGH \
    0.5 /* of the expected error, sampling and noise: a standard error is divided over blocks until its noise is that */

/* The fewest blocks whose noise is small enough, from what is expected of the number. */
static void set_blocks(tmi_error_term *t, const tmi_inference *r, const tmi_measurement *m, const tmi_group_sums *z, double unit)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *statistic = &s->plan->statistics[m->marginal.statistic];
    const tmi_form_moments f = tmi_form_moments_of(statistic);
    const tmi_cluster_guess g = tmi_cluster_guess_of(s);
    const int64_t most = tmi_most_blocks(&s->places.layout, g.cv);
    double factor[TMI_MOMENTS] = {0};
    factor[f.x] = 1;
    if (f.y < TMI_MOMENTS) factor[f.y] -= tmi_ratio_at(statistic, z);
    const double expected = tmi_expected_design_effect(tmi_effect_family_of(statistic), &g) * t->squares / r->clamping,
                 noise = tmi_sums_noise(z, factor) / r->clamping,
                 enough = ENOUGH * sqrt(expected + (isfinite(noise) ? noise : 0));
    for (t->blocks = 1;; t->blocks *= 2) {
        tmi_error_grid(&t->shift, &t->divisor, s, m, tmi_error_moves(s, m, t->blocks, t->range));
        t->step = worth_of(t, unit, s);
        if (2 * t->blocks > most || t->step * tmi_noise_sd(m->laws[0].scale, s->gaussian) <= enough) return;
    }
}

tamis_status tmi_error_term_make(tmi_error_term *term, const tmi_inference *r, const tmi_measurement *m, const tmi_group_sums *z,
                                 size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = m->cells * m->levels;
    const double after = s->sampling.weights == TMI_ALIKE ? tmi_number_nearest(s->sampling.weight[0]) : 1;
    double *c = tmi_alloc(count, sizeof *c), largest = 0;
    int64_t low = 0, high = 0;
    tamis_status status;
    *term = (tmi_error_term){.coefficients = tmi_alloc(count, sizeof *term->coefficients)};
    if (!c || !term->coefficients) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(combine(&largest, c, s, m, z, group, err));
    const bool usable = largest > 0 && isfinite(largest); /* else nothing is added up */
    if (!usable) largest = 1;
    for (size_t k = 0; k < count; k++) {
        const int32_t own = usable && isfinite(c[k]) ? (int32_t)lrint(c[k] / largest * TMI_ERROR_COEFFICIENT) : 0;
        term->coefficients[k] = own;
        low = own < low ? own : low;
        high = own > high ? own : high;
    }
    term->range = high - low;
    term->squares = tmi_simple_variance(z, s, m->marginal.statistic,
                                        tmi_ratio_at(&s->plan->statistics[m->marginal.statistic], z));
    set_blocks(term, r, m, z, tmi_measurement_unit(m, &s->workload, 0) * after * largest / TMI_ERROR_COEFFICIENT);

done:
    tmi_free(c);
    if (status != TAMIS_OK) tmi_error_term_clear(term);
    return status;
}
