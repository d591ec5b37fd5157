/* The headers of Parquet files and of tables in DuckDB files. */
#include "engine/core/header.h"
#include "base/memory.h"
#include "engine/duckdb/source.h"

static tmi_header_type type_of(tmi_form form)
{
    return tmi_form_is_number(form)   ? TMI_HEADER_NUMBER
           : form == TMI_FORM_TEXT    ? TMI_HEADER_TEXT
           : form == TMI_FORM_DATE    ? TMI_HEADER_DATE
           : form == TMI_FORM_BOOLEAN ? TMI_HEADER_TEXT
                                      : TMI_HEADER_OTHER;
}

tamis_status tmi_header_duckdb(tmi_header *header, const char *file, const char *table, tamis_error *err)
{
    const tmi_source given = {.files = &file, .file_count = 1, .table = table};
    tmi_duckdb_source source;
    tmi_duckdb_session session;
    char **names = NULL;
    tmi_form *forms = NULL;
    size_t count = 0;
    tamis_status status = tmi_duckdb_source_init(&source, &given, err);
    if (status != TAMIS_OK) return status;
    status = tmi_duckdb_source_open(&session, &source, 1, err);
    if (status == TAMIS_OK) {
        status = tmi_duckdb_source_names(&names, &forms, &count, &source, 0, &session, err);
        tmi_duckdb_close(&session);
    }
    for (size_t i = 0; i < count && status == TAMIS_OK; i++)
        status = tmi_header_add(header, names[i], NULL, type_of(forms[i]), err);
    for (size_t i = 0; i < count; i++) tmi_free(names[i]);
    tmi_free(names);
    tmi_free(forms);
    tmi_duckdb_source_clear(&source);
    return status;
}
