#include "schedule/expected/distribution.h"

#include <math.h>

#include "base/memory.h"
#include "mech/quantile/quantile.h"
#include "num/number.h"
#include "schedule/guesses.h"
#include "schedule/result.h"

tmi_measure_kind tmi_measure_of(tmi_statistic_kind kind)
{
    return kind == TMI_GINI     ? TMI_MEASURE_GINI
           : kind == TMI_S80S20 ? TMI_MEASURE_S80S20
           : kind == TMI_IQR    ? TMI_MEASURE_IQR
                                : TMI_MEASURE_POVERTY;
}

typedef struct subject {
    const tmi_schedule *schedule;
    const tmi_plan_statistic *statistic;
    const tmi_plan_curve *cuts;
    const tmi_expected_statistic *shares; /* of the first cut; those of the others follow */
    bool guessed;                         /* the plan guesses mean and standard deviation */
    tmi_cdf curve;                        /* of one group */
    const tmi_quantile_task *task;        /* a mechanism chooses the quantiles; NULL: they are read from the curve */
    tamis_quantile *mechanism;
    double *answers; /* root mean square errors of those of one group */
} subject;

/* A sampling error that cannot be foreseen is NaN, here and in everything that is read from it. */
static tamis_status set_curve(subject *about, size_t group, tamis_error *err)
{
    const tmi_plan_curve *cuts = about->cuts;
    const tmi_grid *grid = &cuts->column->grid;
    const double low = (double)grid->low, width = (double)grid->high + 1 - low;
    tamis_status status = tmi_cdf_make(&about->curve, cuts->cut_count, low, (double)grid->high, grid->step, err);
    for (size_t k = 0; k < cuts->cut_count && status == TAMIS_OK; k++) {
        const tmi_expected_group *p = &about->shares[k].groups[group];
        const double sampling = tmi_expected_group_sampling(p), noise = tmi_expected_group_noise(p),
                     place = (double)cuts->cuts[k];
        const double guess = tmi_value_of(about->schedule->plan->statistics[cuts->first + k].column).mean;
        about->curve.points[k + 1] = (tmi_cdf_point){.place = place,
                                                     .share = about->guessed ? guess : (place - low) / width,
                                                     .sampling = sampling * sampling,
                                                     .noise = noise * noise};
    }
    return status == TAMIS_OK ? tmi_cdf_ascend(&about->curve, err) : status;
}

/* ---- quantiles ---- */

/* The k-th of a group. A chosen one has the noise of its mechanism; that of the function is in its interval alone. */
static tmi_expected_group expect_quantile(const subject *about, size_t k)
{
    const tmi_cdf *c = &about->curve;
    const tmi_grid *grid = &about->cuts->column->grid;
    const double q = tmi_number_nearest(about->statistic->at[k]);
    const double place = tmi_cdf_inverse(c, q), range = grid->step * (double)(grid->high - grid->low),
                 unit = grid->step / tmi_cdf_density(c, q);
    double sampling, noise;
    tmi_cdf_errors(&sampling, &noise, c, place);
    return (tmi_expected_group){.noise_sd = about->task ? about->answers[k] : unit * sqrt(noise),
                                .sampling_sd = unit * sqrt(sampling),
                                .expected = about->guessed ? fabs(tmi_cdf_value(c, place)) : TMI_NULL,
                                .range = range,
                                .limit = range};
}

/* ---- measures ---- */

/* The variance of a mean relative to that of its values, as the shares have it. */
static double sampling_of_mean(const tmi_cdf *c)
{
    double variances = 0, spreads = 0;
    for (size_t k = 1; k + 1 < c->count; k++) {
        variances += c->points[k].sampling;
        spreads += c->points[k].share * (1 - c->points[k].share);
    }
    return spreads > 0 ? variances / spreads : 0;
}

/* The variance of the noise of one bin, as a share of the rows, if bins have noise of their own: that of a share is the noise of
 * the bins below it less its part of all. */
static double noise_of_bin(const tmi_cdf *c)
{
    const double bins = (double)c->count - 1;
    double variances = 0, factors = 0;
    for (size_t k = 1; k + 1 < c->count; k++) {
        const double f = c->points[k].share, below = (double)k;
        variances += c->points[k].noise;
        factors += below * (1 - f) * (1 - f) + (bins - below) * f * f;
    }
    return factors > 0 ? variances / factors : 0;
}

static tamis_status expect_measure(tmi_expected_group *expected_group, const subject *about, tamis_error *err)
{
    const tmi_plan_statistic *t = about->statistic;
    const tmi_cdf *c = &about->curve;
    const bool ratio = t->kind == TMI_S80S20;
    const tmi_grid *grid = &about->cuts->column->grid;
    const double most = t->kind == TMI_IQR ? grid->step * (double)(grid->high - grid->low) : 1;
    const double line = t->limit ? tmi_number_nearest(t->limit) : 0;
    tmi_inequality m;
    tamis_status status = tmi_inequality_make(&m, c, tmi_measure_of(t->kind), line, err);
    if (status != TAMIS_OK) return status;
    double spread = 0, squares = 0;
    for (size_t b = 0; b + 1 < c->count; b++) {
        spread += m.within * (c->points[b + 1].share - c->points[b].share) * m.influence[b] * m.influence[b];
        squares += m.influence[b] * m.influence[b];
    }
    *expected_group = (tmi_expected_group){.noise_sd = sqrt(noise_of_bin(c) * squares),
                                           .sampling_sd = sqrt(sampling_of_mean(c) * spread),
                                           .expected = about->guessed && !m.reason ? m.value : TMI_NULL,
                                           .range = ratio && !m.reason ? m.value : most,
                                           .limit = ratio ? INFINITY : most};
    tmi_inequality_clear(&m);
    return TAMIS_OK;
}

/* ---- shares below a line ---- */

static tamis_status expect_share(tmi_expected_group *expected_group, const subject *about, size_t group, tamis_error *err)
{
    int64_t cut;
    *expected_group = (tmi_expected_group){.expected = 1, .range = 1, .limit = 1};
    if (!tmi_line_cut(&cut, about->statistic)) return tmi_fail_memory(err);
    for (size_t k = 0; k < about->cuts->cut_count; k++)
        if (about->cuts->cuts[k] == cut) *expected_group = about->shares[k].groups[group];
    return TAMIS_OK;
}

/* ---- together ---- */

static tamis_status expect_group(tmi_expected_group *list, subject *about, size_t group, tamis_error *err)
{
    const tmi_plan_statistic *t = about->statistic;
    tamis_status status = set_curve(about, group, err);
    if (status == TAMIS_OK && t->kind == TMI_SHARE_BELOW) status = expect_share(list, about, group, err);
    else if (status == TAMIS_OK && t->at_count == 0) status = expect_measure(list, about, err);
    if (status == TAMIS_OK && about->task) {
        const double units = about->shares[0].groups[group].units;
        status = tmi_quantile_task_error(about->answers, about->mechanism, &about->curve,
                                         tmi_quantile_task_weight(about->task, about->schedule, group, units, true), err);
    }
    for (size_t k = 0; status == TAMIS_OK && k < t->at_count; k++) list[k] = expect_quantile(about, k);
    tmi_cdf_clear(&about->curve);
    return status;
}

tamis_status tmi_expected_distribution(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_curve *cuts = &s->plan->curves[t->curve];
    subject about = {.schedule = s,
                     .statistic = t,
                     .cuts = cuts,
                     .shares = &list[cuts->first],
                     .guessed = cuts->column->typical && cuts->column->typical_sd,
                     .task = tmi_quantile_task_of(s, i)};
    const size_t groups = about.shares[0].count, levels = t->at_count > 0 ? t->at_count : 1;
    tamis_status status = TAMIS_OK;
    list[i].groups = tmi_alloc(groups * levels, sizeof *list[i].groups);
    list[i].count = groups * levels;
    about.answers = tmi_alloc(levels, sizeof *about.answers);
    if (!list[i].groups || !about.answers) TMI_TRY(tmi_fail_memory(err));
    for (size_t g = 0; g < groups; g++) {
        if (about.task && (g == 0 || about.task->group_rows)) { /* strata differ in their rows */
            const tamis_quantile_setup setup = tmi_quantile_task_setup(about.task, s->plan, g);
            tamis_quantile_free(about.mechanism);
            TMI_TRY(tamis_quantile_new(&about.mechanism, &setup, err));
        }
        TMI_TRY(expect_group(&list[i].groups[g * levels], &about, g, err));
    }

done:
    tamis_quantile_free(about.mechanism);
    tmi_free(about.answers);
    return status;
}
