#include "base/libraries.h"

#include <openssl/crypto.h>
#include <stdio.h>

void tmi_library_add(tmi_library_list *list, const char *name, const char *version)
{
    if (list->count == TMI_MAX_LIBRARIES) return;
    tmi_library *part = &list->parts[list->count++];
    part->name = name;
    snprintf(part->version, sizeof part->version, "%s", version ? version : "");
}

void tmi_base_libraries(tmi_library_list *list) { tmi_library_add(list, "OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)); }
