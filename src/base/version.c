#include "base/memory.h"
#include "base/text.h"

const char *tamis_version(void) { return TAMIS_VERSION; }

void tamis_free(void *text) { tmi_free(text); }
