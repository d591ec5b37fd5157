#include "schedule/guesses.h"

#include <math.h>

#include "schedule/result.h"

static double guessed(const tamis_number *guess, double otherwise) { return guess ? tmi_number_nearest(guess) : otherwise; }

/* ---- sizes ---- */

#define LARGEST_OVER_MEAN 3 /* the largest weight is taken as this times the mean, where no sample size is declared */

/* A standard deviation that is not guessed is taken as half the largest that bounds and mean allow. */
static double half_spread(double mean, double low, double high)
{
    return mean > low && mean < high ? sqrt((mean - low) * (high - mean)) / 2 : 0;
}

static double public_sample(const tmi_schedule *s, double units)
{
    const tmi_plan_design *d = &s->plan->design;
    double sum = 0;
    if (d->sample > 0) return (double)d->sample;
    if (d->kind->rate) {
        for (size_t h = 0; h < d->stratum_count; h++)
            sum += tmi_number_nearest(d->strata[h].rate) * units * tmi_stratum_share(s, h);
        return sum;
    }
    for (size_t i = 0; i < s->frame.count; i++) sum += s->frame.pi[i];
    return sum > 0 ? sum : guessed(d->typical.sample, tmi_sample_from_weights(d));
}

/* The weights add up to about the population, and none is above the largest: a sample has at least N/W units. */
double tmi_sample_from_weights(const tmi_plan_design *d)
{
    const double N = d->population > 0 ? (double)d->population : guessed(d->typical.population, TMI_NULL);
    return d->max_weight ? fmin(LARGEST_OVER_MEAN * N / tmi_number_nearest(d->max_weight), N) : TMI_NULL;
}

/* Units in a cluster whose bounds are not declared: where the list of the sampled clusters is public, the sample divided by
 * their number. */
static double cluster_from_list(const tmi_schedule *s, double sample)
{
    const tmi_psu_facts *psus = tmi_psus_of(s);
    return psus && !s->plan->design.kind->clusters && sample > 0 ? fmax(sample / (double)tmi_psu_count(psus), 1)
                                                                 : TMI_CLUSTER_ASSUMED;
}

void tmi_sizes_make(tmi_sizes *z, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_typical *t = &d->typical;
    const tmi_frame_facts *frame = tmi_frame_of(s);
    const bool stages = d->kind->clusters;
    const double low = (double)d->smallest, high = (double)d->largest;
    const double most = tmi_counts_rows(s->plan) ? (double)s->plan->privacy.rows_per_unit : 1;
    const double rows = most > 1 ? guessed(t->rows, (1 + most) / 2) : 1;
    const double rows_sd = most > 1 ? guessed(t->rows_sd, half_spread(rows, 1, most)) : 0;
    double drawn = d->population > 0 ? (double)d->population
                   : frame           ? (double)tmi_frame_size(frame)
                                     : guessed(t->population, TMI_UNITS_ASSUMED);
    const double sample = public_sample(s, drawn);
    double size = 1, sd = 0, taken = 1;
    if (d->cluster) {
        taken = size = guessed(t->cluster, high > 0 ? (low + high) / 2 : cluster_from_list(s, sample));
        sd = guessed(t->cluster_sd, high > 0 ? half_spread(size, low, high) : 0);
    }
    if (d->second_rate) taken = size * tmi_number_nearest(d->second_rate);
    else if (d->kind->staged)
        taken = fmin(size, d->second_take > 0 ? (double)d->second_take : guessed(t->taken, TMI_TAKEN_ASSUMED));
    if (tmi_draws_clusters_unequally(d) && d->population == 0 && !t->population && d->max_weight) /* a mean weight is guessed */
        drawn = sample * taken * tmi_number_nearest(d->max_weight) / LARGEST_OVER_MEAN / size;
    *z = (tmi_sizes){.units = drawn * rows * (stages ? size : 1),
                     .sample = sample * rows * (stages ? taken : 1),
                     .cluster = size * rows,
                     .cluster_sd = sqrt(sd * sd * rows * rows + size * rows_sd * rows_sd),
                     .taken = taken * rows,
                     .rows = rows,
                     .rows_sd = rows_sd,
                     .icc = guessed(t->icc, TMI_ICC_ASSUMED),
                     .response = guessed(t->response, 1)};
}

double tmi_stratum_share(const tmi_schedule *s, size_t stratum)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_frame_facts *frame = tmi_frame_of(s);
    if (d->population > 0) return (double)d->strata[stratum].population / (double)d->population;
    if (frame) return (double)frame->strata[stratum].units / (double)tmi_frame_size(frame);
    return 1 / (double)d->stratum_count;
}

/* ---- values ---- */

/* The part of values below x. Numbers with a guessed mean and standard deviation are taken to follow the beta law on [from, to]
 * that has both. */
static double beta_below(const tmi_plan_column *number, double x)
{
    tmi_guessed_value v = tmi_value_of(number);
    double width = v.high - v.low, m = (v.mean - v.low) / width, u = (x - v.low) / width;
    double scale = m * (1 - m) * width * width / (v.sd * v.sd) - 1, a = m * scale, b = (1 - m) * scale;
    if (u <= 0) return 0;
    if (u >= 1) return 1;
    if (!(scale > 0)) return 1 - m; /* all values are at the two ends */
    /* The integral of t^(a-1) (1-t)^(b-1) is computed by the midpoint rule on each side of u. With t = r^(1/a) below and
     * t = 1 - r^(1/b) above, the integrand stays finite at the ends. */
    enum { PIECES = 200 };
    double below = 0, above = 0, end = pow(u, a), rest = pow(1 - u, b);
    for (int i = 0; i < PIECES; i++) {
        double r = (i + 0.5) / PIECES;
        below += pow(1 - pow(end * r, 1 / a), b - 1) * end / (a * PIECES);
        above += pow(1 - pow(rest * r, 1 / b), a - 1) * rest / (b * PIECES);
    }
    return below / (below + above);
}

/* The part of the grid points from least to most. */
static double part_between(const tmi_plan_column *number, int64_t least, int64_t most)
{
    double step = number->grid.step;
    double from = least <= number->grid.low ? 0 : beta_below(number, ((double)least - 0.5) * step);
    double to = most >= number->grid.high ? 1 : beta_below(number, ((double)most + 0.5) * step);
    return fmax(to - from, 1e-6);
}

static bool has_law(const tmi_plan_column *number) { return number->typical_sd != NULL; }

bool tmi_has_shares(const tmi_plan_column *category)
{
    if (category->recode_of) return category->recode_of->shares != NULL;
    return category->cut_of ? has_law(category->cut_of) : category->shares != NULL;
}

double tmi_share_of(const tmi_plan_column *c, size_t code)
{
    double rest = 1;
    size_t silent = 0;
    const double present = c->cut_of ? guessed(c->cut_of->typical_share, 1) : 1;
    if (!tmi_has_shares(c)) return present / (double)c->value_count;
    if (c->recode_of) { /* those of its parts */
        double sum = 0;
        for (size_t i = 0; i < c->recode_of->value_count; i++)
            if ((size_t)c->recode[i] == code) sum += tmi_share_of(c->recode_of, i);
        return sum;
    }
    if (c->cut_of) {
        const tmi_grid *grid = &c->cut_of->grid;
        return present * part_between(c->cut_of, code > 0 ? c->cuts[code - 1] : grid->low,
                                      code + 1 < c->value_count ? c->cuts[code] - 1 : grid->high);
    }
    if (c->shares[code]) return tmi_number_nearest(c->shares[code]);
    for (size_t i = 0; i < c->value_count; i++) {
        if (c->shares[i]) rest -= tmi_number_nearest(c->shares[i]);
        else silent++;
    }
    return fmax(rest, 1e-6) / (double)silent; /* values without a guess share what the others leave, in equal parts */
}

/* The part of all units that have a value. If every value of a category has a guessed share, what these leave is missing, unless
 * missing counts as a value. */
static double part_present(const tmi_plan_column *column)
{
    const tmi_plan_column *of = column->cut_of ? column->cut_of : column->recode_of ? column->recode_of : column;
    double sum = 0;
    if (of->is_number) return guessed(of->typical_share, 1);
    if (!of->shares || of->missing == TMI_AS_VALUE || of->missing == TMI_NEVER) return 1;
    for (size_t code = 0; code < of->value_count; code++) sum += tmi_share_of(of, code);
    return fmin(sum, 1);
}

/* The part of all units for which all conditions hold, as if they had nothing to do with each other. Those on strata are left out
 * where a design is given. */
static double indicator_share(const tmi_plan_column *indicator, const tmi_plan_design *left_out, bool *typical, double *present)
{
    double share = 1;
    *typical = true;
    *present = 1;
    for (size_t i = 0; i < indicator->condition_count; i++) {
        const tmi_plan_condition *c = &indicator->conditions[i];
        double part = 0;
        if (left_out && tmi_is_of_strata(left_out, c->column)) continue;
        if (c->column->is_number ? !has_law(c->column) : !tmi_has_shares(c->column)) {
            *typical = false;
            continue;
        }
        for (size_t k = 0; k < c->code_count; k++) part += tmi_share_of(c->column, (size_t)c->codes[k]);
        const double there = part_present(c->column);
        share *= c->column->is_number ? there * part_between(c->column, c->least, c->most) : part;
        *present *= there;
    }
    return *typical ? fmin(share, 1) : share / 2;
}

double tmi_part_where(const tmi_plan_column *where, const tmi_plan_design *design)
{
    bool typical;
    double present;
    const double share = indicator_share(where, design, &typical, &present);
    return fmin(share, present);
}

tmi_guessed_value tmi_value_of(const tmi_plan_column *column)
{
    if (column->conditions) {
        tmi_guessed_value v = {.high = 1};
        const double share = indicator_share(column, NULL, &v.typical, &v.present);
        v.mean = fmin(share / v.present, 1);
        v.sd = sqrt(v.mean * (1 - v.mean));
        return v;
    }
    double low = column->grid.step * (double)column->grid.low, high = column->grid.step * (double)column->grid.high;
    double mean = guessed(column->typical, low + 0.75 * (high - low));
    double sd = half_spread(mean, low, high);
    return (tmi_guessed_value){.mean = mean,
                               .sd = guessed(column->typical_sd, sd > 0 ? sd : (high - low) / 4),
                               .present = part_present(column),
                               .low = low,
                               .high = high,
                               .typical = column->typical != NULL};
}
