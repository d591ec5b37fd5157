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

/* Variance of X^2 for noise X of variance v: the fourth moment is 6 v^2 or 3 v^2. */
static double square_noise(double v, bool gaussian)
{
    return (gaussian ? 2 : 5) * v * v;
}

/* A sum of squares or products about centres: its value in a stratum, its noise. Where z is 1 or an indicator, z^2 is z. */
typedef struct square {
    bool measured;
    double value, noise, centre_x, centre_y;
} square;

static double centre_of(const block *b, bool of_y)
{
    const tmi_plan_column *column = !b->m ? NULL : of_y ? b->m->quantity.y : b->m->quantity.x;
    if (!column || column->conditions) return 0;
    return tmi_grid_in(column, 0).step * (double)(of_y ? b->m->quantity.centre_y : b->m->quantity.centre_x);
}

/* `ratio`: sums are taken about 0, so the centres count; else all have the same. */
static square square_of(const tmi_reading *r, const block *b, size_t h, bool ratio)
{
    if (!b->m) return (square){0};
    return (square){true, plain_value(r, b, h, 0), block_noise(r, b, h), ratio ? centre_of(b, false) : 0, ratio ? centre_of(b, true) : 0};
}

/* A stratum's sums: x and y about 0, the rows n of a ratio, squares; how x and y follow from what was measured. */
typedef struct stratum_form {
    double a, each;             /* each: a over the sampled rows; 0 where no mean is taken off */
    double x, y, n;
    double vx, vy, vn;          /* noise of the sums as they were measured, about the centres */
    double centre_x, centre_y;
    square xx, xy, yy;
    bool mean;                  /* y counts rows: x y is x */
    bool gaussian;
} stratum_form;

/* Sums about 0 from sums about a centre c: x^2 = (x-c)^2 + 2 c x - c^2, and so on. */
static tmi_quadratic moments_of(const stratum_form *s)
{
    const square *xx = &s->xx, *xy = &s->xy, *yy = &s->yy;
    double a = xx->centre_x, b = yy->centre_x;
    return (tmi_quadratic){
        s->a * (xx->measured ? xx->value + 2 * a * s->x - a * a * s->n : s->x),
        s->a * (xy->measured ? xy->value + xy->centre_x * s->y + xy->centre_y * s->x - xy->centre_x * xy->centre_y * s->n
                             : s->mean ? s->x : 0),
        s->a * (yy->measured ? yy->value + 2 * b * s->y - b * b * s->n : s->y)};
}

/* The noises of a stratum in the form, each with its derivative by a number that was measured; those of x and y also to
 * second order, in -each (a x - b y)^2. */
static void add_form_noise(tmi_form_noise *noise, const stratum_form *s)
{
    const square *xx = &s->xx, *xy = &s->xy, *yy = &s->yy;
    double cx = xy->centre_x, cy = xy->centre_y, product = xy->measured ? 0 : s->mean ? 1 : 0;
    if (xx->measured) tmi_form_noise_add(noise, s->a, 0, 0, xx->noise);
    if (xy->measured) tmi_form_noise_add(noise, 0, -2 * s->a, 0, xy->noise);
    if (yy->measured) tmi_form_noise_add(noise, 0, 0, s->a, yy->noise);
    const double by_x[] = {s->a * (xx->measured ? 2 * xx->centre_x : 1) - 2 * s->each * s->x,
                           -2 * s->a * (cy + product) + 2 * s->each * s->y, 0};
    const double by_y[] = {0, -2 * s->a * cx + 2 * s->each * s->x,
                           s->a * (yy->measured ? 2 * yy->centre_x : 1) - 2 * s->each * s->y};
    const double by_n[] = {-s->a * xx->centre_x * xx->centre_x, 2 * s->a * cx * cy, -s->a * yy->centre_x * yy->centre_x};
    double with_n[3]; /* x = x' + centre n */
    for (int i = 0; i < 3; i++) with_n[i] = by_n[i] + s->centre_x * by_x[i] + s->centre_y * by_y[i];
    tmi_form_noise_add(noise, by_x[0], by_x[1], by_x[2], s->vx);
    tmi_form_noise_add(noise, by_y[0], by_y[1], by_y[2], s->vy);
    tmi_form_noise_add(noise, with_n[0], with_n[1], with_n[2], s->vn);
    double vx = s->vx + s->centre_x * s->centre_x * s->vn, vy = s->vy + s->centre_y * s->centre_y * s->vn;
    tmi_form_noise_add(noise, s->each, 0, 0, square_noise(vx, s->gaussian));
    tmi_form_noise_add(noise, 0, 2 * s->each, 0, vx * vy);
    tmi_form_noise_add(noise, 0, 0, s->each, square_noise(vy, s->gaussian));
}

static tamis_status unweighed_form(tmi_group_sums *z, const tmi_reading *r, size_t i, size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    block a = block_of(r, i, TMI_A, group), b = block_of(r, i, TMI_B, group), aa = block_of(r, i, TMI_AA, group);
    block ab = block_of(r, i, TMI_AB, group), bb = block_of(r, i, TMI_BB, group), rows = {0};
    const bool ratio = s->plan->statistics[i].kind == TMI_RATIO;
    if (ratio) rows = block_of(r, i, TMI_N, group);
    tmi_stratum_sums *list = tmi_alloc(a.strata, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    tmi_quadratic moments = {0};
    for (size_t h = 0; h < a.strata; h++) {
        part p = part_in(s, &a, i, group, h);
        stratum_form f = {.a = p.a, .each = s->sampling.subtracts ? p.a / p.rows : 0, .mean = b.m && !ratio, .gaussian = s->gaussian,
                          .n = rows.m ? plain_value(r, &rows, h, 0) : p.rows, .vn = block_noise(r, &rows, h),
                          .vx = block_noise(r, &a, h), .vy = block_noise(r, &b, h), .centre_x = z->centre[0], .centre_y = z->centre[1],
                          .xx = square_of(r, &aa, h, ratio), .xy = square_of(r, &ab, h, ratio), .yy = square_of(r, &bb, h, ratio)};
        f.x = plain_value(r, &a, h, 0) + f.centre_x * f.n;
        f.y = b.m ? plain_value(r, &b, h, 0) + f.centre_y * f.n : 0;
        tmi_quadratic m = moments_of(&f);
        moments = (tmi_quadratic){moments.xx + m.xx, moments.xy + m.xy, moments.yy + m.yy};
        list[h] = (tmi_stratum_sums){p.a, p.rows, f.x, f.y, f.vx + f.centre_x * f.centre_x * f.vn,
                                     f.vy + f.centre_y * f.centre_y * f.vn, f.centre_x * f.centre_y * f.vn};
        add_form_noise(&z->form_noise, &f);
        z->spread += p.a * p.rows;
    }
    z->form = tmi_variance_moments(moments, list, s->sampling.subtracts ? a.strata : 0);
    if (s->plan->statistics[i].kind == TMI_SHARE && b.m) z->ones = moments.xx, z->all = fmax(moments.yy, 0);
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
    const double x = z->centre[0], y = z->centre[1];
    const double only_a[] = {1, 0, x}, only_b[] = {0, 1, y}, both[] = {1, 1, x + y};
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
    if (s->plan->statistics[i].kind == TMI_RATIO) {
        block a = block_of(r, i, TMI_A, group), b = block_of(r, i, TMI_B, group);
        z->centre[0] = centre_of(&a, false);
        z->centre[1] = centre_of(&b, false);
    }
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
