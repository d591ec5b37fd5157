/* Profiles made from other profiles: the maximum of several, a profile known only at some points, and the amplified profile of
 * a person who may have been sampled. */
#include "amplification/curves.h"

#include <math.h>

#include "amplification/srs.h"
#include "base/memory.h"
#include "num/bound.h"

/* ---- the largest ---- */

typedef struct several {
    size_t count;
    tamis_profile **profiles;
} several;

typedef struct several_roads {
    const several *several;
    size_t count;
    tmi_evaluator **evaluators;
} several_roads;

static void free_several(void *self)
{
    several *s = self;
    for (size_t i = 0; s->profiles && i < s->count; i++) tamis_profile_free(s->profiles[i]);
    tmi_free(s->profiles);
    tmi_free(s);
}

static tamis_status largest_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    several_roads *s = self;
    tamis_status status = TAMIS_OK;
    tmi_ball low, high;
    tmi_ball_init(&low);
    tmi_ball_init(&high);
    tmi_ball_set_int(lower, 0);
    tmi_ball_set_int(upper, 0);
    for (size_t i = 0; i < s->count; i++) {
        TMI_TRY(s->evaluators[i]->delta(&low, &high, s->evaluators[i]->self, eps, bits, err));
        tmi_ball_max(lower, lower, &low, bits);
        tmi_ball_max(upper, upper, &high, bits);
    }
done:
    tmi_ball_clear(&low);
    tmi_ball_clear(&high);
    return status;
}

static void close_several(void *self)
{
    several_roads *s = self;
    for (size_t i = 0; s->evaluators && i < s->count; i++) tmi_evaluator_return(s->evaluators[i], s->several->profiles[i]);
    tmi_free(s->evaluators);
    tmi_free(s);
}

static tamis_status open_largest(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    const several *s = self;
    several_roads *open = tmi_alloc(1, sizeof *open);
    bool exact = true;
    if (!open || !(open->evaluators = tmi_alloc(s->count, sizeof *open->evaluators))) {
        tmi_free(open);
        return tmi_fail_memory(err);
    }
    open->several = s;
    for (size_t i = 0; i < s->count; i++) {
        tamis_status status = tmi_evaluator_borrow(&open->evaluators[i], s->profiles[i], err);
        if (status != TAMIS_OK) {
            close_several(open);
            return status;
        }
        open->count++;
        exact = exact && open->evaluators[i]->exact;
    }
    *evaluator = (tmi_evaluator){
        .delta = largest_delta, .free = close_several, .self = open, .exact = exact, .width = TAMIS_WIDTH};
    return TAMIS_OK;
}

tamis_status tamis_profile_maximum(tamis_profile **largest, const tamis_profile *const *profiles, size_t count, tamis_error *err)
{
    static const tmi_curve curve = {open_largest, free_several};
    tmi_loss *loss = NULL;
    several *s = NULL;
    if (!largest) return tmi_fail(err, TAMIS_INVALID, "largest: NULL");
    *largest = NULL;
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!profiles) return tmi_fail(err, TAMIS_INVALID, "profiles: NULL");
    for (size_t i = 0; i < count; i++)
        if (!profiles[i]) return tmi_fail(err, TAMIS_INVALID, "profiles[%zu]: NULL", i);
    if (!(s = tmi_alloc(1, sizeof *s)) || !(s->profiles = tmi_alloc(count, sizeof *s->profiles))) {
        tmi_free(s);
        return tmi_fail_memory(err);
    }
    for (; s->count < count; s->count++) s->profiles[s->count] = tmi_profile_share(profiles[s->count]);
    tamis_status status = tmi_loss_take_curve(&loss, &curve, s, err);
    return status == TAMIS_OK ? tmi_profile_take(largest, loss, err) : status;
}

/* ---- known at some points ---- */

typedef struct told {
    tamis_profile *profile; /* for the lower end */
    size_t count;
    tamis_number **eps;
    double *delta; /* upper ends */
} told;

typedef struct told_road {
    const told *told;
    tmi_evaluator *lower;
} told_road;

static void free_told(void *self)
{
    told *t = self;
    for (size_t i = 0; t->eps && i < t->count; i++) tamis_number_free(t->eps[i]);
    tamis_profile_free(t->profile);
    tmi_free(t->eps);
    tmi_free(t->delta);
    tmi_free(t);
}

/* x = e^eps, or 0 before the first point, and y = delta there. */
static void point(tmi_ball *x, tmi_ball *y, const told *t, size_t i, long bits)
{
    if (i == 0) {
        tmi_ball_set_int(x, 0);
        tmi_ball_set_int(y, 1);
    } else {
        tmi_ball_set_number(x, t->eps[i - 1], bits);
        tmi_ball_exp(x, x, bits);
        tmi_ball_set_double(y, t->delta[i - 1]);
    }
}

/* The chord over the segment that eps lies in. Near a point both neighbouring chords pass close to it, so it does not
 * matter which one a ball that straddles it takes: the larger of both is taken. */
static tamis_status told_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    told_road *r = self;
    const told *t = r->told;
    tamis_status status = r->lower->delta(lower, upper, r->lower->self, eps, bits, err);
    if (status != TAMIS_OK) return status;
    tmi_ball at, x, y, u, v, z;
    tmi_ball *all[] = {&at, &x, &y, &u, &v, &z};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_init(all[i]);
    tmi_ball_exp(&at, eps, bits);
    tmi_ball_set_double(upper, t->delta[t->count - 1]); /* after the last point, and never less */
    for (size_t i = 0; i < t->count; i++) {
        point(&x, &y, t, i, bits);
        point(&u, &v, t, i + 1, bits);
        if (tmi_ball_is_less(&at, &x) || tmi_ball_is_less(&u, &at)) continue;
        tmi_ball_sub(&z, &u, &at, bits);
        tmi_ball_sub(&u, &u, &x, bits);
        tmi_ball_div(&z, &z, &u, bits);
        tmi_ball_sub(&y, &y, &v, bits);
        tmi_ball_mul(&z, &z, &y, bits);
        tmi_ball_add(&z, &z, &v, bits);
        tmi_ball_max(upper, upper, &z, bits);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_clear(all[i]);
    return TAMIS_OK;
}

static void close_told(void *self)
{
    told_road *r = self;
    tmi_evaluator_return(r->lower, r->told->profile);
    tmi_free(r);
}

static tamis_status open_told(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    told_road *r = tmi_alloc(1, sizeof *r);
    if (!r) return tmi_fail_memory(err);
    r->told = self;
    tamis_status status = tmi_evaluator_borrow(&r->lower, r->told->profile, err);
    if (status != TAMIS_OK) {
        tmi_free(r);
        return status;
    }
    *evaluator = (tmi_evaluator){.delta = told_delta, .free = close_told, .self = r, .width = TAMIS_WIDTH};
    return TAMIS_OK;
}

tamis_status tamis_profile_restrict(tamis_profile **restricted, const tamis_profile *profile, const tamis_number *const *eps,
                                    size_t count, tamis_error *err)
{
    static const tmi_curve curve = {open_told, free_told};
    tamis_status status = TAMIS_OK;
    tmi_loss *loss = NULL;
    told *t = NULL;
    tamis_bound delta;
    if (!restricted) return tmi_fail(err, TAMIS_INVALID, "restricted: NULL");
    *restricted = NULL;
    if (!profile) return tmi_fail(err, TAMIS_INVALID, "profile: NULL");
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    for (size_t i = 0; i < count; i++) {
        TMI_TRY(tmi_check_eps(eps[i], err));
        if (i > 0 && tmi_number_compare(eps[i - 1], eps[i]) >= 0)
            return tmi_fail(err, TAMIS_INVALID, "eps[%zu]: must be above the one before", i);
    }
    if (!(t = tmi_alloc(1, sizeof *t)) || !(t->eps = tmi_alloc(count, sizeof *t->eps)) ||
        !(t->delta = tmi_alloc(count, sizeof *t->delta))) {
        status = tmi_fail_memory(err);
        goto done;
    }
    t->profile = tmi_profile_share(profile);
    for (; t->count < count; t->count++) {
        TMI_TRY(tamis_profile_delta(&delta, profile, eps[t->count], err));
        t->delta[t->count] = delta.upper;
        TMI_TRY(tmi_number_copy(&t->eps[t->count], eps[t->count], err));
    }
    status = tmi_loss_take_curve(&loss, &curve, t, err);
    t = NULL;
    if (status == TAMIS_OK) status = tmi_profile_take(restricted, loss, err);
done:
    if (t) free_told(t);
    return status;
}

/* ---- amplified ---- */

typedef struct amplified {
    tamis_profile *sampled;
    tamis_number *rate, *odds; /* odds = (1 - rate)/rate */
} amplified;

typedef struct amplified_road {
    const amplified *amplified;
    tmi_evaluator *sampled;
} amplified_road;

static void free_amplified(void *self)
{
    amplified *a = self;
    tamis_profile_free(a->sampled);
    tamis_number_free(a->rate);
    tamis_number_free(a->odds);
    tmi_free(a);
}

/* rate times delta of the sample at log(1 + (e^eps - 1)/rate) */
static tamis_status amplified_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits,
                                    tamis_error *err)
{
    amplified_road *r = self;
    tmi_ball x, at;
    tmi_ball_init(&x);
    tmi_ball_init(&at);
    tmi_ball_set_number(&x, r->amplified->odds, bits);
    tmi_srs_headroom(&at, &x, eps, bits);
    tmi_ball_add(&at, &at, eps, bits);
    tamis_status status = r->sampled->delta(lower, upper, r->sampled->self, &at, bits, err);
    if (status == TAMIS_OK) {
        tmi_ball_set_number(&x, r->amplified->rate, bits);
        tmi_ball_mul(lower, lower, &x, bits);
        tmi_ball_mul(upper, upper, &x, bits);
    }
    tmi_ball_clear(&x);
    tmi_ball_clear(&at);
    return status;
}

static double amplified_guess(const void *self, double delta)
{
    const amplified_road *r = self;
    double rate = tmi_number_nearest(r->amplified->rate);
    if (!r->sampled->guess) return NAN;
    return log1p(rate * expm1(r->sampled->guess(r->sampled->self, delta / rate)));
}

static void close_amplified(void *self)
{
    amplified_road *r = self;
    tmi_evaluator_return(r->sampled, r->amplified->sampled);
    tmi_free(r);
}

static tamis_status open_amplified(tmi_evaluator *evaluator, const void *self, tamis_error *err)
{
    amplified_road *r = tmi_alloc(1, sizeof *r);
    if (!r) return tmi_fail_memory(err);
    r->amplified = self;
    tamis_status status = tmi_evaluator_borrow(&r->sampled, r->amplified->sampled, err);
    if (status != TAMIS_OK) {
        tmi_free(r);
        return status;
    }
    *evaluator = (tmi_evaluator){.delta = amplified_delta,
                                 .guess = amplified_guess,
                                 .free = close_amplified,
                                 .self = r,
                                 .exact = r->sampled->exact,
                                 .width = r->sampled->width};
    return TAMIS_OK;
}

tamis_status tmi_profile_amplify(tamis_profile **profile, const tamis_profile *sampled, const tamis_number *rate,
                                 tamis_error *err)
{
    static const tmi_curve curve = {open_amplified, free_amplified};
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *rest = NULL;
    tmi_loss *loss = NULL;
    amplified *a = tmi_alloc(1, sizeof *a);
    if (!a) return tmi_fail_memory(err);
    a->sampled = tmi_profile_share(sampled);
    TMI_TRY(tmi_number_copy(&a->rate, rate, err));
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&rest, one, rate, err));
    TMI_TRY(tmi_number_div(&a->odds, rest, rate, err));
    status = tmi_loss_take_curve(&loss, &curve, a, err);
    a = NULL;
    if (status == TAMIS_OK) status = tmi_profile_take(profile, loss, err);
done:
    if (a) free_amplified(a);
    tamis_number_free(one);
    tamis_number_free(rest);
    return status;
}
