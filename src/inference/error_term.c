#include "inference/error_term.h"

#include <math.h>

#include "base/memory.h"
#include "inference/range.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/guesses.h"

void tmi_error_term_clear(tmi_error_term *t)
{
    tmi_free(t->coefficients);
    *t = (tmi_error_term){0};
}

/* ---- from noisy tables ---- */

double tmi_ratio_at(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    return f.y < TMI_MOMENTS && z->value[f.y] > 0 ? z->value[f.x] / z->value[f.y] : 0;
}

/* (x - mean)^2 lies in [0, R^2] with the mean S. */
static void spread_at(double *S, double *R, const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_range range = tmi_range_of(t->column);
    const double rows = fmax(z->value[TMI_OF_ROWS], 1), m = z->value[TMI_OF_X] / rows;
    *R = fmax(range.high - m, m - range.low);
    *S = fmin(fmax(z->value[TMI_OF_XX] / rows - m * m, 0), *R * *R);
}

/* Where squares of (x - mean)^2 - S are not in the table: they are at most (R^2 - 2 S) (x - mean)^2 + S^2, as two squares. */
static size_t bound_variance(double of[TMI_ERROR_TERMS][TMI_MOMENTS], const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    double S, R;
    spread_at(&S, &R, t, z);
    const double slope = sqrt(fmax(R * R - 2 * S, 0));
    of[0][TMI_OF_X] = slope;
    of[0][TMI_OF_ROWS] = -slope * tmi_ratio_at(t, z);
    of[1][TMI_OF_ROWS] = S;
    return 2;
}

/* The linearised variable, by moments: x of a sum, x - r y of a ratio, (x - mean)^2 less its own mean of a variance. */
static size_t linearise(double terms[TMI_ERROR_TERMS][TMI_MOMENTS], const tmi_plan_statistic *t, const tmi_group_sums *z,
                        bool linear)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    const double r = tmi_ratio_at(t, z);
    double *of = terms[0];
    if (t->kind == TMI_VARIANCE && linear) return bound_variance(terms, t, z);
    if (t->kind == TMI_VARIANCE) {
        const double rows = z->value[TMI_OF_ROWS], square = rows > 0 ? z->value[TMI_OF_XX] / rows - r * r : 0;
        of[TMI_OF_XX] = 1;
        of[TMI_OF_X] = -2 * r;
        of[TMI_OF_ROWS] = r * r - fmax(square, 0);
        return 1;
    }
    of[f.x] = 1;
    if (f.y < TMI_MOMENTS) of[f.y] -= r;
    return 1;
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

/* A variance's residual is bounded. */
static double variance_squares(const tmi_group_sums *z, const tmi_plan_statistic *t)
{
    const double rows = fmax(z->value[TMI_OF_ROWS], 1);
    double S, R;
    spread_at(&S, &R, t, z);
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

/* Takes off what calibration explains of x - r y. */
static tamis_status take_explained(double *c, const tmi_schedule *s, const tmi_measurement *m, const tmi_group_sums *z, double r,
                                   tamis_error *err)
{
    const size_t count = tmi_control_levels(&s->workload) * tmi_product_powers(&s->workload);
    double *explained = tmi_alloc(count, sizeof *explained);
    if (!explained) return tmi_fail_memory(err);
    for (size_t k = 0; k < count; k++) explained[k] = z->explained_x[k] - r * z->explained_y[k];
    const tmi_combination rows = tmi_control_rows_of(s, m->marginal.weighting, explained);
    for (size_t k = 0; k < m->cells * m->levels; k++)
        c[k] -= tmi_combination_within(&rows, &s->workload, &m->marginal, k / m->levels, k % m->levels);
    tmi_free(explained);
    return TAMIS_OK;
}

/* One term of a group's linearised variable, by cells and levels; less what calibration explains of it. */
static tamis_status evaluate(double *c, const double of[TMI_MOMENTS], bool explained, const tmi_schedule *s,
                             const tmi_measurement *m, const tmi_group_sums *z, size_t group, tamis_error *err)
{
    const double r = tmi_ratio_at(&s->plan->statistics[m->marginal.statistic], z);
    tmi_moment_sum sum;
    tamis_status status = tmi_moment_sum_make(&sum, &s->workload, (tmi_weighting)m->marginal.weighting, m->marginal.statistic,
                                              group, 0, of, z->control_factors, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < m->cells * m->levels; k++)
        c[k] = tmi_combination_within(&sum.combination, &s->workload, &m->marginal, k / m->levels, k % m->levels);
    tmi_moment_sum_clear(&sum);
    return explained && z->explained_x ? take_explained(c, s, m, z, r, err) : TAMIS_OK;
}

/* A linearised variable of this table, without values. */
static tmi_linearised linearised_of(const tmi_workload *w, const tmi_measurement *m)
{
    const tmi_domain *contributed = tmi_contributed_in(w, m->marginal.weighting, m->marginal.domain);
    tmi_linearised e = {.cells = m->cells, .levels = m->levels, .terms = 1, .signs = contributed && contributed->grid.low < 0};
    for (size_t a = 0; a < m->marginal.axis_count; a++)
        if (w->origins[m->marginal.axes[a]].number) e.sizes[e.numbers++] = w->axes[m->marginal.axes[a]].levels;
    return e;
}

/* The fewest blocks whose noise is small enough, from what is expected of the number. `all`: the
 * noise of the estimate; `unit`: what 1 of c T is worth. */
static void settle(tmi_error_term *t, const tmi_inference *r, const tmi_measurement *m, double all, double unit)
{
    const tmi_schedule *s = r->schedule;
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    const tmi_error_moves moves = tmi_errors_moves(s, m);
    const tmi_plan_statistic *statistic = &s->plan->statistics[m->marginal.statistic];
    const tmi_cluster_guess g = tmi_cluster_guess_of(s);
    const int64_t most = method->most_blocks(&s->places.layout, g.cv);
    const double clamping = tmi_clamping_for(r, m->marginal.statistic),
                 expected = tmi_expected_design_effect(tmi_effect_family_of(statistic), &g) * t->squares / clamping,
                 noise = all / clamping, enough = TMI_SMALL_ERROR_NOISE * sqrt(expected + (isfinite(noise) ? noise : 0));
    for (t->grid.blocks = 1;; t->grid.blocks *= 2) {
        method->settle(&t->grid, &moves, &s->places.layout);
        t->step = unit * method->worth(&t->grid, &s->places.layout, g.cv);
        if (2 * t->grid.blocks > most || t->step * tmi_noise_sd(m->laws[0].scale, s->gaussian) <= enough) return;
    }
}

/* Coefficients, and what they are relative to. */
static tamis_status combine(double *largest, tmi_error_term *term, const tmi_schedule *s, const tmi_measurement *m,
                            const tmi_group_sums *z, size_t group, int64_t together, tamis_error *err)
{
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    const size_t count = m->cells * m->levels;
    double of[TMI_ERROR_TERMS][TMI_MOMENTS] = {0}, *values = tmi_alloc(TMI_ERROR_TERMS * count, sizeof *values);
    tmi_linearised e = linearised_of(&s->workload, m);
    tamis_status status = TAMIS_OK;
    *term = (tmi_error_term){.coefficients = tmi_alloc(count, sizeof *term->coefficients)};
    if (!values || !term->coefficients) TMI_TRY(tmi_fail_memory(err));
    e.together = together;
    e.terms = linearise(of, &s->plan->statistics[m->marginal.statistic], z, method->linear);
    for (size_t k = 0; k < e.terms; k++) {
        e.values[k] = values + k * count;
        TMI_TRY(evaluate(values + k * count, of[k], e.terms == 1, s, m, z, group, err));
    }
    *largest = method->combine(term->coefficients, &term->grid.range, &e);

done:
    tmi_free(values);
    if (status != TAMIS_OK) tmi_error_term_clear(term);
    return status;
}

/* Adds |c|/max |c| of a number at each place, rounded up. */
static void add_parts(int64_t *sums, const int32_t *coefficients, size_t count)
{
    int64_t most = 0;
    for (size_t k = 0; k < count; k++) {
        const int64_t size = coefficients[k] < 0 ? -(int64_t)coefficients[k] : coefficients[k];
        most = size > most ? size : most;
    }
    for (size_t k = 0; k < count && most > 0; k++) {
        const int64_t size = coefficients[k] < 0 ? -(int64_t)coefficients[k] : coefficients[k];
        sums[k] += (size * (INT64_C(1) << TMI_TOGETHER_BITS) + most - 1) / most;
    }
}

/* ---- contrasts ---- */

/* The linearised variable of the group that was taken: the sum over its numbers of f (x - r y). */
static tamis_status combine_contrast(double *largest, tmi_error_term *term, const tmi_schedule *s, const tmi_measurement *m,
                                     const tmi_contrast_sums *z, tamis_error *err)
{
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    const size_t count = m->cells * m->levels;
    double *values = tmi_alloc(count, sizeof *values);
    tamis_status status = TAMIS_OK;
    *term = (tmi_error_term){.coefficients = tmi_alloc(count, sizeof *term->coefficients)};
    if (!values || !term->coefficients) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < z->term_count; j++) {
        const tmi_contrast_term *t = &z->terms[j];
        tmi_moment_sum sum;
        if (tmi_contrast_leaves_out(t)) continue;
        TMI_TRY(tmi_moment_sum_make(&sum, &s->workload, (tmi_weighting)m->marginal.weighting, t->statistic, t->cell, 0, t->own,
                                    NULL, err));
        for (size_t k = 0; k < count; k++)
            values[k] += tmi_combination_within(&sum.combination, &s->workload, &m->marginal, k / m->levels, k % m->levels);
        tmi_moment_sum_clear(&sum);
    }
    tmi_linearised e = linearised_of(&s->workload, m);
    e.values[0] = values;
    *largest = method->combine(term->coefficients, &term->grid.range, &e);

done:
    tmi_free(values);
    if (status != TAMIS_OK) tmi_error_term_clear(term);
    return status;
}

/* ---- numbers that move together ---- */

static tamis_status together_of(int64_t *together, const tmi_inference *r, const tmi_measurement *m, const tmi_statistic_sums *z,
                                tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = m->cells * m->levels;
    tamis_status status = TAMIS_OK;
    *together = 0;
    if (z->count == 1 || !tmi_subtracts_explained(s, m->marginal.statistic)) return TAMIS_OK;
    int64_t *sums = tmi_alloc(count, sizeof *sums);
    if (!sums) TMI_TRY(tmi_fail_memory(err));
    for (size_t g = 0; g < z->count; g++) {
        tmi_error_term term;
        double largest;
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(combine(&largest, &term, s, m, &z->groups[g], g, 0, err));
        add_parts(sums, term.coefficients, count);
        tmi_error_term_clear(&term);
    }
    *together = INT64_C(1) << TMI_TOGETHER_BITS;
    for (size_t k = 0; k < count; k++) *together = sums[k] > *together ? sums[k] : *together;

done:
    tmi_free(sums);
    return status;
}

/* ---- together ---- */

tamis_status tmi_error_source_make(tmi_error_source *e, const tmi_inference *r, const tmi_measurement *m, tamis_error *err)
{
    const size_t i = m->marginal.statistic;
    *e = (tmi_error_source){.inference = r, .measurement = m};
    if (r->schedule->plan->statistics[i].contrast) return tmi_contrast_sums_make(&e->contrast, r, i, err);
    tamis_status status = tmi_statistic_sums_make(&e->sums, r, i, err);
    if (status == TAMIS_OK) status = together_of(&e->together, r, m, &e->sums, err);
    if (status != TAMIS_OK) tmi_error_source_clear(e);
    return status;
}

void tmi_error_source_clear(tmi_error_source *e)
{
    tmi_statistic_sums_clear(&e->sums);
    tmi_contrast_sums_clear(&e->contrast);
    *e = (tmi_error_source){0};
}

/* Where all weights are alike rows are added up as they are: the weight comes after the noise, of squares the root of the largest
 * a of any stratum. */
static double weight_after(const tmi_schedule *s, int power)
{
    double most = 0;
    for (size_t h = 0; power == 2 && h < s->sampling.strata; h++) most = fmax(most, s->sampling.variance_factor[h]);
    return power == 2 ? sqrt(most) : tmi_number_nearest(s->sampling.weight[0]);
}

tamis_status tmi_error_term_make(tmi_error_term *term, tmi_error_source *e, size_t group, tamis_error *err)
{
    const tmi_inference *r = e->inference;
    const tmi_schedule *s = r->schedule;
    const tmi_measurement *m = e->measurement;
    const tmi_plan_statistic *t = &s->plan->statistics[m->marginal.statistic];
    const tmi_error_method *method = tmi_method_of(m->marginal.weighting);
    const double after = s->sampling.weights == TMI_ALIKE ? weight_after(s, method->power) : 1;
    double largest, squares, noise;
    tamis_status status;
    if (t->contrast) {
        tmi_contrast_take_group(&e->contrast, group);
        status = combine_contrast(&largest, term, s, m, &e->contrast, err);
        squares = tmi_contrast_simple_variance(&e->contrast);
        noise = tmi_contrast_rough_noise(&e->contrast);
    } else {
        const tmi_group_sums *z = &e->sums.groups[group];
        const tmi_form_moments f = tmi_form_moments_of(t);
        double factor[TMI_MOMENTS] = {0};
        factor[f.x] = 1;
        if (f.y < TMI_MOMENTS) factor[f.y] -= tmi_ratio_at(t, z);
        status = combine(&largest, term, s, m, z, group, e->together, err);
        squares = tmi_simple_variance(z, s, m->marginal.statistic, tmi_ratio_at(t, z));
        noise = tmi_sums_noise(z, factor);
    }
    if (status != TAMIS_OK) return status;
    term->squares = squares;
    term->noise = isfinite(noise) ? noise : 0;
    settle(term, r, m, noise,
           tmi_measurement_unit(m, &s->workload, 0) * pow(after * (largest > 0 ? largest : 1), method->power) * method->unit);
    return TAMIS_OK;
}
