#include "schedule/targets.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/line_fit.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/guesses.h"
#include "schedule/standard_errors.h"
#include "schedule/typical_group.h"

#define FOR_COUNTS (1.0 / 4) /* of what a statistic's share is: counts of rows that only serve it */
#define CONFIDENCE 0.95 /* of the intervals that are looked at, whatever a plan asks for: it does not shape what is measured */
#define MOST_RANGES 64  /* of a number, of strata: so many are looked at */

void tmi_targets_clear(tmi_targets *a)
{
    for (size_t i = 0; i < a->part_count; i++) tmi_parts_of_effects_clear(&a->parts[i]);
    tmi_free(a->parts);
    tmi_free(a->list);
    tmi_free(a->statistics);
    tmi_free(a->weights);
    tmi_free(a->own_marginal);
    tmi_free(a->needed);
    tmi_free(a->grams);
    tmi_free(a->move_bounds);
    tmi_effects_clear(&a->effects);
    *a = (tmi_targets){0};
}

/* ---- combinations ---- */

static tamis_status add_needed(tmi_targets *a, const tmi_marginal *marginal, tamis_error *err)
{
    for (size_t i = 0; i < a->needed_count; i++) {
        const tmi_marginal *b = &a->needed[i];
        a->last_needed = i;
        if (b->weighting == marginal->weighting && b->domain == marginal->domain && b->axis_count == marginal->axis_count &&
            b->statistic == marginal->statistic && memcmp(b->axes, marginal->axes, marginal->axis_count * sizeof *b->axes) == 0)
            return TAMIS_OK;
    }
    if (!tmi_grow(&a->needed, &a->needed_room, a->needed_count, sizeof *a->needed)) return tmi_fail_memory(err);
    a->last_needed = a->needed_count;
    a->needed[a->needed_count++] = *marginal;
    return TAMIS_OK;
}

/* Whether a vector is the same for all levels, in all terms: the combination does not need the axis. */
static bool is_constant(const tmi_combination *c, size_t a, size_t levels)
{
    for (size_t t = 0; t < c->term_count; t++)
        for (size_t l = 1; l < levels; l++)
            if (c->vectors[a][t][l] != c->vectors[a][t][0]) return false;
    return true;
}

static tamis_status take(tmi_targets *a, const tmi_schedule *s, const tmi_combination *c, tamis_error *err)
{
    tmi_marginal marginal = {.weighting = c->weighting, .domain = c->domain};
    for (size_t i = 0; i < c->axis_count; i++)
        if (!is_constant(c, i, s->workload.axes[c->axes[i]].levels)) marginal.axes[marginal.axis_count++] = c->axes[i];
    if (!tmi_grow(&a->parts, &a->part_room, a->part_count, sizeof *a->parts)) return tmi_fail_memory(err);
    tamis_status status = tmi_effects_take(&a->parts[a->part_count], &a->effects, c, err);
    if (status != TAMIS_OK) return status;
    a->part_count++;
    return add_needed(a, &marginal, err);
}

/* Beside tables with the number that results are calibrated to, the same without it may be measured: most of a calibrated number
 * is the sum itself, and products are needed less precisely. */
static tamis_status add_without_number(tmi_targets *a, const tmi_schedule *s, const tmi_combination *c, tamis_error *err)
{
    tmi_marginal marginal = {.weighting = c->weighting, .domain = c->domain};
    if (s->workload.number_axis == SIZE_MAX) return TAMIS_OK;
    for (size_t i = 0; i < c->axis_count; i++)
        if (c->axes[i] != s->workload.number_axis && !is_constant(c, i, s->workload.axes[c->axes[i]].levels))
            marginal.axes[marginal.axis_count++] = c->axes[i];
    return marginal.axis_count > 0 ? add_needed(a, &marginal, err) : TAMIS_OK;
}

static bool is_zero(const double c[TMI_MOMENTS])
{
    for (size_t m = 0; m < TMI_MOMENTS; m++)
        if (c[m] != 0) return false;
    return true;
}


static tamis_status take_moments(tmi_targets *a, const tmi_schedule *s, tmi_weighting weighting, size_t i, size_t stratum,
                                 const double c[TMI_MOMENTS], double scale, tamis_error *err)
{
    double scaled[TMI_MOMENTS], *factors = NULL;
    tmi_moment_sum sum;
    tamis_status status = TAMIS_OK;
    if (is_zero(c) || scale == 0) return TAMIS_OK;
    for (size_t m = 0; m < TMI_MOMENTS; m++) scaled[m] = c[m] * scale;
    TMI_TRY(tmi_expected_factors(&factors, s, i, err));
    TMI_TRY(tmi_moment_sum_make(&sum, &s->workload, weighting, i, 0, stratum, scaled, factors, err));
    status = add_without_number(a, s, &sum.combination, err);
    if (status == TAMIS_OK) status = take(a, s, &sum.combination, err);
    tmi_moment_sum_clear(&sum);

done:
    tmi_free(factors);
    return status;
}

/* ---- strata ---- */

/* What a row or weight of a weighting is worth in a stratum, in units of the largest that a record adds there. */
static double worth_of(const tmi_schedule *s, tmi_weighting weighting, bool spread, size_t h)
{
    const tmi_sampling *p = &s->sampling;
    if (weighting == TMI_UNWEIGHTED) {
        const double a = p->variance_factor && !isnan(p->variance_factor[h]) ? p->variance_factor[h] : 0;
        return spread ? a : tmi_number_nearest(p->weight[h]);
    }
    const double most = (double)p->most * tmi_number_nearest(p->step);
    double ratio = 0; /* of a group that lies in one stratum, the largest that there is */
    for (size_t k = 0; spread && k < p->strata; k++)
        if (!isnan(p->variance_factor[k])) ratio = fmax(ratio, p->variance_factor[k] / tmi_number_nearest(p->weight[k]));
    return spread ? ratio * most : most;
}

/* By how much more a stratum's noise is than with the plan's epsilon, where strata have epsilons of their own. */
static double louder_in(const tmi_schedule *s, size_t h) { return tmi_noise_of_stratum(s->plan, h); }

/* The same for tables of all strata together, whose noise is what one of the strata needs: relative to what the largest weight
 * needs with the plan's epsilon. */
static double louder_together(const tmi_schedule *s, size_t weighting)
{
    const tmi_sampling *p = &s->sampling;
    const int64_t *points = p->weights != TMI_STRATA || weighting == TMI_UNWEIGHTED || weighting == TMI_CONTRIBUTED ? NULL
                            : tmi_weighs_squares(weighting) ? p->variance_points
                                                            : p->points;
    double needed = 0, most = 0;
    for (size_t h = 0; h < s->plan->design.stratum_count; h++) {
        const double weight = points ? (double)points[h] : 1;
        needed = fmax(needed, weight * louder_in(s, h));
        most = fmax(most, weight);
    }
    return most > 0 ? needed / most : 1;
}

/* Measured apart, a statistic is a sum over the strata of a group, each with its own weight and perhaps its own ranges; where
 * there are several such groups, an average one is looked at. */
static tamis_status take_strata(tmi_targets *a, const tmi_schedule *s, size_t i, const double c[TMI_MOMENTS], bool spread,
                                tamis_error *err)
{
    const size_t strata = s->sampling.strata;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const bool ranges = tmi_has_ranges_by_stratum(t);
    const double groups = (double)tmi_count_strata(s, i).groups;
    const size_t stride = ranges ? (strata + MOST_RANGES - 1) / MOST_RANGES : strata;
    tamis_status status = TAMIS_OK;
    for (size_t first = 0; first < strata; first += stride) {
        double sum = 0;
        for (size_t h = first; h < first + stride && h < strata; h++) {
            const double worth = worth_of(s, TMI_UNWEIGHTED, spread, h) * louder_in(s, h);
            if (tmi_group_has_stratum(s, i, SIZE_MAX, h)) sum += worth * worth;
        }
        TMI_TRY(take_moments(a, s, TMI_UNWEIGHTED, i, first, c, sqrt(sum / fmax(groups, 1)), err));
    }

done:
    return status;
}

/* Contributions have their weights: what is known of their parts adds up, and only the first one varies from sample to sample. */
static tamis_status take_contributions(tmi_targets *a, const tmi_schedule *s, size_t i, const double c[TMI_MOMENTS], bool spread,
                                       tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t part = 0; part < (spread ? 1 : s->sampling.parts) && status == TAMIS_OK; part++)
        status = take_moments(a, s, TMI_CONTRIBUTED, i, part, c, spread ? tmi_contribution_spread(&s->sampling, part) : 1, err);
    return status;
}

static tamis_status take_all(tmi_targets *a, const tmi_schedule *s, size_t i, const double c[TMI_MOMENTS], bool spread,
                             tamis_error *err)
{
    const tmi_weighting weighting = tmi_main_weighting(s);
    if (s->workload.maps[i].contributed) return take_contributions(a, s, i, c, spread, err);
    const tmi_domain *d = tmi_units_of(&s->workload, i);
    if (d) return take_moments(a, s, TMI_OF_UNITS, i, 0, c, (double)d->most_of_unit * d->grid.step, err);
    if (s->workload.separate_strata) return take_strata(a, s, i, c, spread, err);
    return take_moments(a, s, weighting, i, 0, c, worth_of(s, weighting, spread, 0), err);
}

/* ---- controls ---- */

/* A calibrated number has the rows of control cells in it, times what calibration explains of it there. */
static tamis_status take_controls(tmi_targets *a, const tmi_schedule *s, size_t i, const tmi_typical_group *o, tamis_error *err)
{
    const bool separate = s->workload.separate_strata;
    tmi_combination c;
    double *vector, worth = 0;
    tamis_status status = tmi_expected_controls(&c, &vector, s, i, err);
    for (size_t h = 0; h < (separate ? s->sampling.strata : 1); h++)
        if (!separate || tmi_group_has_stratum(s, i, SIZE_MAX, h))
            worth += pow(worth_of(s, tmi_main_weighting(s), false, h) * (separate ? louder_in(s, h) : 1), 2);
    c.scale[0] = o->explained * sqrt(worth / fmax(separate ? (double)tmi_count_strata(s, i).groups : 1, 1));
    if (status == TAMIS_OK && vector) status = take(a, s, &c, err);
    tmi_free(vector);
    return status;
}

/* ---- targets ---- */

typedef struct making {
    tmi_targets *targets;
    const tmi_schedule *s;
    size_t *noise, *spread; /* the first of each target's parts: they move while the list grows */
} making;

static void add_aim(making *m, size_t statistic, double share, double sampling, double margin, size_t noise, size_t spread)
{
    tmi_targets *a = m->targets;
    m->noise[a->count] = noise;
    m->spread[a->count] = spread;
    a->statistics[a->count] = statistic;
    a->list[a->count++] = (tmi_strategy_target){.share = share,
                                                .sampling = sampling,
                                                .noise_count = spread - noise,
                                                .spread_count = a->part_count - spread,
                                                .margin = margin};
}

/* The mean of an indicator that is 1 wherever it has a value is 1, whatever is measured. It keeps a small share, so that there is
 * a table from which it is read; with all of its own that table would take budget from the others without end, since an error of
 * 0 has no logarithm. */
#define OF_CONSTANTS 1e-3

static bool is_always_one(const tmi_schedule *s, size_t i)
{
    const tmi_variable *x = &s->workload.maps[i].x;
    if (tmi_is_sum(&s->plan->statistics[i]) || x->classes == SIZE_MAX || s->plan->statistics[i].second) return false;
    bool same = true;
    for (size_t k = 0; k < tmi_classes_levels(&s->workload.classes[x->classes]); k++) same = same && x->one[k] == x->present[k];
    return same;
}

static tamis_status add_statistic(making *m, size_t i, tamis_error *err)
{
    const tmi_schedule *s = m->s;
    tmi_targets *a = m->targets;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const size_t noise = a->part_count;
    tmi_typical_group o;
    tamis_status status;
    tmi_typical_group_make(&o, s, i);
    TMI_TRY(take_controls(a, s, i, &o, err));
    TMI_TRY(take_all(a, s, i, o.uncertain, false, err));
    TMI_TRY(take_all(a, s, i, o.estimate, false, err));
    const size_t spread = a->part_count, needed_marginal = a->last_needed;
    if (tmi_variance_source_for(s, i) == TMI_OWN_SQUARES) TMI_TRY(take_all(a, s, i, o.spread, true, err));
    const double sampling = isnan(o.sampling_sd) ? 0 : o.sampling_sd * o.sampling_sd;
    const double share = tmi_number_nearest(t->share) * (is_always_one(s, i) ? OF_CONSTANTS : 1);
    add_aim(m, i, share, sampling, tmi_variance_margin(CONFIDENCE), noise, spread);
    a->own_marginal[a->count - 1] = needed_marginal;

done:
    return status;
}

/* ---- contrasts of two statistics of the same rows ---- */

/* Adds f times the estimate of a statistic, or of its doubt; its own x is the second one of both. */
static void add_linear(double sum[TMI_MOMENTS], const double own[TMI_MOMENTS], double f, bool second)
{
    sum[TMI_OF_ROWS] += f * own[TMI_OF_ROWS];
    sum[second ? TMI_OF_Y : TMI_OF_X] += f * own[TMI_OF_X];
}

/* Adds f^2 times the squares of one linearised variable. */
static void add_squares(double sum[TMI_MOMENTS], const double own[TMI_MOMENTS], double f, bool second)
{
    sum[TMI_OF_ROWS] += f * f * own[TMI_OF_ROWS];
    sum[second ? TMI_OF_Y : TMI_OF_X] += f * f * own[TMI_OF_X];
    sum[second ? TMI_OF_YY : TMI_OF_XX] += f * f * own[TMI_OF_XX];
}

/* Adds twice the product of two linear functions of the moments of a row. */
static void add_product(double sum[TMI_MOMENTS], const double a[TMI_MOMENTS], const double b[TMI_MOMENTS], double f)
{
    sum[TMI_OF_XY] += 2 * f * a[TMI_OF_X] * b[TMI_OF_X];
    sum[TMI_OF_X] += 2 * f * a[TMI_OF_X] * b[TMI_OF_ROWS];
    sum[TMI_OF_Y] += 2 * f * a[TMI_OF_ROWS] * b[TMI_OF_X];
    sum[TMI_OF_ROWS] += 2 * f * a[TMI_OF_ROWS] * b[TMI_OF_ROWS];
}

/* With `products` its sampling variance is read from a table of both columns; without, it is the largest that both of its
 * statistics can have together. */
static tamis_status add_pair(making *m, size_t i, bool products, tamis_error *err)
{
    const tmi_schedule *s = m->s;
    tmi_targets *a = m->targets;
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    const size_t noise = a->part_count;
    double estimate[TMI_MOMENTS] = {0}, uncertain[TMI_MOMENTS] = {0}, squares[TMI_MOMENTS] = {0}, sampling = 0, sum = 0, f[2];
    tmi_typical_group o[2];
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < 2; k++) {
        tmi_typical_group_make(&o[k], s, tmi_term_statistic(c, k));
        f[k] = tmi_expected_weight(s, i, k);
        const double sd = isnan(o[k].sampling_sd) ? 0 : fabs(f[k]) * o[k].sampling_sd;
        sampling += sd * sd;
        sum += sd;
        add_linear(estimate, o[k].estimate, f[k], k == 1);
        add_linear(uncertain, o[k].uncertain, f[k], k == 1);
        add_squares(squares, o[k].spread, f[k], k == 1);
        if (products) continue;
        TMI_TRY(take_all(a, s, tmi_term_statistic(c, k), o[k].uncertain, false, err));
        TMI_TRY(take_all(a, s, tmi_term_statistic(c, k), o[k].estimate, false, err));
    }
    add_product(squares, o[0].estimate, o[1].estimate, f[0] * f[1]);
    if (products) {
        TMI_TRY(take_all(a, s, i, uncertain, false, err));
        TMI_TRY(take_all(a, s, i, estimate, false, err));
    }
    const size_t spread = a->part_count;
    if (products) TMI_TRY(take_all(a, s, i, squares, true, err));
    add_aim(m, SIZE_MAX, tmi_number_nearest(s->plan->statistics[i].share), products ? sampling : sum * sum,
            products ? tmi_variance_margin(CONFIDENCE) : 0, noise, spread);

done:
    return status;
}

#define ALIKE 0.7 /* the correlation of the values of both waves that is expected of the units of both */

double tmi_expected_overlap(const tmi_schedule *s, size_t i)
{
    const tmi_earlier *before = tmi_earlier_of(s->earlier, i);
    const double kept = (double)s->plan->statistics[i].contrast->overlap, sample = (double)s->plan->design.sample;
    return ALIKE * fmin(kept / sqrt(sample * (before ? (double)before->sample : sample)), 1);
}

/* A change whose units of both samples have both values: with `products` their covariance is taken off. */
static tamis_status add_change(making *m, size_t i, bool products, tamis_error *err)
{
    const tmi_schedule *s = m->s;
    tmi_targets *a = m->targets;
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    const size_t noise = a->part_count, of = tmi_term_statistic(c, 0);
    double squares[TMI_MOMENTS] = {0};
    tmi_typical_group o;
    tamis_status status;
    tmi_typical_group_make(&o, s, of);
    TMI_TRY(take_all(a, s, of, o.uncertain, false, err));
    TMI_TRY(take_all(a, s, of, o.estimate, false, err));
    const size_t spread = a->part_count;
    const double sampling = isnan(o.sampling_sd) ? 0 : 2 * o.sampling_sd * o.sampling_sd;
    add_product(squares, o.estimate, o.estimate, 1);
    if (products) TMI_TRY(take_all(a, s, i, squares, true, err));
    add_aim(m, SIZE_MAX, tmi_number_nearest(s->plan->statistics[i].share),
            sampling * (products ? 1 - tmi_expected_overlap(s, i) : 1), products ? tmi_variance_margin(CONFIDENCE) : 0, noise,
            spread);

done:
    return status;
}

bool tmi_targets_may_have_products(const tmi_schedule *s)
{
    bool may = false;
    for (size_t i = 0; i < s->plan->asked_count; i++) may = may || tmi_reads_products(s, i);
    return may;
}

/* Rows of the control cells, or of a statistic's groups, for what they are needed: their relative error counts. */
static tamis_status add_counts(making *m, const tmi_combination *c, double share, double sampling, tamis_error *err)
{
    tmi_targets *a = m->targets;
    const size_t noise = a->part_count;
    tamis_status status = take(a, m->s, c, err);
    if (status == TAMIS_OK) add_aim(m, SIZE_MAX, share, sampling, 0, noise, a->part_count);
    return status;
}

/* Rows, for the mean weight of a public design effect: a few per cent of them are enough. */
#define ENOUGH 0.1

/* What bounded weights take off is a factor of all variances. An error e of it changes how often intervals cover by as much as
 * e^2 of the variance would: to first order it widens one and narrows the other. So share * log(1 + (e/ROUGHLY)^2) is about
 * e^2/2 of all. */
#define ROUGHLY 0.3
#define FOR_BOUNDS 0.05

static tamis_status add_spreads(making *m, double shares, tamis_error *err)
{
    const tmi_schedule *s = m->s;
    const tmi_sampling *p = &s->sampling;
    const tmi_variance_source source = tmi_variance_source_of(s);
    bool clamped = source == TMI_MEASURED_ERRORS && p->weights == TMI_ROWS && p->most_clamped < p->most, weighed = false;
    for (size_t i = 0; i < s->plan->statistic_count; i++) /* contributions have variances of their own */
        weighed = weighed || !(s->workload.maps[i].known || s->workload.maps[i].contributed || tmi_units_of(&s->workload, i));
    tmi_targets *a = m->targets;
    tmi_sizes z;
    tamis_status status = TAMIS_OK;
    tmi_sizes_make(&z, s);
    if (source == TMI_PUBLIC_EFFECT) { /* rows, for the mean weight */
        const tmi_combination c = {.weighting = TMI_UNWEIGHTED, .term_count = 1, .scale = {1}};
        return add_counts(m, &c, FOR_COUNTS * shares, z.sample > 0 ? ENOUGH * ENOUGH * z.sample * z.sample : 0, err);
    }
    if (!clamped || !weighed) return TAMIS_OK;
    const double w = z.units / z.sample, all = isnan(w) ? 0 : ROUGHLY * z.sample * w * w;
    for (size_t weighting = TMI_SPREAD; weighting <= TMI_CLAMPED; weighting++) {
        const double step = tmi_number_nearest(p->step),
                     most = step * (double)(weighting == TMI_CLAMPED ? p->most_clamped : p->most);
        const tmi_combination c = {.weighting = weighting, .term_count = 1, .scale = {most * most}};
        const size_t noise = a->part_count;
        TMI_TRY(take(a, s, &c, err));
        add_aim(m, SIZE_MAX, FOR_BOUNDS * shares, all * all, 0, noise, a->part_count);
    }

done:
    return status;
}

/* Rows of groups, for rules on quality, once for statistics with the same groups and columns: a few rows more or less decide
 * nothing, so that smaller noise is worth nothing. */
#define FEW_ROWS 5

static bool has_groups_of(const tmi_schedule *s, size_t i, size_t j)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i], *other = &s->plan->statistics[j];
    return s->workload.maps[i].domain == s->workload.maps[j].domain && t->column == other->column && t->second == other->second &&
           t->where == other->where && t->by_count == other->by_count &&
           memcmp(t->by, other->by, t->by_count * sizeof *t->by) == 0;
}

static tamis_status add_units(making *m, size_t i, tamis_error *err)
{
    static const double rows[TMI_MOMENTS] = {[TMI_OF_ROWS] = 1};
    const tmi_schedule *s = m->s;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tmi_moment_sum sum;
    tamis_status status;
    if (!tmi_asks_units(&s->plan->postprocess) || (t->by_count == 0 && !t->where)) return TAMIS_OK;
    for (size_t j = 0; j < i; j++)
        if (!s->workload.maps[j].known && has_groups_of(s, i, j)) return TAMIS_OK;
    TMI_TRY(tmi_moment_sum_make(&sum, &s->workload, TMI_UNWEIGHTED, i, 0, 0, rows, NULL, err));
    status = add_counts(m, &sum.combination, FOR_COUNTS * tmi_number_nearest(t->share), FEW_ROWS * FEW_ROWS, err);
    tmi_moment_sum_clear(&sum);

done:
    return status;
}

/* ---- products of several numbers ---- */

/* With two numbers all levels of both are as good. */
#define LEAST_NUMBERS 3

bool tmi_may_have_grams(const tmi_schedule *s, const tmi_marginal *marginal)
{
    const tmi_workload *w = &s->workload;
    size_t numbers = 0, all = 0;
    for (size_t i = 0; i < marginal->axis_count; i++) {
        numbers += tmi_is_gram_axis(&w->axes[marginal->axes[i]]);
        all += w->origins[marginal->axes[i]].number != NULL;
    }
    return numbers >= LEAST_NUMBERS && numbers == all && !s->plan->privacy.design_protected &&
           marginal->weighting == tmi_main_weighting(s) && !w->domains[marginal->domain].number;
}

static void add_grams(tmi_targets *a, const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_statistic_map *r = &s->workload.maps[i];
        tmi_marginal *gram = &a->grams[a->gram_count];
        if (!tmi_is_line(&s->plan->statistics[i])) continue;
        *gram = (tmi_marginal){.weighting = tmi_main_weighting(s), .domain = r->domain, .axis_count = r->axis_count};
        memcpy(gram->axes, r->axes, r->axis_count * sizeof *r->axes);
        if (r->joint && tmi_may_have_grams(s, gram)) a->gram_count++;
    }
}

static void set_families(tmi_targets *a, const tmi_schedule *s)
{
    const size_t domains = s->workload.domain_count;
    for (size_t weighting = 0; weighting < TMI_WEIGHTINGS; weighting++) {
        const bool apart = s->workload.separate_strata && weighting == TMI_UNWEIGHTED;
        const double louder = !s->plan->privacy.loss.by_stratum || apart ? 1 : louder_together(s, weighting);
        for (size_t domain = 0; domain < domains; domain++) {
            const tmi_domain *d = tmi_contributed_in(&s->workload, weighting, domain);
            /* what is known of contributions of units is in units of their bound */
            const double own = d ? 1 : tmi_largest_rows_of_unit(&s->workload, weighting, domain);
            a->move_bounds[weighting * domains + domain] = (tmi_move_bound){
                .own = louder * own,
                .others = tmi_moved_by_weights(&s->workload, (tmi_weighting)weighting),
                .signs = d && d->grid.low < 0};
        }
        a->copies[weighting] = weighting == TMI_CONTRIBUTED  ? (double)s->sampling.parts
                               : s->workload.separate_strata ? (double)s->sampling.strata
                                                             : 1;
    }
}

tamis_status tmi_targets_make(tmi_targets *a, const tmi_schedule *s, bool products, tamis_error *err)
{
    const size_t count = s->plan->statistic_count, domains = s->workload.domain_count;
    bool *known = tmi_alloc(TMI_WEIGHTINGS * domains, sizeof *known);
    making m = {.targets = a, .s = s};
    double shares = 0;
    tamis_status status;
    *a = (tmi_targets){0};
    m.noise = tmi_alloc(3 * count + 4, sizeof *m.noise);
    m.spread = tmi_alloc(3 * count + 4, sizeof *m.spread);
    a->list = tmi_alloc(3 * count + 4, sizeof *a->list);
    a->statistics = tmi_alloc(3 * count + 4, sizeof *a->statistics);
    a->own_marginal = tmi_alloc(3 * count + 4, sizeof *a->own_marginal);
    a->weights = tmi_alloc(3 * count + 4, sizeof *a->weights);
    a->move_bounds = tmi_alloc(TMI_WEIGHTINGS * domains, sizeof *a->move_bounds);
    a->grams = tmi_alloc(s->plan->asked_count, sizeof *a->grams);
    if (!known || !a->grams || !a->move_bounds || !a->weights || !a->own_marginal || !m.noise || !m.spread || !a->list ||
        !a->statistics)
        TMI_TRY(tmi_fail_memory(err));
    tmi_known_rows(known, s);
    TMI_TRY(tmi_effects_make(&a->effects, s->workload.axes, TMI_WEIGHTINGS, domains, known, err));
    set_families(a, s);
    for (size_t k = 0; k < count; k++) {
        const size_t i = s->workload.order[k];
        if (s->workload.maps[i].known) continue;
        TMI_TRY(add_statistic(&m, i, err));
        TMI_TRY(add_units(&m, i, err));
        shares += tmi_number_nearest(s->plan->statistics[i].share);
    }
    for (size_t i = 0; i < s->plan->asked_count; i++)
        if (tmi_reads_products(s, i))
            TMI_TRY((s->plan->statistics[i].contrast->before ? add_change : add_pair)(&m, i, products, err));
    TMI_TRY(add_spreads(&m, shares, err));
    add_grams(a, s);
    for (size_t i = 0; i < a->count; i++) {
        a->list[i].noise = a->parts + m.noise[i];
        a->list[i].spread = a->parts + m.spread[i];
    }

done:
    tmi_free(known);
    tmi_free(m.noise);
    tmi_free(m.spread);
    if (status != TAMIS_OK) tmi_targets_clear(a);
    return status;
}
