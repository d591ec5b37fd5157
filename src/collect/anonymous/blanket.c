/* The blanket. Let m(y) be the smallest probability of the report y over all answers. Every other person reports, with
 * probability m(y), y whatever the answer is, and otherwise something that is given away to the attacker. With x and x' the
 * answers of the person, and E = e^eps,
 *
 *     delta <= 1/n E(Z_1 + ... + Z_n)+,    Z = (R_x(y) - E R_x'(y)) / m(y) with probability m(y), else 0.
 *
 * (Given b blanket reports of the others, a histogram h of them and the person's has P(h) = M(h) / (b+1) times the sum of h_y
 * R_x(y) / w(y), M being the multinomial law with the shares w = m / sum of m; then average over b.)
 *
 * (.)+ is convex. So a Z whose values are split between the lattice points below and above, with the same mean, has the
 * larger expectation: a bound from above whose error is of second order in the lattice step. */
#include "collect/anonymous/blanket.h"

#include <math.h>

#include "base/memory.h"
#include "collect/anonymous/fold.h"

#define BITS TMI_RANDOMIZER_BITS
#define FINE 12.0  /* lattice steps in a standard deviation of Z, if places suffice */
#define COARSE 2.0 /* fewer give nothing */

/* Values of Z and their probabilities. */
#define VALUES (TMI_RANDOMIZER_MOST + 1)
typedef struct steps {
    size_t count;
    tmi_ball value[VALUES], probability[VALUES];
} steps;

static void steps_init(steps *s)
{
    s->count = 0;
    for (size_t i = 0; i < VALUES; i++) {
        tmi_ball_init(&s->value[i]);
        tmi_ball_init(&s->probability[i]);
    }
}

static void steps_clear(steps *s)
{
    for (size_t i = 0; i < VALUES; i++) {
        tmi_ball_clear(&s->value[i]);
        tmi_ball_clear(&s->probability[i]);
    }
}

/* The step of the lattice, a double; 0 if it would be too coarse. */
static double lattice_step(const steps *s, int64_t n)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < s->count; i++) {
        double z = tmi_ball_bound(&s->value[i]).upper, p = tmi_ball_bound(&s->probability[i]).upper;
        mean += p * z;
        square += p * z * z;
    }
    double deviation = sqrt(fmax(0, square - mean * mean)), fine = FINE;
    double places = 27 * sqrt((double)n); /* in deviations, the window and its margin */
    if (places * fine > 0.8 * (double)TMI_FOLD_PLACES) fine = 0.8 * (double)TMI_FOLD_PLACES / places;
    return deviation > 0 && fine >= COARSE ? deviation / fine : 0;
}

/* Splits a value between its neighbours on the lattice, mass and mean kept, rounded up. */
static void put_value(tmi_masses *m, tmi_ball *sums, const tmi_ball *value, const tmi_ball *probability, double h)
{
    tmi_ball x, share;
    tmi_ball_init(&x);
    tmi_ball_init(&share);
    tmi_ball_set_double(&share, h);
    tmi_ball_div(&x, value, &share, BITS);
    int64_t below = (int64_t)floor(tmi_ball_bound(&x).lower), i = below - m->first;
    tmi_ball_add_int(&x, &x, -below, BITS); /* the share of the upper neighbour */
    tmi_ball_mul(&share, &x, probability, BITS);
    if (tmi_ball_bound(&x).upper >
        1) { /* by rounding the value may be slightly beyond it: a convex increasing function is then at most this */
        tmi_ball_add(&sums[i + 1], &sums[i + 1], probability, BITS);
        tmi_ball_sub(&share, &share, probability, BITS);
        tmi_ball_abs(&share, &share);
        tmi_ball_add(&sums[i + 2], &sums[i + 2], &share, BITS);
        goto done;
    }
    tmi_ball_add(&sums[i + 1], &sums[i + 1], &share, BITS);
    tmi_ball_sub(&share, probability, &share, BITS);
    tmi_ball_add(&sums[i], &sums[i], &share, BITS);
done:
    tmi_ball_clear(&x);
    tmi_ball_clear(&share);
}

static tamis_status lay(tmi_masses *m, const steps *s, double h, tamis_error *err)
{
    double least = 0, most = 0;
    for (size_t i = 0; i < s->count; i++) {
        least = fmin(least, tmi_ball_bound(&s->value[i]).lower / h);
        most = fmax(most, tmi_ball_bound(&s->value[i]).upper / h);
    }
    if (!(most - least < 1e6)) return tmi_fail(err, TAMIS_UNABLE, "the values of a sum are too far apart");
    int64_t first = (int64_t)floor(least) - 2;
    size_t count = (size_t)(ceil(most) - (double)first) + 3;
    tmi_ball *sums = tmi_alloc(count, sizeof *sums);
    if (!sums) return tmi_fail_memory(err);
    for (size_t i = 0; i < count; i++) tmi_ball_init(&sums[i]);
    tamis_status status = tmi_masses_new(m, first, count, err);
    for (size_t i = 0; status == TAMIS_OK && i < s->count; i++) put_value(m, sums, &s->value[i], &s->probability[i], h);
    for (size_t i = 0; status == TAMIS_OK && i < count; i++) tmi_masses_set(m, i, &sums[i], true);
    for (size_t i = 0; i < count; i++) tmi_ball_clear(&sums[i]);
    tmi_free(sums);
    return status;
}

/* 1/n E(sum)+ from above; 1 if the lattice would be too coarse. */
static tamis_status mean_excess(double *delta, const steps *s, int64_t n, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_masses step = {0};
    tmi_fold sum;
    tmi_ball total, x;
    double h = lattice_step(s, n), most = 0;
    *delta = 1;
    if (h == 0) return TAMIS_OK;
    tmi_fold_init(&sum);
    tmi_ball_init(&total);
    tmi_ball_init(&x);
    TMI_TRY(lay(&step, s, h, err));
    TMI_TRY(tmi_fold_power(&sum, &step, n, true, err));
    for (size_t i = 0; i < sum.masses.count; i++) {
        int64_t at = sum.masses.first + (int64_t)i;
        if (at <= 0) continue;
        tmi_masses_get(&x, &sum.masses, i);
        tmi_ball_mul_int(&x, &x, at, BITS);
        tmi_ball_add(&total, &total, &x, BITS);
    }
    tmi_ball_set_double(&x, h);
    tmi_ball_mul(&total, &total, &x, BITS);
    tmi_ball_div_int(&total, &total, n, BITS);
    for (size_t i = 0; i < s->count; i++) most = fmax(most, tmi_ball_bound(&s->value[i]).upper);
    tmi_ball_set_double(&x, most + 2 * h); /* a sum beyond the window is at most n times this */
    tmi_ball_mul(&x, &x, &sum.beyond, BITS);
    tmi_ball_add(&total, &total, &x, BITS);
    *delta = fmin(1, tmi_ball_bound(&total).upper);
done:
    tmi_masses_clear(&step);
    tmi_fold_clear(&sum);
    tmi_ball_clear(&total);
    tmi_ball_clear(&x);
    return status == TAMIS_UNABLE ? TAMIS_OK : status;
}

/* z = (x - e y) / m */
static void ratio(tmi_ball *z, const tmi_ball *x, const tmi_ball *e, const tmi_ball *y, const tmi_ball *m)
{
    tmi_ball w;
    tmi_ball_init(&w);
    tmi_ball_mul(&w, e, y, BITS);
    tmi_ball_sub(&w, x, &w, BITS);
    tmi_ball_div(z, &w, m, BITS);
    tmi_ball_clear(&w);
}

/* The last value is 0, with what is left of 1. */
static void add_rest(steps *s)
{
    tmi_ball *rest = &s->probability[s->count];
    tmi_ball zero;
    tmi_ball_init(&zero);
    tmi_ball_set_int(rest, 1);
    for (size_t i = 0; i < s->count; i++) tmi_ball_sub(rest, rest, &s->probability[i], BITS);
    tmi_ball_max(rest, rest, &zero, BITS);
    tmi_ball_set_int(&s->value[s->count++], 0);
    tmi_ball_clear(&zero);
}

tamis_status tmi_blanket_delta(double *delta, const tmi_randomizer *r, int64_t n, const tmi_loss_at *at, double goal,
                               tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    steps s;
    tmi_ball e, excess;
    double found;
    steps_init(&s);
    tmi_ball_init(&e);
    tmi_ball_init(&excess);
    tmi_loss_at_balls(&e, &excess, at, BITS);
    *delta = 0;
    for (size_t k = r->pair_count; k-- > 0;) { /* those that differ most are last */
        s.count = 0;
        for (size_t y = 0; y < r->outputs; y++) {
            tmi_ball *m = &s.probability[s.count];
            tmi_ball_set(m, &r->p[y]);
            for (size_t x = 1; x < r->inputs; x++) tmi_ball_min(m, m, &r->p[x * r->outputs + y], BITS);
            ratio(&s.value[s.count++], &r->p[r->pairs[k].x * r->outputs + y], &e, &r->p[r->pairs[k].y * r->outputs + y], m);
        }
        add_rest(&s);
        TMI_TRY(mean_excess(&found, &s, n, err));
        *delta = fmax(*delta, found);
        if (goal > 0 && *delta > goal) {
            *delta = 1; /* the other pairs may have more */
            break;
        }
    }
done:
    if (status != TAMIS_OK) *delta = 1;
    steps_clear(&s);
    tmi_ball_clear(&e);
    tmi_ball_clear(&excess);
    return status;
}
