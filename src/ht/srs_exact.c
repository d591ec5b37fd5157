/* The total without noise, in rational numbers. The most revealing sets of results are those up to some z, or from some z on, so
 *
 *     e^eps = max over totals t, orders and z of (P(Y <= z) - delta) / Q(Y <= z),
 *
 * infinite if Q is 0 where P exceeds delta. delta of a window falls to a rational limit and stays there: a search in enclosures
 * cannot tell a target at that limit from one below it.                                                              */
#include <math.h>

#include "base/memory.h"
#include "ht/srs.h"

/* Masses of all totals together: a few seconds at most, and numbers of some hundred digits. */
#define MOST_MASSES 20000
#define MOST_PEOPLE 1000

bool tmi_ht_is_small(const tamis_ht_srs *s)
{
    return s->population <= MOST_PEOPLE && (s->high - s->low + 1) * (s->sample + 1) <= MOST_MASSES;
}

static void clear(tamis_number **list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) tamis_number_free(list[i]);
    tmi_free(list);
}

/* P(Y_t = z) for z = 0 .. n, new, from the ratios of neighbouring masses. */
static tamis_status masses(tamis_number ***made, const tamis_ht_srs *s, int64_t t, tamis_error *err)
{
    const int64_t N = s->population, n = s->sample, first = n - (N - t) > 0 ? n - (N - t) : 0;
    const size_t count = (size_t)n + 1;
    tamis_status status = TAMIS_OK;
    tamis_number **p = tmi_alloc(count, sizeof *p), *sum = NULL, *ratio = NULL, *next = NULL;
    if (!p) TMI_TRY(tmi_fail_memory(err));
    TMI_TRY(tmi_number_ratio(&sum, 0, 1, err));
    for (int64_t z = 0; z <= n; z++) {
        if (z <= first || z > t) TMI_TRY(tmi_number_ratio(&p[z], z == first, 1, err));
        else {
            TMI_TRY(tmi_number_ratio(&ratio, (t - z + 1) * (n - z + 1), z * (N - t - n + z), err));
            TMI_TRY(tmi_number_mul(&p[z], p[z - 1], ratio, err));
        }
        TMI_TRY(tmi_number_add(&next, sum, p[z], err));
        tmi_number_frees(&ratio, &sum, NULL);
        sum = next;
        next = NULL;
    }
    for (size_t z = 0; z < count; z++) {
        TMI_TRY(tmi_number_div(&next, p[z], sum, err));
        tamis_number_free(p[z]);
        p[z] = next;
        next = NULL;
    }
    *made = p;
    p = NULL;
done:
    tmi_number_frees(&sum, &ratio, NULL);
    clear(p, count);
    return status;
}

/* Raises *factor by the sets of the first results of p against q, taken from the back if `mirror`. */
static tamis_status raise(tamis_number **factor, bool *infinite, tamis_number *const *p, tamis_number *const *q, size_t count,
                          bool mirror, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *rest = NULL, *other = NULL, *next = NULL, *ratio = NULL;
    TMI_TRY(tmi_number_ratio(&other, 0, 1, err));
    TMI_TRY(tmi_number_sub(&rest, other, delta, err)); /* P - delta */
    for (size_t i = 0; i < count; i++) {
        const size_t z = mirror ? count - 1 - i : i;
        TMI_TRY(tmi_number_add(&next, rest, p[z], err));
        tamis_number_free(rest);
        rest = next;
        next = NULL;
        TMI_TRY(tmi_number_add(&next, other, q[z], err));
        tamis_number_free(other);
        other = next;
        next = NULL;
        if (tmi_number_sign(rest) <= 0) continue;
        *infinite = *infinite || tmi_number_sign(other) == 0;
        if (tmi_number_sign(other) == 0) continue;
        TMI_TRY(tmi_number_div(&ratio, rest, other, err));
        if (tmi_number_compare(ratio, *factor) > 0) {
            tamis_number_free(*factor);
            *factor = ratio;
        } else {
            tamis_number_free(ratio);
        }
        ratio = NULL;
    }
done:
    tmi_number_frees(&rest, &other, &next, &ratio, NULL);
    return status;
}

static tamis_status logarithm(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    (void)err;
    tmi_ball_set_number(value, context, bits);
    tmi_ball_log(value, value, bits);
    return TAMIS_OK;
}

tamis_status tmi_ht_exact_epsilon(tamis_bound *eps, const tamis_ht_srs *s, const tamis_number *delta, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number **p = NULL, **q = NULL, *factor = NULL;
    const size_t count = (size_t)s->sample + 1;
    bool infinite = false;
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(tmi_number_ratio(&factor, 1, 1, err));
    TMI_TRY(masses(&p, s, s->low, err));
    for (int64_t t = s->low; t < s->high && !infinite; t++) {
        TMI_TRY(masses(&q, s, t + 1, err));
        TMI_TRY(raise(&factor, &infinite, p, q, count, false, delta, err)); /* t ones give fewer ones than t + 1 */
        TMI_TRY(raise(&factor, &infinite, q, p, count, true, delta, err));
        clear(p, count);
        p = q;
        q = NULL;
    }
    if (infinite) *eps = (tamis_bound){INFINITY, INFINITY};
    else if (tmi_number_compare_int(factor, 1) == 0) *eps = (tamis_bound){0, 0};
    else TMI_TRY(tmi_certify(eps, TAMIS_WIDTH, logarithm, factor, err));
done:
    clear(p, count);
    clear(q, count);
    tamis_number_free(factor);
    return status;
}
