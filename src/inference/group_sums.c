#include "inference/calibrated_sums.h"

#include <math.h>

#include "base/memory.h"
#include "inference/stratum_form.h"

/* ---- cells ---- */

/* Where the cells of a group stand in a table: `strata` times `units` of them from `first`. */
typedef struct block {
    const tmi_measurement *m;
    const tmi_int128 *noisy;
    size_t first, strata, units;
    bool added; /* strata are a dimension that the statistic does not ask for */
} block;

static block block_of(const tmi_inference *r, size_t statistic, tmi_role role, size_t group)
{
    const tmi_schedule *s = r->schedule;
    size_t table = s->uses[statistic].table[role];
    if (table == TMI_NO_TABLE) return (block){0};
    const tmi_measurement *m = &s->measurements[table];
    bool added = m->by_count > s->plan->statistics[statistic].by_count;
    size_t strata = added ? s->sampling.strata : 1;
    return (block){m, r->noisy[table], group * strata * m->units, strata, m->units, added};
}

static size_t stratum_of(const block *b, size_t h) { return tmi_cell_stratum(b->m, b->first + h * b->units); }

/* One noisy integer in the unit of the statistic, without the weight that comes after the noise. */
static double plain_value(const tmi_inference *r, const block *b, size_t h, size_t unit)
{
    return tmi_measurement_unit(b->m, &r->schedule->sampling, stratum_of(b, h)) *
           (double)b->noisy[b->first + h * b->units + unit];
}

static double weight_after(const tmi_inference *r, const block *b, size_t h)
{
    const tmi_sampling *s = &r->schedule->sampling;
    return b->m->quantity.weighing == TMI_UNWEIGHED ? tmi_number_nearest(s->weight[stratum_of(b, h)]) : 1;
}

static tmi_noise_part part_of(const tmi_inference *r, const block *b, size_t h)
{
    const tmi_schedule *s = r->schedule;
    double unit = tmi_measurement_unit(b->m, &s->sampling, stratum_of(b, h));
    const tmi_noise_law *law = tmi_cell_law(b->m, b->first + h * b->units);
    return (tmi_noise_part){unit, tmi_number_nearest(law->scale), s->gaussian};
}

/* Variance of the noise of one cell; 0 where there is no table. */
static double block_noise(const tmi_inference *r, const block *b, size_t h)
{
    return b->m ? tmi_noise_part_variance(part_of(r, b, h)) : 0;
}

static double sum_of(const tmi_inference *r, const block *b)
{
    double sum = 0;
    for (size_t h = 0; b->m && h < b->strata; h++) {
        for (size_t u = 0; u < b->units; u++) sum += weight_after(r, b, h) * plain_value(r, b, h, u);
    }
    return sum;
}

/* ---- moments ---- */

tmi_stratum_part tmi_stratum_part_of(const tmi_schedule *s, size_t stratum)
{
    const tmi_sampling *sampling = &s->sampling;
    const tmi_plan_design *d = &s->plan->design;
    const size_t own = stratum == SIZE_MAX ? 0 : stratum;
    if (d->kind->rate) /* as many rows as are expected */
        return (tmi_stratum_part){sampling->spread[own], (double)sampling->rows * tmi_number_nearest(d->strata[own].rate)};
    if (stratum != SIZE_MAX) return (tmi_stratum_part){sampling->spread[own], (double)d->strata[own].sample};
    if (sampling->strata == 1) return (tmi_stratum_part){sampling->spread[0], (double)d->sample};
    double w = tmi_number_nearest(sampling->weight[0]), n = (double)d->sample; /* equal weights, strata left aside */
    return (tmi_stratum_part){w * (w - 1) * n / (n - 1), n};
}

double tmi_centre_of(const tmi_measurement *m, bool of_y)
{
    const tmi_plan_column *column = !m ? NULL : of_y ? m->quantity.y : m->quantity.x;
    if (!column || column->conditions) return 0;
    return tmi_grid_in(column, 0).step * (double)(of_y ? m->quantity.centre_y : m->quantity.centre_x);
}

/* `ratio`: sums are taken about 0, so the centres count; else all have the same. */
static tmi_square square_of(const tmi_inference *r, const block *b, size_t h, bool ratio)
{
    if (!b->m) return (tmi_square){0};
    return (tmi_square){true, plain_value(r, b, h, 0), block_noise(r, b, h), ratio ? tmi_centre_of(b->m, false) : 0,
                        ratio ? tmi_centre_of(b->m, true) : 0};
}

static tamis_status unweighed_form(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    block a = block_of(r, i, TMI_NUMERATOR, group), b = block_of(r, i, TMI_DENOMINATOR, group),
          aa = block_of(r, i, TMI_NUMERATOR_SQUARES, group);
    block ab = block_of(r, i, TMI_PRODUCTS, group), bb = block_of(r, i, TMI_DENOMINATOR_SQUARES, group), rows = {0};
    const bool ratio = s->plan->statistics[i].kind == TMI_RATIO;
    if (ratio) rows = block_of(r, i, TMI_RATIO_ROWS, group);
    tmi_stratum_sums *list = tmi_alloc(a.strata, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    tmi_quadratic moments = {0};
    for (size_t h = 0; h < a.strata; h++) {
        tmi_stratum_part p = tmi_stratum_part_of(s, a.added ? h : tmi_group_stratum(s, i, group));
        tmi_stratum_form f = {.a = p.a,
                              .each = s->sampling.subtracts ? p.a / p.rows : 0,
                              .g = 1,
                              .mean = b.m && !ratio,
                              .n = rows.m ? plain_value(r, &rows, h, 0) : p.rows,
                              .vn = block_noise(r, &rows, h),
                              .vx = block_noise(r, &a, h),
                              .vy = block_noise(r, &b, h),
                              .centre_x = z->centre[0],
                              .centre_y = z->centre[1],
                              .xx = square_of(r, &aa, h, ratio),
                              .xy = square_of(r, &ab, h, ratio),
                              .yy = square_of(r, &bb, h, ratio)};
        f.x = plain_value(r, &a, h, 0) + f.centre_x * f.n;
        f.y = b.m ? plain_value(r, &b, h, 0) + f.centre_y * f.n : 0;
        list[h] = (tmi_stratum_sums){.a = p.a, .sample = p.rows};
        tmi_stratum_form_add(&moments, &list[h], &f);
        tmi_stratum_form_noise(&z->form_noise, &f, &list[h]);
        tmi_stratum_mean_noise(&z->form_noise, &list[h], f.each, s->gaussian);
        z->spread += p.a * p.rows;
    }
    z->form = tmi_variance_moments(moments, list, s->sampling.subtracts ? a.strata : 0);
    if (s->plan->statistics[i].kind == TMI_SHARE && b.m) z->ones = moments.xx, z->all = fmax(moments.yy, 0);
    tmi_free(list);
    return TAMIS_OK;
}

double tmi_weighed_spread(const tmi_group_sums *z, const tmi_schedule *s, size_t i)
{
    double largest = (double)s->sampling.most * tmi_number_nearest(s->sampling.step), units = (double)s->plan->design.population;
    bool has_units = tmi_table_of(s, i, TMI_DENOMINATOR) && s->plan->statistics[i].kind != TMI_RATIO;
    if (units == 0)
        units = has_units                        ? fmax(z->value[TMI_DENOMINATOR], 1)
                : !s->plan->statistics[i].column ? fmax(z->value[TMI_NUMERATOR], 1)
                                                 : (double)s->sampling.rows;
    return largest * units; /* the sum of w (w - 1) is at most the largest weight times the sum of the weights */
}

/* Weights in the tables: the sums of a z^2 themselves. */
static void weighed_form(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group)
{
    const tmi_schedule *s = r->schedule;
    block aa = block_of(r, i, TMI_NUMERATOR_SQUARES, group), ab = block_of(r, i, TMI_PRODUCTS, group),
          bb = block_of(r, i, TMI_DENOMINATOR_SQUARES, group);
    for (size_t h = 0; h < aa.strata; h++) {
        tmi_form_noise_add(&z->form_noise, 1, ab.m ? 0 : -2, 0, block_noise(r, &aa, h));
        tmi_form_noise_add(&z->form_noise, 0, -2, 0, block_noise(r, &ab, h));
        tmi_form_noise_add(&z->form_noise, 0, 0, 1, block_noise(r, &bb, h));
    }
    z->form = (tmi_quadratic){sum_of(r, &aa), ab.m ? sum_of(r, &ab) : sum_of(r, &aa), sum_of(r, &bb)};
    for (size_t h = 0; s->sampling.spread && h < s->sampling.strata; h++) {
        if (isnan(s->sampling.spread[h])) z->form.xx = s->sampling.spread[h]; /* one unit of a stratum says nothing */
    }
    z->spread = tmi_weighed_spread(z, s, i);
}

/* ---- variance units ---- */

/* The totals of one role by variance unit, times a factor, added to `totals`. */
static void add_totals(double *totals, const tmi_inference *r, const block *b, double factor)
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

tamis_status tmi_units_variance(double *variance, int64_t *df, const tmi_inference *r, size_t i, size_t group,
                                const double factors[TMI_MAIN_ROLES], tamis_error *err)
{
    double totals[TMI_MAX_VARIANCE_UNITS] = {0};
    tmi_quadratic form;
    for (size_t role = 0; role < TMI_MAIN_ROLES && !tmi_is_calibrated(r->schedule, i); role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        add_totals(totals, r, &b, factors[role]);
    }
    if (tmi_is_calibrated(r->schedule, i)) {
        tamis_status status = tmi_calibrated_units(totals, r, i, group, factors, err);
        if (status != TAMIS_OK) return status;
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

static tamis_status units_form(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group, tamis_error *err)
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

tmi_noise_part tmi_sums_part_in(const tmi_sums_part *part, const double factors[TMI_MAIN_ROLES])
{
    tmi_noise_part found = {0, part->scale, part->gaussian};
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) found.factor += factors[role] * part->factor[role];
    return found;
}

double tmi_sums_noise(const tmi_group_sums *z, const double factors[TMI_MAIN_ROLES])
{
    double variance = 0;
    for (size_t i = 0; i < z->part_count; i++) variance += tmi_noise_part_variance(tmi_sums_part_in(&z->parts[i], factors));
    return variance;
}

void tmi_group_sums_clear(tmi_group_sums *z)
{
    tmi_free(z->parts);
    *z = (tmi_group_sums){0};
}

/* The sums of the noisy cells, as they are. */
static tamis_status add_up(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group, tamis_error *err)
{
    size_t count = 0;
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        count += b.strata * b.units;
    }
    z->parts = tmi_alloc(count, sizeof *z->parts);
    if (!z->parts) return tmi_fail_memory(err);
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        block b = block_of(r, i, (tmi_role)role, group);
        z->value[role] = sum_of(r, &b);
        for (size_t h = 0; h < b.strata; h++) {
            tmi_noise_part part = part_of(r, &b, h);
            tmi_sums_part found = {.scale = part.scale, .gaussian = part.gaussian};
            found.factor[role] = part.factor * weight_after(r, &b, h);
            found.table = r->schedule->uses[i].table[role];
            found.cell = b.first + h * b.units;
            for (size_t u = 0; u < b.units; u++, found.cell++) z->parts[z->part_count++] = found;
        }
    }
    return TAMIS_OK;
}

static tamis_status make(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const bool calibrated = tmi_is_calibrated(s, i), census = s->plan->design.kind->takes_all;
    if (s->plan->statistics[i].kind == TMI_RATIO) {
        z->centre[0] = tmi_centre_of(tmi_table_of(s, i, TMI_NUMERATOR), false);
        z->centre[1] = tmi_centre_of(tmi_table_of(s, i, TMI_DENOMINATOR), false);
    }
    tamis_status status = calibrated ? tmi_calibrated_sums(z, r, i, group, err) : add_up(z, r, i, group, err);
    if (status != TAMIS_OK || census) return status;
    if (s->sampling.clustered) return units_form(z, r, i, group, err);
    z->df = s->sampling.df;
    if (calibrated) return TAMIS_OK;
    if (tmi_table_of(s, i, TMI_NUMERATOR)->quantity.weighing == TMI_UNWEIGHED) return unweighed_form(z, r, i, group, err);
    weighed_form(z, r, i, group);
    return TAMIS_OK;
}

tamis_status tmi_group_sums_make(tmi_group_sums *z, const tmi_inference *r, size_t i, size_t group, tamis_error *err)
{
    *z = (tmi_group_sums){.df = -1};
    tamis_status status = make(z, r, i, group, err);
    if (status != TAMIS_OK) tmi_group_sums_clear(z);
    return status;
}
