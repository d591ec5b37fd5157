#include "survey/max_entropy.h"

#include <math.h>

#include "survey/tree.h"

#define ROUNDS 400 /* each gains a digit at the very least; samples of hundreds of units gain two */

typedef struct search {
    const tmi_pps *pps;
    size_t N;
    tmi_ball *wanted; /* pi / (1 - pi) */
    tmi_ball *odds;   /* the guess: exact numbers */
    tmi_ball *given;  /* the odds that it gives */
    double *step;     /* the share of a correction that is made */
} search;

static void clear_search(search *s)
{
    tmi_balls_free(s->wanted, s->N);
    tmi_balls_free(s->odds, s->N);
    tmi_balls_free(s->given, s->N);
    tmi_free(s->step);
}

static void set_wanted(search *s, long bits)
{
    uint64_t out[TMI_COMMON_WORDS];
    for (size_t k = 0; k < s->N; k++) {
        tmi_wide_sub(out, s->pps->pi.denominator, tmi_open(s->pps, k), s->pps->pi.words);
        tmi_ball_set_wide(&s->wanted[k], tmi_open(s->pps, k), out, s->pps->pi.words, bits);
    }
}

/* The covariance matrix is nearly diag(d) - d d' / sum(d) with d_k (1 - d_k / sum(d)) = a_k, a_k = pi_k (1 - pi_k)
 * (Hajek 1964). Its inverse takes r_k to r_k / d_k: of a correction of the log odds, the share a_k / d_k = 1 - d_k /
 * sum(d).                                                                                                            */
static void choose_steps(search *s)
{
    double sum = INFINITY; /* d = a at first */
    for (size_t k = 0; k < s->N; k++) s->step[k] = 1;
    for (int round = 0; round < 20; round++) {
        double next = 0;
        for (size_t k = 0; k < s->N; k++) {
            double w = tmi_ball_bound(&s->wanted[k]).upper, d = w / ((1 + w) * (1 + w)) / s->step[k];
            s->step[k] = fmax(0.5, 1 - d / sum);
            next += d;
        }
        sum = next;
    }
}

static tamis_status start(search *s, const tmi_pps *pps, tamis_error *err)
{
    *s = (search){.pps = pps, .N = pps->open_count};
    s->wanted = tmi_balls_new(s->N);
    s->odds = tmi_balls_new(s->N);
    s->given = tmi_balls_new(s->N);
    s->step = tmi_alloc(s->N, sizeof *s->step);
    if (!s->wanted || !s->odds || !s->given || !s->step) return tmi_fail_memory(err);
    set_wanted(s, 64);
    for (size_t k = 0; k < s->N; k++) tmi_ball_middle(&s->odds[k], &s->wanted[k]);
    choose_steps(s);
    return TAMIS_OK;
}

/* For one unit, with o the odds given and v those wanted, as 1/a = (1 + o)^2 / o:
 *     |r| / a = |o - v| / o (1 + o) / (1 + v)  or  |o - v| / v (1 + v) / (1 + o),  whichever is larger;
 * `least` is the smaller a. */
static void measure(tmi_ball *error, tmi_ball *least, const tmi_ball *o, const tmi_ball *v, long bits)
{
    tmi_ball o1, v1, gap, other;
    tmi_ball *all[] = {&o1, &v1, &gap, &other};
    for (size_t i = 0; i < 4; i++) tmi_ball_init(all[i]);
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
    for (size_t i = 0; i < 4; i++) tmi_ball_clear(all[i]);
}

/* The certificate of max_entropy.h: no log odds is further than `radius` from the solution. */
static void certify(tmi_ball *radius, const search *s)
{
    const long bits = 64;
    int64_t N = (int64_t)s->N, n = s->pps->size;
    tmi_ball error, least, sum;
    tmi_ball_init(&error);
    tmi_ball_init(&least);
    tmi_ball_init(&sum);
    tmi_ball_set_int(radius, 0);
    for (size_t k = 0; k < s->N; k++) {
        measure(&error, &least, &s->given[k], &s->wanted[k], bits);
        tmi_ball_max(radius, radius, &error, bits);
        tmi_ball_add(&sum, &sum, &least, bits);
    }
    tmi_ball_mul_int(radius, radius, n, bits);
    tmi_ball_mul_int(radius, radius, N - n, bits);
    tmi_ball_div_int(radius, radius, N - 1, bits);
    tmi_ball_div(radius, radius, &sum, bits);
    tmi_ball_clear(&error);
    tmi_ball_clear(&least);
    tmi_ball_clear(&sum);
}

/* w becomes w (1 + step (wanted / given - 1)), an exact number near it. */
static void correct(search *s, long bits)
{
    tmi_ball ratio, step;
    tmi_ball_init(&ratio);
    tmi_ball_init(&step);
    for (size_t k = 0; k < s->N; k++) {
        tmi_ball_div(&ratio, &s->wanted[k], &s->given[k], bits);
        tmi_ball_add_int(&ratio, &ratio, -1, bits);
        tmi_ball_set_int(&step, (int64_t)(s->step[k] * 0x1p53));
        tmi_ball_shift(&step, &step, -53);
        tmi_ball_mul(&ratio, &ratio, &step, bits);
        tmi_ball_add_int(&ratio, &ratio, 1, bits);
        tmi_ball_mul(&ratio, &ratio, &s->odds[k], bits);
        if (tmi_ball_is_positive(&ratio)) tmi_ball_middle(&s->odds[k], &ratio);
    }
    tmi_ball_clear(&ratio);
    tmi_ball_clear(&step);
}

/* One look at the guess, with `bits` bits. */
static tamis_status look(tmi_ball *radius, search *s, long bits, tamis_error *err)
{
    tmi_tree tree;
    set_wanted(s, bits);
    tamis_status status = tmi_tree_init(&tree, s->odds, s->N, false, bits, err);
    if (status != TAMIS_OK) return status;
    status = tmi_tree_given(s->given, &tree, s->odds, s->pps->size, err);
    tmi_tree_clear(&tree);
    if (status == TAMIS_OK) certify(radius, s);
    return status;
}

/* w exp(+-radius): for a radius below 1, within w * 2 radius of w. */
static void give(tmi_ball *odds, const search *s, const tmi_ball *radius)
{
    tmi_ball width;
    tmi_ball_init(&width);
    for (size_t k = 0; k < s->N; k++) {
        tmi_ball_mul(&width, &s->odds[k], radius, 64);
        tmi_ball_shift(&width, &width, 1);
        tmi_ball_set(&odds[k], &s->odds[k]);
        tmi_ball_widen(&odds[k], &width);
    }
    tmi_ball_clear(&width);
}

tamis_status tmi_max_entropy(tmi_ball *odds, const tmi_pps *pps, long bits, tamis_error *err)
{
    search s;
    tmi_ball radius, goal;
    double known = 0, log_N = log2((double)pps->open_count + 1);
    long more = 0;
    tamis_status status = TAMIS_OK;
    tmi_ball_init(&radius);
    tmi_ball_init(&goal);
    TMI_TRY(start(&s, pps, err));
    tmi_ball_set_int(&goal, 1);
    tmi_ball_shift(&goal, &goal, -bits - 2);
    for (int round = 0; round < ROUNDS; round++) {
        long work = (long)(known + log_N) + 40 + more; /* the tree loses about log N bits */
        TMI_TRY(look(&radius, &s, work, err));
        if (tmi_ball_is_less(&radius, &goal)) {
            give(odds, &s, &radius);
            goto done;
        }
        tamis_bound error = tmi_ball_bound(&radius);
        if (error.upper > 1e-300 && error.upper < INFINITY) known = fmax(0, -log2(error.upper));
        if (!(error.lower > error.upper / 2)) more += 32; /* the look was blurred, not the guess bad: look more closely */
        if (tmi_ball_is_finite(&radius)) correct(&s, work);
    }
    status = tmi_fail(err, TAMIS_UNABLE, "conditional_poisson: no odds with these inclusion probabilities could be "
                      "certified");
done:
    clear_search(&s);
    tmi_ball_clear(&radius);
    tmi_ball_clear(&goal);
    return status;
}
