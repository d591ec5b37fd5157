#include "inference/contrast.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/error_term.h"
#include "inference/range.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"

void tmi_contrast_sums_clear(tmi_contrast_sums *z)
{
    for (size_t k = 0; k < TMI_MAX_PAIRS; k++) tmi_statistic_sums_clear(&z->of[k]);
    tmi_free(z->terms);
    tmi_model_fit_clear(&z->fit);
    tmi_line_fit_clear(&z->line);
    *z = (tmi_contrast_sums){0};
}

tamis_status tmi_contrast_sums_make(tmi_contrast_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[i];
    const tmi_plan_contrast *c = t->contrast;
    tamis_status status = TAMIS_OK;
    *z = (tmi_contrast_sums){.inference = r, .statistic = i, .term_count = c->term_count};
    z->coefficients = t->model ? t->model->term_count : t->kind == TMI_CORRELATION;
    z->terms = tmi_alloc(c->term_count, sizeof *z->terms);
    if (!z->terms) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < c->compared_count; k++)
        if (!r->schedule->workload.maps[c->compared[k].statistic].known)
            TMI_TRY(tmi_statistic_sums_make(&z->of[k], r, c->compared[k].statistic, err));
    if (tmi_is_line(t)) TMI_TRY(tmi_line_fit_make(&z->line, t, err));
    else if (t->model) TMI_TRY(tmi_model_fit_make(&z->fit, t->model, err));

done:
    if (status != TAMIS_OK) tmi_contrast_sums_clear(z);
    return status;
}

static bool is_ratio(const tmi_contrast_term *t) { return t->form.y < TMI_MOMENTS; }

bool tmi_contrast_leaves_out(const tmi_contrast_term *t)
{
    bool none = true;
    for (size_t m = 0; m < TMI_MOMENTS; m++) none = none && t->own[m] == 0;
    return none;
}

/* A coefficient of a model with numbers: `terms` are cells of each pair of numbers. */
static void take_line_term(tmi_contrast_sums *z, size_t place)
{
    const tmi_plan_statistic *t = &z->inference->schedule->plan->statistics[z->statistic];
    tmi_line_fit *f = &z->line;
    const size_t group = place / f->terms, term = place % f->terms;
    z->taken = term;
    for (size_t k = 0; k < z->term_count; k++) {
        const size_t pair = t->contrast->terms[k].compared, cell = tmi_term_cell(z->inference->schedule->plan, t, k, place);
        const size_t of = t->contrast->compared[pair].statistic;
        const tmi_group_sums *sums = &z->of[pair].groups[cell];
        z->terms[k] = (tmi_contrast_term){.statistic = of,
                                          .cell = cell,
                                          .sums = sums,
                                          .form = tmi_form_moments_of(&z->inference->schedule->plan->statistics[of])};
        memcpy(f->moments[k], sums->value, sizeof *f->moments);
    }
    if (z->fitted != group + 1) tmi_line_fit_find(f);
    z->fitted = group + 1;
    for (size_t c = 0; c < f->cells; c++) {
        double own[TMI_MAX_PAIRS][TMI_MOMENTS], turn[TMI_MAX_PAIRS][TMI_MOMENTS];
        tmi_line_fit_variable(own, turn, f, term, c);
        for (size_t pair = 0; pair < f->pairs; pair++) {
            memcpy(z->terms[pair * f->cells + c].own, own[pair], sizeof own[pair]);
            memcpy(z->terms[pair * f->cells + c].turn, turn[pair], sizeof turn[pair]);
        }
    }
}

/* Adds q (x - a)(y - b) and the like to a sum of moments. */
static void add_centred(double of[TMI_MOMENTS], double q, tmi_moment product, tmi_moment first, double a, tmi_moment second,
                        double b)
{
    of[product] += q;
    of[first] -= q * b;
    of[second] -= q * a;
    of[TMI_OF_ROWS] += q * a * b;
}

/* r = S_xy / sqrt(S_xx S_yy). With d the standard deviations, its linearised variable is, over the rows,
 *
 *     ((x - mean)(y - mean) / (d_x d_y) - r/2 ((x - mean)^2 / d_x^2 + (y - mean)^2 / d_y^2)) / rows,
 *
 * and how that moves with r the second part. Where noise puts it outside of (-1, 1), there is none. */
static void take_correlation(tmi_contrast_sums *z, size_t group)
{
    const tmi_schedule *s = z->inference->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[z->statistic];
    const size_t of = t->contrast->compared[0].statistic, place = tmi_term_cell(s->plan, t, 0, group);
    const tmi_group_sums *sums = &z->of[0].groups[place];
    const double *m = sums->value, rows = m[TMI_OF_ROWS] > 0 ? m[TMI_OF_ROWS] : NAN;
    const double x = m[TMI_OF_X] / rows, y = m[TMI_OF_Y] / rows;
    const double xx = m[TMI_OF_XX] / rows - x * x, yy = m[TMI_OF_YY] / rows - y * y, xy = m[TMI_OF_XY] / rows - x * y;
    tmi_contrast_term *own = &z->terms[0];
    *own = (tmi_contrast_term){.statistic = of,
                               .cell = place,
                               .sums = sums,
                               .form = tmi_form_moments_of(&s->plan->statistics[of])};
    z->correlation = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
    if (!(fabs(z->correlation) < 1)) z->correlation = NAN;
    if (isnan(z->correlation)) return;
    add_centred(own->turn, 0.5 / (rows * xx), TMI_OF_XX, TMI_OF_X, x, TMI_OF_X, x);
    add_centred(own->turn, 0.5 / (rows * yy), TMI_OF_YY, TMI_OF_Y, y, TMI_OF_Y, y);
    add_centred(own->own, 1 / (rows * sqrt(xx * yy)), TMI_OF_XY, TMI_OF_X, x, TMI_OF_Y, y);
    for (size_t k = 0; k < TMI_MOMENTS; k++) own->own[k] -= z->correlation * own->turn[k];
}

/* Sets `own` of a number from its factor and ratio. */
static void set_own(tmi_contrast_term *t)
{
    t->own[t->form.x] = t->factor;
    if (is_ratio(t)) t->own[t->form.y] -= t->factor * t->ratio;
}

/* A coefficient of a model: its linearised variable is that of a contrast of the cells' means, with the fitted means in the place
 * of their own. */
static void take_term(tmi_contrast_sums *z, size_t cell)
{
    const tmi_schedule *s = z->inference->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[z->statistic];
    tmi_model_fit *f = &z->fit;
    const size_t group = cell / f->terms, term = cell % f->terms, of = t->contrast->compared[0].statistic;
    const tmi_form_moments form = tmi_form_moments_of(&s->plan->statistics[of]);
    for (size_t c = 0; c < f->cells; c++) {
        const size_t place = tmi_term_cell(s->plan, t, c, cell);
        const tmi_group_sums *sums = &z->of[0].groups[place];
        z->terms[c] = (tmi_contrast_term){.statistic = of, .cell = place, .sums = sums, .form = form};
        f->rows[c] = sums->value[form.y];
        f->sums[c] = sums->value[form.x];
    }
    if (z->fitted != group + 1) tmi_model_fit_find(f);
    z->fitted = group + 1;
    for (size_t c = 0; c < f->cells; c++) {
        tmi_contrast_term *own = &z->terms[c];
        own->ratio = own->value = f->mean[c];
        own->factor = tmi_model_factor(f, term, c);
        own->weight = own->factor * f->rows[c];
        own->turn[TMI_OF_ROWS] = own->factor * f->slope[c] * tmi_model_turn(f, term, c);
        set_own(own);
    }
}

void tmi_contrast_take_group(tmi_contrast_sums *z, size_t group)
{
    const tmi_schedule *s = z->inference->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[z->statistic];
    const tmi_plan_contrast *c = t->contrast;
    if (t->model) {
        if (z->line.terms > 0) take_line_term(z, group);
        else take_term(z, group);
        return;
    }
    if (t->kind == TMI_CORRELATION) {
        take_correlation(z, group);
        return;
    }
    for (size_t k = 0; k < c->term_count; k++) {
        const tmi_statistic_sums *of = &z->of[c->terms[k].compared];
        tmi_contrast_term *term = &z->terms[k];
        *term = (tmi_contrast_term){.statistic = tmi_term_statistic(c, k),
                                    .cell = tmi_term_cell(s->plan, t, k, group),
                                    .weight = tmi_number_nearest(c->terms[k].weight)};
        const tmi_plan_statistic *own = &s->plan->statistics[term->statistic];
        term->form = tmi_form_moments_of(own);
        if (of->count == 0) { /* a count that the design fixes */
            const tmi_result place = {.statistic = term->statistic, .cell = term->cell};
            term->value = tmi_units_at_most(s, &place);
            continue;
        }
        term->sums = &of->groups[term->cell];
        term->ratio = tmi_ratio_at(own, term->sums);
        term->value = is_ratio(term) ? term->ratio : term->sums->value[term->form.x];
    }
    if (t->kind == TMI_CONTRAST_QUOTIENT) {
        const double below = z->terms[1].value;
        z->terms[0].weight = below > 0 ? 1 / below : 0;
        z->terms[1].weight = below > 0 ? -z->terms[0].value / (below * below) : 0;
    }
    for (size_t k = 0; k < c->term_count; k++) {
        tmi_contrast_term *term = &z->terms[k];
        const double B = term->sums && is_ratio(term) ? term->sums->value[term->form.y] : 1;
        term->factor = term->sums && B > 0 ? term->weight / B : 0;
        if (term->sums) set_own(term);
    }
}

/* ---- how numbers of the same rows vary together ---- */

bool tmi_contrast_is_related(const tmi_contrast_sums *z)
{
    const tmi_plan_contrast *c = z->inference->schedule->plan->statistics[z->statistic].contrast;
    const bool means = c->compared[0].kind != TMI_RATIO && c->compared[1].kind != TMI_RATIO;
    return means && (!c->compared[0].column || !c->compared[1].column ||
                     tmi_relation_of(c->compared[0].column, c->compared[1].column) != TMI_UNRELATED);
}

double tmi_contrast_product(const tmi_contrast_sums *z, const double *first, const double *second)
{
    const tmi_contrast_term *a = &z->terms[0], *b = &z->terms[1];
    const tmi_plan_contrast *c = z->inference->schedule->plan->statistics[z->statistic].contrast;
    const tmi_relation relation = tmi_relation_of(c->compared[0].column, c->compared[1].column);
    if (!tmi_contrast_is_related(z)) return NAN;
    if (!c->compared[0].column || !c->compared[1].column) /* 1 in all rows */
        return (c->compared[0].column ? first : second)[TMI_OF_X];
    const double x = first[TMI_OF_X], y = second[TMI_OF_X], n = first[TMI_OF_ROWS],
                 both = relation == TMI_EXCLUDED ? 0
                        : relation == TMI_WITHIN ? x
                                                 : y;
    return is_ratio(a) ? both - b->ratio * x - a->ratio * y + a->ratio * b->ratio * n : both;
}

void tmi_contrast_products(double of[TMI_MOMENTS], const tmi_contrast_sums *z)
{
    const tmi_contrast_term *a = &z->terms[0], *b = &z->terms[1];
    for (size_t m = 0; m < TMI_MOMENTS; m++) of[m] = 0;
    of[TMI_OF_XY] = 1;
    of[TMI_OF_X] = -b->ratio;
    of[TMI_OF_Y] = -a->ratio;
    of[TMI_OF_ROWS] = a->ratio * b->ratio;
}

#define LEAST_LEFT 0.05 /* of the sum of both variances: correlations above 0.95 are not believed */

/* Residuals of a line are not taken as smaller than this part of half the range: then they are noise. */
#define LEAST_RESIDUAL 0.02

/* As if residuals had the same variance for all rows: what that misses is part of the design effect. */
static double line_variance(const tmi_contrast_sums *z)
{
    const tmi_line_fit *f = &z->line;
    const size_t term = z->taken;
    const double least = LEAST_RESIDUAL * LEAST_RESIDUAL, own = f->inverse[term * f->terms + term];
    return f->determined ? tmi_mean_weight(z->inference->schedule) * fmax(f->residual, least) * own : NAN;
}

/* As of normal numbers; near 1 not less than a part of that of numbers that are not correlated. */
#define LEAST_FREE 0.1

static double correlation_variance(const tmi_contrast_sums *z)
{
    const double r = z->correlation;
    if (isnan(r)) return NAN; /* the noisy number of rows may be 0 */
    return tmi_mean_weight(z->inference->schedule) * pow(fmax(1 - r * r, LEAST_FREE), 2) / z->terms[0].sums->value[TMI_OF_ROWS];
}

double tmi_contrast_simple_variance(const tmi_contrast_sums *z)
{
    const tmi_schedule *s = z->inference->schedule;
    double sum = 0;
    if (z->line.terms > 0) return line_variance(z);
    if (s->plan->statistics[z->statistic].kind == TMI_CORRELATION) return correlation_variance(z);
    for (size_t k = 0; k < z->term_count; k++) {
        const tmi_contrast_term *t = &z->terms[k];
        if (t->factor != 0) sum += t->factor * t->factor * tmi_simple_variance(t->sums, s, t->statistic, t->ratio);
    }
    if (s->plan->statistics[z->statistic].contrast->across || !z->terms[0].sums || !z->terms[1].sums) return sum;
    const double product = tmi_contrast_product(z, z->terms[0].sums->value, z->terms[1].sums->value);
    if (isnan(product)) return sum;
    return fmax(sum + 2 * z->terms[0].factor * z->terms[1].factor * tmi_mean_weight(s) * product, LEAST_LEFT * sum);
}

static double noise_of(const tmi_contrast_term *t) { return tmi_contrast_leaves_out(t) ? 0 : tmi_sums_noise(t->sums, t->own); }

double tmi_contrast_rough_noise(const tmi_contrast_sums *z)
{
    double sum = 0;
    for (size_t k = 0; k < z->term_count; k++) sum += noise_of(&z->terms[k]);
    return sum;
}
