/* Units that the law of a design treats alike: exchanging two of them leaves the law unchanged. */
#ifndef TMI_HT_ALIKE_H
#define TMI_HT_ALIKE_H

#include <stddef.h>

#include "survey/design/sample_law.h"

/* class_of[i]: the first unit that is alike to unit i. If the law is not exact, each unit is its own class. */
tamis_status tmi_alike_units(size_t class_of[TAMIS_LAW_UNITS], const tamis_law *law, tamis_error *err);

#endif
