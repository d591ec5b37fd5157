/* Atoms: gathering, sorting, uniting, and from a formula in balls to the number that is published. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "ht/pair.h"

/* Steps between the first and the last point, so that places and their differences fit doubles. */
#define MAX_STEPS (INT64_C(1) << 40)

bool tmi_noise_is_discrete(tamis_noise_kind noise)
{
    return noise == TAMIS_NOISE_DISCRETE_LAPLACE || noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
}

tamis_status tmi_check_noise(tamis_noise_kind noise, const tamis_number *step, tamis_error *err)
{
    if (noise < TAMIS_NOISE_NONE || noise > TAMIS_NOISE_DISCRETE_GAUSSIAN)
        return tmi_fail(err, TAMIS_INVALID, "noise: not a kind of noise");
    if (tmi_noise_is_discrete(noise) && !step)
        return tmi_fail(err, TAMIS_INVALID, "step: discrete noise needs the distance between its grid points");
    if (!tmi_noise_is_discrete(noise) && step) return tmi_fail(err, TAMIS_INVALID, "step: the noise is not discrete");
    if (step && tmi_number_sign(step) <= 0) return tmi_fail(err, TAMIS_INVALID, "step: must be positive");
    return TAMIS_OK;
}

tamis_status tmi_check_noise_scale(tamis_noise_kind noise, const tamis_number *scale, tamis_error *err)
{
    if (noise != TAMIS_NOISE_NONE && !scale) return tmi_fail(err, TAMIS_INVALID, "scale: NULL");
    if (noise == TAMIS_NOISE_NONE && scale) return tmi_fail(err, TAMIS_INVALID, "scale: not used without noise");
    if (scale && tmi_number_sign(scale) <= 0) return tmi_fail(err, TAMIS_INVALID, "scale: must be positive");
    return TAMIS_OK;
}

/* ---- gathering ---- */

tamis_status tmi_atoms_start(tmi_atoms *atoms, size_t room, bool exact, tamis_error *err)
{
    *atoms = (tmi_atoms){.list = tmi_alloc(room, sizeof *atoms->list), .room = room, .exact = exact};
    return atoms->list ? TAMIS_OK : tmi_fail_memory(err);
}

static void atom_clear(tmi_atom *atom)
{
    tmi_number_frees(&atom->at, &atom->here, &atom->there, NULL);
    tmi_ball_clears(&atom->here_ball, &atom->there_ball, NULL);
}

tamis_status tmi_atoms_take(tmi_atoms *atoms, tamis_number *at, const tamis_number *p, const tmi_ball *ball, bool prime,
                            tamis_error *err)
{
    tmi_atom *atom = &atoms->list[atoms->count];
    tamis_status status = TAMIS_OK;
    *atom = (tmi_atom){.at = at};
    tmi_ball_inits(&atom->here_ball, &atom->there_ball, NULL);
    atoms->count++;
    if (atoms->exact) {
        TMI_TRY(tmi_number_copy(prime ? &atom->there : &atom->here, p, err));
        TMI_TRY(tmi_number_ratio(prime ? &atom->here : &atom->there, 0, 1, err));
    } else {
        tmi_ball_set(prime ? &atom->there_ball : &atom->here_ball, ball);
    }
done:
    return status;
}

void tmi_atoms_clear(tmi_atoms *atoms)
{
    for (size_t j = 0; atoms->list && j < atoms->count; j++) atom_clear(&atoms->list[j]);
    tmi_free(atoms->list);
    tmi_number_frees(&atoms->scale, &atoms->variance, NULL);
    *atoms = (tmi_atoms){0};
}

/* *sum += term */
static tamis_status add_to(tamis_number **sum, const tamis_number *term, tamis_error *err)
{
    tamis_number *z = NULL;
    if (tmi_number_sign(term) == 0) return TAMIS_OK;
    tamis_status status = tmi_number_add(&z, *sum, term, err);
    if (status != TAMIS_OK) return status;
    tamis_number_free(*sum);
    *sum = z;
    return TAMIS_OK;
}

static int by_place(const void *a, const void *b)
{
    return tmi_number_compare(((const tmi_atom *)a)->at, ((const tmi_atom *)b)->at);
}

/* More than the balls of a law have. */
#define SUM_BITS 512

static tamis_status unite(tmi_atom *a, const tmi_atom *b, bool exact, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    if (exact) {
        TMI_TRY(add_to(&a->here, b->here, err));
        TMI_TRY(add_to(&a->there, b->there, err));
    } else {
        tmi_ball_add(&a->here_ball, &a->here_ball, &b->here_ball, SUM_BITS);
        tmi_ball_add(&a->there_ball, &a->there_ball, &b->there_ball, SUM_BITS);
    }
done:
    return status;
}

static tamis_status merge(tmi_atoms *atoms, tamis_error *err)
{
    size_t kept = 0, j;
    tamis_status status = TAMIS_OK;
    qsort(atoms->list, atoms->count, sizeof *atoms->list, by_place);
    for (j = 1; j < atoms->count && status == TAMIS_OK; j++) {
        tmi_atom *last = &atoms->list[kept], *next = &atoms->list[j];
        if (tmi_number_compare(last->at, next->at) == 0) {
            status = unite(last, next, atoms->exact, err);
            atom_clear(next);
        } else {
            atoms->list[++kept] = *next;
        }
    }
    for (; j < atoms->count; j++) atom_clear(&atoms->list[j]);
    atoms->count = kept + 1;
    return status;
}

static tamis_status find_places(tmi_atoms *atoms, const tamis_number *step, tamis_error *err)
{
    for (size_t j = 0; j < atoms->count; j++) {
        tamis_number *gap = NULL, *steps = NULL;
        tamis_status status = tmi_number_sub(&gap, atoms->list[j].at, atoms->list[0].at, err);
        if (status == TAMIS_OK) status = tmi_number_div(&steps, gap, step, err);
        if (status == TAMIS_OK && !tmi_number_is_integer(steps))
            status = tmi_fail(err, TAMIS_INVALID, "step: not every weighted value is a multiple of it");
        if (status == TAMIS_OK && (!tmi_number_floor(&atoms->list[j].place, steps) || atoms->list[j].place > MAX_STEPS))
            status = tmi_fail(err, TAMIS_UNABLE, "step: the totals are more than 2^40 steps apart");
        tmi_number_frees(&gap, &steps, NULL);
        if (status != TAMIS_OK) return status;
    }
    return TAMIS_OK;
}

tamis_status tmi_atoms_finish(tmi_atoms *atoms, tamis_noise_kind noise, const tamis_number *scale, const tamis_number *step,
                              tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    atoms->noise = noise;
    TMI_TRY(merge(atoms, err));
    if (tmi_noise_is_discrete(noise)) {
        TMI_TRY(find_places(atoms, step, err));
        TMI_TRY(tmi_number_mul(&atoms->scale, scale, step, err));
        TMI_TRY(tmi_number_mul(&atoms->variance, scale, scale, err));
    } else if (scale) {
        TMI_TRY(tmi_number_copy(&atoms->scale, scale, err));
    }
done:
    return status;
}

/* ---- asking ---- */

void tmi_atoms_mass(tmi_ball *p, const tmi_atoms *atoms, size_t j, bool prime, long bits)
{
    const tmi_atom *atom = &atoms->list[j];
    bool there = prime != atoms->swapped;
    if (atoms->exact) tmi_ball_set_number(p, there ? atom->there : atom->here, bits);
    else tmi_ball_set(p, there ? &atom->there_ball : &atom->here_ball);
}

bool tmi_atoms_never(const tmi_atoms *atoms, size_t j, bool prime)
{
    const tmi_atom *atom = &atoms->list[j];
    bool there = prime != atoms->swapped;
    if (atoms->exact) return tmi_number_sign(there ? atom->there : atom->here) == 0;
    return tmi_ball_is_zero(there ? &atom->there_ball : &atom->here_ball);
}

void tmi_atoms_gap(tmi_ball *a, const tmi_atoms *atoms, size_t j, long bits)
{
    tmi_ball x, E;
    bool plain = tmi_number_sign(atoms->eps) == 0;
    if (plain && atoms->exact && tmi_number_compare(atoms->list[j].here, atoms->list[j].there) == 0) {
        tmi_ball_set_int(a, 0);
        return;
    }
    tmi_ball_inits(&x, &E, NULL);
    tmi_ball_set_number(&E, atoms->eps, bits);
    tmi_ball_exp(&E, &E, bits);
    tmi_atoms_mass(a, atoms, j, false, bits);
    tmi_atoms_mass(&x, atoms, j, true, bits);
    if (!plain) tmi_ball_mul(&x, &x, &E, bits);
    tmi_ball_sub(a, a, &x, bits);
    tmi_ball_clears(&x, &E, NULL);
}

void tmi_add_positive(tmi_ball *sum, const tmi_ball *x, long bits)
{
    tmi_ball y;
    tmi_ball_init(&y);
    tmi_ball_set_int(&y, 0);
    tmi_ball_max(&y, &y, x, bits);
    tmi_ball_add(sum, sum, &y, bits);
    tmi_ball_clear(&y);
}

void tmi_settle(tmi_ball *x, tmi_ball *doubt, long bits)
{
    tmi_ball y;
    if (tmi_ball_is_positive(x) || tmi_ball_is_negative(x)) return;
    tmi_ball_init(&y);
    tmi_ball_neg(&y, x);
    tmi_ball_union(&y, x, &y, bits);
    tmi_ball_add(doubt, doubt, &y, bits);
    tmi_ball_set_int(x, 0);
    tmi_ball_clear(&y);
}

tamis_bound tmi_bound_times(tamis_bound x, const tamis_number *p)
{
    tmi_ball z, y;
    tmi_ball_inits(&z, &y, NULL);
    tmi_ball_set_number(&y, p, TMI_BITS_FIRST);
    tmi_ball_set_double(&z, x.lower);
    tmi_ball_mul(&z, &z, &y, TMI_BITS_FIRST);
    x.lower = tmi_ball_bound(&z).lower;
    tmi_ball_set_double(&z, x.upper);
    tmi_ball_mul(&z, &z, &y, TMI_BITS_FIRST);
    x.upper = tmi_ball_bound(&z).upper;
    tmi_ball_clears(&z, &y, NULL);
    return x;
}

/* ---- publishing ---- */

/* Balls of a law have 256 bits: what they do not decide is below this, and more bits do not help. */
#define NEGLIGIBLE 1e-60
#define BALL_BITS 512

static tamis_status certify_balls(tamis_bound *bound, tmi_formula *formula, const tmi_atoms *atoms, tamis_error *err)
{
    tmi_ball value;
    tamis_status status = TAMIS_OK;
    tmi_ball_init(&value);
    for (long bits = TMI_BITS_FIRST; bits <= BALL_BITS; bits *= 2) {
        TMI_TRY(formula(&value, atoms, bits, err));
        *bound = tmi_ball_bound(&value);
        double gap = bound->upper - bound->lower;
        if (gap <= TAMIS_WIDTH * bound->upper || gap <= NEGLIGIBLE) goto done;
    }
    status = tmi_fail(err, TAMIS_UNABLE, "the probabilities of this design are not known closely enough");
done:
    tmi_ball_clear(&value);
    return status;
}

static tamis_status certify(tamis_bound *bound, double most, tmi_formula *formula, const tmi_atoms *atoms, tamis_error *err)
{
    tamis_bound value = {0, most};
    tamis_status status = atoms->exact ? tmi_certify(&value, TAMIS_WIDTH, formula, atoms, err)
                                       : certify_balls(&value, formula, atoms, err);
    *bound = status == TAMIS_OK ? (tamis_bound){fmax(value.lower, 0), fmin(value.upper, most)} : (tamis_bound){0, most};
    return status;
}

static tmi_formula *const deltas[] = {tmi_atoms_delta_none, tmi_atoms_delta_laplace, tmi_atoms_delta_gaussian,
                                      tmi_atoms_delta_discrete_laplace, tmi_atoms_delta_discrete_gaussian};

tamis_status tmi_atoms_delta(tamis_bound *delta, const tmi_atoms *atoms, tamis_error *err)
{
    tamis_status status = certify(delta, 1, deltas[atoms->noise], atoms, err);
    if (status == TAMIS_UNABLE && atoms->noise != TAMIS_NOISE_NONE) { /* noise never makes delta larger */
        if (certify(delta, 1, tmi_atoms_delta_none, atoms, NULL) == TAMIS_OK) delta->lower = 0;
    }
    return status;
}

tamis_status tmi_atoms_delta_quick(tamis_bound *delta, const tmi_atoms *atoms, tamis_error *err)
{
    tmi_ball value;
    tmi_ball_init(&value);
    tamis_status status = deltas[atoms->noise](&value, atoms, 64, err);
    tamis_bound bound = tmi_ball_bound(&value);
    *delta = status == TAMIS_OK ? (tamis_bound){fmax(bound.lower, 0), fmin(bound.upper, 1)} : (tamis_bound){0, 1};
    tmi_ball_clear(&value);
    return status;
}

/* True if the ratio of the masses at the first or at the last point is as large as at any other: exactly. */
static tamis_status ends_rule(bool *rule, const tmi_atoms *atoms, tamis_error *err)
{
    size_t best = 0, last = atoms->count - 1;
    tamis_number *x = NULL, *y = NULL;
    tamis_status status = TAMIS_OK;
    *rule = false;
    for (size_t i = 1; i < atoms->count + 2; i++) { /* then once more against each end */
        size_t j = i <= last ? i : i == last + 1 ? 0 : last;
        const tmi_atom *a = &atoms->list[j], *b = &atoms->list[best];
        const tamis_number *aq = atoms->swapped ? a->here : a->there, *bq = atoms->swapped ? b->here : b->there;
        if (tmi_number_sign(aq) == 0) goto done;
        TMI_TRY(tmi_number_mul(&x, atoms->swapped ? a->there : a->here, bq, err));
        TMI_TRY(tmi_number_mul(&y, atoms->swapped ? b->there : b->here, aq, err));
        if (i > last && tmi_number_compare(x, y) == 0) *rule = true;
        if (i <= last && tmi_number_compare(x, y) > 0) best = j;
        tmi_number_frees(&x, &y, NULL);
        x = y = NULL;
    }
done:
    tmi_number_frees(&x, &y, NULL);
    return status;
}

/* Far out only the extreme points matter with Gaussian noise; without noise each point does; Laplace noise is never
 * infinitely telling. */
tamis_status tmi_atoms_pure(tamis_bound *eps, const tmi_atoms *atoms, tamis_error *err)
{
    static tmi_formula *const formulas[] = {tmi_atoms_pure_none, tmi_atoms_pure_laplace, tmi_atoms_pure_gaussian,
                                            tmi_atoms_pure_laplace, tmi_atoms_pure_gaussian};
    bool gaussian = atoms->noise == TAMIS_NOISE_GAUSSIAN || atoms->noise == TAMIS_NOISE_DISCRETE_GAUSSIAN;
    bool rule = false;
    for (size_t j = 0; j < atoms->count; j++) {
        if (!tmi_atoms_never(atoms, j, true)) continue;
        if (atoms->noise != TAMIS_NOISE_NONE && !(gaussian && (j == 0 || j == atoms->count - 1))) continue;
        *eps = (tamis_bound){INFINITY, INFINITY};
        return TAMIS_OK;
    }
    if (gaussian && atoms->exact) { /* noise never makes eps larger, and at the ends it leaves the ratio as it is */
        tamis_status status = ends_rule(&rule, atoms, err);
        if (status != TAMIS_OK) {
            *eps = (tamis_bound){0, INFINITY};
            return status;
        }
    }
    return certify(eps, INFINITY, rule ? tmi_atoms_pure_none : formulas[atoms->noise], atoms, err);
}
