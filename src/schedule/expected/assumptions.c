#include "schedule/expected/assumptions.h"

#include <math.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "schedule/guesses.h"

typedef struct listener {
    tmi_take_assumption *take;
    void *context;
} listener;

/* ---- of the design ---- */

static tamis_status say_number(const listener *l, const char *before, double number, const char *after, const char *declare,
                               tamis_error *err)
{
    tmi_text text;
    tmi_text_init(&text);
    tmi_text_put(&text, before);
    tmi_text_rounded(&text, number, number == floor(number) ? 0 : number < 10 ? 2 : 1);
    tmi_text_put(&text, after);
    tamis_status status = text.failed ? tmi_fail_memory(err) : TAMIS_OK;
    if (status == TAMIS_OK) l->take(l->context, &(tmi_assumption){.assumed = text.bytes, .declare = declare});
    tmi_text_clear(&text);
    return status;
}

static void say(const listener *l, const char *assumed, const char *declare)
{
    l->take(l->context, &(tmi_assumption){.assumed = assumed, .declare = declare});
}

/* Of units in a cluster, where the sizes count rows. */
static double units_sd(const tmi_sizes *z)
{
    const double units = z->cluster / z->rows, of_rows = units * z->rows_sd * z->rows_sd;
    return sqrt(fmax(z->cluster_sd * z->cluster_sd - of_rows, 0)) / z->rows;
}

static tamis_status say_clusters(const listener *l, const tmi_schedule *s, const tmi_sizes *z, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_typical *t = &d->typical;
    const bool rows = tmi_counts_rows(s->plan);
    static const char clusters[] = "design: {typical: {cluster: {mean: 12, sd: 4}}}";
    tamis_status status = TAMIS_OK;
    if (rows && !t->rows)
        TMI_TRY(say_number(l, "a unit has ", (1 + (double)s->plan->privacy.rows_per_unit) / 2, " rows on average",
                           "design: {typical: {rows: {mean: 2.5, sd: 1}}}", err));
    if (rows && !t->rows_sd)
        TMI_TRY(say_number(l, "the numbers of rows per unit have a standard deviation of ", z->rows_sd, "",
                           "design: {typical: {rows: {mean: 2.5, sd: 1}}}", err));
    if (tmi_guesses_cluster(d) && !t->cluster)
        TMI_TRY(say_number(l, "a cluster has ", z->cluster / z->rows, " units on average", clusters, err));
    if (tmi_guesses_cluster(d) && !t->cluster_sd)
        TMI_TRY(say_number(l, "the sizes of clusters have a standard deviation of ", units_sd(z), "", clusters, err));
    if (tmi_guesses_taken(d) && !t->taken)
        TMI_TRY(say_number(l, "", fmin(z->cluster / z->rows, TMI_TAKEN_ASSUMED), " units are drawn in a cluster",
                           "design: {typical: {taken: 5}}", err));
    if ((d->cluster || rows) && !t->icc)
        TMI_TRY(say_number(l, "an intraclass correlation of ", TMI_ICC_ASSUMED, ": how alike units of the same cluster are",
                           "design: {typical: {icc: 0.1}}", err));

done:
    return status;
}

static tamis_status say_design(const listener *l, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_design *d = &s->plan->design;
    const tmi_plan_typical *t = &d->typical;
    tmi_sizes z;
    tamis_status status = TAMIS_OK;
    tmi_sizes_make(&z, s);
    if (tmi_draws_clusters_unequally(d) && tmi_guesses_population(d) && !t->population)
        say(l, "a mean weight of a third of max_weight", "design: {typical: {population: 500}}");
    else if (tmi_guesses_population(d) && !t->population)
        TMI_TRY(say_number(l, "a population of ", TMI_UNITS_ASSUMED, " units", "design: {typical: {population: 50000}}", err));
    if (isnan(z.sample))
        say(l, "nothing about the sample size, so no sampling error can be predicted", "design: {typical: {sample: 2000}}");
    else if (tmi_guesses_sample(d) && !t->sample)
        TMI_TRY(say_number(l, "a sample of ", round(tmi_sample_from_weights(d)),
                           " units: three times the population divided by the largest weight",
                           "design: {typical: {sample: 2000}}", err));
    if (d->nonresponse && !t->response) say(l, "everybody who was sampled responds", "design: {typical: {response: 0.6}}");
    TMI_TRY(say_clusters(l, s, &z, err));

done:
    return status;
}

/* ---- of columns ---- */

#define SHARES_OR_LAW "of a category: columns: {NAME: {typical: {\"Yes\": 0.3}}}; of a number: {typical: {mean: 600, sd: 120}}"

typedef enum kind { MEANS, SPREADS, PRESENT, SHARES, CURVES, CONDITIONS, KINDS } kind;

static const struct {
    const char *assumed, *declare;
} words[KINDS] = {
    [MEANS] = {"the mean is at three quarters of the range", "columns: {NAME: {typical: {mean: 600, sd: 120}}}"},
    [SPREADS] = {"the standard deviation is half the largest that bounds and mean allow",
                 "columns: {NAME: {typical: {mean: 600, sd: 120}}}"},
    [PRESENT] = {"every unit has a value", "columns: {NAME: {typical: {mean: 600, share: 0.5}}}, or `missing: none`"},
    [SHARES] = {"groups are of equal size", SHARES_OR_LAW},
    [CURVES] = {"values are spread evenly over the range", "columns: {NAME: {typical: {mean: 600, sd: 120}}}"},
    [CONDITIONS] = {"a condition holds for half of the units", SHARES_OR_LAW},
};

/* The shares of all values are said, or follow from what is said. */
static bool has_all_shares(const tmi_plan_column *c)
{
    size_t silent = 0;
    if (!tmi_has_shares(c)) return false;
    for (size_t i = 0; c->shares && i < c->value_count; i++) silent += c->shares[i] == NULL;
    return silent <= 1;
}

static bool conditions_are_said(const tmi_plan_column *indicator, const tmi_plan_column *about)
{
    for (size_t i = 0; i < indicator->condition_count; i++) {
        const tmi_plan_column *c = indicator->conditions[i].column;
        if (c == about && (c->is_number ? !c->typical_sd : !tmi_has_shares(c))) return false;
    }
    return true;
}

/* Whether a statistic needs an assumption of this kind about a declared column. */
static bool needs(const tmi_schedule *s, size_t i, kind k, const tmi_plan_column *c)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const bool about = t->column == c || t->second == c, certain = s->plan->design.kind->takes_all;
    const bool of_curve = tmi_is_of_curve(s->plan, i); /* a share of a distribution function */
    if (s->workload.maps[i].known) return false;
    switch (k) {
    case MEANS: return about && !c->typical;
    case SPREADS: return about && !c->typical_sd && (!certain || t->kind == TMI_VARIANCE);
    case PRESENT: return about && c->is_number && c->missing == TMI_LEAVE_OUT && !c->typical && !c->typical_share;
    case SHARES:
        for (size_t j = 0; j < t->by_count; j++) {
            const bool parts = t->by[j]->recode_of && t->by[j]->recode_of != s->plan->design.by;
            const tmi_plan_column *by = parts ? t->by[j]->recode_of : t->by[j];
            const bool strata = tmi_is_of_strata(&s->plan->design, by) &&
                                s->sampling.public_strata; /* their sizes are declared */
            if ((by == c || by->cut_of == c) && !strata && by->value_count > 1 && !has_all_shares(by)) return true;
        }
        return false;
    case CURVES: return of_curve && !conditions_are_said(t->column, c);
    default: break;
    }
    const tmi_plan_column *const indicators[] = {of_curve ? NULL : t->column, t->second, t->where};
    for (size_t j = 0; j < 3; j++)
        if (indicators[j] && indicators[j]->conditions && !conditions_are_said(indicators[j], c)) return true;
    return false;
}

tamis_status tmi_assumptions(const tmi_schedule *s, tmi_take_assumption *take, void *context, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    const listener l = {take, context};
    const char **names = tmi_alloc(plan->declared_count + 1, sizeof *names);
    bool any = false;
    tamis_status status = TAMIS_OK;
    if (!names) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->statistic_count; i++) any = any || !s->workload.maps[i].known;
    if (any) TMI_TRY(say_design(&l, s, err));
    for (size_t k = 0; k < KINDS; k++) {
        size_t count = 0;
        for (size_t c = 0; c < plan->declared_count; c++) {
            bool needed = false;
            for (size_t i = 0; i < plan->statistic_count && !needed; i++) needed = needs(s, i, (kind)k, &plan->columns[c]);
            if (needed) names[count++] = plan->columns[c].name;
        }
        if (count > 0) take(context, &(tmi_assumption){words[k].assumed, words[k].declare, names, count});
    }

done:
    tmi_free(names);
    return status;
}
