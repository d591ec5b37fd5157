/* Advice on ranges as a table, a sentence per column, JSON, and a picture. */
#include <math.h>
#include <stdio.h>
#include <tamis/experimental/plot.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "report/results.h"
#include "study/bounds/bounds.h"
#include "study/report.h"

#define WORTH 0.01 /* lower by less is no advice */

/* By which part the errors of a column's statistics are lower than under the plan's range, in the geometric mean. */
static double gain_of(const tmi_bounds_trial *t) { return 1 - t->error; }

static bool is_advised(const tmi_bounds_column *c) { return c->best > 0 && gain_of(&c->trials[c->best]) > WORTH; }

static void put_end(tmi_text *text, double x) { tmi_text_format(text, "%.10g", x); }

static void put_percent(tmi_text *text, double part)
{
    const double percent = 100 * fabs(part);
    tmi_text_rounded(text, percent, percent > 0 && percent < 10 ? tmi_decimals_of(percent) : 0);
    tmi_text_put(text, " %");
}

/* A bound of units that takes off little, and is below the one that there is. */
static bool is_unit_advised(const tmi_bounds *s, size_t i) { return i == s->unit_best && s->units[i].noise < 1 - WORTH; }

/* ---- text ---- */

static void write_unit_sentence(tmi_text *text, const tmi_bounds *s)
{
    tmi_text words;
    if (s->unit_count == 0) return;
    tmi_text_init(&words);
    if (s->unit_best == s->unit_count || !is_unit_advised(s, s->unit_best)) {
        tmi_text_put(&words, "max_unit_weight: no bound that was tried lowers noise and takes off less than 1 % of all weights");
    } else {
        const tmi_bounds_unit *u = &s->units[s->unit_best];
        tmi_text_put(&words, "max_unit_weight: ");
        put_end(&words, u->weight);
        tmi_text_format(&words, ", %lld rows of the mean weight, would lower the noise of estimates to ", (long long)u->rows);
        put_percent(&words, u->noise);
        tmi_text_put(&words, " of what it is, and take off ");
        put_percent(&words, u->beyond);
        tmi_text_put(&words, " of all weights, if these are alike");
    }
    tmi_text_wrap_taken(text, "", "  ", &words);
}

static bool is_total_advised(const tmi_bounds_column *c, size_t i)
{
    return i == c->total_best && i < c->total_count && c->totals[i].noise < 1 - WORTH && c->totals[i].error < 1 - WORTH;
}

static void write_total_sentence(tmi_text *text, const tmi_bounds_column *c)
{
    tmi_text words;
    if (c->total_count == 0) return;
    tmi_text_init(&words);
    tmi_text_format(&words, "unit_contribution of %s: ", c->column->name);
    if (!is_total_advised(c, c->total_best)) {
        tmi_text_put(&words,
                     "no bound that was tried lowers errors of its totals and takes off less than 1 % of all that units add");
    } else {
        const tmi_bounds_total *t = &c->totals[c->total_best];
        put_end(&words, t->bound);
        tmi_text_put(&words, " would lower the noise of its totals to ");
        put_percent(&words, t->noise);
        tmi_text_put(&words, " of what it is and their error by ");
        put_percent(&words, 1 - t->error);
        tmi_text_put(&words, ", and take off ");
        put_percent(&words, t->beyond);
        tmi_text_put(&words, " of all that units add, if weights are alike");
    }
    tmi_text_wrap_taken(text, "", "  ", &words);
}

/* The statistic that gains most. */
static size_t first_to_gain(const tmi_bounds_column *c)
{
    size_t best = 0;
    double least = INFINITY;
    for (size_t k = 0; k < c->statistic_count; k++) {
        const double ratio = c->trials[c->best].effects[k].error_part;
        if (!(ratio < least)) continue;
        least = ratio;
        best = k;
    }
    return best;
}

static void write_sentence(tmi_text *text, const tmi_bounds *s, const tmi_bounds_column *c)
{
    const tmi_bounds_trial *now = &c->trials[0], *best = &c->trials[c->best];
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_format(&words, "%s: ", c->column->name);
    if (!is_advised(c)) {
        tmi_text_put(&words, "from ");
        put_end(&words, now->from);
        tmi_text_put(&words, " to ");
        put_end(&words, now->to);
        tmi_text_put(&words, " fits: no range that was tried would be better");
    } else {
        const size_t k = first_to_gain(c);
        const tmi_bounds_effect *e = &best->effects[k];
        if (best->from != now->from) {
            tmi_text_put(&words, "from ");
            put_end(&words, best->from);
            tmi_text_put(&words, " instead of ");
            put_end(&words, now->from);
            if (best->to != now->to) tmi_text_put(&words, " and ");
        }
        if (best->to != now->to) {
            tmi_text_put(&words, "to ");
            put_end(&words, best->to);
            tmi_text_put(&words, " instead of ");
            put_end(&words, now->to);
        }
        tmi_text_put(&words, " would lower the error of the ");
        tmi_statistic_title(&words, s->plan, c->statistics[k]);
        tmi_text_put(&words, " by ");
        put_percent(&words, 1 - e->error_part);
        if (c->statistic_count > 1) {
            tmi_text_format(&words, ", and those of all %zu statistics of the column by ", c->statistic_count);
            put_percent(&words, gain_of(best));
        }
        tmi_text_put(&words, s->plan->statistics[c->statistics[k]].by_count > 0 ? "; the largest bias of a group would be "
                                                                                : "; the bias would be ");
        if (e->bias == 0) tmi_text_put(&words, "0");
        else {
            tmi_text_rounded(&words, e->bias, tmi_decimals_of(fabs(e->bias)));
            tmi_text_put(&words, ", ");
            put_percent(&words, e->share);
            tmi_text_put(&words, " of the standard error");
        }
    }
    if (c->beyond > 0) {
        tmi_text_put(&words, ". In the population ");
        put_percent(&words, c->beyond);
        tmi_text_put(&words, " of the values are outside the plan's range");
    }
    tmi_text_put(&words, ".");
    tmi_text_wrap_taken(text, "", "  ", &words);
}

#define COLUMNS 7

/* Why a range is the plan's, the advised one, or not advised although its error is smaller. */
static const char *remark_of(const tmi_bounds_column *c, size_t t)
{
    const tmi_bounds_trial *trial = &c->trials[t], *best = &c->trials[is_advised(c) ? c->best : 0];
    if (!trial->possible) return "no release can have it";
    if (trial == best) return t == 0 ? "the plan's: the smallest error" : "best: the smallest error";
    if (t == 0) return "the plan's";
    if (trial->error < best->error) return trial->honest ? "hardly better" : "not advised: its bias is too large";
    return "";
}

static void add_trial(tmi_text_table *table, const tmi_bounds_column *c, size_t t)
{
    const tmi_bounds_trial *trial = &c->trials[t];
    tmi_text cells[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++) tmi_text_init(&cells[k]);
    tmi_text_put(&cells[0], c->column->name);
    put_end(&cells[1], trial->from);
    put_end(&cells[2], trial->to);
    if (trial->possible) {
        put_percent(&cells[3], trial->noise);
        put_percent(&cells[4], trial->bias);
        put_percent(&cells[5], trial->error);
    }
    tmi_text_put(&cells[6], remark_of(c, t));
    tmi_table_row_taken(table, cells);
}

/* Trials from the narrowest range to the widest. */
static void add_column(tmi_text_table *table, const tmi_bounds_column *c)
{
    bool written[TMI_MAX_TRIALS] = {false};
    for (size_t k = 0; k < c->trial_count; k++) {
        size_t next = TMI_MAX_TRIALS;
        for (size_t t = 0; t < c->trial_count; t++) {
            if (written[t]) continue;
            if (next == TMI_MAX_TRIALS || c->trials[t].to - c->trials[t].from < c->trials[next].to - c->trials[next].from)
                next = t;
        }
        written[next] = true;
        add_trial(table, c, next);
    }
}

static void write_text(tmi_text *text, const tmi_bounds *study)
{
    static const tmi_align align[COLUMNS] = {TMI_LEFT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    static const char *const heading[COLUMNS] = {"", "from", "to", "noise", "bias", "error", ""};
    tmi_text_table table;
    tmi_text_format(text, "%s: which ranges its numbers should have\na public population of %lld, clamped\n\n",
                    study->plan->survey, (long long)study->population);
    for (size_t c = 0; c < study->column_count; c++) write_sentence(text, study, &study->columns[c]);
    write_unit_sentence(text, study);
    for (size_t c = 0; c < study->column_count; c++) write_total_sentence(text, &study->columns[c]);
    tmi_text_put(text, "\n");
    tmi_table_init(&table, COLUMNS, align);
    tmi_table_row(&table, heading);
    for (size_t c = 0; c < study->column_count; c++) add_column(&table, &study->columns[c]);
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    tmi_text_wrap(
        text, "", "",
        "Parts of the present error of the column's statistics; the error is noise, sampling error and bias together. A bias is "
        "too large if it is above half of the standard error beside it, unless it is now. Nothing was published and no ledger "
        "was "
        "charged: the population is public. A range must not be chosen by looking at the data that are to be protected.");
}

/* ---- JSON ---- */

static void put_unit(tmi_json_out *out, const tmi_bounds *s, size_t i)
{
    tmi_json_open(out, '{');
    tmi_json_add_real(out, "max_unit_weight", s->units[i].weight);
    tmi_json_add_real(out, "weight_beyond", s->units[i].beyond);
    tmi_json_add_real(out, "noise_part", s->units[i].noise);
    tmi_json_add_boolean(out, "advised", is_unit_advised(s, i));
    tmi_json_close(out, '}');
}

static void put_total(tmi_json_out *out, const tmi_bounds_column *c, size_t i)
{
    tmi_json_open(out, '{');
    tmi_json_add_real(out, "unit_contribution", c->totals[i].bound);
    tmi_json_add_real(out, "share_beyond", c->totals[i].beyond);
    tmi_json_add_real(out, "noise_part", c->totals[i].noise);
    tmi_json_add_real(out, "error_lower_by", 1 - c->totals[i].error);
    tmi_json_add_boolean(out, "advised", is_total_advised(c, i));
    tmi_json_close(out, '}');
}

static void put_trial(tmi_json_out *out, const tmi_bounds *s, const tmi_bounds_column *c, size_t t)
{
    const tmi_bounds_trial *trial = &c->trials[t];
    tmi_json_open(out, '{');
    tmi_json_add_real(out, "from", trial->from);
    tmi_json_add_real(out, "to", trial->to);
    tmi_json_add_boolean(out, "possible", trial->possible);
    if (trial->possible) tmi_json_add_real(out, "error_lower_by", gain_of(trial));
    tmi_json_add_open(out, "statistics", '[');
    for (size_t k = 0; trial->possible && k < c->statistic_count; k++) {
        tmi_text title;
        tmi_text_init(&title);
        tmi_statistic_title(&title, s->plan, c->statistics[k]);
        tmi_json_open(out, '{');
        tmi_json_add_taken(out, "statistic", &title);
        tmi_json_add_real(out, "noise_sd", trial->effects[k].noise_sd);
        tmi_json_add_real(out, "bias", trial->effects[k].bias);
        tmi_json_add_real(out, "error_lower_by", 1 - trial->effects[k].error_part);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

static void write_json(tmi_text *json, const tmi_bounds *study)
{
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", study->plan->survey);
    tmi_json_add_integer(&out, "population", study->population);
    tmi_json_add_open(&out, "columns", '[');
    for (size_t i = 0; i < study->column_count; i++) {
        const tmi_bounds_column *c = &study->columns[i];
        const tmi_bounds_trial *best = &c->trials[is_advised(c) ? c->best : 0];
        tmi_json_open(&out, '{');
        tmi_json_add_string(&out, "column", c->column->name);
        tmi_json_add_real(&out, "outside", c->beyond);
        tmi_json_add_open(&out, "advice", '{');
        tmi_json_add_real(&out, "from", best->from);
        tmi_json_add_real(&out, "to", best->to);
        tmi_json_add_real(&out, "error_lower_by", gain_of(best));
        tmi_json_close(&out, '}');
        tmi_json_add_open(&out, "tried", '[');
        for (size_t t = 0; t < c->trial_count; t++) put_trial(&out, study, c, t);
        tmi_json_close(&out, ']');
        if (c->total_count > 0) {
            tmi_json_add_open(&out, "totals", '[');
            for (size_t t = 0; t < c->total_count; t++) put_total(&out, c, t);
            tmi_json_close(&out, ']');
        }
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    if (study->unit_count > 0) {
        tmi_json_add_open(&out, "units", '[');
        for (size_t i = 0; i < study->unit_count; i++) put_unit(&out, study, i);
        tmi_json_close(&out, ']');
    }
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

/* ---- CSV ---- */

/* One row per statistic under each range that was tried. */
static const char *const sheet_columns[] = {"column", "from", "to", "advised", "statistic", "noise_sd", "bias", "error_lower_by"};

static void fill_sheet(tmi_sheet *sheet, const tmi_bounds *study)
{
    for (size_t i = 0; i < study->column_count; i++) {
        const tmi_bounds_column *c = &study->columns[i];
        const size_t advised = is_advised(c) ? c->best : 0;
        for (size_t t = 0; t < c->trial_count; t++) {
            const tmi_bounds_trial *trial = &c->trials[t];
            for (size_t k = 0; trial->possible && k < c->statistic_count; k++) {
                const tmi_bounds_effect *e = &trial->effects[k];
                tmi_text title;
                tmi_text_init(&title);
                tmi_statistic_title(&title, study->plan, c->statistics[k]);
                tmi_sheet_words(sheet, c->column->name);
                tmi_sheet_number(sheet, trial->from);
                tmi_sheet_number(sheet, trial->to);
                tmi_sheet_number(sheet, t == advised);
                tmi_sheet_words(sheet, title.failed ? "" : title.bytes);
                tmi_sheet_number(sheet, e->noise_sd);
                tmi_sheet_number(sheet, e->bias);
                tmi_sheet_number(sheet, 1 - e->error_part);
                sheet->failed = sheet->failed || title.failed;
                tmi_text_clear(&title);
            }
        }
    }
}

/* ---- a picture ---- */

/* The trials with the plan's own `from`, by width: their places. */
static size_t sort_widths(size_t order[TMI_MAX_TRIALS], const tmi_bounds_column *c)
{
    size_t count = 0;
    for (size_t t = 0; t < c->trial_count; t++) {
        if (!c->trials[t].possible || c->trials[t].from != c->trials[0].from) continue;
        size_t k = count++;
        for (; k > 0 && c->trials[order[k - 1]].to > c->trials[t].to; k--) order[k] = order[k - 1];
        order[k] = t;
    }
    return count;
}

typedef double of_trial(const tmi_bounds_trial *trial);

static double whole_of(const tmi_bounds_trial *t) { return t->error; }
static double noise_of(const tmi_bounds_trial *t) { return t->noise; }
static double bias_of(const tmi_bounds_trial *t) { return t->bias; }

static tamis_plot_curve curve_of(double *x, double *y, const tmi_bounds_column *c, of_trial *of, const char *name)
{
    size_t order[TMI_MAX_TRIALS];
    const size_t count = sort_widths(order, c);
    const double width = c->trials[0].to - c->trials[0].from;
    for (size_t k = 0; k < count; k++) {
        const tmi_bounds_trial *t = &c->trials[order[k]];
        x[k] = (t->to - t->from) / width;
        y[k] = of(t);
    }
    return (tamis_plot_curve){.name = name, .x = x, .y = y, .count = count};
}

/* Of one column its noise, its bias and the whole error; of several the whole errors, of as many as can be told apart. */
static tamis_status write_svg(char **svg, const tmi_bounds *study, tamis_error *err)
{
    static of_trial *const parts[] = {whole_of, noise_of, bias_of};
    static const char *const names[] = {"error", "noise", "bias"};
    tamis_plot_curve curves[TAMIS_PLOT_CURVES];
    double points[2 * TAMIS_PLOT_CURVES][TMI_MAX_TRIALS];
    char title[160];
    const bool one = study->column_count == 1;
    size_t count = one ? 3 : study->column_count;
    if (count > TAMIS_PLOT_CURVES) count = TAMIS_PLOT_CURVES;
    for (size_t k = 0; k < count; k++) {
        const tmi_bounds_column *c = &study->columns[one ? 0 : k];
        curves[k] = curve_of(points[2 * k], points[2 * k + 1], c, one ? parts[k] : whole_of, one ? names[k] : c->column->name);
    }
    if (one) snprintf(title, sizeof title, "How wide should the range of %.60s be?", study->columns[0].column->name);
    else snprintf(title, sizeof title, "How wide should the ranges be?");
    const tamis_plot plot = {.title = title,
                             .subtitle = one ? "noise and clamping bias, as parts of the present error"
                                             : "noise, sampling error and clamping bias together",
                             .x = {.label = "width of the range, now = 1", .log = true},
                             .y = {.label = "error, now = 1", .from = 0, .to = 2},
                             .curves = curves,
                             .curve_count = count};
    return tamis_plot_svg(svg, &plot, err);
}

/* ---- all of it ---- */

tamis_status tamis_study_bounds(tamis_study **study, const tamis_plan *plan, const tamis_study_ranges *ranges,
                                const tamis_study_options *options, tamis_error *err)
{
    tmi_bounds *bounds = NULL;
    tmi_study_forms forms;
    tamis_status status;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    tmi_study_forms_init(&forms, sheet_columns, sizeof sheet_columns / sizeof *sheet_columns);
    TMI_TRY(tmi_bounds_new(&bounds, plan, ranges, options, err));
    write_text(&forms.text, bounds);
    write_json(&forms.json, bounds);
    fill_sheet(&forms.sheet, bounds);
    TMI_TRY(write_svg(&forms.svg, bounds, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_study_forms_clear(&forms);
    tmi_bounds_free(bounds);
    return status;
}
