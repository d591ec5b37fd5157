/* columns: what the plan promises about each column it uses. A number has public bounds and a grid (ranges.c), a category
 * has a public list of values; nothing is learnt from the data.                                                      */
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/memory.h"
#include "plan/sections.h"

/* Places in the list of values: by text, equal ones in the order of the list. */
static int by_text(const void *a, const void *b)
{
    char *const *x = *(char *const *const *)a, *const *y = *(char *const *const *)b;
    int order = strcmp(*x, *y);
    return order != 0 ? order : x < y ? -1 : x > y;
}

/* Each value once: sorting puts equal ones side by side, and the first duplicate is reported. */
static void complain_repeated(tmi_reader *reader, const tmi_value *list, const tmi_plan_column *column)
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
    if (first == column->value_count) return;
    if (list->kind == TMI_VALUE_LIST) tmi_complain(reader, tmi_value_at(list, first), "duplicate in the list of values");
    else tmi_complain(reader, list, "duplicate in the file of values: %s", column->values[first]);
}

static void read_values(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_column *column = target;
    if (value->kind == TMI_VALUE_MAP) {
        tmi_read_values_file(reader, value, column);
        if (column->value_count > 0) complain_repeated(reader, value, column);
        return;
    }
    if (value->kind != TMI_VALUE_LIST || value->count == 0) {
        tmi_complain(reader, value, "expected a list of texts, e.g. [E, M, H], or {file: codes.csv}");
        return;
    }
    column->values = tmi_alloc(value->count + 1, sizeof *column->values); /* one more: missing: category */
    if (!column->values) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        if (tmi_read_text(reader, item, &column->values[column->value_count], "\"Yes\"")) column->value_count++;
    }
    if (column->value_count == value->count) complain_repeated(reader, value, column);
}

/* Of a recode of the strata, or of another category: its values. Which strata, or values, have them is read when these are known
 * (ranges.c). */
static void read_recoded(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    if (value->kind != TMI_VALUE_MAP || value->count == 0) {
        tmi_complain(reader, value, "expected a map from each value to its %s, e.g. {north: [N1, N2], south: [S1]}",
                     strcmp(tmi_value_key(value), "strata") == 0 ? "strata" : "parts");
        return;
    }
    column->values = tmi_alloc(value->count, sizeof *column->values);
    for (const tmi_value *item = tmi_value_first(value); column->values && item; item = tmi_value_next(item)) {
        if (tmi_value_get(value, tmi_value_key(item)) != item) continue; /* a duplicate; complained about already */
        if (tmi_value_key(item)[0] == '\0' || tmi_has_control(tmi_value_key(item)))
            tmi_complain_key(reader, item, "expected a value, without control characters");
        column->values[column->value_count] = tmi_copy_text(tmi_value_key(item), strlen(tmi_value_key(item)));
        if (!column->values[column->value_count]) break;
        column->value_count++;
    }
    if (!column->values || column->value_count == 0) reader->no_memory = true;
}

int32_t tmi_code_of(const tmi_plan_column *category, const char *text)
{
    for (size_t i = 0; i < category->value_count; i++)
        if (strcmp(category->values[i], text) == 0) return (int32_t)i;
    return -1;
}

bool tmi_condition_has(const tmi_plan_condition *c, size_t code)
{
    size_t low = 0, high = c->code_count;
    while (low < high) { /* codes ascend */
        const size_t middle = (low + high) / 2;
        if ((size_t)c->codes[middle] < code) low = middle + 1;
        else high = middle;
    }
    return low < c->code_count && (size_t)c->codes[low] == code;
}

/* Values that a mistyped one is compared with: more take too long. */
#define MOST_COMPARED 1000

static const char *value_at(const void *values, size_t index) { return ((char *const *)values)[index]; }

static int32_t find_code(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *category, const char *text,
                         void (*complain)(tmi_reader *, const tmi_value *, const char *, ...))
{
    int32_t code = tmi_code_of(category, text);
    bool few = category->value_count <= MOST_COMPARED && reader->count < TMI_MAX_COMPLAINTS;
    int nearest = code >= 0 || !few ? -1 : tmi_nearest_word(text, value_at, category->values, category->value_count);
    if (nearest >= 0)
        complain(reader, value, "expected one of the values of %s; did you mean %s?", category->name, category->values[nearest]);
    else if (code < 0) complain(reader, value, "expected one of the values of %s, e.g. %s", category->name, category->values[0]);
    return code;
}

int32_t tmi_read_code(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *category)
{
    char *text = NULL;
    if (category->value_count == 0) return -1; /* complained about already */
    if (!tmi_read_text(reader, value, &text, category->values[0])) return -1;
    int32_t code = find_code(reader, value, category, text, tmi_complain);
    tmi_free(text);
    return code;
}

int32_t tmi_read_key_code(tmi_reader *reader, const tmi_value *item, const tmi_plan_column *category)
{
    return category->value_count == 0 ? -1 : find_code(reader, item, category, tmi_value_key(item), tmi_complain_key);
}

static void read_missing(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    static const char word[] = "missing"; /* the value that missing ones are counted under */
    if (value->kind == TMI_VALUE_TEXT && strcmp(value->text, "leave_out") == 0) return;
    if (value->kind == TMI_VALUE_TEXT && strcmp(value->text, "none") == 0) {
        if (tmi_code_of(column, "none") >= 0)
            tmi_complain(reader, value, "expected no value named none: `missing: none` says that no value is missing");
        column->missing = TMI_NEVER;
        return;
    }
    if (value->kind != TMI_VALUE_TEXT || strcmp(value->text, "category") != 0) {
        if (value->kind != TMI_VALUE_TEXT || value->text[0] == '\0' || column->value_count == 0) {
            tmi_complain(reader, value, "expected leave_out, none, category, or the value that replaces missing ones");
            return;
        }
        column->instead = tmi_read_code(reader, value, column);
        column->missing = TMI_AS_VALUE;
    } else if (tmi_code_of(column, word) >= 0) {
        tmi_complain(reader, value, "expected no value named missing: missing values are counted under that name");
    } else if (column->values) {
        column->values[column->value_count] = tmi_copy_text(word, strlen(word));
        if (column->values[column->value_count]) column->value_count++;
        else reader->no_memory = true;
        column->missing = TMI_AS_CATEGORY;
    }
}

static void read_missing_texts(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    if (!tmi_read_texts(reader, value, &column->missing_texts, &column->missing_text_count, TMI_MAX_MISSING_CODES, "97, 98"))
        return;
    for (size_t i = 0; i < value->count; i++)
        if (tmi_code_of(column, column->missing_texts[i]) >= 0)
            tmi_complain(reader, tmi_value_at(value, i), "is also in the list of values");
}

static void read_label(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_label(reader, value, &((tmi_plan_column *)target)->label, "pupils enrolled");
}

static void read_unit_of_measure(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_label(reader, value, &((tmi_plan_column *)target)->measured_in, "pupils");
}

static const tmi_plan_key keys[] = {
    {.name = "from", .read = tmi_read_later},    {.name = "to", .read = tmi_read_later},
    {.name = "step", .read = tmi_read_later},    {.name = "contribution", .read = tmi_read_later},
    {.name = "typical", .read = tmi_read_later}, {.name = "values", .read = read_values},
    {.name = "missing", .read = tmi_read_later}, {.name = "missing_codes", .read = tmi_read_later},
    {.name = "label", .read = read_label},       {.name = "unit_of_measure", .read = read_unit_of_measure},
    {.name = "strata", .read = tmi_read_later},  {.name = "of", .read = tmi_read_later},
    {.name = "parts", .read = tmi_read_later},   {.name = "unit_contribution", .read = tmi_read_later},
};

static const char *const number_keys[] = {"from", "to", "step"};

static void read_column(tmi_reader *reader, const tmi_value *value, tmi_plan_column *column)
{
    static const char example[] = "{from: 0, to: 4000, step: 1} or {values: [E, M, H]}";
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, column);
    column->is_number = column->is_category = true; /* unclear: what is made of it is not complained about again */
    if (value->kind != TMI_VALUE_MAP) return;
    const tmi_value *strata = tmi_value_get(value, "strata"), *parts = tmi_value_get(value, "parts"),
                    *of = tmi_value_get(value, "of");
    if (strata && parts) tmi_complain_key(reader, parts, "expected either strata or parts, not both");
    if (parts && !of) tmi_complain_key(reader, parts, "expected the key of with it: the category that the parts are values of");
    if (of && !parts)
        tmi_complain_key(reader, of, "expected the key parts with it, e.g. {of: district, parts: {north: [N1, N2]}}");
    if (!strata) strata = parts;
    bool category = strata || tmi_value_get(value, "values") != NULL;
    const tmi_value *number = NULL;
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys && !number; i++) {
        number = tmi_value_get(value, number_keys[i]);
    }
    if (category && number) {
        tmi_complain_key(reader, number, "expected either a number (from, to, step) or a category (values), not both");
    } else if (number || category) {
        column->is_number = !category;
        column->is_category = category;
    } else if (reader->count == before) {
        tmi_complain(reader, value, "expected a number or a category, e.g. %s", example);
    }
    static const char *const read_keys[] = {"values", "missing", "missing_codes", "typical"};
    for (size_t i = 0; strata && i < sizeof read_keys / sizeof *read_keys; i++) {
        const tmi_value *other = tmi_value_get(value, read_keys[i]);
        if (other)
            tmi_complain_key(reader, other, "cannot be combined with `%s`: every unit has the value of its %s",
                             parts ? "parts" : "strata", parts ? "part" : "stratum");
    }
    column->is_recoded = strata != NULL;
    if (strata && !tmi_value_get(value, "values")) read_recoded(reader, strata, column);
    const tmi_value *measured_in = tmi_value_get(value, "unit_of_measure");
    if (measured_in && category && !number) tmi_complain_key(reader, measured_in, "is for numbers; this column is a category");
    static const char *const bounds[] = {"contribution", "unit_contribution"};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const tmi_value *bound = tmi_value_get(value, bounds[i]);
        if (bound && category && !number) tmi_complain_key(reader, bound, "is for numbers; this column is a category");
    }
    if (column->is_number || strata) return;
    const tmi_value *missing = tmi_value_get(value, "missing"), *codes = tmi_value_get(value, "missing_codes");
    if (missing) read_missing(reader, missing, column);
    if (codes) read_missing_texts(reader, codes, column);
    const tmi_value *typical = tmi_value_get(value, "typical");
    if (typical && column->value_count > 0) tmi_read_typical_shares(reader, typical, column);
}

/* Maps and lists: each makes one column at most. */
static size_t count_parts(const tmi_value *tree)
{
    size_t count = tree && tree->kind != TMI_VALUE_TEXT;
    for (const tmi_value *part = tree ? tmi_value_first(tree) : NULL; part; part = tmi_value_next(part))
        count += count_parts(part);
    return count;
}

void tmi_make_column_room(tmi_reader *reader, tamis_plan *plan, const tmi_value *columns, const tmi_value *statistics,
                          const tmi_value *calibrate)
{
    size_t declared = columns && columns->kind == TMI_VALUE_MAP && columns->count <= TMI_MAX_COLUMNS ? columns->count : 0;
    /* the strata, or the columns that cross into them, their copies, and what is joined of these */
    const size_t strata = 3 * TMI_MAX_STRATA_COLUMNS;
    plan->column_room = declared + strata + count_parts(statistics) + count_parts(calibrate) +
                        tmi_count_curve_columns(statistics);
    plan->columns = tmi_alloc(plan->column_room, sizeof *plan->columns);
    if (!plan->columns) reader->no_memory = true;
}

void tmi_read_columns(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    if (value->kind != TMI_VALUE_MAP) {
        tmi_complain(reader, value, "expected a map from column names, e.g. {stype: {values: [E, M, H]}}");
        return;
    }
    if (value->count > TMI_MAX_COLUMNS) {
        tmi_complain(reader, value, "expected at most %d columns", TMI_MAX_COLUMNS);
        return;
    }
    for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
        if (tmi_value_get(value, tmi_value_key(item)) != item) continue; /* a duplicate; complained about already */
        tmi_plan_column *column = &plan->columns[plan->column_count];
        if (tmi_value_key(item)[0] == '\0' || tmi_has_control(tmi_value_key(item))) {
            tmi_complain_key(reader, item, "expected the name of a column, without control characters");
            continue;
        }
        column->name = tmi_copy_text(tmi_value_key(item), strlen(tmi_value_key(item)));
        if (!column->name) {
            reader->no_memory = true;
            return;
        }
        plan->declared_count = ++plan->column_count;
        read_column(reader, item, column);
    }
}

const tmi_plan_column *tmi_add_category(tamis_plan *plan, const char *name, const tmi_plan_stratum *values, size_t count)
{
    tmi_plan_column *column = &plan->columns[plan->column_count];
    column->name = tmi_copy_text(name, strlen(name));
    column->values = tmi_alloc(count, sizeof *column->values);
    column->is_category = true;
    plan->declared_count = ++plan->column_count;
    bool failed = !column->name || !column->values;
    for (size_t i = 0; !failed && i < count; i++) {
        column->values[i] = tmi_copy_text(values[i].name, strlen(values[i].name));
        failed = !column->values[i];
        if (!failed) column->value_count++;
    }
    return failed ? NULL : column;
}

const tmi_plan_column *tmi_plan_find_column(const tamis_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->declared_count; i++) {
        if (strcmp(plan->columns[i].name, name) == 0) return &plan->columns[i];
    }
    return NULL;
}

static const char *column_name(const void *columns, size_t index) { return ((const tmi_plan_column *)columns)[index].name; }

/* Whether the column would be declared by the strata, if these could be read. */
static bool is_unread(const tmi_value *strata, const char *name)
{
    const bool list = strata && strata->kind == TMI_VALUE_LIST;
    for (const tmi_value *item = list ? tmi_value_first(strata) : strata; item; item = list ? tmi_value_next(item) : NULL)
        if (item->kind == TMI_VALUE_TEXT && strcmp(item->text, name) == 0) return true;
    return false;
}

void tmi_complain_column(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, const char *name, bool number)
{
    if (is_unread(reader->unread_strata, name)) return;
    const char *example = number ? "{enroll: {from: 0, to: 4000, step: 1}}" : "{stype: {values: [E, M, H]}}";
    for (size_t i = plan->declared_count; i-- > 0;) {
        if (number ? plan->columns[i].is_number : plan->columns[i].is_category) example = plan->columns[i].name;
    }
    int nearest = tmi_nearest_word(name, column_name, plan->columns, plan->declared_count);
    bool key = tmi_value_key(value) && strcmp(tmi_value_key(value), name) == 0; /* in a map from columns */
    void (*complain)(tmi_reader *, const tmi_value *, const char *, ...) = key ? tmi_complain_key : tmi_complain;
    if (nearest >= 0) {
        complain(reader, value, "%s is not declared under `columns`; did you mean %s?", name, plan->columns[nearest].name);
    } else {
        complain(reader, value, "%s is not declared under `columns`; expected a column such as %s", name, example);
    }
}
