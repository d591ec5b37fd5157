#include "measure/quantile_tasks.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "measure/controls.h"
#include "mech/quantile/distribution.h"
#include "mech/quantile/quantile.h"
#include "mech/quantile/records.h"
#include "mech/quantile/several.h"
#include "num/exact.h"

void tmi_quantile_task_clear(tmi_quantile_task *c)
{
    tmi_number_frees(&c->part, &c->epsilon, &c->rho, &c->log_unit, NULL);
    tmi_free(c->group_rows);
    *c = (tmi_quantile_task){0};
}

bool tmi_has_method(const tamis_plan *plan, tamis_quantile_method method)
{
    const char *name = tamis_quantile_method_name(method);
    for (size_t i = 0; i < plan->asked_count; i++)
        if (tmi_has_mechanism(&plan->statistics[i]) && strcmp(plan->statistics[i].method, name) == 0) return true;
    return false;
}

/* ---- the budget ---- */

static tmi_term all_shares(tmi_exact *e, const tamis_plan *plan)
{
    tmi_term sum = tmi_int(e, 0);
    for (size_t i = 0; i < plan->asked_count; i++) sum = tmi_add(e, sum, plan->statistics[i].share);
    return sum;
}

/* Of what is spent, half of a statistic's share. */
static tmi_term share_of(tmi_exact *e, const tamis_plan *plan, size_t i)
{
    return tmi_div(e, plan->statistics[i].share, tmi_mul(e, tmi_int(e, 2), all_shares(e, plan)));
}

tamis_status tmi_quantile_tasks_share(tamis_number **share, const tamis_plan *plan, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term sum = tmi_int(&e, 0);
    for (size_t i = 0; i < plan->asked_count; i++)
        if (tmi_has_mechanism(&plan->statistics[i])) sum = tmi_add(&e, sum, share_of(&e, plan, i));
    tamis_status status = tmi_exact_copy(share, &e, sum);
    tmi_exact_clear(&e);
    return status;
}

/* What tables and quantile tasks spend together: the tables have what the quantile tasks leave. */
static tamis_status whole_of(tamis_number **whole, const tmi_schedule *s, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term tables = tmi_int(&e, 0);
    tamis_number *share = NULL;
    tamis_status status;
    TMI_TRY(tmi_quantile_tasks_share(&share, s->plan, err));
    for (size_t k = 0; k < s->measurement_count; k++) tables = tmi_add(&e, tables, s->measurements[k].part);
    TMI_TRY(tmi_exact_copy(whole, &e, tmi_div(&e, tables, tmi_sub(&e, tmi_int(&e, 1), share))));

done:
    tamis_number_free(share);
    tmi_exact_clear(&e);
    return status;
}

/* The largest number of 20 bits whose square is at most x > 0. */
static tamis_status root_down(tamis_number **root, const tamis_number *x, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *found = NULL;
    tamis_status status = TAMIS_OK;
    int exponent;
    double mantissa = floor(ldexp(frexp(sqrt(tmi_number_up(x)), &exponent), 20));
    for (bool fits = false; !fits; mantissa -= 1) {
        tamis_number_free(found);
        found = NULL;
        TMI_TRY(tmi_number_double(&found, ldexp(mantissa, exponent - 20), err));
        tmi_term square = tmi_mul(&e, found, found);
        TMI_TRY(e.status);
        fits = tmi_number_compare(square, x) <= 0;
    }
    *root = found;
    found = NULL;

done:
    tamis_number_free(found);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_selection_epsilon(tamis_number **epsilon, const tamis_number *rho, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term square = tmi_mul(&e, rho, tmi_int(&e, 8));
    tamis_status status = e.status;
    if (status == TAMIS_OK) status = root_down(epsilon, square, err);
    tmi_exact_clear(&e);
    return status;
}

/* What the mechanism of each group is made with. */
static tamis_status set_loss(tmi_quantile_task *c, bool rho, size_t at_count, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_number *root = NULL;
    tamis_status status = TAMIS_OK;
    if (c->method == TAMIS_QUANTILE_PREFIX) {
        TMI_TRY(tmi_exact_copy(&c->rho, &e, tmi_div(&e, c->part, tmi_int(&e, c->add_remove ? 2 : 1))));
        goto done;
    }
    tmi_term square = tmi_mul(&e, c->part, tmi_int(&e, tmi_quantile_concentration(c->method, at_count)));
    TMI_TRY(e.status);
    if (rho) TMI_TRY(root_down(&root, square, err));
    tmi_term whole = rho ? root : c->part;
    TMI_TRY(tmi_exact_copy(&c->epsilon, &e, tmi_div(&e, whole, tmi_int(&e, c->add_remove ? 2 : 1))));

done:
    tamis_number_free(root);
    tmi_exact_clear(&e);
    return status;
}

/* ---- what is public ---- */

/* Whether no record can leave its group for another: there is one group, or groups are of public strata. Of a unit with an id
 * nobody checks that all its rows have the same stratum, so the one that counts might change it. */
static bool stays_in_group(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    bool by_strata = true;
    for (size_t k = 0; k < t->by_count; k++) by_strata = by_strata && tmi_is_of_strata(&s->plan->design, t->by[k]);
    return t->by_count == 0 || (by_strata && s->sampling.public_strata && !s->sampling.of_units);
}

/* Whether rows of a group differ in weight. */
static bool is_weighed(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    const tmi_sampling *p = &s->sampling;
    bool in_strata = false; /* each group in one of them */
    for (size_t k = 0; k < t->by_count; k++)
        in_strata = in_strata || (tmi_is_of_strata(p->design, t->by[k]) && t->by[k]->value_count == p->strata);
    return p->weights != TMI_ALIKE && !(in_strata && p->weights == TMI_STRATA);
}

/* Why not all rows of a group have a value that counts as much as any other, with one row per unit; NULL: they have. */
static const char *incomplete(const tmi_schedule *s, const tmi_plan_statistic *t)
{
    if (t->where) return "how many rows satisfy the condition is not public";
    if (t->column->missing != TMI_NEVER)
        return "values may be missing, and how many are is not public (`missing: none` declares the column complete)";
    if (is_weighed(s, t)) return "its rows have different weights, and smooth sensitivity is known for rows that count alike";
    if (s->plan->privacy.rows_per_unit > 1) return "a unit may have several rows";
    return NULL;
}

/* Ranks among all rows, where their number is public and no value is missing. */
static int64_t complete_rows(const tmi_schedule *s, size_t i)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    return t->by_count == 0 && !incomplete(s, t) ? tmi_public_rows(s, i, 0) : 0;
}

/* ---- what is refused ---- */

static bool has_bins(const tmi_quantile_task *c)
{
    return c->method == TAMIS_QUANTILE_PREFIX || c->method == TAMIS_QUANTILE_TREE;
}

/* Whether points are drawn by a measure on the grid. */
static bool has_measure(const tmi_quantile_task *c)
{
    return !has_bins(c) && c->method != TAMIS_QUANTILE_SMOOTH && c->method != TAMIS_QUANTILE_HISTOGRAM;
}

static tamis_status refuse(const tmi_schedule *s, const tmi_plan_statistic *t, const char *reason, const char *nearest,
                           tamis_error *err)
{
    return tmi_fail(err, TAMIS_REFUSED, "%s:%d:%d: %s; nearest setting that works: %s", s->plan->name, t->line, t->place, reason,
                    nearest);
}

/* The smallest of 1, 2 and 5 times a power of ten that is large enough as a step of weights: the largest has then at most 2^most
 * steps, and times the number of rows at most 2^sum. 0: there is none below the largest weight. */
static double coarser_step(const tmi_sampling *p, int most, int sum)
{
    const double largest = ((double)p->most + 1) * tmi_number_up(p->step);
    const double least = largest * fmax(ldexp(1, -most), (double)p->rows * ldexp(1, -sum));
    const double power = pow(10, floor(log10(least)) - 1);
    for (double x = power; x <= 100 * power; x *= 10)
        for (int k = 1; k <= 5; k += k == 1 ? 1 : 3)
            if (k * x >= least * (1 + 1e-9)) return k * x < largest / 2 ? k * x : 0;
    return 0;
}

static tamis_status check_weights(const tmi_quantile_task *c, const tmi_schedule *s, const tmi_plan_statistic *t,
                                  tamis_error *err)
{
    const tmi_sampling *p = &s->sampling;
    const tmi_int128 all = (tmi_int128)p->most * p->rows;
    const int most = has_bins(c) ? TMI_BINS_WEIGHT_BITS : TMI_WEIGHT_BITS_MOST;
    const int sum = c->method == TAMIS_QUANTILE_PREFIX ? TMI_PREFIX_SUM_BITS
                    : has_bins(c)                      ? TMI_TREE_SUM_BITS
                                                       : TMI_WEIGHT_SUM_BITS;
    if (!is_weighed(s, t)) return TAMIS_OK;
    if (s->plan->privacy.design_protected)
        return refuse(s, t,
                      "with `design_variables: protected` one record may change the weights of all others, and no mechanism that "
                      "chooses a quantile covers that",
                      "{method: distribution}", err);
    if (p->most <= INT64_C(1) << most && all <= (tmi_int128)1 << sum) return TAMIS_OK;
    const bool has_step = p->weights == TMI_ROWS && !p->stages &&
                          !p->of_sizes; /* else it follows from the weights of the design */
    const double step = has_step ? coarser_step(p, most, sum) : 0;
    if (step == 0)
        return refuse(s, t, "a mechanism adds up weights exactly, and those of this design are too fine for this one",
                      has_bins(c) ? "{method: inverse}, {method: distribution}" : "{method: distribution}", err);
    return tmi_fail(
        err, TAMIS_REFUSED,
        "%s:%d:%d: the grid of weights is too fine for `method: %s`, which adds them up exactly: the largest weight must "
        "be at most 2^%d steps, and times the number of rows at most 2^%d; nearest setting that works: weight_step: %g "
        "in `design`",
        s->plan->name, t->line, t->place, t->method, most, sum, step);
}

/* The coin that prefix sums and trees are paid in. */
static tamis_status check_coin(const tmi_quantile_task *c, const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    if (c->method == TAMIS_QUANTILE_PREFIX && !s->gaussian)
        return refuse(s, t, "`method: prefix` has Gaussian noise and needs rho, or epsilon with delta",
                      "{method: tree}, {method: distribution}", err);
    if (c->method == TAMIS_QUANTILE_TREE && s->gaussian)
        return refuse(s, t, "`method: tree` has Laplace noise and needs epsilon; with rho, prefix sums have less noise",
                      "{method: prefix}, {method: distribution}", err);
    return TAMIS_OK;
}

/* Smooth sensitivity compares files of the same public number of rows, and counts a row that is not there as the largest. The
 * strata of a design have such numbers, and no row leaves its stratum: each is found among its own. */
static tamis_status set_smooth(tmi_quantile_task *c, const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const char *reason = incomplete(s, t);
    if (c->method != TAMIS_QUANTILE_SMOOTH || c->rows > 0) return TAMIS_OK;
    if (!reason && c->add_remove)
        reason =
            "how many rows are in a group is not public, because the groups of a row are protected like its answers; only the "
            "public strata of the design have fixed numbers";
    for (size_t g = 0; !reason && g < c->groups; g++)
        if (tmi_public_rows(s, c->statistic, g) <= 0) reason = "the number of rows is not fixed and public under this design";
    if (reason) {
        tmi_text words;
        tmi_text_init(&words);
        tmi_text_format(&words, "`method: smooth` finds a quantile among a fixed, public number of rows: %s", reason);
        const tamis_status status = words.failed ? tmi_fail_memory(err)
                                                 : refuse(s, t, words.bytes, "{method: inverse}, {method: distribution}", err);
        tmi_text_clear(&words);
        return status;
    }
    c->group_rows = tmi_alloc(c->groups, sizeof *c->group_rows);
    if (!c->group_rows) return tmi_fail_memory(err);
    for (size_t g = 0; g < c->groups; g++) c->group_rows[g] = tmi_public_rows(s, c->statistic, g);
    return TAMIS_OK;
}

/* Prefix sums and trees hold all bins of all groups at once. */
static tamis_status check_room(const tmi_quantile_task *c, const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    const int64_t points = t->column->grid.high - t->column->grid.low + 1, bins = points < TAMIS_BINS ? points : TAMIS_BINS;
    if (!has_bins(c) || (int64_t)c->groups <= TMI_MAX_QUANTILE_BINS / bins) return TAMIS_OK;
    return tmi_fail(
        err, TAMIS_INVALID,
        "%s:%d:%d: must have at most %lld groups with this method and step: use fewer groups, a larger step, or `method: "
        "distribution`",
        s->plan->name, t->line, t->place, (long long)(TMI_MAX_QUANTILE_BINS / bins));
}

static tamis_status check_method(tmi_quantile_task *c, const tmi_schedule *s, const tmi_plan_statistic *t, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(check_coin(c, s, t, err));
    TMI_TRY(check_weights(c, s, t, err));
    TMI_TRY(set_smooth(c, s, t, err));
    TMI_TRY(check_room(c, s, t, err));

done:
    return status;
}

/* ---- how long it takes ---- */

/* A joint draw cannot be interrupted: some ten seconds of it, in all groups. */
#define MOST_TERMS 0x1p22

/* Terms of the sums of a joint draw, in all groups together: no more than all rows have. */
static double joint_terms(const tmi_quantile_task *c, const tmi_schedule *s)
{
    const tmi_plan_statistic *t = &s->plan->statistics[c->statistic];
    const double m = (double)t->at_count, groups = (double)c->groups,
                 each = tmi_joint_terms(&t->column->grid, t->at_count, tmi_number_nearest(c->epsilon), c->rows_per_unit, 0,
                                        c->log_unit != NULL);
    return fmin(groups * each, m * m * ((double)s->sampling.rows * (double)c->rows_per_unit + groups));
}

static tamis_status check_time(const tmi_quantile_task *c, const tmi_schedule *s, tamis_error *err)
{
    if (c->method != TAMIS_QUANTILE_JOINT || joint_terms(c, s) <= MOST_TERMS) return TAMIS_OK;
    return refuse(
        s, &s->plan->statistics[c->statistic],
        "so many quantiles with so small an epsilon would take `method: joint` longer than ten seconds, in which it cannot "
        "be interrupted",
        "{method: split}, {method: distribution}, fewer quantiles in `at`", err);
}

/* ---- one quantile task ---- */

tamis_quantile_setup tmi_quantile_task_setup(const tmi_quantile_task *c, const tamis_plan *plan, size_t group)
{
    const int64_t rows = c->group_rows ? c->group_rows[group] : c->rows;
    const tmi_plan_statistic *t = &plan->statistics[c->statistic];
    return (tamis_quantile_setup){.from = t->column->from,
                                  .to = t->column->to,
                                  .step = t->column->step,
                                  .at = (const tamis_number *const *)t->at,
                                  .at_count = t->at_count,
                                  .epsilon = c->epsilon,
                                  .rho = c->rho,
                                  .method = c->method,
                                  .add_remove = c->add_remove,
                                  .rows_per_unit = c->rows_per_unit,
                                  .max_weight = c->max_weight,
                                  .log_unit = c->log_unit,
                                  .complete = rows > 0,
                                  .rows = rows};
}

/* The mechanism is made once, so that what is wrong with it is known before anything is charged; `auto` becomes what its rule
 * says. */
static tamis_status try_mechanism(tmi_quantile_task *c, const tmi_schedule *s, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[c->statistic];
    const tamis_quantile_setup setup = tmi_quantile_task_setup(c, s->plan, 0);
    tamis_quantile *quantile = NULL;
    tamis_error reason = {0};
    tamis_status status = tamis_quantile_new(&quantile, &setup, &reason);
    if (status != TAMIS_OK)
        status = status == TAMIS_INVALID
                     ? tmi_fail(err, status, "%s:%d:%d: %.900s", s->plan->name, t->line, t->place, reason.message)
                     : tmi_fail_as(err, &reason);
    else c->method = tamis_quantile_method_of(quantile);
    tamis_quantile_free(quantile);
    return status;
}

static tamis_status make(tmi_quantile_task *c, const tmi_schedule *s, size_t i, const tamis_number *whole, tamis_error *err)
{
    const tmi_plan_statistic *t = &s->plan->statistics[i];
    const tmi_grid *grid = &t->column->grid;
    tmi_exact e = TMI_EXACT(err);
    tamis_status status;
    *c = (tmi_quantile_task){.statistic = i,
                             .add_remove = !stays_in_group(s, t),
                             .rows_per_unit = s->plan->privacy.rows_per_unit > 1 ? s->plan->privacy.rows_per_unit : 1,
                             .max_weight = is_weighed(s, t) ? s->sampling.most : 0,
                             .rows = complete_rows(s, i),
                             .numbers = (size_t)tmi_statistic_cells(t)};
    c->groups = c->numbers / t->at_count;
    TMI_TRY(tamis_quantile_method_of_name(&c->method, strcmp(t->method, "mechanism") == 0 ? "auto" : t->method, err));
    TMI_TRY(check_method(c, s, t, err));
    TMI_TRY(tmi_exact_copy(&c->part, &e, tmi_mul(&e, whole, share_of(&e, s->plan, i))));
    if (has_measure(c) && grid->low >= 0 && grid->high - grid->low >= TMI_SKEWED_STEPS)
        TMI_TRY(tmi_number_copy(&c->log_unit, t->column->step, err));
    if (c->method == TAMIS_QUANTILE_AUTO && t->at_count > 1 && t->at_count <= TMI_JOINT_QUANTILES) {
        c->method = TAMIS_QUANTILE_JOINT; /* the number of rows may be known better here */
        TMI_TRY(set_loss(c, s->gaussian, t->at_count, err));
        if (joint_terms(c, s) > TMI_JOINT_TERMS) c->method = TAMIS_QUANTILE_SPLIT;
        tamis_number_free(c->epsilon);
        c->epsilon = NULL;
    }
    if (c->method == TAMIS_QUANTILE_AUTO) { /* its rule needs an epsilon: that of THRESHOLD */
        TMI_TRY(set_loss(c, s->gaussian, 1, err));
        TMI_TRY(try_mechanism(c, s, err));
        tamis_number_free(c->epsilon);
        c->epsilon = NULL;
    }
    TMI_TRY(set_loss(c, s->gaussian, t->at_count, err));
    TMI_TRY(check_time(c, s, err));
    TMI_TRY(try_mechanism(c, s, err));

done:
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_quantile_tasks_make(tmi_schedule *s, tamis_error *err)
{
    const tamis_plan *plan = s->plan;
    size_t count = 0;
    int64_t numbers = 0;
    tamis_number *whole = NULL;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < plan->asked_count; i++) {
        if (!tmi_has_mechanism(&plan->statistics[i])) continue;
        count++;
        numbers += tmi_statistic_cells(&plan->statistics[i]); /* in all at most TMI_MAX_PLAN_CELLS */
    }
    if (count == 0) return TAMIS_OK;
    if (numbers > TMI_MAX_ANSWERS)
        return tmi_fail(err, TAMIS_INVALID,
                        "statistics: mechanisms choose at most %lld quantiles, groups and `at` together: use fewer groups, or "
                        "`method: distribution`",
                        (long long)TMI_MAX_ANSWERS);
    s->quantile_tasks = tmi_alloc(count, sizeof *s->quantile_tasks);
    if (!s->quantile_tasks) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(whole_of(&whole, s, err));
    for (size_t i = 0; i < plan->asked_count; i++)
        if (tmi_has_mechanism(&plan->statistics[i]))
            TMI_TRY(make(&s->quantile_tasks[s->quantile_task_count++], s, i, whole, err));

done:
    tamis_number_free(whole);
    return status;
}

/* ---- words ---- */

void tmi_quantile_task_name(tmi_text *text, const tmi_quantile_task *c, const tamis_plan *plan)
{
    const tmi_plan_statistic *t = &plan->statistics[c->statistic];
    if (t->kind == TMI_MEDIAN) tmi_text_format(text, "median of %s", t->column->name);
    else tmi_text_format(text, "%zu %s of %s", t->at_count, t->at_count == 1 ? "quantile" : "quantiles", t->column->name);
    for (size_t i = 0; i < t->by_count; i++) tmi_text_format(text, "%s%s", i == 0 ? " by " : ", ", t->by[i]->name);
    if (t->where) tmi_text_format(text, " where %s", t->where->name);
}

void tmi_quantile_task_inequality(tmi_text *text, const tmi_quantile_task *c, bool rho)
{
    const char *groups = c->groups == 1 ? "" : c->add_remove ? " in each group" : " in each group, which no record can leave";
    if (c->rho) {
        tmi_text_format(text,
                        c->add_remove
                            ? "a record leaves one group and enters another, or changes inside one: two squared L2 norms, so "
                              "rho/2 for rows added or removed%s"
                            : "a record is replaced or left out: rho = L2^2 / (2 variance)%s",
                        groups);
        return;
    }
    if (c->add_remove)
        tmi_text_format(text, "a record leaves one group and enters another: e/2 and e/2, e = 2 epsilon, rows added or removed%s",
                        groups);
    else if (c->method == TAMIS_QUANTILE_SMOOTH) tmi_text_format(text, "a record is replaced: e = epsilon%s", groups);
    else tmi_text_format(text, "a record is replaced or left out: e = epsilon%s", groups);
    if (rho)
        tmi_text_put(text, c->method == TAMIS_QUANTILE_THRESHOLD || c->method == TAMIS_QUANTILE_HISTOGRAM ||
                                   c->method == TAMIS_QUANTILE_SMOOTH
                               ? "; pure privacy with e in all has rho = e^2 / 2 for one draw"
                               : "; a loss in a range of length e has rho = e^2 / 8 for one draw");
}
