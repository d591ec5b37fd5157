/* The files of a source as one table in SQL:
 *
 *     SELECT … AS c0, … AS c1 FROM read_csv('/data/a.csv', …) UNION ALL SELECT … FROM read_parquet('/data/b.parquet')
 *
 * with one column for each requested column of the source: numbers as DOUBLE (NULL if a cell is not a number), categories as
 * codes and labels as canonical texts. Columns made from others are skipped. Each file is cast separately, so files may differ
 * in the order of their columns, and in their types as far as these can be compared (engine/core/canonical.h).
 *
 * A text is a number if DuckDB's TRY_CAST says so: digits with an optional sign, point and exponent, blanks around them,
 * single underscores between digits. */
#ifndef TMI_ENGINE_DUCKDB_SOURCE_H
#define TMI_ENGINE_DUCKDB_SOURCE_H

#include "engine/duckdb/functions.h"
#include "engine/files/files.h"

typedef enum tmi_duckdb_kind { TMI_CSV_FILE, TMI_PARQUET_FILE, TMI_DUCKDB_FILE } tmi_duckdb_kind;

typedef struct tmi_duckdb_file {
    tmi_file file;
    char *pattern; /* its path for DuckDB, which reads * ? [ in a name as a pattern */
    tmi_duckdb_kind kind;
    char *table;      /* TMI_DUCKDB_FILE, once it is open: "schema"."name" */
    char *definition; /* likewise: the statement that created it */
} tmi_duckdb_file;

typedef struct tmi_duckdb_source {
    tmi_duckdb_file *files;
    size_t file_count;
    char *table;     /* of DuckDB files, as the caller named it; NULL: the only one */
    bool in_order;   /* rows are needed in the order of the file; set it before the source is opened */
    uint64_t memory; /* that DuckDB may use; 0: what the machine allows; likewise */
} tmi_duckdb_source;

/* Copies the names. INVALID: no file, or a name that ends in neither .csv, .parquet, .duckdb nor .db. */
tamis_status tmi_duckdb_source_init(tmi_duckdb_source *source, const tmi_source *given, tamis_error *err);
void tmi_duckdb_source_clear(tmi_duckdb_source *source);

/* Opens a session in which the files can be read. INVALID if one is missing, is not a file, or may not be read. */
tamis_status tmi_duckdb_source_open(tmi_duckdb_session *session, tmi_duckdb_source *source, unsigned threads, tamis_error *err);

/* Checks that no file of an opened source is listed twice. INVALID names the pairs. */
tamis_status tmi_duckdb_source_distinct(const tmi_duckdb_source *source, tamis_error *err);

/* The names and forms of the columns of file f, in its order. The caller frees each name and both lists, also on failure. */
tamis_status tmi_duckdb_source_names(char ***names, tmi_form **forms, size_t *count, const tmi_duckdb_source *source, size_t f,
                                     tmi_duckdb_session *session, tamis_error *err);

/* Files read by one query if it need not see all of them, because each needs its own buffers. The answers of several queries
 * are added up. */
#define TMI_DUCKDB_FILES 32

/* Writes the SELECT of `count` files starting with file `first`, or of as many as there are, with the columns of the
 * functions, which need not be registered yet. INVALID names all files and columns that are missing, have no canonical form,
 * or do not have the same form in all of these files. */
tamis_status tmi_duckdb_write_source(tmi_text *sql, const tmi_duckdb_source *source, size_t first, size_t count,
                                     tmi_duckdb_session *session, const tmi_duckdb_functions *functions, tamis_error *err);

/* Writes the SELECT of some columns of file f as texts: `labels` (NULL: none) in their canonical form, which they must have,
 * the others as DuckDB prints them. */
tamis_status tmi_duckdb_write_texts(tmi_text *sql, const tmi_duckdb_source *source, size_t f, tmi_duckdb_session *session,
                                    const size_t *columns, const bool *labels, size_t count, tamis_error *err);

/* Counts the rows, and so checks that the files are intact from the first row to the last. INVALID reports where they are not. */
tamis_status tmi_duckdb_count_rows(int64_t *rows, const tmi_duckdb_source *source, tmi_duckdb_session *session,
                                   const tamis_watch *watch, tamis_error *err);

/* The engine's `rows`. */
tamis_status tmi_duckdb_read_rows(tmi_duckdb_source *source, unsigned threads, const tmi_column *const *columns,
                                  size_t column_count, tmi_take_rows *take, void *context, tamis_error *err);

#endif
