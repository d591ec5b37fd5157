/* The Horvitz-Thompson total given that a unit is in the sample, and given that it is not, from inclusion probabilities
 * up to the third order: with i the unit, y_j = x_j / pi_j, and all probabilities given i (or given not i),
 *     mean = sum over j of y_j P(j),    variance = sum over j, l other than i of y_j y_l (P(j, l) - P(j) P(l)).
 * P(j, l) P(i) is pi_ijl for the first, pi_jl - pi_ijl for the second: each is a sum over the samples of one side.   */
#include <math.h>

#include "survey/design/design.h"

/* A mean or a variance that is 0 is reported as narrowly as this, relative to sum |y| or its square. */
#define NEAR_ZERO 1e-50

typedef struct side {
    tmi_ball total;  /* P(i), or P(not i) */
    tmi_ball *joint; /* joint[j N + l], j <= l: j and l on this side, not yet divided by total */
    tmi_ball mean, variance;
} side;

typedef struct work {
    size_t N, unit;
    side sides[2]; /* with the unit, without */
    tmi_ball *y, size;
} work;

static bool init(work *w, const tamis_law *law, int64_t unit)
{
    *w = (work){.N = (size_t)law->population, .unit = (size_t)unit};
    tmi_ball_init(&w->size);
    w->y = tmi_balls_new(w->N);
    for (int i = 0; i < 2; i++) {
        side *s = &w->sides[i];
        tmi_ball_inits(&s->total, &s->mean, &s->variance, NULL);
        s->joint = tmi_balls_new(w->N * w->N);
    }
    return w->y && w->sides[0].joint && w->sides[1].joint;
}

static void clear(work *w)
{
    tmi_ball_clear(&w->size);
    tmi_balls_free(w->y, w->N);
    for (int i = 0; i < 2; i++) {
        side *s = &w->sides[i];
        tmi_ball_clears(&s->total, &s->mean, &s->variance, NULL);
        tmi_balls_free(s->joint, w->N * w->N);
    }
}

static uint32_t set_of(const tmi_listed *s)
{
    uint32_t set = 0;
    for (size_t i = 0; i < s->size; i++) set |= UINT32_C(1) << s->units[i];
    return set;
}

/* ---- inclusion probabilities ---- */

static void add_sample(side *s, size_t N, uint32_t set, const tmi_ball *p, long bits)
{
    tmi_ball_add(&s->total, &s->total, p, bits);
    for (size_t j = 0; j < N; j++) {
        if (!(set >> j & 1)) continue;
        for (size_t l = j; l < N; l++)
            if (set >> l & 1) tmi_ball_add(&s->joint[j * N + l], &s->joint[j * N + l], p, bits);
    }
}

static void add_samples(work *w, const tamis_law *law, long bits)
{
    tmi_ball p;
    tmi_ball_init(&p);
    for (int i = 0; i < 2; i++) {
        tmi_ball_set_int(&w->sides[i].total, 0);
        for (size_t j = 0; j < w->N * w->N; j++) tmi_ball_set_int(&w->sides[i].joint[j], 0);
    }
    for (size_t j = 0; j < law->count; j++) {
        uint32_t set = set_of(&law->samples[j]);
        tmi_sample_law_ball(&p, law, j, bits);
        add_sample(&w->sides[!(set >> w->unit & 1)], w->N, set, &p, bits);
    }
    tmi_ball_clear(&p);
}

/* y, and the sum of |y|; a unit that is never drawn counts for nothing. */
static void divide_values(work *w, const tamis_number *const *x, long bits)
{
    tmi_ball pi;
    tmi_ball_init(&pi);
    tmi_ball_set_int(&w->size, 0);
    for (size_t j = 0; j < w->N; j++) {
        size_t at = j * w->N + j;
        tmi_ball_add(&pi, &w->sides[0].joint[at], &w->sides[1].joint[at], bits);
        if (tmi_ball_is_zero(&pi)) {
            tmi_ball_set_int(&w->y[j], 0);
            continue;
        }
        tmi_ball_set_number(&w->y[j], x[j], bits);
        tmi_ball_div(&w->y[j], &w->y[j], &pi, bits);
        tmi_ball_abs(&pi, &w->y[j]);
        tmi_ball_add(&w->size, &w->size, &pi, bits);
    }
    tmi_ball_clear(&pi);
}

/* ---- moments ---- */

static void add_pair(work *w, side *s, size_t j, size_t l, long bits)
{
    tmi_ball term, both;
    tmi_ball_inits(&term, &both, NULL);
    tmi_ball_mul(&term, &s->joint[j * w->N + j], &s->joint[l * w->N + l], bits);
    tmi_ball_div(&term, &term, &s->total, bits);
    tmi_ball_sub(&term, &s->joint[j * w->N + l], &term, bits);
    tmi_ball_mul(&both, &w->y[j], &w->y[l], bits);
    tmi_ball_mul(&term, &term, &both, bits);
    if (j != l) tmi_ball_shift(&term, &term, 1);
    tmi_ball_add(&s->variance, &s->variance, &term, bits);
    tmi_ball_clears(&term, &both, NULL);
}

static void set_moments(work *w, side *s, long bits)
{
    tmi_ball_dot(&s->mean, w->y, 1, s->joint, (long)w->N + 1, w->N, bits);
    tmi_ball_div(&s->mean, &s->mean, &s->total, bits);
    tmi_ball_set_int(&s->variance, 0);
    for (size_t j = 0; j < w->N; j++)
        for (size_t l = j; l < w->N; l++)
            if (j != w->unit && l != w->unit) add_pair(w, s, j, l, bits);
    tmi_ball_div(&s->variance, &s->variance, &s->total, bits);
}

/* True if the ball is narrow enough; `size` is what it is compared with if it is about 0. */
static bool tell(tamis_bound *bound, const tmi_ball *ball, double size)
{
    *bound = tmi_ball_bound(ball);
    double gap = bound->upper - bound->lower;
    return gap <= TAMIS_WIDTH * fmax(fabs(bound->lower), fabs(bound->upper)) || gap <= NEAR_ZERO * size || gap <= 1e-300;
}

static bool tell_side(tamis_moments *m, const side *s, double size)
{
    bool mean = tell(&m->mean, &s->mean, size), variance = tell(&m->variance, &s->variance, size * size);
    m->variance.lower = fmax(m->variance.lower, 0);
    return mean && variance;
}

/* ---- public ---- */

static tamis_status check(const tamis_law *law, const tamis_number *const *x, int64_t unit, tamis_error *err)
{
    bool with = false, without = false;
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    if (!x) return tmi_fail(err, TAMIS_INVALID, "x: NULL");
    for (int64_t j = 0; j < law->population; j++)
        if (!x[j]) return tmi_fail(err, TAMIS_INVALID, "x[%d]: NULL", (int)j);
    if (unit < 0 || unit >= law->population) return tmi_fail(err, TAMIS_INVALID, "unit: not a unit of the frame");
    for (size_t j = 0; j < law->count; j++) {
        if (set_of(&law->samples[j]) >> unit & 1) with = true;
        else without = true;
    }
    if (!with) return tmi_fail(err, TAMIS_INVALID, "unit: is in no sample");
    if (!without) return tmi_fail(err, TAMIS_INVALID, "unit: is in every sample");
    return TAMIS_OK;
}

tamis_status tamis_ht_given(tamis_moments *in, tamis_moments *out, const tamis_law *law, const tamis_number *const *x,
                            int64_t unit, tamis_error *err)
{
    static const tamis_moments unknown = {{-INFINITY, INFINITY}, {0, INFINITY}};
    tamis_status status = TAMIS_OK;
    tamis_moments with, without;
    work w;
    if (in) *in = unknown;
    if (out) *out = unknown;
    if (!in) return tmi_fail(err, TAMIS_INVALID, "in: NULL");
    if (!out) return tmi_fail(err, TAMIS_INVALID, "out: NULL");
    status = check(law, x, unit, err);
    if (status != TAMIS_OK) return status;
    if (!init(&w, law, unit)) TMI_TRY(tmi_fail_memory(err));
    for (long bits = TMI_BITS_FIRST; bits <= TMI_BITS_LAST; bits *= 2) {
        add_samples(&w, law, bits);
        divide_values(&w, x, bits);
        for (int i = 0; i < 2; i++) set_moments(&w, &w.sides[i], bits);
        double size = fmin(tmi_ball_bound(&w.size).upper, 1e150);
        if (tell_side(&with, &w.sides[0], size) && tell_side(&without, &w.sides[1], size)) {
            *in = with;
            *out = without;
            goto done;
        }
    }
    status = tmi_fail(err, TAMIS_UNABLE, "the moments could not be certified");
done:
    clear(&w);
    return status;
}
