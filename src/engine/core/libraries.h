/* The libraries of this room, for `tamis --version`: looked for, not loaded. */
#ifndef TMI_ENGINE_CORE_LIBRARIES_H
#define TMI_ENGINE_CORE_LIBRARIES_H

#include "base/libraries.h"

void tmi_engine_libraries(tmi_library_list *list);   /* DuckDB */
void tmi_postgres_libraries(tmi_library_list *list); /* libpq */
void tmi_readstat_libraries(tmi_library_list *list);

#endif
