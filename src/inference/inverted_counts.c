#include "inference/inverted_counts.h"

#include <math.h>

#include "base/memory.h"
#include "inference/interval/count.h"
#include "inference/interval/strata.h"
#include "measure/controls.h"
#include "num/number.h"

/* The moment that counts the ones. */
static size_t moment_of(const tmi_plan_statistic *t) { return t->column ? TMI_OF_X : TMI_OF_ROWS; }

static bool counts_ones(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const bool ones = (t->kind == TMI_SHARE || t->kind == TMI_TOTAL) && t->column->conditions;
    const bool sum = tmi_is_sum(t) || z->noise->covariance[TMI_OF_ROWS][TMI_OF_ROWS] == 0; /* over a public number */
    const size_t moment = moment_of(t);
    return ((ones && sum) || (tmi_is_sum(t) && !t->column)) &&
           z->noise->covariance[moment][moment] > 0; /* 0: it is in no stratum */
}

/* Strata by strata, or one stratum. */
static bool has_strata(const tmi_schedule *s, const tmi_result *result)
{
    return s->sampling.strata == 1 || s->workload.separate_strata ||
           tmi_group_stratum(s, result->statistic, result->cell) != SIZE_MAX;
}

bool tmi_is_inverted(const tmi_result *result, const tmi_inference *r, const tmi_group_sums *z)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_design *d = &s->plan->design;
    const bool one = s->sampling.strata == 1 || tmi_group_stratum(s, result->statistic, result->cell) != SIZE_MAX;
    return counts_ones(&s->plan->statistics[result->statistic], z) && tmi_main_weighting(s) == TMI_UNWEIGHTED &&
           !s->sampling.clustered && d->population > 0 && !d->nonresponse && !d->regularise && d->kind->known_count &&
           (one || d->kind->equal) && !tmi_is_calibrated(s, result->statistic) && has_strata(s, result);
}

static tmi_count_law law_of(const tmi_plan_kind *kind)
{
    return kind->with_replacement ? TMI_COUNT_REPLACED : kind->rate ? TMI_COUNT_RATE : TMI_COUNT_SRS;
}

/* ---- one integer ---- */

/* The only noise in the count, if it is that of one integer which is the count of sampled ones; NULL if it is not. */
static const tmi_moment_part *only_part(const tmi_group_sums *z, size_t moment, double weight)
{
    const tmi_moment_part *only = NULL;
    for (size_t k = 0; k < z->parts->count; k++) {
        if (z->parts->list[k].factor[moment] == 0) continue;
        if (only) return NULL;
        only = &z->parts->list[k];
    }
    return only && only->count == 1 && fabs(fabs(only->factor[moment]) - weight) < 1e-9 * weight ? only : NULL;
}

/* The noisy number of sampled ones, or the possible number nearest to it. */
static int64_t possible(double noisy, int64_t most) { return noisy < 0 ? 0 : noisy > (double)most ? most : llround(noisy); }

static tamis_status exact_count(tmi_result *result, const tmi_inference *r, const tmi_moment_part *part, double noisy,
                                double over, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    const size_t h = tmi_group_stratum(s, result->statistic, result->cell), own = h == SIZE_MAX ? 0 : h;
    const tmi_plan_stratum *stratum = &d->strata[own];
    const tmi_measurement *m = &s->measurements[part->measurement];
    const tamis_number *scale = tmi_law_in_stratum(m, own)->scale;
    tamis_number *square = NULL;
    tamis_status status = TAMIS_OK;
    int64_t lower, upper;
    if (s->gaussian == TMI_DISCRETE_GAUSSIAN) TMI_TRY(tmi_number_mul(&square, scale, scale, err));
    tmi_count_case c = {.law = law_of(d->kind),
                        .population = stratum->population,
                        .sample = stratum->sample,
                        .rate = stratum->rate,
                        .scale = s->gaussian ? NULL : scale,
                        .variance = square,
                        .sd = s->gaussian == TMI_ROUNDED_NORMAL ? scale : NULL,
                        .confidence = t->confidence};
    const int64_t most = c.law == TMI_COUNT_RATE ? stratum->population : stratum->sample;
    TMI_TRY(tmi_interval_count(&lower, &upper, &c, possible(noisy, most), err));
    result->lower = (double)lower / over;
    result->upper = (double)upper / over;

done:
    tamis_number_free(square);
    return status;
}

/* ---- a grid of estimates ---- */

#define STEPS_PER_SD 64 /* of the noise; an interval is at least four standard deviations long */

typedef struct grid_point {
    int64_t place;
    tmi_interval interval;
    bool filled;
} grid_point;

/* Of one stratum, noise and confidence at a time: those of the groups of a statistic, which mostly agree. */
struct tmi_count_grid {
    tmi_stratum_count stratum;
    tmi_noise_part *parts;
    size_t part_count;
    double confidence, weight, step;
    grid_point *points; /* open addressing; at most half are filled */
    size_t count, room;
};

tmi_count_grid *tmi_count_grid_new(void) { return tmi_alloc(1, sizeof(tmi_count_grid)); }

void tmi_count_grid_free(tmi_count_grid *grid)
{
    if (!grid) return;
    tmi_free(grid->parts);
    tmi_free(grid->points);
    tmi_free(grid);
}

static bool is_of(const tmi_count_grid *g, const tmi_stratum_count *stratum, const tmi_count_estimate *e, double confidence,
                  double weight)
{
    const tmi_stratum_count *own = &g->stratum;
    bool same = g->points && own->population == stratum->population && own->sample == stratum->sample &&
                own->noise == stratum->noise && own->law == stratum->law && g->confidence == confidence && g->weight == weight &&
                g->part_count == e->count;
    for (size_t i = 0; same && i < e->count; i++)
        same = g->parts[i].factor == e->parts[i].factor && g->parts[i].scale == e->parts[i].scale &&
               g->parts[i].gaussian == e->parts[i].gaussian && g->parts[i].count == e->parts[i].count;
    return same;
}

static bool begin_grid(tmi_count_grid *g, const tmi_stratum_count *stratum, const tmi_count_estimate *e, double confidence,
                       double weight)
{
    tmi_free(g->parts);
    tmi_free(g->points);
    *g = (tmi_count_grid){.stratum = *stratum,
                          .parts = tmi_alloc(e->count, sizeof *g->parts),
                          .part_count = e->count,
                          .confidence = confidence,
                          .weight = weight,
                          .step = sqrt(stratum->noise) * weight / STEPS_PER_SD,
                          .points = tmi_alloc(2 * TMI_MANY_COUNTS, sizeof *g->points),
                          .room = 2 * TMI_MANY_COUNTS};
    for (size_t i = 0; g->parts && i < e->count; i++) g->parts[i] = e->parts[i];
    return g->parts && g->points;
}

/* The interval at a place of the grid. NULL: `status` has the reason, or it is OK and the grid is full, since the estimates are
 * too far apart for it to be of use. */
static const tmi_interval *at_place(tamis_status *status, tmi_count_grid *g, int64_t place, tamis_error *err)
{
    size_t i = (size_t)place & (g->room - 1);
    while (g->points[i].filled && g->points[i].place != place) i = (i + 1) & (g->room - 1);
    grid_point *point = &g->points[i];
    if (point->filled) return &point->interval;
    if (2 * (g->count + 1) > g->room) return NULL;
    tmi_stratum_count stratum = g->stratum;
    const tmi_count_estimate estimate = {(double)place * g->step, g->parts, g->part_count};
    stratum.noisy = estimate.value / g->weight;
    *status = tmi_interval_strata(&point->interval, &stratum, 1, &estimate, g->confidence, err);
    if (*status != TAMIS_OK) return NULL;
    point->place = place;
    point->filled = true;
    g->count++;
    return &point->interval;
}

bool tmi_count_grid_interval(tmi_interval *interval, tamis_status *status, tmi_count_grid *g, const tmi_stratum_count *stratum,
                             const tmi_count_estimate *e, double confidence, double weight, tamis_error *err)
{
    *status = TAMIS_OK;
    if (!(stratum->noise > 0)) return false;
    if (!is_of(g, stratum, e, confidence, weight) && !begin_grid(g, stratum, e, confidence, weight)) {
        *status = tmi_fail_memory(err);
        return true;
    }
    const double place = floor(e->value / g->step);
    if (!(fabs(place) < 0x1p52)) return false;
    const tmi_interval *below = at_place(status, g, (int64_t)place, err);
    const tmi_interval *above = below ? at_place(status, g, (int64_t)place + 1, err) : NULL;
    if (*status != TAMIS_OK) return true;
    if (!above) return false;
    *interval = (tmi_interval){below->lower, above->upper, below->clipped || above->clipped};
    return true;
}

/* ---- several ---- */

static tmi_stratum_count stratum_count(const tmi_schedule *s, size_t h, double noisy, double noise)
{
    const tmi_plan_stratum *stratum = &s->plan->design.strata[h];
    const tmi_count_law law = law_of(s->plan->design.kind);
    const double N = (double)stratum->population;
    return (tmi_stratum_count){N, law == TMI_COUNT_RATE ? N * tmi_number_nearest(stratum->rate) : (double)stratum->sample, noisy,
                               noise, law};
}

static tamis_status set_counts(tmi_stratum_count *list, size_t *count, const tmi_result *result, const tmi_inference *r,
                               const tmi_group_sums *z, size_t moment)
{
    const tmi_schedule *s = r->schedule;
    const size_t own = tmi_group_stratum(s, result->statistic, result->cell);
    const bool one = s->sampling.strata == 1 || own != SIZE_MAX;
    const double noise = z->noise->covariance[moment][moment];
    double all = 0; /* the squares of the weights of its strata */
    for (size_t h = 0; h < s->sampling.strata; h++)
        if (tmi_group_has_stratum(s, result->statistic, result->cell, h))
            all += pow(tmi_number_nearest(s->sampling.weight[h]), 2);
    *count = 0;
    for (size_t h = 0; h < s->sampling.strata; h++) {
        if (!tmi_group_has_stratum(s, result->statistic, result->cell, h)) continue;
        const double weight = tmi_number_nearest(s->sampling.weight[h]);
        list[(*count)++] = stratum_count(s, h, one ? z->value[moment] / weight : z->by_stratum[h], noise / all);
    }
    return TAMIS_OK;
}

static tamis_status combined_count(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, size_t moment,
                                   double over, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    double factors[TMI_MOMENTS] = {0};
    size_t count = 0, parts = 0;
    tmi_interval interval;
    tmi_stratum_count *list = tmi_alloc(s->sampling.strata, sizeof *list);
    tmi_noise_part *noises = tmi_alloc(z->parts->count, sizeof *noises);
    tamis_status status = list && noises ? TAMIS_OK : tmi_fail_memory(err);
    factors[moment] = 1;
    for (size_t k = 0; status == TAMIS_OK && k < z->parts->count; k++) {
        noises[parts] = tmi_sums_part_in(z, k, factors);
        parts += noises[parts].factor != 0;
    }
    const tmi_count_estimate estimate = {z->value[moment], noises, parts};
    if (status == TAMIS_OK) status = set_counts(list, &count, result, r, z, moment);
    const double confidence = tmi_number_nearest(t->confidence);
    const bool many = r->counts && count == 1 && tmi_statistic_cells(t) >= TMI_MANY_COUNTS;
    const size_t own = tmi_group_stratum(s, result->statistic, result->cell);
    const double weight = tmi_number_nearest(s->sampling.weight[own == SIZE_MAX ? 0 : own]);
    const bool found = status == TAMIS_OK && many &&
                       tmi_count_grid_interval(&interval, &status, r->counts, list, &estimate, confidence, weight, err);
    if (status == TAMIS_OK && !found) status = tmi_interval_strata(&interval, list, count, &estimate, confidence, err);
    if (status == TAMIS_OK) {
        result->lower = interval.lower / over;
        result->upper = interval.upper / over;
    }
    tmi_free(list);
    tmi_free(noises);
    return status;
}

tamis_status tmi_invert_count(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, double over, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const size_t moment = moment_of(&s->plan->statistics[result->statistic]),
                 own = tmi_group_stratum(s, result->statistic, result->cell);
    const bool one = s->sampling.strata == 1 || own != SIZE_MAX;
    const double weight = tmi_number_nearest(s->sampling.weight[own == SIZE_MAX ? 0 : own]);
    const tmi_moment_part *part = one ? only_part(z, moment, weight) : NULL;
    result->note_count = 0;
    result->exact = part != NULL;
    result->limited = false;
    return part ? exact_count(result, r, part, z->value[moment] / weight, over, err)
                : combined_count(result, r, z, moment, over, err);
}
