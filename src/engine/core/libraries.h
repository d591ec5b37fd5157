/* The libraries of this room, for `tamis --version`. ReadStat does not tell its version. */
#ifndef TMI_ENGINE_PARTS_H
#define TMI_ENGINE_PARTS_H

#include "base/libraries.h"

void tmi_engine_parts(tmi_part_list *list);   /* DuckDB, looked for and not loaded */
void tmi_postgres_parts(tmi_part_list *list); /* libpq */

#endif
