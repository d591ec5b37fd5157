/* Values of the noise at points one apart, in doubles that are right up to a factor 1 +- error.
 *
 * Balls anchor each stretch of STRETCH points; in between
 *   Laplace:   e^(-|v|/b) is multiplied by e^(1/b) or e^(-1/b), one rounding a step; for b >= 1/4 all of them are above
 *     2^-1000, for narrower noise balls give each value, right up to 2^-1074 where a double ends;
 *   Gaussian:  with x = (v - 1/2)/s and a = 1/(2 s), by the generating function of the Hermite polynomials,
 *
 *       G(v) - G(v-1) = phi(x) int_-a^a e^(-x u - u^2/2) du = 2 a phi(x) sum_i He_2i(x) a^2i / (2i+1)!.
 *
 *     By Cauchy on the unit circle |He_k(x)|/k! <= e^(|x| + 1/2), so for a <= 1/8 the terms from He_32 on are below
 *     a^32 e^(|x| + 1/2) 1.02 < 2^-60 for |x| <= 24. The terms T_k = He_k a^k/k! come from T_(k+1) = (x a T_k -
 *     a^2 T_(k-1))/(k+1); with |T| <= e^(|x| a + a^2/2) <= 8 for |x| a <= 2 and at most 4 roundings a term, the sum, which
 *     is at least e^(-a^2/2) > 0.99, is wrong by less than 8 * 32 * 8 u. If the noise is narrow, balls give each value. */
#include <float.h>
#include <math.h>

#include "base/memory.h"
#include "ht/srs_total.h"

#define STRETCH 512
#define BITS 128
#define ROOT 0.398942280401432677939946059934L /* 1/sqrt(2 pi) */

/* The number of a narrow ball, up to a factor 1 +- 2^-63, whatever long double has, if it is above 2^-1008; below, up to
 * 2^-1074. */
static long double near(const tmi_ball *x)
{
    double high = tmi_ball_bound(x).upper;
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_set_double(&y, high);
    tmi_ball_sub(&y, x, &y, BITS);
    long double value = (long double)high + (long double)tmi_ball_bound(&y).upper;
    tmi_ball_clear(&y);
    return value;
}

/* v/scale for v = i + offset + shift, in x. */
static void standardised(tmi_ball *x, const tmi_ball *scale, int64_t i, double offset, double shift)
{
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_set_double(x, offset);
    tmi_ball_set_double(&y, shift);
    tmi_ball_add(x, x, &y, BITS);
    tmi_ball_clear(&y);
    tmi_ball_add_int(x, x, i, BITS);
    tmi_ball_div(x, x, scale, BITS);
}

static bool is_laplace(tamis_noise_kind noise) { return noise == TAMIS_NOISE_LAPLACE || noise == TAMIS_NOISE_DISCRETE_LAPLACE; }

/* e^(-|x|), or e^(-x^2/2) */
static long double shape(tmi_ball *x, bool laplace)
{
    if (laplace) {
        tmi_ball_abs(x, x);
        tmi_ball_neg(x, x);
    } else {
        tmi_ball_mul(x, x, x, BITS);
        tmi_ball_div_int(x, x, -2, BITS);
    }
    tmi_ball_exp(x, x, BITS);
    return near(x);
}

/* ---- setting up ---- */

tamis_status tmi_ht_rows_set(tmi_ht_rows *r, const tmi_ht_srs *s, double negligible, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball scale, x;
    tmi_ball_inits(&scale, &x, NULL);
    *r = (tmi_ht_rows){.s = s, .reach = 1, .peak = 1};
    tmi_law_init(&r->law.law);
    if (s->noise == TAMIS_NOISE_NONE) goto done;
    r->scale = tmi_number_nearest(s->scale);
    if (!(r->scale <= TMI_HT_SCALE_MAX && r->scale >= 1 / TMI_HT_SCALE_MAX))
        TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the scale of the noise lies beyond 2^40 or 2^-40 on the count"));
    double depth = -log(negligible);
    r->error = 4 * (long double)DBL_EPSILON + 4 * STRETCH * LDBL_EPSILON;
    r->reach = 2 + (int64_t)ceil(r->scale * (is_laplace(s->noise) ? depth : sqrt(2 * depth)));
    if (s->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN) {
        long bits = BITS - 2 * ilogb(negligible);
        TMI_TRY(tmi_ht_noise_set(&r->law, s, bits, err));
        if (r->reach > -r->law.law.first - 2) r->reach = -r->law.law.first - 2;
        if (r->reach < 2) r->reach = 2; /* beyond the stored law, so that values there are 0 up to the tail */
    }
    tmi_ball_set_number(&scale, s->scale, BITS);
    standardised(&x, &scale, r->reach - 1, 0, 0);
    if (s->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN) {
        const tmi_law *law = &r->law.law;
        const tmi_ball *below = -(r->reach - 1) < law->first ? &law->below : &r->law.sum[-(r->reach - 1) - law->first];
        r->tail = 8 * (long double)tmi_ball_bound(below).upper;
        r->thin = r->tail;
    } else if (s->noise == TAMIS_NOISE_GAUSSIAN) {
        tmi_normal_at_least(&x, &x, BITS);
        r->tail = (long double)tmi_ball_bound(&x).upper;
        standardised(&x, &scale, r->reach - 1, 0, 0);
        r->peak = 0.4L / (long double)r->scale;
        double end = (double)(r->reach + 2) / r->scale;
        r->is_narrow = r->scale < 4 || end > 24 || end > 4 * r->scale;
        r->thin = shape(&x, false) * r->peak * 1.001L;
    } else {
        r->tail = shape(&x, true) * 1.001L;
        r->peak = tmi_ht_is_lattice(s->noise) ? 1 : 0.501L / (long double)r->scale;
        r->thin = r->tail * r->peak;
        r->is_narrow = r->scale < 0.25;
    }
done:
    tmi_ball_clears(&scale, &x, NULL);
    return status;
}

void tmi_ht_rows_clear(tmi_ht_rows *r)
{
    for (int i = 0; i < TMI_HT_ROWS; i++) {
        tmi_free(r->row[i].cdf);
        tmi_free(r->row[i].step);
        tmi_free(r->row[i].density);
    }
    tmi_ht_noise_clear(&r->law);
    *r = (tmi_ht_rows){0};
}

/* ---- filling ---- */

static void put(tmi_ht_row *row, size_t i, long double cdf, long double step, long double density)
{
    row->cdf[i] = (double)cdf;
    row->step[i] = (double)step;
    row->density[i] = (double)density;
}

static void fill_step(tmi_ht_row *row)
{
    for (size_t i = 0; i < row->count; i++) {
        int64_t v = row->first + (int64_t)i;
        put(row, i, v >= 0, v == 0, v == 0);
    }
}

static double middle(const tmi_ball *x)
{
    tamis_bound b = tmi_ball_bound(x);
    return b.lower + (b.upper - b.lower) / 2;
}

static void fill_discrete_gaussian(tmi_ht_row *row, const tmi_ht_rows *r)
{
    const tmi_law *law = &r->law.law;
    for (size_t i = 0; i < row->count; i++) {
        int64_t k = row->first + (int64_t)i - law->first;
        bool stored = k >= 0 && k < (int64_t)law->count;
        row->cdf[i] = stored ? middle(&r->law.sum[k]) : k >= 0;
        row->step[i] = row->density[i] = stored ? middle(&law->mass[k]) : 0;
    }
}

/* (1 - e^-v/b)/2 + (1 - e^-(1-v)/b)/2 for 0 <= v <= 1 */
static long double corner(const tmi_ball *scale, double v)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    standardised(&x, scale, 0, -v, 0);
    standardised(&y, scale, -1, v, 0);
    tmi_ball_expm1(&x, &x, BITS);
    tmi_ball_expm1(&y, &y, BITS);
    tmi_ball_add(&x, &x, &y, BITS);
    tmi_ball_div_int(&x, &x, -2, BITS);
    long double value = near(&x);
    tmi_ball_clears(&x, &y, NULL);
    return value;
}

static void fill_laplace(tmi_ht_row *row, const tmi_ht_rows *r, const tmi_ball *scale)
{
    bool lattice = r->s->noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    tmi_ball x;
    tmi_ball_init(&x);
    standardised(&x, scale, 1, 0, 0);
    long double falls = shape(&x, true), rises = 1 / falls, inverse;
    standardised(&x, scale, -1, 0, 0);
    tmi_ball_expm1(&x, &x, BITS);
    tmi_ball_neg(&x, &x);
    long double lost = near(&x), e = 1, before; /* 1 - e^(-1/b); e^(-|v|/b) and the same at v - 1 */
    tmi_ball_set_int(&x, 1);
    tmi_ball_div(&x, &x, scale, BITS);
    inverse = near(&x);
    for (size_t i = 0; i < row->count; i++) {
        int64_t k = row->first + (int64_t)i;
        before = e;
        if (i % STRETCH == 0) {
            standardised(&x, scale, k - 1, row->offset, 0);
            before = shape(&x, true);
        }
        if (i % STRETCH == 0 || k == 0 || r->is_narrow) {
            standardised(&x, scale, k, row->offset, 0);
            e = shape(&x, true);
        } else {
            e *= k > 0 ? falls : rises;
        }
        if (lattice) {
            long double mass = e * lost / (1 + falls);
            put(row, i, k < 0 ? e / (1 + falls) : 1 - e * falls / (1 + falls), mass, mass);
        } else {
            long double step = k == 0 && row->offset > 0 ? corner(scale, row->offset) : (k > 0 ? before : e) * lost / 2;
            put(row, i, k < 0 ? e / 2 : 1 - e / 2, step, e * inverse / 2);
        }
    }
    tmi_ball_clear(&x);
}

/* The step at v over phi(x), for x = (v - 1/2)/s and a = 1/(2 s). */
static long double hermite(long double x, long double a)
{
    long double before = 1, here = x * a, sum = 1, square = a * a;
    for (int k = 1; k < 31; k++) {
        long double next = (x * a * here - square * before) / (long double)(k + 1);
        before = here;
        here = next;
        if (k % 2 == 1) sum += here / (long double)(k + 2);
    }
    return 2 * a * sum;
}

/* Every value in balls, for narrow noise: each tail is computed once, and its difference with the one before taken. */
static void fill_narrow_gaussian(tmi_ht_row *row, const tmi_ball *scale)
{
    tmi_ball x, tail, before, step;
    tmi_ball_inits(&x, &tail, &before, &step, NULL);
    for (size_t i = 0; i < row->count; i++) {
        int64_t k = row->first + (int64_t)i;
        bool upper = k > 0; /* which tail */
        for (int64_t j = i == 0 || k == 1 ? k - 1 : k; j <= k; j++) {
            tmi_ball_set(&before, &tail);
            standardised(&x, scale, j, row->offset, 0);
            if (!upper) tmi_ball_neg(&x, &x);
            tmi_normal_at_least(&tail, &x, BITS);
        }
        tmi_ball_sub(&step, &tail, &before, BITS);
        tmi_ball_abs(&step, &step);
        standardised(&x, scale, k, row->offset, 0);
        long double density = shape(&x, false) * ROOT / near(scale);
        put(row, i, upper ? 1 - near(&tail) : near(&tail), near(&step), density);
    }
    tmi_ball_clears(&x, &tail, &before, &step, NULL);
}

static void fill_gaussian(tmi_ht_row *row, const tmi_ball *scale)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_int(&x, 1);
    tmi_ball_div(&x, &x, scale, BITS);
    long double inverse = near(&x), cdf = 0;
    for (size_t i = 0; i < row->count; i++) {
        int64_t k = row->first + (int64_t)i;
        long double u = ((long double)k + (long double)row->offset - 0.5L) * inverse, step;
        standardised(&x, scale, k, row->offset, -0.5);
        step = shape(&x, false) * ROOT * hermite(u, inverse / 2);
        standardised(&x, scale, k, row->offset, 0);
        tmi_ball_set(&y, &x);
        long double density = shape(&y, false) * ROOT * inverse;
        if (i % STRETCH == 0) {
            tmi_ball_neg(&x, &x);
            tmi_normal_at_least(&x, &x, BITS);
            cdf = near(&x);
        } else {
            cdf += step;
        }
        put(row, i, cdf, step, density);
    }
    tmi_ball_clears(&x, &y, NULL);
}

static void fill(tmi_ht_row *row, const tmi_ht_rows *r)
{
    tmi_ball scale;
    tmi_ball_init(&scale);
    if (r->s->scale) tmi_ball_set_number(&scale, r->s->scale, BITS);
    switch (r->s->noise) {
    case TAMIS_NOISE_NONE: fill_step(row); break;
    case TAMIS_NOISE_LAPLACE:
    case TAMIS_NOISE_DISCRETE_LAPLACE: fill_laplace(row, r, &scale); break;
    case TAMIS_NOISE_GAUSSIAN:
        if (r->is_narrow) fill_narrow_gaussian(row, &scale);
        else fill_gaussian(row, &scale);
        break;
    case TAMIS_NOISE_DISCRETE_GAUSSIAN: fill_discrete_gaussian(row, r); break;
    }
    tmi_ball_clear(&scale);
}

/* Holds low..high already? */
static bool holds(const tmi_ht_row *row, int64_t low, int64_t high)
{
    return row->count > 0 && row->first <= low && high < row->first + (int64_t)row->count;
}

tamis_status tmi_ht_row_get(const tmi_ht_row **found, tmi_ht_rows *r, double offset, int64_t low, int64_t high, tamis_error *err)
{
    int64_t end = r->reach + 1;
    tmi_ht_row *row = &r->row[0];
    low = low < -end ? -end : low > end ? end : low;
    high = high > end ? end : high < -end ? -end : high;
    for (int i = 0; i < TMI_HT_ROWS; i++) {
        tmi_ht_row *other = &r->row[i];
        if (other->count > 0 && other->offset == offset) {
            row = other;
            break;
        }
        if (other->used < row->used) row = other;
    }
    row->used = ++r->clock;
    *found = row;
    if (row->offset == offset && holds(row, low, high)) return TAMIS_OK;
    int64_t extra = (high - low) / 2 + 16; /* the next question will be near */
    low = low - extra < -end ? -end : low - extra;
    high = high + extra > end ? end : high + extra;
    size_t count = (size_t)(high - low + 1);
    if (count > row->room) {
        row->count = 0;
        if (!tmi_ht_enlarge(&row->cdf, count) || !tmi_ht_enlarge(&row->step, count) || !tmi_ht_enlarge(&row->density, count))
            return tmi_fail_memory(err);
        row->room = count;
    }
    row->offset = offset;
    row->first = low;
    row->count = count;
    fill(row, r);
    return TAMIS_OK;
}
