/* The SELECT that reads the files of a source, and the count of their rows. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/words.h"
#include "engine/core/cells.h"
#include "engine/core/sql.h"
#include "engine/duckdb/source.h"
#include "engine/duckdb/types.h"
#include "engine/files/csv.h"

static const char *const kind_names[] = {"CSV", "Parquet", "DuckDB"};

/* The columns of a file as SQL knows them: those of a CSV file from its first line, the others from a query. The columns of a
 * CSV file are called k0, k1 …: DuckDB treats names that differ only in case as the same, and this keeps the text of a first
 * line out of the query. */
typedef struct file_columns {
    tmi_csv_header csv;
    duckdb_result result; /* of a query without rows */
} file_columns;

static void clear_columns(file_columns *columns, const tmi_duckdb_session *session)
{
    tmi_csv_header_clear(&columns->csv);
    session->api->destroy_result(&columns->result);
}

static void write_reader(tmi_text *sql, const tmi_duckdb_source *source, size_t f, const file_columns *columns)
{
    const tmi_duckdb_file *file = &source->files[f];
    if (file->kind == TMI_DUCKDB_FILE) {
        tmi_text_format(sql, "d%zu.%s", f, file->table);
        return;
    }
    if (file->kind == TMI_PARQUET_FILE) {
        tmi_text_put(sql, "read_parquet(");
        tmi_sql_text(sql, file->pattern);
        tmi_text_put(sql, ", hive_partitioning=false)");
        return;
    }
    tmi_text_put(sql, "read_csv(");
    tmi_sql_text(sql, file->pattern);
    tmi_text_put(sql, ", auto_detect=false, strict_mode=true, header=true, delim=',', quote='\"', escape='\"', "
                      "hive_partitioning=false, columns={");
    for (size_t k = 0; k < columns->csv.count; k++) tmi_text_format(sql, "%s'k%zu': 'VARCHAR'", k > 0 ? ", " : "", k);
    tmi_text_put(sql, "})");
}

static tamis_status read_columns(file_columns *columns, const tmi_duckdb_source *source, size_t f, tmi_duckdb_session *session,
                                 tamis_error *err)
{
    const tmi_duckdb_file *file = &source->files[f];
    tmi_text sql;
    memset(columns, 0, sizeof *columns);
    if (file->kind == TMI_CSV_FILE) return tmi_csv_header_read(&columns->csv, file->file.given, err);
    tmi_text_init(&sql);
    tmi_text_put(&sql, "SELECT * FROM ");
    write_reader(&sql, source, f, NULL);
    tmi_text_put(&sql, " LIMIT 0");
    tamis_error own = {0};
    tamis_status status = tmi_duckdb_run(&columns->result, session, &sql, NULL, &own);
    tmi_text_clear(&sql);
    if (status == TAMIS_OK) return TAMIS_OK;
    if (session->trouble == TMI_DUCKDB_MEMORY) return tmi_fail(err, TAMIS_SYSTEM, "%s", own.message);
    return tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0, "not a %s file, or damaged", kind_names[file->kind]);
}

static tmi_form form_at(const file_columns *columns, const tmi_duckdb_file *file, size_t k)
{
    duckdb_result result = columns->result; /* the function does not take a const */
    return file->kind == TMI_CSV_FILE ? TMI_FORM_TEXT : tmi_duckdb_form(&result, k, file->definition);
}

tamis_status tmi_duckdb_source_names(char ***names, tmi_form **forms, size_t *count, const tmi_duckdb_source *source, size_t f,
                                     tmi_duckdb_session *session, tamis_error *err)
{
    const tmi_duckdb_file *file = &source->files[f];
    const tmi_duckdb_api *api = session->api;
    file_columns known;
    tamis_status status;
    *names = NULL;
    *forms = NULL;
    *count = 0;
    TMI_TRY(read_columns(&known, source, f, session, err));
    const size_t n = file->kind == TMI_CSV_FILE ? known.csv.count : api->column_count(&known.result);
    *names = tmi_alloc(n, sizeof **names);
    *forms = tmi_alloc(n, sizeof **forms);
    if (!*names || !*forms) TMI_TRY(tmi_fail_memory(err));
    for (*count = 0; *count < n; ++*count) {
        const char *name = file->kind == TMI_CSV_FILE ? known.csv.names[*count] : api->column_name(&known.result, *count);
        (*forms)[*count] = form_at(&known, file, *count);
        (*names)[*count] = tmi_copy_text(name, strlen(name));
        if (!(*names)[*count]) TMI_TRY(tmi_fail_memory(err));
    }
done:
    clear_columns(&known, session);
    return status;
}

/* A FLOAT is a missing code if it is the code rounded to a FLOAT: 99.9 as FLOAT is 99.90000152..., which as DOUBLE is not the
 * code. */
static bool is_code_apart(double code) { return fabs(code) <= (double)FLT_MAX && (double)(float)code != code; }

static void write_float(tmi_text *sql, const tmi_column *column)
{
    bool apart = false;
    for (size_t i = 0; i < column->missing_code_count; i++) apart = apart || is_code_apart(column->missing_codes[i]);
    if (apart) {
        tmi_text_put(sql, "CASE WHEN CAST(");
        tmi_sql_name(sql, column->name);
        tmi_text_put(sql, " AS DOUBLE) IN (");
        const char *comma = "";
        for (size_t i = 0; i < column->missing_code_count; i++) {
            if (!is_code_apart(column->missing_codes[i])) continue;
            tmi_text_format(sql, "%s%.17e", comma, (double)(float)column->missing_codes[i]);
            comma = ", ";
        }
        tmi_text_put(sql, ") THEN NULL ELSE ");
    }
    tmi_text_put(sql, "CAST(");
    tmi_sql_name(sql, column->name);
    tmi_text_put(sql, apart ? " AS DOUBLE) END" : " AS DOUBLE)");
}

typedef struct header {
    const tmi_duckdb_file *file;
    file_columns *columns;
    const tmi_duckdb_api *api;
} header;

static const char *name_at(const void *words, size_t k)
{
    const header *h = words;
    return h->file->kind == TMI_CSV_FILE ? h->columns->csv.names[k] : h->api->column_name(&h->columns->result, k);
}

/* The position of a column in the file; `count` if it is not there. */
static size_t place_of(const char *name, const header *h, size_t count)
{
    size_t k = 0;
    while (k < count && strcmp(name, name_at(h, k)) != 0) k++;
    return k;
}

static void write_number(tmi_text *sql, const tmi_column *column, duckdb_type type, const char *name)
{
    if (type == DUCKDB_TYPE_FLOAT) {
        write_float(sql, column);
        return;
    }
    tmi_text_put(sql, "TRY_CAST(");
    tmi_sql_name(sql, name);
    tmi_text_put(sql, " AS DOUBLE)");
}

/* Writes the expression of column c in the file, or reports why there is none. `seen` is the form of the column in earlier
 * files. */
static tamis_status write_column(tmi_text *sql, tmi_form *seen, const tmi_duckdb_functions *functions, size_t c,
                                 const tmi_duckdb_file *file, file_columns *columns, const tmi_duckdb_session *session,
                                 tamis_error *err)
{
    const tmi_duckdb_api *api = session->api;
    const tmi_column *column = functions->layout.columns[c];
    const bool is_csv = file->kind == TMI_CSV_FILE;
    const size_t count = is_csv ? columns->csv.count : api->column_count(&columns->result);
    const header h = {file, columns, api};
    const size_t k = place_of(column->name, &h, count);
    if (k == count) return tmi_fail_column(err, file->file.given, "there is", column->name, name_at, &h, count);
    const duckdb_type type = is_csv ? DUCKDB_TYPE_VARCHAR : api->column_type(&columns->result, k);
    char number[32];
    snprintf(number, sizeof number, "k%zu", k);
    const char *name = is_csv ? number : column->name;
    const tmi_source_part part = {.file = file->file.given};
    tamis_status status;
    if (column->kind == TMI_NUMBER) {
        TMI_TRY(tmi_class_check(is_csv ? TMI_CLASS_OPEN : tmi_duckdb_class(type), &part, column->name, err));
        write_number(sql, column, type, name);
        return TAMIS_OK;
    }
    if (tmi_duckdb_is_nested(type))
        return tmi_fail_file_more(err, TAMIS_INVALID, file->file.given, 0, "column %s contains lists or bytes, not texts",
                                  column->name);
    const tmi_form form = form_at(columns, file, k);
    if (form == TMI_FORM_NONE)
        return tmi_fail_file_more(err, TAMIS_INVALID, file->file.given, 0, "column %s " TMI_NO_FORM, column->name);
    TMI_TRY(tmi_form_join(seen, form, &part, column->name, err));
    if (column->kind == TMI_CATEGORY) {
        TMI_TRY(tmi_values_check(column->values, column->value_count, form, &part, column->name, err));
        TMI_TRY(tmi_codes_check(functions->columns[c].codes, form, err));
        tmi_text_format(sql, "%s_%zu(", tmi_duckdb_lookup_name(form), c);
    }
    tmi_duckdb_write_canonical(sql, type, name);
    if (column->kind == TMI_CATEGORY) tmi_text_put(sql, ")");
done:
    return status;
}

static tamis_status write_file(tmi_text *sql, tmi_form *seen, const tmi_duckdb_source *source, size_t f,
                               tmi_duckdb_session *session, const tmi_duckdb_functions *functions, tamis_error *err)
{
    const tmi_layout *layout = &functions->layout;
    file_columns known;
    tamis_status status;
    tamis_error own = {0};
    TMI_TRY(read_columns(&known, source, f, session, &own));
    tmi_text_put(sql, "SELECT ");
    for (size_t c = 0; c < layout->column_count; c++) {
        if (!tmi_is_read(layout->columns[c])) continue;
        tamis_status written = write_column(sql, &seen[c], functions, c, &source->files[f], &known, session, &own);
        if (written != TAMIS_OK) status = written;
        tmi_text_format(sql, " AS c%zu, ", c);
    }
    tmi_text_put(sql, "1 AS one FROM ");
    write_reader(sql, source, f, &known);
done:
    if (status != TAMIS_OK) tmi_fail_as_more(err, &own);
    clear_columns(&known, session);
    return status;
}

tamis_status tmi_duckdb_write_source(tmi_text *sql, const tmi_duckdb_source *source, size_t first, size_t count,
                                     tmi_duckdb_session *session, const tmi_duckdb_functions *functions, tamis_error *err)
{
    tamis_status status = TAMIS_OK;
    tmi_form *seen = tmi_alloc(functions->layout.column_count, sizeof *seen);
    if (!seen) return tmi_fail_memory(err);
    for (size_t c = 0; c < functions->layout.column_count; c++) seen[c] = TMI_FORM_ANY;
    tmi_error_reset(err);
    for (size_t f = first; f < source->file_count && f - first < count && status != TAMIS_SYSTEM; f++) {
        tmi_text_put(sql, f > first ? " UNION ALL " : "");
        tamis_status written = write_file(sql, seen, source, f, session, functions, err);
        if (written != TAMIS_OK) status = written;
    }
    tmi_free(seen);
    return status == TAMIS_OK && sql->failed ? tmi_fail_memory(err) : status;
}

tamis_status tmi_duckdb_write_texts(tmi_text *sql, const tmi_duckdb_source *source, size_t f, tmi_duckdb_session *session,
                                    const size_t *columns, const bool *labels, size_t count, tamis_error *err)
{
    const tmi_duckdb_file *file = &source->files[f];
    file_columns known;
    tamis_status status;
    TMI_TRY(read_columns(&known, source, f, session, err));
    const header h = {file, &known, session->api};
    tmi_text_put(sql, "SELECT ");
    for (size_t c = 0; c < count; c++) {
        const bool is_csv = file->kind == TMI_CSV_FILE;
        const duckdb_type type = is_csv ? DUCKDB_TYPE_VARCHAR : session->api->column_type(&known.result, columns[c]);
        char number[32];
        snprintf(number, sizeof number, "k%zu", columns[c]);
        if (tmi_duckdb_is_nested(type))
            TMI_TRY(tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0, "column %s contains lists or bytes, not texts",
                                  name_at(&h, columns[c])));
        tmi_duckdb_write_canonical(sql, labels && labels[c] ? type : DUCKDB_TYPE_VARCHAR,
                                   is_csv ? number : name_at(&h, columns[c]));
        tmi_text_format(sql, " AS c%zu, ", c);
    }
    tmi_text_put(sql, "1 AS one FROM ");
    write_reader(sql, source, f, &known);
    if (sql->failed) status = tmi_fail_memory(err);
done:
    clear_columns(&known, session);
    return status;
}

/* ---- counting ---- */

/* `err` has what the session said, which is all that can be said where the file is not to blame. */
static tamis_status tell_trouble(const tmi_duckdb_session *session, const tmi_duckdb_file *file, tamis_error *err)
{
    static const char *const kinds[] = {
        [TMI_DUCKDB_OTHER] = "this is not a CSV file with commas, double quotes and one kind of line end",
        [TMI_DUCKDB_FORMAT] = "this is not a CSV file with commas, double quotes and one kind of line end",
        [TMI_DUCKDB_QUOTE] = "a quote is not closed, or text follows a closing quote",
        [TMI_DUCKDB_FIELDS] = "there are more or fewer fields than columns in the first line",
        [TMI_DUCKDB_LONG_LINE] = "the line is longer than 2 MB",
    };
    if (session->trouble == TMI_DUCKDB_MEMORY || session->trouble == TMI_DUCKDB_DISK) return TAMIS_SYSTEM;
    if (file->kind != TMI_CSV_FILE)
        return tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0, "a damaged %s file", kind_names[file->kind]);
    if (session->line > 0)
        return tmi_fail_file(err, TAMIS_INVALID, file->file.given, session->line, "%s", kinds[session->trouble]);
    return tmi_fail_file(err, TAMIS_INVALID, file->file.given, 0, "%s", kinds[session->trouble]);
}

static tamis_status count_file(int64_t *rows, const tmi_duckdb_source *source, size_t f, tmi_duckdb_session *session,
                               const tamis_watch *watch, tamis_error *err)
{
    const tmi_duckdb_file *file = &source->files[f];
    const tmi_duckdb_api *api = session->api;
    file_columns columns;
    tmi_text sql;
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    tamis_status status;
    tmi_text_init(&sql);
    TMI_TRY(read_columns(&columns, source, f, session, err));
    if (file->kind == TMI_CSV_FILE) TMI_TRY(tmi_csv_check_encoding(file->file.given, watch, err));
    tmi_text_put(&sql, "SELECT count(*) FROM ");
    write_reader(&sql, source, f, &columns);
    status = tmi_duckdb_run(&result, session, &sql, watch, err);
    if (status != TAMIS_OK) {
        if (session->trouble != TMI_DUCKDB_CANCELLED) status = tell_trouble(session, file, err);
        goto done;
    }
    chunk = api->fetch_chunk(result);
    if (chunk) *rows = *(const int64_t *)api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
    else status = tmi_fail_memory(err);
done:
    api->destroy_data_chunk(&chunk);
    api->destroy_result(&result);
    clear_columns(&columns, session);
    tmi_text_clear(&sql);
    return status;
}

tamis_status tmi_duckdb_count_rows(int64_t *rows, const tmi_duckdb_source *source, tmi_duckdb_session *session,
                                   const tamis_watch *watch, tamis_error *err)
{
    tmi_duckdb_watch c = {watch, 0}; /* rows in the files before */
    *rows = 0;
    for (size_t f = 0; f < source->file_count; f++) {
        int64_t count = 0;
        tamis_status status = count_file(&count, source, f, session, &(tamis_watch){tmi_duckdb_go_on, &c}, err);
        if (status != TAMIS_OK) return status;
        if (count > TMI_MAX_ROWS - c.rows) return tmi_fail(err, TAMIS_INVALID, "the source has more than 2^40 rows");
        c.rows += count;
    }
    *rows = c.rows;
    return TAMIS_OK;
}
