/* The output law of AboveThreshold.
 *
 * Given the noisy threshold t the answers are independent, so
 *
 *     P(k) = integral of f(t) F_0(t) ... F_(k-1)(t) (1 - F_k(t)) dt,
 *
 * f the Laplace density around T, F_i the distribution function of answer i. Between neighbouring points among T, y_0, y_1,
 * ... each factor is a sum of one or two exponentials. With c the left end, x = (t - c)/scale_q and X = e^x:
 *
 *     F_i = 1 - (a_i/2) X^-1,  a_i = e^-(c - y_i)/scale_q,  where y_i <= c,
 *     F_i = (a_i/2) X                                       where y_i > c,
 *
 * so the product of the first k is a polynomial in X^-1, times a power of X and a factor. Its integral against f is a sum of
 * its coefficients times integrals of exponentials, which all k share. Coefficients have signs, and their sum loses up to
 * about 2k digits: tmi_certify_list then asks for more bits.                                                          */
#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/mech.h>

#include "base/memory.h"
#include "num/ball.h"
#include "num/exact.h"

typedef struct law {
    const tamis_number *const *queries;
    size_t count;
    const tamis_number *threshold, *scale_T, *scale_q;
    const tamis_number **points; /* T and the queries, in order, each once */
    size_t point_count;
    int64_t multiple; /* scale_q/scale_T if it is an integer, else 0 */
} law;

/* Balls of one evaluation. Powers of X are -count-1, ..., count+1: `middle` is the index of 0. */
typedef struct work {
    tmi_ball *place;    /* y_i/scale_q */
    tmi_ball *half;     /* a_i/2 in this piece */
    tmi_ball *integral; /* of X^m e^(+-(t - c)/scale_T) over this piece, by m + middle */
    tmi_ball *coefficient;
    size_t middle;
    tmi_ball scale_T, scale_q, factor, x, y;
} work;

typedef struct piece {
    const tamis_number *from, *to; /* NULL: infinite */
    int side;                      /* 1: left of T, where f rises; -1: right of it */
} piece;

static int by_size(const void *x, const void *y)
{
    return tmi_number_compare(*(const tamis_number *const *)x, *(const tamis_number *const *)y);
}

static bool work_init(work *w, size_t count)
{
    w->middle = count + 1;
    w->place = tmi_balls_new(count);
    w->half = tmi_balls_new(count);
    w->integral = tmi_balls_new(2 * count + 3);
    w->coefficient = tmi_balls_new(count + 1);
    tmi_ball_inits(&w->scale_T, &w->scale_q, &w->factor, &w->x, &w->y, NULL);
    return w->place && w->half && w->integral && w->coefficient;
}

static void work_clear(work *w, size_t count)
{
    tmi_balls_free(w->place, count);
    tmi_balls_free(w->half, count);
    tmi_balls_free(w->integral, 2 * count + 3);
    tmi_balls_free(w->coefficient, count + 1);
    tmi_ball_clears(&w->scale_T, &w->scale_q, &w->factor, &w->x, &w->y, NULL);
}

/* The integrals of e^(rate s) over 0 < s < to - from, or over s < 0 or s > 0 where an end is infinite; rate = m/scale_q +
 * side/scale_T. Powers that no product of this piece has may not converge and are not looked at. */
static void integrals(work *w, const law *l, const piece *p, long bits)
{
    tmi_ball rate, length;
    tmi_ball_inits(&rate, &length, NULL);
    if (p->from && p->to) {
        tmi_ball_set_number(&length, p->to, bits);
        tmi_ball_set_number(&w->x, p->from, bits);
        tmi_ball_sub(&length, &length, &w->x, bits);
    }
    const int64_t last = (int64_t)w->middle;
    for (int64_t m = -last; m <= last; m++) {
        tmi_ball *z = &w->integral[m + last];
        tmi_ball_set_int(&w->x, m);
        tmi_ball_div(&rate, &w->x, &w->scale_q, bits);
        tmi_ball_set_int(&w->x, p->side);
        tmi_ball_div(&w->x, &w->x, &w->scale_T, bits);
        tmi_ball_add(&rate, &rate, &w->x, bits);
        if (!p->from || !p->to) {
            if (p->from ? m > 0 : m < 0) continue;
            tmi_ball_set_int(&w->x, p->from ? -1 : 1);
            tmi_ball_div(z, &w->x, &rate, bits);
        } else if (l->multiple != 0 && m == -p->side * l->multiple) {
            tmi_ball_set(z, &length);
        } else {
            tmi_ball_mul(z, &rate, &length, bits);
            tmi_ball_expm1(z, z, bits);
            tmi_ball_div(z, z, &rate, bits);
        }
    }
    tmi_ball_clears(&rate, &length, NULL);
}

/* Sum of coefficient[j] times the integral of X^(up - j), j <= degree. */
static void integrate(tmi_ball *z, const work *w, size_t degree, size_t up, int shift, long bits)
{
    const tmi_ball *first = &w->integral[(int64_t)(w->middle + up) + shift];
    tmi_ball_dot(z, w->coefficient, 1, first, -1, degree + 1, bits);
}

static void add_piece(tmi_ball *values, work *w, const law *l, const piece *p, long bits)
{
    const tamis_number *origin = p->from ? p->from : p->to;
    size_t degree = 0, up = 0;
    integrals(w, l, p, bits);
    tmi_ball_set_number(&w->y, origin, bits);

    tmi_ball_set_number(&w->x, l->threshold, bits); /* factor = f(origin) */
    tmi_ball_sub(&w->x, &w->y, &w->x, bits);
    tmi_ball_div(&w->x, &w->x, &w->scale_T, bits);
    tmi_ball_mul_int(&w->x, &w->x, p->side, bits);
    tmi_ball_exp(&w->factor, &w->x, bits);
    tmi_ball_div(&w->factor, &w->factor, &w->scale_T, bits);
    tmi_ball_div_int(&w->factor, &w->factor, 2, bits);

    tmi_ball_div(&w->y, &w->y, &w->scale_q, bits);
    tmi_ball_set_int(&w->coefficient[0], 1);
    for (size_t k = 0; k < l->count; k++) {
        const bool below = p->from && tmi_number_compare(l->queries[k], p->from) <= 0;
        tmi_ball *half = &w->half[k], *q = w->coefficient;
        tmi_ball_sub(half, &w->place[k], &w->y, bits);
        if (!below) tmi_ball_neg(half, half);
        tmi_ball_exp(half, half, bits);
        tmi_ball_div_int(half, half, 2, bits);

        if (below) { /* 1 - F = half X^-1 */
            integrate(&w->x, w, degree, up, -1, bits);
            tmi_ball_mul(&w->x, &w->x, half, bits);
        } else { /* 1 - half X */
            tmi_ball upper;
            tmi_ball_init(&upper);
            integrate(&w->x, w, degree, up, 0, bits);
            integrate(&upper, w, degree, up, 1, bits);
            tmi_ball_mul(&upper, &upper, half, bits);
            tmi_ball_sub(&w->x, &w->x, &upper, bits);
            tmi_ball_clear(&upper);
        }
        tmi_ball_mul(&w->x, &w->x, &w->factor, bits);
        tmi_ball_add(&values[k], &values[k], &w->x, bits);

        if (below) {
            tmi_ball_set_int(&q[degree + 1], 0);
            for (size_t j = ++degree; j > 0; j--) {
                tmi_ball_mul(&w->x, &q[j - 1], half, bits);
                tmi_ball_sub(&q[j], &q[j], &w->x, bits);
            }
        } else {
            tmi_ball_mul(&w->factor, &w->factor, half, bits);
            up++;
        }
    }
    integrate(&w->x, w, degree, up, 0, bits);
    tmi_ball_mul(&w->x, &w->x, &w->factor, bits);
    tmi_ball_add(&values[l->count], &values[l->count], &w->x, bits);
}

static tamis_status formulas(tmi_ball *values, const void *context, long bits, tamis_error *err)
{
    const law *l = context;
    work w = {0};
    const bool ready = work_init(&w, l->count);
    if (ready) {
        for (size_t k = 0; k <= l->count; k++) tmi_ball_set_int(&values[k], 0);
        tmi_ball_set_number(&w.scale_T, l->scale_T, bits);
        tmi_ball_set_number(&w.scale_q, l->scale_q, bits);
        for (size_t k = 0; k < l->count; k++) {
            tmi_ball_set_number(&w.place[k], l->queries[k], bits);
            tmi_ball_div(&w.place[k], &w.place[k], &w.scale_q, bits);
        }
        for (size_t i = 0; i <= l->point_count; i++) {
            piece p = {i > 0 ? l->points[i - 1] : NULL, i < l->point_count ? l->points[i] : NULL, 1};
            if (p.from && tmi_number_compare(p.from, l->threshold) >= 0) p.side = -1;
            add_piece(values, &w, l, &p, bits);
        }
    }
    work_clear(&w, l->count);
    return ready ? TAMIS_OK : tmi_fail_memory(err);
}

static tamis_status find_points(law *l, tamis_error *err)
{
    if (!(l->points = tmi_alloc(l->count + 1, sizeof *l->points))) return tmi_fail_memory(err);
    for (size_t k = 0; k < l->count; k++) l->points[k] = l->queries[k];
    l->points[l->count] = l->threshold;
    qsort(l->points, l->count + 1, sizeof *l->points, by_size);
    for (size_t i = 0; i <= l->count; i++)
        if (i == 0 || tmi_number_compare(l->points[i], l->points[l->point_count - 1]) != 0)
            l->points[l->point_count++] = l->points[i];
    return TAMIS_OK;
}

static tamis_status check(const tamis_number *const *queries, size_t count, const tamis_number *threshold,
                          const tamis_number *scale_T, const tamis_number *scale_q, tamis_error *err)
{
    if (!queries) return tmi_fail(err, TAMIS_INVALID, "queries: NULL");
    if (count < 1 || count > TAMIS_MAX_QUERIES)
        return tmi_fail(err, TAMIS_INVALID, "queries: there must be between 1 and %d", TAMIS_MAX_QUERIES);
    for (size_t k = 0; k < count; k++)
        if (!queries[k]) return tmi_fail(err, TAMIS_INVALID, "queries: NULL");
    if (!threshold) return tmi_fail(err, TAMIS_INVALID, "threshold: NULL");
    if (!scale_T) return tmi_fail(err, TAMIS_INVALID, "scale_T: NULL");
    if (!scale_q) return tmi_fail(err, TAMIS_INVALID, "scale_q: NULL");
    if (tmi_number_sign(scale_T) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale_T: must be positive");
    if (tmi_number_sign(scale_q) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale_q: must be positive");
    return TAMIS_OK;
}

tamis_status tamis_threshold_law(tamis_bound *probabilities, const tamis_number *const *queries, size_t count,
                                 const tamis_number *threshold, const tamis_number *scale_T, const tamis_number *scale_q,
                                 tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *ratio = NULL;
    law l = {queries, count, threshold, scale_T, scale_q, NULL, 0, 0};
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    for (size_t k = 0; k <= count && count <= TAMIS_MAX_QUERIES; k++) probabilities[k] = (tamis_bound){0, 1};
    TMI_TRY(check(queries, count, threshold, scale_T, scale_q, err));
    TMI_TRY(tmi_number_div(&ratio, scale_q, scale_T, err));
    if (tmi_number_is_integer(ratio) && !tmi_number_floor(&l.multiple, ratio)) l.multiple = 0; /* beyond all powers */
    TMI_TRY(find_points(&l, err));
    TMI_TRY(tmi_certify_list(probabilities, count + 1, TAMIS_WIDTH, formulas, &l, err));
done:
    for (size_t k = 0; k <= count && count <= TAMIS_MAX_QUERIES; k++) {
        const tamis_bound b = probabilities[k];
        probabilities[k] = status == TAMIS_OK ? (tamis_bound){fmax(b.lower, 0), fmin(b.upper, 1)} : (tamis_bound){0, 1};
    }
    tamis_number_free(ratio);
    tmi_free(l.points);
    return status;
}

tamis_status tamis_threshold_scales(tamis_number **scale_T, tamis_number **scale_q, tamis_threshold_noise noise,
                                    const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *two = NULL, *four = NULL;
    if (!scale_T) return tmi_fail(err, TAMIS_INVALID, "scale_T: NULL");
    *scale_T = NULL;
    if (!scale_q) return tmi_fail(err, TAMIS_INVALID, "scale_q: NULL");
    *scale_q = NULL;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    if (tmi_number_sign(eps) <= 0) return tmi_fail(err, TAMIS_INVALID, "eps: must be positive");
    TMI_TRY(tmi_number_ratio(&two, 2, 1, err));
    TMI_TRY(tmi_number_ratio(&four, noise == TAMIS_THRESHOLD_MONOTONE ? 2 : 4, 1, err));
    TMI_TRY(tmi_number_div(scale_T, two, eps, err));
    TMI_TRY(tmi_number_div(scale_q, four, eps, err));
done:
    if (status != TAMIS_OK) tmi_number_frees(scale_T, scale_q, NULL);
    tmi_number_frees(&two, &four, NULL);
    return status;
}
