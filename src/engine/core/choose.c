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

/* Servers have one engine, and so do files of SPSS, Stata and SAS; for other files there is a choice. */
static const char *only_engine(const tmi_source *source)
{
    return source->connection_count > 0 ? "postgres" : has_readstat_file(source) ? "readstat" : NULL;
}

const char *tmi_engine_fitting(const tmi_source *source)
{
    const char *only = only_engine(source);
    return only ? only : only_csv(source) && !tmi_duckdb_is_there() ? "memory" : "duckdb";
}

tamis_status tmi_engine_open(tmi_engine **engine, const char *name, const tmi_source *source, unsigned threads,
                             tamis_error *err)
{
    const char *only = only_engine(source);
    *engine = NULL;
    if (!name) name = tmi_engine_fitting(source);
    const bool is_postgres = strcmp(name, "postgres") == 0, is_readstat = strcmp(name, "readstat") == 0;
    if (!is_postgres && !is_readstat && strcmp(name, "duckdb") != 0 && strcmp(name, "memory") != 0)
        return tmi_fail(err, TAMIS_INVALID, "engine: %s is unknown; use duckdb, memory, postgres or readstat", name);
    if ((only && strcmp(name, only) != 0) || (!only && (is_postgres || is_readstat)))
        return tmi_fail(err, TAMIS_INVALID, "engine: %s does not read this source; use %s", name,
                        only ? only : "duckdb or memory");
    return is_postgres                   ? tmi_engine_postgres(engine, source, threads, err)
           : is_readstat                 ? tmi_engine_readstat(engine, source, threads, err)
           : strcmp(name, "memory") == 0 ? tmi_engine_memory(engine, source, threads, err)
                                         : tmi_engine_duckdb(engine, source, threads, err);
}
