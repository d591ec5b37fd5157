#include "measure/bound_tasks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/schedule.h"
#include "num/exact.h"

/* A doubling of the bound doubles the noise, which is about as large as what WORTH / rate rows add; with more the bound is too
 * low where few rows are far out, with less it is too high where many candidates are above all rows (docs/accuracy.md). */
#define WORTH 2

void tmi_bound_task_clear(tmi_bound_task *t)
{
    tmi_number_frees(&t->part, &t->epsilon, &t->rate, NULL);
    *t = (tmi_bound_task){0};
}

/* ---- the budget ---- */

tamis_status tmi_bound_tasks_share(tamis_number **share, const tamis_plan *plan, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    for (size_t k = 0; k < plan->bound_count; k++) sum = tmi_add(&e, sum, plan->bounds[k].column.private_share);
    tamis_status status = tmi_exact_copy(share, &e, sum);
    tmi_exact_clear(&e);
    return status;
}

/* What is spent in all: tables and quantile tasks have what the bounds leave. */
static tamis_status whole_of(tamis_number **whole, const tmi_schedule *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term rest = tmi_int(&e, 0);
    tamis_number *share = NULL;
    tamis_status status;
    TMI_TRY(tmi_bound_tasks_share(&share, s->plan, err));
    for (size_t k = 0; k < s->measurement_count; k++) rest = tmi_add(&e, rest, s->measurements[k].part);
    for (size_t k = 0; k < s->quantile_task_count; k++) rest = tmi_add(&e, rest, s->quantile_tasks[k].part);
    TMI_TRY(tmi_exact_copy(whole, &e, tmi_div(&e, rest, tmi_sub(&e, tmi_int(&e, 1), share))));

done:
    tamis_number_free(share);
    tmi_exact_clear(&e);
    return status;
}

static tamis_status make(tmi_bound_task *t, const tmi_schedule *s, size_t k, const tamis_number *whole, tamis_error *err)
{
    const int64_t rows = s->plan->privacy.rows_per_unit;
    tmi_exact e = TMI_EXACT(err);
    tamis_number *worth = NULL;
    tamis_status status;
    *t = (tmi_bound_task){.bound = k, .rows_per_unit = rows > 1 ? rows : 1};
    TMI_TRY(tmi_exact_copy(&t->part, &e, tmi_mul(&e, whole, s->plan->bounds[k].column.private_share)));
    if (s->gaussian) TMI_TRY(tmi_selection_epsilon(&t->epsilon, t->part, err));
    else TMI_TRY(tmi_number_copy(&t->epsilon, t->part, err));
    TMI_TRY(tmi_exact_copy(&t->rate, &e, tmi_div(&e, t->epsilon, tmi_int(&e, t->rows_per_unit))));
    TMI_TRY(tmi_exact_copy(&worth, &e, tmi_div(&e, tmi_int(&e, WORTH), t->rate)));
    if (!tmi_number_floor(&t->worth, worth) || t->worth >= TMI_MAX_POPULATION) t->worth = TMI_MAX_POPULATION;
    else if (!tmi_number_is_integer(worth)) t->worth++;

done:
    tamis_number_free(worth);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_bound_tasks_make(tmi_schedule *s, tamis_error *err)
{
    const size_t count = s->measurement_count > 0 ? s->plan->bound_count : 0;
    tamis_number *whole = NULL;
    tamis_status status = TAMIS_OK;
    if (count == 0) return TAMIS_OK;
    s->bound_tasks = tmi_alloc(count, sizeof *s->bound_tasks);
    if (!s->bound_tasks) return tmi_fail_memory(err);
    TMI_TRY(whole_of(&whole, s, err));
    for (size_t k = 0; k < count; k++) TMI_TRY(make(&s->bound_tasks[s->bound_task_count++], s, k, whole, err));

done:
    tamis_number_free(whole);
    return status;
}

/* ---- guesses ---- */

/* The part of the values above x, if they follow a lognormal law with the guessed mean and standard deviation; without the
 * latter, one as large as the mean. */
static double above(const tmi_plan_column *c, double x)
{
    const double mean = tmi_number_nearest(c->typical), sd = c->typical_sd ? tmi_number_nearest(c->typical_sd) : mean,
                 variance = log1p(sd * sd / (mean * mean));
    return 0.5 * erfc((log(x / mean) + variance / 2) / sqrt(2 * variance));
}

/* What a choice from a part of the budget is expected to lose. */
static double guessed_epsilon(const tamis_plan *plan, const tmi_plan_column *c)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    const double share = tmi_number_nearest(c->private_share);
    return loss->rho ? sqrt(8 * share * tmi_number_nearest(loss->rho)) : share * tmi_number_nearest(loss->epsilon);
}

static bool is_guessed(const tmi_plan_column *c)
{
    return c->typical && tmi_number_sign(c->typical) > 0 && !(c->typical_sd && tmi_number_sign(c->typical_sd) <= 0);
}

static double present_of(const tmi_plan_column *c) { return c->typical_share ? tmi_number_nearest(c->typical_share) : 1; }

double tmi_bound_below_mean(const tmi_bound_task *t, const tmi_private_bound *b, double rows)
{
    const tmi_plan_column *c = b->declared;
    const double beyond = tmi_number_nearest(c->to), rate = tmi_number_nearest(t->rate), worth = (double)t->worth;
    double least = INFINITY, below = 0, all = 0;
    if (!is_guessed(c)) return 0;
    for (int h = 0; h <= b->most; h++) least = fmin(least, rows * present_of(c) * above(c, ldexp(beyond, -h)) - worth * h);
    for (int h = 0; h <= b->most; h++) {
        const double bound = ldexp(beyond, -h), loss = rows * present_of(c) * above(c, bound) - worth * h,
                     weight = exp(-rate * (loss - least));
        all += weight;
        if (bound < tmi_number_nearest(c->typical)) below += weight;
    }
    return below / all;
}

static int guess(const tamis_plan *plan, const tmi_private_bound *b, double rows)
{
    const tmi_plan_column *c = b->declared;
    const double beyond = tmi_number_nearest(c->to), units = (double)plan->privacy.rows_per_unit,
                 worth = WORTH * units / guessed_epsilon(plan, c);
    int best = 0;
    double least = INFINITY;
    if (!is_guessed(c)) return 0;
    const double mean = tmi_number_nearest(c->typical);
    for (int h = 0; h <= b->most; h++) {
        const double bound = ldexp(beyond, -h), loss = rows * present_of(c) * above(c, bound) - worth * h;
        if (loss < least && bound >= 2 * mean) {
            least = loss;
            best = h;
        }
    }
    return best;
}

tamis_status tmi_guess_bounds(tamis_plan *plan, double rows, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t k = 0; k < plan->bound_count && status == TAMIS_OK; k++)
        status = tmi_plan_set_bound(plan, k, guess(plan, &plan->bounds[k], rows), false, err);
    return status;
}

double tmi_rows_above(const tmi_bound_task *t, const tmi_private_bound *b, double confidence)
{
    const double rate = tmi_number_down(t->rate);
    if (b->halvings == 0) return NAN; /* rows above `beyond` are not counted apart from those at it */
    return ceil((double)t->worth * b->halvings + log((b->most + 1) / (1 - confidence)) / rate);
}

/* ---- what is refused ---- */

static const tmi_plan_column *private_in(const tmi_plan_column *column)
{
    if (!column) return NULL;
    if (column->private_share) return column;
    if (column->cut_of) return private_in(column->cut_of);
    for (size_t k = 0; k < column->condition_count; k++)
        if (column->conditions[k].column->private_share) return column->conditions[k].column;
    return NULL;
}

/* The column with a private bound that a statistic uses for something else than its sums. */
static const tmi_plan_column *misused(const tmi_plan_statistic *t)
{
    const tmi_statistic_kind kind = t->kind;
    const bool sums = kind == TMI_TOTAL || kind == TMI_MEAN || kind == TMI_RATIO || kind == TMI_VARIANCE ||
                      kind == TMI_CONTRAST_DIFFERENCE || kind == TMI_CONTRAST_QUOTIENT || kind == TMI_CONTRAST_WEIGHTED;
    const tmi_plan_column *const columns[] = {t->column, t->second};
    const tmi_plan_column *found = private_in(t->where);
    for (size_t k = 0; k < 2 && !found; k++)
        if (!sums || (columns[k] && !columns[k]->private_share)) found = private_in(columns[k]);
    for (size_t k = 0; k < t->by_count && !found; k++) found = private_in(t->by[k]);
    for (size_t k = 0; k < t->also_count && !found; k++) found = private_in(t->also[k]);
    for (size_t k = 0; t->model && k < t->model->on_count && !found; k++) found = private_in(t->model->on[k]);
    if (!found && t->contrast && t->contrast->before) found = private_in(t->contrast->before);
    return found;
}

static tamis_status refuse_control(const tamis_plan *plan, const tmi_plan_control *control, tamis_error *err)
{
    const tmi_plan_column *found = private_in(control->column);
    for (size_t k = 0; k < control->by_count && !found; k++) found = private_in(control->by[k]);
    if (!found) return TAMIS_OK;
    return tmi_fail_file(err, TAMIS_REFUSED, plan->name, 0,
                         "calibrate: %s has a private bound, so that its grid is not known before the rows are read; nearest "
                         "setting that works: a public bound, {to: NUMBER}",
                         found->name);
}

tamis_status tmi_refuse_private_bounds(const tamis_plan *plan, tamis_error *err)
{
    bool any = false;
    for (size_t i = 0; i < plan->statistic_count; i++) {
        const tmi_plan_statistic *t = &plan->statistics[i];
        const tmi_plan_column *found = misused(t);
        const bool is_private = (t->column && t->column->private_share) || (t->second && t->second->private_share);
        any = any || is_private;
        if (found)
            return tmi_fail(
                err, TAMIS_REFUSED,
                "%s:%d:%d: %s has a private bound, which is offered for totals, means, ratios and variances, and "
                "their differences within a release: cuts, conditions, distributions and models need a grid that is known "
                "before the rows are read, and changes one that both waves share; nearest setting that works: a "
                "public bound, {to: NUMBER}",
                plan->name, t->line, t->place, found->name);
        if (is_private && t->for_change)
            return tmi_fail(err, TAMIS_REFUSED,
                            "%s:%d:%d: for_change: %s has a private bound, and a change is of numbers with one range in both "
                            "waves; nearest setting that works: a public bound, {to: NUMBER}, or without `for_change`",
                            plan->name, t->line, t->place, t->column->name);
    }
    for (size_t i = 0; i < plan->control_count; i++) {
        const tamis_status status = refuse_control(plan, &plan->controls[i], err);
        if (status != TAMIS_OK) return status;
    }
    if (any && plan->privacy.loss.outsider)
        return tmi_fail(err, TAMIS_REFUSED,
                        "%s:%d:%d: privacy.outsider: private bounds are found for all strata together, and with a target for "
                        "outsiders each stratum has an epsilon of its own; nearest setting that works: {epsilon: NUMBER}, or "
                        "public bounds, {to: NUMBER}",
                        plan->name, plan->privacy.loss.line, plan->privacy.loss.column);
    return TAMIS_OK;
}

/* ---- words ---- */

void tmi_bound_task_inequality(tmi_text *text, const tmi_bound_task *t, bool rho)
{
    if (t->rows_per_unit == 1)
        tmi_text_put(text, "a record moves the numbers of rows above all candidates the same way, by at most 1: e = rate");
    else
        tmi_text_format(
            text, "the %lld rows of a unit move the numbers of rows above the candidates within a range of %lld: e = %lld rate",
            (long long)t->rows_per_unit, (long long)t->rows_per_unit, (long long)t->rows_per_unit);
    if (rho) tmi_text_put(text, "; a loss in a range of length e has rho = e^2 / 8 for one draw");
}
