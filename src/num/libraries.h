/* The libraries of this room, for `tamis --version`. */
#ifndef TMI_NUM_LIBRARIES_H
#define TMI_NUM_LIBRARIES_H

#include "base/libraries.h"

void tmi_num_libraries(tmi_library_list *list); /* GMP, MPFR, FLINT, Arb */

#endif
