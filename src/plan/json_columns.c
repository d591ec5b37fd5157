#include "plan/json.h"

#include "num/number.h"
#include "plan/json_fields.h"
#include "plan/private_bounds.h"

/* The value of a grid point. */
void tmi_put_grid_point(tmi_json_out *out, const tmi_plan_column *column, int64_t point)
{
    tamis_number *k = NULL, *value = NULL;
    if (tmi_number_ratio(&k, point, 1, NULL) == TAMIS_OK && tmi_number_mul(&value, k, column->step, NULL) == TAMIS_OK)
        tmi_put_exact_value(out, value);
    else out->text->failed = true;
    tmi_number_frees(&k, &value, NULL);
}

/* ---- columns ---- */

/* from, to or step: one number, or one per stratum. */
static void put_bound(tmi_json_out *out, const char *key, const tamis_number *all, const tamis_plan *plan,
                      const tmi_plan_column *column)
{
    if (!column->by_stratum) {
        tmi_put_exact_field(out, key, all);
        return;
    }
    tmi_json_add_open(out, key, '{');
    for (size_t h = 0; h < plan->design.stratum_count; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        const tamis_number *own = all == column->from ? r->from : all == column->to ? r->to : r->step;
        tmi_put_exact_field(out, plan->design.strata[h].name, own);
    }
    tmi_json_close(out, '}');
}

static void put_missing(tmi_json_out *out, const tmi_plan_column *column)
{
    if (column->missing == TMI_AS_CATEGORY) tmi_put_text_field(out, "missing", "category");
    if (column->missing == TMI_NEVER) tmi_put_text_field(out, "missing", "none");
    if (column->missing == TMI_AS_VALUE) {
        tmi_json_key(out, "missing");
        if (column->is_number) tmi_put_grid_point(out, column, column->instead);
        else tmi_json_put_string(out, column->values[column->instead]);
    }
    if (column->missing_code_count + column->missing_text_count == 0) return;
    tmi_json_add_open(out, "missing_codes", '[');
    for (size_t i = 0; i < column->missing_text_count; i++) tmi_json_put_string(out, column->missing_texts[i]);
    for (size_t i = 0; i < column->missing_code_count; i++) {
        tamis_number *code = NULL;
        if (tmi_number_double(&code, column->missing_codes[i], NULL) != TAMIS_OK) out->text->failed = true;
        else tmi_put_exact_value(out, code);
        tamis_number_free(code);
    }
    tmi_json_close(out, ']');
}

/* A bound that is a multiple of a size in the frame. */
static void put_relative(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_add_open(out, "to", '{');
    tmi_put_exact_field(out, "times", column->times);
    tmi_put_text_field(out, "of", column->of);
    tmi_json_close(out, '}');
}

/* A bound that a release finds, of at most `beyond`. */
static void put_private(tmi_json_out *out, const tmi_plan_column *column, const tamis_number *beyond)
{
    tmi_json_add_open(out, "to", '{');
    tmi_put_exact_field(out, "private", column->private_share);
    tmi_put_exact_field(out, "beyond", beyond);
    tmi_json_close(out, '}');
}

/* In a plan the columns that cross into strata have values: their strata are in the design. */
static void put_declared(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column, bool in_plan)
{
    if (column->is_number) {
        const tmi_plan_column *declared = tmi_column_as_declared(plan, column);
        put_bound(out, "from", column->from, plan, column);
        if (column->times) put_relative(out, column);
        else if (column->private_share) put_private(out, column, declared->to);
        else put_bound(out, "to", column->to, plan, column);
        put_bound(out, "step", declared->step, plan, declared);
        tmi_put_exact_field(out, "contribution", column->contribution);
        tmi_put_exact_field(out, "unit_contribution", column->unit_contribution);
    } else if (column->recode && !(in_plan && tmi_is_part_of_strata(&plan->design, column))) {
        const tmi_plan_column *of = column->recode_of;
        if (of != plan->design.by) tmi_put_text_field(out, "of", of->name);
        tmi_json_add_open(out, of == plan->design.by ? "strata" : "parts", '{');
        for (size_t code = 0; code < column->value_count; code++) {
            tmi_json_add_open(out, column->values[code], '[');
            for (size_t h = 0; h < of->value_count; h++)
                if ((size_t)column->recode[h] == code) tmi_json_put_string(out, of->values[h]);
            tmi_json_close(out, ']');
        }
        tmi_json_close(out, '}');
    } else {
        tmi_json_add_open(out, "values", '[');
        for (size_t i = 0; i + (column->missing == TMI_AS_CATEGORY) < column->value_count; i++)
            tmi_json_put_string(out, column->values[i]);
        tmi_json_close(out, ']');
    }
    put_missing(out, column);
}

void tmi_put_declared_column(tmi_json_out *out, const tamis_plan *plan, const tmi_plan_column *column)
{
    tmi_json_add_open(out, column->name, '{');
    put_declared(out, plan, column, true);
    if (column->typical_sd || column->typical_share || column->shares) {
        tmi_json_add_open(out, "typical", '{');
        tmi_put_exact_field(out, "mean", column->typical);
        tmi_put_exact_field(out, "sd", column->typical_sd);
        tmi_put_exact_field(out, "share", column->typical_share);
        for (size_t i = 0; column->shares && i < column->value_count; i++)
            tmi_put_exact_field(out, column->values[i], column->shares[i]);
        tmi_json_close(out, '}');
    } else {
        tmi_put_exact_field(out, "typical", column->typical);
    }
    tmi_put_text_field(out, "label", column->label);
    tmi_put_text_field(out, "unit_of_measure", column->measured_in);
    tmi_json_close(out, '}');
}

/* ---- what is made of columns ---- */

void tmi_put_cuts(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_open(out, '[');
    for (size_t i = 1; i < column->value_count; i++) tmi_put_exact_value(out, column->ends[i]);
    if (column->value_count == 1) tmi_put_exact_value(out, column->ends[0]); /* one bin: a cut that says nothing */
    tmi_json_close(out, ']');
}

static void put_indicator(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_open(out, '{');
    for (size_t i = 0; i < column->condition_count; i++) {
        const tmi_plan_condition *c = &column->conditions[i];
        tmi_json_add_open(out, c->column->name, c->code_count > 0 ? '[' : '{');
        for (size_t j = 0; j < c->code_count; j++) tmi_json_put_string(out, c->column->values[c->codes[j]]);
        if (c->code_count == 0) {
            tmi_json_key(out, "from");
            tmi_put_grid_point(out, c->column, c->least);
            tmi_json_key(out, "to");
            tmi_put_grid_point(out, c->column, c->most);
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
        tmi_json_add_open(out, "of", '[');
        for (size_t i = 0; i < column->condition_count; i++) tmi_put_column(out, plan, column->conditions[i].column);
        tmi_json_close(out, ']');
    } else if (column->cut_of) {
        tmi_json_key(out, "cuts");
        tmi_put_cuts(out, column);
        tmi_json_add_open(out, "of", '[');
        tmi_put_column(out, plan, column->cut_of);
        tmi_json_close(out, ']');
    } else {
        tmi_put_text_field(out, "column", column->name);
        put_declared(out, plan, column, false);
    }
    tmi_json_close(out, '}');
}

void tmi_put_about(tmi_json_out *out, const char *key, const tmi_plan_column *column)
{
    tmi_json_key(out, key);
    if (column->conditions) put_indicator(out, column);
    else tmi_json_put_string(out, column->name);
}

void tmi_put_by(tmi_json_out *out, const char *key, const tmi_plan_column *const *by, size_t count)
{
    if (count == 0) return;
    tmi_json_add_open(out, key, '[');
    for (size_t i = 0; i < count; i++) {
        if (!by[i]->cut_of) {
            tmi_json_put_string(out, by[i]->name);
            continue;
        }
        tmi_json_open(out, '{');
        tmi_json_key(out, by[i]->name);
        tmi_put_cuts(out, by[i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}
