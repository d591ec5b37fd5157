#include "estimate/variance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/frame.h"
#include "estimate/replicates.h"
#include "num/number.h"
#include "survey/estimator.h"

void tmi_sample_variance_clear(tmi_sample_variance *v)
{
    for (size_t h = 0; v->joint && h < v->sample->plan->design.stratum_count; h++) tmi_free(v->joint[h]);
    void *const blocks[] = {v->strata,        v->within,     v->populations, v->drawn,     v->pi,     v->joint,
                            v->frame_squares, v->order,      v->starts,      v->first,     v->places, v->some,
                            v->others,        v->calibrated, v->auxiliary,   v->residuals, v->rscales};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) tmi_free(blocks[i]);
    *v = (tmi_sample_variance){0};
}

const double *tmi_sample_variance_weights(const tmi_sample_variance *v)
{
    return v->replicate ? v->replicate : v->calibrated ? v->calibrated : v->sample->weights;
}

double tmi_sample_relative_deff(const tmi_sample_variance *v, const tmi_plan_statistic *statistic)
{
    return v->replicate_count > 0 ? 1 : tmi_relative_deff(&v->sample->plan->design, statistic);
}

double tmi_rounded_weight(const tmi_sample_variance *v, size_t row)
{
    const tmi_sample *s = v->sample;
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_stratum *stratum = &d->strata[tmi_sample_stratum(s, row)];
    const double weight = tmi_sample_variance_weights(v)[row];
    const bool staged = d->kind->staged;
    if (v->calibrated || weight == 0 || (!d->weight && !staged && (s->probabilities || stratum->rate))) return weight;
    if (d->weight || !staged) return 1 / (1 / weight);
    const double first = s->probabilities ? 1 / s->probabilities[row] : (double)stratum->population / (double)stratum->sample;
    return 1 / (1 / first * (1 / tmi_sample_second_weight(s, row)));
}

/* ---- stages ---- */

/* Units of several rows are the clusters of the last stage. */
static tamis_status make_stages(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const tmi_plan_design *d = &s->plan->design;
    const bool draws = d->kind->with_replacement;
    const bool replaced = draws || d->kind->only_weights || v->method == TMI_VARIANCE_WITH_REPLACEMENT;
    v->strata = tmi_alloc(s->count, sizeof *v->strata);
    v->populations = tmi_alloc(s->count, sizeof *v->populations);
    const bool declared = tmi_may_be_empty(d) && !d->nonresponse; /* drawn clusters without a row are known to be empty */
    if (declared) v->facts.drawn = v->drawn = tmi_alloc(s->count, sizeof *v->drawn);
    if (!v->strata || !v->populations || (declared && !v->drawn)) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) {
        const size_t h = tmi_sample_stratum(s, row);
        v->strata[row] = s->labels ? s->labels[row] : (int64_t)h;
        v->populations[row] = (double)d->strata[h].population;
        if (declared) v->drawn[row] = (double)d->strata[h].sample;
    }
    v->stages[0] = (tamis_stage){.strata = v->strata,
                                 .clusters = s->clusters ? s->clusters
                                             : draws     ? NULL
                                                         : s->units,
                                 .populations = replaced || tmi_draws_clusters_unequally(d) ? NULL : v->populations};
    v->stage_count = 1;
    if (!d->kind->staged || replaced) return TAMIS_OK;
    if (tmi_draws_clusters_unequally(d)) {
        v->facts.probabilities = s->probabilities;
        v->note = "clusters with unequal probabilities: Brewer's approximation of the variance of the first stage";
    }
    if (d->second_rate) v->facts.rate = tmi_number_nearest(d->second_rate);
    v->stages[1] = (tamis_stage){.clusters = s->units, .populations = s->second_population};
    v->stage_count = 2;
    return TAMIS_OK;
}

/* First-stage units minus strata. */
static tamis_status count_degrees(tmi_sample_variance *v, tamis_error *err)
{
    double *zero = tmi_alloc(v->sample->count, sizeof *zero), nothing;
    if (!zero) return tmi_fail_memory(err);
    tamis_status status = tmi_variance_stages(&nothing, &v->df, zero, v->sample->weights, v->sample->count, v->stages,
                                              v->stage_count, &v->facts, TAMIS_LONELY_CERTAINTY, err);
    tmi_free(zero);
    return status;
}

tamis_status tmi_sample_degrees(int64_t *df, const tmi_sample_variance *v, const uint8_t *domain, tamis_error *err)
{
    if (v->replicate_count > 0) return tmi_replicate_degrees(df, v, domain, err);
    const tmi_sample *s = v->sample;
    const int64_t *units = v->stage_count > 0 ? v->stages[0].clusters : s->units;
    const double *weights = tmi_sample_variance_weights(v);
    int64_t *strata = tmi_alloc(s->count, sizeof *strata), *clusters = tmi_alloc(s->count, sizeof *clusters);
    double *zero = tmi_alloc(s->count, sizeof *zero), nothing;
    tamis_status status = strata && clusters && zero ? TAMIS_OK : tmi_fail_memory(err);
    size_t n = 0;
    *df = 0;
    for (size_t row = 0; status == TAMIS_OK && row < s->count; row++) {
        if (!domain[row] || weights[row] == 0) continue;
        strata[n] = v->stage_count > 0 ? v->strata[row] : (int64_t)tmi_sample_stratum(s, row);
        clusters[n++] = units ? units[row] : (int64_t)row;
    }
    if (n > 0) {
        const tamis_stage stage = {.strata = strata, .clusters = clusters};
        status = tamis_variance_stages(&nothing, df, zero, zero, n, &stage, 1, TAMIS_LONELY_CERTAINTY, err);
    }
    tmi_free(strata);
    tmi_free(clusters);
    tmi_free(zero);
    return status;
}

/* ---- unequal probabilities ---- */

/* Rows stratum by stratum, in their order. */
static tamis_status sort_rows(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const size_t strata = s->plan->design.stratum_count;
    v->order = tmi_alloc(s->count, sizeof *v->order);
    v->starts = tmi_alloc(strata + 2, sizeof *v->starts);
    v->some = tmi_alloc(s->count, sizeof *v->some);
    v->others = tmi_alloc(s->count, sizeof *v->others);
    if (!v->order || !v->starts || !v->some || !v->others) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) v->starts[tmi_sample_stratum(s, row) + 2]++;
    for (size_t h = 2; h <= strata; h++) v->starts[h] += v->starts[h - 1];
    for (size_t row = 0; row < s->count; row++) v->order[v->starts[tmi_sample_stratum(s, row) + 1]++] = row;
    return TAMIS_OK;
}

/* The rows of a unit were drawn together, and count as one. */
static tamis_status find_units(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    size_t *seen = tmi_alloc(s->count, sizeof *seen); /* row + 1 of each label */
    v->first = tmi_alloc(s->count, sizeof *v->first);
    v->places = tmi_alloc(s->count, sizeof *v->places);
    if (seen && v->first && v->places) {
        for (size_t row = 0; row < s->count; row++) {
            size_t *there = &seen[s->units[row]];
            bool again = *there > 0 && tmi_sample_stratum(s, *there - 1) == tmi_sample_stratum(s, row);
            if (!again) *there = row + 1;
            v->first[row] = *there - 1;
            v->several = v->several || again;
            v->df -= again;
        }
    }
    bool made = seen && v->first && v->places;
    tmi_free(seen);
    return made ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status make_probabilities(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const tmi_plan_design *d = &s->plan->design;
    v->pi = tmi_alloc(s->count, sizeof *v->pi);
    if (!v->pi) return tmi_fail_memory(err);
    for (size_t row = 0; row < s->count; row++) {
        const tmi_plan_stratum *stratum = &d->strata[tmi_sample_stratum(s, row)];
        v->pi[row] = s->probabilities ? s->probabilities[row]
                     : stratum->rate  ? tmi_number_nearest(stratum->rate)
                                      : (double)stratum->sample / (double)stratum->population;
    }
    v->df = (int64_t)s->count - (int64_t)d->stratum_count;
    tamis_status status = s->units ? find_units(v, err) : TAMIS_OK;
    return status == TAMIS_OK ? sort_rows(v, err) : status;
}

static bool wants_joint(tmi_variance_method method)
{
    return method == TMI_VARIANCE_BEST || method == TMI_VARIANCE_EXACT || method == TMI_VARIANCE_HORVITZ_THOMPSON ||
           method == TMI_VARIANCE_YATES_GRUNDY;
}

/* The joint probabilities of a pps design, or what is done without them. */
static tamis_status make_joint(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_plan_design *d = &v->sample->plan->design;
    tamis_error why = {0};
    v->joint = tmi_alloc(d->stratum_count, sizeof *v->joint);
    v->frame_squares = tmi_alloc(d->stratum_count, sizeof *v->frame_squares);
    if (!v->joint || !v->frame_squares) return tmi_fail_memory(err);
    tamis_status status = d->frame ? tmi_frame_joint(v, wants_joint(v->method), &why)
                                   : tmi_fail(&why, TAMIS_UNABLE, "the plan names no frame");
    if (status == TAMIS_OK || !wants_joint(v->method))
        return status == TAMIS_UNABLE ? TAMIS_OK : tmi_fail(err, status, "%s", why.message);
    if (status != TAMIS_UNABLE) return tmi_fail_as(err, &why);
    if (v->method != TMI_VARIANCE_BEST)
        return tmi_fail(err, TAMIS_UNABLE, "design.variance: joint inclusion probabilities are not known: %s", why.message);
    v->method = TMI_VARIANCE_DEVILLE;
    v->note = "joint inclusion probabilities are not known: Deville's approximation of the variance";
    return TAMIS_OK;
}

/* ---- calibration ---- */

/* One auxiliary variable for each cell of a control: the value in the cell, 0 elsewhere. */
static void fill_auxiliary(tmi_sample_variance *v, const tmi_plan_control *control, size_t first)
{
    const tmi_sample *s = v->sample;
    const double *numbers = tmi_sample_numbers(s, control->column);
    for (size_t row = 0; row < s->count; row++) {
        size_t cell = 0;
        bool inside = !numbers || !isnan(numbers[row]);
        for (size_t j = 0; j < control->by_count; j++) {
            const int32_t code = tmi_sample_codes(s, control->by[j])[row];
            inside = inside && code >= 0;
            cell = cell * control->by[j]->value_count + (code < 0 ? 0 : (size_t)code);
        }
        if (inside) v->auxiliary[row * v->auxiliary_count + first + cell] = numbers ? numbers[row] : 1;
    }
}

static tamis_status calibrate(tmi_sample_variance *v, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const tamis_plan *plan = s->plan;
    double *totals = NULL;
    tamis_status status = TAMIS_OK;
    if (plan->control_count == 0) return TAMIS_OK;
    for (size_t i = 0; i < plan->control_count; i++) v->auxiliary_count += plan->controls[i].total_count;
    totals = tmi_alloc(v->auxiliary_count, sizeof *totals);
    v->auxiliary = tmi_alloc(s->count * v->auxiliary_count, sizeof *v->auxiliary);
    v->calibrated = tmi_alloc(s->count, sizeof *v->calibrated);
    v->residuals = tmi_alloc(s->count, sizeof *v->residuals);
    if (!totals || !v->auxiliary || !v->calibrated || !v->residuals) {
        status = tmi_fail_memory(err);
        goto done;
    }
    size_t first = 0;
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *control = &plan->controls[i];
        for (size_t j = 0; j < control->total_count; j++) totals[first + j] = tmi_number_nearest(control->totals[j]);
        fill_auxiliary(v, control, first);
        first += control->total_count;
    }
    status = tamis_calibrate(v->calibrated, plan->raking ? TAMIS_CALIBRATION_RAKING : TAMIS_CALIBRATION_LINEAR, 0, 0, s->weights,
                             v->auxiliary, totals, s->count, v->auxiliary_count, err);

done:
    tmi_free(totals);
    return status;
}

/* ---- all of it ---- */

static bool by_stages(const tmi_plan_design *d)
{
    if (d->variance == TMI_VARIANCE_WITH_REPLACEMENT) return true;
    const bool usual = d->variance <= TMI_VARIANCE_YATES_GRUNDY;
    return !d->kind->independent && !d->kind->unequal && (usual || !d->kind->equal);
}

tamis_status tmi_sample_variance_make(tmi_sample_variance *v, const tmi_sample *sample, tamis_error *err)
{
    const tmi_plan_design *d = &sample->plan->design;
    tamis_status status;
    *v = (tmi_sample_variance){.sample = sample, .method = d->variance};
    if (d->replicates.weights) {
        if (sample->plan->control_count > 0)
            TMI_TRY(tmi_fail(err, TAMIS_REFUSED,
                             "calibrate: replicate weights are calibrated before, each set of them; leave out `calibrate`, or "
                             "`replicates`"));
        TMI_TRY(tmi_replicates_make(v, err));
        return TAMIS_OK;
    }
    if (by_stages(d)) {
        TMI_TRY(make_stages(v, err));
        TMI_TRY(count_degrees(v, err));
    } else {
        TMI_TRY(make_probabilities(v, err));
        if (d->kind->unequal && d->kind->fixed_size) TMI_TRY(make_joint(v, err));
    }
    TMI_TRY(calibrate(v, err));
    const bool in_order = d->kind->in_order && !d->random_order;
    const bool in_stages = (d->first && d->first->in_order && !d->random_order) || d->second == TMI_SECOND_SYSTEMATIC;
    if ((in_order || in_stages) && !v->note)
        v->note = in_stages ? "systematic sample in a stage: variance as for a simple random sample"
                            : "systematic sample in a public order: variance as for a simple random sample";

done:
    if (status != TAMIS_OK) tmi_sample_variance_clear(v);
    return status;
}

/* With a public design effect: that times the variance of a simple random sample of the same rows. */
static double variance_by_effect(const tmi_sample_variance *v, const double *linear, double deff)
{
    const double *w = tmi_sample_variance_weights(v);
    const size_t n = v->sample->count;
    double size = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        size += w[i];
        if (w[i] > 0) mean += (linear[i] - mean) * w[i] / size;
    }
    for (size_t i = 0; i < n; i++) squares += w[i] * (linear[i] - mean) * (linear[i] - mean);
    return n > 1 ? deff * size * squares / (double)(n - 1) : NAN;
}

static tamis_status variance_in(double *value, const tmi_sample_variance *v, size_t h, const double *linear, const double *pi,
                                size_t n, tamis_error *err)
{
    if (v->sample->plan->design.kind->independent) return tamis_variance_poisson(value, linear, pi, n, err);
    switch (v->method) {
    case TMI_VARIANCE_HORVITZ_THOMPSON: return tamis_variance_horvitz_thompson(value, linear, v->joint[h], n, err);
    case TMI_VARIANCE_HAJEK: return tamis_variance_hajek(value, linear, pi, n, err);
    case TMI_VARIANCE_DEVILLE: return tamis_variance_deville(value, linear, pi, n, err);
    case TMI_VARIANCE_BREWER: return tamis_variance_brewer(value, linear, pi, n, err);
    case TMI_VARIANCE_OVERTON: return tamis_variance_overton(value, linear, pi, n, err);
    case TMI_VARIANCE_HARTLEY_RAO:
        return tamis_variance_hartley_rao(value, linear, pi, v->frame_squares ? v->frame_squares[h] : 0, n, err);
    default: return tamis_variance_yates_grundy(value, linear, v->joint[h], n, err);
    }
}

/* The formulas take values that are weighted by 1/pi; calibrated and given weights go into the values. */
static tamis_status variance_by_probabilities(double *value, tmi_sample_variance *v, const double *linear, tamis_error *err)
{
    const double *w = tmi_sample_variance_weights(v);
    const tmi_plan_kind *kind = v->sample->plan->design.kind;
    *value = v->several && kind->unequal && kind->fixed_size ? NAN : 0;
    for (size_t h = 0; !isnan(*value) && h < v->sample->plan->design.stratum_count; h++) {
        size_t n = 0;
        double part;
        for (size_t i = v->starts[h]; i < v->starts[h + 1]; i++) {
            const size_t row = v->order[i], first = v->first ? v->first[row] : row;
            const double weighted = linear[row] * w[row] * v->pi[row];
            if (first != row) {
                v->some[v->places[first]] += weighted;
                continue;
            }
            if (v->places) v->places[row] = n;
            v->others[n] = v->pi[row];
            v->some[n++] = weighted;
        }
        if (n == 0) continue;
        tamis_status status = variance_in(&part, v, h, v->some, v->others, n, err);
        if (status != TAMIS_OK) return status;
        *value += part;
    }
    return TAMIS_OK;
}

/* A stratum (or cluster) with one sampled unit of several. If it has no row of the domain, it adds nothing; else the variance
 * is NaN. The domain's own total shows which: it is the larger where such strata count. */
static tamis_status variance_of_domain(double *value, tmi_sample_variance *v, const double *linear, const uint8_t *domain,
                                       tamis_error *err)
{
    const size_t n = v->sample->count;
    const double *w = v->sample->weights;
    double with, without;
    double *inside = tmi_alloc(n, sizeof *inside);
    if (!inside) return tmi_fail_memory(err);
    tamis_status status;
    for (size_t i = 0; i < n; i++) inside[i] = domain[i];
    TMI_TRY(tmi_variance_stages(&with, NULL, inside, w, n, v->stages, v->stage_count, &v->facts, TAMIS_LONELY_ADJUST, err));
    TMI_TRY(tmi_variance_stages(&without, NULL, inside, w, n, v->stages, v->stage_count, &v->facts, TAMIS_LONELY_CERTAINTY, err));
    TMI_TRY(tmi_variance_stages(value, NULL, linear, w, n, v->stages, v->stage_count, &v->facts, TAMIS_LONELY_CERTAINTY, err));
    if (with > without) *value = NAN;

done:
    tmi_free(inside);
    return status;
}

tamis_status tmi_sample_variance_of(double *value, const char **reason, tmi_sample_variance *v, const double *linear,
                                    const uint8_t *domain, tamis_error *err)
{
    const tmi_sample *s = v->sample;
    const tmi_plan_design *d = &s->plan->design;
    tamis_status status = TAMIS_OK;
    if (v->calibrated) {
        status = tamis_calibration_residuals(v->residuals, linear, s->weights, v->auxiliary, s->count, v->auxiliary_count, err);
        linear = v->residuals;
    }
    if (status != TAMIS_OK) return status;
    if (s->count == 0) *value = NAN;
    else if (d->deff) *value = variance_by_effect(v, linear, tmi_number_nearest(d->deff));
    else if (v->stage_count > 0)
        status = tmi_variance_stages(value, NULL, linear, tmi_sample_variance_weights(v), s->count, v->stages, v->stage_count,
                                     &v->facts, TAMIS_LONELY_FAIL, err);
    else status = variance_by_probabilities(value, v, linear, err);
    if (status == TAMIS_INVALID && v->stage_count > 0 && !v->calibrated)
        status = variance_of_domain(value, v, linear, domain, err);
    if (status == TAMIS_INVALID) { /* one unit of several in a stratum or cluster */
        *value = NAN;
        status = TAMIS_OK;
    }
    if (isnan(*value) && v->several) *reason = "units with several rows: their joint inclusion probabilities are not known";
    else if (isnan(*value)) *reason = "a stratum has only one sampled unit, so its variance cannot be estimated";
    else if (*value < 0) {
        *value = NAN;
        *reason = "the variance estimate is negative";
    }
    return status;
}
