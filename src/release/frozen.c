/* What the first release of a sample fixes for its account, as a JSON object: a plan that differs in one of these fields is
 * about other people, or promises something else.                                                                  */
#include "base/json.h"
#include "release/promise.h"

static void put(tmi_json_out *out, const char *key, const char *text)
{
    tmi_json_key(out, key);
    tmi_json_put_string(out, text);
}

static void put_number(tmi_json_out *out, const char *key, const tamis_number *number)
{
    if (!number) return;
    tmi_json_key(out, key);
    tmi_put_exact(out, number);
}

/* What is read of the source, by the names that the plan gives; connections may hold passwords and stay out. */
static void put_source(tmi_json_out *out, const tmi_plan_source *source)
{
    tmi_json_key(out, "source");
    tmi_json_open(out, '{');
    tmi_json_key(out, "files");
    tmi_json_open(out, '[');
    for (size_t i = 0; i < source->file_count; i++) tmi_json_put_string(out, source->names[i]);
    tmi_json_close(out, ']');
    tmi_json_key(out, "connections");
    tmi_json_put_integer(out, (int64_t)source->connection_count);
    put(out, "table", source->table);
    tmi_json_close(out, '}');
}

static void put_columns(tmi_json_out *out, const tmi_plan_design *d)
{
    const struct {
        const char *key, *name;
    } columns[] = {{"probability", d->probability}, {"cluster", d->cluster}, {"second_population", d->second_population},
                   {"second_sample", d->second_sample}, {"strata_label", d->strata_label}, {"weight", d->weight},
                   {"method", d->method}, {"frame", d->frame}};
    tmi_json_key(out, "design_columns");
    tmi_json_open(out, '{');
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (columns[i].name) put(out, columns[i].key, columns[i].name);
    put_number(out, "max_weight", d->max_weight);
    put_number(out, "weight_step", d->weight_step);
    put_number(out, "deff", d->deff);
    tmi_json_key(out, "sizes");
    tmi_json_open(out, '[');
    tmi_json_put_integer(out, d->smallest);
    tmi_json_put_integer(out, d->largest);
    tmi_json_put_integer(out, d->second_take);
    tmi_json_close(out, ']');
    tmi_json_key(out, "final");
    tmi_json_put_boolean(out, d->weights_final);
    tmi_json_key(out, "nonresponse");
    tmi_json_put_boolean(out, d->nonresponse);
    tmi_json_key(out, "random_order");
    tmi_json_put_boolean(out, d->random_order);
    tmi_json_close(out, '}');
}

/* One stratum of the design as tamis_design_read takes it. */
static void put_one(tmi_json_out *out, const tmi_plan_design *d, const tmi_plan_stratum *s)
{
    tmi_json_open(out, '{');
    if (s->population > 0) tmi_json_key(out, "population"), tmi_json_put_integer(out, s->population);
    if (s->sample > 0 && d->kind != TMI_DESIGN_CENSUS) tmi_json_key(out, "sample"), tmi_json_put_integer(out, s->sample);
    put_number(out, "rate", s->rate);
    if (d->kind == TMI_DESIGN_SYSTEMATIC) put(out, "order", d->random_order ? "random" : "public");
    if (d->kind == TMI_DESIGN_CLUSTER) {
        tmi_json_key(out, "smallest");
        tmi_json_put_integer(out, d->smallest);
        tmi_json_key(out, "largest");
        tmi_json_put_integer(out, d->largest);
    }
    tmi_json_close(out, '}');
}

/* What sampling adds, for those who look at the ledger alone: the design, or why nothing is claimed. */
static void put_outsider(tmi_json_out *out, const tmi_schedule *s)
{
    const tmi_plan_design *d = &s->plan->design;
    tmi_plan_design within = *d;
    within.by = NULL;
    tmi_json_key(out, "outsider");
    if (!s->outsider.proved || d->probability || d->kind == TMI_DESIGN_TWO_STAGE) {
        tmi_json_put_string(out, s->outsider.proved ? "the probabilities of the frame are not in the ledger" : s->outsider.reason);
        return;
    }
    tmi_json_open(out, '{');
    tmi_json_key(out, "design");
    tmi_json_open(out, '{');
    tmi_json_key(out, tmi_design_name(d));
    if (d->by) {
        tmi_json_open(out, '{');
        put(out, "within", tmi_design_name(&within));
        tmi_json_key(out, "strata");
        tmi_json_open(out, '[');
        for (size_t h = 0; h < d->stratum_count; h++) put_one(out, d, &d->strata[h]);
        tmi_json_close(out, ']');
        tmi_json_close(out, '}');
    } else {
        put_one(out, d, &d->strata[0]);
    }
    tmi_json_close(out, '}');
    tmi_json_close(out, '}');
}

tamis_status tmi_frozen_text(char **text, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_privacy *p = &s->plan->privacy;
    tmi_text json;
    tmi_json_out out;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    tmi_json_open(&out, '{');
    tmi_json_key(&out, "design");
    tmi_put_design(&out, s);
    put_columns(&out, &s->plan->design);
    put(&out, "design_variables", p->design_protected ? "protected" : "public");
    put(&out, "given", tamis_level_name(p->setting->given));
    put(&out, "id", p->id);
    put_outsider(&out, s);
    put(&out, "protect", tamis_level_name(p->setting->protect));
    tmi_json_key(&out, "rows_per_unit");
    tmi_json_put_integer(&out, p->rows_per_unit);
    tmi_json_key(&out, "secret_sample");
    tmi_json_put_boolean(&out, p->secret_sample);
    put_source(&out, &s->plan->source);
    put(&out, "unit", p->unit);
    tmi_json_close(&out, '}');
    return tmi_text_take(text, &json, err);
}
