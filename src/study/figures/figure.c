#include "study/figures/figure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "study/crowd.h"
#include "study/errors_parts.h"

/* ---- what plots point to ---- */

static void *keep(tmi_figure *f, void *block)
{
    if (!block || f->failed || !tmi_grow(&f->kept, &f->kept_room, f->kept_count, sizeof *f->kept)) {
        f->failed = true;
        tmi_free(block);
        return NULL;
    }
    return f->kept[f->kept_count++] = block;
}

double *tmi_figure_room(tmi_figure *f, size_t n) { return keep(f, tmi_alloc(n, sizeof(double))); }

const char *tmi_figure_words(tmi_figure *f, const char *format, ...)
{
    char words[240];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return keep(f, tmi_copy_text(words, length < (int)sizeof words ? (size_t)length : sizeof words - 1));
}

tamis_plot *tmi_figure_plot(tmi_figure *f, const char *title, const char *subtitle)
{
    tamis_plot *p = &f->plots[f->plot_count];
    *p = (tamis_plot){.title = title, .subtitle = subtitle, .curves = f->curves[f->plot_count]};
    f->plot_count++;
    return p;
}

void tmi_figure_curve(tmi_figure *f, const char *name, const double *x, const double *y, size_t n, bool reference)
{
    tamis_plot *p = &f->plots[f->plot_count - 1];
    f->curves[f->plot_count - 1][p->curve_count++] = (tamis_plot_curve){name, x, y, n, reference};
}

void tmi_figure_level(tmi_figure *f, const char *name, double from, double to, double y)
{
    double *x = tmi_figure_room(f, 4);
    if (!x) return;
    x[0] = from, x[1] = to, x[2] = x[3] = y;
    tmi_figure_curve(f, name, x, x + 2, 2, true);
}

/* ---- densities ---- */

#define POINTS 72               /* of a density */
#define TRIMMED 0.005           /* of the values on each side are not drawn: a Laplace law has long tails */
#define CLOSED (2 * POINTS + 2) /* both sides, back to the first point, a gap */

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double quantile(const double *sorted, size_t n, double share)
{
    const double at = share * (double)(n - 1), part = at - floor(at);
    const size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + part * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

/* A normal kernel by Silverman's rule, to which two modes are one: then a fifth of it. */
static double bandwidth(const double *sorted, size_t n, bool modes)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) sum += sorted[i];
    for (size_t i = 0; i < n; i++) squares += pow(sorted[i] - sum / (double)n, 2);
    const double sd = sqrt(squares / (double)n), middle = (quantile(sorted, n, 0.75) - quantile(sorted, n, 0.25)) / 1.34;
    const double spread = middle > 0 && middle < sd ? middle : sd;
    return (modes ? 0.18 : 0.9) * (spread > 0 ? spread : 1e-12) * pow((double)n, -0.2);
}

static double density(const double *sorted, size_t n, double at, double width)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double z = (sorted[i] - at) / width;
        if (z > 6) break;
        if (z > -6) sum += exp(-0.5 * z * z);
    }
    return sum / ((double)n * width * 2.5066282746310002);
}

const char *const tmi_violin_columns[TMI_VIOLIN_COLUMNS] = {"plot", "series", "place", "mean", "min", "p01",
                                                            "p05",  "p25",    "p50",   "p75",  "p95", "p99"};

static void violin_row(tmi_figure *f, const char *series, size_t place, const double *sorted, size_t n)
{
    static const double shares[] = {0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99};
    const tamis_plot *p = &f->plots[f->plot_count - 1];
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += sorted[i];
    tmi_sheet_words(&f->forms.sheet, p->title);
    tmi_sheet_words(&f->forms.sheet, series ? series : "");
    tmi_sheet_words(&f->forms.sheet, p->x.names ? p->x.names[place] : "");
    tmi_sheet_number(&f->forms.sheet, sum / (double)n);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) tmi_sheet_number(&f->forms.sheet, quantile(sorted, n, shares[i]));
}

void tmi_figure_violins(tmi_figure *f, const tmi_violins *v)
{
    double *x = tmi_figure_room(f, v->count * CLOSED), *y = tmi_figure_room(f, v->count * CLOSED);
    if (!x || !y) return;
    for (size_t k = 0; k < v->count; k++) {
        double *list = v->lists[k], d[POINTS], most = 0;
        qsort(list, v->n, sizeof *list, by_size);
        const double low = quantile(list, v->n, TRIMMED), high = quantile(list, v->n, 1 - TRIMMED),
                     width = bandwidth(list, v->n, v->modes);
        for (size_t i = 0; i < POINTS; i++) {
            d[i] = density(list, v->n, low + (high - low) * (double)i / (POINTS - 1), width);
            most = fmax(most, d[i]);
        }
        for (size_t i = 0; i < POINTS; i++) {
            const size_t left = k * CLOSED + i, right = k * CLOSED + 2 * POINTS - 1 - i;
            const double half = most > 0 ? v->width / 2 * d[i] / most : 0, place = (double)k + 1 + v->shift;
            y[left] = y[right] = low + (high - low) * (double)i / (POINTS - 1);
            x[left] = place - half;
            x[right] = place + half;
        }
        x[k * CLOSED + 2 * POINTS] = x[k * CLOSED];
        y[k * CLOSED + 2 * POINTS] = y[k * CLOSED];
        x[k * CLOSED + 2 * POINTS + 1] = y[k * CLOSED + 2 * POINTS + 1] = NAN;
        violin_row(f, v->series, k, list, v->n);
    }
    f->plots[f->plot_count - 1].areas |= 1u << f->plots[f->plot_count - 1].curve_count;
    tmi_figure_curve(f, v->series, x, y, v->count * CLOSED, false);
}

void tmi_figure_density(tmi_figure *f, const char *name, const double *sorted, size_t n, double from, double to, bool modes)
{
    enum { MANY = 200 };
    double *x = tmi_figure_room(f, MANY), *y = tmi_figure_room(f, MANY);
    if (!x || !y) return;
    const double width = bandwidth(sorted, n, modes);
    for (size_t i = 0; i < MANY; i++) {
        x[i] = from + (to - from) * (double)i / (MANY - 1);
        y[i] = density(sorted, n, x[i], width);
        if (f->forms.sheet.columns != TMI_DENSITY_COLUMNS) continue;
        tmi_sheet_words(&f->forms.sheet, name);
        tmi_sheet_number(&f->forms.sheet, x[i]);
        tmi_sheet_number(&f->forms.sheet, y[i]);
    }
    tmi_figure_curve(f, name, x, y, MANY, false);
}

/* ---- populations ---- */

tamis_status tmi_paper_values(tmi_values *v, tmi_paper_population which, uint64_t seed, tamis_error *err)
{
    static const struct {
        const char *law;
        double to; /* from 0; the lognormal's is ours: the paper declares none, and without one nothing is private */
    } populations[] = {{"beta:2,10", 1}, {"lognormal:5,0.5", 1000}, {"bimodal", 1}};
    double *list = tmi_alloc(TMI_PAPER_SIZE, sizeof *list);
    if (!list) return tmi_fail_memory(err);
    tamis_status status = tmi_values_draw(list, TMI_PAPER_SIZE, populations[which].law, 0, populations[which].to, seed, err);
    if (status == TAMIS_OK) return tmi_values_take(v, list, TMI_PAPER_SIZE, 0, populations[which].to, err);
    tmi_free(list);
    return status;
}

/* ---- simulated medians ---- */

#define RUNS_AT_ONCE 20

typedef struct job {
    const tmi_medians *m;
    uint64_t seed;
    tmi_smooth_calibration *paper, *ours; /* by eps */
} job;

static tamis_status open_room(void **room, const void *work, tamis_error *err)
{
    return tmi_samples_open(room, ((const job *)work)->m->population->count, err);
}

static tamis_status one_sample(const job *j, const double *x, int64_t run, tamis_error *err)
{
    const tmi_medians *m = j->m;
    const uint32_t rank = tmi_median_rank(m->n);
    tamis_status status = TAMIS_OK;
    if (m->medians) m->medians[run] = x[rank - 1];
    for (size_t e = 0; e < m->eps_count; e++)
        for (tmi_variant v = 0; v < TMI_VARIANTS; v++) {
            const bool printed = v == TMI_PRINTED;
            const tmi_smooth_calibration *c = v == TMI_OURS ? &j->ours[e] : &j->paper[e];
            const double from = printed ? x[0] : m->population->from;
            const double to = printed ? x[m->n - 1] : v == TMI_DECLARED ? m->declared_to : m->population->to;
            const size_t at = (e * TMI_VARIANTS + v) * (size_t)m->runs + (size_t)run;
            double S;
            TMI_TRY(tamis_smooth_sensitivity_up(&S, x, m->n, rank, from, to, c->beta, err));
            m->scales[at] = S / c->alpha;
            if (m->sensitivity) m->sensitivity[at] = S;
        }

done:
    return status;
}

static tamis_status some_samples(void *context, void *place, size_t number, tamis_error *err)
{
    const job *j = context;
    const tmi_medians *m = j->m;
    const int64_t first = (int64_t)number * RUNS_AT_ONCE, last = first + RUNS_AT_ONCE;
    tamis_status status = TAMIS_OK;
    for (int64_t run = first; run < last && run < m->runs; run++) {
        tmi_stream r = tmi_stream_of(j->seed, m->n, (uint64_t)run);
        TMI_TRY(one_sample(j, tmi_samples_draw(place, m->population, m->n, &r), run, err));
    }

done:
    return status;
}

tamis_status tmi_medians_run(const tmi_medians *m, const tmi_figure *f, tamis_error *err)
{
    job j = {.m = m, .seed = f->seed};
    tamis_status status = TAMIS_OK;
    j.paper = tmi_alloc(2 * m->eps_count, sizeof *j.paper);
    if (!j.paper) return tmi_fail_memory(err);
    j.ours = j.paper + m->eps_count;
    for (size_t e = 0; e < m->eps_count; e++) {
        const tmi_spending s = tmi_spending_amplified(m->eps[e], TMI_PAPER_DELTA, m->population->count, m->n);
        j.paper[e] = (tmi_smooth_calibration){s.eps / 2, s.eps / (2 * log(2 / s.delta))};
        TMI_TRY(tmi_calibrate(&j.ours[e], m->population, m->n, tmi_median_rank(m->n), &s, err));
    }
    const tmi_crowd crowd = {.threads = f->threads,
                             .items = (size_t)((m->runs + RUNS_AT_ONCE - 1) / RUNS_AT_ONCE),
                             .item = some_samples,
                             .open = open_room,
                             .close = tmi_samples_close,
                             .context = &j,
                             .watch = &f->watch};
    TMI_TRY(tmi_crowd_run(&crowd, err));

done:
    tmi_free(j.paper);
    return status;
}
