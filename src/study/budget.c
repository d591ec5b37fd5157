/* The smallest epsilon that reaches stated errors, found by asking the plan's preview again and again. Errors fall as epsilon
 * grows, towards the sampling error.                                                                                 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "engine/core/text.h"
#include "num/number.h"
#include "plan/plan.h"
#include "study/expected.h"
#include "study/question.h"
#include "study/report.h"

#define LEAST_EPS 1e-3 /* with less, previews of small plans leave the range of noise scales */
#define MOST_EPS 1000.0
#define HALVINGS 4
#define STEPS 24 /* of the bisection: the digits that are shown are right */

typedef struct target {
    const char *name;
    size_t length;
    double error;
} target;

typedef struct search {
    const tamis_plan *plan;
    const target *targets;
    size_t count;
    double share; /* of the expected number, for every statistic; NaN: not asked */
    bool rho;
    tmi_watch *watch;
} search;

static double error_of(const tmi_expected_row *r) { return isnan(r->both) ? r->noise : r->both; }

/* What a row may be wrong by; infinite if nothing was said about it. */
static double allowed(const search *s, const tmi_expected_row *r)
{
    double most = isnan(s->share) || isnan(r->size) ? INFINITY : s->share * fabs(r->size);
    for (size_t i = 0; i < s->count; i++)
        if (strlen(r->statistic) == s->targets[i].length && strncmp(r->statistic, s->targets[i].name, s->targets[i].length) == 0)
            most = fmin(most, s->targets[i].error);
    return r->known ? INFINITY : most;
}

static tamis_status expect(tmi_expected *e, const search *s, double eps, tamis_error *err)
{
    *e = (tmi_expected){0};
    tamis_status status = tmi_watch_beat(s->watch, err);
    return status == TAMIS_OK ? tmi_expected_at(e, s->plan, eps, err) : status;
}

static tamis_status reaches(bool *enough, const search *s, double eps, tamis_error *err)
{
    tmi_expected e;
    tamis_status status = expect(&e, s, eps, err);
    *enough = true;
    for (size_t i = 0; i < e.count; i++) *enough = *enough && error_of(&e.rows[i]) <= allowed(s, &e.rows[i]);
    tmi_expected_clear(&e);
    return status;
}

/* Three significant digits, upwards: the double nearest to the decimal, which prints with no more digits. A power of ten up to 22
 * is exact, and so the division is rounded once. */
static double round_up(double x)
{
    const int place = (int)floor(log10(x)) - 2;
    const double unit = pow(10, abs(place));
    return place < 0 ? ceil(x * unit - 1e-9) / unit : ceil(x / unit - 1e-9) * unit;
}

static tamis_status find(double *eps, const search *s, double start, tamis_error *err)
{
    double low = fmin(fmax(start, LEAST_EPS), MOST_EPS), high = low;
    bool enough;
    tamis_status status;
    TMI_TRY(reaches(&enough, s, low, err));
    if (enough) {
        while (enough && low > LEAST_EPS) {
            high = low;
            low = fmax(low / 2, LEAST_EPS);
            TMI_TRY(reaches(&enough, s, low, err));
        }
        if (enough) {
            *eps = low;
            return TAMIS_OK;
        }
    } else {
        while (!enough && high < MOST_EPS) {
            low = high;
            high = fmin(2 * high, MOST_EPS);
            TMI_TRY(reaches(&enough, s, high, err));
        }
        if (!enough)
            return tmi_fail(
                err, TAMIS_UNABLE,
                "no %s up to %g reaches these errors: the sampling error alone is larger, or nearly; take a larger sample",
                s->rho ? "rho" : "epsilon", MOST_EPS);
    }
    for (int i = 0; i < STEPS && high / low > 1.0005; i++) {
        const double middle = sqrt(low * high);
        TMI_TRY(reaches(&enough, s, middle, err));
        if (enough) high = middle;
        else low = middle;
    }
    *eps = round_up(high);
    TMI_TRY(reaches(&enough, s, *eps, err));
    if (!enough) *eps = round_up(*eps * 1.0001);

done:
    return status;
}

/* ---- what was asked ---- */

static tamis_status read_targets(target *targets, const char *const *texts, size_t count, const tmi_expected *e, tamis_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *equals = texts[i] ? strrchr(texts[i], '=') : NULL;
        bool found = false;
        if (!equals) return tmi_fail(err, TAMIS_INVALID, "expected STATISTIC=ERROR, as in \"mean income=200\"");
        targets[i] = (target){texts[i], (size_t)(equals - texts[i]), tmi_number_in((tmi_cell){equals + 1, strlen(equals + 1)})};
        if (!(targets[i].error > 0 && isfinite(targets[i].error)))
            return tmi_fail(err, TAMIS_INVALID, "%s: the error must be a positive number", texts[i]);
        for (size_t k = 0; k < e->count; k++)
            found = found || (strlen(e->rows[k].statistic) == targets[i].length &&
                              strncmp(e->rows[k].statistic, texts[i], targets[i].length) == 0);
        if (!found)
            return tmi_fail(err, TAMIS_INVALID, "%s: the plan has no such statistic; its first is \"%s\"", texts[i],
                            e->count > 0 ? e->rows[0].statistic : "");
    }
    return TAMIS_OK;
}

/* ---- texts ---- */

static const char *const columns[] = {"statistic", "group", "epsilon", "error", "noise", "sampling_error", "allowed"};

static void add_rows(tmi_sheet *sheet, const search *s, const tmi_expected *e, double eps)
{
    for (size_t i = 0; i < e->count; i++) {
        const tmi_expected_row *r = &e->rows[i];
        const double most = allowed(s, r);
        tmi_sheet_words(sheet, r->statistic);
        tmi_sheet_words(sheet, r->group);
        const double numbers[] = {eps, error_of(r), r->noise, r->sampling, isfinite(most) ? most : NAN};
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) tmi_sheet_number(sheet, numbers[k]);
    }
}

static void write_text(tmi_text *text, const search *s, const tmi_expected *e, const double *eps)
{
    tmi_align align[HALVINGS + 2] = {TMI_LEFT};
    tmi_text cells[HALVINGS + 2], line;
    tmi_text_table table;
    const char *word = s->rho ? "rho" : "epsilon";
    for (size_t k = 1; k < HALVINGS + 2; k++) align[k] = TMI_RIGHT;
    tmi_text_init(&line);
    tmi_text_format(&line, "The smallest %s that reaches the stated errors is ", word);
    tmi_text_real(&line, eps[0]);
    tmi_text_put(&line, ". What each halving costs, as the standard error of every statistic (sampling and noise):");
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, HALVINGS + 2, align);
    for (size_t k = 0; k < HALVINGS + 2; k++) tmi_text_init(&cells[k]);
    tmi_text_put(&cells[0], word);
    tmi_text_put(&cells[1], "allowed");
    for (size_t k = 0; k < HALVINGS; k++) tmi_text_format(&cells[k + 2], "%.4g", eps[k]);
    tmi_table_row_taken(&table, cells);
    for (size_t i = 0; i < e[0].count; i++) {
        const tmi_expected_row *r = &e[0].rows[i];
        const double most = allowed(s, r);
        if (r->known) continue;
        for (size_t k = 0; k < HALVINGS + 2; k++) tmi_text_init(&cells[k]);
        tmi_expected_name(&cells[0], r->statistic, r->group);
        if (isfinite(most)) tmi_text_about(&cells[1], most);
        for (size_t k = 0; k < HALVINGS; k++)
            if (i < e[k].count) tmi_text_about(&cells[k + 2], error_of(&e[k].rows[i]));
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    tmi_text_wrap(
        text, "", "  ",
        "Expected errors come from the plan's formulas and its guesses (`typical`); without guesses they are those of the "
        "noise alone. Nothing was read or charged.");
}

/* A curve for each statistic, that of its first group if it has some. */
static tamis_status write_svg(char **svg, const search *s, const tmi_expected *e, const double *eps, tamis_error *err)
{
    enum { SHOWN = TAMIS_PLOT_CURVES };
    double y[SHOWN][HALVINGS];
    tamis_plot_curve curves[SHOWN];
    const char *last = "";
    size_t count = 0;
    for (size_t i = 0; i < e[0].count && count < SHOWN; i++) {
        const tmi_expected_row *r = &e[0].rows[i];
        if (r->known || !(error_of(r) > 0) || strcmp(r->statistic, last) == 0) continue;
        last = r->statistic;
        for (size_t k = 0; k < HALVINGS; k++) y[count][k] = i < e[k].count ? error_of(&e[k].rows[i]) / error_of(r) : NAN;
        curves[count] = (tamis_plot_curve){r->statistic, eps, y[count], HALVINGS, false};
        count++;
    }
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "the plan publishes nothing with noise");
    const tamis_plot plot = {.title = "What each halving costs",
                             .subtitle = "standard error over that at the smallest budget which reaches the stated errors",
                             .x = {.label = s->rho ? "rho" : "epsilon", .log = true},
                             .y = {.label = "times the error"},
                             .curves = curves,
                             .curve_count = count};
    return tamis_plot_svg(svg, &plot, err);
}

tamis_status tamis_study_epsilon(tamis_study **study, const tamis_plan *plan, const tamis_study_errors *errors,
                                 const tamis_study_options *options, tamis_error *err)
{
    tamis_study_errors stated;
    tamis_study_options how;
    search s = {.plan = plan};
    tmi_expected e[HALVINGS] = {0}, now = {0};
    double eps[HALVINGS] = {0};
    tmi_study_forms forms;
    tmi_json_out out;
    tamis_status status;
    tmi_study_forms_init(&forms, columns, sizeof columns / sizeof *columns);
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    if (tmi_options_take(&stated, sizeof stated, errors, "errors", err) != TAMIS_OK) return TAMIS_INVALID;
    if (tmi_options_take(&how, sizeof how, options, "options", err) != TAMIS_OK) return TAMIS_INVALID;
    if (stated.count == 0 && !stated.share)
        return tmi_fail(err, TAMIS_INVALID, "no errors are stated: which error may each statistic have?");
    tmi_watch watch = tmi_watch_of(&how.watch);
    s.watch = &watch;
    s.count = stated.count;
    s.share = stated.share ? tmi_number_nearest(stated.share) : NAN;
    if (stated.share && !(s.share > 0 && s.share < 1e6)) return tmi_fail(err, TAMIS_INVALID, "error: must be a positive share");
    target *targets = tmi_alloc(s.count, sizeof *targets);
    if (!targets) return tmi_fail_memory(err);
    s.targets = targets;
    const double start = tmi_plan_spends(plan);
    s.rho = tmi_plan_counts_rho(plan);
    TMI_TRY(expect(&now, &s, fmin(fmax(start, LEAST_EPS), MOST_EPS), err));
    TMI_TRY(read_targets(targets, stated.list, s.count, &now, err));
    TMI_TRY(find(&eps[0], &s, start, err));
    for (size_t k = 0; k < HALVINGS; k++) {
        eps[k] = eps[0] / (double)(1 << k);
        TMI_TRY(expect(&e[k], &s, eps[k], err));
        add_rows(&forms.sheet, &s, &e[k], eps[k]);
    }
    write_text(&forms.text, &s, e, eps);
    tmi_json_out_init(&out, &forms.json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", plan->survey);
    tmi_json_add_real(&out, s.rho ? "rho" : "epsilon", eps[0]);
    tmi_sheet_json(&out, "results", &forms.sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(&forms.json, "\n");
    TMI_TRY(write_svg(&forms.svg, &s, e, eps, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_study_forms_clear(&forms);
    for (size_t k = 0; k < HALVINGS; k++) tmi_expected_clear(&e[k]);
    tmi_expected_clear(&now);
    tmi_free(targets);
    return status;
}
