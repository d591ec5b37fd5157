/* What all results of a release are read from. */
#include <math.h>

#include "base/memory.h"
#include "inference/errors.h"
#include "inference/inverted_counts.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/group_noise.h"
#include "num/number.h"
#include "schedule/standard_errors.h"

void tmi_inference_clear(tmi_inference *r)
{
    tmi_reconstruction_clear(&r->main);
    tmi_reconstruction_clear(&r->contributed);
    tmi_reconstruction_clear(&r->of_units);
    tmi_reconstruction_clear(&r->rows);
    if (r->errors) tmi_errors_clear(r->errors);
    tmi_free(r->errors);
    tmi_count_grid_free(r->counts);
    *r = (tmi_inference){0};
}

/* Sums of squared weights, all of each and up to the bound; their ratio is between 1 and that of the bounds. */
static tamis_status set_clamping(tmi_inference *r, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_sampling *p = &s->sampling;
    tmi_reconstruction whole = {0}, clamped = {0};
    r->clamping = 1;
    if (p->weights != TMI_ROWS || p->most_clamped >= p->most) return TAMIS_OK;
    const double most = pow((double)p->most / (double)p->most_clamped, 2);
    tamis_status status;
    TMI_TRY(tmi_reconstruct(&whole, s, TMI_SPREAD, r->noisy, err));
    TMI_TRY(tmi_reconstruct(&clamped, s, TMI_CLAMPED, r->noisy, err));
    const double all = whole.centres[TMI_SPREAD * s->effects.domains], less = clamped.centres[TMI_CLAMPED * s->effects.domains];
    r->clamping = less > 0 ? fmin(fmax(all / less, 1), most) : most;

done:
    tmi_reconstruction_clear(&whole);
    tmi_reconstruction_clear(&clamped);
    return status;
}

tamis_status tmi_inference_make(tmi_inference *r, const tmi_schedule *s, tmi_int128 *const *noisy, tamis_error *err)
{
    const tmi_weighting weighting = tmi_main_weighting(s);
    const tmi_variance_source source = tmi_variance_source_of(s);
    tamis_status status = TAMIS_OK;
    *r = (tmi_inference){.schedule = s, .noisy = noisy, .clamping = 1};
    if (!(r->counts = tmi_count_grid_new())) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_reconstruct(&r->main, s, weighting, noisy, err));
    if (tmi_has_contributed(s)) TMI_TRY(tmi_reconstruct(&r->contributed, s, TMI_CONTRIBUTED, noisy, err));
    if (tmi_has_bounds_by_unit(s->plan)) TMI_TRY(tmi_reconstruct(&r->of_units, s, TMI_OF_UNITS, noisy, err));
    if (source == TMI_MEASURED_ERRORS) TMI_TRY(set_clamping(r, err));
    if (weighting != TMI_UNWEIGHTED && (tmi_asks_units(&s->plan->postprocess) || source == TMI_PUBLIC_EFFECT))
        TMI_TRY(tmi_reconstruct(&r->rows, s, TMI_UNWEIGHTED, noisy, err));

done:
    if (status != TAMIS_OK) tmi_inference_clear(r);
    return status;
}

tamis_status tmi_inference_read_errors(tmi_inference *r, tamis_error *err)
{
    const tmi_variance_source source = tmi_variance_source_of(r->schedule);
    if (source != TMI_MEASURED_ERRORS && source != TMI_PUBLIC_EFFECT && !tmi_measures_errors(r->schedule)) return TAMIS_OK;
    r->errors = tmi_alloc(1, sizeof *r->errors);
    return r->errors ? tmi_errors_make(r->errors, r, err) : tmi_fail_memory(err);
}

/* Rows of all strata, as they are. */
static tamis_status add_units(double *units, const tmi_inference *r, size_t i, size_t count, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_reconstruction *rows = r->rows.schedule ? &r->rows : &r->main;
    const size_t controls = tmi_control_levels(&s->workload), all = controls * tmi_factor_powers(&s->workload);
    double *moments = tmi_alloc(count * all, TMI_MOMENTS * sizeof *moments);
    tamis_status status = TAMIS_OK;
    if (!moments) return tmi_fail_memory(err);
    for (size_t copy = 0; copy < rows->copies; copy++) {
        TMI_TRY(tmi_reconstruct_moments(moments, rows, copy, i, s->workload.separate_strata ? copy : 0, err));
        for (size_t g = 0; g < count; g++) {
            if (s->workload.separate_strata && !tmi_group_has_stratum(s, i, g, copy)) continue;
            for (size_t c = 0; c < controls; c++) units[g] += moments[(g * all + c) * TMI_MOMENTS + TMI_OF_ROWS];
        }
    }

done:
    tmi_free(moments);
    return status;
}

/* The noise in the number of rows of a group: that of its strata, or of all. */
static tamis_status units_variance(double *variance, const tmi_schedule *s, size_t i, size_t g, tamis_error *err)
{
    static const double rows[TMI_MOMENTS] = {[TMI_OF_ROWS] = 1};
    const size_t copies = s->workload.separate_strata ? s->sampling.strata : 1;
    tamis_status status = TAMIS_OK;
    *variance = 0;
    for (size_t copy = 0; copy < copies && status == TAMIS_OK; copy++) {
        tmi_moment_noise noise;
        if (s->workload.separate_strata && !tmi_group_has_stratum(s, i, g, copy)) continue;
        status = tmi_moment_noise_make(&noise, s, TMI_UNWEIGHTED, i, g, s->workload.separate_strata ? copy : 0, err);
        if (status == TAMIS_OK) *variance += tmi_moment_noise_of(&noise, rows);
    }
    return status;
}

/* Groups of one pattern, which has their strata, have the same noise. */
static tamis_status subtract_noise(double *units, const tmi_schedule *s, size_t i, size_t count, tamis_error *err)
{
    struct known {
        const tmi_group_noise *pattern;
        double sd;
    } *list = NULL;
    size_t known = 0, room = 0;
    tmi_group_noises noises = {0};
    tamis_status status;
    TMI_TRY(tmi_group_noises_make(&noises, s, i, err));
    for (size_t g = 0; g < count; g++) {
        const tmi_group_noise *pattern;
        size_t k = 0;
        TMI_TRY(tmi_group_noise_of(&pattern, &noises, g, err));
        while (k < known && list[k].pattern != pattern) k++;
        if (k == known) {
            double variance;
            if (!tmi_grow(&list, &room, known, sizeof *list)) TMI_TRY(tmi_fail_memory(err));
            TMI_TRY(units_variance(&variance, s, i, g, err));
            list[known++] = (struct known){pattern, sqrt(fmax(variance, 0))};
        }
        units[g] -= TMI_UNITS_LIMIT * list[k].sd;
    }

done:
    tmi_group_noises_clear(&noises);
    tmi_free(list);
    return status;
}

tamis_status tmi_read_units(double *units, const tmi_inference *r, size_t i, tamis_error *err)
{
    const tmi_schedule *s = r->schedule;
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const size_t count = (size_t)tmi_statistic_cells(t);
    const bool of_all = t->by_count == 0 && !t->where;
    for (size_t g = 0; g < count; g++) {
        const int64_t rows = tmi_public_rows(s, i, g);
        units[g] = rows > 0 ? (double)rows : of_all ? TMI_NULL : 0;
    }
    if (of_all || (s->sampling.rows_fixed && tmi_groups_are_declared(s, t))) return TAMIS_OK;
    const tamis_status status = add_units(units, r, i, count, err);
    return status == TAMIS_OK ? subtract_noise(units, s, i, count, err) : status;
}
