#include "base/libraries.h"

#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>

void tmi_part_add(tmi_part_list *list, const char *name, const char *version)
{
    if (list->count == TMI_PARTS) return;
    tmi_part *part = &list->parts[list->count++];
    part->name = name;
    snprintf(part->version, sizeof part->version, "%s", version ? version : "");
}

void tmi_base_parts(tmi_part_list *list)
{
    tmi_part_add(list, "jansson", jansson_version_str());
    tmi_part_add(list, "OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING));
}
