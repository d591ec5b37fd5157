/* A figure by its number, and Table 1. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "study/figures/figure.h"

static tamis_status begin(tmi_figure *f, const tamis_study_options *options, int64_t usual, tamis_error *err)
{
    tamis_study_options o;
    const tamis_status status = tmi_options_take(&o, sizeof o, options, "options", err);
    if (status != TAMIS_OK) return status;
    *f = (tmi_figure){.seed = o.seed, .runs = o.runs ? o.runs : usual, .threads = o.threads, .watch = tmi_watch_of(&o.watch)};
    if (f->runs < 10 || f->runs > 1000000) return tmi_fail(err, TAMIS_INVALID, "runs: must be between 10 and 1000000");
    return TAMIS_OK;
}

static void clear(tmi_figure *f)
{
    for (size_t i = 0; i < f->kept_count; i++) tmi_free(f->kept[i]);
    tmi_free(f->kept);
    tmi_study_forms_clear(&f->forms);
}

static void write_json(tmi_text *json, const tmi_figure *f, int number)
{
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    if (number > 0) tmi_json_add_integer(&out, "figure", number);
    else tmi_json_add_integer(&out, "table", 1);
    tmi_json_add_integer(&out, "runs", f->runs);
    tmi_json_add_integer(&out, "seed", (int64_t)f->seed);
    tmi_json_add_string(&out, "remark", f->remark);
    tmi_sheet_json(&out, "results", &f->forms.sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

tamis_status tamis_study_figure(tamis_study **study, int number, const tamis_study_options *options, tamis_error *err)
{
    tmi_figure f = {0};
    tamis_status status;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    if (number < 1 || number > TAMIS_STUDY_FIGURES)
        return tmi_fail(err, TAMIS_INVALID, "number: the paper has figures 1 to %d", TAMIS_STUDY_FIGURES);
    TMI_TRY(begin(&f, options, TMI_PAPER_RUNS, err));
    TMI_TRY(number < 6 || number == 9 ? tmi_figure_means(&f, number, err) : tmi_figure_medians(&f, number, err));
    if (f.failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_plots_joined(&f.forms.svg, f.plots, f.plot_count, err));
    write_json(&f.forms.json, &f, number);
    tmi_text_format(&f.forms.text, "Figure %d of the paper\n", number);
    tmi_text_wrap(&f.forms.text, "  ", "  ", f.remark);
    status = tmi_study_make(study, &f.forms, err);

done:
    clear(&f);
    return status;
}

/* ---- Table 1 ---- */

#define TABLE_RUNS 300
#define POPULATIONS 5
#define TABLE_RATES 9
#define MOST_EPS 5
#define SURE 3 /* Monte Carlo errors by which a ratio must be below 1 */

static const double table_rates[TABLE_RATES] = {0.01, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9};

/* Of each epsilon the smallest ratio of squared errors over the rates, sample over census: its range over the populations, and
 * how many of them gain. */
typedef struct searched {
    tmi_paper_population population;
    double eps[MOST_EPS];
    size_t count;
    double least[MOST_EPS], most[MOST_EPS], error[MOST_EPS];
    int gains[MOST_EPS];
} searched;

static tamis_status search_one(searched *s, const tmi_figure *f, uint64_t seed, const tmi_watch *watch, tamis_error *err)
{
    uint32_t sizes[TABLE_RATES + 1] = {TMI_PAPER_SIZE};
    tmi_spending spent[(TABLE_RATES + 1) * MOST_EPS];
    tmi_squared_error found[(TABLE_RATES + 1) * MOST_EPS * TMI_STUDY_MECHANISMS];
    tmi_values v = {0};
    tamis_status status;
    TMI_TRY(tmi_paper_values(&v, s->population, seed, err));
    for (size_t r = 0; r < TABLE_RATES; r++) sizes[r + 1] = (uint32_t)lround(table_rates[r] * (TMI_PAPER_SIZE - 1)) + 1;
    for (size_t i = 0; i < (TABLE_RATES + 1) * s->count; i++)
        spent[i] = tmi_spending_amplified(s->eps[i % s->count], TMI_PAPER_DELTA, TMI_PAPER_SIZE, sizes[i / s->count]);
    const tmi_simulation simulation = {.population = &v,
                                       .statistic = TAMIS_STUDY_MEDIAN,
                                       .mechanisms = 1u << TMI_MECHANISM_SMOOTH_PAPER,
                                       .samples = sizes,
                                       .sample_count = TABLE_RATES + 1,
                                       .spendings = spent,
                                       .spending_count = s->count,
                                       .runs = f->runs,
                                       .seed = seed,
                                       .threads = f->threads,
                                       .watch = watch};
    TMI_TRY(tmi_simulate(found, &simulation, err));
    for (size_t e = 0; e < s->count; e++) {
        const double census = found[e * TMI_STUDY_MECHANISMS + TMI_MECHANISM_SMOOTH_PAPER].mse;
        double best = INFINITY, error = NAN;
        for (size_t r = 0; r < TABLE_RATES; r++) {
            const tmi_squared_error *w = &found[((r + 1) * s->count + e) * TMI_STUDY_MECHANISMS + TMI_MECHANISM_SMOOTH_PAPER];
            if (w->mse / census < best) best = w->mse / census, error = w->mse_error / census;
        }
        s->gains[e] += best + SURE * error < 1;
        s->least[e] = s->least[e] > 0 ? fmin(s->least[e], best) : best;
        if (best > s->most[e]) s->most[e] = best, s->error[e] = error;
    }

done:
    tmi_values_clear(&v);
    return status;
}

static const char *const table_columns[] = {"parameter",   "population",     "epsilon",      "gaining_populations",
                                            "populations", "mse_ratio_from", "mse_ratio_to", "monte_carlo_error",
                                            "found",       "paper"};
#define TABLE_NUMBERS 6

static void table_row(tmi_sheet *sheet, const char *parameter, const char *population, const double numbers[TABLE_NUMBERS],
                      const char *found, const char *paper)
{
    tmi_sheet_words(sheet, parameter);
    tmi_sheet_words(sheet, population);
    for (int i = 0; i < TABLE_NUMBERS; i++) tmi_sheet_number(sheet, numbers[i]);
    tmi_sheet_words(sheet, found);
    tmi_sheet_words(sheet, paper);
}

static void table_rows(tmi_sheet *sheet, const searched *s, const char *name, double paper_until)
{
    for (size_t e = 0; e < s->count; e++) {
        const double numbers[TABLE_NUMBERS] = {s->eps[e], s->gains[e], POPULATIONS, s->least[e], s->most[e], s->error[e]};
        table_row(sheet, "median", name, numbers,
                  s->gains[e] == POPULATIONS ? "gains"
                  : s->gains[e] == 0         ? "no gains"
                                             : "gains in most or some",
                  s->eps[e] <= paper_until ? "gains" : "no gains");
    }
}

static void table_text(tmi_text *text, const tmi_sheet *sheet, const char *remark)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT, TMI_LEFT};
    static const char *const heading[] = {"median of", "epsilon", "MSE ratio", "found", "paper"};
    tmi_text_table table;
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i + sheet->columns <= sheet->count; i += sheet->columns) {
        const tmi_sheet_cell *c = &sheet->cells[i];
        tmi_text cells[5];
        if (isnan(c[2].number)) continue;
        for (int k = 0; k < 5; k++) tmi_text_init(&cells[k]);
        tmi_text_put(&cells[0], c[1].text);
        tmi_text_format(&cells[1], "%g", c[2].number);
        tmi_text_format(&cells[2], "%.3g–%.3g", c[5].number, c[6].number);
        tmi_text_format(&cells[3], "gains in %g of %g", c[3].number, c[4].number);
        tmi_text_put(&cells[4], c[9].text);
        tmi_table_row_taken(&table, cells);
    }
    tmi_text_put(text, "Table 1 of the paper, found again\n\n");
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    tmi_text_wrap(text, "", "  ", remark);
    tmi_text_wrap(text, "", "  ", "Mean, Laplace noise: no gains, in the paper too; that r < 1 is a theorem (docs/papers.md).");
    tmi_text_wrap(
        text, "", "  ",
        "Any statistic, Laplace noise: no gains if the sampling variance reaches 2 D^2 (1/epsilon^2 - 1/epsilon_n^2), as in "
        "the paper.");
}

tamis_status tamis_study_table(tamis_study **study, const tamis_study_options *options, tamis_error *err)
{
    searched found[] = {{.population = TMI_PAPER_LOGNORMAL, .eps = {0.1, 0.3, 0.5, 1}, .count = 4},
                        {.population = TMI_PAPER_BIMODAL, .eps = {0.1, 0.5, 1, 3, 5}, .count = 5}};
    static const char *const names[] = {"Lognormal(5, 0.5)", "bimodal"};
    static const double until[] = {0.1, 3};
    const double none[TABLE_NUMBERS] = {NAN, NAN, NAN, NAN, NAN, NAN};
    tmi_figure f = {0};
    tamis_status status;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    TMI_TRY(begin(&f, options, TABLE_RUNS, err));
    tmi_sheet_init(&f.forms.sheet, table_columns, sizeof table_columns / sizeof *table_columns);
    table_row(&f.forms.sheet, "any", "any", none, "no gains if the sampling variance reaches 2 D^2 (1/eps^2 - 1/eps_n^2)",
              "the same");
    table_row(&f.forms.sheet, "mean", "any", none, "no gains: r < 1 is a theorem", "no gains");
    for (size_t k = 0; k < 2; k++) {
        for (uint64_t i = 0; i < POPULATIONS; i++) {
            const double at = (double)(k * POPULATIONS + i) / (2 * POPULATIONS);
            const tmi_watch part = tmi_watch_part(&f.watch, at, at + 1.0 / (2 * POPULATIONS));
            TMI_TRY(search_one(&found[k], &f, f.seed + i, &part, err));
        }
        table_rows(&f.forms.sheet, &found[k], names[k], until[k]);
    }
    f.remark =
        "MSE ratio: mean squared error of the noisy sample median over that of the census at the best of nine rates, smallest "
        "and "
        "largest of five populations; smooth sensitivity in the paper's calibration, delta = 1/(2N). A population gains if its "
        "ratio is below 1 by three Monte Carlo errors. The paper stops too early for the lognormal population: all gain at "
        "epsilon 0.3, and most at 0.5.";
    table_text(&f.forms.text, &f.forms.sheet, f.remark);
    write_json(&f.forms.json, &f, 0);
    status = tmi_study_make(study, &f.forms, err);

done:
    clear(&f);
    return status;
}
