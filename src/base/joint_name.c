#include "base/joint_name.h"

#include <string.h>

#define TIMES "\xc3\x97"

void tmi_put_joint_name(tmi_text *text, const char *name, bool first)
{
    if (!first) tmi_text_put(text, " " TIMES " ");
    for (const char *next; (next = strstr(name, TIMES)); name = next + strlen(TIMES)) {
        tmi_text_add(text, name, (size_t)(next - name));
        tmi_text_put(text, TIMES TIMES);
    }
    tmi_text_put(text, name);
}
