#include "schedule/standard_errors.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "engine/core/engine.h"
#include "measure/contributions.h"
#include "measure/controls.h"
#include "measure/unit_contributions.h"
#include "num/law/noise.h"
#include "num/number.h"
#include "schedule/guesses.h"
#include "schedule/model_guess.h"

/* ---- slots ---- */

#define HASHED_SLOTS 256 /* an engine's hash has one byte */

void tmi_psu_places_clear(tmi_psu_places *p)
{
    tmi_free(p->layout.strata);
    tmi_free(p->psus);
    tmi_free(p->into);
    tmi_free(p->first);
    tmi_free(p->signs);
    *p = (tmi_psu_places){0};
}

/* PSUs of a stratum of the design or of the list, and of how many they were drawn in one stage without replacement; 0: that
 * does not matter. With nonresponse rows within PSUs are left to chance too. */
static tmi_psu_stratum stratum_of(const tmi_sampling *s, size_t h)
{
    const tmi_plan_design *d = s->design;
    if (s->psus) return (tmi_psu_stratum){.psus = s->psus->clusters[h]};
    const bool one = !s->public_strata || s->strata == 1, whole = !d->kind->staged && !d->kind->unequal && !d->kind->rate &&
                                                                  !d->kind->with_replacement && !d->kind->only_weights &&
                                                                  !d->nonresponse;
    return (tmi_psu_stratum){.psus = one ? d->sample : d->strata[h].sample,
                             .population = !whole ? 0
                                           : one  ? d->population
                                                  : d->strata[h].population};
}

static bool is_census(const tmi_psu_stratum *h) { return h->population > 0 && h->population <= h->psus; }

/* Adds PSUs of stratum h to the last stratum of the layout, or to a new one. */
static void put_stratum(tmi_psu_places *p, size_t h, const tmi_psu_stratum *own, bool joined)
{
    tmi_psu_layout *l = &p->layout;
    if (!joined || l->count == 0) l->strata[l->count++] = (tmi_psu_stratum){.population = own->population};
    tmi_psu_stratum *last = &l->strata[l->count - 1];
    p->into[h] = l->count - 1;
    p->first[h] = last->psus;
    last->psus += own->psus;
    if (last->psus > own->psus) last->population = 0;
}

/* All strata as one, where there is no room for two slots in each. */
static void join_all(tmi_psu_places *p)
{
    int64_t all = 0;
    for (size_t h = 0; h < p->strata; h++) {
        if (p->into[h] == SIZE_MAX) continue;
        p->into[h] = 0;
        p->first[h] = all;
        all += p->psus[h];
    }
    p->layout.strata[0] = (tmi_psu_stratum){.psus = all};
    p->layout.count = 1;
}

/* Where PSUs share slots anyway, this many show S to about 2 %, and more would only take an engine's time; or some for each
 * stratum. */
#define SHARED_SLOTS 1024
#define SHARED_PER_STRATUM 8

static void set_slots(tmi_psu_layout *l, int64_t most)
{
    int64_t each = 2, psus = 0;
    for (size_t h = 0; h < l->count; h++) psus += l->strata[h].psus;
    if (psus > most) {
        const int64_t some = SHARED_PER_STRATUM * (int64_t)l->count, shared = some > SHARED_SLOTS ? some : SHARED_SLOTS;
        most = most < shared ? most : shared;
    }
    for (int64_t step = TMI_MOST_SLOTS; step > 0; step /= 2) { /* the largest number per stratum for which there is room */
        int64_t sum = 0;
        for (size_t h = 0; h < l->count; h++) sum += l->strata[h].psus < each + step ? l->strata[h].psus : each + step;
        if (sum <= most) each += step;
    }
    l->slots = 0;
    for (size_t h = 0; h < l->count; h++) {
        l->strata[h].slots = l->strata[h].psus < each ? l->strata[h].psus : each;
        l->slots += l->strata[h].slots;
    }
}

static tamis_status place_hashed(tmi_psu_places *p, int64_t most, tamis_error *err)
{
    int64_t slots = HASHED_SLOTS;
    while (slots > 2 && slots > most) slots /= 2;
    p->hashed = true;
    p->layout.strata = tmi_alloc(1, sizeof *p->layout.strata);
    if (!p->layout.strata) return tmi_fail_memory(err);
    p->layout.strata[0] = (tmi_psu_stratum){.psus = slots, .slots = slots};
    p->layout.count = 1;
    p->layout.slots = slots;
    return TAMIS_OK;
}

tamis_status tmi_psu_places_make(tmi_psu_places *p, const tmi_sampling *s, int64_t most, tamis_error *err)
{
    const size_t strata = s->psus ? s->psus->strata : s->public_strata ? s->strata : 1;
    *p = (tmi_psu_places){.strata = strata};
    most = most < TMI_MOST_SLOTS ? most : TMI_MOST_SLOTS;
    if (s->scattered) return place_hashed(p, most, err);
    p->layout.strata = tmi_alloc(strata + 1, sizeof *p->layout.strata);
    p->psus = tmi_alloc(strata, sizeof *p->psus);
    p->into = tmi_alloc(strata, sizeof *p->into);
    p->first = tmi_alloc(strata, sizeof *p->first);
    if (!p->layout.strata || !p->psus || !p->into || !p->first) {
        tmi_psu_places_clear(p);
        return tmi_fail_memory(err);
    }
    for (size_t h = 0; h < strata; h++) {
        const tmi_psu_stratum own = stratum_of(s, h);
        p->psus[h] = own.psus;
        p->into[h] = SIZE_MAX;
        if (own.psus > 1 && !is_census(&own)) put_stratum(p, h, &own, false);
    }
    bool joined = false;
    size_t lonely = 0;
    for (size_t h = 0; h < strata; h++) {
        const tmi_psu_stratum own = stratum_of(s, h);
        lonely += own.psus == 1 && !is_census(&own);
    }
    for (size_t h = 0; h < strata; h++) { /* strata of one PSU: together, or with the last of the others */
        const tmi_psu_stratum own = stratum_of(s, h);
        if (own.psus != 1 || is_census(&own)) continue;
        put_stratum(p, h, &own, joined || lonely == 1);
        joined = true;
    }
    if (2 * (int64_t)p->layout.count > most) join_all(p);
    if (p->layout.count == 1 && p->layout.strata[0].psus < 2) p->layout.count = 0;
    set_slots(&p->layout, most);
    return TAMIS_OK;
}

/* Integers of one slot, and of the tables of the estimates; a table that two statistics need is there once. */
static double integers_of(const tmi_schedule *s, const tmi_marginal *marginal)
{
    double count = marginal->weighting == TMI_CONTRIBUTED                               ? (double)s->sampling.parts
                   : s->workload.separate_strata && !tmi_method_of(marginal->weighting) ? (double)s->sampling.strata
                                                                                        : 1;
    for (size_t i = 0; i < marginal->axis_count; i++) count *= (double)s->workload.axes[marginal->axes[i]].levels;
    return count;
}

tamis_status tmi_schedule_place_psus(tmi_schedule *s, tamis_error *err)
{
    double each = 0, rest = 0;
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_marginal *marginal = &s->measurements[k].marginal;
        bool again = false;
        for (size_t j = 0; j < k; j++) again = again || tmi_is_one_table(&s->measurements[j].marginal, marginal);
        const tmi_error_method *method = tmi_method_of(marginal->weighting);
        if (again) continue;
        *(method && method->slots ? &each : &rest) += integers_of(s, marginal);
    }
    tmi_psu_places_clear(&s->places);
    if (each == 0) return TAMIS_OK;
    const double most = floor(((double)TMI_MAX_CELLS - rest) / each) - 1; /* one more for PSUs that have none */
    return tmi_psu_places_make(&s->places, &s->sampling, most < 2 ? 2 : (int64_t)fmin(most, TMI_MOST_SLOTS), err);
}

/* ---- pairs of clusters ---- */

/* The first 64 bits of the hash of a cluster's stratum and label. */
static tamis_status hash_of(uint64_t *hash, const char *stratum, const char *label, tamis_error *err)
{
    const size_t first = strlen(stratum) + 1, second = strlen(label);
    unsigned char bytes[TMI_SHA256_BYTES];
    char *both = tmi_alloc(first + second, 1);
    *hash = 0;
    if (!both) return tmi_fail_memory(err);
    memcpy(both, stratum, first); /* the zero that ends it keeps both apart */
    memcpy(both + first, label, second);
    tmi_sha256(bytes, both, first + second);
    for (size_t k = 0; k < sizeof *hash; k++) *hash = *hash << 8 | bytes[k];
    tmi_free(both);
    return TAMIS_OK;
}

/* The clusters of one stratum of the layout. */
static tamis_status pair_stratum(tmi_schedule *s, size_t of, tmi_hashed_cluster *room, tamis_error *err)
{
    const tmi_psu_file *file = &s->psus;
    size_t psu = 0, count = 0;
    tamis_status status = TAMIS_OK;
    for (size_t h = 0; h < file->facts.strata; psu += (size_t)file->facts.clusters[h++]) {
        if (s->places.into[h] != of) continue;
        for (size_t k = psu; k < psu + (size_t)file->facts.clusters[h]; k++) {
            room[count].place = k;
            TMI_TRY(hash_of(&room[count++].hash, file->strata ? file->strata[h] : "", file->labels[file->label_of[k]], err));
        }
    }
    tmi_pair_clusters(s->places.signs, s->psus.facts.pairs, room, count);

done:
    return status;
}

/* Of a certificate, which does not have the labels: whether there are as many pairs as there can be. */
static tamis_status check_pairs(const tmi_schedule *s, tamis_error *err)
{
    const tmi_psu_facts *f = &s->psus.facts;
    int64_t wanted = 0, pairs = 0;
    for (size_t h = 0; h < s->places.layout.count; h++) wanted += s->places.layout.strata[h].psus / 2;
    for (size_t g = 0; g < TMI_CHANGE_GROUPS; g++) pairs += f->pairs[g];
    if (f->paired && pairs == wanted) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "psus.pairs: must say how many pairs of clusters each group has");
}

static tamis_status refuse_groups(const tmi_schedule *s, tamis_error *err)
{
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        if (!t->for_change) continue;
        if (!tmi_groups_measured(s, i))
            return tmi_fail(
                err, TAMIS_REFUSED,
                "%s:%d:%d: for_change: the sampling error of this number is not measured from totals of clusters here, so "
                "that there are none for changes either; nearest setting that works: without `for_change`",
                s->plan->name, t->line, t->place);
        if (s->places.layout.slots < tmi_psu_count(&s->psus.facts))
            return tmi_fail(
                err, TAMIS_REFUSED,
                "%s:%d:%d: for_change: there is no room for a total of each cluster beside the tables; nearest setting that "
                "works: fewer groups or values in the statistics, or without `for_change`",
                s->plan->name, t->line, t->place);
    }
    return TAMIS_OK;
}

tamis_status tmi_schedule_pair_psus(tmi_schedule *s, tamis_error *err)
{
    const size_t count = (size_t)tmi_psu_count(&s->psus.facts);
    tmi_hashed_cluster *room = NULL;
    tamis_status status;
    if (!tmi_measures_groups(s) && s->psus.facts.paired)
        return tmi_fail(err, TAMIS_INVALID, "psus.pairs: no statistic is for changes between waves");
    if (!tmi_measures_groups(s)) return TAMIS_OK;
    TMI_TRY(refuse_groups(s, err));
    if (!s->psus.labels) return check_pairs(s, err);
    room = tmi_alloc(count, sizeof *room);
    s->places.signs = tmi_alloc(count, sizeof *s->places.signs);
    if (!room || !s->places.signs) TMI_TRY(tmi_fail_memory(err));
    s->psus.facts.paired = true;
    for (size_t h = 0; h < s->places.layout.count; h++) TMI_TRY(pair_stratum(s, h, room, err));

done:
    tmi_free(room);
    return status;
}

/* ---- what is measured ---- */

/* Whether two statistics ask for the same. */
static bool are_same(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    bool same = !a->contrast && a->kind == b->kind && a->column == b->column && a->second == b->second && a->where == b->where &&
                a->by_count == b->by_count && (!a->method == !b->method) && (!a->method || strcmp(a->method, b->method) == 0);
    for (size_t k = 0; same && k < a->by_count; k++) same = a->by[k] == b->by[k];
    return same;
}

#define CUTS_MEASURED 5 /* of a distribution function: design effects of cuts near each other are alike */

/* The cut of a distribution function that is measured in the place of this one. */
static size_t measured_cut(const tamis_plan *plan, size_t i)
{
    for (size_t k = 0; k < plan->curve_count; k++) {
        const tmi_plan_curve *c = &plan->curves[k];
        if (i < c->first || i >= c->first + c->cut_count) continue;
        const size_t all = c->cut_count, some = all < CUTS_MEASURED ? all : CUTS_MEASURED;
        return c->first + (2 * ((i - c->first) * some / all) + 1) * all / (2 * some);
    }
    return i;
}

static int64_t overlap_of(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    int64_t overlap = t->model ? (int64_t)t->model->term_count : 1; /* a row is in all coefficients of its group */
    for (size_t k = 0; k < t->by_count; k++) {
        const size_t own = s->workload.maps[i].by[k];
        int64_t most = 1;
        if (own == SIZE_MAX) continue; /* a stratum that is measured apart: a row is in one */
        for (size_t c = 0; c < s->workload.classes[own].count; c++) {
            int64_t in = 0;
            for (size_t value = 0; value < t->by[k]->value_count; value++)
                in += tmi_class_has_value(&s->workload.classes[own], t->by[k], value, c);
            most = in > most ? in : most;
        }
        overlap *= most;
    }
    return overlap;
}

static int64_t rows_per_unit(const tmi_schedule *s)
{
    const int64_t rows = s->plan->privacy.rows_per_unit;
    return rows > 1 ? rows : 1;
}

/* While design variables are protected a record may move the weights, and so the totals, of all others. */
static bool all_move(const tmi_schedule *s) { return s->plan->privacy.design_protected && s->sampling.weights != TMI_ALIKE; }

/* A unit is in 2 K overlap numbers and slots at most, before and after, or in 2 K of each number where they move together; or
 * all numbers and slots move. */
static tmi_error_moves moves_with(const tmi_schedule *s, size_t i, bool together)
{
    const int64_t numbers = tmi_statistic_cells(&s->plan->statistics[i]), overlap = together ? 1 : overlap_of(s, i);
    return (tmi_error_moves){.overlap = overlap,
                             .touched = all_move(s) ? numbers : 2 * rows_per_unit(s) * (together ? numbers : overlap),
                             .single = numbers == 1 && !all_move(s),
                             .all = all_move(s)};
}

/* Whether rounding leaves at least half of the steps, with any slots that there may be. */
static bool leaves_room(const tmi_schedule *s, const tmi_error_moves *moves)
{
    const int64_t drawn = s->plan->design.sample,
                  slots = moves->all && drawn > 0 && drawn < TMI_MOST_SLOTS ? drawn : TMI_MOST_SLOTS;
    return tmi_method_of(tmi_errors_family(s))->spare(moves, slots) <= TMI_ERROR_STEPS / 2;
}

bool tmi_subtracts_explained(const tmi_schedule *s, size_t i)
{
    const tmi_error_moves moves = moves_with(s, i, true);
    return tmi_is_calibrated(s, i) && leaves_room(s, &moves);
}

int64_t tmi_errors_overlap(const tmi_schedule *s, size_t i) { return tmi_subtracts_explained(s, i) ? 1 : overlap_of(s, i); }

static tmi_error_moves moves_of(const tmi_schedule *s, size_t i) { return moves_with(s, i, tmi_subtracts_explained(s, i)); }

tmi_error_moves tmi_errors_moves(const tmi_schedule *s, const tmi_measurement *m)
{
    tmi_error_moves moves = moves_of(s, m->marginal.statistic);
    moves.moved = m->moved;
    moves.within = m->within;
    return moves;
}

/* PSUs that were left to chance; 2 means two or more. */
static int64_t varying_psus(const tmi_sampling *s)
{
    const size_t strata = s->psus ? s->psus->strata : s->public_strata ? s->strata : 1;
    int64_t psus = s->scattered ? 2 : 0;
    for (size_t h = 0; h < strata && psus < 2; h++) {
        const tmi_psu_stratum own = stratum_of(s, h);
        if (!is_census(&own)) psus += own.psus;
    }
    return psus;
}

double tmi_first_stage_correction(const tmi_sampling *s, size_t h)
{
    if (s->psus || s->scattered) return 1;
    const tmi_psu_stratum own = stratum_of(s, h);
    return own.population > 0 ? 1 - (double)own.psus / (double)own.population : 1;
}

bool tmi_psus_are_too_few(const tmi_schedule *s) { return s->sampling.clustered && varying_psus(&s->sampling) == 1; }

bool tmi_psus_are_all_drawn(const tmi_schedule *s) { return s->sampling.clustered && varying_psus(&s->sampling) == 0; }

bool tmi_has_lonely_unit(const tmi_sampling *s)
{
    for (size_t h = 0; s->variance_factor && h < s->strata; h++)
        if (isnan(s->variance_factor[h])) return true;
    return false;
}

tmi_weighting tmi_errors_family(const tmi_schedule *s) { return s->sampling.clustered ? TMI_STANDARD_ERRORS : TMI_UNIT_SQUARES; }

/* Whether a linearised variable is quadratic in the number of an axis. */
static bool is_quadratic(const tmi_schedule *s, size_t i, size_t axis)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_plan_model *m = t->model;
    const tmi_plan_column *number = s->workload.origins[axis].number;
    bool quadratic = number && (t->kind == TMI_CORRELATION || axis == s->workload.number_axis);
    for (size_t k = 0; m && k < m->on_count; k++) quadratic = quadratic || (m->on[k]->is_number && number == m->on[k]);
    return quadratic;
}

/* The axes of a table of the second stage; more than TMI_MAX_AXES: there is none. */
static size_t set_axes(size_t axes[TMI_MAX_AXES], size_t *numbers, const tmi_schedule *s, size_t i)
{
    const tmi_statistic_map *r = &s->workload.maps[i];
    const bool squares = tmi_method_of(tmi_errors_family(s))->power == 2;
    size_t count = 0;
    *numbers = 0;
    for (size_t a = 0; a < r->axis_count; a++) {
        const size_t times = squares && is_quadratic(s, i, r->axes[a]) ? 2 : 1;
        for (size_t k = 0; k < times; k++, count++)
            if (count < TMI_MAX_AXES) axes[count] = r->axes[a];
        *numbers += s->workload.origins[r->axes[a]].number ? times : 0;
    }
    return count;
}

/* Whether the second stage can have a table of a contrast: all numbers with their axes, and without ranges by stratum. */
static bool is_joint(const tmi_schedule *s, size_t i)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    size_t axes[TMI_MAX_AXES], numbers;
    bool joint = set_axes(axes, &numbers, s, i) <= TMI_MAX_AXES && numbers <= TMI_ERROR_NUMBERS && s->workload.maps[i].joint &&
                 !tmi_is_known(s, i) && !c->since; /* a change has the errors of its number */
    for (size_t k = 0; joint && k < c->compared_count; k++)
        joint = !tmi_has_ranges_by_stratum(&s->plan->statistics[c->compared[k].statistic]);
    return joint;
}

/* Whether nobody asked for a statistic and all that it serves is measured for itself: models, and contrasts with standard errors
 * of their own, which say enough about their numbers (inference/errors.c). */
static bool serves_measured_alone(const tmi_schedule *s, size_t i)
{
    const tamis_plan *plan = s->plan;
    if (plan->statistics[i].kind == TMI_PRODUCTS) return true;
    if (i < plan->compared_first) return false;
    for (size_t j = 0; j < plan->asked_count; j++) {
        const tmi_plan_statistic *t = &plan->statistics[j];
        for (size_t k = 0; t->contrast && !t->model && k < t->contrast->compared_count; k++)
            if (t->contrast->compared[k].statistic == i && !tmi_has_own_errors(s, j)) return false;
    }
    return true;
}

bool tmi_errors_need_strata(const tmi_schedule *s, size_t i)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    bool needed = tmi_is_in_strata(s, i);
    for (size_t k = 0; c && k < c->compared_count; k++) needed = needed || tmi_is_in_strata(s, c->compared[k].statistic);
    return needed;
}

bool tmi_has_own_errors(const tmi_schedule *s, size_t i) { return tmi_may_have_errors(s, i) && !serves_measured_alone(s, i); }

bool tmi_may_have_errors(const tmi_schedule *s, size_t i)
{
    const tmi_statistic_map *r = &s->workload.maps[i];
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    if ((t->contrast ? !is_joint(s, i) : r->known) || tmi_variance_source_for(s, i) != TMI_MEASURED_ERRORS ||
        tmi_has_ranges_by_stratum(t))
        return false;
    if (s->workload.separate_strata && tmi_errors_need_strata(s, i)) return false;
    const tmi_error_method *method = tmi_method_of(tmi_errors_family(s));
    if (method->slots ? varying_psus(&s->sampling) < 2 : tmi_has_lonely_unit(&s->sampling)) return false;
    const tmi_error_moves moves = moves_of(s, i);
    return leaves_room(s, &moves) && tmi_errors_from(s, i) == i;
}

bool tmi_measures_errors(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_has_own_errors(s, i)) return true;
    return false;
}

size_t tmi_errors_from(const tmi_schedule *s, size_t i)
{
    const size_t cut = measured_cut(s->plan, i);
    if (cut != i) return tmi_errors_from(s, cut);
    for (size_t j = 0; j < i; j++)
        if (measured_cut(s->plan, j) == j && are_same(&s->plan->statistics[i], &s->plan->statistics[j])) return j;
    return i;
}

const tmi_measurement *tmi_errors_measured(const tmi_schedule *s, size_t i)
{
    const size_t from = tmi_errors_from(s, i);
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_marginal *marginal = &s->measurements[k].marginal;
        if (tmi_method_of(marginal->weighting) && marginal->weighting != TMI_GROUP_TOTALS && marginal->statistic == from)
            return &s->measurements[k];
    }
    return NULL;
}

const tmi_measurement *tmi_groups_measured(const tmi_schedule *s, size_t i)
{
    for (size_t k = 0; k < s->measurement_count; k++) {
        const tmi_marginal *marginal = &s->measurements[k].marginal;
        if (marginal->weighting == TMI_GROUP_TOTALS && marginal->statistic == i) return &s->measurements[k];
    }
    return NULL;
}

bool tmi_measures_groups(const tmi_schedule *s)
{
    bool any = false;
    for (size_t i = 0; i < s->plan->asked_count; i++) any = any || s->plan->statistics[i].for_change;
    return any;
}

tmi_marginal tmi_errors_marginal(const tmi_schedule *s, size_t i)
{
    tmi_marginal marginal = {.weighting = tmi_errors_family(s), .domain = s->workload.maps[i].domain, .statistic = i};
    size_t numbers;
    marginal.axis_count = set_axes(marginal.axes, &numbers, s, i);
    return marginal;
}

/* ---- what is expected ---- */

tmi_effect_family tmi_effect_family_of(const tmi_plan_statistic *t)
{
    const tmi_statistic_kind kind = t->contrast ? t->contrast->compared[0].kind : t->kind;
    const bool sum = t->contrast ? kind == TMI_COUNT || kind == TMI_TOTAL : tmi_is_sum(t) || tmi_by_size(t);
    return sum ? TMI_EFFECTS_OF_TOTALS : TMI_EFFECTS_OF_MEANS;
}

/* Where nobody says how much clusters differ in size. */
#define CV_ASSUMED 1

/* Design effects of rows that are drawn one by one: large values with small weights have very small ones. */
#define UNITS_SMALLER 8

/* Where weights are alike, all that is left is how squares of residuals go with those of predictors: effects near 1. */
#define ALIKE_NARROWER 1.3

tmi_cluster_guess tmi_cluster_guess_of(const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    tmi_sizes z;
    tmi_sizes_make(&z, s);
    const bool alike = s->sampling.weights == TMI_ALIKE;
    if (!s->sampling.clustered)
        return (tmi_cluster_guess){.rows = 1,
                                   .within = 1,
                                   .narrower = alike ? ALIKE_NARROWER : 1,
                                   .smaller = alike ? 1 : UNITS_SMALLER};
    /* what is guessed of sizes says nothing of totals that are divided by probabilities */
    const bool guessed = (d->typical.cluster_sd || d->largest > 0) && !tmi_draws_clusters_unequally(d);
    tmi_cluster_guess g = {
        .rows = z.taken, .cv = guessed ? z.cluster_sd / z.cluster : CV_ASSUMED, .within = 1, .narrower = 1, .smaller = 1};
    if (z.rows > 1) g.within = z.rows + z.rows_sd * z.rows_sd / z.rows; /* all rows of a unit alike */
    const bool drawn = d->kind->clusters && !s->sampling.psus && !tmi_draws_clusters_unequally(d) &&
                       (d->kind->staged || d->nonresponse);
    g.drawn = drawn ? 1 : 0;
    for (size_t h = 0; drawn && h < d->stratum_count; h++) { /* of the stratum where it helps least */
        const double part = d->strata[h].population > 0 ? (double)d->strata[h].sample / (double)d->strata[h].population : 0;
        g.drawn = fmin(g.drawn, part);
    }
    return g;
}

/* Sizes that a verifier knows too: it has no frame, only facts about it. */
static tmi_sizes public_sizes(const tmi_schedule *s)
{
    tmi_sizes z;
    tmi_sizes_make(&z, s);
    if (tmi_frame_of(s) && s->plan->design.sample == 0) z.sample = NAN;
    return z;
}

double tmi_mean_weight(const tmi_schedule *s)
{
    const tmi_sampling *p = &s->sampling;
    const tmi_sizes z = public_sizes(s);
    const double mean = z.units / z.sample;
    if (isfinite(mean) && mean > 0) return mean;
    return (double)p->most * tmi_number_nearest(p->step) / 3;
}

/* By which factor bounded weights are expected to lower a variance: between none and what would be if every weight were the
 * largest; in finished surveys it is about the root of the bounds' ratio. */
static double expected_clamping(const tmi_schedule *s, size_t i)
{
    const tmi_sampling *p = &s->sampling;
    return !tmi_units_of(&s->workload, i) && p->weights == TMI_ROWS && p->most_clamped > 0
               ? sqrt((double)p->most / (double)p->most_clamped)
               : 1;
}

double tmi_combination_at(const tmi_combination *c, const tmi_workload *w, size_t cell, size_t level)
{
    size_t places[TMI_MAX_AXES] = {0};
    double sum = 0;
    for (size_t a = c->axis_count; a-- > 0;) {
        size_t *const rest = w->origins[c->axes[a]].number ? &level : &cell;
        places[a] = *rest % w->axes[c->axes[a]].levels;
        *rest /= w->axes[c->axes[a]].levels;
    }
    for (size_t t = 0; t < c->term_count; t++) {
        double product = c->scale[t];
        for (size_t a = 0; a < c->axis_count && product != 0; a++) product *= c->vectors[a][t][places[a]];
        sum += product;
    }
    return sum;
}

double tmi_combination_within(const tmi_combination *c, const tmi_workload *w, const tmi_marginal *marginal, size_t cell,
                              size_t level)
{
    size_t places[TMI_MAX_AXES] = {0}, own = c->axis_count;
    double sum = 0;
    for (size_t a = marginal->axis_count; a-- > 0;) { /* axes ascend in both */
        const size_t axis = marginal->axes[a], levels = w->axes[axis].levels;
        size_t *const rest = w->origins[axis].number ? &level : &cell;
        size_t place = *rest % levels;
        *rest /= levels;
        if (a > 0 && marginal->axes[a - 1] == axis) {
            const size_t other = *rest % levels;
            if ((place == 3) != (other == 3)) return 0;
            place = (place + other) / 2;
            *rest /= levels;
            a--;
        }
        if (own > 0 && c->axes[own - 1] == axis) places[--own] = place;
    }
    for (size_t t = 0; t < c->term_count; t++) {
        double product = c->scale[t];
        for (size_t a = 0; a < c->axis_count && product != 0; a++) product *= c->vectors[a][t][places[a]];
        sum += product;
    }
    return sum;
}

/* The largest weight that a row has, to the power of the method, and what comes after the noise; or what it adds to a total. */
static double largest_weight(const tmi_schedule *s, size_t i, int power)
{
    const tmi_sampling *p = &s->sampling;
    const tmi_domain *d = tmi_units_of(&s->workload, i);
    if (d) return (double)tmi_largest_addition(d) * d->grid.step;
    if (p->weights == TMI_ALIKE) return pow(tmi_number_nearest(p->weight[0]), power);
    const double step = tmi_number_nearest(p->step), most = (double)(p->weights == TMI_ROWS ? p->most_clamped : p->most) * step;
    if (power == 1) return most;
    double largest = 0;
    for (size_t h = 0; p->weights == TMI_STRATA && h < p->strata; h++) largest = fmax(largest, (double)p->variance_points[h]);
    return p->weights == TMI_STRATA ? largest * tmi_number_nearest(p->variance_step)
                                    : most * fmax(most - (double)tmi_weight_less(p) * step, 0) * p->correction;
}

/* The largest value of the linearised variable of a statistic's number, if all is as expected. */
static tamis_status largest_value(double *found, const tmi_schedule *s, size_t i, const tmi_typical_group *o, tamis_error *err)
{
    size_t cells = 1, levels = 1;
    double largest = 0;
    tmi_moment_sum sum;
    tamis_status status = tmi_moment_sum_make(&sum, &s->workload, tmi_errors_family(s), i, 0, 0, o->estimate, NULL, err);
    if (status != TAMIS_OK) return status;
    for (size_t a = 0; a < sum.combination.axis_count; a++) {
        const size_t axis = sum.combination.axes[a];
        *(s->workload.origins[axis].number ? &levels : &cells) *= s->workload.axes[axis].levels;
    }
    for (size_t k = 0; k < cells * levels; k++)
        largest = fmax(largest, fabs(tmi_combination_at(&sum.combination, &s->workload, k / levels, k % levels)));
    *found = largest;
    tmi_moment_sum_clear(&sum);
    return TAMIS_OK;
}

double tmi_expected_weight(const tmi_schedule *s, size_t i, size_t term)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    const double weight = tmi_number_nearest(c->terms[term].weight);
    tmi_typical_group o;
    if (s->plan->statistics[i].kind != TMI_CONTRAST_QUOTIENT) return weight;
    tmi_typical_group_make(&o, s, tmi_term_statistic(c, term));
    return weight / o.size;
}

tamis_status tmi_expected_sum(double *sum, const tmi_schedule *s, size_t i, const double *variances, tamis_error *err)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    *sum = 0;
    if (tmi_is_line(&s->plan->statistics[i])) {
        tmi_line_guess g;
        const tamis_status status = tmi_line_guess_make(&g, s, i, err);
        if (status != TAMIS_OK) return status;
        /* of a correlation; coefficients are taken in such units that they all have the same variance */
        const double variance = variances[c->compared[c->compared_count - 1].statistic];
        if (g.fit.determined) *sum = variance * g.inflation * g.rows * g.fit.residual;
        tmi_line_guess_clear(&g);
        return TAMIS_OK;
    }
    if (s->plan->statistics[i].model) { /* the mean over its coefficients */
        tmi_model_guess g;
        const tamis_status status = tmi_model_guess_make(&g, s, i, err);
        if (status != TAMIS_OK) return status;
        for (size_t k = 0; k < g.terms * g.cells; k++)
            *sum += g.inflation * g.weights[k] * g.weights[k] / (double)g.terms * variances[c->compared[0].statistic];
        tmi_model_guess_clear(&g);
        return TAMIS_OK;
    }
    for (size_t k = 0; k < c->term_count; k++)
        if (!s->workload.maps[tmi_term_statistic(c, k)].known)
            *sum += pow(tmi_expected_weight(s, i, k), 2) * variances[tmi_term_statistic(c, k)];
    return TAMIS_OK;
}

/* Of a model: the mean over its coefficients of the largest value in any cell. That of a mean is of a cell of the usual size. */
static tamis_status largest_of_model(double *largest, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const size_t of = s->plan->statistics[i].contrast->compared[0].statistic;
    tmi_typical_group o;
    tmi_model_guess g;
    double own = 0;
    tamis_status status = tmi_model_guess_make(&g, s, i, err);
    *largest = 0;
    if (status != TAMIS_OK) return status;
    tmi_typical_group_make(&o, s, of);
    status = largest_value(&own, s, of, &o, err);
    for (size_t j = 0; j < g.terms; j++) {
        double most = 0;
        for (size_t k = 0; k < g.cells; k++)
            most = fmax(most, fabs(g.weights[j * g.cells + k]) / (g.shares[k] * (double)g.cells));
        *largest += own * most / (double)g.terms;
    }
    tmi_model_guess_clear(&g);
    return status;
}

static tamis_status largest_of_line(double *largest, const tmi_schedule *s, size_t i, tamis_error *err)
{
    tmi_line_guess g;
    const tamis_status status = tmi_line_guess_make(&g, s, i, err);
    *largest = 0;
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; g.fit.determined && k < g.fit.terms; k++)
        *largest += tmi_line_fit_largest(&g.fit, k) / sqrt(g.fit.inverse[k * g.fit.terms + k]) / (double)g.fit.terms;
    tmi_line_guess_clear(&g);
    return TAMIS_OK;
}

/* Of a contrast: a row is in one of the groups that are compared, or in both statistics. */
static tamis_status largest_of_contrast(double *largest, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_plan_contrast *c = s->plan->statistics[i].contrast;
    if (tmi_is_line(&s->plan->statistics[i])) return largest_of_line(largest, s, i, err);
    if (s->plan->statistics[i].model) return largest_of_model(largest, s, i, err);
    *largest = 0;
    for (size_t k = 0; k < c->term_count; k++) {
        const size_t of = tmi_term_statistic(c, k);
        tmi_typical_group o;
        double own;
        if (s->workload.maps[of].known) continue;
        tmi_typical_group_make(&o, s, of);
        const tamis_status status = largest_value(&own, s, of, &o, err);
        if (status != TAMIS_OK) return status;
        own *= fabs(tmi_expected_weight(s, i, k));
        *largest = c->across ? fmax(*largest, own) : *largest + own;
    }
    return TAMIS_OK;
}

tamis_status tmi_expected_move(double *moved, const tmi_schedule *s, size_t i, const tmi_typical_group *o, tamis_error *err)
{
    const tmi_error_method *method = tmi_method_of(tmi_errors_family(s));
    double largest;
    const tamis_status status = s->plan->statistics[i].contrast ? largest_of_contrast(&largest, s, i, err)
                                                                : largest_value(&largest, s, i, o, err);
    if (status != TAMIS_OK) return status;
    const tmi_domain *d = tmi_units_of(&s->workload, i);
    const double gain = method->expected_gain(tmi_statistic_cells(&s->plan->statistics[i]) == 1 && !(d && d->grid.low < 0));
    *moved = gain * pow(largest, method->power) * largest_weight(s, i, method->power) *
             tmi_largest_rows_of_unit(&s->workload, tmi_errors_family(s), s->workload.maps[i].domain) *
             (double)tmi_errors_overlap(s, i) * pow(expected_clamping(s, i), method->power / 2.0);
    return TAMIS_OK;
}

tamis_status tmi_expected_group_move(double *moved, const tmi_schedule *s, size_t i, const tmi_typical_group *o, tamis_error *err)
{
    const bool single = tmi_statistic_cells(&s->plan->statistics[i]) == 1;
    const tamis_status status = tmi_expected_move(moved, s, i, o, err);
    *moved *= tmi_group_totals.expected_gain(single) / tmi_psu_errors.expected_gain(single);
    return status;
}

/* The standard deviation of the noise of what is measured of a number, if it is in one block; NaN: it is not measured;
 * below 0: no memory. */
static double error_noise(const tmi_schedule *s, size_t i, const tmi_typical_group *o)
{
    const tmi_measurement *m = tmi_errors_measured(s, i);
    double moved;
    if (!m || (tmi_method_of(m->marginal.weighting)->slots && s->places.layout.count == 0)) return NAN;
    if (tmi_expected_move(&moved, s, i, o, NULL) != TAMIS_OK) return -1;
    return moved / TMI_ERROR_STEPS * tmi_noise_sd(m->laws[0].scale, s->gaussian);
}

#define COMMON 0.5 /* of the sampling variance of two waves, if nothing is known */

double tmi_expected_wave_change(double apart, double noise, const double sds[2], bool gaussian, double confidence)
{
    const double root = gaussian ? 1 : sqrt(2);
    const tmi_group_change c = {.count = TMI_CHANGE_GROUPS,
                                .noise = {{sds[0] / root, gaussian}, {sds[1] / root, gaussian}},
                                .apart = apart,
                                .around = noise,
                                .confidence = confidence};
    return tmi_expected_change_variance(&c, (1 - COMMON) * apart);
}

tamis_status tmi_expected_group_sd(double *sd, const tmi_schedule *s, size_t i, tamis_error *err)
{
    const tmi_measurement *m = tmi_groups_measured(s, i);
    tmi_typical_group o;
    double moved;
    *sd = 0;
    if (!m) return TAMIS_OK;
    tmi_typical_group_make(&o, s, i);
    const tamis_status status = tmi_expected_group_move(&moved, s, i, &o, err);
    if (status == TAMIS_OK) *sd = moved / TMI_ERROR_STEPS * tmi_noise_sd(m->laws[0].scale, s->gaussian);
    return status;
}

double tmi_error_degrees(const tmi_schedule *s)
{
    if (tmi_method_of(tmi_errors_family(s))->slots) return fmax(tmi_layout_degrees(&s->places.layout), 1);
    const double sample = public_sizes(s).sample;
    return isnan(sample) ? INFINITY : fmax(sample - 1, 1);
}

tmi_measured_error tmi_error_of_sizes(const tmi_schedule *s, size_t i, double sampling, double simple, double noise, double sd,
                                      bool gaussian)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_error_method *method = tmi_method_of(tmi_errors_family(s));
    const tmi_cluster_guess g = tmi_cluster_guess_of(s);
    const tmi_effect_family family = tmi_effect_family_of(t);
    if (!(sampling > 0) || !(sd > 0)) return (tmi_measured_error){.scale = sd < 0 ? -1 : 0};
    const double in_blocks = tmi_error_noise_in_blocks(sd, sqrt(sampling + noise), method->most_blocks(&s->places.layout, g.cv));
    return (tmi_measured_error){.family = family,
                                .power = method->power,
                                .statistic = i,
                                .squares = simple > 0 ? simple : sampling / tmi_expected_design_effect(family, &g),
                                .noise = noise,
                                .measured = method->power == 2 ? sampling : sqrt(sampling),
                                .scale = gaussian ? in_blocks : in_blocks / sqrt(2),
                                .gaussian = gaussian,
                                .degrees = tmi_error_degrees(s),
                                .rows = INFINITY,
                                .confidence = tmi_number_nearest(t->confidence)};
}

tmi_measured_error tmi_expected_error(const tmi_schedule *s, size_t i, const tmi_typical_group *o, double noise)
{
    return tmi_error_of_sizes(s, i, o->sampling_sd * o->sampling_sd, o->simple, noise, error_noise(s, i, o), s->gaussian);
}
