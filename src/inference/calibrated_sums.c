#include "inference/calibrated_sums.h"

#include <math.h>

#include "base/memory.h"
#include "inference/stratum_form.h"

/* A count that calibration makes public has no sampling error; so much of what it could have may be left by rounding. */
#define ROUNDING 1e-12

/* ---- cells ---- */

/* What was measured of a control cell in a stratum, each role by itself: in the unit of the sum; weights applied if they are
 * in the tables of the statistic. */
typedef struct cell {
    double value[TMI_ROLES], noise[TMI_ROLES];
} cell;

typedef struct crossed {
    const tmi_inference *r;
    const tmi_schedule *s;
    const tmi_calibration *c;
    size_t statistic, group;
    bool weighed;  /* weights are in the tables of the statistic */
    bool apart;    /* its tables have strata */
    size_t strata; /* 1 if not */
    cell *cells;   /* control cells of the first stratum, then of the next */
    double *gamma; /* of A by control cell, then of B, then of Q */
} crossed;

/* Where the cells of a role's table stand that belong to the group: together if its columns come first, else anywhere. */
typedef struct range {
    const tmi_measurement *m;
    const tmi_int128 *noisy;
    size_t first, end;
    bool all; /* of these cells; those of the counts of control cells always */
} range;

static bool of_controls(size_t role) { return role == TMI_CONTROL_ROWS || role == TMI_CONTROL_SQUARES; }

static range range_of(const crossed *x, size_t role)
{
    size_t table = x->s->uses[x->statistic].table[role];
    if (table == TMI_NO_TABLE) return (range){0};
    const tmi_measurement *m = &x->s->measurements[table];
    const tmi_plan_statistic *t = &x->s->plan->statistics[x->statistic];
    size_t each = m->cells / (size_t)tmi_statistic_cells(t), together = 0;
    while (together < t->by_count && together < m->by_count && m->by[together] == t->by[together]) together++;
    range found = {m, x->r->noisy[table], 0, m->cells, of_controls(role)};
    if (found.all || together < t->by_count) return found;
    return (range){m, found.noisy, x->group * each, (x->group + 1) * each, true};
}

static bool is_inside(const crossed *x, const range *range, size_t at)
{
    if (at < range->first || at >= range->end) return false;
    return range->all || tmi_group_in(x->s, x->statistic, range->m, at) == x->group;
}

/* The weight that comes after the noise. */
static double weight_after(const crossed *x, const tmi_measurement *m, size_t h)
{
    return m->quantity.weighing == TMI_UNWEIGHED ? tmi_number_nearest(x->s->sampling.weight[h]) : 1;
}

static tmi_noise_part noise_of(const crossed *x, const tmi_measurement *m, size_t at)
{
    double unit = tmi_measurement_unit(m, &x->s->sampling, tmi_cell_stratum(m, at));
    return (tmi_noise_part){unit, tmi_number_nearest(tmi_cell_law(m, at)->scale), x->s->gaussian};
}

static void put(cell *to, size_t role, double value, double variance, double factor)
{
    to->value[role] += factor * value;
    to->noise[role] += factor * factor * variance;
}

static void gather(crossed *x, size_t role)
{
    range range = range_of(x, role);
    bool has_spread = x->s->uses[x->statistic].table[TMI_CONTROL_SQUARES] != TMI_NO_TABLE;
    for (size_t at = range.first; at < range.end; at++) {
        if (!is_inside(x, &range, at)) continue;
        size_t h = tmi_cell_stratum(range.m, at);
        cell *to = &x->cells[(x->apart ? h : 0) * x->c->cells + tmi_control_cell(x->s, range.m, at)];
        tmi_noise_part part = noise_of(x, range.m, at);
        double value = part.factor * (double)range.noisy[at], variance = tmi_noise_part_variance(part);
        put(to, role, value, variance, role == TMI_CONTROL_ROWS && x->weighed ? weight_after(x, range.m, h) : 1);
        if (role == TMI_CONTROL_ROWS && x->weighed && !has_spread && x->s->sampling.spread)
            put(to, TMI_CONTROL_SQUARES, value, variance, x->s->sampling.spread[h]);
    }
}

static double weight_in(const crossed *x, size_t h) { return x->weighed ? 1 : tmi_number_nearest(x->s->sampling.weight[h]); }

static double *gamma_of(const crossed *x, size_t role) { return x->gamma + role * x->c->cells; }

static void crossed_clear(crossed *x)
{
    tmi_free(x->cells);
    tmi_free(x->gamma);
}

static tamis_status crossed_make(crossed *x, const tmi_inference *r, size_t statistic, size_t group, tamis_error *err)
{
    const tmi_measurement *a = tmi_table_of(r->schedule, statistic, TMI_NUMERATOR);
    *x = (crossed){.r = r,
                   .s = r->schedule,
                   .c = r->calibration,
                   .statistic = statistic,
                   .group = group,
                   .weighed = a->quantity.weighing != TMI_UNWEIGHED,
                   .apart = a->stratum_at < a->by_count};
    x->strata = x->apart ? x->s->sampling.strata : 1;
    x->cells = tmi_alloc(x->strata * x->c->cells, sizeof *x->cells);
    x->gamma = tmi_alloc(TMI_MAIN_ROLES * x->c->cells, sizeof *x->gamma);
    if (!x->cells || !x->gamma) return tmi_fail_memory(err);
    for (size_t role = 0; role < TMI_ROLES; role++) gather(x, role);
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        double *gamma = gamma_of(x, role);
        for (size_t h = 0; h < x->strata; h++) {
            for (size_t c = 0; c < x->c->cells; c++) gamma[c] += weight_in(x, h) * x->cells[h * x->c->cells + c].value[role];
        }
    }
    return TAMIS_OK;
}

/* ---- sums and their noise ---- */

static bool is_control_table(const crossed *x, size_t role)
{
    const tmi_use *use = &x->s->uses[x->statistic];
    return use->table[role] == use->table[TMI_CONTROL_ROWS];
}

/* A noise of a sum's own table. */
static void add_own(tmi_group_sums *z, const crossed *x, size_t role)
{
    range range = range_of(x, role);
    for (size_t at = range.first; at < range.end && !is_control_table(x, role); at++) {
        if (!is_inside(x, &range, at)) continue;
        tmi_noise_part part = noise_of(x, range.m, at);
        size_t table = x->s->uses[x->statistic].table[role];
        tmi_sums_part found = {.scale = part.scale, .gaussian = part.gaussian, .table = table, .cell = at};
        found.factor[role] = part.factor * weight_after(x, range.m, tmi_cell_stratum(range.m, at)) *
                             x->c->factors[tmi_control_cell(x->s, range.m, at)];
        z->parts[z->part_count++] = found;
    }
}

/* A noise of the counts: in the factors, and in a sum that is one of the counts. */
static void add_shared(tmi_group_sums *z, const crossed *x)
{
    range counts = range_of(x, TMI_CONTROL_ROWS);
    for (size_t at = counts.first; at < counts.end; at++) {
        tmi_noise_part part = noise_of(x, counts.m, at);
        size_t c = tmi_control_cell(x->s, counts.m, at);
        double reach = part.factor * weight_after(x, counts.m, tmi_cell_stratum(counts.m, at)) * x->c->factors[c];
        size_t table = x->s->uses[x->statistic].table[TMI_CONTROL_ROWS];
        tmi_sums_part found = {.scale = part.scale, .gaussian = part.gaussian, .table = table, .cell = at};
        bool any = false;
        for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
            range own = range_of(x, role);
            bool inside = is_control_table(x, role) && is_inside(x, &own, at);
            found.factor[role] = reach * ((inside ? 1 : 0) - gamma_of(x, role)[c]);
            any = any || found.factor[role] != 0;
        }
        if (!any) continue;
        z->parts[z->part_count++] = found;
        z->shared_noise += tmi_noise_part_variance(tmi_sums_part_in(&found, (const double[]){1, 0, 0}));
    }
}

static tamis_status set_sums(tmi_group_sums *z, const crossed *x, tamis_error *err)
{
    size_t count = 0;
    for (size_t role = 0; role <= TMI_CONTROL_ROWS; role++) {
        range range = range_of(x, role);
        count += range.end - range.first;
    }
    z->parts = tmi_alloc(count, sizeof *z->parts);
    if (!z->parts) return tmi_fail_memory(err);
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) {
        double *gamma = gamma_of(x, role); /* as yet the sums by control cell */
        for (size_t c = 0; c < x->c->cells; c++) z->value[role] += x->c->factors[c] * gamma[c];
        tmi_calibration_regress(gamma, x->c, gamma);
        add_own(z, x, role);
    }
    add_shared(z, x);
    return TAMIS_OK;
}

/* ---- the form ---- */

static double largest_square(const tmi_calibration *c)
{
    double largest = 0;
    for (size_t i = 0; i < c->cells; i++) largest = fmax(largest, c->factors[i] * c->factors[i]);
    return largest;
}

static double slope_of(const crossed *x, size_t role, double centre, size_t c)
{
    return gamma_of(x, role)[c] + (centre != 0 ? centre * gamma_of(x, TMI_RATIO_ROWS)[c] : 0);
}

static tmi_square square_of(const crossed *x, const cell *cell, size_t role, bool ratio)
{
    const tmi_measurement *m = tmi_table_of(x->s, x->statistic, (tmi_role)role);
    if (!m) return (tmi_square){0};
    return (tmi_square){true, cell->value[role], cell->noise[role], ratio ? tmi_centre_of(m, false) : 0,
                        ratio ? tmi_centre_of(m, true) : 0};
}

static tmi_stratum_form form_of(const crossed *x, const tmi_group_sums *z, tmi_stratum_part p, size_t h, size_t c)
{
    const cell *cell = &x->cells[h * x->c->cells + c];
    const bool ratio = x->s->plan->statistics[x->statistic].kind == TMI_RATIO,
               has_b = tmi_table_of(x->s, x->statistic, TMI_DENOMINATOR) != NULL;
    tmi_stratum_form f = {.a = p.a,
                          .each = x->s->sampling.subtracts ? p.a / p.rows : 0,
                          .g = x->c->factors[c],
                          .mean = has_b && !ratio,
                          .beta_x = slope_of(x, TMI_NUMERATOR, z->centre[0], c),
                          .beta_y = slope_of(x, TMI_DENOMINATOR, z->centre[1], c),
                          .n = ratio ? cell->value[TMI_RATIO_ROWS] : 0,
                          .k = cell->value[TMI_CONTROL_ROWS],
                          .vn = ratio ? cell->noise[TMI_RATIO_ROWS] : 0,
                          .vx = cell->noise[TMI_NUMERATOR],
                          .vy = cell->noise[TMI_DENOMINATOR],
                          .vk = x->c->met ? cell->noise[TMI_CONTROL_ROWS] : 0,
                          .centre_x = z->centre[0],
                          .centre_y = z->centre[1],
                          .xx = square_of(x, cell, TMI_NUMERATOR_SQUARES, ratio),
                          .xy = square_of(x, cell, TMI_PRODUCTS, ratio),
                          .yy = square_of(x, cell, TMI_DENOMINATOR_SQUARES, ratio)};
    f.x = cell->value[TMI_NUMERATOR] + f.centre_x * f.n;
    f.y = cell->value[TMI_DENOMINATOR] + f.centre_y * f.n;
    f.x_is_k = x->c->met && is_control_table(x, TMI_NUMERATOR) && f.vx > 0;
    f.y_is_k = x->c->met && is_control_table(x, TMI_DENOMINATOR) && f.vy > 0;
    return f;
}

static tamis_status unweighed_form(tmi_group_sums *z, const crossed *x, tamis_error *err)
{
    tmi_quadratic moments = {0};
    tmi_stratum_sums *list = tmi_alloc(x->strata, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    for (size_t h = 0; h < x->strata; h++) {
        tmi_stratum_part p = tmi_stratum_part_of(x->s, x->apart ? h : SIZE_MAX);
        list[h] = (tmi_stratum_sums){.a = p.a, .sample = p.rows};
        for (size_t c = 0; c < x->c->cells; c++) {
            tmi_stratum_form f = form_of(x, z, p, h, c);
            tmi_stratum_form_add(&moments, &list[h], &f);
        }
        for (size_t c = 0; c < x->c->cells; c++) {
            tmi_stratum_form f = form_of(x, z, p, h, c);
            tmi_stratum_form_noise(&z->form_noise, &f, &list[h]);
        }
        if (x->s->sampling.subtracts) tmi_stratum_mean_noise(&z->form_noise, &list[h], p.a / p.rows, x->s->gaussian);
        z->spread += p.a * p.rows * largest_square(x->c);
    }
    z->form = tmi_variance_moments(moments, list, x->s->sampling.subtracts ? x->strata : 0);
    tmi_free(list);
    return TAMIS_OK;
}

/* What a number adds to the form, for the powers a^2, a b and b^2. */
typedef struct slope {
    double aa, ab, bb;
} slope;

static void add_slope(slope *s, double aa, double ab, double bb) { *s = (slope){s->aa + aa, s->ab + ab, s->bb + bb}; }

/* Weights in the tables: sums of a x^2, a x y, a y^2 and, for the part that calibration explains, a x, a y and a. For a ratio
 * the last ones are not measured, and nothing is taken off. */
static void weighed_form(tmi_group_sums *z, const crossed *x)
{
    const tmi_use *use = &x->s->uses[x->statistic];
    const bool ratio = x->s->plan->statistics[x->statistic].kind == TMI_RATIO,
               mean = use->table[TMI_DENOMINATOR] != TMI_NO_TABLE && !ratio;
    const bool has_ab = use->table[TMI_PRODUCTS] != TMI_NO_TABLE,
               same = use->table[TMI_NUMERATOR_SQUARES] == use->table[TMI_CONTROL_SQUARES];
    for (size_t c = 0; c < x->c->cells; c++) {
        const cell *cell = &x->cells[c];
        double p = ratio ? 0 : gamma_of(x, TMI_NUMERATOR)[c], q = ratio ? 0 : gamma_of(x, TMI_DENOMINATOR)[c],
               g2 = x->c->factors[c] * x->c->factors[c];
        slope xx = {1, 0, 0}, xy = {0}, yy = {0, 0, 1}, k = {p * p, -2 * p * q, q * q}, *ax = has_ab ? &xy : &xx;
        add_slope(ax, -2 * p, 2 * q, 0);
        if (mean || ratio) add_slope(ax, 0, -2, 0);
        if (mean) add_slope(&yy, 0, 2 * p, -2 * q);
        const struct {
            size_t role;
            slope slope;
        } terms[] = {{TMI_NUMERATOR_SQUARES, xx}, {TMI_PRODUCTS, xy}, {TMI_DENOMINATOR_SQUARES, yy}, {TMI_CONTROL_SQUARES, k}};
        for (size_t i = 0; i < 4; i++) {
            size_t role = terms[i].role;
            slope s = terms[i].slope;
            double value = g2 * cell->value[role];
            z->form.xx += s.aa * value;
            z->form.xy += s.ab * value / -2;
            z->form.yy += s.bb * value;
            if (same && role == TMI_NUMERATOR_SQUARES && cell->noise[role] > 0) continue; /* reported with the sum of a */
            if (same && role == TMI_CONTROL_SQUARES && cell->noise[TMI_NUMERATOR_SQUARES] > 0) add_slope(&s, xx.aa, xx.ab, xx.bb);
            tmi_form_noise_add(&z->form_noise, g2 * s.aa, g2 * s.ab, g2 * s.bb, cell->noise[role]);
        }
    }
    for (size_t h = 0; x->s->sampling.spread && h < x->s->sampling.strata; h++) {
        if (isnan(x->s->sampling.spread[h])) z->form.xx = x->s->sampling.spread[h]; /* one unit of a stratum says nothing */
    }
    z->spread = tmi_weighed_spread(z, x->s, x->statistic) * largest_square(x->c);
}

/* ---- together ---- */

tamis_status tmi_calibrated_sums(tmi_group_sums *z, const tmi_inference *r, size_t statistic, size_t group, tamis_error *err)
{
    const bool varies = !r->schedule->plan->design.kind->takes_all && !r->schedule->sampling.clustered;
    crossed x;
    tamis_status status;
    TMI_TRY(crossed_make(&x, r, statistic, group, err));
    TMI_TRY(set_sums(z, &x, err));
    if (varies && !x.weighed) TMI_TRY(unweighed_form(z, &x, err));
    else if (varies) weighed_form(z, &x);
    if (varies && is_control_table(&x, TMI_NUMERATOR) && fabs(z->form.xx) <= ROUNDING * z->spread) z->form.xx = 0;

done:
    crossed_clear(&x);
    return status;
}

tamis_status tmi_calibrated_units(double *totals, const tmi_inference *r, size_t statistic, size_t group,
                                  const double factors[TMI_MAIN_ROLES], tamis_error *err)
{
    crossed x;
    tamis_status status;
    TMI_TRY(crossed_make(&x, r, statistic, group, err));
    for (size_t role = 0; role < TMI_MAIN_ROLES; role++) tmi_calibration_regress(gamma_of(&x, role), x.c, gamma_of(&x, role));
    for (size_t role = 0; role <= TMI_CONTROL_ROWS; role++) {
        range range = range_of(&x, role);
        for (size_t at = range.first; at < range.end; at++) {
            if (!is_inside(&x, &range, at)) continue;
            size_t c = tmi_control_cell(x.s, range.m, at);
            double value = noise_of(&x, range.m, at).factor * (double)range.noisy[at] *
                           weight_after(&x, range.m, tmi_cell_stratum(range.m, at)) * x.c->factors[c],
                   factor = 0;
            if (role < TMI_MAIN_ROLES) factor = factors[role];
            for (size_t main = 0; role == TMI_CONTROL_ROWS && main < TMI_MAIN_ROLES; main++)
                factor -= factors[main] * gamma_of(&x, main)[c];
            totals[at % range.m->units] += factor * value;
        }
    }

done:
    crossed_clear(&x);
    return status;
}
