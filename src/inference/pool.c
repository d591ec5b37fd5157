#include "inference/pool.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/regularised.h"
#include "num/number.h"
#include "schedule/targets.h"

bool tmi_is_pooled(const tmi_schedule *s)
{
    const tmi_variance_source source = tmi_variance_source_of(s);
    return source == TMI_SPREAD_TABLES || source == TMI_PUBLIC_EFFECT;
}

void tmi_pools_clear(tmi_pools *p)
{
    tmi_free(p->list);
    *p = (tmi_pools){0};
}

/* ---- one ratio ---- */

/* s, not below what its noise may hide. 0 where only rounding is left of it: a share of all that there are does not vary, and
 * what it says about variances, with hardly any noise, would outweigh all others. */
#define ROUNDING 1e-6

static double squares_at(const tmi_group_sums *z, double r)
{
    const tmi_quadratic *q = &z->proxy;
    const double s = fmax(tmi_quadratic_at(*q, r), tmi_form_noise_sd(&z->proxy_noise, 1, r));
    return s > ROUNDING * (fabs(q->xx) + 2 * fabs(r * q->xy) + r * r * fabs(q->yy)) ? s : 0;
}

tmi_pool_entry tmi_pool_entry_of(const tmi_group_sums *z, const tmi_inference *r, double at)
{
    const double s = squares_at(z, at), noise = tmi_form_noise_sd(&z->form_noise, 1, at);
    if (tmi_variance_source_of(r->schedule) == TMI_PUBLIC_EFFECT) return (tmi_pool_entry){NAN, NAN};
    if (!isfinite(noise) || !(s > 0) || !isfinite(z->form.xx)) return (tmi_pool_entry){NAN, NAN};
    const double ratio = tmi_quadratic_at(z->form, at) / s;
    const double sd = noise / s;
    return isfinite(ratio) && isfinite(sd) ? (tmi_pool_entry){ratio, sd} : (tmi_pool_entry){NAN, NAN};
}

/* ---- pools ---- */

/* Ratios of all numbers of all statistics. */
typedef struct ratios {
    tmi_pool_entry *list;
    size_t *first, count; /* of each statistic */
} ratios;

static double at_of(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const tmi_form_moments f = tmi_form_moments_of(t);
    return f.y < TMI_MOMENTS && z->value[f.y] > 0 ? z->value[f.x] / z->value[f.y] : 0;
}

static tamis_status collect(ratios *all, const tmi_inference *r, tamis_error *err)
{
    const tamis_plan *plan = r->schedule->plan;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        tmi_statistic_sums z;
        if (r->schedule->workload.maps[i].known || r->schedule->workload.maps[i].contributed) continue;
        TMI_TRY(tmi_watch_beat(r->schedule->watch, err));
        TMI_TRY(tmi_statistic_sums_make(&z, r, i, err));
        for (size_t g = 0; g < z.count; g++)
            all->list[all->first[i] + g] = t->kind == TMI_VARIANCE ? (tmi_pool_entry){NAN, NAN}
                                                                   : tmi_pool_entry_of(&z.groups[g], r, at_of(t, &z.groups[g]));
        tmi_statistic_sums_clear(&z);
    }

done:
    return status;
}

/* Members of a pool: statistics that are together with i, all of its kind, or all. */
typedef enum width { TOGETHER, OF_KIND, ALL } width;

typedef struct members {
    const tamis_plan *plan;
    const ratios *all;
    size_t i;
    width width;
} members;

static bool is_member(const members *m, size_t j)
{
    const tmi_plan_statistic *a = &m->plan->statistics[m->i], *b = &m->plan->statistics[j];
    if (m->width == TOGETHER) return tmi_are_pooled(a, b);
    return m->width == ALL || tmi_pooled_kind_of(a) == tmi_pooled_kind_of(b);
}

static bool is_measured(const tmi_pool_entry *e) { return !isnan(e->ratio) && e->sd > 0; }

/* The mean of the members and of one or two entries beside them, and what the members differ by. */
static tmi_pool pool_of(const members *m, const tmi_pool_entry *beside, size_t beside_count)
{
    double precision = 0, mean = 0, differ = 0;
    size_t count = 0;
    for (size_t j = 0; j < m->plan->statistic_count + beside_count; j++) {
        const size_t k = j - m->plan->statistic_count;
        const bool other = j >= m->plan->statistic_count;
        if (!other && !is_member(m, j)) continue;
        const tmi_pool_entry *e = other ? &beside[k] : &m->all->list[m->all->first[j]];
        for (size_t g = other ? 1 : m->all->first[j + 1] - m->all->first[j]; g-- > 0; e++) {
            if (!is_measured(e)) continue;
            precision += 1 / (e->sd * e->sd);
            mean += e->ratio / (e->sd * e->sd);
        }
    }
    tmi_pool pool = {precision > 0 ? fmax(mean / precision, 0) : NAN, precision > 0 ? 1 / precision : INFINITY, 0};
    for (size_t j = 0; j < m->plan->statistic_count; j++)
        for (size_t k = m->all->first[j]; is_member(m, j) && k < m->all->first[j + 1]; k++) {
            const tmi_pool_entry *e = &m->all->list[k];
            if (!is_measured(e)) continue;
            differ += (e->ratio - pool.mean) * (e->ratio - pool.mean) - e->sd * e->sd;
            count++;
        }
    const double b = pool.mean;
    pool.differ = fmin(fmax(count > 0 ? differ / (double)count : 0, b * b / 4), b * b);
    return pool;
}

/* A public design effect is that over a simple random sample: it is multiplied by the mean weight, from noisy sums of weights and
 * rows. */
static tmi_pool_entry public_prior(const tmi_inference *r)
{
    const tmi_schedule *s = r->schedule;
    const size_t domains = s->effects.domains;
    const tmi_arrowhead *n = &s->effects.arrowheads[TMI_UNWEIGHTED * domains];
    const double weights = r->main.centres[TMI_WEIGHTED * domains], noisy = r->rows.centres[TMI_UNWEIGHTED * domains];
    const double sd = n->known ? 0 : 1 / sqrt(n->rest), rows = fmax(noisy, fmax(1, sd)); /* not below what its noise may hide */
    const double ratio = tmi_number_nearest(s->plan->design.deff) * fmax(weights, 0) / rows;
    return ratio > 0 && isfinite(sd) ? (tmi_pool_entry){ratio, ratio * fmax(sd / rows, 1e-6)} : (tmi_pool_entry){NAN, NAN};
}

/* The mean weight over all rows and a design effect, where it was measured by itself. */
static tmi_pool_entry prior_of(const tmi_inference *r)
{
    const tmi_schedule *s = r->schedule;
    const tmi_effects *e = &s->effects;
    if (tmi_variance_source_of(s) == TMI_PUBLIC_EFFECT) return public_prior(r);
    if (!r->spread.schedule || tmi_variance_source_of(s) != TMI_SPREAD_TABLES) return (tmi_pool_entry){NAN, NAN};
    const tmi_arrowhead *a = &e->arrowheads[TMI_SPREAD * e->domains], *w = &e->arrowheads[TMI_WEIGHTED * e->domains];
    const bool weighed = w->known || w->rest > 0; /* tables of values that may be missing do not say how many rows there are */
    const double sum = r->spread.centres[TMI_SPREAD * e->domains],
                 rows = weighed ? r->main.centres[TMI_WEIGHTED * e->domains]
                                : (double)tmi_drawn_from(&s->plan->design, tmi_frame_of(s));
    if (!(a->known || a->rest > 0) || !(rows > 0)) return (tmi_pool_entry){NAN, NAN};
    const double sd = a->known ? 0 : 1 / sqrt(a->rest);
    return (tmi_pool_entry){sum / rows, fmax(sd / rows, 0.05 * fabs(sum / rows))};
}

/* No row's a is more than this times its weight, whatever the noise: V <= ceiling * s. */
static double ceiling_of(const tmi_inference *r)
{
    const tmi_schedule *s = r->schedule;
    const tmi_sampling *p = &s->sampling;
    const tmi_variance_source source = tmi_variance_source_of(s);
    double most = 0;
    if (p->weights == TMI_ROWS) {
        const int64_t less = source == TMI_SPREAD_TABLES ? tmi_weight_less(p) : 0;
        const double largest = (double)(p->most - less) * tmi_number_nearest(p->step);
        return source == TMI_SPREAD_TABLES ? largest * p->correction : largest * tmi_number_nearest(s->plan->design.deff);
    }
    for (size_t h = 0; h < p->strata; h++)
        if (!isnan(p->variance_factor[h])) most = fmax(most, p->variance_factor[h] / tmi_number_nearest(p->weight[h]));
    return most;
}

/* What all of a kind have on average, or all of any kind where it has none, counts as one more ratio, as uncertain as those of
 * different groups are different. */
static void set_pool(tmi_pool *pool, const ratios *all, const tmi_inference *r, size_t i)
{
    const tamis_plan *plan = r->schedule->plan;
    const double deff = tmi_relative_deff(&plan->design, &plan->statistics[i]);
    tmi_pool_entry prior = prior_of(r);
    prior.ratio *= deff;
    prior.sd *= deff;
    members m = {plan, all, i, OF_KIND};
    tmi_pool wide = pool_of(&m, &prior, 1);
    m.width = ALL;
    if (isnan(wide.mean)) wide = pool_of(&m, &prior, 1);
    m.width = TOGETHER;
    *pool = pool_of(&m, (tmi_pool_entry[]){{wide.mean, sqrt(wide.variance + wide.differ)}, prior}, 2);
}

tamis_status tmi_pools_make(tmi_pools *p, const tmi_inference *r, tamis_error *err)
{
    const tamis_plan *plan = r->schedule->plan;
    const size_t count = plan->statistic_count;
    ratios all = {0};
    tamis_status status = TAMIS_OK;
    *p = (tmi_pools){.list = tmi_alloc(count, sizeof *p->list), .ceiling = ceiling_of(r)};
    all.first = tmi_alloc(count + 1, sizeof *all.first);
    if (!p->list || !all.first) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) all.first[i + 1] = all.first[i] + (size_t)tmi_statistic_cells(&plan->statistics[i]);
    all.list = tmi_alloc(all.first[count], sizeof *all.list);
    if (!all.list) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < all.first[count]; k++) all.list[k] = (tmi_pool_entry){NAN, NAN};
    TMI_TRY(collect(&all, r, err));
    for (size_t i = 0; i < count; i++) set_pool(&p->list[i], &all, r, i);

done:
    tmi_free(all.list);
    tmi_free(all.first);
    if (status != TAMIS_OK) tmi_pools_clear(p);
    return status;
}

/* b, between the pool's mean and its own ratio, and its variance. */
static double shrunk(double *variance, const tmi_pool *p, const tmi_pool_entry *e)
{
    *variance = p->variance + p->differ;
    if (isnan(e->ratio)) return p->mean;
    const double both = p->differ + e->sd * e->sd, w = both > 0 ? p->differ / both : 1;
    *variance = w * e->sd * e->sd + (1 - w) * (1 - w) * p->variance;
    return fmax(w * e->ratio + (1 - w) * p->mean, 0);
}

double tmi_pool_limit(double *relative, const tmi_group_sums *z, const tmi_inference *r, size_t statistic, double at)
{
    const tmi_pool *p = &r->pools->list[statistic];
    const bool measured = r->schedule->plan->statistics[statistic].kind != TMI_VARIANCE;
    const double ceiling = r->pools->ceiling *
                           tmi_relative_deff(&r->schedule->plan->design, &r->schedule->plan->statistics[statistic]);
    double b = p->mean, variance = 0;
    if (isnan(b)) { /* noise left nothing that a ratio could be taken of */
        *relative = INFINITY;
        return isfinite(ceiling) ? ceiling : TMI_NULL;
    }
    const tmi_pool_entry e = measured ? tmi_pool_entry_of(z, r, at) : (tmi_pool_entry){NAN, NAN};
    b = shrunk(&variance, p, &e);
    *relative = b > 0 ? TMI_POOLED_MARGIN * sqrt(variance) / b : INFINITY;
    return fmin(b > 0 ? b * (1 + *relative) : TMI_POOLED_MARGIN * sqrt(variance), ceiling);
}
