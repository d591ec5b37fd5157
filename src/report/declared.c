/* What the plan declares public. Nothing checks that it was not chosen by looking at the data, so it is told. */
#include "report/promise.h"

#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "report/report_words.h"

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

/* Without its name. */
static void column_words(tmi_text *words, const tmi_plan_column *column, const tmi_plan_design *design)
{
    if (column->is_category) {
        tmi_text_put(words, "the values ");
        for (size_t i = 0; i < column->value_count && i < MOST_VALUES; i++)
            tmi_text_format(words, "%s%s", i ? ", " : "", column->values[i]);
        if (column->value_count > MOST_VALUES) tmi_text_format(words, " and %zu more", column->value_count - MOST_VALUES);
    } else if (!column->by_stratum) {
        put_range(words, column->from, column->to, column->step);
    }
    for (size_t h = 0; column->by_stratum && h < design->stratum_count; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        tmi_text_format(words, "%s%s ", h ? "; " : "", design->strata[h].name);
        put_range(words, r->from, r->to, r->step);
    }
}

static void put_column(tmi_json_out *out, const tmi_plan_column *column, const tmi_plan_design *design, bool page)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_format(&words, "%s", page ? tmi_column_label(column) : column->name);
    if (page && column->measured_in) tmi_text_format(&words, " (%s)", column->measured_in);
    tmi_text_put(&words, ": ");
    column_words(&words, column, design);
    put_words(out, &words);
}

/* What the header of a source says of a column, and every engine compares with the plan before the charge (tmi_class_check). */
static bool has_columns(const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    return plan->declared_count > 0 || d->by || d->weight || d->probability || d->second_population || d->cluster ||
           plan->privacy.id;
}

/* The frame, which stands in the certificate by its hash. */
static void put_frame(tmi_json_out *out, const tmi_schedule *s)
{
    const tmi_frame_facts *facts = tmi_frame_of(s);
    const tmi_plan_design *d = &s->plan->design;
    tmi_text words;
    tmi_text_init(&words);
    for (size_t h = 0; h < facts->count; h++) {
        const tmi_frame_stratum *f = &facts->strata[h];
        tmi_text_format(&words, "the frame%s%s: ", d->by ? ", stratum " : "", d->by ? d->strata[h].name : "");
        tmi_text_rounded(&words, (double)f->units, 0);
        tmi_text_format(&words, " units with probabilities from %.4g", tmi_number_nearest(f->smallest));
        if (f->largest) tmi_text_format(&words, " to %.4g", tmi_number_nearest(f->largest));
        if (f->largest && f->certain > 0) tmi_text_format(&words, ", %lld of them certain to be drawn", (long long)f->certain);
        put_words(out, &words);
    }
}

static void put_wave(tmi_json_out *out, const tamis_plan *plan)
{
    const tmi_plan_wave *wave = &plan->wave;
    tmi_text words;
    tmi_text_init(&words);
    if (wave->group_count > 0) {
        tmi_text_format(&words, "the wave %s has the rotation group%s ", wave->name, wave->group_count > 1 ? "s" : "");
        for (size_t i = 0; i < wave->group_count; i++) tmi_text_format(&words, "%s%s", i > 0 ? ", " : "", wave->groups[i]);
        tmi_text_format(&words, "; every %s belongs to one group in all waves, and which group is fixed and public", plan->privacy.unit);
        put_words(out, &words);
    }
    if (!wave->same_sample) return;
    tmi_text_format(&words, "the wave %s has the sample of the wave before", wave->name);
    put_words(out, &words);
}

static void put_before_columns(tmi_json_out *out, const tmi_schedule *s, bool page)
{
    const tamis_plan *plan = s->plan;
    const tmi_plan_design *d = &plan->design;
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(&words, "the design: ");
    tmi_describe_design_by(&words, d, !d->by ? NULL : page ? tmi_column_label(d->by) : d->by->name);
    put_words(out, &words);
    if (d->largest > 0) {
        tmi_text_format(&words, "no cluster has fewer than %lld units or more than %lld", (long long)d->smallest, (long long)d->largest);
        put_words(out, &words);
    }
    if (d->second_take > 0) {
        tmi_text_format(&words, "no cluster has more than %lld sampled units", (long long)d->second_take);
        put_words(out, &words);
    }
    if (d->deff) {
        tmi_text_put(&words, "the design effect ");
        tmi_text_number(&words, d->deff);
        put_words(out, &words);
    }
    bool clusters = d->kind->clusters;
    if (plan->privacy.id && (d->by || clusters)) {
        tmi_text_format(&words, "all rows of one %s lie in one %s%s%s", plan->privacy.unit, d->by ? "stratum" : "", d->by && clusters ? " and one " : "",
                        clusters ? "cluster" : "");
        put_words(out, &words);
    }
    if (plan->wave.name) put_wave(out, plan);
    if (plan->source.sharded_by_unit) tmi_json_put_string(out, "all rows of a unit stand in one part of the source");
    if (d->max_weight) {
        tmi_text_put(&words, "no weight above ");
        tmi_text_number(&words, d->max_weight);
        put_words(out, &words);
    }
    if (tmi_frame_of(s)) put_frame(out, s);
    if (d->weights_final) tmi_json_put_string(out, "the final weights");
}

static void put_after_columns(tmi_json_out *out, const tmi_schedule *s)
{
    if (has_columns(s->plan))
        tmi_json_put_string(out, "the types of the columns (number, text, date, boolean), the same for every sample");
    if (s->plan->control_count > 0) tmi_json_put_string(out, "the counts that the numbers are calibrated to");
}

/* `page`: columns are called by their labels. */
static void put_declared(tmi_json_out *out, const tmi_schedule *s, bool page)
{
    const tamis_plan *plan = s->plan;
    tmi_json_open(out, '[');
    put_before_columns(out, s, page);
    for (size_t i = 0; i < plan->declared_count; i++) put_column(out, &plan->columns[i], &plan->design, page);
    put_after_columns(out, s);
    tmi_json_close(out, ']');
}

void tmi_put_declared(tmi_json_out *out, const tmi_schedule *s)
{
    put_declared(out, s, false);
}

void tmi_put_declared_words(tmi_json_out *out, const tmi_schedule *s)
{
    put_declared(out, s, true);
}

#define FEW 3         /* columns of which the same is declared that have a line of their own */
#define NAMES_SHOWN 6 /* of more of them */

/* The columns of which the same is declared as of the first one: their names, and how many they are. */
static size_t alike_names(tmi_text *names, const tamis_plan *plan, const tmi_text *words, size_t first)
{
    size_t count = 0;
    for (size_t i = first; i < plan->declared_count && !words->failed; i++) {
        if (strcmp(words[i].bytes, words[first].bytes) != 0) continue;
        if (count++ < NAMES_SHOWN) tmi_text_format(names, "%s%s", count > 1 ? ", " : "", plan->columns[i].name);
    }
    if (count > NAMES_SHOWN) tmi_text_format(names, " and %zu more", count - NAMES_SHOWN);
    return count;
}

/* The same list, columns of which the same is declared in one sentence. */
static void put_declared_once(tmi_json_out *out, const tmi_schedule *s)
{
    const tamis_plan *plan = s->plan;
    tmi_text *words = tmi_alloc(plan->declared_count + 1, sizeof *words), names;
    bool *shown = tmi_alloc(plan->declared_count + 1, sizeof *shown);
    tmi_json_open(out, '[');
    put_before_columns(out, s, false);
    if (!words || !shown) out->text->failed = true;
    for (size_t i = 0; words && i < plan->declared_count; i++) {
        tmi_text_init(&words[i]);
        column_words(&words[i], &plan->columns[i], &plan->design);
        if (words[i].failed) out->text->failed = true;
    }
    for (size_t i = 0; !out->text->failed && i < plan->declared_count; i++) {
        if (shown[i]) continue;
        tmi_text_init(&names);
        bool many = alike_names(&names, plan, words, i) > FEW;
        for (size_t j = i; many && j < plan->declared_count; j++) shown[j] = shown[j] || strcmp(words[j].bytes, words[i].bytes) == 0;
        tmi_text_format(&names, ": %s", words[i].bytes);
        if (names.failed) out->text->failed = true;
        if (many) put_words(out, &names);
        else put_column(out, &plan->columns[i], &plan->design, false);
        tmi_text_clear(&names);
    }
    for (size_t i = 0; words && i < plan->declared_count; i++) tmi_text_clear(&words[i]);
    tmi_free(words);
    tmi_free(shown);
    put_after_columns(out, s);
    tmi_json_close(out, ']');
}

tmi_json *tmi_items(tmi_put_items *put, const tmi_schedule *schedule)
{
    tmi_text json;
    tmi_json_out out;
    tmi_json *list = NULL;
    tmi_text_init(&json);
    tmi_json_out_init(&out, &json, false);
    put(&out, schedule);
    if (!json.failed && tmi_json_read(&list, json.bytes, json.length, NULL) != TAMIS_OK) list = NULL;
    tmi_text_clear(&json);
    return list;
}

void tmi_write_declared(tmi_text *text, const tmi_schedule *schedule, bool all)
{
    tmi_json *list = tmi_items(all ? tmi_put_declared : put_declared_once, schedule);
    if (!list) text->failed = true;
    tmi_text_put(text, "\nDeclared public, not checked\n");
    for (size_t i = 0; list && i < tmi_json_size(list); i++) tmi_text_wrap(text, "  - ", "    ", tmi_json_string(tmi_json_at(list, i)));
    tmi_json_free(list);
}
