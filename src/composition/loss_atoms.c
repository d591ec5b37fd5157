#include "composition/loss_atoms.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "num/law/law.h"

void tmi_loss_atoms_init(tmi_loss_atoms *list)
{
    *list = (tmi_loss_atoms){0};
    tmi_ball_init(&list->outside);
}

static void free_terms(tmi_loss_atom *terms, size_t count)
{
    for (size_t i = 0; terms && i < count; i++) tmi_ball_clear(&terms[i].weight);
    tmi_free(terms);
}

void tmi_loss_atoms_clear(tmi_loss_atoms *list)
{
    free_terms(list->terms, list->count);
    tmi_ball_clear(&list->outside);
    tmi_loss_atoms_init(list);
}

static tamis_status too_many(tamis_error *err) { return tmi_fail(err, TAMIS_UNABLE, "the exact sum would have too many terms"); }

/* Room for `count` terms of weight 0. */
static tamis_status make_room(tmi_loss_atoms *list, size_t count, tamis_error *err)
{
    tmi_loss_atoms_clear(list);
    if (!(list->terms = tmi_alloc(count, sizeof *list->terms))) return tmi_fail_memory(err);
    list->count = count;
    for (size_t i = 0; i < count; i++) tmi_ball_init(&list->terms[i].weight);
    return TAMIS_OK;
}

tamis_status tmi_loss_atoms_one(tmi_loss_atoms *list, tamis_error *err)
{
    tamis_status status = make_room(list, 1, err);
    if (status == TAMIS_OK) tmi_ball_set_int(&list->terms[0].weight, 1);
    return status;
}

/* ---- the unit ---- */

/* The step between the atoms of a loss, halved where they lie between its multiples: a, 1/scale, D/(2 scale^2). */
tamis_status tmi_loss_atoms_step(tamis_number **step, const tmi_loss *loss, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *x = NULL, *two = NULL, *doubled = NULL;
    switch (loss->kind) {
    case TMI_LOSS_CLAIM:
    case TMI_LOSS_LAPLACE: return tmi_number_copy(step, loss->a, err);
    case TMI_LOSS_DISCRETE_LAPLACE:
        TMI_TRY(tmi_number_ratio(&x, 1, 1, err));
        TMI_TRY(tmi_number_div(step, x, loss->a, err));
        break;
    case TMI_LOSS_DISCRETE_GAUSSIAN:
        TMI_TRY(tmi_number_ratio(&x, loss->step, 1, err));
        TMI_TRY(tmi_number_ratio(&two, 2, 1, err));
        TMI_TRY(tmi_number_mul(&doubled, loss->a, two, err));
        TMI_TRY(tmi_number_div(step, x, doubled, err));
        break;
    default: return tmi_fail(err, TAMIS_UNABLE, "a release whose losses are not atoms");
    }
done:
    tamis_number_free(x);
    tamis_number_free(two);
    tamis_number_free(doubled);
    return status;
}

/* Units in a step. */
static tamis_status units_of(int64_t *units, const tmi_loss *loss, const tamis_number *unit, tamis_error *err)
{
    tamis_number *step = NULL, *ratio = NULL;
    tamis_status status = TAMIS_OK;
    TMI_TRY(tmi_loss_atoms_step(&step, loss, err));
    TMI_TRY(tmi_number_div(&ratio, step, unit, err));
    if (!tmi_number_floor(units, ratio)) status = too_many(err);
done:
    tamis_number_free(step);
    tamis_number_free(ratio);
    return status;
}

static bool is_silent(const tmi_loss *loss) { return loss->kind == TMI_LOSS_CLAIM && tmi_number_sign(loss->a) == 0; }

tamis_status tmi_loss_atoms_unit(tamis_number **unit, const tamis_profile *profile, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *sum = NULL, *step = NULL, *next = NULL;
    double reach = 0;
    *unit = NULL;
    for (size_t i = 0; i < profile->count; i++) {
        if (is_silent(profile->factors[i].loss)) continue;
        TMI_TRY(tmi_loss_atoms_step(&step, profile->factors[i].loss, err));
        if (sum) TMI_TRY(tmi_number_gcd(&next, sum, step, err));
        else TMI_TRY(tmi_number_copy(&next, step, err));
        tamis_number_free(sum);
        tamis_number_free(step);
        sum = next;
        step = next = NULL;
    }
    if (!sum) TMI_TRY(tmi_number_ratio(&sum, 1, 1, err));
    for (size_t i = 0; i < profile->count; i++) {
        const tmi_profile_factor *f = &profile->factors[i];
        int64_t units = 0;
        if (is_silent(f->loss)) continue;
        TMI_TRY(units_of(&units, f->loss, sum, err));
        /* 2^22 is more than the points of any law that is stored */
        reach += (double)units * (double)f->times * ((double)f->loss->step + 1) *
                 (f->loss->kind == TMI_LOSS_DISCRETE_GAUSSIAN ? 0x1p22 : 1);
    }
    if (reach > 0x1p60) {
        status = too_many(err);
        goto done;
    }
    *unit = sum;
    sum = NULL;
done:
    tamis_number_free(sum);
    tamis_number_free(step);
    return status;
}

/* ---- one release ---- */

/* C(n, j) e^(-a j), j = 0 ... n, at the places (n - 2j) units; over (1 + e^-a)^n for randomized response. */
static tamis_status binomial(tmi_loss_atoms *list, const tmi_profile_factor *f, int64_t units, long bits, tamis_error *err)
{
    if (f->times >= TMI_TERMS_MOST) return too_many(err);
    tamis_status status = make_room(list, (size_t)f->times + 1, err);
    if (status != TAMIS_OK) return status;
    bool laplace = f->loss->kind == TMI_LOSS_LAPLACE;
    tmi_ball ratio, x;
    tmi_ball_inits(&ratio, &x, NULL);
    tmi_ball_set_number(&ratio, f->loss->a, bits);
    tmi_ball_neg(&ratio, &ratio);
    tmi_ball_exp(&ratio, &ratio, bits);
    tmi_ball_set_int(&x, 0);
    if (!laplace) {
        tmi_ball_log1p(&x, &ratio, bits);
        tmi_ball_mul_int(&x, &x, -f->times, bits);
    }
    tmi_ball_exp(&x, &x, bits);
    for (int64_t j = 0; j <= f->times; j++) { /* the list is sorted by power, then place */
        tmi_loss_atom *t = &list->terms[laplace ? j : f->times - j];
        t->place = (f->times - 2 * j) * units;
        t->power = laplace ? j : 0;
        tmi_ball_set(&t->weight, &x);
        tmi_ball_mul(&x, &x, &ratio, bits);
        tmi_ball_mul_int(&x, &x, f->times - j, bits);
        tmi_ball_div_int(&x, &x, j + 1, bits);
    }
    tmi_ball_clears(&ratio, &x, NULL);
    return TAMIS_OK;
}

/* The steps down from the largest loss that one answer with discrete Laplace noise takes: 0 and D with the two tails,
 * between them one point each. */
static tamis_status laplace_law(tmi_law *law, const tmi_loss *loss, long bits, tamis_error *err)
{
    if (loss->step >= TMI_TERMS_MOST) {
        tmi_law_init(law);
        return too_many(err);
    }
    tamis_status status = tmi_law_new(law, 0, (size_t)loss->step + 1, err);
    if (status != TAMIS_OK) return status;
    tmi_ball p, x, norm;
    tmi_ball_inits(&p, &x, &norm, NULL);
    tmi_ball_set_number(&x, loss->a, bits);
    tmi_ball_set_int(&p, -1);
    tmi_ball_div(&p, &p, &x, bits);
    tmi_ball_expm1(&norm, &p, bits);
    tmi_ball_neg(&norm, &norm); /* 1 - p */
    tmi_ball_exp(&p, &p, bits);
    tmi_ball_add_int(&x, &p, 1, bits);
    tmi_ball_set_int(&law->mass[0], 1);
    tmi_ball_div(&law->mass[0], &law->mass[0], &x, bits); /* 1/(1+p) */
    tmi_ball_set(&x, &law->mass[0]);
    for (int64_t k = 1; k <= loss->step; k++) {
        tmi_ball_mul(&x, &x, &p, bits);
        if (k < loss->step) tmi_ball_mul(&law->mass[k], &x, &norm, bits);
        else tmi_ball_set(&law->mass[k], &x);
    }
    tmi_ball_clears(&p, &x, &norm, NULL);
    return TAMIS_OK;
}

/* law becomes the law of the sum of n. */
static tamis_status power(tmi_law *law, int64_t n, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_law sum, next;
    tmi_law_init(&next);
    if ((double)law->count * (double)n > TMI_TERMS_MOST) return too_many(err);
    if ((status = tmi_law_point(&sum, 0, err)) != TAMIS_OK) return status;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1) {
            TMI_TRY(tmi_law_convolve(&next, &sum, law, bits, err));
            tmi_law_clear(&sum);
            sum = next;
            tmi_law_init(&next);
        }
        if (n == 1) break;
        TMI_TRY(tmi_law_convolve(&next, law, law, bits, err));
        tmi_law_clear(law);
        *law = next;
        tmi_law_init(&next);
    }
    tmi_law_clear(law);
    *law = sum;
    tmi_law_init(&sum);
done:
    tmi_law_clear(&sum);
    tmi_law_clear(&next);
    return status;
}

/* An answer of discrete noise at k, or a sum of n of them, has the loss (nD - 2k) units. */
static tamis_status discrete(tmi_loss_atoms *list, const tmi_profile_factor *f, int64_t units, long bits, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_law law;
    tmi_window window = {ldexp(1, bits < 200 ? -200 : bits > 1020 ? -1020 : -(int)bits), bits};
    if (f->loss->kind == TMI_LOSS_DISCRETE_LAPLACE) status = laplace_law(&law, f->loss, window.bits, err);
    else status = tmi_law_discrete_gaussian(&law, f->loss->a, window, err);
    if (status != TAMIS_OK) goto done;
    TMI_TRY(power(&law, f->times, window.bits, err));
    TMI_TRY(make_room(list, law.count, err));
    for (size_t i = 0; i < law.count; i++) {
        tmi_loss_atom *t = &list->terms[law.count - 1 - i];
        t->place = (f->times * f->loss->step - 2 * (law.first + (int64_t)i)) * units;
        tmi_ball_set(&t->weight, &law.mass[i]);
    }
    tmi_ball_add(&list->outside, &law.below, &law.above, window.bits);
done:
    tmi_law_clear(&law);
    return status;
}

tamis_status tmi_loss_atoms_of(tmi_loss_atoms *list, const tmi_profile_factor *factor, const tamis_number *unit, long bits,
                               tamis_error *err)
{
    int64_t units;
    if (is_silent(factor->loss)) return tmi_loss_atoms_one(list, err);
    tamis_status status = units_of(&units, factor->loss, unit, err);
    if (status != TAMIS_OK) return status;
    return factor->loss->kind == TMI_LOSS_CLAIM || factor->loss->kind == TMI_LOSS_LAPLACE
               ? binomial(list, factor, units, bits, err)
               : discrete(list, factor, units, bits, err);
}

/* ---- products ---- */

static int in_order(const void *x, const void *y)
{
    const tmi_loss_atom *a = x, *b = y;
    if (a->power != b->power) return a->power < b->power ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

tamis_status tmi_loss_atoms_multiply(tmi_loss_atoms *list, const tmi_loss_atoms *by, long bits, tamis_error *err)
{
    tmi_loss_atoms product;
    size_t kept = 0;
    if (list->count * by->count > TMI_TERMS_PRODUCTS) return too_many(err);
    tmi_loss_atoms_init(&product);
    tamis_status status = make_room(&product, list->count * by->count, err);
    if (status != TAMIS_OK) return status;
    tmi_loss_atom *t = product.terms;
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < by->count; k++, t++) {
            t->place = list->terms[i].place + by->terms[k].place;
            t->power = list->terms[i].power + by->terms[k].power;
            tmi_ball_mul(&t->weight, &list->terms[i].weight, &by->terms[k].weight, bits);
        }
    qsort(product.terms, product.count, sizeof *product.terms, in_order); /* balls may be moved */
    for (size_t i = 0; i < product.count; i++) {
        if (kept > 0 && in_order(&product.terms[kept - 1], &product.terms[i]) == 0) {
            tmi_ball_add(&product.terms[kept - 1].weight, &product.terms[kept - 1].weight, &product.terms[i].weight, bits);
            tmi_ball_clear(&product.terms[i].weight);
        } else {
            product.terms[kept++] = product.terms[i];
        }
    }
    product.count = kept;
    tmi_ball_add(&product.outside, &list->outside, &by->outside, bits);
    tmi_loss_atoms_clear(list);
    *list = product;
    return kept > TMI_TERMS_MOST ? too_many(err) : TAMIS_OK;
}
