/* The bounds and grids of numbers. Each of from, to and step is one number, or a map by the strata of the design: large
 * businesses have other bounds than small ones, and that they are large is public.
 *
 * Over all strata a column has the lowest `from`, the highest `to` and the smallest `step`, of which the other steps are
 * multiples: so every point of every stratum is a point of the common grid.                                          */
#include <string.h>

#include "base/memory.h"
#include "plan/private_bounds.h"
#include "plan/sections.h"

enum { FROM, TO, STEP };
static const char *const bounds[] = {"from", "to", "step"};
static const char *const examples[] = {"0", "4000", "1"};

static tamis_number **bound_of(tmi_plan_range *range, size_t which)
{
    return which == FROM ? &range->from : which == TO ? &range->to : &range->step;
}

/* Where a bound is, of a stratum if they differ. */
static const tmi_value *place(const tmi_value *column, size_t which, const char *stratum)
{
    const tmi_value *value = tmi_value_get(column, bounds[which]);
    const tmi_value *own = value->kind == TMI_VALUE_MAP && stratum ? tmi_value_get(value, stratum) : NULL;
    return own ? own : value;
}

static const char *stratum_name(const void *strata, size_t index) { return ((const tmi_plan_stratum *)strata)[index].name; }

static void read_by_stratum(tmi_reader *reader, const tmi_value *map, const tmi_plan_design *design, tmi_plan_range *ranges,
                            size_t which)
{
    for (const tmi_value *item = tmi_value_first(map); item; item = tmi_value_next(item)) {
        if (tmi_value_get(map, tmi_value_key(item)) != item) continue;
        size_t h = 0;
        while (h < design->stratum_count && strcmp(design->strata[h].name, tmi_value_key(item)) != 0) h++;
        if (h < design->stratum_count) {
            tmi_read_exact(reader, item, bound_of(&ranges[h], which), examples[which]);
            continue;
        }
        int nearest = tmi_nearest_word(tmi_value_key(item), stratum_name, design->strata, design->stratum_count);
        tmi_complain_key(reader, item,
                         nearest >= 0 ? "expected a stratum of the design; did you mean %s?"
                                      : "expected a stratum of the design, e.g. %s",
                         design->strata[nearest >= 0 ? nearest : 0].name);
    }
    for (size_t h = 0; h < design->stratum_count; h++) {
        if (tmi_value_get(map, design->strata[h].name)) continue;
        tmi_complain_key(reader, map, "expected a bound for every stratum; there is none for %s", design->strata[h].name);
        return;
    }
}

/* A range of its own for each stratum, or one for all (count 1). */
static void read_bounds(tmi_reader *reader, const tmi_value *column, const tmi_plan_design *design, tmi_plan_range *ranges,
                        size_t count)
{
    for (size_t which = 0; which < 3; which++) {
        const tmi_value *value = tmi_value_get(column, bounds[which]);
        if (!value) {
            tmi_complain_key(reader, column, "expected the key %s, e.g. {from: 0, to: 4000, step: 1}", bounds[which]);
        } else if (value->kind == TMI_VALUE_MAP) {
            read_by_stratum(reader, value, design, ranges, which);
        } else if (tmi_read_exact(reader, value, bound_of(&ranges[0], which), examples[which])) {
            for (size_t h = 1; h < count && !reader->no_memory; h++) {
                if (tmi_number_copy(bound_of(&ranges[h], which), *bound_of(&ranges[0], which), NULL) != TAMIS_OK)
                    reader->no_memory = true;
            }
        }
    }
}

/* Whether the range makes a grid. */
static bool check_range(tmi_reader *reader, const tmi_value *column, tmi_plan_range *r, const char *stratum)
{
    tamis_error why = {0};
    if (!r->from || !r->to || !r->step) return false;
    if (tmi_number_compare(r->from, r->to) >= 0) {
        tmi_complain(reader, place(column, TO, stratum), "expected a `to` larger than `from`, e.g. {from: 0, to: 4000}");
    } else if (tmi_number_sign(r->step) <= 0) {
        tmi_complain(reader, place(column, STEP, stratum), "expected a step larger than 0, e.g. 1");
    } else if (tmi_grid_set(&r->grid, r->from, r->to, r->step, &why) != TAMIS_OK) {
        if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
        else tmi_complain(reader, place(column, STEP, stratum), "%s", why.message);
    } else if (r->grid.low == r->grid.high) {
        tmi_complain(reader, place(column, STEP, stratum),
                     "expected a step that leaves at least two grid points between from and to, e.g. 1");
    } else {
        return true;
    }
    return false;
}

/* The lowest, the highest, the smallest of all strata, and the grid that holds them all. */
static void join(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column, size_t count)
{
    const tmi_plan_range *r = column->by_stratum;
    size_t best[3] = {0};
    for (size_t h = 1; h < count; h++) {
        if (tmi_number_compare(r[h].from, r[best[FROM]].from) < 0) best[FROM] = h;
        if (tmi_number_compare(r[h].to, r[best[TO]].to) > 0) best[TO] = h;
        if (tmi_number_compare(r[h].step, r[best[STEP]].step) < 0) best[STEP] = h;
    }
    if (tmi_number_copy(&column->from, r[best[FROM]].from, NULL) != TAMIS_OK ||
        tmi_number_copy(&column->to, r[best[TO]].to, NULL) != TAMIS_OK ||
        tmi_number_copy(&column->step, r[best[STEP]].step, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return;
    }
    for (size_t h = 0; h < count; h++) {
        tamis_number *times = NULL;
        if (tmi_number_div(&times, r[h].step, column->step, NULL) != TAMIS_OK) reader->no_memory = true;
        else if (!tmi_number_is_integer(times)) {
            tmi_complain(reader, tmi_value_get(value, "step"),
                         "expected steps that are multiples of the smallest of them, "
                         "e.g. {small: 1, large: 100}");
            h = count;
        }
        tamis_number_free(times);
    }
    tamis_error why = {0};
    if (tmi_grid_set(&column->grid, column->from, column->to, column->step, &why) == TAMIS_OK) return;
    if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
    else tmi_complain(reader, tmi_value_get(value, "step"), "over all strata: %s", why.message);
}

/* A code is compared with values that were read as doubles. A code such as 9.9 lies between two doubles, and what a
 * reader makes of the text 9.9 is one of the two: both are codes. */
static void read_missing_codes(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    if (value->kind != TMI_VALUE_LIST || value->count == 0 || value->count > TMI_MAX_MISSING_CODES) {
        tmi_complain(reader, value, "expected a list of 1 to %d numbers, e.g. [97, 98, 99]", TMI_MAX_MISSING_CODES);
        return;
    }
    column->missing_codes = tmi_alloc(2 * value->count, sizeof *column->missing_codes);
    if (!column->missing_codes) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        tamis_number *code = NULL;
        if (!tmi_read_exact(reader, item, &code, "99")) continue;
        double below = tmi_number_down(code), above = tmi_number_up(code);
        if (__builtin_isfinite(below)) column->missing_codes[column->missing_code_count++] = below;
        if (__builtin_isfinite(above) && above != below) column->missing_codes[column->missing_code_count++] = above;
        tamis_number_free(code);
    }
}

/* A declared complete column: a row without a value counts as the middle of the range, which must be in every stratum's. */
static void read_never(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column, size_t strata)
{
    int64_t low = column->grid.low, high = column->grid.high;
    bool right = true;
    column->missing = TMI_NEVER;
    if (!(column->grid.step > 0)) return; /* complained about already */
    if (column->times) {
        tmi_complain(
            reader, value,
            "expected leave_out, or the value that counts instead of a missing one, e.g. 0: with `to: {times, of}` each unit "
            "has a range of its own, and no middle of a range is possible for all of them");
        return;
    }
    for (size_t h = 0; column->by_stratum && h < strata; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        right = right && tmi_number_compare(r->step, column->step) == 0;
        low = r->grid.low > low ? r->grid.low : low;
        high = r->grid.high < high ? r->grid.high : high;
    }
    if (!right || low > high)
        tmi_complain(reader, value, "expected leave_out: the ranges of the strata have different steps or no point in common");
    else column->instead = low + (high - low) / 2;
}

/* A number that is counted in the place of missing ones: a point of the grid, the same in every stratum. */
static void read_missing(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column, size_t strata)
{
    tamis_number *number = NULL, *point = NULL;
    if (value->kind == TMI_VALUE_TEXT && strcmp(value->text, "leave_out") == 0) return;
    if (value->kind == TMI_VALUE_TEXT && strcmp(value->text, "none") == 0) {
        read_never(reader, value, column, strata);
        return;
    }
    tamis_status status = value->kind == TMI_VALUE_TEXT ? tamis_number_read(&number, value->text, NULL) : TAMIS_INVALID;
    if (status != TAMIS_OK) {
        if (status == TAMIS_SYSTEM) reader->no_memory = true;
        else tmi_complain(reader, value, "expected leave_out, none, or the number that replaces missing values, e.g. 0");
        return;
    }
    column->missing = TMI_AS_VALUE;
    bool right = column->grid.step > 0; /* else complained about already */
    if (right && tmi_number_div(&point, number, column->step, NULL) != TAMIS_OK) reader->no_memory = true;
    if (point) {
        right = tmi_number_is_integer(point) && tmi_number_floor(&column->instead, point) &&
                column->instead >= column->grid.low && column->instead <= column->grid.high;
        for (size_t h = 0; right && column->by_stratum && h < strata; h++) {
            const tmi_plan_range *r = &column->by_stratum[h];
            right = tmi_number_compare(r->step, column->step) == 0 && column->instead >= r->grid.low &&
                    column->instead <= r->grid.high;
        }
        if (right && column->private_share && column->instead != 0)
            tmi_complain(reader, value,
                         "expected leave_out, none or 0: any other value may be above a bound that is not known yet");
        if (!right)
            tmi_complain(reader, value, "expected a multiple of step between from and to%s, e.g. 0",
                         column->by_stratum ? ", the same in every stratum" : "");
    }
    tmi_number_frees(&number, &point, NULL);
}

static void read_range(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design, tmi_plan_column *column)
{
    const tmi_value *by = NULL, *to = tmi_value_get(value, "to");
    if (tmi_is_relative_bound(to)) {
        tmi_read_relative_bound(reader, value, design, column);
        return;
    }
    if (tmi_is_private_bound(to)) {
        tmi_read_private_bound(reader, value, column);
        return;
    }
    for (size_t i = 0; i < 3 && !by; i++) {
        const tmi_value *bound = tmi_value_get(value, bounds[i]);
        if (bound && bound->kind == TMI_VALUE_MAP) by = bound;
    }
    if (by && design->stratum_count == 0) return; /* complained about already */
    if (by && !design->by) {
        tmi_complain(reader, by, "expected one number, e.g. 0: bounds by stratum need a stratified design");
        return;
    }
    if (!by) {
        tmi_plan_range range = {0};
        read_bounds(reader, value, design, &range, 1);
        check_range(reader, value, &range, NULL);
        column->from = range.from;
        column->to = range.to;
        column->step = range.step;
        column->grid = range.grid;
        return;
    }
    column->by_stratum = tmi_alloc(design->stratum_count, sizeof *column->by_stratum);
    if (!column->by_stratum) {
        reader->no_memory = true;
        return;
    }
    read_bounds(reader, value, design, column->by_stratum, design->stratum_count);
    bool right = !reader->no_memory;
    for (size_t h = 0; h < design->stratum_count && right; h++)
        right = check_range(reader, value, &column->by_stratum[h], design->strata[h].name);
    if (right) join(reader, value, column, design->stratum_count);
}

static void read_number(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design, tmi_plan_column *column)
{
    read_range(reader, value, design, column);
    const tmi_value *typical = tmi_value_get(value, "typical"), *missing = tmi_value_get(value, "missing"),
                    *codes = tmi_value_get(value, "missing_codes"), *contribution = tmi_value_get(value, "contribution"),
                    *of_unit = tmi_value_get(value, "unit_contribution");
    if (contribution) tmi_read_contribution(reader, contribution, column);
    if (of_unit) tmi_read_unit_contribution(reader, of_unit, column);
    if (missing) read_missing(reader, missing, column, design->stratum_count);
    if (typical) tmi_read_typical_number(reader, typical, column);
    if (codes) read_missing_codes(reader, codes, column);
}

/* ---- recodes of the strata, or of another category ---- */

/* What a recode follows from: the category, and what one of its values is called. */
typedef struct recoded {
    const tmi_plan_column *from;
    const char *part;
} recoded;

static void set_code(tmi_reader *reader, const tmi_value *name, const recoded *r, tmi_plan_column *column, int32_t code)
{
    const int32_t h = tmi_read_code(reader, name, r->from);
    if (h < 0) return;
    if (column->recode[h] >= 0)
        tmi_complain(reader, name, "expected each %s once; this one has the value %s already", r->part,
                     column->values[column->recode[h]]);
    column->recode[h] = code;
}

/* Values in the order of their first parts, whatever the order of the map: a map that is read again may have another. */
static void sort_values(tmi_plan_column *column, size_t parts)
{
    for (int32_t next = 0; (size_t)next < column->value_count; next++) {
        size_t h = 0;
        while (h < parts && column->recode[h] < next) h++; /* the first part whose value has no place yet */
        if (h == parts) return;                            /* a value without parts: complained about */
        const int32_t other = column->recode[h];
        char *value = column->values[other];
        column->values[other] = column->values[next];
        column->values[next] = value;
        for (size_t k = 0; k < parts; k++)
            column->recode[k] = column->recode[k] == other ? next : column->recode[k] == next ? other : column->recode[k];
    }
}

/* The value of each stratum, or part: {north: [N1, N2], south: [S1]}, every one once. */
static void read_codes(tmi_reader *reader, const tmi_value *value, const recoded *r, tmi_plan_column *column)
{
    const size_t before = reader->count, parts = r->from->value_count;
    column->recode = tmi_alloc(parts, sizeof *column->recode);
    if (!column->recode) {
        reader->no_memory = true;
        return;
    }
    for (size_t h = 0; h < parts; h++) column->recode[h] = -1;
    for (size_t code = 0; code < column->value_count; code++) {
        const tmi_value *own = tmi_value_get(value, column->values[code]);
        if (!own) continue; /* of `values` beside it: complained about already */
        if (own->kind == TMI_VALUE_TEXT) set_code(reader, own, r, column, (int32_t)code);
        else if (own->kind != TMI_VALUE_LIST || own->count == 0)
            tmi_complain(reader, own, "expected a %s or a list of %s, e.g. [%s]", r->part,
                         strcmp(r->part, "part") == 0 ? "parts" : "strata", r->from->values[0]);
        for (size_t i = 0; own->kind == TMI_VALUE_LIST && i < own->count; i++)
            set_code(reader, tmi_value_at(own, i), r, column, (int32_t)code);
    }
    for (size_t h = 0; h < parts && reader->count == before; h++)
        if (column->recode[h] < 0)
            tmi_complain_key(reader, value, "expected each %s once; there is no value for %s", r->part, r->from->values[h]);
    if (reader->count == before) sort_values(column, parts);
    column->recode_of = r->from;
}

static void read_recode(tmi_reader *reader, const tmi_value *value, const tmi_plan_design *design, tmi_plan_column *column)
{
    if (design->stratum_count == 0 || value->kind != TMI_VALUE_MAP) return; /* complained about already */
    if (!design->by)
        tmi_complain(reader, value, "expected a stratified design: the values of this column follow from the strata");
    else read_codes(reader, value, &(recoded){design->by, "stratum"}, column);
}

/* A category that is read from the file, with values that are all listed. */
static void read_parts(tmi_reader *reader, const tmi_value *value, const tmi_value *of, const tamis_plan *plan,
                       tmi_plan_column *column)
{
    char *name = NULL;
    if (!of || value->kind != TMI_VALUE_MAP || !tmi_read_text(reader, of, &name, "district")) return; /* complained about */
    const tmi_plan_column *from = tmi_plan_find_column(plan, name);
    tmi_free(name);
    if (from && from->is_number && from->is_category) return;
    if (!from || !from->is_category || from == column)
        tmi_complain(reader, of, "expected another category that is declared under columns, e.g. district");
    else if (from->recode || from->is_recoded)
        tmi_complain(reader, of, "expected a category that is read from the source: this one follows from another itself");
    else if (from->missing == TMI_AS_CATEGORY)
        tmi_complain(reader, of, "expected a category without `missing: category`, which is in no part");
    else if (from->value_count > 0) read_codes(reader, value, &(recoded){from, "part"}, column);
}

void tmi_read_ranges(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    for (size_t i = 0; i < plan->declared_count && !reader->no_memory; i++) {
        tmi_plan_column *column = &plan->columns[i];
        const tmi_value *own = value->kind == TMI_VALUE_MAP ? tmi_value_get(value, column->name) : NULL;
        if (own && own->kind == TMI_VALUE_MAP && column->is_number && !column->is_category)
            read_number(reader, own, &plan->design, column);
        const tmi_value *strata = own && own->kind == TMI_VALUE_MAP ? tmi_value_get(own, "strata") : NULL;
        const tmi_value *parts = own && own->kind == TMI_VALUE_MAP ? tmi_value_get(own, "parts") : NULL;
        const bool category = column->is_category && !column->is_number;
        if (strata && category) read_recode(reader, strata, &plan->design, column);
        else if (parts && category && column->value_count > 0) read_parts(reader, parts, tmi_value_get(own, "of"), plan, column);
    }
}
