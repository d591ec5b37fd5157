/* A preview for people. What is alike is one line: statistics of the same kind and groups, tables of the same shape, strata with
 * the same noise. A plan with 200 means then takes a screen or two; `all` gives each its own line. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "num/number.h"
#include "report/choice_words.h"
#include "report/preview.h"
#include "report/promise.h"
#include "report/results.h"
#include "schedule/expected/assumptions.h"
#include "schedule/result.h"

#define FEW 3         /* alike ones that are shown one by one */
#define FEW_STRATA 6  /* strata with different noise that are shown one by one */
#define NAMES_SHOWN 6 /* of columns */

/* ---- cells ---- */

typedef struct span {
    double least, most;
} span;

static const span nothing = {INFINITY, -INFINITY};

static void widen(span *s, double x)
{
    if (!isfinite(x)) return;
    s->least = fmin(s->least, x);
    s->most = fmax(s->most, x);
}

/* One number if the two would look the same. */
static void put_span(tmi_text *text, span s, void (*put)(tmi_text *, double))
{
    tmi_text most;
    if (s.least > s.most) return;
    tmi_text_init(&most);
    put(text, s.least);
    put(&most, s.most);
    if (most.failed) text->failed = true;
    else if (!text->failed && strcmp(most.bytes, text->bytes) != 0) tmi_text_format(text, "–%s", most.bytes);
    tmi_text_clear(&most);
}

static void put_error(tmi_text *text, double error) { tmi_text_rounded(text, error, tmi_decimals_of(error)); }

static void put_percent(tmi_text *text, double share)
{
    double percent = 100 * share;
    tmi_text_rounded(text, percent, percent > 0 && percent < 10 ? tmi_decimals_of(percent) : 0);
}

/* Four digits, without an exponent where that is short enough. */
static void put_short(tmi_text *text, double x)
{
    if (x >= 1e3 && x < 1e12) tmi_text_rounded(text, x, 0);
    else tmi_text_format(text, "%.4g", x);
}

/* ---- statistics ---- */

/* Of the same kind, over the same groups of the same units. */
static bool statistics_alike(const tmi_schedule *s, const char *letters, size_t i, size_t j)
{
    (void)letters;
    const tmi_plan_statistic *a = &s->plan->statistics[i], *b = &s->plan->statistics[j];
    if (a->kind != b->kind || a->where != b->where || a->by_count != b->by_count || tmi_is_known(s, i) != tmi_is_known(s, j))
        return false;
    for (size_t k = 0; k < a->by_count; k++)
        if (a->by[k] != b->by[k] && a->kind != TMI_HISTOGRAM && a->kind != TMI_TABLE) return false;
    return true;
}

/* Puts what is alike together: leader[i] is the first of those that i is shown with, itself unless more than FEW are alike;
 * sizes[i] is how many a leader shows. */
typedef struct classes {
    size_t *leader, *sizes;
} classes;

typedef bool are_alike(const tmi_schedule *schedule, const char *letters, size_t i, size_t j);

static bool classes_make(classes *c, const tmi_schedule *s, size_t count, are_alike *alike, const char *letters, bool all)
{
    c->leader = tmi_alloc(count, sizeof *c->leader);
    c->sizes = tmi_alloc(count, sizeof *c->sizes);
    if (!c->leader || !c->sizes) return false;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && (all || c->leader[j] != j || !alike(s, letters, j, i))) j++;
        c->leader[i] = j;
        c->sizes[j]++;
    }
    for (size_t i = 0; i < count; i++) {
        if (c->sizes[c->leader[i]] > FEW || c->leader[i] == i) continue;
        c->leader[i] = i;
        c->sizes[i] = 1;
    }
    for (size_t i = 0; i < count; i++)
        if (c->leader[i] == i && c->sizes[i] <= FEW) c->sizes[i] = 1;
    return true;
}

static void classes_clear(classes *c)
{
    tmi_free(c->leader);
    tmi_free(c->sizes);
}

/* What the statistics of one line have in common. */
typedef struct summary {
    span noise, sampling, both, share;
    bool expected; /* shares of the error are of what is expected, of all of them; else of the range */
    size_t numbers, drowned;
} summary;

static summary summarize(const tmi_preview *p, const classes *c, size_t leader)
{
    summary all = {nothing, nothing, nothing, nothing, true, 0, 0};
    const size_t count = p->schedule.plan->asked_count;
    for (size_t i = leader; i < count; i++) {
        const tmi_forecast *f = &p->forecasts[i];
        for (size_t k = 0; c->leader[i] == leader && k < f->count; k++) all.expected = all.expected && f->groups[k].expected > 0;
    }
    for (size_t i = leader; i < count; i++) {
        const tmi_forecast *f = &p->forecasts[i];
        if (c->leader[i] != leader) continue;
        for (size_t k = 0; k < f->count; k++) {
            const tmi_prospect *g = &f->groups[k];
            widen(&all.noise, tmi_prospect_noise(g));
            widen(&all.sampling, tmi_prospect_sampling(g));
            widen(&all.both, tmi_prospect_error(g));
            widen(&all.share, tmi_prospect_error(g) / (all.expected ? g->expected : g->range));
        }
        all.numbers += f->count;
        all.drowned += tmi_forecast_drowned(f);
    }
    return all;
}

static void put_more(tmi_text *text, size_t shown_with)
{
    if (shown_with > 1) tmi_text_format(text, " and %zu more", shown_with - 1);
}

#define COLUMNS 6

static void add_statistic(tmi_text_table *table, const tmi_preview *p, const classes *c, size_t i, bool *of_range)
{
    const summary all = summarize(p, c, i);
    tmi_text cells[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++) tmi_text_init(&cells[k]);
    tmi_statistic_title(&cells[0], p->schedule.plan, i);
    put_more(&cells[0], c->sizes[i]);
    if (tmi_is_known(&p->schedule, i)) {
        tmi_text_put(&cells[1], "known");
    } else {
        put_span(&cells[1], all.noise, put_error);
        put_span(&cells[2], all.sampling, put_error);
        put_span(&cells[3], all.both, put_error);
        put_span(&cells[4], all.share, put_percent);
        if (cells[4].length > 0) tmi_text_put(&cells[4], all.expected ? " %" : " %*");
        if (cells[4].length > 0 && !all.expected) *of_range = true;
        if (all.drowned > 0 && all.numbers > 1) tmi_text_format(&cells[5], "%zu of %zu: ", all.drowned, all.numbers);
        if (all.drowned > 0) tmi_text_put(&cells[5], "noise above 1/3 of size");
    }
    tmi_table_row_taken(table, cells);
}

/* One warning for each line of the table with too much noise: named after the first of its statistics, and what is enough for
 * all. */
static void write_advice(tmi_text *text, const tmi_preview *p, const classes *c, size_t leader)
{
    size_t first = SIZE_MAX, count = 0;
    double loss = 0, sample = 0;
    for (size_t i = leader; i < p->schedule.plan->asked_count; i++) {
        const tmi_forecast *f = &p->forecasts[i];
        if (c->leader[i] != leader || tmi_is_known(&p->schedule, i) || tmi_forecast_drowned(f) == 0) continue;
        if (count++ == 0) first = i;
        loss = isnan(loss) || isnan(f->loss) ? TMI_NULL : fmax(loss, f->loss);
        sample = isnan(sample) || isnan(f->sample) ? TMI_NULL : fmax(sample, f->sample);
    }
    if (count == 0) return;
    tmi_text advice, more;
    tmi_text_init(&advice);
    tmi_text_init(&more);
    tmi_text_put(&more, "");
    put_more(&more, count);
    if (more.failed) text->failed = true;
    else tmi_forecast_advice(&advice, p, first, more.bytes, loss, sample);
    if (advice.failed) text->failed = true;
    else if (advice.length > 0) tmi_text_wrap(text, "  WARNING: ", "    ", advice.bytes);
    tmi_text_clear(&advice);
    tmi_text_clear(&more);
}

static void write_statistics(tmi_text *text, const tmi_preview *p, bool all)
{
    static const char *const heading[COLUMNS] = {"", "noise ±", "sampling ±", "both ±", "CV", ""};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    const tmi_schedule *s = &p->schedule;
    const size_t count = s->plan->asked_count;
    tmi_text_table table;
    classes c = {0};
    bool of_range = false;
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    if (!classes_make(&c, s, count, statistics_alike, NULL, all)) {
        text->failed = true;
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        if (c.leader[i] == i) add_statistic(&table, p, &c, i, &of_range);
    tmi_table_write(text, &table);
    tmi_text_wrap(
        text, "  ", "  ",
        "± is one standard deviation: of the privacy noise, of the sampling error as the release will report it, and of both "
        "together. CV is that of both, relative to the size expected from the population and the plan's guesses. Ranges are over "
        "groups, "
        "and over statistics that share a line (--all gives each its own line).");
    for (size_t i = 0, any = 0; i < count && !any; i++) {
        if (!s->plan->statistics[i].shrink) continue;
        any = 1;
        tmi_text_put(text, "  Errors of groups that are shrunk are those of their direct estimates.\n");
    }
    if (of_range) tmi_text_put(text, "  * of the range instead, since the plan gives no guess of the size\n");
    for (size_t i = 0; i < count; i++)
        if (c.leader[i] == i) write_advice(text, p, &c, i);
    tmi_write_remedies(text, p, c.leader, c.sizes);

done:
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    classes_clear(&c);
}

/* ---- assumptions ---- */

typedef struct assumptions {
    tmi_text *text;
    bool all, any;
} assumptions;

static void write_assumption(void *context, const tmi_assumption *a)
{
    assumptions *list = context;
    tmi_text line;
    tmi_text_init(&line);
    if (!list->any) tmi_text_put(list->text, "\nAssumed, because the plan does not say\n");
    list->any = true;
    for (size_t i = 0; i < a->column_count && (list->all || i < NAMES_SHOWN); i++)
        tmi_text_format(&line, "%s%s", i ? ", " : "", a->columns[i]);
    if (!list->all && a->column_count > NAMES_SHOWN) tmi_text_format(&line, " and %zu more", a->column_count - NAMES_SHOWN);
    tmi_text_format(&line, "%s%s. To change it: %s", a->column_count > 0 ? ": " : "", a->assumed, a->declare);
    tmi_text_wrap_taken(list->text, "  - ", "    ", &line);
}

static void write_assumptions(tmi_text *text, const tmi_schedule *s, bool all)
{
    assumptions list = {text, all, false};
    if (tmi_assumptions(s, write_assumption, &list, NULL) != TAMIS_OK) text->failed = true;
    if (list.any)
        tmi_text_wrap(text, "  ", "  ",
                      "The predicted errors and the split of the budget are only as good as these guesses; the guarantee does "
                      "not depend on them.");
}

/* ---- measurements ---- */

#define LETTERS 8 /* more kinds of inequality than there are */

/* The inequalities behind the sensitivities, each once. */
typedef struct inequalities {
    tmi_text words[LETTERS];
    size_t count;
    bool failed;
} inequalities;

/* Its letter, taken up if it is new. */
static char letter_of(inequalities *list, const tmi_schedule *s, size_t i)
{
    tmi_text words;
    size_t k = 0;
    tmi_text_init(&words);
    tmi_measurement_inequality(&words, &s->measurements[i], &s->workload);
    list->failed = list->failed || words.failed;
    while (k < list->count && !words.failed && strcmp(list->words[k].bytes, words.bytes) != 0) k++;
    if (k == list->count && k < LETTERS && !words.failed) list->words[list->count++] = words;
    else tmi_text_clear(&words);
    return (char)('a' + k);
}

static void write_inequalities(tmi_text *text, inequalities *list)
{
    if (list->failed) text->failed = true;
    for (size_t k = 0; k < list->count; k++) {
        char letter[] = "  a  ";
        letter[2] = (char)('a' + k);
        tmi_text_wrap(text, letter, "     ", list->words[k].bytes);
        tmi_text_clear(&list->words[k]);
    }
}

/* Of the same shape: how rows are weighed, over how many cells of how many axes, by which inequality. */
static bool measurements_alike(const tmi_schedule *s, const char *letters, size_t i, size_t j)
{
    const tmi_measurement *a = &s->measurements[i], *b = &s->measurements[j];
    return a->shape.family == b->shape.family && a->shape.world == b->shape.world && a->shape.form == b->shape.form &&
           a->shape.axis_count == b->shape.axis_count && a->numbers == b->numbers && a->law_count == b->law_count &&
           letters[i] == letters[j];
}

typedef struct sizes {
    span sensitivity, part, scale;
} sizes;

static void add_law(sizes *z, const tmi_schedule *s, const tmi_measurement *m, size_t h)
{
    double unit = m->shape.family == TMI_STANDARD_ERRORS ? 1 : tmi_measurement_unit(m, &s->workload, h);
    widen(&z->sensitivity, unit * (s->gaussian ? sqrt(tmi_number_nearest(m->laws[h].l2_squared)) : (double)m->laws[h].l1));
    widen(&z->part, tmi_number_nearest(m->part));
    widen(&z->scale, unit * tmi_number_nearest(m->laws[h].scale));
}

static bool is_one(const span *s) { return s->least == s->most; }

static void add_measurement(tmi_text_table *table, const tmi_schedule *s, size_t i, size_t cells_of, const sizes *z,
                            const char *stratum, bool first, size_t shown_with, char letter)
{
    const tmi_measurement *m = &s->measurements[i];
    tmi_text cells[5];
    for (size_t k = 0; k < 5; k++) tmi_text_init(&cells[k]);
    if (first) {
        tmi_measurement_name(&cells[0], m, &s->workload);
        put_more(&cells[0], shown_with);
    }
    if (stratum) tmi_text_format(&cells[0], "%s%s", first ? ": " : "  ", stratum);
    tmi_text_rounded(&cells[1], (double)cells_of, 0);
    put_span(&cells[2], z->sensitivity, put_short);
    tmi_text_format(&cells[2], " %c", letter);
    put_span(&cells[3], z->part, put_short);
    put_span(&cells[4], z->scale, put_short);
    tmi_table_row_taken(table, cells);
}

/* A line for each stratum, if the noise differs and they are few; else one for all of them. */
static void add_class(tmi_text_table *table, const tmi_schedule *s, const classes *c, size_t leader, char letter, bool all)
{
    const tmi_measurement *m = &s->measurements[leader];
    sizes z = {nothing, nothing, nothing};
    for (size_t i = leader; i < s->measurement_count; i++) {
        if (c->leader[i] != leader) continue;
        for (size_t h = 0; h < s->measurements[i].law_count; h++) add_law(&z, s, &s->measurements[i], h);
    }
    bool differ = !is_one(&z.sensitivity) || !is_one(&z.scale), few = c->sizes[leader] == 1 && m->law_count <= FEW_STRATA;
    bool each = m->law_count > 1 && (all || (few && differ));
    if (!each) add_measurement(table, s, leader, m->numbers, &z, NULL, true, c->sizes[leader], letter);
    for (size_t h = 0; each && h < m->law_count; h++) {
        sizes own = {nothing, nothing, nothing};
        add_law(&own, s, m, h);
        add_measurement(table, s, leader, m->numbers / m->law_count, &own, s->plan->design.strata[h].name, h == 0, 1, letter);
    }
}

static void write_measurements(tmi_text *text, const tmi_schedule *s, bool all)
{
    const char *heading[] = {"measured with noise", "cells", "sensitivity  ", s->gaussian ? "rho" : "epsilon", "scale"};
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    inequalities list = {.count = 0};
    tmi_text_table table;
    classes c = {0};
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, heading);
    char *letters = tmi_alloc(s->measurement_count, 1);
    for (size_t i = 0; letters && i < s->measurement_count; i++) letters[i] = letter_of(&list, s, i);
    if (!letters || !classes_make(&c, s, s->measurement_count, measurements_alike, letters, all)) text->failed = true;
    for (size_t i = 0; !text->failed && i < s->measurement_count; i++)
        if (c.leader[i] == i) add_class(&table, s, &c, i, letters[i], all);
    tmi_free(letters);
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    classes_clear(&c);
    write_inequalities(text, &list);
    tmi_text_wrap(
        text, "  ", "  ",
        s->places.layout.count > 0
            ? "Sensitivity and scale are in the units of the data, those of standard errors in steps of their own. They are "
              "measured in a second stage, and squares and spreads to estimate sampling errors."
            : "Sensitivity and scale are in the units of the data. Squares and spreads are measured to estimate sampling "
              "errors.");
}

/* ---- together ---- */

tamis_status tmi_preview_text(char **text, const tmi_preview *preview, bool all, tamis_error *err)
{
    const tmi_schedule *s = &preview->schedule;
    tmi_lines lines = {0};
    tmi_text t;
    tmi_text_init(&t);
    tmi_write_heading(&t, s->plan, "what this plan would release (no data were read)");
    write_statistics(&t, preview, all);
    write_assumptions(&t, s, all);
    tmi_text_put(&t, "\n");
    if (s->measurement_count > 0) {
        write_measurements(&t, s, all);
        tmi_text_put(&t, "\n");
        tmi_write_choices(&t, s);
    }
    tmi_write_promise(&t, s, &preview->promised.outsider, false);
    tmi_list_declared(&lines, s, all ? TMI_DECLARED_IN_ORDER : TMI_DECLARED_ALIKE);
    tmi_text_put(&t, "\nDeclared public, not checked\n");
    tmi_lines_wrap(&t, "  - ", "    ", &lines);
    if (preview->refused && !preview->account.has_spending) tmi_text_put(&t, "\nThe account\n");
    else tmi_write_account(&t, s, &preview->account);
    if (preview->refused) tmi_text_put(&t, "  The ledger refuses this release.\n");
    tmi_lines_split(&lines, preview->account.unpublished);
    tmi_lines_wrap(&t, "  ", "  ", &lines);
    return tmi_text_take(text, &t, err);
}
