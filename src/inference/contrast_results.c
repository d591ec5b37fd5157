/* Estimates, sampling errors and intervals of contrasts (contrast.h). */
#include <math.h>

#include "base/hypotenuse.h"
#include "base/memory.h"
#include "inference/contrast_reading.h"
#include "inference/error_term.h"
#include "inference/errors.h"
#include "inference/interval/interval.h"
#include "inference/range.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"

static const char from_limit[] = "the sampling variance is small relative to its noise: an upper limit is used";
static const char from_measured[] = "the standard error is measured to about ± 50 to 100 %: the interval allows for that";
static const char from_others[] =
    "the standard error is mostly noise: the interval rests on the design effects of the other numbers of this kind";
static const char from_sum[] =
    "the sampling error is at most the sum of those of its numbers: how they vary together is not measured";
static const char whole_range[] = "a denominator may be 0 within its error: the interval is the whole range";
static const char no_interval[] = "no interval can be computed from these noisy numbers";
static const char no_quotient[] = "the number that it is divided by may be 0 within its error";

#define MUCH_NOISE 0.5 /* in a standard error, relative to it: then the result says so */

static const tmi_result *number_of(const tmi_contrast_reading *a, const tmi_contrast_term *t)
{
    return &a->first[t->statistic][t->cell];
}

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* ---- own squares ---- */

/* Moments of the two statistics' groups and, where products were measured, of the contrast's own; of a stratum, or of the whole
 * sample. */
typedef struct moments_of {
    double *of[3];
} moments_of;

static tamis_status moments_make(moments_of *m, const tmi_contrast_reading *a, size_t groups, tamis_error *err)
{
    const size_t counts[3] = {a->sums.of[0].count, a->sums.of[1].count, a->form_noise ? groups : 0};
    *m = (moments_of){{NULL}};
    for (size_t k = 0; k < 3; k++)
        if (counts[k] > 0 && !(m->of[k] = tmi_alloc(counts[k], TMI_MOMENTS * sizeof *m->of[k]))) return tmi_fail_memory(err);
    return TAMIS_OK;
}

static tamis_status moments_read(moments_of *m, const tmi_contrast_reading *a, size_t copy, size_t stratum, tamis_error *err)
{
    const tmi_plan_contrast *c = a->r->schedule->plan->statistics[a->sums.statistic].contrast;
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < 3 && status == TAMIS_OK; k++)
        if (m->of[k])
            status = tmi_reconstruct_moments(m->of[k], &a->r->main, copy, k < 2 ? c->compared[k].statistic : a->sums.statistic,
                                             stratum, err);
    return status;
}

static void moments_clear(moments_of *m)
{
    for (size_t k = 0; k < 3; k++) tmi_free(m->of[k]);
}

/* The sum of products of the two linearised variables of a group; NaN: it is not known. */
static double product_of(const tmi_contrast_reading *a, const moments_of *m, size_t group)
{
    const tmi_contrast_sums *z = &a->sums;
    double of[TMI_MOMENTS], sum = 0;
    if (!m->of[2])
        return tmi_contrast_product(z, m->of[0] + z->terms[0].cell * TMI_MOMENTS, m->of[1] + z->terms[1].cell * TMI_MOMENTS);
    tmi_contrast_products(of, z);
    for (size_t k = 0; k < TMI_MOMENTS; k++) sum += of[k] * m->of[2][group * TMI_MOMENTS + k];
    return sum;
}

/* Adds one stratum, or the whole sample. Moments are those of the tables, where a row of weight 1 is 1/`scale`. */
static tamis_status add_layer(tmi_contrast_reading *a, size_t group, const moments_of *moments, size_t stratum, double scale,
                              tmi_stratum_part part, bool subtracts, tamis_error *err)
{
    const tmi_contrast_sums *z = &a->sums;
    const tmi_plan_contrast *c = z->inference->schedule->plan->statistics[z->statistic].contrast;
    double *together = &a->together[group], sum = 0, squares = 0;
    for (size_t k = 0; k < z->term_count && subtracts; k++) {
        const tmi_contrast_term *t = &z->terms[k];
        if (t->factor == 0) continue;
        const double *m = moments->of[c->terms[k].compared] + t->cell * TMI_MOMENTS,
                     e = scale * t->factor * (m[t->form.x] - (t->form.y < TMI_MOMENTS ? t->ratio * m[t->form.y] : 0));
        sum += e;
        squares += e * e;
    }
    *together -= subtracts ? part.a / part.rows * (sum * sum - squares) : 0;
    if (c->across || z->terms[0].factor == 0 || z->terms[1].factor == 0) return TAMIS_OK;
    *together += 2 * z->terms[0].factor * z->terms[1].factor * part.a * scale * product_of(a, moments, group);
    if (!a->form_noise) return TAMIS_OK;
    double noise;
    const tamis_status status = tmi_contrast_squares_noise(&noise, z, group, stratum, part, subtracts, sum, scale, err);
    if (status == TAMIS_OK) a->form_noise[group] += noise;
    return status;
}

/* Weights after the noise: stratum by stratum. */
static tamis_status add_strata(tmi_contrast_reading *a, size_t groups, tamis_error *err)
{
    const tmi_schedule *s = a->r->schedule;
    const bool separate = s->workload.separate_strata;
    tmi_contrast_sums *z = &a->sums;
    moments_of moments;
    tamis_status status = moments_make(&moments, a, groups, err);
    for (size_t copy = 0; copy < a->r->main.copies && status == TAMIS_OK; copy++) {
        const size_t stratum = separate ? copy : 0;
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(moments_read(&moments, a, copy, stratum, err));
        for (size_t g = 0; g < groups; g++) {
            tmi_contrast_take_group(z, g);
            const tmi_contrast_term *first = &z->terms[0];
            if (separate && !tmi_group_has_stratum(s, first->statistic, first->cell, copy)) continue;
            const tmi_stratum_part part = separate ? tmi_stratum_part_of(s, copy)
                                                   : tmi_group_part(s, first->statistic, first->cell);
            TMI_TRY(add_layer(a, g, &moments, stratum, 1, part, s->sampling.subtracts, err));
        }
    }

done:
    moments_clear(&moments);
    return status;
}

/* Weights in the tables: a group in one stratum has one weight; else squares are multiplied by a public factor, and nothing is
 * subtracted. */
static tamis_status add_weighed(tmi_contrast_reading *a, size_t groups, tamis_error *err)
{
    const tmi_schedule *s = a->r->schedule;
    tmi_contrast_sums *z = &a->sums;
    moments_of moments;
    tamis_status status = moments_make(&moments, a, groups, err);
    if (status == TAMIS_OK) status = moments_read(&moments, a, 0, 0, err);
    for (size_t g = 0; g < groups && status == TAMIS_OK; g++) {
        tmi_contrast_take_group(z, g);
        const size_t h = tmi_group_stratum(s, z->terms[0].statistic, z->terms[0].cell);
        const bool one = h != SIZE_MAX;
        const tmi_stratum_part whole = {.a = s->sampling.ratio, .rows = 1};
        status = add_layer(a, g, &moments, 0, one ? 1 / tmi_number_nearest(s->sampling.weight[h]) : 1,
                           one ? tmi_stratum_part_of(s, h) : whole, one && s->sampling.subtracts, err);
    }
    moments_clear(&moments);
    return status;
}

/* Numbers of different strata have nothing in common, nor has a number that is public. */
static tamis_status set_together(tmi_contrast_reading *a, size_t groups, tamis_error *err)
{
    const tmi_schedule *s = a->r->schedule;
    const tmi_plan_contrast *c = s->plan->statistics[a->sums.statistic].contrast;
    const bool apart = c->across && s->sampling.public_strata && tmi_is_of_strata(&s->plan->design, c->across);
    const bool known = a->sums.of[0].count == 0 || (c->compared_count > 1 && a->sums.of[1].count == 0);
    a->together = tmi_alloc(groups, sizeof *a->together);
    if (!a->together) return tmi_fail_memory(err);
    if (tmi_variance_source_for(s, a->sums.statistic) != TMI_OWN_SQUARES) return TAMIS_OK;
    if (s->plan->statistics[a->sums.statistic].model) return tmi_model_together(a, groups, err);
    if (apart || known) return TAMIS_OK;
    bool products;
    const tamis_status status = tmi_products_are_measured(&products, s, a->sums.statistic, err);
    if (status != TAMIS_OK) return status;
    if (products && !(a->form_noise = tmi_alloc(groups, sizeof *a->form_noise))) return tmi_fail_memory(err);
    return tmi_main_weighting(s) == TMI_UNWEIGHTED ? add_strata(a, groups, err) : add_weighed(a, groups, err);
}

/* ---- sampling variances ---- */

/* That of numbers whose errors all go the same way: no sum of them has more. */
static double largest_sum(const tmi_contrast_reading *a)
{
    double sum = 0;
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_contrast_term *t = &a->sums.terms[k];
        if (t->sums) sum += fabs(t->weight) * number_of(a, t)->sampling_se;
    }
    return sum * sum;
}

/* Own squares: an upper limit of a variance that is known with noise. */
static double own_squares(tmi_result *result, const tmi_contrast_reading *a)
{
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[result->statistic];
    double sum = 0, noise = 0;
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_contrast_term *t = &a->sums.terms[k];
        if (t->factor == 0) continue;
        sum += t->factor * t->factor * tmi_quadratic_at(t->sums->form, t->ratio);
        noise += pow(t->factor * t->factor * tmi_form_noise_sd(&t->sums->form_noise, 1, t->ratio), 2);
    }
    const double together = a->together[result->cell], most = s->model ? INFINITY : largest_sum(a);
    if (isnan(together)) {
        note(result, from_sum);
        return most;
    }
    if (a->form_noise) noise = a->form_noise[result->cell];
    const double margin = tmi_variance_margin(tmi_number_nearest(s->confidence)) * sqrt(noise);
    const tmi_variance v = tmi_variance_limit(sum + together, margin, most);
    result->limited = margin > 0 && margin >= sum + together;
    if (result->limited) note(result, from_limit);
    return v.value;
}

static double measured(tmi_result *result, const tmi_contrast_reading *a)
{
    const tmi_errors *errors = a->r->errors;
    const tmi_number_error *e = &errors->list[errors->first[result->statistic] + result->cell];
    const bool related = !isnan(a->together[result->cell]) &&
                         (a->sums.term_count != 2 || a->r->schedule->plan->statistics[result->statistic].contrast->across ||
                          tmi_contrast_is_related(&a->sums));
    const bool public = tmi_variance_source_for(a->r->schedule, result->statistic) == TMI_PUBLIC_EFFECT;
    if (a->sums.fit.terms > 0 && isnan(e->effect)) return INFINITY;
    if (isnan(e->effect) || (public && !related)) {
        note(result, from_sum);
        return largest_sum(a);
    }
    result->limited = e->known > MUCH_NOISE;
    if (e->known > 1) note(result, from_others);
    else if (e->known > MUCH_NOISE) note(result, from_measured);
    return e->effect * tmi_contrast_simple_variance(&a->sums);
}

double tmi_contrast_sampling(tmi_result *result, const tmi_contrast_reading *a)
{
    const tmi_schedule *s = a->r->schedule;
    if (s->plan->design.kind->takes_all) return 0;
    return tmi_variance_source_for(s, result->statistic) == TMI_OWN_SQUARES ? own_squares(result, a) : measured(result, a);
}

/* ---- intervals ---- */

tmi_noise_part *tmi_contrast_noises(size_t *count, const tmi_moment_parts *parts, const double factors[TMI_MOMENTS])
{
    tmi_noise_part *list = tmi_alloc(parts->count, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < parts->count; i++) {
        tmi_noise_part *own = &list[*count];
        *own = (tmi_noise_part){.scale = parts->list[i].scale, .gaussian = parts->gaussian, .count = parts->list[i].count};
        for (size_t m = 0; m < TMI_MOMENTS; m++)
            if (factors[m] != 0) own->factor += factors[m] * parts->list[i].factor[m];
        *count += own->factor != 0;
    }
    return list;
}

/* Noise and sampling error of the contrast, or of one of its numbers. */
tamis_status tmi_contrast_reach(double *reach, const tmi_moment_parts *parts, const double factors[TMI_MOMENTS], double sampling,
                                int64_t df, double confidence, double *noise, tamis_error *err)
{
    size_t count;
    tmi_noise_part *list = tmi_contrast_noises(&count, parts, factors);
    if (!list) return tmi_fail_memory(err);
    if (noise) *noise = tmi_noise_variance(list, count);
    const tmi_error_law law = {.se = sqrt(sampling), .df = df, .parts = list, .count = count};
    tamis_status status = TAMIS_OK;
    if (!isfinite(sampling)) *reach = INFINITY;
    else if (sampling == 0 && count == 0) *reach = 0;
    else status = tmi_error_reach(reach, &law, confidence, err);
    tmi_free(list);
    return status;
}

static int64_t degrees_of(const tmi_contrast_reading *a, const tmi_contrast_term *t)
{
    if (a->r->errors && tmi_variance_source_for(a->r->schedule, t->statistic) != TMI_OWN_SQUARES) return TMI_NORMAL;
    return t->sums->df > 0 && !t->sums->normal ? t->sums->df : TMI_NORMAL;
}

/* What the ends of the numbers' own intervals are away from their estimates: squares of those that lower the contrast, and that
 * raise it; and of what both would be if denominators were known. */
typedef struct distances {
    double lower, upper, symmetric;
    bool whole; /* a number's interval is its whole range */
} distances;

static tamis_status add_distances(distances *d, const tmi_contrast_reading *a, const tmi_contrast_term *t, double weight,
                                  double confidence, tamis_error *err)
{
    const tmi_result *x = number_of(a, t);
    double factors[TMI_MOMENTS] = {0}, reach;
    const double B = t->sums->value[t->form.y];
    factors[t->form.x] = 1 / B;
    factors[t->form.y] -= t->ratio / B;
    const tamis_status status = tmi_contrast_reach(&reach, t->sums->parts, factors, x->sampling_se * x->sampling_se,
                                                   degrees_of(a, t), confidence, NULL, err);
    const double below = fmax(x->estimate - x->lower, 0), above = fmax(x->upper - x->estimate, 0);
    d->lower += pow(weight * (weight > 0 ? below : above), 2);
    d->upper += pow(weight * (weight > 0 ? above : below), 2);
    d->symmetric += pow(weight * reach, 2);
    d->whole = d->whole || tmi_is_whole_range(x);
    return status;
}

/* Of a difference or contrast of ratios. */
static tamis_status set_ratios(tmi_result *result, const tmi_contrast_reading *a, double reach, double confidence,
                               tamis_error *err)
{
    distances d = {0};
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_contrast_term *t = &a->sums.terms[k];
        const tamis_status status = t->factor == 0 ? TAMIS_OK : add_distances(&d, a, t, t->weight, confidence, err);
        if (status != TAMIS_OK) return status;
    }
    const double scale = d.symmetric > 0 ? reach / sqrt(d.symmetric) : 0;
    if (d.whole) note(result, whole_range);
    result->lower = d.whole ? result->least : result->estimate - scale * sqrt(d.lower);
    result->upper = d.whole ? result->most : result->estimate + scale * sqrt(d.upper);
    return TAMIS_OK;
}

/* A root of (r - R q)^2 = k^2 (e^2 + R^2 f^2), the smaller or the larger one; NaN: there is none. */
static double root_of(double r, double q, double e, double f, double k, bool larger)
{
    const double a = q * q - k * k * f * f, b = r * q, c = r * r - k * k * e * e, under = b * b - a * c;
    if (!(a > 0) || under < 0) return NAN;
    return (b + (larger ? 1 : -1) * sqrt(under)) / a;
}

/* The end of a quotient's interval; what lowers -R q is what raises q, unless R is negative. */
static double end_of(const double first[2], const double second[2], double r, double q, double k, bool upper)
{
    const double e = first[upper ? 1 : 0], f = second[upper ? 0 : 1], R = root_of(r, q, e, f, k, upper);
    return R < 0 ? root_of(r, q, e, second[upper ? 1 : 0], k, upper) : R;
}

/* Counts and totals have intervals that need no denominator: their own. */
static tamis_status number_distances(double away[2], double *symmetric, const tmi_contrast_reading *a, const tmi_contrast_term *t,
                                     double confidence, tamis_error *err)
{
    const tmi_result *x = number_of(a, t);
    away[0] = fmax(x->estimate - x->lower, 0);
    away[1] = fmax(x->upper - x->estimate, 0);
    *symmetric = 0;
    if (!t->sums) return TAMIS_OK;
    double factors[TMI_MOMENTS] = {0};
    const double B = t->form.y < TMI_MOMENTS ? t->sums->value[t->form.y] : 1;
    factors[t->form.x] = 1 / B;
    if (t->form.y < TMI_MOMENTS) factors[t->form.y] -= t->ratio / B;
    return tmi_contrast_reach(symmetric, t->sums->parts, factors, x->sampling_se * x->sampling_se, degrees_of(a, t), confidence,
                              NULL, err);
}

static tamis_status set_quotient(tmi_result *result, const tmi_contrast_reading *a, double reach, double confidence,
                                 tamis_error *err)
{
    const tmi_contrast_term *first = &a->sums.terms[0], *second = &a->sums.terms[1];
    double x[2], y[2], own, other;
    tamis_status status;
    TMI_TRY(number_distances(x, &own, a, first, confidence, err));
    TMI_TRY(number_distances(y, &other, a, second, confidence, err));
    const double both = tmi_hypotenuse(own, result->estimate * other), k = both > 0 ? reach * second->value / both : 0;
    result->lower = end_of(x, y, first->value, second->value, k, false);
    result->upper = end_of(x, y, first->value, second->value, k, true);
    if (!isnan(result->lower) && !isnan(result->upper) && !(number_of(a, second)->lower <= 0)) return TAMIS_OK;
    result->lower = result->upper = TMI_NULL;
    result->reason = no_quotient;

done:
    return status;
}

/* ---- results ---- */

/* Where a contrast certainly lies. */
static void set_range(tmi_result *result, const tmi_contrast_reading *a)
{
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[result->statistic];
    result->least = result->most = 0;
    if (s->kind == TMI_CONTRAST_QUOTIENT) {
        const tmi_result *x = number_of(a, &a->sums.terms[0]), *y = number_of(a, &a->sums.terms[1]);
        const bool positive = y->least > 0 && isfinite(y->most);
        result->least = positive ? fmin(x->least / y->least, x->least / y->most) : x->least >= 0 ? 0 : -INFINITY;
        result->most = positive ? fmax(x->most / y->least, x->most / y->most) : INFINITY;
        return;
    }
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_contrast_term *t = &a->sums.terms[k];
        const tmi_result *x = number_of(a, t);
        result->least += t->weight * (t->weight > 0 ? x->least : x->most);
        result->most += t->weight * (t->weight > 0 ? x->most : x->least);
    }
}

/* Why a number of the contrast has no estimate, or no error; NULL: all have. */
static const char *why_not(const tmi_contrast_reading *a, bool error)
{
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_result *x = number_of(a, &a->sums.terms[k]);
        if (error ? isnan(x->se) || isnan(x->lower) : isnan(x->estimate)) return x->reason ? x->reason : no_interval;
    }
    return NULL;
}

static void add_bias(tmi_result *result, const tmi_contrast_reading *a)
{
    for (size_t k = 0; k < a->sums.term_count; k++) {
        const tmi_result *x = number_of(a, &a->sums.terms[k]);
        if (isnan(x->bias)) continue;
        result->bias = (isnan(result->bias) ? 0 : result->bias) + fabs(a->sums.terms[k].weight) * x->bias;
    }
}

static bool is_of_ratios(const tmi_contrast_sums *z) { return z->terms[0].form.y < TMI_MOMENTS; }

static tamis_status set_interval(tmi_result *result, const tmi_contrast_reading *a, double reach, tamis_error *err)
{
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[result->statistic];
    const double confidence = tmi_number_nearest(s->confidence);
    tamis_status status = TAMIS_OK;
    if (s->kind == TMI_CONTRAST_QUOTIENT) {
        status = set_quotient(result, a, reach, confidence, err);
    } else if (is_of_ratios(&a->sums)) {
        status = set_ratios(result, a, reach, confidence, err);
    } else { /* of an estimate outside the range: about the nearest possible value, as that of a total */
        const double centre = fmin(fmax(result->estimate, result->least), result->most);
        result->lower = centre - reach;
        result->upper = centre + reach;
    }
    result->lower = fmin(fmax(result->lower, result->least), result->most);
    result->upper = fmax(fmin(result->upper, result->most), result->least);
    return status;
}

static tamis_status read_group(tmi_result *result, tmi_contrast_reading *a, tamis_error *err)
{
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[result->statistic];
    static const double own[TMI_MOMENTS] = {[TMI_CONTRAST_NOISE] = 1};
    tmi_moment_parts parts = {0};
    double reach, noise, estimate = 0;
    tamis_status status;
    tmi_contrast_take_group(&a->sums, result->cell);
    set_range(result, a);
    if ((result->reason = why_not(a, false))) return TAMIS_OK;
    if (s->kind == TMI_CONTRAST_QUOTIENT && !(a->sums.terms[1].value > 0)) {
        result->reason = "the noisy number that it is divided by is not above 0";
        return TAMIS_OK;
    }
    for (size_t k = 0; k < a->sums.term_count; k++) estimate += a->sums.terms[k].weight * a->sums.terms[k].value;
    result->estimate = s->kind == TMI_CONTRAST_QUOTIENT ? a->sums.terms[0].value / a->sums.terms[1].value : estimate;
    result->outside_range = result->estimate < result->least || result->estimate > result->most;
    add_bias(result, a);
    TMI_TRY(tmi_contrast_noise_make(&parts, &a->sums, err));
    const char *reason = why_not(a, true);
    const double sampling = reason ? TMI_NULL : tmi_contrast_sampling(result, a);
    const tmi_contrast_term *first = a->sums.terms;
    while (!first->sums) first++;
    TMI_TRY(tmi_contrast_reach(&reach, &parts, own, reason ? INFINITY : sampling, degrees_of(a, first),
                               tmi_number_nearest(s->confidence), &noise, err));
    result->noise_sd = sqrt(noise);
    if (reason || !isfinite(sampling)) {
        result->reason = reason ? reason : no_interval;
        goto done;
    }
    result->sampling_se = sqrt(sampling);
    result->se = sqrt(sampling + noise);
    result->df = first->sums->df >= 0 && sampling > 0 ? first->sums->df : -1;
    TMI_TRY(set_interval(result, a, reach, err));

done:
    tmi_moment_parts_clear(&parts);
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) { /* the noise fell where no interval is: no failure of the release */
        result->lower = result->upper = TMI_NULL;
        result->reason = no_interval;
        status = TAMIS_OK;
    }
    return status;
}

/* All numbers are public. */
static void read_known(tmi_result *result, tmi_contrast_reading *a)
{
    const tmi_plan_statistic *s = &a->r->schedule->plan->statistics[result->statistic];
    double estimate = 0;
    tmi_contrast_take_group(&a->sums, result->cell);
    for (size_t k = 0; k < a->sums.term_count; k++) estimate += a->sums.terms[k].weight * a->sums.terms[k].value;
    if (s->kind == TMI_CONTRAST_QUOTIENT) estimate = a->sums.terms[0].value / a->sums.terms[1].value;
    result->estimate = result->lower = result->upper = estimate;
    result->se = result->sampling_se = result->noise_sd = 0;
    result->known = true;
}

static tamis_status read_contrast(tmi_result *list, tmi_contrast_reading *a, size_t i, tamis_error *err)
{
    const tmi_schedule *s = a->r->schedule;
    const size_t groups = (size_t)tmi_statistic_cells(&s->plan->statistics[i]);
    tamis_status status = tmi_contrast_sums_make(&a->sums, a->r, i, err);
    if (status != TAMIS_OK) return status;
    const bool known = tmi_is_known(s, i);
    const tmi_plan_model *model = s->plan->statistics[i].model;
    if (!known) TMI_TRY(set_together(a, groups, err));
    for (size_t g = 0; g < groups; g++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        if (model && g % model->term_count == 0) TMI_TRY(tmi_read_model(&list[g], a, err));
        if (model) continue;
        if (known) read_known(&list[g], a);
        else TMI_TRY(read_group(&list[g], a, err));
    }

done:
    tmi_contrast_sums_clear(&a->sums);
    tmi_free(a->together);
    tmi_free(a->form_noise);
    a->together = a->form_noise = NULL;
    return status;
}

tamis_status tmi_read_contrasts(tmi_results *results, const tmi_inference *r, tamis_error *err)
{
    const tamis_plan *plan = results->plan;
    tmi_result **first = tmi_results_first(results);
    tamis_status status = TAMIS_OK;
    if (!first) return tmi_fail_memory(err);
    tmi_contrast_reading a = {.r = r, .first = (const tmi_result *const *)first};
    for (size_t i = 0; i < plan->asked_count && status == TAMIS_OK; i++)
        if (plan->statistics[i].contrast && plan->statistics[i].kind != TMI_CONTRAST_CHANGE)
            status = read_contrast(first[i], &a, i, err);
    tmi_free(first);
    return status;
}
