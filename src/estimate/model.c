#include "estimate/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/replicates.h"
#include "num/law/beta.h"

/* ---- correlation ---- */

tamis_status tmi_estimate_correlation(double *estimate, tmi_estimate_work *w, tamis_error *err)
{
    const double *weights = tmi_sample_variance_weights(w->variance);
    double size = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        size += weights[row];
        x += weights[row] * w->values[row];
        y += weights[row] * w->bases[row];
    }
    if (!(size > 0)) return tmi_fail(err, TAMIS_INVALID, "weights: their sum is not positive");
    x /= size;
    y /= size;
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        const double a = w->values[row] - x, b = w->bases[row] - y;
        xx += weights[row] * a * a;
        xy += weights[row] * a * b;
        yy += weights[row] * b * b;
    }
    if (!(xx > 0) || !(yy > 0)) return tmi_fail(err, TAMIS_INVALID, "a column has one value alone");
    const double r = xy / sqrt(xx) / sqrt(yy);
    for (size_t row = 0; row < w->sample->count; row++) {
        const double a = w->values[row] - x, b = w->bases[row] - y;
        w->linear[row] = w->domain[row] ? a * b / sqrt(xx) / sqrt(yy) - r / 2 * (a * a / xx + b * b / yy) : 0;
    }
    *estimate = r;
    return TAMIS_OK;
}

/* ---- a fit ---- */

#define ALIASED 1e-10 /* what is left of a column's square beside those before it: then it is a combination of them */
#define MOST_STEPS 60 /* of Newton's method, which needs some ten where there is an answer */
#define CLOSE 1e-13

static const char aliased[] = "not determined: in these rows the term does not vary, or is a combination of those before it";
static const char no_answer[] = "not determined: some combination of the terms tells without exception which value a row has";
static const char few_rows[] = "not determined: no more rows with all values than coefficients";
static const char one_value[] = "not determined: all rows have the same value of what the model explains";

typedef struct fit {
    tmi_estimate_work *w;
    const tmi_plan_model *model;
    const double *weights;
    const double *numbers[TMI_MAX_PREDICTORS]; /* of each predictor one of both is NULL */
    const int32_t *codes[TMI_MAX_PREDICTORS];
    size_t terms;
    double *means, *scales; /* of the terms; those of the intercept are 0 and 1 */
    bool *kept;
    size_t *place, count; /* the terms that are kept */
    double *x;            /* those of one row, centred and scaled */
    double *b;            /* coefficients of these */
    double *gram;         /* count x count, then its Cholesky factor, lower */
    double *score, *step;
    double *residuals;  /* y - mu, one per row of the sample */
    double *replicates; /* the coefficients that are kept, of each set of replicate weights; NULL: there are none */
} fit;

static void fit_clear(fit *f)
{
    tmi_free(f->means);
    tmi_free(f->scales);
    tmi_free(f->kept);
    tmi_free(f->place);
    tmi_free(f->x);
    tmi_free(f->b);
    tmi_free(f->gram);
    tmi_free(f->score);
    tmi_free(f->step);
    tmi_free(f->residuals);
    tmi_free(f->replicates);
}

static tamis_status fit_make(fit *f, tmi_estimate_work *w, const tmi_plan_model *m, tamis_error *err)
{
    const size_t n = m->term_count;
    *f = (fit){.w = w, .model = m, .weights = tmi_sample_variance_weights(w->variance), .terms = n};
    for (size_t k = 0; k < m->on_count; k++) {
        if (m->on[k]->is_category) f->codes[k] = tmi_sample_codes(w->sample, m->on[k]);
        else f->numbers[k] = tmi_sample_numbers(w->sample, m->on[k]);
    }
    f->means = tmi_alloc(n, sizeof *f->means);
    f->scales = tmi_alloc(n, sizeof *f->scales);
    f->kept = tmi_alloc(n, sizeof *f->kept);
    f->place = tmi_alloc(n, sizeof *f->place);
    f->x = tmi_alloc(n, sizeof *f->x);
    f->b = tmi_alloc(n, sizeof *f->b);
    f->gram = tmi_alloc(n * n, sizeof *f->gram);
    f->score = tmi_alloc(n, sizeof *f->score);
    f->step = tmi_alloc(n, sizeof *f->step);
    f->residuals = tmi_alloc(w->sample->count, sizeof *f->residuals);
    const bool fine = f->means && f->scales && f->kept && f->place && f->x && f->b && f->gram && f->score && f->step &&
                      f->residuals;
    return fine ? TAMIS_OK : tmi_fail_memory(err);
}

/* The terms of a row as they are. */
static void take_row(fit *f, size_t row)
{
    size_t codes[TMI_MAX_PREDICTORS] = {0};
    double numbers[TMI_MAX_PREDICTORS] = {0};
    for (size_t k = 0; k < f->model->on_count; k++) {
        if (f->codes[k]) codes[k] = (size_t)f->codes[k][row];
        else numbers[k] = f->numbers[k][row];
    }
    for (size_t j = 0; j < f->terms; j++) f->x[j] = tmi_model_term_value(f->model, j, codes, numbers);
}

/* The same, centred and scaled, of the terms that are kept, one after the other. */
static void take_kept(fit *f, size_t row)
{
    take_row(f, row);
    for (size_t k = 0; k < f->count; k++) {
        const size_t j = f->place[k];
        f->x[k] = (f->x[j] - f->means[j]) / f->scales[j]; /* k <= j: what is overwritten was used */
    }
}

/* Means, and roots of mean squares about them. */
static void set_scales(fit *f)
{
    const tmi_estimate_work *w = f->w;
    double size = 0;
    memset(f->means, 0, f->terms * sizeof *f->means);
    memset(f->scales, 0, f->terms * sizeof *f->scales);
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        take_row(f, row);
        size += f->weights[row];
        for (size_t j = 1; j < f->terms; j++) f->means[j] += f->weights[row] * f->x[j];
    }
    for (size_t j = 1; j < f->terms; j++) f->means[j] /= size;
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        take_row(f, row);
        for (size_t j = 1; j < f->terms; j++) f->scales[j] += f->weights[row] * pow(f->x[j] - f->means[j], 2);
    }
    for (size_t j = 1; j < f->terms; j++) f->scales[j] = sqrt(f->scales[j] / size);
    f->scales[0] = 1;
}

/* The Gram matrix of the kept terms, times a weight of each row; lower half. */
static void add_gram(fit *f, double weight)
{
    for (size_t a = 0; a < f->count; a++)
        for (size_t b = 0; b <= a; b++) f->gram[a * f->count + b] += weight * f->x[a] * f->x[b];
}

/* Which terms are no combinations of those before them: those of which something is left when these are eliminated. */
static void find_kept(fit *f)
{
    const tmi_estimate_work *w = f->w;
    size_t kept = 0;
    f->count = 0;
    for (size_t j = 0; j < f->terms; j++) {
        f->kept[j] = f->scales[j] > 1e-12 * fabs(f->means[j]);
        if (f->kept[j]) f->place[f->count++] = j;
    }
    const size_t n = f->count;
    memset(f->gram, 0, n * n * sizeof *f->gram);
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        take_kept(f, row);
        add_gram(f, f->weights[row]);
    }
    for (size_t k = 0; k < n; k++) f->step[k] = f->gram[k * n + k];
    for (size_t k = 0; k < n; k++) {
        const double left = f->gram[k * n + k];
        f->kept[f->place[k]] = left > ALIASED * f->step[k];
        for (size_t i = k + 1; f->kept[f->place[k]] && i < n; i++)
            for (size_t j = k + 1; j <= i; j++) f->gram[i * n + j] -= f->gram[i * n + k] * f->gram[j * n + k] / left;
    }
    for (size_t k = 0; k < n; k++)
        if (f->kept[f->place[k]]) f->place[kept++] = f->place[k];
    f->count = kept;
}

/* The Cholesky factor of a positive definite matrix, in its lower half; false: it is none. */
static bool factorise(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

static void solve(double *x, const double *factor, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= factor[i * n + k] * x[k];
        x[i] /= factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) x[i] -= factor[k * n + i] * x[k];
        x[i] /= factor[i * n + i];
    }
}

/* What the model expects of a row, and its derivative. */
static double expected(const fit *f, double *slope)
{
    double linear = 0;
    for (size_t k = 0; k < f->count; k++) linear += f->x[k] * f->b[k];
    switch (f->model->family) {
    case TMI_LOGISTIC: {
        const double share = linear >= 0 ? 1 / (1 + exp(-linear)) : exp(linear) / (1 + exp(linear));
        *slope = share * (1 - share);
        return share;
    }
    case TMI_POISSON: *slope = exp(linear); return *slope;
    default: *slope = 1; return linear;
    }
}

/* Score, Gram matrix and residuals at the coefficients. */
static void set_score(fit *f)
{
    const tmi_estimate_work *w = f->w;
    memset(f->gram, 0, f->count * f->count * sizeof *f->gram);
    memset(f->score, 0, f->count * sizeof *f->score);
    for (size_t row = 0; row < w->sample->count; row++) {
        double slope;
        f->residuals[row] = 0;
        if (!w->domain[row]) continue;
        take_kept(f, row);
        f->residuals[row] = w->values[row] - expected(f, &slope);
        for (size_t k = 0; k < f->count; k++) f->score[k] += f->weights[row] * f->x[k] * f->residuals[row];
        add_gram(f, f->weights[row] * slope);
    }
}

/* Newton's method. No coefficient moves by more than LONGEST at once: with canonical links the score has one root, and a step
 * that is cut goes towards it. NULL, or why there is no answer. */
#define LONGEST 4.0

static const char *find_root(fit *f)
{
    const bool linear = f->model->family == TMI_LINEAR;
    for (int i = 0; i < MOST_STEPS; i++) {
        double longest = 0, size = 1;
        set_score(f);
        if (!factorise(f->gram, f->count)) return no_answer;
        memcpy(f->step, f->score, f->count * sizeof *f->step);
        solve(f->step, f->gram, f->count);
        for (size_t k = 0; k < f->count; k++) {
            longest = fmax(longest, fabs(f->step[k]));
            size = fmax(size, fabs(f->b[k]));
        }
        if (!isfinite(longest)) return no_answer;
        const double part = linear || longest <= LONGEST ? 1 : LONGEST / longest;
        for (size_t k = 0; k < f->count; k++) f->b[k] += part * f->step[k];
        if (longest <= CLOSE * size) return NULL; /* residuals and factor are those of this point, to the last digits */
    }
    return no_answer;
}

/* The first guess: the mean of all rows. NULL, or why there is no model. */
static const char *begin(fit *f)
{
    const tmi_estimate_work *w = f->w;
    double size = 0, sum = 0, least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        size += f->weights[row];
        sum += f->weights[row] * w->values[row];
        least = fmin(least, w->values[row]);
        most = fmax(most, w->values[row]);
    }
    const double mean = sum / size;
    if (!(size > 0) || least == most) return one_value;
    memset(f->b, 0, f->terms * sizeof *f->b);
    f->b[0] = mean;
    if (f->model->family == TMI_LOGISTIC) f->b[0] = log(mean / (1 - mean));
    if (f->model->family == TMI_POISSON) f->b[0] = log(mean);
    if (f->model->family == TMI_POISSON && least < 0) return "not determined: a row has a negative number";
    return isfinite(f->b[0]) ? NULL : one_value;
}

/* ---- its errors ---- */

/* How a coefficient follows from those that were solved for: of the intercept also by the means that were taken off. */
static void take_direction(double *g, const fit *f, size_t k)
{
    memset(g, 0, f->count * sizeof *g);
    g[k] = 1 / f->scales[f->place[k]];
    for (size_t j = 1; k == 0 && j < f->count; j++) g[j] = -f->means[f->place[j]] / f->scales[f->place[j]];
}

/* Of one coefficient, or of the sum of two: by the coefficients of the replicates. */
static tamis_status variance_by_replicates(double *variance, fit *f, double estimate, size_t k, size_t other, tamis_error *err)
{
    const tmi_sample_variance *v = f->w->variance;
    double *sums = tmi_alloc(v->replicate_count, sizeof *sums);
    if (!sums) return tmi_fail_memory(err);
    for (size_t r = 0; r < v->replicate_count; r++) {
        const double *own = f->replicates + r * f->count;
        sums[r] = own[k] + (other == SIZE_MAX ? 0 : own[other]);
    }
    *variance = tmi_variance_of_replicates(v, estimate, sums);
    tmi_free(sums);
    return TAMIS_OK;
}

/* The variance of g b. */
static tamis_status variance_of(double *variance, const char **reason, fit *f, const double *direction, tamis_error *err)
{
    tmi_estimate_work *w = f->w;
    double *g = f->step;
    memcpy(g, direction, f->count * sizeof *g);
    solve(g, f->gram, f->count);
    for (size_t row = 0; row < w->sample->count; row++) {
        double sum = 0;
        w->linear[row] = 0;
        if (!w->domain[row]) continue;
        take_kept(f, row);
        for (size_t k = 0; k < f->count; k++) sum += g[k] * f->x[k];
        w->linear[row] = sum * f->residuals[row];
    }
    return tmi_sample_variance_of(variance, reason, w->variance, w->linear, w->domain, err);
}

/* P(|T| > t) of Student's law, and P(F > f). */
static double beyond_t(double t, int64_t df) { return tmi_beta_share((double)df / ((double)df + t * t), (double)df / 2, 0.5); }

static double beyond_f(double x, size_t above, int64_t below)
{
    return tmi_beta_share((double)below / ((double)below + (double)above * x), (double)below / 2, (double)above / 2);
}

static tamis_status fill_term(tmi_result *x, fit *f, const tmi_plan_statistic *s, size_t k, int64_t df, double *direction,
                              tamis_error *err)
{
    double variance, t;
    tamis_status status;
    take_direction(direction, f, k);
    x->estimate = 0;
    for (size_t j = 0; j < f->count; j++) x->estimate += direction[j] * f->b[j];
    if (f->replicates) TMI_TRY(variance_by_replicates(&variance, f, x->estimate, k, SIZE_MAX, err));
    else TMI_TRY(variance_of(&variance, &x->reason, f, direction, err));
    x->se = x->sampling_se = sqrt(variance * tmi_sample_relative_deff(f->w->variance, s));
    x->df = df;
    if (isnan(x->se)) goto done;
    if (df < 1) {
        x->reason = "no degrees of freedom: as many coefficients and strata as first-stage units";
        goto done;
    }
    TMI_TRY(tmi_student_of(&t, f->w, s->confidence, df, err));
    x->lower = x->estimate - t * x->se;
    x->upper = x->estimate + t * x->se;
    if (x->se > 0) x->p = beyond_t(x->estimate / x->se, df);
    tmi_result_bound(x);

done:
    return status;
}

/* All terms of a category at once: Wald's test, b' V^-1 b / q. The covariance of two of them is half of what the variance of
 * their sum has more than both. */
static tamis_status test_category(tmi_result *terms, fit *f, const tmi_plan_statistic *s, size_t first, size_t q, int64_t df,
                                  tamis_error *err)
{
    const double deff = tmi_sample_relative_deff(f->w->variance, s);
    double *v = tmi_alloc(q * q, sizeof *v), *b = tmi_alloc(q, sizeof *b), *one = tmi_alloc(f->count, sizeof *one),
           *both = tmi_alloc(f->count, sizeof *both), wald = 0;
    const char *reason = NULL;
    tamis_status status = TAMIS_OK;
    if (!v || !b || !one || !both) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < q; i++) {
        const tmi_result *own = &terms[f->place[first + i]];
        b[i] = own->estimate;
        v[i * q + i] = own->sampling_se * own->sampling_se;
    }
    for (size_t i = 0; i < q && !reason; i++)
        for (size_t j = 0; j < i && !reason; j++) {
            double sum;
            take_direction(one, f, first + i);
            take_direction(both, f, first + j);
            for (size_t k = 0; k < f->count; k++) both[k] += one[k];
            if (f->replicates) TMI_TRY(variance_by_replicates(&sum, f, b[i] + b[j], first + i, first + j, err));
            else TMI_TRY(variance_of(&sum, &reason, f, both, err));
            v[i * q + j] = (sum * deff - v[i * q + i] - v[j * q + j]) / 2;
        }
    if (reason) goto done;
    memcpy(one, b, q * sizeof *one);
    if (!factorise(v, q)) goto done; /* fewer first-stage units than terms */
    solve(one, v, q);
    for (size_t i = 0; i < q; i++) wald += b[i] * one[i];
    const double p = beyond_f(wald / (double)q, q, df);
    for (size_t i = 0; i < q; i++) terms[f->place[first + i]].joint_p = p;

done:
    tmi_free(v);
    tmi_free(b);
    tmi_free(one);
    tmi_free(both);
    return status;
}

/* Categories whose terms have standard errors: one after the other. */
static tamis_status test_categories(tmi_result *terms, fit *f, const tmi_plan_statistic *s, int64_t df, tamis_error *err)
{
    const tmi_model_term *list = f->model->terms;
    tamis_status status = TAMIS_OK;
    for (size_t k = 1, next; k < f->count && df >= 1; k = next) {
        const tmi_model_term *t = &list[f->place[k]];
        bool known = t->predictor[1] == SIZE_MAX && t->code[0] != SIZE_MAX;
        for (next = k; next < f->count && list[f->place[next]].predictor[0] == t->predictor[0] &&
                       list[f->place[next]].predictor[1] == t->predictor[1];
             next++)
            known = known && terms[f->place[next]].sampling_se > 0;
        if (known && next - k > 1) TMI_TRY(test_category(terms, f, s, k, next - k, df, err));
    }

done:
    return status;
}

/* The share of the variance that a linear model explains. */
static double explained(const fit *f)
{
    const tmi_estimate_work *w = f->w;
    double size = 0, sum = 0, all = 0, left = 0;
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        size += f->weights[row];
        sum += f->weights[row] * w->values[row];
    }
    for (size_t row = 0; row < w->sample->count; row++) {
        if (!w->domain[row]) continue;
        all += f->weights[row] * pow(w->values[row] - sum / size, 2);
        left += f->weights[row] * f->residuals[row] * f->residuals[row];
    }
    return 1 - left / all;
}

/* ---- a model ---- */

void tmi_model_missing(tmi_estimate_work *w, const tmi_plan_model *m)
{
    for (size_t k = 0; k < m->on_count; k++) {
        const bool category = m->on[k]->is_category;
        const double *numbers = category ? NULL : tmi_sample_numbers(w->sample, m->on[k]);
        const int32_t *codes = category ? tmi_sample_codes(w->sample, m->on[k]) : NULL;
        for (size_t row = 0; row < w->sample->count; row++)
            if (codes ? codes[row] < 0 : isnan(numbers[row])) w->missing[row] = true;
    }
}

/* Fits the model with the weights at hand; why it cannot be. */
static tamis_status solve_model(const char **reason, fit *f, tmi_estimate_work *w, const tmi_plan_model *m, tamis_error *err)
{
    const tamis_status status = fit_make(f, w, m, err);
    if (status != TAMIS_OK) return status;
    *reason = begin(f);
    if (*reason) return TAMIS_OK;
    set_scales(f);
    find_kept(f);
    *reason = find_root(f);
    return TAMIS_OK;
}

/* The coefficients with each set of replicate weights. */
static tamis_status make_replicates(const char **reason, fit *f, double *direction, tamis_error *err)
{
    tmi_sample_variance *v = f->w->variance;
    tamis_status status = TAMIS_OK;
    fit own = {0};
    f->replicates = tmi_alloc(v->replicate_count, f->count * sizeof *f->replicates);
    if (!f->replicates) return tmi_fail_memory(err);
    for (size_t r = 0; r < v->replicate_count && !*reason; r++) {
        v->replicate = v->sample->replicates[r];
        TMI_TRY(solve_model(reason, &own, f->w, f->model, err));
        if (!*reason && (own.count != f->count || memcmp(own.place, f->place, f->count * sizeof *f->place) != 0))
            *reason = "not determined with one of the sets of replicate weights";
        for (size_t k = 0; k < f->count && !*reason; k++) {
            double sum = 0;
            take_direction(direction, &own, k);
            for (size_t j = 0; j < own.count; j++) sum += direction[j] * own.b[j];
            f->replicates[r * f->count + k] = sum;
        }
        fit_clear(&own);
        own = (fit){0};
    }

done:
    v->replicate = NULL;
    fit_clear(&own);
    return status;
}

tamis_status tmi_estimate_model(tmi_result *terms, tmi_estimate_work *w, const tmi_plan_statistic *s, tamis_error *err)
{
    fit f = {0};
    int64_t df;
    double *direction = NULL;
    const char *reason = w->values_there <= s->model->term_count ? few_rows : NULL;
    tamis_status status = TAMIS_OK;
    if (!reason) TMI_TRY(solve_model(&reason, &f, w, s->model, err));
    direction = tmi_alloc(f.terms, sizeof *direction);
    if (!direction) TMI_TRY(tmi_fail_memory(err));
    if (!reason && w->variance->replicate_count > 0) TMI_TRY(make_replicates(&reason, &f, direction, err));
    for (size_t j = 0; j < s->model->term_count; j++) {
        terms[j].noise_sd = 0;
        if (w->variance->note) terms[j].notes[terms[j].note_count++] = w->variance->note;
        if (reason || !f.kept[j]) terms[j].reason = reason ? reason : aliased;
    }
    if (reason) goto done;
    TMI_TRY(tmi_sample_degrees(&df, w->variance, w->domain, err));
    df += 1 - (int64_t)f.count;
    for (size_t k = 0; k < f.count; k++) TMI_TRY(fill_term(&terms[f.place[k]], &f, s, k, df, direction, err));
    TMI_TRY(test_categories(terms, &f, s, df, err));
    if (s->model->family == TMI_LINEAR) terms[0].r2 = explained(&f);

done:
    tmi_free(direction);
    fit_clear(&f);
    return status;
}
