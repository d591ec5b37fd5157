/* delta of two atomic laws with discrete noise: an integer of mass C r^|k|, r = e^(-1/s), or of a discrete Gaussian law,
 * times the step on which all points lie.
 *
 * Laplace. Between two points L steps apart the difference of the masses at the distance k is C (u r^k + d r^(L-k)), with u
 * and d as in ht_pair_laplace.c; it changes sign at most once, at k = L/2 + (s/2) log(-u/d), and what is positive is two
 * geometric series. Where the root cannot be distinguished from an integer, both choices are tried: the sum of the positive
 * terms is the largest of all such sums. C = (1-r)/(1+r), and C/(1-r) = 1/(1+r).
 *
 * Gaussian. One place after the other, over the places where some mass is stored; what the stored law leaves out changes
 * the sum by at most its own mass times the sum of all |a_j|. */
#include <math.h>

#include "ht/pair.h"
#include "num/law/law.h"
#include "survey/design/design.h"

/* ---- Laplace ---- */

typedef struct geometric {
    tmi_ball inverse; /* 1/s */
    tmi_ball r;
    long bits;
} geometric;

/* z = r^k, or 1 - r^k. */
static void power(tmi_ball *z, const geometric *g, int64_t k, bool complement)
{
    tmi_ball_mul_int(z, &g->inverse, -k, g->bits);
    if (complement) tmi_ball_expm1(z, z, g->bits);
    else tmi_ball_exp(z, z, g->bits);
    if (complement) tmi_ball_neg(z, z);
}

/* (1-r) times the sum of p r^k + m r^(L-k) over k = 1 .. M: (1 - r^M) (p r + m r^(L-M)). */
static void head(tmi_ball *z, const geometric *g, const tmi_ball *p, const tmi_ball *m, int64_t L, int64_t M)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_mul(z, p, &g->r, g->bits);
    power(&x, g, L - M, false);
    tmi_ball_mul(&x, &x, m, g->bits);
    tmi_ball_add(z, z, &x, g->bits);
    power(&x, g, M, true);
    tmi_ball_mul(z, z, &x, g->bits);
    tmi_ball_clear(&x);
}

/* Choices of M that are tried at most. */
#define TRIES 8

/* (1-r) times the positive terms, p > 0 > m, p on the left. */
static void part_of(tmi_ball *z, const geometric *g, const tmi_ball *p, const tmi_ball *m, int64_t L)
{
    tmi_ball root, x;
    tmi_ball_inits(&root, &x, NULL);
    tmi_ball_div(&root, p, m, g->bits);
    tmi_ball_neg(&root, &root);
    tmi_ball_log(&root, &root, g->bits);
    tmi_ball_div(&root, &root, &g->inverse, g->bits);
    tmi_ball_add_int(&root, &root, L, g->bits);
    tmi_ball_div_int(&root, &root, 2, g->bits);
    tamis_bound at = tmi_ball_bound(&root);
    double low = fmin(fmax(ceil(at.lower) - 1, 0), (double)(L - 1)), high = fmin(fmax(floor(at.upper), 0), (double)(L - 1));
    tmi_ball_set_int(z, 0);
    if (!(high - low < TRIES)) tmi_ball_set_unknown(z);
    for (int64_t M = (int64_t)low; M <= (int64_t)high && high - low < TRIES; M++) {
        head(&x, g, p, m, L, M);
        tmi_ball_max(z, z, &x, g->bits);
    }
    tmi_ball_clears(&root, &x, NULL);
}

/* sum += (1-r) times the positive terms strictly between two points. */
static void add_between(tmi_ball *sum, const geometric *g, const tmi_ball *u, const tmi_ball *d, int64_t L)
{
    tmi_ball p, m, z, doubt;
    if (L < 2) return;
    tmi_ball_inits(&p, &m, &z, &doubt, NULL);
    tmi_ball_set(&p, u);
    tmi_ball_set(&m, d);
    tmi_settle(&p, &doubt, g->bits); /* a term x changes the sum by at most |x| r/(1-r) */
    tmi_settle(&m, &doubt, g->bits);
    if (tmi_ball_is_positive(&p) && tmi_ball_is_negative(&m)) part_of(&z, g, &p, &m, L);
    else if (tmi_ball_is_negative(&p) && tmi_ball_is_positive(&m)) part_of(&z, g, &m, &p, L);
    else if (tmi_ball_is_positive(&p) || tmi_ball_is_positive(&m)) head(&z, g, &p, &m, L, L - 1);
    tmi_ball_mul(&doubt, &doubt, &g->r, g->bits);
    tmi_ball_add(sum, sum, &z, g->bits);
    tmi_ball_add(sum, sum, &doubt, g->bits);
    tmi_ball_clears(&p, &m, &z, &doubt, NULL);
}

static void geometric_set(geometric *g, const tmi_atoms *atoms, long bits)
{
    tmi_ball_inits(&g->inverse, &g->r, NULL);
    g->bits = bits;
    tmi_ball_set_number(&g->r, atoms->variance, bits); /* s^2 */
    tmi_ball_sqrt(&g->r, &g->r, bits);
    tmi_ball_set_int(&g->inverse, 1);
    tmi_ball_div(&g->inverse, &g->inverse, &g->r, bits);
    power(&g->r, g, 1, false);
}

static void geometric_clear(geometric *g) { tmi_ball_clears(&g->inverse, &g->r, NULL); }

tamis_status tmi_atoms_delta_discrete_laplace(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    tmi_ball between, x;
    geometric g;
    tmi_sweep s;
    geometric_set(&g, atoms, bits);
    tmi_ball_inits(&between, &x, NULL);
    TMI_TRY(tmi_sweep_new(&s, atoms, bits, err));
    for (size_t j = 0; j < s.count; j++) tmi_atoms_gap(&s.a[j], atoms, j, bits);
    tmi_sweep_run(&s, bits);
    tmi_ball_set_int(value, 0);
    for (size_t j = 0; j < s.count; j++) { /* at the points, and between them */
        const tmi_atom *atom = &atoms->list[j];
        tmi_ball_add(&x, &s.up[j], &s.down[j], bits);
        tmi_ball_sub(&x, &x, &s.a[j], bits);
        tmi_add_positive(value, &x, bits);
        if (j + 1 < s.count) add_between(&between, &g, &s.up[j], &s.down[j + 1], atom[1].place - atom->place);
    }
    power(&x, &g, 1, true);
    tmi_ball_mul(value, value, &x, bits); /* (1-r) times the points; the tails are x r each */
    tmi_ball_mul(&x, &s.down[0], &g.r, bits);
    tmi_add_positive(&between, &x, bits);
    tmi_ball_mul(&x, &s.up[s.count - 1], &g.r, bits);
    tmi_add_positive(&between, &x, bits);
    tmi_ball_add(value, value, &between, bits);
    tmi_ball_add_int(&x, &g.r, 1, bits);
    tmi_ball_div(value, value, &x, bits);
done:
    tmi_sweep_clear(&s);
    tmi_ball_clears(&between, &x, NULL);
    geometric_clear(&g);
    return status;
}

/* ---- Gaussian ---- */

/* Products of two balls: about a second. */
#define MAX_PRODUCTS 5000000

typedef struct sum {
    const tmi_atoms *atoms;
    const tmi_ball *a;
    tmi_law noise;
    double products;
    long bits;
} sum;

/* The positive parts at all places where mass is stored. */
static tamis_status add_places(tmi_ball *value, sum *s, tamis_error *err)
{
    const tmi_atom *list = s->atoms->list;
    int64_t first = s->noise.first, last = first + (int64_t)s->noise.count - 1;
    size_t low = 0, high = 0, count = s->atoms->count; /* atoms low .. high-1 reach the place */
    tmi_ball x, term;
    tamis_status status = TAMIS_OK;
    tmi_ball_inits(&x, &term, NULL);
    for (int64_t k = list[0].place + first;; k++) {
        while (low < count && list[low].place + last < k) low++;
        if (low == count) break;
        if (k < list[low].place + first) k = list[low].place + first; /* nothing between */
        while (high < count && list[high].place + first <= k) high++;
        if ((s->products += (double)(high - low)) > MAX_PRODUCTS)
            TMI_TRY(tmi_fail(err, TAMIS_UNABLE, "step: too many grid points between the totals; choose a larger step"));
        tmi_ball_set_int(&x, 0);
        for (size_t j = low; j < high; j++) {
            tmi_ball_mul(&term, &s->a[j], &s->noise.mass[k - list[j].place - first], s->bits);
            tmi_ball_add(&x, &x, &term, s->bits);
        }
        tmi_add_positive(value, &x, s->bits);
    }
done:
    tmi_ball_clears(&x, &term, NULL);
    return status;
}

tamis_status tmi_atoms_delta_discrete_gaussian(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const tmi_atoms *atoms = context;
    tamis_status status = TAMIS_OK;
    tmi_window window = {bits < 900 ? ldexp(1, -(int)bits - 64) : 0x1p-1000, bits};
    tmi_ball *a = tmi_balls_new(atoms->count), rest, x;
    sum s = {.atoms = atoms, .a = a, .bits = bits};
    tmi_ball_inits(&rest, &x, NULL);
    tmi_law_init(&s.noise);
    tmi_ball_set_int(value, 0);
    if (!a) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_law_discrete_gaussian(&s.noise, atoms->variance, window, err));
    for (size_t j = 0; j < atoms->count; j++) {
        tmi_atoms_gap(&a[j], atoms, j, bits);
        tmi_ball_abs(&x, &a[j]);
        tmi_ball_add(&rest, &rest, &x, bits);
    }
    TMI_TRY(add_places(value, &s, err));
    tmi_ball_add(&x, &s.noise.below, &s.noise.above, bits);
    tmi_ball_mul(&rest, &rest, &x, bits);
    tmi_ball_neg(&x, &rest);
    tmi_ball_union(&rest, &rest, &x, bits);
    tmi_ball_add(value, value, &rest, bits);
done:
    tmi_law_clear(&s.noise);
    tmi_balls_free(a, atoms->count);
    tmi_ball_clears(&rest, &x, NULL);
    return status;
}
