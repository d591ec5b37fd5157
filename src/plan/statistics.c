/* statistics: the list of what is asked for. One row a statistic; how it is measured and estimated is release/'s
 * business (release/statistic.h).                                                                                    */
#include <string.h>

#include "base/memory.h"
#include "plan/sections.h"

/* Beside the statistic its plan, in which columns are looked up. */
typedef struct entry {
    const tamis_plan *plan;
    tmi_plan_statistic *statistic;
    const tmi_yaml *kind; /* the first key that names a statistic */
} entry;

/* Two statistics in one entry: the second is told about. */
static bool take_kind(tmi_reader *reader, const tmi_yaml *value, entry *e, tmi_statistic_kind kind)
{
    if (e->kind) {
        tmi_complain_key(reader, value, "expected one statistic an entry, and this one has %s already: begin a new entry"
                         " with a dash", e->kind->key);
        return false;
    }
    e->kind = value;
    e->statistic->kind = kind;
    return true;
}

static void read_count(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    if (!take_kind(reader, value, target, TMI_COUNT)) return;
    if (value->kind != TMI_YAML_TEXT || strcmp(value->text, "units") != 0) {
        tmi_complain(reader, value, "expected units, e.g. count: units");
    }
}

static void read_number_column(tmi_reader *reader, const tmi_yaml *value, entry *e)
{
    if (value->kind == TMI_YAML_MAP) {
        tmi_complain(reader, value, "an indicator in the place of a column " TMI_NOT_YET);
        return;
    }
    char *name = NULL;
    if (!tmi_read_text(reader, value, &name, "enroll")) return;
    const tmi_plan_column *column = tmi_plan_find_column(e->plan, name);
    if (!column) tmi_complain_column(reader, value, e->plan, name, true);
    else if (!column->is_number) tmi_complain(reader, value, "expected a number; this column is a category");
    else e->statistic->column = column;
    tmi_free(name);
}

static void read_total(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    if (take_kind(reader, value, target, TMI_TOTAL)) read_number_column(reader, value, target);
}

static void read_mean(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    if (take_kind(reader, value, target, TMI_MEAN)) read_number_column(reader, value, target);
}

static void read_by_column(tmi_reader *reader, const tmi_yaml *value, entry *e)
{
    if (value->kind == TMI_YAML_MAP) {
        tmi_complain(reader, value, "groups by cuts of a number " TMI_NOT_YET);
        return;
    }
    char *name = NULL;
    if (!tmi_read_text(reader, value, &name, "stype")) return;
    const tmi_plan_column *column = tmi_plan_find_column(e->plan, name);
    tmi_plan_statistic *s = e->statistic;
    bool repeated = false;
    for (size_t i = 0; i < s->by_count; i++) repeated = repeated || s->by[i] == column;
    if (!column) tmi_complain_column(reader, value, e->plan, name, false);
    else if (!column->is_category) tmi_complain(reader, value, "expected a category; this column is a number");
    else if (repeated) tmi_complain(reader, value, "stands twice in `by`");
    else s->by[s->by_count++] = column;
    tmi_free(name);
}

static void read_by(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    if (value->kind != TMI_YAML_LIST) {
        read_by_column(reader, value, target);
    } else if (value->count == 0 || value->count > TMI_MAX_BY) {
        tmi_complain(reader, value, "expected 1 to %d categories, e.g. [stype, awards]", TMI_MAX_BY);
    } else {
        for (const tmi_yaml *item = value->first; item; item = item->next) read_by_column(reader, item, target);
    }
}

/* Whether the fraction has at most SHARE_DIGITS digits above and below its line. The epsilon of a table has the shares of
 * all statistics below its line; a thousand shares of a thousand digits would fill the memory. */
#define SHARE_DIGITS 6

static bool is_short(tmi_reader *reader, const tamis_number *number)
{
    char *text = NULL;
    if (tamis_number_write(&text, number, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return true;
    }
    size_t above = strcspn(text, "/"), below = strlen(text) - above;
    tmi_free(text);
    return above <= SHARE_DIGITS && below <= SHARE_DIGITS + 1;
}

static void read_share(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_statistic *s = ((entry *)target)->statistic;
    if (!tmi_read_exact(reader, value, &s->share, "2")) return;
    if (tmi_number_sign(s->share) <= 0) {
        tmi_complain(reader, value, "expected a share larger than 0, e.g. 2");
    } else if (!is_short(reader, s->share)) {
        tmi_complain(reader, value, "expected a simple fraction, at most %d digits above and below the line, e.g. 1/3",
                     SHARE_DIGITS);
    }
}

static void read_confidence(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tmi_plan_statistic *s = ((entry *)target)->statistic;
    if (!tmi_read_exact(reader, value, &s->confidence, "0.95")) return;
    tamis_number *most = NULL;
    if (tmi_number_ratio(&most, 999999999, 1000000000, NULL) != TAMIS_OK) {
        reader->no_memory = true;
        return;
    }
    if (tmi_number_sign(s->confidence) <= 0 || tmi_number_compare(s->confidence, most) > 0) {
        tmi_complain(reader, value, "expected a confidence above 0 and at most 0.999999999, e.g. 0.95");
    }
    tamis_number_free(most);
}

static const tmi_key keys[] = {
    {.name = "count", .read = read_count},
    {.name = "total", .read = read_total},
    {.name = "mean", .read = read_mean},
    {.name = "share"},
    {.name = "ratio"},
    {.name = "table"},
    {.name = "histogram"},
    {.name = "quantile"},
    {.name = "median"},
    {.name = "variance"},
    /* what may stand beside a statistic */
    {.name = "by", .read = read_by},
    {.name = "budget_share", .read = read_share},
    {.name = "confidence", .read = read_confidence},
    {.name = "where"},
    {.name = "method"},
    {.name = "at"},
    {.name = "cuts"},
    /* what tamis does not do */
    {.name = "gini", .not_offered = "the Gini index has no useful private form here"},
    {.name = "s80_s20", .not_offered = "S80/S20 has no useful private form here"},
    {.name = "poverty", .not_offered = "release the median first, then the share below a fixed line"},
    {.name = "regression", .not_offered = "release totals of products instead"},
    {.name = "change", .not_offered = "release both waves and add their standard errors"},
};

int64_t tmi_statistic_cells(const tmi_plan_statistic *statistic)
{
    int64_t cells = statistic->kind == TMI_QUANTILE ? (int64_t)statistic->at_count : 1;
    for (size_t i = 0; i < statistic->by_count; i++) {
        if (__builtin_mul_overflow(cells, (int64_t)statistic->by[i]->value_count, &cells)) return INT64_MAX;
    }
    return cells;
}

static void read_statistic(tmi_reader *reader, const tmi_yaml *value, tamis_plan *plan, tmi_plan_statistic *statistic)
{
    static const char example[] = "{total: enroll, by: stype}";
    entry e = {.plan = plan, .statistic = statistic};
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, &e);
    if (!e.kind && reader->count == before) {
        tmi_complain(reader, value, "expected a statistic: count, total or mean, e.g. %s", example);
    }
    bool shared = statistic->share || tmi_number_ratio(&statistic->share, 1, 1, NULL) == TAMIS_OK;
    bool confident = statistic->confidence || tmi_number_ratio(&statistic->confidence, 19, 20, NULL) == TAMIS_OK;
    if (!shared || !confident) reader->no_memory = true;
}

/* The same number of the same groups, in whatever order they stand. */
static bool is_same(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    if (a->kind != b->kind || a->column != b->column || a->by_count != b->by_count) return false;
    for (size_t i = 0; i < a->by_count; i++) {
        bool found = false;
        for (size_t j = 0; j < b->by_count; j++) found = found || a->by[i] == b->by[j];
        if (!found) return false;
    }
    return true;
}

/* A statistic that stands twice would be measured once, or twice for nothing. */
static void complain_same(tmi_reader *reader, const tmi_yaml *list, const tmi_yaml *item, const tamis_plan *plan)
{
    const tmi_yaml *earlier = list->first;
    for (size_t i = 0; i + 1 < plan->statistic_count; i++, earlier = earlier->next) {
        if (!is_same(&plan->statistics[i], &plan->statistics[plan->statistic_count - 1])) continue;
        tmi_complain(reader, item, "stands twice; the same statistic was already given in line %d, column %d", earlier->line,
                     earlier->column);
        return;
    }
}

void tmi_read_statistics(tmi_reader *reader, const tmi_yaml *value, void *target)
{
    tamis_plan *plan = target;
    if (value->kind != TMI_YAML_LIST || value->count == 0 || value->count > TMI_MAX_STATISTICS) {
        tmi_complain(reader, value, "expected a list of 1 to %d statistics, e.g. - total: enroll", TMI_MAX_STATISTICS);
        return;
    }
    plan->statistics = tmi_alloc(value->count, sizeof *plan->statistics);
    if (!plan->statistics) {
        reader->no_memory = true;
        return;
    }
    int64_t cells = 0;
    for (const tmi_yaml *item = value->first; item && !reader->no_memory; item = item->next) {
        tmi_plan_statistic *statistic = &plan->statistics[plan->statistic_count++];
        statistic->line = item->line;
        statistic->place = item->column;
        read_statistic(reader, item, plan, statistic);
        if (reader->count == 0) complain_same(reader, value, item, plan);
        if (__builtin_add_overflow(cells, tmi_statistic_cells(statistic), &cells)) cells = INT64_MAX;
        if (cells <= TMI_MAX_PLAN_CELLS) continue;
        tmi_complain(reader, item, "expected at most %lld groups in all statistics together: fewer `by` columns or values",
                     (long long)TMI_MAX_PLAN_CELLS);
        return;
    }
}
