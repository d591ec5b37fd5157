#include "schedule/expected/expected.h"
#include "base/hypotenuse.h"

#include <math.h>
#include <stdio.h>
#include <tamis/experimental/profile.h>

#include "base/memory.h"
#include "num/number.h"
#include "schedule/expected/change.h"
#include "schedule/expected/contrast.h"
#include "schedule/expected/distribution.h"
#include "schedule/expected/model.h"
#include "schedule/result.h"
#include "schedule/standard_errors.h"

/* An estimate whose error is above a third of its size is not published by most agencies. */
#define DROWNED (1.0 / 3)

void tmi_expected_statistics_free(tmi_expected_statistic *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) tmi_free(list[i].groups);
    tmi_free(list);
}

/* ---- limits of standard errors that are measured ---- */

/* Limits come from all numbers together, by the function that a release calls. A statistic whose groups are alike has one
 * expected group for all of them, which counts as several numbers. */
typedef struct limits {
    const tmi_schedule *schedule;
    tmi_expected_statistic *list;
    tmi_measured_error *numbers;
    tmi_expected_group **places; /* the group of each number; NULL: a further copy, for groups that are alike */
    double *found;               /* the variances that intervals are expected to use */
    size_t count;
} limits;

static size_t numbers_of(const tmi_schedule *s, const tmi_expected_statistic *list, size_t i)
{
    const int64_t cells = tmi_statistic_cells(&s->plan->statistics[i]);
    if (!tmi_has_own_errors(s, i)) return 0;
    return list[i].count > 1 ? list[i].count : tmi_alike_numbers(cells);
}

static void collect(limits *l)
{
    for (size_t i = 0; i < l->schedule->plan->statistic_count; i++) {
        const size_t count = numbers_of(l->schedule, l->list, i);
        for (size_t k = 0; k < count; k++) {
            tmi_expected_group *p = &l->list[i].groups[l->list[i].count > 1 ? k : 0];
            if (!(p->error.scale > 0)) continue;
            l->places[l->count] = l->list[i].count > 1 || k == 0 ? p : NULL;
            l->numbers[l->count++] = p->error;
        }
    }
}

/* A number whose standard error is that of another statistic has the same design effect. */
static void borrow(const tmi_schedule *s, tmi_expected_statistic *list, size_t i)
{
    const size_t from = tmi_errors_from(s, i);
    if (from == i || !tmi_errors_measured(s, i) || list[i].count != list[from].count) return;
    for (size_t k = 0; k < list[i].count; k++) {
        const tmi_expected_group *p = &list[from].groups[k];
        const double measured = p->error.power == 2 ? sqrt(p->error.measured) : p->error.measured;
        if (p->error.measured > 0) list[i].groups[k].sampling_sd *= p->sampling_sd / measured;
    }
}

static tamis_status set_limits(tmi_expected_statistic *list, const tmi_schedule *s, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    const tmi_cluster_guess guess = tmi_cluster_guess_of(s);
    limits l = {.schedule = s, .list = list};
    size_t all = 0;
    tamis_status status = TAMIS_OK;
    if (tmi_variance_source_of(s) != TMI_MEASURED_ERRORS) return TAMIS_OK;
    for (size_t i = 0; i < count; i++) all += numbers_of(s, list, i);
    l.numbers = tmi_alloc(all, sizeof *l.numbers);
    l.places = tmi_alloc(all, sizeof *l.places);
    l.found = tmi_alloc(all, sizeof *l.found);
    if (!l.numbers || !l.places || !l.found) TMI_TRY(tmi_fail_memory(err));
    collect(&l);
    TMI_TRY(tmi_expected_error_limits(l.found, l.numbers, l.count, &guess, err));
    for (size_t k = 0; k < l.count; k++)
        if (l.places[k]) l.places[k]->sampling_sd = sqrt(l.found[k]);
    for (size_t i = 0; i < count; i++)
        if (!tmi_is_of_distribution(s->plan->statistics[i].kind)) borrow(s, list, i);

done:
    tmi_free(l.numbers);
    tmi_free(l.places);
    tmi_free(l.found);
    return status;
}

/* ---- all numbers ---- */

tamis_status tmi_expected_statistics_make(tmi_expected_statistic **list, const tmi_schedule *s, tamis_error *err)
{
    const size_t count = s->plan->statistic_count;
    tamis_status status = TAMIS_OK;
    *list = tmi_alloc(count, sizeof **list);
    if (!*list) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) {
        tmi_expected_statistic *f = &(*list)[i];
        f->loss = f->sample = TMI_NULL;
        if (!tmi_is_of_distribution(s->plan->statistics[i].kind) && !s->plan->statistics[i].contrast)
            TMI_TRY(tmi_expected_groups_make(&f->groups, &f->count, s, i, err));
    }
    for (size_t i = 0; i < s->plan->asked_count; i++)
        if (s->plan->statistics[i].contrast && s->plan->statistics[i].kind != TMI_CONTRAST_CHANGE)
            TMI_TRY(s->plan->statistics[i].model ? tmi_expected_model(*list, s, i, err)
                                                 : tmi_expected_contrast(*list, s, i, err));
    TMI_TRY(set_limits(*list, s, err));
    for (size_t i = 0; i < s->plan->asked_count; i++) /* a change has the sampling error of its number, by its limit */
        if (s->plan->statistics[i].kind == TMI_CONTRAST_CHANGE) TMI_TRY(tmi_expected_contrast(*list, s, i, err));
    for (size_t i = 0; i < s->plan->asked_count; i++)
        if (tmi_is_of_distribution(s->plan->statistics[i].kind)) TMI_TRY(tmi_expected_distribution(*list, s, i, err));

done:
    if (status != TAMIS_OK) {
        tmi_expected_statistics_free(*list, count);
        *list = NULL;
    }
    return status;
}

/* ---- one number ---- */

double tmi_expected_group_noise(const tmi_expected_group *p) { return fmin(p->noise_sd, p->limit); }

double tmi_expected_group_sampling(const tmi_expected_group *p)
{
    return isfinite(p->sampling_sd) ? fmin(p->sampling_sd, p->limit) : TMI_NULL;
}

double tmi_expected_group_error(const tmi_expected_group *p)
{
    return isfinite(p->sampling_sd) ? fmin(tmi_hypotenuse(p->noise_sd, p->sampling_sd), p->limit) : TMI_NULL;
}

/* Noise as a share of what is expected, or else of the range. */
static double noise_share(const tmi_expected_group *p)
{
    double size = isnan(p->expected) ? p->range : p->expected;
    return size > 0 ? p->noise_sd / size : INFINITY;
}

static bool is_drowned(const tmi_expected_group *p) { return p->noise_sd > 0 && noise_share(p) > DROWNED; }

double tmi_expected_middle(const tmi_expected_statistic *f, double (*of)(const tmi_expected_group *))
{
    double logs = 0;
    size_t count = 0;
    if (f->count == 1) return of(f->groups);
    for (size_t i = 0; i < f->count; i++) {
        const double own = of(&f->groups[i]);
        if (own != 0) logs += log(own);
        count += own != 0;
    }
    return count > 0 ? exp(logs / (double)count) : 0;
}

size_t tmi_expected_drowned(const tmi_expected_statistic *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++) count += is_drowned(&f->groups[i]);
    return count;
}

/* ---- what would be enough ---- */

/* Each trial makes the schedule of the plan again, so there is an end to them; statistics that are alike share theirs. Rounds are
 * those of one statistic: noise falls with epsilon and sample nearly as the first guess has it. */
#define MOST_TRIALS 24
#define MOST_ROUNDS 8

/* By which factor the noise of a statistic is above a third of its size; 0 if that is so in no group. */
static double excess_of(const tmi_expected_statistic *f)
{
    double excess = 0;
    for (size_t k = 0; k < f->count; k++)
        if (is_drowned(&f->groups[k])) excess = fmax(excess, noise_share(&f->groups[k]) / DROWNED);
    return excess;
}

typedef struct trials {
    const tmi_schedule *schedule;
    bool of_sample; /* else of the loss */
    double most;    /* values above cannot be tried */
    size_t count;
    double values[MOST_TRIALS];
    double *excess[MOST_TRIALS]; /* of each statistic; NULL: such a plan cannot be released */
} trials;

/* The excesses of all statistics under a plan with another loss or sample; NULL if it cannot be released. */
static tamis_status try_plan(double **excess, const trials *t, double value, tamis_error *err)
{
    const tamis_plan *plan = t->schedule->plan;
    tmi_change change = {.sample = t->of_sample ? value : 0};
    tamis_number *number = NULL;
    tmi_expected_statistic *list = NULL;
    char text[40];
    tamis_status status = TAMIS_OK;
    if (!t->of_sample) {
        snprintf(text, sizeof text, "%.2g", value);
        TMI_TRY(tamis_number_read(&number, text, err));
        change.loss = plan->privacy.loss;
        *(change.loss.rho ? &change.loss.rho : &change.loss.epsilon) = number;
    }
    TMI_TRY(tmi_change_expected(&list, t->schedule, &change, err));
    if (!list) goto done;
    *excess = tmi_alloc(plan->statistic_count, sizeof **excess);
    if (!*excess) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < plan->statistic_count; i++) (*excess)[i] = excess_of(&list[i]);

done:
    tmi_expected_statistics_free(list, plan->statistic_count);
    tamis_number_free(number);
    return status;
}

/* *excess is NULL if the value cannot be tried. */
static tamis_status try_value(const double **excess, trials *t, double value, tamis_error *err)
{
    *excess = NULL;
    for (size_t i = 0; i < t->count; i++) {
        if (t->values[i] != value) continue;
        *excess = t->excess[i];
        return TAMIS_OK;
    }
    if (t->count == MOST_TRIALS || !(value <= t->most)) return TAMIS_OK;
    t->values[t->count] = value;
    tamis_status status = try_plan(&t->excess[t->count], t, value, err);
    if (status == TAMIS_OK) *excess = t->excess[t->count++];
    return status;
}

/* Two digits. */
static double round_up(double x)
{
    const double unit = pow(10, floor(log10(x)) - 1);
    return ceil(x / unit * (1 - 1e-9)) * unit;
}

/* Where the noise falls faster than the first guess has it: back, until a tenth less would not be enough. */
static tamis_status find_less(double *enough, trials *t, size_t i, double too_little, tamis_error *err)
{
    while (*enough > 1.1 * too_little) {
        const double *tried, between = round_up(sqrt(*enough * too_little));
        if (between >= *enough * (1 - 1e-9)) break;
        tamis_status status = try_value(&tried, t, between, err);
        if (status != TAMIS_OK || !tried) return status;
        if (tried[i] > 0) too_little = between;
        else *enough = between;
    }
    return TAMIS_OK;
}

static tamis_status find_enough(double *enough, trials *t, size_t i, double now, double excess, tamis_error *err)
{
    const bool squared = !t->of_sample && t->schedule->plan->privacy.loss.rho;
    double value = now;
    *enough = TMI_NULL;
    for (int round = 0; round < MOST_ROUNDS && isfinite(excess); round++) {
        const double *tried, too_little = value, least = value * fmax(squared ? excess * excess : excess, 1 + 1e-6);
        value = t->of_sample && least <= t->most ? fmin(round_up(ceil(least)), t->most) : round_up(least);
        tamis_status status = try_value(&tried, t, value, err);
        if (status != TAMIS_OK || !tried) return status;
        excess = tried[i];
        if (excess > 0) continue;
        *enough = value;
        return find_less(enough, t, i, too_little, err);
    }
    return TAMIS_OK;
}

tamis_status tmi_expected_statistics_advise(tmi_expected_statistic *list, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_loss *loss = &s->plan->privacy.loss;
    const double now = tmi_number_nearest(loss->rho ? loss->rho : loss->epsilon), sample = (double)s->plan->design.sample;
    trials budgets = {.schedule = s, .most = TAMIS_MAX_LOSS},
           samples = {.schedule = s, .of_sample = true, .most = (double)s->plan->design.population};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < s->plan->asked_count; i++) {
        const double excess = excess_of(&list[i]);
        if (tmi_is_known(s, i) || excess == 0) continue;
        if (!loss->outsider) TMI_TRY(find_enough(&list[i].loss, &budgets, i, now, excess, err));
        if (sample > 0 && sample * excess <= samples.most)
            TMI_TRY(find_enough(&list[i].sample, &samples, i, sample, excess, err));
    }

done:
    for (size_t i = 0; i < MOST_TRIALS; i++) {
        tmi_free(budgets.excess[i]);
        tmi_free(samples.excess[i]);
    }
    return status;
}
