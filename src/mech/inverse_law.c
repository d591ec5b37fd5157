/* The law of the inverse sensitivity mechanism.
 *
 * The set where the smoothed length is at most j is [x_(m-j) - rho, x_(m+j) + rho] within [lo, hi]. These sets grow with j,
 * so the range falls into pieces on which the length, and with it the density, is constant: one in the middle (length 0),
 * and one on each side for each j.                                                                                   */
#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/mech.h>

#include "base/memory.h"
#include "num/ball.h"
#include "num/bound.h"
#include "num/exact.h"

#define MOST_VALUES ((size_t)1 << 20)

typedef struct piece {
    tmi_term from, to;
    size_t length;
} piece;

typedef struct law {
    piece *pieces; /* from lo to hi */
    size_t count, levels;
    const tamis_number *eps;
    const tamis_number *const *at;
    size_t at_count;
    tmi_exact e;
} law;

static int by_size(const void *x, const void *y)
{
    return tmi_number_compare(*(const tamis_number *const *)x, *(const tamis_number *const *)y);
}

static tamis_status check(const tamis_number *const *values, size_t n, int64_t rank, const tamis_number *lo,
                          const tamis_number *hi, const tamis_number *rho, const tamis_number *eps, tamis_error *err)
{
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (!lo) return tmi_fail(err, TAMIS_INVALID, "lo: NULL");
    if (!hi) return tmi_fail(err, TAMIS_INVALID, "hi: NULL");
    if (!rho) return tmi_fail(err, TAMIS_INVALID, "rho: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (n < 1 || n > MOST_VALUES) return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and %zu", MOST_VALUES);
    if (rank < 1 || (uint64_t)rank > n) return tmi_fail(err, TAMIS_INVALID, "rank: must be between 1 and n");
    if (tmi_number_compare(lo, hi) >= 0) return tmi_fail(err, TAMIS_INVALID, "lo: must be below hi");
    if (tmi_number_sign(rho) < 0) return tmi_fail(err, TAMIS_INVALID, "rho: must not be negative");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    for (size_t i = 0; i < n; i++) {
        if (!values[i]) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
        if (tmi_number_compare(values[i], lo) < 0 || tmi_number_compare(values[i], hi) > 0)
            return tmi_fail(err, TAMIS_INVALID, "values: all must be between lo and hi");
    }
    return TAMIS_OK;
}

/* Cuts the range: pieces[levels] is the middle, those of length j are j before and j behind it. */
static tamis_status cut(law *l, const tamis_number *const *values, size_t n, size_t m, const tamis_number *lo,
                        const tamis_number *hi, const tamis_number *rho, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tamis_number **sorted = tmi_alloc(n + 2, sizeof *sorted);
    l->levels = m > n + 1 - m ? m : n + 1 - m;
    l->count = 2 * l->levels + 1;
    l->pieces = tmi_alloc(l->count, sizeof *l->pieces);
    if (!sorted || !l->pieces) TMI_TRY(tmi_fail_memory(err));
    sorted[0] = lo;
    sorted[n + 1] = hi;
    for (size_t i = 0; i < n; i++) sorted[i + 1] = values[i];
    qsort(sorted + 1, n, sizeof *sorted, by_size);
    tmi_term left = NULL, right = NULL;
    for (size_t j = 0; j <= l->levels; j++) {
        tmi_term from = tmi_sub(&l->e, sorted[j < m ? m - j : 0], rho);
        tmi_term to = tmi_add(&l->e, sorted[m + j < n + 1 ? m + j : n + 1], rho);
        TMI_TRY(l->e.status);
        from = tmi_larger(from, lo);
        to = tmi_smaller(to, hi);
        if (j == 0) {
            l->pieces[l->levels] = (piece){from, to, 0};
        } else {
            l->pieces[l->levels - j] = (piece){from, left, j};
            l->pieces[l->levels + j] = (piece){right, to, j};
        }
        left = from;
        right = to;
    }
done:
    tmi_free(sorted);
    return status;
}

/* weight (to - from), with to cut at `end` unless it is NULL; as lengths, first and second moments. */
static void mass(tmi_ball *z, const piece *p, const tmi_ball *weight, const tamis_number *end, int moment, long bits)
{
    tmi_ball a, b, x;
    tmi_ball_inits(&a, &b, &x, NULL);
    tmi_ball_set_number(&a, p->from, bits);
    tmi_ball_set_number(&b, end && tmi_number_compare(end, p->to) < 0 ? end : p->to, bits);
    tmi_ball_sub(z, &b, &a, bits);
    tmi_ball_mul(z, z, weight, bits);
    if (moment == 1) {
        tmi_ball_add(&x, &a, &b, bits);
        tmi_ball_mul(z, z, &x, bits);
        tmi_ball_div_int(z, z, 2, bits);
    } else if (moment == 2) {
        tmi_ball_add(&x, &a, &b, bits);
        tmi_ball_mul(&x, &x, &x, bits);
        tmi_ball_mul(&a, &a, &b, bits);
        tmi_ball_sub(&x, &x, &a, bits); /* a^2 + a b + b^2 */
        tmi_ball_mul(z, z, &x, bits);
        tmi_ball_div_int(z, z, 3, bits);
    }
    tmi_ball_clears(&a, &b, &x, NULL);
}

/* log constant, mean, second moment, then the probabilities */
static tamis_status formulas(tmi_ball *values, const void *context, long bits, tamis_error *err)
{
    const law *l = context;
    tmi_ball eps, weight, total, x;
    (void)err;
    tmi_ball_inits(&eps, &weight, &total, &x, NULL);
    tmi_ball_set_number(&eps, l->eps, bits);
    for (size_t i = 0; i < 3 + l->at_count; i++) tmi_ball_set_int(&values[i], 0);
    for (size_t i = 0; i < l->count; i++) {
        const piece *p = &l->pieces[i];
        if (tmi_number_compare(p->from, p->to) >= 0) continue;
        tmi_ball_mul_int(&weight, &eps, -(int64_t)p->length, bits);
        tmi_ball_shift(&weight, &weight, -1);
        tmi_ball_exp(&weight, &weight, bits);
        mass(&x, p, &weight, NULL, 0, bits);
        tmi_ball_add(&total, &total, &x, bits);
        for (int moment = 1; moment <= 2; moment++) {
            mass(&x, p, &weight, NULL, moment, bits);
            tmi_ball_add(&values[moment], &values[moment], &x, bits);
        }
        for (size_t k = 0; k < l->at_count; k++) {
            if (tmi_number_compare(l->at[k], p->from) <= 0) continue;
            mass(&x, p, &weight, l->at[k], 0, bits);
            tmi_ball_add(&values[3 + k], &values[3 + k], &x, bits);
        }
    }
    tmi_ball_log(&values[0], &total, bits);
    for (size_t i = 1; i < 3 + l->at_count; i++) tmi_ball_div(&values[i], &values[i], &total, bits);
    tmi_ball_clears(&eps, &weight, &total, &x, NULL);
    return TAMIS_OK;
}

tamis_status tamis_inverse_law(tamis_inverse_moments *moments, tamis_bound *probabilities, const tamis_number *const *values,
                               size_t n, int64_t rank, const tamis_number *lo, const tamis_number *hi, const tamis_number *rho,
                               const tamis_number *eps, const tamis_number *const *at, size_t at_count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound *all = NULL;
    law l = {.eps = eps, .at = at, .at_count = at_count, .e = TMI_EXACT(err)};
    if (!moments) return tmi_fail(err, TAMIS_INVALID, "moments: NULL");
    *moments = (tamis_inverse_moments){TMI_BOUND_UNKNOWN, TMI_BOUND_UNKNOWN, TMI_BOUND_UNKNOWN};
    if (at_count > 0 && !probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    for (size_t k = 0; k < at_count; k++) probabilities[k] = (tamis_bound){0, 1};
    if (at_count > 0 && !at) return tmi_fail(err, TAMIS_INVALID, "at: NULL");
    for (size_t k = 0; k < at_count; k++)
        if (!at[k]) return tmi_fail(err, TAMIS_INVALID, "at: NULL");
    TMI_TRY(check(values, n, rank, lo, hi, rho, eps, err));
    TMI_TRY(cut(&l, values, n, (size_t)rank, lo, hi, rho, err));
    if (!(all = tmi_alloc(3 + at_count, sizeof *all))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_certify_list(all, 3 + at_count, TAMIS_WIDTH, formulas, &l, err));
    *moments = (tamis_inverse_moments){all[0], all[1], all[2]};
    for (size_t k = 0; k < at_count; k++) probabilities[k] = (tamis_bound){fmax(all[3 + k].lower, 0), fmin(all[3 + k].upper, 1)};
done:
    tmi_free(all);
    tmi_free(l.pieces);
    tmi_exact_clear(&l.e);
    return status;
}

/* ---- on a grid ---- */

typedef struct grid {
    int64_t *points; /* how many of each length */
    size_t levels;   /* lengths are 0, ..., levels */
    const tamis_number *eps;
} grid;

static tamis_status shares(tmi_ball *values, const void *context, long bits, tamis_error *err)
{
    const grid *g = context;
    tmi_ball total, x;
    (void)err;
    tmi_ball_inits(&total, &x, NULL);
    for (size_t j = 0; j <= g->levels; j++) {
        tmi_ball_set_number(&x, g->eps, bits);
        tmi_ball_mul_int(&x, &x, -(int64_t)j, bits);
        tmi_ball_shift(&x, &x, -1);
        tmi_ball_exp(&values[j], &x, bits);
        tmi_ball_mul_int(&x, &values[j], g->points[j], bits);
        tmi_ball_add(&total, &total, &x, bits);
    }
    for (size_t j = 0; j <= g->levels; j++) tmi_ball_div(&values[j], &values[j], &total, bits);
    tmi_ball_clears(&total, &x, NULL);
    return TAMIS_OK;
}

static int64_t larger_of(int64_t x, int64_t y) { return x > y ? x : y; }

/* len(t) = max(0, #{x < t} - m + 1, m - #{x <= t}), from the numbers of values at each point. */
static void measure(int64_t *lengths, grid *g, const int64_t *at_point, size_t size, int64_t m)
{
    int64_t below = 0;
    for (size_t i = 0; i < size; i++) {
        const int64_t up_to = below + at_point[i];
        lengths[i] = larger_of(0, larger_of(below - m + 1, m - up_to));
        g->points[lengths[i]]++;
        if ((size_t)lengths[i] > g->levels) g->levels = (size_t)lengths[i];
        below = up_to;
    }
}

tamis_status tamis_inverse_grid_law(tamis_bound *probabilities, int64_t *lengths, const int64_t *values, size_t n, int64_t rank,
                                    int64_t lo, int64_t hi, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t *at_point = NULL;
    tamis_bound *share = NULL;
    grid g = {.eps = eps};
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    if (!lengths) return tmi_fail(err, TAMIS_INVALID, "lengths: NULL");
    if (hi < lo || (uint64_t)hi - (uint64_t)lo >= TAMIS_MAX_GRID)
        return tmi_fail(err, TAMIS_INVALID, "hi: must be from lo to lo + %d", TAMIS_MAX_GRID - 1);
    const size_t size = (size_t)((uint64_t)hi - (uint64_t)lo) + 1;
    for (size_t i = 0; i < size; i++) {
        probabilities[i] = (tamis_bound){0, 1};
        lengths[i] = 0;
    }
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (n < 1 || n > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and 2^40");
    if (rank < 1 || (uint64_t)rank > n) return tmi_fail(err, TAMIS_INVALID, "rank: must be between 1 and n");
    if (tmi_number_sign(eps) < 0) return tmi_fail(err, TAMIS_INVALID, "eps: must not be negative");
    at_point = tmi_alloc(size, sizeof *at_point);
    g.points = tmi_alloc(n + 1, sizeof *g.points);
    if (!at_point || !g.points) TMI_TRY(tmi_fail_memory(err));
    for (size_t i = 0; i < n; i++) {
        if (values[i] < lo || values[i] > hi) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "values: all must be between lo and hi"));
        at_point[(uint64_t)values[i] - (uint64_t)lo]++;
    }
    measure(lengths, &g, at_point, size, rank);
    if (!(share = tmi_alloc(g.levels + 1, sizeof *share))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_certify_list(share, g.levels + 1, TAMIS_WIDTH, shares, &g, err));
    for (size_t i = 0; i < size; i++)
        probabilities[i] = (tamis_bound){fmax(share[lengths[i]].lower, 0), fmin(share[lengths[i]].upper, 1)};
done:
    for (size_t i = 0; status != TAMIS_OK && i < size; i++) lengths[i] = 0;
    tmi_free(at_point);
    tmi_free(g.points);
    tmi_free(share);
    return status;
}
