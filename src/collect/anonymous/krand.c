/* The laws of the paper's section 3.1, one bit and one lie probability. The number of ones reported is a sum of two
 * binomials, whose masses and tails num/ encloses for any number of people. */
#include <math.h>
#include <tamis/experimental/anonymous.h>

#include "num/ball.h"
#include "num/exact.h"
#include "num/law/laws.h"

/* A_n(m) */
typedef struct count {
    tamis_number *tell;
    tamis_trials groups[2];
    int64_t s;
    tmi_law_part part;
} count;

static tamis_status count_init(count *c, int64_t n, int64_t m, const tamis_number *q, int64_t s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *one = NULL, *twice = NULL;
    *c = (count){.s = s};
    if (!q) return tmi_fail(err, TAMIS_INVALID, "q: NULL");
    if (n < 1 || n > TAMIS_MAX_REPORTS)
        return tmi_fail(err, TAMIS_INVALID, "n: must be between 1 and %lld", (long long)TAMIS_MAX_REPORTS);
    if (m < 0 || m > n) return tmi_fail(err, TAMIS_INVALID, "m: must be between 0 and n");
    if (s < 0 || s > n) return tmi_fail(err, TAMIS_INVALID, "s: must be between 0 and n");
    TMI_TRY(tmi_number_add(&twice, q, q, err));
    if (tmi_number_sign(q) <= 0 || tmi_number_compare_int(twice, 1) >= 0) {
        status = tmi_fail(err, TAMIS_INVALID, "q: must be positive and below 1/2");
        goto done;
    }
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_sub(&c->tell, one, q, err));
    c->groups[0] = (tamis_trials){c->tell, m};
    c->groups[1] = (tamis_trials){q, n - m};
done:
    tmi_number_frees(&one, &twice, NULL);
    return status;
}

static tamis_status probability(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const count *c = context;
    return tmi_trials_part(z, &(tmi_trials){c->groups, 2}, c->part, c->s, bits, err);
}

static tamis_status part_of(tamis_bound *p, int64_t n, int64_t m, const tamis_number *q, int64_t s, tmi_law_part part,
                            tamis_error *err)
{
    count c;
    if (!p) return tmi_fail(err, TAMIS_INVALID, "p: NULL");
    *p = (tamis_bound){0, 1};
    tamis_status status = count_init(&c, n, m, q, s, err);
    c.part = part;
    if (status == TAMIS_OK) status = tmi_certify(p, TAMIS_WIDTH, probability, &c, err);
    if (status != TAMIS_OK) *p = (tamis_bound){0, 1};
    *p = (tamis_bound){fmax(p->lower, 0), fmin(p->upper, 1)};
    tamis_number_free(c.tell);
    return status;
}

tamis_status tamis_anonymous_mass(tamis_bound *p, int64_t n, int64_t m, const tamis_number *q, int64_t s, tamis_error *err)
{
    return part_of(p, n, m, q, s, TMI_MASS, err);
}

tamis_status tamis_anonymous_at_most(tamis_bound *p, int64_t n, int64_t m, const tamis_number *q, int64_t s, tamis_error *err)
{
    return part_of(p, n, m, q, s, TMI_AT_MOST, err);
}

/* pi(s; m) = (q c(s-1) + p c(s)) / (p c(s-1) + q c(s)), c the masses of A_(n-1)(m): (3.2) and (3.3) */
static tamis_status ratio(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const count *c = context;
    tamis_status status = TAMIS_OK;
    tmi_ball before, at, p, q, x;
    tmi_ball *all[] = {&before, &at, &p, &q, &x};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_init(all[i]);
    TMI_TRY(tmi_trials_part(&before, &(tmi_trials){c->groups, 2}, TMI_MASS, c->s - 1, bits, err));
    TMI_TRY(tmi_trials_part(&at, &(tmi_trials){c->groups, 2}, TMI_MASS, c->s, bits, err));
    tmi_ball_set_number(&p, c->groups[0].probability, bits);
    tmi_ball_set_number(&q, c->groups[1].probability, bits);
    tmi_ball_mul(z, &q, &before, bits);
    tmi_ball_mul(&x, &p, &at, bits);
    tmi_ball_add(z, z, &x, bits);
    tmi_ball_mul(&p, &p, &before, bits);
    tmi_ball_mul(&q, &q, &at, bits);
    tmi_ball_add(&p, &p, &q, bits);
    tmi_ball_div(z, z, &p, bits);
done:
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tmi_ball_clear(all[i]);
    return status;
}

tamis_status tamis_anonymous_ratio(tamis_bound *value, int64_t n, int64_t m, const tamis_number *q, int64_t s, tamis_error *err)
{
    count c;
    if (!value) return tmi_fail(err, TAMIS_INVALID, "ratio: NULL");
    *value = (tamis_bound){0, INFINITY};
    tamis_status status = count_init(&c, n, m, q, s, err);
    if (status == TAMIS_OK && m == n) status = tmi_fail(err, TAMIS_INVALID, "m: must be below n");
    if (status == TAMIS_OK) {
        c.groups[1].count--;
        status = tmi_certify(value, TAMIS_WIDTH, ratio, &c, err);
    }
    if (status != TAMIS_OK) *value = (tamis_bound){0, INFINITY};
    tamis_number_free(c.tell);
    return status;
}

#define EXACT 60 /* people up to whom a tie is decided in exact numbers */

/* The same in exact numbers, one report after the other by (3.2) and (3.3). */
static tamis_status reaches_exactly(bool *yes, const count *law, int64_t s, const tamis_number *alpha, tamis_error *err)
{
    int64_t ones = law->groups[0].count, n = ones + law->groups[1].count;
    tmi_exact e = TMI_EXACT(err);
    tmi_term mass[EXACT + 1] = {tmi_int(&e, 1)}, zero = tmi_int(&e, 0), sum = zero;
    for (int64_t i = 1; i <= n; i++) mass[i] = zero;
    for (int64_t i = 0; i < n; i++) {
        tmi_term p = law->groups[i < ones ? 0 : 1].probability, q = law->groups[i < ones ? 1 : 0].probability;
        for (int64_t k = i + 1; k >= 0; k--) { /* p + q = 1 */
            mass[k] = tmi_mul(&e, mass[k], q);
            if (k > 0) mass[k] = tmi_add(&e, mass[k], tmi_mul(&e, mass[k - 1], p));
        }
    }
    for (int64_t k = 0; k <= s; k++) sum = tmi_add(&e, sum, mass[k]);
    *yes = e.status == TAMIS_OK && tmi_number_compare(sum, alpha) >= 0;
    tamis_status status = e.status;
    tmi_exact_clear(&e);
    return status;
}

/* Whether P(A <= s) >= alpha, certainly. */
static tamis_status reaches(bool *yes, const count *law, int64_t s, const tamis_number *alpha, tamis_error *err)
{
    count c = *law;
    tamis_status status = TAMIS_OK;
    tmi_ball p, x;
    bool known = s >= law->groups[0].count + law->groups[1].count;
    c.s = s;
    *yes = known;
    tmi_ball_init(&p);
    tmi_ball_init(&x);
    for (long bits = TMI_BITS_FIRST; !known && bits <= 2048; bits *= 4) {
        TMI_TRY(probability(&p, &c, bits, err));
        tmi_ball_set_number(&x, alpha, bits);
        *yes = tmi_ball_is_at_most(&x, &p);
        known = *yes || tmi_ball_is_less(&p, &x);
    }
    if (!known && law->groups[0].count + law->groups[1].count <= EXACT) {
        TMI_TRY(reaches_exactly(yes, law, s, alpha, err));
        known = true;
    }
    if (!known) status = tmi_fail(err, TAMIS_UNABLE, "alpha: cannot be distinguished from a value of the distribution function");
done:
    tmi_ball_clear(&p);
    tmi_ball_clear(&x);
    return status;
}

tamis_status tamis_anonymous_quantile(int64_t *s, int64_t n, int64_t m, const tamis_number *q, const tamis_number *alpha,
                                      tamis_error *err)
{
    count c = {0};
    tamis_status status = TAMIS_OK;
    if (!s) return tmi_fail(err, TAMIS_INVALID, "s: NULL");
    *s = n;
    if (!alpha || tmi_number_sign(alpha) <= 0 || tmi_number_compare_int(alpha, 1) >= 0)
        return tmi_fail(err, TAMIS_INVALID, "alpha: must be between 0 and 1");
    TMI_TRY(count_init(&c, n, m, q, 0, err));
    c.part = TMI_AT_MOST;
    int64_t below = -1, at = n; /* P(A <= below) < alpha <= P(A <= at) */
    while (at - below > 1) {
        int64_t middle = below + (at - below) / 2;
        bool yes;
        TMI_TRY(reaches(&yes, &c, middle, alpha, err));
        if (yes) at = middle;
        else below = middle;
    }
    *s = at;
done:
    tamis_number_free(c.tell);
    return status;
}

int64_t tamis_anonymous_maximal(int64_t n, int x) { return x != 0 && n > 0 ? n - 1 : 0; }
