/* A quantile is where the distribution function crosses its level, and its interval Woodruff's: the values at which the interval
 * of the share below, with sampling error and noise, contains the level. Inequality measures are functions of the distribution
 * function; to first order they err as the mean of their influence function does, and that mean is read from the tables like any
 * other, with its errors. */
#include "inference/distribution.h"
#include "base/hypotenuse.h"

#include <math.h>

#include "base/memory.h"
#include "inference/answer_noise.h"
#include "inference/range.h"
#include "inference/step_mean.h"
#include "num/law/noise.h"
#include "num/law/student.h"
#include "num/number.h"
#include "schedule/expected/distribution.h"

static const char to_the_end[] = "the interval goes to the end of the range: no cut there can be ruled out";
static const char wide_bin[] =
    "more than a tenth of the rows are between two cuts, where the distribution function is taken as a straight line";
static const char long_tail[] = "more than a fiftieth of the rows are above the last cut: their values are inferred";
static const char noisier[] = "the mechanism that chose this value has more noise than the distribution function: `method: "
                              "distribution` would be more precise";
static const char no_line[] = "the line is outside the points of the grid: the share is known";

#define WIDE 0.1
#define LONG 0.02
#define NOISIER 1.25 /* times the standard error of what is read from the function */

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* One curve of a group, with what its statistics need. */
typedef struct reading {
    const tmi_inference *inference;
    const tmi_plan_statistic *statistic;
    const tmi_plan_curve *cuts;
    const tmi_result *shares; /* of the first cut and the first group; those of the other cuts are `groups` further */
    size_t groups, group;
    tmi_cdf curve;
    tmi_step_means *means;    /* NULL: not needed so far */
    tmi_cdf everybody;        /* without points: the same */
    const char *no_everybody; /* why there is none; NULL: there is one */
    tmi_answer_noise noise;   /* of quantiles that a mechanism chose */
} reading;

/* The share at the cut that is nearest to a place. */
static const tmi_result *share_near(const reading *r, double place)
{
    size_t best = 0;
    for (size_t k = 1; k < r->cuts->cut_count; k++)
        if (fabs((double)r->cuts->cuts[k] - place) < fabs((double)r->cuts->cuts[best] - place)) best = k;
    return &r->shares[best * r->groups + r->group];
}

/* What was done to the shares was done to what is read from them. */
static void take_facts(tmi_result *result, const tmi_result *share)
{
    result->df = share->df;
    result->limited = share->limited;
    for (size_t i = 0; i < share->note_count; i++) note(result, share->notes[i]);
}

/* ---- quantiles ---- */

/* How many standard errors an interval reaches on either side. */
static tamis_status margin_of(double *margin, const tmi_plan_statistic *t, int64_t df, tamis_error *err)
{
    if (df > 0) return tmi_student_quantile(margin, t->confidence, df, err);
    *margin = tmi_normal_margin(tmi_number_nearest(t->confidence));
    return TAMIS_OK;
}

/* The standard error is that of which the interval would be the usual multiple if the function were known between cuts, as its
 * allowance for that is no error of sampling or noise; these have their parts of the share's variance. */
static void set_errors(tmi_result *result, const reading *r, double q, double margin)
{
    double sampling, noise, lower, upper;
    const tmi_cdf *c = &r->curve;
    tmi_cdf_errors(&sampling, &noise, c, tmi_cdf_inverse(c, q));
    tmi_cdf_invert(&lower, &upper, c, q);
    const double own = tmi_cdf_value(c, tmi_cdf_inverse(c, q));
    lower = fmin(tmi_cdf_value(c, lower), own);
    upper = fmax(tmi_cdf_value(c, upper), own);
    result->se = (upper - lower) / (2 * margin);
    result->sampling_se = sampling > 0 ? result->se * sqrt(sampling / (sampling + noise)) : 0;
    result->noise_sd = noise > 0 ? result->se * sqrt(noise / (sampling + noise)) : 0;
}

/* A chosen value instead of the one that was read: with its sampling error and the noise of its mechanism. Its interval contains
 * that of the function, which covers as often as stated whatever was chosen, and the usual multiple of its own standard error. */
static void choose(tmi_result *result, double value, double mechanism, double margin, double step)
{
    const double se = tmi_hypotenuse(result->sampling_se, mechanism), reach = margin * se;
    if (se > NOISIER * result->se) note(result, noisier);
    result->estimate = value;
    result->noise_sd = mechanism;
    result->se = se;
    result->lower = fmax(fmin(result->lower, floor((value - reach) / step) * step), result->least);
    result->upper = fmin(fmax(result->upper, ceil((value + reach) / step) * step), result->most);
}

static tamis_status read_quantile(tmi_result *result, const reading *r, size_t k, const int64_t *answers, tamis_error *err)
{
    const tmi_cdf *c = &r->curve;
    const tmi_range range = tmi_range_of(r->cuts->column);
    const double q = tmi_number_nearest(r->statistic->at[k]);
    double lower, upper, margin;
    const double own = tmi_cdf_inverse(c, q);
    tmi_cdf_interval(&lower, &upper, c, q);
    take_facts(result, share_near(r, own));
    result->least = range.low;
    result->most = range.high;
    result->estimate = tmi_cdf_value(c, own);
    result->lower = fmin(tmi_cdf_value(c, lower), result->estimate);
    result->upper = fmax(tmi_cdf_value(c, upper), result->estimate);
    if (lower <= c->points[0].place || upper >= c->points[c->count - 1].place) note(result, to_the_end);
    size_t bin = 0;
    while (bin + 2 < c->count && c->points[bin + 1].place < own) bin++;
    const bool wide = c->points[bin + 1].share - c->points[bin].share > WIDE;
    if (wide && c->points[bin + 1].place - c->points[bin].place > 1) note(result, wide_bin);
    const tamis_status status = margin_of(&margin, r->statistic, result->df, err);
    if (status != TAMIS_OK) return status;
    set_errors(result, r, q, margin);
    if (answers && r->noise.task) choose(result, tmi_cdf_value(c, (double)*answers + 1), r->noise.errors[k], margin, c->step);
    return TAMIS_OK;
}

static tamis_status read_quantiles(tmi_result *list, reading *r, const int64_t *answers, tamis_error *err)
{
    const tmi_plan_statistic *t = r->statistic;
    tamis_status status = r->noise.task ? tmi_answer_noise_read(&r->noise, &r->curve, r->group, err) : TAMIS_OK;
    for (size_t k = 0; k < t->at_count && status == TAMIS_OK; k++) {
        const size_t cell = r->group * t->at_count + k;
        status = read_quantile(&list[cell], r, k, answers ? &answers[cell] : NULL, err);
    }
    return status;
}

#define FAR 3     /* times what an interval reaches */
#define NEAR 0.01 /* at least: a share may have hardly any error */

static bool is_near(const tmi_result *share, double level, double margin)
{
    return fabs(share->estimate - level) <= FAR * margin * share->se + NEAR;
}

bool tmi_decides_quantile(const tamis_plan *plan, const tmi_result *share)
{
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        if (!tmi_is_of_distribution(t->kind)) continue;
        const tmi_plan_curve *c = &plan->curves[t->curve];
        if (share->statistic < c->first || share->statistic >= c->first + c->cut_count) continue;
        const double margin = tmi_normal_margin(tmi_number_nearest(t->confidence));
        int64_t cut;
        if (t->kind == TMI_SHARE_BELOW && (!tmi_line_cut(&cut, t) || cut == c->cuts[share->statistic - c->first])) return true;
        for (size_t k = 0; k < t->at_count; k++)
            if (is_near(share, tmi_number_nearest(t->at[k]), margin)) return true;
        if (t->kind == TMI_IQR && (is_near(share, 0.25, margin) || is_near(share, 0.75, margin))) return true;
    }
    return false;
}

/* ---- shares below a line ---- */

static tamis_status read_share(tmi_result *result, const reading *r, tamis_error *err)
{
    const tmi_grid *grid = &r->cuts->column->grid;
    int64_t cut;
    if (!tmi_line_cut(&cut, r->statistic)) return tmi_fail_memory(err);
    for (size_t k = 0; k < r->cuts->cut_count; k++) {
        if (r->cuts->cuts[k] != cut) continue;
        const size_t statistic = result->statistic, cell = result->cell;
        *result = r->shares[k * r->groups + r->group];
        result->statistic = statistic;
        result->cell = cell;
        return TAMIS_OK;
    }
    result->estimate = result->lower = result->upper = result->least = result->most = cut > grid->high ? 1 : 0;
    result->se = result->sampling_se = result->noise_sd = 0;
    result->known = true;
    note(result, no_line);
    return TAMIS_OK;
}

/* ---- inequality ---- */

static void set_limits(tmi_result *result, const tmi_plan_statistic *t)
{
    const tmi_range range = tmi_range_of(t->column);
    result->least = t->kind == TMI_S80S20 ? 1 : 0;
    result->most = t->kind == TMI_S80S20 ? INFINITY : t->kind == TMI_IQR ? range.high - range.low : 1;
}

/* So many standard errors on either side, within what is possible; none, for the reason, where there is no standard error. */
static void set_interval(tmi_result *result, double margin, const char *reason)
{
    if (isnan(result->se)) {
        result->reason = reason;
        return;
    }
    result->lower = fmax(result->estimate - margin * result->se, result->least);
    result->upper = fmin(result->estimate + margin * result->se, result->most);
}

/* The mean of the influence function, whose values were put into [0, 1], has the errors of the measure in another unit. */
static tamis_status take_errors(tmi_result *result, const reading *r, const tmi_result *mean, const tmi_inequality *measure,
                                double unit, tamis_error *err)
{
    double margin;
    result->sampling_se = unit * sqrt(measure->within) * mean->sampling_se;
    result->noise_sd = unit * mean->noise_sd;
    result->se = tmi_hypotenuse(result->sampling_se, result->noise_sd);
    result->bias = unit * mean->bias;
    take_facts(result, mean);
    tamis_status status = margin_of(&margin, r->statistic, result->df, err);
    if (status != TAMIS_OK) return status;
    set_interval(result, margin, mean->reason);
    return TAMIS_OK;
}

static tamis_status read_mean(tmi_result *mean, reading *r, const double *values, size_t group, tamis_error *err)
{
    tamis_status status = r->means ? TAMIS_OK : tmi_step_means_make(&r->means, r->inference, r->statistic->curve, err);
    return status == TAMIS_OK ? tmi_step_mean_read(mean, r->means, values, group, err) : status;
}

/* The distribution function of the rows of all groups. */
static tamis_status read_everybody(reading *r, tamis_error *err)
{
    const size_t count = r->cuts->cut_count;
    tmi_result *shares = tmi_alloc(count, sizeof *shares);
    double *below = tmi_alloc(count + 1, sizeof *below);
    tamis_status status = TAMIS_OK;
    if (!shares || !below) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < count; k++) {
        below[k] = 1;
        TMI_TRY(read_mean(&shares[k], r, below, SIZE_MAX, err));
    }
    TMI_TRY(tmi_cdf_of_results(&r->everybody, &r->no_everybody, r->cuts, shares, 1, 0, err));

done:
    tmi_free(shares);
    tmi_free(below);
    return status;
}

/* Of a group, with the line of everybody: the error of the share below the line, and that of the share below the median, of
 * which the rows of the group are a part. Both noises are taken as independent, though a part of them is the same, and lowers the
 * sum. */
static tamis_status read_poverty(tmi_result *result, reading *r, tamis_error *err)
{
    const size_t bins = r->cuts->cut_count + 1;
    double *below = tmi_alloc(bins, sizeof *below), sampling, noise, margin;
    tmi_result mean = TMI_NO_RESULT;
    tamis_status status = TAMIS_OK;
    if (!below) return tmi_fail_memory(err);
    if (!r->everybody.points) TMI_TRY(read_everybody(r, err));
    result->reason = r->no_everybody;
    if (result->reason) goto done;
    const tmi_group_poverty found = tmi_cdf_poverty(&r->curve, &r->everybody, tmi_number_nearest(r->statistic->limit));
    for (size_t b = 0; b < bins; b++) {
        const double from = r->curve.points[b].place, to = r->curve.points[b + 1].place;
        below[b] = fmin(fmax((found.place - from) / (to - from), 0), 1);
    }
    TMI_TRY(read_mean(&mean, r, below, r->group, err));
    take_facts(result, &mean);
    tmi_cdf_errors(&sampling, &noise, &r->everybody, tmi_cdf_inverse(&r->everybody, 0.5));
    const double own = found.value * (1 - found.value), inside = own > 0 ? mean.sampling_se * mean.sampling_se : 0,
                 both = inside + found.slope * found.slope * sampling - 8 * found.slope * sampling * found.covaries;
    result->estimate = found.value;
    result->sampling_se = sqrt(fmax(both, inside / 4));
    result->noise_sd = tmi_hypotenuse(mean.noise_sd, found.slope * sqrt(noise));
    result->se = tmi_hypotenuse(result->sampling_se, result->noise_sd);
    TMI_TRY(margin_of(&margin, r->statistic, result->df, err));
    set_interval(result, margin, mean.reason);

done:
    tmi_free(below);
    return status;
}

/* An interval of a difference, from those of its two numbers (Zou and Donner 2008): Woodruff's of the quartiles, which allow for
 * what the function may be between cuts. To first order the sampling errors of the two have the correlation 1/3, that of
 * shares of a quarter and three quarters; their noises are taken as independent, though a part of them is the same, and lowers
 * the error of the difference. */
static void set_iqr_interval(tmi_result *result, const reading *r)
{
    static const double at[] = {0.25, 0.75};
    const tmi_cdf *c = &r->curve;
    double down[2], up[2], sampled = 1.0 / 3;
    if (isnan(result->se)) return;
    for (int k = 0; k < 2; k++) {
        double lower, upper, sampling, noise;
        const double place = tmi_cdf_inverse(c, at[k]), value = tmi_cdf_value(c, place);
        tmi_cdf_interval(&lower, &upper, c, at[k]);
        tmi_cdf_errors(&sampling, &noise, c, place);
        down[k] = fmax(value - tmi_cdf_value(c, lower), 0);
        up[k] = fmax(tmi_cdf_value(c, upper) - value, 0);
        sampled *= sampling > 0 ? sqrt(sampling / (sampling + noise)) : 0;
        if (lower <= c->points[0].place || upper >= c->points[c->count - 1].place) note(result, to_the_end);
    }
    const double less = down[1] * down[1] + up[0] * up[0] - 2 * sampled * down[1] * up[0],
                 more = up[1] * up[1] + down[0] * down[0] - 2 * sampled * up[1] * down[0];
    result->lower = fmax(result->estimate - sqrt(fmax(less, 0)), result->least);
    result->upper = fmin(result->estimate + sqrt(fmax(more, 0)), result->most);
}

static tamis_status read_measure(tmi_result *result, reading *r, tamis_error *err)
{
    const tmi_plan_statistic *t = r->statistic;
    const size_t bins = r->cuts->cut_count + 1, last = r->curve.count - 2;
    tmi_inequality measure;
    tmi_result mean = TMI_NO_RESULT;
    tamis_status status = tmi_inequality_make(&measure, &r->curve, tmi_measure_of(t->kind),
                                              t->limit ? tmi_number_nearest(t->limit) : 0, err);
    if (status != TAMIS_OK) return status;
    result->reason = measure.reason;
    if (measure.reason) goto done;
    result->estimate = measure.value;
    double low = INFINITY, high = -INFINITY;
    for (size_t b = 0; b < bins; b++) {
        low = fmin(low, measure.influence[b]);
        high = fmax(high, measure.influence[b]);
    }
    for (size_t b = 0; b < bins; b++) measure.influence[b] = high > low ? (measure.influence[b] - low) / (high - low) : 0;
    TMI_TRY(read_mean(&mean, r, measure.influence, r->group, err));
    TMI_TRY(take_errors(result, r, &mean, &measure, high - low, err));
    if (t->kind == TMI_IQR) set_iqr_interval(result, r);
    else if (t->kind != TMI_POVERTY && 1 - r->curve.points[last].share > LONG) note(result, long_tail);

done:
    tmi_inequality_clear(&measure);
    return status;
}

/* ---- together ---- */

static tamis_status read_group(tmi_result *list, reading *r, const int64_t *answers, tamis_error *err)
{
    const tmi_plan_statistic *t = r->statistic;
    const size_t cells = t->at_count > 0 ? t->at_count : 1;
    const char *reason;
    tamis_status status = tmi_cdf_of_results(&r->curve, &reason, r->cuts, r->shares, r->groups, r->group, err);
    if (status != TAMIS_OK) return status;
    if (t->kind == TMI_SHARE_BELOW) status = read_share(&list[r->group], r, err);
    else if (reason)
        for (size_t k = r->group * cells; k < (r->group + 1) * cells; k++) {
            list[k].reason = reason;
            if (answers) list[k].estimate = (double)answers[k] * tmi_number_nearest(t->column->step);
        }
    else if (t->at_count > 0) status = read_quantiles(list, r, answers, err);
    else {
        set_limits(&list[r->group], t);
        const bool of_others = t->kind == TMI_POVERTY && t->by_count > 0; /* one listed value is not everybody */
        status = of_others ? read_poverty(&list[r->group], r, err) : read_measure(&list[r->group], r, err);
    }
    tmi_cdf_clear(&r->curve);
    return status;
}

tamis_status tmi_read_distributions(tmi_results *results, const tmi_inference *inference, tamis_error *err)
{
    const tamis_plan *plan = results->plan;
    tmi_result **first = tmi_results_first(results);
    tamis_status status = TAMIS_OK;
    if (!first) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        if (!tmi_is_of_distribution(t->kind)) continue;
        const tmi_plan_curve *curve = &plan->curves[t->curve];
        reading r = {.inference = inference, .statistic = t, .cuts = curve, .shares = first[curve->first]};
        r.groups = (size_t)tmi_statistic_cells(&plan->statistics[curve->first]);
        status = tmi_answer_noise_make(&r.noise, inference, i, err);
        for (; r.group < r.groups && status == TAMIS_OK; r.group++) {
            status = tmi_watch_beat(inference->schedule->watch, err);
            if (status == TAMIS_OK) status = read_group(first[i], &r, inference->answers ? inference->answers[i] : NULL, err);
        }
        tmi_step_means_free(r.means);
        tmi_cdf_clear(&r.everybody);
        tmi_answer_noise_clear(&r.noise);
        if (status != TAMIS_OK) break;
    }
    tmi_free(first);
    return status;
}
