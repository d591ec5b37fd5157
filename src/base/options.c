#include "base/options.h"

#include <string.h>

tamis_status tmi_options_take(void *to, size_t size, const void *given, const char *what, tamis_error *err)
{
    size_t theirs;
    memset(to, 0, size);
    if (!given) return TAMIS_OK;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs) return tmi_fail(err, TAMIS_INVALID, "%s: set `size` to the size of its struct", what);
    for (size_t i = size; i < theirs; i++)
        if (((const char *)given)[i] != 0)
            return tmi_fail(err, TAMIS_INVALID, "%s: options of a later version, which this library does not know", what);
    memcpy(to, given, theirs < size ? theirs : size);
    return TAMIS_OK;
}
