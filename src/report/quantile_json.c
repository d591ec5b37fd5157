/* What a quantile that a mechanism chooses is, as JSON: everything that its guarantee follows from, without the points. */
#include "plan/json.h"
#include "plan/json_fields.h"
#include "report/promise.h"

static void put_grid(tmi_json_out *out, const tmi_plan_column *column)
{
    tmi_json_add_open(out, "grid", '{');
    tmi_add_exact(out, "from", column->from);
    tmi_add_exact(out, "to", column->to);
    tmi_add_exact(out, "step", column->step);
    tmi_json_close(out, '}');
}

void tmi_put_quantile_task(tmi_json_out *out, const tmi_schedule *s, const tmi_quantile_task *c)
{
    const tmi_plan_statistic *t = &s->plan->statistics[c->statistic];
    tmi_text text;
    tmi_text_init(&text);
    tmi_json_open(out, '{');
    tmi_quantile_task_name(&text, c, s->plan);
    tmi_json_add_taken(out, "name", &text);
    tmi_json_key(out, "column");
    tmi_put_column(out, s->plan, t->column);
    tmi_json_add_open(out, "at", '[');
    for (size_t i = 0; i < t->at_count; i++) tmi_put_exact(out, t->at[i]);
    tmi_json_close(out, ']');
    tmi_json_add_open(out, "by", '[');
    for (size_t i = 0; i < t->by_count; i++) tmi_put_column(out, s->plan, t->by[i]);
    tmi_json_close(out, ']');
    tmi_json_key(out, "where");
    if (t->where) tmi_put_column(out, s->plan, t->where);
    else tmi_json_put_null(out);
    put_grid(out, t->column);
    tmi_add_exact(out, "log_unit", c->log_unit);
    tmi_json_add_string(out, "method", tamis_quantile_method_name(c->method));
    tmi_json_add_integer(out, "groups", (int64_t)c->groups);
    tmi_json_add_integer(out, "rows_per_unit", c->rows_per_unit);
    if (c->max_weight > 0) tmi_json_add_integer(out, "max_weight", c->max_weight);
    else tmi_json_add_null(out, "max_weight");
    if (c->group_rows) tmi_json_add_integers(out, "rows", c->group_rows, c->groups);
    else if (c->rows > 0) tmi_json_add_integer(out, "rows", c->rows);
    else tmi_json_add_null(out, "rows");
    tmi_json_add_string(out, "neighbours", c->add_remove ? "add_remove" : "replace");
    tmi_add_exact(out, c->rho ? "found_with_rho" : "found_with_epsilon", c->rho ? c->rho : c->epsilon);
    tmi_quantile_task_inequality(&text, c, s->gaussian);
    tmi_json_add_taken(out, "inequality", &text);
    tmi_add_exact(out, s->gaussian ? "rho" : "epsilon", c->part);
}
