/* What the plan declares public. Nothing checks that it was not chosen by looking at the data, so it is told. */
#include "release/certificate.h"
#include "release/promise.h"

static void put_words(tmi_json_out *out, tmi_text *words)
{
    if (words->failed) out->text->failed = true;
    tmi_json_put_string(out, words->bytes);
    tmi_text_clear(words);
}

static void put_range(tmi_text *words, const tamis_number *from, const tamis_number *to, const tamis_number *step)
{
    tmi_text_put(words, "from ");
    tmi_text_number(words, from);
    tmi_text_put(words, " to ");
    tmi_text_number(words, to);
    tmi_text_put(words, " in steps of ");
    tmi_text_number(words, step);
}

#define MOST_VALUES 20 /* written out; the plan has all of them */

static void put_column(tmi_json_out *out, const tmi_plan_column *column, const tmi_plan_design *design)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_format(&words, "%s: ", column->name);
    if (column->is_category) {
        tmi_text_put(&words, "the values ");
        for (size_t i = 0; i < column->value_count && i < MOST_VALUES; i++)
            tmi_text_format(&words, "%s%s", i ? ", " : "", column->values[i]);
        if (column->value_count > MOST_VALUES) tmi_text_format(&words, " and %zu more", column->value_count - MOST_VALUES);
    } else if (!column->by_stratum) {
        put_range(&words, column->from, column->to, column->step);
    }
    for (size_t h = 0; column->by_stratum && h < design->stratum_count; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        tmi_text_format(&words, "%s%s ", h ? "; " : "", design->strata[h].name);
        put_range(&words, r->from, r->to, r->step);
    }
    put_words(out, &words);
}

void tmi_put_declared(tmi_json_out *out, const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    tmi_text words;
    tmi_json_open(out, '[');
    tmi_text_init(&words);
    tmi_text_put(&words, "the design: ");
    tmi_describe_design(&words, d);
    put_words(out, &words);
    if (d->max_weight) {
        tmi_text_put(&words, "no weight above ");
        tmi_text_number(&words, d->max_weight);
        put_words(out, &words);
    }
    if (d->frame) tmi_json_put_string(out, "the probabilities of all units of the frame");
    if (d->weights_final) tmi_json_put_string(out, "the final weights");
    for (size_t i = 0; i < plan->declared_count; i++) put_column(out, &plan->columns[i], d);
    if (plan->control_count > 0) tmi_json_put_string(out, "the totals that the numbers are calibrated to");
    tmi_json_close(out, ']');
}
