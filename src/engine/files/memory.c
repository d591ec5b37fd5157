/* The engine without a database: reads CSV files itself. */
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/files/csv.h"
#include "engine/files/scan.h"

/* A column may be requested twice, as a number and as a category; its cells are then at the position of the first request. */
static size_t first_of(const tmi_column *const *columns, size_t c)
{
    size_t first = 0;
    while (strcmp(columns[first]->name, columns[c]->name) != 0) first++;
    return first;
}

static const char *name_at(const void *names, size_t k) { return ((const tmi_csv_header *)names)->names[k]; }

/* Finds the requested columns in a file: wanted[c] for each column of the file. */
static tamis_status find_columns(size_t **wanted, size_t *file_columns, const tmi_file *file, const tmi_column *const *columns,
                                 size_t count, tamis_error *err)
{
    tmi_csv_header header;
    tamis_status status;
    *wanted = NULL;
    TMI_TRY(tmi_csv_header_read(&header, file->given, err));
    *file_columns = header.count;
    *wanted = tmi_alloc(header.count, sizeof **wanted);
    if (!*wanted) TMI_TRY(tmi_fail_memory(err));
    for (size_t k = 0; k < header.count; k++) (*wanted)[k] = SIZE_MAX;
    for (size_t c = 0; c < count; c++) {
        size_t k = 0;
        while (k < header.count && strcmp(header.names[k], columns[c]->name) != 0) k++;
        if (k == header.count)
            status = tmi_fail_column(err, file->given, "there is", columns[c]->name, name_at, &header, header.count);
        else if ((*wanted)[k] == SIZE_MAX) (*wanted)[k] = c; /* the first request for it */
    }
done:
    tmi_csv_header_clear(&header);
    return status;
}

/* All cells are texts. */
static tamis_status check(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                          const tamis_watch *watch, tamis_error *err)
{
    tmi_file_scanner *s = scanner->state;
    (void)codes;
    tamis_status status = tmi_files_find(s->files, s->file_count, err);
    for (size_t f = 0; f < s->file_count && status == TAMIS_OK; f++) {
        size_t *wanted, file_columns;
        status = find_columns(&wanted, &file_columns, &s->files[f], columns, count, err);
        tmi_free(wanted);
        if (status == TAMIS_OK) status = tmi_csv_check_encoding(s->files[f].given, watch, err);
    }
    return status;
}

static tamis_status scan_file(tmi_file_scanner *s, size_t f, const tmi_column *const *columns, size_t count, tmi_raw *raw,
                              tmi_take_raw *take, void *context, tamis_error *err)
{
    tmi_csv_rows *rows = NULL;
    size_t *wanted = NULL, file_columns, n;
    const tmi_cell *cells;
    double share;
    tamis_status status;
    TMI_TRY(find_columns(&wanted, &file_columns, &s->files[f], columns, count, err));
    TMI_TRY(tmi_csv_rows_open(&rows, s->files[f].given, file_columns, wanted, count, err));
    for (size_t c = 0; c < count; c++) raw[c] = (tmi_raw){0};
    for (;;) {
        TMI_TRY(tmi_csv_rows_next(&n, &cells, &share, rows, err));
        if (n == 0) break;
        for (size_t c = 0; c < count; c++) raw[c].texts = cells + first_of(columns, c) * TMI_CSV_ROWS;
        TMI_TRY(take(context, raw, n, ((double)f + share) / (double)s->file_count, err));
    }
done:
    tmi_csv_rows_free(rows);
    tmi_free(wanted);
    return status;
}

static tamis_status scan(tmi_scanner *scanner, const tmi_column *const *columns, tmi_codes *const *codes, size_t count,
                         size_t part, size_t parts, tmi_take_raw *take, void *context, tamis_error *err)
{
    (void)codes; /* the texts are handed out */
    tmi_file_scanner *s = scanner->state;
    tamis_status status = TAMIS_OK;
    tmi_raw *raw = tmi_alloc(count, sizeof *raw);
    if (!raw) return tmi_fail_memory(err);
    for (size_t f = part; f < s->file_count && status == TAMIS_OK; f += parts)
        status = scan_file(s, f, columns, count, raw, take, context, err);
    tmi_free(raw);
    return status;
}

static bool is_csv(const char *name) { return tmi_ends_in(name, ".csv"); }

tamis_status tmi_engine_memory(tmi_engine **engine, const tmi_source *source, unsigned threads, tamis_error *err)
{
    return tmi_engine_of_files(engine, source, (tmi_scanner){.name = "memory", .check = check, .scan = scan}, is_csv,
                               "the memory engine reads files whose name ends in .csv", threads, err);
}
