#include "composition/lattice_masses.h"

#include <math.h>

#include "base/memory.h"

#define BITS TMI_DOTS_BITS

/* Powers are multiplied up from one that was computed afresh, this many in a row. */
#define AFRESH 64

/* Bits that are enough for a height that is taken off with its radius. */
#define ROUGH 64

/* Below this, delta of one release does not matter beside any delta that is asked for. */
#define NEGLIGIBLE 1e-42

/* A factor that takes the last bits off a polyline from below, so that the check is passed in spite of rounding. */
#define SHAVED (1 - 0x1p-44)

static tamis_status upper_at(double *delta, tmi_evaluator *evaluator, double eps, tamis_error *err)
{
    tmi_ball at, lower, upper;
    tmi_ball_inits(&at, &lower, &upper, NULL);
    tmi_ball_set_double(&at, eps);
    tamis_status status = evaluator->delta(&lower, &upper, evaluator->self, &at, BITS, err);
    if (status == TAMIS_OK) *delta = tmi_ball_bound(&upper).upper;
    tmi_ball_clears(&at, &lower, &upper, NULL);
    return status;
}

tamis_status tmi_lattice_masses_reach(double *reach, tmi_evaluator *evaluator, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    double far = 0, delta, lo = 0, hi = 0x1p-20;
    TMI_TRY(upper_at(&far, evaluator, TAMIS_MAX_LOSS, err));
    for (;; lo = hi, hi *= 2) {
        TMI_TRY(upper_at(&delta, evaluator, hi, err));
        if (delta <= far * (1 + 1e-9) + NEGLIGIBLE || hi > 1e5) break;
    }
    for (int i = 0; i < 12; i++) {
        double mid = (lo + hi) / 2;
        TMI_TRY(upper_at(&delta, evaluator, mid, err));
        if (delta <= far * (1 + 1e-9) + NEGLIGIBLE) hi = mid;
        else lo = mid;
    }
    *reach = hi;
done:
    return status;
}

/* ---- powers of e^h ---- */

static void free_powers(tmi_ball *list, size_t count)
{
    for (size_t j = 0; list && j < count; j++) tmi_ball_clear(&list[j]);
    tmi_free(list);
}

void tmi_powers_clear(tmi_powers *p)
{
    free_powers(p->up, p->count);
    free_powers(p->down, p->count);
    tmi_ball_clears(&p->h, &p->step, &p->inverse, NULL);
    *p = (tmi_powers){0};
}

/* list = e^0, e^x, e^2x, ... with x = h or x = -h */
static tamis_status multiply_up(tmi_ball **list, size_t count, const tmi_ball *h, int sign, tamis_error *err)
{
    tmi_ball ratio, at;
    if (!(*list = tmi_alloc(count, sizeof **list))) return tmi_fail_memory(err); /* zeroed balls are balls */
    tmi_ball_init(&ratio);
    tmi_ball_init(&at);
    tmi_ball_mul_int(&at, h, sign, BITS);
    tmi_ball_exp(&ratio, &at, BITS);
    for (size_t j = 0; j < count; j++) {
        if (j % AFRESH == 0) {
            tmi_ball_mul_int(&at, h, sign * (int64_t)j, BITS);
            tmi_ball_exp(&(*list)[j], &at, BITS);
        } else {
            tmi_ball_mul(&(*list)[j], &(*list)[j - 1], &ratio, BITS);
        }
    }
    tmi_ball_clears(&ratio, &at, NULL);
    return TAMIS_OK;
}

tamis_status tmi_powers_new(tmi_powers *p, const tmi_ball *h, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball one;
    *p = (tmi_powers){.count = count};
    tmi_ball_inits(&one, &p->h, &p->step, &p->inverse, NULL);
    tmi_ball_set(&p->h, h);
    tmi_ball_expm1(&p->step, h, BITS);
    tmi_ball_set_int(&one, 1);
    tmi_ball_div(&p->inverse, &one, &p->step, BITS);
    TMI_TRY(multiply_up(&p->up, count, h, 1, err));
    TMI_TRY(multiply_up(&p->down, count, h, -1, err));
done:
    tmi_ball_clear(&one);
    if (status != TAMIS_OK) tmi_powers_clear(p);
    return status;
}

/* ---- the masses ---- */

/* Arrays over the knots j = -J ... J, index i = j + J. */
typedef struct knots {
    size_t count;
    const tmi_powers *powers;
    tmi_ball *low, *high; /* enclosures of both ends of H at the knots */
    tmi_ball *q, *v;      /* masses from above, masses from below */
    tmi_ball limit;       /* H at infinity, from below */
} knots;

static void free_knots(knots *k)
{
    tmi_ball *all[] = {k->low, k->high, k->q, k->v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free_powers(all[i], k->count);
    tmi_ball_clear(&k->limit);
}

static tamis_status new_knots(knots *k, const tmi_powers *powers, size_t half, tamis_error *err)
{
    *k = (knots){.count = 2 * half + 1, .powers = powers};
    tmi_ball_init(&k->limit);
    tmi_ball **all[] = {&k->low, &k->high, &k->q, &k->v};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = tmi_alloc(k->count, sizeof **all[i]))) return tmi_fail_memory(err); /* zeroed balls are balls */
    return TAMIS_OK;
}

/* e^jh at the knot i, and e^-jh */
static const tmi_ball *at_knot(const knots *k, size_t i)
{
    size_t J = k->count / 2;
    return i >= J ? &k->powers->up[i - J] : &k->powers->down[J - i];
}

static const tmi_ball *inverse_at(const knots *k, size_t i) { return at_knot(k, k->count - 1 - i); }

/* z = 1 - (1 - y) b, the profile at b = 1/a */
static void mirrored(tmi_ball *z, const tmi_ball *y, const tmi_ball *b)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_neg(&x, y);
    tmi_ball_add_int(&x, &x, 1, BITS);
    tmi_ball_mul(&x, &x, b, BITS);
    tmi_ball_neg(&x, &x);
    tmi_ball_add_int(z, &x, 1, BITS);
    tmi_ball_clear(&x);
}

static tamis_status place_dots(knots *k, tmi_evaluator *evaluator, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t J = k->count / 2;
    tmi_ball at, upper;
    tmi_ball_inits(&at, &upper, NULL);
    for (size_t j = 0; j <= J; j++) {
        tmi_ball_mul_int(&at, &k->powers->h, (int64_t)j, BITS);
        TMI_TRY(evaluator->delta(&k->low[J + j], &k->high[J + j], evaluator->self, &at, BITS, err));
        if (!tmi_ball_is_finite(&k->low[J + j]) || !tmi_ball_is_finite(&k->high[J + j]))
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the profile of a release could not be enclosed"));
        mirrored(&k->low[J - j], &k->low[J + j], &k->powers->down[j]);
        mirrored(&k->high[J - j], &k->high[J + j], &k->powers->down[j]);
    }
    tmi_ball_set_double(&at, TAMIS_MAX_LOSS);
    TMI_TRY(evaluator->delta(&k->limit, &upper, evaluator->self, &at, BITS, err));
    if (!tmi_ball_is_finite(&k->limit)) tmi_ball_set_int(&k->limit, 0);
    tmi_ball_lower(&k->limit, &k->limit, BITS);
done:
    tmi_ball_clears(&at, &upper, NULL);
    return status;
}

/* Slope of the segment before knot i (from a = 0 and delta = 1 for the first one), downwards; 0 after the last. Knots
 * i - 1 and i are e^(jh) (e^h - 1) apart. */
static void slope(tmi_ball *z, const knots *k, const tmi_ball *y, size_t i)
{
    if (i == k->count) {
        tmi_ball_set_int(z, 0);
    } else if (i == 0) {
        tmi_ball_neg(z, &y[0]);
        tmi_ball_add_int(z, z, 1, BITS);
        tmi_ball_mul(z, z, inverse_at(k, 0), BITS);
    } else {
        tmi_ball_sub(z, &y[i - 1], &y[i], BITS);
        tmi_ball_mul(z, z, inverse_at(k, i - 1), BITS);
        tmi_ball_mul(z, z, &k->powers->inverse, BITS);
    }
}

/* q_i >= 0: the bend of the polyline at each knot. */
static void bends(tmi_ball *q, const knots *k, const tmi_ball *y)
{
    tmi_ball before, after, zero;
    tmi_ball_inits(&before, &after, &zero, NULL);
    slope(&before, k, y, 0);
    for (size_t i = 0; i < k->count; i++) {
        slope(&after, k, y, i + 1);
        tmi_ball_sub(&q[i], &before, &after, BITS);
        tmi_ball_max(&q[i], &q[i], &zero, BITS);
        tmi_ball_set(&before, &after);
    }
    tmi_ball_clears(&before, &after, &zero, NULL);
}

/* The height of the triangle over the segment after knot i. */
static void triangle(tmi_ball *z, const knots *k, const tmi_ball *q, size_t i)
{
    tmi_ball x, sum;
    tmi_ball_inits(&x, &sum, NULL);
    tmi_ball_set_int(z, 0);
    if (i + 1 < k->count && !tmi_ball_is_zero(&q[i]) && !tmi_ball_is_zero(&q[i + 1])) {
        tmi_ball_add(&sum, &q[i], &q[i + 1], ROUGH);
        tmi_ball_mul(&x, &q[i], &q[i + 1], ROUGH);
        tmi_ball_div(&x, &x, &sum, ROUGH);
        if (!tmi_ball_is_finite(&x)) tmi_ball_set(&x, &q[i]); /* both may be 0: the smaller one bounds it */
        tmi_ball_mul(&x, &x, at_knot(k, i), ROUGH);
        tmi_ball_mul(z, &x, &k->powers->step, ROUGH);
    }
    tmi_ball_clears(&x, &sum, NULL);
}

static void statistics(tmi_lattice_masses *d)
{
    double total = 0, sum = 0, squares = 0;
    tmi_ball mass;
    tmi_ball_init(&mass);
    for (size_t i = 0; i < d->masses.count; i++) {
        tmi_masses_get(&mass, &d->masses, i);
        double p = tmi_ball_bound(&mass).upper, x = (double)(d->masses.first + (int64_t)i);
        total += p;
        sum += p * x;
        squares += p * x * x;
    }
    tmi_ball_clear(&mass);
    d->mean = total > 0 ? sum / total : 0;
    d->variance = total > 0 ? fmax(squares / total - d->mean * d->mean, 0) : 0;
}

/* masses = a q */
static tamis_status set_masses(tmi_lattice_masses *d, const knots *k, const tmi_ball *q, size_t end, bool up, tamis_error *err)
{
    int64_t first = -(int64_t)(k->count / 2);
    tamis_status status = tmi_masses_new(&d->masses, first, k->count, err);
    if (status != TAMIS_OK) return status;
    tmi_ball p;
    tmi_ball_init(&p);
    for (size_t i = 0; i < end; i++) {
        tmi_ball_mul(&p, &q[i], at_knot(k, i), BITS);
        tmi_masses_set(&d->masses, i, &p, up);
    }
    tmi_ball_clear(&p);
    d->reach = (double)(k->count / 2);
    statistics(d);
    return TAMIS_OK;
}

/* ---- from below ---- */

/* Whether the knot y lies on or above the line from x to z, judging by the midpoints. */
static bool is_above(const knots *k, size_t x, size_t y, size_t z)
{
    tmi_ball u, w, du, dw;
    tmi_ball_inits(&u, &w, &du, &dw, NULL);
    tmi_ball_sub(&u, &k->v[y], &k->v[x], BITS);
    tmi_ball_sub(&du, at_knot(k, z), at_knot(k, x), BITS);
    tmi_ball_mul(&u, &u, &du, BITS);
    tmi_ball_sub(&w, &k->v[z], &k->v[x], BITS);
    tmi_ball_sub(&dw, at_knot(k, y), at_knot(k, x), BITS);
    tmi_ball_mul(&w, &w, &dw, BITS);
    bool below = tmi_ball_is_less(&u, &w);
    tmi_ball_clears(&u, &w, &du, &dw, NULL);
    return !below;
}

/* v = masses lowered by the triangles, above the limit; gives the number of knots up to the one that is put at 0. Where all
 * losses are at knots H is the polyline itself, and there is nothing to take off. */
static size_t lower_dots(knots *k, bool atoms)
{
    tmi_ball x, y, before;
    tmi_ball_inits(&x, &y, &before, NULL);
    bends(k->q, k, k->low);
    size_t end = 0;
    for (size_t i = 0; i < k->count; i++) {
        if (!atoms) triangle(&x, k, k->q, i);
        tmi_ball_max(&y, &x, &before, ROUGH);
        tmi_ball_set(&before, &x);
        tmi_ball_sub(&k->v[i], &k->low[i], &y, BITS);
        tmi_ball_sub(&k->v[i], &k->v[i], &k->limit, BITS);
        if (i == 0) { /* 1 - a */
            tmi_ball_neg(&y, at_knot(k, 0));
            tmi_ball_add_int(&y, &y, 1, BITS);
            tmi_ball_sub(&y, &y, &k->limit, BITS);
            tmi_ball_min(&k->v[0], &k->v[0], &y, BITS);
        }
        tmi_ball_lower(&k->v[i], &k->v[i], BITS);             /* exact from here on */
        if (atoms || tmi_ball_is_positive(&k->v[i])) end = i; /* after it H may be the limit, and is not less */
        if (!tmi_ball_is_positive(&k->v[i])) break;
    }
    if (end > 0) tmi_ball_set_int(&k->v[end], 0);
    for (size_t i = 1; i <= end; i++) { /* the first dot is so low that no line from it falls by more than 1 */
        tmi_ball_add(&x, &k->v[i], at_knot(k, i), BITS);
        tmi_ball_sub(&x, &x, at_knot(k, 0), BITS);
        tmi_ball_min(&k->v[0], &k->v[0], &x, BITS);
    }
    tmi_ball_lower(&k->v[0], &k->v[0], BITS);
    tmi_ball_clears(&x, &y, &before, NULL);
    return end + 1;
}

/* Certain: limit + the polyline of the q lies below every dot, and the q add up to at most 1. */
static bool is_below(const knots *k, size_t end, const tmi_ball *q)
{
    tmi_ball sum, g, x;
    bool fine = true;
    tmi_ball_inits(&sum, &g, &x, NULL);
    for (size_t i = end; i-- > 0 && fine;) { /* g = polyline at knot i, sum = the q beyond it */
        if (i + 1 < end) {
            tmi_ball_mul(&x, at_knot(k, i), &k->powers->step, BITS);
            tmi_ball_mul(&x, &x, &sum, BITS);
            tmi_ball_add(&g, &g, &x, BITS);
        }
        fine = tmi_ball_is_at_most(&g, &k->v[i]);
        tmi_ball_add(&sum, &sum, &q[i], BITS);
    }
    tmi_ball_set_int(&x, 1);
    fine = fine && tmi_ball_is_at_most(&sum, &x);
    tmi_ball_clears(&sum, &g, &x, NULL);
    return fine;
}

/* The hull of the first `end` masses, as masses q; the knot 0 bears the slope of the first segment. All 0 if the check fails:
 * that is below everything. */
static tamis_status hull(knots *k, size_t end, tamis_error *err)
{
    size_t *kept = tmi_alloc(end, sizeof *kept), count = 0;
    if (!kept) return tmi_fail_memory(err);
    for (size_t i = 0; i < end; i++) {
        while (count > 1 && is_above(k, kept[count - 2], kept[count - 1], i)) count--;
        kept[count++] = i;
    }
    tmi_ball before, after, x;
    tmi_ball_inits(&before, &after, &x, NULL);
    for (size_t i = 0; i < k->count; i++) tmi_ball_set_int(&k->q[i], 0);
    for (size_t i = count; i-- > 1;) { /* the slope after the last knot is 0; the first one adds nothing */
        tmi_ball_sub(&before, &k->v[kept[i - 1]], &k->v[kept[i]], BITS);
        tmi_ball_sub(&x, at_knot(k, kept[i]), at_knot(k, kept[i - 1]), BITS);
        tmi_ball_div(&before, &before, &x, BITS);
        tmi_ball_sub(&x, &before, &after, BITS);
        tmi_ball_middle(&x, &x);
        tmi_ball_set(&after, &before);
        tmi_ball_set_double(&before, SHAVED);
        tmi_ball_mul(&k->q[kept[i]], &x, &before, BITS);
        if (tmi_ball_is_negative(&k->q[kept[i]])) tmi_ball_set_int(&k->q[kept[i]], 0);
    }
    if (!is_below(k, end, k->q))
        for (size_t i = 0; i < k->count; i++) tmi_ball_set_int(&k->q[i], 0);
    tmi_ball_clears(&before, &after, &x, NULL);
    tmi_free(kept);
    return TAMIS_OK;
}

tamis_status tmi_lattice_masses_of(tmi_lattice_masses *above, tmi_lattice_masses *below, tmi_evaluator *evaluator,
                                   const tmi_powers *powers, size_t half, bool atoms, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    knots k;
    tmi_lattice_masses_init(above);
    tmi_lattice_masses_init(below);
    TMI_TRY(new_knots(&k, powers, half, err));
    TMI_TRY(place_dots(&k, evaluator, err));
    bends(k.q, &k, k.high);
    tmi_ball_set(&above->above, &k.high[k.count - 1]);
    TMI_TRY(set_masses(above, &k, k.q, k.count, true, err));
    size_t end = lower_dots(&k, atoms);
    TMI_TRY(hull(&k, end, err));
    tmi_ball_set(&below->above, &k.limit);
    TMI_TRY(set_masses(below, &k, k.q, end, false, err));
done:
    free_knots(&k);
    return status;
}
