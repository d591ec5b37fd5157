/* What a plan could declare, in words: each says what to write, and by how much errors would be lower. */
#include <math.h>

#include "base/decimal.h"
#include "base/table.h"
#include "report/preview.h"
#include "schedule/expected/change.h"

#define NAMES_SHOWN 3 /* of columns, in a line */

static const struct {
    const char *name, *if_so; /* the key as a plan has it; when to write it */
} words[TMI_DECLARATIONS] = {
    [TMI_DECLARE_COMPLETE] = {"missing: none", "If no value is missing"},
    [TMI_DECLARE_CONTRIBUTION] = {"contribution", "If large values have small weights"},
    [TMI_DECLARE_OF_UNITS] = {"unit_contribution", "If few units add more to totals"},
    [TMI_DECLARE_PSUS] = {"psus", "If the list of sampled clusters is public"},
    [TMI_DECLARE_DEFF] = {"deff", "If a design effect is public"},
    [TMI_DECLARE_SAMPLE] = {"typical: {sample}", "If the sample has nowhere near"},
    [TMI_DECLARE_CLUSTER] = {"typical: {cluster}", "If a cluster has nowhere near"},
};

static bool is_about_columns(tmi_declaration_kind kind) { return kind <= TMI_DECLARE_OF_UNITS; }

/* "income, hours and 2 more"; of contributions with the bound that was tried: "income (200,000)". */
static void put_columns(tmi_text *text, const tmi_schedule *s, tmi_declaration_kind kind, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < s->plan->declared_count; i++) {
        const tmi_plan_column *column = &s->plan->columns[i];
        double bound;
        if (!tmi_declaration_is_about(s, kind, column) || count++ >= most) continue;
        tmi_text_format(text, "%s%s", count > 1 ? ", " : "", column->name);
        if (!(kind == TMI_DECLARE_CONTRIBUTION && tmi_change_contribution(&bound, s, column)) &&
            !(kind == TMI_DECLARE_OF_UNITS && tmi_change_unit_contribution(&bound, s, column)))
            continue;
        tmi_text_put(text, " (");
        tmi_text_rounded(text, bound, bound < 10 ? 2 : 0);
        tmi_text_put(text, ")");
    }
    if (count > most) tmi_text_format(text, " and %zu more", count - most);
}

void tmi_write_declaration(tmi_text *text, const tmi_preview *p, size_t i, bool all)
{
    const tmi_declaration *d = &p->declarations[i];
    const tmi_schedule *s = &p->schedule;
    const bool guess = d->kind >= TMI_DECLARE_SAMPLE;
    size_t asked = 0;
    tmi_text line;
    for (size_t k = 0; k < s->plan->asked_count; k++) asked += !tmi_is_known(s, k);
    tmi_text_init(&line);
    if (guess && !(d->value > 0)) tmi_text_put(&line, "If you know about how large the sample is");
    else tmi_text_put(&line, words[d->kind].if_so);
    if (guess && d->value > 0) {
        tmi_text_put(&line, " ");
        tmi_text_rounded(&line, d->value, 0);
        tmi_text_put(&line, " units");
    }
    tmi_text_format(&line, ", declare `%s`", words[d->kind].name);
    if (is_about_columns(d->kind)) {
        tmi_text_put(&line, " of ");
        put_columns(&line, s, d->kind, all ? SIZE_MAX : NAMES_SHOWN);
    }
    if (d->kind == TMI_DECLARE_DEFF) tmi_text_format(&line, " (tried: %.2g)", d->value);
    tmi_text_put(&line, ": errors ");
    if (d->concerns < asked) tmi_text_format(&line, "of %zu of %zu statistics ", d->concerns, asked);
    tmi_text_format(&line, "%s%.0f %% lower.", guess ? "up to " : "", round(100 * d->gain));
    tmi_text_wrap_taken(text, all ? "  - " : "", all ? "    " : "  ", &line);
}

void tmi_put_declarations(tmi_json_out *out, const tmi_preview *p)
{
    const tmi_schedule *s = &p->schedule;
    tmi_json_add_open(out, "declare", '[');
    for (size_t i = 0; i < p->declaration_count; i++) {
        const tmi_declaration *d = &p->declarations[i];
        tmi_json_open(out, '{');
        tmi_json_add_string(out, "declare", words[d->kind].name);
        if (is_about_columns(d->kind)) {
            tmi_json_add_open(out, "columns", '[');
            for (size_t k = 0; k < s->plan->declared_count; k++)
                if (tmi_declaration_is_about(s, d->kind, &s->plan->columns[k]))
                    tmi_json_put_string(out, s->plan->columns[k].name);
            tmi_json_close(out, ']');
        }
        if (d->value > 0) tmi_json_add_real(out, d->kind == TMI_DECLARE_DEFF ? "tried" : "assumed", d->value);
        tmi_json_add_integer(out, "statistics", (int64_t)d->concerns);
        tmi_json_add_real(out, "error_lower_by", d->gain);
        tmi_json_close(out, '}');
    }
    tmi_json_close(out, ']');
}
