/* The smallest eps with delta = 0. With k = min(low, N - high) the worst pair is (k, k+1) at the end of the window:
 *
 *     no noise, Gaussian, discrete Gaussian     log((k+1)/(k+1-n)),  infinite iff k < n (Gaussian noise changes nothing:
 *                                               only the extreme atoms matter, far out);
 *     Laplace, with u = 1/scale                 log(M_{k+1}(u)/M_k(u)), M_k(u) = E e^(u Y_k).
 *
 * M_{k+1}/M_k = 1 + (e^u - 1) E[(n-Y)/(N-k)] for Y of the tilted law P_k(y) e^(uy): all terms positive. Its weights are
 * computed from the tilted mode outwards; they fall there, so what is left out is at most a geometric series. With very
 * little noise the mode is y = n, which counts for nothing: what is left out is compared with what counts.           */
#include <math.h>

#include "ht/srs.h"

typedef struct question {
    const tmi_ht_srs *s;
    int64_t k;
} question;

static tamis_status extreme_atoms(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    (void)err;
    tmi_ball_set_int(value, q->s->n);
    tmi_ball_div_int(value, value, q->k + 1 - q->s->n, bits);
    tmi_ball_log1p(value, value, bits);
    return TAMIS_OK;
}

/* weight(y+1)/weight(y) = e^u (k-y)(n-y) / ((y+1)(N-k-n+y+1)) */
static void step(tmi_ball *weight, const question *q, const tmi_ball *factor, int64_t y, bool up, long bits)
{
    int64_t N = q->s->N, n = q->s->n, k = q->k;
    if (up) {
        tmi_ball_mul_int(weight, weight, k - y, bits);
        tmi_ball_mul_int(weight, weight, n - y, bits);
        tmi_ball_div_int(weight, weight, y + 1, bits);
        tmi_ball_div_int(weight, weight, N - k - n + y + 1, bits);
        tmi_ball_mul(weight, weight, factor, bits);
    } else {
        tmi_ball_mul_int(weight, weight, y, bits);
        tmi_ball_mul_int(weight, weight, N - k - n + y, bits);
        tmi_ball_div_int(weight, weight, k - y + 1, bits);
        tmi_ball_div_int(weight, weight, n - y + 1, bits);
        tmi_ball_div(weight, weight, factor, bits);
    }
}

static double log_ratio(const question *q, double u, int64_t y)
{
    double N = (double)q->s->N, n = (double)q->s->n, k = (double)q->k, x = (double)y;
    return u + log(k - x) + log(n - x) - log(x + 1) - log(N - k - n + x + 1);
}

static int64_t tilted_mode(const question *q, double u, int64_t low, int64_t high)
{
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (log_ratio(q, u, middle) > 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Adds the weights beyond `start` in one direction to total, and weights times (n-y) to mean. */
static void walk(tmi_ball *total, tmi_ball *mean, const question *q, const tmi_ball *factor, int64_t start, int64_t end,
                 long bits)
{
    bool up = end > start;
    tmi_ball w, x, limit, one, most, least;
    tmi_ball_inits(&w, &x, &limit, &one, &most, &least, NULL);
    tmi_ball_set_int(&one, 1);
    tmi_ball_set_int(&w, 1);
    tmi_ball_set_double(&limit, ldexp(1, -(int)(bits < 1000 ? bits : 1000)));
    for (int64_t y = start; y != end; y += up ? 1 : -1) {
        tmi_ball_set(&x, &w);
        step(&w, q, factor, y, up, bits);
        int64_t n_less_y = q->s->n - (up ? y + 1 : y - 1);
        tmi_ball_mul(&least, &limit, mean, bits);
        tmi_ball_mul_int(&most, &w, q->s->n, bits);
        if (tmi_ball_is_less(&most, &least)) {
            tmi_ball_div(&x, &w, &x, bits); /* the last ratio; later ones are smaller */
            tmi_ball_sub(&x, &one, &x, bits);
            tmi_ball_div(&w, &w, &x, bits);
            if (!tmi_ball_is_positive(&w)) tmi_ball_set_unknown(&w);
            tmi_ball_set_int(&x, 0);
            tmi_ball_union(&w, &w, &x, bits);
            n_less_y = q->s->n; /* the most it can be */
            end = y + (up ? 1 : -1);
        }
        tmi_ball_add(total, total, &w, bits);
        tmi_ball_mul_int(&x, &w, n_less_y, bits);
        tmi_ball_add(mean, mean, &x, bits);
    }
    tmi_ball_clears(&w, &x, &limit, &one, &most, &least, NULL);
}

static tamis_status tilted(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    int64_t N = q->s->N, n = q->s->n, k = q->k;
    int64_t low = n + k > N ? n + k - N : 0, high = n < k ? n : k;
    tmi_ball u, factor, total, mean;
    (void)err;
    tmi_ball_inits(&u, &factor, &total, &mean, NULL);
    tmi_ball_set_number(&total, q->s->scale, bits);
    tmi_ball_set_int(&u, 1);
    tmi_ball_div(&u, &u, &total, bits);
    tmi_ball_exp(&factor, &u, bits);
    int64_t mode = tilted_mode(q, 1 / tmi_number_nearest(q->s->scale), low, high);
    tmi_ball_set_int(&total, 1);
    tmi_ball_set_int(&mean, n - mode);
    walk(&total, &mean, q, &factor, mode, high, bits);
    walk(&total, &mean, q, &factor, mode, low, bits);
    tmi_ball_div(&mean, &mean, &total, bits);
    tmi_ball_div_int(&mean, &mean, N - k, bits);
    tmi_ball_expm1(&factor, &u, bits);
    tmi_ball_mul(&mean, &mean, &factor, bits);
    tmi_ball_log1p(value, &mean, bits);
    tmi_ball_clears(&u, &factor, &total, &mean, NULL);
    return TAMIS_OK;
}

tamis_status tmi_ht_pure(tamis_bound *eps, const tmi_ht_srs *s, int64_t low, int64_t high, tamis_error *err)
{
    question q = {s, low < s->N - high ? low : s->N - high};
    bool laplace = s->noise == TAMIS_NOISE_LAPLACE || s->noise == TAMIS_NOISE_DISCRETE_LAPLACE;
    *eps = (tamis_bound){0, INFINITY};
    if (!laplace && q.k < s->n) {
        *eps = (tamis_bound){INFINITY, INFINITY};
        return TAMIS_OK;
    }
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, TAMIS_WIDTH, laplace ? tilted : extreme_atoms, &q, err);
    if (status == TAMIS_OK) *eps = (tamis_bound){fmax(bound.lower, 0), bound.upper};
    return status;
}
