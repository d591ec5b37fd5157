#include "inference/bias.h"

#include <math.h>

#include "inference/adjust.h"
#include "measure/regularised.h"
#include "num/number.h"

tmi_regularised tmi_regularise(double keep, double n, double smallest, double mean, double largest, double from, double to)
{
    double less = 1 - fmin(fmax(keep, 0), 1);
    double apart = largest > smallest ? 2 * n * (mean - smallest) * (largest - mean) / (largest - smallest) : 0;
    return (tmi_regularised){largest - less * (largest - mean), less * (to - from) / 2 * apart};
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
    tmi_regularised r = tmi_regularise(1 - tmi_number_nearest(d->regularise), n, least, fmin(fmax(mean, least), most), most, 0,
                                       width);
    result->bias = r.bias / denominator;
    if (result->note_count < TMI_NOTES) result->notes[result->note_count++] = tmi_adjustment_text(TMI_REGULARISED);
}
