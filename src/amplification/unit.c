/* From the distances of a design to the losses of a mechanism, and to what one unit loses. */
#include <string.h>

#include "amplification/exposed.h"
#include "amplification/mixture.h"
#include "base/memory.h"
#include "num/number.h"
#include "survey/design/design.h"

/* ---- who represents whom ---- */

static bool same_distance(tamis_distance x, tamis_distance y)
{
    return x.exchanges == y.exchanges && x.additions == y.additions && x.either == y.either;
}

static bool same_bound(tamis_bound x, tamis_bound y) { return x.lower == y.lower && x.upper == y.upper; }

/* x represents y, or y represents x: alike, or missing in the same single way. */
static bool comparable(const tmi_exposed *x, const tmi_exposed *y)
{
    const tamis_exposure *a = &x->exposure, *b = &y->exposure;
    if (x->take_all != y->take_all || a->stratum != b->stratum || strcmp(a->theorem, b->theorem) != 0) return false;
    if (a->absence_count != b->absence_count || !same_distance(a->removal, b->removal)) return false;
    if (strcmp(a->theorem, "srs_with_replacement") == 0) return false; /* N and n enter separately */
    for (size_t k = 0; k < a->absence_count; k++) {
        if (!same_distance(a->absences[k].distance, b->absences[k].distance)) return false;
        if (!a->absences[k].far != !b->absences[k].far) return false;
        if (a->absence_count > 1 && !same_bound(a->absences[k].probability, b->absences[k].probability)) return false;
    }
    return true;
}

static tamis_status add(tmi_exposed_list *units, const tamis_exposure *e, tamis_error *err)
{
    tmi_exposed new = {*e, e->inclusion.lower == 1, e->count};
    tmi_exposed *last = units->count > 0 ? &units->list[units->count - 1] : NULL;
    if (units->count > 1 && !comparable(last, &new)) last--; /* take-all units may be between the others */
    if (last && comparable(last, &new)) {
        if (e->inclusion.upper > last->exposure.inclusion.upper) last->exposure = *e;
        last->units += e->count;
        return TAMIS_OK;
    }
    if (!tmi_grow(&units->list, &units->room, units->count, sizeof *units->list)) return tmi_fail_memory(err);
    units->list[units->count++] = new;
    return TAMIS_OK;
}

/* Steps of the mechanism from one sample to another at that distance; -1 if the mechanism does not compare them. */
static int64_t steps(tamis_distance d, tamis_neighbours mechanism)
{
    if (mechanism == TAMIS_ADD_REMOVE) return 2 * d.exchanges + d.additions;
    if (mechanism == TAMIS_ANY_ONE) return d.either > 0 ? d.either : d.exchanges + d.additions;
    return d.additions > 0 ? -1 : d.exchanges;
}

static tamis_distance change(const tamis_exposure *e, tamis_neighbours neighbours)
{
    return neighbours == TAMIS_REPLACE ? (tamis_distance){.exchanges = 1} : e->removal;
}

int64_t tmi_steps_of_change(const tamis_exposure *e, const tamis_sample_promise *p)
{
    return steps(change(e, p->neighbours), p->mechanism);
}

int64_t tmi_steps_of_absence(const tamis_absence *a, const tamis_sample_promise *p)
{
    return a->far ? -1 : steps(a->distance, p->mechanism);
}

static tamis_status check_unit(const tamis_exposure *e, tamis_neighbours neighbours, tamis_neighbours mechanism, tamis_error *err)
{
    tamis_distance own = change(e, neighbours);
    if (!e->theorem)
        return tmi_fail(err, TAMIS_REFUSED, "design: %s; an outsider has the guarantee of a sampled person", e->reason);
    if (own.exchanges == 0 && own.additions == 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "neighbours: under this design, adding or removing a record changes how the others are drawn, and no "
                        "theorem covers that; choose neighbours that replace a record");
    if (steps(own, mechanism) < 0)
        return tmi_fail(err, TAMIS_REFUSED,
                        "mechanism: adding or removing a record changes the sample size, and a guarantee for replaced records "
                        "does not cover that");
    return TAMIS_OK;
}

static const char *theorem_of(const tamis_design *design, const tmi_exposed_list *units)
{
    if (design->kind->stratified) return "stratified";
    for (size_t i = 0; i < units->count; i++)
        if (!units->list[i].take_all) return units->list[i].exposure.theorem;
    return units->list[0].exposure.theorem;
}

tamis_status tmi_expose(tmi_exposed_list *units, const tamis_design *design, tamis_neighbours neighbours,
                        tamis_neighbours mechanism, tamis_error *err)
{
    tamis_exposure *list = NULL;
    size_t count = 0;
    tamis_status status = TAMIS_OK;
    *units = (tmi_exposed_list){0};
    TMI_TRY(tamis_design_exposures(&list, &count, design, err));
    for (size_t i = 0; i < count; i++) TMI_TRY(check_unit(&list[i], neighbours, mechanism, err));
    for (size_t i = 0; i < count; i++) TMI_TRY(add(units, &list[i], err));
    units->theorem = theorem_of(design, units);
done:
    tmi_free(list);
    return status;
}

void tmi_exposed_clear(tmi_exposed_list *units)
{
    tmi_free(units->list);
    *units = (tmi_exposed_list){0};
}

/* ---- what one unit loses ---- */

typedef struct balls {
    tmi_ball eps, delta; /* of the promise, then of the population */
    tmi_outcome present, missing[TAMIS_MAX_ABSENCES];
} balls;

void tmi_ball_set_bound(tmi_ball *z, tamis_bound x, long bits)
{
    tmi_ball upper;
    tmi_ball_init(&upper);
    tmi_ball_set_double(z, x.lower);
    tmi_ball_set_double(&upper, x.upper);
    if (x.lower < x.upper) tmi_ball_union(z, z, &upper, bits);
    tmi_ball_clear(&upper);
}

static void set_outcome(tmi_outcome *o, const balls *b, tamis_bound weight, int64_t k, long bits)
{
    tmi_ball_set_bound(&o->weight, weight, bits);
    o->far = k < 0;
    if (o->far) return;
    tmi_ball_mul_int(&o->loss, &b->eps, k, bits);
    tmi_slip_of_steps(&o->slip, &b->eps, &b->delta, k, bits);
}

/* One draw after the other: each is a sample of one, which leaves l = log(1 + (e^e - 1)/N) and d/N of a loss e and d;
 * n such steps add up to n l and d/N (1 + e^l + ... + e^((n-1) l)) = d (e^(nl) - 1)/(e^e - 1). */
static void draws(balls *b, const tamis_exposure *e, int64_t k, long bits)
{
    int64_t n = e->absences[0].distance.exchanges, N = e->count;
    tmi_outcome *o = &b->present;
    tmi_ball l, x;
    tmi_ball_inits(&l, &x, NULL);
    set_outcome(o, b, (tamis_bound){1, 1}, k, bits);
    tmi_ball_set_int(&x, 1);
    tmi_ball_div_int(&x, &x, N, bits);
    tmi_amplified_loss(&l, &x, &o->loss, bits);
    tmi_ball_mul_int(&l, &l, n, bits);
    tmi_ball_set(&b->eps, &l);
    if (tmi_ball_is_zero(&b->delta)) {
        tmi_ball_set_int(&b->delta, 0);
    } else if (tmi_ball_is_zero(&o->loss)) {
        tmi_ball_mul_int(&x, &x, n, bits);
        tmi_ball_mul(&b->delta, &o->slip, &x, bits);
    } else { /* slip = d e^-e */
        tmi_ball_expm1(&l, &l, bits);
        tmi_ball_mul(&l, &l, &o->slip, bits);
        tmi_ball_neg(&x, &o->loss);
        tmi_ball_expm1(&x, &x, bits);
        tmi_ball_neg(&x, &x);
        tmi_ball_div(&b->delta, &l, &x, bits);
    }
    tmi_ball_clears(&l, &x, NULL);
}

static void lose(tmi_ball *eps, tmi_ball *delta, const tmi_unit_loss *u, long bits)
{
    const tamis_exposure *e = u->exposure;
    tamis_neighbours mechanism = u->promise->mechanism;
    balls b;
    tmi_ball_inits(&b.eps, &b.delta, NULL);
    tmi_outcome_init(&b.present);
    for (size_t k = 0; k < TAMIS_MAX_ABSENCES; k++) tmi_outcome_init(&b.missing[k]);
    if (u->eps) tmi_ball_set_double(&b.eps, *u->eps);
    else tmi_ball_set_number(&b.eps, u->promise->eps, bits);
    if (u->of_one) tmi_ball_set_int(&b.delta, 1);
    else tmi_ball_set_number(&b.delta, u->promise->delta, bits);
    if (u->promise->releases > 1) { /* composed first, amplified once */
        tmi_ball_mul_int(&b.eps, &b.eps, u->promise->releases, bits);
        tmi_ball_mul_int(&b.delta, &b.delta, u->promise->releases, bits);
    }
    if (strcmp(e->theorem, "srs_with_replacement") == 0) {
        draws(&b, e, steps((tamis_distance){.exchanges = 1}, mechanism), bits);
    } else {
        set_outcome(&b.present, &b, e->inclusion, tmi_steps_of_change(e, u->promise), bits);
        for (size_t k = 0; k < e->absence_count; k++) {
            const tamis_absence *a = &e->absences[k];
            set_outcome(&b.missing[k], &b, a->probability, tmi_steps_of_absence(a, u->promise), bits);
        }
        tmi_amplify(&b.eps, &b.delta, &b.present, b.missing, e->absence_count, bits);
    }
    if (eps) tmi_ball_set(eps, &b.eps);
    if (delta) tmi_ball_set(delta, &b.delta);
    tmi_ball_clears(&b.eps, &b.delta, NULL);
    tmi_outcome_clear(&b.present);
    for (size_t k = 0; k < TAMIS_MAX_ABSENCES; k++) tmi_outcome_clear(&b.missing[k]);
}

tamis_status tmi_unit_eps(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    lose(value, NULL, context, bits);
    return TAMIS_OK;
}

tamis_status tmi_unit_delta(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    lose(NULL, value, context, bits);
    return TAMIS_OK;
}
