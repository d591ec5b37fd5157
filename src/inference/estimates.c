#include "inference/estimates.h"

#include <math.h>

#include "base/memory.h"
#include "inference/adjust.h"
#include "inference/bias.h"
#include "inference/calibration.h"
#include "inference/distribution.h"
#include "inference/error_term.h"
#include "inference/errors.h"
#include "inference/group_sums.h"
#include "inference/interval/ratio.h"
#include "inference/inverted_counts.h"
#include "inference/range.h"
#include "inference/shrink.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/regularised.h"
#include "num/law/noise.h"

static const char from_range[] =
    "the noise is too large to estimate the sampling variance: the largest that the range allows is used";
static const char from_limit[] = "the sampling variance is small relative to its noise: an upper limit is used";
static const char from_measured[] = "the standard error is measured to about ± 50 to 100 %: the interval allows for that";
static const char from_others[] =
    "the standard error is mostly noise: the interval rests on the design effects of the other numbers of this kind";
static const char from_other_cut[] = "the design effect is that of the nearest value at which it is measured";
static const char bounded[] = "the sampling error of a variance is the largest that the range allows";
static const char whole_range[] = "the denominator may be 0 within its error: the interval is the whole range";
static const char no_interval[] = "no interval can be computed from these noisy numbers";
static const char clamped[] = "values above the bound that was found count as the bound";
static const char not_met[] = "not calibrated: a group of the public counts or totals has too few rows relative to the noise";
static const char public_count[] = "public: the other numbers are calibrated to it";

#define MUCH_NOISE 0.5 /* in a standard error, relative to it: then the result says so */

/* ---- the interval ---- */

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* The error of the statistic as a sum: noises with their factors in it, and the sampling error. */
typedef struct error {
    double factor[TMI_MOMENTS];
    double sampling; /* variance */
    double noise;    /* variance */
} error;

/* The standard errors. False: there is no interval, for the reason of the result. */
static bool set_errors(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, const error *e)
{
    result->noise_sd = sqrt(e->noise);
    result->sampling_se = sqrt(e->sampling);
    result->se = sqrt(e->sampling + e->noise);
    result->df = z->df >= 0 && e->sampling > 0 ? z->df : -1;
    result->outside_range = result->estimate < result->least || result->estimate > result->most;
    if (!isfinite(result->estimate)) return false;
    if (isnan(e->sampling) || !isfinite(e->sampling) || (z->df == 0 && e->sampling > 0 && !z->normal)) {
        result->reason = tmi_why_no_error(r->schedule, result->statistic);
        result->sampling_se = result->se = TMI_NULL;
        return false;
    }
    return true;
}

/* The interval of a result that has errors, about its estimate. */
static tamis_status set_interval(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, const error *e,
                                 tamis_error *err)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[result->statistic];
    tmi_noise_part *parts = tmi_alloc(z->parts->count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < z->parts->count; i++) {
        parts[count] = tmi_sums_part_in(z, i, e->factor);
        count += parts[count].factor != 0; /* calibration leaves nothing of a noise where it makes a count public */
    }
    tmi_error_law law = {.se = sqrt(e->sampling),
                         .df = z->df > 0 && !z->normal ? z->df : TMI_NORMAL,
                         .parts = parts,
                         .count = count};
    tmi_interval interval;
    tamis_status status = tmi_interval_symmetric(&interval, result->estimate, &law, tmi_number_nearest(t->confidence),
                                                 result->least, result->most, err);
    tmi_free(parts);
    if (status != TAMIS_OK) return status;
    result->lower = interval.lower;
    result->upper = interval.upper;
    return TAMIS_OK;
}

/* As if all errors were normal. */
static void set_plain_interval(tmi_result *result, const tmi_plan_statistic *t)
{
    const double half = tmi_normal_margin(tmi_number_nearest(t->confidence)) * result->se;
    result->lower = fmin(fmax(result->estimate - half, result->least), result->most);
    result->upper = fmax(fmin(result->estimate + half, result->most), result->least);
}

/* Whether the sampling variance is a limit already, or public; else it is that of own squares. */
static bool is_limit(const tmi_inference *r, size_t statistic)
{
    return r->errors && tmi_variance_source_for(r->schedule, statistic) != TMI_OWN_SQUARES;
}

/* An upper limit of a variance that was estimated with noise, at most the bound. */
static double limited(tmi_result *result, const tmi_inference *r, double variance, double noise_sd, double bound)
{
    double confidence = tmi_number_nearest(r->schedule->plan->statistics[result->statistic].confidence);
    double margin = tmi_variance_margin(confidence) * noise_sd;
    if (isnan(variance)) return variance;
    tmi_variance v = tmi_variance_limit(variance, margin, bound);
    if (is_limit(r, result->statistic)) return v.value;
    result->limited = v.from_range ? bound > 0 : margin > 0 && margin >= variance;
    if (result->limited) note(result, v.from_range ? from_range : from_limit);
    return v.value;
}

static double variance_within(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, double variance,
                              tmi_range range)
{
    double far = fmax(fabs(range.low), fabs(range.high)), half = (range.high - range.low) / 2;
    const tmi_sampling *p = &r->schedule->sampling;
    const bool contributed = r->schedule->workload.maps[result->statistic].contributed;
    double most = (contributed ? p->rows_fixed : p->subtracts) ? half
                                                               : far; /* Popoviciu about the mean, which else is not taken off */
    double bound = z->spread * most * most;
    return limited(result, r, variance, tmi_form_noise_sd(&z->form_noise, 1, 0), bound);
}

/* ---- totals and counts ---- */

static bool is_census(const tmi_schedule *s) { return s->plan->design.kind->takes_all; }

static tamis_status read_total(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    const size_t moment = t->column ? TMI_OF_X : TMI_OF_ROWS;
    tmi_range range = t->column ? tmi_range_with_zero(tmi_summed_range(s, result->statistic)) : (tmi_range){0, 1};
    tamis_status status = TAMIS_OK;
    error e = {0};
    result->estimate = z->value[moment];
    e.factor[moment] = 1;
    e.noise = tmi_sums_noise(z, e.factor);
    e.sampling = is_census(s) ? 0 : variance_within(result, r, z, z->form.xx, range);
    bool has_interval = set_errors(result, r, z, &e);
    if (tmi_is_inverted(result, r, z)) TMI_TRY(tmi_invert_count(result, r, z, 1, err));
    else if (has_interval) TMI_TRY(set_interval(result, r, z, &e, err));
    tmi_result_bias(result, s, range.high - range.low, 1);

done:
    return status;
}

/* A total divided by the public number of units. */
static tamis_status read_part(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const double N = tmi_units_at_most(r->schedule, result);
    double *const scaled[] = {&result->estimate, &result->se,    &result->sampling_se, &result->noise_sd,
                              &result->lower,    &result->upper, &result->least,       &result->most};
    result->least *= N;
    result->most *= N;
    tamis_status status = read_total(result, r, z, err);
    for (size_t i = 0; i < sizeof scaled / sizeof *scaled; i++) *scaled[i] /= N;
    return status;
}

/* ---- means, shares, ratios ---- */

/* One row's worth, of the stratum where it is least: a denominator below it is none. */
static double smallest_denominator(const tmi_inference *r, const tmi_result *result)
{
    const tmi_sampling *s = &r->schedule->sampling;
    double least = INFINITY;
    if (r->schedule->plan->statistics[result->statistic].kind == TMI_RATIO) return 0;
    if (s->weights == TMI_ROWS) return 1;
    for (size_t h = 0; h < s->strata; h++) least = fmin(least, tmi_number_nearest(s->weight[h]));
    return least;
}

/* One row is enough; a billionth is the dust of doubles. */
static bool is_denominator(double B, const tmi_inference *r, const tmi_result *result)
{
    return B > 0 && B >= (1 - 1e-9) * smallest_denominator(r, result);
}

/* The largest sampling variance of A - r B for any r of the range. */
static double largest_variance(const tmi_inference *r, const tmi_group_sums *z, const tmi_plan_statistic *t, tmi_range range)
{
    if (is_census(r->schedule)) return 0;
    tmi_range x = tmi_range_of(t->column),
              y = t->second ? tmi_range_of(t->second) : (tmi_range){1, 1}; /* x - r y has 0 in its range */
    double width = x.high - x.low + fmax(fabs(range.low), fabs(range.high)) * (y.high - y.low);
    double far = r->schedule->sampling.subtracts ? width / 2 : width;
    return z->spread * far * far;
}

static tamis_status fieller(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, const tmi_form_moments *f,
                            tmi_range range, tamis_error *err)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[result->statistic];
    const size_t count = z->parts->count;
    tmi_ratio_part *parts = tmi_alloc(count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const tmi_moment_part *part = &z->parts->list[i];
        parts[i] = (tmi_ratio_part){part->factor[f->x], part->factor[f->y], part->scale, z->parts->gaussian, part->count};
    }
    const double margin = tmi_variance_margin(tmi_number_nearest(t->confidence));
    tmi_ratio ratio = {z->value[f->x],
                       z->value[f->y],
                       z->form,
                       z->form_noise,
                       z->ones,
                       fmax(z->all, 0),
                       largest_variance(r, z, t, range),
                       z->df > 0 && !z->normal ? z->df : TMI_NORMAL,
                       parts,
                       count};
    for (int i = 0; i < 5; i++) ratio.margin.c[i] *= margin * margin;
    tmi_ratio_result found;
    tamis_status status = tmi_interval_ratio(&found, &ratio, tmi_number_nearest(t->confidence), range.low, range.high, err);
    tmi_free(parts);
    if (status != TAMIS_OK) return status;
    if (found.may_be_zero) note(result, whole_range);
    result->lower = found.interval.lower;
    result->upper = found.interval.upper;
    return TAMIS_OK;
}

static tamis_status read_ratio(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    const tmi_form_moments f = tmi_form_moments_of(t);
    const double B = z->value[f.y];
    const bool measured = z->noise->covariance[f.y][f.y] > 0;
    tamis_status status = TAMIS_OK;
    if (!is_denominator(B, r, result)) {
        result->reason = t->second ? "the noisy denominator is not above 0" : "the noisy number of rows is not above 0";
        return TAMIS_OK;
    }
    const double ratio = z->value[f.x] / B;
    result->estimate = ratio;
    error e = {0};
    e.factor[f.x] = 1 / B;
    e.factor[f.y] = measured ? -ratio / B : 0;
    e.noise = tmi_sums_noise(z, e.factor);
    tmi_range range = tmi_ratio_range(t, 0);
    double variance = tmi_quadratic_at(z->form, ratio), largest = largest_variance(r, z, t, range);
    double noise_sd = tmi_form_noise_sd(&z->form_noise, 1, ratio);
    e.sampling = is_census(s) ? 0 : limited(result, r, variance, noise_sd, largest) / (B * B);
    bool has_interval = set_errors(result, r, z, &e);
    const bool only_drawn = tmi_is_of_curve(s->plan, result->statistic) && !tmi_decides_quantile(s->plan, result);
    if (has_interval && (r->plain || only_drawn)) set_plain_interval(result, t);
    else if (!measured && tmi_is_inverted(result, r, z)) TMI_TRY(tmi_invert_count(result, r, z, B, err));
    else if (has_interval && measured && isfinite(range.low) && isfinite(range.high))
        TMI_TRY(fieller(result, r, z, &f, range, err));
    else if (has_interval) TMI_TRY(set_interval(result, r, z, &e, err));
    tmi_range x = tmi_range_of(t->column), y = t->second ? tmi_range_with_zero(tmi_range_of(t->second)) : (tmi_range){0, 0};
    if (t->second) x = tmi_range_with_zero(x);
    tmi_result_bias(result, s, x.high - x.low + fabs(ratio) * (y.high - y.low), B);

done:
    return status;
}

/* ---- variances ---- */

/* n/(n-1), n the rows of the group, as svyvar has it: its noisy size times the rate of the sample, or of its strata. Where
 * there is no public rate, nothing is known, and the factor is 1. */
static double one_more(const tmi_schedule *s, const tmi_result *result, double B)
{
    const tmi_plan_design *d = &s->plan->design;
    const double N = (double)tmi_drawn_from(d, tmi_frame_of(s));
    double n = N > 0 ? (double)d->sample * B / N : 0, units = 0, drawn = 0;
    for (size_t h = 0; tmi_is_in_strata(s, result->statistic) && h < d->stratum_count; h++) {
        if (!tmi_group_has_stratum(s, result->statistic, result->cell, h)) continue;
        units += (double)d->strata[h].population;
        drawn += (double)d->strata[h].sample;
    }
    if (units > 0) n = drawn * B / units;
    if (d->kind->staged) /* the plan has one rate of the second stage, or none */
        n *= d->second_rate && !tmi_draws_clusters_unequally(d) ? tmi_number_nearest(d->second_rate) : 0;
    if (d->kind->rate) n = B * tmi_number_nearest(d->strata[0].rate);
    return n > 1 ? n / (n - 1) : 1;
}

static tamis_status read_variance(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const double B = z->value[TMI_OF_ROWS], x = z->value[TMI_OF_X], xx = z->value[TMI_OF_XX];
    if (!is_denominator(B, r, result)) {
        result->reason = "the noisy number of rows is not above 0";
        return TAMIS_OK;
    }
    const double m = x / B, more = one_more(s, result, B),
                 square = tmi_unbiased_square(x, z->noise->covariance[TMI_OF_X][TMI_OF_X]) / (B * B);
    result->estimate = more * (xx / B - square);
    error e = {0};
    e.factor[TMI_OF_X] = -2 * more * m / B;
    e.factor[TMI_OF_ROWS] = more * (2 * m * m - xx / B) / B;
    e.factor[TMI_OF_XX] = more / B;
    e.noise = tmi_sums_noise(z, e.factor);
    tamis_status status = TAMIS_OK;
    if (!is_census(s)) { /* (x - mean)^2 lies in [0, R^2] with mean S^2: its variance is at most S^2 (R^2 - S^2) */
        tmi_range range = tmi_range_of(s->plan->statistics[result->statistic].column);
        double R = fmax(range.high - m, m - range.low), S = fmin(fmax(result->estimate, 0), R * R);
        double units = s->plan->design.population > 0 ? (double)s->plan->design.population : B;
        double largest = S > 0 ? S * (R * R - S) : R * R * R * R / 4;
        const bool limit = is_limit(r, result->statistic);
        e.sampling = limit ? more * more * z->measured / (B * B) : z->spread * (B / units) * largest / (B * B);
        if (!limit || !s->sampling.clustered) note(result, bounded);
    }
    if (set_errors(result, r, z, &e)) TMI_TRY(set_interval(result, r, z, &e, err));
    tmi_range range = tmi_range_of(s->plan->statistics[result->statistic].column); /* (x - mean)^2 */
    tmi_result_bias(result, s, (range.high - range.low) * (range.high - range.low), B);

done:
    return status;
}

/* ---- together ---- */

/* Says what calibration did; false if nothing can be published without it: a count or total of the respondents alone. */
static bool tell_calibration(tmi_result *result, const tmi_inference *r)
{
    const tamis_plan *plan = r->schedule->plan;
    const tmi_statistic_kind kind = plan->statistics[result->statistic].kind;
    if (r->calibration->met) {
        note(result, tmi_adjustment_text(plan->raking ? TMI_RAKED : TMI_CALIBRATED));
        return true;
    }
    bool sum = kind == TMI_COUNT || kind == TMI_TABLE || kind == TMI_HISTOGRAM || kind == TMI_TOTAL;
    if (sum && plan->design.nonresponse) result->reason = not_met;
    else note(result, not_met);
    return !result->reason;
}

static void read_known(tmi_result *result, const tmi_schedule *s)
{
    const tamis_number *public = tmi_public_count(s->plan, result->statistic, result->cell);
    result->estimate = result->lower = result->upper = public ? tmi_number_nearest(public) : tmi_units_at_most(s, result);
    if (public) note(result, public_count);
    result->se = result->sampling_se = result->noise_sd = 0;
    result->known = true;
}

/* Where sampling variances are measured or public: the form is a multiple of the squares, such that it is what was measured
 * at the estimate. */
static void take_measured(tmi_result *result, const tmi_inference *r, tmi_group_sums *z)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[result->statistic];
    if (!is_limit(r, result->statistic)) return;
    const size_t group = r->plain ? r->group : result->cell;
    const tmi_number_error *e = &r->errors->list[r->errors->first[result->statistic] + group];
    const double at = tmi_ratio_at(t, z), squares = tmi_quadratic_at(z->proxy, at);
    z->measured = e->effect * tmi_simple_variance(z, r->schedule, result->statistic, at);
    const double b = squares > 0 ? z->measured / squares : INFINITY;
    const bool known = isfinite(tmi_form_noise_sd(&z->proxy_noise, 1, at));
    z->form = known && isfinite(b) ? (tmi_quadratic){b * z->proxy.xx, b * z->proxy.xy, b * z->proxy.yy}
                                   : (tmi_quadratic){z->measured, 0, 0};
    z->form_noise = (tmi_form_noise){0};
    z->normal = true;
    result->limited = e->known > MUCH_NOISE || e->other;
    if (e->other) note(result, from_other_cut);
    else if (e->known > 1) note(result, from_others);
    else if (e->known > MUCH_NOISE) note(result, from_measured);
}

static tamis_status read_group(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    tamis_status status;
    tmi_range limits = tmi_result_range(s, result);
    result->least = limits.low;
    result->most = limits.high;
    if (tmi_is_calibrated(s, result->statistic) && !tell_calibration(result, r)) return TAMIS_OK;
    take_measured(result, r, z);
    if (tmi_by_size(t)) status = read_part(result, r, z, err);
    else if (tmi_is_sum(t)) status = read_total(result, r, z, err);
    else if (t->kind == TMI_VARIANCE) status = read_variance(result, r, z, err);
    else status = read_ratio(result, r, z, err);
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) { /* the noise fell where no interval is: no failure of the release */
        result->lower = result->upper = TMI_NULL;
        result->reason = no_interval;
        status = TAMIS_OK;
    }
    return status;
}

tamis_status tmi_read_statistic(tmi_result *list, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = (size_t)tmi_statistic_cells(&s->plan->statistics[i]);
    tmi_statistic_sums z = {0};
    tamis_status status = TAMIS_OK;
    if (tmi_is_of_distribution(s->plan->statistics[i].kind) || s->plan->statistics[i].contrast)
        return TAMIS_OK; /* read from others (distribution.h, contrast.h) */
    if (s->workload.maps[i].known) {
        for (size_t g = 0; g < count; g++) read_known(&list[g], s);
        return TAMIS_OK;
    }
    TMI_TRY(tmi_statistic_sums_make(&z, r, i, err));
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const bool bounded_privately = tmi_private_bound_of(s->plan, t->column) || tmi_private_bound_of(s->plan, t->second);
    for (size_t g = 0; g < count; g++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(read_group(&list[g], r, &z.groups[g], err));
        if (bounded_privately) note(&list[g], clamped);
    }
    if (s->plan->statistics[i].shrink) TMI_TRY(tmi_shrink_groups(list, r, &z, i, err));

done:
    tmi_statistic_sums_clear(&z);
    return status;
}
