#include "schedule/regularised.h"

#include <math.h>

#include "num/exact.h"
#include "inference/adjust.h"

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

/* The least and the largest weight before they were moved. */
static void range_of_weights(double *least, double *most, const tmi_plan_design *d, const tmi_frame_facts *frame)
{
    *least = INFINITY;
    *most = 0;
    for (size_t h = 0; h < d->stratum_count; h++) {
        double low = (double)d->strata[h].population / (double)d->strata[h].sample, high = low;
        if (frame) {
            const tmi_frame_stratum *f = &frame->strata[h];
            low = f->certain > 0 ? 1 : 1 / tmi_number_nearest(f->largest);
            high = 1 / tmi_number_nearest(f->smallest);
        }
        *least = fmin(*least, low);
        *most = fmax(*most, high);
    }
}

void tmi_result_bias(tmi_result *result, const tmi_schedule *s, double width, double denominator)
{
    const tmi_plan_design *d = &s->plan->design;
    double least, most, n = (double)d->sample;
    if (!d->regularise) return;
    range_of_weights(&least, &most, d, tmi_frame_of(s));
    double mean = (double)tmi_drawn_from(d, tmi_frame_of(s)) / n;
    tmi_regularised r = tmi_regularise(1 - tmi_number_nearest(d->regularise), n, least, fmin(fmax(mean, least), most), most, 0, width);
    result->bias = r.bias / denominator;
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = tmi_adjustment_text(TMI_REGULARISED);
}
