#include "plan/private_bounds.h"

#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "num/exact.h"

/* ---- reading ---- */

static const char example[] = "{private: 1/8, beyond: 1e6}";

bool tmi_is_private_bound(const tmi_value *to)
{
    return to && to->kind == TMI_VALUE_MAP && (tmi_value_get(to, "private") || tmi_value_get(to, "beyond"));
}

static void check_share(tmi_reader *reader, const tmi_value *value, const tamis_number *share)
{
    if (share && (tmi_number_sign(share) <= 0 || tmi_number_compare_int(share, 1) >= 0))
        tmi_complain(reader, value, "expected a share of the budget above 0 and below 1, e.g. 1/8");
}

/* `beyond` is a whole number of steps, two or more, so that the halved grids have as many. */
static void set_grid(tmi_reader *reader, const tmi_value *to, const tmi_value *step, tmi_plan_column *column)
{
    tamis_number *steps = NULL;
    tamis_error why = {0};
    if (tmi_number_sign(column->from) != 0) {
        tmi_complain_key(reader, to,
                         "expected `from: 0` beside it: candidates are halves of `beyond`, and values below 0 would need a bound "
                         "of their own");
    } else if (tmi_number_sign(column->step) <= 0) {
        tmi_complain(reader, step, "expected a step larger than 0, e.g. 1");
    } else if (tmi_number_div(&steps, column->to, column->step, NULL) != TAMIS_OK) {
        reader->no_memory = true;
    } else if (!tmi_number_is_integer(steps) || tmi_number_compare_int(steps, 2) < 0) {
        tmi_complain(reader, tmi_value_get(to, "beyond"), "expected a multiple of `step`, twice the step or more, e.g. 1e6");
    } else if (tmi_grid_set(&column->grid, column->from, column->to, column->step, &why) != TAMIS_OK) {
        if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
        else tmi_complain(reader, step, "%s", why.message);
    }
    tamis_number_free(steps);
}

void tmi_read_private_bound(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    const tmi_value *to = tmi_value_get(value, "to"), *share = tmi_value_get(to, "private"),
                    *beyond = tmi_value_get(to, "beyond"), *from = tmi_value_get(value, "from"),
                    *step = tmi_value_get(value, "step");
    bool right = share && beyond && from && step;
    for (const tmi_value *item = tmi_value_first(to); item; item = tmi_value_next(item))
        if (item != share && item != beyond) {
            tmi_complain_key(reader, item, "unknown key; expected %s", example);
            right = false;
        }
    if (!share || !beyond) tmi_complain_key(reader, to, "expected both keys of a private bound, e.g. %s", example);
    if (!from || !step)
        tmi_complain_key(reader, value, "expected the key %s, e.g. {from: 0, to: %s, step: 1}", from ? "step" : "from", example);
    if (share && tmi_read_exact(reader, share, &column->private_share, "1/8")) check_share(reader, share, column->private_share);
    if (beyond && !tmi_read_exact(reader, beyond, &column->to, "1e6")) right = false;
    if (from && !tmi_read_exact(reader, from, &column->from, "0")) right = false;
    if (step && !tmi_read_exact(reader, step, &column->step, "1")) right = false;
    if (right && !reader->no_memory) set_grid(reader, to, step, column);
}

void tmi_check_private_bounds(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term sum = tmi_int(&e, 0);
    for (size_t i = 0; i < plan->declared_count; i++)
        if (plan->columns[i].private_share) sum = tmi_add(&e, sum, plan->columns[i].private_share);
    if (!sum) reader->no_memory = true;
    else if (tmi_number_compare_int(sum, 1) >= 0)
        tmi_complain_key(reader, tmi_value_get(root, "columns"),
                         "expected private bounds to leave a part of the budget for the statistics: their shares add up to 1 or "
                         "more");
    tmi_exact_clear(&e);
}

/* ---- bounded plans ---- */

static bool is_private(const tmi_plan_column *column) { return column && column->private_share; }

bool tmi_has_private_bounds(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->statistic_count; i++)
        if (is_private(plan->statistics[i].column) || is_private(plan->statistics[i].second)) return true;
    return false;
}

const tmi_private_bound *tmi_private_bound_of(const tamis_plan *plan, const tmi_plan_column *column)
{
    for (size_t k = 0; k < plan->bound_count; k++)
        if (&plan->bounds[k].column == column) return &plan->bounds[k];
    return NULL;
}

const tmi_plan_column *tmi_column_as_declared(const tamis_plan *plan, const tmi_plan_column *column)
{
    const tmi_private_bound *bound = tmi_private_bound_of(plan, column);
    return bound ? bound->declared : column;
}

/* The bounded column in the place of one that has such a bound; it is added if it is new. */
static const tmi_plan_column *bounded(tamis_plan *plan, const tmi_plan_column *column)
{
    if (!is_private(column)) return column;
    column = tmi_column_as_declared(plan->lender, column); /* the lender may be bounded itself */
    size_t k = 0;
    while (k < plan->bound_count && plan->bounds[k].declared != column) k++;
    tmi_private_bound *bound = &plan->bounds[k];
    if (k < plan->bound_count) return &bound->column;
    plan->bound_count++;
    *bound = (tmi_private_bound){.column = *column, .declared = column};
    bound->column.to = bound->column.step = NULL; /* its own, set below */
    while (bound->most < TMI_MAX_HALVINGS && tmi_bound_point(bound, bound->most + 1) >= 1) bound->most++;
    return &bound->column;
}

tamis_status tmi_plan_with_bounds(tamis_plan **made, const tamis_plan *plan, tamis_error *err)
{
    static const size_t all = offsetof(tamis_plan, name); /* but the number of its holders, which others may change now */
    tamis_plan *p = tmi_alloc(1, sizeof *p);
    tamis_status status = TAMIS_OK;
    *made = NULL;
    if (!p) return tmi_fail_memory(err);
    memcpy((char *)p + all, (const char *)plan + all, sizeof *p - all);
    p->holders = 1;
    p->lender = tmi_plan_hold(plan);
    p->bound_count = 0;
    p->statistics = tmi_alloc(plan->statistic_count, sizeof *p->statistics);
    p->bounds = tmi_alloc(2 * plan->statistic_count, sizeof *p->bounds);
    if (!p->statistics || !p->bounds) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < plan->statistic_count; i++) {
        p->statistics[i] = plan->statistics[i];
        p->statistics[i].column = bounded(p, plan->statistics[i].column);
        p->statistics[i].second = bounded(p, plan->statistics[i].second);
    }
    for (size_t k = 0; k < p->bound_count; k++) TMI_TRY(tmi_plan_set_bound(p, k, 0, false, err));

done:
    if (status == TAMIS_OK) *made = p;
    else tmi_plan_drop(p);
    return status;
}

tamis_status tmi_plan_set_bound(tamis_plan *plan, size_t k, int halvings, bool found, tamis_error *err)
{
    tmi_private_bound *bound = &plan->bounds[k];
    tmi_plan_column *own = &bound->column;
    const tmi_plan_column *declared = bound->declared;
    tmi_exact e = TMI_EXACT(err);
    tamis_number *to = NULL, *step = NULL;
    tmi_grid grid;
    tamis_status status;
    tmi_term parts = tmi_int(&e, INT64_C(1) << halvings);
    TMI_TRY(tmi_exact_copy(&to, &e, tmi_div(&e, declared->to, parts)));
    TMI_TRY(tmi_exact_copy(&step, &e, tmi_div(&e, declared->step, parts)));
    TMI_TRY(tmi_grid_set(&grid, declared->from, to, step, err));
    tamis_number_free(own->to);
    tamis_number_free(own->step);
    own->to = to;
    own->step = step;
    own->grid = grid;
    to = step = NULL;
    bound->halvings = halvings;
    bound->found = found;

done:
    tamis_number_free(to);
    tamis_number_free(step);
    tmi_exact_clear(&e);
    return status;
}

void tmi_bounded_plan_free(tamis_plan *plan)
{
    for (size_t k = 0; k < plan->bound_count; k++) {
        tamis_number_free(plan->bounds[k].column.to);
        tamis_number_free(plan->bounds[k].column.step);
    }
    tmi_free(plan->bounds);
    tmi_free(plan->statistics);
    tmi_plan_drop(plan->lender);
    tmi_free(plan);
}
