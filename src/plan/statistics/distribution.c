/* Statistics that are read from a distribution function: quantiles, their distance, shares below a line, Gini, S80/S20, poverty.
 *
 * Each has a curve: cuts of its column, public like everything in a plan, and for each cut one more statistic, the share of the
 * rows below it. Those shares are measured and estimated like all shares; quantiles and the rest are read from them. Cuts that a
 * plan does not give are chosen here from the range and the public guesses alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "num/exact.h"
#include "plan/sections.h"

/* Cuts on either side of the middle one, where a plan gives none. */
#define LEAST_HALF 15 /* 32 bins */
#define MOST_HALF 63
#define MOST_DEFAULT_CUTS (2 * MOST_HALF + 1)

/* ---- what a plan says ---- */

/* A quantile's positions, ascending, between 0 and 1; one number is a list of one. */
static void read_at(tmi_reader *reader, const tmi_value *value, tmi_plan_statistic *s)
{
    bool list = value->kind == TMI_VALUE_LIST;
    if (value->kind == TMI_VALUE_MAP || (list && (value->count == 0 || value->count > TMI_MAX_AT))) {
        tmi_complain(reader, value, "expected 1 to %d numbers between 0 and 1, e.g. [0.25, 0.5, 0.75]", TMI_MAX_AT);
        return;
    }
    s->at = tmi_alloc(list ? value->count : 1, sizeof *s->at);
    if (!s->at) {
        reader->no_memory = true;
        return;
    }
    for (const tmi_value *item = list ? tmi_value_first(value) : value; item; item = list ? tmi_value_next(item) : NULL) {
        tamis_number **at = &s->at[s->at_count];
        if (!tmi_read_exact(reader, item, at, "0.5")) return;
        s->at_count++;
        if (tmi_number_sign(*at) <= 0 || tmi_number_compare_int(*at, 1) >= 0)
            tmi_complain(reader, item, "expected a number between 0 and 1, e.g. 0.5");
        else if (s->at_count > 1 && tmi_number_compare(*at, at[-1]) <= 0)
            tmi_complain(reader, item, "expected numbers in ascending order, e.g. [0.25, 0.5, 0.75]");
    }
}

static void set_at(tmi_reader *reader, const tmi_value *kind, const tmi_value *at, tmi_plan_statistic *s)
{
    if (s->kind == TMI_QUANTILE && at) read_at(reader, at, s);
    else if (s->kind == TMI_QUANTILE) tmi_complain_key(reader, kind, "expected the key at with it, e.g. at: [0.25, 0.5, 0.75]");
    else if (at) tmi_complain_key(reader, at, "is for quantiles");
    if (s->kind != TMI_MEDIAN) return;
    s->at = tmi_alloc(1, sizeof *s->at);
    if (!s->at || tmi_number_ratio(s->at, 1, 2, NULL) != TAMIS_OK) reader->no_memory = true;
    else s->at_count = 1;
}

static void set_line(tmi_reader *reader, const tmi_value *kind, const tmi_value *line, tmi_plan_statistic *s)
{
    if (s->kind != TMI_SHARE_BELOW && s->kind != TMI_POVERTY) {
        if (line) tmi_complain_key(reader, line, "is for share_below, a value, and for poverty, a part of the median");
        return;
    }
    if (!line && s->kind == TMI_SHARE_BELOW) tmi_complain_key(reader, kind, "expected the key line with it, e.g. line: 12000");
    else if (!line && tmi_number_ratio(&s->limit, 3, 5, NULL) != TAMIS_OK) reader->no_memory = true;
    if (!line || !tmi_read_exact(reader, line, &s->limit, s->kind == TMI_POVERTY ? "0.6" : "12000")) return;
    if (s->kind == TMI_POVERTY && (tmi_number_sign(s->limit) <= 0 || tmi_number_compare_int(s->limit, 2) > 0))
        tmi_complain(reader, line, "expected a part of the median, above 0 and at most 2, e.g. 0.6");
    else if (s->kind == TMI_SHARE_BELOW && s->column &&
             (tmi_number_compare(s->limit, s->column->from) <= 0 || tmi_number_compare(s->limit, s->column->to) > 0))
        tmi_complain(reader, line, "expected a line above `from` of %s and not above its `to`", s->column->name);
}

static void set_method(tmi_reader *reader, const tmi_value *method, tmi_plan_statistic *s)
{
    static const char *const methods[] = {"auto",      "distribution",     "mechanism", "inverse", "joint", "split",
                                          "threshold", "histogram_method", "smooth",    "prefix",  "tree"};
    size_t i;
    if (!method) return;
    if (s->kind != TMI_QUANTILE && s->kind != TMI_MEDIAN)
        tmi_complain_key(reader, method, "this statistic has no choice of methods");
    else if (method->kind == TMI_VALUE_TEXT && strcmp(method->text, TMI_OLD_DISTRIBUTION) == 0) s->method = TMI_OLD_DISTRIBUTION;
    else if (tmi_read_word(reader, method, &i, methods, sizeof methods / sizeof *methods) && i > 0) s->method = methods[i];
}

static void set_interval(tmi_reader *reader, const tmi_value *interval, tmi_plan_statistic *s)
{
    static const char *const types[] = {"mean", "beta", "xlogit", "asin", "score"};
    size_t i;
    if (!interval) return;
    if (s->kind != TMI_QUANTILE && s->kind != TMI_MEDIAN) tmi_complain_key(reader, interval, "is for quantiles");
    else if (tmi_read_word(reader, interval, &i, types, sizeof types / sizeof *types) && i > 0) s->inverse = types[i];
}

/* Its own cuts, as the bins of a histogram are read, so that the same rules hold. */
static void set_cuts(tmi_reader *reader, const tmi_value *cuts, tamis_plan *plan, tmi_plan_statistic *s)
{
    if (!cuts || !s->column) return;
    if (cuts->kind == TMI_VALUE_LIST && cuts->count > TMI_MAX_CURVE_CUTS) {
        tmi_complain(reader, cuts, "expected at most %d cuts of a distribution function", TMI_MAX_CURVE_CUTS);
        return;
    }
    const tmi_plan_column *bins = tmi_read_cuts(reader, cuts, plan, s->column);
    if (!bins) return;
    s->own_cut_count = bins->value_count - 1;
    s->own_cuts = tmi_alloc(s->own_cut_count + 1, sizeof *s->own_cuts);
    if (!s->own_cuts) reader->no_memory = true;
    else if (s->own_cut_count > 0) memcpy(s->own_cuts, bins->cuts, s->own_cut_count * sizeof *s->own_cuts);
}

/* Distribution functions are of numbers with one grid: their points are compared with cuts. */
static void check_column(tmi_reader *reader, const tmi_value *kind, const tamis_plan *plan, const tmi_plan_column *column)
{
    for (size_t h = 0; column->by_stratum && h < plan->design.stratum_count; h++) {
        if (tmi_number_compare(column->by_stratum[h].step, column->step) == 0) continue;
        tmi_complain(reader, kind, "expected a column with one step: the steps of %s differ by stratum", column->name);
        return;
    }
}

static void check_sign(tmi_reader *reader, const tmi_value *kind, const tmi_plan_statistic *s)
{
    const bool of_sums = s->kind == TMI_GINI || s->kind == TMI_S80S20;
    if (of_sums && tmi_number_sign(s->column->from) < 0)
        tmi_complain(reader, kind, "expected a number that is not negative: its range begins below 0");
}

void tmi_read_distribution(tmi_reader *reader, const tmi_value *value, const tmi_value *kind, tamis_plan *plan,
                           tmi_plan_statistic *s)
{
    if (s->column) check_column(reader, kind, plan, s->column);
    if (s->column) check_sign(reader, kind, s);
    set_at(reader, kind, tmi_value_get(value, "at"), s);
    set_line(reader, kind, tmi_value_get(value, "line"), s);
    set_method(reader, tmi_value_get(value, "method"), s);
    set_interval(reader, tmi_value_get(value, "interval"), s);
    set_cuts(reader, tmi_value_get(value, "cuts"), plan, s);
}

size_t tmi_count_curve_columns(const tmi_value *statistics)
{
    static const char *const kinds[] = {"quantile", "median", "iqr", "share_below", "poverty", "gini", "s80s20"};
    size_t count = 0;
    if (!statistics || statistics->kind != TMI_VALUE_LIST) return 0;
    for (const tmi_value *item = tmi_value_first(statistics); item; item = tmi_value_next(item)) {
        if (item->kind != TMI_VALUE_MAP) continue;
        const tmi_value *cuts = tmi_value_get(item, "cuts");
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (tmi_value_get(item, kinds[i])) count += MOST_DEFAULT_CUTS + 1 + (cuts ? cuts->count : 0);
    }
    return count;
}

/* ---- cuts that a plan does not give ---- */

#define DECADES 100 /* without a guess, values below a hundredth of the range are taken as alike */

/* With a guess of mean and standard deviation: places of a normal distribution, or of a lognormal one where values cannot be
 * negative and the guess is skewed; denser in the middle, up to three standard deviations. Without one: evenly over the
 * logarithm where the range begins at 0, as incomes do, else evenly. */
static double default_cut(const tmi_plan_column *x, int i, int half)
{
    const double from = tmi_number_nearest(x->from), to = tmi_number_nearest(x->to), s = (double)i / half;
    if (x->typical && x->typical_sd) {
        const double mean = tmi_number_nearest(x->typical), sd = tmi_number_nearest(x->typical_sd),
                     z = 3 * (0.45 * s + 0.55 * s * s * s);
        if (from < 0 || mean <= 0 || sd < 0.3 * mean) return mean + sd * z;
        const double sigma = sqrt(log1p(sd * sd / (mean * mean)));
        return mean * exp(sigma * z - sigma * sigma / 2);
    }
    const double part = (double)(i + half + 1) / (2 * half + 2), unit = (to - from) / DECADES;
    return from == 0 ? unit * expm1(part * log1p(DECADES)) : from + part * (to - from);
}

#define MANY_ROWS 5000
#define VERY_MANY_ROWS 50000
#define MOST_OF_ALL_CUTS (TMI_MAX_ALL_CUTS / 4) /* where a plan has many curves they stay short */

/* More rows show more of the function, as long as the noise lets them. With B bins a share near a half has a noise variance of
 * about 2 B / epsilon^2 rows, or B / (4 rho), beside n / 4 of sampling: a tenth of it and less by this rule. */
static int half_of_cuts(const tamis_plan *plan, size_t number)
{
    const tmi_plan_loss *loss = &plan->privacy.loss;
    const double epsilon = loss->epsilon ? tmi_number_nearest(loss->epsilon) : 1,
                 square = loss->rho ? 2 * tmi_number_nearest(loss->rho) : epsilon * epsilon;
    double rows = (double)plan->design.sample * fmin(square, 1);
    size_t first = 0;
    while (plan->statistics[first].curve != number) first++;
    for (size_t i = 0; i < plan->statistics[first].by_count; i++) rows /= (double)plan->statistics[first].by[i]->value_count;
    int half = rows < MANY_ROWS ? LEAST_HALF : rows < VERY_MANY_ROWS ? 2 * LEAST_HALF + 1 : MOST_HALF;
    while (half > LEAST_HALF && plan->curve_count * (size_t)(2 * half + 1) > MOST_OF_ALL_CUTS) half /= 2;
    return half;
}

static void add_default_cuts(tmi_plan_curve *curve, int half)
{
    const tmi_plan_column *x = curve->column;
    const double step = tmi_number_nearest(x->step);
    for (int i = -half; i <= half; i++) {
        const double place = floor(default_cut(x, i, half) / step + 0.5);
        if (place > (double)x->grid.low && place < (double)x->grid.high) curve->cuts[curve->cut_count++] = (int64_t)place;
    }
    if (curve->cut_count == 0)
        curve->cuts[curve->cut_count++] = x->grid.low + (x->grid.high - x->grid.low + 1) / 2; /* few points */
}

/* ---- curves ---- */

static bool share_curve(const tmi_plan_statistic *a, const tmi_plan_statistic *b)
{
    if (a->column != b->column || a->where != b->where || a->by_count != b->by_count || !a->deff != !b->deff) return false;
    if (a->deff && tmi_number_compare(a->deff, b->deff) != 0) return false;
    if (tmi_number_compare(a->confidence, b->confidence) != 0) return false;
    for (size_t i = 0; i < a->by_count; i++)
        if (a->by[i] != b->by[i]) return false;
    return true;
}

/* Gives each statistic its curve, and each curve the column. */
static void assign_curves(tamis_plan *plan)
{
    for (size_t i = 0; i < plan->asked_count; i++) {
        tmi_plan_statistic *s = &plan->statistics[i];
        s->curve = SIZE_MAX;
        if (!tmi_is_of_distribution(s->kind)) continue;
        for (size_t j = 0; j < i && s->curve == SIZE_MAX; j++) {
            const tmi_plan_statistic *t = &plan->statistics[j];
            if (tmi_is_of_distribution(t->kind) && share_curve(s, t)) s->curve = t->curve;
        }
        if (s->curve == SIZE_MAX) {
            s->curve = plan->curve_count;
            plan->curves[plan->curve_count++] = (tmi_plan_curve){.column = s->column};
        }
    }
}

static int by_point(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

bool tmi_line_cut(int64_t *point, const tmi_plan_statistic *s)
{
    tamis_number *steps = NULL;
    const bool right = tmi_number_div(&steps, s->limit, s->column->step, NULL) == TAMIS_OK && tmi_number_ceil(point, steps);
    tamis_number_free(steps);
    return right;
}

static bool add_line(tmi_plan_curve *curve, const tmi_plan_statistic *s)
{
    int64_t point;
    const bool right = tmi_line_cut(&point, s);
    if (right && point > curve->column->grid.low && point <= curve->column->grid.high) curve->cuts[curve->cut_count++] = point;
    return right;
}

/* Given cuts and lines; the default ones unless cuts are given or lines are all that is asked for. */
static bool make_cuts(tamis_plan *plan, size_t number)
{
    tmi_plan_curve *curve = &plan->curves[number];
    size_t room = MOST_DEFAULT_CUTS;
    bool given = false, only_lines = true, right = true;
    for (size_t i = 0; i < plan->asked_count; i++)
        if (plan->statistics[i].curve == number) room += plan->statistics[i].own_cut_count + 1;
    curve->cuts = tmi_alloc(room, sizeof *curve->cuts);
    if (!curve->cuts) return false;
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (s->curve != number) continue;
        for (size_t k = 0; k < s->own_cut_count; k++) curve->cuts[curve->cut_count++] = s->own_cuts[k];
        if (s->kind == TMI_SHARE_BELOW) right = right && add_line(curve, s);
        given = given || s->own_cuts;
        only_lines = only_lines && s->kind == TMI_SHARE_BELOW;
    }
    if (!given && (!only_lines || curve->cut_count == 0)) add_default_cuts(curve, half_of_cuts(plan, number));
    if (curve->cut_count == 0) add_default_cuts(curve, half_of_cuts(plan, number));
    qsort(curve->cuts, curve->cut_count, sizeof *curve->cuts, by_point);
    size_t kept = 1;
    for (size_t k = 1; k < curve->cut_count; k++)
        if (curve->cuts[k] > curve->cuts[kept - 1]) curve->cuts[kept++] = curve->cuts[k];
    curve->cut_count = kept;
    return right;
}

/* What the statistics of a curve give to it: all of their share, or half where a mechanism of its own chooses the answer; in
 * equal parts to the cuts. */
static bool share_of_cut(tamis_number **share, const tamis_plan *plan, size_t number)
{
    tmi_exact e = TMI_EXACT(NULL);
    tmi_term sum = tmi_int(&e, 0);
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        if (s->curve == number) sum = tmi_add(&e, sum, tmi_div(&e, s->share, tmi_int(&e, tmi_has_mechanism(s) ? 2 : 1)));
    }
    sum = tmi_div(&e, sum, tmi_int(&e, (int64_t)plan->curves[number].cut_count));
    const bool right = e.status == TAMIS_OK && tmi_number_copy(share, sum, NULL) == TAMIS_OK;
    tmi_exact_clear(&e);
    return right;
}

/* The share of the rows below a cut, like the statistics that it serves. */
static bool add_share(tmi_reader *reader, tamis_plan *plan, const tmi_plan_statistic *like, const tamis_number *share,
                      int64_t cut)
{
    tmi_plan_statistic *s = &plan->statistics[plan->statistic_count++];
    *s = (tmi_plan_statistic){.kind = TMI_SHARE,
                              .where = like->where,
                              .by_count = like->by_count,
                              .curve = SIZE_MAX,
                              .line = like->line,
                              .place = like->place};
    memcpy(s->by, like->by, sizeof s->by);
    s->column = tmi_add_below(reader, plan, like->column, cut);
    return s->column && tmi_number_copy(&s->share, share, NULL) == TAMIS_OK &&
           tmi_number_copy(&s->confidence, like->confidence, NULL) == TAMIS_OK &&
           (!like->deff || tmi_number_copy(&s->deff, like->deff, NULL) == TAMIS_OK);
}

static bool add_shares(tmi_reader *reader, tamis_plan *plan, size_t number)
{
    tmi_plan_curve *curve = &plan->curves[number];
    size_t like = 0;
    tamis_number *share = NULL;
    while (plan->statistics[like].curve != number) like++;
    curve->first = plan->statistic_count;
    bool right = share_of_cut(&share, plan, number);
    for (size_t k = 0; right && k < curve->cut_count; k++)
        right = add_share(reader, plan, &plan->statistics[like], share, curve->cuts[k]);
    tamis_number_free(share);
    return right;
}

static bool shares_have_too_many_cells(const tamis_plan *plan)
{
    int64_t cells = 0;
    for (size_t i = 0; i < plan->asked_count; i++) {
        const tmi_plan_statistic *s = &plan->statistics[i];
        int64_t own = tmi_statistic_cells(s);
        if (s->curve != SIZE_MAX && __builtin_mul_overflow(own, (int64_t)plan->curves[s->curve].cut_count, &own)) return true;
        if (__builtin_add_overflow(cells, own, &cells)) return true;
    }
    return cells > TMI_MAX_PLAN_CELLS;
}

void tmi_make_curves(tmi_reader *reader, const tmi_value *list, tamis_plan *plan)
{
    size_t all = 0;
    plan->curves = tmi_alloc(plan->asked_count, sizeof *plan->curves);
    bool right = plan->curves != NULL;
    if (right) assign_curves(plan);
    for (size_t i = 0; right && i < plan->curve_count; i++) {
        right = make_cuts(plan, i);
        all += plan->curves[i].cut_count;
    }
    if (right && all > TMI_MAX_ALL_CUTS) {
        tmi_complain(reader, list,
                     "expected distribution functions with at most %d cuts in all: ask for fewer quantiles and inequality "
                     "measures, or give them fewer `cuts`",
                     TMI_MAX_ALL_CUTS);
        return;
    }
    if (right && shares_have_too_many_cells(plan)) {
        tmi_complain(reader, list,
                     "expected at most %lld groups and cuts of distribution functions together: use fewer `by` columns or `cuts`",
                     (long long)TMI_MAX_PLAN_CELLS);
        return;
    }
    tmi_plan_statistic *more = right ? tmi_regrow(plan->statistics, plan->asked_count * sizeof *more, plan->asked_count + all,
                                                  sizeof *more)
                                     : NULL;
    if (more) plan->statistics = more;
    right = right && more;
    for (size_t i = 0; right && i < plan->curve_count; i++) right = add_shares(reader, plan, i);
    if (!right) reader->no_memory = true;
}
