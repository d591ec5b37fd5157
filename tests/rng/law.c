#include "tests/test.h"

#include "tests/rng/law.h"

#include <math.h>
#include <string.h>

#include "num/ball.h"
#include "num/number.h"
#include "tests/rng/scripted_bits.h"

/* ---- laws ---- */

typedef struct point {
    const tamis_number *parameter;
    int64_t k;
} point;

/* z = exp(-k^power / (divisor * parameter)). */
static void weight(tmi_ball *z, const tamis_number *parameter, int64_t k, int power, int64_t divisor, long bits)
{
    tmi_ball t;
    tmi_ball_init(&t);
    tmi_ball_set_number(&t, parameter, bits);
    tmi_ball_mul_int(&t, &t, divisor, bits);
    tmi_ball_set_int(z, k);
    if (power == 2) tmi_ball_mul_int(z, z, k, bits);
    tmi_ball_div(z, z, &t, bits);
    tmi_ball_neg(z, z);
    tmi_ball_exp(z, z, bits);
    tmi_ball_clear(&t);
}

/* (1 - r) / (1 + r) r^|k|, r = exp(-1 / scale) */
static tamis_status laplace(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const point *p = context;
    tmi_ball r, s;
    (void)err;
    tmi_ball_init(&r);
    tmi_ball_init(&s);
    weight(&r, p->parameter, 1, 1, 1, bits);
    tmi_ball_add_int(&s, &r, 1, bits);
    tmi_ball_neg(&r, &r);
    tmi_ball_add_int(&r, &r, 1, bits);
    tmi_ball_div(&s, &r, &s, bits);
    weight(z, p->parameter, p->k < 0 ? -p->k : p->k, 1, 1, bits);
    tmi_ball_mul(z, z, &s, bits);
    tmi_ball_clear(&r);
    tmi_ball_clear(&s);
    return TAMIS_OK;
}

/* exp(-k^2 / (2 variance)) over the sum of all such weights; the sum is cut where they are below 10^-60. */
static tamis_status gaussian(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const point *p = context;
    tmi_ball sum, w, none;
    (void)err;
    tmi_ball_init(&sum);
    tmi_ball_init(&w);
    tmi_ball_init(&none);
    tmi_ball_set_int(&sum, 1);
    tamis_bound size;
    int64_t j = 0;
    do {
        weight(&w, p->parameter, ++j, 2, 2, bits);
        tmi_ball_mul_int(&w, &w, 2, bits);
        tmi_ball_add(&sum, &sum, &w, bits);
        size = tmi_ball_bound(&w);
    } while (size.upper > 1e-60);
    /* What was cut is below a geometric series of ratio exp(-j / variance); j > 16 sd, so that ratio is below 1 - 2^-20
     * for every variance below 10^12, and the series below 2^20 times the last weight. */
    tmi_ball_set_int(&none, 0);
    tmi_ball_mul_int(&w, &w, 1 << 20, bits);
    tmi_ball_union(&w, &w, &none, bits);
    tmi_ball_add(&sum, &sum, &w, bits);
    weight(z, p->parameter, p->k, 2, 2, bits);
    tmi_ball_div(z, z, &sum, bits);
    tmi_ball_clear(&sum);
    tmi_ball_clear(&w);
    tmi_ball_clear(&none);
    return TAMIS_OK;
}

static tamis_bound mass(tmi_formula *formula, const char *parameter, int64_t k)
{
    tamis_bound bound;
    tamis_number *x = number(parameter);
    assert_int_equal(tmi_certify(&bound, 1e-12, formula, &(point){x, k}, NULL), TAMIS_OK);
    tamis_number_free(x);
    return bound;
}

tamis_bound laplace_mass(const char *scale, int64_t k) { return mass(laplace, scale, k); }

tamis_bound gaussian_mass(const char *variance, int64_t k) { return mass(gaussian, variance, k); }

/* n KL(count/n || p) <= CHANCE for some p in the bound. */
bool may_be_chance(uint64_t count, uint64_t n, tamis_bound p)
{
    double share = (double)count / (double)n;
    double q = share < p.lower ? p.lower : share > p.upper ? p.upper : share; /* the p that suits it best */
    double distance = 0;
    if (share > 0) distance += share * log(share / q);
    if (share < 1) distance += (1 - share) * log((1 - share) / (1 - q));
    return (double)n * distance <= CHANCE;
}

/* ---- every string of bits ---- */

static bool next_digits(void *context, uint8_t *bytes, size_t n)
{
    tree *t = context;
    unsigned need = n == t->plane ? 1 : (unsigned)(8 * n);
    if (t->used + need > t->known) {
        t->wanted = need;
        return false;
    }
    if (n == t->plane) memset(bytes, t->digits[t->used++] ? 255 : 0, n);
    else
        for (size_t i = 0; i < n; i++) {
            bytes[i] = 0;
            for (int bit = 0; bit < 8; bit++) bytes[i] = (uint8_t)(bytes[i] << 1 | t->digits[t->used++]);
        }
    return true;
}

static void walk(tree *t, tree_draw *draw, void *context)
{
    int64_t outcome = 0;
    t->used = 0;
    tamis_status status = draw(&outcome, context);
    if (status == TAMIS_OK) {
        uint64_t share = UINT64_C(1) << (t->depth - t->known);
        assert_int_equal(t->used, t->known); /* a shorter string would have been tried before */
        if (outcome < -TREE_SPAN || outcome > TREE_SPAN) t->elsewhere += share;
        else t->mass[outcome + TREE_SPAN] += share;
        return;
    }
    assert_int_equal(status, TAMIS_SYSTEM);
    unsigned known = t->known, wanted = t->wanted;
    if (known + wanted > t->depth) {
        t->undecided += UINT64_C(1) << (t->depth - known);
        return;
    }
    for (uint64_t next = 0; next >> wanted == 0; next++) {
        for (unsigned i = 0; i < wanted; i++) t->digits[known + i] = next >> (wanted - 1 - i) & 1;
        t->known = known + wanted;
        walk(t, draw, context);
    }
    t->known = known;
}

void tree_walk(tree *t, unsigned depth, size_t plane, tree_draw *draw, void *context)
{
    *t = (tree){.depth = depth, .plane = plane};
    assert_true(depth <= TREE_DEPTH);
    bits_from(next_digits, t);
    walk(t, draw, context);
    bits_from_seed(1);
    uint64_t all = t->elsewhere + t->undecided;
    for (int i = 0; i <= 2 * TREE_SPAN; i++) all += t->mass[i];
    assert_true(all == UINT64_C(1) << depth);
}

void tree_check(const tree *t, int64_t outcome, tamis_bound p)
{
    double unit = ldexp(1, -(int)t->depth); /* masses below 2^53: exact doubles */
    uint64_t m = t->mass[outcome + TREE_SPAN];
    if ((double)m * unit > p.upper || p.lower > (double)(m + t->undecided) * unit)
        fail_msg("outcome %lld: mass %.12g, undecided %.3g, but P = %.12g", (long long)outcome, (double)m * unit,
                 (double)t->undecided * unit, p.upper);
}
