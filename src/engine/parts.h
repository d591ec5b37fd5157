/* The library of this room, for `tamis --version`. */
#ifndef TMI_ENGINE_PARTS_H
#define TMI_ENGINE_PARTS_H

#include "base/parts.h"

void tmi_engine_parts(tmi_part_list *list); /* DuckDB, looked for and not loaded */

#endif
