#include "measure/workload.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "measure/classes.h"
#include "measure/contributions.h"
#include "measure/unit_contributions.h"
#include "plan/json.h"

void tmi_workload_clear(tmi_workload *w)
{
    for (size_t i = 0; i < w->classes_count; i++) tmi_classes_clear(&w->classes[i]);
    for (size_t i = 0; w->maps && i < w->plan->statistic_count; i++) {
        tmi_free(w->maps[i].x.present);
        tmi_free(w->maps[i].x.one);
        tmi_free(w->maps[i].y.present);
        tmi_free(w->maps[i].y.one);
        for (size_t k = 0; k < TMI_MAX_NUMBERS - 2; k++) {
            tmi_free(w->maps[i].also[k].present);
            tmi_free(w->maps[i].also[k].one);
        }
    }
    tmi_free(w->classes);
    tmi_free(w->axes);
    tmi_free(w->origins);
    tmi_free(w->domains);
    tmi_free(w->order);
    tmi_free(w->maps);
    *w = (tmi_workload){0};
}

/* ---- what is asked ---- */

/* Calls `ask` with every question about classes that a statistic has; `whole` are conditions taken together. */
typedef bool tmi_ask(void *context, size_t statistic, const tmi_question *question, bool of_where);

bool tmi_is_separate(const tmi_workload *w, const tmi_plan_column *category)
{
    return w->separate_strata && tmi_is_of_strata(&w->plan->design, category);
}

static bool ask_indicator(const tmi_workload *w, const tmi_plan_column *indicator, bool of_where, bool whole, size_t i,
                          tmi_ask *ask, void *context)
{
    if (whole) {
        const tmi_question q = tmi_question_whole(indicator, of_where);
        return ask(context, i, &q, of_where);
    }
    for (size_t k = 0; k < indicator->condition_count; k++) {
        const tmi_question q = tmi_question_if(&indicator->conditions[k]);
        if (of_where && tmi_is_separate(w, indicator->conditions[k].column)) continue;
        if (!ask(context, i, &q, of_where)) return false;
    }
    return true;
}

typedef struct other_uses {
    const tmi_workload *w;
    const tmi_plan_column *where, *column;
    bool any;
} other_uses;

static bool is_other_use(void *context, size_t statistic, const tmi_question *q, bool of_where)
{
    other_uses *o = context;
    const bool own = o->w->plan->statistics[statistic].where == o->where && of_where;
    if (q->column == o->column && !own) o->any = true;
    return true;
}

/* All of a statistic's questions, its `where` condition by condition or as a whole, or not at all (`where` NULL). */
static bool ask_all(const tmi_workload *w, size_t i, const tmi_plan_column *where, bool where_is_whole, tmi_ask *ask,
                    void *context)
{
    const tmi_plan_statistic *t = &w->plan->statistics[i];
    bool fine = true;
    for (size_t k = 0; fine && k < t->by_count; k++) {
        if (tmi_is_separate(w, t->by[k])) continue;
        const tmi_question q = tmi_question_by(t->by[k]);
        fine = ask(context, i, &q, false);
    }
    const tmi_plan_column *const variables[] = {t->column, t->second, t->also[0], t->also[1]};
    for (size_t k = 0; fine && k < sizeof variables / sizeof *variables; k++)
        if (variables[k] && variables[k]->conditions)
            fine = ask_indicator(w, variables[k], false, variables[k]->condition_count > 1, i, ask, context);
    if (fine && where) fine = ask_indicator(w, where, true, where_is_whole, i, ask, context);
    return fine;
}

/* Whether a column of a `where` serves anything beside it. */
static bool serves_others(const tmi_workload *w, const tmi_plan_column *where, const tmi_plan_column *column)
{
    other_uses o = {.w = w, .where = where, .column = column};
    for (size_t i = 0; i < w->plan->statistic_count && !o.any; i++) {
        if (w->maps[i].known) continue;
        const tmi_plan_column *own = w->plan->statistics[i].where;
        (void)ask_all(w, i, own, false, is_other_use, &o);
    }
    for (size_t i = 0; i < w->control_count; i++) o.any = o.any || tmi_question_by(w->controls[i]).column == column;
    return o.any;
}

/* How many conditions of a `where` are about columns of tables, not about strata that have tables of their own; and how many of
 * these columns serve something else. */
typedef struct condition_counts {
    size_t all, serving;
} condition_counts;

static condition_counts count_conditions(const tmi_workload *w, const tmi_plan_column *where)
{
    condition_counts n = {0};
    for (size_t k = 0; where && k < where->condition_count; k++) {
        const tmi_plan_condition *c = &where->conditions[k];
        if (tmi_is_separate(w, c->column)) continue;
        n.all++;
        n.serving += serves_others(w, where, tmi_question_if(c).column);
    }
    return n;
}

/* ---- order ---- */

typedef struct asked {
    char *text;
    size_t statistic;
} asked;

static int by_text(const void *x, const void *y) { return strcmp(((const asked *)x)->text, ((const asked *)y)->text); }

static tamis_status set_order(tmi_workload *w, tamis_error *err)
{
    const size_t count = w->plan->statistic_count;
    asked *list = tmi_alloc(count, sizeof *list);
    tamis_status status = TAMIS_OK;
    w->order = tmi_alloc(count, sizeof *w->order);
    if (!list || !w->order) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < count; i++) {
        tmi_text text;
        tmi_json_out out;
        tmi_text_init(&text);
        tmi_json_out_init(&out, &text, false);
        tmi_json_open(&out, '{');
        tmi_put_asked(&out, &w->plan->statistics[i]);
        tmi_json_close(&out, '}');
        list[i].statistic = i;
        TMI_TRY(tmi_text_take(&list[i].text, &text, err));
    }
    qsort(list, count, sizeof *list, by_text);
    for (size_t i = 0; i < count; i++) w->order[i] = list[i].statistic;

done:
    for (size_t i = 0; list && i < count; i++) tmi_free(list[i].text);
    tmi_free(list);
    return status;
}

/* ---- domains ---- */

static tamis_status take_domain(size_t *place, tmi_workload *w, const tmi_domain *domain, tamis_error *err)
{
    for (*place = 0; *place < w->domain_count; ++*place)
        if (w->domains[*place].where == domain->where && w->domains[*place].number == domain->number) return TAMIS_OK;
    if (!tmi_grow(&w->domains, &w->domain_room, w->domain_count, sizeof *w->domains)) return tmi_fail_memory(err);
    tmi_domain *made = &w->domains[w->domain_count++];
    *made = *domain;
    return made->number ? tmi_unit_contributions_make(made, w->sampling, err) : TAMIS_OK;
}

static tamis_status set_worlds(tmi_workload *w, tamis_error *err)
{
    tamis_status status = take_domain(&(size_t){0}, w, &(tmi_domain){0}, err);
    for (size_t k = 0; k < w->plan->statistic_count && status == TAMIS_OK; k++) {
        const size_t i = w->order[k];
        const tmi_plan_statistic *t = &w->plan->statistics[i];
        const tmi_plan_column *where = t->where;
        tmi_statistic_map *r = &w->maps[i];
        tmi_domain domain = {.number = tmi_is_bounded_by_unit(t) ? t->column : NULL};
        r->where = where;
        if (r->known) continue;
        /* conditions are taken one by one if all of their columns serve something else, or if there is only one; if none of them
         * does, there is a domain of its own */
        const condition_counts n = count_conditions(w, where);
        r->whole = n.all > 1 && n.serving < n.all;
        if (n.all > 0 && n.serving == 0 && w->where_domains) {
            domain.where = where;
            r->where = NULL;
        }
        status = take_domain(&r->domain, w, &domain, err);
    }
    return status;
}

/* ---- classes ---- */

/* Whether every row has a value of the column: declared, or fixed by the design. */
static bool is_complete(const tmi_workload *w, const tmi_plan_column *c)
{
    for (size_t k = 0; k < c->condition_count; k++)
        if (!is_complete(w, c->conditions[k].column)) return false;
    if (c->conditions || c->missing == TMI_NEVER) return true;
    if (c == w->plan->design.by) return w->sampling->rows_fixed && !w->sampling->of_units;
    return c->is_number && c->missing == TMI_AS_VALUE && !c->by_stratum;
}

typedef struct dividing {
    tmi_workload *w;
    size_t size; /* questions of this size are taken now; 0: the next smaller size is looked for */
    size_t next;
    bool no_memory;
} dividing;

/* Divides classes of its column that do not become too many, or begins new ones. */
static bool take_question(dividing *d, const tmi_question *q)
{
    tmi_workload *w = d->w;
    const size_t size = tmi_question_size(q);
    size_t count;
    for (size_t i = 0; i < w->classes_count; i++) {
        tmi_classes *c = &w->classes[i];
        if (tmi_classes_answer(c, q)) return true;
        if (c->column != q->column || c->is_where != q->is_where) continue;
        if (!tmi_classes_divide(&count, c, q, true)) return false;
        w->divided = true;
        if (!w->shared_classes || count > 2 * (c->largest > size ? c->largest : size)) continue;
        return tmi_classes_divide(&count, c, q, false);
    }
    if (!tmi_grow(&w->classes, &w->classes_room, w->classes_count, sizeof *w->classes)) return false;
    tmi_classes *c = &w->classes[w->classes_count++];
    const bool rest = !(q->is_where || is_complete(w, q->column));
    if (!tmi_classes_make(c, q, rest)) return false;
    c->largest = size;
    return tmi_classes_divide(&count, c, q, false);
}

/* The largest questions first, so that smaller ones find their classes. */
static bool divide(void *context, size_t statistic, const tmi_question *q, bool of_where)
{
    (void)statistic;
    (void)of_where;
    dividing *d = context;
    const size_t size = tmi_question_size(q);
    if (size < d->size && size > d->next) d->next = size;
    if (size == d->size && !take_question(d, q)) d->no_memory = true;
    return !d->no_memory;
}

static tamis_status set_classes(tmi_workload *w, tamis_error *err)
{
    dividing d = {.w = w, .size = SIZE_MAX};
    while (d.size > 0) {
        d.next = 0;
        for (size_t i = 0; i < w->control_count; i++) {
            if (tmi_is_separate(w, w->controls[i])) continue;
            const tmi_question q = tmi_question_by(w->controls[i]);
            if (!divide(&d, 0, &q, false)) return tmi_fail_memory(err);
        }
        for (size_t i = 0; i < w->plan->curve_count; i++) { /* its shares together, so that one table has all of its bins */
            const tmi_question q = tmi_question_curve(&w->plan->curves[i]);
            if (!divide(&d, 0, &q, false)) return tmi_fail_memory(err);
        }
        for (size_t k = 0; k < w->plan->statistic_count; k++) {
            const size_t i = w->order[k];
            const tmi_plan_column *where = w->maps[i].where;
            if (w->maps[i].known) continue;
            if (!ask_all(w, i, where, w->maps[i].whole, divide, &d)) return tmi_fail_memory(err);
        }
        d.size = d.next;
    }
    return TAMIS_OK;
}

size_t tmi_workload_find(const tmi_workload *w, const tmi_question *q)
{
    size_t i = 0;
    while (i < w->classes_count && !tmi_classes_answer(&w->classes[i], q)) i++;
    return i;
}

/* ---- axes ---- */

static tamis_status add_axis(tmi_workload *w, tmi_axis axis, const tmi_origin *origin, tamis_error *err)
{
    if (!tmi_grow(&w->axes, &w->axis_room, w->axis_count, sizeof *w->axes) ||
        !tmi_grow(&w->origins, &w->origin_room, w->axis_count, sizeof *w->origins))
        return tmi_fail_memory(err);
    w->axes[w->axis_count] = axis;
    w->origins[w->axis_count++] = *origin;
    return TAMIS_OK;
}

static bool counts_are_public(const tmi_workload *w, const tmi_classes *c)
{
    return !w->separate_strata && w->sampling->public_strata && c->column == w->plan->design.by;
}

/* Two classes are the levels of a number that is 0 or 1. */
static tamis_status add_classes(tmi_workload *w, size_t number, tamis_error *err)
{
    tmi_classes *c = &w->classes[number];
    const size_t levels = tmi_classes_levels(c);
    if (levels == 1) return TAMIS_OK;
    const bool two = c->count == 2 || levels == 2;
    const tmi_axis axis = {.levels = levels,
                           .degree = two ? 1 : 0,
                           .missing = two && levels == 3,
                           .counted = counts_are_public(w, c)};
    c->axis = w->axis_count;
    return add_axis(w, axis, &(tmi_origin){.classes = {number}, .classes_count = 1}, err);
}

/* All columns that results are calibrated to are one axis, but for strata that are measured apart: the table of a stratum has
 * no cells of other strata. */
static tamis_status add_controls(tmi_workload *w, tamis_error *err)
{
    tmi_origin origin = {0};
    size_t levels = 1;
    w->control_axis = SIZE_MAX;
    for (size_t i = 0; i < w->control_count; i++) {
        if (tmi_is_separate(w, w->controls[i])) continue;
        const tmi_question q = tmi_question_by(w->controls[i]);
        const size_t number = tmi_workload_find(w, &q);
        bool again = false;
        for (size_t k = 0; k < origin.classes_count; k++) again = again || origin.classes[k] == number;
        if (again) continue;
        origin.classes[origin.classes_count++] = number;
        levels *= tmi_classes_levels(&w->classes[number]);
    }
    if (origin.classes_count == 0 || levels == 1) return TAMIS_OK;
    if (origin.classes_count == 1) {
        w->control_axis = w->axis_count;
        return add_classes(w, origin.classes[0], err);
    }
    for (size_t k = 0; k < origin.classes_count; k++) w->classes[origin.classes[k]].axis = w->axis_count;
    w->control_axis = w->axis_count;
    return add_axis(w, (tmi_axis){.levels = levels}, &origin, err);
}

bool tmi_is_sum(const tmi_plan_statistic *t)
{
    return t->kind == TMI_COUNT || t->kind == TMI_TABLE || t->kind == TMI_HISTOGRAM || t->kind == TMI_TOTAL || tmi_by_size(t);
}

/* Whether totals are all that is asked about a number. */
static bool is_only_added_up(const tmi_workload *w, const tmi_plan_column *x)
{
    for (size_t i = 0; i < w->plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &w->plan->statistics[i];
        if (!w->maps[i].known && (t->column == x || t->second == x) && !tmi_is_sum(t)) return false;
        if (t->contrast && t->contrast->before == x) return false; /* without a value nobody was in the earlier sample */
    }
    return true;
}

static bool contains_zero(const tmi_plan_column *x) { return !x->by_stratum && x->grid.low <= 0 && x->grid.high >= 0; }

static tamis_status take_number(size_t *axis, tmi_workload *w, const tmi_plan_column *x, bool contributed, tamis_error *err)
{
    for (*axis = 0; *axis < w->axis_count; ++*axis)
        if (w->origins[*axis].number == x && w->origins[*axis].contributed == contributed) return TAMIS_OK;
    if (contributed) {
        tmi_origin origin = {.number = x, .zero = true, .contributed = true};
        tamis_status status = tmi_contribution_grids(&origin, w->sampling, x, err);
        return status == TAMIS_OK ? add_axis(w, (tmi_axis){.levels = 3, .degree = 2}, &origin, err) : status;
    }
    bool squares = !w->plan->design.kind->takes_all || x == w->control_number;
    for (size_t i = 0; i < w->plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &w->plan->statistics[i];
        squares = squares || (t->kind == TMI_VARIANCE && t->column == x) ||
                  (t->kind == TMI_PRODUCTS && (t->column == x || t->second == x));
    }
    const bool complete = is_complete(w, x), zero = !complete && contains_zero(x) && is_only_added_up(w, x);
    const size_t levels = squares ? 3 : 2;
    const bool missing = !complete && !zero;
    return add_axis(w, (tmi_axis){.levels = levels + missing, .degree = squares ? 2 : 1, .missing = missing},
                    &(tmi_origin){.number = x, .zero = zero}, err);
}

/* The number that results are calibrated to is an axis of every table, with its squares: the regression needs them. */
static tamis_status add_control_number(tmi_workload *w, tamis_error *err)
{
    if (!w->control_number) return TAMIS_OK;
    const tamis_status status = take_number(&w->number_axis, w, w->control_number, false, err);
    if (status != TAMIS_OK) return status;
    const tmi_grid grid = tmi_axis_grid(w, w->number_axis, 0);
    const double from = grid.step * (double)grid.low, to = grid.step * (double)grid.high;
    w->control_scale = fmax(fabs(from), fabs(to));
    const double u = from / w->control_scale, v = to / w->control_scale;
    const double powers[TMI_CONTROL_POWERS][TMI_LEVELS] = {{1, 1, 1, 1}, {u, (u + v) / 2, v, 0}, {u * u, u * v, v * v, 0}};
    memcpy(w->control_powers, powers, sizeof powers);
    return TAMIS_OK;
}

/* ---- readings ---- */

static tamis_status take_axis(tmi_workload *w, size_t i, size_t axis, tamis_error *err)
{
    tmi_statistic_map *r = &w->maps[i];
    size_t at = 0;
    if (axis == SIZE_MAX) return TAMIS_OK;
    while (at < r->axis_count && r->axes[at] < axis) at++;
    if (at < r->axis_count && r->axes[at] == axis) return TAMIS_OK;
    if (r->axis_count == TMI_MAX_AXES)
        return tmi_fail(err, TAMIS_INVALID, "%s:%d:%d: a statistic must have at most %d columns, those of `calibrate` included",
                        w->plan->name, w->plan->statistics[i].line, w->plan->statistics[i].place, TMI_MAX_AXES);
    memmove(r->axes + at + 1, r->axes + at, (r->axis_count - at) * sizeof *r->axes);
    r->axes[at] = axis;
    r->axis_count++;
    return TAMIS_OK;
}

/* Classes in which an indicator is 1 or 0; those of several columns are its own. */
static tamis_status set_indicator(tmi_variable *v, tmi_workload *w, const tmi_plan_column *x, tamis_error *err)
{
    const tmi_question q = x->condition_count > 1 ? tmi_question_whole(x, false) : tmi_question_if(&x->conditions[0]);
    v->classes = tmi_workload_find(w, &q);
    const tmi_classes *c = &w->classes[v->classes];
    v->axis = c->axis;
    v->one = tmi_alloc(tmi_classes_levels(c), sizeof *v->one);
    v->present = tmi_alloc(tmi_classes_levels(c), sizeof *v->present);
    if (!v->one || !v->present) return tmi_fail_memory(err);
    if (x->condition_count > 1) v->one[1] = 1;
    else tmi_condition_vector(v->one, c, &x->conditions[0]);
    for (size_t k = 0; k < c->count; k++) v->present[k] = 1;
    return TAMIS_OK;
}

static tamis_status set_variable(tmi_variable *v, tmi_workload *w, size_t i, const tmi_plan_column *x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *v = (tmi_variable){.column = x, .axis = SIZE_MAX, .classes = SIZE_MAX};
    if (!x) return TAMIS_OK;
    if (w->domains[w->maps[i].domain].number) return TAMIS_OK; /* which is x: rows weigh what they add */
    if (x->conditions) TMI_TRY(set_indicator(v, w, x, err));
    else TMI_TRY(take_number(&v->axis, w, x, w->maps[i].contributed, err));
    TMI_TRY(take_axis(w, i, v->axis, err));

done:
    return status;
}

static tamis_status set_reading(tmi_workload *w, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &w->plan->statistics[i];
    tmi_statistic_map *r = &w->maps[i];
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < t->by_count; k++) {
        const tmi_question q = tmi_question_by(t->by[k]);
        r->by[k] = tmi_is_separate(w, t->by[k]) ? SIZE_MAX : tmi_workload_find(w, &q);
        if (r->by[k] != SIZE_MAX) TMI_TRY(take_axis(w, i, w->classes[r->by[k]].axis, err));
    }
    if (r->where && r->whole) {
        const tmi_question q = tmi_question_whole(r->where, true);
        TMI_TRY(take_axis(w, i, w->classes[tmi_workload_find(w, &q)].axis, err));
    }
    for (size_t k = 0; r->where && !r->whole && k < r->where->condition_count; k++) {
        const tmi_question q = tmi_question_if(&r->where->conditions[k]);
        if (tmi_is_separate(w, r->where->conditions[k].column)) continue;
        TMI_TRY(take_axis(w, i, w->classes[tmi_workload_find(w, &q)].axis, err));
    }
    if (w->control_count > 0) TMI_TRY(take_axis(w, i, w->control_axis, err));
    TMI_TRY(take_axis(w, i, w->number_axis, err));
    TMI_TRY(set_variable(&r->x, w, i, t->column, err));
    TMI_TRY(set_variable(&r->y, w, i, t->second, err));
    for (size_t k = 0; k < t->also_count; k++)
        if (t->also[k]->conditions || !is_complete(w, t->also[k])) TMI_TRY(set_variable(&r->also[k], w, i, t->also[k], err));

done:
    return status;
}

/* ---- contrasts ---- */

/* Two statistics of the same rows, of one column each, which are not about the same one; or a mean and its earlier values. */
static tamis_status set_products(tmi_workload *w, size_t i, tamis_error *err)
{
    const tmi_plan_contrast *c = w->plan->statistics[i].contrast;
    const tmi_plan_compared *x = &c->compared[0], *y = &c->compared[1];
    if (c->before) {
        const tamis_status status = set_variable(&w->maps[i].x, w, i, x->column, err);
        return status == TAMIS_OK ? set_variable(&w->maps[i].y, w, i, c->before, err) : status;
    }
    if (c->compared_count < 2 || !x->column || !y->column || x->second || y->second || x->column == y->column ||
        tmi_relation_of(x->column, y->column) != TMI_UNRELATED)
        return TAMIS_OK;
    const tamis_status status = set_variable(&w->maps[i].x, w, i, x->column, err);
    return status == TAMIS_OK ? set_variable(&w->maps[i].y, w, i, y->column, err) : status;
}

/* The axes of the statistics that a contrast is made of, for its sampling error. */
static tamis_status set_contrast(tmi_workload *w, size_t i, tamis_error *err)
{
    const tmi_plan_statistic *t = &w->plan->statistics[i];
    tmi_statistic_map *r = &w->maps[i];
    size_t numbers = 0, last = 0;
    r->joint = true;
    for (size_t c = 0; c < t->contrast->compared_count; c++) {
        const tmi_plan_compared *of = &t->contrast->compared[c];
        const tmi_statistic_map *own = &w->maps[of->statistic];
        if (own->known) continue;
        r->domain = own->domain;
        for (size_t k = 0; k < t->by_count; k++) r->by[k] = own->by[of->by[k]];
        size_t merged[2 * TMI_MAX_AXES], count = 0;
        for (size_t a = 0, b = 0; a < r->axis_count || b < own->axis_count;) {
            const size_t x = a < r->axis_count ? r->axes[a] : SIZE_MAX, y = b < own->axis_count ? own->axes[b] : SIZE_MAX;
            merged[count++] = x < y ? x : y;
            a += x <= y;
            b += y <= x;
        }
        r->joint = r->joint && count <= TMI_MAX_AXES;
        r->axis_count = count <= TMI_MAX_AXES ? count : 0;
        memcpy(r->axes, merged, r->axis_count * sizeof *merged);
        last = of->statistic;
    }
    r->where = w->maps[last].where;
    r->whole = w->maps[last].whole;
    for (size_t a = 0; a < r->axis_count; a++) numbers += w->origins[r->axes[a]].number != NULL;
    r->joint = r->joint && numbers <= (t->model ? TMI_MAX_NUMBERS : 2);
    return r->joint ? set_products(w, i, err) : TAMIS_OK;
}

tamis_status tmi_workload_make(tmi_workload *w, const tamis_plan *plan, const tmi_sampling *sampling, bool separate_strata,
                               bool shared_classes, const tmi_plan_column *const *controls, size_t control_count,
                               const tmi_plan_column *number, const bool *known, bool older, tamis_error *err)
{
    tamis_status status;
    *w = (tmi_workload){.plan = plan,
                        .sampling = sampling,
                        .separate_strata = separate_strata,
                        .shared_classes = shared_classes,
                        .controls = controls,
                        .control_count = control_count,
                        .control_number = number,
                        .where_domains = older || plan->control_count == 0 || !sampling->clustered || plan->design.deff,
                        .number_axis = SIZE_MAX};
    w->maps = tmi_alloc(plan->statistic_count, sizeof *w->maps);
    if (!w->maps) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        w->maps[i].known = known[i];
        w->maps[i].contributed = tmi_is_contributed(&plan->statistics[i]);
    }
    TMI_TRY(set_order(w, err));
    TMI_TRY(set_worlds(w, err));
    TMI_TRY(set_classes(w, err));
    TMI_TRY(add_controls(w, err));
    for (size_t i = 0; i < w->classes_count; i++)
        if (w->classes[i].axis == SIZE_MAX) TMI_TRY(add_classes(w, i, err));
    TMI_TRY(add_control_number(w, err));
    for (size_t k = 0; k < plan->statistic_count; k++)
        if (!known[w->order[k]]) TMI_TRY(set_reading(w, w->order[k], err));
    for (size_t i = 0; i < plan->statistic_count; i++)
        if (plan->statistics[i].contrast) TMI_TRY(set_contrast(w, i, err));

done:
    if (status != TAMIS_OK) tmi_workload_clear(w);
    return status;
}
