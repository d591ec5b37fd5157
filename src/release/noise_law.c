#include "release/noise_law.h"

#include <math.h>
#include <tamis/rng.h>

#include "num/ball.h"
#include "num/number.h"

tmi_int128 tmi_add_noise(tmi_int128 truth, int64_t noise, int64_t limit)
{
    const tmi_int128 bound = (tmi_int128)TAMIS_NOISE_MAX - limit;
    tmi_int128 inside = truth > bound ? bound : truth < -bound ? -bound : truth, sum = inside + noise;
    return sum > limit ? limit : sum < -limit ? -limit : sum;
}

double tmi_noise_sd(const tamis_number *scale)
{
    double lambda = 1 / tmi_number_up(scale);
    return M_SQRT2 * exp(-lambda / 2) / -expm1(-lambda);
}

/* (1 - p) / (1 + p) = tanh(1 / (2 scale)) */
double tmi_noise_zero(const tamis_number *scale)
{
    return tanh(0.5 / tmi_number_nearest(scale));
}

typedef struct tail {
    const tamis_number *scale, *alpha;
} tail;

/* scale * (log 2 - log(1 + p) - log alpha) */
static tamis_status reach(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    const tail *t = context;
    tmi_ball s, x, y;
    tmi_ball_init(&s);
    tmi_ball_init(&x);
    tmi_ball_init(&y);
    tmi_ball_set_number(&s, t->scale, bits);
    tmi_ball_set_int(&x, -1);
    tmi_ball_div(&x, &x, &s, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_log1p(&x, &x, bits);
    tmi_ball_set_number(&y, t->alpha, bits);
    tmi_ball_log(&y, &y, bits);
    tmi_ball_add(&x, &x, &y, bits);
    tmi_ball_set_int(&y, 2);
    tmi_ball_log(&y, &y, bits);
    tmi_ball_sub(&x, &y, &x, bits);
    tmi_ball_mul(value, &s, &x, bits);
    tmi_ball_clear(&s);
    tmi_ball_clear(&x);
    tmi_ball_clear(&y);
    return TAMIS_OK;
}

tamis_status tmi_noise_reach(int64_t *k, const tamis_number *scale, const tamis_number *alpha, tamis_error *err)
{
    *k = INT64_MAX;
    tail t = {scale, alpha};
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, 1e-12, reach, &t, err);
    if (status != TAMIS_OK) return status;
    double whole = ceil(bound.upper);
    *k = whole <= 1 ? 0 : (int64_t)whole - 1;
    return TAMIS_OK;
}
