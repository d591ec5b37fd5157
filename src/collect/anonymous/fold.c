#include "collect/anonymous/fold.h"

#include <math.h>

#include "base/error.h"

#define DEVIATIONS 13 /* 10^-37 lies outside */
#define BITS 192

void tmi_fold_init(tmi_fold *f)
{
    *f = (tmi_fold){0};
    tmi_ball_init(&f->beyond);
}

void tmi_fold_clear(tmi_fold *f)
{
    tmi_masses_clear(&f->masses);
    tmi_ball_clear(&f->beyond);
    tmi_fold_init(f);
}

typedef struct shape {
    double mean, variance, reach;
} shape;

static shape shape_of(const tmi_masses *step)
{
    shape s = {0, 0, 1};
    double total = 0;
    tmi_ball x;
    tmi_ball_init(&x);
    for (size_t i = 0; i < step->count; i++) {
        double at = (double)(step->first + (int64_t)i), mass;
        tmi_masses_get(&x, step, i);
        mass = tmi_ball_bound(&x).upper;
        total += mass;
        s.mean += mass * at;
        s.variance += mass * at * at;
        if (mass > 0) s.reach = fmax(s.reach, fabs(at));
    }
    s.mean /= fmax(total, 1e-300);
    s.variance = fmax(0, s.variance - s.mean * s.mean);
    tmi_ball_clear(&x);
    return s;
}

/* z = x y in the window of `times` steps; z is new */
static tamis_status multiply(tmi_fold *z, const tmi_fold *x, const tmi_fold *y, const shape *s, double times, bool up,
                             tamis_error *err)
{
    tmi_fold made;
    double half = ceil(DEVIATIONS * sqrt(times * s->variance) + 3 * s->reach);
    tmi_fold_init(&made);
    if (2 * half > (double)TMI_FOLD_PLACES) return tmi_fail(err, TAMIS_UNABLE, "a sum has too many places");
    int64_t lowest = (int64_t)(floor(times * s->mean) - half), highest = (int64_t)(ceil(times * s->mean) + half);
    tamis_status status = tmi_masses_convolve(&made.masses, &made.beyond, &x->masses, &y->masses, lowest, highest, up, err);
    if (up) { /* the totals are 1 up to roundings, twice which is more than enough */
        tmi_ball_shift(&made.beyond, &made.beyond, 1);
        for (int k = 0; k < 2; k++) {
            tmi_ball twice;
            tmi_ball_init(&twice);
            tmi_ball_shift(&twice, k == 0 ? &x->beyond : &y->beyond, 1);
            tmi_ball_add(&made.beyond, &made.beyond, &twice, BITS);
            tmi_ball_clear(&twice);
        }
    }
    tmi_fold_clear(z);
    *z = made;
    return status;
}

static tamis_status copy(tmi_fold *z, const tmi_masses *x, tamis_error *err)
{
    tmi_ball mass;
    tamis_status status = tmi_masses_new(&z->masses, x->first, x->count, err);
    tmi_ball_init(&mass);
    for (size_t i = 0; status == TAMIS_OK && i < x->count; i++) {
        tmi_masses_get(&mass, x, i);
        tmi_masses_set(&z->masses, i, &mass, true);
    }
    tmi_ball_clear(&mass);
    return status;
}

tamis_status tmi_fold_power(tmi_fold *f, const tmi_masses *step, int64_t n, bool up, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    shape s = shape_of(step);
    tmi_fold one;
    int64_t done = 1;
    tmi_fold_init(&one);
    TMI_TRY(copy(&one, step, err));
    TMI_TRY(copy(f, step, err));
    for (int bit = 62 - __builtin_clzll((unsigned long long)n); bit >= 0; bit--) { /* below the leading digit of n */
        done *= 2;
        TMI_TRY(multiply(f, f, f, &s, (double)done, up, err));
        if (!(n >> bit & 1)) continue;
        done++;
        TMI_TRY(multiply(f, f, &one, &s, (double)done, up, err));
    }
done:
    tmi_fold_clear(&one);
    return status;
}
