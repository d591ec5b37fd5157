/* A pair of lattice laws. delta(eps) in the order P, Q is the sum of p - e^eps q over the answers whose loss log(p/q) is
 * above eps. The answers stand sorted by their loss, so that the sum is a difference of two stored ones; only the few whose
 * loss is within SLACK of eps are looked at one by one.                                                               */
#include "composition/profile.h"
#include "num/law/law.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Bits of the masses, and how far a loss in doubles may be off: it is the logarithm of a quotient of two doubles. */
#define BITS 320
#define SLACK 1e-9

typedef struct answer {
    double loss; /* about log(p/q); infinite if only one of them can be */
    tmi_ball p, q;
} answer;

/* The sums over the answers before (from the largest loss on), and after. */
typedef struct pair {
    size_t count;
    answer *answers;
    tmi_ball *p_before, *q_before, *p_after, *q_after;
} pair;

static void free_balls(tmi_ball *balls, size_t count)
{
    for (size_t i = 0; balls && i < count; i++) tmi_ball_clear(&balls[i]);
    tmi_free(balls);
}

static void free_pair(void *self)
{
    pair *z = self;
    tmi_ball *sums[] = {z->p_before, z->q_before, z->p_after, z->q_after};
    for (size_t i = 0; i < 4; i++) free_balls(sums[i], z->count + 1);
    for (size_t i = 0; z->answers && i < z->count; i++) { tmi_ball_clears(&z->answers[i].p, &z->answers[i].q, NULL); }
    tmi_free(z->answers);
    tmi_free(z);
}

static tamis_status new_pair(pair **z, size_t count, tamis_error *err)
{
    pair *new = tmi_alloc(1, sizeof *new);
    if (!new) return tmi_fail_memory(err);
    tmi_ball **sums[] = {&new->p_before, &new->q_before, &new->p_after, &new->q_after};
    bool fine = (new->answers = tmi_alloc(count, sizeof *new->answers)) != NULL;
    for (size_t i = 0; i < 4 && fine; i++) fine = (*sums[i] = tmi_alloc(count + 1, sizeof **sums[i])) != NULL;
    if (!fine) { /* nothing has been initialised: zeroed balls are fine to clear */
        free_pair(new);
        return tmi_fail_memory(err);
    }
    new->count = count;
    for (size_t i = 0; i < count; i++) { tmi_ball_inits(&new->answers[i].p, &new->answers[i].q, NULL); }
    for (size_t i = 0; i <= count; i++)
        for (size_t k = 0; k < 4; k++) tmi_ball_init(&(*sums[k])[i]);
    *z = new;
    return TAMIS_OK;
}

/* log x; for masses that doubles do not hold, by balls. */
static double log_of(const tmi_ball *x)
{
    tamis_bound b = tmi_ball_bound(x);
    if (b.lower > 1e-290) return log(b.lower / 2 + b.upper / 2);
    if (b.upper <= 0) return -INFINITY;
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_middle(&y, x);
    tmi_ball_log(&y, &y, 64);
    b = tmi_ball_bound(&y);
    tmi_ball_clear(&y);
    return b.lower;
}

static int larger_first(const void *x, const void *y)
{
    double a = ((const answer *)x)->loss, b = ((const answer *)y)->loss;
    return a > b ? -1 : a < b;
}

/* Sorts the answers and adds up; answers that neither law gives have no loss and stand anywhere. */
static void settle(pair *z)
{
    for (size_t i = 0; i < z->count; i++) {
        double p = log_of(&z->answers[i].p), q = log_of(&z->answers[i].q);
        z->answers[i].loss = isinf(p) && isinf(q) ? 0 : p - q;
    }
    qsort(z->answers, z->count, sizeof *z->answers, larger_first); /* balls may be moved */
    for (size_t i = 0; i < z->count; i++) {
        tmi_ball_add(&z->p_before[i + 1], &z->p_before[i], &z->answers[i].p, BITS);
        tmi_ball_add(&z->q_before[i + 1], &z->q_before[i], &z->answers[i].q, BITS);
    }
    for (size_t i = z->count; i-- > 0;) {
        tmi_ball_add(&z->p_after[i], &z->p_after[i + 1], &z->answers[i].p, BITS);
        tmi_ball_add(&z->q_after[i], &z->q_after[i + 1], &z->answers[i].q, BITS);
    }
}

/* The first answer whose loss is below x. */
static size_t first_below(const pair *z, double x)
{
    size_t lo = 0, hi = z->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (z->answers[mid].loss < x) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

/* z = sum of the positive ones of (more - e less), those that are certain being summed up already in (more, less). */
static void add_near(tmi_ball *z, const pair *p, size_t from, size_t to, bool reverse, const tmi_ball *e, long bits)
{
    tmi_ball x, zero;
    tmi_ball_inits(&x, &zero, NULL);
    for (size_t i = from; i < to; i++) {
        tmi_ball_mul(&x, reverse ? &p->answers[i].p : &p->answers[i].q, e, bits);
        tmi_ball_sub(&x, reverse ? &p->answers[i].q : &p->answers[i].p, &x, bits);
        tmi_ball_max(&x, &x, &zero, bits);
        tmi_ball_add(z, z, &x, bits);
    }
    tmi_ball_clears(&x, &zero, NULL);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    const pair *z = self;
    tamis_bound about = tmi_ball_bound(eps);
    tmi_ball e, x;
    (void)err;
    tmi_ball_inits(&e, &x, NULL);
    tmi_ball_exp(&e, eps, bits);
    size_t sure = first_below(z, about.upper + SLACK), beyond = first_below(z, about.lower - SLACK);
    tmi_ball_mul(&x, &z->q_before[sure], &e, bits);
    tmi_ball_sub(lower, &z->p_before[sure], &x, bits);
    add_near(lower, z, sure, beyond, false, &e, bits);
    /* the other order: losses below -eps */
    sure = first_below(z, -about.upper - SLACK);
    beyond = first_below(z, -about.lower + SLACK);
    tmi_ball_mul(&x, &z->p_after[sure], &e, bits);
    tmi_ball_sub(&x, &z->q_after[sure], &x, bits);
    add_near(&x, z, beyond, sure, true, &e, bits);
    tmi_ball_max(lower, lower, &x, bits);
    tmi_ball_set_int(&x, 0);
    tmi_ball_max(lower, lower, &x, bits);
    tmi_ball_set(upper, lower);
    tmi_ball_clears(&e, &x, NULL);
    return TAMIS_OK;
}

static tamis_status open_pair(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    const pair *z = self;
    (void)err;
    *evaluator = (tmi_evaluator){.delta = delta, .self = (void *)(uintptr_t)z, .exact = true, .width = TAMIS_WIDTH};
    return TAMIS_OK;
}

static tamis_status take(tamis_profile **profile, pair *z, tamis_error *err)
{
    static const tmi_curve curve = {open_pair, free_pair};
    tmi_loss *loss = NULL;
    settle(z);
    tamis_status status = tmi_loss_take_curve(&loss, &curve, z, err);
    return status == TAMIS_OK ? tmi_profile_take(profile, loss, err) : status;
}

tamis_status tamis_profile_pair(tamis_profile **profile, const tamis_number *const *p, const tamis_number *const *q, size_t count,
                                tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *sum[2] = {NULL, NULL}, *next = NULL;
    pair *z = NULL;
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    *profile = NULL;
    if (count < 1 || count > TMI_LAW_POINTS) return tmi_fail(err, TAMIS_INVALID, "count: must be between 1 and 2^20");
    if (!p || !q) return tmi_fail(err, TAMIS_INVALID, "%c: NULL", p ? 'q' : 'p');
    TMI_TRY(tmi_number_ratio(&sum[0], 0, 1, err));
    TMI_TRY(tmi_number_ratio(&sum[1], 0, 1, err));
    TMI_TRY(new_pair(&z, count, err));
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            const tamis_number *mass = k == 0 ? p[i] : q[i];
            if (!mass || tmi_number_sign(mass) < 0) {
                status = tmi_fail(err, TAMIS_INVALID, "%c[%zu]: %s", k == 0 ? 'p' : 'q', i,
                                  mass ? "must not be negative" : "NULL");
                goto done;
            }
            tmi_ball_set_number(k == 0 ? &z->answers[i].p : &z->answers[i].q, mass, BITS);
            TMI_TRY(tmi_number_add(&next, sum[k], mass, err));
            tamis_number_free(sum[k]);
            sum[k] = next;
        }
    for (int k = 0; k < 2; k++)
        if (tmi_number_compare_int(sum[k], 1) != 0) {
            status = tmi_fail(err, TAMIS_INVALID, "%c: the sum of the masses is not 1", k == 0 ? 'p' : 'q');
            goto done;
        }
    status = take(profile, z, err);
    z = NULL;
done:
    if (z) free_pair(z);
    tamis_number_free(sum[0]);
    tamis_number_free(sum[1]);
    return status;
}
