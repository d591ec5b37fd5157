#include "inference/group_sums.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "inference/calibrated_sums.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/number.h"
#include "schedule/guesses.h"

/* ---- what groups have in common ---- */

typedef struct tmi_sums_pattern {
    const tmi_group_noise *group; /* of the values; it is also what tells patterns apart */
    tmi_moment_noise *strata;     /* of moments without weights: one per stratum, or one */
    size_t strata_count;
    tmi_moment_parts parts;
} pattern;

static void pattern_free(pattern *p)
{
    if (!p) return;
    tmi_free(p->strata);
    tmi_moment_parts_clear(&p->parts);
    tmi_free(p);
}

void tmi_statistic_sums_clear(tmi_statistic_sums *z)
{
    for (size_t i = 0; i < z->pattern_count; i++) pattern_free(z->patterns[i]);
    tmi_free(z->patterns);
    for (size_t g = 0; z->own_parts && g < z->count; g++) tmi_moment_parts_clear(&z->own_parts[g]);
    tmi_free(z->own_noise);
    tmi_free(z->own_parts);
    tmi_free(z->controls);
    tmi_free(z->groups);
    tmi_free(z->by_stratum);
    tmi_group_noises_clear(&z->noises);
    *z = (tmi_statistic_sums){0};
}

static tamis_status set_strata(pattern *p, const tmi_schedule *s, size_t i, size_t group, tamis_error *err)
{
    const size_t own = s->workload.separate_strata ? tmi_group_stratum(s, i, group) : 0;
    const bool differ = tmi_strata_differ(s, i) && own == SIZE_MAX;
    tamis_status status = TAMIS_OK;
    p->strata_count = differ ? s->sampling.strata : 1;
    p->strata = tmi_alloc(p->strata_count, sizeof *p->strata);
    if (!p->strata) return tmi_fail_memory(err);
    for (size_t h = 0; h < p->strata_count; h++)
        TMI_TRY(tmi_moment_noise_make(&p->strata[h], s, TMI_UNWEIGHTED, i, group, differ || own == SIZE_MAX ? h : own, err));

done:
    return status;
}

static tamis_status pattern_of(pattern **found, tmi_statistic_sums *z, const tmi_schedule *s, size_t i, size_t group,
                               tamis_error *err)
{
    const tmi_group_noise *noise;
    pattern *p = NULL;
    tamis_status status;
    TMI_TRY(tmi_group_noise_of(&noise, &z->noises, group, err));
    for (size_t k = 0; k < z->pattern_count; k++) {
        *found = z->patterns[k];
        if (z->patterns[k]->group == noise) return TAMIS_OK;
    }
    p = tmi_alloc(1, sizeof *p);
    if (!p || !tmi_grow(&z->patterns, &z->pattern_room, z->pattern_count, sizeof *z->patterns)) TMI_TRY(tmi_fail_memory(err));
    p->group = noise;
    TMI_TRY(tmi_moment_parts_of_group(&p->parts, s, i, group, err));
    if (tmi_main_weighting(s) == TMI_UNWEIGHTED) TMI_TRY(set_strata(p, s, i, group, err));
    z->patterns[z->pattern_count++] = *found = p;
    p = NULL;

done:
    pattern_free(p);
    return status;
}

/* ---- noise ---- */

double tmi_sums_noise(const tmi_group_sums *z, const double factors[TMI_MOMENTS])
{
    return tmi_moment_noise_of(z->noise, factors);
}

tmi_noise_part tmi_sums_part_in(const tmi_group_sums *z, size_t part, const double factors[TMI_MOMENTS])
{
    const tmi_moment_part *own = &z->parts->list[part];
    tmi_noise_part found = {.scale = own->scale, .gaussian = z->parts->gaussian, .count = own->count};
    for (size_t m = 0; m < TMI_MOMENTS; m++)
        if (factors[m] != 0) found.factor += factors[m] * own->factor[m];
    return found;
}

static double product(const double *x, const tmi_moment_noise *n, const double *y)
{
    double sum = 0;
    for (size_t i = 0; i < TMI_MOMENTS; i++)
        for (size_t j = 0; x[i] != 0 && j < TMI_MOMENTS; j++)
            if (y[j] != 0) sum += x[i] * y[j] * n->covariance[i][j];
    return sum;
}

void tmi_form_noise_of(tmi_form_noise *noise, const tmi_form_slopes *s, const tmi_moment_noise *n)
{
    noise->c[0] += product(s->aa, n, s->aa);
    noise->c[1] += 2 * product(s->aa, n, s->ab);
    noise->c[2] += product(s->ab, n, s->ab) + 2 * product(s->aa, n, s->bb);
    noise->c[3] += 2 * product(s->ab, n, s->bb);
    noise->c[4] += product(s->bb, n, s->bb);
}

/* ---- moments ---- */

tmi_form_moments tmi_form_moments_of(const tmi_plan_statistic *t)
{
    const size_t none = TMI_MOMENTS;
    if (!t->column) return (tmi_form_moments){TMI_OF_ROWS, none, TMI_OF_ROWS, none, none};
    if (tmi_is_sum(t)) return (tmi_form_moments){TMI_OF_X, none, TMI_OF_XX, none, none};
    if (t->kind == TMI_RATIO) return (tmi_form_moments){TMI_OF_X, TMI_OF_Y, TMI_OF_XX, TMI_OF_XY, TMI_OF_YY};
    return (tmi_form_moments){TMI_OF_X, TMI_OF_ROWS, TMI_OF_XX, TMI_OF_X, TMI_OF_ROWS};
}

tmi_stratum_part tmi_stratum_part_of(const tmi_schedule *s, size_t stratum)
{
    const tmi_sampling *sampling = &s->sampling;
    const tmi_plan_design *d = &s->plan->design;
    const size_t own = stratum == SIZE_MAX ? 0 : stratum;
    if (d->kind->rate) /* as many rows as are expected */
        return (tmi_stratum_part){sampling->variance_factor[own],
                                  (double)sampling->rows * tmi_number_nearest(d->strata[own].rate)};
    if (stratum != SIZE_MAX) return (tmi_stratum_part){sampling->variance_factor[own], (double)d->strata[own].sample};
    if (sampling->strata == 1) return (tmi_stratum_part){sampling->variance_factor[0], (double)d->sample};
    double w = tmi_number_nearest(sampling->weight[0]), n = (double)d->sample; /* equal weights, strata left aside */
    return (tmi_stratum_part){w * (w - 1) * n / (n - 1), n};
}

static double at(const double *moments, size_t which) { return which < TMI_MOMENTS ? moments[which] : 0; }

static void slope(double *slopes, size_t which, double value)
{
    if (which < TMI_MOMENTS) slopes[which] += value;
}

static double covariance(const tmi_moment_noise *n, size_t x, size_t y)
{
    return x < TMI_MOMENTS && y < TMI_MOMENTS ? n->covariance[x][y] : 0;
}

/* Adds a stratum: a times the squares, less what its mean explains; and how the noise of its moments enters. */
void tmi_sums_add_stratum(tmi_group_sums *z, const tmi_form_moments *f, tmi_stratum_part p, bool subtracts, const double *m,
                          const tmi_moment_noise *n, bool gaussian)
{
    const double each = subtracts ? p.a / p.rows : 0, x = at(m, f->x), y = at(m, f->y);
    const double vx = covariance(n, f->x, f->x), vy = covariance(n, f->y, f->y), vxy = covariance(n, f->x, f->y);
    tmi_form_slopes s = {0};
    z->form.xx += p.a * at(m, f->xx) - each * (x * x - vx);
    z->form.xy += p.a * at(m, f->xy) - each * (x * y - vxy);
    z->form.yy += p.a * at(m, f->yy) - each * (y * y - vy);
    z->spread += p.a * p.rows;
    slope(s.aa, f->xx, p.a);
    slope(s.ab, f->xy, -2 * p.a);
    slope(s.bb, f->yy, p.a);
    slope(s.aa, f->x, -2 * each * x);
    slope(s.ab, f->x, 2 * each * y);
    slope(s.ab, f->y, 2 * each * x);
    slope(s.bb, f->y, -2 * each * y);
    tmi_form_noise_of(&z->form_noise, &s, n);
    tmi_form_noise_add(&z->form_noise, each, 0, 0,
                       (gaussian ? 2 : 5) * vx * vx); /* the noise's square: 6 v^2 - v^2, or 3 v^2 - v^2 */
    tmi_form_noise_add(&z->form_noise, 0, 2 * each, 0, vx * vy);
    tmi_form_noise_add(&z->form_noise, 0, 0, each, (gaussian ? 2 : 5) * vy * vy);
    z->ones += p.a * at(m, f->xx);
    z->all += p.a * at(m, f->yy);
}

static tamis_status make_strata(tmi_statistic_sums *z, size_t strata, tamis_error *err)
{
    z->by_stratum = tmi_alloc(z->count, strata * sizeof *z->by_stratum);
    if (!z->by_stratum) return tmi_fail_memory(err);
    for (size_t g = 0; g < z->count; g++) z->groups[g].by_stratum = z->by_stratum + g * strata;
    return TAMIS_OK;
}

tmi_stratum_part tmi_group_part(const tmi_schedule *s, size_t i, size_t g)
{
    const tmi_plan_design *d = &s->plan->design;
    const size_t h = tmi_group_stratum(s, i, g);
    int64_t rows = 0;
    if (h != SIZE_MAX || d->kind->rate || !tmi_is_in_strata(s, i)) return tmi_stratum_part_of(s, h);
    for (size_t k = 0; k < d->stratum_count; k++)
        if (tmi_group_has_stratum(s, i, g, k)) rows += d->strata[k].sample;
    const double w = tmi_number_nearest(s->sampling.weight[0]), n = (double)rows;
    return n > 1 ? (tmi_stratum_part){w * (w - 1) * n / (n - 1), n} : tmi_stratum_part_of(s, SIZE_MAX);
}

/* Weights after the noise: stratum by stratum. */
static tamis_status read_strata(tmi_statistic_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_form_moments form = tmi_form_moments_of(t);
    const bool separate_strata = s->workload.separate_strata, own_squares = tmi_variance_source_of(s) == TMI_OWN_SQUARES;
    double *moments = tmi_alloc(z->count, TMI_MOMENTS * sizeof *moments);
    tamis_status status = TAMIS_OK;
    if (!moments) return tmi_fail_memory(err);
    if (separate_strata && (!t->column || t->column->conditions)) TMI_TRY(make_strata(z, s->sampling.strata, err));
    for (size_t copy = 0; copy < r->main.copies; copy++) {
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(tmi_reconstruct_moments(moments, &r->main, copy, i, separate_strata ? copy : 0, err));
        for (size_t g = 0; g < z->count; g++) {
            if (separate_strata && !tmi_group_has_stratum(s, i, g, copy)) continue;
            const double *m = moments + g * TMI_MOMENTS,
                         weight = tmi_number_nearest(s->sampling.weight[separate_strata ? copy : 0]);
            pattern *p;
            TMI_TRY(pattern_of(&p, z, s, i, g, err));
            for (size_t k = 0; k < TMI_MOMENTS; k++) z->groups[g].value[k] += weight * m[k];
            if (z->groups[g].by_stratum) z->groups[g].by_stratum[copy] = m[form.x];
            if (own_squares)
                tmi_sums_add_stratum(&z->groups[g], &form,
                                     separate_strata ? tmi_stratum_part_of(s, copy) : tmi_group_part(s, i, g),
                                     s->sampling.subtracts, m, &p->strata[p->strata_count > 1 ? copy : 0], s->gaussian);
        }
    }

done:
    tmi_free(moments);
    return status;
}

double tmi_weighed_spread(const tmi_group_sums *z, const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    double largest = (double)s->sampling.most * tmi_number_nearest(s->sampling.step), units = (double)s->plan->design.population;
    const bool has_units = !tmi_is_sum(t) || !t->column;
    if (units == 0 && has_units && t->kind != TMI_RATIO) { /* a noisy number: its upper limit, as that of a noisy variance is */
        const double margin = tmi_variance_margin(tmi_number_nearest(t->confidence)),
                     sd = z->noise ? sqrt(z->noise->covariance[TMI_OF_ROWS][TMI_OF_ROWS]) : 0;
        units = fmax(fmax(z->value[TMI_OF_ROWS], 0) + margin * sd, 1);
    } else if (units == 0) {
        units = (double)s->sampling.rows;
    }
    return largest * units; /* the sum of w (w - 1) is at most the largest weight times the sum of the weights */
}

/* Weights in the tables, or what rows add: values are those of one weighting. */
static tamis_status read_weighed(tmi_statistic_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    double *moments = tmi_alloc(z->count, TMI_MOMENTS * sizeof *moments);
    if (!moments) return tmi_fail_memory(err);
    const tmi_reconstruction *from = tmi_units_of(&r->schedule->workload, i) ? &r->of_units : &r->main;
    tamis_status status = tmi_reconstruct_moments(moments, from, 0, i, 0, err);
    for (size_t g = 0; g < z->count; g++) memcpy(z->groups[g].value, moments + g * TMI_MOMENTS, TMI_MOMENTS * sizeof *moments);
    tmi_free(moments);
    return status;
}

/* ---- squares ---- */

static tmi_form_slopes squares_of(const tmi_form_moments *f, double scale)
{
    tmi_form_slopes slopes = {0};
    slope(slopes.aa, f->xx, scale);
    slope(slopes.ab, f->xy, -2 * scale);
    slope(slopes.bb, f->yy, scale);
    return slopes;
}

/* The squares of the values themselves, with their noise. */
static void set_squares(tmi_quadratic *form, tmi_form_noise *noise, const tmi_group_sums *z, const tmi_form_moments *f,
                        double scale)
{
    const tmi_form_slopes slopes = squares_of(f, scale);
    *form = (tmi_quadratic){scale * at(z->value, f->xx), scale * at(z->value, f->xy), scale * at(z->value, f->yy)};
    tmi_form_noise_of(noise, &slopes, z->noise);
}

/* A group that lies in one stratum has one weight: its moments are those of the stratum, in a table with weights too. */
static void set_one_stratum(tmi_group_sums *z, const tmi_schedule *s, size_t i, size_t g, const tmi_form_moments *f)
{
    const size_t h = tmi_group_stratum(s, i, g);
    const double w = tmi_number_nearest(s->sampling.weight[h]);
    double m[TMI_MOMENTS];
    tmi_moment_noise n;
    for (size_t a = 0; a < TMI_MOMENTS; a++) {
        m[a] = z->value[a] / w;
        for (size_t b = 0; b < TMI_MOMENTS; b++) n.covariance[a][b] = z->noise->covariance[a][b] / (w * w);
    }
    z->form = (tmi_quadratic){0};
    z->form_noise = (tmi_form_noise){0};
    z->spread = 0;
    tmi_sums_add_stratum(z, f, tmi_stratum_part_of(s, h), s->sampling.subtracts, m, &n, s->gaussian);
    if (s->plan->statistics[i].kind != TMI_SHARE) z->ones = z->all = 0;
}

/* Own squares with weights in them: of a group in one stratum, or times a public factor where weights hardly differ. */
static void set_weighed(tmi_group_sums *z, const tmi_schedule *s, size_t i, size_t g, const tmi_form_moments *f)
{
    if (tmi_group_stratum(s, i, g) != SIZE_MAX) {
        set_one_stratum(z, s, i, g, f);
        return;
    }
    set_squares(&z->form, &z->form_noise, z, f, s->sampling.ratio);
    z->spread = tmi_weighed_spread(z, s, i);
}

/* What the squares of rows are relative to what is in the table: themselves, or, where rows weigh what they add to a total, as
 * much as is guessed of the number. It is only the unit of design effects, and what is expected of a noisy one. */
static double square_of(const tmi_schedule *s, size_t i)
{
    const tmi_domain *d = tmi_units_of(&s->workload, i);
    if (!d) return 1;
    const tmi_guessed_value x = tmi_value_of(d->number);
    return x.mean != 0 ? (x.mean * x.mean + x.sd * x.sd) / x.mean : x.high;
}

/* The form, where it is not that of strata: squares that variances are multiples of, and a bound. Needs values and their
 * noise. */
static void set_forms(tmi_statistic_sums *z, const tmi_schedule *s, size_t i)
{
    const tmi_form_moments f = tmi_form_moments_of(&s->plan->statistics[i]);
    const tmi_variance_source source = tmi_variance_source_for(s, i);
    const bool weighed = tmi_main_weighting(s) == TMI_WEIGHTED;
    for (size_t g = 0; g < z->count; g++) {
        tmi_group_sums *own = &z->groups[g];
        if (source == TMI_OWN_SQUARES && weighed) set_weighed(own, s, i, g, &f);
        if (source <= TMI_OWN_SQUARES) continue;
        set_squares(&own->proxy, &own->proxy_noise, own, &f, square_of(s, i));
        const bool alike = s->sampling.clustered || source == TMI_PUBLIC_EFFECT; /* units of a cluster may be */
        own->spread = weighed && !alike ? tmi_weighed_spread(own, s, i) : INFINITY;
    }
}

/* Totals that are read from contributions (measure/contributions.h). Weights are in them, so that a part is one stratum of rows
 * that weigh the same; its sampling variance is that of its own squares. */
static tamis_status read_contributed(tmi_statistic_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_form_moments form = tmi_form_moments_of(&s->plan->statistics[i]);
    double *moments = tmi_alloc(z->count, TMI_MOMENTS * sizeof *moments);
    tamis_status status = TAMIS_OK;
    if (!moments) return tmi_fail_memory(err);
    for (size_t part = 0; part < s->sampling.parts; part++) {
        const double a = tmi_contribution_spread(&s->sampling, part);
        const int64_t rows = tmi_contribution_rows(&s->sampling, part);
        TMI_TRY(tmi_watch_beat(s->watch, err));
        TMI_TRY(tmi_reconstruct_moments(moments, &r->contributed, part, i, part, err));
        for (size_t g = 0; g < z->count; g++) {
            const double *m = moments + g * TMI_MOMENTS;
            const tmi_group_noise *noise;
            tmi_moment_noise own;
            for (size_t k = 0; k < TMI_MOMENTS; k++) z->groups[g].value[k] += m[k];
            if (a == 0) continue;
            TMI_TRY(tmi_group_noise_of(&noise, &z->noises, g, err));
            for (size_t j = 0; j < TMI_MOMENTS; j++)
                for (size_t k = 0; k < TMI_MOMENTS; k++) own.covariance[j][k] = noise->spread.covariance[j][k] / (a * a);
            tmi_sums_add_stratum(&z->groups[g], &form, (tmi_stratum_part){a, (double)(rows > 0 ? rows : s->sampling.rows)},
                                 rows > 0, m, &own, s->gaussian);
        }
    }

done:
    tmi_free(moments);
    return status;
}

tamis_status tmi_statistic_sums_make(tmi_statistic_sums *z, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const bool census = s->plan->design.kind->takes_all;
    tamis_status status;
    *z = (tmi_statistic_sums){.count = (size_t)tmi_statistic_cells(&s->plan->statistics[i])};
    TMI_TRY(tmi_group_noises_make(&z->noises, s, i, err));
    z->groups = tmi_alloc(z->count, sizeof *z->groups);
    if (!z->groups) TMI_TRY(tmi_fail_memory(err));
    for (size_t g = 0; g < z->count; g++) z->groups[g].df = census ? -1 : s->sampling.df;
    if (tmi_is_calibrated(s, i)) TMI_TRY(tmi_calibrated_sums(z, r, i, err));
    else if (s->workload.maps[i].contributed) TMI_TRY(read_contributed(z, r, i, err));
    else TMI_TRY(tmi_main_weighting(s) == TMI_UNWEIGHTED ? read_strata(z, r, i, err) : read_weighed(z, r, i, err));
    for (size_t g = 0; g < z->count && !tmi_is_calibrated(s, i); g++) {
        pattern *p;
        TMI_TRY(pattern_of(&p, z, s, i, g, err));
        z->groups[g].noise = &p->group->estimate;
        z->groups[g].parts = &p->parts;
        if (s->plan->statistics[i].kind != TMI_SHARE) z->groups[g].ones = z->groups[g].all = 0;
    }
    if (!tmi_is_calibrated(s, i) && !s->workload.maps[i].contributed) set_forms(z, s, i);

done:
    if (status != TAMIS_OK) tmi_statistic_sums_clear(z);
    return status;
}
