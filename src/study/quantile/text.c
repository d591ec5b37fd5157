/* What a comparison of the methods hands out: a table, JSON, CSV and a picture. */
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/table.h"
#include "num/number.h"
#include "study/quantile/quantile.h"
#include "study/question.h"
#include "study/report.h"

#define SHOWN 7 /* quantiles in the table for people: more are left to the files */

static const char *name_of(const tmi_quantile_simulation *s, size_t method)
{
    return method < s->method_count ? tamis_quantile_method_name(s->methods[method]) : "sampling alone";
}

static double at_of(const tmi_quantile_simulation *s, size_t j) { return tmi_number_nearest(s->asked->what.at[j]); }

static size_t shown_of(const tmi_quantile_simulation *s, size_t k)
{
    return s->count <= SHOWN ? k : k * (s->count - 1) / (SHOWN - 1);
}

/* The method with the smallest median error of all quantiles together. */
static size_t best_of(const tmi_quantile_simulation *s)
{
    size_t best = 0;
    for (size_t k = 1; k < s->method_count; k++)
        if (tmi_quantile_errors_of(s, k, s->count)->median < tmi_quantile_errors_of(s, best, s->count)->median) best = k;
    return best;
}

/* ---- for people ---- */

static void put_question(tmi_text *text, const tmi_quantile_simulation *s)
{
    const tamis_quantile_setup *what = &s->asked->what;
    tmi_text p;
    tmi_text_init(&p);
    tmi_text_format(&p, "Median error of %zu quantile%s of ", s->count, s->count == 1 ? "" : "s");
    tmi_text_rounded(&p, s->rows, 0);
    tmi_text_format(&p, " rows (%s%s%s), between ", s->asked->population.values, s->asked->population.column ? ", " : "",
                    s->asked->population.column ? s->asked->population.column : "");
    tmi_text_real(&p, tmi_number_nearest(what->from));
    tmi_text_put(&p, " and ");
    tmi_text_real(&p, tmi_number_nearest(what->to));
    tmi_text_put(&p, " in steps of ");
    tmi_text_real(&p, s->step);
    tmi_text_format(&p, ", rows %s, epsilon ", what->add_remove ? "added or removed" : "replaced");
    tmi_text_real(&p, tmi_number_nearest(what->epsilon));
    if (what->delta) {
        tmi_text_put(&p, " (smooth: and delta ");
        tmi_text_real(&p, tmi_number_nearest(what->delta));
        tmi_text_put(&p, ")");
    }
    tmi_text_put(&p, " for all quantiles together; prefix: rho ");
    tmi_text_real(&p, tmi_number_nearest(s->rho));
    tmi_text_wrap_taken(text, "", "  ", &p);
}

static void put_table(tmi_text *text, const tmi_quantile_simulation *s)
{
    const size_t shown = s->count <= SHOWN ? s->count : SHOWN, columns = shown + (s->count > 1 ? 2 : 1);
    tmi_align align[SHOWN + 2] = {TMI_LEFT};
    tmi_text cells[SHOWN + 2];
    tmi_text_table table;
    for (size_t c = 1; c < columns; c++) align[c] = TMI_RIGHT;
    tmi_table_init(&table, columns, align);
    for (size_t row = 0; row <= s->method_count + 1; row++) { /* the heading, the methods, sampling alone */
        for (size_t c = 0; c < columns; c++) tmi_text_init(&cells[c]);
        tmi_text_put(&cells[0], row == 0 ? "at" : name_of(s, row - 1));
        for (size_t c = 1; c < columns; c++) {
            const size_t j = c <= shown ? shown_of(s, c - 1) : s->count;
            if (row > 0) tmi_text_about(&cells[c], tmi_quantile_errors_of(s, row - 1, j)->median);
            else if (j < s->count) tmi_text_format(&cells[c], "%.4g", at_of(s, j));
            else tmi_text_put(&cells[c], "all");
        }
        tmi_table_row_taken(&table, cells);
    }
    tmi_table_write(text, &table);
    tmi_table_clear(&table);
}

/* Per cent: between 98 and 144, for half-normal and for exponential errors: 100 / (2 f m sqrt R), f their density at the median
 * m. */
#define MEDIAN_ERROR 130

static void put_advice(tmi_text *text, const tmi_quantile_simulation *s)
{
    const size_t best = best_of(s);
    tmi_text p;
    tmi_text_init(&p);
    tmi_text_format(&p, "Smallest error of all quantiles together: %s. auto is %s here", name_of(s, best),
                    tamis_quantile_method_name(s->chosen));
    if (s->auto_by_log) {
        tmi_text_put(&p, ", with --log-unit ");
        tmi_text_real(&p, s->step);
    }
    tmi_text_put(&p, ".");
    tmi_text_wrap_taken(text, "", "  ", &p);
    tmi_text_init(&p);
    tmi_text_format(
        &p,
        "Errors are distances from the quantile of the file: half of %lld simulated files had a larger one (Monte Carlo "
        "error: about %.2g %%). Sampling alone is the distance of that quantile from the population's.",
        (long long)s->runs, ceil(MEDIAN_ERROR / sqrt((double)s->runs)));
    tmi_text_wrap_taken(text, "", "  ", &p);
}

/* ---- numbers ---- */

static const char *const columns[] = {"method", "at", "median_error", "error_95", "rms_error"};

static void fill_sheet(tmi_sheet *sheet, const tmi_quantile_simulation *s)
{
    for (size_t k = 0; k <= s->method_count; k++)
        for (size_t j = 0; j <= s->count; j++) {
            const tmi_quantile_errors *e = tmi_quantile_errors_of(s, k, j);
            tmi_sheet_words(sheet, k < s->method_count ? name_of(s, k) : "sampling");
            tmi_sheet_number(sheet, j < s->count ? at_of(s, j) : NAN); /* none: all together */
            tmi_sheet_number(sheet, e->median);
            tmi_sheet_number(sheet, e->most);
            tmi_sheet_number(sheet, e->rms);
        }
}

static void put_json(tmi_text *json, const tmi_quantile_simulation *s, const tmi_sheet *sheet)
{
    const tamis_quantile_setup *what = &s->asked->what;
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "values", s->asked->population.values);
    tmi_json_add_string(&out, "column", s->asked->population.column);
    tmi_json_add_integer(&out, "rows", s->rows);
    tmi_json_add_integer(&out, "runs", s->runs);
    tmi_json_add_real(&out, "from", tmi_number_nearest(what->from));
    tmi_json_add_real(&out, "to", tmi_number_nearest(what->to));
    tmi_json_add_real(&out, "step", s->step);
    tmi_json_add_string(&out, "neighbours", what->add_remove ? "add_remove" : "replace");
    tmi_json_add_real(&out, "epsilon", tmi_number_nearest(what->epsilon));
    tmi_json_add_real(&out, "delta", what->delta ? tmi_number_nearest(what->delta) : 0);
    tmi_json_add_real(&out, "rho", tmi_number_nearest(s->rho));
    tmi_json_add_string(&out, "auto", tamis_quantile_method_name(s->chosen));
    tmi_json_add_string(&out, "best", name_of(s, best_of(s)));
    tmi_sheet_json(&out, "results", sheet);
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

/* ---- the picture ---- */

/* An error of 0 cannot be drawn on a logarithmic axis: half a step is as good. */
static double drawn(const tmi_quantile_simulation *s, double error) { return fmax(error, s->step / 2); }

/* One quantile: a dot for each method; several: a curve over `at`. */
static tamis_status draw(char **svg, const tmi_quantile_simulation *s, tamis_error *err)
{
    double *x = tmi_alloc(s->count + TMI_STUDY_METHODS + 1, sizeof *x);
    double *y = tmi_alloc((s->count + 1) * (TMI_STUDY_METHODS + 1), sizeof *y);
    const char *names[TMI_STUDY_METHODS + 1];
    tamis_plot_curve curves[TAMIS_PLOT_CURVES];
    const bool one = s->count == 1;
    const size_t rows = s->method_count + 1; /* with sampling alone */
    size_t used = 0;
    char subtitle[160];
    tamis_status status;
    if (!x || !y) TMI_TRY(tmi_fail_memory(err));
    snprintf(subtitle, sizeof subtitle, "%.60s, %u rows, epsilon %.4g", s->asked->population.values, (unsigned)s->rows,
             tmi_number_nearest(s->asked->what.epsilon));
    for (size_t k = 0; k < rows; k++) {
        names[k] = one && k == s->method_count ? "sampling" : name_of(s, k); /* short enough for an axis */
        for (size_t j = 0; j < s->count; j++) {
            const size_t place = one ? k : k * s->count + j;
            y[place] = drawn(s, tmi_quantile_errors_of(s, k, j)->median);
            x[one ? k : j] = one ? (double)k + 1 : at_of(s, j);
        }
        /* What auto has taken has one curve, and sampling alone is drawn if there is room for it. */
        if (!one && used < TAMIS_PLOT_CURVES && (k == s->method_count || s->methods[k] != s->chosen))
            curves[used++] = (tamis_plot_curve){names[k], x, y + k * s->count, s->count, k == s->method_count};
    }
    if (one) curves[used++] = (tamis_plot_curve){NULL, x, y, rows, false};
    const tamis_plot plot = {.title = "Error of private quantiles, by method",
                             .subtitle = subtitle,
                             .x = {.label = one ? NULL : "quantile", .names = one ? names : NULL, .name_count = one ? rows : 0},
                             .y = {.label = "median distance from the quantile of the file", .log = true},
                             .curves = curves,
                             .curve_count = one                        ? 1
                                            : rows < TAMIS_PLOT_CURVES ? rows
                                                                       : TAMIS_PLOT_CURVES,
                             .dots = one};
    status = tamis_plot_svg(svg, &plot, err);
done:
    tmi_free(x);
    tmi_free(y);
    return status;
}

tamis_status tmi_quantile_study_write(tamis_study **study, const tmi_quantile_simulation *s, tamis_error *err)
{
    tmi_study_forms forms;
    tamis_status status;
    tmi_study_forms_init(&forms, columns, sizeof columns / sizeof *columns);
    put_question(&forms.text, s);
    tmi_text_put(&forms.text, "\n");
    put_table(&forms.text, s);
    tmi_text_put(&forms.text, "\n");
    put_advice(&forms.text, s);
    fill_sheet(&forms.sheet, s);
    put_json(&forms.json, s, &forms.sheet);
    TMI_TRY(draw(&forms.svg, s, err));
    status = tmi_study_make(study, &forms, err);
done:
    tmi_study_forms_clear(&forms);
    return status;
}

tamis_status tamis_study_quantile(tamis_study **study, const tamis_study_quantiles *asked, const tamis_study_options *options,
                                  tamis_error *err)
{
    tamis_study_quantiles given;
    tamis_study_options how;
    tmi_quantile_simulation s;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    if (!asked) return tmi_fail(err, TAMIS_INVALID, "asked: NULL");
    if (tmi_options_take(&given, sizeof given, asked, "asked", err) != TAMIS_OK) return TAMIS_INVALID;
    if (tmi_options_take(&how, sizeof how, options, "options", err) != TAMIS_OK) return TAMIS_INVALID;
    tamis_status status = tmi_quantile_simulate(&s, &given, &how, err);
    if (status == TAMIS_OK) status = tmi_quantile_study_write(study, &s, err);
    tmi_quantile_simulation_clear(&s);
    return status;
}
