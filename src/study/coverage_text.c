/* Which coverage is too low. Two exact tests, each at LEVEL over all numbers of the table together (Bonferroni): is the coverage
 * below the stated confidence, by the binomial law; and, since the usual formulas cover too little in some samples without
 * any noise, is it below that of the unprotected interval of the same samples, by the sign test on the samples in which only
 * one of the two holds the truth. A number is too low if both say so.                                                 */
#include <math.h>
#include <stdio.h>
#include <tamis/experimental/plot.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/value/json.h"
#include "study/coverage.h"
#include "study/report.h"

#define LEVEL 0.01
#define OFTEN 5   /* in more than one run out of this many */
#define DUST 1e-9 /* of the protected width: an unprotected width below it is rounding, not an error */

/* What is to be said about a coverage: that it is low, or why it is above 0.98. */
typedef enum remark { NO_REMARK, TOO_LOW, EXACT, MEASURED, PLAIN, LIMIT, SELECTED, LOW_BARE, AT_END, BETWEEN, REMARKS } remark;

static const struct words {
    const char *mark, *why;
} remarks[REMARKS] = {
    [TOO_LOW] = {"too low", "below the stated confidence and below the unprotected interval of the same samples, in two tests "
                            "at level 0.01 over all numbers"},
    [EXACT] = {"a", "high: counts are whole numbers; the exact interval cannot cover less"},
    [MEASURED] = {"b", "high: allows for the noise of a measured standard error"},
    [PLAIN] = {"c", "high: the variance is bounded by plain weighted squares"},
    [LIMIT] = {"d", "high: an upper limit of a noisy variance"},
    [SELECTED] = {"e", "low among the samples in which it is published, a choice that depends on the noise; over all samples it "
                       "misses no more often than stated"},
    [LOW_BARE] = {"f", "low, as is the unprotected interval of the same samples: because of the formula, not the noise"},
    [AT_END] = {"g", "high: the true value is near an end of the possible range; an estimate outside it has the interval of the "
                     "nearest possible value"},
    [BETWEEN] = {"h",
                 "high: the interval of a quantile allows for what the distribution function may be between two cuts, besides "
                 "what the variances of its shares allow for"}};

/* Whether so few hits are too unlikely; without any interval there is nothing to judge. */
static bool is_low(const tmi_coverage *study, int64_t hits, int64_t trials, double p)
{
    if (tmi_coverage_count(study) == 0) return false;
    return tmi_binomial_at_most(hits, trials, p) < LEVEL / (double)tmi_coverage_count(study);
}

static remark low_remark(const tmi_coverage *study, size_t i)
{
    const tmi_coverage_cell *c = &study->cells[i];
    const double said = tmi_number_nearest(study->plan->statistics[study->places.list[i].statistic].confidence);
    if (!is_low(study, c->own.covers, c->own.given, said)) return NO_REMARK;
    if (c->withheld > 0 && !is_low(study, c->own.covers + c->withheld, c->own.given + c->withheld, said)) return SELECTED;
    if (c->bare.given > 0 && !is_low(study, c->own_only, c->own_only + c->bare_only, 0.5)) return LOW_BARE;
    return TOO_LOW;
}

/* Values, not shares, of a distribution function: their intervals are Woodruff's. */
static bool is_between_cuts(tmi_statistic_kind kind) { return kind == TMI_QUANTILE || kind == TMI_MEDIAN || kind == TMI_IQR; }

/* Without an exact test, without clusters and with the variance formula of the unprotected interval, what makes one wider is
 * the margin against the noise in the variance. Weighted sums hold no means, which other formulas take off. */
static remark remark_of(const tmi_coverage *study, size_t i)
{
    const tmi_coverage_cell *c = &study->cells[i];
    remark low = low_remark(study, i);
    if (low != NO_REMARK) return low;
    if (tmi_tally_share(&c->own) <= 0.98) return NO_REMARK;
    if (c->exact) return EXACT;
    if (is_between_cuts(study->plan->statistics[study->places.list[i].statistic].kind)) return BETWEEN;
    if (c->outside * OFTEN > study->runs) return AT_END;
    if (study->plan->design.kind->clusters) return MEASURED;
    return study->weighed && c->limited * OFTEN <= study->runs ? PLAIN : LIMIT;
}

/* How much wider than the unprotected interval: as it is, and if nothing but the noise of the estimate were added. */
static double width_ratio(const tmi_coverage_cell *c)
{
    if (c->own.given == 0) return NAN;
    const double own = c->own.width / (double)c->own.given, bare = c->bare.given > 0 ? c->bare.width / (double)c->bare.given : 0;
    return bare > DUST * own ? own / bare : NAN;
}

/* What the bounds of the plan do to the population's value, in standard errors of the release. */
static double clamping(const tmi_coverage_cell *c) { return c->truth - c->unclamped; }

static double clamping_ratio(const tmi_coverage_cell *c)
{
    const double se = c->own.given > 0 ? c->se / (double)c->own.given : 0;
    return se > 0 && isfinite(clamping(c)) ? clamping(c) / se : NAN;
}

static double noise_ratio(const tmi_coverage_cell *c)
{
    /* the harmonic mean: a denominator near 0 has noise without end */
    return c->part > DUST * (double)c->parts ? (double)c->parts / c->part : NAN;
}

static void put_ratio(tmi_json_out *out, const char *key, double ratio)
{
    tmi_json_key(out, key);
    if (isnan(ratio)) tmi_json_put_null(out);
    else tmi_json_put_real(out, ratio);
}

/* `noise` NULL: unprotected. */
static void put_tally(tmi_json_out *out, const char *key, const tmi_tally *t, const tmi_middle *error, const tmi_middle *noise)
{
    tmi_json_add_open(out, key, '{');
    tmi_json_add_real(out, "coverage", tmi_tally_share(t));
    tmi_json_add_real(out, "error", tmi_tally_error(t));
    tmi_json_add_integer(out, "intervals", t->given);
    put_ratio(out, "se", tmi_middle_of(error));
    if (noise) put_ratio(out, "noise_sd", tmi_middle_of(noise));
    tmi_json_close(out, '}');
}

void tmi_coverage_names(tmi_text *statistic, tmi_text *group, const tmi_coverage *study, size_t i)
{
    const tmi_result *r = &study->places.list[i];
    const tmi_plan_statistic *s = &study->plan->statistics[r->statistic];
    tmi_text_put(statistic, tmi_statistic_name(s));
    if (s->kind == TMI_QUANTILE) tmi_text_format(statistic, " %.6g", tmi_at_of(s, r->cell));
    if (s->column) {
        tmi_text_put(statistic, " ");
        tmi_result_column(statistic, s);
    }
    if (tmi_is_contrast(s->kind)) tmi_text_put(statistic, ", ");
    tmi_contrast_text(statistic, s);
    for (size_t k = 0; k < s->by_count; k++) tmi_text_format(statistic, "%s%s", k == 0 ? " by " : ", ", s->by[k]->name);
    if (s->model) tmi_text_put(statistic, ": ");
    tmi_term_text(statistic, s, r->cell);
    tmi_text_put(group, "");
    for (size_t k = 0; k < s->by_count; k++)
        tmi_text_format(group, "%s%s=%s", k ? ", " : "", s->by[k]->name,
                        tmi_cell_value(s->by, s->by_count, tmi_group_of(s, r->cell), k));
}

/* Which number of the plan it is. */
static void put_name(tmi_json_out *out, const tmi_coverage *study, size_t i)
{
    const tmi_result *r = &study->places.list[i];
    const tmi_plan_statistic *s = &study->plan->statistics[r->statistic];
    tmi_json_add_string(out, "statistic", tmi_statistic_name(s));
    tmi_text words;
    if (s->column) {
        tmi_text_init(&words);
        tmi_result_column(&words, s);
        tmi_json_add_taken(out, "column", &words);
    } else tmi_json_add_string(out, "column", NULL);
    if (tmi_is_contrast(s->kind)) {
        tmi_text_init(&words);
        tmi_contrast_text(&words, s);
        tmi_json_add_taken(out, "contrast", &words);
    }
    if (s->model) {
        tmi_text_init(&words);
        tmi_term_text(&words, s, r->cell);
        tmi_json_add_taken(out, "term", &words);
    }
    tmi_json_key(out, "group");
    tmi_put_group(out, s->by, s->by_count, tmi_group_of(s, r->cell));
    if (s->at_count > 0) tmi_json_add_real(out, "at", tmi_at_of(s, r->cell));
}

static void write_json(tmi_text *json, const tmi_coverage *study)
{
    tmi_json_out out;
    tmi_json_out_init(&out, json, true);
    tmi_json_open(&out, '{');
    tmi_json_add_integer(&out, "tamis", 1);
    tmi_json_add_string(&out, "survey", study->plan->survey);
    tmi_json_add_integer(&out, "population", study->population);
    tmi_json_add_integer(&out, "runs", study->runs);
    tmi_json_add_open(&out, "results", '[');
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        if (!tmi_coverage_counts(c)) continue;
        tmi_json_open(&out, '{');
        put_name(&out, study, i);
        tmi_json_add_real(&out, "truth", c->truth);
        tmi_json_add_open(&out, "clamping_bias", '{');
        put_ratio(&out, "value", clamping(c));
        put_ratio(&out, "in_standard_errors", clamping_ratio(c));
        tmi_json_close(&out, '}');
        tmi_json_add_integer(&out, "withheld", c->withheld);
        put_ratio(&out, "rmse", tmi_coverage_rmse(c));
        put_ratio(&out, "rmse_error", tmi_coverage_rmse_error(c));
        put_tally(&out, "protected", &c->own, &c->error, &c->noise);
        put_tally(&out, "unprotected", &c->bare, &c->bare_error, NULL);
        put_ratio(&out, "width_ratio", width_ratio(c));
        put_ratio(&out, "width_ratio_of_noise_alone", noise_ratio(c));
        tmi_json_add_boolean(&out, "passes", remark_of(study, i) != TOO_LOW);
        tmi_json_add_string(&out, "remark", remarks[remark_of(study, i)].why);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_add_open(&out, "without_interval", '[');
    for (size_t i = 0; i < study->places.count; i++) {
        if (!tmi_coverage_is_absent(&study->cells[i])) continue;
        tmi_json_open(&out, '{');
        put_name(&out, study, i);
        tmi_json_add_string(&out, "reason", study->cells[i].reason);
        tmi_json_close(&out, '}');
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    tmi_text_put(json, "\n");
}

static const char *const sheet_columns[] = {"statistic",
                                            "group",
                                            "truth",
                                            "protected",
                                            "protected_error",
                                            "unprotected",
                                            "unprotected_error",
                                            "width_ratio",
                                            "width_ratio_of_noise_alone",
                                            "clamping_in_standard_errors",
                                            "withheld",
                                            "too_low"};

static void fill_sheet(tmi_sheet *sheet, const tmi_coverage *study)
{
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        const double numbers[] = {c->truth,
                                  tmi_tally_share(&c->own),
                                  tmi_tally_error(&c->own),
                                  tmi_tally_share(&c->bare),
                                  tmi_tally_error(&c->bare),
                                  width_ratio(c),
                                  noise_ratio(c),
                                  clamping_ratio(c),
                                  (double)c->withheld,
                                  remark_of(study, i) == TOO_LOW};
        tmi_text statistic, group;
        if (!tmi_coverage_counts(c)) continue;
        tmi_text_init(&statistic), tmi_text_init(&group);
        tmi_coverage_names(&statistic, &group, study, i);
        sheet->failed = sheet->failed || statistic.failed || group.failed;
        if (!sheet->failed) {
            tmi_sheet_words(sheet, statistic.bytes);
            tmi_sheet_words(sheet, group.bytes);
            for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) tmi_sheet_number(sheet, numbers[k]);
        }
        tmi_text_clear(&statistic), tmi_text_clear(&group);
    }
}

#define COLUMNS 8

static void put_share(tmi_text *text, const tmi_tally *t)
{
    if (t->given > 0) tmi_text_format(text, "%.3f±%.3f", tmi_tally_share(t), tmi_tally_error(t));
}

static void put_title(tmi_text *text, const tmi_coverage *study, size_t i)
{
    const tmi_result *r = &study->places.list[i];
    const tmi_plan_statistic *s = &study->plan->statistics[r->statistic];
    tmi_result_title(text, study->plan, r);
    for (size_t k = 0; k < s->by_count; k++)
        tmi_text_format(text, "%s%s", k ? ", " : ": ", tmi_cell_value(s->by, s->by_count, tmi_group_of(s, r->cell), k));
}

static void put_row(tmi_text_table *table, const tmi_coverage *study, size_t i)
{
    const tmi_coverage_cell *c = &study->cells[i];
    tmi_text texts[COLUMNS - 1];
    const char *cells[COLUMNS] = {0};
    for (size_t k = 0; k < COLUMNS - 1; k++) tmi_text_init(&texts[k]);
    put_title(&texts[0], study, i);
    put_share(&texts[1], &c->own);
    put_share(&texts[2], &c->bare);
    if (isnan(width_ratio(c))) tmi_text_put(&texts[3], "–");
    else tmi_text_format(&texts[3], "%.1f", width_ratio(c));
    if (isnan(noise_ratio(c))) tmi_text_put(&texts[4], "–");
    else tmi_text_format(&texts[4], "%.1f", noise_ratio(c));
    if (fabs(clamping_ratio(c)) >= 0.005) tmi_text_format(&texts[5], "%+.2f", clamping_ratio(c));
    if (c->withheld > 0) tmi_text_format(&texts[6], "%.0f %%", 100 * (double)c->withheld / (double)study->runs);
    for (size_t k = 0; k < COLUMNS - 1; k++) {
        cells[k] = texts[k].bytes;
        table->failed = table->failed || texts[k].failed;
    }
    cells[COLUMNS - 1] = remarks[remark_of(study, i)].mark;
    tmi_table_row(table, cells);
    for (size_t k = 0; k < COLUMNS - 1; k++) tmi_text_clear(&texts[k]);
}

static void write_text(tmi_text *text, const tmi_coverage *study)
{
    static const tmi_align align[COLUMNS] = {TMI_LEFT,  TMI_RIGHT, TMI_RIGHT, TMI_RIGHT,
                                             TMI_RIGHT, TMI_RIGHT, TMI_RIGHT, TMI_LEFT};
    static const char *const heading[COLUMNS] = {"", "protected", "unprotected", "width", "noise", "clamping", "withheld", ""};
    bool used[REMARKS] = {false};
    tmi_text_table table;
    tmi_table_init(&table, COLUMNS, align);
    tmi_text_format(text,
                    "%s: how often intervals cover the true value\n%lld samples of a public population of %lld, each "
                    "released and estimated\n\n",
                    study->plan->survey, (long long)study->runs, (long long)study->population);
    tmi_table_row(&table, heading);
    for (size_t i = 0; i < study->places.count; i++) {
        if (!tmi_coverage_counts(&study->cells[i])) continue;
        put_row(&table, study, i);
        used[remark_of(study, i)] = true;
    }
    tmi_table_write(text, &table);
    if (table.failed) text->failed = true;
    tmi_table_clear(&table);
    tmi_text_wrap(text, "", "",
                  "width: of the protected interval, divided by that of the unprotected one; noise: the same ratio if only the "
                  "noise of the estimate counted; clamping: bias from the plan's bounds, in released standard errors, if at "
                  "least 0.005; withheld: samples without a released interval");
    for (size_t k = TOO_LOW; k < REMARKS; k++) {
        tmi_text line;
        tmi_text_init(&line);
        tmi_text_format(&line, "%s: %s", remarks[k].mark, remarks[k].why);
        if (line.failed) text->failed = true;
        else if (used[k]) tmi_text_wrap(text, "", "  ", line.bytes);
        tmi_text_clear(&line);
    }
    for (size_t i = 0; i < study->places.count; i++) {
        tmi_text line;
        if (!tmi_coverage_is_absent(&study->cells[i])) continue;
        tmi_text_init(&line);
        put_title(&line, study, i);
        tmi_text_format(&line, ": no interval in any sample: %s", study->cells[i].reason ? study->cells[i].reason : "withheld");
        if (line.failed) text->failed = true;
        else tmi_text_wrap(text, "", "  ", line.bytes);
        tmi_text_clear(&line);
    }
    tmi_text_put(text, "Nothing was published and no ledger was charged: the population is public.\n");
}

/* ---- a picture ---- */

/* Of each cell a stroke from two errors below to two errors above, and a dash at the share itself. */
#define STROKE 6

static void add_stroke(double *x, double *y, double place, const tmi_tally *t)
{
    const double p = tmi_tally_share(t), reach = 2 * tmi_tally_error(t), half = 0.12;
    const double xs[STROKE] = {place, place, NAN, place - half, place + half, NAN};
    const double ys[STROKE] = {p - reach, fmin(p + reach, 1), NAN, p, p, NAN};
    for (int i = 0; i < STROKE; i++) x[i] = xs[i], y[i] = ys[i];
}

/* None where no number has an interval. */
static tamis_status write_svg(char **svg, const tmi_coverage *study, tamis_error *err)
{
    size_t cells = 0, room = STROKE * study->places.count;
    double *points = tmi_alloc(4 * room, sizeof *points), least = 0.9;
    if (!points) return tmi_fail_memory(err);
    double *x = points, *own = points + room, *bare_x = points + 2 * room, *bare = points + 3 * room;
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_coverage_cell *c = &study->cells[i];
        if (!tmi_coverage_counts(c)) continue;
        const double place = (double)++cells;
        add_stroke(x + STROKE * (cells - 1), own + STROKE * (cells - 1), place, &c->own);
        add_stroke(bare_x + STROKE * (cells - 1), bare + STROKE * (cells - 1), place + 0.3, &c->bare);
        least = fmin(least, tmi_tally_share(&c->own) - 0.02);
        if (c->bare.given > 0) least = fmin(least, tmi_tally_share(&c->bare) - 0.02);
    }
    const double said = tmi_number_nearest(study->plan->statistics[0].confidence);
    const double ends[] = {0, (double)cells + 1}, nominal[] = {said, said};
    bool same = true; /* confidence */
    for (size_t i = 0; i < study->plan->asked_count; i++)
        same = same && tmi_number_nearest(study->plan->statistics[i].confidence) == said;
    char subtitle[120];
    snprintf(subtitle, sizeof subtitle, "%lld samples; bars are two Monte Carlo standard errors to each side",
             (long long)study->runs);
    const tamis_plot_curve curves[] = {{.name = "protected", .x = x, .y = own, .count = STROKE * cells},
                                       {.name = "unprotected", .x = bare_x, .y = bare, .count = STROKE * cells},
                                       {.name = "stated", .x = ends, .y = nominal, .count = 2, .reference = true}};
    const tamis_plot plot = {.title = "How often intervals cover the true value",
                             .subtitle = subtitle,
                             .x = {.label = "number in the table, in order", .from = 0, .to = (double)cells + 1},
                             .y = {.label = "share of the samples", .from = fmax(least, 0), .to = 1},
                             .curves = curves,
                             .curve_count = same ? 3 : 2};
    const tamis_status status = cells > 0 ? tamis_plot_svg(svg, &plot, err) : TAMIS_OK;
    tmi_free(points);
    return status;
}

/* ---- all of it ---- */

tamis_status tamis_study_coverage(tamis_study **study, const tamis_plan *plan, const tamis_study_samples *samples,
                                  const tamis_study_options *options, tamis_error *err)
{
    tmi_coverage *counted = NULL;
    tmi_study_forms forms;
    tamis_status status;
    if (!study) return tmi_fail(err, TAMIS_INVALID, "study: NULL");
    *study = NULL;
    tmi_study_forms_init(&forms, sheet_columns, sizeof sheet_columns / sizeof *sheet_columns);
    TMI_TRY(tmi_coverage_new(&counted, plan, samples, options, err));
    write_text(&forms.text, counted);
    write_json(&forms.json, counted);
    fill_sheet(&forms.sheet, counted);
    TMI_TRY(write_svg(&forms.svg, counted, err));
    status = tmi_study_make(study, &forms, err);

done:
    tmi_study_forms_clear(&forms);
    tmi_coverage_free(counted);
    return status;
}
