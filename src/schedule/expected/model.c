#include "schedule/expected/model.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/group_noise.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/model_guess.h"
#include "schedule/result.h"
#include "schedule/standard_errors.h"

/* What the reach of noise is, in its standard deviations: a sum of several. */
static double reach_of(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    const double normal = tmi_normal_margin(tmi_number_nearest(t->confidence));
    return s->gaussian ? normal : 1.08 * normal;
}

static tmi_expected_group expected_of(const tmi_expected_statistic *of, const tmi_schedule *s, size_t i, size_t cell,
                                      const tmi_model_guess *g)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const double r2 = t->model->r2 ? tmi_number_nearest(t->model->r2) : 0;
    tmi_expected_group found = {.expected = TMI_NULL, .limit = INFINITY};
    double noise = 0, sampling = 0, turn = 0;
    for (size_t c = 0; c < g->cells; c++) {
        const tmi_expected_group *own = &of->groups[of->count > 1 ? tmi_term_cell(s->plan, t, c, cell) : 0];
        const size_t place = cell % g->terms * g->cells + c;
        /* groups that differ have their own sizes; else all are taken as equal, and shares say how they differ */
        const double size = of->count > 1 ? 1 : g->shares[c] * (double)g->cells, w = g->weights[place],
                     relative = own->relative / (size * size);
        noise += w * w * own->noise_sd * own->noise_sd * (1 - fmin(own->relative, 0.5)) / (size * size);
        sampling += w * w * own->sampling_sd * own->sampling_sd / size * (1 - r2);
        turn += g->turns[place] * g->turns[place] * relative;
        found.units += own->units;
        found.range = fmax(found.range, own->range);
    }
    const double z = reach_of(s, t);
    found.turn = z * z * turn * g->inflation;
    found.noise_sd = sqrt(noise) * g->inflation;
    found.sampling_sd = sqrt(sampling * g->inflation);
    const tmi_typical_group o = {.sampling_sd = found.sampling_sd};
    if (tmi_has_own_errors(s, i)) found.error = tmi_expected_error(s, i, &o, noise);
    return found;
}

/* ---- models with numbers ---- */

/* Adds the noise of a coefficient and of how it moves, as if pairs of numbers and cells had noise of their own. */
static tamis_status add_noise(double *noise, double *turn, tmi_group_noises *noises, const tmi_schedule *s, size_t i, size_t cell,
                              const tmi_line_fit *f, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tamis_status status = TAMIS_OK;
    *noise = *turn = 0;
    for (size_t c = 0; c < f->cells; c++) {
        double own[TMI_MAX_PAIRS][TMI_MOMENTS], moves[TMI_MAX_PAIRS][TMI_MOMENTS];
        tmi_line_fit_variable(own, moves, f, cell % f->terms, c);
        for (size_t pair = 0; pair < f->pairs; pair++) {
            const tmi_group_noise *known;
            TMI_TRY(tmi_group_noise_of(&known, &noises[pair], tmi_term_cell(s->plan, t, pair * f->cells + c, cell), err));
            *noise += tmi_moment_noise_of(&known->estimate, own[pair]);
            *turn += tmi_moment_noise_of(&known->estimate, moves[pair]);
        }
    }

done:
    return status;
}

#define MOST_PRODUCTS 1e7 /* of numbers of a table and terms of a coefficient: more take too long */

/* Whether a table of estimates has all axes of a model. */
static bool has_all(const tmi_measurement *m, const tmi_schedule *s, size_t i)
{
    const tmi_statistic_map *r = &s->workload.maps[i];
    bool all = (m->marginal.form == TMI_FULL || tmi_is_gram(m->marginal.form)) && !tmi_method_of(m->marginal.weighting) &&
               m->marginal.domain == r->domain && m->marginal.weighting == tmi_main_weighting(s);
    for (size_t a = 0; all && a < r->axis_count; a++) {
        size_t k = 0;
        while (k < m->marginal.axis_count && m->marginal.axes[k] != r->axes[a]) k++;
        all = k < m->marginal.axis_count;
    }
    return all;
}

/* Coefficients of all levels become those of the numbers of GRAM, whose own coefficients have the product 0 with each other. */
static void take_products(double *sums, const tmi_measurement *m, const tmi_schedule *s)
{
    const tmi_table_form form = m->marginal.form;
    const size_t numbers = tmi_gram_numbers(s->workload.axes, &m->marginal);
    const double steps = tmi_gram_steps(form);
    for (size_t cell = 0; cell < m->cells; cell++) {
        double *levels = sums + cell * m->added, left = 0;
        for (size_t row = 0; row < m->levels; row++) {
            double product = 0, square = 0;
            for (size_t l = 0; l < m->added; l++) {
                const double c = tmi_gram_integer(form, numbers, row, l) / steps;
                product += c * levels[l];
                square += c * c;
            }
            left += product * product / (square * square);
        }
        memset(levels, 0, m->added * sizeof *levels);
        levels[0] = sqrt(left);
    }
}

/* Adds what one stratum's copy of a table, or the only one, adds to the variances of a coefficient. `room` is for its levels. */
static tamis_status add_copy(double *noise, double *turn, double *room, const tmi_measurement *m, const tmi_schedule *s, size_t i,
                             size_t cell, const tmi_line_fit *f, size_t stratum, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const size_t count = m->cells * m->added;
    const double weight = tmi_main_weighting(s) == TMI_UNWEIGHTED ? tmi_number_nearest(s->sampling.weight[stratum]) : 1,
                 v = weight * weight / tmi_measurement_precision(s, m);
    double *sums[2] = {room, room + count};
    tamis_status status = TAMIS_OK;
    memset(room, 0, 2 * count * sizeof *room);
    for (size_t c = 0; c < f->cells; c++) {
        double of[2][TMI_MAX_PAIRS][TMI_MOMENTS];
        tmi_line_fit_variable(of[0], of[1], f, cell % f->terms, c);
        for (size_t k = 0; k < 2 * f->pairs; k++) {
            const size_t pair = k / 2, own = t->contrast->compared[pair].statistic,
                         place = tmi_term_cell(s->plan, t, pair * f->cells + c, cell);
            tmi_moment_sum sum;
            if (s->workload.separate_strata && !tmi_group_has_stratum(s, own, place, stratum)) continue;
            TMI_TRY(
                tmi_moment_sum_make(&sum, &s->workload, tmi_main_weighting(s), own, place, stratum, of[k % 2][pair], NULL, err));
            for (size_t l = 0; l < count; l++)
                sums[k % 2][l] += tmi_combination_within(&sum.combination, &s->workload, &m->marginal, l / m->added,
                                                         l % m->added);
            tmi_moment_sum_clear(&sum);
        }
    }
    for (size_t k = 0; k < 2 && tmi_is_gram(m->marginal.form); k++) take_products(sums[k], m, s);
    for (size_t l = 0; l < count; l++) {
        *noise += v * sums[0][l] * sums[0][l];
        *turn += v * sums[1][l] * sums[1][l];
    }

done:
    return status;
}

/* From one table that has everything, if there is one: the best of them; else as pair by pair. */
static tamis_status set_noise(double *noise, double *turn, tmi_group_noises *noises, const tmi_schedule *s, size_t i, size_t cell,
                              const tmi_line_fit *f, tamis_error *err)
{
    const tmi_measurement *best = NULL;
    double *room = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_measurement *m = &s->measurements[k];
        if (!has_all(m, s, i) || (double)(m->cells * m->levels) * (double)(f->cells * f->pairs) > MOST_PRODUCTS) continue;
        if (!best || tmi_measurement_precision(s, m) > tmi_measurement_precision(s, best)) best = m;
    }
    if (!best) return add_noise(noise, turn, noises, s, i, cell, f, err);
    *noise = *turn = 0;
    room = tmi_alloc(best->cells * best->added, 2 * sizeof *room);
    if (!room) TMI_TRY(tmi_fail_memory(err));
    for (size_t h = 0; h < (s->workload.separate_strata ? s->sampling.strata : 1); h++)
        TMI_TRY(add_copy(noise, turn, room, best, s, i, cell, f, h, err));

done:
    tmi_free(room);
    return status;
}

/* What is measured of a coefficient: as of one in such units that `own`, its element of the inverse, is 1. */
static tmi_measured_error error_of(const tmi_schedule *s, size_t i, double simple, double effect, double noise, double own)
{
    const tmi_typical_group o = {.sampling_sd = sqrt(simple * effect / own), .simple = simple / own};
    tmi_measured_error e = tmi_expected_error(s, i, &o, noise / own);
    const double scale = e.power == 2 ? own : sqrt(own);
    e.squares *= own;
    e.noise *= own;
    e.measured *= scale;
    e.scale *= scale;
    return e;
}

static tamis_status expect_line(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    tmi_group_noises noises[TMI_MAX_PAIRS] = {{0}};
    tmi_line_guess g;
    tamis_status status = tmi_line_guess_make(&g, s, i, err);
    if (status != TAMIS_OK) return status;
    const double z = reach_of(s, t);
    for (size_t pair = 0; pair < g.fit.pairs; pair++)
        TMI_TRY(tmi_group_noises_make(&noises[pair], s, t->contrast->compared[pair].statistic, err));
    for (size_t k = 0; k < list->count; k++) {
        const size_t term = k % g.fit.terms;
        const double own = g.fit.inverse[term * g.fit.terms + term], simple = g.inflation * g.simple * own;
        tmi_expected_group found = {
            .expected = TMI_NULL, .limit = INFINITY, .range = INFINITY, .units = g.rows, .turn = INFINITY};
        double noise, turn;
        if (k < g.fit.terms) TMI_TRY(set_noise(&noise, &turn, noises, s, i, k, &g.fit, err));
        else { /* groups are taken as equal */ list->groups[k] = list->groups[term];
            continue;
        }
        if (g.fit.determined) found.turn = z * z * turn * g.inflation * g.inflation;
        found.noise_sd = g.fit.determined ? sqrt(noise) * g.inflation : INFINITY;
        found.sampling_sd = s->plan->design.kind->takes_all ? 0 : sqrt(simple * g.effect);
        if (tmi_has_own_errors(s, i) && g.fit.determined) found.error = error_of(s, i, simple, g.effect, noise, own);
        if (found.error.scale < 0) TMI_TRY(tmi_fail_memory(err));
        list->groups[k] = found;
    }

done:
    for (size_t pair = 0; pair < TMI_MAX_PAIRS; pair++) tmi_group_noises_clear(&noises[pair]);
    tmi_line_guess_clear(&g);
    return status;
}

tamis_status tmi_expected_model(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_expected_statistic *of = &list[t->contrast->compared[0].statistic];
    tmi_model_guess g;
    list[i].count = (size_t)tmi_statistic_cells(t);
    list[i].groups = tmi_alloc(list[i].count, sizeof *list[i].groups);
    if (!list[i].groups) return tmi_fail_memory(err);
    if (tmi_is_line(t)) return expect_line(&list[i], s, i, err);
    const tamis_status status = tmi_model_guess_make(&g, s, i, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < list[i].count; k++) list[i].groups[k] = expected_of(of, s, i, k, &g);
    tmi_model_guess_clear(&g);
    return status;
}

/* Products of both numbers are expected as a correlation is, in standard deviations of both. */
tamis_status tmi_expected_correlation(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_expected_statistic *of = &list[s->plan->statistics[i].contrast->compared[0].statistic];
    list[i].count = of->count;
    list[i].groups = tmi_alloc(of->count, sizeof *list[i].groups);
    if (!list[i].groups) return tmi_fail_memory(err);
    for (size_t g = 0; g < of->count; g++) {
        tmi_expected_group *own = &list[i].groups[g];
        *own = of->groups[of->count > 1 ? tmi_term_cell(s->plan, &s->plan->statistics[i], 0, g) : 0];
        own->limit = own->range = 2;
        const tmi_typical_group o = {.sampling_sd = own->sampling_sd};
        if (tmi_has_own_errors(s, i)) own->error = tmi_expected_error(s, i, &o, own->noise_sd * own->noise_sd);
        if (own->error.scale < 0) return tmi_fail_memory(err);
    }
    return TAMIS_OK;
}
