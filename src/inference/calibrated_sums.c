/* With A_c the moments of control cell c, K_c its rows, g_c its factor and gamma_c what calibration explains of A_c, a
 * calibrated moment is the sum of g_c A_c and moves, to first order, as the sum of g_c (A_c - gamma_c K_c). With residuals e =
 * x - r y - gamma, gamma = beta_x - r beta_y, its sampling variance is the sum over strata of a (sum of g^2 e^2), less a/n of
 * the square of the sum of g e; where weights are in the tables it is the sum of a g^2 e^2, and of clusters the standard error
 * of g e is measured. All of them are linear or quadratic in moments of control cells, and so are their noises in the noisy
 * integers. */
#include "inference/calibrated_sums.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/control_reads.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/standard_errors.h"

/* A count that calibration makes public has no sampling error; so much of what it could have may be left by rounding. */
#define ROUNDING 1e-12

typedef struct crossed {
    const tmi_inference *r;
    const tmi_schedule *s;
    const tmi_calibration *c;
    size_t statistic, groups, levels, copies;
    size_t powers, products; /* of the control number v in factors, and in products of two functions of v */
    tmi_form_moments f;
    double
        *moments;  /* copy by copy, group by group, power by power, level by level of the axis of calibration, moment by moment */
    double *rows;  /* copy by copy, power by power, level by level */
    double *gamma; /* of one group: moment by moment, power by power, control cell by control cell */
    double *sums;  /* of one group: the same */
} crossed;

static void crossed_clear(crossed *x)
{
    tmi_free(x->moments);
    tmi_free(x->rows);
    tmi_free(x->gamma);
    tmi_free(x->sums);
}

static tamis_status crossed_make(crossed *x, const tmi_inference *r, const tmi_reconstruction *weighting, size_t statistic,
                                 tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    tamis_status status = TAMIS_OK;
    *x = (crossed){.r = r,
                   .s = s,
                   .c = r->calibration,
                   .statistic = statistic,
                   .groups = (size_t)tmi_statistic_cells(&s->plan->statistics[statistic]),
                   .levels = tmi_control_levels(&s->workload),
                   .copies = weighting->copies,
                   .powers = tmi_factor_powers(&s->workload),
                   .products = tmi_product_powers(&s->workload),
                   .f = tmi_form_moments_of(&s->plan->statistics[statistic])};
    const size_t each = x->groups * x->powers * x->levels * TMI_MOMENTS;
    x->moments = tmi_alloc(x->copies, each * sizeof *x->moments);
    x->rows = tmi_alloc(x->copies, x->products * x->levels * sizeof *x->rows);
    x->gamma = tmi_alloc(x->c->cells * x->powers, TMI_MOMENTS * sizeof *x->gamma);
    x->sums = tmi_alloc(x->c->cells * x->powers, TMI_MOMENTS * sizeof *x->sums);
    if (!x->moments || !x->rows || !x->gamma || !x->sums) return tmi_fail_memory(err);
    for (size_t copy = 0; copy < x->copies; copy++) {
        TMI_TRY(tmi_reconstruct_rows(x->rows + copy * x->products * x->levels, weighting, copy, err));
        TMI_TRY(tmi_reconstruct_moments(x->moments + copy * each, weighting, copy, statistic,
                                        s->workload.separate_strata ? copy : 0, err));
    }

done:
    return status;
}

static const double *moments_at(const crossed *x, size_t copy, size_t group, size_t power, size_t level)
{
    return x->moments + (((copy * x->groups + group) * x->powers + power) * x->levels + level) * TMI_MOMENTS;
}

/* Whether a group has rows in a stratum that is measured apart. */
static bool is_in_stratum(const crossed *x, size_t group, size_t copy)
{
    return !x->s->workload.separate_strata || tmi_group_has_stratum(x->s, x->statistic, group, copy);
}

/* The stratum whose table a copy is; 0 where strata are measured together. */
static size_t stratum_of(const crossed *x, size_t copy) { return x->s->workload.separate_strata ? copy : 0; }

static size_t cell_at(const crossed *x, size_t copy, size_t level) { return tmi_control_cell(x->c, stratum_of(x, copy), level); }

static double weight_of(const crossed *x, size_t copy)
{
    return tmi_main_weighting(x->s) == TMI_UNWEIGHTED ? tmi_number_nearest(x->s->sampling.weight[stratum_of(x, copy)]) : 1;
}

static double factor_of(const crossed *x, size_t power, size_t cell) { return x->c->factors[power * x->c->cells + cell]; }

static double gamma_of(const crossed *x, size_t moment, size_t power, size_t cell)
{
    return moment < TMI_MOMENTS ? x->gamma[(moment * x->powers + power) * x->c->cells + cell] : 0;
}

/* The coefficient of a power in the product of the factor and gamma of a cell, or of two gammas. */
static double explained_at(const crossed *x, size_t moment, size_t power, size_t cell)
{
    double sum = 0;
    for (size_t p = 0; p < x->powers && p <= power; p++)
        if (power - p < x->powers) sum += factor_of(x, p, cell) * gamma_of(x, moment, power - p, cell);
    return sum;
}

static double gammas_at(const crossed *x, size_t moment, size_t other, size_t power, size_t cell)
{
    double sum = 0;
    for (size_t p = 0; p < x->powers && p <= power; p++)
        if (power - p < x->powers) sum += gamma_of(x, moment, p, cell) * gamma_of(x, other, power - p, cell);
    return sum;
}

/* ---- values ---- */

static void set_values(tmi_group_sums *z, crossed *x, size_t group)
{
    const size_t cells = x->c->cells;
    memset(x->sums, 0, x->powers * cells * TMI_MOMENTS * sizeof *x->sums);
    for (size_t copy = 0; copy < x->copies; copy++)
        for (size_t at = 0; is_in_stratum(x, group, copy) && at < x->powers * x->levels; at++) {
            const size_t power = at / x->levels, cell = cell_at(x, copy, at % x->levels);
            for (size_t m = 0; cell != SIZE_MAX && m < TMI_MOMENTS; m++)
                x->sums[(m * x->powers + power) * cells + cell] += weight_of(x, copy) *
                                                                   moments_at(x, copy, group, power, at % x->levels)[m];
        }
    for (size_t m = 0; m < TMI_MOMENTS; m++) {
        const size_t first = m * x->powers * cells;
        for (size_t at = 0; at < x->powers * cells; at++) z->value[m] += x->c->factors[at] * x->sums[first + at];
        tmi_calibration_regress(x->gamma + first, x->c, x->sums + first);
    }
}

/* ---- noise ---- */

static double variance_of(const tmi_moment_parts *p, const tmi_moment_part *part)
{
    return tmi_noise_part_variance((tmi_noise_part){1, part->scale, p->gaussian, part->count});
}

static void set_covariance(tmi_moment_noise *n, const tmi_moment_parts *p)
{
    *n = (tmi_moment_noise){0};
    for (size_t k = 0; k < p->count; k++) {
        const double *f = p->list[k].factor, variance = variance_of(p, &p->list[k]);
        for (size_t a = 0; a < TMI_MOMENTS; a++)
            for (size_t b = 0; b < TMI_MOMENTS; b++) n->covariance[a][b] += f[a] * f[b] * variance;
    }
}

/* Of the calibrated moments: each is its own output. */
static tamis_status set_noise(tmi_moment_noise *n, tmi_moment_parts *p, const crossed *x, tmi_control_reads *o, size_t group,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *p = (tmi_moment_parts){.gaussian = x->s->gaussian};
    for (size_t copy = 0; copy < x->copies; copy++) {
        const bool inside = is_in_stratum(x, group, copy);
        tmi_control_reads_reset(o);
        for (size_t l = 0; l < x->levels; l++) {
            const size_t cell = cell_at(x, copy, l);
            for (size_t m = 0; cell != SIZE_MAX && m < TMI_MOMENTS; m++) {
                if (!tmi_has_moment_times(&x->s->workload, x->statistic, m, x->powers - 1)) continue;
                for (size_t p = 0; inside && p < x->powers; p++) tmi_control_moment(o, m, m, p, l, factor_of(x, p, cell));
                for (size_t p = 0; p < x->products; p++) tmi_control_rows(o, m, p, l, -explained_at(x, m, p, cell));
            }
        }
        TMI_TRY(tmi_control_reads_parts(p, x->s, tmi_main_weighting(x->s), x->statistic, o, group, stratum_of(x, copy),
                                        weight_of(x, copy), err));
    }
    set_covariance(n, p);

done:
    return status;
}

/* ---- the form ---- */

enum { AA, AB, BB, OF_X, OF_Y };

/* Squares and products of residuals in a cell: coefficients a g^2 of the sums about 0. Of factors that are functions of v the
 * mean of their squares over the rows of the cell is taken, as products of v^2 with squares of residuals are not in the tables.
 * Rows outside the stratum of a group have residuals too: what is explained, taken off 0. */
static void put_squares(tmi_control_reads *o, const crossed *x, size_t level, size_t cell, double scale, bool inside)
{
    const tmi_form_moments *f = &x->f;
    for (size_t p = 0; p < x->products; p++) {
        tmi_control_rows(o, AA, p, level, gammas_at(x, f->x, f->x, p, cell) * scale);
        if (f->y >= TMI_MOMENTS) continue;
        tmi_control_rows(o, AB, p, level, -2 * gammas_at(x, f->x, f->y, p, cell) * scale);
        tmi_control_rows(o, BB, p, level, gammas_at(x, f->y, f->y, p, cell) * scale);
    }
    if (!inside) return;
    tmi_control_moment(o, AA, f->xx, 0, level, scale);
    for (size_t p = 0; p < x->powers; p++) tmi_control_moment(o, AA, f->x, p, level, -2 * gamma_of(x, f->x, p, cell) * scale);
    if (f->y >= TMI_MOMENTS) return;
    tmi_control_moment(o, AB, f->xy, 0, level, -2 * scale);
    tmi_control_moment(o, BB, f->yy, 0, level, scale);
    for (size_t p = 0; p < x->powers; p++) {
        tmi_control_moment(o, AB, f->y, p, level, 2 * gamma_of(x, f->x, p, cell) * scale);
        tmi_control_moment(o, AB, f->x, p, level, 2 * gamma_of(x, f->y, p, cell) * scale);
        tmi_control_moment(o, BB, f->y, p, level, -2 * gamma_of(x, f->y, p, cell) * scale);
    }
}

/* The residuals themselves, times their factors. */
static void put_residuals(tmi_control_reads *o, const crossed *x, size_t level, size_t cell, bool inside)
{
    for (size_t p = 0; inside && p < x->powers; p++) {
        tmi_control_moment(o, OF_X, x->f.x, p, level, factor_of(x, p, cell));
        tmi_control_moment(o, OF_Y, x->f.y, p, level, factor_of(x, p, cell));
    }
    for (size_t p = 0; p < x->products; p++) {
        tmi_control_rows(o, OF_X, p, level, -explained_at(x, x->f.x, p, cell));
        tmi_control_rows(o, OF_Y, p, level, -explained_at(x, x->f.y, p, cell));
    }
}

/* The value of an output. */
static double value_of(const crossed *x, const tmi_control_reads *o, size_t output, size_t copy, size_t group)
{
    double sum = 0;
    for (size_t l = 0; l < x->levels; l++) {
        for (size_t at = l; at < o->row_levels; at += x->levels)
            sum += o->of_rows[output * o->row_levels + at] * x->rows[copy * o->row_levels + at];
        for (size_t m = 0; m < TMI_MOMENTS; m++)
            for (size_t p = 0; o->used[output][m] && p < x->powers; p++)
                sum += o->of_moments[(output * TMI_MOMENTS + m) * o->moment_levels + p * x->levels + l] *
                       moments_at(x, copy, group, p, l)[m];
    }
    return sum;
}

static void add_form_noise(tmi_form_noise *noise, const tmi_moment_parts *p)
{
    for (size_t k = 0; k < p->count; k++) {
        const double *f = p->list[k].factor;
        tmi_form_noise_add(noise, f[AA], f[AB], f[BB], variance_of(p, &p->list[k]));
    }
}

/* One stratum: the squares, then what its mean explains, whose noise depends on the sums themselves. */
static tamis_status add_stratum(tmi_group_sums *z, const crossed *x, tmi_control_reads *o, tmi_weighting weighting, size_t copy,
                                size_t group, tmi_stratum_part p, bool subtracts, tamis_error *err)
{
    tmi_moment_parts parts = {0};
    const bool inside = is_in_stratum(x, group, copy);
    const double each = subtracts ? p.a / p.rows : 0;
    tamis_status status = TAMIS_OK;
    tmi_control_reads_reset(o);
    for (size_t l = 0; l < x->levels; l++) {
        const size_t cell = cell_at(x, copy, l);
        if (cell == SIZE_MAX) continue;
        put_squares(o, x, l, cell, p.a * x->c->squares[cell], inside);
        put_residuals(o, x, l, cell, inside);
    }
    const double X = value_of(x, o, OF_X, copy, group), Y = value_of(x, o, OF_Y, copy, group);
    z->form.xx += value_of(x, o, AA, copy, group);
    z->form.xy -= value_of(x, o, AB, copy, group) / 2;
    z->form.yy += value_of(x, o, BB, copy, group);
    TMI_TRY(tmi_control_reads_parts(&parts, x->s, weighting, x->statistic, o, group, stratum_of(x, copy), 1, err));
    double vx = 0, vy = 0, vxy = 0;
    for (size_t k = 0; k < parts.count; k++) {
        double *slopes = parts.list[k].factor, v = variance_of(&parts, &parts.list[k]), fx = slopes[OF_X], fy = slopes[OF_Y];
        vx += v * fx * fx;
        vy += v * fy * fy;
        vxy += v * fx * fy;
        slopes[AA] -= 2 * each * X * fx;
        slopes[AB] += 2 * each * (Y * fx + X * fy);
        slopes[BB] -= 2 * each * Y * fy;
    }
    z->form.xx -= each * (X * X - vx);
    z->form.xy -= each * (X * Y - vxy);
    z->form.yy -= each * (Y * Y - vy);
    add_form_noise(&z->form_noise, &parts);
    tmi_form_noise_add(&z->form_noise, each, 0, 0, (x->s->gaussian ? 2 : 5) * vx * vx);
    tmi_form_noise_add(&z->form_noise, 0, 2 * each, 0, vx * vy);
    tmi_form_noise_add(&z->form_noise, 0, 0, each, (x->s->gaussian ? 2 : 5) * vy * vy);

done:
    tmi_moment_parts_clear(&parts);
    return status;
}

static double largest_square(const tmi_calibration *c)
{
    double largest = 0;
    for (size_t i = 0; i < c->cells; i++) {
        const double slope = c->powers > 1 ? fabs(c->factors[c->cells + i]) : 0; /* v is 1 at most in size */
        largest = fmax(largest, pow(fabs(c->factors[i]) + slope, 2));
    }
    return largest;
}

/* ---- standard errors ---- */

/* What a linearised variable is made of (error_term.h). In a statistic by so many groups that rounding would take too much,
 * nothing is subtracted: a row would move the numbers of all groups. */
static tamis_status set_controls(tmi_statistic_sums *z, const crossed *x, size_t group, tamis_error *err)
{
    double *own;
    const size_t factors = x->powers * x->levels, explained = x->products * x->levels, each = factors + 2 * explained;
    if (!z->controls && !(z->controls = tmi_alloc(z->count, each * sizeof *z->controls))) return tmi_fail_memory(err);
    own = z->controls + group * each;
    for (size_t at = 0; at < explained; at++) {
        const size_t power = at / x->levels, cell = cell_at(x, 0, at % x->levels);
        if (cell == SIZE_MAX) continue;
        if (power < x->powers) own[at] = factor_of(x, power, cell);
        own[factors + at] = explained_at(x, x->f.x, power, cell);
        own[factors + explained + at] = explained_at(x, x->f.y, power, cell);
    }
    z->groups[group].control_factors = own;
    if (!tmi_subtracts_explained(x->s, x->statistic)) return TAMIS_OK;
    z->groups[group].explained_x = own + factors;
    z->groups[group].explained_y = own + factors + explained;
    return TAMIS_OK;
}

/* ---- together ---- */

/* The weighted squares of the residuals, that measured variances are relative to. */
static tamis_status set_proxy(tmi_group_sums *z, const crossed *main, tmi_control_reads *o, size_t group, tamis_error *err)
{
    tmi_group_sums squares = {0};
    tamis_status status = TAMIS_OK;
    for (size_t copy = 0; copy < main->copies; copy++)
        TMI_TRY(add_stratum(&squares, main, o, tmi_main_weighting(main->s), copy, group,
                            (tmi_stratum_part){weight_of(main, copy), 1}, false, err));
    z->proxy = squares.form;
    z->proxy_noise = squares.form_noise;

done:
    return status;
}

/* The squares of what is explained of rows outside a domain that has tables of its own: those of all rows of a control cell,
 * times the part of them that is not in the domain. */
static void set_outside(tmi_group_sums *z, const crossed *x, size_t group)
{
    const tmi_form_moments *f = &x->f;
    for (size_t copy = 0; copy < x->copies; copy++)
        for (size_t l = 0; l < x->levels; l++) {
            const size_t cell = cell_at(x, copy, l);
            const double *rows = x->rows + copy * x->products * x->levels + l, all = rows[0];
            if (cell == SIZE_MAX || !(all > 0)) continue;
            const double in = is_in_stratum(x, group, copy) ? moments_at(x, copy, group, 0, l)[TMI_OF_ROWS] : 0,
                         scale = weight_of(x, copy) * x->c->squares[cell] * (1 - fmin(fmax(in / all, 0), 1));
            for (size_t p = 0; p < x->products; p++) {
                const double own = scale * rows[p * x->levels];
                z->outside.xx += own * gammas_at(x, f->x, f->x, p, cell);
                z->outside.xy += own * gammas_at(x, f->x, f->y, p, cell);
                z->outside.yy += own * gammas_at(x, f->y, f->y, p, cell);
            }
        }
}

static tamis_status add_form(tmi_group_sums *z, const crossed *main, tmi_control_reads *o, size_t group, tamis_error *err)
{
    const tmi_schedule *s = main->s;
    const tmi_variance_source source = tmi_variance_source_of(s);
    tamis_status status = TAMIS_OK;
    if (source == TMI_OWN_SQUARES && tmi_main_weighting(s) == TMI_UNWEIGHTED) {
        for (size_t copy = 0; copy < main->copies; copy++) {
            const tmi_stratum_part p = tmi_stratum_part_of(s, s->workload.separate_strata ? copy : SIZE_MAX);
            TMI_TRY(add_stratum(z, main, o, TMI_UNWEIGHTED, copy, group, p, s->sampling.subtracts, err));
            z->spread += p.a * p.rows * largest_square(main->c);
        }
    } else {
        TMI_TRY(set_proxy(z, main, o, group, err));
        z->spread = tmi_main_weighting(s) == TMI_WEIGHTED && !s->sampling.clustered && source != TMI_PUBLIC_EFFECT
                        ? tmi_weighed_spread(z, s, main->statistic) * largest_square(main->c)
                        : INFINITY;
    }
    if (source == TMI_OWN_SQUARES && tmi_main_weighting(s) == TMI_WEIGHTED) { /* weights hardly differ */
        const double ratio = s->sampling.ratio;
        z->form = (tmi_quadratic){ratio * z->proxy.xx, ratio * z->proxy.xy, ratio * z->proxy.yy};
        for (int k = 0; k < 5; k++) z->form_noise.c[k] = ratio * ratio * z->proxy_noise.c[k];
    }
    const tmi_plan_column *column = s->plan->statistics[main->statistic].column;
    const double size = !column ? 1 : column == s->control_number ? main->c->scale : 0;
    if (size > 0 && fabs(z->form.xx) <= ROUNDING * z->spread * size * size) z->form.xx = 0;

done:
    return status;
}

tamis_status tmi_calibrated_sums(tmi_statistic_sums *z, const tmi_inference *r, size_t statistic, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_variance_source source = tmi_variance_source_of(s);
    crossed main = {0};
    tmi_control_reads o = {0};
    tamis_status status;
    z->own_noise = tmi_alloc(z->count, sizeof *z->own_noise);
    z->own_parts = tmi_alloc(z->count, sizeof *z->own_parts);
    if (!z->own_noise || !z->own_parts) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(crossed_make(&main, r, &r->main, statistic, err));
    TMI_TRY(tmi_control_reads_make(&o, &s->workload, err));
    for (size_t g = 0; g < z->count; g++) {
        tmi_group_sums *own = &z->groups[g];
        TMI_TRY(tmi_watch_beat(s->watch, err));
        set_values(own, &main, g);
        TMI_TRY(set_noise(&z->own_noise[g], &z->own_parts[g], &main, &o, g, err));
        own->noise = &z->own_noise[g];
        own->parts = &z->own_parts[g];
        if (source != TMI_NO_VARIANCE) TMI_TRY(add_form(own, &main, &o, g, err));
        if (source == TMI_MEASURED_ERRORS) TMI_TRY(set_controls(z, &main, g, err));
        if (own->explained_x && s->workload.maps[statistic].domain != 0) set_outside(own, &main, g);
    }

done:
    crossed_clear(&main);
    tmi_control_reads_clear(&o);
    return status;
}
