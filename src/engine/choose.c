/* Which engine reads a source. */
#include <string.h>

#include "engine/engine.h"

tamis_status tmi_engine_open(tmi_engine **engine, const char *name, const tmi_source *source, unsigned threads,
                             tamis_error *err)
{
    *engine = NULL;
    if (!name || strcmp(name, "duckdb") == 0) return tmi_engine_duckdb(engine, source, threads, err);
    if (strcmp(name, "memory") == 0) return tmi_engine_memory(engine, source, threads, err);
    return tmi_fail(err, TAMIS_INVALID, "engine: %s is unknown; use duckdb or memory", name);
}
