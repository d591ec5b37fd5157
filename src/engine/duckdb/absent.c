/* Replaces the DuckDB engine in a build without it. */
#include "engine/core/engine.h"
#include "engine/core/header.h"
#include "engine/core/libraries.h"
#include "engine/files/files.h"
#include "engine/files/frame.h"

static tamis_status absent(const char *const *files, size_t count, tamis_error *err)
{
    for (size_t f = 0; f < count; f++) {
        const tamis_status status = tmi_file_may_be_table(files[f] ? files[f] : "", err);
        if (status != TAMIS_OK) return status;
    }
    return tmi_fail(err, TAMIS_SYSTEM,
                    "this tamis was built without DuckDB, which reads Parquet and DuckDB files; the engine "
                    "memory reads CSV files. Fetch DuckDB with `make setup` and build again, or build "
                    "with DUCKDB_DIR=FOLDER");
}

tamis_status tmi_engine_duckdb(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    (void)threads;
    *engine = NULL;
    return absent(source->files, source->file_count, err);
}

tamis_status tmi_frame_duckdb(tmi_frame **frame, const char *path, const tamis_watch *watch, tamis_error *err)
{
    (void)watch;
    *frame = NULL;
    return absent(&path, 1, err);
}

tamis_status tmi_header_duckdb(tmi_header *header, const char *file, const char *table, tamis_error *err)
{
    (void)header;
    (void)table;
    return absent(&file, 1, err);
}

bool tmi_duckdb_is_there(void) { return false; }

void tmi_engine_libraries(tmi_library_list *list) { tmi_library_add(list, "DuckDB", NULL); }
