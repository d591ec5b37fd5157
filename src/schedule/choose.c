/* Which tables a plan measures, and with which parts of its budget.
 *
 * Strata with weights of their own may be measured apart, the weight coming after the noise, or together, weights in the table;
 * with epsilon and delta the noise may be Laplace's with all of epsilon, or Gaussian with the largest rho whose certified
 * conversion stays within both. Every combination is searched, and the one with the smallest expected errors is taken; the choice
 * looks at nothing but the plan. Parts are rounded to integers of 12 bits, so that they are short fractions; they add up to the
 * whole exactly. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/engine.h"
#include "num/exact.h"
#include "schedule/baseline.h"
#include "schedule/clusters/paired.h"

#define FINENESS 4096
#define FEWEST_GROUPS 8    /* of clusters: squares of fewer say too little, even without noise */
#define MANY_STATISTICS 50 /* too many to search with every number of groups: which one is best shows at the start */

typedef struct choice {
    double objective, gap;
    bool apart, joined, gaussian, squared;
    size_t groups;
    tmi_shape *shapes;
    double *parts;
    size_t count;
} choice;

static void choice_clear(choice *c)
{
    tmi_free(c->shapes);
    tmi_free(c->parts);
    *c = (choice){.objective = INFINITY, .gap = NAN};
}

static tamis_status keep(choice *best, const tmi_found_tables *found, const tmi_schedule *s, bool gaussian, tamis_error *err)
{
    choice_clear(best);
    best->shapes = tmi_alloc(found->best.count, sizeof *best->shapes);
    best->parts = tmi_alloc(found->best.count, sizeof *best->parts);
    if (!best->shapes || !best->parts) return tmi_fail_memory(err);
    for (size_t k = 0; k < found->best.count; k++) {
        best->shapes[k] = found->best.tables[k]->shape;
        best->parts[k] = found->best.parts[k];
    }
    best->count = found->best.count;
    best->objective = found->objective;
    best->gap = found->gap;
    best->apart = s->workload.apart;
    best->joined = s->workload.joined;
    best->groups = s->groups;
    best->squared = s->squared;
    best->gaussian = gaussian;
    return TAMIS_OK;
}

/* ---- held to what each statistic would have by itself ---- */

#define ROUNDS 12
#define FIRM 1.5      /* power by which the share of a statistic that is worse off grows */
#define TOLERATED 1.1 /* of the variance that a statistic would have by itself: 5 % of its error */

/* The expected variance of an aim relative to what it would be by itself. */
static double excess_of(const tmi_aim *a, double alone)
{
    return isfinite(alone) ? (a->sampling + a->noise_variance) / (a->sampling + alone) : 0;
}

/* The largest over all statistics. */
static double worst_excess(tmi_problem *p, const tmi_strategy *strategy, const double *alone)
{
    double worst = 0;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->aim_count; i++) worst = fmax(worst, excess_of(&p->aims[i], alone[i]));
    return worst;
}

/* Raises the shares of statistics that are worse off than by themselves; whether there are any. */
static bool raise_shares(tmi_problem *p, const tmi_strategy *strategy, const double *alone)
{
    bool any = false;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->aim_count; i++) {
        if (!(excess_of(&p->aims[i], alone[i]) > TOLERATED)) continue;
        p->aims[i].share *= fmin(pow(p->aims[i].noise_variance / alone[i], FIRM), 8);
        any = true;
    }
    return any;
}

/* No statistic is worse off than by itself, whatever the others gain. Where the search has sacrificed one, the tables that each
 * would have by itself join those that were found, and shares are raised until the division of the budget is fair. If that does
 * not suffice, the tables of each by itself take over, as far as needed: with all of the budget they are fair. */
static tamis_status hold(tmi_found_tables *found, tmi_search *search, const tmi_aims *aims, const tmi_baseline_tables *tables,
                         const double *alone, tamis_error *err)
{
    tmi_problem *p = &search->problem;
    double *gains = tmi_alloc(4 * aims->support_count + 2, sizeof *gains);
    bool put;
    tamis_status status = TAMIS_OK;
    if (!gains) return tmi_fail_memory(err);
    if (worst_excess(p, &found->best, alone) <= TOLERATED) goto done;
    TMI_TRY(tmi_search_put(&put, found, search, tables->shapes, tables->parts, tables->count, 0.5, err));
    for (int round = 0; round < ROUNDS && raise_shares(p, &found->best, alone); round++) {
        tmi_budget_improve(p, &found->best, gains, 10, NULL);
        if (round == ROUNDS / 2) TMI_TRY(tmi_search_resume(found, search, aims->supports, aims->support_count, err));
    }
    for (int part = 1; part <= 4 && worst_excess(p, &found->best, alone) > TOLERATED; part++)
        TMI_TRY(tmi_search_put(&put, found, search, tables->shapes, tables->parts, tables->count, part / 4.0, err));

done:
    tmi_free(gains);
    return status;
}

/* Tables that serve sampling variances alone get at most this part of the budget: beyond it an interval gains nothing, and the
 * estimates lose. Where a stratum has a single cluster no variance is read from them, and they get next to nothing. */
#define FOR_VARIANCES 0.4
#define FOR_NO_VARIANCES (1.0 / FINENESS)

static void limit_variances(tmi_strategy *s, double most)
{
    double all = 0;
    for (size_t k = 0; k < s->count; k++)
        if (s->tables[k]->shape.family >= TMI_SPREAD) all += s->parts[k];
    for (size_t k = 0; k < s->count && all > most && all < 1; k++)
        s->parts[k] *= s->tables[k]->shape.family >= TMI_SPREAD ? most / all : (1 - most) / (1 - all);
}

/* Each statistic by itself, if that is better by the measure of the search: it may have ended elsewhere, and what it found may
 * have become worse since, held to ceilings and limits. */
static tamis_status fall_back(tmi_found_tables *found, tmi_search *search, const tmi_baseline_tables *alone, const double *shares,
                              double most, tamis_error *err)
{
    const size_t count = found->best.count;
    const tmi_strategy now = {tmi_alloc(count, sizeof *now.tables), tmi_alloc(count, sizeof *now.parts), count};
    bool put = false;
    tamis_status status = TAMIS_OK;
    if (!now.tables || !now.parts) TMI_TRY(tmi_fail_memory(err));
    if (count == 0) goto done;
    memcpy(now.tables, found->best.tables, count * sizeof *now.tables);
    memcpy(now.parts, found->best.parts, count * sizeof *now.parts);
    TMI_TRY(tmi_search_put(&put, found, search, alone->shapes, alone->parts, alone->count, 1, err));
    if (!put) goto done;
    limit_variances(&found->best, most);
    const double objective = tmi_objective_of(&search->problem, &found->best, shares);
    if (objective < found->objective) {
        found->objective = objective;
        goto done;
    }
    memcpy(found->best.tables, now.tables, count * sizeof *now.tables);
    memcpy(found->best.parts, now.parts, count * sizeof *now.parts);
    found->best.count = count;

done:
    tmi_free(now.tables);
    tmi_free(now.parts);
    return status;
}

/* `rough`: only what a search starts with. */
static tamis_status try_noise(choice *best, const tmi_schedule *s, tmi_aims *aims, bool gaussian, double budget, bool rough,
                              tamis_error *err)
{
    static const bool forms[TMI_WEIGHINGS] = {[TMI_UNWEIGHED] = true,
                                              [TMI_WEIGHED] = true,
                                              [TMI_CONTRIBUTED] = true,
                                              [TMI_SPREAD] = true,
                                              [TMI_CLAMPED] = true}; /* a group
                                                                                                      may be left */
    tmi_search search = {.problem = tmi_problem_of(aims, s, gaussian, budget),
                         .motions = aims->motions,
                         .copies = aims->copies,
                         .most_numbers = (double)TMI_MAX_CELLS,
                         .paired = s->squared ? aims->paired : NULL,
                         .squares = TMI_PAIRED,
                         .forms = forms,
                         .first_pooled = TMI_SPREAD,
                         .rough = rough,
                         .watch = s->watch};
    double *ceilings = tmi_alloc(aims->count, sizeof *ceilings), *shares = tmi_alloc(aims->count, sizeof *shares);
    tmi_found_tables found = {0};
    tmi_baseline_tables alone = {0};
    const double most = s->sampling.lonely ? FOR_NO_VARIANCES : FOR_VARIANCES;
    tamis_status status = TAMIS_OK;
    if (!ceilings || !shares) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < aims->count; i++) shares[i] = aims->list[i].share;
    TMI_TRY(tmi_search_run(&found, &search, aims->supports, aims->support_count, err));
    if (!rough) {
        TMI_TRY(tmi_baseline_noise(ceilings, &alone, s, &search.problem, aims, err));
        TMI_TRY(hold(&found, &search, aims, &alone, ceilings, err));
    }
    limit_variances(&found.best, most);
    found.objective = tmi_objective_of(&search.problem, &found.best, shares);
    for (size_t i = 0; i < aims->count; i++) aims->list[i].share = shares[i];
    if (!rough) TMI_TRY(fall_back(&found, &search, &alone, shares, most, err));
    if (best->count == 0 || found.objective < best->objective) TMI_TRY(keep(best, &found, s, gaussian, err));

done:
    tmi_found_tables_clear(&found);
    tmi_baseline_tables_clear(&alone);
    tmi_free(ceilings);
    tmi_free(shares);
    return status;
}

static tamis_status make_workload(tmi_schedule *s, bool apart, bool joined, const bool *known, tamis_error *err)
{
    tmi_workload_clear(&s->workload);
    return tmi_workload_make(&s->workload, s->plan, &s->sampling, apart, joined, s->controls,
                             s->calibrated ? s->control_count : 0, known, err);
}

/* With a number of groups of clusters, where there are clusters, or with pairs whose differences are squared. */
static tamis_status try_groups(choice *best, tmi_schedule *s, size_t groups, bool squared, bool rough, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    tmi_aims aims = {0};
    double rho = 0;
    tamis_number *choices = NULL;
    tamis_status status;
    s->groups = groups;
    s->squared = squared;
    TMI_TRY(tmi_choices_share(&choices, s->plan, err));
    const double rest = 1 - tmi_number_nearest(choices);
    const bool prefix = tmi_has_method(s->plan, TAMIS_QUANTILE_PREFIX);
    TMI_TRY(tmi_aims_make(&aims, s, err));
    if (loss->rho) {
        TMI_TRY(try_noise(best, s, &aims, true, rest * tmi_number_nearest(loss->rho), rough, err));
    } else { /* with a delta both, unless a quantile needs one of them */
        if (loss->delta && (prefix || !tmi_has_method(s->plan, TAMIS_QUANTILE_TREE))) TMI_TRY(tmi_budget_rho(&rho, loss, err));
        if (!prefix || !(rho > 0))
            TMI_TRY(try_noise(best, s, &aims, false, rest * tmi_number_nearest(loss->epsilon), rough, err));
        if (rho > 0) TMI_TRY(try_noise(best, s, &aims, true, rest * rho, rough, err));
    }

done:
    tamis_number_free(choices);
    tmi_aims_clear(&aims);
    return status;
}

static bool may_be_paired(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_may_be_paired(s, i)) return true;
    return false;
}

/* Tables of strata that are measured apart, or of all together; classes that are joined, or not. */
static tamis_status try_workload(choice *best, tmi_schedule *s, bool apart, bool joined, const bool *known, tamis_error *err)
{
    const bool many = s->plan->statistic_count > MANY_STATISTICS;
    choice rough = {.objective = INFINITY, .gap = NAN};
    tamis_status status;
    TMI_TRY(make_workload(s, apart, joined, known, err));
    if (tmi_variance_source_of(s) != TMI_CLUSTER_GROUPS) return try_groups(best, s, 0, false, false, err);
    const size_t pairs = s->sampling.pairs > 0 ? (size_t)s->sampling.pairs : s->sampling.scattered ? SIZE_MAX : 1;
    for (size_t groups = FEWEST_GROUPS; groups <= TMI_MAX_CLUSTER_GROUPS; groups *= 2) {
        TMI_TRY(try_groups(many ? &rough : best, s, groups < pairs ? groups : pairs, false, many, err));
        if (groups >= pairs) break;
    }
    if (may_be_paired(s)) TMI_TRY(try_groups(many ? &rough : best, s, (size_t)s->sampling.pairs, true, many, err));
    if (many) TMI_TRY(try_groups(best, s, rough.groups, rough.squared, false, err));

done:
    choice_clear(&rough);
    return status;
}

static tamis_status try_strata(choice *best, tmi_schedule *s, bool apart, const bool *known, tamis_error *err)
{
    tamis_status status = try_workload(best, s, apart, true, known, err);
    if (status == TAMIS_OK && s->workload.divided && !s->calibrated) status = try_workload(best, s, apart, false, known, err);
    return status;
}

/* ---- parts ---- */

static tamis_status whole_of(tamis_number **whole, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    double rho;
    if (loss->rho) return tmi_number_copy(whole, loss->rho, err);
    if (!s->gaussian) return tmi_number_copy(whole, loss->epsilon, err);
    tamis_status status = tmi_budget_rho(&rho, loss, err);
    return status == TAMIS_OK ? tmi_number_double(whole, rho, err) : status;
}

static tamis_status set_parts(tmi_schedule *s, const choice *c, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *whole = NULL, *choices = NULL;
    double largest = 0;
    int64_t all = 0;
    tamis_status status;
    TMI_TRY(whole_of(&whole, s, err));
    TMI_TRY(tmi_choices_share(&choices, s->plan, err));
    tmi_term rest = tmi_mul(&e, whole, tmi_sub(&e, tmi_int(&e, 1), choices)); /* what quantiles that are chosen leave */
    for (size_t k = 0; k < c->count; k++) largest = fmax(largest, c->parts[k]);
    for (size_t k = 0; k < c->count; k++) {
        c->parts[k] = fmax(round(FINENESS * c->parts[k] / largest), 1);
        all += (int64_t)c->parts[k];
    }
    for (size_t k = 0; k < c->count; k++) {
        tmi_term share = tmi_div(&e, tmi_int(&e, (int64_t)c->parts[k]), tmi_int(&e, all));
        TMI_TRY(tmi_exact_copy(&s->measurements[k].part, &e, tmi_mul(&e, rest, share)));
    }

done:
    tamis_number_free(whole);
    tamis_number_free(choices);
    tmi_exact_clear(&e);
    return status;
}

/* ---- together ---- */

/* Ranges by stratum are measured apart; equal weights need not be. */
static bool must_be_apart(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_has_ranges_by_stratum(&s->plan->statistics[i])) return true;
    return false;
}

tamis_status tmi_schedule_choose(tmi_schedule *s, const bool *known, tamis_error *err)
{
    choice best = {.objective = INFINITY, .gap = NAN};
    const bool apart = s->sampling.stays && must_be_apart(s);
    const bool may = s->sampling.stays && s->sampling.weights == TMI_STRATA && !s->sampling.clustered;
    tamis_status status;
    if (!apart) TMI_TRY(try_strata(&best, s, false, known, err));
    if (apart || may) TMI_TRY(try_strata(&best, s, true, known, err));
    if (best.count > 0 && (s->workload.apart != best.apart || s->workload.joined != best.joined))
        TMI_TRY(make_workload(s, best.apart, best.joined, known, err));
    s->groups = best.groups;
    s->squared = best.squared;
    s->gaussian = best.count > 0 ? best.gaussian : s->plan->privacy.loss.rho != NULL;
    s->gap = best.gap;
    s->measurements = tmi_alloc(best.count, sizeof *s->measurements);
    if (!s->measurements) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < best.count; k++) s->measurements[k].shape = best.shapes[k];
    s->measurement_count = best.count;
    if (best.count > 0) TMI_TRY(set_parts(s, &best, err));

done:
    choice_clear(&best);
    return status;
}
