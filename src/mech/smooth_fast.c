/* Smooth sensitivity of an order statistic of doubles: an upper bound that holds on this computer.
 *
 * With u_a = x_(m) - x_(m-a) and v_b = x_(m+b) - x_(m), both >= 0 and growing, S is the largest (u_a + v_b) r_(a+b-1) over
 * a, b >= 0 with a + b >= 1, where r_k = e^(-beta k). Row a asks for the b that maximises G(a, b) = (u_a + v_b) r_b. For rows
 * a < c the difference G(c, b) - G(a, b) = (u_c - u_a) r_b falls in b, so the best b does not grow with a: divide and conquer
 * finds all rows' maxima with O(K log K) evaluations.
 *
 * Rounding. The argument needs of r only that it falls, so it holds for upper bounds r' >= r that fall, and S is at most
 * S' = max of G'(a, b) r'_(a-1), and of v_b r'_(b-1) in row 0, which is searched completely. G' is evaluated in extended
 * precision within a share h of itself (SHARE). If a middle row c settles on b' that way, then for every other row a and
 * each b on the side that is given up, G'(a, b) <= G'(a, b') + h G'(c, b'), and G' <= hi - lo. So each level of the
 * recursion adds at most h (hi - lo) to the error, and r'_(a-1) <= 1 does not enlarge it.
 *
 * Only a, b <= K are looked at. All other pairs are at most (hi - lo) r_K; K grows until that is below what was found. */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "mech/smooth_order.h"
#include "num/ball.h"

_Static_assert(LDBL_MANT_DIG >= 53, "long double is at least a double");
#define SHARE (32 * LDBL_EPSILON) /* more than the roundings of one term add up to */

#define FIRST_REACH 256

typedef struct search {
    size_t left, right; /* a <= left, b <= right */
    long double *u, *v, *r;
    double *x; /* the order statistics around the rank */
    long double best;
    int levels;
} search;

static void search_clear(search *s)
{
    tmi_free(s->u);
    tmi_free(s->v);
    tmi_free(s->r);
    tmi_free(s->x);
}

/* e^-beta, rounded up. */
static long double ratio_up(double beta)
{
    tmi_ball q, head;
    tmi_ball_inits(&q, &head, NULL);
    tmi_ball_set_double(&q, -beta);
    tmi_ball_exp(&q, &q, 128);
    const double lower = tmi_ball_bound(&q).lower;
    tmi_ball_set_double(&head, lower);
    tmi_ball_sub(&q, &q, &head, 128);
    const long double up = ((long double)lower + (long double)tmi_ball_bound(&q).upper) * (1 + 2 * LDBL_EPSILON);
    tmi_ball_clears(&q, &head, NULL);
    return fminl(up, 1);
}

static long double at(const search *s, size_t a, size_t b) { return (s->u[a] + s->v[b]) * s->r[b]; }

/* Rows first..last, whose best columns are in from..to. */
static void rows(search *s, size_t first, size_t last, size_t from, size_t to, int level)
{
    if (level > s->levels) s->levels = level;
    while (first <= last) {
        const size_t middle = first + (last - first) / 2;
        size_t best = from;
        long double value = at(s, middle, from);
        for (size_t b = from + 1; b <= to; b++) {
            const long double other = at(s, middle, b);
            if (other > value) {
                value = other;
                best = b;
            }
        }
        s->best = fmaxl(s->best, value * s->r[middle - 1]);
        if (middle > first) rows(s, first, middle - 1, best, to, level + 1);
        first = middle + 1;
        to = best;
        level++;
        if (level > s->levels) s->levels = level;
    }
}

static tamis_status look(search *s, tmi_ranks *order, size_t rank, size_t reach, long double ratio, tamis_error *err)
{
    const size_t left = reach < rank ? reach : rank, right = reach < order->n + 1 - rank ? reach : order->n + 1 - rank;
    search_clear(s);
    *s = (search){.left = left, .right = right};
    const size_t most = left > right ? left : right, from = rank - left, to = rank + right; /* 0 and n + 1 are the ends */
    s->u = tmi_alloc(left + 1, sizeof *s->u);
    s->v = tmi_alloc(right + 1, sizeof *s->v);
    s->r = tmi_alloc(most + 1, sizeof *s->r);
    s->x = tmi_alloc(to - from + 1, sizeof *s->x);
    if (!s->u || !s->v || !s->r || !s->x) return tmi_fail_memory(err);

    s->x[0] = order->lo;
    s->x[to - from] = order->hi;
    const size_t inner = from > 0 ? from : 1, outer = to <= order->n ? to : order->n;
    tmi_ranks_get(s->x + (inner - from), order, inner, outer);
    const long double middle = s->x[left];
    for (size_t a = 0; a <= left; a++) s->u[a] = middle - s->x[left - a];
    for (size_t b = 0; b <= right; b++) s->v[b] = s->x[left + b] - middle;
    s->r[0] = 1;
    for (size_t k = 0; k < most; k++)
        s->r[k + 1] = fminl(s->r[k], s->r[k] * ratio * (1 + 4 * LDBL_EPSILON) + LDBL_MIN); /* LDBL_MIN: underflow */

    for (size_t b = 1; b <= right; b++) s->best = fmaxl(s->best, s->v[b] * s->r[b - 1]);
    rows(s, 1, left, 0, right, 1);
    return TAMIS_OK;
}

static double up(long double x)
{
    const double y = (double)x;
    return (long double)y < x ? nextafter(y, INFINITY) : y;
}

tamis_status tamis_smooth_sensitivity_up(double *sensitivity, const double *values, size_t n, int64_t rank, double lo, double hi,
                                         double beta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ranks order = {0};
    search s = {0};
    if (!sensitivity) return tmi_fail(err, TAMIS_INVALID, "sensitivity: NULL");
    *sensitivity = INFINITY;
    if (!values) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    if (n < 1 || n > TAMIS_MAX_UNITS) return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and 2^40");
    if (rank < 1 || (uint64_t)rank > n) return tmi_fail(err, TAMIS_INVALID, "rank: must be between 1 and n");
    if (!isfinite(lo)) return tmi_fail(err, TAMIS_INVALID, "lo: must be finite: smooth sensitivity needs a declared range");
    if (!isfinite(hi)) return tmi_fail(err, TAMIS_INVALID, "hi: must be finite: smooth sensitivity needs a declared range");
    if (hi < lo || !isfinite(hi - lo))
        return tmi_fail(err, TAMIS_INVALID, "hi: must not be below lo, nor infinitely far from it");
    if (!isfinite(beta) || beta < 0) return tmi_fail(err, TAMIS_INVALID, "beta: must be finite and not negative");

    const long double range = (long double)hi - (long double)lo, ratio = ratio_up(beta);
    const size_t whole = n + 1;
    size_t reach = FIRST_REACH < whole ? FIRST_REACH : whole;
    long double outside = 0;
    TMI_TRY(tmi_ranks_init(&order, values, n, lo, hi, err));
    for (;;) {
        TMI_TRY(look(&s, &order, (size_t)rank, reach, ratio, err));
        const bool all = s.left == (size_t)rank && s.right == whole - (size_t)rank;
        outside = all ? 0 : range * s.r[reach];
        if (outside <= s.best) break;
        long double needed = s.best > 0 && beta > 0 ? logl(range / s.best) / (long double)beta + 2 : (long double)whole;
        size_t next = reach < whole / 4 ? 4 * reach : whole;
        if (needed < (long double)next) next = (size_t)needed;
        reach = next > reach ? next : reach + 1;
    }
    const long double found = fmaxl(s.best, outside) * (1 + 2 * SHARE) + SHARE * (long double)(s.levels + 1) * range;
    *sensitivity = up(fminl(found, range * (1 + SHARE))); /* 0 if lo = hi */
done:
    search_clear(&s);
    tmi_ranks_clear(&order);
    return status;
}
