#include "composition/contour.h"

#include <math.h>

#include "base/memory.h"
#include "composition/contour_table.h"

/* Nodes times releases; a million take about half a second. */
#define MOST_WORK 2e7
#define MOST_NODES 2e5

/* Natural digits of delta that the integral should have: of b bits there are log 2 b, and rounding needs its part. */
#define DIGITS(bits) (0.6 * (double)(bits)-24)

/* A delta of which no digit is wanted: below 1e-300. */
#define LOG_NOTHING (-700)

/* Turns are multiplied up from one that was computed afresh, this many in a row: a box that is turned may grow by sqrt 2. */
#define AFRESH 16

typedef struct contour {
    const tamis_profile *profile;
    double *near;    /* the parameter of each loss, about */
    double gaussian; /* about the squared shift of all Gaussians */
    /* the table, for one line and one step */
    long bits; /* 0: there is none */
    double s, a, h, eps, spread;
    size_t nodes;
    tmi_complex *table; /* M(z) e^(-z top) / (z(z+1)) at z = s + ikh */
    tmi_ball top;       /* the sum of the largest losses, taken out of M */
    tmi_ball sides[2];  /* M(r) e^(-r top) at r = s - a and r = s + a */
    tmi_ball square;    /* the squared shift */
} contour;

/* ---- in doubles: where to look ---- */

/* log of theta(w)/theta(0) */
static double log_theta(double w, double v)
{
    double up = 0, down = 0;
    if (v > 4) return 0; /* the ratio differs from 1 by less than e^-70 */
    w -= floor(w);
    for (int k = -20; k <= 20; k++) {
        up += exp(-(k + w) * (k + w) / (2 * v));
        down += exp(-k * k / (2 * v));
    }
    return log(up / down);
}

/* log M(s) */
static double cumulant(const contour *c, double s)
{
    double sum = 0;
    for (size_t i = 0; i < c->profile->count; i++) {
        const tmi_loss *loss = c->profile->factors[i].loss;
        double n = (double)c->profile->factors[i].times, a = c->near[i], D = (double)loss->step, r;
        switch (loss->kind) {
        case TMI_LOSS_CLAIM: sum += n * (s * a + log1p(exp(-(2 * s + 1) * a)) - log1p(exp(-a))); break;
        case TMI_LOSS_LAPLACE: sum += n * (s * a + log((s * (1 + exp(-(2 * s + 1) * a)) + 1) / (2 * s + 1))); break;
        case TMI_LOSS_GAUSSIAN: sum += n * a * s * (s + 1) / 2; break;
        case TMI_LOSS_DISCRETE_LAPLACE:
            r = exp(-(2 * s + 1) / a);
            sum += n * (s * D / a - log1p(exp(-1 / a)) +
                        log(1 + pow(r, D) - expm1(-1 / a) * (r - pow(r, D)) / -expm1(-(2 * s + 1) / a)));
            break;
        default: sum += n * (D * D / a * s * (s + 1) / 2 + log_theta(s * D, a));
        }
    }
    return sum;
}

/* The point whose saddle lies at s: eps there, about log delta, and the variance of the loss tilted to it. */
typedef struct saddle {
    double eps, log_delta, variance;
} saddle;

static saddle saddle_at(const contour *c, double s)
{
    double step = 1e-3 * s, low = cumulant(c, s - step), mid = cumulant(c, s), high = cumulant(c, s + step);
    double slope = (high - low) / (2 * step) - 1 / s - 1 / (s + 1);
    double bend = fmax((high - 2 * mid + low) / (step * step), c->gaussian);
    saddle z = {slope, 0, bend};
    z.log_delta = mid - s * slope - log(s * (s + 1)) - log(6.28 * (bend + 1 / (s * s) + 1 / ((s + 1) * (s + 1)))) / 2;
    return z;
}

#define SMALLEST_S 1e-4
#define LARGEST_S 1e9

/* eps grows and delta falls with s. */
static double find_s(const contour *c, double eps, double log_delta)
{
    double lo = log(SMALLEST_S), hi = log(LARGEST_S);
    for (int i = 0; i < 30; i++) {
        double mid = (lo + hi) / 2;
        saddle z = saddle_at(c, exp(mid));
        bool beyond = eps >= 0 ? z.eps > eps : z.log_delta < log_delta;
        if (beyond || !isfinite(z.log_delta)) hi = mid;
        else lo = mid;
    }
    return exp(lo);
}

static double guess(const void *self, double delta)
{
    const contour *c = self;
    return delta > 0 ? fmax(saddle_at(c, find_s(c, -1, log(delta))).eps, 0) : 0;
}

/* The line, the strip and the step for an error of about e^-digits of delta. */
static void choose(contour *c, double eps, double digits)
{
    c->s = (float)find_s(c, eps, 0); /* as floats, so that s - a and s + a are exact */
    saddle z = saddle_at(c, c->s);
    double top = cumulant(c, c->s) - c->s * eps, log_delta = fmin(z.log_delta, top);
    c->eps = eps;
    c->spread = sqrt(z.variance);
    c->h = 0;
    for (int i = 1; i < 20; i++) {
        double a = (float)(c->s * i / 20), low = c->s - a, high = c->s + a;
        double side = fmax(cumulant(c, low) - low * eps - log(2 * low), cumulant(c, high) - high * eps - log(2 * high));
        double h = 6.28 * a / (digits + fmax(side - log_delta, 0) + 1);
        if (h > c->h) c->h = h, c->a = a;
    }
    double rate = c->gaussian * c->h * c->h / 2, need = digits + fmax(top - log(c->s * (c->s + 1)) - log_delta, 0) + 3;
    c->nodes = (size_t)fmin(ceil(sqrt(need / rate)) + 2, 1e12);
}

/* ---- in balls ---- */

/* Where the line lies depends on the first eps that it was chosen for. */
static void drop_table(void *self)
{
    contour *c = self;
    tmi_complex_row_free(c->table, c->nodes);
    c->table = NULL;
    c->bits = 0;
}

static bool is_affordable(const contour *c)
{
    return c->h > 0 && (double)c->nodes <= MOST_NODES && (double)c->nodes * (double)c->profile->count <= MOST_WORK;
}

/* For the line, the strip and the step that were chosen. */
static tamis_status prepare(contour *c, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_complex side, z, at;
    if (!is_affordable(c)) return tmi_fail(err, TAMIS_UNABLE, "the integral would need too many nodes");
    if (!(c->table = tmi_complex_row(c->nodes))) return tmi_fail_memory(err);
    tmi_complex_init(&side);
    tmi_complex_init(&z);
    tmi_complex_init(&at);
    for (int i = 0; i < 2; i++) {
        TMI_TRY(tmi_contour_fill(&side, 1, &c->top, c->profile, i == 0 ? c->s - c->a : c->s + c->a, 0, bits, err));
        tmi_ball_set(&c->sides[i], &side.re);
    }
    TMI_TRY(tmi_contour_fill(c->table, c->nodes, &c->top, c->profile, c->s, c->h, bits, err));
    tmi_ball_set_double(&at.re, c->s);
    for (size_t k = 0; k < c->nodes; k++) {
        tmi_ball_set_double(&at.im, c->h);
        tmi_ball_mul_int(&at.im, &at.im, (int64_t)k, bits);
        tmi_complex_add_int(&z, &at, 1, bits);
        tmi_complex_mul(&z, &z, &at, bits);
        tmi_complex_div(&c->table[k], &c->table[k], &z, bits);
    }
    tmi_ball_set_int(&c->square, 0);
    for (size_t i = 0; i < c->profile->count; i++) {
        if (c->profile->factors[i].loss->kind != TMI_LOSS_GAUSSIAN) continue;
        tmi_ball_set_number(&z.re, c->profile->factors[i].loss->a, bits);
        tmi_ball_mul_int(&z.re, &z.re, c->profile->factors[i].times, bits);
        tmi_ball_add(&c->square, &c->square, &z.re, bits);
    }
    c->bits = bits;
done:
    tmi_complex_clear(&side);
    tmi_complex_clear(&z);
    tmi_complex_clear(&at);
    return status;
}

/* (M(r) e^(-r eps) / (2r), summed over both sides) / (e^(2 pi a/h) - 1); y = top - eps. 6.28 < 2 pi is on the safe side. */
static void step_error(tmi_ball *z, const contour *c, const tmi_ball *y, long bits)
{
    tmi_ball r, x;
    tmi_ball_inits(&r, &x, NULL);
    tmi_ball_set_int(z, 0);
    for (int i = 0; i < 2; i++) {
        tmi_ball_set_double(&r, i == 0 ? c->s - c->a : c->s + c->a);
        tmi_ball_mul(&x, &r, y, bits);
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_mul(&x, &x, &c->sides[i], bits);
        tmi_ball_div(&x, &x, &r, bits);
        tmi_ball_shift(&x, &x, -1);
        tmi_ball_add(z, z, &x, bits);
    }
    tmi_ball_set_double(&x, c->a);
    tmi_ball_mul_int(&x, &x, 628, bits);
    tmi_ball_div_int(&x, &x, 100, bits);
    tmi_ball_set_double(&r, c->h);
    tmi_ball_div(&x, &x, &r, bits);
    tmi_ball_expm1(&x, &x, bits);
    tmi_ball_div(z, z, &x, bits);
    tmi_ball_clears(&r, &x, NULL);
}

/* h first e^(-c K^2) / (2 pi c K), where first = M(s) e^(-s eps)/(s(s+1)) is the term at t = 0 and K the last node;
 * divided by 6 instead of 2 pi. */
static void tail_error(tmi_ball *z, const contour *c, const tmi_ball *first, long bits)
{
    tmi_ball rate, x;
    int64_t last = (int64_t)c->nodes - 1;
    tmi_ball_inits(&rate, &x, NULL);
    tmi_ball_set_double(&rate, c->h);
    tmi_ball_mul(&rate, &rate, &rate, bits);
    tmi_ball_mul(&rate, &rate, &c->square, bits);
    tmi_ball_shift(&rate, &rate, -1);
    tmi_ball_mul_int(&rate, &rate, last, bits); /* cK */
    tmi_ball_mul_int(&x, &rate, -last, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_div(&x, &x, &rate, bits);
    tmi_ball_mul(&x, &x, first, bits);
    tmi_ball_set_double(&rate, c->h);
    tmi_ball_mul(&x, &x, &rate, bits);
    tmi_ball_div_int(z, &x, 6, bits);
    tmi_ball_clears(&rate, &x, NULL);
}

/* Far out: delta is between 0 and M(s) e^(-s eps), because (1 - e^(eps-L))+ <= e^(s(L-eps)). */
static tamis_status nothing(tmi_ball *lower, tmi_ball *upper, contour *c, const tmi_ball *eps, long bits, tamis_error *err)
{
    tmi_complex at;
    tmi_ball s;
    tmi_complex_init(&at);
    tmi_ball_init(&s);
    tamis_status status = tmi_contour_fill(&at, 1, &c->top, c->profile, c->s, 0, bits, err);
    if (status == TAMIS_OK) {
        tmi_ball_set_double(&s, c->s);
        tmi_ball_sub(upper, &c->top, eps, bits);
        tmi_ball_mul(upper, upper, &s, bits);
        tmi_ball_exp(upper, upper, bits);
        tmi_ball_mul(upper, upper, &at.re, bits);
        tmi_ball_set_int(lower, 0);
        tmi_ball_union(lower, lower, upper, bits);
        tmi_ball_set(upper, lower);
    }
    c->nodes = 0;
    tmi_complex_clear(&at);
    tmi_ball_clear(&s);
    return status;
}

/* The sum of the real parts of e^(z y) table at the nodes z = s + ikh, those with k > 0 twice; and the one at k = 0. */
static void add_nodes(tmi_ball *sum, tmi_ball *first, const contour *c, const tmi_ball *y, long bits)
{
    tmi_ball x;
    tmi_complex z, turn, step;
    tmi_ball_init(&x);
    tmi_complex_init(&z);
    tmi_complex_init(&turn);
    tmi_complex_init(&step);
    tmi_ball_set_double(&x, c->h);
    tmi_ball_mul(&step.im, &x, y, bits);
    tmi_complex_exp(&step, &step, bits);
    tmi_ball_set_int(sum, 0);
    for (size_t k = 0; k < c->nodes; k++) {
        if (k % AFRESH == 0) {
            tmi_ball_set_double(&x, c->s);
            tmi_ball_mul(&turn.re, &x, y, bits);
            tmi_ball_set_double(&x, c->h);
            tmi_ball_mul_int(&x, &x, (int64_t)k, bits);
            tmi_ball_mul(&turn.im, &x, y, bits);
            tmi_complex_exp(&turn, &turn, bits);
        } else {
            tmi_complex_mul(&turn, &turn, &step, bits);
        }
        tmi_complex_mul(&z, &turn, &c->table[k], bits);
        if (k == 0) tmi_ball_set(first, &z.re);
        else tmi_ball_shift(&z.re, &z.re, 1);
        tmi_ball_add(sum, sum, &z.re, bits);
    }
    tmi_ball_clear(&x);
    tmi_complex_clear(&z);
    tmi_complex_clear(&turn);
    tmi_complex_clear(&step);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    contour *c = self;
    tamis_bound about = tmi_ball_bound(eps);
    if (c->bits != bits || fabs(about.upper - c->eps) > c->spread) {
        drop_table(c);
        choose(c, about.upper, DIGITS(bits));
        bool far = cumulant(c, c->s) - c->s * about.upper < LOG_NOTHING;
        tamis_status status = far ? nothing(lower, upper, c, eps, bits, err) : prepare(c, bits, err);
        if (status != TAMIS_OK || far) return status;
    }
    tmi_ball y, first, sum, x;
    tmi_ball_inits(&y, &first, &sum, &x, NULL);
    tmi_ball_sub(&y, &c->top, eps, bits);
    add_nodes(&sum, &first, c, &y, bits);
    tmi_ball_set_double(&x, c->h);
    tmi_ball_mul(&sum, &sum, &x, bits);
    tmi_ball_pi(&x, bits);
    tmi_ball_shift(&x, &x, 1);
    tmi_ball_div(&sum, &sum, &x, bits);
    step_error(&x, c, &y, bits);
    tmi_ball_widen(&sum, &x);
    tail_error(&x, c, &first, bits);
    tmi_ball_widen(&sum, &x);
    tmi_ball_set(lower, &sum);
    tmi_ball_set(upper, &sum);
    tmi_ball_clears(&y, &first, &sum, &x, NULL);
    return TAMIS_OK;
}

static void close_contour(void *self)
{
    contour *c = self;
    drop_table(c);
    tmi_ball_clears(&c->top, &c->sides[0], &c->sides[1], &c->square, NULL);
    tmi_free(c->near);
    tmi_free(c);
}

tamis_status tmi_contour_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err)
{
    double gaussian = 0;
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_loss *loss = profile->factors[i].loss;
        if (loss->kind == TMI_LOSS_GAUSSIAN) gaussian += (double)profile->factors[i].times * tmi_number_nearest(loss->a);
        if (!tmi_loss_is_exact(loss)) return tmi_fail(err, TAMIS_UNABLE, "a release without a generating function");
    }
    if (!(gaussian > 0)) return tmi_fail(err, TAMIS_UNABLE, "no Gaussian release in the list");
    contour *c = tmi_alloc(1, sizeof *c);
    if (!c || !(c->near = tmi_alloc(profile->count, sizeof *c->near))) {
        tmi_free(c);
        return tmi_fail_memory(err);
    }
    for (size_t i = 0; i < profile->count; i++) c->near[i] = tmi_number_nearest(profile->factors[i].loss->a);
    c->profile = profile;
    c->gaussian = gaussian;
    tmi_ball_inits(&c->top, &c->sides[0], &c->sides[1], &c->square, NULL);
    choose(c, 1, DIGITS(96)); /* what an ordinary question takes */
    bool affordable = is_affordable(c);
    c->nodes = 0;
    if (!affordable) {
        close_contour(c);
        return tmi_fail(err, TAMIS_UNABLE, "the integral would need too many nodes");
    }
    *evaluator = (tmi_evaluator){.delta = delta,
                                 .guess = guess,
                                 .free = close_contour,
                                 .rest = drop_table,
                                 .self = c,
                                 .exact = true,
                                 .lasting = true,
                                 .width = TAMIS_WIDTH};
    return TAMIS_OK;
}
