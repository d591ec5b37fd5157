#include "measure/group_noise.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/classes.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "num/number.h"

double tmi_moment_noise_of(const tmi_moment_noise *noise, const double c[TMI_MOMENTS])
{
    double sum = 0;
    for (size_t i = 0; i < TMI_MOMENTS; i++)
        for (size_t j = 0; c[i] != 0 && j < TMI_MOMENTS; j++)
            if (c[j] != 0) sum += c[i] * c[j] * noise->covariance[i][j];
    return fmax(sum, 0);
}

/* ---- moments of a weighting ---- */

static tamis_status variance_of(double *variance, const tmi_schedule *s, tmi_weighting weighting, size_t i, size_t group,
                                size_t stratum, const double c[TMI_MOMENTS], tamis_error *err)
{
    tmi_moment_sum sum;
    tmi_parts_of_effects parts;
    double *factors;
    tamis_status status = tmi_expected_factors(&factors, s, i, err);
    if (status == TAMIS_OK) status = tmi_moment_sum_make(&sum, &s->workload, weighting, i, group, stratum, c, factors, err);
    tmi_free(factors);
    if (status != TAMIS_OK) return status;
    status = tmi_effects_parts(&parts, &s->effects, &sum.combination, err);
    if (status == TAMIS_OK) *variance = tmi_effects_variance(&s->effects, &parts);
    if (status == TAMIS_OK && weighting == TMI_UNWEIGHTED) *variance *= tmi_variance_in_stratum(s, stratum);
    tmi_parts_of_effects_clear(&parts);
    tmi_moment_sum_clear(&sum);
    return status;
}

tamis_status tmi_moment_noise_make(tmi_moment_noise *n, const tmi_schedule *s, tmi_weighting weighting, size_t i, size_t group,
                                   size_t stratum, tamis_error *err)
{
    const tmi_statistic_map *map = &s->workload.maps[i];
    tamis_status status = TAMIS_OK;
    *n = (tmi_moment_noise){0};
    for (size_t a = 0; a < TMI_MOMENTS; a++) {
        double c[TMI_MOMENTS] = {0};
        c[a] = 1;
        if (tmi_has_moment(map, a)) TMI_TRY(variance_of(&n->covariance[a][a], s, weighting, i, group, stratum, c, err));
    }
    for (size_t a = 0; a < TMI_MOMENTS; a++)
        for (size_t b = a + 1; b < TMI_MOMENTS; b++) {
            double c[TMI_MOMENTS] = {0}, both;
            const double own = n->covariance[a][a], other = n->covariance[b][b];
            if (!tmi_has_moment(map, a) || !tmi_has_moment(map, b) || isinf(own) || isinf(other)) continue;
            const double size = sqrt(fmax(own, 1e-300) / fmax(other, 1e-300)); /* of the same size: less is lost */
            c[a] = 1;
            c[b] = size;
            TMI_TRY(variance_of(&both, s, weighting, i, group, stratum, c, err));
            n->covariance[a][b] = n->covariance[b][a] = own > 0 && other > 0 ? (both - own - size * size * other) / (2 * size)
                                                                             : 0;
        }

done:
    return status;
}

tamis_status tmi_products_are_measured(bool *measured, const tmi_schedule *s, size_t i, tamis_error *err)
{
    static const double product[TMI_MOMENTS] = {[TMI_OF_XY] = 1};
    double variance = INFINITY;
    tamis_status status = TAMIS_OK;
    if (tmi_reads_products(s, i)) status = variance_of(&variance, s, tmi_main_weighting(s), i, 0, 0, product, err);
    *measured = status == TAMIS_OK && isfinite(variance);
    return status;
}

/* ---- groups ---- */

tamis_status tmi_group_noises_make(tmi_group_noises *g, const tmi_schedule *s, size_t statistic, tamis_error *err)
{
    (void)err;
    *g = (tmi_group_noises){.schedule = s, .statistic = statistic};
    return TAMIS_OK;
}

void tmi_group_noises_clear(tmi_group_noises *g)
{
    for (size_t i = 0; i < g->count; i++) tmi_free(g->list[i]);
    tmi_free(g->list);
    *g = (tmi_group_noises){0};
}

/* Whether something else of a statistic is about these classes: another `by` column, a condition, what is added up. */
static bool is_used_again(const tmi_workload *w, size_t i, size_t place)
{
    const tmi_statistic_map *map = &w->maps[i];
    const size_t classes = map->by[place];
    bool again = map->x.classes == classes || map->y.classes == classes;
    for (size_t k = 0; k < w->plan->statistics[i].by_count; k++) again = again || (k != place && map->by[k] == classes);
    for (size_t k = 0; map->where && !map->whole && k < map->where->condition_count; k++) {
        const tmi_question q = tmi_question_if(&map->where->conditions[k]);
        again = again || (!tmi_is_separate(w, map->where->conditions[k].column) && tmi_workload_find(w, &q) == classes);
    }
    return again;
}

/* Classes of each value, and the strata where they are apart. Classes are exchangeable, but not those that something else is
 * about, nor those of an axis that counts as a number, yes and no, of which one may be measured by itself. */
static void set_pattern(size_t pattern[TMI_MAX_BY], const tmi_schedule *s, size_t i, size_t group)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_workload *w = &s->workload;
    memset(pattern, 0, TMI_MAX_BY * sizeof *pattern);
    if (w->maps[i].known) return; /* it has no classes, and no noise */
    for (size_t k = 0; k < t->by_count; k++) {
        const size_t value = tmi_group_code(t, group, k);
        size_t first, end;
        if (w->maps[i].by[k] == SIZE_MAX) { /* strata that are measured apart */
            pattern[k] = value;
            continue;
        }
        const tmi_classes *classes = &w->classes[w->maps[i].by[k]];
        tmi_classes_of_value(&first, &end, classes, t->by[k], value);
        for (size_t c = first; c < end; c++) pattern[k] += tmi_class_has_value(classes, t->by[k], value, c);
        if (is_used_again(w, i, k) || (classes->axis != SIZE_MAX && w->axes[classes->axis].degree > 0))
            pattern[k] += (value + 1) << 32;
    }
}

static void add_scaled(tmi_moment_noise *sum, const tmi_moment_noise *n, double scale)
{
    for (size_t a = 0; a < TMI_MOMENTS; a++)
        for (size_t b = 0; b < TMI_MOMENTS; b++) sum->covariance[a][b] += scale * n->covariance[a][b];
}

/* Weights after the noise: those of each stratum. */
static tamis_status add_strata(tmi_group_noise *g, const tmi_schedule *s, size_t i, size_t group, tamis_error *err)
{
    const bool differ = tmi_strata_differ(s, i), separate = s->workload.separate_strata;
    bool made = false;
    tmi_moment_noise n;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < (separate ? s->sampling.strata : 1); h++) {
        if (separate && !tmi_group_has_stratum(s, i, group, h)) continue;
        if (!made || differ) TMI_TRY(tmi_moment_noise_make(&n, s, TMI_UNWEIGHTED, i, group, h, err));
        made = true;
        const double w = tmi_number_nearest(s->sampling.weight[h]),
                     a = isnan(s->sampling.variance_factor[h]) ? 0 : s->sampling.variance_factor[h];
        add_scaled(&g->estimate, &n, w * w);
        add_scaled(&g->spread, &n, a * a);
    }

done:
    return status;
}

/* Contributions have their weights. */
static tamis_status add_contributions(tmi_group_noise *g, const tmi_schedule *s, size_t i, size_t group, tamis_error *err)
{
    tmi_moment_noise n;
    for (size_t part = 0; part < s->sampling.parts; part++) {
        const double a = tmi_contribution_spread(&s->sampling, part);
        tamis_status status = tmi_moment_noise_make(&n, s, TMI_CONTRIBUTED, i, group, part, err);
        if (status != TAMIS_OK) return status;
        add_scaled(&g->estimate, &n, 1);
        if (a > 0) add_scaled(&g->spread, &n, a * a);
    }
    return TAMIS_OK;
}

static tamis_status fill(tmi_group_noise *g, const tmi_schedule *s, size_t i, size_t group, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (s->workload.maps[i].known) return TAMIS_OK;
    if (s->workload.maps[i].contributed) return add_contributions(g, s, i, group, err);
    if (tmi_main_weighting(s) == TMI_UNWEIGHTED) {
        TMI_TRY(add_strata(g, s, i, group, err));
    } else {
        TMI_TRY(tmi_moment_noise_make(&g->estimate, s, tmi_weighting_of(s, i), i, group, 0, err));
        if (tmi_variance_source_for(s, i) ==
            TMI_OWN_SQUARES) { /* of groups that lie in one stratum, or of weights that are alike */
            const size_t h = tmi_group_stratum(s, i, group);
            double ratio = s->sampling.ratio;
            if (h != SIZE_MAX) ratio = s->sampling.variance_factor[h] / tmi_number_nearest(s->sampling.weight[h]);
            if (!isnan(ratio)) add_scaled(&g->spread, &g->estimate, ratio * ratio);
        }
    }

done:
    return status;
}

tamis_status tmi_group_noise_of(const tmi_group_noise **noise, tmi_group_noises *g, size_t group, tamis_error *err)
{
    tmi_group_noise *made = NULL;
    size_t pattern[TMI_MAX_BY];
    tamis_status status = TAMIS_OK;
    set_pattern(pattern, g->schedule, g->statistic, group);
    for (size_t i = 0; i < g->count; i++) {
        if (memcmp(g->list[i]->pattern, pattern, sizeof pattern) != 0) continue;
        *noise = g->list[i];
        return TAMIS_OK;
    }
    made = tmi_alloc(1, sizeof *made);
    if (!made || !tmi_grow(&g->list, &g->room, g->count, sizeof *g->list)) TMI_TRY(tmi_fail_memory(err));
    memcpy(made->pattern, pattern, sizeof pattern);
    TMI_TRY(fill(made, g->schedule, g->statistic, group, err));
    g->list[g->count++] = made;
    *noise = made;
    made = NULL;

done:
    tmi_free(made);
    return status;
}
