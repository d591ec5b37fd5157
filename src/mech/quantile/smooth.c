#include "mech/quantile/smooth.h"

#include <math.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "mech/smooth_polyplace.h"
#include "num/exact.h"

#define BITS_FIRST 192
#define BITS_MORE 384

/* ---- the noise, from public numbers ---- */

#define BETAS 20     /* beta is a multiple of epsilon / 20 */
#define MOST_BETAS 8 /* and at most 8 of them: with half of epsilon there is no variance */

/* Rows of an imagined file: more of them would change no choice. */
#define MODEL_ROWS 20000
#define MODEL_RANGE 10 /* times their spread */

void tmi_smooth_clear(tamis_quantile *q)
{
    for (size_t i = 0; q->smooth && i < q->count; i++)
        tmi_number_frees(&q->smooth[i].beta, &q->smooth[i].alpha, &q->smooth[i].shape, NULL);
    tmi_free(q->smooth);
}

/* n rows, evenly spread over the middle of a range. */
typedef struct model {
    double *values, low, high;
    size_t n;
    int64_t rank;
} model;

static int64_t rank_of(const tmi_rank *rank, int64_t n)
{
    const tmi_int128 m = ((tmi_int128)rank->p * n + rank->d - 1) / rank->d;
    return m < 1 ? 1 : (int64_t)m;
}

static tamis_status make_model(model *m, const tamis_quantile *q, const tmi_rank *rank, tamis_error *err)
{
    m->n = q->rows > 0 && q->rows < MODEL_ROWS ? (size_t)q->rows : MODEL_ROWS;
    m->rank = rank_of(rank, (int64_t)m->n);
    if (!(m->values = tmi_alloc(m->n, sizeof *m->values))) return tmi_fail_memory(err);
    for (size_t i = 0; i < m->n; i++) m->values[i] = (double)(i + 1);
    const double middle = (double)m->rank, half = MODEL_RANGE / 2.0 * (double)m->n;
    m->low = middle - half;
    m->high = middle + half;
    return TAMIS_OK;
}

/* The multiple of epsilon / BETAS whose noise has the smallest standard deviation on the model; *mean bounds the mean of its
 * size from above. */
static tamis_status choose_polyplace(tmi_smooth *s, double *mean, const model *m, const tamis_number *epsilon, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status = TAMIS_OK;
    double least = INFINITY, best_sensitivity = INFINITY;
    tmi_term best = NULL;
    tamis_bound size;
    for (int64_t k = 1; k <= MOST_BETAS; k++) {
        tamis_bound sd;
        double sensitivity;
        tmi_term beta = tmi_div(&e, tmi_mul(&e, epsilon, tmi_int(&e, k)), tmi_int(&e, BETAS));
        TMI_TRY(e.status);
        TMI_TRY(tamis_polyplace_sd(&sd, epsilon, beta, err));
        TMI_TRY(
            tamis_smooth_sensitivity_up(&sensitivity, m->values, m->n, m->rank, m->low, m->high, tmi_number_nearest(beta), err));
        if (sd.upper * sensitivity >= least) continue;
        least = sd.upper * sensitivity;
        best_sensitivity = sensitivity;
        best = beta;
    }
    TMI_TRY(tmi_number_copy(&s->beta, best, err));
    TMI_TRY(tmi_number_div(&s->shape, epsilon, s->beta, err));
    TMI_TRY(tmi_polyplace_mean_size(&size, epsilon, s->beta, err));
    *mean = size.upper * best_sensitivity;
done:
    tmi_exact_clear(&e);
    return status;
}

/* Laplace noise in place of PolyPlace noise, if the mean of its size on the model is smaller. (PolyPlace noise has long tails,
 * and most of its answers are better than its standard deviation says.) */
static tamis_status consider_laplace(tmi_smooth *s, double polyplace_mean, const model *m, const tamis_number *epsilon,
                                     const tamis_number *delta, tamis_error *err)
{
    tamis_smooth_choice choice;
    tamis_error reason = {0};
    double sensitivity;
    tamis_status status = tamis_smooth_choose(&choice, epsilon, delta, m->values, m->n, m->rank, m->low, m->high, &reason);
    if (status == TAMIS_UNABLE) return TAMIS_OK; /* no such noise is certified: the other law needs no delta */
    if (status != TAMIS_OK) return tmi_fail_as(err, &reason);
    TMI_TRY(tamis_smooth_sensitivity_up(&sensitivity, m->values, m->n, m->rank, m->low, m->high, choice.beta, err));
    if (sensitivity / choice.alpha >= polyplace_mean) goto done;
    tmi_number_frees(&s->beta, &s->shape, NULL);
    TMI_TRY(tmi_number_double(&s->alpha, choice.alpha, err));
    TMI_TRY(tmi_number_double(&s->beta, choice.beta, err));
done:
    return status;
}

bool tmi_quantile_spends_delta(const tamis_quantile *q)
{
    for (size_t i = 0; q->smooth && i < q->count; i++)
        if (q->smooth[i].alpha) return true;
    return false;
}

static tamis_status check(const tamis_quantile *q, const tamis_number *delta, tamis_error *err)
{
    if (q->weighted) return tmi_fail(err, TAMIS_INVALID, "max_weight: smooth sensitivity is for rows without weights");
    if (q->add_remove) return tmi_fail(err, TAMIS_INVALID, "method: smooth sensitivity is for rows that are replaced");
    if (!delta) return TAMIS_OK;
    if (tmi_number_sign(delta) <= 0 || tmi_number_compare_int(delta, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "delta must be above 0 and below 1");
    if (q->rows_per_unit > 1) return tmi_fail(err, TAMIS_INVALID, "delta: there is none for units of several rows");
    return TAMIS_OK;
}

tamis_status tmi_smooth_set(tamis_quantile *q, const tamis_number *delta, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tamis_status status;
    TMI_TRY(check(q, delta, err));
    if (!(q->smooth = tmi_alloc(q->count, sizeof *q->smooth))) TMI_TRY(tmi_fail_memory(err));
    tmi_term count = tmi_int(&e, (int64_t)q->count), rows = tmi_int(&e, q->rows_per_unit);
    tmi_term epsilon = tmi_div(&e, q->epsilon, tmi_mul(&e, count, rows)), part = delta ? tmi_div(&e, delta, count) : NULL;
    TMI_TRY(e.status);
    for (size_t i = 0; i < q->count; i++) {
        model m = {0};
        status = make_model(&m, q, &q->targets[i].rank, err);
        double mean;
        if (status == TAMIS_OK) status = choose_polyplace(&q->smooth[i], &mean, &m, epsilon, err);
        if (status == TAMIS_OK && part) status = consider_laplace(&q->smooth[i], mean, &m, epsilon, part, err);
        tmi_free(m.values);
        TMI_TRY(status);
    }
done:
    tmi_exact_clear(&e);
    return status;
}

/* ---- rounding ---- */

/* A uniform number in [0, 1) and a sign, from the digits at hand. */
static void split_sign(tmi_ball *u, bool *negative, const tmi_uniform_bits *digits, long bits)
{
    *negative = digits->words[0] >> 63;
    tmi_uniform_ball(u, digits, bits);
    tmi_ball_mul_int(u, u, 2, bits + 64);
    if (*negative) tmi_ball_add_int(u, u, -1, bits + 64);
}

/* N in grid steps. */
static void noise_of(tmi_ball *n, const tmi_smooth *s, const tmi_ball *sensitivity, const tmi_uniform_bits *digits, long bits)
{
    tmi_ball u, scale;
    bool negative;
    tmi_ball_inits(&u, &scale, NULL);
    split_sign(&u, &negative, digits, bits);
    if (s->alpha) { /* -log(1 - u) */
        tmi_ball_neg(&u, &u);
        tmi_ball_log1p(n, &u, bits);
        tmi_ball_neg(n, n);
    } else tmi_polyplace_size(n, &u, s->shape, bits);
    tmi_ball_set_number(&scale, s->alpha ? s->alpha : s->beta, bits);
    tmi_ball_div(&scale, sensitivity, &scale, bits);
    tmi_ball_mul(n, n, &scale, bits);
    if (negative) tmi_ball_neg(n, n);
    tmi_ball_clears(&u, &scale, NULL);
}

/* The point low ... high that is nearest to centre + n; false if that is not certain. */
static bool round_to_grid(int64_t *point, const tmi_ball *n, int64_t centre, const tmi_grid *grid, long bits)
{
    const int64_t low = grid->low - centre, high = grid->high - centre;
    tmi_ball x, y, end;
    bool found = false;
    if (!tmi_ball_is_finite(n)) return false;
    tmi_ball_inits(&x, &y, &end, NULL);
    tmi_ball_set_int(&x, 1);
    tmi_ball_shift(&x, &x, -1);
    tmi_ball_add(&x, n, &x, bits);               /* its floor is the nearest point */
    const tamis_bound near = tmi_ball_bound(&x); /* a double may be too coarse: the candidates are compared exactly */
    const int64_t guess = (int64_t)fmin(fmax(floor(near.lower), (double)low), (double)high);
    for (int64_t i = guess; !found && i <= high && i < guess + 4; i++) {
        tmi_ball_set_int(&y, i);
        tmi_ball_set_int(&end, i + 1);
        found = (i == low || tmi_ball_is_at_most(&y, &x)) && (i == high || tmi_ball_is_less(&x, &end));
        if (found) *point = centre + i;
    }
    tmi_ball_clears(&x, &y, &end, NULL);
    return found;
}

static tamis_status try_to_find(int64_t *point, bool *certain, const tamis_quantile *q, size_t number,
                                const tmi_neighbourhood *around, long bits, tamis_error *err)
{
    tmi_ball sensitivity, n;
    tmi_ball_inits(&sensitivity, &n, NULL);
    const bool done = tmi_neighbourhood_sensitivity(&sensitivity, around, q->smooth[number].beta, bits);
    if (done) {
        noise_of(&n, &q->smooth[number], &sensitivity, &q->bits[number], bits);
        *certain = round_to_grid(point, &n, around->centre, &q->grid, bits);
    }
    tmi_ball_clears(&sensitivity, &n, NULL);
    return done ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status find(int64_t *point, tamis_quantile *q, size_t number, const tmi_records *records, tamis_rng *rng,
                         tamis_error *err)
{
    tmi_neighbourhood around;
    tamis_status status = tmi_neighbourhood_make(&around, q, number, records, err);
    bool certain = false;
    if (status != TAMIS_OK) return status;
    TMI_TRY(try_to_find(point, &certain, q, number, &around, BITS_FIRST, err));
    for (long bits = BITS_MORE; !certain; bits += 64) {
        TMI_TRY(try_to_find(point, &certain, q, number, &around, bits, err));
        if (!certain) TMI_TRY(tmi_uniform_more(&q->bits[number], rng, err));
    }
done:
    tmi_neighbourhood_clear(&around);
    return status;
}

/* Quantiles are in order, so answers that are not are put in order: that needs no data. */
tamis_status tmi_find_smooth(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < q->count && status == TAMIS_OK; i++) status = find(&points[i], q, i, records, rng, err);
    if (status == TAMIS_OK && !tmi_sort_points(points, NULL, q->count)) status = tmi_fail_memory(err);
    return status;
}
