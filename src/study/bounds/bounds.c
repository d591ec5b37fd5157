/* Advice on ranges: what clamping does to a public population, against what a range costs in noise.
 *
 * A narrower range lowers the noise of all that is read from a column, and moves the values beyond it to its end. The noise
 * follows from the schedule of a plan with that range; the bias from the population, clamped, by the code of every estimate. Both
 * are exact but for the guesses that a preview makes of sampling errors. */
#include "study/bounds/bounds.h"
#include "base/hypotenuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/estimate.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/watch.h"
#include "num/number.h"
#include "plan/design_kind.h"
#include "release/release.h"
#include "schedule/expected/change.h"
#include "schedule/guesses.h"
#include "schedule/standard_errors.h"
#include "study/population.h"

/* Ends that are tried, as parts of the present range. */
static const double widths[] = {0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.25, 1.5, 2};
static const double shifts[] = {-0.25, 0.1, 0.2, 0.3, 0.4, 0.5};

/* A bias of half a standard error: an interval with a confidence of 95 % then covers the unclamped value in 92 % of the cases. */
#define TOLERATED 0.5

typedef struct study {
    tmi_bounds *made;
    tamis_study_ranges ranges;
    tamis_study_options options;
    tmi_schedule schedule;
    tamis_plan all, by; /* the plan with every value there; one whose design fits every file */
    tmi_plan_stratum everybody;
    tmi_population *population;
    tmi_sample_room *room;
    double *truth, *clamped, *now; /* of every result; its error under the plan */
    size_t results;
    double scale; /* the plan's units for each of the population's */
    size_t done, trials;
} study;

void tmi_bounds_free(tmi_bounds *s)
{
    if (!s) return;
    for (size_t c = 0; s->columns && c < s->column_count; c++) {
        for (size_t t = 0; t < s->columns[c].trial_count; t++) tmi_free(s->columns[c].trials[t].effects);
        tmi_free(s->columns[c].statistics);
    }
    tmi_free(s->columns);
    tmi_plan_drop(s->plan);
    tmi_free(s);
}

/* ---- the population ---- */

static int listen(void *context, double share, int64_t rows)
{
    const study *s = context;
    (void)share;
    const double all = s->trials > 0 ? (double)s->done / (double)s->trials : 0;
    return s->options.watch.progress ? s->options.watch.progress(s->options.watch.context, all, rows) : 0;
}

/* The plan of a census of it. */
static tamis_plan census_of(const tamis_plan *plan, tmi_plan_stratum *everybody)
{
    tamis_plan census = *plan;
    census.design = (tmi_plan_design){.kind = &tmi_plan_kind_census,
                                      .strata = everybody,
                                      .stratum_count = 1,
                                      .population = everybody->population,
                                      .sample = everybody->population};
    census.control_count = 0;
    return census;
}

/* Every number of the population as it is now. */
static tamis_status evaluate(double **values, study *s, bool raw, tamis_error *err)
{
    const int64_t units = tmi_population_size(s->population);
    tmi_plan_stratum everybody = {.population = units, .sample = units};
    const tamis_plan census = census_of(s->made->plan, &everybody);
    tamis_source *source = NULL;
    tamis_estimate *estimate = NULL;
    tamis_status status;
    TMI_TRY(tmi_sample_source(&source, s->room, NULL, 0, raw ? TMI_RAW_VALUES : TMI_VALUES, err));
    const tamis_estimate_options options = {.size = sizeof options, .rows = source, .threads = 1, .watch = {listen, s}};
    TMI_TRY(tamis_estimate_new(&estimate, &census, &options, err));
    const tmi_results *r = tmi_estimate_results(estimate);
    s->results = r->count;
    if (!*values) *values = tmi_alloc(r->count, sizeof **values);
    if (!*values) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < r->count; i++) (*values)[i] = r->list[i].estimate;

done:
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    return status;
}

/* Nothing is clamped. */
static void release_numbers(const study *s)
{
    for (size_t i = 0; i < s->made->plan->declared_count; i++) {
        const tmi_plan_column *column = &s->made->plan->columns[i];
        double *numbers = tmi_population_numbers(s->population, column);
        if (numbers)
            memcpy(numbers, tmi_population_raw(s->population, column),
                   (size_t)tmi_population_rows(s->population) * sizeof *numbers);
    }
}

static void clamp_numbers(const study *s, const tmi_plan_column *column, double from, double to)
{
    const double *raw = tmi_population_raw(s->population, column);
    double *numbers = tmi_population_numbers(s->population, column);
    for (int64_t i = 0; i < tmi_population_rows(s->population); i++)
        numbers[i] = isnan(raw[i]) ? raw[i] : fmin(fmax(raw[i], from), to);
}

typedef struct facts {
    double mean, sd, beyond, least, most;
} facts;

static facts facts_of(const double *raw, int64_t rows, const tmi_grid *grid)
{
    facts f = {.least = INFINITY, .most = -INFINITY};
    double n = 0, squares = 0;
    for (int64_t i = 0; i < rows; i++) {
        const double x = raw[i];
        if (isnan(x)) continue;
        n++;
        f.mean += (x - f.mean) / n;
        f.beyond += x < grid->from || x > grid->to;
        f.least = fmin(f.least, x);
        f.most = fmax(f.most, x);
    }
    for (int64_t i = 0; i < rows; i++)
        if (!isnan(raw[i])) squares += (raw[i] - f.mean) * (raw[i] - f.mean);
    f.sd = n > 1 ? sqrt(squares / (n - 1)) : 0;
    f.beyond = n > 0 ? f.beyond / n : 0;
    return f;
}

/* ---- trials ---- */

/* The first result of a statistic: results are in the order of the plan. */
static size_t first_result(const tamis_plan *plan, size_t statistic)
{
    size_t first = 0;
    for (size_t i = 0; i < statistic; i++) first += (size_t)tmi_statistic_cells(&plan->statistics[i]);
    return first;
}

static tmi_bounds_effect effect_of(study *s, size_t statistic, const tmi_expected_statistic *f, bool first)
{
    const tamis_plan *plan = s->made->plan;
    const tmi_plan_statistic *t = &plan->statistics[statistic];
    const size_t cells = (size_t)tmi_statistic_cells(t), place = first_result(plan, statistic);
    const double times = tmi_is_sum(t) && !tmi_by_size(t) ? s->scale : 1;
    double logs = 0, noises = 0, biases = 0, errors = 0, count = 0;
    tmi_bounds_effect e = {0};
    for (size_t k = 0; k < cells; k++) {
        const tmi_expected_group *p = &f->groups[f->count == 1 ? 0 : k];
        const double bias = times * (s->clamped[place + k] - s->truth[place + k]);
        const double sampling = tmi_expected_group_sampling(p), noise = tmi_expected_group_noise(p);
        const double standard = tmi_hypotenuse(noise, isnan(sampling) ? 0 : sampling), error = tmi_hypotenuse(standard, bias);
        if (first) s->now[place + k] = error;
        const double now = s->now[place + k];
        if (isnan(bias) || !(now > 0) || !(noise > 0)) continue; /* nobody is in the group */
        logs += log(noise);
        noises += pow(noise / now, 2);
        biases += pow(bias / now, 2);
        errors += pow(error / now, 2);
        count++;
        if (fabs(bias) > fabs(e.bias)) e.bias = bias;
        e.share = fmax(e.share, fabs(bias) / standard);
    }
    e.noise_sd = count > 0 ? exp(logs / count) : NAN;
    e.noise_part = sqrt(noises / count);
    e.bias_part = sqrt(biases / count);
    e.error_part = count > 0 ? sqrt(errors / count) : NAN;
    return e;
}

static void summarize(const tmi_bounds_column *c, tmi_bounds_trial *t, const tamis_plan *plan)
{
    double shares = 0, logs = 0, noise = 0, bias = 0;
    t->honest = true;
    for (size_t k = 0; k < c->statistic_count; k++) {
        const double share = tmi_number_nearest(plan->statistics[c->statistics[k]].share);
        const tmi_bounds_effect *e = &t->effects[k];
        if (isnan(e->error_part)) continue;
        t->honest = t->honest && e->share <= fmax(TOLERATED, c->trials[0].effects[k].share * (1 + 1e-9));
        shares += share;
        logs += share * log(e->error_part);
        noise += share * e->noise_part * e->noise_part;
        bias += share * e->bias_part * e->bias_part;
    }
    if (shares == 0) return;
    t->error = exp(logs / shares);
    t->noise = sqrt(noise / shares);
    t->bias = sqrt(bias / shares);
}

static tamis_status try_range(study *s, tmi_bounds_column *c, const facts *f, int64_t low, int64_t high, tamis_error *err)
{
    const double step = c->column->grid.step;
    tmi_bounds_trial *t = &c->trials[c->trial_count];
    const tmi_change change = {.column = c->column, .low = low, .high = high, .mean = f->mean, .sd = f->sd};
    tmi_expected_statistic *then = NULL;
    tamis_status status = TAMIS_OK;
    if (c->trial_count == TMI_MAX_TRIALS || low >= high) return TAMIS_OK;
    for (size_t i = 0; i < c->trial_count; i++) /* coarse grids */
        if (c->trials[i].from == (double)low * step && c->trials[i].to == (double)high * step) return TAMIS_OK;
    *t = (tmi_bounds_trial){.from = (double)low * step, .to = (double)high * step};
    TMI_TRY(tmi_change_expected(&then, &s->schedule, &change, err));
    t->possible = then != NULL;
    clamp_numbers(s, c->column, t->from, t->to);
    TMI_TRY(evaluate(&s->clamped, s, false, err));
    t->effects = tmi_alloc(c->statistic_count, sizeof *t->effects);
    if (!t->effects) TMI_TRY(tmi_fail_memory(err));
    c->trial_count++;
    for (size_t i = 0; then && i < c->statistic_count; i++)
        t->effects[i] = effect_of(s, c->statistics[i], &then[c->statistics[i]], t == c->trials);
    if (then) summarize(c, t, s->made->plan);
    if (t->possible && t->honest && t->error < c->trials[c->best].error * (1 - 1e-9)) c->best = c->trial_count - 1;
    s->done++;
    if (listen(s, 0, 0)) status = tmi_fail_cancelled(err);

done:
    tmi_expected_statistics_free(then, s->made->plan->asked_count);
    return status;
}

/* Two digits, as a point of the grid. */
static int64_t point_near(double x, const tmi_grid *grid)
{
    const double unit = x != 0 ? pow(10, floor(log10(fabs(x))) - 1) : 1;
    return (int64_t)round(round(x / unit) * unit / grid->step);
}

static tamis_status try_column(study *s, tmi_bounds_column *c, tamis_error *err)
{
    const tmi_grid *grid = &c->column->grid;
    const double width = grid->to - grid->from;
    tamis_status status;
    const facts f = facts_of(tmi_population_raw(s->population, c->column), tmi_population_rows(s->population), grid);
    c->beyond = f.beyond;
    TMI_TRY(try_range(s, c, &f, grid->low, grid->high, err));
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        TMI_TRY(try_range(s, c, &f, grid->low, point_near(grid->from + widths[i] * width, grid), err));
    const int64_t to = (int64_t)round(c->trials[c->best].to / grid->step);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts && grid->low != 0; i++) /* 0 is where most numbers begin */
        TMI_TRY(try_range(s, c, &f, point_near(grid->from + shifts[i] * width, grid), to, err));
    release_numbers(s);

done:
    return status;
}

/* ---- columns ---- */

static bool is_of(const tmi_plan_statistic *t, const tmi_plan_column *c) { return t->column == c || t->second == c; }

static tamis_status take_columns(study *s, tamis_error *err)
{
    tmi_bounds *made = s->made;
    const tamis_plan *plan = made->plan;
    made->columns = tmi_alloc(plan->declared_count + 1, sizeof *made->columns);
    if (!made->columns) return tmi_fail_memory(err);
    for (size_t i = 0; i < plan->declared_count; i++) {
        const tmi_plan_column *column = &plan->columns[i];
        tmi_bounds_column *c = &made->columns[made->column_count];
        if (!column->is_number || column->by_stratum || column->times || column->private_share ||
            !tmi_population_raw(s->population, column))
            continue;
        if (s->ranges.column && strcmp(s->ranges.column, column->name) != 0) continue;
        *c = (tmi_bounds_column){.column = column, .statistics = tmi_alloc(plan->asked_count, sizeof *c->statistics)};
        if (!c->statistics) return tmi_fail_memory(err);
        made->column_count++;
        for (size_t k = 0; k < plan->asked_count; k++)
            if (is_of(&plan->statistics[k], column) && !s->schedule.workload.maps[k].known)
                c->statistics[c->statistic_count++] = k;
        if (c->statistic_count > 0) continue;
        tmi_free(c->statistics);
        made->column_count--;
    }
    if (made->column_count > 0) return TAMIS_OK;
    return s->ranges.column
               ? tmi_fail(err, TAMIS_INVALID, "column: no statistic of the plan adds up a number %s with one range",
                          s->ranges.column)
               : tmi_fail(err, TAMIS_INVALID, "statistics: none of them adds up a number with one range, so no range matters");
}

/* ---- weights of units ---- */

#define LITTLE 0.01 /* of all weights: what a bound of units may take off to be advised */

/* Bounds of whole rows of the mean weight, rounded up to two digits, from the largest weight on. */
static tamis_status try_units(study *s, tamis_error *err)
{
    const tmi_sampling *p = &s->schedule.sampling;
    const int64_t most = s->made->plan->privacy.rows_per_unit;
    const double step = tmi_number_nearest(p->step), largest = (double)p->most * step, mean = tmi_mean_weight(&s->schedule),
                 now = tmi_largest_rows_of_unit(&s->schedule.workload, TMI_WEIGHTED, 0) * largest;
    tmi_bounds *made = s->made;
    double all = 0;
    if (most < 2 || p->design->kind->with_replacement || !(mean > 0)) return TAMIS_OK;
    int64_t *counts = tmi_alloc((size_t)most + 1, sizeof *counts);
    if (!counts) return tmi_fail_memory(err);
    tmi_population_unit_rows(counts, s->population);
    for (int64_t k = 1; k <= most; k++) all += (double)(k * counts[k]);
    for (int64_t rows = 1; rows < most && made->unit_count < TMI_MAX_UNIT_BOUNDS; rows++) {
        const double digits = pow(10, floor(log10((double)rows * mean)) - 1),
                     weight = ceil((double)rows * mean / digits) * digits;
        double beyond = 0;
        if (weight < largest || weight >= (double)most * largest) continue;
        for (int64_t k = rows + 1; k <= most; k++) beyond += fmax((double)k * mean - weight, 0) / mean * (double)counts[k];
        made->units[made->unit_count++] = (tmi_bounds_unit){rows, weight, beyond / all, weight / now};
    }
    made->unit_best = made->unit_count;
    for (size_t i = made->unit_count; i-- > 0;)
        if (made->units[i].beyond <= LITTLE) made->unit_best = i;
    tmi_free(counts);
    return TAMIS_OK;
}

/* ---- what units add to totals ---- */

/* Shares of all that units add, which a bound takes off. */
static const double taken_off[] = {0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0001};
_Static_assert(sizeof taken_off / sizeof *taken_off <= TMI_MAX_TOTALS, "there is room for all");

static int by_amount(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* The share of these ascending sums that a bound takes off. */
static double share_beyond(const double *sums, size_t count, double bound)
{
    double all = 0, beyond = 0;
    for (size_t u = 0; u < count; u++) {
        all += sums[u];
        beyond += fmax(sums[u] - bound, 0);
    }
    return all > 0 ? beyond / all : 0;
}

/* The smallest bound that takes off no more than this share: between two sums what is taken off falls by as much as there are
 * sums above. */
static double bound_for(const double *sums, size_t count, double share)
{
    double all = 0, beyond = 0;
    for (size_t u = 0; u < count; u++) all += sums[u];
    for (size_t u = count; u-- > 0;) {
        const double below = u > 0 ? sums[u - 1] : 0, above = (double)(count - u), more = above * (sums[u] - below);
        if (beyond + more >= share * all) return sums[u] - (share * all - beyond) / above;
        beyond += more;
    }
    return 0;
}

static bool is_total_of(const tmi_plan_statistic *t, const tmi_plan_column *c) { return t->kind == TMI_TOTAL && t->column == c; }

/* Noise and error of the column's totals, relative to now; of their groups all lose the same share. */
static void compare_totals(tmi_bounds_total *t, const study *s, const tmi_bounds_column *c, const tmi_expected_statistic *now,
                           const tmi_expected_statistic *then)
{
    const tamis_plan *plan = s->made->plan;
    double logs = 0, errors = 0, count = 0;
    t->honest = true;
    for (size_t i = 0; i < c->statistic_count; i++) {
        const size_t of = c->statistics[i], place = first_result(plan, of);
        const size_t cells = (size_t)tmi_statistic_cells(&plan->statistics[of]);
        for (size_t k = 0; is_total_of(&plan->statistics[of], c->column) && k < cells; k++) {
            const tmi_expected_group *a = &now[of].groups[now[of].count == 1 ? 0 : k],
                                     *b = &then[of].groups[then[of].count == 1 ? 0 : k];
            const double bias = t->beyond * fabs(s->scale * s->truth[place + k]), sampling = tmi_expected_group_sampling(b);
            const double standard = tmi_hypotenuse(tmi_expected_group_noise(b), isnan(sampling) ? 0 : sampling);
            if (isnan(bias) || !(tmi_expected_group_noise(a) > 0) || !(standard > 0)) continue;
            const double before = tmi_hypotenuse(tmi_expected_group_noise(a), isnan(sampling) ? 0 : sampling);
            logs += log(tmi_expected_group_noise(b) / tmi_expected_group_noise(a));
            errors += log(tmi_hypotenuse(standard, bias) / before);
            t->honest = t->honest && bias <= TOLERATED * standard;
            count++;
        }
    }
    t->noise = count > 0 ? exp(logs / count) : NAN;
    t->error = count > 0 ? exp(errors / count) : NAN;
}

static tamis_status try_totals(study *s, tmi_bounds_column *c, tamis_error *err)
{
    const tamis_plan *plan = s->made->plan;
    const double mean = tmi_mean_weight(&s->schedule);
    const size_t units = (size_t)tmi_population_size(s->population);
    double *sums = NULL;
    tmi_expected_statistic *now = NULL, *then = NULL;
    bool any = false;
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < c->statistic_count; i++) any = any || is_total_of(&plan->statistics[c->statistics[i]], c->column);
    if (!any || !tmi_counts_rows(plan) || tmi_has_contributions(c->column) || !(mean > 0)) return TAMIS_OK;
    sums = tmi_alloc(units, sizeof *sums);
    if (!sums) TMI_TRY(tmi_fail_memory(err));
    tmi_population_unit_sums(sums, s->population, tmi_population_numbers(s->population, c->column));
    qsort(sums, units, sizeof *sums, by_amount);
    TMI_TRY(tmi_expected_statistics_make(&now, &s->schedule, err));
    for (size_t k = 0; k < sizeof taken_off / sizeof *taken_off; k++) {
        tmi_bounds_total *t = &c->totals[c->total_count];
        const double exact = mean * bound_for(sums, units, taken_off[k]), digits = pow(10, floor(log10(exact)) - 1);
        *t = (tmi_bounds_total){.bound = ceil(exact / digits * (1 - 1e-9)) * digits};
        if (!(exact > 0) || (c->total_count > 0 && t[-1].bound >= t->bound)) continue;
        t->beyond = share_beyond(sums, units, t->bound / mean);
        TMI_TRY(tmi_change_expected(&then, &s->schedule, &(tmi_change){.of_units = c->column, .bound = t->bound}, err));
        if (!then) break; /* such a plan could not be released */
        compare_totals(t, s, c, now, then);
        tmi_expected_statistics_free(then, plan->asked_count);
        then = NULL;
        if (!isnan(t->noise)) c->total_count++;
    }
    c->total_best = c->total_count;
    for (size_t k = 0; k < c->total_count; k++)
        if (c->totals[k].honest && c->totals[k].beyond <= LITTLE &&
            (c->total_best == c->total_count || c->totals[k].error < c->totals[c->total_best].error))
            c->total_best = k;

done:
    tmi_expected_statistics_free(now, plan->asked_count);
    tmi_free(sums);
    return status;
}

/* ---- together ---- */

static tamis_status read_population(study *s, tamis_error *err)
{
    const tmi_drawing drawing = {.by = &s->by};
    s->everybody.sample = 1; /* nobody is drawn */
    s->by = census_of(s->made->plan, &s->everybody);
    s->by.design.kind = &tmi_plan_kind_srs;
    s->all = *s->made->plan;
    s->all.design.nonresponse = false;
    return tmi_population_read(&s->population, &s->all, &drawing, s->ranges.population, err);
}

static tamis_status run(study *s, tamis_error *err)
{
    tmi_bounds *made = s->made;
    tmi_sizes sizes;
    tamis_status status;
    TMI_TRY(tmi_schedule_make(&s->schedule, made->plan, NULL, err));
    TMI_TRY(read_population(s, err));
    TMI_TRY(tmi_sample_room_new(&s->room, s->population, err));
    made->population = tmi_population_size(s->population);
    tmi_sizes_make(&sizes, &s->schedule);
    s->scale = sizes.units / (double)made->population;
    TMI_TRY(take_columns(s, err));
    s->trials = made->column_count * (sizeof widths / sizeof *widths + 1);
    release_numbers(s);
    TMI_TRY(evaluate(&s->truth, s, true, err));
    s->now = tmi_alloc(s->results, sizeof *s->now);
    if (!s->now) TMI_TRY(tmi_fail_memory(err));
    for (size_t c = 0; c < made->column_count; c++) TMI_TRY(try_column(s, &made->columns[c], err));
    for (size_t c = 0; c < made->column_count; c++) TMI_TRY(try_totals(s, &made->columns[c], err));
    TMI_TRY(try_units(s, err));

done:
    return status;
}

tamis_status tmi_bounds_new(tmi_bounds **advice, const tamis_plan *plan, const tamis_study_ranges *ranges,
                            const tamis_study_options *options, tamis_error *err)
{
    study s = {0};
    *advice = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    if (tmi_options_take(&s.ranges, sizeof s.ranges, ranges, "ranges", err) != TAMIS_OK) return TAMIS_INVALID;
    if (tmi_options_take(&s.options, sizeof s.options, options, "options", err) != TAMIS_OK) return TAMIS_INVALID;
    if (!s.ranges.population) return tmi_fail(err, TAMIS_INVALID, "population: NULL");
    s.made = tmi_alloc(1, sizeof *s.made);
    if (!s.made) return tmi_fail_memory(err);
    s.made->plan = tmi_plan_hold(plan);
    const tamis_status status = run(&s, err);
    if (status == TAMIS_OK) *advice = s.made;
    else tmi_bounds_free(s.made);
    tmi_sample_room_free(s.room);
    tmi_population_free(s.population);
    tmi_schedule_clear(&s.schedule);
    tmi_free(s.truth);
    tmi_free(s.clamped);
    tmi_free(s.now);
    return status;
}
