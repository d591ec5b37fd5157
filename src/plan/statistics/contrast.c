/* difference, quotient, contrast, change: what they compare, and the statistics that they are made of.
 *
 * The numbers of a contrast are groups of other statistics. Where such a statistic is asked for too, with the same confidence,
 * it is that one; else it is added after those that were asked for, and nobody sees it. So a contrast has no table of its own. */
#include <string.h>

#include <tamis/experimental/bound.h>

#include "base/memory.h"
#include "num/number.h"
#include "plan/json_fields.h"
#include "plan/sections.h"

static const char between_groups[] = "{mean: income, between: {sex: [m, f]}}";
static const char since[] = "{change: {mean: income}, by: sex, since: wave-2025-release}";
static const char by_weights[] = "{mean: income, by: {age: [30, 50]}, weights: [-1, 2, -1]}";

/* ---- terms ---- */

static bool add_term(tmi_reader *reader, tmi_plan_contrast *c, size_t room, size_t compared, size_t code, int64_t weight)
{
    if (!c->terms) c->terms = tmi_alloc(room, sizeof *c->terms);
    if (c->terms && tmi_number_ratio(&c->terms[c->term_count].weight, weight, 1, NULL) == TAMIS_OK) {
        c->terms[c->term_count].compared = compared;
        c->terms[c->term_count++].code = code;
        return true;
    }
    reader->no_memory = true;
    return false;
}

/* Two values of a category: the first minus, or divided by, the second. */
static void read_between(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_contrast *c)
{
    const tmi_value *item = value->kind == TMI_VALUE_MAP && value->count == 1 ? tmi_value_first(value) : NULL;
    if (!item || item->kind != TMI_VALUE_LIST || item->count != 2) {
        tmi_complain(reader, value, "expected a category and two of its values, e.g. {sex: [m, f]}");
        return;
    }
    const tmi_plan_column *column = tmi_plan_find_column(plan, tmi_value_key(item));
    if (!column) {
        tmi_complain_column(reader, item, plan, tmi_value_key(item), false);
        return;
    }
    if (!column->is_category) {
        tmi_complain(reader, item, "expected a category; this column is a number: write contrast: %s", by_weights);
        return;
    }
    const tmi_value *first = tmi_value_first(item), *second = tmi_value_next(first);
    const int32_t a = tmi_read_code(reader, first, column), b = tmi_read_code(reader, second, column);
    if (a < 0 || b < 0) return;
    if (a == b) {
        tmi_complain(reader, item, "expected two different values");
        return;
    }
    c->across = column;
    if (add_term(reader, c, 2, 0, (size_t)a, 1)) add_term(reader, c, 2, 0, (size_t)b, -1);
}

/* One weight for each group, in their order. */
static void read_weights(tmi_reader *reader, const tmi_value *map, tamis_plan *plan, tmi_plan_contrast *c)
{
    const tmi_value *by = tmi_value_get(map, "by"), *weights = tmi_value_get(map, "weights");
    const tmi_plan_column *columns[TMI_MAX_BY];
    const size_t before = reader->count;
    size_t count = 0;
    if (!by || !weights) {
        tmi_complain(reader, map, "expected the keys by and weights, e.g. %s", by_weights);
        return;
    }
    tmi_read_by_columns(reader, by, plan, columns, &count);
    if (reader->count > before || reader->no_memory) return;
    if (count != 1) {
        tmi_complain(reader, by, "expected one column, the one whose groups have weights; give others as the by of the contrast");
        return;
    }
    const size_t groups = columns[0]->value_count;
    if (weights->kind != TMI_VALUE_LIST || weights->count != groups) {
        tmi_complain(reader, weights, "expected %zu weights, one for each group of %s in their order", groups, columns[0]->name);
        return;
    }
    c->across = columns[0];
    size_t code = 0;
    for (const tmi_value *item = tmi_value_first(weights); item; item = tmi_value_next(item), code++) {
        tamis_number *weight = NULL;
        if (!tmi_read_exact(reader, item, &weight, "-1")) return;
        const bool none = tmi_number_sign(weight) == 0,
                   large = tmi_number_compare_int(weight, 1000000) > 0 || tmi_number_compare_int(weight, -1000000) < 0;
        if (large) tmi_complain(reader, item, "expected a weight from -1000000 to 1000000");
        if (!none && !large && add_term(reader, c, groups, 0, code, 1)) {
            tamis_number_free(c->terms[c->term_count - 1].weight);
            c->terms[c->term_count - 1].weight = weight;
        } else {
            tamis_number_free(weight);
        }
        if (large || reader->no_memory) return;
    }
    if (c->term_count < 2) tmi_complain(reader, weights, "expected at least two weights that are not 0");
}

/* Two statistics of the same rows. */
static void read_minus(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_contrast *c)
{
    static const char example[] = "{share: {vote: B}}";
    static const char *const keys[] = {"between", "minus", "by", "weights"};
    for (size_t i = 0; value->kind == TMI_VALUE_MAP && i < sizeof keys / sizeof *keys; i++) {
        const tmi_value *key = tmi_value_get(value, keys[i]);
        if (!key) continue;
        tmi_complain_key(reader, key, "does not belong in minus: expected a statistic alone, e.g. %s", example);
        return;
    }
    const tmi_plan_compared *first = &c->compared[0], *second = &c->compared[1];
    if (!tmi_read_compared(reader, value, plan, &c->compared[1], example)) return;
    c->compared_count = 2;
    const bool sums = first->kind == TMI_COUNT || first->kind == TMI_TOTAL,
               others = second->kind == TMI_COUNT || second->kind == TMI_TOTAL;
    if (first->kind == second->kind && first->column == second->column && first->second == second->second)
        tmi_complain(reader, value, "expected another statistic: the difference of a number and itself is 0");
    else if (sums != others)
        tmi_complain(reader, value, "expected both to be counts or totals, or both to be means, shares or ratios");
    else if (add_term(reader, c, 2, 0, 0, 1)) add_term(reader, c, 2, 1, 0, -1);
}

/* ---- since an earlier release ---- */

/* How many units are in both samples, and the column of the values that these had then. */
typedef struct overlap {
    const tamis_plan *plan;
    tmi_plan_contrast *change;
} overlap;

static void read_size(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_whole(reader, value, &((overlap *)target)->change->overlap, 1, TAMIS_MAX_UNITS, "500");
}

static void read_before(tmi_reader *reader, const tmi_value *value, void *target)
{
    const overlap *o = target;
    const tmi_plan_column *own = o->change->compared[0].column, *column = tmi_read_number(reader, value, o->plan);
    if (!column) return;
    if (column == own || column->by_stratum || own->by_stratum || column->grid.low != own->grid.low ||
        column->grid.high != own->grid.high || column->grid.step != own->grid.step)
        tmi_complain(reader, value, "expected another column with the range and step of %s", own->name);
    else if (column->missing != TMI_LEAVE_OUT)
        tmi_complain(reader, value, "expected a column without `missing`: who has no value was not in the earlier sample");
    else o->change->before = column;
}

static void read_overlap(tmi_reader *reader, const tmi_value *map, const tamis_plan *plan, tmi_plan_contrast *c)
{
    static const tmi_plan_key keys[] = {
        {.name = "size", .read = read_size, .required = "size: 500"},
        {.name = "before", .read = read_before, .required = "before: income_before"},
    };
    overlap o = {plan, c};
    if (c->compared[0].kind != TMI_MEAN || !c->compared[0].column || c->compared[0].column->conditions)
        tmi_complain_key(reader, map, "is for the change of a mean of a number, e.g. change: {mean: income}");
    else tmi_read_map(reader, map, keys, 2, "{size: 500, before: income_before}", &o);
}

void tmi_read_since(tmi_reader *reader, const tmi_value *map, const tamis_plan *plan, tmi_plan_contrast *c)
{
    static const char *const known[] = {"independent"};
    const tmi_value *since = tmi_value_get(map, "since"), *samples = tmi_value_get(map, "samples");
    size_t which;
    if (!since) {
        tmi_complain(reader, map,
                     "expected the key since with it, the folder of the earlier release, e.g. since: wave-2025-release");
        return;
    }
    if (!tmi_read_path(reader, since, plan->name, &c->since, "wave-2025-release")) return;
    for (size_t length = strlen(c->since); length > 1 && c->since[length - 1] == '/';) c->since[--length] = '\0';
    const char *name = tmi_last_name(c->since);
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        tmi_complain(reader, since, "expected a folder by its name, e.g. wave-2025-release");
    const tmi_value *overlap = tmi_value_get(map, "overlap");
    if (overlap && samples) tmi_complain_key(reader, overlap, "contradicts samples: independent");
    else if (overlap) read_overlap(reader, overlap, plan, c);
    if (!samples || !tmi_read_word(reader, samples, &which, known, 1)) return;
    c->independent = true;
    if (plan->wave.same_sample)
        tmi_complain_key(reader, samples, "contradicts the wave, whose sample is that of the wave before (same_sample: yes)");
}

/* ---- the whole ---- */

static bool is_bounded_otherwise(const tmi_plan_compared *c)
{
    return tmi_has_contributions(c->column) || tmi_has_contributions(c->second) ||
           (c->kind == TMI_TOTAL && c->column->unit_contribution);
}

static void check_groups(tmi_reader *reader, const tmi_value *value, const tmi_plan_statistic *s)
{
    const tmi_plan_column *across = s->contrast->across;
    for (size_t k = 0; across && k < s->by_count; k++) {
        const bool same = s->by[k] == across || (across->cut_of && s->by[k]->cut_of == across->cut_of);
        if (same) tmi_complain(reader, value, "%s is compared and cannot be in `by` too", across->name);
    }
    if (across && s->by_count == TMI_MAX_BY)
        tmi_complain(reader, value, "expected at most %d groupings, with that which is compared", TMI_MAX_BY);
    for (size_t i = 0; i < s->contrast->compared_count; i++)
        if (is_bounded_otherwise(&s->contrast->compared[i]))
            tmi_complain(reader, value,
                         "expected columns without `contribution` and without {times, of}, and no total of a column with "
                         "`unit_contribution`: the sampling error of such totals is that of contributions, and how two of them "
                         "vary together is not known");
}

void tmi_read_contrast(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_statistic *s)
{
    const char *example = s->kind == TMI_CONTRAST_WEIGHTED ? by_weights
                          : s->kind == TMI_CONTRAST_CHANGE ? "{mean: income}"
                                                           : between_groups;
    tmi_plan_contrast *c = s->contrast = tmi_alloc(1, sizeof *c);
    if (!c) {
        reader->no_memory = true;
        return;
    }
    if (!tmi_read_compared(reader, value, plan, &c->compared[0], example)) return;
    c->compared_count = 1;
    s->column = c->compared[0].column;
    s->second = c->compared[0].second;
    const tmi_value *between = tmi_value_get(value, "between"), *minus = tmi_value_get(value, "minus"),
                    *by = tmi_value_get(value, "by"), *weights = tmi_value_get(value, "weights");
    const size_t before = reader->count;
    if (s->kind == TMI_CONTRAST_CHANGE) {
        const tmi_value *wrong = between ? between : minus ? minus : by ? by : weights;
        if (wrong) tmi_complain_key(reader, wrong, "does not belong in change; to group it, write by beside it, e.g. %s", since);
        else add_term(reader, c, 1, 0, 0, 1);
    } else if (s->kind == TMI_CONTRAST_WEIGHTED) {
        const tmi_value *wrong = between ? between : minus;
        if (wrong) tmi_complain_key(reader, wrong, "is for differences: a contrast has by and weights, e.g. %s", by_weights);
        else read_weights(reader, value, plan, c);
    } else if (by || weights) {
        tmi_complain_key(reader, by ? by : weights, "is for contrasts; to group a %s, write by beside it",
                         s->kind == TMI_CONTRAST_QUOTIENT ? "quotient" : "difference");
    } else if (minus && s->kind == TMI_CONTRAST_QUOTIENT) {
        tmi_complain_key(reader, minus,
                         "is for differences; a quotient of two numbers of the same rows is a ratio, e.g. "
                         "ratio: {of: income, to: hours}");
    } else if ((between != NULL) == (minus != NULL)) {
        tmi_complain(reader, value, "expected %s, e.g. %s",
                     s->kind == TMI_CONTRAST_QUOTIENT ? "between" : "one of between and minus", example);
    } else if (between) {
        read_between(reader, between, plan, c);
    } else {
        read_minus(reader, minus, plan, c);
    }
    if (reader->count == before && !reader->no_memory) check_groups(reader, value, s);
}

/* ---- the statistics that they are made of ---- */

/* Finds the columns of a contrast among those of a statistic, which has these and no others. */
static bool find_places(tmi_plan_compared *c, const tmi_plan_statistic *t, const tmi_plan_statistic *of)
{
    const tmi_plan_column *across = t->contrast->across;
    if (of->by_count != t->by_count + (across ? 1 : 0)) return false;
    c->across = SIZE_MAX;
    for (size_t j = 0; across && j < of->by_count; j++)
        if (of->by[j] == across) c->across = j;
    if (across && c->across == SIZE_MAX) return false;
    for (size_t k = 0; k < t->by_count; k++) {
        c->by[k] = SIZE_MAX;
        for (size_t j = 0; j < of->by_count; j++)
            if (of->by[j] == t->by[k]) c->by[k] = j;
        if (c->by[k] == SIZE_MAX) return false;
    }
    return true;
}

/* Finds the categories of a model too. */
static bool find_all_places(tmi_plan_compared *c, const tmi_plan_statistic *t, const tmi_plan_statistic *of)
{
    if (!t->model) return find_places(c, t, of);
    size_t categories = 0;
    c->across = SIZE_MAX;
    for (size_t k = 0; k < t->by_count + t->model->on_count; k++) {
        const bool by = k < t->by_count;
        const tmi_plan_column *column = by ? t->by[k] : t->model->on[k - t->by_count];
        if (!column->is_category) continue;
        size_t j = 0;
        while (j < of->by_count && of->by[j] != column) j++;
        if (j == of->by_count) return false;
        if (by) c->by[k] = j;
        else c->on[categories++] = j;
    }
    return of->by_count == t->by_count + categories;
}

static bool are_equal(const tamis_number *a, const tamis_number *b) { return a && b ? tmi_number_compare(a, b) == 0 : a == b; }

static bool has_same_rows(const tmi_plan_compared *c, const tmi_plan_statistic *s)
{
    bool same = c->also_count == s->also_count;
    for (size_t k = 0; same && k < c->also_count; k++) same = c->also[k] == s->also[k];
    return same;
}

static bool find_compared(tmi_plan_compared *c, const tamis_plan *plan, const tmi_plan_statistic *t)
{
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (tmi_is_of_curve(plan, i) || s->kind != c->kind || s->column != c->column || s->second != c->second ||
            s->where != t->where || s->method || s->shrink || !are_equal(s->deff, t->deff) ||
            !are_equal(s->confidence, t->confidence) || !has_same_rows(c, s) || !find_all_places(c, t, s))
            continue;
        c->statistic = i;
        return true;
    }
    return false;
}

static bool add_compared(tmi_plan_compared *c, tamis_plan *plan, const tmi_plan_statistic *t)
{
    tmi_plan_statistic *s = &plan->statistics[plan->statistic_count];
    *s = (tmi_plan_statistic){.kind = c->kind,
                              .column = c->column,
                              .second = c->second,
                              .also_count = c->also_count,
                              .where = t->where,
                              .by_count = t->by_count,
                              .curve = SIZE_MAX,
                              .line = t->line,
                              .place = t->place};
    memcpy(s->by, t->by, sizeof s->by);
    memcpy(s->also, c->also, sizeof s->also);
    if (t->contrast->across && !t->model) s->by[s->by_count++] = t->contrast->across;
    for (size_t k = 0; t->model && k < t->model->on_count; k++)
        if (t->model->on[k]->is_category) s->by[s->by_count++] = t->model->on[k];
    c->statistic = plan->statistic_count++;
    return find_all_places(c, t, s) && tmi_number_copy(&s->share, t->share, NULL) == TAMIS_OK &&
           tmi_number_copy(&s->confidence, t->confidence, NULL) == TAMIS_OK &&
           (!t->deff || tmi_number_copy(&s->deff, t->deff, NULL) == TAMIS_OK);
}

void tmi_make_compared(tmi_reader *reader, const tmi_value *list, tamis_plan *plan)
{
    const size_t before = plan->statistic_count;
    size_t most = 0;
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].contrast) most += plan->statistics[i].contrast->compared_count;
    if (most == 0) return;
    tmi_plan_statistic *more = tmi_regrow(plan->statistics, before * sizeof *more, before + most, sizeof *more);
    bool right = more != NULL;
    if (more) plan->statistics = more;
    for (size_t i = 0; right && i < plan->asked_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        for (size_t k = 0; right && t->contrast && k < t->contrast->compared_count; k++) {
            tmi_plan_compared *c = &t->contrast->compared[k];
            right = find_compared(c, plan, t) || add_compared(c, plan, t);
        }
    }
    if (!right) reader->no_memory = true;
    int64_t cells = 0;
    for (size_t i = 0; right && i < plan->statistic_count && cells <= TMI_MAX_PLAN_CELLS; i++)
        if (__builtin_add_overflow(cells, tmi_statistic_cells(&plan->statistics[i]), &cells)) cells = INT64_MAX;
    if (cells > TMI_MAX_PLAN_CELLS)
        tmi_complain(
            reader, list,
            "expected at most %lld groups in all statistics and those that contrasts are made of: use fewer `by` columns",
            (long long)TMI_MAX_PLAN_CELLS);
}

/* A plan that is changed to see what would be expected of it may have joined values: the last one is then the largest. */
size_t tmi_term_cell(const tamis_plan *plan, const tmi_plan_statistic *t, size_t term, size_t group)
{
    const tmi_plan_compared *c = &t->contrast->compared[t->contrast->terms[term].compared];
    const tmi_plan_statistic *of = &plan->statistics[c->statistic];
    const size_t place = term;
    size_t codes[TMI_MAX_BY] = {0}, cell = 0, categories = 0;
    if (t->model) group /= t->model->term_count;
    for (size_t k = 0; t->model && k < t->model->on_count; k++) categories += t->model->on[k]->is_category;
    for (size_t k = t->model ? t->model->on_count : 0; k-- > 0;) {
        if (!t->model->on[k]->is_category) continue;
        codes[c->on[--categories]] = term % t->model->on[k]->value_count;
        term /= t->model->on[k]->value_count;
    }
    for (size_t k = t->by_count; k-- > 0;) {
        codes[c->by[k]] = group % t->by[k]->value_count;
        group /= t->by[k]->value_count;
    }
    if (c->across != SIZE_MAX) codes[c->across] = t->contrast->terms[place].code;
    for (size_t j = 0; j < of->by_count; j++) {
        const size_t most = of->by[j]->value_count - 1;
        cell = cell * of->by[j]->value_count + (codes[j] < most ? codes[j] : most);
    }
    return cell;
}

/* ---- indicators of the same column ---- */

static size_t count_common(const tmi_plan_condition *a, const tmi_plan_condition *b)
{
    size_t common = 0;
    for (size_t i = 0; i < a->code_count; i++) common += tmi_condition_has(b, (size_t)a->codes[i]);
    return common;
}

tmi_relation tmi_relation_of(const tmi_plan_column *first, const tmi_plan_column *second)
{
    if (!first || !second || first->condition_count != 1 || second->condition_count != 1) return TMI_UNRELATED;
    const tmi_plan_condition *a = first->conditions, *b = second->conditions;
    if (a->column != b->column) return TMI_UNRELATED;
    if (a->column->is_number) {
        if (a->most < b->least || b->most < a->least) return TMI_EXCLUDED;
        if (a->least >= b->least && a->most <= b->most) return TMI_WITHIN;
        return b->least >= a->least && b->most <= a->most ? TMI_AROUND : TMI_UNRELATED;
    }
    const size_t common = count_common(a, b);
    if (common == 0) return TMI_EXCLUDED;
    return common == a->code_count ? TMI_WITHIN : common == b->code_count ? TMI_AROUND : TMI_UNRELATED;
}
