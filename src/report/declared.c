/* What the plan declares public. Nothing checks that it was not chosen by looking at the data, so it is listed. */
#include "report/promise.h"

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/table.h"
#include "plan/json_fields.h"
#include "report/report_words.h"

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
        if (column->recode && column->recode_of == design->by) tmi_text_put(words, ", which follow from the strata");
        else if (column->recode) tmi_text_format(words, ", which follow from %s", column->recode_of->name);
    } else if (column->times) {
        tmi_text_put(words, "from ");
        tmi_text_number(words, column->from);
        tmi_text_put(words, " to ");
        tmi_text_number(words, column->times);
        tmi_text_format(words, " times %s in the frame, in steps of ", column->of);
        tmi_text_number(words, column->step);
    } else if (column->private_share) {
        tmi_text_put(words, "from ");
        tmi_text_number(words, column->from);
        tmi_text_put(words, " to a bound that is found with ");
        tmi_text_number(words, column->private_share);
        tmi_text_put(words, " of the budget, ");
        tmi_text_number(words, column->to);
        tmi_text_put(words, " or a half, a quarter ... of it, in steps of ");
        tmi_text_number(words, column->step);
        tmi_text_put(words, ", halved as often");
    } else if (!column->by_stratum) {
        put_range(words, column->from, column->to, column->step);
    }
    if (column->contribution) {
        tmi_text_put(words, "; in totals weight times value counts up to ");
        tmi_text_number(words, column->contribution);
    }
    if (column->unit_contribution) {
        tmi_text_put(words, "; in totals weight times value of a unit's rows counts up to ");
        tmi_text_number(words, column->unit_contribution);
    }
    for (size_t h = 0; column->by_stratum && h < design->stratum_count; h++) {
        const tmi_plan_range *r = &column->by_stratum[h];
        tmi_text_format(words, "%s%s ", h ? "; " : "", design->strata[h].name);
        put_range(words, r->from, r->to, r->step);
    }
    if (column->missing == TMI_NEVER) tmi_text_put(words, "; no value is missing");
}

static void add_column(tmi_lines *lines, const tmi_plan_column *column, const tmi_plan_design *design, bool page)
{
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_format(&words, "%s", page ? tmi_column_label(column) : column->name);
    if (page && column->measured_in) tmi_text_format(&words, " (%s)", column->measured_in);
    tmi_text_put(&words, ": ");
    column_words(&words, column, design);
    tmi_lines_take(lines, &words);
}

/* What the header of a source says of a column, and every engine compares with the plan before the charge (tmi_class_check). */
static bool has_columns(const tamis_plan *plan)
{
    const tmi_plan_design *d = &plan->design;
    return plan->declared_count > 0 || d->by || d->weight || d->probability || d->second_population || d->cluster ||
           plan->privacy.id;
}

/* The frame, which is in the certificate by its hash. */
static void add_frame(tmi_lines *lines, const tmi_schedule *s)
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
        if (f->largest && f->certain > 0)
            tmi_text_format(&words, ", %lld of them certain to be drawn%s", (long long)f->certain,
                            s->sampling.parts == 2 ? "" : ", all in the file"); /* checked where it matters */
        tmi_lines_take(lines, &words);
    }
}

/* The list of clusters, by its hash too. */
static void add_psus(tmi_lines *lines, const tmi_schedule *s)
{
    const tmi_psu_facts *facts = tmi_psus_of(s);
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(&words, "the list of sampled clusters: ");
    tmi_text_rounded(&words, (double)tmi_psu_count(facts), 0);
    tmi_text_put(&words, " in ");
    tmi_text_rounded(&words, (double)facts->strata, 0);
    tmi_text_put(&words, facts->strata == 1 ? " stratum" : " strata");
    tmi_lines_take(lines, &words);
}

static void add_deff(tmi_lines *lines, const tamis_plan *plan)
{
    static const char *const families[] = {[TMI_TOTALS] = "totals", [TMI_SHARES] = "shares", [TMI_MEANS] = "means"};
    const tmi_plan_design *d = &plan->design;
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(&words, "the design effect ");
    tmi_text_number(&words, d->deff);
    for (size_t k = 0; k < TMI_FAMILIES; k++) {
        if (!d->deff_of[k]) continue;
        tmi_text_format(&words, ", of %s ", families[k]);
        tmi_text_number(&words, d->deff_of[k]);
    }
    for (size_t i = 0; i < plan->asked_count; i++) {
        if (!plan->statistics[i].deff) continue;
        tmi_text_format(&words, ", of statistic %zu ", i + 1);
        tmi_text_number(&words, plan->statistics[i].deff);
    }
    tmi_lines_take(lines, &words);
}

static void add_wave(tmi_lines *lines, const tamis_plan *plan)
{
    const tmi_plan_wave *wave = &plan->wave;
    tmi_text words;
    tmi_text_init(&words);
    if (wave->group_count > 0) {
        tmi_text_format(&words, "the wave %s has the rotation group%s ", wave->name, wave->group_count > 1 ? "s" : "");
        for (size_t i = 0; i < wave->group_count; i++) tmi_text_format(&words, "%s%s", i > 0 ? ", " : "", wave->groups[i]);
        tmi_text_format(&words, "; every %s is in the same group in all waves, and its group is fixed and public",
                        plan->privacy.unit);
        tmi_lines_take(lines, &words);
    }
    if (!wave->same_sample) return;
    tmi_text_format(&words, "the wave %s has the sample of the previous wave", wave->name);
    tmi_lines_take(lines, &words);
}

static void add_before_columns(tmi_lines *lines, const tmi_schedule *s, bool page)
{
    const tamis_plan *plan = s->plan;
    const tmi_plan_design *d = &plan->design;
    tmi_text words;
    tmi_text_init(&words);
    tmi_text_put(&words, "the design: ");
    tmi_describe_design_by(&words, d, !d->by ? NULL : page ? tmi_column_label(d->by) : d->by->name);
    tmi_lines_take(lines, &words);
    if (d->largest > 0) {
        tmi_text_format(&words, "no cluster has fewer than %lld units or more than %lld", (long long)d->smallest,
                        (long long)d->largest);
        tmi_lines_take(lines, &words);
    }
    if (d->second_take > 0) {
        tmi_text_format(&words, "no cluster has more than %lld sampled units", (long long)d->second_take);
        tmi_lines_take(lines, &words);
    }
    if (d->second_rate) {
        tmi_text_put(&words, "every unit of a sampled cluster was drawn by itself, with probability ");
        tmi_text_number(&words, d->second_rate);
        tmi_lines_take(lines, &words);
    }
    if (d->second_smallest > 0) {
        tmi_text_format(&words, "no cluster of the frame has fewer than %lld units", (long long)d->second_smallest);
        tmi_lines_take(lines, &words);
    }
    if (d->deff) add_deff(lines, plan);
    if (d->replicates.weights) {
        tmi_text_format(
            &words,
            "replicate weights (%s) are for estimates inside the agency: a release does not read them, and its standard "
            "errors follow from %s",
            tmi_replicate_type_name(d->replicates.type), d->deff ? "the public design effect" : "the design above");
        tmi_lines_take(lines, &words);
    }
    bool clusters = d->kind->clusters;
    if (plan->privacy.id && (d->by || clusters)) {
        tmi_text_format(&words, "all rows of one %s are in one %s%s%s", plan->privacy.unit, d->by ? "stratum" : "",
                        d->by && clusters ? " and one " : "", clusters ? "cluster" : "");
        tmi_lines_take(lines, &words);
    }
    if (plan->wave.name) add_wave(lines, plan);
    if (plan->source.sharded_by_unit) tmi_lines_add(lines, "all rows of a unit are in one part of the source");
    if (d->max_weight) {
        tmi_text_put(&words, "no weight above ");
        tmi_text_number(&words, d->max_weight);
        tmi_lines_take(lines, &words);
    }
    if (d->max_unit_weight) {
        tmi_text_format(&words, "no weights of one %s that add up to more than ", plan->privacy.unit);
        tmi_text_number(&words, d->max_unit_weight);
        tmi_lines_take(lines, &words);
    }
    if (tmi_frame_of(s)) add_frame(lines, s);
    if (tmi_psus_of(s)) add_psus(lines, s);
    if (d->weights_final) tmi_lines_add(lines, "the final weights");
}

/* Of each earlier release once. */
static void add_independent(tmi_lines *lines, const tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_contrast *c = plan->statistics[i].contrast;
        bool said = !c || !c->independent;
        for (size_t k = 0; k < i && !said; k++) {
            const tmi_plan_contrast *other = plan->statistics[k].contrast;
            said = other && other->independent && strcmp(tmi_last_name(other->since), tmi_last_name(c->since)) == 0;
        }
        tmi_text words;
        tmi_text_init(&words);
        if (said) continue;
        tmi_text_format(&words, "the sample and that of %s are independent", tmi_last_name(c->since));
        tmi_lines_take(lines, &words);
    }
}

static bool is_same_overlap(const tmi_plan_contrast *a, const tmi_plan_contrast *b)
{
    return a->before == b->before && a->overlap == b->overlap && a->compared[0].column == b->compared[0].column &&
           strcmp(tmi_last_name(a->since), tmi_last_name(b->since)) == 0;
}

/* Units in two samples, of each pair of columns once. */
static void add_overlaps(tmi_lines *lines, const tamis_plan *plan, bool page)
{
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_contrast *c = plan->statistics[i].contrast;
        bool said = !c || !c->before;
        for (size_t k = 0; k < i && !said; k++) {
            const tmi_plan_contrast *other = plan->statistics[k].contrast;
            said = other && other->before && is_same_overlap(other, c);
        }
        tmi_text words;
        tmi_text_init(&words);
        if (said) continue;
        const tmi_plan_column *now = c->compared[0].column;
        tmi_text_rounded(&words, (double)c->overlap, 0);
        tmi_text_format(&words, " units are in both this sample and that of %s; the column %s has their value of %s there",
                        tmi_last_name(c->since), page ? tmi_column_label(c->before) : c->before->name,
                        page ? tmi_column_label(now) : now->name);
        tmi_lines_take(lines, &words);
    }
}

static void add_after_columns(tmi_lines *lines, const tmi_schedule *s, bool page)
{
    if (has_columns(s->plan))
        tmi_lines_add(lines, "the types of the columns (number, text, date, boolean), the same for every sample");
    add_independent(lines, s->plan);
    add_overlaps(lines, s->plan, page);
    if (s->plan->control_count > 0) tmi_lines_add(lines, "the counts that the numbers are calibrated to");
}

static int compare_names(const void *x, const void *y)
{
    const tmi_plan_column *a = *(const tmi_plan_column *const *)x, *b = *(const tmi_plan_column *const *)y;
    return strcmp(a->name, b->name);
}

/* In the order of their names: that of a plan which is read out of its certificate, whose keys are sorted. */
static void add_columns_by_name(tmi_lines *lines, const tamis_plan *plan, bool page)
{
    const tmi_plan_column **sorted = tmi_alloc(plan->declared_count, sizeof *sorted);
    if (!sorted) lines->failed = true;
    for (size_t i = 0; sorted && i < plan->declared_count; i++) sorted[i] = &plan->columns[i];
    if (sorted) qsort(sorted, plan->declared_count, sizeof *sorted, compare_names);
    for (size_t i = 0; sorted && i < plan->declared_count; i++) add_column(lines, sorted[i], &plan->design, page);
    tmi_free(sorted);
}

void tmi_list_declared(tmi_lines *lines, const tmi_schedule *s, tmi_declared how)
{
    const tamis_plan *plan = s->plan;
    const bool page = how == TMI_DECLARED_ON_PAGE;
    add_before_columns(lines, s, page);
    if (how != TMI_DECLARED_IN_ORDER) add_columns_by_name(lines, plan, page);
    else
        for (size_t i = 0; i < plan->declared_count; i++) add_column(lines, &plan->columns[i], &plan->design, false);
    add_after_columns(lines, s, page);
}
