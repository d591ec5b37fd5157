/* One stratum, values in a range [from, to], R = to - from. With a grid the ends are on it, and 0 is on every grid; with discrete
 * noise all totals are on its lattice, so that each W below moves by whole steps.
 *
 * Let unit i have inclusion probability p and change from v' to v. Given that i is in the sample the published total has
 * the law B_v, otherwise A: the two populations give P = (1-p) A + p B_v and Q = (1-p) A + p B_v'. With E' = e^eps and
 * H_E(P, Q) = sup P(S) - E Q(S), and h_E(d) = H_E(W + d, W) for the noise W, which grows with |d| since W is log-concave:
 *
 * any design   P - E' Q = (1-p)(1 - E') A + p (B_v - E' B_v') <= p (B_v - E' B_v'), and B_v is B_v' moved by (v-v')/p. So
 *              delta <= p h_E'(R/p).
 * exchange     With E = 1 + (E'-1)/p and beta = E'/E,  H_E'(P, Q) = p H_E(B_v, (1-beta) A + beta B_v')  (write both sides
 *              out). If totals with and without i can be drawn together at most s apart, this is by convexity at most
 *              p ((1-beta) h_E(s) + beta h_E(R/p)). With e exchanges and a additions, the unit's own among them,
 *              s = e (largest - smallest x_j/p_j) + a (largest |x_j/p_j|), and the unit's own term may be written with
 *              its own p if it is known to be an exchange, or an addition.
 * independent  The total of the others is an independent summand Z, which cannot help: A = Z + W, B_v = Z + W + v/p, and
 *              Z = 0 is the worst. Let from <= 0 <= to.
 *              v >= 0 >= v': the ratio of W + v/p to (1-beta) W + beta (W + v'/p) rises, so H_E is the largest
 *              difference of tails, which grows with v and falls with v': largest for (to, from).
 *              v >= v' >= 0: for the same reason largest for (to, 0), which is below (to, from).
 *              v' > v >= 0: H_E <= (1-beta) h_E(v/p) + beta h_E((v'-v)/p) <= h_E(to/p) = that of (to, 0).
 *              Mirrored for the other signs. So the worst pair are the ends, in one of the two orders.
 * attained     In every design with all other values 0 the total is x_i/p with probability p: the pair of the independent
 *              case is one of the pairs. If p is the same for all units and the sample size fixed, a common constant moves
 *              the total by a constant, and [from, to] may be taken as [0, R].
 *
 * p h_E(d) itself is H_E' of the pair (1-p) W + p (W + d) and W: every term above is a pair of laws on two or three points.
 *
 * Among many p, a block p1 <= p <= p2 is bounded by p2 h_E(d) with E at p2 and d the largest shift of the block, or by
 * p2 h_E'(R/p1): both grow with p and with the shift. Blocks below the best are dropped, others halved.              */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ht/calc.h"
#include "ht/range.h"
#include "num/bound.h"

static const char INDEPENDENT[] = "independent", EXCHANGE[] = "exchange", ANY[] = "any_design", WINDOW[] = "srs_window";

/* ---- gathering ---- */

static int by_probability(const void *x, const void *y)
{
    const tmi_alike *a = x, *b = y;
    int order = tmi_number_compare(a->p, b->p);
    return order != 0 ? order : (a->unit > b->unit) - (a->unit < b->unit);
}

/* What is known about samples with and without the unit: the farthest that they can be apart. */
static void couple(tmi_alike *a, const tmi_stratum *s, const tamis_exposure *e)
{
    if (!e->theorem || s->design->kind->with_replacement) return;
    for (size_t k = 0; k < e->absence_count; k++)
        if (e->absences[k].far) return;
    for (size_t k = 0; k < e->absence_count; k++) {
        tamis_distance d = e->absences[k].distance;
        if (d.exchanges > a->exchanges) a->exchanges = d.exchanges;
        if (d.additions > a->additions) a->additions = d.additions;
    }
}

static tamis_status gather(tmi_stratum *s, tamis_error *err)
{
    tamis_exposure *list = NULL;
    size_t count = 0, kept = 0;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tamis_design_exposures(&list, &count, s->design, err));
    if (!(s->alike = tmi_alloc(count, sizeof *s->alike))) TMI_TRY(tmi_fail_memory(err));
    for (; s->count < count; s->count++) {
        tmi_alike *a = &s->alike[s->count];
        a->unit = list[s->count].first;
        couple(a, s, &list[s->count]);
        TMI_TRY(s->design->kind->exact(&a->p, s->design, a->unit, err));
    }
    qsort(s->alike, count, sizeof *s->alike, by_probability);
    for (size_t i = 1; i < count; i++) {
        tmi_alike *last = &s->alike[kept], *next = &s->alike[i];
        if (tmi_number_compare(last->p, next->p) != 0) {
            s->alike[++kept] = *next;
            continue;
        }
        bool known = last->exchanges + last->additions > 0 && next->exchanges + next->additions > 0;
        last->exchanges = !known ? 0 : next->exchanges > last->exchanges ? next->exchanges : last->exchanges;
        last->additions = !known ? 0 : next->additions > last->additions ? next->additions : last->additions;
        tamis_number_free(next->p);
    }
    s->count = count > 0 ? kept + 1 : 0;
done:
    tamis_free(list);
    return status;
}

static tamis_status weigh(tmi_stratum *s, tamis_error *err)
{
    tmi_calc c = {.err = err};
    tamis_status status = TAMIS_OK;
    const tamis_number *smallest = s->alike[0].p, *largest = s->alike[s->count - 1].p;
    const tamis_number *light = tmi_calc_min(tmi_calc_do(&c, tmi_number_div, s->from, smallest),
                                             tmi_calc_do(&c, tmi_number_div, s->from, largest));
    const tamis_number *heavy = tmi_calc_max(tmi_calc_do(&c, tmi_number_div, s->to, smallest),
                                             tmi_calc_do(&c, tmi_number_div, s->to, largest));
    TMI_TRY(c.status);
    TMI_TRY(tmi_number_copy(&s->lightest, light, err));
    TMI_TRY(tmi_number_copy(&s->heaviest, heavy, err));
done:
    tmi_calc_clear(&c);
    return status;
}

tamis_status tmi_stratum_set(tmi_stratum *s, const tamis_design *design, const tamis_ht_range *range, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *s = (tmi_stratum){.design = design, .range = range};
    TMI_TRY(gather(s, err));
    bool certain = tmi_number_compare_int(s->alike[0].p, 1) == 0;
    bool level = s->count == 1 && design->sample >= 0 && !design->kind->with_replacement;
    s->independent = certain || design->kind->independent;
    if (level) {
        TMI_TRY(tmi_number_ratio(&s->from, 0, 1, err));
        TMI_TRY(tmi_number_sub(&s->to, range->to, range->from, err));
    } else {
        TMI_TRY(tmi_number_copy(&s->from, range->from, err));
        TMI_TRY(tmi_number_copy(&s->to, range->to, err));
    }
    s->can_be_constant = level || certain || (tmi_number_sign(s->from) <= 0 && tmi_number_sign(s->to) >= 0);
    TMI_TRY(weigh(s, err));
done:
    return status;
}

void tmi_stratum_clear(tmi_stratum *s)
{
    for (size_t i = 0; s->alike && i < s->count; i++) tamis_number_free(s->alike[i].p);
    tmi_free(s->alike);
    tmi_number_frees(&s->from, &s->to, &s->lightest, &s->heaviest, NULL);
    *s = (tmi_stratum){0};
}

/* ---- pairs of laws on a few points ---- */

typedef struct question {
    const tmi_stratum *s;
    const tamis_number *eps; /* NULL: the smallest eps with delta = 0 */
    tmi_calc *c;
} question;

static tamis_status put(tmi_atoms *atoms, const tamis_number *at, const tamis_number *p, bool prime, tamis_error *err)
{
    tamis_number *copy = NULL;
    if (tmi_number_sign(p) == 0) return TAMIS_OK;
    tamis_status status = tmi_number_copy(&copy, at, err);
    return status == TAMIS_OK ? tmi_atoms_take(atoms, copy, p, NULL, prime, err) : status;
}

/* (1-p) W + p (W + a) against (1-p) W + p (W + b); with both_orders the larger of the two orders. */
static tamis_status pair(tamis_bound *value, const question *q, const tamis_number *p, const tamis_number *a,
                         const tamis_number *b, bool both_orders, tamis_error *err)
{
    const tamis_ht_range *r = q->s->range;
    const tamis_number *zero = tmi_calc_int(q->c, 0), *rest = tmi_calc_do(q->c, tmi_number_sub, tmi_calc_int(q->c, 1), p);
    tmi_atoms atoms = {0};
    tamis_status status = q->c->status;
    if (status == TAMIS_OK && (!a || !b || !rest)) status = tmi_fail_memory(err);
    TMI_TRY(status);
    TMI_TRY(tmi_atoms_start(&atoms, 4, true, err));
    TMI_TRY(put(&atoms, zero, rest, false, err));
    TMI_TRY(put(&atoms, a, p, false, err));
    TMI_TRY(put(&atoms, zero, rest, true, err));
    TMI_TRY(put(&atoms, b, p, true, err));
    TMI_TRY(tmi_atoms_finish(&atoms, r->noise, r->scale, r->step, err));
    atoms.eps = q->eps;
    for (int order = 0; order < (both_orders ? 2 : 1); order++) {
        tamis_bound one;
        atoms.swapped = order == 1;
        TMI_TRY(q->eps ? tmi_atoms_delta(&one, &atoms, err) : tmi_atoms_pure(&one, &atoms, err));
        if (order == 0) *value = one;
        else *value = (tamis_bound){fmax(value->lower, one.lower), fmax(value->upper, one.upper)};
    }
done:
    tmi_atoms_clear(&atoms);
    return status;
}

static tamis_bound smaller(tamis_bound x, tamis_bound y) { return (tamis_bound){fmin(x.lower, y.lower), fmin(x.upper, y.upper)}; }

/* (1-beta) x + beta y, beta = p e^eps / (p + e^eps - 1). */
static tamis_bound mix(tamis_bound x, tamis_bound y, const tamis_number *p, const tamis_number *eps)
{
    const long bits = TMI_BITS_FIRST;
    tamis_bound z;
    tmi_ball beta, b, u, v;
    tmi_ball_inits(&beta, &b, &u, &v, NULL);
    tmi_ball_set_number(&b, eps, bits);
    tmi_ball_expm1(&u, &b, bits);
    tmi_ball_exp(&b, &b, bits);
    tmi_ball_set_number(&v, p, bits);
    tmi_ball_add(&u, &u, &v, bits);
    tmi_ball_mul(&b, &b, &v, bits);
    tmi_ball_div(&beta, &b, &u, bits);
    for (int end = 0; end < 2; end++) { /* x + beta (y - x) */
        tmi_ball_set_double(&u, end ? x.upper : x.lower);
        tmi_ball_set_double(&v, end ? y.upper : y.lower);
        tmi_ball_sub(&v, &v, &u, bits);
        tmi_ball_mul(&v, &v, &beta, bits);
        tmi_ball_add(&u, &u, &v, bits);
        if (end) z.upper = tmi_ball_bound(&u).upper;
        else z.lower = tmi_ball_bound(&u).lower;
    }
    tmi_ball_clears(&beta, &b, &u, &v, NULL);
    return z;
}

/* ---- bounds ---- */

/* The largest distance s of totals with and without a unit whose p lies between p1 and p2. */
static const tamis_number *distance(tmi_calc *c, const tmi_stratum *s, const tmi_alike *a, const tamis_number *p1,
                                    const tamis_number *p2)
{
    const tamis_number *zero = tmi_calc_int(c, 0), *own;
    const tamis_number *high = tmi_calc_max(tmi_calc_do(c, tmi_number_div, s->to, p1), tmi_calc_do(c, tmi_number_div, s->to, p2));
    const tamis_number *low = tmi_calc_min(tmi_calc_do(c, tmi_number_div, s->from, p1),
                                           tmi_calc_do(c, tmi_number_div, s->from, p2));
    const tamis_number *spread = tmi_calc_do(c, tmi_number_sub, s->heaviest, s->lightest);
    const tamis_number *size = tmi_calc_max(s->heaviest, tmi_calc_do(c, tmi_number_sub, zero, s->lightest));
    int64_t exchanges = a->exchanges, additions = a->additions;
    if (additions == 0) {
        own = tmi_calc_max(tmi_calc_do(c, tmi_number_sub, high, s->lightest), tmi_calc_do(c, tmi_number_sub, s->heaviest, low));
        exchanges--;
    } else if (exchanges == 0) {
        own = tmi_calc_max(high, tmi_calc_do(c, tmi_number_sub, zero, low));
        additions--;
    } else { /* which of them the unit's own is, is not known */
        own = zero;
    }
    own = tmi_calc_do(c, tmi_number_add, own, tmi_calc_do(c, tmi_number_mul, spread, tmi_calc_int(c, exchanges)));
    return tmi_calc_do(c, tmi_number_add, own, tmi_calc_do(c, tmi_number_mul, size, tmi_calc_int(c, additions)));
}

/* p2 h_E'(shift). */
static tamis_status any_design(tamis_bound *most, const question *q, const tamis_number *p2, const tamis_number *shift,
                               tamis_error *err)
{
    const tamis_number *one = tmi_calc_int(q->c, 1), *zero = tmi_calc_int(q->c, 0);
    tamis_status status = q->c->status;
    TMI_TRY(status);
    TMI_TRY(pair(most, q, one, shift, zero, false, err));
    if (q->eps) *most = tmi_bound_times(*most, p2);
done:
    return status;
}

static tamis_status independent(tmi_between *b, const question *q, const tmi_alike *a, tamis_error *err)
{
    const tmi_stratum *s = q->s;
    const tamis_number *zero = tmi_calc_int(q->c, 0), *from = s->from, *to = s->to;
    tamis_status status = TAMIS_OK;
    if (tmi_number_compare_int(a->p, 1) != 0) { /* without 0 the others cannot be silent: then a wider range */
        from = tmi_calc_min(from, zero);
        to = tmi_calc_max(to, zero);
    }
    TMI_TRY(pair(&b->most, q, a->p, tmi_calc_do(q->c, tmi_number_div, to, a->p), tmi_calc_do(q->c, tmi_number_div, from, a->p),
                 true, err));
    b->theorem = INDEPENDENT;
    if (s->attained) b->least = b->most;
done:
    return status;
}

static tamis_status dependent(tmi_between *b, const question *q, const tmi_alike *a, tamis_error *err)
{
    const tmi_stratum *s = q->s;
    const tamis_number *zero = tmi_calc_int(q->c, 0);
    const tamis_number *to = tmi_calc_do(q->c, tmi_number_div, s->to, a->p);
    const tamis_number *from = tmi_calc_do(q->c, tmi_number_div, s->from, a->p);
    const tamis_number *shift = tmi_calc_do(q->c, tmi_number_sub, to, from), *far;
    tamis_status status = TAMIS_OK;
    tamis_bound own, other;
    TMI_TRY(any_design(&b->most, q, a->p, shift, err));
    b->theorem = ANY;
    if (a->exchanges + a->additions > 0) {
        far = distance(q->c, s, a, a->p, a->p);
        TMI_TRY(pair(&own, q, a->p, shift, zero, false, err));
        TMI_TRY(pair(&other, q, a->p, far, zero, false, err));
        if (tmi_number_compare(far, shift) <= 0) other = own; /* nothing farther than the unit's own change */
        else other = q->eps ? mix(other, own, a->p, q->eps) : other;
        if (other.upper <= b->most.upper) b->theorem = EXCHANGE;
        b->most = smaller(b->most, other);
    }
    if (s->attained) TMI_TRY(pair(&b->least, q, a->p, to, from, true, err));
done:
    return status;
}

static tamis_status leaf(tmi_between *b, const question *q, size_t i, tamis_error *err)
{
    const tmi_alike *a = &q->s->alike[i];
    tmi_calc c = {.err = err};
    question own = {q->s, q->eps, &c};
    *b = (tmi_between){{0, 0}, {0, 0}, a->unit, ANY};
    tamis_status status = q->s->independent || tmi_number_compare_int(a->p, 1) == 0 ? independent(b, &own, a, err)
                                                                                    : dependent(b, &own, a, err);
    tmi_calc_clear(&c);
    return status;
}

/* Of all units from number `first` to `last`. */
static tamis_status block(double *most, const question *q, size_t first, size_t last, tamis_error *err)
{
    const tmi_stratum *s = q->s;
    const tamis_number *p1 = s->alike[first].p, *p2 = s->alike[last].p, *zero, *shift, *far;
    tmi_calc c = {.err = err};
    question own = {s, q->eps, &c};
    tmi_alike most_apart = {.p = NULL};
    tamis_status status = TAMIS_OK;
    tamis_bound bound, other;
    bool known = true;
    for (size_t i = first; i <= last; i++) {
        const tmi_alike *a = &s->alike[i];
        known = known && a->exchanges + a->additions > 0;
        if (a->exchanges > most_apart.exchanges) most_apart.exchanges = a->exchanges;
        if (a->additions > most_apart.additions) most_apart.additions = a->additions;
    }
    zero = tmi_calc_int(&c, 0);
    const tamis_number *low = tmi_calc_min(s->from, zero), *high = tmi_calc_max(s->to, zero);
    if (!s->independent) {
        low = s->from;
        high = s->to;
    }
    shift = tmi_calc_do(&c, tmi_number_div, tmi_calc_do(&c, tmi_number_sub, high, low), p1);
    TMI_TRY(any_design(&bound, &own, p2, shift, err));
    if (s->independent || known) {
        far = s->independent ? shift : tmi_calc_max(shift, distance(&c, s, &most_apart, p1, p2));
        TMI_TRY(pair(&other, &own, p2, far, zero, false, err));
        bound = smaller(bound, other);
    }
    *most = bound.upper;
done:
    tmi_calc_clear(&c);
    return status;
}

/* ---- all units ---- */

/* Classes up to which each is looked at, and pairs of laws looked at in one search. */
#define FEW 16
#define MAX_LOOKS 20000
#define DEPTH 128

static tamis_status search(tmi_between *best, const question *q, tamis_error *err)
{
    struct {
        size_t first, last;
    } stack[DEPTH] = {{q->s->met, q->s->count - 1}};
    size_t depth = 1;
    bool some = false;
    for (int i = 0; depth > 0; i++) {
        size_t first = stack[--depth].first, last = stack[depth].last, middle = first + (last - first) / 2;
        tmi_between now;
        double most = INFINITY;
        tamis_status status = TAMIS_OK;
        if (i == MAX_LOOKS)
            return tmi_fail(err, TAMIS_UNABLE, "design: too many different inclusion probabilities could be the worst");
        if (first == last) {
            status = leaf(&now, q, first, err);
            if (status != TAMIS_OK) return status;
            tamis_bound least = some ? best->least : now.least, all = some ? best->most : now.most;
            if (!some || now.most.upper > best->most.upper) *best = now;
            best->least = (tamis_bound){fmax(least.lower, now.least.lower), fmax(least.upper, now.least.upper)};
            best->most = (tamis_bound){fmax(all.lower, now.most.lower), fmax(all.upper, now.most.upper)};
            some = true;
            continue;
        }
        if (some && q->s->count > FEW) status = block(&most, q, first, last, err);
        if (status != TAMIS_OK) return status;
        if (some && most <= best->most.upper) continue;
        stack[depth].first = middle + 1;
        stack[depth++].last = last;
        stack[depth].first = first;
        stack[depth++].last = middle;
    }
    return TAMIS_OK;
}

/* The window of a simple random sample: true if it could be used. */
static tamis_status window(bool *used, tmi_between *b, const tmi_stratum *s, const tamis_number *eps, tamis_error *err)
{
    const tamis_ht_range *r = s->range;
    tamis_ht_srs srs = {s->design->population, s->design->sample, s->low, s->high, r->noise, r->scale};
    tamis_status status = TAMIS_OK;
    tamis_number *weight = NULL;
    *used = false;
    *b = (tmi_between){{0, 0}, {0, 0}, 0, WINDOW};
    if (s->low == s->high) { /* nobody can have another value */
        *used = true;
        return TAMIS_OK;
    }
    if (!s->design->kind->simple) return TAMIS_OK;
    TMI_TRY(tmi_number_ratio(&weight, srs.population, srs.sample, err));
    if (r->step && tmi_number_compare(r->step, weight) != 0) goto done; /* the noise is finer than the count */
    status = eps ? tamis_ht_srs_delta(&b->most, NULL, &srs, eps, err) : tamis_ht_srs_pure(&b->most, &srs, err);
    *used = status == TAMIS_OK;
    if (status == TAMIS_UNABLE) status = TAMIS_OK; /* without the window, then */
    if (s->attained) b->least = b->most;
done:
    tamis_number_free(weight);
    return status;
}

tamis_status tmi_stratum_ask(tmi_between *answer, const tmi_stratum *s, const tamis_number *eps, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    bool used = false;
    if (s->met == s->count) {
        *answer = (tmi_between){{0, 0}, {0, 0}, s->alike[0].unit, ANY};
        return TAMIS_OK;
    }
    if (s->has_window) TMI_TRY(window(&used, answer, s, eps, err));
    if (!used) TMI_TRY(search(answer, &(question){s, eps, NULL}, err));
    if (!used && s->has_window) answer->least = (tamis_bound){0, 0};
done:
    return status;
}
