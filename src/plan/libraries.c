#include "plan/libraries.h"

#include <libfyaml.h>

void tmi_plan_libraries(tmi_library_list *list) { tmi_library_add(list, "libfyaml", fy_library_version()); }
