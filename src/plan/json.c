#include "plan/json.h"

#include <string.h>
#include <tamis/experimental/draft.h>

#include "base/memory.h"
#include "base/sha256.h"
#include "base/value/json.h"
#include "num/number.h"
#include "plan/design_fields.h"
#include "plan/law.h"
#include "plan/names.h"
#include "plan/yaml_write.h"

static void put_loss(tmi_json_out *out, const tmi_plan_loss *loss)
{
    tmi_put_exact_field(out, "outsider", loss->outsider);
    tmi_put_exact_field(out, "insider", loss->insider);
    if (!loss->outsider) tmi_put_exact_field(out, "epsilon", loss->epsilon);
    tmi_put_exact_field(out, "delta", loss->delta);
    tmi_put_exact_field(out, "rho", loss->rho);
}

/* ---- design ---- */

/* The kind with what describes it; with the sizes of `s`, unless they are under the strata (NULL). */
static void put_kind(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_json_add_open(out, d->kind->name, '{');
    d->kind->write(out, d, s);
    tmi_json_close(out, '}');
}

/* Strata `first` to `last` as maps of maps, one level for each column from `part` on. Strata are in the order of the codes, so
 * those of a map follow each other. */
static void put_joint_strata(tmi_json_out *out, const tmi_plan_design *d, size_t first, size_t last, size_t part)
{
    for (size_t h = first; h < last;) {
        const int32_t code = d->parts[part]->recode[h];
        size_t end = h;
        while (end < last && d->parts[part]->recode[end] == code) end++;
        tmi_json_add_open(out, d->parts[part]->values[code], '{');
        if (part + 1 < d->part_count && part + 1 < TMI_MAX_STRATA_COLUMNS) put_joint_strata(out, d, h, end, part + 1);
        else tmi_put_design_sizes(out, d, &d->strata[h]);
        tmi_json_close(out, '}');
        h = end;
    }
}

static void put_strata_columns(tmi_json_out *out, const tmi_plan_design *d)
{
    if (d->part_count == 0) {
        tmi_put_text_field(out, "by", d->by->name);
        return;
    }
    tmi_json_add_open(out, "by", '[');
    for (size_t k = 0; k < d->part_count; k++) tmi_json_put_string(out, d->parts[k]->name);
    tmi_json_close(out, ']');
}

static void put_design(tmi_json_out *out, const tmi_plan_design *d)
{
    if (!d->by) {
        put_kind(out, d, &d->strata[0]);
    } else {
        tmi_json_add_open(out, "stratified", '{');
        put_strata_columns(out, d);
        tmi_json_add_open(out, "within", '{');
        put_kind(out, d, NULL);
        tmi_json_close(out, '}');
        tmi_json_add_open(out, "strata", '{');
        if (d->part_count > 0) put_joint_strata(out, d, 0, d->stratum_count, 0);
        for (size_t h = 0; d->part_count == 0 && h < d->stratum_count; h++) {
            tmi_json_add_open(out, d->strata[h].name, '{');
            tmi_put_design_sizes(out, d, &d->strata[h]);
            tmi_json_close(out, '}');
        }
        tmi_json_close(out, '}');
        tmi_json_close(out, '}');
    }
    tmi_put_text_field(out, "weight", d->weight);
    tmi_put_exact_field(out, "max_weight", d->max_weight);
    tmi_put_exact_field(out, "max_unit_weight", d->max_unit_weight);
    tmi_put_exact_field(out, "weight_step", d->weight_step);
    if (d->weights_final) tmi_put_text_field(out, "weights_are", "final");
    tmi_put_yes_field(out, "nonresponse", d->nonresponse);
}

/* ---- source ---- */

static void put_source(tmi_json_out *out, const tmi_plan_source *source, bool frozen)
{
    if (source->caller) {
        tmi_put_text_field(out, "caller", source->caller);
    } else if (source->command) {
        tmi_put_text_field(out, "dialect", source->dialect);
        tmi_put_text_field(out, "table", source->table);
        if (!frozen) tmi_put_text_field(out, "rows_version", source->rows_version); /* the next release may have another */
        if (frozen) {
            char hash[TMI_SHA256_TEXT];
            tmi_hash_command(hash, source);
            tmi_put_text_field(out, "command", hash);
        }
    } else if (source->connection_count > 0) {
        tmi_json_add_open(out, "postgres", '{');
        if (frozen) {
            tmi_json_add_open(out, "connections", '[');
            for (size_t i = 0; i < source->connection_count; i++) {
                char hash[TMI_SHA256_TEXT];
                tmi_sha256_text(hash, source->connections[i], strlen(source->connections[i]));
                tmi_json_put_string(out, hash);
            }
            tmi_json_close(out, ']');
        }
        tmi_put_text_field(out, "table", source->table);
        tmi_json_close(out, '}');
    } else {
        tmi_json_add_open(out, "files", '[');
        for (size_t i = 0; i < source->file_count; i++)
            tmi_json_put_string(out, frozen ? source->names[i] : tmi_last_name(source->names[i]));
        tmi_json_close(out, ']');
        tmi_put_text_field(out, "table", source->table);
    }
    if (source->sharded_by_unit) tmi_put_text_field(out, "sharded_by", "id");
}

/* ---- guesses ---- */

/* The public guesses beside a design, which no account fixes. */
static void put_typical(tmi_json_out *out, const tmi_plan_typical *t)
{
    tmi_json_add_open(out, "typical", '{');
    tmi_put_exact_field(out, "population", t->population);
    tmi_put_exact_field(out, "sample", t->sample);
    if (t->cluster) tmi_json_add_open(out, "cluster", '{');
    tmi_put_exact_field(out, "mean", t->cluster);
    tmi_put_exact_field(out, "sd", t->cluster_sd);
    if (t->cluster) tmi_json_close(out, '}');
    tmi_put_exact_field(out, "taken", t->taken);
    if (t->rows) tmi_json_add_open(out, "rows", '{');
    tmi_put_exact_field(out, "mean", t->rows);
    tmi_put_exact_field(out, "sd", t->rows_sd);
    if (t->rows) tmi_json_close(out, '}');
    tmi_put_exact_field(out, "response", t->response);
    tmi_put_exact_field(out, "icc", t->icc);
    tmi_json_close(out, '}');
}

static bool has_typical(const tmi_plan_typical *t)
{
    return t->population || t->sample || t->cluster || t->taken || t->rows || t->response || t->icc;
}

/* ---- statistics ---- */

static void put_compared(tmi_json_out *out, const tmi_plan_compared *c)
{
    const char *kind = tmi_statistic_kind_name(c->kind);
    if (c->kind == TMI_COUNT) {
        tmi_put_text_field(out, kind, "units");
    } else if (c->kind == TMI_RATIO) {
        tmi_json_add_open(out, kind, '{');
        tmi_put_about(out, "of", c->column);
        tmi_put_about(out, "to", c->second);
        tmi_json_close(out, '}');
    } else {
        tmi_put_about(out, kind, c->column);
    }
}

void tmi_put_between(tmi_json_out *out, const tmi_plan_contrast *c)
{
    tmi_json_add_open(out, "between", '{');
    tmi_json_add_open(out, c->across->name, '[');
    for (size_t i = 0; i < c->term_count; i++) tmi_json_put_string(out, c->across->values[c->terms[i].code]);
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

static void put_contrast(tmi_json_out *out, const tmi_plan_statistic *s)
{
    const tmi_plan_contrast *c = s->contrast;
    tmi_json_add_open(out, tmi_statistic_kind_name(s->kind), '{');
    put_compared(out, &c->compared[0]);
    if (c->since) {
        tmi_json_close(out, '}');
        return;
    }
    if (!c->across) {
        tmi_json_add_open(out, "minus", '{');
        put_compared(out, &c->compared[1]);
        tmi_json_close(out, '}');
    } else if (s->kind == TMI_CONTRAST_WEIGHTED) {
        tmi_put_by(out, "by", &c->across, 1);
        tmi_json_add_open(out, "weights", '[');
        for (size_t i = 0, term = 0; i < c->across->value_count; i++) {
            const bool used = term < c->term_count && c->terms[term].code == i;
            if (used) tmi_put_exact_value(out, c->terms[term++].weight);
            else tmi_json_put_string(out, "0");
        }
        tmi_json_close(out, ']');
    } else {
        tmi_put_between(out, c);
    }
    tmi_json_close(out, '}');
}

static void put_regression(tmi_json_out *out, const tmi_plan_statistic *s)
{
    const tmi_plan_model *m = s->model;
    tmi_json_add_open(out, tmi_statistic_kind_name(s->kind), '{');
    tmi_put_about(out, "of", s->column);
    tmi_put_by(out, "on", m->on, m->on_count);
    tmi_put_text_field(out, "family", tmi_model_family_name(m->family));
    if (m->interaction_count > 0) tmi_json_add_open(out, "interactions", '[');
    for (size_t i = 0; i < m->interaction_count; i++) {
        tmi_json_open(out, '[');
        for (size_t k = 0; k < 2; k++) tmi_json_put_string(out, m->on[m->interactions[i][k]]->name);
        tmi_json_close(out, ']');
    }
    if (m->interaction_count > 0) tmi_json_close(out, ']');
    tmi_json_close(out, '}');
    bool own = false;
    for (size_t k = 0; k < m->on_count; k++) own = own || m->baseline[k] > 0;
    if (own) tmi_json_add_open(out, "baseline", '{');
    for (size_t k = 0; k < m->on_count; k++)
        if (m->baseline[k] > 0) tmi_json_add_string(out, m->on[k]->name, m->on[k]->values[m->baseline[k]]);
    if (own) tmi_json_close(out, '}');
}

void tmi_put_asked(tmi_json_out *out, const tmi_plan_statistic *s)
{
    const char *kind = tmi_statistic_kind_name(s->kind);
    size_t by = s->by_count;
    switch (s->kind) {
    case TMI_COUNT: tmi_put_text_field(out, kind, "units"); break;
    case TMI_RATIO:
        tmi_json_add_open(out, kind, '{');
        tmi_put_about(out, "of", s->column);
        tmi_put_about(out, "to", s->second);
        tmi_json_close(out, '}');
        break;
    case TMI_TABLE:
        tmi_put_by(out, kind, s->by, by);
        by = 0;
        break;
    case TMI_HISTOGRAM:
        tmi_put_text_field(out, kind, s->by[--by]->name);
        tmi_json_key(out, "cuts");
        tmi_put_cuts(out, s->by[by]);
        break;
    case TMI_CONTRAST_DIFFERENCE:
    case TMI_CONTRAST_QUOTIENT:
    case TMI_CONTRAST_WEIGHTED:
    case TMI_CONTRAST_CHANGE: put_contrast(out, s); break;
    case TMI_CORRELATION: {
        const tmi_plan_column *const both[] = {s->column, s->second};
        tmi_put_by(out, kind, both, 2);
        break;
    }
    case TMI_REGRESSION: put_regression(out, s); break;
    case TMI_PRODUCTS: {
        const tmi_plan_column *all[TMI_MAX_NUMBERS] = {s->column, s->second};
        memcpy(all + 2, s->also, s->also_count * sizeof *all);
        tmi_put_by(out, kind, all, 2 + s->also_count);
        break;
    }
    default: tmi_put_about(out, kind, s->column); break;
    }
    tmi_put_by(out, "by", s->by, by);
    if (s->where) tmi_put_about(out, "where", s->where);
    tmi_put_exact_field(out, "budget_share", s->share);
    tmi_put_exact_field(out, "deff", s->deff);
    tmi_put_text_field(out, "method", s->method);
    if (s->kind == TMI_QUANTILE) {
        tmi_json_add_open(out, "at", '[');
        for (size_t i = 0; i < s->at_count; i++) tmi_put_exact_value(out, s->at[i]);
        tmi_json_close(out, ']');
    }
    tmi_put_exact_field(out, "line", s->limit);
}

/* Those that a distribution function was made with, also where the plan leaves them to tamis: whatever a later version would
 * choose, a certificate has them. */
static void put_cuts(tmi_json_out *out, const tmi_plan_curve *curve)
{
    tmi_json_add_open(out, "cuts", '[');
    for (size_t i = 0; i < curve->cut_count; i++) tmi_put_grid_point(out, curve->column, curve->cuts[i]);
    tmi_json_close(out, ']');
}

static void put_statistic(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_statistic *s)
{
    tmi_json_open(out, '{');
    tmi_put_asked(out, s);
    tmi_put_text_field(out, "interval", s->inverse);
    if (tmi_is_of_distribution(s->kind)) put_cuts(out, &plan->curves[s->curve]);
    tmi_put_exact_field(out, "confidence", s->confidence);
    if (s->shrink) tmi_json_add_string(out, "shrink", "yes");
    if (s->for_change) tmi_json_add_string(out, "for_change", "yes");
    if (s->contrast) tmi_put_text_field(out, "since", tmi_last_name(s->contrast->since));
    if (s->contrast && s->contrast->independent) tmi_put_text_field(out, "samples", "independent");
    if (s->contrast && s->contrast->before) {
        tmi_json_add_open(out, "overlap", '{');
        tmi_json_add_integer(out, "size", s->contrast->overlap);
        tmi_json_add_string(out, "before", s->contrast->before->name);
        tmi_json_close(out, '}');
    }
    if (s->model && (s->model->vif || s->model->r2)) {
        tmi_json_add_open(out, "typical", '{');
        tmi_put_exact_field(out, "vif", s->model->vif);
        tmi_put_exact_field(out, "r2", s->model->r2);
        tmi_json_close(out, '}');
    }
    tmi_put_text_field(out, "label", s->label);
    tmi_json_close(out, '}');
}

/* Totals as lists in lists, one level a grouping. */
static void put_totals(tmi_json_out *out, const tmi_plan_control *c, size_t depth, size_t cell)
{
    if (depth == c->by_count) {
        tmi_put_exact_value(out, c->totals[cell]);
        return;
    }
    tmi_json_open(out, '[');
    for (size_t i = 0; i < c->by[depth]->value_count; i++) put_totals(out, c, depth + 1, cell * c->by[depth]->value_count + i);
    tmi_json_close(out, ']');
}

static void put_calibrate(tmi_json_out *out, const tamis_plan *plan)
{
    if (plan->control_count == 0) return;
    tmi_json_add_open(out, "calibrate", '{');
    tmi_put_text_field(out, "method", plan->raking ? "raking" : "linear");
    tmi_json_add_open(out, "to", '[');
    for (size_t i = 0; i < plan->control_count; i++) {
        const tmi_plan_control *c = &plan->controls[i];
        tmi_json_open(out, '{');
        if (c->column) tmi_put_about(out, "total", c->column);
        else tmi_put_text_field(out, "count", "units");
        tmi_put_by(out, "by", c->by, c->by_count);
        tmi_json_key(out, "totals");
        put_totals(out, c, 0, 0);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
    tmi_json_close(out, '}');
}

static void put_postprocess(tmi_json_out *out, const tmi_plan_postprocess *p)
{
    tmi_json_add_open(out, "postprocess", '{');
    tmi_put_yes_field(out, "nonnegative", p->nonnegative);
    tmi_put_yes_field(out, "consistent", p->consistent);
    for (size_t i = 0; i < TMI_RULES; i++) {
        static const char *const names[] = {
            [TMI_SUPPRESS] = "suppress", [TMI_CAUTION] = "caution", [TMI_UNRELIABLE] = "unreliable"};
        const tmi_plan_rule *rule = &p->rules[i];
        if (!rule->cv_above && rule->units_below == 0) continue;
        tmi_json_add_open(out, names[i], '{');
        tmi_put_exact_field(out, "cv_above", rule->cv_above);
        tmi_put_whole_field(out, "units_below", rule->units_below);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, '}');
}

/* ---- trees ---- */

/* Whose promise it is: the keys of `privacy` that an account fixes. */
static void put_setting(tmi_json_out *out, const tmi_plan_privacy *p)
{
    tmi_put_text_field(out, "unit", p->unit);
    tmi_put_text_field(out, "id", p->id);
    if (p->id) tmi_put_whole_field(out, "rows_per_unit", p->rows_per_unit);
    tmi_put_text_field(out, "protect", tamis_level_name(p->setting->protect));
    tmi_put_text_field(out, "given", tamis_level_name(p->setting->given));
    tmi_put_text_field(out, "design_variables", p->design_protected ? "protected" : "public");
    tmi_json_add_boolean(out, "secret_sample", p->secret_sample);
}

void tmi_put_drawing(tmi_json_out *out, const tamis_plan *plan)
{
    tmi_json_add_open(out, "design", '{');
    put_design(out, &plan->design);
    tmi_put_exact_field(out, "regularise", plan->design.regularise);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "privacy", '{');
    put_setting(out, &plan->privacy);
    tmi_json_close(out, '}');
}

tamis_status tmi_plan_json(tmi_value **json, const tamis_plan *plan, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_out *out = &tree.out;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(out, '{');
    tmi_put_whole_field(out, "tamis", 1);
    tmi_put_text_field(out, "survey", plan->survey);
    tmi_put_text_field(out, "title", plan->title);
    if (plan->wave.name) {
        tmi_json_key(out, "wave");
        tmi_put_wave(out, &plan->wave);
    }
    tmi_json_add_open(out, "source", '{');
    put_source(out, &plan->source, false);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "design", '{');
    put_design(out, &plan->design);
    tmi_put_exact_field(out, "regularise", plan->design.regularise);
    tmi_put_replicates(out, &plan->design.replicates);
    if (has_typical(&plan->design.typical)) put_typical(out, &plan->design.typical);
    tmi_put_text_field(out, "variance", tmi_variance_name(plan->design.variance));
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "privacy", '{');
    put_setting(out, &plan->privacy);
    put_loss(out, &plan->privacy.loss);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "columns", '{');
    for (size_t i = 0; i < plan->declared_count; i++) tmi_put_declared_column(out, plan, &plan->columns[i]);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "statistics", '[');
    for (size_t i = 0; i < plan->asked_count; i++) put_statistic(out, plan, &plan->statistics[i]);
    tmi_json_close(out, ']');
    if (tmi_has_budget(plan)) {
        tmi_json_add_open(out, "budget", '{');
        put_loss(out, &plan->budget);
        tmi_json_close(out, '}');
    }
    put_calibrate(out, plan);
    put_postprocess(out, &plan->postprocess);
    tmi_json_close(out, '}');
    return tmi_json_tree_end(json, &tree, err);
}

tamis_status tamis_plan_json(char **json, const tamis_plan *plan, tamis_error *err)
{
    tmi_value *tree = NULL;
    if (!json) return tmi_fail(err, TAMIS_INVALID, "json: NULL");
    *json = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tamis_status status = tmi_plan_json(&tree, plan, err);
    if (status == TAMIS_OK) status = tmi_json_canonical_text(json, tree, err);
    tmi_value_free(tree);
    return status;
}

/* {"design": ...}, or why sampling adds nothing. */
static void put_outsider(tmi_json_out *out, const tamis_plan *plan, const tmi_frame_facts *frame)
{
    tamis_error reason = {0};
    tamis_status status = tmi_plan_may_amplify(plan, frame, &reason);
    tmi_json_key(out, "outsider");
    if (status == TAMIS_SYSTEM) out->text->failed = true;
    if (status == TAMIS_OK) {
        tmi_json_open(out, '{');
        tmi_json_key(out, "design");
        tmi_put_law(out, plan, frame);
        tmi_json_close(out, '}');
    } else {
        tmi_json_put_string(out, reason.message);
    }
}

tamis_status tmi_plan_frozen_json(tmi_value **json, const tamis_plan *plan, const tmi_frame_facts *frame, tamis_error *err)
{
    tmi_json_tree tree;
    tmi_json_out *out = &tree.out;
    tmi_json_tree_begin(&tree, NULL);
    tmi_json_open(out, '{');
    tmi_json_add_open(out, "source", '{');
    put_source(out, &plan->source, true);
    tmi_json_close(out, '}');
    tmi_json_add_open(out, "design", '{');
    put_design(out, &plan->design);
    tmi_json_close(out, '}');
    put_setting(out, &plan->privacy);
    if (frame) tmi_put_text_field(out, "frame", frame->hash);
    put_outsider(out, plan, frame);
    tmi_json_close(out, '}');
    return tmi_json_tree_end(json, &tree, err);
}

tamis_status tamis_plan_yaml(char **yaml, const tamis_plan *plan, tamis_error *err)
{
    tmi_value *tree = NULL;
    tmi_text text;
    if (!yaml) return tmi_fail(err, TAMIS_INVALID, "yaml: NULL");
    *yaml = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    tamis_status status = tmi_plan_json(&tree, plan, err);
    tmi_text_init(&text);
    if (status == TAMIS_OK) tmi_yaml_put_block(&text, tree, TMI_YAML_NUMBERS);
    if (status == TAMIS_OK) status = tmi_text_take(yaml, &text, err);
    tmi_value_free(tree);
    return status;
}
