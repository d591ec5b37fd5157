#include "base/memory.h"
#include "base/text.h"

/* The build's version is the one in meson.build; a header of another one is a mistake. */
_Static_assert(sizeof TAMIS_VERSION == sizeof TAMIS_VERSION_TEXT, "tamis/base.h has the version of meson.build");

const char *tamis_version(void) { return TAMIS_VERSION; }

int tamis_version_number(void) { return TAMIS_VERSION_NUMBER; }

void tamis_free(void *text) { tmi_free(text); }
