#include "measure/regularised.h"

#include "num/exact.h"

int64_t tmi_drawn_from(const tmi_plan_design *d, const tmi_frame_facts *frame)
{
    return frame ? tmi_frame_size(frame) : d->population;
}

double tmi_regularised_weight(const tmi_plan_design *d, int64_t population, double w)
{
    return w + tmi_number_nearest(d->regularise) * ((double)population / (double)d->sample - w);
}

tamis_status tmi_regularised_exact(tamis_number **moved, const tmi_plan_design *d, int64_t population, const tamis_number *w,
                                   tamis_error *err)
{
    tmi_exact e = TMI_EXACT(err);
    tmi_term mean = tmi_div(&e, tmi_int(&e, population), tmi_int(&e, d->sample));
    tamis_status status = tmi_exact_copy(moved, &e, tmi_add(&e, w, tmi_mul(&e, d->regularise, tmi_sub(&e, mean, w))));
    tmi_exact_clear(&e);
    return status;
}
