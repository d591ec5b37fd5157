/* What a private bound is, as JSON: everything that its guarantee follows from; and the bound, once it is found. */
#include "plan/json.h"
#include "report/promise.h"

void tmi_put_bound_task(tmi_json_out *out, const tmi_schedule *s, const tmi_bound_task *t)
{
    const tmi_private_bound *bound = tmi_bound_of_task(s, t);
    tmi_text text;
    tmi_text_init(&text);
    tmi_json_open(out, '{');
    tmi_text_format(&text, "bound of %s", bound->column.name);
    tmi_json_add_taken(out, "name", &text);
    tmi_json_key(out, "column");
    tmi_put_column(out, s->plan, &bound->column);
    tmi_json_add_integer(out, "halvings_at_most", bound->most);
    tmi_json_add_integer(out, "worth", t->worth);
    tmi_json_add_integer(out, "rows_per_unit", t->rows_per_unit);
    tmi_add_exact(out, "found_with_epsilon", t->epsilon);
    tmi_add_exact(out, "rate", t->rate);
    tmi_bound_task_inequality(&text, t, s->gaussian);
    tmi_json_add_taken(out, "inequality", &text);
    tmi_add_exact(out, s->gaussian ? "rho" : "epsilon", t->part);
    if (bound->found) {
        tmi_json_add_open(out, "found", '{');
        tmi_json_add_integer(out, "halvings", bound->halvings);
        tmi_add_exact(out, "to", bound->column.to);
        tmi_json_close(out, '}');
    }
}

void tmi_put_bound_tasks(tmi_json_out *out, const tmi_schedule *s)
{
    if (s->bound_task_count == 0) return;
    tmi_json_add_open(out, "bounds", '[');
    for (size_t i = 0; i < s->bound_task_count; i++) {
        tmi_put_bound_task(out, s, &s->bound_tasks[i]);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}
