#include "inference/waves.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/error_term.h"
#include "inference/group_sums.h"
#include "inference/interval/interval.h"
#include "measure/contributions.h"
#include "num/number.h"

static const char no_estimate[] = "the earlier release has no such number";
static const char no_error[] = "the earlier release has no interval for its number";
static const char not_read[] = "the earlier release was not read";
static const char no_interval[] = "no interval can be computed from these noisy numbers";
static const char whole_range[] = "a denominator may be 0 within its error: the interval is the whole range";
static const char from_both[] =
    "the sampling variances of both waves are added: too wide an interval where people who are in both "
    "waves answer alike, too narrow a one where they vary in opposite directions";

static const char not_grouped[] =
    "the earlier release has no totals of groups of clusters (`for_change`): the sampling variances of both waves are added, too "
    "wide an interval where clusters that are in both waves are alike, too narrow a one where they vary in opposite directions";
static const char other_list[] = "the lists of clusters of both waves differ: what clusters have in common whose pairs are in "
                                 "one list alone is left out, which "
                                 "makes the interval wider";

static void note(tmi_result *result, const char *words)
{
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = words;
}

/* ---- numbers of a wave ---- */

static int64_t degrees_of(const tmi_inference *r, const tmi_group_sums *z, size_t statistic)
{
    if (r->errors && tmi_variance_source_for(r->schedule, statistic) != TMI_OWN_SQUARES) return TMI_NORMAL;
    return z->df > 0 && !z->normal ? z->df : TMI_NORMAL;
}

static tamis_status take_noise(tmi_wave_number *x, const tmi_plan_statistic *s, const tmi_group_sums *z, tamis_error *err)
{
    const tmi_form_moments form = tmi_form_moments_of(s);
    const bool ratio = form.y < TMI_MOMENTS;
    const double below = ratio ? z->value[form.y] : 1;
    double factors[TMI_MOMENTS] = {0};
    if (!(below > 0) || z->parts->count == 0) return TAMIS_OK;
    factors[form.x] = 1 / below;
    if (ratio) factors[form.y] -= tmi_ratio_at(s, z) / below;
    x->parts = tmi_alloc(z->parts->count, sizeof *x->parts);
    if (!x->parts) return tmi_fail_memory(err);
    for (size_t i = 0; i < z->parts->count; i++) {
        x->parts[x->part_count] = tmi_sums_part_in(z, i, factors);
        x->part_count += x->parts[x->part_count].factor != 0;
    }
    return TAMIS_OK;
}

/* Totals of groups of clusters, in units of the number. */
static tamis_status take_groups(tmi_wave_number *x, tmi_error_source *source, const tmi_group_sums *z, size_t g, tamis_error *err)
{
    const tmi_inference *r = source->inference;
    const tmi_measurement *m = source->measurement;
    const tmi_form_moments form = tmi_form_moments_of(&r->schedule->plan->statistics[m->marginal.statistic]);
    const double below = form.y < TMI_MOMENTS ? z->value[form.y] : 1;
    tmi_error_term term;
    if (!(below > 0)) return TAMIS_OK;
    const tamis_status status = tmi_error_term_make(&term, source, g, err);
    if (status != TAMIS_OK) return status;
    const double unit = sqrt(r->clamping) * term.step / below;
    tmi_error_term_clear(&term);
    if (!(unit > 0) || !isfinite(unit)) return TAMIS_OK;
    x->groups = tmi_alloc(TMI_CHANGE_GROUPS, sizeof *x->groups);
    if (!x->groups) return tmi_fail_memory(err);
    for (size_t k = 0; k < TMI_CHANGE_GROUPS; k++)
        x->groups[k] = unit * (double)r->noisy[m - r->schedule->measurements][g * TMI_CHANGE_GROUPS + k];
    x->group_scale = unit * tmi_number_nearest(m->laws[0].scale);
    return TAMIS_OK;
}

tamis_status tmi_wave_numbers_make(tmi_wave_number *numbers, const tmi_inference *r, const tmi_result *list, size_t i,
                                   tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t count = (size_t)tmi_statistic_cells(&s->plan->statistics[i]);
    const bool known = s->workload.maps[i].known;
    const tmi_measurement *groups = tmi_groups_measured(s, i);
    tmi_statistic_sums sums = {0};
    tmi_error_source source = {0};
    tamis_status status = TAMIS_OK;
    if (!known) TMI_TRY(tmi_statistic_sums_make(&sums, r, i, err));
    if (groups) TMI_TRY(tmi_error_source_make(&source, r, groups, err));
    for (size_t g = 0; g < count; g++) {
        const tmi_result *x = &list[g];
        TMI_TRY(tmi_watch_beat(s->watch, err));
        numbers[g] = (tmi_wave_number){.estimate = x->estimate,
                                       .sampling_se = x->sampling_se,
                                       .lower = x->lower,
                                       .upper = x->upper,
                                       .least = known ? x->estimate : x->least,
                                       .most = known ? x->estimate : x->most,
                                       .bias = x->bias,
                                       .rows = known || tmi_form_moments_of(&s->plan->statistics[i]).y != TMI_OF_ROWS
                                                   ? 0
                                                   : sums.groups[g].value[TMI_OF_ROWS],
                                       .df = known ? TMI_NORMAL : degrees_of(r, &sums.groups[g], i)};
        if (!known && isfinite(x->estimate)) TMI_TRY(take_noise(&numbers[g], &s->plan->statistics[i], &sums.groups[g], err));
        if (groups && isfinite(x->estimate)) TMI_TRY(take_groups(&numbers[g], &source, &sums.groups[g], g, err));
    }

done:
    tmi_error_source_clear(&source);
    tmi_statistic_sums_clear(&sums);
    return status;
}

/* ---- units of both samples ---- */

#define LEAST_LEFT 0.05 /* of the sum of both variances: correlations above 0.95 are not believed */

/* A lower limit of the covariance of both numbers of a group, from the moments of the units of both samples: 0 unless it is
 * clearly another one. */
static tamis_status covariance(double *found, const tmi_schedule *s, size_t i, size_t g, const tmi_earlier *before,
                               const double moments[TMI_MOMENTS], const tmi_wave_number *now, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_design *d = &s->plan->design;
    const tmi_wave_number *then = &before->numbers[g];
    const double least = (double)(d->population < before->population ? d->population : before->population),
                 n = (double)d->sample * (double)before->sample, weights = (double)d->population * (double)before->population / n,
                 left = 1 - n / (least * (double)t->contrast->overlap);
    const double of[TMI_MOMENTS] = {[TMI_OF_XY] = 1,
                                    [TMI_OF_X] = -then->estimate,
                                    [TMI_OF_Y] = -now->estimate,
                                    [TMI_OF_ROWS] = then->estimate * now->estimate};
    tmi_moment_noise noise;
    double sum = 0;
    *found = 0;
    if (!(now->rows > 0) || !(then->rows > 0)) return TAMIS_OK;
    const tamis_status status = tmi_moment_noise_make(&noise, s, tmi_main_weighting(s), i, g, 0, err);
    for (size_t m = 0; m < TMI_MOMENTS; m++) sum += of[m] * moments[m];
    const double margin = tmi_variance_margin(tmi_number_nearest(t->confidence)) * sqrt(tmi_moment_noise_of(&noise, of)) *
                          fabs(left);
    sum *= left;
    *found = (sum > margin ? sum - margin : sum < -margin ? sum : 0) * weights / (now->rows * then->rows);
    return status;
}

/* ---- clusters of both samples ---- */

static int64_t sum_of(const int64_t pairs[TMI_CHANGE_GROUPS])
{
    int64_t sum = 0;
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) sum += pairs[g];
    return sum > 0 ? sum : 1;
}

/* The sampling variance of a change from totals of groups of clusters; NaN: a wave has none. */
static double variance_from_groups(const tmi_schedule *s, const tmi_earlier *e, const tmi_wave_number *now,
                                   const tmi_wave_number *then, double apart, double noise, double confidence)
{
    const int64_t *pairs = s->psus.facts.pairs;
    const double all = (double)sum_of(pairs), all_then = (double)sum_of(e->pairs);
    double differences[TMI_CHANGE_GROUPS], shares[TMI_CHANGE_GROUPS];
    if (!e->grouped || !now->groups || !then->groups || !(apart > 0)) return NAN;
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) {
        differences[g] = now->groups[g] - then->groups[g];
        shares[g] = ((double)pairs[g] / all + (double)e->pairs[g] / all_then) / 2;
    }
    const bool gaussian = then->part_count > 0 && then->parts[0].gaussian;
    return tmi_change_variance(&(tmi_group_change){.differences = differences,
                                                   .shares = shares,
                                                   .count = TMI_CHANGE_GROUPS,
                                                   .noise = {{now->group_scale, s->gaussian}, {then->group_scale, gaussian}},
                                                   .apart = apart,
                                                   .around = noise,
                                                   .confidence = confidence});
}

/* ---- change ---- */

static double sum_of_variances(const tmi_wave_number *a, const tmi_wave_number *b)
{
    return a->sampling_se * a->sampling_se + b->sampling_se * b->sampling_se;
}

/* Two waves, with a covariance, or one of them: the other has no error. */
static tamis_status reach_of(double *reach, double *noise, const tmi_wave_number *a, const tmi_wave_number *b, double sampling,
                             double confidence, tamis_error *err)
{
    static const tmi_wave_number none = {0};
    const tmi_wave_number *other = b ? b : &none;
    const size_t count = a->part_count + other->part_count;
    tmi_noise_part *parts = tmi_alloc(count, sizeof *parts);
    tamis_status status = TAMIS_OK;
    if (!parts) return tmi_fail_memory(err);
    for (size_t k = 0; k < count; k++) parts[k] = k < a->part_count ? a->parts[k] : other->parts[k - a->part_count];
    const int64_t df = a->df == TMI_NORMAL || !(a->sampling_se > 0)           ? other->df
                       : other->df == TMI_NORMAL || !(other->sampling_se > 0) ? a->df
                       : a->df < other->df                                    ? a->df
                                                                              : other->df;
    const tmi_error_law law = {.se = sqrt(sampling), .df = df, .parts = parts, .count = count};
    if (noise) *noise = tmi_noise_variance(parts, count);
    if (sampling == 0 && count == 0) *reach = 0;
    else status = tmi_error_reach(reach, &law, confidence, err);
    tmi_free(parts);
    return status;
}

static bool is_whole(const tmi_wave_number *x) { return x->lower <= x->least && x->upper >= x->most; }

/* The ends of a change of means, shares or ratios, from those of its numbers. */
static tamis_status set_ends(tmi_result *result, const tmi_wave_number *now, const tmi_wave_number *before, double reach,
                             double confidence, tamis_error *err)
{
    double own, other;
    tamis_status status;
    TMI_TRY(reach_of(&own, NULL, now, NULL, now->sampling_se * now->sampling_se, confidence, err));
    TMI_TRY(reach_of(&other, NULL, before, NULL, before->sampling_se * before->sampling_se, confidence, err));
    const double below = fmax(now->estimate - now->lower, 0), above = fmax(now->upper - now->estimate, 0),
                 below_then = fmax(before->estimate - before->lower, 0), above_then = fmax(before->upper - before->estimate, 0),
                 both = own * own + other * other, scale = both > 0 ? reach / sqrt(both) : 0;
    result->lower = result->estimate - scale * sqrt(below * below + above_then * above_then);
    result->upper = result->estimate + scale * sqrt(above * above + below_then * below_then);
    if (is_whole(now) || (before->least < before->most && is_whole(before))) {
        note(result, whole_range);
        result->lower = result->least;
        result->upper = result->most;
    }

done:
    return status;
}

/* `together`: the covariance of both numbers; NaN: it is not known. */
static tamis_status read_group(tmi_result *result, const tmi_schedule *schedule, const tmi_earlier *earlier,
                               const tmi_result *own, const tmi_wave_number *now, const tmi_wave_number *before, double together,
                               tamis_error *err)
{
    const tmi_plan_statistic *s = &schedule->plan->statistics[earlier->statistic];
    const tmi_plan_contrast *c = s->contrast;
    const bool ratio = c->compared[0].kind != TMI_COUNT && c->compared[0].kind != TMI_TOTAL;
    const double confidence = tmi_number_nearest(s->confidence);
    double reach, noise;
    tmi_wave_number one, other;
    tamis_status status = TAMIS_OK;
    result->least = now->least - before->most;
    result->most = now->most - before->least;
    if (isnan(now->estimate) || isnan(before->estimate)) {
        result->reason = !isnan(now->estimate) ? no_estimate : own->reason ? own->reason : no_interval;
        return TAMIS_OK;
    }
    result->estimate = now->estimate - before->estimate;
    result->outside_range = result->estimate < result->least || result->estimate > result->most;
    if (!isnan(now->bias) || !isnan(before->bias))
        result->bias = (isnan(now->bias) ? 0 : now->bias) + (isnan(before->bias) ? 0 : before->bias);
    if (isnan(now->sampling_se) || isnan(now->lower) || isnan(before->sampling_se) || isnan(before->lower)) {
        const bool of_own = isnan(now->sampling_se) || isnan(now->lower);
        result->reason = !of_own ? no_error : own->reason ? own->reason : no_interval;
        return TAMIS_OK;
    }
    noise = tmi_noise_variance(now->parts, now->part_count) + tmi_noise_variance(before->parts, before->part_count);
    const double both = sum_of_variances(now, before),
                 grouped = variance_from_groups(schedule, earlier, now, before, both, noise, confidence),
                 sampling = !isnan(grouped)   ? grouped
                            : isnan(together) ? both
                                              : fmax(both - 2 * together, LEAST_LEFT * both);
    if (!isnan(grouped)) { /* it is as large as few groups need it: no Student's law comes in addition */
        one = *now;
        other = *before;
        one.df = other.df = TMI_NORMAL;
        now = &one;
        before = &other;
        if (memcmp(schedule->psus.facts.pairs, earlier->pairs, sizeof earlier->pairs) != 0) note(result, other_list);
    } else if (!c->independent && isnan(together)) {
        note(result,
             c->compared[0].statistic < schedule->plan->asked_count && tmi_groups_measured(schedule, c->compared[0].statistic)
                 ? not_grouped
                 : from_both);
    }
    TMI_TRY(reach_of(&reach, &noise, now, before, sampling, confidence, err));
    result->noise_sd = sqrt(noise);
    result->sampling_se = sqrt(sampling);
    result->se = sqrt(sampling + noise);
    result->limited = own->limited;
    if (sampling > 0 && (now->df > 0 || before->df > 0))
        result->df = now->df == 0 ? before->df : before->df == 0 || now->df < before->df ? now->df : before->df;
    if (ratio) {
        TMI_TRY(set_ends(result, now, before, reach, confidence, err));
    } else { /* of an estimate outside the range: about the nearest possible value, as that of a total */
        const double centre = fmin(fmax(result->estimate, result->least), result->most);
        result->lower = centre - reach;
        result->upper = centre + reach;
    }
    result->lower = fmin(fmax(result->lower, result->least), result->most);
    result->upper = fmax(fmin(result->upper, result->most), result->least);

done:
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) { /* the noise fell where no interval is: no failure of the release */
        result->lower = result->upper = TMI_NULL;
        result->reason = no_interval;
        status = TAMIS_OK;
    }
    return status;
}

static tamis_status read_change(tmi_result *list, const tmi_inference *r, tmi_result *const *first, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_earlier *before = tmi_earlier_of(s->earlier, i);
    const size_t groups = (size_t)tmi_statistic_cells(t), of = tmi_term_statistic(t->contrast, 0);
    const size_t cells = (size_t)tmi_statistic_cells(&s->plan->statistics[of]);
    tmi_wave_number *now = tmi_alloc(cells, sizeof *now);
    double *moments = NULL;
    bool shared = false;
    tamis_status status = TAMIS_OK;
    if (!now) return tmi_fail_memory(err);
    if (before) TMI_TRY(tmi_wave_numbers_make(now, r, first[of], of, err));
    if (before && t->contrast->before) TMI_TRY(tmi_products_are_measured(&shared, s, i, err));
    if (shared) {
        moments = tmi_alloc(groups, TMI_MOMENTS * sizeof *moments);
        if (!moments) TMI_TRY(tmi_fail_memory(err));
        TMI_TRY(tmi_reconstruct_moments(moments, &r->main, 0, i, 0, err));
    }
    for (size_t g = 0; g < groups; g++) {
        const size_t cell = tmi_term_cell(s->plan, t, 0, g);
        double together = NAN;
        if (shared) TMI_TRY(covariance(&together, s, i, g, before, moments + g * TMI_MOMENTS, &now[cell], err));
        if (before) TMI_TRY(read_group(&list[g], s, before, &first[of][cell], &now[cell], &before->numbers[g], together, err));
        else list[g].reason = not_read;
    }

done:
    tmi_free(moments);
    tmi_wave_numbers_free(now, cells);
    return status;
}

tamis_status tmi_read_changes(tmi_results *results, const tmi_inference *r, tamis_error *err)
{
    const tamis_plan *plan = results->plan;
    if (tmi_count_changes(plan) == 0) return TAMIS_OK;
    tmi_result **first = tmi_results_first(results);
    tamis_status status = TAMIS_OK;
    if (!first) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->asked_count && status == TAMIS_OK; i++)
        if (plan->statistics[i].kind == TMI_CONTRAST_CHANGE) status = read_change(first[i], r, first, i, err);
    tmi_free(first);
    return status;
}
