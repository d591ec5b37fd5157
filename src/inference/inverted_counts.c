#include "inference/inverted_counts.h"

#include "base/memory.h"
#include "inference/interval/count.h"
#include "inference/interval/strata.h"
#include "num/number.h"
#include "schedule/controls.h"

static bool counts_ones(const tmi_schedule *s, const tmi_result *result)
{
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    bool ones = (t->kind == TMI_SHARE || t->kind == TMI_TOTAL) && t->column->conditions;
    bool known = !tmi_table_of(s, result->statistic, TMI_DENOMINATOR);
    return (ones && known) || t->kind == TMI_COUNT || t->kind == TMI_TABLE || t->kind == TMI_HISTOGRAM;
}

/* A count from one noisy integer whose law given the number in the population is known: the test is inverted exactly. */
static bool has_exact_count(const tmi_schedule *s, const tmi_result *result, tmi_count_law *law)
{
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    const tmi_measurement *a = tmi_table_of(s, result->statistic, TMI_NUMERATOR);
    const tmi_plan_kind *kind = s->plan->design.kind;
    bool one = a && a->by_count == t->by_count && a->units == 1 && a->shift == 0 && a->quantity.weighing == TMI_UNWEIGHED &&
               s->plan->design.population > 0 && !s->plan->design.nonresponse && !tmi_is_calibrated(s, result->statistic);
    bool in_one_stratum = s->sampling.strata == 1 || tmi_group_stratum(s, result->statistic, result->cell) != SIZE_MAX;
    *law = kind->with_replacement ? TMI_COUNT_REPLACED : kind->rate ? TMI_COUNT_RATE : TMI_COUNT_SRS;
    return one && counts_ones(s, result) && in_one_stratum && kind->known_count && !s->plan->design.regularise;
}

/* The noisy number of sampled ones, or the possible number nearest to it. */
static int64_t possible(tmi_int128 noisy, int64_t most) { return noisy < 0 ? 0 : noisy > most ? most : (int64_t)noisy; }

static tamis_status exact_count(tmi_result *result, const tmi_inference *r, tmi_count_law law, double over, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    size_t h = tmi_group_stratum(s, result->statistic, result->cell), table = s->uses[result->statistic].table[TMI_NUMERATOR];
    const tmi_plan_stratum *stratum = &d->strata[h == SIZE_MAX ? 0 : h];
    const tamis_number *scale = tmi_cell_law(&s->measurements[table], result->cell)->scale;
    tamis_number *square = NULL;
    tamis_status status = TAMIS_OK;
    int64_t lower, upper;
    if (s->gaussian) TMI_TRY(tmi_number_mul(&square, scale, scale, err));
    tmi_count_case c = {.law = law,
                        .population = stratum->population,
                        .sample = stratum->sample,
                        .rate = stratum->rate,
                        .scale = s->gaussian ? NULL : scale,
                        .variance = square,
                        .confidence = t->confidence};
    int64_t most = law == TMI_COUNT_RATE ? stratum->population : stratum->sample;
    TMI_TRY(tmi_interval_count(&lower, &upper, &c, possible(r->noisy[table][result->cell], most), err));
    result->lower = (double)lower / over;
    result->upper = (double)upper / over;

done:
    tamis_number_free(square);
    return status;
}

/* A count over strata, each of them measured: the test of the total is inverted. */
static bool has_strata_count(const tmi_schedule *s, const tmi_result *result)
{
    const tmi_plan_statistic *t = &s->plan->statistics[result->statistic];
    const tmi_measurement *a = tmi_table_of(s, result->statistic, TMI_NUMERATOR);
    return a && a->by_count > t->by_count && a->units == 1 && a->shift == 0 && a->quantity.weighing == TMI_UNWEIGHED &&
           s->plan->design.kind->equal && s->plan->design.kind->known_count && !s->plan->design.nonresponse &&
           !s->plan->design.regularise && !tmi_is_calibrated(s, result->statistic) && counts_ones(s, result);
}

/* The noisy number of sampled ones in a stratum, which is a cell of the count's table. */
static tmi_stratum_count stratum_count(const tmi_result *result, const tmi_inference *r, tmi_count_law law, size_t h, size_t cell)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_stratum *stratum = &s->plan->design.strata[h];
    size_t table = s->uses[result->statistic].table[TMI_NUMERATOR];
    double N = (double)stratum->population, scale = tmi_number_nearest(tmi_cell_law(&s->measurements[table], cell)->scale);
    double n = law == TMI_COUNT_RATE ? N * tmi_number_nearest(stratum->rate) : (double)stratum->sample;
    return (tmi_stratum_count){N, n, (double)r->noisy[table][cell], scale, s->gaussian, law};
}

tamis_status tmi_interval_of_count(tmi_interval *interval, const tmi_result *result, const tmi_inference *r,
                                   const tmi_moved_count *moved, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    double confidence = tmi_number_nearest(s->plan->statistics[result->statistic].confidence);
    tmi_count_law law;
    if (has_exact_count(s, result, &law)) {
        size_t h = tmi_group_stratum(s, result->statistic, result->cell);
        tmi_stratum_count one = stratum_count(result, r, law, h == SIZE_MAX ? 0 : h, result->cell);
        return tmi_interval_strata(interval, &one, 1, moved, confidence, err);
    }
    size_t count = s->plan->design.stratum_count;
    tmi_stratum_count *strata = tmi_alloc(count, sizeof *strata);
    if (!strata) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) strata[h] = stratum_count(result, r, TMI_COUNT_SRS, h, result->cell * count + h);
    tamis_status status = tmi_interval_strata(interval, strata, count, moved, confidence, err);
    tmi_free(strata);
    return status;
}

static tamis_status strata_count(tmi_result *result, const tmi_inference *r, double over, tamis_error *err)
{
    tmi_interval interval;
    tamis_status status = tmi_interval_of_count(&interval, result, r, NULL, err);
    if (status != TAMIS_OK) return status;
    result->lower = interval.lower / over;
    result->upper = interval.upper / over;
    return TAMIS_OK;
}

bool tmi_is_inverted(const tmi_result *result, const tmi_inference *r)
{
    tmi_count_law law;
    return has_exact_count(r->schedule, result, &law) || has_strata_count(r->schedule, result);
}

tamis_status tmi_invert_count(tmi_result *result, const tmi_inference *r, double over, tamis_error *err)
{
    tmi_count_law law;
    bool exact = has_exact_count(r->schedule, result, &law);
    result->note_count = 0;
    result->exact = true;
    result->limited = false;
    return exact ? exact_count(result, r, law, over, err) : strata_count(result, r, over, err);
}
