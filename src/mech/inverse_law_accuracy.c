/* The accuracy theorem of the inverse sensitivity mechanism as a calculator: its bound, and the n or eps that it needs. */
#include <math.h>
#include <tamis/experimental/mech.h>

#include "num/ball.h"
#include "num/exact.h"

static tamis_status bound_of(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tamis_inverse_setup *s = context;
    tmi_ball p, u, gamma, x, y;
    (void)err;
    tmi_ball_inits(&p, &u, &gamma, &x, &y, NULL);
    tmi_ball_set_number(&p, s->p_min, bits);
    tmi_ball_set_number(&u, s->u, bits);
    tmi_ball_set_number(&gamma, s->gamma, bits);

    tmi_ball_mul(&x, &p, &u, bits); /* n p u/8 */
    tmi_ball_mul_int(&x, &x, s->n, bits);
    tmi_ball_shift(&x, &x, -3);
    tmi_ball_neg(&y, &x);
    tmi_ball_exp(&y, &y, bits);
    tmi_ball_mul(&y, &y, &gamma, bits);
    tmi_ball_div(&y, &y, &u, bits);
    tmi_ball_shift(value, &y, 1);

    tmi_ball_set_number(&y, s->eps, bits);
    tmi_ball_mul(&x, &x, &y, bits);
    tmi_ball_mul_int(&x, &x, -2, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_set_number(&y, s->length, bits);
    tmi_ball_mul(&x, &x, &y, bits);
    tmi_ball_set_number(&y, s->rho, bits);
    tmi_ball_div(&x, &x, &y, bits);
    tmi_ball_shift(&x, &x, -1);
    tmi_ball_add(value, value, &x, bits);

    tmi_ball_mul(&x, &gamma, &p, bits);
    tmi_ball_mul(&x, &x, &x, bits);
    tmi_ball_mul_int(&x, &x, -s->n, bits);
    tmi_ball_shift(&x, &x, -3);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_shift(&x, &x, 2);
    tmi_ball_add(value, value, &x, bits);
    tmi_ball_clears(&p, &u, &gamma, &x, &y, NULL);
    return TAMIS_OK;
}

/* Everything but n and eps. */
static tamis_status check(const tamis_inverse_setup *s, tamis_error *err)
{
    if (!s) return tmi_fail(err, TAMIS_INVALID, "setup: NULL");
    const struct {
        const char *name;
        const tamis_number *x;
    } all[] = {{"rho", s->rho}, {"u", s->u}, {"gamma", s->gamma}, {"length", s->length}, {"p_min", s->p_min}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", all[i].name);
        if (tmi_number_sign(all[i].x) <= 0) return tmi_fail(err, TAMIS_INVALID, "%s: must be positive", all[i].name);
    }
    tmi_exact e = TMI_EXACT(err);
    tmi_term four = tmi_int(&e, 4), quarter = tmi_mul(&e, four, s->u), room = tmi_mul(&e, tmi_mul(&e, four, s->gamma), s->p_min);
    tamis_status status = e.status;
    if (status == TAMIS_OK && tmi_number_compare(quarter, s->gamma) > 0)
        status = tmi_fail(err, TAMIS_INVALID, "u: must be at most gamma / 4");
    if (status == TAMIS_OK && tmi_number_compare_int(room, 1) > 0)
        status = tmi_fail(err, TAMIS_INVALID, "p_min: no density is that large over a length of 4 gamma");
    tmi_exact_clear(&e);
    return status;
}

static tamis_status check_n(int64_t n, tamis_error *err)
{
    return n >= 1 && n <= TAMIS_MAX_UNITS ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and 2^40");
}

static tamis_status check_eps(const tamis_number *eps, tamis_error *err)
{
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    return tmi_number_sign(eps) > 0 ? TAMIS_OK : tmi_fail(err, TAMIS_INVALID, "eps: must be positive");
}

static tamis_status check_target(const tamis_number *target, tamis_error *err)
{
    if (!target) return tmi_fail(err, TAMIS_INVALID, "target: NULL");
    if (tmi_number_sign(target) <= 0 || tmi_number_compare_int(target, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "target: must be between 0 and 1");
    return TAMIS_OK;
}

static tamis_status evaluate(tamis_bound *failure, const tamis_inverse_setup *s, tamis_error *err)
{
    tamis_bound bound;
    tamis_status status = tmi_certify(&bound, TAMIS_WIDTH, bound_of, s, err);
    if (status == TAMIS_OK) *failure = (tamis_bound){fmax(fmin(bound.lower, 1), 0), fmin(bound.upper, 1)};
    return status;
}

tamis_status tamis_inverse_accuracy(tamis_bound *failure, const tamis_inverse_setup *setup, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!failure) return tmi_fail(err, TAMIS_INVALID, "failure: NULL");
    *failure = (tamis_bound){0, 1};
    TMI_TRY(check(setup, err));
    TMI_TRY(check_n(setup->n, err));
    TMI_TRY(check_eps(setup->eps, err));
    TMI_TRY(evaluate(failure, setup, err));
done:
    return status;
}

/* Whether the bound is certainly at most the target. */
static tamis_status meets(bool *enough, const tamis_inverse_setup *s, const tamis_number *target, tamis_error *err)
{
    tamis_bound failure;
    tamis_status status = evaluate(&failure, s, err);
    *enough = status == TAMIS_OK && failure.upper <= tmi_number_down(target);
    return status;
}

tamis_status tamis_inverse_accuracy_n(int64_t *n, const tamis_inverse_setup *setup, const tamis_number *target, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool enough = false;
    if (!n) return tmi_fail(err, TAMIS_INVALID, "n: NULL");
    *n = INT64_MAX;
    TMI_TRY(check(setup, err));
    TMI_TRY(check_eps(setup->eps, err));
    TMI_TRY(check_target(target, err));
    tamis_inverse_setup s = *setup;
    s.n = TAMIS_MAX_UNITS;
    TMI_TRY(meets(&enough, &s, target, err));
    if (!enough) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "target: more than 2^40 values would be needed"));
    int64_t low = 0, high = TAMIS_MAX_UNITS; /* the bound falls in n */
    while (high - low > 1) {
        s.n = low + (high - low) / 2;
        TMI_TRY(meets(&enough, &s, target, err));
        if (enough) high = s.n;
        else low = s.n;
    }
    *n = high;
done:
    return status;
}

tamis_status tamis_inverse_accuracy_eps(double *eps, const tamis_inverse_setup *setup, const tamis_number *target,
                                        tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *tried = NULL;
    bool enough = false;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = INFINITY;
    TMI_TRY(check(setup, err));
    TMI_TRY(check_n(setup->n, err));
    TMI_TRY(check_target(target, err));
    tamis_inverse_setup s = *setup;
    double low = 0, high = 1e6;
    for (double at = high;; at = low + (high - low) / 2) {
        tamis_number_free(tried);
        tried = NULL;
        TMI_TRY(tmi_number_double(&tried, at, err));
        s.eps = tried;
        TMI_TRY(meets(&enough, &s, target, err));
        if (at == 1e6 && !enough) TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "target: no eps suffices for this n"));
        if (enough) high = at;
        else low = at;
        if (high - low <= 1e-12 * high) break;
    }
    *eps = high;
done:
    tamis_number_free(tried);
    return status;
}
