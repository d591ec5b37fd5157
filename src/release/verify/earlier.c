#include "release/earlier.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "inference/waves.h"
#include "num/number.h"
#include "plan/json.h"
#include "plan/json_fields.h"
#include "release/verify/verification.h"
#include "schedule/standard_errors.h"

/* What is looked for in a folder, and where it goes. */
typedef struct search {
    const tmi_schedule *schedule;
    tmi_earlier_list *list;
    const char *named;
} search;

static const tmi_plan_statistic *change_of(const search *c, size_t k)
{
    return &c->schedule->plan->statistics[c->list->list[k].statistic];
}

static const tmi_plan_statistic *number_of(const search *c, size_t k)
{
    return &c->schedule->plan->statistics[tmi_term_statistic(change_of(c, k)->contrast, 0)];
}

static tamis_status refuse(const search *c, size_t k, const char *why, tamis_error *err)
{
    const tmi_plan_statistic *t = change_of(c, k);
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: since %s: %s", c->schedule->plan->name, t->line, t->place,
                    tmi_last_name(c->named), why);
}

/* ---- the same number ---- */

/* What a statistic is of, in the words of a plan; or what its columns are. */
static tamis_status tree_of(tmi_value **tree, const tamis_plan *plan, const tmi_plan_statistic *t, bool columns, tamis_error *err)
{
    tmi_json_tree made;
    tmi_plan_statistic plain = {
        .kind = t->kind, .column = t->column, .second = t->second, .where = t->where, .by_count = t->by_count};
    memcpy(plain.by, t->by, sizeof plain.by);
    tmi_json_tree_begin(&made, NULL);
    if (columns) {
        const tmi_plan_column *const of[] = {t->column, t->second, t->where};
        tmi_json_open(&made.out, '[');
        for (size_t i = 0; i < 3; i++)
            if (of[i]) tmi_put_column(&made.out, plan, of[i]);
        for (size_t i = 0; i < t->by_count; i++) tmi_put_column(&made.out, plan, t->by[i]);
        tmi_json_close(&made.out, ']');
    } else {
        tmi_json_open(&made.out, '{');
        tmi_put_asked(&made.out, &plain);
        tmi_json_close(&made.out, '}');
    }
    return tmi_json_tree_end(tree, &made, err);
}

static tamis_status are_same(bool *same, const tamis_plan *plan, const tmi_plan_statistic *t, const tamis_plan *other,
                             const tmi_plan_statistic *u, bool columns, tamis_error *err)
{
    tmi_value *a = NULL, *b = NULL;
    tamis_status status;
    *same = false;
    TMI_TRY(tree_of(&a, plan, t, columns, err));
    TMI_TRY(tree_of(&b, other, u, columns, err));
    *same = tmi_value_equal(a, b);

done:
    tmi_value_free(a);
    tmi_value_free(b);
    return status;
}

/* The statistic of the earlier plan that a change is measured from. */
static tamis_status find(size_t *found, const search *c, size_t k, const tamis_plan *then, tamis_error *err)
{
    const tmi_plan_statistic *t = number_of(c, k);
    bool asked = false, declared = false;
    *found = SIZE_MAX;
    for (size_t j = 0; j < then->statistic_count && *found == SIZE_MAX; j++) {
        const tmi_plan_statistic *u = &then->statistics[j];
        bool same;
        if (u->kind != t->kind || tmi_is_of_curve(then, j) || u->method || u->shrink || u->by_count != t->by_count) continue;
        tamis_status status = are_same(&same, c->schedule->plan, t, then, u, false, err);
        if (status != TAMIS_OK) return status;
        if (!same) continue;
        asked = true;
        status = are_same(&same, c->schedule->plan, t, then, u, true, err);
        if (status != TAMIS_OK) return status;
        if (!same) continue;
        declared = true;
        if (tmi_number_compare(t->confidence, u->confidence) == 0) *found = j;
    }
    if (*found != SIZE_MAX) return TAMIS_OK;
    return refuse(c, k,
                  !asked
                      ? "that release has no such number; ask for the same statistic, of the same column, with the same groups "
                        "in the same order and the same `where`, without `shrink` and `method`"
                  : !declared
                      ? "that release declares a column of it otherwise: ranges, steps, lists of values, cuts and missing "
                        "values must be the same in both waves"
                      : "that release gives its number with another confidence",
                  err);
}

/* ---- its numbers ---- */

static tamis_status take_numbers(tmi_earlier *e, const tmi_inference *inference, const tamis_release *r, size_t j,
                                 tamis_error *err)
{
    const size_t count = (size_t)tmi_statistic_cells(&r->schedule.plan->statistics[j]);
    tmi_result *list = tmi_alloc(count, sizeof *list), **published = tmi_results_first(&r->results);
    tamis_status status = TAMIS_OK;
    e->numbers = tmi_alloc(count, sizeof *e->numbers);
    if (!list || !published || !e->numbers) TMI_TRY(tmi_fail_memory(err));
    e->count = count;
    for (size_t g = 0; g < count; g++) {
        list[g] = TMI_NO_RESULT;
        list[g].statistic = j;
        list[g].cell = g;
    }
    TMI_TRY(tmi_read_statistic(list, inference, j, err)); /* as it was before cells were cut at 0 */
    for (size_t g = 0; g < count; g++) {
        tmi_result_bound(&list[g]);
        if (!isnan(published[j][g].estimate)) continue;
        list[g].estimate = list[g].sampling_se = list[g].lower = list[g].upper = TMI_NULL; /* withheld there, and here too */
    }
    TMI_TRY(tmi_wave_numbers_make(e->numbers, inference, list, j, err));

done:
    tmi_free(list);
    tmi_free(published);
    return status;
}

static tamis_status check(const search *c, size_t k, const tamis_plan *then, tamis_error *err)
{
    const tamis_plan *plan = c->schedule->plan;
    const char *wave = plan->wave.name ? plan->wave.name : "", *old = then->wave.name ? then->wave.name : "";
    if (strcmp(plan->survey, then->survey) == 0 && strcmp(wave, old) == 0)
        return refuse(c, k, "that release is of the same survey and wave: give the waves names, e.g. wave: 2026", err);
    if (strcmp(plan->privacy.unit, then->privacy.unit) != 0 || tmi_counts_rows(plan) != tmi_counts_rows(then))
        return refuse(c, k, "that release is of other units: `unit` must be the same, and rows counted in both or in none", err);
    const tmi_plan_contrast *change = change_of(c, k)->contrast;
    if (change->before && (!tmi_is_simple_sample(&then->design) || then->privacy.rows_per_unit > 1))
        return refuse(c, k, "overlap: that release is not of a simple random sample with a row per unit: leave `overlap` out",
                      err);
    if (change->before && change->overlap > then->design.sample)
        return refuse(c, k, "overlap: that sample has fewer units than both are said to have together", err);
    if (then->control_count > 0)
        return refuse(c, k,
                      "that release is calibrated, and a change is of numbers that are not: how calibration moved them is not "
                      "known here",
                      err);
    return TAMIS_OK;
}

/* Totals of groups of clusters, if both waves have them and nobody declares that the samples have nothing in common. */
static void take_pairs(tmi_earlier *e, const search *c, size_t k, const tmi_schedule *then, size_t j)
{
    const tmi_plan_contrast *change = change_of(c, k)->contrast;
    e->grouped = !change->independent && tmi_groups_measured(then, j) && number_of(c, k)->for_change;
    if (e->grouped) {
        memcpy(e->pairs, then->psus.facts.pairs, sizeof e->pairs);
        return;
    }
    for (size_t g = 0; g < e->count; g++) {
        tmi_free(e->numbers[g].groups);
        e->numbers[g].groups = NULL;
        e->numbers[g].group_scale = 0;
    }
}

static tamis_status see(void *context, const tamis_release *r, tamis_error *err)
{
    const search *c = context;
    const tamis_plan *then = r->schedule.plan;
    tmi_inference inference = {0};
    tamis_status status;
    TMI_TRY(tmi_inference_make(&inference, &r->schedule, r->noisy, err));
    TMI_TRY(tmi_inference_read_errors(&inference, err));
    for (size_t k = 0; k < c->list->count; k++) {
        tmi_earlier *e = &c->list->list[k];
        size_t j;
        if (strcmp(change_of(c, k)->contrast->since, c->named) != 0) continue;
        TMI_TRY(check(c, k, then, err));
        TMI_TRY(find(&j, c, k, then, err));
        TMI_TRY(tmi_copy_string(&e->survey, then->survey, err));
        TMI_TRY(tmi_copy_string(&e->wave, then->wave.name, err));
        memcpy(e->certificate, r->certificate->hash, sizeof e->certificate);
        TMI_TRY(tmi_number_copy(&e->epsilon, r->promised.epsilon, err));
        TMI_TRY(tmi_number_copy(&e->delta, r->promised.delta, err));
        TMI_TRY(take_numbers(e, &inference, r, j, err));
        take_pairs(e, c, k, &r->schedule, j);
        if (!change_of(c, k)->contrast->before) {
            for (size_t g = 0; g < e->count; g++) e->numbers[g].rows = 0;
            continue;
        }
        e->sample = then->design.sample;
        e->population = then->design.population;
    }

done:
    tmi_inference_clear(&inference);
    return status;
}

/* ---- what a certificate says of them ---- */

#define NEAR 1e-9 /* relative: computers differ in the last digits */

static bool is_near(double x, double y)
{
    return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= NEAR * fmax(fabs(x), fabs(y));
}

static bool are_near(const tmi_wave_number *x, const tmi_wave_number *y)
{
    bool near = is_near(x->estimate, y->estimate) && is_near(x->sampling_se, y->sampling_se) && is_near(x->lower, y->lower) &&
                is_near(x->upper, y->upper) && is_near(x->least, y->least) && is_near(x->most, y->most) &&
                is_near(x->bias, y->bias) && is_near(x->rows, y->rows) && x->df == y->df && x->part_count == y->part_count;
    for (size_t k = 0; near && k < x->part_count; k++)
        near = is_near(x->parts[k].factor, y->parts[k].factor) && is_near(x->parts[k].scale, y->parts[k].scale) &&
               x->parts[k].count == y->parts[k].count && x->parts[k].gaussian == y->parts[k].gaussian;
    near = near && !x->groups == !y->groups && is_near(x->group_scale, y->group_scale);
    for (size_t k = 0; near && x->groups && k < TMI_CHANGE_GROUPS; k++) near = is_near(x->groups[k], y->groups[k]);
    return near;
}

static bool is_same_text(const char *x, const char *y) { return x && y ? strcmp(x, y) == 0 : x == y; }

static bool is_same_number(const tamis_number *x, const tamis_number *y) { return x && y && tmi_number_compare(x, y) == 0; }

static bool is_of(const tmi_earlier *says, const tmi_earlier *is)
{
    bool same = strcmp(says->certificate, is->certificate) == 0 && is_same_text(says->survey, is->survey) &&
                is_same_text(says->wave, is->wave) && is_same_number(says->epsilon, is->epsilon) &&
                is_same_number(says->delta, is->delta) && says->count == is->count && says->sample == is->sample &&
                says->population == is->population && says->grouped == is->grouped &&
                memcmp(says->pairs, is->pairs, sizeof is->pairs) == 0;
    for (size_t g = 0; same && g < says->count; g++) same = are_near(&says->numbers[g], &is->numbers[g]);
    return same;
}

/* Whether the folder at a path has the certificate of this hash, by its own word. */
static tamis_status has_hash(bool *has, tmi_verification *v, const char *path, const char *hash, tamis_error *err)
{
    tmi_value *document = NULL;
    char *certificate = NULL;
    tamis_error reason = {0};
    tamis_status status = TAMIS_OK;
    tmi_text t;
    *has = false;
    tmi_text_init(&t);
    tmi_text_format(&t, "%s/%s", path, TMI_CERTIFICATE);
    TMI_TRY(tmi_text_take(&certificate, &t, err));
    if (!tmi_may_open(v, certificate)) goto done;
    status = tmi_certificate_read(&document, certificate, &reason);
    if (status == TAMIS_OK) *has = strcmp(tmi_value_field_text(document, "hash"), hash) == 0;
    else if (status == TAMIS_INVALID) status = TAMIS_OK;
    else status = tmi_fail_as(err, &reason);

done:
    tmi_value_free(document);
    tmi_free(certificate);
    return status;
}

/* The changes that are since one folder, which is beside the certificate's folder; another one of its name says nothing. Nor does
 * one inside: whoever made this folder made that one too. */
static tamis_status compare(tmi_verification *v, const char *named, tamis_error *err)
{
    const tmi_schedule *s = &v->schedule;
    tmi_earlier_list found = {0};
    char *path = NULL;
    bool has = false;
    tamis_error reason = {0};
    tamis_status status;
    TMI_TRY(tmi_earlier_make(&found, s->plan, err));
    size_t k = 0;
    while (strcmp(s->plan->statistics[found.list[k].statistic].contrast->since, named) != 0) k++;
    tmi_text t;
    tmi_text_init(&t);
    tmi_text_format(&t, "%s../%s", v->folder, tmi_last_name(named));
    TMI_TRY(tmi_text_take(&path, &t, err));
    TMI_TRY(has_hash(&has, v, path, v->earlier.list[k].certificate, err));
    if (!has) {
        if (v->earlier_found == TMI_MATCHES) v->earlier_found = TMI_MISSING;
        goto done;
    }
    status = tmi_earlier_read_folder(&found, s, named, path, &reason);
    if (status == TAMIS_SYSTEM) TMI_TRY(tmi_fail_as(err, &reason));
    bool same = status == TAMIS_OK;
    for (size_t i = 0; i < found.count && same; i++)
        if (strcmp(s->plan->statistics[found.list[i].statistic].contrast->since, named) == 0)
            same = is_of(&v->earlier.list[i], &found.list[i]);
    if (!same) {
        v->earlier_found = TMI_DIFFERS;
        tmi_check_note(&v->check, "earlier",
                       status == TAMIS_OK ? "the numbers are not those of the earlier release" : reason.message);
    }
    status = v->check.status;

done:
    tmi_free(path);
    tmi_earlier_clear(&found);
    return status;
}

tamis_status tmi_verify_earlier(tmi_verification *v, tamis_error *err)
{
    const tamis_plan *plan = v->schedule.plan;
    tamis_status status = TAMIS_OK;
    v->earlier_found = TMI_MISSING;
    if (v->earlier.count == 0 || v->visit) return TAMIS_OK;
    v->earlier_found = TMI_MATCHES;
    for (size_t k = 0; k < v->earlier.count && status == TAMIS_OK; k++) {
        const char *since = plan->statistics[v->earlier.list[k].statistic].contrast->since;
        bool seen = false;
        for (size_t i = 0; i < k; i++)
            seen = seen || strcmp(plan->statistics[v->earlier.list[i].statistic].contrast->since, since) == 0;
        if (!seen) status = compare(v, since, err);
    }
    return status;
}

/* ---- folders ---- */

tamis_status tmi_earlier_make(tmi_earlier_list *e, const tamis_plan *plan, tamis_error *err)
{
    const size_t count = tmi_count_changes(plan);
    *e = (tmi_earlier_list){0};
    if (count == 0) return TAMIS_OK;
    e->list = tmi_alloc(count, sizeof *e->list);
    if (!e->list) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].kind == TMI_CONTRAST_CHANGE) e->list[e->count++].statistic = i;
    return TAMIS_OK;
}

tamis_status tmi_earlier_read_folder(tmi_earlier_list *list, const tmi_schedule *s, const char *named, const char *path,
                                     tamis_error *err)
{
    search c = {.schedule = s, .list = list, .named = named};
    const tmi_visit visit = {see, &c};
    struct stat facts;
    int ok = 0;
    size_t k = 0;
    while (strcmp(change_of(&c, k)->contrast->since, named) != 0) k++;
    tamis_error reason = {0};
    const tmi_plan_statistic *t = change_of(&c, k);
    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: since: there is no folder %.600s: expected the folder of a release",
                        s->plan->name, t->line, t->place, named);
    const tamis_status status = tmi_verify_visited(&ok, path, &visit, &reason);
    if (status == TAMIS_INVALID)
        return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: since: expected the folder of a release: %.600s", s->plan->name, t->line,
                        t->place, reason.message);
    if (status != TAMIS_OK) return tmi_fail_as(err, &reason);
    if (ok) return TAMIS_OK;
    return refuse(&c, k, "the folder does not verify, so that nothing is known of its numbers; tamis verify says what is wrong",
                  err);
}

/* A certificate keeps the last part of a path alone, so that it shows nothing of the machine: by that name each change must find
 * its own release. */
static tamis_status check_names(const tmi_earlier_list *list, const tmi_schedule *s, tamis_error *err)
{
    const search c = {.schedule = s, .list = (tmi_earlier_list *)list};
    for (size_t k = 1; k < list->count; k++)
        for (size_t i = 0; i < k; i++) {
            const tmi_plan_statistic *t = change_of(&c, k);
            const char *name = tmi_last_name(t->contrast->since);
            if (strcmp(name, tmi_last_name(change_of(&c, i)->contrast->since)) != 0 ||
                strcmp(list->list[k].certificate, list->list[i].certificate) == 0)
                continue;
            return tmi_fail(
                err, TAMIS_REFUSED,
                "%s:%d:%d: since: two different releases are in folders named %.200s, and a certificate keeps that name "
                "alone: rename one of the folders",
                s->plan->name, t->line, t->place, name);
        }
    return TAMIS_OK;
}

tamis_status tmi_earlier_read(tmi_earlier_list *list, const tmi_schedule *s, tamis_error *err)
{
    tamis_status status = tmi_earlier_make(list, s->plan, err);
    if (status != TAMIS_OK) return status;
    for (size_t k = 0; k < list->count; k++) {
        const search c = {.schedule = s, .list = list};
        const tmi_plan_statistic *t = change_of(&c, k);
        if (s->workload.maps[tmi_term_statistic(t->contrast, 0)].known)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID,
                             "%s:%d:%d: change: this number is public, and nothing is measured for it: subtract it",
                             s->plan->name, t->line, t->place));
        if (!list->list[k].numbers) TMI_TRY(tmi_earlier_read_folder(list, s, t->contrast->since, t->contrast->since, err));
    }
    TMI_TRY(check_names(list, s, err));

done:
    if (status != TAMIS_OK) tmi_earlier_clear(list);
    return status;
}
