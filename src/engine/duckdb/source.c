#include "engine/duckdb/source.h"

#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/core/sql.h"
#include "engine/duckdb/types.h"

static tmi_duckdb_kind kind_of(const char *name)
{
    return tmi_ends_in(name, ".csv") ? TMI_CSV_FILE : tmi_ends_in(name, ".parquet") ? TMI_PARQUET_FILE : TMI_DUCKDB_FILE;
}

tamis_status tmi_duckdb_source_init(tmi_duckdb_source *source, const tmi_source *given, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    *source = (tmi_duckdb_source){0};
    if (!given || !given->files || given->file_count == 0) return tmi_fail(err, TAMIS_INVALID, "the source names no file");
    source->files = tmi_alloc(given->file_count, sizeof *source->files);
    if (given->table) source->table = tmi_copy_text(given->table, strlen(given->table));
    if (!source->files || (given->table && !source->table)) {
        tmi_duckdb_source_clear(source);
        return tmi_fail_memory(err);
    }
    for (size_t f = 0; f < given->file_count; f++) {
        tmi_duckdb_file *file = &source->files[source->file_count];
        const char *name = given->files[f] ? given->files[f] : "";
        file->kind = kind_of(name);
        TMI_TRY(tmi_file_may_be_table(name, err));
        TMI_TRY(tmi_file_init(&file->file, name, err));
        source->file_count++;
    }
done:
    if (status != TAMIS_OK) tmi_duckdb_source_clear(source);
    return status;
}

void tmi_duckdb_source_clear(tmi_duckdb_source *source)
{
    for (size_t f = 0; f < source->file_count; f++) {
        tmi_file_clear(&source->files[f].file);
        tmi_free(source->files[f].pattern);
        tmi_free(source->files[f].table);
        tmi_free(source->files[f].definition);
    }
    tmi_free(source->table);
    tmi_free(source->files);
    *source = (tmi_duckdb_source){0};
}

/* A pattern that matches only the path itself: each special character becomes a set of one. */
static tamis_status write_pattern(char **pattern, const char *path, tamis_error *err)
{
    const bool is_special = strpbrk(path, "*?[");
    tmi_text text;
    tmi_text_init(&text);
    for (; *path; path++)
        tmi_text_format(&text, is_special && strchr("*?[", *path) ? "[%c]" : is_special && *path == '\\' ? "\\%c" : "%c", *path);
    return tmi_text_take(pattern, &text, err);
}

/* The path is absolute and without links. DuckDB gives a name that starts with ~ or s3:// another meaning, and it compares
 * names with the list of allowed ones character by character. */
static tamis_status find_file(tmi_duckdb_file *file, tamis_error *err)
{
    tmi_free(file->pattern);
    file->pattern = NULL;
    tamis_status status = tmi_file_find(&file->file, err);
    return status == TAMIS_OK ? write_pattern(&file->pattern, file->file.path, err) : status;
}

/* The table of an attached file: the one that was named, "schema.name" or "name" in the schema main, or the only one. */
static tamis_status find_table(tmi_duckdb_session *session, const tmi_duckdb_source *source, size_t f, tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    tmi_duckdb_file *file = &source->files[f];
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text sql;
    tmi_text_init(&sql);
    tmi_text_format(&sql,
                    "SELECT '\"' || replace(schema_name, '\"', '\"\"') || '\".\"' || replace(table_name, '\"', '\"\"') || "
                    "'\"', sql FROM duckdb_tables() WHERE database_name = 'd%zu' AND NOT internal",
                    f);
    if (source->table) {
        tmi_text_put(&sql, " AND (schema_name || '.' || table_name = ");
        tmi_sql_text(&sql, source->table);
        tmi_text_put(&sql, " OR (schema_name = 'main' AND table_name = ");
        tmi_sql_text(&sql, source->table);
        tmi_text_put(&sql, "))");
    }
    TMI_TRY(tmi_duckdb_run(&result, session, &sql, NULL, err));
    chunk = api->fetch_chunk(result);
    const size_t count = chunk ? api->data_chunk_get_size(chunk) : 0;
    if (count == 1) {
        const tmi_cell name = tmi_duckdb_cell(api->vector_get_data(api->data_chunk_get_vector(chunk, 0)));
        const tmi_cell definition = tmi_duckdb_cell(api->vector_get_data(api->data_chunk_get_vector(chunk, 1)));
        tmi_free(file->table);
        tmi_free(file->definition);
        file->table = tmi_copy_text(name.bytes, name.length);
        file->definition = tmi_copy_text(definition.bytes, definition.length);
        if (!file->table || !file->definition) status = tmi_fail_memory(err);
    } else if (source->table) {
        status = tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0,
                               count == 0 ? "there is no table %s" : "there is more than one table %s", source->table);
    } else {
        status = tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0,
                               count == 0 ? "it has no table" : "it has several tables; name one with `table`");
    }
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    tmi_text_clear(&sql);
    return status;
}

static tamis_status attach(tmi_duckdb_session *session, const tmi_duckdb_source *source, size_t f, tamis_error *err)
{
    tamis_error own = {0};
    tamis_status status = tmi_duckdb_attach(session, source->files[f].file.path, f, &own);
    if (status == TAMIS_OK) return find_table(session, source, f, err);
    return tmi_fail_file(err, status, source->files[f].file.given, 0, "%s", own.message);
}

tamis_status tmi_duckdb_source_open(tmi_duckdb_session *session, tmi_duckdb_source *source, unsigned threads, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const char **paths = NULL;
    memset(session, 0, sizeof *session);
    tmi_error_reset(err);
    for (size_t f = 0; f < source->file_count; f++) {
        tamis_status found = find_file(&source->files[f], err);
        if (found != TAMIS_OK) status = found;
        if (found == TAMIS_SYSTEM) goto done;
    }
    if (status != TAMIS_OK) goto done;
    paths = tmi_alloc(source->file_count, 2 * sizeof *paths);
    if (!paths) {
        status = tmi_fail_memory(err);
        goto done;
    }
    for (size_t f = 0; f < source->file_count; f++) {
        paths[2 * f] = source->files[f].file.path;
        paths[2 * f + 1] = source->files[f].pattern;
    }
    const tmi_duckdb_options options = {paths, 2 * source->file_count, threads, source->in_order, source->memory};
    TMI_TRY(tmi_duckdb_open(session, &options, err));
    for (size_t f = 0; f < source->file_count; f++)
        if (source->files[f].kind == TMI_DUCKDB_FILE) TMI_TRY(attach(session, source, f, err));
    TMI_TRY(tmi_duckdb_lock(session, &options, err));
    TMI_TRY(tmi_duckdb_types_register(session, err));
done:
    tmi_free(paths);
    if (status != TAMIS_OK && session->api) tmi_duckdb_close(session);
    return status;
}

tamis_status tmi_duckdb_source_distinct(const tmi_duckdb_source *source, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    const tmi_file **before = tmi_alloc(source->file_count, sizeof *before);
    if (!before) return tmi_fail_memory(err);
    tmi_error_reset(err);
    for (size_t f = 0; f < source->file_count; f++) {
        before[f] = &source->files[f].file;
        const tamis_status differs = tmi_file_differs(before[f], before, f, err);
        if (differs != TAMIS_OK) status = differs;
    }
    tmi_free(before);
    return status;
}
