/* The libraries of this room, for `tamis --version`. */
#ifndef TMI_NUM_PARTS_H
#define TMI_NUM_PARTS_H

#include "base/libraries.h"

void tmi_num_parts(tmi_part_list *list); /* GMP, MPFR, FLINT, Arb */

#endif
