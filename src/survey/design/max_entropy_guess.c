/* The first rounds of the search for the odds of conditional Poisson sampling, in doubles.
 *
 * The number of heads S of coins p has the characteristic function prod (1 + p (e^it - 1)), and for M beyond the width of
 * its law P(S = n) = 1/M sum over j of e^(-i n t_j) prod (1 + p (e^(i t_j) - 1)), t_j = 2 pi j / M. Without unit k the
 * factor of k is divided out, and the odds of k given n heads are w_k P(others: n - 1) / P(others: n). With d the variance
 * of S, M of order sqrt(d) will do, and the terms beyond 1 - cos t = 40 / d are below e^-40: about twenty remain, whatever
 * the size of the frame. Nothing here is certified.                                                                  */
#include <math.h>

#include "survey/design/max_entropy.h"

#define TERMS 64
#define ROUNDS 60
#define GOOD 1e-13 /* relative errors that doubles cannot improve on */
#define UNITS_A_LOOK 65536

typedef struct term {
    double x, y;   /* e^it - 1 */
    double re, im; /* the characteristic function times e^(-i n t), twice for t > 0: the other half of the circle */
} term;

typedef struct terms {
    term list[TERMS];
    size_t count;
} terms;

/* Twelve standard deviations or more to each side: by Bernstein's inequality, 2 exp(-42) lies beyond. */
static double half_width(double d) { return 14 + sqrt(196 + 84 * d); }

static bool set_terms(terms *t, const double *w, size_t count, int64_t n)
{
    double mean = 0, d = 0;
    for (size_t k = 0; k < count; k++) {
        const double p = w[k] / (1 + w[k]);
        mean += p;
        d += p / (1 + w[k]);
    }
    if (!(d > 0 && fabs(mean - (double)n) < 1e9)) return false;
    const int64_t M = 2 * (int64_t)ceil((half_width(d) + fabs(mean - (double)n)) / 2) + 1;
    t->count = 0;
    for (int64_t j = 0; j <= M / 2; j++) {
        const double angle = 2 * M_PI * (double)j / (double)M;
        if (d * (1 - cos(angle)) > 40) break;
        if (t->count == TERMS) return false;
        t->list[t->count++] = (term){cos(angle) - 1, sin(angle), 1, 0};
    }
    for (size_t k = 0; k < count; k++) {
        const double p = w[k] / (1 + w[k]);
        for (size_t j = 0; j < t->count; j++) {
            term *at = &t->list[j];
            const double x = 1 + p * at->x, y = p * at->y, re = at->re * x - at->im * y;
            at->im = at->re * y + at->im * x;
            at->re = re;
        }
    }
    for (size_t j = 0; j < t->count; j++) { /* n t_j is a multiple of 2 pi / M: reduced before it is rounded */
        term *at = &t->list[j];
        const double angle = -2 * M_PI * (double)((int64_t)j * (n % M) % M) / (double)M, both = j > 0 ? 2 : 1;
        const double re = both * (at->re * cos(angle) - at->im * sin(angle));
        at->im = both * (at->re * sin(angle) + at->im * cos(angle));
        at->re = re;
    }
    return true;
}

/* P(others: n - 1) / P(others: n) without a coin of probability p. */
static double ratio(const terms *t, double p)
{
    double above = 0, below = 0;
    for (size_t j = 0; j < t->count; j++) {
        const term *at = &t->list[j];
        const double x = 1 + p * at->x, y = p * at->y, size = x * x + y * y;
        const double re = (at->re * x + at->im * y) / size, im = (at->im * x - at->re * y) / size;
        below += re;
        above += re + re * at->x - im * at->y; /* the real part of (re + i im) e^it */
    }
    return above / below;
}

/* One round; gives the largest relative error that the odds had. */
static tamis_status correct(double *worst, double *w, const double *wanted, const double *step, size_t count, int64_t n,
                            const tmi_watch *watch, tamis_error *err)
{
    terms t;
    const bool can = set_terms(&t, w, count, n);
    *worst = can ? 0 : INFINITY;
    for (size_t k = 0; can && k < count; k++) {
        if (k % UNITS_A_LOOK == 0 && tmi_watch_tell(watch, 0, err) != TAMIS_OK) return TAMIS_SYSTEM;
        const double error = wanted[k] / (w[k] * ratio(&t, w[k] / (1 + w[k]))) - 1, factor = 1 + step[k] * error;
        if (!(factor > 0 && factor < INFINITY)) {
            *worst = INFINITY;
            return TAMIS_OK;
        }
        *worst = fmax(*worst, fabs(error));
        w[k] *= factor;
    }
    return TAMIS_OK;
}

tamis_status tmi_max_entropy_guess(double *error, double *w, const double *wanted, const double *step, size_t count, int64_t n,
                                   const tmi_watch *watch, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *error = INFINITY;
    for (size_t k = 0; k < count; k++) w[k] = wanted[k];
    for (int round = 0; round < ROUNDS; round++) {
        const double before = *error;
        TMI_TRY(correct(error, w, wanted, step, count, n, watch, err));
        if (*error < GOOD || !isfinite(*error)) break;
        if (*error < 1e-9 && *error > before / 2) break; /* rounding is all that is left */
    }
done:
    return status;
}
