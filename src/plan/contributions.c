/* Bounds of what is added to a total, weight times value: a number for each row (`contribution`), or for all rows of a unit
 * together (`unit_contribution`); or a value's bound that is a multiple of a public size in the frame (`to: {times: 1.5, of:
 * size}`), which units that are drawn in proportion to their size turn into the same bound for all.                   */
#include <string.h>

#include "base/memory.h"
#include "num/exact.h"
#include "plan/sections.h"

bool tmi_is_relative_bound(const tmi_value *to)
{
    return to && to->kind == TMI_VALUE_MAP && (tmi_value_get(to, "of") || tmi_value_get(to, "times"));
}

void tmi_read_contribution(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    if (!tmi_read_exact(reader, value, &column->contribution, "50000")) return;
    if (tmi_number_sign(column->contribution) <= 0)
        tmi_complain(reader, value, "expected a number above 0: the largest weight times value that a row adds, e.g. 50000");
    else if (column->by_stratum)
        tmi_complain_key(reader, value, "expected one range for all strata beside it: {from: 0, to: 4000, step: 1}");
    else if (column->private_share)
        tmi_complain_key(reader, value, "expected either `contribution` or a private bound, which are two bounds of one thing");
    else if (column->times)
        tmi_complain_key(reader, value, "expected either `contribution` or `to: {times, of}`, which bounds contributions too");
}

void tmi_read_unit_contribution(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    if (!tmi_read_exact(reader, value, &column->unit_contribution, "90000")) return;
    if (tmi_number_sign(column->unit_contribution) <= 0)
        tmi_complain(reader, value,
                     "expected a number above 0: the largest sum of weight times value that the rows of a unit add, e.g. 90000");
    else if (column->by_stratum)
        tmi_complain_key(reader, value, "expected one range for all strata beside it: {from: 0, to: 4000, step: 1}");
    else if (column->private_share)
        tmi_complain_key(reader, value,
                         "expected either `unit_contribution` or a private bound, which are two bounds of one thing");
    else if (column->times || column->contribution)
        tmi_complain_key(reader, value, "expected either the bound of a unit's rows together or that of a row, %s, not both",
                         column->times ? "`to: {times, of}`" : "`contribution`");
}

/* Only the frame knows the bound; until it is read, what the grid allows is used. */
#define FARTHEST (INT64_C(1) << 51)

static void set_farthest(tmi_reader *reader, const tmi_value *to, tmi_plan_column *column)
{
    tmi_exact e = TMI_EXACT(NULL);
    tamis_error why = {0};
    tmi_term farthest = tmi_mul(&e, tmi_int(&e, FARTHEST), column->step);
    if (tmi_exact_copy(&column->to, &e, farthest) != TAMIS_OK) reader->no_memory = true;
    tmi_exact_clear(&e);
    if (!column->to) return;
    if (tmi_number_sign(column->step) <= 0) {
        tmi_complain_key(reader, to, "expected a step larger than 0 beside it, e.g. 1");
    } else if (tmi_number_compare(column->from, column->to) >= 0) {
        tmi_complain_key(reader, to, "expected a `from` beside it that is below all bounds, e.g. 0");
    } else if (tmi_grid_set(&column->grid, column->from, column->to, column->step, &why) != TAMIS_OK) {
        if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
        else tmi_complain_key(reader, to, "%s", why.message);
    }
}

void tmi_read_relative_bound(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design, tmi_plan_column *column)
{
    static const char example[] = "{times: 1.5, of: size}";
    const tmi_value *to = tmi_value_get(value, "to"), *times = tmi_value_get(to, "times"), *of = tmi_value_get(to, "of"),
                    *from = tmi_value_get(value, "from"), *step = tmi_value_get(value, "step");
    bool right = true;
    for (const tmi_value *item = tmi_value_first(to); item; item = tmi_value_next(item))
        if (item != times && item != of) {
            tmi_complain_key(reader, item, "unknown key; expected %s", example);
            right = false;
        }
    if (!times || !of) {
        tmi_complain_key(reader, to, "expected both keys of a bound by size, e.g. %s", example);
        right = false;
    }
    if (!from || !step) {
        tmi_complain_key(reader, value, "expected the key %s, e.g. {from: 0, to: %s, step: 1}", from ? "step" : "from", example);
        right = false;
    }
    if (times && !tmi_read_exact(reader, times, &column->times, "1.5")) right = false;
    if (column->times && tmi_number_sign(column->times) <= 0) {
        tmi_complain(reader, times, "expected a number above 0, e.g. 1.5");
        right = false;
    }
    if (of && !tmi_read_text(reader, of, &column->of, "size")) right = false;
    if (from && !tmi_read_exact(reader, from, &column->from, "0")) right = false;
    if (step && !tmi_read_exact(reader, step, &column->step, "1")) right = false;
    if (design->stratum_count > 0 && !design->frame) {
        tmi_complain_key(
            reader, to,
            "expected a number: a bound by size needs a frame with the size of every unit, {pps: {frame: FILE, ...}}");
        right = false;
    }
    if (right && !reader->no_memory) set_farthest(reader, to, column);
}

/* ---- who may use them ---- */

static bool is_relative(const tmi_plan_column *column) { return column && column->times; }

static const tmi_plan_column *relative_in(const tmi_plan_column *indicator)
{
    for (size_t k = 0; indicator && k < indicator->condition_count; k++)
        if (is_relative(indicator->conditions[k].column)) return indicator->conditions[k].column;
    return NULL;
}

/* A column of a statistic that is used for more than a sum, and has no range for it. */
static const tmi_plan_column *misused(const tmi_plan_statistic *s)
{
    const tmi_plan_column *found = relative_in(s->where);
    const bool sum = s->kind == TMI_TOTAL || tmi_by_size(s);
    const tmi_plan_column *const columns[] = {s->column, s->second};
    for (size_t k = 0; k < 2 && !found; k++) {
        found = relative_in(columns[k]);
        if (!found && is_relative(columns[k]) && !sum) found = columns[k];
    }
    for (size_t k = 0; k < s->by_count && !found; k++)
        if (is_relative(s->by[k]->cut_of)) found = s->by[k]->cut_of;
    return found;
}

void tmi_check_relative_bounds(tmi_reader *reader, const tmi_value *root, const tamis_plan *plan)
{
    const tmi_value *list = tmi_value_get(root, "statistics"), *item = list ? tmi_value_first(list) : NULL;
    for (size_t i = 0; i < plan->asked_count && item; i++, item = tmi_value_next(item)) {
        const tmi_plan_column *column = misused(&plan->statistics[i]);
        if (column)
            tmi_complain(reader, item,
                         "expected a total of %s: its bound is another one for each unit of the frame, so that it has no means, "
                         "ratios, variances, cuts or conditions; with one range for all, `contribution` bounds its totals",
                         column->name);
    }
}
