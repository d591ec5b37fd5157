#include "release/statistic.h"

#include <math.h>

#include "num/number.h"
#include "release/noise_law.h"

static const tmi_statistic *const statistics[TMI_MEDIAN + 1] = {
    [TMI_COUNT] = &tmi_statistic_count,
    [TMI_TOTAL] = &tmi_statistic_total,
    [TMI_MEAN] = &tmi_statistic_mean,
};

const tmi_statistic *tmi_statistic_of(const tmi_plan_statistic *statistic)
{
    return statistics[statistic->kind];
}

/* alpha = (1 - confidence) / needs: by Bonferroni all noises stay within their reach with the stated confidence. */
static tamis_status set_reach(tmi_case *c, const tmi_schedule *schedule, const tmi_use *use, tamis_error *err)
{
    tamis_number *one = NULL, *miss = NULL, *needs = NULL, *alpha = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&miss, one, c->statistic->confidence, err));
    TMI_TRY(tmi_number_ratio(&needs, (int64_t)use->count, 1, err));
    TMI_TRY(tmi_number_div(&alpha, miss, needs, err));
    for (size_t j = 0; j < use->count; j++) {
        const tmi_measurement *m = &schedule->measurements[use->measurement[j]];
        int64_t k;
        TMI_TRY(tmi_noise_reach(&k, m->scale, alpha, err));
        c->reach[j] = (double)k;
        c->noise_sd[j] = tmi_noise_sd(m->scale);
        if (m->kind == TMI_SUM) c->centre = m->centre;
    }

done:
    tamis_number_free(one);
    tamis_number_free(miss);
    tamis_number_free(needs);
    tamis_number_free(alpha);
    return status;
}

tamis_status tmi_case_make(tmi_case *c, const tmi_schedule *schedule, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *statistic = &schedule->plan->statistics[i];
    *c = (tmi_case){.statistic = statistic,
                    .design = &schedule->plan->design,
                    .how = schedule->design,
                    .cells = (size_t)tmi_statistic_cells(statistic),
                    .weight = tmi_number_nearest(schedule->weight),
                    .step = statistic->column ? statistic->column->grid.step : 1};
    return schedule->uses[i].count > 0 ? set_reach(c, schedule, &schedule->uses[i], err) : TAMIS_OK;
}

static tamis_status times(double *z, const tamis_number *unit, tmi_int128 k, tamis_error *err)
{
    tamis_number *factor = NULL, *product = NULL;
    tamis_status status;
    TMI_TRY(tmi_number_int128(&factor, k, err));
    TMI_TRY(tmi_number_mul(&product, unit, factor, err));
    *z = tmi_number_nearest(product);

done:
    tamis_number_free(factor);
    tamis_number_free(product);
    return status;
}

tamis_status tmi_round_once(tmi_result *result, const tmi_case *c, const tmi_schedule *schedule, tmi_int128 noisy,
                            tamis_error *err)
{
    bool finite = isfinite(result->estimate) && isfinite(result->lower) && isfinite(result->upper);
    if (schedule->uses[result->statistic].count != 1 || !finite) return TAMIS_OK;
    tamis_number *unit = NULL;
    tamis_status status;
    tmi_int128 reach = (tmi_int128)c->reach[0];
    if (c->statistic->column) TMI_TRY(tmi_number_mul(&unit, schedule->weight, c->statistic->column->step, err));
    else TMI_TRY(tmi_number_copy(&unit, schedule->weight, err));
    TMI_TRY(times(&result->estimate, unit, noisy, err));
    bool low = result->lower > result->least && result->lower < result->most;
    bool high = result->upper > result->least && result->upper < result->most;
    if (low) TMI_TRY(times(&result->lower, unit, noisy - reach, err));
    if (high) TMI_TRY(times(&result->upper, unit, noisy + reach, err));

done:
    tamis_number_free(unit);
    return status;
}

static double within(double x, double least, double most)
{
    return x < least ? least : x > most ? most : x;
}

void tmi_set_interval(tmi_result *result, double lower, double upper, double least, double most)
{
    result->least = least;
    result->most = most;
    result->lower = within(lower, least, most);
    result->upper = within(upper, least, most);
    result->outside_range = result->estimate < least || result->estimate > most;
}
