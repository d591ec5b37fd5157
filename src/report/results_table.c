/* Results for people: one block per statistic, groups beneath it, numbers rounded to two digits of their error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/table.h"
#include "num/number.h"
#include "plan/names.h"
#include "report/results.h"

#define COLUMNS TMI_RESULT_CELLS

typedef struct row {
    tmi_text cells[COLUMNS];
} row;

static void row_init(row *r)
{
    for (size_t i = 0; i < COLUMNS; i++) tmi_text_init(&r->cells[i]);
}

static void put_label(tmi_text *text, const tamis_plan *plan, const tmi_result *result)
{
    const tmi_plan_statistic *s = &plan->statistics[result->statistic];
    if (s->by_count == 0 && s->model) {
        tmi_text_put(text, "  ");
        tmi_term_text(text, s, result->cell);
        return;
    }
    if (s->by_count == 0) {
        tmi_result_title(text, plan, result);
        return;
    }
    tmi_text_put(text, "  ");
    for (size_t i = 0; i < s->by_count; i++) {
        tmi_text_format(text, "%s%s", i ? ", " : "", tmi_cell_value(s->by, s->by_count, tmi_group_of(s, result->cell), i));
    }
    if (s->model) tmi_text_put(text, ", ");
    tmi_term_text(text, s, result->cell);
    if (s->at_count < 2) return;
    tmi_text_put(text, ", quantile ");
    tmi_text_real(text, tmi_at_of(s, result->cell));
}

/* ---- how many decimals ---- */

#define MOST_DECIMALS 9

int tmi_unit_decimals(double unit)
{
    int decimals = 0;
    double scaled = unit;
    for (; decimals < MOST_DECIMALS && fabs(scaled - round(scaled)) > 1e-9 * scaled; decimals++) scaled *= 10;
    return decimals;
}

/* More decimals than these would say nothing, however small the noise. Two for a weight that is no whole number, four
 * for a quotient. */
static int useful_decimals(const tmi_results *results, const tmi_plan_statistic *s)
{
    if (s->kind > TMI_IQR || s->kind == TMI_CORRELATION || (s->model && s->model->family != TMI_LINEAR))
        return 4; /* shares and quotients of a distribution function, whatever the unit of its values */
    int decimals = s->column ? tmi_unit_decimals(s->column->grid.step) : 0;
    const tmi_statistic_kind kind = s->contrast ? s->contrast->compared[0].kind : s->kind;
    if (s->kind == TMI_CONTRAST_QUOTIENT) return 4;
    if (s->model || kind == TMI_MEAN || kind == TMI_SHARE || kind == TMI_RATIO) return decimals + 4;
    const tmi_plan_design *d = &results->plan->design;
    bool whole = !d->by && d->sample > 0 && d->population % d->sample == 0;
    return whole ? decimals : decimals + 2;
}

/* Decimals that leave seven significant digits: unprotected numbers are compared with those of other programs. */
static int seven_digits(double x)
{
    double magnitude = x != 0 && isfinite(x) ? floor(log10(fabs(x))) : 6;
    return magnitude > 6 ? 0 : magnitude < -6 ? 12 : 6 - (int)magnitude;
}

/* An error below this part of an unprotected estimate is what doubles leave of 0. */
#define DUST 1e-12

static void put_error(tmi_text *text, double error, int decimals)
{
    if (error > 0 && error < 0.5 * pow(10, -decimals)) {
        tmi_text_put(text, "< ");
        error = pow(10, -decimals);
    }
    tmi_text_rounded(text, error, decimals);
}

/* An end of an interval, rounded outwards (side -1: down, 1: up) but not beyond the limit, which is written in full.
 * Within a millionth of its last digit a number counts as already rounded: that is the dust of doubles. */
static void put_end(tmi_text *text, double end, int side, double limit, int decimals, int limit_decimals)
{
    double unit = pow(10, -decimals), steps = end / unit, nearest = round(steps);
    if (fabs(steps - nearest) > 1e-6) nearest = side < 0 ? floor(steps) : ceil(steps);
    bool beyond = side * (nearest * unit - limit) > 0;
    if (beyond) tmi_text_rounded(text, limit, decimals > limit_decimals ? decimals : limit_decimals);
    else tmi_text_rounded(text, nearest * unit, decimals);
}

static int smaller(int a, int b) { return a < b ? a : b; }

void tmi_result_words(tmi_text cells[TMI_RESULT_CELLS], const tmi_results *results, const tmi_result *result)
{
    const tmi_plan_statistic *s = &results->plan->statistics[result->statistic];
    double error = isnan(result->se) ? result->noise_sd : result->se;
    if (!results->schedule && error < DUST * fabs(result->estimate)) error = 0;
    int useful = useful_decimals(results, s);
    int decimals = error > 0 ? smaller(tmi_decimals_of(error), useful) : result->estimate == floor(result->estimate) ? 0 : 2;
    int error_decimals = smaller(tmi_decimals_of(error), useful > 2 ? useful : 2);
    if (!results->schedule) {
        if (!(error == 0 && decimals == 0)) decimals = seven_digits(result->estimate); /* 6,194 units stay whole */
        error_decimals = seven_digits(error);
    }
    if (isnan(result->estimate)) tmi_text_put(&cells[1], "none");
    else tmi_text_rounded(&cells[1], result->estimate, decimals);
    if (result->known) tmi_text_put(&cells[2], "known");
    else if (!isnan(result->se)) put_error(&cells[2], error, error_decimals);
    else if (!isnan(result->estimate)) tmi_text_put(&cells[2], "none");
    if (result->known) return;
    if (isnan(result->lower)) {
        tmi_text_put(&cells[3], result->reason ? result->reason : "none");
        return;
    }
    int limit_decimals = s->column ? tmi_unit_decimals(s->column->grid.step) : 0;
    put_end(&cells[3], result->lower, -1, result->least, decimals, limit_decimals);
    tmi_text_put(&cells[3], " to ");
    put_end(&cells[3], result->upper, 1, result->most, decimals, limit_decimals);
}

/* The confidence of all statistics, or -1 if they differ. */
static double common_confidence(const tamis_plan *plan)
{
    for (size_t i = 1; i < plan->asked_count; i++) {
        if (tmi_number_compare(plan->statistics[i].confidence, plan->statistics[0].confidence) != 0) return -1;
    }
    return tmi_number_nearest(plan->statistics[0].confidence);
}

static void put_heading(tmi_text_table *table, const tmi_results *results)
{
    row r;
    row_init(&r);
    double confidence = common_confidence(results->plan);
    tmi_text_put(&r.cells[1], "estimate");
    tmi_text_put(&r.cells[2], "std. error");
    if (confidence > 0) {
        tmi_text_rounded(&r.cells[3], 100 * confidence, fabs(100 * confidence - round(100 * confidence)) < 1e-9 ? 0 : 3);
        tmi_text_put(&r.cells[3], " % ");
    }
    tmi_text_put(&r.cells[3], "interval");
    tmi_table_row_taken(table, r.cells);
}

/* Why numbers have no interval, each reason once: below the table, where it cannot widen it. */
#define MOST_REASONS 9

typedef struct reasons {
    const char *words[MOST_REASONS];
    size_t count;
} reasons;

static void put_reason(tmi_text *cell, reasons *all, const char *words)
{
    size_t i = 0;
    while (i < all->count && strcmp(all->words[i], words) != 0) i++;
    if (i == MOST_REASONS) return;
    if (i == all->count) all->words[all->count++] = words;
    tmi_text_clear(cell);
    tmi_text_init(cell);
    tmi_text_format(cell, "none (%zu)", i + 1);
}

/* Changes between samples that are not declared to be independent, whose covariance is measured by groups of clusters, or not. */
static bool has_dependent_changes(const tmi_schedule *s, bool grouped)
{
    const tamis_plan *plan = s->plan;
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        const tmi_earlier *before = tmi_earlier_of(s->earlier, i);
        if (t->kind == TMI_CONTRAST_CHANGE && !t->contrast->independent && grouped == (before && before->grouped)) return true;
    }
    return false;
}

/* A model without what it is on: its terms say that. */
static void put_short_title(tmi_text *text, const tmi_plan_statistic *s)
{
    tmi_text_format(text, "%s %s of %s", tmi_model_family_name(s->model->family), tmi_statistic_name(s), s->column->name);
    if (s->where) tmi_text_format(text, " where %s", s->where->name);
    for (size_t i = 0; i < s->by_count; i++) tmi_text_format(text, "%s%s", i ? ", " : " by ", s->by[i]->name);
}

static void put_test(tmi_text *cell, const tmi_result *result)
{
    if (isnan(result->p)) return;
    tmi_text_put(cell, "  p ");
    tmi_p_text(cell, result->p);
}

/* Coefficients that are logarithms, as factors. */
static void put_ratios(tmi_text *words, const tmi_plan_statistic *s, const tmi_result *terms)
{
    const char *before = s->model->family == TMI_LOGISTIC ? "odds ratios " : "rate ratios ";
    if (s->model->family == TMI_LINEAR) return;
    if (words->length > 0) tmi_text_put(words, "; ");
    for (size_t j = 1; j < s->model->term_count; j++) {
        if (isnan(terms[j].lower)) continue;
        tmi_text_put(words, before);
        tmi_term_text(words, s, terms[j].cell);
        tmi_text_format(words, " %.3g (%.3g to %.3g)", exp(terms[j].estimate), exp(terms[j].lower), exp(terms[j].upper));
        before = ", ";
    }
}

/* What models have beside their coefficients, below the table. */
static void put_models(tmi_text *text, const tmi_results *results)
{
    for (size_t i = 0; i < results->count; i++) {
        const tmi_result *first = &results->list[i];
        const tmi_plan_statistic *s = &results->plan->statistics[first->statistic];
        tmi_text words, about;
        if (!s->model || first->cell % s->model->term_count != 0) continue;
        tmi_text_init(&words);
        tmi_text_init(&about);
        tmi_model_text(&about, s, first);
        put_ratios(&about, s, first);
        tmi_statistic_title(&words, results->plan, first->statistic);
        for (size_t k = 0; k < s->by_count; k++)
            tmi_text_format(&words, ", %s", tmi_cell_value(s->by, s->by_count, tmi_group_of(s, first->cell), k));
        if (about.length > 0) tmi_text_format(&words, ": %s", about.bytes);
        if (words.failed || about.failed) text->failed = true;
        else if (about.length > 0) tmi_text_wrap(text, "", "  ", words.bytes);
        tmi_text_clear(&words);
        tmi_text_clear(&about);
    }
}

void tmi_results_table(tmi_text *text, const tmi_results *results)
{
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    const tamis_plan *plan = results->plan;
    bool mixed = common_confidence(plan) < 0;
    bool outside = false, apart = false;
    reasons none = {0};
    tmi_text_table table;
    tmi_table_init(&table, COLUMNS, align);
    put_heading(&table, results);
    for (size_t i = 0; i < results->count; i++) {
        const tmi_result *result = &results->list[i];
        const tmi_plan_statistic *s = &plan->statistics[result->statistic];
        row r;
        row_init(&r);
        if ((s->by_count > 0 || s->model) && result->cell == 0) {
            if (s->model) put_short_title(&r.cells[0], s);
            else tmi_statistic_title(&r.cells[0], plan, result->statistic);
            tmi_table_row_taken(&table, r.cells);
        }
        put_label(&r.cells[0], plan, result);
        tmi_result_words(r.cells, results, result);
        if (!result->known && isnan(result->lower) && result->reason) put_reason(&r.cells[3], &none, result->reason);
        if (mixed && !result->known && !isnan(result->lower)) {
            tmi_text_format(&r.cells[3], "  (%g %%)", 100 * tmi_number_nearest(s->confidence));
        }
        if (s->model) put_test(&r.cells[3], result);
        if (result->outside_range) {
            tmi_text_put(&r.cells[3], " *");
            outside = true;
        } else if (tmi_is_outside_interval(result)) {
            tmi_text_put(&r.cells[3], " !");
            apart = true;
        }
        tmi_table_row_taken(&table, r.cells);
    }
    tmi_table_write(text, &table);
    for (size_t i = 0; i < none.count; i++) {
        char first[] = "(1) ";
        first[1] = (char)('1' + i);
        tmi_text_wrap(text, first, "    ", none.words[i]);
    }
    put_models(text, results);
    if (outside) tmi_text_put(text, "* this estimate is outside the range of possible values\n");
    if (apart) tmi_text_put(text, "! this estimate is outside its own interval: rely on the interval\n");
    if (results->schedule && has_dependent_changes(results->schedule, true))
        tmi_text_wrap(
            text, "", "",
            "Changes: how clusters that are in both waves vary together is measured, by totals of groups of clusters that "
            "both waves published.");
    if (results->schedule && has_dependent_changes(results->schedule, false))
        tmi_text_wrap(text, "", "",
                      "Changes: the sampling variances of both waves are added; intervals are too wide "
                      "where kept persons answer alike, and too narrow where they vary in opposite directions.");
    tmi_table_clear(&table);
}
