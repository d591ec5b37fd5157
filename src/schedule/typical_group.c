#include "schedule/typical_group.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/group_noise.h"
#include "num/law/noise.h"
#include "schedule/guesses.h"
#include "schedule/result.h"
#include "schedule/standard_errors.h"
#include "schedule/targets.h"

#define LEFT 0.45 /* of 1 -+ 1/2, without the mean (tmi_expected_controls) */

/* ---- expected sizes ---- */

/* A group. The variance of an estimated total of z is spread (within V + between m^2), with V the variance and m the mean of z
 * over the units. Of the residuals of a mean by groups it is spread (own V): the rows that are alike are those of the group in
 * a cluster. */
typedef struct guess {
    double units, part; /* of the population, or of the group's stratum; of them in the group */
    double spread, within, between, own;
    double response;
} guess;

/* What all groups of a statistic share: worked out once, as there may be a million groups. */
typedef struct subject {
    const tmi_schedule *schedule;
    size_t statistic;
    tmi_sizes sizes;
    tmi_guessed_value x, y; /* of the column and of a ratio's second one; y is 1 without */
    bool each_in_one;       /* each group lies in one of the strata */
    bool in_strata;         /* it is by public strata or what follows from them, or has a condition on them */
    double where;           /* part of the units, or of those of its strata */
    bool split;             /* for the split of the budget, which is to be good wherever group means are; else for a preview */
    double controls;        /* variance of the noise of the rows of control cells; 0: nothing is calibrated */
} subject;

/* Whether a group may have rows of a stratum, any group with SIZE_MAX; and the part of the population that its strata have. */
static bool has_stratum(const subject *about, size_t group, size_t h)
{
    return !about->in_strata || tmi_group_has_stratum(about->schedule, about->statistic, group, h);
}

static double part_of_strata(const subject *about, size_t group)
{
    double part = 0;
    if (!about->in_strata) return 1;
    for (size_t h = 0; h < about->schedule->sampling.strata; h++)
        if (has_stratum(about, group, h)) part += tmi_stratum_share(about->schedule, h);
    return part;
}

/* Units drawn one by one: the sum of a over the rows of the group's strata. */
static double spread_of(const subject *about, size_t group)
{
    const tmi_schedule *s = about->schedule;
    const tmi_sizes *z = &about->sizes;
    const tmi_plan_design *d = &s->plan->design;
    double sum = 0, w = z->units / z->sample;
    if (s->sampling.weights == TMI_ROWS) {
        const double units = part_of_strata(about, group);
        double part = d->sample > 0 && about->in_strata ? 0 : units; /* of the sample */
        for (size_t h = 0; d->sample > 0 && about->in_strata && h < s->sampling.strata; h++)
            if (has_stratum(about, group, h)) part += (double)d->strata[h].sample / (double)d->sample;
        if (part > 0) w *= units / part;
        const double less = tmi_weight_less(&s->sampling) > 0 && !d->deff ? 1 : 0;
        return part * z->sample * w * fmax(w - less, 0) * s->sampling.correction;
    }
    for (size_t h = 0; h < s->sampling.strata; h++) {
        if (!has_stratum(about, group, h)) continue;
        double drawn = d->strata[h].sample > 0 ? (double)d->strata[h].sample
                                               : tmi_number_nearest(d->strata[h].rate) * z->units * tmi_stratum_share(s, h);
        sum += s->sampling.variance_factor[h] * drawn;
    }
    return sum;
}

/* Clusters, as a standard error is measured: of two stages as if drawn with replacement. */
static double clusters_spread(const subject *about, size_t group)
{
    const tmi_schedule *s = about->schedule;
    const tmi_sizes *z = &about->sizes;
    const tmi_plan_design *d = &s->plan->design;
    double sum = 0, w = z->units / z->sample * z->taken / z->cluster, clusters = z->sample / z->taken;
    if (s->sampling.weights == TMI_ROWS && (!d->kind->staged || tmi_draws_clusters_unequally(d)))
        return clusters * w * w * part_of_strata(about, group);
    for (size_t h = 0; h < d->stratum_count; h++) {
        const tmi_plan_stratum *own = &d->strata[h];
        if (!has_stratum(about, group, h) || own->sample == 0) continue;
        double m = (double)own->sample, weight = (double)own->population / m;
        sum += weight * weight * m * tmi_first_stage_correction(&s->sampling, h);
    }
    return sum > 0 ? sum : clusters * w * w;
}

/* `there`: the part of a cluster's rows that are in the group and have the values. */
static void set_spread(guess *g, const subject *about, size_t group, double there, bool subtracts)
{
    const tmi_schedule *s = about->schedule;
    const tmi_sizes *z = &about->sizes;
    g->within = g->own = 1;
    g->between = subtracts ? 0 : 1;
    if (!s->sampling.clustered) {
        g->spread = spread_of(about, group) / z->response;
        return;
    }
    /* Probabilities are about proportional to sizes, so that the weighted totals of clusters do not differ by their sizes. */
    const double sd = tmi_draws_clusters_unequally(&s->plan->design) ? 0 : z->cluster_sd;
    double b = z->cluster, square = b * b + sd * sd;
    g->spread = clusters_spread(about, group) / z->response;
    const double apart = b * b / z->taken; /* as if rows of a cluster had nothing in common */
    g->within = (1 - z->icc) * apart + z->icc * square;
    g->own = (1 - z->icc) * apart + z->icc * (there * square + (1 - there) * apart);
    g->between = s->sampling.scattered ? square : square - b * b;
}

#define ALIKE 0.5 /* how much less contributions differ than values, relative to their mean: large units have small weights */

/* Contributions of the sampled units, in the place of values of all units: their mean follows from that of the values. */
static tmi_guessed_value contribution_of(const tmi_schedule *s, size_t i, const tmi_guessed_value *x, const tmi_sizes *z)
{
    const tmi_grid grid = tmi_axis_grid(&s->workload, s->workload.maps[i].x.axis, 0);
    const double mean = x->typical ? x->mean * z->units / z->sample : (grid.from + grid.to) / 2;
    tmi_guessed_value u = {.mean = fmin(fmax(mean, grid.from), grid.to), .present = 1, .low = grid.from, .high = grid.to};
    u.sd = sqrt((u.mean - u.low) * (u.high - u.mean)) / 2;
    if (s->plan->statistics[i].column->typical_sd && x->mean != 0) u.sd = fmin(u.sd, fabs(ALIKE * x->sd / x->mean * u.mean));
    u.typical = x->typical;
    return u;
}

static subject subject_of(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    subject about = {.schedule = s, .statistic = i, .x = {.present = 1}, .y = {.mean = 1, .present = 1}, .where = 1};
    about.in_strata = tmi_is_in_strata(s, i);
    about.each_in_one = tmi_count_strata(s, i).each_in_one;
    if (t->where) about.where = tmi_part_where(t->where, about.in_strata ? &s->plan->design : NULL);
    tmi_sizes_make(&about.sizes, s);
    if (t->column) about.x = tmi_value_of(t->column);
    if (s->workload.maps[i].contributed) about.x = contribution_of(s, i, &about.x, &about.sizes);
    if (t->second) about.y = tmi_value_of(t->second);
    return about;
}

/* `part` is that of its strata; of all groups with SIZE_MAX. */
static guess guess_of(const subject *about, size_t group, double part)
{
    const tmi_schedule *s = about->schedule;
    const tmi_sizes *z = &about->sizes;
    guess g = {.units = z->units * part_of_strata(about, group), .part = part * about->where, .response = z->response};
    set_spread(&g, about, group, g.part * fmin(about->x.present, about->y.present),
               s->sampling.subtracts && (tmi_main_weighting(s) == TMI_UNWEIGHTED || about->each_in_one));
    if (tmi_is_calibrated(s, about->statistic)) g.between = 0; /* what is left are residuals, whose mean is 0 */
    if (s->workload.maps[about->statistic].contributed) {
        g.units = z->sample;
        g.spread = tmi_contribution_spread(&s->sampling, 0) * z->sample;
        g.within = g.own = 1;
        g.between = s->sampling.rows_fixed ? 0 : 1;
    }
    g.spread *= tmi_relative_deff(&s->plan->design, &s->plan->statistics[about->statistic]);
    return g;
}

static double sampling_sd(const guess *g, double variance, double mean)
{
    return sqrt(g->spread * (g->within * fmax(variance, 0) + g->between * mean * mean));
}

/* Of a total of residuals, which are 0 outside the group and have a mean of 0 in it. */
static double residual_sd(const guess *g, double variance) { return sqrt(g->spread * g->own * fmax(variance, 0)); }

/* Of a sum whose terms have this mean square, as a release reads it from the tables of estimates (inference/error_term.h). What
 * calibration takes off, and contributions, are not guessed. */
static double simple_variance(const subject *about, const guess *g, double square)
{
    const tmi_schedule *s = about->schedule;
    if (tmi_is_calibrated(s, about->statistic) || s->workload.maps[about->statistic].contributed) return 0;
    return tmi_mean_weight(s) * g->units * square / g->response;
}

static double not_zero(double size, double otherwise) { return size > 0 ? size : otherwise > 0 ? otherwise : 1; }

/* Calibration takes the mean off a total of whole control cells, in the tables that it is read from; only what differs from
 * control cell to control cell is left to the rows of these. */
static bool is_explained(const subject *about)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    for (size_t k = 0; k < t->by_count; k++) {
        size_t i = 0;
        while (i < s->control_count && s->controls[i] != t->by[k]) i++;
        if (i == s->control_count) return false;
    }
    return tmi_is_calibrated(s, about->statistic) && tmi_is_sum(t) && t->column && !t->where;
}

static void expect_total(tmi_typical_group *o, const subject *about, const guess *g)
{
    const tmi_plan_statistic *t = &about->schedule->plan->statistics[about->statistic];
    const tmi_guessed_value x = about->x;
    const double N = g->units, p = g->part * x.present; /* of all units, those in the group that have a value */
    const bool subtracts = g->between == 0;
    if (!t->column) {
        o->estimate[TMI_OF_ROWS] = 1;
        o->spread[TMI_OF_ROWS] = subtracts ? 1 - 2 * p : 1;
        o->size = o->expected = N * p;
        o->range = N;
        o->sampling_sd = sampling_sd(g, p * (1 - p), p);
        o->simple = simple_variance(about, g, p);
        return;
    }
    o->estimate[TMI_OF_X] = o->spread[TMI_OF_XX] = 1;
    if (subtracts) o->spread[TMI_OF_X] = -2 * p * x.mean;
    if (is_explained(about)) o->estimate[TMI_OF_ROWS] = -x.mean;
    o->range = N * (fmax(x.high, 0) - fmin(x.low, 0));
    o->expected = x.typical ? fabs(N * p * x.mean) : TMI_NULL;
    o->size = not_zero(fabs(N * p * x.mean), N * p * (x.high - x.low));
    const double square = x.sd * x.sd + (is_explained(about) ? 1 - x.present : 1 - p) * x.mean * x.mean;
    o->sampling_sd = sampling_sd(g, p * square, p * x.mean);
    o->simple = simple_variance(about, g, p * (x.sd * x.sd + x.mean * x.mean));
}

/* A total divided by the number of units. */
static void expect_part(tmi_typical_group *o, const subject *about, const guess *g)
{
    const double N = about->sizes.units;
    expect_total(o, about, g);
    for (size_t m = 0; m < TMI_MOMENTS; m++) {
        o->estimate[m] /= N;
        o->spread[m] /= N * N;
    }
    o->range /= N;
    o->expected /= N;
    o->size /= N;
    o->sampling_sd /= N;
    o->simple /= N * N;
}

/* How far group means are from the typical one. */
static double difference(const tmi_plan_column *column, const subject *about)
{
    const tmi_guessed_value *x = &about->x;
    const bool known = column->conditions ? x->typical : column->typical_sd != NULL;
    return known && !about->split ? x->sd / 2 : (x->high - x->low) / 4;
}

#define CORRELATION (1.0 / 3) /* of the two numbers of a ratio: who has more of one mostly has more of the other */

/* The guessed covariance of a ratio's columns: of two indicators of one category it follows from the shares of its values. */
static double covariance_of(const tmi_plan_statistic *t, const tmi_guessed_value *x, const tmi_guessed_value *y)
{
    const tmi_plan_column *a = t->column, *b = t->second;
    double both = 0;
    if (!a->conditions && !b->conditions) return CORRELATION * x->sd * y->sd;
    if (!a->conditions || !b->conditions || a->condition_count > 1 || b->condition_count > 1) return 0;
    const tmi_plan_condition *p = a->conditions, *q = b->conditions;
    if (p->column != q->column || !p->column->is_category || !x->typical) return 0;
    for (size_t i = 0; i < p->code_count; i++)
        for (size_t j = 0; j < q->code_count; j++)
            if (p->codes[i] == q->codes[j]) both += tmi_share_of(p->column, (size_t)p->codes[i]) / x->present;
    return both - x->mean * y->mean;
}

static void expect_ratio(tmi_typical_group *o, const subject *about, const guess *g)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    const tmi_guessed_value x = about->x, y = about->y;
    const double p = g->part * fmin(x.present, y.present); /* of all units, those in the group that have the values */
    const double B = not_zero(fabs(g->units * p * y.mean), g->units * p), ratio = y.mean != 0 ? x.mean / y.mean : x.mean;
    const double width = x.high - x.low, apart = difference(t->column, about), square = x.sd * x.sd;
    const double residual = t->second ? square + ratio * (ratio * y.sd * y.sd - 2 * covariance_of(t, &x, &y)) : square;
    o->sampling_sd = residual_sd(g, p * residual) / B;
    o->simple = simple_variance(about, g, p * residual) / (B * B);
    o->expected = x.typical && (!t->second || y.typical) ? fabs(ratio) : TMI_NULL;
    o->range = t->second ? fabs(2 * ratio) : width;
    o->size = not_zero(fabs(x.typical ? ratio : o->range / 2), o->range);
    o->estimate[TMI_OF_X] = 1 / B;
    o->estimate[t->second ? TMI_OF_Y : TMI_OF_ROWS] = -ratio / B;
    o->uncertain[t->second ? TMI_OF_Y : TMI_OF_ROWS] = (t->second ? fabs(ratio) / 4 : apart) / B; /* groups differ */
    o->spread[TMI_OF_XX] = 1 / (B * B);
    o->spread[t->second ? TMI_OF_XY : TMI_OF_X] = -2 * ratio / (B * B);
    o->spread[t->second ? TMI_OF_YY : TMI_OF_ROWS] = ratio * ratio / (B * B);
    o->denominator = t->second ? TMI_OF_Y : TMI_OF_ROWS;
    o->divisor = B;
    if (t->kind != TMI_VARIANCE) return;
    o->expected = TMI_NULL;
    o->range = width * width / 4;
    o->size = square;
    o->estimate[TMI_OF_XX] = 1 / B;
    o->estimate[TMI_OF_X] = -2 * ratio / B;
    o->estimate[TMI_OF_ROWS] = (ratio * ratio - square) / B;
    o->uncertain[TMI_OF_ROWS] = 0;
    o->uncertain[TMI_OF_X] = 2 * apart / B;
    memset(o->spread, 0, sizeof o->spread); /* the error of a variance is the largest that there can be */
    o->sampling_sd = residual_sd(g, p * square * fmax(width * width / 4 - square, 0)) / B;
    o->simple = simple_variance(about, g, p * square * fmax(width * width / 4 - square, 0)) / (B * B);
}

/* Products of two numbers, as a coefficient needs them: the sum of (x - mean)(y - mean), and squares of x for how much of it x
 * explains; in standard deviations of both, as a correlation is. */
static void expect_product(tmi_typical_group *o, const subject *about, const guess *g)
{
    const tmi_guessed_value x = about->x, y = about->y;
    const double p = g->part * fmin(x.present, y.present), rows = not_zero(g->units * p, g->units);
    const double a = not_zero(x.sd, x.high - x.low), b = not_zero(y.sd, y.high - y.low), B = rows * a * b,
                 own = CORRELATION / (rows * a * a);
    o->sampling_sd = residual_sd(g, p) / rows;
    o->simple = simple_variance(about, g, p) / (rows * rows);
    o->expected = TMI_NULL;
    o->range = 2;
    o->size = 1;
    o->divisor = rows;
    o->estimate[TMI_OF_XY] = 1 / B;
    o->estimate[TMI_OF_X] = -y.mean / B;
    o->estimate[TMI_OF_Y] = -x.mean / B;
    o->estimate[TMI_OF_ROWS] = x.mean * y.mean / B;
    o->uncertain[TMI_OF_XX] = own;
    o->uncertain[TMI_OF_X] = -2 * x.mean * own;
    o->uncertain[TMI_OF_ROWS] = x.mean * x.mean * own;
}

static void make(tmi_typical_group *o, const subject *about, const guess *g)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    *o = (tmi_typical_group){.denominator = TMI_MOMENTS};
    if (tmi_by_size(t)) expect_part(o, about, g);
    else if (tmi_is_sum(t)) expect_total(o, about, g);
    else if (t->kind == TMI_PRODUCTS) expect_product(o, about, g);
    else expect_ratio(o, about, g);
    for (size_t m = 0; m < TMI_MOMENTS; m++) { /* a sum is that of the respondents */
        o->estimate[m] /= g->response;
        o->uncertain[m] /= g->response;
        o->spread[m] /= g->response * g->response;
    }
    const bool around = o->denominator < TMI_MOMENTS && t->kind != TMI_VARIANCE; /* means differ from cell to cell */
    o->explained = around ? o->uncertain[o->denominator] * o->divisor / about->sizes.units
                          : o->size / about->sizes.units / g->response;
    if (is_explained(about)) o->explained *= LEFT;
    if (s->workload.maps[about->statistic].known) o->sampling_sd = 0;
}

void tmi_typical_group_make(tmi_typical_group *o, const tmi_schedule *s, size_t i)
{
    subject about = subject_of(s, i);
    about.split = true;
    guess g = guess_of(&about, SIZE_MAX, 1 / (double)tmi_statistic_cells(&s->plan->statistics[i]));
    make(o, &about, &g);
}

/* ---- groups of unequal size ---- */

/* What a release's upper limit of an estimated sampling variance never passes: each unit as far out as values can be
 * (inference/estimates.c). */
static double farthest(const subject *about)
{
    const tmi_plan_statistic *t = &about->schedule->plan->statistics[about->statistic];
    const tmi_guessed_value *x = &about->x, *y = &about->y;
    const double width = x->high - x->low, far = fmax(fabs(x->low), fabs(x->high));
    const tmi_sampling *p = &about->schedule->sampling;
    const bool half = about->schedule->workload.maps[about->statistic].contributed ? p->rows_fixed : p->subtracts;
    if (!t->column) return half ? 0.5 : 1;
    if (t->second) return y->low > 0 ? width + far / y->low * (y->high - y->low) : INFINITY;
    return half ? width / 2 : t->kind == TMI_TOTAL ? far : width;
}

static double quadratic(const double c[TMI_MOMENTS], const tmi_moment_noise *noise) { return tmi_moment_noise_of(noise, c); }

/* A release reports an upper limit of a sampling variance that it knows with noise: this is what the limit adds. */
static double margin_of(const tmi_typical_group *o, const subject *about, const tmi_group_noise *noise)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    const tmi_variance_source source = tmi_variance_source_for(s, about->statistic);
    if (source != TMI_OWN_SQUARES || t->kind == TMI_VARIANCE) return 0;
    return tmi_variance_margin(tmi_number_nearest(t->confidence)) * sqrt(quadratic(o->spread, &noise->spread));
}

static tmi_expected_group expected_group_of(const subject *about, size_t group, double part, const tmi_group_noise *noise)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    tmi_typical_group o;
    guess g = guess_of(about, group, part);
    make(&o, about, &g);
    const double limit = t->kind == TMI_MEAN || t->kind == TMI_SHARE || t->kind == TMI_VARIANCE ? o.range : INFINITY;
    tmi_expected_group expected_group = {.expected = o.expected, .range = o.range, .limit = limit, .units = o.divisor};
    if (s->workload.maps[about->statistic].known) return expected_group;
    double variance = quadratic(o.estimate, &noise->estimate) + quadratic(o.uncertain, &noise->estimate) +
                      o.explained * o.explained * about->controls;
    const double least = o.sampling_sd * o.sampling_sd, far = farthest(about), scale = o.divisor > 0 ? 1 / o.divisor : 1,
                 most = s->sampling.clustered ? INFINITY : fmax(least, g.spread * far * far * scale * scale);
    if (tmi_variance_source_for(s, about->statistic) == TMI_MEASURED_ERRORS)
        expected_group.error = tmi_expected_error(s, about->statistic, &o, quadratic(o.estimate, &noise->estimate));
    expected_group.sampling_sd = sqrt(fmin(least + margin_of(&o, about, noise), most));
    if (o.denominator < TMI_MOMENTS && t->kind != TMI_VARIANCE) {
        /* the ratio that multiplies the denominator's noise is a noisy one: n^2 = first + n^2 vB / B^2 */
        const double relative = noise->estimate.covariance[o.denominator][o.denominator] / (o.divisor * o.divisor);
        variance /= 1 - fmin(relative, 0.5);
        expected_group.relative = relative;
    }
    expected_group.noise_sd = sqrt(variance);
    return expected_group;
}

static tamis_status set_controls(subject *about, tamis_error *err)
{
    const tmi_schedule *s = about->schedule;
    tmi_combination c;
    tmi_parts_of_effects parts = {0};
    double *vector;
    tamis_status status = tmi_expected_controls(&c, &vector, s, about->statistic, err);
    if (status == TAMIS_OK && vector) status = tmi_effects_parts(&parts, &s->effects, &c, err);
    if (status == TAMIS_OK && vector) about->controls = tmi_effects_variance(&s->effects, &parts);
    if (tmi_main_weighting(s) == TMI_UNWEIGHTED) {
        double squares = 0;
        const bool separate = s->workload.separate_strata;
        for (size_t h = 0; h < (separate ? s->sampling.strata : 1); h++)
            if (!separate || has_stratum(about, SIZE_MAX, h))
                squares += pow(tmi_number_nearest(s->sampling.weight[h]), 2) * tmi_variance_in_stratum(s, h);
        about->controls *= squares / fmax(separate ? (double)tmi_count_strata(s, about->statistic).groups : 1, 1);
    }
    tmi_parts_of_effects_clear(&parts);
    tmi_free(vector);
    return status;
}

static bool is_of_public_strata(const tmi_schedule *s, const tmi_plan_column *by)
{
    return s->sampling.public_strata && tmi_is_of_strata(&s->plan->design, by);
}

static bool groups_differ(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    bool differ = false;
    for (size_t k = 0; k < t->by_count; k++) differ = differ || is_of_public_strata(s, t->by[k]) || tmi_has_shares(t->by[k]);
    return differ && !s->workload.maps[i].known;
}

/* The shares of all values of all `by`, one after the other. */
typedef struct lookup {
    double *shares;
    size_t first[TMI_MAX_BY];
} lookup;

static tamis_status lookup_make(lookup *l, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    size_t values = 0;
    for (size_t k = 0; k < t->by_count; k++) {
        l->first[k] = values;
        values += t->by[k]->value_count;
    }
    l->shares = tmi_alloc(values + 1, sizeof *l->shares);
    if (!l->shares) return tmi_fail_memory(err);
    for (size_t k = 0; k < t->by_count; k++)
        for (size_t code = 0; code < t->by[k]->value_count; code++)
            l->shares[l->first[k] + code] = is_of_public_strata(s, t->by[k]) ? 1 : tmi_share_of(t->by[k], code);
    return TAMIS_OK;
}

tamis_status tmi_expected_groups_make(tmi_expected_group **list, size_t *count, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tamis_status status = TAMIS_OK;
    lookup l = {0};
    tmi_group_noises noises = {0};
    subject about = subject_of(s, i);
    *count = groups_differ(s, i) ? (size_t)tmi_statistic_cells(t) : 1;
    *list = tmi_alloc(*count, sizeof **list);
    if (!*list) return tmi_fail_memory(err);
    TMI_TRY(set_controls(&about, err));
    TMI_TRY(tmi_group_noises_make(&noises, s, i, err));
    TMI_TRY(lookup_make(&l, s, i, err));
    for (size_t cell = 0; cell < *count; cell++) {
        double part = 1;
        for (size_t k = 0; *count > 1 && k < t->by_count; k++) part *= l.shares[l.first[k] + tmi_group_code(t, cell, k)];
        if (*count == 1) part = 1 / (double)tmi_statistic_cells(t);
        const tmi_group_noise *noise;
        TMI_TRY(tmi_group_noise_of(&noise, &noises, cell, err));
        (*list)[cell] = expected_group_of(&about, *count == 1 ? SIZE_MAX : cell, part, noise);
        if ((*list)[cell].error.scale < 0) TMI_TRY(tmi_fail_memory(err));
    }

done:
    tmi_free(l.shares);
    tmi_group_noises_clear(&noises);
    if (status != TAMIS_OK) {
        tmi_free(*list);
        *list = NULL;
    }
    return status;
}
