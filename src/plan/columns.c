/* columns: what the plan promises about each column it uses. A number has public bounds and a grid, a category has a
 * public list of values; nothing is learnt from the data.                                                            */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "plan/sections.h"

static void read_number(tmi_reader *reader, const tmi_yaml *value, tamis_number **number, const char *example)
{
    if (value->kind == TMI_YAML_MAP) tmi_complain(reader, value, "a bound by stratum " TMI_NOT_YET);
    else tmi_read_exact(reader, value, number, example);
}

static void read_from(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    read_number(reader, value, &((tmi_plan_column *)target)->from, "0");
}

static void read_to(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    read_number(reader, value, &((tmi_plan_column *)target)->to, "4000");
}

static void read_step(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    read_number(reader, value, &((tmi_plan_column *)target)->step, "1");
}

static void read_typical(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_read_exact(reader, value, &((tmi_plan_column *)target)->typical, "600");
}

static void read_missing(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    (void)target;
    if (value->kind != TMI_YAML_TEXT || value->text[0] == '\0') {
        tmi_complain(reader, value, "expected leave_out");
    } else if (strcmp(value->text, "leave_out") != 0) {
        tmi_complain(reader, value, "a value or category in the place of missing ones " TMI_NOT_YET
                                    "; available: leave_out");
    }
}

/* A code is compared with values that were read as doubles. A code such as 9.9 lies between two doubles, and what a
 * reader makes of the text 9.9 is one of the two: both are codes. */
static void read_missing_codes(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_column *column = target;
    if (value->kind != TMI_YAML_LIST || value->count == 0 || value->count > TMI_MAX_MISSING_CODES) {
        tmi_complain(reader, value, "expected a list of 1 to %d numbers, e.g. [97, 98, 99]", TMI_MAX_MISSING_CODES);
        return;
    }
    column->missing_codes = tmi_alloc(2 * value->count, sizeof *column->missing_codes);
    if (!column->missing_codes) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_yaml *item = value->first; item; item = item->next) {
        tamis_number *code = NULL;
        if (!tmi_read_exact(reader, item, &code, "99")) continue;
        double below = tmi_number_down(code), above = tmi_number_up(code);
        if (__builtin_isfinite(below)) column->missing_codes[column->missing_code_count++] = below;
        if (__builtin_isfinite(above) && above != below) column->missing_codes[column->missing_code_count++] = above;
        tamis_number_free(code);
    }
}

/* Places in the list of values: by text, equal ones in the order of the list. */
static int by_text(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
    int order = strcmp(*x, *y);
    return order != 0 ? order : x < y ? -1 : x > y;
}

/* Each value once: sorting puts equal ones side by side, and the first that comes again is told. */
static void complain_repeated(tmi_reader *reader, const tmi_yaml *list, const tmi_plan_column *column)
{
    char ***sorted = tmi_alloc(column->value_count, sizeof *sorted);
    if (!sorted) {
        reader->no_memory = true;
        return;
    }
    for (size_t i = 0; i < column->value_count; i++) sorted[i] = &column->values[i];
    qsort(sorted, column->value_count, sizeof *sorted, by_text);
    size_t first = column->value_count;
    for (size_t i = 1; i < column->value_count; i++) {
        size_t at = (size_t)(sorted[i] - column->values);
        if (at < first && strcmp(*sorted[i - 1], *sorted[i]) == 0) first = at;
    }
    tmi_free(sorted);
    for (const tmi_yaml *item = list->first; item; item = item->next) {
        if (item->index == first) tmi_complain(reader, item, "stands twice in the list of values");
    }
}

static void read_values(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_column *column = target;
    if (value->kind != TMI_YAML_LIST || value->count == 0) {
        tmi_complain(reader, value, "expected a list of texts, e.g. [E, M, H]");
        return;
    }
    column->values = tmi_alloc(value->count, sizeof *column->values);
    if (!column->values) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_yaml *item = value->first; item; item = item->next) {
        if (tmi_read_text(reader, item, &column->values[column->value_count], "\"Yes\"")) column->value_count++;
    }
    if (column->value_count == value->count) complain_repeated(reader, value, column);
}

static const tmi_key keys[] = {
    {.name = "from", .read = read_from},
    {.name = "to", .read = read_to},
    {.name = "step", .read = read_step},
    {.name = "typical", .read = read_typical},
    {.name = "values", .read = read_values},
    {.name = "missing", .read = read_missing},
    {.name = "missing_codes", .read = read_missing_codes},
};

static const char *const number_keys[] = {"from", "to", "step", "typical", "missing_codes"};

static void check_number(tmi_reader *reader, const tmi_yaml *value, tmi_plan_column *column)
{
    static const char *const needed[] = {"from", "to", "step"};
    for (size_t i = 0; i < 3; i++) {
        if (tmi_yaml_get(value, needed[i])) continue;
        tmi_complain_key(reader, value, "expected the key %s, e.g. {from: 0, to: 4000, step: 1}", needed[i]);
    }
    if (!column->from || !column->to || !column->step) return;
    if (tmi_number_compare(column->from, column->to) >= 0) {
        tmi_complain(reader, tmi_yaml_get(value, "to"), "expected a `to` larger than `from`, e.g. {from: 0, to: 4000}");
        return;
    }
    tamis_error why = {0};
    if (tmi_number_sign(column->step) <= 0) {
        tmi_complain(reader, tmi_yaml_get(value, "step"), "expected a step larger than 0, e.g. 1");
    } else if (tmi_grid_set(&column->grid, column->from, column->to, column->step, &why) != TAMIS_OK) {
        if (why.status == TAMIS_SYSTEM) reader->no_memory = true;
        else tmi_complain(reader, tmi_yaml_get(value, "step"), "%s", why.message);
    } else if (column->grid.low == column->grid.high) {
        tmi_complain(reader, tmi_yaml_get(value, "step"),
                     "expected a step that leaves at least two grid points between from and to, e.g. 1");
    }
    if (column->typical && (tmi_number_compare(column->typical, column->from) < 0 ||
                            tmi_number_compare(column->typical, column->to) > 0)) {
        tmi_complain(reader, tmi_yaml_get(value, "typical"), "expected a number between from and to");
    }
}

static void read_column(tmi_reader *reader, const tmi_yaml *value, tmi_plan_column *column)
{
    static const char example[] = "{from: 0, to: 4000, step: 1} or {values: [E, M, H]}";
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, column);
    column->is_number = column->is_category = true; /* unclear: statistics of it are not complained about again */
    if (value->kind != TMI_YAML_MAP) return;
    bool category = tmi_yaml_get(value, "values") != NULL;
    const tmi_yaml *number = NULL;
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys && !number; i++) {
        number = tmi_yaml_get(value, number_keys[i]);
    }
    if (category && number) {
        tmi_complain_key(reader, number, "expected either a number (from, to, step) or a category (values), not both");
    } else if (number || category) {
        column->is_number = !category;
        column->is_category = category;
        if (number) check_number(reader, value, column);
    } else if (reader->count == before) {
        tmi_complain(reader, value, "expected a number or a category, e.g. %s", example);
    }
}

void tmi_read_columns(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tamis_plan *plan = target;
    if (value->kind != TMI_YAML_MAP) {
        tmi_complain(reader, value, "expected a map from column names, e.g. {stype: {values: [E, M, H]}}");
        return;
    }
    if (value->count > TMI_MAX_COLUMNS) {
        tmi_complain(reader, value, "expected at most %d columns", TMI_MAX_COLUMNS);
        return;
    }
    plan->columns = tmi_alloc(value->count, sizeof *plan->columns);
    if (!plan->columns) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_yaml *item = value->first; item; item = item->next, plan->declared_count = plan->column_count) {
        if (tmi_yaml_get(value, item->key) != item) continue; /* a duplicate; complained about already */
        tmi_plan_column *column = &plan->columns[plan->column_count];
        if (item->key[0] == '\0' || tmi_has_control(item->key)) {
            tmi_complain_key(reader, item, "expected the name of a column, without control characters");
            continue;
        }
        column->name = tmi_copy_text(item->key, strlen(item->key));
        if (!column->name) {
            reader->no_memory = true;
            return;
        }
        plan->column_count++;
        read_column(reader, item, column);
    }
}

const tmi_plan_column *tmi_plan_find_column(const tamis_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->column_count; i++) {
        if (strcmp(plan->columns[i].name, name) == 0) return &plan->columns[i];
    }
    return NULL;
}

static const char *column_name(const void *columns, size_t index)
{
    return ((const tmi_plan_column *)columns)[index].name;
}

void tmi_complain_column(tmi_reader *reader, const tmi_yaml *value, const tamis_plan *plan, const char *name,
                         bool number)
{
    const char *example = number ? "{enroll: {from: 0, to: 4000, step: 1}}" : "{stype: {values: [E, M, H]}}";
    for (size_t i = plan->column_count; i-- > 0;) {
        if (number ? plan->columns[i].is_number : plan->columns[i].is_category) example = plan->columns[i].name;
    }
    int nearest = tmi_nearest_word(name, column_name, plan->columns, plan->column_count);
    if (nearest >= 0) {
        tmi_complain(reader, value, "expected a column declared under `columns`; did you mean %s?",
                     plan->columns[nearest].name);
    } else {
        tmi_complain(reader, value, "expected a column declared under `columns`, e.g. %s", example);
    }
}
