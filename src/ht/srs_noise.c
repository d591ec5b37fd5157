/* The noise on the count, in balls. Without noise G is the step at 0. The discrete laws are stored once, with their
 * running sums; what lies outside of the stored window is enclosed by what is known to lie there.                   */
#include "base/memory.h"
#include "ht/srs.h"

bool tmi_ht_is_lattice(tamis_noise_kind noise) { return noise != TAMIS_NOISE_LAPLACE && noise != TAMIS_NOISE_GAUSSIAN; }

void tmi_ht_factor(tmi_ball *E, tmi_ball *excess, const tmi_ht_srs *s, long bits)
{
    if (s->exp_eps) {
        tmi_ball_set_number(E, s->exp_eps, bits);
        tmi_ball_add_int(excess, E, -1, bits);
    } else {
        tmi_ball x;
        tmi_ball_init(&x);
        tmi_ball_set_number(&x, s->eps, bits);
        tmi_ball_exp(E, &x, bits);
        tmi_ball_expm1(excess, &x, bits);
        tmi_ball_clear(&x);
    }
}

tamis_status tmi_ht_noise_set(tmi_ht_noise *noise, const tmi_ht_srs *s, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *variance = NULL;
    tmi_window window = {bits < 900 ? __builtin_ldexp(1, -(int)bits - 64) : 0x1p-1000, bits};
    *noise = (tmi_ht_noise){.s = s};
    tmi_law_init(&noise->law);
    if (s->noise == TAMIS_NOISE_DISCRETE_LAPLACE) {
        TMI_TRY(tmi_law_discrete_laplace(&noise->law, s->scale, window, err));
    } else if (s->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN) {
        TMI_TRY(tmi_number_mul(&variance, s->scale, s->scale, err));
        TMI_TRY(tmi_law_discrete_gaussian(&noise->law, variance, window, err));
    }
    if (noise->law.count > 0) {
        noise->sum = tmi_alloc(noise->law.count, sizeof *noise->sum);
        if (!noise->sum) TMI_TRY(tmi_fail_memory(err));
        for (size_t i = 0; i < noise->law.count; i++) {
            tmi_ball_init(&noise->sum[i]);
            tmi_ball_add(&noise->sum[i], i == 0 ? &noise->law.below : &noise->sum[i - 1], &noise->law.mass[i], bits);
        }
    }
done:
    tamis_number_free(variance);
    return status;
}

void tmi_ht_noise_clear(tmi_ht_noise *noise)
{
    for (size_t i = 0; noise->sum && i < noise->law.count; i++) tmi_ball_clear(&noise->sum[i]);
    tmi_free(noise->sum);
    tmi_law_clear(&noise->law);
    *noise = (tmi_ht_noise){0};
}

static void unite_with(tmi_ball *z, const tmi_ball *x, int64_t end, long bits)
{
    tmi_ball other;
    tmi_ball_init(&other);
    tmi_ball_set_int(&other, end);
    tmi_ball_union(z, x, &other, bits);
    tmi_ball_clear(&other);
}

static void lattice_cdf(tmi_ball *z, const tmi_ht_noise *noise, int64_t k, long bits)
{
    const tmi_law *law = &noise->law;
    int64_t last = law->first + (int64_t)law->count - 1;
    if (law->count == 0) tmi_ball_set_int(z, k >= 0);
    else if (k < law->first) unite_with(z, &law->below, 0, bits);
    else if (k > last) unite_with(z, &noise->sum[law->count - 1], 1, bits);
    else tmi_ball_set(z, &noise->sum[k - law->first]);
}

static void lattice_mass(tmi_ball *z, const tmi_ht_noise *noise, int64_t k, long bits)
{
    if (noise->law.count == 0) tmi_ball_set_int(z, k == 0);
    else tmi_law_mass(z, &noise->law, k, bits);
}

/* v / scale */
static void standardise(tmi_ball *x, const tmi_ball *z, int64_t y, const tmi_ball *scale, long bits)
{
    tmi_ball_add_int(x, z, -y, bits);
    tmi_ball_div(x, x, scale, bits);
}

/* e^min(x,0)/2 + (1 - e^-max(x,0))/2 holds on both sides of 0, and in a ball around it. */
static void laplace_cdf(tmi_ball *value, tmi_ball *x, long bits)
{
    tmi_ball zero, part;
    tmi_ball_inits(&zero, &part, NULL);
    tmi_ball_set_int(&zero, 0);
    tmi_ball_set_int(value, 1);
    if (!tmi_ball_is_positive(x)) {
        tmi_ball_min(&part, x, &zero, bits);
        tmi_ball_exp(value, &part, bits);
    }
    if (!tmi_ball_is_negative(x)) {
        tmi_ball_max(&part, x, &zero, bits);
        tmi_ball_neg(&part, &part);
        tmi_ball_expm1(&part, &part, bits);
        tmi_ball_sub(value, value, &part, bits);
    }
    tmi_ball_div_int(value, value, 2, bits);
    tmi_ball_clears(&zero, &part, NULL);
}

void tmi_ht_noise_cdf(tmi_ball *value, size_t count, const tmi_ht_noise *noise, const tmi_ball *z, int64_t k, int64_t first,
                      long bits)
{
    tmi_ball scale, x;
    tmi_ball_inits(&scale, &x, NULL);
    if (!tmi_ht_is_lattice(noise->s->noise)) tmi_ball_set_number(&scale, noise->s->scale, bits);
    for (size_t i = 0; i < count; i++) {
        int64_t y = first + (int64_t)i;
        if (tmi_ht_is_lattice(noise->s->noise)) {
            lattice_cdf(&value[i], noise, k - y, bits);
            continue;
        }
        standardise(&x, z, y, &scale, bits);
        if (noise->s->noise == TAMIS_NOISE_LAPLACE) {
            laplace_cdf(&value[i], &x, bits);
        } else {
            tmi_ball_neg(&x, &x);
            tmi_normal_at_least(&value[i], &x, bits);
        }
    }
    tmi_ball_clears(&scale, &x, NULL);
}

/* 1/sqrt(2 pi) = 0.39894..., here 0.4. */
void tmi_ht_noise_density(tmi_ball *value, size_t count, const tmi_ht_noise *noise, const tmi_ball *z, int64_t k, int64_t first,
                          long bits)
{
    tmi_ball scale, x, y;
    bool laplace = noise->s->noise == TAMIS_NOISE_LAPLACE;
    tmi_ball_inits(&scale, &x, &y, NULL);
    if (!tmi_ht_is_lattice(noise->s->noise)) tmi_ball_set_number(&scale, noise->s->scale, bits);
    for (size_t i = 0; i < count; i++) {
        if (tmi_ht_is_lattice(noise->s->noise)) {
            lattice_mass(&value[i], noise, k - first - (int64_t)i, bits);
            continue;
        }
        standardise(&x, z, first + (int64_t)i, &scale, bits);
        if (laplace) {
            tmi_ball_neg(&y, &x);
            tmi_ball_min(&x, &x, &y, bits);
        } else {
            tmi_ball_mul(&x, &x, &x, bits);
            tmi_ball_div_int(&x, &x, -2, bits);
        }
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_mul_int(&x, &x, laplace ? 5 : 4, bits);
        tmi_ball_div_int(&x, &x, 10, bits);
        tmi_ball_div(&value[i], &x, &scale, bits);
    }
    tmi_ball_clears(&scale, &x, &y, NULL);
}
