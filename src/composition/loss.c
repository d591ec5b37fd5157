/* The profiles of single mechanisms, each by the most revealing set of answers: those whose loss exceeds eps. */
#include "composition/loss.h"

#include <math.h>

#include "base/memory.h"
#include "num/law/laws.h"

tamis_status tmi_loss_new(tmi_loss **loss, tmi_loss_kind kind, const tamis_number *a, const tamis_number *b, int64_t step,
                          tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_loss *new = tmi_alloc(1, sizeof *new);
    *loss = NULL;
    if (!new) return tmi_fail_memory(err);
    atomic_init(&new->owners, 1);
    new->kind = kind;
    new->step = step;
    TMI_TRY(tmi_number_copy(&new->a, a, err));
    if (b) TMI_TRY(tmi_number_copy(&new->b, b, err));
    *loss = new;
done:
    if (status != TAMIS_OK) tmi_loss_free(new);
    return status;
}

tamis_status tmi_loss_take_curve(tmi_loss **loss, const tmi_curve *curve, void *self, tamis_error *err)
{
    *loss = tmi_alloc(1, sizeof **loss);
    if (!*loss) {
        curve->free(self);
        return tmi_fail_memory(err);
    }
    atomic_init(&(*loss)->owners, 1);
    (*loss)->kind = TMI_LOSS_CURVE;
    (*loss)->curve = curve;
    (*loss)->self = self;
    return TAMIS_OK;
}

tmi_loss *tmi_loss_share(tmi_loss *loss)
{
    atomic_fetch_add(&loss->owners, 1);
    return loss;
}

void tmi_loss_free(tmi_loss *loss)
{
    if (!loss || atomic_fetch_sub(&loss->owners, 1) > 1) return;
    if (loss->curve) loss->curve->free(loss->self);
    tamis_number_free(loss->a);
    tamis_number_free(loss->b);
    tmi_free(loss);
}

int tmi_loss_compare(const tmi_loss *x, const tmi_loss *y)
{
    if (x == y) return 0;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->kind == TMI_LOSS_CURVE) return (uintptr_t)x < (uintptr_t)y ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    int sign = tmi_number_compare(x->a, y->a);
    return sign != 0 || !x->b || !y->b ? sign : tmi_number_compare(x->b, y->b);
}

bool tmi_loss_is_exact(const tmi_loss *loss) { return loss->kind != TMI_LOSS_ZCDP && loss->kind != TMI_LOSS_CURVE; }

bool tmi_loss_is_discrete(const tmi_loss *loss)
{
    return loss->kind == TMI_LOSS_CLAIM || loss->kind == TMI_LOSS_DISCRETE_LAPLACE || loss->kind == TMI_LOSS_DISCRETE_GAUSSIAN;
}

/* z = max(x, 0) */
static void not_negative(tmi_ball *z, const tmi_ball *x, long bits)
{
    tmi_ball zero;
    tmi_ball_init(&zero);
    tmi_ball_max(z, x, &zero, bits);
    tmi_ball_clear(&zero);
}

/* z = 1 - e^x */
static void one_minus_exp(tmi_ball *z, const tmi_ball *x, long bits)
{
    tmi_ball_expm1(z, x, bits);
    tmi_ball_neg(z, z);
}

static void claim(tmi_ball *z, const tmi_loss *loss, const tmi_ball *eps, long bits)
{
    tmi_ball a, x, y;
    tmi_ball_inits(&a, &x, &y, NULL);
    tmi_ball_set_number(&a, loss->a, bits);
    tmi_ball_sub(&x, eps, &a, bits);
    if (!tmi_ball_is_positive(&x)) {
        one_minus_exp(&x, &x, bits);
        tmi_ball_neg(&y, &a);
        tmi_ball_exp(&y, &y, bits);
        tmi_ball_add_int(&y, &y, 1, bits);
        tmi_ball_div(&x, &x, &y, bits);
        not_negative(&x, &x, bits);
    } else {
        tmi_ball_set_int(&x, 0);
    }
    tmi_ball_set_number(&y, loss->b, bits);
    tmi_ball_neg(&a, &y);
    tmi_ball_add_int(&a, &a, 1, bits);
    tmi_ball_mul(&x, &x, &a, bits);
    tmi_ball_add(z, &x, &y, bits);
    tmi_ball_clears(&a, &x, &y, NULL);
}

static void laplace(tmi_ball *z, const tmi_loss *loss, const tmi_ball *eps, long bits)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_number(&x, loss->a, bits);
    tmi_ball_sub(&x, eps, &x, bits);
    tmi_ball_shift(&x, &x, -1);
    if (tmi_ball_is_positive(&x)) tmi_ball_set_int(&x, 0);
    one_minus_exp(&x, &x, bits);
    not_negative(z, &x, bits);
    tmi_ball_clear(&x);
}

/* a is the square of the shift over the standard deviation */
static void gaussian(tmi_ball *z, const tmi_ball *a, const tmi_ball *eps, long bits)
{
    tmi_ball m, ratio, x, y;
    tmi_ball_inits(&m, &ratio, &x, &y, NULL);
    tmi_ball_sqrt(&m, a, bits);
    tmi_ball_div(&ratio, eps, &m, bits);
    tmi_ball_shift(&m, &m, -1);
    tmi_ball_sub(&x, &ratio, &m, bits);
    tmi_normal_at_least(&x, &x, bits);
    tmi_ball_add(&y, &ratio, &m, bits);
    tmi_normal_at_least(&y, &y, bits);
    tmi_ball_exp(&m, eps, bits);
    tmi_ball_mul(&y, &y, &m, bits);
    tmi_ball_sub(&x, &x, &y, bits);
    not_negative(z, &x, bits);
    tmi_ball_clears(&m, &ratio, &x, &y, NULL);
}

/* P(X <= k) - e^eps P(X <= k - D) for the discrete Laplace law, 0 <= k < D. */
static void laplace_set(tmi_ball *z, const void *self, int64_t k, const tmi_ball *eps, long bits)
{
    const tmi_loss *loss = self;
    tmi_ball rate, x, y;
    tmi_ball_inits(&rate, &x, &y, NULL);
    tmi_ball_set_number(&x, loss->a, bits);
    tmi_ball_set_int(&rate, -1);
    tmi_ball_div(&rate, &rate, &x, bits); /* log p */
    tmi_ball_mul_int(&x, &rate, k + 1, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_mul_int(&y, &rate, loss->step - k, bits);
    tmi_ball_add(&y, &y, eps, bits);
    tmi_ball_exp(&y, &y, bits);
    tmi_ball_add(&x, &x, &y, bits);
    tmi_ball_exp(&y, &rate, bits);
    tmi_ball_add_int(&y, &y, 1, bits);
    tmi_ball_sub(&x, &y, &x, bits);
    tmi_ball_div(z, &x, &y, bits);
    tmi_ball_clears(&rate, &x, &y, NULL);
}

static void gaussian_set(tmi_ball *z, const void *self, int64_t k, const tmi_ball *eps, long bits)
{
    const tmi_loss *loss = self;
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_discrete_gaussian_part(&x, loss->a, TMI_AT_MOST, k, bits);
    tmi_discrete_gaussian_part(&y, loss->a, TMI_AT_MOST, k - loss->step, bits);
    tmi_ball_exp(z, eps, bits);
    tmi_ball_mul(&y, &y, z, bits);
    tmi_ball_sub(z, &x, &y, bits);
    tmi_ball_clears(&x, &y, NULL);
}

/* The sets {X <= k} grow better up to the k that is looked for and worse beyond it, so where its place is not quite
 * certain the better one of two neighbours is the best. Where it is not known at all, nothing is. */
void tmi_loss_best_set(tmi_ball *z, const tmi_loss *loss, const tmi_ball *eps, tmi_set_difference *f, const void *self, long bits)
{
    bool is_laplace = loss->kind == TMI_LOSS_DISCRETE_LAPLACE;
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    tmi_ball_set_number(&y, loss->a, bits);
    tmi_ball_mul(&y, &y, eps, bits);
    if (is_laplace) tmi_ball_shift(&y, &y, -1);
    else tmi_ball_div_int(&y, &y, loss->step, bits);
    tmi_ball_set_int(&x, loss->step);
    tmi_ball_shift(&x, &x, -1);
    tmi_ball_sub(&x, &x, &y, bits);
    tamis_bound place = tmi_ball_bound(&x);
    if (is_laplace && place.upper <= 0) {
        tmi_ball_set_int(z, 0); /* eps passes the largest loss */
    } else if (!(place.upper - place.lower <= 0.5) || fabs(place.lower) > 0x1p62) {
        tmi_ball_set_unknown(z);
    } else {
        int64_t first = (int64_t)ceil(place.lower) - 1, last = (int64_t)ceil(place.upper) - 1;
        tmi_ball_set_int(&x, 0);
        for (int64_t k = first; k <= last; k++) {
            if (is_laplace && k < 0) continue;
            f(&y, self, k, eps, bits);
            tmi_ball_max(&x, &x, &y, bits);
        }
        tmi_ball_set(z, &x);
    }
    tmi_ball_clears(&x, &y, NULL);
}

/* ---- zCDP ---- */

/* Logarithm of the bound at a = 1 + e^t; for choosing t only. */
static double cks(double rho, double eps, double t)
{
    double b = exp(t), a = 1 + b;
    return b * (a * rho - eps) - t - a * log1p(1 / b);
}

/* The logarithm is convex in the order a near its minimum; a golden section finds it well enough, and every a is valid. */
static double best_order(double rho, double eps)
{
    double lo = -30, hi = 30;
    const double golden = 0.6180339887498949;
    for (int i = 0; i < 60; i++) {
        double u = hi - golden * (hi - lo), v = lo + golden * (hi - lo);
        if (cks(rho, eps, u) < cks(rho, eps, v)) hi = v;
        else lo = u;
    }
    return exp((lo + hi) / 2);
}

static void zcdp(tmi_ball *lower, tmi_ball *upper, const tmi_loss *loss, const tmi_ball *eps, long bits)
{
    tmi_ball rho, a, b, x, y;
    tmi_ball_inits(&rho, &a, &b, &x, &y, NULL);
    tmi_ball_set_number(&rho, loss->a, bits);
    tmi_ball_mul_int(&x, &rho, 2, bits);
    gaussian(lower, &x, eps, bits);
    tmi_ball_set_double(&b, best_order(tmi_number_nearest(loss->a), tmi_ball_bound(eps).upper)); /* a - 1 */
    tmi_ball_add_int(&a, &b, 1, bits);
    tmi_ball_mul(&x, &a, &rho, bits);
    tmi_ball_sub(&x, &x, eps, bits);
    tmi_ball_mul(&x, &x, &b, bits);
    tmi_ball_div(&y, &b, &a, bits);
    tmi_ball_log(&y, &y, bits);
    tmi_ball_mul(&y, &y, &a, bits);
    tmi_ball_add(&x, &x, &y, bits);
    tmi_ball_exp(&x, &x, bits);
    tmi_ball_div(&x, &x, &b, bits);
    tmi_ball_set_int(&y, 1);
    tmi_ball_min(upper, &x, &y, bits);
    tmi_ball_clears(&rho, &a, &b, &x, &y, NULL);
}

void tmi_loss_delta(tmi_ball *lower, tmi_ball *upper, const tmi_loss *loss, const tmi_ball *eps, long bits)
{
    tmi_ball a;
    switch (loss->kind) {
    case TMI_LOSS_CLAIM: claim(lower, loss, eps, bits); break;
    case TMI_LOSS_LAPLACE: laplace(lower, loss, eps, bits); break;
    case TMI_LOSS_GAUSSIAN:
        tmi_ball_init(&a);
        tmi_ball_set_number(&a, loss->a, bits);
        gaussian(lower, &a, eps, bits);
        tmi_ball_clear(&a);
        break;
    case TMI_LOSS_DISCRETE_LAPLACE: tmi_loss_best_set(lower, loss, eps, laplace_set, loss, bits); break;
    case TMI_LOSS_DISCRETE_GAUSSIAN: tmi_loss_best_set(lower, loss, eps, gaussian_set, loss, bits); break;
    case TMI_LOSS_ZCDP: zcdp(lower, upper, loss, eps, bits); return;
    case TMI_LOSS_CURVE: tmi_ball_set_unknown(lower); break;
    }
    tmi_ball_set(upper, lower);
}
