#include "schedule/expected/declarations.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "schedule/expected/change.h"
#include "schedule/guesses.h"
#include "schedule/standard_errors.h"

#define WORTH_IT 0.05
#define UNCHANGED 0.01
#define FAR_OFF 3         /* by this factor a guess may be wrong */
#define PSUS_IN_STRATUM 4 /* where nobody says how many clusters were drawn in each */

/* ---- columns ---- */

static bool asks_for(const tmi_plan_column *asked, const tmi_plan_column *column)
{
    bool asks = asked == column || (asked && asked->cut_of == column);
    for (size_t k = 0; asked && k < asked->condition_count; k++) asks = asks || asked->conditions[k].column == column;
    return asks;
}

static bool is_asked_for(const tmi_schedule *s, size_t i, const tmi_plan_column *column)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    bool asked = asks_for(t->column, column) || asks_for(t->second, column) || asks_for(t->where, column);
    for (size_t k = 0; k < t->by_count; k++) asked = asked || asks_for(t->by[k], column);
    return asked && !s->workload.maps[i].known;
}

bool tmi_declaration_is_about(const tmi_schedule *s, tmi_declaration_kind kind, const tmi_plan_column *c)
{
    double bound;
    bool asked = false;
    if (kind == TMI_DECLARE_COMPLETE && !tmi_change_completes(s->plan, c)) return false;
    if (kind == TMI_DECLARE_CONTRIBUTION && !tmi_change_contribution(&bound, s, c)) return false;
    if (kind == TMI_DECLARE_OF_UNITS && !tmi_change_unit_contribution(&bound, s, c)) return false;
    for (size_t i = 0; i < s->plan->statistic_count && !asked; i++) {
        const tmi_plan_statistic *t = &s->plan->statistics[i];
        asked = kind == TMI_DECLARE_COMPLETE ? is_asked_for(s, i, c) : t->column == c && (t->kind == TMI_TOTAL || tmi_by_size(t));
    }
    return asked;
}

static bool is_about_any(const tmi_schedule *s, tmi_declaration_kind kind)
{
    for (size_t i = 0; i < s->plan->declared_count; i++)
        if (tmi_declaration_is_about(s, kind, &s->plan->columns[i])) return true;
    return false;
}

/* ---- what it gains ---- */

/* The noise alone where the sampling error cannot be foreseen both now and then. */
static double change_of(const tmi_expected_statistic *now, const tmi_expected_statistic *then)
{
    double sum = 0;
    for (size_t k = 0; k < now->count; k++) {
        const tmi_expected_group *a = &now->groups[k], *b = &then->groups[k];
        const double before = tmi_expected_group_error(a), after = tmi_expected_group_error(b);
        const bool foreseen = before > 0 && after > 0; /* neither is NaN */
        if (foreseen) sum += log(after / before);
        else if (tmi_expected_group_noise(a) > 0) /* a number without noise cannot gain */
            sum += log(tmi_expected_group_noise(b) / tmi_expected_group_noise(a));
    }
    return sum / (double)now->count;
}

static void compare(tmi_declaration *d, const tmi_schedule *s, const tmi_expected_statistic *now,
                    const tmi_expected_statistic *then)
{
    double sum = 0;
    size_t concerns = 0;
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        if (tmi_is_known(s, i) || now[i].count != then[i].count) continue;
        const double change = change_of(&now[i], &then[i]);
        if (!(fabs(change) > UNCHANGED) || !isfinite(change)) continue;
        sum += change;
        concerns++;
    }
    const double gain = concerns > 0 ? 1 - exp(sum / (double)concerns) : 0;
    if (!(gain > d->gain)) return;
    d->gain = gain;
    d->concerns = concerns;
}

static tamis_status try_fact(tmi_declaration *d, const tmi_schedule *s, const tmi_expected_statistic *now,
                             const tmi_change *change, tamis_error *err)
{
    tmi_expected_statistic *then = NULL;
    tamis_status status = tmi_change_expected(&then, s, change, err);
    if (status == TAMIS_OK && then) compare(d, s, now, then);
    tmi_expected_statistics_free(then, s->plan->statistic_count);
    return status;
}

/* If the truth is as the change has it: tables that were chosen for it, beside those of the plan. */
static tamis_status try_guess(tmi_declaration *d, const tmi_schedule *s, tmi_change change, tamis_error *err)
{
    tmi_expected_statistic *answers = NULL, *kept = NULL;
    tamis_status status;
    TMI_TRY(tmi_change_expected(&answers, s, &change, err));
    change.same_tables = true;
    TMI_TRY(tmi_change_expected(&kept, s, &change, err));
    if (answers && kept) compare(d, s, kept, answers);

done:
    tmi_expected_statistics_free(answers, s->plan->statistic_count);
    tmi_expected_statistics_free(kept, s->plan->statistic_count);
    return status;
}

/* ---- one by one ---- */

static tamis_status try_psus(tmi_declaration *d, const tmi_schedule *s, const tmi_expected_statistic *now, const tmi_sizes *z,
                             tamis_error *err)
{
    const tmi_plan_design *design = &s->plan->design;
    const double clusters = fmin(z->sample / z->taken, (double)TMI_MAX_PSUS);
    const double strata = design->strata_label ? fmax(floor(clusters / PSUS_IN_STRATUM), 1) : 1;
    if (!design->kind->only_weights || design->by || !design->cluster || design->psus || !(clusters >= 2)) return TAMIS_OK;
    tmi_psu_facts facts = {.strata = (size_t)strata};
    facts.clusters = tmi_alloc(facts.strata, sizeof *facts.clusters);
    if (!facts.clusters) return tmi_fail_memory(err);
    for (size_t h = 0; h < facts.strata; h++) facts.clusters[h] = (int64_t)(clusters / strata);
    const tamis_status status = try_fact(d, s, now, &(tmi_change){.psus = &facts}, err);
    tmi_free(facts.clusters);
    return status;
}

/* That of means, if all is as expected, in two digits. */
static tamis_status try_deff(tmi_declaration *d, const tmi_schedule *s, const tmi_expected_statistic *now, tamis_error *err)
{
    const tmi_plan_design *design = &s->plan->design;
    const tmi_cluster_guess g = tmi_cluster_guess_of(s);
    if (!design->kind->only_weights || design->deff || tmi_counts_rows(s->plan)) return TAMIS_OK;
    d->value = s->sampling.clustered ? fmax(round(10 * tmi_expected_design_effect(TMI_EFFECTS_OF_MEANS, &g)) / 10, 1) : 1;
    return try_fact(d, s, now, &(tmi_change){.deff = d->value}, err);
}

static tamis_status try_sample(tmi_declaration *d, const tmi_schedule *s, const tmi_sizes *z, tamis_error *err)
{
    const tmi_plan_design *design = &s->plan->design;
    const double units = z->units / z->rows, assumed = z->sample / z->rows;
    tamis_status status = TAMIS_OK;
    if (!tmi_guesses_sample(design) || design->typical.sample) return TAMIS_OK;
    d->value = isnan(assumed) ? 0 : assumed;
    const double middle = d->value > 0 ? d->value : fmin(FAR_OFF * units / tmi_number_nearest(design->max_weight), units);
    for (int side = -1; side <= 1; side++) {
        const double sample = fmin(ceil(middle * pow(FAR_OFF, side)), units);
        if (sample == middle && d->value > 0) continue;
        TMI_TRY(try_guess(d, s, (tmi_change){.sample_guess = sample}, err));
    }

done:
    return status;
}

static tamis_status try_cluster(tmi_declaration *d, const tmi_schedule *s, const tmi_sizes *z, tamis_error *err)
{
    const tmi_plan_design *design = &s->plan->design;
    tamis_status status = TAMIS_OK;
    if (!tmi_guesses_cluster(design) || design->typical.cluster || design->largest > 0) return TAMIS_OK;
    d->value = z->cluster / z->rows;
    for (int side = -1; side <= 1; side += 2)
        TMI_TRY(try_guess(d, s, (tmi_change){.cluster_guess = fmax(d->value * pow(FAR_OFF, side), 1)}, err));

done:
    return status;
}

static tamis_status try_kind(tmi_declaration *d, const tmi_schedule *s, const tmi_expected_statistic *now, const tmi_sizes *z,
                             tamis_error *err)
{
    switch (d->kind) {
    case TMI_DECLARE_COMPLETE:
        return is_about_any(s, d->kind) ? try_fact(d, s, now, &(tmi_change){.complete = true}, err) : TAMIS_OK;
    case TMI_DECLARE_CONTRIBUTION:
        return is_about_any(s, d->kind) ? try_fact(d, s, now, &(tmi_change){.contributions = true}, err) : TAMIS_OK;
    case TMI_DECLARE_OF_UNITS:
        return is_about_any(s, d->kind) ? try_fact(d, s, now, &(tmi_change){.unit_contributions = true}, err) : TAMIS_OK;
    case TMI_DECLARE_PSUS: return try_psus(d, s, now, z, err);
    case TMI_DECLARE_DEFF: return try_deff(d, s, now, err);
    case TMI_DECLARE_SAMPLE: return try_sample(d, s, z, err);
    default: return try_cluster(d, s, z, err);
    }
}

static int by_gain(const void *x, const void *y)
{
    const tmi_declaration *a = x, *b = y;
    if (a->gain != b->gain) return a->gain < b->gain ? 1 : -1;
    return a->kind < b->kind ? -1 : 1;
}

tamis_status tmi_declarations_find(tmi_declaration *list, size_t *count, const tmi_schedule *s, const tmi_expected_statistic *now,
                                   tamis_error *err)
{
    tmi_sizes z;
    tamis_status status = TAMIS_OK;
    *count = 0;
    if (s->measurement_count == 0) return TAMIS_OK;
    tmi_sizes_make(&z, s);
    for (size_t k = 0; k < TMI_DECLARATIONS; k++) {
        tmi_declaration *d = &list[*count];
        *d = (tmi_declaration){.kind = (tmi_declaration_kind)k};
        TMI_TRY(try_kind(d, s, now, &z, err));
        if (d->gain >= WORTH_IT) ++*count;
    }
    qsort(list, *count, sizeof *list, by_gain);

done:
    if (status != TAMIS_OK) *count = 0;
    return status;
}
