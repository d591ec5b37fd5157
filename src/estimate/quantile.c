#include "estimate/quantile.h"

#include <math.h>
#include <string.h>

#include "estimate/replicates.h"
#include "estimate/score.h"
#include "num/law/beta.h"
#include "num/number.h"

static bool is_type(const tmi_plan_statistic *s, const char *type) { return strcmp(s->inverse ? s->inverse : "mean", type) == 0; }

static tamis_status share_again(double *share, void *context, tamis_error *err)
{
    const tmi_estimate_work *w = context;
    return tamis_mean(share, NULL, w->bases, tmi_sample_variance_weights(w->variance), w->domain, w->sample->count, err);
}

tamis_status tmi_share_up_to(double *share, double *variance, const char **reason, tmi_estimate_work *w,
                             const tmi_plan_statistic *s, double x, tamis_error *err)
{
    const size_t count = w->sample->count;
    for (size_t row = 0; row < count; row++) w->bases[row] = w->domain[row] && w->values[row] <= x;
    tamis_status status = tamis_mean(share, w->linear, w->bases, tmi_sample_variance_weights(w->variance), w->domain, count, err);
    if (status != TAMIS_OK) return status;
    status = w->variance->replicate_count > 0 ? tmi_replicate_variance(variance, reason, w->variance, *share, share_again, w, err)
                                              : tmi_sample_variance_of(variance, reason, w->variance, w->linear, w->domain, err);
    *variance *= tmi_sample_relative_deff(w->variance, s);
    return status;
}

/* ---- the interval of the share, turned into one of the quantile ---- */

static double clamp(double x, double low, double high) { return fmin(fmax(x, low), high); }

bool tmi_keeps_all_rows(const tmi_estimate_work *w)
{
    return w->variance->calibrated || (w->variance->stage_count == 0 && w->variance->replicate_count == 0);
}

/* Clopper and Pearson's, with as many rows as would give the share's variance. R counts the rows without a weight too, where it
 * keeps them. */
static tamis_status beta_ends(double ends[2], tmi_estimate_work *w, const tmi_plan_statistic *s, double share, double variance,
                              double t, tamis_error *err)
{
    const int64_t rows = (int64_t)(tmi_keeps_all_rows(w) ? w->sample->count : w->values_there);
    const double alpha = (1 - tmi_number_nearest(s->confidence)) / 2;
    double t_rows;
    tamis_status status = tmi_student_of(&t_rows, w, s->confidence, rows - 1, err);
    if (status != TAMIS_OK) return status;
    const double n = share * (1 - share) / variance * (t_rows / t) * (t_rows / t);
    ends[0] = tmi_beta_quantile(alpha, n * share, n * (1 - share) + 1);
    ends[1] = tmi_beta_quantile(1 - alpha, n * share + 1, n * (1 - share));
    return TAMIS_OK;
}

static tamis_status ends_of(double ends[2], tmi_estimate_work *w, const tmi_plan_statistic *s, double share, double variance,
                            double t, tamis_error *err)
{
    const double reach = t * sqrt(variance), spread = share * (1 - share);
    if (variance == 0) {
        ends[0] = ends[1] = share;
    } else if (is_type(s, "beta")) {
        return beta_ends(ends, w, s, share, variance, t, err);
    } else {
        for (int i = 0; i < 2; i++) {
            const double side = i ? reach : -reach, angle = asin(sqrt(share)) + side / (2 * sqrt(spread));
            ends[i] = is_type(s, "xlogit") ? 1 / (1 + exp(-log(share / (1 - share)) - side / spread))
                      : is_type(s, "asin") ? sin(clamp(angle, 0, asin(1))) * sin(clamp(angle, 0, asin(1)))
                                           : share + side;
        }
    }
    return TAMIS_OK;
}

static tamis_status invert(tmi_result *result, tmi_estimate_work *w, const tmi_plan_statistic *s, double t, tamis_error *err)
{
    double share, variance, ends[2];
    tamis_status status = tmi_share_up_to(&share, &variance, &result->reason, w, s, result->estimate, err);
    if (status != TAMIS_OK || isnan(variance)) return status;
    if (variance > 0 && w->df < 1) {
        result->reason = "no degrees of freedom: as many strata as first-stage units";
        return TAMIS_OK;
    }
    if (share >= 1 && s->inverse) {
        result->reason = "all rows are up to the quantile, so that the variance of their share says nothing";
        return TAMIS_OK;
    }
    status = ends_of(ends, w, s, share, variance, t, err);
    if (status != TAMIS_OK) return status;
    if (!(ends[0] >= 0) || !(ends[1] <= 1)) {
        result->reason =
            "the interval of the share of rows up to the quantile reaches beyond 0 or 1: interval: beta or xlogit does not";
        return TAMIS_OK;
    }
    result->lower = tmi_quantile_of(&w->distribution, ends[0]);
    result->upper = tmi_quantile_of(&w->distribution, ends[1]);
    return TAMIS_OK;
}

tamis_status tmi_estimate_quantile(tmi_result *result, tmi_estimate_work *w, const tmi_plan_statistic *s, double p,
                                   tamis_error *err)
{
    double t;
    if (is_type(s, "score") && w->variance->replicate_count > 0) {
        result->reason = "interval: score is not for replicate weights; mean, beta, xlogit and asin are";
        result->estimate = tmi_quantile_of(&w->distribution, p);
        return TAMIS_OK;
    }
    result->estimate = tmi_quantile_of(&w->distribution, p);
    result->df = w->df;
    tamis_status status = tmi_student_of(&t, w, s->confidence, w->df, err);
    if (status == TAMIS_OK)
        status = is_type(s, "score") && w->df >= 1 ? tmi_score_interval(result, w, s, p, t, err) : invert(result, w, s, t, err);
    if (status == TAMIS_OK && !isnan(result->lower))
        result->se = result->sampling_se = result->upper > result->lower ? (result->upper - result->lower) / (2 * t) : 0;
    return status;
}
