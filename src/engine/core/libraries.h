/* The libraries of this room, for `tamis --version`. ReadStat does not report its version. */
#ifndef TMI_ENGINE_CORE_LIBRARIES_H
#define TMI_ENGINE_CORE_LIBRARIES_H

#include "base/libraries.h"

void tmi_engine_libraries(tmi_library_list *list);   /* DuckDB: looked for, not loaded */
void tmi_postgres_libraries(tmi_library_list *list); /* libpq */

#endif
