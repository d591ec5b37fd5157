/* The library of this room, for `tamis --version`. */
#ifndef TMI_PLAN_LIBRARIES_H
#define TMI_PLAN_LIBRARIES_H

#include "base/libraries.h"

void tmi_plan_libraries(tmi_library_list *list); /* libfyaml */

#endif
