/* The sums of interval_count.c: mass of the sample's count times the distribution function of the noise. */
#include "inference/interval/count_sum.h"

#include <math.h>

#include "base/memory.h"
#include "num/law/law.h"

/* ---- preparation ---- */

#define SMALL_GAUSSIAN 10.0 /* below this scale the tails of Gaussian noise are listed; above it an expansion serves */
#define TAILS 420           /* the length of that list: at scale 10 what follows is below exp(-420^2 / 200) */

/* Fills in powers of exp(-1/scale), so that no term of a probability needs an exponential of its own. */
static void laplace_powers(tmi_count_test *test, double scale)
{
    double p = exp(-1 / scale), far = pow(p, TMI_COUNT_POWERS);
    test->near[0] = 1;
    test->far[0] = 1 / (1 + p);
    for (int i = 1; i < TMI_COUNT_POWERS; i++) {
        test->near[i] = test->near[i - 1] * p;
        test->far[i] = test->far[i - 1] * far;
    }
}

tamis_status tmi_count_test_make(tmi_count_test *test, const tmi_count_case *c, int64_t noisy, tamis_error *err)
{
    double scale = c->variance ? sqrt(tmi_number_nearest(c->variance)) : tmi_number_nearest(c->scale ? c->scale : c->sd);
    *test = (tmi_count_test){.c = c,
                             .noisy = noisy,
                             .alpha = 1 - tmi_number_nearest(c->confidence),
                             .noise = {1, scale,
                                       c->scale      ? TMI_NOT_GAUSSIAN
                                       : c->variance ? TMI_DISCRETE_GAUSSIAN
                                                     : TMI_ROUNDED_NORMAL,
                                       1}};
    test->rate = c->law == TMI_COUNT_RATE ? tmi_number_nearest(c->rate) : (double)c->sample / (double)c->population;
    double share = fmin(fmax((double)noisy / (c->law == TMI_COUNT_RATE ? INFINITY : (double)c->sample), 0), 1);
    double counts = c->law == TMI_COUNT_RATE ? fmax((double)noisy, 1) : (double)c->sample * share * (1 - share);
    test->spread = sqrt(counts + tmi_noise_part_variance(test->noise)) / test->rate;
    if (c->scale) laplace_powers(test, scale);
    if (!c->variance || scale >= SMALL_GAUSSIAN) return TAMIS_OK;
    test->tails = tmi_alloc(TAILS + 1, sizeof *test->tails);
    if (!test->tails) return tmi_fail_memory(err);
    for (int i = TAILS - 1; i >= 0; i--) test->tails[i] = test->tails[i + 1] + exp(-(double)(i * i) / (2 * scale * scale));
    double total = 2 * test->tails[0] - 1;
    for (int i = 0; i < TAILS; i++) test->tails[i] /= total;
    return TAMIS_OK;
}

void tmi_count_test_clear(tmi_count_test *test) { tmi_free(test->tails); }

double tmi_count_guess(const tmi_count_test *test) { return (double)test->noisy / test->rate; }

/* ---- doubles ---- */

/* P(X >= i) */
static double at_least(const tmi_count_test *test, double i)
{
    if (i <= 0) return 1 - at_least(test, 1 - i);
    if (!test->noise.gaussian && i < TMI_COUNT_POWERS * TMI_COUNT_POWERS)
        return test->far[(int)i / TMI_COUNT_POWERS] * test->near[(int)i % TMI_COUNT_POWERS];
    if (!test->tails) return tmi_noise_at_least(test->noise, i);
    return i < TAILS ? test->tails[(int)i] : 0;
}

/* P(k + X <= noisy), or >= */
static double noise_beyond(const tmi_count_test *test, int64_t k)
{
    double distance = (double)(test->noisy - k);
    return at_least(test, test->upwards ? distance : -distance);
}

/* The ratio p(k+1) / p(k) of two masses of the sample's count. */
static double ratio(const tmi_count_test *test, double K, double k)
{
    double N = (double)test->c->population, n = (double)test->c->sample;
    switch (test->c->law) {
    case TMI_COUNT_SRS: return (K - k) * (n - k) / ((k + 1) * (N - K - n + k + 1));
    case TMI_COUNT_REPLACED: return (n - k) / (k + 1) * (K / (N - K));
    case TMI_COUNT_RATE: break;
    }
    return (K - k) / (k + 1) * (test->rate / (1 - test->rate));
}

/* Whether the sample's count has only one possible value, and which. */
static bool is_point(int64_t *point, const tmi_count_test *test, int64_t ones)
{
    const tmi_count_case *c = test->c;
    bool all = c->law == TMI_COUNT_RATE ? test->rate == 1 : c->law == TMI_COUNT_SRS && c->sample == c->population;
    *point = c->law == TMI_COUNT_RATE || all ? ones : c->sample;
    if (all || ones == 0) {
        *point = ones;
        return true;
    }
    return c->law != TMI_COUNT_RATE && ones == c->population;
}

static double range(int64_t *low, const tmi_count_test *test, int64_t ones)
{
    const tmi_count_case *c = test->c;
    *low = 0;
    if (c->law == TMI_COUNT_RATE) return (double)ones;
    if (c->law == TMI_COUNT_REPLACED) return (double)c->sample;
    if (c->sample + ones > c->population) *low = c->sample + ones - c->population;
    return (double)(ones < c->sample ? ones : c->sample);
}

/* Adds up masses from near the mode outwards, in units of the mass there, until they add nothing. */
double tmi_count_probability_double(const tmi_count_test *test, int64_t ones)
{
    int64_t point, low;
    if (is_point(&point, test, ones)) return noise_beyond(test, point);
    double high = range(&low, test, ones), K = (double)ones;
    double mode = floor(test->c->law == TMI_COUNT_RATE ? K * test->rate
                                                       : (double)test->c->sample * (K / (double)test->c->population));
    mode = fmin(fmax(mode, (double)low), high);
    double total = 0, sum = 0, mass = 1;
    for (double k = mode; k <= high && mass > 1e-18; k++) {
        total += mass;
        sum += mass * noise_beyond(test, (int64_t)k);
        mass *= ratio(test, K, k);
    }
    mass = 1;
    for (double k = mode - 1; k >= (double)low && mass > 1e-18; k--) {
        mass /= ratio(test, K, k);
        total += mass;
        sum += mass * noise_beyond(test, (int64_t)k);
    }
    return sum / total;
}

/* ---- balls ---- */

static tamis_status make_law(tmi_law *law, const tmi_count_test *test, int64_t ones, tmi_window window, tamis_error *err)
{
    const tmi_count_case *c = test->c;
    if (c->law == TMI_COUNT_SRS) {
        tmi_hypergeometric parameters = {c->population, ones, c->sample};
        return tmi_law_hypergeometric(law, &parameters, window, err);
    }
    if (c->law == TMI_COUNT_RATE) {
        tmi_binomial parameters = {ones, c->rate};
        return tmi_law_binomial(law, &parameters, window, err);
    }
    tamis_number *share;
    tmi_law_init(law);
    tamis_status status = tmi_number_ratio(&share, ones, c->population, err);
    if (status != TAMIS_OK) return status;
    tmi_binomial parameters = {c->sample, share};
    status = tmi_law_binomial(law, &parameters, window, err);
    tamis_number_free(share);
    return status;
}

/* P(X >= i) for i = first, first + 1, ...: the sum of the masses that follow is taken off step by step. Laplace masses are
 * powers, Gaussian ones exponentials; tails of rounded normal noise are those of the normal law and computed one by one. */
typedef struct tail_walk {
    const tmi_count_case *c;
    int64_t at;
    tmi_ball tail, mass, total, power, x;
    long bits;
} tail_walk;

static void set_mass(tail_walk *w)
{
    if (w->c->scale) {
        tmi_discrete_laplace_part(&w->mass, w->c->scale, TMI_MASS, w->at, w->bits);
        return;
    }
    tmi_ball_set_int(&w->mass, w->at);
    tmi_ball_mul(&w->mass, &w->mass, &w->mass, w->bits);
    tmi_ball_set_number(&w->x, w->c->variance, w->bits);
    tmi_ball_div(&w->mass, &w->mass, &w->x, w->bits);
    tmi_ball_shift(&w->mass, &w->mass, -1);
    tmi_ball_neg(&w->mass, &w->mass);
    tmi_ball_exp(&w->mass, &w->mass, w->bits);
    tmi_ball_div(&w->mass, &w->mass, &w->total, w->bits);
}

/* P(X >= i) = P(Z >= (2 i - 1) / (2 sd)) */
static void set_normal_tail(tail_walk *w)
{
    tmi_ball_set_int(&w->x, w->at);
    tmi_ball_mul_int(&w->x, &w->x, 2, w->bits);
    tmi_ball_add_int(&w->x, &w->x, -1, w->bits);
    tmi_ball_shift(&w->x, &w->x, -1);
    tmi_ball_set_number(&w->mass, w->c->sd, w->bits);
    tmi_ball_div(&w->x, &w->x, &w->mass, w->bits);
    tmi_normal_at_least(&w->tail, &w->x, w->bits);
}

static void walk_begin(tail_walk *w, const tmi_count_case *c, int64_t first, long bits)
{
    *w = (tail_walk){.c = c, .at = first, .bits = bits};
    tmi_ball_init(&w->tail);
    tmi_ball_init(&w->mass);
    tmi_ball_init(&w->total);
    tmi_ball_init(&w->power);
    tmi_ball_init(&w->x);
    if (c->sd) {
        set_normal_tail(w);
        return;
    }
    if (c->scale) {
        tmi_ball_set_number(&w->x, c->scale, bits);
        tmi_ball_set_int(&w->power, -1);
        tmi_ball_div(&w->power, &w->power, &w->x, bits);
        tmi_ball_exp(&w->power, &w->power, bits);
        tmi_discrete_laplace_part(&w->tail, c->scale, TMI_AT_LEAST, first, bits);
    } else {
        tmi_discrete_gaussian_total(&w->total, c->variance, bits);
        tmi_discrete_gaussian_part(&w->tail, c->variance, TMI_AT_LEAST, first, bits);
    }
    set_mass(w);
}

static void walk_on(tail_walk *w)
{
    if (!w->c->sd) tmi_ball_sub(&w->tail, &w->tail, &w->mass, w->bits);
    w->at++;
    if (w->c->sd) {
        set_normal_tail(w);
        return;
    }
    if (!w->c->scale) set_mass(w);
    else if (w->at <= 0) tmi_ball_div(&w->mass, &w->mass, &w->power, w->bits);
    else tmi_ball_mul(&w->mass, &w->mass, &w->power, w->bits);
}

static void walk_end(tail_walk *w)
{
    tmi_ball_clear(&w->tail);
    tmi_ball_clear(&w->mass);
    tmi_ball_clear(&w->total);
    tmi_ball_clear(&w->power);
    tmi_ball_clear(&w->x);
}

/* With i = noisy - k, downwards P(X <= i) = P(X >= -i): the walk goes over k upwards, or for P(X >= i) downwards. What the
 * window leaves out counts between nothing and all of it. */
tamis_status tmi_count_probability(tmi_ball *p, const tmi_count_test *test, int64_t ones, long bits, tamis_error *err)
{
    tmi_law law;
    tmi_ball term;
    tail_walk walk;
    tamis_status status = make_law(&law, test, ones, (tmi_window){ldexp(1, (int)(bits < 1800 ? -bits / 2 : -900)), bits + 32},
                                   err);
    if (status != TAMIS_OK) return status;
    tmi_ball_init(&term);
    tmi_ball_set_int(p, 0);
    int64_t last = law.first + (int64_t)law.count - 1;
    walk_begin(&walk, test->c, test->upwards ? test->noisy - last : law.first - test->noisy, bits);
    for (size_t i = 0; i < law.count; i++) {
        tmi_ball_mul(&term, &law.mass[test->upwards ? law.count - 1 - i : i], &walk.tail, bits);
        tmi_ball_add(p, p, &term, bits);
        if (i + 1 < law.count) walk_on(&walk);
    }
    tmi_ball_add(&law.below, &law.below, &law.above, bits);
    tmi_ball_add(&term, p, &law.below, bits);
    tmi_ball_union(p, p, &term, bits);
    walk_end(&walk);
    tmi_ball_clear(&term);
    tmi_law_clear(&law);
    return TAMIS_OK;
}
