/* The blanket (collect/anonymous/blanket.c) of categories, summed exactly. A report is the true category with probability t, and
 * each other one with probability o < t. With x and x' the answers of the person and E = e^eps,
 *
 *     n delta <= E (a N1 + b N2 + c N3)+,    a = t/o - E,  b = 1 - E t/o,  c = 1 - E,
 *
 * where N1, N2 and N3 count blanket reports of x, of x' and of the k - 2 other categories: N = N1 + N2 ~ Bin(n, 2o),
 * N1 ~ Bin(N, 1/2) and N3 ~ Bin(n - N, rho), rho = (k-2) o / (1 - 2o), given N. For N and s = N3 fixed the mean over N1 is
 *
 *     f(s) = ((a+b) N/2 + c s) T + (a-b) j/2 p,    T = P(N1 >= j),  p = P(N1 = j),  j = floor((-b N - c s)/(a-b)) + 1,
 *
 * because E(N1; N1 >= j) = N/2 T + j/2 p. It is convex in s and falls. So from above: N3 is cut into blocks, and in each f is at
 * most its chord, at the mean of N3 there. N1 and N3 are followed from one N to the next by recurrences.
 *
 * From below: others who all have a third category report x and x' with the same probabilities, the third one with t, and
 * its value is (1-E) o/t; the rest is 1 - E. The mean of these values given N is that of the blanket, (1-E) rho (n - N), and
 * by Jensen's inequality f at that mean is at most what they reveal. */
#include "collect/anonymous/categories.h"

#include <math.h>

#include "base/memory.h"
#include "num/exact.h"

#define BITS 256
#define DEVIATIONS 10 /* of the windows: 10^-23 lies outside, and is counted */
#define MARGIN 40     /* more, for small numbers */
#define CHORD 1e-4    /* by which chords may add to the variance */
#define MOST_BLOCKS 400

/* P(Bin(n, 1/2) >= j) and P(Bin(n, 1/2) = j), 1 <= j <= n. */
typedef struct coins {
    int64_t n, j; /* n = 0: not set */
    const tamis_number *half;
    tmi_ball at_least, mass, x;
} coins;

typedef struct edge {
    int64_t place;
    tmi_ball at_most, mass; /* of Bin(n - N, rho) */
} edge;

typedef struct sum {
    int64_t n, low, high; /* N from low to high */
    const tamis_number *twice, *rho;
    tmi_ball first, second, rest; /* a - b, a + b, E - 1 */
    tmi_ball b, a, share;         /* -b, a, rho */
    coins coins;
    edge *edges;
    size_t count;
    tmi_ball *value; /* f at the edges */
} sum;

static void sum_clear(sum *s)
{
    for (size_t i = 0; s->edges && i < s->count; i++) tmi_ball_clears(&s->edges[i].at_most, &s->edges[i].mass, NULL);
    tmi_free(s->edges);
    tmi_balls_free(s->value, s->count);
    tmi_ball_clears(&s->first, &s->second, &s->rest, &s->b, &s->a, &s->share, NULL);
    tmi_ball_clears(&s->coins.at_least, &s->coins.mass, &s->coins.x, NULL);
}

/* ---- N1 ---- */

static void one_up(coins *c)
{
    tmi_ball_sub(&c->at_least, &c->at_least, &c->mass, BITS);
    tmi_ball_mul_int(&c->mass, &c->mass, c->n - c->j, BITS);
    tmi_ball_div_int(&c->mass, &c->mass, ++c->j, BITS);
}

static void one_down(coins *c)
{
    tmi_ball_mul_int(&c->mass, &c->mass, c->j, BITS);
    tmi_ball_div_int(&c->mass, &c->mass, c->n - c->j + 1, BITS);
    tmi_ball_add(&c->at_least, &c->at_least, &c->mass, BITS);
    c->j--;
}

/* One more coin: half of the mass below j comes up to it. */
static void one_more(coins *c)
{
    tmi_ball_mul_int(&c->x, &c->mass, c->j, BITS);
    tmi_ball_div_int(&c->x, &c->x, 2 * (c->n - c->j + 1), BITS);
    tmi_ball_add(&c->at_least, &c->at_least, &c->x, BITS);
    c->n++;
    tmi_ball_mul_int(&c->mass, &c->mass, c->n, BITS);
    tmi_ball_div_int(&c->mass, &c->mass, 2 * (c->n - c->j), BITS);
}

static tamis_status coins_to(coins *c, int64_t n, int64_t j, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (c->n == 0 || c->n > n) {
        const tmi_binomial law = {n, c->half};
        c->n = 0;
        TMI_TRY(tmi_binomial_part(&c->at_least, &law, TMI_AT_LEAST, j, BITS, err));
        TMI_TRY(tmi_binomial_part(&c->mass, &law, TMI_MASS, j, BITS, err));
        c->n = n;
        c->j = j;
    }
    while (c->n < n) one_more(c);
    while (c->j < j) one_up(c);
    while (c->j > j) one_down(c);
done:
    return status;
}

/* f(s) for N */
static tamis_status mean_over_coins(tmi_ball *f, sum *s, int64_t n, const tmi_ball *at, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_ball drift, x;
    tmi_ball_inits(&drift, &x, NULL);
    tmi_ball_mul_int(&drift, &s->second, n, BITS);
    tmi_ball_shift(&drift, &drift, -1);
    tmi_ball_mul(&x, &s->rest, at, BITS);
    tmi_ball_sub(&drift, &drift, &x, BITS); /* (a+b) N/2 + c s */
    tmi_ball_mul_int(f, &s->b, n, BITS);
    tmi_ball_add(&x, &x, f, BITS);
    tmi_ball_div(&x, &x, &s->first, BITS); /* (-b N - c s)/(a-b) */
    const tamis_bound cut = tmi_ball_bound(&x);
    if (!(fabs(cut.lower) < 1e15) || !(fabs(cut.upper) < 1e15)) {
        status = tmi_fail(err, TAMIS_UNABLE, "a sum over categories has too many places");
        goto done;
    }
    const int64_t j = (int64_t)floor(cut.lower) + 1;
    tmi_ball_set_int(f, 0);
    if (j > n) goto done;
    if (j < 1) {
        tmi_ball_set(f, &drift);
        goto done;
    }
    TMI_TRY(coins_to(&s->coins, n, j, err));
    tmi_ball_mul(f, &drift, &s->coins.at_least, BITS);
    tmi_ball_mul(&x, &s->first, &s->coins.mass, BITS);
    tmi_ball_mul_int(&drift, &x, j, BITS);
    tmi_ball_shift(&drift, &drift, -1);
    tmi_ball_add(f, f, &drift, BITS);
    if (floor(cut.upper) >= (double)j) { /* the cut may be one higher: what is summed at j is then nearly 0 */
        tmi_ball_set_double(&drift, cut.upper - cut.lower);
        tmi_ball_mul(&x, &x, &drift, BITS);
        tmi_ball_widen(f, &x);
    }
done:
    tmi_ball_clears(&drift, &x, NULL);
    return status;
}

/* ---- N3 ---- */

static tamis_status edges_make(sum *s, tamis_error *err)
{
    const double rho = tmi_number_nearest(s->rho), twice = tmi_number_nearest(s->twice), n = (double)s->n;
    const double reach = DEVIATIONS * sqrt(n * rho * (1 - rho)) + MARGIN;
    const double low = fmax(0, floor((n - (double)s->high) * rho - reach));
    const double high = fmin(n - (double)s->low, ceil((n - (double)s->low) * rho + reach));
    const double spread = tmi_ball_bound(&s->first).upper / 2 * sqrt(n * twice), slope = tmi_ball_bound(&s->rest).upper;
    double blocks = ceil((high - low) * slope / (spread * sqrt(6 * CHORD)));
    blocks = fmin(fmin(fmax(1, blocks), MOST_BLOCKS), high - low);
    const size_t count = (size_t)blocks + 1;
    s->edges = tmi_alloc(count, sizeof *s->edges);
    s->value = tmi_balls_new(count);
    if (!s->edges || !s->value) {
        tmi_balls_free(s->value, count);
        s->value = NULL;
        return tmi_fail_memory(err);
    }
    s->count = count;
    for (size_t i = 0; i < count; i++) tmi_ball_inits(&s->edges[i].at_most, &s->edges[i].mass, NULL);
    const tmi_binomial law = {s->n - s->low, s->rho};
    for (size_t i = 0; i < count; i++) {
        edge *e = &s->edges[i];
        e->place = (int64_t)(blocks > 0 ? low + floor((high - low) * (double)i / blocks) : low);
        tamis_status status = tmi_binomial_part(&e->at_most, &law, TMI_AT_MOST, e->place, BITS, err);
        if (status == TAMIS_OK) status = tmi_binomial_part(&e->mass, &law, TMI_MASS, e->place, BITS, err);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

/* From Bin(m, rho) to Bin(m - 1, rho). */
static void edges_less(sum *s, int64_t m, const tmi_ball *rest)
{
    tmi_ball x;
    tmi_ball_init(&x);
    for (size_t i = 0; i < s->count; i++) {
        edge *e = &s->edges[i];
        tmi_ball_mul_int(&e->mass, &e->mass, m > e->place ? m - e->place : 0, BITS);
        tmi_ball_div_int(&e->mass, &e->mass, m, BITS);
        tmi_ball_div(&e->mass, &e->mass, rest, BITS);
        tmi_ball_mul(&x, &e->mass, &s->share, BITS);
        tmi_ball_add(&e->at_most, &e->at_most, &x, BITS);
    }
    tmi_ball_clear(&x);
}

/* The sum of s P(s) over s <= the edge, divided by rho: m P(s <= e) - (m - e) P(s = e). */
static void moment_below(tmi_ball *z, const edge *e, int64_t m)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_mul_int(z, &e->at_most, m, BITS);
    tmi_ball_mul_int(&x, &e->mass, m > e->place ? m - e->place : 0, BITS);
    tmi_ball_sub(z, z, &x, BITS);
    tmi_ball_clear(&x);
}

/* The mean of f over N3 from above, N fixed and m = n - N. */
static tamis_status mean_over_rest(tmi_ball *f, sum *s, int64_t n, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const int64_t m = s->n - n;
    tmi_ball mass, moment, next, slope, x;
    tmi_ball_inits(&mass, &moment, &next, &slope, &x, NULL);
    for (size_t i = s->count; i-- > 0;) {
        tmi_ball_set_int(&x, s->edges[i].place);
        TMI_TRY(mean_over_coins(&s->value[i], s, n, &x, err));
    }
    const edge *first = &s->edges[0], *last = &s->edges[s->count - 1];
    if (first->place == 0) tmi_ball_set(&x, &s->value[0]);
    else tmi_ball_mul_int(&x, &s->a, n, BITS); /* f is nowhere more than a N */
    tmi_ball_mul(f, &first->at_most, &x, BITS);
    tmi_ball_neg(&x, &last->at_most); /* beyond the last edge f is below its value there */
    tmi_ball_add_int(&x, &x, 1, BITS);
    tmi_ball_mul(&x, &x, &s->value[s->count - 1], BITS);
    tmi_ball_add(f, f, &x, BITS);
    moment_below(&moment, first, m);
    for (size_t i = 0; i + 1 < s->count; i++) { /* places above edge i, up to edge i + 1 */
        const edge *e = &s->edges[i];
        tmi_ball_sub(&mass, &e[1].at_most, &e->at_most, BITS);
        moment_below(&next, &e[1], m);
        tmi_ball_sub(&moment, &next, &moment, BITS);
        tmi_ball_mul(&moment, &moment, &s->share, BITS);
        tmi_ball_mul_int(&x, &mass, e->place, BITS);
        tmi_ball_sub(&moment, &moment, &x, BITS);
        tmi_ball_div_int(&moment, &moment, e[1].place - e->place, BITS);
        tmi_ball_sub(&slope, &s->value[i + 1], &s->value[i], BITS);
        tmi_ball_mul(&slope, &slope, &moment, BITS);
        tmi_ball_mul(&x, &mass, &s->value[i], BITS);
        tmi_ball_add(f, f, &x, BITS);
        tmi_ball_add(f, f, &slope, BITS);
        tmi_ball_set(&moment, &next);
    }
done:
    tmi_ball_clears(&mass, &moment, &next, &slope, &x, NULL);
    return status;
}

/* ---- N ---- */

/* Either end may be NULL; `lower` alone costs little. */
static tamis_status add_up(tmi_ball *lower, tmi_ball *upper, sum *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tmi_binomial law = {s->n, s->twice};
    tmi_ball mass, odds, rest, x, f;
    tmi_ball_inits(&mass, &odds, &rest, &x, &f, NULL);
    if (upper) {
        TMI_TRY(tmi_binomial_part(&x, &law, TMI_AT_MOST, s->low - 1, BITS, err));
        TMI_TRY(tmi_binomial_part(&f, &law, TMI_AT_LEAST, s->high + 1, BITS, err));
        tmi_ball_add(upper, &x, &f, BITS); /* a sum is at most a n */
        tmi_ball_mul(upper, upper, &s->a, BITS);
        tmi_ball_mul_int(upper, upper, s->n, BITS);
    }
    if (lower) tmi_ball_set_int(lower, 0);
    TMI_TRY(tmi_binomial_part(&mass, &law, TMI_MASS, s->low, BITS, err));
    tmi_ball_set_number(&odds, s->twice, BITS);
    tmi_ball_neg(&x, &odds);
    tmi_ball_add_int(&x, &x, 1, BITS);
    tmi_ball_div(&odds, &odds, &x, BITS);
    tmi_ball_neg(&rest, &s->share);
    tmi_ball_add_int(&rest, &rest, 1, BITS);
    for (int64_t n = s->low; n <= s->high; n++) {
        if (upper) {
            TMI_TRY(mean_over_rest(&f, s, n, err));
            tmi_ball_mul(&f, &f, &mass, BITS);
            tmi_ball_add(upper, upper, &f, BITS);
        }
        if (lower) {
            tmi_ball_mul_int(&x, &s->share, s->n - n, BITS);
            TMI_TRY(mean_over_coins(&f, s, n, &x, err));
            tmi_ball_mul(&f, &f, &mass, BITS);
            tmi_ball_add(lower, lower, &f, BITS);
        }
        if (n == s->high) break;
        if (upper) edges_less(s, s->n - n, &rest);
        tmi_ball_mul(&mass, &mass, &odds, BITS);
        tmi_ball_mul_int(&mass, &mass, s->n - n, BITS);
        tmi_ball_div_int(&mass, &mass, n + 1, BITS);
    }
    if (upper) tmi_ball_div_int(upper, upper, s->n, BITS);
    if (lower) tmi_ball_div_int(lower, lower, s->n, BITS);
done:
    tmi_ball_clears(&mass, &odds, &rest, &x, &f, NULL);
    return status;
}

static void windows(sum *s)
{
    const double n = (double)s->n, p = tmi_number_nearest(s->twice), reach = DEVIATIONS * sqrt(n * p * (1 - p)) + MARGIN;
    s->low = (int64_t)fmax(0, floor(n * p - reach));
    s->high = (int64_t)fmin(n, ceil(n * p + reach));
}

tamis_status tmi_categories_delta(tamis_bound *delta, int64_t k, const tamis_number *lie, int64_t n, const tmi_loss_at *at,
                                  tmi_ends ends, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_exact exact = TMI_EXACT(err);
    sum s = {.n = n};
    tmi_ball e, lower, upper;
    *delta = (tamis_bound){0, 1};
    tmi_ball_inits(&e, &lower, &upper, NULL);
    tmi_ball_inits(&s.first, &s.second, &s.rest, &s.b, &s.a, &s.share, NULL);
    tmi_ball_inits(&s.coins.at_least, &s.coins.mass, &s.coins.x, NULL);
    tmi_term one = tmi_int(&exact, 1), other = tmi_div(&exact, lie, tmi_int(&exact, k - 1));
    tmi_term ratio = tmi_div(&exact, tmi_sub(&exact, one, lie), other);
    s.twice = tmi_add(&exact, other, other);
    s.rho = tmi_div(&exact, tmi_mul(&exact, other, tmi_int(&exact, k - 2)), tmi_sub(&exact, one, s.twice));
    s.coins.half = tmi_div(&exact, one, tmi_int(&exact, 2));
    TMI_TRY(exact.status);
    tmi_loss_at_balls(&e, &s.rest, at, BITS);
    tmi_ball_set_number(&upper, ratio, BITS);
    tmi_ball_set_number(&s.share, s.rho, BITS);
    tmi_ball_sub(&s.a, &upper, &e, BITS);
    tmi_ball_mul(&s.b, &upper, &e, BITS);
    tmi_ball_add_int(&s.b, &s.b, -1, BITS); /* E t/o - 1 */
    tmi_ball_add(&s.first, &s.a, &s.b, BITS);
    tmi_ball_sub(&s.second, &s.a, &s.b, BITS);
    if (!tmi_ball_is_positive(&s.a)) { /* e^eps is at least the local one, or within 2^-250 of it */
        *delta = (tamis_bound){0, fmax(0, tmi_ball_bound(&s.a).upper)};
        goto done;
    }
    windows(&s);
    if (ends != TMI_ENDS_LOWER) TMI_TRY(edges_make(&s, err));
    TMI_TRY(add_up(ends == TMI_ENDS_UPPER ? NULL : &lower, ends == TMI_ENDS_LOWER ? NULL : &upper, &s, err));
    if (ends != TMI_ENDS_UPPER) delta->lower = fmax(0, tmi_ball_bound(&lower).lower);
    if (ends != TMI_ENDS_LOWER) delta->upper = fmin(1, fmax(0, tmi_ball_bound(&upper).upper));
done:
    sum_clear(&s);
    tmi_exact_clear(&exact);
    tmi_ball_clears(&e, &lower, &upper, NULL);
    return status;
}
