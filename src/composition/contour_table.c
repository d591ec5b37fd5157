/* The generating function of a list along a line: a product over releases at every node. */
#include "composition/contour_table.h"

#include "base/memory.h"

/* z = e^(x + iy) for real balls */
static void set_exp(tmi_complex *z, const tmi_ball *x, const tmi_ball *y, long bits)
{
    tmi_ball_set(&z->re, x);
    tmi_ball_set(&z->im, y);
    tmi_complex_exp(z, z, bits);
}

/* w[k] = e^(-(2z+1) a) at z = s + ikh, as e^(-(2s+1) a) turn^k. The powers come by squaring: boxes that are turned again
 * and again would grow by up to sqrt 2 each time. */
static void rotate(tmi_complex *w, size_t nodes, const tmi_ball *a, double s, double h, long bits)
{
    tmi_ball x, zero;
    tmi_ball_inits(&x, &zero, NULL);
    tmi_complex_set_int(&w[0], 1);
    tmi_ball_set_double(&x, -2 * h);
    tmi_ball_mul(&x, &x, a, bits);
    if (nodes > 1) set_exp(&w[1], &zero, &x, bits);
    for (size_t k = 2; k < nodes; k++) tmi_complex_mul(&w[k], &w[k / 2], &w[k - k / 2], bits);
    tmi_ball_set_double(&x, s);
    tmi_ball_mul_int(&x, &x, -2, bits);
    tmi_ball_add_int(&x, &x, -1, bits);
    tmi_ball_mul(&x, &x, a, bits);
    tmi_ball_exp(&x, &x, bits);
    for (size_t k = 0; k < nodes; k++) tmi_complex_mul_ball(&w[k], &w[k], &x, bits);
    tmi_ball_clears(&x, &zero, NULL);
}

/* What represents one release at z, apart from e^(z largest loss) and constants. */
static void factor_at(tmi_complex *z, const tmi_loss *loss, const tmi_complex *at, const tmi_complex *w,
                      const tmi_complex *w_step, const tmi_ball *ratio, tmi_complex *scratch, long bits)
{
    switch (loss->kind) {
    case TMI_LOSS_CLAIM: tmi_complex_add_int(z, w, 1, bits); break;
    case TMI_LOSS_LAPLACE:
        tmi_complex_add_int(z, w, 1, bits);
        tmi_complex_mul(z, z, at, bits);
        tmi_complex_add_int(z, z, 1, bits);
        break;
    case TMI_LOSS_DISCRETE_LAPLACE: /* ratio = 1 - p */
        tmi_complex_add_int(z, w_step, 1, bits);
        if (loss->step == 1) break;
        tmi_complex_set_int(scratch, 1);
        tmi_complex_sub(scratch, scratch, w, bits);
        tmi_complex_sub(scratch + 1, w, w_step, bits);
        tmi_complex_div(scratch, scratch + 1, scratch, bits);
        tmi_complex_mul_ball(scratch, scratch, ratio, bits);
        tmi_complex_add(z, z, scratch, bits);
        break;
    default: /* ratio = variance */
        tmi_ball_mul_int(&scratch->re, &at->re, loss->step, bits);
        tmi_ball_mul_int(&scratch->im, &at->im, loss->step, bits);
        tmi_complex_theta(z, scratch, ratio, bits);
    }
}

/* The sums that releases add to: M e^(-z top) holds e^(exponent z(z+1)/2 + log_norm) beside the product of the factors. */
typedef struct constants {
    tmi_ball log_norm, top, exponent;
} constants;

/* values[k] = the factor of the release at s + ikh; `w` and `w_step` are room for as many. False if it is 1. */
static bool factor(tmi_complex *values, tmi_complex *w, tmi_complex *w_step, size_t nodes, const tmi_profile_factor *f, double s,
                   double h, constants *sums, long bits)
{
    const tmi_loss *loss = f->loss;
    bool gaussian = loss->kind == TMI_LOSS_GAUSSIAN;
    tmi_complex at, scratch[2];
    tmi_ball a, x;
    tmi_complex_init(&at);
    tmi_complex_init(&scratch[0]);
    tmi_complex_init(&scratch[1]);
    tmi_ball_inits(&a, &x, NULL);
    tmi_ball_set_number(&a, loss->a, bits);
    if (gaussian || loss->kind == TMI_LOSS_DISCRETE_GAUSSIAN) {
        tmi_ball_set_int(&x, loss->step);
        tmi_ball_mul_int(&x, &x, loss->step, bits);
        if (gaussian) tmi_ball_set(&x, &a);
        else tmi_ball_div(&x, &x, &a, bits);
        tmi_ball_mul_int(&x, &x, f->times, bits);
        tmi_ball_add(&sums->exponent, &sums->exponent, &x, bits);
    } else {
        tmi_ball_set(&x, &a);
        if (loss->kind == TMI_LOSS_DISCRETE_LAPLACE) { /* from here on a = 1/scale */
            tmi_ball_set_int(&x, 1);
            tmi_ball_div(&a, &x, &a, bits);
            tmi_ball_mul_int(&x, &a, loss->step, bits);
            rotate(w_step, nodes, &x, s, h, bits);
        }
        rotate(w, nodes, &a, s, h, bits);
        tmi_ball_mul_int(&x, &x, f->times, bits);
        tmi_ball_add(&sums->top, &sums->top, &x, bits);
        tmi_ball_neg(&x, &a);
        tmi_ball_exp(&x, &x, bits);
        tmi_ball_log1p(&x, &x, bits);
        tmi_ball_mul_int(&x, &x, f->times, bits);
        if (loss->kind != TMI_LOSS_LAPLACE) tmi_ball_sub(&sums->log_norm, &sums->log_norm, &x, bits);
        tmi_ball_neg(&x, &a);
        tmi_ball_expm1(&x, &x, bits);
        tmi_ball_neg(&a, &x); /* 1 - p */
    }
    tmi_ball_set_double(&at.re, s);
    for (size_t k = 0; k < nodes && !gaussian; k++) {
        tmi_ball_set_double(&at.im, h);
        tmi_ball_mul_int(&at.im, &at.im, (int64_t)k, bits);
        factor_at(&values[k], loss, &at, &w[k], &w_step[k], &a, scratch, bits);
        if (f->times > 1) tmi_complex_power(&values[k], &values[k], (uint64_t)f->times, bits);
    }
    tmi_complex_clear(&at);
    tmi_complex_clear(&scratch[0]);
    tmi_complex_clear(&scratch[1]);
    tmi_ball_clears(&a, &x, NULL);
    return !gaussian;
}

/* Products in pairs, pairs of pairs and so on, for the same reason as in rotate: level l holds products of 2^l factors,
 * and the bits of `pushed` tell which levels are filled. */
#define LEVELS 40

typedef struct products {
    size_t nodes, pushed;
    tmi_complex *level[LEVELS];
} products;

static bool push(products *p, tmi_complex *values, long bits)
{
    size_t l = 0;
    for (; (p->pushed >> l) & 1; l++)
        for (size_t k = 0; k < p->nodes; k++) tmi_complex_mul(&values[k], &values[k], &p->level[l][k], bits);
    if (!p->level[l] && !(p->level[l] = tmi_complex_row(p->nodes))) return false;
    for (size_t k = 0; k < p->nodes; k++) tmi_complex_set(&p->level[l][k], &values[k]);
    p->pushed++;
    return true;
}

/* table[k] = e^(exponent z(z+1)/2 + log_norm) / (2z+1)^laplaces at z = s + ikh, times the product of all factors. */
static void finish(tmi_complex *table, const products *p, double s, double h, const constants *sums, uint64_t laplaces, long bits)
{
    tmi_ball half;
    tmi_complex at, z;
    tmi_ball_init(&half);
    tmi_complex_init(&at);
    tmi_complex_init(&z);
    tmi_ball_shift(&half, &sums->exponent, -1);
    tmi_ball_set_double(&at.re, s);
    for (size_t k = 0; k < p->nodes; k++) {
        tmi_ball_set_double(&at.im, h);
        tmi_ball_mul_int(&at.im, &at.im, (int64_t)k, bits);
        tmi_complex_add_int(&z, &at, 1, bits);
        tmi_complex_mul(&z, &z, &at, bits);
        tmi_complex_mul_ball(&z, &z, &half, bits);
        tmi_ball_add(&z.re, &z.re, &sums->log_norm, bits);
        tmi_complex_exp(&table[k], &z, bits);
        for (size_t l = 0; l < LEVELS; l++)
            if ((p->pushed >> l) & 1) tmi_complex_mul(&table[k], &table[k], &p->level[l][k], bits);
        if (laplaces == 0) continue;
        tmi_complex_add(&z, &at, &at, bits);
        tmi_complex_add_int(&z, &z, 1, bits);
        tmi_complex_power(&z, &z, laplaces, bits);
        tmi_complex_div(&table[k], &table[k], &z, bits);
    }
    tmi_ball_clear(&half);
    tmi_complex_clear(&at);
    tmi_complex_clear(&z);
}

tamis_status tmi_contour_fill(tmi_complex *table, size_t nodes, tmi_ball *top, const tamis_profile *profile, double s, double h,
                              long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    products p = {.nodes = nodes};
    constants sums;
    uint64_t laplaces = 0;
    tmi_complex *w = tmi_complex_row(nodes), *w_step = tmi_complex_row(nodes);
    tmi_ball_inits(&sums.log_norm, &sums.top, &sums.exponent, NULL);
    if (!w || !w_step) status = tmi_fail_memory(err);
    for (size_t i = 0; i < profile->count && status == TAMIS_OK; i++) {
        const tmi_profile_factor *f = &profile->factors[i];
        if (f->loss->kind == TMI_LOSS_LAPLACE) laplaces += (uint64_t)f->times;
        if (factor(table, w, w_step, nodes, f, s, h, &sums, bits) && !push(&p, table, bits)) status = tmi_fail_memory(err);
    }
    if (status == TAMIS_OK) {
        finish(table, &p, s, h, &sums, laplaces, bits);
        tmi_ball_set(top, &sums.top);
    }
    for (size_t l = 0; l < LEVELS; l++) tmi_complex_row_free(p.level[l], nodes);
    tmi_complex_row_free(w, nodes);
    tmi_complex_row_free(w_step, nodes);
    tmi_ball_clears(&sums.log_norm, &sums.top, &sums.exponent, NULL);
    return status;
}
