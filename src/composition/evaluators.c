/* Which evaluator a list of releases takes.
 *
 * Claims with a delta have mass at infinity: all together 1 - product of (1 - delta_i). It is split off here, so that the
 * evaluators see finite losses only:  delta(eps) = mass + (1 - mass) delta of the finite losses at eps.                    */
#include <math.h>

#include "base/memory.h"
#include "composition/contour.h"
#include "composition/lattice.h"
#include "composition/profile.h"
#include "composition/sums.h"

typedef struct whole {
    const tamis_profile *profile;
    tamis_profile *sum; /* one loss that represents all, or NULL */
    bool is_lattice;
    tmi_evaluator inner;
    tmi_evaluator lattice; /* where the inner evaluator does not lead; opened when it is needed */
} whole;

static bool has_mass(const tmi_loss *loss) { return loss->kind == TMI_LOSS_CLAIM && tmi_number_sign(loss->b) > 0; }

/* 1 - exp(sum of times log(1 - delta_i)) */
void tmi_mass_at_infinity(tmi_ball *z, const tamis_profile *profile, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_int(z, 0);
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_profile_factor *f = &profile->factors[i];
        if (!has_mass(f->loss)) continue;
        if (tmi_number_compare_int(f->loss->b, 1) == 0) {
            tmi_ball_set_int(z, 1);
            goto done;
        }
        tmi_ball_set_number(&x, f->loss->b, bits);
        tmi_ball_neg(&x, &x);
        tmi_ball_log1p(&x, &x, bits);
        tmi_ball_mul_int(&x, &x, f->times, bits);
        tmi_ball_add(z, z, &x, bits);
    }
    tmi_ball_expm1(z, z, bits);
    tmi_ball_neg(z, z);
done:
    tmi_ball_clear(&x);
}

static tamis_status whole_delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    whole *w = self;
    tamis_status status = w->inner.delta(lower, upper, w->inner.self, eps, bits, err);
    if (status == TAMIS_UNABLE && !w->is_lattice) {
        status = w->lattice.delta ? TAMIS_OK : tmi_lattice_open(&w->lattice, w->profile, err);
        if (status == TAMIS_OK) status = w->lattice.delta(lower, upper, w->lattice.self, eps, bits, err);
    }
    if (status != TAMIS_OK) return status;
    tmi_ball mass, rest;
    tmi_ball_inits(&mass, &rest, NULL);
    tmi_mass_at_infinity(&mass, w->profile, bits);
    tmi_ball_neg(&rest, &mass);
    tmi_ball_add_int(&rest, &rest, 1, bits);
    tmi_ball *ends[] = {lower, upper};
    for (int i = 0; i < 2; i++) {
        tmi_ball_mul(ends[i], ends[i], &rest, bits);
        tmi_ball_add(ends[i], ends[i], &mass, bits);
    }
    tmi_ball_clears(&mass, &rest, NULL);
    return TAMIS_OK;
}

static double whole_guess(const void *self, double delta)
{
    const whole *w = self;
    return w->inner.guess ? w->inner.guess(w->inner.self, delta) : NAN;
}

static void rest_whole(void *self)
{
    whole *w = self;
    if (w->inner.rest) w->inner.rest(w->inner.self);
}

static void close_whole(void *self)
{
    whole *w = self;
    tmi_evaluator_close(&w->inner);
    tmi_evaluator_close(&w->lattice);
    tamis_profile_free(w->sum);
    tmi_free(w);
}

static tamis_status one_loss(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    (void)err;
    tmi_loss_delta(lower, upper, self, eps, bits);
    return TAMIS_OK;
}

tamis_status tmi_evaluator_of_loss(tmi_evaluator *evaluator, tmi_loss *loss, tamis_error *err)
{
    *evaluator = (tmi_evaluator){0};
    if (loss->kind == TMI_LOSS_CURVE) return loss->curve->open(evaluator, loss->self, err);
    *evaluator = (tmi_evaluator){.delta = one_loss, .self = loss, .exact = tmi_loss_is_exact(loss), .width = TAMIS_WIDTH};
    return TAMIS_OK;
}

static tamis_status nothing(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    (void)self, (void)eps, (void)bits, (void)err;
    tmi_ball_set_int(lower, 0);
    tmi_ball_set_int(upper, 0);
    return TAMIS_OK;
}

/* Gaussians, or concentrated claims, and nothing else with a finite loss: they add up to one. */
static tamis_status add_up(tamis_profile **sum, const tamis_profile *profile, tmi_loss_kind kind, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *total = NULL, *times = NULL, *term = NULL, *next = NULL;
    tmi_loss *loss = NULL;
    TMI_TRY(tmi_number_ratio(&total, 0, 1, err));
    for (size_t i = 0; i < profile->count; i++) {
        if (profile->factors[i].loss->kind != kind) continue;
        TMI_TRY(tmi_number_ratio(&times, profile->factors[i].times, 1, err));
        TMI_TRY(tmi_number_mul(&term, profile->factors[i].loss->a, times, err));
        TMI_TRY(tmi_number_add(&next, total, term, err));
        tamis_number *used[] = {total, times, term};
        for (size_t k = 0; k < sizeof used / sizeof *used; k++) tamis_number_free(used[k]);
        total = next;
        times = term = next = NULL;
    }
    TMI_TRY(tmi_loss_new(&loss, kind, total, NULL, 0, err));
    TMI_TRY(tmi_profile_take(sum, loss, err));
done:
    tamis_number_free(total);
    tamis_number_free(times);
    tamis_number_free(term);
    return status;
}

static tamis_status open_inner(whole *w, tamis_error *err)
{
    const tamis_profile *p = w->profile;
    size_t kinds[TMI_LOSS_CURVE + 1] = {0}, silent = 0;
    for (size_t i = 0; i < p->count; i++) {
        const tmi_loss *loss = p->factors[i].loss;
        if (loss->kind == TMI_LOSS_CLAIM && tmi_number_sign(loss->a) == 0) silent++;
        else kinds[loss->kind]++;
    }
    w->inner = (tmi_evaluator){.delta = nothing, .exact = true, .width = TAMIS_WIDTH};
    if (silent == p->count) return TAMIS_OK;
    for (tmi_loss_kind kind = TMI_LOSS_CLAIM; kind <= TMI_LOSS_CURVE; kind++) {
        if (kinds[kind] + silent != p->count || (kind != TMI_LOSS_GAUSSIAN && kind != TMI_LOSS_ZCDP)) continue;
        tamis_status status = add_up(&w->sum, p, kind, err);
        if (status != TAMIS_OK) return status;
        return tmi_evaluator_of_loss(&w->inner, w->sum->factors[0].loss, err);
    }
    tamis_status status = kinds[TMI_LOSS_GAUSSIAN] > 0 ? tmi_contour_open(&w->inner, p, err) : tmi_sums_open(&w->inner, p, err);
    if (status != TAMIS_UNABLE) return status;
    w->is_lattice = true;
    return tmi_lattice_open(&w->inner, p, err);
}

tamis_status tmi_evaluator_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err)
{
    *evaluator = (tmi_evaluator){0};
    if (profile->count == 1 && profile->factors[0].times == 1)
        return tmi_evaluator_of_loss(evaluator, profile->factors[0].loss, err);
    whole *w = tmi_alloc(1, sizeof *w);
    if (!w) return tmi_fail_memory(err);
    w->profile = profile;
    tamis_status status = open_inner(w, err);
    if (status != TAMIS_OK) {
        close_whole(w);
        return status;
    }
    *evaluator = (tmi_evaluator){.delta = whole_delta,
                                 .guess = whole_guess,
                                 .free = close_whole,
                                 .rest = rest_whole,
                                 .self = w,
                                 .exact = w->inner.exact,
                                 .lasting = w->inner.lasting,
                                 .width = w->inner.width};
    return TAMIS_OK;
}
