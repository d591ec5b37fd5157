/* Many imagined files, each answered by every method. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "num/exact.h"
#include "study/crowd.h"
#include "study/errors_parts.h"
#include "study/quantile/quantile.h"

#define USUAL_RUNS 200
#define MOST_RUNS 100000
#define USUAL_ROWS 1000
#define MOST_ROWS 1000000
#define LAW_SIZE 100001
#define MOST_RHO 1000      /* of a distribution function: an epsilon above 44 leaves method prefix out */
#define JOINT_QUANTILES 10 /* beyond, it takes seconds, and auto does not choose it */

void tmi_quantile_simulation_clear(tmi_quantile_simulation *s)
{
    tmi_values_clear(&s->values);
    tamis_number_free(s->rho);
    tmi_free(s->truths);
    tmi_free(s->errors);
}

/* The quantile of a method, for files of this many rows. */
static tamis_status make_quantile(tamis_quantile **quantile, const tmi_quantile_simulation *s, tamis_quantile_method method,
                                  tamis_error *err)
{
    const bool in_rho = method == TAMIS_QUANTILE_PREFIX;
    const bool in_bins = in_rho || method == TAMIS_QUANTILE_TREE || method == TAMIS_QUANTILE_HISTOGRAM;
    tamis_quantile_setup what = s->asked->what;
    what.method = method;
    what.rows = what.add_remove ? 0 : s->rows;
    what.max_weight = 0;
    what.rho = in_rho ? s->rho : NULL;
    if (in_rho) what.epsilon = NULL;
    if (!in_bins) what.bins = 0;
    if (method != TAMIS_QUANTILE_SMOOTH) what.delta = NULL;
    return tamis_quantile_new(quantile, &what, err);
}

/* Which methods apply, what auto would take, and whether all of them can be made. */
static tamis_status choose_methods(tmi_quantile_simulation *s, tamis_error *err)
{
    static const tamis_quantile_method all[TMI_STUDY_METHODS] = {TAMIS_QUANTILE_AUTO,      TAMIS_QUANTILE_INVERSE,
                                                                 TAMIS_QUANTILE_JOINT,     TAMIS_QUANTILE_SPLIT,
                                                                 TAMIS_QUANTILE_THRESHOLD, TAMIS_QUANTILE_SMOOTH,
                                                                 TAMIS_QUANTILE_HISTOGRAM, TAMIS_QUANTILE_TREE,
                                                                 TAMIS_QUANTILE_PREFIX};
    tamis_status status = TAMIS_OK;
    tamis_quantile *quantile = NULL;
    for (size_t k = 0; k < TMI_STUDY_METHODS; k++) {
        if (s->count == 1 && (all[k] == TAMIS_QUANTILE_JOINT || all[k] == TAMIS_QUANTILE_SPLIT)) continue;
        if (s->count > JOINT_QUANTILES && all[k] == TAMIS_QUANTILE_JOINT) continue;
        if (s->asked->what.add_remove && all[k] == TAMIS_QUANTILE_SMOOTH) continue;
        if (all[k] == TAMIS_QUANTILE_PREFIX && tmi_number_compare_int(s->rho, MOST_RHO) > 0) continue;
        TMI_TRY(make_quantile(&quantile, s, all[k], err));
        if (all[k] == TAMIS_QUANTILE_AUTO) {
            s->chosen = tamis_quantile_method_of(quantile);
            s->auto_by_log = quantile->log_unit && !s->asked->what.log_unit;
        }
        tamis_quantile_free(quantile);
        s->methods[s->method_count++] = all[k];
    }
done:
    return status;
}

/* ---- one thread ---- */

typedef struct simulation {
    tmi_quantile_simulation *s;
    uint64_t seed;
    double *sizes; /* of errors: [(method * count + quantile) * runs + run], then those of sampling alone */
} simulation;

typedef struct room {
    tamis_quantile *quantiles[TMI_STUDY_METHODS];
    void *samples;
    int64_t *records, *points;
} room;

static void close_room(void *place)
{
    room *r = place;
    if (!r) return;
    for (size_t k = 0; k < TMI_STUDY_METHODS; k++) tamis_quantile_free(r->quantiles[k]);
    tmi_samples_close(r->samples);
    tmi_free(r->records);
    tmi_free(r->points);
    tmi_free(r);
}

static tamis_status open_room(void **place, const void *context, tamis_error *err)
{
    const tmi_quantile_simulation *s = ((const simulation *)context)->s;
    tamis_status status = TAMIS_OK;
    room *r = tmi_alloc(1, sizeof *r);
    *place = r;
    if (!r) return tmi_fail_memory(err);
    r->records = tmi_alloc(s->rows, sizeof *r->records);
    r->points = tmi_alloc(s->count, sizeof *r->points);
    if (!r->records || !r->points) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_samples_open(&r->samples, s->values.count, err));
    for (size_t k = 0; k < s->method_count; k++) TMI_TRY(make_quantile(&r->quantiles[k], s, s->methods[k], err));
done:
    return status;
}

/* The value of rank q n, rounded up. */
static size_t index_of(const tmi_rank *rank, size_t n)
{
    const tmi_int128 m = ((tmi_int128)rank->p * (tmi_int128)n + rank->d - 1) / rank->d;
    return m < 1 ? 0 : (size_t)(m - 1);
}

/* Every method has its own stream: leaving one out changes nothing for the others. */
static tamis_status one_run(void *context, void *place, size_t run, tamis_error *err)
{
    const simulation *c = context;
    const tmi_quantile_simulation *s = c->s;
    room *r = place;
    const tamis_quantile *first = r->quantiles[0];
    tmi_stream stream = tmi_stream_of(c->seed, 0, run);
    const double *sample = tmi_samples_draw(r->samples, &s->values, s->rows, &stream);
    const size_t runs = (size_t)s->runs;
    for (size_t i = 0; i < s->rows; i++) tmi_grid_point(&r->records[i], &first->grid, sample[i]); /* in ascending order */
    for (size_t k = 0; k <= s->method_count; k++) {
        tmi_stream own = tmi_stream_of(c->seed, 1 + (uint64_t)s->methods[k < s->method_count ? k : 0], run);
        if (k < s->method_count) {
            const tamis_status status = tmi_quantile_imagine(r->points, r->quantiles[k], r->records, s->rows, &own, err);
            if (status != TAMIS_OK) return status;
        }
        for (size_t j = 0; j < s->count; j++) {
            const double right = (double)r->records[index_of(&first->targets[j].rank, s->rows)] * s->step;
            const double off = k < s->method_count ? (double)r->points[j] * s->step - right : right - s->truths[j];
            c->sizes[(k * s->count + j) * runs + run] = fabs(off);
        }
    }
    return TAMIS_OK;
}

/* ---- all of it ---- */

static int by_size(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

/* Of `count` sizes of errors, which are sorted. */
static tmi_quantile_errors sum_up(double *sizes, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++) squares += sizes[i] * sizes[i];
    qsort(sizes, count, sizeof *sizes, by_size);
    return (tmi_quantile_errors){.median = (sizes[(count - 1) / 2] + sizes[count / 2]) / 2,
                                 .most = sizes[(size_t)(0.95 * (double)(count - 1) + 0.5)],
                                 .rms = sqrt(squares / (double)count)};
}

static tamis_status make_population(tmi_quantile_simulation *s, uint64_t seed, tamis_error *err)
{
    const tamis_study_quantiles *a = s->asked;
    tamis_study_population p = a->population;
    const bool is_file = p.column != NULL;
    p.from = a->what.from;
    p.to = a->what.to;
    p.sd = NULL;
    if (!is_file && p.size == 0) p.size = a->rows > LAW_SIZE ? a->rows : LAW_SIZE;
    tamis_status status = tmi_values_new(&s->values, &p, seed, err);
    if (status != TAMIS_OK) return status;
    const int64_t most = s->values.count < MOST_ROWS ? s->values.count : MOST_ROWS;
    if (a->rows < 0 || a->rows > most)
        return tmi_fail(err, TAMIS_INVALID, "rows: must be between 1 and %lld, and no more than the population has",
                        (long long)most);
    s->rows = (uint32_t)(a->rows > 0 ? a->rows : is_file ? most : most < USUAL_ROWS ? most : USUAL_ROWS);
    return TAMIS_OK;
}

static tamis_status set_up(tmi_quantile_simulation *s, const tamis_study_options *options, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_quantile *quantile = NULL;
    tamis_status status = TAMIS_OK;
    const tamis_quantile_setup *what = &s->asked->what;
    s->count = what->at_count;
    if (s->count > TAMIS_STUDY_QUANTILES)
        TMI_TRY(tmi_fail(err, TAMIS_INVALID, "at: at most %d quantiles in a study", TAMIS_STUDY_QUANTILES));
    s->runs = options->runs > 0 ? options->runs : USUAL_RUNS;
    if (s->runs > MOST_RUNS) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "runs: must be at most %d", MOST_RUNS));
    s->rows = 1;
    TMI_TRY(make_quantile(&quantile, s, TAMIS_QUANTILE_INVERSE, err)); /* checks what is asked */
    tmi_term twice = tmi_mul(&e, what->epsilon, what->epsilon);
    TMI_TRY(tmi_exact_copy(&s->rho, &e, tmi_div(&e, twice, tmi_int(&e, 2))));
    s->step = tmi_number_nearest(what->step);
    TMI_TRY(make_population(s, options->seed, err));
    TMI_TRY(choose_methods(s, err));
    s->truths = tmi_alloc(s->count, sizeof *s->truths);
    s->errors = tmi_alloc((s->method_count + 1) * (s->count + 1), sizeof *s->errors);
    if (!s->truths || !s->errors) TMI_TRY(tmi_fail_memory(err));
    for (size_t j = 0; j < s->count; j++) {
        int64_t point;
        tmi_grid_point(&point, &quantile->grid, s->values.sorted[index_of(&quantile->targets[j].rank, s->values.count)]);
        s->truths[j] = (double)point * s->step;
    }
done:
    tamis_quantile_free(quantile);
    tmi_exact_clear(&e);
    return status;
}

tamis_status tmi_quantile_simulate(tmi_quantile_simulation *s, const tamis_study_quantiles *asked,
                                   const tamis_study_options *options, tamis_error *err)
{
    simulation c = {.s = s, .seed = options->seed};
    tamis_status status;
    *s = (tmi_quantile_simulation){.asked = asked};
    TMI_TRY(set_up(s, options, err));
    const size_t runs = (size_t)s->runs;
    c.sizes = tmi_alloc((s->method_count + 1) * s->count * runs, sizeof *c.sizes);
    if (!c.sizes) TMI_TRY(tmi_fail_memory(err));
    const tmi_watch watch = tmi_watch_of(&options->watch);
    const tmi_crowd crowd = {.threads = options->threads,
                             .items = runs,
                             .item = one_run,
                             .open = open_room,
                             .close = close_room,
                             .context = &c,
                             .watch = &watch};
    TMI_TRY(tmi_crowd_run(&crowd, err));
    for (size_t k = 0; k <= s->method_count; k++) {
        double *sizes = c.sizes + k * s->count * runs;
        for (size_t j = 0; j < s->count; j++) s->errors[k * (s->count + 1) + j] = sum_up(sizes + j * runs, runs);
        s->errors[k * (s->count + 1) + s->count] = sum_up(sizes, s->count * runs);
    }
done:
    tmi_free(c.sizes);
    return status;
}
