/* Which engine reads a source. */
#include <string.h>

#include "engine/core/engine.h"
#include "engine/files/files.h"

static bool has_readstat_file(const tmi_source *source)
{
    for (size_t f = 0; f < source->file_count; f++)
        if (source->files[f] && tmi_is_readstat_file(source->files[f])) return true;
    return false;
}

static bool only_csv(const tmi_source *source)
{
    for (size_t f = 0; f < source->file_count; f++)
        if (!source->files[f] || !tmi_ends_in(source->files[f], ".csv")) return false;
    return source->file_count > 0;
}

static const char *const names[] = {[TAMIS_ENGINE_DUCKDB] = "duckdb",
                                    [TAMIS_ENGINE_MEMORY] = "memory",
                                    [TAMIS_ENGINE_POSTGRES] = "postgres",
                                    [TAMIS_ENGINE_READSTAT] = "readstat"};

static const char *name_of(tamis_engine engine) { return (size_t)engine < sizeof names / sizeof *names ? names[engine] : NULL; }

tamis_status tamis_engine_of_name(tamis_engine *engine, const char *name, tamis_error *err)
{
    if (!engine) return tmi_fail(err, TAMIS_INVALID, "engine: NULL");
    *engine = TAMIS_ENGINE_FITTING;
    if (!name) return tmi_fail(err, TAMIS_INVALID, "name: NULL");
    for (size_t i = TAMIS_ENGINE_DUCKDB; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *engine = (tamis_engine)i;
            return TAMIS_OK;
        }
    return tmi_fail(err, TAMIS_INVALID, "engine: %s is unknown; use duckdb, memory, postgres or readstat", name);
}

/* Servers and files of SPSS, Stata and SAS have one engine each; for other files there is a choice: FITTING. */
static tamis_engine only_engine(const tmi_source *source)
{
    if (source->connection_count > 0) return TAMIS_ENGINE_POSTGRES;
    return has_readstat_file(source) ? TAMIS_ENGINE_READSTAT : TAMIS_ENGINE_FITTING;
}

tamis_engine tmi_engine_fitting(const tmi_source *source)
{
    const tamis_engine only = only_engine(source);
    return only ? only : only_csv(source) && !tmi_duckdb_is_there() ? TAMIS_ENGINE_MEMORY : TAMIS_ENGINE_DUCKDB;
}

tamis_status tmi_engine_open(tmi_engine **engine, tamis_engine kind, const tmi_source *source, unsigned threads, tamis_error *err)
{
    const tamis_engine only = only_engine(source);
    *engine = NULL;
    if (kind == TAMIS_ENGINE_FITTING) kind = tmi_engine_fitting(source);
    if (!name_of(kind)) return tmi_fail(err, TAMIS_INVALID, "engine: %d is unknown; use one of tamis_engine", (int)kind);
    if (only ? kind != only : kind != TAMIS_ENGINE_DUCKDB && kind != TAMIS_ENGINE_MEMORY)
        return tmi_fail(err, TAMIS_INVALID, "engine: %s does not read this source; use %s", name_of(kind),
                        only ? name_of(only) : "duckdb or memory");
    return kind == TAMIS_ENGINE_POSTGRES   ? tmi_engine_postgres(engine, source, threads, err)
           : kind == TAMIS_ENGINE_READSTAT ? tmi_engine_readstat(engine, source, threads, err)
           : kind == TAMIS_ENGINE_MEMORY   ? tmi_engine_memory(engine, source, threads, err)
                                           : tmi_engine_duckdb(engine, source, threads, err);
}
