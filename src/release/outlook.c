#include "release/outlook.h"

#include <math.h>

#include "release/noise_law.h"
#include "release/result.h"

/* A guess where the plan gives no number: a population of this size, and clusters whose units are alike to this degree. */
#define UNITS_GUESSED 1e6
#define ALIKENESS 0.05

double tmi_table_variance(const tmi_schedule *s, size_t statistic, const tmi_measurement *m,
                          double (*of)(const tmi_law *law, bool gaussian))
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    const tmi_sampling *sampling = &s->sampling;
    double sum = 0;
    size_t strata = m->stratum_at < m->by_count ? sampling->strata : 1;
    for (size_t h = 0; h < strata; h++) {
        double unit = tmi_measurement_unit(m, sampling, h);
        if (m->quantity.weighing == TMI_UNWEIGHED) unit *= tmi_number_nearest(sampling->weight[h]);
        sum += unit * unit * of(&m->laws[m->law_count > 1 ? h : 0], s->gaussian);
    }
    return sum * (double)m->cells / (double)strata / (double)tmi_statistic_cells(t); /* the mean over the groups */
}

static double variance_of(const tmi_law *law, bool gaussian)
{
    double sd = law->scale ? tmi_noise_sd(law->scale, gaussian) : TMI_NULL;
    return sd * sd;
}

/* ---- expected sizes ---- */

typedef struct guess {
    double units, part;      /* of the population; of them in a group */
    double spread;           /* variance of the total of z per mean square of z */
} guess;

static double cluster_size(const tmi_plan_design *d)
{
    return d->largest > 0 ? ((double)d->smallest + (double)d->largest) / 2 : 10;
}

static guess guess_of(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_sampling *sampling = &s->sampling;
    bool clusters = d->kind == TMI_DESIGN_CLUSTER || d->kind == TMI_DESIGN_TWO_STAGE;
    double size = clusters ? cluster_size(d) : 1;
    guess g = {d->population > 0 ? (double)d->population * size : UNITS_GUESSED, 1 / (double)tmi_statistic_cells(t), TMI_NULL};
    if (t->where) g.part /= 2;
    double n = (double)d->sample * size, w = n > 0 ? g.units / n : 1;
    if (sampling->weights != TMI_ROWS) {
        g.spread = 0;
        for (size_t h = 0; h < sampling->strata; h++) {
            double drawn = d->kind == TMI_DESIGN_BERNOULLI ? tmi_number_nearest(d->strata[h].rate) * (double)d->strata[h].population
                                                           : (double)d->strata[h].sample * size;
            g.spread += sampling->spread[h] * drawn;
        }
    } else if (n > 0) {
        g.spread = n * w * fmax(w - 1, 0) * sampling->correction;
    }
    if (clusters) g.spread *= 1 + (size - 1) * ALIKENESS;
    return g;
}

typedef struct value {
    double mean, width, low, high;
    bool typical;
} value;

static value value_of(const tmi_plan_column *column)
{
    if (column->conditions) return (value){.mean = 0.5, .width = 1, .high = 1};
    double low = column->grid.step * (double)column->grid.low, high = column->grid.step * (double)column->grid.high;
    bool typical = column->typical != NULL;
    return (value){typical ? tmi_number_nearest(column->typical) : low + 0.75 * (high - low), high - low, low, high, typical};
}

/* Values of unknown law: a standard deviation of a quarter of the range, a half for 0 and 1. */
static double square_of_sd(const value *v, bool indicator)
{
    double sd = v->width / (indicator ? 2 : 4);
    return sd * sd;
}

static double not_zero(double size, double otherwise)
{
    return size > 0 ? size : otherwise > 0 ? otherwise : 1;
}

static void expect_total(tmi_outlook *o, const tmi_plan_statistic *t, const guess *g)
{
    double N = g->units, p = g->part;
    o->factor[TMI_A] = o->square[TMI_AA] = 1;
    if (!t->column) {
        *o = (tmi_outlook){.factor = {[TMI_A] = 1, [TMI_K] = 1}, .square = {[TMI_AA] = 1, [TMI_KK] = p * p}, .size = N * p, .expected = N * p, .range = N,
                           .sampling_sd = sqrt(g->spread * p * (1 - p))};
        return;
    }
    value x = value_of(t->column);
    o->factor[TMI_K] = fabs(x.mean);
    o->square[TMI_KK] = x.mean * x.mean;
    o->range = N * (fmax(x.high, 0) - fmin(x.low, 0));
    o->expected = x.typical ? fabs(N * p * x.mean) : TMI_NULL;
    o->size = not_zero(fabs(N * p * x.mean), N * p * x.width);
    double square = square_of_sd(&x, t->column->conditions != NULL);
    o->sampling_sd = sqrt(g->spread * (p * (square + x.mean * x.mean) - p * p * x.mean * x.mean));
}

/* A total divided by the number of units. */
static void expect_part(tmi_outlook *o, const tmi_plan_statistic *t, const guess *g)
{
    expect_total(o, t, g);
    o->factor[TMI_A] /= g->units;
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

static void expect_ratio(tmi_outlook *o, const tmi_schedule *s, size_t i, const guess *g)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    value x = value_of(t->column), y = {.mean = 1};
    if (t->second) y = value_of(t->second);
    double B = not_zero(fabs(g->units * g->part * y.mean), g->units * g->part), ratio = y.mean != 0 ? x.mean / y.mean : x.mean;
    double about = t->second ? ratio : x.mean - centre_in(s, i, TMI_A);
    if (!t->second) about = fmax(fabs(about), x.width / 4); /* groups differ: a typical value is not that of each */
    double square = square_of_sd(&x, t->column->conditions != NULL);
    o->sampling_sd = sqrt(g->spread * g->part * square) / B;
    o->expected = x.typical && (!t->second || y.typical) ? fabs(ratio) : TMI_NULL;
    o->range = t->second ? fabs(2 * ratio) : x.width;
    o->size = not_zero(fabs(x.typical ? ratio : o->range / 2), o->range);
    o->factor[TMI_A] = 1 / B;
    o->factor[TMI_B] = fabs(about) / B;
    o->factor[TMI_K] = x.width / 4 / B; /* so far do control cells differ */
    o->square[TMI_AA] = 1;
    o->square[TMI_KK] = x.width * x.width / 16;
    o->square[TMI_AB] = 2 * fabs(about);
    o->square[TMI_BB] = about * about;
    if (t->second) o->square[TMI_N] = x.width * x.width / 16; /* x - r y is about so far from 0 at the centres */
    if (t->second) o->factor[TMI_N] = fmax(fabs(centre_in(s, i, TMI_A) - ratio * centre_in(s, i, TMI_B)), x.width / 4) / B;
    if (t->kind != TMI_VARIANCE) return;
    o->expected = TMI_NULL;
    o->range = x.width * x.width / 4;
    o->size = square;
    o->factor[TMI_Q] = 1 / B;
    o->factor[TMI_A] = 2 * fabs(about) / B;
    o->factor[TMI_B] = (square + about * about) / B; /* their difference, but neither is known */
    o->sampling_sd = sqrt(g->spread * g->part * square * fmax(x.width * x.width / 4 - square, 0)) / B;
}

void tmi_outlook_make(tmi_outlook *o, const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    guess g = guess_of(s, t);
    *o = (tmi_outlook){0};
    bool total = t->kind == TMI_COUNT || t->kind == TMI_TABLE || t->kind == TMI_HISTOGRAM || t->kind == TMI_TOTAL;
    if (total) expect_total(o, t, &g);
    else if (tmi_divides_total(s, t)) expect_part(o, t, &g);
    else expect_ratio(o, s, i, &g);
    if (s->uses[i].known) o->sampling_sd = 0;
    double noise = 0;
    for (size_t role = TMI_A; role <= TMI_K; role++) {
        const tmi_measurement *m = tmi_table_of(s, i, (tmi_role)role);
        if (m) noise += o->factor[role] * o->factor[role] * tmi_table_variance(s, i, m, variance_of);
    }
    o->noise_sd = sqrt(noise);
}
