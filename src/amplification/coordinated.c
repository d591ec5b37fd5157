/* Samples that exclude or follow each other: the bound of <tamis/experimental/amplification.h>. A pattern belongs to the best
 * set B exactly when its odds are above the value, so only the sets with the largest odds need to be tried. */
#include "amplification/coordinated.h"

#include <math.h>
#include <stdlib.h>
#include <tamis/experimental/amplification.h>

#include "base/memory.h"
#include "composition/profile.h"
#include "num/bound.h"

void tmi_coordinated(tmi_ball *value, const tmi_ball *none, const tmi_ball *p, const tmi_ball *odds, size_t count, bool with_rest,
                     long bits)
{
    tmi_ball up, down, x, y;
    tmi_ball_inits(&up, &down, &x, &y, NULL);
    tmi_ball_set(&up, none);
    tmi_ball_set(&down, none);
    for (size_t i = 0; i < count && with_rest; i++) { /* B is empty */
        tmi_ball_add(&up, &up, &p[i], bits);
        tmi_ball_div(&x, &p[i], &odds[i], bits);
        tmi_ball_add(&down, &down, &x, bits);
    }
    tmi_ball_set_int(value, 1);
    if (with_rest) tmi_ball_div(value, &up, &down, bits);
    for (size_t i = 0; i < count; i++) { /* and takes one pattern after the other */
        tmi_ball_mul(&x, &p[i], &odds[i], bits);
        tmi_ball_set(&y, &p[i]);
        if (with_rest) {
            tmi_ball_sub(&x, &x, &p[i], bits);
            tmi_ball_div(&y, &p[i], &odds[i], bits);
            tmi_ball_sub(&y, &p[i], &y, bits);
        }
        tmi_ball_add(&up, &up, &x, bits);
        tmi_ball_add(&down, &down, &y, bits);
        tmi_ball_div(&x, &up, &down, bits);
        tmi_ball_max(value, value, &x, bits);
    }
    tmi_ball_clears(&up, &down, &x, &y, NULL);
}

typedef struct pattern {
    const tamis_number *probability, *loss;
} pattern;

typedef struct patterns {
    pattern *list; /* the largest loss first */
    size_t count;
    tamis_number *none; /* probability of being in no sample */
} patterns;

static int larger_first(const void *x, const void *y)
{
    return -tmi_number_compare(((const pattern *)x)->loss, ((const pattern *)y)->loss);
}

static tamis_status log_of_best(tmi_ball *value, const void *context, long bits, tamis_error *err)
{
    const patterns *p = context;
    tmi_ball none, *balls = tmi_alloc(2 * p->count, sizeof *balls);
    if (!balls) return tmi_fail_memory(err);
    tmi_ball_init(&none);
    tmi_ball_set_number(&none, p->none, bits);
    for (size_t i = 0; i < p->count; i++) {
        tmi_ball_inits(&balls[i], &balls[p->count + i], NULL);
        tmi_ball_set_number(&balls[i], p->list[i].probability, bits);
        tmi_ball_set_number(&balls[p->count + i], p->list[i].loss, bits);
        tmi_ball_exp(&balls[p->count + i], &balls[p->count + i], bits);
    }
    tmi_coordinated(value, &none, balls, balls + p->count, p->count, true, bits);
    tmi_ball_log(value, value, bits);
    for (size_t i = 0; i < 2 * p->count; i++) tmi_ball_clear(&balls[i]);
    tmi_free(balls);
    tmi_ball_clear(&none);
    return TAMIS_OK;
}

static tamis_status read_patterns(patterns *p, const tamis_number *const *probability, const tamis_number *const *loss,
                                  size_t count, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tamis_number *rest = NULL;
    if (count == 0) return tmi_fail(err, TAMIS_INVALID, "count: must be at least 1");
    if (!probability) return tmi_fail(err, TAMIS_INVALID, "probability: NULL");
    if (!loss) return tmi_fail(err, TAMIS_INVALID, "loss: NULL");
    if (!(p->list = tmi_alloc(count, sizeof *p->list))) return tmi_fail_memory(err);
    TMI_TRY(tmi_number_ratio(&p->none, 1, 1, err));
    for (size_t i = 0; i < count; i++) {
        if (!probability[i] || tmi_number_sign(probability[i]) <= 0)
            return tmi_fail(err, TAMIS_INVALID, "probability[%zu]: must be positive", i);
        if (!loss[i] || tmi_check_eps(loss[i], NULL) != TAMIS_OK)
            return tmi_fail(err, TAMIS_INVALID, "loss[%zu]: must be between 0 and %d", i, TAMIS_MAX_LOSS);
        TMI_TRY(tmi_number_sub(&rest, p->none, probability[i], err));
        tamis_number_free(p->none);
        p->none = rest;
        p->list[p->count++] = (pattern){probability[i], loss[i]};
    }
    if (tmi_number_sign(p->none) < 0) return tmi_fail(err, TAMIS_INVALID, "probability: the sum is above 1");
done:
    return status;
}

tamis_status tamis_coordinated_epsilon(tamis_bound *eps, const tamis_number *const *probability, const tamis_number *const *loss,
                                       size_t count, tamis_error *err)
{
    patterns p = {0};
    tamis_bound bound;
    tamis_status status = TAMIS_OK;
    if (!eps) return tmi_fail(err, TAMIS_INVALID, "eps: NULL");
    *eps = (tamis_bound){0, INFINITY};
    TMI_TRY(read_patterns(&p, probability, loss, count, err));
    qsort(p.list, p.count, sizeof *p.list, larger_first);
    if (tmi_number_sign(p.none) == 0) bound = tmi_number_bound(p.list[0].loss);
    else TMI_TRY(tmi_certify(&bound, TAMIS_WIDTH, log_of_best, &p, err));
    *eps = (tamis_bound){fmax(bound.lower, 0), bound.upper};
done:
    tmi_free(p.list);
    tamis_number_free(p.none);
    return status;
}
