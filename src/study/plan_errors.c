/* How wrong each number of a plan will be: by the formulas of its preview, and by releases of samples of a public population,
 * given or made up from the plan's guesses.                                                                                  */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "num/number.h"
#include "plan/plan.h"
#include "study/coverage.h"
#include "study/expected.h"
#include "study/question.h"
#include "study/report.h"
#include "study/seeded.h"
#include "study/values.h"

#define USUAL_RUNS 300

/* ---- a population made up from guesses ---- */

static const char *category_of(const tmi_plan_column *c, tmi_stream *r)
{
    const size_t count = c->value_count - (c->missing == TMI_AS_CATEGORY);
    double given = 0, u = tmi_stream_unit(r);
    size_t open = 0; /* values without a guess share the rest */
    for (size_t k = 0; k < count; k++) {
        if (c->shares && c->shares[k]) given += tmi_number_nearest(c->shares[k]);
        else open++;
    }
    for (size_t k = 0; k < count; k++) {
        u -= c->shares && c->shares[k] ? tmi_number_nearest(c->shares[k]) : fmax(1 - given, 0) / (double)open;
        if (u < 0) return c->values[k];
    }
    return c->values[count - 1];
}

static tamis_status make_numbers(double *list, size_t n, const tmi_plan_column *c, uint64_t seed, tamis_error *err)
{
    const double from = tmi_number_nearest(c->from), to = tmi_number_nearest(c->to);
    const double mean = c->typical ? tmi_number_nearest(c->typical) : NAN,
                 sd = c->typical_sd ? tmi_number_nearest(c->typical_sd) : NAN;
    if (!(mean > from && mean < to) || !(sd > 0)) return tmi_values_draw(list, n, "uniform", from, to, seed, err);
    return tmi_values_guess(list, n, mean, sd, from, to, seed, err);
}

/* One row per unit, stratum by stratum, columns independent of each other. */
static tamis_status make_population(tmi_text *text, const tamis_plan *plan, size_t n, uint64_t seed, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    double **numbers = tmi_alloc(plan->declared_count, sizeof *numbers);
    tmi_stream r = tmi_stream_of(seed, UINT64_MAX - 1, 0);
    tamis_status status = TAMIS_OK;
    size_t stratum = 0;
    int64_t left = d->by ? d->strata[0].population : 0;
    if (!numbers) return tmi_fail_memory(err);
    for (size_t c = 0; c < plan->declared_count; c++) {
        tmi_text_format(text, "%s\"%s\"", c > 0 ? "," : "", plan->columns[c].name);
        if (!plan->columns[c].is_number) continue;
        numbers[c] = tmi_alloc(n, sizeof *numbers[c]);
        if (!numbers[c]) TMI_TRY(tmi_fail_memory(err));
        TMI_TRY(make_numbers(numbers[c], n, &plan->columns[c], seed + c, err));
    }
    tmi_text_put(text, "\n");
    for (size_t i = 0; i < n; i++) {
        while (d->by && left == 0 && stratum + 1 < d->stratum_count) left = d->strata[++stratum].population;
        left--;
        for (size_t c = 0; c < plan->declared_count; c++) {
            const tmi_plan_column *k = &plan->columns[c];
            if (c > 0) tmi_text_put(text, ",");
            if (numbers[c]) tmi_text_real(text, round(numbers[c][i] / k->grid.step) * k->grid.step);
            else
                tmi_text_format(text, "\"%s\"",
                                k->recode && k->recode_of == d->by ? k->values[k->recode[stratum]]
                                : d->by == k                       ? d->strata[stratum].name
                                                                   : category_of(k, &r));
        }
        tmi_text_put(text, "\n");
    }

done:
    for (size_t c = 0; c < plan->declared_count; c++) tmi_free(numbers[c]);
    tmi_free(numbers);
    return status;
}

static tamis_status check_design(size_t *size, const tamis_plan *plan, tamis_error *err)
{
    const tmi_plan_design *d = &plan->design;
    int64_t n = d->population;
    if (n == 0 && d->typical.population) (void)tmi_number_floor(&n, d->typical.population);
    if (d->kind->clusters || d->kind->staged || !(d->kind->equal || d->kind->rate) || d->nonresponse)
        return tmi_fail(err, TAMIS_REFUSED,
                        "a population can be made up for srs, systematic and bernoulli samples, with or without strata: name a "
                        "public one for this design");
    if (n < 2 || n > TMI_MOST_VALUES)
        return tmi_fail(err, TAMIS_REFUSED, "a population can be made up of 2 to %d units: name a public one", TMI_MOST_VALUES);
    *size = (size_t)n;
    return TAMIS_OK;
}

/* Writes it to a new file; `path` is empty if there is none. */
static tamis_status write_population(char *path, size_t room, const tamis_plan *plan, uint64_t seed, tamis_error *err)
{
    const char *folder = getenv("TMPDIR");
    tmi_text text;
    size_t n = 0;
    tamis_status status;
    int file = -1;
    *path = '\0';
    tmi_text_init(&text);
    TMI_TRY(check_design(&n, plan, err));
    TMI_TRY(make_population(&text, plan, n, seed, err));
    if (text.failed) TMI_TRY(tmi_fail_memory(err));
    const int length = snprintf(path, room, "%s/tamis-study-XXXXXX.csv", folder && *folder ? folder : "/tmp");
    file = length > 0 && (size_t)length < room ? mkstemps(path, 4) : -1;
    if (file < 0) *path = '\0';
    for (size_t done_with = 0; file >= 0 && done_with < text.length;) {
        const ssize_t some = write(file, text.bytes + done_with, text.length - done_with);
        if (some < 0) TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "cannot write a temporary file"));
        done_with += (size_t)some;
    }
    if (file < 0) TMI_TRY(tmi_fail(err, TAMIS_SYSTEM, "cannot create a temporary file; set TMPDIR to another place"));

done:
    if (file >= 0) close(file);
    tmi_text_clear(&text);
    return status;
}

/* ---- the simulation ---- */

/* The formula's row for a simulated number: of the same statistic and group, or of all groups alike. */
static const tmi_expected_row *row_of(const tmi_expected *e, const char *statistic, const char *group)
{
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(e->rows[i].statistic, statistic) == 0 && (!*e->rows[i].group || strcmp(e->rows[i].group, group) == 0))
            return &e->rows[i];
    return NULL;
}

static const char *const columns[] = {"statistic", "group",     "noise",           "sampling_error",
                                      "formula",   "simulated", "simulated_error", "true_value"};
enum { C_STATISTIC, C_GROUP, C_NOISE, C_SAMPLING, C_FORMULA, C_SIMULATED, C_ERROR, C_TRUTH, COLUMN_COUNT };

static void add_row(tmi_sheet *sheet, const char *statistic, const char *group, const tmi_expected_row *r, double rmse,
                    double error, double truth)
{
    tmi_sheet_words(sheet, statistic ? statistic : "");
    tmi_sheet_words(sheet, group ? group : "");
    tmi_sheet_number(sheet, r ? r->noise : NAN);
    tmi_sheet_number(sheet, r ? r->sampling : NAN);
    tmi_sheet_number(sheet, r ? r->both : NAN);
    tmi_sheet_number(sheet, rmse);
    tmi_sheet_number(sheet, error);
    tmi_sheet_number(sheet, truth);
}

static void add_simulated(tmi_sheet *sheet, const tmi_coverage *study, const tmi_expected *e)
{
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        tmi_text statistic, group;
        if (!tmi_coverage_counts(c)) continue;
        tmi_text_init(&statistic), tmi_text_init(&group);
        tmi_coverage_names(&statistic, &group, study, i);
        sheet->failed = sheet->failed || statistic.failed || group.failed;
        if (!sheet->failed)
            add_row(sheet, statistic.bytes, group.bytes, row_of(e, statistic.bytes, group.bytes), tmi_coverage_rmse(c),
                    tmi_coverage_rmse_error(c), c->truth);
        tmi_text_clear(&statistic), tmi_text_clear(&group);
    }
}

/* ---- texts ---- */

typedef struct made {
    const tamis_plan *plan;
    const char *population; /* NULL: none was simulated */
    bool made_up;
    int64_t runs;
} made;

static void write_text(tmi_text *text, const made *m, const tmi_sheet *sheet)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    const size_t shown = m->population ? 5 : 4;
    tmi_text_table table;
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_format(&line, "%s: expected errors of every statistic", m->plan->survey);
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, shown, align);
    tmi_table_row(&table, (const char *const[]){"", "noise ±", "sampling ±", "both ±", "simulated ±"});
    for (size_t i = 0; i + COLUMN_COUNT <= sheet->count; i += COLUMN_COUNT) {
        const tmi_sheet_cell *c = &sheet->cells[i];
        tmi_text cells[5];
        for (int k = 0; k < 5; k++) tmi_text_init(&cells[k]);
        tmi_expected_name(&cells[0], c[C_STATISTIC].text, c[C_GROUP].text);
        tmi_text_about(&cells[1], c[C_NOISE].number);
        tmi_text_about(&cells[2], c[C_SAMPLING].number);
        tmi_text_about(&cells[3], c[C_FORMULA].number);
        tmi_text_about(&cells[4], c[C_SIMULATED].number);
        if (c[C_ERROR].number > 0) {
            tmi_text_put(&cells[4], " (");
            tmi_text_rounded(&cells[4], c[C_ERROR].number, tmi_decimals_of(c[C_ERROR].number));
            tmi_text_put(&cells[4], ")");
        }
        if (shown == 4) tmi_text_clear(&cells[4]);
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    tmi_text_put(&line, "± is one standard deviation. The first three columns follow from formulas and the plan's guesses "
                        "(`typical`).");
    if (m->population)
        tmi_text_format(
            &line, " Simulated: root mean squared error of %lld releases of samples of %s, in brackets its Monte Carlo error.",
            (long long)m->runs, m->made_up ? "a population made up from the guesses, columns independent" : m->population);
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "Nothing was published and no ledger was charged.\n");
}

static void write_json(tmi_text *json, const made *m, const tmi_sheet *sheet)
{
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", m->plan->survey);
    tmi_json_add_string(&out, "population", m->made_up ? "made up" : m->population);
    tmi_json_add_integer(&out, "runs", m->runs);
    tmi_sheet_json(&out, "results", sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

/* Formula against simulation, of each number as a share of the formula; or noise and sampling error without one. */
static tamis_status write_svg(char **svg, const made *m, const tmi_sheet *sheet, tamis_error *err)
{
    const size_t rows = sheet->count / COLUMN_COUNT, most = 3 * rows + 1;
    double *points = tmi_alloc(4 * most, sizeof *points);
    const char *names[TAMIS_PLOT_NAMES] = {0};
    size_t shown = 0, bars = 0;
    if (!points) return tmi_fail_memory(err);
    double *x = points, *formula = points + most, *bar_x = points + 2 * most, *bar_y = points + 3 * most;
    for (size_t i = 0; i < rows && shown < TAMIS_PLOT_NAMES; i++) {
        const tmi_sheet_cell *c = &sheet->cells[i * COLUMN_COUNT];
        const double size = isnan(c[C_FORMULA].number) ? c[C_NOISE].number : c[C_FORMULA].number;
        if (!(size > 0)) continue;
        names[shown] = c[C_STATISTIC].text;
        x[shown] = (double)shown + 1;
        formula[shown++] = c[C_NOISE].number / size;
        if (isnan(c[C_SIMULATED].number)) continue;
        const double middle = c[C_SIMULATED].number / size, reach = 2 * c[C_ERROR].number / size;
        bar_x[bars] = bar_x[bars + 1] = (double)shown + 0.15, bar_x[bars + 2] = NAN;
        bar_y[bars] = middle - reach, bar_y[bars + 1] = middle + reach, bar_y[bars + 2] = NAN;
        bars += 3;
    }
    const double ends[] = {0.5, (double)shown + 0.5}, one[] = {1, 1};
    const tamis_plot_curve curves[] = {{"noise alone", x, formula, shown, false},
                                       {"formula", ends, one, 2, true},
                                       {"simulated, two errors", bar_x, bar_y, bars, false}};
    char numbers[TAMIS_PLOT_NAMES][24];
    const char *places[TAMIS_PLOT_NAMES];
    for (size_t i = 0; i < shown; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%zu", i + 1);
        places[i] = shown <= 4 ? names[i] : numbers[i];
    }
    const tamis_plot plot = {.title = "Expected errors of a plan",
                             .subtitle = m->plan->survey,
                             .x = {.label = "number in the table, in order", .names = places, .name_count = shown},
                             .y = {.label = "share of the expected error (noise and sampling)"},
                             .curves = curves,
                             .curve_count = bars > 0 ? 3 : 2,
                             .dots = 1};
    tamis_status status = shown > 0 ? tamis_plot_svg(svg, &plot, err)
                                    : tmi_fail(err, TAMIS_INVALID, "the plan publishes nothing with noise");
    tmi_free(points);
    return status;
}

/* ---- all of it ---- */

tamis_status tamis_study_plan(tamis_study **study, const tamis_plan *plan, const tamis_study_samples *samples,
                              const tamis_study_options *options, tamis_error *err)
{
    made m = {.plan = plan};
    tmi_expected e = {0};
    tmi_coverage *coverage = NULL;
    tamis_study_samples drawn;
    tamis_study_options how;
    tmi_study_forms forms;
    char path[4096] = "";
    tamis_status status;
    tmi_study_forms_init(&forms, columns, COLUMN_COUNT);
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    TMI_TRY(tmi_options_take(&drawn, sizeof drawn, samples, "samples", err));
    TMI_TRY(tmi_options_take(&how, sizeof how, options, "options", err));
    TMI_TRY(tmi_expected_of(&e, plan, err));
    bool gaps = false; /* numbers without a formula */
    for (size_t i = 0; i < e.count; i++) gaps = gaps || isnan(e.rows[i].both);
    m.made_up = !drawn.population && (gaps || how.runs > 0);
    drawn.size = sizeof drawn; /* as of this library, now that the caller's are read */
    how.size = sizeof how;
    if (m.made_up) {
        TMI_TRY(write_population(path, sizeof path, plan, how.seed, err));
        drawn.population = path;
    }
    if (drawn.population) {
        if (how.runs == 0) how.runs = USUAL_RUNS;
        TMI_TRY(tmi_coverage_new(&coverage, plan, &drawn, &how, err));
        m.population = drawn.population;
        m.runs = coverage->runs;
        add_simulated(&forms.sheet, coverage, &e);
    } else {
        for (size_t i = 0; i < e.count; i++)
            if (!e.rows[i].known) add_row(&forms.sheet, e.rows[i].statistic, e.rows[i].group, &e.rows[i], NAN, NAN, NAN);
    }
    write_text(&forms.text, &m, &forms.sheet);
    write_json(&forms.json, &m, &forms.sheet);
    if (forms.sheet.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(write_svg(&forms.svg, &m, &forms.sheet, err));
    status = tmi_study_make(study, &forms, err);

done:
    if (*path) unlink(path);
    tmi_study_forms_clear(&forms);
    tmi_expected_clear(&e);
    tmi_coverage_free(coverage);
    return status;
}
