#include "schedule/expected/model.h"

#include <math.h>

#include "base/memory.h"
#include "measure/contributions.h"
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

tamis_status tmi_expected_model(tmi_expected_statistic *list, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_expected_statistic *of = &list[t->contrast->compared[0].statistic];
    tmi_model_guess g;
    tamis_status status = tmi_model_guess_make(&g, s, i, err);
    if (status != TAMIS_OK) return status;
    list[i].count = (size_t)tmi_statistic_cells(t);
    list[i].groups = tmi_alloc(list[i].count, sizeof *list[i].groups);
    if (!list[i].groups) status = tmi_fail_memory(err);
    for (size_t k = 0; list[i].groups && k < list[i].count; k++) list[i].groups[k] = expected_of(of, s, i, k, &g);
    tmi_model_guess_clear(&g);
    return status;
}
