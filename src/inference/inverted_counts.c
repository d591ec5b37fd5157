#include "inference/inverted_counts.h"

#include <math.h>

#include "base/memory.h"
#include "inference/interval/count.h"
#include "inference/interval/strata.h"
#include "num/number.h"
#include "schedule/controls.h"

/* The moment that counts the ones. */
static size_t moment_of(const tmi_plan_statistic *t) { return t->column ? TMI_OF_X : TMI_OF_ROWS; }

static bool counts_ones(const tmi_plan_statistic *t, const tmi_group_sums *z)
{
    const bool ones = (t->kind == TMI_SHARE || t->kind == TMI_TOTAL) && t->column->conditions;
    const bool sum = tmi_is_sum(t) || z->noise->covariance[TMI_OF_ROWS][TMI_OF_ROWS] == 0; /* over a public number */
    return (ones && sum) || (tmi_is_sum(t) && !t->column);
}

/* Strata by strata, or one stratum. */
static bool has_strata(const tmi_schedule *s, const tmi_result *result)
{
    return s->sampling.strata == 1 || s->workload.apart || tmi_group_stratum(s, result->statistic, result->cell) != SIZE_MAX;
}

bool tmi_is_inverted(const tmi_result *result, const tmi_inference *r, const tmi_group_sums *z)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_design *d = &s->plan->design;
    const bool one = s->sampling.strata == 1 || tmi_group_stratum(s, result->statistic, result->cell) != SIZE_MAX;
    return counts_ones(&s->plan->statistics[result->statistic], z) && tmi_main_family(s) == TMI_UNWEIGHED &&
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
    const tamis_number *scale = m->laws[m->law_count > 1 ? own : 0].scale;
    tamis_number *square = NULL;
    tamis_status status = TAMIS_OK;
    int64_t lower, upper;
    if (s->gaussian) TMI_TRY(tmi_number_mul(&square, scale, scale, err));
    tmi_count_case c = {.law = law_of(d->kind),
                        .population = stratum->population,
                        .sample = stratum->sample,
                        .rate = stratum->rate,
                        .scale = s->gaussian ? NULL : scale,
                        .variance = square,
                        .confidence = t->confidence};
    const int64_t most = c.law == TMI_COUNT_RATE ? stratum->population : stratum->sample;
    TMI_TRY(tmi_interval_count(&lower, &upper, &c, possible(noisy, most), err));
    result->lower = (double)lower / over;
    result->upper = (double)upper / over;

done:
    tamis_number_free(square);
    return status;
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
    *count = one ? 1 : s->sampling.strata;
    for (size_t k = 0; k < *count; k++) {
        const size_t h = one ? (own == SIZE_MAX ? 0 : own) : k;
        const double weight = tmi_number_nearest(s->sampling.weight[h]);
        const double noisy = one ? z->value[moment] / weight : z->by_stratum[k];
        const double noise = z->noise->covariance[moment][moment];
        double all = 0;
        for (size_t i = 0; !one && i < s->sampling.strata; i++) all += pow(tmi_number_nearest(s->sampling.weight[i]), 2);
        list[k] = stratum_count(s, h, noisy, one ? noise / (weight * weight) : noise / all);
    }
    return TAMIS_OK;
}

static tamis_status combined_count(tmi_result *result, const tmi_inference *r, const tmi_group_sums *z, size_t moment,
                                   double over, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    double factors[TMI_MOMENTS] = {0};
    size_t count, parts = 0;
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
    if (status == TAMIS_OK)
        status = tmi_interval_strata(&interval, list, count, &estimate, tmi_number_nearest(t->confidence), err);
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
