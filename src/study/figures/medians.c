/* Figures 6 to 8 and 10 to 13: medians of samples with noise for their smooth sensitivity, from the lognormal and from the
 * bimodal population. Each is drawn three times: as printed, with a declared range, and with our calibration. */
#include <math.h>
#include <stdio.h>

#include "study/errors_parts.h"
#include "study/figures/figure.h"

/* Nobody declares incomes to end where the population happens to end: the lognormal one is declared to be below a million. With
 * a range of 0 to 1000, which our calibration is drawn with, the curves are those that were printed. */
#define WIDE 1e6

static const char *variant_name(bool bimodal, tmi_variant v)
{
    return v == TMI_PRINTED ? "as printed" : v == TMI_OURS ? "ours" : bimodal ? "range 0 to 1" : "range 0 to 10^6";
}

static double declared_to(const tmi_values *v, bool bimodal) { return bimodal ? v->to : WIDE; }

static const double three_eps[] = {0.1, 0.5, 1};
#define THREE 3

static const uint32_t two_sizes[] = {1001, 101};
#define TWO 2

/* Samples of the three sizes: everybody (one run), 1001, 101. */
typedef struct three_sizes {
    double *medians[TWO], *scales[TWO], *sensitivity[TWO];
    double all_scales[THREE * TMI_VARIANTS], all_sensitivity[THREE * TMI_VARIANTS];
} three_sizes;

static tamis_status run_sizes(three_sizes *t, tmi_figure *f, const tmi_values *v, bool bimodal, tamis_error *err)
{
    const tmi_watch whole = f->watch;
    const size_t runs = (size_t)f->runs;
    tamis_status status = TAMIS_OK;
    const tmi_medians all = {.population = v,
                             .n = v->count,
                             .eps = three_eps,
                             .eps_count = THREE,
                             .declared_to = declared_to(v, bimodal),
                             .runs = 1,
                             .scales = t->all_scales,
                             .sensitivity = t->all_sensitivity};
    TMI_TRY(tmi_medians_run(&all, f, err));
    for (size_t s = 0; s < TWO; s++) {
        t->medians[s] = tmi_figure_room(f, runs);
        t->scales[s] = tmi_figure_room(f, runs * THREE * TMI_VARIANTS);
        t->sensitivity[s] = tmi_figure_room(f, runs * THREE * TMI_VARIANTS);
        if (f->failed) TMI_TRY(tmi_fail_memory(err));
        const tmi_medians some = {.population = v,
                                  .n = two_sizes[s],
                                  .eps = three_eps,
                                  .eps_count = THREE,
                                  .declared_to = declared_to(v, bimodal),
                                  .runs = f->runs,
                                  .medians = t->medians[s],
                                  .scales = t->scales[s],
                                  .sensitivity = t->sensitivity[s]};
        f->watch = tmi_watch_part(&whole, (double)s / TWO, (double)(s + 1) / TWO);
        TMI_TRY(tmi_medians_run(&some, f, err));
    }

done:
    f->watch = whole;
    return status;
}

static const char *law_words(bool bimodal) { return bimodal ? "10,001 values, bimodal" : "10,001 values of Lognormal(5, 0.5)"; }

/* ---- Figures 6 and 10: ratios of sensitivities ---- */

static tamis_status figure_of_ratios(tmi_figure *f, int number, const tmi_values *v, bool bimodal, tamis_error *err)
{
    static const char *const names[] = {"n = 1001", "n = 101"};
    three_sizes t = {0};
    tamis_status status = run_sizes(&t, f, v, bimodal, err);
    if (status != TAMIS_OK) return status;
    tmi_sheet_init(&f->forms.sheet, tmi_violin_columns, TMI_VIOLIN_COLUMNS);
    for (size_t e = 0; e < THREE; e++) {
        tamis_plot *p = tmi_figure_plot(
            f, tmi_figure_words(f, "Figure %d, epsilon %g: sensitivity of a sample over that of all", number, three_eps[e]),
            tmi_figure_words(f, "smooth sensitivity; %s; %lld samples", law_words(bimodal), (long long)f->runs));
        p->x = (tamis_plot_axis){.names = names, .name_count = TWO};
        p->y = (tamis_plot_axis){.label = "ratio"};
        for (tmi_variant k = 0; k <= TMI_DECLARED; k++) {
            double *lists[TWO];
            const size_t at = e * TMI_VARIANTS + k;
            for (size_t s = 0; s < TWO; s++) {
                lists[s] = t.sensitivity[s] + at * (size_t)f->runs;
                for (int64_t i = 0; i < f->runs; i++) lists[s][i] /= t.all_sensitivity[at];
            }
            tmi_figure_violins(f, &(tmi_violins){variant_name(bimodal, k), lists, TWO, (size_t)f->runs, k == 0 ? -0.2 : 0.2, 0.36,
                                                 false});
        }
    }
    f->remark =
        bimodal ? "As in the paper: most samples have a smaller sensitivity than the population."
                : "The paper's medians are 1.28 and 3.72 (epsilon 0.1), 4.24 and 23.30 (epsilon 1); they vary from population "
                  "to population. Formula (4) is not private as printed: order statistics beyond the data must be the "
                  "ends of a declared range. A range of 0 to 10^6 makes the noise of small samples much larger; with 0 to 1000 "
                  "the ratios are the printed ones.";
    return TAMIS_OK;
}

/* ---- Figures 7 and 12: noise ---- */

static tamis_status figure_of_noise(tmi_figure *f, int number, const tmi_values *v, bool bimodal, tamis_error *err)
{
    static const char *const names[] = {"everybody", "n = 1001", "n = 101"};
    three_sizes t = {0};
    tamis_status status = run_sizes(&t, f, v, bimodal, err);
    if (status != TAMIS_OK) return status;
    tmi_sheet_init(&f->forms.sheet, tmi_violin_columns, TMI_VIOLIN_COLUMNS);
    for (size_t e = 0; e < THREE; e++) {
        tamis_plot *p = tmi_figure_plot(f,
                                        tmi_figure_words(f, "Figure %d, epsilon %g: noise added to the median", number,
                                                         three_eps[e]),
                                        tmi_figure_words(f, "%s; %lld runs", law_words(bimodal), (long long)f->runs));
        p->x = (tamis_plot_axis){.names = names, .name_count = TWO + 1};
        p->y = (tamis_plot_axis){.label = "noise"};
        for (tmi_variant k = 0; k < TMI_VARIANTS; k++) {
            double *lists[TWO + 1];
            const size_t at = e * TMI_VARIANTS + k;
            for (size_t s = 0; s <= TWO; s++) {
                tmi_stream r = tmi_stream_of(f->seed, (uint64_t)number * 1000 + at, s);
                lists[s] = tmi_figure_room(f, (size_t)f->runs);
                if (f->failed) return tmi_fail_memory(err);
                for (int64_t i = 0; i < f->runs; i++) {
                    const double scale = s == 0 ? t.all_scales[at] : t.scales[s - 1][at * (size_t)f->runs + (size_t)i];
                    lists[s][i] = scale * tmi_stream_laplace(&r);
                }
            }
            const double shift = ((double)k - 1) * 0.28;
            tmi_figure_violins(f, &(tmi_violins){variant_name(bimodal, k), lists, TWO + 1, (size_t)f->runs, shift, 0.26, false});
        }
    }
    f->remark = "As in the paper. The third of each group has our calibration: the same promise with less noise.";
    return TAMIS_OK;
}

/* ---- Figure 11: medians of samples ---- */

static tamis_status figure_11(tmi_figure *f, const tmi_values *v, tamis_error *err)
{
    const bool bimodal = true;
    static const char *const names[] = {"n = 1001", "n = 101"};
    three_sizes t = {0};
    tamis_status status = run_sizes(&t, f, v, bimodal, err);
    if (status != TAMIS_OK) return status;
    tmi_sheet_init(&f->forms.sheet, tmi_violin_columns, TMI_VIOLIN_COLUMNS);
    tamis_plot *p = tmi_figure_plot(f, "Figure 11: medians of samples, without noise",
                                    tmi_figure_words(f, "%s; %lld samples", law_words(true), (long long)f->runs));
    p->x = (tamis_plot_axis){.names = names, .name_count = TWO};
    p->y = (tamis_plot_axis){.label = "sample median"};
    tmi_figure_violins(f, &(tmi_violins){NULL, t.medians, TWO, (size_t)f->runs, 0, 0.8, true});
    tmi_figure_level(f, "median of everybody", 0.5, 2.5, v->sorted[tmi_median_rank(v->count) - 1]);
    f->remark = "As in the paper: few samples have their median where the population has its own.";
    return TAMIS_OK;
}

/* ---- Figures 8 and 13: errors ---- */

#define RATES 11
#define EPS 6
static const double rates[RATES] = {0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
static const double six_eps[EPS] = {0.01, 0.1, 0.5, 1, 3, 5};

/* The paper's odd sizes: 101, 1001, 2001, ... */
static uint32_t size_at(double rate) { return rate < 1 ? (uint32_t)lround(rate * (TMI_PAPER_SIZE - 1)) + 1 : TMI_PAPER_SIZE; }

static void error_plot(tmi_figure *f, int number, const char *what, const char *subtitle,
                       const tmi_squared_error errors[RATES][EPS])
{
    tamis_plot *p = tmi_figure_plot(f, tmi_figure_words(f, "Figure %d, %s", number, what), subtitle);
    double *x = tmi_figure_room(f, RATES);
    p->x = (tamis_plot_axis){.label = "sampling rate n/N; 1 is everybody", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "log of the mean squared error"};
    for (size_t e = 0; e < EPS; e++) {
        double *y = tmi_figure_room(f, RATES);
        if (f->failed) return;
        for (size_t r = 0; r < RATES; r++) {
            const tmi_squared_error *w = &errors[r][e];
            x[r] = size_at(rates[r]) / (double)TMI_PAPER_SIZE;
            y[r] = log(w->mse);
            tmi_sheet_words(&f->forms.sheet, what);
            const double numbers[] = {six_eps[e], x[r],         size_at(rates[r]),
                                      w->mse,     w->mse_error, w->mse / errors[RATES - 1][e].mse};
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) tmi_sheet_number(&f->forms.sheet, numbers[i]);
        }
        tmi_figure_curve(f, e == 0 ? tmi_figure_words(f, "epsilon %g", six_eps[e]) : tmi_figure_words(f, "%g", six_eps[e]), x, y,
                         RATES, false);
    }
}

static tamis_status run_rates(tmi_squared_error errors[TMI_VARIANTS][RATES][EPS], tmi_figure *f, const tmi_values *v,
                              bool bimodal, tamis_error *err)
{
    const tmi_watch whole = f->watch;
    double *scales = tmi_figure_room(f, (size_t)f->runs * EPS * TMI_VARIANTS);
    tamis_status status = TAMIS_OK;
    if (!scales) return tmi_fail_memory(err);
    for (size_t r = 0; r < RATES; r++) {
        const uint32_t n = size_at(rates[r]);
        const int64_t runs = n < v->count ? f->runs : 1;
        const double sampling = tmi_median_error(v, n);
        f->watch = tmi_watch_part(&whole, 0.9 * (double)r / RATES, 0.9 * (double)(r + 1) / RATES);
        const tmi_medians some = {.population = v,
                                  .n = n,
                                  .eps = six_eps,
                                  .eps_count = EPS,
                                  .declared_to = declared_to(v, bimodal),
                                  .runs = runs,
                                  .scales = scales};
        TMI_TRY(tmi_medians_run(&some, f, err));
        for (size_t e = 0; e < EPS; e++)
            for (size_t k = 0; k < TMI_VARIANTS; k++) {
                double sum = 0, squares = 0;
                for (int64_t i = 0; i < runs; i++) {
                    const double scale = scales[(e * TMI_VARIANTS + k) * (size_t)runs + (size_t)i], noise = 2 * scale * scale;
                    sum += noise;
                    squares += noise * noise;
                }
                const double mean = sum / (double)runs, spread = fmax(squares / (double)runs - mean * mean, 0);
                errors[k][r][e] = (tmi_squared_error){mean + sampling, runs > 1 ? sqrt(spread / (double)(runs - 1)) : 0,
                                                      sampling};
            }
    }

done:
    f->watch = whole;
    return status;
}

/* The same with the inverse sensitivity mechanism, for comparison. */
static tamis_status run_inverse(tmi_squared_error errors[RATES][EPS], tmi_figure *f, const tmi_values *v, tamis_error *err)
{
    tmi_spending spent[RATES * EPS];
    uint32_t sizes[RATES];
    tmi_squared_error found[RATES * EPS * TMI_STUDY_MECHANISMS];
    for (size_t r = 0; r < RATES; r++) {
        sizes[r] = size_at(rates[r]);
        for (size_t e = 0; e < EPS; e++)
            spent[r * EPS + e] = tmi_spending_amplified(six_eps[e], TMI_PAPER_DELTA, v->count, sizes[r]);
    }
    const tmi_watch rest = tmi_watch_part(&f->watch, 0.9, 1);
    const tmi_simulation s = {.population = v,
                              .statistic = TAMIS_STUDY_MEDIAN,
                              .mechanisms = 1u << TMI_MECHANISM_INVERSE,
                              .samples = sizes,
                              .sample_count = RATES,
                              .spendings = spent,
                              .spending_count = EPS,
                              .runs = f->runs,
                              .seed = f->seed,
                              .threads = f->threads,
                              .watch = &rest};
    tamis_status status = tmi_simulate(found, &s, err);
    for (size_t i = 0; i < RATES * EPS; i++) errors[i / EPS][i % EPS] = found[i * TMI_STUDY_MECHANISMS + TMI_MECHANISM_INVERSE];
    return status;
}

static tamis_status figure_of_errors(tmi_figure *f, int number, const tmi_values *v, bool bimodal, tamis_error *err)
{
    static const char *const columns[] = {"variant", "epsilon", "rate", "sample", "mse", "mse_error", "ratio_to_census"};
    tmi_squared_error errors[TMI_VARIANTS][RATES][EPS], inverse[RATES][EPS];
    tamis_status status;
    TMI_TRY(run_rates(errors, f, v, bimodal, err));
    TMI_TRY(run_inverse(inverse, f, v, err));
    tmi_sheet_init(&f->forms.sheet, columns, sizeof columns / sizeof *columns);
    error_plot(f, number, variant_name(bimodal, TMI_PRINTED),
               tmi_figure_words(f, "%s; order statistics beyond the data left out", law_words(bimodal)), errors[TMI_PRINTED]);
    error_plot(f, number, variant_name(bimodal, TMI_DECLARED),
               tmi_figure_words(f, "the same noise, values declared to be between %g and %g", v->from, declared_to(v, bimodal)),
               errors[TMI_DECLARED]);
    error_plot(f, number, variant_name(bimodal, TMI_OURS),
               tmi_figure_words(f, "range %g to %g, the best calibration for the same epsilon and delta", v->from, v->to),
               errors[TMI_OURS]);
    error_plot(f, number, "inverse sensitivity", "another mechanism under the same promise", inverse);
    f->remark =
        bimodal
            ? "As in the paper: gains up to epsilon 3, none at 5. With our calibration the census is better at epsilon 3 already."
            : "The paper sees gains up to epsilon 0.1 and none from 0.5 on. At epsilon 0.3 every population gains, and at 0.5 "
              "most do, at rates of about a half (try another --seed; tamis study table counts them). With our "
              "calibration the census catches up. The inverse sensitivity mechanism has smaller errors, and gains "
              "nothing from sampling.";

done:
    return status;
}

tamis_status tmi_figure_medians(tmi_figure *f, int number, tamis_error *err)
{
    const bool bimodal = number > 9;
    tmi_values v = {0};
    tamis_status status;
    TMI_TRY(tmi_paper_values(&v, bimodal ? TMI_PAPER_BIMODAL : TMI_PAPER_LOGNORMAL, f->seed, err));
    switch (number) {
    case 6:
    case 10: TMI_TRY(figure_of_ratios(f, number, &v, bimodal, err)); break;
    case 7:
    case 12: TMI_TRY(figure_of_noise(f, number, &v, bimodal, err)); break;
    case 11: TMI_TRY(figure_11(f, &v, err)); break;
    default: TMI_TRY(figure_of_errors(f, number, &v, bimodal, err));
    }

done:
    tmi_values_clear(&v);
    return status;
}
