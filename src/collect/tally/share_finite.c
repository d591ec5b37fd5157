/* The interval for a population of N, of which the n people who reported are a simple random sample, or all.
 *
 * P_K(count >= c) = sum over k of P(k ones among the n) G(k), where G(k) = P(Bin(k, 1 - lie) + Bin(n - k, lie_zero) >= c) does
 * not depend on K and grows with k. So G is computed once for each k that is needed, and on a grid if n is large: between two
 * grid points the larger value is taken. The result is an upper bound of the probability, too large by at most a few
 * hundredths of itself, and a K is left out only if even that is at most (1 - confidence) / 2. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "collect/tally/share_interval.h"
#include "num/law/law.h"

#define STEPS 24 /* grid points for each standard deviation of the estimated number of ones */
#define REACH 8  /* standard deviations on each side beyond which a bound serves */
#define POINTS (2 * REACH * (STEPS + 1) + 8)

typedef struct test {
    const tmi_share_case *c;
    bool upwards; /* P(count >= c), which grows with K; else P(count <= c), which falls */
    double half;
    tamis_number *truth; /* 1 - lie */
    double spread;       /* of the estimated number of ones among the reporters, given them */
    double guess;        /* that estimate */
    int64_t first, step; /* the grid of k: first + i step, 0 <= i < POINTS */
    double tails[POINTS];
    bool known[POINTS];
} test;

/* An upper bound of P(count >= c) or P(count <= c) if k of the reporters have a one. */
static tamis_status tail_at(double *p, const test *t, int64_t k, tamis_error *err)
{
    const tamis_trials groups[] = {{t->truth, k}, {t->c->lie_zero, t->c->reports - k}};
    tmi_ball ball;
    tmi_ball_init(&ball);
    tamis_status status = tmi_trials_part(&ball, &(tmi_trials){groups, 2}, t->upwards ? TMI_AT_LEAST : TMI_AT_MOST, t->c->ones,
                                          64, err);
    *p = status == TAMIS_OK ? fmin(tmi_ball_bound(&ball).upper, 1) : 1;
    tmi_ball_clear(&ball);
    return status;
}

/* The same from the grid: at the next grid point on the side where the probability is larger. */
static tamis_status tail_near(double *p, test *t, int64_t k, tamis_error *err)
{
    const int64_t n = t->c->reports;
    int64_t i = k < t->first ? -1 : (k - t->first) / t->step;
    if (t->upwards && (k < t->first || t->first + i * t->step < k)) i++;
    *p = 1;
    if (t->upwards ? i >= POINTS : i < 0) return TAMIS_OK;
    if (i < 0) i = 0;
    if (i >= POINTS) i = POINTS - 1;
    int64_t at = t->first + i * t->step;
    if (at > n) {
        if (!t->upwards) return TAMIS_OK; /* no such k */
        at = n;
    }
    if (!t->known[i]) {
        tamis_status status = tail_at(&t->tails[i], t, at, err);
        if (status != TAMIS_OK) return status;
        t->known[i] = true;
    }
    *p = t->tails[i];
    return TAMIS_OK;
}

/* An upper bound of the probability under K. */
static tamis_status probability(double *p, test *t, int64_t K, tamis_error *err)
{
    const tmi_share_case *c = t->c;
    if (c->population == c->reports) return tail_at(p, t, K, err);
    tmi_law law;
    *p = 1;
    tmi_law_init(&law);
    tamis_status status = tmi_law_hypergeometric(&law, &(tmi_hypergeometric){c->population, K, c->reports},
                                                 (tmi_window){0x1p-70, 64}, err);
    double sum = 0, tail;
    if (status == TAMIS_OK) sum = tmi_ball_bound(&law.below).upper + tmi_ball_bound(&law.above).upper;
    for (size_t i = 0; status == TAMIS_OK && i < law.count; i++) {
        status = tail_near(&tail, t, law.first + (int64_t)i, err);
        if (status == TAMIS_OK) sum += tail * tmi_ball_bound(&law.mass[i]).upper;
    }
    tmi_law_clear(&law);
    if (status == TAMIS_OK) *p = sum * (1 + 0x1p-30); /* at most 2^20 terms >= 0, each rounded twice */
    return status;
}

/* K as a distance from the end at which everything is plausible. */
static tamis_status plausible_at(bool *plausible, test *t, int64_t steps, tamis_error *err)
{
    double p;
    tamis_status status = probability(&p, t, t->upwards ? t->c->population - steps : steps, err);
    *plausible = !(p <= t->half);
    return status;
}

/* The plausible K farthest from that end; the end itself if there is none. */
static tamis_status farthest(int64_t *ones, test *t, tamis_error *err)
{
    const double N = (double)t->c->population, n = (double)t->c->reports;
    const double share = fmin(fmax(t->guess / n, 0), 1);
    const double sd = N / n * sqrt(t->spread * t->spread + n * (1 - n / N) * share * (1 - share)) + 1;
    const int64_t most = t->c->population, middle = (int64_t)(share * N);
    int64_t low = t->upwards ? most - middle : middle, width = 1 + (int64_t)fmin(2 * sd, 0x1p40), high;
    bool yes = false;
    tamis_status status = TAMIS_OK;
    if (low < 0) low = 0;
    if (low > most) low = most;
    TMI_TRY(plausible_at(&yes, t, low, err));
    high = yes ? low : low + 1;
    while (!yes && low > 0) {
        high = low;
        low = low > width ? low - width : 0;
        width *= 2;
        TMI_TRY(plausible_at(&yes, t, low, err));
    }
    if (!yes) high = low; /* nothing is plausible */
    else if (high == low) {
        while (yes && high <= most) {
            low = high;
            high = most - high >= width ? high + width : most + 1;
            width *= 2;
            if (high <= most) TMI_TRY(plausible_at(&yes, t, high, err));
        }
    }
    while (high - low > 1) {
        const int64_t between = low + (high - low) / 2;
        TMI_TRY(plausible_at(&yes, t, between, err));
        if (yes) low = between;
        else high = between;
    }
    *ones = t->upwards ? most - low : low;
done:
    return status;
}

static tamis_status make(test *t, const tmi_share_case *c, tamis_error *err)
{
    tamis_number *one = NULL;
    *t = (test){.c = c, .half = tmi_share_half(c->confidence)};
    tamis_status status = tmi_number_ratio(&one, 1, 1, err);
    if (status == TAMIS_OK) status = tmi_number_sub(&t->truth, one, c->lie, err);
    tamis_number_free(one);
    if (status != TAMIS_OK) return status;
    const double n = (double)c->reports, f = tmi_number_nearest(c->lie), g = tmi_number_nearest(c->lie_zero), slope = 1 - f - g;
    const double share = fmin(fmax(((double)c->ones / n - g) / slope, 0), 1);
    t->guess = ((double)c->ones - g * n) / slope;
    t->spread = sqrt(n * (share * f * (1 - f) + (1 - share) * g * (1 - g))) / slope;
    t->step = 1 + (int64_t)fmin(t->spread / STEPS, 0x1p40);
    const double first = t->guess - REACH * (t->spread + 2 * STEPS / REACH);
    t->first = first > 0 ? (int64_t)fmin(first, n) : 0;
    return TAMIS_OK;
}

tamis_status tmi_share_interval_finite(int64_t *lower, int64_t *upper, const tmi_share_case *c, tamis_error *err)
{
    int64_t low = 0, high = c->population;
    test t;
    *lower = low;
    *upper = high;
    tamis_status status;
    TMI_TRY(make(&t, c, err));
    TMI_TRY(farthest(&high, &t, err));
    t.upwards = true;
    memset(t.known, 0, sizeof t.known);
    TMI_TRY(farthest(&low, &t, err));
    *lower = low < high ? low : high;
    *upper = low < high ? high : low;
done:
    tamis_number_free(t.truth);
    return status;
}
