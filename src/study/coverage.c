/* Runs are shared out among threads: each takes the next number, draws, releases and estimates, and counts for itself; the
 * counts are added up at the end. Every run draws from a generator of its own thread, so that no two share noise.     */
#include "study/coverage.h"
#include "base/hypotenuse.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <tamis/experimental/rng.h>
#include <threads.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/watch.h"
#include "engine/files/source.h"
#include "measure/contributions.h"
#include "plan/private_bounds.h"
#include "release/release.h"
#include "study/population.h"

#define USUAL_RUNS 2000
#define MORE_RUNS 10000
#define MOST_RUNS 1000000
#define MOST_THREADS 64
#define DOUBTFUL 0.01 /* a coverage this unlikely by itself is studied with more runs */

void tmi_coverage_free(tmi_coverage *study)
{
    if (!study) return;
    tmi_results_clear(&study->places);
    tmi_free(study->bounded);
    tmi_free(study->cells);
    tmi_free(study);
}

double tmi_tally_share(const tmi_tally *t) { return t->given > 0 ? (double)t->covers / (double)t->given : NAN; }

double tmi_tally_error(const tmi_tally *t)
{
    const double p = tmi_tally_share(t);
    return t->given > 0 ? sqrt(p * (1 - p) / (double)t->given) : NAN;
}

double tmi_middle_of(const tmi_middle *m) { return m->count > 0 ? exp(m->logs / (double)m->count) : NAN; }

double tmi_coverage_rmse(const tmi_coverage_cell *c) { return c->estimates > 0 ? sqrt(c->squares / (double)c->estimates) : NAN; }

/* By the delta method from the spread of the squares. */
double tmi_coverage_rmse_error(const tmi_coverage_cell *c)
{
    const double n = (double)c->estimates, mean = c->squares / n, spread = fmax(c->fourths / n - mean * mean, 0);
    return c->estimates > 1 && mean > 0 ? sqrt(spread / (n - 1)) / (2 * sqrt(mean)) : NAN;
}

bool tmi_coverage_counts(const tmi_coverage_cell *c) { return !c->known && isfinite(c->truth) && c->own.given > 0; }
bool tmi_coverage_is_absent(const tmi_coverage_cell *c) { return !c->known && isfinite(c->truth) && c->own.given == 0; }

size_t tmi_coverage_count(const tmi_coverage *study)
{
    size_t count = 0;
    for (size_t i = 0; i < study->places.count; i++) count += tmi_coverage_counts(&study->cells[i]);
    return count;
}

/* Downwards from the largest term; each is a smaller part of the one before, so that the sum soon ends. */
double tmi_binomial_at_most(int64_t hits, int64_t trials, double p)
{
    double n = (double)trials, k = fmin((double)hits, floor((n + 1) * p)), sum = 0;
    if (hits >= trials) return 1;
    if (hits < 0) return 0;
    double top = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log1p(-p));
    double term = top;
    for (double i = k; i >= 0 && term > 1e-20 * sum; i--) {
        sum += term;
        term *= i * (1 - p) / ((n - i + 1) * p);
    }
    term = top;
    for (double i = k + 1; i <= (double)hits && term > 1e-20 * sum; i++) {
        term *= (n - i + 1) * p / (i * (1 - p));
        sum += term;
    }
    return fmin(sum, 1);
}

/* ---- watching ---- */

typedef struct watch {
    const tamis_study_options *options;
    atomic_bool stopped;
    _Atomic int64_t next; /* the run that nobody has taken yet */
    int64_t wanted;
} watch;

/* Called by the caller's own thread between runs and inside of them. */
static int tell(void *context, double share, int64_t rows)
{
    watch *w = context;
    const tamis_study_options *o = w->options;
    const int64_t taken = w->next < w->wanted ? w->next : w->wanted - 1;
    (void)share, (void)rows;
    if (!w->stopped && tmi_stopped(&o->watch, (double)taken / (double)w->wanted, 0)) w->stopped = true;
    return w->stopped;
}

static int listen(void *context, double share, int64_t rows)
{
    (void)share, (void)rows;
    return ((watch *)context)->stopped;
}

/* ---- the truth ---- */

static bool is_contributed(const tmi_coverage *study, size_t i)
{
    const tmi_plan_statistic *t = &study->plan->statistics[study->places.list[i].statistic];
    return tmi_is_contributed(t);
}

/* The estimate of everybody; the plan's own design and calibration have no part in it. */
static tamis_status find_truth(tmi_coverage *study, tmi_sample_room *room, tmi_which_values values, watch *w, tamis_error *err)
{
    tmi_plan_stratum everybody = {.population = study->population, .sample = study->population};
    tamis_plan census = *study->plan;
    tamis_source *source = NULL;
    tamis_estimate *estimate = NULL;
    tamis_status status;
    census.design = (tmi_plan_design){.kind = &tmi_plan_kind_census,
                                      .strata = &everybody,
                                      .stratum_count = 1,
                                      .population = study->population,
                                      .sample = study->population};
    census.control_count = 0;
    TMI_TRY(tmi_sample_source(&source, room, NULL, 0, values, err));
    const tamis_estimate_options options = {.size = sizeof options, .rows = source, .threads = 1, .watch = {listen, w}};
    TMI_TRY(tamis_estimate_new(&estimate, &census, &options, err));
    const tmi_results *r = tmi_estimate_results(estimate);
    for (size_t i = 0; i < study->places.count; i++) {
        tmi_coverage_cell *c = &study->cells[i];
        if (values == TMI_SUMMED_VALUES && !is_contributed(study, i)) continue;
        *(values == TMI_RAW_VALUES ? &c->unclamped : &c->truth) = r->list[i].estimate;
    }

done:
    tamis_estimate_free(estimate);
    tamis_source_free(source);
    return status;
}

/* A release clamps at the bound that it found, and its intervals are for these values: so there is a truth for each candidate. */
static tamis_status find_bounded_truths(tmi_coverage *study, tmi_population *p, tmi_sample_room *room, watch *w, tamis_error *err)
{
    const size_t count = study->places.count;
    tamis_plan *plan = NULL;
    double *kept = NULL;
    tamis_status status = TAMIS_OK;
    if (!tmi_has_private_bounds(study->plan)) return status;
    TMI_TRY(tmi_plan_with_bounds(&plan, study->plan, err));
    const tmi_private_bound *bound = &plan->bounds[0];
    if (plan->bound_count > 1)
        TMI_TRY(
            tmi_fail(err, TAMIS_REFUSED,
                     "columns.%s.to: coverage is studied with one private bound at a time; nearest setting that works: public "
                     "bounds of the other columns, {to: NUMBER}",
                     plan->bounds[1].column.name));
    const size_t rows = (size_t)tmi_population_rows(p);
    double *numbers = tmi_population_numbers(p, bound->declared);
    kept = tmi_alloc(rows, sizeof *kept);
    study->bounded = tmi_alloc((size_t)bound->most + 1, count * sizeof *study->bounded);
    if (!kept || !study->bounded) TMI_TRY(tmi_fail_memory(err));
    memcpy(kept, numbers, rows * sizeof *kept);
    for (int h = bound->most; h >= 0; h--) { /* that of `beyond` last: it is the truth of the unprotected estimates */
        const double most = ldexp(tmi_number_nearest(bound->declared->to), -h);
        for (size_t i = 0; i < rows; i++) numbers[i] = kept[i] > most ? most : kept[i];
        TMI_TRY(find_truth(study, room, TMI_VALUES, w, err));
        for (size_t i = 0; i < count; i++) study->bounded[(size_t)h * count + i] = study->cells[i].truth;
    }

done:
    if (kept) memcpy(numbers, kept, rows * sizeof *kept);
    tmi_free(kept);
    tmi_plan_drop(plan);
    return status;
}

/* ---- one run ---- */

typedef struct worker {
    const tmi_coverage *study;
    const tmi_population *population;
    const tamis_sampler *sampler;
    watch *watch;
    bool aloud; /* the caller's thread, the only one that reports progress */
    tmi_sample_room *room;
    tamis_rng *rng;
    tmi_coverage_cell *cells;
    bool weighed;
    tamis_status status;
    tamis_error err;
} worker;

/* Whether there is an interval and it holds the truth. */
static bool count(tmi_tally *t, const tmi_result *r, double truth)
{
    if (isnan(r->lower) || isnan(r->upper)) return false;
    const double hair = 1e-12 * fabs(truth);
    const bool covers = r->lower - hair <= truth && truth <= r->upper + hair;
    t->given++;
    t->covers += covers;
    t->width += r->upper - r->lower;
    return covers;
}

static void take(tmi_middle *m, double error)
{
    if (!(error > 0 && isfinite(error))) return;
    m->logs += log(error);
    m->count++;
}

static bool holds_weights(const tmi_schedule *s)
{
    bool weighed = false;
    for (size_t i = 0; i < s->measurement_count; i++)
        weighed = weighed || s->measurements[i].marginal.weighting != TMI_UNWEIGHTED;
    return weighed;
}

/* The unprotected estimates of totals whose contributions are clamped, of the same sample. */
static tamis_status estimate_sums(tamis_estimate **summed, worker *w, const tamis_drawn *drawn, const tamis_watch *watch,
                                  tamis_error *err)
{
    tamis_estimate_options options = {.size = sizeof options, .threads = 1, .watch = *watch};
    tamis_source *source = NULL;
    tamis_status status;
    TMI_TRY(tmi_sample_source(&source, w->room, drawn->units, drawn->count, TMI_SUMMED_VALUES, err));
    options.rows = source;
    TMI_TRY(tamis_estimate_new(summed, w->study->plan, &options, err));

done:
    tamis_source_free(source);
    return status;
}

static tamis_status run_once(worker *w, tamis_drawn *drawn, tamis_error *err)
{
    const tmi_coverage *study = w->study;
    const tamis_watch watch = {w->aloud ? tell : listen, w->watch};
    tamis_source *source = NULL;
    tmi_engine *engine = NULL;
    tamis_release *release = NULL;
    tamis_estimate *estimate = NULL, *summed = NULL;
    tamis_status status;
    TMI_TRY(tmi_sample_respond(drawn->units, &drawn->count, w->population, w->rng, err));
    TMI_TRY(tmi_sample_source(&source, w->room, drawn->units, drawn->count, TMI_VALUES, err));
    TMI_TRY(tmi_engine_of_source(&engine, source, 1, err));
    TMI_TRY(tmi_release_with(&release, study->plan, engine, &(tmi_run){.watch = watch}, err));
    TMI_TRY(tamis_estimate_new(
        &estimate, study->plan,
        &(tamis_estimate_options){.size = sizeof(tamis_estimate_options), .rows = source, .threads = 1, .watch = watch}, err));
    if (tmi_population_contributes(w->population)) TMI_TRY(estimate_sums(&summed, w, drawn, &watch, err));
    const tmi_result *own = release->results.list, *values = tmi_estimate_results(estimate)->list,
                     *sums = summed ? tmi_estimate_results(summed)->list : values;
    const double *bounded = study->bounded
                                ? study->bounded + (size_t)release->schedule.plan->bounds[0].halvings * study->places.count
                                : NULL;
    for (size_t i = 0; i < study->places.count; i++) {
        tmi_coverage_cell *c = &w->cells[i];
        const double truth = study->cells[i].truth, own_truth = bounded ? bounded[i] : truth;
        const tmi_result *bare = is_contributed(study, i) ? &sums[i] : &values[i];
        c->known = own[i].known;
        c->exact = own[i].exact;
        c->limited += own[i].limited;
        c->outside += own[i].outside_range;
        const double whole = tmi_hypotenuse(own[i].noise_sd, bare->se);
        if (whole > 0) c->part += bare->se / whole, c->parts++;
        const bool none = isnan(own[i].lower), held = count(&c->own, &own[i], own_truth);
        const bool bare_held = count(&c->bare, bare, truth);
        const double wrong = own[i].estimate - truth;
        if (isfinite(wrong)) c->squares += wrong * wrong, c->fourths += pow(wrong, 4), c->estimates++;
        take(&c->error, own[i].se);
        take(&c->noise, own[i].noise_sd);
        take(&c->bare_error, bare->se);
        c->withheld += none;
        if (none) c->reason = own[i].reason;
        c->se += none ? 0 : own[i].se;
        c->own_only += !none && held && !bare_held;
        c->bare_only += !none && !held && bare_held;
    }
    w->weighed = holds_weights(&release->schedule);

done:
    tamis_estimate_free(estimate);
    tamis_estimate_free(summed);
    tamis_release_free(release);
    if (engine) engine->free(engine);
    tamis_source_free(source);
    return status;
}

/* Runs until there are none left or somebody stops. */
static int work(void *context)
{
    worker *w = context;
    tamis_status status = TAMIS_OK;
    tamis_drawn drawn = {0};
    while (atomic_fetch_add(&w->watch->next, 1) < w->watch->wanted) {
        if (w->aloud ? tell(w->watch, 0, 0) : w->watch->stopped) TMI_TRY(tmi_fail_cancelled(&w->err));
        TMI_TRY(tamis_sampler_draw(&drawn, w->sampler, w->rng, NULL, &w->err));
        TMI_TRY(run_once(w, &drawn, &w->err));
        tamis_drawn_clear(&drawn);
        drawn = (tamis_drawn){0};
    }

done:
    tamis_drawn_clear(&drawn);
    if (status != TAMIS_OK) w->watch->stopped = true;
    w->status = status;
    if (!w->aloud) tamis_thread_done();
    return 0;
}

/* ---- the study ---- */

static bool some_are_doubtful(const tmi_coverage *study)
{
    for (size_t i = 0; i < study->places.count; i++) {
        const tmi_tally *t = &study->cells[i].own;
        const double said = tmi_number_nearest(study->plan->statistics[study->places.list[i].statistic].confidence);
        if (tmi_coverage_counts(&study->cells[i]) && tmi_binomial_at_most(t->covers, t->given, said) < DOUBTFUL) return true;
    }
    return false;
}

static void add(tmi_tally *all, const tmi_tally *some)
{
    all->covers += some->covers;
    all->given += some->given;
    all->width += some->width;
}

static void join(tmi_middle *all, const tmi_middle *some)
{
    all->logs += some->logs;
    all->count += some->count;
}

static void collect(tmi_coverage *study, worker *w)
{
    for (size_t i = 0; i < study->places.count; i++) {
        tmi_coverage_cell *c = &study->cells[i], *some = &w->cells[i];
        add(&c->own, &some->own);
        add(&c->bare, &some->bare);
        join(&c->error, &some->error);
        join(&c->noise, &some->noise);
        join(&c->bare_error, &some->bare_error);
        c->part += some->part;
        c->parts += some->parts;
        c->limited += some->limited;
        c->outside += some->outside;
        c->own_only += some->own_only;
        c->bare_only += some->bare_only;
        c->se += some->se;
        c->squares += some->squares;
        c->fourths += some->fourths;
        c->estimates += some->estimates;
        c->withheld += some->withheld;
        if (some->reason) c->reason = some->reason;
        c->known = c->known || some->known;
        c->exact = c->exact || some->exact;
        *some = (tmi_coverage_cell){0};
    }
    study->weighed = study->weighed || w->weighed;
}

static void worker_clear(worker *w)
{
    tmi_sample_room_free(w->room);
    tamis_rng_free(w->rng);
    tmi_free(w->cells);
}

static tamis_status worker_make(worker *w, const tmi_population *p, size_t cells, tamis_error *err)
{
    tamis_status status;
    TMI_TRY(tmi_sample_room_new(&w->room, p, err));
    TMI_TRY(tamis_rng_new(&w->rng, err));
    w->cells = tmi_alloc(cells, sizeof *w->cells);
    if (!w->cells) TMI_TRY(tmi_fail_memory(err));

done:
    return status;
}

/* The caller's thread is the first worker; a thread that cannot be started leaves its runs to the others. */
static tamis_status run_until(tmi_coverage *study, worker *workers, size_t count, int64_t wanted, tamis_error *err)
{
    watch *w = workers[0].watch;
    thrd_t threads[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    const worker *failed = NULL;
    w->next = study->runs;
    w->wanted = wanted;
    for (size_t i = 1; i < count; i++) started[i] = thrd_create(&threads[i], work, &workers[i]) == thrd_success;
    work(&workers[0]);
    for (size_t i = 1; i < count; i++)
        if (started[i]) thrd_join(threads[i], NULL);
    for (size_t i = 0; i < count; i++) {
        collect(study, &workers[i]);
        const bool cancelled = workers[i].status == TAMIS_SYSTEM; /* perhaps only because of another's failure */
        if (workers[i].status != TAMIS_OK && (!failed || !cancelled)) failed = &workers[i];
    }
    if (failed) return tmi_fail_as(err, &failed->err);
    study->runs = wanted;
    return TAMIS_OK;
}

static tamis_status run_all(tmi_coverage *study, tmi_population *p, watch *w, tamis_error *err)
{
    const tamis_study_options *o = w->options;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t count = o->threads > 0 ? o->threads : cores > 1 ? (size_t)cores : 1;
    tamis_sampler *sampler = NULL;
    tamis_status status;
    if (count > MOST_THREADS) count = MOST_THREADS;
    worker *workers = tmi_alloc(count, sizeof *workers);
    if (!workers) return tmi_fail_memory(err);
    TMI_TRY(tamis_sampler_new(&sampler, tmi_population_design(p), &(tamis_watch){listen, w}, err));
    for (size_t i = 0; i < count; i++) {
        workers[i] = (worker){.study = study, .population = p, .sampler = sampler, .watch = w, .aloud = i == 0};
        TMI_TRY(worker_make(&workers[i], p, study->places.count, err));
    }
    TMI_TRY(find_truth(study, workers[0].room, TMI_VALUES, w, err));
    TMI_TRY(find_bounded_truths(study, p, workers[0].room, w, err));
    TMI_TRY(find_truth(study, workers[0].room, TMI_RAW_VALUES, w, err));
    if (tmi_population_contributes(p)) TMI_TRY(find_truth(study, workers[0].room, TMI_SUMMED_VALUES, w, err));
    TMI_TRY(run_until(study, workers, count, o->runs > 0 ? o->runs : USUAL_RUNS, err));
    if (o->runs == 0 && some_are_doubtful(study)) TMI_TRY(run_until(study, workers, count, MORE_RUNS, err));

done:
    for (size_t i = 0; i < count; i++) worker_clear(&workers[i]);
    tmi_free(workers);
    tamis_sampler_free(sampler);
    return status;
}

tamis_status tmi_coverage_new(tmi_coverage **study, const tamis_plan *plan, const tamis_study_samples *samples,
                              const tamis_study_options *options, tamis_error *err)
{
    tamis_study_samples given;
    tamis_study_options how;
    tmi_population *p = NULL;
    tamis_status status;
    *study = NULL;
    if (!plan) return tmi_fail(err, TAMIS_INVALID, "plan: NULL");
    if (tmi_options_take(&given, sizeof given, samples, "samples", err) != TAMIS_OK) return TAMIS_INVALID;
    if (tmi_options_take(&how, sizeof how, options, "options", err) != TAMIS_OK) return TAMIS_INVALID;
    if (!given.population) return tmi_fail(err, TAMIS_INVALID, "population: NULL");
    if (how.runs < 0 || how.runs > MOST_RUNS) return tmi_fail(err, TAMIS_INVALID, "runs: must be between 0 and %d", MOST_RUNS);
    tmi_coverage *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->plan = plan;
    const tmi_drawing drawing = {given.drawn_by, given.sizes, given.response};
    TMI_TRY(tmi_population_read(&p, plan, &drawing, given.population, err));
    s->population = tmi_population_size(p);
    TMI_TRY(tmi_results_make(&s->places, plan, NULL, err));
    s->cells = tmi_alloc(s->places.count, sizeof *s->cells);
    if (!s->cells) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(run_all(s, p, &(watch){.options = &how}, err));
    *study = s;
    s = NULL;

done:
    tmi_population_free(p);
    tmi_coverage_free(s);
    return status;
}
