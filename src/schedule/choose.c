/* Which tables a plan measures, and with which parts of its budget.
 *
 * Strata with weights of their own, or that results are by, may be measured apart, the weight coming after the noise, or
 * together, weights in the table;
 * with epsilon and delta the noise may be Laplace's with all of epsilon, or Gaussian with the largest rho that is certified to
 * stay within both. Every combination is searched, and the one with the smallest expected errors is taken; the choice
 * looks at nothing but the plan. Parts are rounded to integers of 12 bits, so that they are short fractions; they add up to the
 * whole exactly. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "engine/core/engine.h"
#include "measure/controls.h"
#include "num/exact.h"
#include "schedule/baseline.h"
#include "schedule/standard_errors.h"

#define FINENESS 4096

typedef struct solution {
    double objective, gap;
    bool separate_strata, shared_classes;
    tmi_gaussian gaussian;
    tmi_marginal *marginals;
    double *parts;
    size_t count;
    double *noise, *sampling; /* expected variances of each statistic from the first stage */
    double budget;            /* epsilon or rho of the first stage */
} solution;

static void solution_clear(solution *c)
{
    tmi_free(c->marginals);
    tmi_free(c->parts);
    tmi_free(c->noise);
    tmi_free(c->sampling);
    *c = (solution){.objective = INFINITY, .gap = NAN};
}

static tamis_status keep(solution *best, const tmi_found_tables *found, const tmi_schedule *s, tmi_problem *p,
                         const tmi_targets *targets, tamis_error *err)
{
    const size_t statistics = s->plan->statistic_count;
    solution_clear(best);
    best->noise = tmi_alloc(statistics, sizeof *best->noise);
    best->sampling = tmi_alloc(statistics, sizeof *best->sampling);
    best->marginals = tmi_alloc(found->best.count, sizeof *best->marginals);
    best->parts = tmi_alloc(found->best.count, sizeof *best->parts);
    if (!best->marginals || !best->parts || !best->noise || !best->sampling) return tmi_fail_memory(err);
    tmi_budget_inform(p, &found->best);
    for (size_t k = 0; k < targets->count; k++) {
        if (targets->statistics[k] == SIZE_MAX) continue;
        best->noise[targets->statistics[k]] = targets->list[k].noise_variance;
        best->sampling[targets->statistics[k]] = targets->list[k].sampling;
    }
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        if (!s->plan->statistics[i].contrast) continue;
        tamis_status status = tmi_expected_sum(&best->noise[i], s, i, best->noise, err);
        if (status == TAMIS_OK) status = tmi_expected_sum(&best->sampling[i], s, i, best->sampling, err);
        if (status != TAMIS_OK) return status;
    }
    best->budget = p->budget;
    for (size_t k = 0; k < found->best.count; k++) {
        best->marginals[k] = found->best.tables[k]->marginal;
        best->parts[k] = found->best.parts[k];
    }
    best->count = found->best.count;
    best->objective = found->objective;
    best->gap = found->gap;
    best->separate_strata = s->workload.separate_strata;
    best->shared_classes = s->workload.shared_classes;
    best->gaussian = p->gaussian ? tmi_gaussian_of_plan(s->plan, &s->plan->privacy.loss) : TMI_NOT_GAUSSIAN;
    return TAMIS_OK;
}

/* The measure of a strategy that the search lowers: the sum over all targets of share * log(expected variance). */
static double measure_of(tmi_problem *p, const tmi_strategy *strategy, const double *shares)
{
    double sum = 0;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->target_count; i++) {
        const double variance = tmi_strategy_target_variance(&p->targets[i]);
        if (variance > 0) sum += shares[i] * log(variance);
    }
    return sum;
}

/* ---- held to what each statistic would have by itself ---- */

#define ROUNDS 12
#define FIRM 1.5      /* the share of a statistic grows by the ratio of its noise to that by itself, to this power */
#define TOLERATED 1.1 /* a statistic may have this times the variance that it has by itself: 5 % more error */

/* The expected variance of a target relative to what it would be by itself. */
static double excess_of(const tmi_strategy_target *a, double alone)
{
    const double whole = a->sampling + alone;
    return isfinite(whole) && whole > 0 ? (a->sampling + a->noise_variance) / whole : 0;
}

/* The largest such ratio over all statistics. */
static double worst_excess(tmi_problem *p, const tmi_strategy *strategy, const double *alone)
{
    double worst = 0;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->target_count; i++) worst = fmax(worst, excess_of(&p->targets[i], alone[i]));
    return worst;
}

/* Raises the shares of statistics that are worse off than by themselves; returns whether there are any. */
static bool raise_shares(tmi_problem *p, const tmi_strategy *strategy, const double *alone)
{
    bool any = false;
    tmi_budget_inform(p, strategy);
    for (size_t i = 0; i < p->target_count; i++) {
        if (!(excess_of(&p->targets[i], alone[i]) > TOLERATED)) continue;
        p->targets[i].share *= fmin(pow(p->targets[i].noise_variance / alone[i], FIRM), 8);
        any = true;
    }
    return any;
}

/* No statistic is worse off than by itself, whatever the others gain. Where the search has sacrificed one, the tables that each
 * would have by itself join those that were found, and shares are raised until the division of the budget is fair. If that does
 * not suffice, the tables of each by itself take over, as far as needed: with all of the budget they are fair. */
static tamis_status hold(tmi_found_tables *found, tmi_search *search, const tmi_targets *targets,
                         const tmi_baseline_tables *tables, const double *alone, tamis_error *err)
{
    tmi_problem *p = &search->problem;
    double *gains = tmi_alloc(4 * targets->needed_count + 2, sizeof *gains);
    bool put;
    tamis_status status = TAMIS_OK;
    if (!gains) return tmi_fail_memory(err);
    if (worst_excess(p, &found->best, alone) <= TOLERATED) goto done;
    TMI_TRY(tmi_search_put(&put, found, search, tables->marginals, tables->parts, tables->count, 0.5, err));
    for (int round = 0; round < ROUNDS && raise_shares(p, &found->best, alone); round++) {
        tmi_budget_improve(p, &found->best, gains, 10, NULL);
        if (round == ROUNDS / 2) TMI_TRY(tmi_search_resume(found, search, targets->needed, targets->needed_count, err));
    }
    for (int part = 1; part <= 4 && worst_excess(p, &found->best, alone) > TOLERATED; part++)
        TMI_TRY(tmi_search_put(&put, found, search, tables->marginals, tables->parts, tables->count, part / 4.0, err));

done:
    tmi_free(gains);
    return status;
}

/* Tables that serve sampling variances alone get at most this part of the budget: beyond it an interval gains nothing, and the
 * estimates lose. */
#define FOR_VARIANCES 0.4

static void limit_variances(tmi_strategy *s)
{
    const double most = FOR_VARIANCES;
    double all = 0;
    for (size_t k = 0; k < s->count; k++)
        if (s->tables[k]->marginal.weighting >= TMI_SPREAD) all += s->parts[k];
    for (size_t k = 0; k < s->count && all > most && all < 1; k++)
        s->parts[k] *= s->tables[k]->marginal.weighting >= TMI_SPREAD ? most / all : (1 - most) / (1 - all);
}

/* Takes the tables that give each statistic by itself, if they are better by the measure of the search. The search may have ended
 * at worse ones, and what it found may have become worse when parts were limited and shares raised. */
static tamis_status fall_back(tmi_found_tables *found, tmi_search *search, const tmi_baseline_tables *alone, const double *shares,
                              tamis_error *err)
{
    const size_t count = found->best.count;
    const tmi_strategy now = {tmi_alloc(count, sizeof *now.tables), tmi_alloc(count, sizeof *now.parts), count};
    bool put = false;
    tamis_status status = TAMIS_OK;
    if (!now.tables || !now.parts) TMI_TRY(tmi_fail_memory(err));
    if (count == 0) goto done;
    memcpy(now.tables, found->best.tables, count * sizeof *now.tables);
    memcpy(now.parts, found->best.parts, count * sizeof *now.parts);
    TMI_TRY(tmi_search_put(&put, found, search, alone->marginals, alone->parts, alone->count, 1, err));
    if (!put) goto done;
    limit_variances(&found->best);
    const double objective = measure_of(&search->problem, &found->best, shares);
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

/* ---- standard errors ---- */

/* The search for the tables of the first stage assumes that the second one gets this part of the budget; afterwards the part is
 * taken with which the narrowest intervals are expected, or a smaller one where they are nearly as narrow: then estimates have
 * less noise. With few clusters more than a quarter would make intervals narrower still; but the estimates pay for it, whose
 * noise would be more than 1.2 times that of somebody who gives a fifth to variances. */
#define SECOND 0.2
#define NEARLY 1.01
static const double seconds[] = {0.1, 0.15, 0.2, 0.25};

/* A statistic whose standard errors are measured: what is expected of it, and how urgent they are. */
typedef struct wanted {
    size_t statistic;
    double share, variance, noise;
    double simple; /* the variance in a simple random sample; 0: not guessed */
    double moved;  /* how far a record moves the standard error, at most */
    double part;   /* part of the second stage's budget */
} wanted;

/* Of plans with more statistics than this some are left out where widths are compared. */
#define MOST_COMPARED 32

/* What will be measured of a statistic's number, with a part of the whole budget for the second stage. */
static tmi_measured_error error_of(const wanted *w, const tmi_schedule *s, bool gaussian, double budget, double part)
{
    const double loss = budget * part * w->part, left = gaussian ? (1 - SECOND) / (1 - part) : pow((1 - SECOND) / (1 - part), 2);
    double sd = gaussian ? w->moved / sqrt(2 * loss) : sqrt(2) * w->moved / loss;
    if (tmi_method_of(tmi_errors_family(s))->power == 2) sd *= 2 * sqrt(w->variance); /* of the variance, not of its root */
    return tmi_error_of_sizes(s, w->statistic, w->variance, w->simple, w->noise * left, sd, gaussian);
}

/* Sums over the statistics that are compared of share * log(variance): of the one that an interval is expected to use, by the
 * function that a release calls, and of the one that it would use if sampling variances were known; and of their shares. */
typedef struct widths {
    double expected, known, shares;
} widths;

static tamis_status expect_widths(widths *found, const wanted *list, size_t count, const tmi_schedule *s, bool gaussian,
                                  double budget, double part, tamis_error *err)
{
    const tmi_cluster_guess guess = tmi_cluster_guess_of(s);
    const size_t every = (count + MOST_COMPARED - 1) / MOST_COMPARED;
    tmi_measured_error *numbers = tmi_alloc(tmi_alike_numbers(INT64_MAX) * count, sizeof *numbers);
    double *variances = tmi_alloc(tmi_alike_numbers(INT64_MAX) * count, sizeof *variances);
    size_t all = 0;
    tamis_status status = TAMIS_OK;
    *found = (widths){0};
    if (!numbers || !variances) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < count; j += every) {
        const tmi_measured_error own = error_of(&list[j], s, gaussian, budget, part);
        const size_t copies = own.scale > 0 && isfinite(own.noise)
                                  ? tmi_alike_numbers(tmi_statistic_cells(&s->plan->statistics[own.statistic]))
                                  : 0;
        for (size_t k = 0; k < copies; k++) numbers[all++] = own;
        if (copies > 0) found->known += list[j].share * log(list[j].variance + own.noise);
    }
    TMI_TRY(tmi_expected_error_limits(variances, numbers, all, &guess, err));
    for (size_t k = 0; k < all; k++) {
        const tmi_plan_statistic *t = &s->plan->statistics[numbers[k].statistic];
        const double share = tmi_number_nearest(t->share) / (double)tmi_alike_numbers(tmi_statistic_cells(t));
        found->expected += share * log(variances[k] + numbers[k].noise);
        found->shares += share;
    }

done:
    tmi_free(numbers);
    tmi_free(variances);
    return status;
}

/* How much a statistic counts: one whose estimate is mostly noise anyway counts for little. */
static void divide(wanted *list, size_t count, bool gaussian, double budget)
{
    const double loss = gaussian ? sqrt(2 * budget) : budget;
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        wanted *w = &list[j];
        const double whole = w->variance + w->noise, u = whole > 0 ? 2 * sqrt(2) * w->moved * sqrt(w->variance) / whole : 0;
        sum += w->part = sqrt(fmax(w->share * u, 1e-6) / (1 + u * (double)count / loss));
    }
    for (size_t j = 0; j < count; j++) list[j].part /= sum;
}

/* What is measured of standard errors has the noise that the smallest epsilon of a stratum needs. */
static double louder_everywhere(const tmi_schedule *s)
{
    double most = 1;
    for (size_t h = 0; h < s->plan->design.stratum_count; h++) most = fmax(most, tmi_noise_of_stratum(s->plan, h));
    return most;
}

static tamis_status want(wanted *w, const tmi_schedule *s, const solution *c, size_t i, tamis_error *err)
{
    tmi_typical_group o = {0};
    if (!s->plan->statistics[i].contrast) tmi_typical_group_make(&o, s, i);
    *w = (wanted){.statistic = i,
                  .share = tmi_number_nearest(s->plan->statistics[i].share),
                  .variance = c->sampling[i],
                  .simple = o.simple,
                  .noise = c->noise[i]};
    const tamis_status status = tmi_expected_move(&w->moved, s, i, &o, err);
    /* A variance that moves by d moves its root by d over twice the root. */
    w->moved *= louder_everywhere(s);
    if (tmi_method_of(tmi_errors_family(s))->power == 2) w->moved = w->variance > 0 ? w->moved / (2 * sqrt(w->variance)) : 0;
    return status;
}

static tamis_status want_all(wanted *list, size_t *count, const tmi_schedule *s, const solution *c, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *count = 0;
    for (size_t i = 0; i < s->plan->statistic_count && status == TAMIS_OK; i++)
        if (tmi_has_own_errors(s, i)) status = want(&list[(*count)++], s, c, i, err);
    return status;
}

/* Adds to the objective of a choice what intervals gain in width because their sampling variances are measured with noise, so
 * that it can be compared with others whose variances are own squares. Needs its workload. */
static tamis_status add_widening(solution *c, const tmi_schedule *s, tamis_error *err)
{
    const double all = c->budget / (1 - SECOND);
    wanted *list = tmi_alloc(s->plan->statistic_count, sizeof *list);
    widths found;
    size_t count;
    double shares = 0; /* of all statistics, compared or not */
    tamis_status status = TAMIS_OK;
    if (!list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(want_all(list, &count, s, c, err));
    divide(list, count, c->gaussian, SECOND * all);
    TMI_TRY(expect_widths(&found, list, count, s, c->gaussian, all, SECOND, err));
    for (size_t j = 0; j < count; j++) shares += list[j].variance > 0 ? list[j].share : 0;
    if (found.shares > 0) c->objective += (found.expected - found.known) * shares / found.shares;

done:
    tmi_free(list);
    return status;
}

/* The part of the budget for the second stage, of those that are enough for the method. */
static tamis_status choose_second(double *part, wanted *list, size_t count, const tmi_schedule *s, const solution *c,
                                  tamis_error *err)
{
    enum { PARTS = sizeof seconds / sizeof *seconds };
    const double all = c->budget / (1 - SECOND), least = tmi_method_of(tmi_errors_family(s))->least_part;
    widths found[PARTS];
    double best = INFINITY;
    for (size_t k = 0; k < PARTS; k++) {
        if (seconds[k] < least) continue;
        divide(list, count, c->gaussian, seconds[k] * all);
        const tamis_status status = expect_widths(&found[k], list, count, s, c->gaussian, all, seconds[k], err);
        if (status != TAMIS_OK) return status;
        best = fmin(best, found[k].expected);
    }
    *part = SECOND;
    for (size_t k = PARTS; k-- > 0;)
        if (seconds[k] >= least && found[k].expected <= best + 2 * log(NEARLY) * found[k].shares) *part = seconds[k];
    return TAMIS_OK;
}

/* ---- changes between waves ---- */

/* Parts of the whole budget that totals of groups of clusters may get. As for standard errors, the smallest one is taken with
 * which intervals are about as narrow as they can be: of the numbers themselves and, with the same weight, of their changes to a
 * wave like this one. */
static const double for_changes[] = {0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5};

static bool has_groups(const tmi_schedule *s, size_t i) { return s->plan->statistics[i].for_change && tmi_has_own_errors(s, i); }

/* By how much the variance of noise grows if a part of the budget is spent elsewhere. */
static double grown(bool gaussian, double part) { return gaussian ? 1 / (1 - part) : 1 / ((1 - part) * (1 - part)); }

/* The sum of share * log(variance) over changes of the statistics that have groups, of those whose widths are compared, `part` of
 * the budget being for them. */
static tamis_status expect_changes(double *sum, const wanted *list, size_t count, const tmi_schedule *s, const solution *c,
                                   double part, tamis_error *err)
{
    const size_t every = (count + MOST_COMPARED - 1) / MOST_COMPARED;
    const double all = c->budget / (1 - SECOND);
    double shares = 0;
    *sum = 0;
    for (size_t j = 0; j < count; j++) shares += has_groups(s, list[j].statistic) ? list[j].share : 0;
    for (size_t j = 0; j < count; j += every) {
        const wanted *w = &list[j];
        tmi_typical_group o;
        double moved;
        if (!has_groups(s, w->statistic) || !(w->variance > 0) || !isfinite(w->noise)) continue;
        tmi_typical_group_make(&o, s, w->statistic);
        const tamis_status status = tmi_expected_group_move(&moved, s, w->statistic, &o, err);
        if (status != TAMIS_OK) return status;
        const double loss = all * part * w->share / shares, noise = 2 * w->noise * grown(c->gaussian, part),
                     sd = moved * (c->gaussian ? 1 / sqrt(2 * loss) : sqrt(2) / loss), sds[2] = {sd, sd};
        const double confidence = tmi_number_nearest(s->plan->statistics[w->statistic].confidence);
        *sum += w->share * log(tmi_expected_wave_change(2 * w->variance, noise, sds, c->gaussian, confidence) + noise);
    }
    return TAMIS_OK;
}

/* The part for totals of groups, 0 without any; it is taken off what is left for the rest. */
static tamis_status choose_groups(double *part, solution *c, const tmi_schedule *s, tamis_error *err)
{
    enum { PARTS = sizeof for_changes / sizeof *for_changes };
    wanted *list = tmi_alloc(s->plan->statistic_count, sizeof *list);
    double found[PARTS], best = INFINITY, shares = 0;
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    *part = 0;
    if (!list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(want_all(list, &count, s, c, err));
    for (size_t j = 0; j < count; j++) shares += has_groups(s, list[j].statistic) ? list[j].share : 0;
    if (shares == 0) goto done;
    for (size_t k = 0; k < PARTS; k++) {
        const double all = (1 - for_changes[k]) * c->budget / (1 - SECOND), more = grown(c->gaussian, for_changes[k]);
        widths own;
        for (size_t j = 0; j < count; j++) list[j].noise *= more;
        divide(list, count, c->gaussian, SECOND * all);
        TMI_TRY(expect_widths(&own, list, count, s, c->gaussian, all, SECOND, err));
        for (size_t j = 0; j < count; j++) list[j].noise /= more;
        TMI_TRY(expect_changes(&found[k], list, count, s, c, for_changes[k], err));
        found[k] += own.expected;
        best = fmin(best, found[k]);
    }
    for (size_t k = PARTS; k-- > 0;)
        if (found[k] <= best + 2 * log(NEARLY) * 2 * shares) *part = for_changes[k];
    c->budget *= 1 - *part;
    for (size_t i = 0; i < s->plan->statistic_count; i++) c->noise[i] *= grown(c->gaussian, *part);

done:
    tmi_free(list);
    return status;
}

/* Adds tables to a choice, of which the others then have the rest of the budget. */
static tamis_status make_room(solution *c, size_t count, double part, tamis_error *err)
{
    tmi_marginal *marginals = tmi_realloc(c->marginals, c->count + count, sizeof *marginals);
    if (marginals) c->marginals = marginals;
    double *parts = tmi_realloc(c->parts, c->count + count, sizeof *parts);
    if (parts) c->parts = parts;
    if (!marginals || !parts) return tmi_fail_memory(err);
    for (size_t k = 0; k < c->count; k++) parts[k] *= 1 - part;
    return TAMIS_OK;
}

static tamis_status add_groups(solution *c, const tmi_schedule *s, double part, tamis_error *err)
{
    double shares = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        if (!has_groups(s, i)) continue;
        shares += tmi_number_nearest(s->plan->statistics[i].share);
        count++;
    }
    if (count == 0) return TAMIS_OK;
    const tamis_status status = make_room(c, count, part, err);
    for (size_t i = 0; status == TAMIS_OK && i < s->plan->asked_count; i++) {
        if (!has_groups(s, i)) continue;
        c->marginals[c->count] = tmi_errors_marginal(s, i);
        c->marginals[c->count].weighting = TMI_GROUP_TOTALS;
        c->parts[c->count++] = part * tmi_number_nearest(s->plan->statistics[i].share) / shares;
    }
    return status;
}

/* ---- standard errors, added ---- */

/* Adds the second stage to tables that were chosen for the first one. Needs the workload of the choice. */
static tamis_status add_errors(solution *c, const tmi_schedule *s, tamis_error *err)
{
    wanted *list = tmi_alloc(s->plan->statistic_count, sizeof *list);
    double part;
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    if (!list) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(want_all(list, &count, s, c, err));
    if (count == 0) goto done;
    TMI_TRY(choose_second(&part, list, count, s, c, err));
    divide(list, count, c->gaussian, part * c->budget / (1 - SECOND));
    TMI_TRY(make_room(c, count, part, err));
    for (size_t j = 0; j < count; j++) {
        c->marginals[c->count] = tmi_errors_marginal(s, list[j].statistic);
        c->parts[c->count++] = part * list[j].part;
    }

done:
    tmi_free(list);
    return status;
}

/* ---- one kind of noise ---- */

static tamis_status try_noise(solution *best, const tmi_schedule *s, tmi_targets *targets, bool gaussian, double budget,
                              tamis_error *err)
{
    tmi_search search = {.problem = tmi_problem_of(targets, gaussian, budget),
                         .move_bounds = targets->move_bounds,
                         .grams = targets->grams,
                         .gram_count = targets->gram_count,
                         .copies = targets->copies,
                         .most_numbers = (double)TMI_MAX_PLAN_CELLS,
                         .watch = s->watch};
    double *ceilings = tmi_alloc(targets->count, sizeof *ceilings), *shares = tmi_alloc(targets->count, sizeof *shares);
    tmi_found_tables found = {0};
    tmi_baseline_tables alone = {0};
    solution now = {0};
    tamis_status status = TAMIS_OK;
    if (!ceilings || !shares) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < targets->count; i++) shares[i] = targets->list[i].share;
    TMI_TRY(tmi_search_run(&found, &search, targets->needed, targets->needed_count, err));
    TMI_TRY(tmi_baseline_noise(ceilings, &alone, s, &search.problem, targets, err));
    TMI_TRY(hold(&found, &search, targets, &alone, ceilings, err));
    limit_variances(&found.best);
    found.objective = measure_of(&search.problem, &found.best, shares);
    for (size_t i = 0; i < targets->count; i++) targets->list[i].share = shares[i];
    TMI_TRY(fall_back(&found, &search, &alone, shares, err));
    TMI_TRY(keep(&now, &found, s, &search.problem, targets, err));
    TMI_TRY(add_widening(&now, s, err));
    if (best->count == 0 || now.objective < best->objective) {
        const solution before = *best;
        *best = now;
        now = before;
    }

done:
    solution_clear(&now);
    tmi_found_tables_clear(&found);
    tmi_baseline_tables_clear(&alone);
    tmi_free(ceilings);
    tmi_free(shares);
    return status;
}

static tamis_status make_workload(tmi_schedule *s, bool separate_strata, bool shared_classes, const bool *known, tamis_error *err)
{
    tmi_workload_clear(&s->workload);
    return tmi_workload_make(&s->workload, s->plan, &s->sampling, separate_strata, shared_classes, s->controls,
                             s->calibrated ? s->control_count : 0, s->calibrated ? s->control_number : NULL, known, false, err);
}

/* ---- all combinations ---- */

/* Searches with a workload that is made, with tables of two columns that are compared or without. */
static tamis_status try_targets(solution *best, tmi_schedule *s, bool products, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    tmi_targets targets = {0};
    double rho = 0;
    tamis_number *quantiles = NULL, *bounds = NULL;
    tamis_status status;
    TMI_TRY(tmi_quantile_tasks_share(&quantiles, s->plan, err));
    TMI_TRY(tmi_bound_tasks_share(&bounds, s->plan, err));
    const double rest = (1 - tmi_number_nearest(bounds)) * (1 - tmi_number_nearest(quantiles)) *
                        (tmi_measures_errors(s) ? 1 - SECOND : 1);
    const bool prefix = tmi_has_method(s->plan, TAMIS_QUANTILE_PREFIX);
    TMI_TRY(tmi_targets_make(&targets, s, products, err));
    if (loss->rho) {
        TMI_TRY(try_noise(best, s, &targets, true, rest * tmi_number_nearest(loss->rho), err));
    } else { /* with a delta both laws of noise are tried, unless a quantile needs one of them */
        if (loss->delta && (prefix || !tmi_has_method(s->plan, TAMIS_QUANTILE_TREE)))
            TMI_TRY(tmi_budget_rho(&rho, loss, tmi_gaussian_of_plan(s->plan, loss), err));
        if (!prefix || !(rho > 0)) TMI_TRY(try_noise(best, s, &targets, false, rest * tmi_number_nearest(loss->epsilon), err));
        if (rho > 0) TMI_TRY(try_noise(best, s, &targets, true, rest * rho, err));
    }

done:
    tamis_number_free(quantiles);
    tamis_number_free(bounds);
    tmi_targets_clear(&targets);
    return status;
}

/* Strata are measured apart or together, and classes of a column joined or not, as given. */
static tamis_status try_workload(solution *best, tmi_schedule *s, bool separate_strata, bool shared_classes, const bool *known,
                                 tamis_error *err)
{
    tamis_status status = make_workload(s, separate_strata, shared_classes, known, err);
    if (status == TAMIS_OK) status = try_targets(best, s, false, err);
    if (status == TAMIS_OK && tmi_targets_may_have_products(s)) status = try_targets(best, s, true, err);
    return status;
}

static tamis_status try_strata(solution *best, tmi_schedule *s, bool separate_strata, const bool *known, tamis_error *err)
{
    tamis_status status = try_workload(best, s, separate_strata, true, known, err);
    if (status == TAMIS_OK && s->workload.divided && !s->calibrated)
        status = try_workload(best, s, separate_strata, false, known, err);
    return status;
}

/* ---- parts ---- */

static tamis_status whole_of(tamis_number **whole, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    double rho;
    if (loss->rho) return tmi_number_copy(whole, loss->rho, err);
    if (!s->gaussian) return tmi_number_copy(whole, loss->epsilon, err);
    tamis_status status = tmi_budget_rho(&rho, loss, s->gaussian, err);
    return status == TAMIS_OK ? tmi_number_double(whole, rho, err) : status;
}

static tamis_status set_parts(tmi_schedule *s, const solution *c, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *whole = NULL, *quantiles = NULL, *bounds = NULL;
    double largest = 0;
    int64_t all = 0;
    tamis_status status;
    TMI_TRY(whole_of(&whole, s, err));
    TMI_TRY(tmi_quantile_tasks_share(&quantiles, s->plan, err));
    TMI_TRY(tmi_bound_tasks_share(&bounds, s->plan, err));
    tmi_term one = tmi_int(&e, 1); /* what private bounds leave of the budget, and quantiles that a mechanism chooses of that */
    tmi_term rest = tmi_mul(&e, tmi_mul(&e, whole, tmi_sub(&e, one, bounds)), tmi_sub(&e, one, quantiles));
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
    tmi_number_frees(&whole, &quantiles, &bounds, NULL);
    tmi_exact_clear(&e);
    return status;
}

/* ---- together ---- */

/* Strata with ranges of their own are measured apart; strata with equal weights need not be. */
static bool must_be_separate(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_has_ranges_by_stratum(&s->plan->statistics[i])) return true;
    return false;
}

/* No record leaves its stratum: a table of one stratum has less noise than one that could be left. */
static bool has_groups_of_strata(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_is_in_strata(s, i)) return true;
    return false;
}

/* Slopes and correlations are measured in the second stage even where strata are apart: whether some need the strata there. */
static bool errors_need_strata(const tmi_schedule *s)
{
    for (size_t i = 0; i < s->plan->statistic_count; i++)
        if (tmi_is_of_products(&s->plan->statistics[i]) && tmi_has_own_errors(s, i) && tmi_errors_need_strata(s, i)) return true;
    return false;
}

tamis_status tmi_schedule_choose(tmi_schedule *s, const bool *known, tamis_error *err)
{
    solution best = {.objective = INFINITY, .gap = NAN};
    const bool separate_strata = s->sampling.public_strata && must_be_separate(s);
    const bool may = s->sampling.public_strata && !s->sampling.clustered &&
                     (s->sampling.weights == TMI_STRATA || (s->sampling.weights == TMI_ALIKE && has_groups_of_strata(s)));
    tamis_status status;
    if (s->sampling.clustered) TMI_TRY(tmi_psu_places_make(&s->places, &s->sampling, TMI_MOST_SLOTS, err));
    if (!separate_strata) TMI_TRY(try_strata(&best, s, false, known, err));
    if (separate_strata || (may && !errors_need_strata(s))) TMI_TRY(try_strata(&best, s, true, known, err));
    if (best.count > 0 &&
        (s->workload.separate_strata != best.separate_strata || s->workload.shared_classes != best.shared_classes))
        TMI_TRY(make_workload(s, best.separate_strata, best.shared_classes, known, err));
    if (best.count > 0) {
        double groups;
        TMI_TRY(choose_groups(&groups, &best, s, err));
        TMI_TRY(add_errors(&best, s, err));
        TMI_TRY(add_groups(&best, s, groups, err));
    }
    s->gaussian = best.count > 0 ? best.gaussian : s->plan->privacy.loss.rho ? TMI_DISCRETE_GAUSSIAN : TMI_NOT_GAUSSIAN;
    s->gap = best.gap;
    s->measurements = tmi_alloc(best.count, sizeof *s->measurements);
    if (!s->measurements) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < best.count; k++) s->measurements[k].marginal = best.marginals[k];
    s->measurement_count = best.count;
    if (best.count > 0) TMI_TRY(set_parts(s, &best, err));

done:
    solution_clear(&best);
    return status;
}
