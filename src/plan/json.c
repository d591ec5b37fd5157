#include "plan/json.h"

#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "num/number.h"
#include "plan/law.h"
#include "plan/names.h"

/* ---- pieces ---- */

static void put_exact(tmi_json_out *out, const tamis_number *number)
{
    char *text = NULL;
    if (tamis_number_write(&text, number, NULL) != TAMIS_OK) out->text->failed = true;
    else tmi_json_put_string(out, text);
    tamis_free(text);
}

static void exact(tmi_json_out *out, const char *key, const tamis_number *number)
{
    if (!number) return;
    tmi_json_key(out, key);
    put_exact(out, number);
}

static void text(tmi_json_out *out, const char *key, const char *value)
{
    if (!value) return;
    tmi_json_key(out, key);
    tmi_json_put_string(out, value);
}

static void whole(tmi_json_out *out, const char *key, int64_t value)
{
    if (value == 0) return;
    tmi_json_key(out, key);
    tmi_json_put_integer(out, value);
}

static void yes(tmi_json_out *out, const char *key, bool value)
{
    if (!value) return;
    tmi_json_key(out, key);
    tmi_json_put_boolean(out, true);
}

static void begin(tmi_json_out *out, const char *key, char bracket)
{
    tmi_json_key(out, key);
    tmi_json_open(out, bracket);
}

/* The value of a grid point. */
static void put_point(tmi_json_out *out, const tmi_plan_column *column, int64_t point)
{
    tamis_number *k = NULL, *value = NULL;
    if (tmi_number_ratio(&k, point, 1, NULL) == TAMIS_OK && tmi_number_mul(&value, k, column->step, NULL) == TAMIS_OK)
        put_exact(out, value);
    else out->text->failed = true;
    tamis_number_free(k);
    tamis_number_free(value);
}

static const char *last_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static void put_loss(tmi_json_out *out, const tmi_plan_loss *loss)
{
    exact(out, "epsilon", loss->epsilon);
    exact(out, "delta", loss->delta);
    exact(out, "rho", loss->rho);
}

/* ---- design ---- */

static void put_sizes(tmi_json_out *out, const tmi_plan_stratum *s, tmi_design_kind kind)
{
    whole(out, "population", s->population);
    if (kind != TMI_DESIGN_CENSUS) whole(out, "sample", s->sample);
    exact(out, "rate", s->rate);
}

/* What describes the design; with the sizes of `s`, unless they stand under the strata (NULL). */
static void put_kind(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    begin(out, tmi_design_kind_name(d->kind), '{');
    text(out, "probability", d->probability);
    text(out, "frame", last_name(d->frame));
    text(out, "method", d->method);
    if (d->kind == TMI_DESIGN_SYSTEMATIC) text(out, "order", d->random_order ? "random" : "public");
    if (d->kind == TMI_DESIGN_TWO_STAGE) {
        begin(out, "first", '{');
        text(out, "by", d->cluster);
        if (s) put_sizes(out, s, d->kind);
        tmi_json_close(out, '}');
        begin(out, "second", '{');
        text(out, "population", d->second_population);
        whole(out, "sample", d->second_take);
        text(out, "sample", d->second_sample);
        tmi_json_close(out, '}');
    } else {
        text(out, d->kind == TMI_DESIGN_WEIGHTS ? "cluster" : "by", d->cluster);
        if (s) put_sizes(out, s, d->kind);
    }
    whole(out, "smallest", d->smallest);
    whole(out, "largest", d->largest);
    text(out, "strata", d->strata_label);
    exact(out, "deff", d->deff);
    tmi_json_close(out, '}');
}

static void put_design(tmi_json_out *out, const tmi_plan_design *d)
{
    if (!d->by) {
        put_kind(out, d, &d->strata[0]);
    } else {
        begin(out, "stratified", '{');
        text(out, "by", d->by->name);
        begin(out, "within", '{');
        put_kind(out, d, NULL);
        tmi_json_close(out, '}');
        begin(out, "strata", '{');
        for (size_t h = 0; h < d->stratum_count; h++) {
            begin(out, d->strata[h].name, '{');
            put_sizes(out, &d->strata[h], d->kind);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, '}');
        tmi_json_close(out, '}');
    }
    text(out, "weight", d->weight);
    exact(out, "max_weight", d->max_weight);
    exact(out, "weight_step", d->weight_step);
    if (d->weights_final) text(out, "weights_are", "final");
    yes(out, "nonresponse", d->nonresponse);
}

/* ---- source ---- */

static void put_source(tmi_json_out *out, const tmi_plan_source *source, bool frozen)
{
    if (source->connection_count > 0) {
        begin(out, "postgres", '{');
        if (frozen) {
            begin(out, "connections", '[');
            for (size_t i = 0; i < source->connection_count; i++) {
                char hash[TMI_SHA256_TEXT];
                tmi_sha256_text(hash, source->connections[i], strlen(source->connections[i]));
                tmi_json_put_string(out, hash);
            }
            tmi_json_close(out, ']');
        }
        text(out, "table", source->table);
        tmi_json_close(out, '}');
    } else {
        begin(out, "files", '[');
        for (size_t i = 0; i < source->file_count; i++)
            tmi_json_put_string(out, frozen ? source->names[i] : last_name(source->names[i]));
        tmi_json_close(out, ']');
        text(out, "table", source->table);
    }
    if (source->sharded_by_unit) text(out, "sharded_by", "id");
}

/* ---- columns ---- */

/* from, to or step: one number, or one a stratum. */
static void put_bound(tmi_json_out *out, const char *key, const tamis_number *all, const tamis_plan *plan,
                      const tmi_plan_column *column)
{
    if (!column->by_stratum) {
        exact(out, key, all);
        return;
    }
    begin(out, key, '{');
    for (size_t h = 0; h < plan->design.stratum_count; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        exact(out, plan->design.strata[h].name, all == column->from ? r->from : all == column->to ? r->to : r->step);
    }
    tmi_json_close(out, '}');
}

static void put_missing(tmi_json_out *out, const tmi_plan_column *column)
{
    if (column->missing == TMI_AS_CATEGORY) text(out, "missing", "category");
    if (column->missing == TMI_AS_VALUE) {
        tmi_json_key(out, "missing");
        if (column->is_number) put_point(out, column, column->instead);
        else tmi_json_put_string(out, column->values[column->instead]);
    }
    if (column->missing_code_count + column->missing_text_count == 0) return;
    begin(out, "missing_codes", '[');
    for (size_t i = 0; i < column->missing_text_count; i++) tmi_json_put_string(out, column->missing_texts[i]);
    for (size_t i = 0; i < column->missing_code_count; i++) {
        tamis_number *code = NULL;
        if (tmi_number_double(&code, column->missing_codes[i], NULL) != TAMIS_OK) out->text->failed = true;
        else put_exact(out, code);
        tamis_number_free(code);
    }
    tmi_json_close(out, ']');
}

static void put_declared(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column)
{
    if (column->is_number) {
        put_bound(out, "from", column->from, plan, column);
        put_bound(out, "to", column->to, plan, column);
        put_bound(out, "step", column->step, plan, column);
    } else {
        begin(out, "values", '[');
        for (size_t i = 0; i + (column->missing == TMI_AS_CATEGORY) < column->value_count; i++)
            tmi_json_put_string(out, column->values[i]);
        tmi_json_close(out, ']');
    }
    put_missing(out, column);
}

static void put_column(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column)
{
    begin(out, column->name, '{');
    put_declared(out, plan, column);
    if (column->typical_sd || column->shares) {
        begin(out, "typical", '{');
        if (column->typical_sd) exact(out, "mean", column->typical);
        exact(out, "sd", column->typical_sd);
        for (size_t i = 0; column->shares && i < column->value_count; i++) exact(out, column->values[i], column->shares[i]);
        tmi_json_close(out, '}');
    } else {
        exact(out, "typical", column->typical);
    }
    text(out, "label", column->label);
    text(out, "unit_of_measure", column->measured_in);
    tmi_json_close(out, '}');
}

/* The public guesses beside a design, which no account fixes. */
static void put_typical(tmi_json_out *out, const tmi_plan_typical *t)
{
    begin(out, "typical", '{');
    exact(out, "population", t->population);
    exact(out, "sample", t->sample);
    if (t->cluster) begin(out, "cluster", '{');
    exact(out, "mean", t->cluster);
    exact(out, "sd", t->cluster_sd);
    if (t->cluster) tmi_json_close(out, '}');
    exact(out, "taken", t->taken);
    if (t->rows) begin(out, "rows", '{');
    exact(out, "mean", t->rows);
    exact(out, "sd", t->rows_sd);
    if (t->rows) tmi_json_close(out, '}');
    exact(out, "response", t->response);
    exact(out, "icc", t->icc);
    tmi_json_close(out, '}');
}

static bool has_typical(const tmi_plan_typical *t)
{
    return t->population || t->sample || t->cluster || t->taken || t->rows || t->response || t->icc;
}

/* ---- what is made of columns ---- */

static void put_cuts(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_open(out, '[');
    for (size_t i = 1; i < column->value_count; i++) put_exact(out, column->ends[i]);
    if (column->value_count == 1) put_exact(out, column->ends[0]); /* one bin: a cut that says nothing */
    tmi_json_close(out, ']');
}

static void put_indicator(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_open(out, '{');
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_plan_condition *c = &column->conditions[i];
        begin(out, c->column->name, c->code_count > 0 ? '[' : '{');
        for (size_t j = 0; j < c->code_count; j++) tmi_json_put_string(out, c->column->values[c->codes[j]]);
        if (c->code_count == 0) {
            tmi_json_key(out, "from");
            put_point(out, c->column, c->least);
            tmi_json_key(out, "to");
            put_point(out, c->column, c->most);
        }
        tmi_json_close(out, c->code_count > 0 ? ']' : '}');
    }
    tmi_json_close(out, '}');
}

void tmi_put_column(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column)
{
    tmi_json_open(out, '{');
    if (column->conditions) {
        tmi_json_key(out, "indicator");
        put_indicator(out, column);
        begin(out, "of", '[');
        for (size_t i = 0; i < column->condition_count; i++) tmi_put_column(out, plan, column->conditions[i].column);
        tmi_json_close(out, ']');
    } else if (column->cut_of) {
        tmi_json_key(out, "cuts");
        put_cuts(out, column);
        begin(out, "of", '[');
        tmi_put_column(out, plan, column->cut_of);
        tmi_json_close(out, ']');
    } else {
        text(out, "column", column->name);
        put_declared(out, plan, column);
    }
    tmi_json_close(out, '}');
}

static void put_about(tmi_json_out *out, const char *key, const tmi_plan_column *column)
{
    tmi_json_key(out, key);
    if (column->conditions) put_indicator(out, column);
    else tmi_json_put_string(out, column->name);
}

static void put_by(tmi_json_out *out, const char *key, const tmi_plan_column *const *by, size_t count)
{
    if (count == 0) return;
    begin(out, key, '[');
    for (size_t i = 0; i < count; i++) {
        if (!by[i]->cut_of) {
            tmi_json_put_string(out, by[i]->name);
            continue;
        }
        tmi_json_open(out, '{');
        tmi_json_key(out, by[i]->name);
        put_cuts(out, by[i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}

static void put_statistic(tmi_json_out *out, const tmi_plan_statistic *s)
{
    const char *kind = tmi_statistic_kind_name(s->kind);
    size_t by = s->by_count;
    tmi_json_open(out, '{');
    switch (s->kind) {
    case TMI_COUNT: text(out, kind, "units"); break;
    case TMI_RATIO:
        begin(out, kind, '{');
        put_about(out, "of", s->column);
        put_about(out, "to", s->second);
        tmi_json_close(out, '}');
        break;
    case TMI_TABLE:
        put_by(out, kind, s->by, by);
        by = 0;
        break;
    case TMI_HISTOGRAM:
        text(out, kind, s->by[--by]->name);
        tmi_json_key(out, "cuts");
        put_cuts(out, s->by[by]);
        break;
    default: put_about(out, kind, s->column); break;
    }
    put_by(out, "by", s->by, by);
    if (s->where) put_about(out, "where", s->where);
    exact(out, "budget_share", s->share);
    exact(out, "confidence", s->confidence);
    text(out, "method", s->method);
    text(out, "label", s->label);
    if (s->kind == TMI_QUANTILE) {
        begin(out, "at", '[');
        for (size_t i = 0; i < s->at_count; i++) put_exact(out, s->at[i]);
        tmi_json_close(out, ']');
    }
    tmi_json_close(out, '}');
}

/* Totals as lists in lists, one level a grouping. */
static void put_totals(tmi_json_out *out, const tmi_plan_control *c, size_t depth, size_t cell)
{
    if (depth == c->by_count) {
        put_exact(out, c->totals[cell]);
        return;
    }
    tmi_json_open(out, '[');
    for (size_t i = 0; i < c->by[depth]->value_count; i++) put_totals(out, c, depth + 1, cell * c->by[depth]->value_count + i);
    tmi_json_close(out, ']');
}

static void put_calibrate(tmi_json_out *out, const tamis_plan *plan)
{
    if (plan->control_count == 0) return;
    begin(out, "calibrate", '{');
    text(out, "method", plan->raking ? "raking" : "linear");
    begin(out, "to", '[');
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *c = &plan->controls[i];
        tmi_json_open(out, '{');
        if (c->column) put_about(out, "total", c->column);
        else text(out, "count", "units");
        put_by(out, "by", c->by, c->by_count);
        tmi_json_key(out, "totals");
        put_totals(out, c, 0, 0);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

static void put_postprocess(tmi_json_out *out, const tmi_plan_postprocess *p)
{
    begin(out, "postprocess", '{');
    yes(out, "nonnegative", p->nonnegative);
    yes(out, "consistent", p->consistent);
    if (p->cv_above || p->units_below > 0) {
        begin(out, "suppress", '{');
        exact(out, "cv_above", p->cv_above);
        whole(out, "units_below", p->units_below);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, '}');
}

/* ---- texts ---- */

/* Sorts what was written; the text is cleared. */
static tamis_status finish(char **json, tmi_text *written, tamis_error *err)
{
    tmi_json *document = NULL;
    tmi_text sorted;
    tamis_status status = TAMIS_OK;
    tmi_text_init(&sorted);
    if (written->failed) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_json_read(&document, written->bytes, written->length, err));
    TMI_TRY(tmi_json_canonical(&sorted, document, err));
    TMI_TRY(tmi_text_take(json, &sorted, err));
done:
    tmi_json_free(document);
    tmi_text_clear(&sorted);
    tmi_text_clear(written);
    return status;
}

/* Whose promise it is: the keys of `privacy` that an account fixes. */
static void put_setting(tmi_json_out *out, const tmi_plan_privacy *p)
{
    text(out, "unit", p->unit);
    text(out, "id", p->id);
    if (p->id) whole(out, "rows_per_unit", p->rows_per_unit);
    text(out, "protect", tamis_level_name(p->setting->protect));
    text(out, "given", tamis_level_name(p->setting->given));
    text(out, "design_variables", p->design_protected ? "protected" : "public");
    tmi_json_key(out, "secret_sample");
    tmi_json_put_boolean(out, p->secret_sample);
}

void tmi_put_drawing(tmi_json_out *out, const tamis_plan *plan)
{
    begin(out, "design", '{');
    put_design(out, &plan->design);
    exact(out, "regularise", plan->design.regularise);
    tmi_json_close(out, '}');
    begin(out, "privacy", '{');
    put_setting(out, &plan->privacy);
    tmi_json_close(out, '}');
}

tamis_status tmi_plan_json(char **json, const tamis_plan *plan, tamis_error *err)
{
    tmi_text written;
    tmi_json_out out;
    *json = NULL;
    tmi_text_init(&written);
    tmi_json_out_init(&out, &written, false);
    tmi_json_open(&out, '{');
    whole(&out, "tamis", 1);
    text(&out, "survey", plan->survey);
    text(&out, "title", plan->title);
    if (plan->wave.name) {
        tmi_json_key(&out, "wave");
        tmi_put_wave(&out, &plan->wave);
    }
    begin(&out, "source", '{');
    put_source(&out, &plan->source, false);
    tmi_json_close(&out, '}');
    begin(&out, "design", '{');
    put_design(&out, &plan->design);
    exact(&out, "regularise", plan->design.regularise);
    if (has_typical(&plan->design.typical)) put_typical(&out, &plan->design.typical);
    if (plan->design.variance != TMI_VARIANCE_BEST) text(&out, "variance", tmi_variance_name(plan->design.variance));
    tmi_json_close(&out, '}');
    begin(&out, "privacy", '{');
    put_setting(&out, &plan->privacy);
    put_loss(&out, &plan->privacy.loss);
    tmi_json_close(&out, '}');
    begin(&out, "columns", '{');
    for (size_t i = 0; i < plan->declared_count; i++) put_column(&out, plan, &plan->columns[i]);
    tmi_json_close(&out, '}');
    begin(&out, "statistics", '[');
    for (size_t i = 0; i < plan->statistic_count; i++) put_statistic(&out, &plan->statistics[i]);
    tmi_json_close(&out, ']');
    if (tmi_has_budget(plan)) {
        begin(&out, "budget", '{');
        put_loss(&out, &plan->budget);
        tmi_json_close(&out, '}');
    }
    put_calibrate(&out, plan);
    put_postprocess(&out, &plan->postprocess);
    tmi_json_close(&out, '}');
    return finish(json, &written, err);
}

/* {"design": ...}, or why sampling adds nothing. */
static tamis_status put_outsider(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    tamis_error reason = {0};
    tamis_status status = tmi_plan_may_amplify(plan, frame, &reason);
    tmi_json_key(out, "outsider");
    if (status == TAMIS_OK) {
        tmi_json_open(out, '{');
        tmi_json_key(out, "design");
        tmi_put_law(out, plan, frame);
        tmi_json_close(out, '}');
    } else {
        tmi_json_put_string(out, reason.message);
    }
    return status == TAMIS_SYSTEM ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tmi_plan_frozen_json(char **json, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    tmi_text written;
    tmi_json_out out;
    *json = NULL;
    tmi_text_init(&written);
    tmi_json_out_init(&out, &written, false);
    tmi_json_open(&out, '{');
    begin(&out, "source", '{');
    put_source(&out, &plan->source, true);
    tmi_json_close(&out, '}');
    begin(&out, "design", '{');
    put_design(&out, &plan->design);
    tmi_json_close(&out, '}');
    put_setting(&out, &plan->privacy);
    if (frame) text(&out, "frame", frame->hash);
    tamis_status status = put_outsider(&out, plan, frame, err);
    tmi_json_close(&out, '}');
    if (status == TAMIS_OK) return finish(json, &written, err);
    tmi_text_clear(&written);
    return status;
}
