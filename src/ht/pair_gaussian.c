/* delta of two atomic laws with Gaussian noise.
 *
 * In units of the standard deviation, the difference of the densities at y is e^(-y^2/2) / sqrt(2 pi) times
 *
 *     S(y) = sum_j a_j e^(y z_j - z_j^2 / 2),    a_j = P_x(z_j) - e^eps P_x'(z_j) != 0,
 *
 * the points being counted from the first one: what all totals have in common reveals nothing, and would cost digits.
 *
 * Far to the left the sign is that of a_0: once |a_0| exceeds the other terms together it does so further left as well,
 * since their ratios fall; far to the right that of the last one. Between, intervals are halved until the sign of S is
 * certain (S is divided by the largest term's exponential, then taken in the mean value form), or until they are so short
 * that all they hold does not matter. What is positive is added up by normal tails. */
#include <math.h>

#include "base/memory.h"
#include "ht/pair.h"
#include "num/law/laws.h"

/* Intervals looked at for one pair: a second or so for ten samples. */
#define MAX_INTERVALS 40000
#define DEPTH 4096

typedef struct wave {
    size_t count;
    tmi_ball *a, *z;
    double *size, *at; /* log |a_j| and z_j, about */
    tmi_ball doubt;    /* terms that may be 0 are left out: delta changes by no more than they are */
    long bits;
} wave;

static void wave_clear(wave *w, size_t room)
{
    for (size_t j = 0; w->a && w->z && j < room; j++) { tmi_ball_clears(&w->a[j], &w->z[j], NULL); }
    tmi_ball_clear(&w->doubt);
    tmi_free(w->a);
    tmi_free(w->z);
    tmi_free(w->size);
    tmi_free(w->at);
}

static tamis_status wave_set(wave *w, const tmi_atoms *atoms, long bits, tamis_error *err)
{
    size_t room = atoms->count;
    *w = (wave){.a = tmi_alloc(room, sizeof *w->a),
                .z = tmi_alloc(room, sizeof *w->z),
                .size = tmi_alloc(room, sizeof *w->size),
                .at = tmi_alloc(room, sizeof *w->at),
                .bits = bits};
    tmi_ball_init(&w->doubt);
    if (!w->a || !w->z || !w->size || !w->at) return tmi_fail_memory(err);
    for (size_t j = 0; j < room; j++) { tmi_ball_inits(&w->a[j], &w->z[j], NULL); }
    for (size_t j = 0; j < room; j++) {
        size_t k = w->count;
        tamis_number *gap = NULL, *z = NULL;
        tmi_atoms_gap(&w->a[k], atoms, j, bits);
        tmi_settle(&w->a[k], &w->doubt, bits);
        if (tmi_ball_is_zero(&w->a[k])) continue;
        tamis_status status = tmi_number_sub(&gap, atoms->list[j].at, atoms->list[0].at, err);
        if (status == TAMIS_OK) status = tmi_number_div(&z, gap, atoms->scale, err);
        tamis_number_free(gap);
        if (status != TAMIS_OK) return status;
        tmi_ball_set_number(&w->z[k], z, bits);
        w->at[k] = tmi_number_nearest(z);
        tamis_bound a = tmi_ball_bound(&w->a[k]);
        w->size[k] = log(fmax(fabs(a.lower), fabs(a.upper)));
        tamis_number_free(z);
        w->count++;
    }
    return TAMIS_OK;
}

/* Term j of S e^(-y z_m + z_m^2/2): a_j e^((z_j - z_m) (y - (z_j + z_m)/2)) */
static void term(tmi_ball *x, const wave *w, size_t j, size_t m, const tmi_ball *y)
{
    tmi_ball half;
    tmi_ball_init(&half);
    tmi_ball_add(&half, &w->z[j], &w->z[m], w->bits);
    tmi_ball_div_int(&half, &half, 2, w->bits);
    tmi_ball_sub(&half, y, &half, w->bits);
    tmi_ball_sub(x, &w->z[j], &w->z[m], w->bits);
    tmi_ball_mul(x, x, &half, w->bits);
    tmi_ball_exp(x, x, w->bits);
    tmi_ball_mul(x, x, &w->a[j], w->bits);
    tmi_ball_clear(&half);
}

static void absolute(tmi_ball *x, long bits)
{
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_neg(&y, x);
    tmi_ball_max(x, x, &y, bits);
    tmi_ball_clear(&y);
}

/* |term m| exceeds all others together at y. */
static bool rules(const wave *w, size_t m, const tmi_ball *y)
{
    tmi_ball own, others, x;
    tmi_ball_inits(&own, &others, &x, NULL);
    for (size_t j = 0; j < w->count; j++) {
        term(&x, w, j, m, y);
        absolute(&x, w->bits);
        if (j == m) tmi_ball_set(&own, &x);
        else tmi_ball_add(&others, &others, &x, w->bits);
    }
    bool answer = tmi_ball_is_less(&others, &own);
    tmi_ball_clears(&own, &others, &x, NULL);
    return answer;
}

static size_t largest(const wave *w, double y)
{
    size_t best = 0;
    double height = -INFINITY;
    for (size_t j = 0; j < w->count; j++) {
        double h = w->size[j] - (y - w->at[j]) * (y - w->at[j]) / 2;
        if (h > height) {
            height = h;
            best = j;
        }
    }
    return best;
}

/* S e^(-y z_m + z_m^2/2) and its derivative in y. */
static void both(tmi_ball *value, tmi_ball *slope, const wave *w, size_t m, const tmi_ball *y)
{
    tmi_ball x, d;
    tmi_ball_inits(&x, &d, NULL);
    tmi_ball_set_int(value, 0);
    tmi_ball_set_int(slope, 0);
    for (size_t j = 0; j < w->count; j++) {
        term(&x, w, j, m, y);
        tmi_ball_add(value, value, &x, w->bits);
        tmi_ball_sub(&d, &w->z[j], &w->z[m], w->bits);
        tmi_ball_mul(&x, &x, &d, w->bits);
        tmi_ball_add(slope, slope, &x, w->bits);
    }
    tmi_ball_clears(&x, &d, NULL);
}

/* The sign of S on low..high: 1, -1, or 0 if it is not certain; then `most` is about the largest |S| e^(-y^2/2). */
static int sign_on(tmi_ball *most, const wave *w, double low, double high)
{
    double middle = (low + high) / 2;
    size_t m = largest(w, middle);
    int sign = 0;
    tmi_ball y, x, value, slope, plain;
    tmi_ball_inits(&y, &x, &value, &slope, &plain, NULL);
    tmi_ball_set_double(&y, middle);
    both(&value, &slope, w, m, &y);
    tmi_ball_set_double(&x, low);
    tmi_ball_set_double(&plain, high);
    tmi_ball_union(&x, &x, &plain, w->bits);
    both(&plain, &slope, w, m, &x);
    tmi_ball_sub(&y, &x, &y, w->bits);
    tmi_ball_mul(&slope, &slope, &y, w->bits);
    tmi_ball_add(&value, &value, &slope, w->bits);
    if (tmi_ball_is_positive(&value)) sign = 1;
    if (tmi_ball_is_negative(&value)) sign = -1;
    if (sign == 0) {
        tmi_ball_sub(&y, &x, &w->z[m], w->bits); /* times e^(-(y - z_m)^2/2) */
        tmi_ball_mul(&y, &y, &y, w->bits);
        tmi_ball_div_int(&y, &y, -2, w->bits);
        tmi_ball_exp(&y, &y, w->bits);
        tmi_ball_mul(most, &y, &value, w->bits);
        absolute(most, w->bits);
    }
    tmi_ball_clears(&y, &x, &value, &slope, &plain, NULL);
    return sign;
}

/* sum += a_j P(low < z_j + W <= high) for all j; a NAN end is infinite. The shorter tail is taken. */
static void add_mass(tmi_ball *sum, const wave *w, double low, double high)
{
    tmi_ball x, from, to;
    tmi_ball_inits(&x, &from, &to, NULL);
    for (size_t j = 0; j < w->count; j++) {
        bool left = !isnan(high) && (isnan(low) || low + high < 2 * w->at[j]);
        double ends[] = {left ? high : low, left ? low : high};
        tmi_ball *tails[] = {&from, &to};
        for (int k = 0; k < 2; k++) {
            if (isnan(ends[k])) {
                tmi_ball_set_int(tails[k], k == 0); /* the tail from -inf is 1, that from +inf 0 */
                continue;
            }
            tmi_ball_set_double(&x, ends[k]);
            tmi_ball_sub(&x, &x, &w->z[j], w->bits);
            if (left) tmi_ball_neg(&x, &x);
            tmi_normal_at_least(tails[k], &x, w->bits);
        }
        tmi_ball_sub(&x, &from, &to, w->bits);
        tmi_ball_mul(&x, &x, &w->a[j], w->bits);
        tmi_ball_add(sum, sum, &x, w->bits);
    }
    tmi_ball_clears(&x, &from, &to, NULL);
}

/* A point beyond which the first (last) term rules. */
static bool tail_end(double *end, const wave *w, bool left)
{
    size_t m = left ? 0 : w->count - 1;
    tmi_ball y;
    bool found = false;
    tmi_ball_init(&y);
    for (double step = 1; !found && step < 1e15; step *= 1.5) {
        *end = w->at[m] + (left ? -step : step);
        tmi_ball_set_double(&y, *end);
        found = rules(w, m, &y);
    }
    tmi_ball_clear(&y);
    return found;
}

static tamis_status add_positive_parts(tmi_ball *value, const wave *w, tamis_error *err)
{
    struct {
        double low, high;
    } *stack = NULL;
    double start = NAN, end = NAN, shortest = ldexp(1, -(int)(w->bits / 4));
    bool positive = tmi_ball_is_positive(&w->a[0]);
    size_t depth = 0;
    tamis_status status = TAMIS_OK;
    tmi_ball most;
    tmi_ball_init(&most);
    if (!(stack = tmi_alloc(DEPTH, sizeof *stack))) TMI_TRY(tmi_fail_memory(err));
    if (!tail_end(&stack[0].low, w, true) || !tail_end(&stack[0].high, w, false)) {
        tmi_ball_set_unknown(value);
        goto done;
    }
    end = stack[0].high;
    depth = 1;
    for (int i = 0; depth > 0; i++) {
        double low = stack[--depth].low, high = stack[depth].high, middle = (low + high) / 2;
        if (i == MAX_INTERVALS || depth + 2 > DEPTH)
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "the points where the two densities cross could not be isolated in time"));
        int sign = sign_on(&most, w, low, high);
        if (sign == 0 && high - low > shortest && middle > low && middle < high) {
            stack[depth].low = middle;
            stack[depth++].high = high;
            stack[depth].low = low;
            stack[depth++].high = middle;
            continue;
        }
        if (positive && sign <= 0) add_mass(value, w, start, low);
        if (!positive && sign > 0) start = low;
        positive = sign > 0;
        if (sign == 0) { /* at most the length times the height, 1/sqrt(2 pi) < 0.4; at least 0 */
            tmi_ball width;
            tmi_ball_init(&width);
            tmi_ball_set_double(&width, (high - low) * 0.4 * (1 + 1e-9));
            tmi_ball_mul(&most, &most, &width, w->bits);
            tmi_ball_set_int(&width, 0);
            tmi_ball_union(&most, &most, &width, w->bits);
            tmi_ball_add(value, value, &most, w->bits);
            tmi_ball_clear(&width);
        }
    }
    if (!positive && tmi_ball_is_positive(&w->a[w->count - 1])) {
        positive = true;
        start = end;
    }
    if (positive) add_mass(value, w, start, NAN);
done:
    tmi_free(stack);
    tmi_ball_clear(&most);
    return status;
}

tamis_status tmi_atoms_delta_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    wave w;
    tamis_status status = wave_set(&w, atoms, bits, err);
    tmi_ball_set_int(value, 0);
    if (status == TAMIS_OK && w.count > 0) status = add_positive_parts(value, &w, err);
    tmi_ball_add(value, value, &w.doubt, bits);
    wave_clear(&w, atoms->count);
    return status;
}
