#include "report/results.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "num/number.h"
#include "plan/json.h"
#include "plan/json_fields.h"
#include "plan/names.h"
#include "report/bound_words.h"
#include "report/promise.h"
#include "report/report_words.h"

const char *tmi_statistic_name(const tmi_plan_statistic *s) { return tmi_statistic_kind_name(s->kind); }

/* The column, A/B of a ratio, or `none`. */
static void put_column_name(tmi_text *text, const tmi_plan_statistic *s, const char *before, const char *none)
{
    tmi_text_format(text, "%s%s", before, s->column ? s->column->name : none);
    if (s->second) tmi_text_format(text, "%s%s", s->kind == TMI_CORRELATION ? ", " : "/", s->second->name);
}

size_t tmi_group_of(const tmi_plan_statistic *s, size_t cell)
{
    return s->model ? cell / s->model->term_count : s->at_count > 0 ? cell / s->at_count : cell;
}

void tmi_term_text(tmi_text *text, const tmi_plan_statistic *s, size_t cell)
{
    char *name = s->model ? tmi_model_term_name(s->model, cell % s->model->term_count) : NULL;
    if (name) tmi_text_put(text, name);
    else if (s->model) text->failed = true;
    tmi_free(name);
}

void tmi_p_text(tmi_text *text, double p)
{
    if (p < 0.0001) tmi_text_put(text, "< 0.0001");
    else tmi_text_format(text, p < 0.01 ? "%.4f" : "%.2f", p);
}

void tmi_model_text(tmi_text *text, const tmi_plan_statistic *s, const tmi_result *terms)
{
    const tmi_plan_model *m = s->model;
    const char *before = "";
    if (!isnan(terms->r2)) {
        tmi_text_format(text, "R\u00b2 %.2f (without interval)", terms->r2);
        before = "; ";
    }
    for (size_t j = 1; j < m->term_count; j++) {
        if (isnan(terms[j].joint_p) || m->terms[j - 1].predictor[0] == m->terms[j].predictor[0]) continue;
        tmi_text_format(text, "%sall terms of %s: p ", before, m->on[m->terms[j].predictor[0]]->name);
        tmi_p_text(text, terms[j].joint_p);
        before = "; ";
    }
}

double tmi_at_of(const tmi_plan_statistic *s, size_t cell)
{
    return s->at_count > 0 ? tmi_number_nearest(s->at[cell % s->at_count]) : TMI_NULL;
}

static double line_of(const tmi_plan_statistic *s) { return s->limit ? tmi_number_nearest(s->limit) : TMI_NULL; }

/* "sex: m minus f", "sex: f divided by m", "age: -1 [0,30) + 2 [30,50) - 1 [50,100]", "minus share of vote=B",
 * "since wave-2025-release"; nothing of other statistics. */
static void put_between(tmi_text *text, const tmi_plan_statistic *s)
{
    const tmi_plan_contrast *c = s->contrast;
    if (!tmi_is_contrast(s->kind)) return;
    if (c->since) {
        tmi_text_format(text, "since %s", tmi_last_name(c->since));
        return;
    }
    if (!c->across) {
        const tmi_plan_compared *second = &c->compared[1];
        tmi_text_format(text, "minus %s of %s", tmi_statistic_kind_name(second->kind),
                        second->column ? second->column->name : "units");
        if (second->second) tmi_text_format(text, "/%s", second->second->name);
        return;
    }
    tmi_text_format(text, "%s: ", c->across->name);
    for (size_t k = 0; k < c->term_count; k++) {
        const char *value = c->across->values[c->terms[k].code];
        const double weight = tmi_number_nearest(c->terms[k].weight);
        if (s->kind != TMI_CONTRAST_WEIGHTED) {
            tmi_text_format(text, "%s%s", k == 0 ? "" : s->kind == TMI_CONTRAST_QUOTIENT ? " divided by " : " minus ", value);
            continue;
        }
        tmi_text_put(text, k == 0 ? (weight < 0 ? "-" : "") : weight < 0 ? " - " : " + ");
        tmi_text_real(text, fabs(weight));
        tmi_text_format(text, " %s", value);
    }
}

void tmi_contrast_text(tmi_text *text, const tmi_plan_statistic *s)
{
    if (tmi_is_contrast(s->kind)) tmi_text_format(text, "%s, ", tmi_statistic_kind_name(s->contrast->compared[0].kind));
    put_between(text, s);
}

/* "quantile 0.25", "share_below 12000", "poverty 0.6"; of several quantiles the name alone, unless one of them is meant. */
static void put_name(tmi_text *text, const tmi_plan_statistic *s, double at)
{
    if (s->model) tmi_text_format(text, "%s ", tmi_model_family_name(s->model->family));
    tmi_text_put(text, tmi_statistic_name(s));
    const double number = s->kind == TMI_QUANTILE ? at : line_of(s);
    if (isnan(number)) return;
    tmi_text_put(text, " ");
    tmi_text_real(text, number);
}

static void put_title(tmi_text *text, const tamis_plan *plan, const tmi_plan_statistic *s, double at)
{
    const char *counted = tmi_counts_rows(plan) ? "rows" : "units";
    if (s->contrast && s->contrast->since) tmi_text_put(text, "change in ");
    if (tmi_is_contrast(s->kind)) /* its words say the rest */
        tmi_text_put(text, tmi_statistic_kind_name(s->contrast->compared[0].kind));
    else put_name(text, s, at);
    if (s->kind == TMI_TABLE || s->kind == TMI_HISTOGRAM) tmi_text_format(text, " of %s", counted);
    else put_column_name(text, s, " of ", counted);
    if (tmi_is_contrast(s->kind)) tmi_text_put(text, s->contrast->across ? ", " : " ");
    put_between(text, s);
    for (size_t k = 0; s->model && k < s->model->on_count; k++)
        tmi_text_format(text, "%s%s", k > 0 ? ", " : " on ", s->model->on[k]->name);
    if (s->where) tmi_text_format(text, " where %s", s->where->name);
    for (size_t i = 0; i < s->by_count; i++) tmi_text_format(text, "%s%s", i ? ", " : " by ", s->by[i]->name);
}

void tmi_statistic_title(tmi_text *text, const tamis_plan *plan, size_t statistic)
{
    const tmi_plan_statistic *s = &plan->statistics[statistic];
    put_title(text, plan, s, s->at_count == 1 ? tmi_at_of(s, 0) : TMI_NULL);
}

void tmi_result_title(tmi_text *text, const tamis_plan *plan, const tmi_result *result)
{
    const tmi_plan_statistic *s = &plan->statistics[result->statistic];
    put_title(text, plan, s, tmi_at_of(s, result->cell));
    if (s->model) tmi_text_put(text, ": ");
    tmi_term_text(text, s, result->cell);
}

/* ---- JSON ---- */

void tmi_put_group(tmi_json_out *out, const tmi_plan_column *const *by, size_t by_count, size_t cell)
{
    tmi_json_open(out, '{');
    for (size_t i = 0; i < by_count; i++) tmi_json_add_string(out, by[i]->name, tmi_cell_value(by, by_count, cell, i));
    tmi_json_close(out, '}');
}

static double cv_of(const tmi_result *result) { return result->estimate != 0 ? result->se / fabs(result->estimate) : TMI_NULL; }

static const char *covers(const tmi_results *r) { return r->schedule ? "sampling and noise" : "sampling"; }

static void put_interval(tmi_json_out *out, const tmi_results *r, const tmi_result *result)
{
    tmi_json_key(out, "interval");
    if (isnan(result->lower)) {
        tmi_json_put_null(out);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_real(out, "lower", result->lower);
    tmi_json_add_real(out, "upper", result->upper);
    tmi_json_add_real(out, "confidence", tmi_number_nearest(r->plan->statistics[result->statistic].confidence));
    tmi_json_add_string(out, "covers", covers(r));
    tmi_json_close(out, '}');
}

void tmi_result_column(tmi_text *text, const tmi_plan_statistic *s)
{
    if (s->kind == TMI_HISTOGRAM) tmi_text_put(text, s->by[s->by_count - 1]->name);
    else if (s->column) put_column_name(text, s, "", "");
}

static void put_column(tmi_json_out *out, const tmi_plan_statistic *s)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_result_column(&name, s);
    if (name.failed) out->text->failed = true;
    tmi_json_add_string(out, "column", name.length ? name.bytes : NULL);
    tmi_text_clear(&name);
}

static size_t bins_of(const tmi_plan_statistic *s) { return s->kind == TMI_HISTOGRAM ? s->by[s->by_count - 1]->value_count : 1; }

static void put_bin(tmi_json_out *out, const tmi_plan_column *cuts, size_t bin)
{
    tmi_json_add_open(out, "bin", '{');
    tmi_json_add_real(out, "from", tmi_number_nearest(cuts->ends[bin]));
    tmi_json_add_real(out, "to", tmi_number_nearest(cuts->ends[bin + 1]));
    tmi_json_close(out, '}');
}

static void put_notes(tmi_json_out *out, const tmi_result *result)
{
    if (result->note_count == 0) return;
    tmi_json_add_open(out, "notes", '[');
    for (size_t i = 0; i < result->note_count; i++) tmi_json_put_string(out, result->notes[i]);
    tmi_json_close(out, ']');
}

static void put_shrinkage(tmi_json_out *out, const tmi_shrunk *s)
{
    if (isnan(s->weight)) return;
    tmi_json_add_open(out, "shrinkage", '{');
    tmi_json_add_real(out, "direct", s->direct);
    tmi_json_add_real(out, "direct_se", s->direct_se);
    tmi_json_add_real(out, "weight_of_direct", s->weight);
    tmi_json_add_real(out, "towards", s->towards);
    tmi_json_add_real(out, "bias_sd", s->bias);
    tmi_json_close(out, '}');
}

/* What is compared: "of" which statistic, and "between" which values, with "weights" unless they are 1 and -1; or "minus" which
 * other statistic. */
static void put_contrast(tmi_json_out *out, const tmi_plan_statistic *s)
{
    const tmi_plan_contrast *c = s->contrast;
    tmi_json_add_string(out, "of", tmi_statistic_kind_name(c->compared[0].kind));
    if (c->since) {
        tmi_json_add_string(out, "since", tmi_last_name(c->since));
        return;
    }
    if (c->across) {
        tmi_put_between(out, c);
        if (s->kind != TMI_CONTRAST_WEIGHTED) return;
        tmi_json_add_open(out, "weights", '[');
        for (size_t k = 0; k < c->term_count; k++) tmi_json_put_real(out, tmi_number_nearest(c->terms[k].weight));
        tmi_json_close(out, ']');
        return;
    }
    const tmi_plan_statistic second = {.column = c->compared[1].column, .second = c->compared[1].second};
    tmi_json_add_open(out, "minus", '{');
    tmi_json_add_string(out, "statistic", tmi_statistic_kind_name(c->compared[1].kind));
    put_column(out, &second);
    tmi_json_close(out, '}');
}

/* ---- models ---- */

static void put_term(tmi_json_out *out, const tmi_results *r, const tmi_result *x)
{
    const tmi_plan_statistic *s = &r->plan->statistics[x->statistic];
    tmi_text name;
    tmi_text_init(&name);
    tmi_term_text(&name, s, x->cell);
    tmi_json_open(out, '{');
    tmi_json_add_taken(out, "term", &name);
    tmi_json_add_real(out, "estimate", x->estimate);
    tmi_json_add_real(out, "se", x->se);
    tmi_json_add_real(out, "sampling_se", x->sampling_se);
    tmi_json_add_real(out, "noise_sd", x->noise_sd);
    put_interval(out, r, x);
    tmi_json_add_real(out, "p", x->p);
    if (s->model->family != TMI_LINEAR) {
        tmi_json_add_open(out, "exp", '{');
        tmi_json_add_real(out, "estimate", exp(x->estimate));
        tmi_json_add_real(out, "lower", exp(x->lower));
        tmi_json_add_real(out, "upper", exp(x->upper));
        tmi_json_close(out, '}');
    }
    if (x->reason) tmi_json_add_string(out, "reason", x->reason);
    put_notes(out, x);
    tmi_json_close(out, '}');
}

/* The tests of all terms of a category at once. */
static void put_joint(tmi_json_out *out, const tmi_plan_model *m, const tmi_result *terms)
{
    bool any = false;
    for (size_t j = 0; j < m->term_count; j++) any = any || !isnan(terms[j].joint_p);
    if (!any) return;
    tmi_json_add_open(out, "joint", '{');
    for (size_t j = 0; j < m->term_count; j++) {
        const size_t k = m->terms[j].predictor[0];
        if (isnan(terms[j].joint_p) || (j > 0 && m->terms[j - 1].predictor[0] == k)) continue;
        tmi_json_add_open(out, m->on[k]->name, '{');
        tmi_json_add_real(out, "p", terms[j].joint_p);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, '}');
}

/* All terms of one group, which follow each other. */
static void put_model(tmi_json_out *out, const tmi_results *r, const tmi_measured_in *measured_in, const tmi_result *terms)
{
    const tmi_plan_statistic *s = &r->plan->statistics[terms->statistic];
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "statistic", tmi_statistic_name(s));
    put_column(out, s);
    tmi_json_add_string(out, "family", tmi_model_family_name(s->model->family));
    tmi_json_key(out, "group");
    tmi_put_group(out, s->by, s->by_count, tmi_group_of(s, terms->cell));
    if (s->where) tmi_json_add_string(out, "where", s->where->name);
    tmi_json_add_open(out, "terms", '[');
    for (size_t j = 0; j < s->model->term_count; j++) put_term(out, r, &terms[j]);
    tmi_json_close(out, ']');
    put_joint(out, s->model, terms);
    if (s->model->family == TMI_LINEAR) tmi_json_add_real(out, "r2", terms->r2);
    int64_t df = -1; /* the same for all terms that are determined */
    for (size_t j = 0; j < s->model->term_count && df < 0; j++) df = terms[j].df;
    tmi_json_key(out, "df");
    if (df < 0) tmi_json_put_null(out);
    else tmi_json_put_integer(out, df);
    if (r->schedule) tmi_put_measured_in(out, measured_in, terms->statistic);
    tmi_json_close(out, '}');
}

static void put_result(tmi_json_out *out, const tmi_results *r, const tmi_measured_in *measured_in, const tmi_result *result)
{
    const tmi_plan_statistic *s = &r->plan->statistics[result->statistic];
    if (s->model) {
        if (result->cell % s->model->term_count == 0) put_model(out, r, measured_in, result);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_add_string(out, "statistic", tmi_statistic_name(s));
    put_column(out, s);
    if (tmi_is_contrast(s->kind)) put_contrast(out, s);
    tmi_json_key(out, "group");
    tmi_put_group(out, s->by, s->by_count - (s->kind == TMI_HISTOGRAM), tmi_group_of(s, result->cell) / bins_of(s));
    if (s->at_count > 0) tmi_json_add_real(out, "at", tmi_at_of(s, result->cell));
    if (s->limit) tmi_json_add_real(out, "line", line_of(s));
    if (s->kind == TMI_HISTOGRAM) put_bin(out, s->by[s->by_count - 1], result->cell % bins_of(s));
    if (s->where) tmi_json_add_string(out, "where", s->where->name);
    tmi_json_add_real(out, "estimate", result->estimate);
    tmi_json_add_real(out, "se", result->se);
    tmi_json_add_real(out, "sampling_se", result->sampling_se);
    tmi_json_add_real(out, "noise_sd", result->noise_sd);
    tmi_json_add_real(out, "cv", cv_of(result));
    tmi_json_key(out, "df");
    if (result->df < 0) tmi_json_put_null(out);
    else tmi_json_put_integer(out, result->df);
    put_interval(out, r, result);
    if (!isnan(result->bias)) tmi_json_add_real(out, "bias_at_most", result->bias);
    put_shrinkage(out, &result->shrunk);
    if (r->schedule) tmi_put_measured_in(out, measured_in, result->statistic);
    if (result->reason) tmi_json_add_string(out, "reason", result->reason);
    if (result->outside_range) tmi_json_add_boolean(out, "outside_range", true);
    if (!isnan(result->clamped)) {
        tmi_json_add_integer(out, "clamped_contributions", result->clamped_rows);
        tmi_json_add_real(out, "clamping", result->clamped);
    }
    put_notes(out, result);
    tmi_json_close(out, '}');
}

static void put_promises(tmi_json_out *out, const tmi_results *r)
{
    static const char *const keys[] = {"guarantee", "spent", "left"};
    if (r->schedule) {
        tmi_json_key(out, "guarantee");
        tmi_put_guarantee(out, r->schedule, &r->promised->outsider);
        tmi_json_key(out, "spent");
        if (r->account->has_spending) tmi_put_spending(out, r->account, &r->account->spent);
        else tmi_put_spent(out, r->schedule);
        tmi_json_key(out, "left");
        tmi_put_spending(out, r->account, &r->account->left);
        tmi_json_key(out, "ledger");
        tmi_put_entry(out, r->account);
        tmi_lines lines = {0};
        tmi_list_warnings(&lines, r->schedule, r->account);
        tmi_json_add_lines(out, "warnings", &lines);
        tmi_list_not_covered(&lines, r->schedule);
        tmi_json_add_lines(out, "not_covered", &lines);
        return;
    }
    for (size_t i = 0; i < 3; i++) tmi_json_add_null(out, keys[i]);
    if (r->plan->privacy.id) tmi_json_add_integer(out, "rows_beyond_rows_per_unit", r->rows_beyond);
    if (r->plan->design.max_weight) tmi_json_add_integer(out, "weights_above_max_weight", r->weights_above);
    if (r->plan->design.max_unit_weight) {
        tmi_json_add_integer(out, "units_above_max_unit_weight", r->units_above);
        tmi_json_add_real(out, "weight_beyond_max_unit_weight", r->weight_beyond);
    }
    if (r->stages.compared) {
        tmi_json_add_open(out, "clusters", '{');
        tmi_json_add_integer(out, "other_sample", r->stages.other_sample);
        tmi_json_add_integer(out, "below_smallest", r->stages.small);
        tmi_json_add_integer(out, "rows_differ", r->stages.mixed);
        tmi_json_close(out, '}');
    }
    if (r->psus.listed) {
        tmi_json_add_open(out, "psus", '{');
        tmi_json_add_integer(out, "rows_not_listed", r->psus.rows);
        tmi_json_add_integer(out, "clusters_without_rows", r->psus.clusters);
        tmi_json_close(out, '}');
    }
    tmi_json_add_open(out, "columns", '{');
    for (size_t i = 0; i < r->plan->column_count; i++) {
        const tmi_plan_column *column = &r->plan->columns[i];
        if (!r->facts[i].used) continue;
        tmi_json_add_open(out, column->name, '{');
        tmi_json_add_integer(out, column->is_number ? "missing" : "missing_or_not_listed", r->facts[i].missing);
        if (column->is_number) tmi_json_add_integer(out, "outside_bounds", r->facts[i].outside_bounds);
        if (column->recode) tmi_json_add_integer(out, "contradicting", r->facts[i].contradicting);
        if (column->unit_contribution) {
            tmi_json_add_integer(out, "units_above_unit_contribution", r->facts[i].units_above);
            tmi_json_add_real(out, "share_beyond_unit_contribution", r->facts[i].beyond);
        }
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, '}');
}

/* Who watches a release while it is made. */
static tmi_watch *watch_of(const tmi_results *r) { return r->schedule ? r->schedule->watch : NULL; }

static void put_results(tmi_json_out *out, const tmi_results *r)
{
    tmi_measured_in measured_in = {0};
    if (r->schedule && !tmi_measured_in_init(&measured_in, r->schedule)) out->text->failed = true;
    tmi_json_open(out, '{');
    tmi_json_add_integer(out, "tamis", 1);
    tmi_json_add_string(out, "survey", r->plan->survey);
    if (r->plan->wave.name) tmi_json_add_string(out, "wave", r->plan->wave.name);
    tmi_json_add_boolean(out, "protected", r->schedule != NULL);
    tmi_json_add_open(out, "results", '[');
    for (size_t i = 0; i < r->count && !out->text->failed; i++) put_result(out, r, &measured_in, &r->list[i]);
    tmi_json_close(out, ']');
    if (r->schedule) tmi_put_tables_measured_in(out, &measured_in);
    if (r->schedule) tmi_put_bounds_found(out, r->schedule);
    put_promises(out, r);
    tmi_json_close(out, '}');
    tmi_measured_in_clear(&measured_in);
}

tamis_status tmi_results_json(char **text, const tmi_results *r, tamis_error *err)
{
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    json.watch = watch_of(r);
    tmi_json_out_init(&out, &json, true);
    put_results(&out, r);
    tmi_text_put(&json, "\n");
    return tmi_text_take(text, &json, err);
}

tamis_status tmi_results_shown_json(char **text, const tmi_results *r, tamis_error *err)
{
    static const char *const keys[TMI_RESULT_CELLS] = {NULL, "estimate", "se", "interval"};
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '{');
    tmi_json_add_open(&out, "results", '[');
    for (size_t i = 0; i < r->count && !json.failed; i++) {
        const tmi_result *x = &r->list[i];
        const tmi_plan_statistic *s = &r->plan->statistics[x->statistic];
        const char quality[2] = {x->known ? '\0' : tmi_quality(r->plan, x), '\0'};
        tmi_text words, cells[TMI_RESULT_CELLS];
        tmi_text_init(&words);
        for (size_t k = 0; k < TMI_RESULT_CELLS; k++) tmi_text_init(&cells[k]);
        tmi_result_title(&words, r->plan, x);
        tmi_result_words(cells, r, x);
        tmi_json_open(&out, '{');
        tmi_json_add_taken(&out, "words", &words);
        tmi_json_key(&out, "group");
        tmi_put_group(&out, s->by, s->by_count, tmi_group_of(s, x->cell));
        for (size_t k = 1; k < TMI_RESULT_CELLS; k++) tmi_json_add_taken(&out, keys[k], &cells[k]);
        tmi_json_add_string(&out, "quality", *quality ? quality : NULL);
        tmi_json_close(&out, '}');
        tmi_text_clear(&cells[0]);
    }
    tmi_json_close(&out, ']');
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}

tamis_status tmi_results_tree(tmi_value **tree, const tmi_results *r, tamis_error *err)
{
    tmi_json_tree made;
    tmi_json_tree_begin(&made, watch_of(r));
    put_results(&made.out, r);
    return tmi_json_tree_end(tree, &made, err);
}

/* ---- CSV ---- */

/* A spreadsheet takes a text that begins with one of = + - @ for a formula, quoted or not; the usual cure is an
 * apostrophe before it. Signed digits are harmless and stay what they are. */
static bool is_formula(const char *field)
{
    if (field[0] == '=' || field[0] == '@') return true;
    return (field[0] == '+' || field[0] == '-') && field[1 + strspn(field + 1, "0123456789.")] != '\0';
}

void tmi_csv_field(tmi_text *csv, const char *before, const char *text, size_t length)
{
    bool quoted = false;
    for (size_t i = 0; i < length; i++) quoted = quoted || strchr(",\"\r\n", text[i]);
    tmi_text_format(csv, "%s%s", quoted ? "\"" : "", before);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') tmi_text_put(csv, "\"");
        tmi_text_add(csv, text + i, 1);
    }
    if (quoted) tmi_text_put(csv, "\"");
}

static void put_field(tmi_text *csv, const char *field)
{
    tmi_csv_field(csv, is_formula(field) ? "'" : "", field, strlen(field));
}

static void put_csv_real(tmi_text *csv, double x)
{
    tmi_text_put(csv, ",");
    if (isfinite(x)) tmi_text_real(csv, x);
}

/* Two cuts of a number have one name, and no statistic has both. */
static bool is_by(const tmi_plan_statistic *s, const char *name, size_t *at)
{
    for (*at = 0; *at < s->by_count; (*at)++) {
        if (strcmp(s->by[*at]->name, name) == 0) return true;
    }
    return false;
}

/* The names by which any statistic is grouped, each a column of the file; their number. In the order in which statistics name
 * them: the plan of a certificate has its columns in another order than the agency's file. */
size_t tmi_group_columns(const char **groups, const tamis_plan *plan)
{
    size_t count = 0, most = 0;
    for (size_t i = 0; !groups && i < plan->asked_count; i++) most += plan->statistics[i].by_count;
    if (!groups) return most;
    for (size_t i = 0; i < plan->asked_count; i++) {
        for (size_t j = 0; j < plan->statistics[i].by_count; j++) {
            const char *name = plan->statistics[i].by[j]->name;
            size_t c = 0;
            while (c < count && strcmp(groups[c], name) != 0) c++;
            if (c == count) groups[count++] = name;
        }
    }
    return count;
}

/* Columns of statistics of a distribution, where the plan asks for some. */
static bool has_at(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].at_count > 0) return true;
    return false;
}

static bool has_line(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].limit) return true;
    return false;
}

bool tmi_has_contrasts(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++)
        if (tmi_is_contrast(plan->statistics[i].kind)) return true;
    return false;
}

bool tmi_has_models(const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].model) return true;
    return false;
}

static const char *const own_columns[] = {"statistic", "column",      "where",         "estimate",
                                          "se",        "sampling_se", "noise_sd",      "cv",
                                          "df",        "lower",       "upper",         "confidence",
                                          "covers",    "reason",      "outside_range", "notes"};
#define OWN_BEFORE 3 /* the groups are between these and the others */
#define OWN_COLUMNS (sizeof own_columns / sizeof *own_columns)

static bool is_own(const char *name)
{
    for (size_t i = 0; i < OWN_COLUMNS; i++)
        if (strcmp(own_columns[i], name) == 0) return true;
    return strcmp(name, "at") == 0 || strcmp(name, "line") == 0 || strcmp(name, "contrast") == 0 ||
           strcmp(name, "quality") == 0 || strcmp(name, "term") == 0 || strcmp(name, "p") == 0;
}

static bool is_group(const char *name, const char *const *groups, size_t group_count)
{
    for (size_t i = 0; i < group_count; i++)
        if (strcmp(groups[i], name) == 0) return true;
    return false;
}

/* A group column with the name of one of the file's own gets by_ before it, again while another group has that name. */
void tmi_group_column_name(tmi_text *text, const char *const *groups, size_t group_count, size_t which)
{
    if (!is_own(groups[which])) {
        tmi_text_put(text, groups[which]);
        return;
    }
    bool free = false;
    for (size_t times = 1; !free && !text->failed; times++) {
        tmi_text name;
        tmi_text_init(&name);
        for (size_t i = 0; i < times; i++) tmi_text_put(&name, "by_");
        tmi_text_put(&name, groups[which]);
        if (name.failed) text->failed = true;
        free = !name.failed && !is_group(name.bytes, groups, group_count);
        if (free) tmi_text_put(text, name.bytes);
        tmi_text_clear(&name);
    }
}

static void put_group_name(tmi_text *csv, const char *const *groups, size_t group_count, size_t which)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_group_column_name(&name, groups, group_count, which);
    if (name.failed) csv->failed = true;
    else put_field(csv, name.bytes);
    tmi_text_clear(&name);
}

static void put_csv_column(tmi_text *csv, const tmi_plan_statistic *s)
{
    tmi_text name;
    tmi_text_init(&name);
    if (s->column) put_column_name(&name, s, "", "");
    if (name.failed) csv->failed = true;
    else if (name.bytes) put_field(csv, name.bytes);
    tmi_text_clear(&name);
}

static void put_csv_contrast(tmi_text *csv, const tmi_plan_statistic *s)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_contrast_text(&words, s);
    tmi_text_put(csv, ",");
    if (words.failed) csv->failed = true;
    else if (words.bytes) put_field(csv, words.bytes);
    tmi_text_clear(&words);
}

static void put_csv_term(tmi_text *csv, const tmi_plan_statistic *s, size_t cell)
{
    tmi_text name;
    tmi_text_init(&name);
    tmi_term_text(&name, s, cell);
    tmi_text_put(csv, ",");
    if (name.failed) csv->failed = true;
    else if (name.bytes) put_field(csv, name.bytes);
    tmi_text_clear(&name);
}

/* One field. */
static void put_csv_notes(tmi_text *csv, const tmi_result *result)
{
    tmi_text notes;
    tmi_text_init(&notes);
    for (size_t i = 0; i < result->note_count; i++) tmi_text_format(&notes, "%s%s", i ? "; " : "", result->notes[i]);
    if (notes.failed) csv->failed = true;
    else if (notes.bytes) put_field(csv, notes.bytes);
    tmi_text_clear(&notes);
}

tamis_status tmi_results_csv(char **text, const tmi_results *r, tamis_error *err)
{
    const tamis_plan *plan = r->plan;
    const char *groups[TMI_MAX_COLUMNS];
    size_t group_count = tmi_group_columns(groups, plan);
    tmi_text csv;
    tmi_text_init(&csv);
    csv.watch = watch_of(r);
    for (size_t i = 0; i < OWN_BEFORE; i++) tmi_text_format(&csv, "%s%s", i ? "," : "", own_columns[i]);
    for (size_t c = 0; c < group_count; c++) {
        tmi_text_put(&csv, ",");
        put_group_name(&csv, groups, group_count, c);
    }
    if (tmi_has_contrasts(plan)) tmi_text_put(&csv, ",contrast");
    if (tmi_has_models(plan)) tmi_text_put(&csv, ",term,p");
    if (has_at(plan)) tmi_text_put(&csv, ",at");
    if (has_line(plan)) tmi_text_put(&csv, ",line");
    for (size_t i = OWN_BEFORE; i < OWN_COLUMNS; i++) tmi_text_format(&csv, ",%s", own_columns[i]);
    tmi_text_put(&csv, "\n");
    for (size_t i = 0; i < r->count && !csv.failed; i++) {
        const tmi_result *result = &r->list[i];
        const tmi_plan_statistic *s = &plan->statistics[result->statistic];
        tmi_text_format(&csv, "%s,", tmi_statistic_name(s));
        put_csv_column(&csv, s);
        tmi_text_put(&csv, ",");
        if (s->where) put_field(&csv, s->where->name);
        for (size_t c = 0; c < group_count; c++) {
            size_t at;
            tmi_text_put(&csv, ",");
            if (is_by(s, groups[c], &at)) put_field(&csv, tmi_cell_value(s->by, s->by_count, tmi_group_of(s, result->cell), at));
        }
        if (tmi_has_contrasts(plan)) put_csv_contrast(&csv, s);
        if (tmi_has_models(plan)) put_csv_term(&csv, s, result->cell);
        if (tmi_has_models(plan)) put_csv_real(&csv, result->p);
        if (has_at(plan)) put_csv_real(&csv, tmi_at_of(s, result->cell));
        if (has_line(plan)) put_csv_real(&csv, line_of(s));
        put_csv_real(&csv, result->estimate);
        put_csv_real(&csv, result->se);
        put_csv_real(&csv, result->sampling_se);
        put_csv_real(&csv, result->noise_sd);
        put_csv_real(&csv, cv_of(result));
        put_csv_real(&csv, result->df < 0 ? TMI_NULL : (double)result->df);
        put_csv_real(&csv, result->lower);
        put_csv_real(&csv, result->upper);
        put_csv_real(&csv, isnan(result->lower) ? TMI_NULL : tmi_number_nearest(s->confidence));
        tmi_text_format(&csv, ",%s,", isnan(result->lower) ? "" : covers(r));
        if (result->reason) put_field(&csv, result->reason);
        tmi_text_put(&csv, result->outside_range ? ",true," : ",,");
        put_csv_notes(&csv, result);
        tmi_text_put(&csv, "\n");
    }
    return tmi_text_take(text, &csv, err);
}
