#include <math.h>
#include <tamis/experimental/smooth.h>

#include "base/memory.h"
#include "num/number.h"
#include "study/errors_parts.h"

/* ---- a quantile of a simple random sample ---- */

/* log C(n, k) */
static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

/* From the largest mass to both sides, until terms no longer count; the masses are normalised by their sum. */
uint32_t tmi_level_rank(double at, uint32_t n)
{
    const double rank = ceil(at * n - 1e-9);
    return rank < 1 ? 1 : rank > n ? n : (uint32_t)rank;
}

double tmi_level_error(const tmi_values *v, uint32_t n, double at)
{
    const double N = v->count, m = tmi_level_rank(at, n), truth = v->sorted[tmi_level_rank(at, v->count) - 1];
    if (n == v->count) return 0;
    const double first = m, last = N - (n - m);
    const double top = fmin(fmax(floor(m * (N + 1) / (n + 1.0)), first), last);
    const double start = log_choose(top - 1, m - 1) + log_choose(N - top, n - m) - log_choose(N, n);
    double mass = exp(start), all = 0, squares = 0;
    for (double k = top; k <= last && mass > 1e-18 * all; k++) { /* mass of k + 1: times k/(k-m+1) (N-k-n+m)/(N-k) */
        const double away = v->sorted[(uint32_t)k - 1] - truth;
        all += mass;
        squares += mass * away * away;
        mass *= k < N ? k / (k - m + 1) * (N - k - (n - m)) / (N - k) : 0;
    }
    mass = exp(start);
    for (double k = top - 1; k >= first; k--) {
        mass *= (k - m + 1) / k * (N - k) / (N - k - (n - m));
        const double away = v->sorted[(uint32_t)k - 1] - truth;
        all += mass;
        squares += mass * away * away;
        if (mass <= 1e-18 * all) break;
    }
    return squares / all;
}

/* ---- inverse sensitivity ---- */

static double cube(double x) { return x * x * x; }

/* len(y) = how many records must change to make y the median, give or take the reach: at most j for y in [x_(m-j) - reach,
 * x_(m+j) + reach], order statistics beyond the data being the ends of the range. y is drawn with density proportional to
 * e^(-eps len/2): between two such sets the density is level, and the integrals of 1 and (y - truth)^2 are powers. */
double tmi_inverse_error(const tmi_ordered *o, double eps, double truth)
{
    const double reach = TMI_REACH * (o->to - o->from), factor = exp(-eps / 2), range = o->to - o->from;
    double left = o->x[o->rank - 1], right = left, weight = 1, mass = 0, squares = 0;
    for (uint32_t j = 0; left > o->from || right < o->to; j++, weight *= factor) {
        const double a = j < o->rank ? fmax(o->x[o->rank - 1 - j] - reach, o->from) : o->from;
        const double b = o->rank - 1 + j < o->n ? fmin(o->x[o->rank - 1 + j] + reach, o->to) : o->to;
        mass += weight * (left - a + b - right);
        squares += weight * (cube(left - truth) - cube(a - truth) + cube(b - truth) - cube(right - truth)) / 3;
        left = a;
        right = b;
        if (weight * range < 1e-17 * mass) break;
    }
    return squares / mass;
}

/* ---- noisy counts ---- */

double tmi_histogram_error(const tmi_ordered *o, double eps, double truth, tmi_stream *r)
{
    const double width = (o->to - o->from) / TMI_BINS, half = o->n * o->at;
    double below = 0, median = o->to;
    uint32_t at = 0;
    for (int b = 0; b < TMI_BINS; b++) {
        const double end = o->from + (b + 1) * width;
        double count = 0;
        for (; at < o->n && (o->x[at] < end || b + 1 == TMI_BINS); at++) count++;
        count += 2 / eps * tmi_stream_laplace(r); /* a replaced record leaves one bin and enters another */
        if (below + count >= half) {
            const double part = count > 0 ? fmin(fmax((half - below) / count, 0), 1) : 0;
            median = end - width + part * width;
            break;
        }
        below += count;
    }
    return (median - truth) * (median - truth);
}

/* ---- calibration ---- */

/* The value of rank (i - 1/2) N/n stands for that of rank i in a sample. */
tamis_status tmi_calibrate(tmi_smooth_calibration *c, const tmi_values *v, uint32_t n, uint32_t rank, const tmi_spending *spent,
                           tamis_error *err)
{
    tamis_number *eps = NULL, *delta = NULL;
    tamis_smooth_choice choice;
    tamis_status status;
    double *x = tmi_alloc(n, sizeof *x);
    if (!x) return tmi_fail_memory(err);
    for (uint32_t i = 0; i < n; i++) x[i] = v->sorted[(uint32_t)((i + 0.5) * v->count / n)];
    TMI_TRY(tmi_number_double(&eps, spent->eps, err));
    TMI_TRY(tmi_number_double(&delta, spent->delta, err));
    *c = (tmi_smooth_calibration){0, 0};
    status = tamis_smooth_choose(&choice, eps, delta, x, n, rank, v->from, v->to, err);
    if (status == TAMIS_OK) *c = (tmi_smooth_calibration){choice.alpha, choice.beta};
    if (status == TAMIS_UNABLE) status = TAMIS_OK; /* there is none for an epsilon so small: the mechanism does not apply */

done:
    tmi_number_frees(&eps, &delta, NULL);
    tmi_free(x);
    return status;
}
