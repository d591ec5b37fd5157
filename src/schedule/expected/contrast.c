#include "schedule/expected/contrast.h"

#include <math.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/group_noise.h"
#include "num/number.h"
#include "schedule/result.h"
#include "schedule/standard_errors.h"
#include "schedule/targets.h"

#define GUESSED 0.25 /* a share of which nothing is said */

/* The correlation of the sampling errors of two statistics of the same rows. Two shares of one column exclude each other, or one
 * contains the other. Of other columns nothing is known: they are taken to be independent where how they vary together is
 * measured, and else the largest error that both can have together is expected, as it is in a release. */
static double correlation(const tmi_schedule *s, size_t i, bool products, const tmi_expected_group *a,
                          const tmi_expected_group *b)
{
    const tmi_plan_compared *c = s->plan->statistics[i].contrast->compared;
    const tmi_relation relation = tmi_relation_of(c[0].column, c[1].column);
    const bool shares = c[0].kind == TMI_SHARE || c[0].kind == TMI_MEAN;
    const double p = shares && a->expected > 0 ? fmin(a->expected, 0.99) : GUESSED,
                 q = shares && b->expected > 0 ? fmin(b->expected, 0.99) : GUESSED, low = fmin(p, q), high = fmax(p, q);
    if (relation == TMI_EXCLUDED) return -fmin(sqrt(p * q / ((1 - p) * (1 - q))), 1);
    if (relation == TMI_WITHIN || relation == TMI_AROUND) return sqrt(low * (1 - high) / ((1 - low) * high));
    return tmi_has_own_errors(s, i) || products ? 0 : -1;
}

static const tmi_expected_group *group_of(const tmi_expected_statistic *list, const tmi_schedule *s, size_t i, size_t term,
                                          size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_expected_statistic *of = &list[tmi_term_statistic(t->contrast, term)];
    return &of->groups[of->count > 1 ? tmi_term_cell(s->plan, t, term, group) : 0];
}

/* What an earlier release adds to a change: its own errors, which are known; the mean of all, where other groups are tried. */
static void add_earlier(double *noise, double *sampling, const tmi_schedule *s, size_t i, size_t group)
{
    const tmi_earlier *before = tmi_earlier_of(s->earlier, i);
    const bool same = before && before->count == (size_t)tmi_statistic_cells(&s->plan->statistics[i]);
    for (size_t g = 0; before && g < before->count; g++) {
        const tmi_wave_number *x = &before->numbers[g];
        const double share = !same ? 1 / (double)before->count : g == group ? 1 : 0;
        if (share == 0) continue;
        *noise += share * tmi_noise_variance(x->parts, x->part_count);
        if (!isnan(x->sampling_se)) *sampling += share * x->sampling_se * x->sampling_se;
    }
}

/* From totals of groups of clusters, where both waves have them; NaN: they do not. */
static double from_groups(const tmi_schedule *s, size_t i, size_t group, double apart, double noise)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_earlier *before = tmi_earlier_of(s->earlier, i);
    const tmi_wave_number *x = before && before->count > group ? &before->numbers[group] : NULL;
    double own;
    if (!before || !before->grouped || !x->groups || !(apart > 0)) return NAN;
    if (tmi_expected_group_sd(&own, s, tmi_term_statistic(t->contrast, 0), NULL) != TAMIS_OK || !(own > 0)) return NAN;
    const bool gaussian = x->part_count > 0 && x->parts[0].gaussian;
    const double sds[2] = {own, x->group_scale * (gaussian ? 1 : sqrt(2))};
    return tmi_expected_wave_change(apart, noise, sds, gaussian, tmi_number_nearest(t->confidence));
}

/* The two numbers of a quotient, if public guesses say how large they are: shares of groups make totals and counts differ. */
static bool quotient_of(double *size, double *below, const tmi_expected_statistic *list, const tmi_schedule *s, size_t i,
                        size_t group)
{
    const double x = group_of(list, s, i, 0, group)->expected, y = group_of(list, s, i, 1, group)->expected;
    if (!(x > 0) || !(y > 0) || !isfinite(x / y)) return false;
    *size = x / y;
    *below = y;
    return true;
}

static tmi_expected_group expected_of(const tmi_expected_statistic *list, const tmi_schedule *s, size_t i, size_t group,
                                      bool products)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_contrast *c = t->contrast;
    tmi_expected_group found = {.expected = TMI_NULL, .units = INFINITY};
    double noise = 0, sampling = 0, sum = 0, size = 1, below = 1;
    const bool quotient = t->kind == TMI_CONTRAST_QUOTIENT && quotient_of(&size, &below, list, s, i, group);
    for (size_t k = 0; k < c->term_count; k++) {
        const tmi_expected_group *own = group_of(list, s, i, k, group);
        const double f = quotient ? (k == 0 ? 1 : -size) / below : tmi_expected_weight(s, i, k);
        noise += f * f * own->noise_sd * own->noise_sd;
        sampling += f * f * own->sampling_sd * own->sampling_sd;
        sum += fabs(f) * own->sampling_sd;
        found.range += fabs(f) * own->range;
        found.limit += fabs(f) * own->limit;
        if (own->units > 0) found.units = fmin(found.units, own->units);
    }
    if (t->kind == TMI_CONTRAST_CHANGE) {
        const double own = sampling;
        add_earlier(&noise, &sampling, s, i, group);
        const double grouped = from_groups(s, i, group, sampling, noise);
        if (!isnan(grouped)) sampling = grouped;
        else if (products) sampling -= 2 * tmi_expected_overlap(s, i) * sqrt(own * fmax(sampling - own, 0));
    } else if (!c->across) {
        const tmi_expected_group *a = group_of(list, s, i, 0, group), *b = group_of(list, s, i, 1, group);
        sampling -= 2 * correlation(s, i, products, a, b) * a->sampling_sd * b->sampling_sd; /* their weights are 1 and -1 */
    } else if (tmi_variance_source_for(s, i) == TMI_MEASURED_ERRORS && !tmi_has_own_errors(s, i)) {
        sampling = sum * sum;
    }
    if (t->kind == TMI_CONTRAST_QUOTIENT) {
        found.expected = size; /* 1 where nothing is said */
        found.limit = INFINITY;
    }
    if (!isfinite(found.units)) found.units = 0;
    found.noise_sd = sqrt(noise);
    found.sampling_sd = sqrt(fmax(sampling, 0));
    const tmi_typical_group o = {.sampling_sd = found.sampling_sd};
    if (tmi_has_own_errors(s, i)) found.error = tmi_expected_error(s, i, &o, noise);
    return found;
}

tamis_status tmi_expected_contrast(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    bool differ = tmi_earlier_of(s->earlier, i) != NULL, products;
    const tamis_status status = tmi_products_are_measured(&products, s, i, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < t->contrast->compared_count; k++)
        differ = differ || list[t->contrast->compared[k].statistic].count > 1;
    list[i].count = differ ? (size_t)tmi_statistic_cells(t) : 1;
    list[i].groups = tmi_alloc(list[i].count, sizeof *list[i].groups);
    if (!list[i].groups) return tmi_fail_memory(err);
    for (size_t g = 0; g < list[i].count; g++) {
        list[i].groups[g] = expected_of(list, s, i, g, products);
        if (list[i].groups[g].error.scale < 0) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}
