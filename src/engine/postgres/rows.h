/* Unchanged rows, for estimate. */
#ifndef TMI_ENGINE_POSTGRES_ROWS_H
#define TMI_ENGINE_POSTGRES_ROWS_H

#include "engine/postgres/session.h"

/* The columns of the layout of the sources, one per part, in pieces. */
tamis_status tmi_postgres_rows(tmi_postgres *session, const tmi_sql_source *sources, tmi_take_rows *take, void *context,
                               tamis_error *err);

#endif
