/* Sums of n independent equal steps with finitely many values, from above or from below.
 *
 * The steps lie on a lattice; their masses and all convolutions are rounded in one direction (num/law/mass.h). */
#ifndef TMI_COLLECT_ANONYMOUS_FOLD_H
#define TMI_COLLECT_ANONYMOUS_FOLD_H

#include "num/law/mass.h"

#define TMI_FOLD_PLACES (INT64_C(1) << 16) /* a convolution of this length takes a tenth of a second */

typedef struct tmi_fold {
    tmi_masses masses;
    tmi_ball beyond; /* mass right of the window, rounded in the same direction */
} tmi_fold;

void tmi_fold_init(tmi_fold *f);
void tmi_fold_clear(tmi_fold *f);

/* The law of the sum of n >= 1 steps. Masses left of a window of about 13 standard deviations are moved up to its end, or left
 * out from below. UNABLE if the window has more than TMI_FOLD_PLACES places. f is initialised. */
tamis_status tmi_fold_power(tmi_fold *f, const tmi_masses *step, int64_t n, bool up, tamis_error *err);

#endif
