/* What stands in for the DuckDB engine in a build without it. */
#include "engine/engine.h"
#include "engine/frame.h"
#include "engine/parts.h"

static tamis_status absent(tamis_error *err)
{
    return tmi_fail(err, TAMIS_SYSTEM, "this tamis was built without DuckDB, which reads the files: fetch it with "
                                       "`make setup` and build again, or build with DUCKDB_DIR=FOLDER");
}

tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    (void)source;
    (void)threads;
    *engine = NULL;
    return absent(err);
}

tamis_status tmi_frame_open(tmi_frame **frame, const char *path, tamis_progress *progress, void *progress_context,
                            tamis_error *err)
{
    (void)path;
    (void)progress;
    (void)progress_context;
    *frame = NULL;
    return absent(err);
}

tamis_status tmi_frame_read(tmi_frame *frame, const size_t *columns, size_t count, tmi_take_cells *take, void *context,
                            const tmi_watch *watch, tamis_error *err)
{
    (void)frame;
    (void)columns;
    (void)count;
    (void)take;
    (void)context;
    (void)watch;
    return absent(err);
}

void tmi_frame_free(tmi_frame *frame)
{
    (void)frame;
}

void tmi_engine_parts(tmi_part_list *list)
{
    tmi_part_add(list, "DuckDB", NULL);
}
