/* Which mechanism, which setting, which rate? */
#include <math.h>
#include <stdio.h>
#include <tamis/experimental/smooth.h>

#include "base/decimal.h"
#include "base/hypotenuse.h"
#include "base/memory.h"
#include "base/table.h"
#include "num/number.h"
#include "study/question.h"
#include "study/report.h"

#define USUAL_RUNS 1000

static bool is_asked(const tmi_study_asked *a, tmi_study_mechanism w) { return a->mechanisms >> w & 1; }

/* ---- one size, every mechanism, every setting ---- */

enum { CENSUS, KNOWN, SECRET, SETTINGS };

static const char *const setting_names[SETTINGS] = {"census", "sample given frame", "secret sample"};

/* The Monte Carlo error of the root of a mean squared error. */
static double root_error(const tmi_squared_error *e) { return e->mse > 0 ? e->mse_error / (2 * sqrt(e->mse)) : e->mse_error; }

static double root_ratio(double mse, double other) { return other > 0 ? sqrt(mse / other) : NAN; }

static void put_error(tmi_text *text, const tmi_squared_error *e)
{
    tmi_text_about(text, sqrt(e->mse));
    if (e->mse_error > 2e-3 * e->mse) { /* less is not seen in three digits */
        tmi_text_put(text, "±");
        tmi_text_rounded(text, root_error(e), tmi_decimals_of(root_error(e)));
    }
}

/* The row with the smallest error in a setting; TMI_STUDY_MECHANISMS if there is none. */
static tmi_study_mechanism best_mechanism(const tmi_squared_error errors[SETTINGS][TMI_STUDY_MECHANISMS], int setting,
                                          double *mse)
{
    tmi_study_mechanism best = TMI_STUDY_MECHANISMS;
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
        if (!isnan(errors[setting][w].mse) && (best == TMI_STUDY_MECHANISMS || errors[setting][w].mse < *mse)) {
            best = w;
            *mse = errors[setting][w].mse;
        }
    return best;
}

/* "falls by 40 %", "rises to 3.2 times" */
static void put_change(tmi_text *text, double mse, double census)
{
    const double ratio = root_ratio(mse, census);
    if (ratio < 0.995) tmi_text_format(text, "falls by %.0f %%", 100 * (1 - ratio));
    else if (ratio < 1.005) tmi_text_put(text, "stays the same");
    else if (ratio < 2) tmi_text_format(text, "rises by %.0f %%", 100 * (ratio - 1));
    else {
        tmi_text_put(text, "rises to ");
        tmi_text_about(text, ratio);
        tmi_text_put(text, " times");
    }
}

/* Whether the paper's calibration of smooth sensitivity fails to keep its promise, as it does for large epsilon. */
static tamis_status check_published(bool *fails, const tmi_spending *spent, tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_smooth_choice choice;
    tamis_status status;
    TMI_TRY(tmi_number_double(&eps, spent->eps, err));
    TMI_TRY(tmi_number_double(&delta, spent->delta, err));
    status = tamis_smooth_published(&choice, eps, delta, err);
    *fails = *fails || status == TAMIS_UNABLE || choice.delta.upper > spent->delta;
    if (status == TAMIS_UNABLE) status = TAMIS_OK;

done:
    tmi_number_frees(&eps, &delta, NULL);
    return status;
}

static void gain_text(tmi_text *text, const tmi_study_asked *a, const tmi_squared_error errors[SETTINGS][TMI_STUDY_MECHANISMS],
                      uint32_t n, const tmi_spending *secret, bool fails)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    tmi_text line;
    tmi_text_table table;
    double best[SETTINGS] = {NAN, NAN, NAN};
    tmi_text_init(&line);
    tmi_text_put(&line, "Standard error (sampling and noise) of ");
    tmi_study_asked_words(&line, a);
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(&line, "Everybody is promised epsilon ");
    tmi_text_real(&line, a->eps);
    if (a->delta > 0) tmi_text_format(&line, ", delta %.3g", a->delta);
    tmi_text_put(&line, "; the sample has ");
    tmi_text_rounded(&line, n, 0);
    tmi_text_put(&line, " people and may spend epsilon ");
    tmi_text_about(&line, secret->eps);
    tmi_text_put(&line, " if it is secret.");
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, 4, align);
    tmi_table_row(&table, (const char *const[]){"", setting_names[0], setting_names[1], setting_names[2]});
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        tmi_text cells[4];
        if (!is_asked(a, w)) continue;
        for (int c = 0; c < 4; c++) tmi_text_init(&cells[c]);
        tmi_text_put(&cells[0], tmi_study_mechanism_name(w));
        for (int k = 0; k < SETTINGS; k++) put_error(&cells[k + 1], &errors[k][w]);
        tmi_table_row_taken(&table, cells);
    }
    tmi_text cells[4];
    for (int c = 0; c < 4; c++) tmi_text_init(&cells[c]);
    tmi_text_put(&cells[0], "sampling alone");
    for (int k = 0; k < SETTINGS; k++) {
        const tmi_study_mechanism w = best_mechanism(errors, k, &best[k]);
        tmi_text_about(&cells[k + 1], w < TMI_STUDY_MECHANISMS ? sqrt(errors[k][w].sampling) : NAN);
    }
    tmi_table_row_taken(&table, cells);
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    const bool simulated = a->levels.count > 0;
    if (simulated)
        tmi_text_wrap(
            text, "", "  ",
            "± is the Monte Carlo standard error; numbers without it follow from formulas, or it is below a thousandth.");
    if (!simulated)
        tmi_text_wrap(text, "", "  ",
                      "For a mean or a total with Laplace noise a sample never needs less noise than the census, whatever "
                      "epsilon is.");
    if (a->levels.count > 1)
        tmi_text_wrap(text, "", "  ", "Quantiles share epsilon; the error is the root of the mean of their squared errors.");
    if (a->levels.moved)
        tmi_text_wrap(text, "", "  ", "A row may move from one group to another, so that each is found with half of epsilon.");
    tmi_text_put(&line, "With the best mechanism of each column, the error of the secret sample ");
    put_change(&line, best[SECRET], best[CENSUS]);
    tmi_text_put(&line, " compared with the census.");
    tmi_text_wrap_taken(text, "", "  ", &line);
    if (fails)
        tmi_text_wrap(
            text, "", "  ",
            "The paper's calibration of smooth sensitivity does not keep its promise at this epsilon, or is not known to: its "
            "numbers are for comparison only.");
    if (a->values.outside > 0) {
        tmi_text_format(&line, "%.2g %% of the values lie outside the range and were clamped.", 100 * a->values.outside);
        tmi_text_wrap_taken(text, "", "  ", &line);
    }
}

/* A row of dots for each mechanism, the first at the top. */
static tamis_status gain_svg(char **svg, const tmi_study_asked *a, const tmi_squared_error errors[SETTINGS][TMI_STUDY_MECHANISMS],
                             tamis_error *err)
{
    double x[SETTINGS][TMI_STUDY_MECHANISMS], y[TMI_STUDY_MECHANISMS];
    const char *names[TMI_STUDY_MECHANISMS];
    tamis_plot_curve curves[SETTINGS];
    size_t count = 0, row = 0;
    char subtitle[160];
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) count += is_asked(a, w);
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        if (!is_asked(a, w)) continue;
        y[row] = (double)(count - row);
        names[count - 1 - row] = tmi_study_mechanism_name(w);
        for (int k = 0; k < SETTINGS; k++) x[k][row] = sqrt(errors[k][w].mse);
        row++;
    }
    for (int k = 0; k < SETTINGS; k++) curves[k] = (tamis_plot_curve){setting_names[k], x[k], y, count, false};
    tmi_study_asked_subtitle(subtitle, sizeof subtitle, a);
    const tamis_plot plot = {.title = "Is it worth sampling?",
                             .subtitle = subtitle,
                             .x = {.label = "standard error, sampling and noise", .log = true},
                             .y = {.names = names, .name_count = count},
                             .curves = curves,
                             .curve_count = SETTINGS,
                             .dots = (1u << SETTINGS) - 1};
    return tamis_plot_svg(svg, &plot, err);
}

static void gain_sheet(tmi_sheet *sheet, const tmi_study_asked *a, const tmi_squared_error errors[SETTINGS][TMI_STUDY_MECHANISMS],
                       const uint32_t *sizes, const tmi_spending *spent)
{
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
        for (int k = 0; is_asked(a, w) && k < SETTINGS; k++) {
            const tmi_squared_error *e = &errors[k][w];
            tmi_sheet_words(sheet, tmi_study_mechanism_key(w));
            tmi_sheet_words(sheet, setting_names[k]);
            tmi_sheet_number(sheet, sizes[k]);
            tmi_sheet_number(sheet, spent[k].eps);
            tmi_sheet_number(sheet, spent[k].delta);
            tmi_sheet_number(sheet, sqrt(e->mse));
            tmi_sheet_number(sheet, root_error(e));
            tmi_sheet_number(sheet, sqrt(e->sampling));
            tmi_sheet_number(sheet, root_ratio(e->mse, errors[CENSUS][w].mse));
        }
}

static const char *const gain_columns[] = {"mechanism",      "setting", "sample",         "epsilon_spent",  "delta_spent",
                                           "standard_error", "error",   "sampling_error", "ratio_to_census"};

tamis_status tamis_study_gain(tamis_study **study, const tamis_study_question *question, const tamis_study_options *options,
                              tamis_error *err)
{
    tmi_study_asked a = {0};
    tmi_study_forms forms;
    tmi_json_out out;
    tamis_status status;
    tmi_study_forms_init(&forms, gain_columns, sizeof gain_columns / sizeof *gain_columns);
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    TMI_TRY(tmi_study_asked_init(&a, question, options, USUAL_RUNS, err));
    const double f = a.question.rate ? tmi_number_nearest(a.question.rate) : 0.1;
    if (!(f > 0 && f <= 1)) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "rate: must be above 0 and at most 1"));
    const uint32_t N = a.values.count, n = (uint32_t)fmax(1, floor(f * N + 0.5));
    const tmi_spending own = {a.eps, a.delta}, secret = tmi_spending_amplified(a.eps, a.delta, N, n);
    tmi_squared_error found[2][2][TMI_STUDY_MECHANISMS], errors[SETTINGS][TMI_STUDY_MECHANISMS];
    TMI_TRY(tmi_study_asked_simulate(&found[0][0][0], &a, (const uint32_t[]){N, n}, 2,
                                     (const tmi_spending[]){own, own, own, secret}, 2, err));
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        errors[CENSUS][w] = found[0][0][w];
        errors[KNOWN][w] = found[1][0][w];
        errors[SECRET][w] = found[1][1][w];
    }
    bool fails = false;
    if (is_asked(&a, TMI_MECHANISM_SMOOTH_PAPER)) TMI_TRY(check_published(&fails, &own, err));
    if (is_asked(&a, TMI_MECHANISM_SMOOTH_PAPER) && secret.delta < 1) TMI_TRY(check_published(&fails, &secret, err));
    gain_text(&forms.text, &a, errors, n, &secret, fails);
    gain_sheet(&forms.sheet, &a, errors, (const uint32_t[]){N, n, n}, (const tmi_spending[]){own, own, secret});
    tmi_json_out_init(&out, &forms.json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_study_asked_json(&out, &a);
    tmi_json_add_boolean(&out, "smooth_paper_keeps_its_promise", !fails);
    tmi_sheet_json(&out, "results", &forms.sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(&forms.json, "\n");
    TMI_TRY(gain_svg(&forms.svg, &a, errors, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_study_forms_clear(&forms);
    tmi_study_asked_clear(&a);
    return status;
}

/* ---- all rates ---- */

#define RATES 22
static const double rates[RATES] = {0.01, 0.02, 0.03, 0.05, 0.075, 0.1,  0.15, 0.2, 0.25, 0.3,  0.35,
                                    0.4,  0.45, 0.5,  0.55, 0.6,   0.65, 0.7,  0.8, 0.9,  0.95, 1};
#define SURE 3 /* Monte Carlo standard errors by which a rate must beat the census; and it is the best of RATES */

typedef struct best {
    tmi_study_mechanism census_way, mechanism; /* the best of the census, of the rate */
    size_t rate;
    double census, mse; /* squared errors */
} best;

/* Mechanisms differ, and rates within one; a rate is taken only if it beats the best census by more than chance. */
static best find_best(const tmi_study_asked *a, const tmi_squared_error *errors, size_t count)
{
    best b = {.census_way = TMI_STUDY_MECHANISMS, .rate = count - 1};
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        const double mse = errors[(count - 1) * TMI_STUDY_MECHANISMS + w].mse;
        if (is_asked(a, w) && (b.census_way == TMI_STUDY_MECHANISMS || mse < b.census)) b.census_way = w, b.census = mse;
    }
    b.mechanism = b.census_way;
    b.mse = b.census;
    const tmi_squared_error *census = &errors[(count - 1) * TMI_STUDY_MECHANISMS + b.census_way];
    for (size_t r = 0; r + 1 < count; r++)
        for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
            const tmi_squared_error *e = &errors[r * TMI_STUDY_MECHANISMS + w];
            const double chance = SURE * tmi_hypotenuse(e->mse_error, census->mse_error);
            if (is_asked(a, w) && e->mse + chance < b.census && e->mse < b.mse) b.mechanism = w, b.rate = r, b.mse = e->mse;
        }
    return b;
}

static void put_advice(tmi_text *text, const tmi_study_asked *a, const best *b, const uint32_t *sizes, size_t count)
{
    if (b->rate + 1 == count) {
        tmi_text_format(text, "Take everybody: no sampling rate makes the error smaller (best mechanism: %s, standard error ",
                        tmi_study_mechanism_name(b->census_way));
        tmi_text_about(text, sqrt(b->census));
        tmi_text_put(text, ").");
        return;
    }
    tmi_text_format(text, "Sample %.3g %%: the error ", 100 * (double)sizes[b->rate] / a->size);
    put_change(text, b->mse, b->census);
    tmi_text_format(text, " compared with the census (%s, standard error ", tmi_study_mechanism_name(b->mechanism));
    tmi_text_about(text, sqrt(b->mse));
    tmi_text_put(text, "; census: ");
    if (b->mechanism != b->census_way) tmi_text_format(text, "%s, ", tmi_study_mechanism_name(b->census_way));
    tmi_text_about(text, sqrt(b->census));
    tmi_text_put(text, "). The sample must be secret.");
}

#define COLUMNS 6 /* mechanisms side by side: more do not fit a line */

/* A table of some of the mechanisms. */
static void rate_table(tmi_text *text, const tmi_study_asked *a, const tmi_squared_error *errors, const uint32_t *sizes,
                       size_t count, const tmi_study_mechanism *mechanisms, size_t way_count)
{
    tmi_align align[COLUMNS + 2];
    const char *heading[COLUMNS + 2] = {"rate", "sample"};
    tmi_text cells[COLUMNS + 2];
    tmi_text_table table;
    for (size_t c = 0; c < way_count + 2; c++) align[c] = TMI_RIGHT;
    for (size_t c = 0; c < way_count; c++) heading[c + 2] = tmi_study_mechanism_key(mechanisms[c]);
    tmi_table_init(&table, way_count + 2, align);
    tmi_table_row(&table, heading);
    for (size_t r = 0; r < count; r++) {
        for (size_t c = 0; c < way_count + 2; c++) tmi_text_init(&cells[c]);
        tmi_text_format(&cells[0], "%.3g %%", 100 * sizes[r] / a->size);
        tmi_text_rounded(&cells[1], sizes[r], 0);
        for (size_t c = 0; c < way_count; c++)
            tmi_text_about(&cells[c + 2], sqrt(errors[r * TMI_STUDY_MECHANISMS + mechanisms[c]].mse));
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
}

static void rate_text(tmi_text *text, const tmi_study_asked *a, const tmi_squared_error *errors, const uint32_t *sizes,
                      size_t count)
{
    tmi_text line;
    tmi_study_mechanism mechanisms[TMI_STUDY_MECHANISMS];
    size_t way_count = 0;
    const best b = find_best(a, errors, count);
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
        if (is_asked(a, w)) mechanisms[way_count++] = w;
    tmi_text_init(&line);
    put_advice(&line, a, &b, sizes, count);
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "\n");
    tmi_text_put(&line, "Standard error (sampling and noise) of ");
    tmi_study_asked_words(&line, a);
    tmi_text_put(&line, "; epsilon ");
    tmi_text_real(&line, a->eps);
    if (a->delta > 0) tmi_text_format(&line, ", delta %.3g", a->delta);
    tmi_text_put(&line, " for everybody in the population, secret sample");
    tmi_text_wrap_taken(text, "", "  ", &line);
    for (size_t first = 0; first < way_count; first += COLUMNS) {
        if (first > 0) tmi_text_put(text, "\n");
        rate_table(text, a, errors, sizes, count, mechanisms + first, way_count - first < COLUMNS ? way_count - first : COLUMNS);
    }
}

/* The curve of each mechanism, and the band of the one that is recommended. */
static tamis_status rate_svg(char **svg, const tmi_study_asked *a, const tmi_squared_error *errors, const uint32_t *sizes,
                             size_t count, tamis_error *err)
{
    double x[RATES], y[TMI_STUDY_MECHANISMS][RATES], band_x[2 * RATES + 1], band_y[2 * RATES + 1];
    tamis_plot_curve curves[TMI_STUDY_MECHANISMS + 1];
    bool drawn[TMI_STUDY_MECHANISMS] = {0};
    const best b = find_best(a, errors, count);
    size_t used = 1;
    double least = INFINITY, most = 0;
    char subtitle[160], title[120];
    for (size_t r = 0; r < count; r++) {
        const tmi_squared_error *e = &errors[r * TMI_STUDY_MECHANISMS + b.mechanism];
        x[r] = sizes[r] / a->size;
        band_x[r] = band_x[2 * count - 1 - r] = x[r];
        band_y[r] = sqrt(fmax(e->mse - 2 * e->mse_error, e->mse / 100));
        band_y[2 * count - 1 - r] = sqrt(e->mse + 2 * e->mse_error);
        for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
            y[w][r] = sqrt(errors[r * TMI_STUDY_MECHANISMS + w].mse);
            least = fmin(least, y[w][r]); /* a NaN is left out */
            most = fmax(most, y[w][r]);
        }
    }
    band_x[2 * count] = band_x[0], band_y[2 * count] = band_y[0];
    curves[0] = (tamis_plot_curve){NULL, band_x, band_y, 2 * count + 1, false};
    /* More curves than can be told apart: those with the smallest errors in the middle, and the best. */
    while (used < TAMIS_PLOT_CURVES) {
        tmi_study_mechanism next = TMI_STUDY_MECHANISMS;
        for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
            if (is_asked(a, w) && !drawn[w] && !isnan(y[w][count - 1]) &&
                (next == TMI_STUDY_MECHANISMS || w == b.mechanism ||
                 (next != b.mechanism && y[w][count / 2] < y[next][count / 2])))
                next = w;
        if (next == TMI_STUDY_MECHANISMS) break;
        drawn[next] = true;
        used++;
    }
    used = 1;
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
        if (drawn[w]) curves[used++] = (tamis_plot_curve){tmi_study_mechanism_name(w), x, y[w], count, false};
    if (b.rate + 1 == count) snprintf(title, sizeof title, "Take everybody: no rate makes the error smaller");
    else
        snprintf(title, sizeof title, "Sample %.3g %%: the error falls by %.0f %%", 100 * x[b.rate],
                 100 * (1 - root_ratio(b.mse, b.census)));
    tmi_study_asked_subtitle(subtitle, sizeof subtitle, a);
    const tamis_plot plot = {.title = title,
                             .subtitle = subtitle,
                             .x = {.label = "sampling rate", .from = 0, .to = 1},
                             .y = {.label = "standard error, sampling and noise; band: two Monte Carlo errors",
                                   .log = most > 30 * least},
                             .curves = curves,
                             .curve_count = used,
                             .areas = 1};
    return tamis_plot_svg(svg, &plot, err);
}

static const char *const rate_columns[] = {"mechanism",   "rate",           "sample", "epsilon_spent",
                                           "delta_spent", "standard_error", "error",  "sampling_error"};

static void rate_sheet(tmi_sheet *sheet, const tmi_study_asked *a, const tmi_squared_error *errors, const uint32_t *sizes,
                       const tmi_spending *spent, size_t count)
{
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
        for (size_t r = 0; is_asked(a, w) && r < count; r++) {
            const tmi_squared_error *e = &errors[r * TMI_STUDY_MECHANISMS + w];
            tmi_sheet_words(sheet, tmi_study_mechanism_key(w));
            const double numbers[] = {sizes[r] / a->size, sizes[r],      spent[r].eps,     spent[r].delta,
                                      sqrt(e->mse),       root_error(e), sqrt(e->sampling)};
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) tmi_sheet_number(sheet, numbers[i]);
        }
}

tamis_status tamis_study_best_rate(tamis_study **study, const tamis_study_question *question, const tamis_study_options *options,
                                   tamis_error *err)
{
    tmi_study_asked a = {0};
    tmi_study_forms forms;
    tmi_text line;
    tmi_json_out out;
    tmi_squared_error errors[RATES * TMI_STUDY_MECHANISMS];
    uint32_t sizes[RATES];
    tmi_spending spent[RATES];
    size_t count = 0;
    tamis_status status;
    tmi_study_forms_init(&forms, rate_columns, sizeof rate_columns / sizeof *rate_columns);
    tmi_text_init(&line);
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    TMI_TRY(tmi_study_asked_init(&a, question, options, USUAL_RUNS, err));
    for (size_t r = 0; r < RATES; r++) {
        const uint32_t n = (uint32_t)fmax(1, floor(rates[r] * a.size + 0.5));
        if (count > 0 && n <= sizes[count - 1]) continue;
        spent[count] = tmi_spending_amplified(a.eps, a.delta, a.size, n);
        sizes[count++] = n;
    }
    TMI_TRY(tmi_study_asked_simulate(errors, &a, sizes, count, spent, 1, err));
    const best b = find_best(&a, errors, count);
    rate_text(&forms.text, &a, errors, sizes, count);
    rate_sheet(&forms.sheet, &a, errors, sizes, spent, count);
    put_advice(&line, &a, &b, sizes, count);
    tmi_json_out_init(&out, &forms.json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_study_asked_json(&out, &a);
    tmi_json_add_taken(&out, "advice", &line);
    tmi_json_add_open(&out, "best", '{');
    tmi_json_add_real(&out, "rate", sizes[b.rate] / a.size);
    tmi_json_add_integer(&out, "sample", sizes[b.rate]);
    tmi_json_add_string(&out, "mechanism", tmi_study_mechanism_key(b.mechanism));
    tmi_json_add_real(&out, "standard_error", sqrt(b.mse));
    tmi_json_add_real(&out, "standard_error_of_census", sqrt(b.census));
    tmi_json_close(&out, '}');
    tmi_sheet_json(&out, "results", &forms.sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(&forms.json, "\n");
    TMI_TRY(rate_svg(&forms.svg, &a, errors, sizes, count, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_text_clear(&line);
    tmi_study_forms_clear(&forms);
    tmi_study_asked_clear(&a);
    return status;
}
