#include "composition/sums.h"

#include <math.h>

#include "base/memory.h"
#include "composition/loss_atoms.h"
#include "composition/sums_laplace.h"

/* Multiplications in one sum with Laplace releases; a million take about a second. */
#define MOST_WORK 4e6

/* Everything for one precision. */
typedef struct store {
    long bits;
    tmi_loss_atoms a, b;
    tmi_ball *above, *weighted; /* P and Q from each term of b on; one more than b has */
    tmi_ball *discounted;       /* weight e^-loss of each term of a */
    struct store *next;
} store;

typedef struct sums {
    const tamis_profile *profile;
    tamis_number *unit;
    int64_t laplaces;
    store *stores; /* of all precisions that were asked for */
} sums;

static void free_store(store *t)
{
    if (!t) return;
    tmi_balls_free(t->above, t->b.count + 1);
    tmi_balls_free(t->weighted, t->b.count + 1);
    tmi_balls_free(t->discounted, t->a.count);
    tmi_loss_atoms_clear(&t->a);
    tmi_loss_atoms_clear(&t->b);
    tmi_free(t);
}

/* z = weight e^(-place unit) */
static void discount(tmi_ball *z, const tmi_loss_atom *t, const tmi_ball *unit, long bits)
{
    tmi_ball_mul_int(z, unit, -t->place, bits);
    tmi_ball_exp(z, z, bits);
    tmi_ball_mul(z, z, &t->weight, bits);
}

/* Each release goes to the shorter list; with Laplace releases there is only one list. */
static tamis_status build(store **built, const sums *s, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    store *t = tmi_alloc(1, sizeof *t);
    tmi_loss_atoms one;
    tmi_ball unit;
    if (!t) return tmi_fail_memory(err);
    tmi_loss_atoms_init(&t->a);
    tmi_loss_atoms_init(&t->b);
    tmi_loss_atoms_init(&one);
    tmi_ball_init(&unit);
    TMI_TRY(tmi_loss_atoms_one(&t->a, err));
    TMI_TRY(tmi_loss_atoms_one(&t->b, err));
    for (size_t i = 0; i < s->profile->count; i++) {
        TMI_TRY(tmi_loss_atoms_of(&one, &s->profile->factors[i], s->unit, bits, err));
        TMI_TRY(tmi_loss_atoms_multiply(s->laplaces > 0 || t->a.count < t->b.count ? &t->a : &t->b, &one, bits, err));
        if (s->laplaces > 0 && (double)t->a.count * (double)s->laplaces > MOST_WORK) {
            status = tmi_fail(err, TAMIS_UNABLE, "the exact sum would have too many terms");
            goto done;
        }
    }
    t->above = tmi_balls_new(t->b.count + 1);
    t->weighted = tmi_balls_new(t->b.count + 1);
    t->discounted = tmi_balls_new(t->a.count);
    if (!t->above || !t->weighted || !t->discounted) {
        status = tmi_fail_memory(err);
        goto done;
    }
    tmi_ball_set_number(&unit, s->unit, bits);
    for (size_t i = t->b.count; i-- > 0;) {
        discount(&t->weighted[i], &t->b.terms[i], &unit, bits);
        tmi_ball_add(&t->weighted[i], &t->weighted[i], &t->weighted[i + 1], bits);
        tmi_ball_add(&t->above[i], &t->b.terms[i].weight, &t->above[i + 1], bits);
    }
    for (size_t i = 0; i < t->a.count; i++) discount(&t->discounted[i], &t->a.terms[i], &unit, bits);
    t->bits = bits;
    *built = t;
    t = NULL;
done:
    free_store(t);
    tmi_loss_atoms_clear(&one);
    tmi_ball_clear(&unit);
    return status;
}

/* The coefficients of the residues lose about two bits a release. */
static long work_bits(const sums *s, long bits) { return bits + 4 * (s->laplaces < 4096 ? (long)s->laplaces : 4096); }

static tamis_status find_store(const store **found, sums *s, long bits, tamis_error *err)
{
    store *t = s->stores;
    while (t && t->bits != bits) t = t->next;
    if (!t) {
        tamis_status status = build(&t, s, bits, err);
        if (status != TAMIS_OK) return status;
        t->next = s->stores;
        s->stores = t;
    }
    *found = t;
    return TAMIS_OK;
}

/* The last place that is certainly not above eps, and what a term at the next one can be worth if it is not certain
 * whether that lies above eps: such a loss differs from eps by no more than the radius of eps, and (1 - e^(eps - loss))+
 * by no more than that. */
static bool threshold(int64_t *place, tmi_ball *doubt, const sums *s, const tmi_ball *eps, long bits)
{
    tmi_ball unit, x;
    tmi_ball_inits(&unit, &x, NULL);
    tmi_ball_set_number(&unit, s->unit, bits);
    tmi_ball_div(&x, eps, &unit, bits);
    tamis_bound about = tmi_ball_bound(&x);
    bool fits = about.lower >= 0 && about.upper<0x1p62, beyond = about.lower> 0x1p61;
    tmi_ball_set_int(doubt, 0);
    if (beyond) { /* of every term: places stay below 2^60 */
        *place = INT64_C(1) << 61;
        fits = true;
    } else if (fits) {
        int64_t start = (int64_t)(about.lower / 2 + about.upper / 2 + 0.5); /* near it doubles are fine */
        tmi_ball_add_int(&x, &x, -start, bits);
        about = tmi_ball_bound(&x);
        double low = floor(about.lower), high = floor(about.upper);
        fits = high - low < 2;
        if (fits) *place = start + (int64_t)low;
        if (fits && high > low) {
            tmi_ball_set_double(doubt, about.upper - about.lower);
            tmi_ball_mul(doubt, doubt, &unit, bits);
            tmi_ball_expm1(doubt, doubt, bits);
        }
    }
    tmi_ball_clears(&unit, &x, NULL);
    return fits;
}

/* The first term of b above `place`. */
static size_t first_above(const tmi_loss_atoms *b, int64_t place)
{
    size_t lo = 0, hi = b->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->terms[mid].place > place) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

static void atoms(tmi_ball *z, const store *s, int64_t place, const tmi_ball *eps, long bits)
{
    tmi_ball gain, cost, x;
    tmi_ball_inits(&gain, &cost, &x, NULL);
    for (size_t i = 0; i < s->a.count; i++) {
        size_t from = first_above(&s->b, place - s->a.terms[i].place);
        tmi_ball_mul(&x, &s->a.terms[i].weight, &s->above[from], bits);
        tmi_ball_add(&gain, &gain, &x, bits);
        tmi_ball_mul(&x, &s->discounted[i], &s->weighted[from], bits);
        tmi_ball_add(&cost, &cost, &x, bits);
    }
    tmi_ball_exp(&x, eps, bits);
    tmi_ball_mul(&cost, &cost, &x, bits);
    tmi_ball_sub(z, &gain, &cost, bits);
    tmi_ball_clears(&gain, &cost, &x, NULL);
}

static tamis_status delta(tmi_ball *lower, tmi_ball *upper, void *self, const tmi_ball *eps, long bits, tamis_error *err)
{
    sums *s = self;
    tamis_status status = TAMIS_OK;
    int64_t place = 0;
    const store *t;
    tmi_ball doubt, x;
    tmi_ball_inits(&doubt, &x, NULL);
    long work = work_bits(s, bits);
    TMI_TRY(find_store(&t, s, work, err));
    if (!threshold(&place, &doubt, s, eps, work)) {
        tmi_ball_set_unknown(lower);
        tmi_ball_set_unknown(upper);
        goto done;
    }
    if (s->laplaces > 0) {
        TMI_TRY(tmi_sums_laplace(lower, &t->a, s->laplaces, place, !tmi_ball_is_zero(&doubt), s->unit, eps, work, err));
    } else {
        atoms(lower, t, place, eps, work);
        tmi_ball_widen(lower, &doubt);
    }
    tmi_ball_add(&x, &t->a.outside, &t->b.outside, bits);
    tmi_ball_widen(lower, &x);
    tmi_ball_set_int(&x, 0);
    tmi_ball_max(lower, lower, &x, bits);
    tmi_ball_set(upper, lower);
done:
    tmi_ball_clears(&doubt, &x, NULL);
    return status;
}

static void close_sums(void *self)
{
    sums *s = self;
    while (s->stores) {
        store *next = s->stores->next;
        free_store(s->stores);
        s->stores = next;
    }
    tamis_number_free(s->unit);
    tmi_free(s);
}

tamis_status tmi_sums_open(tmi_evaluator *evaluator, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const store *first;
    sums *s = tmi_alloc(1, sizeof *s);
    if (!s) return tmi_fail_memory(err);
    s->profile = profile;
    for (size_t i = 0; i < profile->count; i++)
        if (profile->factors[i].loss->kind == TMI_LOSS_LAPLACE) s->laplaces += profile->factors[i].times;
    TMI_TRY(tmi_loss_atoms_unit(&s->unit, profile, err));
    /* Whether the terms are too many is seen by building them; the bits are those of the first question. */
    TMI_TRY(find_store(&first, s, work_bits(s, 96), err));
    *evaluator = (tmi_evaluator){
        .delta = delta, .free = close_sums, .self = s, .exact = true, .lasting = true, .width = TAMIS_WIDTH};
done:
    if (status != TAMIS_OK) close_sums(s);
    return status;
}
