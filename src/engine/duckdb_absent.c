/* What stands in for the DuckDB engine in a build without it. */
#include "engine/engine.h"
#include "engine/parts.h"

tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    (void)source;
    (void)threads;
    *engine = NULL;
    return tmi_fail(err, TAMIS_SYSTEM, "this tamis was built without DuckDB, which reads the files: fetch it with "
                                       "`make setup` and build again, or build with DUCKDB_DIR=FOLDER");
}

void tmi_engine_parts(tmi_part_list *list)
{
    tmi_part_add(list, "DuckDB", NULL);
}
