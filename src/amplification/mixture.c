#include "amplification/mixture.h"

#include <math.h>
#include <tamis/experimental/amplification.h>

#include "num/number.h"

void tmi_outcome_init(tmi_outcome *outcome)
{
    tmi_ball_inits(&outcome->weight, &outcome->loss, &outcome->slip, NULL);
    outcome->far = false;
}

void tmi_outcome_clear(tmi_outcome *outcome) { tmi_ball_clears(&outcome->weight, &outcome->loss, &outcome->slip, NULL); }

/* z += w e^(m - x) */
static void add_damped(tmi_ball *z, const tmi_outcome *o, const tmi_ball *m, long bits)
{
    tmi_ball t;
    tmi_ball_init(&t);
    tmi_ball_sub(&t, m, &o->loss, bits);
    tmi_ball_exp(&t, &t, bits);
    tmi_ball_mul(&t, &t, &o->weight, bits);
    tmi_ball_add(z, z, &t, bits);
    tmi_ball_clear(&t);
}

/* From here on log(1 + e^m R) is computed as m + log(e^-m + R), where e^m may fill the memory; above log(N/n) < 44, so
 * that nothing cancels. */
#define LARGE 50

/* log(1 + e^m R) */
static void log_of_gain(tmi_ball *z, const tmi_ball *m, const tmi_ball *R, long bits)
{
    tmi_ball t;
    tmi_ball_init(&t);
    tmi_ball_add_int(&t, m, -LARGE, bits);
    if (tmi_ball_is_positive(&t)) {
        tmi_ball_neg(&t, m);
        tmi_ball_exp(&t, &t, bits);
        tmi_ball_add(&t, &t, R, bits);
        tmi_ball_log(&t, &t, bits);
        tmi_ball_add(z, &t, m, bits);
    } else {
        tmi_ball_exp(&t, m, bits);
        tmi_ball_mul(&t, &t, R, bits);
        tmi_ball_log1p(z, &t, bits);
    }
    tmi_ball_clear(&t);
}

void tmi_amplify(tmi_ball *eps, tmi_ball *delta, const tmi_outcome *present, const tmi_outcome *missing, size_t count, long bits)
{
    tmi_ball m, R, t, slips;
    tmi_ball_inits(&m, &R, &t, &slips, NULL);
    tmi_ball_set(&m, &present->loss);
    tmi_ball_set_int(&slips, 0);
    for (size_t k = 0; k < count; k++)
        if (!missing[k].far) tmi_ball_min(&m, &m, &missing[k].loss, bits);
    tmi_ball_set_int(&t, 0);
    add_damped(&t, present, &m, bits);
    for (size_t k = 0; k < count; k++) {
        if (missing[k].far) continue;
        add_damped(&t, &missing[k], &m, bits);
        tmi_ball_mul(&R, &missing[k].weight, &missing[k].slip, bits);
        tmi_ball_add(&slips, &slips, &R, bits);
    }
    tmi_ball_neg(&R, &present->loss); /* R = w_0 (1 - e^-e) / (w_0 e^(m-e) + sum w_k e^(m-x_k)) */
    tmi_ball_expm1(&R, &R, bits);
    tmi_ball_neg(&R, &R);
    tmi_ball_mul(&R, &R, &present->weight, bits);
    tmi_ball_div(&R, &R, &t, bits);
    log_of_gain(eps, &m, &R, bits);

    tmi_ball_mul(&t, &present->weight, &present->slip, bits); /* D = w_0 slip + (G - 1) (w_0 slip + the others) */
    tmi_ball_add(&slips, &slips, &t, bits);
    if (tmi_ball_is_zero(&slips)) {
        tmi_ball_set_int(delta, 0);
    } else {
        tmi_ball_exp(&m, &m, bits);
        tmi_ball_mul(&m, &m, &R, bits);
        tmi_ball_mul(&slips, &slips, &m, bits);
        tmi_ball_add(delta, &slips, &t, bits);
    }
    tmi_ball_clears(&m, &R, &t, &slips, NULL);
}

void tmi_amplified_loss(tmi_ball *z, const tmi_ball *p, const tmi_ball *eps, long bits)
{
    tmi_ball R;
    tmi_ball_init(&R);
    tmi_ball_neg(&R, eps);
    tmi_ball_expm1(&R, &R, bits);
    tmi_ball_neg(&R, &R);
    tmi_ball_mul(&R, &R, p, bits);
    log_of_gain(z, eps, &R, bits);
    tmi_ball_clear(&R);
}

void tmi_slip_of_steps(tmi_ball *z, const tmi_ball *eps, const tmi_ball *delta, int64_t k, long bits)
{
    tmi_ball a, b;
    if (tmi_ball_is_zero(eps)) {
        tmi_ball_mul_int(z, delta, k, bits);
        return;
    }
    tmi_ball_inits(&a, &b, NULL);
    tmi_ball_neg(&b, eps);
    tmi_ball_mul_int(&a, &b, k, bits);
    tmi_ball_expm1(&a, &a, bits); /* e^-eps (1 - e^-(k eps)) / (1 - e^-eps) */
    tmi_ball_mul(&a, &a, delta, bits);
    tmi_ball_expm1(z, &b, bits);
    tmi_ball_div(&a, &a, z, bits);
    tmi_ball_exp(&b, &b, bits);
    tmi_ball_mul(z, &a, &b, bits);
    tmi_ball_clears(&a, &b, NULL);
}

/* ---- public ---- */

typedef struct question {
    const tamis_amplification *a;
    bool delta;
} question;

static void set_outcome(tmi_outcome *o, const tamis_number *loss, const tamis_number *delta, long bits)
{
    o->far = loss == NULL;
    if (o->far) return;
    tmi_ball_set_number(&o->loss, loss, bits);
    tmi_ball_set_number(&o->slip, delta, bits);
    if (tmi_number_sign(delta) == 0) return;
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_neg(&x, &o->loss);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_mul(&o->slip, &o->slip, &x, bits);
    tmi_ball_clear(&x);
}

static tamis_status formula(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    tmi_outcome present, missing;
    tmi_ball other;
    (void)err;
    tmi_outcome_init(&present);
    tmi_outcome_init(&missing);
    tmi_ball_init(&other);
    set_outcome(&present, q->a->loss, q->a->delta, bits);
    set_outcome(&missing, q->a->loss_missing, q->a->delta_missing, bits);
    tmi_ball_set_number(&present.weight, q->a->inclusion, bits);
    tmi_ball_neg(&missing.weight, &present.weight);
    tmi_ball_add_int(&missing.weight, &missing.weight, 1, bits);
    tmi_amplify(q->delta ? &other : value, q->delta ? value : &other, &present, &missing, 1, bits);
    tmi_outcome_clear(&present);
    tmi_outcome_clear(&missing);
    tmi_ball_clear(&other);
    return TAMIS_OK;
}

/* Beyond this loss, e^loss is not written out. */
#define MOST_LOSS 1000000

static tamis_status check_loss(const tamis_number *loss, const char *name, tamis_error *err)
{
    if (tmi_number_sign(loss) < 0) return tmi_fail(err, TAMIS_INVALID, "%s: must not be negative", name);
    if (tmi_number_compare_int(loss, MOST_LOSS) <= 0) return TAMIS_OK;
    return tmi_fail(err, TAMIS_INVALID, "%s: must not exceed 10^6", name);
}

static tamis_status check_share(const tamis_number *x, const char *name, tamis_error *err)
{
    if (!x) return tmi_fail(err, TAMIS_INVALID, "%s: NULL", name);
    if (tmi_number_sign(x) < 0 || tmi_number_compare_int(x, 1) > 0)
        return tmi_fail(err, TAMIS_INVALID, "%s: must be between 0 and 1", name);
    return TAMIS_OK;
}

tamis_status tamis_amplify(tamis_bound *eps_pop, tamis_bound *delta_pop, const tamis_amplification *a, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_bound eps, delta;
    if (eps_pop) *eps_pop = (tamis_bound){0, INFINITY};
    if (delta_pop) *delta_pop = (tamis_bound){0, 1};
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    if (!delta_pop) return tmi_fail(err, TAMIS_INVALID, "delta_pop: NULL");
    if (!a) return tmi_fail(err, TAMIS_INVALID, "a: NULL");
    TMI_TRY(check_share(a->inclusion, "inclusion", err));
    if (tmi_number_sign(a->inclusion) == 0) return tmi_fail(err, TAMIS_INVALID, "inclusion: must be positive");
    if (!a->loss) return tmi_fail(err, TAMIS_INVALID, "loss: NULL");
    TMI_TRY(check_loss(a->loss, "loss", err));
    TMI_TRY(check_share(a->delta, "delta", err));
    if (a->loss_missing) {
        TMI_TRY(check_loss(a->loss_missing, "loss_missing", err));
        TMI_TRY(check_share(a->delta_missing, "delta_missing", err));
    }
    TMI_TRY(tmi_certify(&eps, TAMIS_WIDTH, formula, &(question){a, false}, err));
    TMI_TRY(tmi_certify(&delta, TAMIS_WIDTH, formula, &(question){a, true}, err));
    *delta_pop = (tamis_bound){fmin(delta.lower, 1), fmin(delta.upper, 1)};
    *eps_pop = eps;
done:
    return status;
}
