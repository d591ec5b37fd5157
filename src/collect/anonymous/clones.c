/* Clones. Whatever the others answer, their reports can be made from less: with some probability each other person leaves a
 * report that is as good as the person's own, made of either of the two answers by a fair coin, and otherwise one that can be
 * removed. C ~ Bin(n-1, clone) clones remain, and the attacker compares
 *
 *     Bin(C, 1/2) + one with probability more    against    Bin(C, 1/2) + one with probability less,   C being seen.
 *
 * delta is the mean over C of the delta of such a pair (collect/anonymous/shift.h). That falls in C, so a block of values of C is
 * bounded from both sides by its ends. */
#include "collect/anonymous/clones.h"

#include <math.h>
#include <tamis/experimental/profile.h>

#include "base/memory.h"
#include "collect/anonymous/reports.h"
#include "composition/profile.h"

#define ALL 1500          /* up to this many others every number of clones is examined if nine digits are wanted */
#define EACH 20000        /* up to this many clones, each number then has a pair of its own */
#define BLOCKS 128        /* blocks of them otherwise */
#define DEVIATIONS 15     /* of the window of C where it is not all: 10^-49 lies outside; */
#define FEW_DEVIATIONS 11 /* 10^-27 */
#define BITS 192

typedef struct window {
    int64_t first, count;
    tmi_ball *mass;
    tmi_ball outside;
} window;

static void window_clear(window *w)
{
    for (int64_t i = 0; w->mass && i < w->count; i++) tmi_ball_clear(&w->mass[i]);
    tmi_free(w->mass);
    tmi_ball_clear(&w->outside);
}

/* The probability that another person is a clone, and that it is not. */
static void clone_share(tmi_ball *clone, tmi_ball *rest, const tmi_clones *c, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    if (c->share) {
        tmi_ball_set_number(clone, c->share, bits);
    } else if (c->year == 2021) {
        tmi_ball_set_number(&x, c->local, bits);
        tmi_ball_neg(&x, &x);
        tmi_ball_exp(clone, &x, bits);
    } else { /* 2 / (1 + e^local) */
        tmi_ball_set_number(&x, c->local, bits);
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_add_int(&x, &x, 1, bits);
        tmi_ball_set_int(clone, 2);
        tmi_ball_div(clone, clone, &x, bits);
    }
    tmi_ball_neg(rest, clone);
    tmi_ball_add_int(rest, rest, 1, bits);
    tmi_ball_clear(&x);
}

/* Masses of Bin(n, clone) from its mode outwards, in balls. */
static tamis_status window_fill(window *w, const tmi_clones *c, tamis_error *err)
{
    int64_t n = c->n - 1;
    tmi_ball clone, rest, odds, x;
    tmi_ball *all[] = {&clone, &rest, &odds, &x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_init(all[i]);
    *w = (window){0};
    tmi_ball_init(&w->outside);
    clone_share(&clone, &rest, c, BITS);
    double p = fmin(1, fmax(0, tmi_ball_bound(&clone).upper)), sd = sqrt((double)n * p * (1 - p));
    int64_t mode = (int64_t)((double)n * p), first = 0, last = n;
    if (mode > n) mode = n;
    if (!c->patient || n > ALL) {
        double reach = c->patient ? DEVIATIONS * sd + 200 : FEW_DEVIATIONS * sd + 40;
        first = (double)mode > reach ? mode - (int64_t)reach : 0;
        last = (double)(n - mode) > reach ? mode + (int64_t)reach : n;
    }
    w->first = first;
    w->count = last - first + 1;
    w->mass = tmi_alloc((size_t)w->count, sizeof *w->mass);
    tamis_status status = w->mass ? TAMIS_OK : tmi_fail_memory(err);
    for (int64_t i = 0; w->mass && i < w->count; i++) tmi_ball_init(&w->mass[i]);
    if (!w->mass) goto done;
    tmi_ball *at = &w->mass[mode - first];
    tmi_log_binomial(at, n, mode, BITS);
    tmi_ball_log(&x, &clone, BITS);
    tmi_ball_mul_int(&x, &x, mode, BITS);
    tmi_ball_add(at, at, &x, BITS);
    tmi_ball_log(&x, &rest, BITS);
    tmi_ball_mul_int(&x, &x, n - mode, BITS);
    tmi_ball_add(at, at, &x, BITS);
    tmi_ball_exp(at, at, BITS);
    tmi_ball_div(&odds, &clone, &rest, BITS);
    for (int64_t k = mode; k < last; k++) { /* mass(k+1) = mass(k) odds (n-k)/(k+1) */
        tmi_ball_mul(&x, &w->mass[k - first], &odds, BITS);
        tmi_ball_mul_int(&x, &x, n - k, BITS);
        tmi_ball_div_int(&w->mass[k + 1 - first], &x, k + 1, BITS);
    }
    for (int64_t k = mode; k > first; k--) {
        tmi_ball_mul_int(&x, &w->mass[k - first], k, BITS);
        tmi_ball_div_int(&x, &x, n - k + 1, BITS);
        tmi_ball_div(&w->mass[k - 1 - first], &x, &odds, BITS);
    }
    if (first > 0 || last < n) {
        tmi_ball_set_int(&w->outside, 1);
        for (int64_t i = 0; i < w->count; i++) tmi_ball_sub(&w->outside, &w->outside, &w->mass[i], BITS);
    }
done:
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_clear(all[i]);
    return status;
}

/* delta with exactly c clones. */
static tamis_status given(tamis_bound *delta, const tmi_clones *c, int64_t count, const tamis_number *half, const tmi_loss_at *at,
                          tamis_error *err)
{
    tmi_shift pair = {{{half, count}}, 1, c->more, c->less, c->local};
    return tmi_shift_bound(delta, &pair, at, 1e-13, err);
}

/* lower += weight times delta.lower, upper likewise */
static void add_share(tmi_ball *sum, const tmi_ball *weight, double delta)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_double(&x, delta);
    tmi_ball_mul(&x, &x, weight, BITS);
    tmi_ball_add(sum, sum, &x, BITS);
    tmi_ball_clear(&x);
}

tamis_status tmi_clones_delta(tamis_bound *delta, const tmi_clones *c, const tmi_loss_at *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *half = NULL;
    tamis_bound high, low;
    tmi_ball lower, upper, weight;
    window w;
    *delta = (tamis_bound){0, 1};
    tmi_ball_init(&lower);
    tmi_ball_init(&upper);
    tmi_ball_init(&weight);
    TMI_TRY(window_fill(&w, c, err));
    TMI_TRY(tmi_number_ratio(&half, 1, 2, err));
    TMI_TRY(given(&high, c, 0, half, at, err)); /* the most that the mass outside can contribute */
    add_share(&upper, &w.outside, high.upper);
    for (int64_t i = 0, step; i < w.count; i += step) {
        step = c->patient && w.count <= EACH ? 1 : w.count / BLOCKS + 1;
        if (step > w.count - i) step = w.count - i;
        tmi_ball_set_int(&weight, 0);
        for (int64_t j = i; j < i + step; j++) tmi_ball_add(&weight, &weight, &w.mass[j], BITS);
        TMI_TRY(given(&high, c, w.first + i, half, at, err));
        low = high;
        if (step > 1) TMI_TRY(given(&low, c, w.first + i + step - 1, half, at, err));
        add_share(&upper, &weight, high.upper);
        add_share(&lower, &weight, low.lower);
    }
    *delta = (tamis_bound){fmax(0, tmi_ball_bound(&lower).lower), fmin(1, tmi_ball_bound(&upper).upper)};
done:
    window_clear(&w);
    tamis_number_free(half);
    tmi_ball_clear(&lower);
    tmi_ball_clear(&upper);
    tmi_ball_clear(&weight);
    return status;
}

tamis_status tamis_clones_delta(tamis_bound *delta, int64_t n, const tamis_number *epsilon0, int year,
                                const tamis_number *epsilon, tamis_error *err)
{
    if (!delta) return tmi_fail(err, TAMIS_INVALID, "delta: NULL");
    *delta = (tamis_bound){0, 1};
    if (n < 1 || n > TAMIS_MAX_REPORTS)
        return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and %lld", (long long)TAMIS_MAX_REPORTS);
    if (!epsilon0 || tmi_number_sign(epsilon0) <= 0 || tmi_number_compare_int(epsilon0, 100) > 0)
        return tmi_fail(err, TAMIS_INVALID, "epsilon0: must be positive and at most 100");
    if (year != 2021 && year != 2023) return tmi_fail(err, TAMIS_INVALID, "year: must be 2021 or 2023");
    tamis_status status = tmi_check_eps(epsilon, err);
    if (status != TAMIS_OK) return status;
    tmi_clones clones = {.n = n, .local = epsilon0, .year = year, .patient = true};
    return tmi_clones_delta(delta, &clones, &(tmi_loss_at){.eps = epsilon}, err);
}
