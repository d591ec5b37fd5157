#include "inference/estimates.h"

#include <math.h>

#include "base/memory.h"
#include "inference/adjust.h"
#include "inference/bias.h"
#include "inference/calibration.h"
#include "inference/group_sums.h"
#include "inference/interval/ratio.h"
#include "inference/interval/strata.h"
#include "inference/inverted_counts.h"
#include "inference/range.h"
#include "num/exact.h"
#include "schedule/regularised.h"

static const char from_range[] =
    "the noise is too large to estimate the sampling variance: the largest that the range allows is used";
static const char from_limit[] = "the sampling variance is small relative to its noise: an upper limit is used";
static const char bounded[] = "the sampling error of a variance is the largest that the range allows";
static const char whole_range[] = "the denominator may be 0 within its error: the interval is the whole range";
static const char no_interval[] = "no interval can be computed from these noisy numbers";
static const char not_met[] = "not calibrated: a group of the public counts has too few rows relative to the noise";
static const char public_count[] = "public: the other numbers are calibrated to it";
static const char one_unit[] = "a stratum has only one sampled unit, so its sampling error cannot be estimated";

/* ---- the interval ---- */

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* The error of the statistic as a sum: noises with their factors in it, and the sampling error. */
typedef struct error {
    double factor[TMI_MAIN_ROLES];
    double sampling; /* variance */
    double noise;    /* variance */
    bool with_noise; /* sampling holds the noise too */
} error;

static double whole_variance(const error *e) { return e->with_noise ? fmax(e->sampling, e->noise) : e->sampling + e->noise; }

static double sampling_variance(const error *e) { return e->with_noise ? fmax(e->sampling - e->noise, 0) : e->sampling; }

/* The standard errors. False: there is no interval, for the reason of the result. */
static bool set_errors(tmi_result *result, const tmi_group_sums *z, const error *e)
{
    result->noise_sd = sqrt(e->noise);
    result->sampling_se = sqrt(sampling_variance(e));
    result->se = sqrt(whole_variance(e));
    result->df = z->df >= 0 && e->sampling > 0 ? z->df : -1;
    result->outside_range = result->estimate < result->least || result->estimate > result->most;
    if (!isfinite(result->estimate)) return false;
    if (isnan(e->sampling) || !isfinite(e->sampling) || (z->df == 0 && e->sampling > 0)) {
        result->reason = one_unit;
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
    tmi_noise_part *parts = tmi_alloc(z->part_count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    size_t count = 0;
    for (size_t i = 0; i < z->part_count && !e->with_noise; i++) {
        parts[count] = tmi_sums_part_in(&z->parts[i], e->factor);
        count += parts[count].factor != 0; /* calibration leaves nothing of a noise where it makes a count public */
    }
    tmi_error_law law = {.se = sqrt(e->with_noise ? whole_variance(e) : e->sampling),
                         .df = z->df > 0 ? z->df : TMI_NORMAL,
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

/* An upper limit of a variance that was estimated with noise, at most the bound. */
static double limited(tmi_result *result, const tmi_inference *r, double variance, double noise_sd, double bound)
{
    double confidence = tmi_number_nearest(r->schedule->plan->statistics[result->statistic].confidence);
    double margin = tmi_variance_margin(confidence) * noise_sd;
    if (isnan(variance)) return variance;
    tmi_variance v = tmi_variance_limit(variance, margin, bound);
    result->limited = v.from_range ? bound > 0 : margin > 0 && margin >= variance;
    if (result->limited) note(result, v.from_range ? from_range : from_limit);
    return v.value;
}

static double variance_within(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, double variance,
                              tmi_range range)
{
    double far = fmax(fabs(range.low), fabs(range.high)), half = (range.high - range.low) / 2;
    double most = r->schedule->sampling.subtracts ? half : far; /* Popoviciu about the mean, which else is not taken off */
    double bound = z->with_noise ? INFINITY : z->spread * most * most;
    return limited(result, r, variance, tmi_form_noise_sd(&z->form_noise, 1, 0), bound);
}

/* ---- totals and counts ---- */

static bool is_census(const tmi_schedule *s) { return s->plan->design.kind->takes_all; }

/* The estimate of one noisy integer is the double nearest to the exact product (22 * 30.97 is 681.34, not 681.3399...). */
static tamis_status round_once(tmi_result *result, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_measurement *a = tmi_table_of(s, result->statistic, TMI_NUMERATOR);
    const tmi_plan_column *x = a->quantity.x;
    size_t h = tmi_cell_stratum(a, result->cell);
    bool one = a->by_count == s->plan->statistics[result->statistic].by_count && a->units == 1 && a->shift == 0 &&
               a->quantity.weighing == TMI_UNWEIGHED && isfinite(result->estimate) && !tmi_is_calibrated(s, result->statistic);
    if (!one) return TAMIS_OK;
    tmi_exact e = TMI_EXACT(err);
    tamis_number *k = NULL, *product = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_int128(&k, r->noisy[s->uses[result->statistic].table[TMI_NUMERATOR]][result->cell], err));
    tmi_term step = !x || x->conditions ? tmi_int(&e, 1) : x->by_stratum ? x->by_stratum[h].step : x->step;
    TMI_TRY(tmi_exact_copy(&product, &e, tmi_mul(&e, tmi_mul(&e, s->sampling.weight[h], step), k)));
    result->estimate = tmi_number_nearest(product);

done:
    tmi_exact_clear(&e);
    tamis_number_free(k);
    tamis_number_free(product);
    return status;
}

static tamis_status read_total(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    tmi_range range = t->column ? tmi_range_with_zero(tmi_range_of(t->column)) : (tmi_range){0, 1};
    tamis_status status;
    result->estimate = z->value[TMI_NUMERATOR];
    error e = {.factor = {[TMI_NUMERATOR] = 1}, .with_noise = z->with_noise};
    e.noise = tmi_sums_noise(z, e.factor);
    result->shared_noise = z->shared_noise;
    e.sampling = is_census(s) ? 0 : variance_within(result, r, z, z->form.xx, range);
    TMI_TRY(round_once(result, r, err));
    bool has_interval = set_errors(result, z, &e);
    if (tmi_is_inverted(result, r)) TMI_TRY(tmi_invert_count(result, r, 1, err));
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

/* What the denominator is where it was not measured: the size of the group. */
static double denominator(const tmi_inference *r, const tmi_result *result, const tmi_group_sums *z)
{
    return tmi_table_of(r->schedule, result->statistic, TMI_DENOMINATOR) ? z->value[TMI_DENOMINATOR]
                                                                         : tmi_units_at_most(r->schedule, result);
}

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

static double centre_of(const tmi_inference *r, const tmi_result *result)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[result->statistic];
    const tmi_measurement *a = tmi_table_of(r->schedule, result->statistic, TMI_NUMERATOR);
    return t->column->conditions ? 0 : t->column->grid.step * (double)a->quantity.centre_x;
}

/* The largest sampling variance of A - r B for any r of the range. */
static double largest_variance(const tmi_inference *r, const tmi_group_sums *z, const tmi_plan_statistic *t, tmi_range range)
{
    if (is_census(r->schedule)) return 0;
    if (z->with_noise) return fmax(tmi_quadratic_at(z->form, range.low), tmi_quadratic_at(z->form, range.high));
    tmi_range x = tmi_range_of(t->column),
              y = t->second ? tmi_range_of(t->second) : (tmi_range){1, 1}; /* x - r y has 0 in its range */
    double width = x.high - x.low + fmax(fabs(range.low), fabs(range.high)) * (y.high - y.low);
    double far = r->schedule->sampling.subtracts ? width / 2 : width;
    return z->spread * far * far;
}

/* The rows of a ratio, where something in it is centred. */
static double rows_of(const tmi_inference *r, const tmi_result *result, const tmi_group_sums *z)
{
    if (z->centre[0] == 0 && z->centre[1] == 0) return 0;
    return tmi_table_of(r->schedule, result->statistic, TMI_RATIO_ROWS) ? z->value[TMI_RATIO_ROWS]
                                                                        : tmi_units_at_most(r->schedule, result);
}

static tamis_status fieller(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, double centre, tmi_range range,
                            tamis_error *err)
{
    const tmi_plan_statistic *t = &r->schedule->plan->statistics[result->statistic];
    size_t count = z->part_count;
    tmi_ratio_part *parts = tmi_alloc(count, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        const tmi_sums_part *part = &z->parts[i];
        double x = part->factor[TMI_NUMERATOR] + z->centre[0] * part->factor[TMI_RATIO_ROWS],
               y = part->factor[TMI_DENOMINATOR] + z->centre[1] * part->factor[TMI_RATIO_ROWS];
        parts[i] = (tmi_ratio_part){x, y, part->scale, part->gaussian};
    }
    double margin = tmi_variance_margin(tmi_number_nearest(t->confidence));
    double N = rows_of(r, result, z);
    tmi_ratio ratio = {z->value[TMI_NUMERATOR] + z->centre[0] * N,
                       z->value[TMI_DENOMINATOR] + z->centre[1] * N,
                       z->form,
                       z->form_noise,
                       z->ones,
                       z->all,
                       largest_variance(r, z, t, range),
                       z->df > 0 ? z->df : TMI_NORMAL,
                       parts,
                       count,
                       z->with_noise};
    for (int i = 0; i < 5; i++) ratio.margin.c[i] *= margin * margin;
    tmi_ratio_result found;
    tamis_status status = tmi_interval_ratio(&found, &ratio, tmi_number_nearest(t->confidence), range.low, range.high, err);
    tmi_free(parts);
    if (status != TAMIS_OK) return status;
    if (found.may_be_zero) note(result, whole_range);
    result->lower = centre + found.interval.lower;
    result->upper = centre + found.interval.upper;
    return TAMIS_OK;
}

static tamis_status read_ratio(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    double N = rows_of(r, result, z), B = denominator(r, result, z) + z->centre[1] * N,
           centre = t->second ? 0 : centre_of(r, result);
    bool measured = tmi_table_of(s, result->statistic, TMI_DENOMINATOR) != NULL;
    tamis_status status = TAMIS_OK;
    if (!is_denominator(B, r, result) && measured) {
        result->reason = t->second ? "the noisy denominator is not above 0" : "the noisy number of rows is not above 0";
        return TAMIS_OK;
    }
    double ratio = (z->value[TMI_NUMERATOR] + z->centre[0] * N) / B;
    result->estimate = centre + ratio;
    error e = {.factor = {1 / B, measured ? -ratio / B : 0, (z->centre[0] - ratio * z->centre[1]) / B},
               .with_noise = z->with_noise};
    e.noise = tmi_sums_noise(z, e.factor);
    tmi_range range = tmi_ratio_range(t, centre);
    double variance = measured ? tmi_quadratic_at(z->form, ratio) : z->form.xx, largest = largest_variance(r, z, t, range);
    double noise_sd = tmi_form_noise_sd(&z->form_noise, 1, measured ? ratio : 0);
    e.sampling = is_census(s) ? 0 : limited(result, r, variance, noise_sd, z->with_noise ? INFINITY : largest) / (B * B);
    bool has_interval = set_errors(result, z, &e);
    if (!measured && tmi_is_inverted(result, r)) TMI_TRY(tmi_invert_count(result, r, B, err));
    else if (has_interval && measured && isfinite(range.low) && isfinite(range.high))
        TMI_TRY(fieller(result, r, z, centre, range, err));
    else if (has_interval) TMI_TRY(set_interval(result, r, z, &e, err));
    tmi_range x = tmi_range_of(t->column), y = t->second ? tmi_range_with_zero(tmi_range_of(t->second)) : (tmi_range){0, 0};
    if (t->second) x = tmi_range_with_zero(x);
    tmi_result_bias(result, s, x.high - x.low + fabs(ratio) * (y.high - y.low), B);

done:
    return status;
}

/* ---- variances ---- */

/* n/(n-1), n the rows of the group, as svyvar has it: its noisy size times the rate of the sample. Where there is no public rate,
 * nothing is known, and the factor is 1. */
static double one_more(const tmi_schedule *s, double B)
{
    const tmi_plan_design *d = &s->plan->design;
    double N = (double)tmi_drawn_from(d, tmi_frame_of(s)), n = N > 0 ? (double)d->sample * B / N : 0;
    if (d->kind->staged) n = 0; /* the plan has no rate of the second stage */
    if (d->kind->rate) n = B / tmi_number_nearest(s->sampling.weight[0]);
    return n > 1 ? n / (n - 1) : 1;
}

static tamis_status read_variance(tmi_result *result, const tmi_inference *r, tmi_group_sums *z, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    double B = z->value[TMI_DENOMINATOR], centre = centre_of(r, result);
    if (!is_denominator(B, r, result)) {
        result->reason = "the noisy number of rows is not above 0";
        return TAMIS_OK;
    }
    double m = z->value[TMI_NUMERATOR] / B, more = one_more(s, B);
    double square = tmi_unbiased_square(z->value[TMI_NUMERATOR], tmi_sums_noise(z, (const double[]){1, 0, 0})) / (B * B);
    result->estimate = more * (z->value[TMI_SQUARES] / B - square);
    const double factors[] = {-2 * m / B, (2 * m * m - z->value[TMI_SQUARES] / B) / B, 1 / B};
    error e = {.factor = {more * factors[TMI_NUMERATOR], more * factors[TMI_DENOMINATOR], more * factors[TMI_SQUARES]},
               .with_noise = z->with_noise};
    e.noise = tmi_sums_noise(z, e.factor);
    tamis_status status = TAMIS_OK;
    if (s->sampling.clustered && !is_census(s)) {
        TMI_TRY(tmi_units_variance(&e.sampling, &z->df, r, result->statistic, result->cell, factors, err));
    } else if (!is_census(s)) { /* (x - mean)^2 lies in [0, R^2] with mean S^2: its variance is at most S^2 (R^2 - S^2) */
        tmi_range x = tmi_range_of(s->plan->statistics[result->statistic].column);
        double R = fmax(x.high - centre - m, centre + m - x.low), S = fmin(fmax(result->estimate, 0), R * R);
        double units = s->plan->design.population > 0 ? (double)s->plan->design.population : B;
        double largest = S > 0 ? S * (R * R - S) : R * R * R * R / 4;
        e.sampling = z->spread * (B / units) * largest / (B * B);
        note(result, bounded);
    }
    if (set_errors(result, z, &e)) TMI_TRY(set_interval(result, r, z, &e, err));
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

tamis_status tmi_read_result(tmi_result *result, const tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    tmi_group_sums z;
    if (s->uses[result->statistic].known) {
        read_known(result, s);
        return TAMIS_OK;
    }
    tmi_range limits = tmi_result_range(s, result);
    result->least = limits.low;
    result->most = limits.high;
    if (tmi_is_calibrated(s, result->statistic) && !tell_calibration(result, r)) return TAMIS_OK;
    tamis_status status = tmi_group_sums_make(&z, r, result->statistic, result->cell, err);
    if (status != TAMIS_OK) return status;
    bool ratio = t->kind == TMI_MEAN || t->kind == TMI_SHARE || t->kind == TMI_RATIO;
    if (tmi_divides_total(s, t)) status = read_part(result, r, &z, err);
    else if (ratio) status = read_ratio(result, r, &z, err);
    else if (t->kind == TMI_VARIANCE) status = read_variance(result, r, &z, err);
    else status = read_total(result, r, &z, err);
    tmi_group_sums_clear(&z);
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) { /* the noise fell where no interval is: no failure of the release */
        result->lower = result->upper = TMI_NULL;
        result->reason = no_interval;
        status = TAMIS_OK;
    }
    return status;
}
