#include "engine/core/header.h"

#include <string.h>

#include "base/memory.h"
#include "engine/files/csv.h"
#include "engine/files/files.h"

tamis_status tmi_header_add(tmi_header *h, const char *name, const char *label, tmi_header_type type, tamis_error *err)
{
    tmi_header_column *columns = tmi_realloc(h->columns, h->count + 1, sizeof *columns);
    if (!columns) return tmi_fail_memory(err);
    h->columns = columns;
    tmi_header_column *column = &columns[h->count++];
    *column = (tmi_header_column){.type = type};
    column->name = tmi_copy_text(name, strlen(name));
    if (label && *label) column->label = tmi_copy_text(label, strlen(label));
    return column->name && (column->label || !label || !*label) ? TAMIS_OK : tmi_fail_memory(err);
}

void tmi_header_clear(tmi_header *h)
{
    for (size_t i = 0; i < h->count; i++) {
        tmi_free(h->columns[i].name);
        tmi_free(h->columns[i].label);
        tmi_free(h->columns[i].set);
    }
    for (size_t s = 0; s < h->set_count; s++) {
        for (size_t i = 0; i < h->sets[s].count; i++) {
            tmi_free(h->sets[s].codes[i].code);
            tmi_free(h->sets[s].codes[i].label);
        }
        tmi_free(h->sets[s].codes);
        tmi_free(h->sets[s].name);
    }
    tmi_free(h->label);
    tmi_free(h->columns);
    tmi_free(h->sets);
    *h = (tmi_header){0};
}

const tmi_header_set *tmi_header_set_of(const tmi_header *h, const tmi_header_column *column)
{
    for (size_t s = 0; column->set && s < h->set_count; s++)
        if (strcmp(h->sets[s].name, column->set) == 0) return &h->sets[s];
    return NULL;
}

bool tmi_header_is_missing(const tmi_header_column *column, const tmi_header_code *code)
{
    for (size_t i = 0; i < column->missing_count; i++)
        if (code->number >= column->missing[i][0] && code->number <= column->missing[i][1]) return true;
    return false;
}

static tamis_status read_csv(tmi_header *h, const char *file, tamis_error *err)
{
    tmi_csv_header csv;
    tamis_status status = tmi_csv_header_read(&csv, file, err);
    if (status != TAMIS_OK) return status;
    for (size_t i = 0; i < csv.count && status == TAMIS_OK; i++)
        status = tmi_header_add(h, csv.names[i], NULL, TMI_HEADER_UNKNOWN, err);
    tmi_csv_header_clear(&csv);
    return status;
}

tamis_status tmi_header_read(tmi_header *h, const char *file, const char *table, tamis_error *err)
{
    *h = (tmi_header){0};
    const bool database = tmi_ends_in(file, ".duckdb") || tmi_ends_in(file, ".db");
    const bool statistics = tmi_is_readstat_file(file);
    tamis_status status = statistics || tmi_ends_in(file, ".csv") || tmi_ends_in(file, ".parquet") || database
                              ? TAMIS_OK
                              : tmi_fail(err, TAMIS_INVALID,
                                         "%s: must be a file that ends in .csv, .parquet, .sav, .zsav, "
                                         ".dta, .sas7bdat, "
                                         ".xpt, .duckdb or .db",
                                         file);
    if (status == TAMIS_OK && table && !database)
        status = tmi_fail(err, TAMIS_INVALID, "table: needs a DuckDB file, .duckdb or .db; other files contain one table");
    if (status == TAMIS_OK)
        status = statistics                  ? tmi_header_readstat(h, file, err)
                 : tmi_ends_in(file, ".csv") ? read_csv(h, file, err)
                                             : tmi_header_duckdb(h, file, table, err);
    if (status != TAMIS_OK) tmi_header_clear(h);
    return status;
}
