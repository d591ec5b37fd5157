#include "inference/adjusted.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* The largest noises keep their own law; the others count as one normal law with their variance. The fourth cumulant
 * that this leaves out is at most 3/128 of the squared variance, which moves a coverage by less than 0.0002. */
#define OWN_LAWS 32
#define SMOOTH_SCALE 1e6 /* of a discrete Gaussian that is as good as normal */
#define DUST 1e-9        /* of the standard deviation: what rounding leaves of factors that cancel */

static const char no_interval[] = "no interval can be computed from these noisy numbers";

void tmi_family_noise_clear(tmi_family_noise *f)
{
    for (size_t i = 0; f->sums && i < f->count; i++) tmi_group_sums_clear(&f->sums[i]);
    tmi_free(f->sums);
    tmi_free(f->first);
    tmi_free(f->factor);
    tmi_free(f->scale);
    tmi_free(f->parts);
    *f = (tmi_family_noise){0};
}

tamis_status tmi_family_noise_make(tmi_family_noise *f, const tmi_inference *r, const tmi_result *const *members, size_t count,
                                   tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    tamis_status status = TAMIS_OK;
    *f = (tmi_family_noise){.reading = r, .count = count};
    f->sums = tmi_alloc(count, sizeof *f->sums);
    f->first = tmi_alloc(s->measurement_count, sizeof *f->first);
    if (!f->sums || !f->first) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < s->measurement_count; i++) {
        f->first[i] = f->cells;
        f->cells += s->measurements[i].cells;
    }
    f->factor = tmi_alloc(f->cells, sizeof *f->factor);
    f->scale = tmi_alloc(f->cells, sizeof *f->scale);
    f->parts = tmi_alloc(f->cells, sizeof *f->parts);
    if (!f->factor || !f->scale || !f->parts) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++)
        if (!members[i]->known) TMI_TRY(tmi_group_sums_make(&f->sums[i], r, members[i]->statistic, members[i]->cell, err));

done:
    if (status != TAMIS_OK) tmi_family_noise_clear(f);
    return status;
}

static int larger_first(const void *x, const void *y)
{
    double a = tmi_noise_part_variance(*(const tmi_noise_part *)x), b = tmi_noise_part_variance(*(const tmi_noise_part *)y);
    return (a < b) - (a > b);
}

/* The noises of a combination of the family's numbers, the largest first; their number. */
static size_t combine(tmi_family_noise *f, const double *weights, double *variance)
{
    const tmi_schedule *s = f->reading->schedule;
    size_t count = 0;
    for (size_t i = 0; i < f->cells; i++) f->factor[i] = 0;
    for (size_t j = 0; j < f->count; j++) {
        for (size_t i = 0; weights[j] != 0 && i < f->sums[j].part_count; i++) {
            const tmi_sums_part *part = &f->sums[j].parts[i];
            size_t at = f->first[part->table] + part->cell;
            f->factor[at] += weights[j] * part->factor[TMI_NUMERATOR];
            f->scale[at] = part->scale;
        }
    }
    for (size_t i = 0; i < f->cells; i++)
        if (f->factor[i] != 0) f->parts[count++] = (tmi_noise_part){f->factor[i], f->scale[i], s->gaussian};
    qsort(f->parts, count, sizeof *f->parts, larger_first);
    *variance = tmi_noise_variance(f->parts, count);
    while (count > 0 && tmi_noise_part_variance(f->parts[count - 1]) <= DUST * DUST * *variance) count--;
    if (count <= OWN_LAWS) return count;
    double rest = tmi_noise_variance(f->parts + OWN_LAWS, count - OWN_LAWS);
    f->parts[OWN_LAWS] = (tmi_noise_part){sqrt(rest) / SMOOTH_SCALE, SMOOTH_SCALE, true};
    return OWN_LAWS + 1;
}

/* Totals of variance units hold their noise: the sampling error is what is left when that is taken off, and it is as uncertain as
 * the whole was. The degrees of freedom are those of Satterthwaite. */
static tmi_error_law law_with_noise(const tmi_result *result, double se_before)
{
    double df = floor((double)result->df * pow(result->se / se_before, 4));
    return (tmi_error_law){.se = result->se, .df = result->df > 0 ? (int64_t)fmax(df, 1) : TMI_NORMAL};
}

static tamis_status make_interval(tmi_interval *interval, const tmi_result *result, const tmi_family_noise *f, size_t count,
                                  double se_before, tamis_error *err)
{
    const tmi_schedule *s = f->reading->schedule;
    double confidence = tmi_number_nearest(s->plan->statistics[result->statistic].confidence);
    const tmi_moved_count moved = {result->estimate, f->parts, count};
    if (result->exact) return tmi_interval_of_count(interval, result, f->reading, &moved, err);
    const int64_t df = result->df > 0 ? result->df : TMI_NORMAL;
    tmi_error_law law = {.se = result->sampling_se, .df = df, .parts = f->parts, .count = count};
    if (s->sampling.clustered && !s->plan->design.kind->takes_all) law = law_with_noise(result, se_before);
    return tmi_interval_symmetric(interval, result->estimate, &law, confidence, result->least, result->most, err);
}

tamis_status tmi_result_adjust(tmi_result *result, tmi_family_noise *f, double estimate, const double *weights, tamis_error *err)
{
    double noise, se_before = result->se;
    size_t count = combine(f, weights, &noise);
    tmi_interval interval;
    result->estimate = estimate;
    result->noise_sd = sqrt(noise);
    result->se = hypot(result->sampling_se, result->noise_sd);
    result->outside_range = estimate < result->least || estimate > result->most;
    if (isnan(result->lower)) return TAMIS_OK;
    tamis_status status = make_interval(&interval, result, f, count, se_before, err);
    result->lower = status == TAMIS_OK ? interval.lower : TMI_NULL;
    result->upper = status == TAMIS_OK ? interval.upper : TMI_NULL;
    if (status == TAMIS_INVALID || status == TAMIS_UNABLE) {
        result->reason = no_interval;
        status = TAMIS_OK;
    }
    result->exact = false;
    return status;
}
