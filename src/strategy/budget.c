#include "strategy/budget.h"

#include <math.h>
#include <string.h>

/* Of GRAM, in what a row adds to all levels: of one that stays in its only cell, or that leaves one and enters another. */
static void set_gram(tmi_candidate *c, double own, size_t numbers)
{
    const tmi_table_form form = c->marginal.form;
    const bool places = c->marginal.axis_count > numbers;
    const double step = own / tmi_gram_steps(form),
                 l1 = (double)(places ? 2 * tmi_gram_size(form, numbers) : tmi_gram_change(form, numbers)),
                 squared = (double)(places ? 2 * tmi_gram_size_squared(form, numbers) : tmi_gram_change_squared(form, numbers));
    c->l1 = l1 * step;
    c->l2_squared = squared * step * step;
}

void tmi_candidate_set_sensitivity(tmi_candidate *c, const tmi_axis *axes, tmi_move_bound move_bound)
{
    if (tmi_is_gram(c->marginal.form)) {
        set_gram(c, move_bound.own, tmi_gram_numbers(axes, &c->marginal));
        return;
    }
    const bool places = c->marginal.form == TMI_FULL && c->marginal.axis_count > 0;
    const double own = move_bound.own, first = own * (1 + move_bound.others);
    c->l1 = first + (places || move_bound.signs ? own : 0);
    c->l2_squared = move_bound.signs ? c->l1 * c->l1 : first * first + (places ? own * own : 0);
}

double tmi_candidate_precision(const tmi_candidate *c, bool gaussian, double loss)
{
    return gaussian ? 2 * loss / c->l2_squared : loss * loss / (2 * c->l1 * c->l1);
}

/* ---- one target ---- */

static double sum_of(const tmi_problem *p, const tmi_parts_of_effects *list, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += tmi_effects_variance(p->effects, &list[i]);
    return sum;
}

double tmi_strategy_target_noise(const tmi_problem *p, const tmi_strategy_target *a)
{
    return sum_of(p, a->noise, a->noise_count);
}

/* What an interval adds to a sampling variance because that is estimated with noise; and the derivative by the variance of that
 * noise. */
static double widening(const tmi_strategy_target *a, double spread) { return a->spread_count > 0 ? a->margin * sqrt(spread) : 0; }

static double slope(const tmi_strategy_target *a, double spread) { return a->margin / (2 * sqrt(spread)); }

double tmi_strategy_target_variance(const tmi_strategy_target *a)
{
    return a->sampling + a->noise_variance + widening(a, a->spread_variance);
}

void tmi_budget_solve(tmi_problem *p, const tmi_strategy *s)
{
    tmi_effects_reset(p->effects);
    for (size_t k = 0; k < s->count; k++) {
        const tmi_candidate *c = s->tables[k];
        const double precision = tmi_candidate_precision(c, p->gaussian, p->budget * s->parts[k]);
        tmi_effects_add(p->effects, &c->information, precision);
    }
    tmi_effects_solve(p->effects);
}

void tmi_budget_inform(tmi_problem *p, const tmi_strategy *s)
{
    tmi_budget_solve(p, s);
    for (size_t i = 0; i < p->target_count; i++) {
        tmi_strategy_target *a = &p->targets[i];
        a->noise_variance = tmi_strategy_target_noise(p, a);
        a->spread_variance = sum_of(p, a->spread, a->spread_count);
    }
}

double tmi_budget_objective(tmi_problem *p, const tmi_strategy *s)
{
    double sum = 0;
    tmi_budget_inform(p, s);
    for (size_t i = 0; i < p->target_count; i++) {
        const double variance = tmi_strategy_target_variance(&p->targets[i]);
        if (variance > 0) sum += p->targets[i].share * log(variance);
    }
    return sum;
}

/* ---- the way to the optimum ---- */

/* Sets the gradient of the objective in the variances of the effects; `weights` has room for one number per target. */
static void gradient(const tmi_problem *p, double *weights)
{
    for (size_t i = 0; i < p->target_count; i++) {
        const tmi_strategy_target *a = &p->targets[i];
        const double spread = a->spread_variance, variance = tmi_strategy_target_variance(a);
        weights[i] = variance > 0 ? a->share / variance : 0;
        if (!(variance > 0)) continue;
        for (size_t k = 0; k < a->noise_count; k++) tmi_effects_add_gradient(p->effects, &a->noise[k], weights[i]);
        if (!(spread > 0)) continue;
        for (size_t k = 0; k < a->spread_count; k++)
            tmi_effects_add_gradient(p->effects, &a->spread[k], weights[i] * slope(a, spread));
    }
}

/* What the objective F gains by the part x of a table: -x dF/dx. */
static double gain_of(const tmi_problem *p, const tmi_candidate *c, double part)
{
    const double precision = tmi_candidate_precision(c, p->gaussian, p->budget * part), power = p->gaussian ? 1 : 2;
    return power * precision * tmi_effects_gain(p->effects, &c->information);
}

/* Multiplies each part by its gain per part, to a power, and scales them to the sum 1. A table that gains nothing keeps a
 * little, so that it may come back. */
static void step(double *parts, const double *from, const double *gains, size_t count, double power)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += parts[k] = fmax(from[k] * pow(gains[k] / from[k], power), 1e-12);
    for (size_t k = 0; k < count; k++) parts[k] /= sum;
}

#define MOST_TABLES 4096 /* a strategy has no more tables; their parts are on the stack for a moment */
#define CLOSE 1e-7       /* rounds end when one gains less than this, relative to the sum of the shares */

void tmi_budget_gains(tmi_problem *p, const tmi_strategy *s, double *gains)
{
    tmi_budget_inform(p, s);
    gradient(p, p->weights);
    for (size_t k = 0; k < s->count; k++) gains[k] = gain_of(p, s->tables[k], s->parts[k]);
}

double tmi_budget_improve(tmi_problem *p, tmi_strategy *s, double *gains, int rounds, int *looks)
{
    int count = 1;
    double before[MOST_TABLES], shares = 0, best = tmi_budget_objective(p, s), power = 1;
    for (size_t i = 0; i < p->target_count; i++) shares += p->targets[i].share;
    for (int round = 0; round < rounds && isfinite(best) && s->count <= MOST_TABLES; round++) {
        if (round % 8 == 0) power = 1;
        gradient(p, p->weights);
        for (size_t k = 0; k < s->count; k++) gains[k] = gain_of(p, s->tables[k], s->parts[k]);
        memcpy(before, s->parts, s->count * sizeof *before);
        count++;
        double next;
        for (;;) {
            step(s->parts, before, gains, s->count, power);
            next = tmi_budget_objective(p, s);
            count++;
            if (next <= best || power < 0.1) break;
            power = power > 0.9 ? (p->gaussian ? 1. / 2 : 1. / 3) : power / 2;
        }
        if (!(next < best)) {
            memcpy(s->parts, before, s->count * sizeof *before);
            break;
        }
        const double gained = best - next;
        best = next;
        if (gained < CLOSE * shares) break;
    }
    if (looks) *looks += count;
    return best;
}

double tmi_budget_gap(tmi_problem *p, const tmi_strategy *s, const tmi_candidate *const *others, size_t other_count)
{
    double sum = 0, steepest = 0;
    tmi_budget_inform(p, s);
    gradient(p, p->weights);
    for (size_t k = 0; k < s->count; k++) {
        const double gain = gain_of(p, s->tables[k], s->parts[k]);
        sum += gain;
        steepest = fmax(steepest, gain / s->parts[k]);
    }
    for (size_t k = 0; k < other_count; k++) steepest = fmax(steepest, gain_of(p, others[k], 1));
    return fmax(steepest - sum, 0);
}
