/* What two collections of vectors reveal at least: a lower bound on epsilon and delta.
 *
 * The answers x and y of one person differ at some positions, and all others answer x, or all y, or all zeros. An attacker adds
 * up, over these positions, the reports that look like x: D, a sum of independent bits. From some t on it speaks for x:
 *
 *     delta >= P(D >= t) - e^eps Q(D >= t),    eps >= log((P(D >= t) - delta) / Q(D >= t))    for every t.
 *
 * Counts give D, and so do whole reports. */
#include <math.h>

#include "collect/anonymous/reports.h"

#define WIDTH 1e-12

/* Positions at which x has a one (first) and a zero (second): bits that look like x. */
typedef struct attack {
    tamis_trials p[4], q[4]; /* others, others, the person, the person */
    double mean, deviation;
} attack;

/* What all others answer at these positions: as the person does in one case or the other, which is always possible; zeros, if
 * their ones can be elsewhere or need not be; ones only if any vector is an answer. */
typedef enum others { LIKE_Y, LIKE_X, ZEROS, ONES } others;

static others last_of(const tamis_reports *r)
{
    if (r->exactly && r->positions - tamis_reports_differing(r) < r->ones) return LIKE_X;
    return r->ones == 0 ? ONES : ZEROS;
}

static attack prepare(const tmi_one_bit *bit, tmi_changes changes, others like)
{
    int64_t n = bit->others, most = TAMIS_MAX_UNITS / (n + 1);
    attack a = {0};
    if (changes.down > most / 2) changes.down = most / 2; /* ignoring positions is a weaker attack, but a valid one */
    if (changes.up > most / 2) changes.up = most / 2;
    const tamis_number *x[2] = {bit->tell_one, bit->tell_zero}, *y[2] = {bit->lie_zero, bit->lie_one};
    int64_t times[2] = {changes.down, changes.up};
    double variance = 0;
    for (int i = 0; i < 2; i++) {
        bool as_x = like == LIKE_X || (like == ONES && i == 0) || (like == ZEROS && i == 1);
        const tamis_number *other = as_x ? x[i] : y[i];
        double p = tmi_number_nearest(other), count = (double)n * (double)times[i];
        a.p[i] = a.q[i] = (tamis_trials){other, n * times[i]};
        a.p[i + 2] = (tamis_trials){x[i], times[i]};
        a.q[i + 2] = (tamis_trials){y[i], times[i]};
        a.mean += count * p + (double)times[i] * tmi_number_nearest(y[i]);
        variance += (count + (double)times[i]) * p * (1 - p);
    }
    a.deviation = sqrt(variance);
    return a;
}

typedef struct tails {
    double p, q; /* P(D >= t) from below, Q(D >= t) from above */
} tails;

static tamis_status tails_at(tails *z, const attack *a, double t, tamis_error *err)
{
    tamis_bound p = {0, 1}, q = {0, 1};
    tmi_ball x;
    tmi_ball_init(&x);
    int64_t k = t < 1 ? 1 : (int64_t)t;
    tamis_status status = tmi_trials_part(&x, &(tmi_trials){a->p, 4}, TMI_AT_LEAST, k, 64, err);
    if (status == TAMIS_OK) p = tmi_ball_bound(&x);
    if (status == TAMIS_OK) status = tmi_trials_part(&x, &(tmi_trials){a->q, 4}, TMI_AT_LEAST, k, 64, err);
    if (status == TAMIS_OK) q = tmi_ball_bound(&x);
    *z = (tails){fmax(0, p.lower), fmin(1, fmax(q.upper, 1e-320))};
    tmi_ball_clear(&x);
    return status;
}

/* What is gained at t: of eps (exp_eps = 0), or of delta. Rounded down. */
typedef struct goal {
    double exp_eps, delta;
} goal;

static double gain(const tails *z, const goal *g)
{
    if (g->exp_eps > 0) return z->p - g->exp_eps * z->q * (1 + WIDTH);
    double more = z->p - g->delta;
    return more > 0 ? (log(more) - log(z->q)) * (1 - WIDTH) - 1e-14 : -INFINITY;
}

/* Every t gives a valid bound: a golden section between the mean and many deviations beyond it finds a good one. */
static tamis_status best(double *found, const attack *a, const goal *g, tamis_error *err)
{
    const double golden = 0.6180339887498949;
    double low = a->mean - a->deviation - 1, high = a->mean + 14 * a->deviation + 40;
    double u = high - golden * (high - low), v = low + golden * (high - low), f, h;
    tails z;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tails_at(&z, a, u, err));
    f = gain(&z, g);
    TMI_TRY(tails_at(&z, a, v, err));
    h = gain(&z, g);
    for (int i = 0; i < 60 && high - low > fmax(1, 1e-3 * a->deviation); i++) {
        *found = fmax(*found, fmax(f, h));
        if (f >= h) { /* where nothing is gained both are -inf: further in there is more */
            high = v;
            v = u;
            h = f;
            u = high - golden * (high - low);
            TMI_TRY(tails_at(&z, a, u, err));
            f = gain(&z, g);
        } else {
            low = u;
            u = v;
            f = h;
            v = low + golden * (high - low);
            TMI_TRY(tails_at(&z, a, v, err));
            h = gain(&z, g);
        }
    }
    *found = fmax(*found, fmax(f, h));
done:
    return status;
}

static tamis_status each(double *found, const tamis_reports *r, tmi_changes changes, others last, const goal *g, tamis_error *err)
{
    tmi_one_bit bit;
    tamis_status status = tmi_one_bit_init(&bit, r->reports, r->lie_one, tmi_lie_zero(r), err);
    *found = 0;
    for (others like = LIKE_Y; status == TAMIS_OK && like <= last; like++) {
        attack a = prepare(&bit, changes, like);
        status = best(found, &a, g, err);
    }
    tmi_one_bit_clear(&bit);
    return status;
}

tamis_status tmi_attack_delta(double *delta, const tamis_reports *r, const tamis_number *eps, tamis_error *err)
{
    double e = exp(tmi_number_up(eps)) * (1 + WIDTH);
    *delta = 0;
    return isinf(e) ? TAMIS_OK : each(delta, r, tmi_reports_changes(r), last_of(r), &(goal){.exp_eps = e}, err);
}

tamis_status tmi_attack_epsilon(double *eps, const tamis_reports *r, const tamis_number *delta, tamis_error *err)
{
    return each(eps, r, tmi_reports_changes(r), last_of(r), &(goal){.delta = tmi_number_up(delta)}, err);
}

tamis_status tmi_attack_two(double *eps, const tamis_reports *r, tmi_changes changes, const tamis_number *delta, tamis_error *err)
{
    *eps = 0;
    if (changes.down + changes.up == 0) return TAMIS_OK;
    return each(eps, r, changes, LIKE_X, &(goal){.delta = tmi_number_up(delta)}, err);
}
