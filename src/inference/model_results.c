/* Estimates, sampling errors, intervals and tests of the coefficients of models (model_fit.h).
 *
 * Intervals. A value c of a coefficient is in the interval if the score there, with the other coefficients fitted again, is no
 * further from 0 than its error: sampling, and noise that depends on c because the rows that it is multiplied by are noisy. With
 * d = c - estimate, N0, N1 and N2 the variances and the covariance of the noise in the sum of f (x - r y) and in how that moves
 * with c, and q the reach of the whole error at d = 0, z that of the noise alone over its standard deviation,
 *
 *     (1 - z^2 N2) d^2 + 2 z^2 N1 d - q^2 <= 0,
 *
 * which is Fieller's set. It is bounded if z^2 N2 < 1; from TOO_NOISY on, and where the noisy rows have no positive definite sums
 * of squares, the coefficient is not determined. */
#include <math.h>

#include "base/memory.h"
#include "inference/contrast_reading.h"
#include "inference/error_term.h"
#include "inference/errors.h"
#include "inference/interval/interval.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/law/beta.h"
#include "num/number.h"

#define TOO_NOISY 0.95
#define TOO_NOISY_ROOT (TOO_NOISY / 4) /* of a correlation, which is divided by roots: they have half the noise of the squares */

static const char not_fitted[] = "not determined: with this noise the cells of the model leave no coefficients, or infinite ones";
static const char no_correlation[] = "not determined: with this noise the sums of squares and products leave no correlation";
static const char too_noisy[] = "not determined: the noise may be as large as the sum of squares that it is divided by";
static const char no_interval[] = "no interval can be computed from these noisy numbers";

/* ---- own squares ---- */

/* The stratum that a cell lies in; SIZE_MAX: no single one. */
static size_t stratum_of(const tmi_schedule *s, const tmi_contrast_term *t)
{
    return tmi_group_stratum(s, t->statistic, t->cell);
}

/* Adds what cells have in common that are in the same stratum, or in none: -a/n ((sum of e)^2 - sum of e^2), e = f (x - r y) of a
 * cell. `moments` are those of the cells, without weights. */
static void add_common(double *together, const tmi_contrast_sums *z, const double *moments, const double *weights, size_t stratum)
{
    const tmi_schedule *s = z->inference->schedule;
    const bool separate = s->workload.separate_strata;
    const tmi_contrast_term *one = NULL;
    double sum = 0, squares = 0;
    for (size_t c = 0; c < z->term_count; c++) {
        const tmi_contrast_term *t = &z->terms[c];
        const bool here = separate ? tmi_group_has_stratum(s, t->statistic, t->cell, stratum) : stratum_of(s, t) == stratum;
        if (t->factor == 0 || !here) continue;
        const double *m = moments + t->cell * TMI_MOMENTS, w = weights && stratum != SIZE_MAX ? weights[stratum] : 1,
                     e = t->factor * (m[t->form.x] - t->ratio * m[t->form.y]) / w;
        one = t;
        sum += e;
        squares += e * e;
    }
    if (!one) return;
    const tmi_stratum_part part = separate || weights ? tmi_stratum_part_of(s, stratum)
                                                      : tmi_group_part(s, one->statistic, one->cell);
    *together -= part.a / part.rows * (sum * sum - squares);
}

tamis_status tmi_model_together(tmi_contrast_reading *a, size_t results, tamis_error *err)
{
    const tmi_schedule *s = a->r->schedule;
    tmi_contrast_sums *z = &a->sums;
    const bool separate = s->workload.separate_strata, weighed = tmi_main_weighting(s) != TMI_UNWEIGHTED;
    const size_t of = s->plan->statistics[z->statistic].contrast->compared[0].statistic;
    double *moments = tmi_alloc(z->of[0].count * TMI_MOMENTS, sizeof *moments),
           *weights = tmi_alloc(s->sampling.strata + 1, sizeof *weights);
    tamis_status status = TAMIS_OK;
    if (!moments || !weights) TMI_TRY(tmi_fail_memory(err));
    if (!s->sampling.subtracts) goto done;
    for (size_t h = 0; weighed && h < s->sampling.strata; h++) weights[h] = tmi_number_nearest(s->sampling.weight[h]);
    for (size_t cell = 0; weighed && cell < z->of[0].count; cell++)
        for (size_t m = 0; m < TMI_MOMENTS; m++) moments[cell * TMI_MOMENTS + m] = z->of[0].groups[cell].value[m];
    for (size_t copy = 0; copy < (separate ? a->r->main.copies : 1); copy++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        if (!weighed) TMI_TRY(tmi_reconstruct_moments(moments, &a->r->main, copy, of, separate ? copy : 0, err));
        for (size_t k = 0; k < results; k++) {
            tmi_contrast_take_group(z, k);
            if (separate) {
                add_common(&a->together[k], z, moments, NULL, copy);
                continue;
            }
            for (size_t h = 0; h < s->sampling.strata; h++) add_common(&a->together[k], z, moments, weighed ? weights : NULL, h);
            if (!weighed) add_common(&a->together[k], z, moments, NULL, SIZE_MAX);
        }
    }

done:
    tmi_free(moments);
    tmi_free(weights);
    return status;
}

/* ---- degrees of freedom ---- */

/* Those of the design, less one for each coefficient but the intercept; below 1: they are not public, or nothing is left. */
static int64_t degrees_of(const tmi_contrast_sums *z)
{
    const int64_t df = z->terms[0].sums->df;
    return df < 0 ? -1 : df - (int64_t)z->coefficients + 1;
}

/* ---- one coefficient ---- */

/* The probability of a score as far from 0 as at 0, if the coefficient were 0. */
static tamis_status set_p(tmi_result *x, const tmi_moment_parts *parts, double sampling, int64_t df, tamis_error *err)
{
    const double factors[TMI_MOMENTS] = {[TMI_CONTRAST_NOISE] = 1, [TMI_TURN_NOISE] = x->estimate};
    size_t count;
    double beyond = 0;
    tmi_noise_part *list = tmi_contrast_noises(&count, parts, factors);
    if (!list) return tmi_fail_memory(err);
    const tmi_error_law law = {.se = sqrt(sampling), .df = df, .parts = list, .count = count};
    tamis_status status = TAMIS_OK;
    if (sampling > 0 || count > 0) status = tmi_error_beyond(&beyond, &law, fabs(x->estimate), err);
    x->p = fmin(fmax(2 * beyond, 0), 1);
    tmi_free(list);
    return status;
}

static void set_fieller(tmi_result *x, double reach, double z, double N1, double N2)
{
    const double a = 1 - z * z * N2, b = z * z * N1, root = sqrt(b * b + a * reach * reach);
    x->lower = x->estimate + (-b - root) / a;
    x->upper = x->estimate + (-b + root) / a;
}

/* The covariance of two sums of the same noises. */
static void noise_moments(double *N1, double *N2, const tmi_moment_parts *parts)
{
    *N1 = *N2 = 0;
    for (size_t i = 0; i < parts->count; i++) {
        const tmi_moment_part *p = &parts->list[i];
        const double v = tmi_noise_part_variance((tmi_noise_part){1, p->scale, parts->gaussian, p->count});
        *N1 += v * p->factor[TMI_CONTRAST_NOISE] * p->factor[TMI_TURN_NOISE];
        *N2 += v * p->factor[TMI_TURN_NOISE] * p->factor[TMI_TURN_NOISE];
    }
}

tamis_status tmi_read_coefficient(tmi_result *x, tmi_contrast_reading *a, size_t term, tamis_error *err)
{
    static const double own[TMI_MOMENTS] = {[TMI_CONTRAST_NOISE] = 1};
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[x->statistic];
    const double confidence = tmi_number_nearest(s->confidence);
    tmi_moment_parts parts = {0};
    double reach = 0, alone = 0, noise, N1, N2;
    tamis_status status;
    tmi_contrast_take_group(&a->sums, x->cell);
    x->least = s->model ? -INFINITY : -1;
    x->most = s->model ? INFINITY : 1;
    if (!tmi_contrast_is_fitted(&a->sums)) {
        x->reason = s->model ? not_fitted : no_correlation;
        return TAMIS_OK;
    }
    const double beta = tmi_contrast_coefficient(&a->sums, term);
    TMI_TRY(tmi_contrast_noise_make(&parts, &a->sums, err));
    TMI_TRY(tmi_contrast_reach(&alone, &parts, own, 0, TMI_NORMAL, confidence, &noise, err));
    noise_moments(&N1, &N2, &parts);
    const double z = noise > 0 ? alone / sqrt(noise) : 0;
    if (z * z * N2 > (s->model ? TOO_NOISY : TOO_NOISY_ROOT)) {
        x->reason = too_noisy;
        goto done;
    }
    x->estimate = beta;
    x->noise_sd = sqrt(noise);
    const double sampling = tmi_contrast_sampling(x, a);
    if (!isfinite(sampling)) {
        x->reason = tmi_why_no_error(a->r->schedule, s->contrast->compared[0].statistic);
        goto done;
    }
    const int64_t df = degrees_of(&a->sums);
    const bool measured = a->r->errors && tmi_variance_source_for(a->r->schedule, x->statistic) != TMI_OWN_SQUARES;
    const int64_t law = measured || df < 1 || a->sums.terms[0].sums->normal ? TMI_NORMAL : df;
    x->sampling_se = sqrt(sampling);
    x->se = sqrt(sampling + noise);
    x->df = df >= 1 && sampling > 0 ? df : -1;
    TMI_TRY(tmi_contrast_reach(&reach, &parts, own, sampling, law, confidence, NULL, err));
    set_fieller(x, reach, z, N1, N2);
    x->lower = fmax(x->lower, x->least);
    x->upper = fmin(x->upper, x->most);
    if (s->model) TMI_TRY(set_p(x, &parts, sampling, law, err));

done:
    tmi_moment_parts_clear(&parts);
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) { /* the noise fell where no interval is: no failure of the release */
        x->lower = x->upper = x->p = TMI_NULL;
        x->reason = no_interval;
        status = TAMIS_OK;
    }
    return status;
}

/* ---- all coefficients of a category ---- */

/* That of the noise of two coefficients of a model with numbers, as if pairs of numbers and cells were apart. */
static double noise_in_line(const tmi_contrast_sums *z, size_t j, size_t k)
{
    const tmi_line_fit *f = &z->line;
    double sum = 0;
    for (size_t c = 0; c < f->cells; c++) {
        double first[TMI_MAX_PAIRS][TMI_MOMENTS], second[TMI_MAX_PAIRS][TMI_MOMENTS], turn[TMI_MAX_PAIRS][TMI_MOMENTS];
        tmi_line_fit_variable(first, turn, f, j, c);
        tmi_line_fit_variable(second, turn, f, k, c);
        for (size_t pair = 0; pair < f->pairs; pair++) {
            const tmi_group_sums *sums = z->terms[pair * f->cells + c].sums;
            double both[TMI_MOMENTS], apart[TMI_MOMENTS];
            for (size_t m = 0; m < TMI_MOMENTS; m++) {
                both[m] = first[pair][m] + second[pair][m];
                apart[m] = first[pair][m] - second[pair][m];
            }
            sum += (tmi_sums_noise(sums, both) - tmi_sums_noise(sums, apart)) / 4;
        }
    }
    return sum;
}

/* How the errors of two coefficients vary together, from the cells' own variances of x - r y, of sampling or noise, as if cells
 * were apart. */
static double covariance(const tmi_contrast_reading *a, size_t j, size_t k, bool of_noise)
{
    const tmi_contrast_sums *z = &a->sums;
    const tmi_schedule *s = a->r->schedule;
    if (z->line.terms > 0) return of_noise ? noise_in_line(z, j, k) : z->line.inverse[j * z->line.terms + k];
    const bool squares = tmi_variance_source_for(s, z->statistic) == TMI_OWN_SQUARES;
    double sum = 0;
    for (size_t c = 0; c < z->term_count; c++) {
        const tmi_contrast_term *t = &z->terms[c];
        double factors[TMI_MOMENTS] = {0};
        factors[t->form.x] = 1;
        factors[t->form.y] -= t->ratio;
        const double v = of_noise  ? tmi_sums_noise(t->sums, factors)
                         : squares ? tmi_quadratic_at(t->sums->form, t->ratio)
                                   : tmi_simple_variance(t->sums, s, t->statistic, t->ratio);
        sum += tmi_model_factor(&z->fit, j, c) * tmi_model_factor(&z->fit, k, c) * v;
    }
    return sum;
}

/* The same scaled to the published variances; NaN: it is not known. */
static double scaled(const tmi_contrast_reading *a, size_t j, size_t k, double vj, double vk, bool of_noise)
{
    const double own = covariance(a, j, j, of_noise), other = covariance(a, k, k, of_noise);
    if (vj == 0 || vk == 0) return 0;
    return own > 0 && other > 0 ? covariance(a, j, k, of_noise) * sqrt(vj / own) * sqrt(vk / other) : TMI_NULL;
}

#define MOST_JOINT 40 /* coefficients of one test */

/* Gauss-Jordan in place of M x = b, for a positive definite M; the square b' M^-1 b, NaN if it is not. */
static double square_of(double M[MOST_JOINT][MOST_JOINT], double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) { /* L D L', row by row */
        double d = M[i][i], y = b[i];
        for (size_t k = 0; k < i; k++) {
            d -= M[i][k] * M[i][k] * M[k][k];
            y -= M[i][k] * b[k];
        }
        if (!(d > 1e-12 * M[i][i])) return TMI_NULL;
        M[i][i] = d;
        b[i] = y;
        sum += y * y / d;
        for (size_t j = i + 1; j < n; j++) {
            for (size_t k = 0; k < i; k++) M[j][i] -= M[j][k] * M[i][k] * M[k][k];
            M[j][i] /= d;
        }
    }
    return sum;
}

/* The test that all coefficients [first, first + count) are 0. */
static void test_jointly(tmi_result *terms, const tmi_contrast_reading *a, size_t first, size_t count)
{
    double M[MOST_JOINT][MOST_JOINT], b[MOST_JOINT];
    for (size_t i = 0; i < count; i++) {
        const tmi_result *x = &terms[first + i];
        if (isnan(x->se)) return;
        b[i] = x->estimate;
        for (size_t j = 0; j <= i; j++) {
            const tmi_result *y = &terms[first + j];
            M[i][j] = scaled(a, first + i, first + j, x->sampling_se * x->sampling_se, y->sampling_se * y->sampling_se, false) +
                      scaled(a, first + i, first + j, x->noise_sd * x->noise_sd, y->noise_sd * y->noise_sd, true);
        }
    }
    const double square = square_of(M, b, count), q = (double)count,
                 df = terms[first].df >= 1 ? fmax((double)(terms[first].df - (int64_t)count + 1), 1) : 1e6;
    if (isnan(square)) return;
    const double p = tmi_beta_share(df / (df + square), df / 2, q / 2);
    for (size_t i = 0; i < count; i++) terms[first + i].joint_p = p;
}

static void test_categories(tmi_result *terms, const tmi_contrast_reading *a, const tmi_plan_model *m)
{
    for (size_t j = 1, next; j < m->term_count; j = next) {
        next = j + 1;
        if (m->terms[j].predictor[1] != SIZE_MAX) return;
        while (next < m->term_count && m->terms[next].predictor[0] == m->terms[j].predictor[0] &&
               m->terms[next].predictor[1] == SIZE_MAX)
            next++;
        if (next - j > 1 && next - j <= MOST_JOINT) test_jointly(terms, a, j, next - j);
    }
}

/* ---- the model ---- */

/* 1 - RSS/TSS, where squares of what is explained were measured; none where noise takes it out of its range. */
static double explained(const tmi_contrast_sums *z)
{
    double rows = 0, sum = 0, squares = 0, fitted = 0;
    for (size_t c = 0; c < z->term_count; c++) {
        const tmi_contrast_term *t = &z->terms[c];
        const double *v = t->sums->value;
        if (!isfinite(t->sums->noise->covariance[TMI_OF_XX][TMI_OF_XX])) return TMI_NULL;
        rows += v[TMI_OF_ROWS];
        sum += v[TMI_OF_X];
        squares += v[TMI_OF_XX];
        fitted += t->ratio * (2 * v[TMI_OF_X] - t->ratio * v[TMI_OF_ROWS]);
    }
    const double all = rows > 0 ? squares - sum * sum / rows : 0;
    const double share = all > 0 ? 1 - (squares - fitted) / all : TMI_NULL;
    return share >= 0 && share <= 1 ? share : TMI_NULL;
}

static double explained_by_line(const tmi_line_fit *f)
{
    const double share = f->total > 0 ? 1 - f->residual / f->total : TMI_NULL;
    return share >= 0 && share <= 1 ? share : TMI_NULL;
}

tamis_status tmi_read_model(tmi_result *terms, tmi_contrast_reading *a, tamis_error *err)
{
    const tmi_plan_model *m = a->r->schedule->plan->statistics[terms->statistic].model;
    tamis_status status = TAMIS_OK;
    for (size_t j = 0; j < m->term_count; j++) TMI_TRY(tmi_read_coefficient(&terms[j], a, j, err));
    if (!tmi_contrast_is_fitted(&a->sums)) return TAMIS_OK;
    test_categories(terms, a, m);
    bool all = m->family == TMI_LINEAR;
    for (size_t j = 0; j < m->term_count; j++) all = all && !isnan(terms[j].estimate);
    if (all) terms->r2 = a->sums.line.terms > 0 ? explained_by_line(&a->sums.line) : explained(&a->sums);

done:
    return status;
}
