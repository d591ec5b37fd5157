/* Sizes of strata under privacy.
 *
 * The mean of stratum h is published with Laplace noise of scale R_h/(n_h eps_h): eps if it is known who was sampled, and
 * log(1 + (e^eps - 1) N_h/n_h) if the sample is secret. With W_h = N_h/N the error of the whole mean is
 *
 *     sum over h of W_h^2 V_h(n_h),    V_h(n) = (1 - n/N_h) S_h^2/n + 2 (R_h/(n eps_h(n)))^2.
 *
 * V_h is convex: 1/n is; n eps_h(n) is concave and grows, and 1/x^2 is convex and falls. For a sum of convex functions of
 * one integer each, taking the units one by one where the error falls most gives the best integers. Neyman's allocation is the
 * same without the noise.                                                                                            */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "engine/core/text.h"
#include "engine/files/frame.h"
#include "num/number.h"
#include "study/allocation.h"
#include "study/question.h"
#include "study/report.h"

#define MOST_STRATA 100000
#define MOST_UNITS 100000000 /* taken one by one */

/* ---- the best integers ---- */

static double variance(const tmi_allocation_stratum *s, double n, double eps, tmi_promise promise)
{
    const double spent = promise == TMI_PROMISE_SECRET ? log1p(expm1(eps) * s->population / n) : eps;
    const double noise = promise == TMI_PROMISE_NONE ? 0 : s->range / (n * spent);
    return (1 - n / s->population) * s->sd * s->sd / n + 2 * noise * noise;
}

double tmi_allocation_variance(const tmi_allocation_stratum *strata, size_t count, const int64_t *sizes, double eps,
                               tmi_promise promise)
{
    double sum = 0, all = 0;
    for (size_t h = 0; h < count; h++) all += strata[h].population;
    for (size_t h = 0; h < count; h++) {
        const double weight = strata[h].population / all;
        sum += weight * weight * variance(&strata[h], (double)sizes[h], eps, promise);
    }
    return sum;
}

typedef struct candidate {
    double gain; /* of the next unit, in squared errors of the total */
    size_t stratum;
} candidate;

/* A heap, the largest gain at the top. */
static void sink(candidate *heap, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].gain > heap[child].gain) child++;
        if (heap[at].gain >= heap[child].gain) return;
        const candidate moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

static double next_gain(const tmi_allocation_stratum *s, int64_t n, double eps, tmi_promise promise)
{
    if ((double)n >= s->population) return -INFINITY;
    return s->population * s->population * (variance(s, (double)n, eps, promise) - variance(s, (double)n + 1, eps, promise));
}

tamis_status tmi_allocate(int64_t *sizes, const tmi_allocation_stratum *strata, size_t count, int64_t sample, int64_t least,
                          double eps, tmi_promise promise, tamis_error *err)
{
    candidate *heap = tmi_alloc(count, sizeof *heap);
    if (!heap) return tmi_fail_memory(err);
    for (size_t h = 0; h < count; h++) {
        sizes[h] = strata[h].population < (double)least ? (int64_t)strata[h].population : least;
        heap[h] = (candidate){next_gain(&strata[h], sizes[h], eps, promise), h};
        sample -= sizes[h];
    }
    for (size_t at = count / 2 + 1; at-- > 0;) sink(heap, count, at);
    for (; sample > 0; sample--) {
        const size_t h = heap[0].stratum;
        sizes[h]++;
        heap[0].gain = next_gain(&strata[h], sizes[h], eps, promise);
        sink(heap, count, 0);
    }
    tmi_free(heap);
    return TAMIS_OK;
}

/* ---- the file of strata ---- */

enum { NAME, POPULATION, SD, FROM, TO, COLUMNS };
static const char *const column_names[COLUMNS] = {"stratum", "population", "sd", "from", "to"};

typedef struct strata_list {
    tmi_allocation_stratum *list;
    size_t count;
    const char *path;
} strata_list;

static void strata_clear(strata_list *s)
{
    for (size_t h = 0; h < s->count; h++) tmi_free(s->list[h].name);
    tmi_free(s->list);
}

static tamis_status take_strata(void *context, int64_t first, size_t rows, tmi_cell *const *cells, tamis_error *err)
{
    strata_list *s = context;
    for (size_t i = 0; i < rows; i++) {
        const int64_t line = first + (int64_t)i + 2;
        double x[COLUMNS];
        for (int c = POPULATION; c < COLUMNS; c++) x[c] = tmi_number_in(tmi_trimmed(cells[c][i].bytes, cells[c][i].length));
        tmi_allocation_stratum *t = &s->list[s->count];
        *t = (tmi_allocation_stratum){.name = tmi_copy_text(cells[NAME][i].bytes, cells[NAME][i].length),
                                      .population = x[POPULATION],
                                      .sd = x[SD],
                                      .range = x[TO] - x[FROM]};
        if (!t->name) return tmi_fail_memory(err);
        s->count++;
        if (!(x[POPULATION] >= 1 && x[POPULATION] == floor(x[POPULATION]) && x[POPULATION] <= 1e12))
            return tmi_fail_file(err, TAMIS_INVALID, s->path, line, "population: must be a whole number of at least 1");
        if (!(x[SD] >= 0 && isfinite(x[SD]))) return tmi_fail_file(err, TAMIS_INVALID, s->path, line, "sd: must not be negative");
        if (!(isfinite(x[FROM]) && isfinite(x[TO]) && x[FROM] < x[TO]))
            return tmi_fail_file(err, TAMIS_INVALID, s->path, line, "from, to: must be finite, the first below the second");
    }
    return TAMIS_OK;
}

static tamis_status read_strata(strata_list *s, const char *path, tamis_error *err)
{
    tmi_frame *frame = NULL;
    size_t columns[COLUMNS];
    tamis_status status;
    *s = (strata_list){.path = path};
    TMI_TRY(tmi_frame_open(&frame, path, NULL, err));
    for (int c = 0; c < COLUMNS; c++) {
        size_t at = 0;
        while (at < frame->column_count && strcmp(frame->names[at], column_names[c]) != 0) at++;
        if (at == frame->column_count)
            TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "has no column %s; expected stratum, population, sd, from, to",
                                  column_names[c]));
        columns[c] = at;
    }
    if (frame->rows < 1 || frame->rows > MOST_STRATA)
        TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, path, 0, "must have 1 to %d strata", MOST_STRATA));
    s->list = tmi_alloc((size_t)frame->rows, sizeof *s->list);
    if (!s->list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_frame_read(frame, columns, NULL, COLUMNS, take_strata, s, &(tmi_watch){0}, err));

done:
    tmi_frame_free(frame);
    return status;
}

/* ---- the study ---- */

static const char *const promise_names[TMI_PROMISES] = {"Neyman", "sample given frame", "secret sample"};

typedef struct answer {
    strata_list strata;
    int64_t *sizes[TMI_PROMISES];
    double errors[TMI_PROMISES][TMI_PROMISES]; /* standard error of the mean: allocation, promise */
    double eps;
    int64_t sample;
} answer;

static void answer_clear(answer *a)
{
    strata_clear(&a->strata);
    for (int k = 0; k < TMI_PROMISES; k++) tmi_free(a->sizes[k]);
}

static tamis_status check(const answer *a, int64_t least, tamis_error *err)
{
    double all = 0, needed = 0;
    for (size_t h = 0; h < a->strata.count; h++) {
        all += a->strata.list[h].population;
        needed += fmin(a->strata.list[h].population, (double)least);
    }
    if (!(a->eps > 0 && a->eps <= 1000)) return tmi_fail(err, TAMIS_INVALID, "epsilon: must be positive, and at most 1000");
    if (least < 1) return tmi_fail(err, TAMIS_INVALID, "least: must be at least 1");
    if (a->sample > MOST_UNITS || (double)a->sample > all)
        return tmi_fail(err, TAMIS_INVALID, "sample: must be at most the population, and at most %d", MOST_UNITS);
    if ((double)a->sample < needed)
        return tmi_fail(err, TAMIS_INVALID, "sample: too small for at least %lld units of each stratum", (long long)least);
    return TAMIS_OK;
}

static void write_text(tmi_text *text, const answer *a)
{
    static const tmi_align align[] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT};
    tmi_text_table table;
    tmi_text line;
    tmi_text_init(&line);
    tmi_text_put(&line, "Sizes of the strata, ");
    tmi_text_rounded(&line, (double)a->sample, 0);
    tmi_text_put(&line, " units in all: the best integers for the standard error (sampling and noise) of the mean, epsilon ");
    tmi_text_real(&line, a->eps);
    tmi_text_wrap_taken(text, "", "  ", &line);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, 5, align);
    tmi_table_row(&table, (const char *const[]){"stratum", "population", promise_names[0], promise_names[1], promise_names[2]});
    for (size_t h = 0; h < a->strata.count; h++) {
        tmi_text cells[5];
        for (int k = 0; k < 5; k++) tmi_text_init(&cells[k]);
        tmi_text_put(&cells[0], a->strata.list[h].name);
        tmi_text_rounded(&cells[1], a->strata.list[h].population, 0);
        for (int k = 0; k < TMI_PROMISES; k++) tmi_text_rounded(&cells[k + 2], (double)a->sizes[k][h], 0);
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, 4, align);
    tmi_table_row(&table,
                  (const char *const[]){"standard error of the mean", promise_names[0], promise_names[1], promise_names[2]});
    for (int p = TMI_PROMISE_KNOWN; p < TMI_PROMISES; p++) {
        tmi_text cells[4];
        for (int k = 0; k < 4; k++) tmi_text_init(&cells[k]);
        tmi_text_format(&cells[0], "if released as %s", promise_names[p]);
        for (int k = 0; k < TMI_PROMISES; k++) tmi_text_about(&cells[k + 1], a->errors[k][p]);
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
    tmi_text_put(text, "\n");
    tmi_text_wrap(text, "", "  ",
                  "Neyman's allocation is the best without noise. Each stratum's mean has Laplace noise for the range of the "
                  "stratum; strata are public, so each may spend all of epsilon.");
}

static tamis_status write_svg(char **svg, const answer *a, tamis_error *err)
{
    const size_t n = a->strata.count;
    double *points = tmi_alloc((TMI_PROMISES + 1) * n, sizeof *points);
    tamis_plot_curve curves[TMI_PROMISES];
    const char *names[TAMIS_PLOT_NAMES];
    if (!points) return tmi_fail_memory(err);
    for (size_t h = 0; h < n; h++) { /* the first at the top */
        points[h] = (double)(n - h);
        if (n <= TAMIS_PLOT_NAMES) names[n - 1 - h] = a->strata.list[h].name;
        for (size_t k = 0; k < TMI_PROMISES; k++) points[(k + 1) * n + h] = (double)a->sizes[k][h];
    }
    for (size_t k = 0; k < TMI_PROMISES; k++)
        curves[k] = (tamis_plot_curve){promise_names[k], points + (k + 1) * n, points, n, false};
    double most = 1;
    for (size_t i = n; i < (TMI_PROMISES + 1) * n; i++) most = fmax(most, points[i]);
    tamis_plot plot = {.title = "Sizes of the strata under privacy",
                       .x = {.label = "units in the sample", .from = 0, .to = 1.1 * most},
                       .y = {.label = "stratum, from the last"},
                       .curves = curves,
                       .curve_count = TMI_PROMISES,
                       .dots = (1u << TMI_PROMISES) - 1};
    if (n <= TAMIS_PLOT_NAMES) plot.y = (tamis_plot_axis){.names = names, .name_count = n};
    tamis_status status = tamis_plot_svg(svg, &plot, err);
    tmi_free(points);
    return status;
}

static const char *const sheet_columns[] = {"stratum", "population", "neyman", "sample_given_frame", "secret_sample"};

static void write_json(tmi_text *json, const answer *a, const tmi_sheet *sheet)
{
    static const char *const keys[TMI_PROMISES] = {"neyman", "sample_given_frame", "secret_sample"};
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_integer(&out, "sample", a->sample);
    tmi_json_add_real(&out, "epsilon", a->eps);
    tmi_json_add_open(&out, "standard_error_of_mean", '{');
    for (int p = TMI_PROMISE_KNOWN; p < TMI_PROMISES; p++) {
        tmi_json_add_open(&out, keys[p], '{');
        for (int k = 0; k < TMI_PROMISES; k++) tmi_json_add_real(&out, keys[k], a->errors[k][p]);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, '}');
    tmi_sheet_json(&out, "results", sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

tamis_status tamis_study_allocation(tamis_study **study, const tamis_study_strata *strata, const tamis_study_options *options,
                                    tamis_error *err)
{
    tamis_study_strata asked;
    tamis_study_options how;
    answer a = {0};
    tmi_study_forms forms;
    tamis_status status;
    tmi_study_forms_init(&forms, sheet_columns, sizeof sheet_columns / sizeof *sheet_columns);
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    TMI_TRY(tmi_options_take(&asked, sizeof asked, strata, "strata", err));
    TMI_TRY(tmi_options_take(&how, sizeof how, options, "options", err));
    if (!asked.path) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "path: NULL"));
    if (!asked.eps) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "eps: NULL"));
    a.eps = tmi_number_nearest(asked.eps);
    a.sample = asked.sample;
    TMI_TRY(read_strata(&a.strata, asked.path, err));
    TMI_TRY(check(&a, asked.least, err));
    for (tmi_promise k = 0; k < TMI_PROMISES; k++) {
        a.sizes[k] = tmi_alloc(a.strata.count, sizeof *a.sizes[k]);
        if (!a.sizes[k]) TMI_TRY(tmi_fail_memory(err));
        TMI_TRY(tmi_allocate(a.sizes[k], a.strata.list, a.strata.count, asked.sample, asked.least, a.eps, k, err));
        for (tmi_promise p = 0; p < TMI_PROMISES; p++)
            a.errors[k][p] = sqrt(tmi_allocation_variance(a.strata.list, a.strata.count, a.sizes[k], a.eps, p));
    }
    for (size_t h = 0; h < a.strata.count; h++) {
        tmi_sheet_words(&forms.sheet, a.strata.list[h].name);
        tmi_sheet_number(&forms.sheet, a.strata.list[h].population);
        for (int k = 0; k < TMI_PROMISES; k++) tmi_sheet_number(&forms.sheet, (double)a.sizes[k][h]);
    }
    write_text(&forms.text, &a);
    write_json(&forms.json, &a, &forms.sheet);
    TMI_TRY(write_svg(&forms.svg, &a, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_study_forms_clear(&forms);
    answer_clear(&a);
    return status;
}
