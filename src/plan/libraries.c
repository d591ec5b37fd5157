#include "plan/libraries.h"

#include <libfyaml.h>

void tmi_plan_parts(tmi_part_list *list)
{
    tmi_part_add(list, "libfyaml", fy_library_version());
}
