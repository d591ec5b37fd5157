#include "release/group_sums.h"

#include <math.h>

#include "base/memory.h"

/* ---- cells ---- */

/* Where the cells of a group stand in a table: `strata` times `units` of them from `first`. */
typedef struct block {
    const tmi_measurement *m;
    const tmi_int128 *noisy;
    size_t first, strata, units;
    bool added; /* strata are a dimension that the statistic does not ask for */
} block;

static block block_of(const tmi_reading *r, size_t statistic, tmi_role role, size_t group)
{
    const tmi_schedule *s = r->schedule;
    size_t table = s->uses[statistic].table[role];
    if (table == TMI_NO_TABLE) return (block){0};
    const tmi_measurement *m = &s->measurements[table];
    bool added = m->by_count > s->plan->statistics[statistic].by_count;
    size_t strata = added ? s->sampling.strata : 1;
    return (block){m, r->noisy[table], group * strata * m->units, strata, m->units, added};
}

static size_t stratum_of(const block *b, size_t h)
{
    return tmi_cell_stratum(b->m, b->first + h * b->units);
}

/* One noisy integer in the unit of the statistic, without the weight that comes after the noise. */
static double plain_value(const tmi_reading *r, const block *b, size_t h, size_t unit)
{
    return tmi_measurement_unit(b->m, &r->schedule->sampling, stratum_of(b, h)) *
           (double)b->noisy[b->first + h * b->units + unit];
}

static double weight_after(const tmi_reading *r, const block *b, size_t h)
{
    const tmi_sampling *s = &r->schedule->sampling;
    return b->m->quantity.weighing == TMI_UNWEIGHED ? tmi_number_nearest(s->weight[stratum_of(b, h)]) : 1;
}

static tmi_noise_part part_of(const tmi_reading *r, const block *b, size_t h)
{
    const tmi_schedule *s = r->schedule;
    double unit = tmi_measurement_unit(b->m, &s->sampling, stratum_of(b, h));
    const tmi_law *law = tmi_cell_law(b->m, b->first + h * b->units);
    return (tmi_noise_part){unit, tmi_number_nearest(law->scale), s->gaussian};
}

/* Variance of the noise of one cell; 0 where there is no table. */
static double block_noise(const tmi_reading *r, const block *b, size_t h)
{
    return b->m ? tmi_noise_part_variance(part_of(r, b, h)) : 0;
}

static double sum_of(const tmi_reading *r, const block *b)
{
    double sum = 0;
    for (size_t h = 0; b->m && h < b->strata; h++) {
        for (size_t u = 0; u < b->units; u++) sum += weight_after(r, b, h) * plain_value(r, b, h, u);
    }
    return sum;
}

size_t tmi_group_stratum(const tmi_schedule *s, size_t statistic, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[statistic];
    if (!s->sampling.stays) return SIZE_MAX;
    for (size_t i = 0; i < t->by_count; i++) {
        if (t->by[i] != s->plan->design.by) continue;
        for (size_t j = t->by_count; j-- > i + 1;) group /= t->by[j]->value_count;
        return group % t->by[i]->value_count;
    }
    return SIZE_MAX;
}

/* ---- moments ---- */

/* A stratum, or all of the sample where strata are not told apart: its factor a and its number of rows. */
typedef struct part {
    double a, rows;
} part;

static part part_in(const tmi_schedule *s, const block *b, size_t statistic, size_t group, size_t h)
{
    const tmi_sampling *sampling = &s->sampling;
    const tmi_plan_design *d = &s->plan->design;
    size_t own = b->added ? h : tmi_group_stratum(s, statistic, group);
    if (d->kind == TMI_DESIGN_BERNOULLI) { /* as many rows as are expected */
        const tmi_plan_stratum *stratum = &d->strata[own == SIZE_MAX ? 0 : own];
        return (part){sampling->spread[own == SIZE_MAX ? 0 : own], (double)sampling->rows * tmi_number_nearest(stratum->rate)};
    }
    if (own != SIZE_MAX) return (part){sampling->spread[own], (double)d->strata[own].sample};
    if (sampling->strata == 1) return (part){sampling->spread[0], (double)d->sample};
    double w = tmi_number_nearest(sampling->weight[0]), n = (double)d->sample; /* equal weights, strata left aside */
    return (part){w * (w - 1) * n / (n - 1), n};
}

/* Sums of z^2 where z is 1 or an indicator are sums of z. */
static double moment(const tmi_reading *r, const block *squares, const block *otherwise, size_t h)
{
    const block *b = squares->m ? squares : otherwise;
    return b->m ? plain_value(r, b, h, 0) : 0;
}

/* Variance of X^2 for noise X of variance v: the fourth moment is 6 v^2 or 3 v^2. */
static double square_noise(double v, bool gaussian)
{
    return (gaussian ? 2 : 5) * v * v;
}

/* The noises of a stratum in the form: of the sums of squares, and of the sums x and y, which stand for squares where those
 * are not measured, and in -a/n (a x - b y)^2, to second order. `mean`: y counts rows. */
static void add_form_noise(tmi_form_noise *noise, const tmi_stratum_sums *s, const double squares[3], bool mean, bool subtracts,
                           bool gaussian)
{
    double each = subtracts ? s->a / s->sample : 0, vx = s->x_noise_variance, vy = s->y_noise_variance;
    if (squares[0] > 0) tmi_form_noise_add(noise, s->a, 0, 0, squares[0]);
    if (squares[1] > 0) tmi_form_noise_add(noise, 0, -2 * s->a, 0, squares[1]);
    if (squares[2] > 0) tmi_form_noise_add(noise, 0, 0, s->a, squares[2]);
    double x_square = squares[0] > 0 ? 0 : s->a, x_product = mean ? -2 * s->a : 0, y_square = squares[2] > 0 ? 0 : s->a;
    tmi_form_noise_add(noise, x_square - 2 * each * s->x, x_product + 2 * each * s->y, 0, vx);
    tmi_form_noise_add(noise, 0, 2 * each * s->x, y_square - 2 * each * s->y, vy);
    tmi_form_noise_add(noise, each, 0, 0, square_noise(vx, gaussian));
    tmi_form_noise_add(noise, 0, 2 * each, 0, vx * vy);
    tmi_form_noise_add(noise, 0, 0, each, square_noise(vy, gaussian));
}

static tamis_status unweighed_form(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    block a = block_of(r, i, TMI_A, group), b = block_of(r, i, TMI_B, group), aa = block_of(r, i, TMI_AA, group);
    block ab = block_of(r, i, TMI_AB, group), bb = block_of(r, i, TMI_BB, group), none = {0};
    const bool ratio = s->plan->statistics[i].kind == TMI_RATIO;
    tmi_stratum_sums *list = tmi_alloc(a.strata, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    tmi_quadratic moments = {0};
    for (size_t h = 0; h < a.strata; h++) {
        part p = part_in(s, &a, i, group, h);
        double x = plain_value(r, &a, h, 0), y = b.m ? plain_value(r, &b, h, 0) : 0;
        moments.xx += p.a * moment(r, &aa, &a, h);
        if (b.m) moments.xy += p.a * (ratio ? moment(r, &ab, &none, h) : x);
        if (b.m) moments.yy += p.a * (ratio ? moment(r, &bb, &b, h) : y);
        double vx = block_noise(r, &a, h), vy = block_noise(r, &b, h);
        list[h] = (tmi_stratum_sums){p.a, p.rows, x, y, vx, vy};
        const double squares[] = {block_noise(r, &aa, h), block_noise(r, &ab, h), block_noise(r, &bb, h)};
        add_form_noise(&z->form_noise, &list[h], squares, b.m && !ratio, s->sampling.subtracts, s->gaussian);
        z->spread += p.a * p.rows;
    }
    z->form = tmi_variance_moments(moments, list, s->sampling.subtracts ? a.strata : 0);
    z->df = s->sampling.df;
    tmi_free(list);
    return TAMIS_OK;
}

/* Weights in the tables: the sums of a z^2 themselves. */
static void weighed_form(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group)
{
    const tmi_schedule *s = r->schedule;
    block aa = block_of(r, i, TMI_AA, group), ab = block_of(r, i, TMI_AB, group), bb = block_of(r, i, TMI_BB, group);
    for (size_t h = 0; h < aa.strata; h++) {
        tmi_form_noise_add(&z->form_noise, 1, ab.m ? 0 : -2, 0, block_noise(r, &aa, h));
        tmi_form_noise_add(&z->form_noise, 0, -2, 0, block_noise(r, &ab, h));
        tmi_form_noise_add(&z->form_noise, 0, 0, 1, block_noise(r, &bb, h));
    }
    z->form = (tmi_quadratic){sum_of(r, &aa), ab.m ? sum_of(r, &ab) : sum_of(r, &aa), sum_of(r, &bb)};
    for (size_t h = 0; s->sampling.spread && h < s->sampling.strata; h++) {
        if (isnan(s->sampling.spread[h])) z->form.xx = s->sampling.spread[h]; /* one unit of a stratum tells nothing */
    }
    z->df = s->sampling.df;
    double largest = (double)s->sampling.most * tmi_number_nearest(s->sampling.step), units = (double)s->plan->design.population;
    bool has_units = tmi_table_of(s, i, TMI_B) && s->plan->statistics[i].kind != TMI_RATIO;
    if (units == 0) units = has_units ? fmax(z->value[TMI_B], 1) : !s->plan->statistics[i].column ? fmax(z->value[TMI_A], 1)
                                                                                                 : (double)s->sampling.rows;
    z->spread = largest * units; /* the sum of w (w - 1) is at most the largest weight times the sum of the weights */
}

/* ---- variance units ---- */

/* The totals of one role by variance unit, times a factor, added to `totals`. */
static void add_totals(double *totals, const tmi_reading *r, const block *b, double factor)
{
    for (size_t h = 0; b->m && h < b->strata; h++) {
        for (size_t u = 0; u < b->units; u++) totals[u] += factor * weight_after(r, b, h) * plain_value(r, b, h, u);
    }
}

/* Two units of m1 and m2 clusters: (x1 - x2)^2 becomes m1 m2 (x1/m1 - x2/m2)^2, which has the right mean. */
static void balance(double *x, const tmi_variance_groups *g)
{
    for (size_t u = 0; u + 1 < g->count; u++) {
        bool pair = g->stratum_of[u] == g->stratum_of[u + 1] && (u + 2 >= g->count || g->stratum_of[u + 2] != g->stratum_of[u]) &&
                    (u == 0 || g->stratum_of[u - 1] != g->stratum_of[u]);
        if (!pair || g->members[u] == g->members[u + 1] || g->members[u] == 0 || g->members[u + 1] == 0) continue;
        double ratio = sqrt((double)g->members[u + 1] / (double)g->members[u]);
        x[u] *= ratio;
        x[u + 1] /= ratio;
    }
}

tamis_status tmi_units_variance(double *variance, int64_t *df, const tmi_reading *r, size_t i, size_t group,
                                const double factors[TMI_MAIN_ROLES], tamis_error *err)
{
    double totals[TMI_MAX_VARIANCE_UNITS] = {0};
    tmi_quadratic form;
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        add_totals(totals, r, &b, factors[role]);
    }
    balance(totals, r->groups);
    *variance = INFINITY;
    tamis_status status = tmi_variance_units(&form, df, totals, NULL, r->groups->stratum_of, r->groups->count, err);
    if (status == TAMIS_INVALID) { /* a stratum of one cluster */
        *df = 0;
        return TAMIS_OK;
    }
    if (status == TAMIS_OK) *variance = form.xx;
    return status;
}

static tamis_status units_form(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group, tamis_error *err)
{
    static const double only_a[] = {1, 0, 0}, only_b[] = {0, 1, 0}, both[] = {1, 1, 0};
    double a, b, sum;
    tamis_status status;
    z->with_noise = true;
    TMI_TRY(tmi_units_variance(&a, &z->df, r, i, group, only_a, err));
    TMI_TRY(tmi_units_variance(&b, &z->df, r, i, group, only_b, err));
    TMI_TRY(tmi_units_variance(&sum, &z->df, r, i, group, both, err));
    z->form = (tmi_quadratic){a, (sum - a - b) / 2, b};
    z->spread = INFINITY;

done:
    return status;
}

/* ---- together ---- */

void tmi_group_sums_clear(tmi_group_sums *z)
{
    tmi_free(z->parts);
    *z = (tmi_group_sums){0};
}

static tamis_status make(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    size_t count = 0;
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        count += b.strata * b.units;
    }
    z->parts = tmi_alloc(count, sizeof *z->parts);
    if (!z->parts) return tmi_fail_memory(err);
    count = 0;
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        z->first[role] = count;
        z->value[role] = sum_of(r, &b);
        for (size_t h = 0; h < b.strata; h++) {
            tmi_noise_part part = part_of(r, &b, h);
            part.factor *= weight_after(r, &b, h);
            z->noise_variance[role] += (double)b.units * tmi_noise_part_variance(part);
            for (size_t u = 0; u < b.units; u++) z->parts[count++] = part;
        }
    }
    z->first[TMI_MAIN_ROLES] = count;
    if (s->plan->design.kind == TMI_DESIGN_CENSUS) {
        z->df = -1;
        return TAMIS_OK;
    }
    if (s->sampling.clustered) return units_form(z, r, i, group, err);
    const tmi_measurement *a = tmi_table_of(s, i, TMI_A);
    if (a->quantity.weighing == TMI_UNWEIGHED) return unweighed_form(z, r, i, group, err);
    weighed_form(z, r, i, group);
    return TAMIS_OK;
}

tamis_status tmi_group_sums_make(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group, tamis_error *err)
{
    *z = (tmi_group_sums){.df = -1};
    tamis_status status = make(z, r, i, group, err);
    if (status != TAMIS_OK) tmi_group_sums_clear(z);
    return status;
}
