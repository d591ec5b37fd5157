/* Every pair of neighbours over a finite set of values.
 *
 * Only one of several units that are alike (alike.h) is examined, and among the others only the number with each value
 * matters. A pair that a low-precision evaluation shows to be no worse than the worst one so far is not evaluated further. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "composition/profile.h"
#include "ht/alike.h"
#include "ht/listed.h"
#include "num/bound.h"

/* Totals that are added up, and pairs with Gaussian noise that are integrated: about ten seconds. */
#define MAX_TOTALS 4e6
#define MAX_INTEGRALS 2e4

/* A pair within this of the worst is a tie. */
#define SLACK 5e-13

typedef struct listing {
    const tamis_ht_values *v;
    size_t units, samples;
    bool exact;
    size_t class_of[TAMIS_LAW_UNITS];                         /* the first unit that is alike */
    tamis_number *weighted[TAMIS_LAW_UNITS][TAMIS_HT_VALUES]; /* value / pi */
} listing;

/* delta at eps, eps at delta, or eps at 0 if both are NULL. */
typedef struct question question;
struct question {
    const tamis_number *eps, *delta;
    double most; /* what the answer can be at most */
    tamis_status (*check)(const question *q, tamis_error *err);
};

/* ---- needs ---- */

static tamis_status check(const tamis_ht_values *v, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (!v->law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    TMI_TRY(tmi_check_values(v->values, v->count, err));
    if (v->count > TAMIS_HT_VALUES) return tmi_fail(err, TAMIS_INVALID, "values: more than %d", TAMIS_HT_VALUES);
    for (size_t a = 0; a < v->count; a++)
        for (size_t b = 0; b < a; b++)
            if (tmi_number_compare(v->values[a], v->values[b]) == 0)
                return tmi_fail(err, TAMIS_INVALID, "values[%zu]: the same as values[%zu]", a, b);
    if ((v->low == NULL) != (v->high == NULL)) return tmi_fail(err, TAMIS_INVALID, "low, high: one of them is NULL");
    if (v->low && tmi_number_compare(v->low, v->high) > 0)
        return tmi_fail(err, TAMIS_INVALID, "low, high: low must not exceed high");
    TMI_TRY(tmi_check_noise(v->noise, v->step, err));
    TMI_TRY(tmi_check_noise_scale(v->noise, v->scale, err));
done:
    return status;
}

/* ---- the weighted values ---- */

static void listing_clear(listing *l)
{
    for (size_t i = 0; i < TAMIS_LAW_UNITS; i++)
        for (size_t a = 0; a < TAMIS_HT_VALUES; a++) tamis_number_free(l->weighted[i][a]);
}

static tamis_status listing_set(listing *l, const tamis_ht_values *v, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *l = (listing){.v = v,
                   .units = (size_t)tamis_law_population(v->law),
                   .samples = tamis_law_count(v->law),
                   .exact = tmi_law_is_exact(v->law)};
    for (size_t i = 0; i < l->units; i++)
        for (size_t a = 0; a < v->count; a++) {
            TMI_TRY(tmi_weighted(&l->weighted[i][a], v->law, i, v->values[a], err));
            TMI_TRY(tmi_check_multiple(l->weighted[i][a], v->step, err));
        }
done:
    return status;
}

/* ---- populations ---- */

/* The values of all units but one, ascending inside a class. */
typedef struct others {
    size_t order[TAMIS_LAW_UNITS], count; /* the units, class by class */
    bool goes_on[TAMIS_LAW_UNITS];        /* same class as the one before */
    uint8_t x[TAMIS_LAW_UNITS];
} others;

static void others_set(others *o, const listing *l, size_t unit)
{
    memset(o, 0, sizeof *o);
    for (size_t c = 0; c < l->units; c++)
        for (size_t i = 0, before = l->units; i < l->units; i++) {
            if (l->class_of[i] != c || i == unit) continue;
            o->goes_on[o->count] = before < l->units;
            o->order[o->count++] = before = i;
        }
}

static bool others_next(others *o, size_t values)
{
    for (size_t t = o->count; t-- > 0;) {
        if (o->x[o->order[t]] + 1u >= values) continue;
        o->x[o->order[t]]++;
        for (size_t s = t + 1; s < o->count; s++) o->x[o->order[s]] = o->goes_on[s] ? o->x[o->order[s - 1]] : 0;
        return true;
    }
    return false;
}

/* How many there are, up to rounding. */
static double others_count(const others *o, size_t values)
{
    double count = 1;
    for (size_t t = 0, run = 0; t < o->count; t++) {
        run = o->goes_on[t] ? run + 1 : 1;
        count *= (double)(values - 1 + run) / (double)run;
    }
    return count;
}

/* True if the population is possible: the sum of its values is in the window. */
static tamis_status is_possible(bool *possible, const listing *l, const uint8_t *x, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *sum = NULL;
    *possible = true;
    if (!l->v->low) return TAMIS_OK;
    for (size_t i = 0; i < l->units; i++) {
        tamis_number *copy = NULL;
        TMI_TRY(tmi_number_copy(&copy, l->v->values[x[i]], err));
        TMI_TRY(tmi_sum_take(&sum, copy, err));
    }
    *possible = tmi_number_compare(sum, l->v->low) >= 0 && tmi_number_compare(sum, l->v->high) <= 0;
done:
    tamis_number_free(sum);
    return status;
}

/* ---- pairs ---- */

typedef struct search {
    const listing *l;
    const question *q;
    tamis_ht_unit *worst;
    size_t unit;
} search;

static tamis_status ask(tamis_bound *value, tmi_atoms *atoms, const question *q, tamis_error *err)
{
    atoms->eps = q->eps;
    if (q->eps) return tmi_atoms_delta(value, atoms, err);
    return q->delta ? tmi_atoms_epsilon(value, atoms, q->delta, err) : tmi_atoms_pure(value, atoms, err);
}

/* Certainly no worse than the worst so far; then `most` is what it can be. */
static tamis_status is_harmless(bool *harmless, double *most, tmi_atoms *atoms, const search *s, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *eps = NULL;
    tamis_bound delta;
    *harmless = false;
    *most = s->worst->value.upper;
    if (s->q->eps) {
        atoms->eps = s->q->eps;
        TMI_TRY(tmi_atoms_delta_quick(&delta, atoms, err));
        *harmless = delta.upper <= s->worst->value.lower * (1 + SLACK);
        *most = delta.upper;
    } else if (s->q->delta && s->worst->value.upper < INFINITY) {
        TMI_TRY(tmi_number_double(&eps, s->worst->value.upper, err));
        atoms->eps = eps;
        TMI_TRY(tmi_atoms_delta_quick(&delta, atoms, err));
        *harmless = delta.upper <= tmi_number_bound(s->q->delta).lower;
    }
done:
    atoms->eps = NULL;
    tamis_number_free(eps);
    return status;
}

static tamis_status try_order(search *s, tmi_atoms *atoms, const uint8_t *x, uint8_t a, uint8_t b, tamis_error *err)
{
    tamis_ht_unit *worst = s->worst;
    tamis_status status = TAMIS_OK;
    tamis_bound value;
    bool harmless;
    double most;
    TMI_TRY(is_harmless(&harmless, &most, atoms, s, err));
    if (harmless) {
        worst->value.upper = fmax(worst->value.upper, most);
        goto done;
    }
    TMI_TRY(ask(&value, atoms, s->q, err));
    if (value.lower > worst->value.lower) {
        memcpy(worst->x, x, TAMIS_LAW_UNITS);
        worst->x[s->unit] = a;
        worst->x_prime = b;
    }
    worst->value = (tamis_bound){fmax(value.lower, worst->value.lower), fmax(value.upper, worst->value.upper)};
done:
    return status;
}

static tamis_status try_pair(search *s, uint8_t *x, uint8_t a, uint8_t b, tamis_error *err)
{
    const listing *l = s->l;
    tamis_status status = TAMIS_OK;
    const tamis_number *w[2][TAMIS_LAW_UNITS];
    tmi_atoms atoms = {0};
    bool possible[2];
    for (int prime = 0; prime < 2; prime++) {
        x[s->unit] = prime ? b : a;
        TMI_TRY(is_possible(&possible[prime], l, x, err));
        for (size_t i = 0; i < l->units; i++) w[prime][i] = l->weighted[i][x[i]];
    }
    if (!possible[0] || !possible[1]) goto done;
    TMI_TRY(tmi_atoms_of(&atoms, l->v->law, l->exact, w[0], w[1], err));
    TMI_TRY(tmi_atoms_finish(&atoms, l->v->noise, l->v->scale, l->v->step, err));
    TMI_TRY(try_order(s, &atoms, x, a, b, err));
    atoms.swapped = true;
    TMI_TRY(try_order(s, &atoms, x, b, a, err));
done:
    tmi_atoms_clear(&atoms);
    return status;
}

static tamis_status try_unit(search *s, tamis_error *err)
{
    const listing *l = s->l;
    others o;
    others_set(&o, l, s->unit);
    *s->worst = (tamis_ht_unit){0};
    do {
        for (uint8_t a = 0; a < l->v->count; a++)
            for (uint8_t b = 0; b < a; b++) {
                tamis_status status = try_pair(s, o.x, a, b, err);
                if (status != TAMIS_OK) return status;
                if (s->worst->value.lower >= s->q->most) return TAMIS_OK; /* nothing is worse */
            }
    } while (others_next(&o, l->v->count));
    return TAMIS_OK;
}

/* ---- all units ---- */

static tamis_status check_work(const listing *l, tamis_error *err)
{
    double populations = 0, pairs = (double)(l->v->count * (l->v->count - 1)) / 2;
    bool gaussian = l->v->noise == TAMIS_NOISE_GAUSSIAN || l->v->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
    for (size_t i = 0; i < l->units; i++) {
        others o;
        if (l->class_of[i] != i) continue;
        others_set(&o, l, i);
        populations += others_count(&o, l->v->count);
    }
    if (populations * pairs * (double)l->samples > MAX_TOTALS || (gaussian && populations * pairs > MAX_INTEGRALS))
        return tmi_fail(err, TAMIS_UNABLE, "values: too many populations to try all of them");
    return TAMIS_OK;
}

/* What holds for every design (ht_range_part.c, "any design"). */
static tamis_status bound_unit(tamis_bound *value, const listing *l, size_t unit, const question *q, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    size_t low = 0, high = 0;
    tmi_atoms atoms = {0};
    const tamis_number *p = tmi_sample_law_pi(l->v->law, unit);
    tamis_number *one = NULL, *from = NULL, *to = NULL, *share = NULL;
    for (size_t a = 1; a < l->v->count; a++) {
        if (tmi_number_compare(l->v->values[a], l->v->values[low]) < 0) low = a;
        if (tmi_number_compare(l->v->values[a], l->v->values[high]) > 0) high = a;
    }
    TMI_TRY(tmi_number_ratio(&one, 1, 1, err));
    TMI_TRY(tmi_number_copy(&from, l->weighted[unit][low], err));
    TMI_TRY(tmi_number_copy(&to, l->weighted[unit][high], err));
    TMI_TRY(tmi_atoms_start(&atoms, 2, true, err));
    status = tmi_atoms_take(&atoms, to, one, NULL, false, err);
    to = NULL;
    TMI_TRY(status);
    status = tmi_atoms_take(&atoms, from, one, NULL, true, err);
    from = NULL;
    TMI_TRY(status);
    TMI_TRY(tmi_atoms_finish(&atoms, l->v->noise, l->v->scale, l->v->step, err));
    if (q->eps) {
        atoms.eps = q->eps;
        TMI_TRY(tmi_atoms_delta(value, &atoms, err));
        *value = tmi_bound_times(*value, p);
    } else if (!q->delta) {
        TMI_TRY(tmi_atoms_pure(value, &atoms, err));
    } else if (tmi_number_compare(p, q->delta) <= 0) {
        *value = (tamis_bound){0, 0};
    } else { /* p times the delta of the noise is to be at most delta */
        TMI_TRY(tmi_number_div(&share, q->delta, p, err));
        TMI_TRY(tmi_atoms_epsilon(value, &atoms, share, err));
    }
    value->lower = 0;
done:
    tmi_number_frees(&one, &from, &to, &share, NULL);
    tmi_atoms_clear(&atoms);
    return status;
}

/* The worst pair of a unit that is like `of`: the two change places. */
static void copy_unit(tamis_ht_unit *units, size_t unit, size_t of)
{
    units[unit] = units[of];
    units[unit].x[unit] = units[of].x[of];
    units[unit].x[of] = units[of].x[unit];
}

static void all_unknown(tamis_ht_unit *units, const tamis_ht_values *v, const question *q)
{
    for (int64_t i = 0; i < tamis_law_population(v->law); i++) units[i] = (tamis_ht_unit){.value = {0, q->most}};
}

static tamis_status all_units(tamis_ht_unit *units, const tamis_ht_values *v, const question *q, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    listing *l = NULL;
    bool listed = false;
    if (!units) return tmi_fail(err, TAMIS_INVALID, "units: NULL");
    if (!v) return tmi_fail(err, TAMIS_INVALID, "values: NULL");
    all_unknown(units, v, q);
    TMI_TRY(q->check(q, err));
    TMI_TRY(check(v, err));
    if (!(l = tmi_alloc(1, sizeof *l))) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(listing_set(l, v, err));
    listed = true;
    TMI_TRY(tmi_check_law(v->law, err));
    TMI_TRY(tmi_alike_units(l->class_of, v->law, err));
    TMI_TRY(check_work(l, err));
    for (size_t i = 0; i < l->units; i++) {
        if (l->class_of[i] == i) TMI_TRY(try_unit(&(search){l, q, &units[i], i}, err));
        else copy_unit(units, i, l->class_of[i]);
    }
done:
    if (status != TAMIS_OK) all_unknown(units, v, q);
    for (size_t i = 0; status == TAMIS_UNABLE && listed && i < l->units; i++) {
        tamis_bound bound;
        if (bound_unit(&bound, l, i, q, NULL) == TAMIS_OK) units[i].value = bound;
    }
    if (l) listing_clear(l);
    tmi_free(l);
    return status;
}

static tamis_status eps_is_right(const question *q, tamis_error *err) { return tmi_check_eps(q->eps, err); }

static tamis_status delta_is_right(const question *q, tamis_error *err) { return tmi_check_delta(q->delta, err); }

static tamis_status nothing_to_check(const question *q, tamis_error *err)
{
    (void)q, (void)err;
    return TAMIS_OK;
}

tamis_status tamis_ht_values_delta(tamis_ht_unit *units, const tamis_ht_values *values, const tamis_number *eps, tamis_error *err)
{
    return all_units(units, values, &(question){eps, NULL, 1, eps_is_right}, err);
}

tamis_status tamis_ht_values_pure(tamis_ht_unit *units, const tamis_ht_values *values, tamis_error *err)
{
    return all_units(units, values, &(question){NULL, NULL, INFINITY, nothing_to_check}, err);
}

tamis_status tamis_ht_values_epsilon(tamis_ht_unit *units, const tamis_ht_values *values, const tamis_number *delta,
                                     tamis_error *err)
{
    return all_units(units, values, &(question){NULL, delta, INFINITY, delta_is_right}, err);
}
