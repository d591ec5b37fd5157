/* A weighted sum with Laplace noise: each unit has its own losses. */
#include <math.h>
#include <string.h>

#include "amplification/exposed.h"
#include "amplification/mixture.h"
#include "base/memory.h"
#include "num/bound.h"
#include "num/number.h"

/* A given weight, or 1 over the inclusion probability. */
typedef struct weight {
    const tamis_number *given;
    tamis_bound inclusion;
} weight;

static void set_weight(tmi_ball *z, weight w, long bits)
{
    tmi_ball one;
    if (w.given) {
        tmi_ball_set_number(z, w.given, bits);
        return;
    }
    tmi_ball_init(&one);
    tmi_ball_set_int(&one, 1);
    tmi_ball_set_bound(z, w.inclusion, bits);
    tmi_ball_div(z, &one, z, bits);
    tmi_ball_clear(&one);
}

static int compare(weight x, weight y)
{
    if (x.given) return tmi_number_compare(x.given, y.given);
    return (x.inclusion.lower < y.inclusion.lower) - (x.inclusion.lower > y.inclusion.lower);
}

/* One unit among those of its stratum that may take its place. */
typedef struct place {
    const tamis_exposure *exposure;
    const tamis_weighted_sum *sum;
    weight own, lightest, heaviest;
} place;

typedef struct values {
    tmi_ball from, to, largest, inverse; /* largest = max(|from|, |to|), inverse = 1/scale */
    long bits;
} values;

/* max |u y - v y'| = max(u to - v from, v to - u from), if that exceeds z. */
static void exchange(tmi_ball *z, const tmi_ball *u, const tmi_ball *v, const values *s)
{
    tmi_ball x, y;
    tmi_ball_inits(&x, &y, NULL);
    for (int order = 0; order < 2; order++) {
        tmi_ball_mul(&x, order ? v : u, &s->to, s->bits);
        tmi_ball_mul(&y, order ? u : v, &s->from, s->bits);
        tmi_ball_sub(&x, &x, &y, s->bits);
        tmi_ball_max(z, z, &x, s->bits);
    }
    tmi_ball_clears(&x, &y, NULL);
}

/* The largest change of the sum over a distance: the unit's own exchange or absence, then any others'. */
static void change(tmi_ball *z, tamis_distance d, const tmi_ball w[3], const values *s)
{
    tmi_ball x;
    tmi_ball_init(&x);
    tmi_ball_set_int(z, 0);
    if (d.exchanges > 0) {
        exchange(z, &w[0], &w[1], s);
        exchange(z, &w[0], &w[2], s);
        tmi_ball_set_int(&x, 0);
        for (int i = 1; i < 3; i++)
            for (int j = i; j < 3; j++) exchange(&x, &w[i], &w[j], s);
        tmi_ball_mul_int(&x, &x, d.exchanges - 1, s->bits);
        tmi_ball_add(z, z, &x, s->bits);
    } else if (d.additions > 0) {
        tmi_ball_mul(z, &w[0], &s->largest, s->bits);
    }
    tmi_ball_mul(&x, &w[2], &s->largest, s->bits);
    tmi_ball_mul_int(&x, &x, d.additions - (d.exchanges == 0 && d.additions > 0), s->bits);
    tmi_ball_add(z, z, &x, s->bits);
    tmi_ball_mul(z, z, &s->inverse, s->bits);
    tmi_ball_clear(&x);
}

static void set_values(values *s, const tamis_weighted_sum *sum, long bits)
{
    s->bits = bits;
    tmi_ball_set_number(&s->from, sum->from, bits);
    tmi_ball_set_number(&s->to, sum->to, bits);
    tmi_ball_neg(&s->largest, &s->from);
    tmi_ball_max(&s->largest, &s->largest, &s->to, bits);
    tmi_ball_set_number(&s->inverse, sum->scale, bits);
    tmi_ball one;
    tmi_ball_init(&one);
    tmi_ball_set_int(&one, 1);
    tmi_ball_div(&s->inverse, &one, &s->inverse, bits);
    tmi_ball_clear(&one);
}

/* With replacement each draw is a sample of one: the loss of a draw, as often as there are draws. */
static void outcomes(tmi_outcome *present, tmi_outcome *missing, const place *p, bool draws, const tmi_ball w[3], const values *s)
{
    const tamis_exposure *e = p->exposure;
    tmi_ball_sub(&present->loss, &s->to, &s->from, s->bits);
    tmi_ball_mul(&present->loss, &present->loss, &w[0], s->bits);
    tmi_ball_mul(&present->loss, &present->loss, &s->inverse, s->bits);
    tmi_ball_set_bound(&present->weight, e->inclusion, s->bits);
    for (size_t k = 0; k < e->absence_count; k++) {
        tmi_ball_set_bound(&missing[k].weight, e->absences[k].probability, s->bits);
        missing[k].far = e->absences[k].far != 0;
        if (missing[k].far) continue;
        change(&missing[k].loss, draws ? (tamis_distance){.exchanges = 1} : e->absences[k].distance, w, s);
    }
    if (!draws) return;
    tmi_ball_set_int(&present->weight, 1);
    tmi_ball_div_int(&present->weight, &present->weight, e->count, s->bits);
    tmi_ball_set_int(&missing[0].weight, e->count - 1);
    tmi_ball_div_int(&missing[0].weight, &missing[0].weight, e->count, s->bits);
}

static tamis_status loss(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const place *p = context;
    bool draws = strcmp(p->exposure->theorem, "srs_with_replacement") == 0;
    tmi_outcome present, missing[TAMIS_MAX_ABSENCES];
    tmi_ball w[3], delta;
    values s;
    (void)err;
    tmi_ball_inits(&s.from, &s.to, &s.largest, &s.inverse, &w[0], &w[1], &w[2], &delta, NULL);
    tmi_outcome_init(&present);
    for (size_t k = 0; k < TAMIS_MAX_ABSENCES; k++) tmi_outcome_init(&missing[k]);
    set_values(&s, p->sum, bits);
    set_weight(&w[0], p->own, bits);
    set_weight(&w[1], p->lightest, bits);
    set_weight(&w[2], p->heaviest, bits);
    outcomes(&present, missing, p, draws, w, &s);
    tmi_amplify(value, &delta, &present, missing, p->exposure->absence_count, bits);
    if (draws) tmi_ball_mul_int(value, value, p->exposure->absences[0].distance.exchanges, bits);
    tmi_ball_clears(&s.from, &s.to, &s.largest, &s.inverse, &w[0], &w[1], &w[2], &delta, NULL);
    tmi_outcome_clear(&present);
    for (size_t k = 0; k < TAMIS_MAX_ABSENCES; k++) tmi_outcome_clear(&missing[k]);
    return TAMIS_OK;
}

/* ---- all units ---- */

static weight weight_of(const tamis_weighted_sum *sum, const tamis_exposure *e, int64_t unit)
{
    return (weight){sum->weights ? sum->weights[unit] : NULL, e->inclusion};
}

/* Widens the range of the stratum; units that are always in the sample take nobody's place. */
static void widen(place *p, const tamis_exposure *e, bool first)
{
    for (int64_t unit = e->first; unit < e->first + (p->sum->weights ? e->count : 1); unit++) {
        weight w = weight_of(p->sum, e, unit);
        if (first || compare(w, p->lightest) < 0) p->lightest = w;
        if (first || compare(w, p->heaviest) > 0) p->heaviest = w;
        first = false;
    }
}

typedef struct answer {
    tamis_bound eps; /* of the worst unit */
    int64_t worst;
    const tamis_exposure *exposure; /* of the worst unit; NULL: none yet */
    bool level;                     /* the units of each stratum have one weight */
} answer;

static tamis_status judge(answer *a, place *p, const tamis_exposure *e, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    p->exposure = e;
    for (int64_t unit = e->first; unit < e->first + (p->sum->weights ? e->count : 1); unit++) {
        weight w = weight_of(p->sum, e, unit);
        tamis_bound eps;
        if (unit > e->first && compare(w, p->own) == 0) continue; /* as the one before */
        p->own = w;
        TMI_TRY(tmi_certify(&eps, TMI_DESIGN_WIDTH, loss, p, err));
        if (a->exposure && eps.upper <= a->eps.upper) continue;
        a->worst = unit;
        a->exposure = e;
        a->eps = eps;
    }
done:
    return status;
}

/* The exposures of one stratum, list[from] to list[end - 1]. */
static tamis_status judge_stratum(answer *a, const tamis_weighted_sum *sum, const tamis_exposure *list, size_t from, size_t end,
                                  tamis_error *err)
{
    place p = {.sum = sum};
    bool first = true;
    tamis_status status = TAMIS_OK;
    for (int always = 0; always < 2 && first; always++) /* if all are always in the sample, their own weights suffice */
        for (size_t i = from; i < end; i++) {
            if (list[i].absence_count == 0 && !always) continue;
            widen(&p, &list[i], first);
            first = false;
        }
    a->level = a->level && compare(p.lightest, p.heaviest) == 0;
    for (size_t i = from; i < end; i++) TMI_TRY(judge(a, &p, &list[i], err));
done:
    return status;
}

static tamis_status check(const tamis_design *design, const tamis_weighted_sum *sum, tamis_error *err)
{
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (!sum) return tmi_fail(err, TAMIS_INVALID, "sum: NULL");
    if (!sum->from) return tmi_fail(err, TAMIS_INVALID, "from: NULL");
    if (!sum->to) return tmi_fail(err, TAMIS_INVALID, "to: NULL");
    if (tmi_number_compare(sum->from, sum->to) > 0) return tmi_fail(err, TAMIS_INVALID, "to: must not be below from");
    if (!sum->scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (tmi_number_sign(sum->scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    for (int64_t i = 0; sum->weights && i < tamis_design_population(design); i++)
        if (!sum->weights[i] || tmi_number_sign(sum->weights[i]) < 0)
            return tmi_fail(err, TAMIS_INVALID, "weights: the weight of unit %lld is NULL or negative", (long long)i);
    return TAMIS_OK;
}

/* The lower end: what two populations that differ in the worst unit reveal. With replacement the losses of the draws add up, if
 * all have one weight. */
static tamis_status find_lower(answer *a, const tamis_design *design, const tamis_weighted_sum *sum, tamis_error *err)
{
    const tmi_attainable plain = {.from = sum->from,
                                  .to = sum->to,
                                  .weight = sum->weights ? sum->weights[a->worst] : NULL,
                                  .by_probability = !sum->weights,
                                  .noise = TAMIS_NOISE_LAPLACE,
                                  .scale = sum->scale};
    tamis_status status = TAMIS_OK;
    bool draws = strcmp(a->exposure->theorem, "srs_with_replacement") == 0, attained = false;
    tamis_bound found = {0, 0};
    if (!draws) TMI_TRY(tmi_is_attained(&attained, design, a->exposure, a->level, err));
    if (attained || (draws && a->level)) goto done;
    if (!draws) TMI_TRY(tmi_attained(&found, design, a->worst, &plain, a->level, err));
    a->eps.lower = fmin(found.lower, a->eps.upper);
done:
    return status;
}

tamis_status tamis_amplify_total(tamis_bound *eps_pop, int64_t *worst, const tamis_design *design, const tamis_weighted_sum *sum,
                                 tamis_error *err)
{
    tmi_exposed_list units = {0};
    tamis_exposure *list = NULL;
    size_t count = 0;
    answer a = {.level = true};
    tamis_status status = TAMIS_OK;
    if (!eps_pop) return tmi_fail(err, TAMIS_INVALID, "eps_pop: NULL");
    *eps_pop = (tamis_bound){0, INFINITY};
    TMI_TRY(check(design, sum, err));
    TMI_TRY(tmi_expose(&units, design, TAMIS_REPLACE, TAMIS_ADD_REMOVE, err)); /* refuses what is not proved */
    TMI_TRY(tamis_design_exposures(&list, &count, design, err));
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && list[end].stratum == list[from].stratum;) end++;
        TMI_TRY(judge_stratum(&a, sum, list, from, end, err));
    }
    if (a.exposure) TMI_TRY(find_lower(&a, design, sum, err));
    *eps_pop = a.eps;
    if (worst) *worst = a.worst;
done:
    tmi_exposed_clear(&units);
    tmi_free(list);
    return status;
}
