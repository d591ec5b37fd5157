#include "mech/quantile/above.h"

#include <math.h>

#include "base/memory.h"
#include "num/exact.h"

#define GROWTH 100 /* a candidate is a hundredth further from the lower end than the one before */

size_t tmi_candidates(int64_t *list, const tmi_grid *grid)
{
    size_t count = 0;
    for (int64_t c = grid->low;; count++) {
        if (list) list[count] = c;
        if (c == grid->high) return count + 1;
        const int64_t step = (c - grid->low) / GROWTH, next = c + (step > 1 ? step : 1);
        c = next < grid->high ? next : grid->high;
    }
}

/* low + (high - low) i / count, rounded up: i = 1 ... count. */
void tmi_cuts(int64_t *list, size_t count, const tmi_grid *grid)
{
    const tmi_int128 range = grid->high - grid->low, steps = (tmi_int128)count;
    for (size_t i = 0; i < count; i++) list[i] = grid->low + (int64_t)((range * ((tmi_int128)i + 1) + steps - 1) / steps);
}

void tmi_above_clear(tamis_quantile *q)
{
    for (size_t i = 0; q->above && i < q->count; i++) {
        tmi_above *a = &q->above[i];
        if (a->noise) tmi_wipe(a->noise, (q->candidate_count + 1) * sizeof *a->noise);
        tmi_free(a->noise);
        tmi_number_frees(&a->rho_scale, &a->nu_scale, NULL);
        tamis_noise_free(a->rho);
        tamis_noise_free(a->nu);
    }
    tmi_free(q->above);
    tmi_free(q->candidates);
}

/* Half of epsilon for the threshold in the monotone case, a third in the classic one: both noises have the same scale. */
static tamis_status set_scales(tmi_above *a, const tamis_quantile *q, const tmi_rank *rank, bool complete, tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    const int64_t p = rank->p, d = rank->d;
    tamis_status status;
    a->monotone = complete && !q->add_remove && !q->weighted && q->rows > 0;
    tmi_term change = tmi_int(&e, !q->add_remove ? d : p > d - p ? p : d - p);
    tmi_term most = tmi_mul(&e, tmi_mul(&e, change, tmi_int(&e, q->rows_per_unit)), tmi_int(&e, q->most_weight));
    tmi_term own = tmi_div(&e, q->epsilon, tmi_int(&e, (int64_t)q->count));
    tmi_term scale = tmi_div(&e, tmi_mul(&e, most, tmi_int(&e, a->monotone ? 2 : 3)), own);
    TMI_TRY(e.status);
    TMI_TRY(tmi_number_copy(&a->rho_scale, scale, err));
    TMI_TRY(tmi_number_copy(&a->nu_scale, scale, err));
    TMI_TRY(tamis_noise_laplace_new(&a->rho, a->rho_scale, err));
    TMI_TRY(tamis_noise_laplace_new(&a->nu, a->nu_scale, err));
done:
    tmi_exact_clear(&e);
    return status;
}

#define CUTS 256 /* of HistogramMethod, unless somebody asks for others */

/* How many candidates there are. */
static tamis_status count_candidates(tamis_quantile *q, int64_t bins, tamis_error *err)
{
    const int64_t most = q->grid.high > q->grid.low ? q->grid.high - q->grid.low : 1;
    if (q->method == TAMIS_QUANTILE_THRESHOLD) q->candidate_count = tmi_candidates(NULL, &q->grid);
    else if (bins > most) return tmi_fail(err, TAMIS_INVALID, "bins: more than the grid has steps");
    else q->candidate_count = (size_t)(bins > 0 ? bins : most < CUTS ? most : CUTS);
    return TAMIS_OK;
}

tamis_status tmi_above_set(tamis_quantile *q, bool complete, int64_t bins, tamis_error *err)
{
    tamis_status status = count_candidates(q, bins, err);
    if (status != TAMIS_OK) return status;
    q->candidates = tmi_alloc(q->candidate_count, sizeof *q->candidates);
    q->above = tmi_alloc(q->count, sizeof *q->above);
    if (!q->candidates || !q->above) return tmi_fail_memory(err);
    if (q->method == TAMIS_QUANTILE_THRESHOLD) tmi_candidates(q->candidates, &q->grid);
    else tmi_cuts(q->candidates, q->candidate_count, &q->grid);
    for (size_t i = 0; i < q->count && status == TAMIS_OK; i++) {
        q->above[i].noise = tmi_alloc(q->candidate_count + 1, sizeof *q->above[i].noise);
        if (!q->above[i].noise) return tmi_fail_memory(err);
        q->above[i].two_sided = q->method == TAMIS_QUANTILE_HISTOGRAM;
        status = set_scales(&q->above[i], q, &q->targets[i].rank, complete, err);
    }
    return status;
}

/* A discrete Laplace variable that is not negative is geometric: P(k) proportional to exp(-k / scale). */
static tamis_status draw_geometric(int64_t *out, size_t count, const tamis_noise *laplace, tamis_rng *rng, tamis_error *err)
{
    size_t have = 0;
    tamis_status status = TAMIS_OK;
    while (have < count && status == TAMIS_OK) {
        status = tamis_noise_draw(out + have, count - have, laplace, rng, err);
        size_t kept = have;
        for (size_t i = have; status == TAMIS_OK && i < count; i++)
            if (out[i] >= 0) out[kept++] = out[i];
        have = kept;
    }
    return status;
}

tamis_status tmi_above_prepare(tamis_quantile *q, tamis_rng *rng, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (size_t i = 0; i < q->count; i++) {
        const tmi_above *a = &q->above[i];
        TMI_TRY((a->two_sided ? tamis_noise_draw : draw_geometric)(a->noise, 1, a->rho, rng, err));
        TMI_TRY((a->two_sided ? tamis_noise_draw : draw_geometric)(a->noise + 1, q->candidate_count, a->nu, rng, err));
    }
done:
    return status;
}

/* One-sided noise and many candidates bias the stop. With delta ranks from one candidate to the next near the quantile, some of
 * the last scale / delta candidates stops early, by about scale * log(scale / delta); the threshold's own noise delays it by
 * its mean. For delta we take that of a tail of index 2, as incomes have: (1 - q) n * 2 / 100. Whatever the shift, the promise
 * is the same. */
int64_t tmi_above_shift(const tmi_above *a, const tmi_rank *rank, int64_t n)
{
    const double d = (double)rank->d, q = (double)rank->p / d, nu = tmi_number_nearest(a->nu_scale) / d;
    const double delta = fmin(q, 1 - q) * (double)n * 2 / GROWTH;
    const double shift = nu * log(fmax(1, nu / fmax(delta, 1e-9))) - tmi_number_nearest(a->rho_scale) / d;
    return a->monotone && !a->two_sided ? (int64_t)llround(fmin(shift, 0x1p30) * d) : 0;
}

tamis_status tmi_find_above(int64_t *points, tamis_quantile *q, const tmi_records *records, tamis_error *err)
{
    tmi_rank_window w;
    tamis_status status = tmi_rank_window_make(&w, records, NULL, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < q->count; i++) {
        const tmi_above *a = &q->above[i];
        const tmi_rank *rank = &q->targets[i].rank;
        const tmi_int128 all = a->monotone ? (tmi_int128)q->rows : w.total; /* records may have been left out before */
        const tmi_int128 bar = (tmi_int128)rank->p * all + a->noise[0] + tmi_above_shift(a, rank, q->rows);
        tmi_int128 counted = 0;
        size_t k = 0, j = 0;
        for (; j + 1 < q->candidate_count; j++) {                 /* the last one is the answer if no other is */
            const int64_t end = q->candidates[j] + !a->two_sided; /* HistogramMethod leaves out those at the cut */
            for (; k < w.count && w.points[k] < end; k++) counted += w.weights[k];
            if (rank->d * counted + a->noise[1 + j] >= bar) break;
        }
        points[i] = q->candidates[j];
    }
    tmi_rank_window_clear(&w);
    return tmi_sort_points(points, NULL, q->count) ? TAMIS_OK : tmi_fail_memory(err);
}
