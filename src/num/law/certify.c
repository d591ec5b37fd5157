#include "num/law/certify.h"

#include <math.h>

#include "num/ratio.h"

tamis_status tmi_begin_probability(tamis_bound *bound, tamis_error *err)
{
    if (!bound) return tmi_fail(err, TAMIS_INVALID, "bound: NULL");
    *bound = (tamis_bound){0, 1};
    return TAMIS_OK;
}

tamis_status tmi_certify_probability(tamis_bound *bound, tmi_formula *formula, const void *context, tamis_error *err)
{
    tmi_ball value;
    tmi_ball_init(&value);
    tamis_status status = formula(&value, context, TMI_BITS_FAST, err);
    if (status == TAMIS_OK) {
        *bound = tmi_ball_bound(&value);
        double gap = bound->upper - bound->lower;
        if (!(gap <= TAMIS_WIDTH * bound->upper || gap <= 1e-300))
            status = tmi_certify(bound, TAMIS_WIDTH, formula, context, err);
    }
    tmi_ball_clear(&value);
    if (status != TAMIS_OK) *bound = (tamis_bound){0, 1};
    bound->lower = fmax(bound->lower, 0);
    bound->upper = fmin(bound->upper, 1);
    return status;
}

typedef struct question {
    tmi_part_formula *formula;
    const void *law;
    tmi_law_part part;
    int64_t k;
} question;

static tamis_status answer(tmi_ball *z, const void *context, long bits, tamis_error *err)
{
    const question *q = context;
    return q->formula(z, q->law, q->part, q->k, bits, err);
}

tamis_status tmi_certify_part(tamis_bound *bound, tmi_part_formula *formula, const void *law, tmi_law_part part, int64_t k,
                              tamis_error *err)
{
    return tmi_certify_probability(bound, answer, &(question){formula, law, part, k}, err);
}
