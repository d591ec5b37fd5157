#include "inference/shrink.h"

#include <math.h>

#include "base/memory.h"
#include "inference/adjust.h"
#include "inference/fay_herriot.h"
#include "inference/interval/interval.h"
#include "measure/controls.h"
#include "num/number.h"

#define SURE 4 /* standard deviations of its noise that the size of all groups must be away from 0 */

static const char moved[] =
    "shrunk towards the margin of its groups: biased where a group differs from it, and no longer consistent with it";
static const char replaced[] = "the group is too small relative to the noise: its number is the margin of all groups";
static const char too_few[] = "not shrunk: too few groups have an estimate that is usable beside its noise";

typedef struct group {
    const tmi_group_sums *sums;
    double d;               /* x - R y */
    double size;            /* the root of the estimated square of y; 0: not usable */
    double base;            /* what its part in the sum of the sampling variances is proportional to */
    double noise, variance; /* of d */
} group;

typedef struct shrinking {
    const tmi_inference *r;
    size_t statistic;
    tmi_form_moments form;
    group *groups;
    size_t count, usable;
    double margin; /* R */
    double all;    /* the size of all groups */
    double *y, *v; /* of the usable ones */
    tmi_fay_herriot fit;
} shrinking;

/* ---- the margin ---- */

/* d as a combination of a group's moments; a size that is public has no noise. */
static void set_factors(double factors[TMI_MOMENTS], const shrinking *s, double times)
{
    for (size_t m = 0; m < TMI_MOMENTS; m++) factors[m] = 0;
    factors[s->form.x] += times;
    factors[s->form.y] -= times * s->margin;
}

static double size_noise(const shrinking *s, const tmi_group_sums *own) { return own->noise->covariance[s->form.y][s->form.y]; }

static bool set_margin(shrinking *s, const tmi_statistic_sums *z)
{
    double x = 0, noise = 0;
    for (size_t i = 0; i < s->count; i++) {
        x += z->groups[i].value[s->form.x];
        s->all += z->groups[i].value[s->form.y];
        noise += size_noise(s, &z->groups[i]);
    }
    s->margin = x / s->all;
    return s->all > 0 && s->all >= SURE * sqrt(noise) && isfinite(s->margin);
}

/* ---- variances ---- */

/* A group that lies in one stratum has the weight of that; others have the mean weight in common. */
static double base_of(const tmi_schedule *s, size_t statistic, size_t g, double size)
{
    const size_t h = tmi_group_stratum(s, statistic, g);
    if (h == SIZE_MAX || !s->sampling.variance_factor || s->sampling.weights == TMI_ROWS) return size;
    return size * s->sampling.variance_factor[h] / tmi_number_nearest(s->sampling.weight[h]);
}

/* Whether they are known. */
static bool set_variances(shrinking *s)
{
    const tmi_schedule *schedule = s->r->schedule;
    const double confidence = tmi_number_nearest(schedule->plan->statistics[s->statistic].confidence);
    double squares = 0, noise = 0, bases = 0, factors[TMI_MOMENTS];
    for (size_t i = 0; i < s->count; i++) {
        const group *g = &s->groups[i];
        squares += tmi_quadratic_at(g->sums->form, s->margin);
        noise += pow(tmi_form_noise_sd(&g->sums->form_noise, 1, s->margin), 2);
        bases += g->base;
    }
    const bool census = schedule->plan->design.kind->takes_all;
    const double all = census ? 0 : tmi_variance_limit(squares, tmi_variance_margin(confidence) * sqrt(noise), INFINITY).value;
    set_factors(factors, s, 1);
    for (size_t i = 0; i < s->count; i++) {
        group *g = &s->groups[i];
        g->noise = tmi_sums_noise(g->sums, factors);
        g->variance = g->noise + (bases > 0 ? all * g->base / bases : 0);
        if (!isfinite(g->variance)) return false;
    }
    return true;
}

/* ---- the fit ---- */

/* Whether there is one: groups enough, and some error or difference. */
static bool fit(shrinking *s)
{
    double variance = 0;
    bool any = false;
    for (size_t i = 0, k = 0; i < s->count; i++) {
        const group *g = &s->groups[i];
        variance += g->variance / (s->all * s->all);
        if (g->size == 0) continue;
        s->y[k] = s->margin + g->d / g->size;
        s->v[k] = g->variance / (g->size * g->size);
        if (!isfinite(s->y[k]) || !isfinite(s->v[k])) return false;
        any = any || s->v[k] > 0 || s->y[k] != s->margin;
        k++;
    }
    if (any) s->fit = tmi_fay_herriot_fit(s->y, s->v, s->usable, s->margin, variance);
    return any;
}

/* ---- results ---- */

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* Notes on the variance and the interval are those of the direct estimate: what calibration and weights did stays. */
static void keep_notes(tmi_result *result, const shrinking *s)
{
    const bool calibrated = tmi_is_calibrated(s->r->schedule, s->statistic) && result->note_count > 0;
    result->note_count = calibrated ? 1 : 0;
    if (!isnan(result->bias)) note(result, tmi_adjustment_text(TMI_REGULARISED));
}

/* The noise of the group has its exact law; the rest, sampling and what the model leaves, is Student's with one degree of freedom
 * for each group but one, or those of the design where they are fewer. */
static tamis_status set_interval(tmi_result *result, const shrinking *s, const group *g, double weight, double mse,
                                 tamis_error *err)
{
    const tmi_plan_statistic *t = &s->r->schedule->plan->statistics[s->statistic];
    const size_t most = g->size > 0 ? g->sums->parts->count : 0;
    const double factor = g->size > 0 ? weight / g->size : 0, noise = factor * factor * g->noise, rest = fmax(mse - noise, 0);
    const int64_t groups = (int64_t)s->usable - 1, own = g->sums->df;
    double factors[TMI_MOMENTS];
    size_t count = 0;
    tmi_noise_part *parts = tmi_alloc(most, sizeof *parts);
    if (!parts) return tmi_fail_memory(err);
    set_factors(factors, s, factor);
    for (size_t i = 0; i < most; i++) {
        parts[count] = tmi_sums_part_in(g->sums, i, factors);
        count += parts[count].factor != 0;
    }
    result->df = own > 0 && own < groups ? own : groups;
    const tmi_error_law law = {.se = sqrt(rest), .df = result->df, .parts = parts, .count = count};
    tmi_interval interval = {TMI_NULL, TMI_NULL, false};
    tamis_error ignored;
    const tamis_status status = tmi_interval_symmetric(&interval, result->estimate, &law, tmi_number_nearest(t->confidence),
                                                       result->least, result->most, &ignored);
    tmi_free(parts);
    if (status == TAMIS_SYSTEM) return tmi_fail_as(err, &ignored);
    result->lower = status == TAMIS_OK ? interval.lower : TMI_NULL;
    result->upper = status == TAMIS_OK ? interval.upper : TMI_NULL;
    result->noise_sd = sqrt(noise);
    result->sampling_se = sqrt(rest);
    result->se = sqrt(rest + noise);
    return TAMIS_OK;
}

static tamis_status set_result(tmi_result *result, const shrinking *s, const group *g, tamis_error *err)
{
    const double v = g->size > 0 ? g->variance / (g->size * g->size) : INFINITY, weight = tmi_fay_herriot_weight(&s->fit, v);
    result->shrunk = (tmi_shrunk){.direct = result->estimate,
                                  .direct_se = result->se,
                                  .weight = weight,
                                  .towards = s->margin,
                                  .bias = (1 - weight) * sqrt(s->fit.between)};
    result->estimate = s->margin + (g->size > 0 ? weight * g->d / g->size : 0);
    result->outside_range = result->estimate < result->least || result->estimate > result->most;
    result->limited = result->exact = false;
    result->reason = NULL;
    keep_notes(result, s);
    note(result, g->size > 0 ? moved : replaced);
    return set_interval(result, s, g, weight, tmi_fay_herriot_mse(&s->fit, v), err);
}

/* ---- together ---- */

static void set_groups(shrinking *s, const tmi_result *list, const tmi_statistic_sums *z)
{
    for (size_t i = 0; i < s->count; i++) {
        const tmi_group_sums *own = &z->groups[i];
        const double y = own->value[s->form.y], square = tmi_unbiased_square(y, size_noise(s, own));
        const bool usable = isfinite(list[i].estimate) && y > 0 && square > 0;
        s->groups[i] = (group){.sums = own,
                               .d = own->value[s->form.x] - s->margin * y,
                               .size = usable ? sqrt(square) : 0,
                               .base = base_of(s->r->schedule, s->statistic, i, fmax(y, 0))};
        s->usable += usable;
    }
}

tamis_status tmi_shrink_groups(tmi_result *list, const tmi_inference *r, const tmi_statistic_sums *z, size_t statistic,
                               tamis_error *err)
{
    shrinking s = {.r = r, .statistic = statistic, .count = z->count};
    tamis_status status = TAMIS_OK;
    s.form = tmi_form_moments_of(&r->schedule->plan->statistics[statistic]);
    s.groups = tmi_alloc(s.count, sizeof *s.groups);
    s.y = tmi_alloc(s.count, sizeof *s.y);
    s.v = tmi_alloc(s.count, sizeof *s.v);
    if (!s.groups || !s.y || !s.v) TMI_TRY(tmi_fail_memory(err));
    const bool has_margin = set_margin(&s, z);
    if (has_margin) set_groups(&s, list, z);
    if (!has_margin || s.usable < TMI_FEWEST_SHRUNK || !set_variances(&s) || !fit(&s)) {
        for (size_t i = 0; i < s.count; i++)
            if (!isnan(list[i].estimate)) note(&list[i], too_few);
        goto done;
    }
    for (size_t i = 0; i < s.count; i++) TMI_TRY(set_result(&list[i], &s, &s.groups[i], err));

done:
    tmi_free(s.groups);
    tmi_free(s.y);
    tmi_free(s.v);
    return status;
}
