/* Figures 1 to 5 and 9: populations, noisy means and medians, amplification, and the rounding behind Figure 5. */
#include <math.h>
#include <stdio.h>
#include <tamis/experimental/smooth.h>

#include "num/number.h"
#include "study/errors_parts.h"
#include "study/figures/figure.h"

static const double three_eps[] = {0.1, 0.5, 1};
static const char *const three_names[] = {"epsilon 0.1", "epsilon 0.5", "epsilon 1"};
#define THREE 3

static const char *const density_columns[TMI_DENSITY_COLUMNS] = {"series", "value", "density"};
static const char *const curve_columns[] = {"epsilon", "rate", "value"};

/* ---- noisy answers as violins ---- */

/* `scale` by eps. */
static void noisy_violins(tmi_figure *f, const char *series, double answer, const double *scale, uint64_t task, double shift,
                          double width)
{
    double *lists[THREE];
    for (size_t e = 0; e < THREE; e++) {
        tmi_stream r = tmi_stream_of(f->seed, task, e);
        lists[e] = tmi_figure_room(f, (size_t)f->runs);
        for (int64_t i = 0; lists[e] && i < f->runs; i++) lists[e][i] = answer + scale[e] * tmi_stream_laplace(&r);
    }
    if (!f->failed) tmi_figure_violins(f, &(tmi_violins){series, lists, THREE, (size_t)f->runs, shift, width, false});
}

static tamis_plot *violin_plot(tmi_figure *f, const char *title, const char *subtitle, const char *label)
{
    tamis_plot *p = tmi_figure_plot(f, title, subtitle);
    p->x = (tamis_plot_axis){.names = three_names, .name_count = THREE};
    p->y = (tamis_plot_axis){.label = label};
    return p;
}

static tamis_status figure_1(tmi_figure *f, const tmi_values *v)
{
    double scale[THREE];
    tmi_sheet_init(&f->forms.sheet, tmi_violin_columns, TMI_VIOLIN_COLUMNS);
    tamis_plot *p = tmi_figure_plot(f, "Figure 1, left: the population", "10,001 values of Beta(2, 10)");
    p->x = (tamis_plot_axis){.label = "value"};
    p->y = (tamis_plot_axis){.label = "density"};
    tmi_figure_density(f, NULL, v->sorted, v->count, 0, 0.7, false);
    for (size_t e = 0; e < THREE; e++) scale[e] = 1 / (TMI_PAPER_SIZE * three_eps[e]);
    violin_plot(f, "Figure 1, right: noisy means of everybody", "Laplace noise of scale 1/(N epsilon)", "noisy mean");
    noisy_violins(f, NULL, v->mean, scale, 101, 0, 0.8);
    tmi_figure_level(f, "true mean", 0.5, 3.5, v->mean);
    f->remark = "As in the paper.";
    return TAMIS_OK;
}

static tamis_status figure_2(tmi_figure *f, const tmi_values *v, tamis_error *err)
{
    const double truth = v->sorted[tmi_median_rank(v->count) - 1];
    double global[THREE], usual[THREE], ours[THREE];
    tamis_status status = TAMIS_OK;
    tmi_sheet_init(&f->forms.sheet, tmi_violin_columns, TMI_VIOLIN_COLUMNS);
    for (size_t e = 0; e < THREE; e++) {
        const tmi_spending spent = {three_eps[e], TMI_PAPER_DELTA};
        const tmi_smooth_calibration paper = {spent.eps / 2, spent.eps / (2 * log(2 / spent.delta))};
        tmi_smooth_calibration best;
        double S;
        global[e] = 1 / spent.eps;
        TMI_TRY(tamis_smooth_sensitivity_up(&S, v->sorted, v->count, tmi_median_rank(v->count), 0, 1, paper.beta, err));
        usual[e] = S / paper.alpha;
        TMI_TRY(tmi_calibrate(&best, v, v->count, tmi_median_rank(v->count), &spent, err));
        TMI_TRY(tamis_smooth_sensitivity_up(&S, v->sorted, v->count, tmi_median_rank(v->count), 0, 1, best.beta, err));
        ours[e] = S / best.alpha;
    }
    violin_plot(f, "Figure 2, left: noisy medians, global sensitivity",
                "10,001 values of Beta(2, 10); Laplace noise of scale 1/epsilon", "noisy median");
    noisy_violins(f, NULL, truth, global, 201, 0, 0.8);
    tmi_figure_level(f, "true median", 0.5, 3.5, truth);
    violin_plot(f, "Figure 2, right: noisy medians, smooth sensitivity", "delta = 1/(2N) = 4.9995e-5 (the caption has 10^5)",
                "noisy median");
    noisy_violins(f, "paper's calibration", truth, usual, 202, -0.2, 0.36);
    noisy_violins(f, "ours, same promise", truth, ours, 203, 0.2, 0.36);
    tmi_figure_level(f, "true median", 0.5, 3.5, truth);
    f->remark =
        "As in the paper, whose caption has delta = 4.9995 x 10^5 for 10^-5. Beside it the noise that the exact privacy of "
        "smooth sensitivity allows for the same epsilon and delta.";

done:
    return status;
}

/* ---- amplification ---- */

#define CURVE 400

static double amplified(double eps, double f) { return log1p(expm1(eps) / f); }

static void put_value(tmi_figure *f, double eps, double rate, double value)
{
    tmi_sheet_numbers(&f->forms.sheet, (const double[]){eps, rate, value});
}

static void rate_curve(tmi_figure *f, bool first, double eps, double (*value)(double eps, double f))
{
    double *x = tmi_figure_room(f, CURVE), *y = tmi_figure_room(f, CURVE);
    if (!x || !y) return;
    for (size_t i = 0; i < CURVE; i++) {
        x[i] = (double)(i + 1) / CURVE;
        y[i] = value(eps, x[i]);
        put_value(f, eps, x[i], y[i]);
    }
    tmi_figure_curve(f, first ? tmi_figure_words(f, "epsilon %g", eps) : tmi_figure_words(f, "%g", eps), x, y, CURVE, false);
}

static tamis_status figure_3(tmi_figure *f)
{
    tmi_sheet_init(&f->forms.sheet, curve_columns, 3);
    tamis_plot *p = tmi_figure_plot(f, "Figure 3: what a secret sample may spend", "epsilon_n = log(1 + (N/n)(e^epsilon - 1))");
    p->x = (tamis_plot_axis){.label = "sampling rate n/N", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "epsilon_n on the sample"};
    for (size_t e = 0; e < THREE; e++) rate_curve(f, e == 0, three_eps[e], amplified);
    f->remark = "As in the paper: epsilon 1 and a rate of 1 % allow 5.1523.";
    return TAMIS_OK;
}

static double saved(double eps, double f)
{
    const double more = amplified(eps, f);
    return 1 - eps / more * (eps / more);
}

static tamis_status figure_4(tmi_figure *f)
{
    static const double eps[] = {0.01, 0.1, 1, 2, 3, 5};
    tmi_sheet_init(&f->forms.sheet, curve_columns, 3);
    tamis_plot *p = tmi_figure_plot(f, "Figure 4: sampling variance that still gains, as a share of V_N",
                                    "q = 1 - (epsilon/epsilon_n)^2, for a sensitivity that does not depend on the sample");
    p->x = (tamis_plot_axis){.label = "sampling rate n/N", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "q", .from = 0, .to = 1};
    for (size_t e = 0; e < sizeof eps / sizeof *eps; e++) rate_curve(f, e == 0, eps[e], saved);
    f->remark =
        "The curves are the paper's; 60 % is reached at 16.77 % (epsilon 3) and 61.4 % (epsilon 0.1). What it says about their "
        "shape holds from about epsilon 3 on: at epsilon 1 the curve is convex on 13 % of the range only.";
    return TAMIS_OK;
}

/* ---- the rounding behind Figure 5 ---- */

/* As the paper's programs must have computed it. */
static double ratio_in_doubles(double eps, double f)
{
    volatile double grown = exp(eps) - 1;
    const double ratio = f * log(1 + grown / f) / eps;
    return ratio * ratio;
}

/* The largest eps, on a fine grid, at which doubles give r >= 1. */
static double apparent_eps(double f)
{
    for (double e = -2; e > -12; e -= 0.0005)
        if (ratio_in_doubles(pow(10, e), f) >= 1) return pow(10, e);
    return NAN;
}

/* 1 - r, certified. */
static tamis_status true_gap(double *gap, double eps, int64_t per_10000, tamis_error *err)
{
    tamis_number *e = NULL, *one = NULL;
    tamis_mean_gain g;
    tamis_status status;
    TMI_TRY(tmi_number_double(&e, eps, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tamis_study_mean(&g, 10000, per_10000, e, one, one, err));
    *gap = g.one_minus_r.lower;

done:
    tmi_number_frees(&e, &one, NULL);
    return status;
}

#define RATES 28
#define MANY 300

static tamis_status figure_5(tmi_figure *f, tamis_error *err)
{
    static const int64_t per_10000[RATES] = {1,    5,    10,   50,   100,  200,  300,  400,  500,  600,  700,  800,  900,  1000,
                                             1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000, 5500, 6000, 7000, 8000, 9000, 9900};
    static const char *const columns[] = {"rate", "epsilon_where_doubles_give_r_1", "epsilon_n_there", "true_1_minus_r_there"};
    static const struct {
        int64_t per_10000;
        const char *name;
    } shown[] = {{1, "rate 0.0001"}, {1000, "rate 0.1"}, {9000, "rate 0.9"}};
    double *x = tmi_figure_room(f, RATES), *eps = tmi_figure_room(f, RATES), *spent = tmi_figure_room(f, RATES);
    double *gap = tmi_figure_room(f, RATES), *theory = tmi_figure_room(f, RATES), *theory_n = tmi_figure_room(f, RATES);
    tamis_status status = TAMIS_OK;
    tmi_sheet_init(&f->forms.sheet, columns, 4);
    if (f->failed) return tmi_fail_memory(err);
    for (size_t i = 0; i < RATES; i++) {
        x[i] = (double)per_10000[i] / 10000;
        const double e = apparent_eps(x[i]), limit = sqrt(0x1p-52 / (1 / x[i] - 1));
        TMI_TRY(true_gap(&gap[i], e, per_10000[i], err));
        tmi_sheet_numbers(&f->forms.sheet, (const double[]){x[i], e, amplified(e, x[i]), gap[i]});
        eps[i] = log(e);
        spent[i] = log(amplified(e, x[i]));
        theory[i] = log(limit);
        theory_n[i] = log(amplified(limit, x[i]));
    }
    tamis_plot *p = tmi_figure_plot(f, "Figure 5, left, as printed: where r = 1 seems to be",
                                    "r in doubles, with exp(epsilon) - 1; dashed: where that loses its digits");
    p->x = (tamis_plot_axis){.label = "sampling rate n/N", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "log(epsilon)"};
    p->dots = 1;
    tmi_figure_curve(f, "r = 1 in doubles", x, eps, RATES, false);
    tmi_figure_curve(f, "sqrt(2^-52/(N/n - 1))", x, theory, RATES, true);
    p = tmi_figure_plot(f, "Figure 5, right, as printed: the same for epsilon_n", NULL);
    p->x = (tamis_plot_axis){.label = "sampling rate n/N", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "log(epsilon_n)"};
    p->dots = 1;
    tmi_figure_curve(f, "r = 1 in doubles", x, spent, RATES, false);
    tmi_figure_curve(f, "rounding", x, theory_n, RATES, true);
    p = tmi_figure_plot(
        f, "Corrected: r < 1 everywhere, so the mean never gains",
        "1 - r for epsilon from 1e-12 to 50, certified (lines) and in doubles (dots, where they miss the line and are positive)");
    p->x = (tamis_plot_axis){.label = "epsilon", .log = true, .from = 1e-12, .to = 50};
    p->y = (tamis_plot_axis){.label = "1 - r", .log = true, .from = 1e-14, .to = 1};
    double *ex = tmi_figure_room(f, 3 * MANY), *rounded = tmi_figure_room(f, 3 * MANY), *ey = tmi_figure_room(f, 3 * MANY);
    if (f->failed) return tmi_fail_memory(err);
    for (size_t i = 0; i < 3 * MANY; i++) {
        const int64_t rate = shown[i / MANY].per_10000;
        ex[i] = fmin(pow(10, -12 + (double)(i % MANY) / (MANY - 1) * (12 + log10(50))), 50);
        TMI_TRY(true_gap(&ey[i], ex[i], rate, err));
        rounded[i] = 1 - ratio_in_doubles(ex[i], (double)rate / 10000);
        if (!(rounded[i] > 0) || fabs(rounded[i] / ey[i] - 1) < 0.03) rounded[i] = NAN; /* on the line: not drawn */
    }
    p->dots = 1;
    tmi_figure_curve(f, "in doubles", ex, rounded, 3 * MANY, false);
    for (size_t k = 0; k < 3; k++) tmi_figure_curve(f, shown[k].name, ex + k * MANY, ey + k * MANY, MANY, false);
    f->remark =
        "There is no such curve: r < 1 for every epsilon and every rate below 1 (Bernoulli's inequality). The printed dots are "
        "where exp(epsilon) - 1 has lost its digits. The third plot has the true distance from 1.";

done:
    return status;
}

static tamis_status figure_9(tmi_figure *f, const tmi_values *v)
{
    const double median = v->sorted[tmi_median_rank(v->count) - 1];
    double *dot = tmi_figure_room(f, 2);
    tmi_sheet_init(&f->forms.sheet, density_columns, TMI_DENSITY_COLUMNS);
    tamis_plot *p = tmi_figure_plot(f, "Figure 9: a population with its median between two modes",
                                    "10,001 values of the mixture of Appendix B");
    p->x = (tamis_plot_axis){.label = "value", .from = 0, .to = 1};
    p->y = (tamis_plot_axis){.label = "density"};
    tmi_figure_density(f, "population", v->sorted, v->count, 0, 1, true);
    if (!dot) return TAMIS_OK;
    dot[0] = median;
    tmi_figure_curve(f, tmi_figure_words(f, "median %.3f", median), dot, dot + 1, 1, false);
    f->remark =
        "As in the paper, whose population has its median at 0.21. The density is 0 there, and the median is the largest value "
        "of the first part.";
    return TAMIS_OK;
}

tamis_status tmi_figure_means(tmi_figure *f, int number, tamis_error *err)
{
    tmi_values v = {0};
    tamis_status status = TAMIS_OK;
    if (number == 1 || number == 2) TMI_TRY(tmi_paper_values(&v, TMI_PAPER_BETA, f->seed, err));
    if (number == 9) TMI_TRY(tmi_paper_values(&v, TMI_PAPER_BIMODAL, f->seed, err));
    switch (number) {
    case 1: TMI_TRY(figure_1(f, &v)); break;
    case 2: TMI_TRY(figure_2(f, &v, err)); break;
    case 3: TMI_TRY(figure_3(f)); break;
    case 4: TMI_TRY(figure_4(f)); break;
    case 5: TMI_TRY(figure_5(f, err)); break;
    default: TMI_TRY(figure_9(f, &v));
    }

done:
    tmi_values_clear(&v);
    return status;
}
