/* The noise of a contrast, integer by integer: all numbers of a group are read from the same tables at once. */
#include "inference/contrast_noise.h"

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/law/noise.h"
#include "num/number.h"

static bool has_stratum(const tmi_schedule *s, const tmi_contrast_term *t, size_t stratum)
{
    return !s->workload.separate_strata || tmi_group_has_stratum(s, t->statistic, t->cell, stratum);
}

/* Adds the noise in one stratum's tables, or in all. Reads of different domains are never together: all numbers have the same
 * condition. */
static tamis_status add_stratum(tmi_moment_parts *parts, const tmi_contrast_sums *z, size_t stratum, double weight,
                                tamis_error *err)
{
    const tmi_schedule *s = z->inference->schedule;
    tmi_moment_sum *sums = tmi_alloc(2 * z->term_count, sizeof *sums);
    tmi_read *reads = tmi_alloc(2 * z->term_count, sizeof *reads);
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (!sums || !reads) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < z->term_count; k++) {
        const tmi_contrast_term *t = &z->terms[k];
        double of[TMI_MOMENTS] = {0};
        if (t->factor == 0 || !has_stratum(s, t, stratum)) continue;
        of[t->form.x] = t->factor;
        if (t->form.y < TMI_MOMENTS) of[t->form.y] -= t->factor * t->ratio;
        TMI_TRY(tmi_moment_sum_make(&sums[count], &s->workload, tmi_weighting_of(s, t->statistic), t->statistic, t->cell, stratum,
                                    of, NULL, err));
        reads[count] = (tmi_read){&sums[count].combination, TMI_CONTRAST_NOISE};
        count++;
        if (t->turn == 0) continue;
        const double turn[TMI_MOMENTS] = {[TMI_OF_ROWS] = t->turn};
        TMI_TRY(tmi_moment_sum_make(&sums[count], &s->workload, tmi_weighting_of(s, t->statistic), t->statistic, t->cell, stratum,
                                    turn, NULL, err));
        reads[count] = (tmi_read){&sums[count].combination, TMI_TURN_NOISE};
        count++;
    }
    TMI_TRY(tmi_moment_parts_add(parts, s, reads, count, stratum, weight, err));

done:
    for (size_t k = 0; sums && k < count; k++) tmi_moment_sum_clear(&sums[k]);
    tmi_free(sums);
    tmi_free(reads);
    return status;
}

tamis_status tmi_contrast_squares_noise(double *variance, const tmi_contrast_sums *z, size_t group, size_t stratum,
                                        tmi_stratum_part part, bool subtracts, double e, double scale, tamis_error *err)
{
    const tmi_schedule *s = z->inference->schedule;
    const double each = subtracts ? part.a / part.rows : 0, both = z->terms[0].factor * z->terms[1].factor;
    const tmi_weighting weighting = tmi_weighting_of(s, z->terms[0].statistic);
    double of[3][TMI_MOMENTS] = {{0}};
    tmi_moment_sum sums[3] = {{{0}, NULL}};
    tmi_read reads[3];
    tmi_moment_parts parts = {.gaussian = s->gaussian};
    tamis_status status = TAMIS_OK;
    *variance = 0;
    for (size_t k = 0; k < 2; k++) {
        const tmi_contrast_term *t = &z->terms[k];
        const double f = t->factor, square = part.a * f * f;
        of[k][t->form.xx] += square;
        of[k][t->form.x] -= 2 * each * e * f;
        if (t->form.y >= TMI_MOMENTS) continue;
        of[k][t->form.xy] -= 2 * square * t->ratio;
        of[k][t->form.yy] += square * t->ratio * t->ratio;
        of[k][t->form.y] += 2 * each * e * f * t->ratio;
    }
    tmi_contrast_products(of[2], z);
    for (size_t m = 0; m < TMI_MOMENTS; m++) of[2][m] *= 2 * part.a * both;
    for (size_t k = 0; k < 3; k++) {
        for (size_t m = 0; m < TMI_MOMENTS; m++) of[k][m] *= scale;
        TMI_TRY(tmi_moment_sum_make(&sums[k], &s->workload, weighting, k < 2 ? z->terms[k].statistic : z->statistic,
                                    k < 2 ? z->terms[k].cell : group, stratum, of[k], NULL, err));
        reads[k] = (tmi_read){&sums[k].combination, TMI_CONTRAST_NOISE};
    }
    TMI_TRY(tmi_moment_parts_add(&parts, s, reads, 3, stratum, 1, err));
    for (size_t i = 0; i < parts.count; i++) {
        const tmi_moment_part *p = &parts.list[i];
        *variance += tmi_noise_part_variance((tmi_noise_part){p->factor[TMI_CONTRAST_NOISE], p->scale, parts.gaussian, p->count});
    }

done:
    for (size_t k = 0; k < 3; k++) tmi_moment_sum_clear(&sums[k]);
    tmi_moment_parts_clear(&parts);
    return status;
}

/* Whether what is read of a stratum is the same in all of them but for its weight. */
static bool strata_are_alike(const tmi_contrast_sums *z)
{
    const tmi_schedule *s = z->inference->schedule;
    for (size_t k = 0; k < z->term_count; k++)
        if (tmi_strata_differ(s, z->terms[k].statistic) || tmi_is_in_strata(s, z->terms[k].statistic)) return false;
    return true;
}

tamis_status tmi_contrast_noise_make(tmi_moment_parts *parts, const tmi_contrast_sums *z, tamis_error *err)
{
    const tmi_schedule *s = z->inference->schedule;
    const bool unweighed = tmi_main_weighting(s) == TMI_UNWEIGHTED, alike = strata_are_alike(z);
    size_t first = 0;
    tamis_status status = TAMIS_OK;
    *parts = (tmi_moment_parts){.gaussian = s->gaussian};
    for (size_t h = 0; h < (s->workload.separate_strata ? s->sampling.strata : 1); h++) {
        const double weight = unweighed ? tmi_number_nearest(s->sampling.weight[h]) : 1;
        if (h > 0 && alike) { /* copies of the first stratum's */
            const double ratio = weight / tmi_number_nearest(s->sampling.weight[0]);
            for (size_t k = 0; k < first; k++) {
                if (!tmi_grow(&parts->list, &parts->room, parts->count, sizeof *parts->list)) TMI_TRY(tmi_fail_memory(err));
                tmi_moment_part part = parts->list[k];
                for (size_t m = 0; m < TMI_MOMENTS; m++) part.factor[m] *= ratio;
                parts->list[parts->count++] = part;
            }
            continue;
        }
        TMI_TRY(add_stratum(parts, z, h, weight, err));
        if (h == 0) first = parts->count;
    }

done:
    if (status != TAMIS_OK) tmi_moment_parts_clear(parts);
    return status;
}
