/* The privacy guarantee of a tally. */
#ifndef TMI_COLLECT_TALLY_GUARANTEE_H
#define TMI_COLLECT_TALLY_GUARANTEE_H

#include "collect/tally/shares.h"

tamis_status tmi_tally_promise(tamis_tally_guarantee *guarantee, const tamis_tally *tally, const tmi_asked *asked,
                               tamis_error *err);

#endif
