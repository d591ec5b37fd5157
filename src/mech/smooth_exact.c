/* Smooth sensitivity from exact values, enclosed. smooth_fast.c explains the search; here the terms are balls.
 *
 * A column replaces the best one of a row only if it is certainly larger. With r_b known to a share 2^-(bits-22) for b up to
 * 2^20, no column that is passed over exceeds the best one by more than a share 2^-(bits-26) of it, and a level of the
 * recursion costs at most that share of hi - lo. There are at most 21 levels, so the maximum of all terms is too small by at
 * most (hi - lo) 2^-(bits-31), which is added to its upper end.                                                          */
#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "num/ball.h"
#include "num/bound.h"
#include "num/number.h"

#define MOST_VALUES ((size_t)1 << 20)

/* u[a] = x_(m) - x_(m-a), v[b] = x_(m+b) - x_(m) */
typedef struct data {
    const tamis_number **sorted; /* x_(0) = lo, ..., x_(n+1) = hi */
    tamis_number **u, **v;
    size_t left, right; /* a <= left, b <= right */
    const tamis_number *beta;
} data;

typedef struct search {
    tmi_ball *u, *v, *r;
    tmi_ball top, sum, term, best;
    long bits;
} search;

static int by_size(const void *x, const void *y)
{
    return tmi_number_compare(*(const tamis_number *const *)x, *(const tamis_number *const *)y);
}

static tamis_status check(const tamis_number *const *values, size_t n, int64_t rank, const tamis_number *lo,
                          const tamis_number *hi, tamis_error *err)
{
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (!lo) return tmi_fail(err, TAMIS_INVALID, "lo: NULL");
    if (!hi) return tmi_fail(err, TAMIS_INVALID, "hi: NULL");
    if (n < 1 || n > MOST_VALUES) return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and %zu", MOST_VALUES);
    if (rank < 1 || (uint64_t)rank > n) return tmi_fail(err, TAMIS_INVALID, "rank: must be between 1 and n");
    if (tmi_number_compare(hi, lo) < 0) return tmi_fail(err, TAMIS_INVALID, "hi: must not be below lo");
    for (size_t i = 0; i < n; i++) {
        if (!values[i]) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
        if (tmi_number_compare(values[i], lo) < 0 || tmi_number_compare(values[i], hi) > 0)
            return tmi_fail(err, TAMIS_INVALID, "values: all must be between lo and hi");
    }
    return TAMIS_OK;
}

static void data_clear(data *d)
{
    for (size_t a = 0; d->u && a <= d->left; a++) tamis_number_free(d->u[a]);
    for (size_t b = 0; d->v && b <= d->right; b++) tamis_number_free(d->v[b]);
    tmi_free(d->u);
    tmi_free(d->v);
    tmi_free(d->sorted);
}

static tamis_status data_init(data *d, const tamis_number *const *values, size_t n, int64_t rank, const tamis_number *lo,
                              const tamis_number *hi, tamis_error *err)
{
    const size_t m = (size_t)rank;
    d->left = m;
    d->right = n + 1 - m;
    d->sorted = tmi_alloc(n + 2, sizeof *d->sorted);
    d->u = tmi_alloc(d->left + 1, sizeof *d->u);
    d->v = tmi_alloc(d->right + 1, sizeof *d->v);
    if (!d->sorted || !d->u || !d->v) return tmi_fail_memory(err);
    d->sorted[0] = lo;
    d->sorted[n + 1] = hi;
    for (size_t i = 0; i < n; i++) d->sorted[i + 1] = values[i];
    qsort(d->sorted + 1, n, sizeof *d->sorted, by_size);
    for (size_t a = 0; a <= d->left; a++) {
        tamis_status status = tmi_number_sub(&d->u[a], d->sorted[m], d->sorted[m - a], err);
        if (status != TAMIS_OK) return status;
    }
    for (size_t b = 0; b <= d->right; b++) {
        tamis_status status = tmi_number_sub(&d->v[b], d->sorted[m + b], d->sorted[m], err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

static void term_of(search *s, size_t a, size_t b)
{
    tmi_ball_add(&s->sum, &s->u[a], &s->v[b], s->bits);
    tmi_ball_mul(&s->term, &s->sum, &s->r[b], s->bits);
}

/* Rows first..last, whose best columns are in from..to. */
static void rows(search *s, size_t first, size_t last, size_t from, size_t to)
{
    while (first <= last) {
        const size_t middle = first + (last - first) / 2;
        size_t best = from;
        term_of(s, middle, from);
        tmi_ball_set(&s->best, &s->term);
        for (size_t b = from + 1; b <= to; b++) {
            term_of(s, middle, b);
            if (!tmi_ball_is_less(&s->best, &s->term)) continue;
            tmi_ball_set(&s->best, &s->term);
            best = b;
        }
        tmi_ball_mul(&s->best, &s->best, &s->r[middle - 1], s->bits);
        tmi_ball_max(&s->top, &s->top, &s->best, s->bits);
        if (middle > first) rows(s, first, middle - 1, best, to);
        first = middle + 1;
        to = best;
    }
}

static tamis_status formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const data *d = context;
    const size_t most = d->left > d->right ? d->left : d->right;
    search s = {.bits = bits};
    s.u = tmi_balls_new(d->left + 1);
    s.v = tmi_balls_new(d->right + 1);
    s.r = tmi_balls_new(most + 1);
    tmi_ball_inits(&s.top, &s.sum, &s.term, &s.best, NULL);
    if (s.u && s.v && s.r) {
        for (size_t a = 0; a <= d->left; a++) tmi_ball_set_number(&s.u[a], d->u[a], bits);
        for (size_t b = 0; b <= d->right; b++) tmi_ball_set_number(&s.v[b], d->v[b], bits);
        tmi_ball_set_number(&s.term, d->beta, bits);
        tmi_ball_neg(&s.term, &s.term);
        tmi_ball_exp(&s.term, &s.term, bits);
        tmi_ball_set_int(&s.r[0], 1);
        for (size_t k = 0; k < most; k++) tmi_ball_mul(&s.r[k + 1], &s.r[k], &s.term, bits);

        for (size_t b = 1; b <= d->right; b++) { /* row 0 */
            tmi_ball_mul(&s.term, &s.v[b], &s.r[b - 1], bits);
            tmi_ball_max(&s.top, &s.top, &s.term, bits);
        }
        rows(&s, 1, d->left, 0, d->right);
        tmi_ball_add(&s.sum, &s.u[d->left], &s.v[d->right], bits); /* hi - lo */
        tmi_ball_shift(&s.sum, &s.sum, 31 - bits);
        tmi_ball_add(&s.sum, &s.sum, &s.top, bits);
        tmi_ball_union(value, &s.top, &s.sum, bits);
    }
    const bool missing = !s.u || !s.v || !s.r;
    tmi_balls_free(s.u, d->left + 1);
    tmi_balls_free(s.v, d->right + 1);
    tmi_balls_free(s.r, most + 1);
    tmi_ball_clears(&s.top, &s.sum, &s.term, &s.best, NULL);
    return missing ? tmi_fail_memory(err) : TAMIS_OK;
}

tamis_status tamis_smooth_sensitivity(tamis_bound *sensitivity, const tamis_number *const *values, size_t n, int64_t rank,
                                      const tamis_number *lo, const tamis_number *hi, const tamis_number *beta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound bound = {0, 0};
    data d = {.beta = beta};
    if (!sensitivity) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    *sensitivity = (tamis_bound){0, INFINITY};
    TMI_TRY(check(values, n, rank, lo, hi, err));
    if (!beta) return tmi_fail(err, TAMIS_INVALID, "beta: NULL");
    if (tmi_number_sign(beta) < 0) return tmi_fail(err, TAMIS_INVALID, "beta: must not be negative");
    TMI_TRY(data_init(&d, values, n, rank, lo, hi, err));
    TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, formula, &d, err));
    *sensitivity = (tamis_bound){fmax(bound.lower, 0), bound.upper};
done:
    data_clear(&d);
    return status;
}

tamis_status tamis_local_sensitivity(tamis_bound *sensitivity, const tamis_number *const *values, size_t n, int64_t rank,
                                     const tamis_number *lo, const tamis_number *hi, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    data d = {0};
    if (!sensitivity) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    *sensitivity = (tamis_bound){0, INFINITY};
    TMI_TRY(check(values, n, rank, lo, hi, err));
    TMI_TRY(data_init(&d, values, n, rank, lo, hi, err));
    *sensitivity = tmi_number_bound(tmi_number_compare(d.u[1], d.v[1]) > 0 ? d.u[1] : d.v[1]);
done:
    data_clear(&d);
    return status;
}
