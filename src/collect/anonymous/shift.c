#include "collect/anonymous/shift.h"

#include <math.h>

#define NEAR 64       /* places looked at around the guess: a guess in doubles is off by one or two */
#define FIRST_BITS 64 /* sixteen digits of a mass in a sixth of a millisecond, whatever the number of reports */

void tmi_loss_at_balls(tmi_ball *e, tmi_ball *excess, const tmi_loss_at *at, long bits)
{
    tmi_ball eps;
    if (at->exp_eps) {
        tmi_ball_set_number(e, at->exp_eps, bits);
        tmi_ball_add_int(excess, e, -1, bits);
        return;
    }
    tmi_ball_init(&eps);
    tmi_ball_set_number(&eps, at->eps, bits);
    tmi_ball_exp(e, &eps, bits);
    tmi_ball_expm1(excess, &eps, bits);
    tmi_ball_clear(&eps);
}

/* Everything about one question at one precision. */
typedef struct work {
    const tmi_shift *shift;
    int64_t others;
    tmi_ball e, excess, a, b;
    long bits;
} work;

/* 1/(1 + e^x) */
static void logistic(tmi_ball *z, const tmi_ball *x, long bits)
{
    tmi_ball one;
    tmi_ball_init(&one);
    tmi_ball_set_int(&one, 1);
    tmi_ball_exp(z, x, bits);
    tmi_ball_add_int(z, z, 1, bits);
    tmi_ball_div(z, &one, z, bits);
    tmi_ball_clear(&one);
}

static void person(tmi_ball *more, tmi_ball *less, const tmi_shift *shift, long bits)
{
    if (shift->more) {
        tmi_ball_set_number(more, shift->more, bits);
        tmi_ball_set_number(less, shift->less, bits);
        return;
    }
    tmi_ball local;
    tmi_ball_init(&local);
    tmi_ball_set_number(&local, shift->local, bits);
    logistic(less, &local, bits);
    tmi_ball_neg(&local, &local);
    logistic(more, &local, bits);
    tmi_ball_clear(&local);
}

static void work_init(work *w, const tmi_shift *shift, const tmi_loss_at *at, long bits)
{
    tmi_ball x;
    *w = (work){.shift = shift, .bits = bits};
    tmi_ball_init(&x);
    tmi_ball_init(&w->e);
    tmi_ball_init(&w->excess);
    tmi_ball_init(&w->a);
    tmi_ball_init(&w->b);
    for (size_t i = 0; i < shift->count; i++) w->others += shift->others[i].count;
    tmi_loss_at_balls(&w->e, &w->excess, at, bits);
    person(&w->a, &x, shift, bits);
    tmi_ball_mul(&x, &x, &w->e, bits); /* E less */
    tmi_ball_sub(&w->b, &w->excess, &x, bits);
    tmi_ball_add(&w->b, &w->b, &w->a, bits); /* E - 1 - E less + more */
    tmi_ball_sub(&w->a, &w->a, &x, bits);
    tmi_ball_clear(&x);
}

static void work_clear(work *w)
{
    tmi_ball_clear(&w->e);
    tmi_ball_clear(&w->excess);
    tmi_ball_clear(&w->a);
    tmi_ball_clear(&w->b);
}

int tmi_shift_gains(const tmi_shift *shift, const tmi_loss_at *at)
{
    work w;
    int sign = 0;
    for (long bits = 64; sign == 0 && bits <= 1024; bits *= 4) {
        work_init(&w, shift, at, bits);
        sign = tmi_ball_is_positive(&w.a) ? 1 : tmi_ball_is_negative(&w.a) ? -1 : 0;
        bool zero = tmi_ball_is_zero(&w.a);
        work_clear(&w);
        if (zero) break;
    }
    return sign;
}

/* The law of the others tilted by e^x has mean K'(x) and variance K''(x). c(t-1)/c(t) is e^x where t - 1/2 is K'(x), up to a
 * correction by the third cumulant; it is to be B/A. A guess, in doubles. */
static double guess(const work *w)
{
    tamis_bound a = tmi_ball_bound(&w->a), b = tmi_ball_bound(&w->b);
    double x = log(b.upper / a.upper), mean = 0, variance = 0, third = 0;
    for (size_t i = 0; i < w->shift->count; i++) {
        double n = (double)w->shift->others[i].count, p = tmi_number_nearest(w->shift->others[i].probability);
        double odds = p / (1 - p) * exp(x), q = isinf(odds) ? 1 : odds / (1 + odds);
        mean += n * q;
        variance += n * q * (1 - q);
        third += n * q * (1 - q) * (1 - 2 * q);
    }
    return mean + 0.5 - (variance > 1 ? 0.5 * third / variance : 0);
}

void tmi_shift_line_at(tmi_shift_line *line, const tmi_shift *shift, const tmi_loss_at *at)
{
    work w;
    work_init(&w, shift, at, TMI_BITS_FIRST);
    *line = (tmi_shift_line){tmi_ball_bound(&w.a), tmi_ball_bound(&w.b), tmi_ball_bound(&w.excess), guess(&w)};
    work_clear(&w);
}

static tamis_status mass(tmi_ball *z, const work *w, int64_t k, tamis_error *err)
{
    return tmi_trials_part(z, &(tmi_trials){w->shift->others, w->shift->count}, TMI_MASS, k, w->bits, err);
}

/* gain(t) from c(t-1) and c(t) */
static void gain(tmi_ball *z, const work *w, const tmi_ball *before, const tmi_ball *at)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_mul(z, &w->a, before, w->bits);
    tmi_ball_mul(&x, &w->b, at, w->bits);
    tmi_ball_sub(z, z, &x, w->bits);
    tmi_ball_clear(&x);
}

/* f(t) = A c(t-1) - (E-1) G(t) */
static tamis_status value(tmi_ball *z, const work *w, const tmi_ball *before, int64_t t, tamis_error *err)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tamis_status status = tmi_trials_part(&x, &(tmi_trials){w->shift->others, w->shift->count}, TMI_AT_LEAST, t, w->bits, err);
    tmi_ball_mul(z, &w->a, before, w->bits);
    tmi_ball_mul(&x, &x, &w->excess, w->bits);
    tmi_ball_sub(z, z, &x, w->bits);
    tmi_ball_clear(&x);
    return status;
}

/* The best t is one of low ... high: gain(low - 1) is certainly negative, or low is 1; gain(high) is certainly positive, or
 * high is the last t, others + 1. c[0] = c(low - 1). */
static tamis_status bracket(int64_t *low, int64_t *high, tmi_ball *c, const work *w, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball g, before, after;
    double about = guess(w), last = (double)w->others + 1;
    int64_t t = !(about >= 1) ? 1 : about >= last ? w->others + 1 : (int64_t)about;
    int steps = 0;
    tmi_ball_init(&g);
    tmi_ball_init(&before);
    tmi_ball_init(&after);
    TMI_TRY(mass(c, w, t - 1, err));
    for (*low = t; *low > 1; --*low, steps++) {
        TMI_TRY(mass(&before, w, *low - 2, err));
        gain(&g, w, &before, c);
        if (tmi_ball_is_negative(&g)) break;
        tmi_ball_set(c, &before);
        if (steps > NEAR) goto lost;
    }
    tmi_ball_set(&before, c);
    for (*high = *low; *high <= w->others; ++*high, steps++) {
        TMI_TRY(mass(&after, w, *high, err));
        gain(&g, w, &before, &after);
        if (tmi_ball_is_positive(&g)) break;
        if (tmi_ball_is_negative(&g)) { /* this t is too low for certain */
            *low = *high + 1;
            tmi_ball_set(c, &after);
        }
        tmi_ball_set(&before, &after);
        if (steps > NEAR) goto lost;
    }
    goto done;
lost:
    status = tmi_fail(err, TAMIS_UNABLE, "the most revealing results were not found");
done:
    tmi_ball_clear(&g);
    tmi_ball_clear(&before);
    tmi_ball_clear(&after);
    return status;
}

tamis_status tmi_shift_delta(tmi_ball *delta, const tmi_shift *shift, const tmi_loss_at *at, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    int64_t low = 1, high = 1;
    work w;
    tmi_ball c, f, zero;
    work_init(&w, shift, at, bits);
    tmi_ball_init(&c);
    tmi_ball_init(&f);
    tmi_ball_init(&zero);
    if (!tmi_ball_is_positive(&w.a)) { /* delta is at most A */
        tmi_ball_max(delta, &w.a, &zero, bits);
        tmi_ball_union(delta, delta, &zero, bits);
        goto done;
    }
    tmi_ball_set_unknown(delta);
    TMI_TRY(bracket(&low, &high, &c, &w, err));
    TMI_TRY(value(delta, &w, &c, low, err));
    for (int64_t t = low + 1; t <= high; t++) { /* ties only */
        TMI_TRY(mass(&c, &w, t - 1, err));
        TMI_TRY(value(&f, &w, &c, t, err));
        tmi_ball_max(delta, delta, &f, bits);
    }
    tmi_ball_max(delta, delta, &zero, bits);
done:
    work_clear(&w);
    tmi_ball_clear(&c);
    tmi_ball_clear(&f);
    tmi_ball_clear(&zero);
    return status;
}

tamis_status tmi_shift_bound(tamis_bound *delta, const tmi_shift *shift, const tmi_loss_at *at, double width, tamis_error *err)
{
    tmi_ball z;
    tamis_status status = TAMIS_OK;
    *delta = (tamis_bound){0, 1};
    int sign = tmi_shift_gains(shift, at);
    if (sign < 0) {
        *delta = (tamis_bound){0, 0};
        return TAMIS_OK;
    }
    tmi_ball_init(&z);
    for (long bits = FIRST_BITS; status == TAMIS_OK && bits <= 1024; bits *= 2) {
        status = tmi_shift_delta(&z, shift, at, bits, err);
        if (status != TAMIS_OK) break;
        tamis_bound x = tmi_ball_bound(&z);
        *delta = (tamis_bound){fmax(0, x.lower), fmin(1, x.upper)};
        if (delta->upper - delta->lower <= width * delta->upper || delta->upper < 1e-300) break;
    }
    tmi_ball_clear(&z);
    return status;
}
