#include "schedule/expected/outlook.h"

#include <math.h>

#include "base/memory.h"
#include "schedule/controls.h"
#include "schedule/expected/guess.h"
#include "schedule/noise_law.h"
#include "schedule/result.h"

/* Where weights are applied after the noise: what a row counts in a total, and a square in a variance. */
static double weight_in(const tmi_sampling *sampling, size_t stratum)
{
    return tmi_number_nearest(sampling->weight[stratum]);
}

static double spread_in(const tmi_sampling *sampling, size_t stratum)
{
    return isnan(sampling->spread[stratum]) ? 0 : sampling->spread[stratum];
}

static double noise_in(const tmi_schedule *s, size_t statistic, const tmi_measurement *m, size_t stratum,
                       double (*weight)(const tmi_sampling *, size_t), double (*of)(const tmi_noise_law *law, bool gaussian))
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_sampling *sampling = &s->sampling;
    double sum = 0, cells = (double)m->cells / (double)tmi_statistic_cells(t); /* the mean over the groups */
    bool strata = m->stratum_at < m->by_count, own = strata && stratum != SIZE_MAX;
    size_t first = own ? stratum : 0, end = own ? stratum + 1 : strata ? sampling->strata : 1;
    for (size_t h = first; h < end; h++) {
        double unit = tmi_measurement_unit(m, sampling, h);
        if (m->quantity.weighing == TMI_UNWEIGHED) unit *= weight(sampling, h);
        sum += unit * unit * of(&m->laws[m->law_count > 1 ? h : 0], s->gaussian);
    }
    return sum / (double)(end - first) * cells;
}

double tmi_table_variance(const tmi_schedule *s, size_t statistic, const tmi_measurement *m, size_t stratum,
                          double (*of)(const tmi_noise_law *law, bool gaussian))
{
    return noise_in(s, statistic, m, stratum, weight_in, of);
}

static double variance_of(const tmi_noise_law *law, bool gaussian)
{
    double sd = law->scale ? tmi_noise_sd(law->scale, gaussian) : TMI_NULL;
    return sd * sd;
}

/* ---- expected sizes ---- */

/* A group. The variance of an estimated total of z is spread (within V + between m^2), with V the variance and m the mean of z
 * over the units. Of the residuals of a mean by groups it is spread (own V): the rows that are alike are those of the group in
 * a cluster. */
typedef struct guess {
    double units, part; /* of the population, or of the group's stratum; of them in the group */
    double spread, within, between, own;
    double response;
} guess;

/* Units drawn one by one: the sum of a over the rows, of a stratum or of all. */
static double spread_of(const tmi_schedule *s, const tmi_sizes *z, size_t stratum)
{
    const tmi_plan_design *d = &s->plan->design;
    double sum = 0, w = z->units / z->sample;
    if (s->sampling.weights == TMI_ROWS) {
        double part = stratum == SIZE_MAX ? 1
                      : d->sample > 0     ? (double)d->strata[stratum].sample / (double)d->sample
                                          : tmi_stratum_share(s, stratum);
        if (stratum != SIZE_MAX) w *= tmi_stratum_share(s, stratum) / part;
        return part * z->sample * w * fmax(w - 1, 0) * s->sampling.correction;
    }
    for (size_t h = 0; h < s->sampling.strata; h++) {
        if (stratum != SIZE_MAX && stratum != h) continue;
        double drawn = d->strata[h].sample > 0 ? (double)d->strata[h].sample
                                               : tmi_number_nearest(d->strata[h].rate) * z->units * tmi_stratum_share(s, h);
        sum += s->sampling.spread[h] * drawn;
    }
    return sum;
}

/* Clusters, as a release takes them: as if drawn with replacement. */
static double clusters_spread(const tmi_schedule *s, const tmi_sizes *z, size_t stratum)
{
    const tmi_plan_design *d = &s->plan->design;
    double sum = 0, w = z->units / z->sample * z->taken / z->cluster, clusters = z->sample / z->taken;
    if (s->sampling.weights == TMI_ROWS && !d->kind->staged)
        return clusters * w * w * (stratum == SIZE_MAX ? 1 : tmi_stratum_share(s, stratum));
    for (size_t h = 0; h < d->stratum_count; h++) {
        const tmi_plan_stratum *own = &d->strata[h];
        if ((stratum != SIZE_MAX && stratum != h) || own->sample == 0) continue;
        double m = (double)own->sample, weight = (double)own->population / m;
        sum += weight * weight * m;
    }
    return sum > 0 ? sum : clusters * w * w;
}

static void set_spread(guess *g, const tmi_schedule *s, const tmi_sizes *z, size_t stratum, bool subtracts)
{
    g->within = g->own = 1;
    g->between = subtracts ? 0 : 1;
    if (!s->sampling.clustered) {
        g->spread = spread_of(s, z, stratum) / z->response;
        return;
    }
    double b = z->cluster, square = b * b + z->cluster_sd * z->cluster_sd;
    g->spread = clusters_spread(s, z, stratum) / z->response;
    const double apart = b * b / z->taken; /* as if rows of a cluster had nothing in common */
    g->within = (1 - z->icc) * apart + z->icc * square;
    g->own = (1 - z->icc) * apart + z->icc * (g->part * square + (1 - g->part) * apart);
    g->between = s->sampling.scattered ? square : square - b * b;
}

/* What all groups of a statistic share: worked out once, as there may be a million groups. */
typedef struct subject {
    const tmi_schedule *schedule;
    size_t statistic;
    tmi_sizes sizes;
    tmi_guessed_value x, y; /* of the column and of a ratio's second one; y is 1 without */
    double where;           /* part of all units */
    bool split;             /* for the split of the budget, which is to be good wherever group means are; else for a preview */
} subject;

static subject subject_of(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    subject about = {.schedule = s, .statistic = i, .x = {.present = 1}, .y = {.mean = 1, .present = 1}, .where = 1};
    if (t->where) {
        const tmi_guessed_value where = tmi_value_of(t->where);
        about.where = where.mean * where.present;
    }
    tmi_sizes_make(&about.sizes, s);
    if (t->column) about.x = tmi_value_of(t->column);
    if (t->second) about.y = tmi_value_of(t->second);
    return about;
}

/* `part` is that of its stratum, or of all where `stratum` is SIZE_MAX. */
static guess guess_of(const subject *about, size_t stratum, double part)
{
    const tmi_schedule *s = about->schedule;
    const tmi_sizes *z = &about->sizes;
    const tmi_measurement *a = tmi_table_of(s, about->statistic, TMI_NUMERATOR);
    guess g = {.units = stratum == SIZE_MAX ? z->units : z->units * tmi_stratum_share(s, stratum),
               .part = part * about->where,
               .response = z->response};
    set_spread(&g, s, z, stratum, s->sampling.subtracts && (!a || a->quantity.weighing == TMI_UNWEIGHED));
    return g;
}

static double sampling_sd(const guess *g, double variance, double mean)
{
    return sqrt(g->spread * (g->within * fmax(variance, 0) + g->between * mean * mean));
}

/* Of a total of residuals, which are 0 outside the group and have a mean of 0 in it. */
static double residual_sd(const guess *g, double variance)
{
    return sqrt(g->spread * g->own * fmax(variance, 0));
}

static double not_zero(double size, double otherwise)
{
    return size > 0 ? size : otherwise > 0 ? otherwise : 1;
}

static void expect_total(tmi_outlook *o, const subject *about, const guess *g)
{
    const tmi_plan_statistic *t = &about->schedule->plan->statistics[about->statistic];
    const tmi_guessed_value x = about->x;
    double N = g->units, p = g->part * x.present;         /* of all units, those in the group that have a value */
    double groups = sqrt((double)tmi_statistic_cells(t)); /* K has no groups, and all of its cells are used */
    o->factor[TMI_NUMERATOR] = o->square[TMI_NUMERATOR_SQUARES] = 1;
    if (!t->column) {
        *o = (tmi_outlook){.factor = {[TMI_NUMERATOR] = 1, [TMI_CONTROL_ROWS] = p * groups},
                           .square = {[TMI_NUMERATOR_SQUARES] = 1, [TMI_CONTROL_SQUARES] = p * p},
                           .size = N * p,
                           .expected = N * p,
                           .range = N,
                           .sampling_sd = sampling_sd(g, p * (1 - p), p)};
        return;
    }
    o->factor[TMI_CONTROL_ROWS] = p * fabs(x.mean) * groups;
    o->square[TMI_CONTROL_SQUARES] = x.mean * x.mean;
    o->range = N * (fmax(x.high, 0) - fmin(x.low, 0));
    o->expected = x.typical ? fabs(N * p * x.mean) : TMI_NULL;
    o->size = not_zero(fabs(N * p * x.mean), N * p * (x.high - x.low));
    o->sampling_sd = sampling_sd(g, p * (x.sd * x.sd + x.mean * x.mean) - p * p * x.mean * x.mean, p * x.mean);
}

/* A total divided by the number of units. */
static void expect_part(tmi_outlook *o, const subject *about, const guess *g)
{
    expect_total(o, about, g);
    o->factor[TMI_NUMERATOR] /= g->units;
    o->range /= g->units;
    o->expected /= g->units;
    o->size /= g->units;
    o->sampling_sd /= g->units;
}

/* The centre of a sum of a ratio. */
static double centre_in(const tmi_schedule *s, size_t i, tmi_role role)
{
    const tmi_measurement *m = tmi_table_of(s, i, role);
    return m ? tmi_grid_in(m->quantity.x, 0).step * (double)m->quantity.centre_x : 0;
}

/* How far group means are from the typical one. */
static double difference(const tmi_plan_column *column, const subject *about)
{
    const tmi_guessed_value *x = &about->x;
    const bool known = column->conditions ? x->typical : column->typical_sd != NULL;
    return known && !about->split ? x->sd / 2 : (x->high - x->low) / 4;
}

static void expect_ratio(tmi_outlook *o, const subject *whole, const guess *g)
{
    const tmi_schedule *s = whole->schedule;
    const size_t i = whole->statistic;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_guessed_value x = whole->x, y = whole->y;
    const double p = g->part * fmin(x.present, y.present); /* of all units, those in the group that have the values */
    double B = not_zero(fabs(g->units * p * y.mean), g->units * p), ratio = y.mean != 0 ? x.mean / y.mean : x.mean;
    double about = t->second ? ratio : x.mean - centre_in(s, i, TMI_NUMERATOR), width = x.high - x.low,
           apart = difference(t->column, whole);
    double groups = sqrt((double)tmi_statistic_cells(t));
    if (!t->second) about = fmax(fabs(about), apart); /* groups differ: a typical value is not that of each */
    double square = x.sd * x.sd;
    o->sampling_sd = residual_sd(g, p * (square + (t->second ? ratio * ratio * y.sd * y.sd : 0))) / B;
    o->expected = x.typical && (!t->second || y.typical) ? fabs(ratio) : TMI_NULL;
    o->range = t->second ? fabs(2 * ratio) : width;
    o->size = not_zero(fabs(x.typical ? ratio : o->range / 2), o->range);
    o->factor[TMI_NUMERATOR] = 1 / B;
    o->factor[TMI_DENOMINATOR] = fabs(about) / B;
    o->factor[TMI_CONTROL_ROWS] = apart * p * groups / B; /* so far do control cells differ */
    o->square[TMI_NUMERATOR_SQUARES] = 1;
    o->square[TMI_CONTROL_SQUARES] = width * width / 16;
    o->square[TMI_PRODUCTS] = 2 * fabs(about);
    o->square[TMI_DENOMINATOR_SQUARES] = about * about;
    if (t->second) o->square[TMI_RATIO_ROWS] = width * width / 16; /* x - r y is about so far from 0 at the centres */
    if (t->second)
        o->factor[TMI_RATIO_ROWS] = fmax(fabs(centre_in(s, i, TMI_NUMERATOR) - ratio * centre_in(s, i, TMI_DENOMINATOR)), apart) /
                                    B;
    if (t->kind != TMI_VARIANCE) return;
    o->expected = TMI_NULL;
    o->range = width * width / 4;
    o->size = square;
    o->factor[TMI_SQUARES] = 1 / B;
    o->factor[TMI_NUMERATOR] = 2 * fabs(about) / B;
    o->factor[TMI_DENOMINATOR] = (square + about * about) / B; /* their difference, but neither is known */
    o->sampling_sd = residual_sd(g, p * square * fmax(width * width / 4 - square, 0)) / B;
}

static void make(tmi_outlook *o, const subject *about, const guess *g, const double *variances)
{
    const tmi_schedule *s = about->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[about->statistic];
    *o = (tmi_outlook){0};
    bool total = t->kind == TMI_COUNT || t->kind == TMI_TABLE || t->kind == TMI_HISTOGRAM || t->kind == TMI_TOTAL;
    if (total) expect_total(o, about, g);
    else if (tmi_divides_total(s, t)) expect_part(o, about, g);
    else expect_ratio(o, about, g);
    for (size_t role = 0; role < TMI_ROLES; role++) o->factor[role] /= g->response; /* a sum is that of the respondents */
    if (s->uses[about->statistic].known) o->sampling_sd = 0;
    double noise = 0;
    for (size_t role = TMI_NUMERATOR; role <= TMI_CONTROL_ROWS; role++)
        noise += o->factor[role] * o->factor[role] * variances[role];
    o->noise_sd = sqrt(noise);
}

static void set_variances(double *variances, const tmi_schedule *s, size_t i, size_t stratum)
{
    variances[TMI_GROUP_UNITS] = 0; /* rows that decide what is withheld enter no error */
    for (size_t role = TMI_NUMERATOR; role < TMI_GROUP_UNITS; role++) {
        const tmi_measurement *m = tmi_table_of(s, i, (tmi_role)role);
        bool sums = role <= TMI_CONTROL_ROWS || s->sampling.weights == TMI_ROWS;
        variances[role] = m ? noise_in(s, i, m, stratum, sums ? weight_in : spread_in, variance_of) : 0;
    }
}

void tmi_outlook_make(tmi_outlook *o, const tmi_schedule *s, size_t i)
{
    double variances[TMI_ROLES];
    subject about = subject_of(s, i);
    about.split = true;
    guess g = guess_of(&about, SIZE_MAX, 1 / (double)tmi_statistic_cells(&s->plan->statistics[i]));
    set_variances(variances, s, i, SIZE_MAX);
    make(o, &about, &g, variances);
}

/* ---- groups of unequal size ---- */

/* A release publishes an upper limit of a sampling variance that it knows from noisy squares: this is what the limit adds. */
static double margin_of(const tmi_outlook *o, const subject *about, const double *variances)
{
    const tmi_plan_statistic *t = &about->schedule->plan->statistics[about->statistic];
    double squares = 0;
    if (about->schedule->sampling.clustered || t->kind == TMI_VARIANCE) return 0; /* no squares there */
    for (size_t role = TMI_NUMERATOR_SQUARES; role <= TMI_DENOMINATOR_SQUARES; role++)
        squares += o->square[role] * o->square[role] * variances[role];
    return tmi_variance_margin(tmi_number_nearest(t->confidence)) * sqrt(squares) * o->factor[TMI_NUMERATOR] *
           o->factor[TMI_NUMERATOR];
}

/* And what it never passes: each unit as far out as values can be (variance_within and largest_variance in reading.c). */
static double farthest(const subject *about)
{
    const tmi_plan_statistic *t = &about->schedule->plan->statistics[about->statistic];
    const tmi_guessed_value *x = &about->x, *y = &about->y;
    const double width = x->high - x->low, far = fmax(fabs(x->low), fabs(x->high));
    const bool half = about->schedule->sampling.subtracts;
    if (!t->column) return half ? 0.5 : 1;
    if (t->second) return y->low > 0 ? width + far / y->low * (y->high - y->low) : INFINITY;
    return half ? width / 2 : t->kind == TMI_TOTAL ? far : width;
}

static tmi_prospect prospect_of(const subject *about, size_t stratum, double part, const double *variances)
{
    const tmi_schedule *s = about->schedule;
    const tmi_statistic_kind kind = s->plan->statistics[about->statistic].kind;
    tmi_outlook o;
    guess g = guess_of(about, stratum, part);
    make(&o, about, &g, variances);
    const double limit = kind == TMI_MEAN || kind == TMI_SHARE || kind == TMI_VARIANCE ? o.range : INFINITY;
    if (s->uses[about->statistic].known) return (tmi_prospect){0, 0, o.expected, o.range, limit};
    double least = o.sampling_sd * o.sampling_sd, far = farthest(about) * o.factor[TMI_NUMERATOR],
           most = fmax(least, g.spread * far * far);
    o.sampling_sd = sqrt(fmin(least + margin_of(&o, about, variances), most));
    if (tmi_table_of(s, about->statistic, TMI_DENOMINATOR)) {
        /* the ratio that multiplies the denominator's noise is a noisy one: n^2 = first + n^2 vB / B^2 */
        double denominator = o.factor[TMI_NUMERATOR] * o.factor[TMI_NUMERATOR] * variances[TMI_DENOMINATOR];
        if (kind != TMI_VARIANCE) o.noise_sd /= sqrt(1 - fmin(denominator, 0.5));
    }
    return (tmi_prospect){o.noise_sd, o.sampling_sd, o.expected, o.range, limit};
}

static bool is_by_strata(const tmi_schedule *s, size_t i)
{
    return s->plan->design.by && tmi_group_stratum(s, i, 0) != SIZE_MAX;
}

static bool groups_differ(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    bool differ = is_by_strata(s, i);
    for (size_t k = 0; k < t->by_count; k++) differ = differ || tmi_has_shares(t->by[k]);
    return differ && !s->uses[i].known;
}

/* What is looked up for each group: the shares of all values of all `by`, one after the other, and the noise in each stratum. */
typedef struct lookup {
    double *shares, *variances;
    size_t first[TMI_MAX_BY];
} lookup;

static tamis_status lookup_make(lookup *l, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    size_t values = 0, strata = is_by_strata(s, i) ? s->sampling.strata : 1;
    for (size_t k = 0; k < t->by_count; k++) {
        l->first[k] = values;
        values += t->by[k]->value_count;
    }
    l->shares = tmi_alloc(values + 1, sizeof *l->shares);
    l->variances = tmi_alloc(strata, TMI_ROLES * sizeof *l->variances);
    if (!l->shares || !l->variances) return tmi_fail_memory(err);
    for (size_t k = 0; k < t->by_count; k++)
        for (size_t code = 0; code < t->by[k]->value_count; code++)
            l->shares[l->first[k] + code] = t->by[k] == s->plan->design.by && strata > 1 ? 1 : tmi_share_of(t->by[k], code);
    for (size_t h = 0; h < strata; h++) set_variances(&l->variances[h * TMI_ROLES], s, i, is_by_strata(s, i) ? h : SIZE_MAX);
    return TAMIS_OK;
}

tamis_status tmi_prospects_make(tmi_prospect **list, size_t *count, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tamis_status status = TAMIS_OK;
    lookup l = {0};
    subject about = subject_of(s, i);
    *count = groups_differ(s, i) ? (size_t)tmi_statistic_cells(t) : 1;
    *list = tmi_alloc(*count, sizeof **list);
    if (!*list) return tmi_fail_memory(err);
    if (*count == 1) {
        double variances[TMI_ROLES];
        set_variances(variances, s, i, SIZE_MAX);
        **list = prospect_of(&about, SIZE_MAX, 1 / (double)tmi_statistic_cells(t), variances);
        return TAMIS_OK;
    }
    TMI_TRY(lookup_make(&l, s, i, err));
    for (size_t cell = 0; cell < *count; cell++) {
        double part = 1;
        size_t stratum = tmi_group_stratum(s, i, cell);
        for (size_t k = t->by_count, rest = cell; k-- > 0; rest /= t->by[k]->value_count)
            part *= l.shares[l.first[k] + rest % t->by[k]->value_count];
        (*list)[cell] = prospect_of(&about, stratum, part, &l.variances[stratum == SIZE_MAX ? 0 : stratum * TMI_ROLES]);
    }

done:
    tmi_free(l.shares);
    tmi_free(l.variances);
    if (status != TAMIS_OK) {
        tmi_free(*list);
        *list = NULL;
    }
    return status;
}
