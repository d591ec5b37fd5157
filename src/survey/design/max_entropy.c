#include "survey/design/max_entropy.h"

#include <math.h>

#include "survey/design/tree.h"

#define ROUNDS 400 /* each gains a digit at the very least; samples of hundreds of units gain two */
#define GUESS 0.2  /* share of the time that the first guess takes */

typedef struct search {
    const tmi_pps *pps;
    size_t N;
    tmi_ball *odds;      /* the guess: exact numbers */
    double *step;        /* the share of a correction that is made */
    double *change;      /* the correction, relative to the odds */
    tmi_ball worst, sum; /* of the certificate */
    long bits;
} search;

static void clear_search(search *s)
{
    tmi_ball_clears(&s->worst, &s->sum, NULL);
    tmi_free(s->step);
    tmi_free(s->change);
}

/* pi / (1 - pi) */
static void set_wanted(tmi_ball *wanted, const tmi_pps *pps, size_t k, long bits)
{
    uint64_t out[TMI_COMMON_WORDS];
    tmi_wide_sub(out, pps->pi.denominator, tmi_open(pps, k), pps->pi.words);
    tmi_ball_set_wide(wanted, tmi_open(pps, k), out, pps->pi.words, bits);
}

/* The covariance matrix is nearly diag(d) - d d' / sum(d) with d_k (1 - d_k / sum(d)) = a_k, a_k = pi_k (1 - pi_k)
 * (Hajek 1964). Its inverse takes r_k to r_k / d_k: of a correction of the log odds, the share a_k / d_k = 1 - d_k /
 * sum(d).                                                                                                            */
static void choose_steps(double *step, const double *wanted, size_t N)
{
    double sum = INFINITY; /* d = a at first */
    for (size_t k = 0; k < N; k++) step[k] = 1;
    for (int round = 0; round < 20; round++) {
        double next = 0;
        for (size_t k = 0; k < N; k++) {
            double w = wanted[k], d = w / ((1 + w) * (1 + w)) / step[k];
            step[k] = fmax(0.5, 1 - d / sum);
            next += d;
        }
        sum = next;
    }
}

/* Gives the bits that the guess is thought to have. */
static tamis_status start(double *known, search *s, tmi_ball *odds, const tmi_pps *pps, const tmi_watch *watch, tamis_error *err)
{
    tmi_ball wanted;
    const size_t N = pps->open_count;
    double *list = tmi_alloc(N, sizeof *list);
    *s = (search){.pps = pps, .N = N, .odds = odds};
    tmi_ball_inits(&s->worst, &s->sum, NULL);
    s->step = tmi_alloc(N, sizeof *s->step);
    s->change = tmi_alloc(N, sizeof *s->change);
    if (!list || !s->step || !s->change) {
        tmi_free(list);
        return tmi_fail_memory(err);
    }
    tmi_ball_init(&wanted);
    for (size_t k = 0; k < N; k++) {
        set_wanted(&wanted, pps, k, 64);
        tmi_ball_middle(&odds[k], &wanted);
        list[k] = tmi_ball_bound(&wanted).upper;
    }
    choose_steps(s->step, list, N);
    double *w = s->change, error;
    tamis_status status = tmi_max_entropy_guess(&error, w, list, s->step, N, pps->size, watch, err);
    for (size_t k = 0; k < N && error < 1; k++) tmi_ball_set_double(&odds[k], w[k]);
    *known = error < 1 ? fmin(52, -log2(error + 0x1p-60)) : 0;
    tmi_ball_clear(&wanted);
    tmi_free(list);
    return status;
}

/* For one unit, with o the odds given and v those wanted, as 1/a = (1 + o)^2 / o:
 *     |r| / a = |o - v| / o (1 + o) / (1 + v)  or  |o - v| / v (1 + v) / (1 + o),  whichever is larger;
 * `least` is the smaller a. */
static void measure(tmi_ball *error, tmi_ball *least, const tmi_ball *o, const tmi_ball *v, long bits)
{
    tmi_ball o1, v1, gap, other;
    tmi_ball_inits(&o1, &v1, &gap, &other, NULL);
    tmi_ball_add_int(&o1, o, 1, bits);
    tmi_ball_add_int(&v1, v, 1, bits);
    tmi_ball_sub(&gap, o, v, bits);
    tmi_ball_abs(&gap, &gap);
    tmi_ball_div(&gap, &gap, &o1, bits);
    tmi_ball_div(&gap, &gap, &v1, bits); /* |r| */
    tmi_ball_mul(&o1, &o1, &o1, bits);
    tmi_ball_mul(&v1, &v1, &v1, bits);
    tmi_ball_div(least, o, &o1, bits);
    tmi_ball_div(&other, v, &v1, bits);
    tmi_ball_min(least, least, &other, bits);
    tmi_ball_div(error, &gap, least, bits);
    tmi_ball_clears(&o1, &v1, &gap, &other, NULL);
}

/* One unit of a look: its part of the certificate, and the correction step (wanted / given - 1). */
static void see(void *context, size_t k, const tmi_ball *given)
{
    search *s = context;
    tmi_ball wanted, error, least;
    tmi_ball_inits(&wanted, &error, &least, NULL);
    set_wanted(&wanted, s->pps, k, s->bits);
    measure(&error, &least, given, &wanted, 64);
    tmi_ball_max(&s->worst, &s->worst, &error, 64);
    tmi_ball_add(&s->sum, &s->sum, &least, 64);
    tmi_ball_div(&error, &wanted, given, s->bits);
    tmi_ball_add_int(&error, &error, -1, s->bits);
    const tamis_bound gap = tmi_ball_bound(&error);
    s->change[k] = s->step[k] * (gap.lower + (gap.upper - gap.lower) / 2);
    tmi_ball_clears(&wanted, &error, &least, NULL);
}

/* One look at the guess, with `bits` bits: the certificate of max_entropy.h, that no log odds is further than `radius`
 * from the solution. */
static tamis_status look(tmi_ball *radius, search *s, long bits, const tmi_watch *watch, tamis_error *err)
{
    const tmi_watch up = tmi_watch_part(watch, 0, 0.4), down = tmi_watch_part(watch, 0.4, 1);
    int64_t N = (int64_t)s->N, n = s->pps->size;
    tmi_tree tree;
    tamis_status status = tmi_tree_init(&tree, s->odds, s->N, false, bits, &up, err);
    if (status != TAMIS_OK) return status;
    s->bits = bits;
    tmi_ball_set_int(&s->worst, 0);
    tmi_ball_set_int(&s->sum, 0);
    status = tmi_tree_given(&tree, n, see, s, &down, err);
    tmi_tree_clear(&tree);
    tmi_ball_mul_int(radius, &s->worst, n, 64);
    tmi_ball_mul_int(radius, radius, N - n, 64);
    tmi_ball_div_int(radius, radius, N - 1, 64);
    tmi_ball_div(radius, radius, &s->sum, 64);
    return status;
}

/* w becomes w (1 + change), an exact number near it. */
static void correct(search *s, long bits)
{
    tmi_ball factor;
    tmi_ball_init(&factor);
    for (size_t k = 0; k < s->N; k++) {
        if (!(s->change[k] > -1 && s->change[k] < INFINITY)) continue;
        tmi_ball_set_double(&factor, s->change[k]);
        tmi_ball_add_int(&factor, &factor, 1, bits);
        tmi_ball_mul(&factor, &factor, &s->odds[k], bits);
        tmi_ball_middle(&s->odds[k], &factor);
    }
    tmi_ball_clear(&factor);
}

/* w exp(+-radius): for a radius below 1, within w * 2 radius of w. */
static void widen(search *s, const tmi_ball *radius)
{
    tmi_ball width;
    tmi_ball_init(&width);
    for (size_t k = 0; k < s->N; k++) {
        tmi_ball_mul(&width, &s->odds[k], radius, 64);
        tmi_ball_shift(&width, &width, 1);
        tmi_ball_widen(&s->odds[k], &width);
    }
    tmi_ball_clear(&width);
}

tamis_status tmi_max_entropy(tmi_ball *odds, const tmi_pps *pps, long bits, const tmi_watch *watch, tamis_error *err)
{
    const tmi_watch guess = tmi_watch_part(watch, 0, GUESS);
    search s;
    tmi_ball radius, goal;
    double known = 0, begin, log_N = log2((double)pps->open_count + 1), share = GUESS;
    long more = 0;
    tamis_status status = TAMIS_OK;
    tmi_ball_inits(&radius, &goal, NULL);
    TMI_TRY(start(&known, &s, odds, pps, &guess, err));
    begin = known < (double)bits ? known : (double)bits;
    tmi_ball_set_int(&goal, 1);
    tmi_ball_shift(&goal, &goal, -bits - 2);
    for (int round = 0; round < ROUNDS; round++) {
        long work = (long)(known + log_N) + 40 + more; /* the tree loses about log N bits */
        const double next = fmin(1, GUESS + (1 - GUESS) * (known + 1 - begin) / ((double)bits + 1 - begin));
        const tmi_watch part = tmi_watch_part(watch, share, fmax(share, next));
        TMI_TRY(look(&radius, &s, work, &part, err));
        share = fmax(share, next);
        if (tmi_ball_is_less(&radius, &goal)) {
            widen(&s, &radius);
            goto done;
        }
        tamis_bound error = tmi_ball_bound(&radius);
        if (error.upper > 1e-300 && error.upper < INFINITY) known = fmax(0, -log2(error.upper));
        if (!(error.lower > error.upper / 2)) more += 32; /* the look was blurred, not the guess bad: look more closely */
        if (tmi_ball_is_finite(&radius)) correct(&s, work);
    }
    status = tmi_fail(err, TAMIS_UNABLE,
                      "conditional_poisson: no odds with these inclusion probabilities could be "
                      "certified");
done:
    clear_search(&s);
    tmi_ball_clears(&radius, &goal, NULL);
    return status;
}
