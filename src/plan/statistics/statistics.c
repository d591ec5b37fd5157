/* statistics: the list of what is asked for. One row a statistic; how it is measured and estimated is release/'s
 * business (schedule/schedule.h).                                                                                    */
#include <string.h>

#include "base/memory.h"
#include "plan/sections.h"

/* Beside the statistic its plan, in which columns are looked up, and what is read when the kind is known. */
typedef struct entry {
    tamis_plan *plan;
    tmi_plan_statistic *statistic;
    const tmi_value *kind; /* the first key that names a statistic */
} entry;

/* Two statistics in one entry: the second is reported. */
static bool take_kind(tmi_reader *reader, const tmi_value *value, entry *e, tmi_statistic_kind kind)
{
    if (e->kind) {
        tmi_complain_key(reader, value,
                         "expected one statistic per entry, and this one already has %s: begin a new entry with a dash",
                         tmi_value_key(e->kind));
        return false;
    }
    e->kind = value;
    e->statistic->kind = kind;
    return true;
}

/* ---- what it is about ---- */

static void read_count(tmi_reader *reader, const tmi_value *value, void *target)
{
    if (!take_kind(reader, value, target, TMI_COUNT)) return;
    if (value->kind != TMI_VALUE_TEXT || strcmp(value->text, "units") != 0) {
        tmi_complain(reader, value, "expected units, e.g. count: units");
    }
}

static const tmi_plan_column *read_named(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, bool indicator)
{
    char *name = NULL;
    if (!tmi_read_text(reader, value, &name, "enroll")) return NULL;
    const tmi_plan_column *column = tmi_plan_find_column(plan, name);
    if (!column) {
        tmi_complain_column(reader, value, plan, name, true);
    } else if (!column->is_number) {
        if (indicator)
            tmi_complain(reader, value, "expected a number or an indicator such as {%s: %s}; this column is a category",
                         column->name, column->value_count > 0 ? column->values[0] : "E");
        else tmi_complain(reader, value, "expected a number; this column is a category");
        column = NULL;
    }
    tmi_free(name);
    return column;
}

const tmi_plan_column *tmi_read_number(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan)
{
    return read_named(reader, value, plan, false);
}

const tmi_plan_column *tmi_read_number_column(tmi_reader *reader, const tmi_value *value, tamis_plan *plan)
{
    return value->kind == TMI_VALUE_MAP ? tmi_read_indicator(reader, value, plan) : read_named(reader, value, plan, true);
}

static void read_about(tmi_reader *reader, const tmi_value *value, void *target, const tmi_plan_key *key)
{
    entry *e = target;
    if (take_kind(reader, value, e, (tmi_statistic_kind)key->as))
        e->statistic->column = tmi_read_number_column(reader, value, e->plan);
}

static void read_share_of(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    if (take_kind(reader, value, e, TMI_SHARE)) e->statistic->column = tmi_read_indicator(reader, value, e->plan);
}

/* Distribution functions are of numbers of the file. */
static void read_of_distribution(tmi_reader *reader, const tmi_value *value, void *target, const tmi_plan_key *key)
{
    entry *e = target;
    if (take_kind(reader, value, e, (tmi_statistic_kind)key->as)) e->statistic->column = tmi_read_number(reader, value, e->plan);
}

/* The part of a ratio that `as` says: 0 is above the line. */
static void read_part(tmi_reader *reader, const tmi_value *value, void *target, const tmi_plan_key *key)
{
    entry *e = target;
    const tmi_plan_column *column = tmi_read_number_column(reader, value, e->plan);
    if (key->as == 0) e->statistic->column = column;
    else e->statistic->second = column;
}

static void read_ratio(tmi_reader *reader, const tmi_value *value, void *target)
{
    static const tmi_plan_key keys[] = {
        {.name = "of", .plain = read_part, .as = 0, .required = "of: enroll"},
        {.name = "to", .plain = read_part, .as = 1, .required = "to: teachers"},
    };
    entry *e = target;
    if (!take_kind(reader, value, e, TMI_RATIO)) return;
    tmi_read_map(reader, value, keys, 2, "{of: enroll, to: teachers}", e);
    const tmi_plan_statistic *s = e->statistic;
    if (s->column && s->column == s->second)
        tmi_complain(reader, value, "expected two different columns: the ratio of a column to itself is 1");
}

/* ---- contrasts ---- */

#define NOT_COMPARED(plural) \
    plural " are not compared: differences and changes are of counts, totals, means, shares and ratios, whose sampling error " \
           "is known"

bool tmi_read_compared(tmi_reader *reader, const tmi_value *map, tamis_plan *plan, tmi_plan_compared *compared,
                       const char *example)
{
    static const tmi_plan_key keys[] = {
        {.name = "count", .read = read_count},
        {.name = "total", .plain = read_about, .as = TMI_TOTAL},
        {.name = "mean", .plain = read_about, .as = TMI_MEAN},
        {.name = "share", .read = read_share_of},
        {.name = "ratio", .read = read_ratio},
        {.name = "between", .read = tmi_read_later},
        {.name = "minus", .read = tmi_read_later},
        {.name = "by", .read = tmi_read_later},
        {.name = "weights", .read = tmi_read_later},
        {.name = "quantile", .not_offered = NOT_COMPARED("quantiles")},
        {.name = "median", .not_offered = NOT_COMPARED("medians")},
        {.name = "iqr", .not_offered = NOT_COMPARED("interquartile ranges")},
        {.name = "share_below", .not_offered = NOT_COMPARED("shares below a line")},
        {.name = "poverty", .not_offered = NOT_COMPARED("poverty rates")},
        {.name = "gini", .not_offered = NOT_COMPARED("Gini coefficients")},
        {.name = "s80s20", .not_offered = NOT_COMPARED("ratios of quintiles")},
        {.name = "variance", .not_offered = NOT_COMPARED("variances")},
        {.name = "table", .not_offered = "write count: units with the groups of the contrast"},
        {.name = "histogram", .not_offered = "write count: units with the groups of the contrast"},
        {.name = "where", .not_offered = "both numbers are of the same rows: write where beside the contrast"},
    };
    tmi_plan_statistic read = {0};
    entry e = {.plan = plan, .statistic = &read};
    const size_t before = reader->count;
    tmi_read_map(reader, map, keys, sizeof keys / sizeof *keys, example, &e);
    if (!e.kind && reader->count == before)
        tmi_complain(reader, map, "expected what is compared: count, total, mean, share or ratio, e.g. %s", example);
    *compared = (tmi_plan_compared){.kind = read.kind, .column = read.column, .second = read.second};
    return reader->count == before && !reader->no_memory;
}

/* What is read when the groups are known. */
static void read_kind(tmi_reader *reader, const tmi_value *value, void *target, const tmi_plan_key *key)
{
    take_kind(reader, value, target, (tmi_statistic_kind)key->as);
}

static void read_table(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    if (take_kind(reader, value, e, TMI_TABLE))
        tmi_read_by_columns(reader, value, e->plan, e->statistic->by, &e->statistic->by_count);
}

/* The bins of a histogram are its last groups. */
static void add_bins(tmi_reader *reader, const tmi_value *value, entry *e)
{
    const tmi_value *cuts = tmi_value_get(value, "cuts");
    if (!cuts) tmi_complain_key(reader, e->kind, "expected the key cuts with it, e.g. cuts: [0, 16, 65]");
    const tmi_plan_column *number = tmi_read_number(reader, e->kind, e->plan);
    const tmi_plan_column *bins = number && cuts ? tmi_read_cuts(reader, cuts, e->plan, number) : NULL;
    tmi_plan_statistic *s = e->statistic;
    if (!bins) return;
    for (size_t i = 0; i < s->by_count; i++) {
        if (s->by[i]->cut_of != number) continue;
        tmi_complain(reader, cuts, "%s already has cuts in `by`", number->name);
        return;
    }
    if (s->by_count == TMI_MAX_BY) tmi_complain(reader, e->kind, "expected at most %d groupings in all", TMI_MAX_BY);
    else s->by[s->by_count++] = bins;
}

/* ---- groups ---- */

static void add_by(tmi_reader *reader, const tmi_value *value, const tmi_plan_column *column, const tmi_plan_column **by,
                   size_t *count)
{
    for (size_t i = 0; column && i < *count; i++) {
        if (by[i] != column && (!column->cut_of || by[i]->cut_of != column->cut_of)) continue;
        tmi_complain(reader, value, "duplicate in `by`");
        return;
    }
    if (column && *count == TMI_MAX_BY) tmi_complain(reader, value, "expected at most %d groupings in all", TMI_MAX_BY);
    else if (column) by[(*count)++] = column;
}

static void read_by_column(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, const tmi_plan_column **by,
                           size_t *count)
{
    if (value->kind == TMI_VALUE_MAP) {
        if (value->count == 0) tmi_complain(reader, value, "expected cuts of a number, e.g. {age: [0, 16, 65]}");
        for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item)) {
            const tmi_plan_column *number = tmi_plan_find_column(plan, tmi_value_key(item));
            if (!number) tmi_complain_column(reader, item, plan, tmi_value_key(item), true);
            else add_by(reader, item, tmi_read_cuts(reader, item, plan, number), by, count);
        }
        return;
    }
    char *name = NULL;
    if (!tmi_read_text(reader, value, &name, "stype")) return;
    const tmi_plan_column *column = tmi_plan_find_column(plan, name);
    if (!column) tmi_complain_column(reader, value, plan, name, false);
    else if (!column->is_category)
        tmi_complain(reader, value, "expected a category, or cuts such as {%s: [10, 20]}; this column is a number", column->name);
    else add_by(reader, value, column, by, count);
    tmi_free(name);
}

void tmi_read_by_columns(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, const tmi_plan_column **by, size_t *count)
{
    if (value->kind != TMI_VALUE_LIST) {
        read_by_column(reader, value, plan, by, count);
    } else if (value->count == 0 || value->count > TMI_MAX_BY) {
        tmi_complain(reader, value, "expected 1 to %d categories, e.g. [stype, awards]", TMI_MAX_BY);
    } else {
        for (const tmi_value *item = tmi_value_first(value); item; item = tmi_value_next(item))
            read_by_column(reader, item, plan, by, count);
    }
}

static void read_where(tmi_reader *reader, const tmi_value *value, void *target)
{
    entry *e = target;
    e->statistic->where = tmi_read_indicator(reader, value, e->plan);
}

/* ---- how ---- */

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

static void read_share(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_plan_statistic *s = ((entry *)target)->statistic;
    if (!tmi_read_exact(reader, value, &s->share, "2")) return;
    if (tmi_number_sign(s->share) <= 0) {
        tmi_complain(reader, value, "expected a share larger than 0, e.g. 2");
    } else if (!is_short(reader, s->share)) {
        tmi_complain(reader, value, "expected a fraction with at most %d digits in numerator and denominator, e.g. 1/3",
                     SHARE_DIGITS);
    }
}

static void read_own_deff(tmi_reader *reader, const tmi_value *value, void *target)
{
    const entry *e = target;
    if (!e->plan->design.deff)
        tmi_complain_key(reader, value, "is for a design of weights with a deff of its own, e.g. weights: {deff: 1.8}");
    else tmi_read_deff(reader, value, &e->statistic->deff);
}

static void read_confidence(tmi_reader *reader, const tmi_value *value, void *target)
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

/* Where the population is public, a mean may be the total divided by it. */
static void read_method(tmi_reader *reader, const tmi_value *value, tmi_plan_statistic *s)
{
    static const char *const methods[] = {"ratio", "known_size"};
    size_t i;
    if (s->kind != TMI_MEAN && s->kind != TMI_SHARE) tmi_complain_key(reader, value, "this statistic has no choice of methods");
    else if (tmi_read_word(reader, value, &i, methods, 2)) s->method = methods[i];
}

/* Groups of other statistics differ in size, and their mean says nothing about one of them. */
static void read_shrink(tmi_reader *reader, const tmi_value *value, tmi_plan_statistic *s)
{
    if (!tmi_read_yes_no(reader, value, &s->shrink) || !s->shrink) return;
    if (tmi_is_contrast(s->kind))
        tmi_complain_key(reader, value, "is not for contrasts: a shrunk number has a bias that a difference would keep");
    else if (s->kind != TMI_MEAN && s->kind != TMI_SHARE && s->kind != TMI_RATIO)
        tmi_complain_key(reader, value,
                         "is for means, shares and ratios: groups of counts and totals differ in size, and have no mean to be "
                         "shrunk towards");
    else if (tmi_statistic_cells(s) < TMI_FEWEST_SHRUNK)
        tmi_complain_key(reader, value, "expected at least %d groups in `by`: fewer say too little about how groups differ",
                         TMI_FEWEST_SHRUNK);
}

/* Groups of clusters are the same in two waves if both have the same list of them. */
static void read_for_change(tmi_reader *reader, const tmi_value *value, const tamis_plan *plan, tmi_plan_statistic *s)
{
    if (!tmi_read_yes_no(reader, value, &s->for_change) || !s->for_change) return;
    if (s->kind == TMI_CONTRAST_CHANGE)
        tmi_complain_key(reader, value,
                         "belongs beside the number itself, in both waves, e.g. {mean: income, for_change: yes} beside "
                         "{change: {mean: income}, since: wave-2025-release}");
    else if (s->kind > TMI_RATIO)
        tmi_complain_key(reader, value, "is for counts, totals, means, shares and ratios, of which a change can be asked");
    else if (s->method || s->shrink)
        tmi_complain_key(reader, value, "is for numbers without `method` and `shrink`, since a change is of such numbers");
    else if (tmi_has_contributions(s->column) || tmi_has_contributions(s->second))
        tmi_complain_key(reader, value, "is for columns without `contribution` and without {times, of}");
    else if (!plan->design.psus)
        tmi_complain_key(
            reader, value,
            "needs a public list of the clusters, the same in both waves, so that both have the same groups of them, "
            "e.g. design: {weights: {cluster: psu, psus: psus.csv}}");
}

static void read_label(tmi_reader *reader, const tmi_value *value, void *target)
{
    tmi_read_label(reader, value, &((entry *)target)->statistic->label, "Pupils by type of school");
}

static const tmi_plan_key keys[] = {
    {.name = "count", .read = read_count},
    {.name = "total", .plain = read_about, .as = TMI_TOTAL},
    {.name = "mean", .plain = read_about, .as = TMI_MEAN},
    {.name = "share", .read = read_share_of},
    {.name = "ratio", .read = read_ratio},
    {.name = "table", .read = read_table},
    {.name = "histogram", .plain = read_kind, .as = TMI_HISTOGRAM},
    {.name = "quantile", .plain = read_of_distribution, .as = TMI_QUANTILE},
    {.name = "median", .plain = read_of_distribution, .as = TMI_MEDIAN},
    {.name = "iqr", .plain = read_of_distribution, .as = TMI_IQR},
    {.name = "share_below", .plain = read_of_distribution, .as = TMI_SHARE_BELOW},
    {.name = "poverty", .plain = read_of_distribution, .as = TMI_POVERTY},
    {.name = "gini", .plain = read_of_distribution, .as = TMI_GINI},
    {.name = "s80s20", .plain = read_of_distribution, .as = TMI_S80S20},
    {.name = "variance", .plain = read_about, .as = TMI_VARIANCE},
    {.name = "difference", .plain = read_kind, .as = TMI_CONTRAST_DIFFERENCE},
    {.name = "quotient", .plain = read_kind, .as = TMI_CONTRAST_QUOTIENT},
    {.name = "contrast", .plain = read_kind, .as = TMI_CONTRAST_WEIGHTED},
    {.name = "change", .plain = read_kind, .as = TMI_CONTRAST_CHANGE},
    {.name = "correlation", .plain = read_kind, .as = TMI_CORRELATION},
    {.name = "regression", .plain = read_kind, .as = TMI_REGRESSION},
    /* what may stand beside a statistic */
    {.name = "by", .read = tmi_read_later},
    {.name = "budget_share", .read = read_share},
    {.name = "deff", .read = read_own_deff},
    {.name = "confidence", .read = read_confidence},
    {.name = "label", .read = read_label},
    {.name = "shrink", .read = tmi_read_later},
    {.name = "where", .read = read_where},
    {.name = "method", .read = tmi_read_later},
    {.name = "at", .read = tmi_read_later},
    {.name = "line", .read = tmi_read_later},
    {.name = "interval", .read = tmi_read_later},
    {.name = "cuts", .read = tmi_read_later},
    {.name = "since", .read = tmi_read_later},
    {.name = "samples", .read = tmi_read_later},
    {.name = "overlap", .read = tmi_read_later},
    {.name = "baseline", .read = tmi_read_later},
    {.name = "typical", .read = tmi_read_later},
    {.name = "for_change", .read = tmi_read_later},
};

/* What depends on the kind, or comes after the columns of a table. */
static void read_rest(tmi_reader *reader, const tmi_value *value, entry *e)
{
    tmi_plan_statistic *s = e->statistic;
    const tmi_value *by = tmi_value_get(value, "by"), *at = tmi_value_get(value, "at"), *cuts = tmi_value_get(value, "cuts"),
                    *method = tmi_value_get(value, "method"), *line = tmi_value_get(value, "line"),
                    *interval = tmi_value_get(value, "interval"), *shrink = tmi_value_get(value, "shrink"),
                    *since = tmi_value_get(value, "since"), *samples = tmi_value_get(value, "samples"),
                    *overlap = tmi_value_get(value, "overlap"), *baseline = tmi_value_get(value, "baseline"),
                    *typical = tmi_value_get(value, "typical"), *for_change = tmi_value_get(value, "for_change");
    if (by) tmi_read_by_columns(reader, by, e->plan, s->by, &s->by_count);
    if (!e->kind) return;
    if (s->kind == TMI_HISTOGRAM) add_bins(reader, value, e);
    if (tmi_is_contrast(s->kind)) tmi_read_contrast(reader, e->kind, e->plan, s);
    if (s->kind == TMI_CONTRAST_CHANGE && s->contrast) tmi_read_since(reader, value, e->plan, s->contrast);
    else if (since && s->kind != TMI_CONTRAST_CHANGE) tmi_complain_key(reader, since, "is for change");
    else if (samples && s->kind != TMI_CONTRAST_CHANGE) tmi_complain_key(reader, samples, "is for change");
    else if (overlap && s->kind != TMI_CONTRAST_CHANGE) tmi_complain_key(reader, overlap, "is for change");
    if (s->kind == TMI_CORRELATION) tmi_read_correlation(reader, e->kind, e->plan, s);
    if (s->kind == TMI_REGRESSION) {
        tmi_read_regression(reader, e->kind, value, e->plan, s);
    } else {
        if (baseline) tmi_complain_key(reader, baseline, "is for regressions");
        if (typical) tmi_complain_key(reader, typical, "is for regressions; guesses of a column are given under columns");
    }
    if (shrink) read_shrink(reader, shrink, s);
    if (for_change && tmi_is_of_distribution(s->kind)) read_for_change(reader, for_change, e->plan, s);
    if (tmi_is_of_distribution(s->kind)) {
        tmi_read_distribution(reader, value, e->kind, e->plan, s);
        return;
    }
    if (cuts && s->kind != TMI_HISTOGRAM)
        tmi_complain_key(reader, cuts,
                         "is for histograms and distribution functions; to cut groups, write e.g. by: {age: [16, 65]}");
    if (at) tmi_complain_key(reader, at, "is for quantiles");
    if (line) tmi_complain_key(reader, line, "is for share_below and poverty");
    if (interval) tmi_complain_key(reader, interval, "is for quantiles");
    if (method) read_method(reader, method, s);
    if (for_change) read_for_change(reader, for_change, e->plan, s);
}

static void read_statistic(tmi_reader *reader, const tmi_value *value, tamis_plan *plan, tmi_plan_statistic *statistic)
{
    static const char example[] = "{total: enroll, by: stype}";
    entry e = {.plan = plan, .statistic = statistic};
    size_t before = reader->count;
    tmi_read_map(reader, value, keys, sizeof keys / sizeof *keys, example, &e);
    if (value->kind == TMI_VALUE_MAP) read_rest(reader, value, &e);
    if (!e.kind && reader->count == before) {
        tmi_complain(
            reader, value,
            "expected a statistic: count, total, mean, share, ratio, table, histogram, variance, quantile, median, "
            "iqr, share_below, poverty, gini, s80s20, difference, quotient, contrast, change, correlation or regression, "
            "e.g. %s",
            example);
    }
    bool shared = statistic->share || tmi_number_ratio(&statistic->share, 1, 1, NULL) == TAMIS_OK;
    bool confident = statistic->confidence || tmi_number_ratio(&statistic->confidence, 19, 20, NULL) == TAMIS_OK;
    if (!shared || !confident) reader->no_memory = true;
}

/* A quantile that is read from its distribution function is so by the old word too. */
static bool is_same_method(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    const bool is_quantile = a->at_count > 0;
    if (is_quantile && a->method && b->method && !tmi_has_mechanism(a) && !tmi_has_mechanism(b)) return true;
    return a->method == b->method || (a->method && b->method && strcmp(a->method, b->method) == 0);
}

static bool are_same_contrasts(const tmi_plan_contrast *a, const tmi_plan_contrast *b)
{
    if (!a || !b) return a == b;
    bool same = a->across == b->across && a->compared_count == b->compared_count && a->term_count == b->term_count;
    if (same && a->since) same = b->since && strcmp(a->since, b->since) == 0;
    for (size_t i = 0; same && i < a->compared_count; i++)
        same = a->compared[i].kind == b->compared[i].kind && a->compared[i].column == b->compared[i].column &&
               a->compared[i].second == b->compared[i].second;
    for (size_t i = 0; same && i < a->term_count; i++)
        same = a->terms[i].code == b->terms[i].code &&
               (!a->terms[i].weight || tmi_number_compare(a->terms[i].weight, b->terms[i].weight) == 0);
    return same;
}

/* The same terms, whatever they are compared with: another baseline shows the same model. */
static bool are_same_models(const tmi_plan_model *a, const tmi_plan_model *b)
{
    if (!a || !b) return a == b;
    bool same = a->family == b->family && a->on_count == b->on_count && a->interaction_count == b->interaction_count;
    for (size_t i = 0; same && i < a->on_count; i++) same = a->on[i] == b->on[i] && a->baseline[i] == b->baseline[i];
    for (size_t i = 0; same && i < a->interaction_count; i++)
        same = memcmp(a->interactions[i], b->interactions[i], sizeof *a->interactions) == 0;
    return same;
}

static bool is_by_same(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    for (size_t i = 0; i < a->by_count; i++) {
        bool found = false;
        for (size_t j = 0; j < b->by_count; j++) found = found || a->by[i] == b->by[j];
        if (!found) return false;
    }
    return a->by_count == b->by_count;
}

/* The same number of the same groups, in whatever order they are listed. */
static bool is_same(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    if (a->kind == TMI_CORRELATION && b->kind == TMI_CORRELATION && a->column == b->second && a->second == b->column)
        return a->where == b->where && is_by_same(a, b);
    if (a->kind != b->kind || a->column != b->column || a->second != b->second || a->where != b->where || !is_same_method(a, b) ||
        a->at_count != b->at_count || !are_same_contrasts(a->contrast, b->contrast) || !are_same_models(a->model, b->model))
        return false;
    for (size_t i = 0; i < a->at_count; i++)
        if (tmi_number_compare(a->at[i], b->at[i]) != 0) return false;
    if (a->limit && tmi_number_compare(a->limit, b->limit) != 0) return false;
    return is_by_same(a, b);
}

/* A statistic that appears twice would be measured once, or twice for nothing. */
static void complain_same(tmi_reader *reader, const tmi_value *list, const tamis_plan *plan)
{
    const tmi_value *item = tmi_value_first(list);
    for (size_t j = 0; j < plan->asked_count; j++, item = tmi_value_next(item)) {
        const tmi_value *earlier = tmi_value_first(list);
        for (size_t i = 0; i < j; i++, earlier = tmi_value_next(earlier)) {
            if (!is_same(&plan->statistics[i], &plan->statistics[j])) continue;
            tmi_complain(reader, item, "duplicate statistic; first given on line %d, column %d", tmi_value_place(earlier).line,
                         tmi_value_place(earlier).column);
            return;
        }
    }
}

void tmi_read_statistics(tmi_reader *reader, const tmi_value *value, void *target)
{
    tamis_plan *plan = target;
    if (value->kind != TMI_VALUE_LIST || value->count == 0 || value->count > TMI_MAX_STATISTICS) {
        tmi_complain(reader, value, "expected a list of 1 to %d statistics, e.g. - total: enroll", TMI_MAX_STATISTICS);
        return;
    }
    plan->statistics = tmi_alloc(value->count, sizeof *plan->statistics);
    if (!plan->statistics) {
        reader->no_memory = true;
        return;
    }
    int64_t cells = 0;
    for (const tmi_value *item = tmi_value_first(value); item && !reader->no_memory; item = tmi_value_next(item)) {
        tmi_plan_statistic *statistic = &plan->statistics[plan->statistic_count++];
        statistic->line = tmi_value_place(item).line;
        statistic->place = tmi_value_place(item).column;
        read_statistic(reader, item, plan, statistic);
        if (__builtin_add_overflow(cells, tmi_statistic_cells(statistic), &cells)) cells = INT64_MAX;
        if (cells <= TMI_MAX_PLAN_CELLS) continue;
        tmi_complain(reader, item, "expected at most %lld groups in all statistics together: use fewer `by` columns or values",
                     (long long)TMI_MAX_PLAN_CELLS);
        return;
    }
    plan->asked_count = plan->statistic_count;
    if (reader->count > 0 || reader->no_memory) return;
    tmi_choose_quantile_methods(reader, plan);
    complain_same(reader, value, plan); /* with the methods that were taken: what is read from JSON names them */
    if (reader->count == 0 && !reader->no_memory) tmi_make_curves(reader, value, plan);
    plan->compared_first = plan->statistic_count;
    if (reader->count == 0 && !reader->no_memory) tmi_make_compared(reader, value, plan);
}
