/* A preview for people. The short one is a screen: expected errors, with one line for statistics of the same kind and groups,
 * what is assumed, what would help and what it costs. `all` gives each statistic its own line, and has the tables that are
 * measured, the guarantee in words and what is declared. */
#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "num/number.h"
#include "report/bound_words.h"
#include "report/preview.h"
#include "report/promise.h"
#include "report/quantile_words.h"
#include "report/results.h"
#include "schedule/expected/assumptions.h"
#include "schedule/expected/model.h"
#include "schedule/guesses.h"
#include "schedule/result.h"

#define FEW 3          /* alike ones that are shown one by one */
#define NAMES_SHOWN 3  /* of columns, in a short assumption */
#define LINES_SHOWN 10 /* of statistics, in the short preview */
#define WARNED 1       /* lines of statistics with a warning there */
#define ASSUMED 3      /* assumptions there */
#define SCREEN 24      /* lines that it has at most */

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

#define NEARLY 1.05 /* ends of a range that differ by less are shown as one number, the larger */

/* One number if the two would look the same, or nearly. */
static void put_span(tmi_text *text, span s, void (*put)(tmi_text *, double))
{
    tmi_text most;
    if (s.least > s.most) return;
    tmi_text_init(&most);
    put(text, s.most <= NEARLY * s.least ? s.most : s.least);
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
static bool statistics_alike(const tmi_schedule *s, size_t i, size_t j)
{
    const tmi_plan_statistic *a = &s->plan->statistics[i], *b = &s->plan->statistics[j];
    if (a->model || b->model) return false; /* coefficients of different models have nothing in common */
    if (a->contrast && b->contrast && a->contrast->compared[0].kind != b->contrast->compared[0].kind) return false;
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

static bool classes_make(classes *c, const tmi_schedule *s, size_t count, bool all)
{
    c->leader = tmi_alloc(count, sizeof *c->leader);
    c->sizes = tmi_alloc(count, sizeof *c->sizes);
    if (!c->leader || !c->sizes) return false;
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;
        while (j < i && (all || c->leader[j] != j || !statistics_alike(s, j, i))) j++;
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
    bool foreseen, expected; /* a sampling error is known, and a size that is above 0, of all of them */
    size_t numbers, drowned;
} summary;

static summary summarize(const tmi_preview *p, const classes *c, size_t leader)
{
    summary all = {nothing, nothing, nothing, nothing, true, true, 0, 0};
    const size_t count = p->schedule.plan->asked_count;
    for (size_t i = leader; i < count; i++) {
        const tmi_expected_statistic *f = &p->expected_statistics[i];
        if (c->leader[i] != leader) continue;
        for (size_t k = 0; k < f->count; k++) {
            const tmi_expected_group *g = &f->groups[k];
            widen(&all.noise, tmi_expected_group_noise(g));
            widen(&all.sampling, tmi_expected_group_sampling(g));
            widen(&all.both, tmi_expected_group_error(g));
            if (g->expected > 0) widen(&all.share, tmi_expected_group_error(g) / g->expected);
            all.foreseen = all.foreseen && !isnan(tmi_expected_group_error(g));
            all.expected = all.expected && g->expected > 0;
        }
        all.numbers += f->count;
        all.drowned += tmi_expected_drowned(f);
    }
    return all;
}

static void put_more(tmi_text *text, size_t shown_with)
{
    if (shown_with > 1) tmi_text_format(text, " and %zu more", shown_with - 1);
}

#define COLUMNS 6

#define UNKNOWN "not known"

static void add_statistic(tmi_text_table *table, const tmi_preview *p, const classes *c, size_t i, bool remarks, bool *unknown)
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
        if (all.foreseen) put_span(&cells[2], all.sampling, put_error);
        if (all.foreseen) put_span(&cells[3], all.both, put_error);
        else tmi_text_put(&cells[2], UNKNOWN), tmi_text_put(&cells[3], UNKNOWN);
        if (all.foreseen && all.expected) put_span(&cells[4], all.share, put_percent);
        tmi_text_put(&cells[4], cells[4].length > 0 ? " %" : UNKNOWN);
        *unknown = *unknown || !all.foreseen || !all.expected;
        if (remarks && all.drowned > 0 && all.numbers > 1) tmi_text_format(&cells[5], "%zu of %zu: ", all.drowned, all.numbers);
        if (remarks && all.drowned > 0) tmi_text_put(&cells[5], "noise above 1/3 of size");
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
        const tmi_expected_statistic *f = &p->expected_statistics[i];
        if (c->leader[i] != leader || tmi_is_known(&p->schedule, i) || tmi_expected_drowned(f) == 0) continue;
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
    else tmi_expected_advice(&advice, p, first, more.bytes, loss, sample);
    if (advice.failed) text->failed = true;
    else if (advice.length > 0) tmi_text_wrap(text, "  WARNING: ", "    ", advice.bytes);
    tmi_text_clear(&advice);
    tmi_text_clear(&more);
}

/* Whether the noise of a line is too large. */
static bool has_warning(const tmi_preview *p, const classes *c, size_t leader)
{
    for (size_t i = leader; i < p->schedule.plan->asked_count; i++)
        if (c->leader[i] == leader && !tmi_is_known(&p->schedule, i) && tmi_expected_drowned(&p->expected_statistics[i]) > 0)
            return true;
    return false;
}

static void write_legend(tmi_text *text, const tamis_plan *plan, bool all, bool unknown)
{
    tmi_text note;
    tmi_text_init(&note);
    tmi_text_put(&note,
                 all ? "± is one standard deviation: of the privacy noise, of the sampling error as the release will report it, "
                       "and of both together. CV is that of both, relative to the size expected from the population and the "
                       "plan's guesses. Ranges are over groups."
                     : "± is one standard deviation, CV that of both relative to the expected size.");
    if (unknown) tmi_text_put(&note, " Not known: the plan has no guess (`typical`) from which it would follow.");
    for (size_t i = 0; i < plan->asked_count; i++) {
        if (!plan->statistics[i].shrink) continue;
        tmi_text_put(&note, " Errors of groups that are shrunk are those of their direct estimates.");
        break;
    }
    tmi_text_wrap_taken(text, "  ", "  ", &note);
}

/* What totals of groups of clusters cost, and what they bring to a later wave. */
static void write_waves(tmi_text *text, const tmi_preview *p, bool all)
{
    const tmi_schedule *s = &p->schedule;
    double part = 0;
    size_t shown = 0;
    for (size_t i = 0; p->waves && i < s->plan->asked_count; i++) part += p->waves[i].part;
    if (part == 0) return;
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(
        &line,
        "For changes: %.0f %% of the budget is for totals of groups of clusters. If half of the sampling variance is common "
        "to this wave and a later one like it, the standard error of a change will be about ",
        100 * part);
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const tmi_expected_wave *w = &p->waves[i];
        tmi_text title;
        if (w->part == 0 || (shown++ >= WARNED && !all)) continue;
        tmi_text_init(&title);
        tmi_statistic_title(&title, s->plan, i);
        tmi_text_format(&line, "%s%.2g (%s", shown > 1 ? "; " : "", w->with, title.failed ? "" : title.bytes);
        tmi_text_clear(&title);
        if (isfinite(w->without)) tmi_text_format(&line, "; %.2g without `for_change`", w->without);
        tmi_text_put(&line, ")");
    }
    if (shown > WARNED && !all) tmi_text_format(&line, "; and %zu more: --all shows them", shown - WARNED);
    tmi_text_put(&line, ".");
    tmi_text_wrap_taken(text, "  ", "  ", &line);
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        if (p->waves[i].part == 0 || tmi_wave_pays(&p->waves[i])) continue;
        tmi_text_wrap(
            text, "  WARNING: ", "    ",
            "groups of clusters have so much noise that `for_change` does not make changes more precise: leave it out, or "
            "spend more.");
        break;
    }
}

static void write_statistics(tmi_text *text, const tmi_preview *p, bool all)
{
    static const char *const heading[COLUMNS] = {"", "noise ±", "sampling ±", "both ±", "CV", ""};
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    const tmi_schedule *s = &p->schedule;
    const size_t count = s->plan->asked_count;
    size_t lines = 0, warned = 0;
    tmi_text_table table;
    classes c = {0};
    bool unknown = false;
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    if (!classes_make(&c, s, count, all)) {
        text->failed = true;
        goto done;
    }
    for (size_t i = 0; i < count; i++)
        if (c.leader[i] == i && (lines++ < LINES_SHOWN || all)) add_statistic(&table, p, &c, i, all, &unknown);
    tmi_table_write(text, &table);
    if (lines > LINES_SHOWN && !all) tmi_text_format(text, "  and %zu more lines: --all shows them\n", lines - LINES_SHOWN);
    write_legend(text, s->plan, all, unknown);
    write_waves(text, p, all);
    for (size_t i = 0; i < count; i++)
        if (c.leader[i] == i && has_warning(p, &c, i) && (warned++ < WARNED || all)) write_advice(text, p, &c, i);
    if (warned > WARNED && !all) tmi_text_format(text, "  WARNING: and %zu more: --all shows them\n", warned - WARNED);
    (all ? tmi_write_remedies : tmi_sum_up_remedies)(text, p, c.leader, c.sizes);

done:
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    classes_clear(&c);
}

/* ---- assumptions ---- */

typedef struct assumptions {
    tmi_text *text; /* as a list; NULL: in one sentence, `line` */
    tmi_text line;
    size_t count;
} assumptions;

static void put_names(tmi_text *line, const tmi_assumption *a, size_t most)
{
    for (size_t i = 0; i < a->column_count && i < most; i++) tmi_text_format(line, "%s%s", i ? ", " : "", a->columns[i]);
    if (a->column_count > most) tmi_text_format(line, " and %zu more", a->column_count - most);
    if (a->column_count > 0) tmi_text_put(line, ": ");
}

static void write_assumption(void *context, const tmi_assumption *a)
{
    assumptions *list = context;
    if (list->count++ == 0 && list->text) tmi_text_put(list->text, "\nAssumed, because the plan does not say\n");
    if (!list->text) {
        if (list->count > ASSUMED) return;
        tmi_text_put(&list->line, list->count > 1 ? "; " : "Assumed: ");
        put_names(&list->line, a, NAMES_SHOWN);
        tmi_text_put(&list->line, a->assumed);
        return;
    }
    tmi_text line;
    tmi_text_init(&line);
    put_names(&line, a, SIZE_MAX);
    tmi_text_format(&line, "%s. To change it: %s", a->assumed, a->declare);
    tmi_text_wrap_taken(list->text, "  - ", "    ", &line);
}

static void write_assumptions(tmi_text *text, const tmi_schedule *s, bool all)
{
    assumptions list = {.text = all ? text : NULL};
    tmi_text_init(&list.line);
    if (tmi_assumptions(s, write_assumption, &list, NULL) != TAMIS_OK) text->failed = true;
    if (list.count > 0 && all)
        tmi_text_wrap(text, "  ", "  ",
                      "The predicted errors and the split of the budget are only as good as these guesses; the guarantee does "
                      "not depend on them.");
    if (list.count == 0 || all) return;
    if (list.count > ASSUMED) tmi_text_format(&list.line, "; and %zu more", list.count - ASSUMED);
    tmi_text_put(&list.line, ". `typical` says otherwise: --all shows how.");
    tmi_text_wrap_taken(text, "", "  ", &list.line);
}

/* ---- what could be declared ---- */

static size_t lines_of(const tmi_text *text)
{
    size_t lines = 0;
    for (size_t i = 0; !text->failed && i < text->length; i++) lines += text->bytes[i] == '\n';
    return lines;
}

/* As many lines as there is room for beside those that follow. */
static void write_declarations(tmi_text *text, const tmi_preview *p, const tmi_text *rest)
{
    for (size_t i = 0; i < p->declaration_count; i++) {
        tmi_text line;
        tmi_text_init(&line);
        tmi_write_declaration(&line, p, i, false);
        if (line.failed || rest->failed) text->failed = true;
        else if (lines_of(text) + lines_of(&line) + lines_of(rest) <= SCREEN) tmi_text_put(text, line.bytes);
        tmi_text_clear(&line);
    }
}

static void list_declarations(tmi_text *text, const tmi_preview *p)
{
    if (p->declaration_count > 0) tmi_text_put(text, "\nWhat the plan could declare\n");
    for (size_t i = 0; i < p->declaration_count; i++) tmi_write_declaration(text, p, i, true);
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

typedef struct sizes {
    span sensitivity, part, scale;
} sizes;

static void add_law(sizes *z, const tmi_schedule *s, const tmi_measurement *m, size_t h)
{
    double unit = tmi_method_of(m->marginal.weighting) ? 1 : tmi_measurement_unit(m, &s->workload, h);
    widen(&z->sensitivity, unit * (s->gaussian ? sqrt(tmi_number_nearest(m->laws[h].l2_squared)) : (double)m->laws[h].l1));
    widen(&z->part, tmi_number_nearest(m->part));
    widen(&z->scale, unit * tmi_number_nearest(m->laws[h].scale));
}

static void add_measurement(tmi_text_table *table, const tmi_schedule *s, size_t i, size_t h, char letter)
{
    const tmi_measurement *m = &s->measurements[i];
    sizes z = {nothing, nothing, nothing};
    tmi_text cells[5];
    for (size_t k = 0; k < 5; k++) tmi_text_init(&cells[k]);
    add_law(&z, s, m, h);
    if (h == 0) tmi_measurement_name(&cells[0], m, &s->workload);
    if (m->strata > 1) tmi_text_format(&cells[0], "%s%s", h == 0 ? ": " : "  ", s->plan->design.strata[h].name);
    tmi_text_rounded(&cells[1], (double)(m->numbers / m->strata), 0);
    put_span(&cells[2], z.sensitivity, put_short);
    tmi_text_format(&cells[2], " %c", letter);
    put_span(&cells[3], z.part, put_short);
    put_span(&cells[4], z.scale, put_short);
    tmi_table_row_taken(table, cells);
}

static void write_measurements(tmi_text *text, const tmi_schedule *s)
{
    const char *heading[] = {"measured with noise", "cells", "sensitivity  ", s->gaussian ? "rho" : "epsilon", "scale"};
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    inequalities list = {.count = 0};
    tmi_text_table table;
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < s->measurement_count; i++) {
        const char letter = letter_of(&list, s, i);
        for (size_t h = 0; h < s->measurements[i].strata; h++) add_measurement(&table, s, i, h, letter);
    }
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    write_inequalities(text, &list);
    tmi_text_wrap(
        text, "  ", "  ",
        s->places.layout.count > 0
            ? "Sensitivity and scale are in the units of the data, those of standard errors in steps of their own. They are "
              "measured in a second stage, and squares and spreads to estimate sampling errors."
            : "Sensitivity and scale are in the units of the data. Squares and spreads are measured to estimate sampling "
              "errors.");
}

/* ---- models ---- */

/* A model with a coefficient whose noisy sum of squares may well be nothing but noise, and what would help. */
static void write_hopeless(tmi_text *text, const tmi_preview *p, size_t i)
{
    const tmi_plan_statistic *s = &p->schedule.plan->statistics[i];
    const tmi_expected_statistic *f = &p->expected_statistics[i];
    size_t worst = 0, count = 0;
    tmi_text line;
    if (!s->model) return;
    for (size_t k = 0; k < f->count; k++) {
        if (f->groups[k].turn > f->groups[worst].turn) worst = k;
        count += f->groups[k].turn >= TMI_HOPELESS;
    }
    if (count == 0) return;
    tmi_text_init(&line);
    tmi_text_format(&line, "HOPELESS, or nearly so: %zu of %zu coefficients of the ", count, f->count);
    tmi_statistic_title(&line, p->schedule.plan, i);
    tmi_text_put(&line, " may not be determined: of what ");
    tmi_term_text(&line, s, worst);
    tmi_text_format(
        &line,
        " is divided by, up to %.0f %% would be noise. Helps: fewer categories or values, wider cuts, a larger sample, "
        "or a larger %s. A release gives the reason in the place of a number.",
        100 * fmin(sqrt(f->groups[worst].turn), 1), p->schedule.plan->privacy.loss.rho ? "rho" : "epsilon");
    tmi_text_wrap_taken(text, "", "  ", &line);
}

/* ---- together ---- */

/* What is counted where a unit has several rows: "1,560 × 2.3 rows per household = 3,588 rows, of 115,000 in the population". */
static void put_rows(tmi_text *line, const tmi_schedule *s)
{
    tmi_sizes z;
    if (!tmi_counts_rows(s->plan)) return;
    tmi_sizes_make(&z, s);
    const bool known = !isnan(z.sample);
    tmi_text_rounded(line, (known ? z.sample : z.units) / z.rows, 0);
    tmi_text_format(line, " × %.3g rows per %s = ", z.rows, s->plan->privacy.unit);
    if (known) tmi_text_rounded(line, z.sample, 0);
    tmi_text_put(line, known ? " rows, of " : "");
    tmi_text_rounded(line, z.units, 0);
    tmi_text_put(line, known ? " in the population" : " rows in the population");
}

static void write_cost(tmi_text *text, const tmi_preview *p)
{
    const tmi_account *a = &p->account;
    const tamis_plan *plan = p->schedule.plan;
    tmi_text line;
    if (p->schedule.measurement_count == 0) {
        tmi_text_put(text, "Costs nothing: all that the plan asks for is public.\n");
        return;
    }
    tmi_text_init(&line);
    tmi_text_format(&line, "Costs each sampled %s ", plan->privacy.unit);
    if (plan->privacy.loss.outsider) {
        tmi_text_put(&line, "the epsilon of their stratum, at most ");
        tmi_text_number_up(&line, p->schedule.epsilon);
    } else {
        tmi_put_loss_words(&line, &plan->privacy.loss);
    }
    if (!a->has_spending && a->has_then && tmi_has_budget(plan) && !a->charged.unpublished)
        tmi_text_format(&line, "; nothing spent yet; leaves %s.", a->then_left.words);
    else {
        tmi_text_put(&line, ".");
        if (!p->refusal || a->has_spending) tmi_account_words(&line, &p->schedule, a);
    }
    if (p->refusal) tmi_text_put(&line, " This release is refused.");
    if (plan->privacy.loss.outsider && p->promised.outsider.proved) tmi_strata_words(&line, &plan->design, &p->promised.outsider);
    tmi_text_wrap_taken(text, "", "  ", &line);
}

static void write_account(tmi_text *text, const tmi_preview *p)
{
    tmi_lines lines = {0};
    if (p->refusal && !p->account.has_spending) tmi_text_put(text, "\nThe account\n");
    else tmi_write_account(text, &p->schedule, &p->account);
    if (p->refusal) tmi_text_put(text, "  This release is refused.\n");
    tmi_lines_split(&lines, p->account.unpublished);
    tmi_lines_wrap(text, "  ", "  ", &lines);
}

static void write_details(tmi_text *text, const tmi_preview *p)
{
    const tmi_schedule *s = &p->schedule;
    tmi_lines lines = {0};
    tmi_text_put(text, "\n");
    if (s->measurement_count > 0) {
        write_measurements(text, s);
        tmi_text_put(text, "\n");
        tmi_write_quantile_tasks(text, s);
    }
    tmi_write_promise(text, s, &p->promised.outsider, false);
    tmi_list_declared(&lines, s, TMI_DECLARED_IN_ORDER);
    tmi_text_put(text, "\nDeclared public, not checked\n");
    tmi_lines_wrap(text, "  - ", "    ", &lines);
    write_account(text, p);
}

static void write_short(tmi_text *text, const tmi_preview *p)
{
    tmi_lines lines = {0};
    tmi_write_warnings(text, &p->schedule);
    for (size_t i = 0; i < p->schedule.plan->asked_count; i++) write_hopeless(text, p, i);
    write_cost(text, p);
    tmi_lines_split(&lines, p->account.unpublished);
    tmi_lines_wrap(text, "", "  ", &lines);
    tmi_text_put(text, "--all: the tables that are measured, the guarantee in words, what is declared.\n");
}

tamis_status tmi_preview_text(char **text, const tmi_preview *preview, bool all, tamis_error *err)
{
    tmi_text t, rows, rest;
    tmi_text_init(&t);
    tmi_text_init(&rows);
    tmi_text_init(&rest);
    tmi_text_put(&rest, "");
    put_rows(&rows, &preview->schedule);
    tmi_write_heading(&t, preview->schedule.plan, "what this plan would release (no data were read)", &rows);
    tmi_text_clear(&rows);
    write_statistics(&t, preview, all);
    tmi_write_bounds(&rest, preview);
    write_assumptions(&rest, &preview->schedule, all);
    if (all) list_declarations(&rest, preview);
    (all ? write_details : write_short)(&rest, preview);
    if (!all) write_declarations(&t, preview, &rest);
    if (rest.failed) t.failed = true;
    else tmi_text_put(&t, rest.bytes);
    tmi_text_clear(&rest);
    return tmi_text_take(text, &t, err);
}
