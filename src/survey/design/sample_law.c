/* The law of a design on a small frame. */
#include "survey/design/sample_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "survey/design/design.h"

tamis_status tmi_sample_law_alloc(tamis_law **law, int64_t population, tamis_error *err)
{
    *law = tmi_alloc(1, sizeof **law);
    if (!*law) return tmi_fail_memory(err);
    (*law)->population = population;
    return TAMIS_OK;
}

static void clear_sample(tmi_listed *s)
{
    if (s->exact) tamis_number_free(s->exact);
    else tmi_ball_clear(&s->ball);
}

void tamis_law_free(tamis_law *law)
{
    if (!law) return;
    for (size_t j = 0; j < law->count; j++) clear_sample(&law->samples[j]);
    for (size_t i = 0; i < TAMIS_LAW_UNITS; i++) tamis_number_free(law->pi[i]);
    tmi_free(law->samples);
    tmi_free(law);
}

/* ---- adding ---- */

static int compare_units(const void *x, const void *y) { return *(const uint8_t *)x - *(const uint8_t *)y; }

static tamis_status new_sample(tmi_listed **sample, tamis_law *law, const uint8_t *units, size_t size, tamis_error *err)
{
    if (law->count == TMI_SAMPLE_LAW_SAMPLES)
        return tmi_fail(err, TAMIS_UNABLE, "the design has more than %zu samples", TMI_SAMPLE_LAW_SAMPLES);
    if (!tmi_grow(&law->samples, &law->room, law->count, sizeof *law->samples)) return tmi_fail_memory(err);
    tmi_listed *s = &law->samples[law->count];
    *s = (tmi_listed){.size = (uint8_t)size};
    if (size > 0) memcpy(s->units, units, size);
    qsort(s->units, size, 1, compare_units);
    *sample = s;
    return TAMIS_OK;
}

tamis_status tmi_sample_law_take(tamis_law *law, const uint8_t *units, size_t size, tamis_number *exact, tamis_error *err)
{
    tmi_listed *s = NULL;
    tamis_status status = new_sample(&s, law, units, size, err);
    if (status != TAMIS_OK) {
        tamis_number_free(exact);
        return status;
    }
    s->exact = exact;
    law->count++;
    return TAMIS_OK;
}

static size_t units_of(uint8_t units[TAMIS_LAW_UNITS], uint32_t set)
{
    size_t size = 0;
    for (uint8_t k = 0; k < TAMIS_LAW_UNITS; k++)
        if (set >> k & 1) units[size++] = k;
    return size;
}

tamis_status tmi_sample_law_take_set(tamis_law *law, uint32_t set, tamis_number *exact, tamis_error *err)
{
    uint8_t units[TAMIS_LAW_UNITS];
    size_t size = units_of(units, set);
    return tmi_sample_law_take(law, units, size, exact, err);
}

static tamis_status add_ball(tamis_law *law, const uint8_t *units, size_t size, const tmi_ball *p, tamis_error *err)
{
    tmi_listed *s = NULL;
    tamis_status status = new_sample(&s, law, units, size, err);
    if (status != TAMIS_OK) return status;
    tmi_ball_init(&s->ball);
    tmi_ball_set(&s->ball, p);
    law->count++;
    return TAMIS_OK;
}

tamis_status tmi_sample_law_add_ball_set(tamis_law *law, uint32_t set, const tmi_ball *p, tamis_error *err)
{
    uint8_t units[TAMIS_LAW_UNITS];
    size_t size = units_of(units, set);
    return add_ball(law, units, size, p, err);
}

static void sample_ball(tmi_ball *p, const tmi_listed *s, long bits)
{
    if (s->exact) tmi_ball_set_number(p, s->exact, bits);
    else tmi_ball_set(p, &s->ball);
}

tamis_status tmi_sample_law_add_product(tamis_law *law, const tmi_listed *s, const tmi_listed *t, size_t offset, tamis_error *err)
{
    uint8_t units[2 * TAMIS_LAW_UNITS];
    size_t size = 0;
    tamis_status status;
    for (size_t i = 0; i < s->size; i++) units[size++] = s->units[i];
    for (size_t i = 0; i < t->size; i++) units[size++] = (uint8_t)(t->units[i] + offset);
    if (size > TAMIS_LAW_UNITS) return tmi_fail(err, TAMIS_UNABLE, "more than %d draws", TAMIS_LAW_UNITS);
    if (s->exact && t->exact) {
        tamis_number *p;
        status = tmi_number_mul(&p, s->exact, t->exact, err);
        return status == TAMIS_OK ? tmi_sample_law_take(law, units, size, p, err) : status;
    }
    tmi_ball p, q;
    tmi_ball_inits(&p, &q, NULL);
    sample_ball(&p, s, TMI_SAMPLE_LAW_BITS);
    sample_ball(&q, t, TMI_SAMPLE_LAW_BITS);
    tmi_ball_mul(&p, &p, &q, TMI_SAMPLE_LAW_BITS);
    status = add_ball(law, units, size, &p, err);
    tmi_ball_clears(&p, &q, NULL);
    return status;
}

tamis_status tmi_sample_law_add_copy(tamis_law *law, const tmi_listed *s, tamis_error *err)
{
    tamis_number *p;
    if (!s->exact) return add_ball(law, s->units, s->size, &s->ball, err);
    tamis_status status = tmi_number_copy(&p, s->exact, err);
    return status == TAMIS_OK ? tmi_sample_law_take(law, s->units, s->size, p, err) : status;
}

void tmi_sample_law_move(tamis_law *law, tamis_law *from)
{
    law->samples = from->samples;
    law->count = from->count;
    law->room = from->room;
    from->samples = NULL;
    from->count = from->room = 0;
}

tamis_status tmi_sum_take(tamis_number **sum, tamis_number *term, tamis_error *err)
{
    tamis_number *next = NULL;
    if (!*sum) {
        *sum = term;
        return TAMIS_OK;
    }
    tamis_status status = tmi_number_add(&next, *sum, term, err);
    tamis_number_free(term);
    if (status != TAMIS_OK) return status;
    tamis_number_free(*sum);
    *sum = next;
    return TAMIS_OK;
}

/* ---- sorting and merging ---- */

static int compare_samples(const void *x, const void *y)
{
    const tmi_listed *s = x, *t = y;
    size_t common = s->size < t->size ? s->size : t->size;
    int order = memcmp(s->units, t->units, common);
    return order != 0 ? order : s->size - t->size;
}

/* s becomes s + t; t is left with nothing to free. */
static tamis_status merge(tmi_listed *s, tmi_listed *t, tamis_error *err)
{
    if (s->exact && t->exact) {
        tamis_number *sum;
        tamis_status status = tmi_number_add(&sum, s->exact, t->exact, err);
        if (status != TAMIS_OK) return status;
        tamis_number_free(s->exact);
        s->exact = sum;
        return TAMIS_OK;
    }
    tmi_ball p, q;
    tmi_ball_inits(&p, &q, NULL);
    sample_ball(&p, s, TMI_SAMPLE_LAW_BITS);
    sample_ball(&q, t, TMI_SAMPLE_LAW_BITS);
    tmi_ball_add(&p, &p, &q, TMI_SAMPLE_LAW_BITS);
    if (s->exact) {
        tamis_number_free(s->exact);
        s->exact = NULL;
        tmi_ball_init(&s->ball);
    }
    tmi_ball_set(&s->ball, &p);
    tmi_ball_clears(&p, &q, NULL);
    return TAMIS_OK;
}

/* Sorts, merges equal samples, drops those of probability 0. */
static tamis_status finish(tamis_law *law, tamis_error *err)
{
    size_t kept = 0;
    tamis_status status = TAMIS_OK;
    if (law->count == 0) return TAMIS_OK;
    qsort(law->samples, law->count, sizeof *law->samples, compare_samples);
    for (size_t j = 0; j < law->count; j++) {
        tmi_listed *s = &law->samples[j], *last = kept > 0 ? &law->samples[kept - 1] : NULL;
        bool zero = s->exact && tmi_number_sign(s->exact) == 0, same = last && compare_samples(last, s) == 0;
        if (!zero && !same) {
            law->samples[kept++] = *s;
            continue;
        }
        if (same && !zero && status == TAMIS_OK) status = merge(last, s, err);
        clear_sample(s);
    }
    law->count = kept;
    return status;
}

/* ---- making ---- */

tamis_status tmi_sample_law_of(tamis_law **law, const tamis_design *design, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_law *l = NULL;
    *law = NULL;
    if (design->population > TAMIS_LAW_UNITS)
        return tmi_fail(err, TAMIS_UNABLE,
                        "%s: joint inclusion probabilities are known only from the list of all samples, for at most %d units",
                        design->kind->name, TAMIS_LAW_UNITS);
    TMI_TRY(tmi_sample_law_alloc(&l, design->population, err));
    TMI_TRY(design->kind->law(l, design, err));
    TMI_TRY(finish(l, err));
    *law = l;
    l = NULL;
done:
    tamis_law_free(l);
    return status;
}

tamis_status tamis_law_new(tamis_law **law, const tamis_design *design, tamis_error *err)
{
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    *law = NULL;
    if (!design) return tmi_fail(err, TAMIS_INVALID, "design: NULL");
    if (design->population > TAMIS_LAW_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "design: samples can be listed for frames of at most %d units", TAMIS_LAW_UNITS);
    tamis_status status = tmi_sample_law_of(law, design, err);
    for (int64_t i = 0; i < design->population && status == TAMIS_OK; i++)
        status = design->kind->exact(&(*law)->pi[i], design, i, err);
    if (status != TAMIS_OK) {
        tamis_law_free(*law);
        *law = NULL;
    }
    return status;
}

/* One given sample, checked. */
static tamis_status take_given(tamis_law *law, const int64_t *units, size_t size, const tamis_number *p, size_t j,
                               tamis_error *err)
{
    uint8_t list[TAMIS_LAW_UNITS];
    uint32_t set = 0;
    tamis_number *copy = NULL;
    if (!p || tmi_number_sign(p) < 0) return tmi_fail(err, TAMIS_INVALID, "probabilities: number %zu is NULL or negative", j);
    if (size > (size_t)law->population) return tmi_fail(err, TAMIS_INVALID, "samples: number %zu has too many units", j);
    for (size_t i = 0; i < size; i++) {
        if (units[i] < 0 || units[i] >= law->population)
            return tmi_fail(err, TAMIS_INVALID, "samples: number %zu has a unit that is not in the frame", j);
        if (set >> units[i] & 1) return tmi_fail(err, TAMIS_INVALID, "samples: number %zu has a unit twice", j);
        set |= UINT32_C(1) << units[i];
        list[i] = (uint8_t)units[i];
    }
    tamis_status status = tmi_number_copy(&copy, p, err);
    return status == TAMIS_OK ? tmi_sample_law_take(law, list, size, copy, err) : status;
}

static tamis_status check_sum(const tamis_law *law, tamis_error *err)
{
    tamis_number *sum = NULL, *copy;
    tamis_status status = TAMIS_OK;
    for (size_t j = 0; j < law->count && status == TAMIS_OK; j++) {
        status = tmi_number_copy(&copy, law->samples[j].exact, err);
        if (status == TAMIS_OK) status = tmi_sum_take(&sum, copy, err);
    }
    if (status == TAMIS_OK && tmi_number_compare_int(sum, 1) != 0)
        status = tmi_fail(err, TAMIS_INVALID, "probabilities: their sum is not 1");
    tamis_number_free(sum);
    return status;
}

/* The inclusion probabilities of a law with exact probabilities. */
static tamis_status add_up_pi(tamis_law *law, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    for (int64_t i = 0; i < law->population; i++) TMI_TRY(tmi_number_ratio(&law->pi[i], 0, 1, err));
    for (size_t j = 0; j < law->count; j++) {
        const tmi_listed *s = &law->samples[j];
        for (size_t i = 0; i < s->size; i++) {
            tamis_number *p;
            TMI_TRY(tmi_number_copy(&p, s->exact, err));
            TMI_TRY(tmi_sum_take(&law->pi[s->units[i]], p, err));
        }
    }
done:
    return status;
}

tamis_status tamis_law_given(tamis_law **law, int64_t population, const int64_t *units, const size_t *sizes,
                             const tamis_number *const *probabilities, size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_law *l = NULL;
    size_t at = 0;
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    *law = NULL;
    if (population < 1 || population > TAMIS_LAW_UNITS)
        return tmi_fail(err, TAMIS_INVALID, "population: must be from 1 to %d to list samples", TAMIS_LAW_UNITS);
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: at least one sample is needed");
    if (!sizes) return tmi_fail(err, TAMIS_INVALID, "sizes: NULL");
    if (!probabilities) return tmi_fail(err, TAMIS_INVALID, "probabilities: NULL");
    TMI_TRY(tmi_sample_law_alloc(&l, population, err));
    for (size_t j = 0; j < count; j++) {
        if (!units && sizes[j] > 0) TMI_TRY(tmi_fail(err, TAMIS_INVALID, "units: NULL"));
        TMI_TRY(take_given(l, units + at, sizes[j], probabilities[j], j, err));
        at += sizes[j];
    }
    qsort(l->samples, l->count, sizeof *l->samples, compare_samples);
    for (size_t j = 1; j < l->count; j++)
        if (compare_samples(&l->samples[j - 1], &l->samples[j]) == 0)
            TMI_TRY(tmi_fail(err, TAMIS_INVALID, "samples: duplicate sample"));
    TMI_TRY(check_sum(l, err));
    TMI_TRY(finish(l, err));
    TMI_TRY(add_up_pi(l, err));
    *law = l;
    l = NULL;
done:
    tamis_law_free(l);
    return status;
}

/* ---- asking ---- */

int64_t tamis_law_population(const tamis_law *law) { return law ? law->population : 0; }

size_t tamis_law_count(const tamis_law *law) { return law ? law->count : 0; }

size_t tamis_law_sample(const uint8_t **units, const tamis_law *law, size_t j)
{
    *units = law->samples[j].units;
    return law->samples[j].size;
}

const tamis_number *tamis_law_exact(const tamis_law *law, size_t j) { return law->samples[j].exact; }

const tamis_number *tmi_sample_law_pi(const tamis_law *law, size_t unit) { return law->pi[unit]; }

void tmi_sample_law_ball(tmi_ball *p, const tamis_law *law, size_t j, long bits) { sample_ball(p, &law->samples[j], bits); }

tamis_bound tamis_law_probability(const tamis_law *law, size_t j)
{
    tmi_ball p;
    tmi_ball_init(&p);
    tmi_sample_law_ball(&p, law, j, TMI_SAMPLE_LAW_BITS);
    tamis_bound bound = tmi_ball_bound(&p);
    tmi_ball_clear(&p);
    return (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)};
}

void tmi_sample_law_set_ball(tmi_ball *p, const tamis_law *law, uint32_t set, long bits)
{
    tmi_ball term;
    tmi_ball_init(&term);
    tmi_ball_set_int(p, 0);
    for (size_t j = 0; j < law->count; j++) {
        uint32_t units = 0;
        for (size_t i = 0; i < law->samples[j].size; i++) units |= UINT32_C(1) << law->samples[j].units[i];
        if ((units & set) != set) continue;
        tmi_sample_law_ball(&term, law, j, bits);
        tmi_ball_add(p, p, &term, bits);
    }
    tmi_ball_clear(&term);
}

tamis_status tamis_law_inclusion(tamis_bound *p, const tamis_law *law, const int64_t *units, size_t count, tamis_error *err)
{
    uint32_t set = 0;
    tmi_ball ball;
    if (!p) return tmi_fail(err, TAMIS_INVALID, "p: NULL");
    *p = (tamis_bound){0, 1};
    if (!law) return tmi_fail(err, TAMIS_INVALID, "law: NULL");
    if (!units && count > 0) return tmi_fail(err, TAMIS_INVALID, "units: NULL");
    for (size_t i = 0; i < count; i++) {
        if (units[i] < 0 || units[i] >= law->population)
            return tmi_fail(err, TAMIS_INVALID, "units: number %zu is not a unit of the frame", i);
        set |= UINT32_C(1) << units[i];
    }
    tmi_ball_init(&ball);
    tmi_sample_law_set_ball(&ball, law, set, TMI_SAMPLE_LAW_BITS);
    *p = tmi_ball_bound(&ball);
    *p = (tamis_bound){fmax(p->lower, 0), fmin(p->upper, 1)};
    tmi_ball_clear(&ball);
    return TAMIS_OK;
}
