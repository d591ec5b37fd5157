/* The library of this room, for `tamis --version`. */
#ifndef TMI_PLAN_PARTS_H
#define TMI_PLAN_PARTS_H

#include "base/libraries.h"

void tmi_plan_parts(tmi_part_list *list); /* libfyaml */

#endif
