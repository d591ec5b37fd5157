#include "study/errors.h"

#include <math.h>
#include <tamis/experimental/profile.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "num/number.h"
#include "study/crowd.h"
#include "study/errors_parts.h"
#include "study/seeded.h"

#define BLOCK 25 /* runs of one item of work; one, if the population is so large that somebody would wait for an answer */
#define LARGE 100000

static const struct {
    const char *name, *key;
} mechanisms[TMI_STUDY_MECHANISMS] = {
    [TMI_MECHANISM_LAPLACE] = {"Laplace", "laplace"},
    [TMI_MECHANISM_GAUSSIAN] = {"discrete Gaussian", "gaussian"},
    [TMI_MECHANISM_INVERSE] = {"inverse sensitivity", "inverse"},
    [TMI_MECHANISM_SMOOTH_PAPER] = {"smooth sensitivity, paper's", "smooth-paper"},
    [TMI_MECHANISM_SMOOTH] = {"smooth sensitivity, ours", "smooth"},
    [TMI_MECHANISM_HISTOGRAM] = {"noisy counts", "counts"},
    [TMI_MECHANISM_POLYPLACE] = {"smooth sensitivity, no delta", "smooth-pure"},
    [TMI_MECHANISM_THRESHOLD] = {"AboveThreshold", "threshold"},
    [TMI_MECHANISM_JOINT] = {"joint", "joint"},
    [TMI_MECHANISM_SPLIT] = {"split", "split"},
    [TMI_MECHANISM_TREE] = {"tree", "tree"},
    [TMI_MECHANISM_PREFIX] = {"prefix", "prefix"},
};

const char *tmi_study_mechanism_name(tmi_study_mechanism mechanism) { return mechanisms[mechanism].name; }
const char *tmi_study_mechanism_key(tmi_study_mechanism mechanism) { return mechanisms[mechanism].key; }

tmi_spending tmi_spending_amplified(double eps, double delta, double population, double sample)
{
    /* log(1 + (e^eps - 1) N/n), from whichever form neither cancels nor overflows */
    const double odds = population / sample,
                 spent = eps < 1 ? log1p(expm1(eps) * odds) : eps + log(odds + exp(-eps) * (1 - odds));
    return (tmi_spending){spent, fmin(1, delta * odds)};
}

/* ---- samples ---- */

typedef struct room {
    double *x;
    uint32_t *chosen;
    uint64_t *marks;
} room;

void tmi_samples_close(void *place)
{
    room *r = place;
    if (!r) return;
    tmi_free(r->x);
    tmi_free(r->chosen);
    tmi_free(r->marks);
    tmi_free(r);
}

tamis_status tmi_samples_open(void **place, size_t n, tamis_error *err)
{
    room *r = tmi_alloc(1, sizeof *r);
    *place = r;
    if (!r) return tmi_fail_memory(err);
    r->x = tmi_alloc(n, sizeof *r->x);
    r->chosen = tmi_alloc(n, sizeof *r->chosen);
    r->marks = tmi_alloc(n / 64 + 1, sizeof *r->marks);
    return r->x && r->chosen && r->marks ? TAMIS_OK : tmi_fail_memory(err);
}

const double *tmi_samples_draw(void *place, const tmi_values *v, uint32_t n, tmi_stream *stream)
{
    room *r = place;
    if (n == v->count) return v->sorted;
    tmi_stream_sample(r->chosen, stream, v->count, n, r->marks);
    for (uint32_t i = 0; i < n; i++) r->x[i] = v->sorted[r->chosen[i]];
    return r->x;
}

/* ---- noise, for each size and spending ---- */

/* The standard deviation of Gaussian noise for a sensitivity of 1, certified and rounded up; on a grid that is fine beside the
 * noise, the discrete law needs the same. */
static tamis_status gaussian_scale(double *sigma, const tmi_spending *s, tamis_error *err)
{
    tamis_number *one = NULL, *eps = NULL, *delta = NULL;
    tamis_bound scale;
    tamis_status status;
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_double(&eps, s->eps, err));
    TMI_TRY(tmi_number_double(&delta, s->delta, err));
    TMI_TRY(tamis_noise_scale(&scale, TAMIS_NOISE_GAUSSIAN, one, eps, delta, err));
    *sigma = scale.upper;

done:
    tmi_number_frees(&one, &eps, &delta, NULL);
    return status;
}

static size_t level_count(const tmi_simulation *s) { return s->levels ? s->levels->count : 1; }
static double level_at(const tmi_simulation *s, size_t j) { return s->levels ? tmi_number_nearest(s->levels->at[j]) : 0.5; }
static bool of_quantiles(const tmi_simulation *s)
{
    return s->statistic == TAMIS_STUDY_MEDIAN || s->statistic == TAMIS_STUDY_QUANTILE;
}

/* Quantiles share what is spent; a row that moves between two groups is in both. */
static tamis_status make_noise(tmi_noise_of *n, const tmi_simulation *s, size_t size, const tmi_spending *spent, tamis_error *err)
{
    const double m = (double)level_count(s), parts = s->levels && s->levels->moved ? 2 * m : m;
    const tmi_spending part = {spent->eps / parts, spent->delta / parts}, each = {spent->eps / m, spent->delta / m};
    tamis_status status = TAMIS_OK;
    if (!(spent->eps > 0 && isfinite(spent->eps))) return tmi_fail(err, TAMIS_INVALID, "epsilon: must be positive");
    *n = (tmi_noise_of){.spent = *spent, .laplace = 1 / part.eps};
    if (!(spent->delta >= 0 && spent->delta <= 1)) return tmi_fail(err, TAMIS_INVALID, "delta: must be between 0 and 1");
    if (spent->delta == 0) return TAMIS_OK;
    if (s->mechanisms & 1u << TMI_MECHANISM_GAUSSIAN) TMI_TRY(gaussian_scale(&n->sigma, &part, err));
    if (!of_quantiles(s) || spent->delta >= 1) return TAMIS_OK;
    n->paper = (tmi_smooth_calibration){each.eps / 2, each.eps / (2 * log(2 / each.delta))};
    for (size_t j = 0; s->mechanisms & 1u << TMI_MECHANISM_SMOOTH && j < level_count(s); j++) {
        const uint32_t size_of = s->samples[size], rank = tmi_level_rank(level_at(s, j), size_of);
        TMI_TRY(tmi_calibrate(&n->ours[j], s->population, size_of, rank, &each, err));
    }

done:
    return status;
}

/* ---- the mean and the total ---- */

/* Noisy counts of bins, each with noise of the same variance: the mean of the bins' middles, measured from the middle of the
 * range because the number of people is known. What the bins do to the values is an error too. */
static tmi_squared_error histogram_mean(const tmi_values *v, double n, const tmi_noise_of *noise)
{
    const double width = (v->to - v->from) / TMI_BINS, N = v->count;
    double sum = 0, squares = 0, middles = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        const double bin = fmin(floor((v->sorted[i] - v->from) / width), TMI_BINS - 1), y = (bin + 0.5 - 0.5 * TMI_BINS) * width;
        sum += y;
        squares += y * y;
    }
    for (int b = 0; b < TMI_BINS; b++) middles += pow((b + 0.5 - 0.5 * TMI_BINS) * width, 2);
    const double bias = sum / N + (v->from + v->to) / 2 - v->mean, variance = (squares - sum * sum / N) / (N - 1);
    const double sampling = (1 - n / N) * variance / n + bias * bias;
    return (tmi_squared_error){.sampling = sampling, .mse = sampling + 8 * pow(noise->laplace / n, 2) * middles};
}

static void means(tmi_squared_error *out, const tmi_simulation *s, double n, const tmi_noise_of *noise)
{
    const tmi_values *v = s->population;
    const double N = v->count, sampling = (1 - n / N) * v->variance / n, step = (v->to - v->from) / n;
    const double times = s->statistic == TAMIS_STUDY_TOTAL ? N * N : 1;
    out[TMI_MECHANISM_LAPLACE] = (tmi_squared_error){.sampling = sampling, .mse = sampling + 2 * pow(step * noise->laplace, 2)};
    if (noise->sigma > 0)
        out[TMI_MECHANISM_GAUSSIAN] = (tmi_squared_error){.sampling = sampling, .mse = sampling + pow(step * noise->sigma, 2)};
    if (s->mechanisms & 1u << TMI_MECHANISM_HISTOGRAM) out[TMI_MECHANISM_HISTOGRAM] = histogram_mean(v, n, noise);
    for (int w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        out[w].mse *= times;
        out[w].sampling *= times;
    }
}

/* ---- quantiles ---- */

/* Sums over the runs of one block. */
typedef struct sums {
    double mse, squares, runs;
} sums;

typedef struct plan_of_runs {
    const tmi_simulation *s;
    const tmi_noise_of *noise; /* by size and spending */
    double truths[TMI_STUDY_LEVELS];
    size_t blocks; /* of each size */
    int64_t block; /* runs of each */
    sums *sums;    /* by size, block, spending, way */
} plan_of_runs;

static tamis_status open_room(void **room, const void *plan, tamis_error *err)
{
    return tmi_release_open(room, ((const plan_of_runs *)plan)->s, err);
}

static tamis_status smooth_error(double *mse, const tmi_ordered *o, const tmi_smooth_calibration *c, tamis_error *err)
{
    double S;
    tamis_status status = tamis_smooth_sensitivity_up(&S, o->x, o->n, o->rank, o->from, o->to, c->beta, err);
    *mse = 2 * (S / c->alpha) * (S / c->alpha);
    return status;
}

/* Mechanisms whose noise is drawn: their error is another one each time. */
static bool is_drawn(tmi_study_mechanism w) { return w == TMI_MECHANISM_HISTOGRAM || 1u << w & TMI_RELEASE_MECHANISMS; }

/* The squared error of one sample and quantile, averaged over the noise; that of smooth sensitivity without the sampling error,
 * which is known exactly and added at the end. */
static tamis_status one_level(double *mse, const plan_of_runs *p, const tmi_ordered *o, size_t j, const tmi_noise_of *noise,
                              tmi_study_mechanism w, tmi_stream *r, tamis_error *err)
{
    const double m = (double)level_count(p->s), eps = noise->spent.eps / m,
                 moved = p->s->levels && p->s->levels->moved ? 2 * fmax(o->at, 1 - o->at) : 1;
    *mse = 0;
    if (w == TMI_MECHANISM_INVERSE) *mse = tmi_inverse_error(o, eps / moved, p->truths[j]);
    else if (w == TMI_MECHANISM_HISTOGRAM) *mse = tmi_histogram_error(o, noise->spent.eps, p->truths[j], r);
    else if (w == TMI_MECHANISM_SMOOTH_PAPER && noise->paper.alpha > 0) return smooth_error(mse, o, &noise->paper, err);
    else if (w == TMI_MECHANISM_SMOOTH && noise->ours[j].alpha > 0) return smooth_error(mse, o, &noise->ours[j], err);
    return TAMIS_OK;
}

static tamis_status one_sample(sums *out, const plan_of_runs *p, void *place, size_t cell, tmi_ordered *o, int64_t run,
                               tmi_stream *r, tamis_error *err)
{
    const tmi_simulation *s = p->s;
    const bool census = o->n == s->population->count;
    tamis_status status = TAMIS_OK;
    for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++) {
        const bool released = 1u << w & TMI_RELEASE_MECHANISMS;
        double mse = 0;
        if (!(s->mechanisms & 1u << w) || (census && run > 0 && !is_drawn(w))) continue; /* the census has no other sample */
        if (released && (run >= TMI_RELEASE_RUNS || !tmi_release_applies(place, cell, w))) continue;
        if (released) {
            tmi_stream own = tmi_stream_of(s->seed, (uint64_t)(w + 1) << 40 | (uint64_t)cell << 32 | o->n, (uint64_t)run);
            TMI_TRY(tmi_release_error(&mse, place, cell, w, o, p->truths, &own, err));
        }
        for (size_t j = 0; !released && j < level_count(s); j++) {
            double one;
            o->at = level_at(s, j);
            o->rank = tmi_level_rank(o->at, o->n);
            TMI_TRY(one_level(&one, p, o, j, &p->noise[cell], w, r, err));
            mse += one / (double)level_count(s);
        }
        out[w].mse += mse;
        out[w].squares += mse * mse;
        out[w].runs++;
    }

done:
    return status;
}

static tamis_status one_block(void *context, void *place, size_t number, tamis_error *err)
{
    const plan_of_runs *p = context;
    const tmi_simulation *s = p->s;
    const tmi_values *v = s->population;
    const size_t size = number / p->blocks, block = number % p->blocks;
    const uint32_t n = s->samples[size];
    const int64_t first = (int64_t)block * p->block, last = first + p->block < s->runs ? first + p->block : s->runs;
    sums *out = p->sums + number * s->spending_count * TMI_STUDY_MECHANISMS;
    tamis_status status = TAMIS_OK;
    for (int64_t run = first; run < last; run++) {
        tmi_stream r = tmi_stream_of(s->seed, n, (uint64_t)run);
        tmi_ordered o = {.x = tmi_samples_draw(tmi_release_samples(place), v, n, &r), .n = n, .from = v->from, .to = v->to};
        for (size_t i = 0; i < s->spending_count; i++)
            TMI_TRY(one_sample(out + i * TMI_STUDY_MECHANISMS, p, place, size * s->spending_count + i, &o, run, &r, err));
    }

done:
    return status;
}

static bool is_calibrated(const tmi_noise_of *noise, tmi_study_mechanism w, size_t levels)
{
    bool found = w == TMI_MECHANISM_SMOOTH || noise->paper.alpha > 0;
    for (size_t j = 0; w == TMI_MECHANISM_SMOOTH && j < levels; j++) found = found && noise->ours[j].alpha > 0;
    return found;
}

static void quantiles(tmi_squared_error *out, const plan_of_runs *p, size_t size, size_t spending, double sampling)
{
    const tmi_simulation *s = p->s;
    const tmi_noise_of *noise = &p->noise[size * s->spending_count + spending];
    const double range = s->population->to - s->population->from;
    const bool census = s->samples[size] == s->population->count;
    out[TMI_MECHANISM_LAPLACE] = (tmi_squared_error){.sampling = sampling, .mse = sampling + 2 * pow(range * noise->laplace, 2)};
    if (noise->sigma > 0)
        out[TMI_MECHANISM_GAUSSIAN] = (tmi_squared_error){.sampling = sampling, .mse = sampling + pow(range * noise->sigma, 2)};
    for (tmi_study_mechanism w = TMI_MECHANISM_INVERSE; w < TMI_STUDY_MECHANISMS; w++) {
        const bool smooth = w == TMI_MECHANISM_SMOOTH || w == TMI_MECHANISM_SMOOTH_PAPER;
        double sum = 0, squares = 0, runs = 0;
        if (smooth && !is_calibrated(noise, w, level_count(s))) continue;
        for (size_t b = 0; b < p->blocks; b++) {
            const sums *some = &p->sums[((size * p->blocks + b) * s->spending_count + spending) * TMI_STUDY_MECHANISMS + w];
            sum += some->mse;
            squares += some->squares;
            runs += some->runs;
        }
        if (runs == 0) continue;
        const double mean = sum / runs, spread = runs > 1 ? fmax(squares / runs - mean * mean, 0) / (runs - 1) : 0;
        const bool exact = census && !is_drawn(w);
        out[w] = (tmi_squared_error){.sampling = sampling,
                                     .mse = mean + (smooth ? sampling : 0),
                                     .mse_error = exact ? 0 : sqrt(spread)};
    }
}

/* ---- all of it ---- */

static bool is_simulated(const tmi_simulation *s)
{
    return of_quantiles(s) && s->mechanisms & ~(1u << TMI_MECHANISM_LAPLACE | 1u << TMI_MECHANISM_GAUSSIAN);
}

tamis_status tmi_simulate(tmi_squared_error *errors, const tmi_simulation *s, tamis_error *err)
{
    const size_t cells = s->sample_count * s->spending_count;
    const tmi_values *v = s->population;
    tmi_noise_of *noise = tmi_alloc(cells, sizeof *noise);
    plan_of_runs p = {.s = s, .noise = noise};
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < cells * TMI_STUDY_MECHANISMS; i++) errors[i] = (tmi_squared_error){NAN, NAN, NAN};
    if (!noise) return tmi_fail_memory(err);
    for (size_t j = 0; v->sorted && j < level_count(s); j++)
        p.truths[j] = v->sorted[tmi_level_rank(level_at(s, j), v->count) - 1];
    for (size_t i = 0; i < cells; i++) TMI_TRY(make_noise(&noise[i], s, i / s->spending_count, &s->spendings[i], err));
    if (is_simulated(s)) {
        p.block = v->count > LARGE ? 1 : BLOCK;
        p.blocks = (size_t)((s->runs + p.block - 1) / p.block);
        p.sums = tmi_alloc(p.blocks * cells * TMI_STUDY_MECHANISMS, sizeof *p.sums);
        if (!p.sums) TMI_TRY(tmi_fail_memory(err));
        const tmi_crowd crowd = {.threads = s->threads,
                                 .items = p.blocks * s->sample_count,
                                 .item = one_block,
                                 .open = open_room,
                                 .close = tmi_release_close,
                                 .context = &p,
                                 .watch = s->watch};
        TMI_TRY(tmi_crowd_run(&crowd, err));
    }
    for (size_t size = 0; size < s->sample_count; size++) {
        double sampling = 0;
        for (size_t j = 0; of_quantiles(s) && j < level_count(s); j++)
            sampling += tmi_level_error(v, s->samples[size], level_at(s, j)) / (double)level_count(s);
        for (size_t i = 0; i < s->spending_count; i++) {
            tmi_squared_error *out = &errors[(size * s->spending_count + i) * TMI_STUDY_MECHANISMS];
            if (of_quantiles(s)) quantiles(out, &p, size, i, sampling);
            else means(out, s, s->samples[size], &noise[size * s->spending_count + i]);
            for (tmi_study_mechanism w = 0; w < TMI_STUDY_MECHANISMS; w++)
                if (!(s->mechanisms & 1u << w)) out[w] = (tmi_squared_error){NAN, NAN, NAN};
        }
    }

done:
    tmi_free(p.sums);
    tmi_free(noise);
    return status;
}
