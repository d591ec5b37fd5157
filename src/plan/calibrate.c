/* calibrate: public totals that the released ones are made to agree with, after the noise. Each entry is a count or a total,
 * by groups or not, and says what it is in each of them:
 *
 *     calibrate:
 *       to:
 *         - {count: units, by: stype, totals: {E: 4421, M: 1018, H: 755}}
 *         - {total: enroll, totals: 3811472}
 *
 * The list may also stand in a file of its own. Its variables are measured and charged like any table.                */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "num/number.h"
#include "plan/sections.h"

typedef struct entry {
    tamis_plan *plan;
    tmi_plan_control *control;
    const tmi_value *kind;
} entry;

static void read_count(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    if (e->kind) tmi_complain_key(reader, value, "expected either count or total, not both");
    else if (value->kind != TMI_VALUE_TEXT || strcmp(value->text, "units") != 0)
        tmi_complain(reader, value, "expected units, e.g. count: units");
    e->kind = value;
}

static void read_total(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    if (e->kind) tmi_complain_key(reader, value, "expected either count or total, not both");
    else e->control->column = tmi_read_number_column(reader, value, e->plan);
    e->kind = value;
}

static void read_by(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    tmi_read_by_columns(reader, value, e->plan, e->control->by, &e->control->by_count);
    for (size_t k = 0; k < e->control->by_count; k++) {
        const tmi_plan_column *of = e->control->by[k]->recode_of;
        if (of && of != e->plan->design.by)
            tmi_complain(reader, value,
                         "expected a column that is read from the source: give the totals by %s, of which %s follows", of->name,
                         e->control->by[k]->name);
    }
}

/* How many rows the population has: the same twice if the design says it. */
static void count_rows(double rows[2], const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    rows[0] = 0;
    rows[1] = (double)TMI_MAX_POPULATION;
    if (d->population == 0 || !d->kind || (d->kind->clusters && d->largest == 0)) return;
    rows[1] = (double)d->population * (double)(d->kind->clusters ? d->largest : 1);
    if (tmi_counts_rows(plan)) rows[1] *= (double)plan->privacy.rows_per_unit;
    else if (!d->kind->clusters) rows[0] = rows[1];
}

#define ROUNDING 1e-9 /* of the largest total: less is no contradiction */

/* A total of a number is one of values in its range, as many as there may be rows; a missing one is 0. `part`: of some rows. */
static void check_total(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const tmi_plan_column *x,
                        double total, bool part)
{
    double rows[2];
    if (!x || x->conditions || x->by_stratum || x->times || x->private_share || !x->from || !x->to) return;
    const bool complete = x->missing == TMI_NEVER && !part;
    const double from = tmi_number_nearest(x->from), to = tmi_number_nearest(x->to), low = complete ? from : fmin(from, 0),
                 high = complete ? to : fmax(to, 0);
    count_rows(rows, plan);
    const double least = low * rows[low < 0], most = high * rows[high > 0], rounding = ROUNDING * fmax(fabs(least), fabs(most));
    if (total >= least - rounding && total <= most + rounding) return;
    tmi_complain(
        reader, value,
        "expected a total from %.10g to %.10g, which is what values of %s from %.10g to %.10g may add up to in a population "
        "of %s %.10g rows, e.g. %.10g",
        least, most, x->name, from, to, rows[0] > 0 ? "exactly" : "at most", rows[1], (least + most) / 2);
}

/* Totals of the groups that begin with those read so far: a number when all are known, else a map from the values of the next
 * column, or a list in their order. */
static void read_totals(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, tmi_plan_control *c, size_t depth,
                        size_t cell)
{
    if (depth == c->by_count) {
        if (tmi_read_exact(reader, value, &c->totals[cell], "4421"))
            check_total(reader, value, plan, c->column, tmi_number_nearest(c->totals[cell]), c->by_count > 0);
        return;
    }
    const tmi_plan_column *by = c->by[depth];
    if (value->kind == TMI_VALUE_TEXT || (value->kind == TMI_VALUE_LIST && value->count != by->value_count)) {
        tmi_complain(reader, value, "expected a total for every value of %s, as a map or a list of %zu, e.g. {%s: 4421}",
                     by->name, by->value_count, by->value_count > 0 ? by->values[0] : "E");
        return;
    }
    bool map = value->kind == TMI_VALUE_MAP;
    int32_t place = 0;
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        if (map && tmi_value_get(value, tmi_value_key(item)) != item) continue;
        int32_t code = map ? tmi_code_of(by, tmi_value_key(item)) : place++;
        if (code < 0) tmi_complain_key(reader, item, "expected one of the values of %s, e.g. %s", by->name, by->values[0]);
        else read_totals(reader, item, plan, c, depth + 1, cell * by->value_count + (size_t)code);
    }
    for (size_t i = 0; map && i < by->value_count; i++) {
        if (tmi_value_get(value, by->values[i])) continue;
        tmi_complain(reader, value, "expected a total for every value of %s; there is none for %s", by->name, by->values[i]);
        return;
    }
}

static const tmi_plan_key keys[] = {
    {.name = "count", .read = read_count},
    {.name = "total", .read = read_total},
    {.name = "by", .read = read_by},
    {.name = "totals", .read = tmi_read_later, .required = "totals: {E: 4421, M: 1018, H: 755}"},
};

/* Cells are bounded as those of statistics are, together with `used`. */
static int64_t read_control(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_control *control, int64_t used)
{
    static const char example[] = "{count: units, by: stype, totals: {E: 4421, M: 1018, H: 755}}";
    entry e = {plan, control, NULL};
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, &e);
    if (reader->count == before && !e.kind) tmi_complain(reader, value, "expected a count or a total, e.g. %s", example);
    if (reader->count > before || reader->no_memory) return used;
    int64_t cells = 1;
    for (size_t i = 0; i < control->by_count && cells <= TMI_MAX_PLAN_CELLS; i++) cells *= (int64_t)control->by[i]->value_count;
    if (used + cells > TMI_MAX_PLAN_CELLS) {
        tmi_complain(reader, value, "expected at most %lld totals in all", (long long)TMI_MAX_PLAN_CELLS);
        return used;
    }
    control->totals = tmi_alloc((size_t)cells, sizeof *control->totals);
    if (!control->totals) {
        reader->no_memory = true;
        return used;
    }
    control->total_count = (size_t)cells;
    const tmi_value *totals = tmi_value_get(value, "totals");
    double sum = 0;
    before = reader->count;
    read_totals(reader, totals, plan, control, 0, 0);
    for (size_t i = 0; reader->count == before && i < control->total_count; i++)
        sum += control->totals[i] ? tmi_number_nearest(control->totals[i]) : 0;
    if (reader->count == before && control->by_count > 0) check_total(reader, totals, plan, control->column, sum, true);
    return used + cells;
}

static void read_controls(tmi_reader *reader, const tmi_value *list, tamis_plan *plan)
{
    if (list->kind != TMI_VALUE_LIST || list->count == 0 || list->count > TMI_MAX_STATISTICS) {
        tmi_complain(reader, list, "expected a file or a list of 1 to %d entries, e.g. [{total: enroll, totals: 3811472}]",
                     TMI_MAX_STATISTICS);
        return;
    }
    plan->controls = tmi_alloc(list->count, sizeof *plan->controls);
    if (!plan->controls) {
        reader->no_memory = true;
        return;
    }
    int64_t used = 0;
    for (const tmi_value *item = tmi_value_first(list); item && !reader->no_memory; item = tmi_value_next(item))
        used = read_control(reader, item, plan, &plan->controls[plan->control_count++], used);
}

static void read_method(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const char *const methods[] = {"linear", "raking"};
    size_t i;
    if (tmi_read_word(reader, value, &i, methods, 2)) ((tamis_plan *)target)->raking = i == 1;
}

void tmi_read_calibrate(tmi_reader *reader, const tmi_value *value, const tmi_value *totals, const char *file, tamis_plan *plan)
{
    static const tmi_plan_key own[] = {
        {.name = "to", .read = tmi_read_later, .required = "to: totals.yaml"},
        {.name = "method", .read = read_method},
    };
    tmi_read_map(reader, value, own, 2, "{to: totals.yaml}", plan);
    const tmi_value *to = value->kind == TMI_VALUE_MAP ? tmi_value_get(value, "to") : NULL;
    if (!to) return;
    if (!totals) {
        read_controls(reader, to, plan);
        return;
    }
    const char *name = reader->name; /* messages about the totals name their own file */
    reader->name = file;
    reader->file = 1;
    tmi_complain_duplicates(reader, totals);
    read_controls(reader, totals, plan);
    reader->name = name;
    reader->file = 0;
}
