/* A pair of lattice laws. delta(eps) in the order P, Q is the sum of p - e^eps q over the answers whose loss log(p/q) is
 * above eps. The answers stand sorted by their loss, so that the sum is a difference of two stored ones; only the few whose
 * loss is within SLACK of eps are looked at one by one.                                                               */
#include "composition/pair.h"

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
    tmi_ball outside;
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
    for (size_t i = 0; z->answers && i < z->count; i++) {
        tmi_ball_clear(&z->answers[i].p);
        tmi_ball_clear(&z->answers[i].q);
    }
    tmi_free(z->answers);
    tmi_ball_clear(&z->outside);
    tmi_free(z);
}

static tamis_status new_pair(pair **z, size_t count, tamis_error *err)
{
    pair *new = tmi_alloc(1, sizeof *new);
    if (!new) return tmi_fail_memory(err);
    tmi_ball_init(&new->outside);
    tmi_ball **sums[] = {&new->p_before, &new->q_before, &new->p_after, &new->q_after};
    bool fine = (new->answers = tmi_alloc(count, sizeof *new->answers)) != NULL;
    for (size_t i = 0; i < 4 && fine; i++) fine = (*sums[i] = tmi_alloc(count + 1, sizeof **sums[i])) != NULL;
    if (!fine) { /* nothing has been initialised: zeroed balls are fine to clear */
        free_pair(new);
        return tmi_fail_memory(err);
    }
    new->count = count;
    for (size_t i = 0; i < count; i++) {
        tmi_ball_init(&new->answers[i].p);
        tmi_ball_init(&new->answers[i].q);
    }
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
    tmi_ball_init(&x);
    tmi_ball_init(&zero);
    for (size_t i = from; i < to; i++) {
        tmi_ball_mul(&x, reverse ? &p->answers[i].p : &p->answers[i].q, e, bits);
        tmi_ball_sub(&x, reverse ? &p->answers[i].q : &p->answers[i].p, &x, bits);
        tmi_ball_max(&x, &x, &zero, bits);
        tmi_ball_add(z, z, &x, bits);
    }
    tmi_ball_clear(&x);
    tmi_ball_clear(&zero);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    const pair *z = self;
    tamis_bound about = tmi_ball_bound(eps);
    tmi_ball e, x;
    (void)err;
    tmi_ball_init(&e);
    tmi_ball_init(&x);
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
    tmi_ball_add(upper, lower, &z->outside, bits);
    tmi_ball_mul(&e, &e, &z->outside, bits);
    tmi_ball_sub(lower, lower, &e, bits);
    tmi_ball_max(lower, lower, &x, bits);
    tmi_ball_clear(&e);
    tmi_ball_clear(&x);
    return TAMIS_OK;
}

static tamis_status open_pair(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    const pair *z = self;
    (void)err;
    *evaluator = (tmi_evaluator){.delta = delta,
                                 .self = (void *)(uintptr_t)z,
                                 .exact = tmi_ball_is_zero(&z->outside),
                                 .width = TAMIS_WIDTH};
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

tamis_status tmi_profile_laws(tamis_profile **profile, const tmi_law *p, const tmi_law *q, tamis_error *err)
{
    pair *z = NULL;
    int64_t first = p->first < q->first ? p->first : q->first;
    int64_t p_end = p->first + (int64_t)p->count, q_end = q->first + (int64_t)q->count, end = p_end > q_end ? p_end : q_end;
    *profile = NULL;
    if (end - first > 2 * TMI_LAW_POINTS) return tmi_fail(err, TAMIS_UNABLE, "a pair of distributions with too many outcomes");
    tamis_status status = new_pair(&z, (size_t)(end - first), err);
    if (status != TAMIS_OK) return status;
    for (int64_t k = first; k < end; k++) {
        answer *a = &z->answers[k - first];
        if (k >= p->first && k < p_end) tmi_ball_set(&a->p, &p->mass[k - p->first]);
        if (k >= q->first && k < q_end) tmi_ball_set(&a->q, &q->mass[k - q->first]);
    }
    /* Where one law's answers lie outside the other's window, the mass that the other keeps outside may or may not be there.
     * The upper end takes it as if it were not, and what a law keeps outside as fully revealed; the lower end takes it as all
     * there, at its price e^eps. */
    tmi_ball_add(&z->outside, &p->below, &p->above, BITS);
    tmi_ball_add(&z->outside, &z->outside, &q->below, BITS);
    tmi_ball_add(&z->outside, &z->outside, &q->above, BITS);
    return take(profile, z, err);
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

/* ---- discrete noise that is cut ---- */

/* Masses exp(-|k|/scale) or exp(-k^2/(2 scale^2)) on -reach ... reach, divided by their sum. */
static tamis_status cut_law(tmi_law *law, const tamis_number *scale, bool gaussian, int64_t reach, tamis_error *err)
{
    tamis_status status = tmi_law_new(law, -reach, 2 * (size_t)reach + 1, err);
    if (status != TAMIS_OK) return status;
    tmi_ball rate, sum;
    tmi_ball_init(&rate);
    tmi_ball_init(&sum);
    tmi_ball_set_number(&rate, scale, BITS);
    if (gaussian) {
        tmi_ball_mul(&rate, &rate, &rate, BITS);
        tmi_ball_shift(&rate, &rate, 1);
    }
    tmi_ball_set_int(&sum, -1);
    tmi_ball_div(&rate, &sum, &rate, BITS);
    tmi_ball_set_int(&sum, 0);
    for (int64_t k = 0; k <= reach; k++) {
        tmi_ball *x = &law->mass[reach + k], *y = &law->mass[reach - k];
        tmi_ball_mul_int(x, &rate, gaussian ? k * k : k, BITS);
        tmi_ball_exp(x, x, BITS);
        tmi_ball_set(y, x);
        tmi_ball_add(&sum, &sum, x, BITS);
        if (k > 0) tmi_ball_add(&sum, &sum, y, BITS);
    }
    for (size_t i = 0; i < law->count; i++) tmi_ball_div(&law->mass[i], &law->mass[i], &sum, BITS);
    tmi_ball_clear(&rate);
    tmi_ball_clear(&sum);
    return TAMIS_OK;
}

/* More points than this would take minutes to sum up. */
#define REACH (INT64_C(1) << 18)

static tamis_status truncated(tamis_profile **profile, const tamis_number *scale, bool gaussian, int64_t sensitivity,
                              int64_t reach, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_law p, q;
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    *profile = NULL;
    if (!scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (tmi_number_sign(scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    if (sensitivity < 0 || sensitivity > TAMIS_MAX_STEP)
        return tmi_fail(err, TAMIS_INVALID, "sensitivity: must be between 0 and 2^30");
    if (reach < 0 || reach > REACH) return tmi_fail(err, TAMIS_INVALID, "reach: must be between 0 and 2^18");
    if (sensitivity > 2 * reach) sensitivity = 2 * reach + 1; /* then no answer is common to both */
    tmi_law_init(&p);
    tmi_law_init(&q);
    TMI_TRY(cut_law(&p, scale, gaussian, reach, err));
    TMI_TRY(cut_law(&q, scale, gaussian, reach, err));
    TMI_TRY(tmi_law_shift(&q, sensitivity, err));
    TMI_TRY(tmi_profile_laws(profile, &p, &q, err));
done:
    tmi_law_clear(&p);
    tmi_law_clear(&q);
    return status;
}

tamis_status tamis_profile_truncated_laplace(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                             int64_t reach, tamis_error *err)
{
    return truncated(profile, scale, false, sensitivity, reach, err);
}

tamis_status tamis_profile_truncated_gaussian(tamis_profile **profile, const tamis_number *scale, int64_t sensitivity,
                                              int64_t reach, tamis_error *err)
{
    return truncated(profile, scale, true, sensitivity, reach, err);
}
