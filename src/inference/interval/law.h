/* The law of an error, prepared for the evaluation of its tail; for the files of this folder alone. */
#ifndef TMI_INFERENCE_INTERVAL_LAW_H
#define TMI_INFERENCE_INTERVAL_LAW_H

#include "inference/interval/characteristic.h"

tamis_status tmi_error_law_check(const tmi_error_law *law, tamis_error *err);

/* Clear it unless that failed. */
tamis_status tmi_spectrum_make(tmi_spectrum *v, const tmi_error_law *law, tamis_error *err);
void tmi_spectrum_clear(tmi_spectrum *v);

/* P(E > x) */
double tmi_spectrum_beyond(const tmi_spectrum *v, double x);

#endif
